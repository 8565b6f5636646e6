"""One session file with all its items at hand, for views that look back and forth in it."""

from __future__ import annotations

import os

import msgspec

from ..contract import Place, ReadOptions, ReadSummary
from ..discover import Discovery, SessionFile
from ..errors import SourceCorrupt, SourceError, UnknownFormatError
from ..formats import place_of
from ..formats.base import Format
from ..model import Item
from ..reader import read
from .scan import SCAN_OPTIONS


class Whole(msgspec.Struct):
    """A file's items, faults in their place. known: what discovery says of it. error: why reading ended before the end."""

    format: Format
    place: Place
    items: list[Item]
    summary: ReadSummary
    known: SessionFile | None = None
    error: SourceError | None = None

    @property
    def complete(self) -> bool:
        """The file was read whole."""
        return self.summary.is_complete and self.error is None


def read_whole(
    path: str, discovery: Discovery | None = None, agent: str | None = None, options: ReadOptions = SCAN_OPTIONS
) -> Whole:
    """Read all of one file. Raises SourceError if nothing of it can be read."""
    real = os.path.realpath(path)
    files = discovery.files if discovery is not None else []
    known = next((file for file in files if os.path.realpath(file.path) == real), None)
    agent = agent or (known.agent if known is not None else None)
    place = place_of(path, subagent=None if known is None else known.kind == "subagent")
    items: list[Item] = []
    error: SourceError | None = None
    with read(path, agent, options, place=place) as reader:
        try:
            format = reader.format
            for batch in reader.batches():
                items += batch
        except UnknownFormatError:
            said = "no agent's format could be told from the first records: name it with --agent"
            raise SourceCorrupt(path, said) from None
        except SourceError as failed:
            if not items:
                raise
            error = failed
            format = reader.format
    return Whole(format, place, items, reader.finish(), known, error)
