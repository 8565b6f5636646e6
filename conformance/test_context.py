"""The tree and the context of every real file are Pi's own, and what the model was shown is what it got over the wire."""

import itertools

import pytest

import ours
from scenarios import NOTHING, SCENARIOS

NAMES = [scenario.name for scenario in SCENARIOS]

# Pi puts words of its own around these when it sends them.
WRAPPED = ("compactionSummary", "branchSummary", "bashExecution")


@pytest.fixture(params=NAMES)
def run(request, runs):
    return runs[request.param]


def test_the_tree_is_pis_own(run):
    for events, pi in zip(run.events, run.pi, strict=True):
        tree = ours.tree_of(events)

        assert tree.leaf == pi["leaf"]
        assert list(tree.branch) == pi["branch"]
        assert list(tree.roots) == pi["roots"]
        assert {key: list(tree.children.get(key, ())) for key in tree.nodes} == pi["children"]


def test_labels_and_name_are_pis_own(run):
    for events, pi in zip(run.events, run.pi, strict=True):
        tree = ours.tree_of(events)

        assert tree.labels == pi["labels"]
        assert tree.name == pi["name"]


def test_the_context_at_every_entry_is_pis_own(run):
    for path, pi in zip(run.files, run.pi, strict=True):
        for key, shown in pi["shown"].items():
            seen = ours.context_at(path, key)

            assert [[row.entry, row.role, row.text] for row in seen.context] == shown


def test_the_model_and_the_thinking_level_in_use_are_pis_own(run):
    for path, pi in zip(run.files, run.pi, strict=True):
        seen = ours.context_at(path)

        assert (seen.model.provider, seen.model.model_id) == (pi["model"]["provider"], pi["model"]["modelId"])
        assert seen.thinking_level == pi["level"]


def test_the_context_before_each_answer_is_what_was_sent_for_it(run):
    """The n-th answer that was written down, in the order of writing, and the n-th request that was no summary's."""
    answers = {}
    for path, events in zip(run.files, run.events, strict=True):
        for event in events:
            if event.kind == "message" and event.role == "assistant":
                answers.setdefault(event.record.id, (path, event.record.parent_id))
    requests = [served for served in run.served if served.asked.get("tools")]
    lost = 1 if run.scenario.expected.lost != NOTHING else 0

    assert len(requests) == len(answers) + lost
    for (path, parent), served in zip(answers.values(), requests, strict=False):
        rows = [row for row in ours.context_at(path, parent).context if row.text]
        sent = texts(served.asked)

        assert len(sent) == len(rows)
        for row, text in zip(rows, sent, strict=True):
            if row.role in WRAPPED:
                assert all(line in text for line in row.text.splitlines())
            else:
                assert row.text == text


def texts(asked):
    """Every text of a request, on either wire, from top to bottom."""
    contents = [asked.get("system") or [], *(message["content"] or [] for message in asked["messages"])]
    return list(itertools.chain.from_iterable(map(in_content, contents)))


def in_content(content):
    if isinstance(content, str):
        return [content] if content else []
    found = []
    for block in content:
        if block["type"] == "text":
            found.append(block["text"])
        elif block["type"] == "tool_result":
            found += in_content(block["content"])
    return found
