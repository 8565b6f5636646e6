"""Every native type of Codex's files: what it is projected to, or why it is left out.

Labels: a record's `type` (`header` for the first line of a flat file and the `session` of a TypeScript document, `state`
for a line of `record_type` state); `response_item:TYPE` and `event_msg:TYPE` of payloads (a flat line is the item
itself), `item:TYPE` of an item_completed, `content:TYPE` of parts, `role:ROLE` of messages. Versions and sections are
those of the sheet CODEX; [S] is read from the client's schema, [B] from its strings, [crate] from AGENT_SESSIONS 5 and 6.
"""

from __future__ import annotations

from ..base import Ignored

TYPES: dict[str, tuple[str, ...]] = {
    "session_meta": ("meta",),
    "header": ("meta",),
    "turn_context": ("meta",),
    "compacted": ("compaction",),
    "token_usage_record": ("usage",),
    "response_item:message": ("message", "image"),
    "response_item:agent_message": ("custom_message",),
    "response_item:reasoning": ("thinking",),
    "response_item:function_call": ("tool_call",),
    "response_item:custom_tool_call": ("tool_call",),
    "response_item:local_shell_call": ("tool_call",),
    "response_item:web_search_call": ("tool_call",),
    "response_item:tool_search_call": ("tool_call",),
    "response_item:image_generation_call": ("tool_call", "image"),
    "response_item:function_call_output": ("tool_result", "image"),
    "response_item:custom_tool_call_output": ("tool_result", "image"),
    "response_item:tool_search_output": ("tool_result",),
    "response_item:tool_search_call_output": ("tool_result",),
    "event_msg:token_count": ("usage",),
    "event_msg:user_message": ("prompt",),
    "event_msg:task_started": ("turn",),
    "event_msg:task_complete": ("turn",),
    "event_msg:turn_aborted": ("turn",),
    "event_msg:thread_rolled_back": ("turn",),
    "event_msg:thread_settings_applied": ("meta",),
    "event_msg:item_completed": ("prompt", "custom"),
    "item:UserMessage": ("prompt",),
    "item:SubAgentActivity": ("custom",),
    "item:EnteredReviewMode": ("custom",),
    "item:ExitedReviewMode": ("custom",),
    "content:input_text": ("message", "tool_result"),
    "content:output_text": ("message", "tool_result"),
    "content:text": ("message", "tool_result"),
    "content:input_image": ("image",),
    "content:summary_text": ("thinking",),
    "content:reasoning_text": ("thinking",),
    "role:user": ("message",),
    "role:assistant": ("message",),
    "role:developer": ("message",),
    "role:system": ("message",),
}

_MIRROR = "mirrors a response item, which is read"
_NEVER = "an event the client sends but was never seen to store"
_BY_NAME = "known by name only, from the program's strings; no record of it was ever seen"
_SCHEMA = "known from the program's schema only; no record of it was ever seen"

