"""What the model was shown at one entry of a session: its messages from top to bottom, and what was left out and why.

A pure function over the events of one file; the agent's own rule chooses, this makes rows of it. Every entry of the branch
is a message of the context, left out with a reason, or silent (it says nothing to a model), and never two of these.
Linear in the number of entries; nothing recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

import msgspec

from ..errors import LineFault, TurnlogError
from ..formats.base import Format
from ..model import (
    CustomMessage,
    Event,
    Image,
    Item,
    Message,
    Meta,
    ModelChange,
    Thinking,
    ThinkingLevelChange,
    ToolCall,
    ToolResult,
    Usage,
)
from ..seen import Branch, Chosen, ContextRule, Entry, Kind, Left, Reason, Seen
from .tree import Tree, tree


class NoSuchEntry(TurnlogError, LookupError):
    """A word names no entry of the file, or several."""


class Asks(msgspec.Struct, kw_only=True):
    """A tool the model asked for. arguments: the JSON value, or text where the agent stores text."""

    id: str | None
    name: str
    arguments: Any = None


class ContextRow(msgspec.Struct, kw_only=True):
    """One message of the context.

    entry: id of the entry it stands in, None where the agent gives none. role: the agent's own word. characters: of text,
    thinking and arguments. thinking: what the model thought, as far as it can be read; hidden: thoughts that cannot.
    calls: tools it asks for; answers: ids of the calls it answers. images: pictures in it. name: of the tool, extension or
    reminder. edited_by: the entry that changed what is shown. line, start, end: the record, in `file` (None: the file
    that was asked about).
    """

    entry: str | None
    role: str
    kind: Kind
    text: str = ""
    characters: int = 0
    name: str | None = None
    thinking: str | None = None
    hidden: int = 0
    calls: list[Asks] = msgspec.field(default_factory=list)
    answers: list[str] = msgspec.field(default_factory=list)
    is_error: bool | None = None
    images: int = 0
    message_id: str | None = None
    edited_by: str | None = None
    at: datetime | None = None
    line: int
    start: int
    end: int
    file: str | None = None


class LeftOut(msgspec.Struct, kw_only=True):
    """An entry of the branch that might have been shown and was not. by: the entry that took it out; by_line: its line."""

    entry: str | None
    reason: Reason
    type: str
    by: str | None = None
    by_line: int | None = None
    line: int
    start: int
    end: int
    file: str | None = None


class InUse(msgspec.Struct, kw_only=True):
    """The model that was in use at the entry."""

    provider: str | None = None
    model_id: str | None = msgspec.field(default=None, name="modelId")


class Context(msgspec.Struct, kw_only=True):
    """What the model was shown.

    leaf: the entry asked about (line: its line). branch: ids from the root to it. context: the messages, top to bottom.
    model, thinking_level: in use there; None where nothing says. left_out: entries of the branch that might have been
    shown. silent: entries that say nothing to a model, counted by type. elsewhere: entries of the file that are not on
    the branch. messages, characters, images: sums over `context`. doubts: what the file does not tell.
    """

    leaf: str | None = None
    line: int | None = None
    branch: list[str] = msgspec.field(default_factory=list)
    context: list[ContextRow] = msgspec.field(default_factory=list)
    model: InUse | None = None
    thinking_level: str | None = None
    left_out: list[LeftOut] = msgspec.field(default_factory=list)
    silent: dict[str, int] = msgspec.field(default_factory=dict)
    elsewhere: int = 0
    messages: int = 0
    characters: int = 0
    images: int = 0
    doubts: list[str] = msgspec.field(default_factory=list)


def context(
    items: Iterable[Item],
    format: Format,
    again: Callable[[Entry], bytes],
    at: str | None = None,
    *,
    before: Iterable[Entry] = (),
) -> Context:
    """The context at one entry of a file: at its leaf, or at the entry `at` names (see `entry_at`).

    again: the bytes of one entry's record. before: entries of other files that this one goes on from. Raises NoSuchEntry.
    """
    held = list(items)
    entries = entries_of(held)
    loose: list[Entry] = []
    rule = format.context
    view = Context(thinking_level=rule.level)
    if format.tree is not None:
        nodes = tree(held, format.tree)
        leaf = _node_at(entries, nodes, at)
        chain, along = _along(entries, nodes, leaf)
        view.elsewhere = len(nodes.nodes) - len(along)
        loose = [entry for entry in entries if entry.record.id is None]
        if chain and nodes.nodes[chain[0].record.id or ""].record.id in (*nodes.orphans, *nodes.cut):
            view.doubts.append(_ORPHAN)
    else:
        leaf = entry_at(entries, at) if at is not None else entries[-1] if entries else None
        last = leaf.record.start if leaf is not None else -1
        along = chain = [*before, *(entry for entry in entries if entry.record.start <= last)]
        view.elsewhere = sum(entry.record.start > last for entry in entries)
    if leaf is not None:
        view.leaf, view.line = leaf.record.id, leaf.record.line
    view.branch = [entry.record.id for entry in chain if entry.record.id is not None]
    _in_use(chain, rule, view)
    chosen = rule.choose(Branch(along, again, loose))
    view.thinking_level = chosen.level or view.thinking_level
    _fill(view, along, chosen)
    return view


_ORPHAN = "the branch begins at an entry whose parent is not in this file: what came before it is not here"


def entries_of(items: Iterable[Item], file: str | None = None) -> list[Entry]:
    """The records of a file with the events each says, in the order of the file."""
    entries: list[Entry] = []
    for item in items:
        if item.__class__ is LineFault:
            continue
        assert isinstance(item, Event)
        if not entries or entries[-1].record is not item.record:
            entries.append(Entry(item.record, [], file))
        entries[-1].events.append(item)
    return entries


def entry_at(entries: list[Entry], word: str) -> Entry:
    """The entry a word names: an id; a line of the file, which means the last entry up to there; or the beginning of one
    id. Raises NoSuchEntry."""
    exact = [entry for entry in entries if entry.record.id == word]
    if exact:
        return exact[-1]
    number = int(word) if word.isascii() and word.isdigit() and len(word) < 19 else None
    if number is not None and entries and number <= entries[-1].record.line:
        up_to = [entry for entry in entries if entry.record.line <= number]
        if up_to:
            return up_to[-1]
    fits = {key: entry for entry in entries if (key := entry.record.id) and word and key.startswith(word)}
    if len(fits) == 1:
        return next(iter(fits.values()))
    if fits:
        raise NoSuchEntry(f"--at: expected one entry, found {len(fits)} whose ids begin like that: give more of the id")
    ids = any(entry.record.id for entry in entries)
    wanted = "the id of an entry, the beginning of one, or a line of the file" if ids else "a line of the file"
    raise NoSuchEntry(f"--at: expected {wanted}, found none like that")


def _node_at(entries: list[Entry], nodes: Tree, at: str | None) -> Entry | None:
    """The entry the branch is to end at."""
    table = nodes.nodes
    known = [e for e in entries if e.record.id in table and table[e.record.id].record is e.record]
    if at is not None:
        return entry_at(known, at)
    return next((entry for entry in reversed(known) if entry.record.id == nodes.leaf), None)


def _along(entries: list[Entry], nodes: Tree, leaf: Entry | None) -> tuple[list[Entry], list[Entry]]:
    """The chain from the root to the leaf, and the same with what hangs beside it, each of that where the file has it."""
    if leaf is None or leaf.record.id is None:
        return [], []
    of_record = {entry.record.start: entry for entry in entries}
    key = leaf.record.id
    chain = [of_record[nodes.nodes[one].record.start] for one in nodes.path(key)]
    on_chain = {entry.record.id for entry in chain}
    beside = [of_record[nodes.nodes[one].record.start] for one in nodes.along(key) if one not in on_chain]
    along: list[Entry] = []
    n = 0
    for entry in chain:
        while n < len(beside) and beside[n].record.start < entry.record.start:
            along.append(beside[n])
            n += 1
        along.append(entry)
    return chain, along + beside[n:]


def _in_use(chain: list[Entry], rule: ContextRule, view: Context) -> None:
    """Model and thinking level: the last that anything on the whole branch says."""
    provider = model = None
    level = rule.level
    for entry in chain:
        paid = next((event.provider for event in entry.events if isinstance(event, Usage)), None)
        for event in entry.events:
            if isinstance(event, ModelChange):
                provider, model = event.provider, event.model
            elif isinstance(event, Message) and event.role == "assistant" and event.author != "error":
                if event.model is not None:
                    facts = event.facts or {}
                    provider, model = (
                        paid or facts.get("provider") or (provider if rule.provider else None),
                        event.model,
                    )
            elif isinstance(event, Meta):
                facts = event.facts or {}
                if rule.provider in facts:
                    provider = facts[rule.provider]
                if event.model is not None:
                    model = event.model
                    if rule.effort is not None:
                        level = facts.get(rule.effort, rule.level)
            elif isinstance(event, ThinkingLevelChange):
                level = event.level
    if model is not None or provider is not None:
        view.model = InUse(provider=provider, model_id=model)
    view.thinking_level = level


def _fill(view: Context, along: list[Entry], chosen: Chosen) -> None:
    """Rows of what was chosen, and what became of the rest."""
    told: set[int] = set()
    for seen in chosen.seen:
        told.add(id(seen.entry))
        row = _row(seen)
        view.context.append(row)
        view.characters += row.characters
        view.images += row.images
    view.messages = len(view.context)
    for left in sorted(chosen.left, key=lambda left: (left.entry.file is None, left.entry.record.start)):
        told.add(id(left.entry))
        view.left_out.append(_left(left))
    view.silent = dict(Counter(entry.record.type for entry in along if id(entry) not in told).most_common())
    view.doubts += chosen.doubts


def _row(seen: Seen) -> ContextRow:
    """One message as a row."""
    record = seen.entry.record
    row = ContextRow(
        entry=record.id, role=seen.role, kind=seen.kind, name=seen.name, at=record.at, line=record.line,
        start=record.start, end=record.end, file=seen.entry.file,
        edited_by=seen.edited_by.record.id if seen.edited_by is not None else None,
    )  # fmt: skip
    texts: list[str] = []
    thoughts: list[str] = []
    arguments = 0
    for event in seen.events:
        if isinstance(event, Message):
            texts.append(event.text)
            row.message_id = row.message_id or event.message_id
        elif isinstance(event, ToolResult):
            texts.append(event.text)
            if event.call_id is not None:
                row.answers.append(event.call_id)
            if event.is_error is not None:
                row.is_error = bool(row.is_error) or event.is_error
        elif isinstance(event, CustomMessage):
            texts.append(event.text)
        elif isinstance(event, Thinking):
            if event.text:
                thoughts.append(event.text)
            else:
                row.hidden += 1
        elif isinstance(event, ToolCall):
            asked = Asks(id=event.id, name=event.name, arguments=event.arguments)
            row.calls.append(asked)
            arguments += _length(event.input)
        elif isinstance(event, Image):
            row.images += 1
    row.text = seen.text if seen.text is not None else "\n".join(filter(None, texts))
    row.thinking = "\n".join(thoughts) if thoughts else None
    row.characters = len(row.text) + sum(map(len, thoughts)) + arguments
    return row


def _length(kept: Any) -> int:
    """Characters of a call's arguments as JSON, or of the text they are."""
    if isinstance(kept, bytes):
        return len(kept.decode(errors="replace"))
    if isinstance(kept, str):
        return len(kept)
    try:
        return 0 if kept is None else len(msgspec.json.encode(kept))
    except (RecursionError, UnicodeEncodeError, OverflowError):
        return 0


def _left(left: Left) -> LeftOut:
    record, by = left.entry.record, left.by
    return LeftOut(
        entry=record.id, reason=left.reason, type=record.type, line=record.line, start=record.start, end=record.end,
        by=by.record.id if by is not None else None, by_line=by.record.line if by is not None else None,
        file=left.entry.file,
    )  # fmt: skip
