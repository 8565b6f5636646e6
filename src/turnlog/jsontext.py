"""One record's bytes to one JSON value.

The reference decoder is the standard library's, made strict: NaN, Infinity and numbers that are no finite double come
back as `NotANumber` marks for the caller to refuse or report, depth and over-long integers are caught. A faster decoder
may say yes before it is asked; its no counts for nothing. Lone surrogates are kept as written.

Depth: `MAX_DEPTH` levels always pass, however deep the caller's own stack is. Deeper ones pass or are faulted as the
interpreter's own recursion limit has it (about 1,000 on CPython 3.11, more later); 100,000 levels are always a fault,
never a crash.
"""

from __future__ import annotations

import json
import re
from typing import Any

from .errors import FaultKind

MAX_DEPTH = 500
"""Levels of nesting that are always read. Tool input of ten levels is usual; serde_json stops at 127."""


class NotANumber:
    """A number that cannot be had: NaN, Infinity, 1e400, or an integer of thousands of digits. `word`: a bare word
    that is no JSON. `found`: what it is, as an error sentence says it; only an integer is finite."""

    __slots__ = ("finite", "found", "word")

    def __init__(self, found: str, *, word: bool = False, finite: bool = False) -> None:
        self.found = found
        self.word = word
        self.finite = finite


_WORD = NotANumber("not a number", word=True)
_TOO_GREAT = NotANumber("a number out of range")
_TOO_LONG = NotANumber("an integer out of range", finite=True)


class TextError(Exception):
    """Why a record's text is no JSON object. Internal to reading: the parser turns it into a fault."""

    def __init__(self, kind: FaultKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


def _float(text: str) -> Any:
    value = float(text)
    return value if value - value == 0 else _TOO_GREAT


def _int(text: str) -> Any:
    try:
        return int(text)
    except ValueError:  # more digits than the interpreter turns into a number (4300): quadratic work
        return _TOO_LONG


def _constant(_: str) -> Any:
    return _WORD


_DECODER = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_constant)
_LENIENT = json.JSONDecoder(parse_float=lambda t: _finite(_float(t)), parse_int=lambda t: _finite(_int(t)))
_SPACE = " \t\n\r"


def _finite(value: Any) -> Any:
    return None if value.__class__ is NotANumber else value


def decode(text: str) -> dict[str, Any]:
    """The reference decoder: the JSON object that is the whole text (white space around it aside).

    Raises TextError with invalid_json, too_deep or not_an_object. NaN and its like come back as NotANumber.
    """
    begin = len(text) - len(text.lstrip(_SPACE))
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except RecursionError:
        try:
            value, end = _deep(text, begin, _DECODER)
        except ValueError:
            raise TextError(FaultKind.INVALID_JSON) from None
    except ValueError:
        raise TextError(FaultKind.INVALID_JSON) from None
    if text[end:].strip(_SPACE):
        raise TextError(FaultKind.INVALID_JSON)
    if not isinstance(value, dict):
        raise TextError(FaultKind.NOT_AN_OBJECT)
    return value


def value_of(data: bytes) -> Any:
    """The value of a JSON text that was found good when its record was read. Numbers that cannot be had are None."""
    text = data.decode()
    try:
        return _LENIENT.decode(text)
    except RecursionError:
        return _deep(text, len(text) - len(text.lstrip(_SPACE)), _LENIENT, limit=len(text))[0]


def marked_value_of(data: bytes) -> Any:
    """The same, with NotANumber in place of numbers that cannot be had. Raises TextError with too_deep."""
    text = data.decode()
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return _deep(text, len(text) - len(text.lstrip(_SPACE)), _DECODER)[0]


