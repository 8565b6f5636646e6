"""The words of every reader: one record's head and the events it may say.

An event is a `msgspec.Struct` that points to its record's head (`event.record`: line, bytes, times, ids) and has a fixed
slot in it (`event.index`). Events of one record share one head. No agent is named here: what differs between agents is
in the values.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar, Literal

import msgspec

from .errors import LineFault
from .jsontext import value_of
from .tokens import Counts, Semantics

Body = str | bytes | tuple[str | bytes, ...]
"""Text as an event keeps it: a string; the raw JSON text of one (bytes), decoded when it is asked for; or several.

Most readers of a session never ask for most of its text, and decoding it is most of the work. The raw text was checked
when it was read, so asking cannot fail.
"""

_string = msgspec.json.Decoder(str).decode


def told(body: Body) -> str:
    """The text of a body; several texts are joined with a line feed. Lone surrogates stay as written."""
    if body.__class__ is str:
        return body
    if body.__class__ is tuple:
        return "\n".join([told(part) for part in body])
    try:
        return _string(body)  # type: ignore[arg-type]
    except msgspec.DecodeError:
        return str(value_of(body))  # type: ignore[arg-type]


def valued(body: Any) -> Any:
    """A JSON value kept as its raw text (bytes), or as it is. Numbers out of any range in it are None."""
    if body.__class__ is not bytes:
        return body
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return value_of(body)


class Record(msgspec.Struct, gc=False):
    """The head of one record: where it stands and what it says of itself.

    line: physical line, from 1. start, end: absolute byte offsets, half-open, delimiter included (for a record
    recovered from a damaged line: its own range inside the line).
    type: the native type. at: UTC, or None where nothing (or nothing usable) is said; at_text: the native text.
    session_id: the session it belongs to by its own word, else the file's. id, parent_id: the native tree.
    turn_id, agent_id, sidechain: the turn; the subagent that wrote it; whether it is off the main line.
    recovered: it was read from a damaged line.
    """

    line: int
    start: int
    end: int
    type: str
    at: datetime | None = None
    at_text: str | None = None
    session_id: str | None = None
    id: str | None = None
    parent_id: str | None = None
    turn_id: str | None = None
    agent_id: str | None = None
    sidechain: bool = False
    recovered: bool = False


class Event(msgspec.Struct, gc=False, eq=False):
    """What every event has: its record's head and its slot in that record. Equal events say the same."""

    record: Record
    index: int

    kind: ClassVar[str] = ""

    def __eq__(self, other: object) -> bool:
        """The same kind, place and content, however the text is kept."""
        if self.__class__ is not other.__class__:
            return NotImplemented
        assert isinstance(other, Event)
        return all(
            valued(a) == valued(b) or (name == "body" and told(a) == told(b))
            for name in self.__struct_fields__
            for a, b in ((getattr(self, name), getattr(other, name)),)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def line(self) -> int:
        """Physical line, from 1."""
        return self.record.line

    @property
    def start(self) -> int:
        """First byte of the record."""
        return self.record.start

    @property
    def end(self) -> int:
        """One past the record's last byte, delimiter included."""
        return self.record.end

    @property
    def at(self) -> datetime | None:
        """When, in UTC."""
        return self.record.at


Author = Literal[
    "human",  # a person typed it
    "agent",  # the model said it
    "tool",  # it carries tool results
    "injected",  # the client put it in: context, reminders, skill bodies
    "summary",  # it sums up what was compacted or left
    "command",  # a slash command or shell line the person gave the client
    "output",  # what such a command printed
    "notice",  # a background notice
    "interruption",  # the person stopped the run
    "task",  # the task a parent gave a subagent
    "warmup",  # the client's own warming call
    "error",  # the client's word for a call that failed
    "system",  # instructions to the model
]
"""Who a message is from, as far as the format tells."""


class Meta(Event, gc=False):
    """Facts on the session, emitted when one changes. Absent facts are None and change nothing.

    origin: how the run was started (unknown, interactive, ide, exec, subagent). facts: native evidence by its native
    name, as it stands in the record. forked_from, parent_session: lineage by session id (or, where the agent writes
    no id, by path).
    """

    session_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    model: str | None = None
    agent_version: str | None = None
    origin: str | None = None
    originator: str | None = None
    source: Any = None
    thread_source: str | None = None
    forked_from: str | None = None
    parent_session: str | None = None
    facts: dict[str, Any] | None = None

    kind: ClassVar[str] = "meta"


class Message(Event, gc=False):
    """Text of one role. `text` joins the text blocks with a line feed. Emitted for every message record, with empty
    text too. `body` is the text as it is kept.

    message_id, request_id: what identity needs. stop_reason: why the model stopped.
    native_at: the message's own clock where it is another than the record's (UTC).
    kinds: the native kinds of its parts, where the agent names them.
    """

    role: str = ""
    body: Body = ""
    author: Author = "agent"
    model: str | None = None
    message_id: str | None = None
    request_id: str | None = None
    stop_reason: str | None = None
    native_at: datetime | None = None
    is_meta: bool = False
    kinds: tuple[str, ...] | None = None
    facts: dict[str, Any] | None = None

    kind: ClassVar[str] = "message"

    @property
    def text(self) -> str:
        """What it says."""
        return told(self.body)

    @property
    def segments(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each text block, in UTF-8 bytes of `text`."""
        parts = self.body if isinstance(self.body, tuple) else (self.body,)
        ranges, at = [], 0
        for part in parts:
            size = len(told(part).encode("utf-8", "surrogatepass"))
            ranges.append((at, at + size))
            at += size + 1
        return tuple(ranges)


class Thinking(Event, gc=False):
    """What the model thought, as far as it is told; `redacted`: it is there but not readable."""

    body: Body = ""
    redacted: bool = False

    kind: ClassVar[str] = "thinking"

    @property
    def text(self) -> str:
        """What it says."""
        return told(self.body)


class Image(Event, gc=False):
    """A picture: media type, size of its base64 text in bytes, or where it lies. `raw` gives the bytes."""

    media_type: str | None = None
    base64_size: int | None = None
    location: str | None = None
    call_id: str | None = None

    kind: ClassVar[str] = "image"


class ToolCall(Event, gc=False):
    """The model asks for a tool. `arguments`: the JSON value, or the raw text where the agent stores text (never
    mended); `missing` says there was none. `input` is how they are kept: raw JSON (bytes) or the value. style: function, custom or server."""

    id: str | None = None
    name: str = ""
    input: Any = None
    style: Literal["function", "custom", "server"] = "function"
    missing: bool = False
    namespace: str | None = None

    kind: ClassVar[str] = "tool_call"

    @property
    def arguments(self) -> Any:
        """The JSON value asked with, or the raw text where the agent stores text."""
        return valued(self.input)


class ToolResult(Event, gc=False):
    """What a tool gave back: text blocks joined with a line feed. is_error is None where the agent does not say."""

    call_id: str | None = None
    body: Body = ""
    is_error: bool | None = None
    name: str | None = None
    agent_id: str | None = None
    native_at: datetime | None = None

    kind: ClassVar[str] = "tool_result"

    @property
    def text(self) -> str:
        """What it says."""
        return told(self.body)


class Usage(Event, gc=False):
    """Tokens of one call, as written. `basis` says how the counts were had: message, last_sample, initial_cumulative,
    cumulative_delta, response, entry. `cumulative`: the running total beside them, context and not a sample.
    `cost`: US dollars as the agent stored them, None where it stored none. `ledger`: which native ledger.
    origin_session: the session that made the call, where a copied record says so itself. speed: "fast" is a dearer mode.
    """

    counts: Counts = msgspec.field(default_factory=Counts)
    semantics: Semantics = Semantics.CACHE_EXCLUSIVE
    basis: str = "message"
    model: str | None = None
    message_id: str | None = None
    request_id: str | None = None
    response_id: str | None = None
    thread_id: str | None = None
    stop_reason: str | None = None
    cumulative: Counts | None = None
    ledger: str | None = None
    cost: float | None = None
    provider: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None
    endpoint: str | None = None
    server_tools: dict[str, int] | None = None
    origin_session: str | None = None
    adjustments: tuple[str, ...] = ()
    speed: str | None = None

    kind: ClassVar[str] = "usage"


class ModelChange(Event, gc=False):
    """The session goes on with another model."""

    model: str | None = None
    provider: str | None = None
    previous: str | None = None

    kind: ClassVar[str] = "model_change"


class ThinkingLevelChange(Event, gc=False):
    """The session goes on with another thinking level (the agent's own word)."""

    level: str | None = None
    previous: str | None = None

    kind: ClassVar[str] = "thinking_level_change"


class Compaction(Event, gc=False):
    """Older context was summed up. tokens_before, tokens_after: context sizes, no consumption. first_kept: id of the
    first entry still in context. trigger: manual, auto, or None."""

    summary: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    first_kept: str | None = None
    trigger: str | None = None
    facts: dict[str, Any] | None = None

    kind: ClassVar[str] = "compaction"


class BranchSummary(Event, gc=False):
    """A branch was left; what was on it, in short. from_id: the leaf that was left."""

    summary: str = ""
    from_id: str | None = None

    kind: ClassVar[str] = "branch_summary"


class Label(Event, gc=False):
    """A mark on another entry (where there are no ids, on a message by its place); None or empty text clears it."""

    target_id: str | None = None
    text: str | None = None
    message_index: int | None = None

    kind: ClassVar[str] = "label"


class SessionName(Event, gc=False):
    """The session's name or title. source: custom, ai, summary, agent, info. leaf_id: the record it sums up, which
    may lie in another file. Empty text clears."""

    text: str | None = None
    source: str = "info"
    leaf_id: str | None = None

    kind: ClassVar[str] = "session_name"


class ContextEdit(Event, gc=False):
    """Another entry is shown to the model changed; replacement None takes it out."""

    target_id: str | None = None
    replacement: Any = None

    kind: ClassVar[str] = "context_edit"


class Custom(Event, gc=False):
    """Something a client or an extension noted that is no message: its native name and, where small, its data."""

    name: str = ""
    data: Any = None

    kind: ClassVar[str] = "custom"


class CustomMessage(Event, gc=False):
    """A message an extension put into the conversation; the model sees it as the person's. native_at: as a Message's."""

    name: str = ""
    text: str = ""
    display: bool = True
    data: Any = None
    native_at: datetime | None = None

    kind: ClassVar[str] = "custom_message"


class Prompt(Event, gc=False):
    """Evidence beside the messages that a person typed something: a mirrored user event, or a queued prompt.
    Not a message of its own; `thread_id` says whose, where the agent does."""

    text: str = ""
    thread_id: str | None = None
    queued: bool = False

    kind: ClassVar[str] = "prompt"


class Turn(Event, gc=False):
    """A turn's frame: state is started, completed, aborted, failed, rolled_back or reverted. `error`: the agent's own
    error kind; never its text."""

    state: str = ""
    turn_id: str | None = None
    error: str | None = None
    duration_ms: int | None = None
    count: int | None = None
    facts: dict[str, Any] | None = None

    kind: ClassVar[str] = "turn"


class Totals(Event, gc=False):
    """The agent's own running bill, for comparison only: never added to usage."""

    cost: float | None = None
    by_model: dict[str, Any] | None = None

    kind: ClassVar[str] = "totals"


EVENTS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (
        Meta,
        Message,
        Thinking,
        Image,
        ToolCall,
        ToolResult,
        Usage,
        ModelChange,
        ThinkingLevelChange,
        Compaction,
        BranchSummary,
        Label,
        SessionName,
        ContextEdit,
        Custom,
        CustomMessage,
        Prompt,
        Turn,
        Totals,
    )
}
"""Every kind of event, by the name it is printed under."""

KINDS: frozenset[str] = frozenset(EVENTS)

Item = Event | LineFault
"""What a reader yields: events, and faults in their physical place."""
