"""Usage by hour, day, week, month, session, model, project or agent: one pass over the merged calls.

Every call is in exactly one row of every report, so all groupings have one total; what does not say its day, model,
session or project is in the row "unknown". Days are days of the zone that was asked for, however many hours they have.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import date, datetime, tzinfo
from typing import Literal, TypeVar, get_args

import msgspec

from ..work import Sample
from .branch import Branches
from .identity import Counted, Ledger
from .overview import day_of, homes_of
from .prices import Cost
from .rows import iso
from .sessions import is_in
from .sums import (
    UNKNOWN,
    AgentUse,
    DayUse,
    HourUse,
    ModelRow,
    ModelUse,
    MonthUse,
    ProjectUse,
    Row,
    SessionUse,
    Spent,
    Totals,
    WeekUse,
)

Kind = Literal["hourly", "daily", "weekly", "monthly", "session", "model", "project", "agent"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PERIODS = KINDS[:4]
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
Order = Literal["asc", "desc"]
CostOf = Callable[[Sample, str], Cost]
Call = tuple[Counted, str, str]
"""A call with its agent and its project."""
K = TypeVar("K", bound=Hashable)


class Asked(msgspec.Struct, kw_only=True):
    """What a report is asked for. agents: of each file; subagents: files of subagents; visible: by file, lines of calls on its path. zone: whose days. since (inclusive), until (exclusive): aware.
    project: a path or a part of one. week_from: the day a week begins with, 0 for Monday. cost_of: what a call of an agent cost; None for no costs at all."""

    zone: tzinfo
    agents: dict[str, str] = msgspec.field(default_factory=dict)
    subagents: set[str] = msgspec.field(default_factory=set)
    visible: dict[str, frozenset[int] | None] = msgspec.field(default_factory=dict)
    since: datetime | None = None
    until: datetime | None = None
    project: str | None = None
    week_from: int = 0
    cost_of: CostOf | None = None

    @property
    def priced(self) -> bool:
        """Costs are asked for."""
        return self.cost_of is not None


class Group(msgspec.Struct):
    """The calls of one row: sums by model, the main line apart. first, last: the earliest and latest call."""

    cells: dict[tuple[str, bool], Spent] = msgspec.field(default_factory=dict)
    agents: set[str] = msgspec.field(default_factory=set)
    first: datetime | None = None
    last: datetime | None = None

    def add(self, sample: Sample, agent: str, cost: Cost | None) -> None:
        """Add one call."""
        cell = (sample.model or UNKNOWN, sample.sidechain)
        spent = self.cells.get(cell)
        if spent is None:
            spent = self.cells[cell] = Spent()
        spent.add(sample, cost)
        self.agents.add(agent)
        at = sample.at
        if at is not None:
            if self.first is None or at < self.first:
                self.first = at
            if self.last is None or at > self.last:
                self.last = at

    def whole(self) -> Spent:
        """All of its calls."""
        whole = Spent()
        for spent in self.cells.values():
            whole.join(spent)
        return whole


class Apart(msgspec.Struct):
    """The calls that are in no row. undated: without a time, where a range was asked. uncommitted: what the agent itself
    would discard."""

    undated: Spent = msgspec.field(default_factory=Spent)
    uncommitted: Spent = msgspec.field(default_factory=Spent)


def chosen(ledger: Ledger, asked: Asked, apart: Apart, *, dated: bool = False) -> Iterator[Call]:
    """The calls that a report is about, each with its agent and project; others go to `apart`. dated: those without a time
    do even where the range is open."""
    ranged = dated or asked.since is not None or asked.until is not None
    for counted in ledger.samples:
        sample = counted.sample
        agent = asked.agents[counted.path]
        project = project_of(sample, ledger)
        if not is_asked(sample, project, asked):
            continue
        at = sample.at
        if sample.uncommitted:
            apart.uncommitted.add(sample, _cost(asked, sample, agent))
        elif at is None and ranged:
            apart.undated.add(sample, _cost(asked, sample, agent))
        else:
            yield counted, agent, project


def is_asked(sample: Sample, project: str, asked: Asked) -> bool:
    """Whether a call is of the project and in the range; one without a time is in every range."""
    if asked.project is not None and not is_in(project, asked.project):
        return False
    at = sample.at
    return at is None or ((asked.since is None or at >= asked.since) and (asked.until is None or at < asked.until))


def _cost(asked: Asked, sample: Sample, agent: str) -> Cost | None:
    return None if asked.cost_of is None else asked.cost_of(sample, agent)


def project_of(sample: Sample, ledger: Ledger) -> str:
    """The folder a call was made in: its own, else its session's, else "unknown"."""
    if sample.project is not None:
        return sample.project
    session = ledger.sessions.get(sample.session or "")
    return (session and session.facts.cwd) or UNKNOWN


