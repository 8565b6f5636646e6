"""The records behind one cell of a usage report: what `turnlog explain` says, for a program.

The calls are chosen as the reports choose them, so their sums are those of the cell. A record that is not counted belongs
to the cell in which it would be by its own day, model and session.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from ..discover import Discovery
from ..errors import InvalidOptionsError, TurnlogError
from ..roots import Roots
from ..work import Key, Left, Sample
from .evidence import CallRow, Explanation, LeftRow, Merged, Spot, call_tokens
from .identity import Counted, Ledger
from .kept import Kept
from .overview import day_of, homes_of
from .prices import Cost, Mode, Pricer
from .report import Apart, Asked, Group, chosen, is_asked, project_of, totals_of
from .rows import iso
from .share import fewer_collections
from .sums import UNKNOWN
from .usage import AllRead, read_all, utc, what_was_read, whole
from .zones import zone

UNCOMMITTED = "never committed: the agent itself would discard it"

_LATEST = datetime.max.replace(tzinfo=UTC)
_PARTS = ("input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens")
_Place = tuple[str, int, Key]
"""A sample's file, first byte and key: one record may hold several samples."""


class NoSuchCell(TurnlogError, LookupError):
    """A word names no session, or several."""


class Cell(msgspec.Struct, kw_only=True):
    """Which calls are meant. day: 2026-11-29, or "unknown" for those without a time; month: 2026-11. model: its name.
    session: a session id; its subagents are in it. homes: each session to the one in whose row it is."""

    asked: Asked
    day: str | None = None
    month: str | None = None
    model: str | None = None
    session: str | None = None
    homes: dict[str, str] = {}

    def home_of(self, sample: Sample) -> str:
        """The session in whose row the call is."""
        return self.homes.get(sample.session or "", UNKNOWN)

    def holds(self, sample: Sample) -> bool:
        """Whether the call is in the cell; its project and the range are not looked at."""
        if self.model is not None and (sample.model or UNKNOWN) != self.model:
            return False
        if self.session is not None and self.session not in (self.home_of(sample), sample.session):
            return False
        return self.holds_day(sample.at)

    def holds_day(self, at: datetime | None) -> bool:
        """Whether a moment is in the cell's day or month."""
        if self.day is None and self.month is None:
            return True
        day = UNKNOWN if at is None else day_of(at, self.asked.zone)
        return self.day in (None, day) and self.month in (None, day[:7])

    @property
    def dated(self) -> bool:
        """Only calls with a time can be in it."""
        ranged = self.asked.since is not None or self.asked.until is not None
        return ranged or (self.day or self.month or UNKNOWN) != UNKNOWN


def explain(
    roots: Roots,
    *,
    day: str | None = None,
    month: str | None = None,
    model: str | None = None,
    session: str | None = None,
    project: str | None = None,
    agent: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    timezone: str | None = None,
    mode: Mode = "auto",
    pricer: Pricer | None = None,
    limit: int | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    kept: Kept | None = None,
    discovery: Discovery | None = None,
) -> Explanation:
    """The calls of one cell and what was left out of it, each with its file, line and bytes.

    day (2026-11-29 or 20261129), month (2026-11 or 202611), model (its name as the reports have it), session (an id or
    the beginning of one): the cell; "unknown" names the row of that name. project, agent, since, until, timezone, mode,
    pricer, jobs, progress, kept, discovery: as for `usage_report`. limit: rows of each list; the sums are of all.

    Raises InvalidOptionsError for an option that cannot be meant, NoSuchCell where no session, or more than one, has that id.
    """
    place, name = zone(timezone)
    pricer = pricer or Pricer(mode=mode)
    asked = Asked(zone=place, since=since, until=until, project=project, cost_of=pricer.cost_of)
    cell = Cell(asked=asked, day=_day(day), month=_month(month), model=model)
    if limit is not None and limit < 0:
        raise InvalidOptionsError(f"expected a number of rows, found {limit}")
    view = Explanation(zone=name, mode=pricer.mode, since=utc(since), until=utc(until), model=model, project=project)
    view.day, view.month, view.agent = cell.day, cell.month, agent
    with fewer_collections():
        read = read_all(
            roots, asked, agent=agent, jobs=jobs, progress=progress, kept=kept, discovery=discovery
        )  # fmt: skip
        what_was_read(view, read)
        cell.homes = homes_of(read.ledger)
        view.session = cell.session = None if session is None else _session(session, read.ledger, cell.homes)
        _fill(view, read, cell, limit)
    return view


