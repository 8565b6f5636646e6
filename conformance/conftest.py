"""Pi and Node in the cache, no network but loopback, and every scenario played once for the whole session."""

import os
from pathlib import Path

import pytest

import loopback
import pinned
from runs import Runs

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("TURNLOG_SHARED") or ROOT.parent / "shared")
STATE = pytest.StashKey()


def pytest_sessionstart(session):
    """Fetch what is missing, then leave the network: nothing that is run here can reach another address."""
    installed = pinned.installed()
    session.config.stash[STATE] = (installed, loopback.left())


def pytest_report_header(config):
    return f"Pi {pinned.PI} on Node {pinned.NODE}, in {pinned.cache()}"


def pytest_terminal_summary(terminalreporter, config):
    if STATE in config.stash and not config.stash[STATE][1]:
        terminalreporter.write_line("this system gives no network of its own: Pi was given a proxy that refuses")


@pytest.fixture(scope="session")
def installed(pytestconfig):
    return pytestconfig.stash[STATE][0]


@pytest.fixture(scope="session")
def alone(pytestconfig):
    """Whether nothing but loopback can be reached from this process."""
    return pytestconfig.stash[STATE][1]


@pytest.fixture(scope="session")
def runs(installed, tmp_path_factory):
    return Runs(installed, tmp_path_factory.mktemp("pi"))


@pytest.fixture(scope="session")
def seeds():
    """The documents that the reader program stands in; the test is skipped, with the reason, where they are missing."""
    if not any((SHARED / "seeds").glob("000*")):
        pytest.skip(f"no shared material at {SHARED} (TURNLOG_SHARED says where it is)")
    return SHARED / "seeds"
