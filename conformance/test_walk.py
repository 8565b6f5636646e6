"""The documented reader program, run with node, and `turnlog walk` print the same bytes of every file that Pi wrote."""

import functools
import re
import subprocess

import pytest

import turnlog
from driver import environment
from inprocess import command
from scenarios import SCENARIOS

NAMES = [scenario.name for scenario in SCENARIOS]
PROGRAM = re.compile(r"^import \{ readFileSync \}.*?^\}$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="session")
def program(seeds, tmp_path_factory):
    """The program as it stands in the document, in a file of its own."""
    document = next(iter(sorted(seeds.glob("000*")))).read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("program") / "read-session.ts"
    path.write_text(PROGRAM.search(document).group() + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def printed(program, installed, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")

    @functools.cache
    def run(path):
        started = [installed.node, program, path]
        return subprocess.run(started, env=environment(home, installed), capture_output=True, check=True).stdout

    return run


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_what_the_program_prints(name, runs, printed, capsysbinary):
    for path in runs[name].files:
        assert command(capsysbinary, "walk", path) == (0, printed(path), b"")


@pytest.mark.parametrize("name", NAMES)
def test_the_library_walks_the_lines_that_the_program_prints(name, runs, printed):
    for path in runs[name].files:
        with turnlog.walk(path) as reader:
            lines = [turnlog.clean(item.text) for item in reader]

        assert "".join(f"{line}\n" for line in lines).encode() == printed(path)
        assert reader.finish().status is turnlog.ReadStatus.COMPLETE


def test_a_wrong_line_would_be_seen(runs, printed):
    first, second = runs["fork"].files

    assert printed(first) != printed(second)
