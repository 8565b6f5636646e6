"""Events, faults and the summary as flat rows of JSON: the lines of `turnlog events`.

A row holds its record's head and the event's own fields side by side. What is unknown (null) is left out, but for the
fields in `ALWAYS`, which a program may rely on to be there. `ROWS` has a struct for each kind: the published schema is
made from them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, Union, get_type_hints

import msgspec

from ..contract import ByteCounts, ReadStatus, ReadSummary
from ..errors import FaultKind, LineFault, SourceError
from ..ledger.overview import iso
from ..model import EVENTS, Event, Item, Record

SCHEMA = "turnlog.events/1"

HEAD: dict[str, str] = {"type": "record_type"} | {
    name: name
    for name in """line start end at at_text session_id id parent_id turn_id agent_id sidechain recovered""".split()
}
"""The fields of a record's head, and the names they are printed under."""

ALWAYS: dict[str, tuple[str, ...]] = {
    "message": ("role", "text"),
    "usage": ("counts", "semantics", "model"),
    "tool_call": ("id", "name", "arguments"),
    "tool_result": ("call_id", "text", "is_error"),
    "thinking": ("text",),
}
"""Fields that are there even when they are null; `at` always is."""

_TEXTS = {"body": "text", "input": "arguments"}
"""Fields that an event keeps as raw JSON, and what they are printed as."""


def _printed(name: str) -> str:
    """The name an event's own field is printed under. Where its head has a field of that name: a call's id keeps the
    name and its record's is `record_id`; every other one is told apart as the event's own."""
    name = _TEXTS.get(name, name)
    return f"own_{name}" if name in HEAD.values() and name != "id" else name


def _fields(kind: str) -> list[tuple[str, str]]:
    """(attribute, printed name) of an event's own fields."""
    own = [name for name in EVENTS[kind].__struct_fields__ if name not in ("record", "index")]
    return [(_TEXTS.get(name, name), _printed(name)) for name in own]


def _head_names(kind: str) -> dict[str, str]:
    return HEAD | {"id": "record_id"} if "id" in EVENTS[kind].__struct_fields__ else HEAD


class SourceFailure(msgspec.Struct):
    """Why reading ended: the kind of source error and its sentence."""

    kind: str
    said: str


class FaultRow(msgspec.Struct, kw_only=True):
    """A line that was not read whole, in its place. recovered: how many of its records were read all the same."""

    kind: Literal["fault"] = "fault"
    fault: FaultKind
    line: int
    start: int
    end: int
    path: str | None
    expected: str | None
    found: str | None
    recovered: int


class SummaryRow(msgspec.Struct, kw_only=True):
    """The last line: how far reading came. bytes: by what became of them; their sum is bytes_read."""

    kind: Literal["summary"] = "summary"
    schema: str = SCHEMA
    agent: str | None
    status: ReadStatus
    lines: int
    records: int
    events: int
    bytes_read: int
    complete_through: int
    consumed_through: int
    bytes: ByteCounts
    faults: dict[str, int]
    repairs: dict[str, int]
    unknown: dict[str, int]
    ignored: dict[str, int]
    problems: list[str]
    sha256: str | None
    error: SourceFailure | None


def _row_type(kind: str) -> type[msgspec.Struct]:
    event = EVENTS[kind]
    head, own = get_type_hints(Record), get_type_hints(event)
    always = ALWAYS.get(kind, ())
    fields: list[Any] = [("kind", Literal[kind]), ("index", int)]
    for name, printed in _head_names(kind).items():
        needed = name not in _OPTIONAL_HEAD
        fields.append((printed, head[name]) if needed else (printed, _said(head[name]), msgspec.UNSET))
    for name in event.__struct_fields__:
        if name in ("record", "index"):
            continue
        printed = _printed(name)
        hint = {"body": str, "input": Any}.get(name, own[name])
        if (hint is Any or type(None) in getattr(hint, "__args__", ())) and printed not in always:
            fields.append((printed, _said(hint), msgspec.UNSET))
        else:
            fields.append((printed, hint))
    doc = event.__doc__
    return msgspec.defstruct(f"{event.__name__}Row", fields, kw_only=True, namespace={"__doc__": doc})


_OPTIONAL_HEAD = {field.name for field in msgspec.structs.fields(Record) if field.default is None} - {"at"}


def _said(hint: Any) -> Any:
    """The type of a field that is left out where it is null."""
    if hint is Any:
        return Any
    parts = [part for part in hint.__args__ if part is not type(None)]
    return Union[(*parts, msgspec.UnsetType)]


def row_types() -> dict[str, type[msgspec.Struct]]:
    """A struct for each kind of row, by kind."""
    return {kind: _row_type(kind) for kind in EVENTS} | {"fault": FaultRow, "summary": SummaryRow}


def _writer(kind: str) -> Callable[[Event], dict[str, Any]]:
    always = set(ALWAYS.get(kind, ()))
    own = [(attrgetter(name), printed, printed in always) for name, printed in _fields(kind)]
    renamed = _head_names(kind) is not HEAD

    def row(event: Event) -> dict[str, Any]:
        record = event.record
        out = {"kind": kind, "line": record.line, "start": record.start, "end": record.end, "index": event.index}
        out |= _head(record)
        if renamed and "id" in out:
            out["record_id"] = out.pop("id")
        for get, printed, needed in own:
            value = get(event)
            if value is not None or needed:
                out[printed] = iso(value) if value.__class__ is datetime else value
        return out

    return row


_PLACE = ("line", "start", "end", "at")
_last_head: tuple[Record | None, dict[str, Any]] = (None, {})


def _head(record: Record) -> dict[str, Any]:
    """What all rows of one record share, beside its place. Events of one record come one after another, so the last one's
    is kept."""
    global _last_head  # noqa: PLW0603  replaced whole, so that threads can only miss it
    known, head = _last_head
    if known is record:
        return head
    head = {"at": None if record.at is None else iso(record.at)}
    for name, printed in HEAD.items():
        if name not in _PLACE and (value := getattr(record, name)) is not None:
            head[printed] = value
    _last_head = (record, head)
    return head


_WRITERS = {kind: _writer(kind) for kind in EVENTS}


def row(item: Item) -> dict[str, Any]:
    """One event or fault as a flat row."""
    return fault_row(item) if isinstance(item, LineFault) else _WRITERS[item.kind](item)


def fault_row(fault: LineFault) -> dict[str, Any]:
    """A fault as a flat row."""
    names = ("fault", "line", "start", "end", "path", "expected", "found", "recovered")
    return {"kind": "fault"} | {name: getattr(fault, name) for name in names}


def summary_row(summary: ReadSummary, agent: str | None, events: int, error: SourceError | None = None) -> SummaryRow:
    """The last row. events: how many rows of events came before."""
    return SummaryRow(
        agent=agent, status=ReadStatus.FAILED if error is not None else summary.status, lines=summary.lines,
        records=summary.records, events=events, bytes_read=summary.bytes_read,
        complete_through=summary.complete_through, consumed_through=summary.consumed_through, bytes=summary.bytes,
        faults=summary.faults, repairs=summary.repairs, unknown=summary.unknown, ignored=summary.ignored,
        problems=summary.problems, sha256=summary.sha256,
        error=SourceFailure(error.kind, error.said) if error is not None else None,
    )  # fmt: skip


__all__ = ["ALWAYS", "SCHEMA", "row", "row_types", "summary_row"]
