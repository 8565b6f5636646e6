"""Who a message of Codex is from (sheet CODEX 6, CODEX_TRAPS 18, 19, 24).

From 0.150 on each content part has a kind. Before, the client's own texts in the person's place are told by how they
begin. A person's text in a subagent's thread is the task its parent gave it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Author, told

HUMAN_KINDS = frozenset(("user.text", "user.image"))

_BY_KIND: dict[str, Author] = {
    "compaction.summary": "summary",
    "generic.turn_aborted": "interruption",
    "shell.user_command": "command",
    "multi_agent.subagent_notification": "notice",
}

OPENINGS: tuple[tuple[str, Author], ...] = (
    ("<environment_context>", "injected"),
    ("# AGENTS.md instructions for ", "injected"),
    ("<user_instructions>", "injected"),
    ("<turn_aborted>", "interruption"),
    ("<user_shell_command>", "command"),
    ("<subagent_notification>", "notice"),
    ("<user_action>", "injected"),
    ("Warning: apply_patch was requested via ", "injected"),
)


def author_of(
    role: str, kinds: Sequence[str] | None, texts: Sequence[str | bytes], *, summary: bool, sidechain: bool
) -> Author:
    """The author of a message. texts: its text parts, as strings or raw JSON strings."""
    if summary:
        return "summary"
    if role == "assistant":
        return "agent"
    if role != "user":
        return "system"
    if kinds:
        if not HUMAN_KINDS.isdisjoint(kinds):
            return "task" if sidechain else "human"
        return _BY_KIND.get(kinds[0], "injected")
    first: Author | None = None
    for text in texts:
        author = by_opening(text)
        if author is None:
            return "task" if sidechain else "human"
        first = first or author
    return first or ("task" if sidechain else "human")


def by_opening(text: str | bytes) -> Author | None:
    """Whom the first words give away; the text is decoded only where it can be one of them."""
    first = text[1:2] if text.__class__ is bytes else text[:1].encode(errors="replace")  # type: ignore[union-attr]
    if first not in (b"<", b"#", b"W", b"\\"):
        return None
    said = told(text)
    for opening, author in OPENINGS:
        if said.startswith(opening):
            return author
    return None
