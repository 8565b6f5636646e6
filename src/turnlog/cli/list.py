"""`turnlog list`: the sessions on this machine, newest first. No file is read whole unless it is asked to count."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from ..formats import FORMATS
from ..ledger.sessions import SessionList, sessions
from ..ledger.zones import zone
from ..render.sessions import session_lines
from .group import NOTHING_MATCHED, NOTHING_READ, PARTIAL
from .output import note, on_terminal, print_json, tell, width_of
from .progress import Progress
from .times import time_options
from .where import json_option, roots_of, strict_option, where_options, where_word

ON_TERMINAL = 30
"""So many rows a person is shown who did not say how many: the newest must not scroll away."""


@click.command("list")
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Only this agent's sessions.")
@click.option(
    "--project", metavar="PATH|TEXT", help="Only what ran in that folder or below, or in one with TEXT in it."
)
@time_options
@click.option("--model", metavar="TEXT", help="Only sessions with a model that has TEXT in its name.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The newest N.")
@click.option(
    "--all", "everything", is_flag=True, help=f"All of them, on a terminal too (there: the newest {ON_TERMINAL})."
)
@click.option("--counts", is_flag=True, help="Read every file whole, to count prompts, answers and tokens.")
@where_options
@strict_option
@json_option
def command(
    agent: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    timezone: str | None,
    model: str | None,
    limit: int | None,
    everything: bool,
    counts: bool,
    home: str | None,
    root: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> int:
    """Sessions, newest first: id, last time, agent, folder, and the title or (without one) how it began.

    No file is read whole: a row says what both ends of its file tell, so models in the middle are not seen and nothing
    is counted. With --counts everything is read.

    Exit 1: no session fits.
    """
    shown = limit if limit is not None or everything or as_json or not on_terminal() else ON_TERMINAL
    with Progress("reading") as told:
        found = sessions(
            roots_of(home, root),
            counts=counts,
            agent=agent,
            project=project,
            model=model,
            since=since,
            until=until,
            limit=shown,
            progress=told,
        )
    if as_json:
        print_json(found)
    elif found.sessions:
        place, name = zone(timezone)
        titles = {name: format.title for name, format in FORMATS.items()}
        width = width_of() if on_terminal() else None
        tell(session_lines(found, titles, place, name, datetime.now(UTC), width=width))
    if not found.sessions:
        return _none(found, where_word(home, root), quiet=as_json)
    return PARTIAL if strict and not found.complete else 0


def _none(found: SessionList, where: str, *, quiet: bool) -> int:
    """No row: because there is none, because none fits, or because nothing could be read."""
    wrong = [problem for problem in found.problems if not problem.note]
    if not found.found and wrong:
        for problem in wrong:
            note(f"turnlog: {problem.path}: {problem.said}")
        return NOTHING_READ
    if not quiet:
        none = f"turnlog: no session of any agent below {where}: turnlog demo shows some"
        note(f"turnlog: none of {found.found} sessions fits" if found.found else none)
    return NOTHING_MATCHED
