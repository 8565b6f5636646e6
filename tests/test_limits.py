"""Limits: what is too long is drained and said, what is too large is refused, a snapshot is exactly its prefix, and
memory stays small (CONTRACT 3)."""

import json
import subprocess
import sys
import textwrap

import pytest

from reading import each_byte, identity, parse, pieces, same
from turnlog.contract import MAX_FILE_BYTES, MAX_RECORD_BYTES, MIB, ReadOptions, ReadStatus
from turnlog.errors import InvalidOptionsError, SnapshotTruncated, SourceTooLarge
from turnlog.reader import read, read_from

FORMAT = "claude"


def record(text="hello", n=1):
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "uuid": f"u{n}", "sessionId": "s", "message": message}).encode() + b"\n"


A, B = record("a"), record("b", 2)
WAYS = pytest.mark.parametrize(
    "way", [lambda d: [d], each_byte, lambda d: pieces(d, (3, 50))], ids=["whole", "bytes", "odd"]
)


def test_the_defaults_are_200_mib_a_file_and_8_mib_a_record():
    assert (MAX_FILE_BYTES, MAX_RECORD_BYTES) == (200 * MIB, 8 * MIB)
    assert (ReadOptions().max_file_bytes, ReadOptions().max_record_bytes) == (MAX_FILE_BYTES, MAX_RECORD_BYTES)


# -- records


@WAYS
def test_an_oversized_record_is_one_fault_with_its_exact_range_and_the_next_one_is_read(way):
    long = record("x" * 1000)
    result = parse(FORMAT, None, way(A + long + B), max_record_bytes=200)

    assert result.kinds() == ["meta", "message", "too_long", "message"]
    fault = result.faults[0]
    assert (fault.line, fault.start, fault.end) == (2, len(A), len(A) + len(long))
    assert result.events[-1].start == fault.end
    assert result.summary.bytes.faulty == len(long)
    assert result.summary.complete_through == len(A)


@WAYS
def test_the_limit_counts_the_newline(way):
    assert parse(FORMAT, None, way(A + B), max_record_bytes=len(A)).faults == []
    assert [f.line for f in parse(FORMAT, None, way(A + B), max_record_bytes=len(A) - 1).faults] == [1, 2]


@WAYS
def test_an_unterminated_record_over_the_limit_is_too_long_and_no_tail(way):
    result = parse(FORMAT, None, way(A + record("x" * 1000)[:-9]), max_record_bytes=200, tail="allow-incomplete")

    assert result.kinds()[-1] == "too_long"
    assert result.summary.status is ReadStatus.COMPLETE_WITH_FAULTS
    assert parse(FORMAT, A[:-1], max_record_bytes=len(A) - 1).faults == []


def test_no_limit_reads_everything():
    long = record("x" * (9 * MIB))

    assert parse(FORMAT, long, max_record_bytes=None).faults == []
    assert parse(FORMAT, long).kinds() == ["too_long"]


# -- files


