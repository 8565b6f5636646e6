"""The compact table made from genai-prices: the one room that imports that library, which takes half a second.

Only `fetched` uses the network, through the library's own updater.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec

from ...errors import SourceUnreadable
from .table import KEYS, LAYOUT, Clause, Dated, Model, Price, Provider, Table, Variant, When, seconds

PUBLISHED = "the prices genai-prices publishes"


def derived() -> Table:
    """The table of the prices that the installed genai-prices came with. Raises ImportError without it;
    AttributeError, TypeError or ValueError where it has another shape than the one known here."""
    import genai_prices
    from genai_prices.data import providers

    return _table(genai_prices.__version__, providers, None)


def fetched() -> Table:
    """The table of the prices published today. Raises SourceUnreadable where they cannot be had."""
    try:
        import genai_prices

        snapshot = genai_prices.UpdatePrices().fetch()
    except Exception as error:
        said = f"could not be fetched: {type(error).__name__}"
        raise SourceUnreadable(PUBLISHED, error, said) from error
    if snapshot is None or not snapshot.providers:
        raise SourceUnreadable(PUBLISHED, said="expected a list of providers, found none")
    return _table(genai_prices.__version__, snapshot.providers, datetime.now(UTC).date().isoformat())


def _table(library: str, providers: list[Any], fetched: str | None) -> Table:
    encode = msgspec.msgpack.Encoder().encode
    return Table(
        LAYOUT,
        library,
        fetched,
        [
            Provider(
                p.id,
                msgspec.Raw(encode([_model(m) for m in p.models])),
                p.model_match and _clause(p.model_match),
                p.provider_match and _clause(p.provider_match),
                list(p.fallback_model_providers or ()),
            )
            for p in providers
        ],
    )


def _model(model: Any) -> Model:
    prices = model.prices
    dated = [Dated(_prices(p.prices), _when(p.constraint)) for p in prices] if isinstance(prices, list) else None
    variants = [Variant(dict(v.when), _prices(v.prices), _when(v.constraint)) for v in model.price_variants or ()]
    return Model(model.id, _clause(model.match), [Dated(_prices(prices))] if dated is None else dated, variants)


def _prices(prices: Any) -> dict[str, Price]:
    found = {name: getattr(prices, key, None) for key, name in KEYS.items()}
    return {name: _price(price) for name, price in found.items() if price is not None}


def _price(price: Any) -> Price:
    if isinstance(price, Decimal):
        return str(price)
    return str(price.base), [(tier.start, str(tier.price)) for tier in price.tiers]


def _when(constraint: Any) -> When | None:
    if constraint is None:
        return None
    if hasattr(constraint, "start_date"):
        return When(constraint.start_date.isoformat())
    return When(None, _utc(constraint.start_time), _utc(constraint.end_time))


def _utc(moment: Any) -> float:
    if moment.tzinfo is not None:
        moment = datetime.combine(date(1970, 1, 2), moment).astimezone(UTC).timetz()
    return seconds(moment)


def _clause(clause: Any) -> Clause:
    """[kind, text], or the parts of an "or" or "and"; the library nests these as its authors wrote them."""
    ((name, value),) = vars(clause).items()
    if name in ("or_", "and_"):
        return [name.rstrip("_"), *(_clause(part) for part in value)]
    return [name, value]
