"""Breaks each rule of identity once, in a copy of the source, and sees a test fail; fails where one goes unseen.

python tools/break_identity.py [--only WORD] [--jobs N] [--list]

Every mutant is a piece of text that stands exactly once in a file, and what it is replaced with. The tests that are run need
nothing but this checkout; the shared material is hidden from them. First they must all pass on a copy that is not broken.
Not on Windows: each trial is a fork.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

import hypothesis  # noqa: F401 -- for all trials at once
import msgspec  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "turnlog"
PATIENCE = 60
"""Seconds for one mutant's tests: they take about one. A rule whose breaking never ends was seen too."""

NOT_THE_COPY = 99

# What holds the rules of each room, most telling first.
TESTS = {
    "ledger": ["tests/test_identity.py"],
    "claude": ["tests/formats/test_claude_work.py"],
    "codex": [
        "tests/formats/test_codex_own.py",
        "tests/formats/test_codex_left.py",
        "tests/formats/test_codex_work.py",
    ],
    "pi": ["tests/formats/test_pi_work.py"],
    "swink": ["tests/formats/test_swink_work.py"],
    "tokens": ["tests/formats/test_codex_work.py"],
}

RULES: dict[str, list[tuple[str, str, str]]] = {
    "ledger/identity.py": [
        ("the least of each part counts", "(b is not None and b > a)", "(b is not None and b < a)"),
        ("the first line's parts count", "return b if a is None or (b is not None and b > a) else a", "return a"),
        ("the latest time counts", "sample.at < at)", "sample.at > at)"),
        ("agents share keys", "by_agent.setdefault(work.agent, [])", 'by_agent.setdefault("x", [])'),
        ("files in any order", "works = sorted(works, key=lambda work: work.path)", "works = list(works)"),
        ("age does not matter", "key=lambda work: (born(work), len(work.ids), work.path)", "key=lambda work: work.path"),
        ("length does not matter", "(born(work), len(work.ids), work.path)", "(born(work), work.path)"),
        ("shared records tell age", "if seen[key] == 1]", "]"),
        ("records without ids tell no age", "if work.born is not None:\n", "if False:\n"),
        ("a file with nothing of its own is young", "default=_EARLIEST", "default=_LATEST"),
        ("no word on origin", "return (sample.own is False, ", "return (False, "),
        ("a subagent may claim the main line's call", "sample.own is False, sample.sidechain,", "sample.own is False, False,"),
        ("the elder does not claim", "sample.sidechain, elder,", "sample.sidechain, 0,"),
        ("the session of the copy", "origin if given else kept.session", "kept.session"),
        ("sessions without files", "if sample.session not in ledger.sessions:", "if False:"),
        ("duplicates vanish", "ledger.left.append((other.path, Left(sample, reason, instead)))", "pass"),
        ("duplicates point nowhere", "Left(sample, reason, instead)", "Left(sample, reason)"),
        ("what a file left vanishes", "ledger.left.append((work.path, left))", "pass"),
        ("pointers are not followed", "if pointed:\n", "if False:\n"),
        ("reasons are swapped", "if other is work else", "if other is not work else"),
        ("one open append opens all", "uncommitted = uncommitted and", "uncommitted = uncommitted or"),
        ("a newer copy makes output final", "lower = lower or sample.lower_bound", "lower = sample.lower_bound"),
        ("the last part for an hour", "hour = _more(hour, sample.write_1h)", "hour = sample.write_1h"),
        ("a doubt is forgotten", "flagged = flagged or counts.flagged", "flagged = counts.flagged and flagged"),
        ("an open mark hides a committed one", "elif known.mark.uncommitted and not mark.uncommitted:", "elif False:"),
        ("the last model", "if model is None:\n", "if True:\n"),
        ("the last cost", "if cost is None:\n", "if True:\n"),
    ],
    "tokens.py": [
        ("the cache counts twice", "fresh -= (read or 0) + (write or 0)", "fresh -= 0"),
        ("reasoning is added", "return Additive(fresh, self.output, read, write, flagged)",
         "return Additive(fresh, (self.output or 0) + (self.reasoning or 0), read, write, flagged)"),
    ],
    "formats/claude/fold.py": [
        ("each line is a call", 'self._here(record) if answer is None else ("claude", answer)\n        if event.basis',
         "self._here(record)\n        if event.basis"),
        ("each line is an answer", 'key = self._here(record) if answer is None else ("claude", answer)\n            self',
         "key = self._here(record)\n            self"),
        ("the request id is part of a call", 'else ("claude", answer)\n        if event.basis',
         'else ("claude", answer, event.request_id)\n        if event.basis'),
        ("a uuid is one over files", 'return ("claude", self.place.name, record.start if', 'return ("claude", record.start if'),
        ("no uuid, no place", "record.start if record.id is None else record.id)\n\n    def _meta", "record.id)\n\n    def _meta"),
        ("advisors are the answer", 'key = (*key, "advisor", self.advisors)', "pass"),
        ("all advisors are one", '"advisor", self.advisors)', '"advisor")'),
        ("advisors by their slot", '"advisor", self.advisors)', '"advisor", event.index)'),
        ("the client's own lines are calls", "if event.model == SYNTHETIC:", "if False:"),
        ("output is always final", "self.at_least = before_final(event.agent_version)", "pass"),
        ("final one version too early", "FINAL_FROM = (2, 1, 97)", "FINAL_FROM = (2, 1, 96)"),
        ("final one version too late", "FINAL_FROM = (2, 1, 97)", "FINAL_FROM = (2, 1, 98)"),
        ("files without answers are at least", "self.work.at_least |= self.at_least\n", "self.work.at_least = True\n"),
        ("copies belong to the copy", "event.origin_session or facts.id", "facts.id"),
        ("copies are nobody's", "None if event.origin_session is None else event.origin_session == facts.id", "None"),
        ("subagents are the main line", "            record.sidechain,\n            None if", "            False,\n            None if"),
        ("the model is the session's", "            event.model,\n            self.project", "            facts.model,\n            self.project"),
        ("a session has one folder", "            self.project,\n", "            facts.cwd,\n"),
        ("each folder is a project", "if end and cwd[:end] in self.projects:", "if False:"),
        ("prompts are known by place", 'return ("claude", record.id) if record.id is not None else', "return"),
    ],
    "formats/claude/session.py": [
        ("progress repeats usage", "            out += [event for event in inner",
         ("            if nested.usage is not None:\n"
          "                out.append(usage_of(record, nested, nested.usage, head))\n"
          "            out += [event for event in inner")),
    ],
    "formats/claude/usage.py": [
        ("cache writes are the sum alone", "if write is None or nested > write:", "if write is None:"),
        ("every iteration is an advisor", 'call.type == "advisor_message"', "call.type is not None"),
        ("advisors have no model", "advisor\", call.model,", "advisor\", message.model,"),
    ],
    "formats/codex/fold.py": [
        ("copied records are own", "own = event.thread_id is None or thread == self.thread", "own = True"),
        ("records win by file", "if reason is None and turn not in self.turns:", "if reason is None and not self.turns:"),
        ("both ledgers are added", "if reason is None and turn not in self.turns:", "if reason is None:"),
        ("records never win", "            self.turns.add(record.turn_id)", "            pass"),
        ("total_tokens is compared", "if parts == then:", "if total == before:"),
        ("every repeat counts", "if parts == then:", "if False:"),
        ("a restart is a jump", "parts in (_sum(then, vector), vector):", "parts in (_sum(then, vector),):"),
        ("a step is a jump", "if last is not None and vector is not None and parts in (_sum(then, vector), vector):", "if False:"),
        ("a fall needs all parts", "if any(a < b for a, b in zip(parts, then", "if all(a < b for a, b in zip(parts, then"),
        ("a missed count is lost", "return _minus(total, before), None", "return last or Counts(), None"),
        ("a first count is its last sample", "else total), None\n", "else last), None\n"),
        ("a first count is its total", "(last if any(vector or ()) or", "(last if"),
        ("a fork counts its parent's total", "return last, PARENTS_TOTAL", "return last, None"),
        ("no total forgets the total", "            return last or Counts(), None\n        before",
         "            self.total = None\n            return last or Counts(), None\n        before"),
        ("equal calls are one", "            key = (*key, self._nth(key))\n        self.counted", "            pass\n        self.counted"),
        ("counts have no thread", '("codex", self.thread, record.turn_id, parts, vector)', '("codex", "", record.turn_id, parts, vector)'),
        ("a response id is one everywhere", '("codex", thread, record.turn_id, event.response_id, vector)',
         '("codex", "", "", event.response_id, None)'),
        ("a response id is one in a turn", "event.response_id, vector)", "event.response_id, None)"),
        ("records without ids are one", "            key = (*key, self._nth(key))\n        own", "            pass\n        own"),
        ("estimates are repeats", 'if reason is not None and "estimate" in event.adjustments:', "if False:"),
        ("nothing is something", "if reason is None and not any(_parts(counts)) and not counts.cache_write:", "if False:"),
        ("repeats point at estimates", "if reason != UNCHANGED and total is not None:", "if total is not None:"),
        ("repeats point nowhere", "instead = spots[repeated]", "pass"),
        ("records are not matched by their parts", "latest.get((turn, sample.key[4])) or nearest", "nearest"),
        ("records of the turn's end", "or nearest.get(turn) or", "or"),
        ("counts of a fork are its parent's", "reason is None or (reason == PARENTS_TOTAL and (turn, sample.key[4]) in latest)",
         "reason is None"),
        ("a turn of the same moment is inherited", "if at < self.base:", "if at <= self.base:"),
        ("no turn is inherited", "hints.inherited_turn = True", "pass"),
        ("own history begins with the last turn", "elif hints.own_from is None:", "else:"),
        ("ancestors stand anywhere", "if record.line == self.last_meta + 1:", "if True:"),
        ("ancestors are not noted", "self.hints.copied = True", "pass"),
        ("a spawned thread has no parent", "for thread in (event.forked_from, parent) if thread", "for thread in (event.forked_from,) if thread"),
        ("a fork has no parent", "for thread in (event.forked_from, parent) if thread", "for thread in (parent,) if thread"),
        ("a segment is a copy", 'hints.based = "history_base" in about', "hints.based = False"),
        ("people type in subagents", "        if self.sidechain:\n            return\n", ""),
    ],
    "formats/codex/lineage.py": [
        ("turns tell no time", "elif hints.inherited_turn:", "elif False:"),
        ("inherited turns end nowhere", "boundary = hints.own_from or _END\n", "boundary = _END\n"),
        ("bursts are own", "elif hints.parents and (hints.copied or hints.burst_totals > 1):", "elif False:"),
        ("a burst needs ancestors", "(hints.copied or hints.burst_totals > 1)", "hints.copied"),
        ("one answer makes a burst", "hints.burst_totals > 1", "hints.burst_totals > 0"),
        ("threads without parents have bursts", "elif hints.parents and (hints.copied", "elif (hints.copied"),
        ("old times are no copies", "if self.since is not None and at < self.since:", "if False:"),
        ("a pause ends nothing", "elif self.old or at - before > PAUSE:", "elif self.old:"),
        ("copies stay counted", "left.append(Left(sample, COPIED))", "samples.append(sample)"),
        ("records are copies too", "if sample.line < boundary and sample.line in hints.walked:", "if sample.line < boundary:"),
        ("what was left stays left", "if other.reason == COPIED and other.sample.line >= boundary", "if False"),
        ("copied talk is own", "work.marks = [mark for mark in marks if mark.line >= boundary]", "work.marks = marks"),
        ("twins count twice", "            _twins(works)\n", "            pass\n"),
        ("the compressed twin stands", 'return (work.path.endswith(".zst"),', 'return (not work.path.endswith(".zst"),'),
        ("the archived twin stands", '"archived_sessions" in folders[:-1],', '"archived_sessions" not in folders[:-1],'),
        ("the longer twin's rest is lost", "                    stay.append(sample)\n", "                    pass\n"),
        ("twins point nowhere", "Left(sample, TWIN, spot(first.path, stands))", "Left(sample, TWIN)"),
        ("children first", "for thread in _parents_first(by_thread):", "for thread in by_thread:"),
        ("parents are not compared", "            if not work.hints.settled:", "            if False:"),
        ("the shorter twin is compared", "max(elders[thread], key=lambda twin: _extent(twin.hints))", "elders[thread][0]"),
        ("turn ids are not compared", "if child.turns and child.turns[0][1] in theirs:", "if False:"),
        ("only whole files are copied", "max(_matched(child.counts, parent.counts), _matched(child.counts, parent.counts[begins:]))",
         "_matched(child.counts, parent.counts)"),
        ("one equal call is a copy", "if distinct < 2 and not child.copied", "if False and not child.copied"),
        ("texts are not compared", "    return _over_texts(child, parent, boundary)\n", "    return boundary\n"),
        ("copies have no place", "    place_ancestors(by_thread)\n", ""),
        ("own turns do not end a copy", "min(_boundary(hints, parent.hints), hints.own_from or _END)", "_boundary(hints, parent.hints)"),
    ],
    "formats/codex/ancestors.py": [
        ("every id tells a time", "if len(uuid) != 36 or uuid[14] != \"7\" or", "if len(uuid) != 36 or"),
        ("the middle of a chain must be here", "found = self._anywhere().get(key)", "pass"),
        ("a parent's total is not found", "return self._first(self._totals, parents, key[1:3])", "return None"),
        ("only what counts is found", "for left in work.left if left.instead is not None]", "for left in () ]"),
        ("nearest parents only", "for thread in threads:", "for thread in threads[:1]:"),
    ],
    "formats/codex/session.py": [
        ("a review's turn is the thread's own", "mirrored = by.parent_turn_id == self._turn", "mirrored = False"),
    ],
    "formats/pi/fold.py": [
        ("an id is enough", 'self.key = ("pi", entry, stamp, record.type)', 'self.key = ("pi", entry, record.type)'),
        ("types do not matter", 'self.key = ("pi", entry, stamp, record.type)', 'self.key = ("pi", entry, stamp)'),
        ("a time is enough", 'self.key = ("pi", entry, stamp, record.type)', 'self.key = ("pi", stamp, record.type)'),
        ("files share nothing", 'self.key = ("pi", entry, stamp, record.type)', 'self.key = ("pi", self.place.name, entry, stamp, record.type)'),
        ("numbers are no times", "record.at_text or (at.isoformat() if at is not None else None)", "record.at_text"),
        ("entries without ids are one", 'self.key = ("pi", self.place.name, record.start)', 'self.key = ("pi", self.place.name)'),
        ("aborted answers are whole", 'lower_bound=event.stop_reason == "aborted"', "lower_bound=False"),
        ("copies are as old as their header", "self.header = self.work.born = at", "self.header = at"),
        ("flat files are not known", 'self.lineage.flat = is_flat(native.get("version"))', "pass"),
        ("branches are not known", 'self.lineage.parent = native.get("branchedFrom")', "pass"),
    ],
    "formats/pi/copies.py": [
        ("flat copies are new work", "piece.key = known.get(content, piece.key)", "pass"),
        ("all flat files are of one line", 'return [*names, f"file {_stem(parent)}"] if parent else names', 'return [*names, "x"]'),
        ("models do not matter", "                piece.model,\n", ""),
        ("counts do not matter", "                counts.output,\n", ""),
        ("times do not matter", "                piece.at,\n                piece.model", "                piece.model"),
        ("equal entries are one", "yield (*content, number), piece", "yield content, piece"),
        ("sessions are no line", 'names = [f"file {_stem(work.path)}", *(f"session {name}" for name in work.sessions)]',
         'names = [f"file {_stem(work.path)}"]'),
    ],
    "formats/pi/session.py": [
        ("compactions cost nothing", "first_kept=kept, facts=facts))\n        if record.usage is not None:", "first_kept=kept, facts=facts))\n        if False:"),
        ("branch summaries cost nothing", "record.fromId))\n        if record.usage is not None:", "record.fromId))\n        if False:"),
        ("usage entries cost nothing", 'Custom(head, 1, "usage", data or None))\n        if record.usage is not None:',
         'Custom(head, 1, "usage", data or None))\n        if False:'),
    ],
    "formats/pi/messages.py": [
        ("tools cost nothing", "        if said.usage is not None:\n            out", "        if False:\n            out"),
    ],
    "formats/swink/fold.py": [
        ("open appends are committed", "            self.dropped = True\n", "            pass\n"),
        ("what is open is lost", "            self._release()\n            self.dropped", "            self.held = []\n            self.dropped"),
        ("copies are new work", 'return ("swink", facts.id, what, self.number, record.at_text, *more)',
         'return ("swink", self.work.path, what, self.number, record.at_text, *more)'),
        ("equal times are one call", 'return ("swink", facts.id, what, self.number, record.at_text, *more)',
         'return ("swink", facts.id, what, record.at_text, *more)'),
        ("the compactor's lines are calls", "if event.model is None and not sample.counts.total:", "if False:"),
    ],
}  # fmt: skip


