"""Pi's own answers over real session files (0.13.2 to 1.6.0), held against ours.

Beside each file lies `*.oracle.json`: what Pi 1.6.0 makes of it when it loads it (leaf, branch, names, model, totals).
"""

import json
from collections import Counter

import pytest

from reading import SHARED, each_byte, identity, parse, pieces, same
from turnlog.contract import ReadStatus
from turnlog.formats import place_of
from turnlog.formats.pi import PI
from turnlog.formats.pi.copies import reconcile
from turnlog.formats.pi.fold import fold
from turnlog.ledger.identity import merge
from turnlog.model import Compaction

pytestmark = pytest.mark.shared

FOLDER = SHARED / "real" / "pi"

# Edge files that are damaged on purpose, and what is told of them.
FAULTS = {
    "e03_garbage_before_header": {"invalid_json": 1},
    "e06_malformed_middle": {"invalid_json": 1},
    "e15b_array_line": {"not_an_object": 1},
    "e15c_null_line": {"not_an_object": 1},
    "e15d_number_line": {"not_an_object": 1},
    "e33_invalid_utf8": {"invalid_utf8": 1},
    "e36_id_types": {"invalid_field": 2},
}
UNKNOWN = {"e11_unknown_type": {"future_thing": 1}}
REFUSED = {"e04_no_header", "e14_bom"}  # Pi refuses the file, so it says nothing of it

# Ids that Pi made at random when it migrated the file, so that only the shape can be compared.
RANDOM_IDS = {"old/v0_30_2/tools.session.1", "edge/e17_version_missing_but_ids", "edge/e31b_v1_one_compaction"}
# Pi keeps a number or an array as an entry without an id, and takes the number 5 for an id; we say a fault.
JUNK = {"edge/e15b_array_line", "edge/e15d_number_line", "edge/e36_id_types"}


def files():
    globs = ("1*/sessions*/*.jsonl", "edge/*.jsonl", "old/*/*session*.jsonl", "migrated/*.jsonl")
    return sorted(path for glob in globs for path in FOLDER.glob(glob))


def name(path):
    return path.relative_to(FOLDER).as_posix().removesuffix(".jsonl")


def oracles():
    found = {}
    for path in files():
        beside = path.with_name(path.name.removesuffix(".jsonl") + ".oracle.json")
        if beside.exists() and "totals" in (oracle := json.loads(beside.read_text(encoding="utf-8"))):
            found[path] = oracle
    return found


def whole(path):
    return parse("pi", path.read_bytes(), place=place_of(path.name))


def ours(path):
    """What our events say of a file, in the oracle's words. Nodes as (id, parent id), in file order."""
    events = whole(path).events
    nodes = {e.start: e.record for e in events if e.record.type != "session"}
    order = list(nodes.values())
    by_id = {record.id: record for record in order}
    branch, at = [], order[-1] if order else None
    while at is not None and at.id not in branch:
        branch.append(at.id)
        at = by_id.get(at.parent_id)
    branch.reverse()
    said = {"name": None, "model": None, "level": "off"}
    labels, breakdown = {}, {}
    providers = {e.start: e.provider for e in events if e.kind == "usage"}
    for event in events:
        if event.kind == "session_name":
            said["name"] = event.text or None
        elif event.kind == "label":
            labels[event.target_id] = event.text
        elif event.kind == "usage":
            key = f"{event.provider}/{event.model}" if event.model else "Tools/summaries"
            counts, old = event.counts, breakdown.get(key, (0, 0.0))
            tokens = sum(n or 0 for n in (counts.input, counts.output, counts.cache_read, counts.cache_write))
            breakdown[key] = (old[0] + tokens, old[1] + (event.cost or 0.0))
        if event.record.id not in branch:
            continue
        if event.kind == "model_change":
            said["model"] = {"provider": event.provider, "modelId": event.model}
        elif event.kind == "message" and event.role == "assistant":
            provider = providers.get(event.start) or (event.facts or {}).get("provider")
            said["model"] = {"provider": provider, "modelId": event.model}
        elif event.kind == "thinking_level_change":
            said["level"] = event.level
    said["labels"] = {target: text for target, text in labels.items() if text and target in by_id}
    said["breakdown"] = breakdown
    said["nodes"] = [(record.id, record.parent_id) for record in order]
    said["branch"] = branch
    return said


def test_there_are_files_of_every_version():
    assert len(files()) >= 80
    assert len(oracles()) >= 70


def test_every_session_is_read_whole_with_nothing_unknown():
    odd = {}
    for path in files():
        summary = whole(path).summary
        identity(summary)
        faults, unknown = FAULTS.get(path.stem, {}), UNKNOWN.get(path.stem, {})
        status = ReadStatus.COMPLETE_WITH_FAULTS if faults else ReadStatus.COMPLETE
        if (summary.status, summary.faults, summary.unknown) != (status, faults, unknown):
            odd[name(path)] = (summary.status, summary.faults, summary.unknown)

    assert odd == {}


