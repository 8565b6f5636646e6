"""Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` (sheet CODEX; seen from 0.1.2505 to 0.171.0)."""

from __future__ import annotations

from typing import Any

from ..base import BaseRule, Format, HistoryRule, Root, TitleRule
from .context import CONTEXT
from .document import document
from .fold import fold
from .lineage import Hints, reconcile
from .lines import SCHEMA
from .session import CodexSession
from .types import IGNORED, TYPES

_RECORDS = frozenset(label for label in (*TYPES, *IGNORED) if ":" not in label) | {"response_item", "event_msg"}


def _is_record(value: dict[str, Any]) -> bool:
    """A top-level record has the whole envelope. A flat line has none, so it is never looked for behind a torn one: a
    compaction holds whole items."""
    kind = value.get("type")
    return (
        isinstance(kind, str) and kind in _RECORDS and isinstance(value.get("payload"), dict) and "timestamp" in value
    )


def _sniff(value: dict[str, Any]) -> bool:
    """An envelope, the header of a flat file, or a whole TypeScript document."""
    kind = value.get("type")
    if kind is None:
        session = value.get("session")
        if isinstance(session, dict):
            return "id" in session and isinstance(value.get("items"), list)
        return "instructions" in value and isinstance(value.get("id"), str) and "timestamp" in value
    return isinstance(kind, str) and kind in _RECORDS and isinstance(value.get("payload"), dict)


_SCANS = tuple(
    (folder, pattern)
    for folder in ("sessions", "archived_sessions")
    for pattern in ("**/*.jsonl", "**/*.jsonl.zst", "**/rollout-*.json")
)

CODEX = Format(
    name="codex",
    title="Codex",
    provider="openai",
    schema=SCHEMA,
    session=CodexSession,
    is_record=_is_record,
    sniff=_sniff,
    types=TYPES,
    ignored=IGNORED,
    root=Root(env=(("CODEX_HOME", _SCANS),), defaults=("~/.codex",), scans=_SCANS, archived=("archived_sessions",)),
    fold=fold,
    reconcile=reconcile,
    hints=Hints,
    history=HistoryRule(file="history.jsonl", session="session_id", text="text", time="ts", unit=1_000_000),
    titles=TitleRule(pattern="session_index.jsonl", entries=None, id="id", title="thread_name", origin="source_title"),
    document=document,
    # A revert and a paginated fork go on from within an earlier file (sheet 4).
    based=BaseRule(fact="history_base", session="thread_id", end="end_byte_offset", number="end_ordinal_exclusive"),
    context=CONTEXT,
    suffixes=(".jsonl", ".jsonl.zst", ".json"),
)
