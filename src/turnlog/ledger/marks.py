"""Marks: what tells that a file, or this program, is still the same. Light on purpose: answers that stand are given before
anything heavy is imported.
"""

from __future__ import annotations

import hashlib
import os
from functools import cache

from .._version import __version__

TAIL = 4096
"""Bytes at the end of a file that are hashed: a rewrite that keeps size and times mostly changes these."""


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
