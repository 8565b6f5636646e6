"""`turnlog context`: its JSON and its lines, what its exit codes say, and sessions that go on from other files."""

import os
import shutil
import sys

import jsonschema
import pytest

from commands import CLAUDE, CUT, DEMO, GLUED, line, user
from inprocess import as_json, command, told
from turnlog.ledger.context import session_context
from turnlog.render.context import context_lines
from turnlog.render.text import cells
from turnlog.schemas import schema

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SESSIONS = sorted(p for p in DEMO.rglob("*.jsonl*") if p.name not in ("history.jsonl", "session_index.jsonl"))
BASE = "019d81da-4a60-7011-8000-000000000021"
FORK = "019d81da-4a60-7011-8000-000000000022"


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name[:24])
def test_the_json_of_every_session_is_what_its_schema_promises(capsysbinary, path):
    shown = as_json(capsysbinary, "context", path, "--home", DEMO)

    jsonschema.validate(shown, schema("turnlog.context/1"))
    assert shown["messages"] == len(shown["context"])
    assert shown["characters"] == sum(row["characters"] for row in shown["context"])


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: path.name[:24])
def test_every_session_is_shown_in_eighty_columns_and_without_control_characters(capsysbinary, path):
    lines = told(capsysbinary, "context", path, "--home", DEMO)
    shown = session_context(str(path))

    assert not set("".join(lines)) & set("\x1b\x07\r\u202e")
    for row in context_lines(shown, "an agent", width=80):
        assert cells("".join(part for part, _ in row)) <= 80


