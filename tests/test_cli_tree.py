"""`turnlog tree`: the drawing, its JSON, and what it exits with."""

import json

import jsonschema
import pytest

from commands import CLAUDE, DEMO, GLUED, line, user
from inprocess import as_json, command, told
from turnlog.ledger.tree import session_tree
from turnlog.render.text import cells
from turnlog.render.tree import Style, tree_lines
from turnlog.roots import roots_from_home
from turnlog.schemas import schema

SESSIONS = sorted(p for p in DEMO.rglob("*.jsonl*") if p.name not in ("history.jsonl", "session_index.jsonl"))
PI = next(path for path in SESSIONS if path.name.endswith("01a1d8c4-8440-7d54-9855-8b95eb762baf.jsonl"))


def entry(key, parent, text="hello", role="user", at=1, **fields):
    """One record of Pi."""
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1_777_629_600_000 + at}
    return line(
        type="message", id=key, parentId=parent, timestamp=f"2026-05-01T10:{at // 60:02}:{at % 60:02}.000Z",
        message=message, **fields,
    )  # fmt: skip


HEADER = line(type="session", version=3, id="s1", timestamp="2026-05-01T10:00:00.000Z", cwd="/proj")


def pi_file(folder, *records):
    path = folder / "2026-05-01T10-00-00-000Z_s1.jsonl"
    path.write_bytes(HEADER + b"".join(records))
    return path


def drawn(capsysbinary, path, *words, **more):
    """The lines between the head and the verdict."""
    lines = told(capsysbinary, "tree", path, "--home", path.parent, *words, **more)
    blanks = [n for n, text in enumerate(lines) if not text]
    return lines[blanks[0] + 1 : blanks[-1]]


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name[:40])
def test_the_json_of_every_session_is_what_its_schema_promises(capsysbinary, path):
    view = as_json(capsysbinary, "tree", path, "--home", DEMO)
    nodes = {node["id"]: node for node in view["nodes"]}

    jsonschema.validate(view, schema("turnlog.tree/1"))
    assert view["branch"][-1] == view["leaf"]
    assert view["branch"][0] in view["roots"]
    assert [node["id"] for node in view["nodes"] if node["state"] == "active"] == view["branch"]
    assert len(view["tips"]) == view["branches"]
    seen = set()
    for node in view["nodes"]:  # a parent before its children
        assert node["parent"] is None or node["parent"] in seen
        assert node["depth"] == (0 if node["parent"] is None else nodes[node["parent"]]["depth"] + 1)
        seen.add(node["id"])
    assert {node["id"] for node in view["nodes"] if node["parent"] is None} == set(view["roots"])


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("full", [False, True], ids=["short", "full"])
def test_every_session_fits_its_columns_and_ends_in_its_verdict(width, full):
    for path in SESSIONS:
        lines = list(tree_lines(session_tree(str(path), roots_from_home(DEMO)), Style(width=width, full=full)))
        texts = ["".join(text for text, _ in row) for row in lines]

        assert [text for text in texts if text.startswith("  ") and cells(text) > width] == []
        assert any(text.startswith(("complete: ", "not complete: ")) for text in texts[-2:])
        assert sum("◉" in text for text in texts) == 1


def test_the_branch_goes_straight_down_and_what_was_left_is_indented(capsysbinary, tmp_path):
    path = pi_file(
        tmp_path,
        entry("e1", None, "one", at=1), entry("e2", "e1", "two", "assistant", 2), entry("e3", "e2", "left", at=3),
        entry("e4", "e2", "three", at=4), entry("e5", "e4", "four", "assistant", 5),
        line(type="label", id="l1", parentId="e5", timestamp="2026-05-01T10:00:06.000Z", targetId="e4", label="good one"),
    )  # fmt: skip

    assert drawn(capsysbinary, path) == [
        "  ● e1  you      one",
        "  │ e2  agent    two",
        "  ├─○ e3  you      left  left",
        '  │ e4  you      three  label "good one"',
        "  │ e5  agent    four",
        '  ◉ l1  label    "good one" on e4  leaf',
    ]


def test_a_run_of_steps_is_one_line_and_full_gives_each_its_own(capsysbinary):
    short = told(capsysbinary, "tree", CLAUDE, "--home", DEMO)
    full = told(capsysbinary, "tree", CLAUDE, "--home", DEMO, "--full")
    count = len(as_json(capsysbinary, "tree", CLAUDE, "--home", DEMO)["nodes"])

    assert any("8 entries: 4 steps, 2 client's records, 2 results" in row for row in short)
    assert not any(" entries: " in row for row in full)
    assert sum(row.startswith("  ") for row in full) == count


def test_branches_past_the_first_few_are_told_by_their_number(capsysbinary, tmp_path):
    path = pi_file(tmp_path, entry("root", None), *(entry(f"k{n}", "root", at=n + 2) for n in range(30)))
    short = drawn(capsysbinary, path)

    assert "  ├╌ … 23 more branches with 23 entries (--full shows all)" in short
    assert len(short) == 9
    assert len(drawn(capsysbinary, path, "--full")) == 31


