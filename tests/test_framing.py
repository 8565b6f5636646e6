"""The framer: bytes in, records out, for any cut of the same bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import cut_at, each_byte
from turnlog.framing import Framer, Oversize


def frame(pieces, limit=None):
    framer = Framer(limit)
    records = []
    for piece in pieces:
        records += framer.feed(piece)
    last = framer.close()
    return [r if isinstance(r, Oversize) else bytes(r) for r in records], last


def expected(data, limit):
    """The same answer had the plain way."""
    parts = data.split(b"\n")
    records = [
        Oversize(len(part) + 1, True) if limit is not None and len(part) + 1 > limit else part for part in parts[:-1]
    ]
    last = parts[-1] or None
    if last and limit is not None and len(last) > limit:
        last = Oversize(len(last), False)
    return records, last


BYTES = st.lists(st.sampled_from([b"\n", b"a", b"bc", b"\r", b"\xe2\x80\xa8", b"defghij", b"\0"]), max_size=40).map(
    b"".join
)


@given(BYTES, st.lists(st.integers(0, 120), max_size=12), st.none() | st.integers(0, 12))
def test_any_cut_of_the_bytes_gives_the_same_records(data, cuts, limit):
    answer = expected(data, limit)

    assert frame([data], limit) == answer
    assert frame(cut_at(data, cuts), limit) == answer
    assert frame(each_byte(data), limit) == answer
    assert frame([b"", data, b""], limit) == answer


@pytest.mark.parametrize(
    "text",
    ["a\r", "a\u2028b", "a\u2029b", "a\u0085b", "a\x0cb", "a\x0bb", "a\x1cb", "a\x1eb", "\r\r", "a\0b"],
    ids=ascii,
)
def test_a_record_ends_at_lf_and_nowhere_else(text):
    raw = text.encode()

    assert frame([raw + b"\n" + raw + b"\n"]) == ([raw, raw], None)
    assert frame([raw]) == ([], raw)


def test_blank_lines_are_records():
    assert frame([b"\n\n a\n\n"]) == ([b"", b"", b" a", b""], None)


def test_no_bytes_give_no_record():
    assert frame([]) == frame([b""]) == ([], None)


@pytest.mark.parametrize("way", [lambda d: [d], each_byte], ids=["whole", "byte by byte"])
def test_the_limit_counts_the_newline(way):
    assert frame(way(b"1234\n12345\n"), 5) == ([b"1234", Oversize(6, True)], None)


@pytest.mark.parametrize("way", [lambda d: [d], each_byte], ids=["whole", "byte by byte"])
def test_an_unterminated_record_may_be_as_long_as_the_limit(way):
    assert frame(way(b"12345"), 5) == ([], b"12345")
    assert frame(way(b"123456"), 5) == ([], Oversize(6, False))


def test_a_record_over_the_limit_is_drained_and_the_next_one_is_read():
    assert frame(each_byte(b"x" * 100 + b"\nok\n"), 10) == ([Oversize(101, True), b"ok"], None)


def test_a_drained_record_is_counted_and_not_held():
    framer = Framer(10)
    for _ in range(1000):
        assert framer.feed(b"x" * 1000) == []

    assert framer.pending == 1_000_000
    assert len(framer._held) == 0
    assert framer.feed(b"\n") == [Oversize(1_000_001, True)]
    assert framer.pending == 0


def test_pending_is_what_is_in_no_record_yet():
    framer = Framer()
    framer.feed(b"ab\ncd")

    assert framer.pending == 2

    framer.feed(b"e\n")

    assert framer.pending == 0
    assert framer.close() is None


def test_a_record_in_a_thousand_pieces_is_searched_once():
    """Every byte is looked at by one `find`, and by no other."""
    searched = []

    class Watched(bytes):
        __slots__ = ()

        def find(self, *arguments):
            searched.append(len(self) - (arguments[1] if len(arguments) > 1 else 0))
            return super().find(*arguments)

    framer = Framer()
    for _ in range(1000):
        assert framer.feed(Watched(b"x" * 100)) == []

    assert sum(searched) == 100_000
    assert [bytes(r) for r in framer.feed(Watched(b"y\n"))] == [b"x" * 100_000 + b"y"]
    assert sum(searched) == 100_002  # the piece itself, and nothing after its LF


def test_records_of_a_chunk_are_views_and_the_chunk_is_not_copied():
    data = b"a\nb\n"

    assert all(isinstance(record, memoryview) and record.obj is data for record in Framer().feed(data))


def test_held_bytes_are_one_record_whatever_is_in_them():
    framer = Framer(20)
    framer.hold(b"a\nb\n")
    framer.hold(b"c")

    assert framer.close() == b"a\nb\nc"
