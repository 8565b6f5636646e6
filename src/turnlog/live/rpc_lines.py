"""Pi's RPC output cut into lines, and of each as much as a client needs to know whom it is for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ..errors import InvalidOptionsError
from ..framing import Framer, Oversize
from ..jsontext import value_of
from .rpc_errors import RpcProtocolError
from .rpc_records import Tree, tree_of

T = TypeVar("T")

_HEAD = 256
_ANSWER = re.compile(rb'^\s*\{"id":"([^"\\]{1,64})","type":"response"')


class Head(msgspec.Struct):
    """What is read of every line. data: raw JSON, or the value where the line had to be read the slow way."""

    type: str | None = None
    id: str | None = None
    success: bool | None = None
    error: Any = None
    data: msgspec.Raw | None = None
    aborted: bool | None = None
    value: Any = None


class Unread(msgspec.Struct):
    """A line that is over the limit, or no JSON object. id: of the command that it answers, where its beginning says so.
    said: what was expected, and found."""

    said: str
    id: str | None = None


_head = msgspec.json.Decoder(Head).decode


class Lines:
    """Bytes in, heads out, with the line of each. unreadable: lines that are no JSON object, or too long. held: bytes
    of a line that has not ended."""

    def __init__(self, limit: int | None) -> None:
        self.unreadable = 0
        self._framer = Framer(limit)
        self._begun = b""  # how the line that has not ended begins

    @property
    def held(self) -> int:
        """Bytes taken in of a line that has not ended yet."""
        return self._framer.pending

    def feed(self, data: bytes) -> list[tuple[Head | Unread, bytes]]:
        """Take bytes in; the lines they complete, in order."""
        at, begun = -self._framer.pending, self._begun
        found: list[tuple[Head | Unread, bytes]] = []
        for record in self._framer.feed(data):
            if isinstance(record, Oversize):
                beginning = (begun + data[:_HEAD])[:_HEAD] if at < 0 else data[at : at + _HEAD]
                found.append((self._unread(beginning, f"within the limit, found one of {record.size} bytes"), b""))
                at += record.size
                continue
            line = bytes(record)
            at += len(line) + 1
            if line.strip():
                found.append((_head_of(line) or self._unread(line[:_HEAD], "in JSON, found one that is none"), line))
        last = data.rfind(b"\n") + 1
        if last or len(begun) < _HEAD:
            self._begun = ((b"" if last else begun) + data[last : last + _HEAD])[:_HEAD]
        return found

    def _unread(self, beginning: bytes, found: str) -> Unread:
        self.unreadable += 1
        answers = _ANSWER.match(beginning)
        told = None if answers is None else answers[1].decode(errors="replace")
        return Unread(f"expected an answer {found}", told)


def _head_of(line: bytes) -> Head | None:
    """The head of a line; None where it is no JSON object. A line may be nested as deep as a session is long."""
    try:
        return _head(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        value = value_of(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None

    def of(name: str, kind: type[T]) -> T | None:
        there = value.get(name)
        return there if isinstance(there, kind) else None

    return Head(
        of("type", str), of("id", str), of("success", bool), value.get("error"), None, of("aborted", bool),
        value.get("data"),
    )  # fmt: skip


def fitted(command: str, head: Head, wanted: Any) -> Any:
    """The data of an answer as the type that is wanted. Raises RpcProtocolError, which tells the field and its type."""
    try:
        if wanted is object or wanted is None:
            return None
        if wanted is Tree:
            return tree_of(head.value if head.data is None else value_of(bytes(head.data)))
        if head.data is not None:
            try:
                return msgspec.json.decode(head.data, type=wanted)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                head.value = value_of(bytes(head.data))
        return msgspec.convert(head.value, wanted)
    except msgspec.ValidationError as error:
        raise RpcProtocolError(command, f"the answer is another than expected: {error}") from None
    except (TypeError, KeyError, AttributeError, ValueError, RecursionError):
        raise RpcProtocolError(command, "the answer is another than expected") from None


def line_of(fields: Mapping[str, Any]) -> bytes:
    """One JSON object as a line: ASCII, so that no reader finds a line end or half a character in it. Raises
    InvalidOptionsError for what JSON cannot hold."""
    try:
        return json.dumps(dict(fields), ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    except (TypeError, ValueError, RecursionError):
        raise InvalidOptionsError("expected values that JSON can hold, found others") from None
