"""Bad input: a fault or an error that says where and what. Never a traceback, a hang, a changed input, or a file of ours.

Each input goes through the command in a process of its own, with a time to be done in, and through the library.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from commands import COMMAND, DEMO, ROOT, SECONDS, apart, as_json, environment, hears_ctrl_c, line, rows, turnlog, user
from turnlog.contract import COMMAND_RECORD_BYTES, ReadOptions
from turnlog.discover import find_sessions, roots_from_home
from turnlog.errors import LineFault, SourceError, TurnlogError, UnknownFormatError
from turnlog.ledger.check import check, files_found
from turnlog.ledger.proof import Checked, prove_file
from turnlog.ledger.scan import scan_files
from turnlog.reader import read
from turnlog.render.events import row
from turnlog.render.plain import json_bytes

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
MB = 1_000_000
BEFORE, AFTER = user("a"), user("z", "a")


def wrapped(text):
    """A record of a person whose text is these bytes as they stand."""
    return user("m", "a", "@@").replace(b"@@", text)


def deep(mark):
    return user("m", "a").replace(b'"role":"user"', b'"role":"user","x":' + mark * 100_000)


# Name: the file, and what is told of it: a fault kind, an error kind, or None for nothing; several where each is right.
BAD = {
    "empty": (b"", {None}),
    "only-newlines": (b"\n" * 1000, {None}),
    "100000-open-brackets": (BEFORE + deep(b"[") + b"\n" + AFTER, {"too_deep", "invalid_json"}),
    "100000-nested-brackets": (
        BEFORE + deep(b"[").replace(b"[,", b"[" + b"]" * 100_000 + b",") + AFTER,
        {"too_deep"},
    ),
    "100000-objects-in-each-other": (BEFORE + b'{"type":"user","a":' + b'{"a":' * 100_000 + b"\n" + AFTER, {"too_deep", "invalid_json"}),
    "12-mb-line": (lambda: BEFORE + wrapped(b"x" * 12 * MB) + AFTER, {None}),
    "70-mb-line": (lambda: BEFORE + wrapped(b"x" * 70 * MB) + AFTER, {"too_long"}),
    "cesu-8": (BEFORE + wrapped(b"\xed\xa0\xbd\xed\xb8\x80") + AFTER, {"invalid_utf8"}),
    "latin-1": (BEFORE + wrapped(b"caf\xe9") + AFTER, {"invalid_utf8"}),
    "utf-16": ((BEFORE + AFTER).decode().encode("utf-16"), {"corrupt", "unrecognised"}),
    "utf-16-without-mark": ((BEFORE + AFTER).decode().encode("utf-16-le"), {"corrupt", "unrecognised"}),
    "utf-32": ((BEFORE + AFTER).decode().encode("utf-32"), {"corrupt", "unrecognised"}),
    "random-bytes": (random.Random(7).randbytes(300_000), {"corrupt", "unrecognised"}),
    "random-bytes-between": (BEFORE + random.Random(8).randbytes(5000).replace(b"\n", b"") + b"\n" + AFTER, {"invalid_utf8"}),
    "nul-bytes": (BEFORE + b"\0" * 4096 + b"\n" + AFTER, {"nul_block"}),
    "pretty-printed": (json.dumps(json.loads(BEFORE), indent=2).encode(), {"corrupt", "unrecognised"}),
    "an-array": (b"[" + BEFORE.strip() + b",\n" + AFTER.strip() + b"]\n", {"corrupt", "unrecognised"}),
    "html": (b"<!doctype html>\n<p>hello\n" * 50, {"corrupt", "unrecognised"}),
    "cut": (BEFORE + AFTER[:-20], {"truncated"}),
    "a-number-of-a-million-digits": (BEFORE + user("m", "a").replace(b'"role"', b'"n":' + b"9" * MB + b',"role"') + AFTER, {None}),
    "a-huge-key": (BEFORE + user("m", "a").replace(b'"role"', b'"' + b"k" * MB + b'":1,"role"') + AFTER, {None}),
    "no-string-where-one-belongs": (BEFORE + line(type="user", uuid=7, message={"role": "user", "content": 1}) + AFTER, {"invalid_field", "missing_field"}),
    "many-unknown-types": (BEFORE + b"".join(line(type=f"t{n}") for n in range(3000)), {None}),
}  # fmt: skip
QUICK = sorted(BAD)


def data_of(name):
    data = BAD[name][0]
    return data() if callable(data) else data


@pytest.fixture
def bad(tmp_path):
    """Write one bad input where a session would lie; its path, and its home."""

    def write(name):
        path = tmp_path / "home" / ".claude" / "projects" / "-p" / f"{SESSION}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(data_of(name))
        return path, tmp_path / "home"

    return write


def fingerprint(folder):
    """Every file below a folder with its bytes, times and mode."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        data = hashlib.sha256(path.read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
        found[str(path)] = (data, status.st_mtime_ns, status.st_mode, status.st_size)
    return found