class Mutant(NamedTuple):
    """One broken rule: what is broken in its own words, the file below the package, and the replacement."""

    name: str
    file: str
    old: str
    new: str

    @property
    def tests(self) -> list[str]:
        """What must see it."""
        room = self.file.split("/")
        return TESTS[room[1] if room[0] == "formats" else room[0].removesuffix(".py")]

    def broken(self, text: str) -> str:
        """The file's text with the rule broken. Raises ValueError where the text to replace does not stand there once."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.file}: {self.name}: expected the text once, found it {found} times")
        return text.replace(self.old, self.new)


MUTANTS = [Mutant(name, file, old, new) for file, rules in RULES.items() for name, old, new in rules]


def prepared(source: str, folder: str, mutant: Mutant | None) -> None:
    """The source again in that folder, by links, with that rule broken; None: as it is."""
    package = Path(folder, "turnlog")
    shutil.copytree(source, package, copy_function=os.link)
    if mutant is not None:
        file = package / mutant.file
        text = mutant.broken(file.read_text(encoding="utf-8"))
        file.unlink()
        file.write_text(text, encoding="utf-8", newline="\n")
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
            compiled.unlink()


def tried(folder: str, tests: list[str]) -> int:
    """Pytest's exit code for those tests over the copy in that folder. For a process of its own."""
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    os.environ["TURNLOG_SHARED"] = os.path.join(folder, "none")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.chdir(ROOT)
    import turnlog

    if not turnlog.__file__.startswith(folder):
        return NOT_THE_COPY
    words = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "--assert=plain", f"--basetemp={folder}/temp"]
    for warning in ("PytestAssertRewriteWarning", "PytestUnraisableExceptionWarning"):
        words += ["-W", f"ignore::pytest.{warning}"]
    return int(pytest.main([*words, *tests]))


