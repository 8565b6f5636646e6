"""What a call costs, by a small table of our own: the rules, and the sums that keep what they do not know."""

import itertools
import random
from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import line
from turnlog.discover import SessionFile
from turnlog.ledger.identity import merge
from turnlog.ledger.prices import Call, CostSum, Pricer
from turnlog.ledger.prices.overrides import Overrides
from turnlog.ledger.prices.table import LAYOUT, Dated, Model, Provider, Table, Variant, When
from turnlog.ledger.scan import packed, scan_file, unpacked
from turnlog.model import Record, Usage
from turnlog.tokens import Additive, Counts, Semantics
from turnlog.work import Sample

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


def provider(name, *models, **rules):
    return Provider(name, msgspec.Raw(msgspec.msgpack.encode(list(models))), **rules)


def model(name, *prices, variants=()):
    return Model(name, ["equals", name], list(prices), list(variants))


FLAT = {"input": "3", "output": "15", "cache_read": "0.3", "cache_write": "3.75", "cache_write_1h": "6"}
TABLE = Table(
    LAYOUT,
    "9.9",
    None,
    [
        provider(
            "anthropic",
            model("flat", Dated(FLAT)),
            model(
                "long", Dated({"input": ("3", [(200, "6")]), "output": ("15", [(200, "22.5")]), "cache_read": "0.3"})
            ),
            model(
                "dated",
                Dated({"input": "1", "output": "2"}),
                Dated({"input": "10", "output": "20"}, When("2026-03-13")),
            ),
            model(
                "daily",
                Dated({"input": "4", "output": "8"}),
                Dated({"input": "1", "output": "2"}, When(None, 23 * 3600, 3600)),
            ),
            model(
                "tiers",
                Dated({"input": "2", "output": "4"}),
                variants=[
                    Variant({"service_tier": "priority"}, {"input": "20"}, When("2026-01-01")),
                    Variant({"processing": "batch"}, {"input": "1", "output": "2"}),
                    Variant({"speed": "fast"}, {"input": "12", "output": "24"}),
                ],
            ),
            model("searching", Dated({"input": "2", "output": "4", "search": "10", "request": "5"})),
            model("deaf", Dated({"output": "4"})),
            model("free", Dated({"input": "0", "output": "0"})),
            by_model=["contains", "laude"],
        ),
        provider("openai", model("flat", Dated({"input": "1", "output": "1"})), by_name=["contains", "openai"]),
        provider("azure", fallbacks=["anthropic"]),
    ],
)


@pytest.fixture
def pricer():
    return Pricer(TABLE, Overrides())


def call(name="flat", fresh=0, out=0, read=0, write=0, **more):
    more = {"home": "anthropic", "at": NOON, **more}
    return Call(model=name, counts=Additive(fresh, out, read, write), **more)


def micro(cost):
    """A cost in millionths of a dollar, as a whole number: prices per million tokens times tokens."""
    whole, rest = divmod(cost.exact, 10**18)
    assert rest == 0
    return whole


def test_each_part_has_its_price(pricer):
    assert micro(pricer.price(call(fresh=1000))) == 3000
    assert micro(pricer.price(call(out=1000))) == 15000
    assert micro(pricer.price(call(read=1000))) == 300
    assert micro(pricer.price(call(write=1000))) == 3750
    assert micro(pricer.price(call(fresh=1000, out=1000, read=1000, write=1000))) == 3000 + 15000 + 300 + 3750


def test_a_dollar_amount_is_the_nearest_float(pricer):
    assert pricer.price(call(fresh=1, out=1)).usd == 0.000018
    assert pricer.price(call(read=1)).usd == 3e-07


def test_cache_writes_of_an_hour_are_dearer_than_those_of_five_minutes(pricer):
    assert micro(pricer.price(call(write=1000, write_1h=400))) == 400 * 6 + 600 * 3.75
    assert micro(pricer.price(call(write=1000, write_1h=400, write_5m=600))) == 400 * 6 + 600 * 3.75
    assert micro(pricer.price(call(write=1000, write_1h=5000))) == 1000 * 6, "a part is never more than the whole"