def _day(word: str | None) -> str | None:
    if word is None or word == UNKNOWN:
        return word
    try:
        if re.fullmatch(r"[0-9]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}", word) is None:
            raise ValueError
        return date.fromisoformat(word).isoformat()
    except ValueError:
        raise InvalidOptionsError(f"day: expected a day such as 2026-11-30 or 20261130, found {word!r}") from None


def _month(word: str | None) -> str | None:
    if word is None or word == UNKNOWN:
        return word
    found = re.fullmatch(r"([0-9]{4})-?(0[1-9]|1[0-2])", word)
    if found is None:
        raise InvalidOptionsError(f"month: expected a month such as 2026-11 or 202611, found {word!r}")
    return f"{found[1]}-{found[2]}"


def _session(word: str, ledger: Ledger, homes: dict[str, str]) -> str:
    """The id that a word means: a whole one, else the only one that begins so; a session before a subagent's thread."""
    if word == UNKNOWN or word in ledger.sessions:
        return word
    sought = word.lower()
    fits = [key for key in ledger.sessions if sought and key.lower().startswith(sought)]
    fits = [key for key in fits if homes[key] == key] or fits
    if len(fits) == 1:
        return fits[0]
    if not fits:
        raise NoSuchCell(f'no session starts with "{word[:40]}": turnlog usage session shows them')
    raise NoSuchCell(f'"{word[:40]}" begins {len(fits)} sessions: give more of the id')


def _fill(view: Explanation, read: AllRead, cell: Cell, limit: int | None) -> None:
    """The sums of all calls of the cell, and the rows that are shown."""
    asked, ledger, apart = cell.asked, read.ledger, Apart()
    group, calls, costs = Group(), [], {}
    for counted, agent, project in chosen(ledger, asked, apart):
        sample = counted.sample
        if not cell.holds(sample):
            continue
        assert asked.cost_of is not None
        cost = asked.cost_of(sample, agent)
        group.add(sample, agent, cost)
        costs[id(counted)] = cost
        calls.append((counted, project))
        said = view.unpriced if cost.exact is None else view.sources
        word = (cost.reason if cost.exact is None else cost.source) or UNKNOWN
        said[word] = said.get(word, 0) + 1
    view.totals = totals_of([group], priced=True)
    if cell.dated:
        view.undated = _undated(ledger, cell)
    left = _left_out(ledger, cell)
    view.left_out = len(left)
    calls.sort(key=lambda call: _order(call[0].sample, call[0].path))
    left.sort(key=lambda one: _order(one[1].sample, one[0]))
    shown = calls[:limit]
    others = _others(ledger, [counted for counted, _ in shown])
    written = _written(read, [counted for counted, _ in shown])
    view.counted = [
        _call_row(counted, project, cell, costs[id(counted)], written, others) for counted, project in shown
    ]
    view.left = [_left_row(path, one, asked) for path, one in left[:limit]]


def _order(sample: Sample, path: str) -> tuple[Any, ...]:
    return sample.at or _LATEST, path, sample.start


def _undated(ledger: Ledger, cell: Cell) -> Any:
    """Calls without a time that the cell may hold."""
    group = Group()
    asked = cell.asked
    open_cell = msgspec.structs.replace(cell, day=None, month=None)
    for counted in ledger.samples:
        sample = counted.sample
        if sample.at is not None or sample.uncommitted or not open_cell.holds(sample):
            continue
        if is_asked(sample, project_of(sample, ledger), asked):
            agent = asked.agents[counted.path]
            group.add(sample, agent, None if asked.cost_of is None else asked.cost_of(sample, agent))
    spent = group.whole()
    return whole(spent, priced=True) if spent.calls else msgspec.UNSET


