"""What `codex exec --json` prints: every type of line, and what becomes of a run (sheet CODEX 12).

The lines are our own, in the shapes of 0.34 to 0.171.
"""

import json

import pytest

from reading import each_byte, mutated, parse
from turnlog.formats import stream_of
from turnlog.formats.codex.stream_types import IGNORED, TYPES
from turnlog.model import KINDS
from turnlog.stream import WORDS
from turnlog.views.live import Live

STREAM = stream_of("codex")
THREAD = "01a22ea2-0000-7000-8000-000000000001"


def line(kind=None, **value):
    return json.dumps({"type": kind, **value} if kind else value).encode() + b"\n"


def thread(name=THREAD):
    return line("thread.started", thread_id=name)


def turn():
    return line("turn.started")


def item(kind, state="completed", name="item_0", **value):
    return line(f"item.{state}", item={"id": name, "type": kind, **value})


def said(text):
    return item("agent_message", text=text)


def usage(fresh=1000, cached=200, output=30, **more):
    return {"input_tokens": fresh, "cached_input_tokens": cached, "output_tokens": output, **more}


def done(**spent):
    return line("turn.completed", usage=usage(**spent))


def failed(message):
    return line("error", message=message) + line("turn.failed", error={"message": message})


def msg(kind, **value):
    return line(id="0", msg={"type": kind, **value})


def live_of(*lines, run=None):
    live = Live(run=run)
    live.take(parse(STREAM, b"".join(lines)).items)
    live.close()
    return live


def fold(*lines, run=None):
    return live_of(*lines, run=run).chosen


def spent(run):
    return (run.usage.input, run.usage.output, run.usage.cache_read, run.usage.cache_write)


def command(state, name="item_1", status="in_progress", code=None, **value):
    return item(
        "command_execution", state, name, command="true", aggregated_output="", exit_code=code, status=status, **value
    )


# -- one run


def test_a_turn_is_a_run_and_its_answer_is_the_last_message_of_the_model():
    run = fold(
        thread(),
        turn(),
        said("Looking."),
        command("started"),
        command("completed", status="completed", code=0),
        said("Done."),
        done(),
    )

    assert (run.state, run.outcome, run.text) == ("settled", "stop", "Done.")
    assert (run.messages, run.calls, run.results, run.errors) == (3, 1, 1, 0)


def test_input_is_told_without_what_came_from_the_cache():
    assert spent(fold(thread(), turn(), said("x"), done())) == (800, 30, 200, None)
    run = fold(thread(), turn(), said("x"), done(cache_write_input_tokens=100, reasoning_output_tokens=10))
    assert spent(run) == (700, 30, 200, 100)


def test_a_warning_before_the_turn_begins_no_run():
    lines = [thread(), item("error", message="metadata not found"), turn(), said("Done."), done()]

    assert (fold(*lines).number, fold(*lines).text) == (1, "Done.")
    assert fold(*lines[:2]) is None


@pytest.mark.parametrize("status, wrong", [("completed", False), ("failed", True), ("declined", True)])
def test_the_status_of_an_item_says_whether_it_failed(status, wrong):
    run = fold(thread(), turn(), command("started"), command("completed", status=status))

    assert (run.calls, run.results, run.errors) == (1, 1, int(wrong))


def test_a_call_that_was_never_announced_is_one_call():
    run = fold(thread(), turn(), item("file_change", changes=[{"path": "a", "kind": "add"}], status="completed"))

    assert (run.calls, run.results) == (1, 1)


def test_a_call_that_never_came_back_has_no_result():
    run = fold(thread(), turn(), command("started"), done())

    assert (run.calls, run.results) == (1, 0)


def test_what_an_mcp_tool_gave_or_why_it_failed_is_its_result():
    given = item(
        "mcp_tool_call",
        server="s",
        tool="t",
        arguments={"a": 1},
        status="completed",
        result={"content": [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]},
    )
    lost = item("mcp_tool_call", server="s", tool="t", arguments={"a": 1}, status="failed", error={"message": "no"})
    events = parse(STREAM, thread() + turn() + given + lost).events

    assert [(e.text, e.is_error) for e in events if e.kind == "tool_result"] == [("one\ntwo", False), ("no", True)]
    assert [(e.namespace, e.name, e.arguments) for e in events if e.kind == "tool_call"] == [("s", "t", {"a": 1})] * 2


def test_a_command_at_work_tells_what_it_gave_so_far():
    update = item(
        "command_execution", "updated", "item_1", command="true", aggregated_output="half", status="in_progress"
    )
    live = Live(keep=True)
    live.take(parse(STREAM, thread() + turn() + command("started") + update).items)
    (tool,) = live.current.tools.values()

    assert (tool.name, [bytes(part) for part in tool.partials], tool.done) == ("command_execution", [b'"half"'], False)


