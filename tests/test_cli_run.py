"""turnlog run: the answer on stdout, the program's stderr apart, signals passed on once, and the exit code of the verdict."""

import contextlib
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from commands import COMMAND, SECONDS, apart, environment, hears_ctrl_c, turnlog
from fake_agent import STREAM

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fake program uses signals and descriptors")

AGENT = [sys.executable, str(Path(__file__).with_name("fake_agent.py"))]


def agent(*words):
    return ["--", *AGENT, *words]


# What comes out


def test_the_answer_and_nothing_else_goes_to_stdout():
    done = apart("run", *agent("ok"))

    assert (done.returncode, done.stdout, done.stderr) == (0, b"Three herons.\n", b"")


def test_options_end_where_the_program_begins():
    done = apart("run", "--partial", *AGENT, "words", "--json", "--log", "x", "-h")

    assert (done.returncode, done.stdout, done.stderr) == (0, b"Three herons.\n", b"--json\0--log\0x\0-h")


def test_its_stderr_comes_through_byte_for_byte(tmp_path):
    plain = subprocess.run([*AGENT, "letters"], capture_output=True, check=True)
    shown = apart("run", *agent("letters"))
    kept = apart("run", "--stderr", tmp_path / "err", *agent("letters"))

    assert shown.stderr == plain.stderr
    assert (kept.stderr, (tmp_path / "err").read_bytes()) == (b"", plain.stderr)
    assert shown.returncode == kept.returncode == 0


def test_the_log_has_the_exact_bytes_and_is_the_owners_alone(tmp_path):
    log = tmp_path / "run.log"
    done = apart("run", "--log", log, *agent("ok"))

    assert done.returncode == 0
    assert log.read_bytes() == STREAM
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert apart("answer", log).stdout == done.stdout


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["code", "3"], 3, b"exit code 3"),
        (["silent", "0"], 3, b"exit code 0; it printed nothing"),
        (["silent", "7"], 3, b"exit code 7; it printed nothing"),
        (["torn"], 3, b"was ended by SIGKILL; the run never settled"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_answer_that_may_not_be_trusted_is_exit_3_with_the_programs_own_end(words, code, said):
    done = turnlog("run", *agent(*words))

    assert (done.returncode, done.stdout) == (code, b"")
    assert said in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_partial_prints_it_all_the_same():
    done = turnlog("run", "--partial", *agent("code", "3"))

    assert (done.returncode, done.stdout) == (3, b"Three herons.\n")


@pytest.mark.parametrize("json_too", [[], ["--json"]], ids=["text", "json"])
def test_a_program_that_cannot_be_started_is_exit_127(tmp_path, json_too):
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for name in ("no-such-program-here", tmp_path / "nothing", plain, tmp_path):
        done = turnlog("run", "--log", tmp_path / "log", *json_too, "--", name)
        assert (done.returncode, done.stdout) == (127, b"")
        assert b"cannot be started" in done.stderr
    assert not (tmp_path / "log").exists()


def test_wrong_usage_starts_nothing(tmp_path):
    (tmp_path / "log").write_bytes(b"earlier")
    marker = f"open({str(tmp_path / 'ran')!r}, 'w')"
    program = ["--", sys.executable, "-c", marker]

    assert turnlog("run").returncode == 2
    assert turnlog("run", "--log", tmp_path / "log", *program).returncode == 2
    assert turnlog("run", "--agent", "nobody", *program).returncode == 2
    assert turnlog("run", "--log", tmp_path / "x", "--stderr", tmp_path / "x", *program).returncode == 2
    assert sorted(os.listdir(tmp_path)) == ["log"]
    assert (tmp_path / "log").read_bytes() == b"earlier"


def test_json_has_the_verdict_and_how_the_program_ended(tmp_path):
    done = turnlog("run", "--json", "--log", tmp_path / "log", *agent("code", "5"))
    told = json.loads(done.stdout)

    assert done.returncode == 3
    assert (told["schema"], told["ok"], told["verdict"], told["text"]) == ("turnlog.run/1", False, "exit", None)
    assert (told["exit_code"], told["signal"], told["agent"], told["messages"]) == (5, None, "pi", 3)
    assert (told["log"], told["log_bytes"]) == (str(tmp_path / "log"), len(STREAM))
    assert json.loads(turnlog("run", "--json", *agent("ok")).stdout)["text"] == "Three herons."


def test_stdin_is_passed_on_or_empty():
    given = apart("run", *agent("echo"), stdin=b"a question\n")
    empty = apart("run", "--no-stdin", *agent("echo"), stdin=b"a question\n")

    assert (given.stderr, empty.stderr) == (b"a question\n", b"")


def test_readers_that_have_gone_change_no_verdict():
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment()}
    codes = []
    for words in (["flood", "3"], ["code", "3"]):
        with subprocess.Popen([*COMMAND, "run", "--partial", *agent(*words)], **both) as process:
            process.stdout.close()
            process.stderr.close()
            codes.append(process.wait(SECONDS))

    assert codes == [0, 3]


