"""Every native type of Claude Code's files: what it is projected to, or why it is left out.

Labels: a record's `type`; `system:SUBTYPE`, `attachment:TYPE`, `progress:TYPE`, `content:TYPE` of its parts. Versions and
sections are those of the sheet CLAUDE_CODE. A record of an unknown or ignored type that has an id is a node of the chain all
the same: it is counted as such and said as a bare `custom` event.
"""

from __future__ import annotations

from ..base import Ignored

TYPES: dict[str, tuple[str, ...]] = {
    "user": ("meta", "message", "image", "tool_result"),
    "assistant": ("meta", "message", "usage", "thinking", "image", "tool_call", "tool_result"),
    "system": ("message", "compaction", "turn", "custom"),
    "attachment": ("custom", "message"),
    "progress": ("custom", "tool_call"),
    "summary": ("session_name",),
    "custom-title": ("session_name",),
    "ai-title": ("session_name",),
    "agent-name": ("session_name",),
    "queue-operation": ("prompt",),
    "cost-state": ("totals",),
    "fork-context-ref": ("meta",),
    "system:compact_boundary": ("compaction",),
    "system:turn_duration": ("turn",),
    "system:informational": ("message",),
    "system:local_command": ("message",),
    "system:api_error": ("custom",),
    "system:stop_hook_summary": ("custom",),
    "content:text": ("message",),
    "content:thinking": ("thinking",),
    "content:redacted_thinking": ("thinking",),
    "content:tool_use": ("tool_call",),
    "content:server_tool_use": ("tool_call",),
    "content:mcp_tool_use": ("tool_call",),
    "content:tool_result": ("tool_result",),
    "content:mcp_tool_result": ("tool_result",),
    "content:web_search_tool_result": ("tool_result",),
    "content:web_fetch_tool_result": ("tool_result",),
    "content:image": ("image",),
    "content:document": ("image",),
    "progress:agent_progress": ("custom", "tool_call"),
    "progress:hook_progress": ("custom",),
    "progress:bash_progress": ("custom",),
    "attachment:queued_command": ("message",),
}

# Subtypes of `system` known only by name from the 2.1.332 program (sheet 5): nodes of the tree all the same.
SYSTEM_NAMES = """microcompact_boundary away_summary memory_saved agents_killed bridge_status scheduled_task_fire
model_fallback model_refusal_fallback permission_retry file_snapshot turn_preempted""".split()
TYPES |= {f"system:{name}": ("custom",) for name in SYSTEM_NAMES}

# Attachments stand in the chain of parents, so each is an event; their bodies are the client's, not the talk's (sheet 7).
ATTACHMENTS = """environment model deferred_tools_delta agent_listing_delta skill_listing auto_mode session_context date
remote_session_change prompt_snapshot total_tokens_reminder silent_turn_reminder file instructions command_permissions
plan_mode plan_mode_exit max_turns_reached hook_success hook_additional_context hook_system_message hook_blocking_error
hook_non_blocking_error nested_memory edited_text_file diagnostics todo_reminder task_reminder task_status token_usage
budget_usd output_style plan_file_reference invoked_skills teammate_mailbox thinking_drop""".split()
TYPES |= {f"attachment:{name}": ("custom",) for name in ATTACHMENTS}

_STATE = "state of the client, last one wins; nothing was said or spent"
_REQUEST = "a copy of the request: system prompt, tools and prompts again; never a message of its own"
_NAME = "known by name only, from the program's own table; no record of it was ever seen"

IGNORED: dict[str, Ignored] = {
    "last-prompt": Ignored("the last prompt's text again", "2.1.69+, sheet 6"),
    "mode": Ignored(_STATE, "2.1.156+, sheet 6"),
    "permission-mode": Ignored(_STATE, "2.1.53+, sheet 6"),
    "file-history-snapshot": Ignored("checkpoints of edited files; the files lie beside", "2.0.72+, sheet 6"),
    "file-history-delta": Ignored("one checkpoint of an edited file; the file lies beside", "2.1.332, sheet 6"),
    "tools-used": Ignored("names of tools that the calls themselves already say", "2.1.332, sheet 6"),
    "atis-latch": Ignored("an empty latch of the client", "2.1.269+, sheet 6"),
    "api-request-shape": Ignored(_REQUEST, "2.1.308+, sheet 6"),
    "api-request-blob": Ignored(_REQUEST, "2.1.308+, sheet 6"),
    "api-request": Ignored(_REQUEST, "2.1.308+, sheet 6"),
    "launched": Ignored("a workflow's journal, no transcript", "2.1.332, sheet 6"),
    "started": Ignored("a workflow's journal, no transcript", "2.1.332, sheet 6"),
    "result": Ignored("a workflow's journal, no transcript", "2.1.332, sheet 6"),
    "pr-link": Ignored("a link to a pull request the session made", "public reports, sheet 6"),
    "turn_end": Ignored("the end of a turn, without content", "about 2.0.65, sheet 6"),
    "content:tool_reference": Ignored("names a tool whose definition was loaded", "2.1.53+, crate 5"),
    "content:fallback": Ignored(
        "marks an answer of the fallback model; its usage is in the top-level numbers", "sheet 3"
    ),
}
IGNORED |= {
    name: Ignored(_NAME, "2.1.332 by name, sheet 6")
    for name in """tag agent-color agent-setting attribution-snapshot worktree-state content-replacement relocated
    continued-in ended-by-model derived-from frame-link memory-mode session-owner isolation-latch dev-mods bridge-session
    history-suppression data-flow-records data-flow-incomplete observer-ref resume-head-vouch api-request-resumed host-row
    repl-mode hybrid-organization artifact-created artifact-updated""".split()
}
