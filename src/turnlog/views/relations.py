"""How the records of a session point at each other, and where that does not hold together.

A pure function over the events of one file, and what other files hold. Relations are no reading faults: every record
here was read whole. A *note* is worth knowing and nothing is wrong because of it; the rest is. Everything is linear in
the number of records, and nothing recurses: parents may form any loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from ..errors import LineFault
from ..formats.base import TransactionRule, TreeRule
from ..model import BranchSummary, Compaction, ContextEdit, Custom, Item, Label, Message, Meta, Record, SessionName

RelationKind = Literal[
    "cycle",  # parents lead in a circle
    "self-parent",  # a record is its own parent
    "missing-parent",  # the parent is in no file that was read
    "missing-target",  # what a label, an edit, a compaction or a title points at is in no file that was read
    "cross-session",  # a record of another session, joined to nothing of this one
    "uncommitted",  # an append was begun and never committed: the agent itself would discard it
    "duplicate-id",  # two records of one id
    "duplicate-key",  # a key stands twice in one object; the last one counts
]


class Relation(msgspec.Struct, kw_only=True):
    """One place where records do not hold together.

    line, start, end: the record it is seen at. note: worth knowing, nothing is wrong. said: what it is, in words.
    count: how many records it is about. to_line: the other record it is about, where that is in the same file.
    """

    kind: RelationKind
    line: int
    start: int
    end: int
    said: str
    note: bool = False
    count: int = 1
    to_line: int | None = None


class Open(msgspec.Struct):
    """A relation that holds unless `id` is found in another file."""

    id: str
    relation: Relation


class _Node(msgspec.Struct, gc=False):
    record: Record
    lost_before: int | None  # line of the nearest record before it that is unreadable or has no id


class Links(msgspec.Struct):
    """What the records of one file say of each other, gathered by `links`."""

    nodes: list[_Node] = msgspec.field(default_factory=list)
    targets: list[tuple[str, Record, str, bool]] = msgspec.field(default_factory=list)
    joins: list[tuple[str, str]] = msgspec.field(default_factory=list)
    uncommitted: list[tuple[Record, int]] = msgspec.field(default_factory=list)

    @property
    def ids(self) -> Iterator[str]:
        """The ids of this file's records, in order."""
        return (node.record.id for node in self.nodes if node.record.id is not None)


def links(items: Iterable[Item], tree: TreeRule | None, transaction: TransactionRule | None = None) -> Links:
    """Gather what the records of one file say of each other, in one pass over all its items."""
    found = Links()
    record: Record | None = None
    begun: Record | None = None
    held, lost = 0, None
    for item in items:
        if isinstance(item, LineFault):
            if not item.recovered:
                lost = item.line
            continue
        head = item.record
        if head is not record:
            record = head
            held += 1
            if tree is not None and head.id is not None:
                found.nodes.append(_Node(head, lost))
        if transaction is not None:
            if isinstance(item, Custom) and item.name == transaction.begin:
                if begun is not None:
                    found.uncommitted.append((begun, held - 1))
                begun, held = head, 0
            elif isinstance(item, Meta) and (item.facts or {}).get(transaction.committed) is True:
                begun = None
        if tree is not None:
            if item.__class__ is Message and head.id is None:
                lost = head.line
            _point(item, head, tree, found)
    if begun is not None:
        found.uncommitted.append((begun, held))
    return found


def _point(item: Item, head: Record, tree: TreeRule, found: Links) -> None:
    """Note what this event points at beside its parent."""
    match item:
        case Label(target_id=str(key)):
            found.targets.append((key, head, "a label", False))
        case ContextEdit(target_id=str(key)):
            found.targets.append((key, head, "a context edit", False))
        case Compaction():
            if item.first_kept is not None:
                found.targets.append((item.first_kept, head, "a compaction", False))
            joined = (item.facts or {}).get(tree.joined) if tree.joined else None
            if isinstance(joined, str) and head.id is not None:
                found.joins.append((head.id, joined))
        # A fork leaves the branch behind that its summary tells of, and a title may be of a session long deleted.
        case BranchSummary(from_id=str(key)):
            found.targets.append((key, head, "a branch summary", True))
        case SessionName(leaf_id=str(key)):
            found.targets.append((key, head, "a title", True))


def relations(
    links: Links,
    tree: TreeRule | None,
    own: str | None = None,
    *,
    known: frozenset[str] | set[str] = frozenset(),
    alike: Callable[[Record, Record], bool] | None = None,
) -> tuple[list[Relation], list[Open]]:
    """What does not hold together in one file: for certain, and unless another file holds the id.

    own: the session the file is named for. known: ids of records that say no event. alike: whether two records of one
    id hold the same bytes; without it, whether they say the same type, time and parent.
    """
    found = [_uncommitted(record, held) for record, held in links.uncommitted]
    open_: list[Open] = []
    if tree is not None:
        last: dict[str, Record] = {}
        found += _duplicates(links, last, alike or _same_head)
        found += _cycles(last)
        open_ = _missing(links, last, known)
        found += _strangers(links, own)
    if tree is None or not tree.across:
        found += [open_relation.relation for open_relation in open_]
        open_ = []
    return sorted(found, key=_by_place), open_


def _by_place(relation: Relation) -> tuple[int, int]:
    return relation.line, relation.start


