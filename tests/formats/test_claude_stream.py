"""What Claude Code prints with `--output-format stream-json`: every type of line, and what becomes of a run (sheet 12).

The lines are our own, in the shapes of 1.0.38 to 2.1.332.
"""

import io
import itertools
import json

import pytest

from reading import each_byte, mutated, parse
from turnlog.formats import stream_of
from turnlog.formats.claude.stream_types import IGNORED, TYPES
from turnlog.live.answer import answer
from turnlog.model import KINDS
from turnlog.parser import Parser
from turnlog.stream import WORDS
from turnlog.views.live import Live

STREAM = stream_of("claude")
SESSION = "5f0c11aa-0000-4000-8000-000000000001"
COUNT = itertools.count(1)


def line(kind, **value):
    said = {"type": kind, "session_id": SESSION, "uuid": f"00000000-0000-4000-8000-{next(COUNT):012}"}
    return json.dumps({**said, **value}).encode() + b"\n"


def init(**value):
    return line("system", subtype="init", cwd="/w", model="claude-fake", claude_code_version="2.1.332", **value)


def usage(fresh=10, output=3, read=200, write=100):
    return {
        "input_tokens": fresh,
        "output_tokens": output,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
    }


def text(said):
    return {"type": "text", "text": said}


def call(call_id="call_1", name="Bash"):
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"command": "true"}}


def said(message_id, *blocks, stop=None, parent=None, spent=None, model="claude-fake", **value):
    """One line of a message of the model."""
    message = {"id": message_id, "type": "message", "role": "assistant", "model": model, "content": list(blocks)}
    message |= {"stop_reason": stop, "usage": usage() if spent is None else spent}
    return line("assistant", message=message, parent_tool_use_id=parent, **value)


def back(call_id="call_1", content="done", parent=None, **block):
    result = {"type": "tool_result", "tool_use_id": call_id, "content": content, **block}
    return line("user", message={"role": "user", "content": [result]}, parent_tool_use_id=parent)


def result(said="Done.", subtype="success", failed=False, stop="end_turn", **value):
    body = {"subtype": subtype, "is_error": failed, "stop_reason": stop, "num_turns": 1, "usage": usage(output=77)}
    body |= {"modelUsage": {"claude-fake": {"inputTokens": 10}}, "total_cost_usd": 0.5}
    return line("result", **({"result": said} if said is not None else {}), **{**body, **value})


def event(kind, parent=None, **value):
    return line("stream_event", event={"type": kind, **value}, parent_tool_use_id=parent)


def fold(*lines, run=None, cut=0):
    """The run asked for, after all lines were read; `cut`: bytes that the stream lacks at its end."""
    data = b"".join(lines)
    read = parse(STREAM, data[: len(data) - cut])
    live = Live(run=run)
    live.take(read.items)
    live.close()
    return live.chosen


def spent(run):
    return (run.usage.input, run.usage.output, run.usage.cache_read, run.usage.cache_write)


def events(lines, kind):
    return [event for event in parse(STREAM, b"".join(lines)).events if event.kind == kind]


# -- one run


def test_a_run_is_settled_by_its_result_and_its_answer_is_the_last_message():
    run = fold(init(), said("m1", text("Looking."), call()), back(), said("m2", text("Done.")), result())

    assert (run.state, run.outcome, run.text) == ("settled", "stop", "Done.")
    assert (run.messages, run.calls, run.results, run.errors) == (3, 1, 1, 0)


def test_one_message_in_several_lines_is_one_message_counted_once():
    lines = [
        init(),
        said("m1", {"type": "thinking", "thinking": "Hm.", "signature": "x"}),
        said("m1", text("First.")),
        said("m1", call("a")),
        back("a"),
        said("m1", call("b")),
        back("b", is_error=True),
        said("m2", text("Done.")),
    ]
    run = fold(*lines)

    assert (run.messages, run.calls, run.results, run.errors) == (4, 2, 2, 1)
    assert spent(run) == (20, 6, 400, 200)


def test_a_line_that_comes_twice_is_read_once():
    twice = said("m1", text("Once."), call())
    run = fold(init(), twice, twice, back())

    assert (run.text, run.messages, run.calls) == ("Once.", 2, 1)
    assert parse(STREAM, twice * 2).summary.ignored == {"repeated": 1}


def test_a_line_that_is_refused_is_a_fault_and_no_repetition():
    assert parse(STREAM, line("assistant")).kinds() == ["missing_field"]
    broken = json.loads(said("m1", text("x"), spent={**usage(), "output_tokens": -1}))
    read = parse(STREAM, json.dumps(broken).encode())
    assert read.kinds() == ["invalid_field", "message", "usage"]
    assert (read.events[1].counts.input, read.events[1].counts.output) == (10, None)


