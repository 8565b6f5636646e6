"""Which records of a session a person sees: those from the root to the leaf, without building the tree.

The same branch as `tree`'s, from one look at each record's head as it passes, so that it can go along with any reading of a
file. A few words are kept of each record; nothing recurses, and parents may form any loop.
"""

from __future__ import annotations

from ..formats.base import TreeRule
from ..model import Compaction, Item, Record
from .relations import circles

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
        heads = self._heads
        path: list[str] = []
        place: dict[str, int] = {}
        key = self._leaf
        if key is None:
            key = next(reversed(heads), None)
        while key is not None:
            if key in place:  # a circle, which the tree cuts
                path = path[: place[self._cut(key)] + 1]
                break
            place[key] = len(path)
            path.append(key)
            key = self._up(key)[0]
        found = {heads[one][1] for one in path}
        for one in path:
            found.update(self._again.get(one, ()))
        return found

    def _up(self, key: str) -> tuple[str | None, bool]:
        """What a record hangs on, None for a root; and whether it does by a compaction's word."""
        up = self._heads[key][0]
        if up is None and (joined := self._joins.get(key)) in self._heads and joined != key:
            return joined, True
        return (up if up in self._heads else None), False

    def _cut(self, key: str) -> str:
        """Where the circle that holds this record is cut: where it is joined, else at its first line."""
        parents = {one: self._up(one)[0] for one in self._heads}
        circle = next(circle for circle in circles(parents) if key in circle)
        joined = next((one for one in circle if self._up(one)[1]), None)
        return joined or min(circle, key=lambda one: self._heads[one][1])
