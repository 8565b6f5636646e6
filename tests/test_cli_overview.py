"""`turnlog` and `turnlog overview`: the numbers of the demo home, what is said in words, and the exit codes."""

import json
import os

import jsonschema
import pytest

from commands import DEMO, turnlog, user
from inprocess import as_json, command, told
from turnlog.schemas import schema

TRUTH = json.loads((DEMO / "TRUTH.json").read_text(encoding="utf-8"))
PROJECTS = ".claude/projects/-proj-demo"


@pytest.fixture(scope="module")
def demo_view():
    return json.loads(turnlog("overview", "--home", DEMO, "--timezone", "UTC", "--json").stdout)


@pytest.mark.parametrize(
    "key",
    ["files", "sessions", "user_prompts", "assistant_messages", "tool_calls", "tool_results", "compactions", "tokens"],
)
def test_the_totals_of_the_demo_home_are_those_it_was_written_with(demo_view, key):
    assert demo_view[key] == TRUTH["totals"][key]


@pytest.mark.parametrize("agent", TRUTH["agents"])
def test_the_numbers_of_each_agent_are_those_it_was_written_with(demo_view, agent):
    truth, row = TRUTH["agents"][agent], demo_view["by_agent"][agent]

    for key in ("files", "sessions", "user_prompts", "assistant_messages", "tokens"):
        assert row[key] == truth[key], key
    sessions = {id_: r["tokens"]["total"] for id_, r in demo_view["by_session"].items() if r["agent"] == agent}
    assert sessions == truth["by_session"]


def test_days_models_cost_and_what_was_never_committed_are_those_of_the_demo_home(demo_view):
    models = {}
    for truth in TRUTH["agents"].values():
        for model, tokens in truth["by_model"].items():
            name = "unknown" if model == "(none named)" else model
            models[name] = models.get(name, 0) + tokens
    apart = TRUTH["agents"]["swink"]["uncommitted"]

    assert demo_view["by_day"] == TRUTH["totals"]["by_day_utc"]
    assert demo_view["by_model"] == models
    assert demo_view["cost"] == pytest.approx(sum(t.get("cost_usd_as_written", 0) for t in TRUTH["agents"].values()))
    assert demo_view["uncommitted"] == {key: apart[key] for key in ("user_prompts", "assistant_messages", "tokens")}


def test_the_faults_of_the_demo_home_are_told_by_line(demo_view):
    lines = {(os.path.relpath(f["path"], DEMO), f["line"], f["kind"], f["recovered"]) for f in demo_view["faults"]}
    written = {(f["path"], f["line"], f["kind"], f["recovered"]) for f in TRUTH["faults"] if f["kind"] != "uncommitted"}

    assert lines == written
    assert demo_view["complete"] is False


def test_the_json_is_what_its_schema_promises(demo_view):
    jsonschema.validate(demo_view, schema("turnlog.overview/1"))
    promised = """schema zone complete files sessions records user_prompts assistant_messages tool_calls tool_results
        compactions tokens output_at_least first last by_day by_model by_project by_session faults problems unknown"""
    assert set(promised.split()) <= set(demo_view)


def test_the_text_says_the_answer_first_and_the_verdict_last(capsysbinary):
    lines = told(capsysbinary, "overview", "--home", DEMO, "--timezone", "UTC")

    assert "4 agents, 12 sessions in 2 projects, 2026-11-02 to" in " ".join(lines[:2])
    assert any(line.split()[:3] == ["Claude", "Code", "4"] for line in lines)
    assert lines[-1].startswith("not complete: 12 of 14 files read whole")
    assert all(len(line) <= 80 for line in lines)
    assert "\x1b" not in "".join(lines)


def test_options_without_a_command_are_those_of_the_overview(capsysbinary):
    assert as_json(capsysbinary, "--home", DEMO)["schema"] == "turnlog.overview/1"


def test_a_home_without_sessions_is_no_failure_and_points_to_the_demo(capsysbinary, tmp_path):
    lines = told(capsysbinary, "overview", "--home", tmp_path)
    view = as_json(capsysbinary, "overview", "--home", tmp_path, "--strict")

    assert lines[0].startswith("No session of any agent below ")
    assert any("turnlog demo" in line for line in lines)
    assert (view["files"], view["sessions"], view["complete"]) == (0, 0, True)


def test_strict_exits_3_where_something_could_not_be_read_whole(capsysbinary):
    assert command(capsysbinary, "overview", "--home", DEMO, "--strict")[0] == 3


def test_sessions_of_which_none_can_be_read_exit_4(capsysbinary, tmp_path):
    file = tmp_path / PROJECTS / "a.jsonl"
    file.mkdir(parents=True)  # a folder with a session's name is none; one that is a dangling link cannot be read
    (tmp_path / PROJECTS / "b.jsonl").symlink_to(tmp_path / "nowhere")

    code, out, _ = command(capsysbinary, "overview", "--home", tmp_path, "--json")

    assert code == 4
    assert json.loads(out)["complete"] is False


def test_a_word_that_is_no_root_or_no_zone_is_wrong_usage(capsysbinary):
    assert command(capsysbinary, "overview", "--root", "nobody=/x")[0] == 2
    assert command(capsysbinary, "overview", "--timezone", "Mars/Olympus")[0] == 2


def test_a_root_replaces_that_agents_roots_and_a_missing_one_is_a_note(capsysbinary, tmp_path):
    view = as_json(
        capsysbinary, "overview", "--home", DEMO, "--root", f"claude={tmp_path / 'none'}", "--strict", code=None
    )

    assert view["by_agent"].get("claude") is None
    assert [problem["note"] for problem in view["problems"] if "none" in problem["path"]] == [True]


def test_titles_and_folders_of_a_hostile_home_reach_no_terminal_raw(capsysbinary, tmp_path):
    folder = tmp_path / PROJECTS
    folder.mkdir(parents=True)
    hostile = "\x1b]0;owned\x07\x1b[2J\u202e"
    (folder / "a.jsonl").write_bytes(user("u1", cwd=f"/tmp/{hostile}", text=hostile))

    for words in (["overview"], ["list"], ["list", "--counts"], ["show", folder / "a.jsonl"], ["show", "aaaa"]):
        code, out, err = command(capsysbinary, *words, "--home", tmp_path)
        assert code == 0
        assert not set((out + err).decode()) & set("\x1b\x07\u202e")


def test_many_files_are_shared_out_with_the_same_answer(monkeypatch):
    from turnlog.ledger.machine import survey
    from turnlog.roots import roots_from_home

    assert survey(roots_from_home(DEMO), "UTC", jobs=2) == survey(roots_from_home(DEMO), "UTC", jobs=1)
