"""The compact table answers as genai-prices itself does: the same model for a name, the same amount for a call."""

from datetime import UTC, datetime, timedelta

import genai_prices
import pytest
from genai_prices.data import providers
from genai_prices.data_snapshot import get_snapshot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from turnlog.ledger.prices import Call, Pricer
from turnlog.ledger.prices.derive import derived
from turnlog.ledger.prices.overrides import Overrides
from turnlog.tokens import Additive

MODELS = [(provider.id, model) for provider in providers for model in provider.models]
CONTEXTS = {
    "": {},
    "priority": {"service_tier": "priority"},
    "flex": {"service_tier": "flex"},
    "fast": {"service_tier": "fast"},
    "batch": {"service_tier": "batch", "processing": "batch"},
}
MINUTES = 5 * 365 * 24 * 60


@pytest.fixture(scope="module")
def pricer():
    return Pricer(derived(), Overrides(), "calculate")


def theirs(name, provider):
    """The provider and model the library finds, None where it finds none."""
    try:
        found, model = get_snapshot().find_provider_model(name, None, provider, None)
    except LookupError:
        return None
    return found.id, model.id


def ours(pricer, name, provider):
    offer = pricer.chooser.lookup.find(name, provider)
    return None if offer is None else (offer.provider, offer.model.id)


def test_every_model_of_the_library_is_found_at_its_provider_and_by_its_name_alone(pricer):
    compared = 0
    for provider, model in MODELS:
        for where in (provider, None):
            assert ours(pricer, model.id, where) == theirs(model.id, where), (model.id, where)
            compared += 1

    assert compared == 2 * len(MODELS) > 4000


NAMES = [
    "claude-sonnet-4-5-20250929", "CLAUDE-Sonnet-4-5", "claude-sonnet-4@20250514", "claude-opus-4-6[1m]", "claude-3-opus",
    "us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic.claude-3-haiku-20240307-v1:0", "gpt-5.5", "gpt-5.2-20251211",
    "gpt-5.2-codex", "gpt-5-codex-20259999", "o3-mini", "o3", "gemini-2.5-pro", "deepseek-chat", "grok-4", "kimi-k2",
    "glm-4.6", "no-such-model", "", "/", "anthropic/claude-opus-4-6", "openai/gpt-5.5", "litellm/openai/gpt-5.5",
]  # fmt: skip
PROVIDERS = [
    None, "anthropic", "openai", "Azure", "aws", "amazon-bedrock", "google-vertex", "openai-codex", "github-copilot",
    "openrouter", "litellm", "xai", "ollama", " anthropic ", "",
]  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS, ids=repr)
def test_a_name_means_what_the_library_takes_it_for(pricer, provider):
    for name in NAMES:
        assert ours(pricer, name, provider) == theirs(name, provider), name


COUNT = st.one_of(st.just(0), st.integers(0, 2000), st.integers(0, 3_000_000))


@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    at_model=st.integers(0, len(MODELS) - 1), at=st.integers(0, MINUTES), context=st.sampled_from(sorted(CONTEXTS)),
    fresh=COUNT, out=COUNT, read=COUNT, write=COUNT, hour=COUNT, short=COUNT, searches=st.integers(0, 3),
)  # fmt: skip
def test_a_call_costs_what_the_library_says(
    pricer, at_model, at, context, fresh, out, read, write, hour, short, searches
):
    at = datetime(2023, 1, 1, tzinfo=UTC) + timedelta(minutes=at)
    compare(pricer, at_model, at, context, (fresh, out, read, write, hour, short, searches))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1000, 500_000])
