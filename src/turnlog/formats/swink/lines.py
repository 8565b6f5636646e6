"""The typed line of swink-agent's session files (sheet SWINK_AGENT 2-4).

A line has no `type`: what it is shows in its shape. One struct serves all shapes, because no key means two things; the
`data` of an envelope is kept raw and typed once the envelope is known.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...typed import ABSENT, Natural, Part, Schema


class TokenUsage(msgspec.Struct, gc=False):
    """Counts as the provider's adapter wrote them; `extra` holds the others by name, such as reasoning."""

    input: Natural | None = None
    output: Natural | None = None
    cache_read: Natural | None = None
    cache_write: Natural | None = None
    total: Natural | None = None
    extra: dict[str, Any] | None = None


class Cost(msgspec.Struct, gc=False):
    """US dollars; all zero means that nothing was priced."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    total: float | None = None


class Picture(msgspec.Struct, gc=False):
    """Where a picture is: base64 text, a URL or a path."""

    type: str | None = None
    media_type: str | None = None
    data: msgspec.Raw = ABSENT
    url: str | None = None
    path: str | None = None


class Block(msgspec.Struct, gc=False):
    """A content block of any type."""

    type: str
    text: msgspec.Raw = ABSENT
    thinking: msgspec.Raw = ABSENT
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = ABSENT
    source: Picture | None = None
    type_name: str | None = None
    data: msgspec.Raw = ABSENT


class Said(msgspec.Struct, gc=False):
    """A message of any role: the whole line where it stands raw, the `data` of a tagged one. timestamp: Unix seconds."""

    role: str | None = None
    content: list[Block] | None = None
    timestamp: Natural | None = None
    provider: str | None = None
    model_id: str | None = None
    usage: TokenUsage | None = None
    cost: Cost | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    error_kind: str | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None


class SessionMeta(msgspec.Struct, gc=False):
    """The session's metadata: the `data` of a commit."""

    id: str | None = None
    title: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    version: Natural | None = None
    sequence: Natural | None = None


class Line(Said, gc=False):
    """One line of any shape: a raw message, line 1's metadata, an envelope or a tagged entry.

    The marks are `Any`: a line is what a mark says only where that is `true`, and whatever else stands there is a
    stray field.
    """

    state: Any = msgspec.field(default=None, name="_state")
    append: Any = msgspec.field(default=None, name="_append")
    meta: Any = msgspec.field(default=None, name="_meta")
    custom: Any = msgspec.field(default=None, name="_custom")
    entry_type: str | None = None
    data: msgspec.Raw = ABSENT
    phase: str | None = None
    type: str | None = None
    id: str | None = None
    title: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    version: Natural | None = None
    sequence: Natural | None = None


class ModelSpec(msgspec.Struct, gc=False):
    """A model, as a switch names it."""

    provider: str | None = None
    model_id: str | None = None
    thinking_level: str | None = None


class ModelChangeData(msgspec.Struct, gc=False):
    """`data` of a model_change."""

    before: ModelSpec | None = msgspec.field(default=None, name="from")
    to: ModelSpec | None = None
    timestamp: Natural | None = None


class ThinkingLevelData(msgspec.Struct, gc=False):
    """`data` of a thinking_level_change: free words."""

    before: str | None = msgspec.field(default=None, name="from")
    to: str | None = None
    timestamp: Natural | None = None


class CompactionData(msgspec.Struct, gc=False):
    """`data` of a compaction."""

    dropped_count: Natural | None = None
    tokens_before: Natural | None = None
    tokens_after: Natural | None = None
    timestamp: Natural | None = None


class LabelData(msgspec.Struct, gc=False):
    """`data` of a label; message_index counts messages in the host's list."""

    text: str | None = None
    message_index: Natural | None = None
    timestamp: Natural | None = None


class CustomData(msgspec.Struct, gc=False):
    """`data` of a custom entry."""

    type_name: str | None = None
    data: msgspec.Raw = ABSENT
    timestamp: Natural | None = None


SCHEMA: Schema[Line] = Schema(Line)
SAID: Part[Said] = Part(Said)
META: Part[SessionMeta] = Part(SessionMeta)
MODEL_CHANGE: Part[ModelChangeData] = Part(ModelChangeData)
THINKING_LEVEL: Part[ThinkingLevelData] = Part(ThinkingLevelData)
COMPACTION: Part[CompactionData] = Part(CompactionData)
LABEL: Part[LabelData] = Part(LabelData)
CUSTOM: Part[CustomData] = Part(CustomData)
