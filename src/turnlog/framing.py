"""Bytes in, records out. No JSON, no file, no clock.

A record ends at LF and nowhere else. The framer is fed chunks of any size and gives the same records for any cut of
the same bytes. The plan for speed: a chunk is searched once, and its records are views into it, not copies; what follows
its last LF waits in a buffer that is only appended to and never searched again, so a record that arrives in a thousand
pieces costs one copy. A record over the limit is drained: counted, not held.
"""

from __future__ import annotations

import msgspec


class Oversize(msgspec.Struct, gc=False, frozen=True):
    """A record over the limit: how long it is, delimiter included, and whether its LF was seen."""

    size: int
    terminated: bool


Framed = bytes | memoryview | Oversize
"""A record without its LF: a view into the chunk it came with, its own bytes if it came in pieces, or drained."""


class Framer:
    """Push core of all reading.

    `feed(data)` returns the records that are now whole, without their LF; an `Oversize` stands for a drained one.
    `close()` returns the last record if it has no LF. Offsets are the caller's sum: every returned record is
    `len(record) + 1` bytes long (the closing one `len(record)`), every Oversize `size`. Views are good as long as
    the caller keeps them.
    """

    __slots__ = ("_drained", "_held", "limit")

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self._held = bytearray()
        self._drained = 0  # bytes of the record being drained; 0: none is

    @property
    def pending(self) -> int:
        """Bytes taken in that are not part of a returned record yet."""
        return self._drained + len(self._held)

    def feed(self, data: bytes) -> list[Framed]:
        """Take `data` in; return the records it completes, in order."""
        find = data.find
        cut = find(b"\n")
        if cut < 0:
            self.hold(data)
            return []
        records: list[Framed] = []
        view = memoryview(data)
        begin = 0
        if self._drained or self._held:
            self.hold(view[:cut])
            records.append(self._release(terminated=True))
            begin = cut + 1
            cut = find(b"\n", begin)
        while cut >= 0:
            records.append(view[begin:cut])
            begin = cut + 1
            cut = find(b"\n", begin)
        limit = self.limit
        if limit is not None and len(data) > limit:
            records = [r if isinstance(r, Oversize) or len(r) < limit else Oversize(len(r) + 1, True) for r in records]
        if begin < len(data):
            self.hold(view[begin:])
        return records

    def close(self) -> bytes | Oversize | None:
        """The last record if it had no LF, else None."""
        return self._release(terminated=False) if self._drained or self._held else None

    def hold(self, data: bytes | memoryview) -> None:
        """Take `data` in as a part of one record, LFs and all: a whole document, or a piece without an LF."""
        # Held bytes get an LF or an end still: as long as the limit they can only be one record's whole text.
        if self._drained or (self.limit is not None and len(self._held) + len(data) > self.limit):
            self._drained = self.pending + len(data)
            self._held = bytearray()
        else:
            self._held += data

    def _release(self, *, terminated: bool) -> bytes | Oversize:
        size = self._drained or len(self._held)
        over = self.limit is not None and size + terminated > self.limit
        record = Oversize(size + terminated, terminated) if self._drained or over else bytes(self._held)
        self._held = bytearray()
        self._drained = 0
        return record
