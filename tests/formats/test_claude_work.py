"""The work Claude Code's files say was done: a call once over all files, by its message id (sheet CLAUDE_CODE 3 and 14)."""

import pytest

from homes import ClaudeFile, by_session, iso, ledger, left_for, marks, reasons, tokens

SAME_LINE = "the same call on another line"
SAME_FILE = "the same call, copied into another file"

A, B = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"


def counts(found):
    return [
        (c.sample.counts.input, c.sample.counts.output, c.sample.counts.cache_read, c.sample.counts.cache_write)
        for c in found.samples
    ]


def times(found):
    return [c.sample.at.isoformat(timespec="milliseconds").replace("+00:00", "Z") for c in found.samples]


# -- one call, several lines


def test_the_lines_of_one_answer_are_one_call_and_each_other_line_points_at_the_first():
    file = ClaudeFile(A).typed("go").answer("m1", (10, 20, 30, 40)).answer("m1", (10, 20, 30, 40))
    file.typed("result").answer("m1", (10, 20, 30, 40))
    found = ledger(file)

    assert counts(found) == [(10, 20, 30, 40)]
    assert left_for(found) == {(file.path, line): (SAME_LINE, (file.path, 2)) for line in (3, 5)}
    assert marks(found) == {"prompt": 2, "answer": 1}


@pytest.mark.parametrize("outs", [(5, 5, 201), (201, 5, 5), (5, 201, 5)])
def test_each_part_counts_at_its_greatest_whichever_line_has_it(outs):
    file = ClaudeFile(A, version="2.1.69")
    for n, out in enumerate(outs):
        file.answer("m1", (n, out, 10 - n, 100 * n))

    assert counts(ledger(file)) == [(2, 201, 10, 200)]


def test_a_part_that_one_line_does_not_know_is_known_by_the_other():
    file = ClaudeFile(A).answer("m1", {"input_tokens": 3}).answer("m1", {"output_tokens": 4})

    assert counts(ledger(file)) == [(3, 4, None, None)]


def test_calls_with_equal_numbers_are_not_the_same_call():
    assert tokens(ledger(ClaudeFile(A).answer("m1", (1, 1)).answer("m2", (1, 1)))) == 4


def test_a_request_id_makes_no_difference():
    """1.0.96 takes it from copies, and one answer may carry two (trap 4)."""
    file = ClaudeFile(A).answer("m1", (1, 1), request="r1").answer("m1", (1, 1), request="r2")

    assert tokens(ledger(file.answer("m1", (1, 1), request=None))) == 2


# -- without an id


def test_an_answer_without_an_id_is_known_by_file_and_uuid():
    """A gateway that leaves ids out: a line written twice counts once, in another file it is another answer."""
    one = ClaudeFile(A).answer(None, (1, 2), uuid="u").answer(None, (1, 5), uuid="u").answer(None, (1, 2), uuid="v")
    other = ClaudeFile(B).answer(None, (1, 2), uuid="u")
    found = ledger(one, other)

    assert sorted(counts(found)) == [(1, 2, None, None), (1, 2, None, None), (1, 5, None, None)]
    assert left_for(found) == {(one.path, 2): (SAME_LINE, (one.path, 1))}
    assert marks(found) == {"answer": 3}


def test_an_answer_without_any_id_is_known_by_its_place():
    file = ClaudeFile(A).answer(None, (1, 2), uuid="u").answer(None, (1, 2), uuid="v")
    for line in file.lines:
        del line["uuid"]

    assert tokens(ledger(file)) == 6


# -- over files


def test_a_resumed_copy_counts_where_and_when_the_call_was_made():
    """1.0.96: another session, the moment of resuming as time, and no request id."""
    old = ClaudeFile(A, version="1.0.96").typed("go", uuid="u1").answer("m1", (10, 20), uuid="u2")
    new = ClaudeFile(B, version="1.0.96", at=600_000)
    new.copied(old.lines, sessionId=B, timestamp=iso(600_000), requestId=None).answer("m2", (1, 1))
    found = ledger(new, old)

    assert by_session(found) == {A: 30, B: 2}
    assert sorted(times(found)) == [iso(1000), iso(600_000)]
    assert left_for(found) == {(new.path, 2): (SAME_FILE, (old.path, 2))}
    assert marks(found) == {"prompt": 1, "answer": 2}


