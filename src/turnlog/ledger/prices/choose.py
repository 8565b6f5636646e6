"""Whose price of a model holds for a call.

A person's override comes first. Then the provider the agent names; where it names none, the one the model's name names
(a Bedrock or Vertex name, "provider/model"); then the agent's home provider; then the one genai-prices takes the model's
name for. A named provider that is known is not left for another: what it does not sell is unpriced.
"""

from __future__ import annotations

import re

from .match import Lookup
from .offer import Offer
from .overrides import Overrides
from .table import Table

_BEDROCK = re.compile(
    r"arn:aws[a-z-]*:bedrock:|(?:[a-z]{2,6}(?:-[a-z]{2,6})?\.)?(?:anthropic|amazon|meta|cohere|deepseek|openai)\."
)
_VERTEX = re.compile(r"[^/@]+@(?:20\d{6}|default|latest)$")


class Chooser:
    """The choice for each name, made once."""

    def __init__(self, table: Table, overrides: Overrides) -> None:
        self.table = table
        self.overrides = overrides
        self.lookup = Lookup(table)
        self._chosen: dict[tuple[str, str | None, str | None, bool], tuple[Offer | None, str]] = {}

    def choose(
        self, model: str, provider: str | None, home: str | None, *, overridden: bool = True
    ) -> tuple[Offer | None, str]:
        """The offer and what its source has to add; or None and why there is none. overridden: a person's own prices
        may come first."""
        key = (model, provider, home, overridden)
        found = self._chosen.get(key)
        if found is None:
            override = self.overrides.find(model, provider) if overridden else None
            chosen = self._choose(model, provider, home) if override is None else (override, "")
            found = self._chosen[key] = chosen
        return found

    def _choose(self, model: str, provider: str | None, home: str | None) -> tuple[Offer | None, str]:
        if not self.table.providers:
            return None, "there is no price table: genai-prices is missing or not one turnlog knows"
        note = ""
        if provider is not None:
            if self.lookup.provider(provider) is not None or provider.lower() == "litellm":
                return _or_why(self.lookup.find(model, provider), "its provider has no price of this model")
            if home is None:
                return None, "genai-prices does not know the provider"
            note = "; the agent names a provider without prices"
        return _or_why(self._by_name(model, home), "genai-prices does not know the model", note)

    def _by_name(self, model: str, home: str | None) -> Offer | None:
        name = model.lower()
        hint = "aws" if _BEDROCK.match(name) else "google" if _VERTEX.match(name) else None
        found = self.lookup.find(name, hint) if hint is not None else None
        vendor, slash, rest = name.partition("/")
        if found is None and slash and vendor and self.lookup.provider(vendor) is not None:
            found = self.lookup.find(rest, vendor)
        if found is None and home is not None:
            found = self.lookup.find(name, home)
        return self.lookup.find(name) if found is None else found


def _or_why(offer: Offer | None, why: str, note: str = "") -> tuple[Offer | None, str]:
    return (None, why) if offer is None else (offer, note)
