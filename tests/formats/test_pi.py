"""Pi's sessions: every type of versions 1 to 3, reading as Pi migrates, the two clocks, and what counts once."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reading import FIXTURES, SHARED, each_byte, parse, pieces, same
from turnlog.contract import Place, ReadStatus
from turnlog.errors import FaultKind
from turnlog.formats import place_of, sniffed
from turnlog.formats.pi import PI
from turnlog.formats.pi.copies import reconcile
from turnlog.formats.pi.flat import is_flat
from turnlog.formats.pi.fold import fold
from turnlog.formats.pi.types import AGAIN, BLOCKS, ENTRY_TYPES, IGNORED, ROLES, TYPES
from turnlog.ledger.identity import merge
from turnlog.model import (
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Image,
    Label,
    Message,
    Meta,
    ModelChange,
    SessionName,
    ThinkingLevelChange,
    ToolResult,
    Usage,
)

FILES = sorted((FIXTURES / "pi").glob("*.jsonl"))
CLEAN = [path for path in FILES if ".bad" not in path.name]
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-04T09:00:00.000Z", "cwd": "/srv/demo"}
AT = "2026-03-04T09:00:01.000Z"


def data(name):
    return (FIXTURES / "pi" / f"{name}.jsonl").read_bytes()


def whole(name):
    return parse("pi", data(name), place=place_of(f"{name}.jsonl"))


def worked(*names):
    return [fold(place_of(f"{name}.jsonl"), whole(name).items) for name in names]


def lines(*rows):
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def message(role, entry="e1", parent=None, at=AT, **said):
    return {"type": "message", "id": entry, "parentId": parent, "timestamp": at, "message": {"role": role, **said}}


def events(*rows, header=HEADER):
    return parse("pi", lines(header, *rows)).items


def of(kind, items):
    return [item for item in items if isinstance(item, kind)]


def nodes(items):
    """(id, parent) of each entry, in file order."""
    seen = {}
    for item in items:
        if item.kind != "fault" and item.record.type != "session":
            seen[item.record.start] = (item.record.id, item.record.parent_id)
    return list(seen.values())


def totals(works):
    ledger = merge(works, lambda _, files: reconcile(files))
    counts = [counted.sample.counts for counted in ledger.samples]
    return {
        "input": sum(c.input or 0 for c in counts),
        "output": sum(c.output or 0 for c in counts),
        "cache_read": sum(c.cache_read or 0 for c in counts),
        "cache_write": sum(c.cache_write or 0 for c in counts),
    }, {what: len(marks) for what, marks in ledger.marks.items()}


# Types


def shown():
    """From label to the kinds of event the fixtures show for it."""
    found = {}
    for path in CLEAN:
        result = parse("pi", path.read_bytes())
        by_line = {}
        for event in result.events:
            by_line.setdefault(event.line, set()).add(event.kind)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line:
                continue
            record = json.loads(line)
            said = record.get("message", record)
            labels = [record["type"], f"role:{said['role']}" if "role" in said else None]
            content = said.get("content")
            labels += [f"content:{block['type']}" for block in content] if isinstance(content, list) else []
            for label in filter(None, labels):
                found.setdefault(label, set()).update(by_line.get(number, ()))
        found |= dict.fromkeys(result.summary.ignored, frozenset())
    return found


def test_every_type_of_the_sheet_is_in_the_tables():
    entries = "session message compaction branch_summary usage custom custom_message label model_change".split()
    entries += ["thinking_level_change", "session_info", "context_edit"]
    roles = "system user assistant toolResult bashExecution custom hookMessage branchSummary compactionSummary".split()

    assert set(entries) <= set(ENTRY_TYPES)
    assert set(roles) == set(ROLES)
    assert set(BLOCKS) == {"text", "thinking", "image", "toolCall"}


@pytest.mark.parametrize("label", [*TYPES, *IGNORED])
def test_every_type_has_a_fixture_and_becomes_what_the_table_says(label):
    kinds = shown()[label]

    if label in IGNORED:
        assert kinds == set()
    else:
        assert kinds
        if label in ENTRY_TYPES:
            assert kinds <= set(TYPES[label])
        assert kinds & set(TYPES[label])


@pytest.mark.parametrize("path", CLEAN, ids=lambda path: path.stem)
def test_a_clean_fixture_is_read_whole(path):
    summary = parse("pi", path.read_bytes()).summary

    assert (summary.status, summary.faults, summary.unknown, summary.repairs) == (ReadStatus.COMPLETE, {}, {}, {})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_cut_of_the_bytes_changes_nothing(path):
    text = path.read_bytes()
    expected = parse("pi", text)

    same(expected, parse("pi", None, each_byte(text)))
    same(expected, parse("pi", None, pieces(text, (7, 64, 1))))
    after = parse("pi", text + b'{"type":"session"}\n', stop_at=len(text))
    same(expected, after)


def test_the_format_is_told_from_its_header_and_from_its_entries():
    assert sniffed(data("v1")) is PI
    assert sniffed(b"\n".join(data("v3").split(b"\n")[4:])) is PI


@pytest.mark.parametrize(
    "line, known",
    [
        (lines(HEADER), True),
        (b"\xef\xbb\xbf" + lines(HEADER), True),
        (lines({"type": "session", "timestamp": AT}), False),
        (lines({"type": "session", "id": 5}), False),
        (lines(message("user", content="x")), False),
        (lines({"version": 1, "recordType": "message", "runId": "r"}), False),
        (b"{", False),
    ],
)
def test_a_file_is_a_session_when_its_first_record_is_a_header_with_an_id(line, known):
    assert PI.recognise(line.rstrip(b"\n")) is known


def test_unknown_types_are_counted_and_an_entry_stays_a_node():
    result = parse(
        "pi",
        lines(
            HEADER,
            {"type": "future", "id": "e1", "parentId": None, "timestamp": AT},
            message("narrator", "e2", "e1"),
            message("user", "e3", "e2", content=[{"type": "hologram"}]),
            {"type": "future", "payload": 1},
        ),
    )

    assert result.summary.unknown == {"future": 2, "role:narrator": 1, "content:hologram": 1}
    assert nodes(result.items) == [("e1", None), ("e2", "e1"), ("e3", "e2")]
    assert [e.name for e in of(Custom, result.items)] == ["future", "role:narrator"]
    assert result.summary.status is ReadStatus.COMPLETE


# Version 3


def test_an_answer_has_its_slots():
    items = [e for e in whole("v3").items if e.line == 6]

    assert [(e.index, e.kind) for e in items] == [
        (1, "message"), (2, "usage"), (3, "thinking"), (4, "thinking"), (6, "tool_call"), (7, "tool_call"),
    ]  # fmt: skip
    said, spent, thought, redacted, call, broken = items
    assert (said.role, said.author, said.text, said.stop_reason) == ("assistant", "agent", "I will read it.", "toolUse")
    assert (said.model, said.message_id) == ("claude-sonnet-4-5", "msg_1")
    assert said.facts == {"responseModel": "claude-sonnet-4-5-20250929", "argumentsError": ["call_2"]}
    assert (spent.model, spent.provider, spent.cost) == ("claude-sonnet-4-5-20250929", "anthropic", 0.125)
    assert (spent.basis, spent.semantics.value, spent.response_id) == ("message", "cache_exclusive", "msg_1")
    counts = spent.counts
    assert (counts.input, counts.output, counts.cache_read, counts.cache_write) == (10, 20, 300, 40)
    assert (counts.cache_write_1h, counts.reasoning, counts.reported_total) == (15, 5, 370)
    assert (thought.text, thought.redacted, redacted.redacted) == ("let me look", False, True)
    assert (call.id, call.name, call.arguments, call.missing) == ("call_1", "read", {"path": "a.txt"}, False)
    assert (broken.arguments, broken.namespace) == ({}, "box")


def test_a_tool_result_keeps_its_text_pictures_and_usage():
    result, spent, picture = [e for e in whole("v3").items if e.line == 7]

    assert isinstance(result, ToolResult)
    assert (result.index, result.call_id, result.name, result.text, result.is_error) == (
        1,
        "call_1",
        "read",
        "one\ntwo",
        False,
    )
    assert isinstance(spent, Usage)
    assert (spent.index, spent.counts.input, spent.cost, spent.model) == (2, 1, 0.5, None)
    assert isinstance(picture, Image)
    assert (picture.index, picture.call_id, picture.media_type, picture.base64_size) == (5, "call_1", "image/png", 12)


def test_a_failed_answer_says_so():
    said = next(e for e in of(Message, whole("v3").items) if e.stop_reason == "error")

    assert (said.text, said.author, said.facts) == ("", "agent", {"errorMessage": "overloaded"})


def test_a_shell_line_is_a_command_and_no_tool_result():
    done, stopped = (e for e in of(Message, whole("v3").items) if e.role == "bashExecution")

    assert (done.author, done.text) == ("command", "ls -l\ntotal 0\n")
    assert done.facts == {"exitCode": 0, "cancelled": False, "truncated": False, "excludeFromContext": True}
    assert stopped.text == "sleep 9"
    assert "exitCode" not in stopped.facts


def test_the_system_message_names_what_it_changes():
    said = next(e for e in of(Message, whole("v3").items) if e.role == "system")

    assert (said.author, said.text) == ("system", "")
    assert said.facts == {"sections": ["preamble", "rules"], "toolsAdded": ["read", "bash"], "toolsRemoved": ["write"]}


def test_the_entries_say_what_they_hold():
    items = whole("v3").items

    assert [(e.provider, e.model) for e in of(ModelChange, items)] == [("anthropic", "claude-sonnet-4-5")]
    assert [e.level for e in of(ThinkingLevelChange, items)] == ["high"]
    assert [(e.target_id, e.replacement) for e in of(ContextEdit, items)] == [
        ("00000008", None), ("00000004", {"content": "shorter"}),
    ]  # fmt: skip
    assert [(e.target_id, e.text) for e in of(Label, items)] == [("00000016", "here"), ("00000016", None)]
    assert [(e.text, e.source) for e in of(SessionName, items)] == [("a name in two lines", "info")]
    assert [(e.summary, e.from_id) for e in of(BranchSummary, items)] == [("a side way", "00000015")]
    (compaction,) = of(Compaction, items)
    assert (compaction.summary, compaction.first_kept, compaction.tokens_before) == (
        "the work so far",
        "00000005",
        1760,
    )
    assert compaction.facts == {"fromHook": False}
    assert [(e.name, e.data) for e in of(Custom, items)] == [
        ("demo-state", {"count": 1}),
        ("demo-nodata", None),
        ("usage", {"kind": "cache_warm", "note": "kept warm"}),
        ("leaf", None),
        ("active_tools_change", None),
    ]
    assert [(e.name, e.text, e.display, e.data) for e in of(CustomMessage, items)] == [
        ("note", "from the SDK", False, {"n": 1}),
        ("demo-say", "go on", True, None),
        ("demo-show", "look", False, {"k": [1, 2]}),
    ]
    warm = next(e for e in of(Usage, items) if e.record.type == "usage")
    assert (warm.basis, warm.model, warm.provider, warm.counts.cache_read) == (
        "entry",
        "claude-haiku-4-5",
        "anthropic",
        500,
    )


def test_the_header_names_the_session_and_a_second_one_is_passed_over():
    result = whole("v3")
    (meta,) = of(Meta, result.items)

    assert (meta.session_id, meta.cwd) == ("0199aaaa-0000-7000-8000-000000000003", "/srv/demo")
    assert meta.forked_from.endswith("older.jsonl")
    assert meta.facts == {"version": 3}
    assert result.summary.ignored == {AGAIN: 1}
    assert {e.record.session_id for e in result.events} == {meta.session_id}


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": []}])
@pytest.mark.parametrize("role", ["user", "assistant", "toolResult"])
def test_absent_content_is_no_content_and_no_fault(role, content):
    items = events(message(role, **content))

    assert [item.text for item in items if hasattr(item, "text")] == [""]
    assert [item for item in items if item.kind == "fault"] == []


def test_a_large_note_of_an_extension_is_left_to_raw():
    (note,) = of(
        Custom, events({"type": "custom", "customType": "big", "id": "e1", "timestamp": AT, "data": "x" * 5000})
    )

    assert (note.name, note.data) == ("big", None)


# Times


def test_the_two_clocks_are_both_kept():
    items = events(
        message("assistant", content=[], timestamp=1772614799441),
        message("toolResult", "e2", "e1", toolCallId="c", content=[], timestamp=1772614799441),
        message("custom", "e3", "e2", content="x", timestamp=1772614799441),
    )
    written = datetime(2026, 3, 4, 9, 0, 1, tzinfo=UTC)

    for event in items[1:]:
        assert (event.at, event.record.at_text) == (written, AT)
        assert event.native_at == written - timedelta(milliseconds=1559)


@pytest.mark.parametrize("ms", [0, 1, 999, 1772614799441, 4102444799999, 4102444800001, -1, 1772614799441.5])
def test_the_messages_clock_is_milliseconds_whatever_its_size(ms):
    (said,) = of(Message, events(message("user", content="x", timestamp=ms)))

    assert said.native_at == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)


def test_a_clock_that_no_calendar_reaches_is_a_fault_and_the_rest_is_read():
    _, fault, said = events(message("user", content="x", timestamp=10**18))

    assert (fault.fault, fault.path, fault.recovered) == (FaultKind.INVALID_FIELD, "$.message.timestamp", 1)
    assert (said.text, said.native_at) == ("x", None)


# Versions 1 and 2


def test_a_flat_file_becomes_a_chain():
    result = whole("v1")
    chain = nodes(result.items)

    assert len(chain) == len({entry for entry, _ in chain}) == 9
    assert all(re.fullmatch(r"[0-9a-f]{16}", entry) for entry, _ in chain)
    assert [parent for _, parent in chain] == [None, *(entry for entry, _ in chain[:-1])]
    assert chain == nodes(parse("pi", None, each_byte(data("v1"))).items), "two readings agree"
    (meta,) = of(Meta, result.items)
    assert (meta.model, meta.facts) == ("claude-opus-4", {"provider": "anthropic", "thinkingLevel": "off"})


def test_the_kept_index_of_a_flat_file_becomes_an_id():
    """The header has index 0 and blank lines have none; the header, the outside and the future name nothing."""
    items = whole("v1").items
    ids = [entry for entry, _ in nodes(items)]

    assert [e.first_kept for e in of(Compaction, items)] == [ids[2], None, None]


@pytest.mark.parametrize(
    "index, kept", [(1, 0), (2, 1), (2.0, 1), (3, 2), (0, None), (-1, None), (4, None), (1.5, None)]
)
def test_a_kept_index_counts_from_the_header(index, kept):
    rows = [message("user", content="a"), message("user", content="b")]
    compaction = {
        "type": "compaction",
        "summary": "s",
        "firstKeptEntryIndex": index,
        "tokensBefore": 1,
        "timestamp": AT,
    }
    items = events(*rows, compaction, message("user", content="c"), header={"type": "session", "id": "s"})
    ids = [entry for entry, _ in nodes(items)]

    assert of(Compaction, items)[0].first_kept == (None if kept is None else ids[kept])


def test_a_file_without_a_version_loses_its_own_ids():
    items = events(
        message("user", "e1", content="a"),
        message("user", "e2", "nowhere", content="b"),
        header={"type": "session", "id": "s"},
    )
    (first, _), (second, parent) = nodes(items)

    assert first != "e1"
    assert parent == first != second


def test_a_broken_or_blank_line_takes_no_place_in_the_chain():
    rows = [message("user", content="a"), "", "{broken", message("user", content="b")]
    items = events(*rows, header={"type": "session", "id": "s"})
    (first, _), (_, parent) = nodes(items)

    assert parent == first


@pytest.mark.parametrize("version", [2, 3, 4, "3", "x", 2.0])
def test_later_versions_keep_their_ids(version):
    items = events(message("user", "e1", content="a"), header={"type": "session", "id": "s", "version": version})

    assert nodes(items) == [("e1", None)]


@pytest.mark.parametrize(
    "version, flat", [(None, True), (1, True), (0, True), ("1", True), (2, False), ({}, False), ([], False)]
)
def test_the_version_is_compared_as_the_agent_does(version, flat):
    assert is_flat(version) is flat


def test_a_hooks_message_of_version_2_is_a_custom_message():
    (hook,) = of(CustomMessage, whole("v2").items)

    assert (hook.name, hook.text, hook.record.id, hook.record.parent_id) == (
        "lint",
        "two warnings",
        "a0000002",
        "a0000001",
    )


def test_entries_without_a_header_are_read():
    result = parse("pi", lines(message("user", "e2", "e1", content="x")))

    assert result.summary.status is ReadStatus.COMPLETE
    assert nodes(result.items) == [("e2", "e1")]
    assert result.items[0].record.session_id is None


# Damage


def test_a_damaged_file_is_read_as_far_as_it_goes():
    result = whole("damaged.bad")

    assert [e.text for e in of(Message, result.items) if e.role == "user"] == [
        "one", "three", "four", "six", "\n", "when?", "too late", "numbers for ids", "bad bytes: \ufffd\ufffd", "after a crash",
    ]  # fmt: skip
    assert result.summary.faults == {
        "non_finite": 1, "glued": 1, "stub_glued": 1, "missing_field": 5, "invalid_field": 11, "not_an_object": 1,
        "invalid_json": 1, "invalid_utf8": 1, "nul_padding": 1, "truncated": 1,
    }  # fmt: skip
    assert result.summary.repairs == {"whole_number": 1}
    assert [(f.line, f.path) for f in result.faults if f.fault is FaultKind.MISSING_FIELD] == [
        (6, "$.message"), (7, "$.message.role"), (9, "$.message.content[3].text"), (9, "$.message.content[5].name"),
        (18, "$.message"),
    ]  # fmt: skip


def test_a_cost_that_is_no_number_is_unknown_and_the_tokens_count():
    (spent,) = [e for e in of(Usage, whole("damaged.bad").items) if e.line == 3]

    assert (spent.cost, spent.counts.input) == (None, 20)


def test_a_refused_record_changes_no_state():
    header = {"type": "session", "id": "s"}
    items = events(
        message("user", content="a"), {"type": "message", "timestamp": AT}, message("user", content="b"), header=header
    )
    (first, _), (_, parent) = nodes(items)

    assert parent == first


def test_no_block_inside_a_torn_record_is_taken_for_a_record():
    for inner in (
        {"type": "text", "text": "x"},
        {"type": "custom", "customType": "x"},
        {"type": "usage", "input": 1},
        {"type": "message", "timestamp": AT},
    ):
        torn = '{"type":"message","id":"e1","message":{"content":[{"x":"' + json.dumps(inner) + "\n"
        result = parse("pi", lines(HEADER) + torn.encode() + lines(message("user", "e2", content="x")))

        assert [e.kind for e in result.events] == ["meta", "message"]


# The work


def test_every_branch_and_every_kind_of_usage_counts():
    counts, marks = totals(worked("v3"))

    assert counts == {"input": 92, "output": 57, "cache_read": 806, "cache_write": 44}
    assert marks == {"prompt": 3, "answer": 3, "call": 2, "result": 2, "compaction": 1}


def test_the_facts_of_a_session_come_from_its_entries():
    (work,) = worked("v3")
    facts = work.sessions["0199aaaa-0000-7000-8000-000000000003"]

    assert (facts.cwd, facts.model) == ("/srv/demo", "claude-sonnet-4-5")
    assert facts.first_prompt.startswith("what is in the picture?")
    assert (facts.first.second, facts.last.second) == (1, 27), "the header's time is the file's, not the talk's"
    assert {s.model for s in work.samples} == {
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        None,
    }
    assert {s.project for s in work.samples} == {"/srv/demo"}
    assert [s.lower_bound for s in work.samples] == [False] * 6 + [True], "the aborted answer is at least that"


def test_a_fork_adds_only_what_it_did_itself():
    apart, _ = totals(worked("fork"))
    together, marks = totals(worked("fork", "v3"))
    alone, _ = totals(worked("v3"))

    assert apart["input"] == 1011
    assert together["input"] == alone["input"] + 1000
    assert marks["prompt"] == 4
    ledger = merge(worked("fork", "v3"))
    homes = {counted.sample.session for counted in ledger.samples if counted.sample.counts.input in (10, 1)}
    assert homes == {"0199aaaa-0000-7000-8000-000000000003"}, "copied work belongs to the file it was copied from"


def test_equal_ids_of_unrelated_files_are_not_the_same_work():
    one, other = (
        fold(
            Place(name=name),
            events(message("assistant", "e1", at=at, content=[], usage={"input": 1}), header={**HEADER, "id": name}),
        )
        for name, at in (("a", AT), ("b", "2026-03-04T09:00:02.000Z"))
    )

    assert totals([one, other])[0]["input"] == 2


def test_an_entry_written_twice_counts_once():
    row = message(
        "assistant", content=[{"type": "toolCall", "id": "c", "name": "x", "arguments": {}}], usage={"input": 5}
    )
    counts, marks = totals([fold(Place(name="a"), events(row, row))])

    assert (counts["input"], marks) == (5, {"answer": 1, "call": 1})


def test_copies_of_version_1_are_found_by_time_and_content():
    apart, _ = totals(worked("v1_branched"))
    counts, marks = totals(worked("v1_branched", "v1"))

    assert apart["input"] == 110
    assert counts == {"input": 111, "output": 23, "cache_read": 30, "cache_write": 4}
    assert marks == {"prompt": 3, "answer": 3, "call": 1, "result": 1, "compaction": 3}
    ledger = merge(worked("v1_branched", "v1"), lambda _, files: reconcile(files))
    assert {c.sample.session for c in ledger.samples if c.sample.counts.input == 10} == {"v1-parent"}


def migrated(name, ids="m"):
    """The fixture as Pi rewrites it: version 3, fresh ids, a chain."""
    rows, parent = [], None
    for n, line in enumerate(filter(None, data(name).decode().split("\n"))):
        row = json.loads(line)
        if n == 0:
            row["version"] = 3
        else:
            row |= {"id": f"{ids}{n:07d}", "parentId": parent}
            parent = row["id"]
        rows.append(row)
    return parse("pi", lines(*rows)).items


def test_a_migrated_copy_of_version_1_adds_nothing():
    alone, marks = totals(worked("v1"))
    copy = fold(Place(name="copy.jsonl"), migrated("v1"))

    assert totals([copy, *worked("v1")]) == (alone, marks)
    branch = fold(Place(name="v1_branched.jsonl"), migrated("v1_branched", "b"))
    parent = fold(Place(name="v1.jsonl"), migrated("v1"))
    assert totals([branch, parent]) == totals(worked("v1", "v1_branched")), "both migrated, with other random ids"


def test_unrelated_files_of_version_1_are_not_united():
    header = {"type": "session", "timestamp": AT, "cwd": "/"}
    row = message("assistant", content=[], usage={"input": 1})
    works = [fold(Place(name=name), events(row, header={**header, "id": name})) for name in ("a", "b")]

    assert totals(works)[0]["input"] == 2


def test_a_shell_line_and_an_extensions_message_are_no_prompts():
    work = fold(
        Place(name="a"),
        events(
            message("bashExecution", "e1", command="ls", output="x"),
            message("custom", "e2", "e1", customType="n", content="x"),
            {
                "type": "custom_message",
                "customType": "n",
                "content": "x",
                "id": "e3",
                "parentId": "e2",
                "timestamp": AT,
            },
            message("branchSummary", "e4", "e3", summary="s"),
            message("system", "e5", "e4", content="s"),
        ),
    )

    assert work.marks == []


def test_the_last_name_wins_and_an_empty_one_clears():
    named = merge(worked("v3")).sessions["0199aaaa-0000-7000-8000-000000000003"]
    cleared = merge(worked("fork")).sessions["0199aaaa-0000-7000-8000-000000000004"]

    assert (named.title, cleared.title) == ("a name in two lines", None)


def test_a_header_alone_is_a_session_with_its_time():
    work = fold(Place(name="a.jsonl", stem="a"), events())

    assert list(work.sessions) == ["s"]
    assert work.sessions["s"].first == datetime(2026, 3, 4, 9, tzinfo=UTC)


def test_a_fork_knows_its_parent_file():
    (work,) = worked("fork")

    assert next(iter(work.sessions.values())).forked_from.endswith("v3.jsonl")


# The shared cases


@pytest.mark.shared
@pytest.mark.parametrize("number", [35, 75, 89, 95])
def test_a_shared_case_has_its_true_totals(number):
    (case,) = (SHARED / "cases").glob(f"{number:03d}-*")
    expected = json.loads((case / "expect.json").read_text())["expect"]
    path = next(path for path in sorted(Path(case, "input").rglob("*.jsonl")) if "artifacts" not in path.as_posix())
    result = parse("pi", path.read_bytes(), place=place_of(path.name))
    work = fold(place_of(path.name), result.items)
    counts, marks = totals([work])

    assert {**counts, "total": sum(counts.values())} == expected["tokens"]
    assert (marks["prompt"], marks["answer"]) == (expected["user_prompts"], expected["assistant_messages"])
    assert result.summary.records == expected["records"]
    if "cost" in expected:
        assert sum(s.cost for s in work.samples if s.cost is not None) == expected["cost"]
    if number == 75:
        assert [(f.line, f.fault.value) for f in result.faults] == [(4, "non_finite"), (5, "non_finite")]


@pytest.mark.shared
def test_the_shared_case_of_two_clocks_begins_and_ends_on_its_seconds():
    (path,) = (SHARED / "cases").glob("047-*/input/.pi/**/*.jsonl")
    work = fold(place_of(path.name), parse("pi", path.read_bytes()).items)
    (facts,) = work.sessions.values()

    assert (facts.first, facts.last) == (
        datetime(2026, 5, 1, 10, 0, 0, tzinfo=UTC), datetime(2026, 5, 1, 10, 0, 1, tzinfo=UTC),
    )  # fmt: skip


@pytest.mark.shared
def test_the_shared_case_of_version_1_is_read_as_version_3():
    (path,) = (SHARED / "cases").glob("061-*/input/.pi/**/*.jsonl")
    result = parse("pi", path.read_bytes())
    counts, marks = totals([fold(place_of(path.name), result.items)])

    assert counts == {"input": 10, "output": 2, "cache_read": 30, "cache_write": 4}
    assert marks == {"prompt": 1, "answer": 1}
    assert len(nodes(result.items)) == 2
