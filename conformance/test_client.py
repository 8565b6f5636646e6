"""turnlog's own client and command lead the real Pi: what they are told is what was written and printed."""

import pytest

import ours
from model_server import Spent
from turnlog.stream import Reply

LED = ("steered", "stopped", "led")


@pytest.fixture(params=LED)
def run(request, runs):
    return runs[request.param]


def test_its_events_are_those_of_the_stream(run):
    heard = run.ran.heard.events
    printed = [event for event in run.stream.events if not isinstance(event, Reply)]

    assert heard
    assert heard == printed


def test_the_entries_and_the_tree_it_is_given_are_those_of_the_file(run):
    answers = run.ran.heard.answers
    tree = ours.tree_of(run.events[-1])

    assert answers["state"].session_file == str(run.files[-1])
    assert [entry["id"] for entry in answers["entries"].entries] == list(tree.nodes)
    assert answers["entries"].leaf_id == answers["tree"].leaf_id == tree.leaf
    for node in answers["tree"].nodes:
        above = None if node.parent is None else answers["tree"].nodes[node.parent].entry["id"]
        assert tree.nodes[node.entry["id"]].parent == above


def test_pis_sums_are_those_of_the_file(run):
    told = run.ran.heard.answers["stats"].tokens
    used = [event.counts for event in run.events[-1] if event.kind == "usage"]
    spent = sum((Spent(one.input, one.output, one.cache_read, one.cache_write) for one in used), Spent())

    assert Spent(told.input, told.output, told.cache_read, told.cache_write) == spent


def test_the_last_text_is_that_of_the_last_answer(run):
    assert run.ran.heard.answers["text"] == run.scenario.expected.shown[-1][1]


def test_a_stopped_run_settles_as_aborted_and_an_answered_one_does_not(runs):
    assert runs["stopped"].ran.heard.answers["settled"].aborted is True
    assert runs["led"].ran.heard.answers["settled"].aborted is False


def test_commands_answer_what_they_did(runs):
    answers = runs["led"].ran.heard.answers

    assert (answers["bash"].output, answers["bash"].exit_code) == ("seen\n", 0)
    assert (answers["model"].provider, answers["model"].id) == ("scripted-openai", "large")
    assert [prompt.text for prompt in answers["prompts"]] == ["First.", "Second."]
    assert answers["refused"] == "fork"
    assert answers["fork"].text == "Second."
    assert answers["state"].thinking_level == "low"
    assert answers["state"].session_name == "Led"


def test_the_command_prints_the_answer_and_nothing_else(runs):
    assert runs["run"].ran.heard == ("All done.\n", "")


def test_the_command_prints_no_answer_of_a_call_that_failed_though_pi_ends_well(runs):
    out, err = runs["run refused"].ran.heard

    assert runs["refused"].ran.code == 0
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "the call failed" in err