def test_the_texts_of_one_message_are_all_its_answer():
    run = fold(init(), said("m1", text("One.")), said("m1", text("Two.")), result("Two."))

    assert run.text == "One.\nTwo."


def test_the_result_text_stands_where_no_message_says_it():
    assert fold(init(), said("m1", text("Other.")), result("By the client.")).text == "By the client."
    assert fold(init(), said("m1", text("Other.")), result("")).text == ""


def test_a_single_result_document_is_a_run_of_its_own():
    run = fold(result("Alone.").rstrip(b"\n"))

    assert (run.number, run.state, run.outcome, run.text) == (1, "settled", "stop", "Alone.")
    assert spent(run) == (10, 77, 200, 100)


def test_what_the_result_counts_beyond_the_lines_is_added_once():
    lines = [init(), said("m1", text("Done.")), result(usage=usage(output=301, fresh=5000))]

    assert spent(fold(*lines)) == (5000, 301, 200, 100)
    last = events(lines, "usage")[-1]
    assert (last.basis, last.counts.output, last.cumulative.output) == ("cumulative_delta", 298, 301)


def test_a_result_that_counts_less_than_its_lines_takes_nothing_away():
    run = fold(init(), said("m1", call()), back(), said("m2", text("Done."), stop="end_turn"), result(usage=usage()))

    assert spent(run) == (20, 6, 400, 200)


def test_a_result_that_counts_the_start_and_the_end_of_each_call_is_not_used():
    first = {"modelUsage": None, "total_cost_usd": None, "stop": None}
    twice = usage(fresh=20, output=80, read=400, write=200)
    run = fold(init(), said("m1", text("Done."), stop="end_turn", spent=usage(output=77)), result(usage=twice, **first))

    assert spent(run) == (10, 77, 200, 100)


def test_cache_writes_are_told_by_their_parts_where_the_sum_is_zero():
    nested = {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40}
    run = fold(init(), said("m1", text("x"), spent={**usage(write=0), "cache_creation": nested}))

    assert spent(run) == (10, 3, 200, 100)


def test_the_bill_of_the_client_is_told_and_not_added():
    lines = [init(), said("m1", text("Done.")), result()]
    (bill,) = events(lines, "totals")

    assert (bill.cost, bill.by_model) == (0.5, {"claude-fake": {"inputTokens": 10}})
    assert spent(fold(*lines)) == (10, 77, 200, 100)


# -- subagents


def test_what_a_subagent_says_and_spends_is_no_part_of_the_answer():
    run = fold(
        init(),
        said("m1", call("t", "Agent")),
        said("s1", text("Sub answer."), parent="t"),
        said("s1", call("u"), parent="t"),
        back("u", parent="t"),
        back("t"),
    )

    assert (run.text, run.messages, run.calls, run.results) == ("", 2, 1, 1)
    assert spent(run) == (10, 3, 200, 100)


def test_a_subagent_that_speaks_after_the_result_begins_no_run():
    run = fold(init(), said("m1", text("Started.")), result("Started."), said("s1", text("Sub."), parent="t"))

    assert (run.number, run.state, run.text) == (1, "settled", "Started.")


# -- several runs


def background():
    return line("system", subtype="background_tasks_changed", tasks=[{"task_id": "t"}])


def test_each_prompt_of_a_process_is_a_run():
    lines = [init(), said("m1", text("One.")), result("One."), init(), said("m2", text("Two.")), result("Two.")]

    assert [fold(*lines, run=n).text for n in (None, 1, 2)] == ["Two.", "One.", "Two."]
    assert fold(*lines, run=3) is None
    assert [spent(fold(*lines, run=n)) for n in (1, 2)] == [(10, 77, 200, 100)] * 2


def test_results_that_come_late_settle_their_runs_in_order():
    lines = [
        init(),
        said("m1", call("t", "Agent")),
        background(),
        said("m2", text("Started.")),
        init(),
        said("m3", text("The helper is done.")),
        result("Started.", usage=usage(fresh=20, output=123, read=400, write=200), result_index=0),
        result("The helper is done.", result_index=1),
    ]
    first, second = fold(*lines, run=1), fold(*lines, run=2)

    assert (first.state, first.text, spent(first)) == ("settled", "Started.", (20, 123, 400, 200))
    assert (second.state, second.text, spent(second)) == ("settled", "The helper is done.", (10, 77, 200, 100))
    assert fold(*lines).text == "The helper is done."


