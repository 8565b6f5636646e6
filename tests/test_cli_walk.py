"""`turnlog walk`: the documented program's bytes on stdout, faults on stderr, and exit codes that say so."""

import json
import sys

import jsonschema
import pytest

from commands import COMMAND, ROOT, apart, environment, turnlog
from turnlog.schemas import schema

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FOLDER = ROOT / "tests" / "fixtures" / "pi" / "walk"
TYPES = FOLDER / "types.jsonl"
STOPS = FOLDER / "stops-broken.jsonl"
HOSTILE = rb'{"type":"label","id":"\u001b[31m","label":"\u009b2J\u202e","targetId":"a\nb"}' + b"\n"


def golden(path):
    return path.with_suffix(".txt").read_bytes()


def rows(done):
    """The rows of --json, each held to the published schema; the last is the summary."""
    found = [json.loads(line) for line in done.stdout.splitlines()]
    checked = jsonschema.Draft202012Validator(schema("turnlog.walk/1"))
    for row in found:
        checked.validate(row)
    assert [row["kind"] for row in found].count("summary") == 1
    assert found[-1]["kind"] == "summary"
    assert found[-1]["schema"] == "turnlog.walk/1"
    return found


def test_a_piped_walk_is_the_programs_output_byte_for_byte():
    done = apart("walk", TYPES, LC_ALL="C", PYTHONIOENCODING="latin-1")

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == golden(TYPES)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_exit_code_is_3_exactly_where_the_program_fails(path):
    done = turnlog("walk", path)
    fails = path.with_suffix(".error").exists()

    assert done.returncode == (3 if fails else 0)
    assert done.stdout.startswith(golden(path)) if fails else done.stdout == golden(path)
    assert bool(done.stderr) == fails


def test_without_a_name_it_is_session_jsonl(tmp_path):
    assert apart("walk", cwd=tmp_path).returncode == 4

    (tmp_path / "session.jsonl").write_bytes(TYPES.read_bytes())

    assert apart("walk", cwd=tmp_path).stdout == golden(TYPES)


def test_standard_input_is_walked_too():
    assert turnlog("walk", "-", stdin=TYPES.read_bytes()).stdout == golden(TYPES)
    assert b"<stdin>:3 " in turnlog("walk", "-", stdin=STOPS.read_bytes()).stderr


def test_a_compressed_file_is_walked_as_what_it_holds(tmp_path):
    path = tmp_path / "s.jsonl.zst"
    path.write_bytes(zstd.compress(TYPES.read_bytes()))

    assert turnlog("walk", path).stdout == golden(TYPES)

    path.write_bytes(zstd.compress(TYPES.read_bytes() * 2000)[:-9])
    done = turnlog("walk", path)

    assert done.returncode == 3
    assert done.stdout.startswith(golden(TYPES) * 2)
    assert b"zstd frame" in done.stderr


def test_every_fault_has_its_sentence_on_stderr_and_none_has_text_of_the_session():
    done = turnlog("walk", STOPS)
    said = done.stderr.decode().splitlines()

    assert len(said) == 16
    assert said[0].startswith(f"turnlog: {STOPS}:3 (bytes ")
    assert "not json" not in done.stderr.decode()


def test_a_missing_file_is_told_and_exits_4(tmp_path):
    done = turnlog("walk", tmp_path / "none.jsonl")

    assert (done.returncode, done.stdout) == (4, b"")
    assert b"cannot be read" in done.stderr
    assert turnlog("walk", tmp_path).returncode == 4


def test_a_limit_that_is_none_is_wrong_usage():
    assert turnlog("walk", TYPES, "--max-record-bytes", "many").returncode == 2


def test_longer_records_than_the_limit_are_faults():
    done = turnlog("walk", TYPES, "--max-record-bytes", "80")

    assert done.returncode == 3
    assert b"too_long" in done.stderr
    assert turnlog("walk", TYPES, "--max-file-bytes", "80").returncode == 4


def test_json_has_each_line_with_its_place():
    done = turnlog("walk", TYPES, "--json")
    *lines, summary = rows(done)
    data = TYPES.read_bytes()

    assert done.returncode == 0
    assert "".join(row["text"] + "\n" for row in lines).encode() == golden(TYPES)
    assert all(json.loads(data[row["start"] : row["end"]])["type"] for row in lines)
    assert summary["status"] == "complete"
    assert sum(summary["bytes"].values()) == summary["bytes_read"] == len(data)


def test_json_has_faults_in_their_place():
    done = turnlog("walk", STOPS, "--json")
    found = rows(done)

    assert done.returncode == 3
    assert [row["kind"] for row in found[:4]] == ["line", "line", "fault", "line"]
    assert found[-1]["faults"] == {"invalid_json": 16}


def test_json_of_a_file_that_cannot_be_read_is_a_summary(tmp_path):
    done = turnlog("walk", tmp_path / "none.jsonl", "--json")

    assert done.returncode == 4
    assert [row["status"] for row in rows(done)] == ["failed"]


def test_plain_says_no_undefined():
    path = FOLDER / "absent.jsonl"
    plain = turnlog("walk", path, "--plain")

    assert b"undefined" in golden(path)
    assert b"undefined" not in plain.stdout
    assert plain.returncode == 0


def test_a_pipe_gets_control_characters_as_the_program_writes_them(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(HOSTILE)

    assert turnlog("walk", path).stdout == '[\x1b[31m] Label "\x9b2J\u202e" on a\nb\n'.encode()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo terminals on this system")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_terminal_gets_no_control_characters(tmp_path, options):
    import os
    import pty
    import subprocess

    path = tmp_path / "s.jsonl"
    path.write_bytes(HOSTILE)
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [*COMMAND, "walk", path, *options], stdout=theirs, stderr=subprocess.PIPE, check=False, env=environment()
    )
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)

    assert done.returncode == 0
    assert "Label" in shown
    assert not {"\x1b", "\x9b", "\u202e"} & set(shown)
