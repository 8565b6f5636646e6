"""`turnlog prices`: the price table in use, what a model costs by it, and the one way to newer prices."""

from __future__ import annotations

from pathlib import Path

import click

from ..ledger.prices.listing import price_list
from ..ledger.prices.overrides import read_overrides
from ..ledger.prices.store import update_prices
from ..render.prices import price_lines, table_lines
from .group import NOTHING_MATCHED
from .output import print_json, tell
from .where import json_option, prices_option


@click.command("prices")
@click.argument("action", type=click.Choice(["show", "list", "update"]), default="show")
@click.argument("model", nargs=-1)
@click.option("--provider", metavar="NAME", help="Where the models are bought; else chosen by their names.")
@prices_option
@json_option
def command(action: str, model: tuple[str, ...], provider: str | None, prices: str | None, as_json: bool) -> int:
    """The prices calls are priced with. `show`: the table in use. `list MODEL...`: what each model costs by it. `update`:
    fetch the prices published today; nothing else in turnlog uses the network.

    Exit 1: `list` found a price for none of the models. 4: `update` could not fetch or keep the prices.
    """
    if (action == "list") != bool(model):
        raise click.UsageError("`list` needs a MODEL" if action == "list" else f"`{action}` takes no MODEL")
    overrides = read_overrides(None if prices is None else Path(prices))
    kept = update_prices() if action == "update" else None
    told = price_list(list(model), provider=provider, overrides=overrides, kept=kept)
    if as_json:
        print_json(told)
    else:
        tell(price_lines(told) if action == "list" else table_lines(told))
    return NOTHING_MATCHED if model and all(one.model is None for one in told.asked) else 0
