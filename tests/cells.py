"""Explanations held against the reports: every cell of each is made of the calls that are shown for it, exactly."""

from turnlog.ledger.explain import explain
from turnlog.ledger.usage import usage_report

KEYS = ("input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens")
SUMS = (*KEYS, "total_tokens", "calls")


def added(rows):
    """The sums of those calls, as a row has them."""
    sums = [sum(getattr(row.tokens, key) or 0 for row in rows) for key in KEYS]
    return (*sums, sum(sums), len(rows))


def sums_of(row):
    """The sums that a row of a report has."""
    return tuple(getattr(row, name) for name in SUMS)


def holds(view, row, cost):
    """The calls shown are the row's: tokens, number and dollars, and so are the sums."""
    assert added(view.counted) == sums_of(row)
    assert (view.totals.total_cost, view.totals.cost_at_least) == cost
    priced = [call.cost for call in view.counted if call.cost is not None]
    assert (cost[0] is None) == (not priced and bool(view.counted))
    assert abs(sum(priced) - (cost[0] or 0)) <= 1e-9 * max(1, cost[0] or 0)
    assert sum(view.sources.values()) + sum(view.unpriced.values()) == len(view.counted)


def every_cell(roots, pricer, timezone="UTC"):
    """Hold every day by model, session, month and model against its explanation; how many cells there are.

    Raises AssertionError at the first cell that is not the sum of its calls.
    """
    asked = {"timezone": timezone, "pricer": pricer}
    cells = 0
    whole = explain(roots, **asked)
    days = usage_report(roots, "daily", **asked).daily
    for row in days:
        for use in row.model_breakdowns:
            view = explain(roots, day=row.date, model=use.model_name, **asked)
            holds(view, use, (use.cost, use.cost_at_least))
            cells += 1
    for kind, name, key in (
        ("session", "session", "session_id"),
        ("monthly", "month", "month"),
        ("model", "model", "model"),
    ):
        report = usage_report(roots, kind, **asked)
        for row in getattr(report, kind):
            view = explain(roots, **{name: getattr(row, key)}, **asked)
            holds(view, row, (row.total_cost, row.cost_at_least))
            for field in type(view.totals).__struct_fields__:
                assert getattr(view.totals, field) == getattr(row, field), field
            cells += 1
    holds(whole, report.totals, (report.totals.total_cost, report.totals.cost_at_least))
    return cells
