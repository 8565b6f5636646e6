"""The raw reader: every byte, where it stands, and nothing made of it."""

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnlog import raw
from turnlog.contract import ReadStatus
from turnlog.errors import (
    InvalidOptionsError,
    LineFault,
    SnapshotTruncated,
    SourceCorrupt,
    SourceTooLarge,
    SourceUnreadable,
)
from turnlog.raw import RawRecord, read_raw
from turnlog.zstd import MAGIC

try:
    from compression import zstd
except ImportError:
    from backports import zstd

ANY = b'{"a":1}\n\n \xff\x00not json\r\nlast'


class Dripping(io.RawIOBase):
    """Gives a byte at a time, as a slow pipe does."""

    def __init__(self, data):
        super().__init__()
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.data.read(min(size, 1))


def put(path, data):
    path.write_bytes(data)
    return path


def test_records_are_exact_bytes_with_their_delimiters_and_offsets(tmp_path):
    reader = read_raw(put(tmp_path / "x.jsonl", ANY))

    assert list(reader) == [
        RawRecord(0, 8, 1, b'{"a":1}\n', True),
        RawRecord(8, 9, 2, b"\n", True),
        RawRecord(9, 22, 3, b" \xff\x00not json\r\n", True),
        RawRecord(22, 26, 4, b"last", False),
    ]


def test_the_summary_accounts_for_every_byte(tmp_path):
    reader = read_raw(put(tmp_path / "x.jsonl", ANY))
    list(reader)

    summary = reader.finish()

    assert summary.status is ReadStatus.COMPLETE
    assert (summary.lines, summary.records, summary.bytes_read) == (4, 4, 26)
    assert (summary.complete_through, summary.consumed_through) == (26, 22)
    assert summary.bytes.total() == summary.bytes.decoded == 26


def test_an_empty_file_has_no_record_and_is_complete(tmp_path):
    reader = read_raw(put(tmp_path / "x.jsonl", b""))

    assert list(reader) == []
    assert reader.finish().status is ReadStatus.COMPLETE


@given(st.binary(max_size=300) | st.lists(st.sampled_from([b"\n", b"\r", b"a", b"\0", b"{}"])).map(b"".join))
def test_the_records_joined_together_are_the_source(data):
    reader = read_raw(io.BytesIO(data))
    records = list(reader)

    assert b"".join(record.bytes for record in records) == data
    assert [record.start for record in records] == [0, *(record.end for record in records)][: len(records)]
    assert [record.line for record in records] == list(range(1, len(records) + 1))
    assert all(record.bytes.count(b"\n") == record.terminated for record in records)
    assert all(record.bytes.endswith(b"\n") == record.terminated for record in records)
    assert reader.finish().bytes_read == len(data)


@given(st.binary(max_size=120), st.integers(1, 12))
def test_chunk_size_never_changes_the_result(data, limit):
    whole, slow = (read_raw(source(data), max_record_bytes=limit) for source in (io.BytesIO, Dripping))

    assert list(whole) == list(slow)
    assert whole.finish() == slow.finish()


@given(st.lists(st.sampled_from([b"\n", b"a", b"bb", b"{}"])).map(b"".join), st.integers(0, 12))
def test_reading_on_from_the_mark_gives_what_reading_through_gives(data, count):
    first = read_raw(io.BytesIO(data))
    given = [record for _, record in zip(range(count), first, strict=False)]
    mark = first.finish().consumed_through
    rest = io.BytesIO(data)
    rest.seek(mark)

    again = list(read_raw(rest, mark))

    head = [record for record in given if record.terminated]
    assert [(r.start, r.bytes) for r in head + again] == [(r.start, r.bytes) for r in read_raw(io.BytesIO(data))]


