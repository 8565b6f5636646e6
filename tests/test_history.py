"""Prompt histories: rows as they stand, times in the file's own unit, and the same promises as for any session."""

import json
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnlog.contract import ReadOptions, ReadStatus
from turnlog.errors import FaultError, InvalidOptionsError, SourceTooLarge, SourceUnreadable
from turnlog.formats import FORMATS
from turnlog.formats.base import HistoryRule
from turnlog.history import HistoryEntry, history_files, read_history
from turnlog.reader import Reader
from turnlog.roots import roots_from_home

MILLISECONDS = HistoryRule(
    file="history.jsonl", session="sessionId", text="display", time="timestamp", unit=1_000, project="project"
)
SECONDS = HistoryRule(file="history.jsonl", session="session_id", text="text", time="ts", unit=1_000_000)

ROW = b'{"display":"hello","pastedContents":{},"timestamp":1777629600123,"project":"/p","sessionId":"s1"}\n'
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def rows(tmp_path, data, rule=MILLISECONDS, **more):
    options = ReadOptions(**{name: more.pop(name) for name in list(more) if name != "strict_fields"})
    reader = read_history(put(tmp_path / "history.jsonl", data), rule, options=options, **more)
    items = list(reader)
    return items, reader.finish()


def test_a_row_is_an_entry_with_its_place_and_its_time(tmp_path):
    (entry,), summary = rows(tmp_path, ROW)

    assert entry == HistoryEntry(
        line=1,
        start=0,
        end=len(ROW),
        session_id="s1",
        text="hello",
        at=datetime(2026, 5, 1, 10, 0, 0, 123000, tzinfo=UTC),
        native_time=1777629600123,
        project="/p",
    )
    assert summary.status is ReadStatus.COMPLETE
    assert summary.bytes.decoded == summary.bytes_read == len(ROW)


def test_the_unit_of_the_time_is_the_files_own(tmp_path):
    (entry,), _ = rows(tmp_path, b'{"session_id":"s","ts":1777636800,"text":"hi"}\n', SECONDS)

    assert (entry.at, entry.native_time, entry.project) == (NOON, 1777636800, None)


def test_the_rules_of_the_agents_are_the_ones_tested_here():
    assert FORMATS["claude"].history == MILLISECONDS
    assert "codex" not in FORMATS or FORMATS["codex"].history == SECONDS


def test_absent_fields_stay_absent_and_are_no_fault(tmp_path):
    (first, second), summary = rows(tmp_path, b'{}\n{"display":null,"sessionId":null,"timestamp":null}\n')

    for entry in (first, second):
        assert (entry.session_id, entry.text, entry.at, entry.native_time) == (None, None, None, None)
        assert entry.invalid_fields == ()
    assert summary.status is ReadStatus.COMPLETE


def test_one_session_may_have_many_rows_and_an_order_of_its_own(tmp_path):
    early = ROW.replace(b"1777629600123", b"1")

    entries, _ = rows(tmp_path, ROW + early + ROW)

    assert [(entry.line, entry.native_time) for entry in entries] == [(1, 1777629600123), (2, 1), (3, 1777629600123)]


BAD = {
    "sessionId": b'"sessionId":5',
    "display": b'"display":["hello"]',
    "timestamp": b'"timestamp":"yesterday"',
    "project": b'"project":{}',
}


def with_bad(name):
    good = {"sessionId": b'"sessionId":"s1"', "display": b'"display":"hello"', "project": b'"project":"/p"'}
    good["timestamp"] = b'"timestamp":1777629600123'
    return ROW.replace(good[name], BAD[name])


@pytest.mark.parametrize("name", BAD)
def test_a_bad_field_is_a_fault_and_the_rest_of_the_row_is_read(tmp_path, name):
    (fault, entry), summary = rows(tmp_path, with_bad(name))

    assert (fault.fault, fault.path, fault.recovered) == ("invalid_field", f"$.{name}", 1)
    assert entry.invalid_fields == (name,)
    assert sum(v is not None for v in (entry.session_id, entry.text, entry.native_time, entry.project)) == 3
    assert summary.status is ReadStatus.COMPLETE_WITH_FAULTS
    assert "hello" not in fault.sentence()


@pytest.mark.parametrize("name", BAD)
def test_a_bad_field_is_only_named_where_that_was_asked_for(tmp_path, name):
    (entry,), summary = rows(tmp_path, with_bad(name), strict_fields=False)

    assert entry.invalid_fields == (name,)
    assert summary.status is ReadStatus.COMPLETE
    assert rows(tmp_path, with_bad(name), strict_fields=False, repair=False)[0] == [entry]


def test_without_repair_a_bad_field_loses_the_row(tmp_path):
    items, summary = rows(tmp_path, with_bad("display") + ROW, repair=False)

    assert [item.kind for item in items] == ["fault", "history"]
    assert summary.bytes.faulty == len(with_bad("display"))


@pytest.mark.parametrize("time", [b"true", b"1.5", b"99999999999999999999999", b"[]"])
def test_what_is_no_time_is_invalid(tmp_path, time):
    (entry,), _ = rows(tmp_path, ROW.replace(b"1777629600123", time), strict_fields=False)

    assert (entry.at, entry.native_time, entry.invalid_fields) == (None, None, ("timestamp",))


