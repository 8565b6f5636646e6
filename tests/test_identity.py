"""Which samples are the same work, said with work made by hand: the rules that hold for every agent."""

import itertools
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from turnlog.ledger.identity import merge
from turnlog.tokens import Additive
from turnlog.work import FileWork, Left, Mark, Sample, SessionFacts, Title, spot

START = datetime(2026, 11, 30, 10, tzinfo=UTC)


def minute(n):
    return START + timedelta(minutes=n)


def sample(key, line=1, at=0, session="s", counts=(1, 1, 1, 1), **more):
    at = None if at is None else minute(at)
    return Sample((key,), Additive(*counts), line, line * 100, line * 100 + 90, at, session, "m", **more)


def work(path, *samples, session="s", ids=(), at=0, **more):
    """The work of one file; ids: of its records, a minute apart from `at` on."""
    found = FileWork(path, "agent", {session: SessionFacts(session)}, list(samples), **more)
    found.ids = dict.fromkeys(ids, session)
    found.times = {name: minute(at + n) for n, name in enumerate(ids)}
    return found


def one(found):
    (counted,) = found.samples
    return counted


def test_every_part_is_taken_at_its_greatest_and_the_time_at_its_earliest():
    parts = [(1, None, 3, 4), (None, 9, 2, 4), (5, 1, 1, None)]
    found = one(merge([work("a", *(sample("k", n, 3 - n, counts=part) for n, part in enumerate(parts)))]))

    assert found.sample.counts == Additive(5, 9, 3, 4)
    assert found.sample.at == minute(1)
    assert (found.path, found.sample.line) == ("a", 0), "it stands where its first line does"


def test_a_sample_without_a_time_takes_that_of_another():
    assert one(merge([work("a", sample("k", 1, None), sample("k", 2, 7))])).sample.at == minute(7)


def test_model_and_cost_are_the_first_that_are_said():
    blank, last = sample("k"), sample("k", 3, cost=0.7)
    blank.model, last.model = None, "other"
    found = one(merge([work("a", blank, sample("k", 2, cost=0.5), last)]))

    assert (found.sample.model, found.sample.cost) == ("m", 0.5)


def test_a_doubt_about_one_part_stays():
    doubtful = sample("k")
    doubtful.counts = msgspec.structs.replace(doubtful.counts, flagged=True)

    assert one(merge([work("a", sample("k"), doubtful)])).sample.counts.flagged
    assert not one(merge([work("a", sample("k"), sample("k"))])).sample.counts.flagged


def test_output_that_is_at_least_stays_so_in_a_copy_by_a_newer_client():
    assert one(merge([work("a", sample("k", lower_bound=True)), work("b", sample("k"))])).sample.lower_bound
    assert one(merge([work("b", sample("k")), work("c", sample("k", lower_bound=True))])).sample.lower_bound
    assert not one(merge([work("a", sample("k"), sample("k"))])).sample.lower_bound


def test_what_the_price_depends_on_is_merged_too():
    first, second = sample("k", write_1h=5, searches=2), sample("k", 2, write_1h=7, searches=1, fast=True)
    second.provider, second.tier = "p", "t"
    found = one(merge([work("a", first, second, sample("k", 3))])).sample

    assert (found.write_1h, found.searches, found.fast, found.provider, found.tier) == (7, 2, True, "p", "t")


def test_what_one_file_committed_counts_though_another_did_not():
    open_, done = sample("k", uncommitted=True), sample("k")

    assert not one(merge([work("a", open_), work("b", done)])).sample.uncommitted
    assert one(merge([work("a", open_), work("b", open_)])).sample.uncommitted
    marks = [Mark("prompt", ("k",), 1, uncommitted=uncommitted) for uncommitted in (True, False)]
    found = merge([work("a", marks=marks[:1]), work("b", marks=marks[1:])])
    assert [(counted.path, counted.mark.uncommitted) for counted in found.marks["prompt"]] == [("b", False)]


def test_different_agents_share_nothing():
    other = work("b", sample("k"))
    other.agent = "other"

    assert len(merge([work("a", sample("k")), other]).samples) == 2


# -- whose it is


def test_the_file_whose_own_records_began_earlier_has_the_work_of_both():
    elder = work("z", sample("k", session="old"), session="old", ids=["own", "shared"], at=0)
    copy = work("a", sample("k", session="new"), session="new", ids=["shared", "later"], at=30)
    found = one(merge([copy, elder]))

    assert (found.path, found.sample.session) == ("z", "old")


def test_a_file_that_another_one_holds_whole_is_the_elder():
    whole = work("z", sample("k", session="old"), session="old", ids=["x", "y"], at=5)
    copy = work("a", sample("k", session="new"), session="new", ids=["x", "y", "own"], at=0)

    assert one(merge([copy, whole])).path == "z"


