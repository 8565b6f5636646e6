"""The bar for work that takes more than a second: on stderr, only where a person looks on."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any, Self

AFTER = 1.0
"""Seconds of work before a bar is worth its line."""


class Progress:
    """Tells how far a reading is: `with Progress("reading") as told: told(done, total)`, in bytes.

    Nothing is printed, and rich is not imported, before the work has taken a second, nor where stderr is no terminal.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._since = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._wanted = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: int, total: int) -> None:
        """So many bytes of all are done."""
        if not self._wanted or (self._bar is None and time.monotonic() - self._since < AFTER):
            return
        if self._bar is None:
            self._start(total)
        self._bar.update(self._task, completed=done, total=total)

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn(),
            console=Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR"))), transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task(self._what, total=total)
        self._bar.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
