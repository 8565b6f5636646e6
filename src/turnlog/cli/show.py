"""`turnlog show`: one session as a readable transcript."""

from __future__ import annotations

import click

from ..formats import FORMATS
from ..ledger.shown import show
from ..ledger.zones import zone
from ..render.transcript import Style, transcript_lines
from .group import PARTIAL
from .naming import path_named
from .output import on_terminal, print_json, tell, width_of
from .where import json_option, roots_of, strict_option, timezone_option, where_options


@click.command("show")
@click.argument("session", metavar="SESSION|FILE")
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Whose file it is, where its records do not tell.")
@click.option("--thinking/--no-thinking", default=None, help="All that the model thought, or nothing of it.")
@click.option(
    "--full", is_flag=True, help="Cut nothing: whole results, arguments, thinking, and every note of the client."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the last N turns.")
@timezone_option
@where_options
@strict_option
@json_option
def command(
    session: str,
    agent: str | None,
    thinking: bool | None,
    full: bool,
    limit: int | None,
    timezone: str | None,
    home: str | None,
    root: tuple[str, ...],
    strict: bool,
    as_json: bool,
) -> int:
    """A session as a transcript: what was asked, what was answered, each tool call with its result, and in its place
    whatever could not be read. SESSION is an id, the beginning of one, or @latest.

    Exit 1: no such session, or several. 3: with --strict, it could not be read whole. 4: nothing of it could be read.
    """
    place, name = zone(timezone)
    roots = roots_of(home, root)
    shown = show(path_named(session, roots), roots, agent=agent, limit=limit)
    if as_json:
        print_json(shown)
    else:
        width = width_of() if on_terminal() else None
        title = FORMATS[shown.session.agent].title
        style = Style(zone=place, zone_name=name, width=width, thinking=thinking, full=full, agent=title)
        tell(transcript_lines(shown, style))
    return PARTIAL if strict and not shown.complete else 0
