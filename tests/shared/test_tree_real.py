"""Trees of real session files: Pi's own answers, Claude Code's chains of thirteen versions, Codex's threads, and the cases.

Beside each Pi file lies `*.oracle.json`: what Pi 1.6.0 makes of it. The corpus hides the letters of some ids of Claude Code
(whole attachments, digits kept), so that their parents lead nowhere: `shown_again` puts them back where only one id fits.
"""

import json
import re
from collections import Counter, defaultdict

import pytest

from reading import SHARED, parse
from turnlog.errors import SourceError
from turnlog.formats import FORMATS, place_of
from turnlog.ledger.tree import session_tree
from turnlog.render.text import cells
from turnlog.render.tree import Style, tree_lines
from turnlog.roots import roots_from_home
from turnlog.views.tree import tree

pytestmark = pytest.mark.shared

PI = SHARED / "real" / "pi"
CLAUDE = SHARED / "real" / "claude"
CODEX = SHARED / "real" / "codex"

# Ids that Pi makes at random when it migrates a file: equal but for their names.
RENAMED = {"old/v0_30_2/tools.session.1", "edge/e17_version_missing_but_ids", "edge/e31b_v1_one_compaction"}
# Pi keeps an array or a number as an entry without an id: one root more. We say a fault (contract 5, 6b).
JUNK = {"edge/e15b_array_line", "edge/e15d_number_line"}
# Pi takes the number 5 for an id. We say a fault, and the field is unknown (contract 6b).
NUMBER = {"edge/e36_id_types"}
# Pi refuses the file and says nothing of it: no header, and a byte order mark. We read it (contract 6b).
REFUSED = {"edge/e04_no_header": 4, "edge/e14_bom": 4}

ID = re.compile(rb"[0-9a-fx]{8}(?:-[0-9a-fx]{4}){3}-[0-9a-fx]{12}")


def oracles():
    return {path.relative_to(PI).as_posix().removesuffix(".oracle.json"): path for path in PI.rglob("*.oracle.json")}


def pi_tree(name):
    path = PI / f"{name}.jsonl"
    return tree(parse("pi", path.read_bytes(), place=place_of(path.name)).items, FORMATS["pi"].tree, path.stem)


def ours(view):
    """A tree in the oracle's words."""
    return {
        "leafId": view.leaf,
        "name": view.name,
        "branch": view.branch,
        "roots": view.roots,
        "tree": [
            [node.depth, key, node.record.type, view.labels.get(key)]
            for key in view.walk()
            for node in (view.nodes[key],)
        ],
    }


def renamed(found, names):
    """The same with other ids."""
    if isinstance(found, list):
        return [renamed(one, names) for one in found]
    if isinstance(found, dict):
        return {key: renamed(one, names) for key, one in found.items()}
    return names.get(found, found)


def test_leaf_branch_roots_names_labels_and_order_are_those_of_pi_itself():
    odd = {}
    compared = 0
    for name, path in sorted(oracles().items()):
        wanted = json.loads(path.read_text(encoding="utf-8"))
        if name in REFUSED or name in JUNK or name in NUMBER:
            continue
        found = ours(pi_tree(name))
        wanted = {key: wanted[key] for key in found}
        if name in RENAMED:
            pairs = list(zip(found["tree"], wanted["tree"], strict=True))
            names = {one[1]: other[1] for one, other in pairs}
            assert len(set(names.values())) == len(pairs)
            found = renamed(found, names)
        compared += 1
        if found != wanted:
            odd[name] = {key: (found[key], wanted[key]) for key in found if found[key] != wanted[key]}

    assert odd == {}
    assert compared == len(oracles()) - len(REFUSED) - len(JUNK) - len(NUMBER) >= 70


@pytest.mark.parametrize("name", sorted(JUNK))
def test_a_line_that_is_no_object_is_a_fault_and_no_root(name):
    wanted = json.loads(oracles()[name].read_text(encoding="utf-8"))
    found = ours(pi_tree(name))

    assert wanted["roots"] == [None, *found["roots"]]
    assert [row for row in wanted["tree"] if row[1] is not None] == found["tree"]
    assert all(found[key] == wanted[key] for key in ("leafId", "name", "branch"))


def test_a_number_is_no_id():
    (name,) = NUMBER
    wanted = json.loads(oracles()[name].read_text(encoding="utf-8"))
    found = pi_tree(name)

    assert wanted["branch"] == [5, "k2"]
    assert found.branch == ["k2"]
    assert found.leaf == wanted["leafId"]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_pi_refuses_is_read(name):
    assert "error" in json.loads(oracles()[name].read_text(encoding="utf-8"))
    assert len(pi_tree(name).branch) == REFUSED[name]


def test_a_migrated_file_has_the_tree_of_the_file_before():
    for before in sorted((PI / "migrated").glob("*.before.jsonl")):
        after = before.with_name(before.name.replace(".before.", ".after-1.6.0."))
        trees = [tree(parse("pi", p.read_bytes()).items, FORMATS["pi"].tree) for p in (before, after)]
        shapes = [[(v.nodes[k].depth, v.nodes[k].record.type) for k in v.walk()] for v in trees]

        assert shapes[0] == shapes[1]
        assert len(trees[0].branch) == len(trees[1].branch)


