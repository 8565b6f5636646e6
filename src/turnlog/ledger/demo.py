"""The demo home: synthetic sessions of every agent that ship with the package, and what each view says of them."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import msgspec

from ..roots import roots_from_home
from .check import Check, check, files_below
from .machine import survey
from .overview import Overview
from .sessions import SessionList, sessions
from .shown import Show, show

SCHEMA = "turnlog.demo/1"


class Demo(msgspec.Struct, kw_only=True):
    """Every view over the demo home. shown: the last turn of a session with a subagent. checked: the proof of one
    damaged file."""

    schema: str = SCHEMA
    home: str
    overview: Overview
    list: SessionList
    shown: Show
    checked: Check


def demo_home() -> str:
    """The folder of the demo home. Where the package is no folder (a zip), a private copy that is gone at the end of the
    process: readable for its owner only."""
    packed = files("turnlog").joinpath("demo_home")
    if isinstance(packed, Path):
        return str(packed)
    folder = tempfile.mkdtemp(prefix="turnlog-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    home = os.path.join(folder, "home")
    with as_file(packed) as unpacked:
        shutil.copytree(unpacked, home, copy_function=shutil.copyfile)
    for path, folders, names in os.walk(home):
        for name in folders:
            os.chmod(os.path.join(path, name), 0o700)
        for name in names:
            os.chmod(os.path.join(path, name), 0o600)
    return home


def demo(home: str, timezone: str | None = None) -> Demo:
    """What each view says of that home."""
    roots = roots_from_home(home)
    view = survey(roots, timezone)
    listed = sessions(roots, counts=True)
    told = next((line for line in listed.sessions if line.subagents), listed.sessions[0])
    damaged = view.faults[0].path
    found, problems = files_below([damaged])
    return Demo(
        home=home,
        overview=view,
        list=listed,
        shown=show(told.path, roots, limit=1),
        checked=check(found, problems),
    )
