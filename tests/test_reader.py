"""The pull shell: a path or a file object in, items out, and finish() to say how far it went (CONTRACT 7, 8)."""

import asyncio
import hashlib
import io
import json
import os
import sys
import threading

import pytest

from reading import identity, plain
from turnlog.contract import ReadOptions, ReadStatus
from turnlog.errors import (
    FaultError,
    FaultKind,
    LineFault,
    SnapshotTruncated,
    SourceCorrupt,
    SourceError,
    SourceTooLarge,
    SourceUnreadable,
    TurnlogError,
    UnknownFormatError,
)
from turnlog.reader import AsyncReader, aread, aread_from, is_path, read, read_from

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FORMAT = "claude"


def record(text="hello", n=1, **more):
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "uuid": f"u{n}", "sessionId": "s", "message": message, **more}).encode() + b"\n"


A, B, C = record("a"), record("b", 2), record("c", 3)
BAD = b"nope\n"


@pytest.fixture
def file(tmp_path):
    def make(data, name="s.jsonl"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


def take(reader, seen, way="items"):
    """Every item into `seen`; what came before an error is there."""
    if way == "items":
        seen.extend(iter(reader))
    elif way == "batches":
        for batch in reader.batches():
            seen.extend(batch)
    else:
        asyncio.run(take_later(reader if isinstance(reader, AsyncReader) else AsyncReader(reader), seen))


async def take_later(reader, seen):
    async for item in reader:
        seen.append(item)


def ended(reader):
    summary = reader.finish()
    identity(summary)
    return summary


# -- finish()


def test_finish_before_the_first_read_says_stopped_early(file):
    with read(file(A), FORMAT) as reader:
        summary = ended(reader)

        assert (summary.status, summary.bytes_read, summary.lines) == (ReadStatus.STOPPED_EARLY, 0, 0)


def test_finish_never_reads_on_and_says_what_was_delivered(file):
    with read(file(A + B + C), FORMAT) as reader:
        items = iter(reader)
        ends = []
        for _ in range(4):
            item = next(items)
            ends.append((item.kind, ended(reader).complete_through))
            assert ended(reader).status is ReadStatus.STOPPED_EARLY or len(ends) == 4

        # The first record says two things: its end is reached when both were handed out.
        assert ends == [("meta", 0), ("message", len(A)), ("message", len(A + B)), ("message", len(A + B + C))]


def test_the_end_of_the_iterator_is_complete(file):
    with read(file(A + B), FORMAT) as reader:
        assert len(list(reader)) == 3
    summary = ended(reader)

    assert summary.status is ReadStatus.COMPLETE
    assert summary.is_complete
    assert summary.complete_through == summary.consumed_through == summary.bytes_read == len(A + B)
    assert (summary.lines, summary.records) == (2, 2)


def test_a_reading_left_and_taken_up_again_loses_nothing(file):
    with read(file(A + B + C), FORMAT) as reader:
        first = []
        for item in reader:
            first.append(item)
            if len(first) == 2:
                break
        assert ended(reader).complete_through == len(A)
        rest = list(reader)

    assert [plain(i) for i in first + rest] == [plain(i) for i in list(read(file(A + B + C), FORMAT))]
    assert ended(reader).status is ReadStatus.COMPLETE


def test_items_and_batches_can_be_mixed(file):
    with read(file(A + B + C), FORMAT) as reader:
        first = next(iter(reader))
        rest = [item for batch in reader.batches() for item in batch]

    assert [i.kind for i in [first, *rest]] == ["meta", "message", "message", "message"]
    assert ended(reader).status is ReadStatus.COMPLETE


def test_a_batch_is_delivered_whole(file):
    with read(file(A + B + C), FORMAT) as reader:
        next(reader.batches())

        assert ended(reader).complete_through == len(A + B + C)


def test_closing_early_is_stopped_early(file):
    with read(file(A + B), FORMAT) as reader:
        next(iter(reader))
    assert ended(reader).status is ReadStatus.STOPPED_EARLY


# -- marks


def test_the_first_fault_freezes_complete_through_and_not_consumed_through(file):
    with read(file(A + BAD + B), FORMAT) as reader:
        list(reader)
    summary = ended(reader)

    assert summary.status is ReadStatus.COMPLETE_WITH_FAULTS
    assert summary.complete_through == len(A)
    assert summary.consumed_through == len(A + BAD + B)


def test_an_unterminated_last_record_is_not_consumed(file):
    with read(file(A + B[:-1]), FORMAT) as reader:
        list(reader)
    summary = ended(reader)

    assert summary.status is ReadStatus.COMPLETE
    assert summary.complete_through == len(A + B) - 1
    assert summary.consumed_through == len(A)


def test_a_tolerated_tail_is_neither_complete_nor_consumed(file):
    with read(file(A + B[:-9]), FORMAT, ReadOptions(tail="allow-incomplete")) as reader:
        list(reader)
    summary = ended(reader)

    assert summary.status is ReadStatus.INCOMPLETE_TAIL
    assert summary.complete_through == summary.consumed_through == len(A)
    assert summary.bytes.tail == len(B) - 9
    assert summary.faults == {}


def test_a_tolerated_tail_needs_a_missing_newline_and_a_possible_continuation(file):
    for tail in (B[:-9] + b"\n", B[:-9] + b"\0", B[:-9] + b"\xff", B[:-1] + b"x", b"nope"):
        with read(file(A + tail), FORMAT, ReadOptions(tail="allow-incomplete")) as reader:
            list(reader)
        assert ended(reader).status is ReadStatus.COMPLETE_WITH_FAULTS


def test_a_tail_cut_inside_a_character_is_tolerated(file):
    cut = json.dumps({"type": "user", "message": {"content": "é😀"}}, ensure_ascii=False).encode()
    for end in range(1, len(cut)):
        with read(file(A + cut[:end]), FORMAT, ReadOptions(tail="allow-incomplete")) as reader:
            assert len(list(reader)) == 2
        assert ended(reader).status is ReadStatus.INCOMPLETE_TAIL


def test_inside_a_mended_line_nothing_of_it_is_consumed_yet(file):
    glued = A[:-1] + B
    with read(file(C + glued + C), FORMAT) as reader:
        items = iter(reader)
        kinds = []
        while len(kinds) < 4:
            item = next(items)
            kinds.append(item.kind)
            if item.line == 2:
                assert ended(reader).consumed_through == len(C)
                assert ended(reader).complete_through == len(C)
    assert kinds == ["meta", "message", "fault", "message"]


# -- faults


def test_faults_come_in_their_place(file):
    with read(file(BAD + A + BAD + B), FORMAT) as reader:
        assert [i.kind for i in reader] == ["fault", "meta", "message", "fault", "message"]


def test_faults_can_be_raised(file):
    options = ReadOptions(faults="raise")
    for way in ("items", "batches", "async"):
        seen = []
        reader = read(file(A + BAD + B), FORMAT, options)
        with pytest.raises(FaultError) as caught:
            take(reader, seen, way)
        assert [i.kind for i in seen] == ["meta", "message"]
        assert (caught.value.fault.line, caught.value.fault.start) == (2, len(A))
        assert "s.jsonl:2 (bytes" in str(caught.value)
        assert list(reader) == []
        assert ended(reader).complete_through == len(A)
        assert ended(reader).status is not ReadStatus.COMPLETE


def test_a_sentence_says_where_what_was_expected_and_what_was_found():
    fault = LineFault(
        FaultKind.INVALID_FIELD, 12, 41210, 41877, "$.message.usage.input", "a non-negative integer", "a string"
    )

    where, what = fault.sentence("x.jsonl").split(": ", 1)
    assert where == "x.jsonl:12 (bytes 41210-41877)"
    assert what.endswith("$.message.usage.input: expected a non-negative integer, found a string")


def test_no_sentence_holds_text_of_a_session(file):
    secret = "kept-secret"
    lines = [
        record(secret)[:-9] + b"\n",
        record(secret, timestamp=secret),
        record(secret, uuid=[secret]),
        record(secret, message=secret),
        json.dumps({secret: secret}).encode() + b"\n",
        json.dumps({"type": [secret]}).encode() + b"\n",
        (secret + "\n").encode(),
    ]
    with read(file(b"".join([A, *lines])), FORMAT) as reader:
        faults = [i for i in reader if i.kind == "fault"]

    assert len(faults) == len(lines)
    assert all(secret not in fault.sentence("f") for fault in faults)


# -- source errors


def test_a_source_error_is_raised_once_and_the_reader_is_over():
    class Failing(io.BytesIO):
        def read(self, size=-1):
            data = super().read(min(size, len(A)))
            if not data:
                raise OSError(5, "Input/output error")
            return data

    reader = read_from(Failing(A + B), FORMAT)
    seen = []
    with pytest.raises(SourceUnreadable) as caught:
        take(reader, seen)
    assert len(seen) == 3
    assert isinstance(caught.value.__cause__, OSError)
    assert "Input/output error" in str(caught.value)
    assert list(reader) == list(reader.batches()) == []
    summary = ended(reader)
    assert summary.status is ReadStatus.FAILED
    assert summary.complete_through == len(A + B)


def test_a_record_under_way_when_the_source_fails_is_pending():
    class Failing:
        def __init__(self):
            self.data = [A, B[:20]]

        def read(self, size):
            if not self.data:
                raise OSError("gone")
            return self.data.pop(0)

    reader = read_from(Failing(), FORMAT, ReadOptions(tail="allow-incomplete"))
    with pytest.raises(SourceUnreadable):
        list(reader)
    summary = ended(reader)
    assert (summary.bytes.pending, summary.status) == (20, ReadStatus.FAILED)


@pytest.mark.parametrize("error", [ValueError("I/O operation on closed file"), EOFError(), RuntimeError("x")], ids=repr)
def test_whatever_a_callers_file_object_raises_is_a_source_error(error):
    class Odd:
        def read(self, size):
            raise error

    with pytest.raises(SourceUnreadable) as caught:
        list(read_from(Odd(), FORMAT))
    assert caught.value.__cause__ is error
    with pytest.raises(SourceUnreadable):
        list(read_from(Odd()))


@pytest.mark.parametrize("given", ["text", None, 5], ids=repr)
def test_a_source_that_gives_no_bytes_is_said_and_never_taken_for_the_end(given):
    class Odd:
        def read(self, size):
            return given

    reader = read_from(Odd(), FORMAT)
    with pytest.raises(SourceUnreadable):
        list(reader)
    assert ended(reader).status is ReadStatus.FAILED


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_kind_of_bytes_will_do(kind):
    class Odd(io.BytesIO):
        def read(self, size=-1):
            return kind(super().read(size))

    assert len(list(read_from(Odd(A + B), FORMAT))) == 3


def test_a_missing_file_is_a_source_error(tmp_path):
    with pytest.raises(SourceUnreadable) as caught:
        read(tmp_path / "none.jsonl", FORMAT)
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert "none.jsonl" in str(caught.value)


@pytest.mark.parametrize("name", ["a\0b", "\udcff\ud800"], ids=ascii)
def test_a_name_that_no_system_takes_is_a_source_error(name):
    with pytest.raises(SourceUnreadable):
        read(name, FORMAT)


def test_a_folder_is_a_source_error(tmp_path):
    with pytest.raises(SourceUnreadable, match=r"folder|directory"):
        read(tmp_path, FORMAT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO on this system")
def test_a_fifo_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "f.jsonl")

    with pytest.raises(SourceUnreadable):
        read(tmp_path / "f.jsonl", FORMAT)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="this user may read everything")
