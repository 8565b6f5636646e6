"""How a thread was started: Codex's own evidence to one word (CONTRACT 13, sheet AGENT_SESSIONS 6).

In order: `thread_source` "subagent"; the structured or textual `source`; `thread_source` "automation"; known originators;
else unknown. "vscode" is what any client of the app-server is called, so `ide` says no more than that.
"""

from __future__ import annotations

from typing import Any

SOURCES: dict[str, str] = {
    "subagent": "subagent",
    "exec": "exec",
    "vscode": "ide",
    "cli": "interactive",
}
"""`source` as a word, or the first of these keys in it as an object, whatever its value."""

SOURCE_WORDS: dict[str, str] = {**SOURCES, "interactive": "interactive"}

ORIGINATORS: dict[str, str] = {
    "codex_exec": "exec",
    "symphony-orchestrator": "exec",
    "codex-tui": "interactive",
    "codex_cli_rs": "interactive",
    "Codex Desktop": "ide",
    "codex_work_desktop": "ide",
}


def origin_of(source: Any, thread_source: str | None, originator: str | None) -> str:
    """unknown, interactive, ide, exec or subagent."""
    if thread_source is not None and thread_source.lower() == "subagent":
        return "subagent"
    if isinstance(source, dict):
        for key, origin in SOURCES.items():
            if key in source:
                return origin
    elif isinstance(source, str):
        found = SOURCE_WORDS.get(source.strip().lower())
        if found is not None:
            return found
    if thread_source == "automation":
        return "exec"
    return ORIGINATORS.get(originator or "", "unknown")


def spawner(source: Any) -> str | None:
    """The thread that spawned this one, where `source` says so: 0.98 to 0.136 had no field of its own for it."""
    found = source
    for key in ("subagent", "thread_spawn", "parent_thread_id"):
        if not isinstance(found, dict):
            return None
        found = found.get(key)
    return found if isinstance(found, str) else None
