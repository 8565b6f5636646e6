"""The first generation: one JSON document a session, `{"session": {...}, "items": [...]}` (sheet CODEX 2, T)."""

from __future__ import annotations

import json

_SPACE = " \t\r\n"


def document(data: bytes) -> list[tuple[int, int]] | None:
    """Byte spans of the document's records: its `session`, and each of its `items`. None if it is no such document."""
    try:
        text = data.decode()
        spans = _spans(text)
    except (ValueError, RecursionError):
        return None
    if spans is None or len(text) == len(data):
        return spans
    found, at, size = [], 0, 0
    for start, end in spans:
        size += len(text[at:start].encode())
        begin = size
        size += len(text[start:end].encode())
        at = end
        found.append((begin, size))
    return found


def _spans(text: str) -> list[tuple[int, int]] | None:
    """The same in characters. Raises ValueError for what is no JSON."""
    spans: list[tuple[int, int]] = []
    keys: set[str] = set()
    decode = json.JSONDecoder().raw_decode
    at = _past(text, 0)
    if text[at : at + 1] != "{":
        return None
    at = _past(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = decode(text, at)
        at = _past(text, at)
        if text[at : at + 1] != ":":
            raise ValueError
        begin = _past(text, at + 1)
        if key == "items" and text[begin : begin + 1] == "[":
            at = _past(text, begin + 1)
            while text[at : at + 1] not in ("]", ""):
                _, end = decode(text, at)
                spans.append((at, end))
                at = _past(text, end)
                if text[at : at + 1] == ",":
                    at = _past(text, at + 1)
            at += 1
        else:
            _, at = decode(text, begin)
            if key == "session":
                spans.append((begin, at))
        keys.add(key)
        at = _past(text, at)
        if text[at : at + 1] == ",":
            at = _past(text, at + 1)
    if text[at : at + 1] != "}" or _past(text, at + 1) != len(text):
        raise ValueError
    return spans if "session" in keys and "items" in keys else None


def _past(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at
