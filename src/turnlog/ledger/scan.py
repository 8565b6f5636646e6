"""Many files read and folded: for each its work, its summary, its faults, or why it could not be read.

Large homes are shared out over processes. What comes back is the same for any number of them, in path order.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

import msgspec

from ..contract import COMMAND_RECORD_BYTES, Place, ReadOptions, ReadSummary
from ..discover import SessionFile, recognised
from ..errors import LineFault, SourceError
from ..formats import FORMATS, place_of
from ..model import Item
from ..reader import read
from ..work import FileWork

SCAN_OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=COMMAND_RECORD_BYTES, codex_usage="all")
"""How commands read: no file limit, 64 MiB a record, both ledgers for the accounting."""

SHARED_FROM = 48 * 1024 * 1024
"""Bytes from which it pays to start a second process."""


class FileScan(msgspec.Struct):
    """One file read: its work (None if it is no session or could not be opened), summary, faults, and the error."""

    file: SessionFile
    work: FileWork | None = None
    summary: ReadSummary | None = None
    faults: list[LineFault] = msgspec.field(default_factory=list)
    error: str | None = None
    error_kind: str | None = None
    recognised: bool = True


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
            def watched() -> Iterator[Item]:
                for batch in reader.batches():
                    for item in batch:
                        if item.__class__ is LineFault:
                            scan.faults.append(item)  # type: ignore[arg-type]
                        yield item

            try:
                scan.work = format.fold(place, _until_error(watched(), scan))
            finally:
                scan.summary = reader.finish()
    except SourceError as error:
        scan.error, scan.error_kind = str(error), error.kind
    if scan.work is not None and not scan.work.sessions and scan.summary and scan.summary.records:
        scan.work.session(place.stem or place.name)
    return scan


def _until_error(items: Iterable[Item], scan: FileScan) -> Iterator[Item]:
    """The items up to the source error, which is kept: what was read before it still counts."""
    try:
        yield from items
    except SourceError as error:
        scan.error, scan.error_kind = str(error), error.kind


def scan_files(
    files: list[SessionFile], *, jobs: int | None = None, progress: Callable[[int], None] | None = None
) -> list[FileScan]:
    """Read and fold all files, in order. `progress` is told the bytes of each file done."""
    size = sum(file.size for file in files)
    jobs = jobs if jobs is not None else min(os.cpu_count() or 1, 8) if size >= SHARED_FROM and len(files) > 1 else 1
    told = progress or _silent
    if jobs < 2 or "fork" not in multiprocessing.get_all_start_methods():
        scans = []
        for file in files:
            scans.append(scan_file(file))
            told(file.size)
        return scans
    return _shared_out(files, jobs, told)


def _shared_out(files: list[SessionFile], jobs: int, told: Callable[[int], None]) -> list[FileScan]:
    # The largest first, so that no process is left alone with a big one at the end.
    order = sorted(range(len(files)), key=lambda n: -files[n].size)
    found: dict[int, FileScan] = {}
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for n, scan in zip(order, pool.map(scan_file, [files[n] for n in order], chunksize=4), strict=True):
            found[n] = scan
            told(files[n].size)
    return [found[n] for n in range(len(files))]


def _silent(_: int) -> None:
    pass


def reconcile(agent: str, works: list[FileWork]) -> None:
    """An agent's own rules between its files."""
    rule = FORMATS[agent].reconcile
    if rule is not None:
        rule(works)


__all__ = ["SCAN_OPTIONS", "FileScan", "Place", "reconcile", "scan_file", "scan_files"]
