"""Discovery: where it looks, what it finds, and that nothing in a tree can stop it or make it lie."""

import errno
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from turnlog import roots as rules
from turnlog.discover import (
    Roots,
    SessionFile,
    check_recognised,
    find_sessions,
    recognised,
    roots_from_env,
    roots_from_home,
)
from turnlog.errors import UnknownFormatError
from turnlog.formats import FORMATS
from turnlog.formats.base import Root
from turnlog.roots import RootPath

# The room itself, to put a failing os.scandir into it.
room = sys.modules[find_sessions.__module__]

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX systems")
plain_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="modes do not stop the superuser; others run this"
)


def put(path, data=b"{}\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def below(folder, found):
    return [os.path.relpath(item.path, folder) for item in found]


def only(folder, **rule):
    """Roots of one folder with rules of its own; the name is of an agent that has no rule for others' files."""
    scans = rule.pop("scans", (("", "**/*.jsonl"),))
    return Roots({"swink": (RootPath("swink", str(folder), "option", scans),)})


@pytest.fixture
def ruled(monkeypatch):
    """Put other rules in place of an agent's own."""

    def put_rules(name="swink", *, recognise=None, **root):
        format = FORMATS[name]
        changed = type(format)(**{f: getattr(format, f) for f in format.__struct_fields__} | {"root": Root(**root)})
        changed = type(format)(**{f: getattr(changed, f) for f in format.__struct_fields__} | {"recognise": recognise})
        monkeypatch.setitem(FORMATS, name, changed)

    return put_rules


# -- where to look


def test_every_agent_has_a_root_of_its_own_below_a_home(tmp_path):
    roots = roots_from_home(tmp_path)

    for agent in FORMATS:
        paths = roots.of(agent)
        assert paths
        assert all(Path(path.path).is_relative_to(tmp_path) and path.given == "home" for path in paths)
    assert roots.problems == ()


def test_the_default_folders_are_those_of_the_agents(tmp_path):
    paths = {
        agent: [os.path.relpath(p.path, tmp_path) for p in roots_from_home(tmp_path).of(agent)] for agent in FORMATS
    }

    assert paths["claude"] == [".claude", os.path.join(".config", "claude")]
    assert paths["swink"] == [os.path.join(".config", "swink-agent", "sessions")]
    assert paths.get("codex", [".codex"]) == [".codex"]
    assert paths.get("pi", [os.path.join(".pi", "agent")]) == [os.path.join(".pi", "agent")]


def test_a_home_of_its_own_ignores_every_variable(tmp_path, monkeypatch):
    for format in FORMATS.values():
        for name, _ in format.root.env:
            monkeypatch.setenv(name, "")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")

    roots = roots_from_home(tmp_path)

    assert roots.problems == ()
    assert all(Path(path.path).is_relative_to(tmp_path) for agent in FORMATS for path in roots.of(agent))


@pytest.mark.parametrize("agent", [name for name, format in FORMATS.items() if format.root.env])
def test_a_variable_replaces_the_root(agent, tmp_path):
    for name, scans in FORMATS[agent].root.env:
        roots = roots_from_env({name: str(tmp_path / "x")}, tmp_path, tmp_path)

        (path,) = roots.of(agent)
        assert (path.path, path.given, path.scans) == (str(tmp_path / "x"), "environment", scans)


@pytest.mark.parametrize("agent", [name for name, format in FORMATS.items() if format.root.env])
def test_a_variable_that_is_set_and_empty_is_an_error_that_names_it(agent, tmp_path):
    for name, _ in FORMATS[agent].root.env:
        roots = roots_from_env({name: ""}, tmp_path, tmp_path)

        assert roots.of(agent) == ()
        (problem,) = (problem for problem in find_sessions(roots).problems if problem.kind != "missing-root")
        assert (problem.path, problem.kind, problem.note, problem.agent) == (name, "empty-override", False, agent)


def test_a_relative_variable_is_kept_as_it_is(tmp_path):
    (path,) = roots_from_env({"CLAUDE_CONFIG_DIR": "~/x,y"}, tmp_path, tmp_path).of("claude")

    assert path.path == "~/x,y"


def test_a_leading_tilde_is_the_home_where_the_agent_reads_it_so(tmp_path, ruled):
    ruled(env=(("STORE", ()),), expands=True, scans=(("", "*.jsonl"),))

    (path,) = roots_from_env({"STORE": "~/x"}, tmp_path, tmp_path).of("swink")

    assert path.path == f"{tmp_path}/x"


@posix
def test_the_home_is_the_variable_and_else_the_accounts(tmp_path):
    assert roots_from_env({"HOME": str(tmp_path)}).of("claude")[0].path == str(tmp_path / ".claude")
    for environ in ({}, {"HOME": ""}):
        assert os.path.isabs(roots_from_env(environ).of("claude")[0].path)


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="the XDG folders are of other systems")
def test_the_config_folder_is_the_variable_only_where_that_is_a_whole_path(tmp_path):
    for given, folder in (("/etc/x", "/etc/x"), ("rel", f"{tmp_path}/.config"), ("", f"{tmp_path}/.config")):
        (path,) = roots_from_env({"HOME": str(tmp_path), "XDG_CONFIG_HOME": given}).of("swink")
        assert path.path == f"{folder}/swink-agent/sessions"


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_other_systems_have_config_folders_of_their_own(system, tmp_path, monkeypatch):
    monkeypatch.setattr(rules.sys, "platform", system)
    monkeypatch.setattr("platformdirs.user_config_dir", lambda **asked: f"/own/{asked['roaming']}")

    (path,) = roots_from_env({"HOME": str(tmp_path)}, tmp_path).of("swink")

    assert path.path == os.path.join("/own/True", "swink-agent", "sessions")
    assert roots_from_home(tmp_path).of("swink")[0].path.startswith(str(tmp_path))