def warm() -> None:
    """Import all that the package and its tests import, and forget the package itself: only that is broken in trials."""
    sys.path.insert(0, str(SOURCE.parent))
    for name in ("turnlog", "turnlog.ledger.scan", "unittest.mock", "_pytest.doctest", "_pytest.junitxml"):
        importlib.import_module(name)
    sys.path.remove(str(SOURCE.parent))
    for name in [name for name in sys.modules if name.partition(".")[0] == "turnlog"]:
        del sys.modules[name]


class Trials:
    """Mutants under trial, a process each. What is imported here is not imported again in each of them; the package
    itself is, from its broken copy."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._source = os.path.join(folder, "source")
        self._under_way: dict[int, tuple[Mutant | None, str]] = {}
        warm()
        ignored = shutil.ignore_patterns("demo_home", "__pycache__")
        shutil.copytree(SOURCE, self._source, ignore=ignored)
        compileall.compile_dir(self._source, quiet=2)

    def __len__(self) -> int:
        return len(self._under_way)

    def begin(self, mutant: Mutant | None, tests: list[str]) -> None:
        """Try the tests on it."""
        folder = tempfile.mkdtemp(dir=self._folder)
        prepared(self._source, folder, mutant)
        child = os.fork()
        if not child:
            code = NOT_THE_COPY
            try:
                output = os.open(os.path.join(folder, "said"), os.O_WRONLY | os.O_CREAT, 0o600)
                os.dup2(output, 1)
                os.dup2(output, 2)
                signal.alarm(PATIENCE)
                code = tried(folder, tests)
            except Exception:  # noqa: BLE001 -- told, and the parent goes on
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        self._under_way[child] = (mutant, folder)

    def ended(self) -> tuple[Mutant | None, int, str]:
        """Wait for one: the mutant, pytest's exit code (negative: it was stopped), and the last lines it said."""
        child, status = os.wait()
        mutant, folder = self._under_way.pop(child)
        said = Path(folder, "said").read_text(encoding="utf-8", errors="replace")
        shutil.rmtree(folder)
        return mutant, os.waitstatus_to_exitcode(status), "\n".join(said.splitlines()[-15:])


