"""`turnlog explain`: what it prints at 80 columns, its JSON, its limits and its exit codes."""

import json
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from commands import DEMO
from inprocess import as_json, command, told
from spending import PRICES, answer, put
from turnlog.cli import explain as room
from turnlog.schemas import schema

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SESSION = "11111111-0000-4000-8000-000000000001"
OTHER = "11222222-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Two sessions; one call of the first stands on two lines and is copied into the second."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "turnlog").mkdir(parents=True)
    (tmp_path / "config" / "turnlog" / "prices.toml").write_text(PRICES, encoding="utf-8")
    home = tmp_path / "home"
    early = answer(1, SESSION, NOON, tokens=(1_000_000, 3, 0, 0)) | {"uuid": "u1a"}
    whole = answer(1, SESSION, NOON + timedelta(seconds=2), tokens=(1_000_000, 100, 0, 0)) | {"uuid": "u1b"}
    side = answer(2, SESSION, NOON + timedelta(minutes=1), "model-b", (1, 1, 0, 0), sidechain=True)
    put(home, SESSION, [early, whole, side])
    put(home, OTHER, [whole, answer(3, OTHER, NOON + timedelta(days=1), "model-of-no-price")])
    return home


def lines_of(capsysbinary, *args):
    """The lines, with plain spaces for thin ones, none of them over 80 cells."""
    lines = [line.replace("\N{NARROW NO-BREAK SPACE}", " ") for line in told(capsysbinary, "explain", *args)]
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []
    return lines


def test_the_sums_come_first_then_each_call_with_its_place_then_what_is_left_out(capsysbinary, home, monkeypatch):
    monkeypatch.setenv("HOME", str(home))
    lines = lines_of(capsysbinary, "--home", home, "-z", "UTC", "--day", "20260501")

    size = [len(line) for line in (home / f".claude/projects/-work-one/{SESSION}.jsonl").read_bytes().splitlines(True)]
    one, two, three = f"0-{size[0]}", f"{size[0]}-{sum(size[:2])}", f"{sum(size[:2])}-{sum(size)}"
    again = len((home / f".claude/projects/-work-one/{OTHER}.jsonl").read_bytes().splitlines(True)[0])
    assert [" ".join(line.split()) for line in lines[:25]] == [
        "$1.00 1 000 102 tokens 2 calls counted, 2 records left out",
        "day 2026-05-01; times and days of UTC",
        "",
        "counted",
        f"~/.claude/projects/-work-one/{SESSION}.jsonl",
        f"model-a, session {SESSION}",
        "line bytes time input write read output cost",
        f"1 {one} 12:00:00 1 000 000 0 0 100 $1.0010 [1]",
        f"the same call: line 2, {OTHER}.jsonl:1",
        "from line 2: output 100 (here 3)",
        f"~/.claude/projects/-work-one/{SESSION}.jsonl",
        f"model-b, session {SESSION}",
        "line bytes time input write read output cost",
        f"3 {three} 12:01:00 1 0 0 1 $0.000033 [2]",
        "by a subagent or aside",
        "",
        "left out",
        f"~/.claude/projects/-work-one/{SESSION}.jsonl",
        "line bytes time tokens rule",
        f"2 {two} 12:00:02 1 000 100 the same call on another line: line 1",
        f"~/.claude/projects/-work-one/{OTHER}.jsonl",
        "line bytes time tokens rule",
        f"1 0-{again} 12:00:02 1 000 100 the same call, copied into another file",
        f"counted: {SESSION}.jsonl:1, bytes {one}",
        "",
    ]
    assert [line[:12] for line in lines if line.startswith("[")] == ["[1] override", "[2] override"]
    assert lines[-2] == "the bytes of a record: turnlog raw FILE --start N --end N"
    assert lines[-1].startswith("complete: 2 files read whole")


def test_json_keeps_its_schema_and_holds_every_row(capsysbinary, home):
    view = as_json(capsysbinary, "explain", "--home", home, "-z", "UTC")

    jsonschema.validate(view, schema("turnlog.explain/1"))
    assert len(view["counted"]) == view["totals"]["calls"] == 3
    assert len(view["left"]) == view["leftOut"] == 2
    first = view["counted"][0]
    assert (first["written"]["outputTokens"], first["tokens"]["outputTokens"]) == (3, 100)
    assert [(one["line"], one["gave"]) for one in first["merged"]] == [(2, ["outputTokens"]), (1, ["outputTokens"])]
    assert {one["reason"] for one in view["left"]} == {
        "the same call on another line",
        "the same call, copied into another file",
    }


def test_the_bytes_it_names_are_those_of_the_record(capsysbinary, home):
    view = as_json(capsysbinary, "explain", "--home", home, "-z", "UTC")

    for row in [*view["counted"], *view["left"]]:
        code, out, _ = command(capsysbinary, "raw", row["path"], "--start", str(row["start"]), "--end", str(row["end"]))
        record = json.loads(out)
        assert code == 0
        assert record["message"]["model"] == row["model"]
        assert record["sessionId"] == row["sessionId"] or row in view["left"]
        written = row.get("written") or row["tokens"]
        assert record["message"]["usage"]["output_tokens"] == written["outputTokens"]


