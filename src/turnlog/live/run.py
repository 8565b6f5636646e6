"""An agent's program run to its end: its exact output kept, its events as they come, and the verdict of its answer.

The program never waits for us (`process`), so a reader may be as slow as it likes. What it writes is judged as `answer`
judges a capture of it; beyond that a program that did not end well, or a log that could not be kept, is no success.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Literal, Self, TypedDict, Unpack

import msgspec

from ..errors import SourceCorrupt, UnknownFormatError
from ..model import Item
from ..views.verdict import Word
from .answer import Answer, Tokens, judged
from .bell import LoopBell
from .capture import Capture
from .process import Process
from .spool import BytesLost, Reader, new_logs

SCHEMA = "turnlog.run/1"

RunWord = Literal[
    "no_stream",  # what it printed is no agent's stream
    "exit",  # the answer is whole, but the program did not end with exit code 0
    "lost",  # some of its output was lost: the disk was full
    "log",  # the answer is whole, but the log is not
]


class Ran(msgspec.Struct, kw_only=True):
    """What became of a program that was run, and its answer.

    ok: the answer may be trusted, the program ended with exit code 0, and the log is whole. verdict: in a word (those of
    `answer`, and more). reason: how the program ended, and why not. text: the answer; None where it may not be trusted,
    unless that was asked for. agent, run, runs, state, messages, tools, usage: as `answer` has them.
    exit_code: None where a signal ended it. signal: which one. stopped_by: the signal that we were asked to stop with.
    seconds: how long it ran. bytes, stderr_bytes: written to stdout and stderr. log: where the bytes are, log_bytes: so many.
    left_open: a process that it started still held its pipes, and what that writes is not read.
    """

    schema: str = SCHEMA
    ok: bool
    verdict: Word | RunWord
    reason: str | None
    text: str | None
    messages: int
    tools: int
    usage: Tokens
    agent: str | None
    run: int | None
    runs: int
    state: str | None
    program: str
    exit_code: int | None
    signal: str | None
    stopped_by: str | None
    seconds: float
    bytes: int
    stderr_bytes: int
    log: str | None
    log_bytes: int | None
    left_open: bool


class Options(TypedDict, total=False):
    """What `Running` takes beside the command."""

    agent: str | None
    log: str | os.PathLike[str] | None
    stderr_log: str | os.PathLike[str] | None
    force: bool
    stdin: int | IO[bytes] | None
    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str] | None
    partial: bool
    quiet: bool


class Running:
    """A program under way, read by hand: `step()` again and again, then `finish()`. Use it as a context manager: leaving it
    kills a program that still runs.

    argv: the program and its arguments; no shell sees them. agent: whose stream it prints, None to be told from it. log,
    stderr_log: new files of mode 0600 for the exact bytes; `force` replaces files that are there. stdin: nothing, unless
    something is given (None: ours). partial: give the text of an answer that may not be trusted too. quiet: events
    that do not matter for the verdict are left out, or bare, which is quicker. Raises ProgramNotStarted,
    InvalidOptionsError, UnknownFormatError for an agent that is none.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        agent: str | None = None,
        log: str | os.PathLike[str] | None = None,
        stderr_log: str | os.PathLike[str] | None = None,
        force: bool = False,
        stdin: int | IO[bytes] | None = subprocess.DEVNULL,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        partial: bool = False,
        quiet: bool = False,
    ) -> None:
        self.capture = Capture(agent, name="<stdout>", quiet=quiet)
        self._log, self._stderr_log = new_logs(log, stderr_log, force=force)
        self.process = Process(argv, stdin=stdin, log=self._log, stderr_log=self._stderr_log, cwd=cwd, env=env)
        self.stopped_by: str | None = None
        self._partial = partial
        self._out = self.process.stdout.reader(0)
        self._err: Reader | None = None
        self._lost = 0
        self._closed = False
        self._refused: UnknownFormatError | SourceCorrupt | None = None
        self._bug: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def over(self) -> bool:
        """The program has ended, and all that it wrote was read."""
        process = self.process
        return process.exit_code is not None and process.stderr.over and self._out.over

    @property
    def behind(self) -> bool:
        """It wrote more to stdout than was read: `step` need not wait."""
        return self._out.at < self.process.stdout.written and not self._out.over

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self.process.started_at

    def step(self, timeout: float | None = None) -> list[Item]:
        """The next events, waiting for bytes up to that many seconds; none where no record has ended. None ever raises:
        what is no stream is said by `finish`."""
        if self._out.over:
            if not self.over:
                self.process.wait(timeout)
            return []
        try:
            return self._fed(self._out.read(timeout))
        except BytesLost as error:
            self._lost += error.count
            return []

    def stderr(self) -> bytes:
        """What it wrote to stderr since this was asked last. The first question decides that it is kept to be asked for."""
        if self._err is None:
            self._err = self.process.stderr.reader(0)
        try:
            return self._err.take()
        except BytesLost as error:
            self._lost += error.count
            return b""

    def signal(self, number: int) -> None:
        """Send it a signal; the verdict will name it if it asks to stop."""
        if number in (signal.SIGINT, signal.SIGTERM):
            self.stopped_by = self.stopped_by or signal.Signals(number).name
        self.process.signal(number)

    def finish(self) -> Ran:
        """Read what is left, wait for the end, let go of everything, and judge."""
        while not self.over:
            self.step()
        self.close()
        if not self._closed:
            self._closed = True
            self._end()
        if self._bug is not None:
            raise self._bug
        return self._judged()

    def close(self) -> None:
        """Kill it if it still runs, and let go of everything; what was read can still be judged."""
        self.process.close()

    def _fed(self, data: bytes) -> list[Item]:
        if not data or self._refused is not None or self._bug is not None:
            return []
        try:
            return self.capture.feed(data)
        except (UnknownFormatError, SourceCorrupt) as error:
            self._refused = error
        except Exception as error:  # noqa: BLE001  a mistake of ours must not end an agent's work: `finish` raises it
            self._bug = error
        return []

    def _end(self) -> None:
        if self._refused is not None or self._bug is not None:
            return
        try:
            self.capture.close()
        except (UnknownFormatError, SourceCorrupt) as error:
            self._refused = error

    def _judged(self) -> Ran:
        process, log = self.process, self._log
        code = process.exit_code
        found = judged(self.capture, partial=True) if self._refused is None else _NOTHING
        verdict, reason = self._verdict(found)
        trusted = found.ok and verdict not in ("exit", "lost")
        return Ran(
            ok=verdict == "answered",
            verdict=verdict,
            reason=None if reason is None else f"{_how(code)}; {reason}",
            text=found.text if trusted or self._partial else None,
            messages=found.messages,
            tools=found.tools,
            usage=found.usage,
            agent=self.capture.agent,
            run=found.run,
            runs=found.runs,
            state=found.state,
            program=process.program,
            exit_code=code if code is not None and code >= 0 else None,
            signal=_signal_name(code),
            stopped_by=self.stopped_by,
            seconds=round(process.ended_at - process.started_at, 3),
            bytes=process.stdout.written,
            stderr_bytes=process.stderr.written,
            log=None if log is None else log.path,
            log_bytes=None if log is None else log.size,
            left_open=process.left_open,
        )

    def _verdict(self, found: Answer) -> tuple[Word | RunWord, str | None]:
        word: Word | RunWord = found.verdict
        reason = found.reason
        if self._refused is not None:
            word, reason = "no_stream", "it printed nothing"
            if self.process.stdout.written:
                reason = str(self._refused).removeprefix(f"{self.capture.place.name}: ")
        if self._lost:
            return "lost", f"{self._lost} bytes of its output were lost: the disk was full"
        if reason is not None:
            return (word, reason) if self.stopped_by is None else ("aborted", f"stopped by {self.stopped_by}: {reason}")
        if self.process.exit_code != 0:
            return "exit", "its run had settled, with an answer"
        for log in (self._log, self._stderr_log):
            if log is not None and log.error is not None:
                why = log.error.strerror or type(log.error).__name__
                return "log", f"the answer is whole, but {log.path} is not: {why} after {log.size} bytes"
        return "answered", None


