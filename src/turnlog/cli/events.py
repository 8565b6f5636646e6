"""`turnlog events`: the typed events of a file, one JSON object a line, in physical order; the last line sums up."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click

from ..contract import ByteCounts, ReadOptions, ReadStatus, ReadSummary
from ..errors import FaultError, LineFault, SourceCorrupt, SourceError, UnknownFormatError
from ..formats import FORMATS
from ..model import Item
from ..reader import Reader, read, read_from
from ..render.events import row, summary_row
from ..render.plain import json_bytes
from ..source import opened
from .group import NOTHING_READ, PARTIAL
from .output import note, write_json
from .reading import reading_options
from .where import strict_option

PIECE = 1 << 16
"""Bytes of rows that are written at once; a batch of rows is written out when its chunk of the file has been read."""


@click.command("events")
@click.argument("file", type=click.Path(readable=False, allow_dash=True))
@click.option("--agent", type=click.Choice(list(FORMATS)), help="Whose file it is, where its records do not tell.")
@reading_options()
@strict_option
def command(file: str, agent: str | None, options: ReadOptions, strict: bool) -> int:
    """The typed events of FILE, one JSON object a line. FILE may be - for standard input.

    Faults stand in their place as kind "fault". The last line is kind "summary": it says whether all was read.
    """
    reader: Reader | None = None
    error: SourceError | None = None
    refused: FaultError | None = None
    summary = ReadSummary()
    name, events = agent, 0
    try:
        with _reader(file, agent, options) as reader:
            try:
                for batch in reader.batches():
                    events += sum(item.__class__ is not LineFault for item in batch)
                    for piece in _pieces(batch):
                        write_json(piece)
                name = reader.format.name
            finally:
                summary = reader.finish()
    except SourceError as failed:
        error = failed
    except FaultError as raised:
        refused = raised
    except UnknownFormatError:
        if not _nothing(file, summary):
            error = SourceCorrupt(file, "no agent's format could be told from the first records: name it with --agent")
    write_json(json_bytes(summary_row(summary, name, events, error)) + b"\n")
    if error is not None or refused is not None:
        note(f"turnlog: {error or refused}")
    if error is not None and not summary.records:
        return NOTHING_READ
    whole = error is None and summary.status is ReadStatus.COMPLETE
    return PARTIAL if refused is not None or (strict and not whole) else 0


def _reader(file: str, agent: str | None, options: ReadOptions) -> Reader:
    if file != "-":
        return read(file, agent, options)
    # Unbuffered, so that what a live process has written comes out at once.
    stdin: Any = sys.stdin.buffer
    return read_from(getattr(stdin, "raw", stdin), agent, options, name="<stdin>")


def _pieces(batch: list[Item]) -> Iterator[bytes]:
    """The rows of a batch as bytes, some at a time, so that memory does not follow the size of the batch."""
    rows: list[bytes] = []
    size = 0
    for item in batch:
        line = json_bytes(row(item))
        rows += (line, b"\n")
        size += len(line)
        if size >= PIECE:
            yield b"".join(rows)
            rows, size = [], 0
    if rows:
        yield b"".join(rows)


def _nothing(file: str, summary: ReadSummary) -> bool:
    """Whether a file of no agent holds nothing at all, or nothing but white space: then it was read whole."""
    if summary.bytes_read and (file == "-" or summary.bytes_read > PIECE):
        return False
    if summary.bytes_read:
        with opened(file) as handle:
            data = handle.read(PIECE + 1)
        if data.strip():
            return False
        summary.lines = data.count(b"\n") + (not data.endswith(b"\n"))
        summary.complete_through = summary.bytes_read
        summary.consumed_through = data.rfind(b"\n") + 1
        summary.bytes = ByteCounts(blank=summary.bytes_read)
    summary.status = ReadStatus.COMPLETE
    return True