def test_of_files_that_others_hold_whole_the_shorter_is_the_elder():
    """A chain of resumes, each a copy of all before it."""
    one_, two = work("c", sample("k"), ids=["x"]), work("b", sample("k"), ids=["x", "y"])
    three = work("a", sample("k"), ids=["x", "y", "z"], at=0)

    assert one(merge([three, two, one_])).path == "c"


def test_the_time_of_a_record_without_an_id_tells_age_too():
    elder = work("z", sample("k"), ids=["shared"], born=minute(1))
    copy = work("a", sample("k"), ids=["shared"], born=minute(2))

    assert one(merge([copy, elder])).path == "z"


def test_without_shared_records_the_first_path_has_it():
    assert one(merge([work("b", sample("k")), work("a", sample("k", 2, 9))])).path == "a"


def test_a_files_own_word_goes_before_age():
    elder = work("a", sample("k", session="new", own=False), session="new", ids=["own", "shared"])
    copy = work("b", sample("k", session="old", own=True), session="old", ids=["shared", "later"], at=9)

    found = one(merge([elder, copy]))

    assert (found.path, found.sample.session) == ("b", "old")


def test_a_copy_names_the_session_that_made_it_though_its_file_says_nothing():
    silent = work("a", sample("k", session="copy"), session="copy", ids=["own", "shared"])
    named = work("b", sample("k", session="maker", own=False), session="other", ids=["shared"], at=9)
    maker = work("c", session="maker")

    assert one(merge([silent, named, maker])).sample.session == "maker"


def test_the_main_line_has_it_before_a_subagent_that_was_given_it():
    main, given = sample("k", session="s"), sample("k", session="s", sidechain=True)

    assert one(merge([work("a", given), work("b", main)])).path == "b"


def test_work_of_a_session_that_no_file_is_of_stays_where_its_copy_is():
    found = merge([work("a", sample("k", session="gone", own=False), session="here")])

    assert one(found).sample.session == "here"


# -- what does not count


def test_what_does_not_count_stays_with_its_reason_and_what_stands_for_it():
    found = merge([work("a", sample("k", 1), sample("k", 2)), work("b", sample("k", 1))])
    stands = spot("a", one(found).sample)

    assert [(path, left.sample.line, left.reason, left.instead) for path, left in found.left] == [
        ("a", 2, "the same call on another line", stands),
        ("b", 1, "the same call, copied into another file", stands),
    ]


def test_what_a_file_knew_to_be_no_work_stays_too():
    found = merge([work("a", left=[Left(sample("k"), "no call")])])

    assert [(left.reason, left.instead) for _, left in found.left] == [("no call", None)]


def test_what_stands_for_a_sample_counts_itself():
    """A pointer to a sample that is itself left to another is followed to the one that counts."""
    kept, twin, copy = sample("k", 1), sample("k", 1), sample("x", 2)
    first, other = work("a", kept), work("b", twin, left=[Left(copy, "copied", spot("b", twin))])
    found = merge([first, other])

    assert {left.instead for _, left in found.left} == {spot("a", kept)}


def test_pointers_that_go_in_a_circle_or_nowhere_point_at_nothing():
    a, b, c, d = (sample(name, line) for line, name in enumerate("abcd", 1))
    circle = [Left(a, "copied", spot("f", b)), Left(b, "copied", spot("f", a))]
    nowhere = [Left(c, "copied", spot("f", d)), Left(d, "no call")]
    found = merge([work("f", left=[*circle, *nowhere])])

    assert [left.instead for _, left in found.left] == [None] * 4


# -- order


def test_the_order_of_the_files_changes_nothing():
    def files():
        return [
            work("a", sample("k", session="x"), sample("l", 2), session="x", ids=["1", "2"]),
            work("b", sample("k", 1, 5, session="y"), session="y", ids=["1", "3"], at=3),
            work("c", sample("l", 1, 9, counts=(9, 9, 9, 9)), session="z", left=[Left(sample("k"), "no call")]),
        ]

    said = {msgspec.json.encode(merge(list(order))) for order in itertools.permutations(files())}
    fresh = {msgspec.json.encode(merge([files()[n] for n in order])) for order in itertools.permutations(range(3))}

    assert len(said | fresh) == 1


def test_of_equal_titles_the_last_by_path_is_the_sessions_in_any_order():
    files = [work(name, titles=[Title(f"title {name}", 1, "s")]) for name in "ab"]

    assert {merge(list(order)).sessions["s"].title for order in itertools.permutations(files)} == {"title b"}


@pytest.mark.parametrize("many", [5000])
def test_a_long_chain_of_pointers_is_followed(many):
    chain = [sample(n, n) for n in range(many)]
    left = [Left(chain[n], "copied", spot("f", chain[n - 1])) for n in range(1, many)]
    found = merge([work("f", chain[0], left=left)])

    assert {left.instead for _, left in found.left} == {spot("f", chain[0])}
