"""Made corpora with their truth: one home for each public defect, and a small bulk home of all agents.

The truth counts Codex's input with its cached part, and so do we here, for the comparison only. Codex alone, by its parts and
groupings, is held in test_codex_truth.py.
"""

import json
import subprocess
import sys

import pytest

from homes import counts_somewhere
from inprocess import as_json
from reading import SHARED
from turnlog.discover import find_sessions
from turnlog.ledger.identity import merge
from turnlog.ledger.scan import reconcile, scan_files
from turnlog.roots import roots_from_home

pytestmark = [pytest.mark.shared, pytest.mark.slow]

AGENTS = ("claude", "codex", "pi", "swink")


def made(folder, *words):
    tool = SHARED / "tools" / "make_corpus.py"
    subprocess.run([sys.executable, tool, *words, "--out", folder], check=True, capture_output=True)
    return json.loads((folder / "truth.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """(folder, truth) of the hostile corpus."""
    folder = tmp_path_factory.mktemp("hostile")
    return folder, made(folder, "hostile")


@pytest.fixture(scope="module")
def bulk(tmp_path_factory):
    """(folder, truth by agent) of a small bulk corpus."""
    folder = tmp_path_factory.mktemp("bulk")
    return folder, made(folder, "bulk", "--mib", "8", "--agents", ",".join(AGENTS), "--seed", "11")["agents"]


def told(agent, tokens, wanted):
    """Those of our numbers that the truth has, in its words."""
    said = dict(tokens)
    if agent == "codex":
        said["cached_input"] = said["cache_read"]
        said["input"] += said["cache_read"] + said["cache_write"]
    return {part: said[part] for part in wanted if part in said}


def compared(agent, tokens, wanted):
    found = told(agent, tokens, wanted)
    assert set(wanted) - set(found) <= {"reasoning"}  # stays inside output
    return found == {part: wanted[part] for part in found}


def test_every_defect_gives_what_must_be_counted(hostile, capsysbinary):
    folder, truth = hostile
    wrong = {}
    for name, case in truth.items():
        view = as_json(capsysbinary, "overview", "--home", folder / name / "home", "--timezone", "UTC", code=None)
        if not compared(case["agent"], view["tokens"], case["want"]):
            wrong[name] = (case["want"], view["tokens"])

    assert len(truth) >= 38
    assert wrong == {}


def ledgers(home):
    scans = scan_files(find_sessions(roots_from_home(home)).files, jobs=1)
    return merge([scan.work for scan in scans if scan.work is not None], reconcile)


def test_what_stands_for_a_sample_counts_in_every_made_home(hostile, bulk):
    for home in [bulk[0] / "home", *(hostile[0] / name / "home" for name in hostile[1])]:
        found = ledgers(home)
        assert counts_somewhere(found), home.parent.name
        assert {left.reason for _, left in found.left if left.instead is None} <= {"no call: the client's own line"}


def by(ledger, agent, key):
    """Tokens by that key: (input, output, cache read, cache write) summed."""
    sums = {}
    for counted in ledger.samples:
        session = ledger.sessions[counted.sample.session]
        if session.agent == agent:
            counts = counted.sample.counts
            parts = (counts.input, counts.output, counts.cache_read, counts.cache_write)
            known = sums.setdefault(key(counted.sample, session), [0, 0, 0, 0])
            for n, part in enumerate(parts):
                known[n] += part or 0
    names = ("input", "output", "cache_read", "cache_write")
    return {name: {**dict(zip(names, parts, strict=True)), "total": sum(parts)} for name, parts in sums.items()}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_bulk_home_gives_its_truth_by_every_grouping(bulk, agent):
    truth = bulk[1][agent]
    ledger = ledgers(bulk[0] / "home")
    groupings = {
        "tokens": by(ledger, agent, lambda sample, session: "all"),
        "by_day_utc": by(ledger, agent, lambda sample, session: sample.at.date().isoformat()),
        "by_model": by(ledger, agent, lambda sample, session: sample.model),
        "by_project": by(ledger, agent, lambda sample, session: sample.project or session.facts.cwd or ""),
    }
    calls = sum(ledger.sessions[counted.sample.session].agent == agent for counted in ledger.samples)

    assert calls == truth["calls"] > 0
    assert sum(session.agent == agent for session in ledger.sessions.values()) == truth["sessions"]
    for grouping, found in groupings.items():
        wanted = {"all": truth["tokens"]} if grouping == "tokens" else truth[grouping]
        assert set(found) == set(wanted), grouping
        for name, tokens in found.items():
            assert compared(agent, tokens, wanted[name]), (grouping, name, tokens, wanted[name])
