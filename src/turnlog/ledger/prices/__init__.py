"""What a call cost, one call at a time: prices by date, and sums that say what they do not know.

from turnlog.ledger.prices import CostSum, Pricer

pricer = Pricer()  # the table from the cache folder, or made anew
total = CostSum()
for counted in ledger.samples:
    total.add(pricer.cost_of(counted.sample, agent))
total.usd, total.at_least, total.unpriced
"""

from __future__ import annotations

from .cost import Call, Cost, CostSum
from .pricer import Mode, Pricer
from .store import load_table
from .table import Table

__all__ = ["Call", "Cost", "CostSum", "Mode", "Pricer", "Table", "load_table"]
