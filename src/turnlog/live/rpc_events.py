"""What Pi says by itself, as an async iterator: each reader at its own pace, behind a thread that never waits for it."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import Callable
from typing import Self

from ..contract import ReadOptions
from ..formats import stream_of
from ..model import Item
from ..parser import Parser
from ..stream import Reply
from .bell import LoopBell
from .rpc_errors import RpcError
from .spool import Spool


class Events:
    """Events of the RPC stream, as `turnlog.stream` and the model have them; a line that could not be read is a fault in
    its place. Answers to commands are left out: who asked has them.

    `line`, `start` and `end` of an event count from where this reader began. What it has not read yet lies in memory
    up to some MiB, then on disk. It ends when the client is closed, raises RpcDied when the process dies, and BytesLost
    where the disk was full. `aclose()` says that nobody reads any more.
    """

    def __init__(
        self,
        spool: Spool,
        at: int,
        max_record_bytes: int | None,
        over: Callable[[], RpcError | None],
        ended: asyncio.Event,
    ) -> None:
        self._reader = spool.reader(at)
        self._bell = LoopBell()
        self._over = over
        self._ended = ended
        self._closed = False
        options = ReadOptions(max_file_bytes=None, max_record_bytes=max_record_bytes, repair=False)
        self._parser = Parser(stream_of("pi"), options)
        self._parser.session.quiet = False
        self._ready: deque[Item] = deque()
        spool.listen(self._bell.ring)
        self._leave = weakref.finalize(self, spool.unlisten, self._bell.ring)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        while not self._ready:
            if self._closed:
                raise StopAsyncIteration
            self._bell.hush()
            data = self._reader.take()
            if data:
                self._take(data)
            elif self._reader.over:
                await self._end()
            else:
                await self._bell.wait()
        return self._ready.popleft()

    async def aclose(self) -> None:
        """Read no more: nothing is kept for this reader from now on."""
        self._closed = True
        self._ready.clear()
        self._leave()
        self._reader.leave()
        self._bell.ring()

    def _take(self, data: bytes) -> None:
        self._ready.extend(item for item in self._parser.feed(data) if item.__class__ is not Reply)

    async def _end(self) -> None:
        await self._ended.wait()
        self._closed = True
        error = self._over()
        if error is not None:
            raise error
