"""Bells: how one thread tells another, or an event loop, that there is something new."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading


class Bell:
    """Wakes one thread that waits in `poll` for something else."""

    def __init__(self) -> None:
        self.listens, self._rings = os.pipe()
        os.set_blocking(self._rings, False)
        self._lock = threading.Lock()
        self._closed = False

    def ring(self) -> None:
        """From any thread; raises nothing, and waits for nothing."""
        with self._lock, contextlib.suppress(OSError):
            if not self._closed:
                os.write(self._rings, b"x")

    def hush(self) -> None:
        """It was heard."""
        os.read(self.listens, 512)

    def close(self) -> None:
        """No longer."""
        with self._lock:
            if not self._closed:
                self._closed = True
                os.close(self.listens)
                os.close(self._rings)


class LoopBell:
    """Wakes a coroutine of the running loop. However often it is rung, the loop is told once until it is hushed."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard = asyncio.Event()
        self._rung = False

    def ring(self) -> None:
        """From any thread; raises nothing, and waits for nothing."""
        if not self._rung:
            self._rung = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._heard.set)

    def hush(self) -> None:
        """Before a look at what is new."""
        self._heard.clear()
        self._rung = False

    async def wait(self) -> None:
        """Until it is rung, or was since it was hushed."""
        await self._heard.wait()
