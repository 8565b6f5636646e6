"""`turnlog tree`: the branches of one session, and the leaf where it goes on."""

from __future__ import annotations

import click

from ..formats import FORMATS
from ..ledger.tree import session_tree
from ..render.tree import Style, tree_lines
from .group import PARTIAL
from .naming import path_named
from .output import on_terminal, print_json, tell, width_of
from .where import json_option, roots_of, strict_option, where_options


@click.command("tree")
@click.argument("session", metavar="SESSION|FILE")
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Whose file it is, where its records do not tell.")
@click.option("--full", is_flag=True, help="A line for every entry and every branch.")
@where_options
@strict_option
@json_option
def command(
    session: str, agent: str | None, full: bool, home: str | None, root: tuple[str, ...], strict: bool, as_json: bool
) -> int:
    """A session's records as the tree they form: branches, labels, compactions, and the leaf where it goes on. Of an agent
    whose records have no ids, the turns, and the sessions it comes from and those that come from it. SESSION is an id, the
    beginning of one, or @latest.

    Exit 1: no such session, or several. 3: with --strict, it could not be read whole, or its records do not hold together.
    4: nothing of it could be read.
    """
    roots = roots_of(home, root)
    found = session_tree(path_named(session, roots), roots, agent=agent)
    if as_json:
        print_json(found.view())
    else:
        style = Style(width=width_of() if on_terminal() else None, full=full, agent=FORMATS[found.agent].title)
        tell(tree_lines(found, style))
    holds = found.complete and all(problem.note for problem in found.tree.problems)
    return PARTIAL if strict and not holds else 0
