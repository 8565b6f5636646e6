"""Which model a name means, by the rules of genai-prices carried in the table."""

from __future__ import annotations

import re
from datetime import date

import msgspec

from .offer import Offer
from .table import Clause, Model, Provider, Table


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
