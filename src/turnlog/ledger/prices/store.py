"""The price table in the user's cache folder: read in milliseconds, made anew whenever it is not what it should be.

One file for each version of genai-prices and of our layout, with a checksum. It is written under another name and
renamed, so several processes at once see a whole one; a cache folder that cannot be written costs only time.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
import zlib
from pathlib import Path

import msgspec

from ...errors import SourceUnreadable
from ..folders import cache_folder, private_folder
from .table import LAYOUT, Table

_MAGIC = b"turnlog prices\0"
LIBRARY = "genai-prices"


class Stored(msgspec.Struct):
    """A table, and the file it is kept in; None where it could not be kept."""

    table: Table
    file: Path | None = None


def load_table(folder: Path | None = None) -> Table:
    """The prices last updated, else those the installed genai-prices came with. Uses no network; never raises for what
    the cache folder holds. Without the library, or with one of a shape that is not known, the table is empty and every
    model is unpriced."""
    return stored(folder).table


def stored(folder: Path | None = None) -> Stored:
    """The same table, with the file it is kept in."""
    version = _installed()
    nothing = Stored(Table(LAYOUT, "", None, []))
    if version is None:
        return nothing
    folder = Path(cache_folder()) if folder is None else folder
    bundled = _path(folder, version, updated=False)
    for path in (_path(folder, version, updated=True), bundled):
        kept = _read(path, version)
        if kept is not None:
            return Stored(kept, path)
    from .derive import derived

    try:
        table = derived()
    except (ImportError, AttributeError, TypeError, ValueError):
        return nothing
    return Stored(table, bundled if _write(bundled, table) else None)


def table_files(folder: Path | None = None) -> list[str]:
    """The files that say which table is in use: while none of them changes (or comes to be) it is the same, as long as
    the same genai-prices is installed."""
    version = _installed()
    folder = Path(cache_folder()) if folder is None else folder
    return [] if version is None else [str(_path(folder, version, updated=updated)) for updated in (True, False)]


def update_prices(folder: Path | None = None) -> Stored:
    """Fetch today's prices with genai-prices' own updater and keep them: the only use of the network. Raises
    SourceUnreadable where they cannot be had or kept."""
    from .derive import fetched

    table = fetched()
    folder = Path(cache_folder()) if folder is None else folder
    path = _path(folder, table.library, updated=True)
    if not _write(path, table):
        raise SourceUnreadable(str(folder), said="expected a folder that can be written to, found none")
    return Stored(table, path)


def _path(folder: Path, version: str, *, updated: bool) -> Path:
    return folder / f"prices-{LAYOUT}-{version}{'-updated' if updated else ''}.bin"


def _installed() -> str | None:
    """The version of genai-prices, without importing it: the name of the folder with its facts stands beside it."""
    from importlib.util import find_spec

    spec = find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return None
    beside = Path(spec.origin).parent.parent
    with contextlib.suppress(OSError):
        names = [
            name for name in os.listdir(beside) if name.startswith("genai_prices-") and name.endswith(".dist-info")
        ]
        if len(names) == 1:
            return names[0][len("genai_prices-") : -len(".dist-info")]
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(LIBRARY)
    except PackageNotFoundError:
        return None


def _read(path: Path, version: str) -> Table | None:
    """The table in that file; None if there is none, or it is not ours, not whole or of another version."""
    try:
        # A pipe or device under that name must not keep us waiting.
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or (hasattr(os, "getuid") and about.st_uid != os.getuid()):
                return None
            data = file.read()
    except OSError:
        return None
    head = len(_MAGIC) + 4
    body = memoryview(data)[head:]
    if data[: len(_MAGIC)] != _MAGIC or zlib.crc32(body).to_bytes(4, "big") != data[len(_MAGIC) : head]:
        return None
    try:
        table = msgspec.msgpack.decode(body, type=Table)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return table if table.layout == LAYOUT and table.library == version else None


def _write(path: Path, table: Table) -> bool:
    """Put the table there whole, for this user alone. False where that cannot be done."""
    data = _sealed(msgspec.msgpack.encode(table))
    try:
        private_folder(str(path.parent))
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".prices-", suffix=".tmp")  # made with 0600
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        return False
    return True


def _sealed(body: bytes) -> bytes:
    """The body as it stands in a file: behind our mark and its checksum."""
    return _MAGIC + zlib.crc32(body).to_bytes(4, "big") + body
