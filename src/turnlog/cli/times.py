"""Times on the command line: a day or a moment, in the reader's zone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

import click

from ..ledger.zones import zone
from .where import timezone_option


def time_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--since`, `--until` and `--timezone`, the three as the command's `since`, `until` (aware) and `timezone`."""

    @wraps(command)
    def called(*args: Any, since: str | None, until: str | None, timezone: str | None, **values: Any) -> Any:
        place, _ = zone(timezone)
        begin = None if since is None else moment_of(since, place, "--since")
        end = None if until is None else moment_of(until, place, "--until", end=True)
        return command(*args, since=begin, until=end, timezone=timezone, **values)

    for option in (
        timezone_option,
        click.option(
            "--until", metavar="TIME", help="Up to that day, itself included (2026-11-30), or up to that moment."
        ),
        click.option("--since", metavar="TIME", help="From that day (2026-11-01) or moment (2026-11-01T12:00) on."),
    ):
        called = option(called)
    return called


def moment_of(word: str, place: Any, option: str, *, end: bool = False) -> datetime:
    """A day (its begin; with `end` its end) or a moment; without an offset it is of that zone. Raises UsageError."""
    try:
        at = datetime.fromisoformat(word)
        if len(word) in (8, 10) and end:  # 20261130 or 2026-11-30
            at += timedelta(days=1)
    except (ValueError, OverflowError):
        raise click.UsageError(f"{option}: expected a day such as 2026-11-30 or a moment, found {word!r}") from None
    return at if at.tzinfo is not None else at.replace(tzinfo=place)
