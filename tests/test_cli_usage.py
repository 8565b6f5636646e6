"""`turnlog usage`: its words and flags, the tables at 80 columns, the JSON, and the exit codes."""

import json
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from commands import DEMO, turnlog
from inprocess import as_json, command, told
from spending import PRICES, answer, put
from turnlog.ledger.usage import REPORTS
from turnlog.schemas import schema

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
UTC_DEMO = ("--home", DEMO, "-z", "UTC")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with three days, two models of known prices, one without, a branch that was left, and a subagent."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "turnlog").mkdir(parents=True)
    (tmp_path / "config" / "turnlog" / "prices.toml").write_text(PRICES, encoding="utf-8")
    home = tmp_path / "home"
    one, two = "11111111-0000-4000-8000-000000000001", "22222222-0000-4000-8000-000000000002"
    million = (1_000_000, 100_000, 12_000_000, 400_000)
    put(
        home,
        one,
        [
            answer(1, one, NOON, "model-a", million),
            answer(2, one, NOON + timedelta(minutes=10), "model-a", million, parent="u1"),
            answer(3, one, NOON + timedelta(minutes=20), "model-b", (5, 5, 0, 0), parent="u1"),
        ],
    )
    put(home, f"{one}/subagents/agent-x", [answer(4, one, NOON + timedelta(days=1), sidechain=True)])
    put(home, two, [answer(5, two, NOON + timedelta(days=2), "model-of-no-price", cwd="/work/two")], "-work-two")
    return home


def golden(capsysbinary, *args):
    """The lines, with plain spaces for thin ones, none of them over 80 cells."""
    lines = [line.replace("\N{NARROW NO-BREAK SPACE}", " ") for line in told(capsysbinary, "usage", *args)]
    assert [line for line in lines if len(line) > 80] == []
    return lines


def test_days_fit_80_columns_with_exact_numbers(capsysbinary, home):
    assert golden(capsysbinary, "--home", home, "-z", "UTC") == [
        "day             input   output  cache write  cache read       total      cost",
        "2026-05-01  2 000 005  200 005      800 000  24 000 000  27 000 010     $7.40",
        "2026-05-02         10       20           40          30         100    <$0.01",
        "2026-05-03         10       20           40          30         100  unpriced",
        "total       2 000 025  200 045      800 080  24 000 060  27 000 210    ≥$7.40",
        "",
        "at least: 1 model without a price (model-of-no-price)",
        "100 of the tokens by subagents and aside, <$0.01",
        "UTC; 0 copies not counted twice",
        "complete: 3 files read whole (2.4 kB)",
    ]


def test_a_breakdown_names_the_models_below_each_row_and_numbers_get_short_where_exact_ones_do_not_fit(
    capsysbinary, home
):
    lines = golden(capsysbinary, "monthly", "-b", "--home", home, "-z", "UTC")

    assert lines[:6] == [
        "month                 input  output  cache write  cache read   total      cost",
        "2026-05              2.00 M   200 k        800 k      24.0 M  27.0 M    ≥$7.40",
        "  model-a            2.00 M   200 k        800 k      24.0 M  27.0 M     $7.40",
        "  model-of-no-price      10      20           40          30     100  unpriced",
        "  model-b                 5       5            0           0      10    <$0.01",
        "total                2.00 M   200 k        800 k      24.0 M  27.0 M    ≥$7.40",
    ]


def test_compact_leaves_the_cache_columns_out_and_no_cost_the_costs(capsysbinary, home):
    lines = golden(capsysbinary, "daily", "--compact", "--no-cost", "--home", home, "-z", "UTC")

    assert lines[:5] == [
        "day             input   output       total",
        "2026-05-01  2 000 005  200 005  27 000 010",
        "2026-05-02         10       20         100",
        "2026-05-03         10       20         100",
        "total       2 000 025  200 045  27 000 210",
    ]
    assert "$" not in "".join(lines)


