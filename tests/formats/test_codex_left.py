"""What Codex's files say and does not count: each sample with its reason and the place of the one that stands for it."""

import pytest

from homes import CodexFile, by_session, counts_somewhere, ledger, left_for, tokens, v4, v7

UNCHANGED = "total unchanged"
STOOD_FOR = "a response record stands for it"
COPIED = "copied from the parent thread"
ESTIMATE = "estimate after compaction"

ONE, TWO, THREE = (100, 0, 10), (200, 0, 20), (300, 0, 30)


def lines(file, kind):
    """The numbers of the file's lines of that kind of record or event."""
    found = enumerate(file.lines, 1)
    return [n for n, line in found if kind in (line["type"], line["payload"].get("type"))]


# -- one file


def test_a_repeated_count_points_at_the_count_it_repeats():
    file = CodexFile(v4(1)).count(ONE, ONE).count(ONE, ONE).count(TWO, ONE).count(TWO, ONE).count(TWO, ONE)
    a, b, c, d, e = lines(file, "token_count")

    assert left_for(ledger(file)) == {
        (file.path, b): (UNCHANGED, (file.path, a)),
        (file.path, d): (UNCHANGED, (file.path, c)),
        (file.path, e): (UNCHANGED, (file.path, c)),
    }


def test_nothing_stands_for_an_estimate_or_for_a_repeat_of_one():
    """An overflow invents a total; what repeats it repeats no call."""
    over = (0, 0, 0, 0, 999)
    file = CodexFile(v4(1)).count(ONE, ONE).count(over, over).count(over, over).count(over, (0, 0, 0, 0, 0))

    assert [left[1] for left in left_for(ledger(file)).values()] == [None] * 3
    assert set(left_for(ledger(file)).values()) == {(ESTIMATE, None), (UNCHANGED, None)}


def test_an_estimate_between_does_not_hide_the_call_that_is_repeated():
    file = CodexFile(v4(1)).count(ONE, ONE).count(ONE, (0, 0, 0, 0, 999)).count(ONE, ONE)
    a, b, c = lines(file, "token_count")

    assert left_for(ledger(file)) == {(file.path, b): (ESTIMATE, None), (file.path, c): (UNCHANGED, (file.path, a))}


def test_a_count_of_nothing_is_left_and_nothing_stands_for_it():
    file = CodexFile(v4(1)).count((0, 0, 0), (0, 0, 0)).count(ONE, ONE)
    found = ledger(file)

    assert tokens(found) == 110
    assert left_for(found) == {(file.path, 2): ("no tokens in it", None)}


def test_each_count_of_a_turn_points_at_the_record_of_its_own_response():
    turn, next_turn = v7(1000, 1), v7(9000, 2)
    file = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r1", ONE).count(ONE, ONE)
    file.record(turn, "r2", (50, 0, 5)).record(turn, "r3", ONE).count((150, 0, 15), (50, 0, 5)).count((250, 0, 25), ONE)
    file.count((250, 0, 25), ONE).turn(next_turn).record(next_turn, "r4", ONE).count((350, 0, 35), ONE)
    r1, r2, r3, r4 = lines(file, "token_usage_record")
    found = ledger(file)

    assert [(reason, at[1]) for reason, at in left_for(found).values()] == [
        (STOOD_FOR, r1), (STOOD_FOR, r2), (STOOD_FOR, r3), (UNCHANGED, r3), (STOOD_FOR, r4),
    ]  # fmt: skip


def test_a_count_that_no_record_equals_points_at_the_one_before_it_else_at_the_turns_first():
    turn = v7(1000, 1)
    file = CodexFile(v7(0), "0.169.0").turn(turn).count(ONE, ONE).record(turn, "r1", (70, 0, 7))
    file.record(turn, "r2", (80, 0, 8)).count((150, 0, 15), (0, 0, 0))
    r1, r2 = lines(file, "token_usage_record")

    assert [at[1] for _, at in left_for(ledger(file)).values()] == [r1, r2]


def test_the_first_count_of_a_paginated_fork_points_at_the_record_of_its_response():
    turn = v7(60_000, 3)
    fork = CodexFile(v7(50_000, 9), "0.169.0", forked_from_id=v7(0), history_base={"thread_id": v7(0)})
    fork.turn(turn).record(turn, "r1", ONE).count((600, 0, 60), ONE)
    (record,) = lines(fork, "token_usage_record")
    found = ledger(fork)

    assert tokens(found) == 110
    assert left_for(found) == {(fork.path, record + 1): (STOOD_FOR, (fork.path, record))}


# -- copies


OLD, TURNS = v7(0), (v7(1000, 1), v7(2000, 2))
FORK, NEXT = v7(50_000, 9), v7(60_000, 3)


def parent(thread=OLD, turns=TURNS, **more):
    file = CodexFile(thread, **more)
    for n, turn in enumerate(turns):
        if turn is not None:
            file.turn(turn)
        file.said("assistant", f"answer {n}", 500).count(((n + 1) * 100, 0, (n + 1) * 10), ONE)
        file.count(((n + 1) * 100, 0, (n + 1) * 10), ONE)
    return file


def forked(old, thread=FORK, turn=NEXT, **more):
    fork = CodexFile(thread, forked_from_id=old.thread, created=50_000, **more).copied(old.lines, 50_010)
    if turn is not None:
        fork.turn(turn)
    return fork.said("assistant", "own answer", 900).count(THREE, ONE)


