"""Claude Code's records to events (sheet CLAUDE_CODE 2-9).

Slots: 0 meta, 1 the message or the record's own event, 2 usage, 3+n the n-th content block, after them advisor calls.
The m-th part of a tool result in slot s, where it is a picture, has slot s * 65536 + m + 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from ...contract import Place, ReadOptions
from ...errors import FaultKind, Problem
from ...model import (
    Body,
    Compaction,
    Custom,
    Event,
    Image,
    Message,
    Meta,
    Prompt,
    Record,
    SessionName,
    Thinking,
    ToolCall,
    ToolResult,
    Totals,
    Turn,
    told,
)
from ..base import DATE_MARKS, Aside, Session, missing
from .author import author_of, by_opening
from .records import (
    BLOCK,
    BLOCKS,
    LARGER,
    Attachment,
    Block,
    CompactMetadata,
    Line,
    Said,
)
from .types import IGNORED, TYPES
from .usage import advisors_of, usage_of

_ASIDES = {label: Aside(label, True) for label in IGNORED}

_moment = datetime.fromisoformat
SYNTHETIC = "<synthetic>"

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE).fullmatch


def _file_session(place: Place) -> str | None:
    """The session a file is named for: its stem, or the folder above `subagents`; None where neither is a UUID."""
    parts = re.split(r"[/\\]", place.name)
    if "subagents" in parts[1:]:
        stem: str | None = parts[parts.index("subagents") - 1]
    else:
        stem = place.stem
    return stem if stem is not None and _UUID(stem) else None


class ClaudeSession(Session):
    """State of one file: the session that records without one belong to (the file's by its name, else the last one
    told; sheet trap 13), and the facts last told."""

    __slots__ = ("_facts", "_named", "_session", "_subagent")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._session: str | None = _file_session(place)
        self._named = self._session is not None
        self._facts: tuple[str | None, str | None, str | None, str | None, str | None] = (None,) * 5
        self._subagent = place.subagent

    def read(
        self, record: Said, line: int, start: int, end: int, recovered: bool = False
    ) -> list[Event] | Aside | None:
        """The events of one record; see the table of types."""
        kind = record.type
        project = _PROJECT.get(kind)
        if project is None:
            if record.uuid is None:
                return _ASIDES.get(kind) or Aside(kind, False)
            project = ClaudeSession._node
        if kind in LARGER and record.__class__ is Said:
            return None  # the first look showed only what prompts and answers have
        session = record.sessionId
        if session is None:
            session = record.session_id or self._session
        stamp = record.timestamp
        at: datetime | None
        if stamp.__class__ is str and stamp[7:17:3] == DATE_MARKS and stamp[19::4] == ".Z":
            try:
                at = _moment(stamp)
            except ValueError:
                at = self.when(stamp)
        else:
            stamp = _stamp(record)
            at = None if stamp is None else self.when(stamp)
        text = stamp if stamp.__class__ is str else None
        head = Record(line, start, end, kind, at, text, session, record.uuid, record.parentUuid)
        if record.isSidechain or self._subagent or record.agentId is not None:
            head.sidechain = record.isSidechain or self._subagent
            head.agent_id = record.agentId
        if recovered:
            head.recovered = True
        events: list[Event] = []
        model = project(self, record, head, events)
        facts = self._facts
        if (
            record.sessionId != facts[0]
            or record.cwd != facts[1]
            or record.gitBranch != facts[2]
            or record.version != facts[3]
            or (model is not None and model != facts[4])
        ) and kind in _TELLING:
            self._meta(record, head, model, events)
        if not self._named:
            self._session = session
        return events

    def _meta(self, record: Said, head: Record, model: str | None, out: list[Event]) -> None:
        """A Meta event before the others if a fact changed since the last one."""
        session, cwd, branch, version, known_model = self._facts
        known = (
            record.sessionId or session,
            record.cwd or cwd,
            record.gitBranch if record.gitBranch is not None else branch,
            record.version or version,
            model or known_model,
        )
        if known == self._facts:
            return
        self._facts = known
        forked = record.forkedFrom.sessionId if record.forkedFrom else record.requestSessionId
        origin = "subagent" if head.sidechain else None
        out.insert(
            0,
            Meta(
                head, 0, known[0], known[1], known[2], known[4], known[3], origin,
                forked_from=forked if forked != known[0] else None,
            ),
        )  # fmt: skip

    def _assistant(self, record: Said, head: Record, out: list[Event]) -> str | None:
        """Returns the model, for the facts."""
        message = record.message
        if message is None:
            missing("$.message", "an object")
        model = message.model
        content = message.content
        said = Message(head, 1, "assistant", "", "agent", model, message.id, record.requestId, message.stop_reason)
        out.append(said)
        usage = message.usage
        if usage is not None:
            out.append(usage_of(record, message, usage, head))
        if content.__class__ is list:
            said.body = self._blocks(content, head, out)
        elif content is None:
            self._absent_content()
        else:
            said.body = content  # type: ignore[assignment]
        if usage is not None and usage.iterations:
            slot = 3 + (len(content) if content.__class__ is list else 0)
            advisors_of(record, message, usage.iterations, head, slot, out)
        if record.isMeta or record.is_meta or message.is_meta:
            said.is_meta = True
        if model == SYNTHETIC or record.isApiErrorMessage:
            said.author = "error"
        return model if model != SYNTHETIC else None

    def _user(self, record: Said, head: Record, out: list[Event]) -> None:
        message = record.message
        if message is None:
            missing("$.message", "an object")
        content = message.content
        said = Message(head, 1, message.role or "user", "", "human", None, message.id)
        out.append(said)
        if message.usage is not None:
            out.append(usage_of(record, message, message.usage, head))
        if content.__class__ is list:
            said.body = self._blocks(content, head, out)
        elif content is None:
            self._absent_content()
        else:
            said.body = content  # type: ignore[assignment]
        if record.isMeta or record.is_meta or message.is_meta:
            said.is_meta = True
        # A tool's result mostly stands alone on its line.
        said.author = "tool" if out[-1].__class__ is ToolResult else author_of(record, said, out)

    def _absent_content(self) -> None:
        self.soft(Problem(FaultKind.MISSING_FIELD, "$.message.content", "a string or an array", "nothing"))

    def _blocks(self, blocks: Sequence[Block | None], head: Record, out: list[Event]) -> Body:
        """The blocks' own events into `out`; the text blocks as a body. The usual blocks are read here: a call more for
        each is felt."""
        texts: list[str | bytes] = []
        slot = 2
        for block in blocks:
            slot += 1
            if block is None:  # did not fit: told as a problem already
                continue
            kind = block.type
            if kind == "tool_use":
                raw = bytes(block.input)
                if raw and block.name is not None:
                    out.append(ToolCall(head, slot, block.id, block.name, raw))
                    continue
            elif kind == "text":
                raw = bytes(block.text)
                texts.append(raw if raw[:1] == b'"' else self._textless(block, slot))
                continue
            elif kind == "tool_result":
                raw = bytes(block.content)
                if raw[:1] == b'"':
                    out.append(ToolResult(head, slot, block.tool_use_id, raw, block.is_error))
                    continue
            elif kind == "thinking":
                raw = bytes(block.thinking)
                if raw[:1] == b'"':
                    out.append(Thinking(head, slot, raw))
                    continue
            project = _BLOCKS.get(kind)
            if project is not None:
                project(self, block, head, slot, out)
            elif isinstance(kind, str):  # else it did not fit
                self.note(f"content:{kind}", known=f"content:{kind}" in IGNORED)
        return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""

    def _textless(self, block: Block, slot: int) -> str | bytes:
        """The text of a text block that has none as it should."""
        path = f"$.message.content[{slot - 3}].text"
        if not block.text:
            self.soft(Problem(FaultKind.MISSING_FIELD, path, "a string", "nothing"))
        return self.text(block.text, path)

    def _thinking(self, block: Block, head: Record, slot: int, out: list[Event]) -> None:
        body = self.text(block.thinking, f"$.message.content[{slot - 3}].thinking")
        out.append(Thinking(head, slot, body, block.type == "redacted_thinking"))

    def _tool_use(self, block: Block, head: Record, slot: int, out: list[Event]) -> None:
        if block.name is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, f"$.message.content[{slot - 3}].name", "a string", "nothing"))
        given = bytes(block.input)
        style: Any = "function" if block.type == "tool_use" else "server"
        out.append(ToolCall(head, slot, block.id, block.name or "", given or None, style, not given))

    def _tool_result(self, block: Block, head: Record, slot: int, out: list[Event]) -> None:
        body: Body = bytes(block.content)
        said = ToolResult(head, slot, block.tool_use_id, body, block.is_error)
        out.append(said)
        if body[:1] != b'"':
            said.body = self._parts(body, block, head, slot, out)  # type: ignore[arg-type]

    def _parts(self, raw: bytes, block: Block, head: Record, slot: int, out: list[Event]) -> Body:
        """A tool result that is no plain string: blocks of text and pictures, one block, or nothing."""
        path = f"$.message.content[{slot - 3}].content"
        if raw[:1] == b"[":
            parts: Sequence[Block | None] = self.part(BLOCKS, raw, path) or []
        elif raw[:1] == b"{":
            parts = [self.part(BLOCK, raw, path)]
        else:
            return self.text(msgspec.Raw(raw), path)
        texts = []
        for n, part in enumerate(parts, 1):
            if part is None:  # did not fit: told as a problem already
                continue
            if part.source is not None:
                self._image(part, head, (slot << 16) + n, out, block.tool_use_id)
            elif part.type == "text":
                texts.append(self.text(part.text, f"{path}.text"))
        return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""

    def _image(self, block: Block, head: Record, slot: int, out: list[Event], call_id: str | None = None) -> None:
        source = block.source
        if source is None:
            out.append(Image(head, slot, call_id=call_id))
        else:
            data = memoryview(source.data)
            size = len(data) - 2 if data and data[0] == 0x22 else None  # without its quotes
            out.append(Image(head, slot, source.media_type, size, source.url, call_id))

    def _system(self, record: Line, head: Record, out: list[Event]) -> None:
        subtype = record.subtype
        label = f"system:{subtype}" if subtype is not None else "system"
        if subtype == "compact_boundary":
            about = record.compactMetadata or _NO_METADATA
            logical = record.logicalParentUuid
            facts = {"logicalParentUuid": logical} if logical else None
            out.append(Compaction(head, 1, None, about.preTokens, about.postTokens, None, about.trigger, facts))
        elif subtype == "turn_duration":
            duration = record.durationMs
            out.append(Turn(head, 1, "completed", duration_ms=int(duration) if duration is not None else None))
        else:
            if subtype is not None and label not in TYPES:
                self.note(label, known=False)
            content = record.content
            if content is None and record.message is not None:
                content = record.message.content
            if content is None:
                out.append(Custom(head, 1, label))
            else:
                said = Message(head, 1, "system", "", "system", is_meta=bool(record.isMeta))
                out.append(said)
                said.body = content if isinstance(content, str) else self._blocks(content, head, out)
                if subtype == "local_command":
                    said.author = "output" if by_opening(said) == "output" else "command"

    def _attachment(self, record: Line, head: Record, out: list[Event]) -> None:
        what = record.attachment or _NO_ATTACHMENT
        if what.type == "queued_command" and what.prompt is not None:
            said = Message(head, 1, "user", "", "human")
            out.append(said)
            said.body = what.prompt if isinstance(what.prompt, str) else self._blocks(what.prompt, head, out)
            if what.origin is not None and what.origin.kind not in (None, "human"):
                said.author = "notice"
            else:
                said.author = by_opening(said) or ("task" if head.sidechain else "human")
        else:
            label = f"attachment:{what.type}" if what.type is not None else "attachment"
            if label not in TYPES:
                self.note(label, known=False)
            out.append(Custom(head, 1, label))

    def _progress(self, record: Line, head: Record, out: list[Event]) -> None:
        """A node of the chain; the nested message repeats a subagent's record, so only its tools are told."""
        data = record.data
        label = f"progress:{data.type}" if data is not None and data.type is not None else "progress"
        if label not in TYPES:
            self.note(label, known=False)
        out.append(Custom(head, 1, label))
        nested = data.message.message if data and data.message else None
        if nested is not None and isinstance(nested.content, list):
            inner: list[Event] = []
            self._blocks(nested.content, head, inner)
            out += [event for event in inner if isinstance(event, ToolCall | ToolResult)]

    def _title(self, record: Line, head: Record, out: list[Event]) -> None:
        kind = record.type
        if kind == "summary":
            out.append(SessionName(head, 1, record.summary, "summary", record.leafUuid))
        elif kind == "custom-title":
            out.append(SessionName(head, 1, record.customTitle, "custom"))
        elif kind == "ai-title":
            out.append(SessionName(head, 1, record.aiTitle, "ai"))
        else:
            out.append(SessionName(head, 1, record.agentName, "agent"))

    def _node(self, record: Said, head: Record, out: list[Event]) -> None:
        """A record of the chain that says nothing we know: others may hang on it all the same."""
        self.note(record.type, known=record.type in IGNORED)
        out.append(Custom(head, 1, record.type))

    def _queue_operation(self, record: Line, head: Record, out: list[Event]) -> None:
        content = record.content
        if record.operation == "enqueue" and content is not None:
            text = content if isinstance(content, str) else told(self._blocks(content, head, []))
            out.append(Prompt(head, 1, text, queued=True))

    def _cost_state(self, record: Line, head: Record, out: list[Event]) -> None:
        by_model = record.modelUsage if isinstance(record.modelUsage, dict) else None
        out.append(Totals(head, 1, record.totalCostUSD, by_model))

    def _fork_context_ref(self, record: Line, head: Record, out: list[Event]) -> None:
        out.append(Meta(head, 0, origin="subagent", parent_session=record.parentSessionId))


