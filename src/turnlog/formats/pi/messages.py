"""Pi's messages to events: every role and every block of content (sheet PI 6).

Slots: 1 the message, 2 usage, 3+n the n-th content block.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from ...errors import FaultKind, Problem
from ...model import (
    Body,
    Custom,
    CustomMessage,
    Event,
    Image,
    Message,
    Record,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    told,
    valued,
)
from ...tokens import Counts, Semantics
from ...typed import ABSENT
from ..base import Session, missing, since_epoch
from .entries import SECTIONS, TOOLS, Block, Entry, Said, TokenUsage

_EXCLUSIVE = Semantics.CACHE_EXCLUSIVE

_from_seconds = datetime.fromtimestamp
_FAR = 4_102_444_800_000
"""The year 2100 in milliseconds: up to here a whole number of them is exact as a float of seconds, which is quicker."""

DATA_BYTES = 4096
"""Data of an extension up to this many bytes of JSON is kept with its event; more of it `raw` gives."""


class Messages(Session):
    """The record functions of messages. They change no state."""

    __slots__ = ()

    def _message(self, record: Entry, head: Record, out: list[Event]) -> None:
        said = record.message
        if said is None:
            missing("$.message", "an object")
        role = said.role
        if role is None:
            missing("$.message.role", "a string")
        project = _ROLES.get(role)
        if project is None:
            self.note(f"role:{role}", known=False)
            out.append(Custom(head, 1, f"role:{role}"))
            return
        stamp = said.timestamp
        at = None
        if stamp.__class__ is int and 0 <= stamp < _FAR:
            at = _from_seconds(stamp / 1000, UTC)
        elif stamp is not None:
            at = self._native(stamp)
        project(self, said, at, head, out)

    def _native(self, stamp: float) -> datetime | None:
        """The message's own clock, where it is no usual time: whole or broken milliseconds, or none at all."""
        at = since_epoch(round(stamp * 1000))
        if at is None:
            expected, found = "milliseconds since 1970", "a number out of range"
            self.soft(Problem(FaultKind.INVALID_FIELD, "$.message.timestamp", expected, found))
        return at

    def _user(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        message = Message(head, 1, "user", "", "human", None, None, None, None, at)
        out.append(message)
        message.body = self._content(said.content, head, out)

    def _assistant(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        response, model = said.responseId, said.model
        message = Message(head, 1, "assistant", "", "agent", model, response, None, said.stopReason, at)
        out.append(message)
        usage = said.usage
        if usage is not None:
            out.append(
                self._usage(
                    usage, "message", head, said.responseModel or model, said.provider, response, said.stopReason
                )
            )
        if usage is None or said.responseModel is not None or said.errorMessage is not ABSENT:
            message.facts = self._facts(said)
        message.body = self._content(said.content, head, out)

    def _facts(self, said: Said) -> dict[str, Any] | None:
        """What an answer says that no other event of it holds."""
        facts: dict[str, Any] = {}
        if said.usage is None and said.provider is not None:
            facts["provider"] = said.provider
        if said.responseModel is not None:
            facts["responseModel"] = said.responseModel
        if present(said.errorMessage):
            facts["errorMessage"] = told(self.text(said.errorMessage, "$.message.errorMessage"))
        return facts or None

    def _tool_result(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        result = ToolResult(head, 1, said.toolCallId, "", said.isError, said.toolName, None, at)
        out.append(result)
        if said.usage is not None:
            out.append(self._usage(said.usage, "message", head))
        result.body = self._content(said.content, head, out, said.toolCallId)

    def _bash(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        command = self.text(said.command, "$.message.command")
        output = self.text(said.output, "$.message.output")
        body: Body = (command, output) if output and output != b'""' else command
        names = ("exitCode", "cancelled", "truncated", "excludeFromContext")
        facts = {name: value for name in names if (value := getattr(said, name)) is not None}
        out.append(Message(head, 1, "bashExecution", body, "command", native_at=at, facts=facts or None))

    def _system(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        message = Message(head, 1, "system", "", "system", native_at=at)
        out.append(message)
        message.body = self._content(said.content, head, out)
        facts: dict[str, Any] = {}
        if present(said.sections):
            facts["sections"] = list(self.part(SECTIONS, said.sections, "$.message.sections") or ())
        for name in ("toolsAdded", "toolsRemoved"):
            raw = getattr(said, name)
            if present(raw):
                tools = self.part(TOOLS, raw, f"$.message.{name}") or []
                facts[name] = [tool.name for tool in tools if tool is not None]  # type: ignore[redundant-expr]
        if facts:
            message.facts = facts

    def _custom_role(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        self._extension(said, "$.message", head, out).native_at = at

    def _branch_role(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        facts = {"fromId": said.fromId} if said.fromId is not None else None
        self._summary(said, at, head, out, facts)

    def _compaction_role(self, said: Said, at: datetime | None, head: Record, out: list[Event]) -> None:
        facts = {"tokensBefore": said.tokensBefore} if said.tokensBefore is not None else None
        self._summary(said, at, head, out, facts)

    def _summary(
        self, said: Said, at: datetime | None, head: Record, out: list[Event], facts: dict[str, Any] | None
    ) -> None:
        """A summary as the model was shown it: a copy of an entry's, so it is no compaction of its own."""
        body = self.text(said.summary, "$.message.summary")
        out.append(Message(head, 1, said.role or "", body, "summary", native_at=at, facts=facts))

    def _extension(self, said: Said | Entry, path: str, head: Record, out: list[Event]) -> CustomMessage:
        message = CustomMessage(head, 1, said.customType or "", "", said.display is not False)
        out.append(message)
        message.text = told(self._content(said.content, head, out, path=f"{path}.content"))
        message.data = small(said.details)
        return message

    def _content(
        self, content: str | list[Block] | None, head: Record, out: list[Event], call_id: str | None = None,
        path: str = "$.message.content",
    ) -> Body:  # fmt: skip
        """The blocks' own events into `out`; the text as a body. Absent and null are no blocks (sheet 3, e24)."""
        if not isinstance(content, list):
            return content or ""
        blocks: list[Any] = content
        if len(blocks) == 1 and blocks[0] is not None and blocks[0].type == "text":
            body: str | bytes = bytes(blocks[0].text)
            return body if body[:1] == b'"' else self._no_text(blocks[0], f"{path}[0].text")
        texts: list[str | bytes] = []
        slot = 3
        for block in blocks:
            kind = None if block is None else block.type
            if kind == "text":
                body = bytes(block.text)
                if body[:1] != b'"':
                    body = self._no_text(block, f"{path}[{slot - 3}].text")
                texts.append(body)
            elif kind == "toolCall":
                self._tool_call(block, head, slot, out, path)
            elif kind == "thinking":
                thought = self.text(block.thinking, f"{path}[{slot - 3}].thinking")
                out.append(Thinking(head, slot, thought, block.redacted or False))
            elif kind == "image":
                data = bytes(block.data)
                size = len(data) - 2 if data[:1] == b'"' else None  # without its quotes
                out.append(Image(head, slot, block.mimeType, size, None, call_id))
            elif kind is not None:  # one that does not fit is told as a problem already
                self.note(f"content:{kind}", known=False)
            slot += 1
        return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""

    def _no_text(self, block: Block, path: str) -> str | bytes:
        if not bytes(block.text):
            self.soft(Problem(FaultKind.MISSING_FIELD, path, "a string", "nothing"))
        return self.text(block.text, path)

    def _tool_call(self, block: Block, head: Record, slot: int, out: list[Event], path: str) -> None:
        if block.name is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, f"{path}[{slot - 3}].name", "a string", "nothing"))
        given = bytes(block.arguments)
        if present(block.argumentsError) and isinstance(out[0], Message):
            facts = out[0].facts = out[0].facts or {}
            facts.setdefault("argumentsError", []).append(block.id)
        out.append(
            ToolCall(head, slot, block.id, block.name or "", given or None, "function", not given, block.namespace)
        )

    def _usage(
        self, usage: TokenUsage, basis: str, head: Record, model: str | None = None, provider: str | None = None,
        response: str | None = None, stop: str | None = None,
    ) -> Usage:  # fmt: skip
        counts = Counts(
            usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.cacheWrite1h, None, usage.reasoning,
            usage.totalTokens,
        )  # fmt: skip
        spent = Usage(head, 2, counts, _EXCLUSIVE, basis, model, response, None, response, None, stop)
        spent.provider = provider
        if usage.cost is not None:
            spent.cost = usage.cost.total
        if counts.input is None and counts.output is None and counts.is_missing():
            spent.adjustments = ("unreported",)
        return spent


def present(raw: msgspec.Raw) -> bool:
    """Whether a field kept raw stands in the record with another value than null."""
    return bytes(raw) not in (b"", b"null")


def small(raw: msgspec.Raw) -> Any:
    """The value of a field kept raw; None where it is absent, null or large."""
    return valued(bytes(raw)) if 0 < memoryview(raw).nbytes <= DATA_BYTES else None


_ROLES: dict[str, Any] = {
    "system": Messages._system,
    "user": Messages._user,
    "assistant": Messages._assistant,
    "toolResult": Messages._tool_result,
    "bashExecution": Messages._bash,
    "custom": Messages._custom_role,
    "hookMessage": Messages._custom_role,  # version 2 became 3 by calling it custom
    "branchSummary": Messages._branch_role,
    "compactionSummary": Messages._compaction_role,
}