def copies(found, fork):
    """(reason, place) of what the fork left, in file order."""
    return [said for (path, _), said in sorted(left_for(found).items()) if path == fork.path]


@pytest.mark.parametrize(
    "thread, turns, own",
    [(v7(0), (v7(1000, 1), v7(2000, 2)), v7(60_000, 3)), (v4(1), (None, None), None), (v4(1), (v4(5), v4(6)), v4(7))],
    ids=["turns with a time", "no turns", "turns without a time"],
)
def test_a_copied_count_points_at_the_parents(thread, turns, own):
    old = parent(thread, turns)
    fork = forked(old, turn=own)
    first, _, second, _ = lines(old, "token_count")
    found = ledger(fork, old)

    assert by_session(found) == {old.thread: 220, fork.thread: 110}
    assert copies(found, fork) == [
        (COPIED, (old.path, first)), (UNCHANGED, (old.path, first)),
        (COPIED, (old.path, second)), (UNCHANGED, (old.path, second)),
    ]  # fmt: skip


def test_a_copy_of_a_copy_points_at_the_thread_that_did_the_work():
    old = parent()
    fork = forked(old)
    again = forked(fork, v7(100_000, 8), v7(110_000, 4)).count((400, 0, 40), ONE)
    again.lines[-2]["payload"]["info"] = None
    found = ledger(again, fork, old)

    assert by_session(found) == {old.thread: 220, fork.thread: 110, again.thread: 110}
    assert {at[0] for _, at in copies(found, again)} == {old.path, fork.path}
    assert counts_somewhere(found)


def test_a_copy_whose_parent_is_gone_is_left_all_the_same():
    old = parent()
    fork = forked(old)
    found = ledger(fork)

    assert by_session(found) == {fork.thread: 110}
    assert copies(found, fork) == [(COPIED, None), (UNCHANGED, None)] * 2


def test_in_a_chain_of_forks_the_middle_one_may_be_gone():
    """Migration takes the copied session_metas away, so that only the middle one is named."""
    old = parent()
    again = CodexFile(v7(100_000, 8), forked_from_id=v7(50_000, 9)).copied(old.lines[1:], 100_010)
    again.turn(v7(110_000, 4)).count(THREE, ONE)
    first, _, second, _ = lines(old, "token_count")

    assert [at[1] for _, at in copies(ledger(old, again), again)] == [first, first, second, second]


def test_a_turn_older_than_the_thread_is_inherited_though_nothing_names_a_parent():
    old = parent()
    fork = CodexFile(v7(50_000, 9)).copied(old.lines[1:], 50_010).turn(v7(60_000, 3)).count(THREE, ONE)

    assert by_session(ledger(old, fork)) == {old.thread: 220, fork.thread: 110}


def test_a_copied_record_points_at_the_parents_and_a_copied_count_at_the_record_too():
    turn = v7(1000, 1)
    old = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r1", ONE).count(ONE, ONE)
    fork = CodexFile(v7(50_000, 9), "0.169.0", forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    (record,) = lines(old, "token_usage_record")
    found = ledger(fork, old)

    assert by_session(found) == {old.thread: 110}
    assert copies(found, fork) == [(COPIED, (old.path, record))] * 2


def test_a_fork_that_repeats_its_parents_total_points_at_the_parents_last_count():
    old = CodexFile(v7(0), "0.169.0").turn(v7(1000, 1)).count(ONE, ONE).count(TWO, ONE)
    fork = CodexFile(v7(50_000, 9), "0.169.0", forked_from_id=old.thread, history_base={"thread_id": old.thread})
    fork.turn(v7(60_000, 3)).count(TWO, ONE)
    _, last = lines(old, "token_count")

    assert copies(ledger(fork, old), fork) == [("the parent thread's running total", (old.path, last))]


def test_a_twin_of_a_fork_points_past_the_fork_at_the_parent():
    old = parent()
    fork, twin = forked(old), forked(old, folder="archived_sessions")
    found = ledger(twin, fork, old)

    assert by_session(found) == {old.thread: 220, fork.thread: 110}
    assert counts_somewhere(found)
    assert [reason for reason, _ in copies(found, twin)] == [COPIED, UNCHANGED, COPIED, UNCHANGED, "twin file"]
    assert [at[0] for _, at in copies(found, twin)] == [old.path] * 4 + [fork.path]


def test_a_fork_is_compared_with_the_twin_that_holds_most():
    """The plain file may be behind the archived one."""
    whole = parent(v4(1), (None, None), folder="archived_sessions")
    short = CodexFile(v4(1))
    short.lines = whole.lines[:3]
    fork = forked(whole, v4(2), None)

    assert by_session(ledger(short, whole, fork)) == {v4(1): 220, v4(2): 110}


@pytest.mark.slow
@pytest.mark.parametrize("many", [1200])
def test_a_long_chain_of_forks_is_no_matter_of_recursion(many):
    files = [CodexFile(v4(0)).count(ONE, ONE)]
    files += [CodexFile(v4(n), forked_from_id=v4(n - 1)).count((n, 0, 1), (n, 0, 1)) for n in range(1, many)]

    assert len(by_session(ledger(*reversed(files)))) == many
