"""Real conversations with Pi's RPC mode: every answer fits its method's type, and runs are on when they were."""

import asyncio
import json

import pytest

from test_live_rpc import CALLS
from turnlog.live.rpc_commands import Commands
from turnlog.live.rpc_errors import RpcClosed
from turnlog.live.rpc_lines import Head, Lines, fitted
from turnlog.live.rpc_runs import Runs

pytestmark = pytest.mark.shared


def captures(shared):
    found = sorted((shared / "real" / "pi").glob("*/rpc/*.stdout.jsonl"))
    assert found
    return found


def types():
    """The type of answer that each method asks for."""
    found = {}

    class Heard(Commands):
        async def call(self, command, answer, /, *, patient=False, **fields):
            found[command] = answer
            raise RpcClosed("heard")

    for name, args, _ in CALLS:
        with pytest.raises(RpcClosed):
            asyncio.run(getattr(Heard(), name)(*args))
    return found


def test_every_real_answer_fits_the_type_of_its_method(shared):
    wanted, tried = types(), {}
    for path in captures(shared):
        lines = Lines(None)
        for head, line in lines.feed(path.read_bytes()):
            assert isinstance(head, Head)
            command = json.loads(line).get("command")
            if head.type == "response" and head.success is True:
                value = fitted(command, head, wanted[command])
                tried.setdefault(command, []).append(value)
        assert lines.unreadable == 0

    answers = [
        record
        for path in captures(shared)
        for record in map(json.loads, path.read_bytes().split(b"\n")[:-1])
        if record["type"] == "response" and record["success"]
    ]
    assert sum(map(len, tried.values())) == len(answers) > 100
    assert set(tried) == {record["command"] for record in answers}
    assert all(state.session_id and state.model.id for state in tried["get_state"])
    assert all(stats.tokens.total >= 0 for stats in tried["get_session_stats"])
    assert all(len(tree.nodes) > 5 for tree in tried["get_tree"])


def test_a_real_tree_laid_flat_keeps_each_entry_below_its_parent(shared):
    seen = 0
    for path in captures(shared):
        for head, line in Lines(None).feed(path.read_bytes()):
            if json.loads(line).get("command") == "get_tree":
                tree = fitted("get_tree", head, types()["get_tree"])
                ids = [node.entry["id"] for node in tree.nodes]
                assert len(ids) == len(set(ids))
                assert tree.leaf_id in ids
                for node in tree.nodes:
                    parent = None if node.parent is None else tree.nodes[node.parent]
                    assert node.entry["parentId"] == (None if parent is None else parent.entry["id"])
                    assert node.depth == (0 if parent is None else parent.depth + 1)
                seen += 1
    assert seen


def test_a_run_is_on_between_its_real_acceptance_and_its_settling(shared):
    waits = 0
    for path in sorted((shared / "real" / "pi").glob("*/rpc/*.both.jsonl")):
        runs, waiting = Runs(), {}
        for line in path.read_bytes().split(b"\n"):
            entry = json.loads(line) if line else {"dir": "none"}
            record = entry.get("rec")
            if not isinstance(record, dict):
                continue
            if entry["dir"] == "in" and record["type"] == "prompt":
                runs.sent(record["id"])
                assert runs.busy
            elif entry["dir"] == "out" and record["type"] == "response" and record.get("command") == "prompt":
                said = record.get("data", {}).get("disposition") if record["success"] else None
                before = runs.on
                runs.answered(record["id"], said)
                assert runs.on == (before or said == "started")
                waiting[record["id"]] = said
            elif record["type"] == "agent_start":
                runs.begin()
            elif record["type"] == "agent_settled":
                assert runs.on
                runs.on = False
                waits += 1
        assert not runs.prompts or path.name.startswith("null")
    assert waits > 40
