"""Which records of a session a person sees: those from the root to the leaf, without building the tree.

The same branch as `tree`'s, from one look at each record's head as it passes, so that it can go along with any reading of a
file. A few words are kept of each record; nothing recurses, and parents may form any loop.
"""

from __future__ import annotations

from ..formats.base import TreeRule
from ..model import Compaction, Item, Record

Head = tuple[str | None, int]


class Visible:
    """Sees the items of one file pass. Ask `lines` when they are all through."""

    def __init__(self, rule: TreeRule) -> None:
        self._rule = rule
        self._heads: dict[str, Head] = {}  # by id: parent and line
        self._joins: dict[str, str] = {}
        self._again: dict[str, list[int]] = {}  # further lines of ids that stand twice
        self._leaf: str | None = None

    def see(self, record: Record) -> None:
        """The next record."""
        key = record.id
        if key is None:
            return
        heads = self._heads
        before = heads.get(key)
        if before is not None:
            self._again.setdefault(key, []).append(before[1])
            if not self._rule.first_place:
                del heads[key]  # it stands in the later place
        heads[key] = (record.parent_id or None, record.line)
        if not record.sidechain and (before is None or not self._rule.first_place):
            self._leaf = key

    def join(self, item: Item) -> None:
        """A compaction may name the record it goes on from, where it begins a new root."""
        if item.__class__ is Compaction and self._rule.joined is not None:
            joined = (item.facts or {}).get(self._rule.joined)
            if isinstance(joined, str) and item.record.id is not None:
                self._joins[item.record.id] = joined

    def lines(self) -> set[int]:
        """The lines of the records from the root to the leaf."""
        path: list[str] = []
        place: dict[str, int] = {}
        by_join: set[str] = set()
        key = self._leaf
        if key is None:
            key = next(reversed(self._heads), None)
        while key is not None:
            if key in place:  # a circle: it is cut where it is joined, else at its first line
                circle = path[place[key] :]
                cut = next((one for one in circle if one in by_join), None)
                cut = cut or min(circle, key=lambda one: self._heads[one][1])
                path = path[: place[cut] + 1]
                break
            place[key] = len(path)
            path.append(key)
            up = self._heads[key][0]
            if up is None and (joined := self._joins.get(key)) in self._heads and joined != key:
                up = joined
                by_join.add(key)
            key = up if up in self._heads else None
        found = {self._heads[one][1] for one in path}
        for one in path:
            found.update(self._again.get(one, ()))
        return found
