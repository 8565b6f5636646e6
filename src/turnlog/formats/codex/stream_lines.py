"""The typed line of what `codex exec --json` prints (sheet CODEX 12). One struct serves every type of line."""

from __future__ import annotations

from typing import Any

import msgspec

from ...typed import ABSENT, Schema
from .records import Info, TokenUsage


class Failure(msgspec.Struct, gc=False):
    message: str | None = None


class Part(msgspec.Struct, gc=False):
    """A part of what an MCP tool gave back."""

    type: str | None = None
    text: msgspec.Raw = ABSENT


class Given(msgspec.Struct, gc=False):
    content: list[Part | None] | None = None


class Item(msgspec.Struct, gc=False):
    """An item of any type. A web search has two keys `id`, the second its own: the same in each of its lines."""

    id: str | None = None
    type: str | None = None
    text: msgspec.Raw = ABSENT
    message: str | None = None
    status: str | None = None
    command: msgspec.Raw = ABSENT
    aggregated_output: msgspec.Raw = ABSENT
    changes: msgspec.Raw = ABSENT
    server: str | None = None
    tool: str | None = None
    arguments: msgspec.Raw = ABSENT
    result: Given | None = None
    error: Failure | None = None
    query: msgspec.Raw = ABSENT
    prompt: msgspec.Raw = ABSENT


class Invocation(msgspec.Struct, gc=False):
    server: str | None = None
    tool: str | None = None
    arguments: msgspec.Raw = ABSENT


class Message(msgspec.Struct, gc=False):
    """An event as printed before 0.44."""

    type: str | None = None
    session_id: str | None = None
    model: str | None = None
    message: msgspec.Raw = ABSENT
    text: msgspec.Raw = ABSENT
    call_id: str | None = None
    command: msgspec.Raw = ABSENT
    changes: msgspec.Raw = ABSENT
    query: msgspec.Raw = ABSENT
    invocation: Invocation | None = None
    aggregated_output: msgspec.Raw = ABSENT
    stdout: msgspec.Raw = ABSENT
    exit_code: int | None = None
    success: bool | None = None
    info: Info | None = None


class StreamLine(msgspec.Struct, gc=False):
    """One line of any type."""

    type: str | None = None
    thread_id: str | None = None
    item: Item | None = None
    usage: TokenUsage | None = None
    error: Failure | None = None
    message: str | None = None
    # before 0.44
    msg: Message | None = None
    prompt: msgspec.Raw = ABSENT
    workdir: str | None = None
    model: str | None = None
    provider: Any = None


SCHEMA: Schema[StreamLine] = Schema(StreamLine)
