"""Work on many files, shared out over processes. What comes back is the same for any number of them, in order."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")

SHARED_FROM = 48 * 1024 * 1024
"""Bytes from which it pays to start a second process."""

MOST_JOBS = 8


def shared_out(
    work: Callable[[A], B],
    items: list[A],
    sizes: list[int],
    *,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> list[B]:
    """`work` of each item, in the order of the items. `progress` is told the size of each one done, in bytes.

    Ctrl-C is the caller's alone: the other processes do not see it, and end when they are told to.
    """
    told = progress or _silent
    if jobs is None:
        jobs = min(os.cpu_count() or 1, MOST_JOBS) if sum(sizes) >= SHARED_FROM and len(items) > 1 else 1
    if jobs < 2 or not hasattr(os, "fork"):
        done = []
        for item, size in zip(items, sizes, strict=True):
            done.append(work(item))
            told(size)
        return done
    return _in_processes(work, items, sizes, jobs, told)


def _in_processes(
    work: Callable[[A], B], items: list[A], sizes: list[int], jobs: int, told: Callable[[int], None]
) -> list[B]:
    # Imported here: it is a tenth of the start of every command, and most have little to read.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # The largest first, so that no process is left alone with a big one at the end.
    order = sorted(range(len(items)), key=lambda n: -sizes[n])
    found: dict[int, B] = {}
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork"))
    try:
        with _deaf_children():
            results = pool.map(work, [items[n] for n in order])
        for n, result in zip(order, results, strict=True):
            found[n] = result
            told(sizes[n])
    except BrokenProcessPool:  # one was killed, perhaps for want of memory: what is left is done here, one at a time
        for n in order:
            if n not in found:
                found[n] = work(items[n])
                told(sizes[n])
    except BaseException:
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [found[n] for n in range(len(items))]


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes and threads that begin in here never see Ctrl-C: it stays blocked for them. Here it only waits."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Look for garbage seldom: reading makes hundreds of thousands of small values and next to no cycle, and looking
    through them again and again takes a fifth of the time. Processes that begin in here do the same."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _silent(_: int) -> None:
    pass
