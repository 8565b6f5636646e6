"""Many files read and folded: for each its work, its summary, its faults, or why it could not be read.

Large homes are shared out over processes. What comes back is the same for any number of them, in path order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from ..contract import COMMAND_RECORD_BYTES, Place, ReadOptions, ReadSummary
from ..discover import SessionFile, recognised
from ..errors import LineFault, SourceError
from ..formats import FORMATS, place_of
from ..model import Item
from ..reader import Reader, read
from ..work import FileWork
from .share import shared_out

SCAN_OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=COMMAND_RECORD_BYTES, codex_usage="all")
"""How commands read: no file limit, 64 MiB a record, both ledgers for the accounting."""


class FileScan(msgspec.Struct):
    """One file read: its work (None if it is no session or could not be opened), summary, faults, and the error.
    vanished: it went away between listing and opening."""

    file: SessionFile
    work: FileWork | None = None
    summary: ReadSummary | None = None
    faults: list[LineFault] = msgspec.field(default_factory=list)
    error: str | None = None
    error_kind: str | None = None
    recognised: bool = True
    vanished: bool = False


def scan_file(file: SessionFile, options: ReadOptions = SCAN_OPTIONS) -> FileScan:
    """Read and fold one file. Never raises for what the file is or holds."""
    scan = FileScan(file)
    format = FORMATS[file.agent]
    place = place_of(file.path, subagent=file.kind == "subagent")
    try:
        if not recognised(file):
            scan.recognised = False
            return scan
        with read(file.path, format, options, place=place) as reader:
            try:
                scan.work = format.fold(place, _watched(reader, scan))
            finally:
                scan.summary = reader.finish()
    except SourceError as error:
        scan.error, scan.error_kind = error.said, error.kind
        scan.vanished = isinstance(error.__cause__, FileNotFoundError)
    if scan.work is not None and not scan.work.sessions and scan.summary and scan.summary.records:
        scan.work.session(place.stem or place.name)
    return scan


def _watched(reader: Reader, scan: FileScan) -> Iterator[Item]:
    """The reader's items, its faults noted on the way, up to a source error: what was read before it still counts."""
    try:
        for batch in reader.batches():
            for item in batch:
                if item.__class__ is LineFault:
                    scan.faults.append(item)
                yield item
    except SourceError as error:
        scan.error, scan.error_kind = error.said, error.kind


class Packed(msgspec.Struct):
    """A scan on its way from another process: its work as MessagePack, which is a tenth of the work of pickling it."""

    scan: FileScan
    work: bytes
    hints: Any


def packed(file: SessionFile) -> FileScan | Packed:
    """`scan_file` for another process. What MessagePack cannot hold (a lone surrogate in an id) goes as it is."""
    scan = scan_file(file)
    work = scan.work
    if work is None:
        return scan
    hints, work.hints = work.hints, None
    try:
        data = _pack(work)
    except (UnicodeEncodeError, OverflowError):
        work.hints = hints
        return scan
    scan.work = None
    return Packed(scan, data, hints)


def _unpacked(scan: FileScan | Packed) -> FileScan:
    if isinstance(scan, FileScan):
        return scan
    work = _unpack(scan.work)
    work.hints = scan.hints
    scan.scan.work = work
    return scan.scan


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(FileWork).decode


def scan_files(
    files: list[SessionFile], *, jobs: int | None = None, progress: Callable[[int], None] | None = None
) -> list[FileScan]:
    """Read and fold all files, in order. `progress` is told the bytes of each file done."""
    scans = shared_out(packed, files, [file.size for file in files], jobs=jobs, progress=progress)
    return [_unpacked(scan) for scan in scans]


def reconcile(agent: str, works: list[FileWork]) -> None:
    """An agent's own rules between its files."""
    rule = FORMATS[agent].reconcile
    if rule is not None:
        rule(works)


__all__ = ["SCAN_OPTIONS", "FileScan", "Place", "reconcile", "scan_file", "scan_files"]
