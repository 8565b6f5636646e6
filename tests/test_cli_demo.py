"""`turnlog demo`: every view over the home that ships with the package."""

import jsonschema

from commands import DEMO
from inprocess import as_json, command, told
from turnlog.schemas import schema


def test_every_view_is_shown_with_the_words_to_type(capsysbinary):
    lines = told(capsysbinary, "demo", "--timezone", "UTC")
    typed = [row.strip().removeprefix("$ ") for row in lines if row.startswith("  $ ")]

    for word in ("turnlog --home DEMO", "turnlog list", "turnlog show", "turnlog check", "turnlog demo --path"):
        assert any(row.startswith(word) for row in typed), word
    assert any("4 agents, 12 sessions" in row for row in lines)
    assert any(row.startswith("not complete (exit 3)") for row in lines)
    assert not set("".join(lines)) & set("\x1b\x07")


def test_the_path_is_the_home_that_ships_and_nothing_else(capsysbinary):
    assert told(capsysbinary, "demo", "--path") == [str(DEMO)]


def test_the_json_is_what_its_schema_promises(capsysbinary):
    found = as_json(capsysbinary, "demo")

    jsonschema.validate(found, schema("turnlog.demo/1"))
    assert found["overview"]["sessions"] == len(found["list"]["sessions"]) == 12
    assert found["shown"]["subagents"]
    assert found["checked"]["verdict"] == "not complete"


def test_the_commands_the_demo_names_run(capsysbinary):
    lines = told(capsysbinary, "demo")
    (shown,) = [row.split("turnlog ")[1].split() for row in lines if "$ turnlog show" in row]
    words = [str(DEMO) if word == "DEMO" else word for word in shown]

    assert command(capsysbinary, *words)[0] == 0


def test_nothing_is_written(capsysbinary, tmp_path, monkeypatch, home):
    monkeypatch.chdir(tmp_path)
    told(capsysbinary, "demo")

    assert list(tmp_path.iterdir()) == []
    assert list(home.iterdir()) == []
