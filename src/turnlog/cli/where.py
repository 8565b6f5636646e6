"""Where to look: the options every command shares, and the sessions found there."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

from ..discover import Discovery, Roots, find_sessions, roots_from_env, roots_from_home
from ..formats import FORMATS
from ..ledger.rows import ProblemRow
from ..titles import index_files
from .again import ANSWER
from .group import NOTHING_MATCHED, NOTHING_READ
from .output import note

F = TypeVar("F", bound=Callable[..., Any])


def where_options(command: F) -> F:
    """`--home` and `--root`, for every command that looks for sessions."""
    command = click.option(
        "--root", "root", multiple=True, metavar="AGENT=PATH",
        help=f"An agent's own root instead of its usual ones; again for more. Agents: {', '.join(FORMATS)}.",
    )(command)  # fmt: skip
    return click.option(
        "--home", type=click.Path(file_okay=False), metavar="DIR",
        help="Take DIR as the home; the agents' environment variables are ignored.",
    )(command)  # fmt: skip


def roots_of(home: str | None, root: tuple[str, ...]) -> Roots:
    """The roots the options ask for. Raises click.UsageError for a word that is no AGENT=PATH."""
    roots = roots_from_home(Path(home)) if home is not None else roots_from_env()
    given: dict[str, list[str]] = {}
    for word in root:
        agent, sign, path = word.partition("=")
        if not sign or agent not in FORMATS or not path:
            raise click.UsageError(f"--root: expected AGENT=PATH with an agent of {', '.join(FORMATS)}, found {word!r}")
        given.setdefault(agent, []).append(path)
    for agent, paths in given.items():
        roots = roots.replaced(agent, [Path(path) for path in paths])
    return roots


def found(home: str | None, root: tuple[str, ...]) -> tuple[Roots, Discovery]:
    """What discovery finds there."""
    roots = roots_of(home, root)
    return roots, find_sessions(roots)


def prices_option(command: F) -> F:
    """`--prices`, for every command that prices calls."""
    return click.option(
        "--prices", "prices", type=click.Path(dir_okay=False), metavar="FILE",
        help="Your own prices, which come first; else prices.toml in the configuration folder.",
    )(command)  # fmt: skip


def stands_on(roots: Roots, discovery: Discovery, prices: Iterable[str] = ()) -> None:
    """Say what the answer is about to be made from: it may be given again until some of it changes. prices: the files
    that calls are priced with."""
    files = [*prices] + (
        [file.path for file in discovery.files] + [problem.path for problem in discovery.problems] + index_files(roots)
    )
    # Libraries that are put in beside us, or taken away, change this folder.
    folders = [*discovery.folders, sysconfig.get_path("purelib")]
    ANSWER.made_from(files, folders, (name for format in FORMATS.values() for name, _ in format.root.env))


def where_word(home: str | None, root: tuple[str, ...]) -> str:
    """What was looked at, in a word: `~`, the other home, or the given roots."""
    if root:
        return ", ".join(word.partition("=")[2] for word in root) if home is None else f"{home} and given roots"
    return "~" if home is None else home


class Reading(Protocol):
    """What is asked here of an answer about many files."""

    problems: list[ProblemRow]
    bytes: int
    files: int


def nothing_found(view: Reading, where: str, none_fits: str, *, quiet: bool) -> int:
    """Say why an answer is empty, and return the exit code: nothing could be read, nothing is there, or nothing fits."""
    wrong = [problem for problem in view.problems if not problem.note]
    if wrong and not view.bytes:
        for problem in wrong:
            note(f"turnlog: {problem.path}: {problem.said}")
        return NOTHING_READ
    if not quiet:
        note(none_fits if view.files else f"turnlog: no session of any agent below {where}: turnlog demo shows some")
    return NOTHING_MATCHED


timezone_option = click.option(
    "--timezone", metavar="ZONE", help="The zone days are told in, such as Europe/Berlin; else this machine's."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON with a schema name.")
strict_option = click.option("--strict", is_flag=True, help="Exit 3 when something could not be read whole.")
