"""Prices calls, one at a time, each at its own time: the cost the agent stored, or the tokens by a table."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec

from .choose import Chooser
from .cost import Call, Cost
from .offer import PARTS, Line, Offer, Rates, Undated
from .overrides import Overrides, read_overrides
from .store import load_table
from .table import Table

if TYPE_CHECKING:  # a caller that prices what it counted before loads no format
    from ...model import Usage
    from ...work import Sample

Mode = Literal["auto", "calculate", "display"]
"""auto: the cost the agent stored, else by the tokens. calculate: always by the tokens. display: only what was stored."""

STORED = "stored by the agent"
PLAIN_TIERS = frozenset((None, "", "standard", "default", "auto"))
_TOLD = frozenset(("priority", "flex", "batch", "fast", "scale"))  # any other word is the transcript's own
_MOST_TOKENS = 10**15
_MOST_DOLLARS = 1e12

_NO_COUNT = Cost(None, reason="no tokens are known")
_NO_COST = Cost(None, reason="the agent stored no cost")
_NO_MODEL = Cost(None, reason="no model is named")
_NO_TIME = Cost(None, reason="the model's price depends on the time, and the call has none")
_ABSURD = Cost(None, reason="the counts are no counts of tokens")
_FREE = Cost(0, "no tokens")


class _Way(msgspec.Struct):
    """All calls of one model made in one way: whose price holds, or why none does; later: whose, where an override does
    not hold yet. context: in the table's words. sources: by their rates."""

    offer: Offer | None
    note: str
    context: dict[str, str]
    later: tuple[Offer | None, str] | None = None
    sources: dict[tuple[int, int, str], str] = {}


class Pricer:
    """Prices calls, with one table, one file of overrides and one mode."""

    def __init__(self, table: Table | None = None, overrides: Overrides | None = None, mode: Mode = "auto") -> None:
        """table, overrides: by default those of the user's folders. Raises InvalidOptionsError for a file of overrides
        that is not one."""
        self.mode = mode
        self.overrides = read_overrides() if overrides is None else overrides
        self._table = table
        self._chooser: Chooser | None = None
        self._ways: dict[tuple[str, str | None, str | None, str | None, bool], _Way] = {}

    @property
    def chooser(self) -> Chooser:
        """Chooses the prices; the table is read when the first is asked for."""
        if self._chooser is None:
            self._chooser = Chooser(load_table() if self._table is None else self._table, self.overrides)
        return self._chooser

    def cost_of(self, sample: Sample, agent: str) -> Cost:
        """What that sample of an agent's work cost."""
        return self.price(
            Call(
                model=sample.model,
                counts=sample.counts,
                at=sample.at,
                provider=sample.provider,
                home=home_of(agent),
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
                home=home_of(agent),
                tier=event.service_tier,
                fast=event.speed == "fast",
                write_1h=counts.cache_write_1h,
                write_5m=counts.cache_write_5m,
                searches=(event.server_tools or {}).get("web_search_requests", 0),
                stored=event.cost,
            )
        )

    def price(self, call: Call) -> Cost:
        """What that call cost, by the pricer's mode. A stored 0 with tokens is no cost."""
        if self.mode != "calculate":
            if call.stored is not None and (stored := _stored(call)) is not None:
                return stored
            if self.mode == "display":
                return _NO_COST
        counts, model = call.counts, call.model
        total = counts.total
        if not 0 < total <= _MOST_TOKENS:
            if total:
                return _ABSURD
            if counts.input is None and counts.output is None:
                return _NO_COUNT
            if not call.searches:
                return _FREE if not call.lower_bound else Cost(0, "no tokens", at_least=True)
        if model is None:
            return _NO_MODEL
        key = (model, call.provider, call.home, call.tier, call.fast)
        way = self._ways.get(key)
        if way is None:
            way = self._ways[key] = self._way(call, model)
        try:
            return self._priced(call, way)
        except Undated:
            return _NO_TIME

    def _way(self, call: Call, model: str) -> _Way:
        offer, note = self.chooser.choose(model, call.provider, call.home)
        later = None
        if offer is not None and offer.strict:
            later = self.chooser.choose(model, call.provider, call.home, overridden=False)
        return _Way(offer, note, _context(call), later)

    def _priced(self, call: Call, way: _Way) -> Cost:
        offer, note = way.offer, way.note
        if offer is None:
            return Cost(None, reason=note)
        rates = offer.at(call.at, way.context)
        if rates.early and offer.strict and way.later is not None:
            offer, note = way.later
            if offer is None:
                return Cost(None, reason=note)
            rates = offer.at(call.at, way.context)
        counts = call.counts
        fresh, out, read, write = counts.input or 0, counts.output or 0, counts.cache_read or 0, counts.cache_write or 0
        hour = min(call.write_1h, write) if call.write_1h else 0
        short = min(call.write_5m, write - hour) if call.write_5m else 0
        spent = (fresh, out, read, write - hour - short, short, hour, call.searches, 1)
        tier = 0
        if rates.starts:
            size = fresh + read + write
            tier = sum(1 for start in rates.starts if size > start)
        exact = _sum(spent, rates.lines[tier])
        if exact.__class__ is str:
            return Cost(None, reason=exact)
        source = way.sources.get((id(rates), tier, note))
        if source is None:
            source = way.sources[id(rates), tier, note] = self._source(call, offer, rates, tier, note)
        unsure = call.lower_bound or counts.input is None or counts.output is None
        return Cost(exact, source, None, unsure)  # type: ignore[arg-type]

    def _source(self, call: Call, offer: Offer, rates: Rates, tier: int, note: str) -> str:
        """Where the price is from, in words."""
        if offer.provider:
            said = f"{self.chooser.table.name}, {offer.provider}/{offer.model.id}"
        else:
            said = f"override {self.overrides.file}, {offer.model.id}"
        if rates.since:
            said += f" from {rates.since}"
        if tier:
            said += f", over {rates.starts[tier - 1]} input tokens"
        return said + _told(call, rates) + note


@cache
def home_of(agent: str) -> str | None:
    """The provider whose prices hold where the agent names none."""
    from ...formats import FORMATS

    format = FORMATS.get(agent)
    return None if format is None else format.provider


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
    if tier is not None and tier not in PLAIN_TIERS:
        context["service_tier"] = tier
        if tier == "batch":
            context["processing"] = tier
    if call.fast:
        context["speed"] = "fast"
    return context


def _told(call: Call, rates: Rates) -> str:
    """What the source says of the service tier and the fast mode."""
    said = ""
    if call.tier not in PLAIN_TIERS:
        name = f"service tier {call.tier}" if call.tier in _TOLD else "its service tier"
        said = f", {name}" if rates.used & {"service_tier", "processing"} else f"; {name} is not priced apart"
    if call.fast:
        said += ", fast mode" if "speed" in rates.used else "; fast mode is not priced apart"
    return said


def _sum(spent: tuple[int, ...], line: Line) -> int | str:
    """The cost in 1e-24 US dollars, or what has no price."""
    exact = 0
    for name, n, price in zip(PARTS, spent, line, strict=True):
        if n:
            if price is None:
                return f"the model has no price of {'output' if name == 'output' else 'input'} tokens"
            exact += n * price
    return exact
