"""`turnlog walk`: what an agent's documented reader program prints of a session file, byte for byte."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..contract import ReadOptions, ReadSummary
from ..errors import LineFault, SourceError
from ..formats.base import WalkItem
from ..render.plain import json_bytes
from ..render.walk import row, summary_row, text_bytes
from ..source import Source
from ..walker import walk
from .group import NOTHING_READ, PARTIAL
from .output import note, on_terminal, safe, write, write_json
from .reading import reading_options
from .where import json_option

PIECE = 1 << 16
"""Bytes of lines that are written at once."""


@click.command("walk")
@click.argument("file", default="session.jsonl", type=click.Path(readable=False, allow_dash=True))
@click.option("--plain", is_flag=True, help="No `undefined` or `[object Object]`: say `(none)`, and JSON.")
@reading_options(without=("stop_at", "include", "tail", "repair", "faults", "codex_usage", "sha256"))
@json_option
def command(file: str, plain: bool, options: ReadOptions, as_json: bool) -> int:
    """What Pi's documented reader program prints of FILE (session.jsonl where none is named; - for standard input): every
    line of the file, not of one branch, one line for each entry of a type the program knows.

    Where the program would stop with an error, the fault is told on stderr, the walk goes on, and the exit code is 3.
    """
    out = _Out(file, as_json)
    summary = ReadSummary()
    error: SourceError | None = None
    try:
        with walk(
            _source(file), plain=plain, max_record_bytes=options.max_record_bytes, max_file_bytes=options.max_file_bytes
        ) as reader:
            try:
                for item in reader:
                    out.put(item)
            finally:
                summary = reader.finish()
    except SourceError as failed:
        error = failed
    out.flush()
    if as_json:
        write_json(json_bytes(summary_row(summary, error)) + b"\n")
    if error is not None:
        note(f"turnlog: {error}")
        return PARTIAL if summary.lines else NOTHING_READ
    return PARTIAL if summary.faults else 0


def _source(file: str) -> str | Source:
    """The path, or standard input unbuffered, so that what a live process has written comes out at once."""
    if file != "-":
        return file
    stdin: Any = sys.stdin.buffer
    source: Source = getattr(stdin, "raw", stdin)
    return source


class _Out:
    """Where lines and faults go, a piece at a time: text as exact bytes, made safe where a person looks on."""

    def __init__(self, file: str, as_json: bool) -> None:
        self._name = "<stdin>" if file == "-" else file
        self._as_json = as_json
        self._safe = on_terminal()
        self._piece = 1 if file == "-" else PIECE
        self._parts: list[bytes] = []
        self._size = 0

    def put(self, item: WalkItem) -> None:
        """One line or fault on."""
        if self._as_json:
            self._add(json_bytes(row(item)) + b"\n")
        elif isinstance(item, LineFault):
            self.flush()
            note(f"turnlog: {item.sentence(self._name)}")
        else:
            self._add(text_bytes(safe(item.text) if self._safe else item.text))

    def _add(self, data: bytes) -> None:
        self._parts.append(data)
        self._size += len(data)
        if self._size >= self._piece:
            self.flush()

    def flush(self) -> None:
        """Write out what waits."""
        if self._parts:
            data = b"".join(self._parts)
            self._parts, self._size = [], 0
            (write_json if self._as_json else write)(data)
