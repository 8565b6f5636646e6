"""`turnlog events`: flat rows in physical order, and a last line that says how far reading came."""

import hashlib
import inspect
import json
import os
import re
import subprocess
import sys

import pytest

from commands import CLAUDE, COMMAND, CUT, DEMO, GLUED, environment, line, rows, turnlog, user
from turnlog.cli import events, reading
from turnlog.contract import ReadOptions
from turnlog.model import EVENTS
from turnlog.render.plain import for_terminal, json_bytes

HEAD = {"kind", "line", "start", "end", "index", "at", "record_type", "sidechain", "recovered"}
FILES = sorted(p for p in DEMO.rglob("*.jsonl*") if "sessions" in p.parts or "projects" in p.parts)


@pytest.fixture
def session(tmp_path):
    """Write records to a session file and return its path."""

    def write(*records, name="aaaaaaaa-0000-4000-8000-000000000001.jsonl"):
        path = tmp_path / name
        path.write_bytes(b"".join(records))
        return path

    return write


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name[:40])
def test_every_row_points_at_the_record_it_came_from(file):
    found = rows(file)
    whole = turnlog("raw", file).stdout
    *said, summary = found

    assert summary["events"] == sum(row["kind"] != "fault" for row in said)
    assert sum(summary["bytes"].values()) == summary["bytes_read"] == len(whole)
    assert [row["line"] for row in said] == sorted(row["line"] for row in said)
    for row in said:
        if row["kind"] != "fault":
            assert row.keys() >= HEAD
            json.loads(whole[row["start"] : row["end"]])


def test_a_message_a_call_a_result_and_usage_have_the_fields_programs_rely_on():
    found = rows(CLAUDE)
    by_kind = {row["kind"]: row for row in found}

    assert by_kind["message"].keys() >= {"role", "text"}
    assert by_kind["tool_call"].keys() >= {"id", "name", "arguments", "record_id"}
    assert by_kind["tool_result"].keys() >= {"call_id", "text", "is_error"}
    assert by_kind["usage"].keys() >= {"counts", "semantics", "model"}
    assert by_kind["usage"]["counts"].keys() == {
        "input", "output", "cache_read", "cache_write", "cache_write_1h", "cache_write_5m", "reasoning", "reported_total",
    }  # fmt: skip
    assert isinstance(by_kind["tool_call"]["arguments"], dict)


def test_standard_input_says_the_same_as_the_file():
    assert rows("-", stdin=CLAUDE.read_bytes()) == rows(CLAUDE)


def test_leaving_kinds_out_renumbers_nothing():
    everything = rows(GLUED)
    chosen = rows(GLUED, "--include", "message,usage", "--include", "tool_call")

    kinds = {"message", "usage", "tool_call", "fault"}
    assert chosen[:-1] == [row for row in everything[:-1] if row["kind"] in kinds]


def test_a_fault_stands_in_its_place_with_what_was_read_all_the_same():
    found = rows(GLUED)
    at = next(n for n, row in enumerate(found) if row["kind"] == "fault")
    fault = found[at]

    assert fault.keys() == {"kind", "fault", "line", "start", "end", "path", "expected", "found", "recovered"}
    assert (fault["fault"], fault["recovered"]) == ("glued", 2)
    after = [row for row in found[at + 1 :] if row["kind"] != "summary" and row["line"] == fault["line"]]
    assert after
    assert all(row["recovered"] for row in after)
    assert all(fault["start"] <= row["start"] < row["end"] <= fault["end"] for row in after)
    assert found[-1]["status"] == "complete_with_faults"
    assert found[-1]["complete_through"] == fault["start"]


def test_without_repair_the_damaged_line_is_lost_whole():
    found = rows(GLUED, "--no-repair")

    assert [row["fault"] for row in found if row["kind"] == "fault"] == ["invalid_json"]
    assert found[-1]["bytes"]["repaired"] == 0
    assert found[-1]["bytes"]["faulty"] > 0


def test_the_first_fault_ends_the_reading_where_that_is_asked_for():
    found = rows(GLUED, "--faults", "raise", code=3)

    assert all(row["kind"] != "fault" for row in found)
    assert found[-1]["status"] == "stopped_early"


def test_a_cut_tail_is_a_fault_or_tolerated():
    assert rows(CUT)[-1]["faults"] == {"truncated": 1}

    tolerant = rows(CUT, "--tail", "allow-incomplete")[-1]
    assert (tolerant["status"], tolerant["faults"]) == ("incomplete_tail", {})
    assert tolerant["bytes"]["tail"] == tolerant["bytes_read"] - tolerant["complete_through"]


def test_strict_says_by_the_exit_code_that_something_was_not_read_whole():
    rows(GLUED, "--strict", code=3)
    rows(CLAUDE, "--strict", code=0)


def test_a_prefix_is_read_exactly_and_hashed():
    data = CLAUDE.read_bytes()
    stop = data.index(b"\n", 5000) + 1

    summary = rows(CLAUDE, "--stop-at", str(stop), "--sha256")[-1]

    assert (summary["status"], summary["bytes_read"]) == ("complete", stop)
    assert summary["sha256"] == hashlib.sha256(data[:stop]).hexdigest()


def test_a_source_that_is_shorter_than_promised_gives_its_rows_and_then_the_error():
    size = CLAUDE.stat().st_size
    found = rows(CLAUDE, "--stop-at", str(size + 1))

    assert len(found) == len(rows(CLAUDE))
    assert found[-1]["status"] == "failed"
    assert found[-1]["error"]["kind"] == "snapshot_truncated"
    rows(CLAUDE, "--stop-at", str(size + 1), "--strict", code=3)


