"""Sessions whose records have no ids, as records that have: each turn a node, each compaction, and the session itself.

The tree of such a session is that of its turns: a turn goes on from the one before, and after turns were taken back, from
the last one that stands. What comes out here goes into `tree` like any other items. Pure functions; nothing recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import ClassVar

import msgspec

from ..formats.base import TreeRule
from ..model import Compaction, Event, Item, Message, Record, Turn
from .transcript import OPENS

TURNS = TreeRule(id="turn_id")
"""The rule of the tree that `turns_as_nodes` makes."""


class Thread(Event, gc=False):
    """A session as a node: how it came to be (session, fork, subagent, or segment of one)."""

    how: str = "session"

    kind: ClassVar[str] = "thread"


def thread_node(
    key: str, parent: str | None, how: str, record: Record | None = None, at: datetime | None = None
) -> Thread:
    """A session's own node; `record` where it begins, None (and `at`, its first time) where that is another file."""
    head = Record(0, 0, 0, how, at, id=key, parent_id=parent, session_id=key, sidechain=how == "subagent")
    if record is not None:
        head.line, head.start, head.end, head.at, head.at_text = (
            record.line, record.start, record.end, record.at, record.at_text,
        )  # fmt: skip
    return Thread(head, 0, how)


class Segment(msgspec.Struct):
    """One file of a session: its items, and, where it goes on from within an earlier file, the place of that one in the
    list of files and the byte up to which it holds."""

    items: list[Item]
    of: int | None = None
    until: int = 0


class _Chain:
    """The nodes so far, and those of them that stand."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.nodes: list[tuple[Record, list[Event]]] = []
        self.turns: dict[str, bool] = {}  # whether a node is a turn
        self.files: list[list[int]] = []  # the nodes of each file
        self.standing: list[str] = []

    @property
    def leaf(self) -> str:
        return self.standing[-1] if self.standing else self.base

    def add(self, name: str, record: Record, kind: str, event: Event, *, turn: bool) -> None:
        """A node after the last one that stands. An id that was there before gets a number."""
        key, n = name, 1
        while key in self.turns or key == self.base:
            n += 1
            key = f"{name}-{n}"
        self.turns[key] = turn
        head = msgspec.structs.replace(record, type=kind, id=key, parent_id=self.leaf, sidechain=False)
        self.files[-1].append(len(self.nodes))
        self.nodes.append((head, [event]))
        self.standing.append(key)

    def back(self, count: int) -> None:
        """So many turns are taken back, with what stands after them."""
        while count > 0 and self.standing:
            count -= self.turns[self.standing.pop()]

    def begin(self, segment: Segment) -> None:
        """A further file: what stands is what stood at the byte it goes on from."""
        if segment.of is not None:
            heads = {head.id: head for head, _ in self.nodes}
            before = [self.nodes[n][0] for n in self.files[segment.of] if self.nodes[n][0].end <= segment.until]
            at = before[-1] if before else None
            standing: list[str] = []
            while at is not None:
                standing.append(at.id or "")
                at = heads.get(at.parent_id)
            self.standing = standing[::-1]
        self.files.append([])

    @property
    def open(self) -> str | None:
        """The id of the turn under way."""
        last = self.nodes[-1][0].id if self.nodes and self.files[-1] else None
        return last if last is not None and self.standing and self.standing[-1] == last and self.turns[last] else None


def turns_as_nodes(segments: list[Segment], base: str) -> tuple[list[Item], str, dict[str, int]]:
    """The turns and compactions of a session as items with ids, the leaf, and in which of the files each id stands.
    base: the node the first one hangs on."""
    chain = _Chain(base)
    for segment in segments:
        chain.begin(segment)
        framed = any(item.__class__ is Turn and item.state == "started" for item in segment.items)
        for item in segment.items:
            if isinstance(item, Turn):
                _frame(chain, item)
            elif isinstance(item, Compaction):
                chain.add(f"compact-{item.line}", item.record, "compaction", item, turn=False)
            elif isinstance(item, Message) and item.author in OPENS and item.role in ("user", "system"):
                if not framed:
                    chain.add(f"turn-{item.line}", item.record, "turn", item, turn=True)
                elif chain.open is not None:
                    chain.nodes[-1][1].append(item)
    where = {chain.nodes[n][0].id or "": file for file, held in enumerate(chain.files) for n in held}
    return list(_items(chain)), chain.leaf, where


def _frame(chain: _Chain, event: Turn) -> None:
    if event.state == "started":
        within = (event.facts or {}).get("parent_turn_id")
        if within is None or within != chain.open:  # else another session's turn, mirrored in the one that asked for it
            chain.add(event.turn_id or f"turn-{event.line}", event.record, "turn", event, turn=True)
    elif event.state in ("rolled_back", "reverted"):
        chain.back(event.count or 0)
    elif chain.open is not None and event.state in ("aborted", "failed"):
        chain.nodes[-1][1].append(event)


def _items(chain: _Chain) -> Iterator[Item]:
    """Each node's events under its own head, what a person said first."""
    for head, events in chain.nodes:
        asked = [event for event in events if isinstance(event, Message)][:1]
        frame = [event for event in events if not isinstance(event, Message)]
        for event in (*asked, *frame):
            yield msgspec.structs.replace(event, record=head)


def lineage(own: str, parents: dict[str, str | None]) -> Iterable[str]:
    """The sessions that `own` comes from, the eldest first, itself, and those that come from it, by who comes from whom.
    A circle ends where it begins again."""
    above: dict[str, None] = {}
    at = parents.get(own)
    while at and at not in above and at != own:
        above[at] = None
        at = parents.get(at)
    children: dict[str, list[str]] = {}
    for key, parent in parents.items():
        if parent:
            children.setdefault(parent, []).append(key)
    found = dict.fromkeys((*reversed(above), own))
    waiting = [own]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in found:
                found[child] = None
                waiting.append(child)
    return found


__all__ = ["TURNS", "Segment", "Thread", "lineage", "thread_node", "turns_as_nodes"]
