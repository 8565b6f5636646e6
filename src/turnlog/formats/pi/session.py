"""Pi's records to events (sheet PI 2-5). Old versions are read as Pi migrates them, in memory.

Slots: 0 meta, 1 the message or the entry's own event, 2 usage, 3+n the n-th content block.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from ...contract import Place, ReadOptions
from ...model import (
    BranchSummary,
    Compaction,
    ContextEdit,
    Custom,
    Event,
    Label,
    Meta,
    ModelChange,
    Record,
    SessionName,
    ThinkingLevelChange,
    valued,
)
from ..base import DATE_MARKS, Aside
from .entries import LARGER, ROLES, Entry, Usual
from .flat import Flat, is_flat
from .messages import Messages, small
from .types import AGAIN

_AGAIN = Aside(AGAIN, True)
_moment = datetime.fromisoformat

# What JavaScript's trim() takes off: Python's strip() takes off other control characters, and no U+FEFF.
_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_BREAKS = re.compile(r"[\r\n]+")


class PiSession(Messages):
    """State of one file: the header's session id, whether a header was read, and, of a version 1 file, the chain."""

    __slots__ = ("_flat", "_headed", "_session")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._session: str | None = None
        self._headed = False
        self._flat: Flat | None = None

    def read(
        self, record: Entry | Usual, line: int, start: int, end: int, recovered: bool = False
    ) -> list[Event] | Aside | None:
        """The events of one record; see the table of types."""
        kind = record.type
        if record.__class__ is Usual:
            message = record.message
            if kind in LARGER or (message is not None and message.role in ROLES):
                return None  # the first look showed only what the usual messages have
        elif kind == "session":
            return self._header(record, line, start, end, recovered)  # type: ignore[arg-type]
        project = _ENTRIES.get(kind)
        flat = self._flat
        if flat is None:
            own, parent = record.id, record.parentId or None
            if project is None and own is None:
                return Aside(kind, False)
        else:
            own, parent = flat.next(start)
        stamp = record.timestamp
        at: datetime | None
        text: Any = stamp
        if stamp.__class__ is str and stamp[7:17:3] == DATE_MARKS and stamp[19::4] == ".Z":
            try:
                at = _moment(stamp)
            except ValueError:
                at = self.when(stamp)
        else:
            at = None if stamp is None else self.when(stamp)
            text = stamp if stamp.__class__ is str else None
        head = Record(line, start, end, kind, at, text, self._session, own, parent)
        if recovered:
            head.recovered = True
        events: list[Event] = []
        if project is None:
            self.note(kind, known=False)
            events.append(Custom(head, 1, kind))
        else:
            project(self, record, head, events)
        if flat is not None:
            flat.add(start)
        return events

    def _header(self, record: Entry, line: int, start: int, end: int, recovered: bool) -> list[Event] | Aside:
        if self._headed:
            if self._flat is not None:
                self._flat.skip()
            return _AGAIN
        stamp = record.timestamp
        head = Record(
            line,
            start,
            end,
            "session",
            None if stamp is None else self.when(stamp),
            stamp if isinstance(stamp, str) else None,
            record.id,
            recovered=recovered,
        )
        names = ("version", "branchedFrom", "provider", "thinkingLevel")
        facts = {name: value for name in names if (value := getattr(record, name)) is not None}
        meta = Meta(
            head, 0, record.id, record.cwd or None, None, record.modelId or record.model,
            forked_from=record.parentSession or record.branchedFrom, facts=facts or None,
        )  # fmt: skip
        self._headed = True
        self._session = record.id
        if is_flat(record.version):
            self._flat = Flat(record.id)
        return [meta]

    def _model_change(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(ModelChange(head, 1, record.modelId or record.model, record.provider))  # 0.7 wrote one string

    def _thinking_level_change(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(ThinkingLevelChange(head, 1, record.thinkingLevel))

    def _compaction(self, record: Entry, head: Record, out: list[Event]) -> None:
        kept = record.firstKeptEntryId
        if self._flat is not None and record.firstKeptEntryIndex is not None:
            kept = self._flat.kept(record.firstKeptEntryIndex, head.start) or kept
        facts = {"fromHook": record.fromHook} if record.fromHook is not None else None
        out.append(Compaction(head, 1, record.summary, record.tokensBefore, first_kept=kept, facts=facts))
        if record.usage is not None:
            out.append(self._usage(record.usage, "entry", head))

    def _branch_summary(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(BranchSummary(head, 1, record.summary or "", record.fromId))
        if record.usage is not None:
            out.append(self._usage(record.usage, "entry", head))

    def _usage_entry(self, record: Entry, head: Record, out: list[Event]) -> None:
        data = {name: value for name in ("kind", "note") if (value := getattr(record, name)) is not None}
        out.append(Custom(head, 1, "usage", data or None))
        if record.usage is not None:
            out.append(self._usage(record.usage, "entry", head, record.model, record.provider))

    def _custom(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(Custom(head, 1, record.customType or "", small(record.data)))

    def _custom_message(self, record: Entry, head: Record, out: list[Event]) -> None:
        self._extension(record, "$", head, out)

    def _context_edit(self, record: Entry, head: Record, out: list[Event]) -> None:
        replacement = valued(bytes(record.replacement)) if bytes(record.replacement) else None
        out.append(ContextEdit(head, 1, record.targetId, replacement))

    def _label(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(Label(head, 1, record.targetId, record.label))

    def _session_info(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(SessionName(head, 1, _BREAKS.sub(" ", record.name or "").strip(_SPACE), "info"))

    def _node(self, record: Entry, head: Record, out: list[Event]) -> None:
        out.append(Custom(head, 1, record.type))


_ENTRIES: dict[str, Any] = {
    "message": PiSession._message,
    "model_change": PiSession._model_change,
    "thinking_level_change": PiSession._thinking_level_change,
    "compaction": PiSession._compaction,
    "branch_summary": PiSession._branch_summary,
    "usage": PiSession._usage_entry,
    "custom": PiSession._custom,
    "custom_message": PiSession._custom_message,
    "context_edit": PiSession._context_edit,
    "label": PiSession._label,
    "session_info": PiSession._session_info,
    "leaf": PiSession._node,
    "active_tools_change": PiSession._node,
}
