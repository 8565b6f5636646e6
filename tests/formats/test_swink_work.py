"""The work swink-agent's files say was done: no ids, so a call is known by session, number and time (sheet SWINK_AGENT)."""

from homes import SwinkFile, ledger, left_for, tokens


def test_a_copy_of_a_session_adds_nothing():
    file, again = SwinkFile("s").answer((1, 1)).answer((2, 2)), SwinkFile("s", folder="spare").answer((1, 1))
    found = ledger(file, again)

    assert tokens(found) == 6
    assert left_for(found) == {(again.path, 2): ("the same call, copied into another file", (file.path, 2))}


def test_calls_of_the_same_second_are_several():
    assert tokens(ledger(SwinkFile("s").answer((1, 1), at=5).answer((1, 1), at=5))) == 4


def test_equal_calls_of_two_sessions_are_two():
    assert tokens(ledger(SwinkFile("s").answer((1, 1)), SwinkFile("t").answer((1, 1)))) == 4


def test_what_was_appended_and_never_committed_was_spent_and_is_kept_apart():
    file = SwinkFile("s").begin().answer((1, 1)).begin().answer((2, 2)).commit().begin().answer((4, 4))

    assert [(c.sample.counts.total, c.sample.uncommitted) for c in ledger(file).samples] == [
        (2, True), (4, False), (8, True),
    ]  # fmt: skip


def test_the_compactors_own_line_is_no_call():
    file = SwinkFile("s").answer((0, 0), model="").answer((1, 1))
    found = ledger(file)

    assert len(found.samples) == 1
    assert left_for(found) == {(file.path, 2): ("no call: a line without model and tokens", None)}