def test_roots_past_the_first_few_are_told_by_their_number_and_the_active_one_is_there(capsysbinary, tmp_path):
    path = pi_file(tmp_path, *(entry(f"k{n}", None, at=n + 2) for n in range(30)))
    short = drawn(capsysbinary, path)

    assert "  … 24 more roots with 24 entries (--full shows all)" in short
    assert short[-2].startswith("  ◉ k29")


def test_a_long_chain_is_not_indented_and_branches_of_branches_only_so_far(capsysbinary, tmp_path):
    deep = 60
    chain = [entry(f"k{n}", f"k{n - 1}" if n else None, at=n) for n in range(deep)]
    later = [entry(f"x{n}", f"k{n}", at=2 * deep - n) for n in reversed(range(deep))]
    rows = drawn(capsysbinary, pi_file(tmp_path, *chain, *later))

    assert len(rows) == 2 * deep
    assert max(row.index("k") for row in rows if " k" in row) < 40
    assert {row[:4] for row in drawn(capsysbinary, pi_file(tmp_path, *chain))} == {"  ● ", "  │ ", "  ◉ "}


def test_what_a_terminal_would_obey_never_reaches_it(capsysbinary, tmp_path):
    evil = "\x1b]0;title\x07\x1b[31mred\u202e\r\x9b2J"
    path = pi_file(
        tmp_path, entry("a\x1b[2J\x07\u202e" + "b" * 40, None, evil), entry("c", "a\x1b[2J\x07\u202e" + "b" * 40, evil),
        line(type="label", id="l", parentId="c", timestamp="2026-05-01T10:00:06.000Z", targetId="c", label=evil),
        line(type="session_info", id="n", parentId="l", timestamp="2026-05-01T10:00:07.000Z", name=evil),
        line(type=evil, id="z", parentId="n", timestamp="2026-05-01T10:00:08.000Z"),
    )  # fmt: skip

    for words in ([], ["--full"]):
        code, out, _ = command(capsysbinary, "tree", path, "--home", tmp_path, *words)
        assert code == 0
        assert not set(out.decode()) & set("\x1b\x07\r\u202e\x9b")


def test_problems_are_told_and_strict_exits_3_for_them(capsysbinary, tmp_path):
    path = pi_file(tmp_path, entry("e1", "e2"), entry("e2", "e1", at=2), entry("e3", "gone", at=3))
    lines = told(capsysbinary, "tree", path, "--home", tmp_path)
    view = as_json(capsysbinary, "tree", path, "--home", tmp_path)

    assert "line 2: the parents of 2 records lead in a circle" in lines
    assert "line 4: its parent was never written here" in lines
    assert any(row.endswith("circle cut here") for row in lines)
    assert any(row.endswith("orphan") for row in lines)
    assert [(p["kind"], p["line"]) for p in view["problems"]] == [("cycle", 2), ("missing-parent", 4)]
    assert (view["roots"], view["orphans"]) == (["e1", "e3"], ["e3"])
    assert command(capsysbinary, "tree", path, "--home", tmp_path, "--strict")[0] == 3


