"""A session as turns: what a person asked, and all that came of it. Pure functions of events; no file, no clock.

Calls stand where they were made, with their results; what a subagent wrote into the same file is nested where it began.
A record that a client wrote again (same id, type and time) is shown once. Nothing is sorted by time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import LineFault
from ..formats.base import TransactionRule
from ..model import (
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Event,
    Image,
    Item,
    Label,
    Message,
    Meta,
    ModelChange,
    Prompt,
    Record,
    Thinking,
    ThinkingLevelChange,
    ToolCall,
    ToolResult,
    Turn,
)  # fmt: skip
from .turns import AnyStep, Asked, Call, Fault, Note, Picture, Result, Side, Text, Thought, TurnView

OPENS = ("human", "task", "command")
"""Whose messages open a turn."""

_NOTES = {
    "injected": True,
    "system": True,
    "warmup": True,
    "output": False,
    "notice": False,
    "interruption": False,
    "summary": True,
}
"""Authors whose messages are notes, and whether a reader can do without them."""


def transcript(items: Iterable[Item], transaction: TransactionRule | None = None) -> list[TurnView]:
    """The turns of one file's items, in physical order. A turn without a prompt stands first where something comes
    before one. transaction: how the agent frames an append; one that was never committed is told in its place."""
    held = list(items)
    nested = any(not item.record.sidechain for item in held if isinstance(item, Message))
    main = _Side(None)
    sides = _Sides(main)
    again = _Again()
    for item in held:
        if isinstance(item, LineFault):
            main.fault(item)
            continue
        record = item.record
        if again.seen(record):
            continue
        side = sides.of(record) if nested and record.sidechain else main
        take = _TAKE.get(item.__class__)
        if take is not None:
            take(side, item, record)
        if transaction is not None:
            main.frame(item, record, transaction)
        side.follow(record)
    for side in (main, *sides.all):
        side.finish()
    return main.turns


class _Again:
    """Records written again, known by id, type and time."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str, str | None], int] = {}

    def seen(self, record: Record) -> bool:
        if record.id is None:
            return False
        return self.known.setdefault((record.id, record.type, record.at_text), record.start) != record.start


class _Side:
    """The turns of one line of talk under way: the main one, or a subagent's."""

    def __init__(self, agent_id: str | None) -> None:
        self.agent_id = agent_id
        self.turns: list[TurnView] = []
        self.calls: dict[str, Call] = {}
        self.queued: list[tuple[TurnView, Note]] = []
        self.asked: set[str] = set()
        self.children: set[str] = set()  # ids after which the talk went on
        self.open: tuple[TurnView, Note] | None = None  # where an append began that is not committed so far

    def turn(self) -> TurnView:
        """The turn that is open."""
        if not self.turns:
            self.turns.append(TurnView(number=0))
        return self.turns[-1]

    def add(self, step: AnyStep) -> None:
        self.turn().steps.append(step)

    def follow(self, record: Record) -> None:
        """The talk goes on after the record's parent."""
        if record.parent_id is not None and record.type in ("user", "assistant", "message"):
            self.children.add(record.parent_id)

    def fault(self, fault: LineFault) -> None:
        said = fault.sentence().split(": ", 1)[-1]
        self.add(
            Fault(
                line=fault.line, start=fault.start, end=fault.end, fault=fault.fault.value, said=said,
                recovered=fault.recovered,
            )
        )  # fmt: skip

    def message(self, event: Message, record: Record) -> None:
        text = event.text
        author = event.author
        if author in OPENS and event.role in ("user", "system"):
            self._open(record, text, author)
        elif event.role == "assistant" or author in ("agent", "error"):
            if text.strip():
                model = event.model
                self.add(Text(text=text, model=model, error=author == "error", **_place(record)))
        elif author != "tool" or text.strip():
            minor = _NOTES.get(author, True)
            if text.strip():
                self.note(record, author if author in _NOTES else "injected", text, minor=minor)

    def _open(self, record: Record, text: str, author: str) -> None:
        parent = record.parent_id
        if author == "human" and parent is not None and parent in self.children:
            self.note(record, "branch", "goes on from an earlier place: another branch of the talk")
        self.asked.add(text)
        number = self.turns[-1].number + 1 if self.turns else 1
        self.turns.append(TurnView(number=number, prompt=Asked(text=text, author=author, **_place(record))))

    def prompt(self, event: Prompt, record: Record) -> None:
        """A queued prompt mostly comes again as a message; what never does is shown where it was queued."""
        if event.queued and event.text.strip():
            note = Note(what="queued", text=event.text, **_place(record))
            self.queued.append((self.turn(), note))
            self.add(note)

    def finish(self) -> None:
        for turn, note in self.queued:
            if note.text in self.asked:
                turn.steps.remove(note)
        if self.turns and self.turns[0].prompt is None and not self.turns[0].steps:
            del self.turns[0]

    def frame(self, item: Event, record: Record, rule: TransactionRule) -> None:
        """An append begins, which is told until it is committed."""
        if isinstance(item, Custom) and item.name == rule.begin:
            said = "the agent itself discards what follows: it never said that it was done"
            note = Note(what="uncommitted", text=said, **_place(record))
            self.open = (self.turn(), note)
            self.add(note)
        elif isinstance(item, Meta) and self.open is not None and (item.facts or {}).get(rule.committed) is True:
            turn, note = self.open
            turn.steps.remove(note)
            self.open = None

    def thinking(self, event: Thinking, record: Record) -> None:
        text = event.text
        if not text.strip() and not event.redacted:
            return
        step = Thought(text=text, redacted=event.redacted, **_place(record))
        steps = self.turn().steps
        # A record's texts are joined and come first; it thought before it spoke.
        if steps and isinstance(steps[-1], Text) and steps[-1].start == record.start:
            steps.insert(len(steps) - 1, step)
        else:
            steps.append(step)

    def call(self, event: ToolCall, record: Record) -> None:
        known = self.calls.get(event.id) if event.id is not None else None
        if known is not None and known.name == event.name:
            return  # an answer that was streamed into several lines, or a mirrored one
        step = Call(id=event.id, name=event.name, arguments=event.arguments, **_place(record))
        if event.id is not None:
            self.calls[event.id] = step
        self.add(step)

    def result(self, event: ToolResult, record: Record) -> None:
        step = Result(call_id=event.call_id, text=event.text, is_error=event.is_error, **_place(record))
        call = self.calls.get(event.call_id) if event.call_id is not None else None
        if call is None:
            self.add(step)
        elif call.result is None:
            call.result = step
        elif call.result.text != step.text:
            call.more.append(step)

    def image(self, event: Image, record: Record) -> None:
        step = Picture(
            media_type=event.media_type, size=event.base64_size, location=event.location, **_place(record)
        )  # fmt: skip
        call = self.calls.get(event.call_id) if event.call_id is not None else None
        if call is not None and call.result is not None:
            (call.more[-1] if call.more else call.result).images.append(step)
        else:
            self.add(step)

    def note(self, record: Record, what: str, text: str = "", *, minor: bool = False) -> None:
        self.add(Note(what=what, text=text, minor=minor, **_place(record)))


