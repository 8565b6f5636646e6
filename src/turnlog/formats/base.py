"""What a format is, and the few helpers that formats share.

A format knows one agent's records: how one is typed, which events it says, which records are known and not projected
(each with its reason), where the agent keeps its files, and which samples are the same work. It does no IO. The parser
asks it, a record at a time; views and ledger ask it for its rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import msgspec

from ..contract import Place, ReadOptions, ReadSummary
from ..errors import FaultKind, LineFault, Problem
from ..jsontext import NotANumber
from ..model import Event, Item
from ..seen import NO_CONTEXT, ContextRule
from ..typed import P, Part, Schema, found_name, raw_name
from ..work import FileWork

if TYPE_CHECKING:  # not needed to read a session
    from ..raw import RawItem


class Refused(Exception):
    """A record about which nothing can be said: it leaves no event, only this problem. Internal to reading."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.kind.value)
        self.problem = problem


class Aside(msgspec.Struct, frozen=True):
    """A record that says no event: known and left out on purpose, or of an unknown type. Counted under `label`."""

    label: str
    known: bool


class Ignored(msgspec.Struct, frozen=True):
    """Why a native type is known and not projected: the reason, the agent version and the sheet section that show it."""

    reason: str
    seen: str


class Session:
    """The state of reading one file of an agent, and its record functions.

    `read(record, line, start, end, recovered)` returns the record's events, or an Aside; None where the first look did
    not show all of the record: it is then decoded whole and read again. It must decode first, then emit, then change its
    state: when it raises Refused nothing has changed. What is wrong but bearable goes through `soft`. Labels of unknown
    or ignored parts (blocks, roles, payloads) go through `note`. The parser takes the `notes` after each record: problems,
    asides, and mendings by name.
    """

    __slots__ = ("notes", "options", "place", "strict")

    def __init__(self, place: Place, options: ReadOptions) -> None:
        self.place = place
        self.options = options
        self.strict = not options.repair
        self.notes: list[Problem | Aside | str] = []

    def read(self, record: Any, line: int, start: int, end: int, recovered: bool = False) -> list[Event] | Aside | None:
        """The events of one typed record."""
        raise NotImplementedError

    def lost(self) -> None:
        """A line was lost: what a running total knows may no longer hold."""

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with the record being read, so far."""
        return [note for note in self.notes if isinstance(note, Problem)]

    def soft(self, problem: Problem) -> None:
        """A field that cannot be used: unknown when repairing, the end of the record when strict."""
        if self.strict:
            raise Refused(problem)
        self.notes.append(problem)

    def note(self, label: str, *, known: bool) -> None:
        """Count a part of a record that says no event."""
        self.notes.append(Aside(label, known))

    def part(self, part: Part[P], raw: msgspec.Raw | bytes, path: str) -> P | None:
        """Type a value that was kept raw; what does not fit is a soft problem and None."""
        try:
            return part.fast(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            value, problems, repairs = part.fit(raw, path, strict=self.strict)
        if problems and self.strict:
            raise Refused(problems[0])
        self.notes += problems
        self.notes += repairs
        return value

    def text(self, raw: msgspec.Raw, path: str) -> str | bytes:
        """The body of a field that must be a JSON string, kept raw; "" for absent or null, else a soft problem."""
        body = bytes(raw)
        if body[:1] == b'"':
            return body
        if body and body != b"null":
            self.soft(Problem(FaultKind.INVALID_FIELD, path, "a string", raw_name(body)))
        return ""

    def when(self, text: str | int, path: str = "$.timestamp") -> datetime | None:
        """The UTC time a native ISO text or digits give. What is no time is a soft problem and None."""
        if text.__class__ is str and text[7:17:3] == DATE_MARKS and text[19::4] == ".Z":
            try:
                return _moment(text)
            except ValueError:
                pass
        at = moment(text)
        if at is None:
            self.soft(Problem(FaultKind.INVALID_FIELD, path, "an RFC 3339 time or a whole number", _as_time(text)))
        return at


def _as_time(value: Any) -> str:
    return "another string" if isinstance(value, str) else found_name(value)


def missing(path: str, expected: str) -> NoReturn:
    """Refuse a record that lacks the one thing it is about."""
    raise Refused(Problem(FaultKind.MISSING_FIELD, path, expected, "nothing"))


def invalid(path: str, expected: str, value: Any) -> NoReturn:
    """Refuse a record whose one needed thing has the wrong type."""
    kind = FaultKind.NON_FINITE if isinstance(value, NotANumber) else FaultKind.INVALID_FIELD
    raise Refused(Problem(kind, path, expected, found_name(value)))


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DATE_MARKS = "-T::"
"""Every third letter, from the eighth on, of 2026-05-01T12:13:14.123Z. With the point and the Z in their places, these leave
`fromisoformat` no other reading: it takes week dates, compact forms, commas and empty fractions too, which no agent means. A
pattern costs three times as much."""
_moment = datetime.fromisoformat
_SECONDS_BELOW = 10**11
_MILLISECONDS_BELOW = 10**14


def moment(value: str | int | float) -> datetime | None:
    """UTC from RFC 3339 (T, t or space; any fraction; Z or an offset, none means UTC) or from a whole number whose
    unit its size gives: seconds below 10^11, milliseconds below 10^14, else microseconds. None for anything else."""
    if isinstance(value, str):
        return _rfc3339(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    size = abs(value)
    if size < _SECONDS_BELOW:
        return since_epoch(value * 1_000_000)
    if size < _MILLISECONDS_BELOW:
        return since_epoch(value * 1_000)
    return since_epoch(value)


def since_epoch(microseconds: int) -> datetime | None:
    """UTC at so many microseconds after 1970, or None where no calendar reaches."""
    try:
        return EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _rfc3339(text: str) -> datetime | None:
    digits = text.strip()
    if digits.isascii() and digits.removeprefix("-").removeprefix("+").isdigit():
        return moment(int(digits)) if len(digits) < 20 else None
    # fromisoformat takes week dates, bare dates and compact forms too, which no agent means.
    if (
        len(text) < 19
        or text[4] != "-"
        or text[7] != "-"
        or text[10] not in "Tt "
        or text[13] != ":"
        or text[16] != ":"
    ):
        return None
    head, rest = text[:19], text[19:]
    fraction = ""
    if rest[:1] == ".":
        end = 1
        while end < len(rest) and rest[end].isdigit():
            end += 1
        fraction, rest = rest[1:end], rest[end:]
        if not fraction or not fraction.isascii():
            return None
    leap = head.endswith(":60")  # RFC 3339 allows a leap second; no Python time does
    try:
        at = datetime.fromisoformat(head[:17] + "59" if leap else head)
        zone = _offset(rest)
        at = at.replace(microsecond=int((fraction + "000000")[:6]), tzinfo=UTC) - zone
        return at + timedelta(seconds=1) if leap else at
    except (ValueError, OverflowError):
        return None


def _offset(text: str) -> timedelta:
    if text in ("", "Z", "z"):
        return timedelta()
    sign, body = text[0], text[1:].replace(":", "", 1) if len(text) == 6 and text[3] == ":" else text[1:]
    if sign not in "+-" or len(body) != 4 or not (body.isascii() and body.isdigit()):
        raise ValueError
    if int(body[:2]) > 23 or int(body[2:]) > 59:
        raise ValueError
    offset = timedelta(hours=int(body[:2]), minutes=int(body[2:]))
    return -offset if sign == "-" else offset


class Root(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent keeps sessions, as rules that discovery applies.

    env: variables that replace the root, first set one wins; a set but empty one is an error. Each comes with the
    `scans` that hold below its value, where they differ. expands: the agent itself reads a leading "~" of such a value
    as the home. defaults: paths below the home ("~") or the user's config folder ("<config>"); several are all read
    where they exist, the first always. scans: (folder below the root, pattern) pairs; a pattern is recursive where it
    begins with "**/". others: names that fit a pattern and are no sessions. subagents: names of files that a subagent
    wrote; a file below a folder called `subagents` is one too. archived: those of the scanned folders that hold what
    was put away.
    """

    env: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    expands: bool = False
    defaults: tuple[str, ...] = ()
    scans: tuple[tuple[str, str], ...] = ()
    others: tuple[str, ...] = ()
    subagents: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()


