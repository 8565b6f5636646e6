"""Claude Code's session files, 1.0.38 to 2.1.332: every type of the sheet is shown by a fixture, and what it becomes.

The fixtures are synthetic, one for a version or a feature (sheet CLAUDE_CODE 2-9).
"""

import json
import re

import pytest

from reading import FIXTURES, fixtures, parse, place
from turnlog.contract import Place, ReadStatus
from turnlog.formats.claude.records import LARGER
from turnlog.formats.claude.types import IGNORED, TYPES
from turnlog.model import KINDS

FORMAT = "claude"
CLEAN = [path for path in fixtures(FORMAT) if ".bad" not in path.name]


def read(name, **options):
    path = FIXTURES / FORMAT / f"{name}.jsonl"
    return parse(FORMAT, path.read_bytes(), place=options.pop("place", place(path)), **options)


def line(**value):
    return json.dumps(value).encode() + b"\n"


def events(result, kind):
    return [event for event in result.events if event.kind == kind]


def labels(value):
    """Every label of the tables that one native record shows."""
    kind = value["type"]
    yield kind
    if kind == "system" and "subtype" in value:
        yield f"system:{value['subtype']}"
    if kind == "attachment":
        yield f"attachment:{value['attachment']['type']}"
    if kind == "progress":
        yield f"progress:{value['data']['type']}"
    work = [value]
    while work:
        part = work.pop()
        if isinstance(part, dict):
            work.extend(v for k, v in part.items() if k in {"message", "content", "data", "attachment", "prompt"})
        elif isinstance(part, list):
            for block in part:
                if isinstance(block, dict) and "type" in block:
                    yield f"content:{block['type']}"
                    work.append(block)


SHOWN = {
    label: path.stem
    for path in CLEAN
    for raw in path.read_bytes().split(b"\n")
    if raw.strip()
    for label in labels(json.loads(raw))
}


@pytest.mark.parametrize("label", sorted({*TYPES, *IGNORED}))
def test_every_type_of_the_sheet_is_shown_by_a_fixture(label):
    assert label in SHOWN


def test_no_type_is_both_projected_and_left_out():
    assert set(TYPES) & set(IGNORED) == set()


def test_every_type_is_projected_to_kinds_of_event_that_there_are():
    assert {kind for kinds in TYPES.values() for kind in kinds} <= KINDS


@pytest.mark.parametrize("label", sorted(IGNORED))
def test_what_is_left_out_has_its_reason_and_where_it_was_seen(label):
    assert len(IGNORED[label].reason) > 10
    assert re.search(r"sheet \d+|crate \d+", IGNORED[label].seen)


@pytest.mark.parametrize("label", sorted(IGNORED))
def test_what_is_left_out_is_counted(label):
    assert read(SHOWN[label]).summary.ignored.get(label, 0) >= 1 or label == "content:tool_reference"


@pytest.mark.parametrize("label", sorted(TYPES))
def test_what_is_projected_says_one_of_its_kinds(label):
    kinds = {event.kind for event in read(SHOWN[label]).events}

    assert kinds & set(TYPES[label])


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
def test_clean_fixtures_have_no_fault_and_nothing_unknown(path):
    result = read(path.stem)

    assert result.summary.status is ReadStatus.COMPLETE
    assert (result.summary.faults, result.summary.repairs, result.summary.unknown) == ({}, {}, {})


def test_every_type_with_more_than_a_prompt_has_is_read_whole():
    """The first look shows only what prompts and answers have; what is projected from more fields is in LARGER."""
    records = {label for label in TYPES if ":" not in label}

    assert records - {"user", "assistant"} == LARGER


# -- what no table knows


def test_unknown_types_of_every_sort_are_counted_and_are_no_faults():
    data = b"".join(
        [
            line(type="new-record", sessionId="s"),
            line(type="system", subtype="new", sessionId="s"),
            line(type="attachment", attachment={"type": "new"}, sessionId="s"),
            line(type="progress", data={"type": "new"}, sessionId="s"),
            line(type="user", message={"role": "user", "content": [{"type": "new"}]}, sessionId="s"),
        ]
    )
    result = parse(FORMAT, data)

    assert result.faults == []
    assert result.summary.unknown == {
        "new-record": 1,
        "system:new": 1,
        "attachment:new": 1,
        "progress:new": 1,
        "content:new": 1,
    }
    assert result.summary.bytes.unknown == len(data.split(b"\n")[0]) + 1


