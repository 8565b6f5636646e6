"""Real sessions of real clients against a scripted model: the tokens it served are the tokens the overview tells."""

import json
import shutil

import pytest

from inprocess import as_json
from reading import SHARED

pytestmark = pytest.mark.shared

REAL = SHARED / "real"


def expected(agent):
    file = REAL / agent / "EXPECTED.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def at_least_is_right(view, entry):
    """Output that is a lower bound must be told so; one that is not may not be."""
    return view["output_at_least"] is entry["output_is_lower_bound"]


@pytest.mark.parametrize("name", sorted(expected("claude")))
def test_the_tokens_served_are_the_tokens_told_of_claude_code(name, tmp_path, capsysbinary):
    entry = expected("claude")[name]
    shutil.copytree(REAL / "claude" / name, tmp_path / "projects" / "x", symlinks=True)
    # Copies of the client's prompt history lie among the sessions of two recordings; their rows are no records.
    others = list(tmp_path.rglob("_cfg*.jsonl"))

    view = as_json(capsysbinary, "overview", "--timezone", "UTC", "--root", f"claude={tmp_path}")

    told = {part: view["tokens"][part] for part in ("input", "output", "cache_read", "cache_write")}
    assert told == {part: entry[part] for part in told}
    assert at_least_is_right(view, entry)
    assert view["files"] == entry["files"]
    assert [fault for fault in view["faults"] if "_cfg" not in fault["path"]] == []
    assert view["unknown"] == {} or others


@pytest.mark.parametrize("name", sorted(expected("codex")))
def test_the_tokens_served_are_the_tokens_told_of_codex(name, capsysbinary):
    entry = expected("codex")[name]
    home = REAL / "codex" / name / "codex_home"

    view = as_json(capsysbinary, "overview", "--timezone", "UTC", "--root", f"codex={home}")

    assert view["tokens"]["total"] == entry["true_total_tokens"]
    assert view["unknown"] == {}
    # Only in files that were cut by hand and then resumed is a record torn.
    assert not view["faults"] or "torn" in name


def test_the_one_version_that_stored_less_than_was_served_is_the_only_one():
    lost = [name for name, entry in expected("codex").items() if "only" in entry["note"] and "on disk" in entry["note"]]

    assert lost == ["0.147.0/compaction_auto_remote"]
