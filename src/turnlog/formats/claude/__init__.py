"""Claude Code: `~/.claude/projects/<slug>/<session>.jsonl` (sheet CLAUDE_CODE; seen from 1.0.38 to 2.1.332)."""

from __future__ import annotations

from typing import Any

from ..base import Format, HistoryRule, Root, TitleRule
from .fold import fold
from .records import SCHEMA
from .session import ClaudeSession
from .types import IGNORED, TYPES

_RECORDS = frozenset(label for label in (*TYPES, *IGNORED) if ":" not in label)


def _is_record(value: dict[str, Any]) -> bool:
    """A top-level record has a known type and a key of the envelope; a content block of type "result" has none."""
    return value.get("type") in _RECORDS and any(key in value for key in ("sessionId", "uuid", "leafUuid", "snapshot"))


def _sniff(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if kind in ("user", "assistant", "system"):
        return isinstance(value.get("message"), dict) and "role" in value["message"] or "sessionId" in value
    return kind in _RECORDS and kind != "session"


CLAUDE = Format(
    name="claude",
    title="Claude Code",
    schema=SCHEMA,
    session=ClaudeSession,
    is_record=_is_record,
    sniff=_sniff,
    fold=fold,
    types=TYPES,
    ignored=IGNORED,
    root=Root(
        env=(("CLAUDE_CONFIG_DIR", (("projects", "**/*.jsonl"),)),),
        defaults=("~/.claude", "~/.config/claude"),
        scans=(("projects", "**/*.jsonl"),),
    ),
    history=HistoryRule(
        file="history.jsonl", session="sessionId", text="display", time="timestamp", unit=1_000, project="project"
    ),
    titles=TitleRule(
        pattern="projects/*/sessions-index.json", entries="entries", id="sessionId", title="summary",
        origin="source_summary",
    ),  # fmt: skip
)