def test_a_parent_that_another_file_may_hold_is_a_note(capsysbinary, tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(user("u1", "gone") + user("u2", "u1"))
    (problem,) = as_json(capsysbinary, "tree", path, "--home", tmp_path, "--strict")["problems"]

    assert (problem["kind"], problem["line"], problem["note"]) == ("missing-parent", 1, True)


def test_a_damaged_file_is_told_and_strict_exits_3(capsysbinary):
    lines = told(capsysbinary, "tree", GLUED, "--home", DEMO)

    assert lines[-2].startswith("not complete: 1 fault, ")
    assert command(capsysbinary, "tree", GLUED, "--home", DEMO, "--strict")[0] == 3
    assert command(capsysbinary, "tree", PI, "--home", DEMO, "--strict")[0] == 0


@pytest.mark.parametrize("word", ["01a1d8c4", "01A1D8C4-8440", str(PI)])
def test_a_session_is_named_as_for_show(capsysbinary, word):
    view = as_json(capsysbinary, "tree", word, "--home", DEMO)

    assert view["session_id"] == "01a1d8c4-8440-7d54-9855-8b95eb762baf"
    assert view["name"] == "The white bird"


def test_the_latest_session_is_found_and_what_is_not_there_exits_1_and_4(capsysbinary, tmp_path):
    assert as_json(capsysbinary, "tree", "@latest", "--home", DEMO)["leaf"]
    assert command(capsysbinary, "tree", "zzzz", "--home", DEMO)[0] == 1
    assert command(capsysbinary, "tree", tmp_path / "none.jsonl", "--home", DEMO)[0] == 4
    assert command(capsysbinary, "tree", "--home", DEMO)[0] == 2


def test_a_header_alone_is_a_tree_without_nodes(capsysbinary, tmp_path):
    view = as_json(capsysbinary, "tree", pi_file(tmp_path), "--home", tmp_path)

    assert (view["leaf"], view["branch"], view["branches"], view["nodes"]) == (None, [], 0, [])
    assert "no record here has an id" in drawn(capsysbinary, pi_file(tmp_path))[0]


def rollout(folder, thread, *records, segment=None, **meta):
    """A Codex file of one thread; each record (type, payload)."""
    day = folder / ".codex/sessions/2026/05/01"
    day.mkdir(parents=True, exist_ok=True)
    name = f"rollout-2026-05-01T10-00-00-{thread}" + (f"_{segment}" if segment else "")
    stamp = "2026-05-01T10:00:00.000Z"
    head = {"id": thread, "timestamp": stamp, "cwd": "/proj", "cli_version": "0.169.0", "source": "cli", **meta}
    lines = [line(timestamp=stamp, type=kind, payload=payload) for kind, payload in (("session_meta", head), *records)]
    path = day / f"{name}.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def asked(turn, text):
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return ("event_msg", {"type": "task_started", "turn_id": turn}), ("response_item", item)


A, B, C = (f"0000000{n}-0000-7000-8000-000000000001" for n in "123")


def test_codex_turns_rollbacks_forks_and_subagents_are_one_tree(capsysbinary, tmp_path):
    back = ("event_msg", {"type": "thread_rolled_back", "num_turns": 1})
    path = rollout(tmp_path, A, *asked("t1", "first"), *asked("t2", "second"), back, *asked("t3", "third"))
    rollout(tmp_path, B, *asked("f1", "forked"), forked_from_id=A)
    rollout(tmp_path, C, *asked("s1", "helped"), parent_thread_id=A, thread_source="subagent")
    view = as_json(capsysbinary, "tree", path, "--home", tmp_path)

    assert view["branch"] == [A, "t1", "t3"]
    assert {node["id"]: (node["parent"], node["type"], node["state"]) for node in view["nodes"]} == {
        A: (None, "session", "active"),
        "t1": (A, "turn", "active"),
        "t2": ("t1", "turn", "left"),
        "t3": ("t1", "turn", "active"),
        B: (A, "fork", "left"),
        C: (A, "subagent", "side"),
    }
    assert view["branches"] == 3
    assert view["problems"] == []

    child = as_json(capsysbinary, "tree", B, "--home", tmp_path)
    assert child["branch"] == [A, B, "f1"]
    assert [bool(node["path"]) for node in child["nodes"]] == [True, False, False]


def test_a_codex_thread_after_a_revert_goes_on_from_its_earlier_file(capsysbinary, tmp_path):
    first = rollout(tmp_path, A, *asked("t1", "first"), *asked("t2", "second"), history_mode="paginated")
    until = first.read_bytes().index(b'"t2"') - 80
    base = {"thread_id": A, "end_ordinal_exclusive": 3, "end_byte_offset": until}
    second = rollout(tmp_path, A, *asked("t3", "again"), segment=B, history_mode="paginated", history_base=base)

    for path in (first, second):
        view = as_json(capsysbinary, "tree", path, "--home", tmp_path)
        assert view["branch"] == [A, "t1", "t3"]
        assert [node["id"] for node in view["nodes"] if node["state"] == "left"] == ["t2"]


def test_a_parent_thread_that_is_not_there_is_a_note(capsysbinary, tmp_path):
    path = rollout(tmp_path, B, *asked("f1", "forked"), forked_from_id=A)
    view = as_json(capsysbinary, "tree", path, "--home", tmp_path, "--strict")

    assert view["orphans"] == view["roots"] == [B]
    assert [(p["kind"], p["note"]) for p in view["problems"]] == [("missing-parent", True)]


def test_threads_that_come_from_each_other_end(capsysbinary, tmp_path):
    path = rollout(tmp_path, A, *asked("t1", "first"), forked_from_id=B)
    rollout(tmp_path, B, forked_from_id=A)
    view = as_json(capsysbinary, "tree", path, "--home", tmp_path)

    assert view["leaf"] == "t1"
    assert "cycle" in [problem["kind"] for problem in view["problems"]]


def test_subagents_with_files_of_their_own_are_named(capsysbinary):
    lines = told(capsysbinary, "tree", CLAUDE, "--home", DEMO)
    (subagent,) = as_json(capsysbinary, "tree", CLAUDE, "--home", DEMO)["subagents"]

    assert any(row.startswith(f"subagent  turnlog tree {subagent['id']}  Find the function") for row in lines)
    assert as_json(capsysbinary, "tree", subagent["id"], "--home", DEMO)["path"] == subagent["path"]


def test_the_library_and_the_command_say_the_same(capsysbinary):
    printed = as_json(capsysbinary, "tree", PI, "--home", DEMO)
    found = session_tree(str(PI), roots_from_home(DEMO))

    assert printed["branch"] == found.tree.branch
    assert printed["labels"] == found.tree.labels
    assert json.dumps(printed["nodes"]).count('"id"') == len(found.tree.nodes)
