"""What a provider asks for a model: the prices that hold at a moment, for a call made one way or another."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import msgspec

from .table import Dated, Model, Price, When

Line = tuple[int | None, ...]
"""Prices of the PARTS, in their order; None: not known."""

PARTS = ("input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h", "search", "request")
_ELSE = {
    "cache_read": ("input",),
    "cache_write": ("input",),
    "cache_write_5m": ("cache_write", "input"),
    "cache_write_1h": ("cache_write", "input"),
}
"""What has no price of its own is billed as what it is a part of. Searches and requests cost nothing apart then."""


class Rates(msgspec.Struct, frozen=True):
    """The prices of a call, in 1e-24 US dollars for one token, search or request. starts: the numbers of input tokens
    over which prices change, ascending; lines: the prices up to the first of them, up to the next, and so on.

    since: the day these prices began. early: the call was made before any price held. used: the names of the context
    that chose a price.
    """

    starts: tuple[int, ...]
    lines: tuple[Line, ...]
    since: str | None = None
    early: bool = False
    used: frozenset[str] = frozenset()


class Undated(Exception):
    """The price depends on the time, and the call has none."""


class Offer(msgspec.Struct):
    """A model at a provider. own: the provider's, not of one it falls back to. strict: before its first day there is no
    price (genai-prices takes the first of its list). Prices are resolved when first asked for."""

    provider: str
    model: Model
    own: bool
    strict: bool = False
    days: dict[str, date] = {}
    rates: dict[tuple[int, tuple[int, ...]], Rates] = {}
    always: Rates | None = None

    def at(self, at: datetime | None, context: dict[str, str]) -> Rates:
        """The prices of a call made then and so. Raises Undated."""
        if self.always is not None and not context:
            return self.always
        prices = self.model.prices
        chosen = -1
        for n in range(len(prices) - 1, -1, -1):
            if self._holds(prices[n].when, at):
                chosen = n
                break
        extra: tuple[int, ...] = ()
        if context and self.own and self.model.variants:
            extra = tuple(
                n
                for n, variant in enumerate(self.model.variants)
                if all(context.get(key) == value for key, value in variant.context.items())
                and self._holds(variant.when, at)
            )
        found = self.rates.get((chosen, extra))
        if found is None:
            found = self.rates[chosen, extra] = self.rates_of(chosen, extra)
            if not context and all(dated.when is None for dated in prices):
                self.always = found
        return found

    def _holds(self, when: When | None, at: datetime | None) -> bool:
        if when is None:
            return True
        if at is None:
            raise Undated
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        if when.day is not None:
            first = self.days.get(when.day)
            if first is None:
                first = self.days[when.day] = date.fromisoformat(when.day)
            return at.date() >= first
        now = at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1_000_000
        if when.end < when.begin:
            return now >= when.begin or now < when.end
        return when.begin <= now < when.end

    def rates_of(self, chosen: int, extra: tuple[int, ...] = ()) -> Rates:
        """The prices of that place in the model's list, with those variants. chosen -1: before any holds."""
        early = chosen < 0
        standard = self.model.prices[max(chosen, 0)] if self.model.prices else Dated({})
        prices = dict(standard.prices)
        used: set[str] = set()
        taken: set[str] = set()
        for n in extra:
            variant = self.model.variants[n]
            used.update(variant.context)
            prices.update((key, price) for key, price in variant.prices.items() if key not in taken)
            taken.update(variant.prices)
        starts = sorted({start for price in prices.values() if not isinstance(price, str) for start, _ in price[1]})
        lines = tuple(_line(prices, size) for size in (-1, *starts))
        since = standard.when.day if standard.when is not None and not early else None
        return Rates(tuple(starts), lines, since, early, frozenset(used))


def _line(prices: dict[str, Price], over: int) -> Line:
    """The prices of calls with more input tokens than `over`, up to the next start."""
    found: dict[str, int | None] = {}
    for name in PARTS:
        price = next((prices[key] for key in (name, *_ELSE.get(name, ())) if key in prices), None)
        thousands = name in ("search", "request")
        found[name] = None if price is None else _scaled(price, over, 21 if thousands else 18)
        if thousands and price is None:
            found[name] = 0
    return tuple(found.values())


def _scaled(price: Price, over: int, places: int) -> int:
    """Dollars per million (or thousand) as 1e-24 dollars for one."""
    text = price
    if not isinstance(price, str):
        text = price[0]
        for start, dearer in price[1]:
            if over >= start:
                text = dearer
    assert isinstance(text, str)
    return int(Decimal(text).scaleb(places))
