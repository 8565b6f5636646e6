"""The lines of a walk, as bytes and as flat rows of JSON (`turnlog walk --json`), with a summary as the last row."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..contract import ByteCounts, ReadStatus, ReadSummary
from ..errors import LineFault, SourceError
from ..formats.base import WalkItem
from ..jsontext import clean
from .events import FaultRow, SourceFailure, fault_row

SCHEMA = "turnlog.walk/1"


class LineRow(msgspec.Struct, kw_only=True):
    """What the program prints of one record, without the LF it ends with. line: counted from 1; start, end: the record's
    bytes, delimiter included."""

    kind: Literal["line"] = "line"
    line: int
    start: int
    end: int
    text: str


class WalkSummaryRow(msgspec.Struct, kw_only=True):
    """The last line: how far the walk came. records: lines that were read; unknown: those of them that the program prints
    nothing of, by type. bytes: by what became of them; their sum is bytes_read."""

    kind: Literal["summary"] = "summary"
    schema: str = SCHEMA
    status: ReadStatus
    lines: int
    records: int
    bytes_read: int
    complete_through: int
    consumed_through: int
    bytes: ByteCounts
    faults: dict[str, int]
    repairs: dict[str, int]
    unknown: dict[str, int]
    problems: list[str]
    error: SourceFailure | None


def row_types() -> list[type[msgspec.Struct]]:
    """A struct for each kind of row."""
    return [LineRow, FaultRow, WalkSummaryRow]


def row(item: WalkItem) -> object:
    """One line or fault as a flat row."""
    if isinstance(item, LineFault):
        return fault_row(item)
    return LineRow(line=item.line, start=item.start, end=item.end, text=item.text)


def summary_row(summary: ReadSummary, error: SourceError | None = None) -> WalkSummaryRow:
    """The last row."""
    return WalkSummaryRow(
        status=ReadStatus.FAILED if error is not None else summary.status, lines=summary.lines, records=summary.records,
        bytes_read=summary.bytes_read, complete_through=summary.complete_through,
        consumed_through=summary.consumed_through, bytes=summary.bytes, faults=summary.faults, repairs=summary.repairs,
        unknown=summary.unknown, problems=summary.problems,
        error=SourceFailure(error.kind, error.said) if error is not None else None,
    )  # fmt: skip


def text_bytes(text: str) -> bytes:
    """The line in UTF-8 with its LF; lone surrogates as U+FFFD."""
    return clean(text).encode() + b"\n"
