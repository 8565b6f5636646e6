#!/usr/bin/env python3
"""Write the tables of options in docs/cli.md from the commands themselves; `--check` only says whether they are stale.

python tools/make_cli_docs.py [--check]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from turnlog.cli import COMMANDS
from turnlog.cli.group import turnlog

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
TABLE = re.compile(r"(<!-- options: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(name: str) -> str:
    """The options of one command, a row each."""
    context = click.Context(turnlog)
    command = turnlog.get_command(context, name)
    assert command is not None
    rows = []
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or parameter.hidden:
            continue
        words = ", ".join(f"`{word}`" for word in [*parameter.opts, *parameter.secondary_opts])
        if not parameter.is_flag:
            words = words[:-1] + f" {parameter.make_metavar(context)}`"
        default = parameter.default
        usual = f" Usually `{default}`." if parameter.show_default and isinstance(default, str) else ""
        rows.append(f"| {words.replace('|', chr(92) + '|')} | {parameter.help}{usual} |")
    return "\n".join(["| option | meaning |", "|---|---|", *rows]) + "\n" if rows else "It has no options of its own.\n"


def page(text: str) -> str:
    """The page with every table as it should be."""
    return TABLE.sub(lambda found: found[1] + (table(found[2]) if found[2] in COMMANDS else "") + found[3], text)


def main() -> int:
    """Write the page, or with --check compare it."""
    text = PAGE.read_text(encoding="utf-8")
    wanted = page(text)
    if "--check" in sys.argv[1:]:
        return int(text != wanted)
    PAGE.write_text(wanted, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
