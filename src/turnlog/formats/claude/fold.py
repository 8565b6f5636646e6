"""The work a Claude Code file says was done (sheet CLAUDE_CODE 3, 4, 8, 9 and 14).

A call is known by its `message.id` alone, over all files: lines of one answer, resumed copies, forks and subagent replays
repeat it, and 1.0.96 drops the request id from copies. Each part of the usage counts at its greatest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...contract import Place
from ...model import Compaction, Item, Message, Meta, Prompt, Record, SessionName, ToolCall, ToolResult, Usage
from ...tokens import Additive
from ...work import FileWork, Left, Mark, Sample, SessionFacts, Title
from .session import SYNTHETIC

FINAL_FROM = (2, 1, 97)
"""From this version on the last usage of a stream is stored; before, output is "at least" (sheet 3)."""

_TITLE_RANKS = {"custom": 3, "ai": 2, "summary": 1, "agent": 0}
PROMPT_CHARS = 200
_SEPARATOR = re.compile(r"[/\\]")
_NONE: dict[str, int] = {}


def fold(place: Place, items: Iterable[Item]) -> FileWork:
    """Fold one file's items. Sessions are the records' own; a record without one belongs to the file's."""
    return _Fold(place).run(items)


class _Fold:
    """One file's fold under way."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.work = FileWork(place.name, "claude")
        self.file = place.stem or place.name
        self.at_least = False
        self.boundaries: set[str] = set()
        self.queued: list[Prompt] = []
        self.typed: set[str] = set()
        self.record: Record | None = None
        self.advisors = 0  # how many advisors' calls the record under way told so far
        self.facts: SessionFacts | None = None
        self.cwd: str | None = None
        self.project: str | None = None
        self.projects: set[str] = set()

    def run(self, items: Iterable[Item]) -> FileWork:
        for item in items:
            take = _TAKE.get(item.__class__)
            if item.kind == "fault":
                continue
            record = item.record  # type: ignore[union-attr]
            if record is not self.record:
                self._enter(record)
            if take is not None:
                take(self, item, record)
        self._unanswered()
        return self.work

    def _enter(self, record: Record) -> None:
        """A new record: its session begins or goes on."""
        self.record = record
        self.advisors = 0
        session = record.session_id or self.file
        facts = self.facts
        if facts is None or facts.id != session:
            facts = self.facts = self.work.session(session)
        facts.seen(record.at)
        if record.id is not None:
            self.work.ids[record.id] = session
            if record.at is not None:
                self.work.times[record.id] = record.at
        elif record.at is not None and (self.work.born is None or record.at < self.work.born):
            self.work.born = record.at

    def _key(self, record: Record) -> tuple[Any, ...]:
        """What makes a record itself: its uuid, else its place."""
        return ("claude", record.id) if record.id is not None else ("claude", self.place.name, record.start)

    def _here(self, record: Record) -> tuple[Any, ...]:
        """What makes an answer without a message id itself: its place in this file alone (sheet 14, trap 4)."""
        return ("claude", self.place.name, record.start if record.id is None else record.id)

    def _meta(self, event: Meta, _: Record) -> None:
        facts = self.facts
        assert facts is not None
        facts.cwd = facts.cwd or event.cwd
        if event.cwd is not None and event.cwd != self.cwd:
            self._moved(event.cwd)
        if event.model is not None:
            facts.model = event.model
        if event.agent_version is not None:
            facts.version = event.agent_version
            self.at_least = before_final(event.agent_version)
        if event.forked_from is not None:
            facts.forked_from = event.forked_from

    def _moved(self, cwd: str) -> None:
        """The client works in another folder: below one of its projects it stays in that, else this is a project. The
        records before may be copied from a session of another one (sheet 14, trap 25)."""
        self.cwd = self.project = cwd
        for end in [*(match.start() for match in _SEPARATOR.finditer(cwd)), len(cwd)]:
            if end and cwd[:end] in self.projects:
                self.project = cwd[:end]
                return
        self.projects.add(cwd)

    def _message(self, event: Message, record: Record) -> None:
        facts = self.facts
        assert facts is not None
        session = facts.id
        if event.role == "assistant":
            answer = event.message_id
            key = self._here(record) if answer is None else ("claude", answer)
            self.work.marks.append(Mark("answer", key, record.line, record.at, session, record.sidechain))
        elif event.author == "human":
            text = event.text
            self.typed.add(text)
            self.work.marks.append(Mark("prompt", self._key(record), record.line, record.at, session, record.sidechain))
            if facts.first_prompt is None and text:
                facts.first_prompt = text[:PROMPT_CHARS]
        elif event.author == "summary" and record.parent_id not in self.boundaries:
            self.work.marks.append(Mark("compaction", self._key(record), record.line, record.at, session))
        elif event.author in ("command", "output"):
            self.typed.add(event.text)

    def _usage(self, event: Usage, record: Record) -> None:
        facts = self.facts
        assert facts is not None
        counts = event.counts
        answer = event.message_id
        key: tuple[Any, ...] = self._here(record) if answer is None else ("claude", answer)
        if event.basis == "advisor":
            # By its number among the answer's advisors: its slot depends on how the answer was split into lines.
            key = (*key, "advisor", self.advisors)
            self.advisors += 1
        sample = Sample(
            key,
            Additive(counts.input, counts.output, counts.cache_read, counts.cache_write),
            record.line,
            record.start,
            record.end,
            record.at,
            event.origin_session or facts.id,
            event.model,
            self.project,
            record.sidechain,
            None if event.origin_session is None else event.origin_session == facts.id,
            self.at_least,
            tier=event.service_tier,
            fast=event.speed == "fast",
            write_1h=counts.cache_write_1h,
            searches=(event.server_tools or _NONE).get("web_search_requests", 0),
            aside=event.basis == "advisor",
        )
        self.work.at_least |= self.at_least
        if event.model == SYNTHETIC:
            self.work.left.append(Left(sample, "no call: the client's own line"))
        else:
            self.work.samples.append(sample)

    def _call(self, event: ToolCall, record: Record) -> None:
        self._tool("call", event.id, event.index, record)

    def _result(self, event: ToolResult, record: Record) -> None:
        self._tool("result", event.call_id, event.index, record)

    def _tool(self, what: Any, call: str | None, index: int, record: Record) -> None:
        key = (*self._key(record), index) if call is None else ("claude", call)
        facts = self.facts
        self.work.marks.append(Mark(what, key, record.line, record.at, facts.id if facts else None, record.sidechain))

    def _compaction(self, _: Compaction, record: Record) -> None:
        if record.id is not None:
            self.boundaries.add(record.id)
        facts = self.facts
        self.work.marks.append(
            Mark("compaction", self._key(record), record.line, record.at, facts.id if facts else None)
        )

    def _name(self, event: SessionName, record: Record) -> None:
        session = None if event.leaf_id is not None else record.session_id or self.file
        self.work.titles.append(Title(event.text, _TITLE_RANKS.get(event.source, 0), session, event.leaf_id))

    def _prompt(self, event: Prompt, _: Record) -> None:
        self.queued.append(event)

    def _unanswered(self) -> None:
        """Prompts that stand in the queue only: a queued one mostly comes again as a line of its own (sheet 7)."""
        for event in self.queued:
            text = event.text
            if text and text not in self.typed and text[0] not in "/<":
                self.typed.add(text)
                record = event.record
                session = record.session_id or self.file
                key = ("claude", self.place.stem, "queued", record.at_text, text)
                self.work.marks.append(Mark("prompt", key, record.line, record.at, session))


def before_final(version: str) -> bool:
    """Whether a client of that version may have stored a call's output too early."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    return found is not None and tuple(map(int, found.groups())) < FINAL_FROM


_TAKE: dict[type, Any] = {
    Meta: _Fold._meta,
    Message: _Fold._message,
    Usage: _Fold._usage,
    ToolCall: _Fold._call,
    ToolResult: _Fold._result,
    Compaction: _Fold._compaction,
    SessionName: _Fold._name,
    Prompt: _Fold._prompt,
}