def test_a_given_root_replaces_all_roots_of_that_agent_and_no_other(tmp_path):
    roots = roots_from_env({"CLAUDE_CONFIG_DIR": ""}, tmp_path, tmp_path)

    given = roots.with_root("claude", tmp_path / "mine")

    assert [(path.path, path.given) for path in given.of("claude")] == [(str(tmp_path / "mine"), "option")]
    assert given.of("swink") == roots.of("swink")
    assert given.problems == ()
    assert len(given.replaced("claude", ["a", "b"]).of("claude")) == 2
    assert roots.problems != ()


def test_a_root_for_no_agent_is_the_callers_mistake():
    with pytest.raises(UnknownFormatError):
        roots_from_home("/").with_root("nobody", "/")


# -- what is found


def test_sessions_of_every_shape_are_found_and_nothing_else_is(tmp_path):
    projects = tmp_path / ".claude" / "projects"
    for name in (
        "-p/a.jsonl",
        "-p/agent-12345678.jsonl",
        "-p/a/subagents/agent-a1.jsonl",
        "-p/a/subagents/workflows/w/agent-a2.jsonl",
        "-p/a/subagents/workflows/w/journal.jsonl",
        "-p/a/before-cleanup/1-ab.jsonl.replaced",
        "-p/a.jsonl.bak",
        "-p/a.jsonl.deleted.2026-05-02T00-00-00Z",
        "-p/a.JSONL",
        "-p/.jsonl",
        "-p/.hidden.jsonl",
        "-p/sessions-index.json",
    ):
        put(projects / name)
    put(tmp_path / ".claude" / "history.jsonl")

    found = find_sessions(roots_from_home(tmp_path))

    assert [(path, file.kind) for path, file in zip(below(projects, found.files), found.files, strict=True)] == [
        ("-p/.hidden.jsonl", "main"),
        ("-p/a.jsonl", "main"),
        ("-p/a/subagents/agent-a1.jsonl", "subagent"),
        ("-p/a/subagents/workflows/w/agent-a2.jsonl", "subagent"),
        ("-p/agent-12345678.jsonl", "subagent"),
    ]
    assert [problem for problem in found.problems if not problem.note] == []


def test_a_home_below_a_folder_called_subagents_holds_main_sessions(tmp_path):
    put(tmp_path / "subagents" / ".claude" / "projects" / "-p" / "a.jsonl")

    (file,) = find_sessions(roots_from_home(tmp_path / "subagents")).files

    assert file.kind == "main"


