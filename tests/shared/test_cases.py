"""Every shared case: faults that people reported in public, rebuilt as small homes, each with its right result.

Each key of `expect` that the commands hold is compared; `also` names other acceptable results. What a case cannot be
asked yet stands in LATER, with the reason: a test fails when a key is in no list.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from datetime import datetime
from pathlib import Path

import pytest

from inprocess import as_json
from reading import SHARED
from turnlog.cli.group import run

pytestmark = pytest.mark.shared

CASES = SHARED / "cases"
NAMES = sorted(path.parent.name for path in CASES.glob("*/expect.json"))

# Keys that no command of these has, and which one will.
LATER: dict[str, str] = {}
# Case and keys that differ, each with its reason. Empty is the aim.
DIFFERS: dict[str, str] = {}

# Kinds that `check` reports, as relations between records.
RELATIONS = {
    "cycle", "missing-parent", "missing-target", "cross-session", "uncommitted", "duplicate-key", "duplicate-id",
}  # fmt: skip


def prepared(case, folder):
    """A copy of the case's input with its own set-up done."""
    home = folder / "home"
    if (case / "input").is_dir():
        shutil.copytree(case / "input", home, symlinks=True)
    else:
        home.mkdir()
    if (case / "gen.py").exists():
        subprocess.run([sys.executable, case / "gen.py", home], check=True)
    if (case / "setup.sh").exists():
        subprocess.run(["sh", case / "setup.sh", home], check=True)
    return home


def hashes(home):
    """Path to content of every file and link below a folder."""
    found = {}
    for path in sorted(home.rglob("*")):
        if path.is_symlink():
            found[path] = os.readlink(path)
        elif path.is_file() and os.access(path, os.R_OK):
            found[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


class Answers:
    """What the commands say about one home, each asked once and only where a key needs it."""

    def __init__(self, ask, home):
        self._ask = ask
        self._home = home
        self._had = {}

    def of(self, *words, code=0):
        if words not in self._had:
            self._had[words] = self._ask(
                *words, "--home", self._home, "--root", f"swink={self._home / 'swink'}", code=code
            )
        return self._had[words]

    @property
    def overview(self):
        return self.of("overview", "--timezone", "UTC")

    @property
    def listed(self):
        return self.of("list")["sessions"]

    @property
    def check(self):
        return self.of("check", code=None)

    def errors(self):
        """(line or path) of everything a user is told, as the cases name them."""
        view = self.overview
        lines = {fault["line"] for fault in view["faults"]}
        for proof in self.check["checked"]:
            lines |= {r["line"] for r in proof["relations"] if not r["note"] and r["kind"] in RELATIONS}
        files = {
            os.path.relpath(problem["path"], self._home)
            for problem in view["problems"]
            if not problem["note"] and os.path.isabs(problem["path"])
        }
        return lines, files

    def order(self):
        """The events of the one file in order, as case 081 names them."""
        (file,) = [row["path"] for row in self.listed]
        shown = self.of("show", file)
        found = []
        for turn in shown["turns"]:
            if turn["prompt"] is not None:
                found.append((turn["prompt"]["start"], turn["prompt"]["text"]))
            for step in turn["steps"]:
                if step["kind"] == "call":
                    found.append((step["start"], step["id"]))
                    if step["result"] is not None:
                        found.append((step["result"]["start"], f"{step['id']} result"))
                elif step["kind"] == "text":
                    found.append((step["start"], step["text"]))
        return [name for _, name in sorted(found)]


def moment(text):
    return datetime.fromisoformat(text)


def value(answers, key, wanted):
    """What the commands say for one key of `expect`, in the shape of the case."""
    view = answers.overview
    if key == "by_day":
        return {zone: answers.of("overview", "--timezone", zone)["by_day"] for zone in wanted}
    if key == "by_day_utc":
        return view["by_day"]
    if key == "by_session":
        return {key: row["tokens"] for key, row in view["by_session"].items()}
    if key == "models":
        return view["by_model"]
    if key == "projects":
        return sorted(view["by_project"])
    if key in ("lines", "duplicates"):
        return answers.check[key]
    if key == "titles":
        return {row["session_id"]: row["title"] for row in answers.listed}
    if key in ("title", "cwd", "session_id"):
        (row,) = answers.listed
        return row[key]
    if key == "order":
        return answers.order()
    if key == "by_hour_local":
        hours = {
            row["hour"]: row["totalTokens"] for row in answers.of("usage", "hourly", "-z", "Europe/Berlin")["hourly"]
        }
        return {hour: tokens for hour, tokens in hours.items() if min(wanted) <= hour <= max(wanted)}
    if key == "project_short":
        (row,) = answers.of("usage", "project")["project"]
        return row["shortName"]
    if key in ("branches", "active_path"):
        (file,) = [row["path"] for row in answers.listed]
        view = answers.of("tree", file)
        return view["branches"] if key == "branches" else view["branch"]
    if key == "uncommitted":
        found = view["uncommitted"]
        return {name: found[name] for name in wanted}
    if key in ("first", "last"):
        return moment(view[key])
    return view[key]


def same(answers, key, wanted):
    if key == "errors":
        lines = {error["line"] for error in wanted if "line" in error}
        files = {error["file"] for error in wanted if "file" in error}
        return answers.errors() == (lines, files)
    if key in ("first", "last"):
        wanted = moment(wanted)
    if key == "projects":
        wanted = sorted(wanted)
    return value(answers, key, wanted) == wanted


def compared(case, answers):
    """Each key of the case that is not equal, with both values; the alternatives of the case count too."""
    expected = json.loads((case / "expect.json").read_text(encoding="utf-8"))
    ways = [expected["expect"], *({**expected["expect"], **other} for other in expected.get("also", []))]
    wrong = {}
    for way in ways:
        wrong = {
            key: (wanted, answers.errors() if key == "errors" else value(answers, key, wanted))
            for key, wanted in way.items()
            if key not in LATER and not same(answers, key, wanted)
        }
        if not wrong:
            return {}
    return wrong


@pytest.mark.parametrize("name", NAMES)
def test_a_reported_case_gives_its_right_result(name, tmp_path, capsysbinary):
    case = CASES / name
    if name.startswith("055") and os.geteuid() == 0:
        pytest.skip("root may read everything: the test below runs it as another user")
    home = prepared(case, tmp_path)
    if (case / "writer.py").exists():
        subprocess.run([sys.executable, case / "writer.py", home], check=True)
    before = hashes(home)

    wrong = compared(case, Answers(lambda *words, code: as_json(capsysbinary, *words, code=code), home))

    assert hashes(home) == before
    assert wrong == {} or name in DIFFERS, wrong


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_a_file_that_may_not_be_read_is_told_and_the_rest_counts(tmp_path_factory, capsysbinary):
    (name,) = [name for name in NAMES if name.startswith("055")]
    folder = Path(tmp_path_factory.mktemp("other"))
    home = prepared(CASES / name, folder)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 65534, 65534)
    for above in (folder, *folder.parents):
        if above != Path("/") and above.stat().st_uid in (0, 65534):
            above.chmod(above.stat().st_mode | 0o055)

    # What the command imports lazily is loaded now: another user may not read this Python's own files.
    for word in ("overview", "list", "check"):
        as_json(capsysbinary, word, "--home", home, "--root", f"swink={home / 'swink'}", code=None)

    def ask(*words, code):
        output = folder / "answer.json"
        output.touch()
        os.chown(output, 65534, 65534)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside the threads of the test runner
            child = os.fork()
        if not child:
            ended = 99
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                with output.open("w", encoding="utf-8") as sys.stdout:
                    ended = run([*map(str, words), "--json"])
            finally:
                os._exit(ended)
        _, status = os.waitpid(child, 0)
        assert code in (None, os.waitstatus_to_exitcode(status))
        return json.loads(output.read_bytes())

    answers = Answers(ask, home)

    assert compared(CASES / name, answers) == {}
    assert answers.overview["complete"] is False


