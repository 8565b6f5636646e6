"""A model server of our own on 127.0.0.1: it plays a script, and keeps the books of what it served.

Two wire formats: Anthropic messages (POST .../messages) and OpenAI chat completions (POST .../chat/completions), both as
event streams. Steps are played in the order in which requests come; a request without tools is one for a summary and has
a list of its own. What a request that the script does not foresee gets is an error, and `unforeseen` counts it.

The usage of a call is what was last announced on the wire before the stream ended, however it ended: that is what the
client was told it spent.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Spent:
    """Tokens of one call. Input leaves cached tokens out; reasoning is a part of output, and not counted again."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = field(default=0, compare=False)

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True)
class Text:
    """A text block."""

    text: str


@dataclass(frozen=True)
class Thought:
    """A thinking block. redacted: only sealed data is sent."""

    text: str
    redacted: bool = False


@dataclass(frozen=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: dict[str, Any]


Block = Text | Thought | Call


@dataclass(frozen=True)
class Step:
    """One answer. spent: its usage. status: refuse with this HTTP status and sentence instead. cut: break the stream off after so many
    deltas. held: stop after the first delta until the server closes or the client goes away. size: characters a delta."""

    blocks: tuple[Block, ...] = ()
    spent: Spent = Spent()
    status: int | None = None
    sentence: str = "as the script says"
    cut: int | None = None
    held: bool = False
    size: int = 9


@dataclass
class Served:
    """One request and what it got. asked: the request's body. finished: the stream ended as it should."""

    path: str
    client: str
    asked: dict[str, Any]
    step: Step
    spent: Spent = Spent()
    finished: bool = False


class _Ended(Exception):
    """The stream ends here."""


class ModelServer:
    """Serves one script. `with` starts and stops it; `served` are its books, in the order of the requests."""

    def __init__(self, steps: Sequence[Step], summaries: Sequence[Step] = ()) -> None:
        self.served: list[Served] = []
        self.unforeseen = 0
        self.closing = threading.Event()
        self._steps: Iterator[Step] = iter(steps)
        self._summaries: Iterator[Step] = iter(summaries)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def total(self) -> Spent:
        """All tokens of all calls."""
        return sum((one.spent for one in self.served), Spent())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next(self, path: str, client: str, asked: dict[str, Any]) -> Served:
        """The books' new line for a request: the next step of its list."""
        with self._lock:
            step = next(self._steps if asked.get("tools") else self._summaries, None)
            if step is None:
                self.unforeseen += 1
                step = Step(status=400)
            served = Served(path, client, asked, step)
            self.served.append(served)
            return served


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        play = server

    return Handler


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    play: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the books are kept."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self.path = self.path.partition("?")[0]
        self.served = self.play.next(self.path, self.client_address[0], asked)
        step = self.served.step
        self.close_connection = True
        if step.status is not None:
            self._refuse(step.status, step.sentence)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.deltas = 0
        speak = self._anthropic if self.path.endswith("/messages") else self._openai
        try:
            speak(step)
        except (_Ended, ConnectionError):
            return
        self.served.finished = True

    def _refuse(self, status: int, sentence: str) -> None:
        kind = "overloaded_error" if status in {429, 503, 529} else "invalid_request_error"
        body = json.dumps({"type": "error", "error": {"type": kind, "message": sentence}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _say(self, event: str | None, data: dict[str, Any] | str) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"{f'event: {event}' if event else ''}\ndata: {text}\n\n".lstrip("\n").encode())
        self.wfile.flush()

    def _delta(self) -> None:
        """After each delta: here a stream is cut off or held."""
        step = self.served.step
        self.deltas += 1
        if step.cut is not None and self.deltas >= step.cut:
            raise _Ended
        if step.held and self.deltas == 1:
            self.play.closing.wait(60)
            raise _Ended

    def _anthropic(self, step: Step) -> None:
        spent, number = step.spent, len(self.play.served)
        begun = {
            "input_tokens": spent.input,
            "output_tokens": 1,
            "cache_read_input_tokens": spent.cache_read,
            "cache_creation_input_tokens": spent.cache_write,
        }
        head = {"id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": self.served.asked["model"]}
        head |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": begun}
        self._say("message_start", {"type": "message_start", "message": head})
        self.served.spent = Spent(spent.input, 1, spent.cache_read, spent.cache_write)
        for index, block in enumerate(step.blocks):
            empty, deltas = _anthropic_block(block, step.size)
            self._say("content_block_start", {"type": "content_block_start", "index": index, "content_block": empty})
            for delta in deltas:
                self._say("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
                self._delta()
            self._say("content_block_stop", {"type": "content_block_stop", "index": index})
        stop = "tool_use" if any(isinstance(block, Call) for block in step.blocks) else "end_turn"
        usage: dict[str, Any] = {"output_tokens": spent.output}
        if spent.reasoning:
            usage["output_tokens_details"] = {"thinking_tokens": spent.reasoning}
        end = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        self._say("message_delta", end)
        self.served.spent = spent
        self._say("message_stop", {"type": "message_stop"})

    def _openai(self, step: Step) -> None:
        spent, number = step.spent, len(self.play.served)
        head = {"id": f"chatcmpl-{number:04}", "object": "chat.completion.chunk", "created": 1}
        head["model"] = self.served.asked["model"]

        def chunk(delta: dict[str, Any], finish: str | None = None) -> None:
            self._say(None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        chunk({"role": "assistant", "content": ""})
        calls = 0
        for block in step.blocks:
            if isinstance(block, Call):
                call = {"index": calls, "id": block.id, "type": "function"}
                chunk({"tool_calls": [{**call, "function": {"name": block.name, "arguments": ""}}]})
                for piece in _cut(json.dumps(block.arguments), step.size):
                    chunk({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]})
                    self._delta()
                calls += 1
                continue
            name = "reasoning_content" if isinstance(block, Thought) else "content"
            for piece in _cut(block.text, step.size):
                chunk({name: piece})
                self._delta()
        chunk({}, "tool_calls" if calls else "stop")
        prompt = spent.input + spent.cache_read
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": spent.output}
        usage["total_tokens"] = prompt + spent.output
        usage["prompt_tokens_details"] = {"cached_tokens": spent.cache_read}
        usage["completion_tokens_details"] = {"reasoning_tokens": spent.reasoning}
        self._say(None, {**head, "choices": [], "usage": usage})
        self.served.spent = spent
        self._say(None, "[DONE]")


def _anthropic_block(block: Block, size: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and its deltas."""
    if isinstance(block, Text):
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in _cut(block.text, size)]
    if isinstance(block, Call):
        pieces = _cut(json.dumps(block.arguments), size)
        empty = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
        return empty, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    if block.redacted:
        return {"type": "redacted_thinking", "data": block.text}, []
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _cut(block.text, size)]
    return {"type": "thinking", "thinking": "", "signature": ""}, [
        *deltas,
        {"type": "signature_delta", "signature": "c2ln"},
    ]


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