def test_a_flat_pattern_looks_in_one_folder_only(tmp_path):
    put(tmp_path / ".config" / "swink-agent" / "sessions" / "a.jsonl")
    put(tmp_path / ".config" / "swink-agent" / "sessions" / "a.interrupt.json")
    put(tmp_path / ".config" / "swink-agent" / "sessions" / ".search_index" / "b.jsonl")

    found = find_sessions(roots_from_home(tmp_path))

    assert [Path(file.path).name for file in found.files] == ["a.jsonl"]


def test_several_patterns_and_folders_give_each_file_once(tmp_path, ruled):
    scans = (
        ("sessions", "**/*.jsonl"),
        ("sessions", "**/*.jsonl.zst"),
        ("sessions", "**/rollout-*.json"),
        ("sessions", "*.jsonl"),
        ("put/away", "**/*.jsonl"),
    )
    ruled(scans=scans, archived=("put/away",))
    for name in ("sessions/a.jsonl", "sessions/2026/b.jsonl.zst", "sessions/rollout-c.json", "sessions/d.json"):
        put(tmp_path / name)
    put(tmp_path / "put" / "away" / "e.jsonl")

    found = find_sessions(only(tmp_path, scans=scans))

    assert [(path, file.archived) for path, file in zip(below(tmp_path, found.files), found.files, strict=True)] == [
        ("put/away/e.jsonl", True),
        ("sessions/2026/b.jsonl.zst", False),
        ("sessions/a.jsonl", False),
        ("sessions/rollout-c.json", False),
    ]


def test_a_file_tells_its_size_and_its_time(tmp_path):
    path = put(tmp_path / "a.jsonl", b"12345")
    os.utime(path, ns=(1, 1_700_000_000_123_456_789))

    (file,) = find_sessions(only(tmp_path)).files

    assert (file.agent, file.path, file.size) == ("swink", str(path), 5)
    assert file.mtime_ns // 1000 == 1_700_000_000_123_456


def test_an_empty_file_is_a_file(tmp_path):
    put(tmp_path / "a.jsonl", b"")

    assert [file.size for file in find_sessions(only(tmp_path)).files] == [0]


def test_files_are_sorted_by_path_whatever_the_system_gives(tmp_path):
    names = ["b/a.jsonl", "b.jsonl", "a/z.jsonl", "ä.jsonl", "Z.jsonl"]
    for name in names:
        put(tmp_path / name)

    assert [file.path for file in find_sessions(only(tmp_path)).files] == sorted(str(tmp_path / name) for name in names)


def test_the_same_home_gives_the_same_answer(tmp_path):
    for n in range(20):
        put(tmp_path / str(n % 3) / f"{n}.jsonl")

    assert find_sessions(only(tmp_path)) == find_sessions(only(tmp_path))


def test_no_file_is_opened(tmp_path, monkeypatch):
    put(tmp_path / ".claude" / "projects" / "-p" / "a.jsonl")

    def refuse(*_args, **_more):
        raise AssertionError("a file was opened")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(os, "open", refuse)

    assert len(find_sessions(roots_from_home(tmp_path)).files) == 1


def test_roots_that_overlap_give_each_file_once(tmp_path):
    path = put(tmp_path / "sub" / "a.jsonl")
    roots = only(tmp_path)
    twice = Roots({"swink": (*roots.of("swink"), *only(tmp_path / "sub").of("swink"))})

    assert [file.path for file in find_sessions(twice).files] == [str(path)]


@posix
def test_two_names_of_one_root_give_each_file_once(tmp_path):
    put(tmp_path / "real" / "a.jsonl")
    (tmp_path / "link").symlink_to("real")
    twice = Roots({"swink": (*only(tmp_path / "real").of("swink"), *only(tmp_path / "link").of("swink"))})

    found = find_sessions(twice)

    assert below(tmp_path, found.files) == ["real/a.jsonl"]
    assert found.problems == []


def test_a_deep_tree_is_no_danger(tmp_path):
    folder = tmp_path
    for _ in range(300):
        folder /= "d"
    put(folder / "a.jsonl")

    assert len(find_sessions(only(tmp_path)).files) == 1


# -- what is in the way


def kinds(found, folder):
    return {(os.path.relpath(problem.path, folder), problem.kind, problem.note) for problem in found.problems}


