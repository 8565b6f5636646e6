"""One line of a swink-agent session as its own API has it: `SessionEntry`, parsed strictly and written back.

The typed counterpart of `swink_agent_memory::SessionEntry`: a tagged line `{"entry_type": ..., "data": {...}}` or, for a
line without that key, a raw message. It accepts and refuses what serde does (sheet SWINK_AGENT 6, run). The reader of
sessions is another room: it reads what can be read of any line and says what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from ...contract import MAX_U64
from ...errors import TurnlogError
from ...typed import found_name
from .shapes import U64, LlmMessage, ModelSpec, Shape, plain

MAX_LEVELS = 127
"""Levels of nesting serde_json reads."""


class InvalidEntryError(TurnlogError, ValueError):
    """A line that swink-agent itself would refuse. It says where and what type was found, never the text."""


class SessionEntry(Shape, frozen=True):
    """One entry of a session. It is one of the classes below; `match` tells them apart.

    Entries are equal when they say the same; a raw message equals the same one tagged.
    """

    NAME: ClassVar[str] = ""

    @staticmethod
    def parse(line: str | bytes, strict: bool = False) -> SessionEntry:
        """The entry a line is; white space around it does not matter.

        strict: an entry type that is not known is refused, as serde refuses it; else it is kept verbatim as an
        `UnknownEntry`. Raises InvalidEntryError (a TurnlogError and a ValueError) for everything else serde refuses.
        """
        text, value = _json(line)
        if "entry_type" not in value:
            return MessageEntry(_fitted(value, LlmMessage, "$"))
        name = value["entry_type"]
        if not isinstance(name, str):
            raise InvalidEntryError(f"$.entry_type: expected a string, found {found_name(name)}")
        cls = _CLASSES.get(name)
        if cls is None:
            if strict:
                raise InvalidEntryError("$.entry_type: expected a known entry type, found another string")
            return UnknownEntry(name, text)
        if "data" not in value:
            raise InvalidEntryError("$.data: expected an object, found nothing")
        if cls is MessageEntry:
            return MessageEntry(_fitted(value["data"], LlmMessage, "$.data"))
        entry: SessionEntry = _fitted(value["data"], cls, "$.data")
        return entry

    @staticmethod
    def messages(entries: Iterable[SessionEntry]) -> list[LlmMessage]:
        """The messages among the entries, in order: all that goes to the model."""
        return [message for entry in entries if (message := entry.as_message) is not None]

    @property
    def as_message(self) -> LlmMessage | None:
        """The message, if the entry is one."""
        return None

    @property
    def entry_type_name(self) -> str:
        """The word of the tag: message, model_change, thinking_level_change, compaction, label, custom, or an unknown
        one as it stands."""
        return self.NAME

    @property
    def timestamp(self) -> int | None:
        """The entry's or its message's time in Unix seconds (0: nobody knew); None where an unknown entry has none."""
        return None

    def to_json(self) -> str:
        """The tagged line as serde writes it, compact, without a line feed; an unknown entry comes back verbatim.

        Raises InvalidEntryError for a lone surrogate, which no line can hold.
        """
        data = self.as_message if isinstance(self, MessageEntry) else self
        try:
            return msgspec.json.encode({"entry_type": self.NAME, "data": plain(data)}).decode()
        except UnicodeEncodeError:
            raise InvalidEntryError("expected text in Unicode, found a lone surrogate") from None


class MessageEntry(SessionEntry, frozen=True):
    """A message: the only kind that goes to the model."""

    NAME = "message"

    message: LlmMessage

    @property
    def as_message(self) -> LlmMessage:
        """The message."""
        return self.message

    @property
    def timestamp(self) -> int:
        """The message's time in Unix seconds."""
        return self.message.timestamp


class ModelChangeEntry(SessionEntry, frozen=True):
    """The session went on with another model."""

    NAME = "model_change"

    from_: ModelSpec = msgspec.field(name="from")
    to: ModelSpec
    timestamp: U64


class ThinkingLevelChangeEntry(SessionEntry, frozen=True):
    """The session went on with another thinking level; the words are free."""

    NAME = "thinking_level_change"

    from_: str = msgspec.field(name="from")
    to: str
    timestamp: U64


