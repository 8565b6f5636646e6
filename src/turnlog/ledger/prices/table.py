"""The compact price table: which model a name means, and what it cost at a moment.

It holds what genai-prices says of tokens, searches and requests, its rules of matching included, and answers as that
library does (tests/test_prices.py compares them). Prices are decimal text, so that none is rounded on the way.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import msgspec

LAYOUT = 1
"""Version of the table's layout; a cached table of another one is made anew."""

KEYS = {
    "input_mtok": "input",
    "output_mtok": "output",
    "cache_read_mtok": "cache_read",
    "cache_write_mtok": "cache_write",
    "cache_write_5m_mtok": "cache_write_5m",
    "cache_write_1h_mtok": "cache_write_1h",
    "web_searches_kcount": "search",
    "requests_kcount": "request",
}
"""The library's price keys that an agent's counts can ask for, and our names. Per million tokens, per thousand else."""

Clause = list[Any]
"""A rule of matching: [kind, text], or ["or" | "and", clause, ...]."""
Tiered = tuple[str, list[tuple[int, str]]]
"""A price, and the dearer ones of calls with more input tokens than so many, ascending."""
Price = str | Tiered


class When(msgspec.Struct, array_like=True, frozen=True):
    """When a price holds: from a day on (UTC), or daily from one time to another (seconds of the UTC day)."""

    day: str | None = None
    begin: float = 0
    end: float = 0


class Dated(msgspec.Struct, array_like=True):
    """Prices by our names, and when they hold."""

    prices: dict[str, Price]
    when: When | None = None


class Variant(msgspec.Struct, array_like=True):
    """Prices of calls made another way, such as {"service_tier": "flex"}."""

    context: dict[str, str]
    prices: dict[str, Price]
    when: When | None = None


class Model(msgspec.Struct, array_like=True):
    """One model. Of its prices the last that holds counts, else the first."""

    id: str
    match: Clause
    prices: list[Dated]
    variants: list[Variant] = []


class Provider(msgspec.Struct, array_like=True):
    """One provider; its models are decoded when it is first asked for one."""

    id: str
    models: msgspec.Raw
    by_model: Clause | None = None
    by_name: Clause | None = None
    fallbacks: list[str] = []


class Table(msgspec.Struct, array_like=True):
    """All prices. library: version of genai-prices. fetched: the day they were fetched, None for those it came with."""

    layout: int
    library: str
    fetched: str | None
    providers: list[Provider]

    @property
    def name(self) -> str:
        """What a source calls this table: "genai-prices 0.2.3", with the day where it was fetched."""
        name = f"genai-prices {self.library}"
        return f"{name} updated {self.fetched}" if self.fetched else name


class Rates(msgspec.Struct, frozen=True):
    """What one call's tokens cost: prices by our names, each in 1e-18 US dollars per million (or per thousand), with
    its tiers. since: the day these prices began. early: the call was made before any price of the list held.
    used: names of the context that chose a price."""

    prices: dict[str, tuple[int, list[tuple[int, int]]]]
    since: str | None = None
    early: bool = False
    used: frozenset[str] = frozenset()


class Undated(Exception):
    """The price depends on the time, and the call has none."""


class Offer(msgspec.Struct):
    """A model at a provider, and its prices as they were asked for. own: the provider's, not one it falls back to.
    strict: before its first day there is no price (genai-prices takes the first of the list)."""

    provider: str
    model: Model
    own: bool
    strict: bool = False
    days: dict[str, date] = {}
    rates: dict[tuple[int, tuple[int, ...]], Rates] = {}

    def at(self, at: datetime | None, context: dict[str, str]) -> Rates:
        """The prices of a call made then and so. Raises Undated."""
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
            found = self.rates[chosen, extra] = self._resolved(chosen, extra)
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

    def _resolved(self, chosen: int, extra: tuple[int, ...]) -> Rates:
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
        since = standard.when.day if standard.when is not None and not early else None
        return Rates({key: scaled(price) for key, price in prices.items()}, since, early, frozenset(used))


