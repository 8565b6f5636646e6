"""`turnlog history`: the prompts agents keep in a history of their own, apart from the sessions."""

from __future__ import annotations

from datetime import datetime, tzinfo

import click

from ..formats import FORMATS
from ..ledger.beside import History, PromptRow, history
from ..ledger.zones import zone
from ..render.text import counted, plain, table
from .group import NOTHING_MATCHED, NOTHING_READ, PARTIAL
from .output import note, on_terminal, one_line, print_json, tell, width_of
from .times import time_options
from .where import json_option, roots_of, strict_option, where_options


@click.command("history")
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Only what was typed to this agent.")
@time_options
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the newest N.")
@where_options
@strict_option
@json_option
def command(
    agent: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
    timezone: str | None,
    home: str | None,
    root: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> int:
    """Prompts typed into the agents, from their own history files: oldest first, each with where it stands.

    A row is one prompt, not a session: its session may be long deleted.
    """
    told = history(roots_of(home, root), agent=agent, since=since, until=until, limit=limit)
    if as_json:
        print_json(told)
    else:
        place, name = zone(timezone)
        _print(told, place, name)
    if not told.prompts:
        failed = any(not problem.note for problem in told.problems)
        if failed and not told.faults:
            return NOTHING_READ
        if not as_json:
            note("turnlog: no prompt in any agent's history" + (" fits" if told.files else ""))
        return NOTHING_MATCHED
    return PARTIAL if strict and not told.complete else 0


def _print(told: History, place: tzinfo, zone_name: str) -> None:
    rows = [
        (
            (_when(row, place), "quiet"),
            (FORMATS[row.agent].title, "agent"),
            (one_line(row.session_id or "-")[:8], "quiet"),
            (row.text or "", "plain"),
        )
        for row in told.prompts
    ]
    width = width_of() if on_terminal() else PIPED
    room = max(20, width - 32 - max((len(row[1][0]) for row in rows), default=0))
    tell(table([(*row[:3], (one_line(row[3][0], room), "plain")) for row in rows], "llll"))
    if rows:
        hidden = told.matched - len(rows)
        more = f", {counted(hidden, 'older one')} left out" if hidden else ""
        tell([plain(f"{counted(len(rows), 'prompt')}{more} ({zone_name})", "quiet")])
    for fault in told.faults:
        note(f"turnlog: {fault.path}:{fault.line} (bytes {fault.start}-{fault.end}): {fault.kind}")
    for problem in told.problems:
        if not problem.note:
            note(f"turnlog: {problem.path}: {problem.said}")


PIPED = 160
"""Columns where nobody looks on: longer prompts are cut there too; --json has them whole."""


def _when(row: PromptRow, place: tzinfo) -> str:
    try:
        return f"{datetime.fromisoformat(row.at or '').astimezone(place):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # no time, or one at the end of the calendar
        return f"{'no time':<16}"