def _deep(text: str, at: int, decoder: json.JSONDecoder, *, limit: int = MAX_DEPTH) -> tuple[Any, int]:
    """Any value from `at` on, and its end, with a list for a stack. Slow, and asked only where the interpreter's stack
    was too short. Raises TextError with too_deep past `limit` levels, ValueError for what is no JSON."""
    stack: list[tuple[Any, str | None]] = []  # open containers, and the key that the value under way gets
    holder: Any = None
    key: str | None = None
    while True:
        at = _past_space(text, at)
        mark = text[at : at + 1]
        if mark in ("{", "["):
            if len(stack) >= limit:
                raise TextError(FaultKind.TOO_DEEP)
            stack.append((holder, key))
            holder, at = {} if mark == "{" else [], _past_space(text, at + 1)
            if text[at : at + 1] != "}" if mark == "{" else text[at : at + 1] != "]":
                key, at = _deep_key(text, at) if mark == "{" else (None, at)
                continue
            value: Any = None  # an empty container: closed below
        else:
            try:
                value, at = decoder.scan_once(text, at)  # type: ignore[attr-defined]
            except StopIteration:
                raise ValueError from None
            if not stack:
                return value, at
            _put(holder, key, value)
            at = _past_space(text, at)
        while True:
            mark = text[at : at + 1]
            if mark == ",":
                key, at = _deep_key(text, _past_space(text, at + 1)) if holder.__class__ is dict else (None, at + 1)
                break
            if mark != ("}" if holder.__class__ is dict else "]"):
                raise ValueError
            value, at = holder, at + 1
            holder, key = stack.pop()
            if not stack:
                return value, at
            _put(holder, key, value)
            at = _past_space(text, at)


def _past_space(text: str, at: int) -> int:
    while text[at : at + 1] in _SPACES:
        at += 1
    return at


_SPACES = frozenset(_SPACE)


def _deep_key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise ValueError
    key, at = json.decoder.scanstring(text, at + 1, True)  # type: ignore[attr-defined]
    at = _past_space(text, at)
    if text[at : at + 1] != ":":
        raise ValueError
    return key, at + 1


def _put(holder: Any, key: str | None, value: Any) -> None:
    if key is None:
        holder.append(value)
    else:
        holder[key] = value


def object_end(text: str, begin: int) -> tuple[int | None, int]:
    """Where the object that begins at `begin` ends (None: no whole object begins there), and how far the search
    looked, so that a caller can bound its work. Raises nothing."""
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except RecursionError:
        return None, begin + _DEEP_LOOK
    except json.JSONDecodeError as error:
        # A string that never ends is told by where it begins, but it was looked at to the end.
        return None, len(text) if text[error.pos : error.pos + 1] == '"' else max(error.pos, begin)
    except ValueError:
        return None, len(text)
    return (end if isinstance(value, dict) else None), end


_DEEP_LOOK = 1 << 16
"""What a search that ended in too deep nesting is charged, in characters."""


def is_utf8(data: bytes | memoryview) -> bool:
    """Whether all of `data` is UTF-8. Long records are looked at in pieces, so that no second copy of them is made."""
    if len(data) <= _PIECE:
        try:
            str(data, "utf-8")
        except UnicodeDecodeError:
            return False
        return True
    view = memoryview(data)
    begin = 0
    while begin < len(data):
        end = min(begin + _PIECE, len(data))
        # A piece never ends inside a character: step back over at most three continuation bytes and their lead byte.
        if end < len(data):
            back = end
            while back > end - 4 and view[back] & 0xC0 == 0x80:
                back -= 1
            end = max(back, begin + 1)  # four continuation bytes are no character: go on, and be told so
        try:
            str(view[begin:end], "utf-8")
        except UnicodeDecodeError:
            return False
        begin = end
    return True


_PIECE = 1 << 14
"""Bytes looked at together: a wide character anywhere makes the decoder's copy four times as large, and a copy that stays
in the processor's cache costs a fifth less than one of a whole chunk (and a copy of a long record is never made)."""

_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"')
_STRING_BEGUN = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = re.compile(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?(?:(?<=[0-9])[eE][+-]?[0-9]*)?)?\Z")
_WORDS = (b"true", b"false", b"null")
_BLANK = b" \t\r\n"


