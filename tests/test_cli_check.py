"""`turnlog check`: the proof. Every byte has its class, every doubt its line, and the exit code says the verdict."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from commands import CLAUDE, CUT, DEMO, GLUED, SECONDS, as_json, environment, hears_ctrl_c, line, turnlog, user
from turnlog.ledger.check import check, files_below
from turnlog.ledger.proof import Checked
from turnlog.ledger.share import shared_out

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
CASES = {
    "031": {(4, "missing-parent", True, 1)},
    "033": {(3, "duplicate-id", True, 2)},
    "035": {(2, "cycle", False, 2)},
    "037": {(3, "missing-parent", False, 1)},
    "039": {(2, "missing-target", True, 1)},
    "077": {(2, "duplicate-key", False, 2)},
    "083": {(1, "cross-session", True, 2)},
    "093": {(8, "uncommitted", False, 2)},
}
RELATIONS = {
    "cycle",
    "missing-parent",
    "missing-target",
    "cross-session",
    "uncommitted",
    "duplicate-key",
    "duplicate-id",
}


@pytest.fixture
def project(tmp_path):
    """A folder of sessions; write into it and get the path."""

    def write(*records, name=f"{SESSION}.jsonl"):
        path = tmp_path / "home" / ".claude" / "projects" / "-p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(records))
        return path

    return write


def kinds(told):
    return [(r["line"], r["kind"], r["note"]) for file in told["checked"] for r in file["relations"]]


def test_every_byte_of_the_demo_home_has_its_class():
    told = as_json("check", "--home", DEMO, code=3)

    assert told["schema"] == "turnlog.check/1"
    assert told["files"] == len(told["checked"]) > 10
    assert sum(told["bytes"].values()) == told["bytes_read"] == told["on_disk"]
    for file in told["checked"]:
        assert sum(file["bytes"].values()) == file["bytes_read"] == file["on_disk"]
        if file["compressed"] is None:
            assert file["bytes_read"] == os.path.getsize(file["path"])
        else:
            assert file["compressed"] == os.path.getsize(file["path"])
    assert {file["agent"] for file in told["checked"]} == {"claude", "codex", "pi", "swink"}


def test_the_text_tells_the_faults_the_bytes_and_last_the_verdict():
    done = turnlog("check", GLUED, CLAUDE)
    text = done.stdout.decode().splitlines()

    assert done.returncode == 3
    assert any("line 6 (bytes 2\u202f577-4\u202f228)" in said and "2 records read" in said for said in text)
    size = GLUED.stat().st_size + CLAUDE.stat().st_size
    grouped = f"{size:,}".replace(",", "\u202f")
    assert text[-2].startswith("bytes: decoded ")
    assert text[-2].endswith(f"= read {grouped} = on disk {grouped}")
    assert text[-1].startswith("not complete (exit 3)")


def test_a_whole_file_is_complete_and_exits_0():
    done = turnlog("check", CLAUDE)

    assert done.returncode == 0
    assert done.stdout.decode().splitlines()[-1].startswith("complete: 1 file, ")


def test_no_such_session_exits_1(tmp_path):
    assert turnlog("check", tmp_path).returncode == 1
    assert turnlog("check", "--home", tmp_path).returncode == 1


def test_nothing_that_could_be_read_exits_4(tmp_path):
    missing = tmp_path / "no.jsonl"
    told = as_json("check", missing, code=4)

    assert told["verdict"] == "nothing read"
    assert told["checked"][0]["error"] == {"kind": "unreadable", "said": "cannot be read: No such file or directory"}
    strange = tmp_path / "strange.jsonl"
    strange.write_bytes(line(hello=1))
    assert as_json("check", strange, code=4)["checked"][0]["error"]["kind"] == "unrecognised"


def test_another_kind_of_file_in_a_folder_is_only_noted(project):
    path = project(user("a"))
    (path.parent / "other.jsonl").write_bytes(line(hello=1))

    told = as_json("check", path.parent)

    assert (told["verdict"], told["files"]) == ("complete", 1)
    assert [(p["kind"], p["note"]) for p in told["problems"]] == [("unrecognised", True)]


def test_links_in_a_folder_are_not_followed_and_a_dangling_one_is_a_problem(project, tmp_path):
    path = project(user("a"))
    (path.parent / "loop").symlink_to(tmp_path, target_is_directory=True)
    told = as_json("check", tmp_path)
    assert [(p["kind"], p["note"]) for p in told["problems"]] == [("symlink", True)]

    (path.parent / "gone.jsonl").symlink_to(tmp_path / "gone")
    told = as_json("check", tmp_path, code=3)
    assert ("dangling-link", False) in [(p["kind"], p["note"]) for p in told["problems"]]


def test_unknown_types_are_told_with_the_agents_version(project):
    path = project(user("a"), line(type="new-thing", sessionId=SESSION), line(type="new-thing", sessionId=SESSION))

    file = as_json("check", path)["checked"][0]
    assert (file["unknown"], file["versions"]) == ({"new-thing": 2}, ["2.1.50"])
    assert "unknown: new-thing ×2 (version 2.1.50)" in turnlog("check", path).stdout.decode()


def test_keys_that_stand_twice_are_told_wherever_they_stand(project):
    twice = user("b", "a").replace(b'"role":"user"', b'"role":"user","role":"user"')
    assert kinds(as_json("check", project(user("a"), twice), code=3)) == [(2, "duplicate-key", False)]


def test_keys_in_a_damaged_line_are_told_too(project):
    glued = user("b", "a")[:-1] + user("c", "b").replace(b'"type":"user"', b'"type":"user","type":"user"')
    told = as_json("check", project(user("a"), glued), code=3)

    assert kinds(told) == [(2, "duplicate-key", False)]
    assert [fault["kind"] for fault in told["checked"][0]["faults"]] == ["glued"]


def test_a_record_too_deep_to_look_at_is_a_note(project):
    deep = user("b", "a").replace(b'"role":"user"', b'"role":"user","x":' + b"[" * 600 + b"]" * 600)
    told = as_json("check", project(user("a"), deep, user("c", "b")), code=None)

    assert all(note for _, _, note in kinds(told))


def test_a_parent_in_another_file_is_found(project):
    first = project(user("a"), name="one.jsonl")
    second = project(user("b", "a"), name="two.jsonl")

    assert kinds(as_json("check", second, code=3)) == [(1, "missing-parent", False)]
    assert kinds(as_json("check", first, second)) == []


def test_a_parent_among_records_that_say_no_event_is_found(project):
    unknown = line(type="new-thing", uuid="x", parentUuid="a", sessionId=SESSION)
    assert kinds(as_json("check", project(user("a"), unknown, user("b", "x")))) == []


def test_records_written_again_are_counted_and_other_ones_of_the_same_id_are_wrong(project):
    again = as_json("check", project(user("a"), user("b", "a"), user("a"), user("b", "a")))
    assert (again["duplicates"], kinds(again)) == (2, [(3, "duplicate-id", True)])

    other = as_json("check", project(user("a"), user("b", "a"), user("b", "a", "another")), code=3)
    assert kinds(other) == [(3, "duplicate-id", False)]


def test_many_files_list_those_that_have_something_to_say(project):
    for n in range(45):
        path = project(user(f"u{n}"), name=f"file{n:02}.jsonl")
    project(user("x", "gone"), name="wrong.jsonl")

    text = turnlog("check", path.parent).stdout.decode()
    assert "file07" not in text
    assert "wrong.jsonl" in text
    assert "45 files more, complete" in text
    assert "file07" in turnlog("check", path.parent, "--all").stdout.decode()


def test_what_a_file_says_never_reaches_the_terminal_as_control_characters(project):
    record = line(type="\x1b[31mred\x07\u202e", sessionId=SESSION)
    path = project(user("a"), record, name="evil\x1b]0;title\x07.jsonl")

    done = turnlog("check", path)

    assert not any(byte < 32 and byte != 10 for byte in done.stdout)
    assert "\u202e" not in done.stdout.decode()


def test_the_options_of_reading_count(project):
    path = project(user("a"), user("b", "a", "x" * 3000), user("c", "b"))

    told = as_json("check", path, "--max-record-bytes", "2k", "--sha256", code=3)
    assert [fault["kind"] for fault in told["checked"][0]["faults"]] == ["too_long"]
    assert len(told["checked"][0]["sha256"]) == 64
    assert kinds(told) == [(3, "missing-parent", True)]
    assert as_json("check", path, "--max-file-bytes", "2k", code=4)["checked"][0]["error"]["kind"] == "too_large"
    cut = as_json("check", CUT, "--tail", "allow-incomplete", code=3)
    assert cut["checked"][0]["status"] == "incomplete_tail"


def test_an_agent_may_be_named(project):
    path = project(user("a"))

    assert as_json("check", path, "--agent", "claude")["files"] == 1
    assert as_json("check", path, "--agent", "pi")["checked"][0]["unknown"] == {"user": 1}
    assert {file["agent"] for file in as_json("check", "--home", DEMO, "--agent", "pi")["checked"]} == {"pi"}


@pytest.mark.skipif(sys.platform == "win32", reason="one process there")
def test_many_processes_say_the_same_as_one():
    files, problems = files_below([str(DEMO)])
    assert files
    assert not problems

    assert check(files, jobs=3) == check(files, jobs=1)


def test_the_library_raises_nothing_for_what_a_file_is(tmp_path):
    told = check([Checked(path=str(tmp_path)), Checked(path=str(tmp_path / "no"), agent="pi")])

    assert [file.error.kind for file in told.checked] == ["unreadable", "unreadable"]


@pytest.mark.skipif(sys.platform == "win32", reason="no Ctrl-C to send there")
@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.3, 0.6, 1.2])
def test_ctrl_c_ends_it_cleanly_and_at_once(tmp_path, wait):
    record = user("a", text="x" * 5000)
    for n in range(4):
        (tmp_path / f"{n}.jsonl").write_bytes(record * 12_000)
    command = [sys.executable, "-m", "turnlog", "check", str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True,
        preexec_fn=hears_ctrl_c,
    ) as process:  # fmt: skip
        time.sleep(wait)
        # To the whole group, as a terminal does it.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)

    if process.returncode == -signal.SIGINT or err.startswith(b"Could not import runpy"):
        return  # before Python was there to hear it, or while it was still looking for us
    assert b"Traceback" not in err, err.decode()
    assert process.returncode in {130, 0}  # 0: it was faster than the signal
    assert process.returncode == 0 or out == b""


@pytest.mark.skipif(sys.platform == "win32", reason="one process there")
def test_a_process_that_is_killed_loses_nothing():
    told = shared_out(_die_elsewhere, [(os.getpid(), n) for n in range(6)], [1] * 6, jobs=2)

    assert told == list(range(6))


def _die_elsewhere(item):
    home, n = item
    if os.getpid() != home and n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


@pytest.mark.shared
@pytest.mark.parametrize("case", sorted(CASES))
def test_a_shared_case_shows_its_relations(shared, case, tmp_path):
    folder = next((shared / "cases").glob(f"{case}-*"))
    expected = json.loads((folder / "expect.json").read_text())["expect"]
    swink = folder / "input" / "swink"
    root = ["--root", f"swink={swink}"] if swink.is_dir() else []
    wrong = any(not note for _, _, note, _ in CASES[case])

    told = as_json("check", "--home", folder / "input", *root, code=3 if wrong else 0)
    found = {(r["line"], r["kind"], r["note"], r["count"]) for file in told["checked"] for r in file["relations"]}

    assert found == CASES[case]
    assert {(at, kind) for at, kind, note, _ in found if not note} == {
        (error["line"], error["kind"]) for error in expected["errors"]
    }
    assert told["duplicates"] == expected.get("duplicates", 0)


@pytest.mark.shared
def test_real_files_of_the_agents_hold_together(shared):
    """Files whose ids were masked letter by letter are left out: there nothing can hold together."""
    import re

    masked = re.compile(rb'"(?:uuid|sessionId|parentUuid)":"[0-9a-f-]*x')
    files = [path for path in (shared / "real" / "claude").rglob("*.jsonl") if not masked.search(path.read_bytes())]
    told = check([Checked(path=str(path)) for path in sorted(files)])

    assert told.files > 200
    assert [(file.path, r) for file in told.checked for r in file.relations if not r.note] == []
    assert told.bytes.total() == told.bytes_read == told.on_disk
