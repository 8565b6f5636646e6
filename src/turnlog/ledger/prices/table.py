"""The compact price table: what genai-prices says of tokens, searches and requests, its rules of matching included.

Prices are decimal text, so that none is rounded on the way.
"""

from __future__ import annotations

from datetime import time
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


def seconds(moment: time) -> float:
    """A time of the day as seconds since its midnight."""
    return moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1_000_000
