"""One session's tree: read from its file, with its name, and for sessions whose records have no ids, with the sessions it
comes from and those that come from it."""

from __future__ import annotations

import msgspec

from ..contract import ReadOptions, ReadSummary
from ..discover import Discovery, find_sessions
from ..errors import LineFault
from ..formats import place_of
from ..model import Item
from ..roots import Roots
from ..titles import read_titles
from ..views.relations import Relation
from ..views.threads import TURNS, lineage, thread_node, turns_as_nodes
from ..views.tree import Tree, tree
from ..work import FileWork, SessionFacts
from .identity import merge
from .overview import iso
from .peek import peek_files
from .scan import SCAN_OPTIONS
from .whole import Whole, read_whole

SCHEMA = "turnlog.tree/1"


class TreeNode(msgspec.Struct, kw_only=True):
    """One node. parent: the id it hangs on; joined: by the word of the compaction, not of its own parent. depth: steps from
    its root. type: the native type. says: the kind of event it is; author: whose words, where it is a message. state:
    active (on the branch), beside (part of a branch, off its chain), left (on another branch), side (a subagent's).
    path: the file, where it is another one; line, start, end: its record."""

    id: str
    parent: str | None
    depth: int
    type: str
    label: str | None = None
    says: str
    author: str | None = None
    state: str
    joined: bool = False
    at: str | None = None
    line: int
    start: int
    end: int
    path: str | None = None


class TreeView(msgspec.Struct, kw_only=True):
    """The tree of a session as `turnlog tree --json` prints it. nodes: a parent before its children, a child's whole
    subtree before the next child. branch: ids from the root to the leaf. branches: how many there are, what a subagent
    wrote aside; tips: where each ends. orphans: roots whose parent is not here. labels: by target, which need not be
    here. problems: what does not hold together; notes among them are only worth knowing. complete: the file was read
    whole. error: why reading ended before the end."""

    schema: str = SCHEMA
    complete: bool
    session_id: str | None
    agent: str
    path: str
    name: str | None
    leaf: str | None
    branch: list[str]
    branches: int
    tips: list[str]
    roots: list[str]
    orphans: list[str]
    labels: dict[str, str]
    nodes: list[TreeNode]
    problems: list[Relation]
    summary: ReadSummary
    error: str | None = None


class Kin(msgspec.Struct):
    """Another session of the lineage: its file, and what it was asked first."""

    path: str
    facts: SessionFacts
    title: str | None = None


class SessionTree(msgspec.Struct, kw_only=True):
    """A session's tree with what the file says of the session. kin: the sessions it is joined to, by id."""

    tree: Tree
    agent: str
    path: str
    summary: ReadSummary
    complete: bool
    facts: SessionFacts | None = None
    name: str | None = None
    error: str | None = None
    kin: dict[str, Kin] = msgspec.field(default_factory=dict)

    def view(self) -> TreeView:
        """What `turnlog tree --json` prints."""
        seen = self.tree
        return TreeView(
            complete=self.complete,
            session_id=None if self.facts is None else self.facts.id,
            agent=self.agent,
            path=self.path,
            name=self.name,
            leaf=seen.leaf,
            branch=seen.branch,
            branches=len(seen.tips),
            tips=seen.tips,
            roots=seen.roots,
            orphans=seen.orphans,
            labels=seen.labels,
            nodes=[self._node(key) for key in seen.walk()],
            problems=seen.problems,
            summary=self.summary,
            error=self.error,
        )

    def _node(self, key: str) -> TreeNode:
        node = self.tree.nodes[key]
        record, event = node.record, node.event
        kin = self.kin.get(key)
        return TreeNode(
            id=key,
            parent=node.parent,
            depth=node.depth,
            type=record.type,
            label=self.tree.labels.get(key),
            says=event.kind,
            author=getattr(event, "author", None),
            state=node.state,
            joined=node.joined,
            at=iso(record.at) if record.at is not None else None,
            line=record.line,
            start=record.start,
            end=record.end,
            path=None if kin is None else kin.path,
        )


