"""Titles come from the indexes, only for the sessions asked for, and are never made up."""

import errno
import json
import os
import sys

import pytest

from turnlog.errors import SourceCorrupt, SourceError, SourceTooLarge, SourceUnreadable
from turnlog.formats import FORMATS
from turnlog.formats.base import TitleRule
from turnlog.roots import RootPath, Roots, roots_from_home
from turnlog.titles import IndexTitle, read_titles

DOCUMENT = TitleRule(
    pattern="projects/*/sessions-index.json",
    entries="entries",
    id="sessionId",
    title="summary",
    origin="source_summary",
)
LINES = TitleRule(pattern="session_index.jsonl", entries=None, id="id", title="thread_name", origin="source_title")

posix = pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX systems")


@pytest.fixture
def ruled(monkeypatch):
    """One agent alone, with a rule for its index."""

    def put_rule(rule):
        format = FORMATS["swink"]
        changed = type(format)(**{f: getattr(format, f) for f in format.__struct_fields__} | {"titles": rule})
        monkeypatch.setitem(FORMATS, "swink", changed)

    return put_rule


def at(folder):
    return Roots({"swink": (RootPath("swink", str(folder), "option", ()),)})


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(data, bytes):
        data = json.dumps(data).encode()
    path.write_bytes(data)
    return path


def index(folder, *entries, project="-p"):
    rows = [{"sessionId": session, "summary": text} for session, text in entries]
    return put(folder / "projects" / project / "sessions-index.json", {"version": 1, "entries": rows})


def lines(folder, *entries):
    rows = [json.dumps({"id": key, "thread_name": name, "updated_at": "x"}).encode() + b"\n" for key, name in entries]
    return put(folder / "session_index.jsonl", b"".join(rows))


def test_the_rules_of_the_agents_are_the_ones_tested_here():
    assert FORMATS["claude"].titles == DOCUMENT
    assert "codex" not in FORMATS or FORMATS["codex"].titles == LINES


def test_a_title_comes_from_a_document_with_its_origin(tmp_path, ruled):
    ruled(DOCUMENT)
    path = index(tmp_path, ("a", "  The white bird\n"), ("b", "Another"))

    found = read_titles(at(tmp_path), ["a"])

    assert found.titles == {"a": IndexTitle("a", "The white bird", "source_summary", "swink", str(path))}
    assert found.texts == {"a": "The white bird"}
    assert found.errors == []


def test_a_title_comes_from_lines_and_the_last_one_wins(tmp_path, ruled):
    ruled(LINES)
    lines(tmp_path, ("a", "first"), ("b", "other"), ("a", "second"), ("a", "   "), ("a", None))

    assert read_titles(at(tmp_path), ["a"]).texts == {"a": "second"}


def test_only_the_sessions_asked_for_are_named(tmp_path, ruled):
    ruled(LINES)
    lines(tmp_path, ("a", "one"), ("b", "two"))

    assert read_titles(at(tmp_path), ["b", "c"]).texts == {"b": "two"}


def test_without_ids_nothing_is_opened(tmp_path, ruled, monkeypatch):
    ruled(LINES)
    lines(tmp_path, ("a", "one"))
    room = sys.modules[read_titles.__module__]
    monkeypatch.setattr(room, "read_raw", None)

    assert read_titles(at(tmp_path), []).texts == {}


def test_a_missing_index_is_normal(tmp_path, ruled):
    for rule in (DOCUMENT, LINES):
        ruled(rule)
        assert read_titles(at(tmp_path), ["a"]).texts == {}
        assert read_titles(at(tmp_path / "gone"), ["a"]).errors == []
    (tmp_path / "projects" / "-p").mkdir(parents=True)
    put(tmp_path / "projects" / "file", b"")
    ruled(DOCUMENT)
    assert read_titles(at(tmp_path), ["a"]).texts == {}


def test_an_entry_without_a_title_names_nothing(tmp_path, ruled):
    ruled(DOCUMENT)
    put(tmp_path / "projects" / "-p" / "sessions-index.json", {"entries": [{"sessionId": "a", "firstPrompt": "words"}]})

    assert read_titles(at(tmp_path), ["a"]).texts == {}


def test_every_project_has_an_index_and_the_last_by_path_wins(tmp_path, ruled):
    ruled(DOCUMENT)
    index(tmp_path, ("a", "late"), project="-z")
    index(tmp_path, ("a", "early"), ("b", "kept"), project="-a")
    index(tmp_path, ("a", "too deep"), project="-z/below")

    assert read_titles(at(tmp_path), ["a", "b"]).texts == {"a": "late", "b": "kept"}


