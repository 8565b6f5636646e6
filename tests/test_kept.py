"""Kept scans: a shortcut that never changes an answer, never raises, and is seen by nobody else."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from reading import FIXTURES
from turnlog.discover import find_sessions, roots_from_home
from turnlog.ledger import kept as room
from turnlog.ledger import scan
from turnlog.ledger.folders import cache_folder
from turnlog.ledger.kept import Kept
from turnlog.ledger.machine import survey

DEMO = Path(scan.__file__).parent.parent / "demo_home"


@pytest.fixture
def machine(tmp_path):
    """A home with sessions of every agent, damaged ones too."""
    place = tmp_path / "machine"
    shutil.copytree(DEMO, place)
    (place / ".claude" / "projects" / "more").mkdir(parents=True)
    for fixture in (FIXTURES / "claude").glob("*.jsonl"):
        shutil.copy(fixture, place / ".claude" / "projects" / "more")
    (place / ".codex" / "sessions" / "more").mkdir(parents=True)
    for fixture in (FIXTURES / "codex").glob("*.jsonl"):
        shutil.copy(fixture, place / ".codex" / "sessions" / "more" / f"rollout-{fixture.name}")
    (place / ".pi" / "agent" / "sessions" / "more").mkdir(parents=True)
    for fixture in (FIXTURES / "pi").glob("*.jsonl"):
        shutil.copy(fixture, place / ".pi" / "agent" / "sessions" / "more")
    return place


@pytest.fixture
def read(monkeypatch):
    """The names of the files that were read since it was last cleared."""
    names = []
    real = scan.scan_file

    def noted(file, *rest):
        names.append(os.path.basename(file.path))
        return real(file, *rest)

    monkeypatch.setattr(scan, "scan_file", noted)
    return names


def answer(machine, kept=None):
    """What the overview says, as JSON."""
    return msgspec.json.encode(survey(roots_from_home(machine), "UTC", jobs=1, kept=kept))


def scans(machine, kept=None):
    return scan.scan_files(find_sessions(roots_from_home(machine)).files, jobs=1, kept=kept)


def test_a_kept_scan_says_all_that_the_reading_said(machine):
    plain = scans(machine)
    scans(machine, Kept())
    again = scans(machine, Kept())
    assert len(plain) > 20
    assert again == plain
    assert [one.work and one.work.hints for one in again] == [one.work and one.work.hints for one in plain]


def test_a_second_run_reads_no_file_that_is_the_same(machine, read):
    first = answer(machine, Kept())
    assert len(read) > 20
    read.clear()
    assert answer(machine, Kept()) == first == answer_without(machine, read)


def answer_without(machine, read):
    """The answer without a cache, after making sure that so far nothing was read."""
    assert read == []
    said = answer(machine)
    read.clear()
    return said


def grown(path):
    with path.open("ab") as file:
        file.write(b'{"broken\n')


def rewritten_within_one_tick(path):
    """Other bytes of the same size and times."""
    status = path.stat()
    data = path.read_bytes()
    assert data.count(b'"output":')
    path.write_bytes(data.replace(b'"output":1', b'"output":7').replace(b'"output":2', b'"output":8'))
    assert path.stat().st_size == status.st_size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replaced(path):
    new = path.with_suffix(".new")
    new.write_bytes(path.read_bytes())
    status = path.stat()
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.replace(path)


@pytest.mark.parametrize("change", [grown, rewritten_within_one_tick, replaced])
def test_a_file_that_changed_in_any_way_is_read_again(machine, read, change):
    path = next((DEMO / ".pi").rglob("*.jsonl"))
    path = machine / path.relative_to(DEMO)
    answer(machine, Kept())
    read.clear()
    change(path)
    said = answer(machine, Kept())
    assert read == [path.name]
    assert said == answer(machine)


def test_a_file_that_is_gone_is_let_go_of(machine):
    answer(machine, Kept())
    path = next((machine / ".claude").rglob("*.jsonl"))
    other = next((machine / ".codex" / "sessions").rglob("*.jsonl"))
    path.unlink()
    grown(other)
    assert answer(machine, Kept()) == answer(machine)
    with sqlite3.connect(Kept().path) as base:
        names = {os.fsdecode(name) for (name,) in base.execute("SELECT path FROM scans")}
    base.close()
    assert str(other) in names
    assert str(path) not in names


def emptied(path):
    path.write_bytes(b"")


def overwritten(path):
    path.write_bytes(b"this is no database\n" * 500)


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def holed(path):
    """Damage behind the first page, which only shows when rows are asked for."""
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(bytes(data))


def of_another_program(path):
    path.unlink()
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE scans (other TEXT)")
    base.close()


def of_nonsense(path):
    """Rows in their place whose scans are none."""
    with sqlite3.connect(path) as base:
        base.execute("UPDATE scans SET scan = ?", (os.urandom(100),))
    base.close()


@pytest.mark.parametrize("damage", [emptied, overwritten, cut, holed, of_another_program, of_nonsense])
def test_a_damaged_or_foreign_cache_is_made_anew(machine, read, damage):
    first = answer(machine, Kept())
    path = Path(Kept().path)
    for name in ("-wal", "-shm"):
        assert not path.with_name(path.name + name).exists()
    damage(path)
    read.clear()
    assert answer(machine, Kept()) == first
    assert len(read) > 20
    assert answer(machine, Kept()) == first  # what could be filled only the second time
    read.clear()
    assert answer(machine, Kept()) == first
    assert read == []


def test_another_version_of_the_program_trusts_nothing(machine, read, monkeypatch):
    answer(machine, Kept())
    read.clear()
    monkeypatch.setattr(room, "made_by", lambda: "another")
    answer(machine, Kept())
    assert len(read) > 20


def test_a_folder_that_cannot_be_written_costs_only_time(machine, tmp_path):
    nowhere = tmp_path / "file"
    nowhere.write_bytes(b"")
    assert answer(machine, Kept(str(nowhere / "below"))) == answer(machine)


def test_several_at_once_get_the_same_answer(machine):
    first = answer(machine)
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda _: answer(machine, Kept()), range(16)))
    assert set(said) == {first}
    assert answer(machine, Kept()) == first


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_nobody_else_may_read_the_cache(machine, monkeypatch):
    before = os.umask(0)
    try:
        answer(machine, Kept())
    finally:
        os.umask(before)
    path = Path(Kept().path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_nothing_is_written_but_in_the_cache_folder(machine, home):
    before = {path: path.stat().st_mtime_ns for path in machine.rglob("*")}
    answer(machine, Kept())
    assert {path: path.stat().st_mtime_ns for path in machine.rglob("*")} == before
    assert Path(cache_folder()).is_relative_to(home)


def test_a_variable_says_where_the_cache_is(tmp_path, monkeypatch):
    monkeypatch.setenv("TURNLOG_CACHE", str(tmp_path))
    assert Path(Kept().path).parent == tmp_path