# -- several runs, and running totals


def test_the_running_total_of_a_thread_is_told_as_what_it_grew_by():
    lines = [thread(), turn(), said("1"), done(), thread(), turn(), said("2"), done(fresh=2500, cached=900, output=70)]

    assert [spent(fold(*lines, run=n)) for n in (1, 2)] == [(800, 30, 200, None), (800, 40, 700, None)]
    assert live_of(*lines).usage.total == 2570


def test_a_total_that_fell_began_anew():
    lines = [thread(), turn(), said("1"), done(), thread(), turn(), said("2"), done(fresh=500, cached=100, output=5)]

    assert spent(fold(*lines)) == (400, 5, 100, None)


def test_the_total_of_another_thread_is_not_compared():
    lines = [thread(), turn(), said("1"), done(), thread("other"), turn(), said("2"), done(fresh=2500)]

    assert spent(fold(*lines)) == (2300, 30, 200, None)


def test_the_total_stands_beside_what_it_grew_by():
    data = b"".join([thread(), turn(), done(), turn(), done(fresh=1500)])
    samples = [event for event in parse(STREAM, data).events if event.kind == "usage"]

    assert [(s.basis, s.counts.input, s.cumulative.input) for s in samples] == [
        ("initial_cumulative", 1000, 1000),
        ("cumulative_delta", 500, 1500),
    ]


def test_more_threads_than_are_remembered_are_read_all_the_same():
    lines = [line for n in range(600) for line in (thread(f"t{n}"), turn(), said(f"{n}"), done())]

    assert (live_of(*lines).runs, fold(*lines).text) == (600, "599")


def test_a_process_that_was_stopped_never_settled_and_takes_nothing_from_the_next():
    lines = [thread(), turn(), said("one"), thread(), turn(), said("two"), done()]

    assert (fold(*lines, run=1).state, fold(*lines, run=1).text) == ("unsettled", "one")
    assert (fold(*lines).state, fold(*lines).text) == ("settled", "two")


def test_a_process_that_said_nothing_but_its_thread_has_no_run_to_judge():
    assert fold(thread(), turn(), said("old"), done(), thread()) is None


# -- how a run ends


def test_a_turn_that_failed_is_an_error_with_its_sentence():
    run = fold(thread(), turn(), said("partial"), failed("stream disconnected"))

    assert (run.state, run.outcome, run.own.error, run.text) == ("failed", "error", "stream disconnected", "partial")


@pytest.mark.parametrize(
    "why, outcome", [("max_output_tokens", "length"), ("content_filter", "refusal"), ("tomorrow", "error")]
)
def test_an_incomplete_response_ends_as_its_reason_says(why, outcome):
    sentence = f"Incomplete response returned, reason: {why}"

    assert fold(thread(), turn(), said("partial"), failed(sentence)).outcome == outcome


def test_a_failure_without_words_is_a_failure():
    run = fold(thread(), turn(), line("turn.failed", error={}))

    assert (run.state, run.outcome, run.own.error) == ("failed", "error", None)


def test_a_reconnection_is_no_end_and_its_end_is_told():
    again = line("error", message="Reconnecting... 1/3 (stream closed)")
    lines = [thread(), turn(), said("first try"), again]

    assert (fold(*lines).state, fold(*lines).retry.attempt, fold(*lines).retry.most) == ("unsettled", 1, 3)
    won = fold(*lines, said("second try"), done())
    assert (won.state, won.text, won.retry.state, won.retry.success) == ("settled", "second try", "ended", True)
    lost = fold(*lines, line("error", message="Reconnecting... 3/3"), failed("gone"))
    assert (lost.outcome, lost.retry.success, lost.retry.attempt) == ("error", False, 3)


# -- the events printed before 0.44

HEADER = [
    line(**{"model": "gpt-fake", "workdir": "/w", "provider": "fake", "reasoning effort": "medium"}),
    line(prompt="Do it"),
]


def count(total, last):
    return msg("token_count", info={"total_token_usage": total, "last_token_usage": last})


def test_old_events_are_read_and_a_run_without_an_end_did_not_settle():
    lines = [
        *HEADER,
        msg("task_started", model_context_window=1),
        msg("agent_message", message="Looking."),
        msg("exec_command_begin", call_id="c", command=["true"]),
        msg("exec_command_end", call_id="c", aggregated_output="out\n", exit_code=1),
        count(usage(), usage()),
        count(usage(), usage()),
        msg("agent_message", message="All done."),
        count(usage(fresh=1500), usage(fresh=500, cached=0, output=5)),
    ]
    run = fold(*lines)

    assert (run.state, run.outcome, run.text) == ("unsettled", None, "All done.")
    assert (run.calls, run.results, run.errors) == (1, 1, 1)
    assert spent(run) == (800 + 500, 35, 200, None)


