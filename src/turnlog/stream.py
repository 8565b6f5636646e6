"""The words of a run as it happens: what an agent's printed stream says beyond the events a session keeps.

A capture of a stream is read by the same parser as a session file, through a format of its own (`stream_format` in
formats/base). Its messages, calls, results and usage are the events of the model, as the session file would give them; what
only a stream tells is said in the words below. No agent is named here. Not one of these words holds a whole capture in
memory: a delta is a piece, and the message under way is dropped when its end comes.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import msgspec

from .contract import COMMAND_RECORD_BYTES
from .model import Body, Event, told

Outcome = Literal[
    "stop",  # the model ended its answer by itself
    "tool_use",  # it asked for tools: the answer goes on
    "length",  # it was cut by the limit of its output
    "refusal",  # it declined
    "deferred",  # the provider will answer later
    "aborted",  # somebody stopped it
    "error",  # the call failed
    "limit",  # the run was stopped by a limit of turns or money that the caller set
    "unknown",  # a reason we do not know: never taken for a good one
]
"""How an answer, or a run by the agent's own word, came to its end."""

MAX_BLOCKS = 1 << 16
"""Blocks of one message under way that are kept: answers have tens; the place of a block is the stream's own word."""

MAX_GROWING = COMMAND_RECORD_BYTES
"""Bytes of one message under way that are kept: its end is one record, and no longer one is read."""

Part = Literal["text", "thinking", "tool_call"]


class Block(msgspec.Struct, gc=False):
    """One block of a message under way: its kind, and what came of it so far. `raw`: the inside of a JSON string, the
    pieces put behind one another, so that a surrogate pair that two pieces share is one character again. closed: its end
    came."""

    part: Part
    raw: bytearray = msgspec.field(default_factory=bytearray)
    id: str | None = None
    name: str | None = None
    closed: bool = False

    @property
    def text(self) -> str:
        """The text so far; of a tool call, the JSON text of its arguments so far (it may be no JSON yet, or ever)."""
        return told(b'"%b"' % bytes(self.raw)) if self.raw else ""


class Growing(msgspec.Struct):
    """A message under way: its blocks by their place. It grows while the stream is read, so what is seen in it is how far
    the message has come. A place is a key, never a length: a stream may name any number. left_out: bytes that came and
    are not kept, because there is a bound to both blocks and bytes; then it is not whole."""

    role: str = "assistant"
    blocks: dict[int, Block] = msgspec.field(default_factory=dict)
    kept: int = 0
    left_out: int = 0

    @property
    def text(self) -> str:
        """The text blocks so far, in their places, joined with a line feed as a Message joins them."""
        return "\n".join([block.text for _, block in sorted(self.blocks.items()) if block.part == "text"])

    def open(self, place: int, part: Part, call_id: str | None = None, name: str | None = None) -> Block | None:
        """A block begins there (again: from nothing). None where no more are kept."""
        if len(self.blocks) >= MAX_BLOCKS and place not in self.blocks:
            return None
        before = self.blocks.get(place)
        if before is not None:
            self.kept -= len(before.raw)
        block = self.blocks[place] = Block(part, bytearray(), call_id, name)
        return block

    def add(self, place: int, part: Part, piece: bytes) -> None:
        """A piece more of the block there: a JSON string, with its quotes. A block that was not begun begins with it."""
        block = self.blocks.get(place) or self.open(place, part)
        if block is None or self.kept + len(piece) > MAX_GROWING:
            self.left_out += len(piece)
            return
        block.raw += piece[1:-1]
        self.kept += len(piece) - 2

    def close(self, place: int, part: Part, whole: bytes) -> None:
        """The block's end says what it is, as a JSON string with its quotes: that replaces what came before."""
        block = self.blocks.get(place) or self.open(place, part)
        if block is None:
            self.left_out += len(whole)
            return
        kept = self.kept - len(block.raw) + len(whole) - 2
        block.part, block.closed = part, True
        if kept > MAX_GROWING:
            self.left_out += len(whole)
            return
        self.kept = kept
        block.raw = bytearray(whole[1:-1])


class Begun(Event, gc=False):
    """A message begins. growing: an answer's text as it comes in (None where the stream gives no pieces)."""

    role: str = "assistant"
    growing: Growing | None = None

    kind: ClassVar[str] = "begun"