def test_an_unreadable_file_is_a_source_error(file):
    path = file(A)
    path.chmod(0)

    with pytest.raises(SourceUnreadable):
        read(path, FORMAT)


def test_every_error_of_the_reader_has_one_base():
    for kind in (FaultError, SourceError, UnknownFormatError, SourceTooLarge, SnapshotTruncated, SourceCorrupt):
        assert issubclass(kind, TurnlogError)


# -- doors


def test_a_path_may_be_text_bytes_or_a_path(file):
    path = file(A)
    for name in (path, str(path), os.fsencode(path)):
        assert len(list(read(name, FORMAT))) == 2


def test_the_file_is_closed_at_the_end_of_the_reading(file):
    reader = read(file(A), FORMAT)
    list(reader)

    assert reader._source.closed


def test_a_callers_file_is_never_closed_nor_sought():
    class Kept:
        def __init__(self, data):
            self.read = io.BytesIO(data).read

        def seek(self, *_):
            raise AssertionError

        tell = close = seek

    source = Kept(A)
    with read_from(source, FORMAT) as reader:
        assert len(list(reader)) == 2


def test_an_fsspec_like_object_is_read():
    class Remote:
        """read(length=-1), short reads, no fileno, no readinto."""

        def __init__(self, data):
            self.data, self.at = data, 0

        def read(self, length=-1):
            out = self.data[self.at : self.at + min(length, 11)]
            self.at += len(out)
            return out

    assert len(list(read_from(Remote(A + B), FORMAT))) == 3
    assert len(list(read_from(Remote(A + B)))) == 3


