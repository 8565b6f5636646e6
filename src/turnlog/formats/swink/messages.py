"""swink-agent's messages to events: roles, blocks, counts and times (sheet SWINK_AGENT 4 and 5).

A message is the same whether it stands raw on its line or in the `data` of a tagged entry.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from ...contract import MAX_U64
from ...errors import FaultKind, Problem
from ...model import (
    Author,
    Body,
    Custom,
    Event,
    Image,
    Message,
    Record,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    valued,
)
from ...tokens import Counts, Semantics
from ..base import Aside, Session, since_epoch
from .lines import Block, Cost, Said, TokenUsage

SUMMARY_OPENING = "[Context summary of earlier conversation]\n"
"""How a message begins that the compactor put in, with time 0 and no model (sheet 5)."""

SMALL_DATA = 4096
"""Bytes of JSON text up to which a host's own data travels with its event; beyond, the bytes are in the file."""


class MessageSession(Session):
    """How a message of any role is said; what the lines around it say is in `session`."""

    __slots__ = ()

    def _said(self, said: Said, head: Record, path: str) -> list[Event] | Aside:
        project = _ROLES.get(said.role)
        if project is None:
            return Aside(f"role:{said.role}", known=False)
        self._time(head, said.timestamp, path)
        return project(self, said, head, path)  # type: ignore[no-any-return]

    def _user(self, said: Said, head: Record, path: str) -> list[Event]:
        message = Message(head, 1, "user", author="human")
        out: list[Event] = [message]
        message.body = self._blocks(said, head, path, out)
        if not said.timestamp and message.text.startswith(SUMMARY_OPENING):
            message.author = "summary"
        return out

    def _assistant(self, said: Said, head: Record, path: str) -> list[Event]:
        model = said.model_id or None
        message = Message(head, 1, "assistant", model=model, stop_reason=said.stop_reason)
        out: list[Event] = [message]
        if said.usage is not None:
            counts = self._counts(said.usage, f"{path}.usage")
            out.append(
                Usage(
                    head, 2, counts, Semantics.CACHE_EXCLUSIVE, "message", model, stop_reason=said.stop_reason,
                    cost=_priced(said.cost), provider=said.provider or None,
                )
            )  # fmt: skip
        message.body = self._blocks(said, head, path, out)
        if said.error_message is not None or said.error_kind is not None:
            message.facts = {"error_message": said.error_message, "error_kind": said.error_kind}
        message.author = _author(said, message)
        return out

    def _tool_result(self, said: Said, head: Record, path: str) -> list[Event]:
        if said.tool_call_id is None:
            self._lacks(f"{path}.tool_call_id", "a string")
        result = ToolResult(head, 1, said.tool_call_id, "", said.is_error)
        out: list[Event] = [result]
        result.body = self._blocks(said, head, path, out)
        return out

    def _blocks(self, said: Said, head: Record, path: str, out: list[Event]) -> Body:
        """The blocks' own events into `out`; the text blocks as a body."""
        blocks: list[Any] | None = said.content
        if blocks is None:
            self._lacks(f"{path}.content", "an array")
            return ""
        texts: list[str | bytes] = []
        for n, block in enumerate(blocks):
            # A block that could not be typed at all is a problem that has been told already.
            kind = None if block is None else block.type
            if kind == "text":
                body: str | bytes = bytes(block.text)
                if body[:1] != b'"':
                    body = self._text(block.text, f"{path}.content[{n}].text")
                texts.append(body)
            elif kind == "thinking":
                out.append(Thinking(head, 3 + n, self._text(block.thinking, f"{path}.content[{n}].thinking")))
            elif kind == "tool_call":
                if block.name is None:
                    self._lacks(f"{path}.content[{n}].name", "a string")
                given = bytes(block.arguments)
                out.append(ToolCall(head, 3 + n, block.id, block.name or "", given or None, missing=not given))
            elif kind == "image":
                out.append(_image(block, head, 3 + n, said.tool_call_id))
            elif kind == "extension":
                out.append(Custom(head, 3 + n, block.type_name or "", small(block.data)))
            elif kind:
                self.note(f"content:{kind}", known=False)
        return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""

    def _text(self, raw: msgspec.Raw, path: str) -> str | bytes:
        if not memoryview(raw):
            self._lacks(path, "a string")
        return self.text(raw, path)

    def _lacks(self, path: str, expected: str) -> None:
        """A field is absent; one of the wrong type is a problem that has been told already."""
        if all(problem.path != path for problem in self.problems):
            self.soft(Problem(FaultKind.MISSING_FIELD, path, expected, "nothing"))

    def _counts(self, usage: TokenUsage, path: str) -> Counts:
        """Counts as written: which adapter excludes what is not stated, and they write cache apart (sheet 4)."""
        given, spoken, read, write = usage.input, usage.output, usage.cache_read, usage.cache_write
        total = usage.total
        if (given or 0) + (spoken or 0) + (read or 0) + (write or 0) + (total or 0) > MAX_U64:
            for name in ("input", "output", "cache_read", "cache_write", "total"):
                if (getattr(usage, name) or 0) > MAX_U64:
                    self.soft(Problem(FaultKind.INVALID_FIELD, f"{path}.{name}", "a 64-bit count", "a larger integer"))
            given, spoken, read, write, total = (
                None if n and n > MAX_U64 else n for n in (given, spoken, read, write, total)
            )
        thought = usage.extra.get("reasoning") if usage.extra else None
        reasoning = thought if thought.__class__ is int and 0 <= thought <= MAX_U64 else None
        return Counts(given, spoken, read, write, reasoning=reasoning, reported_total=total)

    def _time(self, head: Record, seconds: int | None, path: str) -> None:
        """Unix seconds by the agent's word, whatever their size; 0 says that nobody knew."""
        if seconds is not None:
            head.at_text = str(seconds) if seconds <= MAX_U64 else None
            head.at = self._moment(seconds, path) if seconds else None

    def _moment(self, seconds: int, path: str) -> datetime | None:
        at = since_epoch(seconds * 1_000_000)
        if at is None:
            wanted = "Unix seconds that a calendar reaches"
            self.soft(Problem(FaultKind.INVALID_FIELD, f"{path}.timestamp", wanted, "a larger integer"))
        return at


def small(raw: msgspec.Raw) -> Any:
    """A host's own JSON value where it is small, else None."""
    size = len(memoryview(raw))
    if not 0 < size <= SMALL_DATA:
        return None
    try:
        return valued(bytes(raw))
    except RecursionError:
        return None


def _priced(cost: Cost | None) -> float | None:
    """What the call cost, as stored; a cost of nothing but zeros says that nothing was priced (sheet 4)."""
    if cost is None or not (cost.input or cost.output or cost.cache_read or cost.cache_write or cost.total):
        return None
    return cost.total


def _author(said: Said, message: Message) -> Author:
    if said.stop_reason == "error":
        return "error"
    if not said.timestamp and not said.model_id and message.text.startswith(SUMMARY_OPENING):
        return "summary"
    return "agent"


def _image(block: Block, head: Record, slot: int, call_id: str | None) -> Image:
    source = block.source
    if source is None:
        return Image(head, slot, call_id=call_id)
    size = len(memoryview(source.data)) - 2  # without its quotes
    return Image(head, slot, source.media_type, size if size > 0 else None, source.url or source.path, call_id)


_ROLES: dict[str | None, Any] = {
    "user": MessageSession._user,
    "assistant": MessageSession._assistant,
    "tool_result": MessageSession._tool_result,
}
