"""Codex's response items to events: what the model saw and said (sheet CODEX 6).

Slots: 1 the message, 3 the call, result or thinking; in a message 3+n its n-th part, in a result 4+n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import FaultKind, Problem
from ...model import Body, CustomMessage, Event, Image, Message, Record, Thinking, ToolCall, ToolResult, told
from ...typed import raw_name
from ..base import Aside, Session, missing
from .author import author_of
from .records import (
    BLOCKS,
    AgentMessage,
    Block,
    CustomOutput,
    CustomToolCall,
    FunctionCall,
    ImageGenerationCall,
    Output,
    OwnCall,
    Reasoning,
    Said,
    SearchCallOutput,
    SearchOutput,
    ToolSearchCall,
    WebSearchCall,
)
from .types import IGNORED

_ROLES = frozenset(("user", "assistant", "developer", "system"))
_TEXTS = frozenset(("input_text", "output_text", "text", "summary_text", "reasoning_text"))
_TOOLS: dict[type, str] = {
    OwnCall: "local_shell",
    WebSearchCall: "web_search",
    ToolSearchCall: "tool_search",
    ImageGenerationCall: "image_generation",
}

Project = Callable[[Any, Any, Any, Record], list[Event] | Aside]
"""A record function: of the session, the payload (of a flat file: the line itself), the enveloped line or None, and the record's head."""


class ItemSession(Session):
    """The record functions of response items. See `Project`."""

    __slots__ = ()

    def _message(self, item: Said, line: Any, head: Record) -> list[Event] | Aside:
        role = item.role
        if role not in _ROLES:
            if role is None:
                missing(_path(head, "role"), "a string")
            return Aside(f"role:{role}", False)
        said = Message(head, 1, role)
        out: list[Event] = [said]
        content = item.content
        texts: list[str | bytes] = []
        if content.__class__ is list:
            texts = self._texts(content, head, 3, out, _path(head, "content"))
        elif content is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, _path(head, "content"), "a string or an array", "nothing"))
        else:
            texts = [content]  # type: ignore[list-item]
        said.body = _joined(texts)
        said.message_id = item.id
        passed = item.internal_chat_message_metadata_passthrough
        if passed is not None and passed.content_item_kinds:
            said.kinds = tuple(filter(None, passed.content_item_kinds))
        summary = False
        metadata = None if line is None else line.metadata
        if metadata is not None:
            summary = bool(metadata.compaction_output)
            if metadata.inherited_user_message:
                said.facts = {"inherited_user_message": True}
        if item.phase is not None:
            said.facts = {**(said.facts or {}), "phase": item.phase}
        if role != "assistant" or summary:
            said.author = author_of(role, said.kinds, texts, summary=summary, sidechain=head.sidechain)
        return out

    def _agent_message(self, item: AgentMessage, _: Any, head: Record) -> list[Event]:
        """A message from one agent to another; its text is mostly for the provider's eyes only."""
        out: list[Event] = []
        content = item.content
        texts: list[str | bytes] = [content] if isinstance(content, str) else []
        if isinstance(content, list):
            texts = self._texts(content, head, 3, out, _path(head, "content"))
        about = {name: value for name, value in (("author", item.author), ("recipient", item.recipient)) if value}
        return [CustomMessage(head, 1, "agent_message", told(_joined(texts)), data=about or None), *out]

    def _reasoning(self, item: Reasoning, _: Any, head: Record) -> list[Event]:
        texts: list[str | bytes] = []
        for part, path in ((item.summary, _path(head, "summary")), (item.content, _path(head, "content"))):
            if part.__class__ is list:
                texts += self._texts(part, head, 4, [], path)
            elif part is not None:
                texts.append(part)  # type: ignore[arg-type]
        if not texts:  # what is there, if anything, is for the provider's eyes only
            return [Thinking(head, 3, "", len(memoryview(item.encrypted_content)) > len("null"))]
        return [Thinking(head, 3, _joined(texts))]

    def _function_call(self, item: FunctionCall, _: Any, head: Record) -> list[Event]:
        name = item.name
        if name is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, _path(head, "name"), "a string", "nothing"))
        given = bytes(item.arguments)
        return [ToolCall(head, 3, item.call_id, name or "", given or None, "function", not given, item.namespace)]

    def _custom_tool_call(self, item: CustomToolCall, _: Any, head: Record) -> list[Event]:
        if item.name is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, _path(head, "name"), "a string", "nothing"))
        given = bytes(item.input)
        return [ToolCall(head, 3, item.call_id, item.name or "", given or None, "custom", not given, item.namespace)]

    def _own_call(self, item: OwnCall, _: Any, head: Record) -> list[Event]:
        """A call whose type is its tool. Those the provider runs have an id of their own and no output item."""
        name = _TOOLS[item.__class__]
        given = bytes(item.action) or bytes(item.arguments)
        call = item.call_id or item.id
        style: Any = "server" if name in ("web_search", "image_generation") else "function"
        out: list[Event] = [ToolCall(head, 3, call, name, given or None, style, not given)]
        if len(memoryview(item.result)) > 4:  # longer than null
            out.append(Image(head, 4, None, len(memoryview(item.result)) - 2, None, call))
        return out

    def _output(self, item: Output, _: Any, head: Record) -> list[Event]:
        """A result. Whether the tool failed is in no field of it (sheet 6)."""
        body = bytes(item.output)
        result = ToolResult(head, 3, item.call_id, body)
        if body[:1] == b'"':
            return [result]
        out: list[Event] = [result]
        path = _path(head, "output")
        if body[:1] == b"[":
            parts: Sequence[Block | None] = self.part(BLOCKS, body, path) or []
            result.body = _joined(self._texts(parts, head, 4, out, path, item.call_id))
        else:
            kind = FaultKind.INVALID_FIELD if body else FaultKind.MISSING_FIELD
            self.soft(Problem(kind, path, "a string or an array", raw_name(body) if body else "nothing"))
            result.body = ""
        return out

    def _search_output(self, item: SearchOutput, _: Any, head: Record) -> list[Event]:
        """What a search for tools found: definitions, which no text says."""
        return [ToolResult(head, 3, item.call_id, name="tool_search")]

    def _texts(
        self,
        blocks: Sequence[Block | None],
        head: Record,
        slot: int,
        out: list[Event],
        path: str,
        call_id: str | None = None,
    ) -> list[str | bytes]:
        """The text parts as raw JSON strings; the others' own events into `out`, from `slot` on."""
        texts: list[str | bytes] = []
        for n, block in enumerate(blocks):
            if block is None:  # did not fit: told as a problem already
                continue
            kind = block.type
            if kind in _TEXTS:
                body = bytes(block.text)
                if body[:1] != b'"':
                    if not body:
                        self.soft(Problem(FaultKind.MISSING_FIELD, f"{path}[{n}].text", "a string", "nothing"))
                    texts.append(self.text(block.text, f"{path}[{n}].text"))
                else:
                    texts.append(body)
            elif kind == "input_image":
                out.append(_image(block, head, slot + n, call_id))
            elif isinstance(kind, str):  # else it did not fit
                label = f"content:{kind}"
                self.note(label, known=label in IGNORED)
        return texts


