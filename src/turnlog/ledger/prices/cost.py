"""What one call cost, with where the price is from, and sums that keep what they do not know.

A call is priced alone, at its own time. What has no price is unpriced, with the reason; it is never 0. Amounts are whole
numbers of 1e-24 US dollars, so that sums are exact and do not depend on their order; `usd` is the nearest float.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

import msgspec

from ...formats import FORMATS
from ...model import Usage
from ...tokens import Additive
from ...work import Sample
from .choose import Chooser
from .overrides import Overrides, read_overrides
from .store import load_table
from .table import Offer, Rates, Table, Undated

Mode = Literal["auto", "calculate", "display"]
"""auto: the cost the agent stored, else by the tokens. calculate: always by the tokens. display: only what was stored."""

UNIT = 10**24
STORED = "stored by the agent"
_PLAIN = (None, "standard", "default", "auto", "")
_TOLD = ("priority", "flex", "batch", "fast", "scale")
_MOST_TOKENS = 10**15
_MOST_DOLLARS = 1e12


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


class Pricer:
    """Prices calls, with one table, one file of overrides and one mode."""

    def __init__(self, table: Table | None = None, overrides: Overrides | None = None, mode: Mode = "auto") -> None:
        """table, overrides: by default those of the user's folders. Raises InvalidOptionsError for a file of overrides
        that is not one."""
        self.mode = mode
        self.overrides = read_overrides() if overrides is None else overrides
        self._table = table
        self._chooser: Chooser | None = None
        self._sources: dict[tuple[int, int, str], str] = {}

    @property
    def chooser(self) -> Chooser:
        """Chooses the prices; the table is read when the first is asked for."""
        if self._chooser is None:
            self._chooser = Chooser(load_table() if self._table is None else self._table, self.overrides)
        return self._chooser

    def cost_of(self, sample: Sample, agent: str) -> Cost:
        """What that sample of work of an agent cost."""
        return self.price(
            Call(
                model=sample.model,
                counts=sample.counts,
                at=sample.at,
                provider=sample.provider,
                home=FORMATS[agent].provider if agent in FORMATS else None,
                tier=sample.tier,
                fast=sample.fast,
                write_1h=sample.write_1h,
                searches=sample.searches,
                stored=sample.cost,
                lower_bound=sample.lower_bound,
            )
        )

    def cost_of_usage(self, event: Usage, agent: str) -> Cost:
        """What the call of that usage event cost, for one who reads a file without merging its work."""
        counts = event.counts
        return self.price(
            Call(
                model=event.model,
                counts=counts.additive(event.semantics),
                at=event.record.at,
                provider=event.provider,
                home=FORMATS[agent].provider if agent in FORMATS else None,
                tier=event.service_tier,
                write_1h=counts.cache_write_1h,
                write_5m=counts.cache_write_5m,
                searches=(event.server_tools or {}).get("web_search_requests", 0),
                stored=event.cost,
            )
        )

    def price(self, call: Call) -> Cost:
        """What that call cost, by the pricer's mode. A stored 0 with tokens is no cost."""
        if self.mode != "calculate":
            stored = _stored(call)
            if stored is not None:
                return stored
            if self.mode == "display":
                return Cost(None, reason="the agent stored no cost")
        return self._calculated(call)

    def _calculated(self, call: Call) -> Cost:
        counts = call.counts
        if counts.input is None and counts.output is None and not counts.total:
            return Cost(None, reason="no tokens are known")
        total = counts.total
        if total < 0 or total > _MOST_TOKENS:
            return Cost(None, reason="the counts are no counts of tokens")
        if not total and not call.searches:
            return Cost(0, "no tokens", at_least=call.lower_bound)
        if call.model is None:
            return Cost(None, reason="no model is named")
        context = _context(call)
        try:
            offer, note = self.chooser.choose(call.model, call.provider, call.home)
            if offer is not None and offer.strict and offer.at(call.at, context).early:
                offer, note = self.chooser.choose(call.model, call.provider, call.home, overridden=False)
            if offer is None:
                return Cost(None, reason=note)
            rates = offer.at(call.at, context)
        except Undated:
            return Cost(None, reason="the model's price depends on the time, and the call has none")
        exact = _amount(call, rates)
        if isinstance(exact, str):
            return Cost(None, reason=exact)
        unsure = call.lower_bound or counts.input is None or counts.output is None
        return Cost(exact, self._source(call, offer, rates, note), at_least=unsure)

    def _source(self, call: Call, offer: Offer, rates: Rates, note: str) -> str:
        """Where the price is from, in words."""
        over = _tier_start(call, rates)
        tier = _told(call, rates)
        key = (id(rates), over, f"{tier}{note}")
        said = self._sources.get(key)
        if said is None:
            if offer.provider:
                said = f"{self.chooser.table.name}, {offer.provider}/{offer.model.id}"
            else:
                said = f"override {self.overrides.file}, {offer.model.id}"
            said += f" from {rates.since}" if rates.since else ""
            said += f", over {over} input tokens" if over else ""
            said = self._sources[key] = f"{said}{tier}{note}"
        return said


