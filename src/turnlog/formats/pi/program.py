"""The reader program of Pi's documentation (`read-session.ts`, for 1.0.4): what it prints of one line of a file.

Native records as they stand: nothing is migrated, nothing repaired. Where the program stops with an exception, `Thrown` is
raised and says what it met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import FaultKind, Problem
from .javascript import UNDEFINED, NoTextError, TooDeepError, stringify, template

ABSENT = "(none)"
"""What `plain` writes for a field that is not there; the program writes `undefined`."""


class Thrown(Exception):
    """The program stops here with an exception: this is what it met."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.kind.value)
        self.problem = problem


class Words:
    """How the program writes a property into its line."""

    def text(self, holder: Any, key: str, under: str = "$") -> str:
        """`${holder.key}`. Raises Thrown."""
        return self.written(_property(holder, key), f"{under}.{key}")

    def written(self, value: Any, path: str) -> str:
        """`${value}`. Raises Thrown."""
        try:
            return template(value)
        except NoTextError:
            raise Thrown(
                Problem(FaultKind.INVALID_FIELD, path, "a value that has a text", "an object with a toString")
            ) from None
        except TooDeepError:
            raise _too_deep(path) from None

    def json(self, holder: Any, key: str, under: str = "$") -> str:
        """`${JSON.stringify(holder.key)}`. Raises Thrown."""
        try:
            return stringify(_property(holder, key))
        except TooDeepError:
            raise _too_deep(f"{under}.{key}") from None


class PlainWords(Words):
    """The same for people: a field that is absent is said to be, an object or array is JSON."""

    def written(self, value: Any, path: str) -> str:
        """A text as it is, anything else as JSON. Raises Thrown."""
        if not isinstance(value, dict | list):
            return ABSENT if value is UNDEFINED else super().written(value, path)
        try:
            return stringify(value)
        except TooDeepError:
            raise _too_deep(path) from None

    def json(self, holder: Any, key: str, under: str = "$") -> str:
        """JSON. Raises Thrown."""
        return ABSENT if _property(holder, key) is UNDEFINED else super().json(holder, key, under)


def _too_deep(path: str) -> Thrown:
    return Thrown(Problem(FaultKind.TOO_DEEP, path, "a value that JavaScript can write", "one nested deeper"))


def _property(holder: Any, key: str) -> Any:
    """`holder.key`; numbers, strings and arrays have none of the properties that are asked for."""
    return holder.get(key, UNDEFINED) if holder.__class__ is dict else UNDEFINED


def _inner(entry: Any, key: str) -> Any:
    """`entry.key`, of which a property is asked next. Raises Thrown for undefined and null."""
    value = _property(entry, key)
    if value is UNDEFINED:
        raise Thrown(Problem(FaultKind.MISSING_FIELD, f"$.{key}", "an object", "nothing"))
    if value is None:
        raise Thrown(Problem(FaultKind.INVALID_FIELD, f"$.{key}", "an object", "null"))
    return value


def _session(entry: Any, say: Words) -> str:
    version = _property(entry, "version")
    number = 1 if version is None or version is UNDEFINED else version
    return f"Session v{say.written(number, '$.version')}: {say.text(entry, 'id')}"


def _message(entry: Any, say: Words) -> str:
    message, at = _inner(entry, "message"), "$.message"
    return f"[{say.text(entry, 'id')}] {say.text(message, 'role', at)}: {say.json(message, 'content', at)}"


def _compaction(entry: Any, say: Words) -> str:
    return f"[{say.text(entry, 'id')}] Compaction: {say.text(entry, 'tokensBefore')} tokens summarized"


def _branch_summary(entry: Any, say: Words) -> str:
    return f"[{say.text(entry, 'id')}] Branch from {say.text(entry, 'fromId')}"


def _usage(entry: Any, say: Words) -> str:
    total = say.text(_inner(entry, "usage"), "totalTokens", "$.usage")
    return f"[{say.text(entry, 'id')}] Usage ({say.text(entry, 'kind')}): {total} tokens"


def _custom(entry: Any, say: Words) -> str:
    return f"[{say.text(entry, 'id')}] Custom ({say.text(entry, 'customType')}): {say.json(entry, 'data')}"


def _custom_message(entry: Any, say: Words) -> str:
    kind = say.text(entry, "customType")
    return f"[{say.text(entry, 'id')}] Extension message ({kind}): {say.text(entry, 'content')}"


def _label(entry: Any, say: Words) -> str:
    return f'[{say.text(entry, "id")}] Label "{say.text(entry, "label")}" on {say.text(entry, "targetId")}'


def _model_change(entry: Any, say: Words) -> str:
    return f"[{say.text(entry, 'id')}] Model: {say.text(entry, 'provider')}/{say.text(entry, 'modelId')}"


def _thinking_level_change(entry: Any, say: Words) -> str:
    return f"[{say.text(entry, 'id')}] Thinking: {say.text(entry, 'thinkingLevel')}"


LINES: dict[str, Callable[[Any, Words], str]] = {
    "session": _session,
    "message": _message,
    "compaction": _compaction,
    "branch_summary": _branch_summary,
    "usage": _usage,
    "custom": _custom,
    "custom_message": _custom_message,
    "label": _label,
    "model_change": _model_change,
    "thinking_level_change": _thinking_level_change,
}
"""The entry types that the program knows, each with its line."""


def line_of(entry: Any, say: Words) -> tuple[str | None, str]:
    """The line that the program prints of a value that JSON.parse gave, None where it prints nothing; and the entry's type,
    or a word for what has none. Raises Thrown where the program throws."""
    if entry is None:
        raise Thrown(Problem(FaultKind.NOT_AN_OBJECT, "$", "an object", "null"))
    kind = _property(entry, "type")
    if kind.__class__ is not str:
        return None, "<no type>"
    line = LINES.get(kind)
    return (None if line is None else line(entry, say)), kind
