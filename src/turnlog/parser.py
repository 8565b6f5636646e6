"""Bytes in, events and faults out: framing, decoding and a format in one loop.

This is the one way in. A file, a pipe, a follower and a test all call the same `feed` and `close`; how the bytes are cut
never changes what comes out. A record either decodes whole or leaves nothing behind but its fault.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from .contract import ByteCounts, Place, ReadOptions, ReadStatus, ReadSummary, count_fault, count_label
from .errors import FaultKind, LineFault, Problem, SourceCorrupt, SourceError, SourceTooLarge
from .formats.base import Aside, Format, Refused
from .framing import Framed, Framer, Oversize
from .jsontext import TextError, decode, is_cut, is_utf8
from .model import KINDS, Item
from .repair import BOM, mend
from .seeming import Doubt

NOT_FAST = (msgspec.DecodeError, RecursionError, UnicodeDecodeError, TextError, Refused)


def utf8_or_raise(raw: bytes | memoryview) -> None:
    """Raise UnicodeDecodeError unless all of `raw` is UTF-8."""
    if not is_utf8(raw):
        raise UnicodeDecodeError("utf-8", b"", 0, 0, "invalid")


def _checked(first: Callable[[bytes | memoryview], Any]) -> Callable[[bytes | memoryview], Any]:
    """A first look that looks at UTF-8 too: for the records of a chunk of which some are none."""

    def look(raw: bytes | memoryview) -> Any:
        utf8_or_raise(raw)
        return first(raw)

    return look


def _all_utf8(data: bytes, first: Framed) -> bool:
    """Whether every record that ends in this chunk is UTF-8: one look at the whole costs less than half of one at each.

    The first record may have begun in an earlier chunk: then it is looked at alone. LF is no part of any character, so
    what stands between two of them can be judged by itself.
    """
    if first.__class__ is memoryview:
        begin = 0
    else:
        if first.__class__ is bytes and not is_utf8(first):
            return False
        begin = data.index(b"\n") + 1
    return data.isascii() or is_utf8(memoryview(data)[begin : data.rindex(b"\n") + 1])


class Parser:
    """The push core of reading: one source, one format.

    `feed(data)` takes bytes and returns the items (events, and faults in their place) of the records they complete;
    `close()` says that no more will come and returns the last ones. When the source turns out too large or no JSON
    Lines at all, the items before that come back first, `error` is set, and the next call raises it.
    `summary()` may be asked at any time.
    """

    def __init__(self, format: Format, options: ReadOptions | None = None, place: Place | None = None) -> None:
        self.format = format
        self.options = options or ReadOptions()
        self.options.check(KINDS)
        self.place = place or Place()
        self.session = format.session(self.place, self.options)
        self.error: SourceError | None = None
        self.closed = False
        self.line = 0
        self.at = 0  # end of the last record classified
        self.records = 0
        self.taken = 0  # bytes taken in
        self.frozen: int | None = None  # start of the first faulty record
        self.incomplete_tail = False
        self.bytes = ByteCounts()
        self.faults: dict[str, int] = {}
        self.repairs: dict[str, int] = {}
        self.unknown: dict[str, int] = {}
        self.ignored: dict[str, int] = {}
        self._framer = Framer(self.options.max_record_bytes)
        self._hash = hashlib.sha256() if self.options.sha256 else None
        self._document = format.document if self.place.document else None
        self._doubt = Doubt() if self.options.repair and self._document is None else None
        self._terminated_through = 0

    def feed(self, data: bytes) -> list[Item]:
        """Take `data` in; return what the records that are now whole say."""
        self._raise()
        if data.__class__ is not bytes:  # a caller's buffer may change under the records, which are views
            data = bytes(data)
        data, over = self._admit(data)
        items: list[Item] = []
        if self._document is not None:
            self._framer.hold(data)  # one document: its lines are no records
        elif records := self._framer.feed(data):
            items = self._read(records, _all_utf8(data, records[0]))
        if over is not None and self.error is None:
            self.error = over
        return items

    def close(self) -> list[Item]:
        """No more bytes will come: read the last record if it has no LF, and end."""
        self._raise()
        if self.closed:
            return []
        self.closed = True
        items: list[Item] = []
        last = self._framer.close()
        if last is not None:
            self._last(last, items)
        if self._doubt is not None:
            items = self._judged(self._doubt, items, last=True)
        return self._chosen(items)

    def close_cut(self) -> list[Item]:
        """The source failed in mid-record: what is held is no record, and stays pending."""
        self.closed = True
        if self._doubt is None:
            return []
        return self._chosen(self._judged(self._doubt, [], last=True))

    def summary(self, *, delivered_through: int | None = None) -> ReadSummary:
        """What was read so far. `delivered_through`: end of the last record whose events the caller has had; None
        means all that was returned."""
        reached = self.at if delivered_through is None else delivered_through
        consumed = min(reached, self._terminated_through)
        complete = reached if self.frozen is None else min(reached, self.frozen)
        self.bytes.pending = self.taken - self.at
        return ReadSummary(
            status=self._status(whole=reached == self.at),
            lines=self.line,
            records=self.records,
            bytes_read=self.taken,
            complete_through=complete,
            consumed_through=consumed,
            bytes=msgspec.structs.replace(self.bytes),
            faults=dict(self.faults),
            repairs=dict(self.repairs),
            unknown=dict(self.unknown),
            ignored=dict(self.ignored),
            sha256=self._hash.hexdigest() if self._hash else None,
        )

    def _status(self, *, whole: bool) -> ReadStatus:
        if self.error is not None:
            return ReadStatus.FAILED
        if not self.closed or not whole:
            return ReadStatus.STOPPED_EARLY
        if self.incomplete_tail:
            return ReadStatus.INCOMPLETE_TAIL
        return ReadStatus.COMPLETE_WITH_FAULTS if self.faults else ReadStatus.COMPLETE

    def _raise(self) -> None:
        if self.error is not None:
            self.closed = True
            raise self.error

    def _admit(self, data: bytes) -> tuple[bytes, SourceError | None]:
        """The part of `data` within the limits, and the error that ends reading there."""
        over: SourceError | None = None
        stop, limit = self.options.stop_at, self.options.max_file_bytes
        if stop is not None:
            data = data[: max(0, stop - self.taken)]
        elif limit is not None and self.taken + len(data) > limit:
            data = data[: limit - self.taken]
            over = SourceTooLarge(self.place.name, limit)
        self.taken += len(data)
        if self._hash is not None:
            self._hash.update(data)
        return data, over

    def _read(self, records: list[Framed], good: bool) -> list[Item]:
        items: list[Item] = []
        if self._doubt is not None:
            records = self._doubted(self._doubt, records, items, good)
        self._loop(records, good, items)
        return self._chosen(items)

    def _loop(self, records: list[Framed], good: bool, items: list[Item]) -> None:
        """The loop. Everything that is not the usual record is elsewhere."""
        schema, session = self.format.schema, self.session
        first, whole, read, notes = schema.first, schema.whole, session.read, session.notes
        if not good:  # the decoder checks what it reads, but not what it skips
            first = _checked(first)
        line, at, other, others = self.line, self.at, 0, 0
        begun = at
        for raw in records:
            line += 1
            start = at
            if raw.__class__ is not Oversize:
                at += len(raw) + 1  # type: ignore[arg-type]
                try:
                    out = read(first(raw), line, start, at)  # type: ignore[arg-type]
                    if out is None:
                        out = read(whole(raw), line, start, at)  # type: ignore[arg-type]
                except NOT_FAST:
                    pass
                else:
                    if out.__class__ is list and not notes:
                        items += out
                        continue
                    other += at - start
                    others += 1
                    self.line, self.at = line, at
                    self._settle(out, items, start, at, at - start)
                    continue
            else:
                at += raw.size
            other += at - start
            others += 1
            self.line, self.at = line, at
            self._slow(raw, items, start, terminated=True)
        self.line, self.at, self._terminated_through = line, at, at
        self.bytes.decoded += at - begun - other
        self.records += len(records) - others

    def _chosen(self, items: list[Item]) -> list[Item]:
        wanted = self.options.include
        return items if wanted is None else [item for item in items if item.kind in wanted or item.kind == "fault"]

    def _doubted(self, doubt: Doubt, records: list[Framed], items: list[Item], good: bool) -> list[Framed]:
        """While no whole object has been seen, read record by record and hold what they say: the file may be no JSON
        Lines at all. Returns the records that are beyond doubt."""
        for n, raw in enumerate(records):
            self._loop([raw], good, doubt.held)
            doubt.see(raw)
            items += self._judged(doubt, [], last=False)
            if self.error is not None:
                # What follows is not looked at, however much of it came with this line.
                self.taken = self.at
                self._hash = None
                return []
            if self._doubt is None:
                return records[n + 1 :]
        return []

    def _judged(self, doubt: Doubt, items: list[Item], *, last: bool) -> list[Item]:
        """The items that may go out now: none while in doubt, all that were held once it is over."""
        said = doubt.judge(whole=self.records > 0, last=last)
        if said is None:
            return []
        self._doubt = None
        if not said:
            return doubt.held + items
        self.error = SourceCorrupt(self.place.name, said)
        self.faults.clear()
        return []

    def _last(self, last: bytes | Oversize, items: list[Item]) -> None:
        start = self.at
        self.at += last.size if isinstance(last, Oversize) else len(last)
        if self._document is not None and isinstance(last, bytes):
            self._whole(self._document, last, items)
            return
        self.line += 1
        self._slow(last, items, start, terminated=False)
        if self._doubt is not None:
            self._doubt.see(last)

    def _whole(self, spans_of: Callable[[bytes], list[tuple[int, int]] | None], data: bytes, items: list[Item]) -> None:
        """One JSON document for a file: its format says where its records stand."""
        self.line = data.count(b"\n") + (not data.endswith(b"\n"))
        utf8 = is_utf8(data)
        spans = spans_of(data) if utf8 else None
        if spans is None:
            kind = FaultKind.INVALID_JSON if utf8 else FaultKind.INVALID_UTF8
            if is_cut(data):
                if self.options.tail == "allow-incomplete":
                    self._tolerate(0, len(data))
                    return
                kind = FaultKind.TRUNCATED
            self._lose(LineFault(kind, 1, 0, len(data)), items, len(data))
            return
        line, seen, through = 1, 0, 0
        for start, end in spans:
            line += data.count(b"\n", seen, start)
            seen = start
            try:
                value = decode(data[start:end].decode())
            except TextError as error:
                self._lose(LineFault(error.kind, line, start, end), items, end - through)
            else:
                self._value(value, items, line, start, end, end - through)
            through = end
        self.bytes.decoded += len(data) - through
        self._terminated_through = len(data)

    def _slow(self, raw: Framed, items: list[Item], start: int, *, terminated: bool) -> None:
        """A record the fast way did not take: ask the reference decoder, then mend, then say what is wrong."""
        line, end = self.line, self.at
        size = end - start
        self._forget()
        if isinstance(raw, Oversize):
            self._lose(LineFault(FaultKind.TOO_LONG, line, start, end), items, size)
            return
        raw = bytes(raw)
        if not raw.strip():
            self.bytes.blank += size
            return
        utf8 = is_utf8(raw)
        kind = FaultKind.INVALID_UTF8
        if utf8:
            try:
                self._value(decode(raw.decode()), items, line, start, end, size)
                return
            except TextError as error:
                kind = error.kind
        if not terminated and is_cut(raw.removeprefix(BOM) if self.options.repair else raw):
            if self.options.tail == "allow-incomplete":
                self._tolerate(start, size)
                return
            kind = FaultKind.TRUNCATED
        if self.options.repair and self._mended(raw, items, start, terminated=terminated):
            return
        self._lose(LineFault(kind, line, start, end), items, size)

    def _tolerate(self, start: int, size: int) -> None:
        """A cut-off end that the caller allows: no fault, and the mark stays at its start."""
        self.incomplete_tail = True
        self.bytes.tail += size
        self.frozen = start if self.frozen is None else self.frozen

    def _mended(self, raw: bytes, items: list[Item], start: int, *, terminated: bool) -> bool:
        """Read what is whole in a damaged line. False: nothing is, and the line's own fault stands."""
        mended = mend(raw, terminated=terminated, is_record=self.format.is_record)
        if mended is None:
            return False
        line, end, before, found = self.line, self.at, self.records, list[Item]()
        several = mended.fault in (FaultKind.GLUED, FaultKind.STUB_GLUED)
        for piece in mended.pieces:
            begin = start + piece.start if several else start
            until = start + piece.end if several else end
            self._value(piece.value, found, line, begin, until, 0, recovered=mended.fault is not None)
        read = self.records - before
        if mended.fault is not None:
            self._fault(LineFault(mended.fault, line, start, end, recovered=read), items)
        if read:
            self.bytes.repaired += end - start
            for name in mended.repairs:
                self.repairs[name] = self.repairs.get(name, 0) + 1
        else:
            self.bytes.faulty += end - start
            self.session.lost()
        items += found
        return True

    def _value(
        self, value: dict[str, object], items: list[Item], line: int, start: int, end: int, size: int,
        *, recovered: bool = False,
    ) -> None:  # fmt: skip
        """One plain object: fit it to the format's struct, say its events, count its bytes (`size` of them)."""
        strict = not self.options.repair
        problem: Problem | None = None
        out: Sequence[Item] | Aside | None = None
        try:
            fitted = self.format.schema.fit(value, strict=strict)
            if fitted.problems:
                untyped = next((p for p in fitted.problems if p.path == "$.type"), None)
                problem = untyped or (fitted.problems[0] if strict else None)
            if problem is None:
                self.session.notes += fitted.problems
                self.session.notes += fitted.repairs
                out = self.session.read(fitted.record, line, start, end, recovered)
        except Refused as refused:
            # Where the needed field is there but does not fit, that is what is wrong.
            problem = next((p for p in self.session.problems if p.path == refused.problem.path), refused.problem)
        except (TextError, RecursionError):  # deeper than the decoders go, in a part that is typed later
            self._forget()
            self._lose(LineFault(FaultKind.TOO_DEEP, line, start, end), items, size)
            return
        if problem is not None:
            self._forget()
            p = problem
            self._lose(LineFault(p.kind, line, start, end, p.path, p.expected, p.found), items, size)
        else:
            self._settle(out, items, start, end, size, line=line)

    def _settle(
        self,
        out: Sequence[Item] | Aside | None,
        items: list[Item],
        start: int,
        end: int,
        size: int,
        line: int | None = None,
    ) -> None:
        """A record that was read: its problems as faults, its asides and repairs counted, its bytes put down."""
        assert out is not None  # read from the whole record
        notes, line = self.session.notes, self.line if line is None else line
        self.records += 1
        repaired = False
        for note in notes:
            if isinstance(note, Aside):
                count_label(self.ignored if note.known else self.unknown, note.label)
                continue
            repaired = True
            if isinstance(note, str):
                self.repairs[note] = self.repairs.get(note, 0) + 1
            else:
                fault = LineFault(note.kind, line, start, end, note.path, note.expected, note.found, recovered=1)
                self._fault(fault, items)
        if notes:
            self._forget()
        if not isinstance(out, Aside):
            items += out
        else:
            count_label(self.ignored if out.known else self.unknown, out.label)
        if repaired:
            self.bytes.repaired += size
        elif not isinstance(out, Aside):
            self.bytes.decoded += size
        elif out.known:
            self.bytes.ignored += size
        else:
            self.bytes.unknown += size

    def _forget(self) -> None:
        self.session.notes.clear()

    def _lose(self, fault: LineFault, items: list[Item], size: int) -> None:
        """A record that is lost: its fault, its bytes, and the format's notice."""
        self._fault(fault, items)
        self.bytes.faulty += size
        self.session.lost()

    def _fault(self, fault: LineFault, items: list[Item]) -> None:
        items.append(fault)
        count_fault(self.faults, fault.fault)
        if self.frozen is None:
            self.frozen = fault.start
