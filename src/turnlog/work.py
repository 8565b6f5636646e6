"""The work a file says was done, in a form that can be compared over files.

A format folds the events of one file into a `FileWork`: usage samples and marks (prompts, answers, calls, results,
compactions), each with a key that is equal wherever the same work was written again. The ledger merges the files. Nothing
is dropped on the way: what a format knows to be no work of its own (a copy, a repeat, an estimate) is `left` with its
reason and position.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from .tokens import Additive

KeyPart = str | int | float | None | tuple[int | None, ...]
Key = tuple[KeyPart, ...]
"""What makes a piece of work itself. Plain values only, so that it comes back equal from another process."""

Spot = tuple[str, int, int, int]
"""Where a sample stands: path, line, start, end."""

What = Literal["prompt", "answer", "call", "result", "compaction"]


class Sample(msgspec.Struct, gc=False):
    """Tokens of one call, in parts that add up.

    key: equal for the same call everywhere; samples of one key are merged, each part at its greatest.
    line, start, end: where it stands. at: UTC. session: the session that did the work. project: its folder.
    own: whether the file says by its own origin fields that the work was done in this session (None: it does not say).
    lower_bound: the output was written before the call ended, so it is "at least" this.
    uncommitted: the agent itself would discard the record. cost: US dollars as stored.
    What its price depends on, as the agent wrote it: provider; tier, the service tier; fast, the faster and dearer mode;
    write_1h, the part of the cache writes kept for an hour; searches, web searches the provider ran.
    aside: no answer's call but an advisor's, a tool's or a summary's: what it was given to read is not the context.
    """

    key: Key
    counts: Additive
    line: int
    start: int
    end: int
    at: datetime | None = None
    session: str | None = None
    model: str | None = None
    project: str | None = None
    sidechain: bool = False
    own: bool | None = None
    lower_bound: bool = False
    uncommitted: bool = False
    cost: float | None = None
    provider: str | None = None
    tier: str | None = None
    fast: bool = False
    write_1h: int | None = None
    searches: int = 0
    aside: bool = False


class Mark(msgspec.Struct, gc=False):
    """One prompt, answer, tool call, tool result or compaction; equal keys are the same one."""

    what: What
    key: Key
    line: int
    at: datetime | None = None
    session: str | None = None
    sidechain: bool = False
    uncommitted: bool = False


class Left(msgspec.Struct, gc=False):
    """A sample that was not counted: why (a short rule such as "total unchanged"), and the sample that stands for it
    where one does."""

    sample: Sample
    reason: str
    instead: Spot | None = None


def spot(path: str, sample: Sample) -> Spot:
    """Where a sample of that file stands."""
    return (path, sample.line, sample.start, sample.end)


class Title(msgspec.Struct, gc=False):
    """A name a file gives a session. rank: greater wins, then the later one. leaf_id: the name belongs to the session
    that holds this record, wherever that is; else to `session`. clears: blank text takes an earlier name away."""

    text: str | None
    rank: int
    session: str | None = None
    leaf_id: str | None = None
    clears: bool = False


class SessionFacts(msgspec.Struct):
    """What a file says of one session."""

    id: str
    cwd: str | None = None
    model: str | None = None
    version: str | None = None
    first: datetime | None = None
    last: datetime | None = None
    first_prompt: str | None = None
    forked_from: str | None = None
    parent: str | None = None
    origin: str | None = None

    def seen(self, at: datetime | None) -> None:
        """Widen first and last to `at`."""
        if at is not None:
            if self.first is None or at < self.first:
                self.first = at
            if self.last is None or at > self.last:
                self.last = at


class FileWork(msgspec.Struct):
    """All that one file adds to the ledger.

    sessions: by id; the first is the file's own. ids: native record id to session, for names that point at a record.
    times: native record id to time, and born: the earliest time of a record without an id. A file whose records all
    stand in another one, or whose own ones began earlier, is the elder: what both hold was made there.
    at_least: answers in it were written by a client that stores a call's output before the call ends.
    visible: lines of those samples that stand on the path from the root to the leaf; None where the agent keeps no tree.
    hints: what `reconcile` of the format needs to compare files, of the format's type `hints`.
    """

    path: str
    agent: str
    sessions: dict[str, SessionFacts] = msgspec.field(default_factory=dict)
    samples: list[Sample] = msgspec.field(default_factory=list)
    marks: list[Mark] = msgspec.field(default_factory=list)
    left: list[Left] = msgspec.field(default_factory=list)
    titles: list[Title] = msgspec.field(default_factory=list)
    ids: dict[str, str] = msgspec.field(default_factory=dict)
    times: dict[str, datetime] = msgspec.field(default_factory=dict)
    born: datetime | None = None
    at_least: bool = False
    visible: list[int] | None = None
    hints: Any = None

    def session(self, key: str) -> SessionFacts:
        """The facts of that session, begun if this is the first word of it."""
        facts = self.sessions.get(key)
        if facts is None:
            facts = self.sessions[key] = SessionFacts(key)
        return facts
