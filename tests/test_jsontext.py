"""One record's bytes to one JSON value: what is taken, what is refused, what is only cut off."""

import json
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from turnlog.errors import FaultKind
from turnlog.jsontext import (
    MAX_DEPTH,
    NotANumber,
    TextError,
    clean,
    decode,
    is_cut,
    is_utf8,
    marked_value_of,
    object_end,
    value_of,
)

# Names, not values: the accept and reject list, in the spirit of the JSON parsing test suites.
ACCEPTED = {
    "empty object": b"{}",
    "white space around": b" \t\r\n{ } \r\n",
    "all escapes": rb'{"a":"\"\\\/\b\f\n\r\t\u0041"}',
    "a pair of surrogates": rb'{"a":"\ud83d\ude00"}',
    "a lone high surrogate": rb'{"a":"\ud83d"}',
    "a lone low surrogate": rb'{"a":"\udc00 x"}',
    "two high surrogates": rb'{"a":"\ud800\ud800"}',
    "an escaped NUL": rb'{"a":"\u0000"}',
    "DEL": b'{"a":"\x7f"}',
    "line separators": '{"a":"\u2028\u2029\u0085"}'.encode(),
    "the last code point": '{"a":"\U0010ffff"}'.encode(),
    "minus zero": b'{"a":-0}',
    "exponents": b'{"a":[1e5,1E+5,1e-5,0.1e1]}',
    "an integer of 64 bits and more": b'{"a":184467440737095516160000}',
    "the same key twice": b'{"a":1,"a":2}',
    "an empty key": b'{"":0}',
}
REFUSED = {
    "nothing": b"",
    "text": b"nope",
    "a comma at the end": b'{"a":1,}',
    "a comma in a list": b'{"a":[1,]}',
    "no comma": b'{"a":1 "b":2}',
    "no colon": b'{"a" 1}',
    "single quotes": b"{'a':1}",
    "a bare key": b"{a:1}",
    "a comment": b'{"a":1/**/}',
    "a leading zero": b'{"a":01}',
    "a leading plus": b'{"a":+1}',
    "no digit before the point": b'{"a":.5}',
    "no digit after the point": b'{"a":1.}',
    "no exponent": b'{"a":1e}',
    "hexadecimal": b'{"a":0x1}',
    "a word": b'{"a":nul}',
    "a tab in a string": b'{"a":"\t"}',
    "a newline in a string": b'{"a":"\n"}',
    "a bad escape": rb'{"a":"\x41"}',
    "a short escape": rb'{"a":"\u12"}',
    "a signed escape": rb'{"a":"\u+123"}',
    "something behind": b"{} x",
    "two objects": b"{}{}",
    "a NUL behind": b"{}\0",
    "a form feed": b"\x0c{}",
    "a no-break space": "\u00a0{}".encode(),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "other digits": '{"a":١}'.encode(),
    "cut": b'{"a":',
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_json_is_read(name):
    assert decode(ACCEPTED[name].decode()) == json.loads(ACCEPTED[name])


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_json_is_refused(name):
    with pytest.raises(TextError) as caught:
        decode(REFUSED[name].decode())

    assert caught.value.kind is FaultKind.INVALID_JSON


@pytest.mark.parametrize("text", ["[]", "1", '"a"', "null", "true", "-0.5", " [{}] ", "NaN"])
def test_another_value_than_an_object_is_no_record(text):
    with pytest.raises(TextError) as caught:
        decode(text)

    assert caught.value.kind is FaultKind.NOT_AN_OBJECT


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_a_bare_word_is_marked_and_not_taken_for_a_number(word):
    mark = decode(f'{{"a":{word}}}')["a"]

    assert isinstance(mark, NotANumber)
    assert mark.word


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" * 400 + ".0", "1e999999999"])
def test_a_number_out_of_range_is_marked(number):
    mark = decode(f'{{"a":{number}}}')["a"]

    assert isinstance(mark, NotANumber)
    assert not mark.word


def test_an_overlong_integer_is_marked_and_costs_nothing():
    mark = decode('{"a":' + "9" * 1_000_000 + "}")["a"]

    assert isinstance(mark, NotANumber)
    assert mark.finite


def test_integers_stay_exact():
    assert decode('{"a":18446744073709551615,"b":9007199254740993}') == {"a": 2**64 - 1, "b": 2**53 + 1}


def nested(levels, opening=b"[", closing=b"]"):
    return b'{"a":' + opening * levels + (b"1" if opening != b"[" else b"") + closing * levels + b"}"


def deepest(value):
    levels = 0
    while isinstance(value, dict | list) and value:
        value, levels = value["a"] if isinstance(value, dict) else value[0], levels + 1
    return levels + isinstance(value, dict | list)


@pytest.mark.parametrize(
    "shape", [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")], ids=["lists", "objects", "both"]
)
def test_500_levels_are_read_however_deep_the_caller_is(shape):
    levels = (MAX_DEPTH - 1) // (2 if len(shape[1]) == 2 else 1)
    text = nested(levels, *shape).decode()

    def below(frames):
        return decode(text) if not frames else below(frames - 1)

    room = sys.getrecursionlimit() - 400
    limit = sys.getrecursionlimit()
    for frames in (0, room):
        value = below(frames if frames < limit else 0)
        assert MAX_DEPTH - 1 <= deepest(value) <= MAX_DEPTH


@pytest.mark.parametrize("levels", [100_000, 1_000_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_100_000_levels_are_a_fault_and_no_crash(levels, opening):
    closed = nested(levels, opening, b"]" if opening == b"[" else b"}")
    for text in (closed.decode(), (b'{"a":' + opening * levels).decode()):
        with pytest.raises(TextError) as caught:
            decode(text)
        assert caught.value.kind is FaultKind.TOO_DEEP


def test_every_depth_between_is_read_or_faulted():
    for levels in (*range(501, 1100, 37), 3000, 9000, 30_000):
        try:
            decode(nested(levels).decode())
        except TextError as error:
            kind = error.kind
        else:
            kind = None
        assert kind in {None, FaultKind.TOO_DEEP}


# -- values kept as text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[]), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.booleans())
def test_a_value_kept_as_text_comes_back_as_it_was(value, ascii_only):
    if not ascii_only and not json.dumps(value, ensure_ascii=False).isascii():
        ascii_only = any(0xD800 <= ord(c) < 0xE000 for c in json.dumps(value, ensure_ascii=False))
    text = json.dumps(value, ensure_ascii=ascii_only).encode()

    assert value_of(text) == marked_value_of(text) == json.loads(text)


def test_numbers_that_cannot_be_had_are_none_in_a_value_asked_for_later():
    assert value_of(b'{"a":1e400,"b":%s,"c":1}' % (b"9" * 5000)) == {"a": None, "b": None, "c": 1}


def test_a_value_asked_for_later_never_fails_for_its_depth():
    assert deepest(value_of(b'{"a":' + b"[" * 20_000 + b"]" * 20_000 + b"}")) == 20_001


@settings(max_examples=40)
@given(JSON)
def test_the_slow_reading_of_deep_values_equals_the_quick_one(value):
    from turnlog import jsontext

    for text in (json.dumps(value), json.dumps(value, indent=1)):
        found, end = jsontext._deep(text, 0, jsontext._DECODER)
        assert found == json.loads(text)
        assert end == len(text)
        for cut in range(len(text)):
            assert _slowly(text[:cut]) is _whole(text[:cut])


def _slowly(text):
    """Whether the slow reading takes the whole text."""
    from turnlog import jsontext

    try:
        return not text[jsontext._deep(text, 0, jsontext._DECODER)[1] :].strip()
    except ValueError:
        return False


# -- is it cut off?

TEXTS = [
    b'{"a":1,"b":[true,false,null],"c":"x\\n\\u00e9\\\\ y","d":{"e":-1.5e+10,"f":[]},"g":{}}',
    b' { "a" : [ 1 , 2.0 , [ ] , { } ] , "" : "" } ',
    '{"ünï":"😀 \u2028 é"}'.encode(),
    b'[1,[2,[3,"\\ud83d\\ude00"]],{"a":null}]',
    b'"a string\\t\\u0041"',
    b'{"deep":' + b"[" * 50 + b"]" * 50 + b"}",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_every_proper_prefix_is_cut_and_no_whole_text_is(text):
    whole = text.rstrip()
    for end in range(len(whole)):
        assert is_cut(whole[:end]), end
    assert not is_cut(text)
    assert not is_cut(whole)


@pytest.mark.parametrize("text", [b"12", b"-0", b"1.5e3", b"true", b"null", b'""', b"{}", b"[] "])
def test_a_whole_value_is_not_cut(text):
    assert not is_cut(text)


@pytest.mark.parametrize(
    "text", [b"-", b"1.", b"1e", b"1e+", b"-0.", b"t", b"fals", b"nul", b'"', b'"\\', b'"\\u', b'"\\u00f']
)
def test_a_scalar_may_be_cut(text):
    assert is_cut(text)


BEYOND_MENDING = [
    b"xyz",
    b"nulx",
    b"{} x",
    b"{}{",
    b'{"a":1}{"b":',
    b"{,",
    b'{"a",',
    b'{"a"}',
    b'{"a":1,}',
    b"[1,,",
    b"[1 2",
    b"{1",
    b"{a",
    b"]",
    b"[}",
    b'{"a":]',
    b'{"a":01',
    b"-x",
    b"1.e",
    b"+",
    b".5",
    b'"\\x',
    b'"\\u00g',
    b'"\n',
    b'"\0',
    b'{"a":"b\0\0\0\0',
    b'{"a":1\0',
    b"\0\0\0",
    b"\0",
    b"NaN",
    b'{"a":Na',
    b'{"a":Infinity',
    b"\xef\xbb\xbf{",
    b'"\xff',
    b'"\xc0',
    b'"\xc1',
    b'"\xf5',
    b'"\xed\xa0',  # would be a surrogate
    b'"\xe0\x80',  # overlong
    b'"\xf4\x90',  # past the last code point
    b'"\xf0\x80',
    b'"\x80',
    b'"\xe2\x82x',
    b"{\xe2\x82",  # a character cut where no character can stand
    b'{"a":1\xc3',
    b'"\\\xc3',
    b'"\\u12\xc3',
    b'{"a":tru\xc3',
    b"{}\xc3",
]


@pytest.mark.parametrize("text", BEYOND_MENDING, ids=range(len(BEYOND_MENDING)))
def test_what_no_continuation_could_mend_is_not_cut(text):
    assert not is_cut(text)


@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4), st.data(), st.booleans(), st.sampled_from([None, 1]))
def test_a_document_cut_at_any_byte_is_cut_and_with_rubbish_behind_is_not(value, data, ascii_only, indent):
    try:
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent).encode()
    end = data.draw(st.integers(0, len(text) - 1))

    assert is_cut(text[:end])
    assert not is_cut(text + data.draw(st.sampled_from([b"x", b"{", b"\xc3", b"\0", b"}", b'"', b"1"])))
    assert not is_cut(text[:end] + b"\xff")
    assert not is_cut(text[:end] + b"\0")


@given(st.binary(max_size=12))
@example(b'"\xf0\x9f\x98')
def test_cut_bytes_can_really_be_continued(data):
    """The other direction: where it says cut, one of a few continuations is whole JSON."""
    if not is_cut(data):
        return
    closers = _closings(data)
    assert any(_whole(data + closing) for closing in closers), data


def _closings(data):
    tails = [b"\x80" * n for n in range(4)] + [b"\xa0\x80", b"\x90\x80\x80"]
    within = [b"", b"0", b"0000", b"000", b"00", b"n", b"rue", b"ue", b"e", b"alse", b"lse", b"se", b"ull", b"ll", b"l"]
    after = [b"", b'"', b":0", b'":0', b'"":0', b"0", b'"a":0', b"u0000", b'""', b"0}"]
    closes = [b"", b"]", b"}", b"]}", b"}]", b"}}", b"]]", b"]]]", b"}]}", b"]}]", b"[]", b"]]]]", b"]]]]]", b"]]]]]]"]
    quote = [b"", b'"', b'":0']
    return (t + w + a + q + c for t in tails for w in within for a in after for q in quote for c in closes)


def _whole(data):
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def test_depth_cannot_crash_the_scanner():
    assert is_cut(b'{"a":' * 100_000)
    assert is_cut(b"[" * 200_000)
    assert not is_cut(b"[" * 200_000 + b"}")


def test_a_long_cut_string_is_scanned_once():
    assert is_cut(b'{"a":"' + b"x" * 20_000_000)
    assert is_cut(b'{"a":"' + b"\\n" * 2_000_000)


# -- the rest


@given(st.binary(max_size=40))
def test_utf8_is_what_the_interpreter_says(data):
    try:
        data.decode()
        good = True
    except UnicodeDecodeError:
        good = False

    assert is_utf8(data) is good
    assert is_utf8(memoryview(data)) is good


@given(st.text("aé€😀", min_size=5, max_size=40), st.integers(4, 9), st.integers(0, 200), st.booleans())
def test_utf8_is_checked_in_pieces_without_cutting_a_character(text, piece, at, broken):
    from turnlog import jsontext

    data = bytearray(text.encode())
    if broken:
        data[at % len(data)] ^= 0xC0
    kept, jsontext._PIECE = jsontext._PIECE, piece
    try:
        found = is_utf8(bytes(data))
    finally:
        jsontext._PIECE = kept
    assert found is is_utf8(bytes(data))


@given(st.text(st.characters(exclude_categories=[])))
def test_clean_text_can_be_encoded_and_only_lone_surrogates_change(text):
    cleaned = clean(text)

    cleaned.encode()
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    assert cleaned == "".join("�" if 0xD800 <= ord(c) < 0xE000 else c for c in joined)


def test_object_end_says_how_far_it_looked():
    assert object_end('x{"a":1}y', 1) == (8, 8)
    assert object_end("[1]", 0)[0] is None
    end, looked = object_end('{"a":"' + "x" * 1000, 0)
    assert end is None
    assert looked == 1006
    assert object_end('{"a":' * 100_000, 0)[0] is None
