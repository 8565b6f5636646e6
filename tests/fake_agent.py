"""A program that prints what an agent prints, and misbehaves as its first argument says. Run, not imported."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STREAM = (Path(__file__).parent / "fixtures" / "streams" / "pi-answered.jsonl").read_bytes()
LINES = STREAM.splitlines(keepends=True)
OUT, ERR = 1, 2
READY = b'{"type":"session_info_changed","name":"ready"}\n'


def write(data, to=OUT):
    view = memoryview(data)
    while view:
        view = view[os.write(to, view) :]


def ok():
    write(STREAM)


def code(number="3"):
    write(STREAM)
    sys.exit(int(number))


def silent(number="0"):
    sys.exit(int(number))


def flood(megabytes):
    """So much on both pipes, and only then the answer."""
    head, tail = b'{"type":"queue_update","steering":["', b'"],"followUp":[]}\n'
    piece = head + b"x" * (100_000 - len(head + tail)) + tail
    for _ in range(int(megabytes) * 10):
        write(piece)
        write(b"e" * 100_000, ERR)
    write(STREAM)


def torn():
    write(STREAM[: len(STREAM) // 2])
    os.kill(os.getpid(), signal.SIGKILL)


def letters():
    """One byte at a time, with noise on stderr."""
    for at in range(len(STREAM)):
        write(STREAM[at : at + 1])
    write(b"\x1b[31mred\x1b[0m\rover\n\x07bell \xff\n", ERR)
    write(b"no end", ERR)


def binary():
    write(bytes(range(256)) * 40 + b"\n" + b"\0" * 1000 + b"\r\n\n")


def echo():
    """The answer, and on stderr what stdin held."""
    write(sys.stdin.buffer.read(), ERR)
    write(STREAM)


def words(*rest):
    write("\0".join(rest).encode("utf-8", "surrogateescape"), ERR)
    write(STREAM)


def close_stdout():
    write(STREAM)
    os.close(OUT)
    time.sleep(0.2)
    write(b"still here\n", ERR)
    sys.exit(4)


def grandchild():
    """What holds every pipe open outlives us."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    write(STREAM)
    write(b"%d" % child.pid, ERR)
    sys.exit(0)


def chatty_grandchild():
    """The same, and it never stops talking."""
    talk = "import os\nwhile True: os.write(1, b'x' * 1000)"
    child = subprocess.Popen([sys.executable, "-c", talk], stderr=subprocess.DEVNULL)
    write(STREAM)
    write(b"%d" % child.pid, ERR)
    sys.exit(0)


def listens(count="1"):
    """Wait for signals, note each on stderr, and go after so many as the last one would make us."""
    heard = []
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1"):
        signal.signal(getattr(signal, name), lambda number, _: heard.append(number))
    write(b"".join(LINES[:3]) + READY)
    told = 0
    while told < int(count):
        for number in heard[told:]:
            write(b"%s\n" % signal.Signals(number).name.encode(), ERR)
            told += 1
        time.sleep(0.005)
    time.sleep(0.1)  # a second copy of a signal would come by now
    for number in heard[told:]:
        write(b"again %s\n" % signal.Signals(number).name.encode(), ERR)
    sys.exit(128 + heard[-1])


def dies_of_it():
    write(b"".join(LINES[:3]) + READY)
    time.sleep(600)


def settles_when_told():
    """Ends well although it was asked to stop."""
    heard = []
    signal.signal(signal.SIGTERM, lambda *_: heard.append(True))
    write(READY)
    while not heard:
        time.sleep(0.005)
    write(STREAM)


def deaf():
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    write(b"".join(LINES[:3]) + READY)
    time.sleep(600)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
