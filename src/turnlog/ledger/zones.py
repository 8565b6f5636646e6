"""The reader's time zone, by name where it has one."""

from __future__ import annotations

import os
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..errors import InvalidOptionsError

_LOCALTIME = Path("/etc/localtime")


def zone(name: str | None = None) -> tuple[tzinfo, str]:
    """The zone of that IANA name, or this machine's: the zone and its name. Raises InvalidOptionsError."""
    wanted = name or os.environ.get("TZ", "").lstrip(":") or _linked()
    if wanted:
        try:
            return ZoneInfo(wanted), wanted
        except (ZoneInfoNotFoundError, ValueError, OSError):
            if name:
                raise InvalidOptionsError(
                    f"expected the name of a time zone such as Europe/Berlin, found {name!r}"
                ) from None
    local = datetime.now().astimezone().tzinfo
    assert local is not None
    return local, str(local)


def _linked() -> str | None:
    """The zone /etc/localtime points to, as most Unix systems keep it."""
    try:
        parts = _LOCALTIME.resolve().parts
    except OSError:
        return None
    return "/".join(parts[parts.index("zoneinfo") + 1 :]) if "zoneinfo" in parts else None