def test_what_has_no_price_of_its_own_is_billed_as_what_it_is_a_part_of(pricer):
    assert micro(pricer.price(call("tiers", fresh=1, read=10, write=100, write_1h=50))) == 2 * 111


def test_a_long_prompt_makes_every_token_dearer_and_cached_tokens_count_for_its_length(pricer):
    assert micro(pricer.price(call("long", fresh=100, out=10, read=100))) == 300 + 150 + 30
    assert micro(pricer.price(call("long", fresh=91, out=10, read=110))) == 546 + 225 + 33
    assert "over 200 input tokens" in pricer.price(call("long", fresh=201)).source
    assert "over" not in pricer.price(call("long", fresh=200)).source


def test_a_price_begins_with_its_day_in_utc(pricer):
    last = datetime(2026, 3, 12, 23, 59, 59, tzinfo=UTC)
    assert micro(pricer.price(call("dated", fresh=1, at=last))) == 1
    assert micro(pricer.price(call("dated", fresh=1, at=last + timedelta(seconds=1)))) == 10
    east = timezone(timedelta(hours=9))
    assert micro(pricer.price(call("dated", fresh=1, at=datetime(2026, 3, 13, 8, tzinfo=east)))) == 1
    assert "from 2026-03-13" in pricer.price(call("dated", fresh=1)).source


def test_a_price_of_some_hours_holds_over_midnight(pricer):
    for hour, price in ((22, 4), (23, 1), (0, 1), (1, 4), (12, 4)):
        assert micro(pricer.price(call("daily", fresh=1, at=NOON.replace(hour=hour)))) == price


def test_a_call_without_a_time_is_unpriced_only_where_the_price_depends_on_it(pricer):
    assert pricer.price(call("flat", fresh=1, at=None)).usd is not None
    for name in ("dated", "daily"):
        cost = pricer.price(call(name, fresh=1, at=None))
        assert (cost.exact, cost.usd) == (None, None)
        assert "the call has none" in cost.reason
    assert pricer.price(call("tiers", fresh=1, at=None, tier="priority")).exact is None


@pytest.mark.parametrize("tier", [None, "standard", "default", ""])
def test_the_usual_tier_is_the_usual_price(pricer, tier):
    cost = pricer.price(call("tiers", fresh=1, tier=tier))

    assert micro(cost) == 2
    assert "tier" not in cost.source.split(",", 1)[0]
    assert "priced apart" not in cost.source


def test_a_service_tier_has_its_price_where_it_is_known_and_its_parts_are_the_usual_ones_else(pricer):
    cost = pricer.price(call("tiers", fresh=1, out=1, tier="priority"))
    assert micro(cost) == 20 + 4
    assert cost.source.endswith("service tier priority")
    assert micro(pricer.price(call("tiers", fresh=1, out=1, tier="batch"))) == 1 + 2


def test_a_tier_that_is_not_priced_apart_says_so(pricer):
    before = pricer.price(call("tiers", fresh=1, tier="priority", at=datetime(2025, 12, 31, tzinfo=UTC)))
    assert micro(before) == 2
    assert before.source.endswith("service tier priority is not priced apart")
    strange = pricer.price(call("flat", fresh=1, tier="\x1b[2J"))
    assert strange.source.endswith("its service tier is not priced apart"), "a transcript's word is not repeated"


def test_the_fast_mode_has_its_price_and_says_where_it_has_none(pricer):
    cost = pricer.price(call("tiers", fresh=1, out=1, fast=True))
    assert micro(cost) == 12 + 24
    assert cost.source.endswith("fast mode")
    assert pricer.price(call("flat", fresh=1, fast=True)).source.endswith("fast mode is not priced apart")


def test_a_provider_that_falls_back_to_another_has_no_tiers_of_that_one(pricer):
    cost = pricer.price(call("tiers", fresh=1, provider="azure", tier="priority"))

    assert micro(cost) == 2
    assert cost.source == "genai-prices 9.9, azure/tiers; service tier priority is not priced apart"