@posix
def test_links_are_not_followed(tmp_path, ruled):
    ruled(DOCUMENT)
    index(tmp_path / "elsewhere", ("a", "linked"))
    (tmp_path / "projects" / "-q").mkdir(parents=True)
    (tmp_path / "projects" / "-p").symlink_to(tmp_path / "elsewhere" / "projects" / "-p")
    (tmp_path / "projects" / "-q" / "sessions-index.json").symlink_to("nowhere")

    assert read_titles(at(tmp_path), ["a"]).texts == {}


BAD_DOCUMENTS = {
    "no json": (b"SECRET", "expected one JSON object"),
    "cut": (b'{"entries":[{"sessionId":"a","summary":"SECR', "expected one JSON object"),
    "array": (b"[]", "expected one JSON object"),
    "no utf8": (b'{"entries":["\xff"]}', "expected one JSON object"),
    "no entries": (b"{}", r"\$\.entries: expected an array, found nothing"),
    "entries no array": (b'{"entries":{"SECRET":1}}', r"\$\.entries: expected an array, found an object"),
    "entry no object": (b'{"entries":["SECRET"]}', r"\$\.entries\[0\]: expected an object, found a string"),
    "no id": (b'{"entries":[{"summary":"SECRET"}]}', r"\$\.entries\[0\]\.sessionId: expected a string, found nothing"),
    "id no text": (b'{"entries":[{"sessionId":5}]}', r"\$\.entries\[0\]\.sessionId: expected a string, found an int"),
    "title no text": (
        b'{"entries":[{"sessionId":"SECRET","summary":["SECRET"]}]}',
        r"\$\.entries\[0\]\.summary: expected a string, found an array",
    ),
    "too deep": (b'{"entries":' + b"[" * 100_000, "expected one JSON object"),
}


@pytest.mark.parametrize("case", BAD_DOCUMENTS)
def test_a_malformed_document_is_an_error_without_its_text(tmp_path, ruled, case):
    ruled(DOCUMENT)
    data, said = BAD_DOCUMENTS[case]
    path = put(tmp_path / "projects" / "-p" / "sessions-index.json", data)

    with pytest.raises(SourceCorrupt, match=said) as failed:
        read_titles(at(tmp_path), ["a"])

    assert failed.value.source == str(path)
    assert "SECR" not in str(failed.value)


def test_errors_are_collected_where_that_was_asked_for_and_the_rest_is_read(tmp_path, ruled):
    ruled(DOCUMENT)
    entries = [{"sessionId": "a", "summary": "good"}, 5, {"summary": "x"}, {"sessionId": "b", "summary": "good too"}]
    put(tmp_path / "projects" / "-b" / "sessions-index.json", {"entries": entries})
    put(tmp_path / "projects" / "-a" / "sessions-index.json", b"{")

    found = read_titles(at(tmp_path), ["a", "b"], collect=True)

    assert found.texts == {"a": "good", "b": "good too"}
    assert [error.kind for error in found.errors] == ["corrupt"] * 3
    assert all(isinstance(error, SourceError) for error in found.errors)


def test_a_malformed_line_is_an_error_that_names_it(tmp_path, ruled):
    ruled(LINES)
    path = lines(tmp_path, ("a", "one"))
    path.write_bytes(path.read_bytes() + b'\n{"id":"b","thread_name":"SECR\n[1]\n{"id":"a","thread_name":"two"}\n')

    with pytest.raises(SourceCorrupt, match=r"line 3 \(bytes 54-84\): expected one JSON object") as failed:
        read_titles(at(tmp_path), ["a"])
    found = read_titles(at(tmp_path), ["a"], collect=True)

    assert "SECR" not in str(failed.value)
    assert found.texts == {"a": "two"}
    assert len(found.errors) == 2


def test_an_index_that_cannot_be_read_is_an_error(tmp_path, ruled, monkeypatch):
    ruled(LINES)
    (tmp_path / "session_index.jsonl").mkdir()
    with pytest.raises(SourceUnreadable):
        read_titles(at(tmp_path), ["a"])

    ruled(DOCUMENT)
    (tmp_path / "projects").mkdir()

    def refuse(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    (error,) = read_titles(at(tmp_path), ["a"], collect=True).errors
    assert isinstance(error, SourceUnreadable)
    assert isinstance(error.__cause__, PermissionError)


def test_an_index_over_the_limit_is_refused(tmp_path, ruled, monkeypatch):
    ruled(DOCUMENT)
    index(tmp_path, ("a", "one"))
    monkeypatch.setattr(sys.modules[read_titles.__module__], "MAX_FILE_BYTES", 10)

    with pytest.raises(SourceTooLarge):
        read_titles(at(tmp_path), ["a"])


def test_the_demo_home_has_no_title_that_was_not_written(root):
    home = root / "src" / "turnlog" / "demo_home"
    names = {}
    for line in (home / ".codex" / "session_index.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        names[row["id"]] = row["thread_name"]

    found = read_titles(roots_from_home(home), [*names, "nobody"])

    assert found.texts == (names if "codex" in FORMATS else {})
