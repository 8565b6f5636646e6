"""Which session files are on this machine, found without opening one.

`find_sessions` walks the roots (see that room) and gives the files and, beside them, everything that was in the way: a
folder that cannot be read, a link that was not followed, a name that is no file. Nothing in the tree can end the walk,
and nothing is raised for what lies there.

Links inside a root are not followed, so that no file is found twice and no loop has an end to miss (Rust's
agent-sessions does the same, but says nothing); a root that is itself a link is followed.
"""

from __future__ import annotations

import errno
import os
import stat
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from .errors import SourceError
from .formats import FORMATS
from .formats.base import Root
from .jsontext import TextError, decode
from .roots import Problem, ProblemKind, RootPath, Roots, problem_at, roots_from_env, roots_from_home
from .source import opened
from .zstd import Unpacked

__all__ = [
    "Discovery",
    "Problem",
    "Roots",
    "SessionFile",
    "check_recognised",
    "find_sessions",
    "recognised",
    "roots_from_env",
    "roots_from_home",
]

SUBAGENTS = "subagents"
"""A folder of this name, anywhere below the root, holds what subagents wrote."""

HEAD = 64 * 1024
"""Bytes of a file that are looked at to tell whether it is a session at all."""


class SessionFile(msgspec.Struct, frozen=True):
    """One session file. kind: whether a subagent wrote it, as far as the path tells. size: bytes on disk; mtime_ns:
    nanoseconds since 1970 (both 0 where it could not be looked at: a problem says so). archived: it was put away."""

    agent: str
    path: str
    kind: Literal["main", "subagent"] = "main"
    size: int = 0
    mtime_ns: int = 0
    archived: bool = False


class Discovery(msgspec.Struct, frozen=True):
    """What was found: the files by path, each once, and everything that was in the way, by path too. folders: all that
    were looked through, or for: while none of them changes, the same files are there."""

    files: list[SessionFile]
    problems: list[Problem]
    folders: list[str] = msgspec.field(default_factory=list)


def find_sessions(roots: Roots) -> Discovery:
    """Look through the roots. No file is opened, and nothing is raised for what lies there.

    A file that two roots hold is given once, for the agent that comes first in the table of formats.
    """
    walk = _Walk(list(roots.problems))
    for agent in FORMATS:
        for root in roots.of(agent):
            walk.root(root, FORMATS[agent].root)
    files = sorted(walk.files.values(), key=lambda file: file.path)
    problems = sorted(dict.fromkeys(walk.problems), key=lambda problem: (problem.path, problem.kind))
    return Discovery(files, problems, walk.folders)


def check_recognised(file: SessionFile) -> Problem | None:
    """Whether a file is a session at all, by its first record: None, or the problem `unrecognised`.

    Only agents that let other files lie among their sessions are asked; up to 64 KiB are read. What cannot be told
    (an empty file, no whole record so far) is no problem here: reading it will say more. A file that cannot be opened
    is `unreadable`, or `vanished`.
    """
    recognise = FORMATS[file.agent].recognise
    if recognise is None:
        return None
    try:
        head = _head(file.path)
    except SourceError as error:
        gone = isinstance(error.__cause__, FileNotFoundError)
        return problem_at("vanished" if gone else "unreadable", file.path, file.agent, error.__cause__)
    for line in head.split(b"\n"):
        try:
            decode(line.decode().strip("\ufeff\0\r"))
        except (TextError, UnicodeDecodeError):
            continue
        return None if recognise(line) else problem_at("unrecognised", file.path, file.agent)
    return None


def recognised(file: SessionFile) -> bool:
    """Whether a file is a session at all, as far as `check_recognised` can tell."""
    problem = check_recognised(file)
    return problem is None or problem.kind != "unrecognised"


