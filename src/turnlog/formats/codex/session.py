"""Codex's records to events (sheet CODEX 2-10). What items say is in `items`; here is the rest and the state.

Line 1's session_meta names the file's session. Later ones of another thread are copied ancestors: they are told, with the
fact `copied`, and change nothing (the Rust crate switches to them).

With `codex_usage="token_count"` a token_usage_record is counted as ignored, with "response" a token_count is. With "all"
both speak, each sample naming its `ledger`, and every token_count with an `info` gives a Usage, so that the accounting can
follow the running total itself: basis "unchanged", "counter_regression" and "lost_baseline" then have no counts, and
`cumulative` is the total. The adjustment "estimate" marks a last sample that is only a total: no consumption.

Slots: 0 meta, 1 the record's own event, 2 usage, 3 and on as `items` says.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from ...contract import Place, ReadOptions
from ...errors import FaultKind, Problem
from ...model import Compaction, Custom, Event, Meta, Prompt, Record, Turn, Usage, told
from ...tokens import Counts, Semantics
from ..base import DATE_MARKS, Aside, missing
from .items import ITEMS, ItemSession, Project
from .lines import LABELS, EventLine, ItemLine
from .origin import origin_of, spawner
from .records import (
    BLOCKS,
    Compacted,
    CompactedLine,
    Item,
    ItemCompleted,
    OpenLine,
    RolledBack,
    SessionMeta,
    SessionMetaLine,
    SettingsApplied,
    TaskComplete,
    TaskStarted,
    TokenCount,
    TurnAborted,
    TurnContext,
    TurnContextLine,
    UsageRecord,
    UsageRecordLine,
    UserMessage,
)
from .types import IGNORED, TYPES
from .usage import CountLedger, counts_of, is_blank, model_of

_INCLUSIVE = Semantics.CACHE_INCLUSIVE
_ASIDES = {
    **{struct: Aside(label, True) for struct, label in LABELS.items()},
    TokenCount: Aside("event_msg:token_count", True),  # where the other ledger is asked for
    UsageRecord: Aside("token_usage_record", True),
}
_ITEM_ASIDES = {label: Aside(label, True) for label in IGNORED if label.startswith("item:")}
_ESTIMATE = ("estimate",)
_STATE = Aside("state", True)
_Lines = dict[type, tuple[str, dict[type, Project]]]
_moment = datetime.fromisoformat

_STEM = re.compile(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_([0-9a-f-]{36}))?", re.ASCII).fullmatch

_FACTS = (
    "session_id",
    "timestamp",
    "model_provider",
    "history_mode",
    "history_base",
    "forked_from_ordinal_exclusive",
    "subagent_history_start_ordinal",
    "multi_agent_version",
    "agent_nickname",
    "agent_path",
    "agent_role",
)
"""Fields of a session_meta that are told as facts. Never `git.repository_url`: some versions wrote a password into it."""


def named(stem: str | None) -> tuple[str | None, str | None]:
    """The thread and, after a revert, the segment that a file is named for (sheet 1)."""
    found = _STEM(stem) if stem is not None else None
    return (found.group(1), found.group(2)) if found else (None, None)


class CodexSession(ItemSession):
    """State of one file: its thread, whether that is a subagent's, the turn, model and service tier under way, and the
    running total."""

    __slots__ = ("_begun", "_counts", "_every", "_lines", "_model", "_session", "_sidechain", "_tier", "_turn")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        super().__init__(place, options)
        self._session: str | None = named(place.stem)[0]
        self._begun = False
        self._sidechain = False
        self._turn: str | None = None
        self._model: str | None = None
        self._tier: str | None = None
        self._counts = CountLedger()
        self._lines = _lines(options.codex_usage)
        self._every = options.codex_usage == "all"

    def lost(self) -> None:
        """A line was lost: the running total's difference is not known."""
        self._counts.broken = True

    def read(self, record: Any, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside:
        """The events of one record; see the table of types."""
        found = self._lines.get(record.__class__)
        if found is None:
            return self._flat(record, line, start, end, recovered)
        kind, projects = found
        payload = record.payload
        project = projects.get(payload.__class__)
        if project is None:
            if payload is None:
                missing("$.payload", "an object")
            return _ASIDES[payload.__class__]
        turn = self._turn
        if kind == "response_item":
            passed = payload.internal_chat_message_metadata_passthrough
            if passed is not None and passed.turn_id is not None:
                turn = passed.turn_id
        stamp = record.timestamp
        at: datetime | None
        # The usual time, without a call
        if stamp.__class__ is str and stamp[7:17:3] == DATE_MARKS and stamp[19::4] == ".Z":
            try:
                at = _moment(stamp)
            except ValueError:
                at = self.when(stamp)
            head = Record(
                line, start, end, kind, at, stamp, self._session, None, None, turn, None, self._sidechain, recovered
            )  # fmt: skip
        else:
            at = None if stamp is None else self.when(stamp)
            text = stamp if stamp.__class__ is str else None
            head = Record(
                line, start, end, kind, at, text, self._session, None, None, turn, None, self._sidechain, recovered
            )  # fmt: skip
        out: list[Event] | Aside = project(self, payload, record, head)
        return out

    def _flat(self, record: Any, line: int, start: int, end: int, recovered: bool) -> list[Event] | Aside:
        """A line without an envelope: of 0.8 to 0.29, a part of a TypeScript document, or of an unknown type."""
        cls = record.__class__
        if cls is not OpenLine:
            project = ITEMS.get(cls)
            if project is None:
                return _ASIDES[cls]
            kind = str(cls.__struct_config__.tag)
            head = Record(line, start, end, kind, session_id=self._session, turn_id=self._turn, recovered=recovered)
            head.sidechain = self._sidechain
            return project(self, record, None, head)
        kind = record.type
        if kind is None:
            if record.record_type is not None:
                return _STATE if record.record_type == "state" else Aside(f"record_type:{record.record_type}", False)
            if record.id is None or record.role is not None:
                missing("$.type", "a string")
            stamp = record.timestamp
            at = None if stamp is None else self.when(stamp)
            head = Record(line, start, end, "header", at, stamp if isinstance(stamp, str) else None, self._session)
            head.recovered = recovered
            return self._session_meta(SessionMeta(record.id, timestamp=stamp, git=record.git), None, head)
        if kind in ("event_msg", "response_item"):
            if record.payload is None or record.payload.type is None:
                missing("$.payload.type", "a string")
            kind = f"{kind}:{record.payload.type}"
        return Aside(kind, False)

    def _session_meta(self, about: SessionMeta, _: Any, head: Record) -> list[Event]:
        thread = about.id
        ours = thread is None or self._session is None or thread == self._session
        first = not self._begun and (ours or head.line == 1)
        copied = not (first or ours)
        origin = origin_of(about.source, about.thread_source, about.originator)
        facts: dict[str, Any] = {}
        for name in _FACTS:
            value = getattr(about, name)
            if value is not None:
                facts[name] = value
        if copied:
            facts["copied"] = True
        stamp = about.timestamp
        if head.at is None and stamp is not None:
            head.at = self.when(stamp, "$.payload.timestamp")
        if first:
            self._begun = True
            self._session = head.session_id = thread or self._session
            self._sidechain = head.sidechain = origin == "subagent"
        if about.model is not None and about.model.strip() and not copied:
            self._model = about.model
        return [
            Meta(
                head,
                0,
                thread,
                about.cwd,
                about.git.branch if about.git is not None else None,
                about.model,
                about.cli_version,
                origin,
                about.originator,
                about.source,
                about.thread_source,
                about.forked_from_id,
                about.parent_thread_id or spawner(about.source),
                facts or None,
            )
        ]

    def _turn_context(self, about: TurnContext, _: Any, head: Record) -> list[Event]:
        if about.turn_id is not None:
            self._turn = head.turn_id = about.turn_id
        model = about.model
        if model is not None and model.strip():
            self._model = model
        facts = {"effort": about.effort} if about.effort is not None else None
        return [Meta(head, 0, cwd=about.cwd, model=model, facts=facts)]

    def _settings(self, about: SettingsApplied, _: Any, head: Record) -> list[Event]:
        """Settings of the turns to come: their model is told by turn_context, the service tier here alone."""
        settings = about.thread_settings
        if settings is None:
            return []
        self._tier = settings.service_tier
        facts = {name: value for name in settings.__struct_fields__ if (value := getattr(settings, name)) is not None}
        return [Meta(head, 0, facts=facts)] if facts else []

    def _task_started(self, about: TaskStarted, _: Any, head: Record) -> list[Event]:
        by = about.turn_attribution
        facts: dict[str, Any] = {}
        mirrored = False
        if by is not None:
            if by.turn_trigger is not None:
                facts["turn_trigger"] = by.turn_trigger
            if by.parent_turn_id is not None:
                facts["parent_turn_id"] = by.parent_turn_id
                # A review's turn, told again in the file of the thread that asked for it: it never becomes this
                # thread's own turn (CODEX_TRAPS 21).
                mirrored = by.parent_turn_id == self._turn
        if about.started_at is not None:
            facts["started_at"] = about.started_at
        if not mirrored:
            self._turn = about.turn_id
        head.turn_id = about.turn_id
        return [Turn(head, 1, "started", about.turn_id, facts=facts or None)]

    def _task_complete(self, about: TaskComplete, _: Any, head: Record) -> list[Event]:
        error = about.error
        if error is None:
            return _ended("completed", about, head)
        kind = error.get("codex_error_info") if isinstance(error, dict) else None
        if isinstance(kind, dict):
            kind = next(iter(kind), None)
        return _ended("failed", about, head, kind if isinstance(kind, str) else "error")

    def _turn_aborted(self, about: TurnAborted, _: Any, head: Record) -> list[Event]:
        return _ended("aborted", about, head)

    def _rolled_back(self, about: RolledBack, _: Any, head: Record) -> list[Event]:
        return [Turn(head, 1, "rolled_back", None, count=about.num_turns)]

    def _user_message(self, about: UserMessage, _: Any, head: Record) -> list[Event]:
        return [Prompt(head, 1, about.message or "")]

    def _item_completed(self, about: ItemCompleted, _: Any, head: Record) -> list[Event] | Aside:
        head.turn_id = about.turn_id or head.turn_id
        item = about.item
        if item is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, "$.payload.item", "an object", "nothing"))
            return []
        kind = item.type
        if kind == "UserMessage":
            return [Prompt(head, 1, self._typed(item), about.thread_id)]
        if kind in _ITEM_EVENTS:
            named = {"kind": item.kind, "agent_thread_id": item.agent_thread_id, "agent_path": item.agent_path}
            data = {name: value for name, value in (*named.items(), ("model", item.model)) if value is not None}
            return [Custom(head, 1, f"item:{kind}", data or None)]
        if kind is None:
            self.soft(Problem(FaultKind.MISSING_FIELD, "$.payload.item.type", "a string", "nothing"))
        else:
            label = f"item:{kind}"
            return _ITEM_ASIDES.get(label) or Aside(label, False)
        return []

    def _typed(self, item: Item) -> str:
        """The text of a person's message as the client keeps it: parts of text, pictures and files."""
        raw = bytes(item.content)
        if raw[:1] != b"[":
            return told(self.text(item.content, "$.payload.item.content"))
        parts = self.part(BLOCKS, raw, "$.payload.item.content") or []
        texts = [self.text(p.text, "$.payload.item.content") for p in parts if p is not None and p.type == "text"]
        return "\n".join(map(told, texts))

    def _compacted(self, about: Compacted, _: Any, head: Record) -> list[Event]:
        """The compaction. Its nested copies of items and usage are no records of their own (sheet 10)."""
        told_of = (("window_number", about.window_number), ("compaction_response_id", about.compaction_response_id))
        facts: dict[str, Any] = {name: value for name, value in told_of if value is not None}
        return [Compaction(head, 1, about.message or None, facts=facts or None)]

    def _token_count(self, about: TokenCount, _: Any, head: Record) -> list[Event]:
        info = about.info
        if info is None:
            return []
        total, last = info.total_token_usage, info.last_token_usage
        cumulative: Counts | None = None
        if total is None or is_blank(total):
            path = "$.payload.info.total_token_usage"
            self.soft(Problem(FaultKind.MISSING_FIELD, path, "an object with a counter", "nothing"))
            if last is None:
                return []
            basis, counts, estimate, problem = "last_sample", counts_of(last), False, None
        else:
            basis, counts, estimate, problem = self._counts.take(total, last)
            if problem is not None:
                # Not `soft`: the total is the new baseline all the same, in a strict reading too.
                self.notes.append(problem)
        model = model_of(info, about.model)
        if model is not None:
            self._model = model
        if not self._every and (problem is not None or basis == "unchanged"):
            return []
        if total is not None:
            cumulative = counts_of(total)
        spent = Usage(head, 2, counts, _INCLUSIVE, basis, self._model)
        spent.cumulative = cumulative
        spent.ledger = "token_count"
        if self._tier is not None:
            spent.service_tier = self._tier
        if estimate:
            spent.adjustments = _ESTIMATE
        return [spent]

    def _token_usage_record(self, about: UsageRecord, _: Any, head: Record) -> list[Event]:
        usage = about.usage
        if usage is None or is_blank(usage):
            self.soft(Problem(FaultKind.MISSING_FIELD, "$.payload.usage", "an object with a counter", "nothing"))
            return []
        if about.model is not None and about.model.strip():
            self._model = about.model
        if about.turn_id is not None:
            head.turn_id = about.turn_id
        spent = Usage(head, 2, counts_of(usage), _INCLUSIVE, "response", self._model)
        spent.response_id = about.response_id
        spent.thread_id = about.thread_id
        spent.ledger = "response"
        spent.service_tier = self._tier
        return [spent]


