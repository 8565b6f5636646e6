"""A client of Pi's RPC mode: commands as methods, answers matched by their id, events as an async iterator.

    async with PiRpc() as pi:
        await pi.prompt("Which files are here?")
        await pi.wait_settled()
        print(await pi.get_last_assistant_text())

Its promises: Pi's stdout is drained by a thread at all times, whatever the loop and the readers of events do; lines are
written whole, and never a JSON null (which would end Pi); an answer that nobody waits for any more is let go; when the
process ends, everybody who waits is told at once. Memory is bounded: what a slow reader of events has not read lies
on disk, in a file without a name.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec

from ..contract import COMMAND_RECORD_BYTES
from ..errors import InvalidOptionsError
from ..model import Item
from ..stream import Run
from .bell import LoopBell
from .process import Process
from .rpc_commands import Commands
from .rpc_errors import RpcClosed, RpcDied, RpcError, RpcProtocolError, RpcRefused, RpcTimeout
from .rpc_events import Events
from .rpc_lines import Head, Lines, Unread, fitted, line_of
from .rpc_records import Accepted, Settled, UiRequest
from .rpc_runs import Runs
from .spool import BytesLost, Reader, new_logs

T = TypeVar("T")

UiAnswer = str | bool | None
"""What an extension is told: a text (select, input, editor), yes or no (confirm), or None: cancelled."""

OnUi = Callable[[UiRequest], UiAnswer | Awaitable[UiAnswer]]

TIMEOUT = 60.0
"""Seconds for an answer that needs no model, person or shell. Pi starts within one, but its extensions may take longer."""

GRACE = 5.0
"""Seconds that the process gets to end by itself, and again after SIGTERM, before it is killed."""

_SILENCE = 1.0  # seconds between the end of a pipe and the process's own before the process is said to go on
_TOLD = frozenset({"notify", "setStatus", "setWidget", "setTitle", "set_editor_text"})
_REPLACING = frozenset({"new_session", "switch_session", "fork", "clone"})


class PiRpc(Commands):
    """One `pi --mode rpc` process. Use it as an async context manager, or `start()` and `aclose()`.

    argv: the command that starts it. on_ui: answers what extensions ask, None cancels everything; it may be a coroutine
    function. timeout: seconds for quick answers, None for no limit; asyncio.timeout() bounds the others. log,
    stderr_log: new files of mode 0600 that get the exact bytes. max_record_bytes: longer lines are skipped.

    `unmatched` counts answers that nobody waited for.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]] = ("pi", "--mode", "rpc"),
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        on_ui: OnUi | None = None,
        timeout: float | None = TIMEOUT,
        log: str | os.PathLike[str] | None = None,
        stderr_log: str | os.PathLike[str] | None = None,
        max_record_bytes: int | None = COMMAND_RECORD_BYTES,
    ) -> None:
        self.unmatched = 0
        self._argv, self._cwd, self._env = argv, cwd, env
        self._on_ui = on_ui
        self._timeout = timeout
        self._logs = (log, stderr_log)
        self._limit = max_record_bytes
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._reader: Reader | None = None
        self._mark: Reader | None = None  # where the first line begins that was not looked at
        self._why: Callable[[], RpcError] | None = None  # why nothing can be asked any more
        self._closing = False
        self._ended = asyncio.Event()
        self._lines = Lines(max_record_bytes)
        self._runs = Runs()
        self._number = 0
        self._asked: dict[str, tuple[str, asyncio.Future[Head]]] = {}
        self._talks: set[asyncio.Task[None]] = set()

    async def start(self) -> Self:
        """Start the process. Raises ProgramNotStarted; a client is started once."""
        if self._process is not None:
            raise InvalidOptionsError("expected a client that was not started, found one that was")
        log, stderr_log = new_logs(*self._logs)
        self._process = Process(
            self._argv, stdin=subprocess.PIPE, cwd=self._cwd, env=self._env, log=log, stderr_log=stderr_log, linger=0.0
        )
        self._reader, self._mark = self._process.stdout.reader(0), self._process.stdout.reader(0)
        self._reading = asyncio.create_task(self._read(self._process, self._reader))
        return self

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def pid(self) -> int | None:
        """The process, None before the start."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Its exit code, minus the signal that ended it; None before that."""
        return None if self._process is None else self._process.exit_code

    @property
    def stderr(self) -> bytes:
        """The last 4 KiB that it wrote to stderr."""
        return b"" if self._process is None else self._process.stderr.tail

    @property
    def unreadable(self) -> int:
        """Lines of its output that are no JSON object, or too long."""
        return self._lines.unreadable

    async def call(self, command: str, answer: type[T], /, *, patient: bool = False, **fields: Any) -> T:
        """Send a command, also one that this client does not know, and wait for its answer: `answer` is a struct, any
        type that msgspec decodes into, or `object` where no data is wanted. Fields that are None are not sent."""
        if not {"id", "type"}.isdisjoint(fields):
            raise InvalidOptionsError("expected fields of the command, found `id` or `type`, which are given already")
        process = self._open()
        self._number += 1
        key = f"turnlog-{self._number}"
        line = line_of({"id": key, "type": command, **{name: v for name, v in fields.items() if v is not None}})
        future: asyncio.Future[Head] = asyncio.get_running_loop().create_future()
        self._asked[key] = command, future
        if command == "prompt":
            self._runs.sent(key)
        process.send(line)
        seconds = None if patient else self._timeout
        timer = asyncio.timeout(seconds)
        try:
            async with timer:
                head = await future
        except TimeoutError:
            if not timer.expired() or seconds is None:
                raise
            raise RpcTimeout(command, seconds) from None
        finally:
            self._asked.pop(key, None)
            if future.done() and not future.cancelled():
                future.exception()  # it may have come in the moment this call was cancelled
        found: T = fitted(command, head, answer)
        return found

    def events(self) -> Events:
        """Every event from now on, for this reader alone; any number may read, each at its own pace. Make it before the
        prompt whose events are wanted. It ends when the client is closed, and raises RpcDied when the process dies."""
        process = self._open()
        now = process.stdout.written
        while self._reader is not None and self._reader.at < now and self._advance(self._reader):
            pass  # "from now on" must not give again what another reader has had already
        assert self._mark is not None
        return Events(process.stdout, self._mark.at, self._limit, self._died, self._ended)

    async def ask(self, message: str, **more: Any) -> AsyncIterator[Item]:
        """Prompt, and give every event until the run has settled. more: as `prompt` takes it. An extension's command
        gives what came until it was handled: nothing, mostly."""
        events = self.events()
        try:
            asking: asyncio.Task[Accepted] = asyncio.ensure_future(self.prompt(message, **more))
            accepted = await asking
            if accepted.disposition == "handled":
                return
            async for event in events:
                yield event
                if event.__class__ is Run and event.state == "settled":
                    return
        finally:
            await events.aclose()

    async def wait_settled(self) -> Settled | None:
        """Wait until no run is on and no prompt is on its way. Returns at once where the run has settled already, or
        an extension handled the prompt. How the last run settled; None where there was none."""
        while self._why is None and self._runs.busy:
            await self._runs.change()
        self._open()
        return self._runs.last

    async def aclose(self, grace: float = GRACE) -> None:
        """End the process: close its stdin, and wait; SIGTERM, and wait; then kill. grace: seconds for each wait. Who
        still waits for something gets RpcClosed. Closing twice does nothing."""
        process, reading = self._process, self._reading
        self._closing = True
        if process is None or reading is None:
            return
        try:
            process.close_stdin()
            if not await _ended(process, grace):
                process.signal(signal.SIGTERM)
                await _ended(process, grace)
            if process.exit_code is not None:
                await asyncio.wait([reading], timeout=grace)
        finally:
            process.close()
            reading.cancel()
            self._end(lambda: RpcClosed("the client was closed"))
        await asyncio.gather(reading, *self._talks, return_exceptions=True)

    def _open(self) -> Process:
        """The process, where it can be asked. Raises what ended it."""
        if self._why is not None:
            raise self._why()
        if self._process is None or self._closing:
            raise RpcClosed("expected a client that is open, found one that is closed or was not started")
        return self._process

    def _died(self) -> RpcError | None:
        error = None if self._why is None else self._why()
        return None if isinstance(error, RpcClosed) else error

    # What follows runs in the loop, and waits for nothing but the process.

    async def _read(self, process: Process, reader: Reader) -> None:
        """Read stdout until the process is over, or says nothing more; then tell all who wait."""
        loop, bell = asyncio.get_running_loop(), LoopBell()
        for source in (process, process.stdout, process.stderr):
            source.listen(bell.ring)
        until: float | None = None
        said = "found a mistake in the client"
        try:
            while True:
                bell.hush()
                code, half = process.exit_code, process.deaf or reader.over
                more = self._advance(reader)
                if not more and reader.over and process.stderr.over and code is not None:
                    said = f"the process ended with {f'exit code {code}' if code >= 0 else f'signal {-code}'}"
                    return
                if half and code is None:
                    until = until or loop.time() + _SILENCE
                    if loop.time() >= until:
                        said = "the process goes on, but no longer " + ("answers" if reader.over else "listens")
                        return
                if more:
                    await asyncio.sleep(0)
                    continue
                try:
                    async with asyncio.timeout_at(until if code is None else None):
                        await bell.wait()
                except TimeoutError:
                    continue
        except BytesLost:
            said = "its output came faster than it could be read, and the disk would not keep it"
        finally:
            self._end(lambda: RpcDied(said, process.exit_code, process.stderr.tail))

    def _end(self, why: Callable[[], RpcError]) -> None:
        """Nothing more will come: tell everybody. The first reason is the one that counts."""
        if self._why is None:
            self._why = (lambda: RpcClosed("the client was closed")) if self._closing else why
        for _, future in self._asked.values():
            if not future.done():
                future.set_exception(self._why())
        for talk in self._talks:
            talk.cancel()
        self._ended.set()
        self._runs.tell()

    def _advance(self, reader: Reader) -> bool:
        """Look at the next bytes; False where there are none now. Raises BytesLost."""
        data = reader.take()
        for head, line in self._lines.feed(data):
            if isinstance(head, Unread):
                if head.id in self._asked:
                    self._fail(head.id, RpcProtocolError(self._asked[head.id][0], head.said))
            elif head.type == "response":
                self._answered(head)
            elif head.type == "agent_start":
                self._runs.begin()
            elif head.type == "agent_settled":
                self._runs.settle(Settled(aborted=head.aborted))
            elif head.type == "extension_ui_request":
                self._asks(line)
        if self._mark is not None:
            self._mark.at = reader.at - self._lines.held
        return bool(data)

    def _answered(self, head: Head) -> None:
        key = head.id or ""
        if key in self._runs.prompts:
            self._runs.answered(key, _disposition(head))
        name, future = self._asked.get(key, ("", None))
        if future is None or future.done():
            self.unmatched += 1
        elif head.success is True:
            if name in _REPLACING and not _cancelled(head):
                self._runs.replaced()
            future.set_result(head)
        elif head.success is False:
            self._fail(key, RpcRefused(name, head.error if isinstance(head.error, str) else ""))
        else:
            self._fail(key, RpcProtocolError(name, "expected an answer that says whether it succeeded"))

    def _fail(self, key: str, error: RpcError) -> None:
        _, future = self._asked[key]
        if not future.done():
            future.set_exception(error)

    def _asks(self, line: bytes) -> None:
        """An extension asks. Whatever is no mere message gets an answer, so that no new kind of dialog waits for ever."""
        try:
            request = fitted("extension_ui_request", Head(data=msgspec.Raw(line)), UiRequest)
        except RpcError:
            self._lines.unreadable += 1
            return
        if request.method in _TOLD or self._why is not None:
            return
        talk = asyncio.create_task(self._talk(request))
        self._talks.add(talk)
        talk.add_done_callback(self._talks.discard)

    async def _talk(self, request: UiRequest) -> None:
        said: UiAnswer = None
        try:
            async with asyncio.timeout(request.timeout / 1000 if request.timeout else None):
                found = None if self._on_ui is None else self._on_ui(request)
                said = await found if inspect.isawaitable(found) else found
            if said is not None and isinstance(said, bool) is not (request.method == "confirm"):
                raise TypeError(f"{request.method}: expected another type of answer, found {type(said).__name__}")
        except TimeoutError:
            said = None  # the extension has gone on without an answer
        except Exception as error:  # noqa: BLE001  the callback's own mistake must not leave the extension waiting
            said = None
            told = {"message": f"on_ui failed at {request.method}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(told)
        answer: dict[str, Any] = {"cancelled": True}
        if said is not None:
            answer = {"confirmed": said} if isinstance(said, bool) else {"value": str(said)}
        if self._why is None and self._process is not None:
            self._process.send(line_of({"type": "extension_ui_response", "id": request.id, **answer}))


def _disposition(head: Head) -> str | None:
    """What became of a prompt; None where it was refused. A version that does not say has started it."""
    if head.success is not True:
        return None
    try:
        return fitted("prompt", head, Accepted | None).disposition or "started"
    except (RpcError, AttributeError):
        return "started"


def _cancelled(head: Head) -> bool:
    try:
        return bool(fitted("", head, dict[str, Any] | None).get("cancelled"))
    except (RpcError, AttributeError):
        return False


async def _ended(process: Process, seconds: float) -> bool:
    """Wait for the end of the process."""
    bell = LoopBell()
    process.listen(bell.ring)
    try:
        async with asyncio.timeout(seconds):
            while process.exit_code is None:
                await bell.wait()
                bell.hush()
    except TimeoutError:
        return False
    return True
