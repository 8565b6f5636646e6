"""Answers that stand: printed again without reading, and never once anything they were made from has changed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import turnlog
from commands import apart, environment
from turnlog.ledger.folders import cache_folder

DEMO = Path(turnlog.__file__).parent / "demo_home"


@pytest.fixture
def machine(tmp_path):
    place = tmp_path / "machine"
    shutil.copytree(DEMO, place)
    return place


@pytest.fixture
def ask(machine):
    """Ask for the overview in a process of its own, into a pipe."""

    def asked(*args, cwd=None, **environ):
        done = apart("overview", "--home", machine, "--json", *args, cwd=cwd, **environ)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    return asked


def answers():
    folder = Path(cache_folder()) / "answers"
    return sorted(folder.glob("*.json")) if folder.exists() else []


def marked(path):
    """Put a word into a kept answer that no reading would give: whoever prints it did not read."""
    kept = json.loads(path.read_text())
    kept["out"] = "kept\n"
    path.write_text(json.dumps(kept))


def test_an_answer_stands_while_nothing_changes(ask):
    first = ask()
    (path,) = answers()
    assert ask() == first
    marked(path)
    assert ask() == b"kept\n"


def a_grown_file(machine):
    path = next((machine / ".claude" / "projects").rglob("*.jsonl"))
    with path.open("ab") as file:
        file.write(b"\n")


def a_new_file(machine):
    path = next((machine / ".pi").rglob("*.jsonl"))
    shutil.copy(path, path.with_name("2026-11-30T00-00-00-000Z_copy.jsonl"))


def a_new_folder(machine):
    (machine / ".claude" / "projects" / "-new").mkdir()


def a_new_index_row(machine):
    path = machine / ".codex" / "session_index.jsonl"
    with path.open("ab") as file:
        file.write(b'{"id":"x","thread_name":"y"}\n')


def a_file_gone(machine):
    next((machine / ".codex" / "sessions").rglob("*.jsonl")).unlink()


@pytest.mark.parametrize("change", [a_grown_file, a_new_file, a_new_folder, a_new_index_row, a_file_gone])
def test_any_change_of_what_was_read_ends_it(ask, machine, change):
    ask()
    marked(*answers())
    change(machine)
    assert json.loads(ask())["schema"].startswith("turnlog.overview/")


def test_another_question_is_not_answered_by_it(ask, tmp_path):
    ask()
    marked(*answers())
    assert ask("--timezone", "Asia/Tokyo") != b"kept\n"
    assert ask(cwd=tmp_path) != b"kept\n"
    assert ask() == b"kept\n"


@pytest.mark.parametrize("name", ["TZ", "CODEX_HOME", "XDG_CONFIG_HOME"])
def test_a_variable_that_was_looked_at_ends_it(ask, tmp_path, name):
    ask()
    marked(*answers())
    assert ask(**{name: "Asia/Tokyo" if name == "TZ" else str(tmp_path)}) != b"kept\n"


def test_a_root_that_comes_to_be_ends_it(tmp_path, machine):
    root = tmp_path / "later"
    args = ("overview", "--json", "--root", f"codex={root}")
    before = json.loads(apart(*args).stdout)
    marked(*answers())
    shutil.copytree(machine / ".codex", root)
    after = json.loads(apart(*args).stdout)
    assert before["files"] == 0
    assert after["files"] > 0


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b'{"made_by": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_answer_is_none(ask, data):
    first = ask()
    (path,) = answers()
    path.write_bytes(data)
    assert ask() == first


def test_what_says_something_beside_its_answer_is_not_kept(tmp_path):
    done = apart("overview", "--json", "--timezone", "Nowhere/Land")
    assert done.returncode == 2
    assert answers() == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_nobody_else_may_read_an_answer(ask):
    ask()
    (path,) = answers()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_few_answers_are_kept_and_no_more(ask, monkeypatch):
    from turnlog.cli import again

    ask()
    (path,) = answers()
    for n in range(again.MOST_ANSWERS + 5):
        other = path.with_name(f"{n:032}.json")
        other.write_text("{}")
        os.utime(other, (n, n))
    ask("--timezone", "Asia/Tokyo")
    assert len(answers()) == again.MOST_ANSWERS
    assert path in answers()


_LOOKING = """
import atexit, sys
from turnlog.cli import main
heavy = {"click", "msgspec", "sqlite3", "rich"}
atexit.register(lambda: print(*sorted(heavy & set(sys.modules)), file=sys.stderr))
main()
"""


def test_nothing_heavy_is_imported_for_an_answer_that_stands(ask, machine):
    ask()
    marked(*answers())
    command = [sys.executable, "-c", _LOOKING, "overview", "--home", str(machine), "--json"]
    done = subprocess.run(command, capture_output=True, env=environment(), check=False)
    assert (done.stdout, done.stderr.strip()) == (b"kept\n", b"")


def test_a_usage_report_stands_until_its_prices_change(machine, tmp_path):
    own = tmp_path / "prices.toml"
    args = ("usage", "--home", machine, "--json", "--prices", own)
    own.write_text('[models."claude-opus-4-5-20251101"]\ninput = 1\noutput = 1\n')
    first = json.loads(apart(*args).stdout)
    marked(*answers())
    assert apart(*args).stdout == b"kept\n"
    own.write_text('[models."claude-opus-4-5-20251101"]\ninput = 100\noutput = 100\n')
    again = json.loads(apart(*args).stdout)
    assert again["totals"]["totalTokens"] == first["totals"]["totalTokens"]
    assert again["totals"]["totalCost"] > first["totals"]["totalCost"]


def test_blocks_tell_of_now_and_are_never_kept(machine):
    done = apart("usage", "blocks", "--home", machine, "--json")
    assert done.returncode == 0
    assert answers() == []
