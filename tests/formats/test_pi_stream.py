"""What Pi prints with --mode json and --mode rpc, as events."""

import itertools
import json

import pytest

from reading import FIXTURES, each_byte, parse, pieces, same
from turnlog.formats import stream_of
from turnlog.model import told
from turnlog.parser import Parser
from turnlog.stream import MAX_BLOCKS, Growing
from turnlog.views.live import Live

EVERY = (FIXTURES / "streams" / "pi-every.jsonl").read_bytes()
STREAM = stream_of("pi")

# Every type of record that Pi's sheet tells of (PI 8 and 9), written down here and nowhere derived.
TOLD = """session agent_start agent_end agent_settled turn_start turn_end message_start message_end message_update
    tool_execution_start tool_execution_update tool_execution_end queue_update entry_appended session_info_changed
    thinking_level_changed compaction_start compaction_end auto_retry_start auto_retry_end summarization_retry_scheduled
    summarization_retry_attempt_start summarization_retry_finished bash_execution_update extension_error response
    extension_ui_request""".split()
UPDATES = """text_start text_delta text_end thinking_start thinking_delta thinking_end toolcall_start toolcall_delta
    toolcall_end start done error""".split()


def lines(*rows):
    """Records as bytes, lone surrogates as the escapes that Node writes."""
    return b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)


def start(content=(), role="assistant"):
    return {"type": "message_start", "message": {"role": role, "content": list(content)}}


def update(kind, place=0, **more):
    return {"type": "message_update", "usage": {"output": 1}, "assistantMessageEvent": {"type": kind, "contentIndex": place, **more}}  # fmt: skip


def delta(text, place=0, part="text"):
    return update(f"{part}_delta", place, delta=text)


def end(text, stop="stop", **more):
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": stop, **more}
    return {"type": "message_end", "message": message}


def growing(*rows):
    """The message under way after these records."""
    return next(item.growing for item in reversed(parse(STREAM, lines(*rows)).items) if item.kind == "begun")


def events_of(*rows, **options):
    read = parse(STREAM, lines(*rows), **options)
    assert read.faults == []
    assert not read.summary.unknown
    return read.events


def folded(*rows, **options):
    live = Live(**options)
    live.take(parse(STREAM, lines(*rows)).items)
    return live


def test_every_type_that_pi_tells_of_has_its_row():
    rows = {*STREAM.types, *STREAM.ignored}

    assert [kind for kind in TOLD if kind not in rows] == []
    assert [kind for kind in UPDATES if f"update:{kind}" not in rows] == []


def test_every_type_is_read_without_fault_and_nothing_is_unknown():
    read = parse(STREAM, EVERY)
    written = {json.loads(line)["type"] for line in EVERY.splitlines()}

    assert written == set(TOLD)
    assert read.faults == []
    assert read.summary.unknown == {}
    assert {event.record.type for event in read.events} == written - set(STREAM.ignored)


def test_a_type_is_projected_to_the_kinds_its_row_names():
    told_kinds = {}
    for event in parse(STREAM, EVERY).events:
        told_kinds.setdefault(event.record.type, set()).add(event.kind)

    assert {kind: kinds - set(STREAM.types[kind]) for kind, kinds in told_kinds.items() if kinds - set(STREAM.types[kind])} == {}  # fmt: skip


def test_an_unknown_type_is_counted_and_no_fault():
    read = parse(STREAM, lines({"type": "agent_start"}, {"type": "agent_pondered"}, update("video_delta", delta="x")))

    assert read.faults == []
    assert read.summary.unknown == {"agent_pondered": 1, "update:video_delta": 1}


@pytest.mark.parametrize("cuts", ["bytes", "pieces", "more"])
def test_however_the_bytes_are_cut_the_events_are_the_same(cuts):
    whole = parse(STREAM, EVERY)
    if cuts == "more":  # bytes after it change nothing before them
        more = parse(STREAM, EVERY + lines({"type": "agent_start"}))
        assert more.items[: len(whole.items)] == whole.items
        assert len(more.items) == len(whole.items) + 1
    else:
        same(whole, parse(STREAM, EVERY, each_byte(EVERY) if cuts == "bytes" else pieces(EVERY, [7, 1, 300])))


def test_of_two_types_in_one_record_the_last_one_counts():
    twice = b'{"type":"message_end","type":"session_info_changed","name":"birds","message":{"role":"user"}}\n'

    assert [(event.kind, event.record.type) for event in parse(STREAM, twice).events] == [
        ("session_name", "session_info_changed")
    ]