def is_cut(data: bytes) -> bool:
    """Whether `data` is a proper prefix of a JSON value: cut off, and some continuation would make it whole.

    Our own scanner over the bytes; no decoder's error text is read. A cut inside a multi-byte character is a prefix
    too. A text that is whole already is none, nor is one that no continuation could mend, nor one with NUL bytes. A
    bare number at the end counts as whole. Nesting is followed with a list, so depth cannot crash it.
    """
    mended = _with_whole_character(data)
    if mended is None:
        return False
    data = mended
    stack: list[int] = []  # open brackets, as bytes
    want = _VALUE
    at = 0
    size = len(data)
    while True:
        while at < size and data[at] in _BLANK:
            at += 1
        if at == size:
            return want != _END
        byte = data[at]
        if want == _END:
            return False
        if want in (_VALUE, _VALUE_OR_CLOSE):
            if byte in b"{[":
                stack.append(byte)
                want = _KEY_OR_CLOSE if byte == 0x7B else _VALUE_OR_CLOSE
                at += 1
                continue
            if byte == 0x5D and want == _VALUE_OR_CLOSE:
                stack.pop()
                at += 1
            else:
                end = _scalar(data, at)
                if end is None:
                    return False
                if end < 0:
                    return True
                at = end
            want = _after(stack)
        elif want in (_KEY, _KEY_OR_CLOSE):
            if byte == 0x7D and want == _KEY_OR_CLOSE:
                stack.pop()
                at += 1
                want = _after(stack)
                continue
            found = _STRING.match(data, at) if byte == 0x22 else None
            if found is None:
                return byte == 0x22 and _STRING_BEGUN.match(data, at) is not None
            at = found.end()
            want = _COLON
        elif want == _COLON:
            if byte != 0x3A:
                return False
            at += 1
            want = _VALUE
        else:  # a comma, or the bracket that closes
            at += 1
            if byte == 0x2C:
                want = _KEY if stack[-1] == 0x7B else _VALUE
            elif byte == (0x7D if stack[-1] == 0x7B else 0x5D):
                stack.pop()
                want = _after(stack)
            else:
                return False


_VALUE, _VALUE_OR_CLOSE, _KEY, _KEY_OR_CLOSE, _COLON, _COMMA, _END = range(7)


def _after(stack: list[int]) -> int:
    return _COMMA if stack else _END


def _scalar(data: bytes, at: int) -> int | None:
    """End of the string, number or word at `at`; -1 if it is cut off there; None if it is none."""
    byte = data[at]
    if byte == 0x22:
        found = _STRING.match(data, at)
        if found:
            return found.end()
        return -1 if _STRING_BEGUN.match(data, at) else None
    for word in _WORDS:
        if data.startswith(word, at):
            return at + len(word)
        if word.startswith(data[at : at + 5]):
            return -1
    if _NUMBER_BEGUN.match(data, at):
        found = _NUMBER.match(data, at)
        whole = found is not None and found.end() == len(data)
        return len(data) if whole else -1
    found = _NUMBER.match(data, at)
    return found.end() if found else None


def _with_whole_character(data: bytes) -> bytes | None:
    """`data` with the multi-byte character that its end cuts off made whole, so that where it stands is judged too; None
    where other bytes are no UTF-8, or none could follow."""
    try:
        str(data, "utf-8")
    except UnicodeDecodeError as error:
        cut = data[error.start :]
        if error.end < len(data) or len(cut) > 3:
            return None
        for second in (b"", b"\x80", b"\x90", b"\xa0"):
            whole = (cut + second + b"\x80\x80")[: 2 if cut[0] < 0xE0 else 3 if cut[0] < 0xF0 else 4]
            try:
                str(whole, "utf-8")
            except UnicodeDecodeError:
                continue
            return data[: error.start] + whole
        return None
    return data


def clean(text: str) -> str:
    """`text` with every lone surrogate as U+FFFD: the one function every sink passes text through."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
