#!/usr/bin/env python3
"""Make the published JSON Schemas in src/turnlog/schemas from the structs that the commands print.

Run it after a change of an output: `python tools/make_schemas.py`. With --check it writes nothing, names the files that
are stale, and exits 1.
"""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).resolve().parent.parent / "src" / "turnlog" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def outputs() -> dict[str, Any]:
    """Schema name to the type that is printed under it, or to several of which each line is one."""
    from turnlog.ledger import beside, check, context, demo, evidence, overview, sessions, shown, sums, tree
    from turnlog.ledger.prices import listing
    from turnlog.live import answer, run
    from turnlog.render import events, walk

    return {
        overview.SCHEMA: overview.Overview,
        sessions.SCHEMA: sessions.SessionList,
        shown.SCHEMA: shown.Show,
        sums.SCHEMA: sums.UsageReport,
        evidence.SCHEMA: evidence.Explanation,
        tree.SCHEMA: tree.TreeView,
        check.SCHEMA: check.Check,
        context.SCHEMA: context.SessionContext,
        demo.SCHEMA: demo.Demo,
        beside.HISTORY: beside.History,
        beside.TITLES: beside.TitleList,
        answer.SCHEMA: answer.Answer,
        run.SCHEMA: run.Ran,
        listing.SCHEMA: listing.PriceList,
        events.SCHEMA: list(events.row_types().values()),
        walk.SCHEMA: walk.row_types(),
    }


def structs(types: list[Any]) -> dict[str, type[msgspec.Struct]]:
    """Every struct type that can be met below these types, by name."""
    found: dict[str, type[msgspec.Struct]] = {}
    waiting = list(msgspec.inspect.multi_type_info(types))
    seen: set[int] = set()
    while waiting:
        info = waiting.pop()
        if id(info) in seen:
            continue
        seen.add(id(info))
        if isinstance(info, msgspec.inspect.StructType):
            found[info.cls.__name__] = info.cls
            waiting += [field.type for field in info.fields]
        for name in ("types", "item_types"):
            waiting += getattr(info, name, ())
        for name in ("item_type", "key_type", "value_type", "type"):
            inner = getattr(info, name, None)
            if isinstance(inner, msgspec.inspect.Type):
                waiting.append(inner)
    return found


def schema_of(name: str, printed: Any) -> dict[str, Any]:
    """The schema of one output. Everything that is always printed is required."""
    types = printed if isinstance(printed, list) else [printed]
    roots, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    known = structs(types)
    for title, definition in definitions.items():
        properties = definition.get("properties")
        if properties is None:
            continue
        fields = msgspec.structs.fields(known[title])
        definition["required"] = [field.encode_name for field in fields if field.default is not msgspec.UNSET]
        for part in properties.values():
            part.pop("default", None)
    head = {"$schema": DIALECT, "$id": name, "title": name}
    if isinstance(printed, list):
        return head | {"description": "One line of the output.", "oneOf": list(roots), "$defs": definitions}
    own = definitions.pop(printed.__name__)
    own["properties"]["schema"] = {"const": name}
    return head | own | ({"$defs": definitions} if definitions else {})


def texts() -> dict[Path, str]:
    """Each schema file and what should stand in it."""
    return {
        FOLDER / (name.removeprefix("turnlog.").replace("/", "-") + ".json"): json.dumps(
            schema_of(name, printed), indent=2, ensure_ascii=False
        )
        + "\n"
        for name, printed in outputs().items()
    }


def main() -> int:
    """Write the files, or say which are stale."""
    wanted = texts()
    there = set(FOLDER.glob("*.json"))
    stale = [p for p, text in wanted.items() if p not in there or p.read_text(encoding="utf-8") != text]
    stale += sorted(there - set(wanted))
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"stale: {path.name}: run tools/make_schemas.py")
        return 1 if stale else 0
    for path in there - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
