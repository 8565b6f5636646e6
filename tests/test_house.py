"""The house rules that a machine can keep."""

import ast
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "turnlog"
MODULES = sorted(PACKAGE.rglob("*.py"))
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

MOST_LINES = 450
SUBJECTLESS = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc"}

# An agent's name outside formats/: `pi` alone or as a part of an identifier, not inside `api` or `pick`.
AGENT = re.compile(r"claude|codex|swink|(?<![a-z])pi(?![a-z])", re.IGNORECASE)
# An option of the contract (section 13) has the name in it; it is passed on under that name.
OPTION = re.compile(r"codex[-_]usage|CodexUsage", re.IGNORECASE)
# The files that may name an agent all the same, with the reason.
MAY_NAME_AGENTS: dict[str, str] = {
    "__init__.py": "the public names hold the typed entries that one agent's own library has",
}

NETWORK_MODULES = {
    "socket",
    "ssl",
    "http",
    "urllib",
    "ftplib",
    "smtplib",
    "xmlrpc",
    "socketserver",
    "requests",
    "httpx",
}
# urllib.parse splits names and opens nothing.
HARMLESS = {"urllib.parse"}


def name(path):
    return path.relative_to(PACKAGE).as_posix()


def trees():
    assert MODULES, "no modules found"
    for path in MODULES:
        yield path, ast.parse(path.read_bytes())


def words(tree):
    """(line, text) of every name and string in the code. Comments and docstrings are prose and may tell of agents."""
    prose = set()
    for node in ast.walk(tree):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None), getattr(node, "finalbody", None)):
            # A docstring, or the string below a constant that documents it.
            for statement in body if isinstance(body, list) else []:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    prose.add(id(statement.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in prose:
            yield node.lineno, node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.lineno, node.arg or ""
        elif isinstance(node, ast.alias):
            yield node.lineno, f"{node.name} {node.asname or ''}"
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or ""


def named_agents(path, tree):
    found = [f"{name(path)}:{line}" for line, text in words(tree) if AGENT.search(OPTION.sub("", text))]
    return [*([f"{name(path)} (its file name)"] if AGENT.search(name(path)) else []), *found]


def tracked():
    """The files of the tree that git holds or would take in."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("no git checkout: there is no list of tracked files")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    paths = [ROOT / item for item in listed.stdout.decode().split("\0") if item]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def test_imports_go_down_and_formats_are_independent():
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_format_is_held_by_the_independence_contract():
    contracts = {contract["id"]: contract for contract in PYPROJECT["tool"]["importlinter"]["contracts"]}
    rooms = {path.stem for path in (PACKAGE / "formats").iterdir() if path.suffix == ".py" or path.is_dir()}

    formats = {f"turnlog.formats.{room}" for room in rooms - {"__init__", "__pycache__", "base"}}

    assert formats == set(contracts["formats"]["modules"])


def test_no_module_outside_formats_names_an_agent():
    found = [
        place
        for path, tree in trees()
        if not name(path).startswith("formats/") and name(path) not in MAY_NAME_AGENTS
        for place in named_agents(path, tree)
    ]

    assert found == [], "the model is missing a word (HOUSE 7), or MAY_NAME_AGENTS a reason"


def test_every_file_that_may_name_agents_does():
    needless = [
        file
        for file in MAY_NAME_AGENTS
        if not (PACKAGE / file).is_file() or not named_agents(PACKAGE / file, ast.parse((PACKAGE / file).read_bytes()))
    ]

    assert needless == [], "no reason is needed where nothing is named"


def test_no_room_has_grown_past_one_subject():
    long = {name(path): lines for path in MODULES if (lines := len(path.read_bytes().splitlines())) > MOST_LINES}

    assert long == {}, f"more than {MOST_LINES} lines: look for the second subject and name it"


def test_every_room_says_its_subject_in_its_name():
    found = [name(path) for path in MODULES if SUBJECTLESS & set(path.relative_to(PACKAGE).with_suffix("").parts)]

    assert found == []


def test_every_room_begins_with_what_it_promises():
    bare = [name(path) for path, tree in trees() if tree.body and not ast.get_docstring(tree)]

    assert bare == []


def test_no_registry_host_and_no_path_of_one_machine_stands_in_the_tree():
    hosts = [
        "pypi" + ".org",
        "python" + "hosted.org",
        "registry.npm" + "js.org",
        "deb.debian" + ".org",
        "index" + "-url",
    ]
    machine = [f"{path}/" for path in (ROOT, ROOT.parent / "shared", Path(sys.prefix).resolve())]
    banned = [text.encode() for text in [*hosts, *machine]]

    found = [
        path.relative_to(ROOT).as_posix()
        for path in tracked()
        if path.suffix != ".jsonl" and any(text in path.read_bytes() for text in banned)
    ]

    assert found == []


def test_the_package_imports_nothing_that_speaks_to_a_network():
    found = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported = [node.module or ""]
            else:
                continue
            found += [
                f"{name(path)}: {module}"
                for module in imported
                if module.split(".")[0] in NETWORK_MODULES and module not in HARMLESS
            ]

    assert found == []


def test_a_network_socket_is_refused_in_the_test_run(no_network):
    with pytest.raises(no_network.RefusedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with pytest.raises(no_network.RefusedError):
        socket.getaddrinfo("localhost", 80)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no local sockets on this system")
def test_a_local_socket_is_allowed_in_the_test_run():
    first, second = socket.socketpair()
    with first, second:
        first.sendall(b"x")

        assert second.recv(1) == b"x"


@pytest.mark.parametrize(
    "command",
    [["overview"], ["list"], ["demo"], ["check"], ["prices"], ["prices", "list", "gpt-5.5"]],
    ids=" ".join,
)
def test_a_command_opens_no_socket(command, tmp_path):
    """The same guard in a process of its own, with the command's whole life under it."""
    watched = (
        "import sys\n"
        "def refuse(event, args):\n"
        "    if event.startswith('socket.'):\n"
        "        print('refused:', event, file=sys.stderr)\n"
        "        raise SystemExit(99)\n"
        "sys.addaudithook(refuse)\n"
        "from turnlog.cli import main\n"
        "sys.argv = ['turnlog', *sys.argv[1:]]\n"
        "main()\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", watched, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )

    assert "refused:" not in done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in {0, 1, 4}, done.stderr