def test_a_file_over_the_limit_is_refused_at_opening(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(A + B)

    with pytest.raises(SourceTooLarge) as caught:
        read(path, FORMAT, ReadOptions(max_file_bytes=len(A + B) - 1))
    assert caught.value.limit == len(A + B) - 1
    with read(path, FORMAT, ReadOptions(max_file_bytes=len(A + B))) as reader:
        assert len(list(reader)) == 3


@WAYS
def test_a_stream_over_the_limit_ends_at_the_first_byte_over_it(way):
    result = parse(FORMAT, None, way(A + B), max_file_bytes=len(A) + 5)

    assert isinstance(result.error, SourceTooLarge)
    assert result.kinds() == ["meta", "message"]
    assert result.summary.status is ReadStatus.FAILED
    assert result.summary.bytes_read == len(A) + 5
    assert result.summary.bytes.pending == 5
    assert result.summary.complete_through == len(A)


@WAYS
def test_exactly_at_the_limit_is_fine(way):
    result = parse(FORMAT, None, way(A + B), max_file_bytes=len(A + B))

    assert result.error is None
    assert result.summary.status is ReadStatus.COMPLETE


def test_a_large_file_is_never_an_empty_session():
    class Endless:
        def read(self, size):
            return b" " * size

    reader = read_from(Endless(), FORMAT, ReadOptions(max_file_bytes=MIB, max_record_bytes=None))
    with pytest.raises(SourceTooLarge):
        list(reader)
    assert reader.finish().status is ReadStatus.FAILED


# -- snapshots


@WAYS
@pytest.mark.parametrize("stop", [0, 1, len(A) - 1, len(A), len(A) + 1, len(A + B)])
def test_a_sealed_end_reads_exactly_that_prefix(way, stop):
    sealed = parse(FORMAT, None, way(A + B), stop_at=stop)
    same(sealed, parse(FORMAT, (A + B)[:stop]))

    assert sealed.summary.bytes_read == stop


def test_a_shorter_source_raises_after_the_events_that_were_there(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(A + B)
    reader = read(path, FORMAT, ReadOptions(stop_at=1000))
    items = []

    with pytest.raises(SnapshotTruncated) as caught:
        items.extend(iter(reader))
    assert len(items) == 3
    assert (caught.value.expected, caught.value.actual) == (1000, len(A + B))
    summary = reader.finish()
    identity(summary)
    assert summary.status is ReadStatus.FAILED
    assert summary.complete_through == len(A + B)
    assert list(reader) == []


def test_a_growing_file_reads_as_it_was_when_it_was_opened(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(A)
    reader = read(path, FORMAT)
    with path.open("ab") as file:
        file.write(B)

    assert [e.kind for e in reader] == ["meta", "message"]
    assert reader.finish().status is ReadStatus.COMPLETE
    assert reader.finish().bytes_read == len(A)


def test_a_file_that_shrinks_while_it_is_read_is_said(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(A * 10)
    reader = read(path, FORMAT)
    with path.open("r+b") as file:
        file.truncate(len(A))

    with pytest.raises(SnapshotTruncated):
        list(reader)
    assert reader.finish().complete_through == len(A)


@pytest.mark.parametrize(
    "options",
    [
        {"stop_at": -1},
        {"max_file_bytes": -1},
        {"max_record_bytes": "8"},
        {"max_record_bytes": True},
        {"stop_at": 10, "max_file_bytes": 9},
        {"tail": "loose"},
        {"faults": "hide"},
        {"codex_usage": "both"},
        {"include": frozenset({"nonsense"})},
        {"include": frozenset({3})},
    ],
    ids=str,
)
def test_options_that_cannot_be_meant_are_refused_at_once(options, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(A)

    with pytest.raises(InvalidOptionsError):
        parse(FORMAT, A, **options)
    with pytest.raises(InvalidOptionsError):
        read(path, None, ReadOptions(**options))


# -- memory, in a process of its own: the peak is that of the reading and nothing else

MEASURE = textwrap.dedent("""
    import sys, tracemalloc
    from turnlog.contract import ReadOptions
    from turnlog.reader import read_from

    class Made:
        '''A file object that makes its bytes up: head, filling repeated to a size, foot; again and again.'''
        def __init__(self, head, filling, size, foot, times=1):
            self.parts = self.make(head, filling, size, foot, times)
            self.rest = b''
        def make(self, head, filling, size, foot, times):
            block = filling * (65536 // len(filling))
            for _ in range(times):
                yield head
                left = size // len(filling) * len(filling)
                while left > 0:
                    piece = block[:left]
                    left -= len(piece)
                    yield piece
                yield foot
        def read(self, size):
            while not self.rest:
                self.rest = next(self.parts, None)
                if self.rest is None:
                    self.rest = b''
                    return b''
            out, self.rest = self.rest[:size], self.rest[size:]
            return out

    HEAD = b'{"type":"user","uuid":"u","sessionId":"s","message":{"role":"user","content":[{"type":"text","text":"'
    FOOT = b'"}]}}\\n'
    MIB = 1 << 20

    def peak(source, **options):
        reader = read_from(source, 'claude', ReadOptions(**options))
        tracemalloc.start()
        kinds = {}
        for item in reader:
            kinds[item.kind] = kinds.get(item.kind, 0) + 1
        top = tracemalloc.get_traced_memory()[1] / MIB
        tracemalloc.stop()
        return top, kinds, reader.finish()
""")


def measured(code):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE + textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_record_of_200_mib_is_drained_in_32_mib():
    got = measured("""
        import json
        top, kinds, summary = peak(Made(HEAD, b'x' * 64, 199 * MIB, FOOT), max_file_bytes=None)
        print(json.dumps([top, kinds, summary.bytes.faulty]))
    """)
    assert got[1] == {"fault": 1}
    assert got[2] > 198 * MIB
    assert got[0] < 32


@pytest.mark.slow
def test_a_file_of_ordinary_records_of_any_size_is_read_in_32_mib():
    got = measured("""
        import json
        top, kinds, summary = peak(Made(HEAD, b'x' * 64, 900_000, FOOT, times=60), max_file_bytes=None)
        small = peak(Made(HEAD, b'y' * 64, 640, FOOT, times=8_000), max_file_bytes=None)
        print(json.dumps([top, kinds, summary.status, small[0], small[1]]))
    """)
    assert got[1] == {"meta": 1, "message": 60}
    assert got[2] == "complete"
    assert got[0] < 32
    assert got[4]["message"] == 8_000
    assert got[3] < 32


@pytest.mark.slow
@pytest.mark.parametrize(
    "filling,foot",
    [
        ("b'x' * 64", "FOOT"),
        ("'é😀'.encode()", "FOOT"),
        ("b'x' * 64", "FOOT.rstrip()"),
        ("b'x' * 64", "b'\\\\ud83d' + FOOT"),
        ("b'x' * 64", "FOOT.replace(b']}}', b']}},')"),
    ],
    ids=["ascii", "emoji", "unterminated", "lone surrogate", "no json"],
)
def test_memory_is_at_most_six_times_the_longest_accepted_record(filling, foot):
    size = 24
    got = measured(f"""
        import json
        top, kinds, summary = peak(Made(HEAD, {filling}, {size} * MIB, {foot}), max_record_bytes=64 * MIB)
        print(json.dumps([top, kinds]))
    """)
    assert sum(got[1].values()) >= 1
    assert got[0] < 6 * size
