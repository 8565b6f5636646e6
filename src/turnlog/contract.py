"""What a reader is asked and what it answers: options, limits, statuses, summaries."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

import msgspec

from .errors import FaultKind, InvalidOptionsError

MIB = 1024 * 1024

MAX_FILE_BYTES = 200 * MIB
"""The library's limit for a file: the largest session in a public scan of 6,664 files was 185 MB."""

MAX_RECORD_BYTES = 8 * MIB
"""The library's limit for a record, newline included: beyond any record of text; images of 60 MB exist."""

COMMAND_RECORD_BYTES = 64 * MIB
"""The commands' limit for a record: they must show people everything, and image lines of 60 MB are real."""

MAX_LABEL_CHARS = 96
MAX_LABELS = 128
OTHER_LABEL = "<other>"
"""Names of unknown types come from the file: cut and counted, so that a hostile file cannot grow the counters."""

MAX_U64 = 2**64 - 1


class ReadStatus(StrEnum):
    """How a reading ended. `stopped_early` is the truth until another is proven."""

    COMPLETE = "complete"
    COMPLETE_WITH_FAULTS = "complete_with_faults"
    INCOMPLETE_TAIL = "incomplete_tail"
    STOPPED_EARLY = "stopped_early"
    FAILED = "failed"


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to read one source.

    max_file_bytes, max_record_bytes: bytes (decoded bytes of a compressed file), None for no limit.
    stop_at: read exactly this prefix, in bytes; a shorter source raises SnapshotTruncated after its events.
    include: kinds of events to deliver, None for all; what is left out never renumbers what is delivered.
    tail: "strict" makes a cut last record a fault; "allow-incomplete" tolerates an unterminated proper prefix.
    repair: look once more at a damaged line and read what is whole in it (on by default).
    faults: "yield" them in their place, or "raise" the first as FaultError.
    codex_usage: which of Codex's two ledgers gives usage events; "all" gives both, each sample naming its own.
    sha256: hash the bytes read, for the summary.
    """

    max_file_bytes: int | None = MAX_FILE_BYTES
    max_record_bytes: int | None = MAX_RECORD_BYTES
    stop_at: int | None = None
    include: frozenset[str] | None = None
    tail: Literal["strict", "allow-incomplete"] = "strict"
    repair: bool = True
    faults: Literal["yield", "raise"] = "yield"
    codex_usage: Literal["token_count", "response", "all"] = "token_count"
    sha256: bool = False

    def check(self, kinds: frozenset[str]) -> None:
        """Raise InvalidOptionsError for what cannot be meant. `kinds` are the kinds of event there are."""
        for name in ("max_file_bytes", "max_record_bytes", "stop_at"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
                raise InvalidOptionsError(f"{name}: expected a number of bytes or None, found {value!r}")
        if self.stop_at is not None and self.max_file_bytes is not None and self.stop_at > self.max_file_bytes:
            raise InvalidOptionsError(f"stop_at: {self.stop_at} is past max_file_bytes {self.max_file_bytes}")
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InvalidOptionsError(
                    f"{name}: expected one of {', '.join(allowed)}, found {getattr(self, name)!r}"
                )
        if self.include is not None and (strange := sorted(map(str, frozenset(self.include) - kinds))):
            raise InvalidOptionsError(f"include: no kind of event is called {strange[0]!r}")


CHOICES: dict[str, tuple[str, ...]] = {
    "tail": ("strict", "allow-incomplete"),
    "faults": ("yield", "raise"),
    "codex_usage": ("token_count", "response", "all"),
}


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a source from where it lies: facts that the bytes themselves may not hold.

    name: the path or name, for messages. stem: the file name without suffixes. subagent: the path says subagent.
    document: the file is one JSON document, not lines.
    """

    name: str = "<bytes>"
    stem: str | None = None
    subagent: bool = False
    document: bool = False


class ByteCounts(msgspec.Struct, kw_only=True):
    """Where every byte went. Their sum is `bytes_read`, always."""

    decoded: int = 0
    repaired: int = 0
    ignored: int = 0
    unknown: int = 0
    blank: int = 0
    faulty: int = 0
    tail: int = 0
    pending: int = 0

    def total(self) -> int:
        """The sum of all classes, in bytes."""
        return (
            self.decoded
            + self.repaired
            + self.ignored
            + self.unknown
            + self.blank
            + self.faulty
            + self.tail
            + self.pending
        )


class ReadSummary(msgspec.Struct, kw_only=True):
    """What one reading did. `finish()` gives it at any time; only status `complete` proves that all was read.

    lines: physical lines, blank ones too. records: JSON objects read, recovered ones too. events: delivered or not.
    bytes_read: bytes taken from the source (decoded bytes of a compressed one).
    complete_through: end of the error-free prefix whose events were all delivered; frozen by the first fault.
    consumed_through: end of the last terminated record read, faulty or not: where an index or a follower resumes.
    faults: by kind. repairs: harmless mendings (a byte order mark, 1e3 for 1000). unknown, ignored: by label.
    """

    status: ReadStatus = ReadStatus.STOPPED_EARLY
    lines: int = 0
    records: int = 0
    bytes_read: int = 0
    complete_through: int = 0
    consumed_through: int = 0
    bytes: ByteCounts = msgspec.field(default_factory=ByteCounts)
    faults: dict[str, int] = msgspec.field(default_factory=dict)
    repairs: dict[str, int] = msgspec.field(default_factory=dict)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)
    ignored: dict[str, int] = msgspec.field(default_factory=dict)
    problems: list[str] = msgspec.field(default_factory=list)
    sha256: str | None = None

    @property
    def is_complete(self) -> bool:
        """Every byte was read and nothing was wrong."""
        return self.status is ReadStatus.COMPLETE

    @property
    def fault_count(self) -> int:
        """How many faults there were, of every kind."""
        return sum(self.faults.values())


def count_label(counter: dict[str, int], label: str) -> None:
    """Count `label`, cut to 96 characters; after 128 different ones the rest share `<other>`."""
    label = label[:MAX_LABEL_CHARS]
    if label not in counter and len(counter) >= MAX_LABELS:
        label = OTHER_LABEL
    counter[label] = counter.get(label, 0) + 1


def count_fault(counter: dict[str, int], kind: FaultKind) -> None:
    """Count a fault under its printed name."""
    counter[kind.value] = counter.get(kind.value, 0) + 1
