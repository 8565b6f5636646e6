"""Leaves every network but loopback, for this process and all that it starts.

On Linux a network namespace of its own does it, where the kernel lets us have one (as root, or with a user namespace).
Elsewhere nothing is changed and `left()` says so; what is started then gets `closed()` for a proxy, which refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
import sys
from pathlib import Path

_NEW_USER = 0x1000_0000
_NEW_NET = 0x4000_0000
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


def left() -> bool:
    """Leave. True when nothing but loopback can be reached from here. The process must have one thread."""
    if not sys.platform.startswith("linux"):
        return False
    if interfaces() != ["lo"]:
        if not _tried():
            return False
        _leave()
    with contextlib.suppress(OSError):  # it may be up, and not ours to set
        _loopback_up()
    return interfaces() == ["lo"]


def interfaces() -> list[str]:
    """The names of this process's network interfaces, as the kernel tells them."""
    with contextlib.suppress(OSError):
        return sorted(name for _, name in socket.if_nameindex())
    return []


def closed() -> str:
    """The address of a loopback port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def _tried() -> bool:
    """Whether leaving works, found out in a child: half of it would leave this process without a user."""
    child = os.fork()
    if not child:
        done = 1
        try:
            _leave()
            done = 0
        finally:
            os._exit(done)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _leave() -> None:
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NET):
        if libc.unshare(_NEW_USER | _NEW_NET):
            raise OSError(ctypes.get_errno(), "unshare")
        own = Path("/proc/self")
        (own / "setgroups").write_text("deny", encoding="ascii")
        (own / "uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        (own / "gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _loopback_up() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        request = struct.pack("16sh22x", b"lo", 0)
        flags = struct.unpack("16sh22x", fcntl.ioctl(asked, _GET_FLAGS, request))[1]
        fcntl.ioctl(asked, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _UP))
