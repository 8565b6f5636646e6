"""Every real session file of Claude Code in the shared material, 1.0.96 to 2.1.332: nothing unknown, no fault, whole."""

import pytest

from reading import SHARED, each_byte, identity, parse, same
from turnlog.contract import Place, ReadStatus
from turnlog.formats import place_of
from turnlog.reader import read

pytestmark = pytest.mark.shared

FOLDER = SHARED / "real" / "claude"


def sessions():
    """Session files: not what the client printed, and not copies of its configuration."""
    return [
        path
        for path in sorted(FOLDER.rglob("*.jsonl"))
        if "stdout" not in path.parts and not path.name.startswith("_cfg") and path.name != "history.jsonl"
    ]


def test_there_are_sessions_of_many_versions():
    assert len(sessions()) >= 100
    assert len({path.relative_to(FOLDER).parts[0] for path in sessions()}) >= 13


def test_every_session_is_read_whole_with_no_fault_and_nothing_unknown():
    odd = {}
    for path in sessions():
        with read(path, "claude") as reader:
            count = sum(len(batch) for batch in reader.batches())
        summary = reader.finish()
        identity(summary)
        said = (summary.status, summary.faults, summary.unknown, summary.repairs)
        if said != (ReadStatus.COMPLETE, {}, {}, {}) or summary.bytes_read != path.stat().st_size:
            odd[path.relative_to(FOLDER).as_posix()] = said
        assert count or not summary.records or summary.ignored
    assert odd == {}


def test_the_format_of_every_session_is_told_from_its_records():
    for path in sessions():
        if path.stat().st_size:
            with read(path) as reader:
                assert reader.format.name == "claude", path.name


def test_strict_reading_says_the_same_of_every_third_session():
    for path in sessions()[::3]:
        data, where = path.read_bytes(), place_of(path.name)
        same(parse("claude", data, place=where), parse("claude", data, place=where, repair=False))


def test_the_cut_of_the_bytes_changes_nothing_in_a_real_session():
    for path in sorted(sessions(), key=lambda path: path.stat().st_size)[5:40:6]:
        data = path.read_bytes()
        same(parse("claude", data, place=Place()), parse("claude", None, each_byte(data), Place()))


def test_every_prefix_of_a_real_session_ends_at_its_last_whole_record():
    path = min((p for p in sessions() if p.stat().st_size > 3000), key=lambda path: path.stat().st_size)
    data = path.read_bytes()
    for end in range(0, len(data), 53):
        result = parse("claude", data[:end], tail="allow-incomplete")
        assert result.faults == []
        assert result.summary.consumed_through == data[:end].rfind(b"\n") + 1
