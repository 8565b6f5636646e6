"""A session's tree as text: the branch of the leaf straight down, other branches indented where they leave it.

A deep chain goes straight down; only branches indent. What nobody turned at (a run of steps, results, the client's own
records) is one line that says how many; so are branches past the first few of one node. Pure functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from ..ledger.tree import SessionTree
from ..views.tree import Node
from .branches import answers_of, drawn_of, left_out, names_of, sizes_of, tokens_of
from .node import Said, said_of
from .text import (
    Line,
    byte_size,
    cells,
    counted,
    cut,
    first_line,
    grouped,
    home_short,
    middle_cut,
    one_line,
    padded,
    plain,
    short,
)  # fmt: skip

BRANCHES = 6
"""Branches of one node, and roots, that are drawn; of more it is said how many."""

LEVELS = 12
"""How deep branches of branches are indented (less on a narrow terminal); from there on they stand below each other."""

PROBLEMS = 12
"""Problems that are named, and subagents; of more it is said how many."""

WIDEST = 110
"""Columns that are used of a wide terminal: what stands at the right must be found by the eye."""

TEXT = 120
"""Cells of a text where there is no width."""

_WHO = 8
_LEAST = 10  # cells that are always left for what a node says


class Style(msgspec.Struct, kw_only=True):
    """How a tree is drawn. width: columns, None where nothing is to be cut. full: every node has a line."""

    width: int | None = 80
    full: bool = False
    agent: str = ""


class _Frame(msgspec.Struct):
    """A branch being drawn: its nodes from `key` on. lead: what stands before its lines. first: what joins its first line
    to the branch it leaves, None for a root."""

    key: str | None
    lead: str
    level: int
    first: str | None
    passed: list[str]
    said: bool = False


def tree_lines(found: SessionTree, style: Style) -> Iterator[Line]:
    """The lines of a session's tree, its problems and its verdict."""
    view = found.tree
    yield from _head(found, style)
    yield []
    if not view.nodes:
        yield plain("  no record here has an id, so there is no tree", "quiet")
    yield from _Drawing(found, style).lines()
    yield []
    yield from _subagents(found, style)
    yield from _foot(found, style)


def _head(found: SessionTree, style: Style) -> Iterator[Line]:
    facts = found.facts
    key = facts.id if facts is not None else "-"
    yield [(style.agent or found.agent, "agent"), (f"  {one_line(key)}", "quiet")]
    room = 200 if style.width is None else style.width - 2
    name = found.name or (facts.first_prompt if facts is not None else None)
    if name:
        text = one_line(name, room)
        yield plain(f'"{text}"' if found.name else text, "strong")
    for word, other in (("forked from", facts and facts.forked_from), ("started by", facts and facts.parent)):
        if other:
            yield plain(f"{word} {middle_cut(one_line(other), max(20, room - len(word)))}", "quiet")


