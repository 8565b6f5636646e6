"""swink-agent's lines to events (sheet SWINK_AGENT 2-5).

Slots: 0 meta, 1 the line's own event, 2 usage, 3+n the n-th content block. Times are Unix seconds, 0 means unknown.

What a line is shows in its shape, asked in this order: a mark that is `true`, an `entry_type`, a `role`, else line 1's
metadata. Append transactions are told by events, not undone here: `Custom(name="_append")` begins one, a `Meta` with the
fact `committed` true ends it; who folds decides what to hold back.
"""

from __future__ import annotations

import os
from typing import Any

from ...contract import Place, ReadOptions
from ...errors import FaultKind, Problem
from ...model import (
    Compaction,
    Custom,
    CustomMessage,
    Event,
    Label,
    Meta,
    ModelChange,
    Record,
    SessionName,
    ThinkingLevelChange,
    told,
)
from ...typed import P, Part
from ..base import Aside, Refused, missing, moment
from .lines import (
    COMPACTION,
    CUSTOM,
    LABEL,
    META,
    MODEL_CHANGE,
    SAID,
    THINKING_LEVEL,
    Line,
    ModelSpec,
    SessionMeta,
)
from .messages import MessageSession, small

CURRENT_VERSION = 1
"""The only version of the file there is; swink-agent refuses others, we read on and say so."""

_REPEATED_STATE = Aside("_state:repeated", known=True)


def session_of(place: Place) -> str | None:
    """The session a file is: its stem, which overrules the id inside (sheet 1). None for what is no session file."""
    name = os.path.basename(place.name)
    return place.stem if name.endswith((".jsonl", ".jsonl.zst")) else None


