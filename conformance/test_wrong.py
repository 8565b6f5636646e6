"""A wrong expectation fails: what holds the runs to their scenarios can say no."""

import dataclasses

import pytest

from model_server import Spent
from runs import differing
from scenarios import SCENARIOS

TAMPERED = {
    "one token more": ("spent", lambda right: right + Spent(output=1)),
    "tokens in another part": ("spent", lambda right: Spent(right.output, right.input, right.cache_read)),
    "one event less": ("said", lambda right: (right[0][:-1], *right[1:])),
    "one event twice": ("said", lambda right: ((*right[0], right[0][-1]), *right[1:])),
    "another order": ("said", lambda right: (right[0][::-1], *right[1:])),
    "another text": ("said", lambda right: ((*right[0][:-1], (*right[0][-1][:-1], "another")), *right[1:])),
    "one message less shown": ("shown", lambda right: right[1:]),
    "another role shown": ("shown", lambda right: (*right[:-1], ("toolResult", right[-1][1]))),
    "another end": ("verdict", lambda right: "answered" if right != "answered" else "aborted"),
    "one file more": ("said", lambda right: (*right, ())),
}


@pytest.mark.parametrize("how", TAMPERED)
@pytest.mark.parametrize("name", [scenario.name for scenario in SCENARIOS if scenario.expected.spent != Spent()])
def test_a_wrong_expectation_fails(name, how, runs):
    run = runs[name]
    field, tamper = TAMPERED[how]
    right = run.scenario.expected
    wrong = dataclasses.replace(right, **{field: tamper(getattr(right, field))})

    assert differing(run, right) == []
    assert differing(run, wrong) == [field]
