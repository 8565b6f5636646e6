"""What `codex exec --json` prints, to events (sheet CODEX 12).

A run is a turn: from turn.started to turn.completed or turn.failed. A stopped process prints neither: its run never
settled. Lines have no time. `turn.completed.usage` is the running total of the thread (of the process before 0.80): what
it grew by since the thread's last total in the same stream is the run's own. The first total of a thread stands for
itself, and holds earlier turns where the thread was resumed or forked, which no line tells; nor does one tell, before
0.130, whether a total goes on or began anew, as long as none has fallen. A failed turn prints no usage.
Before 0.44 the lines were raw events and no end of a turn was among them: such a run did not settle, as far as is told.

Slots: 0 meta, 1 the line's own event, 2 usage, 3 the call, result or thinking, 4 the tool at work, 5 the end of trying again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...contract import Place, ReadOptions
from ...model import Body, Event, Message, Meta, Record, Thinking, ToolCall, ToolResult, Usage, told
from ...stream import Notice, Outcome, Retry, Run, ToolRun
from ...tokens import Counts, Semantics
from ..base import Aside, Session, missing, stream_format
from . import stream_lines as lines
from .stream_lines import SCHEMA, Item, StreamLine
from .stream_types import IGNORED, TYPES
from .usage import CountLedger, counts_of, difference

_ASIDES = {label: Aside(label, True) for label in IGNORED}
_INCLUSIVE = Semantics.CACHE_INCLUSIVE
_MOST_THREADS = 256
"""Threads whose last total is remembered: a stream is of one, some few where several were put behind one another."""
_MOST_CALLS = 4096
"""Calls that may be at work at once."""

_AGAIN = re.compile(r"(?:reconnecting|retrying)\D{0,8}(\d{1,6})/(\d{1,6})", re.IGNORECASE | re.ASCII)
_INCOMPLETE = re.compile(r"incomplete response returned, reason: (\w+)", re.IGNORECASE | re.ASCII)
_CUT: dict[str, Outcome] = {"max_output_tokens": "length", "content_filter": "refusal"}


class CodexStream(Session):
    """State of one stream: the thread and the last total of each, the calls at work, and the last of trying again."""

    __slots__ = ("_anew", "_calls", "_ledger", "_thread", "_totals", "_tries")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._thread: str | None = None
        self._totals: dict[str | None, Counts] = {}
        self._ledger = CountLedger()
        self._calls: dict[str | None, ToolCall] = {}
        self._tries: Retry | None = None
        self._anew = False  # each process begins its total anew: before 0.80, whose lines have no count of reasoning

    def read(self, record: StreamLine, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside:
        """The events of one line; see the table of types."""
        kind = record.type
        if kind is None:
            kind = "msg" if record.msg is not None else "prompt" if record.prompt else "settings"
            if kind == "settings" and record.workdir is None and record.model is None:
                return Aside("no type", False)
        head = Record(line, start, end, kind, session_id=record.thread_id or self._thread, recovered=recovered)
        project = _PROJECT.get(kind)
        return _ASIDES.get(kind) or Aside(kind, False) if project is None else project(self, record, head)

    # -- the frame of a run

    def _thread_started(self, record: StreamLine, head: Record) -> list[Event]:
        self._thread = record.thread_id
        self._calls.clear()
        return [Meta(head, 0, record.thread_id), Run(head, 1, "opened")]

    def _settings(self, record: StreamLine, head: Record) -> list[Event]:
        self._calls.clear()
        self._ledger = CountLedger()
        return [Meta(head, 0, None, record.workdir, None, record.model), Run(head, 1, "opened")]

    def _prompt(self, record: StreamLine, head: Record) -> list[Event]:
        return [Message(head, 1, "user", self.text(record.prompt, "$.prompt"), "human")]

    def _turn_started(self, record: StreamLine, head: Record) -> list[Event]:  # noqa: ARG002  one signature for all
        self._tries = None
        return [Run(head, 1, "started")]

    def _turn_completed(self, record: StreamLine, head: Record) -> list[Event]:
        out = self._tried(head, success=True)
        out.append(Run(head, 1, "settled", "stop"))
        if record.usage is not None:
            total = counts_of(record.usage)
            before = self._totals.pop(self._thread, None)
            grown = None if before is None or self._anew else difference(total, before)
            self._anew = self._anew or (before is not None and grown is None and total.reasoning is None)
            self._totals[self._thread] = total
            if len(self._totals) > _MOST_THREADS:
                del self._totals[next(iter(self._totals))]
            basis = "initial_cumulative" if grown is None else "cumulative_delta"
            out.append(Usage(head, 2, total if grown is None else grown, _INCLUSIVE, basis, cumulative=total))
        return out

    def _turn_failed(self, record: StreamLine, head: Record) -> list[Event]:
        sentence = record.error.message if record.error is not None else None
        return self._failed(sentence, head)

    def _failed(self, sentence: str | None, head: Record) -> list[Event]:
        cut = _INCOMPLETE.search(sentence) if sentence is not None else None
        outcome: Outcome = _CUT.get(cut[1].lower(), "error") if cut is not None else "error"
        return [*self._tried(head, success=False), Run(head, 1, "settled", outcome, sentence)]

    # -- trying again

    def _error(self, record: StreamLine, head: Record) -> list[Event]:
        """A call that failed and is tried again; or the failure that turn.failed repeats."""
        return self._failing(record.message, head) or [Notice(head, 1, "error", record.message, True)]

    def _failing(self, sentence: str | None, head: Record) -> list[Event]:
        again = _AGAIN.search(sentence) if sentence is not None else None
        if again is None:
            return []
        self._tries = Retry(head, 1, "call", "scheduled", int(again[1]), int(again[2]), error=sentence)
        return [self._tries]

    def _tried(self, head: Record, *, success: bool) -> list[Event]:
        tries, self._tries = self._tries, None
        if tries is None:
            return []
        return [Retry(head, 5, "call", "ended", tries.attempt, tries.most, None, success, tries.error)]

    # -- items

    def _item(self, record: StreamLine, head: Record) -> list[Event] | Aside:
        item = record.item
        if item is None:
            missing("$.item", "an object")
        if item.type is None:
            missing("$.item.type", "a string")
        head.id = item.id
        label = f"item:{item.type}"
        state = head.type.removeprefix("item.")
        if item.type in _CALLS:
            return self._tool(item, state, head)
        project = _ITEMS.get(label)
        if project is None:
            return _ASIDES.get(label) or Aside(label, False)
        if state != "completed":
            return Aside(label, True)  # the completed item says all of it
        return project(self, item, head)

    def _agent_message(self, item: Item, head: Record) -> list[Event]:
        said = Message(head, 1, "assistant", self.text(item.text, "$.item.text"))
        return [said, *self._tried(head, success=True)]

    def _reasoning(self, item: Item, head: Record) -> list[Event]:
        return [Thinking(head, 3, self.text(item.text, "$.item.text"))]

    def _warning(self, item: Item, head: Record) -> list[Event]:
        return [Notice(head, 1, "warning", item.message, True)]

    def _tool(self, item: Item, state: str, head: Record) -> list[Event]:
        assert item.type is not None
        name, given = _CALLS[item.type](item)
        call = ToolCall(head, 3, item.id, name, given or None, missing=not given, namespace=item.server)
        if state == "started":
            return self._at_work(call, head)
        output: Body = self.text(item.aggregated_output, "$.item.aggregated_output")
        if state == "updated":
            return [ToolRun(head, 4, "partial", item.id, name, output=output)]
        out: list[Event] = []
        if self._calls.pop(item.id, None) is None:
            out.append(call)
        if item.result is not None:
            texts = (bytes(part.text) for part in item.result.content or () if part is not None)
            output = tuple(text for text in texts if text[:1] == b'"')
        elif item.error is not None:
            output = item.error.message or ""
        failed = None if item.status is None else item.status in ("failed", "declined")
        return [*out, *self._done(item.id, name, output, failed, head)]

    def _at_work(self, call: ToolCall, head: Record) -> list[Event]:
        if len(self._calls) < _MOST_CALLS:
            self._calls[call.id] = call
        return [call, ToolRun(head, 4, "started", call.id, call.name, call.input)]

    def _done(self, id: str | None, name: str, output: Body, failed: bool | None, head: Record) -> list[Event]:  # noqa: A002  the field's own name
        return [
            ToolResult(head, 3, id, output, failed, name),
            ToolRun(head, 4, "ended", id, name, output=output, is_error=failed),
        ]

    # -- events before 0.44

    def _msg(self, record: StreamLine, head: Record) -> list[Event] | Aside:
        event = record.msg
        assert event is not None
        label = f"msg:{event.type}"
        project = _MSGS.get(label)
        return _ASIDES.get(label) or Aside(label, False) if project is None else project(self, event, head)

    def _configured(self, event: lines.Message, head: Record) -> list[Event]:
        self._thread = event.session_id
        return [Meta(head, 0, event.session_id, None, None, event.model)]

    def _task_started(self, event: lines.Message, head: Record) -> list[Event]:  # noqa: ARG002  one signature for all
        self._tries = None
        return [Run(head, 1, "started")]

    def _task_complete(self, event: lines.Message, head: Record) -> list[Event]:  # noqa: ARG002  one signature for all
        return [*self._tried(head, success=True), Run(head, 1, "settled", "stop")]

    def _turn_aborted(self, event: lines.Message, head: Record) -> list[Event]:  # noqa: ARG002  one signature for all
        return [Run(head, 1, "settled", "aborted")]

    def _msg_error(self, event: lines.Message, head: Record) -> list[Event]:
        return self._failed(told(self.text(event.message, "$.msg.message")), head)

    def _stream_error(self, event: lines.Message, head: Record) -> list[Event]:
        sentence = told(self.text(event.message, "$.msg.message"))
        return self._failing(sentence, head) or [Retry(head, 1, "call", "scheduled", error=sentence)]

    def _said(self, event: lines.Message, head: Record) -> list[Event]:
        said = Message(head, 1, "assistant", self.text(event.message, "$.msg.message"))
        return [said, *self._tried(head, success=True)]

    def _thought(self, event: lines.Message, head: Record) -> list[Event]:
        return [Thinking(head, 3, self.text(event.text, "$.msg.text"))]

    def _begin(self, event: lines.Message, head: Record) -> list[Event]:
        what = event.invocation or lines.Invocation()
        name = what.tool or str(event.type).removesuffix("_begin")
        given = bytes(event.command) or bytes(event.changes) or bytes(event.query) or bytes(what.arguments)
        call = ToolCall(head, 3, event.call_id, name, given or None, missing=not given, namespace=what.server)
        return self._at_work(call, head)

    def _end(self, event: lines.Message, head: Record) -> list[Event]:
        path = "$.msg.aggregated_output" if event.aggregated_output else "$.msg.stdout"
        output = self.text(event.aggregated_output or event.stdout, path)
        call = self._calls.pop(event.call_id, None)
        name = call.name if call is not None else str(event.type).removesuffix("_end")
        failed = event.exit_code != 0 if event.exit_code is not None else None
        failed = not event.success if event.success is not None else failed
        return self._done(event.call_id, name, output, failed, head)

    def _token_count(self, event: lines.Message, head: Record) -> list[Event] | Aside:
        """Samples as the session files have them; `usage` says how."""
        info = event.info
        if info is None or info.total_token_usage is None:
            return Aside("msg:token_count", True)
        ledger = self._ledger
        before, broken = ledger.before, ledger.broken
        basis, counts, _, problem = ledger.take(info.total_token_usage, info.last_token_usage)
        if problem is not None:
            if self.strict:  # the record is refused: it changes nothing
                ledger.before, ledger.broken = before, broken
            self.soft(problem)
        if counts.is_missing():
            return Aside("msg:token_count", True)
        return [Usage(head, 2, counts, _INCLUSIVE, basis, cumulative=counts_of(info.total_token_usage))]

    def lost(self) -> None:
        """A line was lost: what a running total grew by may no longer hold."""
        self._ledger.broken = True


def _is_line(value: dict[str, Any]) -> bool:
    """A line of the stream, of today's or of the first form."""
    kind = value.get("type")
    if kind is None:
        msg = value.get("msg")
        if isinstance(msg, dict):
            return "id" in value and isinstance(msg.get("type"), str)
        return "workdir" in value and "provider" in value
    if not isinstance(kind, str) or kind not in _PROJECT or "timestamp" in value:
        return False
    needed = {"thread.started": "thread_id", "turn.failed": "error", "turn.completed": "usage", "error": "message"}
    key = "item" if kind.startswith("item.") else needed.get(kind)
    return key is None or key in value


