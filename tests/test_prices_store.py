"""The price table in the cache folder, a person's own prices, and the one way to the network."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import httpx2
import msgspec
import pytest

from commands import environment
from turnlog.errors import InvalidOptionsError, SourceUnreadable
from turnlog.ledger.folders import cache_folder
from turnlog.ledger.prices import Call, Pricer, derive, load_table, store
from turnlog.ledger.prices.overrides import Overrides, default_file, read_overrides
from turnlog.ledger.prices.store import stored, update_prices
from turnlog.ledger.prices.table import LAYOUT
from turnlog.tokens import Additive

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and pipes are POSIX")


@pytest.fixture
def small(monkeypatch):
    """A small table in place of the library's, and how often it was made."""
    made = []
    version = store._installed()

    def derived():
        made.append(1)
        return derive._table(version, [], None)

    monkeypatch.setattr(derive, "derived", derived)
    return made


def usd(pricer, name, fresh=1_000_000, out=0, **more):
    return pricer.price(Call(model=name, counts=Additive(fresh, out), at=NOON, **more)).usd


def same(first, second):
    return msgspec.msgpack.encode(first) == msgspec.msgpack.encode(second)


def test_the_table_is_kept_by_version_and_layout_for_this_user_alone(small):
    kept = stored()

    assert kept.file == Path(cache_folder()) / f"prices-{LAYOUT}-{store._installed()}.bin"
    assert os.listdir(cache_folder()) == [kept.file.name]
    if os.name == "posix":
        assert Path(cache_folder()).stat().st_mode & 0o777 == 0o700
        assert kept.file.stat().st_mode & 0o777 == 0o600


def test_the_cache_folder_is_the_one_that_was_named(small, tmp_path, monkeypatch):
    monkeypatch.setenv("TURNLOG_CACHE", str(tmp_path / "cache"))

    assert stored().file.parent == tmp_path / "cache"


def test_it_is_made_once(small):
    first = load_table()
    second = load_table()

    assert len(small) == 1
    assert same(first, second)


def test_only_the_first_run_imports_the_library():
    code = (
        "import sys; from turnlog.ledger.prices import load_table; load_table(); print('genai_prices' in sys.modules)"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
        ).stdout
        for _ in range(2)
    ]

    assert said == ["True\n", "False\n"]


def test_what_was_kept_prices_as_what_was_made():
    made, kept = load_table(), load_table()

    assert same(made, kept)
    assert usd(Pricer(kept, Overrides()), "claude-haiku-4-5", home="anthropic") == 1.0


def spoil(how):
    def spoiling(path):
        path.write_bytes(how(path.read_bytes()))

    return spoiling


def as_folder(path):
    path.unlink()
    path.mkdir()


def as_pipe(path):
    path.unlink()
    os.mkfifo(path)


def of_another(**changed):
    """The table with another version inside, its checksum right."""

    def spoiling(path):
        table = store._read(path, store._installed())
        assert store._write(path, msgspec.structs.replace(table, **changed))

    return spoiling


@pytest.mark.parametrize(
    "spoiling",
    [
        pytest.param(spoil(lambda _: b""), id="empty"),
        pytest.param(spoil(lambda data: data[:-1]), id="cut"),
        pytest.param(spoil(lambda data: data[:20]), id="only a head"),
        pytest.param(spoil(lambda data: data + b"\0"), id="longer"),
        pytest.param(spoil(lambda data: data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]), id="one bit"),
        pytest.param(spoil(lambda _: b'{"prices": 1}\n'), id="foreign"),
        pytest.param(spoil(lambda _: store._sealed(b"\x93\x01\x02\x03")), id="another struct"),
        pytest.param(spoil(lambda _: store._sealed(b"\x91" * 100_000)), id="deep"),
        pytest.param(spoil(lambda _: store._sealed(b"")), id="nothing sealed"),
        pytest.param(of_another(library="0.0.1"), id="another version"),
        pytest.param(of_another(layout=LAYOUT + 1), id="another layout"),
        pytest.param(Path.unlink, id="gone"),
        pytest.param(as_folder, id="a folder"),
        pytest.param(as_pipe, id="a pipe", marks=POSIX),
    ],
)
def test_a_kept_table_that_is_not_one_is_made_anew(small, spoiling):
    path = stored().file
    whole = path.read_bytes()
    spoiling(path)

    again = load_table()

    assert len(small) == 2
    assert again.library == store._installed()
    if path.is_file():
        assert path.read_bytes() == whole
        load_table()
        assert len(small) == 2, "and kept"