def test_only_lf_ends_a_record():
    text = "a\u2028b\u2029c\x85d\x0ce"
    data = json.dumps(end(text), ensure_ascii=False).encode() + b"\r\n"
    read = parse(STREAM, lines({"type": "agent_start"}) + data)

    assert read.faults == []
    assert [event.text for event in read.events if event.kind == "message"] == [text]


def test_slots_of_a_record_rise():
    for _, group in itertools.groupby(parse(STREAM, EVERY).events, key=lambda event: event.line):
        slots = [event.index for event in group]
        assert slots == sorted(set(slots))


# -- the message under way


def test_a_message_is_built_from_nothing_whatever_its_start_shows():
    message = growing(start([{"type": "text", "text": "Hel"}]), update("text_start"), delta("Hel"), delta("lo"))

    assert message.text == "Hello"


def test_several_blocks_may_be_open_at_once():
    message = growing(
        start(), update("thinking_start", 0), delta("Let ", 0, "thinking"), update("text_start", 1), delta("I ", 1),
        delta("me.", 0, "thinking"), update("toolcall_start", 2, id="c1", toolName="bash"), delta("see", 1),
        delta('{"a":', 2, "toolcall"), delta(" 1}", 2, "toolcall"),
    )  # fmt: skip

    assert {place: (block.part, block.text) for place, block in message.blocks.items()} == {
        0: ("thinking", "Let me."),
        1: ("text", "I see"),
        2: ("tool_call", '{"a": 1}'),
    }
    assert (message.blocks[2].id, message.blocks[2].name) == ("c1", "bash")
    assert message.text == "I see"


def test_the_end_of_a_block_replaces_what_came_before():
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}
    message = growing(
        start(), update("text_start"), delta("drft"), update("text_end", content="draft"),
        update("toolcall_start", 1), delta('{"a": nonsense', 1, "toolcall"), update("toolcall_end", 1, toolCall=call),
        update("thinking_start", 2), update("thinking_end", 2, content="[Reasoning redacted]"),
    )  # fmt: skip

    assert [block.text for block in message.blocks.values()] == ["draft", "{}", "[Reasoning redacted]"]
    assert all(block.closed for block in message.blocks.values())
    assert message.blocks[1].name == "bash"


def test_text_goes_by_place_and_not_by_the_order_of_coming():
    message = growing(start(), update("text_start", 5), delta("second", 5), update("text_start", 1), delta("first", 1))

    assert message.text == "first\nsecond"


def test_halves_of_a_surrogate_pair_in_two_pieces_are_one_character():
    rows = [start(), update("text_start"), delta("bird \ud83d"), delta("\udc26!")]

    assert growing(*rows).text == "bird \U0001f426!"
    assert growing(*rows[:3]).text == "bird \ud83d"


def test_what_an_old_update_shows_of_the_whole_message_is_not_added_to_it():
    shown = {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}
    rows = [{**row, "message": shown} for row in (update("text_start"), delta("Hel"), delta("lo"))]
    for row in rows:
        row["assistantMessageEvent"]["partial"] = shown

    assert growing(start(), *rows).text == "Hello"


def test_the_end_of_a_message_is_what_counts():
    live = folded({"type": "agent_start"}, start(), update("text_start"), delta("draft"), end("final"))

    assert live.chosen.text == "final"
    assert live.chosen.growing is None


def test_a_stream_that_begins_inside_a_message_is_read_from_there():
    live = folded(delta("tail"))

    assert live.chosen.text == "tail"


def test_a_piece_that_is_no_string_is_a_fault_and_adds_nothing():
    read = parse(STREAM, lines(start(), update("text_start"), delta("a"), delta(7), update("text_delta"), delta("b")))

    assert [(fault.fault.value, fault.path) for fault in read.faults] == [
        ("invalid_field", "$.assistantMessageEvent.delta"),
        ("missing_field", "$.assistantMessageEvent.delta"),
    ]
    assert next(item.growing for item in read.items if item.kind == "begun").text == "ab"


@pytest.mark.parametrize(
    "place, kind", [(-1, "invalid_field"), ("x", "invalid_field"), (2**64, "invalid_field"), (None, "missing_field")]
)
def test_a_place_that_is_none_is_one_fault_and_no_block(place, kind):
    read = parse(STREAM, lines(start(), delta("a", place)))

    assert [(fault.fault.value, fault.path) for fault in read.faults] == [
        (kind, "$.assistantMessageEvent.contentIndex")
    ]
    assert read.items[0].growing.blocks == {}


