"""The work Codex's files say was done: own and inherited, both ledgers by turn, forks, subagents, segments, twins."""

import pytest

from homes import BASE, CodexFile, by_session, ledger, marks, reasons, tokens, v4, v7
from reading import fixtures, parse, place
from turnlog.contract import Place
from turnlog.formats.codex.ancestors import born
from turnlog.formats.codex.fold import fold
from turnlog.formats.codex.lineage import reconcile
from turnlog.ledger.identity import merge

FILES = fixtures("codex")


def fixture(*starts):
    paths = [next(path for path in FILES if path.name.startswith(start)) for start in starts]
    works = [fold(place(p), parse("codex", p.read_bytes(), place=place(p), codex_usage="all").items) for p in paths]
    return merge(works, lambda _, works: reconcile(works))


# -- one file


def test_counts_of_a_file_without_turns_follow_the_total():
    found = fixture("rollout-2025-11-14T10-00-00")

    assert [(c.sample.counts.total, c.sample.model) for c in found.samples] == [
        (1050, "gpt-5.1-codex"), (1570, "gpt-5.1-codex"), (3080, "gpt-5.1"),
    ]  # fmt: skip
    assert reasons(found) == ["total unchanged", "estimate after compaction"]
    assert marks(found) == {"prompt": 2, "answer": 3, "call": 2, "result": 2, "compaction": 1}
    assert {c.sample.project for c in found.samples} == {"/proj/old"}


def test_a_response_record_stands_for_the_counts_of_its_turn():
    found = fixture("rollout-2026-11-30T10-00-00")

    assert [c.sample.counts.total for c in found.samples] == [5100, 6050, 7300]
    assert sorted(reasons(found)) == [
        "a response record stands for it", "a response record stands for it", "estimate after compaction", "total unchanged",
    ]  # fmt: skip
    assert marks(found)["prompt"] == 2
    assert marks(found)["answer"] == 1
    assert [session.facts.first_prompt for session in found.sessions.values()] == ["Look at this"]


def test_a_flat_file_and_a_document_have_prompts_and_no_usage():
    found = fixture("rollout-2025-05-16", "rollout-2025-08-28")

    assert found.samples == []
    assert marks(found) == {"prompt": 2, "answer": 2, "call": 3, "result": 2}
    assert set(found.sessions) == {v4(1), v4(2)}


STEPS = [
    # (totals and last samples, tokens of each sample)
    ([((100, 0, 10), (100, 0, 10)), ((150, 0, 15), (50, 0, 5))], [110, 55]),
    ([((100, 0, 10), (100, 0, 10)), ((100, 0, 10), (100, 0, 10))], [110]),
    # the total grew by more than the last sample: a count was missed
    ([((100, 0, 10), (100, 0, 10)), ((300, 0, 30), (50, 0, 5))], [110, 220]),
    # it began again, larger than it was
    ([((100, 0, 10), (100, 0, 10)), ((200, 0, 20), (200, 0, 20))], [110, 220]),
    # it fell, with a last sample and without
    ([((100, 0, 10), (100, 0, 10)), ((70, 0, 7), (50, 0, 5))], [110, 55]),
    ([((100, 0, 10), None), ((70, 0, 7), None)], [110, 77]),
    # a response that ended early: the last sample is zero
    ([((100, 0, 10), (100, 0, 10)), ((150, 0, 15), (0, 0, 0))], [110, 55]),
    ([((100, 0, 10), (0, 0, 0))], [110]),
    # an overflow invents a total, which grows from there while the parts begin again
    (
        [
            ((100, 0, 10), (100, 0, 10)),
            ((0, 0, 0, 0, 999), (0, 0, 0, 0, 999)),
            ((60, 0, 6, 0, 1065), (60, 0, 6, 0, 66)),
        ],
        [110, 66],
    ),
    # without last samples
    ([((100, 0, 10), None), ((150, 0, 15), None), ((150, 0, 15), None)], [110, 55]),
]


