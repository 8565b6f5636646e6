"""Blocks of five hours: where they begin and end, the gaps between, and what the active one will come to."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from spending import answer, pricer, put, used

START = datetime(2026, 5, 1, 9, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


def blocks(home, *offsets, now=START + timedelta(days=30), tokens=(1, 2, 3, 4), prices=None, **asked):
    """The blocks of calls so many hours after START."""
    put(home, "s1", [answer(n, "s1", START + HOUR * at, tokens=tokens) for n, at in enumerate(offsets)])
    return used(home, "blocks", now=now, prices=prices, **asked).blocks


def spans(found):
    return [(block.start_time[11:16], block.end_time[11:16], block.entries, block.is_gap) for block in found]


def test_a_block_begins_at_the_full_hour_of_its_first_call_and_holds_five(tmp_path):
    found = blocks(tmp_path, 0, 1, 4)

    assert spans(found) == [("09:00", "14:00", 3, False)]
    assert (found[0].id, found[0].actual_end_time) == ("2026-05-01T09:00:00Z", "2026-05-01T13:20:00Z")


def test_a_call_at_the_very_end_is_in_it_and_one_after_begins_the_next(tmp_path):
    end = 5 - 20 / 60

    assert spans(blocks(tmp_path, 0, 1, end)) == [("09:00", "14:00", 3, False)]
    assert spans(blocks(tmp_path, 0, 1, end + 1 / 3600)) == [
        ("09:00", "14:00", 2, False),
        ("14:00", "19:00", 1, False),
    ]


def test_a_gap_stands_where_nothing_happened_for_longer_than_a_block(tmp_path):
    found = blocks(tmp_path, 0, 7)

    assert spans(found) == [("09:00", "14:00", 1, False), ("14:20", "16:20", 0, True), ("16:00", "21:00", 1, False)]
    assert found[1].id == "gap-2026-05-01T14:20:00Z"
    assert (found[1].actual_end_time, found[1].total_tokens, found[1].models) == (None, 0, [])


def test_the_order_of_the_calls_in_the_file_does_not_matter(tmp_path):
    assert blocks(tmp_path / "a", 8, 0, 3) == blocks(tmp_path / "b", 0, 3, 8)


def test_the_active_block_has_a_burn_rate_and_a_projection(tmp_path):
    # 3 calls of 1000 tokens in 60 minutes; 2 h 40 min are left of the block.
    (block,) = blocks(tmp_path, 0, 0.5, 1, now=START + 2 * HOUR, tokens=(400, 100, 250, 250), prices=pricer(tmp_path))

    assert block.is_active
    assert block.burn_rate.tokens_per_minute == 50
    assert block.burn_rate.tokens_per_minute_for_indicator == 25
    assert block.projection.remaining_minutes == 160
    assert block.projection.total_tokens == 3000 + 50 * 160
    one = (400 * 1 + 100 * 10 + 250 * 0.1 + 250 * 1.25) / 10**6
    assert block.cost_usd == pytest.approx(3 * one)
    assert block.burn_rate.cost_per_hour == pytest.approx(3 * one)
    assert block.projection.total_cost == round(3 * one + 3 * one / 60 * 160, 2)


def test_a_block_of_one_moment_has_no_rate(tmp_path):
    (block,) = blocks(tmp_path, 0, now=START + HOUR)

    assert block.is_active
    assert (block.burn_rate, block.projection) == (None, None)


@pytest.mark.parametrize("later", [5 - 20 / 60, 6])
def test_a_block_that_is_over_is_not_active_and_has_no_projection(tmp_path, later):
    (block,) = blocks(tmp_path, 0, 1, now=START + later * HOUR)

    assert not block.is_active
    assert (block.burn_rate, block.projection) == (None, None)


def test_only_the_active_or_the_recent_ones_may_be_asked_for(tmp_path):
    now = START + timedelta(days=4)
    put(tmp_path, "s1", [answer(n, "s1", now - HOUR * at) for n, at in enumerate((96, 40, 2, 1))])

    assert len([b for b in used(tmp_path, "blocks", now=now).blocks if not b.is_gap]) == 3
    recent = used(tmp_path, "blocks", now=now, recent=True)
    assert [b.entries for b in recent.blocks if not b.is_gap] == [1, 2]
    active = used(tmp_path, "blocks", now=now, active=True)
    assert [b.is_active for b in active.blocks] == [True]
    assert active.totals.calls == 2


def test_a_range_chooses_whole_blocks_by_their_begin(tmp_path):
    put(tmp_path, "s1", [answer(n, "s1", START + HOUR * at) for n, at in enumerate((0, 2, 12))])

    found = used(tmp_path, "blocks", since=START, until=START + timedelta(days=1))
    assert [block.entries for block in found.blocks] == [1]
    found = used(tmp_path, "blocks", since=START - HOUR, until=START + HOUR)
    assert [block.entries for block in found.blocks] == [2]


@pytest.mark.parametrize(
    "limit, status",
    [
        (20_000, "ok"),
        (13_750, "ok"),
        (13_749, "warning"),
        (12_000, "warning"),
        (11_000, "warning"),
        (10_999, "exceeds"),
    ],
)
def test_the_active_block_is_compared_with_the_limit(tmp_path, limit, status):
    (block,) = blocks(tmp_path, 0, 0.5, 1, now=START + 2 * HOUR, tokens=(400, 100, 250, 250), token_limit=limit)

    told = block.token_limit_status
    assert (told.limit, told.projected_usage, told.status) == (limit, 11_000, status)
    assert told.percent_used == pytest.approx(11_000 / limit * 100)


def test_the_limit_max_is_the_greatest_block_that_is_over(tmp_path):
    now = START + timedelta(days=2)
    ago = (30, 29.5, 20, 1, 0.5)
    put(tmp_path, "s1", [answer(n, "s1", now - HOUR * at, tokens=(100, 0, 0, 0)) for n, at in enumerate(ago)])

    (active,) = used(tmp_path, "blocks", now=now, active=True, token_limit="max").blocks

    assert active.token_limit_status.limit == 200
    (without,) = used(tmp_path, "blocks", now=now, active=True).blocks
    assert without.token_limit_status is msgspec.UNSET


def test_a_block_may_be_of_another_length(tmp_path):
    assert spans(blocks(tmp_path, 0, 1.5, session_length=1)) == [
        ("09:00", "10:00", 1, False),
        ("10:20", "10:50", 0, True),
        ("10:00", "11:00", 1, False),
    ]
