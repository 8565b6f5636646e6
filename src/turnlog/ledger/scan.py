"""Many files read and folded: for each its work, its summary, its faults, or why it could not be read.

Large homes are shared out over processes. What comes back is the same for any number of them, in path order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import msgspec

from ..contract import COMMAND_RECORD_BYTES, Place, ReadOptions, ReadSummary
from ..discover import SessionFile, recognised
from ..errors import LineFault, SourceError
from ..formats import FORMATS, place_of
from ..model import Compaction, Item
from ..reader import Reader, read
from ..views.visible import Visible
from ..work import FileWork
from .kept import Kept
from .marks import mark_of
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
    path = Visible(format.tree) if format.tree is not None else None
    try:
        if not recognised(file):
            scan.recognised = False
            return scan
        with read(file.path, format, options, place=place) as reader:
            try:
                scan.work = format.fold(place, _watched(reader, scan, path))
            finally:
                scan.summary = reader.finish()
    except SourceError as error:
        scan.error, scan.error_kind = error.said, error.kind
        scan.vanished = isinstance(error.__cause__, FileNotFoundError)
    if scan.work is not None and path is not None:
        _see(scan.work, path.lines())
    if scan.work is not None and not scan.work.sessions and scan.summary and scan.summary.records:
        scan.work.session(place.stem or place.name)
    return scan


def _see(work: FileWork, lines: set[int]) -> None:
    """Note which of the file's calls stand on these lines, with all the lines of each: those of one answer may hang beside
    the path."""
    seen = {sample.key for sample in work.samples if sample.line in lines}
    work.visible = sorted({sample.line for sample in work.samples if sample.key in seen})


def _watched(reader: Reader, scan: FileScan, path: Visible | None) -> Iterator[Item]:
    """The reader's items, its faults noted on the way, up to a source error: what was read before it still counts. path:
    sees every record."""
    record = None
    try:
        for batch in reader.batches():
            for item in batch:
                if item.__class__ is LineFault:
                    scan.faults.append(item)
                elif path is not None:
                    if item.record is not record:  # type: ignore[union-attr]
                        record = item.record  # type: ignore[union-attr]
                        path.see(record)
                    if item.__class__ is Compaction:
                        path.join(item)
                yield item
    except SourceError as error:
        scan.error, scan.error_kind = error.said, error.kind


class Packed(msgspec.Struct):
    """A scan on its way from another process, or kept: MessagePack, which is a tenth of the work of pickling it. mark: of
    the file, where it stayed the same while it was read; "" where it did not."""

    path: str
    mark: str
    data: bytes


class _Whole(msgspec.Struct):
    """A scan with its work's hints in front, which are of a type that the format knows."""

    hints: msgspec.Raw
    scan: FileScan


def packed(file: SessionFile) -> FileScan | Packed:
    """`scan_file` for another process. What MessagePack cannot hold (a lone surrogate in an id) goes as it is."""
    mark = _mark(file)
    scan = scan_file(file)
    work = scan.work
    if work is None:
        return scan
    hints, work.hints = work.hints, None
    try:
        data = _pack(_Whole(msgspec.Raw(_pack(hints)), scan))
    except (UnicodeEncodeError, OverflowError):
        work.hints = hints
        return scan
    same = mark and scan.error is None and mark == _mark(file)
    return Packed(file.path, mark if same else "", data)


def _mark(file: SessionFile) -> str:
    """What a kept scan holds for: the file as it is, read as that agent's and of that kind; "" where it cannot be told."""
    mark = mark_of(file.path)
    return "" if mark is None else f"{file.agent} {file.kind} {mark}"


def _unpacked(packed: FileScan | Packed) -> FileScan:
    return packed if isinstance(packed, FileScan) else unpacked(packed.data)


def unpacked(data: bytes) -> FileScan:
    """The scan of those bytes. Raises msgspec.DecodeError."""
    whole = _unpack(data)
    scan = whole.scan
    if scan.work is not None:
        scan.work.hints = _hints(scan.file.agent)(whole.hints)
    return scan


@cache
def _hints(agent: str) -> Callable[[msgspec.Raw], Any]:
    return msgspec.msgpack.Decoder(FORMATS[agent].hints).decode


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(_Whole).decode


def scan_files(
    files: list[SessionFile],
    *,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
    kept: Kept | None = None,
) -> list[FileScan]:
    """Read and fold all files, in order. `progress` is told the bytes of each file done. kept: a cache; files that are
    the same as when it was filled are not read."""
    found: dict[str, FileScan] = {}
    for path, data in (kept.find({file.path: _mark(file) for file in files}) if kept is not None else {}).items():
        with contextlib.suppress(msgspec.DecodeError):
            found[path] = unpacked(data)
    new = [file for file in files if file.path not in found]
    if progress is not None and found:
        progress(sum(file.size for file in files if file.path in found))
    scans = shared_out(packed, new, [file.size for file in new], jobs=jobs, progress=progress)
    if kept is not None:
        kept.keep((one.path, one.mark, one.data) for one in scans if isinstance(one, Packed) and one.mark)
    for file, scan in zip(new, scans, strict=True):
        found[file.path] = _unpacked(scan)
    for file in files:
        found[file.path].file = file
    return [found[file.path] for file in files]


def reconcile(agent: str, works: list[FileWork]) -> None:
    """An agent's own rules between its files."""
    rule = FORMATS[agent].reconcile
    if rule is not None:
        rule(works)


__all__ = ["SCAN_OPTIONS", "FileScan", "Place", "reconcile", "scan_file", "scan_files"]