@pytest.mark.parametrize("steps, samples", STEPS)
def test_the_running_total_is_walked_by_its_parts(steps, samples):
    file = CodexFile(v4(1))
    for total, last in steps:
        file.count(total, last)

    assert [c.sample.counts.total for c in ledger(file).samples] == samples


def test_info_null_does_not_forget_the_total():
    file = (
        CodexFile(v4(1))
        .count((100, 0, 10), (100, 0, 10))
        .event("token_count", info=None)
        .count((200, 0, 20), (100, 0, 10))
    )

    assert tokens(ledger(file)) == 220


def test_equal_calls_of_one_file_are_all_counted():
    """A counter that begins again and again with the same call: the same total and last sample, each time new work."""
    file = CodexFile(v4(1))
    for _ in range(3):
        file.count((100, 0, 10), (100, 0, 10)).count((200, 0, 20), (100, 0, 10))

    assert tokens(ledger(file)) == 660


def test_records_win_by_turn_and_never_by_file():
    """An old file that a new version resumed (CODEX_TRAPS 8)."""
    file = CodexFile(v7(0), "0.44.0").count((100, 0, 10), (100, 0, 10))
    file.turn(v7(5000, 1)).record(v7(5000, 1), "r1", (50, 0, 5)).count((150, 0, 15), (50, 0, 5))

    assert [c.sample.counts.total for c in ledger(file).samples] == [110, 55]


def test_a_record_without_its_count_counts():
    """A kill while a tool ran: the response is in no total (CODEX_TRAPS 6)."""
    turn = v7(1000, 1)
    file = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r1", (50, 0, 5))

    assert tokens(ledger(file)) == 55


def test_providers_that_repeat_response_ids_are_not_merged():
    one, two = v7(1000, 1), v7(2000, 2)
    file = (
        CodexFile(v7(0), "0.169.0").turn(one).record(one, "resp", (50, 0, 5)).turn(two).record(two, "resp", (50, 0, 5))
    )

    assert tokens(ledger(file)) == 110


def test_a_reviews_turn_told_again_does_not_take_the_counts_of_the_turn_it_stands_in():
    turn, child = v7(1000, 1), v7(2000, 2)
    file = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r1", (50, 0, 5))
    file.event("task_started", turn_id=child, turn_attribution={"parent_turn_id": turn}).count((50, 0, 5), (50, 0, 5))

    assert tokens(ledger(file)) == 55


def test_input_leaves_the_cache_out_and_output_keeps_its_reasoning():
    (counted,) = ledger(CodexFile(v4(1)).count((100, 40, 20, 5, 120), (100, 40, 20, 5, 120))).samples
    counts = counted.sample.counts

    assert (counts.input, counts.cache_read, counts.output, counts.flagged) == (60, 40, 20, True)


# -- prompts


def test_prompts_by_events_where_there_are_no_kinds():
    file = (
        CodexFile(v4(1))
        .said("user", "# AGENTS.md instructions for /p")
        .typed("one")
        .said("user", "no event")
        .typed("two")
    )

    assert marks(ledger(file)) == {"prompt": 2}


def test_prompts_by_how_they_begin_where_there_is_nothing_else():
    file = CodexFile(v4(1)).said("user", "<environment_context>").said("user", "one").said("user", "two")

    assert marks(ledger(file)) == {"prompt": 2}


def test_prompts_by_kind_and_older_turns_of_the_same_file_by_events():
    file = CodexFile(v7(0), "0.44.0").typed("old")
    file.turn(v7(9000, 1)).said("user", "AGENTS", kinds=["agents_md.instructions"])
    file.said("user", "new", kinds=["user.text"]).event("user_message", message="new")

    assert marks(ledger(file)) == {"prompt": 2}


def test_nobody_types_in_a_subagents_thread():
    file = CodexFile(v7(0), source={"subagent": {"other": "guardian"}}, thread_source="guardian_review")
    file.turn(v7(1, 1)).said("user", "Assess this", kinds=["user.text"]).said("assistant", "fine")

    assert marks(ledger(file)) == {"answer": 1}


