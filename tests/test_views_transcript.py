"""Turns of a session: what was asked, what came of it, each call with its result, faults in their place."""

import pytest

from commands import CLAUDE, DEMO, GLUED, line, user
from reading import parse
from turnlog.formats import FORMATS
from turnlog.model import Message
from turnlog.reader import read
from turnlog.views.transcript import transcript
from turnlog.views.turns import Call, Fault, Note, Picture, Result, Side, Text, Thought

PI = next((DEMO / ".pi").rglob("*01a1d8c4*.jsonl"))
SWINK = next((DEMO / ".config").rglob("*.jsonl"))
SESSION = "aaaaaaaa-0000-4000-8000-000000000001"


def turns_of(data, agent="claude"):
    return transcript(parse(agent, data).items, FORMATS[agent].transaction)


def turns_in(path):
    with read(path) as reader:
        items = list(reader)
        return transcript(items, reader.format.transaction)


def steps(turns, kind):
    return [step for turn in turns for step in turn.steps if isinstance(step, kind)]


def answer(*blocks, key="a1", message="m1", at="10:00:05", **more):
    return line(
        uuid=key, sessionId=SESSION, type="assistant", timestamp=f"2026-05-01T{at}.000Z",
        message={"role": "assistant", "id": message, "model": "m", "content": list(blocks)}, **more,
    )  # fmt: skip


def use(call, name="Bash", **arguments):
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def result(call, text="done", key="r1", **more):
    block = {"type": "tool_result", "tool_use_id": call, "content": text, **more}
    return line(
        uuid=key, sessionId=SESSION, type="user", timestamp="2026-05-01T10:00:06.000Z",
        message={"role": "user", "content": [block]},
    )  # fmt: skip


def test_each_prompt_opens_a_turn_and_a_tool_result_opens_none():
    turns = turns_in(CLAUDE)
    with read(CLAUDE) as reader:
        typed = [item.text for item in reader if isinstance(item, Message) and item.author == "human"]

    assert [turn.prompt.text for turn in turns if turn.prompt.author == "human"] == typed
    assert [turn.number for turn in turns] == list(range(1, len(turns) + 1))


def test_a_call_has_its_result_and_arguments():
    (turn,) = turns_of(user("u1") + answer(use("t1", command="ls")) + result("t1", "a.py"))
    (call,) = turn.steps

    assert (call.id, call.name, call.arguments) == ("t1", "Bash", {"command": "ls"})
    assert (call.result.text, call.result.call_id, call.line, call.result.line) == ("a.py", "t1", 2, 3)
    assert turn.steps == [call]


def test_results_out_of_order_find_their_calls():
    data = user("u1") + answer(use("t1"), use("t2")) + result("t2", "two", "r2") + result("t1", "one", "r1")
    calls = steps(turns_of(data), Call)

    assert [(call.id, call.result.text) for call in calls] == [("t1", "one"), ("t2", "two")]


def test_a_call_without_a_result_has_none_and_a_result_without_a_call_stands_alone():
    turns = turns_of(user("u1") + answer(use("t1")) + result("other", "x"))

    assert steps(turns, Call)[0].result is None
    assert [r.call_id for r in steps(turns, Result)] == ["other"]


def test_a_failed_result_is_marked():
    (call,) = steps(turns_of(user("u1") + answer(use("t1")) + result("t1", "no", is_error=True)), Call)

    assert call.result.is_error is True


def test_thinking_comes_before_the_words_of_its_record():
    blocks = {"type": "text", "text": "Yes."}, {"type": "thinking", "thinking": "Is it?"}
    (turn,) = turns_of(user("u1") + answer(*blocks))

    assert [type(step) for step in turn.steps] == [Thought, Text]


def test_a_record_that_was_written_again_is_shown_once():
    data = user("u1", text="once") + answer({"type": "text", "text": "yes"})
    turns = turns_of(data + data)

    assert len(turns) == 1
    assert [step.text for step in steps(turns, Text)] == ["yes"]


