"""Signals to us become signals to the program: each is passed on once, and the program decides what comes of it."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from .process import Process

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_STOPS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
ENOUGH = 3
"""The third request to stop kills: a person who presses Ctrl-C three times means it."""


class Forwarding:
    """While it is open, signals go on to the program that it is aimed at; those that came before are kept for it.

    A signal that was ignored stays ignored (`nohup`, a shell's `&`); the program has inherited that. Ctrl-Z stops the
    program and us, in that order, and going on goes on. Outside the main thread it does nothing. `stopped_by`: the first
    signal that asked to stop.
    """

    def __init__(self) -> None:
        self.stopped_by: str | None = None
        self._process: Process | None = None
        self._waiting: list[int] = []
        self._requests = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for name in _NAMES:
                self._take(name, self._pass_on)
            self._take("SIGTSTP", self._pause)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def aim(self, process: Process) -> None:
        """Here is the program."""
        self._process = process
        while self._waiting:
            process.signal(self._waiting.pop(0))

    def _take(self, name: str, handler: Any) -> None:
        number = getattr(signal, name, None)
        # None: a handler that is not Python's, which could not be put back.
        if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
            self._before[number] = signal.signal(number, handler)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        name = signal.Signals(number).name
        if name in _STOPS:
            self.stopped_by = self.stopped_by or name
            self._requests += 1
        if self._process is None:
            self._waiting.append(number)
        elif self._requests < ENOUGH:
            self._process.signal(number)
        elif self._process.exit_code is None:
            self._process.kill()
        elif self._requests >= 2 * ENOUGH:
            raise KeyboardInterrupt  # the program is over, and we hang ourselves: at a pipe that nobody reads

    def _pause(self, number: int, _: FrameType | None) -> None:
        if self._process is not None:
            self._process.signal(number)
        os.kill(os.getpid(), signal.SIGSTOP)
        if self._process is not None:
            self._process.signal(signal.SIGCONT)
