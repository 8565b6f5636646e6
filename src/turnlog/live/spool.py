"""What one thread writes, read behind it by others, each at its own pace; and a log that gets the exact bytes.

A spool promises its writer that it is never held up by a reader. The newest bytes are in memory, at most `WINDOW` of
them; older ones that a reader still wants are read from the log where there is one, else from a file of mode 0600 that
has no name. A disk that fills up stops neither: what could not be kept is counted, and told to the reader that missed it.
"""

from __future__ import annotations

import os
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from typing import IO

from ..contract import MIB
from ..errors import InvalidOptionsError, TurnlogError

WINDOW = 4 * MIB
"""Bytes kept in memory for readers that keep up: some seconds of the busiest stream seen, and nothing for a machine."""

PIECE = 256 * 1024
"""The most a reader is given at once, in bytes."""


class BytesLost(TurnlogError):
    """Bytes that a reader had not read could not be kept, because the disk would not take them. `count`: how many."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} bytes of output could not be kept, and are lost")
        self.count = count


class Log:
    """A new file of mode 0600 that gets every byte as it comes.

    A file that is there already is refused with InvalidOptionsError, unless `force`: then another takes its place. A
    path that cannot be written is the caller's mistake too. Once the disk has refused bytes, `error` says so, and
    nothing more is written: what is in the log is a true prefix, `size` bytes long.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self.path = os.fsdecode(path)
        self.size = 0
        self.error: OSError | None = None
        self._lock = threading.Lock()
        if force:
            self._make_room()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            self._file = os.open(self.path, flags, 0o600)
            if hasattr(os, "fchmod"):
                os.fchmod(self._file, 0o600)  # whatever the mask left of it
        except FileExistsError:
            raise InvalidOptionsError(f"{self.path}: expected a new file, found one that is there already") from None
        except (OSError, ValueError) as error:
            raise InvalidOptionsError(f"{self.path}: cannot be written: {_reason(error)}") from error

    def write(self, data: bytes) -> None:
        """Keep these bytes. Raises nothing: a disk that is full must not stop who reads the program."""
        view = memoryview(data)
        with self._lock:
            while view and self.error is None:
                try:
                    done = os.write(self._file, view)
                except OSError as error:
                    self.error = error
                    return
                self.size += done
                view = view[done:]

    def read(self, at: int, size: int) -> bytes:
        """What was written there."""
        with self._lock:
            return _read_at(self._file, at, size)

    def close(self) -> None:
        """Let go of the file. An error the disk tells only now is kept in `error` too."""
        if self._file >= 0:
            file, self._file = self._file, -1
            try:
                os.close(file)
            except OSError as error:
                self.error = self.error or error

    def discard(self) -> None:
        """Close, and remove the file: nothing was run."""
        self.close()
        os.unlink(self.path)

    def _make_room(self) -> None:
        try:
            if not stat.S_ISREG(os.lstat(self.path).st_mode):
                raise InvalidOptionsError(f"{self.path}: expected a file or nothing, found something else")
            os.unlink(self.path)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise InvalidOptionsError(f"{self.path}: cannot be written: {_reason(error)}") from error


def new_logs(
    first: str | os.PathLike[str] | None, second: str | os.PathLike[str] | None, *, force: bool = False
) -> tuple[Log | None, Log | None]:
    """Two logs, or none in place of None: both are made, or neither. Raises InvalidOptionsError."""
    if first is not None and second is not None and os.path.abspath(first) == os.path.abspath(second):
        raise InvalidOptionsError(f"{os.fsdecode(first)}: expected a file for each pipe, found the same for both")
    made = None if first is None else Log(first, force=force)
    try:
        return made, None if second is None else Log(second, force=force)
    except InvalidOptionsError:
        if made is not None:
            made.discard()
        raise


