"""Our strict reading of Claude Code's files (`repair=False`) held against what the Rust crate agent-sessions printed.

`../shared/oracle/agent-sessions` holds its output for synthetic inputs. Every deliberate difference is a row of the table
in docs/differences.md; a difference without a row fails, and so does a row that nothing needs any more.
"""

import json
import re

import pytest

from reading import ROOT, SHARED, parse
from turnlog.contract import Place
from turnlog.model import valued

pytestmark = pytest.mark.shared

FOLDER = SHARED / "oracle" / "agent-sessions"
PATTERN = re.compile(r"(shape_claude_|c_|n_|t_)\w+|weak_claude_stream")
NAMES = sorted(p.stem for p in FOLDER.glob("*.jsonl") if PATTERN.fullmatch(p.stem)) if FOLDER.is_dir() else []
MODES = {"strict": {}, "tail": {"tail": "allow-incomplete"}}
RUNS = [(name, mode) for name in NAMES for mode in MODES]

ROW = re.compile(r"^\| `([a-z0-9-]+)` \|", re.MULTILINE)
# Kinds of event that the crate has; ours besides are a row of their own.
THEIRS = {"meta", "message", "usage", "tool_call", "tool_result"}


def rows():
    return ROW.findall((ROOT / "docs" / "differences.md").read_text(encoding="utf-8"))