def test_sessions_show_the_whole_the_visible_path_and_what_was_aside(capsysbinary, home):
    assert golden(capsysbinary, "session", "--home", home, "-z", "UTC")[:4] == [
        "session  last         total      cost  branch  aside  context    peak  cached",
        "1111     2026-05-02  27.0 M     $7.40   $3.70    100        5  13.4 M     90%",
        "2222     2026-05-03     100  unpriced     100              80      80     38%",
        "total                27.0 M    ≥$7.40",
    ]


def test_blocks_show_the_gaps_and_the_totals(capsysbinary, home):
    assert golden(capsysbinary, "blocks", "--home", home, "-z", "UTC")[:7] == [
        "block             state               calls       total      cost  models",
        "2026-05-01 12:00  20 min                  3  27 000 010     $7.40  model-a, mod…",
        "2026-05-01 17:20  gap of 18 h 40 min",
        "2026-05-02 12:00  0 min                   1         100    <$0.01  model-a",
        "2026-05-02 17:00  gap of 19 h 0 min",
        "2026-05-03 12:00  0 min                   1         100  unpriced  model-of-no-…",
        "total                                     5  27 000 210    ≥$7.40",
    ]


def test_days_by_project_stand_below_their_folder(capsysbinary, home):
    lines = golden(capsysbinary, "daily", "--instances", "--home", home, "-z", "UTC")

    assert [line for line in lines if line.startswith("/")] == ["/work/one", "/work/two"]
    found = as_json(capsysbinary, "usage", "daily", "--instances", "--home", home, "-z", "UTC")
    assert {key: [row["date"] for row in rows] for key, rows in found["projects"].items()} == {
        "/work/one": ["2026-05-01", "2026-05-02"],
        "/work/two": ["2026-05-03"],
    }
    assert "daily" not in found


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("flags", [(), ("-b",), ("--compact",), ("--no-cost",)], ids=" ".join)
def test_every_table_fits_80_columns_and_ends_with_the_verdict(capsysbinary, report, flags):
    lines = golden(capsysbinary, report, *UTC_DEMO, *flags)

    assert lines[-1].startswith("not complete: ")
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("report", REPORTS)
def test_the_json_has_its_list_under_the_reports_own_name(capsysbinary, report):
    found = as_json(capsysbinary, "usage", report, *UTC_DEMO)

    jsonschema.validate(found, schema("turnlog.usage/1"))
    assert found["report"] == report
    assert found[report]
    assert [name for name in REPORTS if name in found] == [report]
    assert (found["zone"], found["complete"]) == ("UTC", False)


def test_the_keys_are_those_that_scripts_for_ccusage_ask_for(capsysbinary, home):
    found = as_json(capsysbinary, "usage", "daily", "--home", home, "-z", "UTC")

    sums = {"inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens", "totalTokens", "totalCost"}
    assert {"date", "modelsUsed", "modelBreakdowns", *sums} <= set(found["daily"][0])
    assert sums <= set(found["totals"])
    parts = (sums - {"totalCost"}) | {"modelName", "cost"}
    assert parts <= set(found["daily"][0]["modelBreakdowns"][0])
    assert found["daily"][2]["totalCost"] is None
    assert found["totals"]["costAtLeast"] is True
    assert found["totals"]["unpricedModels"] == ["model-of-no-price"]
    (session, _) = as_json(capsysbinary, "usage", "session", "--home", home, "-z", "UTC")["session"]
    assert session["sessionId"].startswith("1111")
    assert session["lastActivity"] == "2026-05-02T12:00:00Z"
    assert (session["branchTokens"], session["contextTokens"], session["contextPeak"]) == (13_500_010, 5, 13_400_000)


def test_without_a_report_it_is_the_days(capsysbinary):
    assert as_json(capsysbinary, "usage", *UTC_DEMO) == as_json(capsysbinary, "usage", "daily", *UTC_DEMO)


