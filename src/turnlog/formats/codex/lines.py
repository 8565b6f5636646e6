"""All lines of a Codex file as one schema: which struct a line becomes (sheet CODEX 2, 3).

In an envelope the payload's type decides. A line of 0.8 to 0.29 is the item itself and is typed by the same struct. What
has no known type (the bare header of such a file, its `state` lines, new types) becomes an `OpenLine`. A type that is
known and left out is a struct without fields: a mirror that nobody reads costs no more than its bytes.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from ...typed import Fitted, Schema
from .records import (
    AgentMessage,
    Bare,
    CompactedLine,
    CustomOutput,
    CustomToolCall,
    FunctionCall,
    ImageGenerationCall,
    ItemCompleted,
    ItemMetadata,
    OpenLine,
    Output,
    OwnCall,
    Reasoning,
    RolledBack,
    Said,
    SearchCallOutput,
    SearchOutput,
    SessionMetaLine,
    SettingsApplied,
    TaskComplete,
    TaskStarted,
    TokenCount,
    ToolSearchCall,
    TurnAborted,
    TurnContextLine,
    UsageRecordLine,
    UserMessage,
    WebSearchCall,
)
from .types import IGNORED

LABELS: dict[type, str] = {}
"""The label of each struct whose record is known and left out."""


def _named(prefix: str) -> dict[str, type[msgspec.Struct]]:
    """A struct without fields for each ignored label with that prefix, by native type."""
    found = {}
    for label in IGNORED:
        of, _, name = label.rpartition(":")
        if of == prefix and label != "state":  # a `state` has no type
            struct = msgspec.defstruct(f"Aside_{name}", [], tag_field="type", tag=name, gc=False)
            found[name], LABELS[struct] = struct, label
    return found


def _tagged(*structs: Any) -> dict[str, type[msgspec.Struct]]:
    return {str(struct.__struct_config__.tag): struct for struct in structs}


EVENTS = _tagged(
    TokenCount,
    UserMessage,
    TaskStarted,
    TaskComplete,
    TurnAborted,
    RolledBack,
    SettingsApplied,
    ItemCompleted,
) | _named("event_msg")
"""Payloads of event_msg, by native type."""

ITEMS = _tagged(
    Said,
    AgentMessage,
    Reasoning,
    FunctionCall,
    CustomToolCall,
    OwnCall,
    WebSearchCall,
    ToolSearchCall,
    ImageGenerationCall,
    Output,
    CustomOutput,
    SearchOutput,
    SearchCallOutput,
) | _named("response_item")
"""Payloads of response_item, by native type; flat lines too."""

RECORDS = _tagged(SessionMetaLine, TurnContextLine, CompactedLine, UsageRecordLine) | _named("")
"""The other records, by native type."""

EventLine: Any = msgspec.defstruct(
    "EventLine",
    [("timestamp", str | int | None, None), ("payload", Union[tuple(EVENTS.values())] | None, None)],  # noqa: UP007
    tag_field="type",
    tag="event_msg",
    gc=False,
)

ItemLine: Any = msgspec.defstruct(
    "ItemLine",
    [
        ("timestamp", str | int | None, None),
        ("payload", Union[tuple(ITEMS.values())] | None, None),  # noqa: UP007
        ("metadata", ItemMetadata | None, None),
    ],
    tag_field="type",
    tag="response_item",
    gc=False,
)


_LINES: dict[str, Any] = {"event_msg": EventLine, "response_item": ItemLine}


class _CodexSchema(Schema[Any]):
    """All lines, read both ways: the struct is picked by `type`, in an envelope by the payload's too."""

    def __init__(self) -> None:
        super().__init__(OpenLine)
        lines = (EventLine, ItemLine, *RECORDS.values(), *ITEMS.values())
        self.first = self.whole = msgspec.json.Decoder(Union[lines]).decode  # noqa: UP007
        self._schemas: dict[tuple[str, str | None], Schema[Any]] = {}

    def fit(self, value: dict[str, Any], *, strict: bool = False) -> Fitted[Any]:
        """Fit a plain object to the struct of its type; see Schema.fit."""
        kind = value.get("type")
        if isinstance(kind, str) and kind in _LINES:
            payload = value.get("payload")
            name = payload.get("type") if isinstance(payload, dict) else "" if payload is None else None
            schema = self._schema(kind, name) if isinstance(name, str) else None
            if schema is not None:
                fitted = schema.fit(value, strict=strict)
                line = _LINES[kind]
                fitted.record = line(*(getattr(fitted.record, field) for field in line.__struct_fields__))
                return fitted
        elif isinstance(kind, str):
            schema = self._schema(kind, None)
            if schema is not None:
                return schema.fit(value, strict=strict)
        return super().fit(value, strict=strict)

    def _schema(self, kind: str, name: str | None) -> Schema[Any] | None:
        """The schema of one type, made when it is first asked for. name: of the payload, "" for none at all."""
        schema = self._schemas.get((kind, name))
        if schema is None:
            struct: Any
            if name is None:
                struct = ITEMS.get(kind) or RECORDS.get(kind)
            else:
                payload: Any = (EVENTS if kind == "event_msg" else ITEMS).get(name) if name else Bare
                fields: Any = [("timestamp", str | int | None, None)]
                if payload is not None:
                    fields.append(("payload", payload | None, None))
                if kind == "response_item":
                    fields.append(("metadata", ItemMetadata | None, None))
                struct = payload and msgspec.defstruct(f"{kind}_{name}", fields)
            if struct is None:
                return None
            schema = self._schemas[kind, name] = Schema(struct)
        return schema


SCHEMA: Schema[Any] = _CodexSchema()