def test_limits_are_kept_and_said(session):
    path = session(user("a"), user("b", "a", "x" * 3000), user("c", "b"))

    found = rows(path, "--max-record-bytes", "2k")
    assert [row["fault"] for row in found if row["kind"] == "fault"] == ["too_long"]
    assert found[-1]["records"] == 2
    assert rows(path, "--max-file-bytes", "1K", code=4)[-1]["error"]["kind"] == "too_large"


@pytest.mark.parametrize("word", ["", "-1", "x", "1.5", "8 M", "٣", "1e9"])
def test_a_size_that_is_none_is_wrong_usage(word):
    assert turnlog("events", CLAUDE, f"--max-file-bytes={word}").returncode == 2


def test_an_unknown_kind_is_wrong_usage_and_the_kinds_are_named():
    done = turnlog("events", CLAUDE, "--include", "messages")

    assert done.returncode == 2
    assert b"custom_message" in done.stderr


def test_every_field_of_the_options_has_an_option():
    options = {parameter.name for parameter in events.command.params}

    assert options >= set(ReadOptions.__struct_fields__)
    assert "options" in inspect.signature(events.command.callback.__wrapped__).parameters
    assert set(reading._OPTIONS) == set(ReadOptions.__struct_fields__)


def test_every_kind_of_event_can_be_asked_for():
    for kind in EVENTS:
        assert reading._kinds(None, None, (kind,)) == {kind}


def test_what_is_no_session_is_told_and_the_agent_can_be_named(tmp_path):
    strange = tmp_path / "x.jsonl"
    strange.write_bytes(line(hello=1))

    found = rows(strange, code=4)
    assert found[-1]["error"]["kind"] == "corrupt"
    assert rows(strange, "--agent", "claude")[-1]["faults"] == {"missing_field": 1}


@pytest.mark.parametrize("data", [b"", b"\n", b"\n \n\t\r\n", b"  "])
def test_nothing_is_read_whole(tmp_path, data):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)

    (summary,) = rows(path)

    assert summary["status"] == "complete"
    assert summary["bytes"]["blank"] == len(data)
    assert (summary["records"], summary["complete_through"]) == (0, len(data))


def test_rows_of_a_pipe_come_out_before_it_ends():
    with subprocess.Popen(
        [*COMMAND, "events", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        process.stdin.write(user("a", text="first"))
        process.stdin.flush()
        kinds = []
        while "message" not in kinds:
            kinds.append(json.loads(process.stdout.readline())["kind"])
        process.stdin.write(user("b", "a", "second"))
        process.stdin.close()
        rest = [json.loads(text) for text in process.stdout]

    assert [row["text"] for row in rest if row["kind"] == "message"] == ["second"]
    assert rest[-1]["records"] == 2


def test_whatever_a_record_holds_the_rows_are_json_in_utf8(session):
    nested = "[" * 450 + "1" + "]" * 450
    call = '{"type":"tool_use","id":"c%s","name":"n","input":{"v":%s}}'
    values = ['"\\ud83d alone"', "123456789012345678901234567890", "1e400", nested, '"\\u0000\\u001b[2J"', "-0", "0.1"]
    blocks = ",".join(call % (n, value) for n, value in enumerate(values))
    begin = '{"type":"assistant","uuid":"u","sessionId":"s","message":{"role":"assistant","content":['
    path = session(user("a", text="\ud83d cut \udc00"), f"{begin}{blocks}]}}}}\n".encode())

    done = turnlog("events", path)
    found = [json.loads(text) for text in done.stdout.decode("utf-8", "strict").splitlines()]

    assert next(row["text"] for row in found if row["kind"] == "message") == "\ufffd cut \ufffd"
    said = [row["arguments"]["v"] for row in found if row["kind"] == "tool_call"]
    assert said[0] == "\ufffd alone"
    assert said[1] == 123456789012345678901234567890
    assert said[2] is None
    assert said[4] == "\x00\x1b[2J"
    assert said[5:] == [0, 0.1]
    assert b"\x1b" not in done.stdout


def test_memory_does_not_follow_the_size_of_the_file(session):
    resource = pytest.importorskip("resource")
    assert resource
    path = session(*[user(f"u{n}", text="x" * 60_000) for n in range(800)])
    code = (
        "import resource, sys; from turnlog.cli.group import run; code = run(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr); sys.exit(code)"
    )

    def peak(*args):
        done = subprocess.run(
            [sys.executable, "-c", code, "events", *args], capture_output=True, check=True, env=environment()
        )
        return int(done.stderr.split()[-1]) // (1024 if sys.platform == "darwin" else 1)

    small = session(user("a"), name="small.jsonl")
    assert peak(str(path)) - peak(str(small)) < 32 * 1024


def test_what_a_terminal_would_obey_is_escaped_there():
    said = {"text": "a\x7f\x9b2J\u202e\u2028\u00e9\u65e5"}
    data = for_terminal(json_bytes(said))

    assert json.loads(data) == said
    assert not any(mark in data.decode() for mark in "\x7f\x9b\u202e\u2028")
    assert "\u00e9\u65e5" in data.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")
def test_on_a_terminal_no_control_character_comes_out(session):
    import pty

    path = session(user("a", text="\x1b[2J\x07\x9b31m\u202e"))
    for command in (["events", path], ["check", path, "--json"], ["show", path], ["check", path]):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, *command], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
            env=environment(TERM="dumb"),
        ):  # fmt: skip
            os.close(theirs)
            out = b""
            while True:
                try:
                    data = os.read(ours, 1 << 16)
                except OSError:
                    break
                if not data:
                    break
                out += data
        os.close(ours)
        text = out.decode()
        assert text
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]", text)
