"""Keys that stand twice: the quick way never misses what the sure way finds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnlog.keys import MOST, looked_at

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.sampled_from(['":', '\\":', "{", "\ud83d"]),
)
KEYS = st.sampled_from(["a", "b", "type", "c\\", '":', "\u00e9", ""])


class Pairs(list):
    """An object as its pairs, keys repeated or not."""


VALUES = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=4).map(Pairs),
    max_leaves=12,
)


def text_of(value, colon, plain):
    if isinstance(value, Pairs):
        pairs = (json.dumps(key, ensure_ascii=plain) + colon + text_of(part, colon, plain) for key, part in value)
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(text_of(part, colon, plain) for part in value) + "]"
    return json.dumps(value, ensure_ascii=plain or any("\ud800" <= c <= "\udfff" for c in str(value)))


def repeated(value):
    """Whether a key stands twice, counted the plain way."""
    if isinstance(value, Pairs):
        keys = [key for key, _ in value]
        return len(set(keys)) < len(keys) or any(repeated(part) for _, part in value)
    return isinstance(value, list) and any(repeated(part) for part in value)


@given(
    st.lists(st.tuples(KEYS, VALUES), max_size=4).map(Pairs), st.sampled_from([":", ": ", " :", "\t:"]), st.booleans()
)
def test_keys_that_stand_twice_are_found_however_the_record_is_spelled(value, colon, plain):
    _, keys = looked_at(text_of(value, colon, plain).encode("utf-8", "replace"))

    assert bool(keys) == repeated(value)


def test_the_keys_are_named_and_the_last_value_stands():
    value, keys = looked_at(b'{"type":"x","uuid":"a","type":"y","in":{"uuid":1,"uuid":2}}\r')

    assert keys == ["uuid", "type"]
    assert value["type"] == "y"


@pytest.mark.parametrize(
    "text", [b'{"a":1}', b'{"a":1.50}', b'{"a" : 1e-7}', b'{"a":"\\u00e9"}', b'{"a":"\\ud83d"}', b"7"]
)
def test_nothing_is_found_where_there_is_nothing(text):
    assert looked_at(text)[1] == []


def test_objects_on_one_line_are_each_looked_at():
    assert looked_at(b'{"a":1}{"b":1,"b":2}')[1] == ["b"]


@pytest.mark.parametrize("text", [b"{", b"\xff\xfe", b'{"a":' * 100_000, b'{"a":1}x'])
def test_what_cannot_be_looked_at_is_said_so(text):
    assert looked_at(text)[1] is None


def test_a_hostile_record_is_told_in_a_few_words():
    many = b"{" + b",".join(b'"%032d%0200d":1' % (n // 2, 0) for n in range(1000)) + b"}"
    _, keys = looked_at(many)

    assert len(keys) == MOST
    assert all(len(key) <= 96 for key in keys)
