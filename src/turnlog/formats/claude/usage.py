"""Claude Code's usage: what one answer spent, and the advisor calls that stand beside it (sheet CLAUDE_CODE 3)."""

from __future__ import annotations

from collections.abc import Sequence

from ...model import Event, Record, Usage
from ...tokens import Counts, Semantics
from .records import ApiMessage, Iteration, Said, TokenUsage

_EXCLUSIVE = Semantics.CACHE_EXCLUSIVE


def usage_of(record: Said, message: ApiMessage, usage: TokenUsage, head: Record) -> Usage:
    counts = _counts(usage)
    spent = Usage(
        head, 2, counts, _EXCLUSIVE, "message", message.model, message.id, record.requestId, None, None, message.stop_reason
    )  # fmt: skip
    if usage.service_tier is not None:
        spent.service_tier = usage.service_tier
    if usage.speed is not None:
        spent.speed = usage.speed
    if record.requestSessionId is not None or record.forkedFrom is not None:
        forked = record.forkedFrom
        spent.origin_session = record.requestSessionId if forked is None else forked.sessionId
    if record.isAbortedMidStream:
        spent.adjustments = ("aborted_stream",)
    geo = usage.inference_geo
    if geo is not None:
        spent.inference_geo = geo
        spent.endpoint = "native" if geo == "not_available" else "proxy" if geo == "" else "unknown"
    tools = usage.server_tool_use
    if tools is not None and (tools.web_search_requests or tools.web_fetch_requests):
        spent.server_tools = _server_tools(tools.web_search_requests, tools.web_fetch_requests)
    if counts.input is None and counts.output is None and counts.is_missing():
        spent.adjustments += ("unreported",)
    return spent


def _counts(usage: TokenUsage | Iteration) -> Counts:
    """Cache writes are the greater of the sum and its parts: before 2.1.152 the sum could be 0 (sheet 3)."""
    write = usage.cache_creation_input_tokens
    parts = usage.cache_creation
    hour = short = None
    if parts is not None:
        hour, short = parts.ephemeral_1h_input_tokens, parts.ephemeral_5m_input_tokens
        if hour is not None or short is not None:
            nested = (hour or 0) + (short or 0)
            if write is None or nested > write:
                write = nested
    reasoning = total = None
    if usage.__class__ is TokenUsage:
        reasoning, total = usage.reasoning_output_tokens, usage.total_tokens
        if reasoning is None and usage.output_tokens_details is not None:
            reasoning = usage.output_tokens_details.thinking_tokens
    return Counts(
        usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens, write, hour, short, reasoning, total
    )  # fmt: skip


def advisors_of(
    record: Said, message: ApiMessage, iterations: Sequence[Iteration | None], head: Record, slot: int, out: list[Event]
) -> None:
    """Advisor calls are billed beside the answer and stand nowhere else (sheet 3)."""
    for n, call in enumerate(iterations):
        if call is not None and call.type == "advisor_message":
            counts = _counts(call)
            out.append(Usage(head, slot + n, counts, _EXCLUSIVE, "advisor", call.model, message.id, record.requestId))


def _server_tools(search: int | None, fetch: int | None) -> dict[str, int] | None:
    found = {name: n for name, n in (("web_search_requests", search), ("web_fetch_requests", fetch)) if n}
    return found or None
