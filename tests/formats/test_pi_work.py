"""The work Pi's files say was done: every entry of every branch once, by its id, time and type (sheet PI 10)."""

import pytest

from homes import BASE, PiFile, by_session, iso, ledger, left_for, marks, pi_usage, tokens

COPY = "the same call, copied into another file"


def counts(found):
    return [counted.sample.counts.total for counted in found.samples]


def test_every_kind_of_usage_counts_and_every_branch():
    file = PiFile("s").typed("e1").answer("e2", (1, 1)).answer("e3", (2, 2), stop="error")
    file.add("e4", "message", message={"role": "toolResult", "toolCallId": "c", "content": [], "usage": pi_usage(4, 4)})
    file.add("e5", "compaction", parent="e2", summary="s", firstKeptEntryId="e1", tokensBefore=9, usage=pi_usage(8, 8))
    file.add("e6", "branch_summary", parent="e2", summary="s", fromId="e3", usage=pi_usage(16, 16))
    file.add("e7", "usage", kind="cache_warm", provider="p", model="m", usage=pi_usage(32, 32))
    found = ledger(file)

    assert counts(found) == [2, 4, 8, 16, 32, 64]
    assert found.left == []


def test_what_stands_inside_a_count_is_not_added():
    usage = {**pi_usage(1, 20, 3, 40), "reasoning": 15, "cacheWrite1h": 30, "totalTokens": 999}
    file = PiFile("s").add("e1", "message", message={"role": "assistant", "content": [], "usage": usage})

    assert tokens(ledger(file)) == 64


def test_an_aborted_answer_is_at_least_what_it_says():
    found = ledger(PiFile("s").answer("e1", (1, 1), stop="aborted").answer("e2", (1, 1)))

    assert [counted.sample.lower_bound for counted in found.samples] == [True, False]


def test_a_fork_points_at_the_entries_it_copied():
    old = PiFile("b").typed("e1").answer("e2", (10, 1)).answer("e3", (20, 2))
    fork = PiFile("a", at=90_000, parentSession=old.path).copied(old.lines[1:3]).answer("f1", (5, 5))
    found = ledger(fork, old)

    assert by_session(found) == {"b": 33, "a": 10}
    assert left_for(found) == {(fork.path, 3): (COPY, (old.path, 3))}
    assert marks(found) == {"prompt": 1, "answer": 3}


def test_a_clone_is_younger_than_what_it_is_a_clone_of():
    """It holds nothing of its own, and comes first by name."""
    old = PiFile("b").answer("e1", (1, 1))
    clone = PiFile("a", at=90_000, parentSession=old.path).copied(old.lines[1:])

    assert by_session(ledger(clone, old)) == {"b": 2}


def test_a_session_that_was_imported_again_adds_nothing():
    """The same session id, another file."""
    file, again = PiFile("s").answer("e1", (1, 1)), PiFile("s").answer("e1", (1, 1))
    again.path = again.path.replace("--p--", "--q--")
    found = ledger(file, again)

    assert tokens(found) == 2
    assert left_for(found) == {(again.path, 2): (COPY, (file.path, 2))}


@pytest.mark.parametrize("other", [{"at": 60_000}, {"type": "usage"}])
def test_an_id_alone_is_too_short(other):
    """Eight digits over unrelated files: another time or another type is another entry."""
    one = PiFile("a").answer("e1", (1, 1))
    two = PiFile("b", at=other.get("at", 0)).answer("e1", (1, 1))
    if "type" in other:
        del two.lines[1]["message"]
        two.lines[1] |= {"type": other["type"], "usage": pi_usage(1, 1)}

    assert tokens(ledger(one, two)) == 4


def test_a_time_that_is_a_number_tells_entries_apart_too():
    one, two = PiFile("a").answer("e1", (1, 1)), PiFile("b").answer("e1", (1, 1))
    one.lines[1]["timestamp"], two.lines[1]["timestamp"] = BASE, BASE + 1

    assert tokens(ledger(one, two)) == 4
    two.lines[1]["timestamp"] = BASE
    assert tokens(ledger(one, two)) == 2


def test_an_entry_without_an_id_is_known_by_its_place():
    file = PiFile("a").answer("e1", (1, 1)).answer("e2", (1, 1))
    for line in file.lines[1:]:
        del line["id"]

    assert tokens(ledger(file)) == 4


# -- version 1: no ids


def flat(session, *, at=0, branched=None):
    return PiFile(session, version=None, at=at, **({"branchedFrom": branched} if branched else {}))


def without_ids(file):
    for line in file.lines[1:]:
        line.pop("id", None)
        line.pop("parentId", None)
    return file


def test_a_branch_of_version_1_points_at_its_parents_entries():
    old = without_ids(flat("b").typed("x").answer("x", (10, 1)).answer("x", (20, 2)))
    branch = flat("a", at=90_000, branched=old.path).copied(old.lines[1:3])
    without_ids(branch.answer("x", (5, 5)))
    found = ledger(branch, old)

    assert by_session(found) == {"b": 33, "a": 10}
    assert left_for(found) == {(branch.path, 3): (COPY, (old.path, 3))}


def test_a_migrated_copy_points_at_the_file_it_is_of():
    old = without_ids(flat("s").answer("x", (10, 1)).answer("x", (20, 2)))
    new = PiFile("s", at=0).answer("r1", (10, 1)).answer("r2", (20, 2))
    new.path = new.path.replace("/s.", "/t.")
    found = ledger(new, old)

    assert tokens(found) == 33
    assert sorted(place[1][0] for place in left_for(found).values()) == [old.path] * 2


@pytest.mark.parametrize("changed", [{"model": "n"}, {"usage": (10, 2)}, {"at": 1}])
def test_of_a_branch_only_equal_time_and_content_is_a_copy(changed):
    old = without_ids(flat("b").answer("x", (10, 1)))
    branch = flat("a", at=changed.get("at", 0), branched=old.path)
    branch.answer("x", changed.get("usage", (10, 1)), model=changed.get("model", "m"))

    assert len(ledger(old, without_ids(branch)).samples) == 2


def test_equal_entries_of_one_flat_file_stay_two_and_their_copies_add_none():
    def twice(file):
        file.answer("x", (1, 1)).answer("x", (1, 1))
        file.lines[-1]["timestamp"] = file.lines[-2]["timestamp"]
        return without_ids(file)

    old = twice(flat("b"))

    copied = twice(flat("a", branched=old.path))
    copied.lines[0]["timestamp"] = iso(90_000)

    assert len(ledger(old).samples) == 2
    assert len(ledger(old, copied).samples) == 2
    del old.lines[2]
    assert len(ledger(old, copied).samples) == 2, "one of them is new"


def test_flat_files_of_no_common_line_are_never_compared():
    one, two = (without_ids(flat(name).answer("x", (1, 1))) for name in ("a", "b"))

    assert tokens(ledger(one, two)) == 4