def test_a_pipe_is_read_as_it_comes():
    out, into = os.pipe()

    def write():
        with open(into, "wb", buffering=0) as pipe:
            pipe.writelines(bytes([byte]) for byte in A + B)

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb", buffering=0) as pipe:
        reader = read_from(pipe, name="pipe")
        assert [i.kind for i in reader] == ["meta", "message", "message"]
    writer.join()
    assert ended(reader).status is ReadStatus.COMPLETE


def test_the_bytes_read_can_be_hashed(file):
    data = A + BAD + B[:-9]
    for options in (ReadOptions(sha256=True), ReadOptions(sha256=True, stop_at=len(A))):
        with read(file(data), FORMAT, options) as reader:
            list(reader)
        expected = hashlib.sha256(data[: options.stop_at]).hexdigest()
        assert ended(reader).sha256 == expected
    with read(file(data), FORMAT) as reader:
        list(reader)
    assert ended(reader).sha256 is None


def test_a_path_and_a_word_are_told_apart(tmp_path):
    assert is_path("a/b" if os.sep == "/" else "a\\b")
    assert is_path("x.jsonl")
    assert not is_path("0198c0de")


# -- which format


def test_the_format_is_told_from_the_first_records(file):
    for data in (A, BAD + A, b"\n\n" + A, b"\xef\xbb\xbf" + A, A[:-1]):
        with read(file(data)) as reader:
            assert reader.format.name == FORMAT
            assert [i.kind for i in reader if i.kind != "fault"] == ["meta", "message"]


