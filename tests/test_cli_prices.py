"""`turnlog prices`: the table, a model's prices, and the update."""

import importlib.metadata
import json

import httpx2
import pytest

from commands import as_json, turnlog
from turnlog.ledger.prices.listing import price_list
from turnlog.render.plain import json_bytes

VERSION = importlib.metadata.version("genai-prices")


def out(*args, code=0):
    done = turnlog("prices", *args)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode()


def err(*args, code):
    done = turnlog("prices", *args)
    assert done.returncode == code
    assert done.stdout == b""
    return done.stderr.decode()


def test_without_a_word_the_table_in_use_is_shown():
    said = out()

    assert said == out("show")
    assert said.startswith(f"genai-prices {VERSION}, as it came\n")
    assert "kept in ~/" in said


def test_a_models_prices_are_listed_a_row_for_each_that_holds():
    said = out("list", "claude-sonnet-4-5")
    rows = [line.split() for line in said.splitlines()]

    assert rows[0][:2] == ["claude-sonnet-4-5", "anthropic/claude-sonnet-4-5,"]
    assert rows[2][:6] == ["always", "3", "15", "0.3", "3.75", "6"]
    assert any(row[:4] == ["over", "200", "000", "input"] for row in rows)


def test_json_says_what_the_library_says():
    told = as_json("prices", "list", "gpt-5.5", "nothing-like-it")

    assert told == json.loads(json_bytes(price_list(["gpt-5.5", "nothing-like-it"])))
    assert (told["schema"], told["library"], told["updated"]) == ("turnlog.prices/1", VERSION, None)
    priced, unpriced = told["asked"]
    assert (priced["provider"], priced["model"], priced["reason"]) == ("openai", "gpt-5.5", None)
    assert priced["rows"][0]["input"] > 0
    assert (unpriced["model"], unpriced["rows"]) == (None, [])
    assert unpriced["reason"] == "genai-prices does not know the model"


def test_an_unpriced_model_is_said_to_be_and_exits_1_only_where_none_has_a_price():
    assert "unpriced" in out("list", "nothing-like-it", code=1)
    assert "unpriced" in out("list", "nothing-like-it", "gpt-5.5")


def test_the_provider_can_be_named():
    assert as_json("prices", "list", "gpt-5.5", "--provider", "azure")["asked"][0]["provider"] == "azure"
    assert "does not know the provider" in out("list", "gpt-5.5", "--provider", "cellar", code=1)


def test_names_cannot_reach_the_terminal_raw():
    assert "\x1b" not in out("list", "\x1b[31mred", code=1)


def test_own_prices_come_first(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('[models."mine"]\ninput = 1\noutput = 2\n', encoding="utf-8")

    assert "own.toml comes first, for mine" in out("--prices", file)
    told = as_json("prices", "list", "mine", "--prices", file)
    assert told["overrides"] == str(file)
    assert (told["asked"][0]["provider"], told["asked"][0]["rows"][0]["output"]) == (None, 2.0)


@pytest.mark.parametrize("words", [["list"], ["show", "x"], ["update", "x"], ["fly"]], ids=" ".join)
def test_words_that_cannot_be_meant_exit_2(words):
    err(*words, code=2)


def test_a_mistake_in_own_prices_exits_2_with_file_and_key(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('[models."mine"]\ninput = 1\n', encoding="utf-8")

    assert f'{file}: models."mine".output: expected' in err("--prices", file, code=2)


def test_an_update_is_used_from_then_on(monkeypatch):
    model = {"id": "gpt-new", "match": {"equals": "gpt-new"}, "prices": {"input_mtok": 1, "output_mtok": 2}}
    one = {"id": "openai", "name": "x", "api_pattern": "x", "model_match": {"starts_with": "gpt-"}, "models": [model]}

    def get(url, **_):
        return httpx2.Response(200, json=[one], request=httpx2.Request("GET", url))

    monkeypatch.setattr(httpx2, "get", get)

    assert out("update").startswith(f"genai-prices {VERSION}, updated 2")
    assert out("show").startswith(f"genai-prices {VERSION}, updated 2")
    assert "unpriced" in out("list", "gpt-5.5", code=1)
    assert as_json("prices", "list", "gpt-new")["asked"][0]["rows"][0]["output"] == 2.0


def test_an_update_asks_for_the_network_and_says_when_there_is_none():
    said = err("update", code=4)

    assert said == "turnlog: the prices genai-prices publishes: could not be fetched: RefusedError\n"
