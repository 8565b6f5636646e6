"""What the visible path of a session cost beside the whole, and how much its model was last given to read.

A call is on the path where its record stands between root and leaf of its file's tree. Calls copied from another session
belong to that one; subagents' are on no path.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from .identity import Counted
from .prices import Cost
from .sums import SessionUse, Spent

_EARLIEST = datetime.min.replace(tzinfo=UTC)


class Seen(msgspec.Struct):
    """One session's path. branch: its own calls there; None where no file of it is a tree. leaf, at: what the last call
    was given to read, and its place. peak: the most that a call of the main line was given."""

    branch: Spent | None = None
    leaf: int | None = None
    at: tuple[datetime, int] = (_EARLIEST, 0)
    peak: int | None = None


class Branches:
    """The paths of all sessions, filled call by call."""

    def __init__(self, visible: Mapping[str, frozenset[int] | None]) -> None:
        """visible: by file, the lines of calls on its path; None where it is no tree."""
        self._visible = visible
        self._seen: dict[str, Seen] = {}

    def add(self, session: str, counted: Counted, cost: Cost | None) -> None:
        """The next call of a session."""
        sample = counted.sample
        if sample.sidechain:
            return
        seen = self._seen.get(session)
        if seen is None:
            seen = self._seen[session] = Seen()
        lines = self._visible.get(counted.path)
        on_path = lines is None or sample.line in lines
        if lines is not None:
            if seen.branch is None:
                seen.branch = Spent()
            if on_path:
                seen.branch.add(sample, cost)
        counts = sample.counts
        if sample.aside or counts.input is None:
            return
        size = counts.input + (counts.cache_read or 0) + (counts.cache_write or 0)
        at = (sample.at or _EARLIEST, sample.line)
        if on_path and (seen.leaf is None or at >= seen.at):
            seen.leaf, seen.at = size, at
        if seen.peak is None or size > seen.peak:
            seen.peak = size

    def tell(self, row: SessionUse, *, priced: bool) -> None:
        """Put a session's path into its row."""
        seen = self._seen.get(row.session_id, Seen())
        row.context_tokens, row.context_peak = seen.leaf, seen.peak
        if seen.branch is not None:
            row.branch_tokens = seen.branch.total
        if priced:
            row.branch_cost = seen.branch.cost.usd if seen.branch is not None else None
            row.branch_cost_at_least = seen.branch is None or seen.branch.cost.at_least
