"""The rows of the usage reports: what is printed as JSON under turnlog.usage/1, and the exact sums behind them.

The keys are those of ccusage where the meaning is the same (docs/usage.md tells where it is not). Tokens stand in four
parts that add up. Sums of dollars are whole numbers of 1e-24 until they are printed, so every grouping has one total.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from ..work import Sample
from .prices import Cost, CostSum
from .rows import FaultRow, ProblemRow

SCHEMA = "turnlog.usage/1"
UNKNOWN = "unknown"
"""The row of what does not say its day, model, session or project: it is counted like every other one."""


class Spent(msgspec.Struct):
    """Tokens and dollars of some calls, exactly. lower: calls with more output than was stored. partly: calls with an
    unknown part, which the sums leave out."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    calls: int = 0
    lower: int = 0
    partly: int = 0
    cost: CostSum = msgspec.field(default_factory=CostSum)

    @property
    def total(self) -> int:
        """The four parts together."""
        return self.input + self.output + self.cache_read + self.cache_write

    def add(self, sample: Sample, cost: Cost | None) -> None:
        """Add one call. cost: None where nothing is priced."""
        counts = sample.counts
        self.input += counts.input or 0
        self.output += counts.output or 0
        self.cache_read += counts.cache_read or 0
        self.cache_write += counts.cache_write or 0
        self.calls += 1
        self.lower += sample.lower_bound
        self.partly += counts.input is None or counts.output is None
        if cost is not None:
            self.cost.add(cost, sample.model)

    def join(self, other: Spent) -> None:
        """Add other sums."""
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.calls += other.calls
        self.lower += other.lower
        self.partly += other.partly
        self.cost.join(other.cost)


class Part(msgspec.Struct, kw_only=True, rename="camel"):
    """Some of a row's calls. total_cost: US dollars; None: none of the calls has a price. cost_at_least: some call has no
    price, or cost more than its counts say. Without costs the two keys are absent."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    total_tokens: int = 0
    calls: int = 0
    total_cost: float | UnsetType | None = UNSET
    cost_at_least: bool | UnsetType = UNSET

    def fill(self, spent: Spent, *, priced: bool) -> None:
        """Take over those sums."""
        self.input_tokens = spent.input
        self.output_tokens = spent.output
        self.cache_creation_tokens = spent.cache_write
        self.cache_read_tokens = spent.cache_read
        self.total_tokens = spent.total
        self.calls = spent.calls
        if priced:
            self.total_cost = spent.cost.usd
            self.cost_at_least = spent.cost.at_least


class ModelUse(msgspec.Struct, kw_only=True, rename="camel"):
    """One model's part of a row. model_name: "unknown" where none was named."""

    model_name: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_tokens: int = 0
    cache_read_tokens: int = 0
    total_tokens: int = 0
    calls: int = 0
    cost: float | UnsetType | None = UNSET
    cost_at_least: bool | UnsetType = UNSET


class Totals(Part, kw_only=True):
    """Sums with what they do not know. unpriced_models: models of which a call has no price. output_at_least: some output
    was stored before its call ended. partly_unknown: calls with an unknown part, which the sums leave out.
    cache_hit_rate: cached input of all input, None where there is none. main_only: without subagents and side
    conversations; sidechain: those alone; the two add up to the row."""

    unpriced_models: list[str] | UnsetType = UNSET
    output_at_least: bool = False
    partly_unknown: int = 0
    cache_hit_rate: float | None = None
    main_only: Part = msgspec.field(default_factory=Part)
    sidechain: Part = msgspec.field(default_factory=Part)


class Row(Totals, kw_only=True):
    """What all rows have. models_used: by name. model_breakdowns: the greatest first."""

    models_used: list[str] = msgspec.field(default_factory=list)
    model_breakdowns: list[ModelUse] = msgspec.field(default_factory=list)


class HourUse(Row, kw_only=True):
    """One hour of the zone's clock, such as 2026-03-29T01; where the clock is turned back, both hours of that name."""

    hour: str


class DayUse(Row, kw_only=True):
    """One day of the zone, or "unknown"."""

    date: str


class WeekUse(Row, kw_only=True):
    """One week, by the day it begins with."""

    week: str


class MonthUse(Row, kw_only=True):
    """One month, such as 2026-11."""

    month: str