def test_a_missing_root_is_a_note_by_default_and_by_option(tmp_path):
    found = find_sessions(roots_from_home(tmp_path))

    assert found.files == []
    assert {problem.kind for problem in found.problems} == {"missing-root"}
    assert all(problem.note for problem in found.problems)
    assert len(found.problems) == len(FORMATS)
    assert find_sessions(only(tmp_path / "gone")).problems[0].note


def test_a_root_without_its_folder_of_sessions_is_nothing_to_speak_of(tmp_path):
    (tmp_path / ".claude").mkdir()

    found = find_sessions(roots_from_home(tmp_path))

    assert str(tmp_path / ".claude") not in {problem.path for problem in found.problems}


def test_a_file_in_place_of_a_root_or_its_folder_is_a_problem(tmp_path):
    put(tmp_path / "root")
    put(tmp_path / ".claude" / "projects")
    roots = roots_from_home(tmp_path).with_root("swink", tmp_path / "root")

    assert {("root", "not-a-folder", False), (".claude/projects", "not-a-folder", False)} <= kinds(
        find_sessions(roots), tmp_path
    )
    assert find_sessions(only(tmp_path / "root" / "below")).problems[0].kind == "not-a-folder"


@posix
def test_a_link_inside_a_root_is_listed_and_not_followed(tmp_path):
    put(tmp_path / "elsewhere" / "b.jsonl")
    put(tmp_path / "root" / "a.jsonl")
    (tmp_path / "root" / "folder").symlink_to("../elsewhere")
    (tmp_path / "root" / "b.jsonl").symlink_to("../elsewhere/b.jsonl")
    (tmp_path / "root" / "gone.jsonl").symlink_to("nowhere")
    (tmp_path / "root" / "loop").symlink_to(".")
    (tmp_path / "root" / "self.jsonl").symlink_to("self.jsonl")

    found = find_sessions(only(tmp_path / "root"))

    assert below(tmp_path / "root", found.files) == ["a.jsonl"]
    assert kinds(found, tmp_path / "root") == {
        ("folder", "symlink", True),
        ("b.jsonl", "symlink", True),
        ("gone.jsonl", "dangling-link", False),
        ("loop", "symlink", True),
        ("self.jsonl", "symlink-loop", False),
    }


@posix
def test_a_linked_folder_of_sessions_is_said_and_not_followed(tmp_path):
    put(tmp_path / "elsewhere" / "-p" / "a.jsonl")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "projects").symlink_to("../elsewhere")

    found = find_sessions(roots_from_home(tmp_path))

    assert found.files == []
    assert (".claude/projects", "symlink", True) in kinds(found, tmp_path)


@posix
def test_a_root_that_is_a_link_is_followed(tmp_path):
    put(tmp_path / "real" / "projects" / "-p" / "a.jsonl")
    (tmp_path / ".claude").symlink_to("real")

    (file,) = find_sessions(roots_from_home(tmp_path)).files

    assert file.path == str(tmp_path / ".claude" / "projects" / "-p" / "a.jsonl")


@posix
def test_a_root_that_is_a_dangling_link_or_a_loop_is_a_problem(tmp_path):
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")

    assert [problem.kind for problem in find_sessions(only(tmp_path / "gone")).problems] == ["dangling-link"]
    assert [problem.kind for problem in find_sessions(only(tmp_path / "loop")).problems] == ["symlink-loop"]


@posix
def test_what_is_no_regular_file_is_a_problem_and_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "folder.jsonl").mkdir()
    put(tmp_path / "folder.jsonl" / "a.jsonl")
    here = os.getcwd()
    os.chdir(tmp_path)  # the name of a local socket has to be short
    try:
        with socket.socket(socket.AF_UNIX) as local:
            local.bind("socket.jsonl")
            found = find_sessions(only(tmp_path))
    finally:
        os.chdir(here)

    assert kinds(found, tmp_path) == {("pipe.jsonl", "not-a-file", False), ("socket.jsonl", "not-a-file", False)}
    assert below(tmp_path, found.files) == ["folder.jsonl/a.jsonl"]


def refusing(monkeypatch, path, error):
    """Make one folder refuse to be read, as modes do to an ordinary user."""
    scandir = os.scandir

    def guarded(asked):
        if os.fspath(asked) == str(path):
            raise error
        return scandir(asked)

    monkeypatch.setattr(os, "scandir", guarded)


