"""Which samples are the same work.

The formats say what makes a piece of work itself (`Sample.key`, `Mark.key`). Here pieces with one key are merged over all
files: tokens at the greatest of each part, time at the earliest. Every sample that is not counted stays, with the reason
and the position of the one that stands for it.

A copied record belongs to the session that made it: by its own origin fields; else to the elder file, the one whose
records all stand in the other or whose own ones began earlier; else to the earlier time; else to the first path.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec

from ..tokens import Additive
from ..work import FileWork, Key, Left, Mark, Sample, SessionFacts, What, spot

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


class Counted(msgspec.Struct):
    """One call that counts: its merged sample and the file its position is in."""

    sample: Sample
    path: str


class CountedMark(msgspec.Struct):
    """One prompt, answer, call, result or compaction that counts, and the file it stands in."""

    mark: Mark
    path: str


class Session(msgspec.Struct):
    """One session over all its files."""

    id: str
    agent: str
    facts: SessionFacts
    title: str | None = None
    files: list[str] = msgspec.field(default_factory=list)
    parent: str | None = None


class Ledger(msgspec.Struct):
    """Everything that was done, once. `left`: what was not counted, by file."""

    samples: list[Counted] = msgspec.field(default_factory=list)
    marks: dict[What, list[CountedMark]] = msgspec.field(default_factory=dict)
    left: list[tuple[str, Left]] = msgspec.field(default_factory=list)
    sessions: dict[str, Session] = msgspec.field(default_factory=dict)


def merge(works: list[FileWork], reconcile: Callable[[str, list[FileWork]], None] | None = None) -> Ledger:
    """The ledger of all these files. `reconcile(agent, files)` applies an agent's own rules between files first."""
    ledger = Ledger()
    works = sorted(works, key=lambda work: work.path)  # the answer is the same for any order
    by_agent: dict[str, list[FileWork]] = {}
    for work in works:
        by_agent.setdefault(work.agent, []).append(work)
    for agent, files in by_agent.items():
        if reconcile is not None:
            reconcile(agent, files)
        elders = _elders_first(files)
        _sessions(ledger, agent, elders)
        _samples(ledger, elders)
        _marks(ledger, elders)
    _titles(ledger, works)
    return ledger


def _elders_first(files: list[FileWork]) -> list[FileWork]:
    """Files in the order in which they may claim work that several hold."""
    if len(files) < 2:
        return files
    seen = Counter[str]()
    for work in files:
        seen.update(work.ids.keys())
    if not any(n > 1 for n in seen.values()):
        return sorted(files, key=lambda work: work.path)

    def born(work: FileWork) -> datetime:
        own = [at for key, at in work.times.items() if seen[key] == 1]
        if work.born is not None:
            own.append(work.born)
        return min(own, default=_EARLIEST)

    # Of files with nothing of their own (a chain of resumes) the shorter one is the elder.
    return sorted(files, key=lambda work: (born(work), len(work.ids), work.path))


def _sessions(ledger: Ledger, agent: str, files: list[FileWork]) -> None:
    for work in files:
        for key, facts in work.sessions.items():
            known = ledger.sessions.get(key)
            if known is None:
                ledger.sessions[key] = Session(key, agent, facts, files=[work.path], parent=facts.parent)
            else:
                known.files.append(work.path)
                known.facts = _together(known.facts, facts)


def _together(a: SessionFacts, b: SessionFacts) -> SessionFacts:
    """Facts of one session from two files: the first word stands, times widen."""
    joined = msgspec.structs.replace(a)
    for name in ("cwd", "model", "version", "first_prompt", "forked_from", "parent", "origin"):
        if getattr(joined, name) is None:
            setattr(joined, name, getattr(b, name))
    joined.seen(b.first)
    joined.seen(b.last)
    return joined


def _samples(ledger: Ledger, files: list[FileWork]) -> None:
    found: dict[Key, list[tuple[FileWork, Sample]]] = {}
    before = len(ledger.left)
    pointed = False
    for work in files:
        for left in work.left:
            ledger.left.append((work.path, left))
            pointed = pointed or left.instead is not None
        for sample in work.samples:
            if sample.session not in ledger.sessions:
                _bring_home(sample, work)
            same = found.get(sample.key)
            if same is None:
                found[sample.key] = [(work, sample)]
            else:
                same.append((work, sample))
    for same in found.values():
        work, sample = same[0]
        if len(same) > 1:
            work, sample = _merged(ledger, same)
        ledger.samples.append(Counted(sample, work.path))
    if pointed:
        _follow(ledger.left[before:])


