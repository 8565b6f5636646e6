"""The benchmarks: ratios in one process. See README.md here; run by `make bench`.

python benchmarks/run.py [--mib 120] [--rounds 5] [--only read,memory,stream,overview,start] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson

import corpus
from turnlog.contract import COMMAND_RECORD_BYTES, ReadOptions
from turnlog.live.answer import answer
from turnlog.reader import read

SHARED = Path(os.environ.get("TURNLOG_SHARED") or Path(__file__).resolve().parents[2] / "shared")
MAKER = SHARED / "tools" / "make_corpus.py"
OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=COMMAND_RECORD_BYTES)
BARS = {"bulk": 0.85, "ascii": 0.75}
AGENTS = {"claude": ".claude", "codex": ".codex", "pi": ".pi"}


def best(rounds: int, *tasks: Callable[[], object]) -> list[float]:
    """The best time of each task, taken turn about, in seconds."""
    times = [float("inf")] * len(tasks)
    for _ in range(rounds):
        for n, task in enumerate(tasks):
            begin = time.perf_counter()
            task()
            times[n] = min(times[n], time.perf_counter() - begin)
    return times


def bare(path: Path) -> Callable[[], None]:
    """What everybody writes first."""

    def loop() -> None:
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)

    return loop


def ours(path: Path, agent: str) -> Callable[[], None]:
    """Every event, with its position and every check of the contract."""

    def loop() -> None:
        with read(path, agent, OPTIONS) as reader:
            for _ in reader:
                pass
            assert reader.finish().is_complete

    return loop


def ours_in_batches(path: Path, agent: str) -> Callable[[], None]:
    """The same, a list of events at a time."""

    def loop() -> None:
        with read(path, agent, OPTIONS) as reader:
            for _ in reader.batches():
                pass
            assert reader.finish().is_complete

    return loop


def bulk_home(work: Path, mib: int) -> Path:
    """A whole home; with the shared maker, of its sizes and truth."""
    home = work / "bulk" / "home"
    if MAKER.exists():
        command = [
            sys.executable,
            MAKER,
            "bulk",
            "--out",
            work / "bulk",
            "--mib",
            str(mib),
            "--agents",
            "claude,codex,pi",
        ]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        return home
    folders = {
        "claude": ".claude/projects/-home-dev-kestrel",
        "codex": ".codex/sessions/2026/11/02",
        "pi": ".pi/agent/sessions/--home-dev-kestrel--",
    }
    for agent, folder in folders.items():
        (home / folder).mkdir(parents=True)
        for n in range(12):
            name = corpus.Writer(n, wide=False).id()
            path = home / folder / (f"rollout-{name}.jsonl" if agent == "codex" else f"{name}.jsonl")
            corpus.write(path, agent, mib * 1024 * 1024 // 36, wide=True, seed=n)
    return home


def joined(home: Path, agent: str, to: Path, limit: int) -> Path:
    """An agent's files in one, whole records only."""
    with to.open("wb") as out:
        for path in sorted((home / AGENTS[agent]).rglob("*.jsonl")):
            data = path.read_bytes()
            out.write(data[: data.rfind(b"\n") + 1])
            if out.tell() > limit:
                break
    return to