def test_the_totals_are_pis_own():
    different = {}
    for path, oracle in oracles().items():
        work = fold(place_of(path.name), whole(path).items)
        ledger = merge([work])
        counts = [counted.sample.counts for counted in ledger.samples]
        costs = [counted.sample.cost or 0.0 for counted in ledger.samples]
        said = {
            "input": sum(c.input or 0 for c in counts),
            "output": sum(c.output or 0 for c in counts),
            "cacheRead": sum(c.cache_read or 0 for c in counts),
            "cacheWrite": sum(c.cache_write or 0 for c in counts),
            "cost": pytest.approx(sum(costs), abs=1e-9),
        }
        marks = {what: len(found) for what, found in ledger.marks.items()}
        numbers = oracle["counts"]
        expected = {"prompt": numbers["user"], "answer": numbers["assistant"], "result": numbers["toolResult"]}
        expected["call"] = numbers["toolCalls"]
        if oracle["totals"] != said or {what: marks.get(what, 0) for what in expected} != expected:
            different[name(path)] = (oracle["totals"], said, expected, marks)

    assert different == {}


def test_names_labels_model_and_level_are_pis_own():
    different = {}
    for path, oracle in oracles().items():
        said = ours(path)
        theirs = (
            oracle["name"],
            oracle["model"],
            oracle["thinkingLevel"],
            {n[1]: n[3] for n in oracle["tree"] if n[3]},
        )
        if (said["name"], said["model"], said["level"], said["labels"]) != theirs:
            different[name(path)] = (said, theirs)

    assert different == {}


def test_the_table_of_models_is_pis_own():
    for path, oracle in oracles().items():
        said = ours(path)["breakdown"]
        for row in oracle["breakdown"]:
            assert said.pop(row["key"]) == (row["tokens"], pytest.approx(row["cost"], abs=1e-9)), name(path)
        assert not any(tokens for tokens, _ in said.values()), name(path)


def test_the_tree_is_pis_own():
    different = []
    for path, oracle in oracles().items():
        said = ours(path)
        if name(path) in RANDOM_IDS:
            assert len(said["branch"]) == len(oracle["branch"]) == len(said["nodes"]) == oracle["entries"]
            continue
        ids = {entry for entry, _ in said["nodes"]}
        roots = Counter(entry for entry, parent in said["nodes"] if parent not in ids)
        leaf = said["nodes"][-1][0] if said["nodes"] else None
        found = (len(said["nodes"]), leaf, said["branch"], roots)
        if found != (oracle["entries"], oracle["leafId"], oracle["branch"], Counter(oracle["roots"])):
            different.append(name(path))

    assert set(different) == JUNK


@pytest.mark.parametrize("stem", ["v1_full", "v1_legacy_handmade", "v1_tools"])
def test_an_old_file_reads_as_pi_migrated_it(stem):
    """Before and after Pi 1.6.0 rewrote it: the same events, with other ids."""
    before, after = (whole(FOLDER / "migrated" / f"{stem}.{when}.jsonl").events for when in ("before", "after-1.6.0"))
    ids = {a.record.id: b.record.id for a, b in zip(before, after, strict=True)}
    for a, b in zip(before, after, strict=True):
        assert (a.kind, a.index, a.at) == (b.kind, b.index, b.at)
        assert ids.get(a.record.parent_id) == b.record.parent_id
        if isinstance(a, Compaction):
            assert ids.get(a.first_kept) == b.first_kept
        for field in ("body", "counts", "cost", "native_at", "role", "name", "arguments", "summary", "author"):
            assert getattr(a, field, None) == getattr(b, field, None)


@pytest.mark.parametrize("stem", ["v1_full", "v1_legacy_handmade", "v1_tools"])
def test_an_old_file_and_its_migrated_copy_count_once(stem):
    paths = [FOLDER / "migrated" / f"{stem}.{when}.jsonl" for when in ("before", "after-1.6.0")]
    both = merge([fold(place_of(path.name), whole(path).items) for path in paths], lambda _, works: reconcile(works))
    one = merge([fold(place_of(paths[1].name), whole(paths[1]).items)])

    assert len(both.samples) == len(one.samples)
    assert {what: len(marks) for what, marks in both.marks.items()} == {w: len(m) for w, m in one.marks.items()}


def test_forks_of_real_sessions_count_once():
    """All files of one version together: each entry once, by id and time."""
    paths = sorted((FOLDER / "160").glob("sessions*/*.jsonl"))
    ledger = merge([fold(place_of(path.name), whole(path).items) for path in paths], lambda _, works: reconcile(works))
    once = set()
    for path in paths:
        for event in whole(path).events:
            if event.kind == "usage":
                once.add((event.record.id, event.record.at_text, event.record.type))

    assert len(ledger.samples) == len(once)
    assert any(left.instead for _, left in ledger.left), "there are forks among them"


def test_the_cut_of_the_bytes_changes_nothing_in_a_real_session():
    for path in files()[::9]:
        data = path.read_bytes()
        expected = parse("pi", data)
        same(expected, parse("pi", None, pieces(data, (1, 997))))
        if len(data) < 20_000:
            same(expected, parse("pi", None, each_byte(data)))


def test_strict_reading_says_the_same_of_every_clean_session():
    for path in files():
        if path.stem not in FAULTS and path.stem not in REFUSED:
            data = path.read_bytes()
            same(parse("pi", data), parse("pi", data, repair=False))


def test_the_format_of_every_session_is_told_from_its_records():
    for path in files():
        head = next(
            (line for line in path.read_bytes().lstrip(b"\xef\xbb\xbf").split(b"\n") if line.startswith(b"{")), None
        )
        if head and path.stem != "e03_garbage_before_header":
            assert PI.sniff(json.loads(head.decode(errors="replace"))), name(path)