@pytest.mark.parametrize("context", sorted(CONTEXTS))
def test_every_model_costs_what_the_library_says(pricer, context, size):
    at = datetime(2026, 11, 30, 2, tzinfo=UTC)
    spent = (size + 1, size // 3, size // 2, size // 5, size // 10, size // 20, 1)
    priced = sum(compare(pricer, n, at, context, spent) for n in range(len(MODELS)))

    assert priced > 1900


def compare(pricer, at_model, at, context, spent):
    """Hold our amount to the library's. False where there is no amount: the library does not find the model, or says 0
    for a part that has no price, which to us is unpriced."""
    provider, model = MODELS[at_model]
    fresh, out, read, write, hour, short, searches = spent
    hour = min(hour, write)
    short = min(short, write - hour)
    asked = Call(
        model=model.id, counts=Additive(fresh, out, read, write), at=at, provider=provider, write_1h=hour, write_5m=short,
        searches=searches, tier=CONTEXTS[context].get("service_tier"),
    )  # fmt: skip
    cost = pricer.price(asked)
    if not fresh + out + read + write + searches:
        assert cost.exact == 0, "no tokens: no call, though a request may have a price"
        return False
    usage = genai_prices.Usage(
        input_tokens=fresh + read + write, output_tokens=out, cache_read_tokens=read, cache_write_tokens=write,
        cache_write_1h_tokens=hour, cache_write_5m_tokens=short, web_searches=searches,
    )  # fmt: skip
    try:
        said = genai_prices.calc_price(
            usage, model.id, provider_id=provider, genai_request_timestamp=at, price_context=CONTEXTS[context]
        )
    except LookupError:
        assert cost.reason == "its provider has no price of this model"
        return False
    # Input that no price takes up: the library leaves it out of the sum.
    unpriced_input = said.model_price.input_mtok is None and fresh + read + write
    if unpriced_input or (said.model_price.output_mtok is None and out):
        assert cost.reason.startswith("the model has no price of ")
        return False
    assert cost.exact is not None, cost.reason
    assert cost.usd == pytest.approx(float(said.total_price), rel=1e-9, abs=0)
    return True


@pytest.mark.parametrize("speed", ["fast", "standard"])
def test_the_fast_mode_costs_what_the_library_says(pricer, speed):
    fast = 0
    at = datetime(2026, 11, 30, 2, tzinfo=UTC)
    for provider, model in MODELS:
        if provider != "anthropic":
            continue
        asked = Call(
            model=model.id, counts=Additive(10, 20, 30, 40), at=at, provider=provider, fast=speed == "fast", write_1h=15
        )
        usage = genai_prices.Usage(
            input_tokens=80, output_tokens=20, cache_read_tokens=30, cache_write_tokens=40, cache_write_1h_tokens=15
        )
        said = genai_prices.calc_price(
            usage, model.id, provider_id=provider, genai_request_timestamp=at, price_context={"speed": speed}
        )
        cost = pricer.price(asked)
        assert cost.usd == pytest.approx(float(said.total_price), rel=1e-9, abs=0), model.id
        fast += cost.source.endswith(", fast mode")

    assert bool(fast) == (speed == "fast")


def test_the_librarys_input_contains_its_cached_tokens():
    """What our counts are added up for: the library takes cache reads and writes out of the input again."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    usage = genai_prices.Usage(input_tokens=1000, cache_read_tokens=900, output_tokens=0)
    said = genai_prices.calc_price(usage, "claude-haiku-4-5", provider_id="anthropic", genai_request_timestamp=at)

    assert float(said.total_price) == pytest.approx((100 * 1 + 900 * 0.1) / 1e6)


@pytest.mark.parametrize(
    "name, home, source",
    [
        ("claude-sonnet-4-5-20250929", "anthropic", "anthropic/claude-sonnet-4-5"),
        ("anthropic/claude-opus-4-6", None, "anthropic/claude-opus-4-6 from 2026-03-13"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic", "aws/regional.anthropic.claude-sonnet-4-20250514-v1:0"),
        ("claude-sonnet-4@20250514", "anthropic", "google/claude-4-sonnet"),
        ("gpt-5.5", "openai", "openai/gpt-5.5"),
    ],
)  # fmt: skip
def test_the_names_agents_write_have_their_prices(pricer, name, home, source):
    """As of genai-prices 0.2.3; a newer one may call a model otherwise."""
    at = datetime(2026, 6, 1, tzinfo=UTC)
    cost = pricer.price(Call(model=name, counts=Additive(100, 10), at=at, home=home))

    assert cost.source == f"{pricer.chooser.table.name}, {source}"


@pytest.mark.parametrize("name", ["claude-demo-1", "gpt-fake", "mock-model", "<synthetic>"])
@pytest.mark.parametrize("home", ["anthropic", "openai", None])
def test_a_made_up_model_is_unpriced(pricer, name, home):
    cost = pricer.price(Call(model=name, counts=Additive(100, 10), home=home))

    assert (cost.exact, cost.reason) == (None, "genai-prices does not know the model")
