"""Who a user line of Claude Code is from (sheet CLAUDE_CODE 4): a person, a tool, or the client in the person's place."""

from __future__ import annotations

from ...model import Author, Event, Message, ToolResult
from .records import Origin, Said

# A user line the client wrote in the person's place is told by how its text begins (sheet 4).
_OPENINGS: tuple[tuple[str, Author], ...] = (
    ("<task-notification>", "notice"),
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<local-command-stdout>", "output"),
    ("<local-command-stderr>", "output"),
    ("<bash-input>", "command"),
    ("<bash-stdout>", "output"),
    ("<bash-stderr>", "output"),
    ("[Request interrupted by user", "interruption"),
)


def author_of(record: Said, said: Message, events: list[Event]) -> Author:
    """Who a user line is from, in the order of sheet 4."""
    for event in events:
        if event.__class__ is ToolResult:
            return "tool"
    if record.isCompactSummary:
        return "summary"
    if said.is_meta:
        return "injected"
    origin = record.origin
    if origin.__class__ is Origin and origin.kind not in (None, "human"):
        return "notice"
    return by_opening(said) or ("task" if said.record.sidechain else "human")


def by_opening(said: Message) -> Author | None:
    """Whom the first words give away; the text is decoded only where it can be one of them."""
    body = said.body[0] if said.body.__class__ is tuple else said.body
    first = body[1:2] if body.__class__ is bytes else body[:1].encode(errors="replace")  # type: ignore[union-attr]
    if first not in (b"<", b"[", b"W"):
        return None
    text = said.text
    for opening, author in _OPENINGS:
        if text.startswith(opening):
            return author
    return "warmup" if text == "Warmup" and said.record.sidechain else None
