"""What one call cost, and sums that keep what they do not know.

What has no price is unpriced, with the reason; it is never 0. Amounts are whole numbers of 1e-24 US dollars, so that sums
are exact and do not depend on their order; `usd` is the nearest float.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from ...tokens import Additive

UNIT = 10**24


class Call(msgspec.Struct, kw_only=True, gc=False):
    """All that decides what a call cost.

    counts: in parts that add up; write_1h and write_5m are parts of its cache_write. at: when it was made (UTC).
    provider: as the agent names it. home: whose prices hold where it names none. tier: the service tier as written.
    fast: it was made in the faster, dearer mode. searches: web searches the provider ran. stored: US dollars as the
    agent stored them. lower_bound: more was spent than the counts say.
    """

    model: str | None
    counts: Additive
    at: datetime | None = None
    provider: str | None = None
    home: str | None = None
    tier: str | None = None
    fast: bool = False
    write_1h: int | None = None
    write_5m: int | None = None
    searches: int = 0
    stored: float | None = None
    lower_bound: bool = False


class Cost(msgspec.Struct, frozen=True, gc=False):
    """What a call cost. exact: in 1e-24 US dollars; None: unpriced, and `reason` says why. source: where the price is
    from, such as "genai-prices 0.2.3, openai/gpt-5.5" or "stored by the agent". at_least: the true cost may be greater."""

    exact: int | None
    source: str | None = None
    reason: str | None = None
    at_least: bool = False

    @property
    def usd(self) -> float | None:
        """The nearest number of US dollars; None where unpriced."""
        return None if self.exact is None else self.exact / UNIT


class CostSum(msgspec.Struct):
    """A sum of costs. calls, priced: how many were added, and how many of them had a price. at_least: some call is
    unpriced, or its cost may be greater. unpriced: models without a price (None: no model named), with how many calls.
    sources: where prices are from, with how many calls."""

    exact: int = 0
    calls: int = 0
    priced: int = 0
    at_least: bool = False
    unpriced: dict[str | None, int] = {}
    sources: dict[str, int] = {}

    def add(self, cost: Cost, model: str | None) -> None:
        """Add one call's cost."""
        self.calls += 1
        if cost.exact is None:
            self.at_least = True
            self.unpriced[model] = self.unpriced.get(model, 0) + 1
            return
        self.exact += cost.exact
        self.priced += 1
        if cost.at_least:
            self.at_least = True
        if cost.source is not None:
            self.sources[cost.source] = self.sources.get(cost.source, 0) + 1

    def join(self, other: CostSum) -> None:
        """Add another sum."""
        self.exact += other.exact
        self.calls += other.calls
        self.priced += other.priced
        self.at_least = self.at_least or other.at_least
        for model, n in other.unpriced.items():
            self.unpriced[model] = self.unpriced.get(model, 0) + n
        for source, n in other.sources.items():
            self.sources[source] = self.sources.get(source, 0) + n

    @property
    def usd(self) -> float | None:
        """The nearest number of US dollars. None: calls were made and none of them has a price."""
        return None if self.calls and not self.priced else self.exact / UNIT
