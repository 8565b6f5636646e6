"""Every native type of swink-agent's files: what it is projected to, or why it is left out.

Labels: the mark, role or entry type that makes a line what it is; `session_meta` for line 1; `content:TYPE` of blocks.
All were seen in the source at HEAD 937dc25a and run through serde (sheet SWINK_AGENT 2-4). An unknown role or entry type
is counted as `role:NAME` or `entry_type:NAME`, metadata of another version as `version:N`.
"""

from __future__ import annotations

from ..base import Ignored

ROLES = frozenset(("user", "assistant", "tool_result"))

ENTRY_TYPES = frozenset(("message", "model_change", "thinking_level_change", "compaction", "label", "custom"))

MARKS = ("_state", "_append", "_meta", "_custom")

TYPES: dict[str, tuple[str, ...]] = {
    "session_meta": ("meta", "session_name"),
    "_state": ("custom",),
    "_append": ("custom",),
    "_meta": ("meta", "session_name"),
    "_custom": ("custom_message",),
    "user": ("message", "image", "custom"),
    "assistant": ("message", "usage", "thinking", "image", "tool_call", "custom"),
    "tool_result": ("tool_result", "image", "custom"),
    "message": ("message", "usage", "thinking", "image", "tool_call", "tool_result", "custom"),
    "model_change": ("model_change",),
    "thinking_level_change": ("thinking_level_change",),
    "compaction": ("compaction",),
    "label": ("label",),
    "custom": ("custom",),
    "content:text": ("message", "tool_result"),
    "content:thinking": ("thinking",),
    "content:tool_call": ("tool_call",),
    "content:image": ("image",),
    "content:extension": ("custom",),
}

IGNORED: dict[str, Ignored] = {
    "_state:repeated": Ignored("the first state in the file is the one the agent uses", "0.12.1, sheet 2"),
}