class CompactionEntry(SessionEntry, frozen=True):
    """Older messages were dropped from the context; sizes in tokens."""

    NAME = "compaction"

    dropped_count: U64
    tokens_before: U64
    tokens_after: U64
    timestamp: U64


class LabelEntry(SessionEntry, frozen=True):
    """A person's mark on a message, by its place in the host's list; a save may have moved the label since."""

    NAME = "label"

    text: str
    message_index: U64
    timestamp: U64


class CustomEntry(SessionEntry, frozen=True):
    """The host program's own data."""

    NAME = "custom"

    type_name: str
    data: Any
    timestamp: U64


class UnknownEntry(SessionEntry, frozen=True):
    """An entry of a type that came after this was written. line: its JSON text as it stood."""

    entry_type: str
    line: str

    @property
    def entry_type_name(self) -> str:
        """The word of the tag, as it stands."""
        return self.entry_type

    @property
    def timestamp(self) -> int | None:
        """What its data calls `timestamp`, if that is a whole number."""
        data = _json(self.line)[1].get("data")
        found = data.get("timestamp") if isinstance(data, dict) else None
        return found if found.__class__ is int and found >= 0 else None

    def to_json(self) -> str:
        """Its JSON text as it stood."""
        return self.line


def messages(entries: Iterable[SessionEntry]) -> list[LlmMessage]:
    """The messages among the entries, in order: all that goes to the model."""
    return SessionEntry.messages(entries)


_CLASSES: dict[str, type[SessionEntry]] = {
    cls.NAME: cls
    for cls in (
        MessageEntry,
        ModelChangeEntry,
        ThinkingLevelChangeEntry,
        CompactionEntry,
        LabelEntry,
        CustomEntry,
    )
}


def _json(line: str | bytes) -> tuple[str, dict[str, Any]]:
    """The text of a line without the white space around it, and its value as serde_json has it."""
    try:
        text = (line if isinstance(line, str) else line.decode()).strip(" \t\r\n")
        data = text.encode()
        if data.count(b"{") + data.count(b"[") > MAX_LEVELS and _levels(data) > MAX_LEVELS:
            raise InvalidEntryError(f"expected at most {MAX_LEVELS} levels of nesting, found more")
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise InvalidEntryError("expected one JSON object, found text that is none") from None
    if not isinstance(value, dict):
        raise InvalidEntryError(f"$: expected an object, found {found_name(value)}")
    if _LONG_NUMBER.search(data):
        value = _narrowed(value)
    return text, value


_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_LONG_NUMBER = re.compile(rb"[0-9]{19}")


def _levels(data: bytes) -> int:
    """How deep the brackets outside strings nest."""
    deepest = level = 0
    for byte in _STRING.sub(b"", data):
        if byte in b"{[":
            level += 1
            deepest = max(deepest, level)
        elif byte in b"}]":
            level -= 1
    return deepest


def _narrowed(value: Any) -> Any:
    """The same value with integers over 64 bits as serde_json reads them: floats."""
    if isinstance(value, dict):
        return {key: _narrowed(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_narrowed(part) for part in value]
    if value.__class__ is int and not -(2**63) <= value <= MAX_U64:
        return float(value)
    return value


def _fitted(value: Any, hint: Any, path: str) -> Any:
    """`value` as that type; what does not fit is an InvalidEntryError that says where, and which types."""
    try:
        return msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        said = str(error)
    where = _WHERE.search(said)
    if where is not None:
        path, said = path + where[1][1:], said[: where.start()]
    # Only sentences that hold names of ours and of types are passed on: others quote the value.
    types = _TYPES.fullmatch(said)
    raise InvalidEntryError(f"{path}: {said[0].lower() + said[1:] if types else 'expected another value'}")


_WHERE = re.compile(r" - at `(\$[^`]*)`$")
_TYPES = re.compile(r"Expected `[^`]+`( >= 0)?(, got `\w+`)?|Object missing required field `\w+`|expected [a-z0-9 ,-]+")