class SessionUse(Row, kw_only=True):
    """One session with its subagents. first_activity, last_activity: of its counted calls (UTC). subagents: how many it
    started. branch_tokens, branch_cost: of its own calls that stand on the visible path; None where the agent keeps no
    tree. context_tokens: what the last main call on that path was given to read; context_peak: the most that any
    main call was given; None where no call says it."""

    session_id: str
    agent: str
    session_name: str | None = None
    project_path: str | None = None
    first_activity: str | None = None
    last_activity: str | None = None
    subagents: int = 0
    branch_tokens: int | None = None
    branch_cost: float | UnsetType | None = UNSET
    branch_cost_at_least: bool | UnsetType = UNSET
    context_tokens: int | None = None
    context_peak: int | None = None


class ModelRow(Row, kw_only=True):
    """One model. agents: who called it."""

    model: str
    agents: list[str] = msgspec.field(default_factory=list)


class ProjectUse(Row, kw_only=True):
    """One folder. short_name: its last part."""

    project: str
    short_name: str


class AgentUse(Row, kw_only=True):
    """One agent."""

    agent: str


class BlockTokens(msgspec.Struct, kw_only=True, rename="camel"):
    """The parts of a block's tokens, under the names ccusage has here."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class BurnRate(msgspec.Struct, kw_only=True, rename="camel"):
    """How fast a block is used: from its first call to its last. for_indicator: input and output alone."""

    tokens_per_minute: float
    tokens_per_minute_for_indicator: float
    cost_per_hour: float | UnsetType | None = UNSET


class Projection(msgspec.Struct, kw_only=True, rename="camel"):
    """What the block will come to if it goes on at that rate to its end."""

    total_tokens: int
    remaining_minutes: int
    total_cost: float | UnsetType | None = UNSET


class TokenLimit(msgspec.Struct, kw_only=True, rename="camel"):
    """How the projection stands to the limit asked for. status: ok, warning (more than 80 %), exceeds."""

    limit: int
    projected_usage: int
    percent_used: float
    status: str


class Block(msgspec.Struct, kw_only=True, rename="camel"):
    """One stretch of use, or a gap between two. Times are UTC; end_time is when it ends by the rule, actual_end_time its
    last call. entries: calls. burn_rate, projection: of the active block."""

    id: str
    start_time: str
    end_time: str
    actual_end_time: str | None = None
    is_active: bool = False
    is_gap: bool = False
    entries: int = 0
    token_counts: BlockTokens = msgspec.field(default_factory=BlockTokens)
    total_tokens: int = 0
    cost_usd: float | UnsetType | None = msgspec.field(default=UNSET, name="costUSD")
    cost_at_least: bool | UnsetType = UNSET
    models: list[str] = msgspec.field(default_factory=list)
    burn_rate: BurnRate | None = None
    projection: Projection | None = None
    token_limit_status: TokenLimit | UnsetType = UNSET


class UsageReport(msgspec.Struct, kw_only=True, rename="camel"):
    """A usage report. The list of rows stands under the report's own name; days by project under `projects` instead.

    zone: whose days they are. complete: everything found was read whole. mode: how costs were had. since (inclusive),
    until (exclusive): UTC, None where the range is open. totals: of all rows. undated: calls without a time that a range
    or the blocks cannot hold; they are in no row and not in the totals. uncommitted: what the agent itself would
    discard, apart. left_out: usage records that are not counted because another one stands for them.
    """

    schema: str = SCHEMA
    report: str = "daily"
    zone: str = "UTC"
    complete: bool = True
    mode: str | UnsetType = UNSET
    since: str | None = None
    until: str | None = None
    hourly: list[HourUse] | UnsetType = UNSET
    daily: list[DayUse] | UnsetType = UNSET
    weekly: list[WeekUse] | UnsetType = UNSET
    monthly: list[MonthUse] | UnsetType = UNSET
    session: list[SessionUse] | UnsetType = UNSET
    blocks: list[Block] | UnsetType = UNSET
    model: list[ModelRow] | UnsetType = UNSET
    project: list[ProjectUse] | UnsetType = UNSET
    agent: list[AgentUse] | UnsetType = UNSET
    projects: dict[str, list[DayUse]] | UnsetType = UNSET
    totals: Totals = msgspec.field(default_factory=Totals)
    undated: Totals | UnsetType = UNSET
    uncommitted: Totals | UnsetType = UNSET
    left_out: int = 0
    files: int = 0
    bytes: int = 0
    faults: list[FaultRow] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)
