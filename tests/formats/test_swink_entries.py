"""`SessionEntry` accepts, refuses and writes what serde does (sheet SWINK_AGENT 3, 4 and 6)."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnlog.formats.swink.entries as module
from turnlog.errors import TurnlogError
from turnlog.formats.swink.entries import (
    CompactionEntry,
    CustomEntry,
    InvalidEntryError,
    LabelEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionEntry,
    ThinkingLevelChangeEntry,
    UnknownEntry,
)
from turnlog.formats.swink.shapes import (
    AssistantMessage,
    Base64Source,
    CacheRead,
    CacheWrite,
    Capabilities,
    Cost,
    ExtensionBlock,
    FileSource,
    ImageBlock,
    ModelSpec,
    TextBlock,
    ThinkingBlock,
    ThinkingBudgets,
    ToolCallBlock,
    ToolResultMessage,
    UrlSource,
    Usage,
    UserMessage,
)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "swink"

USER = '{"role":"user","content":[{"type":"text","text":"hi"}],"timestamp":1710500000}'
ASSISTANT = (
    '{"role":"assistant","content":[],"provider":"p","model_id":"m",'
    '"usage":{"input":1,"output":2,"cache_read":0,"cache_write":0,"total":3},'
    '"cost":{"input":0,"output":0.0,"cache_read":0,"cache_write":0,"total":0},"stop_reason":"stop","timestamp":1}'
)
RESULT = '{"role":"tool_result","tool_call_id":"c1","content":[],"is_error":false,"timestamp":1}'
SPEC = '{"provider":"a","model_id":"x","thinking_level":"off"}'

# The minimal lines that serde accepted when it was run, by the name of their entry and their time.
ACCEPTED = {
    "user": (f'{{"entry_type":"message","data":{USER}}}', "message", 1710500000),
    "assistant": (f'{{"entry_type":"message","data":{ASSISTANT}}}', "message", 1),
    "tool_result": (f'{{"entry_type":"message","data":{RESULT}}}', "message", 1),
    "model_change": (
        f'{{"entry_type":"model_change","data":{{"from":{SPEC},"to":{SPEC.replace("off", "high")},"timestamp":1}}}}',
        "model_change",
        1,
    ),
    "thinking_level_change": (
        '{"entry_type":"thinking_level_change","data":{"from":"low","to":"any word","timestamp":1}}',
        "thinking_level_change",
        1,
    ),
    "compaction": (
        '{"entry_type":"compaction","data":{"dropped_count":4,"tokens_before":900,"tokens_after":300,"timestamp":1}}',
        "compaction",
        1,
    ),
    "label": ('{"entry_type":"label","data":{"text":"mark","message_index":2,"timestamp":1}}', "label", 1),
    "custom": ('{"entry_type":"custom","data":{"type_name":"note","data":{"k":[1]},"timestamp":1}}', "custom", 1),
    "custom null": ('{"entry_type":"custom","data":{"type_name":"note","data":null,"timestamp":1}}', "custom", 1),
    "raw": (USER, "message", 1710500000),
    "data first": ('{"data":{"text":"a","message_index":0,"timestamp":0},"entry_type":"label"}', "label", 0),
    "extra fields": (
        '{"entry_type":"label","data":{"text":"a","message_index":0,"timestamp":1,"more":[]},"more":{}}',
        "label",
        1,
    ),
    "role twice": (USER.replace('"role":"user"', '"role":"user","role":"user"'), "message", 1710500000),
    "space around": (f" \t{USER}\r\n", "message", 1710500000),
    "milliseconds": (USER.replace("1710500000", "1710500000000"), "message", 1710500000000),
    "greatest time": (USER.replace("1710500000", str(2**64 - 1)), "message", 2**64 - 1),
    "options absent": (
        USER.replace('"text":"hi"}', '"text":"hi"},{"type":"thinking","thinking":"t"}'),
        "message",
        None,
    ),
    "127 levels": (
        f'{{"entry_type":"custom","data":{{"type_name":"a","data":{"[" * 125}{"]" * 125},"timestamp":1}}}}',
        "custom",
        1,
    ),
    "brackets in text": (USER.replace("hi", "[" * 500), "message", 1710500000),
}

REFUSED = {
    "PascalCase entry_type": '{"entry_type":"Label","data":{"text":"a","message_index":0,"timestamp":1}}',
    "unknown entry_type": '{"entry_type":"checkpoint","data":{}}',
    "entry_type null": '{"entry_type":null,"role":"user","content":[],"timestamp":1}',
    "entry_type a number": '{"entry_type":1,"data":{}}',
    "data missing": '{"entry_type":"label"}',
    "label data as array": '{"entry_type":"label","data":["a",0,1]}',
    "message data null": '{"entry_type":"message","data":null}',
    "string content": '{"role":"user","content":"hi","timestamp":1}',
    "unknown role": '{"role":"critic","content":[],"timestamp":1}',
    "role missing": '{"content":[],"timestamp":1}',
    "unknown block": '{"role":"user","content":[{"type":"hologram"}],"timestamp":1}',
    "block without type": '{"role":"user","content":[{"text":"a"}],"timestamp":1}',
    "unknown stop_reason": ASSISTANT.replace('"stop"', '"tired"'),
    "assistant without usage": ASSISTANT.replace('"usage"', '"use"'),
    "assistant without cost": ASSISTANT.replace('"cost"', '"price"'),
    "usage without total": ASSISTANT.replace(',"total":3', ""),
    "count as float": ASSISTANT.replace('"input":1', '"input":1.0'),
    "count true": ASSISTANT.replace('"input":1', '"input":true'),
    "count over 64 bits": ASSISTANT.replace('"input":1', f'"input":{2**64}'),
    "cost as text": ASSISTANT.replace('"output":0.0', '"output":"0"'),
    "negative time": USER.replace("1710500000", "-1"),
    "float time": USER.replace("1710500000", "1.0"),
    "time missing": '{"role":"user","content":[]}',
    "time over 64 bits": USER.replace("1710500000", str(2**64)),
    "custom without data": '{"entry_type":"custom","data":{"type_name":"a","timestamp":1}}',
    "level missing": f'{{"entry_type":"model_change","data":{{"from":{SPEC},"to":{{"provider":"a","model_id":"x"}},"timestamp":1}}}}',
    "unknown level": f'{{"entry_type":"model_change","data":{{"from":{SPEC},"to":{SPEC.replace("off", "on")},"timestamp":1}}}}',
    "byte order mark": "\ufeff" + USER,
    "NaN": ASSISTANT.replace('"output":0.0', '"output":NaN'),
    "number out of range": ASSISTANT.replace('"output":0.0', '"output":1e999'),
    "lone surrogate": USER.replace("hi", "\\ud83d"),
    "lone surrogate in the text": USER.replace("hi", "\ud83d"),
    "128 levels": f'{{"entry_type":"custom","data":{{"type_name":"a","data":{"[" * 126}{"]" * 126},"timestamp":1}}}}',
    "100,000 levels": "[" * 100_000,
    "two values": USER + USER,
    "cut": USER[:-1],
    "array": "[]",
    "nothing": "",
}


@pytest.mark.parametrize("case", ACCEPTED)
@pytest.mark.parametrize("strict", [True, False])
def test_what_serde_accepts_is_accepted(case, strict):
    line, name, time = ACCEPTED[case]

    entry = SessionEntry.parse(line, strict=strict)

    assert entry.entry_type_name == name
    assert time is None or entry.timestamp == time
    assert SessionEntry.parse(line.encode()) == entry


@pytest.mark.parametrize("case", REFUSED)
def test_what_serde_refuses_is_refused(case):
    with pytest.raises(InvalidEntryError) as refused:
        SessionEntry.parse(REFUSED[case], strict=True)

    assert isinstance(refused.value, TurnlogError)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize("case", sorted(REFUSED.keys() - {"PascalCase entry_type", "unknown entry_type"}))
def test_only_an_unknown_entry_type_is_kept_where_strict_is_off(case):
    with pytest.raises(InvalidEntryError):
        SessionEntry.parse(REFUSED[case])


def test_bytes_that_are_no_utf8_are_refused():
    with pytest.raises(InvalidEntryError):
        SessionEntry.parse(USER.encode().replace(b"hi", b"\xff"))


@pytest.mark.parametrize(
    "line",
    [
        '{"role":"SECRET","content":[],"timestamp":1}',
        '{"role":"user","content":[{"type":"SECRET"}],"timestamp":1}',
        '{"role":"user","content":"SECRET","timestamp":1}',
        '{"entry_type":"label","data":"SECRET"}',
        '{"entry_type":"label","data":{"text":["SECRET"],"message_index":0,"timestamp":1}}',
        ASSISTANT.replace('"stop"', '"SECRET"'),
        ASSISTANT.replace('"total":3', '"total":3,"extra":{"SECRET":"x"}'),
        f'{{"entry_type":"model_change","data":{{"from":{SPEC.replace("off", "SECRET")},"to":{SPEC},"timestamp":1}}}}',
        f'{{"entry_type":"model_change","data":{{"from":{SPEC[:-1]},"thinking_budgets":{{"budgets":{{"SECRET":1}}}}}},"to":{SPEC},"timestamp":1}}}}',
        '{"entry_type":"SECRET","data":{}}',
        "SECRET",
    ],
)
def test_an_error_never_holds_text_of_the_line(line):
    with pytest.raises(InvalidEntryError) as refused:
        SessionEntry.parse(line, strict=True)

    assert "SECRET" not in str(refused.value)


def test_an_error_says_where_and_which_types():
    with pytest.raises(InvalidEntryError, match=r"^\$\.content: expected `array`, got `str`$"):
        SessionEntry.parse(REFUSED["string content"])
    with pytest.raises(InvalidEntryError, match=r"^\$\.data: object missing required field `data`$"):
        SessionEntry.parse(REFUSED["custom without data"])


def test_an_unknown_entry_type_is_kept_verbatim():
    line = '{"entry_type":"checkpoint",  "data":{"z":1.50,"a":"\\u00e9","timestamp":7}}'

    entry = SessionEntry.parse(line + "\n")

    assert entry == UnknownEntry("checkpoint", line)
    assert (entry.entry_type_name, entry.timestamp, entry.as_message) == ("checkpoint", 7, None)
    assert entry.to_json() == line
    assert SessionEntry.parse('{"entry_type":"checkpoint"}').timestamp is None


def test_only_messages_are_messages_and_they_keep_their_order():
    entries = [
        SessionEntry.parse(ACCEPTED[case][0]) for case in ("user", "label", "assistant", "custom", "tool_result")
    ]

    messages = SessionEntry.messages(entries)

    assert [type(message) for message in messages] == [UserMessage, AssistantMessage, ToolResultMessage]
    assert module.messages(entries) == messages
    assert messages == [entry.as_message for entry in entries if entry.as_message is not None]


def test_a_raw_message_equals_the_tagged_one_and_is_written_tagged():
    raw, tagged = SessionEntry.parse(USER), SessionEntry.parse(ACCEPTED["user"][0])

    assert raw == tagged
    assert raw.to_json() == ACCEPTED["user"][0]


def test_entries_of_another_content_or_kind_are_not_equal():
    label = LabelEntry("a", 0, 1)

    assert label != LabelEntry("b", 0, 1)
    assert label != CustomEntry("a", 0, 1)
    assert label == LabelEntry("a", 0, 1)


def test_the_repr_names_the_kind_and_its_fields():
    assert repr(LabelEntry("mark", 2, 1)) == "LabelEntry(text='mark', message_index=2, timestamp=1)"


def test_an_entry_cannot_be_changed():
    with pytest.raises(AttributeError):
        LabelEntry("mark", 2, 1).text = "other"


def test_match_tells_the_kinds_apart():
    match SessionEntry.parse(ACCEPTED["model_change"][0]):
        case ModelChangeEntry(from_=before, to=after):
            assert (before.thinking_level, after.thinking_level) == ("off", "high")
        case _:
            pytest.fail("no model change")


# What serde writes, field by field in its order: null where it writes null, nothing where it writes nothing.
WRITTEN = [
    '{"entry_type":"message","data":{"role":"user","content":[{"type":"text","text":"a\\"\\\\/\\n\\u0001\x7f\u2028é🐦"}],"timestamp":1}}',
    (
        '{"entry_type":"message","data":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},'
        '{"type":"image","source":{"type":"url","url":"u","media_type":"m"}},{"type":"image","source":{"type":"file","path":"p","media_type":"m"}},'
        '{"type":"extension","type_name":"t","data":null}],"timestamp":1,"cache_hint":{"action":"write","ttl":300}}}'
    ),
    (
        '{"entry_type":"message","data":{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":null},'
        '{"type":"tool_call","id":"c","name":"n","arguments":{"b":1,"a":[1.0,1e21,0.000087,1e-7]},"partial_json":null}],"provider":"p",'
        '"model_id":"m","usage":{"input":1,"output":2,"cache_read":0,"cache_write":0,"total":3,"extra":{"reasoning":1}},'
        '"cost":{"input":0.0,"output":8.7e-6,"cache_read":0.000087,"cache_write":1e16,"total":0.1,"extra":{"tax":0.5}},'
        '"stop_reason":"error","error_message":"e","error_kind":"throttled","timestamp":1,"cache_hint":{"action":"read"}}}'
    ),
    (
        '{"entry_type":"message","data":{"role":"assistant","content":[],"provider":"p","model_id":"m","usage":{"input":1,"output":2,'
        '"cache_read":0,"cache_write":0,"total":3},"cost":{"input":0.0,"output":0.0,"cache_read":0.0,"cache_write":0.0,"total":0.0},'
        '"stop_reason":"stop","error_message":null,"timestamp":1}}'
    ),
    '{"entry_type":"message","data":{"role":"tool_result","tool_call_id":"c","content":[],"is_error":true,"timestamp":1,"details":null}}',
    '{"entry_type":"message","data":{"role":"tool_result","tool_call_id":"c","content":[],"is_error":true,"timestamp":1,"details":{"x":{}}}}',
    (
        '{"entry_type":"model_change","data":{"from":{"provider":"a","model_id":"x","thinking_level":"off","thinking_budgets":null},'
        '"to":{"provider":"b","model_id":"y","thinking_level":"extra_high","thinking_budgets":{"budgets":{"high":4096}},"provider_config":{"k":1},'
        '"capabilities":{"supports_thinking":true,"supports_vision":false,"supports_tool_use":true,"supports_streaming":true,'
        '"supports_structured_output":false,"max_context_window":200000,"max_output_tokens":null}},"timestamp":1}}'
    ),
    '{"entry_type":"thinking_level_change","data":{"from":"low","to":"high","timestamp":1}}',
    '{"entry_type":"compaction","data":{"dropped_count":4,"tokens_before":900,"tokens_after":300,"timestamp":1}}',
    '{"entry_type":"label","data":{"text":"mark","message_index":2,"timestamp":18446744073709551615}}',
    '{"entry_type":"custom","data":{"type_name":"note","data":{"z":-1,"a":null},"timestamp":1}}',
]


@pytest.mark.parametrize("line", WRITTEN, ids=lambda line: f"{json.loads(line)['entry_type']}-{len(line)}")
def test_what_serde_writes_comes_back_byte_for_byte(line):
    assert SessionEntry.parse(line, strict=True).to_json() == line


def test_what_serde_adds_on_writing_is_added():
    assert SessionEntry.parse(ASSISTANT).to_json() == WRITTEN[3]
    assert SessionEntry.parse(RESULT).to_json() == WRITTEN[4].replace('"c"', '"c1"').replace("true", "false")


def test_the_tagged_lines_of_a_real_shape_come_back_byte_for_byte():
    lines = (FIXTURES / "every.jsonl").read_text(encoding="utf-8").splitlines()
    tagged = [line for line in lines if line.startswith('{"entry_type"')]

    assert len(tagged) == 6
    assert [SessionEntry.parse(line).to_json() for line in tagged] == tagged


def test_a_price_given_as_a_whole_number_is_written_as_a_float():
    assert '"input":0.0' in MessageEntry(
        AssistantMessage(
            content=(), provider="p", model_id="m", usage=Usage(0, 0, 0, 0, 0), cost=Cost(0, 0, 0, 0, 0),
            stop_reason="stop", timestamp=0,
        )
    ).to_json()  # fmt: skip


def test_a_lone_surrogate_cannot_be_written():
    with pytest.raises(InvalidEntryError):
        LabelEntry("\ud83d", 0, 1).to_json()


def test_an_integer_over_64_bits_is_no_count():
    with pytest.raises(ValueError, match="64-bit"):
        LabelEntry("a", 2**64, 1)
    with pytest.raises(ValueError, match="64-bit"):
        Usage(0, 0, 0, 0, 0, {"reasoning": 2**64})


# -- a round trip over everything that can be built

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
u64 = st.integers(0, 2**64 - 1)
number = st.floats(allow_nan=False, allow_infinity=False)
levels = st.sampled_from(["off", "minimal", "low", "medium", "high", "extra_high"])
value = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | number | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
option = text | st.none()
source = st.builds(Base64Source, text, text) | st.builds(UrlSource, text, text) | st.builds(FileSource, text, text)
block = (
    st.builds(TextBlock, text)
    | st.builds(ThinkingBlock, text, option)
    | st.builds(ToolCallBlock, text, text, value, option)
    | st.builds(ImageBlock, source)
    | st.builds(ExtensionBlock, text, value)
)
content = st.lists(block, max_size=4).map(tuple)
hint = st.builds(CacheWrite, u64) | st.builds(CacheRead) | st.none()
usage = st.builds(Usage, u64, u64, u64, u64, u64, st.dictionaries(text, u64, max_size=2))
cost = st.builds(Cost, number, number, number, number, number, st.dictionaries(text, number, max_size=2))
stops = st.sampled_from(["stop", "length", "tool_use", "aborted", "error", "transfer"])
errors = st.sampled_from(["throttled", "auth", "network"]) | st.none()
message = (
    st.builds(UserMessage, content=content, timestamp=u64, cache_hint=hint)
    | st.builds(
        AssistantMessage,
        content=content,
        provider=text,
        model_id=text,
        usage=usage,
        cost=cost,
        stop_reason=stops,
        error_message=option,
        error_kind=errors,
        timestamp=u64,
        cache_hint=hint,
    )
    | st.builds(
        ToolResultMessage,
        tool_call_id=text,
        content=content,
        is_error=st.booleans(),
        timestamp=u64,
        details=value,
        cache_hint=hint,
    )
)
spec = st.builds(
    ModelSpec,
    text,
    text,
    levels,
    st.builds(ThinkingBudgets, st.dictionaries(levels, u64, max_size=2)) | st.none(),
    value,
    st.builds(Capabilities, st.booleans(), max_context_window=u64 | st.none()) | st.none(),
)
entry = (
    st.builds(MessageEntry, message)
    | st.builds(ModelChangeEntry, spec, spec, u64)
    | st.builds(ThinkingLevelChangeEntry, text, text, u64)
    | st.builds(CompactionEntry, u64, u64, u64, u64)
    | st.builds(LabelEntry, text, u64, u64)
    | st.builds(CustomEntry, text, value, u64)
)


@given(entry)
def test_every_entry_survives_the_round_trip(entry):
    line = entry.to_json()

    again = SessionEntry.parse(line, strict=True)

    assert again == entry
    assert again.to_json() == line
    assert "\n" not in line
    assert again.timestamp == entry.timestamp


@given(st.text() | st.binary())
def test_parsing_anything_gives_an_entry_or_the_one_error(line):
    with contextlib.suppress(InvalidEntryError):
        SessionEntry.parse(line)
