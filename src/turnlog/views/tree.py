"""A session's records as the tree they form: the node table, the leaf, the branch, and what is beside it.

A pure function over the events of one file. Every record with an id is a node; a node hangs on its parent, or, where the
agent begins a new root at a compaction, on the record that compaction goes on from. A parent that is not here makes an
orphan, and a circle of parents is cut at its first line, so that every walk ends. Both are told as problems, by the rules
`turnlog check` has. Everything is linear in the number of records (children are sorted), and nothing recurses.

    view = tree(items, format.tree)
    view.leaf, view.branch                 # where the talk goes on; the ids from its root to it
    view.path(id)                          # the same for any node
    view.along(id)                         # and with it what belongs to that path without being on the chain
    view.nodes[id].record.line, .parent, .state, .depth

`along` is what a reader of the talk wants: results of parallel calls hang beside the chain that the next answer stands on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from ..errors import LineFault
from ..formats.base import TransactionRule, TreeRule
from ..model import (
    BranchSummary,
    Compaction,
    CustomMessage,
    Event,
    Item,
    Label,
    Message,
    Meta,
    Record,
    SessionName,
    ToolCall,
    ToolResult,
    Usage,
)
from .relations import Open, Relation, circles, links, relation_at, relations

State = Literal[
    "active",  # on the branch of the leaf
    "beside",  # off that chain but part of it, or of another branch: nothing new is said there
    "left",  # on a branch that was left, or was never the active one
    "side",  # what a subagent wrote into the same file
]

_TALKS = frozenset(("human", "command", "task", "warmup", "agent", "error", "summary", "interruption", "notice"))
"""Whose messages say something new where they stand."""


class Node(msgspec.Struct, gc=False):
    """One record in the tree.

    record: its head (id, line, bytes, type, time). events: all that the record says, in their order. parent: the id it
    hangs on, None for a root. place: its number in the order of the file. joined: it hangs there by a compaction's word, not by its
    own parent. depth: steps from its root. answer: the id of the answer it is a line of. calls, results: ids of the tool
    calls it makes and answers.
    """

    record: Record
    events: list[Event]
    parent: str | None
    place: int = 0
    joined: bool = False
    depth: int = 0
    state: State = "left"
    answer: str | None = None
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    @property
    def event(self) -> Event:
        """The event that says what the record is: never a Meta or a Usage beside another."""
        return next((e for e in self.events if e.__class__ is not Meta and e.__class__ is not Usage), self.events[-1])


class Tree(msgspec.Struct):
    """The tree of one file.

    nodes: by id, in the order of the file; of two records of one id the last one stands. leaf: None where there is no
    node. branch: ids from the root to the leaf. roots: ids of the nodes that hang on none, in the order of the file;
    orphans: those of them whose parent is not here; cut: those whose parent leads in a circle. tips: where each branch
    ends, the leaf too. children: by id, oldest first; onward: by id, the child with which its branch goes on. labels: by the id of their target, the last one said; cleared ones
    are gone, and a target need not be here. name: the last one said, None where it was cleared. problems: what does not
    hold together; open: what another file may settle.
    """

    nodes: dict[str, Node] = msgspec.field(default_factory=dict)
    leaf: str | None = None
    branch: list[str] = msgspec.field(default_factory=list)
    roots: list[str] = msgspec.field(default_factory=list)
    orphans: list[str] = msgspec.field(default_factory=list)
    cut: list[str] = msgspec.field(default_factory=list)
    tips: list[str] = msgspec.field(default_factory=list)
    children: dict[str, list[str]] = msgspec.field(default_factory=dict)
    onward: dict[str, str] = msgspec.field(default_factory=dict)
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    name: str | None = None
    problems: list[Relation] = msgspec.field(default_factory=list)
    open: list[Open] = msgspec.field(default_factory=list)

    def path(self, key: str) -> list[str]:
        """Ids from the root to that node. Raises KeyError for an id that is no node."""
        found, at = [], self.nodes[key]
        while True:
            found.append(at.record.id or "")
            if at.parent is None:
                return found[::-1]
            at = self.nodes[at.parent]

    def along(self, key: str) -> list[str]:
        """The ids of `path`, and of what hangs beside it, in the order of the file; nothing that stands after `key`."""
        path = self.path(key)
        kept, stack = set(path), list(path)
        last = self.nodes[key].place
        while stack:
            for child in self.children.get(stack.pop(), ()):
                if child not in kept and self.nodes[child].state == "beside":
                    kept.add(child)
                    stack.append(child)
        return [one for one in sorted(kept, key=self._place) if self._place(one) <= last]

    def _place(self, key: str) -> int:
        return self.nodes[key].place

    def walk(self) -> Iterator[str]:
        """Every node once: a parent before its children, a child's whole subtree before the next child."""
        stack = self.roots[::-1]
        while stack:
            key = stack.pop()
            yield key
            stack += reversed(self.children.get(key, ()))


