"""Token counts and how they overlap. Absent is not zero."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Semantics(StrEnum):
    """How a sample's counts overlap; it travels with the sample.

    cache_exclusive: input leaves cached tokens out (Claude Code, Pi, swink-agent as its adapters write).
    cache_inclusive: input contains cache reads and writes, output contains reasoning (Codex).
    """

    CACHE_EXCLUSIVE = "cache_exclusive"
    CACHE_INCLUSIVE = "cache_inclusive"


class Counts(msgspec.Struct, gc=False, frozen=True):
    """Tokens as the agent wrote them, each a whole number or None (not said).

    cache_write_1h and cache_write_5m are parts of cache_write; reasoning is a part of output.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_1h: int | None = None
    cache_write_5m: int | None = None
    reasoning: int | None = None
    reported_total: int | None = None

    def is_missing(self) -> bool:
        """Nothing was said at all."""
        return all(getattr(self, name) is None for name in self.__struct_fields__)

    def exclusive(self, semantics: Semantics) -> Counts | None:
        """The same sample in parts that may be added up; None where a subtraction falls below zero.

        A part whose operands are not all known is None in the result.
        """
        if semantics is Semantics.CACHE_EXCLUSIVE:
            return self
        inputs = (self.input, self.cache_read, self.cache_write)
        fresh = None if None in inputs else self.input - self.cache_read - self.cache_write  # type: ignore[operator]
        spoken = None if self.output is None or self.reasoning is None else self.output - self.reasoning
        if (fresh is not None and fresh < 0) or (spoken is not None and spoken < 0):
            return None
        return msgspec.structs.replace(self, input=fresh, output=spoken)

    def additive(self, semantics: Semantics) -> Additive:
        """Four buckets that add up, for reports: an absent cache part subtracts nothing and is flagged,
        output keeps its reasoning inside, a part below zero is unknown."""
        read, write = self.cache_read, self.cache_write
        fresh = self.input
        flagged = False
        if semantics is Semantics.CACHE_INCLUSIVE and fresh is not None:
            flagged = read is None or write is None
            fresh -= (read or 0) + (write or 0)
            if fresh < 0:
                fresh = None
        return Additive(fresh, self.output, read, write, flagged)


class Additive(msgspec.Struct, gc=False, frozen=True):
    """Four buckets that never overlap; None is unknown. `flagged`: a cache part was absent and taken as none."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    flagged: bool = False

    @property
    def total(self) -> int:
        """The sum of what is known."""
        return (self.input or 0) + (self.output or 0) + (self.cache_read or 0) + (self.cache_write or 0)
