"""Where agents keep their sessions on this machine: values that discovery, history and titles look in.

The rules are each format's own (its `root`); what is wrong with being told where to look is a value too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from .errors import UnknownFormatError
from .formats import FORMATS
from .formats.base import Root

ProblemKind = Literal[
    "empty-override",
    "missing-root",
    "not-a-folder",
    "unreadable",
    "vanished",
    "symlink",
    "dangling-link",
    "symlink-loop",
    "not-a-file",
    "unrecognised",
]

SAID: dict[ProblemKind, tuple[str, bool]] = {
    "empty-override": ("expected a folder in this variable, found it set and empty", False),
    "missing-root": ("the agent's folder is not here", True),
    "not-a-folder": ("expected a folder, found something else", False),
    "unreadable": ("it cannot be looked at", False),
    "vanished": ("it went away while it was looked at", True),
    "symlink": ("a link inside a root, which is not followed", True),
    "dangling-link": ("a link that leads nowhere", False),
    "symlink-loop": ("a link that leads to itself", False),
    "not-a-file": ("it has a session's name and is no regular file", False),
    "unrecognised": ("it has a session's name, and its first record is no session's", True),
}
"""What each kind of problem says, and whether it is a note: worth knowing, and nothing is missing because of it."""

Given = Literal["default", "environment", "home", "option"]


class Problem(msgspec.Struct, frozen=True):
    """Something that was in the way. path: of the file or folder, or the variable's name. note: worth knowing, and
    nothing is missing because of it. said: what it is, in words; no text of a session."""

    path: str
    kind: ProblemKind
    said: str
    note: bool = False
    agent: str | None = None

    @property
    def sentence(self) -> str:
        """Where, and what it is."""
        return f"{self.path}: {self.said}"


def problem_at(kind: ProblemKind, path: str, agent: str | None, error: BaseException | None = None) -> Problem:
    """A problem of that kind, in the words of the table; `error` is why something cannot be looked at."""
    said, note = SAID[kind]
    reason = error.strerror if isinstance(error, OSError) and kind == "unreadable" else None
    return Problem(path, kind, f"{said}: {reason}" if reason else said, note, agent)


class RootPath(msgspec.Struct, frozen=True):
    """One folder to look in. given: how it came to be looked in. scans: (folder below, pattern) pairs. needed: say so
    where it is missing."""

    agent: str
    path: str
    given: Given
    scans: tuple[tuple[str, str], ...]
    needed: bool = True


class Roots(msgspec.Struct, frozen=True):
    """Where to look: each agent's folders, and what was wrong with being told so."""

    paths: dict[str, tuple[RootPath, ...]]
    problems: tuple[Problem, ...] = ()

    def of(self, agent: str) -> tuple[RootPath, ...]:
        """The folders of one agent, in the order they are read."""
        return self.paths.get(agent, ())

    def replaced(self, agent: str, paths: Iterable[str | os.PathLike[str]]) -> Roots:
        """The same, but that agent is looked for in `paths` and nowhere else. Raises UnknownFormatError."""
        if agent not in FORMATS:
            raise UnknownFormatError(f"expected one of {', '.join(FORMATS)}, found no agent called {agent!r}")
        scans = FORMATS[agent].root.scans
        given = tuple(RootPath(agent, os.fsdecode(path), "option", scans) for path in paths)
        kept = tuple(problem for problem in self.problems if problem.agent != agent)
        return Roots({**self.paths, agent: given}, kept)

    def with_root(self, agent: str, path: str | os.PathLike[str]) -> Roots:
        """The same, but that agent is looked for in `path` and nowhere else. Raises UnknownFormatError."""
        return self.replaced(agent, [path])


def roots_from_env(
    environ: Mapping[str, str] | None = None,
    home: str | os.PathLike[str] | None = None,
    config_dir: str | os.PathLike[str] | None = None,
) -> Roots:
    """Where this machine's agents keep their sessions: their variables first, else below the home.

    environ, home, config_dir: other ones than the process has. A variable that is set and empty is a problem of the
    result, and its agent is looked for nowhere. A relative value stays as it is, as the agents themselves have it.
    """
    env = os.environ if environ is None else environ
    folder = _home(env) if home is None else os.fsdecode(home)
    config = _config(env, folder) if config_dir is None else os.fsdecode(config_dir)
    paths: dict[str, tuple[RootPath, ...]] = {}
    problems: list[Problem] = []
    for agent, format in FORMATS.items():
        root = format.root
        override = next((one for one in root.env if one[0] in env), None)
        if override is None:
            paths[agent] = _defaults(agent, root, folder, config, "default")
            continue
        name, scans = override
        value = env[name]
        if not value:
            problems.append(problem_at("empty-override", name, agent))
            paths[agent] = ()
            continue
        if root.expands and (value == "~" or value.startswith(("~/", "~" + os.sep))):
            value = folder + value[1:]
        paths[agent] = (RootPath(agent, value, "environment", scans or root.scans),)
    return Roots(paths, tuple(problems))


def roots_from_home(path: str | os.PathLike[str]) -> Roots:
    """Where the agents of another home keep their sessions; no variable counts. The user's configuration is looked for
    in `.config`, on every system."""
    home = os.fsdecode(path)
    config = os.path.join(home, ".config")
    return Roots({agent: _defaults(agent, format.root, home, config, "home") for agent, format in FORMATS.items()})


def _defaults(agent: str, root: Root, home: str, config: str, given: Given) -> tuple[RootPath, ...]:
    """An agent's usual folders; that the second and later ones are missing is nothing to speak of."""
    found = []
    for n, default in enumerate(root.defaults):
        start, _, rest = default.partition("/")
        base = {"~": home, "<config>": config}[start]
        found.append(RootPath(agent, os.path.join(base, *rest.split("/")), given, root.scans, n == 0))
    return tuple(found)


def _home(env: Mapping[str, str]) -> str:
    """The home: HOME where it is set, on Windows only where it is a whole path; else the system's own word."""
    home = env.get("HOME", "")
    if home and (sys.platform != "win32" or os.path.isabs(home)):
        return home
    if sys.platform == "win32":
        return env.get("USERPROFILE") or os.path.expanduser("~")
    return _account_home()


def _account_home() -> str:
    """The home of the account, as the system's own table has it."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return os.path.expanduser("~")


def _config(env: Mapping[str, str], home: str) -> str:
    """The user's configuration folder, as Rust's `dirs` has it: XDG_CONFIG_HOME only where it is a whole path."""
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        return platformdirs.user_config_dir(roaming=True)
    given = env.get("XDG_CONFIG_HOME", "")
    return given if os.path.isabs(given) else os.path.join(home, ".config")
