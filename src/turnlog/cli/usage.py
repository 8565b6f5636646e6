"""`turnlog usage`: tokens and costs by day, week, month, session, block, model, project or agent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..formats import FORMATS
from ..ledger.kept import Kept
from ..ledger.prices import Mode, Pricer
from ..ledger.prices.overrides import default_file, read_overrides
from ..ledger.prices.store import load_table, table_files
from ..ledger.report import WEEKDAYS
from ..ledger.usage import REPORTS, usage_report
from ..ledger.zones import zone
from ..render.usage import usage_lines
from .group import PARTIAL
from .output import print_json, tell, width_of
from .progress import Progress
from .times import moment_of
from .where import found, nothing_found, prices_option, stands_on, strict_option, where_options, where_word

F = TypeVar("F", bound=Callable[..., Any])

BLOCKS_ALONE = ("active", "recent", "token_limit", "session_length")
"""Options that mean something for blocks alone."""


def _report_options(command: F) -> F:
    for option in reversed((
        click.option("-j", "--json", "as_json", is_flag=True, help="Print JSON with a schema name."),
        click.option(
            "-s", "--since", metavar="TIME",
            help="From that day (20261101 or 2026-11-01) or moment (2026-11-01T12:00) on.",
        ),
        click.option("-u", "--until", metavar="TIME", help="Up to that day, itself included, or up to that moment."),
        click.option(
            "-z", "--timezone", metavar="ZONE",
            help="The zone days are told in, such as Europe/Berlin; else this machine's.",
        ),
        click.option("-O", "--offline", is_flag=True, help="As always: nothing here uses the network."),
        click.option(
            "-m", "--mode", type=click.Choice(["auto", "calculate", "display"]), default="auto", show_default=True,
            help="Costs as the agent stored them, else by the tokens (auto); always by the tokens; only as stored.",
        ),
        click.option("-b", "--breakdown", is_flag=True, help="A line for each model below each row."),
        click.option(
            "-o", "--order", type=click.Choice(["asc", "desc"]),
            help="Oldest or newest first; of models, projects and agents the smallest or the greatest.",
        ),
        click.option(
            "-p", "--project", metavar="PATH|TEXT", help="Only calls made in that folder or below, or in one with TEXT in it."
        ),
        click.option("--agent", type=click.Choice(list(FORMATS)), help="Only this agent's calls."),
        click.option("-i", "--instances", is_flag=True, help="Days by project (daily)."),
        click.option("--no-cost", is_flag=True, help="No costs: nothing is priced, and no key or column of costs is there."),
        click.option("--compact", is_flag=True, help="Fewer columns."),
        click.option(
            "-w", "--start-of-week", type=click.Choice(WEEKDAYS), default="monday", show_default=True,
            help="The day a week begins with (weekly).",
        ),
        click.option("-a", "--active", is_flag=True, help="Only the block that is under way (blocks)."),
        click.option("-r", "--recent", is_flag=True, help="Only blocks of the last three days (blocks)."),
        click.option(
            "-t", "--token-limit", metavar="N|max",
            help="Compare the active block with so many tokens, or with the greatest block before it (blocks).",
        ),
        click.option("-n", "--session-length", type=float, metavar="HOURS", help="Length of a block, else 5 (blocks)."),
    )):  # fmt: skip
        command = option(command)
    return command


@click.command("usage")
@click.argument("report", type=click.Choice(REPORTS), default="daily", metavar=f"[{'|'.join(REPORTS)}]")
@_report_options
@prices_option
@where_options
@strict_option
def command(
    report: str,
    as_json: bool,
    since: str | None,
    until: str | None,
    timezone: str | None,
    offline: bool,  # noqa: ARG001  what it asks for is always so
    breakdown: bool,
    compact: bool,
    no_cost: bool,
    start_of_week: str,
    mode: Mode,
    prices: str | None,
    home: str | None,
    root: tuple[str, ...],
    strict: bool,
    **asked: Any,
) -> int:
    """Tokens and costs of every call, each counted once, by day (or what REPORT names). Without REPORT: daily.

    A call is priced alone, at its own date. A model without a price is unpriced, never 0, and the sums above it are "at
    least". All reports have the same total.

    Exit 1: no call fits.
    """
    _only_of_its_report(report, asked)
    place, _ = zone(timezone)
    roots, discovery = found(home, root)
    own = Path(prices) if prices is not None else default_file()
    pricer = None if no_cost else Pricer(load_table(), read_overrides(None if prices is None else own), mode)
    if report != "blocks":  # they tell of now
        stands_on(roots, discovery, () if pricer is None else (str(own), *table_files()))
    with Progress("reading") as told:
        view = usage_report(
            roots,
            report,  # type: ignore[arg-type]
            timezone=timezone,
            since=None if since is None else moment_of(since, place, "--since"),
            until=None if until is None else moment_of(until, place, "--until", end=True),
            costs=pricer is not None,
            pricer=pricer,
            start_of_week=start_of_week,
            progress=told,
            kept=Kept(),
            discovery=discovery,
            **asked,
        )
    rows = view.projects if asked["instances"] else getattr(view, report)
    if as_json:
        print_json(view)
    elif rows:
        tell(usage_lines(view, place, width=width_of(), breakdown=breakdown, compact=compact))
    if not rows:
        return nothing_found(view, where_word(home, root), "turnlog: no call fits", quiet=as_json)
    return PARTIAL if strict and not view.complete else 0


def _only_of_its_report(report: str, asked: dict[str, Any]) -> None:
    """Options of the blocks with another report are a mistake; those not given take their usual values."""
    for name in BLOCKS_ALONE:
        if asked[name] not in (None, False) and report != "blocks":
            raise click.UsageError(f"--{name.replace('_', '-')}: expected the report blocks, found {report}")
    if asked["instances"] and report != "daily":
        raise click.UsageError(f"--instances: expected the report daily, found {report}")
    limit = asked["token_limit"]
    if limit not in (None, "max"):
        if not limit.isdecimal() or not int(limit):
            raise click.UsageError(f"--token-limit: expected a number of tokens or max, found {limit!r}")
        asked["token_limit"] = int(limit)
    if asked["session_length"] is None:
        del asked["session_length"]
