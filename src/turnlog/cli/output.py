"""How commands print: JSON with a schema, safe text, and whether anybody looks on."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from ..render.plain import for_terminal, json_bytes
from ..render.text import Line, home_short, one_line, safe
from .again import ANSWER

__all__ = [
    "colours",
    "encoded",
    "home_short",
    "note",
    "on_terminal",
    "one_line",
    "print_json",
    "safe",
    "tell",
    "width_of",
    "write",
    "write_json",
]


def print_json(value: Any, *, indent: bool = True) -> None:
    """One JSON value on stdout, UTF-8 whatever the locale; lone surrogates as U+FFFD."""
    write_json(encoded(value, indent=indent) + b"\n")


def encoded(value: Any, *, indent: bool = False) -> bytes:
    """A value (structs, dates, plain values) as JSON bytes."""
    data = json_bytes(value)
    return msgspec.json.format(data, indent=2) if indent else data


def write_json(data: bytes) -> None:
    """JSON on stdout; what a terminal would obey in it is escaped where a person looks on."""
    write(for_terminal(data) if on_terminal() else data)


def write(data: bytes) -> None:
    """Bytes on stdout."""
    ANSWER.hear(data)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def tell(lines: Iterable[Line]) -> None:
    """Lines of text on stdout, made safe; tones are colours where colour is wanted, and nothing elsewhere."""
    coloured = colours()
    for line in lines:
        if coloured:
            text = "".join(_toned(safe(part), tone) for part, tone in line)
        else:
            text = "".join(safe(part) for part, _ in line)
        ANSWER.hear(f"{text.rstrip()}\n".encode(errors="replace"))
        print(text.rstrip())


_TONES: dict[str, dict[str, Any]] = {
    "strong": {"bold": True},
    "people": {"fg": "cyan"},
    "agent": {"fg": "magenta"},
    "good": {"fg": "green"},
    "trouble": {"fg": "red"},
    "quiet": {"fg": "bright_black"},
}


def _toned(text: str, tone: str) -> str:
    style = _TONES.get(tone)
    return click.style(text, **style) if style is not None and text.strip() else text


def width_of() -> int:
    """The columns of the terminal; 80 where there is none."""
    return max(40, min(shutil.get_terminal_size((80, 24)).columns, 160)) if on_terminal() else 80


def note(text: str) -> None:
    """A word beside the data, on stderr."""
    ANSWER.spoil()
    print(safe(text), file=sys.stderr)


def on_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def colours() -> bool:
    """Whether colour is wanted there: on a terminal, unless NO_COLOR is set or TERM is dumb."""
    return on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
