"""The two ways from JSON to a typed record agree: the fast one only says yes where the reference one has no problem."""

import copy
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import fixtures
from turnlog.errors import FaultKind
from turnlog.formats import FORMATS
from turnlog.jsontext import TextError, decode, value_of
from turnlog.typed import ABSENT, Natural, Part, Schema

NOT_FAST = (msgspec.DecodeError, RecursionError)


class Inner(msgspec.Struct):
    count: Natural | None = None
    share: float | None = None


class Whole(msgspec.Struct):
    type: str
    n: Natural | None = None
    nested: Inner | None = None


SCHEMA = Schema(Whole)


def fit(text, **options):
    return SCHEMA.fit(decode(text), **options)


def problems(text, **options):
    return [(p.kind.value, p.path, p.expected, p.found) for p in fit(text, **options).problems]


def settled(value):
    """A struct as plain values, raw text by what it says."""
    if isinstance(value, msgspec.Raw):
        raw = bytes(value)
        return ("raw", value_of(raw)) if raw else "absent"
    if isinstance(value, msgspec.Struct):
        return {name: settled(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, list | tuple):
        return [settled(v) for v in value]
    return (type(value).__name__, value)


def agree(schema, text):
    """The promise of the module, for one record's text."""
    try:
        fast = schema.fast(text)
    except NOT_FAST:
        fast = None
    try:
        fitted = schema.fit(decode(text.decode()))
        strict = schema.fit(decode(text.decode()), strict=True)
    except TextError:
        assert fast is None
        return
    if fast is not None:
        assert fitted.problems == []
        assert fitted.repairs == []
        assert strict.problems == []
        assert settled(fast) == settled(fitted.record) == settled(strict.record)
    if fitted.problems or strict.problems or fitted.repairs:
        assert fast is None
    # What a mending takes, the strict way calls a problem; nothing else differs.
    assert len(strict.problems) >= len(fitted.problems)
    assert bool(fitted.repairs) <= bool(strict.problems)


RECORDS = {
    format: [
        value
        for path in fixtures(format)
        if ".bad" not in path.name and path.suffix == ".jsonl"
        for line in path.read_bytes().split(b"\n")
        if line.strip() and isinstance(value := json.loads(line), dict)
    ]
    for format in FORMATS
}

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**70), 10**400])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([5.0, 1e3, -0.0, 1e300])
    | st.text(max_size=5)
    | st.sampled_from(["\ud83d", "x\udc00y", "2026-01-01T00:00:00Z", "7"])
)
ODD = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "id", "content", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