def test_asking_for_the_format_loses_nothing():
    reader = read_from(io.BytesIO(A + B))

    assert reader.format.name == FORMAT
    assert len(list(reader)) == 3
    assert ended(reader).status is ReadStatus.COMPLETE


def test_a_long_first_record_still_tells_the_format():
    long = record("x" * 3_000_000)

    assert [i.kind for i in read_from(io.BytesIO(long + A))] == ["meta", "message", "message"]


@pytest.mark.parametrize("data", [b"", b"\n\n", BAD, BAD * 100, b'{"a":1}\n', b"[1]\n", b"{" * 100_000])
def test_no_known_format_is_said(data, file):
    for make in (lambda: read(file(data)), lambda: read_from(io.BytesIO(data))):
        reader = make()
        with pytest.raises(UnknownFormatError):
            list(reader)
        summary = ended(reader)
        assert summary.status is ReadStatus.STOPPED_EARLY
        assert list(reader) == []
        with pytest.raises(UnknownFormatError):
            reader.format  # noqa: B018
        reader.close()


def test_what_is_plainly_another_kind_of_file_is_said_instead(file):
    with pytest.raises(SourceCorrupt, match="UTF-16"):
        list(read(file(A.decode().encode("utf-16"))))


def test_an_agent_that_nobody_knows_is_said():
    with pytest.raises(UnknownFormatError, match="nobody"):
        read_from(io.BytesIO(A), "nobody")


def test_telling_the_format_of_a_slow_source_costs_no_square():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(1)

    reader = read_from(Slow(b"x" * 60_000))
    with pytest.raises(UnknownFormatError):
        list(reader)


# -- compressed


def test_a_zst_file_is_read_as_a_stream_of_decoded_bytes(file):
    frames = zstd.compress(A + B[:10]) + zstd.compress(B[10:] + C)
    with read(file(frames, "s.jsonl.zst"), FORMAT, ReadOptions(sha256=True)) as reader:
        items = list(reader)
    summary = ended(reader)

    assert [(i.start, i.end) for i in items if i.kind == "message"] == [
        (0, len(A)),
        (len(A), len(A + B)),
        (len(A + B), len(A + B + C)),
    ]
    assert summary.status is ReadStatus.COMPLETE
    assert summary.bytes_read == len(A + B + C)
    assert summary.sha256 == hashlib.sha256(A + B + C).hexdigest()


def test_the_format_of_a_zst_file_is_told_too(file):
    with read(file(zstd.compress(A), "s.jsonl.zst")) as reader:
        assert reader.format.name == FORMAT


