"""The examples in the docs run, in their order, over a demo session."""

import os
import re
import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs" / "library.md", ROOT / "docs" / "live.md"]
TESTS = ROOT / "tests"
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def in_the_place_of_pi(folder, monkeypatch):
    """A `pi` on the path that prints what Pi prints."""
    folder.mkdir()
    program = folder / "pi"
    program.write_text(
        f"#!{sys.executable}\nimport runpy, sys\nsys.path.insert(0, {str(TESTS)!r})\n"
        f"if 'rpc' in sys.argv: runpy.run_path({str(TESTS / 'fake_pi.py')!r})\n"
        f"else: runpy.run_path({str(TESTS / 'fake_agent.py')!r})['ok']()\n"
    )
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_examples_of_a_page_run(page, tmp_path, monkeypatch):
    with as_file(files("turnlog") / "demo_home") as home:
        sessions = sorted((home / ".claude" / "projects").glob("*/*.jsonl"), key=lambda path: path.stat().st_size)
        shutil.copy(sessions[-1], tmp_path / "session.jsonl")
    shutil.copy(ROOT / "tests" / "fixtures" / "streams" / "pi-answered.jsonl", tmp_path / "run.jsonl")
    if page.name == "live.md":
        if os.name != "posix":
            pytest.skip("the program in the place of pi is found by its first line")
        in_the_place_of_pi(tmp_path / "bin", monkeypatch)
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"path": "session.jsonl"}

    for example in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        exec(compile(example, page.name, "exec"), space)
