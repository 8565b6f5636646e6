"""What an agent prints while it runs, from a pipe or a captured log: bytes in, the state of its runs out.

The push core is `Capture.feed` and `close`: it tells whose stream it is by the first records, reads it as every source is
read, and folds what it says. Memory does not grow with the stream.
"""

from __future__ import annotations

from ..contract import COMMAND_RECORD_BYTES, Place, ReadOptions, ReadStatus, ReadSummary
from ..errors import FaultKind, LineFault, SourceCorrupt, UnknownFormatError
from ..formats import sniffed_stream, stream_of
from ..formats.base import Format
from ..model import Item
from ..parser import Parser
from ..seeming import seems
from ..views.live import Live, State

SNIFF = 1 << 20
SNIFF_LINES = 64
"""How far the agent is looked for: as far as in a session file."""

OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=COMMAND_RECORD_BYTES, tail="allow-incomplete")
"""A capture may be of any length, and may stop anywhere: that is for the verdict to say, not for the reader."""


class Capture:
    """One stream being read. agent: whose it is, None to be told from it. live: the fold to fill; one that is asked for
    the last run where none is given.

    `feed(data)` takes bytes and returns the items they complete (faults too), `close()` the last ones; both fold them into
    `live`. quiet: only how the runs stand is wanted; events that do not matter for it are left out, or bare, which is quicker.
    Raises UnknownFormatError where it is no
    agent's stream, SourceCorrupt where it is plainly no stream of lines at all, once; then the capture is over.
    """

    def __init__(
        self, agent: str | None = None, *, live: Live | None = None, name: str = "<stream>", quiet: bool = False
    ) -> None:
        self.live = live if live is not None else Live()
        self.place = Place(name=name)
        self.quiet = quiet
        self.parser: Parser | None = None
        self._head = bytearray()
        self._seen = 0  # bytes of whole lines that were looked at
        if agent is not None:
            self._open(stream_of(agent))

    @property
    def agent(self) -> str | None:
        """Whose stream it is, None as long as that is not known."""
        return self.parser.format.name if self.parser is not None else None

    @property
    def state(self) -> State | None:
        """Where the run that is asked for stands, None where none has begun."""
        run = self.live.chosen
        return run.state if run is not None else None

    def feed(self, data: bytes) -> list[Item]:
        """Take `data` in; return, and fold, what the records that are now whole say."""
        if self.parser is None:
            self._head += data
            found = self._told()
            if found is None:
                return []
            data = bytes(self._head)
            self._head.clear()
            return self._fed(self._open(found), data)
        return self._fed(self.parser, data)

    def close(self) -> list[Item]:
        """No more bytes will come."""
        items: list[Item] = []
        parser = self.parser
        if parser is None:
            head = bytes(self._head)
            parser = self._open(sniffed_stream(head) or self._refused(head))
            items = self._fed(parser, head)
        items += self._folded(parser.close(), b"", 0)
        if parser.error is not None:
            raise parser.error
        summary = self.summary()
        self.live.close(ends_at=summary.bytes_read, cut=summary.status is ReadStatus.INCOMPLETE_TAIL)
        if self.live.runs == 0 and sum(summary.unknown.values()) * 2 > summary.records:
            raise UnknownFormatError(f"{self.place.name}: expected what an agent prints while it runs, {_OTHERWISE}")
        return items

    def summary(self) -> ReadSummary:
        """What was read so far."""
        return self.parser.summary() if self.parser is not None else ReadSummary()

    def _open(self, format: Format) -> Parser:
        self.parser = Parser(format, OPTIONS, self.place)
        self.parser.session.quiet = self.quiet
        return self.parser

    def _told(self) -> Format | None:
        """The format, once the whole lines so far tell it. Raises UnknownFormatError when they are enough and do not."""
        end = self._head.rfind(b"\n") + 1
        if end <= self._seen:
            enough = len(self._head) >= COMMAND_RECORD_BYTES
        else:
            self._seen = end
            found = sniffed_stream(bytes(self._head[:end]))
            if found is not None:
                return found
            enough = len(self._head) >= SNIFF or self._head.count(b"\n", 0, end) >= SNIFF_LINES
        return self._refused(bytes(self._head[:SNIFF])) if enough else None

    def _refused(self, head: bytes) -> Format:
        if not head.strip():
            raise UnknownFormatError(f"{self.place.name}: expected what an agent prints while it runs, found nothing")
        said = seems(head)
        if said:
            raise SourceCorrupt(self.place.name, said)
        raise UnknownFormatError(f"{self.place.name}: no agent's stream could be told from the first records")

    def _fed(self, parser: Parser, data: bytes) -> list[Item]:
        before = parser.taken
        items = self._folded(parser.feed(data), data, before)
        if parser.error is not None:
            raise parser.error
        return items

    def _folded(self, items: list[Item], data: bytes, at: int) -> list[Item]:
        """Fold these; lines that a program beside the agent wrote into its stream are no lost records of it."""
        parser = self.parser
        if parser is not None and parser.faults:
            self.live.take([item for item in items if not _is_noise(item, data, at)])
        else:
            self.live.take(items)
        return items


_OTHERWISE = "found other records (of a session file? then: turnlog show)"


def _is_noise(item: Item, data: bytes, at: int) -> bool:
    """Whether a fault is a line that was never meant as JSON: a warning on stderr, where both went into one file. `data`
    begins at byte `at`; a line that began before it is taken for a record."""
    if item.__class__ is not LineFault or item.fault is not FaultKind.INVALID_JSON:
        return False
    return at <= item.start and data[item.start - at : item.end - at].lstrip()[:1] not in (b"{", b"")
