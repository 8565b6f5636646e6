"""Every native type of Pi's session files: what it is projected to, or why it is left out.

Labels: an entry's `type`; `role:ROLE` of a message; `content:TYPE` of its blocks. Sections are those of the sheet PI.
An entry of an unknown type is a node of Pi's tree all the same: it is counted as unknown and said as a bare `custom` event.
"""

from __future__ import annotations

from ..base import Ignored

ENTRY_TYPES: dict[str, tuple[str, ...]] = {
    "session": ("meta",),
    "message": ("message", "usage", "thinking", "image", "tool_call", "tool_result", "custom_message"),
    "model_change": ("model_change",),
    "thinking_level_change": ("thinking_level_change",),
    "compaction": ("compaction", "usage"),
    "branch_summary": ("branch_summary", "usage"),
    "usage": ("custom", "usage"),
    "custom": ("custom",),
    "custom_message": ("custom_message", "image"),
    "context_edit": ("context_edit",),
    "label": ("label",),
    "session_info": ("session_name",),
    # Of the old agent-core storage API (0.8x) only, by name from its docs (sheet 5): nodes of the tree, nothing more.
    "leaf": ("custom",),
    "active_tools_change": ("custom",),
}

ROLES: dict[str, tuple[str, ...]] = {
    "system": ("message",),
    "user": ("message", "image"),
    "assistant": ("message", "usage", "thinking", "image", "tool_call"),
    "toolResult": ("tool_result", "usage", "image"),
    "bashExecution": ("message",),
    "custom": ("custom_message", "image"),
    "hookMessage": ("custom_message", "image"),
    "branchSummary": ("message",),
    "compactionSummary": ("message",),
}

BLOCKS: dict[str, tuple[str, ...]] = {
    "text": ("message", "tool_result", "custom_message"),
    "thinking": ("thinking",),
    "image": ("image",),
    "toolCall": ("tool_call",),
}

TYPES: dict[str, tuple[str, ...]] = {
    **ENTRY_TYPES,
    **{f"role:{role}": kinds for role, kinds in ROLES.items()},
    **{f"content:{block}": kinds for block, kinds in BLOCKS.items()},
}

AGAIN = "session:again"

IGNORED: dict[str, Ignored] = {
    AGAIN: Ignored("a second header in one file, written by an old bug; Pi passes over it too", "1.6.0, sheet 3 (e12)"),
}