def crate(name, mode):
    """The crate's events by (line, kind, slot), its errors by line, and its summary."""
    events, errors, summary = {}, {}, {}
    for line in (FOLDER / f"out.{name}.{mode}.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("{"):
            value = json.loads(line)
            ((kind, said),) = value["value"].items()
            kind = {"ToolCall": "tool_call", "ToolResult": "tool_result"}.get(kind, kind.lower())
            where = value["location"]
            events[where["line_no"], kind, where["event_index"]] = {
                "range": (where["byte_start"], where["byte_end"]),
                "at": value["at"] and at(value["at"]),
                "at_text": value["timestamp_text"],
                "id": value["record_id"],
                "type": value["record_type"],
                "session": value["session_id"],
                "message_id": value["message_id"],
                **SAID[kind](said),
            }
        elif line.startswith("error"):
            found = re.match(r"error Line \{ line_no: (\d+), byte_start: (\d+), kind: (\w+)(?:\(\"(.*)\"\))? \}", line)
            errors[int(found[1])] = (int(found[2]), found[3], found[4])
        elif line.startswith("summary"):
            summary = json.loads(line.removeprefix("summary "))
    return events, errors, summary


def at(text):
    """To the microsecond, as Python's times are."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    return whole + (f".{fraction:0<6.6}" if fraction else "")


SAID = {
    "meta": lambda s: {k: s[k] for k in ("session_id", "cwd", "git_branch", "model", "agent_version", "origin")},
    "message": lambda s: {
        "role": s["role"].lower(),
        "text": s["text"],
        "segments": [(p["start"], p["end"]) for p in s["text_segments"]],
        "is_meta": s["is_meta"],
        "sidechain": s["is_sidechain"],
        "parent": s["parent_id"],
    },
    "usage": lambda s: {
        "counts": s["counts"],
        "model": s["model"],
        "stop_reason": s["stop_reason"],
        "endpoint": s["endpoint"].lower(),
        "geo": s["inference_geo"],
        "call": s["dedup_key"],
    },
    "tool_call": lambda s: {
        "id": s["id"],
        "name": s["name"],
        "style": s["kind"].lower(),
        "arguments": s["arguments"] if s["arguments"] == "Missing" else next(iter(s["arguments"].values())),
    },
    "tool_result": lambda s: {"call": s["call_id"], "is_error": s["is_error"], "text": s["text"]},
}


def ours(name, mode):
    result = parse(
        "claude",
        (FOLDER / f"{name}.jsonl").read_bytes(),
        place=Place(name=f"{name}.jsonl", stem=name),
        repair=False,
        **MODES[mode],
    )
    events = {}
    for event in result.events:
        events[event.line, event.kind, event.index] = {
            "range": (event.start, event.end),
            "at": event.at and event.at.isoformat().removesuffix("+00:00"),
            "at_text": event.record.at_text,
            "id": event.record.id,
            "type": event.record.type,
            "session": event.record.session_id,
            **(OURS[event.kind](event) if event.kind in OURS else {}),
        }
    faults = {f.line: f for f in result.faults}
    return events, faults, result.summary


OURS = {
    "meta": lambda e: {
        k: getattr(e, k) for k in ("session_id", "cwd", "git_branch", "model", "agent_version", "origin")
    },
    "message": lambda e: {
        "message_id": e.message_id,
        "role": e.role,
        "text": e.text,
        "segments": [tuple(p) for p in e.segments] if e.text else [],
        "is_meta": e.is_meta,
        "sidechain": e.record.sidechain,
        "parent": e.record.parent_id,
    },
    "usage": lambda e: {
        "message_id": e.message_id,
        "counts": {
            k: getattr(e.counts, k)
            for k in ("input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning", "reported_total")
        },
        "model": e.model,
        "stop_reason": e.stop_reason,
        "endpoint": e.endpoint or "unknown",
        "geo": e.inference_geo,
        "call": e.message_id and f"claude:{e.message_id}",
    },
    "tool_call": lambda e: {
        "id": e.id,
        "name": e.name,
        "style": e.style,
        "arguments": "Missing" if e.missing else valued(e.input),
    },
    "tool_result": lambda e: {"call": e.call_id, "is_error": e.is_error, "text": e.text},
}

KIND = {
    "InvalidJson": {"invalid_json", "truncated", "not_an_object"},
    "InvalidUtf8": {"invalid_utf8"},
    "TooLong": {"too_long"},
    "MissingField": {"missing_field"},
    "InvalidField": {"invalid_field"},
}
STATUS = {
    "Complete": "complete",
    "CompleteWithErrors": "complete_with_faults",
    "IncompleteTail": "incomplete_tail",
    "StoppedEarly": "stopped_early",
    "Failed": "failed",
}


def differences(name, mode):
    """(line or None, aspect, theirs, ours) wherever the two do not say the same."""
    their_events, their_errors, their_summary = crate(name, mode)
    our_events, our_faults, our_summary = ours(name, mode)
    out = []
    for line in sorted(their_errors.keys() | our_faults.keys()):
        error, fault = their_errors.get(line), our_faults.get(line)
        if error is None or fault is None:
            out.append((line, "fault", error and error[1], fault and fault.fault.value))
        elif error[0] != fault.start:
            out.append((line, "fault range", error[0], fault.start))
        elif fault.fault.value not in KIND[error[1]]:
            out.append((line, "fault kind", error[1], fault.fault.value))
        elif error[2] and fault.path and fault.path.split(".")[-1] != error[2].split("/")[-1]:
            out.append((line, "fault field", error[2], fault.path))
    lost = their_errors.keys() ^ our_faults.keys()
    for key in sorted(their_events.keys() | our_events.keys()):
        one, two = their_events.get(key), our_events.get(key)
        if key[0] in lost:
            continue  # the fault is the difference
        if one is None or two is None:
            out.append((key[0], f"{key[1]} event", one and "there", two and "there"))
            continue
        out += [
            (key[0], f"{key[1]}.{aspect}", one.get(aspect), two.get(aspect))
            for aspect in two
            if one.get(aspect) != two.get(aspect)
        ]
    for aspect, one, two in (
        ("status", STATUS[their_summary["status"]], our_summary.status.value),
        ("lines", their_summary["lines"], our_summary.lines),
        ("bytes_read", their_summary["bytes_read"], our_summary.bytes_read),
        ("complete_through", their_summary["last_complete_byte"], our_summary.complete_through),
        ("errors", their_summary["line_errors"], our_summary.fault_count),
        ("unknown", their_summary["unknown_types"], our_summary.unknown),
        ("ignored", their_summary["ignored_types"], our_summary.ignored),
    ):
        if one != two:
            out.append((None, f"summary.{aspect}", one, two))
    return out


# (row, where, what they say, what we say): a function each, so that a row covers what it says and nothing else.
CAUSES = {
    "meta-on-change": lambda name, line, aspect, one, two: aspect == "meta event" and two is None,
    "non-finite": lambda name, line, aspect, one, two: (
        (aspect, one, two) == ("fault kind", "InvalidJson", "non_finite")
    ),
    "lone-surrogates": lambda name, line, aspect, one, two: (name, line, aspect, two) == ("c_bad", 8, "fault", None),
    "depth": lambda name, line, aspect, one, two: (name, aspect, one, two) == ("n_deep", "fault", "InvalidJson", None),
    "minus-zero": lambda name, line, aspect, one, two: (name, line, aspect, two) == ("n_num", 1, "fault", None),
    "no-counters": lambda name, line, aspect, one, two: (
        (aspect, one, two) == ("fault", "MissingField", None) and (name, line) == ("n_num", 8)
    ),
    "times-without-zone": lambda name, line, aspect, one, two: (name, line, aspect, two) == ("n_ts", 4, "fault", None),
    "offsets-without-colon": lambda name, line, aspect, one, two: (
        (name, line, aspect, two) == ("n_ts", 5, "fault", None)
    ),
    "leap-seconds": lambda name, line, aspect, one, two: aspect == "message.at" and one.endswith(":60"),
    "times-by-size": lambda name, line, aspect, one, two: aspect == "message.at" and one.startswith("+55840"),
    "not-an-object": lambda name, line, aspect, one, two: (
        (aspect, one, two) == ("fault kind", "MissingField", "not_an_object")
    ),
    "cut-characters": lambda name, line, aspect, one, two: (
        one == "InvalidUtf8" and (aspect, two) in [("fault kind", "truncated"), ("fault", None)]
    ),
    "attachments": lambda name, line, aspect, one, two: (
        (name == "shape_claude_drift" and (aspect, two) == ("custom event", "there"))
        or (aspect == "summary.ignored" and set(one) - set(two) == {"attachment"})
    ),
    "progress": lambda name, line, aspect, one, two: (
        (name == "shape_claude_legacy_progress" and (aspect, two) == ("custom event", "there"))
        or (aspect == "summary.ignored" and set(one) - set(two) == {"progress"})
    ),
}
# What a summary says of a fault follows from the fault.
FOLLOWS = {"summary.status", "summary.complete_through", "summary.errors"}


def causes(name, mode):
    """The row of each difference; None where there is none."""
    found = differences(name, mode)
    of_fault = [d for d in found if d[1] == "fault"]
    for difference in found:
        if difference[1] in FOLLOWS and of_fault:
            continue
        yield difference, next((row for row, is_it in CAUSES.items() if is_it(name, *difference)), None)


def test_the_inputs_are_there():
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name,mode", RUNS)
def test_every_difference_from_the_crate_is_a_row_of_the_table(name, mode):
    assert [difference for difference, row in causes(name, mode) if row not in rows()] == []


def test_every_row_of_the_table_is_a_difference():
    used = {row for name, mode in RUNS for _, row in causes(name, mode)}

    assert sorted(rows()) == sorted(CAUSES)
    assert used == set(rows())