def _stored(call: Call) -> Cost | None:
    """The cost the agent stored, where it is one."""
    stored = call.stored
    if stored is None or not 0 <= stored <= _MOST_DOLLARS:  # not a number is neither
        return None
    if not stored and call.counts.total:
        return None
    return Cost(int(Decimal(repr(float(stored))).scaleb(24)), STORED, at_least=call.lower_bound)


def _context(call: Call) -> dict[str, str]:
    """How the call was made, in the table's words."""
    tier = call.tier
    context: dict[str, str] = {}
    if tier not in _PLAIN and tier is not None:
        context["service_tier"] = tier
        if tier == "batch":
            context["processing"] = tier
    if call.fast:
        context["speed"] = "fast"
    return context


def _told(call: Call, rates: Rates) -> str:
    """What the source says of the service tier and the fast mode."""
    said = ""
    if call.tier not in _PLAIN:
        name = f"service tier {call.tier}" if call.tier in _TOLD else "its service tier"
        said = f", {name}" if rates.used & {"service_tier", "processing"} else f"; {name} is not priced apart"
    if call.fast:
        said += ", fast mode" if "speed" in rates.used else "; fast mode is not priced apart"
    return said


def _whole_input(call: Call) -> int:
    counts = call.counts
    return (counts.input or 0) + (counts.cache_read or 0) + (counts.cache_write or 0)


def _tier_start(call: Call, rates: Rates) -> int:
    """The greatest start of a price's tier that the call is over, 0 where it is over none."""
    size = _whole_input(call)
    return max((start for _, tiers in rates.prices.values() for start, _ in tiers if size > start), default=0)


def _amount(call: Call, rates: Rates) -> int | str:
    """The cost in 1e-24 US dollars, or what has no price. What has no price of its own is billed as what it is a part
    of: cache writes of an hour as cache writes, cache reads and writes as input."""
    counts, prices = call.counts, rates.prices
    read, write = counts.cache_read or 0, counts.cache_write or 0
    hour = min(call.write_1h or 0, write)
    short = min(call.write_5m or 0, write - hour)
    parts = {"request": 1, "search": call.searches, "output": counts.output or 0}
    rest = write
    for name, tokens in (("cache_write_1h", hour), ("cache_write_5m", short)):
        if name in prices:
            parts[name] = tokens
            rest -= tokens
    fresh = counts.input or 0
    for name, tokens in (("cache_read", read), ("cache_write", rest)):
        if name in prices:
            parts[name] = tokens
        else:
            fresh += tokens
    parts["input"] = fresh
    size = fresh + sum(tokens for name, tokens in parts.items() if name.startswith("cache"))
    exact = 0
    for name, n in parts.items():
        if not n:
            continue
        found = prices.get(name)
        if found is None:
            if name in ("input", "output"):
                return f"the model has no price of {name} tokens"
            continue  # a search or request without a price of its own costs nothing apart
        price, tiers = found
        for start, dearer in tiers:
            if size > start:
                price = dearer
        exact += price * n * (1000 if name in ("request", "search") else 1)
    return exact