def test_a_time_no_calendar_reaches_is_kept_as_a_number(tmp_path):
    (fault, entry), _ = rows(tmp_path, ROW.replace(b"1777629600123", b"1777629600123000000"))

    assert fault.expected == "a time that a calendar reaches"
    assert (entry.at, entry.native_time, entry.invalid_fields) == (None, 1777629600123000000, ("timestamp",))


def test_a_whole_number_written_as_a_float_is_that_number(tmp_path):
    (entry,), summary = rows(tmp_path, ROW.replace(b"1777629600123", b"1777636800000.0"))

    assert (entry.at, entry.invalid_fields) == (NOON, ())
    assert (summary.status, summary.repairs) == (ReadStatus.COMPLETE, {"whole_number": 1})


def test_a_line_that_is_no_row_is_a_fault_and_reading_goes_on(tmp_path):
    items, summary = rows(tmp_path, ROW + b"not json\n\n[1]\n" + ROW + ROW[:-1] * 2 + b"\n" + ROW[:20])

    told = [item.fault.value if item.kind == "fault" else "history" for item in items]
    assert told == ["history", "invalid_json", "not_an_object", "history", "glued", "history", "history", "truncated"]
    assert summary.bytes.total() == summary.bytes_read
    assert [item.recovered for item in items if item.kind == "history"] == [False, False, True, True]


def test_a_cut_last_row_is_tolerated_where_that_was_asked_for(tmp_path):
    items, summary = rows(tmp_path, ROW + ROW[:20], tail="allow-incomplete")

    assert [item.kind for item in items] == ["history"]
    assert summary.status is ReadStatus.INCOMPLETE_TAIL


def test_limits_are_those_of_any_reading(tmp_path):
    items, _ = rows(tmp_path, ROW.replace(b"hello", b"x" * 500) + ROW, max_record_bytes=200)

    assert [item.kind for item in items] == ["fault", "history"]
    with pytest.raises(SourceTooLarge):
        rows(tmp_path, ROW, max_file_bytes=10)


def test_the_first_fault_may_be_raised_instead(tmp_path):
    with pytest.raises(FaultError):
        rows(tmp_path, b"not json\n" + ROW + ROW, faults="raise")


def test_kinds_of_events_have_no_meaning_here(tmp_path):
    items, _ = rows(tmp_path, ROW, include=frozenset({"message"}))

    assert len(items) == 1


def test_options_that_cannot_be_meant_are_refused(tmp_path):
    with pytest.raises(InvalidOptionsError):
        rows(tmp_path, ROW, max_record_bytes=-1)


def test_leaving_early_is_no_proof(tmp_path):
    with read_history(put(tmp_path / "history.jsonl", ROW * 3), MILLISECONDS) as reader:
        next(iter(reader))

        assert reader.finish().status is ReadStatus.STOPPED_EARLY


def test_a_file_that_is_not_there_is_unreadable(tmp_path):
    with pytest.raises(SourceUnreadable):
        read_history(tmp_path / "gone.jsonl", MILLISECONDS)
    with pytest.raises(SourceUnreadable):
        read_history(tmp_path, MILLISECONDS)


def test_lone_surrogates_are_kept_as_written(tmp_path):
    (entry,), _ = rows(tmp_path, ROW.replace(b"hello", b"\\ud83d"))

    assert entry.text == "\ud83d"


text = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)


@given(st.lists(st.tuples(text, text, st.none() | st.integers(0, 4_000_000_000)), max_size=6), st.integers(1, 40))
def test_what_was_written_is_what_is_read_however_it_is_cut(entries, cut):
    keys = ("session_id", "text", "ts")
    data = b"".join(json.dumps(dict(zip(keys, row, strict=True))).encode() + b"\n" for row in entries)

    class Cut:
        def __init__(self):
            self.at = 0

        def read(self, size):
            piece = data[self.at : self.at + min(cut, size)]
            self.at += len(piece)
            return piece

    room = sys.modules[read_history.__module__]
    found = list(Reader(Cut(), room._format(SECONDS, True), ReadOptions(), room.Place()))

    assert [(entry.session_id, entry.text, entry.native_time) for entry in found] == entries


# -- which files there are


def test_the_history_files_of_a_home_are_found_without_opening_one(tmp_path, monkeypatch):
    put(tmp_path / ".claude" / "history.jsonl", ROW)
    monkeypatch.setattr("builtins.open", None)

    (found,) = history_files(roots_from_home(tmp_path))

    assert (found.agent, found.path) == ("claude", str(tmp_path / ".claude" / "history.jsonl"))
    assert found.rule == MILLISECONDS


def test_no_history_is_normal(tmp_path):
    assert history_files(roots_from_home(tmp_path)) == []


def test_two_names_of_one_history_give_it_once(tmp_path):
    put(tmp_path / ".claude" / "history.jsonl", ROW)
    roots = roots_from_home(tmp_path).replaced("claude", [tmp_path / ".claude", tmp_path / "x" / ".." / ".claude"])

    assert len(history_files(roots)) == 1


def test_the_demo_home_has_histories_without_a_fault(root):
    files = history_files(roots_from_home(root / "src" / "turnlog" / "demo_home"))

    assert {file.agent for file in files} == {name for name, format in FORMATS.items() if format.history}
    for file in files:
        reader = read_history(file.path, file.rule)
        assert all(entry.session_id and entry.text and entry.at.year == 2026 for entry in reader)
        assert reader.finish().is_complete
