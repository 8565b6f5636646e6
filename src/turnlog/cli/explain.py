"""`turnlog explain`: the calls behind a number, each with its place, and what was left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..formats import FORMATS
from ..ledger.explain import explain
from ..ledger.kept import Kept
from ..ledger.prices import Mode, Pricer
from ..ledger.prices.overrides import read_overrides
from ..ledger.zones import zone
from ..render.explain import explain_lines
from .group import PARTIAL
from .output import on_terminal, print_json, tell, width_of
from .progress import Progress
from .times import moment_of
from .where import nothing_found, prices_option, roots_of, strict_option, where_options, where_word

ROWS = 50
"""Rows of each list on a terminal."""


@click.command("explain")
@click.option(
    "--day", metavar="DAY", help="The calls of that day (20261130 or 2026-11-30), or `unknown`: without a time."
)
@click.option("--month", metavar="MONTH", help="The calls of that month (202611 or 2026-11).")
@click.option("--model", metavar="NAME", help="The calls of that model, by its name in the reports.")
@click.option(
    "--session", metavar="ID", help="The calls of that session and its subagents: its id, or the beginning of it."
)
@click.option(
    "-p", "--project", metavar="PATH|TEXT", help="Only calls made in that folder or below, or in one with TEXT in it."
)
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Only this agent's calls.")
@click.option("-s", "--since", metavar="TIME", help="From that day or moment (2026-11-01T12:00) on.")
@click.option("-u", "--until", metavar="TIME", help="Up to that day, itself included, or up to that moment.")
@click.option(
    "-z", "--timezone", metavar="ZONE",
    help="The zone days are told in, such as Europe/Berlin; else this machine's.",
)  # fmt: skip
@click.option(
    "-m", "--mode", type=click.Choice(["auto", "calculate", "display"]), default="auto", show_default=True,
    help="Costs as the agent stored them, else by the tokens (auto); always by the tokens; only as stored.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Rows of each list; on a terminal 50, else all.")
@click.option("-j", "--json", "as_json", is_flag=True, help="Print JSON with a schema name.")
@prices_option
@where_options
@strict_option
def command(
    since: str | None,
    until: str | None,
    timezone: str | None,
    mode: Mode,
    limit: int | None,
    as_json: bool,
    prices: str | None,
    home: str | None,
    root: tuple[str, ...],
    strict: bool,
    **cell: Any,
) -> int:
    """The calls behind a cell of `turnlog usage`: file, line, bytes, tokens, price and its source of each; then every
    usage record that is not counted, with the rule and the record that stands for it. The sums are those of the cell.

    Exit 1: nothing fits.
    """
    place, _ = zone(timezone)
    if limit is None and not as_json and on_terminal():
        limit = ROWS
    with Progress("reading") as told:
        view = explain(
            roots_of(home, root),
            since=None if since is None else moment_of(since, place, "--since"),
            until=None if until is None else moment_of(until, place, "--until", end=True),
            timezone=timezone,
            pricer=Pricer(overrides=read_overrides(None if prices is None else Path(prices)), mode=mode),
            limit=limit,
            progress=told,
            kept=Kept(),
            **cell,
        )
    nothing = not view.totals.calls and not view.left_out
    if as_json:
        print_json(view)
    elif not nothing:
        tell(explain_lines(view, place, width=width_of()))
    if nothing:
        return nothing_found(
            view, where_word(home, root), "turnlog: no call fits: turnlog usage shows what there is", quiet=as_json
        )
    return PARTIAL if strict and not view.complete else 0
