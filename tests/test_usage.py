"""Usage reports: every call in one row of every report, days of the zone, costs that say what they do not know."""

import json
import re
import tempfile
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import DEMO
from spending import answer, pricer, put, stamp, used
from turnlog.errors import InvalidOptionsError
from turnlog.ledger.machine import survey
from turnlog.ledger.report import KINDS
from turnlog.ledger.usage import REPORTS
from turnlog.roots import roots_from_home

BERLIN = ZoneInfo("Europe/Berlin")
PARTS = ("input_tokens", "output_tokens", "cache_creation_tokens", "cache_read_tokens", "total_tokens", "calls")
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def parts(row):
    return tuple(getattr(row, name) for name in PARTS)


def added(rows):
    return tuple(map(sum, zip(*map(parts, rows), strict=True))) if rows else (0,) * len(PARTS)


def hour_tokens(view):
    return {row.hour: row.total_tokens for row in view.hourly}


def days(view):
    return {row.date: row.total_tokens for row in view.daily}


calls = st.lists(
    st.tuples(
        st.integers(0, 40),  # the call's number: a repeated one is a copy
        st.sampled_from(["s1", "s2", "s3"]),
        st.sampled_from(["model-a", "model-b", "model-without-price"]),
        st.sampled_from(["/work/one", "/work/two"]),
        st.one_of(st.none(), st.integers(0, 80 * 24 * 60)),  # minutes after a day before the clock changes
        st.booleans(),
        st.tuples(*[st.integers(0, 10**6)] * 4),
    ),
    max_size=25,
)


@settings(max_examples=40)
@given(calls)
def test_every_grouping_sums_to_the_same_total(drawn):
    start = datetime(2026, 1, 20, tzinfo=UTC)
    with tempfile.TemporaryDirectory() as home:
        files = {}
        for number, session, model, cwd, minutes, sidechain, tokens in drawn:
            at = None if minutes is None else start + timedelta(minutes=minutes)
            record = answer(number, session, at, model, tokens, cwd=cwd, sidechain=sidechain)
            files.setdefault(session, []).append(record)
        for session, records in files.items():
            put(home, session, records)
        prices = pricer(home)
        views = {kind: used(home, kind, prices=prices, timezone="Europe/Berlin") for kind in REPORTS}
        by_project = used(home, prices=prices, timezone="Europe/Berlin", instances=True)
        seen = survey(roots_from_home(home), "Europe/Berlin")

    known = views["daily"]
    assert known.totals.total_tokens == seen.tokens.total
    assert known.totals.main_only.total_tokens == seen.main_only.total
    assert days(known) == seen.by_day
    for kind in KINDS:
        view = views[kind]
        rows = getattr(view, kind)
        assert view.totals == known.totals, kind
        assert added(rows) == parts(view.totals), kind
        for row in rows:
            assert added([row.main_only, row.sidechain]) == parts(row)
            assert sum(use.total_tokens for use in row.model_breakdowns) == row.total_tokens
    assert by_project.totals == known.totals
    assert added([row for rows in by_project.projects.values() for row in rows]) == parts(known.totals)
    blocks = views["blocks"]
    undated = 0 if blocks.undated is msgspec.UNSET else blocks.undated.total_tokens
    assert sum(block.total_tokens for block in blocks.blocks) == blocks.totals.total_tokens
    assert blocks.totals.total_tokens + undated == known.totals.total_tokens


@pytest.mark.parametrize("day, hours", [("2026-03-29", 23), ("2026-10-25", 25), ("2026-06-01", 24)])
def test_a_day_of_the_zone_has_all_its_hours(tmp_path, day, hours):
    begin = datetime.fromisoformat(day).replace(tzinfo=BERLIN).astimezone(UTC) - timedelta(hours=2)
    put(tmp_path, "s1", [answer(n, "s1", begin + timedelta(hours=n), tokens=(1, 0, 0, 0)) for n in range(30)])

    assert days(used(tmp_path, timezone="Europe/Berlin"))[day] == hours


def test_an_hour_that_the_clock_skips_is_no_row_and_one_it_repeats_is_one(tmp_path):
    spring = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
    autumn = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    times = [spring + timedelta(hours=n) for n in range(2)] + [autumn + timedelta(hours=n) for n in range(2)]
    put(tmp_path, "s1", [answer(n, "s1", at, tokens=(1, 0, 0, 0)) for n, at in enumerate(times)])

    found = hour_tokens(used(tmp_path, "hourly", timezone="Europe/Berlin"))

    assert found == {"2026-03-29T01": 1, "2026-03-29T03": 1, "2026-10-25T02": 2}