def _left_out(ledger: Ledger, cell: Cell) -> list[tuple[str, Left]]:
    """What is not counted and would be in the cell by its own word."""
    found = [(path, left) for path, left in ledger.left if _is_in(left.sample, ledger, cell)]
    found += [
        (counted.path, Left(counted.sample, UNCOMMITTED))
        for counted in ledger.samples
        if counted.sample.uncommitted and _is_in(counted.sample, ledger, cell)
    ]
    return found


def _is_in(sample: Sample, ledger: Ledger, cell: Cell) -> bool:
    if (sample.at is None and cell.dated) or not cell.holds(sample):
        return False
    return is_asked(sample, project_of(sample, ledger), cell.asked)


def _others(ledger: Ledger, calls: list[Counted]) -> dict[_Place, list[tuple[str, Left]]]:
    """The other records of these calls, by the place of the first."""
    found: dict[_Place, list[tuple[str, Left]]] = {
        (counted.path, counted.sample.start, counted.sample.key): [] for counted in calls
    }
    for path, left in ledger.left:
        if left.instead is not None:
            same = found.get((left.instead[0], left.instead[2], left.sample.key))
            if same is not None:
                same.append((path, left))
    return found


def _written(read: AllRead, calls: list[Counted]) -> dict[_Place, Sample]:
    """The samples of these calls as their first record alone has them."""
    wanted = {(counted.path, counted.sample.start, counted.sample.key) for counted in calls}
    paths = {counted.path for counted in calls}
    found: dict[_Place, Sample] = {}
    for scan in read.scans:
        work = scan.work
        if work is None or work.path not in paths:
            continue
        for sample in work.samples:
            key = (work.path, sample.start, sample.key)
            if key in wanted:
                found.setdefault(key, sample)
    return found


def _call_row(
    counted: Counted,
    project: str,
    cell: Cell,
    cost: Cost,
    written: dict[_Place, Sample],
    others: dict[_Place, list[tuple[str, Left]]],
) -> CallRow:
    sample, path = counted.sample, counted.path
    key = (path, sample.start, sample.key)
    own = written.get(key, sample)
    return CallRow(
        **_spot(path, sample),
        agent=cell.asked.agents[path],
        at=None if sample.at is None else iso(sample.at),
        session_id=sample.session,
        home=cell.home_of(sample),
        model=sample.model,
        project=project,
        tokens=call_tokens(sample.counts),
        written=call_tokens(own.counts),
        cost=cost.usd,
        price_source=cost.source,
        unpriced=cost.reason,
        cost_at_least=cost.at_least,
        output_at_least=sample.lower_bound,
        sidechain=sample.sidechain,
        aside=sample.aside,
        merged=[_merged(path, left, own, sample) for path, left in others.get(key, ())],
    )


def _merged(path: str, left: Left, own: Sample, call: Sample) -> Merged:
    """Another record of a call, and what of the call only stands there."""
    tokens, mine, all_of_it = call_tokens(left.sample.counts), call_tokens(own.counts), call_tokens(call.counts)
    names = []
    for name in _PARTS:
        wanted = getattr(all_of_it, name)
        if getattr(mine, name) != wanted == getattr(tokens, name):
            names.append(name)
    gave = [re.sub("_(.)", lambda letter: letter[1].upper(), name) for name in names]
    if own.at != call.at == left.sample.at:
        gave.append("at")
    return Merged(**_spot(path, left.sample), reason=left.reason, tokens=tokens, gave=gave)


def _left_row(path: str, left: Left, asked: Asked) -> LeftRow:
    sample, instead = left.sample, left.instead
    return LeftRow(
        **_spot(path, sample),
        agent=asked.agents[path],
        at=None if sample.at is None else iso(sample.at),
        session_id=sample.session,
        model=sample.model,
        tokens=call_tokens(sample.counts),
        reason=left.reason,
        instead=None if instead is None else Spot(path=instead[0], line=instead[1], start=instead[2], end=instead[3]),
        uncommitted=sample.uncommitted,
    )


def _spot(path: str, sample: Sample) -> dict[str, Any]:
    return {"path": path, "line": sample.line, "start": sample.start, "end": sample.end}


__all__ = ["UNCOMMITTED", "Cell", "NoSuchCell", "explain"]
