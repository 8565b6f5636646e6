"""Codex's sessions: every type of every generation, who said what, the two ledgers, and what is damaged."""

import json
import re

import pytest

from reading import FIXTURES, each_byte, fixtures, parse, pieces, place, plain, same
from turnlog.contract import Place, ReadStatus
from turnlog.formats import FORMATS, place_of, sniffed
from turnlog.formats.codex import CODEX
from turnlog.formats.codex.author import author_of
from turnlog.formats.codex.document import document
from turnlog.formats.codex.origin import origin_of, spawner
from turnlog.formats.codex.session import named
from turnlog.formats.codex.types import IGNORED, TYPES
from turnlog.tokens import Semantics

FILES = fixtures("codex")
CLEAN = [path for path in FILES if ".bad" not in path.name]
EVERY = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

# What sheet CODEX names, by section: records 3, response items, parts and roles 6, events and items 7.
NAMED = {
    "": """session_meta turn_context compacted world_state token_usage_record inter_agent_communication_metadata
        inter_agent_communication dynamic_tools_updated security_risk_score realtime_item""",
    "response_item": """message reasoning function_call function_call_output custom_tool_call custom_tool_call_output
        web_search_call tool_search_call tool_search_output image_generation_call additional_tools agent_message
        local_shell_call compaction context_compaction configuration_update compaction_trigger other ghost_snapshot""",
    "event_msg": """task_started task_complete turn_aborted token_count thread_settings_applied item_completed
        user_message agent_message agent_reasoning agent_reasoning_raw_content context_compacted thread_rolled_back
        patch_apply_end mcp_tool_call_end exec_command_begin item_started error session_configured turn_diff""",
    "item": """UserMessage AgentMessage Reasoning CommandExecution FileChange McpToolCall WebSearch ImageView
        CollabAgentToolCall SubAgentActivity ContextCompaction EnteredReviewMode ExitedReviewMode Plan HookPrompt
        DynamicToolCall FunctionCallOutput Sleep ImageGeneration""",
    "content": "input_text output_text input_image input_audio summary_text reasoning_text encrypted_content",
    "role": "user assistant developer",
}


def records(path):
    """The plain records of a fixture; those of a document are its parts."""
    data = path.read_bytes()
    if path.suffix == ".json":
        return [json.loads(data[start:end]) for start, end in document(data)]
    return [json.loads(line) for line in data.split(b"\n") if line.strip()]


def labels(record):
    """The labels of the tables that a record holds."""
    kind = record.get("type")
    if kind is None:
        return {record.get("record_type", "header")}
    if kind in ("response_item", "event_msg"):
        payload = record["payload"]
        found = {f"{kind}:{payload['type']}"}
    else:
        payload = record
        found = {kind if f"response_item:{kind}" not in TYPES else f"response_item:{kind}"}
    if isinstance(payload.get("item"), dict):
        found.add(f"item:{payload['item']['type']}")
    if payload.get("role") and payload["type"] == "message":
        found.add(f"role:{payload['role']}")
    parts = [
        part for key in ("content", "summary", "output") if isinstance(payload.get(key), list) for part in payload[key]
    ]
    return found | {f"content:{part['type']}" for part in parts}


def read(path, **options):
    return parse("codex", path.read_bytes(), place=place(path), **options)


def fixture(start):
    return next(path for path in FILES if path.name.startswith(start))


def line(kind, payload, at="2026-01-01T00:00:00Z", **more):
    return json.dumps({"timestamp": at, "type": kind, "payload": payload, **more}).encode() + b"\n"


def event(kind, **payload):
    return line("event_msg", {"type": kind, **payload})


def count(total=None, last=None, **info):
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
    for name, values in (("total_token_usage", total), ("last_token_usage", last)):
        if values is not None:
            info[name] = dict(zip(names, values, strict=False))
    return event("token_count", info=info)


def only(data, kind, **options):
    return [item for item in parse("codex", data, **options).items if item.kind == kind]


def spent(data, **options):
    return [(i.basis, i.counts.input, i.counts.output) for i in only(data, "usage", **options)]


# -- types


