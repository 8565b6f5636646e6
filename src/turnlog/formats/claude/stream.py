"""What Claude Code prints with `--output-format json` or `stream-json`, to events (sheet CLAUDE_CODE 12).

A run begins with an init line and settles with its result line. While agents work in the background a run can begin
before the result of the one before it is printed; results come in the order of their runs. One message of the model is
several lines, one a block, each with the same usage: the greatest of each part counts once, what a later line or the
result tells beyond it is counted there. The usage is that of the main loop: subagents' lines are marked as sidechain, and
what everything cost by the client's own bill (cumulative over the process, in 2.1.332 over resumed history too) is told as
Totals, to compare and not to add.

Slots: 0 meta and how an answer ended, 1 the message or the line's own event, 2 usage, 3+n the n-th content block; in an
init line 2 is the run's frame; in a result line 3 is the bill, 4 the end of trying again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ...contract import Place, ReadOptions
from ...model import Compaction, Event, Message, Meta, Record, Totals, Usage, told
from ...stream import Begun, Compacting, Delta, Ended, Growing, Notice, Outcome, Part, Retry, Run
from ...tokens import Counts, Semantics
from ..base import Aside, missing, stream_format
from .author import by_opening
from .records import ApiMessage, TokenUsage
from .session import SYNTHETIC, ClaudeSession
from .stream_bill import Going, Lines, beyond, inward
from .stream_lines import SCHEMA, ApiEvent, StreamLine
from .stream_types import IGNORED, TYPES
from .usage import _counts

_ASIDES = {label: Aside(label, True) for label in IGNORED}

_OUTCOMES: dict[str, Outcome] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "pause_turn": "deferred",
    "tool_deferred": "deferred",
}
_LIMITS = frozenset(("error_max_turns", "error_max_budget_usd"))
_EXCLUSIVE = Semantics.CACHE_EXCLUSIVE
_PARTS: dict[str, Part] = {
    "text": "text",
    "thinking": "thinking",
    "tool_use": "tool_call",
    "server_tool_use": "tool_call",
    "mcp_tool_use": "tool_call",
}
_TALK = frozenset(("assistant", "user"))
_MOST_RECENT = 64
"""Lines among which one that comes twice is known again."""
_MOST_RUNS = 16
"""Runs that may wait for their result at once."""

_BROKEN_OFF = "the answer broke off: the client never counted the end of its last message"


class ClaudeStream(ClaudeSession):
    """State of one stream: the runs without a result, the usage of the last messages, the message under way."""

    __slots__ = ("_background", "_dropped", "_growing", "_lines", "_open", "_recent", "_streamed", "_tries")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._session = None  # a capture is named for nothing
        self._open: list[Going] = []
        self._lines = Lines()
        self._background = False  # a task in the background was told of since the process began
        self._growing: Growing | None = None
        self._streamed: str | None = None  # the id of the message under way
        self._dropped = False  # a whole block of it came, so that a reader has let go of what was growing
        self._tries: Retry | None = None
        self._recent: dict[str | None, None] = {}  # uuids of the last lines of the talk

    def read(self, record: StreamLine, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside:  # type: ignore[override]
        """The events of one line; see the table of types."""
        kind = record.type
        project = _PROJECT.get(kind)
        if project is None:
            return _ASIDES.get(kind) or Aside(kind, False)
        name = record.uuid if kind in _TALK else None
        if name in self._recent:
            return _ASIDES["repeated"]
        stamp = record.timestamp
        at: datetime | None = None if stamp is None else self.when(stamp)
        head = Record(
            line, start, end, kind, at, stamp if isinstance(stamp, str) else None, record.session_id, record.uuid
        )  # fmt: skip
        if record.parent_tool_use_id is not None:
            head.sidechain, head.agent_id = True, record.agent_id
        head.recovered = recovered
        out = project(self, record, head)
        if name is not None:  # only now: a record that was refused is read again
            self._recent[name] = None
            if len(self._recent) > _MOST_RECENT:
                del self._recent[next(iter(self._recent))]
        return out

    def _run(self) -> Going:
        """The run that the main loop's lines belong to."""
        if not self._open:
            self._open.append(Going())
        return self._open[-1]

    # -- system

    def _system(self, record: StreamLine, head: Record) -> list[Event] | Aside:  # type: ignore[override]
        label = f"system:{record.subtype}"
        project = _SYSTEM.get(label)
        if project is not None:
            return project(self, record, head)
        if record.subtype == "background_tasks_changed":
            self._background = True
        return _ASIDES.get(label) or Aside(label, False)

    def _init(self, record: StreamLine, head: Record) -> list[Event]:
        """A turn begins. A run before it without a result goes on only within the same process, which has tasks in the
        background then."""
        out: list[Event] = [
            Meta(head, 0, record.session_id, record.cwd, None, record.model, record.claude_code_version)
        ]
        beside = bool(self._open) and self._background and record.session_id == self._session
        if not beside:
            self._open.clear()
            self._background = False
            out.append(Run(head, 1, "opened"))
        if len(self._open) < _MOST_RUNS:
            self._open.append(Going())
        self._session = record.session_id
        self._growing = self._tries = None
        out.append(Run(head, 2, "started", beside=beside))
        return out

    def _retry(self, record: StreamLine, head: Record) -> list[Event]:
        status = f" ({record.error_status})" if record.error_status is not None else ""
        delay = record.retry_delay_ms
        self._tries = Retry(
            head, 1, "call", "scheduled", record.attempt, record.max_retries,
            int(delay) if delay is not None else None, None, f"{record.error or 'failed'}{status}",
        )  # fmt: skip
        return [self._tries]

    def _status(self, record: StreamLine, head: Record) -> list[Event] | Aside:
        if record.status == "compacting":
            return [Compacting(head, 1, "begun")]
        if record.compact_result is not None:
            failed = None if record.compact_result == "success" else record.compact_result
            return [Compacting(head, 1, "ended", error=failed)]
        return Aside("system:status", True)

    def _boundary(self, record: StreamLine, head: Record) -> list[Event]:
        about = record.compact_metadata
        if about is None:
            return [Compaction(head, 1)]
        return [Compaction(head, 1, None, about.pre_tokens, about.post_tokens, None, about.trigger)]

    def _notice(self, record: StreamLine, head: Record) -> list[Event]:
        raw = record.content or record.text
        text = record.tool_name if record.tool_name is not None else told(self.text(raw, "$.content"))
        return [Notice(head, 1, record.subtype or "", text, record.subtype == "permission_denied")]

    # -- messages

    def _assistant(self, record: StreamLine, head: Record) -> list[Event]:  # type: ignore[override]
        message = record.message
        if message is None:
            missing("$.message", "an object")
        said = Message(
            head, 1, "assistant", "", "agent", message.model, message.id, record.request_id, message.stop_reason
        )
        out: list[Event] = [said]
        content = message.content
        said.body = content if isinstance(content, str) else self._blocks(content or [], head, out)
        if message.model == SYNTHETIC or record.is_api_error_message:
            return self._synthetic(record, said)
        usage = self._spent(message, message.usage, head)
        if usage is not None:
            out.insert(1, usage)
        if head.sidechain:
            return out
        self._dropped = self._growing is not None
        run = self._run()
        run.line(message, said.body, inward(self._lines.known.get(message.id)))
        run.interrupted = run.interrupted or record.aborted is True
        if message.stop_reason is not None:
            out.insert(0, Ended(head, 0, _OUTCOMES.get(message.stop_reason, "unknown")))
        if self._tries is not None:
            out.append(self._tried(head, success=True))
        return out

    def _synthetic(self, record: StreamLine, said: Message) -> list[Event]:
        """No answer, but the client's own word: mostly of a call that failed."""
        head = said.record
        if record.error is None and not record.is_api_error_message and not said.text.startswith("API Error"):
            return [Notice(head, 1, SYNTHETIC, said.text)]
        if head.sidechain:
            return [Notice(head, 1, "error", said.text, True)]
        return [Ended(head, 0, "error", said.text)]

    def _user(self, record: StreamLine, head: Record) -> list[Event]:  # type: ignore[override]
        message = record.message
        if message is None:
            missing("$.message", "an object")
        said = Message(head, 1, "user", "", "human", None, message.id)
        content = message.content
        out: list[Event] = []
        said.body = content if isinstance(content, str) else self._blocks(content or [], head, out)
        if said.body or not out:
            author = by_opening(said)
            said.author = author or ("task" if head.sidechain else "injected" if record.isSynthetic else "human")
            out.insert(0, said)
            if author == "interruption" and not head.sidechain and self._open:
                self._open[-1].interrupted = True
        return out

    def _spent(self, message: ApiMessage, usage: TokenUsage | None, head: Record) -> Usage | None:
        """What this line tells of its message's usage beyond the lines before it; None where that is nothing."""
        if usage is None:
            return None
        counts = _counts(usage)
        more, first = self._lines.more(message.id, counts)
        if more is None:
            return None
        if not head.sidechain:
            self._run().add(more)
        return Usage(
            head, 2, more, _EXCLUSIVE, "message" if first else "cumulative_delta", message.model, message.id,
            cumulative=None if first else counts,
        )  # fmt: skip

    # -- the API's own stream

    def _event(self, record: StreamLine, head: Record) -> list[Event] | Aside:
        event = record.event
        if event is None:
            missing("$.event", "an object")
        label = f"stream_event:{event.type}"
        project = _EVENTS.get(label)
        if project is None or (head.sidechain and label in _PIECES):
            if event.type == "content_block_stop" and self._growing is not None and not head.sidechain:
                block = self._growing.blocks.get(event.index or 0)
                if block is not None:
                    block.closed = True
            return _ASIDES.get(label) or Aside(label, label in TYPES)
        return project(self, event, head)

    def _message_start(self, event: ApiEvent, head: Record) -> list[Event]:
        message = event.message or ApiMessage()
        out: list[Event] = []
        if not head.sidechain:
            self._growing, self._dropped, self._streamed = Growing(), False, message.id
            out.append(Begun(head, 1, "assistant", self._growing))
        usage = self._spent(message, message.usage, head)
        return out if usage is None else [*out, usage]

    def _block_start(self, event: ApiEvent, head: Record) -> list[Event]:
        block = event.content_block
        part = _PARTS.get(block.type) if block is not None else None
        if block is None or part is None:
            return []
        out: list[Event] = []
        if self._growing is None:
            self._growing, self._dropped = Growing(), True
        self._growing.open(event.index or 0, part, block.id, block.name)
        if self._dropped:
            out.append(Begun(head, 0, "assistant", self._growing))
            self._dropped = False
        return out if self.quiet else [*out, Delta(head, 1, event.index or 0, part, "opens")]

    def _block_delta(self, event: ApiEvent, head: Record) -> list[Event]:
        piece = event.delta
        if piece is None:
            return []
        found = _DELTAS.get(piece.type or "")
        if found is None:
            label = f"delta:{piece.type}"
            self.note(label, known=label in IGNORED)
            return []
        name, part = found
        body = self.text(getattr(piece, name), f"$.event.delta.{name}")
        if self._growing is not None and isinstance(body, bytes):
            self._growing.add(event.index or 0, part, body)
        return [] if self.quiet else [Delta(head, 1, event.index or 0, part, "grows", body)]

    def _message_delta(self, event: ApiEvent, head: Record) -> list[Event]:
        out: list[Event] = []
        usage = None if head.sidechain else self._spent(ApiMessage(id=self._streamed), event.usage, head)
        if usage is not None:
            out.append(usage)
        reason = event.delta.stop_reason if event.delta is not None else None
        if reason is not None and not head.sidechain:
            run = self._run()
            if run.last == self._streamed:
                run.stop = reason
            out.insert(0, Ended(head, 0, _OUTCOMES.get(reason, "unknown")))
            if self._growing is not None and not self._growing.blocks and not self._dropped:
                out.insert(1, Message(head, 1, "assistant", message_id=self._streamed))  # it has no block, so no line
        return out

    # -- the end of a run

    def _result(self, record: StreamLine, head: Record) -> list[Event]:
        out: list[Event] = []
        body = self.text(record.result, "$.result")
        if not self._open:
            self._open.append(Going())
            out.append(Run(head, 0, "started"))
        run, beside = self._settling(told(body))
        self._growing = None
        spent = self._billed(record, run)
        outcome, error = self._outcome(record, run, told(body), spent)
        end = Run(head, 1, "settled", outcome, error, beside=beside)
        if error is None and outcome != "aborted" and record.result and not run.says(told(body)):
            end.summed = body  # else the last message says it, and more where it has several texts
        if self._tries is not None and outcome == "error":
            out.append(self._tried(head, success=False))
        out.append(end)
        if spent is not None and (more := beyond(spent, run.told)) is not None:
            out.append(
                Usage(head, 2, more, _EXCLUSIVE, "cumulative_delta", cumulative=spent)
            )  # fmt: skip
        if record.total_cost_usd is not None or record.modelUsage:
            by_model = record.modelUsage if isinstance(record.modelUsage, dict) else None
            out.append(Totals(head, 3, record.total_cost_usd, by_model))
        return out

    def _settling(self, text: str) -> tuple[Going, bool]:
        """The run a result is of, and whether another has begun since: the earliest, unless the text is the last one's."""
        first, last = self._open[0], self._open[-1]
        if first is last:
            return self._open.pop(), False
        if text and last.says(text) and not first.says(text):
            return self._open.pop(), False
        return self._open.pop(0), True

    def _billed(self, record: StreamLine, run: Going) -> Counts | None:
        """The usage of a result line. 1.0.38 counts the start and the end of each call: no better than the lines."""
        if record.usage is None:
            return None
        counts = _counts(record.usage)
        spent = inward(run.told)
        if record.modelUsage is None and spent and inward(counts) == 2 * spent:
            return None
        return counts

    def _outcome(self, record: StreamLine, run: Going, text: str, spent: Counts | None) -> tuple[Outcome, str | None]:
        """How a run ended by its result line, and the client's sentence where it did not end well."""
        subtype, why = record.subtype or "", record.terminal_reason or ""
        failed = record.is_error is True or subtype.startswith("error")
        if why.startswith("aborted") or (failed and run.interrupted):
            return "aborted", None
        if failed:
            words = text or "; ".join(filter(None, record.errors or ())) or subtype.replace("_", " ")
            return ("limit" if subtype in _LIMITS else "error"), words
        stop = record.stop_reason or run.stop
        if stop is not None:
            return _OUTCOMES.get(stop, "unknown"), None
        if record.modelUsage is not None and spent is not None and run.last_in:
            told_in = inward(run.told)
            if inward(spent) == told_in - run.last_in:
                return "error", _BROKEN_OFF
        return "stop", None

    def _tried(self, head: Record, *, success: bool) -> Retry:
        """Trying again is over."""
        tries, self._tries = self._tries, None
        assert tries is not None
        return Retry(head, 4, "call", "ended", tries.attempt, tries.most, None, success, tries.error)


