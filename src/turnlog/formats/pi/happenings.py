"""The typed record of what Pi prints with `--mode json` and `--mode rpc` (sheet PI 8-9; seen from 0.13.2 to 1.6.0).

Most records are updates of the message under way, and most of an update is a usage that nobody must add up: the first look
reads only what an update adds. Records of the types in `LARGER` are read again, whole.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...typed import ABSENT, Natural, Part, Schema
from .entries import Block, Entry, Said, TokenUsage


class Piece(msgspec.Struct, gc=False):
    """`assistantMessageEvent`: what an update adds to one block."""

    type: str | None = None
    contentIndex: Natural | None = None
    delta: msgspec.Raw = ABSENT
    content: msgspec.Raw = ABSENT
    toolCall: Block | None = None
    id: str | None = None
    toolName: str | None = None


class Spoken(msgspec.Struct, gc=False):
    """Who a message is from: all that is read of one that only begins."""

    role: str | None = None


class Update(msgspec.Struct, gc=False):
    """The first look at a record of any type, and all that is read of those not in `LARGER`: of replies and questions because
    there the other records' names mean other things."""

    type: str
    assistantMessageEvent: Piece | None = None
    message: Spoken | str | None = None
    willRetry: bool | None = None
    aborted: bool | None = None
    id: str | None = None
    command: str | None = None
    success: bool | None = None
    error: msgspec.Raw = ABSENT
    method: str | None = None


class Uttered(Said, gc=False):
    """A message as a stream gives it, with the provider's own word on its end."""

    rawStopReason: str | None = None


class Happening(Entry, gc=False):
    """A record of the types in `LARGER`: the header, or an event."""

    message: Uttered | None = None
    entry: Entry | None = None
    willRetry: bool | None = None
    aborted: bool | None = None
    toolCallId: str | None = None
    toolName: str | None = None
    parentToolCallId: str | None = None
    args: msgspec.Raw = ABSENT
    partialResult: msgspec.Raw = ABSENT
    result: msgspec.Raw = ABSENT
    isError: bool | None = None
    durationMs: int | float | None = None
    steering: list[str] | None = None
    followUp: list[str] | None = None
    level: str | None = None
    reason: str | None = None
    errorMessage: msgspec.Raw = ABSENT
    attempt: Natural | None = None
    maxAttempts: Natural | None = None
    delayMs: int | float | None = None
    success: bool | None = None
    finalError: msgspec.Raw = ABSENT
    source: str | None = None
    delta: msgspec.Raw = ABSENT


class Finished(msgspec.Struct, gc=False):
    """A `message_end`, which has nothing but its message: the record that is most often read again."""

    type: str
    message: Uttered | None = None


class Compacted(msgspec.Struct, gc=False):
    """`result` of `compaction_end`."""

    summary: str | None = None
    firstKeptEntryId: str | None = None
    tokensBefore: Natural | None = None
    estimatedTokensAfter: Natural | None = None
    usage: TokenUsage | None = None


LARGER = frozenset(
    """session message_end tool_execution_start tool_execution_update tool_execution_end queue_update
    entry_appended session_info_changed thinking_level_changed compaction_start compaction_end auto_retry_start
    auto_retry_end summarization_retry_scheduled summarization_retry_attempt_start bash_execution_update""".split()
)

HAPPENING: Schema[Happening] = Schema(Happening, usual=Update, of=LARGER)
COMPACTED: Part[Compacted] = Part(Compacted)

_any = HAPPENING.whole
_finished = msgspec.json.Decoder(Finished).decode


def _whole(raw: bytes | memoryview) -> Any:
    """A record of the types in `LARGER`; the end of a message without the fields of all the others."""
    if raw[: len(_END)] == _END:
        record = _finished(raw)
        if record.type == "message_end":  # no second key of that name says otherwise
            return record
    return _any(raw)


_END = b'{"type":"message_end"'

HAPPENING.whole = _whole