def test_every_type_of_the_tables_stands_in_a_fixture():
    held = set().union(*(labels(record) for path in CLEAN for record in records(path)))

    assert {*TYPES, *IGNORED} - held == set()
    assert held - {*TYPES, *IGNORED} == set()


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
@pytest.mark.parametrize("usage", ["token_count", "response", "all"])
def test_a_fixture_is_read_whole_without_a_fault_and_nothing_is_unknown(path, usage):
    summary = read(path, codex_usage=usage).summary

    assert (summary.status, summary.faults, summary.unknown) == (ReadStatus.COMPLETE, {}, {})
    assert set(summary.ignored) <= {*IGNORED, "token_usage_record", "event_msg:token_count"}


def test_every_label_says_the_kinds_of_its_table_and_no_other():
    told = {}
    for path in CLEAN:
        held = records(path)
        whole = read(path, codex_usage="all")
        by_start = {}
        for item in whole.events:
            by_start.setdefault(item.start, set()).add(item.kind)
        for record, kinds in zip(held, by_start_in_order(path, by_start), strict=True):
            for label in labels(record):
                if label in TYPES and not label.startswith(("content:", "role:", "item:")):
                    told.setdefault(label, set()).update(kinds)

    assert {label: set(TYPES[label]) for label in told} == told


def by_start_in_order(path, by_start):
    """The kinds each record of a fixture says, in order."""
    if path.suffix == ".json":
        return [by_start.get(start, set()) for start, _ in document(path.read_bytes())]
    found, at = [], 0
    for raw in path.read_bytes().split(b"\n"):
        if raw.strip():
            found.append(by_start.get(at, set()))
        at += len(raw) + 1
    return found


@pytest.mark.parametrize("prefix", NAMED)
def test_every_name_of_the_sheet_is_in_a_table(prefix):
    missing = [
        name for name in NAMED[prefix].split() if (f"{prefix}:{name}" if prefix else name) not in {*TYPES, *IGNORED}
    ]

    assert missing == []


@pytest.mark.shared
def test_the_names_are_those_of_the_sheet(shared):
    sheet = (shared / "formats" / "CODEX.md").read_text(encoding="utf-8")

    assert [name for names in NAMED.values() for name in names.split() if name not in sheet] == []


@pytest.mark.parametrize(
    "data, label",
    [
        (event("foo"), "event_msg:foo"),
        (line("response_item", {"type": "foo"}), "response_item:foo"),
        (event("item_completed", item={"type": "Foo"}), "item:Foo"),
        (line("response_item", {"type": "message", "role": "foo", "content": []}), "role:foo"),
        (line("response_item", {"type": "message", "role": "user", "content": [{"type": "foo"}]}), "content:foo"),
        (line("foo", {}), "foo"),
        (b'{"record_type":"foo"}\n', "record_type:foo"),
    ],
)
def test_what_is_unknown_is_counted_under_its_label_and_is_no_fault(data, label):
    summary = parse("codex", data).summary

    assert (summary.unknown, summary.faults) == ({label: 1}, {})


# -- ways of reading


@EVERY
@pytest.mark.parametrize("usage", ["token_count", "response", "all"])
def test_chunk_size_never_changes_the_result(path, usage):
    data = path.read_bytes()
    whole = read(path, codex_usage=usage)

    same(whole, parse("codex", None, each_byte(data), place(path), codex_usage=usage))
    same(whole, parse("codex", None, pieces(data, (3, 50, 1000)), place(path), codex_usage=usage))


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
def test_leaving_kinds_out_renumbers_nothing(path):
    whole = read(path)
    chosen = read(path, include=frozenset({"message", "tool_call"}))

    assert [plain(i) for i in chosen.items] == [plain(i) for i in whole.items if i.kind in ("message", "tool_call")]


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
def test_the_format_is_told_from_the_first_record(path):
    data = path.read_bytes()

    assert sniffed(data if path.suffix == ".json" else data.split(b"\n")[0] + b"\n") is CODEX


def test_a_document_is_its_session_and_its_items():
    path = fixture("rollout-2025-05-16")
    whole = read(path)

    assert [item.kind for item in whole.events] == [
        "meta", "message", "thinking", "tool_call", "tool_result", "tool_call", "message",
    ]  # fmt: skip
    assert [item.line for item in whole.events] == [2, 8, 18, 29, 37, 42, 54]
    assert whole.events[1].text == "Grüße, list the files 🙂"
    assert whole.summary.records == 7


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"session":{}}', '{"session":{},"items":[]', '{"session":{},"items":{}} x', "nul"]
)
def test_what_is_no_document_of_codex_has_no_parts(text):
    assert document(text.encode()) is None


