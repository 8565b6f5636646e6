"""What is on this machine: one answer over all agents, with its doubts."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

import msgspec

from ..discover import Discovery
from .identity import Counted, Ledger, merge
from .scan import FileScan, reconcile

SCHEMA = "turnlog.overview/1"
UNKNOWN = "unknown"


class Tokens(msgspec.Struct):
    """Tokens in parts that add up; `total` is their sum. Unknown parts are left out of the sums."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0

    def add(self, counted: Counted) -> None:
        """Add one sample's known parts."""
        counts = counted.sample.counts
        fresh, out, read, write = counts.input or 0, counts.output or 0, counts.cache_read or 0, counts.cache_write or 0
        self.input += fresh
        self.output += out
        self.cache_read += read
        self.cache_write += write
        self.total += fresh + out + read + write

    def join(self, other: Tokens) -> None:
        """Add other sums."""
        self.input += other.input
        self.output += other.output
        self.cache_read += other.cache_read
        self.cache_write += other.cache_write
        self.total += other.total


class SessionRow(msgspec.Struct):
    """One session of the overview. prompts, answers: how many. subagents: files or threads it started."""

    agent: str
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    title: str | None = None
    cwd: str | None = None
    first: str | None = None
    last: str | None = None
    first_prompt: str | None = None
    model: str | None = None
    models: list[str] = msgspec.field(default_factory=list)
    prompts: int = 0
    answers: int = 0
    subagents: int = 0
    files: list[str] = msgspec.field(default_factory=list)
    cost: float | None = None


class AgentRow(msgspec.Struct):
    """One agent of the overview."""

    title: str
    sessions: int = 0
    files: int = 0
    user_prompts: int = 0
    assistant_messages: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    last: str | None = None


class FaultRow(msgspec.Struct):
    """A line that was not read whole."""

    path: str
    line: int
    start: int
    end: int
    kind: str
    recovered: int


class ProblemRow(msgspec.Struct):
    """A file or folder that is not what it should be. note: worth knowing, and nothing is missing because of it."""

    path: str
    kind: str
    said: str
    note: bool = False


class Uncommitted(msgspec.Struct):
    """Work the agent itself would discard, kept apart: it was spent all the same."""

    user_prompts: int = 0
    assistant_messages: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)


class Overview(msgspec.Struct, kw_only=True):
    """The whole answer. Times are UTC (ISO 8601); days are days of `zone`. `complete`: everything found was read whole.
    `output_at_least`: some output was stored before its call ended. `partly_unknown`: samples with an unknown part.
    `cost`: US dollars the agents themselves stored, None where none did. `left_out`: usage samples that are not counted because another one stands for them.
    """

    schema: str = SCHEMA
    zone: str = "UTC"
    complete: bool = True
    files: int = 0
    bytes: int = 0
    sessions: int = 0
    records: int = 0
    user_prompts: int = 0
    assistant_messages: int = 0
    tool_calls: int = 0
    tool_results: int = 0
    compactions: int = 0
    tokens: Tokens = msgspec.field(default_factory=Tokens)
    main_only: Tokens = msgspec.field(default_factory=Tokens)
    output_at_least: bool = False
    partly_unknown: int = 0
    cost: float | None = None
    left_out: int = 0
    first: str | None = None
    last: str | None = None
    by_agent: dict[str, AgentRow] = msgspec.field(default_factory=dict)
    by_day: dict[str, int] = msgspec.field(default_factory=dict)
    by_model: dict[str, int] = msgspec.field(default_factory=dict)
    by_project: dict[str, int] = msgspec.field(default_factory=dict)
    by_session: dict[str, SessionRow] = msgspec.field(default_factory=dict)
    uncommitted: Uncommitted = msgspec.field(default_factory=Uncommitted)
    faults: list[FaultRow] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)


