"""What one node of a tree says, in a few words: who speaks, and the beginning of it. Pure functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..model import (
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    CustomMessage,
    Event,
    Label,
    Message,
    ModelChange,
    SessionName,
    ThinkingLevelChange,
    ToolCall,
    ToolResult,
    Turn,
    told,
)  # fmt: skip
from ..views.threads import Thread
from ..views.tree import Node
from .gist import gist_of
from .text import first_line, grouped, one_line

ROOM = 240
"""Cells of a text that are kept; a terminal shows fewer."""


class Said(msgspec.Struct):
    """A node in words. kind: what one such is called in a run. shown: it is never passed over."""

    kind: str
    who: str
    text: str = ""
    tone: str = "quiet"
    text_tone: str = "quiet"
    shown: bool = False


def speaks(node: Node) -> str | None:
    """Whether a person speaks, or the agent with words."""
    event = node.event
    if event.__class__ is not Message:
        return None
    if event.author in ("human", "task", "command"):
        return "person"
    return "agent" if event.author == "agent" and _begins(event) else None


def said_of(node: Node) -> Said:
    """The words for a node."""
    event = node.event
    take = _SAID.get(event.__class__)
    found = take(event, node) if take is not None else Said(event.kind.replace("_", " "), event.kind.replace("_", " "))
    if node.record.type in ("turn", "compaction") and any(e.__class__ is Turn for e in node.events):
        state = next((e.state for e in reversed(node.events) if e.__class__ is Turn), "")
        if state in ("aborted", "failed"):
            found.text = f"({state}) {found.text}".rstrip()
    return found


def _begins(event: Any) -> str:
    """The first words of a text, without decoding a long one whole more than once."""
    body = event.body
    parts = body if body.__class__ is tuple else (body,)
    for part in parts:
        if part and (words := first_line(told(part), ROOM)):
            return words
    return ""


def _id(key: str | None) -> str:
    """An id of another record, at about the length ids are shown at."""
    return one_line((key or "")[:8])


_AUTHORS: dict[str, tuple[str, str, str, str]] = {
    "human": ("prompt", "you", "people", "strong"),
    "task": ("task", "task", "people", "plain"),
    "command": ("command", "you", "people", "quiet"),
    "warmup": ("warm-up", "warm-up", "quiet", "quiet"),
    "agent": ("step", "agent", "agent", "plain"),
    "error": ("error", "error", "trouble", "trouble"),
    "tool": ("result", "tool", "quiet", "quiet"),
    "injected": ("client's word", "client", "quiet", "quiet"),
    "system": ("system message", "system", "quiet", "quiet"),
    "summary": ("summary", "summary", "quiet", "quiet"),
    "output": ("output", "output", "quiet", "quiet"),
    "notice": ("notice", "notice", "quiet", "quiet"),
    "interruption": ("interruption", "stopped", "trouble", "quiet"),
}
"""For each author: what such nodes are counted as, who speaks, the tones of who and of the text."""


def _message(event: Message, node: Node) -> Said:
    kind, who, tone, text_tone = _AUTHORS[event.author]
    text = _begins(event)
    if event.author == "agent":
        if not text:
            text = _calls(node)
        if event.stop_reason in ("aborted", "error"):
            text = f"({event.stop_reason}) {text}".rstrip()
    elif not text and event.author == "tool":
        text = next((_begins(e) for e in node.events if e.__class__ is ToolResult), "")
    return Said(kind, who, text, tone, text_tone, event.author in ("human", "task", "error", "interruption"))


def _calls(node: Node) -> str:
    calls = [event for event in node.events if isinstance(event, ToolCall)]
    if not calls:
        return "(thinks)" if any(event.kind == "thinking" for event in node.events) else ""
    names = [f"{one_line(call.name, 40)} {gist_of(call.arguments, ROOM)}".rstrip() for call in calls[:3]]
    return ", ".join(names) + (f" and {len(calls) - 3} more" if len(calls) > 3 else "")


def _result(event: ToolResult, _: Node) -> Said:
    return Said("result", "tool", _begins(event), "trouble" if event.is_error else "quiet")


def _compaction(event: Compaction, _: Node) -> Said:
    parts = [event.trigger] if event.trigger else []
    if event.tokens_before is not None:
        parts.append(f"{grouped(event.tokens_before)} tokens summarised")
    if event.first_kept is not None and event.first_kept == event.record.id:
        parts.append("nothing kept")
    elif event.first_kept is not None:
        parts.append(f"kept from {_id(event.first_kept)}")
    return Said("compaction", "compact", ", ".join(parts), "strong", "plain", shown=True)


def _branch_summary(event: BranchSummary, _: Node) -> Said:
    return Said("branch summary", "summary", f"of the branch left: {first_line(event.summary, ROOM)}", shown=True)


def _label(event: Label, _: Node) -> Said:
    target = _id(event.target_id)
    return Said("label", "label", f'"{one_line(event.text, 60)}" on {target}' if event.text else f"cleared on {target}")


def _name(event: SessionName, _: Node) -> Said:
    return Said("name", "name", f'"{one_line(event.text, ROOM)}"' if event.text else "cleared", shown=True)


def _model(event: ModelChange, _: Node) -> Said:
    return Said("model change", "model", one_line(event.model or "", ROOM), shown=True)


def _level(event: ThinkingLevelChange, _: Node) -> Said:
    return Said("thinking level", "thinking", one_line(event.level or "", 60))


def _edit(event: ContextEdit, _: Node) -> Said:
    done = "takes" if event.replacement is None else "changes"
    rest = "out of the context" if event.replacement is None else "for the model"
    return Said("context edit", "edit", f"{done} {_id(event.target_id)} {rest}")


def _custom(event: Custom, _: Node) -> Said:
    return Said("client's record", "client", one_line(event.name, ROOM))


def _custom_message(event: CustomMessage, _: Node) -> Said:
    return Said("extension's message", one_line(event.name, 8) or "custom", first_line(event.text, ROOM))


def _turn(event: Turn, _: Node) -> Said:
    if event.state == "started":
        return Said("turn", "turn", "(nobody typed anything)", shown=True)
    return Said("turn end", "turn", event.state, shown=event.state != "completed")


def _thread(event: Thread, _: Node) -> Said:
    return Said("session", event.how, "", "agent", "plain", shown=True)


_SAID: dict[type[Event], Callable[[Any, Node], Said]] = {
    Message: _message,
    ToolResult: _result,
    Compaction: _compaction,
    BranchSummary: _branch_summary,
    Label: _label,
    SessionName: _name,
    ModelChange: _model,
    ThinkingLevelChange: _level,
    ContextEdit: _edit,
    Custom: _custom,
    CustomMessage: _custom_message,
    Turn: _turn,
    Thread: _thread,
}
