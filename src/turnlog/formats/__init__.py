"""The table of formats: the one place that knows which agents there are."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable

from ..contract import Place
from ..errors import UnknownFormatError
from ..jsontext import TextError, decode
from .base import Format
from .claude import CLAUDE
from .codex import CODEX
from .pi import PI
from .swink import SWINK

FORMATS: dict[str, Format] = {format.name: format for format in (CLAUDE, CODEX, PI, SWINK)}
"""Every agent's format by its name on the command line, in the order they are asked when a file is sniffed."""


STREAMS: dict[str, str] = {"pi": "pi.stream", "claude": "claude.stream", "codex": "codex.stream"}
"""Whose printed streams are read, in the order they are asked: the module that holds the `STREAM` of each, imported when a stream is asked for."""


def streams() -> list[Format]:
    """The format of every agent's printed stream, in the order they are asked when one is sniffed."""
    return [stream_of(name) for name in STREAMS]


def stream_of(name: str) -> Format:
    """The format of what that agent prints while it runs. Raises UnknownFormatError."""
    room = STREAMS.get(name)
    if room is None:
        raise UnknownFormatError(f"expected one of {', '.join(STREAMS)}, found no stream of an agent called {name!r}")
    format: Format = importlib.import_module(f".{room}", __name__).STREAM
    return format


def by_name(name: str) -> Format:
    """The format of that name. Raises UnknownFormatError."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormatError(f"expected one of {', '.join(FORMATS)}, found no agent called {name!r}") from None


def sniffed(head: bytes) -> Format | None:
    """The format whose record is among the first whole ones in `head`, or None."""
    return _first_in(head, FORMATS.values()) or document_format(head)


def sniffed_stream(head: bytes) -> Format | None:
    """The format of a printed stream whose record is among the first whole ones in `head`, or None."""
    return _first_in(head, streams())


def _first_in(head: bytes, formats: Iterable[Format]) -> Format | None:
    formats = list(formats)
    for raw in head.lstrip(b"\xef\xbb\xbf\0").split(b"\n")[:64]:
        try:
            value = decode(raw.strip(b"\0\r").decode(errors="replace"))
        except TextError:
            continue
        for format in formats:
            if format.sniff(value):
                return format
    return None


def document_format(head: bytes) -> Format | None:
    """The format of a whole JSON document, where one takes documents."""
    if not head.lstrip().startswith(b"{") or b"\n" not in head.strip():
        return None
    try:
        value = json.loads(head)
    except (ValueError, RecursionError):
        return None
    return next((f for f in FORMATS.values() if f.document and isinstance(value, dict) and f.sniff(value)), None)


def place_of(name: str, *, subagent: bool | None = None) -> Place:
    """What a path tells of a source. subagent: what discovery found; None goes by the path."""
    base = os.path.basename(name)
    stem = base
    for suffix in (".zst", ".jsonl", ".json"):
        stem = stem.removesuffix(suffix)
    if subagent is None:
        subagent = "subagents" in name.split(os.sep)[:-1] or base.startswith("agent-")
    return Place(name=name, stem=stem, subagent=subagent, document=base.endswith(".json"))
