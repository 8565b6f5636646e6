"""How turnlog looks to a type checker. Read by mypy in tests/test_typing.py, never run."""

import io
from collections.abc import Iterator
from datetime import datetime
from typing import assert_type

from turnlog.contract import ReadOptions, ReadStatus, ReadSummary
from turnlog.errors import FaultKind, LineFault
from turnlog.formats.base import Format
from turnlog.model import Event, Item, Message, ToolCall, ToolResult, Usage
from turnlog.reader import AsyncReader, Reader, aread, aread_from, read, read_from
from turnlog.tokens import Additive, Counts

reader = read("session.jsonl", "claude", ReadOptions(tail="allow-incomplete", include=frozenset({"message"})))
assert_type(reader, Reader)
assert_type(read_from(io.BytesIO(b"")), Reader)
assert_type(iter(reader), Iterator[Item])
assert_type(reader.batches(), Iterator[list[Item]])
assert_type(reader.format, Format)

for item in reader:
    assert_type(item, Event | LineFault)
    if isinstance(item, LineFault):
        assert_type(item.fault, FaultKind)
        assert_type(item.recovered, int)
        assert_type(item.sentence("x"), str)
        continue
    assert_type(item, Event)
    assert_type(item.at, datetime | None)
    assert_type((item.line, item.start, item.end, item.index), tuple[int, int, int, int])
    assert_type(item.record.session_id, str | None)
    if isinstance(item, Message):
        assert_type(item.text, str)
        assert_type(item.segments, tuple[tuple[int, int], ...])
        assert_type(item.message_id, str | None)
    elif isinstance(item, ToolCall):
        assert_type(item.name, str)
    elif isinstance(item, ToolResult):
        assert_type(item.is_error, bool | None)
    elif isinstance(item, Usage):
        assert_type(item.counts, Counts)
        assert_type(item.counts.input, int | None)
        assert_type(item.counts.exclusive(item.semantics), Counts | None)
        assert_type(item.counts.additive(item.semantics), Additive)

summary = reader.finish()
assert_type(summary, ReadSummary)
assert_type(summary.status, ReadStatus)
assert_type(summary.faults, dict[str, int])
assert_type(summary.bytes.total(), int)
assert_type(summary.is_complete, bool)
assert_type(summary.sha256, str | None)

with read("session.jsonl") as opened:
    assert_type(opened, Reader)


async def later() -> None:
    """The same, awaited."""
    shell = aread("session.jsonl")
    assert_type(shell, AsyncReader)
    async for item in shell:
        assert_type(item, Item)
    assert_type(shell.finish(), ReadSummary)
    assert_type(aread_from(object()), AsyncReader)


# What must be refused: each of these lines is an error that mypy has to find (unused ignores fail the check).
ReadOptions(tail="loose")  # type: ignore[arg-type]
ReadOptions("strict")  # type: ignore[call-arg, arg-type]
read(5)  # type: ignore[arg-type]
summary.fault  # type: ignore[attr-defined]  # noqa: B018