def test_a_kept_price_that_was_changed_is_not_believed():
    path = stored().file
    data = path.read_bytes()
    assert b"0.125" in data
    path.write_bytes(data.replace(b"0.125", b"0.126", 1))  # as good a table as any, but for its checksum

    load_table()

    assert path.read_bytes() == data


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners here")
def test_a_table_of_another_user_is_not_believed(small, monkeypatch):
    stored()
    other = os.getuid() + 1
    monkeypatch.setattr(store.os, "getuid", lambda: other)
    load_table()

    assert len(small) == 2


def test_a_cache_folder_that_cannot_be_written_costs_only_time(small, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    for _ in range(2):
        kept = stored(file / "below")
        assert kept.file is None
        assert kept.table.library == store._installed()

    assert len(small) == 2


def test_a_failed_write_leaves_nothing_half(small, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "refused")

    monkeypatch.setattr(store.os, "replace", refuse)

    assert stored().file is None
    assert os.listdir(cache_folder()) == []


def test_a_table_appears_whole_under_its_name(small, monkeypatch):
    seen = []
    replace = os.replace

    def watch(source, target):
        seen.append((store._read(Path(source), store._installed()) is not None, Path(target).exists()))
        replace(source, target)

    monkeypatch.setattr(store.os, "replace", watch)
    stored()

    assert seen == [(True, False)]


@pytest.mark.slow
def test_several_processes_at_once_all_have_the_table():
    code = "from turnlog.ledger.prices import load_table; print(len(load_table().providers))"
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment()) for _ in range(3)
    ]
    said = {process.communicate(timeout=60)[0] for process in running}

    assert len(said) == 1
    assert int(said.pop()) > 10
    assert len(os.listdir(cache_folder())) == 1


def test_without_the_library_everything_is_unpriced_and_says_so(monkeypatch):
    monkeypatch.setattr(store, "_installed", lambda: None)
    pricer = Pricer(load_table(), Overrides())

    cost = pricer.price(Call(model="gpt-5.5", counts=Additive(1, 1), home="openai"))

    assert (cost.exact, cost.reason) == (
        None,
        "there is no price table: genai-prices is missing or not one turnlog knows",
    )


@pytest.mark.parametrize("wrong", [None, [object()], [{"id": "openai"}]], ids=["nothing", "objects", "dicts"])
def test_a_library_of_another_shape_leaves_everything_unpriced(monkeypatch, wrong):
    import genai_prices.data

    monkeypatch.setattr(genai_prices.data, "providers", wrong)
    pricer = Pricer(load_table(), Overrides())

    assert usd(pricer, "gpt-5.5", home="openai") is None
    assert not Path(cache_folder()).exists(), "and nothing is kept of it"


def test_the_version_is_told_without_importing_the_library():
    code = "import sys; from turnlog.ledger.prices import store; print(store._installed()); print('genai_prices' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment())
    from importlib.metadata import version

    assert said.stdout.split() == [version("genai-prices"), "False"]


PUBLISHED = [
    {
        "id": "openai", "name": "OpenAI", "api_pattern": "x", "model_match": {"starts_with": "gpt-"},
        "models": [
            {
                "id": "gpt-new",
                "match": {"or": [{"equals": "gpt-new"}, {"and": [{"contains": "gpt"}, {"ends_with": "-newer"}]}]},
                "prices": [
                    {"prices": {"input_mtok": 1, "output_mtok": {"base": 2, "tiers": [{"start": 10, "price": 3}]}}},
                    {"constraint": {"start_date": "2026-07-01"}, "prices": {"input_mtok": 5, "output_mtok": 6}},
                    {"constraint": {"start_time": "01:00:00Z", "end_time": "02:00:00Z"}, "prices": {"input_mtok": 7}},
                ],
                "price_variants": [{"when": {"service_tier": "flex"}, "prices": {"input_mtok": 0.5}}],
            }
        ],
    }
]  # fmt: skip


