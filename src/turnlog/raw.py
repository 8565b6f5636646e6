"""The bytes of a source, record by record: framing and nothing else.

No JSON, no UTF-8, no agent. Joined together the records are the source, byte for byte; a record over the limit stands as
a fault with its exact range. What an archive above does with them (hashes, what to commit) is its own business.
"""

from __future__ import annotations

import builtins
import os
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Any, ClassVar, Self

import msgspec

from .contract import MAX_RECORD_BYTES, ByteCounts, ReadStatus, ReadSummary, count_fault
from .errors import (
    FaultKind,
    InvalidOptionsError,
    LineFault,
    SnapshotTruncated,
    SourceError,
    SourceTooLarge,
    SourceUnreadable,
)
from .framing import Framed, Framer, Oversize
from .source import CHUNK, Source, as_bytes, opened
from .zstd import Unpacked


class RawRecord(msgspec.Struct, gc=False, frozen=True):
    """One physical line as it stands, delimiter included.

    start, end: absolute byte offsets, half-open (decoded bytes of a compressed file). line: counted from 1 where
    reading began. terminated: it ends with LF; only the last record of a source may not.
    """

    start: int
    end: int
    line: int
    bytes: builtins.bytes
    terminated: bool

    kind: ClassVar[str] = "raw"


RawItem = RawRecord | LineFault


class RawReader:
    """One source being read raw. Iterate it; then ask `finish()`.

    Yields RawRecord, and a LineFault `too_long` in the place of a record over the limit. Raises SourceError subclasses,
    once. Iteration may be left and taken up again. Close it, or use it in a `with`, where it opened the file itself.
    """

    def __init__(
        self,
        source: Source,
        name: str,
        *,
        start: int = 0,
        promised: int | None = None,
        skip: int = 0,
        max_record_bytes: int | None = MAX_RECORD_BYTES,
        max_file_bytes: int | None = None,
        owned: bool = False,
    ) -> None:
        self.name = name
        self.start = start
        self._source = source
        self._promised = promised
        self._skip = skip
        self._limit = max_file_bytes
        self._owned = owned
        self._framer = Framer(max_record_bytes)
        self._waiting: deque[tuple[RawItem, bool]] = deque()  # each with whether its LF was seen
        self._line = 0
        self._at = start  # end of the last record framed
        self._taken = start  # end of the bytes taken in
        self._over = False
        self._failed: SourceError | None = None
        self._raised = False
        self._given = 0  # lines handed out
        self._consumed_through = start
        self._complete_through = start
        self._faults: dict[str, int] = {}
        self._bytes = ByteCounts()

    def __iter__(self) -> Iterator[RawItem]:
        while True:
            while self._waiting:
                item, terminated = self._waiting.popleft()
                self._give(item, terminated)
                yield item
            if self._over:
                break
            self._advance()
        self._end()

    def finish(self) -> ReadSummary:
        """What was read and handed out so far; may be asked at any time and never reads on.

        Offsets are absolute. `consumed_through` is where a later reading goes on; `bytes_read` counts from `start`.
        """
        whole = self._over and not self._waiting
        status = ReadStatus.STOPPED_EARLY
        if self._failed is not None:
            status = ReadStatus.FAILED
        elif whole:
            status = ReadStatus.COMPLETE_WITH_FAULTS if self._faults else ReadStatus.COMPLETE
        read = self._taken - self.start
        counted = msgspec.structs.replace(self._bytes)
        counted.pending = read - counted.decoded - counted.faulty
        return ReadSummary(
            status=status,
            lines=self._given,
            records=self._given - sum(self._faults.values()),
            bytes_read=read,
            complete_through=self._complete_through,
            consumed_through=self._consumed_through,
            bytes=counted,
            faults=dict(self._faults),
            problems=list(getattr(self._source, "problems", ())),
        )

    def close(self) -> None:
        """Let go of the source if this reader opened it."""
        self._over = True
        if self._owned and hasattr(self._source, "close"):
            self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _give(self, item: RawItem, terminated: bool) -> None:
        """Count an item as handed out."""
        self._given += 1
        size = item.end - item.start
        if terminated:
            self._consumed_through = item.end
        if isinstance(item, LineFault):
            count_fault(self._faults, item.fault)
            self._bytes.faulty += size
            return
        self._bytes.decoded += size
        if not self._faults:
            self._complete_through = item.end

    def _advance(self) -> None:
        """One chunk on."""
        try:
            data = self._pull()
        except SourceError as error:
            self._failed, self._over = error, True
            return
        limit = self._limit
        if limit is not None and self._taken + len(data) > limit:
            data = data[: limit - self._taken]
            self._failed, self._over = SourceTooLarge(self.name, limit), True
        self._taken += len(data)
        if data:
            self._frame(self._framer.feed(data))
            return
        if self._over:
            return
        self._over = True
        last = self._framer.close()
        if last is not None:
            self._frame([last], terminated=isinstance(last, Oversize) and last.terminated)
        if self._promised is not None and self._taken < self._promised:
            self._failed = SnapshotTruncated(self.name, self._promised, self._taken)

    def _frame(self, records: list[Framed], *, terminated: bool = True) -> None:
        for record in records:
            self._line += 1
            start = self._at
            item: RawItem
            if isinstance(record, Oversize):
                self._at += record.size
                item = LineFault(FaultKind.TOO_LONG, self._line, start, self._at)
            else:
                data = bytes(record) + b"\n" if terminated else bytes(record)
                self._at += len(data)
                item = RawRecord(start, self._at, self._line, data, terminated)
            self._waiting.append((item, terminated))

    def _pull(self) -> bytes:
        """Up to a chunk, never past the promised end; what lies before the start of a compressed file is let go."""
        while self._skip:
            data = self._read(min(CHUNK, self._skip))
            if not data:
                raise SnapshotTruncated(self.name, self.start, self.start - self._skip)
            self._skip -= len(data)
        want = CHUNK if self._promised is None else min(CHUNK, self._promised - self._taken)
        return self._read(want) if want > 0 else b""

    def _read(self, want: int) -> bytes:
        try:
            return as_bytes(self._source.read(want), self.name)
        except SourceError:
            raise
        except Exception as error:
            raise SourceUnreadable(self.name, error) from error

    def _end(self) -> None:
        """Let go of the file, and raise, once, what ended the source."""
        self.close()
        if self._failed is not None and not self._raised:
            self._raised = True
            raise self._failed


