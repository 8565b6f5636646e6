"""Every native type of what Pi prints: what it is projected to, or why it is left out (sheet PI 8-9).

Labels: an event's `type`; `update:TYPE` of what an update adds; `entry:TYPE` of an appended entry; `role:ROLE` of a message and
`content:TYPE` of its blocks, as in a session file.
"""

from __future__ import annotations

from typing import Literal

from ...stream import Part
from ..base import Ignored
from .types import BLOCKS, ENTRY_TYPES, ROLES

EVENT_TYPES: dict[str, tuple[str, ...]] = {
    "session": ("meta", "run"),
    "agent_start": ("run",),
    "agent_end": ("run",),
    "agent_settled": ("run",),
    "message_start": ("begun",),
    "message_update": ("delta", "begun"),
    "message_end": (
        "message", "usage", "thinking", "image", "tool_call", "tool_result", "custom_message", "custom", "ended",
    ),
    "tool_execution_start": ("tool_run",),
    "tool_execution_update": ("tool_run",),
    "tool_execution_end": ("tool_run",),
    "queue_update": ("queue",),
    "entry_appended": ("custom", "context_edit", "usage", "custom_message", "image", "compaction", "branch_summary", "label",
                       "session_name", "model_change", "thinking_level_change"),
    "session_info_changed": ("session_name",),
    "thinking_level_changed": ("thinking_level_change",),
    "compaction_start": ("compacting",),
    "compaction_end": ("compacting", "compaction", "usage"),
    "auto_retry_start": ("retry",),
    "auto_retry_end": ("retry",),
    "summarization_retry_scheduled": ("retry",),
    "summarization_retry_attempt_start": ("retry",),
    "summarization_retry_finished": ("retry",),
    "bash_execution_update": ("notice",),
    "extension_error": ("notice",),
    "response": ("reply",),
    "extension_ui_request": ("asked",),
}  # fmt: skip

UPDATES: dict[str, tuple[Part, Literal["opens", "grows", "closes"]]] = {
    "text_start": ("text", "opens"),
    "text_delta": ("text", "grows"),
    "text_end": ("text", "closes"),
    "thinking_start": ("thinking", "opens"),
    "thinking_delta": ("thinking", "grows"),
    "thinking_end": ("thinking", "closes"),
    "toolcall_start": ("tool_call", "opens"),
    "toolcall_delta": ("tool_call", "grows"),
    "toolcall_end": ("tool_call", "closes"),
}

ENTRIES: frozenset[str] = frozenset(ENTRY_TYPES) - {"session", "message"}
"""The entries that may be told as appended. A message is told by its own events, and a header opens a stream."""

STREAM_TYPES: dict[str, tuple[str, ...]] = {
    **EVENT_TYPES,
    **{f"update:{update}": ("delta",) for update in UPDATES},
    **{f"entry:{entry}": ENTRY_TYPES[entry] for entry in sorted(ENTRIES)},
    **{f"role:{role}": (*kinds, "ended") if role == "assistant" else kinds for role, kinds in ROLES.items()},
    **{f"content:{block}": kinds for block, kinds in BLOCKS.items()},
}

_AGAIN = "not sent by Pi itself, which says the same with message_start and message_end"

STREAM_IGNORED: dict[str, Ignored] = {
    "turn_start": Ignored("says nothing: a turn is one answer and its results", "1.6.0, sheet 8"),
    "turn_end": Ignored("repeats messages whose message_end was told before", "1.6.0, sheet 8 and 10"),
    "update:start": Ignored(_AGAIN, "1.6.0 by its code, sheet 8"),
    "update:done": Ignored(_AGAIN, "1.6.0 by its code, sheet 8"),
    "update:error": Ignored(_AGAIN, "1.6.0 by its code, sheet 8"),
    "entry:again": Ignored("a compaction that compaction_end told of: not counted twice", "1.6.0 by its code, sheet 8"),
    "entry:message": Ignored("a message that message_end told of: not counted twice", "no version seen, sheet 8"),
}
