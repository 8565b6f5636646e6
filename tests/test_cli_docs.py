"""docs/cli.md tells of every command, option, kind, schema and exit code, and its examples run."""

import re
import shutil
import subprocess
import sys

import click
import pytest

from commands import CLAUDE, DEMO, ROOT, SECONDS, apart, environment
from turnlog.cli import COMMANDS, group
from turnlog.schemas import names

PAGE = ROOT / "docs" / "cli.md"
TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## turnlog (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
EXAMPLES = [
    line.removeprefix("$ ")
    for block in re.findall(r"^```console\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]


def command_of(name):
    return group.turnlog.get_command(click.Context(group.turnlog), name)


def test_every_command_has_its_section():
    assert list(SECTIONS) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_a_line(name):
    section = SECTIONS[name]
    untold = [
        word
        for parameter in command_of(name).params
        if isinstance(parameter, click.Option) and not parameter.hidden
        for word in [*parameter.opts, *parameter.secondary_opts]
        if not re.search(rf"^\| .*`{re.escape(word)}[` ].* \| \S.* \|$", section, re.MULTILINE)
    ]

    assert untold == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_and_command_says_what_it_is_for(name):
    command = command_of(name)

    assert command.help
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name):
    assert any(re.match(rf"turnlog {name}\b", example) for example in EXAMPLES)


def test_the_tables_are_those_of_the_commands():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_cli_docs.py", "--check"], env=environment(), check=False
    )

    assert done.returncode == 0, "stale: run tools/make_cli_docs.py"


def test_every_exit_code_has_a_line():
    codes = {
        group.NOTHING_MATCHED,
        group.WRONG_USAGE,
        group.PARTIAL,
        group.NOTHING_READ,
        group.NOT_STARTED,
        group.INTERRUPTED,
        0,
    }

    assert {int(code) for code in re.findall(r"^\| (\d+) \| \S", TEXT, re.MULTILINE)} == codes


def test_every_command_that_prints_json_has_a_schema():
    printing = {name for name in COMMANDS if any("--json" in p.opts for p in command_of(name).params)}
    published = {name.split("/")[0].removeprefix("turnlog.") for name in names()}

    assert printing - published == set()
    assert published - printing == {"events"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(example, tmp_path):
    home = tmp_path / "home"
    shutil.copytree(DEMO, home)
    shutil.copy(CLAUDE, tmp_path / "session.jsonl")
    shutil.copy(ROOT / "tests" / "fixtures" / "streams" / "pi-answered.jsonl", tmp_path / "run.jsonl")
    found = re.fullmatch(r"turnlog\b(.*?)\s*(?:# exit (\d))?", example)
    assert found, example
    script = f'"{sys.executable}" -m turnlog{found[1]}'

    done = subprocess.run(
        script, shell=True, cwd=tmp_path, capture_output=True, timeout=SECONDS, check=False,
        env=environment(HOME=str(home), XDG_CONFIG_HOME=str(home / ".config")),
    )  # fmt: skip

    assert done.returncode == int(found[2] or 0), done.stderr.decode()
    assert done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_there(shell):
    assert f"_TURNLOG_COMPLETE={shell}_source" in TEXT
    done = apart(_TURNLOG_COMPLETE=f"{shell}_source")
    # bash is asked for its version, which is not there on every system.
    assert done.returncode == 0 or shell == "bash"


def test_completion_knows_the_commands():
    done = apart(_TURNLOG_COMPLETE="zsh_complete", COMP_WORDS="turnlog ch", COMP_CWORD="1")

    assert b"check" in done.stdout