def bench_read(work: Path, home: Path, rounds: int, mib: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for agent in AGENTS:
        files = {
            "bulk": joined(home, agent, work / f"{agent}.jsonl", mib * 1024 * 1024),
            "ascii": corpus.write(work / f"{agent}-ascii.jsonl", agent, mib * 1024 * 1024 // 2, wide=False),
        }
        for kind, path in files.items():
            one, two, three = best(rounds, bare(path), ours(path, agent), ours_in_batches(path, agent))
            size = path.stat().st_size
            rows.append(
                {
                    "bench": "read", "agent": agent, "file": kind, "mb": round(size / 1e6),
                    "orjson_mb_s": round(size / one / 1e6), "turnlog_mb_s": round(size / two / 1e6),
                    "ratio": round(two / one, 3), "ratio_batches": round(three / one, 3), "bar": BARS[kind],
                }
            )  # fmt: skip
            show(rows[-1])
    return rows


MEMORY = """
import resource, sys
from pathlib import Path
from turnlog.contract import ReadOptions
from turnlog.reader import read, read_from
class Long:  # a record of 200 MiB between two ordinary ones, made as it is asked for
    def __init__(self): self.parts = [b'{"type":"mode","sessionId":"s"}\\n', b'{"type":"user","x":"'] + [b'x' * (1 << 18)] * 800 + [b'"}\\n']
    def read(self, n): return self.parts.pop(0) if self.parts else b''
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
options = ReadOptions(max_file_bytes=None)
with read(sys.argv[1], sys.argv[3], options) as r:
    for _ in r: pass
small = peak()
with read(sys.argv[2], sys.argv[3], options) as r:
    for _ in r: pass
large = peak()
with read_from(Long(), 'claude', ReadOptions(max_file_bytes=None)) as r:
    for _ in r: pass
    assert r.finish().faults == {'too_long': 1}, r.finish()
print(large - small, peak() - large)
"""


def bench_memory(work: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for agent in AGENTS:
        small = corpus.write(work / f"{agent}-32.jsonl", agent, 32_000_000, wide=True)
        large = corpus.write(work / f"{agent}-256.jsonl", agent, 256_000_000, wide=True)
        command = [sys.executable, "-c", MEMORY, str(small), str(large), agent]
        grown, drained = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        rows.append(
            {"bench": "memory", "agent": agent, "grown_mib": int(grown), "drained_mib": int(drained), "bar": 32}
        )
        show(rows[-1])
    return rows


STREAM = """
import resource, sys
from turnlog.live.answer import answer
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
assert answer(sys.argv[1]).ok
small = peak()
assert answer(sys.argv[2]).ok
print(peak() - small)
"""


def bench_stream(work: Path, rounds: int) -> list[dict[str, object]]:
    """A captured stream of 200 MB reduced to its answer, against a bare loop over it; and what memory that takes."""
    small = corpus.write(work / "stream-10.jsonl", "stream", 10_000_000, wide=True)
    large = corpus.write(work / "stream-200.jsonl", "stream", 200_000_000, wide=True)

    def reduced() -> None:
        assert answer(large).ok

    one, two = best(rounds, bare(large), reduced)
    size = large.stat().st_size
    command = [sys.executable, "-c", STREAM, str(small), str(large)]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    row: dict[str, object] = {
        "bench": "stream", "mb": round(size / 1e6), "orjson_mb_s": round(size / one / 1e6),
        "turnlog_mb_s": round(size / two / 1e6), "speed": round(one / two, 2), "bar": 0.6, "grown_mib": grown,
    }  # fmt: skip
    show(row)
    return [row]


def raw_scan(home: Path) -> Callable[[], int]:
    """Every file read whole, newlines counted."""
    files = [path for path in home.rglob("*.jsonl*") if path.is_file()]

    def scan() -> int:
        lines = 0
        for path in files:
            with path.open("rb", buffering=0) as file:
                while data := file.read(1 << 20):
                    lines += data.count(b"\n")
        return lines

    return scan


def bench_overview(home: Path, rounds: int) -> list[dict[str, object]]:
    """Cold: with an empty cache each time. Again: nothing has changed since the last run. Grown: one file has."""
    last = [sys.executable, "-m", "turnlog"]
    grows = next(home.rglob("*.jsonl"))
    with tempfile.TemporaryDirectory(prefix="turnlog-cache-") as cache:

        def run(*words: str, cold: bool = False) -> Callable[[], object]:
            command = [*last, *words, "--home", str(home), "--json"]

            def go() -> None:
                with tempfile.TemporaryDirectory(prefix="turnlog-cache-") as empty:
                    env = {**os.environ, "TURNLOG_CACHE": empty if cold else cache}
                    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)

            return go

        def grown() -> None:
            with grows.open("ab") as file:
                file.write(b"\n")
            run("overview")()

        nothing, scan, whole, usage, _, _, again, usage_again, grew, listed = best(
            rounds,
            lambda: subprocess.run([sys.executable, "-c", "pass"], check=True),
            raw_scan(home),
            run("overview", cold=True),
            run("usage", "daily", cold=True),
            run("overview"),
            run("usage", "daily"),
            run("overview"),
            run("usage", "daily"),
            grown,
            run("list"),
        )
    size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    row = {
        "bench": "overview", "mb": round(size / 1e6), "scan_s": round(scan, 3), "overview_s": round(whole, 3),
        "ratio": round(whole / scan, 2), "bar": 6, "one_file_grown_s": round(grew, 3), "again_s": round(again, 3),
        "usage_s": round(usage, 3), "usage_ratio": round(usage / scan, 2), "usage_bar": 4,
        "usage_again_passes": round(usage_again / nothing, 1), "again_bar": 10, "list_s": round(listed, 3),
    }  # fmt: skip
    show(row)
    return [row]


def bench_start(rounds: int) -> list[dict[str, object]]:
    turnlog = Path(sys.executable).with_name("turnlog")

    def run(*words: object) -> Callable[[], object]:
        command = [str(word) for word in words]
        return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    nothing, version, helped = best(
        rounds * 4, run(sys.executable, "-c", "pass"), run(turnlog, "--version"), run(turnlog, "--help")
    )
    row: dict[str, object] = {
        "bench": "start", "pass_ms": round(nothing * 1e3), "version_ms": round(version * 1e3), "help_ms": round(helped * 1e3),
        "ratio": round(version / nothing, 2), "bar": 5,
    }  # fmt: skip
    show(row)
    return [row]


def show(row: dict[str, object]) -> None:
    print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mib", type=int, default=120)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--only", default="read,memory,stream,overview,start")
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    wanted = asked.only.split(",")
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory(prefix="turnlog-bench-") as folder:
        work = Path(folder)
        if {"read", "overview"} & set(wanted):
            home = bulk_home(work, asked.mib * 3)
        if "read" in wanted:
            rows += bench_read(work, home, asked.rounds, asked.mib)
        if "memory" in wanted:
            rows += bench_memory(work)
        if "stream" in wanted:
            rows += bench_stream(work, asked.rounds)
        if "overview" in wanted:
            rows += bench_overview(home, asked.rounds)
        if "start" in wanted:
            rows += bench_start(asked.rounds)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
