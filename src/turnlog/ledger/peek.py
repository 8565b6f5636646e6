"""The beginning and the end of many files: enough to say what each session is, whatever the size of its file.

Of a file only `HEAD` bytes from its start and `TAIL` from its end are read (a shorter one is read whole), and their whole
records folded as if they were one file. Names, folders, first prompts and times come out right; sums do not, and are not
to be asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..contract import ReadOptions
from ..discover import HEAD as RECOGNISED_BY
from ..discover import SessionFile, recognised
from ..errors import SourceError, SourceUnreadable
from ..formats import FORMATS, place_of
from ..model import Item
from ..parser import Parser
from ..source import opened
from ..zstd import Unpacked
from .scan import FileScan
from .share import shared_out

HEAD = 128 * 1024
"""Bytes from the start: agents put their own instructions and the project's (20 to 60 kB) before the first prompt."""

TAIL = 64 * 1024
"""Bytes from the end: the last time, and titles, which clients write again at the end."""

MOST = HEAD + TAIL + RECOGNISED_BY
"""No more bytes of a file are ever asked for here."""

PEEK_OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=None, codex_usage="all", tail="allow-incomplete")


def peek_file(file: SessionFile) -> FileScan:
    """The work that both ends of a file tell, without a summary. Never raises for what the file is or holds."""
    scan = FileScan(file)
    place = place_of(file.path, subagent=file.kind == "subagent")
    format = FORMATS[file.agent]
    try:
        if not recognised(file):
            scan.recognised = False
            return scan
        head, tail, more = _ends(file.path)
    except SourceError as error:
        scan.error, scan.error_kind = error.said, error.kind
        scan.vanished = isinstance(error.__cause__, FileNotFoundError)
        return scan
    parser = Parser(format, PEEK_OPTIONS, place)
    items: list[Item] = []
    try:
        for piece in (head, tail):
            items += parser.feed(piece)
        items += parser.close()
    except SourceError as error:
        scan.error, scan.error_kind = error.said, error.kind
    scan.work = format.fold(place, items)
    if not scan.work.sessions and (more or head.strip()):
        scan.work.session(place.stem or place.name)
    return scan


def peek_files(
    files: list[SessionFile], *, jobs: int | None = None, progress: Callable[[int], None] | None = None
) -> list[FileScan]:
    """Peek into all files, in order. `progress` is told the bytes looked at of each file done."""
    return shared_out(peek_file, files, [min(file.size, HEAD + TAIL) for file in files], jobs=jobs, progress=progress)


def _ends(path: str) -> tuple[bytes, bytes, bool]:
    """Whole records from the start and from the end, and whether there is more between. Raises SourceError where
    nothing can be read."""
    with opened(path) as handle:
        try:
            if path.endswith(".zst"):
                return _head_of(Unpacked(handle, path)), b"", False
            size = os.fstat(handle.fileno()).st_size
            if size <= HEAD + TAIL:
                return _read(handle.read, size), b"", False
            head = _read(handle.read, HEAD)
            handle.seek(size - TAIL)
            tail = _read(handle.read, TAIL)
        except OSError as error:
            raise SourceUnreadable(path, error) from error
    # A record that begins before the tail is not whole in it, and one that ends after the head is not whole there.
    return head[: head.rfind(b"\n") + 1], tail[tail.find(b"\n") + 1 :] if b"\n" in tail else b"", True


def _head_of(source: Unpacked) -> bytes:
    """The start of a compressed stream; a cut or broken one gives what it has."""
    data = b""
    while len(data) < HEAD:
        try:
            more = source.read(HEAD - len(data))
        except SourceError:
            if not data:
                raise
            break
        if not more:
            return data
        data += more
    return data[: data.rfind(b"\n") + 1]


def _read(read: Callable[[int], bytes], size: int) -> bytes:
    data = b""
    while len(data) < size and (more := read(size - len(data))):
        data += more
    return data