def tree(
    items: Iterable[Item],
    rule: TreeRule,
    own: str | None = None,
    *,
    leaf: str | None = None,
    transaction: TransactionRule | None = None,
    known: frozenset[str] | set[str] = frozenset(),
) -> Tree:
    """The tree of one file's items. own: the session the file is named for. leaf: where the talk goes on, where that is
    another node than the last one. known: ids of records that say no event."""
    view = Tree()
    gathered = _Gathered(view, rule)
    found = links(gathered.through(items), rule, transaction)
    gathered.end()
    view.problems, view.open = relations(found, rule, own, known=known)
    _root(view, dict(found.joins))
    _grow(view)
    _follow(view, leaf if leaf in view.nodes else gathered.last)
    _part(view, parallel=rule.parallel)
    return view


class _Gathered:
    """One pass over the items: a node for each record with an id, labels and names."""

    def __init__(self, view: Tree, rule: TreeRule) -> None:
        self.view = view
        self.rule = rule
        self.record: Record | None = None
        self.events: list[Event] = []
        self.last: str | None = None  # the last record of the main line
        self.place = 0

    def through(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items, looked at as they pass."""
        for item in items:
            if item.__class__ is not LineFault:
                if item.record is not self.record:  # type: ignore[union-attr]
                    self.end()
                    self.record = item.record  # type: ignore[union-attr]
                self.events.append(item)  # type: ignore[arg-type]
            yield item

    def end(self) -> None:
        """The record's events are complete."""
        record, events = self.record, self.events
        self.record, self.events = None, []
        if record is None:
            return
        view = self.view
        for event in events:
            if event.__class__ is Label and event.target_id is not None:
                if event.text:
                    view.labels[event.target_id] = event.text
                else:
                    view.labels.pop(event.target_id, None)
            elif event.__class__ is SessionName:
                view.name = event.text or None
        if record.id is None:
            return
        node = Node(record, events, record.parent_id or None)
        node.answer = next((e.message_id for e in events if e.__class__ is Message and e.role == "assistant"), None)
        node.calls = tuple(e.id for e in events if e.__class__ is ToolCall and e.id is not None)
        node.results = tuple(e.call_id for e in events if e.__class__ is ToolResult and e.call_id is not None)
        node.place = self.place
        self.place += 1
        before = view.nodes.get(record.id)
        if before is not None and self.rule.first_place:
            node.place = before.place
            view.nodes[record.id] = node
            return
        if before is not None:
            del view.nodes[record.id]
        view.nodes[record.id] = node
        if not record.sidechain:
            self.last = record.id


def _root(view: Tree, joins: dict[str, str]) -> None:
    """Make every chain of parents end: join compactions to what they go on from, cut circles, find the orphans."""
    nodes = view.nodes
    orphans = set()
    for key, node in nodes.items():
        if node.parent is None and (joined := joins.get(key)) in nodes and joined != key:
            node.parent, node.joined = joined, True
        elif node.parent is not None and node.parent not in nodes:
            node.parent = None
            orphans.add(key)
    cut = set()
    for circle in circles({key: node.parent for key, node in nodes.items()}):
        first = min(circle, key=lambda key: nodes[key].record.line)
        joined = next((key for key in circle if nodes[key].joined), None)
        if joined is not None:  # parents alone lead in no circle here, so nobody has told it yet
            first = joined
            nodes[first].joined = False
            said = f"a compaction goes on from a record that comes after it: a circle of {len(circle)} records"
            view.problems.append(relation_at("cycle", nodes[first].record, said, count=len(circle)))
        nodes[first].parent = None
        cut.add(first)
    view.roots = [key for key, node in nodes.items() if node.parent is None]
    view.orphans = [key for key in view.roots if key in orphans]
    view.cut = [key for key in view.roots if key in cut]


def _grow(view: Tree) -> None:
    """Children by parent, the oldest first; where one has no time they stay in the order of the file. Depths."""
    nodes, children = view.nodes, view.children
    for key, node in nodes.items():
        if node.parent is not None:
            children.setdefault(node.parent, []).append(key)
    for brood in children.values():
        if len(brood) > 1:
            times = [at for key in brood if (at := nodes[key].record.at) is not None]
            if len(times) == len(brood):
                brood.sort(key=lambda key: nodes[key].record.at)  # type: ignore[arg-type, return-value]
    for key in view.walk():
        node = nodes[key]
        node.depth = 0 if node.parent is None else nodes[node.parent].depth + 1


def _follow(view: Tree, last: str | None) -> None:
    """The leaf is the last record of the file that is no subagent's; of a subagent's own file, the last of all."""
    nodes = view.nodes
    if last is None:
        last = next(reversed(nodes), None)
    view.leaf = last
    if last is not None:
        view.branch = view.path(last)


def _part(view: Tree, *, parallel: bool) -> None:
    """Tell branches from what is beside them, and where each branch ends."""
    nodes = view.nodes
    order = list(view.walk())
    for key in view.branch:
        nodes[key].state = "active"
    says = _says(view, order, parallel=parallel)
    newest = {key: nodes[key].place for key in order}
    for key in reversed(order):
        parent = nodes[key].parent
        if parent is not None:
            newest[parent] = max(newest[parent], newest[key])
    mixed = any(not node.record.sidechain for node in nodes.values())
    onward = view.onward
    for key, brood in view.children.items():
        onward[key] = max(brood, key=lambda child: (nodes[child].state == "active", child in says, newest[child]))
    if view.leaf is not None:
        onward.pop(view.leaf, None)  # children may stand before their parent
    for key in order:
        node = nodes[key]
        if node.state == "active":
            continue
        up = node.parent
        if up is None:
            node.state = "side" if mixed and node.record.sidechain else "left"
        elif onward.get(up) == key and nodes[up].state != "active":
            node.state = nodes[up].state
        elif key not in says:
            node.state = nodes[up].state if nodes[up].state == "side" else "beside"
        else:
            node.state = "side" if mixed and node.record.sidechain else "left"
    begins = [
        key
        for key in order
        if nodes[key].state in ("active", "left")
        and ((up := nodes[key].parent) is None or onward.get(up) != key or nodes[up].state not in ("active", "left"))
    ]
    for begin in begins:
        key = begin
        while (child := onward.get(key)) is not None and nodes[child].state in ("active", "left"):
            key = child
        view.tips.append(key)


def _says(view: Tree, order: list[str], *, parallel: bool) -> set[str]:
    """The nodes in whose subtree something new is said. A further line of the same answer, a tool's result and the
    client's own records say nothing new, where the agent hangs such things beside the chain."""
    if not parallel:
        return set(order)
    nodes = view.nodes
    answers: dict[str, str | None] = {}
    said: set[str] = set()
    for key in order:
        node = nodes[key]
        before = answers[node.parent] if node.parent is not None else None
        answers[key] = node.answer or before
        event = node.event
        if event.__class__ is Message:
            new = event.author in _TALKS and (node.answer is None or node.answer != before)
        else:
            new = event.__class__ in (Compaction, BranchSummary, CustomMessage)
        if new:
            said.add(key)
    for key in reversed(order):
        parent = nodes[key].parent
        if key in said and parent is not None:
            said.add(parent)
    return said
