"""Where bytes come from: any binary file object, or a regular file that was opened. Nothing is framed here."""

from __future__ import annotations

import os
import stat
from typing import IO, Any, Protocol

from .errors import SourceUnreadable

CHUNK = 1 << 18
"""Bytes asked of a source at a time: large enough that a call costs nothing, small enough that memory does not."""


class Source(Protocol):
    """Any binary file object: `read(n)` gives up to n bytes, b"" at the end. A pipe may give fewer."""

    def read(self, size: int = ..., /) -> bytes | None: ...


def as_bytes(data: Any, name: str) -> bytes:
    """What a source gave, as bytes. Raises SourceUnreadable for text, and for the None of a file that does not wait."""
    if data.__class__ is bytes:
        return data
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    found = (
        "nothing yet from a file that does not wait"
        if data is None
        else "text"
        if isinstance(data, str)
        else "no bytes"
    )
    raise SourceUnreadable(name, said=f"expected bytes, found {found}")


def opened(name: str) -> IO[bytes]:
    """A regular file, opened for reading; never a FIFO or a device, which could hang. Raises SourceUnreadable."""
    try:
        fd = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:  # ValueError: a name that no system takes
        raise SourceUnreadable(name, error) from error
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise SourceUnreadable(name, said=f"expected a file, found {kind}")
    return open(fd, "rb", buffering=0)