class HistoryRule(msgspec.Struct, frozen=True, kw_only=True):
    """How rows of an agent's prompt history are written. unit: of the time, in microseconds."""

    file: str
    session: str
    text: str
    time: str
    unit: int
    project: str | None = None


class TitleRule(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent keeps an index of titles. pattern: below the root. entries: the key of the list in a JSON
    document, None for JSON lines."""

    pattern: str
    entries: str | None
    id: str
    title: str
    origin: str


class TreeRule(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent's records point at each other. id: the native key of a record's id, at its top level. across: a
    parent may lie in another file of the agent. joined: the fact of a Compaction that names the record it goes on from,
    where the agent begins a new root there. parallel: lines of one answer, results of parallel calls and the client's own
    records may hang beside the chain without being a branch. first_place: a record that is written again
    stays in its first place, and does not move the leaf."""

    id: str
    across: bool = False
    joined: str | None = None
    parallel: bool = False
    first_place: bool = False


class BaseRule(msgspec.Struct, frozen=True, kw_only=True):
    """How a file says that it goes on from within another one. fact: of its first Meta event, an object. session, end,
    number: its keys for the session it goes on from, the byte in that session's file up to which it holds, and the
    number of the first record it does not hold."""

    fact: str
    session: str
    end: str
    number: str


class TransactionRule(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent frames an append that may stay uncommitted. begin: the name of the Custom event that opens one.
    committed: the fact of the Meta event that closes it."""

    begin: str
    committed: str


class WalkedLine(msgspec.Struct, gc=False, frozen=True):
    """What a documented reader program prints of one record, without the LF it ends with; `text` may hold others.

    line: counted from 1. start, end: the record's bytes, half-open, delimiter included.
    """

    line: int
    start: int
    end: int
    text: str

    kind: ClassVar[str] = "line"


WalkItem = WalkedLine | LineFault


class Walk:
    """An agent's documented reader program, walking over the records of one file.

    `take(item)` gives what can be said now, `end(whole)` the rest; whole: the source was read to its end. Both must be run
    through. `summary` counts what was given so far: lines, records, bytes by class, faults, unknown types.
    """

    summary: ReadSummary

    def take(self, item: RawItem) -> Iterator[WalkItem]:
        """One record on."""
        raise NotImplementedError

    def end(self, *, whole: bool) -> Iterator[WalkItem]:
        """What was held back until the end is known."""
        raise NotImplementedError


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's format: everything the other rooms may ask.

    name: the word of the command line. title: the agent's own name. schema: the typed record. session: its reading
    state. is_record(value): a plain object is a top-level record of this format, with its envelope keys (decides what
    is recovered behind a torn record). sniff(value): the first record of a file is this agent's.
    types: every native type by label ("user", "event_msg:token_count", "content:text") to the kinds of event it is
    projected to. ignored: the labels left out, each with its reason. document: where the records of a whole JSON document
    stand. fold(place, items): the work one file says was done. reconcile(files): with the work of all files of this agent
    at hand, moves what proves to be copied from another file to `left`. hints: the type of `FileWork.hints`. tree: how its
    records point at each other, None where they form no tree. transaction: how an append is framed that may stay
    uncommitted. based: how a file goes on from within another one. recognise(line): a file whose first whole line is this
    one is a session at all; None where every file of a fitting name is. context: how the agent makes what its model is shown.
    walk(plain): the reader program that the agent's documentation has, None where it has none; plain: its text mended where
    the program's own says nothing. provider: whose prices hold for a call that names no provider; None where every call
    names its own.
    """

    name: str
    title: str
    schema: Schema[Any]
    session: Callable[[Place, ReadOptions], Session]
    is_record: Callable[[dict[str, Any]], bool]
    sniff: Callable[[dict[str, Any]], bool]
    root: Root
    types: dict[str, tuple[str, ...]]
    ignored: dict[str, Ignored]
    fold: Callable[[Place, Iterable[Item]], FileWork]
    reconcile: Callable[[list[FileWork]], None] | None = None
    hints: Any = None
    history: HistoryRule | None = None
    titles: TitleRule | None = None
    document: Callable[[bytes], list[tuple[int, int]] | None] | None = None
    suffixes: tuple[str, ...] = (".jsonl",)
    tree: TreeRule | None = None
    transaction: TransactionRule | None = None
    based: BaseRule | None = None
    recognise: Callable[[bytes], bool] | None = None
    provider: str | None = None
    walk: Callable[[bool], Walk] | None = None
    context: ContextRule = NO_CONTEXT
