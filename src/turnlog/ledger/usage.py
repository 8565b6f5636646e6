"""One usage report over everything below the roots: what `turnlog usage` says, for a program."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

from ..discover import Discovery, find_sessions
from ..errors import InvalidOptionsError
from ..roots import Roots
from ..titles import read_titles
from .blocks import HOURS, RECENT, Stretch, blocks_of, greatest, is_active, stretches
from .evidence import Explanation
from .identity import Ledger, merge
from .kept import Kept
from .overview import Overview, read_in
from .prices import Mode, Pricer
from .report import KINDS, WEEKDAYS, Apart, Asked, Kind, Order, by_project, chosen, fill_whole, report, totals_of
from .rows import ProblemRow, iso
from .scan import FileScan, reconcile, scan_files
from .share import fewer_collections
from .sums import SessionUse, Spent, Totals, UsageReport
from .zones import zone

REPORTS: tuple[str, ...] = (*KINDS[:5], "blocks", *KINDS[5:])


def usage_report(
    roots: Roots,
    kind: Kind | Literal["blocks"] = "daily",
    *,
    timezone: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    agent: str | None = None,
    project: str | None = None,
    mode: Mode = "auto",
    costs: bool = True,
    pricer: Pricer | None = None,
    order: Order | None = None,
    instances: bool = False,
    start_of_week: str = "monday",
    active: bool = False,
    recent: bool = False,
    token_limit: int | Literal["max"] | None = None,
    session_length: float = HOURS,
    now: datetime | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    kept: Kept | None = None,
    discovery: Discovery | None = None,
) -> UsageReport:
    """Read every session below the roots and add up its calls, each once.

    kind: hourly, daily, weekly, monthly, session, blocks, model, project or agent. since (inclusive) and until
    (exclusive), aware: when the call was made; of blocks, when the block began. agent, project: only that agent's calls,
    and those of that folder (a path or a part of one). mode, costs, pricer: how calls are priced, if at all. instances:
    days by project. active, recent, token_limit ("max": what the greatest block that is over held), session_length
    (hours), now: of blocks alone. progress: told the bytes of files done and of all files. kept: a cache of earlier scans,
    read and filled; None reads every file. discovery: what `find_sessions` found there, where that was asked already.

    Raises InvalidOptionsError for an option that cannot be meant. What cannot be read is in the result.
    """
    place, name = zone(timezone)
    _checked(kind, instances=instances, start_of_week=start_of_week, token_limit=token_limit, hours=session_length)
    asked = Asked(
        zone=place,
        since=since,
        until=until,
        project=project,
        week_from=WEEKDAYS.index(start_of_week),
        cost_of=(pricer or Pricer(mode=mode)).cost_of if costs else None,
    )
    view = UsageReport(report=kind, zone=name, since=utc(since), until=utc(until))
    if costs:
        view.mode = mode if pricer is None else pricer.mode
    with fewer_collections():
        read = read_all(roots, asked, agent=agent, jobs=jobs, progress=progress, kept=kept, discovery=discovery)
        what_was_read(view, read)
        ledger = read.ledger
        view.left_out = sum(1 for _, left in ledger.left if left.instead is not None)
        apart = Apart()
        if kind == "blocks":
            length = timedelta(hours=session_length)
            every = stretches(chosen(ledger, unranged(asked), apart, dated=True), asked, length)
            _blocks(view, every, asked, now or datetime.now(UTC), length, token_limit, active, recent, order)
        elif instances:
            projects, view.totals = by_project(ledger, asked, apart, order)
            view.projects = {key: rows.rows for key, rows in projects.items()}  # type: ignore[misc]
        else:
            rows = report(kind, ledger, asked, apart, order)
            setattr(view, kind, rows.rows)
            view.totals = rows.totals
            if kind == "session":
                _named(view, rows.rows, roots)
    for spent, where in ((apart.undated, "undated"), (apart.uncommitted, "uncommitted")):
        if spent.calls:
            setattr(view, where, whole(spent, priced=asked.priced))
    return view


class AllRead(msgspec.Struct):
    """Everything below the roots, read and merged."""

    discovery: Discovery
    scans: list[FileScan]
    ledger: Ledger


def read_all(
    roots: Roots,
    asked: Asked,
    *,
    agent: str | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    kept: Kept | None = None,
    discovery: Discovery | None = None,
) -> AllRead:
    """Read every session below the roots, of that agent alone if one is named, and merge their work. `asked` is told what
    the files say of themselves. The rest is as for `usage_report`."""
    discovery = find_sessions(roots) if discovery is None else discovery
    discovery = Discovery(
        [file for file in discovery.files if agent in (None, file.agent)],
        [problem for problem in discovery.problems if agent is None or problem.agent in (None, agent)],
    )
    size, done = sum(file.size for file in discovery.files), 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, size)

    scans = scan_files(discovery.files, jobs=jobs, progress=told, kept=kept)
    works = [scan.work for scan in scans if scan.work is not None]
    asked.agents = {work.path: work.agent for work in works}
    asked.visible = {work.path: None if work.visible is None else frozenset(work.visible) for work in works}
    asked.subagents = {scan.file.path for scan in scans if scan.file.kind == "subagent"}
    return AllRead(discovery, scans, merge(works, reconcile))


def _checked(kind: str, *, instances: bool, start_of_week: str, token_limit: Any, hours: float) -> None:
    if kind not in REPORTS:
        raise InvalidOptionsError(f"expected a report of {', '.join(REPORTS)}, found {kind!r}")
    if instances and kind != "daily":
        raise InvalidOptionsError("days by project: expected the report daily")
    if start_of_week not in WEEKDAYS:
        raise InvalidOptionsError(f"expected a day of the week such as monday, found {start_of_week!r}")
    if token_limit not in (None, "max") and not (isinstance(token_limit, int) and token_limit > 0):
        raise InvalidOptionsError(f"expected a number of tokens or max, found {token_limit!r}")
    if not 0 < hours <= 24 * 366:
        raise InvalidOptionsError(f"expected a number of hours, found {hours!r}")


def utc(at: datetime | None) -> str | None:
    """A moment as the reports print it."""
    if at is None:
        return None
    try:
        return iso(at.astimezone(UTC))
    except (OverflowError, ValueError):
        return iso(at)


def what_was_read(view: UsageReport | Explanation, read: AllRead) -> None:
    """Say there how much was read, and what could not be."""
    seen = Overview()
    read_in(seen, read.discovery, read.scans)
    for name in ("complete", "files", "bytes", "faults", "problems", "unknown"):
        setattr(view, name, getattr(seen, name))


def whole(spent: Spent, *, priced: bool) -> Totals:
    """Those sums as the reports print them."""
    totals = Totals()
    fill_whole(totals, spent, priced=priced)
    totals.main_only.fill(spent, priced=priced)
    return totals


def _named(view: UsageReport, rows: list[Any], roots: Roots) -> None:
    """Names from the agents' indexes for sessions whose files give none."""
    nameless: dict[str, SessionUse] = {row.session_id: row for row in rows if row.session_name is None}
    titles = read_titles(roots, list(nameless), collect=True)
    for key, text in titles.texts.items():
        if key in nameless:
            nameless[key].session_name = text
    view.problems += [ProblemRow(error.source, error.kind, error.said) for error in titles.errors]
    view.complete = view.complete and not titles.errors


def unranged(asked: Asked) -> Asked:
    """The same without a range: one chooses among blocks and cuts none."""
    return msgspec.structs.replace(asked, since=None, until=None)


def _blocks(
    view: UsageReport,
    every: list[Stretch],
    asked: Asked,
    now: datetime,
    length: timedelta,
    token_limit: int | Literal["max"] | None,
    active: bool,
    recent: bool,
    order: Order | None,
) -> None:
    limit = greatest(every, now, length) if token_limit == "max" else token_limit  # noqa: S105  tokens of a model
    kept = [
        one
        for one in every
        if (asked.since is None or one.start >= asked.since)
        and (asked.until is None or one.start < asked.until)
        and (not active or is_active(one, now, length))
        and (not recent or is_active(one, now, length) or now - one.start <= RECENT)
    ]
    rows = blocks_of(kept, now, length, priced=asked.priced, limit=limit)
    view.blocks = rows[::-1] if order == "desc" else rows
    view.totals = totals_of((one.group for one in kept), priced=asked.priced)


__all__ = ["REPORTS", "AllRead", "read_all", "usage_report", "utc", "what_was_read", "whole"]