def relation_at(
    kind: RelationKind, at: Record, said: str, *, note: bool = False, count: int = 1, to: Record | None = None
) -> Relation:
    """A relation seen at that record."""
    return Relation(
        kind=kind, line=at.line, start=at.start, end=at.end, said=said, note=note, count=count,
        to_line=to.line if to is not None else None,
    )  # fmt: skip


def _uncommitted(begun: Record, held: int) -> Relation:
    if not held:
        return relation_at("uncommitted", begun, "an append was begun here and nothing follows", note=True, count=0)
    what = f"{held} record{'s' if held > 1 else ''}"
    return relation_at("uncommitted", begun, f"an append of {what} was begun here and never committed", count=held)


def _same_head(a: Record, b: Record) -> bool:
    return (a.type, a.at_text, a.parent_id) == (b.type, b.at_text, b.parent_id)


def _duplicates(links: Links, last: dict[str, Record], alike: Callable[[Record, Record], bool]) -> Iterator[Relation]:
    """Records whose id was there before. Fills `last`: the record each id stands for, as agents take it."""
    again: list[Record] = []
    first_of_again: Record | None = None
    for node in links.nodes:
        record = node.record
        key = record.id
        assert key is not None
        before = last.get(key)
        last[key] = record
        if before is None:
            continue
        if alike(before, record):
            again.append(record)
            first_of_again = first_of_again or before
        else:
            yield relation_at(
                "duplicate-id", record, f"line {before.line} has the same id and says another thing", to=before
            )
    if again:
        what = "1 record is" if len(again) == 1 else f"{len(again)} records are"
        said = f"{what} written again, byte for byte; counted once"
        yield relation_at("duplicate-id", again[0], said, note=True, count=len(again), to=first_of_again)


def _cycles(last: dict[str, Record]) -> Iterator[Relation]:
    """Each circle of parents once, at the first of its lines."""
    for keys in circles({key: record.parent_id for key, record in last.items()}):
        circle = [last[key] for key in keys]
        first = min(circle, key=lambda record: record.line)
        if len(circle) == 1:
            yield relation_at("self-parent", first, "the record is its own parent")
        else:
            said = f"the parents of {len(circle)} records lead in a circle"
            yield relation_at("cycle", first, said, count=len(circle))


def circles(parents: Mapping[str, str | None]) -> Iterator[list[str]]:
    """Each circle that parents (by child) lead in, as its keys. Every key is walked over once."""
    walk_of: dict[str, int] = {}
    for number, begin in enumerate(parents):
        path: list[str] = []
        key: str | None = begin
        while key and key in parents and key not in walk_of:
            walk_of[key] = number
            path.append(key)
            key = parents[key]
        if key and walk_of.get(key) == number:
            yield path[path.index(key) :]


def _missing(links: Links, last: dict[str, Record], known: frozenset[str] | set[str]) -> list[Open]:
    """What is pointed at and stands nowhere in this file."""
    found = []
    for node in links.nodes:
        record = node.record
        parent = record.parent_id
        if parent and parent not in last and parent not in known:
            lost = node.lost_before
            if lost is None:
                relation = relation_at("missing-parent", record, "its parent was never written here")
            else:
                said = f"its parent is not here; it may be line {lost}, which is unreadable or has no id"
                relation = relation_at("missing-parent", record, said, note=True)
            found.append(Open(parent, relation))
    for key, record, what, note in links.targets:
        if key and key not in last and key not in known:
            relation = relation_at("missing-target", record, f"{what} points at a record that is not here", note=note)
            found.append(Open(key, relation))
    return found


def _strangers(links: Links, own: str | None) -> Iterator[Relation]:
    """Records of another session. Joined to this one's by parents they are its past; else they do not belong here."""
    sessions: dict[str, list[Record]] = {}
    for node in links.nodes:
        session = node.record.session_id
        if session is not None:
            sessions.setdefault(session, []).append(node.record)
    if len(sessions) < 2:
        return
    named = own in sessions
    home = own if own is not None and named else next(iter(sessions))
    group = _groups(links)
    ours = {group(record.id) for record in sessions[home] if record.id is not None}
    for session, records in sessions.items():
        if session == home:
            continue
        apart = [record for record in records if record.id is not None and group(record.id) not in ours]
        joined = len(records) - len(apart)
        if apart and named:
            what = "a record" if len(apart) == 1 else f"{len(apart)} records"
            yield relation_at(
                "cross-session", apart[0], f"{what} of another session, joined to none of this", count=len(apart)
            )
        elif apart or joined:
            what = "a record" if len(records) == 1 else f"{len(records)} records"
            said = f"{what} of another session" + ("" if apart else ", which this one goes on from")
            yield relation_at("cross-session", records[0], said, note=True, count=len(records))


def _groups(links: Links) -> Callable[[str], str]:
    """Which records are joined, by parents and compactions: a function from id to one id of its group."""
    leader: dict[str, str] = {}

    def group(key: str) -> str:
        while (up := leader.get(key, key)) != key:
            leader[key] = leader.get(up, up)
            key = up
        return key

    for node in links.nodes:
        key, parent = node.record.id, node.record.parent_id
        if key and parent:
            leader[group(key)] = group(parent)
    for key, joined in links.joins:
        leader[group(key)] = group(joined)
    return group
