"""A line that is not one JSON object, looked at once more.

In 405 real Claude Code sessions every unreadable line was two whole records glued together. What is whole in a damaged
line is read; what is not is never guessed. Only the bytes decide, and the format's word on what is a record of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from .errors import FaultKind
from .jsontext import TextError, decode, object_end

BOM = b"\xef\xbb\xbf"


class Piece(msgspec.Struct):
    """A whole object inside a line: its byte range there, and its value."""

    start: int
    end: int
    value: dict[str, Any]


class Mended(msgspec.Struct):
    """What could be read of a damaged line, the fault it is (None: a harmless mending), and the mendings' names."""

    fault: FaultKind | None
    pieces: list[Piece]
    repairs: tuple[str, ...] = ()


def mend(raw: bytes, *, terminated: bool, is_record: Callable[[dict[str, Any]], bool]) -> Mended | None:
    """Read what is whole in `raw`, which as it stands is not one JSON object in UTF-8. None: nothing is.

    An unterminated last line is never searched for a record behind a torn one: it is a cut tail.
    """
    begin, end = 0, len(raw)
    fault: FaultKind | None = None
    repairs: tuple[str, ...] = ()
    if raw.startswith(BOM):
        begin, repairs = len(BOM), ("byte_order_mark",)
    if b"\0" in raw:
        body = raw[begin:].rstrip(b"\r")
        stripped = body.strip(b"\0")
        if not stripped.strip():
            return Mended(FaultKind.NUL_BLOCK, [])
        if len(stripped) < len(body):
            fault = FaultKind.NUL_PADDING
            begin += len(body) - len(body.lstrip(b"\0"))
            end = begin + len(stripped)
    if fault or repairs:
        whole = _whole(raw, begin, end)
        if whole:
            return Mended(fault, [whole], repairs)
    bad = _replaced(raw, begin, end)
    if bad is not None:
        return Mended(FaultKind.INVALID_UTF8, [Piece(begin, end, bad)], repairs)
    return _glued(raw, begin, end, terminated, is_record)


def _whole(raw: bytes, begin: int, end: int) -> Piece | None:
    try:
        return Piece(begin, end, decode(raw[begin:end].decode()))
    except (TextError, UnicodeDecodeError):
        return None


def _replaced(raw: bytes, begin: int, end: int) -> dict[str, Any] | None:
    """The object that bytes which are no UTF-8 still spell, each with U+FFFD in its place."""
    try:
        raw[begin:end].decode()
    except UnicodeDecodeError:
        try:
            return decode(raw[begin:end].decode(errors="replace"))
        except TextError:
            return None
    return None


_ROOM = 8
"""How many times its own length a line's text may be scanned in the search for whole objects: hostile lines can make
every bracket look like a beginning. Short lines get `_ROOM_FOR_ALL` characters besides; each look costs `_LOOK_COST`."""

_ROOM_FOR_ALL = 1 << 20
_LOOK_COST = 256

_BEGIN = re.compile(rb'\{[ \t]*"')


def _glued(
    raw: bytes, begin: int, end: int, terminated: bool, is_record: Callable[[dict[str, Any]], bool]
) -> Mended | None:
    # Read as Latin-1, every byte is one character: structure is ASCII, and offsets stay byte offsets.
    text = raw[begin:end].decode("latin-1")
    spans, _ = _objects(text, 0)
    whole = spans[-1][1] if spans else 0
    if spans and not text[whole:].strip(" \t\r\n\0"):
        pieces = _pieces(raw, begin, spans)
        return Mended(FaultKind.GLUED, pieces) if pieces else None
    found: list[Piece] = []
    # A comma or bracket behind an object: a line of a list, which is no damaged record but another kind of file.
    if spans and text[whole:].lstrip(" \t")[:1] not in (",", "]"):
        found = [piece for piece in _pieces(raw, begin, spans) if is_record(piece.value)]
    if terminated:
        budget = _ROOM * len(text) + _ROOM_FOR_ALL
        for match in _BEGIN.finditer(raw, begin + whole + 1, end):
            at = match.start() - begin
            ends, looked = _objects(text, at)
            if ends and not text[ends[-1][1] :].strip(" \t\r\n\0"):
                # The rest of the line is whole objects. What stands before the last that is no record was nested.
                behind: list[Piece] = []
                for span in reversed(ends):
                    pieces = _pieces(raw, begin, [span])
                    if not pieces or not is_record(pieces[0].value):
                        break
                    behind += pieces
                found += reversed(behind)
                break
            budget -= looked - at + _LOOK_COST
            if budget < 0:
                break
    return Mended(FaultKind.STUB_GLUED, found) if found else None


def _objects(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """Ranges of the whole objects that stand back to back from `at` on, and how far the search looked."""
    spans = []
    size = len(text)
    looked = at
    while at < size and text[at] == "{":
        stop, looked = object_end(text, at)
        if stop is None:
            break
        spans.append((at, stop))
        at = stop
        while at < size and text[at] in " \t\r\0":
            at += 1
    return spans, looked


def _pieces(raw: bytes, begin: int, spans: list[tuple[int, int]]) -> list[Piece]:
    pieces = []
    for start, stop in spans:
        piece = _whole(raw, begin + start, begin + stop)
        if piece:
            pieces.append(piece)
    return pieces
