"""Properties of the ledger over made homes: resumes, forks, subagents, replays, twins and branches, of any shape.

Each home knows what was really spent: every call has a size of its own, and is written again in every way that agents
write it again.
"""

import copy
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from homes import (
    BASE,
    ClaudeFile,
    CodexFile,
    PiFile,
    counts_somewhere,
    iso,
    ledger,
    tokens,
    v4,
    v7,
)
from reading import cut_at, parse
from turnlog.discover import roots_from_home
from turnlog.formats import FORMATS, place_of
from turnlog.ledger.machine import survey
from turnlog.ledger.report import KINDS
from turnlog.ledger.usage import usage_report

ZONE = "America/Los_Angeles"
SOME = settings(max_examples=40)


class Home:
    """Files, and the tokens that were spent in them."""

    def __init__(self):
        self.files = []
        self.spent = 0
        self.calls = 0

    def call(self):
        """The (input, output) of one more call; no two are equal."""
        self.calls += 1
        self.spent += 100 * self.calls + self.calls
        return 100 * self.calls, self.calls

    def ledger(self):
        return ledger(*self.files)


def session(n):
    return f"{n:08x}-0000-4000-8000-{n:012x}"


# -- Claude Code


def answered(draw, home, file):
    """A few answers: split into lines, the last usage in all of them or in one, with a tool's result between."""
    for _ in range(draw(st.integers(0, 3))):
        fresh, out = home.call()
        lines = draw(st.integers(1, 3))
        final = draw(st.integers(0, lines - 1))
        for n in range(lines):
            file.answer(f"m{home.calls}", (fresh, out if n == final else draw(st.integers(0, out))))
            if draw(st.booleans()):
                file.typed("result", uuid=f"r{home.calls}-{n}")
    return file


@st.composite
def claude_homes(draw):
    home = Home()
    for n in range(draw(st.integers(1, 5))):
        how = draw(st.sampled_from(["new", "resumed", "forked", "agent"])) if home.files else "new"
        at = 10_000_000 * n if n < 3 else 0
        old = draw(st.sampled_from(home.files)) if home.files else None
        if how == "new":
            file = ClaudeFile(session(n), at=at).typed("go")
        elif how == "agent":
            file = ClaudeFile(old.session, subagent=f"{n:02d}", at=at)
            replayed = [line for line in old.lines if line["type"] == "assistant"][-1:]
            file.copied(replayed, isSidechain=True, uuid=f"replay{n}", agentId=f"{n:02d}")
        else:
            file = ClaudeFile(session(n), at=at)
            taken = old.lines[: draw(st.integers(0, len(old.lines)))]
            changed = {"sessionId": file.session}
            if how == "resumed":
                changed |= {"timestamp": iso(at), "requestId": None}
            elif draw(st.booleans()):
                changed |= {"requestSessionId": old.session}
            file.copied(taken, **changed)
        home.files.append(answered(draw, home, file))
    return home


# -- Codex


class Thread:
    """A thread under way: its file, its running total, and whether its turns have ids and its responses records."""

    def __init__(self, file, n, *, modern, records, total=(0, 0)):
        self.file, self.n, self.modern, self.records, self.total = file, n, modern, records, total
        self.turn = None


def worked(draw, home, thread):
    """A few calls: counted once or again and again, beside a record of the response or without."""
    file = thread.file
    for n in range(draw(st.integers(0, 3))):
        if thread.modern and (thread.turn is None or draw(st.booleans())):
            thread.turn = v7(1_000_000 * thread.n + 1000 * (home.calls + 1), home.calls + 1)
            file.turn(thread.turn, 2000)
        file.said("assistant", f"answer {thread.n} {n}", 1500)
        fresh, out = home.call()
        thread.total = (thread.total[0] + fresh, thread.total[1] + out)
        total, last = (thread.total[0], 0, thread.total[1]), (fresh, 0, out)
        if thread.records and thread.modern:
            file.record(thread.turn, f"r{home.calls}", last)
        for _ in range(draw(st.integers(1, 2))):
            file.count(total, last)
        if draw(st.booleans()):
            file.count(total, (0, 0, 0, 0, 4321))


@st.composite
def codex_homes(draw):
    home = Home()
    modern, records = draw(st.booleans()), draw(st.booleans())
    threads = []
    for n in range(draw(st.integers(1, 4))):
        how = draw(st.sampled_from(["new", "fork", "subagent"])) if threads else "new"
        name = v7(1_000_000 * n, n) if modern else v4(n + 1)
        old = draw(st.sampled_from(threads)) if threads else None
        created = 600_000 * n
        if how == "fork":
            file = CodexFile(name, forked_from_id=old.file.thread, created=created).copied(old.file.lines, created + 10)
            total = old.total
        else:
            spawn = (
                {"subagent": {"thread_spawn": {"parent_thread_id": old.file.thread}}} if how == "subagent" else "cli"
            )
            file, total = CodexFile(name, created=created, source=spawn), (0, 0)
        threads.append(Thread(file, n, modern=modern, records=records, total=total))
        worked(draw, home, threads[-1])
    home.files = [thread.file for thread in threads]
    return home


# -- Pi


