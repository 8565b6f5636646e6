"""The rows of the overview: what is printed as JSON under turnlog.overview/1. Other outputs share some of them."""

from __future__ import annotations

from datetime import datetime

import msgspec

from .identity import Counted

SCHEMA = "turnlog.overview/1"


class Tokens(msgspec.Struct):
    """Tokens in parts that add up; `total` is their sum. Unknown parts are left out of the sums."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0

    def add(self, counted: Counted) -> None:
        """Add one sample's known parts."""
        counts = counted.sample.counts
        fresh, out, read, write = counts.input or 0, counts.output or 0, counts.cache_read or 0, counts.cache_write or 0
        self.input += fresh
        self.output += out
        self.cache_read += read
        self.cache_write += write
        self.total += fresh + out + read + write

    def join(self, other: Tokens) -> None:
        """Add other sums."""
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.total += other.total


class SessionRow(msgspec.Struct):
    """One session of the overview. prompts, answers: how many. subagents: files or threads it started."""

    agent: str
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    title: str | None = None
    cwd: str | None = None
    first: str | None = None
    last: str | None = None
    first_prompt: str | None = None
    model: str | None = None
    models: list[str] = msgspec.field(default_factory=list)
    prompts: int = 0
    answers: int = 0
    subagents: int = 0
    files: list[str] = msgspec.field(default_factory=list)
    cost: float | None = None


class AgentRow(msgspec.Struct):
    """One agent of the overview."""

    title: str
    sessions: int = 0
    files: int = 0
    user_prompts: int = 0
    assistant_messages: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    last: str | None = None


class FaultRow(msgspec.Struct):
    """A line that was not read whole."""

    path: str
    line: int
    start: int
    end: int
    kind: str
    recovered: int


class ProblemRow(msgspec.Struct):
    """A file or folder that is not what it should be. note: worth knowing, and nothing is missing because of it."""

    path: str
    kind: str
    said: str
    note: bool = False


class Uncommitted(msgspec.Struct):
    """Work the agent itself would discard, kept apart: it was spent all the same."""

    user_prompts: int = 0
    assistant_messages: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)


class Overview(msgspec.Struct, kw_only=True):
    """The whole answer. Times are UTC (ISO 8601); days are days of `zone`. `complete`: everything found was read whole.
    `output_at_least`: some output was stored before its call ended. `partly_unknown`: samples with an unknown part.
    `cost`: US dollars the agents themselves stored, None where none did. `left_out`: usage samples that are not counted because another one stands for them.
    """

    schema: str = SCHEMA
    zone: str = "UTC"
    complete: bool = True
    files: int = 0
    bytes: int = 0
    sessions: int = 0
    records: int = 0
    user_prompts: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    compactions: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    main_only: Tokens = msgspec.field(default_factory=Tokens)
    output_at_least: bool = False
    partly_unknown: int = 0
    cost: float | None = None
    left_out: int = 0
    first: str | None = None
    last: str | None = None
    by_agent: dict[str, AgentRow] = msgspec.field(default_factory=dict)
    by_day: dict[str, int] = msgspec.field(default_factory=dict)
    by_model: dict[str, int] = msgspec.field(default_factory=dict)
    by_project: dict[str, int] = msgspec.field(default_factory=dict)
    by_session: dict[str, SessionRow] = msgspec.field(default_factory=dict)
    uncommitted: Uncommitted = msgspec.field(default_factory=Uncommitted)
    faults: list[FaultRow] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)


def iso(at: datetime) -> str:
    """UTC as it is printed: whole seconds without a fraction, else milliseconds or microseconds, and Z."""
    spec = "seconds" if not at.microsecond else "milliseconds" if not at.microsecond % 1000 else "microseconds"
    return at.replace(tzinfo=None).isoformat(timespec=spec) + "Z"