class SwinkSession(MessageSession):
    """State of one file: its session, the title last told, and whether metadata and state were seen."""

    __slots__ = ("_id", "_meta_seen", "_named", "_state_seen", "_title")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._id = session_of(place)
        self._named = self._id is not None
        self._title: str | None = None
        self._meta_seen = False
        self._state_seen = False

    def read(self, record: Line, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside:
        """The events of one line; see the table of types."""
        head = Record(line, start, end, "", None, None, self._id)
        if recovered:
            head.recovered = True
        if record.state is True:
            return self._state(record, head)
        if record.append is True:
            return self._append(record, head)
        if record.meta is True:
            return self._commit(record, head)
        if record.custom is True:
            return self._custom_message(record, head)
        kind = record.entry_type
        if kind is not None:
            entry = _ENTRIES.get(kind)
            if entry is None:
                return Aside(f"entry_type:{kind}", known=False)
            head.type = kind
            return entry(self, record, head)  # type: ignore[no-any-return]
        role = record.role
        if role is not None:
            head.type = role
            return self._said(record, head, "$")
        if record.id is None and record.created_at is None:
            for problem in self.problems:
                if problem.path in ("$.role", "$.entry_type"):
                    raise Refused(problem)
            missing("$.role", "a string")
        return self._session_meta(record, head)

    # -- envelopes

    def _state(self, record: Line, head: Record) -> list[Event] | Aside:
        if self._state_seen:
            return _REPEATED_STATE
        head.type = "_state"
        out: list[Event] = [Custom(head, 1, "_state", small(record.data))]
        self._state_seen = True
        return out

    def _append(self, record: Line, head: Record) -> list[Event] | Aside:
        if record.phase != "begin":
            return Aside(f"_append:{record.phase}", known=False)
        head.type = "_append"
        return [Custom(head, 1, "_append", {"phase": "begin"})]

    def _commit(self, record: Line, head: Record) -> list[Event]:
        head.type = "_meta"
        about = self._data(META, record)
        return self._metadata(about, head, committed=self._is_whole(about))

    def _custom_message(self, record: Line, head: Record) -> list[Event]:
        head.type = "_custom"
        if record.type is None:
            missing("$.type", "a string")
        raw = bytes(record.data)
        text = told(raw) if raw[:1] == b'"' else ""
        return [CustomMessage(head, 1, record.type, text, data=None if text else small(record.data))]

    def _session_meta(self, record: Line, head: Record) -> list[Event] | Aside:
        """Line 1; swink-agent knows no second one."""
        if self._meta_seen:
            return Aside("session_meta:repeated", known=False)
        head.type = "session_meta"
        return self._metadata(record, head, committed=None)

    def _metadata(self, about: SessionMeta | Line, head: Record, *, committed: bool | None) -> list[Event]:
        """The session's facts and title. Its own times are of the file, not of the talk: they stay facts."""
        session = self._id if self._named else about.id
        head.session_id = session
        facts = {name: value for name in _FACTS if (value := getattr(about, name)) is not None}
        if about.id is not None and about.id != session:
            facts["id"] = about.id
        if committed is not None:
            facts["committed"] = committed
        if about.version is not None and about.version != CURRENT_VERSION:
            self.note(f"version:{about.version}", known=False)
        out: list[Event] = [Meta(head, 0, session, facts=facts or None)]
        if about.title is not None and about.title != self._title:
            out.append(SessionName(head, 1, about.title, "info"))
            self._title = about.title
        self._id = session
        self._meta_seen = True
        return out

    def _is_whole(self, about: SessionMeta) -> bool:
        """Whether a commit commits: metadata that swink-agent cannot parse does not (sheet 2)."""
        for name in _NEEDED:
            value = getattr(about, name)
            path = f"$.data.{name}"
            if value is None:
                if all(problem.path != path for problem in self.problems):
                    self.soft(Problem(FaultKind.MISSING_FIELD, path, "a string", "nothing"))
                return False
            if name.endswith("_at") and ("-" not in value or moment(value) is None):
                self.soft(Problem(FaultKind.INVALID_FIELD, path, "an RFC 3339 time", "another string"))
                return False
        return True

    # -- entries

    def _message(self, record: Line, head: Record) -> list[Event] | Aside:
        said = self._data(SAID, record)
        if said.role is None:
            missing("$.data.role", "a string")
        return self._said(said, head, "$.data")

    def _model_change(self, record: Line, head: Record) -> list[Event]:
        data = self._data(MODEL_CHANGE, record)
        self._time(head, data.timestamp, "$.data")
        to, before = data.to or _NO_MODEL, data.before or _NO_MODEL
        return [ModelChange(head, 1, to.model_id or None, to.provider or None, before.model_id or None)]

    def _thinking_level_change(self, record: Line, head: Record) -> list[Event]:
        data = self._data(THINKING_LEVEL, record)
        self._time(head, data.timestamp, "$.data")
        return [ThinkingLevelChange(head, 1, data.to, data.before)]

    def _compaction(self, record: Line, head: Record) -> list[Event]:
        data = self._data(COMPACTION, record)
        self._time(head, data.timestamp, "$.data")
        facts = None if data.dropped_count is None else {"dropped_count": data.dropped_count}
        return [Compaction(head, 1, None, data.tokens_before, data.tokens_after, facts=facts)]

    def _label(self, record: Line, head: Record) -> list[Event]:
        data = self._data(LABEL, record)
        self._time(head, data.timestamp, "$.data")
        return [Label(head, 1, None, data.text, data.message_index)]

    def _custom(self, record: Line, head: Record) -> list[Event]:
        data = self._data(CUSTOM, record)
        self._time(head, data.timestamp, "$.data")
        return [Custom(head, 1, data.type_name or "", small(data.data))]

    def _data(self, part: Part[P], record: Line) -> P:
        """The `data` of an envelope, typed; without an object there nothing can be said."""
        raw = record.data
        if not memoryview(raw):
            missing("$.data", "an object")
        data = self.part(part, raw, "$.data")
        if data is None:
            if self.problems:
                raise Refused(self.problems[-1])
            missing("$.data", "an object")
        return data


_NO_MODEL = ModelSpec()
_FACTS = ("title", "version", "sequence", "created_at", "updated_at")
_NEEDED = ("id", "title", "created_at", "updated_at")


_ENTRIES: dict[str, Any] = {
    "message": SwinkSession._message,
    "model_change": SwinkSession._model_change,
    "thinking_level_change": SwinkSession._thinking_level_change,
    "compaction": SwinkSession._compaction,
    "label": SwinkSession._label,
    "custom": SwinkSession._custom,
}
