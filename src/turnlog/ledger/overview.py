"""What is on this machine: one answer over all agents, with its doubts."""

from __future__ import annotations

from datetime import datetime, tzinfo

from ..discover import Discovery
from .identity import Ledger, merge
from .rows import SCHEMA, AgentRow, FaultRow, Overview, ProblemRow, SessionRow, Tokens, Uncommitted, iso
from .scan import FileScan, reconcile

UNKNOWN = "unknown"


def overview(
    discovery: Discovery, scans: list[FileScan], zone: tzinfo, name: str, titles: dict[str, str] | None = None,
    agents: dict[str, str] | None = None,
) -> Overview:  # fmt: skip
    """The overview of scanned files. titles: names from the agents' indexes, by session; they stand where the files name
    nothing. agents: printed names by agent."""
    view = Overview(zone=name)
    read_in(view, discovery, scans)
    ledger = merge([scan.work for scan in scans if scan.work is not None], reconcile)
    homes = homes_of(ledger)
    _rows(view, ledger, homes, titles or {}, agents or {}, scans)
    _spent(view, ledger, homes, zone)
    _said(view, ledger, homes)
    _times(view, ledger, homes)
    return view


def read_in(view: Overview, discovery: Discovery, scans: list[FileScan]) -> None:
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


def homes_of(ledger: Ledger) -> dict[str, str]:
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


__all__ = [
    "SCHEMA",
    "AgentRow",
    "FaultRow",
    "Overview",
    "ProblemRow",
    "SessionRow",
    "Tokens",
    "Uncommitted",
    "day_of",
    "homes_of",
    "iso",
    "overview",
    "read_in",
]