def test_a_hostile_file_cannot_grow_the_counters():
    data = b"".join(line(type=f"t{n}" + "x" * 500) for n in range(500))
    unknown = parse(FORMAT, data).summary.unknown

    assert len(unknown) == 129
    assert unknown["<other>"] == 500 - 128
    assert max(map(len, unknown)) == 96


# -- messages and who they are from


def authors(name, **options):
    return [(m.role, m.author) for m in events(read(name, **options), "message")]


def test_who_a_user_line_is_from():
    said = {m.text.split(">")[0][:24]: m.author for m in events(read("2.1.332-compaction-and-notes"), "message")}

    assert said["Long talk"] == "human"
    assert said["This session is being co"] == "summary"
    assert said["<local-command-stdout"] == "output"
    assert said["<command-name"] == "command"
    assert said["<bash-input"] == "command"
    assert said["<bash-stdout"] == "output"
    assert said["[Request interrupted by "] == "interruption"
    assert said["<task-notification"] == "notice"
    assert said["Go on."] == "injected"
    assert said["API Error: 529"] == said["No response requested."] == "error"
    assert said["Partly"] == "agent"


def test_a_subagent_file_is_off_the_main_line_and_its_first_line_a_task():
    result = read("agent-0a1b2c3d")

    assert [m.author for m in events(result, "message")] == ["warmup", "agent", "task", "agent", "tool"]
    assert all(e.record.sidechain for e in result.events)
    assert {e.record.agent_id for e in result.events} == {"0a1b2c3d"}
    assert events(result, "meta")[0].origin == "subagent"


def test_the_path_alone_marks_a_subagent():
    data = line(type="user", message={"role": "user", "content": "x"})

    assert parse(FORMAT, data, place=Place(subagent=True)).events[0].record.sidechain
    assert not parse(FORMAT, data).events[0].record.sidechain


def test_inline_sidechains_of_1_0_are_told_line_by_line():
    result = read("1.0.38-sidechain-inline")

    assert [m.record.sidechain for m in events(result, "message")] == [False, False, True, True, False, False]
    assert events(result, "tool_result")[0].text == "Found it.\nTwice."


def test_a_queued_prompt_is_a_message_of_the_person_and_its_queue_entry_is_not():
    queued = [m for m in events(read("2.1.332-split-lines"), "message") if m.record.type == "attachment"]

    assert [(m.text, m.author) for m in queued] == [
        ("And a second thing", "human"),
        ("<task-notification>done</task-notification>", "notice"),
    ]
    result = read("2.1.53-progress")
    assert [(p.text, p.queued) for p in events(result, "prompt")] == [("Run it", True)]


def test_text_is_as_it_was_written():
    texts = [m.text for m in events(read("2.1.332-split-lines"), "message")]

    assert "Done — ünï 😀\u2028and\u0085more\x0c\0." in texts


def test_lone_surrogates_are_kept():
    result = read("2.1.96-lone-surrogates")

    assert [m.text for m in events(result, "message")] == ["a", "cut \ud83d here and \udc00", "😀 \ud83d"]
    assert events(result, "tool_call")[0].arguments == {"a": "\udfff"}
    assert events(result, "usage")[0].counts.input == 2**64 - 1
    assert events(result, "usage")[0].counts.output == 0


def test_several_text_blocks_are_joined_and_their_ranges_kept():
    blocks = [{"type": "text", "text": t} for t in ("é", "", "b")]
    message = events(parse(FORMAT, line(type="user", message={"role": "user", "content": blocks})), "message")[0]

    assert message.text == "é\n\nb"
    assert message.segments == ((0, 2), (3, 3), (4, 5))


# -- tools, thinking, pictures


def test_parallel_calls_are_paired_by_id():
    result = read("2.1.332-split-lines")

    assert [c.id for c in events(result, "tool_call")] == ["toolu_1", "toolu_2"]
    assert [r.call_id for r in events(result, "tool_result")] == ["toolu_1", "toolu_2"]
    assert [r.is_error for r in events(result, "tool_result")] == [None, False]


def test_thinking_is_told_and_redacted_thinking_is_there():
    assert [(t.text, t.redacted) for t in events(read("2.1.332-split-lines"), "thinking")] == [
        ("Let me think.", False),
        ("", True),
    ]


def test_pictures_are_told_by_type_and_size_wherever_they_are():
    result = read("2.1.332-server-tools-and-pictures")

    assert [(i.media_type, i.base64_size, i.location) for i in events(result, "image")] == [
        ("image/jpeg", 8, None),
        (None, None, "https://example.org/p.png"),
        ("application/pdf", 8, None),
    ]
    nested = events(read("2.1.332-split-lines"), "image")
    assert [(i.call_id, i.base64_size) for i in nested] == [("toolu_2", 8)]