@pytest.mark.parametrize("name", QUICK)
def test_the_command_says_where_and_what(name, bad, home):
    path, place = bad(name)
    before, ours = fingerprint(place), fingerprint(home)
    data, right = data_of(name), BAD[name][1]

    events = apart("events", path)
    checked = apart("check", "--home", place, "--json")

    assert events.returncode in {0, 4}
    summary = json.loads(events.stdout.splitlines()[-1])
    said = set(summary["faults"]) or {summary["error"] and summary["error"]["kind"]}
    assert said <= right
    told = json.loads(checked.stdout)
    (file,) = told["checked"] or [None]
    assert checked.returncode == (0 if right == {None} else 4 if "corrupt" in right and file["error"] else 3)
    assert ({fault["kind"] for fault in file["faults"]} or {file["error"] and file["error"]["kind"]}) <= right
    assert sum(file["bytes"].values()) == file["bytes_read"]
    for fault in file["faults"]:
        assert data[fault["start"] - 1 : fault["start"]] in {b"\n", b""}
        assert data[fault["end"] - 1 : fault["end"]] == b"\n" or fault["end"] == len(data)
    if not summary["error"]:
        assert summary["records"] >= data.count(b'"uuid":"a"') + data.count(b'"uuid":"z"') - (name == "cut")
    assert turnlog("raw", path).stdout == data
    assert (fingerprint(place), fingerprint(home)) == (before, ours)


@pytest.mark.parametrize("command", ["overview", "list", "show"])
@pytest.mark.parametrize("name", QUICK)
def test_the_other_commands_bear_it(name, command, bad):
    path, place = bad(name)
    done = turnlog(command, path) if command == "show" else turnlog(command, "--home", place)

    assert done.returncode in {0, 1, 3, 4}
    done.stdout.decode("utf-8", "strict")
    assert not any(byte < 32 and byte not in b"\n\t" for byte in done.stdout)


@pytest.mark.parametrize("name", QUICK)
def test_the_library_says_where_and_what(name, bad):
    path, place = bad(name)
    for options in (
        ReadOptions(),
        ReadOptions(repair=False, tail="allow-incomplete"),
        ReadOptions(max_record_bytes=None),
    ):
        said = str(path)
        reader = read(path, options=options)
        try:
            for item in reader:
                json_bytes(row(item))
        except (SourceError, UnknownFormatError) as error:
            said = str(error)
        assert str(path) in said
        summary = reader.finish()
        assert summary.bytes.total() == summary.bytes_read
    proved = prove_file(Checked(path=str(path), agent="claude"))
    assert proved.proof.bytes.total() == proved.proof.bytes_read
    (scan,) = scan_files(find_sessions(roots_from_home(place)).files)
    assert scan.summary is not None or scan.error or not scan.recognised


def test_the_librarys_limit_is_the_smaller_one(bad):
    path, _ = bad("12-mb-line")

    assert [item.fault for item in read(path) if item.__class__ is LineFault] == ["too_long"]


