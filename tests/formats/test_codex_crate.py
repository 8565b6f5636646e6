"""Our strict reading of Codex's files (`repair=False`) held against what the Rust crate agent-sessions printed.

Every deliberate difference is a row of the table in docs/formats/codex.md; a difference without a row fails, and so does a
row that nothing needs any more.
"""

import json
import re

import pytest

from reading import ROOT, SHARED, parse
from turnlog.model import valued

pytestmark = pytest.mark.shared

FOLDER = SHARED / "oracle" / "agent-sessions"
PATTERN = re.compile(r"(shape_codex_|x_)\w+|weak_fork_child")
MODES = {"strict": "token_count", "response": "response"}
RUNS = [
    (path.stem, mode)
    for path in sorted(FOLDER.glob("*.jsonl"))
    if PATTERN.fullmatch(path.stem)
    for mode in MODES
    if (FOLDER / f"out.{path.stem}.{mode}.txt").exists()
]
ROW = re.compile(r"^\| `([a-z-]+)` \|", re.MULTILINE)

FAULTS = {
    "InvalidJson": "invalid_json",
    "MissingField": "missing_field",
    "InvalidField": "invalid_field",
    "CounterRegression": "counter_regression",
    "LostUsageBaseline": "lost_baseline",
}
COUNTERS = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning", "reported_total")


def counts(value, get):
    return value and tuple(get(value, name) for name in COUNTERS)


def crate(name, mode):
    """Everything the crate said, as a set of comparable things."""
    said = set()
    for line in (FOLDER / f"out.{name}.{mode}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("error"):
            found = re.match(r"error Line \{ line_no: (\d+), byte_start: (\d+), kind: (\w+)", line)
            said.add(("fault", int(found[1]), int(found[2]), FAULTS[found[3]]))
        elif line.startswith("summary"):
            summary = json.loads(line.removeprefix("summary "))
            said.add(("read", summary["lines"], summary["bytes_read"]))
            said |= {("unknown", label, n) for label, n in summary["unknown_types"].items()}
            said |= {("ignored", label, n) for label, n in summary["ignored_types"].items()}
        else:
            event = json.loads(line)
            where = event["location"]
            ((kind, value),) = event["value"].items()
            record = (event["at"], event["timestamp_text"], event["record_type"], event["session_id"])
            place = (where["line_no"], where["byte_start"], where["byte_end"], where["event_index"])
            said.add((kind.lower(), *place, *record, *CRATE[kind](value)))
    return said


CRATE = {
    "Meta": lambda v: (
        *(v[k] for k in ("session_id", "cwd", "git_branch", "model", "agent_version", "originator", "thread_source")),
        v["origin"].lower(),
        json.dumps(v["source"], sort_keys=True),
    ),
    "Message": lambda v: (
        v["role"].lower(),
        v["text"],
        tuple((s["start"], s["end"]) for s in v["text_segments"]),
        v["is_sidechain"],
    ),
    "ToolCall": lambda v: (
        v["kind"].lower(),
        v["id"],
        v["name"],
        json.dumps(None if v["arguments"] == "Missing" else next(iter(v["arguments"].values()))),
        v["arguments"] == "Missing",
    ),
    "ToolResult": lambda v: (v["call_id"], v["text"], v["is_error"]),
    "Usage": lambda v: (
        counts(v["counts"], dict.get),
        counts(v["cumulative"], dict.get),
        re.sub(r"(?<!^)([A-Z])", r"_\1", v["basis"]).lower(),
        v["model"],
        (v["dedup_key"] or "").removeprefix("codex:") or None,
    ),
}


def ours(name, mode):
    data = (FOLDER / f"{name}.jsonl").read_bytes()
    whole = parse("codex", data, repair=False, codex_usage=MODES[mode])
    said = {("read", whole.summary.lines, whole.summary.bytes_read)}
    said |= {("unknown", label, n) for label, n in whole.summary.unknown.items()}
    said |= {("ignored", label, n) for label, n in whole.summary.ignored.items()}
    for item in whole.items:
        if item.kind == "fault":
            said.add(("fault", item.line, item.start, item.fault.value))
            continue
        r = item.record
        record = (item.at and item.at.isoformat().replace("+00:00", "Z"), r.at_text, r.type, r.session_id)
        kind = item.kind.replace("_", "")
        said.add((kind, item.line, item.start, item.end, item.index, *record, *OURS.get(kind, lambda _: ())(item)))
    return said


OURS = {
    "meta": lambda e: (
        *(getattr(e, k) for k in ("session_id", "cwd", "git_branch", "model", "agent_version", "originator")),
        e.thread_source,
        e.origin or "unknown",
        json.dumps(e.source, sort_keys=True),
    ),
    "message": lambda e: (e.role, e.text, e.segments, e.record.sidechain),
    "toolcall": lambda e: (e.style, e.id, e.name, json.dumps(valued(e.input)), e.missing),
    "toolresult": lambda e: (e.call_id, e.text, e.is_error),
    "usage": lambda e: (counts(e.counts, getattr), counts(e.cumulative, getattr), e.basis, e.model, e.response_id),
}


def row_of(name, side, said):
    """The row of the table that explains one difference; None if none does."""
    kind = said[0]
    if name in ("weak_fork_child", "x_session_switch", "x_sub_fork"):
        return "copied-session-metas"
    if kind in ("ignored", "unknown"):
        return LABELS.get(said[1]) if side == "crate" else None
    if kind == "fault":
        if name == "x_infonull" and said[1] == 3:
            return "no-info"
        return "not-an-object" if name == "x_codex_misc" and said[1] in (18, 19) else None
    return KINDS.get(kind) if side == "turnlog" else None


LABELS = {
    "event_msg:task_started": "turns",
    "event_msg:user_message": "prompts",
    "compacted": "compactions",
    "response_item:tool_search_output": "more-tools",
    "response_item:local_shell_call": "more-tools",
}
KINDS = {
    "turn": "turns",
    "prompt": "prompts",
    "compaction": "compactions",
    "toolcall": "more-tools",
    "toolresult": "more-tools",
    "image": "pictures",
}


def differences(name, mode):
    theirs, mine = crate(name, mode), ours(name, mode)
    return [("crate", said) for said in theirs - mine] + [("turnlog", said) for said in mine - theirs]


def rows():
    page = (ROOT / "docs" / "formats" / "codex.md").read_text(encoding="utf-8")
    return set(ROW.findall(page.partition("\n## Differences from agent-sessions\n")[2]))


def test_there_is_something_to_compare():
    assert len(RUNS) >= 17


@pytest.mark.parametrize("name, mode", RUNS)
def test_the_strict_reading_is_the_crates_but_for_the_rows_of_the_table(name, mode):
    unexplained = [(side, said) for side, said in differences(name, mode) if row_of(name, side, said) not in rows()]

    assert unexplained == []


def test_every_row_of_the_table_is_needed():
    needed = {row_of(name, side, said) for name, mode in RUNS for side, said in differences(name, mode)}

    assert rows() == needed
