"""What a transcript is made of: turns, and the steps in them. Each says where it stands in the file."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Step(msgspec.Struct, kw_only=True, tag_field="kind"):
    """One thing in a turn. line, start, end: the record it stands in. at: UTC."""

    line: int
    start: int
    end: int
    at: datetime | None = None


class Text(Step, kw_only=True, tag="text"):
    """What the model said. error: it is the client's word for a call that failed."""

    text: str
    model: str | None = None
    error: bool = False


class Thought(Step, kw_only=True, tag="thinking"):
    """What the model thought; redacted: it is there but not readable."""

    text: str
    redacted: bool = False


class Picture(Step, kw_only=True, tag="image"):
    """A picture, named and not shown. size: of its base64 text, in bytes. location: where it lies, if elsewhere."""

    media_type: str | None = None
    size: int | None = None
    location: str | None = None


class Result(Step, kw_only=True, tag="result"):
    """What a tool gave back. As a step of its own it answers a call that is not here."""

    call_id: str | None
    text: str
    is_error: bool | None = None
    images: list[Picture] = msgspec.field(default_factory=list)


class Call(Step, kw_only=True, tag="call"):
    """The model asked for a tool. result: None if none was written. more: further results of the same call."""

    id: str | None
    name: str
    arguments: Any
    result: Result | None = None
    more: list[Result] = msgspec.field(default_factory=list)


class Note(Step, kw_only=True, tag="note"):
    """Something beside the talk. what: compaction, branch_summary, branch, model, thinking_level, interruption,
    aborted, failed, rolled_back, reverted, queued, command, output, notice, summary, injected, system, custom, label,
    context_edit, uncommitted (the agent itself would discard what follows). minor: a reader of the talk can do without it."""

    what: str
    text: str = ""
    minor: bool = False


class Fault(Step, kw_only=True, tag="fault"):
    """A line that was not read whole; recovered: how many records of it were."""

    fault: str
    said: str
    recovered: int = 0


class Asked(msgspec.Struct, kw_only=True):
    """What opens a turn. author: human, command, or task (the parent's words to a subagent)."""

    line: int
    start: int
    end: int
    text: str
    author: str = "human"
    at: datetime | None = None


class TurnView(msgspec.Struct, kw_only=True):
    """A prompt and all that came of it. prompt: None for what stands before the first one."""

    number: int
    prompt: Asked | None = None
    steps: list[AnyStep] = msgspec.field(default_factory=list)


class Side(Step, kw_only=True, tag="side"):
    """What a subagent wrote into the same file, where its first record stands."""

    agent_id: str | None
    turns: list[TurnView] = msgspec.field(default_factory=list)


AnyStep = Text | Thought | Call | Result | Picture | Note | Fault | Side