class _Sides:
    """What subagents wrote into this file: told apart by their id, else by whose parent is whose."""

    def __init__(self, main: _Side) -> None:
        self.main = main
        self.all: list[_Side] = []
        self.by_agent: dict[str, _Side] = {}
        self.by_record: dict[str, _Side] = {}

    def of(self, record: Record) -> _Side:
        side = None
        if record.agent_id is not None:
            side = self.by_agent.get(record.agent_id)
        elif record.parent_id is not None:
            side = self.by_record.get(record.parent_id)
        if side is None:
            side = _Side(record.agent_id)
            self.all.append(side)
            self.main.add(Side(agent_id=record.agent_id, turns=side.turns, **_place(record)))
            if record.agent_id is not None:
                self.by_agent[record.agent_id] = side
        if record.id is not None:
            self.by_record[record.id] = side
        return side


def _place(record: Record) -> dict[str, Any]:
    return {"line": record.line, "start": record.start, "end": record.end, "at": record.at}


def _compaction(side: _Side, event: Compaction, record: Record) -> None:
    parts = [event.trigger] if event.trigger else []
    if event.tokens_before is not None:
        parts.append(f"{event.tokens_before} tokens before")
    if event.tokens_after is not None:
        parts.append(f"{event.tokens_after} after")
    summary = f"\n{event.summary}" if event.summary else ""
    side.note(record, "compaction", ", ".join(parts) + summary)


def _custom_message(side: _Side, event: CustomMessage, record: Record) -> None:
    if event.text.strip():
        side.note(
            record, "custom", f"{event.name}: {event.text}" if event.name else event.text, minor=not event.display
        )


def _custom(side: _Side, event: Custom, record: Record) -> None:
    side.note(record, "custom", event.name, minor=True)


def _turn(side: _Side, event: Turn, record: Record) -> None:
    if event.state in ("aborted", "failed", "rolled_back", "reverted"):
        side.note(record, event.state, event.error or "")


def _changed(what: str, name: str) -> Any:
    def take(side: _Side, event: Event, record: Record) -> None:
        side.note(record, what, getattr(event, name) or "")

    return take


def _label(side: _Side, event: Label, record: Record) -> None:
    side.note(record, "label", event.text or "", minor=True)


def _context_edit(side: _Side, event: ContextEdit, record: Record) -> None:
    said = "taken out of the context" if event.replacement is None else "shown to the model changed"
    side.note(record, "context_edit", f"an earlier entry is {said}", minor=True)


_TAKE: dict[type, Any] = {
    Message: _Side.message,
    Prompt: _Side.prompt,
    Thinking: _Side.thinking,
    ToolCall: _Side.call,
    ToolResult: _Side.result,
    Image: _Side.image,
    Compaction: _compaction,
    BranchSummary: _changed("branch_summary", "summary"),
    ModelChange: _changed("model", "model"),
    ThinkingLevelChange: _changed("thinking_level", "level"),
    CustomMessage: _custom_message,
    Custom: _custom,
    Turn: _turn,
    Label: _label,
    ContextEdit: _context_edit,
}
