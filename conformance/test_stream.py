"""What Pi printed and what it stored say the same, event for event; and the answer that is taken from what it printed is the
one that was fixed beforehand, or none.
"""

import msgspec
import pytest

import ours
import turnlog
from inprocess import command
from scenarios import SCENARIOS
from turnlog.model import Record
from turnlog.stream import Begun

NAMES = [scenario.name for scenario in SCENARIOS]

# Of these kinds both must have the same, in the same order. A stream tells nothing of labels, of a change of models, of a
# branch that was left or of a person's shell lines, and a file nothing of the pieces of a message.
BOTH = set("message thinking image tool_call tool_result usage compaction custom_message custom context_edit".split())
# What only one of the two tells of an event: what a compaction made of the context, and an extension's clock.
ONE_SIDED = {"compaction": ("tokens_after", "trigger", "facts"), "custom_message": ("native_at",)}
NOWHERE = Record(0, 0, 0, "")


@pytest.fixture(params=NAMES)
def run(request, runs):
    return runs[request.param]


def told(event):
    """An event without its place, and without what only one side tells."""
    without = dict.fromkeys(ONE_SIDED.get(event.kind, ()))
    return msgspec.structs.replace(event, record=NOWHERE, index=0, **without)


def streamed(run):
    return [told(event) for event in run.stream.events if event.kind in BOTH]


def stored(run):
    """What the files say, each entry once (a fork repeats some), without what no stream tells."""
    found, seen = [], set()
    for events in run.events:
        copied = frozenset(seen)
        for event in events:
            seen.add(event.record.id)
            unstreamed = event.record.type == "branch_summary" or getattr(event, "role", None) == "bashExecution"
            if event.kind in BOTH and event.record.id not in copied and not unstreamed:
                found.append(told(event))
    return found


def test_the_stream_is_read_whole(run):
    summary = run.stream.summary

    assert summary.faults == {}
    assert summary.unknown == {}
    assert summary.bytes.total() == summary.bytes_read == len(run.ran.out)


def test_stream_and_file_say_the_same_in_the_same_order(run):
    assert stored(run)
    assert streamed(run) == stored(run)


def test_a_stream_that_lacks_one_message_says_something_else(run):
    lines = run.ran.out.splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if line.startswith(b'{"type":"message_end"'))
    lacking = ours.stream_of(b"".join(lines[:last] + lines[last + 1 :]))

    assert [told(event) for event in lacking.events if event.kind in BOTH] != stored(run)


def test_the_pieces_of_a_message_make_the_message(run):
    growing, answers = None, 0
    for event in run.stream.events:
        if isinstance(event, Begun):
            growing = event.growing
        elif event.kind == "message" and event.role == "assistant":
            assert growing.text == event.text
            answers += 1

    assert answers == sum(event.kind == "message" and event.role == "assistant" for event in stored(run))


def test_usage_of_the_stream_is_what_was_served_but_for_what_it_never_tells(run):
    expected, used = run.scenario.expected, run.stream.spent

    assert used + expected.unstreamed == expected.spent


def test_the_command_trusts_an_answer_only_where_there_is_one(run, tmp_path, capsysbinary):
    path = tmp_path / "out.jsonl"
    path.write_bytes(run.ran.out)
    code, out, _ = command(capsysbinary, "answer", path)

    answer = run.scenario.expected.answer
    assert code == (3 if answer is None else 0)
    assert out.decode() == ("" if answer is None else f"{turnlog.clean(answer)}\n")