def _bring_home(sample: Sample, work: FileWork) -> None:
    """Work of a session that no file here is of (its own was deleted) belongs to the session that holds the copy."""
    sample.session = next(iter(work.sessions), None)


def _follow(left: list[tuple[str, Left]]) -> None:
    """Let each point at what counts: what a file or its kin knew to stand for a sample may itself be left to another."""
    gone = {spot(path, other.sample): other for path, other in left}
    for _, other in left:
        at, seen = other.instead, set()
        while at in gone:
            if at in seen:
                at = None
                break
            seen.add(at)
            at = gone[at].instead
        other.instead = at


def _merged(ledger: Ledger, same: list[tuple[FileWork, Sample]]) -> tuple[FileWork, Sample]:
    """One sample of several with one key; the others go to `left`."""
    first = same[0][0]
    # Who comes first: the session's own record, the main line before a subagent that was given it, the elder file (they
    # come in that order), the earlier time.
    if any(work is not first for work, _ in same):
        order = {id(work): n for n, (work, _) in reversed(list(enumerate(same)))}
        same = sorted(same, key=lambda pair: _claim(pair[1], order[id(pair[0])]))
    work, kept = same[0]
    given = fresh = out = read = write = hour = at = model = cost = origin = provider = tier = None
    flagged, lower, uncommitted, fast, searches = False, False, True, False, 0
    for _, sample in same:  # each part at its greatest; the earliest time; of the rest the first word
        counts = sample.counts
        fresh = _more(fresh, counts.input)
        out = _more(out, counts.output)
        read = _more(read, counts.cache_read)
        write = _more(write, counts.cache_write)
        hour = _more(hour, sample.write_1h)
        searches = max(searches, sample.searches)
        fast = fast or sample.fast
        flagged = flagged or counts.flagged
        lower = lower or sample.lower_bound  # a copy of a number that was too small is no better
        uncommitted = uncommitted and sample.uncommitted
        if sample.at is not None and (at is None or sample.at < at):
            at = sample.at
        if model is None:
            model = sample.model
        if cost is None:
            cost = sample.cost
        if provider is None:
            provider = sample.provider
        if tier is None:
            tier = sample.tier
        if given is None and sample.own is not None:
            given, origin = True, sample.session
    merged = Sample(
        kept.key,
        Additive(fresh, out, read, write, flagged),
        kept.line,
        kept.start,
        kept.end,
        at,
        origin if given else kept.session,
        model,
        kept.project,
        kept.sidechain,
        kept.own,
        lower,
        uncommitted,
        cost,
        provider,
        tier,
        fast,
        hour,
        searches,
        kept.aside,
    )
    instead = spot(work.path, kept)
    for other, sample in same[1:]:
        reason = "the same call on another line" if other is work else "the same call, copied into another file"
        ledger.left.append((other.path, Left(sample, reason, instead)))
    return work, merged


def _claim(sample: Sample, elder: int) -> tuple[bool, bool, int, datetime]:
    return (sample.own is False, sample.sidechain, elder, sample.at or _LATEST)


def _more(a: int | None, b: int | None) -> int | None:
    return b if a is None or (b is not None and b > a) else a


def _marks(ledger: Ledger, files: list[FileWork]) -> None:
    seen: dict[tuple[What, Key], CountedMark] = {}
    for work in files:
        for mark in work.marks:
            key = (mark.what, mark.key)
            known = seen.get(key)
            if known is None:
                seen[key] = CountedMark(mark, work.path)
                ledger.marks.setdefault(mark.what, []).append(seen[key])
            elif known.mark.uncommitted and not mark.uncommitted:
                known.mark, known.path = mark, work.path


def _titles(ledger: Ledger, works: list[FileWork]) -> None:
    """The best title of each session: the highest rank, then the last said. Blank text names nothing."""
    pointed = {title.leaf_id for work in works for title in work.titles if title.leaf_id is not None}
    holders = {key: work.ids[key] for work in works for key in pointed if key in work.ids} if pointed else {}
    best: dict[str, int] = {}
    for work in works:
        for title in work.titles:
            session = title.session if title.leaf_id is None else holders.get(title.leaf_id)
            known = ledger.sessions.get(session) if session is not None else None
            if known is None or title.rank < best.get(known.id, -1):
                continue
            text = (title.text or "").strip()
            if text or title.clears:
                best[known.id] = title.rank
                known.title = text or None
