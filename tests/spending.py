"""Small homes in which every call is known: what was spent, when, where, by which model, and aside or not."""

import json
from datetime import UTC, datetime
from pathlib import Path

from turnlog.ledger.prices import Pricer
from turnlog.ledger.prices.overrides import read_overrides
from turnlog.ledger.prices.table import LAYOUT, Table
from turnlog.ledger.usage import usage_report
from turnlog.roots import roots_from_home

PRICES = """
[models."model-a"]
input = 1
output = 10
cache_read = 0.1
cache_write_5m = 1.25
[models."model-b"]
input = 3
output = 30
"""


def stamp(at):
    """A time as the agents write it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def answer(number, session, at, model="model-a", tokens=(10, 20, 30, 40), *, cwd="/work/one", sidechain=False, **more):
    """One line of Claude Code: a call with its usage (input, output, cache read, cache write). at None: without a time."""
    usage = dict(
        zip(
            ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
            tokens,
            strict=True,
        )
    )
    record = {
        "parentUuid": more.pop("parent", None),
        "isSidechain": sidechain,
        "sessionId": session,
        "type": "assistant",
        "uuid": f"u{number}",
        "cwd": cwd,
        "version": "2.1.300",
        "message": {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": "ok"}],
            "stop_reason": "end_turn",
            "usage": usage,
        },
        **more,
    }
    if at is not None:
        record["timestamp"] = stamp(at) if isinstance(at, datetime) else at
    return record


def put(home, name, records, project="-work-one"):
    """Write a session file of Claude Code below the home."""
    path = Path(home) / ".claude" / "projects" / project / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def pricer(folder, mode="auto"):
    """Prices of two models, and of no other."""
    path = Path(folder) / "prices.toml"
    path.write_text(PRICES, encoding="utf-8")
    return Pricer(table=Table(LAYOUT, "(none)", None, []), overrides=read_overrides(path), mode=mode)


def used(home, kind="daily", *, prices=None, timezone="UTC", **asked):
    """The report over that home."""
    if prices is None:
        asked.setdefault("costs", False)
    return usage_report(roots_from_home(home), kind, timezone=timezone, pricer=prices, **asked)
