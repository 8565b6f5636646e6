"""swink-agent's sessions: every type, the append protocol, times in seconds, and what is damaged."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from turnlog.contract import Place, ReadOptions, ReadStatus
from turnlog.formats import FORMATS, place_of, sniffed
from turnlog.formats.swink import SWINK
from turnlog.formats.swink.fold import fold
from turnlog.formats.swink.types import ENTRY_TYPES, IGNORED, MARKS, ROLES, TYPES
from turnlog.model import (
    Compaction,
    Custom,
    CustomMessage,
    Image,
    Label,
    Message,
    Meta,
    ModelChange,
    SessionName,
    Thinking,
    ThinkingLevelChange,
    ToolCall,
    ToolResult,
    Usage,
)
from turnlog.parser import Parser
from turnlog.reader import read
from turnlog.views.relations import links

FIXTURES = Path(__file__).parents[1] / "fixtures" / "swink"
FILES = sorted(FIXTURES.glob("*.jsonl"))
START = 1794816900
USER = b'{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1}'
ASSISTANT = (
    b'{"role":"assistant","content":[],"provider":"p","model_id":"m","usage":{"input":1,"output":2,"cache_read":0,'
    b'"cache_write":0,"total":3},"cost":{"input":0,"output":0.0,"cache_read":0,"cache_write":0,"total":0},'
    b'"stop_reason":"stop","timestamp":1}'
)
META = b'{"id":"s","title":"t","created_at":"2024-03-15T10:53:20Z","updated_at":"2024-03-15T10:53:20Z"}'


def parsed(data, *, name="s.jsonl", cut=None, **options):
    parser = Parser(SWINK, ReadOptions(**options), place_of(name))
    items = []
    for at in range(0, len(data), cut or len(data) or 1):
        items += parser.feed(data[at : at + (cut or len(data))])
    return items + parser.close(), parser.summary()


def whole(name):
    return parsed((FIXTURES / f"{name}.jsonl").read_bytes(), name=f"{name}.jsonl")


def said(name):
    return {item.line: item for item in whole(name)[0]}


def kinds(items, line):
    return [(item.index, item.kind) for item in items if item.line == line]


def begun(items):
    """(line, records) of each append that was never committed, as `check` sees them."""
    return [(record.line, held) for record, held in links(items, None, SWINK.transaction).uncommitted]


def worked(name):
    items, _ = whole(name)
    return fold(place_of(f"{name}.jsonl"), items)


def test_every_type_is_read_without_a_fault_and_nothing_is_unknown():
    items, summary = whole("every")

    assert (summary.status, summary.faults, summary.unknown) == (ReadStatus.COMPLETE, {}, {})
    assert summary.records == summary.lines == 21
    assert summary.bytes.decoded == summary.bytes_read
    assert [(item.line, item.kind) for item in items if item.index < 3] == [
        (1, "meta"),
        (1, "session_name"),
        (2, "message"),
        (3, "message"),
        (4, "message"),
        (4, "usage"),
        (5, "tool_result"),
        (6, "message"),
        (6, "usage"),
        (7, "message"),
        (7, "usage"),
        (8, "custom"),
        (9, "custom_message"),
        (10, "custom_message"),
        (11, "model_change"),
        (12, "thinking_level_change"),
        (13, "compaction"),
        (14, "label"),
        (15, "custom"),
        (16, "message"),
        (17, "message"),
        (17, "usage"),
        (18, "custom"),
        (19, "message"),
        (20, "message"),
        (20, "usage"),
        (21, "meta"),
        (21, "session_name"),
    ]


def test_the_fixture_holds_every_type_of_the_table_and_each_says_what_the_table_says():
    items, _ = whole("every")
    told = {}
    for item in items:
        told.setdefault(item.record.type, set()).add(item.kind)

    assert set(told) == {label for label in TYPES if ":" not in label}
    assert all(kinds <= set(TYPES[label]) for label, kinds in told.items())


@pytest.mark.shared
def test_every_type_the_sheet_names_is_projected_or_ignored(shared):
    sheet = (shared / "formats" / "SWINK_AGENT.md").read_text(encoding="utf-8")
    named = set(re.findall(r'"entry_type":"([a-z_]+)"', sheet)) | set(re.findall(r'"role":"([a-z_]+)"', sheet))
    named |= set(re.findall(r'"(_[a-z]+)":true', sheet))
    blocks = re.search(r"^- Content blocks, internal tag `type`: (.*)$", sheet, re.MULTILINE)
    named |= {f"content:{name}" for name in re.findall(r"(\w+)\{", blocks[1])}

    assert len(named) >= 15
    assert named <= {*TYPES, *IGNORED}
    assert ROLES | ENTRY_TYPES | set(MARKS) <= named


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("cut", [1, 7, 64])
def test_chunk_size_never_changes_the_result(path, cut):
    data = path.read_bytes()

    assert parsed(data, cut=cut) == parsed(data)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_reads_as_its_bytes_do(path):
    reader = read(path)

    assert list(reader) == parsed(path.read_bytes(), name=path.name)[0]
    assert reader.format is SWINK


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_bytes_after_a_record_never_change_what_it_says(path):
    lines = path.read_bytes().splitlines(keepends=True)
    for count in range(1, len(lines)):
        before, _ = parsed(b"".join(lines[:count]))
        after, _ = parsed(b"".join(lines[: count + 1]))
        assert after[: len(before)] == before


def test_a_user_message_has_its_text_pictures_and_extensions():
    items, _ = whole("every")
    message, image, extension = (item for item in items if item.line == 3)

    assert isinstance(message, Message)
    assert (message.role, message.text, message.author) == ("user", "Two parts,\nand a picture.", "human")
    assert isinstance(image, Image)
    assert (image.index, image.media_type, image.base64_size) == (5, "image/png", 8)
    assert isinstance(extension, Custom)
    assert (extension.index, extension.name, extension.data) == (6, "map", {"x": 1})


def test_an_assistant_message_has_thinking_call_counts_and_price():
    items, _ = whole("every")
    message, usage, thinking, call = (item for item in items if item.line == 4)

    assert isinstance(message, Message)
    assert (message.text, message.model, message.stop_reason) == ("I look.", "claude-sonnet-4-5", "tool_use")
    assert isinstance(usage, Usage)
    counts = usage.counts
    assert (counts.input, counts.output, counts.cache_read, counts.cache_write) == (820, 74, 0, 510)
    assert (counts.reasoning, counts.reported_total) == (12, 1404)
    assert (usage.cost, usage.provider) == (0.0054825, "anthropic")
    assert isinstance(thinking, Thinking)
    assert (thinking.index, thinking.text) == (3, "The pond first.")
    assert isinstance(call, ToolCall)
    assert (call.index, call.id, call.name, call.arguments) == (5, "c1", "read_file", {"path": "/log.csv"})


def test_a_tool_result_points_to_its_call_and_to_its_pictures():
    items, _ = whole("every")
    result, url, file = (item for item in items if item.line == 5)

    assert isinstance(result, ToolResult)
    assert (result.call_id, result.text, result.is_error) == ("c1", "heron,pond\n", False)
    assert (url.location, file.location) == ("https://example.invalid/h.png", "/h.png")
    assert (url.call_id, file.call_id) == ("c1", "c1")


def test_a_failed_call_is_an_error_with_the_agents_own_words():
    message = next(item for item in whole("every")[0] if item.line == 6)

    assert message.author == "error"
    assert message.facts == {"error_message": "overloaded", "error_kind": "throttled"}


def test_a_cost_of_zeros_means_that_nothing_was_priced():
    usage = next(item for item in whole("every")[0] if item.line == 7 and item.kind == "usage")

    assert usage.cost is None


def test_entries_that_are_no_messages_say_their_own_events():
    at = said("every")

    assert (at[11].model, at[11].provider, at[11].previous) == ("claude-opus-4-5", "anthropic", "claude-sonnet-4-5")
    assert isinstance(at[11], ModelChange)
    assert isinstance(at[12], ThinkingLevelChange)
    assert (at[12].level, at[12].previous) == ("high", "off")
    assert isinstance(at[13], Compaction)
    assert (at[13].tokens_before, at[13].tokens_after, at[13].facts) == (900, 300, {"dropped_count": 4})
    assert isinstance(at[14], Label)
    assert (at[14].target_id, at[14].text, at[14].message_index) == (None, "the reeds", 2)
    assert isinstance(at[15], Custom)
    assert (at[15].name, at[15].data) == ("note", {"k": [1]})
    assert isinstance(at[9], CustomMessage)
    assert (at[9].name, at[9].text, at[9].data) == ("notice", "", {"text": "sunrise 07:21"})
    assert (at[10].name, at[10].text, at[10].data) == ("aside", "words only", None)
    assert (at[8].name, at[8].data) == ("_state", {"route": ["pond"]})


def test_the_first_line_tells_facts_and_a_title_and_no_time():
    meta, name = (item for item in whole("every")[0] if item.line == 1)

    assert isinstance(meta, Meta)
    assert isinstance(name, SessionName)
    assert meta.session_id == "every"
    assert meta.at is None
    assert meta.facts["sequence"] == 1
    assert meta.facts["version"] == 1
    assert (name.text, name.source) == ("A walk", "info")


def test_the_last_metadata_wins_and_says_that_it_commits():
    meta, name = (item for item in whole("every")[0] if item.line == 21)

    assert meta.facts["committed"] is True
    assert meta.facts["sequence"] == 2
    assert name.text == "A walk around the pond"


def test_an_unchanged_title_is_not_told_again():
    commit = b'{"_meta":true,"data":' + META + b"}\n"

    items, _ = parsed(META + b"\n" + commit)

    assert [item.kind for item in items] == ["meta", "session_name", "meta"]


def test_the_file_name_overrules_the_id_inside():
    items, _ = parsed(META + b"\n" + USER + b"\n", name="/x/real.jsonl")

    assert {item.record.session_id for item in items} == {"real"}
    assert items[0].facts["id"] == "s"


def test_without_a_session_file_name_the_id_inside_counts():
    items, _ = parsed(META + b"\n" + USER + b"\n", name="<stream>")

    assert {item.record.session_id for item in items} == {"s"}


@pytest.mark.parametrize(
    "stamp, at",
    [
        (b"1777629600", datetime(2026, 5, 1, 10, tzinfo=UTC)),
        (b"1", datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
        (b"99999999999", datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
        (b"100000000000", datetime(5138, 11, 16, 9, 46, 40, tzinfo=UTC)),
        (b"0", None),
        (b"null", None),
    ],
)
def test_a_time_is_in_seconds_whatever_its_size_and_zero_is_unknown(stamp, at):
    items, summary = parsed(b'{"role":"user","content":[],"timestamp":' + stamp + b"}\n")

    assert items[0].at == at
    assert summary.faults == {}


def test_a_time_in_milliseconds_is_a_fault_and_its_native_text_is_kept():
    items, summary = parsed(b'{"role":"user","content":[],"timestamp":1777629600000}\n')

    assert items[0].sentence() == (
        "line 1 (bytes 0-55): invalid_field: $.timestamp: expected Unix seconds that a calendar reaches, "
        "found a larger integer; 1 record read"
    )
    assert (items[1].at, items[1].record.at_text) == (None, "1777629600000")
    assert summary.status is ReadStatus.COMPLETE_WITH_FAULTS


def test_a_summary_of_the_compactor_is_neither_prompt_nor_answer():
    line = ASSISTANT.replace(b'"p"', b'""').replace(b'"m"', b'""').replace(b'"timestamp":1', b'"timestamp":0')
    text = b'[{"type":"text","text":"[Context summary of earlier conversation]\\nWe walked."}]'
    line = line.replace(b'"content":[]', b'"content":' + text)
    for before, after in ((b'"input":1', b'"input":0'), (b'"output":2', b'"output":0'), (b'"total":3', b'"total":0')):
        line = line.replace(before, after)

    items, _ = parsed(META + b"\n" + line + b"\n")
    work = fold(place_of("s.jsonl"), items)

    assert next(item for item in items if item.kind == "message").author == "summary"
    assert [mark.what for mark in work.marks] == ["compaction"]
    assert work.samples == []
    assert [left.reason for left in work.left] == ["no call: a line without model and tokens"]


def test_what_comes_after_this_was_written_is_counted_by_name():
    _, summary = whole("future.bad")

    assert summary.unknown == {
        "version:2": 1,
        "role:critic": 1,
        "entry_type:checkpoint": 1,
        "content:hologram": 1,
        "_append:pause": 1,
    }
    assert summary.ignored == {"_state:repeated": 1}
    assert (summary.faults, summary.records, summary.lines) == ({}, 8, 8)
    assert summary.bytes.total() == summary.bytes_read


def test_a_mark_counts_only_where_it_is_true():
    items, summary = parsed(b'{"_state":"yes","_append":1,"_meta":null,' + USER[1:] + b"\n")

    assert [item.kind for item in items] == ["message"]
    assert summary.faults == {}


def test_an_entry_type_goes_before_a_role():
    items, _ = parsed(b'{"role":"user","entry_type":"label","data":{"text":"a","message_index":1,"timestamp":1}}\n')

    assert [item.kind for item in items] == ["label"]


@pytest.mark.parametrize(
    "line, fault, path",
    [
        (b"{}", "missing_field", "$.role"),
        (b'{"role":5,"content":[]}', "invalid_field", "$.role"),
        (b'{"entry_type":7}', "invalid_field", "$.entry_type"),
        (b'{"entry_type":"label"}', "missing_field", "$.data"),
        (b'{"entry_type":"label","data":[1]}', "invalid_field", "$.data"),
        (b'{"entry_type":"message","data":{"content":[]}}', "missing_field", "$.data.role"),
        (b'{"_custom":true,"data":1}', "missing_field", "$.type"),
        (b'{"_meta":true}', "missing_field", "$.data"),
        (b"[1]", "not_an_object", None),
        (b'{"role":"user","content":[', "invalid_json", None),
    ],
)
def test_a_line_of_which_nothing_can_be_said_is_one_fault_and_no_event(line, fault, path):
    items, summary = parsed(META + b"\n" + line + b"\n" + USER + b"\n")

    assert [(item.kind, getattr(item, "fault", None)) for item in items if item.line == 2] == [("fault", fault)]
    assert next(item for item in items if item.line == 2).path == path
    assert kinds(items, 3) == [(1, "message")]
    assert summary.bytes.faulty == len(line) + 1


@pytest.mark.parametrize(
    "line, path",
    [
        (USER.replace(b'"timestamp":1', b'"timestamp":"1"'), "$.timestamp"),
        (USER.replace(b'"timestamp":1', b'"timestamp":-1'), "$.timestamp"),
        (b'{"role":"user","content":"hi","timestamp":1}', "$.content"),
        (b'{"role":"user","timestamp":1}', "$.content"),
        (USER.replace(b'"text":"hi"', b'"text":5'), "$.content[0].text"),
        (USER.replace(b',"text":"hi"', b""), "$.content[0].text"),
        (USER.replace(b'"type":"text",', b""), "$.content[0].type"),
        (ASSISTANT.replace(b'"input":1', b'"input":-1'), "$.usage.input"),
        (ASSISTANT.replace(b'"input":1', b'"input":true'), "$.usage.input"),
        (ASSISTANT.replace(b'"input":1', b'"input":18446744073709551616'), "$.usage.input"),
        (ASSISTANT.replace(b'"cost":{"input":0', b'"cost":{"input":"free"'), "$.cost.input"),
        (
            b'{"entry_type":"message","data":' + ASSISTANT.replace(b'"input":1', b'"input":"1"') + b"}",
            "$.data.usage.input",
        ),
        (b'{"entry_type":"label","data":{"text":1,"message_index":0,"timestamp":1}}', "$.data.text"),
        (b'{"role":"tool_result","content":[],"is_error":false,"timestamp":1}', "$.tool_call_id"),
    ],
)
def test_a_bad_field_is_unknown_and_the_rest_of_the_line_is_read(line, path):
    items, summary = parsed(line + b"\n")

    assert [(item.path, item.recovered) for item in items if item.kind == "fault"] == [(path, 1)]
    assert [item.kind for item in items if item.kind != "fault"]
    assert summary.bytes.repaired == len(line) + 1


def test_without_repair_a_bad_field_ends_the_record():
    line = ASSISTANT.replace(b'"input":1', b'"input":"1"')

    items, summary = parsed(line + b"\n" + USER + b"\n", repair=False)

    assert [item.kind for item in items] == ["fault", "message"]
    assert summary.bytes.faulty == len(line) + 1


def test_usage_and_cost_may_be_absent():
    items, summary = parsed(b'{"role":"assistant","content":[],"timestamp":1}\n')

    assert [item.kind for item in items] == ["message"]
    assert summary.faults == {}


def test_records_glued_to_one_line_are_all_read():
    items, summary = parsed(META + b"\n" + USER + ASSISTANT + b"\n")

    assert [item.kind for item in items if item.line == 2] == ["fault", "message", "message", "usage"]
    assert summary.faults == {"glued": 1}


def test_a_torn_line_before_a_whole_one_is_told_and_the_whole_one_read():
    items, summary = parsed(META + b"\n" + USER[:30] + ASSISTANT + b"\n")

    assert [item.kind for item in items if item.line == 2] == ["fault", "message", "usage"]
    assert summary.faults == {"stub_glued": 1}


def test_a_state_torn_in_its_data_gives_no_message_of_its_own():
    """The state holds messages too: what stands inside it is no record."""
    torn = b'{"_state":true,"data":{"history":[' + USER + b"],"

    items, _ = parsed(META + b"\n" + torn + b"\n")

    assert [item.kind for item in items if item.line == 2] == ["fault"]


# -- the append protocol


def test_an_append_without_a_commit_is_kept_apart_and_widens_nothing():
    work = worked("appends")

    flagged = [(sample.line, sample.counts.input, sample.uncommitted) for sample in work.samples]
    assert flagged == [(5, 100, True), (8, 20, False), (13, 40, True)]
    marks = [(mark.line, mark.what) for mark in work.marks if mark.uncommitted]
    assert marks == [(4, "prompt"), (5, "answer"), (12, "prompt"), (13, "answer"), (13, "call"), (14, "result")]
    facts = work.sessions["appends"]
    assert facts.first == datetime.fromtimestamp(START, UTC)
    assert facts.last == datetime.fromtimestamp(START + 30, UTC)
    assert work.samples[2].cost == 0.5


def test_each_append_without_a_commit_is_named_by_its_begin():
    items, _ = whole("appends")

    assert begun(items) == [(3, 2), (11, 3)]


@pytest.mark.parametrize(
    "commit",
    [
        b'{"_meta":true,"data":{"id":"s","title":"t"}}',
        b'{"_meta":true,"data":' + META.replace(b'"t"', b"5") + b"}",
        b'{"_meta":true,"data":' + META.replace(b'"2024-03-15T10:53:20Z"', b'"1710500000"', 1) + b"}",
        b'{"_meta":true,"data":null}',
        b'{"_meta":true,"data":' + META[:40],
    ],
)
def test_metadata_that_cannot_be_parsed_does_not_commit(commit):
    begin = b'{"_append":true,"phase":"begin"}\n'

    items, summary = parsed(META + b"\n" + begin + USER + b"\n" + commit + b"\n")

    assert summary.fault_count == 1
    assert [line for line, _ in begun(items)] == [2]


def test_the_last_title_that_was_committed_is_the_title():
    assert [title.text for title in worked("appends").titles] == ["appends", "renamed"]


def test_a_copy_of_a_file_says_the_same_work():
    data = (FIXTURES / "every.jsonl").read_bytes()
    items, _ = parsed(data, name="/a/every.jsonl")
    again, _ = parsed(data[: data.rindex(b'{"_append"')], name="/b/every.jsonl")

    first = {sample.key for sample in fold(place_of("/a/every.jsonl"), items).samples}
    second = {sample.key for sample in fold(place_of("/b/every.jsonl"), again).samples}

    assert second < first


def test_the_fold_names_the_session_its_model_and_its_first_prompt():
    facts = worked("every").sessions["every"]

    assert (facts.model, facts.first_prompt) == ("claude-sonnet-4-5", "Where does the heron stand?")


# -- whole files


def test_a_first_record_of_any_shape_is_known_as_this_agents():
    for line in (FIXTURES / "every.jsonl").read_bytes().splitlines():
        assert sniffed(line) is SWINK


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_other_agents_lines_are_not_taken_for_this_ones(name):
    lines = {
        "claude": b'{"type":"user","message":{"role":"user","content":[]},"sessionId":"s","timestamp":1}',
        "codex": b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}',
        "pi": b'{"type":"session","version":3,"id":"x","timestamp":"2026-05-01T10:00:00.000Z","cwd":"/"}',
    }

    assert name == "swink" or not SWINK.sniff(json.loads(lines[name]))


def totals(samples):
    names = ("input", "output", "cache_read", "cache_write")
    sums = {name: sum(getattr(sample.counts, name) or 0 for sample in samples) for name in names}
    return sums | {"total": sum(sums.values())}


@pytest.mark.shared
@pytest.mark.parametrize("case", ["047-swink-seconds-pi-milliseconds", "093-swink-uncommitted-append"])
def test_the_shared_cases_give_their_numbers(shared, case):
    folder = shared / "cases" / case
    expect = json.loads((folder / "expect.json").read_bytes())["expect"]
    path = folder / "input" / "swink" / "demo.jsonl"
    items, summary = parsed(path.read_bytes(), name=str(path))
    work = fold(Place(name=str(path), stem="demo"), items)
    facts = work.sessions["demo"]

    if case.startswith("047"):  # half of the numbers are the other agent's
        tokens = {name: count // 2 for name, count in expect["tokens"].items()}
        assert (summary.records, totals(work.samples)) == (3, tokens)
        assert f"{facts.first:%FT%TZ}" == expect["first"]
        assert f"{facts.last:%FT%TZ}" == expect["last"]
        return
    apart = [sample for sample in work.samples if sample.uncommitted]
    assert summary.records == expect["records"]
    assert totals([sample for sample in work.samples if not sample.uncommitted]) == expect["tokens"]
    assert totals(apart) == expect["uncommitted"]["tokens"]
    assert [line for line, _ in begun(items)] == [error["line"] for error in expect["errors"]]
    for what, name in (("prompt", "user_prompts"), ("answer", "assistant_messages")):
        marks = [mark for mark in work.marks if mark.what == what]
        assert sum(not mark.uncommitted for mark in marks) == expect[name]
        assert sum(mark.uncommitted for mark in marks) == expect["uncommitted"][name]


def test_the_demo_home_gives_what_was_decided_for_it(root):
    home = root / "src" / "turnlog" / "demo_home"
    truth = json.loads((home / "TRUTH.json").read_bytes())["agents"]["swink"]
    (path,) = (home / ".config" / "swink-agent" / "sessions").glob("*.jsonl")
    reader = read(path, SWINK)
    work = fold(reader.place, reader)

    assert totals([sample for sample in work.samples if not sample.uncommitted]) == truth["tokens"]
    assert totals([sample for sample in work.samples if sample.uncommitted]) == truth["uncommitted"]["tokens"]
    for what, name in (
        ("prompt", "user_prompts"),
        ("answer", "assistant_messages"),
        ("call", "tool_calls"),
        ("result", "tool_results"),
        ("compaction", "compactions"),
    ):
        assert sum(mark.what == what and not mark.uncommitted for mark in work.marks) == truth[name]
    assert reader.finish().is_complete


def test_a_whole_number_written_as_a_float_is_a_repair_in_an_envelope_too():
    for line in (ASSISTANT, b'{"entry_type":"message","data":' + ASSISTANT + b"}"):
        items, summary = parsed(META + b"\n" + line.replace(b'"input":1', b'"input":1e3') + b"\n" + USER + b"\n")

        assert next(item for item in items if item.kind == "usage").counts.input == 1000
        assert (summary.status, summary.repairs) == (ReadStatus.COMPLETE, {"whole_number": 1})
        assert summary.bytes.decoded == len(META) + len(USER) + 2
