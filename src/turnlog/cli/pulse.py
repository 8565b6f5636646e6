"""What a program is doing, on one line of the terminal's stderr; nothing where no person looks on."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from ..jsontext import clean
from ..live.run import Running
from ..model import Item, ToolCall, ToolResult
from ..render.text import counted
from ..stream import ToolRun
from .output import one_line, safe

_EVERY = 0.25
_WORDS = 400  # the last letters of an answer that are looked at: more than any terminal's line


class Pulse:
    """One line: how long, how many messages, the tools at work, the last words. It is wiped at the end.

    `saw` counts, `beat` draws anew when it is time, `past` lets the program's own stderr through: exact bytes where a
    program reads them, made safe above the line where a person does.
    """

    def __init__(self, running: Running) -> None:
        self._running = running
        self._gone = False  # nobody reads our stderr any more: the program goes on all the same
        self._terminal = sys.stderr.isatty()
        self._draws = self._terminal and os.environ.get("TERM") != "dumb"
        self._drawn = False
        self._next = time.monotonic() + _EVERY
        self._at_work: dict[str | None, str] = {}
        self._rest = b""  # of a line of stderr that has not ended

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._rest:
            self._print(self._rest)
        self._wipe()

    def saw(self, items: Iterable[Item]) -> None:
        """Note which tools begin and end."""
        if not self._draws:
            return
        for item in items:
            if isinstance(item, ToolCall) or (isinstance(item, ToolRun) and item.state == "started"):
                self._at_work[item.id if isinstance(item, ToolCall) else item.call_id] = item.name or "a tool"
            elif isinstance(item, ToolResult) or (isinstance(item, ToolRun) and item.state == "ended"):
                self._at_work.pop(item.call_id, None)

    def beat(self) -> None:
        """Draw the line anew, where it is time for that."""
        if self._draws and time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            width = shutil.get_terminal_size((80, 24)).columns - 1
            self._write("\r\x1b[K" + safe(one_line(self._line(), width)))
            self._drawn = True

    def past(self, said: bytes) -> None:
        """Let through what the program wrote to stderr."""
        if not self._terminal:
            self._write(said)
            return
        *lines, self._rest = (self._rest + said).split(b"\n")
        for line in lines:
            self._print(line)
        if len(self._rest) > _WORDS * 100:
            self._print(self._rest)
            self._rest = b""

    def _print(self, line: bytes) -> None:
        self._wipe()
        self._write(safe(line.decode(errors="replace").rstrip("\r")) + "\n")

    def _wipe(self) -> None:
        if self._drawn:
            self._write("\r\x1b[K")
            self._drawn = False

    def _write(self, said: str | bytes) -> None:
        if self._gone:
            return
        try:
            if isinstance(said, str):
                sys.stderr.write(said)
            else:
                sys.stderr.flush()
                sys.stderr.buffer.write(said)
            sys.stderr.flush()
        except OSError:
            self._gone = True

    def _line(self) -> str:
        seconds = int(self._running.seconds)
        parts = [f"{seconds // 60}:{seconds % 60:02}", self._running.process.program]
        run = self._running.capture.live.current
        if run is not None:
            parts.append(counted(run.messages, "message"))
            parts += [", ".join(sorted(set(self._at_work.values())))] if self._at_work else []
            words = " ".join(clean(run.text[-_WORDS:]).split())
            room = 40
            parts += [words if len(words) <= room else "…" + words[-room:]] if words else []
        return "; ".join(parts)
