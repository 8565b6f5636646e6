"""A JSON value to the typed record of a format, in two ways that agree.

The fast way is msgspec's: bytes to struct in one pass, unread keys skipped unparsed. It can only say yes or no. The
reference way starts from the plain value, fits it to the same struct field by field, and says for each field that does
not fit where it is, what was expected and which type was found; such a field is None (unknown) in the result.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar, Union

import msgspec

from .contract import MAX_U64
from .errors import FaultKind, Problem
from .jsontext import NotANumber, marked_value_of

T = TypeVar("T", bound=msgspec.Struct)
P = TypeVar("P")

Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A counter: a JSON integer 0..2^64-1. The fast way takes no greater bound than 2^63-1 and says no to the rest, which
the reference way then looks at."""

ABSENT = msgspec.Raw(b"")
"""The default of a field that is kept as raw JSON text: nothing was there."""

_NAMES: dict[type, str] = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "an array",
    dict: "an object",
}


class _Shape:
    """What may stand in one place: scalar types, an object of a struct type, an array of a shape, or anything."""

    __slots__ = ("any", "item", "natural", "raw", "scalars", "struct", "table")

    def __init__(self) -> None:
        self.any = False
        self.raw = False
        self.natural = False
        self.scalars: set[type] = set()
        self.struct: _Plan | None = None
        self.item: _Shape | None = None
        self.table = False

    def expected(self) -> str:
        names = [
            "a non-negative integer" if self.natural and t is int else _NAMES[t] for t in _ORDER if t in self.scalars
        ]
        if self.item:
            names.append("an array")
        if self.struct or self.table:
            names.append("an object")
        return " or ".join(names)


_ORDER: tuple[type, ...] = (str, bool, int, float)


class _Plan:
    """How to fill one struct from an object: (key, attribute, shape, required) of each field."""

    __slots__ = ("fields", "type")

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        self.type = struct
        self.fields: list[tuple[str, str, _Shape, bool]] = []


_PLANS: dict[type, _Plan] = {}


def _plan(struct: type[msgspec.Struct]) -> _Plan:
    plan = _PLANS.get(struct)
    if plan is None:
        plan = _PLANS[struct] = _Plan(struct)
        hints = typing.get_type_hints(struct, include_extras=True)
        for field in msgspec.structs.fields(struct):
            plan.fields.append((field.encode_name, field.name, _shape(hints[field.name]), field.required))
    return plan


def _shape(hint: Any) -> _Shape:
    shape = _Shape()
    _widen(shape, hint)
    return shape


def _widen(shape: _Shape, hint: Any) -> None:
    origin = typing.get_origin(hint)
    if origin in (Union, types.UnionType):
        for part in typing.get_args(hint):
            _widen(shape, part)
    elif origin is Annotated:
        shape.natural = True
        _widen(shape, typing.get_args(hint)[0])
    elif hint is Any:
        shape.any = True
    elif origin is list:
        shape.item = _shape(typing.get_args(hint)[0])
    elif origin is dict:
        shape.table = True
    elif hint is type(None):
        pass
    elif hint is msgspec.Raw:
        shape.raw = True
    elif isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        shape.struct = _plan(hint)
    elif hint in _NAMES:
        shape.scalars.add(hint)
    else:
        raise TypeError(f"a record's field cannot be of type {hint!r}")


class Fitted(msgspec.Struct, Generic[T]):
    """A record read the reference way: the struct, what did not fit, and the harmless mendings by name."""

    record: T
    problems: list[Problem]
    repairs: list[str]


