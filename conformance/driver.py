"""Runs the real Pi in a home of its own, against our model server, and keeps what it wrote.

Nothing of this machine's Pi is seen or changed: the home, the settings, the folder it works in and the environment are
made here. The doors: `run` for `--mode json`, `talk` for `--mode rpc`, `run_by_command` for `turnlog run`.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopback import closed
from model_server import ModelServer
from pinned import Installed

WAIT = 60
"""Seconds that one step of a conversation may take; a slow machine needs some."""

PROVIDERS = {"scripted-anthropic": "anthropic-messages", "scripted-openai": "openai-completions"}
PRICES = {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75}
"""US dollars for a million tokens, the same for every model."""

WINDOWS = {"large": 200_000, "small": 20_000}
"""The models of each provider, and their context windows."""

SETTINGS = {
    "defaultProvider": "scripted-anthropic",
    "defaultModel": "large",
    "defaultThinkingLevel": "off",
    "enableInstallTelemetry": False,
    "cacheWarming": "off",
    "retry": {"enabled": True, "maxRetries": 2, "baseDelayMs": 20},
    "compaction": {"enabled": True, "reserveTokens": 4000, "keepRecentTokens": 500},
    "branchSummary": {"reserveTokens": 1000},
}


@dataclass
class Ran:
    """What one run left. home: its home, with the session files. out: its stdout. code: its exit code. heard: what
    turnlog's own client or command was told or told us, where it led the run."""

    home: Path
    out: bytes
    err: bytes
    code: int
    heard: Any = None

    def files(self) -> list[Path]:
        """The session files, oldest first."""
        return sorted((self.home / ".pi" / "agent" / "sessions").rglob("*.jsonl"))