def _ended(state: str, about: TaskComplete | TurnAborted, head: Record, error: str | None = None) -> list[Event]:
    facts: dict[str, Any] = {}
    if about.__class__ is TurnAborted and about.reason is not None:
        facts["reason"] = about.reason
    if about.started_at is not None:
        facts["started_at"] = about.started_at
    if about.completed_at is not None:
        facts["completed_at"] = about.completed_at
    if about.turn_id is not None:
        head.turn_id = about.turn_id
    duration = about.duration_ms
    lasted = int(duration) if duration is not None else None
    return [Turn(head, 1, state, about.turn_id, error, lasted, None, facts or None)]


_EVENTS: dict[type, Project] = {
    TokenCount: CodexSession._token_count,
    UserMessage: CodexSession._user_message,
    TaskStarted: CodexSession._task_started,
    TaskComplete: CodexSession._task_complete,
    TurnAborted: CodexSession._turn_aborted,
    RolledBack: CodexSession._rolled_back,
    SettingsApplied: CodexSession._settings,
    ItemCompleted: CodexSession._item_completed,
}

_EVENTS_WITHOUT_COUNTS = {struct: project for struct, project in _EVENTS.items() if struct is not TokenCount}


def _lines(usage: str) -> _Lines:
    """What each line says, by its struct: its native type, and the record functions by the payload's struct. usage: the
    ledger asked for; a sample of the other one is known and left out."""
    return {
        EventLine: ("event_msg", _EVENTS if usage != "response" else _EVENTS_WITHOUT_COUNTS),
        ItemLine: ("response_item", ITEMS),
        SessionMetaLine: ("session_meta", {SessionMeta: CodexSession._session_meta}),
        TurnContextLine: ("turn_context", {TurnContext: CodexSession._turn_context}),
        CompactedLine: ("compacted", {Compacted: CodexSession._compacted}),
        UsageRecordLine: (
            "token_usage_record",
            {UsageRecord: CodexSession._token_usage_record} if usage != "token_count" else {},
        ),
    }


_ITEM_EVENTS = frozenset(label[5:] for label in TYPES if label.startswith("item:"))
