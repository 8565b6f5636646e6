"""Whose a Codex record is, and what a count adds: one test for each rule of CODEX 8 and 9 that others only brush."""

from homes import CodexFile, by_session, ledger, left_for, marks, tokens, v4, v7

ONE, TWO, THREE = (100, 0, 10), (200, 0, 20), (300, 0, 30)


def spawned(by):
    return {"source": {"subagent": {"thread_spawn": {"parent_thread_id": by}}}}


def plain(thread, counts=(ONE, TWO), **more):
    """A thread without turn ids: a question, an answer and a count, over and over."""
    file = CodexFile(thread, **more)
    for n, total in enumerate(counts):
        file.typed(f"question {n}").said("assistant", f"answer {n}", 500).count(total, ONE)
    return file


# -- what a count adds


def test_a_total_that_grew_in_total_tokens_alone_did_not_grow():
    file = CodexFile(v4(1)).count((100, 0, 10, 0, 110), ONE).count((100, 0, 10, 0, 500), (100, 0, 10, 0, 110))

    assert tokens(ledger(file)) == 110


def test_the_first_count_of_a_file_whose_head_is_lost_is_its_last_sample():
    assert tokens(ledger(CodexFile(v4(1)).count((500, 0, 50), ONE))) == 110


def test_a_count_without_a_total_does_not_forget_the_total():
    last = {"input_tokens": 100, "cached_input_tokens": 0, "output_tokens": 10}
    file = CodexFile(v4(1)).count(ONE, ONE).event("token_count", info={"last_token_usage": last}).count(ONE, ONE)

    assert tokens(ledger(file)) == 220


def test_records_without_a_response_id_are_each_a_response():
    turn = v7(1000, 1)
    file = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, None, ONE).record(turn, None, ONE)

    assert tokens(ledger(file)) == 220


def test_a_response_id_that_a_provider_uses_twice_in_a_turn_is_two_calls_where_the_counts_differ():
    turn = v7(1000, 1)
    file = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r", ONE).record(turn, "r", TWO).record(turn, "r", ONE)
    found = ledger(file)

    assert tokens(found) == 330
    assert [reason for reason, _ in left_for(found).values()] == ["the same call on another line"]


def test_running_sums_and_copies_inside_other_records_add_nothing():
    """A compaction repeats the last record, and a record carries the sums of its turn and thread."""
    turn = v7(1000, 1)
    file = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r", ONE)
    record = file.lines[-1]["payload"]
    record |= {"turn_token_usage": record["usage"], "thread_token_usage": record["usage"]}
    file.add("compacted", {"message": "", "replacement_history": [], "latest_token_usage_record": record})

    assert tokens(ledger(file)) == 110


# -- by the time in a turn's id


def test_a_turn_of_the_moment_the_thread_was_made_is_its_own():
    assert tokens(ledger(CodexFile(v7(0)).turn(v7(0, 1)).count(ONE, ONE))) == 110