def test_answers_count_once_an_item_id_and_summaries_never():
    file = (
        CodexFile(v7(0))
        .turn(v7(1, 1))
        .said("assistant", "a", id="x")
        .said("assistant", "a", id="x")
        .said("assistant", "b")
    )
    summary = {"type": "message", "role": "assistant", "content": "s"}
    file.lines.append({"type": "response_item", "payload": summary, "metadata": {"compaction_output": True}})

    assert marks(ledger(file)) == {"answer": 2}


# -- forks and subagents


def parent(thread, *, turns=(None, None), **meta):
    file = CodexFile(thread, **meta)
    for n, turn in enumerate(turns):
        if turn is not None:
            file.turn(turn)
        file.typed(f"question {n}").said("assistant", f"answer {n}", 500)
        file.count(((n + 1) * 100, 0, (n + 1) * 10), (100, 0, 10))
    return file


def test_a_turn_older_than_the_thread_is_inherited():
    old = parent(v7(0), turns=(v7(1000, 1), v7(2000, 2)))
    fork = CodexFile(v7(50_000, 9), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    fork.turn(v7(60_000, 3)).typed("own").said("assistant", "own answer", 900).count((300, 0, 30), (100, 0, 10))
    found = ledger(old, fork)

    assert by_session(found) == {old.thread: 220, fork.thread: 110}
    assert marks(found) == {"prompt": 3, "answer": 3}
    assert tokens(ledger(fork)) == 110, "the file alone tells"
    assert found.sessions[fork.thread].facts.first_prompt == "own"
    assert found.sessions[fork.thread].facts.forked_from == old.thread
    assert found.sessions[fork.thread].parent is None


def test_a_fork_of_a_fork_counts_its_own_turns_only():
    old = parent(v7(0), turns=(v7(1000, 1),))
    fork = CodexFile(v7(50_000, 8), forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    fork.turn(v7(60_000, 3)).count((200, 0, 20), (100, 0, 10))
    again = CodexFile(v7(100_000, 9), forked_from_id=fork.thread, created=100_000).copied(fork.lines, 100_010)
    again.turn(v7(110_000, 4)).count((300, 0, 30), (100, 0, 10))

    assert by_session(ledger(again, fork, old)) == {old.thread: 110, fork.thread: 110, again.thread: 110}


def test_copied_records_of_a_parent_keep_its_thread_and_count_there():
    turn = v7(1000, 1)
    old = CodexFile(v7(0), "0.169.0").turn(turn).record(turn, "r1", (50, 0, 5)).count((50, 0, 5), (50, 0, 5))
    fork = CodexFile(v7(50_000, 9), "0.169.0", forked_from_id=old.thread, created=50_000).copied(old.lines, 50_010)
    found = ledger(old, fork)

    assert by_session(found) == {old.thread: 55}
    assert by_session(ledger(fork)) == {}


def test_a_paginated_fork_holds_its_own_work_and_its_total_begins_at_the_parents():
    base = {"thread_id": v7(0), "end_ordinal_exclusive": 9}
    fork = CodexFile(v7(50_000, 9), "0.150.0", forked_from_id=v7(0), history_base=base)
    fork.turn(v7(60_000, 3)).typed("own").count((500, 0, 50), (100, 0, 10)).count((600, 0, 60), (100, 0, 10))

    assert tokens(ledger(fork)) == 220
    assert marks(ledger(fork)) == {"prompt": 1}


def test_a_paginated_forks_repeat_of_the_parents_total_is_no_work():
    """A first turn that failed: from 0.153.4 on a response has a record, so this count is the parent's."""
    fork = CodexFile(v7(50_000, 9), "0.169.0", forked_from_id=v7(0), history_base={"thread_id": v7(0)})
    fork.turn(v7(60_000, 3)).count((500, 0, 50), (100, 0, 10))
    found = ledger(fork)

    assert (tokens(found), reasons(found)) == (0, ["the parent thread's running total"])


def test_a_subagent_that_copied_nothing_counts_whole_though_it_names_a_fork():
    """0.136 gives every subagent a forked_from_id (CODEX_TRAPS 11)."""
    old = parent(v7(0), turns=(v7(1000, 1),))
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": old.thread}}}
    child = CodexFile(v7(5000, 9), "0.136.0", forked_from_id=old.thread, source=spawn, created=5000)
    child.turn(v7(5001, 5)).typed("task").said("assistant", "done").count((100, 0, 10), (100, 0, 10))
    found = ledger(old, child)

    assert by_session(found) == {old.thread: 110, child.thread: 110}
    assert found.sessions[child.thread].parent == old.thread
    assert marks(found) == {"prompt": 1, "answer": 2}
    assert [c.sample.sidechain for c in found.samples] == [False, True]


@pytest.mark.parametrize("metas", [True, False])
@pytest.mark.parametrize("known", [True, False], ids=["parent here", "parent gone"])
def test_without_turn_ids_the_leading_counts_are_compared_with_the_parents(metas, known):
    old = parent(v4(1))
    fork = CodexFile(v4(2), forked_from_id=old.thread, created=50_000).copied(old.lines[0 if metas else 1 :], 50_010)
    fork.typed("own", 9000).said("assistant", "own answer", 900).count((300, 0, 30), (100, 0, 10))
    found = ledger(*([old] if known else []), fork)

    assert by_session(found)[fork.thread] == 110
    assert marks(found) == {"prompt": 3 if known else 1, "answer": 3 if known else 1}


def test_a_backtrack_names_no_fork_and_its_total_begins_again():
    """0.58: the copied session_meta alone tells."""
    found = fixture("rollout-2025-11-14T10-00-00", "rollout-2025-11-14T10-30-00")

    assert sorted(by_session(found).values()) == [1209, 5700]
    assert marks(found)["prompt"] == 3


def test_the_burst_is_not_believed_against_the_parents_file():
    """The first own call came at once, in the same burst as the copy."""
    old = parent(v4(1))
    fork = CodexFile(v4(2), created=50_000).copied(old.lines, 50_010)
    fork.typed("own", 10).said("assistant", "own answer", 10).count((300, 0, 30), (100, 0, 10), 10)
    found = ledger(old, fork)

    assert by_session(found) == {old.thread: 220, fork.thread: 110}
    assert marks(found) == {"prompt": 3, "answer": 3}


def test_copies_with_their_own_times_are_older_than_the_thread():
    old = parent(v4(1))
    fork = CodexFile(v4(2), created=50_000)
    fork.lines += old.lines
    fork.at = 50_000
    fork.typed("own", 100).said("assistant", "own answer", 50).count((300, 0, 30), (100, 0, 10), 50)

    assert by_session(ledger(fork)) == {fork.thread: 110}
    assert marks(ledger(fork)) == {"prompt": 1, "answer": 1}


def test_a_foreign_session_meta_in_mid_file_names_no_ancestor():
    file = parent(v4(1)).add("session_meta", {"id": v4(9)}).count((300, 0, 30), (100, 0, 10))

    assert tokens(ledger(file)) == 330


def test_siblings_with_equal_numbers_are_both_counted():
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": v7(0)}}}
    a, b = (CodexFile(v7(n, n), source=spawn).turn(v7(n + 1, n)).count((100, 0, 10), (100, 0, 10)) for n in (5, 6))

    assert tokens(ledger(a, b)) == 220


def test_a_subagent_whose_first_call_costs_what_its_parents_did_is_no_copy():
    old = parent(v4(1))
    child = CodexFile(v4(2), source={"subagent": {"thread_spawn": {"parent_thread_id": old.thread}}})
    child.said("user", "task", 800).count((100, 0, 10), (100, 0, 10)).count((250, 0, 25), (150, 0, 15))

    assert by_session(ledger(old, child)) == {old.thread: 220, child.thread: 275}


def test_turn_ids_that_tell_no_time_are_looked_for_in_the_parents_file():
    old = parent(v4(1), turns=(v4(11), v4(12)))
    child = CodexFile(v4(2), forked_from_id=old.thread, created=50_000).copied(old.lines[1:], 50_200)
    child.turn(v4(13), 3000).typed("own").count((300, 0, 30), (100, 0, 10))
    found = ledger(child, old)

    assert by_session(found) == {old.thread: 220, child.thread: 110}
    assert marks(found) == {"prompt": 3, "answer": 2}


def test_an_old_subagent_that_was_resumed_keeps_its_work_without_turn_ids():
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": v7(0)}}}
    child = CodexFile(v7(5000, 9), "0.98.0", source=spawn).said("user", "task", 900).count((100, 0, 10), (100, 0, 10))
    child.turn(v7(90_000, 7)).count((150, 0, 15), (50, 0, 5))

    assert tokens(ledger(child)) == 165


def test_a_circle_of_forks_does_not_hang():
    a, b = (
        CodexFile(v4(1), forked_from_id=v4(2)).count((1, 0, 1), None),
        CodexFile(v4(2), forked_from_id=v4(1)).count((1, 0, 1), None),
    )

    assert tokens(ledger(a, b)) == 2


# -- segments and twins


@pytest.mark.parametrize(
    "other",
    [
        {"folder": "archived_sessions"},
        {"suffix": ".jsonl.zst"},
        {"folder": "archived_sessions", "suffix": ".jsonl.zst"},
    ],
    ids=str,
)
def test_twins_count_once_and_the_plain_one_in_sessions_stands(other):
    plain, twin = parent(v4(1)), parent(v4(1), **other)
    found = ledger(twin, plain)

    assert tokens(found) == 220
    assert marks(found) == {"prompt": 2, "answer": 2}
    assert {counted.path for counted in found.samples} == {plain.path}
    assert [(path, left.reason, left.instead[0]) for path, left in found.left] == [
        (twin.path, "twin file", plain.path)
    ] * 2


def test_what_only_the_longer_twin_holds_counts_too():
    short, long = (
        parent(v4(1)),
        parent(v4(1), folder="archived_sessions").typed("more").count((300, 0, 30), (100, 0, 10)),
    )
    found = ledger(short, long)

    assert tokens(found) == 330
    assert marks(found) == {"prompt": 3, "answer": 2}


def test_a_segment_after_a_revert_belongs_to_the_thread_and_counts_beside_it():
    old = parent(v7(0), version="0.169.0", turns=(v7(1000, 1), v7(2000, 2)))
    base = {"thread_id": old.thread, "end_ordinal_exclusive": 7}
    again = CodexFile(old.thread, "0.169.0", segment=v7(40_000, 5), history_base=base)
    turn = v7(41_000, 6)
    again.turn(turn).record(turn, "r9", (70, 0, 7)).count((170, 0, 17), (70, 0, 7)).typed("edited")
    found = ledger(old, again)

    assert by_session(found) == {old.thread: 297}
    assert len(found.sessions) == 1
    assert marks(found) == {"prompt": 3, "answer": 2}


# -- the rest


def test_the_time_of_a_uuid7_and_of_no_other():
    assert born(v7(0)) == BASE
    assert born(v4(1)) is born("external-import-turn-1") is born("") is born("x" * 36) is None


def test_an_imported_session_spent_nothing_here():
    file = CodexFile(v7(0), "0.169.0").event("task_started", turn_id="external-import-turn-1").typed("from elsewhere")
    file.count((0, 0, 0, 0, 18), (0, 0, 0, 0, 18))
    found = ledger(file)

    assert (tokens(found), reasons(found)) == (0, ["estimate after compaction"])


def test_a_file_without_line_1_is_the_thread_it_is_named_for():
    data = parent(v7(0)).data.split(b"\n", 1)[1]
    where = Place(name="x", stem=f"rollout-2026-11-30T10-00-00-{v7(0)}")
    work = fold(where, parse("codex", data, place=where, codex_usage="all").items)

    assert list(work.sessions) == [v7(0)]
    assert len(work.samples) == 2
