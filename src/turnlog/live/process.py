"""A program started without a shell, whose two pipes are drained at all times.

Threads read the pipes, so neither a slow reader nor a blocked event loop holds the program up: what it writes goes to a
`Spool` each. It runs in a process group of its own: Ctrl-C on the terminal reaches us only, and is passed on once.

When the program has ended, its pipes are read until they are empty. A process that it left behind may hold them open;
that one is waited for `linger` seconds and then left to itself.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO

from ..contract import MIB
from ..errors import InvalidOptionsError, TurnlogError
from .bell import Bell
from .spool import Log, Spool

LINGER = 1.0
"""Seconds for which the pipes are still read when the program has ended and something else holds them open."""

_READ = 256 * 1024
_MOST_IN_A_PIPE = MIB  # of an ordinary user's (pipe-max-size on Linux); so much may be there when the program ends
_POSIX = os.name == "posix"
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class ProgramNotStarted(TurnlogError):
    """The program cannot be started; the OSError is the cause. `program`: its name."""

    def __init__(self, program: str, said: str) -> None:
        super().__init__(f"{program}: cannot be started: {said}")
        self.program = program


class Process:
    """A program under way. Raises ProgramNotStarted; and InvalidOptionsError for an empty command or a log that is no
    new file.

    argv: the program and its arguments. stdin: what subprocess takes (a file, a descriptor, DEVNULL; None: ours), or PIPE
    for `send`. log, stderr_log: where the exact bytes of stdout and stderr go, each a new file of mode 0600.
    `stdout`, `stderr`: the spools. `exit_code` is None while it runs, and minus the signal that ended it; `started_at` and
    `ended_at` are by time.monotonic().
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        stdin: int | IO[bytes] | None = subprocess.DEVNULL,
        log: Log | None = None,
        stderr_log: Log | None = None,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        linger: float = LINGER,
    ) -> None:
        words = [os.fspath(word) for word in argv]
        self.program = os.path.basename(words[0]) if words else ""
        self.stdout = Spool(log)
        self.stderr = Spool(stderr_log)
        self.exit_code: int | None = None
        self.started_at = time.monotonic()
        self.ended_at = 0.0
        self.left_open = False
        self.deaf = False
        self._linger = linger
        self._deadline = 0.0
        self._listeners: list[Callable[[], None]] = []
        self._ended = threading.Event()
        self._to_send: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._process = self._start(words, stdin, cwd, env)
        self.pid = self._process.pid
        self._bells: list[Bell] = []
        self._mouth: Bell | None = None
        work: list[tuple[str, Callable[[], None]]] = [("waits", self._reap)]
        for pipe, spool in ((self._process.stdout, self.stdout), (self._process.stderr, self.stderr)):
            assert pipe is not None
            work.append(("drains", partial(self._drain, pipe, spool, self._new_bell())))
        if self._process.stdin is not None:
            self._mouth = self._new_bell()
            work.append(("feeds", partial(self._feed, self._process.stdin, self._mouth)))
        self._threads = [
            threading.Thread(target=target, name=f"turnlog-{name}-{self.pid}", daemon=True) for name, target in work
        ]
        for thread in self._threads:
            thread.start()

    def _new_bell(self) -> Bell:
        self._bells.append(Bell())
        return self._bells[-1]

    def _start(
        self,
        words: list[str],
        stdin: int | IO[bytes] | None,
        cwd: str | os.PathLike[str] | None,
        env: Mapping[str, str] | None,
    ) -> subprocess.Popen[bytes]:
        group = {"process_group": 0} if _POSIX else {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}  # type: ignore[attr-defined]
        try:
            if not words:
                raise InvalidOptionsError("expected a program to start, found none")
            return subprocess.Popen(  # noqa: S603  the caller's own command, and no shell
                words, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0, cwd=cwd,
                env=None if env is None else dict(env), **group,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            for spool in (self.stdout, self.stderr):
                if spool.log is not None:
                    spool.log.discard()
            if isinstance(error, InvalidOptionsError):
                raise
            said = getattr(error, "strerror", None) or "a word of the command cannot be passed on"
            raise ProgramNotStarted(words[0], said) from error

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this, from a thread, when the program has ended or no longer reads its stdin."""
        self._listeners.append(listener)

    def send(self, data: bytes) -> None:
        """Write to the program's stdin, after what was sent before. Waits for nothing."""
        self._to_send.put(data)
        if self._mouth is not None:
            self._mouth.ring()

    def close_stdin(self) -> None:
        """Close the program's stdin when all has been written."""
        self._to_send.put(None)
        if self._mouth is not None:
            self._mouth.ring()

    def signal(self, number: int) -> bool:
        """Send a signal to the program and what it started; False where it has ended already."""
        if self.exit_code is not None:
            return False
        try:
            if _POSIX:
                os.killpg(self.pid, number)
            else:
                self._process.send_signal(number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def kill(self) -> None:
        """End it, and what it started, at once."""
        self.signal(_KILL)
        if self.exit_code is None:
            self._process.kill()  # it may have left its group

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until it has ended and its pipes are read; its exit code, None where the time (in seconds) is over."""
        until = None if timeout is None else time.monotonic() + timeout
        if not self._ended.wait(timeout):
            return None
        for spool in (self.stdout, self.stderr):
            if not spool.wait(spool.written, None if until is None else max(0.0, until - time.monotonic())):
                return None
        return self.exit_code

    def close(self) -> None:
        """Kill it if it still runs, and let go of every thread and file."""
        self._linger = self._deadline = 0.0
        self.kill()
        self.close_stdin()
        self._ring()
        for thread in self._threads:
            thread.join(None if _POSIX else LINGER)
        self.stdout.close()
        self.stderr.close()
        for bell in self._bells:
            bell.close()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.ring()

    def _tell(self) -> None:
        for listener in list(self._listeners):
            listener()

    def _reap(self) -> None:
        code = self._process.wait()
        self.ended_at = time.monotonic()
        self._deadline = self.ended_at + self._linger
        self.exit_code = code
        self._ended.set()
        self._ring()
        self._tell()

    def _drain(self, pipe: IO[bytes], spool: Spool, bell: Bell) -> None:
        """Read one pipe to its end, or until the program has ended and the pipe has nothing more for a while."""
        number = pipe.fileno()
        after_the_end = 0
        try:
            while self._readable(number, bell, after_the_end):
                data = os.read(number, _READ)
                if not data:
                    break
                spool.write(data)
                after_the_end += len(data) if self.exit_code is not None else 0
        except OSError:
            pass  # a pipe that cannot be read is at its end
        finally:
            pipe.close()
            spool.end()

    def _readable(self, number: int, bell: Bell, after_the_end: int) -> bool:
        """Wait for something to read; False when the program has ended and nothing of it can be there any more."""
        if not _POSIX:
            return True
        poll = select.poll()
        poll.register(number, select.POLLIN)
        poll.register(bell.listens, select.POLLIN)
        while True:
            left = None if self.exit_code is None else max(0.0, self._deadline - time.monotonic())
            found = {where for where, _ in poll.poll(None if left is None else left * 1000)}
            if bell.listens in found:
                bell.hush()
            if number in found and (left != 0.0 or after_the_end < _MOST_IN_A_PIPE):
                return True
            if number in found or not found:
                self.left_open = True
                return False

    def _feed(self, pipe: IO[bytes], bell: Bell) -> None:
        """Write what is to be sent, whole and in order, until there is no more or nobody listens."""
        number = pipe.fileno()
        if _POSIX:
            os.set_blocking(number, False)
        try:
            while (data := self._next(number, bell)) is not None:
                view = memoryview(data)
                while view and self._writable(number, bell):
                    with contextlib.suppress(BlockingIOError):
                        view = view[os.write(number, view) :]
                if view:
                    return
        except OSError:
            self.deaf = True
            self._tell()
        finally:
            pipe.close()

    def _next(self, number: int, bell: Bell) -> bytes | None:
        """What is to be sent next, None where that is all. Raises OSError as soon as the program no longer listens."""
        if not _POSIX:
            return self._to_send.get()
        poll = select.poll()
        poll.register(number, 0)  # a closed end is told without being asked for
        poll.register(bell.listens, select.POLLIN)
        while True:
            with contextlib.suppress(queue.Empty):
                return self._to_send.get_nowait()
            found = {where for where, _ in poll.poll()}
            if bell.listens in found:
                bell.hush()
            if number in found:
                raise BrokenPipeError

    def _writable(self, number: int, bell: Bell) -> bool:
        """Wait until the program takes more; False when it has ended."""
        if not _POSIX:
            return True
        poll = select.poll()
        poll.register(number, select.POLLOUT)
        poll.register(bell.listens, select.POLLIN)
        while True:
            found = {where for where, _ in poll.poll()}
            if bell.listens in found:
                bell.hush()
            if number in found:
                return True
            if self.exit_code is not None:
                return False