def _is_line(value: dict[str, Any]) -> bool:
    """A line of the stream has a known type and names its session as the files do not."""
    kind = value.get("type")
    if not isinstance(kind, str) or "sessionId" in value:
        return False
    if kind in ("system", "result"):
        return "session_id" in value and isinstance(value.get("subtype"), str)
    return "session_id" in value and (kind in _PROJECT or kind in IGNORED)


_Project = Callable[[ClaudeStream, StreamLine, Record], list[Event] | Aside]

_PROJECT: dict[str, _Project] = {
    "system": ClaudeStream._system,
    "assistant": ClaudeStream._assistant,
    "user": ClaudeStream._user,
    "stream_event": ClaudeStream._event,
    "result": ClaudeStream._result,
}
_SYSTEM: dict[str, _Project] = {
    "system:init": ClaudeStream._init,
    "system:api_retry": ClaudeStream._retry,
    "system:status": ClaudeStream._status,
    "system:compact_boundary": ClaudeStream._boundary,
    "system:informational": ClaudeStream._notice,
    "system:notification": ClaudeStream._notice,
    "system:permission_denied": ClaudeStream._notice,
    "system:local_command_output": ClaudeStream._notice,
}
_EVENTS: dict[str, Callable[[ClaudeStream, ApiEvent, Record], list[Event] | Aside]] = {
    "stream_event:message_start": ClaudeStream._message_start,
    "stream_event:content_block_start": ClaudeStream._block_start,
    "stream_event:content_block_delta": ClaudeStream._block_delta,
    "stream_event:message_delta": ClaudeStream._message_delta,
}
_PIECES = frozenset(("stream_event:content_block_start", "stream_event:content_block_delta"))
_DELTAS: dict[str, tuple[str, Part]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "tool_call"),
}

STREAM = stream_format(
    name="claude",
    title="Claude Code",
    schema=SCHEMA,
    session=ClaudeStream,
    is_record=_is_line,
    sniff=_is_line,
    types=TYPES,
    ignored=IGNORED,
)
