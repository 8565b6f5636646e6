"""The typed line of what Claude Code prints with `--output-format json` and `stream-json` (sheet CLAUDE_CODE 12).

Names are in snake_case here where the session files have camelCase. One struct serves every type of line.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...typed import ABSENT, Natural, Schema
from .records import ApiMessage, Block, TokenUsage


class Piece(msgspec.Struct, gc=False):
    """What a stream_event adds to a block, or says of the end of the message."""

    type: str | None = None
    text: msgspec.Raw = ABSENT
    thinking: msgspec.Raw = ABSENT
    partial_json: msgspec.Raw = ABSENT
    stop_reason: str | None = None


class ApiEvent(msgspec.Struct, gc=False):
    """An event of the API's own stream, passed on with `--include-partial-messages`."""

    type: str | None = None
    index: Natural | None = None
    message: ApiMessage | None = None
    content_block: Block | None = None
    delta: Piece | None = None
    usage: TokenUsage | None = None


class Compacted(msgspec.Struct, gc=False):
    trigger: str | None = None
    pre_tokens: Natural | None = None
    post_tokens: Natural | None = None


class StreamLine(msgspec.Struct, gc=False, kw_only=True):
    """One line of any type."""

    type: str
    subtype: str | None = None
    message: ApiMessage | None = None
    event: ApiEvent | None = None
    parent_tool_use_id: str | None = None
    session_id: str | None = None
    uuid: str | None = None
    timestamp: str | int | None = None
    request_id: str | None = None
    agent_id: str | None = None
    # system
    cwd: str | None = None
    model: str | None = None
    claude_code_version: str | None = None
    status: str | None = None
    compact_result: str | None = None
    compact_metadata: Compacted | None = None
    content: msgspec.Raw = ABSENT
    text: msgspec.Raw = ABSENT
    tool_name: str | None = None
    attempt: Natural | None = None
    max_retries: Natural | None = None
    retry_delay_ms: int | float | None = None
    error_status: int | None = None
    # assistant, system/api_retry
    error: str | None = None
    is_api_error_message: bool | None = None
    aborted: bool | None = None
    # user
    isSynthetic: bool | None = None
    # result
    is_error: bool | None = None
    result: msgspec.Raw = ABSENT
    errors: list[str] | None = None
    stop_reason: str | None = None
    terminal_reason: str | None = None
    usage: TokenUsage | None = None
    modelUsage: Any = None
    total_cost_usd: float | None = None


SCHEMA: Schema[StreamLine] = Schema(StreamLine)
