"""`turnlog context`: what the model was shown at one entry of a session."""

from __future__ import annotations

import click

from ..formats import FORMATS
from ..ledger.context import session_context
from ..render.context import context_lines
from .group import PARTIAL
from .naming import path_named
from .output import on_terminal, print_json, tell, width_of
from .where import json_option, roots_of, strict_option, where_options


@click.command("context")
@click.argument("session", metavar="SESSION|FILE")
@click.option(
    "--at",
    metavar="ENTRY",
    help="An entry: its id, the beginning of it, or a line of the file; else where the talk ended.",
)
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Whose file it is, where its records do not tell.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Print only the last N messages; JSON has all.")
@where_options
@strict_option
@json_option
def command(
    session: str,
    at: str | None,
    agent: str | None,
    limit: int | None,
    home: str | None,
    root: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> int:
    """What the model was shown at an entry: its messages from top to bottom, with the line each stands on, and what was
    left out and why: compacted, edited away, rolled back. SESSION is an id, the beginning of one, or @latest.

    Exit 1: no such session or entry, or several. 3: with --strict, it could not be read whole. 4: nothing of it could be
    read.
    """
    roots = roots_of(home, root)
    shown = session_context(path_named(session, roots), roots, at=at, agent=agent)
    if as_json:
        print_json(shown)
    else:
        width = width_of() if on_terminal() else None
        tell(context_lines(shown, FORMATS[shown.agent].title, width=width, limit=limit))
    return PARTIAL if strict and not shown.complete else 0
