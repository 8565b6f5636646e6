"""The work a swink-agent file says was done (sheet SWINK_AGENT 2 and 4).

Messages have no ids, so a call is known by its session, its number in the file and its time. What was appended and never
committed the agent itself discards: it was spent all the same, so it is flagged and kept apart, and it widens no fact of
the session.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...contract import Place
from ...errors import LineFault
from ...model import (
    Compaction,
    Custom,
    Event,
    Item,
    Message,
    Meta,
    ModelChange,
    Record,
    SessionName,
    ToolCall,
    ToolResult,
    Usage,
)
from ...tokens import Additive
from ...work import FileWork, Left, Mark, Sample, SessionFacts, Title, What
from .session import session_of

PROMPT_CHARS = 200


def fold(place: Place, items: Iterable[Item]) -> FileWork:
    """Fold one file's items. What was never committed is flagged so."""
    return _Fold(place).run(items)


class _Fold:
    """One file's fold under way. While a transaction is open its events wait in `held`."""

    def __init__(self, place: Place) -> None:
        self.work = FileWork(place.name, "swink")
        self.named = session_of(place)
        self.file = self.named or place.stem or place.name
        self.facts: SessionFacts | None = None
        self.open = False
        self.held: list[Event] = []
        self.dropped = False  # what is folded now was never committed
        self.record: Record | None = None
        self.number = 0
        self.summaries: list[Mark] = []

    def run(self, items: Iterable[Item]) -> FileWork:
        for item in items:
            if isinstance(item, LineFault):
                continue
            if item.__class__ is Custom and item.name == "_append":
                self._discard()
                self.open = True
            elif item.__class__ is Meta and item.facts and item.facts.get("committed") is True:
                self._release()
                self._fold(item)
            elif self.open:
                self.held.append(item)
            else:
                self._fold(item)
        self._discard()
        # The compactor leaves its summary in the talk; it stands for the compaction where no entry does.
        if not any(mark.what == "compaction" for mark in self.work.marks):
            self.work.marks += self.summaries
        return self.work

    def _release(self) -> None:
        """The append was committed: what it holds counts."""
        held, self.held, self.open = self.held, [], False
        for event in held:
            self._fold(event)

    def _discard(self) -> None:
        """A transaction that is open now never was committed."""
        if self.open:
            self.dropped = True
            self._release()
            self.dropped = False

    def _fold(self, event: Event) -> None:
        record = event.record
        if record is not self.record:
            self.record = record
            session = record.session_id or self.file
            if self.facts is None or self.facts.id != session:
                self.facts = self.work.session(session)
            if not self.dropped:
                self.facts.seen(record.at)
        take = _TAKE.get(event.__class__)
        if take is not None:
            take(self, event, record, self.facts)

    def _key(self, what: str, record: Record, facts: SessionFacts, *more: Any) -> tuple[Any, ...]:
        """Equal for the same line in a copy of the file: session, number of the message, and time."""
        return ("swink", facts.id, what, self.number, record.at_text, *more)

    def _mark(self, what: What, key: tuple[Any, ...], record: Record, facts: SessionFacts) -> Mark:
        return Mark(what, key, record.line, record.at, facts.id, uncommitted=self.dropped)

    def _message(self, event: Message, record: Record, facts: SessionFacts) -> None:
        self.number += 1
        if event.author == "summary":
            self.summaries.append(self._mark("compaction", self._key("summary", record, facts), record, facts))
        elif event.role == "assistant":
            self.work.marks.append(self._mark("answer", self._key("answer", record, facts), record, facts))
            if event.model is not None and not self.dropped:
                facts.model = event.model
        else:
            self.work.marks.append(self._mark("prompt", self._key("prompt", record, facts), record, facts))
            if facts.first_prompt is None and not self.dropped and (text := event.text):
                facts.first_prompt = text[:PROMPT_CHARS]

    def _usage(self, event: Usage, record: Record, facts: SessionFacts) -> None:
        counts = event.counts
        sample = Sample(
            self._key("usage", record, facts),
            Additive(counts.input, counts.output, counts.cache_read, counts.cache_write),
            record.line,
            record.start,
            record.end,
            record.at,
            facts.id,
            event.model,
            uncommitted=self.dropped,
            cost=event.cost,
            provider=event.provider,
        )
        if event.model is None and not sample.counts.total:
            self.work.left.append(Left(sample, "no call: a line without model and tokens"))
        else:
            self.work.samples.append(sample)

    def _call(self, event: ToolCall, record: Record, facts: SessionFacts) -> None:
        self._tool("call", event.id, event, record, facts)

    def _result(self, event: ToolResult, record: Record, facts: SessionFacts) -> None:
        self.number += 1
        self._tool("result", event.call_id, event, record, facts)

    def _tool(self, what: What, call: str | None, event: Event, record: Record, facts: SessionFacts) -> None:
        key = ("swink", facts.id, what, call) if call is not None else self._key(what, record, facts, event.index)
        self.work.marks.append(self._mark(what, key, record, facts))

    def _compaction(self, event: Compaction, record: Record, facts: SessionFacts) -> None:
        key = self._key("compaction", record, facts, event.tokens_before, event.tokens_after)
        self.work.marks.append(self._mark("compaction", key, record, facts))

    def _model_change(self, event: ModelChange, _: Record, facts: SessionFacts) -> None:
        if event.model is not None and not self.dropped:
            facts.model = event.model

    def _name(self, event: SessionName, _: Record, facts: SessionFacts) -> None:
        if not self.dropped:
            self.work.titles.append(Title(event.text, 1, facts.id))


_TAKE: dict[type, Any] = {
    Message: _Fold._message,
    Usage: _Fold._usage,
    ToolCall: _Fold._call,
    ToolResult: _Fold._result,
    Compaction: _Fold._compaction,
    ModelChange: _Fold._model_change,
    SessionName: _Fold._name,
}