_Project = Callable[[CodexStream, StreamLine, Record], list[Event] | Aside]

_PROJECT: dict[str, _Project] = {
    "thread.started": CodexStream._thread_started,
    "turn.started": CodexStream._turn_started,
    "turn.completed": CodexStream._turn_completed,
    "turn.failed": CodexStream._turn_failed,
    "error": CodexStream._error,
    "item.started": CodexStream._item,
    "item.updated": CodexStream._item,
    "item.completed": CodexStream._item,
    "msg": CodexStream._msg,
    "settings": CodexStream._settings,
    "prompt": CodexStream._prompt,
}
_ITEMS: dict[str, Callable[[CodexStream, Item, Record], list[Event] | Aside]] = {
    "item:agent_message": CodexStream._agent_message,
    "item:reasoning": CodexStream._reasoning,
    "item:error": CodexStream._warning,
}
_CALLS: dict[str, Callable[[Item], tuple[str, bytes]]] = {
    "command_execution": lambda item: ("command_execution", bytes(item.command)),
    "file_change": lambda item: ("file_change", bytes(item.changes)),
    "mcp_tool_call": lambda item: (item.tool or "", bytes(item.arguments)),
    "web_search": lambda item: ("web_search", bytes(item.query)),
    "collab_tool_call": lambda item: (item.tool or "", bytes(item.prompt)),
}
_MSGS: dict[str, Callable[[CodexStream, lines.Message, Record], list[Event] | Aside]] = {
    "msg:session_configured": CodexStream._configured,
    "msg:task_started": CodexStream._task_started,
    "msg:task_complete": CodexStream._task_complete,
    "msg:turn_aborted": CodexStream._turn_aborted,
    "msg:error": CodexStream._msg_error,
    "msg:stream_error": CodexStream._stream_error,
    "msg:agent_message": CodexStream._said,
    "msg:agent_reasoning": CodexStream._thought,
    "msg:exec_command_begin": CodexStream._begin,
    "msg:exec_command_end": CodexStream._end,
    "msg:patch_apply_begin": CodexStream._begin,
    "msg:patch_apply_end": CodexStream._end,
    "msg:mcp_tool_call_begin": CodexStream._begin,
    "msg:mcp_tool_call_end": CodexStream._end,
    "msg:web_search_begin": CodexStream._begin,
    "msg:web_search_end": CodexStream._end,
    "msg:token_count": CodexStream._token_count,
}

STREAM = stream_format(
    name="codex",
    title="Codex",
    schema=SCHEMA,
    session=CodexStream,
    is_record=_is_line,
    sniff=_is_line,
    types=TYPES,
    ignored=IGNORED,
)
