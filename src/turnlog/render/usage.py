"""A usage report as a table: exact numbers where they fit, at a glance where they do not; totals, doubts, verdict last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Any

from msgspec import UNSET

from ..ledger.sessions import unique_prefixes
from ..ledger.sums import Block, ModelUse, Part, Row, SessionUse, Totals, UsageReport
from .overview import verdict_lines
from .text import (
    Line,
    Span,
    cells,
    counted,
    cut,
    grouped,
    home_short,
    local,
    middle_cut,
    of_iso,
    one_line,
    plain,
    short,
    table,
)  # fmt: skip

NAMED = {"hourly": "hour", "daily": "date", "weekly": "week", "monthly": "month"}
HEADS = {**NAMED, "daily": "day", "model": "model", "project": "project", "agent": "agent"}
NAME_CELLS = 24
"""Cells of a name at 80 columns; a wider terminal gives it more."""
LEAST = "≥"
UNPRICED = "unpriced"


def usage_lines(
    view: UsageReport, zone: tzinfo, *, width: int = 80, breakdown: bool = False, compact: bool = False
) -> Iterator[Line]:
    """The lines of a report."""
    if view.report == "blocks":
        yield from _blocks(view, zone, width, compact=compact)
    elif view.report == "session":
        yield from _sessions(view, zone, width, breakdown=breakdown, compact=compact)
    elif view.projects is not UNSET:
        for project, rows in view.projects.items():
            yield plain(middle_cut(one_line(home_short(project)), width), "strong")
            yield from _table(view, rows, None, width, breakdown=breakdown, compact=compact)
            yield []
        yield from _table(view, [], view.totals, width, breakdown=False, compact=compact)
    else:
        rows = getattr(view, view.report)
        yield from _table(view, rows, view.totals, width, breakdown=breakdown, compact=compact)
    yield []
    yield from _doubts(view, width)
    yield from verdict_lines(view, width)


def _priced(view: UsageReport) -> bool:
    return view.mode is not UNSET


def cost_text(usd: Any, at_least: Any) -> str:
    """A cost as it is read: two decimals, with a sign where it is a lower bound; a word where nothing has a price."""
    if usd is None:
        return UNPRICED
    if usd is UNSET:
        return ""
    text = f"${usd:,.2f}".replace(",", "\N{NARROW NO-BREAK SPACE}") if usd >= 0.005 or not usd else "<$0.01"
    return LEAST + text if at_least and text[0] != "<" else text


def _table(
    view: UsageReport, rows: Sequence[Row], totals: Totals | None, width: int, *, breakdown: bool, compact: bool
) -> Iterator[Line]:
    """Rows by one name, the totals below. Exact numbers if the table fits so, else short ones."""
    room = NAME_CELLS + max(0, width - 80) + (NAME_CELLS if compact else 0)
    lines = _lines(view, rows, totals, grouped, room, breakdown=breakdown, compact=compact)
    if _width(lines) > width:
        lines = _lines(view, rows, totals, short, room, breakdown=breakdown, compact=compact)
    if (over := _width(lines) - width) > 0:
        lines = _lines(view, rows, totals, short, max(8, room - over), breakdown=breakdown, compact=compact)
    yield from lines


def _width(lines: list[Line]) -> int:
    return max(sum(cells(text) for text, _ in line) for line in lines)


def _lines(
    view: UsageReport,
    rows: Sequence[Row],
    totals: Totals | None,
    number: Any,
    room: int,
    *,
    breakdown: bool,
    compact: bool,
) -> list[Line]:
    heads = ["input", "output", *([] if compact else ["cache write", "cache read"]), "total"]
    if _priced(view):
        heads.append("cost")
    head = [(HEADS[view.report], "quiet"), *((name, "quiet") for name in heads)]
    found: list[list[Span]] = [head]
    for row in rows:
        found.append([(_name(view, row, room), "strong"), *_numbers(row, number, view, "plain", compact=compact)])
        if breakdown:
            for use in row.model_breakdowns:
                name = f"  {middle_cut(one_line(use.model_name), room - 2)}"
                found.append([(name, "quiet"), *_numbers(use, number, view, "quiet", compact=compact)])
    if totals is not None:
        found.append([("total", "quiet"), *_numbers(totals, number, view, "strong", compact=compact)])
    return table(found, "l" + "r" * len(heads))


def _numbers(row: Part | ModelUse, number: Any, view: UsageReport, tone: str, *, compact: bool) -> list[Span]:
    cache = [] if compact else [row.cache_creation_tokens, row.cache_read_tokens]
    line = [(number(n), tone) for n in (row.input_tokens, row.output_tokens, *cache, row.total_tokens)]
    if _priced(view):
        usd = row.cost if isinstance(row, ModelUse) else row.total_cost
        line.append((cost_text(usd, row.cost_at_least), tone))
    return line


def _name(view: UsageReport, row: Row, room: int) -> str:
    name: str = getattr(row, NAMED.get(view.report, view.report))
    if view.report == "hourly":
        name = name.replace("T", " ")
    if view.report == "project":
        name = home_short(name)
    return middle_cut(one_line(name), room)


def _sessions(view: UsageReport, zone: tzinfo, width: int, *, breakdown: bool, compact: bool) -> Iterator[Line]:
    """A line for each session: whole and branch, main line and subagents, the context, and its name in what is left."""
    rows: list[SessionUse] = [] if view.session is UNSET else view.session
    prefixes = unique_prefixes([row.session_id for row in rows])
    priced = _priced(view)
    heads = ["session", "last", "total", *(["cost"] if priced else []), "branch"]
    heads += [] if compact else ["aside", "context", "peak", "cached"]
    found: list[list[Span]] = [[(name, "quiet") for name in heads]]
    below: list[list[ModelUse]] = [[]]
    for row in rows:
        last = of_iso(row.last_activity)
        line = [
            (one_line(prefixes[row.session_id]), "strong"),
            ("" if last is None else f"{local(last, zone):%Y-%m-%d}", "plain"),
            (short(row.total_tokens), "plain"),
            *([(cost_text(row.total_cost, row.cost_at_least), "plain")] if priced else []),
            (_branch(row), "plain"),
        ]
        if not compact:
            line += [
                (short(row.sidechain.total_tokens) if row.sidechain.calls else "", "agent"),
                (_known(row.context_tokens), "plain"),
                (_known(row.context_peak), "plain"),
                ("" if row.cache_hit_rate is None else f"{row.cache_hit_rate:.0%}", "quiet"),
            ]
        found.append(line)
        below.append(row.model_breakdowns if breakdown else [])
    total = view.totals
    sums = [("total", "quiet"), ("", "quiet"), (short(total.total_tokens), "strong")]
    sums += [(cost_text(total.total_cost, total.cost_at_least), "strong")] if priced else []
    found.append(sums + [("", "quiet")] * (len(heads) - len(sums)))
    lines = table(found, "ll" + "r" * (len(heads) - 2))
    names = ["name", *(_title(row) for row in rows), ""]
    for line, name, uses in zip(lines, names, [*below, []], strict=True):
        room = width - sum(cells(text) for text, _ in line) - 2
        told = [("  ", "plain"), (cut(name, room), "quiet")] if room >= 8 and name else []
        yield [*line, *told]
        for use in uses:
            text = f"    {middle_cut(one_line(use.model_name), NAME_CELLS)}  {short(use.total_tokens)}"
            yield plain(text + (f"  {cost_text(use.cost, use.cost_at_least)}" if priced else ""), "quiet")


def _title(row: SessionUse) -> str:
    return one_line(row.session_name or home_short(row.project_path or ""), 60)


def _branch(row: SessionUse) -> str:
    """What the visible path cost, or its tokens where no costs are asked."""
    if row.branch_tokens is None:
        return "-"
    if row.branch_cost is UNSET or row.branch_cost is None:
        return short(row.branch_tokens)
    return cost_text(row.branch_cost, row.branch_cost_at_least)


def _known(count: int | None) -> str:
    return "-" if count is None else short(count)


def _blocks(view: UsageReport, zone: tzinfo, width: int, *, compact: bool) -> Iterator[Line]:
    blocks: list[Block] = [] if view.blocks is UNSET else view.blocks
    priced = _priced(view)
    heads = ["block", "state", "calls", "total", *(["cost"] if priced else [])]
    rows: list[list[Span]] = [[(name, "quiet") for name in heads]]
    for block in blocks:
        tone = "quiet" if block.is_gap else "plain"
        start = of_iso(block.start_time)
        assert start is not None
        row = [
            (f"{local(start, zone):%Y-%m-%d %H:%M}", "quiet" if block.is_gap else "strong"),
            (_state(block), "good" if block.is_active else tone),
            ("" if block.is_gap else grouped(block.entries), tone),
            ("" if block.is_gap else grouped(block.total_tokens), tone),
        ]
        if priced:
            row.append(("" if block.is_gap else cost_text(block.cost_usd, block.cost_at_least), tone))
        rows.append(row)
    totals = view.totals
    last = [
        ("total", "quiet"),
        ("", "quiet"),
        (grouped(totals.calls), "strong"),
        (grouped(totals.total_tokens), "strong"),
    ]
    rows.append(last + ([(cost_text(totals.total_cost, totals.cost_at_least), "strong")] if priced else []))
    lines = table(rows, "ll" + "r" * (len(heads) - 2))
    models = ["models", *(", ".join(block.models) for block in blocks), ""]
    for line, told in zip(lines, models, strict=True):
        room = width - sum(cells(text) for text, _ in line) - 2
        yield [*line, *([] if compact or room < 8 or not told else [(f"  {one_line(told, room)}", "quiet")])]
    for block in blocks:
        if block.is_active:
            yield []
            yield from _forecast(block, priced=priced)


def _state(block: Block) -> str:
    start, end, last = of_iso(block.start_time), of_iso(block.end_time), of_iso(block.actual_end_time)
    assert start is not None
    assert end is not None
    if block.is_gap:
        return f"gap of {_span((end - start).total_seconds())}"
    if block.is_active:
        left = block.projection.remaining_minutes * 60 if block.projection is not None else None
        return "active" if left is None else f"active, {_span(left)} left"
    return _span(((last or end) - start).total_seconds())


def _span(seconds: float) -> str:
    """A length of time: 4 min, 2 h 10 min, 3 d 4 h."""
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{grouped(hours // 24)} d {hours % 24} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _forecast(block: Block, *, priced: bool) -> Iterator[Line]:
    """How fast the active block is used, and what it will come to."""
    rate, ahead = block.burn_rate, block.projection
    if rate is None or ahead is None:
        return
    cost = f", {cost_text(rate.cost_per_hour, block.cost_at_least)} an hour" if priced else ""
    yield plain(f"burn rate   {grouped(round(rate.tokens_per_minute))} tokens a minute{cost}")
    cost = f", {cost_text(ahead.total_cost, block.cost_at_least)}" if priced else ""
    yield plain(f"projection  {grouped(ahead.total_tokens)} tokens{cost} at its end")
    limit = block.token_limit_status
    if limit is not UNSET:
        tone = "good" if limit.status == "ok" else "trouble"
        yield plain(f"limit       {limit.percent_used:.0f} % of {grouped(limit.limit)} tokens ({limit.status})", tone)


def _doubts(view: UsageReport, width: int) -> Iterator[Line]:
    """What the numbers leave out or cannot know."""
    yield from doubt_lines(view.totals, width, priced=_priced(view))
    if view.undated is not UNSET:
        yield plain(f"{counted(view.undated.calls, 'call')} without a time: in no row here", "quiet")
    if view.uncommitted is not UNSET:
        told = f"{short(view.uncommitted.total_tokens)} tokens apart: spent, but never committed by the agent"
        yield plain(told, "quiet")
    yield plain(f"{view.zone}; {counted(view.left_out, 'copy', 'copies')} not counted twice", "quiet")


def doubt_lines(totals: Totals, width: int, *, priced: bool) -> Iterator[Line]:
    """What sums leave out or cannot know, and how much of them was spent aside."""
    if totals.unpriced_models is not UNSET and totals.unpriced_models:
        names = ", ".join(one_line(name, 40) for name in totals.unpriced_models)
        told = f"at least: {counted(len(totals.unpriced_models), 'model')} without a price ({names})"
        yield plain(cut(told, width), "trouble")
    if totals.output_at_least:
        yield plain('output is "at least": some was stored before its call ended', "quiet")
    if totals.partly_unknown:
        yield plain(f"{counted(totals.partly_unknown, 'call')} with a part unknown: the sums leave it out", "quiet")
    if totals.sidechain.calls:
        told = f"{short(totals.sidechain.total_tokens)} of the tokens by subagents and aside"
        if priced:
            told += f", {cost_text(totals.sidechain.total_cost, totals.sidechain.cost_at_least)}"
        yield plain(told, "quiet")