def test_a_folder_that_may_not_be_read_is_a_problem_and_the_scan_goes_on(tmp_path, monkeypatch):
    put(tmp_path / "a" / "a.jsonl")
    put(tmp_path / "b" / "b.jsonl")
    put(tmp_path / "c" / "c.jsonl")
    refusing(monkeypatch, tmp_path / "b", PermissionError(errno.EACCES, "Permission denied"))

    found = find_sessions(only(tmp_path))

    assert below(tmp_path, found.files) == ["a/a.jsonl", "c/c.jsonl"]
    (problem,) = found.problems
    assert (problem.kind, problem.note) == ("unreadable", False)
    assert problem.sentence == f"{tmp_path / 'b'}: it cannot be looked at: Permission denied"


@plain_user
def test_a_folder_without_permissions_is_a_problem_and_the_scan_goes_on(tmp_path):
    put(tmp_path / "a" / "a.jsonl")
    put(tmp_path / "b" / "b.jsonl")
    (tmp_path / "b").chmod(0)
    try:
        found = find_sessions(only(tmp_path))
    finally:
        (tmp_path / "b").chmod(0o700)

    assert below(tmp_path, found.files) == ["a/a.jsonl"]
    assert kinds(found, tmp_path) == {("b", "unreadable", False)}


def test_a_folder_that_goes_away_is_a_note_and_the_scan_goes_on(tmp_path, monkeypatch):
    put(tmp_path / "a" / "a.jsonl")
    put(tmp_path / "b" / "b.jsonl")
    refusing(monkeypatch, tmp_path / "b", FileNotFoundError(errno.ENOENT, "No such file"))

    found = find_sessions(only(tmp_path))

    assert below(tmp_path, found.files) == ["a/a.jsonl"]
    assert kinds(found, tmp_path) == {("b", "vanished", True)}


class Entry:
    """A folder's entry whose file goes away, or may not be looked at, after it was listed."""

    def __init__(self, path, error):
        self.path, self.name, self.error = str(path), path.name, error

    def is_symlink(self):
        return False

    def is_dir(self, *, follow_symlinks):
        return False

    def is_file(self, *, follow_symlinks):
        return True

    def stat(self, *, follow_symlinks):
        raise self.error


@pytest.mark.parametrize(
    "error, kind, files",
    [
        (FileNotFoundError(errno.ENOENT, "No such file"), "vanished", []),
        (PermissionError(errno.EACCES, "Permission denied"), "unreadable", ["a.jsonl"]),
    ],
    ids=["vanished", "unreadable"],
)
def test_a_file_that_cannot_be_looked_at_is_a_problem(tmp_path, monkeypatch, error, kind, files):
    class Listing(list):
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(os, "scandir", lambda _: Listing([Entry(tmp_path / "a.jsonl", error)]))

    found = find_sessions(only(tmp_path))

    assert below(tmp_path, found.files) == files
    assert [problem.kind for problem in found.problems] == [kind]


def test_a_folder_that_leads_back_through_a_mount_is_looked_at_once(tmp_path, monkeypatch):
    put(tmp_path / "a" / "a.jsonl")
    look = os.stat

    def same(path, **more):
        return look(tmp_path, **more) if str(path).startswith(str(tmp_path)) else look(path, **more)

    monkeypatch.setattr(os, "stat", same)

    assert find_sessions(only(tmp_path)).files == []  # "a" seems to be the folder it lies in


def test_a_name_no_system_takes_is_a_problem():
    assert [problem.kind for problem in find_sessions(only("a\0b")).problems] == ["unreadable"]


@posix
def test_a_name_that_is_no_text_is_found_all_the_same(tmp_path):
    try:
        (tmp_path / os.fsdecode(b"\xff.jsonl")).write_bytes(b"{}\n")
    except OSError:
        pytest.skip("this file system takes text only")

    (file,) = find_sessions(only(tmp_path)).files

    assert os.fsencode(file.path).endswith(b"\xff.jsonl")


# -- is it a session at all


def header(line):
    return b'"type":"session"' in line


