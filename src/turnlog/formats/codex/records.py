"""The typed records of Codex's session files, from the TypeScript client to 0.171 (sheet CODEX 2-8, 10).

A struct for each type of record, payload and item, with only the fields that are read; the decoder picks it by its `type`
and skips the rest unparsed (`lines` puts them together). Large texts (tool output, pictures) stay raw JSON text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...typed import ABSENT, Natural, Part

Number = int | float | None


class TokenUsage(msgspec.Struct, gc=False):
    """Counts as the client writes them; `cache_read_input_tokens` is another spelling of the cached ones."""

    input_tokens: Natural | None = None
    cached_input_tokens: Natural | None = None
    output_tokens: Natural | None = None
    reasoning_output_tokens: Natural | None = None
    total_tokens: Natural | None = None
    cache_write_input_tokens: Natural | None = None
    cache_read_input_tokens: Natural | None = None


class InfoMetadata(msgspec.Struct, gc=False):
    model: str | None = None


class Info(msgspec.Struct, gc=False):
    """`info` of a token_count. The models are of other programs that write these files; Codex names none here."""

    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None
    model: str | None = None
    model_name: str | None = None
    metadata: InfoMetadata | None = None


class Block(msgspec.Struct, gc=False):
    """One part of a content, output or summary."""

    type: str
    text: msgspec.Raw = ABSENT
    image_url: msgspec.Raw = ABSENT


class Passthrough(msgspec.Struct, gc=False):
    """What the client notes on an item (0.145 on): its turn, and who wrote each content part (0.150 on)."""

    turn_id: str | None = None
    content_item_kinds: list[str] | None = None


# -- response items


class ResponseItem(msgspec.Struct, gc=False, tag_field="type", tag="other"):
    """An item of the talk with the model. `call_id` pairs a call with its output."""

    internal_chat_message_metadata_passthrough: Passthrough | None = None


class Said(ResponseItem, tag="message"):
    role: str | None = None
    content: str | list[Block] | None = None
    id: str | None = None
    phase: str | None = None


class AgentMessage(ResponseItem, tag="agent_message"):
    author: str | None = None
    recipient: str | None = None
    content: str | list[Block] | None = None


class Reasoning(ResponseItem, tag="reasoning"):
    summary: str | list[Block] | None = None
    content: str | list[Block] | None = None
    encrypted_content: msgspec.Raw = ABSENT


class FunctionCall(ResponseItem, tag="function_call"):
    name: str | None = None
    arguments: msgspec.Raw = ABSENT
    call_id: str | None = None
    namespace: str | None = None


class CustomToolCall(ResponseItem, tag="custom_tool_call"):
    call_id: str | None = None
    name: str | None = None
    input: msgspec.Raw = ABSENT
    namespace: str | None = None


class OwnCall(ResponseItem, tag="local_shell_call"):
    """A call whose type is its tool."""

    id: str | None = None
    call_id: str | None = None
    action: msgspec.Raw = ABSENT
    arguments: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT


class WebSearchCall(OwnCall, tag="web_search_call"):
    pass


class ToolSearchCall(OwnCall, tag="tool_search_call"):
    pass


class ImageGenerationCall(OwnCall, tag="image_generation_call"):
    pass


class Output(ResponseItem, tag="function_call_output"):
    call_id: str | None = None
    output: msgspec.Raw = ABSENT


class CustomOutput(Output, tag="custom_tool_call_output"):
    pass


class SearchOutput(ResponseItem, tag="tool_search_output"):
    call_id: str | None = None


class SearchCallOutput(SearchOutput, tag="tool_search_call_output"):
    pass


class ItemMetadata(msgspec.Struct, gc=False):
    """`metadata` of a response_item (0.150 on)."""

    compaction_output: bool | None = None
    inherited_user_message: bool | None = None


# -- events


class Event(msgspec.Struct, gc=False, tag_field="type", tag="event"):
    """A payload of an event_msg."""


class TokenCount(Event, tag="token_count"):
    info: Info | None = None
    model: str | None = None


class UserMessage(Event, tag="user_message"):
    message: str | None = None


class Attribution(msgspec.Struct, gc=False):
    """Who began a turn."""

    turn_trigger: str | None = None
    parent_turn_id: str | None = None


class TaskStarted(Event, tag="task_started"):
    turn_id: str | None = None
    started_at: Number = None
    turn_attribution: Attribution | None = None


class TaskComplete(Event, tag="task_complete"):
    """started_at, completed_at: seconds since 1970, by an imported session's own clock."""

    turn_id: str | None = None
    started_at: Number = None
    completed_at: Number = None
    duration_ms: Number = None
    error: Any = None


