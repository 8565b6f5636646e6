"""swink-agent: `<config dir>/swink-agent/sessions/<id>.jsonl` (sheet SWINK_AGENT; source of 0.12.1, run through serde)."""

from __future__ import annotations

from typing import Any

from ..base import Format, Root, TransactionRule
from .context import CONTEXT
from .fold import fold
from .lines import SCHEMA
from .session import SwinkSession
from .types import ENTRY_TYPES, IGNORED, MARKS, ROLES, TYPES


def _is_record(value: dict[str, Any]) -> bool:
    """A line has a mark that is `true`, a known entry type with its data, or a message's role, content and time; line 1
    has all the strings of the metadata."""
    if any(value.get(mark) is True for mark in MARKS):
        return True
    kind = value.get("entry_type")
    if isinstance(kind, str):
        return kind in ENTRY_TYPES and isinstance(value.get("data"), dict)
    if value.get("role") in ROLES:
        return isinstance(value.get("content"), list) and isinstance(value.get("timestamp"), int)
    return _is_meta(value)


def _is_meta(value: dict[str, Any]) -> bool:
    return all(isinstance(value.get(key), str) for key in ("id", "title", "created_at", "updated_at"))


def _sniff(value: dict[str, Any]) -> bool:
    """A raw message has no `type`; every other agent's line of a message has."""
    return ("type" not in value or value.get("_custom") is True) and _is_record(value)


SWINK = Format(
    name="swink",
    title="swink-agent",
    schema=SCHEMA,
    session=SwinkSession,
    is_record=_is_record,
    sniff=_sniff,
    types=TYPES,
    ignored=IGNORED,
    root=Root(defaults=("<config>/swink-agent/sessions",), scans=(("", "*.jsonl"),)),
    fold=fold,
    context=CONTEXT,
    transaction=TransactionRule(begin="_append", committed="committed"),
)
