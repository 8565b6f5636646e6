"""`turnlog answer`: thousands of printed lines in, the answer out, and an exit code that can be trusted."""

from __future__ import annotations

import sys

import click

from ..formats import STREAMS
from ..jsontext import clean
from ..live.answer import answer
from .group import PARTIAL
from .output import note, on_terminal, one_line, print_json, safe, write
from .where import json_option


@click.command("answer")
@click.argument("log", required=False, type=click.Path(readable=False, allow_dash=True))
@click.option("--agent", type=click.Choice(STREAMS), help="Whose stream it is; told from its first records otherwise.")
@click.option("--run", type=click.IntRange(min=1), metavar="N", help="The Nth run of the stream; the last otherwise.")
@click.option("--partial", is_flag=True, help="Print the text of an unfinished or failed answer too.")
@json_option
def command(log: str | None, agent: str | None, run: int | None, partial: bool, as_json: bool) -> int:
    """The final answer of a run, from the JSON lines the agent printed (LOG, or standard input): its text and nothing
    else.

    Exit 0: the run settled and its last answer ended by itself. 3: it may not be trusted, and stderr says why; the text
    is printed only with --partial. 4: this is no agent's stream. 1: there is no run N.
    """
    named = log is not None and log != "-"
    if named:
        found = answer(log, agent=agent, run=run, partial=partial)  # type: ignore[arg-type]  # named: not None
    else:
        found = answer(sys.stdin.buffer, agent=agent, run=run, partial=partial, name="<stdin>")
    if as_json:
        print_json(found)
    elif found.text is not None:
        print_text(found.text, ok=found.ok)
    if found.ok:
        return 0
    where = log if named else "<stdin>"
    note(one_line(f"turnlog: {where}: not to be trusted ({found.verdict}): {found.reason}", _LONGEST))
    return PARTIAL


_LONGEST = 500
"""Columns of the reason: a provider may answer a failed call with a page of text."""


def print_text(text: str, *, ok: bool) -> None:
    """An answer, exact where a program reads it and safe where a person does, with a line feed at its end; nothing for an
    empty one that is not to be trusted."""
    text = safe(text) if on_terminal() else clean(text)
    if text or ok:
        write(text.encode() + (b"" if text.endswith("\n") else b"\n"))
