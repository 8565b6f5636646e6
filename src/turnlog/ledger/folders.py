"""Where this program keeps what can be made again."""

from __future__ import annotations

import os


def cache_folder() -> str:
    """`TURNLOG_CACHE`, else this program's folder in the user's cache folder. It need not be there."""
    given = os.environ.get("TURNLOG_CACHE")
    if given:
        return given
    import platformdirs

    return platformdirs.user_cache_dir("turnlog", appauthor=False)
