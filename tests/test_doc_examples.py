"""The examples in the docs run, in their order, over a demo session."""

import re
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "library.md"]
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_examples_of_a_page_run(page, tmp_path, monkeypatch):
    with as_file(files("turnlog") / "demo_home") as home:
        sessions = sorted((home / ".claude" / "projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
        shutil.copy(sessions[-1], tmp_path / "session.jsonl")
    shutil.copy(ROOT / "tests" / "fixtures" / "streams" / "pi-answered.jsonl", tmp_path / "run.jsonl")
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"path": "session.jsonl"}

    for example in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        exec(compile(example, page.name, "exec"), space)
