"""`turnlog show`: a transcript that can be read, and its JSON."""

import json

import jsonschema
import pytest

from commands import CLAUDE, CUT, DEMO, GLUED, line, user
from inprocess import as_json, command, told
from turnlog.schemas import schema

SESSIONS = sorted(p for p in DEMO.rglob("*.jsonl*") if p.name not in ("history.jsonl", "session_index.jsonl"))


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name[:24])
def test_the_json_of_every_session_is_what_its_schema_promises(capsysbinary, path):
    shown = as_json(capsysbinary, "show", path, "--home", DEMO)

    jsonschema.validate(shown, schema("turnlog.show/1"))
    assert shown["summary"]["bytes_read"] == sum(shown["summary"]["bytes"].values())


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name[:24])
@pytest.mark.parametrize("words", [[], ["--full"], ["--no-thinking"], ["--thinking", "--limit", "1"]])
def test_every_session_is_shown_with_its_verdict(capsysbinary, path, words):
    lines = told(capsysbinary, "show", path, "--home", DEMO, *words)

    assert any(row.startswith(("complete: ", "not complete: ")) for row in lines[-2:])
    assert not set("".join(lines)) & set("\x1b\x07\r\u202e")


def test_prompts_are_set_off_and_calls_are_one_line_with_their_result_below(capsysbinary):
    lines = told(capsysbinary, "show", CLAUDE, "--home", DEMO, "--timezone", "UTC")
    at = lines.index("  * Read  /home/dev/kestrel/kestrel/cli.py")

    assert "09:12  you" in lines
    assert "09:12  Claude Code  claude-opus-4-5-20251101" in lines
    assert lines[at + 1] == "      1   import sys"
    assert "Monday 2 November 2026" in lines


def test_times_are_of_the_zone_that_is_named(capsysbinary):
    lines = told(capsysbinary, "show", CLAUDE, "--home", DEMO, "--timezone", "America/Denver")

    assert "02:12  you" in lines
    assert "(America/Denver)" in lines[3]


def test_long_results_are_cut_and_full_cuts_nothing(capsysbinary, tmp_path):
    file = tmp_path / "long.jsonl"
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "\n".join(f"row {n}" for n in range(50))}
    call = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "x"}}],
    }
    file.write_bytes(
        user("u1")
        + line(uuid="a1", sessionId="s", type="assistant", message=call)
        + line(uuid="r1", sessionId="s", type="user", message={"role": "user", "content": [block]})
    )

    cut, full = (told(capsysbinary, "show", file, *words) for words in ([], ["--full"]))

    assert sum("row " in row for row in cut) == 6
    assert any("44 more lines (--full)" in row for row in cut)
    assert sum("row " in row for row in full) == 50


def test_thinking_is_shortened_shown_or_left_out(capsysbinary):
    def thoughts(*words):
        return [row for row in told(capsysbinary, "show", CLAUDE, "--home", DEMO, *words) if row.strip() == "thinking"]

    assert len(thoughts()) == len(thoughts("--thinking")) > 0
    assert thoughts("--no-thinking") == []


def test_limit_keeps_the_last_turns_and_says_how_many_came_before(capsysbinary):
    shown = as_json(capsysbinary, "show", CLAUDE, "--home", DEMO, "--limit", "2")
    whole = as_json(capsysbinary, "show", CLAUDE, "--home", DEMO)

    assert shown["turns"] == whole["turns"][-2:]
    assert shown["earlier"] == len(whole["turns"]) - 2


def test_subagents_are_named_at_the_call_that_started_them(capsysbinary):
    for word, agent in (("fb45", "a1f0c3d2e4b5a6978"), ("01a1d0a1", "01a1d0a3-20aa-7cc7-a28d-a9cf7f601f15")):
        (subagent,) = as_json(capsysbinary, "show", word, "--home", DEMO)["subagents"]
        assert subagent["id"] == agent
        assert subagent["call_id"] is not None
        assert any(f"turnlog show {agent}" in row for row in told(capsysbinary, "show", word, "--home", DEMO))


def test_a_fault_stands_in_its_place_and_in_the_verdict(capsysbinary):
    lines = told(capsysbinary, "show", GLUED, "--home", DEMO)

    assert any("! line 6 (bytes " in row and "2 records of it read" in row for row in lines)
    assert lines[-2].startswith("not complete: 1 fault")
    assert lines[-1].startswith("turnlog check ")


def test_strict_exits_3_for_a_damaged_file_and_0_for_a_whole_one(capsysbinary):
    assert command(capsysbinary, "show", CUT, "--strict")[0] == 3
    assert command(capsysbinary, "show", CLAUDE, "--strict")[0] == 0


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\0" * 100, b"hello\n", bytes(range(256)) * 20])
def test_a_file_of_no_agent_exits_4_with_a_sentence(capsysbinary, tmp_path, data):
    file = tmp_path / "x.jsonl"
    file.write_bytes(data)

    code, out, err = command(capsysbinary, "show", file)

    assert (code, out, err.count(b"\n")) == (4, b"", 1)


def test_lone_surrogates_escape_codes_and_line_marks_come_out_as_text(capsysbinary, tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_bytes(user("u1", text="a\ud83d \x1b[31mred\u2028next \u202eback"))

    (shown,) = [row for row in told(capsysbinary, "show", file) if "red" in row and row.startswith("  ")]
    data = as_json(capsysbinary, "show", file)

    assert shown == "  a\ufffd red next \ufffdback"
    assert data["turns"][0]["prompt"]["text"] == "a\ufffd \x1b[31mred\u2028next \u202eback"


def test_arguments_nested_deep_or_out_of_range_are_shown(capsysbinary, tmp_path):
    file = tmp_path / "x.jsonl"
    deep = "[" * 400 + "]" * 400
    file.write_bytes(
        user("u1")
        + b'{"type":"assistant","sessionId":"s","uuid":"a","message":{"role":"assistant","content":[{"type":"tool_use",'
        + b'"id":"t","name":"X","input":{"n":123456789012345678901234567890,"deep":' + deep.encode() + b"}}]}}\n"
    )  # fmt: skip

    for words in ([], ["--full"]):
        assert any("* X" in row for row in told(capsysbinary, "show", file, *words))
    assert (
        as_json(capsysbinary, "show", file)["turns"][0]["steps"][0]["arguments"]["n"] == 123456789012345678901234567890
    )


def test_the_same_session_gives_the_same_output(capsysbinary):
    assert command(capsysbinary, "show", "fb45", "--home", DEMO) == command(
        capsysbinary, "show", "fb45", "--home", DEMO
    )


def test_output_is_json_for_any_locale(capsysbinary):
    json.loads(command(capsysbinary, "show", "01a1d0a1", "--home", DEMO, "--json")[1].decode("utf-8"))
