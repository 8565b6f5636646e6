"""`turnlog titles`: session titles from the agents' own indexes, and from nowhere else."""

from __future__ import annotations

import click

from ..formats import FORMATS
from ..ledger.beside import TitleList, session_ids, titles
from ..render.text import table
from .group import NOTHING_MATCHED, NOTHING_READ, PARTIAL
from .output import note, one_line, print_json, tell
from .where import found, json_option, strict_option, where_options


@click.command("titles")
@click.argument("session", metavar="[ID]...", nargs=-1)
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Only from this agent's indexes.")
@where_options
@strict_option
@json_option
def command(
    session: tuple[str, ...], agent: str | None, home: str | None, root: tuple[str, ...], strict: bool, as_json: bool
) -> int:
    """The titles agents keep in their own indexes for each session ID (or the beginning of one); for every session found
    where none is named. No title is ever made from what somebody typed: `list` does that.
    """
    roots, discovery = found(home, root)
    known = session_ids(discovery.files)
    ids = known if not session else {full for word in session for full in _meant(word, known)}
    told = titles(roots, ids, agent=agent)
    if as_json:
        print_json(told)
    else:
        _print(told)
    if not told.titles:
        if any(not problem.note for problem in told.problems):
            return NOTHING_READ
        if not as_json:
            note("turnlog: no agent's index has a title for " + ("these sessions" if session else "any session"))
        return NOTHING_MATCHED
    return PARTIAL if strict and not told.complete else 0


def _meant(word: str, known: set[str]) -> set[str]:
    """A whole id, whether its session is here or not, or the ids that begin with the word."""
    return {word} | {full for full in known if full.startswith(word)}


def _print(told: TitleList) -> None:
    rows = [
        ((one_line(row.session_id), "quiet"), (FORMATS[row.agent].title, "agent"), (one_line(row.title), "plain"))
        for row in told.titles
    ]
    tell(table(rows, "lll"))
    for problem in told.problems:
        if not problem.note:
            note(f"turnlog: {problem.path}: {problem.said}")