class TurnAborted(Event, tag="turn_aborted"):
    turn_id: str | None = None
    reason: str | None = None
    started_at: Number = None
    completed_at: Number = None
    duration_ms: Number = None


class RolledBack(Event, tag="thread_rolled_back"):
    num_turns: Natural | None = None


class Settings(msgspec.Struct, gc=False):
    """`thread_settings`. service_tier "priority" is the fast, dearer one."""

    model: str | None = None
    model_provider_id: str | None = None
    service_tier: str | None = None
    reasoning_effort: str | None = None


class SettingsApplied(Event, tag="thread_settings_applied"):
    thread_settings: Settings | None = None


class Item(msgspec.Struct, gc=False):
    """`item` of an item_completed. Its other fields mirror response items."""

    type: str | None = None
    content: msgspec.Raw = ABSENT
    kind: Any = None
    agent_thread_id: Any = None
    agent_path: Any = None
    model: Any = None


class ItemCompleted(Event, tag="item_completed"):
    thread_id: str | None = None
    turn_id: str | None = None
    item: Item | None = None


# -- payloads of other records


class Git(msgspec.Struct, gc=False):
    """The branch only: 0.29, 0.44 and 0.130 wrote a password into `repository_url`."""

    branch: str | None = None


class SessionMeta(msgspec.Struct, gc=False):
    """Who a thread is and where it comes from. `session_id`: the root thread of its tree."""

    id: str | None = None
    session_id: str | None = None
    timestamp: str | int | None = None
    cwd: str | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: Any = None
    thread_source: str | None = None
    model_provider: str | None = None
    model: str | None = None
    history_mode: str | None = None
    history_base: Any = None
    forked_from_id: str | None = None
    forked_from_ordinal_exclusive: Natural | None = None
    parent_thread_id: str | None = None
    subagent_history_start_ordinal: Natural | None = None
    multi_agent_version: str | None = None
    agent_nickname: str | None = None
    agent_path: str | None = None
    agent_role: str | None = None
    git: Git | None = None


class TurnContext(msgspec.Struct, gc=False):
    turn_id: str | None = None
    cwd: str | None = None
    model: str | None = None
    effort: str | None = None


class Compacted(msgspec.Struct, gc=False):
    message: str | None = None
    window_number: Natural | None = None
    compaction_response_id: str | None = None


class UsageRecord(msgspec.Struct, gc=False):
    thread_id: str | None = None
    turn_id: str | None = None
    response_id: str | None = None
    usage: TokenUsage | None = None
    model: str | None = None


# -- lines


class Enveloped(msgspec.Struct, gc=False, tag_field="type", tag="enveloped"):
    timestamp: str | int | None = None


class SessionMetaLine(Enveloped, tag="session_meta"):
    payload: SessionMeta | None = None


class TurnContextLine(Enveloped, tag="turn_context"):
    payload: TurnContext | None = None


class CompactedLine(Enveloped, tag="compacted"):
    payload: Compacted | None = None


class UsageRecordLine(Enveloped, tag="token_usage_record"):
    payload: UsageRecord | None = None


class Bare(msgspec.Struct, gc=False):
    """A payload of a type that is not known."""

    type: str | None = None


class OpenLine(msgspec.Struct, gc=False):
    """A line without a known type: the header of a flat file (id, timestamp, git), its `state`, or a new type."""

    type: str | None = None
    timestamp: str | int | None = None
    payload: Bare | None = None
    record_type: str | None = None
    id: str | None = None
    role: Any = None
    git: Git | None = None


BLOCKS: Part[Sequence[Block | None]] = Part(list[Block])