class Pi:
    """One home with Pi in it. folder: an empty folder to make it in."""

    def __init__(self, installed: Installed, folder: Path, server: ModelServer) -> None:
        self.installed = installed
        self.home = folder / "home"
        self.desk = folder / "desk"
        agent = self.home / ".pi" / "agent"
        agent.mkdir(parents=True)
        self.desk.mkdir()
        (self.desk / "notes.txt").write_text("alpha\nbeta\n", encoding="utf-8")
        (agent / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
        (agent / "models.json").write_text(json.dumps({"providers": _providers(server.address)}), encoding="utf-8")
        self.env = environment(self.home, installed)

    def command(self, *arguments: str) -> list[str]:
        return [str(self.installed.node), str(self.installed.cli), *arguments]

    def run(self, *arguments: str) -> Ran:
        """`pi --mode json` to its end."""
        with self._started("--mode", "json", *arguments, stdin=subprocess.DEVNULL) as process:
            out, err = process.communicate(timeout=WAIT)
        return Ran(self.home, out, err, process.returncode)

    def run_until(self, seen: Callable[[dict[str, Any]], bool], number: signal.Signals, *arguments: str) -> Ran:
        """`pi --mode json`, sent a signal at the first record of its stdout that was waited for."""
        out = b""
        with self._started("--mode", "json", *arguments, stdin=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            for line in process.stdout:
                out += line
                if seen(json.loads(line)):
                    process.send_signal(number)
                    break
            rest, err = process.communicate(timeout=WAIT)
        return Ran(self.home, out + rest, err, process.returncode)

    def run_by_command(self, *arguments: str) -> Ran:
        """`pi --mode json`, started by `turnlog run`. The exit code is the command's; `heard` is what it printed, on stdout
        and on stderr."""
        log, warned = self.home / "run.log", self.home / "run.err"
        ours = [sys.executable, "-m", "turnlog", "run", "--no-stdin", "--log", str(log), "--stderr", str(warned), "--"]
        paths = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        done = subprocess.run(
            [*ours, *self.command("--mode", "json", *arguments)],
            cwd=self.desk,
            env=self.env | paths,
            capture_output=True,
            timeout=WAIT,
            check=False,
        )
        heard = (done.stdout.decode(), done.stderr.decode())
        return Ran(self.home, log.read_bytes(), warned.read_bytes(), done.returncode, heard)

    @contextmanager
    def talk(self, *arguments: str) -> Iterator[Talk]:
        """`pi --mode rpc`: a conversation. After the block stdin is closed and Pi ends by itself."""
        with self._started("--mode", "rpc", *arguments, stdin=subprocess.PIPE) as process:
            talk = Talk(process, self.home)
            yield talk
            talk.end()

    @contextmanager
    def _started(self, *arguments: str, stdin: int) -> Iterator[subprocess.Popen[bytes]]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            self.command(*arguments), cwd=self.desk, env=self.env, stdin=stdin, stdout=pipe, stderr=pipe
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None and not stream.closed:
                    stream.close()


@dataclass
class Talk:
    """One RPC conversation. Records are waited for in the order in which they came; `out` keeps every byte."""

    process: subprocess.Popen[bytes]
    home: Path
    out: bytes = b""
    err: bytes = b""
    code: int | None = None
    _records: queue.Queue[dict[str, Any] | None] = field(default_factory=queue.Queue)
    _asked: int = 0

    def __post_init__(self) -> None:
        self._threads = [threading.Thread(target=read, daemon=True) for read in (self._hear, self._warned)]
        for thread in self._threads:
            thread.start()

    def _hear(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.out += line
            self._records.put(json.loads(line))
        self._records.put(None)

    def _warned(self) -> None:
        assert self.process.stderr is not None
        self.err = self.process.stderr.read()

    def say(self, kind: str, **fields: Any) -> str:
        """Send a command; its id."""
        assert self.process.stdin is not None
        self._asked += 1
        name = f"c{self._asked}"
        self.process.stdin.write(json.dumps({"id": name, "type": kind, **fields}).encode() + b"\n")
        self.process.stdin.flush()
        return name

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Send a command and wait for its answer, which must say success; its data."""
        name = self.say(kind, **fields)
        answer = self.until(lambda record: record.get("type") == "response" and record.get("id") == name)
        assert answer["success"] is True, f"{kind} was refused"
        return answer.get("data") or {}

    def wait(self, kind: str) -> dict[str, Any]:
        """The next record of that type."""
        return self.until(lambda record: record.get("type") == kind)

    def prompt(self, message: str) -> None:
        """A prompt, and all that follows from it."""
        self.ask("prompt", message=message)
        self.wait("agent_settled")

    def until(self, seen: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            record = self._records.get(timeout=WAIT)
            assert record is not None, "Pi ended before the record that was waited for"
            if seen(record):
                return record

    def end(self) -> None:
        """Close stdin and let Pi end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.code = self.process.wait(WAIT)
        for thread in self._threads:
            thread.join(WAIT)

    def ran(self) -> Ran:
        assert self.code is not None, "the conversation is not over"
        return Ran(self.home, self.out, self.err, self.code)


def environment(home: Path, installed: Installed) -> dict[str, str]:
    """All that Pi gets to know: its home, how to find its programs, and a proxy that refuses every other address."""
    nowhere = closed()
    return {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "PATH": os.pathsep.join([str(installed.node.parent), os.environ.get("PATH", os.defpath)]),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PI_OFFLINE": "1",
        "PI_SKIP_VERSION_CHECK": "1",
        "PI_TELEMETRY": "0",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
        "NO_PROXY": "127.0.0.1",
    }


def _providers(address: str) -> dict[str, Any]:
    models = [
        {
            "id": name,
            "name": name,
            "reasoning": True,
            "input": ["text"],
            "cost": PRICES,
            "contextWindow": window,
            "maxTokens": 2048,
        }
        for name, window in WINDOWS.items()
    ]
    return {
        name: {
            "name": name,
            "baseUrl": address if api.startswith("anthropic") else f"{address}/v1",
            "api": api,
            "apiKey": "none",
            "models": models,
        }
        for name, api in PROVIDERS.items()
    }
