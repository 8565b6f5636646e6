"""Explanations: the calls shown are those of the report's cell, and what is left out has its rule and its stand-in."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from cells import every_cell
from commands import DEMO
from spending import answer, pricer, put, used
from turnlog.cli.raw import byte_range
from turnlog.errors import InvalidOptionsError
from turnlog.ledger.explain import UNCOMMITTED, NoSuchCell, explain
from turnlog.ledger.prices import Pricer
from turnlog.ledger.report import Asked
from turnlog.ledger.usage import read_all
from turnlog.roots import roots_from_home

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def told(home, **asked):
    return explain(roots_from_home(home), timezone="UTC", **asked)


def test_every_cell_of_the_demo_home_is_the_sum_of_its_calls():
    assert every_cell(roots_from_home(DEMO), Pricer()) > 30


def test_every_record_that_is_left_out_is_in_one_day_one_month_and_one_model():
    whole = told(DEMO)
    days = {"unknown" if row.at is None else row.at[:10] for row in whole.left}

    for name, values in (
        ("day", days),
        ("month", {day[:7] for day in days}),
        ("model", {row.model or "unknown" for row in whole.left}),
    ):
        cells = [told(DEMO, **{name: value}) for value in values]
        assert all(cell.left_out == len(cell.left) > 0 for cell in cells), name
        places = sorted((row.path, row.start, row.reason) for cell in cells for row in cell.left)
        assert places == sorted((row.path, row.start, row.reason) for row in whole.left), name


def test_every_record_of_the_demo_home_is_counted_left_out_or_another_record_of_a_call():
    roots = roots_from_home(DEMO)
    read = read_all(roots, Asked(zone=UTC))
    view = explain(roots, timezone="UTC")

    uncommitted = [one for one in read.ledger.samples if one.sample.uncommitted]
    assert len(view.counted) + len(uncommitted) == len(read.ledger.samples)
    assert view.left_out == len(read.ledger.left) + len(uncommitted)
    assert {row.reason for row in view.left} == {left.reason for _, left in read.ledger.left} | {UNCOMMITTED}
    assert [row for row in view.left if row.uncommitted and row.instead is None] != []


def test_every_stand_in_of_the_demo_home_is_a_call_that_counts():
    view = told(DEMO)
    counted = {(row.path, row.line, row.start, row.end) for row in view.counted}

    stands = [row.instead for row in view.left if row.instead is not None]
    assert stands
    assert {(spot.path, spot.line, spot.start, spot.end) for spot in stands} <= counted


def test_every_place_of_the_demo_home_holds_one_whole_record():
    view = told(DEMO)

    for row in [*view.counted, *view.left]:
        data = b"".join(byte_range(row.path, 0, None))
        assert data[: row.start].count(b"\n") == row.line - 1
        assert isinstance(json.loads(data[row.start : row.end]), dict)


def test_days_are_those_of_the_zone_and_written_either_way(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", NOON), answer(2, "s1", NOON + timedelta(hours=11, minutes=30))])

    def calls(day, zone):
        return [row.line for row in explain(roots_from_home(tmp_path), day=day, timezone=zone).counted]

    assert calls("2026-05-01", "UTC") == calls("20260501", "UTC") == [1, 2]
    assert calls("20260501", "Europe/Berlin") == [1]
    assert calls("20260502", "Europe/Berlin") == [2]


def test_each_part_says_from_which_record_its_maximum_is(tmp_path):
    first = answer(1, "s1", NOON, tokens=(10, 1, 0, 5)) | {"uuid": "a"}
    second = answer(1, "s1", NOON - timedelta(seconds=5), tokens=(10, 7, 2, 5)) | {"uuid": "b"}
    third = answer(1, "s1", NOON, tokens=(10, 7, 0, 9)) | {"uuid": "c"}
    put(tmp_path, "s1", [first, second, third])

    (call,) = told(tmp_path).counted

    assert (call.line, call.at) == (1, "2026-05-01T11:59:55Z")
    assert (call.written.output_tokens, call.tokens.output_tokens, call.tokens.total_tokens) == (1, 7, 28)
    assert [(one.line, one.gave) for one in call.merged] == [
        (2, ["outputTokens", "cacheReadTokens", "at"]),
        (3, ["outputTokens", "cacheCreationTokens"]),
    ]


def test_a_copy_is_left_out_in_the_cell_of_its_own_session_and_stands_under_the_call_in_the_other(tmp_path):
    line = answer(1, "s1", NOON)
    own = answer(2, "s2", NOON + timedelta(days=1))
    path = put(tmp_path, "s1", [line])
    other = put(tmp_path, "s2", [line | {"sessionId": "s2"}, own])

    first, second = told(tmp_path, session="s1"), told(tmp_path, session="s2")

    assert [row.line for row in first.counted] == [1]
    assert [(one.path, one.line) for one in first.counted[0].merged] == [(str(other), 1)]
    assert first.left_out == 0
    assert [row.line for row in second.counted] == [2]
    assert [(row.line, row.instead.path, row.instead.line) for row in second.left] == [(1, str(path), 1)]


def test_a_record_is_left_out_in_the_cell_of_its_own_day(tmp_path):
    line = answer(1, "s1", NOON)
    put(tmp_path, "s1", [line, answer(1, "s1", NOON + timedelta(days=1)) | {"uuid": "late"}])

    assert [
        (told(tmp_path, day=day).totals.calls, told(tmp_path, day=day).left_out) for day in ("20260501", "20260502")
    ] == [
        (1, 0),
        (0, 1),
    ]


def test_unknown_names_the_row_of_that_name_and_calls_without_a_time_are_on_no_day(tmp_path):
    put(tmp_path, "s1", [answer(1, "s1", None), answer(2, "s1", NOON)])

    assert [row.line for row in told(tmp_path, day="unknown").counted] == [1]
    assert [row.line for row in told(tmp_path, month="unknown").counted] == [1]
    assert [row.line for row in told(tmp_path, day="20260501").counted] == [2]
    assert told(tmp_path, day="20260501").undated.calls == 1
    assert told(tmp_path, month="2026-05").undated.calls == 1
    assert [row.line for row in told(tmp_path).counted] == [2, 1]


def test_a_range_and_a_project_choose_as_in_the_reports(tmp_path):
    put(tmp_path, "s1", [answer(n, "s1", NOON + timedelta(hours=n)) for n in range(4)])
    put(tmp_path, "s2", [answer(9, "s2", NOON, cwd="/work/two")], "-work-two")
    asked = {"since": NOON + timedelta(hours=1), "until": NOON + timedelta(hours=3), "project": "one"}

    view, report = told(tmp_path, **asked), used(tmp_path, **asked)

    assert [row.line for row in view.counted] == [2, 3]
    assert view.totals.total_tokens == report.totals.total_tokens
    assert (view.since, view.until) == (report.since, report.until)
    assert told(tmp_path, project="/work/two").totals.calls == 1


def test_a_session_holds_its_subagents_and_a_thread_of_one_is_a_cell_too():
    view = told(DEMO)
    aside = {row.session_id: row.home for row in view.counted if row.session_id != row.home}

    assert aside
    for thread, home in aside.items():
        own, whole = told(DEMO, session=thread), told(DEMO, session=home)
        assert {row.session_id for row in own.counted} == {thread}
        assert {row.home for row in whole.counted} == {home}
        assert whole.totals.calls > own.totals.calls


def test_each_price_has_its_source_or_its_reason(tmp_path):
    prices = pricer(tmp_path)
    lines = [
        answer(1, "s1", NOON),
        answer(2, "s1", NOON, "no-such-model"),
        answer(3, "s1", NOON) | {"version": "2.1.50"},
    ]
    put(tmp_path, "s1", lines)

    view = told(tmp_path, pricer=prices)

    assert [(row.cost is None, row.price_source is None, row.unpriced is None) for row in view.counted] == [
        (False, False, True),
        (True, True, False),
        (False, False, True),
    ]
    assert [row.output_at_least for row in view.counted] == [False, False, True]
    assert [row.cost_at_least for row in view.counted] == [False, False, True]
    assert sum(view.sources.values()) == 2
    assert list(view.unpriced.values()) == [1]


def test_a_limit_cuts_the_lists_and_no_sum():
    whole, some = told(DEMO), told(DEMO, limit=3)

    assert (some.counted, some.left) == (whole.counted[:3], whole.left[:3])
    assert (some.totals, some.left_out) == (whole.totals, whole.left_out)


def test_a_session_is_meant_by_the_beginning_of_its_id_if_no_other_one_begins_so(tmp_path):
    for name in ("abc-1", "abd-2"):
        put(tmp_path, name, [answer(name, name, NOON)])

    assert told(tmp_path, session="ABC").session == "abc-1"
    for word in ("ab", "x", ""):
        with pytest.raises(NoSuchCell):
            told(tmp_path, session=word)


@pytest.mark.parametrize(
    "asked",
    [{"day": "2026-5-1"}, {"day": "2026-02-30"}, {"month": "2026"}, {"limit": -1}, {"timezone": "Mars/Olympus"}],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(tmp_path, asked):
    with pytest.raises(InvalidOptionsError):
        explain(roots_from_home(tmp_path), **asked)
