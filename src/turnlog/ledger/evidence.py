"""The rows of an explanation: what is printed as JSON under turnlog.explain/1.

Tokens are told in the four parts of the usage reports; None is unknown, and counts as nothing in a sum.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from ..tokens import Additive
from .rows import FaultRow, ProblemRow
from .sums import Totals

SCHEMA = "turnlog.explain/1"


class Spot(msgspec.Struct, kw_only=True, rename="camel"):
    """Where a record stands: its file, the physical line from 1, its bytes (half-open, of a compressed file the decoded ones)."""

    path: str
    line: int
    start: int
    end: int


class CallTokens(msgspec.Struct, kw_only=True, rename="camel"):
    """One call's tokens in parts that add up. total_tokens: the sum of what is known. cache_part_missing: the agent wrote
    no cached part where its input holds one; it was taken as none."""

    input_tokens: int | None
    output_tokens: int | None
    cache_creation_tokens: int | None
    cache_read_tokens: int | None
    total_tokens: int
    cache_part_missing: bool = False


class Merged(Spot, kw_only=True):
    """Another record of the same call. gave: what of the counted call stands here and not in the first record:
    inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens, at."""

    reason: str
    tokens: CallTokens
    gave: list[str] = msgspec.field(default_factory=list)


class CallRow(Spot, kw_only=True):
    """One call that counts, at its first record. at: UTC, the earliest of its records. session_id: who made it; home: the
    session whose row it is in, where a subagent made it. tokens: as counted, each part the greatest of all its records;
    written: as this record alone says. cost: US dollars; None: unpriced, and `unpriced` says why.
    price_source: where its price is from. output_at_least: more output was made than was stored. aside: an advisor's, a
    tool's or a summary's call. merged: the other records of the same call."""

    agent: str
    at: str | None
    session_id: str | None
    home: str
    model: str | None
    project: str
    tokens: CallTokens
    written: CallTokens
    cost: float | None
    price_source: str | None = None
    unpriced: str | None = None
    cost_at_least: bool = False
    output_at_least: bool = False
    sidechain: bool = False
    aside: bool = False
    merged: list[Merged] = msgspec.field(default_factory=list)


class LeftRow(Spot, kw_only=True):
    """A usage record of this cell, by its own day, model and session, that is not counted. reason: the rule. instead: the
    record that stands for it, where one does. uncommitted: the agent itself would discard it; it was spent all the same."""

    agent: str
    at: str | None
    session_id: str | None
    model: str | None
    tokens: CallTokens
    reason: str
    instead: Spot | None = None
    uncommitted: bool = False


class Explanation(msgspec.Struct, kw_only=True, rename="camel"):
    """A cell of the usage reports with the records behind it.

    day, month, model, session, project, agent, since (inclusive), until (exclusive): the cell; None where it is open.
    session: the whole id. zone: whose days they are. totals: of all its calls, as in the reports. counted: those calls,
    the earliest first; left: what is not counted; both cut to a limit where one was given. left_out: how many are left out.
    sources: where the prices are from, with how many calls; unpriced: why calls have none, with how many.
    undated: calls without a time, of which nobody knows whether they are in the days asked for.
    """

    schema: str = SCHEMA
    zone: str = "UTC"
    complete: bool = True
    mode: str = "auto"
    day: str | None = None
    month: str | None = None
    model: str | None = None
    session: str | None = None
    project: str | None = None
    agent: str | None = None
    since: str | None = None
    until: str | None = None
    totals: Totals = msgspec.field(default_factory=Totals)
    counted: list[CallRow] = msgspec.field(default_factory=list)
    left: list[LeftRow] = msgspec.field(default_factory=list)
    left_out: int = 0
    sources: dict[str, int] = msgspec.field(default_factory=dict)
    unpriced: dict[str, int] = msgspec.field(default_factory=dict)
    undated: Totals | UnsetType = UNSET
    files: int = 0
    bytes: int = 0
    faults: list[FaultRow] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)


def call_tokens(counts: Additive) -> CallTokens:
    """Those counts as a row tells them."""
    return CallTokens(
        input_tokens=counts.input,
        output_tokens=counts.output,
        cache_creation_tokens=counts.cache_write,
        cache_read_tokens=counts.cache_read,
        total_tokens=counts.total,
        cache_part_missing=counts.flagged,
    )


__all__ = ["SCHEMA", "CallRow", "CallTokens", "Explanation", "LeftRow", "Merged", "Spot", "call_tokens"]
