"""The pull shell: a path or a file object in, events out, and `finish()` to say how far it went.

Iterating gives events and faults in physical order; a source error is raised once and ends the reader. Reaching the end
of the iterator proves nothing by itself: `finish()` does.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from operator import length_hint
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from .contract import COMMAND_RECORD_BYTES, ByteCounts, Place, ReadOptions, ReadStatus, ReadSummary
from .errors import (
    FaultError,
    LineFault,
    SnapshotTruncated,
    SourceCorrupt,
    SourceError,
    SourceTooLarge,
    SourceUnreadable,
    TurnlogError,
    UnknownFormatError,
)
from .formats import by_name, place_of, sniffed
from .formats.base import Format
from .model import KINDS, Item
from .parser import Parser
from .seeming import seems
from .source import CHUNK, Source, as_bytes, opened
from .zstd import Unpacked

SNIFF = 1 << 20
SNIFF_LINES = 64
"""How far the format is looked for: lines that are no records of any agent do not become some later on."""


class Reader:
    """One source being read. Iterate it, or take `batches()` for whole lists at a time; then ask `finish()`.

    Iteration may be left and taken up again: nothing is lost between. Raises SourceError subclasses (once), FaultError
    with `faults="raise"`, and UnknownFormatError if no format was named and none can be told from the first records.
    Anything else is a bug. The file is closed at the end of the reading; close it earlier, or use it in a `with`.
    """

    def __init__(
        self, source: Source, format: Format | str | None, options: ReadOptions, place: Place, *, owned: bool = False
    ) -> None:
        options.check(KINDS)
        self.place = place
        self.options = options
        self.problems: list[str] = []
        self._source = source
        self._owned = owned
        self._head = Head(options.max_record_bytes, document=place.document)
        self._promised: int | None = options.stop_at
        self._batch: list[Item] = []
        # What of the batch was not handed out: an iterator over it knows by itself how far it is, for nothing.
        self._waiting: Iterator[Item] = iter(self._batch)
        self._over = False
        self._failed: TurnlogError | None = None
        self._told = False
        sought = by_name(format) if isinstance(format, str) else format
        self._parser: Parser | None = Parser(sought, options, place) if sought else None

    def __iter__(self) -> Iterator[Item]:
        raising = self.options.faults == "raise"
        while True:
            if raising:
                for item in self._waiting:
                    if item.__class__ is LineFault:
                        self._refuse(item)
                    yield item
            else:
                yield from self._waiting
            if self._over:
                break
            self._step()
        self._end()

    def batches(self) -> Iterator[list[Item]]:
        """The same items, a list for each chunk of the source: quicker, and a list is delivered whole."""
        raising = self.options.faults == "raise"
        while True:
            given = self._given
            batch = list(self._waiting)
            fault = next((n for n, i in enumerate(batch) if i.__class__ is LineFault), None) if raising else None
            if fault is not None:
                del self._batch[given + fault + 1 :]
                if fault:
                    yield batch[:fault]
                self._refuse(batch[fault])  # type: ignore[arg-type]
            if batch:
                yield batch
            if self._over:
                break
            self._step()
        self._end()

    @property
    def format(self) -> Format:
        """The format being read, told from the first records where none was named. Raises UnknownFormatError if it
        cannot be told, and what ends the source before that."""
        return self.parser.format

    @property
    def parser(self) -> Parser:
        """The push core below."""
        while self._parser is None and not self._over:
            self._hold([*self._waiting, *self._advance()])
        if self._parser is None:
            self._end()
            raise UnknownFormatError(f"{self.place.name}: {_UNTOLD}")
        return self._parser

    def finish(self) -> ReadSummary:
        """What was read so far; may be asked at any time and never reads on."""
        parser = self._parser
        if parser is None:
            taken = self._head.size
            failed = isinstance(self._failed, SourceError)
            summary = ReadSummary(bytes_read=taken, bytes=ByteCounts(pending=taken))
            summary.status = ReadStatus.FAILED if failed else ReadStatus.STOPPED_EARLY
        else:
            summary = parser.summary(delivered_through=self._undelivered())
            if self._failed is not None:
                summary.status = ReadStatus.FAILED
        summary.problems = list(self.problems)
        return summary

    def close(self) -> None:
        """Let go of the source if this reader opened it. What was read and not handed out yet stays undelivered."""
        self._over = True
        if self._owned and hasattr(self._source, "close"):
            self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hold(self, batch: list[Item]) -> None:
        """The items that wait to be handed out now."""
        self._batch = batch
        self._waiting = iter(batch)

    @property
    def _given(self) -> int:
        """How many of the batch were handed out."""
        return len(self._batch) - length_hint(self._waiting)

    def _undelivered(self) -> int | None:
        """Where the first line begins of which something was not handed out; None if all was."""
        batch, n = self._batch, self._given
        if n >= len(batch):
            return None
        # A record recovered from a damaged line begins inside it; the line's fault stands before it.
        line = batch[n].line
        while n and batch[n - 1].line == line:
            n -= 1
        return batch[n].start

    def _refuse(self, fault: LineFault) -> NoReturn:
        """The caller wants no faults: the first one ends the reading."""
        self.close()
        del self._batch[self._given :]
        raise FaultError(fault, self.place.name)

    def _step(self) -> None:
        """One chunk on; what it says waits in the batch."""
        self._hold([])
        self._hold(self._advance())

    def _advance(self) -> list[Item]:
        """Take one chunk from the source, and what it says."""
        try:
            data = self._pull()
        except SourceError as error:
            return self._broken(error)
        return self._take(data)

    def _wanted(self) -> int:
        """How many bytes to ask for: up to a chunk, and never past the promised end."""
        if self._promised is None:
            return CHUNK
        return max(0, min(CHUNK, self._promised - (self._parser.taken if self._parser else self._head.size)))

    def _pull(self) -> bytes:
        want = self._wanted()
        if not want:
            return b""
        try:
            return as_bytes(self._source.read(want), self.place.name)
        except SourceError:
            raise
        except Exception as error:
            raise SourceUnreadable(self.place.name, error) from error

    def _take(self, data: bytes) -> list[Item]:
        """What the next bytes of the source say; b"" is its end."""
        parser = self._parser
        if parser is None:
            self._head.add(data)
            found = self._head.format()
            if found is None and not self._head.is_enough and data:
                return []
            if found is None:
                said = seems(self._head.data)
                self._over = True
                self._failed = (
                    SourceCorrupt(self.place.name, said)
                    if said
                    else UnknownFormatError(f"{self.place.name}: {_UNTOLD}")
                )
                return []
            parser = self._parser = Parser(found, self.options, self.place)
            head, self._head = self._head.data, Head()
            items = parser.feed(head) if head else []
            return items if data or parser.error else items + self._finished(parser)
        if not data:
            return self._finished(parser)
        items = parser.feed(data)
        self._over = parser.error is not None
        return items

    def _finished(self, parser: Parser) -> list[Item]:
        """The source has ended: the last items, and whether all came that was promised."""
        self._over = True
        items = parser.close()
        if parser.error is None and self._promised is not None and parser.taken < self._promised:
            self._failed = SnapshotTruncated(self.place.name, self._promised, parser.taken)
        return items

    def _broken(self, error: SourceError) -> list[Item]:
        """The source failed: the items that were held back."""
        self._over = True
        self._failed = error
        items: list[Item] = []
        if self._parser is None and (found := self._head.format(last=True)):
            parser = self._parser = Parser(found, self.options, self.place)
            items = parser.feed(self._head.data)
        return items + self._parser.close_cut() if self._parser else items

    def _end(self) -> None:
        """Let go of the source; raise, once, what ended it."""
        self.close()
        if self._told:
            return
        self._told = True
        self.problems += getattr(self._source, "problems", [])
        failed = self._failed or (self._parser.error if self._parser else None)
        if failed is not None:
            self._failed = failed
            raise failed


_UNTOLD = "no agent's format could be told from the first records"


class Head:
    """The first bytes of a source, until they tell its format. Looked at again only when a line more is whole."""

    def __init__(self, longest: int | None = None, *, document: bool = False) -> None:
        self._data = bytearray()
        self._seen = 0  # bytes of whole lines that were looked at
        self._lines = 0
        self._most = max(SNIFF, longest or COMMAND_RECORD_BYTES)
        self._document = document
        self._ended = False

    @property
    def data(self) -> bytes:
        """All bytes so far."""
        return bytes(self._data)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self._data)

    @property
    def is_enough(self) -> bool:
        """Whether no more bytes are worth waiting for."""
        if self._document or not self._seen:
            return len(self._data) >= self._most
        return self._lines >= SNIFF_LINES or len(self._data) >= SNIFF

    def add(self, data: bytes) -> None:
        """The next bytes; b"" is the end."""
        self._data += data
        self._ended = not data

    def format(self, *, last: bool = False) -> Format | None:
        """The format, if the whole lines tell it (or, at the end, all there is)."""
        if last or self._ended or self.is_enough:
            return sniffed(self.data)
        end = self._data.rfind(b"\n") + 1
        if end <= self._seen or self._document:
            return None
        self._lines += self._data.count(b"\n", self._seen, end)
        self._seen = end
        return sniffed(bytes(self._data[:end]))


def read(
    path: str | os.PathLike[str],
    format: Format | str | None = None,
    options: ReadOptions | None = None,
    *,
    place: Place | None = None,
) -> Reader:
    """Read a session file. Its size now is the promised end, so a growing file reads as a consistent snapshot.

    format: a Format or its name; None tells it from the path or the first record. `.zst` files are read as a stream,
    offsets counting decoded bytes. place: what discovery knows of the file beyond its path. Raises SourceUnreadable, SourceTooLarge (at opening, where the size is known).
    """
    options = options or ReadOptions()
    options.check(KINDS)
    name = os.fsdecode(path)
    handle = opened(name)
    try:
        size = os.fstat(handle.fileno()).st_size
        place = place or place_of(name)
        if name.endswith(".zst"):
            return Reader(Unpacked(handle, name), format, options, place, owned=True)
        promised = size if options.stop_at is None else options.stop_at
        if options.max_file_bytes is not None and promised > options.max_file_bytes:
            raise SourceTooLarge(name, options.max_file_bytes)
        reader = Reader(handle, format, options, place, owned=True)
        reader._promised = promised
    except BaseException:
        handle.close()
        raise
    return reader


def read_from(
    file: Source, format: Format | str | None = None, options: ReadOptions | None = None, *, name: str = "<stream>"
) -> Reader:
    """Read from a binary file object: a pipe, a socket's file, an fsspec file. Nothing is sought, nothing is closed."""
    return Reader(file, format, options or ReadOptions(), place_of(name))


