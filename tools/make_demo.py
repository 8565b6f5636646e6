#!/usr/bin/env python3
"""Write the demo home that ships in the wheel: src/turnlog/demo_home/.

    python3 tools/make_demo.py            write it
    python3 tools/make_demo.py --check    write nothing; exit 1 if the files differ

Standard library only. Every id, time and text is fixed, so each run writes the same bytes. One file is stored as
zstd: it needs `compression.zstd` (Python 3.14) or `backports.zstd` to be made; without either the stored file is kept.

Everything in it is invented: a bird-watching log program, kestrel, and a tide table, tern. TRUTH.json holds the
numbers a right reader must report. They are added up here from what was decided to be written, not read back.
"""

from __future__ import annotations

import argparse
import copy
import datetime as dt
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

HOME = Path(__file__).resolve().parent.parent / "src" / "turnlog" / "demo_home"
UTC = dt.UTC
KESTREL, TERN = "/home/dev/kestrel", "/home/dev/tern"
OPUS, SONNET = "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929"
SURROGATE = re.compile("[\ud800-\udfff]")
FILES: dict[str, bytes] = {}
FAULTS: list[dict[str, Any]] = []
# A drawn picture would depend on the version of zlib: one white pixel, fixed.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR4nGP4DwQACfsD/fteaysAAAAASUVORK5CYII="
# US dollars for a million tokens: input, output, cache read, cache write 5m, cache write 1h
PRICE = {
    OPUS: (5, 25, 0.5, 6.25, 10),
    SONNET: (3, 15, 0.3, 3.75, 6),
    "gpt-5.2-codex": (1.75, 14, 0.175, 0, 0),
}

Rec = dict[str, Any]


# ------------------------------------------------------------------ small things
def line(record: Any) -> bytes:
    """Compact JSON as the clients write it: raw UTF-8 (U+2028 too), a lone surrogate as its escape."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode()


def put(path: str, records: list[Any]) -> None:
    FILES[path] = b"".join((r if isinstance(r, bytes) else line(r)) + b"\n" for r in records)


def digest(label: str) -> str:
    return hashlib.sha256(("turnlog demo " + label).encode()).hexdigest()


def uuid4(label: str) -> str:
    h = digest(label)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{'89ab'[int(h[16], 16) % 4]}{h[17:20]}-{h[20:32]}"


def uuid7(when: dt.datetime, label: str) -> str:
    h, t = digest(label), f"{millis(when):012x}"
    return f"{t[:8]}-{t[8:]}-7{h[13:16]}-{'89ab'[int(h[16], 16) % 4]}{h[17:20]}-{h[20:32]}"


def base62(label: str, size: int) -> str:
    n, out = int(digest(label), 16), ""
    while len(out) < size:
        n, r = divmod(n, 62)
        out += "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[r]
    return out


def at(day: int, clock: str) -> dt.datetime:
    """A moment of November 2026, UTC."""
    h, m, s = (int(x) for x in clock.split(":"))
    return dt.datetime(2026, 11, day, h, m, s, tzinfo=UTC)


def millis(when: dt.datetime) -> int:
    return round(when.timestamp() * 1000)


def iso(when: dt.datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{when.microsecond // 1000:03d}Z"


def after(when: dt.datetime, seconds: float) -> dt.datetime:
    return when + dt.timedelta(milliseconds=round(seconds * 1000))


# ------------------------------------------------------------------ what was decided
class Ledger:
    """What the writers below decided to write, added up at the moment of deciding."""

    def __init__(self) -> None:
        self.files = 0
        self.sessions: list[str] = []
        self.user_prompts = self.assistant_messages = self.tool_calls = self.tool_results = self.compactions = 0
        self.tokens = dict.fromkeys(("input", "output", "cache_read", "cache_write", "total"), 0)
        self.by_session: dict[str, int] = {}
        self.by_model: dict[str, int] = {}
        self.by_day: dict[str, int] = {}
        self.cost = 0.0

    def spend(
        self, when: dt.datetime, session: str, model: str, inp: int, out: int, read: int = 0, write: int = 0
    ) -> None:
        total = inp + out + read + write
        for key, value in zip(self.tokens, (inp, out, read, write, total), strict=True):
            self.tokens[key] += value
        for table, key in (
            (self.by_session, session),
            (self.by_model, model),
            (self.by_day, when.strftime("%Y-%m-%d")),
        ):
            table[key] = table.get(key, 0) + total

    def numbers(self) -> Rec:
        names = ("user_prompts", "assistant_messages", "tool_calls", "tool_results", "compactions")
        return {
            "files": self.files,
            "sessions": len(self.sessions),
            **{n: getattr(self, n) for n in names},
            "tokens": self.tokens,
        }

    def tables(self) -> Rec:
        return {
            "by_session": {s: self.by_session.get(s, 0) for s in self.sessions},
            "by_model": dict(sorted(self.by_model.items())),
            "by_day_utc": dict(sorted(self.by_day.items())),
        }


LEDGER = {agent: Ledger() for agent in ("claude", "codex", "pi", "swink")}
UNCOMMITTED = Ledger()


# ------------------------------------------------------------------ Claude Code
class Claude:
    """One transcript. `tip` is the uuid the next record hangs on."""

    def __init__(
        self, session: str, cwd: str, start: dt.datetime, version: str = "2.1.332", agent: str | None = None
    ) -> None:
        self.session, self.cwd, self.now, self.version, self.agent = session, cwd, start, version, agent
        self.records: list[Any] = []
        self.tip: str | None = None
        self.prompt_id = ""
        self.turn = 0
        self.spent: dict[str, list[int]] = {}
        self.count = 0
        self.sidechain = agent is not None
        self.log = LEDGER["claude"]

    @property
    def old(self) -> bool:
        return self.version.startswith("1.")

    def label(self, what: str) -> str:
        self.count += 1
        return f"{self.session} {self.agent} {what} {self.count}"

    def state(self, kind: str, **fields: Any) -> None:
        self.records.append({"type": kind, **fields, "sessionId": self.session})

    def add(self, kind: str, body: Rec, tail: Rec | None = None, gap: float = 0.4, root: bool = False) -> str:
        """A transcript record in the chain, its keys in the client's order."""
        self.now = after(self.now, gap)
        uid = uuid4(self.label(kind))
        head: Rec = {"parentUuid": None if root else self.tip, "isSidechain": self.sidechain}
        if body.get("subtype") == "compact_boundary":
            head["logicalParentUuid"] = self.tip
        common: Rec = {"userType": "external"}
        if not self.old:
            common["entrypoint"] = "cli"
            if self.prompt_id and kind == "user":
                head["promptId"] = self.prompt_id
            if self.agent:
                head["agentId"] = self.agent
        common |= {"cwd": self.cwd, "sessionId": self.session, "version": self.version}
        common["gitBranch"] = "" if self.old else "main"
        record = {**head, "type": kind, **body, "uuid": uid, "timestamp": iso(self.now), **(tail or {}), **common}
        self.records.append(record)
        self.tip = uid
        return uid

    def person(self, text: str | list[Rec], gap: float = 20) -> str:
        """A prompt typed by a person."""
        self.log.user_prompts += 1
        self.turn += 1
        self.prompt_id = uuid4(self.label("promptId"))
        if self.old:
            return self.add("user", {"message": {"role": "user", "content": text}}, gap=gap)
        place = len(self.records)
        position = {"promptIndex": self.turn, "turnIndex": self.turn}
        tail = {
            "permissionMode": "default",
            "origin": {"kind": "human"},
            "promptSource": "typed",
            "turnPosition": position,
        }
        uid = self.add("user", {"message": {"role": "user", "content": text}}, tail, gap=gap)
        if self.turn > 2:
            return uid
        snapshot = {"messageId": uid, "trackedFileBackups": {}, "timestamp": iso(self.now)}
        state = {"type": "file-history-snapshot", "messageId": uid, "snapshot": snapshot, "isSnapshotUpdate": False}
        self.records.insert(place, state)
        return uid

    def note(self, content: str | list[Rec], gap: float = 0.1, **tail: Any) -> str:
        """A user record that nobody typed."""
        return self.add("user", {"message": {"role": "user", "content": content}}, tail, gap=gap)

    def attach(self, attachment: Rec, rendered: str | None = None) -> str:
        tail = {
            "rendered": [{"content": f"<system-reminder>\n{rendered}\n</system-reminder>"}],
            "renderedRole": "system",
        }
        return self.add("attachment", {"attachment": attachment}, tail if rendered else {}, gap=0)

    def opening(self) -> None:
        """The attachments that follow the first prompt."""
        self.attach(
            {
                "type": "environment",
                "snapshot": {"workingDirectory": self.cwd, "isGitRepo": True, "platform": "linux", "shell": "bash"},
            },
            f"Working directory: {self.cwd}",
        )
        self.attach({"type": "date", "date": self.now.strftime("%Y-%m-%d")}, f"Today's date is {self.now:%Y-%m-%d}.")

    def answer(
        self,
        blocks: list[Rec],
        tokens: tuple[int, int, int, int, int],
        model: str = OPUS,
        stop: str | None = None,
        gap: float = 4,
        cut: bool = False,
    ) -> list[str]:
        """One API message: one line for each block. tokens: input, output, read, write 5m, write 1h."""
        inp, out, read, w5, w1 = tokens
        self.log.assistant_messages += 1
        calls = sum(b["type"] == "tool_use" for b in blocks)
        self.log.tool_calls += calls
        stop = None if cut else stop or ("tool_use" if calls else "end_turn")
        mid, rid = "msg_01" + base62(self.label("msg"), 22), "req_011C" + base62(self.label("req"), 20)
        usage: Rec = {
            "input_tokens": inp,
            "cache_creation_input_tokens": w5 + w1,
            "cache_read_input_tokens": read,
            "output_tokens": out,
            "cache_creation": {"ephemeral_5m_input_tokens": w5, "ephemeral_1h_input_tokens": w1},
            "service_tier": "standard",
        }
        uids = []
        self.now = after(self.now, gap)
        first = self.now
        for index, block in enumerate(blocks):
            message = {
                "id": mid,
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [block],
                "stop_reason": stop,
                "usage": copy.deepcopy(usage),
            }
            tail: Rec = {"requestId": rid}
            if not self.old:
                tail = {"apiBlockIndex": index, "requestId": rid}
                if cut:
                    tail["isAbortedMidStream"] = True
            uids.append(self.add("assistant", {"message": message}, tail, gap=0 if index == 0 else 0.3))
        self.log.spend(first, self.session, model, inp, out, read, w5 + w1)
        for i, n in enumerate(tokens):
            self.spent.setdefault(model, [0] * 5)[i] += n
        return uids

    def result(
        self, call: str, content: Any, detail: Any = None, parent: str | None = None, error: bool = False
    ) -> str:
        self.log.tool_results += 1
        block: Rec = {"tool_use_id": call, "type": "tool_result", "content": content}
        if error:
            block["is_error"] = True
        tail: Rec = {}
        if detail is not None:
            tail["toolUseResult"] = detail
        if parent:
            self.tip = parent
        if not self.old:
            tail["sourceToolAssistantUUID"] = self.tip
        return self.note([block], gap=0.6, **tail)

    def done(self, seconds: float) -> None:
        self.add(
            "system",
            {
                "subtype": "turn_duration",
                "durationMs": round(seconds * 1000),
                "messageCount": self.count,
                "isMeta": False,
            },
        )

    def cost_state(self, others: tuple[Claude, ...] = ()) -> None:
        usage: dict[str, list[int]] = {}
        for source in (self, *others):
            for model, counts in source.spent.items():
                usage[model] = [a + b for a, b in zip(usage.get(model, [0] * 5), counts, strict=True)]
        table, total = {}, 0.0
        for model, (inp, out, read, w5, w1) in usage.items():
            p = PRICE[model]
            usd = round((inp * p[0] + out * p[1] + read * p[2] + w5 * p[3] + w1 * p[4]) / 1e6, 8)
            total += usd
            table[model] = {
                "inputTokens": inp,
                "outputTokens": out,
                "thinkingTokens": 0,
                "cacheReadInputTokens": read,
                "cacheCreationInputTokens": w5 + w1,
                "cacheCreationEphemeral5mInputTokens": w5,
                "cacheCreationEphemeral1hInputTokens": w1,
                "webSearchRequests": 0,
                "costUSD": usd,
            }
        self.records.append(
            {
                "type": "cost-state",
                "sessionId": self.session,
                "totalCostUSD": round(total, 8),
                "totalAPIDuration": 61_250,
                "totalToolDuration": 4_870,
                "totalLinesAdded": 9,
                "totalLinesRemoved": 2,
                "totalDuration": 930_400,
                "modelUsage": table,
                "hasUnknownModelCost": False,
            }
        )

    def last_prompt(self, text: str) -> None:
        self.state("last-prompt", lastPrompt=text, leafUuid=self.tip)