@pytest.fixture
def published(monkeypatch):
    """What the library's own updater is given in place of the network, and the addresses it asked for."""
    asked = []

    def get(url, **_):
        asked.append(url)
        return httpx2.Response(200, json=PUBLISHED, request=httpx2.Request("GET", url))

    monkeypatch.setattr(httpx2, "get", get)
    return asked


def test_an_update_is_fetched_once_and_used_from_then_on(published, small):
    before = stored()
    kept = update_prices()
    pricer = Pricer(load_table(), Overrides())

    assert len(published) == 1
    assert kept.file != before.file
    assert same(load_table(), kept.table)
    assert usd(pricer, "gpt-new") == 1.0
    assert usd(pricer, "xgpt-newer", provider="openai", tier="flex") == 0.5
    assert usd(pricer, "gpt-new", fresh=10, out=1_000_000) == 2.00001
    assert usd(pricer, "gpt-new", fresh=11, out=1_000_000) == 3.000011
    assert usd(pricer, "gpt-5.5") is None
    source = pricer.price(Call(model="gpt-new", counts=Additive(1, 1), at=NOON)).source
    assert source == f"genai-prices {store._installed()} updated {kept.table.fetched}, openai/gpt-new"


def test_an_update_is_of_one_version_of_the_library(published, small, monkeypatch):
    update_prices()
    monkeypatch.setattr(store, "_installed", lambda: "77.0")
    monkeypatch.setattr(derive, "derived", lambda: derive._table("77.0", [], None))

    assert load_table().fetched is None