def test_searches_and_requests_are_billed_where_they_have_a_price(pricer):
    assert micro(pricer.price(call("searching", fresh=1, searches=2))) == 2 + 20_000 + 5000
    assert micro(pricer.price(call("flat", fresh=1, searches=2))) == 3
    assert micro(pricer.price(call("searching", searches=1))) == 10_000 + 5000


def test_a_named_provider_is_asked_and_no_other(pricer):
    assert micro(pricer.price(call(fresh=1, provider="openai"))) == 1
    assert micro(pricer.price(call(fresh=1, provider="my-openai-gateway"))) == 1
    cost = pricer.price(call("dated", fresh=1, provider="openai"))
    assert (cost.exact, cost.reason) == (None, "its provider has no price of this model")


def test_an_unknown_provider_is_unpriced_without_a_home_and_told_with_one(pricer):
    cost = pricer.price(call(fresh=1, provider="cellar", home=None))
    assert (cost.exact, cost.reason) == (None, "genai-prices does not know the provider")
    cost = pricer.price(call(fresh=1, provider="cellar"))
    assert micro(cost) == 3
    assert cost.source.endswith("the agent names a provider without prices")


def test_the_provider_before_a_slash_is_taken(pricer):
    assert micro(pricer.price(call("openai/flat", fresh=1))) == 1
    assert micro(pricer.price(call("OpenAI/FLAT", fresh=1, home=None))) == 1


@pytest.mark.parametrize(
    "asked, reason",
    [
        (call("nothing", fresh=1), "genai-prices does not know the model"),
        (call(None, fresh=1), "no model is named"),
        (call("deaf", fresh=1, out=1), "the model has no price of input tokens"),
        (call("deaf", read=1), "the model has no price of input tokens"),
        (Call(model="flat", counts=Additive(), home="anthropic"), "no tokens are known"),
        (call(fresh=10**30), "the counts are no counts of tokens"),
        (call(fresh=-5), "the counts are no counts of tokens"),
    ],
)  # fmt: skip
def test_what_has_no_price_is_unpriced_and_says_why(pricer, asked, reason):
    cost = pricer.price(asked)

    assert (cost.exact, cost.usd, cost.source, cost.reason) == (None, None, None, reason)


def test_a_price_of_nothing_is_a_price(pricer):
    cost = pricer.price(call("free", fresh=1000))

    assert (cost.exact, cost.source) == (0, "genai-prices 9.9, anthropic/free")


def test_no_tokens_cost_nothing_whatever_the_model(pricer):
    assert pricer.price(call("nothing")).exact == 0


def test_an_unknown_part_or_a_lower_bound_makes_a_cost_at_least(pricer):
    assert not pricer.price(call(fresh=1, out=1)).at_least
    assert pricer.price(call(fresh=1, out=1, lower_bound=True)).at_least
    for counts in (Additive(None, 5), Additive(5, None)):
        cost = pricer.price(Call(model="flat", counts=counts, home="anthropic"))
        assert cost.at_least
        assert cost.exact > 0
    assert not pricer.price(Call(model="flat", counts=Additive(5, 5), home="anthropic")).at_least


STORED = call(fresh=1000, stored=0.25)


def test_auto_takes_what_the_agent_stored():
    cost = Pricer(TABLE, Overrides()).price(STORED)

    assert (cost.usd, cost.source) == (0.25, "stored by the agent")


def test_calculate_never_takes_what_the_agent_stored():
    assert Pricer(TABLE, Overrides(), "calculate").price(STORED).usd == 0.003
    assert Pricer(TABLE, Overrides(), "calculate").price(call("nothing", fresh=1, stored=0.25)).exact is None


def test_display_takes_nothing_else():
    display = Pricer(TABLE, Overrides(), "display")
    assert display.price(STORED).usd == 0.25
    cost = display.price(call(fresh=1000))
    assert (cost.exact, cost.reason) == (None, "the agent stored no cost")