def test_own_history_begins_with_the_first_own_turn():
    old = CodexFile(v7(0)).turn(v7(1000, 1)).count(ONE, ONE)
    fork = CodexFile(v7(50_000, 9), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    fork.turn(v7(60_000, 3)).count(TWO, ONE).turn(v7(70_000, 4)).count(THREE, ONE)

    assert by_session(ledger(old, fork)) == {old.thread: 110, fork.thread: 220}


def test_a_file_that_names_the_history_it_goes_on_from_holds_its_own_work_only():
    """Whatever the clock said when its turn began."""
    fork = CodexFile(v7(50_000, 9), "0.150.0", forked_from_id=v7(0), history_base={"thread_id": v7(0)})

    assert tokens(ledger(fork.turn(v7(1000, 3)).count((500, 0, 50), ONE))) == 110


def test_a_record_that_names_the_thread_is_its_own_wherever_it_stands():
    old = CodexFile(v7(0)).turn(v7(1000, 1)).count(ONE, ONE)
    fork = CodexFile(v7(50_000, 9), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    fork.record(v7(60_000, 3), "r1", TWO)

    assert by_session(ledger(old, fork)) == {old.thread: 110, fork.thread: 220}


def test_an_own_turn_ends_a_copy_though_the_parent_went_on_with_equal_counts():
    """An old thread without turn ids, forked by a new version; then both did the same."""
    old = plain(v7(0), (ONE, TWO, THREE))
    fork = CodexFile(v7(50_000, 9), forked_from_id=old.thread, created=50_000).copied(old.lines[:-4], 50_010)
    fork.turn(v7(60_000, 3)).count(THREE, ONE)

    assert by_session(ledger(old, fork)) == {old.thread: 330, fork.thread: 110}


# -- by comparing


def test_a_spawned_thread_is_compared_with_the_one_that_spawned_it():
    old = plain(v4(2))
    child = CodexFile(v4(1), created=50_000, **spawned(old.thread)).copied(old.lines[1:4], 50_300)
    child.at += 5000
    child.copied(old.lines[4:], child.at).count(THREE, ONE, 9000)

    assert by_session(ledger(child, old)) == {old.thread: 220, child.thread: 110}


def test_turn_ids_are_compared_where_nothing_was_counted():
    old = CodexFile(v4(2)).turn(v4(11)).said("assistant", "failed")
    child = CodexFile(v4(1), forked_from_id=old.thread, created=50_000).copied(old.lines[1:], 50_300)
    child.turn(v4(12), 9000).said("assistant", "own")

    assert marks(ledger(child, old)) == {"answer": 2}


def test_a_copy_may_begin_where_its_parents_own_work_does():
    """The parent is a fork itself, and the child did not take what it had copied."""
    old = plain(v4(3))
    fork = CodexFile(v4(2), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    fork.typed("next", 9000).said("assistant", "new", 500).count(THREE, ONE).count((400, 0, 40), ONE)
    own = fork.lines[len(old.lines) + 1 :]
    child = CodexFile(v4(1), forked_from_id=fork.thread, created=100_000).copied(own, 100_300)
    child.said("assistant", "last", 9000).count((500, 0, 50), ONE)

    assert by_session(ledger(child, fork, old)) == {old.thread: 220, fork.thread: 220, child.thread: 110}


def test_talk_after_the_last_copied_count_is_copied_too():
    old = plain(v4(2)).typed("no answer yet").said("assistant", "half")
    child = CodexFile(v4(1), forked_from_id=old.thread, created=50_000).copied(old.lines[1:], 50_300)
    child.said("assistant", "own", 9000).count(THREE, ONE)

    # Prompts are told apart by their events, which have no prints: an answer is enough here.
    assert marks(ledger(child, old))["answer"] == 4


def test_of_copied_ancestors_the_nearest_that_is_here_is_compared():
    old = plain(v4(3))
    fork = CodexFile(v4(2), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010).count(THREE, ONE, 9000)
    again = CodexFile(v4(1), forked_from_id=fork.thread, created=100_000).copied(fork.lines, 100_010)
    found = ledger(again, old)

    assert by_session(found) == {old.thread: 220, again.thread: 110}
    assert {place[0] for _, place in left_for(found).values()} == {old.path}


# -- by the burst, where the parent is gone


def test_a_single_copied_count_is_known_by_the_ancestors_before_it():
    old = plain(v4(2), (ONE,))
    fork = CodexFile(v4(1), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010).count(TWO, ONE, 9000)

    assert by_session(ledger(fork)) == {fork.thread: 110}


def test_one_call_that_came_at_once_is_no_copy():
    child = CodexFile(v4(1), **spawned(v4(2))).count(ONE, ONE, 50).count(TWO, ONE, 9000)

    assert tokens(ledger(child)) == 220


def test_calls_that_came_at_once_in_a_thread_without_a_parent_are_no_copies():
    assert tokens(ledger(CodexFile(v4(1)).count(ONE, ONE, 50).count(TWO, ONE, 50).count(THREE, ONE, 9000))) == 330


def test_a_foreign_session_meta_in_mid_file_makes_no_copy_of_what_came_at_once():
    file = CodexFile(v4(1)).count(ONE, ONE, 50).count(TWO, ONE, 9000).add("session_meta", {"id": v4(9)})

    assert tokens(ledger(file)) == 220


def test_copies_with_times_of_before_the_thread_are_older_however_far_apart():
    old = plain(v4(2))
    fork = CodexFile(v4(1), created=50_000)
    fork.lines += old.lines
    fork.at = 50_000
    fork.said("assistant", "own", 100).count(THREE, ONE, 50)

    assert by_session(ledger(fork)) == {fork.thread: 110}
