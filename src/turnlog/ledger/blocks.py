"""Usage in blocks of five hours, by ccusage's rule, with burn rate and projection.

A block begins at the full hour (UTC) of its first call and holds what follows, until a call comes more than its length
after that hour or after the call before. Where nothing happened for longer than a block, a gap stands between two. Calls
without a time are in none.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import UNSET

from .report import Asked, Call, Group
from .rows import iso
from .sums import Block, BlockTokens, BurnRate, Projection, TokenLimit

HOURS = 5.0
RECENT = timedelta(days=3)
WARNING = 0.8


class Stretch(msgspec.Struct):
    """The calls of one block. start: the full hour it begins at."""

    start: datetime
    first: datetime
    last: datetime
    group: Group = msgspec.field(default_factory=Group)


def stretches(calls: Iterable[Call], asked: Asked, length: timedelta) -> list[Stretch]:
    """The blocks of calls that have a time, in their order. length: of a block."""
    dated = []
    for counted, agent, _ in calls:
        at = counted.sample.at
        assert at is not None
        dated.append((at, counted.sample, agent))
    dated.sort(key=lambda one: one[0])
    found: list[Stretch] = []
    now: Stretch | None = None
    for at, sample, agent in dated:
        if now is None or at - now.start > length or at - now.last > length:
            now = Stretch(at.replace(minute=0, second=0, microsecond=0), at, at)
            found.append(now)
        now.last = at
        now.group.add(sample, agent, None if asked.cost_of is None else asked.cost_of(sample, agent))
    return found


def blocks_of(
    found: list[Stretch], now: datetime, length: timedelta, *, priced: bool, limit: int | None = None
) -> list[Block]:
    """The blocks as rows, with the gaps between them. limit: tokens a block may hold, to be told of the active one."""
    rows: list[Block] = []
    before: Stretch | None = None
    for one in found:
        if before is not None and one.first - before.last > length:
            rows.append(_gap(before, one, length, priced=priced))
        rows.append(_block(one, now, length, priced=priced, limit=limit))
        before = one
    return rows


def greatest(found: list[Stretch], now: datetime, length: timedelta) -> int | None:
    """The most tokens that a block held which is over; None where there is none."""
    over = [one.group.whole().total for one in found if not is_active(one, now, length)]
    return max(over, default=0) or None


def is_active(one: Stretch, now: datetime, length: timedelta) -> bool:
    """Whether the block is not over at that moment."""
    return now < later(one.start, length)


def later(at: datetime, length: timedelta) -> datetime:
    """The moment so much later, or the last one there is."""
    try:
        return at + length
    except OverflowError:
        return datetime.max.replace(tzinfo=UTC)


def _gap(before: Stretch, after: Stretch, length: timedelta, *, priced: bool) -> Block:
    start = iso(before.last + length)
    gap = Block(id=f"gap-{start}", start_time=start, end_time=iso(after.first), is_gap=True)
    if priced:
        gap.cost_usd, gap.cost_at_least = 0.0, False
    return gap


def _block(one: Stretch, now: datetime, length: timedelta, *, priced: bool, limit: int | None) -> Block:
    spent = one.group.whole()
    end = later(one.start, length)
    block = Block(
        id=iso(one.start),
        start_time=iso(one.start),
        end_time=iso(end),
        actual_end_time=iso(one.last),
        is_active=is_active(one, now, length),
        entries=spent.calls,
        token_counts=BlockTokens(
            input_tokens=spent.input,
            output_tokens=spent.output,
            cache_creation_input_tokens=spent.cache_write,
            cache_read_input_tokens=spent.cache_read,
        ),
        total_tokens=spent.total,
        models=sorted({model for model, _ in one.group.cells}),
    )
    usd = spent.cost.usd if priced else None
    if priced:
        block.cost_usd, block.cost_at_least = usd, spent.cost.at_least
    if not block.is_active:
        return block
    minutes = (one.last - one.first).total_seconds() / 60
    if minutes > 0:
        left = max(0.0, (end - now).total_seconds() / 60)
        block.burn_rate = BurnRate(
            tokens_per_minute=spent.total / minutes,
            tokens_per_minute_for_indicator=(spent.input + spent.output) / minutes,
            cost_per_hour=(None if usd is None else usd / minutes * 60) if priced else UNSET,
        )
        block.projection = Projection(
            total_tokens=round(spent.total + spent.total / minutes * left),
            remaining_minutes=round(left),
            total_cost=(None if usd is None else round(usd + usd / minutes * left, 2)) if priced else UNSET,
        )
        if limit is not None:
            block.token_limit_status = _status(block.projection.total_tokens, limit)
    return block


def _status(projected: int, limit: int) -> TokenLimit:
    status = "exceeds" if projected > limit else "warning" if projected > limit * WARNING else "ok"
    return TokenLimit(limit=limit, projected_usage=projected, percent_used=projected / limit * 100, status=status)
