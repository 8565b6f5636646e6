"""Thousands of lines in, the answer out: the final text of a run, and whether it may be trusted."""

from __future__ import annotations

import os
import stat
from typing import IO, Any

import msgspec

from ..errors import NoSuchRun, SourceUnreadable
from ..source import CHUNK, Source, as_bytes, opened
from ..views.live import Live, RunView, Spent, State
from ..views.verdict import Word, verdict
from ..zstd import Unpacked
from .capture import Capture

SCHEMA = "turnlog.answer/1"


class Tokens(msgspec.Struct):
    """Tokens in parts that add up, each counted once; None where nothing was said of it."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    total: int | None = None


class Answer(msgspec.Struct, kw_only=True):
    """The answer of a run.

    ok: it may be trusted: the run settled and its last answer ended by itself. verdict: in a word. reason: why not.
    text: the last answer; None where it may not be trusted, unless that was asked for, and where there is none.
    messages: finished ones of every role. tools: calls the model made. usage: of this run.
    agent: whose stream it is. run: its number, None where none began; runs: how many there are. state: where it stands.
    """

    schema: str = SCHEMA
    ok: bool
    verdict: Word
    reason: str | None
    text: str | None
    messages: int
    tools: int
    usage: Tokens
    agent: str | None
    run: int | None
    runs: int
    state: State | None


def answer(
    source: str | os.PathLike[str] | Source,
    *,
    agent: str | None = None,
    run: int | None = None,
    partial: bool = False,
    name: str = "<stream>",
) -> Answer:
    """Read a captured stream to its end and judge a run of it.

    source: a path (`.zst` too, or a named pipe), or a binary file object, which is not closed. agent: whose stream, None to be told from it.
    run: which one, from 1; None is the last. partial: give the text of an unfinished or failed answer too.
    Raises SourceError subclasses, UnknownFormatError for what is no agent's stream, NoSuchRun.
    """
    if isinstance(source, str | os.PathLike):
        name = os.fsdecode(source)
        with _door(name) as handle:
            return _read(Unpacked(handle, name) if name.endswith(".zst") else handle, name, agent, run, partial)
    return _read(source, name, agent, run, partial)


def _door(name: str) -> IO[bytes]:
    """A file, or the pipe that a shell gives a name to (`<(agent ...)`): who names one means to wait for it."""
    try:
        if stat.S_ISFIFO(os.stat(name).st_mode):
            return open(name, "rb", buffering=0)
    except (OSError, ValueError) as error:
        raise SourceUnreadable(name, error) from error
    return opened(name)


def _read(source: Source, name: str, agent: str | None, run: int | None, partial: bool) -> Answer:
    capture = Capture(agent, live=Live(run=run), name=name, quiet=True)
    while data := _pull(source, name):
        capture.feed(data)
    capture.close()
    return judged(capture, partial=partial)


def _pull(source: Source, name: str) -> bytes:
    try:
        data: Any = source.read(CHUNK)
    except OSError as error:
        raise SourceUnreadable(name, error) from error
    return as_bytes(data, name)


def judged(capture: Capture, *, partial: bool = False) -> Answer:
    """The answer of a capture that was closed. Raises NoSuchRun where it holds no run of that number."""
    live = capture.live
    run = live.chosen
    if run is None and live.run is not None:
        there = f"the stream has {live.runs}" if live.runs else "the stream has none"
        raise NoSuchRun(f"{capture.place.name}: expected a run {live.run}, {there}")
    found = verdict(live)
    return Answer(
        ok=found.ok,
        verdict=found.word,
        reason=found.reason,
        text=_text(run) if found.ok or partial else None,
        messages=run.messages if run is not None else 0,
        tools=run.calls if run is not None else 0,
        usage=_tokens(run.usage if run is not None else Spent()),
        agent=capture.agent,
        run=run.number if run is not None else None,
        runs=live.runs,
        state=run.state if run is not None else None,
    )


def _text(run: RunView | None) -> str | None:
    return None if run is None else run.text


def _tokens(spent: Spent) -> Tokens:
    return Tokens(spent.input, spent.output, spent.cache_read, spent.cache_write, spent.total)
