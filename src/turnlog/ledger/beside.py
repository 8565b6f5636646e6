"""What agents keep beside their sessions, over all of them: prompts that were typed, and titles from their indexes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime

import msgspec

from ..contract import COMMAND_RECORD_BYTES, ReadOptions
from ..discover import SessionFile
from ..errors import LineFault, SourceError
from ..formats import place_of
from ..history import HistoryEntry, HistoryFile, history_files, read_history
from ..roots import Roots
from ..titles import read_titles
from .overview import FaultRow, ProblemRow, iso

HISTORY = "turnlog.history/1"
TITLES = "turnlog.titles/1"
HISTORY_OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=COMMAND_RECORD_BYTES)


class PromptRow(msgspec.Struct, kw_only=True):
    """One row of a history file: something that was typed, and where it stands. at: UTC (ISO 8601). native_time: the
    number as it stands, in the file's own unit. invalid_fields: native names of fields that could not be used."""

    agent: str
    path: str
    line: int
    start: int
    end: int
    session_id: str | None
    at: str | None
    native_time: int | None
    text: str | None
    project: str | None
    invalid_fields: list[str]
    recovered: bool


class History(msgspec.Struct, kw_only=True):
    """The prompts, oldest first (those without a time before all others). complete: every history file was read whole.
    files: how many there are; matched: prompts that fit the filters, of which `prompts` may be the newest only."""

    schema: str = HISTORY
    complete: bool = True
    files: int = 0
    matched: int = 0
    prompts: list[PromptRow] = msgspec.field(default_factory=list)
    faults: list[FaultRow] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)


class TitleRow(msgspec.Struct, kw_only=True):
    """A session's title as an index of its agent has it. origin: what kind of title. path: the index."""

    session_id: str
    title: str
    agent: str
    origin: str
    path: str


class TitleList(msgspec.Struct, kw_only=True):
    """Titles from the agents' own indexes, by session id. complete: every index could be read. asked: for how many
    sessions; those that no index names have no row."""

    schema: str = TITLES
    complete: bool = True
    asked: int = 0
    titles: list[TitleRow] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)


def history(
    roots: Roots,
    *,
    agent: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> History:
    """The prompts in the history files of the roots. since (inclusive), until (exclusive): in any zone; a prompt without
    a time is in no such range. limit: the newest so many. What cannot be read is in the result."""
    found = History()
    rows: list[tuple[datetime | None, PromptRow]] = []
    for file in history_files(roots):
        if agent in (None, file.agent):
            found.files += 1
            _read(file, found, rows)
    ranged = since is not None or until is not None
    chosen = [
        (at, row)
        for at, row in rows
        if not ranged or (at is not None and (since is None or at >= since) and (until is None or at < until))
    ]
    chosen.sort(key=lambda pair: (pair[0] is not None, pair[0] or 0))
    found.matched = len(chosen)
    found.prompts = [row for _, row in (chosen if limit is None else chosen[max(0, len(chosen) - limit) :])]
    found.problems += [ProblemRow(p.path, p.kind, p.said, p.note) for p in roots.problems if agent in (None, p.agent)]
    found.complete = not found.faults and all(problem.note for problem in found.problems)
    return found


def _read(file: HistoryFile, found: History, rows: list[tuple[datetime | None, PromptRow]]) -> None:
    try:
        with read_history(file.path, file.rule, options=HISTORY_OPTIONS) as reader:
            for item in reader:
                if isinstance(item, LineFault):
                    fault = FaultRow(file.path, item.line, item.start, item.end, item.fault.value, item.recovered)
                    found.faults.append(fault)
                else:
                    rows.append((item.at, _row(file, item)))
    except SourceError as error:
        found.problems.append(ProblemRow(file.path, error.kind, error.said))


def _row(file: HistoryFile, entry: HistoryEntry) -> PromptRow:
    return PromptRow(
        agent=file.agent,
        path=file.path,
        line=entry.line,
        start=entry.start,
        end=entry.end,
        session_id=entry.session_id,
        at=None if entry.at is None else iso(entry.at),
        native_time=entry.native_time,
        text=entry.text,
        project=entry.project,
        invalid_fields=list(entry.invalid_fields),
        recovered=entry.recovered,
    )


def titles(roots: Roots, ids: Iterable[str], *, agent: str | None = None) -> TitleList:
    """The titles the agents' indexes have for those sessions. What cannot be read is in the result."""
    wanted = sorted(set(ids))
    read = read_titles(roots, wanted, collect=True)
    found = TitleList(asked=len(wanted))
    for title in read.titles.values():
        if agent in (None, title.agent):
            found.titles.append(
                TitleRow(
                    session_id=title.session_id,
                    title=title.text,
                    agent=title.agent,
                    origin=title.origin,
                    path=title.path,
                )
            )
    found.titles.sort(key=lambda row: (row.agent, row.session_id))
    found.problems = [ProblemRow(error.source, error.kind, error.said) for error in read.errors]
    found.problems += [ProblemRow(p.path, p.kind, p.said, p.note) for p in roots.problems]
    found.complete = all(problem.note for problem in found.problems)
    return found


def session_ids(files: Iterable[SessionFile]) -> set[str]:
    """The ids that files are named for: a stem as it is, and where it ends in a UUID, that. Opens nothing."""
    found = set()
    for file in files:
        stem = place_of(file.path).stem or os.path.basename(file.path)
        found |= {stem, stem[-_UUID:]} if len(stem) > _UUID else {stem}
    return found


_UUID = 36
