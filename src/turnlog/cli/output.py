"""How commands print: JSON with a schema, safe text, and whether anybody looks on."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

import msgspec

from ..jsontext import clean

# C0 and C1 controls but tab and line feed, and the marks that turn the direction of text around.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_LINES = re.compile("[\n\r\u2028\u2029\x85]")


def print_json(value: Any, *, indent: bool = True) -> None:
    """One JSON value on stdout, UTF-8 whatever the locale; lone surrogates as U+FFFD."""
    write(encoded(value, indent=indent) + b"\n")


def encoded(value: Any, *, indent: bool = False) -> bytes:
    """A value (structs, dates, plain values) as JSON bytes."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_mended(msgspec.to_builtins(value)))
    return msgspec.json.format(data, indent=2) if indent else data


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_mended(k): _mended(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(part) for part in value]
    return value


def write(data: bytes) -> None:
    """Bytes on stdout."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def safe(text: str) -> str:
    """Text of a transcript fit for a terminal: no control characters, no lone surrogates; lines and tabs stay."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", clean(text))


def one_line(text: str, width: int | None = None) -> str:
    """Text of a transcript on one line, cut to `width` characters."""
    line = " ".join(safe(_LINES.sub(" ", text)).split())
    return line if width is None or len(line) <= width else line[: max(1, width - 1)] + "…"


def home_short(path: str, home: str | None = None) -> str:
    """A path with the home as `~`."""
    home = home or os.path.expanduser("~")
    return "~" + path[len(home) :] if home and (path == home or path.startswith(home + os.sep)) else path


def note(text: str) -> None:
    """A word beside the data, on stderr."""
    print(safe(text), file=sys.stderr)


def on_terminal() -> bool:
    """Whether a person looks at stdout."""
    return sys.stdout.isatty()


def colours() -> bool:
    """Whether colour is wanted there: on a terminal, unless NO_COLOR is set or TERM is dumb."""
    return on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
