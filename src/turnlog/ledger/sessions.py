"""The sessions on a machine, newest first: what each one is, and which one a person means by a word.

Without counts no file is read whole (see `peek`): the rows say what both ends of a file tell, and numbers are None.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from ..discover import Discovery, SessionFile, find_sessions
from ..roots import Roots
from ..titles import read_titles
from .overview import Overview, ProblemRow, Tokens, iso, overview
from .peek import peek_files
from .scan import FileScan, scan_files

SCHEMA = "turnlog.list/1"


class SessionLine(msgspec.Struct, kw_only=True):
    """One session. title: its name, None where it has none (then the first prompt says what it is about). first, last:
    UTC of its records; modified: of its newest file. model: the last one; models: those that were met. prompts, answers,
    tokens, cost: None where they were not counted (cost also where the agent stored none). subagents: files or threads it
    started. path: its own file; files: all that belong to it; size: their bytes on disk."""

    session_id: str
    agent: str
    title: str | None = None
    first_prompt: str | None = None
    cwd: str | None = None
    first: str | None = None
    last: str | None = None
    modified: str | None = None
    model: str | None = None
    models: list[str] = msgspec.field(default_factory=list)
    prompts: int | None = None
    answers: int | None = None
    tokens: Tokens | None = None
    cost: float | None = None
    subagents: int = 0
    path: str = ""
    files: list[str] = msgspec.field(default_factory=list)
    size: int = 0

    @property
    def at(self) -> datetime:
        """When something happened in it last, as far as that is known."""
        text = self.last or self.modified
        return datetime.fromisoformat(text) if text is not None else datetime.min.replace(tzinfo=UTC)


class SessionList(msgspec.Struct, kw_only=True):
    """The sessions that fit, newest first. complete: every file could be opened and, with `counted`, was read whole.
    found: sessions there are; matched: those that fit, of which `sessions` may be the newest only."""

    schema: str = SCHEMA
    complete: bool = True
    counted: bool = False
    found: int = 0
    matched: int = 0
    sessions: list[SessionLine] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)


def sessions(
    roots: Roots,
    *,
    counts: bool = False,
    agent: str | None = None,
    project: str | None = None,
    model: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SessionList:
    """List the sessions below the roots. counts: read every file whole, to count prompts, answers and tokens.

    project: a path (the session ran there or below) or a part of one. model: a part of a model's name; without counts
    only the ends of a file tell models. since (inclusive) and until (exclusive), aware: something happened in between.
    limit: the newest so many.
    """
    discovery = find_sessions(roots)
    files = [file for file in discovery.files if agent in (None, file.agent)]
    problems = [problem for problem in discovery.problems if agent is None or problem.agent in (None, agent)]
    scans = _scans(files, counts, progress)
    view = _view(Discovery(files, problems), scans, roots)
    lines = _lines(view, scans, counts=counts)
    fits = [
        line
        for line in lines
        if (project is None or is_in(line.cwd, project))
        and (model is None or any(model.lower() in name.lower() for name in line.models))
        and (since is None or line.at >= since)
        and (until is None or begun(line) < until)
    ]
    return SessionList(
        complete=view.complete,
        counted=counts,
        found=len(lines),
        matched=len(fits),
        sessions=fits if limit is None else fits[:limit],
        problems=view.problems,
    )


def begun(line: SessionLine) -> datetime:
    """When it began, as far as that is known."""
    return datetime.fromisoformat(line.first) if line.first is not None else line.at


def is_in(cwd: str | None, project: str) -> bool:
    """Whether a folder is the project: at or below a path, or with this text in it."""
    if cwd is None:
        return False
    if project.startswith(("/", "~", ".", "\\")) or project[1:2] == ":":
        path = os.path.abspath(os.path.expanduser(project)) if project[1:2] != ":" else project
        path = path.rstrip("/\\") or path
        return cwd == path or cwd.startswith((path + "/", path + "\\")) or path in ("/", "\\")
    return project.lower() in cwd.lower()


def _scans(files: list[SessionFile], counts: bool, progress: Callable[[int, int], None] | None) -> list[FileScan]:
    size = sum(file.size for file in files)
    done = 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, size)

    return scan_files(files, progress=told) if counts else peek_files(files, progress=told)


def _view(discovery: Discovery, scans: list[FileScan], roots: Roots) -> Overview:
    """The overview's own rows, which say everything of a session that the files tell."""
    ids = {key for scan in scans if scan.work is not None for key in scan.work.sessions}
    titles = read_titles(roots, ids, collect=True)
    view = overview(discovery, scans, UTC, "UTC", titles.texts)
    view.problems += [ProblemRow(error.source, error.kind, error.said) for error in titles.errors]
    view.complete = view.complete and not titles.errors
    return view


