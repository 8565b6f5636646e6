"""`turnlog run`: an agent's program run to its end, its exact output kept, and the exit code of its answer."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys

import click

from ..formats import STREAMS
from ..live.forwarding import Forwarding
from ..live.process import ProgramNotStarted
from ..live.run import Ran, Running
from .answer import print_text
from .group import NOT_STARTED, PARTIAL
from .output import note, one_line, print_json
from .pulse import Pulse
from .where import json_option

_LONGEST = 500
_STEP = 0.1  # seconds between two looks at stderr


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, metavar="-- PROGRAM [ARGUMENT]...", type=click.UNPROCESSED)
@click.option(
    "--log",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Keep the exact bytes of its stdout in this new file.",
)
@click.option(
    "--stderr",
    "stderr_log",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Keep its stderr in this new file, and do not show it.",
)
@click.option("--force", is_flag=True, help="Replace FILEs that are there already.")
@click.option("--no-stdin", is_flag=True, help="Give it an empty standard input, whatever ours is.")
@click.option(
    "--agent", type=click.Choice(list(STREAMS)), help="Whose stream it prints; told from its first records otherwise."
)
@click.option("--partial", is_flag=True, help="Print the text of an unfinished or failed answer too.")
@json_option
def command(
    words: tuple[str, ...],
    log: str | None,
    stderr_log: str | None,
    force: bool,
    no_stdin: bool,
    agent: str | None,
    partial: bool,
    as_json: bool,
) -> int:
    """Run an agent's PROGRAM (pi --mode json, claude -p --output-format stream-json, codex exec --json), without a shell,
    and print its final answer.

    Exit 0: the answer may be trusted. 3: it may not, and stderr says why and how the program ended. 127: it cannot be
    started. Signals are passed on; the third that asks to stop kills.
    """
    stdin = subprocess.DEVNULL if no_stdin or sys.stdin is None or sys.stdin.isatty() else None
    with Forwarding() as forwarding:
        try:
            running = Running(
                words,
                agent=agent,
                log=log,
                stderr_log=stderr_log,
                force=force,
                stdin=stdin,
                partial=partial,
                quiet=not sys.stderr.isatty(),
            )
        except ProgramNotStarted as error:
            note(f"turnlog: {error}")
            return NOT_STARTED
        with running:
            forwarding.aim(running.process)
            _watch(running, shows_stderr=stderr_log is None)
            running.stopped_by = forwarding.stopped_by
            return _tell(running.finish(), as_json=as_json)


def _watch(running: Running, *, shows_stderr: bool) -> None:
    """Until the program has ended: its progress where a person looks on, and its stderr."""
    with Pulse(running) as pulse:
        while True:
            over = running.over
            pulse.saw(running.step(_STEP))
            while shows_stderr and (said := running.stderr()):
                pulse.past(said)
            if over:
                return
            pulse.beat()


def _tell(ran: Ran, *, as_json: bool) -> int:
    """Print it. Whoever has gone away meanwhile, the exit code is the verdict's."""
    try:
        if as_json:
            print_json(ran)
        elif ran.text is not None:
            print_text(ran.text, ok=ran.ok)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if ran.ok:
        return 0
    with contextlib.suppress(OSError):
        note(one_line(f"turnlog: {ran.program}: not to be trusted: {ran.reason}", _LONGEST))
    return PARTIAL