def overview(
    discovery: Discovery, scans: list[FileScan], zone: tzinfo, name: str, titles: dict[str, str] | None = None,
    agents: dict[str, str] | None = None,
) -> Overview:  # fmt: skip
    """The overview of scanned files. titles: names from the agents' indexes, by session; they stand where the files name
    nothing. agents: printed names by agent."""
    view = Overview(zone=name)
    _read(view, discovery, scans)
    ledger = merge([scan.work for scan in scans if scan.work is not None], reconcile)
    homes = _homes(ledger)
    _rows(view, ledger, homes, titles or {}, agents or {}, scans)
    _spent(view, ledger, homes, zone)
    _said(view, ledger, homes)
    _times(view, ledger, homes)
    return view


def _read(view: Overview, discovery: Discovery, scans: list[FileScan]) -> None:
    """What was read, and what was not."""
    view.problems = [ProblemRow(p.path, p.kind, p.said, p.note) for p in discovery.problems]
    for scan in scans:
        path = scan.file.path
        if not scan.recognised:
            said = "expected a session, found records of another kind: counted nowhere"
            view.problems.append(ProblemRow(path, "unrecognised", said, True))
            continue
        if scan.vanished:
            view.problems.append(ProblemRow(path, "vanished", "it went away before it was read", True))
            continue
        view.files += 1
        if scan.error is not None:
            view.problems.append(ProblemRow(path, scan.error_kind or "unreadable", scan.error))
        summary = scan.summary
        if summary is None:
            continue
        view.records += summary.records
        view.output_at_least |= scan.work is not None and scan.work.at_least
        view.bytes += summary.bytes_read
        for label, n in summary.unknown.items():
            view.unknown[label] = view.unknown.get(label, 0) + n
        view.problems += [ProblemRow(path, "trailing-data", said) for said in summary.problems]
        view.faults += [FaultRow(path, f.line, f.start, f.end, f.fault.value, f.recovered) for f in scan.faults]
    view.complete = not view.faults and all(problem.note for problem in view.problems)


def _homes(ledger: Ledger) -> dict[str, str]:
    """Each session to the one that started it, if it is a subagent's and that one is here; else to itself."""
    homes = {}
    for key, session in ledger.sessions.items():
        seen = {key}
        home = session
        while home.parent is not None and home.parent in ledger.sessions and home.parent not in seen:
            seen.add(home.parent)
            home = ledger.sessions[home.parent]
        homes[key] = home.id
    return homes


def _rows(
    view: Overview, ledger: Ledger, homes: dict[str, str], titles: dict[str, str], agents: dict[str, str],
    scans: list[FileScan],
) -> None:  # fmt: skip
    for key, session in ledger.sessions.items():
        facts = session.facts
        if homes[key] != key:
            continue
        view.by_session[key] = SessionRow(
            session.agent,
            title=session.title or titles.get(key),
            cwd=facts.cwd,
            first_prompt=facts.first_prompt,
            model=facts.model,
            files=list(session.files),
        )
        row = view.by_agent.setdefault(session.agent, AgentRow(agents.get(session.agent, session.agent)))
        row.sessions += 1
    for key, session in ledger.sessions.items():
        if homes[key] != key:
            home = view.by_session[homes[key]]
            home.files += [path for path in session.files if path not in home.files]
    subagents = {scan.file.path for scan in scans if scan.file.kind == "subagent"}
    for key, home in view.by_session.items():
        threads = sum(1 for other, to in homes.items() if to == key and other != key)
        home.subagents = threads + sum(1 for path in home.files if path in subagents)
    for scan in scans:
        if scan.recognised and not scan.vanished:
            agent = scan.file.agent
            view.by_agent.setdefault(agent, AgentRow(agents.get(agent, agent))).files += 1
    view.sessions = len(view.by_session)


