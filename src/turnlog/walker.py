"""What an agent's documented reader program prints of a session file: the same lines, and faults where it would stop.

The program itself is the format's; here its walk is run over a file, compressed or not, or over any binary file object.
Memory does not grow with the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Self

import msgspec

from .contract import MAX_FILE_BYTES, MAX_RECORD_BYTES, ReadStatus, ReadSummary
from .errors import SourceError
from .formats import FORMATS
from .formats.base import Walk, WalkedLine, WalkItem
from .raw import RawReader, read_raw
from .source import Source

__all__ = ["WalkItem", "WalkReader", "WalkedLine", "walk"]


class WalkReader:
    """One file being walked. Iterate it; then ask `finish()`.

    Yields WalkedLine, and LineFault where the program would stop, in physical order. Raises SourceError subclasses, once,
    after what there was. Close it, or use it in a `with`, where it opened the file itself.
    """

    def __init__(self, raw: RawReader, walk: Walk) -> None:
        self._raw = raw
        self._walk = walk
        self._whole = False
        self._items = self._run()

    def __iter__(self) -> Iterator[WalkItem]:
        return self._items

    def _run(self) -> Iterator[WalkItem]:
        take = self._walk.take
        try:
            for item in self._raw:
                yield from take(item)
        except SourceError:
            yield from self._walk.end(whole=False)
            raise
        yield from self._walk.end(whole=True)
        self._whole = True

    def finish(self) -> ReadSummary:
        """What was read and handed out so far; may be asked at any time and never reads on.

        `records` are the lines that were read, whether the program prints them or not; types that it does not know are
        counted in `unknown`, blank lines at the ends of the file in `bytes.blank`.
        """
        raw, told = self._raw.finish(), self._walk.summary
        counts = msgspec.structs.replace(told.bytes)
        counts.pending = raw.bytes_read - counts.total()
        status = ReadStatus.STOPPED_EARLY
        if raw.status is ReadStatus.FAILED:
            status = ReadStatus.FAILED
        elif self._whole:
            status = ReadStatus.COMPLETE_WITH_FAULTS if told.faults else ReadStatus.COMPLETE
        return msgspec.structs.replace(
            told,
            status=status,
            bytes_read=raw.bytes_read,
            consumed_through=min(told.consumed_through, raw.consumed_through),
            bytes=counts,
            faults=dict(told.faults),
            repairs=dict(told.repairs),
            unknown=dict(told.unknown),
            problems=raw.problems,
        )

    def close(self) -> None:
        """Let go of the file if this reader opened it."""
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def walk(
    source: str | os.PathLike[str] | Source,
    *,
    plain: bool = False,
    max_record_bytes: int | None = MAX_RECORD_BYTES,
    max_file_bytes: int | None = MAX_FILE_BYTES,
) -> WalkReader:
    """Walk a path, or a binary file object, as the one agent's documented reader program does that has one.

    plain: a field that is not there, and an object or array where the program writes `[object Object]`, are written for
    people; everything else is the program's own text. Raises InvalidOptionsError for a limit that cannot be,
    SourceUnreadable, and SourceTooLarge at opening where the size is known.
    """
    program = next(format.walk for format in FORMATS.values() if format.walk is not None)
    raw = read_raw(source, max_record_bytes=max_record_bytes, max_file_bytes=max_file_bytes)
    return WalkReader(raw, program(plain))
