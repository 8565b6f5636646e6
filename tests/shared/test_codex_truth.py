"""Codex's files whose true tokens are known: real clients against a scripted model, public faults rebuilt, and corpora.

The folder is read as the command reads it, but in the process and without discovery: read, fold, reconcile, merge.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from reading import SHARED, each_byte, identity, parse, pieces, same
from turnlog.contract import ReadOptions
from turnlog.formats import place_of, sniffed
from turnlog.formats.codex import CODEX
from turnlog.formats.codex.fold import fold
from turnlog.formats.codex.lineage import reconcile
from turnlog.ledger.identity import merge
from turnlog.reader import read
from turnlog.work import spot

pytestmark = pytest.mark.shared

REAL = SHARED / "real" / "codex"
CASES = SHARED / "cases"
OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=64 << 20, codex_usage="all")

# Files that were cut by hand and then resumed, and the one fault each has.
TORN = {
    "0.58.0/torn_tail_minus1": {"glued": 1},
    "0.58.0/torn_tail_minus25": {"stub_glued": 1},
    "0.130.0/torn_tail_minus1": {"glued": 1},
    "0.169.0/torn_app_paginated_minus25": {"invalid_json": 1},
}


def expected():
    file = REAL / "EXPECTED.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def files(home):
    return sorted(p for folder in ("sessions", "archived_sessions") for p in home.glob(f"{folder}/**/rollout-*"))


class Home:
    """All sessions below a Codex home, read and merged."""

    def __init__(self, home):
        works, self.summaries = [], []
        for path in files(home):
            with read(path, "codex", OPTIONS) as reader:
                works.append(fold(reader.place, list(reader)))
            self.summaries.append(reader.finish())
            identity(self.summaries[-1])
        self.ledger = merge(works, lambda _, found: reconcile(found))
        self.faults = Counter()
        self.unknown = Counter()
        for summary in self.summaries:
            self.faults.update(summary.faults)
            self.unknown.update(summary.unknown)

    @property
    def tokens(self):
        found = dict.fromkeys(("input", "output", "cache_read", "cache_write"), 0)
        for counted in self.ledger.samples:
            for part in found:
                found[part] += getattr(counted.sample.counts, part) or 0
        return {**found, "total": sum(found.values())}

    def by(self, key):
        found = Counter()
        for counted in self.ledger.samples:
            found[key(counted.sample)] += counted.sample.counts.total
        return dict(found)

    def marks(self, what):
        return len(self.ledger.marks.get(what, ()))


# -- real clients


@pytest.mark.parametrize("name", sorted(expected()))
def test_the_tokens_served_are_the_tokens_counted(name):
    home = Home(REAL / name / "codex_home")

    assert home.tokens["total"] == expected()[name]["true_total_tokens"]
    assert home.unknown == {}
    assert home.faults == TORN.get(name, {})


def test_nothing_is_lost_without_a_reason():
    """Every usage event is a sample or left with its reason."""
    for name in expected():
        for path in files(REAL / name / "codex_home"):
            with read(path, "codex", OPTIONS) as reader:
                items = list(reader)
            work = fold(reader.place, items)
            assert len(work.samples) + len(work.left) == sum(item.kind == "usage" for item in items), path.name
            assert all(left.reason for left in work.left)


def test_the_cut_of_the_bytes_changes_nothing_in_a_real_session():
    for path in files(REAL / "0.169.0" / "guardian_auto_review" / "codex_home")[:1]:
        data = path.read_bytes()
        place = place_of(path.name)
        same(parse("codex", data, place=place), parse("codex", None, [*each_byte(data[:60_000]), data[60_000:]], place))
    for path in sorted(REAL.glob("**/rollout-*.jsonl"))[::11]:
        data = path.read_bytes()
        place = place_of(path.name)
        same(parse("codex", data, place=place), parse("codex", None, pieces(data, (1, 997)), place))


def test_strict_reading_says_the_same_of_every_clean_session():
    for path in sorted(REAL.glob("**/rollout-*.jsonl")):
        if "torn" not in path.as_posix():
            data = path.read_bytes()
            same(parse("codex", data), parse("codex", data, repair=False))


def test_the_format_of_every_session_is_told_from_its_records():
    for path in [*REAL.glob("**/rollout-*.jsonl"), *REAL.glob("**/rollout-*.json")]:
        assert sniffed(path.read_bytes()) is CODEX, path.name


def test_no_two_threads_of_a_real_home_share_a_sample():
    for name in expected():
        keys = Counter(counted.sample.key for counted in Home(REAL / name / "codex_home").ledger.samples)
        assert set(keys.values()) <= {1}, name


# Samples whose own thread's file was not recorded: two copies in a fork of a fork, and the repeat of each.
ORPHANS = {"0.169.0/migrated_rollouts": 4}


def test_what_stands_for_a_real_sample_counts_and_says_the_same():
    gone, pairs = Counter(), 0
    for name in expected():
        ledger = Home(REAL / name / "codex_home").ledger
        counted = {spot(each.path, each.sample): each.sample for each in ledger.samples}
        for _, left in ledger.left:
            if left.reason in ("estimate after compaction", "no tokens in it"):
                assert left.instead is None
            elif left.instead is None:
                gone[name] += 1
            else:
                pairs += 1
                stands = counted[left.instead]
                if left.reason != "total unchanged":  # which has no counts of its own
                    assert stands.counts == left.sample.counts, name

    assert gone == ORPHANS
    assert pairs >= 300


# -- public faults, rebuilt


def cases():
    found = {}
    for path in CASES.glob("*/expect.json"):
        if (path.parent / "input" / ".codex").is_dir() and not (path.parent / "setup.sh").exists():
            case = json.loads(path.read_text(encoding="utf-8"))
            found[path.parent.name] = (case["expect"], case["tools"])
    return found


@pytest.mark.parametrize("name", sorted(cases()))
def test_a_shared_case_gives_its_right_result(name):
    expect, tools = cases()[name]
    home = Home(CASES / name / "input" / ".codex")
    said = {
        "sessions": len(home.ledger.sessions),
        "records": sum(summary.records for summary in home.summaries),
        "lines": sum(summary.lines for summary in home.summaries),
        "user_prompts": home.marks("prompt"),
        "assistant_messages": home.marks("answer"),
        "tool_calls": home.marks("call"),
        "tool_results": home.marks("result"),
        "tokens": home.tokens,
        "by_session": home.by(lambda sample: sample.session),
        "by_day_utc": home.by(lambda sample: sample.at.date().isoformat()),
    }
    if tools != "codex":  # a home of two agents: only what is Codex's alone
        said = {key: said[key] for key in ("tool_calls", "tool_results")}
    if "by_session" in expect:
        expect["by_session"] = {session: tokens["total"] for session, tokens in expect["by_session"].items()}

    assert {key: value for key, value in said.items() if key in expect} == {
        k: v for k, v in expect.items() if k in said
    }
    assert sum(home.faults.values()) == len(expect.get("errors", []))


# -- corpora made here, with their truth


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """(hostile, bulk): two folders of made files."""
    tool = SHARED / "tools" / "make_corpus.py"
    hostile, bulk = tmp_path_factory.mktemp("hostile"), tmp_path_factory.mktemp("bulk")
    made = [("hostile", hostile, []), ("bulk", bulk, ["--mib", "12", "--agents", "codex", "--seed", "5"])]
    for what, folder, more in made:
        subprocess.run([sys.executable, tool, what, "--out", folder, *more], check=True, capture_output=True)
    return hostile, bulk


def told(tokens):
    """In the words of the corpus: input with its cached part."""
    return {
        "input": tokens["input"] + tokens["cache_read"] + tokens["cache_write"],
        "cached_input": tokens["cache_read"],
        "output": tokens["output"],
        "total": tokens["total"],
    }


@pytest.mark.slow
def test_the_hostile_corpus_gives_its_truth(corpus):
    truth = json.loads((corpus[0] / "truth.json").read_text(encoding="utf-8"))
    wanted = {name: case["want"] for name, case in truth.items() if case["agent"] == "codex"}
    found = {name: told(Home(corpus[0] / name / "home" / ".codex").tokens) for name in wanted}

    assert len(wanted) >= 11
    assert found == {name: {part: want[part] for part in found[name]} for name, want in wanted.items()}


@pytest.mark.slow
def test_the_bulk_corpus_gives_its_truth(corpus):
    truth = json.loads((corpus[1] / "truth.json").read_text(encoding="utf-8"))["agents"]["codex"]
    home = Home(corpus[1] / "home" / ".codex")

    assert told(home.tokens) == {part: truth["tokens"][part] for part in told(home.tokens)}
    assert home.by(lambda sample: sample.model) == {model: each["total"] for model, each in truth["by_model"].items()}
    assert home.by(lambda sample: sample.project) == {
        place: each["total"] for place, each in truth["by_project"].items()
    }
    assert home.by(lambda sample: sample.at.date().isoformat()) == {
        day: each["total"] for day, each in truth["by_day_utc"].items()
    }
    assert len(home.ledger.samples) == truth["calls"]
    assert home.marks("call") == sum(truth["tool_calls"].values())
    assert home.marks("compaction") == truth["compactions"]
    assert len(home.ledger.sessions) == truth["sessions"]
    assert (home.faults, home.unknown) == ({}, {})


def test_the_shared_folder_is_where_it_is_thought_to_be():
    assert isinstance(REAL, Path)
    assert len(expected()) >= 60
    assert len(cases()) >= 10
