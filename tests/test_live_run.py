"""A program run to its end: its bytes kept, its pipes drained, its answer judged (fake_agent.py misbehaves)."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from fake_agent import STREAM
from turnlog.errors import InvalidOptionsError, LineFault, UnknownFormatError
from turnlog.live import spool as spools
from turnlog.live.answer import answer
from turnlog.live.process import Process, ProgramNotStarted
from turnlog.live.run import Running, arun, run
from turnlog.live.spool import WINDOW, BytesLost, Log, Spool
from turnlog.stream import Run

AGENT = [sys.executable, str(Path(__file__).with_name("fake_agent.py"))]
SECONDS = 60

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake program uses signals and descriptors")


def agent(*words):
    return [*AGENT, *map(str, words)]


def until(true, what):
    """Wait, for a time that is generous, until something is so."""
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def done(talk):
    async def bounded():
        async with asyncio.timeout(SECONDS):
            return await talk

    return asyncio.run(bounded())


# The verdict


def test_an_answer_that_may_be_trusted_comes_with_how_the_program_ended():
    ran = run(agent("ok"))

    assert (ran.ok, ran.verdict, ran.reason, ran.text) == (True, "answered", None, "Three herons.")
    assert (ran.exit_code, ran.signal, ran.stopped_by, ran.agent, ran.runs) == (0, None, None, "pi", 1)
    assert (ran.bytes, ran.stderr_bytes, ran.log, ran.left_open) == (len(STREAM), 0, None, False)
    assert 0 < ran.seconds < SECONDS


@pytest.mark.parametrize(
    "words, verdict, how",
    [
        (["code", 3], "exit", "ended with exit code 3"),
        (["silent", 0], "no_stream", "ended with exit code 0"),
        (["silent", 9], "no_stream", "ended with exit code 9"),
        (["torn"], "cut", "was ended by SIGKILL"),
        (["binary"], "no_stream", "ended with exit code 0"),
        (["close_stdout"], "exit", "ended with exit code 4"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_may_not_be_trusted_says_why_and_how_the_program_ended(words, verdict, how):
    ran = run(agent(*words))

    assert (ran.ok, ran.verdict, ran.text) == (False, verdict, None)
    assert how in ran.reason


def test_the_text_that_may_not_be_trusted_is_given_where_it_is_asked_for():
    assert run(agent("code", 1), partial=True).text == "Three herons."


def test_the_verdict_is_that_of_the_log(tmp_path):
    log = tmp_path / "log"
    ran = run(agent("torn"), log=log)
    found = answer(log)

    assert (ran.verdict, ran.messages, ran.usage, ran.runs) == (found.verdict, found.messages, found.usage, found.runs)


def test_another_agent_than_the_one_that_is_named_is_none(tmp_path):
    assert run(agent("ok"), agent="codex").ok is False
    with pytest.raises(UnknownFormatError):
        run(agent("ok"), agent="nobody", log=tmp_path / "log")
    assert os.listdir(tmp_path) == []


# Starting


@pytest.mark.parametrize("name", ["no-such-program-here", "/no/such/program", "."])
def test_a_program_that_cannot_be_started_leaves_no_log(tmp_path, name):
    with pytest.raises(ProgramNotStarted, match="cannot be started"):
        run([name], log=tmp_path / "log", stderr_log=tmp_path / "err")
    with pytest.raises(ProgramNotStarted):
        run(agent("ok", "a\0b"), log=tmp_path / "log")

    assert os.listdir(tmp_path) == []


def test_no_program_is_the_callers_mistake(tmp_path):
    with pytest.raises(InvalidOptionsError):
        run([], log=tmp_path / "log")

    assert os.listdir(tmp_path) == []


def test_no_shell_sees_the_words(tmp_path):
    words = ["$HOME", "a b", "; touch x", "`id`", "*", "", "\udcff", "é"]
    err = tmp_path / "err"
    assert run(agent("words", *words), stderr_log=err, cwd=tmp_path).ok

    assert err.read_bytes().split(b"\0") == [word.encode("utf-8", "surrogateescape") for word in words]
    assert os.listdir(tmp_path) == ["err"]


def test_stdin_is_empty_unless_something_is_given(tmp_path):
    given = tmp_path / "given"
    given.write_bytes(b"a question\n")

    run(agent("echo"), stderr_log=tmp_path / "none")
    with open(given, "rb") as file:
        run(agent("echo"), stdin=file, stderr_log=tmp_path / "some")

    assert (tmp_path / "none").read_bytes() == b""
    assert (tmp_path / "some").read_bytes() == b"a question\n"


# The log


@pytest.mark.parametrize("word", ["ok", "letters", "binary", "torn"])
def test_the_log_has_the_exact_bytes_and_stderr_is_apart(tmp_path, word):
    log, err = tmp_path / "log", tmp_path / "err"
    run(agent(word), log=log, stderr_log=err)
    plain = subprocess.run(agent(word), capture_output=True, check=False)

    assert log.read_bytes() == plain.stdout
    assert err.read_bytes() == plain.stderr


@pytest.mark.parametrize("mask", [0, 0o277])
def test_a_log_is_for_the_owner_alone_whatever_the_mask(tmp_path, mask):
    before = os.umask(mask)
    try:
        Log(tmp_path / "log").close()
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) == 0o600


def test_a_file_that_is_there_is_never_overwritten_unasked(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"earlier")
    log.chmod(0o644)
    for more in ({"log": log}, {"log": tmp_path / "new", "stderr_log": log}):
        with pytest.raises(InvalidOptionsError, match="there already"):
            run(agent("ok"), **more)
    assert log.read_bytes() == b"earlier"
    assert os.listdir(tmp_path) == ["log"]

    assert run(agent("ok"), log=log, force=True).log_bytes == len(STREAM)
    assert log.read_bytes() == STREAM
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.parametrize("force", [False, True])
def test_a_log_is_never_written_through_a_link(tmp_path, force):
    (tmp_path / "kept").write_bytes(b"kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("link", "dangling"):
        with pytest.raises(InvalidOptionsError):
            run(agent("ok"), log=tmp_path / name, force=force)

    assert (tmp_path / "kept").read_bytes() == b"kept"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("force", [False, True])
def test_a_log_that_cannot_be_made_is_the_callers_mistake_and_nothing_is_started(tmp_path, force):
    (tmp_path / "folder").mkdir()
    for log in (tmp_path / "no" / "log", tmp_path / "folder", "/dev/null", "a\0b"):
        with pytest.raises(InvalidOptionsError):
            run(agent("words", "x"), log=log, force=force)
    with pytest.raises(InvalidOptionsError, match="both"):
        run(agent("ok"), log=tmp_path / "x", stderr_log=tmp_path / "folder" / ".." / "x", force=force)

    assert os.listdir(tmp_path) == ["folder"]


def test_a_full_disk_stops_neither_the_program_nor_the_answer(tmp_path):
    limited = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
        "from turnlog.live.run import run\n"
        "ran = run(sys.argv[2:], log=sys.argv[1])\n"
        "print(ran.ok, ran.verdict, ran.text, ran.bytes > 3_000_000, ran.log_bytes, ran.exit_code)\n"
        "print(ran.reason)\n"
    )
    log = tmp_path / "log"
    ran = subprocess.run(
        [sys.executable, "-c", limited, log, *agent("flood", 3)], capture_output=True, text=True, check=False
    )

    first, second = ran.stdout.splitlines()
    assert first == "False log Three herons. True 1000000 0"
    assert "exit code 0" in second
    assert "after 1000000 bytes" in second
    assert log.read_bytes() == subprocess.run(agent("flood", 3), capture_output=True, check=False).stdout[:1_000_000]


# Pipes


@pytest.mark.parametrize("log", [None, "log"])
def test_a_stopped_reader_never_holds_the_program_up(tmp_path, log):
    with Running(agent("flood", 30), log=log and tmp_path / log) as running:
        until(lambda: running.process.exit_code is not None, "the program waits for its reader")
        assert running.process.stdout.written >= 30_000_000
        ran = running.finish()

    assert (ran.ok, ran.stderr_bytes, ran.bytes) == (True, 30_000_000, 30_000_000 + len(STREAM))


@pytest.mark.slow
def test_a_hundred_megabytes_on_each_pipe_go_through(tmp_path):
    ran = run(agent("flood", 100), log=tmp_path / "log")

    assert (ran.ok, ran.bytes, ran.log_bytes) == (True, 100_000_000 + len(STREAM), 100_000_000 + len(STREAM))
    assert (tmp_path / "log").stat().st_size == ran.bytes


@pytest.mark.parametrize("word", ["grandchild", "chatty_grandchild"])
def test_what_it_leaves_behind_with_its_pipes_open_is_not_waited_for(word):
    with Running(agent(word)) as running:
        said = b""
        while not running.over:
            running.step(0.05)
            said += running.stderr()
        left = int(said + running.stderr())
        try:
            os.kill(left, 0)  # it is there still
            ran = running.finish()
        finally:
            os.kill(left, signal.SIGKILL)

    assert (ran.exit_code, ran.left_open) == (0, True)
    assert ran.bytes >= len(STREAM)
    assert word != "grandchild" or ran.ok


def test_leaving_a_run_kills_the_program_and_ends_every_thread():
    before = threading.active_count()
    with Running(agent("deaf")) as running:
        running.step(SECONDS)

    assert running.process.exit_code == -signal.SIGKILL
    assert threading.active_count() == before


def test_an_exception_at_the_reader_kills_the_program():
    with pytest.raises(ZeroDivisionError), Running(agent("deaf")) as running:
        raise ZeroDivisionError

    assert running.process.exit_code == -signal.SIGKILL


def test_a_mistake_of_ours_ends_no_agents_work(monkeypatch, tmp_path):
    def wrong(_, data):
        raise ZeroDivisionError

    with Running(agent("ok"), log=tmp_path / "log") as running:
        monkeypatch.setattr(type(running.capture), "feed", wrong)
        with pytest.raises(ZeroDivisionError):
            running.finish()

    assert running.process.exit_code == 0
    assert (tmp_path / "log").read_bytes() == STREAM


# The async twin


def test_events_come_one_by_one_and_then_the_verdict():
    async def talk():
        async with arun(agent("letters")) as running:
            items = [item async for item in running]
            assert [item async for item in running] == []
            return items, await running.finish()

    items, ran = done(talk())

    assert ran.ok
    assert isinstance(items[-1], Run)
    assert items[-1].state == "settled"
    assert [item.text for item in items if item.kind == "message" and item.role == "assistant"] == ["Three herons."]
    assert not any(isinstance(item, LineFault) for item in items)
    start, end = items[-1].start, items[-1].end
    assert STREAM[start:end].startswith(b'{"type":"agent_settled"')


def test_the_first_event_comes_while_the_program_still_runs():
    async def talk():
        async with arun(agent("dies_of_it")) as running:
            async for _ in running:
                return running.running.process.exit_code
        return "no event"

    assert done(talk()) is None


def test_pieces_come_unless_only_the_verdict_is_wanted():
    async def kinds(**more):
        async with arun([sys.executable, "-c", PIECES], **more) as running:
            return [item.kind async for item in running]

    assert done(kinds()) == ["run", "begun", "delta", "delta"]
    assert done(kinds(quiet=True)) == ["run", "begun"]


PIECES = (
    'print(\'{"type":"agent_start"}\\n{"type":"message_start","message":{"role":"assistant","content":[]}}\')\n'
    'print(\'{"type":"message_update","assistantMessageEvent":{"type":"text_start","contentIndex":0}}\')\n'
    'print(\'{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"x"}}\')\n'
)


def test_finishing_needs_no_reader_and_a_blocked_loop_holds_nothing_up():
    async def talk():
        running = arun(agent("flood", 10))
        until(lambda: running.running.process.exit_code is not None, "the program waits for the loop")
        return await running.finish()

    assert done(talk()).ok


def test_a_cancelled_reader_kills_the_program():
    async def talk():
        async def work():
            async with arun(agent("deaf")) as running:
                begun.set_result(running.running.process)
                await running.finish()

        begun = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(work())
        process = await begun
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process.exit_code

    assert done(talk()) == -signal.SIGKILL


# The spool and the process below


def numbered(count):
    """Bytes of which each eight say where they stand."""
    return b"".join(at.to_bytes(8, "big") for at in range(0, count, 8))


@pytest.mark.parametrize("log", [False, True])
def test_readers_at_any_distance_read_the_same_bytes(tmp_path, log):
    data = numbered(3 * WINDOW)
    spool = Spool(Log(tmp_path / "log") if log else None)
    early, late = spool.reader(0), spool.reader(WINDOW)
    got = bytearray()
    for at in range(0, len(data), 99_000):
        spool.write(data[at : at + 99_000])
        if at % 3 == 0:
            got += late.take()
    spool.end()
    while more := late.read():
        got += more
    first = b"".join(iter(early.read, b""))
    spool.close()

    assert first == data
    assert got == data[WINDOW:]
    assert early.over


def test_what_every_reader_has_had_is_kept_nowhere(monkeypatch):
    monkeypatch.setattr(spools, "WINDOW", 1000)
    spool = Spool()
    reader = spool.reader()
    for turn in range(50):
        for _ in range(turn % 7 + 1):
            spool.write(b"%08d" % turn * 100)
        while reader.take():
            pass
    kept = spool._overflow
    assert kept is not None
    assert os.fstat(kept.fileno()).st_size < 10_000
    spool.close()


def test_nothing_is_kept_for_readers_that_are_gone(monkeypatch):
    monkeypatch.setattr(spools, "WINDOW", 1000)
    spool = Spool()
    reader = spool.reader(0)
    gone = spool.reader(0)
    reader.leave()
    del gone
    spool.write(b"x" * 100_000)

    assert spool._overflow is None
    assert spool.tail == b"x" * 500
    spool.close()


def test_a_hole_is_told_once_and_reading_goes_on_behind_it(monkeypatch):
    monkeypatch.setattr(spools, "WINDOW", 1000)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spools.tempfile, "TemporaryFile", full)
    spool = Spool()
    reader = spool.reader(0)
    spool.write(b"a" * 600)
    spool.write(b"b" * 600)
    with pytest.raises(BytesLost) as caught:
        reader.take()

    assert caught.value.count == 700
    assert reader.take() == b"b" * 500
    assert reader.take() == b""
    spool.close()


def test_lost_output_is_never_a_good_answer(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spools, "WINDOW", 1000)
    monkeypatch.setattr(spools.tempfile, "TemporaryFile", full)
    with Running(agent("ok")) as running:
        until(lambda: running.process.exit_code is not None, "it ends")
        ran = running.finish()

    assert (ran.ok, ran.verdict, ran.text) == (False, "lost", None)


def test_bytes_to_a_program_arrive_whole_and_in_order():
    process = Process(["cat"], stdin=subprocess.PIPE)
    data = [bytes([n]) * 100_000 for n in range(20)]
    for piece in data:
        process.send(piece)
    process.close_stdin()
    reader = process.stdout.reader(0)
    got = b"".join(iter(reader.read, b""))

    assert process.wait(SECONDS) == 0
    assert got == b"".join(data)
    process.close()