def _path(head: Record, name: str) -> str:
    """Where a field of the item stands: in an envelope, or in a flat line itself."""
    return f"$.payload.{name}" if head.type == "response_item" else f"$.{name}"


def _joined(texts: list[str | bytes]) -> Body:
    return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""


_HEAD = 128
"""Bytes of a picture's address that are looked at: its media type stands there, its base64 text after it."""


def _image(block: Block, head: Record, slot: int, call_id: str | None) -> Image:
    data = memoryview(block.image_url)
    begin = bytes(data[:_HEAD])
    if begin.startswith(b'"data:'):
        media = begin[6:].split(b";", 1)[0].split(b",", 1)[0].decode("ascii", "replace").replace("\\/", "/")
        at = begin.find(b"base64,")
        return Image(head, slot, media or None, len(data) - at - 8 if at >= 0 else None, None, call_id)
    return Image(head, slot, location=told(bytes(block.image_url)) if begin[:1] == b'"' else None, call_id=call_id)


ITEMS: dict[type, Project] = {
    Said: ItemSession._message,
    AgentMessage: ItemSession._agent_message,
    Reasoning: ItemSession._reasoning,
    FunctionCall: ItemSession._function_call,
    CustomToolCall: ItemSession._custom_tool_call,
    OwnCall: ItemSession._own_call,
    WebSearchCall: ItemSession._own_call,
    ToolSearchCall: ItemSession._own_call,
    ImageGenerationCall: ItemSession._own_call,
    Output: ItemSession._output,
    CustomOutput: ItemSession._output,
    SearchOutput: ItemSession._search_output,
    SearchCallOutput: ItemSession._search_output,
}
"""What each item says, by its struct."""
