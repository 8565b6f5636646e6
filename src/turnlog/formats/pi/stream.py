"""What Pi prints while it runs, to events (sheet PI 8-10). Messages, calls, results and usage are those that the session file
gives; the rest are the words of `turnlog.stream`.

Usage is counted where it is final: at the end of a message, of a compaction, and in usage entries. Slots: 0 meta and how an
answer ended, 1 the message or the record's own event, 2 usage, 3+n the n-th content block; 1 is the run's frame in a header,
3 what goes beside a compaction.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...contract import Place, ReadOptions
from ...errors import FaultKind, Problem
from ...model import Compaction, Event, Message, Record, ThinkingLevelChange, ToolResult, told
from ...stream import (
    MAX_GROWING,
    Asked,
    Begun,
    Compacting,
    Delta,
    Ended,
    Growing,
    Notice,
    Outcome,
    Part,
    Queue,
    Reply,
    Retry,
    Run,
    ToolRun,
)
from ...typed import raw_name
from ..base import Aside, missing, stream_format
from .happenings import COMPACTED, HAPPENING, LARGER, Happening, Piece, Update, Uttered
from .messages import present
from .session import _ENTRIES, PiSession
from .stream_types import ENTRIES, EVENT_TYPES, STREAM_IGNORED, STREAM_TYPES, UPDATES

_ASIDES = {label: Aside(label, True) for label in STREAM_IGNORED}

_OUTCOMES: dict[str, Outcome] = {
    "stop": "stop",
    "toolUse": "tool_use",
    "length": "length",
    "deferred": "deferred",
    "aborted": "aborted",
    "error": "error",
}
_GROWS = {name: part for name, (part, state) in UPDATES.items() if state == "grows"}
_QUOTE = 0x22
_NOTHING: list[Event] = []
_REFUSED = "The model refused to complete the request"
"""Pi's own sentence for a refusal: the only sign of one before 1.3.0 wrote `rawStopReason`."""


