"""The pull shell: a path or a file object in, events out, and `finish()` to say how far it went.

Iterating gives events and faults in physical order; a source error is raised once and ends the reader. Reaching the end
of the iterator proves nothing by itself: `finish()` does.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from .contract import Place, ReadOptions, ReadSummary
from .errors import (
    FaultError,
    LineFault,
    SnapshotTruncated,
    SourceError,
    SourceTooLarge,
    SourceUnreadable,
    UnknownFormatError,
)
from .formats import by_name, place_of, sniffed
from .formats.base import Format
from .model import Item
from .parser import Parser
from .zstd import Unpacked

CHUNK = 1 << 18
"""Bytes asked of a source at a time: large enough that a call costs nothing, small enough that memory does not."""

SNIFF = 1 << 20


class Source(Protocol):
    """Any binary file object: `read(n)` gives up to n bytes, b"" at the end. A pipe may give fewer."""

    def read(self, size: int = ..., /) -> bytes | None: ...


class Reader:
    """One source being read. Iterate it, or take `batches()` for whole lists at a time; then ask `finish()`.

    Raises SourceError subclasses (once), FaultError with `faults="raise"`, and UnknownFormatError if no format was named
    and none can be told from the first record. Anything else is a bug. Close it, or use it in a `with`.
    """

    def __init__(
        self, source: Source, format: Format | str | None, options: ReadOptions, place: Place, *, owned: bool = False
    ) -> None:
        self.place = place
        self.options = options
        self.problems: list[str] = []
        self._source = source
        self._owned = owned
        self._head: list[bytes] = []
        self._promised: int | None = options.stop_at
        self._batch: list[Item] = []
        self._given = 0
        self._over = False
        self._failed: SourceError | None = None
        self._sought: Format | None = by_name(format) if isinstance(format, str) else format
        self._parser: Parser | None = Parser(self._sought, options, place) if self._sought else None

    def __iter__(self) -> Iterator[Item]:
        raising = self.options.faults == "raise"
        for batch in self.batches():
            self._batch = batch
            for given, item in enumerate(batch, 1):
                self._given = given
                if raising and item.__class__ is LineFault:
                    self.close()
                    raise FaultError(item, self.place.name)  # type: ignore[arg-type]
                yield item
            self._batch, self._given = [], 0

    def batches(self) -> Iterator[list[Item]]:
        """The same items, a list for each chunk of the source: quicker, and a list is delivered whole."""
        while not self._over:
            batch = self._advance()
            if batch:
                yield batch
        self._end()

    @property
    def format(self) -> Format:
        """The format being read. Raises UnknownFormatError if the source ended before it could be told."""
        if self._parser is None:
            self._fill()
        return self._ready().format

    @property
    def parser(self) -> Parser:
        """The push core below."""
        self.format  # noqa: B018  tells the format first
        return self._ready()

    def finish(self) -> ReadSummary:
        """What was read so far; may be asked at any time and never reads on."""
        parser = self._parser
        if parser is None:
            return ReadSummary(problems=list(self.problems))
        through: int | None = None
        if self._given < len(self._batch):
            item = self._batch[self._given]
            through = item.start
        summary = parser.summary(delivered_through=through)
        if self._failed is not None:
            summary.status = type(summary.status).FAILED
        summary.problems = list(self.problems)
        return summary

    def close(self) -> None:
        """Let go of the source if this reader opened it."""
        self._over = True
        if self._owned and hasattr(self._source, "close"):
            self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _ready(self) -> Parser:
        if self._parser is None:
            raise UnknownFormatError(f"{self.place.name}: no agent's format could be told from the first records")
        return self._parser

    def _advance(self) -> list[Item]:
        """One chunk on."""
        if self._parser is None:
            self._fill()
            parser = self._ready()
        else:
            parser = self._parser
        try:
            data = self._head.pop(0) if self._head else self._pull()
        except SourceError as error:
            self._failed = error
            self._over = True
            return [] if parser.closed else parser.close_cut()
        if data:
            items = parser.feed(data)
            self._over = parser.error is not None
            return items
        self._over = True
        items = parser.close()
        if parser.error is None and self._promised is not None and parser.taken < self._promised:
            self._failed = SnapshotTruncated(self.place.name, self._promised, parser.taken)
        return items

    def _end(self) -> None:
        """Raise, once, what ended the source."""
        parser = self._parser
        failed = self._failed or (parser.error if parser else None)
        self.problems += getattr(self._source, "problems", [])
        if failed is not None and not getattr(failed, "delivered", False):
            failed.delivered = True  # type: ignore[attr-defined]
            self._failed = failed
            self.close()
            raise failed

    def _pull(self) -> bytes:
        """Up to a chunk, and never past the promised end."""
        want = CHUNK
        if self._promised is not None:
            taken = self._parser.taken if self._parser else 0
            want = min(want, self._promised - taken - sum(map(len, self._head)))
            if want <= 0:
                return b""
        try:
            return self._source.read(want) or b""
        except OSError as error:
            raise SourceUnreadable(self.place.name, error) from error

    def _fill(self) -> None:
        """Take the first records in and tell the format from them."""
        taken = 0
        while taken < SNIFF:
            data = self._pull()
            if not data:
                break
            self._head.append(data)
            taken += len(data)
            found = sniffed(b"".join(self._head))
            if found is not None:
                self._sought = found
                break
        if self._sought is not None:
            self._parser = Parser(self._sought, self.options, self.place)


def read(path: str | os.PathLike[str], format: Format | str | None = None, options: ReadOptions | None = None) -> Reader:
    """Read a session file. Its size now is the promised end, so a growing file reads as a consistent snapshot.

    format: a Format or its name; None tells it from the path or the first record. `.zst` files are read as a stream,
    offsets counting decoded bytes. Raises SourceUnreadable, SourceTooLarge (at opening, where the size is known).
    """
    options = options or ReadOptions()
    name = os.fspath(path)
    handle = opened(name)
    try:
        size = os.fstat(handle.fileno()).st_size
        place = place_of(name)
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


def opened(name: str) -> IO[bytes]:
    """A regular file, opened for reading; never a FIFO or a device, which could hang. Raises SourceUnreadable."""
    try:
        fd = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise SourceUnreadable(name, error) from error
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise SourceUnreadable(name, said=f"expected a file, found {kind}")
    return open(fd, "rb", buffering=0)


class AsyncReader:
    """The same reader for asyncio: `async for item in reader`. Reading happens in a thread, a chunk at a time; an
    async source (`await read(n)`) is awaited instead."""

    def __init__(self, reader: Reader, source: Any = None) -> None:
        self.reader = reader
        self._source = source

    async def __aiter__(self) -> AsyncIterator[Item]:
        reader = self.reader
        while not reader._over:
            if self._source is not None:
                reader._head.append(await self._source.read(CHUNK) or b"")
            reader._batch = await asyncio.to_thread(reader._advance)
            for given, item in enumerate(reader._batch, 1):
                reader._given = given
                yield item
            reader._batch, reader._given = [], 0
        reader._end()

    def finish(self) -> ReadSummary:
        """What was read so far."""
        return self.reader.finish()

    def close(self) -> None:
        """Let go of the source if this reader opened it."""
        self.reader.close()


def aread(path: str | os.PathLike[str], format: Format | str | None = None, options: ReadOptions | None = None) -> AsyncReader:
    """`read` for asyncio."""
    return AsyncReader(read(path, format, options))


def is_path(text: str) -> bool:
    """Whether a word of the command line names a file rather than a session."""
    return os.sep in text or text.endswith((".jsonl", ".zst", ".json")) or Path(text).exists()
