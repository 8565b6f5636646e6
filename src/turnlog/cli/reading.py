"""How to read: one option of the command for each field of ReadOptions, shared by every command that reads files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ..contract import CHOICES, COMMAND_RECORD_BYTES, ReadOptions
from ..model import KINDS

_UNITS = {"k": 1024, "m": 1024**2, "g": 1024**3}


def size(ctx: click.Context | None, param: click.Parameter | None, value: str | None) -> int | None:
    """A number of bytes from an option: 8388608, 8M, or `none` for no limit. Raises click.BadParameter."""
    if value is None or (word := value.strip().lower()) == "none":
        return None
    unit = _UNITS.get(word[-1:], 1)
    digits = word if unit == 1 else word[:-1]
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
        raise click.BadParameter(
            f"expected a number of bytes such as 8388608 or 8M, or none, found {value!r}", ctx, param
        )
    return int(digits) * unit


def offset(ctx: click.Context | None, param: click.Parameter | None, value: str | None) -> int | None:
    """A place in a file, from an option. Raises click.BadParameter."""
    found = size(ctx, param, value)
    if found is None and value is not None:
        raise click.BadParameter(f"expected a number of bytes, found {value!r}", ctx, param)
    return found


def _kinds(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> frozenset[str] | None:
    kinds = frozenset(word for words in value for word in words.split(",") if word)
    for word in sorted(kinds - KINDS):
        there = ", ".join(sorted(KINDS))
        raise click.BadParameter(f"no kind of event is called {word!r}; there are {there}", ctx, param)
    return kinds or None


def _choice(field: str) -> click.Choice[str]:
    return click.Choice(CHOICES[field])


# Field of ReadOptions: its option, as click takes it.
_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "max_file_bytes": click.option(
        "--max-file-bytes", callback=size, default="none", metavar="SIZE",
        help="Refuse a larger file: bytes, or 200M. Usually no limit: people have files of many GB.",
    ),
    "max_record_bytes": click.option(
        "--max-record-bytes", callback=size, default=str(COMMAND_RECORD_BYTES), metavar="SIZE",
        help="Skip longer records, each with a fault; 64M unless told otherwise, none for no limit.",
    ),
    "stop_at": click.option(
        "--stop-at", callback=offset, metavar="SIZE", help="Read exactly this many bytes from the start."
    ),
    "include": click.option(
        "--include", callback=_kinds, multiple=True, metavar="KIND,...",
        help="Only these kinds of event (faults are never left out); again for more.",
    ),
    "tail": click.option(
        "--tail", type=_choice("tail"), default="strict", show_default=True,
        help="allow-incomplete: a last line that is only cut off is no fault.",
    ),
    "repair": click.option(
        "--no-repair", "repair", flag_value=False, default=True, help="Never look a second time at a damaged line."
    ),
    "faults": click.option(
        "--faults", type=_choice("faults"), default="yield", show_default=True,
        help="raise: stop at the first line that cannot be read whole.",
    ),
    "codex_usage": click.option(
        "--codex-usage", type=_choice("codex_usage"), default="token_count", show_default=True,
        help="Which of its two usage ledgers that agent's files are read by.",
    ),
    "sha256": click.option("--sha256", is_flag=True, help="Hash the bytes that were read."),
}  # fmt: skip


def reading_options(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of ReadOptions, but for those fields; it is called with `options`."""
    fields = [field for field in _OPTIONS if field not in without]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def called(*args: Any, **values: Any) -> Any:
            said = {field: values.pop(field) for field in fields}
            return command(*args, options=ReadOptions(**said), **values)

        for field in reversed(fields):
            called = _OPTIONS[field](called)
        return called

    return decorate
