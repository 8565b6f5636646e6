"""The words in which a format says what its model was shown: the entries of one branch in, the messages they make out.

A format's rule chooses, orders and changes; it builds no rows and reads no file. What an event leaves out (the items inside
a compaction, the text of a reminder) it reads from the record's own bytes, which it asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from .jsontext import TextError
from .model import Event, Record
from .typed import P, Part

Kind = Literal[
    "message",  # what a person or the model said
    "tool_result",  # what a tool gave back
    "command",  # a shell line of the person's, and what it printed
    "system",  # instructions to the model
    "reminder",  # what the client put in beside the talk
    "custom",  # what an extension put in
    "branch_summary",  # what was on a branch that was left
    "compaction_summary",  # what stands for the older talk
]
"""What a message of the context is."""

Reason = Literal[
    "compacted",  # older than a compaction keeps
    "older_compaction",  # a compaction after which another one came
    "boundary",  # only marks a place
    "replaced_system",  # the instructions stand with the compaction, or in a later message
    "taken_out",  # a context edit took it out
    "rolled_back",  # its turn was undone
    "empty",  # it has nothing to say
    "excluded",  # the person kept it from the model
    "api_error",  # the client's word for a call that failed
    "client_only",  # for the client's own screen
    "uncommitted",  # the agent itself discards it
    "unknown_type",  # nobody here knows what it is
]
"""Why an entry of the branch is not in the context."""


class Entry(msgspec.Struct):
    """One record and its events. file: where it lies, None for the file that was asked about."""

    record: Record
    events: list[Event] = msgspec.field(default_factory=list)
    file: str | None = None


class Seen(msgspec.Struct):
    """One message the model was shown: the entry it stands in, and the events that say it.

    role: the agent's own word. text: instead of what the events say. name: of a tool, an extension or a reminder.
    edited_by: the entry whose edit changed it.
    """

    entry: Entry
    role: str
    kind: Kind
    events: list[Event]
    text: str | None = None
    name: str | None = None
    edited_by: Entry | None = None


class Left(msgspec.Struct):
    """One entry that might have been shown and was not. by: the entry that took it out."""

    entry: Entry
    reason: Reason
    by: Entry | None = None


class Chosen(msgspec.Struct):
    """What a rule chose. left: what might have been shown and was not, in any order. doubts: what the file does not tell,
    a sentence each. level: the thinking level, where no event says it. Every entry that stands in neither list says nothing
    to a model."""

    seen: list[Seen] = msgspec.field(default_factory=list)
    left: list[Left] = msgspec.field(default_factory=list)
    doubts: list[str] = msgspec.field(default_factory=list)
    level: str | None = None


class Branch(msgspec.Struct):
    """What a rule chooses from. entries: from the root to the leaf, with what belongs to that path; where an agent's
    records form no tree, all of them. loose: entries of the file that have no id, where others
    have one. again: the bytes of one entry's record."""

    entries: list[Entry]
    again: Callable[[Entry], bytes]
    loose: list[Entry] = msgspec.field(default_factory=list)


class BaseRule(msgspec.Struct, frozen=True, kw_only=True):
    """How a file says that it goes on from another one. of: the thread it goes on from and the first ordinal that is no
    longer part of it, by the file's entries; None where it stands alone. ordinal: of one record, by its bytes. thread: whose
    file it is, by its stem."""

    of: Callable[[list[Entry]], tuple[str, int] | None]
    ordinal: Callable[[bytes], int | None]
    thread: Callable[[str | None], str | None]


class ContextRule(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent makes the context of its model. choose: the messages of a branch. level: the thinking level where none
    was ever set. provider, effort: the facts of a Meta that name the provider and the thinking level, where there are.
    base: how a file goes on from another one, where one may."""

    choose: Callable[[Branch], Chosen]
    level: str | None = None
    provider: str | None = None
    effort: str | None = None
    base: BaseRule | None = None


def look(part: Part[P], data: bytes) -> P | None:
    """What a record's bytes hold beside its events. A field that does not fit is unknown; None where nothing can be had."""
    try:
        return part.fast(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        return part.fit(data.decode(errors="replace").encode(), "$")[0]
    except (TextError, ValueError):
        return None


def _nothing(_: Branch) -> Chosen:
    return Chosen()


NO_CONTEXT = ContextRule(choose=_nothing)
"""Of what is no talk with a model."""