@pytest.mark.parametrize("frames", [1, 2])
def test_a_cut_frame_gives_the_events_there_and_then_source_corrupt(file, frames):
    body = b"".join(record(os.urandom(200).hex(), n) for n in range(3000))
    data = zstd.compress(A) * (frames - 1) + zstd.compress(body)
    for cut in (len(data) - 1, len(data) // 2, len(data) - len(zstd.compress(body)) + 2):
        reader = read(file(data[:cut], "s.jsonl.zst"), FORMAT)
        seen = []
        with pytest.raises(SourceCorrupt):
            take(reader, seen)
        summary = ended(reader)
        assert summary.status is ReadStatus.FAILED
        assert summary.complete_through == (seen[-1].end if seen else 0)
        assert list(reader) == []


def test_a_broken_frame_is_source_corrupt(file):
    data = bytearray(zstd.compress(A * 1000))
    data[6] ^= 0xFF
    for broken in (bytes(data), b"this is no frame at all"):
        with pytest.raises(SourceCorrupt):
            list(read(file(broken, "s.jsonl.zst"), FORMAT))


def test_data_after_the_last_frame_is_a_problem(file):
    with read(file(zstd.compress(A) + b"something else", "s.jsonl.zst"), FORMAT) as reader:
        assert len(list(reader)) == 2
        assert list(reader) == []
    summary = ended(reader)

    assert summary.status is ReadStatus.COMPLETE
    assert len(summary.problems) == 1


def test_a_skippable_frame_is_skipped(file):
    skippable = b"\x50\x2a\x4d\x18\x05\0\0\0hello"
    data = skippable + zstd.compress(A) + skippable + zstd.compress(B) + skippable

    assert len(list(read(file(data, "s.jsonl.zst"), FORMAT))) == 3


def test_limits_of_a_zst_file_count_decoded_bytes(file):
    path = file(zstd.compress(A * 1000), "s.jsonl.zst")
    with pytest.raises(SourceTooLarge):
        list(read(path, FORMAT, ReadOptions(max_file_bytes=len(A) * 10)))
    with read(path, FORMAT, ReadOptions(stop_at=len(A) * 10)) as reader:
        assert len(list(reader)) == 11
    assert ended(reader).bytes_read == len(A) * 10
    with pytest.raises(SnapshotTruncated):
        list(read(path, FORMAT, ReadOptions(stop_at=len(A) * 1001)))


def test_a_zst_bomb_is_not_unpacked_at_once(file):
    path = file(zstd.compress(b" " * 300_000_000), "s.jsonl.zst")
    reader = read(path, FORMAT, ReadOptions(max_file_bytes=1_000_000))
    with pytest.raises(SourceTooLarge):
        list(reader)
    assert ended(reader).bytes_read == 1_000_000


# -- async


def gather(reader):
    async def run():
        return [item async for item in reader]

    return asyncio.run(run())


def test_the_async_reader_gives_the_same(file):
    path = file(A + BAD + B)
    reader = aread(path, FORMAT)

    assert [plain(i) for i in gather(reader)] == [plain(i) for i in read(path, FORMAT)]
    assert ended(reader).status is ReadStatus.COMPLETE_WITH_FAULTS
    reader.close()


class AsyncFile:
    def __init__(self, data, error=None):
        self.file, self.error = io.BytesIO(data), error

    async def read(self, size):
        await asyncio.sleep(0)
        data = self.file.read(min(size, 7))
        if not data and self.error:
            raise self.error
        return data


@pytest.mark.parametrize("format", [FORMAT, None])
def test_an_async_source_is_awaited(format):
    reader = aread_from(AsyncFile(A + B), format)

    assert len(gather(reader)) == 3
    assert ended(reader).status is ReadStatus.COMPLETE


def test_an_async_source_that_fails_is_a_source_error():
    reader = aread_from(AsyncFile(A + B, OSError("gone")), FORMAT)
    seen = []

    with pytest.raises(SourceUnreadable):
        take(reader, seen, "async")
    assert len(seen) == 3
    assert ended(reader).status is ReadStatus.FAILED


def test_an_async_source_is_sealed_too():
    reader = aread_from(AsyncFile(A + B), FORMAT, ReadOptions(stop_at=len(A)))

    assert len(gather(reader)) == 2
    assert ended(reader).bytes_read == len(A)


def test_an_async_reading_can_be_left_and_taken_up_again(file):
    async def run():
        reader = aread(file(A + B + C), FORMAT)
        seen = []
        async for item in reader:
            seen.append(item)
            if len(seen) == 2:
                break
        through = reader.finish().complete_through
        seen += [item async for item in reader]
        reader.close()
        return seen, through

    seen, through = asyncio.run(run())
    assert len(seen) == 4
    assert through == len(A)
