"""The overview as text: what is here, agent by agent, the last days, and last what could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta, tzinfo

from ..ledger.evidence import Explanation
from ..ledger.overview import Overview
from ..ledger.sums import UsageReport
from .text import (
    Line,
    Span,
    byte_size,
    cells,
    counted,
    cut,
    day_word,
    grouped,
    home_short,
    local,
    middle_cut,
    of_iso,
    one_line,
    plain,
    short,
    sparkline,
    table,
    when,
)  # fmt: skip

DAYS = 14
MODELS = 3


def overview_lines(view: Overview, zone: tzinfo, now: datetime, *, where: str = "~", width: int = 80) -> Iterator[Line]:
    """The lines of the overview. where: the home that was looked at, as it is named. now: the reader's moment."""
    head = _head(view, zone, now)
    place = middle_cut(one_line(home_short(where)), width)
    if cells(place) + 2 + sum(cells(text) for text, _ in head) <= width:
        yield [(f"{place}  ", "strong"), *head]
    else:
        yield plain(place, "strong")
        yield head
    yield []
    yield from _agents(view, zone, now)
    yield []
    yield from _days(view, local(now, zone).date())
    yield from _models(view, width)
    yield from _asides(view)
    yield []
    yield from verdict_lines(view, width)


def empty_lines(view: Overview, where: str) -> Iterator[Line]:
    """What is said where no session was found."""
    yield [("No session of any agent ", "strong"), (f"below {where}.", "plain")]
    yield []
    yield plain("  turnlog demo          every view, over a small home of synthetic sessions")
    yield plain("  turnlog --home DIR    look in another home")
    yield plain("  turnlog overview --root AGENT=PATH    look in an agent's own folder")
    wrong = [problem for problem in view.problems if not problem.note]
    if wrong:
        yield []
    for problem in wrong:
        yield plain(f"  {home_short(problem.path)}: {problem.said}", "trouble")


def _head(view: Overview, zone: tzinfo, now: datetime) -> Line:
    agents = sum(1 for row in view.by_agent.values() if row.sessions)
    projects = len({row.cwd for row in view.by_session.values() if row.cwd})
    line = plain(f"{counted(agents, 'agent')}, {counted(view.sessions, 'session')}")
    if projects:
        line.append((f" in {counted(projects, 'project')}", "plain"))
    first, last = of_iso(view.first), of_iso(view.last)
    if first is not None and last is not None:
        begun, ended = local(first, zone).date(), local(last, zone).date()
        until = day_word(ended, local(now, zone).date())
        until = until if until in ("today", "yesterday") else ended.isoformat()
        line.append((f", {begun.isoformat()}" + (f" to {until}" if ended != begun else ""), "plain"))
    return [*line, (f" ({view.zone})", "quiet")]


def _agents(view: Overview, zone: tzinfo, now: datetime) -> list[Line]:
    names = ("agent", "sessions", "prompts", "answers", "tokens", "last")
    rows: list[list[Span]] = [[(name, "quiet") for name in names]]
    for row in sorted(view.by_agent.values(), key=lambda row: -row.tokens.total):
        last = of_iso(row.last)
        rows.append([
            (row.title, "agent"),
            (grouped(row.sessions), "plain"),
            (grouped(row.user_prompts), "people"),
            (grouped(row.assistant_messages), "plain"),
            (short(row.tokens.total), "plain"),
            ("" if last is None else when(last, zone, now), "plain"),
        ])  # fmt: skip
    if len(view.by_agent) > 1:
        sums = (view.sessions, view.user_prompts, view.assistant_messages)
        rows.append(
            [
                ("all", "quiet"),
                *((grouped(n), "quiet") for n in sums),
                (short(view.tokens.total), "quiet"),
                ("", "quiet"),
            ]
        )
    return table(rows, "lrrrrl", indent="  ", gap="   ")


def _days(view: Overview, today: date) -> Iterator[Line]:
    """The last days; where nothing happened in them, the last ones in which something did."""
    by_day = {day: tokens for day, tokens in view.by_day.items() if day != "unknown"}
    if not by_day:
        return
    newest = date.fromisoformat(max(by_day))
    recent = today - timedelta(days=DAYS) < newest <= today
    end = today if recent else newest
    first = end.toordinal() - DAYS + 1
    days = [date.fromordinal(max(1, first + n)).isoformat() for n in range(DAYS)]
    values = [by_day.get(day, 0) for day in days]
    name = f"last {DAYS} days" if recent else f"{DAYS} days to {day_word(end, today)}"
    yield [
        (f"  {name}  ", "quiet"),
        (sparkline(values), "agent"),
        (f"   {short(sum(values))} tokens", "plain"),
    ]
    if "unknown" in view.by_day:
        yield plain(f"  without a time  {short(view.by_day['unknown'])} tokens", "quiet")


def _models(view: Overview, width: int) -> Iterator[Line]:
    ranked = sorted(view.by_model.items(), key=lambda pair: -pair[1])
    if not ranked:
        return
    told = ", ".join(f"{one_line(model, 40)} {short(tokens)}" for model, tokens in ranked[:MODELS])
    more = f", {len(ranked) - MODELS} more" if len(ranked) > MODELS else ""
    yield [("  models  ", "quiet"), (cut(told + more, width - 10), "plain")]


def _asides(view: Overview) -> Iterator[Line]:
    """What the numbers leave out or cannot know, and the cost that agents stored themselves."""
    if view.cost is not None:
        yield plain(f"  cost    ${view.cost:,.2f} as the agents themselves stored it; most store none", "quiet")
    if view.output_at_least:
        yield plain('  output is "at least": some was stored before its call ended', "quiet")
    if view.partly_unknown:
        yield plain(f"  {counted(view.partly_unknown, 'call')} with a part unknown: the sums leave it out", "quiet")
    apart = view.uncommitted.tokens.total
    if apart:
        yield plain(f"  {short(apart)} tokens apart: spent, but never committed by the agent", "quiet")


def verdict_lines(view: Overview | UsageReport | Explanation, width: int = 80) -> Iterator[Line]:
    """What was read whole and what was not; the verdict is the last line."""
    faulty = {fault.path for fault in view.faults}
    wrong = [problem for problem in view.problems if not problem.note]
    unread = {problem.path for problem in wrong} - faulty
    for problem in wrong[:5]:
        yield plain(cut(f"  {one_line(home_short(problem.path))}: {problem.said}", width), "trouble")
    if len(wrong) > 5:
        yield plain(f"  and {len(wrong) - 5} more problems (--json lists them)", "trouble")
    if view.unknown:
        told = counted(sum(view.unknown.values()), "record or part", "records or parts")
        yield plain(f"  {told} of a type that is not known here: turnlog check", "quiet")
    size = byte_size(view.bytes)
    if view.complete:
        yield [("complete: ", "good"), (f"{counted(view.files, 'file')} read whole ({size})", "plain")]
        return
    whole = max(0, view.files - len(faulty) - len(unread))
    told = f"{grouped(whole)} of {counted(view.files, 'file')} read whole ({size})"
    if faulty:
        told += f"; {grouped(len(faulty))} with faults: turnlog check"
    if unread:
        told += f"; {counted(len(unread), 'problem')}"
    yield [("not complete: ", "trouble"), (told, "plain")]