def test_the_earliest_time_of_all_copies_is_the_calls():
    """Whichever file is the elder: the clock may have been set back in between."""
    old = ClaudeFile(A, at=500_000).typed("go", uuid="u0").answer("m1", (1, 1), uuid="u1").typed("own")
    new = ClaudeFile(B, at=900_000).copied(old.lines[:2], sessionId=B, timestamp=iso(400_000)).typed("later")

    (at,) = times(ledger(old, new))

    assert at == iso(400_000)


def test_of_files_with_nothing_of_their_own_the_shorter_is_the_elder():
    """A chain of resumes: each holds all of the one before."""
    one = ClaudeFile(B).typed("a", uuid="u1").answer("m1", (1, 1), uuid="u2")
    two = ClaudeFile(A).copied(one.lines, sessionId=A).typed("b", uuid="u3").answer("m2", (2, 2), uuid="u4")
    three = ClaudeFile("00000000-0000-4000-8000-000000000000")
    three.copied(two.lines, sessionId=three.session).typed("c", uuid="u5").answer("m3", (3, 3), uuid="u6")
    found = ledger(one, two, three)

    assert by_session(found) == {B: 2, A: 4, three.session: 6}


def test_a_copy_says_where_it_is_from():
    """2.1.332: requestSessionId on copied answers, and forkedFrom after /branch."""
    old = ClaudeFile(B).typed("go", uuid="u1").answer("m1", (10, 20), uuid="u2")
    fork = ClaudeFile(A).copied(old.lines, sessionId=A, requestSessionId=B).answer("m2", (1, 1))
    branch = ClaudeFile("cccccccc-0000-4000-8000-000000000003")
    branch.copied(old.lines, sessionId=branch.session, forkedFrom={"sessionId": B, "messageUuid": "u2"})

    assert by_session(ledger(fork, branch, old)) == {B: 30, A: 2}
    # The file that made it may hold it a second time, named as its own
    own = ClaudeFile(B).copied(old.lines, requestSessionId=B)
    assert by_session(ledger(fork, own)) == {B: 30, A: 2}


def test_a_fork_does_not_claim_what_it_says_it_copied_though_the_other_file_went_on_later():
    old = ClaudeFile(B).typed("go", uuid="u1").answer("m1", (10, 20), uuid="u2")
    fork = ClaudeFile(A, at=60_000).copied(old.lines, sessionId=A, requestSessionId=B).answer("m2", (1, 1))
    old.at = 900_000
    found = ledger(fork, old.answer("m3", (2, 2)))

    assert by_session(found) == {B: 34, A: 2}
    assert left_for(found) == {(fork.path, 2): (SAME_FILE, (old.path, 2))}


def test_the_work_of_a_session_whose_file_is_gone_belongs_to_the_session_that_holds_the_copy():
    fork = ClaudeFile(A).answer("m1", (10, 20), requestSessionId=B).answer("m2", (1, 1))
    found = ledger(fork)

    assert by_session(found) == {A: 32}
    assert set(found.sessions) == {A}


@pytest.mark.parametrize("name", ["agent-1", "aa/subagents/agent-1"])
def test_a_subagent_that_was_given_the_parents_answer_counts_its_own_work_only(name):
    """A fork agent replays it with the same id and another uuid; its file may come before the parent's by name."""
    main = ClaudeFile(B).typed("go").answer("m1", (10, 20))
    agent = ClaudeFile(B, name=name).answer("m1", (10, 20), request="other").answer("m2", (1, 1))
    for line in agent.lines:
        line["isSidechain"] = True
    found = ledger(agent, main)

    assert [(c.path, c.sample.sidechain, c.sample.counts.total) for c in found.samples] == [
        (main.path, False, 30),
        (agent.path, True, 2),
    ]
    assert by_session(found) == {B: 32}


def test_branches_that_were_left_were_paid_for():
    file = ClaudeFile(A).typed("a", uuid="u1").answer("m1", (1, 1)).typed("b", uuid="u2")
    file.answer("m2", (2, 2), parentUuid="u1").answer("m3", (3, 3), parentUuid="u1")

    assert tokens(ledger(file)) == 12


