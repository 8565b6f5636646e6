"""Whose work a record is: the thread's own, or copied from the one it was forked or spawned from (sheet CODEX 9).

With turn ids of UUIDv7 (0.107 on) the file says it itself: a turn begun before the thread was made is inherited. Without
them its leading token_counts, turn ids and texts are compared with the parent's file; and without the parent, the copy is
the burst of records after the copied session_metas. None of `forked_from_id`, a second session_meta and
`subagent_history_start_ordinal` proves a copy (CODEX_TRAPS 11).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import msgspec

from ...work import FileWork, Left, Mark, spot
from .ancestors import COPIED, place_ancestors

TWIN = "twin file"

PAUSE = timedelta(milliseconds=200)
"""Copied records stand 0 to 40 ms apart in our runs; a model's answer takes longer."""

_END = 1 << 62


class Burst:
    """The run of records after line 1 that were written in one go, or have times from before the thread was made.

    since: when the thread was made. end: line of the first record after the burst. totals: the running totals in it.
    """

    __slots__ = ("before", "end", "old", "open", "since", "totals")

    def __init__(self) -> None:
        self.open = True
        self.end: int | None = None
        self.since: datetime | None = None
        self.before: datetime | None = None
        self.old = False
        self.totals: set[tuple[int, ...]] = set()

    def see(self, line: int, at: datetime | None) -> None:
        """A record at `line`; called until the burst is over."""
        if at is None:
            return
        before, self.before = self.before, at
        if before is None:
            return
        if self.since is not None and at < self.since:
            self.old = True  # copies can keep their own times
        elif self.old or at - before > PAUSE:
            self.open = False
            self.end = line


class Hints(msgspec.Struct):
    """What is needed to compare a file with others.

    thread, segment: whose file it is. parents: threads it may be copied from, the nearest first. forked: it says it is
    a fork. based: it names the history it goes on from and holds only its own records. own_from: line of its first own
    turn, by the time in the turn's id; inherited_turn: an earlier one stands before. copied: ancestors' session_metas
    follow line 1. turns: (line, id). counts: (line, print) of token_counts. said: prints of texts and calls, by kind;
    trail: (line, kind, index) of them. walked: lines of token_counts that count if they are own. prompts: (line, text).
    others: marks that are not the thread's own.
    """

    thread: str
    segment: str | None = None
    begun: bool = False
    parents: list[str] = msgspec.field(default_factory=list)
    forked: bool = False
    based: bool = False
    own_from: int | None = None
    inherited_turn: bool = False
    copied: bool = False
    burst_end: int | None = None
    burst_totals: int = 0
    turns: list[tuple[int, str]] = msgspec.field(default_factory=list)
    counts: list[tuple[int, int]] = msgspec.field(default_factory=list)
    said: dict[str, list[int]] = msgspec.field(default_factory=dict)
    trail: list[tuple[int, str, int]] = msgspec.field(default_factory=list)
    walked: set[int] = msgspec.field(default_factory=set)
    prompts: list[tuple[int, str]] = msgspec.field(default_factory=list)
    others: list[Mark] = msgspec.field(default_factory=list)
    boundary: int = 0

    @property
    def settled(self) -> bool:
        """Whether the file alone tells what is its own."""
        return not self.parents or self.based or self.inherited_turn

    def trim(self) -> None:
        """Let go of what no comparison needs; a parent's prints are needed by its children."""
        if self.settled:
            self.trail.clear()
            self.walked.clear()


def settle(work: FileWork) -> None:
    """Part own from copied work as far as the file alone tells."""
    hints = work.hints
    boundary = 0
    if hints.based:
        pass
    elif hints.inherited_turn:  # also where nothing names a parent: a migration takes the copied session_metas away
        boundary = hints.own_from or _END
    elif hints.parents and (hints.copied or hints.burst_totals > 1):  # two answers do not come in one burst
        boundary = min(hints.burst_end or _END, hints.own_from or _END)
    divide(work, boundary)
    hints.trim()


def divide(work: FileWork, boundary: int) -> None:
    """Leave what stands before line `boundary` to the parent; take back what does not."""
    hints = work.hints
    hints.boundary = boundary
    if boundary or hints.others:
        samples, left = [], []
        for sample in work.samples:
            if sample.line < boundary and sample.line in hints.walked:
                left.append(Left(sample, COPIED))
            else:
                samples.append(sample)
        for other in work.left:
            if other.reason == COPIED and other.sample.line >= boundary and other.sample.line in hints.walked:
                samples.append(other.sample)
            else:
                left.append(other)
        work.samples = sorted(samples, key=_line)
        work.left = sorted(left, key=lambda other: other.sample.line)
        marks = sorted(work.marks + hints.others, key=_line)
        hints.others = [mark for mark in marks if mark.line < boundary]
        work.marks = [mark for mark in marks if mark.line >= boundary]
    facts = work.sessions.get(hints.thread)
    if facts is not None:
        facts.first_prompt = next((text for line, text in hints.prompts if line >= boundary), None)


