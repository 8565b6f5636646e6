"""`turnlog raw`: the exact bytes of a file or a part of it on stdout, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ..errors import SnapshotTruncated, SourceError
from ..raw import read_raw
from ..source import CHUNK, opened
from ..zstd import Unpacked
from .group import NOTHING_MATCHED, NOTHING_READ, PARTIAL
from .output import note, write
from .reading import offset


@click.command("raw")
@click.argument("file", type=click.Path(readable=False))
@click.option("--start", callback=offset, default="0", metavar="N", help="First byte; 0 unless said otherwise.")
@click.option("--end", callback=offset, metavar="N", help="One past the last byte; the end of the file otherwise.")
@click.option("--line", type=click.IntRange(min=1), metavar="N", help="Only this physical line, counted from 1.")
def command(file: str, start: int, end: int | None, line: int | None) -> int:
    """The exact bytes of FILE: those an event's `start` and `end` name, or all. Of a .zst file the decoded bytes."""
    if end is not None and end < start:
        raise click.UsageError(f"--end: expected an offset from --start {start} on, found {end}")
    if line is not None:
        if start or end is not None:
            raise click.UsageError("--line: expected no --start or --end beside it")
        found = line_range(file, line)
        if found is None:
            note(f"turnlog: {file}: there is no line {line}")
            return NOTHING_MATCHED
        start, end = found
    written = 0
    try:
        for piece in byte_range(file, start, end):
            write(piece)
            written += len(piece)
    except SourceError as error:
        note(f"turnlog: {error}")
        return PARTIAL if written else NOTHING_READ
    return 0


def byte_range(path: str, start: int, end: int | None) -> Iterator[bytes]:
    """The bytes from `start` up to `end` (None: the end of the file), a piece at a time. Raises SourceUnreadable,
    SourceCorrupt, and SnapshotTruncated after the last byte there is where `end` lies beyond it."""
    with opened(path) as handle:
        source = Unpacked(handle, path) if path.endswith(".zst") else handle
        at = 0
        if source is handle:
            at = handle.seek(start)
        while end is None or at < end:
            data = source.read(CHUNK if end is None else min(CHUNK, end - at))
            if not data:
                break
            before, at = at, at + len(data)
            if at > start:
                yield data[max(0, start - before) :]
        if end is not None and at < end:
            raise SnapshotTruncated(path, end, at)


def line_range(path: str, line: int) -> tuple[int, int] | None:
    """Where that physical line stands, None if there are fewer. Lines are not held, however long."""
    with read_raw(path, max_record_bytes=1) as reader:
        for item in reader:
            if item.line == line:
                return item.start, item.end
    return None
