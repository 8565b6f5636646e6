"""Running the command: as people do, in a process of its own with a time to be done in, or quickly in this one."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from turnlog.cli.group import run

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "src" / "turnlog" / "demo_home"
COMMAND = [sys.executable, "-m", "turnlog"]
SECONDS = 60

CLAUDE = DEMO / ".claude/projects/-home-dev-kestrel/fb4537b0-fcfc-4cd0-b878-551e261e51a6.jsonl"
GLUED = DEMO / ".claude/projects/-home-dev-kestrel/7948048a-6924-49ac-8aa3-517de5841812.jsonl"
CUT = DEMO / ".claude/projects/-home-dev-tern/928cc8e7-ef7f-49e2-baa9-cfe06b1a3de8.jsonl"


def environment(**more):
    """The environment of this process, with the package where it is found here."""
    paths = [str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **more}


def hears_ctrl_c():
    """For `preexec_fn`: a shell that starts us in the background has told its children to be deaf to Ctrl-C and Ctrl-\\."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def apart(*args, stdin=None, seconds=SECONDS, cwd=None, **environ):
    """Run the command in a process of its own; its output as bytes. Nothing it does may end in a traceback."""
    done = subprocess.run(
        [*COMMAND, *map(os.fspath, args)],
        input=b"" if stdin is None else stdin,
        capture_output=True,
        check=False,
        timeout=seconds,
        cwd=cwd,
        env=environment(**environ),
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode(errors="replace")
    return done


def turnlog(*args, stdin=b""):
    """The same in this process, many times as quick."""
    words = [os.fspath(arg) for arg in args]
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        code = run(words)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    return subprocess.CompletedProcess(words, code, *(stream.buffer.getvalue() for stream in streams[1:]))


def rows(*args, stdin=b"", code=0):
    """The rows of `turnlog events`; the last one is the summary."""
    done = turnlog("events", *args, stdin=stdin)
    assert done.returncode == code, done.stderr.decode(errors="replace")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[-1]["kind"] == "summary"
    assert [row["kind"] for row in found].count("summary") == 1
    return found


def as_json(*args, code=0, by=turnlog):
    """What a command prints with --json. code: what it exits with, None for whatever it is. by: who runs it."""
    done = by(*args, "--json")
    assert code is None or done.returncode == code, done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


def line(**fields):
    """One record as a line, lone surrogates as the escapes that agents write."""
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def user(key, parent=None, text="hello", session="aaaaaaaa-0000-4000-8000-000000000001", **more):
    """One record of Claude Code: a person's line. A key of None leaves the id out."""
    ids = {} if key is None else {"uuid": key}
    return line(
        parentUuid=parent, sessionId=session, type="user", message={"role": "user", "content": text}, **ids,
        timestamp="2026-05-01T10:00:00.000Z", version="2.1.50", **more,
    )  # fmt: skip
