"""The prompts agents keep beside their sessions: one row for each thing that was typed.

A row is an entry, not a session: an id may stand in many rows or in none, and nothing here says that a session file
exists. Rows are read by the one reader (framing, limits, tails, repair, faults in their place, `finish()`); what a row's
keys are called, and the unit of its time, each format states as a rule.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from types import TracebackType
from typing import Any, ClassVar, Self

import msgspec

from .contract import MAX_U64, Place, ReadOptions, ReadSummary
from .errors import FaultKind, LineFault, Problem
from .formats import FORMATS
from .formats.base import Format, HistoryRule, Root, Session, since_epoch
from .model import Item
from .reader import Reader, read
from .roots import Roots
from .typed import Schema, found_name
from .work import FileWork


class HistoryFile(msgspec.Struct, frozen=True):
    """One history file that is there: whose, where, and how its rows are written."""

    agent: str
    path: str
    rule: HistoryRule


class HistoryEntry(msgspec.Struct, gc=False, frozen=True):
    """One row: something that was typed.

    session_id, text, project: absent stays None. at: UTC; native_time: the number as it stands, in the file's own unit,
    kept where no calendar reaches it. line, start, end: where the row stands, as for any record. invalid_fields: native
    names of the fields that could not be used.
    """

    line: int
    start: int
    end: int
    session_id: str | None = None
    text: str | None = None
    at: datetime | None = None
    native_time: int | None = None
    project: str | None = None
    invalid_fields: tuple[str, ...] = ()
    recovered: bool = False

    kind: ClassVar[str] = "history"


HistoryItem = HistoryEntry | LineFault


class HistoryReader:
    """One history file being read. Iterate it; then ask `finish()`. Raises SourceError subclasses, once."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def __iter__(self) -> Iterator[HistoryItem]:
        return iter(self.reader)  # type: ignore[arg-type]

    def finish(self) -> ReadSummary:
        """What was read so far; may be asked at any time and never reads on."""
        return self.reader.finish()

    def close(self) -> None:
        """Let go of the file."""
        self.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def history_files(roots: Roots) -> list[HistoryFile]:
    """The history files of the roots, in the order of the agents; that an agent has none is normal. Opens nothing."""
    found: dict[str, HistoryFile] = {}
    for agent, format in FORMATS.items():
        if format.history is None:
            continue
        for root in roots.of(agent):
            path = os.path.join(root.path, format.history.file)
            if os.path.lexists(path):
                found.setdefault(os.path.realpath(path), HistoryFile(agent, path, format.history))
    return list(found.values())


def read_history(
    path: str | os.PathLike[str],
    rule: HistoryRule,
    strict_fields: bool = True,
    options: ReadOptions | None = None,
) -> HistoryReader:
    """Read one history file as its rule has it: HistoryEntry and LineFault in physical order.

    strict_fields: a field of the wrong type is a fault, and the rest of the row is read all the same (with
    `repair=False` the row is lost); else it is named in the entry's `invalid_fields` and nothing more is said.
    options: as for a session; `include` has no meaning here. Raises SourceUnreadable and SourceTooLarge at opening.
    """
    options = msgspec.structs.replace(options or ReadOptions(), include=None)
    return HistoryReader(read(path, _format(rule, strict_fields), options))


class _Rows(Session):
    """Rows as a reading state, so that the one parser can drive it."""

    __slots__ = ("rule", "strict_fields")

    rule: HistoryRule
    strict_fields: bool

    def read(self, record: Any, line: int, start: int, end: int, recovered: bool = False) -> list[Any]:
        """The one entry of a row."""
        rule, invalid = self.rule, list[str]()
        session = self._field(record.session, str, rule.session, invalid)
        text = self._field(record.text, str, rule.text, invalid)
        time = self._field(record.time, int, rule.time, invalid)
        project = self._field(getattr(record, "project", None), str, rule.project, invalid)
        at = None if time is None else since_epoch(time * rule.unit)
        if time is not None and at is None:
            self._bad(rule.time, "a time that a calendar reaches", "another integer", invalid)
        entry = HistoryEntry(line, start, end, session, text, at, time, project, tuple(invalid), recovered)
        return [entry]

    def _field(self, value: Any, wanted: type, name: str | None, invalid: list[str]) -> Any:
        """The value if it is of the wanted type; a number written 1e3 or 5.0 is that integer."""
        if value is None or name is None:
            return None
        if wanted is int and value.__class__ is float and value.is_integer() and not self.strict:
            self.notes.append("whole_number")
            value = int(value)
        fits = value.__class__ is wanted
        if fits and (wanted is str or -MAX_U64 <= value <= MAX_U64):
            return value
        expected = "a string" if wanted is str else "an integer"
        found = "an integer out of range" if wanted is int and value.__class__ is int else found_name(value)
        self._bad(name, expected, found, invalid)
        return None

    def _bad(self, name: str, expected: str, found: str, invalid: list[str]) -> None:
        invalid.append(name)
        if self.strict_fields:
            self.soft(Problem(FaultKind.INVALID_FIELD, f"$.{name}", expected, found))


@cache
def _format(rule: HistoryRule, strict_fields: bool) -> Format:
    """A rule as a format: rows for records."""
    keys = {"session": rule.session, "text": rule.text, "time": rule.time}
    if rule.project is not None:
        keys["project"] = rule.project
    # What stands in the fields is looked at by `_Rows`: a bad one has its own rules here.
    row = msgspec.defstruct("Row", [(name, Any, None) for name in keys], rename=keys, gc=False)

    def rows(place: Place, options: ReadOptions) -> Session:
        session = _Rows(place, options)
        session.rule, session.strict_fields = rule, strict_fields
        return session

    def is_row(value: dict[str, Any]) -> bool:
        return rule.text in value and rule.time in value

    return Format(
        name="history",
        title="history",
        schema=Schema(row),
        session=rows,
        is_record=is_row,
        sniff=is_row,
        root=Root(),
        types={},
        ignored={},
        fold=_no_work,
    )


def _no_work(place: Place, _: Iterable[Item]) -> FileWork:
    return FileWork(place.name, "history")
