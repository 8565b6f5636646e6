"""What the model was shown at an entry of one session file, read from that file and from those it goes on from."""

from __future__ import annotations

import os
from typing import IO, Self

import msgspec

from ..contract import COMMAND_RECORD_BYTES, ReadOptions, ReadSummary
from ..discover import Discovery, SessionFile, find_sessions
from ..errors import SourceError
from ..formats import place_of
from ..formats.base import Format
from ..raw import RawRecord, read_raw
from ..roots import Roots
from ..seen import BaseRule, Entry
from ..source import CHUNK, Source, opened
from ..views.context import Context, ContextRow, InUse, LeftOut, context, entries_of
from ..zstd import Unpacked
from .scan import SCAN_OPTIONS
from .whole import Whole, read_whole

SCHEMA = "turnlog.context/1"

MOST_FILES = 1000
"""How far a file is followed back through the files it goes on from: forks of forks are few."""


class SessionContext(msgspec.Struct, kw_only=True):
    """What `turnlog context --json` prints: the fields of a Context, and of which session they are.

    complete: the file was read whole. files: others that the session goes on from, the oldest first. error: why reading
    ended before the end.
    """

    schema: str = SCHEMA
    complete: bool
    session_id: str | None
    agent: str
    path: str
    leaf: str | None
    line: int | None
    branch: list[str]
    context: list[ContextRow]
    model: InUse | None
    thinking_level: str | None
    left_out: list[LeftOut]
    silent: dict[str, int]
    elsewhere: int
    messages: int
    characters: int
    images: int
    doubts: list[str]
    files: list[str]
    summary: ReadSummary
    error: str | None = None


def session_context(
    path: str,
    roots: Roots | None = None,
    *,
    at: str | None = None,
    agent: str | None = None,
    options: ReadOptions = SCAN_OPTIONS,
) -> SessionContext:
    """Read one file and what it goes on from. at: an id, the beginning of one, or a line; None for the leaf. roots: where
    other files are looked for beside the file's own folder. Raises SourceError if nothing of the file can be read, and
    NoSuchEntry."""
    discovery = find_sessions(roots) if roots is not None else Discovery([], [])
    whole = read_whole(path, discovery, agent, options)
    before: list[Entry] = []
    files: list[str] = []
    doubts: list[str] = []
    rule = whole.format.context.base
    if rule is not None:
        before, files, doubts = _before(whole, path, rule, discovery, options)
    with _Again(path) as again:
        view = context(whole.items, whole.format, again.bytes_of, at, before=before)
    view.doubts = doubts + view.doubts
    return SessionContext(
        complete=whole.complete,
        session_id=next((item.record.session_id for item in whole.items if hasattr(item, "record")), None),
        agent=whole.format.name,
        path=path,
        files=files,
        summary=whole.summary,
        error=None if whole.error is None else str(whole.error),
        **{name: getattr(view, name) for name in Context.__struct_fields__},
    )


class _Again:
    """Reads single records again. Mostly they are asked for from top to bottom, so a compressed file is read once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.open: dict[str, tuple[IO[bytes], Source]] = {}
        self.at: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for handle, _source in self.open.values():
            handle.close()

    def bytes_of(self, entry: Entry) -> bytes:
        """The bytes of one entry's record; b"" where they cannot be had any more."""
        path = entry.file or self.path
        try:
            return self._bytes(path, entry.record.start, entry.record.end)
        except SourceError:
            return b""

    def _bytes(self, path: str, start: int, end: int) -> bytes:
        handle, source = self._source(path, start)
        if source is handle:
            handle.seek(start)
            self.at[path] = start
        pieces: list[bytes] = []
        while (at := self.at[path]) < end:
            data = source.read(min(CHUNK, (end if at >= start else start) - at))
            if not data:
                return b""
            self.at[path] += len(data)
            if at >= start:
                pieces.append(data)
        return b"".join(pieces)

    def _source(self, path: str, start: int) -> tuple[IO[bytes], Source]:
        known = self.open.get(path)
        if known is not None and (known[0] is known[1] or self.at[path] <= start):
            return known
        if known is not None:
            known[0].close()
        handle = opened(path)
        self.open[path] = handle, Unpacked(handle, path) if path.endswith(".zst") else handle
        self.at[path] = 0
        return self.open[path]


