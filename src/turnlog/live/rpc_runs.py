"""Whether a run of Pi is on, from what its RPC mode says: accepted prompts, `agent_start`, `agent_settled`."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec

from .rpc_records import Settled


class Prompt(msgspec.Struct):
    """A prompt on its way. settled: how many runs had when it was sent. idle: no run was on then."""

    settled: int
    idle: bool


class Runs:
    """The state of runs. `on`: one is going. `last`: how the last one settled. `prompts`: sent and not answered."""

    def __init__(self) -> None:
        self.on = False
        self.settled = 0
        self.last: Settled | None = None
        self.prompts: dict[str, Prompt] = {}
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def busy(self) -> bool:
        """A run is on, or may be about to begin."""
        return self.on or bool(self.prompts)

    def sent(self, key: str) -> None:
        """A prompt goes out."""
        self.prompts[key] = Prompt(self.settled, not self.on)

    def answered(self, key: str, disposition: str | None) -> None:
        """What became of it. None: it was refused. Only a prompt that was started begins a run; one that was queued
        belongs to the run that is on, if that has not settled meanwhile."""
        prompt = self.prompts.pop(key, None)
        if prompt is not None and disposition not in (None, "queued", "handled"):
            # Answers may come late: the run that this prompt began may be over by now.
            self.on = self.on or not (prompt.idle and self.settled > prompt.settled)
        self.tell()

    def begin(self) -> None:
        """`agent_start`."""
        self.on = True

    def settle(self, how: Settled) -> None:
        """`agent_settled`."""
        self.on = False
        self.settled += 1
        self.last = how
        self.tell()

    def replaced(self) -> None:
        """Another session is in use: the run of the one before, if any, was ended with it."""
        self.on = False
        self.tell()

    def tell(self) -> None:
        """Wake who waits."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def change(self) -> None:
        """Wait until something may be different."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            with contextlib.suppress(KeyError):
                self._waiters.remove(waiter)