class Schema(Generic[T]):
    """One struct type, read both ways."""

    def __init__(
        self,
        struct: type[T],
        *,
        usual: type[msgspec.Struct] | None = None,
        of: frozenset[str] = frozenset(),
        roles: frozenset[str] = frozenset(),
    ) -> None:
        """struct: the record of any type. usual: a smaller struct, with a part of its fields, that every record is read
        as but those of the types `of` and those whose `message` has one of the `roles`: most records need fewer."""
        self.struct = struct
        self.usual = usual or struct
        self.of = of
        self.roles = roles
        self.whole: Callable[[bytes | memoryview], T] = msgspec.json.Decoder(struct).decode
        """Bytes to the struct, or msgspec.DecodeError / RecursionError: then ask the reference decoder and `fit`."""
        self.first: Callable[[bytes | memoryview], Any] = msgspec.json.Decoder(usual or struct).decode
        """Bytes to the usual struct: the first look at a record. One that is `large` is to be read `whole`."""

    def fast(self, raw: bytes | memoryview) -> T:
        """The fast way as one call."""
        record: T = self.first(raw)
        kind, message = getattr(record, "type", None), getattr(record, "message", None)
        return self.whole(raw) if self._is_large(kind, getattr(message, "role", None)) else record

    def _is_large(self, kind: Any, role: Any) -> bool:
        return (isinstance(kind, str) and kind in self.of) or (isinstance(role, str) and role in self.roles)

    def fit(self, value: dict[str, Any], *, strict: bool = False) -> Fitted[T]:
        """Fit a plain object to the struct. Never raises for what the object holds.

        strict: 1e3 is no integer. A field that does not fit is None in the struct and a Problem beside it. A bare NaN
        in a part that nobody reads is a problem of the whole record ("$"): it is no JSON. `value` is used up.
        """
        fitting = _Fitting(strict)
        message = value.get("message")
        large = self._is_large(value.get("type"), message.get("role") if isinstance(message, dict) else None)
        record = fitting.object(_plan(self.struct if large else self.usual), value, "$")
        if not fitting.word_seen and _word_in(value):
            fitting.problems.append(Problem(FaultKind.NON_FINITE, "$", "a number", "not a number"))
        return Fitted(record, fitting.problems, fitting.repairs)


class Part(Generic[P]):
    """A value kept as raw JSON text inside a record and typed later: the same two ways."""

    def __init__(self, hint: Any) -> None:
        self.fast: Callable[[bytes | msgspec.Raw], P] = msgspec.json.Decoder(hint).decode
        self.hint = hint

    @cached_property
    def shape(self) -> _Shape:
        """Made when a value first has to be fitted: most never have to, and start-up is felt."""
        return _shape(self.hint)

    def fit(
        self, raw: bytes | msgspec.Raw, path: str, *, strict: bool = False
    ) -> tuple[P | None, list[Problem], list[str]]:
        """The typed value, the problems and the repairs, for a text found good when its record was read. Raises only
        TextError, with too_deep."""
        fitting = _Fitting(strict)
        value = fitting.value(self.shape, marked_value_of(bytes(raw)), path)
        return value, fitting.problems, fitting.repairs