class _Walk:
    """One discovery under way. Files are kept by their real path, so that none is given twice."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.files: dict[str, SessionFile] = {}
        self.folders: list[str] = []

    def say(self, kind: ProblemKind, path: str, agent: str, error: BaseException | None = None) -> None:
        self.problems.append(problem_at(kind, path, agent, error))

    def fail(self, error: OSError | ValueError, path: str, agent: str) -> None:
        """What could not be looked at: it went away, or it may not be."""
        gone = isinstance(error, FileNotFoundError)
        self.say("vanished" if gone else "unreadable", path, agent, error)

    def root(self, root: RootPath, rule: Root) -> None:
        """Look through one root."""
        agent = root.agent
        self.folders.append(root.path)
        try:
            mode = os.stat(root.path).st_mode
        except (FileNotFoundError, NotADirectoryError) as error:
            if _is_link(root.path):
                self.say("dangling-link", root.path, agent)
            elif isinstance(error, NotADirectoryError):
                self.say("not-a-folder", root.path, agent)
            elif root.needed:
                self.say("missing-root", root.path, agent)
            return
        except (OSError, ValueError) as error:
            loop = getattr(error, "errno", None) == errno.ELOOP
            self.say("symlink-loop" if loop else "unreadable", root.path, agent, error)
            return
        if not stat.S_ISDIR(mode):
            self.say("not-a-folder", root.path, agent)
            return
        real = os.path.realpath(root.path)
        folders: dict[str, list[str]] = {}
        for folder, pattern in root.scans:
            folders.setdefault(folder, []).append(pattern)
        for folder, patterns in folders.items():
            if not folder or self.is_folder(root.path, folder, agent):
                _Scan(self, root, rule, real, folder, patterns).run()

    def is_folder(self, root: str, folder: str, agent: str) -> bool:
        """Whether a folder below the root can be looked through; a missing one is nothing to speak of."""
        path = root
        for part in folder.split("/"):
            path = os.path.join(path, part)
            self.folders.append(path)
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                return False
            except OSError as error:
                self.fail(error, path, agent)
                return False
            if stat.S_ISLNK(mode):
                self.link(path, agent)
                return False
            if not stat.S_ISDIR(mode):
                self.say("not-a-folder", path, agent)
                return False
        return True

    def link(self, path: str, agent: str) -> None:
        """A link that is not followed; one that leads nowhere is told apart."""
        kind: ProblemKind = "symlink"
        try:
            os.stat(path)
        except OSError as error:
            kind = "symlink-loop" if error.errno == errno.ELOOP else "dangling-link"
            if error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENOTDIR):
                kind = "symlink"  # what it leads to is there and may not be looked at: nobody would look
        self.say(kind, path, agent)


class _Scan:
    """One folder below a root looked through, without recursion: a tree may be as deep as paths are long."""

    def __init__(self, walk: _Walk, root: RootPath, rule: Root, real: str, folder: str, patterns: list[str]) -> None:
        self.walk = walk
        self.root = root
        self.rule = rule
        self.real = real
        self.flat = [pattern for pattern in patterns if not pattern.startswith("**/")]
        self.deep = [pattern[3:] for pattern in patterns if pattern.startswith("**/")]
        self.folder = folder
        self.archived = folder in rule.archived
        self.seen: set[tuple[int, int]] = set()

    def run(self) -> None:
        """Look through it all."""
        waiting = [self.folder.replace("/", os.sep)]
        while waiting:
            waiting += self.look(waiting.pop(), top=not self.seen)

    def look(self, below: str, *, top: bool) -> list[str]:
        """Look at one folder's entries; return the folders among them that are to be looked through."""
        path = os.path.join(self.root.path, below) if below else self.root.path
        found: list[str] = []
        self.walk.folders.append(path)
        try:
            status = os.stat(path)
            # No link was followed to come here; a mount or a junction may still lead back.
            if (status.st_dev, status.st_ino) in self.seen and status.st_ino:
                return []
            self.seen.add((status.st_dev, status.st_ino))
            with os.scandir(path) as entries:
                for entry in entries:
                    inside = os.path.join(below, entry.name)
                    if self.entry(entry, inside, top=top):
                        found += [inside]
        except OSError as error:
            self.walk.fail(error, path, self.root.agent)
        return found

    def entry(self, entry: os.DirEntry[str], below: str, *, top: bool) -> bool:
        """Take one entry in; True for a folder that is to be looked through."""
        agent = self.root.agent
        try:
            if entry.is_symlink():
                self.walk.link(entry.path, agent)
                return False
            if entry.is_dir(follow_symlinks=False):
                return bool(self.deep)
            if not self.fits(entry.name, top=top):
                return False
            if not entry.is_file(follow_symlinks=False):
                self.walk.say("not-a-file", entry.path, agent)
                return False
        except OSError as error:
            self.walk.fail(error, entry.path, agent)
            return False
        self.take(entry, below)
        return False

    def fits(self, name: str, *, top: bool) -> bool:
        """Whether a name is a session's; nothing but a suffix is no name."""
        patterns = self.deep + self.flat if top else self.deep
        return any(fnmatchcase(name, pattern) and name != pattern.lstrip("*") for pattern in patterns) and not any(
            fnmatchcase(name, other) for other in self.rule.others
        )

    def take(self, entry: os.DirEntry[str], below: str) -> None:
        """Put a file down, once."""
        agent = self.root.agent
        size = mtime = 0
        try:
            status = entry.stat(follow_symlinks=False)
            size, mtime = status.st_size, status.st_mtime_ns
        except FileNotFoundError as error:
            self.walk.fail(error, entry.path, agent)
            return
        except OSError as error:
            self.walk.fail(error, entry.path, agent)
        folders = below.split(os.sep)[:-1]
        subagent = SUBAGENTS in folders or any(fnmatchcase(entry.name, name) for name in self.rule.subagents)
        file = SessionFile(agent, entry.path, "subagent" if subagent else "main", size, mtime, self.archived)
        self.walk.files.setdefault(os.path.join(self.real, below), file)


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _head(path: str) -> bytes:
    """The first whole lines of a file, of at most 64 KiB together; a last line without LF counts where the file ends."""
    handle = opened(path)
    with handle:
        source: Any = Unpacked(handle, path) if path.endswith(".zst") else handle
        head = b""
        while len(head) < HEAD:
            try:
                more = source.read(HEAD - len(head))
            except (OSError, SourceError):
                break
            if not more:
                return head
            head += more
    return head[: head.rfind(b"\n") + 1]