_NOT_HERE = "the session goes on from another file that is not here: what came before is not shown"


def _before(
    whole: Whole, path: str, rule: BaseRule, discovery: Discovery, options: ReadOptions
) -> tuple[list[Entry], list[str], list[str]]:
    """The entries of the files that this one goes on from, the oldest first; their paths; and what is not here."""
    parts: list[list[Entry]] = []
    files: list[str] = []
    entries, at = entries_of(whole.items), path
    others: list[SessionFile] | None = None
    seen = {os.path.realpath(path)}
    while (base := rule.of(entries)) is not None and len(files) < MOST_FILES:
        if others is None:
            others = _others(whole.format, path, discovery)
        thread, end = base
        found = _holder(thread, end, at, others, rule, seen)
        if found is None:
            return _flat(parts), files[::-1], [_NOT_HERE]
        seen.add(os.path.realpath(found))
        stop = _offset(found, end, rule)
        items = read_whole(found, None, whole.format.name, msgspec.structs.replace(options, stop_at=None)).items
        entries = [entry for entry in entries_of(items, found) if entry.record.start < stop]
        parts.append(entries)
        files.append(found)
        at = found
    return _flat(parts), files[::-1], []


def _flat(parts: list[list[Entry]]) -> list[Entry]:
    return [entry for part in reversed(parts) for entry in part]


def _others(format: Format, path: str, discovery: Discovery) -> list[SessionFile]:
    """The agent's other files: those that were found, and those of the store that this file lies in."""
    files = [file for file in discovery.files if file.agent == format.name]
    folders = {folder for folder, _ in format.root.scans if folder}
    up = os.path.dirname(os.path.realpath(path))
    while up != os.path.dirname(up):
        if os.path.basename(up) in folders:
            store = find_sessions(Roots({}).with_root(format.name, os.path.dirname(up)))
            files += [file for file in store.files if file.agent == format.name]
            break
        up = os.path.dirname(up)
    return files


def _holder(thread: str, end: int, at: str, files: list[SessionFile], rule: BaseRule, seen: set[str]) -> str | None:
    """The file of a thread that holds what comes before an ordinal: the latest one that was begun before this one."""
    fits = {
        os.path.realpath(file.path): file.path
        for file in files
        if rule.thread(place_of(file.path).stem) == thread and os.path.realpath(file.path) not in seen
    }
    earlier = [real for real in fits if os.path.basename(real) <= os.path.basename(at)]
    for real in sorted(earlier, key=os.path.basename, reverse=True):
        first = _first_ordinal(fits[real], rule)
        if first is not None and first < end:
            return fits[real]
    return None


def _first_ordinal(path: str, rule: BaseRule) -> int | None:
    try:
        with read_raw(path, max_record_bytes=COMMAND_RECORD_BYTES) as reader:
            for record in reader:
                return rule.ordinal(record.bytes) if isinstance(record, RawRecord) else None
    except SourceError:
        pass
    return None


def _offset(path: str, end: int, rule: BaseRule) -> int:
    """Where the first record stands whose ordinal is `end` or greater; the end of the file where there is none. The file's
    own word for it, a byte offset, does not hold once the other file was rewritten."""
    stop = 0
    with read_raw(path, max_record_bytes=COMMAND_RECORD_BYTES) as reader:
        for record in reader:
            if isinstance(record, RawRecord):
                number = rule.ordinal(record.bytes)
                if number is not None and number >= end:
                    return record.start
            stop = record.end
    return stop