def test_a_late_result_is_of_the_run_whose_words_it_has():
    lines = [init(), background(), said("m1", text("Old.")), init(), said("m2", text("New.")), result("New.")]

    assert (fold(*lines).state, fold(*lines).text) == ("settled", "New.")
    assert fold(*lines, run=1).state == "unsettled"


def test_a_run_that_was_killed_does_not_take_the_result_of_the_next_process():
    lines = [init(), said("m1", text("Killed.")), init(), said("m2", text("Again.")), result("Again.")]

    assert (fold(*lines, run=1).state, fold(*lines, run=1).text) == ("unsettled", "Killed.")
    assert (fold(*lines, run=2).state, fold(*lines, run=2).text) == ("settled", "Again.")


def test_a_run_that_begins_after_a_settled_one_and_is_cut_is_the_last_and_not_settled():
    lines = [init(), said("m1", text("One.")), result("One."), background(), init(), said("m2", text("Two."))]

    assert (fold(*lines).number, fold(*lines).state) == (2, "unsettled")
    assert fold(*lines, run=1).state == "settled"


def test_more_runs_than_may_wait_are_not_held():
    lines = []
    for n in range(60):
        lines += [init(), background(), said(f"m{n}", text(f"{n}"))]

    assert fold(*lines).state == "unsettled"


# -- how a run ends


def ended(*lines):
    run = fold(*lines)
    return run.state, run.outcome, run.own.error if run.own else None


@pytest.mark.parametrize(
    "stop, outcome",
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("pause_turn", "deferred"),
        ("tool_use", "tool_use"),
        ("something_new", "unknown"),
    ],
)
def test_the_stop_reason_of_the_result_is_the_outcome(stop, outcome):
    assert ended(init(), said("m1", text("x")), result("x", stop=stop))[1] == outcome


def test_a_stop_reason_that_only_the_message_has_is_the_outcome():
    assert ended(init(), said("m1", text("x"), stop="max_tokens"), result("x", stop=None))[1] == "length"


def test_a_success_without_any_stop_reason_is_the_clients_word():
    assert ended(init(), said("m1", text("x")), result("x", stop=None))[1] == "stop"


def test_an_answer_whose_end_the_client_never_counted_broke_off():
    state, outcome, sentence = ended(
        init(),
        said("m1", call()),
        back(),
        said("m2", text("First part.")),
        result("First part.", stop=None, usage=usage()),
    )

    assert (state, outcome) == ("failed", "error")
    assert "broke off" in sentence


def test_the_text_of_an_api_error_is_a_reason_and_no_answer():
    run = fold(
        init(),
        said("m1", text("First part.")),
        said("e", text("API Error: Overloaded"), model="<synthetic>", stop="stop_sequence", spent=usage(0, 0, 0, 0)),
        result("API Error: Overloaded", failed=True, stop="stop_sequence", usage=usage(0, 0, 0, 0)),
    )

    assert (run.state, run.outcome, run.own.error) == ("failed", "error", "API Error: Overloaded")
    assert (run.text, run.messages) == ("First part.", 1)
    assert spent(run) == (10, 3, 200, 100)


def test_what_the_client_says_in_the_models_place_is_no_answer():
    run = fold(init(), said("n", text("No response requested."), model="<synthetic>"), said("m", text("Yes.")))

    assert (run.text, run.messages, run.outcome) == ("Yes.", 1, None)


@pytest.mark.parametrize(
    "subtype, outcome",
    [
        ("error_max_turns", "limit"),
        ("error_max_budget_usd", "limit"),
        ("error_max_structured_output_retries", "error"),
        ("error_during_execution", "error"),
        ("error_of_tomorrow", "error"),
    ],
)
def test_an_error_subtype_is_never_a_good_end(subtype, outcome):
    said_so = ended(init(), said("m1", text("x")), result(None, subtype, failed=True, errors=["why", "and why"]))

    assert said_so[1:] == (outcome, "why; and why")
    assert ended(init(), said("m1", text("x")), result(None, subtype, failed=False))[1] == outcome


def test_an_error_without_words_is_told_by_its_subtype():
    assert ended(init(), result(None, "error_max_turns", failed=True))[2] == "error max turns"


@pytest.mark.parametrize("why", ["aborted_streaming", "aborted_tools"])
def test_an_interrupted_run_is_aborted(why):
    stop = result(None, "error_during_execution", failed=True, stop=None, terminal_reason=why, errors=["[diagnostic]"])

    assert ended(init(), said("m1", text("x")), stop) == ("aborted", "aborted", None)