def main() -> int:
    """Break what is asked for; 1 where something went unseen."""
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--only", metavar="WORD", default="", help="mutants whose name or file has this in it")
    words.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="how many at a time")
    words.add_argument("--list", action="store_true", help="name them and stop")
    asked = words.parse_args()
    chosen = [mutant for mutant in MUTANTS if asked.only in f"{mutant.file}: {mutant.name}"]
    if asked.list:
        print("\n".join(f"{mutant.file}: {mutant.name}" for mutant in chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="turnlog-mutants-") as folder:
        return judged(Trials(folder), chosen, asked.jobs)


def judged(trials: Trials, chosen: list[Mutant], jobs: int) -> int:
    """Try them all, so many at a time; 1 where one went unseen."""
    began = time.monotonic()
    trials.begin(None, sorted({test for mutant in chosen for test in mutant.tests}))
    _, code, said = trials.ended()
    if code:
        print(f"the tests must pass before a rule is broken (pytest says {code}):\n{said}")
        return 1
    unseen = 0
    waiting = list(reversed(chosen))
    while waiting or trials:
        if waiting and len(trials) < jobs:
            mutant = waiting.pop()
            trials.begin(mutant, mutant.tests)
            continue
        tried_one, code, said = trials.ended()
        name = f"{tried_one.file}: {tried_one.name}" if tried_one is not None else ""
        if code == 0:
            unseen += 1
            print(f"UNSEEN  {name}")
        elif code not in (1, -signal.SIGALRM):  # no test failed: the tests could not be run at all
            unseen += 1
            print(f"BROKEN  {name}: pytest says {code}\n{said}")
    print(f"{len(chosen) - unseen} of {len(chosen)} broken rules were seen, in {time.monotonic() - began:.0f} s")
    return 1 if unseen or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
