"""Running the command in this process: quick, for tests that do it hundreds of times."""

import json
import os

from turnlog.cli.group import run


def command(capsysbinary, *args):
    """(exit code, stdout, stderr) of one run; what was printed before is dropped."""
    capsysbinary.readouterr()
    code = run([os.fspath(arg) for arg in args])
    out, err = capsysbinary.readouterr()
    return code, out, err


def told(capsysbinary, *args, code=0):
    """The lines a command prints; code: what it must exit with."""
    found, out, err = command(capsysbinary, *args)
    assert found == code, err.decode(errors="replace")
    return out.decode().splitlines()


def as_json(capsysbinary, *args, code=0):
    """What a command prints with --json; code: what it must exit with, None for whatever it is."""
    found, out, err = command(capsysbinary, *args, "--json")
    assert code in (None, found), err.decode(errors="replace")
    return json.loads(out)