class _Drawing:
    """The drawing of one tree."""

    def __init__(self, found: SessionTree, style: Style) -> None:
        self.found = found
        self.view = found.tree
        self.style = style
        self.names = names_of(self.view)
        self.ids = max((cells(name) for name in self.names.values()), default=0)
        self.branch = set(self.view.branch)
        self.odd = dict.fromkeys(self.view.orphans, "orphan") | dict.fromkeys(self.view.cut, "circle cut here")
        self.sizes = sizes_of(self.view)
        self.levels = LEVELS if style.width is None else max(2, min(LEVELS, (style.width - 40) // 3))
        self.tokens = tokens_of(self.view)
        self.answers = answers_of(self.view)

    def lines(self) -> Iterator[Line]:
        """Every root with what hangs on it; the active one always, of the others the first few."""
        roots = self.view.roots
        drawn, left = drawn_of(roots, self.sizes, self.branch, BRANCHES if not self.style.full else len(roots))
        for root in drawn:
            yield from self._root(root)
        if left:
            yield plain(f"  … {left_out(left, self.sizes, 'more root', 'more roots')}", "quiet")

    def _root(self, root: str) -> Iterator[Line]:
        stack = [_Frame(root, "  ", 0, None, [])]
        while stack:
            frame = stack[-1]
            if frame.key is None:
                yield from self._passed(frame)
                stack.pop()
                continue
            key = frame.key
            starts = self._starts(key)
            if not frame.said:
                frame.said = True
                yield from self._node(frame, key, turned=bool(starts))
                if starts:
                    limit = len(starts) if self.style.full else BRANCHES
                    drawn, left = drawn_of(starts, self.sizes, self.branch, limit)
                    if left:
                        said = left_out(left, self.sizes, "more branch", "more branches")
                        yield plain(f"{frame.lead}├╌ … {said}", "quiet")
                    # The stack gives the last one first.
                    for n, start in enumerate(reversed(drawn)):
                        ends = n == 0 and key not in self.view.onward
                        stack.append(self._side(frame, start, ends=ends))
                    continue
            frame.key, frame.said = self.view.onward.get(key), False

    def _starts(self, key: str) -> list[str]:
        """The branches that leave at a node."""
        nodes, onward = self.view.nodes, self.view.onward.get(key)
        return [
            child
            for child in self.view.children.get(key, ())
            if child != onward and (self.style.full or nodes[child].state != "beside")
        ]

    def _side(self, frame: _Frame, start: str, *, ends: bool) -> _Frame:
        if frame.level >= self.levels:
            return _Frame(start, frame.lead, frame.level, "├─", [])
        return _Frame(start, frame.lead + ("  " if ends else "│ "), frame.level + 1, "└─" if ends else "├─", [])

    def _node(self, frame: _Frame, key: str, *, turned: bool) -> Iterator[Line]:
        """A node's line, or nothing yet where it is one of a run."""
        view, node = self.view, self.view.nodes[key]
        begins = frame.first is not None or node.parent is None or node.joined
        ends = key not in view.onward
        label = view.labels.get(key)
        told = said_of(node)
        shown = self.style.full or turned or begins or ends or label is not None or key in self.answers or told.shown
        if not shown:
            frame.passed.append(key)
        else:
            yield from self._passed(frame)
            yield self._line(frame, key, node, told)
        if not self.style.full:
            frame.passed += self._beside(key)

    def _beside(self, key: str) -> list[str]:
        found, waiting = [], [key]
        while waiting:
            for child in self.view.children.get(waiting.pop(), ()):
                if self.view.nodes[child].state == "beside":
                    found.append(child)
                    waiting.append(child)
        return found

    def _passed(self, frame: _Frame) -> Iterator[Line]:
        """The run that was passed over, in one line."""
        if not frame.passed:
            return
        whose = Counter(said_of(self.view.nodes[key]).kind for key in frame.passed)
        told = ", ".join(_counted(count, kind) for kind, count in whose.most_common(4))
        more = len(whose) - 4
        text = (
            f"{counted(len(frame.passed), 'entry', 'entries')}: {told}{f' and {more} more kinds' if more > 0 else ''}"
        )
        if len(whose) == 1:
            text = told
        frame.passed = []
        yield [(f"{frame.lead}│ {'':{self.ids}}  ", "quiet"), (self._cut(text, frame), "quiet")]

    def _line(self, frame: _Frame, key: str, node: Node, told: Said) -> Line:
        leaf = key == self.view.leaf
        first, frame.first = frame.first, None
        root = node.parent is None
        mark = "◉" if leaf else "●" if root and key in self.branch else "○" if root or first is not None else "│"
        rail = frame.lead[:-2] + first if first is not None and frame.level else frame.lead
        if first is not None and frame.level >= self.levels:
            rail = frame.lead
        remarks = self._remarks(key, node, first)
        who = padded(told.who, _WHO)
        head = f"{rail}{mark} "
        room = self._room(frame)
        if room is not None:
            remarks = _fitting(remarks, room - _LEAST)
            room -= sum(cells(word) + 2 for word, _ in remarks)
        text = cut(told.text or self._session(key), TEXT if room is None else room)
        line: Line = [
            (head, "strong" if leaf else "plain" if key in self.branch else "quiet"),
            (padded(one_line(self.names[key]), self.ids), "quiet"),
            ("  ", "plain"),
            (who, told.tone if node.state == "active" else "quiet"),
            (" ", "plain"),
            (text, told.text_tone if node.state == "active" else "quiet"),
        ]
        if remarks:
            gap = 2 if room is None else max(2, room - cells(text) + 2)
            line.append((" " * gap, "plain"))
            for n, (word, tone) in enumerate(remarks):
                line += [(", ", "quiet")] * bool(n) + [(word, tone)]
        return line

    def _session(self, key: str) -> str:
        """What names another session."""
        kin = self.found.kin.get(key)
        return first_line(kin.said or "", 240) if kin is not None else ""

    def _remarks(self, key: str, node: Node, first: str | None) -> list[tuple[str, str]]:
        """What is to be known of a node beside what it says."""
        view, found = self.view, []
        if key == view.leaf:
            found.append(("leaf", "good"))
        if node.state == "side" and (node.parent is None or first is not None):
            found.append(("subagent", "quiet"))
        elif node.state == "left" and (node.parent is None or first is not None):
            found += [(word, "quiet") for word in self._left_words(key)]
        if node.state == "beside":
            found.append(("beside", "quiet"))
        if key in self.odd:
            found.append((self.odd[key], "trouble"))
        label = view.labels.get(key)
        if label is not None:
            found.append((f'label "{one_line(label, 24)}"', "people"))
        return found

    def _left_words(self, key: str) -> list[str]:
        size = self.sizes[key]
        tokens = self.tokens.get(key, 0)
        words = ["left"] if size == 1 else [f"left, {counted(size, 'entry', 'entries')}"]
        return words + ([f"{short(tokens)} tokens"] if tokens else [])

    def _room(self, frame: _Frame) -> int | None:
        """Cells for what a node says and for what is to be known of it."""
        if self.style.width is None:
            return None
        return max(_LEAST, min(self.style.width, WIDEST) - len(frame.lead) - 5 - self.ids - _WHO)

    def _cut(self, text: str, frame: _Frame) -> str:
        room = self._room(frame)
        return text if room is None else cut(text, room + _WHO + 1)


def _fitting(remarks: list[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    """As many of the remarks as fit, the first one first."""
    fits: list[tuple[str, str]] = []
    for word, tone in remarks:
        if room < 4 + 2:
            break
        fits.append((cut(word, room - 2), tone))
        room -= cells(word) + 2
    return fits


def _counted(count: int, kind: str) -> str:
    return counted(count, kind, kind[:-1] + "ies" if kind.endswith("ry") else None)


def _subagents(found: SessionTree, style: Style) -> Iterator[Line]:
    for subagent in found.subagents[:PROBLEMS]:
        room = 200 if style.width is None else max(12, style.width - 24 - len(subagent.id))
        name = f"turnlog tree {one_line(subagent.id)}"
        yield [("subagent  ", "agent"), (name, "plain"), (f"  {first_line(subagent.task or '', room)}", "quiet")]
    if len(found.subagents) > PROBLEMS:
        yield plain(f"… and {counted(len(found.subagents) - PROBLEMS, 'more subagent')}", "quiet")


def _foot(found: SessionTree, style: Style) -> Iterator[Line]:
    view, summary = found.tree, found.summary
    problems = [problem for problem in view.problems if not problem.note]
    notes = len(view.problems) - len(problems)
    for problem in problems[:PROBLEMS]:
        yield [(f"line {grouped(problem.line)}: ", "trouble"), (problem.said, "plain")]
    if len(problems) > PROBLEMS:
        yield plain(f"… and {counted(len(problems) - PROBLEMS, 'more problem')} (--json has all)", "trouble")
    if notes:
        first = next(problem for problem in view.problems if problem.note)
        more = f", and {counted(notes - 1, 'more note')}" if notes > 1 else ""
        room = None if style.width is None else max(20, style.width - len(more))
        said = f"note, line {grouped(first.line)}: {first.said}" if first.line else f"note: {first.said}"
        yield plain((said if room is None else cut(said, room)) + more, "quiet")
    if found.error is not None:
        yield plain(one_line(found.error), "trouble")
    told = f"{counted(len(view.nodes), 'entry', 'entries')}, {counted(len(view.tips), 'branch', 'branches')}"
    path = one_line(home_short(found.path))
    told += f", {byte_size(summary.bytes_read)}"
    room = None if style.width is None else max(12, style.width - 18 - len(told))
    shown = path if room is None else middle_cut(path, room)
    if found.complete:
        yield [("complete: ", "good"), (f"{told}  {shown}", "plain")]
    else:
        yield [("not complete: ", "trouble"), (f"{counted(summary.fault_count, 'fault')}, {told}", "plain")]
        yield plain(f"turnlog check {one_line(found.path)}", "quiet")
