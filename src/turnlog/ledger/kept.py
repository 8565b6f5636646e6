"""Scans that are kept: what a file said is not worked out again while the file is the same.

One database in the user's cache folder, a row a file: by path, with its device, inode, size, time of change and a hash of
the last bytes it had, and the scan as compressed MessagePack. It is only ever a shortcut: a cache that is damaged, or of
another program, is thrown away and made anew; one of another version of this program is filled anew; and where nothing can
be written everything still works, only slower. Several processes may use it at once. Nothing in it is executed (no pickle).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import TypeVar

from .._version import __version__
from .folders import cache_folder

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError, compress, decompress
else:
    from backports.zstd import ZstdError, compress, decompress

T = TypeVar("T")

TAIL = 4096
"""Bytes at the end of a file that are hashed: a rewrite that keeps size and times mostly changes these."""

APPLICATION = 0x7475726E
"""The letters "turn", in SQLite's own field for whose file it is."""

LAYOUT = 1
WAIT = 2.0
"""Seconds to wait for another process that is writing; then this run goes on without."""

_TABLE = "CREATE TABLE scans (path BLOB PRIMARY KEY, made_by TEXT NOT NULL, mark TEXT NOT NULL, scan BLOB NOT NULL)"


def mark_of(path: str) -> str | None:
    """A file as it is now, in short: device, inode, size, nanoseconds of its last change, hash of its last bytes. None
    where that cannot be had: then nothing is kept of it."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        os.lseek(fd, max(0, status.st_size - TAIL), os.SEEK_SET)
        tail = hashlib.blake2b(os.read(fd, TAIL), digest_size=16).hexdigest()
    except OSError:
        return None
    finally:
        os.close(fd)
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{tail}"


@cache
def made_by() -> str:
    """What fills the cache: this version of the program, and the sizes and times of its own files."""
    marks = hashlib.blake2b(digest_size=16)
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder, folders, files in os.walk(top):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                marks.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return f"{__version__} {marks.hexdigest()}"


class Kept:
    """The cache. Nothing it does raises: what goes wrong with it only costs time."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder or cache_folder()
        self.path = os.path.join(self._folder, "scans.sqlite3")

    def find(self, marks: dict[str, str]) -> dict[str, bytes]:
        """What is kept of these files (path to mark as it is now) and still holds: the scan's bytes by path."""

        def look(base: sqlite3.Connection) -> dict[str, bytes]:
            found = {}
            query = "SELECT mark, scan FROM scans WHERE path = ? AND made_by = ?"
            for path, mark in marks.items():
                row = base.execute(query, (os.fsencode(path), made_by())).fetchone()
                if row is not None and mark and row[0] == mark:
                    with contextlib.suppress(ZstdError, TypeError):
                        found[path] = decompress(row[1])
            return found

        return self._with(look) or {} if os.path.exists(self.path) else {}

    def keep(self, scans: Iterable[tuple[str, str, bytes]]) -> None:
        """Keep these scans: path, mark and bytes of each. Rows of files that are gone are let go of on the way."""
        rows = [(os.fsencode(path), made_by(), mark, compress(scan, 1)) for path, mark, scan in scans]

        def put(base: sqlite3.Connection) -> None:
            with base:
                base.execute("DELETE FROM scans WHERE made_by != ?", (made_by(),))
                base.executemany("INSERT OR REPLACE INTO scans VALUES (?, ?, ?, ?)", rows)
                gone = [row for row in base.execute("SELECT path FROM scans") if not os.path.lexists(row[0])]
                base.executemany("DELETE FROM scans WHERE path = ?", gone)

        if rows:
            self._with(put)

    def _with(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """`work` on the database; None where there is none to be had. One that is damaged is thrown away."""
        try:
            base = self._opened()
        except (sqlite3.Error, OSError):
            return None
        try:
            return work(base)
        except sqlite3.OperationalError:  # full, read-only, or another process has it
            return None
        except sqlite3.Error:
            self._throw_away()
            return None
        finally:
            with contextlib.suppress(sqlite3.Error):
                base.close()

    def _opened(self) -> sqlite3.Connection:
        """The database, ours, made where there is none. Raises sqlite3.Error or OSError."""
        for _ in range(2):
            os.makedirs(self._folder, mode=0o700, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            base = sqlite3.connect(self.path, timeout=WAIT)
            try:
                if self._is_ours(base):
                    return base
            except sqlite3.OperationalError:
                base.close()
                raise
            except sqlite3.DatabaseError:
                pass
            base.close()
            self._throw_away()
        raise sqlite3.DatabaseError("expected a database of our own, found none twice")

    def _is_ours(self, base: sqlite3.Connection) -> bool:
        """Whether it is of this program and this layout; an empty one becomes it."""
        if os.path.getsize(self.path) == 0:
            base.execute("PRAGMA journal_mode = WAL")
            with base:
                base.execute("BEGIN IMMEDIATE")
                if not base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    base.execute(_TABLE)
                    base.execute(f"PRAGMA application_id = {APPLICATION}")
                    base.execute(f"PRAGMA user_version = {LAYOUT}")
        found = [base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        return found == [APPLICATION, LAYOUT]

    def _throw_away(self) -> None:
        for name in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                os.unlink(self.path + name)