class AsyncReader:
    """The same reader for asyncio: `async for item in reader`. Reading happens in a thread, a chunk at a time; an
    async source (`await read(n)`) is awaited instead. Iteration may be left and taken up again."""

    def __init__(self, reader: Reader, source: Any = None) -> None:
        self.reader = reader
        self._source = source

    async def __aiter__(self) -> AsyncIterator[Item]:
        from asyncio import to_thread  # a tenth of the start of every command, which needs none of it

        reader = self.reader
        raising = reader.options.faults == "raise"
        while True:
            for item in reader._waiting:
                if raising and isinstance(item, LineFault):
                    reader._refuse(item)
                yield item
            if reader._over:
                break
            if self._source is None:
                await to_thread(reader._step)
            else:
                await self._awaited(self._source)
        reader._end()

    async def _awaited(self, source: Any) -> None:
        reader = self.reader
        want = reader._wanted()
        reader._hold([])
        try:
            data = as_bytes(await source.read(want), reader.place.name) if want else b""
        except SourceError as error:
            reader._hold(reader._broken(error))
        except Exception as error:  # noqa: BLE001  a file object of anybody's may raise anything
            failed = SourceUnreadable(reader.place.name, error)
            failed.__cause__ = error
            reader._hold(reader._broken(failed))
        else:
            reader._hold(reader._take(data))

    def finish(self) -> ReadSummary:
        """What was read so far."""
        return self.reader.finish()

    def close(self) -> None:
        """Let go of the source if this reader opened it."""
        self.reader.close()


def aread(
    path: str | os.PathLike[str], format: Format | str | None = None, options: ReadOptions | None = None
) -> AsyncReader:
    """`read` for asyncio."""
    return AsyncReader(read(path, format, options))


def aread_from(
    file: Any, format: Format | str | None = None, options: ReadOptions | None = None, *, name: str = "<stream>"
) -> AsyncReader:
    """`read_from` for asyncio: `file.read(n)` is awaited. Nothing is sought, nothing is closed."""
    return AsyncReader(Reader(file, format, options or ReadOptions(), place_of(name)), file)


def is_path(text: str) -> bool:
    """Whether a word of the command line names a file rather than a session."""
    return os.sep in text or text.endswith((".jsonl", ".zst", ".json")) or Path(text).exists()
