"""Values as JavaScript reads and writes them: JSON.parse, JSON.stringify and `${value}` in a template.

A value is a dict, list, str, bool, None, an int (exact in a double), a float, or UNDEFINED. Everything here follows
ECMA-262; where an engine has a limit of its own (how deep it goes) the measured one is named. Nothing recurses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any

SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f"
    "\u3000\ufeff"
)
"""What trim() takes off (WhiteSpace and LineTerminator). Python's strip() differs: it takes U+0085 and U+001C to U+001F,
and leaves U+FEFF."""

JSON_SPACE = " \t\n\r"
"""What JSON.parse passes over between two words of JSON."""

STRINGIFY_LEVELS = 4_500
JOIN_LEVELS = 3_300
"""Levels of nesting past which no engine we ran still writes: node 20, 22 and 24 end with a RangeError ("Maximum call stack
size exceeded") at 4,104 to 4,445 levels in JSON.stringify and at 3,129 to 3,298 in the joining of arrays."""

_KEPT_LEVELS = STRINGIFY_LEVELS + 10
"""Levels that are kept of a value; below them it is checked and let go: it could not be written anyhow."""


class Undefined:
    """The type of UNDEFINED: what a property is that is not there."""

    __slots__ = ()


class _Bottomless:
    """In place of a value below the last level that is kept."""

    __slots__ = ()


UNDEFINED = Undefined()
_BOTTOMLESS = _Bottomless()


class NoJsonError(ValueError):
    """JSON.parse throws a SyntaxError."""


class NoTextError(ValueError):
    """A template throws a TypeError: an object whose own `toString` is no function has no text."""


class TooDeepError(ValueError):
    """Writing throws a RangeError: the value is nested deeper than the engine's stack."""


# -- reading


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 16 else _float(text)


def _float(text: str) -> int | float:
    """A double; a whole one that is exact in it as an int, which is written the same and sooner."""
    value = float(text)
    return int(value) if -(2.0**53) < value < 2.0**53 and value.is_integer() else value


def _no_word(text: str) -> Any:
    raise NoJsonError(text)  # NaN and Infinity are Python's own


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_no_word)
_SPACES = re.compile(r"[ \t\n\r]*").match


def parse(text: str) -> Any:
    """JSON.parse(text). A duplicate key keeps its first place and has its last value. Raises NoJsonError."""
    begin = _past_space(text, 0)
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except RecursionError:
        value, end = _deep(text, begin)
    except ValueError:
        raise NoJsonError from None
    if _past_space(text, end) != len(text):
        raise NoJsonError
    return value


def _past_space(text: str, at: int) -> int:
    found = _SPACES(text, at)
    assert found is not None
    return found.end()


def _deep(text: str, at: int) -> tuple[Any, int]:
    """The value at `at`, and its end, with a list for a stack: asked where the interpreter's own was too short."""
    stack: list[tuple[Any, Any]] = []  # the containers around the one being filled, each with the key it gets there
    holder: Any = None
    key: Any = None
    below = bytearray()  # open brackets below the levels that are kept
    kept_key: Any = None
    while True:
        mark = text[at : at + 1]
        if mark in ("{", "["):
            if len(stack) < _KEPT_LEVELS:
                stack.append((holder, key))
                holder = {} if mark == "{" else []
            else:
                kept_key = kept_key if below else key
                below += mark.encode()
            at = _past_space(text, at + 1)
            if text[at : at + 1] != ("}" if mark == "{" else "]"):
                key, at = _key(text, at) if mark == "{" else (None, at)
                continue
        else:
            try:
                value, at = _DECODER.scan_once(text, at)  # type: ignore[attr-defined]
            except (StopIteration, ValueError):
                raise NoJsonError from None
            if not below:
                _put(holder, key, value)
            at = _past_space(text, at)
        while True:
            in_object = below[-1] == 0x7B if below else holder.__class__ is dict
            mark = text[at : at + 1]
            if mark == ",":
                at = _past_space(text, at + 1)
                key, at = _key(text, at) if in_object else (None, at)
                break
            if mark != ("}" if in_object else "]"):
                raise NoJsonError
            at += 1
            if below:
                below.pop()
                if not below:
                    _put(holder, kept_key, _BOTTOMLESS)
            else:
                value = holder
                holder, key = stack.pop()
                if not stack:
                    return value, at
                _put(holder, key, value)
            at = _past_space(text, at)