# Records whose envelope tells of the session; state records name it only.
_TELLING = frozenset(("user", "assistant", "system", "attachment"))


def _stamp(record: Said) -> str | int | None:
    """The first of a record's time fields that is there (sheet 2, 7)."""
    for stamp in (record.timestamp, record.created_at, record.createdAt):
        if stamp is not None:
            return stamp
    data = record.data if isinstance(record, Line) else None
    return data.message.timestamp if data is not None and data.message is not None else None


_NO_ATTACHMENT = Attachment()
_NO_METADATA = CompactMetadata()


_PROJECT: dict[str, Any] = {
    "user": ClaudeSession._user,
    "assistant": ClaudeSession._assistant,
    "system": ClaudeSession._system,
    "attachment": ClaudeSession._attachment,
    "progress": ClaudeSession._progress,
    "summary": ClaudeSession._title,
    "custom-title": ClaudeSession._title,
    "ai-title": ClaudeSession._title,
    "agent-name": ClaudeSession._title,
    "queue-operation": ClaudeSession._queue_operation,
    "cost-state": ClaudeSession._cost_state,
    "fork-context-ref": ClaudeSession._fork_context_ref,
}

_BLOCKS: dict[str, Any] = {
    "thinking": ClaudeSession._thinking,
    "redacted_thinking": ClaudeSession._thinking,
    "tool_use": ClaudeSession._tool_use,
    "server_tool_use": ClaudeSession._tool_use,
    "mcp_tool_use": ClaudeSession._tool_use,
    "tool_result": ClaudeSession._tool_result,
    "mcp_tool_result": ClaudeSession._tool_result,
    "web_search_tool_result": ClaudeSession._tool_result,
    "web_fetch_tool_result": ClaudeSession._tool_result,
    "image": ClaudeSession._image,
    "document": ClaudeSession._image,
}