def test_a_line_over_the_commands_limit_is_told_with_its_exact_range(bad):
    path, _ = bad("70-mb-line")
    fault = next(found for found in rows(path) if found["kind"] == "fault")

    assert (fault["fault"], fault["line"], fault["start"]) == ("too_long", 2, len(BEFORE))
    assert fault["end"] == path.stat().st_size - len(AFTER)
    assert fault["end"] - fault["start"] > COMMAND_RECORD_BYTES
    assert rows(path, "--max-record-bytes", "none")[-1]["faults"] == {}


@pytest.mark.parametrize("command", ["events", "check", "raw", "show"])
def test_a_folder_where_a_file_belongs_is_told(tmp_path, command):
    done = apart(command, tmp_path)

    assert done.returncode == (1 if command == "check" else 4) or (command == "show" and done.returncode == 1)
    assert done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
@pytest.mark.parametrize("command", ["events", "check", "raw", "show"])
def test_a_fifo_hangs_nothing(tmp_path, command):
    fifo = tmp_path / "x.jsonl"
    os.mkfifo(fifo)
    done = apart(command, fifo, seconds=20)

    assert done.returncode in {1, 4}
    assert b"regular file" in done.stdout + done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_a_fifo_among_the_sessions_is_a_problem_and_the_rest_is_read(tmp_path):
    folder = tmp_path / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "x.jsonl")
    (folder / "y.jsonl").write_bytes(BEFORE)

    told = as_json("check", "--home", tmp_path, code=3, by=apart)
    assert (told["files"], told["records"]) == (1, 1)
    assert [problem["kind"] for problem in told["problems"] if not problem["note"]] == ["not-a-file"]
    told = as_json("check", folder, code=3, by=apart)
    assert [file["error"] is not None for file in told["checked"]] == [True, False]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no devices on this system")
@pytest.mark.parametrize("command", ["events", "check", "raw"])
def test_a_device_is_never_read(command):
    assert apart(command, "/dev/zero", seconds=20).returncode == 4


def test_a_file_that_vanished_is_an_error_not_an_exception(bad):
    path, place = bad("cut")
    files = find_sessions(roots_from_home(place)).files
    path.unlink()

    (scan,) = scan_files(files)
    assert scan.error_kind == "unreadable"
    proof = prove_file(Checked(path=str(path), agent="claude", found=files[0])).proof
    assert proof.error.kind == "unreadable"