def read_tree(
    path: str,
    roots: Roots | None = None,
    *,
    agent: str | None = None,
    options: ReadOptions = SCAN_OPTIONS,
) -> SessionTree:
    """Read one file as a tree. roots: where its title and the sessions it is joined to are looked for; None for nowhere.

    Raises SourceError if nothing of the file can be read.
    """
    discovery = find_sessions(roots) if roots is not None else Discovery([], [])
    whole = read_whole(path, discovery, agent, options)
    format = whole.format
    work = format.fold(whole.place, iter(whole.items))
    facts = next(iter(work.sessions.values()), None)
    found = SessionTree(
        tree=Tree(),
        agent=format.name,
        path=path,
        summary=whole.summary,
        complete=whole.complete,
        facts=facts,
        name=_name(work, facts, roots),
        error=None if whole.error is None else str(whole.error),
    )
    if format.tree is not None:
        view = tree(whole.items, format.tree, whole.place.stem, transaction=format.transaction)
        view.problems += [_elsewhere(open_.relation) for open_ in view.open]
        view.problems.sort(key=lambda relation: (relation.line, relation.start))
        found.tree = view
    else:
        found.kin = _kin(whole, facts, discovery)
        found.tree = _threads(whole, facts, found.kin)
    return found


def _name(work: FileWork, facts: SessionFacts | None, roots: Roots | None) -> str | None:
    """What the session is called: by its file, else by the agent's own index."""
    if facts is None:
        return None
    own = merge([work]).sessions.get(facts.id)
    if own is not None and own.title is not None:
        return own.title
    return read_titles(roots, [facts.id], collect=True).texts.get(facts.id) if roots is not None else None


def _elsewhere(relation: Relation) -> Relation:
    """What is not in this file may be in another one of the agent: only a note here."""
    return msgspec.structs.replace(relation, note=True, said=f"{relation.said}; another file may hold it")


def _kin(whole: Whole, facts: SessionFacts | None, discovery: Discovery) -> dict[str, Kin]:
    """Every other session of the agent, as both ends of its file tell it."""
    others = [file for file in discovery.files if file.agent == whole.format.name and file is not whole.known]
    found: dict[str, Kin] = {}
    for scan in peek_files(others):
        if scan.work is None or not scan.work.sessions:
            continue
        own = next(iter(scan.work.sessions.values()))
        key = own.id
        if facts is not None and key == facts.id:  # a further file of this session
            key = place_of(scan.file.path).stem or scan.file.path
        found.setdefault(key, Kin(scan.file.path, own))
    return found


def _parent(facts: SessionFacts) -> str | None:
    return facts.parent or facts.forked_from


def _how(facts: SessionFacts) -> str:
    return "subagent" if facts.parent else "fork" if facts.forked_from else "session"


def _threads(whole: Whole, facts: SessionFacts | None, kin: dict[str, Kin]) -> Tree:
    """The tree of sessions around this one, with this one's own turns."""
    own = facts.id if facts is not None else whole.place.stem or whole.place.name
    parents = {key: _parent(one.facts) if one.facts.id != own else own for key, one in kin.items()}
    parents[own] = _parent(facts) if facts is not None else None
    first = next((item.record for item in whole.items if not isinstance(item, LineFault)), None)
    turns, leaf = turns_as_nodes(whole.items, own)
    items: list[Item] = []
    for key in lineage(own, parents):
        if key == own:
            items.append(thread_node(own, parents[own], _how(facts) if facts is not None else "session", first))
            items += turns
        elif key in kin:
            one = kin[key].facts
            node = thread_node(key, parents[key], "segment" if one.id == own else _how(one))
            node.record.at = one.first
            items.append(node)
    there = {item.record.id for item in items if not isinstance(item, LineFault)}
    for key in kin.keys() - there:
        del kin[key]
    view = tree(items, TURNS, leaf=leaf)
    view.problems = [_not_at_home(relation) for relation in view.problems]
    return view


def _not_at_home(relation: Relation) -> Relation:
    if relation.kind != "missing-parent":
        return relation
    said = "the session it comes from is not among those found"
    return msgspec.structs.replace(relation, note=True, said=said)


__all__ = ["SCHEMA", "Kin", "SessionTree", "TreeNode", "TreeView", "read_tree"]
