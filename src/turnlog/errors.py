"""What can go wrong, in two floors.

A *fault* is the data's mistake: a line that could not be read whole. It is a value in the stream, in its physical
place, and reading goes on. A *source error* is the source's mistake (it vanished, it is too large, it is corrupt): an
exception, delivered once, after which the reader is over. Every exception that leaves turnlog on purpose derives from
`TurnlogError`; any other is a bug of ours.

No sentence here ever holds text of a transcript: where, what was expected, which *type* was found.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

import msgspec


class FaultKind(StrEnum):
    """Why a line was not read whole. The names are the ones printed and stored."""

    INVALID_JSON = "invalid_json"
    INVALID_UTF8 = "invalid_utf8"
    TRUNCATED = "truncated"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    NOT_AN_OBJECT = "not_an_object"
    MISSING_FIELD = "missing_field"
    INVALID_FIELD = "invalid_field"
    NON_FINITE = "non_finite"
    GLUED = "glued"
    STUB_GLUED = "stub_glued"
    NUL_PADDING = "nul_padding"
    NUL_BLOCK = "nul_block"
    COUNTER_REGRESSION = "counter_regression"
    LOST_BASELINE = "lost_baseline"


class Problem(msgspec.Struct, gc=False, frozen=True):
    """One thing wrong inside a record: the path (`$.message.usage.input_tokens`), what was expected, the type found."""

    kind: FaultKind
    path: str
    expected: str
    found: str


class LineFault(msgspec.Struct, gc=False, frozen=True):
    """A line that could not be read whole, as a value in the stream.

    `line` counts from 1; `start` and `end` are absolute byte offsets, half-open, the delimiter included. `recovered`
    is how many records of the line were read all the same (0: the line is lost).
    """

    fault: FaultKind
    line: int
    start: int
    end: int
    path: str | None = None
    expected: str | None = None
    found: str | None = None
    recovered: int = 0

    kind: ClassVar[str] = "fault"

    def sentence(self, source: str = "") -> str:
        """Where, what was expected, what was found, and what became of it."""
        where = f"{source or 'line'}{':' if source else ' '}{self.line} (bytes {self.start}-{self.end})"
        what = self.expected and f"expected {self.expected}, found {self.found}"
        said = f"{self.path}: {what}" if self.path and what else (what or MEANING[self.fault])
        end = "" if not self.recovered else f"; {self.recovered} record{'s' if self.recovered > 1 else ''} read"
        return f"{where}: {self.fault.value}: {said}{end}"


MEANING: dict[FaultKind, str] = {
    FaultKind.INVALID_JSON: "expected one JSON object, found text that is no JSON",
    FaultKind.INVALID_UTF8: "expected UTF-8, found bytes that are none",
    FaultKind.TRUNCATED: "expected a whole JSON object, found its beginning only",
    FaultKind.TOO_LONG: "the record is longer than the limit and was skipped unread",
    FaultKind.TOO_DEEP: "the record is nested deeper than can be read",
    FaultKind.NOT_AN_OBJECT: "expected a JSON object, found another JSON value",
    FaultKind.MISSING_FIELD: "a field is missing without which nothing can be said",
    FaultKind.INVALID_FIELD: "a field has the wrong type or is out of range",
    FaultKind.NON_FINITE: "expected a number, found NaN or Infinity",
    FaultKind.GLUED: "expected one object, found several on one line",
    FaultKind.STUB_GLUED: "found a torn record and whole ones on one line",
    FaultKind.NUL_PADDING: "found NUL bytes around the record",
    FaultKind.NUL_BLOCK: "found nothing but NUL bytes",
    FaultKind.COUNTER_REGRESSION: "a running total fell and no sample of its own stands beside it",
    FaultKind.LOST_BASELINE: "a running total follows a damaged line, so its difference is not known",
}


class TurnlogError(Exception):
    """The base of every exception turnlog raises on purpose."""


class InvalidOptionsError(TurnlogError, ValueError):
    """The caller asked for something that cannot be: an unknown kind, a negative limit, a sealed end past the limit."""


class UnknownFormatError(TurnlogError, LookupError):
    """No agent's format goes by that name, or none could be told from the first record."""


class NoSuchRun(TurnlogError, LookupError):
    """A stream does not hold the run that was asked for."""


class FaultError(TurnlogError):
    """The first fault, raised instead of yielded because the caller asked for `faults="raise"`."""

    def __init__(self, fault: LineFault, source: str = "") -> None:
        super().__init__(fault.sentence(source))
        self.fault = fault


class SourceError(TurnlogError):
    """The source itself failed. Delivered once; after it the reader is over. `source` is the path or name."""

    kind: ClassVar[str] = "source"

    def __init__(self, source: str, said: str) -> None:
        super().__init__(f"{source}: {said}")
        self.source = source
        self.said = said


class SourceUnreadable(SourceError):
    """It cannot be opened or read; the OSError (or what else a caller's file object raised) is the cause."""

    kind = "unreadable"

    def __init__(self, source: str, error: Exception | None = None, said: str = "") -> None:
        reason = getattr(error, "strerror", None) or type(error).__name__
        super().__init__(source, said or f"cannot be read: {reason}")
        self.error = error


class SourceTooLarge(SourceError):
    """It is larger than `max_file_bytes`: refused at opening if the size is known, else at the first byte over it."""

    kind = "too_large"

    def __init__(self, source: str, limit: int) -> None:
        super().__init__(source, f"expected at most {limit} bytes, found more")
        self.limit = limit


class SnapshotTruncated(SourceError):
    """Fewer bytes came than the snapshot promised."""

    kind = "snapshot_truncated"

    def __init__(self, source: str, expected: int, actual: int) -> None:
        super().__init__(source, f"expected {expected} bytes, found {actual}")
        self.expected = expected
        self.actual = actual


class SourceCorrupt(SourceError):
    """The bytes are not what the source says they are: a cut or broken compressed frame, a file that is no JSON Lines."""

    kind = "corrupt"


class SourceChanged(SourceError):
    """The source is no longer the one it was when reading began."""

    kind = "changed"
