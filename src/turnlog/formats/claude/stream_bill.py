"""What a run of Claude Code's printed stream has spent so far, from lines that repeat and overlap (sheet CLAUDE_CODE 3, 12).

Of one message the greatest of each part counts, whatever line told it. A line's usage is mostly that of the message's
start, so output is too low until the result line tells the rest.
"""

from __future__ import annotations

from ...model import Body, told
from ...tokens import Counts
from .records import ApiMessage

_PARTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "cache_write_5m", "reasoning")
_MOST_IDS = 256
"""Messages whose usage is remembered: the lines of one stand close together."""


class Lines:
    """The usage told of each of the last messages, by message id."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[str | None, Counts] = {}

    def more(self, message_id: str | None, counts: Counts) -> tuple[Counts | None, bool]:
        """What `counts` says beyond the lines before it (None: nothing), and whether none was before it."""
        before = self.known.get(message_id) if message_id is not None else None
        if before is None:
            more: Counts | None = counts
        else:
            more = beyond(counts, before)
        if message_id is not None and more is not None:
            self.known[message_id] = counts if before is None else _greatest(counts, before)
            if len(self.known) > _MOST_IDS:
                del self.known[next(iter(self.known))]
        return more, before is None


class Going:
    """A run that has no result yet.

    told: the usage told of it. last: the id of its last message; last_in: what went into that one; stop: why it stopped,
    as far as that is told; text: its last text block. interrupted: a person stopped it.
    """

    __slots__ = ("_told", "interrupted", "last", "last_in", "stop", "text")

    def __init__(self) -> None:
        self._told: dict[str, int] = {}
        self.last: str | None = None
        self.last_in = 0
        self.stop: str | None = None
        self.text: str | bytes | None = None
        self.interrupted = False

    @property
    def told(self) -> Counts:
        """The sum of what was told."""
        return Counts(**self._told)

    def add(self, more: Counts) -> None:
        """Usage of the main loop, told just now."""
        for name in _PARTS:
            part = getattr(more, name)
            if part is not None:
                self._told[name] = self._told.get(name, 0) + part

    def line(self, message: ApiMessage, body: Body, went_in: int) -> None:
        """A line of a message of the main loop."""
        if message.id is None or message.id != self.last:
            self.stop = self.text = None
        self.last, self.last_in = message.id, went_in
        self.stop = message.stop_reason or self.stop
        if body:
            self.text = body[-1] if isinstance(body, tuple) else body

    def says(self, text: str) -> bool:
        """The last text block is this."""
        return self.text is not None and told(self.text) == text


def inward(counts: Counts | None) -> int:
    """All that went into a call, or into several: input with what was read from and written to the cache."""
    return 0 if counts is None else (counts.input or 0) + (counts.cache_read or 0) + (counts.cache_write or 0)


def beyond(counts: Counts, before: Counts) -> Counts | None:
    """How far each part is above what was told before; None where none is."""
    more: dict[str, int] = {}
    for name in _PARTS:
        now, then = getattr(counts, name), getattr(before, name)
        if now is not None and (then is None or now > then):
            more[name] = now - (then or 0)
    return Counts(**more) if more else None


def _greatest(counts: Counts, before: Counts) -> Counts:
    """The greater of each part; an unknown one is the other."""
    parts: dict[str, int | None] = {}
    for name in _PARTS:
        now, then = getattr(counts, name), getattr(before, name)
        parts[name] = then if now is None else now if then is None else max(now, then)
    return Counts(**parts)
