"""An explanation for a terminal: the cell and its sums first, then each call and what was left out, by file; verdict last.

A file's name stands whole above its records, so that it can be given to `turnlog raw`; prices are told in notes below.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from itertools import groupby
from typing import TypeVar

from msgspec import UNSET

from ..ledger.evidence import CallRow, CallTokens, Explanation, LeftRow, Merged, Spot
from .overview import verdict_lines
from .text import (
    THIN,
    Line,
    Span,
    cells,
    counted,
    cut,
    grouped,
    home_short,
    local,
    of_iso,
    one_line,
    plain,
    table,
    wrapped,
)
from .usage import LEAST, UNPRICED, cost_text, doubt_lines

R = TypeVar("R", CallRow, LeftRow)

PARTS = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheCreationTokens": "cache write",
    "cacheReadTokens": "cache read",
    "at": "time",
}
HEADS = ("line", "bytes", "time", "input", "write", "read", "output", "cost")


def explain_lines(view: Explanation, zone: tzinfo, *, width: int = 80) -> Iterator[Line]:
    """The lines of an explanation."""
    totals = view.totals
    yield [
        (cost_text(totals.total_cost, totals.cost_at_least), "strong"),
        (f"  {counted(totals.total_tokens, 'token')}", "strong"),
        (f"  {counted(totals.calls, 'call')} counted, {counted(view.left_out, 'record')} left out", "plain"),
    ]
    yield plain(cut(cell_words(view), width), "quiet")
    notes = _notes(view)
    if view.counted:
        yield []
        yield plain("counted", "strong")
        yield from _counted(view, notes, zone, width)
        yield from _more(len(view.counted), totals.calls, "call", width)
    if view.left:
        yield []
        yield plain("left out", "strong")
        yield from _left(view, zone, width)
    if view.left_out:
        yield from _more(len(view.left), view.left_out, "record", width)
    yield []
    for word, mark in notes.items():
        n = view.sources.get(word) or view.unpriced.get(word) or 0
        tone = "quiet" if word in view.sources else "trouble"
        yield from _folded(f"[{mark}] {one_line(word)}: {counted(n, 'call')}", width, tone)
    yield from doubt_lines(totals, width, priced=True)
    if view.undated is not UNSET:
        yield plain(f"{counted(view.undated.calls, 'call')} without a time: on no day", "quiet")
    yield plain("the bytes of a record: turnlog raw FILE --start N --end N", "quiet")
    yield from verdict_lines(view, width)


def cell_words(view: Explanation) -> str:
    """The cell in words."""
    agent = view.agent
    parts = [
        f"{name} {one_line(value)}"
        for name, value in (
            ("day", view.day),
            ("month", view.month),
            ("from", view.since),
            ("up to", view.until),
            ("model", view.model),
            ("session", view.session),
            ("project", view.project),
            ("agent", agent),
        )
        if value is not None
    ]
    return f"{', '.join(parts) or 'everything'}; times and days of {view.zone}"


def _notes(view: Explanation) -> dict[str, int]:
    """The numbers of the notes: sources of prices, then why calls have none; of all calls of the cell."""
    return {word: n for n, word in enumerate((*view.sources, *view.unpriced), 1)}


def _more(shown: int, of: int, noun: str, width: int) -> Iterator[Line]:
    if shown < of:
        told = f"  the first {grouped(shown)} of {counted(of, noun)}; --limit N shows more, --json all"
        yield plain(cut(told, width), "people")


def _by_file(rows: Sequence[R]) -> list[R]:
    """Rows by file, the file of the earliest one first; in a file as they are."""
    order: dict[str, int] = {}
    for row in rows:
        order.setdefault(row.path, len(order))
    return sorted(rows, key=lambda row: order[row.path])


def _head(path: str, told: str, width: int) -> Iterator[Line]:
    """A file's name, never cut: its folder on a line of its own where the whole does not fit."""
    name = one_line(home_short(path))
    if len(name) > width:
        folder, last = os.path.split(name)
        yield plain(folder + os.sep, "agent")
        name = f"  {last}"
    yield plain(name, "agent")
    if told:
        yield plain(f"  {cut(told, width - 2)}", "quiet")


def _counted(view: Explanation, notes: dict[str, int], zone: tzinfo, width: int) -> Iterator[Line]:
    def where(row: CallRow) -> tuple[str, str, str]:
        return row.path, row.session_id or "", row.model or ""

    sessions = {row.session_id for row in view.counted}
    everything = [_numbers(row, notes, view, zone) for row in view.counted]
    wide = sum(cells(text) for text, _ in table([_heads(), *everything], "rrlrrrrr", indent="  ")[0]) <= width
    for (path, session, model), group in groupby(_by_file(view.counted), where):
        rows = list(group)
        told = one_line(model) or "no model named"
        if len(sessions) > 1 or view.session is None:
            told += f", session {one_line(session)}" if session else ", no session"
        yield from _head(path, told, width)
        lines = [_heads(), *(_numbers(row, notes, view, zone) for row in rows)]
        if not wide:  # the place and time of a call go below its numbers
            lines = [line[:1] + line[3:] for line in lines]
        found = table(lines, "rrlrrrrr" if wide else "rrrrrr", indent="  ")
        yield found[0]
        for row, line in zip(rows, found[1:], strict=True):
            yield line
            if not wide:
                yield plain(f"      bytes {_bytes(row)}, {_time(row.at, view, zone)}")
            for flag in _flags(row):
                yield from _folded(f"      {flag}", width, "quiet")