def _line(thing: object) -> int:
    return thing.line  # type: ignore[attr-defined, no-any-return]


def reconcile(files: list[FileWork]) -> None:
    """Settle, with all files of Codex at hand, what one alone could not tell: copies, and twins of one file."""
    by_thread: dict[str, list[FileWork]] = {}
    for work in sorted(files, key=_preference):
        if isinstance(work.hints, Hints):
            by_thread.setdefault(work.hints.thread, []).append(work)
    elders: dict[str, list[FileWork]] = {}
    for thread in _parents_first(by_thread):
        works = by_thread.get(thread, [])
        for work in works:
            if not work.hints.settled:
                _descend(work, elders)
        if works:
            elders[thread] = works
    for works in by_thread.values():
        if len(works) > 1:
            _twins(works)
    place_ancestors(by_thread)


def _preference(work: FileWork) -> tuple[bool, bool, str]:
    """Plain before compressed, `sessions` before `archived_sessions` (sheet 9)."""
    folders = work.path.replace("\\", "/").split("/")
    return (work.path.endswith(".zst"), "archived_sessions" in folders[:-1], work.path)


def _twins(works: list[FileWork]) -> None:
    """One file in two places: the preferred one keeps the work of both. A segment of the thread is no twin."""
    by_segment: dict[str | None, list[FileWork]] = {}
    for work in works:
        by_segment.setdefault(work.hints.segment, []).append(work)
    for twins in by_segment.values():
        first, *others = twins  # in the order of preference
        for other in others:
            kept = {sample.key: sample for sample in first.samples}
            marks = {(mark.what, mark.key) for mark in first.marks}
            stay = []
            for sample in other.samples:
                stands = kept.get(sample.key)
                if stands is None:
                    stay.append(sample)
                else:
                    other.left.append(Left(sample, TWIN, spot(first.path, stands)))
            other.samples = stay
            other.marks = [mark for mark in other.marks if (mark.what, mark.key) not in marks]


def _parents_first(by_thread: dict[str, list[FileWork]]) -> Iterator[str]:
    """Every thread, after those it may be copied from; in a circle somebody is the elder."""
    seen: set[str] = set()
    for start in by_thread:
        waiting = [(start, False)]
        while waiting:
            thread, ready = waiting.pop()
            works = by_thread.get(thread, ())
            if ready:
                yield thread
            elif thread not in seen:
                seen.add(thread)
                waiting.append((thread, True))
                waiting += [(parent, False) for work in works for parent in work.hints.parents]


def _descend(work: FileWork, elders: dict[str, list[FileWork]]) -> None:
    """Compare a file with that of its nearest parent that is here."""
    hints: Hints = work.hints
    for thread in hints.parents:
        if thread in elders:
            # Of twins the one that holds most: a copy may be of what the other does not have yet.
            parent = max(elders[thread], key=lambda twin: _extent(twin.hints))
            divide(work, min(_boundary(hints, parent.hints), hints.own_from or _END))
            break


def _extent(hints: Hints) -> int:
    return len(hints.counts) + len(hints.turns)


def _boundary(child: Hints, parent: Hints) -> int:
    """The first line of the child that is not copied from the parent; 0: none is copied."""
    theirs = {turn for _, turn in parent.turns}
    if child.turns and child.turns[0][1] in theirs:
        return next((line for line, turn in child.turns if turn not in theirs), _END)
    begins = next((n for n, (line, _) in enumerate(parent.counts) if line >= parent.boundary), len(parent.counts))
    matched = max(_matched(child.counts, parent.counts), _matched(child.counts, parent.counts[begins:]))
    if not matched:
        if child.counts and parent.counts:
            return _over_texts(child, parent, 1) if child.copied else 0
        return child.burst_end or _END if child.copied else 0
    boundary = child.counts[matched - 1][0] + 1
    distinct = len({found for _, found in child.counts[:matched]})
    if distinct < 2 and not child.copied and not child.forked and (child.burst_end or _END) < boundary:
        return 0  # a subagent whose first call happens to cost what its parent's did
    return _over_texts(child, parent, boundary)


def _over_texts(child: Hints, parent: Hints, boundary: int) -> int:
    """`boundary`, moved on over texts and calls that the parent has in the same order."""
    for line, kind, index in child.trail:
        if line < boundary:
            continue
        prints = parent.said.get(kind, ())
        if index >= len(prints) or prints[index] != child.said[kind][index]:
            break
        boundary = line + 1
    return boundary


def _matched(ours: list[tuple[int, int]], theirs: list[tuple[int, int]]) -> int:
    n = 0
    for (_, a), (_, b) in zip(ours, theirs, strict=False):
        if a != b:
            break
        n += 1
    return n