@pytest.mark.parametrize(
    "repair, kinds", [(True, ["usage", "counter_regression"]), (False, ["usage", "counter_regression"])]
)
def test_an_old_total_that_fell_is_a_fault_however_it_is_read(repair, kinds):
    counts = [msg("token_count", info={"total_token_usage": usage(fresh=n)}) for n in (1000, 900)]

    assert parse(STREAM, b"".join(counts), repair=repair).kinds() == kinds


@pytest.mark.parametrize(
    "last, state, outcome",
    [
        (msg("task_complete", last_agent_message="x"), "settled", "stop"),
        (msg("turn_aborted", reason="interrupted"), "aborted", "aborted"),
        (msg("error", message="boom"), "failed", "error"),
    ],
)
def test_old_ends_settle_a_run_where_they_are_printed(last, state, outcome):
    run = fold(*HEADER, msg("task_started"), msg("agent_message", message="x"), last)

    assert (run.state, run.outcome, run.text) == (state, outcome, "x")


def test_an_old_stream_error_is_a_retry():
    run = fold(*HEADER, msg("task_started"), msg("stream_error", message="stream error: cut; retrying 2/5 in 1s"))

    assert (run.retry.attempt, run.retry.most, run.retry.state) == (2, 5, "scheduled")


# -- the tables, and damage


def every():
    """A line for each label, in any order."""
    for label in {**TYPES, **IGNORED}:
        kind, _, sub = label.partition(":")
        if kind == "item":
            yield label, item(sub, text="x", message="x")
        elif kind == "msg":
            yield (
                label,
                msg(sub, message="x", text="x", info={"total_token_usage": usage(), "last_token_usage": usage()}),
            )
        elif kind == "settings":
            yield label, HEADER[0]
        elif kind == "prompt":
            yield label, HEADER[1]
        elif kind.startswith("item."):
            yield label, item("web_search", kind.removeprefix("item."), query="q")
        else:
            yield label, line(kind, thread_id=THREAD, usage=usage(), error={"message": "x"}, message="x")


@pytest.mark.parametrize("label, raw", [pytest.param(*pair, id=pair[0]) for pair in every()])
def test_every_type_of_the_table_is_read_with_no_fault_and_nothing_unknown(label, raw):
    summary = parse(STREAM, raw).summary

    assert (summary.faults, summary.unknown) == ({}, {})
    assert (label in IGNORED) == (label in summary.ignored)


def test_no_type_is_both_projected_and_left_out():
    assert set(TYPES) & set(IGNORED) == set()


def test_every_type_is_projected_to_kinds_of_event_that_there_are():
    assert {kind for kinds in TYPES.values() for kind in kinds} <= KINDS | WORDS.keys()


def test_unknown_types_of_every_level_are_counted():
    strange = [line("tomorrow"), item("tomorrow"), msg("tomorrow"), line(other=1)]

    assert parse(STREAM, b"".join(strange)).summary.unknown == {
        "tomorrow": 1,
        "item:tomorrow": 1,
        "msg:tomorrow": 1,
        "no type": 1,
    }


WHOLE = [
    thread(),
    item("error", message="a warning"),
    turn(),
    item("reasoning", text="Hm."),
    said("Looking."),
    command("started"),
    command("completed", status="failed", code=3),
    item("todo_list", items=[]),
    line("error", message="Reconnecting... 1/3 (cut)"),
    said("Done."),
    done(),
    thread(),
    turn(),
    said("More."),
    failed("gone"),
]


def test_the_cut_of_the_bytes_changes_nothing():
    data = b"".join(WHOLE)
    whole = parse(STREAM, data)

    for other in (parse(STREAM, None, each_byte(data)), parse(STREAM, data + b" \n")):
        assert other.items == whole.items
    assert parse(STREAM, None, each_byte(data)).summary == whole.summary


def test_a_stream_cut_anywhere_never_says_more_than_the_whole_one():
    data = b"".join(WHOLE)
    for end in range(len(data)):
        live = Live()
        live.take(parse(STREAM, data[:end], tail="allow-incomplete").items)
        live.close()
        assert live.chosen is None or live.chosen.text in {"", "Looking.", "Done.", "More."}


@pytest.mark.parametrize("seed", range(60))
def test_hostile_bytes_end_in_events_and_faults_and_nothing_else(seed):
    live = Live()
    live.take(parse(STREAM, mutated(b"".join(WHOLE + HEADER), seed)).items)
    live.close()

    assert live.chosen is None or isinstance(live.chosen.text, str)


def test_a_session_file_is_no_stream():
    file = {"type": "event_msg", "timestamp": "2026-01-01T00:00:00Z", "payload": {"type": "task_started"}}

    assert not STREAM.sniff(file)
    assert all(STREAM.sniff(json.loads(raw)) for raw in (thread(), done(), HEADER[0], msg("task_started")))