@pytest.mark.parametrize("stored", [0, 0.0, -0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_stored_cost_that_is_none_is_not_taken(pricer, stored):
    assert pricer.price(call(fresh=1000, stored=stored)).usd == 0.003
    assert pricer.price(call("nothing", fresh=1000, stored=stored)).exact is None


def test_a_stored_zero_without_tokens_is_zero(pricer):
    assert pricer.price(call(stored=0.0)).exact == 0


def test_an_empty_table_leaves_everything_unpriced_but_what_was_stored():
    pricer = Pricer(Table(LAYOUT, "", None, []), Overrides())
    assert (
        pricer.price(call(fresh=1)).reason
        == "there is no price table: genai-prices is missing or not one turnlog knows"
    )
    assert pricer.price(STORED).usd == 0.25


def test_a_sum_says_at_least_and_names_what_is_unpriced(pricer):
    total = CostSum()
    total.add(pricer.price(call(fresh=1000)), "flat")
    assert (total.usd, total.at_least, total.unpriced) == (0.003, False, {})
    total.add(pricer.price(call("nothing", fresh=1)), "nothing")
    total.add(pricer.price(call("nothing", fresh=1)), "nothing")
    total.add(pricer.price(call(None, fresh=1)), None)

    assert (total.usd, total.at_least, total.calls, total.priced) == (0.003, True, 4, 1)
    assert total.unpriced == {"nothing": 2, None: 1}
    assert total.sources == {"genai-prices 9.9, anthropic/flat": 1}


def test_a_sum_of_unpriced_calls_is_no_zero(pricer):
    total = CostSum()
    assert total.usd == 0.0
    total.add(pricer.price(call("nothing", fresh=1)), "nothing")

    assert total.usd is None


def test_a_lower_bound_makes_the_sum_at_least(pricer):
    total = CostSum()
    total.add(pricer.price(call(fresh=1, lower_bound=True)), "flat")

    assert total.at_least
    assert total.unpriced == {}


COSTS = st.tuples(
    st.sampled_from(["flat", "long", "dated", "nothing"]), st.integers(0, 10**6), st.integers(0, 10**6),
    st.none() | st.floats(0, 100),
)  # fmt: skip


@given(st.lists(COSTS, max_size=30), st.integers(0, 2**32))
def test_any_grouping_in_any_order_has_the_same_total(made, seed):
    pricer = Pricer(TABLE, Overrides())
    calls = [call(name, fresh, out, stored=stored) for name, fresh, out, stored in made]
    whole = CostSum()
    for one in calls:
        whole.add(pricer.price(one), one.model)
    random.Random(seed).shuffle(calls)
    groups = {}
    for n, one in enumerate(calls):
        groups.setdefault(n % 3, CostSum()).add(pricer.price(one), one.model)
    together = CostSum()
    for group in groups.values():
        together.join(group)

    assert together == whole
    assert together.usd == whole.usd


def test_a_usage_event_is_priced_by_its_own_semantics(pricer):
    counts = Counts(input=1000, output=10, cache_read=900, cache_write=50)
    record = Record(type="x", line=1, start=0, end=1, at=NOON)
    inclusive = Usage(record, 0, counts, Semantics.CACHE_INCLUSIVE, model="flat")
    exclusive = Usage(record, 0, counts, Semantics.CACHE_EXCLUSIVE, model="flat")

    assert pricer.cost_of_usage(inclusive, "claude").usd == pytest.approx((50 * 3 + 150 + 900 * 0.3 + 50 * 3.75) / 1e6)
    assert pricer.cost_of_usage(exclusive, "claude").usd == pytest.approx((3000 + 150 + 270 + 50 * 3.75) / 1e6)


def test_the_home_provider_of_an_agent_holds_where_none_is_named(pricer):
    sample = Sample(("k",), Additive(1000, 0), 1, 0, 1, NOON, model="flat")

    assert pricer.cost_of(sample, "claude").source == "genai-prices 9.9, anthropic/flat"
    assert pricer.cost_of(sample, "codex").source == "genai-prices 9.9, openai/flat"
    assert pricer.cost_of(sample, "pi").exact is None


def answer(uuid, usage, message="msg_1", name="flat"):
    return line(
        uuid=uuid, type="assistant", sessionId="aaaaaaaa-0000-4000-8000-000000000001", version="2.1.332",
        timestamp="2026-06-15T12:00:00.000Z", requestId="r",
        message={"id": message, "role": "assistant", "model": name, "content": [{"type": "text", "text": "x"}],
                 "usage": usage},
    )  # fmt: skip


def works(tmp_path, *files):
    found = []
    for n, data in enumerate(files):
        path = tmp_path / f"{n}.jsonl"
        path.write_bytes(data)
        scan = scan_file(SessionFile("claude", str(path), size=len(data)))
        assert scan.faults == []
        found.append(scan.work)
    return found


USAGE = {
    "input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 100,
    "cache_creation": {"ephemeral_1h_input_tokens": 60, "ephemeral_5m_input_tokens": 40},
    "service_tier": "batch", "speed": "fast", "server_tool_use": {"web_search_requests": 2},
}  # fmt: skip


def test_a_sample_keeps_all_that_its_price_depends_on(tmp_path):
    (work,) = works(tmp_path, answer("00000000-0000-4000-8000-000000000001", USAGE))
    (sample,) = work.samples

    assert (sample.tier, sample.fast, sample.write_1h, sample.searches) == ("batch", True, 60, 2)


def test_merged_samples_keep_it_too_each_part_at_its_greatest(tmp_path):
    early = {**USAGE, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_creation": None, "speed": None}
    early = {**early, "server_tool_use": None, "service_tier": None}
    first, last = (answer(f"00000000-0000-4000-8000-00000000000{n}", usage) for n, usage in ((1, early), (2, USAGE)))

    for files in ([first + last], [first, last], [last, first]):
        (counted,) = merge(works(tmp_path, *files)).samples
        sample = counted.sample
        assert (sample.tier, sample.fast, sample.write_1h, sample.searches) == ("batch", True, 60, 2)
        assert sample.counts.cache_write == 100


def test_what_a_price_depends_on_comes_whole_from_another_process(tmp_path):
    data = answer("00000000-0000-4000-8000-000000000001", USAGE)
    path = tmp_path / "0.jsonl"
    path.write_bytes(data)
    file = SessionFile("claude", str(path), size=len(data))
    (sample,) = unpacked(packed(file).data).work.samples

    assert [sample] == scan_file(file).work.samples
    assert (sample.tier, sample.fast, sample.write_1h, sample.searches) == ("batch", True, 60, 2)


def test_a_codex_thread_is_priced_by_the_provider_it_names(tmp_path):
    thread = "0199a8e1-0000-7000-8000-000000000001"
    info = {"total_token_usage": (used := {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 7})}
    data = b"".join(
        line(timestamp=f"2026-06-15T12:00:0{n}.000Z", type=kind, payload=payload)
        for n, (kind, payload) in enumerate(
            [
                ("session_meta", {"id": thread, "timestamp": "2026-06-15T12:00:00.000Z", "cwd": "/w", "originator": "x",
                                  "cli_version": "0.99.0", "model_provider": "azure"}),
                ("turn_context", {"cwd": "/w", "model": "flat"}),
                ("event_msg", {"type": "token_count", "info": {**info, "last_token_usage": used}}),
            ]
        )
    )  # fmt: skip
    path = tmp_path / f"rollout-2026-06-15T12-00-00-{thread}.jsonl"
    path.write_bytes(data)
    scan = scan_file(SessionFile("codex", str(path), size=len(data)))
    (counted,) = merge([scan.work]).samples

    assert (counted.sample.provider, counted.sample.counts.input) == ("azure", 60)
    cost = Pricer(TABLE, Overrides()).cost_of(counted.sample, "codex")
    assert cost.source == "genai-prices 9.9, azure/flat"
    assert micro(cost) == 60 * 3 + 40 * 0.3 + 7 * 15


def test_a_choice_is_made_once_for_each_name(pricer, monkeypatch):
    asked = []
    find = pricer.chooser.lookup.find
    monkeypatch.setattr(pricer.chooser.lookup, "find", lambda *names: asked.append(names) or find(*names))
    for fresh in itertools.islice(itertools.count(1), 50):
        pricer.price(call(fresh=fresh))

    assert len(asked) == 1
