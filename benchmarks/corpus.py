"""Synthetic sessions for the benchmarks, where the shared corpus maker is not at hand.

Shapes follow the fact sheets: split answers, tool calls with long results, running totals. Text is English-like words, with
or without other scripts. Deterministic for a seed.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

WORDS = """the of to and a in is it error test file function return value path line build session token import class
kestrel heron wader plover sighting count field note north shore weather light wind feather""".split()
WIDE = ["日本語テスト", "Übersicht", "→", "naïve", "🚀", "проверка"]


class Writer:
    """Makes records of one agent until a file is large enough."""

    def __init__(self, seed: int, *, wide: bool) -> None:
        self.rng = random.Random(seed)
        self.wide = wide
        self.clock = 1_790_000_000_000

    def text(self, size: int) -> str:
        parts, length = [], 0
        while length < size:
            word = self.rng.choice(WIDE) if self.wide and self.rng.random() < 0.03 else self.rng.choice(WORDS)
            parts.append(word if self.rng.random() > 0.06 else word + '\n\t"' + word + '"')
            length += len(word) + 1
        return " ".join(parts)

    def id(self) -> str:
        n = f"{self.rng.getrandbits(128):032x}"
        return f"{n[:8]}-{n[8:12]}-4{n[13:16]}-a{n[17:20]}-{n[20:]}"

    def now(self) -> str:
        self.clock += self.rng.randrange(40, 9000)
        seconds, ms = divmod(self.clock, 1000)
        from datetime import UTC, datetime

        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{ms:03}Z"

    def long(self) -> int:
        return int(min(50_000, 200 + self.rng.paretovariate(1.1) * 900))


def claude(w: Writer) -> list[dict[str, object]]:
    """One turn of Claude Code: prompt, thinking, a tool call and its result, an answer."""
    base = {
        "isSidechain": False, "userType": "external", "cwd": "/home/dev/kestrel", "sessionId": "s" * 8, "version": "2.1.332",
        "gitBranch": "main",
    }  # fmt: skip
    usage = {
        "input_tokens": w.rng.randrange(1, 90), "cache_creation_input_tokens": w.rng.randrange(9000),
        "cache_read_input_tokens": w.rng.randrange(200_000), "output_tokens": w.rng.randrange(1, 4000),
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}, "service_tier": "standard",
    }  # fmt: skip
    parent, rows = None, []
    message, call = "msg_" + w.id(), "toolu_" + w.id()
    result = w.text(w.long())
    blocks: list[tuple[str, object]] = [
        ("user", w.text(200)),
        ("assistant", [{"type": "thinking", "thinking": w.text(600), "signature": w.id() * 6}]),
        ("assistant", [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": w.text(80)}}]),
        ("user", [{"type": "tool_result", "tool_use_id": call, "content": result}]),
        ("assistant", [{"type": "text", "text": w.text(700)}]),
    ]
    for n, (role, content) in enumerate(blocks):
        said: dict[str, object] = {"role": role, "content": content}
        row: dict[str, object] = {**base, "parentUuid": parent, "type": role, "uuid": w.id(), "timestamp": w.now()}
        if role == "assistant":
            said = {"model": "claude-opus-4-5-20251101", "id": message + str(n > 3), "type": "message", **said}
            said |= {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
            row["requestId"] = "req_" + message
        if n == 3:
            row["toolUseResult"] = {"stdout": result, "stderr": "", "interrupted": False}
        rows.append({**row, "message": said})
        parent = str(row["uuid"])
    return rows


def codex(w: Writer) -> list[dict[str, object]]:
    """One turn of Codex: context, prompt, reasoning, a command and its output, an answer, the counts."""
    call = "call_" + w.id()
    given, spoken = w.rng.randrange(1000, 90_000), w.rng.randrange(10, 3000)
    last = {
        "input_tokens": given, "cached_input_tokens": given // 2, "output_tokens": spoken,
        "reasoning_output_tokens": spoken // 3, "total_tokens": given + spoken,
    }  # fmt: skip
    total = {key: value * 7 + w.clock % 1000 for key, value in last.items()}
    item = "response_item"
    rows: list[tuple[str, dict[str, object]]] = [
        ("turn_context", {"cwd": "/home/dev/kestrel", "model": "gpt-5.2-codex", "effort": "medium", "summary": "auto"}),
        (item, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": w.text(200)}]}),
        ("event_msg", {"type": "user_message", "message": w.text(200), "images": []}),
        (item, {"type": "reasoning", "summary": [], "content": None, "encrypted_content": w.id() * 30}),
        (
            item,
            {"type": "function_call", "name": "shell", "arguments": json.dumps({"cmd": w.text(60)}), "call_id": call},
        ),
        (item, {"type": "function_call_output", "call_id": call, "output": w.text(w.long())}),
        (item, {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": w.text(600)}]}),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": total, "last_token_usage": last}}),
    ]
    return [{"timestamp": w.now(), "type": kind, "payload": payload} for kind, payload in rows]


def pi(w: Writer) -> list[dict[str, object]]:
    """One turn of Pi: prompt, an answer with a call, its result, an answer."""
    call = "toolu_" + w.id()
    cost = {"input": 0.01, "output": 0.02, "cacheRead": 0.001, "cacheWrite": 0.0, "total": 0.031}
    usage = {"input": 90, "output": 700, "cacheRead": 40_000, "cacheWrite": 0, "totalTokens": 40_790, "cost": cost}
    answer = {
        "role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5",
        "usage": usage, "stopReason": "stop",
    }  # fmt: skip
    messages: list[dict[str, object]] = [
        {"role": "user", "content": [{"type": "text", "text": w.text(200)}]},
        {**answer, "content": [{"type": "thinking", "thinking": w.text(500)},
                               {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": w.text(60)}}]},
        {"role": "toolResult", "toolCallId": call, "toolName": "bash", "isError": False,
         "content": [{"type": "text", "text": w.text(w.long())}]},
        {**answer, "content": [{"type": "text", "text": w.text(700)}]},
    ]  # fmt: skip
    rows: list[dict[str, object]] = []
    parent = None
    for message in messages:
        entry = w.id()[:8]
        stamp = w.now()
        rows.append(
            {
                "type": "message",
                "id": entry,
                "parentId": parent,
                "timestamp": stamp,
                "message": {**message, "timestamp": w.clock},
            }
        )
        parent = entry
    return rows


def stream(w: Writer) -> list[dict[str, object]]:
    """One run of Pi as it prints it: an answer with a call in pieces, its partial results, an answer; then it settles."""
    cost = {"input": 0.01, "output": 0.02, "cacheRead": 0.001, "cacheWrite": 0.0, "total": 0.031}
    usage = {"input": 90, "output": 700, "cacheRead": 40_000, "cacheWrite": 0, "totalTokens": 40_790, "cost": cost}
    call = {"type": "toolCall", "id": "toolu_" + w.id(), "name": "bash", "arguments": {"command": w.text(60)}}
    rows: list[dict[str, object]] = [{"type": "agent_start"}]
    messages: list[dict[str, object]] = []

    def whole(message: dict[str, object]) -> None:
        messages.append({**message, "timestamp": w.clock})
        rows.append({"type": "message_end", "message": messages[-1]})

    def update(kind: str, place: int, **more: object) -> None:
        event = {"type": kind, "contentIndex": place, **more}
        rows.append({"type": "message_update", "usage": usage, "assistantMessageEvent": event})

    def answer(stop: str, *blocks: tuple[str, str, dict[str, object]]) -> None:
        said = {"role": "assistant", "api": "anthropic-messages", "provider": "anthropic", "usage": usage}
        said |= {"model": "claude-sonnet-4-5", "content": [block for _, _, block in blocks], "stopReason": stop}
        rows.append({"type": "turn_start"})
        rows.append({"type": "message_start", "message": {**said, "content": [], "stopReason": "pending"}})
        for place, (part, text, block) in enumerate(blocks):
            update(f"{part}_start", place)
            at = 0
            while at < len(text):
                size = w.rng.randrange(2, 24)
                update(f"{part}_delta", place, delta=text[at : at + size])
                at += size
            end: dict[str, object] = {"toolCall": block} if part == "toolcall" else {"content": text}
            update(f"{part}_end", place, **end)
        whole(said)

    prompt, thought, last = w.text(200), w.text(600), w.text(1500)
    rows.append({"type": "message_start", "message": {"role": "user", "content": [{"type": "text", "text": prompt}]}})
    whole({"role": "user", "content": [{"type": "text", "text": prompt}]})
    answer(
        "toolUse",
        ("thinking", thought, {"type": "thinking", "thinking": thought}),
        ("toolcall", json.dumps(call["arguments"]), call),
    )
    tool = {"toolCallId": call["id"], "toolName": "bash", "args": call["arguments"]}
    output = w.text(w.long())
    rows.append({"type": "tool_execution_start", **tool})
    shown = [{"type": "text", "text": output[: len(output) * n // 4]} for n in range(1, 5)]
    rows += [{"type": "tool_execution_update", **tool, "partialResult": {"content": [part]}} for part in shown]
    content = [{"type": "text", "text": output}]
    rows.append({"type": "tool_execution_end", **tool, "result": {"content": content}, "isError": False})
    whole({"role": "toolResult", "toolCallId": call["id"], "toolName": "bash", "content": content, "isError": False})
    answer("stop", ("text", last, {"type": "text", "text": last}))
    rows.append({"type": "turn_end", "message": messages[-1], "toolResults": []})
    return [*rows, {"type": "agent_end", "messages": messages, "willRetry": False}, {"type": "agent_settled"}]


MAKERS = {"stream": stream, "claude": claude, "codex": codex, "pi": pi}


def write(path: Path, agent: str, size: int, *, wide: bool, seed: int = 1) -> Path:
    """A file of about `size` bytes."""
    w = Writer(seed, wide=wide)
    make = MAKERS[agent]
    with path.open("wb") as file:
        if agent == "codex":
            meta = {"id": w.id(), "timestamp": w.now(), "cwd": "/home/dev/kestrel", "originator": "codex_exec"}
            head: dict[str, object] = {"timestamp": w.now(), "type": "session_meta", "payload": meta}
            file.write(json.dumps(head).encode() + b"\n")
        elif agent in ("pi", "stream"):
            header = {"type": "session", "version": 3, "id": w.id(), "timestamp": w.now(), "cwd": "/home/dev/kestrel"}
            file.write(json.dumps(header).encode() + b"\n")
        while file.tell() < size:
            for row in make(w):
                file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    return path
