"""Sessions are named by id, the beginning of one, path or @latest; what cannot be meant is one helpful sentence."""

import pytest

from commands import CLAUDE, DEMO
from inprocess import as_json, command
from turnlog.cli.naming import NoSuchSession, path_named
from turnlog.ledger.sessions import unique_prefixes
from turnlog.roots import roots_from_home

ROOTS = roots_from_home(DEMO)


@pytest.mark.parametrize("word", ["fb45", "FB45", "fb4537b0-fcfc-4cd0-b878-551e261e51a6", str(CLAUDE)])
def test_an_id_a_beginning_of_one_and_a_path_name_the_same_session(word):
    assert path_named(word, ROOTS) == str(CLAUDE)


def test_latest_is_the_session_in_which_something_happened_last():
    assert "20261116_081500" in path_named("@latest", ROOTS)


def test_a_subagent_is_named_by_its_id_or_its_file():
    for word in ("a1f0c3d2e4b5a6978", "agent-a1f0"):
        assert path_named(word, ROOTS).endswith("subagents/agent-a1f0c3d2e4b5a6978.jsonl")


def test_a_session_comes_before_its_subagents_with_the_same_beginning():
    assert "01a1d0a1" in path_named("01a1d0", ROOTS)


def test_a_word_that_names_none_is_told_the_nearest():
    with pytest.raises(NoSuchSession, match=r'no session starts with "7x": the nearest are 7948 \(') as told:
        path_named("7x", ROOTS)
    assert "\n" not in str(told.value)


def test_a_word_that_names_several_is_told_which():
    with pytest.raises(NoSuchSession, match=r'"01a1d" begins 3 sessions: 01a1d8 \(.*give more of the id'):
        path_named("01a1d", ROOTS)


def test_both_exit_1_and_print_nothing_on_stdout(capsysbinary):
    for word in ("7x", "01a1d", ""):
        code, out, err = command(capsysbinary, "show", word, "--home", DEMO)
        assert (code, out, err.count(b"\n")) == (1, b"", 1)


def test_a_home_without_sessions_says_so(capsysbinary, tmp_path):
    for word in ("@latest", "7f"):
        code, _, err = command(capsysbinary, "show", word, "--home", tmp_path)
        assert code == 1
        assert b"turnlog demo" in err


def test_a_path_is_taken_at_its_word(capsysbinary, tmp_path):
    code, out, err = command(capsysbinary, "show", tmp_path / "none.jsonl", "--home", DEMO)

    assert (code, out) == (4, b"")
    assert b"No such file" in err


def test_a_hostile_word_reaches_no_terminal_raw(capsysbinary):
    _, _, err = command(capsysbinary, "show", "\x1b[2J", "--home", DEMO)

    assert b"\x1b" not in err


def test_prefixes_are_the_shortest_that_are_unique():
    assert unique_prefixes(["abcd1", "abcd2", "b"]) == {"abcd1": "abcd1", "abcd2": "abcd2", "b": "b"}
    assert unique_prefixes(["aaaa1111", "bbbb2222"]) == {"aaaa1111": "aaaa", "bbbb2222": "bbbb"}
    assert unique_prefixes([]) == {}


def test_the_session_shown_is_the_one_that_was_named(capsysbinary):
    assert as_json(capsysbinary, "show", "01a1d6", "--home", DEMO)["session"]["title"] == "Zero means none seen"