def shown_again(data):
    """The ids whose letters are hidden, where only one id of the file has their digits."""
    clear = defaultdict(set)
    for key in set(ID.findall(data)):
        if b"x" not in key:
            clear[re.sub(rb"[a-f]", b"x", key)].add(key)

    def back(found):
        fits = clear.get(found[0], ())
        return next(iter(fits)) if b"x" in found[0] and len(fits) == 1 else found[0]

    return ID.sub(back, data)


def claude_sessions():
    return [
        path
        for path in sorted(CLAUDE.rglob("*.jsonl"))
        if "stdout" not in path.parts and not path.name.startswith("_cfg") and path.name != "journal.jsonl"
    ]


def claude_trees():
    for path in claude_sessions():
        items = parse("claude", shown_again(path.read_bytes()), place=place_of(str(path))).items
        view = tree(items, FORMATS["claude"].tree, path.stem)
        if view.nodes:
            yield path.relative_to(CLAUDE).as_posix(), items, view


# The sessions in which something was left: a rewind, and a second client in the same file.
BRANCHED = {
    "2.1.332/interactive/inter2/9c64d72f-89cc-4176-a45c-9b2b75a2b17f.jsonl": 2,
    "2.1.332/interactive/two-writers/e05c2603-e0d8-4f60-9fa1-8a101abee59e.jsonl": 2,
}


def test_real_chains_of_claude_code_hold_and_only_what_was_left_is_a_branch():
    branched, odd, seen, states = {}, {}, 0, Counter()
    for name, items, view in claude_trees():
        seen += 1
        states.update(node.state for node in view.nodes.values())
        ids = {item.record.id for item in items if item.kind != "fault" and item.record.id is not None}
        if len(view.tips) != 1:
            branched[name] = len(view.tips)
        if set(view.nodes) != ids or view.orphans or view.cut or [p for p in view.problems if not p.note]:
            odd[name] = [p.kind for p in view.problems]
        main = [key for key, node in view.nodes.items() if not node.record.sidechain] or list(view.nodes)
        assert view.leaf == main[-1]

    assert odd == {}
    assert branched == BRANCHED
    assert seen >= 200
    assert states["beside"] > 50
    assert states["left"] == 18
    assert states["side"] == 18


def test_every_answer_and_every_result_of_claude_code_is_along_its_leaf_unless_it_was_left():
    for name, _, view in claude_trees():
        along = set(view.along(view.leaf))
        missed = [key for key, node in view.nodes.items() if node.state in ("active", "beside") and key not in along]
        calls = {call for key in along for call in view.nodes[key].calls}
        results = {call for key in along for call in view.nodes[key].results}

        if name not in BRANCHED:
            assert missed == [], name
            assert calls == {call for n in view.nodes.values() if n.state != "side" for call in n.calls}, name
            assert results == {call for n in view.nodes.values() if n.state != "side" for call in n.results}, name


def codex_homes():
    return sorted({path.parent for path in CODEX.rglob("sessions") if path.is_dir()})


def codex_trees():
    for home in codex_homes():
        roots = roots_from_home(SHARED / "none").replaced("codex", [home])
        for path in sorted(p for p in home.rglob("rollout-*") if p.is_file()):
            try:
                yield path, session_tree(str(path), roots, agent="codex")
            except SourceError:
                continue


@pytest.mark.slow
def test_real_threads_of_codex_hang_on_what_they_say_they_come_from():
    kinds, seen, taken_back = Counter(), 0, 0
    for path, found in codex_trees():
        seen += 1
        view, facts = found.tree, found.facts
        own = view.nodes[facts.id]
        kinds[own.record.type] += 1
        assert own.parent in (facts.parent, facts.forked_from, None), path.name
        if own.parent is None and (facts.parent or facts.forked_from):
            assert view.orphans == [facts.id], path.name
        assert facts.id in view.branch, path.name
        assert view.path(view.leaf) == view.branch
        taken_back += any(node.state == "left" and node.record.type == "turn" for node in view.nodes.values())

    assert seen >= 100
    assert kinds["fork"] >= 5
    assert kinds["subagent"] >= 10
    assert taken_back >= 3


@pytest.mark.slow
def test_no_real_tree_is_wider_than_its_terminal():
    for path in [*claude_sessions(), *sorted(PI.glob("*/sessions*/*.jsonl")), *sorted(PI.glob("edge/*.jsonl"))]:
        try:
            found = session_tree(str(path))
        except SourceError:
            continue
        for full in (False, True):
            for row in tree_lines(found, Style(width=80, full=full)):
                text = "".join(part for part, _ in row)
                assert cells(text) <= 80 or text.startswith(("turnlog check ", "line ")), path.name
                assert "\n" not in text
