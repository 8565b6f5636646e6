"""What every test stands on: no network, a home of its own, and the shared material where it lies.

The shared material (cases, real sessions, the fact sheets) is not part of the project. It is looked for in
TURNLOG_SHARED, else in a folder `shared` beside the checkout. Without it those tests are skipped, and the report says so.
"""

import os
import socket
import sys
import time
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TURNLOG_SHARED") or ROOT.parent / "shared")
SHARED_FOUND = (SHARED / "cases").is_dir() and (SHARED / "formats").is_dir()
SHARED_MISSING = f"no shared material at {SHARED} (TURNLOG_SHARED says where it is)"

# Each example may be slow on a busy machine, and a slow example is no fault.
hypothesis.settings.register_profile("turnlog", deadline=None)
hypothesis.settings.load_profile("turnlog")

# Where the agents, and we, may be told to look. A developer's own settings must not reach a test.
OVERRIDES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "LINES",
)


class Guard:
    """Refuses the network in this process, through the interpreter's own audit events, while `on` is true.

    An audit hook sees sockets made by C code too, and cannot be forgotten by a module that imported `socket` early.
    """

    class RefusedError(Exception):
        """A test, or the code under test, asked for the network."""

    def __init__(self):
        self.on = False

    def __call__(self, event, args):
        if not self.on or not event.startswith("socket."):
            return
        if event == "socket.__new__":
            # On Windows an event loop wakes itself through a loopback pair; there only the addresses are looked at.
            refused = args[1] != getattr(socket, "AF_UNIX", None) and sys.platform != "win32"
        elif event in {"socket.connect", "socket.bind", "socket.sendto"}:
            address = args[1]
            refused = isinstance(address, tuple) and not (sys.platform == "win32" and address[0] == "127.0.0.1")
        else:
            refused = event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}
        if refused:
            raise self.RefusedError(event)


GUARD = Guard()
sys.addaudithook(GUARD)


def pytest_addoption(parser):
    parser.addoption(
        "--update-goldens",
        action="store_true",
        help="write tests/goldens anew from what is read now; read each changed line before accepting it",
    )


def pytest_configure(config):
    os.environ["TZ"] = "UTC"
    if hasattr(time, "tzset"):
        time.tzset()


def pytest_report_header(config):
    return f"shared material: {SHARED}" if SHARED_FOUND else SHARED_MISSING


def pytest_terminal_summary(terminalreporter):
    """Say at the end of a quiet run too what was left out."""
    if not SHARED_FOUND:
        terminalreporter.write_line(f"{SHARED_MISSING}: the tests over it were skipped")
    else:
        terminalreporter.write_line(f"shared material: {SHARED}: the tests over it ran")


def pytest_collection_modifyitems(items):
    if not SHARED_FOUND:
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason=SHARED_MISSING))


@pytest.fixture(scope="session")
def shared():
    """The folder of shared material; the test is skipped, with the reason, where it is missing."""
    if not SHARED_FOUND:
        pytest.skip(SHARED_MISSING)
    return SHARED


@pytest.fixture(scope="session")
def root():
    """The checkout."""
    return ROOT


@pytest.fixture(autouse=True)
def no_network():
    """Nothing in this process opens a socket but a local one, in any test."""
    GUARD.on = True
    yield GUARD
    GUARD.on = False


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """An empty home for each test, for this process and for those it starts; no override of any agent is set."""
    folder = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name in OVERRIDES or name.startswith("TURNLOG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder / ".local" / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / ".local" / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / ".cache"))
    monkeypatch.setenv("APPDATA", str(folder / "AppData" / "Roaming"))
    monkeypatch.setenv("LOCALAPPDATA", str(folder / "AppData" / "Local"))
    return folder