def test_a_call_without_a_time_is_in_the_row_unknown_and_never_dropped(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON, tokens=(1, 0, 0, 0)), answer(2, "s1", None, tokens=(5, 0, 0, 0))])

    assert days(used(tmp_path)) == {"2026-05-01": 1, "unknown": 5}
    assert days(used(tmp_path, order="desc")) == {"2026-05-01": 1, "unknown": 5}
    ranged = used(tmp_path, since=NOON)
    assert (days(ranged), ranged.undated.total_tokens) == ({"2026-05-01": 1}, 5)
    blocks = used(tmp_path, "blocks")
    assert (blocks.totals.total_tokens, blocks.undated.total_tokens) == (1, 5)


def test_since_is_inclusive_and_until_exclusive_to_the_moment(tmp_path):
    put(tmp_path, "s1", [answer(n, "s1", NOON + timedelta(seconds=n), tokens=(1, 0, 0, 0)) for n in range(5)])

    view = used(tmp_path, since=NOON + timedelta(seconds=1), until=NOON + timedelta(seconds=3))

    assert view.totals.calls == 2
    assert (view.since, view.until) == ("2026-05-01T12:00:01Z", "2026-05-01T12:00:03Z")


def test_weeks_begin_on_the_day_asked_for(tmp_path):
    # 2026-05-01 is a Friday.
    put(tmp_path, "s1", [answer(n, "s1", NOON + timedelta(days=n), tokens=(1, 0, 0, 0)) for n in range(4)])

    def weeks(day):
        return {row.week: row.calls for row in used(tmp_path, "weekly", start_of_week=day).weekly}

    assert weeks("monday") == {"2026-04-27": 3, "2026-05-04": 1}
    assert weeks("sunday") == {"2026-04-26": 2, "2026-05-03": 2}
    assert weeks("friday") == {"2026-05-01": 4}


def test_periods_and_sessions_stand_oldest_first_unless_asked_otherwise(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON + timedelta(days=2))])
    put(tmp_path, "s2", [answer(2, "s2", NOON)])

    assert list(days(used(tmp_path))) == ["2026-05-01", "2026-05-03"]
    assert list(days(used(tmp_path, order="desc"))) == ["2026-05-03", "2026-05-01"]
    assert [row.session_id for row in used(tmp_path, "session").session] == ["s2", "s1"]
    assert [row.session_id for row in used(tmp_path, "session", order="desc").session] == ["s1", "s2"]


def test_models_stand_by_tokens_the_greatest_first_unless_asked_otherwise(tmp_path):
    put(
        tmp_path, "s1", [answer(1, "s1", NOON, "model-b", (1, 0, 0, 0)), answer(2, "s1", NOON, "model-a", (9, 0, 0, 0))]
    )

    assert [row.model for row in used(tmp_path, "model").model] == ["model-a", "model-b"]
    assert [row.model for row in used(tmp_path, "model", order="asc").model] == ["model-b", "model-a"]


def test_a_session_is_an_id_and_its_subagents_are_in_it_apart(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON, tokens=(1, 2, 3, 4))])
    put(tmp_path, "s2", [answer(2, "s2", NOON)])
    put(tmp_path, "s1/subagents/agent-x", [answer(3, "s1", NOON, tokens=(5, 5, 5, 5), sidechain=True)])

    rows = {row.session_id: row for row in used(tmp_path, "session").session}

    assert set(rows) == {"s1", "s2"}
    assert rows["s1"].total_tokens == 30
    assert rows["s1"].main_only.total_tokens == 10
    assert rows["s1"].sidechain.total_tokens == 20
    assert rows["s1"].cache_hit_rate == round(8 / 23, 4)
    assert (rows["s1"].subagents, rows["s2"].subagents) == (1, 0)


def test_projects_are_folders_with_their_short_name(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON, cwd="C:\\Users\\me\\my proj")])
    put(tmp_path, "s2", [answer(2, "s2", NOON, cwd="/work/one")])

    names = {row.project: row.short_name for row in used(tmp_path, "project").project}

    assert names == {"C:\\Users\\me\\my proj": "my proj", "/work/one": "one"}


def test_a_project_or_an_agent_alone_leaves_the_others_out(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON, cwd="/work/one")])
    put(tmp_path, "s2", [answer(2, "s2", NOON, cwd="/work/two/below")])

    assert used(tmp_path, project="/work/two").totals.calls == 1
    assert used(tmp_path, project="wo").totals.calls == 2
    assert used(tmp_path, agent="pi").totals.calls == 0
    assert used(tmp_path, agent="claude").totals.calls == 2


def test_a_model_without_a_price_is_unpriced_and_the_sum_is_at_least(tmp_path):
    million = (10**6, 10**6, 0, 0)
    put(
        tmp_path,
        "s1",
        [answer(1, "s1", NOON, "model-a", million), answer(2, "s1", NOON + timedelta(days=1), "dear", million)],
    )

    view = used(tmp_path, prices=pricer(tmp_path))

    first, second = view.daily
    assert (first.total_cost, first.cost_at_least, first.unpriced_models) == (11.0, False, [])
    assert (second.total_cost, second.cost_at_least, second.unpriced_models) == (None, True, ["dear"])
    assert (view.totals.total_cost, view.totals.cost_at_least) == (11.0, True)
    assert second.model_breakdowns[0].cost is None


