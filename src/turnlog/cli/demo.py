"""`turnlog demo`: every view over a small home made of synthetic sessions, so that a newcomer sees what there is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta, tzinfo

import click

from ..formats import FORMATS
from ..ledger.demo import Demo, demo, demo_home
from ..ledger.sessions import unique_prefixes
from ..ledger.zones import zone
from ..render.overview import overview_lines
from ..render.proof import proof_lines
from ..render.sessions import session_lines
from ..render.text import Line, of_iso, plain
from ..render.transcript import Style, transcript_lines
from .output import print_json, tell, width_of
from .where import json_option, timezone_option


@click.command("demo")
@click.option("--path", "only_path", is_flag=True, help="Print where the demo home is, for --home, and nothing else.")
@timezone_option
@json_option
def command(only_path: bool, timezone: str | None, as_json: bool) -> int:
    """Every view over a small home made of synthetic sessions of all agents: nothing of it is yours, nothing is written."""
    home = demo_home()
    if only_path:
        click.echo(home)
        return 0
    found = demo(home, timezone)
    if as_json:
        print_json(found)
    else:
        place, name = zone(timezone)
        tell(_lines(found, place, name, width_of()))
    return 0


def _lines(found: Demo, place: tzinfo, name: str, width: int) -> Iterator[Line]:
    titles = {agent: format.title for agent, format in FORMATS.items()}
    last = of_iso(found.overview.last)
    assert last is not None
    now = last + timedelta(minutes=20)  # the demo has its own today
    ids = unique_prefixes([line.session_id for line in found.list.sessions])
    shown = ids.get(found.shown.session.session_id or "", "")
    yield plain(
        "A small home of synthetic sessions, to show what turnlog says. On your own home, leave --home DEMO out."
    )
    yield from _command("What is there:", "turnlog --home DEMO")
    yield from overview_lines(found.overview, place, now, where="DEMO", width=width)
    yield from _command("Its sessions, newest first:", "turnlog list --counts --home DEMO")
    yield from session_lines(found.list, titles, place, name, now, width=width)
    yield from _command("The last turn of one:", f"turnlog show {shown} --limit 1 --home DEMO")
    title = titles[found.shown.session.agent]
    yield from transcript_lines(found.shown, Style(zone=place, zone_name=name, width=width, agent=title))
    yield from _command("The proof of a damaged file, byte for byte:", "turnlog check FILE")
    yield from proof_lines(found.checked, width=width)
    yield []
    yield plain("DEMO stands for the folder that this prints:")
    yield _typed("turnlog demo --path")
    yield plain("Try it:")
    yield _typed('turnlog --home "$(turnlog demo --path)"')
    yield plain("and then your own home:")
    yield _typed("turnlog")


def _command(sentence: str, typed: str) -> Iterator[Line]:
    yield []
    yield plain(sentence, "strong")
    yield _typed(typed)
    yield []


def _typed(words: str) -> Line:
    return [("  $ ", "quiet"), (words, "good")]
