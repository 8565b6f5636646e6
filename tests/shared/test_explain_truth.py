"""Every cell of the reports over the reported cases and the real sessions is the sum of the calls that explain it."""

import shutil

import pytest

from cells import every_cell
from reading import SHARED
from turnlog.ledger.explain import explain
from turnlog.ledger.prices import Pricer
from turnlog.roots import roots_from_home

pytestmark = pytest.mark.shared

HOMES = sorted(SHARED.glob("cases/*/input"))
CODEX = sorted(path.parent for path in SHARED.glob("real/codex/*/*/codex_home"))
CLAUDE = sorted(path for path in SHARED.glob("real/claude/*") if path.is_dir())


@pytest.fixture(scope="module")
def prices():
    """One table for all."""
    return Pricer()


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.parent.name)
def test_every_cell_of_a_reported_case_is_the_sum_of_its_calls(home, prices):
    every_cell(roots_from_home(home).replaced("swink", [home / "swink"]), prices, "Europe/Berlin")


@pytest.mark.parametrize("home", CODEX, ids=lambda home: f"{home.parent.name}-{home.name}")
def test_every_cell_of_real_sessions_of_codex_is_the_sum_of_its_calls(home, prices, tmp_path):
    every_cell(roots_from_home(tmp_path).replaced("codex", [home / "codex_home"]), prices)


@pytest.mark.parametrize("home", CLAUDE, ids=lambda home: home.name)
def test_every_cell_of_real_sessions_of_claude_code_is_the_sum_of_its_calls(home, prices, tmp_path):
    shutil.copytree(home, tmp_path / "projects" / "x", symlinks=True)

    every_cell(roots_from_home(tmp_path).replaced("claude", [tmp_path]), prices)


def test_every_stand_in_of_the_reported_cases_is_a_call_that_counts_or_was_never_committed():
    held = 0
    for home in HOMES:
        view = explain(roots_from_home(home).replaced("swink", [home / "swink"]), timezone="UTC")
        spots = {(row.path, row.start) for row in view.counted}
        spots |= {(row.path, row.start) for row in view.left if row.uncommitted}
        for row in view.left:
            if row.instead is not None:
                assert (row.instead.path, row.instead.start) in spots, home.parent.name
                held += 1

    assert held


def test_the_real_sessions_are_all_held():
    assert sorted(path.parent for path in SHARED.glob("real/codex/**/codex_home")) == CODEX
    assert CODEX
    assert CLAUDE