def test_short_flags_are_those_people_know(capsysbinary, home):
    code, out, _ = command(
        capsysbinary, "usage", "-j", "-s", "20260502", "-u", "2026-05-02", "-z", "UTC", "-O", "-m", "calculate",
        "-o", "desc", "-p", "one", "--agent", "claude", "--home", home,
    )  # fmt: skip
    found = json.loads(out)

    assert code == 0
    assert [row["date"] for row in found["daily"]] == ["2026-05-02"]
    assert (found["since"], found["until"]) == ("2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z")
    assert found["mode"] == "calculate"


def test_since_and_until_are_days_of_the_zone_and_inclusive(capsysbinary, home):
    def days(zone, since, until):
        found = turnlog("usage", "--home", home, "-j", "-z", zone, "-s", since, "-u", until)
        return [row["date"] for row in json.loads(found.stdout)["daily"]]

    assert days("UTC", "20260501", "20260502") == ["2026-05-01", "2026-05-02"]
    # Noon in UTC is one in the morning of the next day on Kiritimati and Chatham.
    assert days("Pacific/Kiritimati", "20260502", "20260502") == ["2026-05-02"]
    assert days("Pacific/Kiritimati", "20260501", "20260501") == []


@pytest.mark.parametrize(
    "words",
    [
        ["yearly"],
        ["daily", "--active"],
        ["session", "-t", "max"],
        ["session", "--recent"],
        ["monthly", "-n", "5"],
        ["weekly", "--instances"],
        ["blocks", "-t", "many"],
        ["blocks", "-t", "0"],
        ["blocks", "-n", "0"],
        ["blocks", "-n", "nan"],
        ["-s", "yesterday"],
        ["-z", "Mars/Olympus"],
        ["-m", "guess"],
        ["--agent", "nobody"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_exits_2(capsysbinary, words):
    assert command(capsysbinary, "usage", *words, "--home", DEMO)[0] == 2


def test_no_call_that_fits_exits_1_and_the_json_is_still_one(capsysbinary, home, tmp_path):
    for words in (["-s", "20300101"], ["blocks", "--active"], ["-p", "nowhere"], ["--agent", "pi"]):
        code, out, err = command(capsysbinary, "usage", *words, "--home", home)
        assert (code, out, err) == (1, b"", b"turnlog: no call fits\n" if words[0] != "--agent" else err)
    view = as_json(capsysbinary, "usage", "-s", "20300101", "--home", home, code=1)
    jsonschema.validate(view, schema("turnlog.usage/1"))
    assert (view["daily"], view["totals"]["calls"]) == ([], 0)

    code, _, err = command(capsysbinary, "usage", "--home", tmp_path / "empty")
    assert code == 1
    assert b"turnlog demo" in err


def test_strict_exits_3_where_something_could_not_be_read_whole(capsysbinary, home):
    assert command(capsysbinary, "usage", *UTC_DEMO, "--strict")[0] == 3
    assert command(capsysbinary, "usage", "--home", home, "--strict")[0] == 0


def test_sessions_of_which_none_can_be_read_exit_4(capsysbinary, tmp_path):
    folder = tmp_path / ".claude/projects/-x"
    folder.mkdir(parents=True)
    (folder / "b.jsonl").symlink_to(tmp_path / "nowhere")

    assert command(capsysbinary, "usage", "--home", tmp_path, "--json")[0] == 4


def test_names_of_a_hostile_home_reach_no_terminal_raw(capsysbinary, tmp_path):
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e"
    put(tmp_path, "s1", [answer(1, f"s1{hostile}", NOON, f"model{hostile}", cwd=f"/tmp/{hostile}")])

    for report in REPORTS:
        for flags in ([], ["-b"], ["--instances"] if report == "daily" else []):
            code, out, err = command(capsysbinary, "usage", report, *flags, "--home", tmp_path)
            assert code == 0
            assert not set((out + err).decode()) & set("\x1b\x07\u202e")