def test_a_stopped_reader_of_our_stderr_never_holds_the_program_up(tmp_path):
    program = (
        f"import runpy, sys; runpy.run_path({AGENT[1]!r})['flood'](5); open({str(tmp_path / 'done')!r}, 'w').close()"
    )
    words = ["--", sys.executable, "-c", program]
    with subprocess.Popen(
        [*COMMAND, "run", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        wait_for((tmp_path / "done").exists)
        assert process.poll() is None  # it has more to show than a pipe holds
        out, err = process.communicate(timeout=SECONDS)

    assert (process.returncode, out, len(err)) == (0, b"Three herons.\n", 5_000_000)


# Signals


def wait_for(true):
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)


def started(tmp_path, *words, options=(), **more):
    """The command with a program under it that has said that it is ready (in the log)."""
    log = tmp_path / "log"
    process = subprocess.Popen(
        [*COMMAND, "run", "--json", "--log", log, *options, *agent(*words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), preexec_fn=hears_ctrl_c, **more,
    )  # fmt: skip
    wait_for(lambda: log.exists() and b"ready" in log.read_bytes())
    return process


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_is_passed_on_once_and_the_programs_end_is_told(tmp_path, name):
    number = getattr(signal, name)
    process = started(tmp_path, "listens")
    process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS)
    told = json.loads(out)

    assert err.decode().split("\n")[0] == name
    assert b"again" not in err
    assert process.returncode == 3
    assert (told["verdict"], told["stopped_by"], told["exit_code"]) == ("aborted", name, 128 + number)
    assert f"exit code {128 + number}; stopped by {name}" in told["reason"]


def test_a_program_that_dies_of_the_signal_is_told_by_its_name(tmp_path):
    process = started(tmp_path, "dies_of_it")
    process.terminate()
    out, err = process.communicate(timeout=SECONDS)
    told = json.loads(out)

    assert (process.returncode, told["exit_code"], told["signal"]) == (3, None, "SIGTERM")
    assert b"was ended by SIGTERM" in err


def test_a_signal_that_asks_for_no_stop_is_passed_on_too(tmp_path):
    process = started(tmp_path, "listens", "2")
    process.send_signal(signal.SIGUSR1)
    assert process.stderr.readline() == b"SIGUSR1\n"
    process.terminate()
    out, _ = process.communicate(timeout=SECONDS)

    assert json.loads(out)["stopped_by"] == "SIGTERM"


def test_a_run_that_settles_although_it_was_asked_to_stop_is_judged_by_its_answer(tmp_path):
    process = started(tmp_path, "settles_when_told")
    process.terminate()
    out, _ = process.communicate(timeout=SECONDS)

    assert (process.returncode, json.loads(out)["text"]) == (0, "Three herons.")


def test_the_third_request_to_stop_kills(tmp_path):
    process = started(tmp_path, "deaf")
    for _ in range(2):
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
    for _ in range(2):  # two may have come as one; once the program is over, nothing holds a signal up any more
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
    out, _ = process.communicate(timeout=SECONDS)
    told = json.loads(out)

    assert (process.returncode, told["signal"], told["stopped_by"]) == (3, "SIGKILL", "SIGTERM")


def test_a_signal_that_was_ignored_stays_ignored(tmp_path):
    def deaf_to_hangup():
        hears_ctrl_c()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    log = tmp_path / "log"
    with subprocess.Popen(
        [*COMMAND, "run", "--log", log, *agent("dies_of_it")], env=environment(), preexec_fn=deaf_to_hangup,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        wait_for(lambda: log.exists() and b"ready" in log.read_bytes())
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.terminate()
        _, err = process.communicate(timeout=SECONDS)

    assert b"SIGTERM" in err


# On a terminal


class Terminal:
    """The command on a terminal of its own; what it shows is in `shown`."""

    def __init__(self, *words, cwd, stdout=subprocess.PIPE):
        self.master, slave = os.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, "run", *words], stdin=slave, stdout=stdout, stderr=slave, cwd=cwd,
            env=environment(TERM="xterm", COLUMNS="80"), start_new_session=True, preexec_fn=self._own,
        )  # fmt: skip
        os.close(slave)
        self.shown = b""

    def _own(self):
        import fcntl
        import termios

        hears_ctrl_c()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def until(self, words):
        while words not in self.shown:
            more = self.read()
            assert more, f"the terminal was closed before it showed {words!r}: {self.shown!r}"

    def read(self):
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other side is closed
            data = b""
        self.shown += data
        return data

    def close(self):
        while self.read():
            pass
        out, _ = self.process.communicate(timeout=SECONDS)
        os.close(self.master)
        return out


