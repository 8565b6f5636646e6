"""Writes docs/formats/types.md from the formats' own tables; `--check` only says whether it is stale.

python tools/make_type_tables.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

from turnlog.formats import FORMATS, streams

PAGE = Path(__file__).resolve().parents[1] / "docs" / "formats" / "types.md"

HEAD = """# Native types

Made from the tables in `src/turnlog/formats/` by `tools/make_type_tables.py`; do not edit. A label is a record's type, or a
part's with its place before it (`content:text`, `event_msg:token_count`). The last sections are of what agents print while they
run (`turnlog answer`). A type that stands in no table here is counted as
*unknown* when it is met, under its label, and never dropped without a word.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    formats = [(format.title, format) for format in sorted(FORMATS.values(), key=lambda format: format.title)]
    formats += [(f"{format.title}, what it prints", format) for format in sorted(streams(), key=lambda f: f.title)]
    for title, format in formats:
        parts.append(f"\n## {title}\n\nRead as events:\n\n| native type | events |\n|---|---|\n")
        parts += [
            f"| `{label}` | {', '.join(kinds) or 'none of its own'} |\n"
            for label, kinds in sorted(format.types.items())
        ]
        if format.ignored:
            parts.append("\nKnown and left out, each for its reason:\n\n| native type | why | seen |\n|---|---|---|\n")
            parts += [f"| `{label}` | {why.reason} | {why.seen} |\n" for label, why in sorted(format.ignored.items())]
    return "".join(parts)


def main() -> int:
    """Write the page, or with --check compare it."""
    text = page()
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
