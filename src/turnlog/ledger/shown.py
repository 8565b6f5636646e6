"""One session to be read: its facts, its turns, its subagents, and what of the file could not be read."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import msgspec

from ..contract import ReadOptions, ReadSummary
from ..discover import Discovery, SessionFile, find_sessions
from ..errors import LineFault, SourceError
from ..formats import place_of
from ..model import Message
from ..reader import read
from ..roots import Roots
from ..titles import read_titles
from ..views.transcript import transcript
from ..views.turns import Call, Side, TurnView
from .overview import Tokens, iso, overview
from .peek import peek_files
from .scan import SCAN_OPTIONS, FileScan
from .whole import read_whole

SCHEMA = "turnlog.show/1"


class Subagent(msgspec.Struct, kw_only=True):
    """A subagent whose work lies in a file of its own. id: to show it by. task: what its parent asked. call_id: the call
    that started it, where one is found."""

    id: str
    path: str
    task: str | None = None
    first: str | None = None
    call_id: str | None = None


class ShownFacts(msgspec.Struct, kw_only=True):
    """What the file says of its session. tokens, prompts, answers: of this file. sessions: ids that stand in the file,
    its own first. cost: as the agent stored it."""

    session_id: str | None
    agent: str
    path: str
    title: str | None = None
    first_prompt: str | None = None
    cwd: str | None = None
    model: str | None = None
    models: list[str] = msgspec.field(default_factory=list)
    version: str | None = None
    origin: str | None = None
    forked_from: str | None = None
    parent: str | None = None
    first: str | None = None
    last: str | None = None
    prompts: int = 0
    answers: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    output_at_least: bool = False
    cost: float | None = None
    sessions: list[str] = msgspec.field(default_factory=list)


class Show(msgspec.Struct, kw_only=True):
    """A session as a transcript. complete: the file was read whole. earlier: turns before those that are here.
    error: why reading ended before the end."""

    schema: str = SCHEMA
    complete: bool = True
    session: ShownFacts
    turns: list[TurnView] = msgspec.field(default_factory=list)
    earlier: int = 0
    subagents: list[Subagent] = msgspec.field(default_factory=list)
    summary: ReadSummary
    error: str | None = None


def show(
    path: str,
    roots: Roots | None = None,
    *,
    agent: str | None = None,
    limit: int | None = None,
    options: ReadOptions = SCAN_OPTIONS,
) -> Show:
    """Read one file as a transcript. roots: where its title and its subagents are looked for; None for nowhere.

    limit: the last so many turns. Raises SourceError if nothing of the file can be read.
    """
    discovery = find_sessions(roots) if roots is not None else Discovery([], [])
    whole = read_whole(path, discovery, agent, options)
    format, place, items, known, summary = whole.format, whole.place, whole.items, whole.known, whole.summary
    scan = FileScan(known or SessionFile(format.name, path, "subagent" if place.subagent else "main"), summary=summary)
    scan.faults = [item for item in items if isinstance(item, LineFault)]
    scan.work = format.fold(place, iter(items))
    turns = transcript(items, format.transaction)
    found = Show(
        complete=whole.complete,
        session=_facts(scan, roots),
        turns=turns if limit is None else turns[max(0, len(turns) - limit) :],
        earlier=0 if limit is None else max(0, len(turns) - limit),
        summary=summary,
        error=None if whole.error is None else str(whole.error),
    )
    if known is not None:
        found.subagents = subagents_of(known, found.session.sessions, turns, discovery.files)
        # Of turns that were left out the subagents are left out too.
        gone = {call.id for call in _calls(turns)} - {call.id for call in _calls(found.turns)}
        found.subagents = [one for one in found.subagents if one.call_id is None or one.call_id not in gone]
    return found


def _facts(scan: FileScan, roots: Roots | None) -> ShownFacts:
    work = scan.work
    assert work is not None
    ids = list(work.sessions)
    titles = read_titles(roots, ids, collect=True).texts if roots is not None else {}
    view = overview(Discovery([scan.file], []), [scan], UTC, "UTC", titles)
    facts = ShownFacts(session_id=ids[0] if ids else None, agent=scan.file.agent, path=scan.file.path, sessions=ids)
    facts.prompts, facts.answers = view.user_prompts, view.assistant_messages
    facts.tokens, facts.cost, facts.output_at_least = view.tokens, view.cost, view.output_at_least
    facts.first, facts.last = view.first, view.last
    facts.models = [model for model in view.by_model if model != "unknown"]
    if ids:
        own = work.sessions[ids[0]]
        row = view.by_session.get(ids[0])
        facts.title = row.title if row is not None else titles.get(ids[0])
        for name in ("first_prompt", "cwd", "model", "version", "origin", "forked_from", "parent"):
            setattr(facts, name, getattr(own, name))
    return facts


def subagents_of(
    own: SessionFile, sessions: list[str], turns: list[TurnView], files: list[SessionFile]
) -> list[Subagent]:
    """The other files of the same agent that say they were started from this session, or lie there as a subagent's."""
    mine = set(sessions)
    scans = peek_files([file for file in files if file.agent == own.agent and file.path != own.path])
    subagents = []
    for scan in scans:
        if scan.work is None or own.kind == "subagent":
            continue
        beside = scan.file.kind == "subagent" and not mine.isdisjoint(scan.work.sessions)
        started = any(facts.parent in mine for facts in scan.work.sessions.values())
        if beside or started:
            subagents.append(_subagent(scan, beside=beside))
    calls = _calls(turns)
    for subagent in subagents:
        subagent.call_id = next((call.id for call in calls if _asks(call.arguments, subagent.task)), None)
    subagents.sort(key=lambda one: (one.first or "", one.path))
    return subagents


def _subagent(scan: FileScan, *, beside: bool) -> Subagent:
    work = scan.work
    assert work is not None
    stem = place_of(scan.file.path).stem or scan.file.path
    key = stem.rpartition("-")[2] if beside else next(iter(work.sessions))
    firsts = [facts.first for facts in work.sessions.values() if facts.first is not None]
    return Subagent(
        id=key, path=scan.file.path, task=task_of(scan.file), first=iso(min(firsts)) if firsts else None
    )  # fmt: skip


def task_of(file: SessionFile) -> str | None:
    """The first thing a subagent was told; only the head of its file is read for it."""
    options = msgspec.structs.replace(SCAN_OPTIONS, include=frozenset(("message",)))
    try:
        with read(file.path, file.agent, options, place=place_of(file.path, subagent=True)) as reader:
            for n, item in enumerate(reader):
                if isinstance(item, Message) and item.author in ("task", "human", "warmup"):
                    return item.text
                if n >= _LOOK:
                    break
    except SourceError:
        pass
    return None


_LOOK = 20


def _calls(turns: list[TurnView]) -> list[Call]:
    found: list[Call] = []
    for turn in turns:
        for step in turn.steps:
            if isinstance(step, Call):
                found.append(step)
            elif isinstance(step, Side):
                found += _calls(step.turns)
    return found


def _asks(arguments: Any, task: str | None) -> bool:
    """Whether a call's arguments hold the words a subagent was told."""
    if not task:
        return False
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return bool(arguments == task)
    return isinstance(arguments, dict) and task in [v for v in arguments.values() if isinstance(v, str)]


__all__ = ["SCHEMA", "Show", "ShownFacts", "Subagent", "show", "subagents_of", "task_of"]