def test_ctrl_c_reaches_the_program_once(tmp_path):
    terminal = Terminal("--log", "log", *agent("listens"), cwd=tmp_path)
    wait_for(lambda: (tmp_path / "log").exists() and b"ready" in (tmp_path / "log").read_bytes())
    os.write(terminal.master, b"\x03")
    terminal.close()

    assert terminal.process.returncode == 3
    assert terminal.shown.count(b"SIGINT\r\n") == 1
    assert b"again" not in terminal.shown
    assert b"exit code 130; stopped by SIGINT" in terminal.shown


def test_progress_is_one_line_that_is_wiped(tmp_path):
    terminal = Terminal("--log", "log", *agent("dies_of_it"), cwd=tmp_path)
    terminal.until(b"message")
    terminal.process.terminate()
    terminal.close()

    lines = terminal.shown.split(b"\r\x1b[K")
    assert all(line.count(b"\n") == 0 for line in lines[:-1])
    assert lines[-1].startswith(b"turnlog: ")
    assert all(len(line) < 80 for line in lines[:-1])


def test_nothing_of_the_program_commands_the_terminal(tmp_path):
    terminal = Terminal(*agent("letters"), cwd=tmp_path)
    out = terminal.close()

    assert out == b"Three herons.\n"
    shown = terminal.shown.replace(b"\r\x1b[K", b"")
    assert b"\x1b" not in shown
    assert b"\x07" not in shown
    assert b"no end" in shown
    assert b"over" in shown


def test_no_terminal_is_given_to_the_program_as_stdin(tmp_path):
    terminal = Terminal(*agent("echo"), cwd=tmp_path)
    out = terminal.close()

    assert (terminal.process.returncode, out) == (0, b"Three herons.\n")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="how a process stands is read from /proc")
def test_ctrl_z_stops_both_and_going_on_goes_on(tmp_path):
    def states():
        return {pid: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids}

    process = started(tmp_path, "dies_of_it")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    pids = [process.pid, *map(int, children.split())]
    assert len(pids) == 2
    process.send_signal(signal.SIGTSTP)
    wait_for(lambda: set(states().values()) == {"T"})
    process.send_signal(signal.SIGCONT)
    wait_for(lambda: "T" not in states().values())
    process.terminate()
    process.communicate(timeout=SECONDS)

    assert process.returncode == 3
