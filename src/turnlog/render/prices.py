"""The price table as text: which one is used, and a model's prices, a row each."""

from __future__ import annotations

from collections.abc import Iterator

from ..ledger.prices.listing import ModelPrices, PriceList, PriceRow
from .text import Line, Span, counted, grouped, home_short, one_line, plain, table

_COLUMNS = ("input", "output", "cache_read", "cache_write", "cache_write_1h")
_HEADS = ("input", "output", "cache read", "write 5m", "write 1h")


def table_lines(told: PriceList) -> Iterator[Line]:
    """Which table is used, and whose own prices come before it."""
    if told.library is None:
        yield plain(
            "no price table: genai-prices is missing or not one turnlog knows; every model is unpriced", "trouble"
        )
    else:
        day = f"updated {told.updated}" if told.updated else "as it came"
        yield plain(f"genai-prices {told.library}, {day}", "strong")
        yield plain(f"  {counted(told.models, 'model')} of {counted(told.providers, 'provider')}")
        where = home_short(told.cached) if told.cached else "nowhere: the cache folder cannot be written to"
        yield plain(f"  kept in {where}", "quiet")
    if told.overrides is not None:
        models = ", ".join(one_line(name) for name in told.overridden) or "no model"
        yield plain(f"  {home_short(told.overrides)} comes first, for {models}")


def price_lines(told: PriceList) -> Iterator[Line]:
    """The prices of each model asked for, in US dollars per million tokens."""
    for model in told.asked:
        yield from _model(model)


def _model(model: ModelPrices) -> Iterator[Line]:
    name = one_line(model.asked)
    if model.model is None:
        yield [(name, "strong"), (f"  unpriced: {model.reason}", "trouble")]
        return
    where = "override" if model.provider is None else model.provider
    yield [(name, "strong"), (f"  {where}/{one_line(model.model)}, US dollars per million tokens", "quiet")]
    heads: list[Span] = [("", "quiet"), *((head, "quiet") for head in _HEADS), ("", "quiet")]
    yield from table([heads, *(_row(row) for row in model.rows)], "lrrrrrl", indent="  ")


def _row(row: PriceRow) -> list[Span]:
    words = [f"from {row.since}"] if row.since else []
    words += [row.daily] if row.daily else []
    words += [f"{key.replace('_', ' ')} {value}" for key, value in row.context.items()]
    words += [f"over {grouped(row.over)} input"] if row.over else []
    more = [f"{row.search:g} per 1000 searches"] if row.search else []
    more += [f"{row.request:g} per 1000 requests"] if row.request else []
    prices = [getattr(row, name) for name in _COLUMNS]
    return [
        (", ".join(words) or "always", "plain"),
        *(("?" if price is None else f"{price:g}", "plain") for price in prices),
        (", ".join(more), "quiet"),
    ]