def test_an_interruption_that_only_the_talk_tells_aborts_too():
    note = line("user", message={"role": "user", "content": [text("[Request interrupted by user]")]})
    stop = result(None, "error_during_execution", failed=True, stop=None)

    assert ended(init(), said("m1", text("x")), note, stop)[1] == "aborted"


def test_a_cut_and_resumed_answer_ends_as_its_last_message_does():
    note = line("user", isSynthetic=True, message={"role": "user", "content": [text("Go on.")]})
    run = fold(init(), said("m1", text("Cut")), note, said("m2", text("whole.")), result("whole."))

    assert (run.state, run.outcome, run.text, run.messages) == ("settled", "stop", "whole.", 3)


def test_retries_are_told_and_so_is_their_end():
    again = [
        line("system", subtype="api_retry", attempt=n, max_retries=2, retry_delay_ms=1.5, error_status=500, error="bad")
        for n in (1, 2)
    ]
    lost = fold(init(), *again, result("API Error: 500", failed=True, stop=None))
    assert (lost.retry.state, lost.retry.success, lost.retry.attempt, lost.retry.most) == ("ended", False, 2, 2)
    assert lost.retry.error == "bad (500)"

    won = fold(init(), *again, said("m1", text("After.")), result("After."))
    assert (won.retry.state, won.retry.success) == ("ended", True)

    waiting = fold(init(), *again)
    assert (waiting.state, waiting.retry.state, waiting.retry.delay_ms) == ("unsettled", "scheduled", 1)


def test_a_run_that_ends_while_it_is_tried_again_says_so():
    again = line("system", subtype="api_retry", attempt=7, max_retries=10, error_status=401, error="not_allowed")
    found = answer(io.BytesIO(init() + again))

    assert (found.ok, found.verdict, found.state) == (False, "unsettled", "unsettled")
    assert found.reason.endswith(
        "; its last call failed and was being tried again at attempt 7 of 10: not_allowed (401)"
    )


# -- partial messages


def partial(message_id="m1"):
    message = {"id": message_id, "role": "assistant", "model": "claude-fake", "content": [], "usage": usage()}
    return [
        event("message_start", message=message),
        event("content_block_start", index=0, content_block=text("")),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "One "}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "two \ud83d"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "\ude00."}),
    ]


def test_the_message_under_way_is_the_text_of_a_run_that_never_settled():
    run = fold(init(), *partial())

    assert (run.state, run.text, run.messages) == ("unsettled", "One two \U0001f600.", 0)
    assert spent(run) == (10, 3, 200, 100)


def test_a_whole_block_takes_the_place_of_its_pieces_and_the_next_one_grows_beside_it():
    lines = [
        init(),
        *partial(),
        said("m1", text("One two \U0001f600.")),
        event("content_block_stop", index=0),
        event("content_block_start", index=1, content_block=text("")),
        event("content_block_delta", index=1, delta={"type": "text_delta", "text": "More"}),
    ]

    assert fold(*lines[:-2]).text == "One two \U0001f600."
    assert fold(*lines).text == "One two \U0001f600.\nMore"
    assert fold(*lines, said("m1", text("More."))).text == "One two \U0001f600.\nMore."
    assert fold(*lines, said("m1", text("More."))).messages == 1


def test_the_end_of_a_message_tells_its_usage_and_its_stop():
    end = event("message_delta", delta={"stop_reason": "tool_use"}, usage=usage(output=77))
    lines = [init(), *partial(), said("m1", call()), end, event("message_stop")]

    assert spent(fold(*lines)) == (10, 77, 200, 100)
    assert fold(*lines).outcome == "tool_use"
    assert spent(fold(*lines, result("x", usage=usage(output=77)))) == (10, 77, 200, 100)


def test_a_message_without_a_block_is_over_with_its_end():
    end = event("message_delta", delta={"stop_reason": "end_turn"}, usage=usage())
    run = fold(init(), partial()[0], end, result(""))

    assert (run.growing, run.text, run.messages, run.outcome) == (None, "", 1, "stop")


def test_pieces_that_are_not_wanted_are_no_events_and_grow_the_message_all_the_same():
    parser = Parser(STREAM)
    parser.session.quiet = True
    live = Live()
    items = parser.feed(b"".join([init(), *partial()]))
    live.take(items)

    assert "delta" not in {item.kind for item in items}
    assert live.current.text == "One two \U0001f600."


def test_pieces_of_a_subagent_do_not_grow_the_answer():
    other = event("content_block_delta", parent="t", index=0, delta={"type": "text_delta", "text": "SUB"})

    assert fold(init(), *partial(), other).text == "One two \U0001f600."


