"""Any value of ours as JSON bytes, whatever a transcript put into it: the one encoder of every JSON output.

Lone surrogates become U+FFFD, whole numbers of any size stay exact, and what is nested deeper than `LEVELS` is cut off
with a word in its place: a hostile record must not stop the output.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import msgspec

from ..jsontext import clean

LEVELS = 400
"""Levels of nesting that are printed: fewer than can be read (500), so that no encoder's or reader's stack ends first."""

CUT_OFF = "<nested deeper than can be printed>"

_encode = msgspec.json.Encoder().encode
_TO_64_BITS = range(-(2**63), 2**64)


def json_bytes(value: Any) -> bytes:
    """`value` (structs, dates, plain values) as JSON in UTF-8. Raises nothing for what a record can hold."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, RecursionError, OverflowError):
        return _encode(plain(value))


def for_terminal(data: bytes) -> bytes:
    """The same JSON with every control character that JSON allows inside a string, and every mark that turns the
    direction of text around, as an escape."""
    return data if data.isascii() and b"\x7f" not in data else _UNSHOWN.sub(_escape, data.decode()).encode()


_UNSHOWN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def plain(value: Any) -> Any:
    """A copy that any encoder takes. Iterative: it may be deep."""
    holder: list[Any] = [None]
    work: list[tuple[Any, Any, Any, int]] = [(value, holder, 0, 0)]
    while work:
        part, parent, key, depth = work.pop()
        if isinstance(part, msgspec.Struct):
            fields = msgspec.structs.fields(part)
            part = {f.encode_name: v for f in fields if (v := getattr(part, f.name)) is not msgspec.UNSET}
        if isinstance(part, str) and not isinstance(part, Enum):
            parent[key] = clean(part)
        elif isinstance(part, dict | list | tuple) and depth >= LEVELS:
            parent[key] = CUT_OFF
        elif isinstance(part, dict):
            copy: Any = {clean(k) if isinstance(k, str) else k: None for k in part}
            parent[key] = copy
            work.extend((v, copy, clean(k) if isinstance(k, str) else k, depth + 1) for k, v in part.items())
        elif isinstance(part, list | tuple):
            copy = [None] * len(part)
            parent[key] = copy
            work.extend((v, copy, n, depth + 1) for n, v in enumerate(part))
        elif isinstance(part, int) and part not in _TO_64_BITS:
            parent[key] = msgspec.Raw(str(part).encode())
        else:
            parent[key] = part
    return holder[0]
