"""What Claude Code shows its model (sheet CLAUDE_CODE 4-7, 9, 10; held against the requests that 2.1.332 stores itself).

From the last compaction of the branch on: its summary, the messages it preserved, what came after. Lines of one answer are
one message and stand together. What the client puts in beside the talk rises above the prompt that it was made for.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...model import Compaction, Custom, Image, Message, Thinking, ToolCall, ToolResult
from ...seen import Branch, Chosen, ContextRule, Entry, Left, Seen, look
from ...typed import Part


class _Preserved(msgspec.Struct, gc=False):
    anchorUuid: str | None = None
    uuids: list[str] | None = None


class _Segment(msgspec.Struct, gc=False):
    headUuid: str | None = None
    anchorUuid: str | None = None
    tailUuid: str | None = None


class _Metadata(msgspec.Struct, gc=False):
    preservedMessages: _Preserved | None = None
    preservedSegment: _Segment | None = None


class _Rendered(msgspec.Struct, gc=False):
    content: Any = None


class _Again(msgspec.Struct, gc=False):
    """What a record holds that no event says, and the context needs."""

    compactMetadata: _Metadata | None = None
    isApiErrorMessage: bool | None = None
    rendered: list[_Rendered] | None = None
    renderedRole: str | None = None
    effort: str | None = None


_AGAIN: Part[_Again] = Part(_Again)
_NOTHING = _Again()


def choose(branch: Branch) -> Chosen:
    """The messages of a branch."""
    chosen = Chosen()
    shown = _since_compaction(branch, chosen)
    shown = _joined(shown, chosen)
    renders = _renders(shown, branch)
    seen: list[Seen] = []
    for entry in shown:
        one = _message(entry, branch, renders, chosen)
        if one is not None:
            seen.append(one)
    chosen.seen = _risen(seen)
    chosen.level = _effort(branch)
    if any(entry.record.type == "fork-context-ref" for entry in branch.loose):
        chosen.doubts.append(_FORKED)
    if any(isinstance(event, Custom) and event.name == _CLEARED for entry in shown for event in entry.events):
        chosen.doubts.append(_SHORTENED)
    return chosen


def _effort(branch: Branch) -> str | None:
    """How hard the model was to think, by the last answer that says it (2.1.212 on)."""
    for entry in reversed(branch.entries):
        if any(isinstance(event, Message) and event.author == "agent" for event in entry.events):
            return _read(entry, branch).effort
    return None


_CLEARED = "system:microcompact_boundary"
_FORKED = "this subagent was also shown its parent's talk, which lies in the parent's file"
_SHORTENED = "the client took older results out of the context, and the file does not say which: they are shown whole"


def _read(entry: Entry, branch: Branch) -> _Again:
    return look(_AGAIN, branch.again(entry)) or _NOTHING


def _since_compaction(branch: Branch, chosen: Chosen) -> list[Entry]:
    """The entries from the last compaction on, with what it preserved. Its boundary says nothing itself; before there
    were boundaries (1.0.128) a summary alone marked the place."""
    entries = branch.entries
    last = next((n for n in range(len(entries) - 1, -1, -1) if _is_boundary(entries[n])), None)
    first = last
    if last is None:
        first = next((n for n in range(len(entries) - 1, -1, -1) if _is_summary(entries[n])), None)
        if first is None:
            return entries
    assert first is not None
    by = entries[first]
    after = entries[first:] if last is None else entries[first + 1 :]
    kept, anchor = ([], None) if last is None else _preserved(_read(by, branch), entries[:first])
    saved = {id(entry) for entry in kept}
    for entry in entries[:first]:
        if id(entry) not in saved and _might(entry):
            older = _is_boundary(entry)
            chosen.left.append(Left(entry, "older_compaction" if older else "compacted", by))
    if last is not None:
        chosen.left.append(Left(by, "boundary"))
    at = next((n + 1 for n, entry in enumerate(after) if entry.record.id == anchor), 1 if kept else 0)
    return [*after[:at], *kept, *after[at:]]


def _is_boundary(entry: Entry) -> bool:
    return any(event.__class__ is Compaction for event in entry.events)


def _is_summary(entry: Entry) -> bool:
    return any(isinstance(event, Message) and event.author == "summary" for event in entry.events)


def _preserved(about: _Again, before: list[Entry]) -> tuple[list[Entry], str | None]:
    """What a compaction kept word for word, and the entry it is shown after. Older clients name only its ends."""
    metadata = about.compactMetadata
    if metadata is None:
        return [], None
    messages, segment = metadata.preservedMessages, metadata.preservedSegment
    if messages is not None and messages.uuids is not None:
        by_id = {entry.record.id: entry for entry in before}
        return [by_id[key] for key in messages.uuids if key in by_id], messages.anchorUuid
    if segment is not None:
        places = {entry.record.id: n for n, entry in enumerate(before)}
        head, tail = places.get(segment.headUuid), places.get(segment.tailUuid)
        if head is not None and tail is not None:
            return before[head : tail + 1], segment.anchorUuid
    return [], None


def _joined(entries: list[Entry], chosen: Chosen) -> list[Entry]:
    """Lines of one answer next to each other; where results were written between them, its calls come last. An answer
    that is nothing but thoughts is shown only as long as nothing follows it."""
    answers: dict[str, list[Entry]] = {}
    groups: list[list[Entry]] = []
    split: set[int] = set()
    for entry in entries:
        answer = next(
            (event.message_id for event in entry.events if isinstance(event, Message) and event.role == "assistant"),
            None,
        )
        group = answers.get(answer) if answer is not None else None
        if group is None:
            group = []
            groups.append(group)
            if answer is not None:
                answers[answer] = group
        elif groups[-1] is not group:
            split.add(id(group))
        group.append(entry)
    out: list[Entry] = []
    for group in groups:
        if group is not groups[-1] and all(_only_thinks(entry) for entry in group):
            chosen.left += [Left(entry, "empty") for entry in group]
        elif id(group) in split:
            out += sorted(group, key=_calls)
        else:
            out += group
    return out


def _calls(entry: Entry) -> bool:
    return any(event.__class__ is ToolCall for event in entry.events)


def _only_thinks(entry: Entry) -> bool:
    thinks = False
    for event in entry.events:
        if event.__class__ is Thinking:
            thinks = True
        elif event.__class__ in (ToolCall, ToolResult, Image) or (isinstance(event, Message) and event.text):
            return False
    return thinks


def _renders(entries: list[Entry], branch: Branch) -> dict[int, _Again] | None:
    """What the records beside the talk say again, by place; None where this client stored no rendered text (to 2.1.197)."""
    found = {entry.record.start: _read(entry, branch) for entry in entries if entry.record.type == "attachment"}
    return found if any(about.rendered for about in found.values()) else None


# Records beside the talk that never were a message of their own: the system prompt, and what only the client needs.
_UNSENT = frozenset(
    """prompt_snapshot session_context command_permissions hook_system_message max_turns_reached hook_success
    silent_turn_reminder""".split()
)


def _message(entry: Entry, branch: Branch, renders: dict[int, _Again] | None, chosen: Chosen) -> Seen | None:
    """What one entry gives the model."""
    kind = entry.record.type
    if kind == "attachment":
        return _reminder(entry, renders)
    for event in entry.events:
        if not isinstance(event, Message):
            continue
        if kind == "system":
            if event.author in ("command", "output"):
                return Seen(entry, "user", "command", entry.events)
            chosen.left.append(Left(entry, "client_only"))
            return None
        if event.author == "error" and _read(entry, branch).isApiErrorMessage:
            chosen.left.append(Left(entry, "api_error"))
            return None
        role = event.role
        if event.author == "summary":
            return Seen(entry, role, "compaction_summary", entry.events)
        results = any(event.__class__ is ToolResult for event in entry.events)
        if role == "user" and results:
            return Seen(entry, role, "tool_result", entry.events)
        if event.author in ("injected", "notice"):
            return Seen(entry, role, "reminder", entry.events)
        return Seen(entry, role, "command" if event.author in ("command", "output") else "message", entry.events)
    if kind not in _KNOWN and any(event.__class__ is Custom for event in entry.events):
        chosen.left.append(Left(entry, "unknown_type"))
    return None


_KNOWN = frozenset(("user", "assistant", "system", "attachment", "progress"))


def _reminder(entry: Entry, renders: dict[int, _Again] | None) -> Seen | None:
    """What the client put in beside the talk, in the words it stored; before it stored them, without any."""
    typed = next((event for event in entry.events if isinstance(event, Message)), None)
    name = "queued_command"
    if typed is None:
        label = next((event.name for event in entry.events if isinstance(event, Custom)), "attachment")
        name = label.partition(":")[2] or label
    if renders is None:
        if typed is not None:
            return Seen(entry, "user", "message", entry.events)
        return None if name in _UNSENT else Seen(entry, "user", "reminder", [], "", name)
    about = renders.get(entry.record.start, _NOTHING)
    if not about.rendered:
        return None
    text = "\n".join(filter(None, (_text(part.content) for part in about.rendered)))
    if typed is not None:  # a person's own words, whatever they are wrapped in
        return Seen(entry, "user", "message", [], text, name)
    return Seen(entry, about.renderedRole or "user", "reminder", [], text, name)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(
        block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)
    )


def _risen(seen: list[Seen]) -> list[Seen]:
    """Reminders of the person's role above the prompts they follow, up to an answer or a result."""
    out: list[Seen] = []
    waiting: list[Seen] = []
    for one in reversed(seen):
        if one.kind == "reminder" and one.entry.record.type == "attachment" and one.role == "user":
            waiting.append(one)
            continue
        if waiting and (one.role == "assistant" or one.kind == "tool_result"):
            out += waiting
            waiting = []
        out.append(one)
    return (out + waiting)[::-1]


def _might(entry: Entry) -> bool:
    """Whether an entry might be shown at all."""
    if entry.record.type == "attachment":
        label = next((event.name for event in entry.events if isinstance(event, Custom)), "")
        return label.partition(":")[2] not in _UNSENT
    return entry.record.type != "progress" and any(
        event.__class__ in (Message, ToolResult, ToolCall, Compaction) for event in entry.events
    )


CONTEXT = ContextRule(choose=choose)