def scaled(price: Price) -> tuple[int, list[tuple[int, int]]]:
    """A price in whole 1e-18 US dollars, with its tiers."""
    if isinstance(price, str):
        return _scaled(price), []
    base, tiers = price
    return _scaled(base), [(start, _scaled(text)) for start, text in tiers]


def _scaled(text: str) -> int:
    return int(Decimal(text).scaleb(18))


def matches(clause: Clause, text: str) -> bool:
    """Whether the rule takes that text, as genai-prices decides it."""
    kind = clause[0]
    if kind == "or":
        return any(matches(part, text) for part in clause[1:])
    if kind == "and":
        return all(matches(part, text) for part in clause[1:])
    if kind == "regex":
        return re.search(clause[1], text) is not None
    wanted, text = clause[1].lower(), text.lower()
    if kind == "equals":
        return bool(text == wanted)
    if kind == "starts_with":
        return text.startswith(wanted)
    if kind == "ends_with":
        return text.endswith(wanted)
    return wanted in text


_COMPACT_DATE = re.compile(r"(-)(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)")


def _dashed(model: str) -> str:
    """The name with a date such as -20251211 written -2025-12-11, which some gateways write the other way."""

    def dashed(found: re.Match[str]) -> str:
        try:
            day = date(int(found[2]), int(found[3]), int(found[4]))
        except ValueError:
            return found[0]
        return f"-{day.isoformat()}"

    return _COMPACT_DATE.sub(dashed, model)


class Lookup:
    """Finds models in a table, each name once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._models: dict[str, list[Model]] = {}
        self._providers: dict[str, Provider | None] = {}
        self._found: dict[tuple[str, str | None], Offer | None] = {}

    def models(self, provider: Provider) -> list[Model]:
        """The provider's models, in the order in which they are asked."""
        known = self._models.get(provider.id)
        if known is None:
            known = self._models[provider.id] = msgspec.msgpack.decode(provider.models, type=list[Model])
        return known

    def provider(self, name: str) -> Provider | None:
        """The provider of that name: its id, else the first whose rule takes the name."""
        if name not in self._providers:
            wanted = name.lower().strip()
            providers = self.table.providers
            found = next((p for p in providers if p.id == wanted), None)
            if found is None:
                found = next((p for p in providers if p.by_name is not None and matches(p.by_name, wanted)), None)
            self._providers[name] = found
        return self._providers[name]

    def find(self, model: str, provider: str | None = None) -> Offer | None:
        """What that provider asks for the model; without one, the provider whose rule takes the model's name."""
        key = (model, provider)
        if key not in self._found:
            self._found[key] = self._find(model.lower(), provider)
        return self._found[key]

    def _find(self, model: str, name: str | None) -> Offer | None:
        if name is not None and name.lower() == "litellm":
            first, slash, rest = model.partition("/")
            name = None
            if slash and first and self.provider(first) is not None:
                name, model = first, rest
        if name is not None:
            provider = self.provider(name)
        else:
            rules = self.table.providers
            provider = next((p for p in rules if p.by_model is not None and matches(p.by_model, model)), None)
        if provider is None:
            return None
        found = self._offered(provider, model)
        dashed = _dashed(model)
        return self._offered(provider, dashed) if found is None and dashed != model else found

    def _offered(self, provider: Provider, model: str) -> Offer | None:
        by_id = {p.id: p for p in self.table.providers} if provider.fallbacks else {}
        for one in (provider, *(by_id[name] for name in provider.fallbacks if name in by_id)):
            for found in self.models(one):
                if matches(found.match, model):
                    return Offer(provider.id, found, one is provider)
        return None


def seconds(moment: time) -> float:
    """A time of the day as seconds since its midnight."""
    return moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1_000_000
