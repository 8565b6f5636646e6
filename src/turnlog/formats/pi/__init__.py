"""Pi: `~/.pi/agent/sessions/--<cwd>--/<time>_<session>.jsonl` (sheet PI; seen from 0.13.2 to 1.6.0)."""

from __future__ import annotations

from typing import Any

from ...jsontext import TextError, decode
from ..base import Format, Root, TreeRule, Walk
from .context import CONTEXT
from .copies import reconcile
from .entries import SCHEMA
from .fold import Lineage, fold
from .session import PiSession
from .types import ENTRY_TYPES, IGNORED, TYPES


def _is_record(value: dict[str, Any]) -> bool:
    """A record has a known type and an ISO time at its top; no block of content and no message inside one has both."""
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in ENTRY_TYPES or not isinstance(value.get("timestamp"), str):
        return False
    return kind != "message" or isinstance(value.get("message"), dict)


def _sniff(value: dict[str, Any]) -> bool:
    """The header, or an entry of the tree: no other agent's records have a `parentId`."""
    kind = value.get("type")
    if not isinstance(kind, str) or not isinstance(value.get("id"), str):
        return False
    return kind == "session" or (kind in ENTRY_TYPES and "parentId" in value)


def _recognise(line: bytes) -> bool:
    """Pi takes a file for a session when its first whole record is a header with an id; a byte order mark we forgive."""
    try:
        value = decode(line.decode(errors="replace").strip("\ufeff\0\r"))
    except TextError:
        return False
    return value.get("type") == "session" and isinstance(value.get("id"), str)


def _walk(plain: bool) -> Walk:
    from .walk import PiWalk

    return PiWalk(plain)


PI = Format(
    name="pi",
    title="Pi",
    schema=SCHEMA,
    session=PiSession,
    is_record=_is_record,
    sniff=_sniff,
    recognise=_recognise,
    fold=fold,
    reconcile=reconcile,
    hints=Lineage,
    types=TYPES,
    ignored=IGNORED,
    tree=TreeRule(id="id"),
    walk=_walk,
    context=CONTEXT,
    root=Root(
        # The folder of the first variable is the flat store itself; that of the second is the agent's folder.
        env=(
            ("PI_CODING_AGENT_SESSION_DIR", (("", "*.jsonl"),)),
            ("PI_CODING_AGENT_DIR", (("sessions", "**/*.jsonl"),)),
        ),
        expands=True,
        defaults=("~/.pi/agent",),
        scans=(("sessions", "**/*.jsonl"),),
    ),
)
