"""What a tool call is about, in a few words: the argument that says most."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from .text import first_line, one_line

_TELLING = (
    "command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url", "description", "prompt",
    "message", "input", "text",
)  # fmt: skip
"""Arguments that say most of a call, the most telling first: the names tools of all agents use."""


def gist_of(arguments: Any, width: int) -> str:
    """What a call is about, on one line."""
    if isinstance(arguments, str):
        try:
            decoded = msgspec.json.decode(arguments[: 1 << 20])
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            decoded = None
        arguments = decoded if isinstance(decoded, dict | list) else arguments
    if isinstance(arguments, dict):
        value = next((arguments[key] for key in _TELLING if arguments.get(key)), None)
        if value is None:
            value = next((v for v in arguments.values() if isinstance(v, str) and v.strip()), None)
        if value is None and not arguments:
            return ""
        arguments = arguments if value is None else value
    if isinstance(arguments, list) and arguments and all(isinstance(word, str) for word in arguments):
        # ["bash", "-lc", "..."]: the shell's own words say nothing.
        arguments = arguments[-1] if len(arguments) == 3 and arguments[1] in ("-lc", "-c") else " ".join(arguments)
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        _, patch, rest = arguments.partition("*** Begin Patch\n")  # the line after it names the file
        return first_line(rest if patch else arguments, width)
    return one_line(pretty(arguments, indent=None), width)


def pretty(value: Any, indent: int | None = 1) -> str:
    """A JSON value as text; a string is itself."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent)
    except (RecursionError, ValueError):
        return "(nested too deep to be shown)"