def test_a_cut_document_is_one_fault():
    data = fixture("rollout-2025-05-16").read_bytes()[:-20]
    whole = parse("codex", data, place=place_of("rollout-2025-05-16-x.json"))

    assert [item.fault.value for item in whole.faults] == ["truncated"]
    assert whole.events == []


# -- identity and state


def test_a_file_is_named_for_its_thread_and_segment():
    thread, segment = "0199aaaa-0000-7000-8000-000000000001", "0199aaaa-0000-7000-8000-000000000002"

    assert named(f"rollout-2026-01-01T10-00-00-{thread}") == (thread, None)
    assert named(f"rollout-2026-01-01T10-00-00-{thread}_{segment}") == (thread, segment)
    assert named("notes") == named(None) == (None, None)


def test_later_session_metas_are_copied_ancestors_and_change_nothing():
    data = (
        line("session_meta", {"id": "child", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}})
        + line("session_meta", {"id": "parent", "source": "cli"})
        + line("response_item", {"type": "message", "role": "assistant", "content": "x"})
    )
    first, second, said = parse("codex", data).items

    assert (first.session_id, first.parent_session, first.origin, first.facts) == ("child", "p", "subagent", None)
    assert (second.session_id, second.facts) == ("parent", {"copied": True})
    assert [(i.record.session_id, i.record.sidechain) for i in (first, second, said)] == [("child", True)] * 3


def test_without_line_1_the_files_name_says_whose_it_is():
    thread = "0199aaaa-0000-7000-8000-000000000001"
    data = b"{cut\n" + line("session_meta", {"id": "parent"}) + event("user_message", message="x")
    items = parse("codex", data, place=Place(stem=f"rollout-2026-01-01T10-00-00-{thread}")).events

    assert [item.record.session_id for item in items] == [thread, thread]
    assert items[0].facts == {"copied": True}


def test_the_turn_is_state_unless_the_record_names_it():
    data = (
        event("task_started", turn_id="t1")
        + event("user_message", message="x")
        + line(
            "response_item",
            {
                "type": "message",
                "role": "user",
                "content": "x",
                "internal_chat_message_metadata_passthrough": {"turn_id": "t9"},
            },
        )
        + line("turn_context", {"turn_id": "t2", "model": "m"})
        + count((1, 0, 1), (1, 0, 1))
        + event("task_started", turn_id="child", turn_attribution={"parent_turn_id": "t2"})
        + event("user_message", message="y")
    )
    assert [item.record.turn_id for item in parse("codex", data).items] == ["t1", "t1", "t9", "t2", "t2", "child", "t2"]


def test_no_repository_url_is_told():
    said = "".join(str(plain(item)) for path in FILES for item in read(path).items)

    assert "example.invalid/r.git" not in said
    assert "u:p@" not in said


@pytest.mark.parametrize(
    "source, thread_source, originator, origin",
    [
        ({"subagent": "review"}, None, "Codex Desktop", "subagent"),
        ("exec", None, "Codex Desktop", "exec"),
        ("vscode", None, "codex-tui", "ide"),
        ("cli", "subagent", None, "subagent"),
        (" EXEC ", None, None, "exec"),
        ("interactive", None, None, "interactive"),
        (None, "automation", None, "exec"),
        ("cli", "automation", None, "interactive"),
        (None, "AUTOMATION", None, "unknown"),
        ("future", None, "codex_exec", "exec"),
        (None, "user", "codex_cli_rs", "interactive"),
        (None, None, "codex_work_desktop", "ide"),
        ({"custom": 1}, None, "codex-tui", "interactive"),
        ({"exec": None, "cli": 1}, None, None, "exec"),
        (["subagent"], None, None, "unknown"),
        (None, None, None, "unknown"),
    ],
)
def test_the_origin_is_classified_in_the_order_of_the_contract(source, thread_source, originator, origin):
    assert origin_of(source, thread_source, originator) == origin