class Delta(Event, gc=False):
    """A piece of the message under way. block: its place. state: the block opens, grows by `body`, or closes (then `body`
    is the whole of it and replaces what came before). Pieces may part a surrogate pair. Of a tool call, `body` holds the
    JSON text of its arguments."""

    block: int = 0
    part: Part = "text"
    state: Literal["opens", "grows", "closes"] = "grows"
    body: Body = ""

    kind: ClassVar[str] = "delta"

    @property
    def text(self) -> str:
        """What it says."""
        return told(self.body)


class Ended(Event, gc=False):
    """How an answer ended, beside its Message in the same record. error: the agent's own sentence."""

    outcome: Outcome = "unknown"
    error: str | None = None

    kind: ClassVar[str] = "ended"


class Run(Event, gc=False):
    """The frame of a run.

    state: started; paused (the model's loop ended, the agent may go on by itself: it never ends a run); settled (nothing
    more will come without a new prompt); opened (the stream says what it is and of which session: a run before it that
    did not settle never will).
    outcome: the agent's own word on how a settled run ended, None where it gives none: then the last answer's counts.
    error: its sentence. summed: the answer as the agent itself sums it up, None where it does not.
    beside: started while the run before has not settled, and still may; settled: it is the earliest such run that did.
    """

    state: Literal["opened", "started", "paused", "settled"] = "started"
    outcome: Outcome | None = None
    error: str | None = None
    summed: Body | None = None
    will_retry: bool | None = None
    beside: bool = False

    kind: ClassVar[str] = "run"


class Retry(Event, gc=False):
    """A failed call is tried again, or no more. what: call, or summary. state: scheduled, begun, or ended with success
    True or False (None: not said). delay_ms: until the next attempt. error: the agent's own sentence."""

    what: Literal["call", "summary"] = "call"
    state: Literal["scheduled", "begun", "ended"] = "scheduled"
    attempt: int | None = None
    most: int | None = None
    delay_ms: int | None = None
    success: bool | None = None
    error: str | None = None
    source: str | None = None

    kind: ClassVar[str] = "retry"


class ToolRun(Event, gc=False):
    """A tool at work. state: started (input: its arguments), partial (output: what it has given so far; whether that
    replaces or extends what came before is the tool's own contract), ended. parent_id: the call that made this one.
    input, output: raw JSON (bytes) or the value."""

    state: Literal["started", "partial", "ended"] = "started"
    call_id: str | None = None
    name: str | None = None
    input: Any = None
    output: Any = None
    is_error: bool | None = None
    duration_ms: int | None = None
    parent_id: str | None = None

    kind: ClassVar[str] = "tool_run"


class Queue(Event, gc=False):
    """What a person typed while the agent was busy, and waits: to steer the turn under way, or to follow it."""

    steering: tuple[str, ...] = ()
    follow_up: tuple[str, ...] = ()

    kind: ClassVar[str] = "queue"


class Compacting(Event, gc=False):
    """Older context is being summed up: begun, or ended (then a Compaction of the same record says what came of it, if
    anything did). reason: the agent's own word."""

    state: Literal["begun", "ended"] = "begun"
    reason: str | None = None
    aborted: bool | None = None
    will_retry: bool | None = None
    error: str | None = None

    kind: ClassVar[str] = "compacting"


class Reply(Event, gc=False):
    """The agent's answer to a command a client gave it."""

    id: str | None = None
    command: str | None = None
    success: bool | None = None
    error: str | None = None

    kind: ClassVar[str] = "reply"


class Asked(Event, gc=False):
    """The agent asks the client something, or tells it to show something: the native method and its id."""

    id: str | None = None
    method: str | None = None

    kind: ClassVar[str] = "asked"


class Notice(Event, gc=False):
    """Something beside the run that a person may want to see: a warning, an extension's failure, a status. error: it is one."""

    name: str = ""
    text: str | None = None
    error: bool = False

    kind: ClassVar[str] = "notice"


WORDS: dict[str, type[Event]] = {
    cls.kind: cls
    for cls in (Begun, Delta, Ended, Run, Retry, ToolRun, Queue, Compacting, Reply, Asked, Notice)
}  # fmt: skip
"""Every kind of event that only streams have."""
