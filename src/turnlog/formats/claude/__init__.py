"""Claude Code: `~/.claude/projects/<slug>/<session>.jsonl` (sheet CLAUDE_CODE; seen from 1.0.38 to 2.1.332)."""

from __future__ import annotations

from typing import Any

from ..base import Format, HistoryRule, Root, TitleRule, TreeRule
from .context import CONTEXT
from .fold import fold
from .records import SCHEMA
from .session import ClaudeSession
from .types import IGNORED, TYPES

_RECORDS = frozenset(label for label in (*TYPES, *IGNORED) if ":" not in label)


_CHAIN = frozenset(("user", "assistant", "system", "attachment", "progress"))


def _is_record(value: dict[str, Any]) -> bool:
    """A top-level record has a known type and the keys of its envelope. A content block of type "result" has none; the
    copy of a record inside a progress record has a uuid, but neither a session nor a parent."""
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _RECORDS:
        return False
    if kind in _CHAIN:
        return any(key in value for key in ("sessionId", "parentUuid"))
    return any(key in value for key in ("sessionId", "uuid", "leafUuid", "snapshot", "snapshotMessageId"))


def _sniff(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("user", "assistant", "system"):
        return (isinstance(value.get("message"), dict) and "role" in value["message"]) or "sessionId" in value
    return kind in _RECORDS and kind != "session"


CLAUDE = Format(
    name="claude",
    title="Claude Code",
    provider="anthropic",
    schema=SCHEMA,
    session=ClaudeSession,
    is_record=_is_record,
    sniff=_sniff,
    fold=fold,
    types=TYPES,
    ignored=IGNORED,
    # Subagent files, resumed copies and cleaned-up files point at records of other files (sheet 9).
    tree=TreeRule(id="uuid", across=True, joined="logicalParentUuid", parallel=True, first_place=True),
    context=CONTEXT,
    root=Root(
        env=(("CLAUDE_CONFIG_DIR", (("projects", "**/*.jsonl"),)),),
        defaults=("~/.claude", "~/.config/claude"),
        scans=(("projects", "**/*.jsonl"),),
        others=("journal.jsonl",),
        subagents=("agent-*.jsonl",),
    ),
    history=HistoryRule(
        file="history.jsonl", session="sessionId", text="display", time="timestamp", unit=1_000, project="project"
    ),
    titles=TitleRule(
        pattern="projects/*/sessions-index.json",
        entries="entries",
        id="sessionId",
        title="summary",
        origin="source_summary",
    ),
)
