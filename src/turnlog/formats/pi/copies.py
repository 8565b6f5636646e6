"""Copies that share no ids (sheet PI 2 and 10).

Version 1 had no ids: a branch wrote its parent's entries again into a new file, and migrating either file later gave each
entry a random id. So among files of one line (the same session id, or a header that names the file it was branched from)
what has the same time and content is the same work. Other files are never compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ...work import FileWork, Key, Mark, Sample
from .fold import Lineage

_LATEST = datetime.max.replace(tzinfo=UTC)


def reconcile(files: list[FileWork]) -> None:
    """Give work that was copied without ids the key it has in the eldest file of its line."""
    if not any(_lineage(work).flat or _lineage(work).parent for work in files):
        return
    roots: dict[str, str] = {}

    def root(name: str) -> str:
        while (above := roots.setdefault(name, name)) != name:
            name = above
        return name

    for work in files:
        first, *others = _names(work)
        for name in others:
            roots[root(name)] = root(first)
    lines: dict[str, list[FileWork]] = {}
    for work in files:
        lines.setdefault(root(_names(work)[0]), []).append(work)
    for members in lines.values():
        if len(members) > 1 and any(_lineage(work).flat or _lineage(work).parent for work in members):
            _unite(sorted(members, key=lambda work: (work.born or _LATEST, work.path)))


def _lineage(work: FileWork) -> Lineage:
    return work.hints if isinstance(work.hints, Lineage) else Lineage()


def _names(work: FileWork) -> list[str]:
    """What a line of files has in common: the file itself, its sessions, and the file it was branched from."""
    names = [f"file {_stem(work.path)}", *(f"session {name}" for name in work.sessions)]
    parent = _lineage(work).parent
    return [*names, f"file {_stem(parent)}"] if parent else names


def _stem(path: str) -> str:
    return re.split(r"[/\\]", path)[-1].removesuffix(".jsonl")


def _unite(members: list[FileWork]) -> None:
    known: dict[Content, Key] = {}
    for work in members:
        fresh: dict[Content, Key] = {}
        for content, piece in _contents(work):
            piece.key = known.get(content, piece.key)
            fresh[content] = piece.key
        known.update(fresh)


Content = tuple[Any, ...]
"""What a piece of work says, without its name."""


def _contents(work: FileWork) -> Iterator[tuple[Content, Sample | Mark]]:
    """Each piece of work that has a time, and its content; the n-th of equal ones in a file has its number in it, so
    that nothing is united inside one file."""
    seen = Counter[Content]()
    keys: dict[tuple[Content, Key], int] = {}
    pieces: list[Sample | Mark] = [*work.samples, *work.marks]
    for piece in pieces:
        if piece.at is None:
            continue
        content: Content
        if isinstance(piece, Sample):
            counts = piece.counts
            content = (
                piece.at,
                piece.model,
                counts.input,
                counts.output,
                counts.cache_read,
                counts.cache_write,
                piece.cost,
            )
        else:
            content = (piece.at, piece.what)
        # Lines of one key are one piece already: they keep one number.
        number = keys.get((content, piece.key))
        if number is None:
            number = keys[content, piece.key] = seen[content]
            seen[content] += 1
        yield (*content, number), piece