def hour_of(at: datetime, zone: tzinfo) -> str:
    """The hour of that moment on the zone's clock; at the ends of the calendar that of UTC."""
    try:
        there = at.astimezone(zone)
    except (OverflowError, ValueError):
        there = at
    return f"{there.date().isoformat()}T{there.hour:02}"


def week_of(day: str, week_from: int = 0) -> str:
    """The first day of the week of that day."""
    there = date.fromisoformat(day)
    back = (there.weekday() - week_from) % 7
    return date.fromordinal(max(1, there.toordinal() - back)).isoformat()


def _key(kind: Kind, asked: Asked, ledger: Ledger) -> Callable[[Counted, str, str], str]:
    """What names the row of a call."""
    zone = asked.zone
    if kind in PERIODS:

        def period(counted: Counted, _: str, __: str) -> str:
            at = counted.sample.at
            if at is None:
                return UNKNOWN
            if kind == "hourly":
                return hour_of(at, zone)
            day = day_of(at, zone)
            return day if kind == "daily" else day[:7] if kind == "monthly" else week_of(day, asked.week_from)

        return period
    if kind == "session":
        homes = homes_of(ledger)
        return lambda counted, _, __: homes.get(counted.sample.session or "", UNKNOWN)
    if kind == "model":
        return lambda counted, _, __: counted.sample.model or UNKNOWN
    return (lambda _, __, project: project) if kind == "project" else (lambda _, agent, __: agent)


def grouped_by(
    calls: Iterable[Call],
    key: Callable[[Counted, str, str], K],
    asked: Asked,
    also: Callable[[K, Counted, Cost | None], None] | None = None,
) -> dict[K, Group]:
    """The calls by that key, each priced once. also: is told each call with its key and cost."""
    groups: dict[K, Group] = {}
    cost_of = asked.cost_of
    for counted, agent, project in calls:
        sample = counted.sample
        name = key(counted, agent, project)
        group = groups.get(name)
        if group is None:
            group = groups[name] = Group()
        cost = None if cost_of is None else cost_of(sample, agent)
        group.add(sample, agent, cost)
        if also is not None:
            also(name, counted, cost)
    return groups


class Rows(msgspec.Struct):
    """The rows of one report with their exact sums, in order."""

    rows: list[Row]
    totals: Totals


def report(kind: Kind, ledger: Ledger, asked: Asked, apart: Apart, order: Order | None = None) -> Rows:
    """The rows of one report; what is in none goes to `apart`. order: None for the usual one: periods and sessions with the
    newest last, the others with the greatest first."""
    branches = Branches(asked.visible) if kind == "session" else None
    also = branches.add if branches is not None else None
    groups = grouped_by(chosen(ledger, asked, apart), _key(kind, asked, ledger), asked, also)
    found = rows_of(kind, groups, ledger, asked, order)
    if branches is not None:
        for row in found.rows:
            assert isinstance(row, SessionUse)
            branches.tell(row, priced=asked.priced)
    return found


def by_project(
    ledger: Ledger, asked: Asked, apart: Apart, order: Order | None = None
) -> tuple[dict[str, Rows], Totals]:
    """Days by project, and the totals of all."""
    day = _key("daily", asked, ledger)
    groups = grouped_by(chosen(ledger, asked, apart), lambda *call: (call[2], day(*call)), asked)
    projects: dict[str, dict[str, Group]] = {}
    for (project, name), group in groups.items():
        projects.setdefault(project, {})[name] = group
    rows = {project: rows_of("daily", some, ledger, asked, order) for project, some in sorted(projects.items())}
    return rows, totals_of(groups.values(), priced=asked.priced)


def rows_of(kind: Kind, groups: dict[str, Group], ledger: Ledger, asked: Asked, order: Order | None) -> Rows:
    """Groups as rows."""
    started = _started(ledger, asked) if kind == "session" else {}
    rows = [
        _row(kind, name, groups[name], ledger, started, priced=asked.priced) for name in _ordered(kind, groups, order)
    ]
    return Rows(rows, totals_of(groups.values(), priced=asked.priced))


def _started(ledger: Ledger, asked: Asked) -> dict[str, int]:
    """How many subagents each session started: threads of their own, or files."""
    files: dict[str, set[str]] = {}
    threads: dict[str, int] = {}
    for other, home in homes_of(ledger).items():
        files.setdefault(home, set()).update(ledger.sessions[other].files)
        threads[home] = threads.get(home, 0) + (other != home)
    return {home: threads[home] + len(paths & asked.subagents) for home, paths in files.items()}


