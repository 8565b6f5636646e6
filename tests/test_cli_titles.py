"""`turnlog titles`: titles from the agents' indexes, for the sessions asked for."""

import json

import pytest

from commands import DEMO, as_json, turnlog

COUNTS = "01a1d0a1-6300-7df0-b89a-8568918571e2"


@pytest.fixture
def index(tmp_path):
    """A home whose Claude Code index has these entries, for sessions `a...` and `b...`."""

    def write(entries):
        folder = tmp_path / ".claude" / "projects" / "-p"
        folder.mkdir(parents=True)
        (folder / "aaaaaaaa-0000-4000-8000-000000000001.jsonl").write_bytes(b"")
        text = json.dumps(entries if isinstance(entries, dict) else {"entries": entries})
        (folder / "sessions-index.json").write_text(text)
        return tmp_path

    return write


def test_every_session_found_gets_its_title():
    told = as_json("titles", "--home", DEMO)

    assert told["schema"] == "turnlog.titles/1"
    assert told["complete"]
    assert COUNTS in {title["session_id"] for title in told["titles"]}
    assert all(title["path"] for title in told["titles"])


def test_a_session_is_named_whole_or_by_its_beginning():
    for word in (COUNTS, COUNTS[:9]):
        (title,) = as_json("titles", word, "--home", DEMO)["titles"]
        assert (title["session_id"], title["agent"]) == (COUNTS, "codex")


def test_an_id_whose_session_is_gone_is_found_in_the_index(index):
    home = index([{"sessionId": "gone", "summary": " Old  "}])

    assert [title["title"] for title in as_json("titles", "gone", "--home", home)["titles"]] == ["Old"]
    assert turnlog("titles", "--home", home).returncode == 1


def test_only_one_agents_indexes():
    assert turnlog("titles", COUNTS, "--home", DEMO, "--agent", "claude").returncode == 1


def test_a_malformed_index_is_told(index):
    home = index({"entries": 7})
    told = as_json("titles", "gone", "--home", home, code=4)

    assert not told["complete"]
    assert told["problems"][0]["said"] == "$.entries: expected an array, found an integer"


def test_a_row_that_is_none_leaves_the_others(index):
    home = index([7, {"sessionId": "x", "summary": "\x1b[1mX\n\u202ey"}])

    assert turnlog("titles", "x", "--home", home, "--strict").returncode == 3
    done = turnlog("titles", "x", "--home", home)
    assert done.returncode == 0
    assert not any(byte < 32 and byte != 10 for byte in done.stdout)
    assert "\u202e" not in done.stdout.decode()
    assert b"expected an object" in done.stderr
