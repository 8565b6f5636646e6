"""Values as JavaScript reads and writes them: JSON.parse, JSON.stringify, templates."""

import json
import math
import re
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnlog.formats.pi.javascript import (
    JOIN_LEVELS,
    STRINGIFY_LEVELS,
    UNDEFINED,
    NoJsonError,
    NoTextError,
    TooDeepError,
    number,
    parse,
    quoted,
    stringify,
    template,
)

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec=None, categories=None), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | DOUBLES | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
# The shapes that Number::toString may give.
SHAPE = re.compile(r"-?(?:0|[1-9]\d{0,20}|(?:0|[1-9]\d{0,20})\.\d*[1-9]|[1-9](?:\.\d*[1-9])?e[+-][1-9]\d*)")


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0, "0"),
        (-0.0, "0"),
        (5.0, "5"),
        (-5.5, "-5.5"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (1e15, "1000000000000000"),
        (1e16, "10000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e+308"),
        (0.1 + 0.2, "0.30000000000000004"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_a_number_is_written_as_javascript_writes_it(value, text):
    assert number(value) == text


@given(DOUBLES)
def test_a_number_reads_back_as_the_same_double_from_a_shape_javascript_has(value):
    text = number(value)

    assert float(text) == value
    assert SHAPE.fullmatch(text)
    assert ("e" in text) == (value != 0 and not 1e-6 <= abs(value) < 1e21)


@given(st.binary(min_size=8, max_size=8))
def test_no_shorter_text_reads_back_as_the_same_double(bits):
    (value,) = struct.unpack("<d", bits)
    if value - value != 0:
        return
    digits = re.sub(r"e.*|[.-]", "", number(value)).strip("0") or "0"

    for fewer in range(1, len(digits)):
        assert float(f"{value:.{fewer - 1}e}") != value


@pytest.mark.parametrize(
    "text, written",
    [
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740993", "-9007199254740992"),
        ("12345678901234567890", "12345678901234567000"),
        ("-0", "0"),
        ("1e400", "null"),
        ("-1e400", "null"),
        ("1e-400", "0"),
        ("5.0", "5"),
        ("1E+2", "100"),
        ("1" * 400, "null"),
        ("1" * 5000, "null"),
        ("0." + "0" * 400 + "1", "0"),
        ("1" + "0" * 21, "1e+21"),
        ("2" + "0" * 20, "200000000000000000000"),
        ("9007199254740993." + "0" * 900 + "1", "9007199254740994"),
    ],
    ids=lambda text: text[:24],
)
def test_a_number_is_the_double_it_names(text, written):
    assert stringify(parse(text)) == written
    assert stringify(parse(f'[{text},{{"a":{text}}}]')) == f'[{written},{{"a":{written}}}]'


@given(VALUES)
def test_what_is_written_reads_back_the_same(value):
    written = stringify(value)

    assert "\\ud" in written or written.encode()  # UTF-8 takes it
    again = parse(written)
    assert stringify(again) == written
    assert again == json.loads(json.dumps(value))


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_white_space_and_escapes_in_the_text_change_nothing(value, indent, ascii_only):
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)

    assert stringify(parse(f" \r\n\t{text}\t\n\r ")) == stringify(value)


@given(TEXTS)
def test_a_string_is_escaped_where_javascript_escapes_it_and_nowhere_else(text):
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    wanted = "".join(
        short.get(char) or (f"\\u{ord(char):04x}" if char < " " or "\ud800" <= char <= "\udfff" else char)
        for char in text
    )

    assert quoted(text) == f'"{wanted}"'


def test_line_separators_and_delete_stand_raw():
    assert quoted("\u2028\u2029\x7f\x85\ufeff") == '"\u2028\u2029\x7f\x85\ufeff"'


@pytest.mark.parametrize(
    "keys, order",
    [
        ("b 2 a 1 10", "1 2 10 b a"),
        ("z 01 -1 1.0 0", "0 z 01 -1 1.0"),
        ("4294967295 x 4294967294 4294967293", "4294967293 4294967294 4294967295 x"),
        ("x \u0663 \u00b2 1", "1 x \u0663 \u00b2"),
        ("3 1 2", "1 2 3"),
        ("b a", "b a"),
    ],
)
def test_array_indexes_come_first_and_ascending(keys, order):
    text = "{" + ",".join(f'"{key}":"{key}"' for key in keys.split()) + "}"

    assert stringify(parse(text)) == "{" + ",".join(f'"{key}":"{key}"' for key in order.split()) + "}"


def test_a_duplicate_key_keeps_its_first_place_and_has_its_last_value():
    assert stringify(parse('{"a":1,"b":2,"a":3,"__proto__":4,"__proto__":5}')) == '{"a":3,"b":2,"__proto__":5}'


@pytest.mark.parametrize(
    "text",
    [
        *"NaN Infinity -Infinity 01 -01 1. .5 +1 - 1e 1e+ 0x10 1_000 undefined True None nul truee".split(),
        "",
        " ",
        "1 2",
        "[1,]",
        "[,1]",
        '{"a":1,}',
        "{a:1}",
        '{"a"}',
        '{"a":}',
        '{"a":1 "b":2}',
        "[1 2]",
        "[",
        "{",
        "]",
        '"',
        '"a\nb"',
        '"a\tb"',
        '"\x00"',
        '"\x1f"',
        '"\\x41"',
        '"\\u12"',
        '"\\u12g4"',
        '"\\u+041"',
        '"\\u 041"',
        '"\\a"',
        '"\\',
        "'a'",
        "\ufeff1",
        "\u00a01",
        "1\u2028",
        "1\x0b",
        "1\x0c",
        "\u0661",
        "1\u0661",
        "{}//",
        "/**/1",
        "1\0",
    ],
)
def test_what_json_parse_refuses_is_refused(text):
    with pytest.raises(NoJsonError):
        parse(text)
    if '"' not in text and text != "]":
        with pytest.raises(NoJsonError):
            parse("[" * 3000 + text + "]" * 2999)


@pytest.mark.parametrize(
    "value, text",
    [
        (UNDEFINED, "undefined"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("", ""),
        ([], ""),
        ([[]], ""),
        ([[], []], ","),
        ([None], ""),
        ([None, None], ","),
        ([1, None, 2], "1,,2"),
        ([1, [2, [3, [None, "x"]]], []], "1,2,3,,x,"),
        ([True, -0.0, math.inf, 1e21], "true,0,Infinity,1e+21"),
        ({}, "[object Object]"),
        ([{}, {"a": 1}], "[object Object],[object Object]"),
        ({"valueOf": 1, "toJSON": 2, "__proto__": {"toString": 3}}, "[object Object]"),
    ],
    ids=lambda value: "undefined" if value is UNDEFINED else repr(value),
)
def test_a_template_writes_a_value_as_its_text(value, text):
    assert template(value) == text


@pytest.mark.parametrize(
    "value", [{"toString": 1}, {"toString": None}, [{"toString": "x"}], [1, [[], {"toString": {}}]]], ids=repr
)
def test_an_object_with_a_tostring_of_its_own_has_no_text(value):
    with pytest.raises(NoTextError):
        template(value)
    assert stringify(value) == json.dumps(value, separators=(",", ":"))


def nested(levels, mark="["):
    return ("[" * levels + "]" * levels) if mark == "[" else ('{"a":' * levels + "1" + "}" * levels)


@pytest.mark.parametrize("mark", "[{")
@pytest.mark.parametrize("levels", [900, 1100, 4000])
def test_depth_that_javascript_writes_is_written(levels, mark):
    text = nested(levels, mark)

    assert stringify(parse(text)) == text
    if mark == "[" and levels < JOIN_LEVELS:
        assert template(parse(text)) == ""


@pytest.mark.parametrize("mark", "[{")
@pytest.mark.parametrize("levels", [STRINGIFY_LEVELS + 1, STRINGIFY_LEVELS + 20, 100_000])
def test_depth_that_no_engine_writes_is_too_deep_and_no_crash(levels, mark):
    value = parse(nested(levels, mark))

    with pytest.raises(TooDeepError):
        stringify(value)
    if mark == "[":
        with pytest.raises(TooDeepError):
            template(value)
    else:
        assert template(value) == "[object Object]"


@pytest.mark.parametrize("levels", [3000, 6000])
def test_what_stands_after_a_deep_value_is_read_all_the_same(levels):
    deep, deeper = nested(levels), nested(levels, "{")
    text = f'{{"before":1,"deep":{deep},"after":[2,{{"x":{deeper}}}],"last":"ok"}}'
    value = parse(text)

    assert list(value) == ["before", "deep", "after", "last"]
    assert (value["before"], value["after"][0], value["last"]) == (1, 2, "ok")
    for spoilt in (text[:-1], text + "}", text.replace(":1}", ":1]", 1), text.replace("]]", "],]", 1)):
        with pytest.raises(NoJsonError):
            parse(spoilt)


def test_reading_and_writing_stand_on_no_stack_of_the_interpreter():
    value = parse(nested(4000, "{"))
    limit = sys.getrecursionlimit()

    assert limit < 4000
    assert stringify(value).count("{") == 4000