def test_a_limit_cuts_the_lists_and_no_sum(capsysbinary, home):
    view = as_json(capsysbinary, "explain", "--home", home, "-z", "UTC", "--limit", "1")
    whole = as_json(capsysbinary, "explain", "--home", home, "-z", "UTC")

    assert (len(view["counted"]), len(view["left"])) == (1, 1)
    assert (view["totals"], view["leftOut"], view["sources"]) == (whole["totals"], 2, whole["sources"])
    lines = lines_of(capsysbinary, "--home", home, "-z", "UTC", "--limit", "1")
    assert "  the first 1 of 3 calls; --limit N shows more, --json all" in lines
    assert "  the first 1 of 2 records; --limit N shows more, --json all" in lines


@pytest.mark.parametrize("seen", [False, True], ids=["piped", "on a terminal"])
def test_on_a_terminal_lists_are_short_and_elsewhere_whole(capsysbinary, home, monkeypatch, seen):
    monkeypatch.setattr(room, "on_terminal", lambda: seen)
    monkeypatch.setattr(room, "ROWS", 2)

    lines = lines_of(capsysbinary, "--home", home, "-z", "UTC")

    assert any("the first 2 of 3 calls" in line for line in lines) is seen


def test_what_has_no_price_says_why(capsysbinary, home):
    lines = lines_of(capsysbinary, "--home", home, "-z", "UTC", "--model", "model-of-no-price")

    assert lines[0].startswith("unpriced  100 tokens  1 call counted")
    (note,) = [line for line in lines if line.startswith("[1] ")]
    assert note.endswith(": 1 call")
    (row,) = as_json(capsysbinary, "explain", "--home", home, "--model", "model-of-no-price")["counted"]
    assert (row["cost"], row["priceSource"]) == (None, None)
    assert row["unpriced"] in note


def test_prices_of_a_file_and_the_mode_are_those_of_the_reports(capsysbinary, home, tmp_path):
    own = tmp_path / "own.toml"
    own.write_text('[models."model-of-no-price"]\ninput = 1\noutput = 1\ncache_read = 1\ncache_write_5m = 1\n')
    asked = ("--home", home, "-z", "UTC", "--prices", own)

    row = as_json(capsysbinary, "usage", "model", *asked)["model"]
    view = as_json(capsysbinary, "explain", *asked, "--model", "model-of-no-price")

    (wanted,) = [one["totalCost"] for one in row if one["model"] == "model-of-no-price"]
    assert view["totals"]["totalCost"] == wanted == pytest.approx(0.0001)
    assert as_json(capsysbinary, "explain", *asked, "-m", "display")["totals"]["totalCost"] is None


def test_nothing_that_fits_exits_1(capsysbinary, home, tmp_path):
    for words in (["--day", "20300101"], ["--model", "nobody"], ["-p", "nowhere"], ["-s", "20300101"]):
        code, out, err = command(capsysbinary, "explain", *words, "--home", home)
        assert (code, out) == (1, b"")
        assert b"no call fits" in err
    view = as_json(capsysbinary, "explain", "--day", "20300101", "--home", home, code=1)
    jsonschema.validate(view, schema("turnlog.explain/1"))
    assert b"turnlog demo" in command(capsysbinary, "explain", "--home", tmp_path / "empty")[2]


def test_a_session_that_is_not_there_or_not_one_exits_1_with_a_sentence(capsysbinary, home):
    for word, said in (("7777", b'no session starts with "7777"'), ("11", b'"11" begins 2 sessions')):
        code, out, err = command(capsysbinary, "explain", "--session", word, "--home", home)
        assert (code, out) == (1, b"")
        assert said in err
    assert as_json(capsysbinary, "explain", "--session", "1122", "--home", home)["session"] == OTHER


@pytest.mark.parametrize(
    "words",
    [
        ["--day", "yesterday"],
        ["--day", "2026-W18-5"],
        ["--month", "2026-13"],
        ["--month", "2026-11-01"],
        ["-s", "yesterday"],
        ["-z", "Mars/Olympus"],
        ["-m", "guess"],
        ["--agent", "nobody"],
        ["--limit", "-1"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_exits_2(capsysbinary, words):
    assert command(capsysbinary, "explain", *words, "--home", DEMO)[0] == 2


def test_strict_exits_3_where_something_could_not_be_read_whole(capsysbinary, home):
    assert command(capsysbinary, "explain", "--home", DEMO, "--strict")[0] == 3
    assert command(capsysbinary, "explain", "--home", home, "--strict")[0] == 0


def test_sessions_of_which_none_can_be_read_exit_4(capsysbinary, tmp_path):
    folder = tmp_path / ".claude/projects/-x"
    folder.mkdir(parents=True)
    (folder / "b.jsonl").symlink_to(tmp_path / "nowhere")

    assert command(capsysbinary, "explain", "--home", tmp_path)[0] == 4


def test_the_demo_home_fits_80_columns_and_ends_with_the_verdict(capsysbinary):
    lines = lines_of(capsysbinary, "--home", DEMO, "-z", "UTC")

    assert lines[-1].startswith("not complete: ")
    assert "the bytes of a record: turnlog raw FILE --start N --end N" in lines


def test_names_of_a_hostile_home_reach_no_terminal_raw(capsysbinary, tmp_path):
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e"
    line = answer(1, f"s1{hostile}", NOON, f"model{hostile}", cwd=f"/tmp/{hostile}")
    put(tmp_path, "s1", [line, line | {"uuid": "again"}])
    put(tmp_path, f"s2{hostile.replace('/', '')}", [line])

    for words in ([], ["--session", "s1"], ["--session", hostile]):
        code, out, err = command(capsysbinary, "explain", *words, "--home", tmp_path)
        assert code == (1 if words[1:] == [hostile] else 0)
        assert not set((out + err).decode()) & set("\x1b\x07\u202e")
