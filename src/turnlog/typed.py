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
from typing import Annotated, Any, Generic, TypeVar, Union

import msgspec

from .contract import MAX_U64
from .errors import FaultKind, Problem
from .jsontext import NotANumber

T = TypeVar("T", bound=msgspec.Struct)
P = TypeVar("P")

Natural = Annotated[int, msgspec.Meta(ge=0)]
"""A counter: a JSON integer 0..2^64-1. The upper end is checked where counts are made (`fit` checks both)."""

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
        names = ["a non-negative integer" if self.natural and t is int else _NAMES[t] for t in _ORDER if t in self.scalars]
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

    def __init__(self, struct: type[T]) -> None:
        self.struct = struct
        self.plan = _plan(struct)
        self.fast: Callable[[bytes], T] = msgspec.json.Decoder(struct).decode
        """Bytes to struct, or msgspec.DecodeError / RecursionError: then ask the reference decoder and `fit`."""

    def fit(self, value: dict[str, Any], *, strict: bool = False) -> Fitted[T]:
        """Fit a plain object to the struct. Never raises for what the object holds.

        strict: 1e3 is no integer. A field that does not fit is None in the struct and a Problem beside it.
        """
        fitting = _Fitting(strict)
        record = fitting.object(self.plan, value, "$")
        if not fitting.word_seen and (path := _word_in(value, "$")):
            fitting.problems.append(Problem(FaultKind.NON_FINITE, path, "a number", "not a number"))
        return Fitted(record, fitting.problems, fitting.repairs)


class Part(Generic[P]):
    """A value kept as raw JSON text inside a record and typed later: the same two ways."""

    def __init__(self, hint: Any) -> None:
        self.fast: Callable[[bytes | msgspec.Raw], P] = msgspec.json.Decoder(hint).decode
        self.shape = _shape(hint)

    def fit(self, raw: bytes | msgspec.Raw, path: str, *, strict: bool = False) -> tuple[P | None, list[Problem], list[str]]:
        """The typed value, the problems and the repairs. Never raises for what the text holds."""
        fitting = _Fitting(strict)
        value = fitting.value(self.shape, reference(bytes(raw)), path)
        return value, fitting.problems, fitting.repairs


def reference(raw: bytes) -> Any:
    """Any JSON value whose text has been found good before; lone surrogates are kept."""
    return json.loads(raw.decode())


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
                if found is None:
                    if not required:
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
            return msgspec.Raw(json.dumps(self.plain(found, path), separators=(",", ":")).encode())
        kind = type(found)
        if kind is float and _wants_integer(shape) and found.is_integer() and not self.strict:
            self.repairs.append("whole_number")  # 1e3 or 5.0 where an integer belongs is that integer
            found, kind = int(found), int
        if kind is int and int not in shape.scalars and float in shape.scalars:
            return float(found) if abs(found) < _FLOAT_LIMIT else self.wrong(shape, path, "an integer out of range")
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
            return self.wrong(shape, path, "not a number", FaultKind.NON_FINITE)
        return self.wrong(shape, path, found_name(found))

    def wrong(self, shape: _Shape, path: str, found: str, kind: FaultKind = FaultKind.INVALID_FIELD) -> None:
        self.problems.append(Problem(kind, path, shape.expected(), found))

    def plain(self, found: Any, path: str) -> Any:
        """A value read as it is; numbers that are none become None, each a problem. Iterative: it may be deep."""
        if not isinstance(found, dict | list | NotANumber):
            return found
        holder = [found]
        work: list[tuple[Any, Any, str]] = [(holder, 0, path)]
        while work:
            parent, key, where = work.pop()
            value = parent[key]
            if isinstance(value, NotANumber):
                parent[key] = None
                self.word_seen = self.word_seen or value.word
                self.problems.append(Problem(FaultKind.NON_FINITE, where, "a number", "not a number"))
            elif isinstance(value, dict):
                work.extend((value, k, where) for k, v in value.items() if isinstance(v, dict | list | NotANumber))
            elif isinstance(value, list):
                work.extend((value, n, where) for n, v in enumerate(value) if isinstance(v, dict | list | NotANumber))
        return holder[0]


_FLOAT_LIMIT = 1 << 1023


def _wants_integer(shape: _Shape) -> bool:
    return int in shape.scalars and float not in shape.scalars


def found_name(value: Any) -> str:
    """The type of a JSON value as an error sentence says it: never the value."""
    if value is None:
        return "null"
    return _NAMES.get(type(value), "not a number")


def _word_in(value: Any, path: str) -> str | None:
    """Where a bare word that is no JSON (NaN, Infinity) stands in a part of the record that nobody reads."""
    work = [value]
    while work:
        part = work.pop()
        if isinstance(part, NotANumber):
            if part.word:
                return path
        elif isinstance(part, dict):
            work.extend(part.values())
        elif isinstance(part, list):
            work.extend(part)
    return None
