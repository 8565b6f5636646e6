"""The visible path, taken along with a reading: the tree's own branch, however parents point; and what it costs."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reading import CASES, IDS, parse
from spending import answer, pricer, put, used
from turnlog.contract import Place
from turnlog.formats import FORMATS
from turnlog.formats.base import TreeRule
from turnlog.ledger.scan import SCAN_OPTIONS
from turnlog.model import Compaction, Custom, Record
from turnlog.reader import read
from turnlog.views.tree import tree
from turnlog.views.visible import Visible

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def seen(items, rule):
    """The lines of the path, records one at a time."""
    path, record = Visible(rule), None
    for item in items:
        if item.kind == "fault":
            continue
        if item.record is not record:
            record = item.record
            path.see(record)
        path.join(item)
    return path.lines()


def branch(items, rule):
    """The lines of the tree's branch; of an id that stands twice on it, all."""
    view = tree(items, rule)
    ids = {view.nodes[key].record.id for key in view.branch}
    return {item.record.line for item in items if item.kind != "fault" and item.record.id in ids}


@pytest.mark.parametrize("format, path", CASES, ids=IDS)
def test_the_visible_path_of_every_fixture_is_the_branch_of_its_tree(format, path):
    rule = FORMATS[format].tree
    if rule is None:
        pytest.skip("this agent's records form no tree")
    items = parse(format, path.read_bytes(), place=Place(name=path.name, stem=path.stem)).items

    assert seen(items, rule) == branch(items, rule)


@settings(max_examples=300)
@example([(1, None, False, 0), (2, None, False, 1), (0, 2, False, 0)], False)
@given(
    st.lists(
        st.tuples(st.integers(0, 8), st.one_of(st.none(), st.integers(0, 9)), st.booleans(), st.integers(-3, 9)),
        max_size=14,
    ),
    st.booleans(),
)
def test_the_visible_path_is_the_branch_of_the_tree_whatever_points_at_whatever(drawn, first_place):
    rule = TreeRule(id="id", joined="goes_on_from", first_place=first_place)
    items = []
    for line, (key, parent, sidechain, joined) in enumerate(drawn, 1):
        up = None if parent is None else f"r{parent}"
        record = Record(line, line * 10, line * 10 + 10, "x", id=f"r{key}", parent_id=up, sidechain=sidechain)
        facts = {"goes_on_from": f"r{joined}"}
        items.append(Compaction(record, 0, facts=facts) if joined >= 0 else Custom(record, 0))

    assert seen(items, rule) == branch(items, rule)


def test_a_branch_that_was_left_is_in_the_whole_and_not_in_the_branch(tmp_path):
    calls = [
        answer(1, "s1", NOON, tokens=(100, 0, 0, 0)),
        answer(2, "s1", NOON + timedelta(minutes=1), tokens=(900, 0, 0, 0), parent="u1"),
        answer(3, "s1", NOON + timedelta(minutes=2), tokens=(20, 0, 3, 4), parent="u1"),
    ]
    put(tmp_path, "s1", calls)
    put(tmp_path, "s1/subagents/agent-x", [answer(4, "s1", NOON, tokens=(5000, 0, 0, 0), sidechain=True)])

    (row,) = used(tmp_path, "session", prices=pricer(tmp_path)).session

    assert row.total_tokens == 6027
    assert row.main_only.total_tokens == 1027
    assert row.branch_tokens == 127
    assert row.branch_cost == pytest.approx((120 + 0.3 + 5) / 10**6)
    assert row.branch_cost_at_least is False
    assert (row.context_tokens, row.context_peak) == (27, 900)


def test_the_context_is_that_of_the_last_call_a_person_sees_not_of_one_that_was_left(tmp_path):
    typed = {
        "parentUuid": "u1",
        "isSidechain": False,
        "sessionId": "s1",
        "type": "user",
        "uuid": "p1",
        "timestamp": "2026-05-01T13:00:00.000Z",
        "message": {"role": "user", "content": "once more"},
    }
    left = answer(2, "s1", NOON + timedelta(minutes=1), tokens=(900, 0, 0, 0), parent="u1")
    put(tmp_path, "s1", [answer(1, "s1", NOON, tokens=(100, 0, 5, 0)), left, typed])

    (row,) = used(tmp_path, "session").session

    assert (row.context_tokens, row.context_peak, row.branch_tokens) == (105, 900, 105)


def test_an_answer_whose_first_line_hangs_beside_the_path_is_on_it_once(tmp_path):
    first = answer(1, "s1", NOON)
    second = answer(1, "s1", NOON, parent=None) | {"uuid": "u1b"}
    put(tmp_path, "s1", [first, second, answer(2, "s1", NOON + timedelta(minutes=1), parent="u1b")])

    (row,) = used(tmp_path, "session").session

    assert (row.total_tokens, row.branch_tokens) == (200, 200)


def test_calls_copied_from_another_session_are_on_the_path_there(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON)])
    copy = answer(1, "s2", NOON, forkedFrom={"sessionId": "s1", "messageUuid": "u1"})
    put(tmp_path, "s2", [copy, answer(2, "s2", NOON + timedelta(hours=1), parent="u1")])

    rows = {row.session_id: row.branch_tokens for row in used(tmp_path, "session").session}

    assert rows == {"s1": 100, "s2": 100}


def test_an_agent_without_a_tree_has_no_branch_and_still_a_context(tmp_path):
    meta = {"type": "session_meta", "payload": {"id": "c1", "cwd": "/work/one", "cli_version": "0.40.0"}}
    usage = {"input_tokens": 50, "cached_input_tokens": 20, "output_tokens": 5, "total_tokens": 55}
    info = {"total_token_usage": usage, "last_token_usage": usage}
    count = {"type": "event_msg", "payload": {"type": "token_count", "info": info}}
    path = tmp_path / ".codex/sessions/2026/05/01/rollout-2026-05-01T12-00-00-c1.jsonl"
    path.parent.mkdir(parents=True)
    rows = [{"timestamp": "2026-05-01T12:00:00.000Z", **row} for row in (meta, count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    (row,) = used(tmp_path, "session").session

    assert (row.total_tokens, row.input_tokens) == (55, 30)
    assert (row.branch_tokens, row.context_tokens) == (None, 50)


def test_what_a_summary_or_an_advisor_read_is_not_the_context(tmp_path):
    big = {"type": "advisor_message", "input_tokens": 70_000, "output_tokens": 9, "model": "model-b"}
    record = answer(1, "s1", NOON, tokens=(10, 1, 0, 0))
    record["message"]["usage"]["iterations"] = [{"type": "message", "input_tokens": 10, "output_tokens": 1}, big]
    put(tmp_path, "s1", [record])

    (row,) = used(tmp_path, "session").session

    assert row.total_tokens == 70_020
    assert (row.context_tokens, row.context_peak) == (10, 10)


@pytest.mark.shared
def test_the_visible_path_of_every_shared_session_is_the_branch_of_its_tree(shared):
    held = branched = 0
    for path in sorted([*(shared / "cases").rglob("*.jsonl"), *(shared / "real").rglob("*.jsonl")]):
        try:
            with read(str(path), options=SCAN_OPTIONS) as reader:
                items, rule = list(reader), reader.format.tree
        except (LookupError, OSError):
            continue
        if rule is None:
            continue
        lines = branch(items, rule)
        assert seen(items, rule) == lines, path
        held += 1
        branched += len(lines) < len({item.record.line for item in items if item.kind != "fault"})

    assert held > 400
    assert branched > 100
