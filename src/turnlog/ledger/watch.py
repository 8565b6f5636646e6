"""Sees every record's bytes beside the reader: keys that stand twice, records that are written again, ids of records that
say no event.

It stands between a source and its reader and frames the same chunks a second time, so the file is read once.
"""

from __future__ import annotations

from array import array

from ..framing import Framed, Framer, Oversize
from ..keys import looked_at
from ..model import Record
from ..source import Source
from ..views.relations import Relation


class Watch:
    """A source for the reader, that keeps what the relations ask for. Ask `relations` and `alike` after `end()`."""

    def __init__(self, source: Source, limit: int | None, id_keys: set[str], *, document: bool) -> None:
        self.source = source
        self.ids: dict[str, set[str]] = {key: set() for key in id_keys}
        self.line = 0
        self.at = 0
        self.blank = True
        self.content = array("q", [0])  # hash of each line's bytes, by line
        self.repeated: list[tuple[int, int, int, list[str]]] = []
        self.unseen: list[tuple[int, int, int]] = []
        self._framer = Framer(limit)
        self._whole: list[bytes] | None = [] if document else None

    @property
    def problems(self) -> list[str]:
        found: list[str] = getattr(self.source, "problems", [])
        return found

    def read(self, size: int = 1 << 18, /) -> bytes:
        """Pass the next chunk through."""
        data = self.source.read(size) or b""
        if self._whole is not None:
            self._whole.append(data)
        elif data:
            for raw in self._framer.feed(data):
                self._look(raw, ended=1)
        return data

    def close(self) -> None:
        """Let go of the source."""
        self.source.close()  # type: ignore[attr-defined]

    def end(self) -> None:
        """No more bytes will come."""
        last = b"".join(self._whole) if self._whole is not None else self._framer.close()
        if last is not None:
            self._look(last, ended=0)

    def _look(self, raw: Framed, *, ended: int) -> None:
        self.line += 1
        start = self.at
        if isinstance(raw, Oversize):
            self.at += raw.size
            self.content.append(0)
            return
        data = bytes(raw)
        self.at += len(data) + ended
        self.content.append(hash(data))
        if not data.strip():
            return
        self.blank = False
        value, keys = looked_at(data)
        if value.__class__ is dict:
            for key, ids in self.ids.items():
                if (found := value.get(key)).__class__ is str:
                    ids.add(found)
        if keys:
            self.repeated.append((self.line, start, self.at, keys))
        elif keys is None:
            self.unseen.append((self.line, start, self.at))

    def alike(self, a: Record, b: Record) -> bool:
        """Whether two records are whole lines of the same bytes."""
        if a.line == b.line or max(a.line, b.line) >= len(self.content):
            return False
        return self.content[a.line] == self.content[b.line] != 0

    def relations(self, faulty: set[int]) -> list[Relation]:
        """Keys that stand twice, and lines without a fault that could not be looked at."""
        found = []
        for line, start, end, keys in self.repeated:
            said = f"{', '.join(keys)} stand{'s' if len(keys) == 1 else ''} twice in one object; the last one counts"
            found.append(Relation(kind="duplicate-key", line=line, start=start, end=end, said=said, count=len(keys)))
        for line, start, end in self.unseen:
            if line not in faulty:
                said = "nested too deep to look for keys that stand twice"
                found.append(Relation(kind="duplicate-key", line=line, start=start, end=end, said=said, note=True))
        return found
