"""Every scenario run once, and what it is held to.

`differing` names what is not as it was fixed beforehand. It is what the tests assert to be empty, and what a test with a
wrong expectation asserts not to be.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ours
import turnlog
from driver import PRICES, Pi, Ran, environment
from model_server import ModelServer, Served, Spent
from pinned import Installed
from scenarios import SCENARIOS, Expected, Scenario

ASK = Path(__file__).with_name("ask.mjs")


@dataclass
class Run:
    """One scenario that was played. left: steps of its script that nobody asked for."""

    scenario: Scenario
    ran: Ran
    served: list[Served]
    unforeseen: int
    installed: Installed

    @cached_property
    def files(self) -> list[Path]:
        return self.ran.files()

    @cached_property
    def events(self) -> list[list[turnlog.Event]]:
        """Of each file."""
        return [ours.events(path) for path in self.files]

    @cached_property
    def totals(self) -> tuple[Spent, float | None]:
        return ours.spent(self.ran.home)

    @cached_property
    def stream(self) -> ours.Stream:
        """What it printed."""
        return ours.stream_of(self.ran.out)

    @cached_property
    def found(self) -> dict[str, Any]:
        """What was read, by the fields of Expected that it is held to."""
        return {
            "said": tuple(ours.said(events) for events in self.events),
            "spent": self.totals[0],
            "shown": ours.shown(ours.context_at(self.files[-1])),
            "verdict": self.stream.verdict,
        }

    @cached_property
    def pi(self) -> list[dict[str, Any]]:
        """What Pi itself says of each file."""
        return ask(self.installed, self.ran.home, self.files)

    def told(self) -> Spent:
        """What the server told the client it spent."""
        return sum((one.spent for one in self.served), Spent())


class Runs:
    """The runs by scenario name; each is made when it is first asked for. folder: an empty one to work in."""

    def __init__(self, installed: Installed, folder: Path) -> None:
        self.installed = installed
        self.folder = folder
        self._scenarios = {scenario.name: scenario for scenario in SCENARIOS}
        self._runs: dict[str, Run | Exception] = {}

    def __getitem__(self, name: str) -> Run:
        """Raises what the playing raised, each time."""
        if name not in self._runs:
            try:
                self._runs[name] = self._play(self._scenarios[name])
            except Exception as error:  # noqa: BLE001  whatever it is, it is raised below
                self._runs[name] = error
        run = self._runs[name]
        if isinstance(run, Exception):
            raise run
        return run

    def _play(self, scenario: Scenario) -> Run:
        folder = self.folder / scenario.name.replace(" ", "-")
        folder.mkdir()
        with ModelServer(scenario.steps, scenario.summaries) as server:
            ran = scenario.run(Pi(self.installed, folder, server))
        return Run(scenario, ran, server.served, server.unforeseen, self.installed)


def ask(installed: Installed, home: Path, files: list[Path]) -> list[dict[str, Any]]:
    """Pi's own answers on session files."""
    command = [installed.node, ASK, installed.core, *files]
    done = subprocess.run(command, env=environment(home, installed), capture_output=True, check=True, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def differing(run: Run, expected: Expected) -> list[str]:
    """What is not as expected, by the names of the fields of Expected."""
    return [name for name, value in run.found.items() if value != getattr(expected, name)]


def priced(spent: Spent) -> float:
    """US dollars for tokens, by the price list that Pi was given."""
    parts = {
        "input": spent.input,
        "output": spent.output,
        "cacheRead": spent.cache_read,
        "cacheWrite": spent.cache_write,
    }
    return sum(PRICES[name] * tokens for name, tokens in parts.items()) / 1_000_000
