"""The work a Pi file says was done (sheet PI 10): every entry of every branch.

An entry is known by its id and its time together: forks and clones copy both, and an id of eight digits alone is too
short over unrelated files. What version 1 copied without ids `copies` finds.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from ...contract import Place
from ...model import Compaction, Item, Message, Meta, ModelChange, Record, SessionName, ToolCall, ToolResult, Usage
from ...tokens import Additive
from ...work import FileWork, Key, Mark, Sample, SessionFacts, Title, What
from .flat import is_flat

PROMPT_CHARS = 200
TITLE_RANK = 10


class Lineage(msgspec.Struct):
    """What `copies` needs of a file. flat: it is of version 1. parent: the path it was branched from, by a version 1
    header."""

    flat: bool = False
    parent: str | None = None


def fold(place: Place, items: Iterable[Item]) -> FileWork:
    """Fold one file's items. `hints` of the work is its `Lineage`."""
    return _Fold(place).run(items)


class _Fold:
    """One file's fold under way."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.lineage = Lineage()
        self.work = FileWork(place.name, "pi", hints=self.lineage)
        self.file = place.stem or place.name
        self.header: datetime | None = None
        self.record: Record | None = None
        self.key: Key = ()
        self.at: datetime | None = None
        self.facts: SessionFacts = SessionFacts(self.file)

    def run(self, items: Iterable[Item]) -> FileWork:
        for item in items:
            if item.kind == "fault":
                continue
            record = item.record  # type: ignore[union-attr]
            if record is not self.record:
                self._enter(record)
            take = _TAKE.get(item.__class__)
            if take is not None:
                take(self, item, record)
        if self.facts.first is None:
            self.facts.seen(self.header)  # a header alone
        return self.work

    def _enter(self, record: Record) -> None:
        """A new record: what it is known by, and the session's span, which the header does not widen: a fork's is
        younger than the entries it copied."""
        self.record = record
        at = self.at = record.at
        session = record.session_id or self.file
        if self.facts.id != session or not self.work.sessions:
            self.facts = self.work.session(session)
        if record.type == "session":
            self.header = self.work.born = at
            return
        self.facts.seen(at)
        entry = record.id
        if entry is None:
            self.key = ("pi", self.place.name, record.start)
            return
        stamp = record.at_text or (at.isoformat() if at is not None else None)  # a number has no text
        self.key = ("pi", entry, stamp, record.type)
        if at is not None and record.type != "label":  # a fork makes labels anew, with their old times
            # Copies of version 1 have no id in common, only their times.
            name = f"{record.type} {record.at_text}" if self.lineage.flat else f"{entry} {record.at_text}"
            self.work.ids[name] = session
            self.work.times[name] = at

    def _mark(self, what: What, *more: Any) -> None:
        key = (*self.key, *more) if more else self.key
        record = self.record
        assert record is not None
        self.work.marks.append(Mark(what, key, record.line, self.at, self.facts.id))

    def _meta(self, event: Meta, _: Record) -> None:
        facts = self.facts
        facts.cwd = event.cwd
        facts.model = event.model
        facts.forked_from = event.forked_from
        native = event.facts or {}
        self.lineage.flat = is_flat(native.get("version"))
        self.lineage.parent = native.get("branchedFrom")

    def _message(self, event: Message, _: Record) -> None:
        if self.at is None:
            self.at = event.native_at  # version 1 entries may have no time of their own
        if event.role == "assistant":
            self._mark("answer")
            if event.model is not None:
                self.facts.model = event.model
        elif event.author == "human":
            self._mark("prompt")
            if self.facts.first_prompt is None and (text := event.text):
                self.facts.first_prompt = text[:PROMPT_CHARS]

    def _usage(self, event: Usage, record: Record) -> None:
        counts = event.counts
        self.work.samples.append(
            Sample(
                self.key,
                Additive(counts.input, counts.output, counts.cache_read, counts.cache_write),
                record.line,
                record.start,
                record.end,
                self.at,
                self.facts.id,
                event.model,
                self.facts.cwd,
                lower_bound=event.stop_reason == "aborted",
                cost=event.cost,
                provider=event.provider,
                aside=event.basis != "message" or event.model is None,  # a summary, a tool
            )
        )

    def _call(self, event: ToolCall, _: Record) -> None:
        self._mark("call", event.index if event.id is None else event.id)

    def _result(self, event: ToolResult, _: Record) -> None:
        if self.at is None:
            self.at = event.native_at
        self._mark("result")

    def _compaction(self, _: Compaction, __: Record) -> None:
        self._mark("compaction")

    def _model_change(self, event: ModelChange, _: Record) -> None:
        if event.model is not None:
            self.facts.model = event.model

    def _name(self, event: SessionName, _: Record) -> None:
        self.work.titles.append(Title(event.text, TITLE_RANK, self.facts.id, clears=True))


_TAKE: dict[type, Any] = {
    Meta: _Fold._meta,
    Message: _Fold._message,
    Usage: _Fold._usage,
    ToolCall: _Fold._call,
    ToolResult: _Fold._result,
    Compaction: _Fold._compaction,
    ModelChange: _Fold._model_change,
    SessionName: _Fold._name,
}