def read_raw(
    source: str | os.PathLike[str] | Source,
    start: int = 0,
    stop: int | None = None,
    *,
    max_record_bytes: int | None = MAX_RECORD_BYTES,
    max_file_bytes: int | None = None,
) -> RawReader:
    """Read a path, or a binary file object, as exact bytes, record by record.

    start, stop: absolute byte offsets; exactly that range is read, and a source that is shorter raises
    SnapshotTruncated after what there was. Begin where a record begins (such as `consumed_through` of the last reading):
    from the middle of one, the first record is its rest. A file object must stand at `start` already. Without `stop` a
    path is read to the size it has now. Offsets of a `.zst` path count decoded bytes, which are also what is given.

    Raises InvalidOptionsError for a range or limit that cannot be, SourceUnreadable, and SourceTooLarge at opening
    where the size is known.
    """
    asked: dict[str, Any] = {
        "start": start,
        "stop": stop,
        "max_record_bytes": max_record_bytes,
        "max_file_bytes": max_file_bytes,
    }
    for name, value in asked.items():
        no_number = isinstance(value, bool) or not isinstance(value, int) or value < 0
        if no_number and (value is not None or name == "start"):
            raise InvalidOptionsError(f"{name}: expected a number of bytes, found {value!r}")
    if stop is not None and stop < start:
        raise InvalidOptionsError(f"stop: expected an offset from start {start} on, found {stop}")
    if stop is not None and max_file_bytes is not None and stop > max_file_bytes:
        raise InvalidOptionsError(f"stop: {stop} is past max_file_bytes {max_file_bytes}")
    if not isinstance(source, str | os.PathLike):
        return RawReader(
            source, getattr(source, "name", None) or "<stream>", start=start, promised=stop,
            max_record_bytes=max_record_bytes, max_file_bytes=max_file_bytes,
        )  # fmt: skip
    path = os.fsdecode(source)
    handle = opened(path)
    try:
        if path.endswith(".zst"):
            return RawReader(
                Unpacked(handle, path), path, start=start, promised=stop, skip=start,
                max_record_bytes=max_record_bytes, max_file_bytes=max_file_bytes, owned=True,
            )  # fmt: skip
        size = os.fstat(handle.fileno()).st_size
        promised = size if stop is None else stop
        if max_file_bytes is not None and promised > max_file_bytes:
            raise SourceTooLarge(path, max_file_bytes)
        if start > size:
            raise SnapshotTruncated(path, start, size)
        handle.seek(start)
        return RawReader(
            handle, path, start=start, promised=promised,
            max_record_bytes=max_record_bytes, max_file_bytes=max_file_bytes, owned=True,
        )  # fmt: skip
    except BaseException:
        handle.close()
        raise