def test_work_belongs_to_the_folder_it_was_done_in_and_folders_below_to_their_project():
    """A fork begins with records of another folder; `cd` into one below leaves no project."""
    old = ClaudeFile(A, cwd="/p").answer("m1", (1, 1))
    fork = ClaudeFile(B, cwd="/q").copied(old.lines, sessionId=B).answer("m2", (1, 1))
    fork.answer("m3", (1, 1), cwd="/q/sub").answer("m4", (1, 1), cwd="/q2").answer("m5", (1, 1), cwd="/q")
    windows = ClaudeFile("c", cwd="C:\\r").answer("m6", (1, 1)).answer("m7", (1, 1), cwd="C:\\r\\sub")
    found = ledger(old, fork, windows)

    assert {c.sample.key[1]: c.sample.project for c in found.samples} == {
        "m1": "/p", "m2": "/q", "m3": "/q", "m4": "/q2", "m5": "/q", "m6": "C:\\r", "m7": "C:\\r",
    }  # fmt: skip


# -- advisors


def advised(*calls):
    """A usage with those iterations: (type, model, input, output)."""
    made = [{"type": k, "model": m, "input_tokens": i, "output_tokens": o} for k, m, i, o in calls]
    return {"input_tokens": 10, "output_tokens": 20, "iterations": made}


def test_advisors_count_beside_the_answer_under_their_own_model_and_once():
    usage = advised(
        ("message", "claude-x", 10, 20), ("advisor_message", "claude-y", 3, 4), ("fallback_message", "claude-x", 1, 1)
    )
    file = ClaudeFile(A).answer("m1", usage).answer("m1", usage)
    found = ledger(file)

    assert [(c.sample.model, c.sample.counts.total) for c in found.samples] == [("claude-x", 30), ("claude-y", 7)]
    assert reasons(found) == [SAME_LINE, SAME_LINE]


def test_several_advisors_are_several_calls_however_the_answer_was_split():
    usage = advised(("advisor_message", "claude-y", 3, 4), ("advisor_message", "claude-y", 3, 4))
    file = ClaudeFile(A).answer("m1", usage, blocks=2).answer("m1", usage, blocks=1).answer("m1", usage, blocks=0)

    assert tokens(ledger(file)) == 30 + 7 + 7


# -- what is no call


def test_the_clients_own_lines_are_no_calls_and_stay_with_their_reason():
    file = ClaudeFile(A).answer("s1", (7, 7), model="<synthetic>").answer("m1", (1, 1))
    found = ledger(file)

    assert tokens(found) == 2
    assert left_for(found) == {(file.path, 1): ("no call: the client's own line", None)}
    assert [c.sample.model for c in found.samples] == ["claude-x"]


def test_usage_of_tool_results_progress_and_stored_requests_never_counts():
    spent = {"input_tokens": 50, "output_tokens": 50}
    inner = {"id": "m9", "role": "assistant", "model": "claude-x", "content": [], "usage": spent}
    file = ClaudeFile(A).answer("m1", (1, 1))
    file.typed("result", toolUseResult={"usage": spent, "content": []})
    file.add("progress", data={"type": "agent_progress", "message": {"type": "assistant", "message": inner}})
    file.add("api-request-blob", message=inner)
    found = ledger(file)

    assert tokens(found) == 2
    assert found.left == []
    assert marks(found)["answer"] == 1


def test_cache_writes_are_what_their_two_kinds_add_up_to_where_the_sum_says_less():
    parts = {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 40}
    file = ClaudeFile(A).answer("m1", {"cache_creation_input_tokens": 0, "cache_creation": parts})

    assert counts(ledger(file)) == [(None, None, None, 340)]


# -- output that is a lower bound


@pytest.mark.parametrize(
    "version, at_least",
    [("1.0.38", True), ("2.1.53", True), ("2.1.96", True), ("2.1.97", False), ("2.1.332", False), ("2.2.0", False)],
)
def test_output_before_2_1_97_is_at_least(version, at_least):
    work = ClaudeFile(A, version=version).answer("m1", (1, 1)).work()

    assert (work.at_least, [s.lower_bound for s in work.samples]) == (at_least, [at_least])


def test_output_is_at_least_by_line_where_a_newer_version_went_on():
    old = ClaudeFile(A, version="2.1.96").answer("m1", (1, 1))
    new = ClaudeFile(A, version="2.1.332").copied(old.lines).answer("m2", (1, 1))
    work = new.work()

    assert work.at_least
    assert [c.sample.lower_bound for c in ledger(work).samples] == [True, False]


def test_a_file_without_answers_has_no_output_that_is_at_least():
    assert not ClaudeFile(A, version="1.0.38").typed("go").work().at_least