def test_tools_of_the_server_are_calls_of_that_style():
    result = read("2.1.332-server-tools-and-pictures")

    assert [(c.id, c.name, c.style) for c in events(result, "tool_call")] == [
        ("srvtoolu_1", "web_search", "server"),
        ("mcp_1", "look", "server"),
    ]
    assert [r.call_id for r in events(result, "tool_result")] == ["srvtoolu_1", "srvtoolu_1", "mcp_1", "toolu_5"]
    usage = events(result, "usage")
    assert usage[0].server_tools == {"web_search_requests": 1, "web_fetch_requests": 2}
    assert [u.endpoint for u in usage[:3]] == ["proxy", "unknown", None]


def test_progress_tells_the_nested_tools_and_neither_message_nor_usage():
    result = read("2.1.53-progress")
    nested = [e for e in result.events if e.record.type == "progress"]

    assert [e.kind for e in nested] == ["custom", "tool_call", "custom", "tool_result", "custom", "custom"]
    assert [e.name for e in nested if e.kind == "custom"] == [
        "progress:agent_progress",
        "progress:agent_progress",
        "progress:bash_progress",
        "progress:hook_progress",
    ]
    assert {u.message_id for u in events(result, "usage")} == {"msg_1", "msg_2"}


# -- usage


def test_each_line_of_a_split_answer_carries_the_usage_and_the_id_that_merges_it():
    usage = [u for u in events(read("2.1.332-split-lines"), "usage") if u.message_id == "msg_1"]

    assert len(usage) == 5
    assert {(u.counts.output, u.request_id, u.stop_reason) for u in usage} == {(301, "req_1", "tool_use")}
    one = usage[0]
    assert (one.counts.cache_write, one.counts.cache_write_5m, one.counts.cache_write_1h) == (4, 1, 3)
    assert (one.counts.reasoning, one.inference_geo, one.endpoint) == (11, "not_available", "native")


def test_an_advisors_call_is_a_sample_of_its_own_and_other_iterations_are_not():
    usage = events(read("2.1.332-compaction-and-notes"), "usage")[:2]

    assert [(u.basis, u.model, u.counts.input, u.counts.output) for u in usage] == [
        ("message", "claude-demo-1", 10, 20),
        ("advisor", "claude-advisor-1", 7, 8),
    ]
    assert usage[1].counts.cache_write == 2
    assert usage[0].message_id == usage[1].message_id


def test_cache_writes_are_the_greater_of_the_sum_and_its_parts():
    usage = {u.message_id: u for u in events(read("2.1.332-compaction-and-notes"), "usage")}

    assert usage["msg_5"].counts.cache_write == 11
    assert usage["msg_5"].counts.cache_read is None
    assert usage["msg_4"].adjustments == ("aborted_stream",)
    assert usage["msg_6"].adjustments == ("unreported",)
    assert usage["msg_6"].counts.is_missing()


@pytest.mark.parametrize("name", ["input_tokens", "cache_read_input_tokens", "reasoning_output_tokens", "total_tokens"])
@pytest.mark.parametrize("first", [True, False], ids=["first record", "later record"])
def test_a_count_over_64_bits_is_unknown_in_any_field_and_at_any_place(name, first):
    bad = line(
        type="assistant", message={"role": "assistant", "content": "", "usage": {name: 2**64, "output_tokens": 1}}
    )
    result = parse(FORMAT, bad if first else line(type="user", message={"content": "x"}) + bad)

    assert [(f.fault.value, f.path) for f in result.faults] == [("invalid_field", f"$.message.usage.{name}")]
    assert events(result, "usage")[0].counts.output == 1


# -- state records


def test_titles_of_every_source():
    named = events(read("2.1.332-split-lines"), "session_name") + events(read("1.0.96-resume-copy"), "session_name")

    assert [(n.source, n.text, n.leaf_id) for n in named] == [
        ("ai", "Demo by machine", None),
        ("custom", "Demo by hand", None),
        ("agent", "Demo agent", None),
        ("summary", "Demo work", "bbbbbbbb-0000-4000-8000-000000000009"),
    ]


def test_a_compaction_knows_its_sizes_and_what_it_follows():
    result = read("2.1.332-compaction-and-notes")
    about = events(result, "compaction")[0]

    assert (about.trigger, about.tokens_before, about.tokens_after) == ("manual", 1000, 90)
    assert about.record.parent_id is None
    assert about.facts == {"logicalParentUuid": events(result, "message")[1].record.id}


