"""An answer that stands: printed again, without reading anything, until something it was made from changes.

Only for output that goes to a program or a file, of commands that say what they read (`made_from`). What an answer hangs on
is kept beside it: this version of turnlog, the arguments, the folder it was asked in, the day, the environment variables
that were looked at, every file with its mark and every folder with its time of change. Nothing heavy is imported here.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from typing import Any

from ..ledger.folders import cache_folder, private_folder
from ..ledger.marks import made_by, mark_of

COMMANDS = frozenset(("overview", "usage"))
"""Commands whose answers may stand. Without a command, turnlog is `overview`."""

MOST_BYTES = 4 << 20
"""Longer answers are not kept."""

MOST_ANSWERS = 64
"""Older ones go when there are more."""

ALWAYS = ("HOME", "USERPROFILE", "TZ", "XDG_CONFIG_HOME", "APPDATA", "LC_ALL", "LANG", "COLUMNS")
"""Variables that any answer may hang on. Others are said with it."""

CLOCK = "/etc/localtime"


def answered(args: list[str]) -> int | None:
    """Print the answer that still stands to these arguments, and return its exit code; None where there is none."""
    if not _may_stand(args):
        return None
    try:
        with open(_place(args), encoding="utf-8") as file:
            kept = json.load(file)
        if not _holds(kept):
            return None
        out, code = kept["out"].encode(), int(kept["code"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    sys.stdout.flush()
    try:
        sys.stdout.buffer.write(out)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


class Answer:
    """An answer under way: what it was made from, and what was printed."""

    def __init__(self) -> None:
        self.begin([], kept=False)

    def begin(self, args: list[str], *, kept: bool = True) -> None:
        """These arguments are being answered."""
        self.args = args if kept and _may_stand(args) else None  # None: the answer is not to be kept
        self.out: list[bytes] = []
        self.files: dict[str, str | None] = {}
        self.folders: dict[str, int | None] = {}
        self.env: dict[str, str | None] = {}

    def made_from(self, files: Iterable[str], folders: Iterable[str], variables: Iterable[str]) -> None:
        """What is about to be read. To be said before it is: what changes while it is read makes the answer stale."""
        if self.args is not None:
            self.files = {path: mark_of(path) for path in (*files, CLOCK)}
            self.folders = {path: _time_of(path) for path in folders}
            self.env = {name: os.environ.get(name) for name in (*ALWAYS, *variables)}

    def hear(self, data: bytes) -> None:
        """A piece that was printed."""
        if self.args is not None:
            self.out.append(data)

    def spoil(self) -> None:
        """Something was said that the answer alone does not hold, or that does not stand."""
        self.args = None

    def keep(self, code: int) -> None:
        """The answer is whole: keep it, if it says what it was made from."""
        args, out = self.args, b"".join(self.out)
        self.args = None
        if args is None or not self.env or len(out) > MOST_BYTES:
            return
        kept = {
            "made_by": made_by(),
            "day": _day(),
            "env": self.env,
            "folders": self.folders,
            "files": self.files,
            "code": code,
        }
        with contextlib.suppress(OSError, UnicodeError):
            _write(_place(args), json.dumps({**kept, "out": out.decode()}).encode())


ANSWER = Answer()
"""The one this process gives."""


def _may_stand(args: list[str]) -> bool:
    command = args[0] if args and not args[0].startswith("-") else "overview"
    return command in COMMANDS and not sys.stdout.isatty()


def _holds(kept: dict[str, Any]) -> bool:
    return bool(
        kept["made_by"] == made_by()
        and kept["day"] == _day()
        and all(os.environ.get(name) == value for name, value in kept["env"].items())
        and all(_time_of(path) == since for path, since in kept["folders"].items())
        and all(mark_of(path) == mark for path, mark in kept["files"].items())
    )


def _place(args: list[str]) -> str:
    asked = json.dumps([args, os.getcwd()]).encode()
    name = hashlib.blake2b(asked, digest_size=16).hexdigest()
    return os.path.join(cache_folder(), "answers", f"{name}.json")


def _day() -> str:
    return time.strftime("%Y-%m-%d")


def _time_of(path: str) -> int | None:
    """When a folder's list of names last changed; None where there is none, or it may not be looked at."""
    try:
        return os.stat(path).st_mtime_ns
    except (OSError, ValueError):
        return None


def _write(path: str, data: bytes) -> None:
    """Put a whole file in place at once; only its owner may read it. Old answers go."""
    folder = os.path.dirname(path)
    private_folder(folder)
    handle, name = tempfile.mkstemp(dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise
    with os.scandir(folder) as entries:
        aged = sorted(entries, key=lambda entry: -entry.stat().st_mtime_ns)
    for entry in aged[MOST_ANSWERS:]:
        os.unlink(entry.path)
