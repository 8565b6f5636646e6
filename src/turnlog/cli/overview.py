"""`turnlog` and `turnlog overview`: what is on this machine."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from ..ledger.kept import Kept
from ..ledger.machine import survey
from ..ledger.overview import Overview
from ..ledger.zones import zone
from ..render.overview import empty_lines, overview_lines
from .group import NOTHING_READ, PARTIAL
from .output import print_json, tell, width_of
from .progress import Progress
from .where import json_option, roots_of, strict_option, timezone_option, where_options, where_word


@click.command("overview")
@timezone_option
@where_options
@strict_option
@json_option
def command(timezone: str | None, home: str | None, root: tuple[str, ...], strict: bool, as_json: bool) -> int:
    """What is on this machine: sessions, prompts, answers and tokens of every agent, by day and model, and what could
    not be read. Work that stands in several files counts once. Nothing is priced: a cost is only shown where the agent
    stored one.

    Exit 0, also where no session is found. 3: with --strict, something could not be read whole. 4: there are sessions
    and none could be read.
    """
    with Progress("reading") as told:
        view = survey(roots_of(home, root), timezone, progress=told, kept=Kept())
    if as_json:
        print_json(view)
    elif not view.files:
        tell(empty_lines(view, where_word(home, root)))
    else:
        place, _ = zone(timezone)
        tell(overview_lines(view, place, datetime.now(UTC), where=where_word(home, root), width=width_of()))
    return exit_code(view, strict=strict)


def exit_code(view: Overview, *, strict: bool) -> int:
    """What the command ends with. That there is no session is no failure: a newcomer has none."""
    wrong = any(not problem.note for problem in view.problems)
    if wrong and not view.records and not view.bytes:
        return NOTHING_READ
    return PARTIAL if strict and not view.complete else 0