def test_the_agents_own_bill_is_told_and_is_no_usage():
    total = events(read("2.1.332-split-lines"), "totals")[0]

    assert total.cost == 0.25
    assert total.by_model == {"claude-demo-1": {"inputTokens": 20, "outputTokens": 321, "costUSD": 0.25}}


def test_a_turns_duration():
    assert [(t.state, t.duration_ms) for t in events(read("2.1.332-split-lines"), "turn")] == [("completed", 1059)]


def test_lineage_of_branches_and_forks():
    branch = read("2.1.332-branch")
    assert events(branch, "meta")[0].forked_from == "11111111-0000-4000-8000-000000000001"
    assert events(branch, "usage")[0].origin_session == "11111111-0000-4000-8000-000000000001"
    fork = events(read("2.1.332-fork-agent"), "meta")[0]
    assert (fork.origin, fork.parent_session) == ("subagent", "11111111-0000-4000-8000-000000000001")


def test_a_resumed_copy_lacks_its_request_id():
    assert [u.request_id for u in events(read("1.0.96-resume-copy"), "usage")] == [None, "req_2"]


def test_facts_are_told_when_they_change_and_only_then():
    meta = events(read("1.0.96-resume-copy"), "meta")

    assert [(m.session_id is not None, m.model, m.agent_version) for m in meta] == [
        (True, None, "1.0.96"),
        (True, "claude-demo-1", "1.0.96"),
    ]


def test_a_record_that_is_lost_changes_no_state():
    data = (
        line(type="user", sessionId="one", message={"content": "a"})
        + line(type="user", sessionId="two", cwd="/x", message="lost")
        + line(type="summary", summary="t")
        + line(type="user", sessionId="one", message={"content": "b"})
    )
    result = parse(FORMAT, data)

    assert [e.session_id for e in events(result, "meta")] == ["one"]
    assert events(result, "session_name")[0].record.session_id == "one"


# -- times


@pytest.mark.parametrize(
    "text,at",
    [
        ('"2026-01-01T00:00:00.123Z"', "2026-01-01T00:00:00.123000+00:00"),
        ('"2026-01-01t00:00:00z"', "2026-01-01T00:00:00+00:00"),
        ('"2026-01-01 00:00:00"', "2026-01-01T00:00:00+00:00"),
        ('"2026-01-01T00:00:00.1234567891+01:00"', "2025-12-31T23:00:00.123456+00:00"),
        ('"2026-01-01T00:00:00-0530"', "2026-01-01T05:30:00+00:00"),
        ('"2026-01-01T23:59:60Z"', "2026-01-02T00:00:00+00:00"),
        ('"1700000000"', "2023-11-14T22:13:20+00:00"),
        ("1700000000", "2023-11-14T22:13:20+00:00"),
        ("1700000000123", "2023-11-14T22:13:20.123000+00:00"),
        ("1700000000123456", "2023-11-14T22:13:20.123456+00:00"),
        ("-5", "1969-12-31T23:59:55+00:00"),
        ("99999999999", "5138-11-16T09:46:39+00:00"),
        ("100000000000", "1973-03-03T09:46:40+00:00"),
        ("null", None),
    ],
)
def test_a_time_is_utc(text, at):
    data = b'{"type":"user","timestamp":%s,"message":{"content":"x"}}\n' % text.encode()
    result = parse(FORMAT, data)

    assert result.faults == []
    assert [e.at and e.at.isoformat() for e in events(result, "message")] == [at]


@pytest.mark.parametrize(
    "text",
    [
        '""',
        '"yesterday"',
        '"2026-01-01"',
        '"2026-01-01T00:00Z"',
        '"2026-13-01T00:00:00Z"',
        '"2026-W01-1T00:00:00"',
        '"2026-01-01T00:00:00+99:00"',
        '"2026-01-01T00:00:00.Z"',
        '"20260101T000000Z00000"',
        '"2026-01-01T00:00:00 Z"',
        '"10000-01-01T00:00:00Z"',
        '"٢٠٢٦-01-01T00:00:00Z"',
        '"1700000000.5"',
        "1700000000.5",
        "true",
        "[]",
        "9" * 30,
    ],
)
def test_what_is_no_time_is_said_and_unknown(text):
    data = b'{"type":"user","timestamp":%s,"message":{"content":"x"}}\n' % text.encode()
    result = parse(FORMAT, data)

    assert [(f.fault.value, f.path) for f in result.faults] == [("invalid_field", "$.timestamp")]
    assert [e.at for e in events(result, "message")] == [None]
