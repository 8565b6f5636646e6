"""The tree of a session's records: a pure function over events."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reading import parse
from turnlog.formats import FORMATS, place_of
from turnlog.formats.base import TreeRule
from turnlog.model import Compaction, Custom, Label, Message, Record, SessionName, ToolCall, ToolResult, Turn
from turnlog.views.threads import TURNS, Segment, lineage, thread_node, turns_as_nodes
from turnlog.views.tree import tree

ALONE = TreeRule(id="id")
ACROSS = TreeRule(id="uuid", across=True, joined="from", parallel=True, first_place=True)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class File:
    """Records of one file, a line each."""

    def __init__(self):
        self.items = []
        self.line = 0

    def head(self, key, parent, at=None, side=False, kind="message"):
        self.line += 1
        when = NOON + timedelta(seconds=at if at is not None else self.line)
        return Record(
            self.line, self.line * 10, self.line * 10 + 10, kind, when, None, "s", key, parent, sidechain=side
        )  # fmt: skip

    def says(self, key, parent=None, author="human", answer=None, at=None, side=False):
        role = "assistant" if author == "agent" else "user"
        self.items.append(
            Message(self.head(key, parent, at, side), 1, role, f"{key} says", author, message_id=answer)
        )  # fmt: skip
        return self

    def calls(self, key, parent, call, answer):
        self.says(key, parent, "agent", answer)
        self.items.append(ToolCall(self.items[-1].record, 3, call, "Read"))
        return self

    def gives(self, key, parent, call):
        self.says(key, parent, "tool")
        self.items.append(ToolResult(self.items[-1].record, 3, call, "fine"))
        return self

    def notes(self, key, parent, event=Custom, **fields):
        self.items.append(event(self.head(key, parent), 1, **fields))
        return self

    def tree(self, rule=ALONE, **more):
        return tree(self.items, rule, **more)


def states(view):
    return {key: node.state for key, node in view.nodes.items()}


def test_the_leaf_is_the_last_record_and_the_branch_leads_to_it_from_the_root():
    view = File().says("a").says("b", "a").says("c", "b").says("d", "a").says("e", "d").tree()

    assert view.leaf == "e"
    assert view.branch == view.path("e") == ["a", "d", "e"]
    assert view.roots == ["a"]
    assert sorted(view.tips) == ["c", "e"]
    assert states(view) == {"a": "active", "b": "left", "c": "left", "d": "active", "e": "active"}
    assert [view.nodes[key].depth for key in "abcde"] == [0, 1, 2, 1, 2]


def test_a_parent_may_stand_later_in_the_file():
    view = File().says("b", "a").says("a").says("c", "b").tree()

    assert view.branch == ["a", "b", "c"]
    assert view.problems == []


def test_children_are_told_the_oldest_first_and_a_subtree_before_the_next_child():
    view = File().says("a").says("late", "a", at=50).says("early", "a", at=20).says("deep", "early", at=30).tree()

    assert list(view.walk()) == ["a", "early", "deep", "late"]


def test_children_of_unknown_times_stay_in_the_order_of_the_file():
    file = File().says("a").says("b", "a", at=50).says("c", "a", at=20)
    file.items[1].record.at = None

    assert list(file.tree().walk()) == ["a", "b", "c"]


def test_the_last_label_of_a_target_wins_and_blank_clears_it():
    file = File().says("a").says("b", "a")
    for n, (target, text) in enumerate([("a", "one"), ("a", "two"), ("b", "x"), ("b", ""), ("gone", "kept")]):
        file.notes(f"l{n}", "b", Label, target_id=target, text=text)
    file.notes("l9", "b", Label, target_id="gone", text=None)

    view = file.tree()

    assert view.labels == {"a": "two"}
    assert view.leaf == "l9"


def test_the_last_name_wins_over_all_branches_and_blank_clears_it():
    file = File().says("a").notes("n1", "a", SessionName, text="first").says("b", "a")

    assert file.tree().name == "first"
    assert file.notes("n2", "b", SessionName, text="").tree().name is None


def test_an_orphan_is_a_root_and_told():
    view = File().says("a").says("b", "gone").says("c", "b").tree()

    assert view.roots == ["a", "b"]
    assert view.orphans == ["b"]
    assert view.branch == ["b", "c"]
    assert [(p.kind, p.line) for p in view.problems] == [("missing-parent", 2)]


def test_a_circle_is_cut_at_its_first_line_and_told_once():
    view = File().says("a", "b").says("b", "a").says("c", "b").says("d", "c").tree()

    assert view.branch == ["a", "b", "c", "d"]
    assert view.cut == view.roots == ["a"]
    assert view.orphans == []
    assert [(p.kind, p.line) for p in view.problems] == [("cycle", 1)]


def test_a_record_that_is_its_own_parent_is_a_root():
    view = File().says("a", "a").says("b", "a").tree()

    assert view.branch == ["a", "b"]
    assert view.cut == ["a"]
    assert [(p.kind, p.line) for p in view.problems] == [("self-parent", 1)]


def test_of_two_records_of_one_id_the_last_one_stands():
    file = File().says("a").says("b").says("c", "b").says("b", "a")

    view = file.tree()

    assert [(key, node.record.line) for key, node in view.nodes.items()] == [("a", 1), ("c", 3), ("b", 4)]
    assert view.leaf == "b"
    assert view.nodes["c"].depth == 2
    assert [p.kind for p in view.problems] == ["duplicate-id"]


def test_an_agent_that_keeps_the_first_place_of_an_id_is_not_led_back_by_a_copy():
    view = File().says("a", at=1).says("b", "a", at=2).says("a", at=1).tree(ACROSS)

    assert list(view.nodes) == ["a", "b"]
    assert view.leaf == "b"
    assert view.along("b") == ["a", "b"]


@pytest.mark.parametrize("shape", ["chain", "ring", "star", "alone", "backwards", "comb"])
@pytest.mark.parametrize("rule", [ALONE, ACROSS], ids=["plain", "parallel"])
def test_a_hundred_thousand_records_are_walked_without_going_deep(shape, rule):
    count = 100_000 if shape != "star" else 50_000
    parents = {
        "chain": lambda n: n - 1 if n else None,
        "ring": lambda n: (n + 1) % count,
        "star": lambda n: 0 if n else None,
        "alone": lambda n: n,
        "backwards": lambda n: n + 1 if n < count - 1 else None,
        "comb": lambda n: None if n == 0 else n - 1 if n % 2 else max(0, n - 2),
    }[shape]
    file = File()
    for n in range(count):
        parent = parents(n)
        file.says(f"k{n}", None if parent is None else f"k{parent}", at=n)
    begin = time.perf_counter()

    view = file.tree(rule)

    assert time.perf_counter() - begin < 40
    assert sum(1 for _ in view.walk()) == count
    assert view.leaf == f"k{count - 1}"
    assert view.branch[-1] == view.leaf
    assert len(view.branch) == {"chain": count, "comb": count // 2 + 1}.get(shape, 1 if shape[0] in "ab" else 2)


def test_results_of_parallel_calls_hang_beside_their_branch():
    """One answer in two lines with a call each; the next answer hangs on one of the results (sheet CLAUDE_CODE 10)."""
    file = File().says("u").calls("a1", "u", "t1", "m1").calls("a2", "a1", "t2", "m1")
    file.gives("r1", "a1", "t1").gives("r2", "a2", "t2").notes("p", "r1").says("a3", "r2", "agent", "m2")

    view = file.tree(ACROSS)

    assert view.branch == ["u", "a1", "a2", "r2", "a3"]
    assert view.tips == ["a3"]
    assert {key for key, state in states(view).items() if state == "beside"} == {"r1", "p"}
    assert view.along("a3") == ["u", "a1", "a2", "r1", "r2", "p", "a3"]
    assert view.along("r2") == ["u", "a1", "a2", "r1", "r2"]
    assert view.nodes["r1"].results == ("t1",)
    assert view.nodes["a2"].calls == ("t2",)


def test_further_lines_of_an_answer_hang_beside_when_the_talk_goes_on_from_an_earlier_result():
    file = File().says("u").calls("a1", "u", "t1", "m1").calls("a2", "a1", "t2", "m1")
    file.gives("r2", "a2", "t2").gives("r1", "a1", "t1").says("a3", "r1", "agent", "m2")

    view = file.tree(ACROSS)

    assert view.branch == ["u", "a1", "r1", "a3"]
    assert view.tips == ["a3"]
    assert view.along("a3") == ["u", "a1", "a2", "r2", "r1", "a3"]


def test_a_prompt_that_was_rewound_is_a_branch_and_not_beside():
    file = File().says("u1").says("a1", "u1", "agent", "m1").says("u2", "a1").notes("n", "u2")
    file.says("u3", "a1").says("a3", "u3", "agent", "m3")

    view = file.tree(ACROSS)

    assert sorted(view.tips) == ["a3", "n"]
    assert states(view)["u2"] == states(view)["n"] == "left"
    assert view.along("a3") == ["u1", "a1", "u3", "a3"]


def test_where_nothing_hangs_beside_every_child_is_a_branch():
    view = File().says("u").notes("x", "u").says("a", "u", "agent").tree(ALONE)

    assert sorted(view.tips) == ["a", "x"]


def test_subagents_in_the_same_file_stand_aside_and_never_are_the_leaf():
    file = File().says("u").says("a", "u", "agent", "m")
    file.says("t", None, "task", side=True).says("s", "t", "agent", "n", side=True)

    view = file.tree(ACROSS)

    assert view.leaf == "a"
    assert view.roots == ["u", "t"]
    assert view.tips == ["a"]
    assert states(view) == {"u": "active", "a": "active", "t": "side", "s": "side"}


def test_a_subagents_own_file_has_a_leaf():
    view = File().says("t", None, "task", side=True).says("s", "t", "agent", side=True).tree(ACROSS)

    assert view.branch == ["t", "s"]
    assert states(view) == {"t": "active", "s": "active"}


def test_a_compaction_that_begins_a_new_root_hangs_on_what_it_goes_on_from():
    file = File().says("u").says("a", "u", "agent", "m").notes("c", None, Compaction, facts={"from": "a"})
    view = file.says("v", "c").tree(ACROSS)

    assert view.branch == ["u", "a", "c", "v"]
    assert view.roots == ["u"]
    assert [key for key, node in view.nodes.items() if node.joined] == ["c"]


def test_a_compaction_joined_to_what_comes_after_it_makes_no_circle():
    file = File().says("u").notes("c", None, Compaction, facts={"from": "v"}).says("v", "c")
    view = file.tree(ACROSS)

    assert view.branch == ["c", "v"]
    assert [(p.kind, p.line) for p in view.problems] == [("cycle", 2)]


def test_no_record_with_an_id_is_no_tree():
    view = File().says(None).tree()

    assert (view.leaf, view.branch, view.roots, view.tips, view.nodes) == (None, [], [], [], {})


def test_path_of_an_unknown_id_is_the_callers_mistake():
    with pytest.raises(KeyError):
        File().says("a").tree().path("b")


def test_a_record_of_an_unknown_type_is_a_node_of_the_chain():
    record = b'{"type":"%s","uuid":"%s","parentUuid":%s,"sessionId":"s","timestamp":"2026-05-01T10:00:0%d.000Z"%s}\n'
    said = b',"message":{"role":"user","content":"hello"}'
    data = b"".join(
        [
            record % (b"user", b"u1", b"null", 1, said),
            record % (b"thing_to_come", b"x", b'"u1"', 2, b""),
            record % (b"mode", b"y", b'"x"', 3, b""),
            record % (b"user", b"u2", b'"y"', 4, said),
        ]
    )
    found = parse("claude", data, place=place_of("s.jsonl"))

    assert tree(found.items, FORMATS["claude"].tree).branch == ["u1", "x", "y", "u2"]
    assert found.summary.unknown == {"thing_to_come": 1}
    assert found.summary.ignored == {"mode": 1}
    assert [event.kind for event in found.events].count("custom") == 2


KEYS = st.sampled_from([None, *"abcdefgh"])
RECORDS = st.lists(
    st.tuples(
        KEYS, KEYS, st.sampled_from(["human", "agent", "tool"]), st.sampled_from([None, "m1", "m2"]), st.booleans()
    ),
    max_size=14,
)


@given(RECORDS, st.booleans())
@settings(max_examples=300)
def test_whatever_points_at_whatever_each_node_stands_once_and_every_walk_ends(records, parallel):
    file = File()
    for key, parent, author, answer, side in records:
        file.says(key, parent, author, answer, side=side)
    view = file.tree(ACROSS if parallel else ALONE)
    walked = list(view.walk())

    assert sorted(walked) == sorted(view.nodes) == sorted({key for key, *_ in records if key is not None})
    for key in walked:
        path = view.path(key)
        assert path[0] in view.roots
        assert len(path) == len(set(path)) == view.nodes[key].depth + 1
        assert set(path) <= set(view.along(key)) | {
            one for one in path if view.nodes[one].place > view.nodes[key].place
        }
    assert view.branch == (view.path(view.leaf) if view.leaf is not None else [])
    assert {key for key, state in states(view).items() if state == "active"} == set(view.branch)
    assert set(view.orphans) | set(view.cut) <= set(view.roots)
    assert len(set(view.tips)) == len(view.tips)
    assert view.leaf is None or view.leaf in view.tips
    assert {states(view)[key] for key in view.tips} <= {"active", "left"}


class Talk(File):
    """Records without ids: turns, in frames or not."""

    def turn(self, state, turn=None, **fields):
        return self.notes(None, None, Turn, state=state, turn_id=turn, **fields)


def turns(talk, *segments):
    """Id to parent of each node, the view, and the file of each id."""
    items, leaf, where = turns_as_nodes([Segment(talk.items), *segments], "thread")
    view = tree([thread_node("thread", None, "session"), *items], TURNS, leaf=leaf)
    return {key: node.parent for key, node in view.nodes.items()}, view, where


def test_each_turn_goes_on_from_the_one_before():
    talk = Talk().turn("started", "t1").says(None).says(None, None, "agent").turn("completed", "t1")
    nodes, view, _ = turns(talk.turn("started", "t2").says(None))

    assert nodes == {"thread": None, "t1": "thread", "t2": "t1"}
    assert view.branch == ["thread", "t1", "t2"]
    assert [view.nodes[key].event.kind for key in ("t1", "t2")] == ["message", "message"]


def test_turns_that_were_taken_back_are_a_branch_and_the_leaf_is_the_last_that_stands():
    talk = Talk().turn("started", "t1").says(None).turn("started", "t2").says(None).turn("rolled_back", count=1)

    nodes, view, _ = turns(talk)
    assert view.leaf == "t1"
    assert view.tips == ["t1", "t2"]

    nodes, view, _ = turns(talk.turn("started", "t3").says(None))
    assert nodes == {"thread": None, "t1": "thread", "t2": "t1", "t3": "t1"}
    assert view.branch == ["thread", "t1", "t3"]


def test_a_compaction_between_turns_is_taken_back_with_them():
    talk = Talk().turn("started", "t1").notes(None, None, Compaction).turn("started", "t2").turn("rolled_back", count=2)
    nodes, view, _ = turns(talk)

    assert nodes == {"thread": None, "t1": "thread", "compact-2": "t1", "t2": "compact-2"}
    assert view.leaf == "thread"


def test_without_frames_a_prompt_opens_a_turn():
    nodes, _, _ = turns(Talk().says(None).says(None, None, "agent").says(None, None, "injected").says(None))

    assert nodes == {"thread": None, "turn-1": "thread", "turn-4": "turn-1"}


def test_a_turn_of_another_session_that_is_mirrored_is_no_turn_of_this_one():
    talk = Talk().turn("started", "t1").turn("started", "review", facts={"parent_turn_id": "t1"})
    nodes, _, _ = turns(talk.turn("completed", "review").turn("started", "t2"))

    assert nodes == {"thread": None, "t1": "thread", "t2": "t1"}


def test_a_file_after_a_revert_goes_on_from_the_byte_it_names():
    first = Talk().turn("started", "t1").says(None).turn("started", "t2").says(None)
    second = Talk().turn("started", "t3").says(None)

    nodes, view, where = turns(first, Segment(second.items, 0, 30))

    assert nodes == {"thread": None, "t1": "thread", "t2": "t1", "t3": "t1"}
    assert view.leaf == "t3"
    assert where == {"t1": 0, "t2": 0, "t3": 1}


def test_two_turns_of_one_id_are_two_nodes():
    nodes, _, _ = turns(Talk().turn("started", "t").turn("started", "t").turn("started", "thread"))

    assert nodes == {"thread": None, "t": "thread", "t-2": "t", "thread-2": "t-2"}


def test_the_sessions_around_one_are_those_it_comes_from_and_those_that_come_from_it():
    parents = {"root": None, "own": "root", "child": "own", "grand": "child", "aunt": "root", "other": None}

    assert list(lineage("own", parents)) == ["root", "own", "child", "grand"]


def test_sessions_that_come_from_each_other_end():
    assert set(lineage("a", {"a": "b", "b": "a", "c": "c"})) == {"a", "b"}
    assert list(lineage("c", {"c": "c"})) == ["c"]
