"""One session's tree: read from its file, with its name, and for sessions whose records have no ids, with the sessions it
comes from and those that come from it."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from ..contract import ReadOptions, ReadSummary
from ..discover import Discovery, SessionFile, find_sessions
from ..errors import LineFault, SourceError
from ..formats.base import BaseRule
from ..model import Item, Meta
from ..roots import Roots
from ..titles import read_titles
from ..views.relations import Relation
from ..views.threads import TURNS, Segment, lineage, thread_node, turns_as_nodes
from ..views.transcript import transcript
from ..views.tree import Tree, tree
from ..work import FileWork, SessionFacts
from .identity import merge
from .overview import iso
from .peek import peek_files
from .scan import SCAN_OPTIONS
from .shown import Subagent, subagents_of, task_of
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
    here. subagents: those that wrote files of their own and are no nodes. problems: what does not hold together; notes
    among them are only worth knowing. complete: the file was read
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
    subagents: list[Subagent]
    problems: list[Relation]
    summary: ReadSummary
    error: str | None = None


class Kin(msgspec.Struct):
    """Another session of the lineage: its file, and what names it (its title, else what it was asked first)."""

    file: SessionFile
    facts: SessionFacts
    said: str | None = None


class SessionTree(msgspec.Struct, kw_only=True):
    """A session's tree with what the file says of the session. kin: the sessions it is joined to, by id. files: where a
    node stands, if in another file."""

    tree: Tree
    agent: str
    path: str
    summary: ReadSummary
    complete: bool
    facts: SessionFacts | None = None
    name: str | None = None
    error: str | None = None
    kin: dict[str, Kin] = msgspec.field(default_factory=dict)
    files: dict[str, str] = msgspec.field(default_factory=dict)
    subagents: list[Subagent] = msgspec.field(default_factory=list)

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
            subagents=self.subagents,
            problems=seen.problems,
            summary=self.summary,
            error=self.error,
        )

    def _node(self, key: str) -> TreeNode:
        node = self.tree.nodes[key]
        record, event = node.record, node.event
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
            path=self.files.get(key),
        )


def session_tree(
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
        if whole.known is not None:
            turns = transcript(whole.items, format.transaction)
            found.subagents = subagents_of(whole.known, list(work.sessions), turns, discovery.files)
    else:
        _threads(found, whole, discovery, roots)
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


class _Around(msgspec.Struct):
    """The sessions of an agent around one: by id, and the further files of that one."""

    kin: dict[str, Kin] = msgspec.field(default_factory=dict)
    further: list[SessionFile] = msgspec.field(default_factory=list)


def _around(whole: Whole, own: str, discovery: Discovery) -> _Around:
    """Every other session of the agent, as both ends of its file tell it."""
    found = _Around()
    others = [file for file in discovery.files if file.agent == whole.format.name and file is not whole.known]
    for scan in peek_files(others):
        if scan.work is None or not scan.work.sessions:
            continue
        facts = next(iter(scan.work.sessions.values()))
        if facts.id == own:
            found.further.append(scan.file)
        else:
            found.kin.setdefault(facts.id, Kin(scan.file, facts))
    return found


def _parent(facts: SessionFacts) -> str | None:
    return facts.parent or facts.forked_from


def _how(facts: SessionFacts) -> str:
    return "subagent" if facts.parent else "fork" if facts.forked_from else "session"


def _threads(found: SessionTree, whole: Whole, discovery: Discovery, roots: Roots | None) -> None:
    """The tree of sessions around this one, with this one's own turns."""
    facts = found.facts
    own = facts.id if facts is not None else whole.place.stem or whole.place.name
    around = _around(whole, own, discovery)
    files, segments = _segments(whole, own, around.further)
    turns, leaf, where = turns_as_nodes(segments, own)
    found.files = {key: files[n] for key, n in where.items() if files[n] != found.path}
    parents = {key: _parent(one.facts) for key, one in around.kin.items()}
    parents[own] = _parent(facts) if facts is not None else None
    first = next((item.record for item in whole.items if not isinstance(item, LineFault)), None)
    items: list[Item] = []
    for key in lineage(own, parents):
        if key == own:
            items.append(thread_node(own, parents[own], _how(facts) if facts is not None else "session", first))
            items += turns
        elif (one := around.kin.get(key)) is not None:
            found.kin[key] = one
            found.files[key] = one.file.path
            items.append(thread_node(key, parents[key], _how(one.facts), at=one.facts.first))
    titles = read_titles(roots, list(found.kin), collect=True).texts if roots is not None else {}
    for key, one in found.kin.items():
        one.said = titles.get(key) or one.facts.first_prompt or (task_of(one.file) if one.facts.parent else None)
    found.tree = tree(items, TURNS, leaf=leaf)
    # Every node here is a session, or one's turn: that they are not all of one is no news.
    found.tree.problems = [_of_sessions(r) for r in found.tree.problems if r.kind != "cross-session"]


def _of_sessions(relation: Relation) -> Relation:
    if relation.kind != "missing-parent":
        return relation
    said = "the session it comes from is not among those found"
    return msgspec.structs.replace(relation, note=True, said=said)


def _segments(whole: Whole, own: str, further: list[SessionFile]) -> tuple[list[str], list[Segment]]:
    """The files a session is written in, the first one first: a file that goes on from within an earlier one of the same
    session leaves the rest of that behind. A file in a second place is no segment."""
    rule = whole.format.based
    if rule is None:
        return [whole.place.name], [Segment(whole.items)]
    wholes = [(whole.place.name, whole.items)]
    for file in further:
        with suppress(SourceError):
            wholes.append((file.path, read_whole(file.path, agent=file.agent).items))
    based = [(_base(items, rule, own), path, items) for path, items in wholes]
    based.sort(key=lambda one: (one[0] is not None, os.path.basename(one[1])))
    files: list[str] = []
    segments: list[Segment] = []
    numbers: list[int] = []
    for base, path, items in based:
        if base is None:
            if segments:
                continue
            segments.append(Segment(items))
        else:
            # It goes on from the latest file that holds the record before it.
            of = next((n for n in reversed(range(len(numbers))) if numbers[n] < base[1]), None)
            segments.append(Segment(items, of, base[0]))
        files.append(path)
        numbers.append(base[1] if base is not None else 0)
    return files, segments


def _base(items: list[Item], rule: BaseRule, own: str) -> tuple[int, int] | None:
    """The byte and the number of the record up to which an earlier file of the same session holds; None for a file that
    goes on from none, or from another session's."""
    meta = next((item for item in items if isinstance(item, Meta)), None)
    fact = (meta.facts or {}).get(rule.fact) if meta is not None else None
    if not isinstance(fact, dict) or fact.get(rule.session) != own:
        return None
    end, number = fact.get(rule.end), fact.get(rule.number)
    return (end, number) if isinstance(end, int) and isinstance(number, int) else None


__all__ = ["SCHEMA", "Kin", "SessionTree", "TreeNode", "TreeView", "session_tree"]
