"""`turnlog check`: the proof. What was read, byte for byte, what was not, and how the records hold together."""

from __future__ import annotations

import click

from ..contract import ReadOptions
from ..formats import FORMATS
from ..ledger.check import check, files_below, files_found
from ..ledger.overview import ProblemRow
from ..ledger.proof import Checked
from ..render.proof import proof_lines
from .group import NOTHING_MATCHED, NOTHING_READ, PARTIAL
from .output import note, on_terminal, print_json, tell, width_of
from .progress import Progress
from .reading import reading_options
from .where import found, json_option, where_options, where_word

_VERDICTS = {"complete": 0, "not complete": PARTIAL, "nothing read": NOTHING_READ}


@click.command("check")
@click.argument("path", nargs=-1, type=click.Path(readable=False))
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Whose files they are; without PATH only its sessions.")
@click.option("--all", "everything", is_flag=True, help="List every file, every line and every note.")
@reading_options(without=("stop_at", "include", "faults"))
@where_options
@json_option
def command(
    path: tuple[str, ...],
    agent: str | None,
    everything: bool,
    options: ReadOptions,
    home: str | None,
    root: tuple[str, ...],
    as_json: bool,
) -> int:
    """The proof of each PATH (files or folders), or of every session found: where every byte went, lines that could not
    be read, unknown types, keys and ids that stand twice, parents that are missing; the verdict last.

    Exit 0: complete. 3: not complete. 4: nothing could be read. 1: there is no session file.
    """
    files, problems = _files(path, agent, home, root)
    if not files and all(problem.note for problem in problems):
        where = ", ".join(path) if path else where_word(home, root)
        note(f"turnlog: no session file in {where}")
        return NOTHING_MATCHED
    total, done = sum(file.size for file in files), 0

    def progress(size: int) -> None:
        nonlocal done
        done += size
        told_of(done, total)

    with Progress("checking") as told_of:
        told = check(files, problems, options, progress=progress)
    if as_json:
        print_json(told)
    else:
        tell(proof_lines(told, width=width_of() if on_terminal() else None, everything=everything))
    return _VERDICTS[told.verdict]


def _files(
    path: tuple[str, ...], agent: str | None, home: str | None, root: tuple[str, ...]
) -> tuple[list[Checked], list[ProblemRow]]:
    if path:
        return files_below(list(path), agent)
    _, discovery = found(home, root)
    files = files_found([file for file in discovery.files if agent in (None, file.agent)])
    problems = [p for p in discovery.problems if agent in (None, p.agent)]
    return files, [ProblemRow(p.path, p.kind, p.said, p.note) for p in problems]
