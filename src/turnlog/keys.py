"""Which keys stand twice in one object of a record.

Decoders take the last of two equal keys and say nothing. To see them, every record is looked at, in three steps from
quick to sure. What decodes and encodes back to the very same bytes has lost nothing, so no key stood twice in it: that
settles nearly every record any agent writes, at the speed of the decoder. The second step does the same without white
space and with numbers kept as they are spelled. Whatever is left is decoded pair by pair.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

MOST = 8
"""Different keys that are told of one record: names come from the file, and a hostile one could have millions."""

MOST_CHARS = 96

_NONE: list[str] = []
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_as_spelled = msgspec.json.Decoder(float_hook=lambda text: msgspec.Raw(text.encode())).decode
_NOT_SO = (msgspec.MsgspecError, ValueError, RecursionError)


def looked_at(data: bytes) -> tuple[Any, list[str] | None]:
    """The value of a record, and its keys that stand twice in one object, at most `MOST`, each cut to 96 characters.

    The value is None where the whole is no JSON value. The keys are None where the record cannot be looked at: it is
    damaged, or nested too deep. Objects back to back on one line are each looked at. Raises nothing.
    """
    data = data.removesuffix(b"\r")
    value: Any = None
    try:
        value = _decode(data)
        if _encode(value) == data:
            return value, _NONE
        plain = msgspec.json.format(data, indent=-1)
        if _encode(_as_spelled(plain)) == plain:
            return value, _NONE
    except _NOT_SO:
        pass
    try:
        found, keys = _pair_by_pair(data.decode(errors="replace").strip(" \t\r\n\0\ufeff"))
    except _NOT_SO:
        return value, None
    return (found if value is None else value), keys


def _pair_by_pair(text: str) -> tuple[Any, list[str]]:
    repeated: dict[str, None] = {}

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) < len(items):
            seen: set[str] = set()
            for key, _ in items:
                if key in seen and len(repeated) < MOST:
                    repeated[key[:MOST_CHARS]] = None
                seen.add(key)
        return value

    decoder = json.JSONDecoder(object_pairs_hook=pairs)
    value, at = decoder.raw_decode(text)
    while at < len(text):  # objects back to back
        while at < len(text) and text[at] in " \t\r\0":
            at += 1
        if at < len(text):
            _, at = decoder.raw_decode(text, at)
    return value, list(repeated)