IGNORED: dict[str, Ignored] = {
    "state": Ignored("a marker without content (0.8: with the id of the response before)", "0.8-0.29, sheet 2"),
    "world_state": Ignored("state from which prompts are built; no usage, nothing was said", "0.145+, sheet 11"),
    "inter_agent_communication_metadata": Ignored("delivery state of a message between agents", "0.169, sheet 3"),
    "inter_agent_communication": Ignored(_BY_NAME, "0.169 [B], sheet 3"),
    "dynamic_tools_updated": Ignored(_BY_NAME, "0.169 [B], sheet 3"),
    "security_risk_score": Ignored(_BY_NAME, "0.169 [B], sheet 3"),
    "realtime_item": Ignored(_BY_NAME, "0.169 [B], sheet 3"),
    "response_item:additional_tools": Ignored("definitions of tools, tens of kB; no call", "0.169, sheet 6"),
    "response_item:compaction": Ignored(
        "the summary for the model, encrypted; `compacted` counts", "0.169 [S], sheet 6"
    ),
    "response_item:context_compaction": Ignored("a mark of a compaction; `compacted` counts", "0.169 [S], sheet 6"),
    "response_item:compaction_trigger": Ignored("asks for a compaction; `compacted` counts", "0.169 [S], sheet 6"),
    "response_item:configuration_update": Ignored("settings; turn_context says them", "0.169 [S], sheet 6"),
    "response_item:other": Ignored("the client's own word for what it does not know", "0.169 [S], sheet 6"),
    "response_item:ghost_snapshot": Ignored("a commit to undo to; nothing was said", "0.98 [S], sheet 6"),
    "event_msg:agent_message": Ignored(_MIRROR, "0.34-0.147, sheet 7"),
    "event_msg:agent_reasoning": Ignored(_MIRROR, "0.34-0.147, sheet 7"),
    "event_msg:agent_reasoning_raw_content": Ignored(_MIRROR, "0.34-0.147, sheet 7"),
    "event_msg:patch_apply_end": Ignored("mirrors an apply_patch call and its output", "0.130+, sheet 7"),
    "event_msg:mcp_tool_call_end": Ignored("mirrors a call of an MCP tool and its output", "0.169 legacy, sheet 7"),
    "event_msg:context_compacted": Ignored("mirrors the `compacted` record beside it", "0.44-0.147, sheet 7"),
    "event_msg:exec_command_begin": Ignored(_NEVER, "sheet 7"),
    "event_msg:exec_command_end": Ignored(_NEVER, "sheet 7"),
    "event_msg:item_started": Ignored(_NEVER, "sheet 7"),
    "event_msg:error": Ignored("never seen stored: task_complete has the error", "sheet 7"),
    "event_msg:session_configured": Ignored(_NEVER, "sheet 7"),
    "event_msg:turn_diff": Ignored(_NEVER, "sheet 7"),
    "event_msg:thread_goal_updated": Ignored("state of the thread's goal; the goal tools' calls say it", "[crate]"),
    "event_msg:task_complete_notification": Ignored("a notice of a task_complete", "[crate]"),
    "item:AgentMessage": Ignored(_MIRROR, "0.150+, sheet 7"),
    "item:Reasoning": Ignored(_MIRROR, "0.150+, sheet 7"),
    "item:CommandExecution": Ignored("mirrors a call, where its command started, and its output", "0.150+, sheet 7"),
    "item:FileChange": Ignored("mirrors an apply_patch call and its output", "0.150+, sheet 7"),
    "item:McpToolCall": Ignored("mirrors a call of an MCP tool and its output", "0.150+, sheet 7"),
    "item:WebSearch": Ignored("mirrors a web_search_call", "0.150+, sheet 7"),
    "item:ImageView": Ignored("mirrors a view_image call", "0.150+, sheet 7"),
    "item:CollabAgentToolCall": Ignored("mirrors a call of an agent tool", "0.150+, sheet 7"),
    "item:ContextCompaction": Ignored("mirrors the `compacted` record beside it", "0.150+, sheet 7"),
    "item:Plan": Ignored(_SCHEMA, "0.169 [S], sheet 7"),
    "item:HookPrompt": Ignored(_SCHEMA, "0.169 [S], sheet 7"),
    "item:DynamicToolCall": Ignored(_SCHEMA, "0.169 [S], sheet 7"),
    "item:FunctionCallOutput": Ignored(_SCHEMA, "0.169 [S], sheet 7"),
    "item:Sleep": Ignored(_SCHEMA, "0.169 [S], sheet 7"),
    "item:ImageGeneration": Ignored(_SCHEMA, "0.169 [S], sheet 7"),
    "content:input_audio": Ignored("sound; `raw` gives the bytes", "0.169, sheet 6"),
    "content:encrypted_content": Ignored("text between agents that only the provider can read", "0.169, sheet 6"),
}
