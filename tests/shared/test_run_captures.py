"""A program that prints a real capture is judged as the capture is, and its log is the capture."""

import pytest

from reading import SHARED
from turnlog.errors import TurnlogError
from turnlog.live.answer import answer
from turnlog.live.run import run

pytestmark = pytest.mark.shared

CAPTURES = sorted(
    [*(SHARED / "real" / "pi").glob("*/json/*.jsonl"), *(SHARED / "real" / "pi").glob("*/rpc/*.stdout.jsonl")]
)
SAID = ("verdict", "reason", "text", "messages", "tools", "usage", "agent", "run", "runs", "state")


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: "-".join(path.parts[-3:]))
def test_a_real_capture_is_judged_alike_from_a_program_and_from_a_file(capture, tmp_path):
    log = tmp_path / "log"
    ran = run(["cat", capture], log=log)

    assert log.read_bytes() == capture.read_bytes()
    assert ran.exit_code == 0
    try:
        found = answer(capture)
    except TurnlogError:
        assert (ran.ok, ran.verdict) == (False, "no_stream")
        return
    assert ran.ok == found.ok
    for name in SAID:
        told = getattr(ran, name)
        if name == "reason" and told is not None:
            told = told.removeprefix("the program ended with exit code 0; ")
        assert told == getattr(found, name), name
