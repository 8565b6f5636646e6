"""What is to be known of a tree's branches before it is drawn: sizes, tokens, last words, and which are drawn at all.

Each looks at every node once.
"""

from __future__ import annotations

import heapq

from ..ledger.sessions import unique_prefixes
from ..model import Usage
from ..views.tree import Tree
from .node import speaks
from .text import counted, middle_cut, one_line

_SHORT = 13  # letters of an id that are shown


def names_of(view: Tree) -> dict[str, str]:
    """Ids at their shortest, eight letters or more: what stands on a screen can be told apart."""
    names = {}
    for key, shortest in unique_prefixes(list(view.nodes), 8).items():
        name = key if len(key) <= _SHORT else shortest
        names[key] = middle_cut(one_line(name if len(name) <= _SHORT else key, 4 * _SHORT), _SHORT)
    return names


def sizes_of(view: Tree) -> dict[str, int]:
    """How many nodes hang on each, itself too."""
    sizes = dict.fromkeys(view.nodes, 1)
    for key in reversed(list(view.walk())):
        parent = view.nodes[key].parent
        if parent is not None:
            sizes[parent] += sizes[key]
    return sizes


def tokens_of(view: Tree) -> dict[str, int]:
    """Tokens spent on each node and all that hangs on it. Lines of one answer say the same call, which counts once, where
    it is said first."""
    calls: dict[str, tuple[str, int]] = {}
    spent: dict[str, int] = {}
    order = list(view.walk())
    for key in order:
        node = view.nodes[key]
        for event in node.events:
            if isinstance(event, Usage):
                first, most = calls.get(node.answer or key, (key, 0))
                total = event.counts.additive(event.semantics).total
                calls[node.answer or key] = (first, max(most, total))
    for first, total in calls.values():
        spent[first] = spent.get(first, 0) + total
    for key in reversed(order):
        parent = view.nodes[key].parent
        if parent is not None and key in spent:
            spent[parent] = spent.get(parent, 0) + spent[key]
    return spent


def answers_of(view: Tree) -> set[str]:
    """The last words of the agent before somebody else speaks, or the branch ends."""
    found: set[str] = set()
    last: dict[str, str | None] = {}
    for key in view.walk():
        node = view.nodes[key]
        before = last.get(node.parent) if node.parent is not None else None
        kind = speaks(node)
        if kind == "person" and before is not None:
            found.add(before)
        last[key] = key if kind == "agent" else None if kind == "person" else before
        if key not in view.onward and (ends := last[key]) is not None and node.state != "beside":
            found.add(ends)
    return found


def drawn_of(keys: list[str], sizes: dict[str, int], always: set[str], limit: int) -> tuple[list[str], list[str]]:
    """Those to be drawn, in their order (the active one, and the largest), and the rest."""
    if len(keys) <= limit + 1:
        return keys, []
    kept = set(heapq.nlargest(limit, keys, key=lambda key: (key in always, sizes[key])))
    return [key for key in keys if key in kept], [key for key in keys if key not in kept]


def left_out(keys: list[str], sizes: dict[str, int], one: str, many: str) -> str:
    size = sum(sizes[key] for key in keys)
    return f"{counted(len(keys), one, many)} with {counted(size, 'entry', 'entries')} (--full shows all)"