def test_a_block_may_name_any_place_and_costs_one_block():
    message = growing(start(), delta("far", 10**9), delta("near", 0))

    assert message.text == "near\nfar"
    assert len(message.blocks) == 2


def test_a_message_of_more_blocks_than_any_keeps_a_bound_and_says_so(monkeypatch):
    monkeypatch.setattr("turnlog.stream.MAX_BLOCKS", 8)
    message = growing(start(), *[delta("x", place) for place in range(20)])

    assert len(message.blocks) == 8 < MAX_BLOCKS
    assert message.left_out == 12 * len('"x"')


def test_a_message_longer_than_any_record_keeps_a_bound_and_says_so(monkeypatch):
    monkeypatch.setattr("turnlog.stream.MAX_GROWING", 100)
    message = Growing()
    for _ in range(30):
        message.add(0, "text", b'"0123456789"')

    assert 80 < message.kept <= 100
    assert message.left_out > 0


def test_a_piece_of_five_megabytes_is_a_piece():
    message = growing(start(), update("text_start"), *[delta("x" * 5_000_000)] * 3)

    assert len(message.text) == 15_000_000


def test_a_hundred_thousand_brackets_are_a_fault_and_reading_goes_on():
    deep = b'{"type":"message_update","assistantMessageEvent":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    read = parse(STREAM, lines(start(), delta("a")) + deep + lines(delta("b")), max_record_bytes=None)

    assert [fault.fault.value for fault in read.faults] == ["too_deep"]
    assert next(item.growing for item in read.items if item.kind == "begun").text == "ab"


def test_where_only_the_runs_are_wanted_they_stand_the_same():
    parser = Parser(STREAM)
    parser.session.quiet = True
    items = parser.feed(EVERY) + parser.close()
    live, quiet = Live(run=1), Live(run=1)
    live.take(parse(STREAM, EVERY).items)
    quiet.take(items)

    assert {item.kind for item in items}.isdisjoint({"delta", "tool_run"})
    assert (quiet.runs, quiet.usage, quiet.chosen.text) == (live.runs, live.usage, live.chosen.text)

    for name in ("messages", "calls", "results", "errors", "compactions", "usage", "answer", "ended", "state"):
        assert getattr(quiet.chosen, name) == getattr(live.chosen, name), name


# -- tools, queues, compaction, trying again


def test_every_partial_result_is_kept_and_the_last_is_shown():
    tool = {"toolCallId": "c1", "toolName": "bash", "args": {"command": "ls"}}
    partials = [{"type": "tool_execution_update", **tool, "partialResult": {"n": n}} for n in range(3)]
    rows = [{"type": "agent_start"}, {"type": "tool_execution_start", **tool}, *partials]
    live = folded(*rows, keep=True)
    found = live.chosen.tools["c1"]

    assert [json.loads(part) for part in found.partials] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert json.loads(found.shown) == {"n": 2}
    assert json.loads(found.input) == {"command": "ls"}
    assert not found.done

    done = {"type": "tool_execution_end", "toolCallId": "c1", "toolName": "bash", "result": {"n": 9}, "isError": True}
    found = folded(*rows, done, keep=True).chosen.tools["c1"]
    assert (json.loads(found.shown), found.is_error, len(found.partials)) == ({"n": 9}, True, 3)


def test_a_nested_call_names_the_call_that_made_it():
    row = {"type": "tool_execution_start", "toolCallId": "c/1", "toolName": "read", "parentToolCallId": "c"}

    assert [(event.call_id, event.parent_id) for event in events_of(row)] == [("c/1", "c")]


def test_what_waits_in_the_queues_is_told_and_then_gone():
    rows = [{"type": "agent_start"}, {"type": "queue_update", "steering": ["left"], "followUp": ["then stop"]}]
    live = folded(*rows)

    assert (live.chosen.waiting.steering, live.chosen.waiting.follow_up) == (("left",), ("then stop",))
    assert folded(*rows, {"type": "queue_update", "steering": [], "followUp": []}).chosen.waiting.steering == ()