class _Fitting:
    """One fitting under way: gathers problems and repairs."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.problems: list[Problem] = []
        self.repairs: list[str] = []
        self.word_seen = False

    def object(self, plan: _Plan, value: dict[str, Any], path: str) -> Any:
        filled: dict[str, Any] = {}
        for key, name, shape, required in plan.fields:
            if key in value:
                found = value[key]
                if found is None and not required and not shape.raw:
                    filled[name] = None
                    continue
                fitted = self.value(shape, found, f"{path}.{key}")
            elif not required:
                continue
            else:
                self.problems.append(Problem(FaultKind.MISSING_FIELD, f"{path}.{key}", shape.expected(), "nothing"))
                fitted = None
            filled[name] = fitted
        return plan.type(**filled)

    def value(self, shape: _Shape, found: Any, path: str) -> Any:
        if shape.any:
            return self.plain(found, path)
        if shape.raw:
            return msgspec.Raw(self.text_of(found, path))
        kind = type(found)
        if kind is float and _wants_integer(shape) and found.is_integer() and not self.strict:
            self.repairs.append("whole_number")  # 1e3 or 5.0 where an integer belongs is that integer
            found, kind = int(found), int
        if kind is int and int not in shape.scalars and float in shape.scalars:
            try:
                return float(found)
            except OverflowError:
                return self.wrong(shape, path, "an integer out of range")
        if kind in shape.scalars:
            if kind is int and shape.natural and not 0 <= found <= MAX_U64:
                return self.wrong(shape, path, "a negative integer" if found < 0 else "an integer over 64 bits")
            return found
        if kind is list and shape.item:
            item = shape.item
            return [self.value(item, part, f"{path}[{n}]") for n, part in enumerate(found)]
        if kind is dict and shape.struct:
            return self.object(shape.struct, found, path)
        if kind is dict and shape.table:
            return self.plain(found, path)
        if kind is NotANumber:
            self.word_seen = self.word_seen or found.word
            return self.wrong(
                shape, path, found.found, FaultKind.INVALID_FIELD if found.finite else FaultKind.NON_FINITE
            )
        return self.wrong(shape, path, found_name(found))

    def wrong(self, shape: _Shape, path: str, found: str, kind: FaultKind = FaultKind.INVALID_FIELD) -> None:
        self.problems.append(Problem(kind, path, shape.expected(), found))

    def text_of(self, found: Any, path: str) -> bytes:
        """The JSON text of a value that the fast way keeps unread: there a number out of range is no problem before
        somebody asks for it, so it stays one in the text."""
        text = json.dumps(self.plain(found, path, unread=True), separators=(",", ":"))
        for mark, number in _OUT_OF_RANGE.items():
            text = text.replace(f'"{mark}"', number)
        return text.encode()

    def plain(self, found: Any, path: str, *, unread: bool = False) -> Any:
        """A value read as it is; numbers that cannot be had become None, each a problem (of unread ones only the bare
        words, which are no JSON). Iterative: it may be deep."""
        if not isinstance(found, dict | list | NotANumber):
            return found
        holder = [found]
        work: list[tuple[Any, Any]] = [(holder, 0)]
        while work:
            parent, key = work.pop()
            value = parent[key]
            if isinstance(value, NotANumber):
                self.word_seen = self.word_seen or value.word
                if unread and not value.word:
                    parent[key] = _LONG_MARK if value.finite else _GREAT_MARK
                else:
                    parent[key] = None
                    kind = FaultKind.INVALID_FIELD if value.finite else FaultKind.NON_FINITE
                    self.problems.append(Problem(kind, path, "a number", value.found))
            elif isinstance(value, dict):
                work += [(value, k) for k, v in value.items() if isinstance(v, dict | list | NotANumber)]
            elif isinstance(value, list):
                work += [(value, n) for n, v in enumerate(value) if isinstance(v, dict | list | NotANumber)]
        return holder[0]


# Stand-ins for numbers that no Python value writes back. A text that holds one already only loses a string it made up.
_GREAT_MARK = "turnlog: a number out of range"
_LONG_MARK = "turnlog: an integer out of range"
_OUT_OF_RANGE = {_GREAT_MARK: "1e999", _LONG_MARK: "9" * 5000}


def _wants_integer(shape: _Shape) -> bool:
    return int in shape.scalars and float not in shape.scalars


def found_name(value: Any) -> str:
    """The type of a JSON value as an error sentence says it: never the value."""
    if value is None:
        return "null"
    if isinstance(value, NotANumber):
        return value.found
    return _NAMES.get(type(value), "another value")


def raw_name(raw: bytes) -> str:
    """The same for a value that is kept as JSON text: its first byte tells."""
    return _BY_BEGINNING.get(raw[:1], "a number")


_BY_BEGINNING = {
    b'"': "a string",
    b"{": "an object",
    b"[": "an array",
    b"t": "a boolean",
    b"f": "a boolean",
    b"n": "null",
}


def _word_in(value: Any) -> bool:
    """Whether a bare word that is no JSON (NaN, Infinity) stands anywhere in the record."""
    work = [value]
    while work:
        part = work.pop()
        if isinstance(part, NotANumber):
            if part.word:
                return True
        elif isinstance(part, dict):
            work.extend(part.values())
        elif isinstance(part, list):
            work.extend(part)
    return False
