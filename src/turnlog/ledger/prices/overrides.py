"""Prices a person wrote down, which come before those of the table.

[models."my-model"]           # or "provider/my-model"; US dollars per million tokens
input = 1.25
output = 10
cache_read = 0.125            # not said: as input
cache_write_5m = 1.25         # not said: as input
cache_write_1h = 2            # not said: as cache_write_5m

[[models."dearer-since"]]     # several: the last whose day has come
input = 1
output = 2
[[models."dearer-since"]]
from = 2026-07-01             # the first day, UTC
input = 2
output = 4
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec

from ...errors import InvalidOptionsError
from .offer import Offer
from .table import Dated, Model, When

NAMES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
_MOST = Decimal(10) ** 9


class Overrides(msgspec.Struct):
    """Prices by lower-case model name. file: where they were read, None where there are none."""

    file: str | None = None
    offers: dict[str, Offer] = {}

    def find(self, model: str, provider: str | None) -> Offer | None:
        """The prices written for that model: under "provider/model", else under the model alone."""
        if not self.offers:
            return None
        name = model.lower()
        found = self.offers.get(f"{provider.lower()}/{name}") if provider is not None else None
        return self.offers.get(name) if found is None else found


def default_file() -> Path:
    """Where the file is looked for; it need not be there."""
    import platformdirs

    return Path(platformdirs.user_config_dir("turnlog", appauthor=False)) / "prices.toml"


def read_overrides(file: Path | None = None) -> Overrides:
    """The prices in that file; without one, those of the default file if it is there. Raises InvalidOptionsError with
    the file and the key."""
    path = default_file() if file is None else file
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        if file is None:
            return Overrides()
        raise InvalidOptionsError(f"{path}: expected a file of prices, found none") from None
    except OSError as error:
        raise InvalidOptionsError(f"{path}: expected a readable file, found: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidOptionsError(f"{path}: expected TOML in UTF-8, found other bytes") from None
    import tomllib

    try:
        value = tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ArithmeticError) as error:
        raise InvalidOptionsError(f"{path}: expected TOML, found: {error}") from None
    for key in value:
        if key != "models":
            raise InvalidOptionsError(f"{path}: {key}: expected only tables of models, found another key")
    models = value.get("models", {})
    if not isinstance(models, dict):
        raise InvalidOptionsError(f"{path}: models: expected a table, found {_kind(models)}")
    return Overrides(str(path), {name.lower(): _offer(path, name, about) for name, about in models.items()})


def _offer(path: Path, name: str, about: Any) -> Offer:
    key = f'models."{name}"'
    entries = about if isinstance(about, list) and about else [about]
    dated = [_dated(path, f"{key}[{n}]" if entries is about else key, one) for n, one in enumerate(entries)]
    # The last that holds counts: those without a day first, then by day.
    dated.sort(key=lambda entry: "" if entry.when is None else entry.when.day or "")
    return Offer("", Model(name, ["equals", name], dated), own=True, strict=True)


def _dated(path: Path, key: str, about: Any) -> Dated:
    if not isinstance(about, dict):
        raise InvalidOptionsError(f"{path}: {key}: expected a table of prices, found {_kind(about)}")
    for name in about:
        if name not in (*NAMES, "from"):
            raise InvalidOptionsError(
                f"{path}: {key}.{name}: expected one of {', '.join(NAMES)}, from; found another key"
            )
    prices = {name: _price(path, f"{key}.{name}", about[name]) for name in NAMES if name in about}
    for name in ("input", "output"):
        if name not in prices:
            raise InvalidOptionsError(f"{path}: {key}.{name}: expected US dollars per million tokens, found nothing")
    if "cache_write_5m" in prices or "cache_write_1h" in prices:
        prices["cache_write"] = prices.setdefault("cache_write_5m", prices["input"])
    day = about.get("from")
    if day is None:
        return Dated(dict(prices))
    if not isinstance(day, date) or isinstance(day, datetime):
        raise InvalidOptionsError(f"{path}: {key}.from: expected a day such as 2026-07-01, found {_kind(day)}")
    return Dated(dict(prices), When(day.isoformat()))


def _price(path: Path, key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise InvalidOptionsError(f"{path}: {key}: expected US dollars per million tokens, found {_kind(value)}")
    price = Decimal(value)
    if not price.is_finite() or not 0 <= price <= _MOST:
        raise InvalidOptionsError(f"{path}: {key}: expected a price from 0 to {_MOST}, found another number")
    return str(price)


def _kind(value: object) -> str:
    names = {bool: "a boolean", str: "text", dict: "a table", list: "an array", int: "a number", Decimal: "a number"}
    return names.get(type(value), f"a {type(value).__name__}")