@st.composite
def pi_homes(draw):
    home = Home()
    for n in range(draw(st.integers(1, 4))):
        old = draw(st.sampled_from(home.files)) if home.files and draw(st.booleans()) else None
        file = PiFile(session(n), at=1_000_000 * n, **({"parentSession": old.path} if old else {}))
        if old is not None and len(old.lines) > 1:
            file.copied(old.lines[1 : draw(st.integers(2, len(old.lines)))])
        for _ in range(draw(st.integers(0, 4))):
            entry = f"{len(file.lines):08x}"  # equal in unrelated files, as short ids can be
            above = draw(st.sampled_from([line.get("id") for line in file.lines]))
            kind = draw(st.sampled_from(["prompt", "answer", "compaction"]))
            if kind == "prompt":
                file.typed(entry, parent=above)
            elif kind == "answer":
                file.answer(entry, home.call(), parent=above)
            else:
                fresh, out = home.call()
                usage = {"input": fresh, "output": out, "cacheRead": 0, "cacheWrite": 0}
                file.add(entry, "compaction", parent=above, summary="s", tokensBefore=1, usage=usage)
        home.files.append(file)
    return home


HOMES = st.one_of(claude_homes(), codex_homes(), pi_homes())


def encoded(found):
    return msgspec.json.encode(found)


@given(home=HOMES)
@settings(max_examples=120)
def test_every_call_counts_once_and_what_stands_for_the_rest_counts(home):
    found = home.ledger()

    assert tokens(found) == home.spent
    assert len(found.samples) == home.calls
    assert counts_somewhere(found)


@given(home=HOMES, data=st.data())
@SOME
def test_the_order_of_the_files_changes_nothing(home, data):
    order = data.draw(st.permutations(home.files))

    assert encoded(ledger(*order)) == encoded(home.ledger())


@given(home=st.one_of(claude_homes(), pi_homes()), data=st.data())
@SOME
def test_the_names_of_the_files_change_no_total(home, data):
    names = data.draw(st.permutations(range(len(home.files))))
    for file, name in zip(home.files, names, strict=True):
        file.path = f"{file.path.rsplit('/', 1)[0]}/{name:02d}.jsonl"

    assert tokens(home.ledger()) == home.spent


@given(home=HOMES, data=st.data())
@SOME
def test_a_copy_of_a_file_under_another_name_adds_nothing(home, data):
    file = data.draw(st.sampled_from(home.files))
    again = copy.copy(file)
    folder, name = file.path.rsplit("/", 1)
    again.path = data.draw(st.sampled_from([f"{folder}/again/{name}", f"{folder}/rollout-a-copy-of-{name}"]))
    found = ledger(*home.files, again)

    assert tokens(found) == home.spent
    assert counts_somewhere(found)


@given(home=HOMES, data=st.data())
@SOME
def test_a_file_that_grows_is_at_last_what_it_is_at_once(home, data):
    """Folded after each append: never more than was spent, never less than before, and in the end the same."""
    n = data.draw(st.integers(0, len(home.files) - 1))
    file, others = home.files[n], home.files[:n] + home.files[n + 1 :]
    whole = file.data
    sizes = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    known = 0
    for size in sizes:
        now = tokens(ledger(*others, file.work(whole[:size])))
        assert known <= now <= home.spent
        known = now

    grown = FORMATS[file.agent].fold(
        place_of(file.path),
        parse(file.agent, None, cut_at(whole, sizes), place=place_of(file.path), codex_usage="all").items,
    )
    assert encoded(ledger(*others, grown)) == encoded(home.ledger())


@given(homes=st.tuples(claude_homes(), codex_homes(), pi_homes()), data=st.data())
@settings(max_examples=25)
def test_every_grouping_sums_to_the_same_total(homes, data):
    """Over all agents in one home, and also where some files are gone that others were copied from."""
    files = [file for home in homes for file in home.files]
    kept = [file for file in files if data.draw(st.booleans())] if data.draw(st.booleans()) else files
    with tempfile.TemporaryDirectory() as folder:
        for file in kept:
            path = Path(folder, file.path.removeprefix("/home/"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
        roots = roots_from_home(folder)
        view = survey(roots, ZONE, jobs=1)
        reports = [usage_report(roots, kind, timezone=ZONE, costs=False, jobs=1) for kind in KINDS]
        days = usage_report(roots, "daily", timezone=ZONE, costs=False, jobs=1, instances=True)
        blocks = usage_report(roots, "blocks", timezone=ZONE, costs=False, jobs=1)

    total = view.tokens.total
    assert total == sum(home.spent for home in homes) or kept != files
    assert view.faults == []
    parts = view.tokens
    assert parts.input + parts.output + parts.cache_read + parts.cache_write == total
    assert sum(view.by_day.values()) == total
    assert sum(view.by_model.values()) == total
    assert sum(view.by_project.values()) == total
    assert sum(row.tokens.total for row in view.by_session.values()) == total
    assert sum(row.tokens.total for row in view.by_agent.values()) == total
    for report in reports:
        rows = getattr(report, report.report)
        assert sum(row.total_tokens for row in rows) == report.totals.total_tokens == total, report.report
    assert sum(row.total_tokens for rows in days.projects.values() for row in rows) == total
    assert sum(block.total_tokens for block in blocks.blocks if not block.is_gap) == total


def test_the_sizes_of_calls_tell_them_apart():
    home = Home()

    assert len({home.call() for _ in range(50)}) == 50
    assert home.spent == sum(101 * n for n in range(1, 51))
    assert BASE > 0
