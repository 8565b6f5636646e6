"""The runs went as they were planned, and what they left is read whole."""

import pytest

from runs import differing, priced
from scenarios import SCENARIOS

NAMES = [scenario.name for scenario in SCENARIOS]


@pytest.fixture(params=NAMES)
def run(request, runs):
    return runs[request.param]


def test_the_client_asked_for_every_step_and_nothing_else(run):
    scenario = run.scenario

    assert run.unforeseen == 0
    assert len(run.served) == len(scenario.steps) + len(scenario.summaries)
    assert run.ran.code == scenario.expected.code
    assert run.ran.err == b""


def test_what_is_read_is_what_was_fixed_beforehand(run):
    assert differing(run, run.scenario.expected) == []


def test_totals_are_what_the_server_served(run):
    expected = run.scenario.expected

    assert run.told() + expected.elsewhere == expected.spent + expected.lost
    assert run.totals[0] == expected.spent


def test_costs_are_the_served_tokens_at_the_given_prices(run):
    expected = run.scenario.expected

    assert (run.totals[1] or 0.0) == pytest.approx(priced(expected.spent))


def test_totals_of_each_file_are_those_of_pi_itself(run):
    for events, pi in zip(run.events, run.pi, strict=True):
        used = [event for event in events if event.kind == "usage"]
        ours = {
            "input": sum(event.counts.input for event in used),
            "output": sum(event.counts.output for event in used),
            "cacheRead": sum(event.counts.cache_read for event in used),
            "cacheWrite": sum(event.counts.cache_write for event in used),
        }
        assert {name: pi["totals"][name] for name in ours} == ours
        assert sum(event.cost for event in used) == pytest.approx(pi["totals"]["cost"])
