"""Usage reports held against what scripted servers served, the reported cases, Pi's own branches and a made corpus."""

import json
import shutil
import subprocess
import sys

import pytest

from inprocess import as_json
from reading import SHARED
from turnlog.ledger.machine import survey
from turnlog.ledger.report import KINDS
from turnlog.ledger.usage import usage_report
from turnlog.roots import roots_from_home

pytestmark = pytest.mark.shared

REAL = SHARED / "real"
HOMES = sorted(path for path in SHARED.glob("cases/*/input"))
PARTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_creation_tokens",
}


def expected(agent):
    file = REAL / agent / "EXPECTED.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def every(roots, **asked):
    """Each report but the blocks."""
    return {kind: usage_report(roots, kind, timezone="UTC", costs=False, **asked) for kind in KINDS}


def agree(views):
    """Every grouping has the total; the total."""
    totals = views["daily"].totals
    for kind, view in views.items():
        rows = getattr(view, kind)
        assert view.totals == totals, kind
        for part in (*PARTS.values(), "total_tokens", "calls"):
            assert sum(getattr(row, part) for row in rows) == getattr(totals, part), (kind, part)
    return totals


@pytest.mark.parametrize("name", sorted(expected("claude")))
def test_the_tokens_served_are_the_sum_of_every_report_of_claude_code(name, tmp_path):
    entry = expected("claude")[name]
    shutil.copytree(REAL / "claude" / name, tmp_path / "projects" / "x", symlinks=True)

    totals = agree(every(roots_from_home(tmp_path).replaced("claude", [tmp_path]), agent="claude"))

    assert {part: getattr(totals, key) for part, key in PARTS.items()} == {part: entry[part] for part in PARTS}
    # Where no call was answered there is no output that could be more.
    assert totals.output_at_least is (entry["output_is_lower_bound"] and totals.calls > 0)


@pytest.mark.parametrize("name", sorted(expected("codex")))
def test_the_tokens_served_are_the_sum_of_every_report_of_codex(name, tmp_path):
    home = REAL / "codex" / name / "codex_home"

    totals = agree(every(roots_from_home(tmp_path).replaced("codex", [home]), agent="codex"))

    assert totals.total_tokens == expected("codex")[name]["true_total_tokens"]


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.parent.name)
def test_reports_of_a_reported_case_say_what_its_overview_says(home):
    roots = roots_from_home(home).replaced("swink", [home / "swink"])
    seen, views = survey(roots, "UTC"), every(roots)

    totals = agree(views)

    assert totals.total_tokens == seen.tokens.total
    assert totals.main_only.total_tokens == seen.main_only.total
    assert {row.date: row.total_tokens for row in views["daily"].daily} == seen.by_day
    assert {row.model: row.total_tokens for row in views["model"].model} == seen.by_model
    assert {row.project: row.total_tokens for row in views["project"].project} == seen.by_project
    sessions = {row.session_id: row.total_tokens for row in views["session"].session if row.session_id != "unknown"}
    assert sessions.items() <= {key: row.tokens.total for key, row in seen.by_session.items()}.items()
    assert all(row.tokens.total == 0 or key in sessions for key, row in seen.by_session.items())


def oracles():
    """Files of Pi with what Pi itself makes of them, where every id on its branch stands in the file."""
    for path in sorted((REAL / "pi").rglob("*.jsonl")):
        beside = path.with_name(path.name.removesuffix(".jsonl") + ".oracle.json")
        if not beside.exists():
            continue
        entries = {}
        for line in path.read_bytes().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                entries[entry["id"]] = entry
        branch = json.loads(beside.read_text(encoding="utf-8")).get("branch") or []
        if branch and set(branch) <= set(entries):
            yield path, [entries[key] for key in branch]


def usage_of(entry):
    """The usage that an entry of Pi holds, in itself or in its message."""
    message = entry.get("message")
    return (message.get("usage") if isinstance(message, dict) else None) or entry.get("usage")


def test_the_branch_tokens_of_pi_are_those_on_the_branch_that_pi_itself_takes(tmp_path):
    held = rewound = 0
    for path, branch in oracles():
        home = tmp_path / str(held)
        folder = home / ".pi/agent/sessions/--x--"
        folder.mkdir(parents=True)
        shutil.copy(path, folder)

        rows = usage_report(roots_from_home(home), "session", timezone="UTC", costs=False).session

        wanted = 0
        for entry in branch:
            spent = usage_of(entry) or {}
            wanted += sum(spent.get(key) or 0 for key in ("input", "output", "cacheRead", "cacheWrite"))
        assert sum(row.branch_tokens for row in rows) == wanted, path
        held += 1
        rewound += sum(row.total_tokens for row in rows) > wanted

    assert held > 50
    assert rewound > 5


@pytest.mark.slow
def test_a_made_corpus_adds_up_to_its_truth_by_day_model_and_agent(tmp_path):
    tool = SHARED / "tools" / "make_corpus.py"
    subprocess.run([sys.executable, tool, "bulk", "--out", tmp_path, "--mib", "6"], check=True, capture_output=True)
    truth = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))["agents"]
    roots = roots_from_home(tmp_path / "home")

    views = every(roots)
    agree(views)

    assert {row.agent for row in views["agent"].agent} == set(truth)
    for agent, told in truth.items():
        one = usage_report(roots, "daily", timezone="UTC", costs=False, agent=agent)
        # The truth counts Codex's input with the cached part, the reports without.
        within = agent == "codex"
        found = {}
        for row in one.daily:
            cached = row.cache_read_tokens if within else 0
            found[row.date] = (row.input_tokens + cached, row.output_tokens)
        assert found == {day: (sums["input"], sums["output"]) for day, sums in told["by_day_utc"].items()}, agent
        assert one.totals.calls == told["calls"]


def test_the_hours_of_a_short_day_are_those_of_its_case(capsysbinary):
    (case,) = SHARED.glob("cases/045-*")
    wanted = json.loads((case / "expect.json").read_text(encoding="utf-8"))["expect"]["by_hour_local"]

    found = as_json(capsysbinary, "usage", "hourly", "-z", "Europe/Berlin", "--home", case / "input")

    hours = {row["hour"]: row["totalTokens"] for row in found["hourly"]}
    assert {hour: hours[hour] for hour in wanted} == wanted
    assert "2026-03-29T02" not in hours