def test_a_compaction_tells_its_beginning_its_end_and_what_came_of_it():
    usage = {"input": 700, "output": 30, "cacheRead": 3, "cacheWrite": 0, "totalTokens": 733}
    result = {
        "summary": "S",
        "firstKeptEntryId": None,
        "tokensBefore": 1760,
        "estimatedTokensAfter": 90,
        "usage": usage,
    }
    done = {"type": "compaction_end", "reason": "manual", "aborted": False, "willRetry": False, "result": result}
    begun, ended, compaction, spent = events_of({"type": "compaction_start", "reason": "manual"}, done)

    assert (begun.state, ended.state, ended.reason, ended.aborted) == ("begun", "ended", "manual", False)
    assert (compaction.summary, compaction.tokens_before, compaction.tokens_after) == ("S", 1760, 90)
    assert spent.counts.reported_total == 733


def test_a_compaction_that_failed_says_why_and_gives_none():
    row = {"type": "compaction_end", "reason": "manual", "aborted": False, "errorMessage": "Already compacted"}

    assert [(event.kind, event.error) for event in events_of(row)] == [("compacting", "Already compacted")]


def test_a_compaction_told_twice_is_counted_once():
    entry = {"type": "compaction", "id": "a", "parentId": "b", "summary": "S", "tokensBefore": 5, "usage": {"input": 9}}
    done = {"type": "compaction_end", "reason": "manual", "result": {"summary": "S", "usage": {"input": 9}}}
    read = parse(STREAM, lines(done, {"type": "entry_appended", "entry": entry}))

    assert [event.kind for event in read.events] == ["compacting", "compaction", "usage"]
    assert read.summary.ignored == {"entry:again": 1}


def test_trying_again_is_told_from_the_first_to_the_last():
    rows = [
        {"type": "auto_retry_start", "attempt": 1, "maxAttempts": 2, "delayMs": 200, "errorMessage": "busy"},
        {"type": "auto_retry_end", "success": False, "attempt": 2, "finalError": "still busy"},
        {"type": "summarization_retry_scheduled", "attempt": 1, "maxAttempts": 2, "delayMs": 9, "errorMessage": "busy"},
        {"type": "summarization_retry_attempt_start", "source": "branchSummary"},
        {"type": "summarization_retry_finished"},
    ]

    assert [(e.what, e.state, e.attempt, e.most, e.success, e.error, e.source) for e in events_of(*rows)] == [
        ("call", "scheduled", 1, 2, None, "busy", None),
        ("call", "ended", 2, None, False, "still busy", None),
        ("summary", "scheduled", 1, 2, None, "busy", None),
        ("summary", "begun", None, None, None, None, "branchSummary"),
        ("summary", "ended", None, None, None, None, None),
    ]


# -- usage


def test_usage_is_counted_once_however_often_it_is_told():
    live = Live()
    live.take(parse(STREAM, EVERY).items)

    # two answers and a tool of run 1, its compaction; then a warming call outside any run; the answers of run 2
    assert (live.usage.input, live.usage.output) == (100 + 7 + 120 + 40 + 5 + 0 + 50, 20 + 1 + 10 + 4 + 0 + 0 + 5)
    assert (live.usage.cache_read, live.usage.cache_write) == (100 + 900, 9)
    assert (live.chosen.usage.input, live.chosen.usage.output) == (50, 5)


def test_usage_of_a_message_without_an_end_is_not_guessed():
    live = folded({"type": "agent_start"}, start(), update("text_start"), delta("x"))

    assert live.usage.total is None


# -- states


def test_a_run_is_running_until_the_agent_settles():
    rows = [{"type": "agent_start"}, end("a"), {"type": "agent_end", "messages": [], "willRetry": False}]

    assert [folded(*rows[:n]).chosen.state for n in (1, 2, 3)] == ["running"] * 3
    assert folded(*rows, {"type": "agent_settled", "aborted": False}).chosen.state == "settled"


def test_a_stream_that_ends_before_settling_leaves_its_run_unsettled():
    live = folded({"type": "agent_start"}, end("a"), {"type": "agent_end", "messages": []})
    live.close()

    assert live.chosen.state == "unsettled"


def test_after_settling_an_agent_start_is_running_again():
    rows = [{"type": "agent_start"}, end("a"), {"type": "agent_settled"}, {"type": "agent_start"}]
    live = folded(*rows)

    assert (live.runs, live.chosen.number, live.chosen.state) == (2, 2, "running")
    assert folded(*rows, run=1).chosen.state == "settled"