def _lines(view: Overview, scans: list[FileScan], *, counts: bool) -> list[SessionLine]:
    files = {scan.file.path: scan.file for scan in scans}
    own = own_files(scans)
    found = []
    for key, row in view.by_session.items():
        newest = max((files[path].mtime_ns for path in row.files), default=0)
        found.append(
            SessionLine(
                session_id=key,
                agent=row.agent,
                title=row.title,
                first_prompt=row.first_prompt,
                cwd=row.cwd,
                first=row.first,
                last=row.last,
                modified=iso(datetime.fromtimestamp(newest // 10**9, UTC)) if newest else None,
                model=row.model or (row.models[-1] if row.models else None),
                models=row.models or ([row.model] if row.model is not None else []),
                prompts=row.prompts if counts else None,
                answers=row.answers if counts else None,
                tokens=row.tokens if counts else None,
                cost=row.cost if counts else None,
                subagents=row.subagents,
                path=own.get(key) or row.files[0],
                files=row.files,
                size=sum(files[path].size for path in row.files),
            )
        )
    found.sort(key=lambda line: line.session_id)
    found.sort(key=lambda line: line.at, reverse=True)
    return found


def own_files(scans: list[FileScan]) -> dict[str, str]:
    """Each session's own file: one that begins with it before one that only holds some of it, the newest of several;
    a subagent's file only where there is no other."""
    ranked: dict[str, tuple[tuple[bool, bool, int], str]] = {}
    for scan in scans:
        if scan.work is None:
            continue
        for n, key in enumerate(scan.work.sessions):
            rank = (scan.file.kind == "main", n == 0, scan.file.mtime_ns)
            if key not in ranked or rank > ranked[key][0]:
                ranked[key] = (rank, scan.file.path)
    return {key: path for key, (_, path) in ranked.items()}


class Name(msgspec.Struct, frozen=True):
    """A word that names something to be shown: a session's id, or a subagent's. path: its own file. at: its last time.
    main: it is a session of its own."""

    word: str
    path: str
    at: datetime
    main: bool


class Names(msgspec.Struct):
    """All names there are. latest: of the session in which something happened last."""

    names: list[Name]
    latest: Name | None


def names(roots: Roots) -> Names:
    """The ids of all sessions and subagents below the roots, from the ends of their files."""
    discovery = find_sessions(roots)
    scans = peek_files(discovery.files)
    view = overview(discovery, scans, UTC, "UTC")
    lines = _lines(view, scans, counts=False)
    found = {line.session_id: Name(line.session_id, line.path, line.at, True) for line in lines}
    latest = found[lines[0].session_id] if lines else None
    own = own_files(scans)
    for scan in scans:
        if scan.work is None:
            continue
        ids = list(scan.work.sessions)
        if scan.file.kind == "subagent":
            stem = os.path.basename(scan.file.path).removesuffix(".jsonl")
            ids += [stem, stem.rpartition("-")[2]]
        for key in ids:
            facts = scan.work.sessions.get(key)
            at = (facts and facts.last) or datetime.fromtimestamp(scan.file.mtime_ns // 10**9, UTC)
            found.setdefault(key, Name(key, own.get(key, scan.file.path), at, False))
    return Names(list(found.values()), latest)


def unique_prefixes(words: list[str], least: int = 4) -> dict[str, str]:
    """The shortest beginning of each word that no other one has, of `least` letters or more."""
    ordered = sorted(set(words))
    found = {}
    for n, word in enumerate(ordered):
        shared = max((alike(word, ordered[m]) for m in (n - 1, n + 1) if 0 <= m < len(ordered)), default=0)
        found[word] = word[: max(least, shared + 1)]
    return found


def alike(a: str, b: str) -> int:
    """How many letters two words begin with together."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


__all__ = ["Name", "Names", "SessionLine", "SessionList", "alike", "names", "sessions", "unique_prefixes"]
