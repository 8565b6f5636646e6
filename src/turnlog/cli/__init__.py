"""The command: the library's twin. Data on stdout, everything else on stderr, honest exit codes.

Each command lives in a module of its own that is imported only when it is asked for, so `--version` and `--help` start
fast. Exit codes: 0 ok, 1 nothing matched, 2 wrong usage, 3 damaged or partial (`check` and `walk` always, others with
`--strict`; `answer` and `run`: not to be trusted), 4 nothing at all could be read, 127 the program of `run` cannot be
started.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .._version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "overview": ("overview", "What is on this machine: sessions, tokens and days of every agent."),
    "list": ("list", "Sessions, newest first."),
    "usage": ("usage", "Tokens and costs by day, week, month, session, block, model, project or agent."),
    "explain": ("explain", "The calls behind a number of `usage`, each with its place, and what was left out."),
    "show": ("show", "One session as a readable transcript."),
    "tree": ("tree", "The branches of one session, and the leaf where it goes on."),
    "context": ("context", "What the model was shown at one entry of a session."),
    "events": ("events", "The typed events of a file, one JSON object a line."),
    "check": ("check", "The proof: what was read, byte for byte, and what was not."),
    "raw": ("raw", "The exact bytes of a file or a part of it."),
    "walk": ("walk", "What an agent's documented reader program prints of a session file."),
    "history": ("history", "Prompts typed into the agents, from their history files."),
    "titles": ("titles", "Session titles from the agents' own indexes."),
    "prices": ("prices", "The prices calls are priced with, and their update."),
    "answer": ("answer", "The final answer of a run from what the agent printed, and whether to trust it."),
    "run": ("run", "An agent's program run to its end: its output kept, its answer judged."),
    "demo": ("demo", "Every view over a small home made of synthetic sessions."),
}
"""Every command: the module that holds it (its `command`) and the line it has in the help."""


def main() -> None:
    """The entry point of the `turnlog` command."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # answered without importing anything
        print(f"turnlog {__version__}")
        return
    with loading():
        from .again import answered

        code = answered(sys.argv[1:])
        if code is not None:
            sys.exit(code)
        from .group import run

    sys.exit(run())


@contextmanager
def loading() -> Iterator[None]:
    """While modules are imported, Ctrl-C ends the process at once and silently: raised inside an import it may come out
    as any other exception."""
    import signal

    plain = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if plain and before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        if plain and before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
