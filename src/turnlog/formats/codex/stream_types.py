"""Every line that `codex exec --json` prints: what it is projected to, or why it is left out.

Labels: a line's `type`, with `item:TYPE` for the item it is about; `msg:TYPE` of the events printed before 0.44, `settings`
and `prompt` for the two lines before those. Versions and sections are those of the sheet CODEX; [S] is read from the
program's published types, no line of it was seen.
"""

from __future__ import annotations

from ..base import Ignored

_TOOL = ("tool_call", "tool_run", "tool_result")

TYPES: dict[str, tuple[str, ...]] = {
    "thread.started": ("meta", "run"),
    "turn.started": ("run",),
    "turn.completed": ("usage", "run"),
    "turn.failed": ("run", "retry"),
    "error": ("retry", "notice"),
    "item.started": ("tool_call", "tool_run"),
    "item.updated": ("tool_run",),
    "item.completed": ("message", "thinking", "notice", "retry", *_TOOL),
    "item:agent_message": ("message",),
    "item:reasoning": ("thinking",),
    "item:command_execution": _TOOL,
    "item:file_change": _TOOL,
    "item:mcp_tool_call": _TOOL,
    "item:web_search": _TOOL,
    "item:collab_tool_call": _TOOL,
    "item:error": ("notice",),
    "settings": ("meta", "run"),
    "prompt": ("message",),
    "msg:session_configured": ("meta",),
    "msg:task_started": ("run",),
    "msg:task_complete": ("run",),
    "msg:turn_aborted": ("run",),
    "msg:error": ("run",),
    "msg:stream_error": ("retry",),
    "msg:agent_message": ("message",),
    "msg:agent_reasoning": ("thinking",),
    "msg:exec_command_begin": ("tool_call", "tool_run"),
    "msg:exec_command_end": ("tool_run", "tool_result"),
    "msg:patch_apply_begin": ("tool_call", "tool_run"),
    "msg:patch_apply_end": ("tool_run", "tool_result"),
    "msg:mcp_tool_call_begin": ("tool_call", "tool_run"),
    "msg:mcp_tool_call_end": ("tool_run", "tool_result"),
    "msg:web_search_begin": ("tool_call", "tool_run"),
    "msg:web_search_end": ("tool_run", "tool_result"),
    "msg:token_count": ("usage",),
}

_PIECE = "a piece of what the whole event after it says"

IGNORED: dict[str, Ignored] = {
    "item:todo_list": Ignored(
        "the plan as it stands; the calls that changed it are not printed", "0.44-0.145, sheet 12"
    ),
    "msg:agent_message_delta": Ignored(_PIECE, "[S]"),
    "msg:agent_reasoning_delta": Ignored(_PIECE, "[S]"),
    "msg:agent_reasoning_raw_content": Ignored("what a reasoning text sums up", "[S]"),
    "msg:agent_reasoning_raw_content_delta": Ignored(_PIECE, "[S]"),
    "msg:agent_reasoning_section_break": Ignored("parts two reasoning texts", "0.34, sheet 12"),
    "msg:exec_command_output_delta": Ignored(_PIECE, "0.34, sheet 12"),
    "msg:turn_diff": Ignored("what a git diff would show; nothing was said or spent", "0.34, sheet 12"),
    "msg:plan_update": Ignored("the plan as it stands", "0.34, sheet 12"),
    "msg:user_message": Ignored("the prompt line says it", "[S]"),
    "msg:background_event": Ignored("a notice of the client to itself", "[S]"),
    "msg:shutdown_complete": Ignored("the process ends; task_complete settled the run", "[S]"),
}
