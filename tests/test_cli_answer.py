"""turnlog answer: text on stdout, the reason on stderr, and the exit code."""

import json
import os
import subprocess
import sys

import pytest

from commands import COMMAND, apart, as_json, environment, turnlog
from reading import FIXTURES
from test_answer import ANSWERED, HEADER, SETTLED, START, begun, said

EVERY = FIXTURES / "streams" / "pi-every.jsonl"


def log(tmp_path, *parts):
    path = tmp_path / "run.log"
    path.write_bytes(b"".join(parts))
    return path


def test_the_text_and_nothing_else_goes_to_stdout():
    done = apart("answer", ANSWERED)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"Three herons.\n", b"")


@pytest.mark.parametrize("words", [["answer"], ["answer", "-"]], ids=["none", "dash"])
def test_without_a_log_standard_input_is_read(words):
    done = apart(*words, stdin=ANSWERED.read_bytes())

    assert (done.returncode, done.stdout) == (0, b"Three herons.\n")


@pytest.mark.parametrize(
    "text, printed",
    [
        ("a", b"a\n"),
        ("a\n", b"a\n"),
        ("a\n\n", b"a\n\n"),
        ("", b"\n"),
        ("  a\tb\u2028c\x1b[31m\x00  ", "  a\tb\u2028c\x1b[31m\x00  \n".encode()),
        ("\U0001f426 \ud83d", "\U0001f426 \ufffd\n".encode()),
    ],
)
def test_a_program_gets_the_exact_text_with_a_line_feed_at_its_end(tmp_path, text, printed):
    assert turnlog("answer", log(tmp_path, HEADER, START, said(text), SETTLED)).stdout == printed


def test_a_person_gets_the_text_made_safe(tmp_path):
    pty = pytest.importorskip("pty", reason="no terminals of our own on this system")
    path = log(tmp_path, HEADER, START, said("red \x1b[31m\x07 and\nmore"), SETTLED)
    ours, theirs = pty.openpty()
    done = subprocess.run([*COMMAND, "answer", str(path)], stdout=theirs, env=environment(), check=False, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)

    assert done.returncode == 0
    assert b"\x1b" not in shown
    assert b"\x07" not in shown
    assert shown.startswith(b"red ")
    assert shown.endswith(b"and\r\nmore\r\n")


def test_an_answer_not_to_be_trusted_is_one_line_on_stderr(tmp_path):
    path = log(tmp_path, HEADER, START, said("Secret.", "error", errorMessage="400\nno \x1b[31mway"), SETTLED)
    done = turnlog("answer", path)

    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.decode() == f"turnlog: {path}: not to be trusted (error): the call failed: 400 no way\n"


def test_partial_prints_the_text_and_the_exit_code_stays(tmp_path):
    path = log(tmp_path, HEADER, START, begun("Half"))

    assert turnlog("answer", path).stdout == b""
    done = turnlog("answer", "--partial", path)
    assert (done.returncode, done.stdout) == (3, b"Half\n")
    assert done.stderr.count(b"\n") == 1


def test_partial_without_any_text_prints_nothing(tmp_path):
    assert turnlog("answer", "--partial", log(tmp_path, HEADER, START)).stdout == b""


def test_the_json_has_the_verdict_and_the_counts():
    assert as_json("answer", EVERY) == {
        "schema": "turnlog.answer/1", "ok": True, "verdict": "answered", "reason": None, "text": "Done.",
        "messages": 3, "tools": 0, "usage": {"input": 50, "output": 5, "cache_read": 0, "cache_write": 0, "total": 55},
        "agent": "pi", "run": 2, "runs": 2, "state": "settled",
    }  # fmt: skip
    assert as_json("answer", "--run", "1", EVERY)["tools"] == 1


def test_the_json_of_what_may_not_be_trusted_has_no_text_unless_asked(tmp_path):
    path = log(tmp_path, HEADER, START, begun("Half"))
    found = as_json("answer", path, code=3)

    assert (found["ok"], found["verdict"], found["text"], found["state"]) == (False, "unsettled", None, "unsettled")
    assert found["usage"]["total"] is None
    assert as_json("answer", "--partial", path, code=3)["text"] == "Half"


def test_a_run_that_is_not_there_matches_nothing():
    done = turnlog("answer", "--run", "7", EVERY)

    assert (done.returncode, done.stdout) == (1, b"")
    assert b"expected a run 7, the stream has 2" in done.stderr


@pytest.mark.parametrize("value", ["0", "-1", "last"])
def test_a_run_is_a_number_from_one(value):
    assert turnlog("answer", "--run", value, EVERY).returncode == 2


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"hello\n", b'{"a":1}\n', os.urandom(70_000), b"[" * 100_000],
    ids=["empty", "blank", "text", "other", "junk", "brackets"],
)
def test_what_is_no_stream_is_four_and_a_sentence(tmp_path, data):
    done = turnlog("answer", log(tmp_path, data))

    assert (done.returncode, done.stdout) == (4, b"")
    assert done.stderr.startswith(b"turnlog: ")
    assert done.stderr.count(b"\n") == 1


def test_a_log_that_is_not_there_is_four(tmp_path):
    done = turnlog("answer", tmp_path / "none.log")

    assert done.returncode == 4
    assert b"cannot be read" in done.stderr


def test_the_agent_may_be_named():
    assert turnlog("answer", "--agent", "pi", ANSWERED).stdout == b"Three herons.\n"
    assert turnlog("answer", "--agent", "swink", ANSWERED).returncode == 2


def test_whoever_reads_no_further_ends_it_quietly(tmp_path):
    path = log(tmp_path, HEADER, START, said("line\n" * 200_000), SETTLED)
    script = f'"{sys.executable}" -m turnlog answer "{path}" | head -n 1'
    done = subprocess.run(script, shell=True, capture_output=True, check=False, env=environment(), timeout=60)

    assert (done.stdout, done.stderr) == (b"line\n", b"")


def test_the_json_is_one_value_whatever_the_text_holds(tmp_path):
    path = log(tmp_path, HEADER, START, said("\ud83d \x1b \u2028"), SETTLED)

    assert json.loads(turnlog("answer", "--json", path).stdout)["text"] == "\ufffd \x1b \u2028"