@given(st.binary(max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_a_range_is_exactly_that_range(data, a, b):
    start, stop = sorted((min(a, len(data)), min(b, len(data))))
    source = io.BytesIO(data)
    source.seek(start)

    records = list(read_raw(source, start, stop))

    assert b"".join(record.bytes for record in records) == data[start:stop]


def test_a_path_is_read_from_its_offset(tmp_path):
    path = put(tmp_path / "x.jsonl", ANY)

    assert [(r.start, r.bytes) for r in read_raw(path, 9)] == [(9, b" \xff\x00not json\r\n"), (22, b"last")]
    assert [r.bytes for r in read_raw(str(path), 9, 12)] == [b" \xff\x00"]


def test_leaving_early_is_no_proof_and_the_rest_can_be_had(tmp_path):
    reader = read_raw(put(tmp_path / "x.jsonl", ANY))
    first = next(iter(reader))

    summary = reader.finish()

    assert summary.status is ReadStatus.STOPPED_EARLY
    assert (summary.complete_through, summary.consumed_through) == (8, 8)
    assert summary.bytes.total() == summary.bytes_read
    assert first.bytes + b"".join(record.bytes for record in reader) == ANY
    assert reader.finish().status is ReadStatus.COMPLETE


def test_a_record_over_the_limit_is_drained_before_the_next_one():
    data = b"short\n" + b"x" * 100 + b"\nnext\n"

    reader = read_raw(Dripping(data), max_record_bytes=10)
    items = list(reader)

    assert [type(item) for item in items] == [RawRecord, LineFault, RawRecord]
    assert (items[1].fault, items[1].line, items[1].start, items[1].end) == ("too_long", 2, 6, 107)
    assert (items[2].start, items[2].line) == (107, 3)
    summary = reader.finish()
    assert (summary.status, summary.faults) == (ReadStatus.COMPLETE_WITH_FAULTS, {"too_long": 1})
    assert (summary.complete_through, summary.consumed_through) == (6, len(data))
    assert (summary.bytes.decoded, summary.bytes.faulty) == (11, 101)


def test_the_limit_counts_the_delimiter():
    assert [item.kind for item in read_raw(io.BytesIO(b"123\n1234\n"), max_record_bytes=4)] == ["raw", "fault"]
    assert [item.kind for item in read_raw(io.BytesIO(b"1234"), max_record_bytes=4)] == ["raw"]
    assert [item.kind for item in read_raw(io.BytesIO(b"x" * 9_000_000 + b"\n"))] == ["fault"]
    assert [item.kind for item in read_raw(io.BytesIO(b"x" * 9_000_000 + b"\n"), max_record_bytes=None)] == ["raw"]


def test_a_growing_file_reads_as_it_was_when_it_was_opened(tmp_path):
    path = put(tmp_path / "x.jsonl", b"one\n")
    reader = read_raw(path)
    with path.open("ab") as more:
        more.write(b"two\n")

    assert [record.bytes for record in reader] == [b"one\n"]
    assert reader.finish().status is ReadStatus.COMPLETE


def test_a_file_cut_under_its_reader_fails_after_what_there_was(tmp_path):
    path = put(tmp_path / "x.jsonl", b"one\ntwo\n")
    reader = read_raw(path)
    os.truncate(path, 6)
    found = []

    with pytest.raises(SnapshotTruncated) as failed:
        found.extend(iter(reader))

    assert (failed.value.expected, failed.value.actual) == (8, 6)
    assert [record.bytes for record in found] == [b"one\n", b"tw"]
    assert reader.finish().status is ReadStatus.FAILED
    assert list(reader) == []


def test_a_stop_past_the_end_is_a_source_too_short(tmp_path):
    path = put(tmp_path / "x.jsonl", b"one\ntwo")
    found = []

    with pytest.raises(SnapshotTruncated):
        found.extend(read_raw(path, 0, 100))

    assert [record.bytes for record in found] == [b"one\n", b"two"]
    with pytest.raises(SnapshotTruncated):
        read_raw(path, 8)


def test_a_file_over_its_limit_is_refused_at_opening(tmp_path):
    with pytest.raises(SourceTooLarge):
        read_raw(put(tmp_path / "x.jsonl", ANY), max_file_bytes=25)
    assert len(list(read_raw(tmp_path / "x.jsonl", max_file_bytes=26))) == 4


def test_a_stream_over_its_limit_gives_what_is_whole_before_it():
    reader = read_raw(io.BytesIO(b"one\ntwo\nthree\n"), max_file_bytes=9)
    found = []

    with pytest.raises(SourceTooLarge):
        found.extend(reader)

    assert [record.bytes for record in found] == [b"one\n", b"two\n"]
    summary = reader.finish()
    assert (summary.status, summary.bytes.pending) == (ReadStatus.FAILED, 1)
    assert summary.bytes.total() == summary.bytes_read == 9


@pytest.mark.parametrize(
    "asked",
    [
        {"start": -1},
        {"start": None},
        {"start": 5, "stop": 4},
        {"stop": -1},
        {"start": True},
        {"stop": "5"},
        {"max_record_bytes": -1},
        {"max_file_bytes": 1.5},
        {"stop": 10, "max_file_bytes": 9},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused(asked):
    with pytest.raises(InvalidOptionsError):
        read_raw(io.BytesIO(b""), **asked)


def test_what_is_no_file_is_unreadable(tmp_path):
    for path in (tmp_path, tmp_path / "gone.jsonl", "a\0b"):
        with pytest.raises(SourceUnreadable):
            read_raw(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_a_fifo_never_hangs_the_reader(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")

    with pytest.raises(SourceUnreadable):
        read_raw(tmp_path / "pipe.jsonl")


def test_a_source_that_breaks_says_so_once_and_what_came_before_stays():
    class Breaking(io.RawIOBase):
        def __init__(self):
            super().__init__()
            self.left = [b"one\ntw", OSError(5, "input/output error")]

        def read(self, size=-1):
            found = self.left.pop(0)
            if isinstance(found, OSError):
                raise found
            return found

    reader = read_raw(Breaking())
    records = iter(reader)

    assert next(records).bytes == b"one\n"
    with pytest.raises(SourceUnreadable):
        next(records)
    assert list(reader) == []
    assert reader.finish().bytes.pending == 2


def test_a_text_file_is_refused():
    with pytest.raises(SourceUnreadable):
        list(read_raw(io.StringIO("text")))


def test_a_compressed_file_gives_its_decoded_bytes_and_their_offsets(tmp_path):
    path = put(tmp_path / "x.jsonl.zst", zstd.compress(ANY[:9]) + zstd.compress(ANY[9:]))

    assert b"".join(record.bytes for record in read_raw(path)) == ANY
    assert [(record.start, record.bytes) for record in read_raw(path, 22)] == [(22, b"last")]
    assert [record.bytes for record in read_raw(path, 0, 8)] == [b'{"a":1}\n']
    with pytest.raises(SnapshotTruncated):
        list(read_raw(path, 27))


def test_a_compressed_file_that_is_cut_is_corrupt_after_what_there_was(tmp_path):
    whole = zstd.compress(os.urandom(200_000) + b"\n")
    path = put(tmp_path / "x.jsonl.zst", zstd.compress(b"one\n") + whole[: len(whole) // 2])
    found = []

    with pytest.raises(SourceCorrupt):
        found.extend(read_raw(path))

    assert found[0].bytes == b"one\n"


def test_what_follows_the_last_frame_is_a_problem_and_no_error(tmp_path):
    path = put(tmp_path / "x.jsonl.zst", zstd.compress(b"one\n") + b"trailing")
    reader = read_raw(path)

    assert [record.bytes for record in reader] == [b"one\n"]
    assert len(reader.finish().problems) == 1
    assert not b"trailing".startswith(MAGIC)


def test_the_file_is_closed_at_the_end_and_a_callers_stays_open(tmp_path):
    path = put(tmp_path / "x.jsonl", ANY)
    own = read_raw(path)
    list(own)
    mine = io.BytesIO(ANY)
    list(read_raw(mine))

    assert own._source.closed
    assert not mine.closed
    with read_raw(path) as left:
        pass
    assert left._source.closed


def test_the_raw_room_knows_no_json_and_no_agent():
    names = set(vars(raw))

    assert not names & {"json", "decode", "FORMATS", "msgspec.json"}