def _ordered(kind: Kind, groups: dict[str, Group], order: Order | None) -> list[str]:
    """The names of the rows in order; "unknown" is the last one."""
    names = sorted(name for name in groups if name != UNKNOWN)
    rest = [UNKNOWN] if UNKNOWN in groups else []
    if kind in PERIODS:
        return (names[::-1] if order == "desc" else names) + rest
    if kind == "session":
        undated = [name for name in names if groups[name].last is None]
        dated = [(last, name) for name in names if (last := groups[name].last) is not None]
        return undated + [name for _, name in sorted(dated, reverse=order == "desc")] + rest
    totals = {name: group.whole().total for name, group in groups.items()}
    names.sort(key=lambda name: totals[name], reverse=order != "asc")
    return names + rest


def _row(kind: Kind, name: str, group: Group, ledger: Ledger, started: dict[str, int], *, priced: bool) -> Row:
    row: Row
    if kind == "hourly":
        row = HourUse(hour=name)
    elif kind == "daily":
        row = DayUse(date=name)
    elif kind == "weekly":
        row = WeekUse(week=name)
    elif kind == "monthly":
        row = MonthUse(month=name)
    elif kind == "model":
        row = ModelRow(model=name, agents=sorted(group.agents))
    elif kind == "project":
        row = ProjectUse(project=name, short_name=short_name(name))
    elif kind == "agent":
        row = AgentUse(agent=name)
    else:
        session = ledger.sessions.get(name)
        row = SessionUse(
            session_id=name,
            agent=session.agent if session is not None else " ".join(sorted(group.agents)),
            session_name=session.title if session is not None else None,
            project_path=session.facts.cwd if session is not None else None,
            first_activity=iso(group.first) if group.first is not None else None,
            last_activity=iso(group.last) if group.last is not None else None,
            subagents=started.get(name, 0),
        )
    fill_totals(row, [group], priced=priced)
    row.model_breakdowns = _models(group, priced=priced)
    row.models_used = sorted(use.model_name for use in row.model_breakdowns)
    return row


def _models(group: Group, *, priced: bool) -> list[ModelUse]:
    sums: dict[str, Spent] = {}
    for (model, _), spent in group.cells.items():
        sums.setdefault(model, Spent()).join(spent)
    uses = []
    for model, spent in sorted(sums.items(), key=lambda pair: (-pair[1].total, pair[0])):
        use = ModelUse(
            model_name=model,
            input_tokens=spent.input,
            output_tokens=spent.output,
            cache_creation_tokens=spent.cache_write,
            cache_read_tokens=spent.cache_read,
            total_tokens=spent.total,
            calls=spent.calls,
        )
        if priced:
            use.cost, use.cost_at_least = spent.cost.usd, spent.cost.at_least
        uses.append(use)
    return uses


def totals_of(groups: Iterable[Group], *, priced: bool) -> Totals:
    """The sums of all those groups."""
    totals = Totals()
    fill_totals(totals, groups, priced=priced)
    return totals


def fill_totals(totals: Totals, groups: Iterable[Group], *, priced: bool) -> None:
    """Put the sums of those groups there."""
    main, side, whole = Spent(), Spent(), Spent()
    for group in groups:
        for (_, sidechain), spent in group.cells.items():
            (side if sidechain else main).join(spent)
    whole.join(main)
    whole.join(side)
    fill_whole(totals, whole, priced=priced)
    totals.main_only.fill(main, priced=priced)
    totals.sidechain.fill(side, priced=priced)


def fill_whole(totals: Totals, whole: Spent, *, priced: bool) -> None:
    """Put those sums there, with what they do not know."""
    totals.fill(whole, priced=priced)
    totals.output_at_least = whole.lower > 0
    totals.partly_unknown = whole.partly
    given = whole.input + whole.cache_read + whole.cache_write
    totals.cache_hit_rate = round(whole.cache_read / given, 4) if given else None
    if priced:
        totals.unpriced_models = sorted(model or UNKNOWN for model in whole.cost.unpriced)


def short_name(project: str) -> str:
    """The last part of a folder's path, of Windows too."""
    parts = project.replace("\\", "/").rstrip("/").rpartition("/")
    return parts[2] or project


__all__ = [
    "KINDS",
    "PERIODS",
    "WEEKDAYS",
    "Apart",
    "Asked",
    "Group",
    "Kind",
    "Order",
    "Rows",
    "by_project",
    "chosen",
    "is_asked",
    "project_of",
    "report",
]