def test_without_a_network_an_update_says_so_and_the_table_stays(small):
    before = load_table()
    with pytest.raises(SourceUnreadable, match="the prices genai-prices publishes: could not be fetched: "):
        update_prices()  # sockets are refused in every test

    assert same(load_table(), before)


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]", b'[{"id": 1}]', b"[" * 100_000])
def test_an_update_of_something_else_is_refused(monkeypatch, small, answer):
    def get(url, **_):
        return httpx2.Response(200, content=answer, request=httpx2.Request("GET", url))

    monkeypatch.setattr(httpx2, "get", get)
    with pytest.raises(SourceUnreadable):
        update_prices()

    assert load_table().fetched is None


def test_an_update_that_cannot_be_kept_says_where(published, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    with pytest.raises(SourceUnreadable, match="expected a folder that can be written to"):
        update_prices(file / "below")


OWN = """
[models."Mine"]
input = 1.25
output = 10

[models.cached]
input = 2
output = 4
cache_read = 0.2
cache_write_5m = 2.5
cache_write_1h = 4

[models."claude-haiku-4-5"]
input = 100
output = 100

[[models."openai/gpt-5.5"]]
input = 7
output = 7

[[models.later]]
from = 2026-07-01
input = 3
output = 3

[[models.later]]
input = 1
output = 1

[[models."gpt-5.5"]]
from = 2026-07-01
input = 9
output = 9
"""


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(OWN, encoding="utf-8")
    return Pricer(None, read_overrides(file)), file


def test_a_persons_own_price_comes_first_whole_name_in_any_case(own):
    pricer, file = own

    cost = pricer.price(Call(model="MINE", counts=Additive(1_000_000, 100_000)))

    assert cost.usd == 2.25
    assert cost.source == f"override {file}, Mine"
    assert usd(pricer, "claude-haiku-4-5", home="anthropic") == 100
    assert usd(pricer, "claude-haiku-4-5-20251001", home="anthropic") == 1
    assert usd(pricer, "mine-2") is None


def test_its_cache_parts_have_their_prices_or_that_of_the_input(own):
    pricer, _ = own
    counts = Additive(0, 0, 1_000_000, 1_000_000)

    assert pricer.price(Call(model="cached", counts=counts, write_1h=500_000)).usd == 0.2 + 1.25 + 2
    assert pricer.price(Call(model="mine", counts=counts, write_1h=500_000)).usd == 2.5


def test_a_price_of_one_provider_is_for_calls_that_name_it(own):
    pricer, _ = own

    assert usd(pricer, "gpt-5.5", provider="openai") == 7
    assert usd(pricer, "gpt-5.5", provider="OpenAI") == 7


def test_a_dated_price_begins_with_its_day_and_before_it_the_table_holds(own):
    pricer, _ = own
    july = NOON.replace(month=7)
    call = Call(model="later", counts=Additive(1_000_000, 0), at=july)

    assert usd(pricer, "later") == 1
    assert pricer.price(call).usd == 3
    assert pricer.price(call).source.endswith(", later from 2026-07-01")
    assert usd(pricer, "gpt-5.5", home="openai", fresh=100_000) == 0.5, "the table's own"
    assert pricer.price(Call(model="gpt-5.5", counts=Additive(1_000_000, 0), at=july)).usd == 9


def test_the_file_of_the_configuration_folder_is_read_where_none_is_named():
    assert read_overrides() == Overrides()
    default_file().parent.mkdir(parents=True)
    default_file().write_text(OWN, encoding="utf-8")

    assert usd(Pricer(), "mine") == 1.25
    assert default_file().parts[-2:] == ("turnlog", "prices.toml")


@pytest.mark.parametrize(
    "text, said",
    [
        ("[models", "expected TOML, found: "),
        ("[model.x]\ninput = 1", "model: expected only tables of models, found another key"),
        ("models = 3", "models: expected a table, found a number"),
        ("[models]\nx = 3", 'models."x": expected a table of prices, found a number'),
        ("[models]\nx = []", 'models."x": expected a table of prices, found an array'),
        ("[models.x]\noutput = 1", 'models."x".input: expected US dollars per million tokens, found nothing'),
        ("[models.x]\ninput = 1", 'models."x".output: expected US dollars per million tokens, found nothing'),
        ("[models.x]\ninput = '1'\noutput = 1", 'models."x".input: expected US dollars per million tokens, found text'),
        ("[models.x]\ninput = true\noutput = 1", 'models."x".input: expected US dollars per million tokens, found a boolean'),
        ("[models.x]\ninput = -1\noutput = 1", 'models."x".input: expected a price from 0 to 1000000000, found another'),
        ("[models.x]\ninput = nan\noutput = 1", 'models."x".input: expected a price from 0 to 1000000000, found another'),
        ("[models.x]\ninput = 1e99\noutput = 1", 'models."x".input: expected a price from 0 to 1000000000, found another'),
        ("[models.x]\ninput = 1\noutput = 1\ncache = 1", 'models."x".cache: expected one of input, output, cache_read,'),
        ("[[models.x]]\ninput = 1\noutput = 1\n[[models.x]]\ninput = 1", 'models."x"[1].output: expected US dollars'),
        ("[models.x]\ninput = 1\noutput = 1\nfrom = 'x'", 'models."x".from: expected a day such as 2026-07-01, found text'),
        ("[models.x]\ninput = 1\noutput = 1\nfrom = 2026-07-01T00:00:00", 'models."x".from: expected a day such as'),
    ],
)  # fmt: skip
def test_a_mistake_in_the_file_is_told_with_file_and_key(tmp_path, text, said):
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(InvalidOptionsError) as raised:
        read_overrides(file)

    assert str(raised.value).startswith(f"{file}: {said}")


def test_a_file_that_is_none_is_told(tmp_path):
    with pytest.raises(InvalidOptionsError, match="expected a file of prices, found none"):
        read_overrides(tmp_path / "missing.toml")
    with pytest.raises(InvalidOptionsError, match="expected a readable file, found: "):
        read_overrides(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidOptionsError, match="expected TOML in UTF-8, found other bytes"):
        read_overrides(tmp_path / "bytes.toml")
    (tmp_path / "deep.toml").write_bytes(b"x = " + b"[" * 100_000)
    with pytest.raises(InvalidOptionsError, match="expected TOML, found"):
        read_overrides(tmp_path / "deep.toml")


def test_prices_are_read_as_they_are_written(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("[models.x]\ninput = 0.1\noutput = 0.30000000000000001\n", encoding="utf-8")
    cost = Pricer(None, read_overrides(file)).price(Call(model="x", counts=Additive(3, 1)))

    assert Decimal(cost.exact) == (Decimal("0.3") + Decimal("0.30000000000000001")) * 10**18