def _heads() -> list[Span]:
    return [(name, "quiet") for name in HEADS]


def _numbers(row: CallRow, notes: dict[str, int], view: Explanation, zone: tzinfo) -> list[Span]:
    tokens = row.tokens
    mark = notes.get((row.price_source if row.cost is not None else row.unpriced) or "")
    return [
        (grouped(row.line), "strong"),
        (_bytes(row), "plain"),
        (_time(row.at, view, zone), "plain"),
        (_count(tokens.input_tokens), "plain"),
        (_count(tokens.cache_creation_tokens), "plain"),
        (_count(tokens.cache_read_tokens), "plain"),
        (_count(tokens.output_tokens), "plain"),
        (_cost(row) + ("" if mark is None else f" [{mark}]"), "plain"),
    ]


def _bytes(spot: Spot) -> str:
    return f"{spot.start}-{spot.end}"  # ungrouped: they are typed after --start and --end


def _count(n: int | None) -> str:
    return "-" if n is None else grouped(n)


def _cost(row: CallRow) -> str:
    """One call's cost, to a hundredth of a cent; the smallest ones finer."""
    usd = row.cost
    if usd is None:
        return UNPRICED
    text = f"${usd:,.{4 if usd >= 0.001 or not usd else 6}f}".replace(",", THIN)
    return LEAST + text if row.cost_at_least else text


def _time(at: str | None, view: Explanation, zone: tzinfo) -> str:
    moment = of_iso(at)
    if moment is None:
        return "no time"
    there = local(moment, zone)
    return f"{there:%H:%M:%S}" if view.day is not None else f"{there:%Y-%m-%d %H:%M}"


def _flags(row: CallRow) -> Iterator[str]:
    """What is worth knowing of one call beside its numbers."""
    words = []
    if row.output_at_least:
        words.append('output is "at least": stored before the call ended')
    if row.sidechain:
        words.append("by a subagent or aside")
    if row.aside:
        words.append("an advisor's, a tool's or a summary's call")
    if row.tokens.cache_part_missing:
        words.append("no cached part was written: taken as none")
    if words:
        yield "; ".join(words)
    if row.merged:
        yield from _merged(row)


def _merged(row: CallRow) -> Iterator[str]:
    """From which records a call was put together, and what each gave."""
    others = row.merged
    lines = [_at(one, row.path) for one in others[:3]]
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    yield f"the same call: {', '.join(lines)}{more}"
    told: set[str] = set()
    for one in others:
        new = [name for name in one.gave if name not in told]
        told.update(new)
        if new:
            parts = [f"{PARTS[name]}{_change(name, row.written, one)}" for name in new]
            yield f"from {_at(one, row.path)}: {', '.join(parts)}"


def _change(name: str, written: CallTokens, one: Merged) -> str:
    field = {
        "inputTokens": "input_tokens",
        "outputTokens": "output_tokens",
        "cacheCreationTokens": "cache_creation_tokens",
        "cacheReadTokens": "cache_read_tokens",
    }.get(name)
    if field is None:
        return ""
    return f" {_count(getattr(one.tokens, field))} (here {_count(getattr(written, field))})"


def _at(spot: Spot, path: str) -> str:
    """A record's place, short where it is in the file at hand."""
    if spot.path == path:
        return f"line {grouped(spot.line)}"
    return f"{one_line(os.path.basename(spot.path))}:{spot.line}"


def _left(view: Explanation, zone: tzinfo, width: int) -> Iterator[Line]:
    for path, group in groupby(_by_file(view.left), lambda row: row.path):
        rows: list[LeftRow] = list(group)
        yield from _head(path, "", width)
        lines: list[list[Span]] = [[(name, "quiet") for name in ("line", "bytes", "time", "tokens", "rule")]]
        lines += [
            [
                (grouped(row.line), "strong"),
                (_bytes(row), "plain"),
                (_time(row.at, view, zone), "plain"),
                (grouped(row.tokens.total_tokens), "plain"),
                (_rule(row), "trouble" if row.uncommitted else "plain"),
            ]
            for row in rows
        ]
        for line, row in zip(table(lines, "rrlrl", indent="  "), [None, *rows], strict=True):
            yield from _fitted(line, width)
            if row is not None and row.instead is not None and row.instead.path != row.path:
                spot = row.instead
                yield from _folded(f"      counted: {_at(spot, row.path)}, bytes {_bytes(spot)}", width, "quiet")


def _rule(row: LeftRow) -> str:
    text = one_line(row.reason)
    spot = row.instead
    return f"{text}: line {grouped(spot.line)}" if spot is not None and spot.path == row.path else text


def _fitted(line: Line, width: int) -> Iterator[Line]:
    """A row whose last column goes to a line of its own where it does not fit."""
    *front, (last, tone) = line
    text = "".join(part for part, _ in front)
    if len(text) + len(last) <= width:
        yield line
        return
    yield front
    yield from _folded(f"      {last}", width, tone)


def _folded(text: str, width: int, tone: str) -> Iterator[Line]:
    for part in wrapped(text, width):
        yield plain(part, tone)


__all__ = ["cell_words", "explain_lines"]