def test_each_call_is_priced_alone_and_the_sum_is_exact(tmp_path):
    # A tenth of a millionth of a dollar each, which no float holds.
    put(tmp_path, "s1", [answer(n, "s1", NOON, "model-a", (0, 0, 1, 0)) for n in range(1000)])

    assert used(tmp_path, prices=pricer(tmp_path)).totals.total_cost == 0.0001


def pi_session(home, cost):
    """One session of Pi with one call, and the cost it stored."""
    usage = {"input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110, "cost": {"total": cost}}
    message = {
        "role": "assistant",
        "content": [],
        "model": "model-a",
        "provider": "p",
        "usage": usage,
        "stopReason": "stop",
    }
    rows = [
        {"type": "session", "version": 3, "id": "p1", "timestamp": stamp(NOON), "cwd": "/work/one"},
        {"type": "message", "id": "e1", "parentId": None, "timestamp": stamp(NOON), "message": message},
    ]
    path = home / ".pi/agent/sessions/--work-one--/2026-05-01T12-00-00-000Z_p1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize(
    "mode, stored, cost",
    [
        ("auto", 5.0, 5.0),
        ("auto", 0, 0.0002),  # a stored 0 with tokens is no cost
        ("calculate", 5.0, 0.0002),
        ("display", 5.0, 5.0),
        ("display", 0, None),
    ],
)
def test_modes_take_the_stored_cost_or_calculate(tmp_path, mode, stored, cost):
    pi_session(tmp_path, stored)

    view = used(tmp_path, "agent", prices=pricer(tmp_path, mode))

    assert view.mode == mode
    assert view.totals.total_cost == cost
    assert view.totals.cost_at_least is (cost is None)


def test_without_costs_no_key_speaks_of_any(tmp_path):
    put(tmp_path, "s1", [answer(n, "s1", NOON + timedelta(minutes=n)) for n in range(3)])

    for kind in REPORTS:
        view = used(tmp_path, kind, now=NOON + timedelta(hours=1))
        keys = set(re.findall(r'"(\w+)":', msgspec.json.encode(view).decode()))
        assert [key for key in keys if "ost" in key or key in {"mode", "unpricedModels"}] == []


def test_a_row_says_that_its_output_may_be_more_and_how_many_calls_have_a_part_unknown(tmp_path):
    partly = answer(3, "s1", NOON + timedelta(days=2))
    del partly["message"]["usage"]["input_tokens"]
    put(tmp_path, "s1", [answer(1, "s1", NOON) | {"version": "2.1.50"}])
    put(tmp_path, "s2", [answer(2, "s2", NOON + timedelta(days=1)), partly | {"sessionId": "s2"}])

    view = used(tmp_path, prices=pricer(tmp_path))

    assert [row.output_at_least for row in view.daily] == [True, False, False]
    assert [row.partly_unknown for row in view.daily] == [0, 0, 1]
    assert [row.cost_at_least for row in view.daily] == [True, False, True]
    assert (view.totals.output_at_least, view.totals.partly_unknown) == (True, 1)


def test_what_an_agent_never_committed_is_apart():
    view, seen = used(DEMO), survey(roots_from_home(DEMO), "UTC")

    assert view.uncommitted.total_tokens == seen.uncommitted.tokens.total > 0
    assert view.totals.total_tokens == seen.tokens.total
    assert view.left_out == seen.left_out


def test_the_rows_of_the_demo_home_are_those_of_its_overview():
    seen = survey(roots_from_home(DEMO), "UTC")

    assert days(used(DEMO)) == seen.by_day
    assert {row.model: row.total_tokens for row in used(DEMO, "model").model} == seen.by_model
    assert {row.project: row.total_tokens for row in used(DEMO, "project").project} == seen.by_project
    sessions = {row.session_id: row.total_tokens for row in used(DEMO, "session").session}
    assert sessions == {key: row.tokens.total for key, row in seen.by_session.items() if row.tokens.total}
    agents = {row.agent: row.total_tokens for row in used(DEMO, "agent").agent}
    assert agents == {key: row.tokens.total for key, row in seen.by_agent.items()}


def test_many_processes_give_the_same_report():
    assert used(DEMO, "session", jobs=2) == used(DEMO, "session", jobs=1)


@pytest.mark.parametrize(
    "asked",
    [
        {"kind": "yearly"},
        {"kind": "weekly", "instances": True},
        {"start_of_week": "someday"},
        {"kind": "blocks", "token_limit": 0},
        {"kind": "blocks", "session_length": 0},
        {"timezone": "Mars/Olympus"},
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused(tmp_path, asked):
    with pytest.raises(InvalidOptionsError):
        used(tmp_path, **asked)
