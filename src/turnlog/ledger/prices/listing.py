"""The price table as people ask for it: which one is used, and what a model costs by it."""

from __future__ import annotations

import msgspec

from .offer import Offer, Rates
from .overrides import Overrides, read_overrides
from .pricer import Pricer
from .store import Stored, stored
from .table import Variant, When

SCHEMA = "turnlog.prices/1"
_PLACES = 10**18
_THOUSANDS = 10**21


class PriceRow(msgspec.Struct, kw_only=True):
    """Prices in US dollars: per million tokens, per thousand for `search` and `request`. null: no price is known; a cache
    part without a price of its own has the one it is billed at.

    since: from that day on (UTC). daily: only from one time to another (UTC). over: for calls with more input tokens,
    cached ones included. context: for calls made in another way, such as {"service_tier": "flex"}.
    """

    since: str | None = None
    daily: str | None = None
    over: int = 0
    context: dict[str, str] = {}
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None
    search: float | None = None
    request: float | None = None


class ModelPrices(msgspec.Struct, kw_only=True):
    """What a model name means and costs. asked: the name. provider, model: whose price and of which model; both null
    where it has none, and `reason` says why. provider null with a model: an override. rows: the prices, oldest first."""

    asked: str
    provider: str | None = None
    model: str | None = None
    reason: str | None = None
    rows: list[PriceRow] = []


class PriceList(msgspec.Struct, kw_only=True):
    """The table in use. library: version of genai-prices, null without a table. updated: the day its prices were fetched, null
    for those it came with. cached: the file the table is kept in, null where it could not be kept. overrides: the file of
    a person's own prices, null without one, and the models it prices."""

    schema: str = SCHEMA
    library: str | None = None
    updated: str | None = None
    cached: str | None = None
    providers: int = 0
    models: int = 0
    overrides: str | None = None
    overridden: list[str] = []
    asked: list[ModelPrices] = []


def price_list(
    models: list[str] | None = None, *, provider: str | None = None, overrides: Overrides | None = None,
    kept: Stored | None = None,
) -> PriceList:  # fmt: skip
    """The table in use, and the prices of these models there. provider: where they are bought; without it the provider is
    chosen by the name. Raises InvalidOptionsError for a file of overrides that is not one."""
    kept = stored() if kept is None else kept
    overrides = read_overrides() if overrides is None else overrides
    table = kept.table
    chooser = Pricer(table, overrides).chooser
    told = PriceList(
        library=table.library if table.providers else None,
        updated=table.fetched,
        cached=None if kept.file is None else str(kept.file),
        providers=len(table.providers),
        models=sum(len(chooser.lookup.models(one)) for one in table.providers),
        overrides=overrides.file,
        overridden=sorted(offer.model.id for offer in overrides.offers.values()),
    )
    for name in models or ():
        offer, why = chooser.choose(name, provider, None)
        if offer is None:
            told.asked.append(ModelPrices(asked=name, reason=why))
        else:
            told.asked.append(
                ModelPrices(asked=name, provider=offer.provider or None, model=offer.model.id, rows=_rows(offer))
            )
    return told


def _rows(offer: Offer) -> list[PriceRow]:
    prices = offer.model.prices
    rows = [row for n, dated in enumerate(prices) for row in _lines(offer.rates_of(n), dated.when)]
    if offer.own:
        for n, variant in enumerate(offer.model.variants):
            rows += _lines(offer.rates_of(len(prices) - 1, (n,)), variant.when, variant)
    return rows


def _lines(rates: Rates, when: When | None, variant: Variant | None = None) -> list[PriceRow]:
    since = when.day if when is not None else None
    daily = f"{_clock(when.begin)}-{_clock(when.end)} UTC" if when is not None and when.day is None else None
    context = {} if variant is None else variant.context
    return [
        PriceRow(
            since=since, daily=daily, over=over, context=context,
            input=_dollars(line[0]), output=_dollars(line[1]), cache_read=_dollars(line[2]),
            cache_write=_dollars(line[3]), cache_write_5m=_dollars(line[4]), cache_write_1h=_dollars(line[5]),
            search=_dollars(line[6], _THOUSANDS) or None, request=_dollars(line[7], _THOUSANDS) or None,
        )
        for over, line in zip((0, *rates.starts), rates.lines, strict=True)
    ]  # fmt: skip


def _dollars(price: int | None, places: int = _PLACES) -> float | None:
    return None if price is None else price / places


def _clock(seconds: float) -> str:
    minutes = int(seconds) // 60
    return f"{minutes // 60:02}:{minutes % 60:02}"