@pytest.mark.parametrize(
    "data, found",
    [
        (b'{"type":"session"}\n{"type":"message"}\n', True),
        (b'\n\xef\xbb\xbf{"type":"session"}\r\n', True),
        (b'{"type":"message"}\n{"type":"session"}\n', False),
        (b'{"type":"session"}', True),
        (b'{"torn\n{"type":"message"}\n', False),
        (b"", True),
        (b"\n\n", True),
        (b'{"type":"mess', True),
        (b'{"type":"message","text":"' + b"x" * 70_000 + b'"}\n', True),
        (b"\xff\xfe\n", True),
    ],
)
def test_a_file_whose_first_record_is_no_header_is_not_recognised(tmp_path, ruled, data, found):
    ruled(scans=(("", "*.jsonl"),), recognise=header)
    file = SessionFile("swink", str(put(tmp_path / "a.jsonl", data)))

    problem = check_recognised(file)

    assert recognised(file) is found
    assert (problem is None) is found
    if problem is not None:
        assert (problem.kind, problem.path, problem.note) == ("unrecognised", file.path, True)


def test_an_agent_without_such_a_rule_has_no_file_opened(tmp_path):
    assert check_recognised(SessionFile("claude", str(tmp_path / "gone.jsonl"))) is None


def test_a_file_that_cannot_be_opened_is_a_problem_of_its_own(tmp_path, ruled):
    ruled(scans=(("", "*.jsonl"),), recognise=header)

    assert check_recognised(SessionFile("swink", str(tmp_path / "gone.jsonl"))).kind == "vanished"
    assert check_recognised(SessionFile("swink", str(tmp_path))).kind == "unreadable"
    assert recognised(SessionFile("swink", str(tmp_path / "gone.jsonl")))


def test_at_most_64_kib_are_read_to_tell(tmp_path, ruled, monkeypatch):
    ruled(scans=(("", "*.jsonl"),), recognise=header)
    path = put(tmp_path / "a.jsonl", b'{"type":"session"}\n' * 100_000)
    read, opened = [], room.opened

    def watched(name):
        handle = opened(name)

        class Watched:
            def read(self, size):
                read.append(size)
                return handle.read(size)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                handle.close()

        return Watched()

    monkeypatch.setattr(room, "opened", watched)

    assert recognised(SessionFile("swink", str(path)))
    assert sum(read) <= 64 * 1024


# -- the shared cases


@pytest.mark.shared
@posix
def test_the_shared_case_of_links_gives_its_answer(shared, tmp_path):
    case = shared / "cases" / "053-dir-loop-and-dangling-link"
    home = tmp_path / "home"
    shutil.copytree(case / "input", home)
    subprocess.run(["sh", case / "setup.sh", home], check=True)

    found = find_sessions(roots_from_home(home))

    assert len(found.files) == 1
    errors = {(path, kind) for path, kind, note in kinds(found, home) if not note}
    assert errors == {(".claude/projects/-proj-demo/gone.jsonl", "dangling-link")}
    assert (".claude/projects/-proj-demo/loop", "symlink", True) in kinds(found, home)


@pytest.mark.shared
@pytest.mark.parametrize(
    "case, files",
    [("057-zero-bytes-and-only-newlines", 3), ("095-pi-subagent-artifact-transcript-in-sessions-tree", 1)],
)
def test_the_shared_cases_of_odd_files_give_their_answers(shared, case, files):
    if "pi" in case and ("pi" not in FORMATS or FORMATS["pi"].recognise is None):
        pytest.skip("that agent has no rule for other files yet")
    found = find_sessions(roots_from_home(shared / "cases" / case / "input"))

    assert sum(recognised(file) for file in found.files) == files
    assert all(problem.note for problem in found.problems)


def test_the_demo_home_is_found_whole(root):
    found = find_sessions(roots_from_home(root / "src" / "turnlog" / "demo_home"))

    per_agent = {agent: sum(file.agent == agent for file in found.files) for agent in FORMATS}
    whole = {"claude": 5, "codex": 6, "pi": 2, "swink": 1}
    assert per_agent == {agent: whole[agent] for agent in FORMATS}
    assert sum(file.kind == "subagent" for file in found.files if file.agent == "claude") == 1
    assert [problem for problem in found.problems if not problem.note] == []
