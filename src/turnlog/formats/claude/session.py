"""Claude Code's records to events (sheet CLAUDE_CODE 2-9).

Slots: 0 meta, 1 the message or the record's own event, 2 usage, 3+n the n-th content block, after them advisor calls.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...contract import MAX_U64, Place, ReadOptions
from ...errors import FaultKind, Problem
from ...model import (
    Author,
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
    Usage,
    told,
)
from ...tokens import Counts, Semantics
from ..base import Aside, Session, missing
from .records import (
    BLOCK,
    BLOCKS,
    ApiMessage,
    Attachment,
    Block,
    CompactMetadata,
    Iteration,
    Line,
    Origin,
    TokenUsage,
)
from .types import IGNORED, TYPES

_EXCLUSIVE = Semantics.CACHE_EXCLUSIVE
_ASIDES = {label: Aside(label, True) for label in IGNORED}

SYNTHETIC = "<synthetic>"

# A user line the client wrote in the person's place is told by how its text begins (sheet 4).
_OPENINGS: tuple[tuple[str, Author], ...] = (
    ("<task-notification>", "notice"),
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<local-command-stdout>", "output"),
    ("<local-command-stderr>", "output"),
    ("<bash-input>", "command"),
    ("<bash-stdout>", "output"),
    ("<bash-stderr>", "output"),
    ("[Request interrupted by user", "interruption"),
)


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

    def read(self, record: Line, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside:
        """The events of one record; see the table of types."""
        kind = record.type
        project = _PROJECT.get(kind)
        if project is None:
            return _ASIDES.get(kind) or Aside(kind, False)
        session = record.sessionId
        if session is None:
            session = record.session_id or self._session
        stamp = record.timestamp
        if stamp is None:
            stamp = record.created_at if record.created_at is not None else record.createdAt
        head = Record(
            line,
            start,
            end,
            kind,
            None if stamp is None else self.when(stamp),
            stamp if stamp.__class__ is str else None,  # type: ignore[arg-type]
            session,
            record.uuid,
            record.parentUuid,
            None,
            record.agentId,
            record.isSidechain or self._subagent,
            recovered,
        )
        events: list[Event] = []
        project(self, record, head, events)
        if not self._named:
            self._session = session
        return events

    def _meta(self, record: Line, head: Record, model: str | None, out: list[Event]) -> None:
        """A Meta event if a fact changed since the last one. Called last but one: it changes state."""
        session, cwd, branch, version, known_model = self._facts
        if (
            (record.sessionId is None or record.sessionId == session)
            and (record.cwd is None or record.cwd == cwd)
            and (record.gitBranch is None or record.gitBranch == branch)
            and (record.version is None or record.version == version)
            and (model is None or model == known_model)
        ):
            return
        known = self._facts = (
            record.sessionId or session,
            record.cwd or cwd,
            record.gitBranch if record.gitBranch is not None else branch,
            record.version or version,
            model or known_model,
        )
        forked = record.forkedFrom.sessionId if record.forkedFrom else record.requestSessionId
        origin = "subagent" if head.sidechain else None
        out.insert(
            0,
            Meta(
                head, 0, known[0], known[1], known[2], known[4], known[3], origin,
                forked_from=forked if forked != known[0] else None,
            ),
        )  # fmt: skip

    def _assistant(self, record: Line, head: Record, out: list[Event]) -> None:
        message = record.message
        if message is None:
            missing("$.message", "an object")
        model = message.model
        content = message.content
        said = Message(
            head, 1, "assistant", "", "agent", model, message.id, record.requestId, message.stop_reason
        )  # fmt: skip
        out.append(said)
        usage = message.usage
        if usage is not None:
            out.append(self._usage(record, message, usage, head))
        if content.__class__ is list:
            said.body = self._blocks(content, head, out)  # type: ignore[arg-type]
        elif content is None:
            self._absent_content()
        else:
            said.body = content  # type: ignore[assignment]
        if usage is not None and usage.iterations:
            slot = 3 + (len(content) if content.__class__ is list else 0)  # type: ignore[arg-type]
            self._advisors(record, message, usage.iterations, head, slot, out)
        if model == SYNTHETIC or record.isApiErrorMessage:
            said.author = "error"
        if record.isMeta or record.is_meta or message.is_meta:
            said.is_meta = True
        self._meta(record, head, model if model != SYNTHETIC else None, out)

    def _user(self, record: Line, head: Record, out: list[Event]) -> None:
        message = record.message
        if message is None:
            missing("$.message", "an object")
        content = message.content
        said = Message(head, 1, message.role or "user", "", "human", None, message.id)
        out.append(said)
        if message.usage is not None:
            out.append(self._usage(record, message, message.usage, head))
        if content.__class__ is list:
            said.body = self._blocks(content, head, out)  # type: ignore[arg-type]
        elif content is None:
            self._absent_content()
        else:
            said.body = content  # type: ignore[assignment]
        said.is_meta = record.isMeta or record.is_meta or message.is_meta or False
        said.author = self._author(record, said, out)
        self._meta(record, head, None, out)

    def _absent_content(self) -> None:
        self.soft(Problem(FaultKind.MISSING_FIELD, "$.message.content", "a string or an array", "nothing"))

    def _author(self, record: Line, said: Message, events: list[Event]) -> Author:
        """Who a user line is from, in the order of sheet 4."""
        for event in events:
            if event.__class__ is ToolResult:
                return "tool"
        if record.isCompactSummary:
            return "summary"
        if said.is_meta:
            return "injected"
        origin = record.origin
        if origin.__class__ is Origin and origin.kind not in (None, "human"):  # type: ignore[union-attr]
            return "notice"
        return _by_opening(said) or ("task" if said.record.sidechain else "human")

    def _blocks(self, blocks: list[Block], head: Record, out: list[Event]) -> Body:
        """The blocks' own events into `out`; the text blocks as a body."""
        texts: list[str | bytes] = []
        slot = 3
        for block in blocks:
            kind = block.type
            if kind == "text":
                body = bytes(block.text)
                if body[:1] != b'"':
                    if not body:
                        path = f"$.message.content[{slot - 3}].text"
                        self.soft(Problem(FaultKind.MISSING_FIELD, path, "a string", "nothing"))
                    body = self.text(block.text, f"$.message.content[{slot - 3}].text")  # type: ignore[assignment]
                texts.append(body)
            else:
                project = _BLOCKS.get(kind)
                if project is None:
                    self.note(f"content:{kind}", known=f"content:{kind}" in IGNORED)
                else:
                    project(self, block, head, slot, out)
            slot += 1
        return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""

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
        if body[:1] != b'"':
            body = self._parts(body, block, head, slot, out)  # type: ignore[arg-type]
        out.append(ToolResult(head, slot, block.tool_use_id, body, block.is_error))

    def _parts(self, raw: bytes, block: Block, head: Record, slot: int, out: list[Event]) -> Body:
        """A tool result that is no plain string: blocks of text and pictures, one block, or nothing."""
        path = f"$.message.content[{slot - 3}].content"
        if raw[:1] == b"[":
            parts = self.part(BLOCKS, raw, path) or []
        elif raw[:1] == b"{":
            one = self.part(BLOCK, raw, path)
            parts = [one] if one else []
        else:
            return self.text(msgspec.Raw(raw), path)
        texts = []
        for part in parts:
            if part is None:
                continue
            if part.source is not None:
                self._image(part, head, slot, out, block.tool_use_id)
            elif part.type == "text":
                texts.append(self.text(part.text, f"{path}.text"))
        return texts[0] if len(texts) == 1 else tuple(texts) if texts else ""

    def _image(self, block: Block, head: Record, slot: int, out: list[Event], call_id: str | None = None) -> None:
        source = block.source
        if source is None:
            out.append(Image(head, slot, call_id=call_id))
        else:
            size = len(memoryview(source.data)) - 2  # without its quotes
            out.append(Image(head, slot, source.media_type, size if size > 0 else None, source.url, call_id))

    def _usage(self, record: Line, message: ApiMessage, usage: TokenUsage, head: Record) -> Usage:
        counts = self._counts(usage, "$.message.usage")
        spent = Usage(
            head, 2, counts, _EXCLUSIVE, "message", message.model, message.id, record.requestId, stop_reason=message.stop_reason,
            service_tier=usage.service_tier,
        )  # fmt: skip
        origin = record.forkedFrom.sessionId if record.forkedFrom is not None else record.requestSessionId
        if origin is not None:
            spent.origin_session = origin
        if record.isAbortedMidStream:
            spent.adjustments = ("aborted_stream",)
        geo = usage.inference_geo
        if geo is not None:
            spent.inference_geo = geo
            spent.endpoint = "native" if geo == "not_available" else "proxy" if geo == "" else "unknown"
        tools = usage.server_tool_use
        if tools is not None and (tools.web_search_requests or tools.web_fetch_requests):
            spent.server_tools = _server_tools(tools.web_search_requests, tools.web_fetch_requests)
        if counts.input is None and counts.output is None and counts.is_missing():
            spent.adjustments += ("unreported",)
        return spent

    def _counts(self, usage: TokenUsage | Iteration, path: str) -> Counts:
        """Cache writes are the greater of the sum and its parts: before 2.1.152 the sum could be 0 (sheet 3)."""
        write = usage.cache_creation_input_tokens
        parts = usage.cache_creation
        hour = short = None
        if parts is not None:
            hour, short = parts.ephemeral_1h_input_tokens, parts.ephemeral_5m_input_tokens
            if hour is not None or short is not None:
                nested = (hour or 0) + (short or 0)
                if write is None or nested > write:
                    write = nested
        reasoning = total = None
        if usage.__class__ is TokenUsage:
            reasoning, total = usage.reasoning_output_tokens, usage.total_tokens
            if reasoning is None and usage.output_tokens_details is not None:
                reasoning = usage.output_tokens_details.thinking_tokens
        given, spoken, read = usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens
        if (given or 0) + (spoken or 0) + (read or 0) + (write or 0) > MAX_U64:
            for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"):
                if (getattr(usage, name) or 0) > MAX_U64:
                    self.soft(Problem(FaultKind.INVALID_FIELD, f"{path}.{name}", "a 64-bit count", "a larger integer"))
            given, spoken, read, write = (None if n and n > MAX_U64 else n for n in (given, spoken, read, write))
        return Counts(given, spoken, read, write, hour, short, reasoning, total)

    def _advisors(
        self, record: Line, message: ApiMessage, iterations: list[Iteration], head: Record, slot: int, out: list[Event]
    ) -> None:
        """Advisor calls are billed beside the answer and stand nowhere else (sheet 3)."""
        for n, call in enumerate(iterations):
            if call is not None and call.type == "advisor_message":
                counts = self._counts(call, f"$.message.usage.iterations[{n}]")
                out.append(
                    Usage(head, slot + n, counts, _EXCLUSIVE, "advisor", call.model, message.id, record.requestId)
                )

    def _system(self, record: Line, head: Record, out: list[Event]) -> None:
        subtype = record.subtype
        label = f"system:{subtype}"
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
            content = record.content if record.content is not None else record.message and record.message.content
            if content is None:
                out.append(Custom(head, 1, label))
            else:
                said = Message(head, 1, "system", "", "system", is_meta=bool(record.isMeta))
                out.append(said)
                said.body = content if isinstance(content, str) else self._blocks(content, head, out)
                if subtype == "local_command":
                    said.author = "output" if _by_opening(said) == "output" else "command"
        self._meta(record, head, None, out)

    def _attachment(self, record: Line, head: Record, out: list[Event]) -> None:
        what = record.attachment or _NO_ATTACHMENT
        if what.type == "queued_command" and what.prompt is not None:
            said = Message(head, 1, "user", "", "human")
            out.append(said)
            said.body = what.prompt if isinstance(what.prompt, str) else self._blocks(what.prompt, head, out)
            if what.origin is not None and what.origin.kind not in (None, "human"):
                said.author = "notice"
            else:
                said.author = _by_opening(said) or ("task" if head.sidechain else "human")
        else:
            label = f"attachment:{what.type}"
            if label not in TYPES:
                self.note(label, known=False)
            out.append(Custom(head, 1, label))
        self._meta(record, head, None, out)

    def _progress(self, record: Line, head: Record, out: list[Event]) -> None:
        """A node of the chain; the nested message repeats a subagent's record, so only its tools are told."""
        data = record.data
        label = f"progress:{data.type if data else None}"
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


_NO_ATTACHMENT = Attachment()
_NO_METADATA = CompactMetadata()


def _by_opening(said: Message) -> Author | None:
    """Whom the first words give away; the text is decoded only where it can be one of them."""
    body = said.body[0] if said.body.__class__ is tuple else said.body
    first = body[1:2] if body.__class__ is bytes else body[:1].encode(errors="replace")  # type: ignore[union-attr]
    if first not in (b"<", b"[", b"W"):
        return None
    text = said.text
    for opening, author in _OPENINGS:
        if text.startswith(opening):
            return author
    return "warmup" if text == "Warmup" and said.record.sidechain else None



def _server_tools(search: int | None, fetch: int | None) -> dict[str, int] | None:
    found = {name: n for name, n in (("web_search_requests", search), ("web_fetch_requests", fetch)) if n}
    return found or None


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
