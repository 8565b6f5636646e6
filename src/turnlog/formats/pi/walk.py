"""The walk of Pi's documented reader program over a whole file: its lines, and a fault wherever it would stop.

The program trims the text of the file, splits it at LF and reads each line. Its trim() is followed while the file is still
being read: white space at either end of the file is no line, and a blank line between two others is a fault, so blank
lines are held back until something follows, and so is a line whose end only trim() could mend. Bytes that are no UTF-8 are
U+FFFD to the program, and no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...contract import ByteCounts, ReadSummary, count_fault, count_label
from ...errors import FaultKind, LineFault
from ...jsontext import is_cut
from ...raw import RawItem, RawRecord
from ..base import Walk, WalkedLine, WalkItem
from .javascript import JSON_SPACE, SPACE, NoJsonError, parse
from .program import PlainWords, Thrown, Words, line_of

MOST_RUNS = 10_000
"""Runs of blank lines of one length that are held back, so that memory stays small whatever a file holds. Past them they are
told as if a record followed: the text printed is the same, the faults are more."""


class PiWalk(Walk):
    """The state of walking one file. plain: absent fields and nested values are written for people."""

    def __init__(self, plain: bool) -> None:
        self.summary = ReadSummary()
        self._say = PlainWords() if plain else Words()
        self._begun = False  # a line that is not blank was seen: white space before it is no line
        self._at = 0  # end of what was taken in
        self._held: tuple[RawRecord, str] | None = None  # a line that is read otherwise if it is the last one
        self._runs: list[list[int]] = []  # blank lines since: [first line, its start, its length, how many like it]

    def take(self, item: RawItem) -> Iterator[WalkItem]:
        """One record on."""
        self._at = item.end
        if isinstance(item, LineFault):
            yield from self._followed()
            self._begun = True
            yield self._fault(item)
            return
        text = self._text(item)
        if not text or text[0] in _TRIMMED:
            bare = text.lstrip(SPACE)
            if not bare and not self._begun:
                self._passed(item.end - item.start)
                return
            if not bare:
                self._blank(item)
                if len(self._runs) > MOST_RUNS:
                    yield from self._followed()
                return
            if not self._begun:
                text = bare
        if self._held is not None or self._runs:
            yield from self._followed()
        self._begun = True
        if text[-1] in _TRIMMED and text.rstrip(JSON_SPACE)[-1] in _TRIMMED:
            self._held = item, text
            return
        entry = _parsed(text)
        del text  # a long record is not held twice while its line is made
        yield from self._line(item, entry)

    def end(self, *, whole: bool) -> Iterator[WalkItem]:
        """What was held back. A file of nothing but white space is one line without a record, and a fault."""
        if self._held is not None:
            (item, text), self._held = self._held, None
            yield from self._line(item, _parsed(text.rstrip(SPACE) if whole else text))
        for _, _, size, count in self._runs:
            self._passed(size * count, lines=count)
        self._runs = []
        if whole and not self._begun:
            summary, lines = self.summary, self.summary.lines
            summary.bytes, summary.complete_through = ByteCounts(), 0
            yield self._fault(LineFault(FaultKind.INVALID_JSON, 1, 0, self._at, None, *_NO_RECORD))
            summary.lines = lines

    def _text(self, item: RawRecord) -> str:
        """The line without its LF."""
        data = item.bytes
        body = memoryview(data)[:-1] if item.terminated else data
        try:
            return str(body, "utf-8")
        except UnicodeDecodeError:
            self.summary.repairs["invalid_utf8"] = self.summary.repairs.get("invalid_utf8", 0) + 1
            return str(body, "utf-8", "replace")

    def _blank(self, item: RawRecord) -> None:
        size = item.end - item.start
        if self._runs and self._runs[-1][2] == size:
            self._runs[-1][3] += 1
        else:
            self._runs.append([item.line, item.start, size, 1])

    def _passed(self, size: int, lines: int = 1) -> None:
        """Blank lines at an end of the file: the program sees none of them."""
        summary = self.summary
        summary.lines += lines
        summary.bytes.blank += size
        summary.consumed_through += size
        if not summary.faults:
            summary.complete_through += size

    def _followed(self) -> Iterator[WalkItem]:
        """Something follows what was held back: none of it was the end of the file."""
        if self._held is not None:
            (item, text), self._held = self._held, None
            yield from self._line(item, _parsed(text))
        runs, self._runs = self._runs, []
        for line, start, size, count in runs:
            for n in range(count):
                at = start + n * size
                yield self._fault(LineFault(FaultKind.INVALID_JSON, line + n, at, at + size, None, *_NO_RECORD))

    def _line(self, item: RawRecord, entry: Any) -> Iterator[WalkItem]:
        """What the program prints of one line, or why it stops there. entry: what JSON.parse gives, or _BROKEN."""
        if entry is _BROKEN:
            cut = not item.terminated and is_cut(item.bytes)
            kind = FaultKind.TRUNCATED if cut else FaultKind.INVALID_JSON
            yield self._fault(LineFault(kind, item.line, item.start, item.end))
            return
        try:
            line, label = line_of(entry, self._say)
        except Thrown as thrown:
            problem = thrown.problem
            said = (problem.path, problem.expected, problem.found)
            yield self._fault(LineFault(problem.kind, item.line, item.start, item.end, *said))
            return
        summary, size = self.summary, item.end - item.start
        summary.lines += 1
        summary.records += 1
        summary.consumed_through = item.end
        if not summary.faults:
            summary.complete_through = item.end
        if line is None:
            summary.bytes.unknown += size
            count_label(summary.unknown, label)
            return
        summary.bytes.decoded += size
        yield WalkedLine(item.line, item.start, item.end, line)

    def _fault(self, fault: LineFault) -> LineFault:
        summary = self.summary
        summary.lines += 1
        summary.bytes.faulty += fault.end - fault.start
        summary.consumed_through = fault.end
        count_fault(summary.faults, fault.fault)
        return fault


def _parsed(text: str) -> Any:
    try:
        return parse(text)
    except NoJsonError:
        return _BROKEN


_BROKEN = object()
_TRIMMED = frozenset(SPACE)

_NO_RECORD = ("a record", "white space only")