_NOTHING = Answer(
    ok=False, verdict="no_run", reason=None, text=None, messages=0, tools=0, usage=Tokens(), agent=None, run=None, runs=0,
    state=None,
)  # fmt: skip


def _how(code: int | None) -> str:
    name = _signal_name(code)
    return f"the program was ended by {name}" if name else f"the program ended with exit code {code}"


def _signal_name(code: int | None) -> str | None:
    if code is None or code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


class AsyncRun:
    """The same for asyncio: `async for item in arun([...])` gives the events as they come, `await run.finish()` the verdict.

    It is started at once. As an async context manager it kills, on leaving, a program that still runs.
    """

    def __init__(self, running: Running) -> None:
        self.running = running
        self._bell = LoopBell()
        for source in (running.process, running.process.stdout, running.process.stderr):
            source.listen(self._bell.ring)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.running.close()

    async def __aiter__(self) -> AsyncIterator[Item]:
        running = self.running
        while not running.over:
            self._bell.hush()
            if running.behind:
                for item in running.step(0):
                    yield item
                await asyncio.sleep(0)
            elif not running.over:
                await self._bell.wait()

    async def finish(self) -> Ran:
        """Read what is left, wait for the end, and judge. The program is not ended by it."""
        async for _ in self:
            pass
        return self.running.finish()


def run(argv: Sequence[str | os.PathLike[str]], **more: Unpack[Options]) -> Ran:
    """Run an agent's program to its end and judge its answer; the options are those of `Running`. Whatever is raised
    meanwhile (Ctrl-C too) kills the program."""
    more.setdefault("quiet", True)
    with Running(argv, **more) as running:
        return running.finish()


def arun(argv: Sequence[str | os.PathLike[str]], **more: Unpack[Options]) -> AsyncRun:
    """Start an agent's program, inside a running loop: iterate over its events, then `finish()`. The options are those of
    `Running`."""
    return AsyncRun(Running(argv, **more))