def test_a_message_is_one_line_with_its_place_its_size_who_and_its_first_words(capsysbinary, tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_bytes(user("u1", text="first\nsecond") + user("u2", "u1", "\x1b[31mred\x07"))
    lines = told(capsysbinary, "context", file)

    assert lines[1:3] == ["what the model was shown at u2 (line 2)", "2 messages, 21 characters"]
    assert [row.split() for row in lines[6:8]] == [
        ["1", "12", "user", "first"],
        ["2", "9", "user", "red\N{REPLACEMENT CHARACTER}"],
    ]


def test_the_bytes_of_a_row_are_the_record_it_stands_in(capsysbinary):
    row = as_json(capsysbinary, "context", CLAUDE, "--home", DEMO)["context"][-1]
    code, out, _ = command(capsysbinary, "raw", CLAUDE, "--start", str(row["start"]), "--end", str(row["end"]))

    assert code == 0
    assert row["entry"].encode() in out


def test_at_names_an_entry_and_an_unknown_one_is_exit_1_in_one_sentence(capsysbinary):
    first = as_json(capsysbinary, "context", CLAUDE, "--home", DEMO)["branch"][0]
    shown = as_json(capsysbinary, "context", CLAUDE, "--home", DEMO, "--at", first[:12])

    assert (shown["leaf"], shown["branch"]) == (first, [first])
    code, out, err = command(capsysbinary, "context", CLAUDE, "--home", DEMO, "--at", "zzz")
    assert (code, out) == (1, b"")
    assert err.startswith(b"turnlog: --at: expected ")
    assert err.count(b"\n") == 1


def test_limit_leaves_out_what_stands_above_and_says_so(capsysbinary, tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"".join(user(f"u{n}", f"u{n - 1}" if n else None, f"w{n}") for n in range(5)))
    lines = told(capsysbinary, "context", file, "--limit", "2")

    assert "3 messages above left out (--limit)" in lines
    assert [row.split()[-1] for row in lines if row.endswith(("w0", "w1", "w2", "w3", "w4"))] == ["w3", "w4"]


def test_what_was_left_out_is_counted_by_its_reason(capsysbinary, tmp_path):
    file = tmp_path / "s.jsonl"
    session = "aaaaaaaa-0000-4000-8000-000000000001"
    file.write_bytes(
        user("u1")
        + user("u2", "u1")
        + line(
            uuid="b1",
            parentUuid=None,
            logicalParentUuid="u2",
            sessionId=session,
            type="system",
            subtype="compact_boundary",
        )
        + user("s1", "b1", "the story so far", isCompactSummary=True)
    )
    lines = told(capsysbinary, "context", file)

    assert "left out: 2 older than the compaction keeps; 1 mark of a compaction" in lines
    assert any(row.split()[2:] == ["summary", "the", "story", "so", "far"] for row in lines)


def test_exit_codes(capsysbinary, tmp_path):
    empty = tmp_path / "nothing.jsonl"

    assert command(capsysbinary, "context", GLUED, "--home", DEMO)[0] == 0
    assert command(capsysbinary, "context", GLUED, "--home", DEMO, "--strict")[0] == 3
    assert command(capsysbinary, "context", CUT, "--home", DEMO, "--strict")[0] == 3
    assert command(capsysbinary, "context", CLAUDE, "--home", DEMO, "--strict")[0] == 0
    assert command(capsysbinary, "context", "ffffffff", "--home", DEMO)[0] == 1
    assert command(capsysbinary, "context", empty, "--home", DEMO)[0] == 4
    assert command(capsysbinary, "context")[0] == 2


def test_an_empty_context_is_said_to_be_one(capsysbinary, tmp_path):
    file = tmp_path / "s.jsonl"
    file.write_bytes(line(type="session", version=3, id="s", timestamp="2026-05-01T10:00:00.000Z", cwd="/x"))
    lines = told(capsysbinary, "context", file)

    assert "nothing: the model was shown no message" in lines
    assert as_json(capsysbinary, "context", file)["leaf"] is None


# -- sessions that go on from other files


def numbered(ordinal, kind, **payload):
    return line(timestamp="2026-05-01T10:00:00.000Z", ordinal=ordinal, type=kind, payload=payload)


def says(ordinal, role, words):
    part = "output_text" if role == "assistant" else "input_text"
    return numbered(ordinal, "response_item", type="message", role=role, content=[{"type": part, "text": words}])


def meta(ordinal, thread, base=None):
    more = (
        {}
        if base is None
        else {"history_base": {"thread_id": base[0], "end_ordinal_exclusive": base[1], "end_byte_offset": 1}}
    )
    return numbered(ordinal, "session_meta", id=thread, cwd="/x", source="exec", history_mode="paginated", **more)


@pytest.fixture
def store(tmp_path):
    """A thread, its segment after a revert, and a fork of it: (folder, path of each)."""
    folder = tmp_path / "sessions" / "2026" / "05" / "01"
    folder.mkdir(parents=True)
    paths = {
        "base": folder / f"rollout-2026-05-01T10-00-00-{BASE}.jsonl",
        "segment": folder / f"rollout-2026-05-01T10-05-00-{BASE}_019d81da-4a60-7011-8000-000000000099.jsonl",
        "fork": folder / f"rollout-2026-05-01T10-10-00-{FORK}.jsonl",
    }
    paths["base"].write_bytes(
        meta(0, BASE)
        + says(1, "user", "one")
        + says(2, "assistant", "first")
        + says(3, "user", "two")
        + says(4, "assistant", "second")
    )
    paths["segment"].write_bytes(
        meta(3, BASE, (BASE, 3)) + says(4, "user", "another way") + says(5, "assistant", "third")
    )
    paths["fork"].write_bytes(meta(5, FORK, (BASE, 5)) + says(6, "user", "forked"))
    return tmp_path, paths


def texts(path, **more):
    return [row.text for row in session_context(str(path), **more).context]


def test_a_reverted_thread_goes_on_from_its_older_segment_up_to_the_revert(store):
    _, paths = store

    assert texts(paths["base"]) == ["one", "first", "two", "second"]
    assert texts(paths["segment"]) == ["one", "first", "another way", "third"]
    shown = session_context(str(paths["segment"]))
    assert [row.file for row in shown.context] == [str(paths["base"])] * 2 + [None] * 2
    assert shown.files == [str(paths["base"])]
    assert shown.doubts == []


def test_a_fork_goes_on_from_the_segment_that_holds_its_ordinals(store):
    _, paths = store
    shown = session_context(str(paths["fork"]))

    assert [row.text for row in shown.context] == ["one", "first", "another way", "forked"]
    assert shown.files == [str(paths["base"]), str(paths["segment"])]


def test_what_a_session_goes_on_from_and_is_not_here_is_a_doubt(store):
    _, paths = store
    os.remove(paths["base"])
    os.remove(paths["segment"])
    shown = session_context(str(paths["fork"]))

    assert [row.text for row in shown.context] == ["forked"]
    assert len(shown.doubts) == 1


def test_a_compressed_file_that_a_session_goes_on_from_is_read_too(store):
    _, paths = store
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]}]
    data = paths["base"].read_bytes()[: -len(says(4, "assistant", "second"))]
    data += numbered(4, "compacted", message="", replacement_history=history)
    paths["base"].with_name(paths["base"].name + ".zst").write_bytes(zstd.compress(data))
    os.remove(paths["base"])
    os.remove(paths["segment"])

    assert texts(paths["fork"]) == ["kept", "forked"]


def test_files_that_name_each_other_end(store):
    _, paths = store
    paths["base"].write_bytes(meta(0, BASE, (FORK, 3)) + says(1, "user", "one"))
    os.remove(paths["segment"])

    assert texts(paths["fork"]) == ["one", "forked"]


def test_nothing_of_the_store_is_changed(store):
    folder, paths = store
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    session_context(str(paths["fork"]))

    for path in folder.rglob("*.jsonl"):
        assert path.read_bytes() == (copy / path.relative_to(folder)).read_bytes()