# -- the tables, and damage


def every():
    """A line for each label, in any order."""
    for label in {**TYPES, **IGNORED}:
        kind, _, sub = label.partition(":")
        if kind == "system":
            yield label, line("system", subtype=sub, status="requesting", content="x")
        elif kind == "stream_event":
            yield label, event(sub, index=0, content_block=text(""), delta={"type": "text_delta", "text": "x"})
        elif kind == "delta":
            yield (
                label,
                event(
                    "content_block_delta", index=0, delta={"type": sub, "text": "", "thinking": "", "partial_json": ""}
                ),
            )
        elif kind == "content":
            yield (
                label,
                said(
                    "m1",
                    {
                        "type": sub,
                        "text": "x",
                        "thinking": "x",
                        "data": "x",
                        "id": "i",
                        "name": "n",
                        "input": {},
                        "content": "x",
                    },
                ),
            )
        elif kind == "result":
            yield label, result(subtype=sub or "success")
        elif kind == "repeated":
            yield label, said("m1", text("x")) * 2
        else:
            yield label, line(kind, message={"role": kind, "content": "x"})


@pytest.mark.parametrize("label, raw", [pytest.param(*pair, id=pair[0]) for pair in every()])
def test_every_type_of_the_table_is_read_with_no_fault_and_nothing_unknown(label, raw):
    summary = parse(STREAM, raw).summary

    assert (summary.faults, summary.unknown) == ({}, {})
    assert label not in IGNORED or label in summary.ignored


def test_no_type_is_both_projected_and_left_out():
    assert set(TYPES) & set(IGNORED) == set()


def test_every_type_is_projected_to_kinds_of_event_that_there_are():
    assert {kind for kinds in TYPES.values() for kind in kinds} <= KINDS | WORDS.keys()


def test_unknown_types_of_every_level_are_counted():
    strange = [
        line("tomorrow"),
        line("system", subtype="tomorrow"),
        event("tomorrow"),
        event("content_block_delta", index=0, delta={"type": "tomorrow_delta"}),
        said("m1", {"type": "tomorrow"}),
    ]

    assert parse(STREAM, b"".join(strange)).summary.unknown == {
        "tomorrow": 1,
        "system:tomorrow": 1,
        "stream_event:tomorrow": 1,
        "delta:tomorrow_delta": 1,
        "content:tomorrow": 1,
    }


WHOLE = [
    init(),
    *partial(),
    said("m1", text("One two.")),
    said("m1", call()),
    event("message_delta", delta={"stop_reason": "tool_use"}, usage=usage(output=77)),
    back(content=[text("a"), text("b")]),
    background(),
    said("s1", text("Sub."), parent="call_1"),
    said("m2", text("Done.")),
    init(),
    said("m3", text("More.")),
    result("Done."),
    result("More."),
    line("system", subtype="api_retry", attempt=1, max_retries=2, error="bad"),
]


def test_the_cut_of_the_bytes_changes_nothing():
    data = b"".join(WHOLE)

    whole = parse(STREAM, data)
    for other in (parse(STREAM, None, each_byte(data)), parse(STREAM, data + b" \n")):
        assert other.items == whole.items
    assert parse(STREAM, None, each_byte(data)).summary == whole.summary


def test_a_stream_cut_anywhere_never_says_more_than_the_whole_one():
    data = b"".join(WHOLE)
    for end in range(0, len(data), 37):
        read = parse(STREAM, data[:end], tail="allow-incomplete")
        live = Live()
        live.take(read.items)
        live.close()
        assert live.chosen is None or live.chosen.text in {
            "",
            "One ",
            "One two \ud83d",
            "One two \U0001f600.",
            "One two.",
            "Done.",
            "More.",
        }


@pytest.mark.parametrize("seed", range(60))
def test_hostile_bytes_end_in_events_and_faults_and_nothing_else(seed):
    live = Live()
    read = parse(STREAM, mutated(b"".join(WHOLE), seed))
    live.take(read.items)
    live.close()

    assert live.chosen is None or isinstance(live.chosen.text, str)


def test_a_session_file_is_no_stream_and_a_stream_no_session_of_another_agent():
    file = {"type": "user", "sessionId": SESSION, "uuid": "u", "message": {"role": "user", "content": "x"}}

    assert not STREAM.sniff(file)
    assert STREAM.sniff(json.loads(init()))
    assert STREAM.sniff(json.loads(result()))
    assert not stream_of("codex").sniff(json.loads(init()))
