"""The typed record of Claude Code's session files, 1.0 to 2.1.332 (sheet CLAUDE_CODE 2-9).

Only the fields that are read stand here; the decoder skips the others unparsed. One struct serves every record type,
because the types share an envelope and no key means two things.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...typed import ABSENT, Natural, Part, Schema


class CacheCreation(msgspec.Struct, gc=False):
    ephemeral_5m_input_tokens: Natural | None = None
    ephemeral_1h_input_tokens: Natural | None = None


class Iteration(msgspec.Struct, gc=False):
    """One inner call of an answer. An `advisor_message` is not inside the top-level numbers (sheet 3)."""

    type: str | None = None
    model: str | None = None
    input_tokens: Natural | None = None
    output_tokens: Natural | None = None
    cache_read_input_tokens: Natural | None = None
    cache_creation_input_tokens: Natural | None = None
    cache_creation: CacheCreation | None = None


class OutputDetails(msgspec.Struct, gc=False):
    thinking_tokens: Natural | None = None


class ServerTools(msgspec.Struct, gc=False):
    web_search_requests: Natural | None = None
    web_fetch_requests: Natural | None = None


class TokenUsage(msgspec.Struct, gc=False):
    input_tokens: Natural | None = None
    cache_creation_input_tokens: Natural | None = None
    cache_read_input_tokens: Natural | None = None
    cache_creation: CacheCreation | None = None
    output_tokens: Natural | None = None
    server_tool_use: ServerTools | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | None = None
    output_tokens_details: OutputDetails | None = None
    reasoning_output_tokens: Natural | None = None
    total_tokens: Natural | None = None


class Picture(msgspec.Struct, gc=False):
    type: str | None = None
    media_type: str | None = None
    data: msgspec.Raw = ABSENT
    url: str | None = None


class Block(msgspec.Struct, gc=False):
    """A content block of any type; nested in tool results."""

    type: str
    text: msgspec.Raw = ABSENT
    thinking: msgspec.Raw = ABSENT
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = ABSENT
    tool_use_id: str | None = None
    content: msgspec.Raw = ABSENT
    is_error: bool | None = None
    source: Picture | None = None


class ApiMessage(msgspec.Struct, gc=False):
    model: str | None = None
    id: str | None = None
    role: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    usage: TokenUsage | None = None
    is_meta: bool | None = None


class Origin(msgspec.Struct, gc=False):
    kind: str | None = None


class Forked(msgspec.Struct, gc=False):
    sessionId: str | None = None
    messageUuid: str | None = None


class CompactMetadata(msgspec.Struct, gc=False):
    trigger: str | None = None
    preTokens: Natural | None = None
    postTokens: Natural | None = None


class Attachment(msgspec.Struct, gc=False):
    type: str | None = None
    prompt: str | list[Block] | None = None
    origin: Origin | None = None
    humanTurn: Any = None


class NestedMessage(msgspec.Struct, gc=False):
    """The copy of a subagent's record inside a progress record."""

    type: str | None = None
    message: ApiMessage | None = None
    timestamp: str | int | None = None


class ProgressData(msgspec.Struct, gc=False):
    type: str | None = None
    message: NestedMessage | None = None
    agentId: str | None = None


class Said(msgspec.Struct, gc=False, kw_only=True):
    """What all records are read as but those of `LARGER`: prompts and answers are most of every file. Fields stand in the order in which the client
    writes them, which is the order the decoder looks for them in."""

    parentUuid: str | None = None
    isSidechain: bool | None = None
    cwd: str | None = None
    sessionId: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    agentId: str | None = None
    type: str
    message: ApiMessage | None = None
    requestId: str | None = None
    uuid: str | None = None
    timestamp: str | int | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    isAbortedMidStream: bool | None = None
    origin: Origin | str | None = None
    forkedFrom: Forked | None = None
    requestSessionId: str | None = None
    is_meta: bool | None = None
    session_id: str | None = None
    created_at: str | int | None = None
    createdAt: str | int | None = None


class Line(Said, gc=False, kw_only=True):
    """One record of a type in `LARGER`."""

    logicalParentUuid: str | None = None
    subtype: str | None = None
    content: str | list[Block] | None = None
    compactMetadata: CompactMetadata | None = None
    durationMs: int | float | None = None
    attachment: Attachment | None = None
    data: ProgressData | None = None
    summary: str | None = None
    leafUuid: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    agentName: str | None = None
    operation: str | None = None
    parentSessionId: str | None = None
    totalCostUSD: float | None = None
    modelUsage: Any = None


LARGER = frozenset(
    """system attachment progress summary custom-title ai-title agent-name queue-operation cost-state
    fork-context-ref""".split()
)
SCHEMA: Schema[Said] = Schema(Line, usual=Said, of=LARGER)
LINE = SCHEMA.whole
BLOCKS: Part[Sequence[Block | None]] = Part(list[Block])
BLOCK: Part[Block] = Part(Block)