def spots(value, found):
    """Every place in a value that can be changed, as (container, key)."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value):
        found.append((value, key))
        if isinstance(part, dict | list):
            spots(part, found)
    return found


@st.composite
def hostile(draw, records):
    """A realistic record with wrong types, missing, added and repeated keys at random places, as JSON text."""
    value = copy.deepcopy(draw(st.sampled_from(records)))
    for _ in range(draw(st.integers(0, 3))):
        found = spots(value, [])
        if not found:
            break
        holder, key = draw(st.sampled_from(found))
        what = draw(st.integers(0, 3))
        if what == 0:
            del holder[key]
        elif what == 1 and isinstance(holder, list):
            holder.insert(key, draw(ODD))
        else:
            holder[key] = draw(ODD)
    text = json.dumps(value, separators=(",", ":"))
    if value and draw(st.booleans()):
        key = draw(st.sampled_from(sorted(value)))
        twice = f"{json.dumps(key)}:{json.dumps(draw(ODD))}"
        text = "{" + twice + "," + text[1:] if draw(st.booleans()) else text[:-1] + "," + twice + "}"
    number = draw(st.sampled_from([None, "1e400", "-1E999", "NaN", "1e2", "-0", "9" * 5000, "0.5e1"]))
    if number is not None and (digits := [n for n, c in enumerate(text) if c in "0123456789" and text[n - 1] in ":,["]):
        at = draw(st.sampled_from(digits))
        end = at
        while text[end] in "0123456789.eE+-":
            end += 1
        text = text[:at] + number + text[end:]
    return text.encode()


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=80)
@given(data=st.data())
def test_fast_and_reference_agree_on_realistic_records_with_accidents(format, data):
    if not RECORDS[format]:
        pytest.fail(f"no fixtures for {format}")
    agree(FORMATS[format].schema, data.draw(hostile(RECORDS[format])))


@pytest.mark.parametrize("format", FORMATS)
def test_every_clean_record_is_read_the_fast_way_too(format):
    """A schema that says no to usual records would be right and slow."""
    said_no = 0
    for value in RECORDS[format]:
        text = json.dumps(value, separators=(",", ":")).encode()
        agree(FORMATS[format].schema, text)
        try:
            FORMATS[format].schema.fast(text)
        except NOT_FAST:
            said_no += "\\ud" not in text.decode().lower()
    assert said_no <= len(RECORDS[format]) // 10


OUTER = {
    "inner": ODD,
    "parts": ODD,
    "text": ODD,
    "raw": ODD,
    "free": ODD,
    "flag": SCALARS,
    "when": SCALARS,
    "table": ODD,
    "either": SCALARS,
    "unread": ODD,
}


@settings(max_examples=80)
@given(st.fixed_dictionaries({"type": st.text(max_size=3) | SCALARS}, optional=OUTER))
def test_fast_and_reference_agree_on_every_shape_a_field_can_have(value):
    agree(OUTER_SCHEMA, json.dumps(value).encode())


class Shapes(msgspec.Struct):
    type: str
    inner: Inner | None = None
    parts: list[Inner] | None = None
    text: str | list[Inner] | None = None
    raw: msgspec.Raw = ABSENT
    flag: bool | None = None
    when: str | int | None = None
    either: int | float | None = None


OUTER_SCHEMA = Schema(Shapes)


# -- what a problem says


def test_a_problem_names_the_path_what_was_expected_and_the_type_found_never_the_value():
    assert problems('{"type":"a","nested":{"count":"secret"}}') == [
        ("invalid_field", "$.nested.count", "a non-negative integer", "a string")
    ]
    assert problems('{"type":"a","n":[]}') == [("invalid_field", "$.n", "a non-negative integer", "an array")]


def test_a_missing_type_is_a_missing_field():
    assert problems("{}") == [("missing_field", "$.type", "a string", "nothing")]
    assert problems('{"type":null}') == [("invalid_field", "$.type", "a string", "null")]


@pytest.mark.parametrize(
    "number,found",
    [
        ("-1", "a negative integer"),
        ("1.5", "a number"),
        ("true", "a boolean"),
        ('"7"', "a string"),
        ("18446744073709551616", "an integer over 64 bits"),
        ("9" * 5000, "an integer out of range"),
    ],
)
def test_a_count_that_is_none_is_unknown_and_never_clamped(number, found):
    text = f'{{"type":"a","n":{number}}}'

    assert fit(text).record.n is None
    assert problems(text) == [("invalid_field", "$.n", "a non-negative integer", found)]


@pytest.mark.parametrize("number,count", [("0", 0), ("-0", 0), ("18446744073709551615", 2**64 - 1)])
def test_counts_are_exact(number, count):
    text = f'{{"type":"a","n":{number}}}'

    assert fit(text).record.n == count
    assert problems(text, strict=True) == []


@pytest.mark.parametrize("number,count", [("1e3", 1000), ("5.0", 5), ("-0.0", 0), ("10E1", 100)])
def test_a_whole_number_written_otherwise_is_that_integer_and_a_repair(number, count):
    text = f'{{"type":"a","n":{number}}}'

    assert fit(text).record.n == count
    assert fit(text).repairs == ["whole_number"]
    assert problems(text) == []
    assert problems(text, strict=True) == [("invalid_field", "$.n", "a non-negative integer", "a number")]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_that_is_not_finite_is_unknown(number):
    text = f'{{"type":"a","nested":{{"share":{number},"count":3}}}}'

    assert fit(text).record.nested == Inner(count=3, share=None)
    assert [(kind, path) for kind, path, *_ in problems(text)] == [("non_finite", "$.nested.share")]


def test_a_bare_word_in_a_field_that_nobody_reads_is_a_problem_of_the_record():
    assert [(kind, path) for kind, path, *_ in problems('{"type":"a","x":[{"y":NaN}]}')] == [("non_finite", "$")]
    assert problems('{"type":"a","x":[{"y":1e400}]}') == []


def test_null_is_unknown_and_no_problem():
    assert problems('{"type":"a","n":null,"nested":null}') == []


def test_raw_null_stays_null_and_raw_absent_stays_absent():
    read = OUTER_SCHEMA.fit({"type": "a", "raw": None}).record

    assert bytes(read.raw) == b"null"
    assert bytes(OUTER_SCHEMA.fit({"type": "a"}).record.raw) == b""


def test_a_number_out_of_range_kept_as_text_stays_one():
    for number in ("1e400", "9" * 5000):
        raw = OUTER_SCHEMA.fit(decode(f'{{"type":"a","raw":{{"x":[{number},1]}}}}')).record.raw
        value, found, _ = Part(dict[str, object]).fit(raw, "$.raw")

        assert value == {"x": [None, 1]}
        assert len(found) == 1


def test_a_part_is_typed_later_in_the_same_two_ways():
    part = Part(list[Inner])

    assert part.fast(b'[{"count":1}]') == [Inner(1)]
    value, found, repairs = part.fit(b'[{"count":1e1},{"count":-1},7]', "$.x")
    assert value == [Inner(10), Inner(None), None]
    assert [(p.kind, p.path) for p in found] == [
        (FaultKind.INVALID_FIELD, "$.x[1].count"),
        (FaultKind.INVALID_FIELD, "$.x[2]"),
    ]
    assert repairs == ["whole_number"]


def test_a_field_of_a_type_that_no_reader_has_is_refused_when_a_value_is_first_fitted():
    class Wrong(msgspec.Struct):
        x: set[int]

    with pytest.raises(TypeError):
        Schema(Wrong).fit({"x": [1]})


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_has_such_a_field(format):
    schema = FORMATS[format].schema

    for kind in (None, *schema.of):
        schema.fit({"type": kind})  # plans every field, nested ones too
