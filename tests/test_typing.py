"""The public types as a caller's checker sees them: mypy --strict over tests/typing."""

import subprocess
import sys

from reading import HERE, ROOT


def test_the_reading_interface_is_typed():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-incremental",
            "--cache-dir=/dev/null" if sys.platform != "win32" else "--cache-dir=nul",
            "--follow-imports=silent",
            str(HERE / "typing" / "reading.py"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
