"""Names of sessions from the indexes agents keep beside them.

Only the indexes are read, and only for the sessions asked for: no title is ever made from what somebody typed. Which file
is an index, and what its keys are called, each format states as a rule. That there is no index is normal.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from .contract import MAX_FILE_BYTES, MAX_RECORD_BYTES
from .errors import LineFault, SourceCorrupt, SourceError, SourceTooLarge, SourceUnreadable
from .formats import FORMATS
from .formats.base import TitleRule
from .jsontext import TextError, decode
from .raw import read_raw
from .roots import Roots
from .source import opened
from .typed import found_name


class IndexTitle(msgspec.Struct, frozen=True):
    """A session's title as an index has it, white space around it taken off. origin: what kind of title it is, in the
    words of the format (source_summary, source_title). path: the index."""

    session_id: str
    text: str
    origin: str
    agent: str
    path: str


class Titles(msgspec.Struct, frozen=True):
    """The titles that were found, by session id, and what was wrong on the way (only where that was asked for)."""

    titles: dict[str, IndexTitle]
    errors: list[SourceError]

    @property
    def texts(self) -> dict[str, str]:
        """Session id to title."""
        return {session: title.text for session, title in self.titles.items()}


def read_titles(roots: Roots, ids: Iterable[str], collect: bool = False) -> Titles:
    """The titles of the sessions in `ids`, from the indexes below the roots; a session that none names has none.

    The last title that is not blank wins. An index that cannot be read or is not what its rule says raises a SourceError
    at once; with `collect` it is put down in `errors`, and the rest is read all the same. No error holds a title or an
    id. With no ids nothing is opened.
    """
    wanted = frozenset(ids)
    found = Titles({}, [])
    if not wanted:
        return found
    for agent, format in FORMATS.items():
        rule = format.titles
        for root in roots.of(agent) if rule is not None else ():
            assert rule is not None
            for item in _rows(root.path, rule):
                if isinstance(item, SourceError):
                    if not collect:
                        raise item
                    found.errors.append(item)
                    continue
                path, session, text = item
                text = text.strip()
                if session in wanted and text:
                    found.titles[session] = IndexTitle(session, text, rule.origin, agent, path)
    return found


def index_files(roots: Roots) -> list[str]:
    """The paths of the indexes that `read_titles` looks into, unopened."""
    found = []
    for agent, format in FORMATS.items():
        for root in roots.of(agent) if format.titles is not None else ():
            assert format.titles is not None
            parts = format.titles.pattern.split("/")
            found += [path for path in _indexes(root.path, parts) if isinstance(path, str)]
    return found


_Row = tuple[str, str, str]  # path, session id, title


def _rows(root: str, rule: TitleRule) -> Iterator[_Row | SourceError]:
    """Every titled row of every index below a root, and each thing that is wrong, in its place."""
    for path in _indexes(root, rule.pattern.split("/")):
        if isinstance(path, SourceError):
            yield path
            continue
        try:
            for place, entry in _lines(path) if rule.entries is None else _entries(path, rule.entries):
                yield entry if isinstance(entry, SourceError) else _titled(path, place, entry, rule)
        except SourceError as error:
            yield error


def _titled(path: str, place: str, entry: Any, rule: TitleRule) -> _Row | SourceError:
    if not isinstance(entry, dict):
        return SourceCorrupt(path, f"{place}: expected an object, found {found_name(entry)}")
    session, text = entry.get(rule.id), entry.get(rule.title)
    if not isinstance(session, str):
        return SourceCorrupt(path, f"{place}.{rule.id}: expected a string, found {_said(entry, rule.id)}")
    if text is not None and not isinstance(text, str):
        return SourceCorrupt(path, f"{place}.{rule.title}: expected a string, found {found_name(text)}")
    return path, session, text or ""


def _said(entry: dict[str, Any], key: str) -> str:
    return found_name(entry[key]) if key in entry else "nothing"


def _entries(path: str, key: str) -> Iterator[tuple[str, Any]]:
    """The entries of an index that is one JSON document. Raises SourceError where it is none."""
    with opened(path) as handle:
        try:
            data = handle.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise SourceUnreadable(path, error) from error
    if len(data) > MAX_FILE_BYTES:
        raise SourceTooLarge(path, MAX_FILE_BYTES)
    try:
        entries = decode(data.decode()).get(key)
    except (TextError, UnicodeDecodeError):
        raise SourceCorrupt(path, "expected one JSON object, found something else") from None
    if not isinstance(entries, list):
        found = "nothing" if entries is None else found_name(entries)
        raise SourceCorrupt(path, f"$.{key}: expected an array, found {found}")
    for n, entry in enumerate(entries):
        yield f"$.{key}[{n}]", entry


def _lines(path: str) -> Iterator[tuple[str, Any]]:
    """The records of an index of JSON lines; a line that is none is a SourceCorrupt in its place."""
    reader = read_raw(path, max_record_bytes=MAX_RECORD_BYTES, max_file_bytes=MAX_FILE_BYTES)
    with reader:
        for record in reader:
            if isinstance(record, LineFault):
                yield "", SourceCorrupt(path, record.sentence())
                continue
            if not record.bytes.strip():
                continue
            try:
                value = decode(record.bytes.decode())
            except (TextError, UnicodeDecodeError):
                said = f"line {record.line} (bytes {record.start}-{record.end}): expected one JSON object"
                yield "", SourceCorrupt(path, f"{said}, found something else")
            else:
                yield f"line {record.line}: $", value


def _indexes(root: str, parts: list[str]) -> Iterator[str | SourceError]:
    """The index files below a root, in order of their paths; links are not followed. `*` stands for one folder."""
    waiting = [root]
    for part in parts[:-1]:
        inside: list[str] = []
        for folder in waiting:
            if part != "*":
                inside.append(os.path.join(folder, part))
                continue
            try:
                with os.scandir(folder) as entries:
                    inside += sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                yield _unreadable(folder, error)
        waiting = inside
    for folder in waiting:
        path = os.path.join(folder, parts[-1])
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            yield _unreadable(path, error)
            continue
        if not stat.S_ISLNK(mode):
            yield path


def _unreadable(path: str, error: OSError) -> SourceError:
    found = SourceUnreadable(path, error)
    found.__cause__ = error
    return found
