"""Version 1 of Pi's files: a flat list without ids, read as Pi migrates it to a tree (sheet PI 2).

Each record but the header gets an id, and the record before it as its parent. Pi's ids are random; ours come from the
header's id and the byte where the record begins, so that two readings agree. They are longer than Pi's eight digits,
because nothing here looks for collisions.
"""

from __future__ import annotations

import hashlib
from array import array
from typing import Any

_NO_ENTRY = -1


def is_flat(version: Any) -> bool:
    """Whether a header's `version` makes the file version 1, as JavaScript compares it: absent is 1, "3" is 3, and
    what is no number is not below 2."""
    if version is None:
        return True
    if isinstance(version, str):
        try:
            return float(version or 0) < 2
        except ValueError:
            return False
    return isinstance(version, int | float) and version < 2


class Flat:
    """The chain of one file so far: where each parsed record begins, the header at index 0. Eight bytes a record."""

    __slots__ = ("_header", "_last", "_starts")

    def __init__(self, header: str | None) -> None:
        self._header = header or ""
        self._starts = array("q", [_NO_ENTRY])
        self._last: str | None = None

    def id_at(self, start: int) -> str:
        """The id of the record that begins at this byte: 16 hexadecimal digits."""
        text = f"{self._header}:{start}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    def next(self, start: int) -> tuple[str, str | None]:
        """The id and the parent of the record that begins here. Changes nothing."""
        return self.id_at(start), self._last

    def add(self, start: int) -> None:
        """That record was read whole: it is the next one's parent."""
        self._starts.append(start)
        self._last = self.id_at(start)

    def skip(self) -> None:
        """A record that has an index and no id: another header."""
        self._starts.append(_NO_ENTRY)

    def kept(self, index: float, start: int) -> str | None:
        """The id that `firstKeptEntryIndex` names, for the compaction that begins at `start`: an earlier record or itself.
        None for the header, for what lies outside and for what comes later (it has no id yet when Pi asks)."""
        if index != int(index) or not 0 <= index <= len(self._starts):
            return None
        found = start if index == len(self._starts) else self._starts[int(index)]
        return None if found == _NO_ENTRY else self.id_at(found)