def test_a_file_that_is_cut_while_it_is_read_is_told(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(user("a", text="x" * 1000) * 2000)
    reader = read(path, "claude")
    items = iter(reader)
    next(items)
    os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(TurnlogError):
        list(items)
    assert reader.finish().status == "failed"


AS_NOBODY = """
import importlib, os, sys
import turnlog.cli.group as group
from turnlog.cli import COMMANDS
for module, _ in COMMANDS.values():
    importlib.import_module(f"turnlog.cli.{module}")
import encodings.idna, zoneinfo
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.exit(group.run(sys.argv[1:]))
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="no such rights on this system")
def test_what_may_not_be_read_is_told_and_the_rest_is_read(request):
    # Not below pytest's own folder, which is closed to others again whenever another run begins.
    tmp_path = Path(tempfile.mkdtemp())
    request.addfinalizer(lambda: shutil.rmtree(tmp_path))
    folder = tmp_path / "home" / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    (folder / "no.jsonl").write_bytes(BEFORE)
    (folder / "yes.jsonl").write_bytes(BEFORE)
    closed = folder.parent / "-closed"
    closed.mkdir()
    for part in [tmp_path, *tmp_path.parents]:
        if part.stat().st_uid == os.getuid() and not part.stat().st_mode & 0o001 and part != part.parent:
            part.chmod(part.stat().st_mode | 0o011)
    (folder / "no.jsonl").chmod(0)
    closed.chmod(0)
    command = [sys.executable, "-c", AS_NOBODY]
    try:
        done = subprocess.run(
            [*command, "check", "--home", tmp_path / "home", "--json"],
            capture_output=True, check=False, timeout=SECONDS, env=environment(),
        )  # fmt: skip
        alone = subprocess.run(
            [*command, "events", folder / "no.jsonl"],
            capture_output=True,
            check=False,
            timeout=SECONDS,
            env=environment(),
        )
    finally:
        closed.chmod(0o700)

    assert (done.returncode, done.stderr) == (3, b"")
    told = json.loads(done.stdout)
    errors = {os.path.basename(file["path"]): file["error"] for file in told["checked"]}
    assert errors["yes.jsonl"] is None
    assert errors["no.jsonl"] == {"kind": "unreadable", "said": "cannot be read: Permission denied"}
    assert [problem["path"] for problem in told["problems"] if not problem["note"]] == [str(closed)]
    assert alone.returncode == 4
    assert b"Permission denied" in alone.stderr
    assert b"Traceback" not in alone.stderr


def test_nothing_of_ours_is_left_behind_that_others_can_read(home, tmp_path):
    os.umask(0o022)
    for command in (["overview"], ["check"], ["list"], ["history"], ["titles"]):
        apart(*command, "--home", DEMO, cwd=tmp_path)
    apart("demo", cwd=tmp_path)

    open_to_others = [
        str(path) for folder in (home, tmp_path) for path in folder.rglob("*") if path.lstat().st_mode & 0o077
    ]
    assert open_to_others == []


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of that kind there")
@pytest.mark.parametrize("command", [["events"], ["raw"], ["check", "--all"], ["check", "--json"]], ids=" ".join)
def test_a_closed_pipe_is_silent(command, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(user(f"u{n}", "gone", "x" * 200) for n in range(3000)))
    with subprocess.Popen(
        [*COMMAND, *command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
        code = process.wait(timeout=SECONDS)

    assert err == b""
    assert code == 0 or (command[0] == "check" and code == 3)  # 3: it had written all before the pipe was closed


@pytest.mark.skipif(sys.platform == "win32", reason="no Ctrl-C to send there")
@pytest.mark.parametrize("command", [["events", "-"], ["events", "-", "--agent", "claude"]], ids=" ".join)
def test_ctrl_c_ends_cleanly(command):
    with subprocess.Popen(
        [*COMMAND, *command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), preexec_fn=hears_ctrl_c,
    ) as process:  # fmt: skip
        process.stdin.write(BEFORE)
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=SECONDS)

    assert process.returncode == 130
    assert b"Traceback" not in err


@pytest.mark.shared
def test_every_edge_file_of_pi_is_read(shared):
    files = sorted((shared / "real" / "pi" / "edge").glob("*.jsonl"))
    assert len(files) > 20
    for path in files:
        with read(path, "pi") as reader:
            for item in reader:
                json_bytes(row(item))
        assert reader.finish().bytes.total() == path.stat().st_size
    before = fingerprint(files[0].parent)
    told = json.loads(apart("check", files[0].parent, "--agent", "pi", "--json").stdout)
    assert told["files"] == len(files)
    assert told["bytes_read"] == sum(told["bytes"].values()) == sum(path.stat().st_size for path in files)
    assert fingerprint(files[0].parent) == before


@pytest.mark.shared
@pytest.mark.slow
def test_the_hostile_corpus_is_read(shared, tmp_path):
    subprocess.run(
        [sys.executable, shared / "tools" / "make_corpus.py", "hostile", "--out", tmp_path],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    homes = sorted(path / "home" for path in tmp_path.iterdir() if (path / "home").is_dir())
    assert len(homes) > 30
    before = fingerprint(tmp_path)
    for place in homes:
        told = check(files_found(find_sessions(roots_from_home(place)).files))
        assert told.bytes.total() == told.bytes_read
        assert told.complete == (told.verdict == "complete")
    done = apart("check", tmp_path, "--json", seconds=300)
    assert done.returncode == 3
    assert json.loads(done.stdout)["files"] >= len(homes)
    text = apart("check", tmp_path, "--all", seconds=300).stdout
    assert not any(byte < 32 and byte != 10 for byte in text)
    assert fingerprint(tmp_path) == before


def test_the_package_is_the_one_of_this_checkout():
    done = apart("--version")

    assert done.stdout.startswith(b"turnlog ")
    assert (ROOT / "src" / "turnlog" / "_version.py").is_file()
