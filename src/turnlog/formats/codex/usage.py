"""The two ledgers of Codex (CONTRACT 13; sheets CODEX 8 and AGENT_SESSIONS 6).

token_count: running totals with, mostly, the last sample beside them. An identical total is no new sample; the last sample
is preferred; without it the difference to the total before counts. The difference is lost where the total fell, or where
a line before was lost.
response: `token_usage_record`, one sample each.
"""

from __future__ import annotations

from ...errors import FaultKind, Problem
from ...tokens import Counts
from .records import Info, TokenUsage

INFO = "$.payload.info"
NOTHING = Counts()

_REGRESSION = Problem(
    FaultKind.COUNTER_REGRESSION, f"{INFO}.total_token_usage", "a total not below the one before", "a smaller one"
)
_LOST = Problem(
    FaultKind.LOST_BASELINE, f"{INFO}.total_token_usage", "a total that follows a known one", "one after a lost line"
)
_NAMES = ("input", "output", "cache_read", "cache_write", "reasoning", "reported_total")


def counts_of(usage: TokenUsage) -> Counts:
    """The counts as written: input contains the cached and cache-writing tokens, output the reasoning."""
    cached = usage.cached_input_tokens
    return Counts(
        usage.input_tokens,
        usage.output_tokens,
        cached if cached is not None else usage.cache_read_input_tokens,
        usage.cache_write_input_tokens,
        None,
        None,
        usage.reasoning_output_tokens,
        usage.total_tokens,
    )


def is_estimate(counts: Counts) -> bool:
    """Only a total: the client's guess at the context's size after a compaction or overflow, no consumption."""
    return not (counts.input or counts.output or counts.cache_read or counts.reasoning) and bool(counts.reported_total)


def difference(total: Counts, before: Counts) -> Counts | None:
    """What came to the total, part by part; a part that either does not know is None. None where a part fell."""
    found: dict[str, int | None] = {}
    for name in _NAMES:
        now, then = getattr(total, name), getattr(before, name)
        if now is None or then is None:
            continue
        if now < then:
            return None
        found[name] = now - then
    return Counts(**found)


Step = tuple[str, Counts, bool, Problem | None]
"""What one token_count says: its basis, its counts, whether its last sample is an estimate, and what is wrong.

Basis: last_sample, initial_cumulative, cumulative_delta; or unchanged, counter_regression, lost_baseline, without counts.
"""


class CountLedger:
    """The token_count ledger of one file: the last total, and whether a line was lost since."""

    __slots__ = ("before", "broken")

    def __init__(self) -> None:
        self.before: TokenUsage | None = None
        self.broken = False

    def take(self, total: TokenUsage, last: TokenUsage | None) -> Step:
        """The step to that total; it becomes the one before."""
        before, self.before = self.before, total
        broken, self.broken = self.broken, False
        if last is not None:
            counts = counts_of(last)
            if total == before:
                return "unchanged", NOTHING, is_estimate(counts), None
            return "last_sample", counts, not last.input_tokens and is_estimate(counts), None
        if broken:
            return "lost_baseline", NOTHING, False, _LOST
        if before is None:
            return "initial_cumulative", counts_of(total), False, None
        if total == before:
            return "unchanged", NOTHING, False, None
        found = difference(counts_of(total), counts_of(before))
        if found is None:
            return "counter_regression", NOTHING, False, _REGRESSION
        if found.is_missing():
            return "lost_baseline", NOTHING, False, _LOST
        return "cumulative_delta", found, False, None


def is_blank(usage: TokenUsage) -> bool:
    """Nothing was counted at all."""
    return usage.input_tokens is None and usage.output_tokens is None and counts_of(usage).is_missing()


def model_of(info: Info, beside: str | None) -> str | None:
    """The first model that is no blank of those a token_count may name. Codex itself names none."""
    if info.model is None and info.model_name is None and info.metadata is None and beside is None:
        return None
    within = info.metadata.model if info.metadata is not None else None
    return next((m for m in (info.model, info.model_name, within, beside) if m is not None and m.strip()), None)