class Spool:
    """The bytes of one pipe. One thread calls `write` and `end`; readers, in any thread, come from `reader()`.

    `written`: bytes so far. `lost`: bytes that were in no memory and on no disk when a reader wanted them. `tail`: the
    last 4 KiB.
    """

    def __init__(self, log: Log | None = None) -> None:
        self.log = log
        self.written = 0
        self.lost = 0
        self.over = False
        self._window = bytearray()  # the newest bytes: up to `written`
        self._overflow: IO[bytes] | None = None  # bytes before the window that are in no log
        self._overflow_at = 0  # where in the pipe that file begins
        self._overflow_end = 0
        self._refused = False  # the disk would not take more of them
        self._closed = False
        self._readers: weakref.WeakSet[Reader] = weakref.WeakSet()
        self._listeners: list[Callable[[], None]] = []
        self._changed = threading.Condition()

    @property
    def tail(self) -> bytes:
        """The last 4 KiB."""
        with self._changed:
            return bytes(self._window[-4096:])

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this from the writer's thread after more bytes, and at the end."""
        with self._changed:
            self._listeners.append(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        """No longer."""
        with self._changed:
            if listener in self._listeners:
                self._listeners.remove(listener)

    def write(self, data: bytes) -> None:
        """Take bytes in. Raises nothing, and waits for nobody but the disk."""
        if self.log is not None:
            self.log.write(data)
        with self._changed:
            self._window += data
            self.written += len(data)
            if len(self._window) > WINDOW:
                self._shrink(len(self._window) - WINDOW // 2)
        self._tell()

    def end(self) -> None:
        """There is no more."""
        with self._changed:
            self.over = True
        self._tell()

    def reader(self, at: int | None = None) -> Reader:
        """A reader from that byte on; from the next byte to come where None."""
        with self._changed:
            made = Reader(self, self.written if at is None else at)
            self._readers.add(made)
        return made

    def leave(self, reader: Reader) -> None:
        """Keep nothing more for that reader."""
        with self._changed:
            self._readers.discard(reader)

    def close(self) -> None:
        """Let go of memory and files. Readers are at their end."""
        with self._changed:
            self.over = self._closed = True
            if self._overflow is not None:
                self._overflow.close()
                self._overflow = None
            self._readers.clear()
            self._changed.notify_all()
        if self.log is not None:
            self.log.close()

    def _tell(self) -> None:
        with self._changed:
            self._changed.notify_all()
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def _shrink(self, count: int) -> None:
        """Move the oldest bytes of the window to where they can be read from later, if anybody may still want them."""
        begin = self.written - len(self._window)
        wanted = min((reader.at for reader in self._readers), default=self.written)
        if wanted >= begin and self._overflow is not None:  # everybody has caught up: the file begins anew
            self._overflow.truncate(0)
            self._overflow_end = self._overflow_at = 0
            self._refused = False
        in_log = self.log.size if self.log is not None else 0
        first = max(wanted, in_log, begin)
        if first < begin + count and not self._refused:
            self._keep(first, bytes(self._window[first - begin : count]))
        del self._window[:count]

    def _keep(self, at: int, data: bytes) -> None:
        try:
            if self._overflow is None:
                self._overflow = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  it lives as long as the spool
            if self._overflow_end != at:  # nobody wants what is in the file, or nothing is
                self._overflow.truncate(0)
                self._overflow.seek(0)
                self._overflow_at = self._overflow_end = at
            view = memoryview(data)
            while view:
                done = self._overflow.write(view) or 0
                self._overflow_end += done
                view = view[done:]
        except OSError:
            self._refused = True  # the reader that comes to the hole says so

    def take(self, reader: Reader) -> bytes:
        """The next bytes for a reader; empty where there are none now. Raises BytesLost, once for each hole."""
        with self._changed:
            begin = self.written - len(self._window)
            at = reader.at
            if self._closed:
                return b""
            if at >= begin:
                data = bytes(self._window[at - begin : at - begin + PIECE])
            elif self.log is not None and at < self.log.size:
                data = self.log.read(at, min(PIECE, self.log.size - at, begin - at))
            elif self._overflow is not None and self._overflow_at <= at < self._overflow_end:
                end = min(self._overflow_end, begin)
                data = _read_at(self._overflow.fileno(), at - self._overflow_at, min(PIECE, end - at))
            else:
                data = b""
            if not data and at < begin:
                there = self._overflow_at if self._overflow is not None and self._overflow_at > at else begin
                reader.at = min(there, begin)
                self.lost += reader.at - at
                raise BytesLost(reader.at - at)
            reader.at = at + len(data)
            return data

    def ended_before(self, at: int) -> bool:
        """Whether nothing from `at` on can be read, now or later."""
        return self._closed or (self.over and at >= self.written)

    def wait(self, at: int, timeout: float | None) -> bool:
        """Wait until there are bytes past `at`, or no more can come: True; False when the time is over."""
        with self._changed:
            return self._changed.wait_for(lambda: self.written > at or self.over, timeout)


class Reader:
    """A place in a spool. `at`: the byte it reads next. What nobody may read any more is not kept."""

    def __init__(self, spool: Spool, at: int) -> None:
        self.at = at
        self._spool = spool

    def take(self) -> bytes:
        """The next bytes, at most `PIECE`; empty where there are none now. Raises BytesLost, and then goes on."""
        return self._spool.take(self)

    def read(self, timeout: float | None = None) -> bytes:
        """The next bytes, waiting for them; empty at the end, and when the time (in seconds) is over."""
        until = None if timeout is None else time.monotonic() + timeout
        while not (data := self.take()) and not self.over:
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                break
            self._spool.wait(self.at, left)
        return data

    def leave(self) -> None:
        """Nothing is kept for this reader any more."""
        self._spool.leave(self)

    @property
    def over(self) -> bool:
        """All has been read, and no more can come; or the spool was closed."""
        return self._spool.ended_before(self.at)


def _read_at(file: int, at: int, size: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(file, size, at)
    before = os.lseek(file, 0, os.SEEK_CUR)  # under the lock of its owner: never in the middle of a write
    try:
        os.lseek(file, at, os.SEEK_SET)
        return os.read(file, size)
    finally:
        os.lseek(file, before, os.SEEK_SET)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__
