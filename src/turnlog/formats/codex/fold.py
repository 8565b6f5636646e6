"""The work a Codex file says was done (sheet CODEX 8 and 9, CODEX_TRAPS A and B).

Per turn the thread's own `token_usage_record`s stand; where a turn has none, the running totals of its token_counts are
walked. What was copied from another thread, by a fork or into a subagent, moves the running total and counts nowhere.
Items are read with `codex_usage="all"`. What only another file can tell is settled in `lineage`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

from ...contract import Place
from ...model import Body, Compaction, Item, Message, Meta, Prompt, Record, ToolCall, ToolResult, Turn, Usage
from ...tokens import Counts, Semantics
from ...work import FileWork, Key, KeyPart, Left, Mark, Sample, SessionFacts, Spot, What, spot
from ..base import moment
from .ancestors import COPIED, PARENTS_TOTAL, born
from .author import HUMAN_KINDS
from .lineage import Burst, Hints, settle
from .session import named

PROMPT_CHARS = 200

UNCHANGED = "total unchanged"
STOOD_FOR = "a response record stands for it"
ESTIMATE = "estimate after compaction"
NOTHING_USED = "no tokens in it"

RECORDS_SINCE = (0, 153)
"""From 0.153.4 on every finished response has a record, so a count in a turn without one is a repeat."""

Parts = tuple[int, int, int, int]


def fold(place: Place, items: Iterable[Item]) -> FileWork:
    """Fold one file's items. The session is line 1's thread, or the one the file is named for."""
    return _Fold(place).run(items)


class _Fold:
    """One file's fold under way."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.work = FileWork(place.name, "codex")
        thread, segment = named(place.stem)
        self.thread = thread or place.stem or place.name
        self.segment = segment
        self.facts: SessionFacts | None = None
        self.record: Record | None = None
        self.cwd: str | None = None
        self.provider: str | None = None
        self.hints = Hints(self.thread, segment)
        self.burst = Burst()
        self.base: int | None = None  # when the thread was made, in milliseconds, by its UUIDv7
        self.last_meta = 0  # line of the last session_meta of the unbroken run at the beginning
        self.printing = True
        self.modern: bool | None = None  # whether a response record is written for every response
        # The running total, and what each token_count says by it
        self.total: Counts | None = None
        self.moved: int | None = None  # which count brought the total to where it is
        self.counted: list[tuple[str | None, Sample, str | None, int | None]] = []
        self.recorded: list[tuple[Sample, bool]] = []
        self.turns: set[str | None] = set()
        self.times: dict[Key, int] = {}
        # Evidence of prompts
        self.kinded: set[str | None] = set()
        self.by_kind: list[tuple[Mark, str]] = []
        self.by_event: list[tuple[str | None, Mark, str]] = []
        self.by_text: list[tuple[str | None, Mark, str]] = []
        self.sidechain = False

    def run(self, items: Iterable[Item]) -> FileWork:
        for item in items:
            take = _TAKE.get(item.__class__)
            if take is None and item.kind == "fault":
                continue
            record = item.record  # type: ignore[union-attr]
            if record is not self.record:
                self._enter(record)
            if take is not None:
                take(self, item, record)
        self._close()
        return self.work

    def _enter(self, record: Record) -> None:
        """A new record: the session begins with its first one."""
        self.record = record
        facts = self.facts
        if facts is None:
            if record.session_id is not None:
                self.thread = record.session_id
            facts = self.facts = self.work.session(self.thread)
            self.hints.thread = self.thread
            self.base = born(self.thread)
        at = record.at
        since = self.burst.since
        if since is None or at is None or at >= since or not self.hints.parents:  # else a copy with its own time
            facts.seen(at)
        if self.burst.open:
            self.burst.see(record.line, at)

    def _meta(self, event: Meta, record: Record) -> None:
        facts = self.facts
        assert facts is not None
        if record.type in ("session_meta", "header"):
            if event.facts is not None and "copied" in event.facts:
                if record.line == self.last_meta + 1:
                    self.last_meta = record.line
                    self.hints.copied = True
                    self.hints.parents.append(event.session_id or "")
                return
            if self.hints.begun:
                return
            self._begin(event, record, facts)
        elif event.facts is not None:
            self.provider = event.facts.get("model_provider_id") or self.provider
        if event.cwd is not None:
            self.cwd = event.cwd
            facts.cwd = facts.cwd or event.cwd
        if event.model is not None:
            facts.model = event.model

    def _begin(self, event: Meta, record: Record, facts: SessionFacts) -> None:
        """The file's own session_meta."""
        hints, about = self.hints, event.facts or {}
        hints.begun = True
        self.provider = about.get("model_provider")
        self.sidechain = record.sidechain
        facts.version = event.agent_version
        facts.origin = event.origin
        facts.forked_from = event.forked_from
        root = about.get("session_id")
        parent = event.parent_session or (root if root != self.thread and self.sidechain else None)
        facts.parent = parent if self.sidechain or event.parent_session else None
        hints.forked = event.forked_from is not None
        hints.parents += [thread for thread in (event.forked_from, parent) if thread is not None]
        hints.based = "history_base" in about
        self.last_meta = record.line
        stamp = about.get("timestamp")
        self.burst.since = moment(stamp) if stamp is not None else None
        self.modern = version_of(event.agent_version) >= RECORDS_SINCE

    def _turn(self, event: Turn, record: Record) -> None:
        turn = event.turn_id
        if event.state != "started" or turn is None:
            return
        hints = self.hints
        hints.turns.append((record.line, turn))
        at = born(turn)
        if at is None or self.base is None:
            return
        if at < self.base:
            hints.inherited_turn = True
        elif hints.own_from is None:
            hints.own_from = record.line
        if not hints.counts and not hints.said:
            self.printing = False  # every record has a turn with a time: nothing is left to compare

    def _message(self, event: Message, record: Record) -> None:
        if self.printing:
            self._print("said", record, event.body)
        role = event.role
        if role == "assistant":
            if event.author == "agent":
                item = event.message_id
                key = self._key(record, 0) if item is None else ("codex", self.thread, record.turn_id, item)
                self._mark("answer", key, record)
        elif role == "user":
            turn = record.turn_id
            kinds = event.kinds
            if kinds is not None:
                self.kinded.add(turn)
                if not HUMAN_KINDS.isdisjoint(kinds) and not (event.facts and "inherited_user_message" in event.facts):
                    self.by_kind.append((self._prompted(record), event.text[:PROMPT_CHARS]))
            elif event.author == "human":
                self.by_text.append((turn, self._prompted(record), event.text[:PROMPT_CHARS]))

    def _prompt(self, event: Prompt, record: Record) -> None:
        if event.thread_id is None or event.thread_id == self.thread:
            self.by_event.append((record.turn_id, self._prompted(record), event.text[:PROMPT_CHARS]))

    def _prompted(self, record: Record) -> Mark:
        return Mark("prompt", self._key(record, 1), record.line, record.at, self.thread, record.sidechain)

    def _call(self, event: ToolCall, record: Record) -> None:
        if self.printing:
            self._print("call", record, event.id or "")
        self._mark("call", self._key(record, event.index), record)

    def _result(self, event: ToolResult, record: Record) -> None:
        if self.printing:
            self._print("result", record, event.call_id or "")
        self._mark("result", self._key(record, event.index), record)

    def _compaction(self, _: Compaction, record: Record) -> None:
        self._mark("compaction", self._key(record, 1), record)

    def _mark(self, what: What, key: Key, record: Record) -> None:
        self.work.marks.append(Mark(what, key, record.line, record.at, self.thread, record.sidechain))

    def _key(self, record: Record, index: int) -> Key:
        """A record's own key: the same in a twin of the file, which has the same bytes."""
        return ("codex", self.thread, self.segment, record.start, index)

    def _print(self, kind: str, record: Record, body: Body) -> None:
        """A fingerprint of what was said, to be compared with the parent's file."""
        parts = body if isinstance(body, tuple) else (body,)
        found = 0
        for part in parts:
            found = zlib.crc32(part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass"), found)
        prints = self.hints.said.setdefault(kind, [])
        prints.append(found)
        if self.hints.parents:
            self.hints.trail.append((record.line, kind, len(prints) - 1))

    def _usage(self, event: Usage, record: Record) -> None:
        if event.ledger == "response":
            self._response(event, record)
        else:
            self._count(event, record)

    def _response(self, event: Usage, record: Record) -> None:
        thread = event.thread_id or self.thread
        counts = event.counts
        vector = _parts(counts)
        key: Key = ("codex", thread, record.turn_id, event.response_id, vector)
        if event.response_id is None:
            key = (*key, self._nth(key))
        own = event.thread_id is None or thread == self.thread
        sample = self._sample(key, counts, event, record)
        if event.thread_id is not None:
            sample.own = own
        self.recorded.append((sample, own))
        if own:
            self.turns.add(record.turn_id)

    def _count(self, event: Usage, record: Record) -> None:
        total = event.cumulative
        last = event.counts if event.basis == "last_sample" else None
        parts = _parts(total) if total is not None else None
        vector = _parts(last) if last is not None else None
        hints = self.hints
        if parts is not None and self.printing:
            hints.counts.append((record.line, hash((parts, vector or ()))))  # of whole numbers: equal in every process
            if self.burst.open:
                self.burst.totals.add(parts)
        counts, reason = self._step(total, last, parts, vector)
        repeated = self.moved if reason == UNCHANGED else None
        if reason != UNCHANGED and total is not None:
            self.moved = len(self.counted)
        if reason is None and not any(_parts(counts)) and not counts.cache_write:
            reason = NOTHING_USED
        if reason is not None and "estimate" in event.adjustments:
            reason = ESTIMATE
        key: Key = ("codex", self.thread, record.turn_id, parts, vector)
        if reason is None:
            key = (*key, self._nth(key))
        self.counted.append((record.turn_id, self._sample(key, counts, event, record), reason, repeated))

    def _step(
        self, total: Counts | None, last: Counts | None, parts: Parts | None, vector: Parts | None
    ) -> tuple[Counts, str | None]:
        """What one token_count adds, by the four parts and never by total_tokens (sheet 8, rule 3)."""
        if total is None or parts is None:
            return last or Counts(), None
        before, self.total = self.total, total
        if before is None:
            if last is None:
                return total, None
            if self.hints.based and self.modern and parts != vector:
                return last, PARENTS_TOTAL
            # A response that ended early has a last sample of zeros (trap 5); a thread without a parent begins at 0.
            return (last if any(vector or ()) or self.hints.parents or self.hints.based else total), None
        then = _parts(before)
        if parts == then:
            return last or Counts(), UNCHANGED
        if last is not None and vector is not None and parts in (_sum(then, vector), vector):
            return last, None
        if any(a < b for a, b in zip(parts, then, strict=True)):  # it began again
            return (total if last is None else last), None
        return _minus(total, before), None

    def _nth(self, key: Key) -> int:
        """How many samples of this key came before: equal calls of one turn are still several."""
        n = self.times.get(key, 0)
        self.times[key] = n + 1
        return n

    def _sample(self, key: Key, counts: Counts, event: Usage, record: Record) -> Sample:
        return Sample(
            key,
            counts.additive(Semantics.CACHE_INCLUSIVE),
            record.line,
            record.start,
            record.end,
            record.at,
            self.thread,
            event.model,
            self.cwd,
            record.sidechain,
            provider=self.provider,
            tier=event.service_tier,
        )

    def _close(self) -> None:
        """All records are in: settle whose work each is."""
        work, hints = self.work, self.hints
        hints.burst_end = self.burst.end
        hints.burst_totals = len(self.burst.totals)
        work.hints = hints
        for sample, own in self.recorded:
            if own:
                work.samples.append(sample)
            else:
                work.left.append(Left(sample, COPIED))
        self._counts_and_what_stands_for_them()
        work.samples.sort(key=lambda sample: sample.line)
        self._prompts()
        work.marks.sort(key=lambda mark: mark.line)
        settle(work)

    def _counts_and_what_stands_for_them(self) -> None:
        """The token_counts: those that count, and for the others where that which they say counts."""
        work, walked = self.work, self.hints.walked
        records = [sample for sample, own in self.recorded if own]
        first: dict[KeyPart, Sample] = {}
        for sample in reversed(records):
            first[sample.key[2]] = sample
        # The last record of each turn before the count, and of each turn with the same counts
        latest: dict[tuple[KeyPart, KeyPart], Sample] = {}
        nearest: dict[KeyPart, Sample] = {}
        seen = 0
        spots: list[Spot | None] = []
        for turn, sample, reason, repeated in self.counted:
            while seen < len(records) and records[seen].line < sample.line:
                record = records[seen]
                nearest[record.key[2]] = latest[record.key[2], record.key[4]] = record
                seen += 1
            if reason is None and turn not in self.turns:
                work.samples.append(sample)
                walked.add(sample.line)
                spots.append(spot(work.path, sample))
                continue
            why, instead = reason or STOOD_FOR, None
            # The first response of a fork has the parent's total in it, and a record of its own.
            if reason is None or (reason == PARENTS_TOTAL and (turn, sample.key[4]) in latest):
                why = STOOD_FOR
                stands = latest.get((turn, sample.key[4])) or nearest.get(turn) or first[turn]
                instead = spot(work.path, stands)
            elif repeated is not None and reason == UNCHANGED:
                instead = spots[repeated]
            work.left.append(Left(sample, why, instead))
            spots.append(instead)

    def _prompts(self) -> None:
        """What a person typed: by the kinds of the parts, else by the client's events, else by how the text begins.
        Nobody types in a subagent's thread: its parent or the client wrote the task."""
        if self.sidechain:
            return
        others = self.by_event or self.by_text
        chosen = [*self.by_kind, *((mark, text) for turn, mark, text in others if turn not in self.kinded)]
        chosen.sort(key=lambda pair: pair[0].line)
        self.work.marks += [mark for mark, _ in chosen]
        self.hints.prompts = [(mark.line, text) for mark, text in chosen if text]


def version_of(text: str | None) -> tuple[int, int]:
    """Major and minor of a version, (0, 0) for none."""
    parts = (text or "").split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit() else (0, 0)


def _parts(counts: Counts) -> Parts:
    return (counts.input or 0, counts.cache_read or 0, counts.output or 0, counts.reasoning or 0)


def _sum(a: Parts, b: Parts) -> Parts:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])


def _minus(total: Counts, before: Counts) -> Counts:
    """What came to the total; a part that only the later one knows counts whole."""
    found: dict[str, Any] = {}
    for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
        now = getattr(total, name)
        if now is not None:
            found[name] = max(now - (getattr(before, name) or 0), 0)
    return Counts(**found)


_TAKE: dict[type, Any] = {
    Meta: _Fold._meta,
    Turn: _Fold._turn,
    Message: _Fold._message,
    Prompt: _Fold._prompt,
    ToolCall: _Fold._call,
    ToolResult: _Fold._result,
    Compaction: _Fold._compaction,
    Usage: _Fold._usage,
}
