"""Every line that Claude Code prints with `--output-format stream-json`: what it is projected to, or why it is left out.

Labels: a line's `type`; `system:SUBTYPE`; `result:SUBTYPE`; `stream_event:TYPE` of the API's own events and `delta:TYPE` of
their pieces; `content:TYPE` as in the session files. "seen" are captures of the versions named (sheet CLAUDE_CODE 12);
"docs" is the published list of the SDK's messages: no line of it was ever seen here.
"""

from __future__ import annotations

from ..base import Ignored
from .types import IGNORED as FILE_IGNORED
from .types import TYPES as FILE_TYPES

TYPES: dict[str, tuple[str, ...]] = {
    "assistant": ("message", "usage", "thinking", "tool_call", "tool_result", "image", "ended", "notice", "retry"),
    "user": ("message", "tool_result", "image"),
    "result": ("run", "usage", "totals", "retry"),
    "result:success": ("run", "usage", "totals", "retry"),
    "result:error_during_execution": ("run", "usage", "totals", "retry"),
    "result:error_max_turns": ("run", "usage", "totals", "retry"),
    "result:error_max_budget_usd": ("run", "usage", "totals", "retry"),
    "result:error_max_structured_output_retries": ("run", "usage", "totals", "retry"),
    "system:init": ("meta", "run"),
    "system:api_retry": ("retry",),
    "system:status": ("compacting",),
    "system:compact_boundary": ("compaction",),
    "system:informational": ("notice",),
    "system:notification": ("notice",),
    "system:permission_denied": ("notice",),
    "system:local_command_output": ("notice",),
    "stream_event:message_start": ("begun", "usage"),
    "stream_event:content_block_start": ("begun", "delta"),
    "stream_event:content_block_delta": ("delta",),
    "stream_event:message_delta": ("usage", "ended"),
    "delta:text_delta": ("delta",),
    "delta:thinking_delta": ("delta",),
    "delta:input_json_delta": ("delta",),
    **{label: kinds for label, kinds in FILE_TYPES.items() if label.startswith("content:")},
}

_TASK = (
    "the state of a task in the background; what it says comes as lines of its own, its end as the result of its call"
)
_HOOK = "a hook at work; what it adds to the talk comes as a message"
_CONTROL = "between the client and the program that started it; nothing was said or spent"
_DOCS = "docs, no line seen"

IGNORED: dict[str, Ignored] = {
    "system:task_started": Ignored(_TASK, "seen 2.1.112+"),
    "system:task_progress": Ignored(_TASK, "seen 2.1.112+"),
    "system:task_updated": Ignored(_TASK, "seen 2.1.197+"),
    "system:task_notification": Ignored(_TASK, "seen 2.1.112+"),
    "system:background_tasks_changed": Ignored(
        "the list of tasks in the background; that there are any lets one run begin beside another", "seen 2.1.332"
    ),
    "system:thinking_tokens": Ignored("an estimate; the result has the count", "seen 2.1.197+"),
    "system:hook_started": Ignored(_HOOK, "sheet 12"),
    "system:hook_progress": Ignored(_HOOK, _DOCS),
    "system:hook_response": Ignored(_HOOK, "sheet 12"),
    "system:control_request_progress": Ignored(_CONTROL, _DOCS),
    "system:model_refusal_fallback": Ignored("another model goes on after a refusal; its answer follows", _DOCS),
    "system:model_refusal_no_fallback": Ignored("the refused answer and the result say it", _DOCS),
    "system:plugin_install": Ignored("start-up of the client", _DOCS),
    "system:session_state_changed": Ignored("idle, running or waiting: the result line settles a run", _DOCS),
    "system:worker_shutting_down": Ignored("the process ends; a run without a result never settled", _DOCS),
    "system:commands_changed": Ignored("the list of commands", _DOCS),
    "system:files_persisted": Ignored("files were stored", _DOCS),
    "system:memory_recall": Ignored("which memory files were read", _DOCS),
    "system:elicitation_complete": Ignored(_CONTROL, _DOCS),
    "system:mirror_error": Ignored("a copy of the session could not be kept elsewhere", _DOCS),
    "stream_event:content_block_stop": Ignored("the line of the whole block says more", "seen 2.1.332"),
    "stream_event:message_stop": Ignored("message_delta before it says how the message ended", "seen 2.1.332"),
    "stream_event:ping": Ignored("nothing is said", "API docs"),
    "stream_event:error": Ignored("the retry or the result that follows says it", "API docs"),
    "delta:signature_delta": Ignored("for the provider's eyes only", "API docs"),
    "delta:citations_delta": Ignored("a source of the text; no word of it", "API docs"),
    "repeated": Ignored("a line of the talk whose uuid came shortly before", "public reports, sheet trap 22"),
    "tool_progress": Ignored("how long a tool has run", _DOCS),
    "tool_use_summary": Ignored("sums up calls that were read", _DOCS),
    "auth_status": Ignored(_CONTROL, _DOCS),
    "rate_limit_event": Ignored("the state of a quota; a call that was refused is retried or ends the run", _DOCS),
    "prompt_suggestion": Ignored("what a person might ask next", _DOCS),
    "conversation_reset": Ignored("the next init names the new session", _DOCS),
    "control_request": Ignored(_CONTROL, _DOCS),
    "control_response": Ignored(_CONTROL, _DOCS),
    "control_cancel_request": Ignored(_CONTROL, _DOCS),
    "keep_alive": Ignored(_CONTROL, _DOCS),
    **{label: why for label, why in FILE_IGNORED.items() if label.startswith("content:")},
}