@pytest.mark.slow
def test_reading_while_a_client_writes_gives_a_prefix_each_time(tmp_path, capsysbinary):
    (name,) = [name for name in NAMES if name.startswith("063")]
    home = prepared(CASES / name, tmp_path)
    writer = subprocess.Popen([sys.executable, CASES / name / "writer.py", home])
    records = []
    while writer.poll() is None:
        view = as_json(capsysbinary, "overview", "--home", home)
        assert {fault["kind"] for fault in view["faults"]} <= {"truncated"}
        records.append(view["records"])
        time.sleep(0.1)

    assert len(records) >= 5
    assert records == sorted(records)
    assert records[-1] <= 40
    assert as_json(capsysbinary, "overview", "--home", home)["records"] == 40


@pytest.mark.slow
def test_files_that_vanish_while_they_are_read_lose_nothing_else(tmp_path, capsysbinary):
    (name,) = [name for name in NAMES if name.startswith("065")]
    home = prepared(CASES / name, tmp_path)
    racer = subprocess.Popen(["sh", CASES / name / "race.sh", home])
    runs = 0
    while racer.poll() is None:
        view = as_json(capsysbinary, "overview", "--home", home)
        assert view["tokens"]["total"] == 10
        runs += 1

    assert runs >= 5
    assert compared(CASES / name, Answers(lambda *w, code: as_json(capsysbinary, *w, code=code), home)) == {}


def test_every_key_of_the_cases_is_compared_or_put_off_with_a_reason():
    keys = set()
    for name in NAMES:
        keys |= set(json.loads((CASES / name / "expect.json").read_text(encoding="utf-8"))["expect"])

    assert set(LATER) <= keys
