"""What Codex shows its model (sheet CODEX 4, 6, 7, 10; held against what 0.169 itself makes of its files).

All items in order. A compaction puts its `replacement_history` in the place of all before it; up to 0.98 it wrote none, and
then stand the first instructions, what the person said, and the summary, as the client builds it. A rollback takes the last
turns away. A fork or a reverted thread in paginated form goes on from another file, up to an ordinal.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...contract import Place, ReadOptions
from ...jsontext import value_of
from ...model import (
    Compaction,
    CustomMessage,
    Event,
    Message,
    Meta,
    Record,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)
from ...seen import BaseRule, Branch, Chosen, ContextRule, Entry, Kind, Left, Seen, look
from ...typed import Part
from ..base import Aside, Refused
from .items import ITEMS
from .lines import LABELS, SCHEMA
from .session import CodexSession, named


class _Payload(msgspec.Struct, gc=False):
    replacement_history: list[msgspec.Raw] | None = None


class _Compacted(msgspec.Struct, gc=False):
    payload: _Payload | None = None


class _Numbered(msgspec.Struct, gc=False):
    ordinal: int | None = None


_COMPACTED: Part[_Compacted] = Part(_Compacted)
_NUMBERED: Part[_Numbered] = Part(_Numbered)

_REBUILT = (
    "this version does not write what its compaction kept: shown are the first instructions, the person's messages and "
    "the summary, as the client builds it"
)
_UNREAD = "an item inside a compaction is of no known type, or could not be read"


def choose(branch: Branch) -> Chosen:
    """The messages at the end of a thread's records."""
    chosen = Chosen()
    now: list[Seen] = []
    for entry in branch.entries:
        for event in entry.events:
            if isinstance(event, Compaction):
                now = _compact(entry, event, now, branch, chosen)
                break
            if isinstance(event, Turn):
                if event.state == "rolled_back":
                    now = _roll_back(entry, event.count, now, chosen)
                break
            seen = _seen(entry, event, entry.events)
            if seen is not None:
                now.append(seen)
                break
    chosen.seen = now
    # An entry that was taken out and shown again by a later compaction's own copy stays left: the copy is what is shown.
    return chosen


def _seen(entry: Entry, event: Event, events: list[Event]) -> Seen | None:
    """The message one item is, by its first event."""
    if isinstance(event, Message):
        return Seen(entry, event.role, _kind(event), events)
    if isinstance(event, ToolCall | Thinking):
        return Seen(entry, "assistant", "message", events)
    if isinstance(event, ToolResult):
        return Seen(entry, "tool", "tool_result", events, name=event.name)
    if isinstance(event, CustomMessage):
        return Seen(entry, event.name, "custom", events)
    return None


def _kind(message: Message) -> Kind:
    if message.author == "summary":
        return "compaction_summary"
    if message.role in ("developer", "system"):
        return "system"
    if message.author == "command":
        return "command"
    return "message" if message.author in ("human", "agent", "task") else "reminder"


def _compact(entry: Entry, about: Compaction, now: list[Seen], branch: Branch, chosen: Chosen) -> list[Seen]:
    """What stands in the place of all before a compaction."""
    for one in now:
        if one.entry.events and not any(event.__class__ is Compaction for event in one.entry.events):
            chosen.left.append(Left(one.entry, "compacted", entry))
    found = look(_COMPACTED, branch.again(entry))
    history = found.payload.replacement_history if found is not None and found.payload is not None else None
    if history is None:
        return _rebuilt(entry, about, now, chosen)
    session = CodexSession(Place(name="", stem=""), ReadOptions())
    kept = []
    for raw in history:
        seen = _inside(raw, entry, session)
        if seen is None:
            if _UNREAD not in chosen.doubts:
                chosen.doubts.append(_UNREAD)
        elif isinstance(seen, Seen):
            if about.summary and any(isinstance(e, Message) and e.text == about.summary for e in seen.events):
                seen.kind = "compaction_summary"
            kept.append(seen)
    return kept


def _inside(raw: msgspec.Raw, entry: Entry, session: CodexSession) -> Seen | Aside | None:
    """One item that stands inside a compaction; an Aside for one that says nothing, None for one that cannot be read."""
    item = _item(bytes(raw))
    label = LABELS.get(item.__class__)
    head = msgspec.structs.replace(entry.record, type="response_item")
    if label in ("response_item:compaction", "response_item:context_compaction"):
        # The summary, for the provider's eyes only.
        return Seen(entry, "compaction", "compaction_summary", [Thinking(head, 3, "", True)])
    if label is not None:
        return Aside(label, True)
    project = ITEMS.get(item.__class__)
    if project is None:
        return None
    return _projected(project, item, entry, head, session)


def _item(raw: bytes) -> Any:
    """An item as the struct of its type; what does not fit is unknown in it. None for what is no item."""
    try:
        return SCHEMA.first(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return SCHEMA.fit(value_of(raw)).record
    except (ValueError, TypeError, AttributeError):
        return None


def _projected(project: Any, item: Any, entry: Entry, head: Record, session: CodexSession) -> Seen | None:
    try:
        events = project(session, item, None, head)
    except Refused:
        return None
    if isinstance(events, Aside) or not events:
        return None
    return _seen(entry, events[0], events)


def _rebuilt(entry: Entry, about: Compaction, now: list[Seen], chosen: Chosen) -> list[Seen]:
    """A compaction that says only its summary. What it keeps by its rule is shown, and not left."""
    first = next((n for n, one in enumerate(now) if _opens(one)), len(now))
    kept = [one for n, one in enumerate(now) if (n < first and one.kind in ("system", "reminder")) or _opens(one)]
    shown = {id(one.entry) for one in kept}
    chosen.left = [left for left in chosen.left if left.by is not entry or id(left.entry) not in shown]
    if _REBUILT not in chosen.doubts:
        chosen.doubts.append(_REBUILT)
    return [*kept, Seen(entry, "user", "compaction_summary", [], about.summary or "")]


def _opens(seen: Seen) -> bool:
    """Whether a message opens a turn: a person's own, or the task a parent gave."""
    return any(isinstance(e, Message) and e.role == "user" and e.author in ("human", "task") for e in seen.events)


def _roll_back(entry: Entry, turns: int | None, now: list[Seen], chosen: Chosen) -> list[Seen]:
    """The last turns undone; what stands before the first prompt stays."""
    opens = [n for n, one in enumerate(now) if _opens(one)]
    if not turns or not opens:
        return now
    cut = opens[max(0, len(opens) - turns)]
    for one in now[cut:]:
        if not any(event.__class__ is Compaction for event in one.entry.events):
            chosen.left.append(Left(one.entry, "rolled_back", entry))
    return now[:cut]


def _base(entries: list[Entry]) -> tuple[str, int] | None:
    """The thread a file goes on from and the ordinal up to which it does, by its first session_meta."""
    for entry in entries[:1]:
        for event in entry.events:
            if isinstance(event, Meta):
                found = (event.facts or {}).get("history_base")
                if isinstance(found, dict):
                    thread, end = found.get("thread_id"), found.get("end_ordinal_exclusive")
                    if isinstance(thread, str) and isinstance(end, int):
                        return thread, end
    return None


def _ordinal(record: bytes) -> int | None:
    found = look(_NUMBERED, record)
    return None if found is None else found.ordinal


CONTEXT = ContextRule(
    choose=choose,
    provider="model_provider",
    effort="effort",
    base=BaseRule(of=_base, ordinal=_ordinal, thread=lambda stem: named(stem)[0]),
)
