"""Every native type has a line in the docs: the page is made from the tables, and is fresh."""

import subprocess
import sys
from pathlib import Path

from turnlog.formats import FORMATS, streams
from turnlog.model import KINDS
from turnlog.stream import WORDS

ROOT = Path(__file__).resolve().parent.parent
TABLES = {**FORMATS, **{f"{format.name} stream": format for format in streams()}}


def test_the_page_of_native_types_is_fresh():
    made = subprocess.run([sys.executable, ROOT / "tools" / "make_type_tables.py", "--check"], check=False)

    assert made.returncode == 0, "run: python tools/make_type_tables.py"


def test_a_type_is_projected_or_ignored_and_never_both():
    both = {name: sorted(set(format.types) & set(format.ignored)) for name, format in TABLES.items()}

    assert both == {name: [] for name in TABLES}


def test_types_are_projected_to_kinds_that_exist():
    strange = {
        (name, label, kind)
        for name, format in TABLES.items()
        for label, kinds in format.types.items()
        for kind in kinds
        if kind not in (KINDS | set(WORDS) if name.endswith(" stream") else KINDS)
    }

    assert strange == set()


def test_every_ignored_type_has_a_reason_and_where_it_was_seen():
    bare = [
        (name, label) for name, f in TABLES.items() for label, why in f.ignored.items() if not (why.reason and why.seen)
    ]

    assert bare == []