def test_an_agent_start_before_settling_goes_on_with_the_same_run():
    live = folded({"type": "agent_start"}, end("", "error"), {"type": "agent_end"}, {"type": "agent_start"})

    assert (live.runs, live.chosen.state) == (1, "running")


@pytest.mark.parametrize(
    "stop, settled, state",
    [
        ("stop", {}, "settled"),
        ("length", {}, "settled"),
        ("aborted", {}, "aborted"),  # before 1.1 only the message says so
        ("stop", {"aborted": True}, "aborted"),
        ("error", {}, "failed"),
    ],
)
def test_how_a_settled_run_ended_is_in_its_state(stop, settled, state):
    live = folded({"type": "agent_start"}, end("a", stop), {"type": "agent_settled", **settled})

    assert live.chosen.state == state


def test_a_second_header_leaves_the_run_before_it_unsettled():
    header = {"type": "session", "version": 3, "id": "s2", "timestamp": "2026-11-30T22:41:22.921Z", "cwd": "/"}
    live = folded({"type": "agent_start"}, end("a"), header, run=1)

    assert live.chosen.state == "unsettled"
    assert folded({"type": "agent_start"}, end("a"), header).chosen is None


@pytest.mark.parametrize(
    "said, outcome",
    [
        ({"stopReason": "error", "rawStopReason": "refusal", "errorMessage": "no"}, "refusal"),
        ({"stopReason": "error", "errorMessage": "The model refused to complete the request"}, "refusal"),
        ({"stopReason": "error", "errorMessage": "400"}, "error"),
        ({"stopReason": "toolUse"}, "tool_use"),
        ({"stopReason": "deferred"}, "deferred"),
        ({"stopReason": "moonlight"}, "unknown"),
        ({"stopReason": None}, "unknown"),
    ],
)
def test_how_an_answer_ended(said, outcome):
    row = {"type": "message_end", "message": {"role": "assistant", "content": [], **said}}

    assert [event.outcome for event in events_of(row) if event.kind == "ended"] == [outcome]


# -- RPC


def test_replies_and_requests_stand_between_the_events_of_a_stream_without_a_header():
    rows = [
        {"id": "r1", "type": "response", "command": "prompt", "success": True, "data": {"disposition": "started"}},
        {"type": "agent_start"},
        {"type": "extension_ui_request", "id": "u1", "method": "confirm", "title": "Sure?", "message": "Go on?"},
        {"type": "response", "command": "parse", "success": False, "error": "Failed to parse"},
        {"type": "response", "success": False, "error": "Invalid"},
        {"type": "extension_error", "extensionPath": "command:boom", "event": "command", "error": "boom"},
    ]

    assert [
        (e.kind, e.id, getattr(e, "command", None), getattr(e, "success", None), getattr(e, "error", None))
        for e in events_of(*rows)
        if e.kind in ("reply", "asked")
    ] == [
        ("reply", "r1", "prompt", True, None),
        ("asked", "u1", None, None, None),
        ("reply", None, "parse", False, "Failed to parse"),
        ("reply", None, None, False, "Invalid"),
    ]


def test_two_records_on_one_line_are_both_read():
    data = lines({"type": "agent_start"}) + lines(end("a")).rstrip() + lines({"type": "agent_settled"})
    read = parse(STREAM, data)

    assert [fault.fault.value for fault in read.faults] == ["glued"]
    assert [event.kind for event in read.events] == ["run", "ended", "message", "run"]


def test_the_messages_are_those_that_the_session_file_would_give():
    messages = [json.loads(line)["message"] for line in EVERY.splitlines() if b'"message_end"' in line]
    header = EVERY.split(b"\n")[0] + b"\n"
    entries = [
        {
            "type": "message",
            "id": f"{n:08x}",
            "parentId": None,
            "timestamp": "2026-11-30T22:41:22.921Z",
            "message": said,
        }
        for n, said in enumerate(messages)
    ]
    kept = [event for event in parse("pi", header + lines(*entries)).events if event.kind != "meta"]
    streamed = [e for e in parse(STREAM, EVERY).events if e.record.type == "message_end" and e.kind != "ended"]

    def plain(event):
        fields = {name: getattr(event, name) for name in event.__struct_fields__ if name != "record"}
        return event.kind, {name: told(value) if name == "body" else value for name, value in fields.items()}

    assert [plain(event) for event in streamed] == [plain(event) for event in kept]
