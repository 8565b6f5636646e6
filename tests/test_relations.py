"""How records point at each other: a pure function over the events of one file."""

import time

import pytest

from turnlog.errors import FaultKind, LineFault
from turnlog.formats.base import TransactionRule, TreeRule
from turnlog.model import BranchSummary, Compaction, ContextEdit, Custom, Label, Message, Meta, Record, SessionName
from turnlog.views.relations import links, relations

ALONE = TreeRule(id="id")
ACROSS = TreeRule(id="id", across=True)


class File:
    """Events of one file, a line each."""

    def __init__(self):
        self.items = []
        self.line = 0

    def head(self, key, parent, session="s"):
        self.line += 1
        return Record(self.line, self.line * 10, self.line * 10 + 10, "x", None, None, session, key, parent)

    def say(self, key, parent=None, session="s", event=Message, **fields):
        self.items.append(event(self.head(key, parent, session), 1, **fields))
        return self

    def fault(self, recovered=0):
        self.line += 1
        at = self.line * 10
        self.items.append(LineFault(FaultKind.INVALID_JSON, self.line, at, at + 10, recovered=recovered))
        return self


def told(file, tree=ALONE, own=None, transaction=None, **more):
    """(kind, line, note) of what is certain, and of what another file may settle."""
    certain, open_ = relations(links(file.items, tree, transaction), tree, own, **more)
    return [(r.kind, r.line, r.note) for r in certain], [(o.id, o.relation.kind) for o in open_]


def test_a_whole_tree_has_nothing_to_say():
    assert told(File().say("a").say("b", "a").say("c", "a").say("d", "")) == ([], [])


def test_a_parent_may_stand_later_in_the_file():
    assert told(File().say("b", "a").say("a")) == ([], [])


def test_a_circle_is_told_once_at_its_first_line():
    file = File().say("start").say("a", "c").say("b", "a").say("c", "b").say("d", "c").say("e", "d")

    assert told(file) == ([("cycle", 2, False)], [])


def test_a_record_that_is_its_own_parent_is_told():
    assert told(File().say("a", "a").say("b", "a")) == ([("self-parent", 1, False)], [])


def test_two_circles_are_two():
    file = File().say("a", "b").say("b", "a").say("c", "d").say("d", "c")

    assert told(file) == ([("cycle", 1, False), ("cycle", 3, False)], [])


@pytest.mark.parametrize("shape", ["chain", "ring", "star"])
def test_thirty_thousand_records_are_walked_once_each(shape):
    file, count = File(), 30_000
    for n in range(count):
        parent = {"chain": n - 1, "ring": (n + 1) % count, "star": 0}[shape]
        file.say(f"k{n}", f"k{parent}" if n or shape == "ring" else None, session=f"s{n % 2}")
    begin = time.perf_counter()

    kinds = [kind for kind, _, note in told(file)[0] if not note]

    assert kinds == (["cycle"] if shape == "ring" else [])
    assert time.perf_counter() - begin < 10


def test_a_parent_that_was_never_written_is_told_at_each_child():
    file = File().say("a").say("b", "gone").say("c", "gone")

    assert told(file) == ([("missing-parent", 2, False), ("missing-parent", 3, False)], [])


def test_another_file_may_hold_the_parent_where_the_agent_has_it_so():
    assert told(File().say("b", "a"), ACROSS) == ([], [("a", "missing-parent")])


def test_a_parent_that_may_be_an_unreadable_record_is_a_note():
    assert told(File().say("a").fault().say("c", "b"))[0] == [("missing-parent", 3, True)]
    assert told(File().say("a").say("c", "b").fault())[0] == [("missing-parent", 2, False)]


def test_a_line_that_was_read_all_the_same_hides_no_parent():
    assert told(File().say("a").fault(recovered=1).say("c", "b"))[0] == [("missing-parent", 3, False)]


def test_a_parent_that_may_have_lost_its_id_is_a_note():
    assert told(File().say(None).say("b", "a"))[0] == [("missing-parent", 2, True)]


def test_a_record_that_says_no_event_can_be_a_parent():
    assert told(File().say("b", "a"), known={"a"}) == ([], [])


@pytest.mark.parametrize(
    "event, fields, note",
    [
        (Label, {"target_id": "gone"}, False),
        (ContextEdit, {"target_id": "gone"}, False),
        (Compaction, {"first_kept": "gone"}, False),
        (BranchSummary, {"from_id": "gone"}, True),
        (SessionName, {"leaf_id": "gone"}, True),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_a_target_that_is_not_here_is_told(event, fields, note):
    assert told(File().say("a").say("b", "a", event=event, **fields))[0] == [("missing-target", 2, note)]
    here = dict.fromkeys(fields, "a")
    assert told(File().say("a").say("b", "a", event=event, **here)) == ([], [])


def test_what_is_written_again_alike_is_one_note_with_its_count():
    file = File().say("a").say("b", "a").say("a").say("b", "a")
    (relation,), _ = relations(links(file.items, ALONE), ALONE)

    assert (relation.kind, relation.line, relation.to_line, relation.count, relation.note) == (
        "duplicate-id",
        3,
        1,
        2,
        True,
    )


def test_another_record_of_the_same_id_is_wrong():
    assert told(File().say("a").say("b", "a").say("b"))[0] == [("duplicate-id", 3, False)]
    assert told(File().say("a").say("a"), alike=lambda a, b: False)[0] == [("duplicate-id", 2, False)]


def test_of_two_records_of_one_id_the_last_one_makes_the_circle():
    kinds = [kind for kind, _, _ in told(File().say("a").say("b", "a").say("a", "b"))[0]]

    assert sorted(kinds) == ["cycle", "duplicate-id"]


def test_a_past_in_another_session_is_a_note():
    file = File().say("a", session="old").say("b", "a", session="old").say("c", "b", session="new")

    assert told(file, own="new")[0] == [("cross-session", 1, True)]


def test_a_past_before_a_compaction_is_joined_by_it():
    tree = TreeRule(id="id", joined="from")
    file = File().say("a", session="old")
    file.say("c", session="new", event=Compaction, facts={"from": "a"})

    assert told(file, tree, own="new")[0] == [("cross-session", 1, True)]


def test_a_record_of_another_session_that_is_joined_to_nothing_does_not_belong():
    file = File().say("a", session="mine").say("x", session="theirs").say("b", "a", session="mine")

    assert told(file, own="mine")[0] == [("cross-session", 2, False)]
    assert told(file, own="neither")[0] == [("cross-session", 2, True)]


def test_an_append_without_its_end_is_told_where_it_began():
    rule = TransactionRule(begin="begin", committed="done")
    file = File().say(None)
    file.say(None, event=Custom, name="begin").say(None).say(None, event=Meta, facts={"done": True})
    file.say(None, event=Custom, name="begin").say(None).say(None)
    certain, _ = relations(links(file.items, None, rule), None)

    assert [(r.kind, r.line, r.count, r.note) for r in certain] == [("uncommitted", 5, 2, False)]


def test_an_append_that_another_begins_over_is_told_too():
    rule = TransactionRule(begin="begin", committed="done")
    file = File().say(None, event=Custom, name="begin").say(None)
    file.say(None, event=Custom, name="begin").say(None).say(None, event=Meta, facts={"done": True})
    file.say(None, event=Custom, name="begin")
    certain, _ = relations(links(file.items, None, rule), None)

    assert [(r.line, r.count, r.note) for r in certain] == [(1, 1, False), (6, 0, True)]


def test_an_agent_without_a_tree_has_no_parents_to_miss():
    assert told(File().say("a", "gone").say("a", "a"), None) == ([], [])
