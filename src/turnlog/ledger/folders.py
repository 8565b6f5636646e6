"""Where this program keeps what can be made again. As light as `marks`."""

from __future__ import annotations

import contextlib
import os
import sys


def cache_folder() -> str:
    """Where this program keeps what can be made again: `TURNLOG_CACHE`, else its folder in the user's cache folder."""
    given = os.environ.get("TURNLOG_CACHE")
    if given:
        return given
    system: str = sys.platform
    if system == "linux":  # by the same rule as the library below, which takes longer to import than this answers
        base = os.environ.get("XDG_CACHE_HOME", "").strip()
        return os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "turnlog")
    import platformdirs

    return platformdirs.user_cache_dir("turnlog", appauthor=False)


def private_folder(path: str) -> None:
    """Make a folder that only its owner may look into, and those above it that are missing. Raises OSError."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
