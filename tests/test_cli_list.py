"""`turnlog list`: newest first, found by filters, and no file read whole."""

import builtins
import json
import os
import shutil

import jsonschema
import pytest

from commands import DEMO, line, user
from inprocess import as_json, command, told
from turnlog.ledger import peek
from turnlog.roots import roots_from_home
from turnlog.schemas import schema

PROJECTS = ".claude/projects/-proj-demo"
ONE = "aaaaaaaa-0000-4000-8000-000000000001"


@pytest.fixture
def listed(capsysbinary):
    def ask(*words, home=DEMO, code=0):
        return as_json(capsysbinary, "list", "--home", home, *words, code=code)

    return ask


def test_the_sessions_come_newest_first_each_with_its_own_file(listed):
    found = listed()
    lasts = [row["last"] for row in found["sessions"]]

    assert len(lasts) == found["matched"] == found["found"] == 12
    assert lasts == sorted(lasts, reverse=True)
    assert all(row["path"] in row["files"] and os.path.exists(row["path"]) for row in found["sessions"])
    jsonschema.validate(found, schema("turnlog.list/1"))


def test_without_counts_nothing_is_counted_and_with_them_all_is(listed):
    plain, counted = listed()["sessions"], listed("--counts")["sessions"]

    assert {(row["prompts"], row["answers"], row["tokens"]) for row in plain} == {(None, None, None)}
    truth = json.loads((DEMO / "TRUTH.json").read_text(encoding="utf-8"))["totals"]
    assert sum(row["prompts"] for row in counted) == truth["user_prompts"]
    assert sum(row["tokens"]["total"] for row in counted) == truth["tokens"]["total"]


def test_titles_come_from_the_files_and_from_the_agents_indexes(listed):
    titles = {row["session_id"][:8]: row["title"] for row in listed()["sessions"]}

    assert titles["fb4537b0"] == "kestrel: log and list"
    assert titles["01a1d6c3"] == "Zero means none seen"  # from the index beside the sessions
    assert titles["9c70ac6e"] is None


@pytest.mark.parametrize(
    "words,count",
    [
        (["--agent", "pi"], 2),
        (["--project", "/home/dev/tern"], 3),
        (["--project", "KEST"], 7),
        (["--model", "gpt-5.5"], 2),
        (["--since", "2026-11-14", "--timezone", "UTC"], 2),
        (["--since", "20261114", "--timezone", "UTC"], 2),
        (["--until", "20261103", "--timezone", "UTC"], 2),
        (["--since", "2026-11-03", "--until", "2026-11-03", "--timezone", "UTC"], 2),
        (["--limit", "3"], 3),
    ],
)
def test_a_filter_leaves_what_fits(listed, words, count):
    assert len(listed(*words)["sessions"]) == count


def test_a_day_is_a_day_of_the_readers_zone(listed, tmp_path):
    folder = tmp_path / PROJECTS
    folder.mkdir(parents=True)
    (folder / f"{ONE}.jsonl").write_bytes(user("u1").replace(b"T10:00", b"T23:30"))

    def days(day, zone, code=0):
        return len(listed("--since", day, "--until", day, "--timezone", zone, home=tmp_path, code=code)["sessions"])

    assert days("2026-05-01", "UTC") == 1
    assert days("2026-05-02", "Asia/Tokyo") == 1
    assert days("2026-05-01", "Asia/Tokyo", code=1) == 0


def test_nothing_that_fits_exits_1_with_a_sentence(capsysbinary):
    code, out, err = command(capsysbinary, "list", "--home", DEMO, "--project", "/nowhere")

    assert (code, out) == (1, b"")
    assert b"none of 12 sessions fits" in err


def test_a_home_without_sessions_exits_1_and_points_to_the_demo(capsysbinary, tmp_path):
    code, _, err = command(capsysbinary, "list", "--home", tmp_path)

    assert code == 1
    assert b"turnlog demo" in err


def test_ids_are_the_shortest_that_tell_sessions_apart(capsysbinary):
    words = [row.split()[0] for row in told(capsysbinary, "list", "--home", DEMO)[:-1]]

    assert len(set(words)) == len(words) == 12
    assert "fb45" in words
    assert "01a1d8" in words


class Counted:
    """A file that notes how many bytes were read from it."""

    def __init__(self, file, tally):
        self._file = file
        self._tally = tally

    def read(self, size=-1):
        data = self._file.read(size)
        self._tally[self._file.name] = self._tally.get(self._file.name, 0) + len(data)
        return data

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def large(folder, records):
    """A session of many megabytes with its title at the end."""
    folder.mkdir(parents=True)
    middle = user("m", text="x" * 2000) * records
    title = line(type="custom-title", customTitle="At the very end", sessionId=ONE)
    last = user("z", text="last").replace(b"T10:00", b"T11:30")
    (folder / f"{ONE}.jsonl").write_bytes(user("u1", text="first", cwd="/proj/demo") + middle + last + title)
    return folder / f"{ONE}.jsonl"


def test_no_large_file_is_read_beyond_its_ends(monkeypatch, tmp_path):
    file = large(tmp_path / PROJECTS, 4000)
    shutil.copytree(DEMO / ".codex", tmp_path / ".codex")
    tally = {}
    real = peek.opened
    monkeypatch.setattr(peek, "opened", lambda path: Counted(real(path), tally))
    opens = []
    real_open = builtins.open
    monkeypatch.setattr(builtins, "open", lambda *a, **k: opens.append(a[0]) or real_open(*a, **k))

    from turnlog.ledger.sessions import sessions

    found = sessions(roots_from_home(tmp_path), agent="claude")

    (row,) = found.sessions
    assert (row.title, row.first_prompt, row.cwd) == ("At the very end", "first", "/proj/demo")
    assert (row.first, row.last) == ("2026-05-01T10:00:00Z", "2026-05-01T11:30:00Z")
    assert file.stat().st_size > 8_000_000
    assert sum(tally.values()) <= peek.MOST
    assert not any(str(file) == str(path) for path in opens)


def test_the_ends_of_a_file_say_what_the_whole_says(tmp_path, listed):
    large(tmp_path / PROJECTS, 400)
    (light,) = listed(home=tmp_path)["sessions"]
    (whole,) = listed("--counts", home=tmp_path)["sessions"]

    known = [key for key in light if key not in ("prompts", "answers", "tokens", "cost")]
    assert {key: light[key] for key in known} == {key: whole[key] for key in known}


@pytest.mark.parametrize("tail", [b"", b'{"type":"user","mess', b"\0" * 70_000, b"x" * 300_000])
def test_a_file_that_ends_or_begins_badly_still_has_its_row(tail, tmp_path, listed):
    folder = tmp_path / PROJECTS
    folder.mkdir(parents=True)
    (folder / f"{ONE}.jsonl").write_bytes(user("u1", text="first") * 900 + tail)

    (row,) = listed(home=tmp_path)["sessions"]

    assert row["session_id"] == ONE
    assert row["first_prompt"] == "first"


def test_a_first_record_longer_than_the_head_leaves_the_name_of_the_file(tmp_path, listed):
    folder = tmp_path / PROJECTS
    folder.mkdir(parents=True)
    (folder / f"{ONE}.jsonl").write_bytes(user("u1", text="x" * 900_000))

    assert [row["session_id"] for row in listed(home=tmp_path)["sessions"]] == [ONE]