def _key(text: str, at: int) -> tuple[str, int]:
    """The key at `at`, and where its value begins."""
    if text[at : at + 1] != '"':
        raise NoJsonError
    try:
        key, at = _DECODER.scan_once(text, at)  # type: ignore[attr-defined]
    except ValueError:
        raise NoJsonError from None
    at = _past_space(text, at)
    if text[at : at + 1] != ":":
        raise NoJsonError
    return key, _past_space(text, at + 1)


def _put(holder: Any, key: str | None, value: Any) -> None:
    if holder.__class__ is dict:
        holder[key] = value
    else:
        holder.append(value)


# -- writing


def number(value: int | float) -> str:
    """Number::toString: the shortest digits that read back as the same double, plain from 1e-6 up to 1e21."""
    if value.__class__ is int:
        return str(value)
    if value - value != 0:
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    # Python finds the same shortest digits, but writes them out otherwise.
    mantissa, _, power = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(power or 0)  # where the point stands among the digits
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"


_LONE = re.compile("[\ud800-\udfff]")


def quoted(text: str) -> str:
    """A JSON string: lone surrogates are escaped, all else that JSON allows stands as it is."""
    if text.isascii() or _LONE.search(text) is None:
        return encode_basestring(text)
    # In pieces: one lone surrogate doubles the width of a long text, and its copies would be as wide.
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return "".join(['"', *(_LONE.sub(_escape, encode_basestring(piece)[1:-1]) for piece in pieces), '"'])


_PIECE = 1 << 16


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def stringify(value: Any) -> str:
    """JSON.stringify(value); "undefined" for UNDEFINED, as a template writes it. Raises TooDeepError."""
    out: list[str] = []
    write = out.append
    open_: list[tuple[Iterator[Any], bool]] = []  # what is left of each open container; whether it is an object
    while True:
        kind = value.__class__
        if kind is str:
            write(quoted(value))
        elif kind is dict or kind is list:
            if len(open_) >= STRINGIFY_LEVELS:
                raise TooDeepError
            is_object = kind is dict
            write("{" if is_object else "[")
            open_.append((iter(_ordered(value) if is_object else value), is_object))
        elif value is None:
            write("null")
        elif kind is bool:
            write("true" if value else "false")
        elif kind is int:
            write(str(value))
        elif kind is float:
            write(number(value) if value - value == 0 else "null")
        elif value is UNDEFINED:
            write("undefined")
        else:
            raise TooDeepError
        first = kind is dict or kind is list
        while open_:
            rest, is_object = open_[-1]
            try:
                following = next(rest)
            except StopIteration:
                write("}" if is_object else "]")
                open_.pop()
                first = False
                continue
            if not first:
                write(",")
            if is_object:
                write(quoted(following[0]))
                write(":")
                value = following[1]
            else:
                value = following
            break
        else:
            return "".join(out)


def _ordered(value: dict[str, Any]) -> Any:
    """The properties in JavaScript's order: array indexes first, ascending; the others as they were made."""
    if not any(key[:1] in _DIGITS for key in value):
        return value.items()
    indexes = sorted(int(key) for key in value if _is_index(key))
    if not indexes:
        return value.items()
    first = {str(index): value[str(index)] for index in indexes}
    return (first | value).items()


_DIGITS = frozenset("0123456789")
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}").fullmatch


def _is_index(key: str) -> bool:
    return _INDEX(key) is not None and int(key) < 2**32 - 1


def template(value: Any) -> str:
    """`${value}`. Raises NoTextError and TooDeepError."""
    if value.__class__ is not list:
        return _plain_text(value)
    out: list[str] = []
    open_: list[Iterator[Any]] = [iter(value)]
    comma = False
    while open_:
        try:
            part = next(open_[-1])
        except StopIteration:
            open_.pop()
            comma = True
            continue
        if comma:
            out.append(",")
        if part.__class__ is list:
            if len(open_) >= JOIN_LEVELS:
                raise TooDeepError
            open_.append(iter(part))
            comma = False
            continue
        comma = True
        if part is not None:
            out.append(_plain_text(part))
    return "".join(out)


def _plain_text(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if kind is dict:
        if "toString" in value:
            raise NoTextError
        return "[object Object]"
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if value is UNDEFINED:
        return "undefined"
    if value is _BOTTOMLESS:
        raise TooDeepError
    return number(value)
