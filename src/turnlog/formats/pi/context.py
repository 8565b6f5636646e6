"""What Pi shows its model (sheet PI 7, 'Context for the model'; held against what Pi 1.6.0 itself makes of its files).

The last compaction on the branch stands first, with the instructions it carries; after it what it kept, without older
instructions, and all that came later. Then edits: the last one of each target counts, and only those among what is shown.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...model import (
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Event,
    Image,
    Message,
    ToolCall,
    ToolResult,
)
from ...seen import Branch, Chosen, ContextRule, Entry, Kind, Left, Seen, look
from ...typed import Part
from .types import ENTRY_TYPES


class _System(msgspec.Struct, gc=False):
    content: Any = None
    sections: Any = None


class _Holder(msgspec.Struct, gc=False):
    """The two places where instructions stand: a message of its own, and inside a compaction."""

    message: _System | None = None
    systemMessage: _System | None = None


_HOLDER: Part[_Holder] = Part(_Holder)


def choose(branch: Branch) -> Chosen:
    """The messages of a branch, as Pi selects and converts them."""
    chosen = Chosen()
    shown = _selected(branch.entries, chosen)
    edits = _edits(shown)
    for entry in shown:
        seen = _messages(entry, branch, chosen)
        edit = edits.get(entry.record.id) if seen else None
        if edit is not None:
            by, replacement = edit
            if replacement is None:
                chosen.left.append(Left(entry, "taken_out", by))
                continue
            for one in seen:
                _replace(one, by, replacement)
        chosen.seen += seen
    return chosen


def _selected(entries: list[Entry], chosen: Chosen) -> list[Entry]:
    """The entries that make the context: of several compactions the last one on the branch counts."""
    last = next((n for n in range(len(entries) - 1, -1, -1) if _compaction(entries[n]) is not None), None)
    if last is None:
        return entries
    by = entries[last]
    about = _compaction(by)
    assert about is not None
    first = last  # a first entry that is not on the branch keeps nothing
    if about.first_kept is not None:
        first = next((n for n in range(last) if entries[n].record.id == about.first_kept), last)
    kept = []
    for n, entry in enumerate(entries[:last]):
        if n < first:
            if _says(entry):
                chosen.left.append(Left(entry, "compacted", by))
        elif _compaction(entry) is not None:
            chosen.left.append(Left(entry, "older_compaction", by))
        elif any(event.__class__ is Message and event.role == "system" for event in entry.events):
            chosen.left.append(Left(entry, "replaced_system", by))
        else:
            kept.append(entry)
    return [by, *kept, *entries[last + 1 :]]


def _compaction(entry: Entry) -> Compaction | None:
    return next((event for event in entry.events if isinstance(event, Compaction)), None)


def _says(entry: Entry) -> bool:
    """Whether an entry might be shown at all."""
    return any(event.__class__ in _SAYING for event in entry.events) or _unknown(entry)


_SAYING = frozenset((Message, ToolResult, CustomMessage, BranchSummary, Compaction))


def _unknown(entry: Entry) -> bool:
    """Whether nobody knows the entry's type, or its message's role."""
    if entry.record.type not in ENTRY_TYPES:
        return True
    return entry.record.type == "message" and any(event.__class__ is Custom for event in entry.events)


def _edits(shown: list[Entry]) -> dict[str | None, tuple[Entry, Any]]:
    """The last edit of each target among what is shown."""
    edits: dict[str | None, tuple[Entry, Any]] = {}
    for entry in shown:
        for event in entry.events:
            if isinstance(event, ContextEdit) and event.target_id is not None:
                edits[event.target_id] = (entry, event.replacement)
    return edits


_CONVERTED: dict[str, tuple[str, Kind]] = {
    "system": ("system", "system"),
    "user": ("user", "message"),
    "assistant": ("assistant", "message"),
    "bashExecution": ("bashExecution", "command"),
    "branchSummary": ("branchSummary", "branch_summary"),
    "compactionSummary": ("compactionSummary", "compaction_summary"),
}
"""Roles of stored messages: the word Pi has for it, and what it is."""


def _messages(entry: Entry, branch: Branch, chosen: Chosen) -> list[Seen]:
    """What one entry gives the model: mostly one message or none."""
    for event in entry.events:
        if isinstance(event, Message) and event.role in _CONVERTED:
            role, kind = _CONVERTED[event.role]
            if (event.facts or {}).get("excludeFromContext") is True:
                chosen.left.append(Left(entry, "excluded"))
                return []
            text = _instructions(entry, branch, own=True) if role == "system" else None
            return [Seen(entry, role, kind, entry.events, text)]
        if isinstance(event, ToolResult):
            return [Seen(entry, "toolResult", "tool_result", entry.events, name=event.name)]
        if isinstance(event, CustomMessage):
            return [Seen(entry, "custom", "custom", entry.events, name=event.name or None)]
        if isinstance(event, BranchSummary):
            if not event.summary:
                chosen.left.append(Left(entry, "empty"))
                return []
            return [Seen(entry, "branchSummary", "branch_summary", [], event.summary)]
        if isinstance(event, Compaction):
            summary = Seen(entry, "compactionSummary", "compaction_summary", [], event.summary or "")
            instructions = _instructions(entry, branch, own=False)
            if instructions is None:
                return [summary]
            return [Seen(entry, "system", "system", [], instructions), summary]
    if _unknown(entry):
        chosen.left.append(Left(entry, "unknown_type"))
    return []


def _instructions(entry: Entry, branch: Branch, *, own: bool) -> str | None:
    """The text of instructions: what is said outright, then each section; None where the entry holds none."""
    found = look(_HOLDER, branch.again(entry))
    system = None if found is None else found.message if own else found.systemMessage
    if system is None:
        return None
    texts = [_text(system.content)]
    if isinstance(system.sections, dict):
        texts += [text for text in system.sections.values() if isinstance(text, str)]
    return "\n\n".join(filter(None, texts))


def _text(content: Any) -> str:
    """The text of a content: a string, or blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def _replace(seen: Seen, by: Entry, replacement: Any) -> None:
    """Show a message with an edit's content in the place of its own."""
    content = replacement.get("content") if isinstance(replacement, dict) else None
    head = seen.entry.record
    events: list[Event] = [event for event in seen.events if event.__class__ in (Message, ToolResult, CustomMessage)]
    for n, block in enumerate(content if isinstance(content, list) else [], 3):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "image":
            events.append(Image(head, n))
        elif block.get("type") == "toolCall":
            name, key = block.get("name"), block.get("id")
            events.append(
                ToolCall(
                    head,
                    n,
                    key if isinstance(key, str) else None,
                    name if isinstance(name, str) else "",
                    block.get("arguments"),
                )
            )
    seen.events, seen.text, seen.edited_by = events, _text(content), by


CONTEXT = ContextRule(choose=choose, level="off")
