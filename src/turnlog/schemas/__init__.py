"""The published JSON Schemas: what each `--json` output and each line of `turnlog events` promises.

Made by `tools/make_schemas.py` from the structs that are printed; the tests hold every output to them. A field that
is added keeps the version; one that goes, or changes its meaning, raises it.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

PREFIX = "turnlog."


def names() -> list[str]:
    """The names of all schemas, such as "turnlog.overview/1": the value of the key `schema` in an output."""
    stems = (path.name.removesuffix(".json") for path in files(__name__).iterdir() if path.name.endswith(".json"))
    return sorted(PREFIX + "/".join(stem.rsplit("-", 1)) for stem in stems)


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of that name: "turnlog.check/1", or "check" for its newest version. Raises LookupError."""
    wanted = (
        name
        if "/" in name
        else max((n for n in names() if n.startswith(f"{PREFIX}{name}/")), key=_version, default=name)
    )
    if wanted not in names():
        raise LookupError(f"expected one of {', '.join(names())}, found {name!r}")
    file = wanted.removeprefix(PREFIX).replace("/", "-") + ".json"
    found: dict[str, Any] = json.loads(files(__name__).joinpath(file).read_text(encoding="utf-8"))
    return found


def _version(name: str) -> int:
    return int(name.rpartition("/")[2])