class PiStreamSession(PiSession):
    """State of one stream: its session, the message under way, and the summary of the last compaction."""

    __slots__ = ("_compacted", "_growing")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._growing: Growing | None = None
        self._compacted: str | None = None

    def read(self, record: Any, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside | None:
        """The events of one record; see the table of types."""
        kind = record.type
        if kind == "message_update":
            piece = record.assistantMessageEvent
            # The usual record of a stream, and nothing else is on its way: a piece more of a block that is open.
            if (
                piece is not None
                and (part := _GROWS.get(piece.type)) is not None
                and (growing := self._growing) is not None
            ):
                body = bytes(piece.delta)
                block = growing.blocks.get(piece.contentIndex)
                if (
                    block is not None
                    and body
                    and body[0] == _QUOTE
                    and (kept := growing.kept + len(body)) <= MAX_GROWING
                ):
                    block.raw += body[1:-1]
                    growing.kept = kept - 2
                    if self.quiet:
                        return _NOTHING
                    head = Record(line, start, end, kind, None, None, self._session)
                    if recovered:
                        head.recovered = True
                    return [Delta(head, 1, piece.contentIndex, part, "grows", body)]
        project = _EVENTS.get(kind)
        if project is None:
            return _ASIDES.get(kind) or Aside(kind, False)
        if self.quiet and kind == "message_update" and self._growing is not None:
            return self._update(record, None)
        if kind in LARGER and record.__class__ is Update:
            # The first look showed only what an update adds.
            return _NOTHING if self.quiet and kind in _TOOL_STATES else None
        head = Record(line, start, end, kind, None, None, self._session)
        if recovered:
            head.recovered = True
        if kind == "message_update":
            return self._update(record, head)
        out: list[Event] = []
        project(self, record, head, out)
        return out

    def _update(self, record: Update, head: Record | None) -> list[Event] | Aside:
        """What an update adds to the message under way, put where it belongs; and told as a piece, where there is a head
        to tell it under."""
        piece = record.assistantMessageEvent
        if piece is None:
            missing("$.assistantMessageEvent", "an object")
        known = UPDATES.get(piece.type)  # type: ignore[arg-type]  # None is no key of it
        if known is None:
            label = f"update:{piece.type}"
            return _ASIDES.get(label) or Aside(label, False)
        part, state = known
        place = piece.contentIndex
        if place is None:
            self._lacking("$.assistantMessageEvent.contentIndex", "an integer")
            return []
        body: bytes
        if state == "grows":
            body = bytes(piece.delta)
            if body[:1] != b'"':
                return self._no_string("$.assistantMessageEvent.delta", body)
        elif state == "closes" and part != "tool_call":
            body = bytes(piece.content)
            if body[:1] != b'"':
                return self._no_string("$.assistantMessageEvent.content", body)
        else:
            body = b'""'
        growing, begun = self._growing, False
        if growing is None:  # the stream's beginning is missing
            growing, begun = Growing(), True
            self._growing = growing
        if state == "grows":
            growing.add(place, part, body)
        elif state == "closes":
            body = self._closed(growing, piece, part, place, body)
        else:
            growing.open(place, part, piece.id, piece.toolName)
        if head is None:
            return _NOTHING
        delta = Delta(head, 1, place, part, state, body)
        return [Begun(head, 0, "assistant", growing), delta] if begun else [delta]

    def _closed(self, growing: Growing, piece: Piece, part: Part, place: int, body: bytes) -> bytes:
        """A block's end replaces what came of it. What its Delta says."""
        if part != "tool_call":
            growing.close(place, part, body)
            return body
        call = piece.toolCall
        arguments = bytes(call.arguments) if call is not None else b""
        text = msgspec.json.encode(arguments.decode())
        growing.close(place, part, text)
        block = growing.blocks.get(place)
        if block is not None and call is not None:
            block.id, block.name = call.id or block.id, call.name or block.name
        return text

    def _lacking(self, path: str, expected: str) -> None:
        if any(problem.path == path for problem in self.problems):
            return  # it is there, and was found not to fit
        self.soft(Problem(FaultKind.MISSING_FIELD, path, expected, "nothing"))

    def _no_string(self, path: str, body: bytes) -> list[Event]:
        if body:
            self.soft(Problem(FaultKind.INVALID_FIELD, path, "a string", raw_name(body)))
        else:
            self._lacking(path, "a string")
        return []

    def _said(self, raw: msgspec.Raw, path: str) -> str | None:
        """A sentence of Pi's own; None where it says none."""
        return told(self.text(raw, path)) if present(raw) else None

    def _opened(self, record: Happening, head: Record, out: list[Event]) -> None:
        self._headed = False  # one more header begins one more stream: captures are put behind one another
        said = self._header(record, head.line, head.start, head.end, head.recovered)
        assert isinstance(said, list)
        self._flat = None  # no stream has version 1's list
        self._growing = self._compacted = None
        out += said
        out.append(Run(said[0].record, 1, "opened"))

    def _started(self, record: Update, head: Record, out: list[Event]) -> None:  # noqa: ARG002  as all
        out.append(Run(head, 1, "started"))

    def _ended(self, record: Update, head: Record, out: list[Event]) -> None:
        out.append(Run(head, 1, "paused", will_retry=record.willRetry))

    def _settled(self, record: Update, head: Record, out: list[Event]) -> None:
        out.append(Run(head, 1, "settled", "aborted" if record.aborted else None))

    def _message_start(self, record: Update, head: Record, out: list[Event]) -> None:
        message = record.message
        if message is None:
            missing("$.message", "an object")
        role = None if isinstance(message, str) else message.role
        if role is None:
            missing("$.message.role", "a string")
        growing = None
        if role == "assistant":
            # Empty, whatever the record shows: it is written late, and each block's own start still follows (sheet 8).
            growing = self._growing = Growing()
        out.append(Begun(head, 1, role, growing))

    def _message_end(self, record: Any, head: Record, out: list[Event]) -> None:
        said: Uttered | None = record.message
        if self.quiet and said is not None and said.role in _BARE:
            out += _BARE[said.role](self, said, head)
            return
        self._message(record, head, out)
        if said is not None and said.role == "assistant":
            out.insert(0, self._outcome(said, head))
            self._growing = None

    def _bare(self, said: Uttered, head: Record) -> list[Event]:
        """A message that is no part of an answer, where only that is wanted: that it was there."""
        return [Message(head, 1, said.role or "")]

    def _bare_result(self, said: Uttered, head: Record) -> list[Event]:
        result = ToolResult(head, 1, said.toolCallId, "", said.isError, said.toolName)
        return [result] if said.usage is None else [result, self._usage(said.usage, "message", head)]

    def _outcome(self, said: Uttered, head: Record) -> Ended:
        error = self._said(said.errorMessage, "$.message.errorMessage")
        outcome = _OUTCOMES.get(said.stopReason or "", "unknown")
        if outcome == "error" and (said.rawStopReason == "refusal" or error == _REFUSED):
            outcome = "refusal"
        return Ended(head, 0, outcome, error)

    def _tool(self, record: Happening, head: Record, out: list[Event]) -> None:
        run = ToolRun(head, 1, _TOOL_STATES[record.type], record.toolCallId, record.toolName)
        run.input = bytes(record.args) or None
        run.output = bytes(record.partialResult) or bytes(record.result) or None
        run.is_error, run.parent_id = record.isError, record.parentToolCallId
        run.duration_ms = None if record.durationMs is None else int(record.durationMs)
        out.append(run)

    def _queue(self, record: Happening, head: Record, out: list[Event]) -> None:
        out.append(Queue(head, 1, tuple(record.steering or ()), tuple(record.followUp or ())))

    def _appended(self, record: Happening, head: Record, out: list[Event]) -> None:
        entry = record.entry
        if entry is None:
            missing("$.entry", "an object")
        kind, stamp = entry.type, entry.timestamp
        if kind not in ENTRIES:
            self.note(f"entry:{kind}", known=f"entry:{kind}" in STREAM_IGNORED)
            return
        if kind == "compaction" and entry.summary is not None and entry.summary == self._compacted:
            self.note("entry:again", known=True)
            return
        if stamp is not None:
            head.at, head.at_text = self.when(stamp, "$.entry.timestamp"), stamp if isinstance(stamp, str) else None
        head.id, head.parent_id = entry.id, entry.parentId or None
        _ENTRIES[kind](self, entry, head, out)

    def _level(self, record: Happening, head: Record, out: list[Event]) -> None:
        out.append(ThinkingLevelChange(head, 1, record.level))

    def _compaction_start(self, record: Happening, head: Record, out: list[Event]) -> None:
        out.append(Compacting(head, 0, "begun", record.reason))

    def _compaction_end(self, record: Happening, head: Record, out: list[Event]) -> None:
        error = self._said(record.errorMessage, "$.errorMessage")
        out.append(Compacting(head, 0, "ended", record.reason, record.aborted, record.willRetry, error))
        result = self.part(COMPACTED, record.result, "$.result") if present(record.result) else None
        if result is None:
            return
        out.append(
            Compaction(
                head, 1, result.summary, result.tokensBefore, result.estimatedTokensAfter, result.firstKeptEntryId
            )
        )
        if result.usage is not None:
            out.append(self._usage(result.usage, "entry", head))
        self._compacted = result.summary

    def _retry_start(self, record: Happening, head: Record, out: list[Event]) -> None:
        what: Any = "call" if record.type == "auto_retry_start" else "summary"
        delay = None if record.delayMs is None else int(record.delayMs)
        error = self._said(record.errorMessage, "$.errorMessage")
        out.append(Retry(head, 1, what, "scheduled", record.attempt, record.maxAttempts, delay, None, error))

    def _retry_end(self, record: Happening, head: Record, out: list[Event]) -> None:
        error = self._said(record.finalError, "$.finalError")
        out.append(Retry(head, 1, "call", "ended", record.attempt, None, None, record.success, error))

    def _summary_again(self, record: Happening, head: Record, out: list[Event]) -> None:
        out.append(Retry(head, 1, "summary", "begun", source=record.source))

    def _summary_done(self, record: Update, head: Record, out: list[Event]) -> None:  # noqa: ARG002  as all
        out.append(Retry(head, 1, "summary", "ended"))

    def _printed(self, record: Happening, head: Record, out: list[Event]) -> None:
        out.append(Notice(head, 1, record.type, self._said(record.delta, "$.delta")))

    def _warned(self, record: Update, head: Record, out: list[Event]) -> None:
        out.append(Notice(head, 1, record.type, self._said(record.error, "$.error"), True))

    def _reply(self, record: Update, head: Record, out: list[Event]) -> None:
        error = self._said(record.error, "$.error")
        out.append(Reply(head, 1, record.id, record.command, record.success, error))

    def _asked(self, record: Update, head: Record, out: list[Event]) -> None:
        out.append(Asked(head, 1, record.id, record.method))


_BARE: dict[str | None, Any] = {
    "system": PiStreamSession._bare,
    "user": PiStreamSession._bare,
    "toolResult": PiStreamSession._bare_result,
}

_TOOL_STATES: dict[str, Any] = {
    "tool_execution_start": "started",
    "tool_execution_update": "partial",
    "tool_execution_end": "ended",
}

_EVENTS: dict[str, Any] = {
    "session": PiStreamSession._opened,
    "agent_start": PiStreamSession._started,
    "agent_end": PiStreamSession._ended,
    "agent_settled": PiStreamSession._settled,
    "message_start": PiStreamSession._message_start,
    "message_update": PiStreamSession._update,
    "message_end": PiStreamSession._message_end,
    "tool_execution_start": PiStreamSession._tool,
    "tool_execution_update": PiStreamSession._tool,
    "tool_execution_end": PiStreamSession._tool,
    "queue_update": PiStreamSession._queue,
    "entry_appended": PiStreamSession._appended,
    "session_info_changed": PiStreamSession._session_info,
    "thinking_level_changed": PiStreamSession._level,
    "compaction_start": PiStreamSession._compaction_start,
    "compaction_end": PiStreamSession._compaction_end,
    "auto_retry_start": PiStreamSession._retry_start,
    "auto_retry_end": PiStreamSession._retry_end,
    "summarization_retry_scheduled": PiStreamSession._retry_start,
    "summarization_retry_attempt_start": PiStreamSession._summary_again,
    "summarization_retry_finished": PiStreamSession._summary_done,
    "bash_execution_update": PiStreamSession._printed,
    "extension_error": PiStreamSession._warned,
    "response": PiStreamSession._reply,
    "extension_ui_request": PiStreamSession._asked,
}

# What a record of a type has that nothing nested in one has: the sign that behind a torn line a whole record begins.
_MARKS = {
    "session": "cwd",
    "message_start": "message",
    "message_update": "assistantMessageEvent",
    "message_end": "message",
    "turn_end": "message",
    "agent_end": "messages",
    "tool_execution_start": "toolCallId",
    "tool_execution_update": "toolCallId",
    "tool_execution_end": "toolCallId",
    "entry_appended": "entry",
    "response": "success",
    "extension_ui_request": "method",
    "extension_error": "error",
}


def _is_record(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str) or (kind not in EVENT_TYPES and kind not in STREAM_IGNORED):
        return False
    return kind not in _MARKS or _MARKS[kind] in value


def _sniff(value: dict[str, Any]) -> bool:
    """The header, or any event: no other agent prints records of these types."""
    return _is_record(value) and (value["type"] != "session" or isinstance(value.get("id"), str))


STREAM = stream_format(
    name="pi",
    title="Pi",
    schema=HAPPENING,
    session=PiStreamSession,
    is_record=_is_record,
    sniff=_sniff,
    types=STREAM_TYPES,
    ignored=STREAM_IGNORED,
)