def test_a_fault_stands_in_its_place():
    turns = turns_of(user("u1") + b"{broken\n" + answer({"type": "text", "text": "yes"}))

    assert [type(step) for step in turns[0].steps] == [Fault, Text]
    assert turns[0].steps[0].line == 2


def test_what_a_subagent_wrote_into_the_file_is_nested_with_its_own_calls():
    turns = turns_in(GLUED)
    (side,) = steps(turns, Side)

    assert side.turns[0].prompt.author == "task"
    assert [call.result.text != "" for call in steps(side.turns, Call)] == [True]
    assert [turn.prompt.author for turn in turns] == ["human"]


def test_a_subagents_own_file_is_no_nest():
    file = next(CLAUDE.with_suffix("").rglob("agent-*.jsonl"))
    turns = turns_in(file)

    assert turns[0].prompt.author == "task"
    assert steps(turns, Side) == []


def test_two_subagents_without_ids_are_told_apart_by_their_parents():
    def aside(key, parent, text):
        return user(key, parent, text=text, isSidechain=True)

    data = user("u1") + aside("s1", None, "one") + aside("s2", None, "two") + aside("s3", "s1", "one goes on")
    sides = steps(turns_of(data), Side)

    assert [[turn.prompt.text for turn in side.turns] for side in sides] == [["one", "one goes on"], ["two"]]


def test_a_queued_prompt_that_comes_again_is_shown_once_and_one_that_does_not_where_it_was_queued():
    def queued(text):
        return line(
            type="queue-operation", operation="enqueue", content=text, sessionId=SESSION,
            timestamp="2026-05-01T10:00:01.000Z",
        )  # fmt: skip

    turns = turns_of(user("u1", text="a") + queued("b") + queued("c") + user("u2", text="b"))

    assert [turn.prompt.text for turn in turns] == ["a", "b"]
    assert [note.text for note in steps(turns, Note) if note.what == "queued"] == ["c"]


def test_pictures_stand_by_their_result_or_in_the_turn():
    turns = turns_in(PI)

    assert steps(turns, Picture)[0].media_type == "image/png"
    assert [p.media_type for call in steps(turns, Call) if call.result for p in call.result.images] == ["image/png"]


def test_compactions_branches_and_model_changes_are_notes():
    whats = {note.what for note in steps(turns_in(PI), Note)}

    assert {"compaction", "branch_summary", "model", "thinking_level"} <= whats
    assert "branch" in {note.what for note in steps(turns_in(CLAUDE), Note)}


def test_what_was_never_committed_is_told_where_it_begins_and_what_was_is_not():
    notes = [note for note in steps(turns_in(SWINK), Note) if note.what == "uncommitted"]

    assert [note.line for note in notes] == [19]


@pytest.mark.parametrize("path", sorted(DEMO.rglob("*.jsonl*")), ids=lambda path: path.name[:24])
def test_every_text_and_call_of_every_demo_session_is_in_its_turns(path):
    if path.name in ("history.jsonl", "session_index.jsonl"):
        pytest.skip("no session")
    turns = turns_in(path)
    with read(path) as reader:
        items = list(reader)

    def walk(turns):
        for turn in turns:
            for step in turn.steps:
                yield step
                if isinstance(step, Side):
                    yield from walk(step.turns)

    every = list(walk(turns))
    calls = {item.id for item in items if item.kind == "tool_call"}
    said = {i.text for i in items if i.kind == "message" and i.role == "assistant" and i.text.strip()}
    assert {step.id for step in every if isinstance(step, Call)} == calls
    assert {step.text for step in every if isinstance(step, Text)} == said
    assert [step.line for step in every if isinstance(step, Fault)] == [i.line for i in items if i.kind == "fault"]


def test_nothing_gives_no_turn():
    assert transcript([]) == []