def _spent(view: Overview, ledger: Ledger, homes: dict[str, str], zone: tzinfo) -> None:
    view.left_out = sum(1 for _, left in ledger.left if left.instead is not None)
    days: dict[str, int] = {}
    # By session, the main line apart: everything else is a sum of these.
    sums: dict[tuple[str, bool], Tokens] = {}
    for counted in ledger.samples:
        sample = counted.sample
        if sample.uncommitted:
            view.uncommitted.tokens.add(counted)
            continue
        counts = sample.counts
        key = (homes.get(sample.session or "", ""), sample.sidechain)
        tokens = sums.get(key)
        if tokens is None:
            tokens = sums[key] = Tokens()
        before = tokens.total
        tokens.add(counted)
        total = tokens.total - before
        view.partly_unknown += counts.input is None or counts.output is None
        day = UNKNOWN if sample.at is None else day_of(sample.at, zone)
        days[day] = days.get(day, 0) + total
        model = sample.model or UNKNOWN
        view.by_model[model] = view.by_model.get(model, 0) + total
        project = sample.project
        if project is None:
            session = ledger.sessions.get(sample.session or "")
            project = (session and session.facts.cwd) or UNKNOWN
        view.by_project[project] = view.by_project.get(project, 0) + total
        row = view.by_session.get(key[0])
        if row is not None and sample.model is not None and sample.model not in row.models:
            row.models.append(sample.model)
        if sample.cost is not None:
            view.cost = (view.cost or 0.0) + sample.cost
            if row is not None:
                row.cost = (row.cost or 0.0) + sample.cost
    _sum_up(view, sums)
    view.by_day = dict(sorted(days.items()))
    if view.cost is not None:
        view.cost = round(view.cost, 10)


def _sum_up(view: Overview, sums: dict[tuple[str, bool], Tokens]) -> None:
    for (home, sidechain), tokens in sums.items():
        view.tokens.join(tokens)
        if not sidechain:
            view.main_only.join(tokens)
        row = view.by_session.get(home)
        if row is not None:
            row.tokens.join(tokens)
            view.by_agent[row.agent].tokens.join(tokens)


def day_of(at: datetime, zone: tzinfo) -> str:
    """The day of that moment in the zone; at the ends of the calendar, where there is none, the day in UTC."""
    try:
        return at.astimezone(zone).date().isoformat()
    except (OverflowError, ValueError):
        return at.date().isoformat()


def _said(view: Overview, ledger: Ledger, homes: dict[str, str]) -> None:
    for what, marks in ledger.marks.items():
        committed = [counted.mark for counted in marks if not counted.mark.uncommitted]
        apart = len(marks) - len(committed)
        if what == "prompt":
            view.user_prompts, view.uncommitted.user_prompts = len(committed), apart
        elif what == "answer":
            view.assistant_messages, view.uncommitted.assistant_messages = len(committed), apart
        elif what == "call":
            view.tool_calls = len(committed)
        elif what == "result":
            view.tool_results = len(committed)
        else:
            view.compactions = len(committed)
        if what in ("prompt", "answer"):
            for mark in committed:
                row = view.by_session.get(homes.get(mark.session or "", ""))
                if row is None:
                    continue
                agent = view.by_agent[row.agent]
                if what == "prompt":
                    row.prompts += 1
                    agent.user_prompts += 1
                else:
                    row.answers += 1
                    agent.assistant_messages += 1


def _times(view: Overview, ledger: Ledger, homes: dict[str, str]) -> None:
    """First and last of everything: the earliest and latest time a record says, whatever the order of lines."""
    spans: dict[str, tuple[datetime, datetime]] = {}
    for key, session in ledger.sessions.items():
        first, last = session.facts.first, session.facts.last
        if first is not None and last is not None:
            known = spans.get(homes[key])
            spans[homes[key]] = (min(first, known[0]), max(last, known[1])) if known else (first, last)
    lasts: dict[str, datetime] = {}
    for key, (first, last) in spans.items():
        row = view.by_session[key]
        row.first, row.last = iso(first), iso(last)
        lasts[row.agent] = max(last, lasts.get(row.agent, last))
    for agent, last in lasts.items():
        view.by_agent[agent].last = iso(last)
    if spans:
        view.first = iso(min(first for first, _ in spans.values()))
        view.last = iso(max(last for _, last in spans.values()))


def iso(at: datetime) -> str:
    """UTC as it is printed: whole seconds without a fraction, else milliseconds or microseconds, and Z."""
    spec = "seconds" if not at.microsecond else "milliseconds" if not at.microsecond % 1000 else "microseconds"
    return at.replace(tzinfo=None).isoformat(timespec=spec) + "Z"


def as_json(view: Overview) -> dict[str, Any]:
    """Plain values for the printer."""
    plain: dict[str, Any] = msgspec.to_builtins(view)
    return plain