def text(words: str) -> Rec:
    return {"type": "text", "text": words}


def thinking(words: str) -> Rec:
    return {"type": "thinking", "thinking": words, "signature": "RGVtb1NpZ25hdHVyZQ=="}


def tool(label: str, name: str, **arguments: Any) -> Rec:
    return {"type": "tool_use", "id": "toolu_01" + base62("tool " + label, 22), "name": name, "input": arguments}


def bash(stdout: str, stderr: str = "") -> Rec:
    return {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False, "noOutputExpected": False}


def read_result(path: str, content: str) -> tuple[str, Rec]:
    rows = content.split("\n")
    shown = "\n".join(f"{i}\t{row}" for i, row in enumerate(rows, 1))
    return shown, {
        "type": "text",
        "file": {"filePath": path, "content": content, "numLines": len(rows), "startLine": 1, "totalLines": len(rows)},
    }


def claude() -> None:
    log = LEDGER["claude"]
    kestrel_dir, tern_dir = ".claude/projects/-home-dev-kestrel", ".claude/projects/-home-dev-tern"
    history: list[Rec] = []

    def typed(session: Claude, words: str) -> None:
        history.append(
            {
                "display": words,
                "pastedContents": {},
                "timestamp": millis(session.now),
                "project": session.cwd,
                "sessionId": session.session,
            }
        )

    # --- the main session: tools in parallel, an edit, a rewind, subagents, an API error, a compaction
    one = Claude(uuid4("session one"), KESTREL, at(2, "09:12:00"))
    log.sessions.append(one.session)
    one.state("mode", mode="normal")
    one.state("permission-mode", permissionMode="default")
    ask = "Add a `kestrel log` command. It should write one sighting per line: date, species, count, place."
    one.person(ask, gap=5)
    typed(one, ask)
    one.opening()
    source = 'import sys\n\n\ndef main():\n    print("kestrel: a notebook for birds")\n    return 0\n'
    read_call = tool("k read", "Read", file_path=f"{KESTREL}/kestrel/cli.py")
    run_call = tool("k run", "Bash", command="python -m pytest -q --color=yes", description="Run the tests")
    lines = one.answer(
        [
            thinking(
                "The command line is one function. I should look at it and see whether the tests pass before I touch anything."
            ),
            text("I'll read the command line and run the tests first."),
            read_call,
            run_call,
        ],
        (412, 268, 0, 9_200, 3_000),
    )
    one.result(read_call["id"], *read_result(f"{KESTREL}/kestrel/cli.py", source), parent=lines[2])
    green = "\x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[32m                       [100%]\x1b[0m\n\x1b[32m\x1b[1m2 passed\x1b[0m in 0.04s"
    one.result(run_call["id"], green, bash(green), parent=lines[3])
    edit_call = tool(
        "k edit",
        "Edit",
        file_path=f"{KESTREL}/kestrel/cli.py",
        old_string='    print("kestrel: a notebook for birds")\n',
        new_string='    if sys.argv[1:2] == ["log"]:\n        return log(sys.argv[2:])\n    print("kestrel: a notebook for birds")\n',
        replace_all=False,
    )
    one.answer([text("Both pass. I'll send `log` to its own function."), edit_call], (9, 221, 12_200, 640, 0))
    hunk = {
        "oldStart": 4,
        "oldLines": 3,
        "newStart": 4,
        "newLines": 5,
        "lines": [
            " def main():",
            '+    if sys.argv[1:2] == ["log"]:',
            "+        return log(sys.argv[2:])",
            '     print("kestrel: a notebook for birds")',
            "     return 0",
        ],
    }
    one.result(
        edit_call["id"],
        f"The file {KESTREL}/kestrel/cli.py has been updated successfully.",
        {
            "filePath": f"{KESTREL}/kestrel/cli.py",
            "oldString": edit_call["input"]["old_string"],
            "newString": edit_call["input"]["new_string"],
            "originalFile": source,
            "structuredPatch": [hunk],
            "userModified": False,
            "replaceAll": False,
        },
    )
    # a prompt typed while the model worked: it is kept as an attachment, not as a user line
    queued, queued_uuid = "Use ISO dates, please.", uuid4("queued prompt")
    typed(one, queued)
    one.records.append(
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": iso(one.now),
            "sessionId": one.session,
            "content": queued,
        }
    )
    one.records.append(
        {
            "type": "queue-operation",
            "operation": "remove",
            "timestamp": iso(after(one.now, 1)),
            "sessionId": one.session,
            "content": queued,
            "reason": "absorbed_mid_turn",
            "commandUuid": queued_uuid,
        }
    )
    one.attach(
        {
            "type": "queued_command",
            "prompt": queued,
            "source_uuid": queued_uuid,
            "commandMode": "prompt",
            "origin": {"kind": "human"},
            "timestamp": iso(one.now),
            "humanTurn": True,
        },
        f"The user sent a new message while you were working:\n{queued}",
    )
    log.user_prompts += 1
    one.answer(
        [
            text(
                'Done. `kestrel log "kestrel" 2 "north field"` now writes a line such as `2026-11-02,kestrel,2,north field`, with ISO dates as you asked. 🐦'
            )
        ],
        (7, 96, 12_840, 310, 0),
    )
    one.done(21.4)
    first_turn = one.tip
    one.state("ai-title", aiTitle="Add a log command to kestrel")
    one.last_prompt(ask)

    # a question that was taken back: its branch stays in the file
    one.now = at(3, "08:30:00")
    taken_back = "Colour the rare birds red in the list."
    one.person(taken_back)
    typed(one, taken_back)
    one.answer(
        [
            text(
                "I would mark them with `\\x1b[31m`, but only when the output is a terminal. Shall I look at how the list is printed?"
            )
        ],
        (24, 71, 13_150, 220, 0),
    )
    one.done(5.0)
    one.tip = first_turn
    ask = "Better: show the newest sighting first. Have a helper look at how the list is sorted."
    one.person(ask, gap=95)
    typed(one, ask)
    explore = tool(
        "k agent 1",
        "Agent",
        description="Find the list code",
        prompt="Find the function of /home/dev/kestrel that prints the list of sightings and say how it is sorted.",
        subagent_type="Explore",
    )
    lines = one.answer([text("A helper can look while I think."), explore], (31, 310, 13_150, 480, 0))
    agent, answer, usage = helper(
        one,
        "a1f0c3d2e4b5a6978",
        explore,
        "Explore",
        "Grep",
        {"pattern": "sorted\\(", "path": KESTREL},
        "kestrel/listing.py:14:    for row in sorted(rows):",
        "`listing.py`, line 14: `sorted(rows)` puts the oldest day first. No test promises an order.",
    )
    detail = {
        "status": "completed",
        "prompt": explore["input"]["prompt"],
        "agentId": agent.agent,
        "agentType": "Explore",
        "content": [text(answer)],
        "totalDurationMs": 9_100,
        "totalToolUseCount": 1,
        **usage,
    }
    one.now = agent.now
    one.result(explore["id"], [text(answer)], detail, parent=lines[1])
    sed = tool(
        "k sed",
        "Bash",
        command="sed -i 's/sorted(rows)/sorted(rows, reverse=True)/' kestrel/listing.py && python -m pytest -q",
        description="Sort and test",
    )
    one.answer([sed], (12, 88, 13_630, 700, 0))
    failed = "Exit code 1\nE   ImportError: cannot import name 'rows'"
    one.result(sed["id"], failed, "Error: " + failed, error=True)
    # the service was busy
    one.now = after(one.now, 31)
    one.log.assistant_messages += 1
    zero = {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
        "service_tier": None,
        "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    }
    message = {
        "id": uuid4("synthetic"),
        "container": None,
        "model": "<synthetic>",
        "role": "assistant",
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": zero,
        "content": [text("API Error: 529 Overloaded. The service is busy; try again in a moment.")],
    }
    one.add(
        "assistant",
        {"message": message},
        {
            "requestId": "req_011C" + base62("busy", 20),
            "error": "server_error",
            "isApiErrorMessage": True,
            "apiErrorStatus": 529,
        },
    )
    again = "Try again"
    one.person(again, gap=60)
    typed(one, again)
    fix = tool("k fix", "Bash", command="git diff --stat && python -m pytest -q", description="Test again")
    one.answer(
        [thinking("The import was mine to fix: the test imports rows from listing."), fix], (15, 140, 14_330, 260, 0)
    )
    one.result(
        fix["id"],
        " kestrel/listing.py | 2 +-\n3 passed in 0.05s",
        bash(" kestrel/listing.py | 2 +-\n3 passed in 0.05s"),
    )
    one.answer([text("The newest sighting comes first now, and all three tests pass.")], (6, 52, 14_590, 190, 0))
    one.done(74.2)
    # /compact
    one.now = at(4, "17:45:00")
    log.compactions += 1
    typed(one, "/compact")
    one.add(
        "system",
        {
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "level": "info",
            "compactMetadata": {"trigger": "manual", "preTokens": 14_838, "postTokens": 1_930, "durationMs": 8_420},
        },
        root=True,
    )
    one.note(
        "This session is being continued from a previous conversation that ran out of context. Summary: kestrel has a log command with ISO dates, and its list shows the newest sighting first. Three tests pass.",
        isVisibleInTranscriptOnly=True,
        isCompactSummary=True,
    )
    one.note(
        "<local-command-caveat>The messages below were made by the user running a command. Do not answer them.</local-command-caveat>",
        isMeta=True,
    )
    one.note(
        "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args></command-args>"
    )
    one.note("<local-command-stdout>\x1b[2mCompacted\x1b[22m</local-command-stdout>")
    ask = "What would an HTML page of the list look like?"
    one.person(ask)
    typed(one, ask)
    one.answer(
        [
            text(
                'A table, and every name escaped: someone will surely log a `<script>alert("peregrine!")</script>` one day, and the page must show it as text.'
            )
        ],
        (1_930, 118, 0, 2_400, 0),
    )
    one.done(6.6)
    one.state("custom-title", customTitle="kestrel: log and list")
    one.state("agent-name", agentName="kestrel: log and list")
    one.cost_state((agent,))
    one.last_prompt(ask)
    put(f"{kestrel_dir}/{one.session}.jsonl", one.records)
    FILES[f"{kestrel_dir}/{one.session}/custom-title.json"] = line(
        {"customTitle": "kestrel: log and list", "by": "user", "at": iso(one.now)}
    )
    log.files += 1

    # --- an old client: the helper's records stand inside the main file, and two records share a line
    old = Claude(uuid4("session old"), KESTREL, at(3, "20:05:00"), version="1.0.96")
    log.sessions.append(old.session)
    old.person("Read my paper notebook, notes.txt, and tell me which birds are in it.", gap=0)
    task = tool(
        "old task",
        "Task",
        description="Read the notes",
        prompt="Read /home/dev/kestrel/notes.txt and list every species.",
        subagent_type="general-purpose",
    )
    lines = old.answer([text("A helper can read it."), task], (14, 92, 0, 4_100, 0), model=SONNET)
    main_tip = old.tip
    old.sidechain, old.tip = True, None
    old.note(task["input"]["prompt"])
    notes = "3 May: two kestrels, one wren\n4 May: 翡翠 (a kingfisher!)\n5 May: nothing but rain\u2028and one very wet robin\n"
    peek = tool("old read", "Read", file_path=f"{KESTREL}/notes.txt")
    old.answer([peek], (8, 61, 2_050, 330, 0), model=SONNET)
    old.result(peek["id"], *read_result(f"{KESTREL}/notes.txt", notes))
    glued = old.records.pop(), old.records.pop()
    old.records.append(line(glued[1]) + line(glued[0]))
    FAULTS.append(
        {"path": f"{kestrel_dir}/{old.session}.jsonl", "line": len(old.records) + 1, "kind": "glued", "recovered": 2}
    )
    old.answer([text("Kestrel, wren, kingfisher (翡翠) and robin.")], (5, 27, 2_380, 140, 0), model=SONNET)
    old.sidechain, old.tip = False, main_tip
    old.result(
        task["id"],
        [text("Kestrel, wren, kingfisher (翡翠) and robin.")],
        {
            "content": [text("Kestrel, wren, kingfisher (翡翠) and robin.")],
            "totalDurationMs": 7_300,
            "totalTokens": 2_552,
            "totalToolUseCount": 1,
            "usage": {
                "input_tokens": 5,
                "cache_creation_input_tokens": 140,
                "cache_read_input_tokens": 2_380,
                "output_tokens": 27,
            },
            "wasInterrupted": False,
        },
    )
    old.answer(
        [text("Four species: kestrel, wren, kingfisher and robin. The kingfisher is the prize.")],
        (11, 33, 4_100, 210, 0),
        model=SONNET,
    )
    old.records.insert(0, {"type": "summary", "summary": "Birds of the paper notebook", "leafUuid": old.tip})
    put(f"{kestrel_dir}/{old.session}.jsonl", old.records)
    log.files += 1

    # --- the other project: shell commands, an image, an interruption, and a last line cut short
    tern = Claude(uuid4("session tern"), TERN, at(9, "23:48:00"))
    log.sessions.append(tern.session)
    tern.state("mode", mode="normal")
    ask = "The tide table in this picture is hard to read. Can tern fetch it as numbers?"
    tern.person(
        [text(ask), {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}], gap=4
    )
    typed(tern, ask)
    tern.opening()
    grep = tool("t grep", "Bash", command="grep -rn 'tide' tern/*.py", description="Find the tide code")
    tern.answer(
        [thinking("A picture of a table. First see what tern already has."), text("Let me see what is there."), grep],
        (655, 173, 0, 8_800, 0),
        model=SONNET,
    )
    found = "tern/fetch.py:3:def tide(day, port='harbour'):\ntern/fetch.py:4:    '''満潮 and 干潮, high and low water.'''\ntern/fetch.py:9:    # half an emoji was pasted here once: \ud83d"
    tern.result(grep["id"], found, bash(found))
    tern.answer(
        [text("`tide()` exists and returns high (満潮) and low (干潮) water. 🌊 It only needs a command.")],
        (5, 64, 8_800, 410, 0),
        model=SONNET,
    )
    tern.done(9.8)
    fork_tip, fork_at = tern.tip, len(tern.records)
    tern.now = at(10, "00:03:00")
    typed(tern, "!date -u")
    tern.prompt_id = uuid4("bang")
    tern.note("<bash-input>date -u</bash-input>")
    tern.note("<bash-stdout>Tue Nov 10 00:03:00 UTC 2026</bash-stdout><bash-stderr></bash-stderr>")
    ask = "Write a poem about every tide of the year."
    tern.person(ask)
    typed(tern, ask)
    tern.answer(
        [text("In January the water comes\nbefore the light, and")], (9, 3, 9_210, 180, 0), model=SONNET, cut=True
    )
    tern.note([text("[Request interrupted by user]")], gap=2)
    ask = "Sorry, too long. Just add the command."
    tern.person(ask, gap=12)
    typed(tern, ask)
    make = tool(
        "t write",
        "Write",
        file_path=f"{TERN}/tern/__main__.py",
        content='from tern.fetch import tide\n\nprint(tide("today"))\n',
    )
    tern.answer([make], (10, 97, 9_390, 220, 0), model=SONNET)
    tern.result(
        make["id"],
        f"File created successfully at: {TERN}/tern/__main__.py",
        {
            "type": "create",
            "filePath": f"{TERN}/tern/__main__.py",
            "content": make["input"]["content"],
            "structuredPatch": [],
            "originalFile": None,
            "userModified": False,
        },
    )
    tern.state("ai-title", aiTitle="Tide tables as numbers")
    tern.last_prompt(ask)
    path = f"{tern_dir}/{tern.session}.jsonl"
    put(path, tern.records)
    whole = {
        "parentUuid": tern.tip,
        "isSidechain": False,
        "message": {
            "id": "msg_01" + base62("never whole", 22),
            "type": "message",
            "role": "assistant",
            "model": SONNET,
            "content": [text("`python -m tern` now prints today's high")],
        },
    }
    FILES[path] += line(whole)[:-8]  # the process died here, in the middle of a word
    FAULTS.append({"path": path, "line": len(tern.records) + 1, "kind": "truncated", "recovered": 0})
    log.files += 1

    # --- a branch of it: the first turn is copied under a new session id, then it goes its own way
    two = Claude(uuid4("session two"), TERN, at(11, "19:20:00"))
    log.sessions.append(two.session)
    for record in tern.records[:fork_at]:
        if "uuid" not in record:
            continue
        twin = copy.deepcopy(record) | {"sessionId": two.session}
        if twin["type"] == "assistant":
            twin["requestSessionId"] = tern.session
        twin["forkedFrom"] = {"sessionId": tern.session, "messageUuid": record["uuid"]}
        two.records.append(twin)
    two.tip, two.turn = fork_tip, 1
    two.state("custom-title", customTitle="Tide tables as a calendar (Branch)")
    ask = "In this branch, write the tides as a calendar file instead."
    two.person(ask)
    typed(two, ask)
    write = tool(
        "t2 write",
        "Write",
        file_path=f"{TERN}/tern/ics.py",
        content="def event(day, high):\n    return f'BEGIN:VEVENT\\nDTSTART:{day}T{high}Z\\nSUMMARY:High water\\nEND:VEVENT\\n'\n",
    )
    two.answer([thinking("A calendar wants one event for each high water."), write], (18, 254, 9_210, 520, 0))
    two.result(
        write["id"],
        f"File created successfully at: {TERN}/tern/ics.py",
        {
            "type": "create",
            "filePath": f"{TERN}/tern/ics.py",
            "content": write["input"]["content"],
            "structuredPatch": [],
            "originalFile": None,
            "userModified": False,
        },
    )
    two.answer(
        [text("Here it is. Your telephone will now ring at high water, so choose the alarm with care.")],
        (6, 44, 9_730, 260, 0),
    )
    two.done(11.9)
    two.cost_state()
    two.last_prompt(ask)
    put(f"{tern_dir}/{two.session}.jsonl", two.records)
    log.files += 1

    history.sort(key=lambda h: h["timestamp"])
    put(".claude/history.jsonl", history)


def helper(
    parent: Claude, name: str, call: Rec, kind: str, tool_name: str, arguments: Rec, found: str, answer: str
) -> tuple[Claude, str, Rec]:
    """A subagent's own file beside the session, and its meta file."""
    agent = Claude(parent.session, parent.cwd, parent.now, agent=name)
    agent.prompt_id = parent.prompt_id
    agent.note(call["input"]["prompt"])
    use = tool("agent " + name, tool_name, **arguments)
    agent.answer([thinking("One search should do."), use], (7, 84, 3_100, 900, 0), model=SONNET)
    agent.result(use["id"], found)
    last = (4, 38 + len(answer) // 8, 4_000, 130, 0)
    agent.answer([text(answer)], last, model=SONNET)
    folder = f".claude/projects/-home-dev-kestrel/{parent.session}/subagents"
    put(f"{folder}/agent-{name}.jsonl", agent.records)
    FILES[f"{folder}/agent-{name}.meta.json"] = line(
        {
            "agentType": kind,
            "isBuiltIn": True,
            "description": call["input"]["description"],
            "toolUseId": call["id"],
            "spawnDepth": 1,
            "requestShape": "foreground",
            "model": SONNET,
            "finished": True,
        }
    )
    LEDGER["claude"].files += 1
    usage = {
        "input_tokens": last[0],
        "cache_creation_input_tokens": last[3],
        "cache_read_input_tokens": last[2],
        "output_tokens": last[1],
    }
    return agent, answer, {"usage": usage, "totalTokens": sum(last)}


# ------------------------------------------------------------------ Codex
FIELDS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "reasoning_output_tokens")


class Codex:
    """One rollout. style: "E" (0.58), "L" (0.147, legacy) or "P" (0.169, paginated)."""

    def __init__(
        self,
        style: str,
        start: dt.datetime,
        name: str,
        cwd: str,
        model: str,
        session: str | None = None,
        base: Codex | None = None,
        history: list[Rec] | None = None,
    ) -> None:
        self.style, self.now, self.name, self.cwd, self.model = style, start, name, cwd, model
        self.history = history  # interactive prompts, None for `codex exec` and subagents
        self.thread = uuid7(start, "thread " + name)
        self.session = session or self.thread
        self.records: list[Rec] = []
        self.total = dict.fromkeys(FIELDS, 0)
        self.seen: Rec | None = None
        self.ordinal = 0
        self.count = 0
        self.turn = ""
        self.turn_sum: Rec = {}
        self.sequence = 0
        self.log = LEDGER["codex"]
        self.log.files += 1
        self.path = f".codex/sessions/{start:%Y/%m/%d}/rollout-{start:%Y-%m-%dT%H-%M-%S}-{self.thread}.jsonl"
        if base:
            self.ordinal, self.total = base.ordinal, dict(base.total)

    def label(self, what: str) -> str:
        self.count += 1
        return f"codex {self.name} {what} {self.count}"

    def add(self, kind: str, payload: Rec, gap: float = 0.02) -> None:
        self.now = after(self.now, gap)
        record: Rec = {"timestamp": iso(self.now)}
        if self.style == "P":
            record["ordinal"] = self.ordinal
            self.ordinal += 1
        record |= {"type": kind, "payload": payload}
        if self.style == "P" and kind == "response_item":
            self.sequence += 1
            record["metadata"] = {"history_sequence": self.sequence}
        self.records.append(record)

    def event(self, kind: str, gap: float = 0.01, **fields: Any) -> None:
        self.add("event_msg", {"type": kind, **fields}, gap)

    def item(self, payload: Rec, kinds: list[str] | None = None, gap: float = 0.02) -> None:
        if self.style != "E" and payload["type"] in ("message", "reasoning"):
            passthrough: Rec = {"turn_id": self.turn}
            if self.style == "P" and kinds:
                passthrough["content_item_kinds"] = kinds
            payload = payload | {"internal_chat_message_metadata_passthrough": passthrough}
        self.add("response_item", payload, gap)

    def completed(self, item: Rec) -> None:
        self.event(
            "item_completed",
            thread_id=self.thread,
            turn_id=self.turn,
            item=item,
            started_at_ms=millis(self.now),
            completed_at_ms=millis(self.now),
        )

    def meta(self, version: str, source: Any, **extra: Any) -> None:
        head: Rec = {}
        if self.style != "E":
            head["session_id"] = self.session
        head |= {"id": self.thread}
        origin = "codex-tui" if source == "cli" else "codex_exec"
        body = {"timestamp": iso(self.now), "cwd": self.cwd, "originator": origin, "cli_version": version}
        if self.style == "E":
            body |= {"instructions": "# Rules\nBe kind to birds.\n", "source": source, "model_provider": "openai"}
        else:
            body |= {
                "source": source,
                "thread_source": "subagent" if isinstance(source, dict) else "user",
                "model_provider": "openai",
                "base_instructions": {"text": "You are a coding agent. Be brief and be kind."},
                "history_mode": "paginated" if self.style == "P" else "legacy",
            }
        body["git"] = {
            "commit_hash": digest(self.cwd)[:40],
            "branch": "main",
            "repository_url": "https://example.com/dev/birds.git",
        }
        self.add("session_meta", head | extra | body, gap=0.05)

    def context(self) -> None:
        common: Rec = {"cwd": self.cwd, "approval_policy": "on-request", "model": self.model, "summary": "auto"}
        if self.style == "E":
            self.add("turn_context", common | {"sandbox_policy": {"mode": "workspace-write"}})
        else:
            self.add(
                "turn_context",
                {"turn_id": self.turn, **common, "effort": "medium", "sandbox_policy": {"type": "workspace-write"}},
            )

    def injected(self) -> None:
        """What the client says in the user's place."""
        rules = f"# AGENTS.md instructions for {self.cwd}\n\n<INSTRUCTIONS>\nBe kind to birds.\n</INSTRUCTIONS>"
        place = f"<environment_context>\n  <cwd>{self.cwd}</cwd>\n  <shell>bash</shell>\n</environment_context>"
        parts = [{"type": "input_text", "text": t} for t in (rules, place)]
        if self.style == "E":
            for part in parts:
                self.item({"type": "message", "role": "user", "content": [part]})
        else:
            self.item(
                {
                    "type": "message",
                    "id": "msg_" + uuid7(self.now, self.label("ctx")),
                    "role": "user",
                    "content": parts,
                },
                ["agents_md.instructions", "environments.environment_context"],
            )

    def begin(self, words: str, gap: float = 30, person: bool = True, first: bool = False) -> None:
        """A turn opens with a prompt; `person` is false for the task of a subagent."""
        self.now = after(self.now, gap)
        if person:
            self.log.user_prompts += 1
        if self.history is not None:
            self.history.append({"session_id": self.thread, "ts": int(self.now.timestamp()), "text": words})
        self.turn = uuid7(self.now, self.label("turn"))
        self.turn_sum = dict.fromkeys(FIELDS, 0)
        message: Rec = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": words}]}
        if self.style == "E":
            if first:
                self.injected()
            self.item(message)
            self.event("user_message", message=words, images=[])
            self.context()
            if first:
                self.event("token_count", info=None, rate_limits={"primary": None, "secondary": None})
            return
        started = {
            "turn_id": self.turn,
            "started_at": int(self.now.timestamp()),
            "model_context_window": 258_400,
            "collaboration_mode_kind": "default",
        }
        if self.style == "P":
            started = {"root_turn_id": self.turn, **started}
        self.started = self.now
        self.event("task_started", **started)
        if first:
            self.injected()
            self.add(
                "world_state",
                {
                    "full": True,
                    "state": {
                        "model": self.model,
                        "environments": {
                            "environments": {"local": {"cwd": self.cwd, "status": "available", "shell": "bash"}}
                        },
                    },
                },
            )
        self.context()
        self.item(message | {"id": "msg_" + uuid7(self.now, self.label("user"))}, ["user.text"])
        if self.style == "P":
            self.completed(
                {
                    "type": "UserMessage",
                    "id": uuid7(self.now, self.label("um")),
                    "content": [{"type": "text", "text": words, "text_elements": []}],
                }
            )
        else:
            self.event("user_message", message=words, images=[], local_images=[], text_elements=[])

    def counts(self, usage: Rec) -> Rec:
        shown = {k: v for k, v in usage.items() if self.style != "E" or k != "cache_write_input_tokens"}
        return shown | {"total_tokens": usage["input_tokens"] + usage["output_tokens"]}

    def token_count(self, last: Rec, estimate: int | None = None, limits: bool = False) -> None:
        info = {
            "total_token_usage": self.counts(self.total),
            "last_token_usage": self.counts(last),
            "model_context_window": 258_400,
        }
        if estimate is not None:
            info["last_token_usage"]["total_tokens"] = estimate
        primary = {"used_percent": 4.0, "window_minutes": 300, "resets_at": int(self.now.timestamp()) + 9000}
        self.seen = {"info": info, "rate_limits": {"primary": primary if limits else None, "secondary": None}}
        self.event("token_count", **copy.deepcopy(self.seen))

    def spend(self, tokens: tuple[int, ...]) -> Rec:
        """One model response. tokens: input (with the cached), cached, cache write, output (with reasoning), reasoning."""
        usage = dict(zip(FIELDS, tokens, strict=True))
        for k, v in usage.items():
            self.total[k] += v
            self.turn_sum[k] += v
        self.log.spend(
            self.now, self.session, self.model, tokens[0] - tokens[1] - tokens[2], tokens[3], tokens[1], tokens[2]
        )
        return usage

    def respond(
        self,
        tokens: tuple[int, ...],
        thought: str = "",
        words: str = "",
        calls: tuple[tuple[Rec, str, Rec | None], ...] = (),
        gap: float = 3,
    ) -> None:
        """A model response and its tools. Each call: the item, its output, the item_completed that mirrors it."""
        self.now = after(self.now, gap)
        phase = {} if self.style == "E" else {"phase": "commentary" if calls else "final_answer"}
        if self.style == "E" and self.seen:
            self.event("token_count", **copy.deepcopy(self.seen))  # 0.58 repeats the old counter before each answer
        usage = self.spend(tokens)
        self.log.assistant_messages += bool(words)
        self.log.tool_calls += len(calls)
        self.log.tool_results += len(calls)
        say: list[tuple[str, Rec]] = []
        if thought:
            rid = "rs_" + digest(self.label("rs"))[:24]
            item: Rec = {
                "type": "reasoning",
                "id": rid,
                "summary": [{"type": "summary_text", "text": thought}],
                "content": None,
                "encrypted_content": "gAAAAABdemo",
            }
            if self.style == "E":
                del item["id"]
            if self.style == "P":
                self.completed({"type": "Reasoning", "id": rid, "summary_text": [thought], "raw_content": []})
                self.item(item)
            else:
                self.event("agent_reasoning", text=thought)
                say.append(("reasoning", item))
        if words:
            mid = "msg_" + digest(self.label("msg"))[:24]
            item = {
                "type": "message",
                "id": mid,
                "role": "assistant",
                "content": [{"type": "output_text", "text": words}],
                **phase,
            }
            if self.style == "E":
                del item["id"]
            if self.style == "P":
                self.completed(
                    {"type": "AgentMessage", "id": mid, "content": [{"type": "Text", "text": words}], **phase}
                )
                self.item(item, ["unknown"])
            else:
                if self.style == "L":
                    for _, early in say:
                        self.item(early)
                    say = []
                self.event("agent_message", message=words)
                say.append(("message", item))
        if self.style == "E":
            self.token_count(usage)
        for _, item in say:
            self.item(item)
        for call, _, _ in calls:
            if self.style == "P":
                self.item(call)
        if self.style == "P":
            self.add(
                "token_usage_record",
                {
                    "thread_id": self.thread,
                    "turn_id": self.turn,
                    "session_id": self.session,
                    "root_turn_id": self.turn,
                    "response_id": "resp_" + digest(self.label("resp"))[:24],
                    "usage": self.counts(usage),
                    "turn_token_usage": self.counts(self.turn_sum),
                    "thread_token_usage": self.counts(self.total),
                },
            )
        for call, output, mirror in calls:
            if self.style != "P":
                self.item(call)
            elif mirror:
                self.completed(mirror)
            out = {"type": call["type"] + "_output", "call_id": call["call_id"], "output": output}
            self.item(out, gap=0.4)
        if self.style == "E":
            if calls:
                self.context()
        else:
            self.token_count(usage, limits=not calls)
        self.last_words = words

    def end(self) -> None:
        if self.style != "E":
            self.event(
                "task_complete",
                turn_id=self.turn,
                last_agent_message=self.last_words,
                started_at=int(self.started.timestamp()),
                completed_at=int(self.now.timestamp()),
                duration_ms=millis(self.now) - millis(self.started),
            )

    # tools
    def shell(self, command: str, output: str, code: int = 0) -> tuple[Rec, str, Rec | None]:
        call_id = "call_" + base62(self.label("call"), 24)
        if self.style == "P":
            call = {
                "type": "function_call",
                "id": "fc_" + digest(call_id)[:24],
                "name": "exec_command",
                "arguments": json.dumps({"cmd": command}),
                "call_id": call_id,
            }
            shown = f"Chunk ID: {digest(call_id)[:6]}\nWall time: 0.0400 seconds\nProcess exited with code {code}\nOriginal token count: {len(output) // 4}\nOutput:\n{output}"
            mirror = {
                "type": "CommandExecution",
                "id": call_id,
                "command": ["/bin/bash", "-lc", command],
                "cwd": "file://" + self.cwd,
                "parsed_cmd": [{"type": "unknown", "cmd": command}],
                "source": "unified_exec_startup",
                "status": "failed" if code else "completed",
                "aggregated_output": output,
                "exit_code": code,
                "duration": {"secs": 0, "nanos": 40_000_000},
            }
            return call, shown, mirror
        call = {
            "type": "function_call",
            "name": "shell",
            "arguments": json.dumps({"command": ["bash", "-lc", command]}),
            "call_id": call_id,
        }
        return (
            call,
            json.dumps(
                {"output": output, "metadata": {"exit_code": code, "duration_seconds": 0.1}}, separators=(",", ":")
            ),
            None,
        )

    def patch(self, path: str, patch: str, diff: str) -> tuple[Rec, str, Rec]:
        call_id = "call_" + base62(self.label("call"), 24)
        call = {
            "type": "custom_tool_call",
            "id": "ctc_" + digest(call_id)[:24],
            "status": "completed",
            "call_id": call_id,
            "name": "apply_patch",
            "input": patch,
        }
        said = f"Success. Updated the following files:\nM {path}\n"
        mirror = {
            "type": "FileChange",
            "id": call_id,
            "changes": {f"{self.cwd}/{path}": {"type": "update", "unified_diff": diff, "move_path": None}},
            "status": "completed",
            "stdout": said,
            "stderr": "",
        }
        return call, f"Exit code: 0\nWall time: 0 seconds\nOutput:\n{said}", mirror

    def function(self, name: str, arguments: Rec, output: str, **extra: Any) -> tuple[Rec, str, None]:
        call_id = "call_" + base62(self.label("call"), 24)
        return (
            {"type": "function_call", "name": name, **extra, "arguments": json.dumps(arguments), "call_id": call_id},
            output,
            None,
        )


def codex() -> None:
    log = LEDGER["codex"]
    history: list[Rec] = []

    # --- 2025, envelope: each answer twice, each counter twice, a compaction
    env = Codex("E", at(4, "10:02:11"), "envelope", KESTREL, "gpt-5.1-codex", history=history)
    log.sessions.append(env.session)
    env.meta("0.58.0", "cli")
    env.begin("Does kestrel count a flock as one sighting or as many?", first=True)
    env.respond(
        (5_120, 0, 0, 184, 96),
        "**Looking for the counter**\n\nThe word flock may be in the tests.",
        "I'll search for it.",
        (env.shell("grep -rn flock .", "./tests/test_count.py:6:    # a flock is one sighting with a count\n"),),
    )
    env.respond((5_610, 4_992, 0, 71, 0), words="One sighting with a count: `tests/test_count.py` says so.")
    env.begin("Good. Write that into the README too.", gap=140)
    env.respond(
        (6_020, 5_888, 0, 148, 0),
        calls=(
            env.shell("printf '\\nA flock is one sighting with a count.\\n' >> README.md", ""),
            env.shell("cat missing.md", "cat: missing.md: No such file or directory\n", 1),
        ),
    )
    # the compaction is a call too: the counter grows, then comes an estimate that is no usage
    log.compactions += 1
    env.event("token_count", **copy.deepcopy(env.seen or {}))
    env.now = after(env.now, 6)
    usage = env.spend((6_310, 6_016, 0, 262, 0))
    env.token_count(usage)
    env.token_count(dict.fromkeys(FIELDS, 0), estimate=1_480)
    env.add("compacted", {"message": "A flock is one sighting with a count. The README says so now."})
    env.context()
    env.respond((1_480, 0, 0, 58, 0), words="The README has the line. (The other file never existed; I only looked.)")
    put(env.path, env.records)

    # --- legacy, later stored as zstd
    old = Codex("L", at(6, "14:30:05"), "legacy", TERN, "gpt-5.2-codex")
    log.sessions.append(old.session)
    old.meta("0.147.0", "exec")
    old.begin("Make the tide test independent of the time zone.", first=True, gap=1)
    old.respond(
        (6_240, 2_048, 1_500, 241, 128),
        "**Time zones**\n\nThe test compares local hours.",
        "I'll look at the test.",
        (
            old.shell(
                "sed -n 1,20p tests/test_tide.py",
                "def test_high_water():\n    assert tide('2026-11-06').high == '04:12'\n",
            ),
        ),
    )
    old.respond(
        (6_590, 6_144, 0, 190, 64),
        calls=(old.shell("TZ=Asia/Tokyo python -m pytest -q", "1 failed: 13:12 != 04:12\n", 1),),
    )
    old.respond(
        (6_930, 6_528, 0, 120, 0), words="Fixed: the test now asks for UTC. 東京 and Halifax agree with Lisbon at last."
    )
    old.end()
    put(old.path, old.records)
    zstd(old.path)

    # --- 0.20, flat: no times, no model, no tokens
    when = at(8, "11:00:00")
    flat = uuid4("codex flat")
    log.sessions.append(flat)
    log.files += 1
    log.user_prompts += 1
    log.assistant_messages += 2
    log.tool_calls += 1
    log.tool_results += 1
    put(
        f".codex/sessions/{when:%Y/%m/%d}/rollout-{when:%Y-%m-%dT%H-%M-%S}-{flat}.jsonl",
        [
            {
                "id": flat,
                "timestamp": iso(when),
                "instructions": "# Rules\nBe kind to birds.\n",
                "git": {"commit_hash": digest(KESTREL)[:40], "branch": "main"},
            },
            {"record_type": "state"},
            {
                "type": "message",
                "id": None,
                "role": "user",
                "content": [{"type": "input_text", "text": "How many birds are in the sample data?"}],
            },
            {"record_type": "state"},
            {
                "type": "reasoning",
                "id": "rs_0001",
                "summary": [{"type": "summary_text", "text": "**Counting lines**"}],
                "encrypted_content": "gAAAAABdemo",
            },
            {
                "type": "message",
                "id": "msg_0002",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Counting."}],
            },
            {
                "type": "function_call",
                "id": "fc_0003",
                "name": "shell",
                "arguments": json.dumps({"command": ["bash", "-lc", "wc -l sample.csv"]}),
                "call_id": "call_flat_1",
            },
            {
                "type": "function_call_output",
                "call_id": "call_flat_1",
                "output": '{"output":"41 sample.csv\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}',
            },
            {"record_type": "state"},
            {
                "type": "message",
                "id": "msg_0004",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Forty sightings and a heading."}],
            },
        ],
    )

    # --- paginated: commands, a patch, a subagent
    page = Codex("P", at(12, "16:40:00"), "paginated", KESTREL, "gpt-5.5", history=history)
    log.sessions.append(page.session)
    page.meta("0.169.0", "cli")
    page.begin("Let kestrel refuse a count below one.", first=True)
    page.respond(
        (7_480, 0, 5_120, 318, 192),
        "**Finding the check**\n\nThe count is parsed in log().",
        "I'll read `log()` first.",
        (
            page.shell(
                "sed -n 1,40p kestrel/log.py",
                "def log(args):\n    species, count, place = args\n    count = int(count)\n",
            ),
            page.shell("python -m kestrel log wren 0 hedge", "2026-11-12,wren,0,hedge\n"),
        ),
    )
    diff = '@@ -3,1 +3,3 @@\n     count = int(count)\n+    if count < 1:\n+        raise SystemExit("count: a sighting has at least one bird")\n'
    page.respond(
        (8_020, 7_424, 0, 286, 64),
        calls=(
            page.patch(
                "kestrel/log.py",
                '*** Begin Patch\n*** Update File: kestrel/log.py\n@@\n     count = int(count)\n+    if count < 1:\n+        raise SystemExit("count: a sighting has at least one bird")\n*** End Patch\n',
                diff,
            ),
        ),
    )
    page.respond(
        (8_390, 7_936, 0, 104, 0),
        calls=(page.shell("python -m kestrel log wren 0 hedge", "count: a sighting has at least one bird\n", 1),),
    )
    page.respond((8_560, 8_320, 0, 66, 0), words="A count of zero is refused now, with a sentence that says why.")
    page.end()
    fork_base = copy.deepcopy(page)
    child_start = after(page.now, 70)
    child = Codex("P", child_start, "child", KESTREL, "gpt-5.5", session=page.session)
    task = "List every place name of sample.csv once, sorted."
    page.begin("Have a helper collect the place names for completion.", gap=60)
    spawn = page.function(
        "spawn_agent",
        {"message": task},
        json.dumps({"agent_id": child.thread, "nickname": "Plover"}, separators=(",", ":")),
        namespace="multi_agent_v1",
    )
    page.respond((8_840, 8_448, 0, 92, 0), calls=(spawn,))
    wait = page.function(
        "wait_agent",
        {"targets": [child.thread]},
        json.dumps(
            {"status": {child.thread: {"completed": "hedge, north field, pond"}}, "timed_out": False},
            separators=(",", ":"),
        ),
        namespace="multi_agent_v1",
    )
    page.respond((9_010, 8_832, 0, 47, 0), calls=(wait,), gap=40)
    page.respond((9_140, 8_960, 0, 73, 0), words="Three places: hedge, north field, pond. 日本語の地名も大丈夫です。")
    page.end()
    put(page.path, page.records)

    child.meta(
        "0.169.0",
        {
            "subagent": {
                "thread_spawn": {
                    "parent_thread_id": page.thread,
                    "depth": 1,
                    "agent_path": None,
                    "agent_nickname": "Plover",
                    "agent_role": None,
                }
            }
        },
        parent_thread_id=page.thread,
        agent_nickname="Plover",
    )
    child.begin(task, gap=0.2, person=False)
    child.respond(
        (4_210, 0, 3_072, 88, 0), calls=(child.shell("cut -d, -f4 sample.csv | sort -u", "hedge\nnorth field\npond\n"),)
    )
    child.respond((4_380, 4_096, 0, 21, 0), words="hedge, north field, pond")
    child.end()
    put(child.path, child.records)

    # --- a fork of it after the first turn: only its own records, the counter goes on from the parent's
    fork = Codex("P", at(13, "21:15:30"), "fork", KESTREL, "gpt-5.5", base=fork_base, history=history)
    log.sessions.append(fork.session)
    size = sum(len(line(r)) + 1 for r in fork_base.records)
    fork.meta(
        "0.169.0",
        "cli",
        forked_from_id=page.thread,
        forked_from_ordinal_exclusive=fork_base.ordinal,
        history_base={"thread_id": page.thread, "end_ordinal_exclusive": fork_base.ordinal, "end_byte_offset": size},
    )
    fork.begin('Instead of refusing zero, could it mean "looked, saw none"?')
    fork.respond(
        (8_760, 8_448, 0, 163, 80),
        "**Zero as an answer**\n\nAtlas surveys record absence.",
        "It could: surveys do record absence. I would add `--none` and keep refusing a bare 0.",
    )
    fork.end()
    put(fork.path, fork.records)

    history.sort(key=lambda h: h["ts"])
    put(".codex/history.jsonl", history)
    put(
        ".codex/session_index.jsonl",
        [
            {"id": page.thread, "thread_name": "counts", "updated_at": "2026-11-12T16:45:10.120394851Z"},
            {"id": page.thread, "thread_name": "Counts below one", "updated_at": "2026-11-12T16:52:33.914420017Z"},
            {"id": fork.thread, "thread_name": "Zero means none seen", "updated_at": "2026-11-13T21:16:20.005117302Z"},
        ],
    )


def zstd(path: str) -> None:
    """Store a file as one zstd frame. The stored frame is kept while it holds the same bytes."""
    data, target = FILES.pop(path), HOME / (path + ".zst")
    kept = target.read_bytes() if target.is_file() else b""
    try:
        try:
            from compression import zstd as module
        except ImportError:
            from backports import zstd as module
    except ImportError:
        if kept:
            FILES[path + ".zst"] = kept
        print(f"no zstd module: {'kept' if kept else 'LEFT OUT'} {path}.zst", file=sys.stderr)
        return
    try:
        same = bool(kept) and module.decompress(kept) == data
    except module.ZstdError:
        same = False
    FILES[path + ".zst"] = kept if same else module.compress(data, level=3)


# ------------------------------------------------------------------ Pi
def usd(model: str, inp: int, out: int, read: int, write: int) -> Rec:
    p = PRICE[model]
    parts = {
        "input": round(inp * p[0] / 1e6, 8),
        "output": round(out * p[1] / 1e6, 8),
        "cacheRead": round(read * p[2] / 1e6, 8),
        "cacheWrite": round(write * p[3] / 1e6, 8),
    }
    return parts | {"total": round(sum(parts.values()), 8)}


class Pi:
    """One Pi session; v1 has neither ids nor parents."""

    def __init__(self, start: dt.datetime, name: str, version: int | None = 3) -> None:
        self.now, self.name, self.version = start, name, version
        self.id = uuid7(start, "pi " + name) if version else uuid4("pi " + name)
        self.records: list[Rec] = []
        self.tip: str | None = None
        self.log = LEDGER["pi"]
        self.log.files += 1
        self.log.sessions.append(self.id)
        self.path = (
            f".pi/agent/sessions/--home-dev-kestrel--/{iso(start).replace(':', '-').replace('.', '-')}_{self.id}.jsonl"
        )

    def add(self, kind: str, /, gap: float = 1, first: tuple[str, ...] = (), **fields: Any) -> str:
        self.now = after(self.now, gap)
        entry = digest(f"pi {self.name} {len(self.records)}")[:8]
        base = {"id": entry, "parentId": self.tip} if self.version else {}
        early = {k: fields.pop(k) for k in first}
        self.records.append({"type": kind, **early, **base, "timestamp": iso(self.now), **fields})
        self.tip = entry
        return entry

    def message(self, role: str, content: Any, gap: float = 1, **fields: Any) -> str:
        stamp = millis(after(self.now, gap / 2))
        return self.add("message", gap, message={"role": role, "content": content, **fields, "timestamp": stamp})

    def person(self, words: str, *more: Rec, gap: float = 25) -> str:
        self.log.user_prompts += 1
        return self.message("user", [text(words), *more], gap)

    def usage(self, model: str, counts: tuple[int, int, int, int], known: bool = True) -> Rec:
        cost = usd(model, *counts)
        self.log.spend(self.now, self.id, model if known else "(none named)", *counts)
        self.log.cost += cost["total"]
        return {
            **dict(zip(("input", "output", "cacheRead", "cacheWrite"), counts, strict=True)),
            "totalTokens": sum(counts),
            "cost": cost,
        }

    def answer(
        self,
        content: list[Rec],
        counts: tuple[int, int, int, int],
        model: str = SONNET,
        stop: str | None = None,
        **extra: Any,
    ) -> str:
        self.log.assistant_messages += 1
        calls = sum(b["type"] == "toolCall" for b in content)
        self.log.tool_calls += calls
        self.now = after(self.now, 3)
        usage = self.usage(model, counts) if any(counts) else self.nothing()
        anthropic = model.startswith("claude")
        fields: Rec = {
            "api": "anthropic-messages" if anthropic else "openai-responses",
            "provider": "anthropic" if anthropic else "openai-codex",
            "model": model,
            "usage": usage,
            "stopReason": stop or ("toolUse" if calls else "stop"),
        }
        return self.message("assistant", content, 0.01, **fields, **extra)

    @staticmethod
    def nothing() -> Rec:
        zero = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
        return {**zero, "totalTokens": 0, "cost": {**zero, "total": 0}}

    def result(self, call: Rec, content: list[Rec], error: bool = False, **extra: Any) -> str:
        self.log.tool_results += 1
        return self.message(
            "toolResult", content, 0.5, toolCallId=call["id"], toolName=call["name"], **extra, isError=error
        )


def pi_call(label: str, name: str, **arguments: Any) -> Rec:
    return {"type": "toolCall", "id": "toolu_01" + base62("pi " + label, 22), "name": name, "arguments": arguments}


def pi() -> None:
    log = LEDGER["pi"]
    # --- 2025, version 1: a flat list, and a compaction that counts lines
    old = Pi(at(7, "07:50:00"), "v1", version=None)
    old.records.append(
        {
            "type": "session",
            "id": old.id,
            "timestamp": iso(old.now),
            "cwd": KESTREL,
            "provider": "anthropic",
            "modelId": SONNET,
            "thinkingLevel": "off",
        }
    )
    old.person("Which month has the most sightings?")
    look = pi_call("v1 bash", "bash", command="cut -c1-7 sample.csv | sort | uniq -c | sort -rn | head -1")
    old.answer([text("Counting by month."), look], (910, 64, 0, 700))
    old.result(look, [text("     17 2026-05\n")])
    old.answer(
        [
            {"type": "thinking", "thinking": "May, as one would hope.", "thinkingSignature": "reasoning_content"},
            text("May, with seventeen."),
        ],
        (38, 22, 700, 90),
    )
    log.compactions += 1
    old.add("compaction", summary="May has the most sightings: seventeen.", firstKeptEntryIndex=4, tokensBefore=1_614)
    old.person("And the fewest?", gap=50)
    old.answer([text("February. It rained.")], (120, 11, 790, 40))
    put(old.path, old.records)

    # --- version 3: a tree
    p = Pi(at(14, "06:35:20"), "v3")
    p.records.append({"type": "session", "version": 3, "id": p.id, "timestamp": iso(p.now), "cwd": KESTREL})
    p.add("model_change", 0.1, provider="anthropic", modelId=SONNET)
    p.add("thinking_level_change", 0, thinkingLevel="medium")
    p.message(
        "system",
        "",
        0.1,
        sections={"preamble": "You are a coding assistant.", "cwd": f"<cwd>\n{KESTREL}\n</cwd>"},
        toolsAdded=[
            {
                "name": "bash",
                "description": "Run a command.",
                "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
            }
        ],
    )
    asked = p.person(
        "What bird is this, and does kestrel know it?", {"type": "image", "data": PNG, "mimeType": "image/png"}
    )
    grep = pi_call("grep", "bash", command="grep -c '^' species.txt && grep -i egret species.txt")
    read = pi_call("read", "read", path="species.txt")
    p.answer(
        [
            {
                "type": "thinking",
                "thinking": "White all over. Either an egret or an empty picture.",
                "thinkingSignature": "RGVtbw==",
            },
            text("It is very white: an egret, or a blank picture. I'll see which the list knows."),
            grep,
            read,
        ],
        (1_150, 171, 0, 2_300),
        responseId="msg_01" + base62("pi resp", 22),
        durationMs=2_900,
    )
    p.result(grep, [text("212\nLittle Egret\n")], durationMs=31)
    p.result(
        read,
        [text("Kestrel\nLittle Egret\nTern\n"), {"type": "image", "data": PNG, "mimeType": "image/png"}],
        durationMs=12,
    )
    edit = pi_call("edit", "edit", path="species.txt", edits=[{"oldText": "Tern", "newText": "Great Egret\nTern"}])
    p.answer([edit], (40, 83, 2_300, 420))
    p.result(
        edit,
        [text("Successfully replaced 1 block(s) in species.txt.")],
        details={
            "diff": " 2 Little Egret\n+3 Great Egret\n 4 Tern",
            "patch": "--- species.txt\n+++ species.txt\n@@ -2,2 +2,3 @@\n Little Egret\n+Great Egret\n Tern\n",
            "firstChangedLine": 3,
        },
        durationMs=18,
    )
    known = p.answer(
        [text("The list had the Little Egret; now it has the Great one too. 白鷺 is its name in Japanese.")],
        (35, 48, 2_720, 150),
    )
    p.add("label", 0.5, targetId=asked, label="the egret")
    p.add("custom", 0.1, first=("customType", "data"), customType="species-count", data={"before": 212, "after": 213})
    # a question on a branch that is left
    p.person("Sort the list by Latin name.")
    failed = p.answer([], (0, 0, 0, 0), stop="error", errorMessage="529 overloaded_error: try again later")
    p.add("context_edit", 0.1, targetId=failed, replacement=None)
    left = p.answer(
        [text("By Latin name the kestrel, Falco tinnunculus, would come before the tern. Are you sure?")],
        (52, 66, 2_870, 120),
    )
    # back to the answer before it
    p.tip, p.now = known, at(15, "09:10:00")
    p.add(
        "branch_summary",
        8,
        fromId=left,
        summary="The user thought about sorting by Latin name and left it.",
        details={"readFiles": [], "modifiedFiles": []},
        usage=p.usage(SONNET, (640, 41, 0, 0), known=False),
        fromHook=False,
    )
    kept = p.person("Leave the order alone. Run the spell check instead.")
    spell = pi_call("spell", "bash", command="aspell list < species.txt")
    p.answer([spell], (61, 39, 2_720, 260))
    missing = p.result(
        spell, [text("bash: aspell: command not found\n\n\nCommand exited with code 127")], error=True, durationMs=9
    )
    p.add("context_edit", 0.2, targetId=missing, replacement={"content": [text("aspell is not installed")]})
    p.answer([text("There is no spell checker here. \x1b[33mNothing was changed.\x1b[0m")], (28, 25, 2_980, 110))
    p.message(
        "bashExecution",
        None,
        20,
        command="hunspell -l species.txt | head -3",
        output="Egret\nTern\n",
        exitCode=0,
        cancelled=False,
        truncated=False,
    )
    del p.records[-1]["message"]["content"]
    p.add(
        "custom_message",
        0.5,
        first=("customType", "content", "display"),
        customType="weather",
        content="Rain until noon, says the weather extension.",
        display=True,
    )
    p.add("usage", 30, kind="cache_warm", provider="anthropic", model=SONNET, usage=p.usage(SONNET, (0, 1, 3_090, 0)))
    p.add("model_change", 2, provider="openai-codex", modelId="gpt-5.2-codex")
    p.add("thinking_level_change", 0, thinkingLevel="high")
    log.compactions += 1
    p.add(
        "compaction",
        9,
        summary="species.txt gained the Great Egret. There is no spell checker.",
        firstKeptEntryId=kept,
        tokensBefore=3_143,
        details={"readFiles": ["species.txt"], "modifiedFiles": ["species.txt"]},
        usage=p.usage("gpt-5.2-codex", (1_900, 88, 0, 0), known=False),
        fromHook=False,
    )
    p.person("Good. Anything left to do before it stops raining?")
    p.answer([text("Only to take the binoculars. 🔭")], (2_010, 19, 0, 0), model="gpt-5.2-codex")
    p.add("session_info", 0.5, name="The white bird")
    put(p.path, p.records)


# ------------------------------------------------------------------ swink-agent
def swink() -> None:
    log = LEDGER["swink"]
    log.files += 1
    start = at(16, "08:15:00")
    session = f"20261116_081500_{digest('swink')[:32]}"
    log.sessions.append(session)
    out: list[Any] = []

    def secs(when: dt.datetime) -> int:
        return int(when.timestamp())

    def user(book: Ledger, when: dt.datetime, words: str) -> Rec:
        book.user_prompts += 1
        return {"role": "user", "content": [text(words)], "timestamp": secs(when)}

    def assistant(book: Ledger, when: dt.datetime, content: list[Rec], counts: tuple[int, int, int, int]) -> Rec:
        book.assistant_messages += 1
        calls = sum(b["type"] == "tool_call" for b in content)
        book.tool_calls += calls
        book.spend(when, session, SONNET, *counts)
        names = ("input", "output", "cache_read", "cache_write")
        cost = dict(zip(names, list(usd(SONNET, *counts).values())[:4], strict=True))
        cost["total"] = round(sum(cost.values()), 8)
        book.cost += cost["total"]
        return {
            "role": "assistant",
            "content": content,
            "provider": "anthropic",
            "model_id": SONNET,
            "usage": dict(zip(names, counts, strict=True)) | {"total": sum(counts)},
            "cost": cost,
            "stop_reason": "tool_use" if calls else "stop",
            "error_message": None,
            "timestamp": secs(when),
        }

    def entry(kind: str, **data: Any) -> Rec:
        return {"entry_type": kind, "data": data}

    when = after(start, 4)
    out.append(user(log, when, "Plan a morning walk around the pond, with kestrel's log of last week in hand."))
    call = {
        "type": "tool_call",
        "id": "call_swink_1",
        "name": "read_file",
        "arguments": {"path": "/home/dev/kestrel/sample.csv"},
        "partial_json": None,
    }
    out.append(
        assistant(
            log,
            after(when, 5),
            [{"type": "thinking", "thinking": "The log first, then the route.", "signature": None}, call],
            (820, 74, 0, 510),
        )
    )
    log.tool_results += 1
    out.append(
        {
            "role": "tool_result",
            "tool_call_id": "call_swink_1",
            "content": [text("2026-11-09,heron,1,pond\n2026-11-10,kingfisher,1,pond\n")],
            "is_error": False,
            "timestamp": secs(after(when, 6)),
            "details": None,
        }
    )
    out.append(
        assistant(
            log,
            after(when, 12),
            [
                text(
                    "Start at the hedge at eight, and be at the pond by nine: the heron and the kingfisher were both there. 🦆"
                )
            ],
            (44, 61, 510, 120),
        )
    )
    out.append({"type": "notice", "data": {"text": "The host program says: sunrise 07:21"}, "_custom": True})
    out.append(
        entry(
            "model_change",
            **{
                "from": {
                    "provider": "anthropic",
                    "model_id": SONNET,
                    "thinking_level": "off",
                    "thinking_budgets": None,
                },
                "to": {"provider": "anthropic", "model_id": SONNET, "thinking_level": "low", "thinking_budgets": None},
                "timestamp": secs(after(when, 20)),
            },
        )
    )
    out.append(entry("thinking_level_change", **{"from": "off", "to": "low", "timestamp": secs(after(when, 20))}))
    out.append(entry("label", text="the plan", message_index=3, timestamp=secs(after(when, 25))))
    out.append(entry("custom", type_name="map", data={"points": ["hedge", "pond"]}, timestamp=secs(after(when, 26))))
    later = at(17, "07:40:00")
    out.append(entry("message", **user(log, later, "It is raining. Shorter, please.")))
    out.append(
        entry(
            "message",
            **assistant(log, after(later, 6), [text("Then only the pond, from the hide.")], (38, 17, 630, 60)),
        )
    )
    log.compactions += 1
    out.append(
        entry("compaction", dropped_count=3, tokens_before=1_480, tokens_after=410, timestamp=secs(after(later, 30)))
    )
    out.append({"_state": True, "data": {"route": ["pond"], "umbrella": True}})
    # an append that was committed
    out.append({"_append": True, "phase": "begin"})
    third = at(18, "18:05:00")
    out.append(user(log, third, "We saw the kingfisher! Thank you."))
    out.append(
        assistant(
            log,
            after(third, 4),
            [text("Wonderful. One line for the log: `2026-11-17,kingfisher,1,pond`.")],
            (29, 27, 690, 40),
        )
    )
    meta = {
        "id": session,
        "title": "A walk around the pond",
        "created_at": "2026-11-16T08:15:00.123456789Z",
        "updated_at": "2026-11-18T18:05:04Z",
        "version": 1,
        "sequence": 4,
    }
    out.append({"_meta": True, "data": meta})
    # and one that was not
    begun = len(out) + 2
    out.append({"_append": True, "phase": "begin"})
    last = at(20, "09:00:00")
    out.append(user(UNCOMMITTED, last, "Where next?"))
    out.append(
        assistant(
            UNCOMMITTED,
            after(last, 5),
            [text("The estuary, for the waders: this answer was never committed.")],
            (33, 19, 730, 0),
        )
    )
    path = f".config/swink-agent/sessions/{session}.jsonl"
    put(path, [line(meta) + b" " * 64, *out])
    FAULTS.append({"path": path, "line": begun, "kind": "uncommitted", "records": 2})


# ------------------------------------------------------------------ truth, and writing
def truth() -> bytes:
    totals: Rec = {}
    for book in LEDGER.values():
        for key, value in book.numbers().items():
            if isinstance(value, dict):
                for name, n in value.items():
                    totals.setdefault(key, {}).setdefault(name, 0)
                    totals[key][name] += n
            else:
                totals[key] = totals.get(key, 0) + value
    days: dict[str, int] = {}
    for book in LEDGER.values():
        for day, n in book.by_day.items():
            days[day] = days.get(day, 0) + n
    agents: Rec = {}
    for name, book in LEDGER.items():
        agents[name] = book.numbers() | book.tables()
        if book.cost:
            agents[name]["cost_usd_as_written"] = round(book.cost, 8)
    left = UNCOMMITTED.numbers()
    agents["swink"]["uncommitted"] = {
        k: left[k] for k in ("user_prompts", "assistant_messages", "tool_calls", "tool_results", "tokens")
    }
    document = {
        "about": "What a right reader reports over this demo home. Written by tools/make_demo.py from what it decided to write.",
        "rules": [
            "files: session files, subagent files included; not history.jsonl, session_index.jsonl, *.meta.json, custom-title.json",
            "sessions: a subagent file belongs to the session that started it (Claude and Codex), its tokens too",
            "claude: one usage per message.id; records copied by a branch count once, for the session they were copied from",
            "codex: input without the cached and the cache-written part; a fork's counter starts at its parent's and only its own calls count",
            "codex: the file of version 0.20 holds no usage and no model",
            "pi: all branches, with the usage of compactions, branch summaries and usage entries (the first two name no model)",
            "swink: what was never committed is apart and in no other number",
        ],
        "agents": agents,
        "totals": totals | {"by_day_utc": dict(sorted(days.items()))},
        "faults": sorted(FAULTS, key=lambda f: f["path"]),
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the files differ")
    args = parser.parse_args()
    claude()
    codex()
    pi()
    swink()
    FILES["TRUTH.json"] = truth()
    there = {p.relative_to(HOME).as_posix(): p for p in HOME.rglob("*") if p.is_file()} if HOME.is_dir() else {}
    stale = sorted(set(there) - set(FILES))
    changed = sorted(n for n, data in FILES.items() if n not in there or there[n].read_bytes() != data)
    if args.check:
        for name in stale + changed:
            print(f"differs: {name}", file=sys.stderr)
        return 1 if stale or changed else 0
    for name in stale:
        there[name].unlink()
    for name in changed:
        target = HOME / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(FILES[name])
        target.chmod(0o644)
    print(f"{len(FILES)} files, {sum(map(len, FILES.values()))} bytes, {len(changed)} written, {len(stale)} removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
