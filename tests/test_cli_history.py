"""`turnlog history`: prompts from the agents' own history files, each with where it stands."""

import json
from datetime import UTC, datetime

import pytest

from commands import DEMO, as_json, line, turnlog
from turnlog.ledger.beside import history
from turnlog.roots import roots_from_home


@pytest.fixture
def home_with(tmp_path):
    """A home whose Claude Code history has these rows."""

    def write(*records):
        path = tmp_path / ".claude" / "history.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(records))
        return tmp_path

    return write


def row(text="hello", at=1_777_629_600_000, session="s", **more):
    return line(display=text, timestamp=at, sessionId=session, project="/p", **more)


def test_prompts_of_all_agents_stand_in_the_order_of_their_times():
    told = as_json("history", "--home", DEMO)
    times = [prompt["at"] for prompt in told["prompts"]]

    assert (told["schema"], told["complete"], told["files"]) == ("turnlog.history/1", True, 2)
    assert times == sorted(times)
    assert {prompt["agent"] for prompt in told["prompts"]} == {"claude", "codex"}


def test_each_prompt_says_where_it_stands():
    for prompt in as_json("history", "--home", DEMO)["prompts"]:
        with open(prompt["path"], "rb") as file:
            record = file.read()[prompt["start"] : prompt["end"]]
        assert prompt["text"] in json.loads(record).values()


def test_filters_leave_the_newest():
    everything = as_json("history", "--home", DEMO)["prompts"]
    mine = as_json("history", "--home", DEMO, "--agent", "codex", "--limit", "2")

    assert mine["prompts"] == [prompt for prompt in everything if prompt["agent"] == "codex"][-2:]
    assert mine["matched"] > 2


def test_a_day_is_a_day_of_the_readers_zone(home_with):
    home = home_with(row("late", at=int(datetime(2026, 5, 1, 23, 30, tzinfo=UTC).timestamp() * 1000)))

    assert turnlog("history", "--home", home, "--since", "2026-05-02", "--timezone", "UTC").returncode == 1
    for day in (["--since", "2026-05-02"], ["--until", "2026-05-02"]):
        assert as_json("history", "--home", home, *day, "--timezone", "Europe/Berlin")["matched"] == 1
    assert turnlog("history", "--home", home, "--until", "2026-05-01", "--timezone", "Europe/Berlin").returncode == 1
    text = turnlog("history", "--home", home, "--timezone", "Europe/Berlin").stdout.decode()
    assert text.startswith("2026-05-02 01:30  Claude Code")
    assert "(Europe/Berlin)" in text


@pytest.mark.parametrize("word", ["yesterday", "2026-13-01", "", "1"])
def test_a_time_that_is_none_is_wrong_usage(word):
    assert turnlog("history", f"--since={word}").returncode == 2


def test_a_prompt_without_a_time_or_session_is_kept(home_with):
    told = as_json("history", "--home", home_with(line(display="only text"), row("timed")))

    assert [prompt["text"] for prompt in told["prompts"]] == ["only text", "timed"]
    assert (told["prompts"][0]["at"], told["prompts"][0]["session_id"]) == (None, None)


def test_a_damaged_row_is_told_and_the_rest_is_read(home_with):
    home = home_with(row("one"), b"{broken\n", row("two", at="soon"), row("three"))
    told = as_json("history", "--home", home)

    assert told["complete"] is False
    assert [fault["line"] for fault in told["faults"]] == [2, 3]
    assert [prompt["text"] for prompt in told["prompts"]] == ["two", "one", "three"]
    assert turnlog("history", "--home", home).returncode == 0
    assert turnlog("history", "--home", home, "--strict").returncode == 3


def test_control_characters_of_a_prompt_stay_off_the_terminal(home_with):
    home = home_with(row("\x1b[31mred\x07 \u202etxt\nnext \ud83d", session="\x1b[2J"))
    done = turnlog("history", "--home", home)

    assert not any(byte < 32 and byte != 10 for byte in done.stdout)
    assert "\u202e" not in done.stdout.decode()
    assert len(done.stdout.decode().splitlines()) == 2


def test_times_at_the_end_of_the_calendar_are_printed(home_with):
    home = home_with(row("far", at=253_402_300_799_000), row("farther", at=10**18))
    done = turnlog("history", "--home", home, "--timezone", "Pacific/Auckland")

    assert done.returncode == 0
    assert b"farther" in done.stdout


def test_no_history_exits_1_and_an_unreadable_one_4(tmp_path):
    assert turnlog("history", "--home", tmp_path).returncode == 1
    (tmp_path / ".claude" / "history.jsonl").mkdir(parents=True)
    assert turnlog("history", "--home", tmp_path).returncode == 4


def test_the_library_is_the_commands_twin():
    told = history(roots_from_home(DEMO), agent="claude", since=datetime(2026, 11, 9, tzinfo=UTC))

    assert told.matched == len(told.prompts) > 0
    assert {prompt.agent for prompt in told.prompts} == {"claude"}
