"""What turnlog says of the files and streams of a run, in the words of the scenarios."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import turnlog
from model_server import Spent
from turnlog.live.answer import judged

Tuples = tuple[tuple[Any, ...], ...]


def events(path: Path) -> list[turnlog.Event]:
    """The events of a session file, which must be whole: no fault, nothing unknown, every byte in its class."""
    with turnlog.read(path, "pi") as reader:
        items = list(reader)
    summary = reader.finish()
    assert summary.status is turnlog.ReadStatus.COMPLETE, summary.faults
    assert not summary.unknown, summary.unknown
    assert summary.bytes.total() == summary.bytes_read == path.stat().st_size
    return items


def said(items: Iterable[turnlog.Event]) -> Tuples:
    """Events in the short form of the scenarios."""
    out: list[tuple[Any, ...]] = []
    named: dict[str | None, str] = {}
    counts: dict[str, int] = {}
    for event in items:
        match event:
            case turnlog.Message(role="system"):
                continue
            case turnlog.Message(role=role):
                number = counts[role] = counts.get(role, -1) + 1
                named[event.record.id] = f"{role}:{number}"
                out.append((role, event.text))
            case turnlog.Thinking():
                out.append(("thinking", event.text))
            case turnlog.ToolCall():
                out.append(("call", event.name, event.arguments))
            case turnlog.ToolResult():
                out.append(("result", event.name, event.text, event.is_error))
            case turnlog.Compaction():
                out.append(("compaction", event.summary))
            case turnlog.BranchSummary():
                out.append(("branch_summary", bare(event.summary)))
            case turnlog.Label():
                out.append(("label", named.get(event.target_id), event.text))
            case turnlog.SessionName():
                out.append(("name", event.text))
            case turnlog.CustomMessage():
                out.append((event.name, event.text))
            case turnlog.Custom():
                out.append(("custom", event.name))
            case turnlog.ContextEdit():
                out.append(("edit", named.get(event.target_id)))
    return tuple(out)


def bare(summary: str) -> str:
    """The summary of a branch as the model wrote it: Pi puts a paragraph of its own before it."""
    return summary.partition("\n\n")[2]


def spent(home: Path) -> tuple[Spent, float | None]:
    """Tokens and US dollars of all sessions below a home, each call once."""
    view = turnlog.survey(turnlog.roots_from_home(home), "UTC", jobs=1)
    assert view.complete, view.problems
    tokens = view.tokens
    return Spent(tokens.input, tokens.output, tokens.cache_read, tokens.cache_write), view.cost


def tree_of(items: Iterable[turnlog.Event]) -> turnlog.Tree:
    """The tree of a session file."""
    return turnlog.tree(items, turnlog.FORMATS["pi"].tree)


def context_at(path: Path, at: str | None = None) -> turnlog.SessionContext:
    """What the model was shown with the leaf at an entry, else at the file's own leaf."""
    return turnlog.session_context(str(path), at=at, agent="pi")


def shown(seen: turnlog.SessionContext) -> tuple[tuple[str, str], ...]:
    """The messages of a context as (role, text), without the instructions."""
    return tuple(
        (row.role, bare(row.text) if row.role == "branchSummary" else row.text)
        for row in seen.context
        if row.role != "system"
    )


@dataclass
class Stream:
    """What was printed: its events (faults too), what was read, the tokens it tells, and the verdict on its last run."""

    events: list[turnlog.Item]
    summary: turnlog.ReadSummary
    spent: Spent
    verdict: str


def stream_of(out: bytes) -> Stream:
    """Read what Pi printed."""
    stream = turnlog.PiStream()
    items = [*stream.feed(out), *stream.close()]
    used = stream.live.usage
    spent = Spent(used.input or 0, used.output or 0, used.cache_read or 0, used.cache_write or 0)
    return Stream(items, stream.summary(), spent, judged(stream).verdict)
