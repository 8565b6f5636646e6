"""The typed record of Pi's session files, versions 1 to 3 (sheet PI 4-6; seen from 0.13.2 to 1.6.0).

Only the fields that are read stand here; the decoder skips the others unparsed. One struct serves every entry type and
one every role, because no key means two things.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...typed import ABSENT, Natural, Part, Schema


class Cost(msgspec.Struct, gc=False):
    """US dollars. `total` may be the provider's own figure, so the parts are not read."""

    total: float | None = None


class TokenUsage(msgspec.Struct, gc=False):
    """`input` leaves cached tokens out; `reasoning` is inside output, `cacheWrite1h` inside cacheWrite."""

    input: Natural | None = None
    output: Natural | None = None
    cacheRead: Natural | None = None
    cacheWrite: Natural | None = None
    totalTokens: Natural | None = None
    reasoning: Natural | None = None
    cacheWrite1h: Natural | None = None
    cost: Cost | None = None


class Block(msgspec.Struct, gc=False):
    """A content block: text, thinking, image or toolCall."""

    type: str
    text: msgspec.Raw = ABSENT
    thinking: msgspec.Raw = ABSENT
    redacted: bool | None = None
    data: msgspec.Raw = ABSENT
    mimeType: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = ABSENT
    namespace: str | None = None
    argumentsError: msgspec.Raw = ABSENT


class Turned(msgspec.Struct, gc=False):
    """A message of the usual roles (user, assistant, toolResult), fields in about Pi's own order, which is the order the
    decoder looks for them in. `timestamp` is its own clock, in Unix milliseconds."""

    role: str | None = None
    toolCallId: str | None = None
    toolName: str | None = None
    content: str | list[Block] | None = None
    details: msgspec.Raw = ABSENT
    isError: bool | None = None
    provider: str | None = None
    model: str | None = None
    usage: TokenUsage | None = None
    stopReason: str | None = None
    timestamp: int | float | None = None
    responseId: str | None = None
    responseModel: str | None = None
    errorMessage: msgspec.Raw = ABSENT


class Said(Turned, gc=False):
    """A message of any role."""

    command: msgspec.Raw = ABSENT
    output: msgspec.Raw = ABSENT
    exitCode: int | None = None
    cancelled: bool | None = None
    truncated: bool | None = None
    excludeFromContext: bool | None = None
    customType: str | None = None
    display: bool | None = None
    summary: msgspec.Raw = ABSENT
    fromId: str | None = None
    tokensBefore: Natural | None = None
    sections: msgspec.Raw = ABSENT
    toolsAdded: msgspec.Raw = ABSENT
    toolsRemoved: msgspec.Raw = ABSENT


class Usual(msgspec.Struct, gc=False):
    """A message of one of the usual roles, as most records are; of another record, what all entries have."""

    type: str
    id: str | None = None
    parentId: str | None = None
    timestamp: str | int | None = None
    message: Turned | None = None


class Entry(msgspec.Struct, gc=False):
    """One record of any type, the header too."""

    type: str
    id: str | None = None
    parentId: str | None = None
    timestamp: str | int | None = None
    message: Said | None = None
    usage: TokenUsage | None = None
    summary: str | None = None
    firstKeptEntryId: str | None = None
    firstKeptEntryIndex: int | float | None = None
    tokensBefore: Natural | None = None
    fromHook: bool | None = None
    fromId: str | None = None
    provider: str | None = None
    modelId: str | None = None
    model: str | None = None
    thinkingLevel: str | None = None
    kind: str | None = None
    note: str | None = None
    customType: str | None = None
    content: str | list[Block] | None = None
    display: bool | None = None
    data: msgspec.Raw = ABSENT
    details: msgspec.Raw = ABSENT
    targetId: str | None = None
    replacement: msgspec.Raw = ABSENT
    label: str | None = None
    name: str | None = None
    version: Any = None
    cwd: str | None = None
    parentSession: str | None = None
    branchedFrom: str | None = None


class Named(msgspec.Struct, gc=False):
    """A tool definition, of which only the name is read."""

    name: str | None = None


LARGER = frozenset(
    """session model_change thinking_level_change compaction branch_summary usage custom custom_message context_edit label
    session_info leaf active_tools_change""".split()
)
ROLES = frozenset("system bashExecution custom hookMessage branchSummary compactionSummary".split())
SCHEMA: Schema[Entry] = Schema(Entry, usual=Usual, of=LARGER, roles=ROLES)
TOOLS: Part[list[Named]] = Part(list[Named])
SECTIONS: Part[dict[str, Any]] = Part(dict[str, Any])