def test_the_spawner_is_read_out_of_the_source():
    assert spawner({"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}) == "p"
    assert spawner({"subagent": "review"}) is spawner("cli") is spawner({"subagent": {"thread_spawn": None}}) is None


# -- who said what


@pytest.mark.parametrize(
    "role, kinds, texts, author",
    [
        ("assistant", None, ["x"], "agent"),
        ("developer", ("permissions.instructions",), ["x"], "system"),
        ("system", None, ["x"], "system"),
        ("user", ("user.text",), ["<environment_context>"], "human"),
        ("user", ("unknown", "user.image"), ["x"], "human"),
        ("user", ("agents_md.instructions",), ["x"], "injected"),
        ("user", ("unknown",), ["x"], "injected"),
        ("user", ("compaction.summary",), ["x"], "summary"),
        ("user", ("generic.turn_aborted",), ["x"], "interruption"),
        ("user", ("shell.user_command",), ["x"], "command"),
        ("user", ("multi_agent.subagent_notification",), ["x"], "notice"),
        ("user", None, ["# AGENTS.md instructions for /x"], "injected"),
        ("user", None, ["<user_instructions>"], "injected"),
        ("user", None, [b'"<environment_context>\\n"'], "injected"),
        ("user", None, [b'"\\u003cturn_aborted>"'], "interruption"),
        ("user", None, ["<user_shell_command>"], "command"),
        ("user", None, ["<subagent_notification>"], "notice"),
        ("user", None, ["<user_action>"], "injected"),
        ("user", None, ["Warning: apply_patch was requested via exec"], "injected"),
        ("user", None, ["# AGENTS.md instructions for /x", "<environment_context>"], "injected"),
        ("user", None, ["# AGENTS.md instructions for /x", "and please"], "human"),
        ("user", None, ["# A heading of mine"], "human"),
        ("user", None, ["<div>"], "human"),
        ("user", None, [], "human"),
    ],
)
def test_who_a_message_is_from(role, kinds, texts, author):
    assert author_of(role, kinds, texts, summary=False, sidechain=False) == author
    task = "task" if author == "human" else author
    assert author_of(role, kinds, texts, summary=False, sidechain=True) == task


def test_a_compaction_summary_is_no_answer():
    whole = read(fixture("rollout-2026-11-30T10-00-00"))
    found = [i for i in whole.events if i.kind == "message" and i.role == "assistant"]

    assert [(i.author, i.text) for i in found] == [("agent", "Done."), ("summary", "Summary so far")]
    assert [i.summary for i in whole.events if i.kind == "compaction"] == ["Summary so far"]


def test_calls_results_and_pictures_have_their_slots():
    whole = read(fixture("rollout-2026-04-12"))
    tools = [i for i in whole.events if i.kind in ("tool_call", "tool_result", "image")]

    assert [(i.kind, i.index) for i in tools] == [("tool_call", 3), ("tool_result", 3), ("image", 5)]
    assert (tools[0].namespace, tools[0].arguments, tools[0].style) == ("mcp__demo", "{}", "function")
    assert (tools[1].text, tools[1].is_error) == ("ok", None)
    assert (tools[2].media_type, tools[2].base64_size, tools[2].call_id) == ("image/png", 12, "m1")


def test_arguments_are_never_repaired():
    data = line("response_item", {"type": "function_call", "name": "f", "arguments": '{"a":', "call_id": "c"})
    data += line("response_item", {"type": "function_call", "name": "f", "arguments": {"a": 1}})
    data += line("response_item", {"type": "function_call", "name": "f"})
    data += line("response_item", {"type": "custom_tool_call", "name": "apply_patch", "input": "*** x"})
    calls = only(data, "tool_call")

    assert [(c.arguments, c.missing, c.style) for c in calls] == [
        ('{"a":', False, "function"),
        ({"a": 1}, False, "function"),
        (None, True, "function"),
        ("*** x", False, "custom"),
    ]


def test_reasoning_that_only_the_provider_can_read_is_redacted():
    data = line("response_item", {"type": "reasoning", "summary": [], "content": None, "encrypted_content": "gAAAA"})
    data += line("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "s"}]})
    data += line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": None})

    assert [(t.text, t.redacted) for t in only(data, "thinking")] == [("", True), ("s", False), ("", False)]


def test_turns_say_how_they_ended_and_never_an_errors_text():
    whole = read(fixture("rollout-2026-11-30T10-00-00"))
    turns = [(i.state, i.error, i.duration_ms) for i in whole.events if i.kind == "turn" and i.state != "started"]

    assert turns == [("completed", None, 29000), ("failed", "http_connection_failed", 3), ("aborted", None, 1000)]


# -- ledgers


def test_counts_are_inclusive_and_keep_the_total():
    (sample,) = only(count((100, 40, 20, 5, 120), (90, 40, 20, 5, 110)), "usage")

    assert sample.semantics is Semantics.CACHE_INCLUSIVE
    assert (sample.counts.input, sample.counts.cache_read, sample.counts.output, sample.counts.reasoning) == (
        90,
        40,
        20,
        5,
    )
    assert (sample.counts.cache_write, sample.counts.reported_total) == (None, 110)
    assert (sample.cumulative.input, sample.ledger, sample.index) == (100, "token_count", 2)


ONE, TWO, FALLEN = (100, 0, 10), (150, 0, 15), (40, 0, 4)


@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize(
    "data, samples, faults",
    [
        (count(ONE, ONE), [("last_sample", 100, 10)], []),
        (count(ONE, ONE) * 2, [("last_sample", 100, 10)], []),
        (count(ONE, ONE) + count(ONE, (7, 0, 7)), [("last_sample", 100, 10)], []),
        (count(ONE) + count(TWO), [("initial_cumulative", 100, 10), ("cumulative_delta", 50, 5)], []),
        (count(ONE) * 2 + count(TWO), [("initial_cumulative", 100, 10), ("cumulative_delta", 50, 5)], []),
        (count(ONE) + count(FALLEN), [("initial_cumulative", 100, 10)], ["counter_regression"]),
        (
            count(ONE) + count(FALLEN) + count(ONE),
            [("initial_cumulative", 100, 10), ("cumulative_delta", 60, 6)],
            ["counter_regression"],
        ),
        (count(ONE, ONE) + count(FALLEN, FALLEN), [("last_sample", 100, 10), ("last_sample", 40, 4)], []),
        (count(ONE) + b"{bad\n" + count(TWO), [("initial_cumulative", 100, 10)], ["invalid_json", "lost_baseline"]),
        (count(ONE) + b"{bad\n" + count(ONE), [("initial_cumulative", 100, 10)], ["invalid_json", "lost_baseline"]),
        (
            count(ONE) + b"{bad\n" + count(TWO, (9, 0, 1)) + count((160, 0, 16)),
            [("initial_cumulative", 100, 10), ("last_sample", 9, 1), ("cumulative_delta", 10, 1)],
            ["invalid_json"],
        ),
        (event("token_count", info=None) + event("token_count"), [], []),
        (event("token_count", info=None, rate_limits={}) + count(ONE, ONE), [("last_sample", 100, 10)], []),
    ],
)
def test_the_rules_of_the_token_count_ledger(data, samples, faults, repair):
    whole = parse("codex", data, repair=repair)

    assert [(i.basis, i.counts.input, i.counts.output) for i in whole.events] == samples
    assert [item.fault.value for item in whole.faults] == faults


def test_a_recovered_line_does_not_void_the_baseline():
    glued = event("user_message", message="a").rstrip(b"\n") + event("user_message", message="b")
    data = count(ONE) + glued + count(TWO)

    assert spent(data) == [("initial_cumulative", 100, 10), ("cumulative_delta", 50, 5)]
    assert spent(data, repair=False) == [("initial_cumulative", 100, 10)]


def test_a_last_sample_without_its_total_is_told_with_a_fault():
    data = count(None, ONE)

    assert spent(data) == [("last_sample", 100, 10)]
    assert spent(data, repair=False) == []
    assert parse("codex", data).summary.faults == {"missing_field": 1}


RECORD = line(
    "token_usage_record",
    {"thread_id": "t", "turn_id": "u", "response_id": "r", "usage": {"input_tokens": 5, "output_tokens": 1}},
)


def test_one_ledger_a_reading_and_the_other_is_counted_as_ignored():
    data = count(ONE, ONE) + RECORD

    assert spent(data) == [("last_sample", 100, 10)]
    assert parse("codex", data).summary.ignored == {"token_usage_record": 1}
    assert spent(data, codex_usage="response") == [("response", 5, 1)]
    assert parse("codex", data, codex_usage="response").summary.ignored == {"event_msg:token_count": 1}
    both = only(data, "usage", codex_usage="all")
    assert [i.ledger for i in both] == ["token_count", "response"]
    assert (both[1].thread_id, both[1].record.turn_id, both[1].response_id) == ("t", "u", "r")
    assert parse("codex", data, codex_usage="all").summary.ignored == {}


def test_with_both_ledgers_every_count_speaks():
    estimate = (0, 0, 0, 0, 6872)
    data = (
        count(ONE, ONE) + count(ONE, ONE) + count(ONE, estimate) + count(ONE) + count(FALLEN) + b"{bad\n" + count(TWO)
    )
    found = only(data, "usage", codex_usage="all")

    assert [(i.basis, i.counts.input, i.cumulative.input, i.adjustments) for i in found] == [
        ("last_sample", 100, 100, ()),
        ("unchanged", None, 100, ()),
        ("unchanged", None, 100, ("estimate",)),
        ("unchanged", None, 100, ()),
        ("counter_regression", None, 40, ()),
        ("lost_baseline", None, 150, ()),
    ]


def test_the_model_is_state_and_a_count_may_name_its_own():
    data = (
        line("turn_context", {"model": "a"}) + count(ONE, ONE) + count(TWO, ONE, model="b") + count((200, 0, 20), ONE)
    )

    assert [i.model for i in only(data, "usage")] == ["a", "b", "b"]


def test_the_service_tier_is_told_with_the_samples_after_it():
    data = event("thread_settings_applied", thread_settings={"service_tier": "priority", "model": "m"}) + count(
        ONE, ONE
    )
    meta, sample = parse("codex", data).items

    assert meta.facts == {"service_tier": "priority", "model": "m"}
    assert (meta.model, sample.service_tier) == (None, "priority")


# -- damage


def test_the_damaged_fixture_says_all_it_can():
    whole = read(FIXTURES / "codex" / "damaged.bad.jsonl")
    strict = read(FIXTURES / "codex" / "damaged.bad.jsonl", repair=False)

    assert whole.summary.unknown == {
        "content:brand_new": 1,
        "role:robot": 1,
        "response_item:brand_new": 1,
        "event_msg:brand_new": 1,
        "item:BrandNew": 1,
        "brand_new": 1,
        "record_type:brand_new": 1,
    }
    assert [i.text for i in whole.events if i.kind == "message" and i.line > 24] == [
        "glued", "glued", "glued", "glued", "glued", "\ufffd", "\ud83d alone",
    ]  # fmt: skip
    assert whole.summary.repairs == {"byte_order_mark": 1}
    assert sum(whole.summary.faults.values()) == 21
    assert len(strict.events) < len(whole.events)


@pytest.mark.parametrize(
    "data, fault, path",
    [
        (b'{"no":"type"}', "missing_field", "$.type"),
        (b'{"type":5}', "invalid_field", "$.type"),
        (b'{"type":"turn_context"}', "missing_field", "$.payload"),
        (b'{"type":"event_msg","payload":null}', "missing_field", "$.payload"),
        (b'{"type":"response_item","payload":{"content":[]}}', "missing_field", "$.payload.type"),
        (b'{"type":"message","content":[]}', "missing_field", "$.role"),
        (b'{"type":"response_item","payload":{"type":"message"}}', "missing_field", "$.payload.role"),
    ],
)
def test_a_record_of_which_nothing_can_be_said_is_one_fault_and_no_event(data, fault, path):
    whole = parse("codex", data + b"\n")

    assert [(item.fault.value, item.path) for item in whole.items] == [(fault, path)]


def test_an_item_nested_in_a_torn_compaction_is_no_record():
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}
    torn = line("compacted", {"message": "m", "replacement_history": [item]})[:-3]
    whole = parse("codex", torn + b"\n" + event("user_message", message="next"))

    assert [item.kind for item in whole.items] == ["fault", "prompt"]


def test_the_rule_of_roots_finds_every_form_of_a_session():
    scans = CODEX.root.scans

    assert FORMATS["codex"] is CODEX
    for folder in ("sessions", "archived_sessions"):
        assert {pattern for of, pattern in scans if of == folder} == {
            "**/*.jsonl",
            "**/*.jsonl.zst",
            "**/rollout-*.json",
        }
    assert all(re.fullmatch(r"[a-z_]+", folder) for folder, _ in scans)
