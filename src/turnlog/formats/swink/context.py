"""What swink-agent shows its model (sheet SWINK_AGENT 2-5): all messages that were committed, in the order of the file.

Its compactor works in memory and writes at most how many messages it dropped, not which: that is a doubt, not a guess.
"""

from __future__ import annotations

from ...model import Compaction, Custom, CustomMessage, Message, Meta, ToolResult
from ...seen import Branch, Chosen, ContextRule, Entry, Kind, Left, Seen

_DROPPED = "a compaction dropped messages from the context, and the file does not say which: all are shown"


def choose(branch: Branch) -> Chosen:
    """The messages of a session."""
    chosen = Chosen()
    held: list[Seen] | None = None  # of an append that is not committed so far
    for entry in branch.entries:
        first = entry.events[0]
        if any(isinstance(event, Custom) and event.name == "_append" for event in entry.events):
            _discard(held, chosen)
            held = []
            continue
        if isinstance(first, Meta) and (first.facts or {}).get("committed") is True and held is not None:
            chosen.seen += held
            held = None
            continue
        if any(event.__class__ is Compaction for event in entry.events) and _DROPPED not in chosen.doubts:
            chosen.doubts.append(_DROPPED)
        seen = _message(entry, chosen)
        if seen is not None:
            (chosen.seen if held is None else held).append(seen)
    _discard(held, chosen)
    return chosen


def _discard(held: list[Seen] | None, chosen: Chosen) -> None:
    chosen.left += [Left(seen.entry, "uncommitted") for seen in held or ()]


def _message(entry: Entry, chosen: Chosen) -> Seen | None:
    for event in entry.events:
        if isinstance(event, Message):
            kind: Kind = "compaction_summary" if event.author == "summary" else "message"
            return Seen(entry, event.role, kind, entry.events)
        if isinstance(event, ToolResult):
            return Seen(entry, "tool_result", "tool_result", entry.events, name=event.name)
        if isinstance(event, CustomMessage):  # the host's own, for no model
            chosen.left.append(Left(entry, "client_only"))
            return None
    return None


CONTEXT = ContextRule(choose=choose)
