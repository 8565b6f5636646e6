"""What the real Claude Code and Codex printed, run by run: verdict, text, usage and counts.

What is right is had three ways, none of them ours: from the scripts the clients were run on (recipes/claude/plays.py and
the answers.json beside each Codex capture: texts, tokens of every answer, what fails and how), from the client's own result
lines, and from the session files of the same runs.
"""

import json
import re
from collections import defaultdict
from functools import cache

import pytest

from inprocess import as_json, command
from reading import SHARED, each_byte, identity, parse
from turnlog.contract import ReadStatus
from turnlog.formats import stream_of
from turnlog.views.live import Live

pytestmark = pytest.mark.shared

CLAUDE = SHARED / "real" / "claude"
CODEX = SHARED / "real" / "codex"


def read(agent, data):
    return parse(stream_of(agent), data)


def runs_of(agent, data):
    """Every run of a capture."""
    items, found = read(agent, data).items, []
    while True:
        live = Live(run=len(found) + 1)
        live.take(items)
        live.close()
        if live.chosen is None:
            return found
        found.append(live.chosen)


def spent(run):
    return (run.usage.input, run.usage.output, run.usage.cache_read, run.usage.cache_write)


def native(path):
    return [json.loads(raw) for raw in path.read_bytes().split(b"\n") if raw.strip()]


# -- Claude Code


def captures():
    return sorted((CLAUDE / "stdout").glob("*.stream.jsonl"))


def scenario(path):
    """(scenario, version) of a capture."""
    name, version = re.fullmatch(r"(?:w\d+-)?(.+?)\.([\d.]+)\.stream\.jsonl", path.name).groups()
    return name, {"332": "2.1.332", "197": "2.1.197"}.get(version, version)


def calls(*outputs, **other):
    """The tokens of a run: each answer of the script has 11 in, 2000 from the cache and 1000 into it, unless told."""
    n = len(outputs)
    usual = {"fresh": 11 * n, "output": sum(outputs), "read": 2000 * n, "write": 1000 * n}
    return tuple({**usual, **other}.values())


MORE = "Nothing more to do (step {}).".format
WORDS = "".join(f"word{n} " for n in range(400))
TOOLS = ("All done: one command failed on purpose.", calls(201, 102, 103, 104, 105))
ODD = "Odd text: \u2028 line sep, nul \0 here, lone \ud83d surrogate, emoji \U0001f600, tab\t, e\u0301"

SCRIPTED = {
    "agent": [("The helper is done.", calls(61, 62)), (MORE(2), calls(77))],
    "agent2": [("The helpers are done.", calls(61, 62))],
    "agentbg": [("Started it.", calls(61, 62)), (MORE(2), calls(77))],
    "ask": [("Asked.", calls(77, 77))],
    "autoc": [("side answer", calls(77, 77, 2, fresh=150 + 150_000 + 11))],
    "bashbg": [("bg started", calls(77, 77)), (MORE(2), calls(77))],
    "cd": [("cd done.", calls(77, 77, 77, 77))],
    "compact": [TOOLS],
    "cut": [(MORE(1), calls(3, 77))],  # the first answer died after its start was counted
    "editbig": [("ok", calls(77, 77, 77, 77))],
    "err400": [("", None)],
    "err401": [("", None)],
    "err500": [("", None)],
    "err529": [("After retries.", calls(77))],
    "explore": [("Explored.", calls(61, 62))],
    "fork": [("Fork done.", calls(61, 62)), (MORE(2), calls(77))],
    "gap": [("Gap done.", calls(301, 77))],
    "growin": [("Input grows.", calls(77, fresh=5000, read=9000))],
    "image": [("I see a dot.", calls(31, 33))],
    "maxtok": [(MORE(1), calls(77, 77))],
    "midfail": [("First part.", calls(3))],
    "misc": [("Misc done.", calls(77, 77, 77, 77, 77, 77))],
    "nested0": [("Nested only.", calls(77))],
    "nousage": [("Delta without cache fields.", calls(44))],
    "odd": [(ODD, calls(77))],
    "pause": [("paused", calls(77))],
    "plan": [("Plan given.", calls(77, 77))],
    "recheck": [TOOLS],
    "resume": [("Plain answer, nothing else.", calls(77))],
    "sig-INT-slow": [(WORDS[: WORDS.index("word44 ")], calls(3))],
    "sig-KILL-slow": [(WORDS[: WORDS.index("word48 ")], calls(3))],
    "sig-TERM-slow": [(WORDS[: WORDS.index("word48 ")], calls(3))],
    "sig-INT-slowtool": [("Running a long command.", calls(77))],
    "sig-KILL-slowtool": [("Running a long command.", calls(77))],
    "sig-TERM-slowtool": [("Running a long command.", calls(77))],
    "sin": [("Plain answer, nothing else.", calls(77)), ("Second answer.", calls(33))],
    "startzero": [("Proxy: zero at start.", calls(77, fresh=321, read=0, write=0))],
    "todo": [("Tasks done.", calls(77, 77, 77, 77, 77, 77))],
    "toolong": [("", None)],
    "tools": [TOOLS],
    "wf": [("Workflow started.", calls(77, 77)), ("Workflow ended.", calls(77))],
    "zerodelta": [("Zero input in delta.", calls(77))],
}
"""(text, tokens of the main loop) of each run, by the script."""

OTHERWISE = {
    # 1.0.38 sends an answer back in pieces, so that the script counts steps the client never saw.
    ("big", "1.0.38"): [("Large output seen.", calls(31, 33))],
    ("gap", "1.0.38"): [(MORE(2), calls(301, 77))],
    ("todo", "1.0.38"): [("Tasks done.", calls(77, 77, 77, 77, 77))],
    ("tools", "1.0.38"): [(TOOLS[0], calls(201, 103, 104, 105))],
    # A stream that died is asked for again: whole (2.1.12), or from where it stopped (2.1.332).
    ("midfail", "2.1.12"): [("First part.\nSecond part.", calls(3, 77))],
    ("midfail", "2.1.332"): [(MORE(1), calls(3, 77))],
}

ENDS = {
    "err400": ("failed", "error"),
    "err401": ("unsettled", None),
    "err500": ("failed", "error"),
    "toolong": ("failed", "error"),
    "pause": ("settled", "deferred"),
    "sig-INT-slow": ("aborted", "aborted"),
    "sig-INT-slowtool": ("aborted", "aborted"),
    "sig-KILL-slow": ("unsettled", None),
    "sig-KILL-slowtool": ("unsettled", "tool_use"),
    "sig-TERM-slow": ("unsettled", None),
    "sig-TERM-slowtool": ("unsettled", "tool_use"),
    "midfail": ("failed", "error"),
}
ENDS_OTHERWISE = {
    ("midfail", "2.1.12"): ("settled", "stop"),
    ("midfail", "2.1.332"): ("settled", "stop"),
}

UNTOLD = {
    ("midfail", "1.0.38"): "the half answer is printed as a success, in nothing unlike a whole one",
    ("midfail", "1.0.96"): "the half answer is printed as a success, in nothing unlike a whole one",
}
"""Ends that the capture itself does not tell: the run is taken for answered, which it was not."""

AT_LEAST = {("gap", "1.0.38"): 82}
"""Output that is too low: the lines hold the start of the count, and the result line counts starts and ends together."""


def expected(path):
    name, version = scenario(path)
    return OTHERWISE.get((name, version)) or SCRIPTED[name]


WRITTEN = [path for path in captures() if path.stat().st_size]
EMPTY = [path for path in captures() if not path.stat().st_size]


def test_there_are_captures_of_many_versions_and_some_are_empty():
    assert (len(WRITTEN), len(EMPTY)) == (120, 8)
    assert len({scenario(path)[1] for path in WRITTEN}) == 18
    assert {scenario(path)[1] for path in EMPTY} == {"0.2.100"}


def test_every_capture_is_read_whole_with_no_fault_and_nothing_unknown():
    odd = {}
    for path in captures():
        summary = read("claude", path.read_bytes()).summary
        identity(summary)
        if (summary.status, summary.faults, summary.unknown, summary.repairs) != (ReadStatus.COMPLETE, {}, {}, {}):
            odd[path.name] = summary
    assert odd == {}


@pytest.mark.parametrize(
    "path", sorted(WRITTEN, key=lambda path: path.stat().st_size)[:60:9], ids=lambda path: path.name
)
def test_the_cut_of_the_bytes_and_strict_reading_change_nothing(path):
    data = path.read_bytes()
    whole = read("claude", data)

    for other in (parse(stream_of("claude"), None, each_byte(data)), parse(stream_of("claude"), data, repair=False)):
        assert (other.items, other.summary) == (whole.items, whole.summary)


def test_every_capture_is_told_to_be_of_this_agent_and_no_other():
    for path in WRITTEN:
        first = native(path)[0]
        assert [name for name in ("claude", "codex", "pi") if stream_of(name).sniff(first)] == ["claude"], path.name


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name.removesuffix(".stream.jsonl"))
def test_runs_have_the_texts_and_ends_of_the_script(path):
    name, version = scenario(path)
    runs = runs_of("claude", path.read_bytes())
    end = ENDS_OTHERWISE.get((name, version)) or ENDS.get(name, ("settled", "stop"))
    if (name, version) in UNTOLD:
        end = ("settled", "stop")

    assert [run.text for run in runs] == [text for text, _ in expected(path)]
    assert [(run.state, run.outcome) for run in runs[-1:]] == [end]
    assert all((run.state, run.outcome) == ("settled", "stop") for run in runs[:-1])


def test_the_tokens_of_each_run_are_those_of_the_script():
    wrong = {}
    for path in WRITTEN:
        want = [tokens for _, tokens in expected(path)]
        got = [spent(run) for run in runs_of("claude", path.read_bytes())]
        if [tokens if tokens and any(tokens) else None for tokens in got] != [t and tuple(t) for t in want]:
            wrong[scenario(path)] = (got, want)

    assert {key: got[0][1] for key, (got, _) in wrong.items()} == AT_LEAST
    assert all(got[0][::2] == want[0][::2] for got, want in wrong.values())


def test_the_texts_are_those_of_the_clients_own_results():
    differ = set()
    for path in WRITTEN:
        results = [value for value in native(path) if value["type"] == "result" and not value["is_error"]]
        runs = [run for run in runs_of("claude", path.read_bytes()) if run.own is not None and run.state != "aborted"]
        if results and [run.text for run in runs] != [value["result"] for value in results]:
            differ.add(scenario(path))

    # The client's result is only the last text block of its last message.
    assert differ == {("midfail", "2.1.12")}


def test_calls_results_and_messages_are_those_that_stand_in_the_lines():
    for path in WRITTEN:
        main = [v for v in native(path) if v["type"] in {"user", "assistant"} and not v["parent_tool_use_id"]]
        said = [v for v in main if v["type"] == "assistant" and v["message"]["model"] != "<synthetic>"]
        heard = [v["message"]["content"] for v in main if v["type"] == "user"]
        blocks = [b for content in heard if isinstance(content, list) for b in content]
        results = [b for b in blocks if b["type"] == "tool_result"]
        typed = [c for c in heard if isinstance(c, str) or any(b["type"] == "text" for b in c)]
        asked = [b for v in said for b in v["message"]["content"] if b["type"] == "tool_use"]
        runs = runs_of("claude", path.read_bytes())
        answers = len({v["message"]["id"] for v in said})

        assert sum(run.calls for run in runs) == len(asked), path.name
        assert sum(run.results for run in runs) == len(results), path.name
        assert sum(run.errors for run in runs) == sum(b.get("is_error") is True for b in results), path.name
        assert sum(run.messages for run in runs) == answers + len(results) + len(typed), path.name


@cache
def session_files():
    found = defaultdict(list)
    for path in CLAUDE.rglob("*.jsonl"):
        if "stdout" not in path.parts:
            found[path.stem].append(path)
    return found


def test_texts_and_tokens_are_those_of_the_session_files_of_the_same_runs():
    """The session file's last text of the main loop, and the greatest usage of each message that the capture names."""
    texts = tokens = 0
    for path in WRITTEN:
        lines = native(path)
        files = session_files().get(lines[0]["session_id"])
        if not files:
            continue
        ids = {v["message"]["id"] for v in lines if v["type"] == "assistant" and not v["parent_tool_use_id"]}
        kept, most = defaultdict(list), {}
        for value in (v for file in files for v in native(file)):
            message = value.get("message") or {}
            if value["type"] != "assistant" or message["id"] not in ids or message["model"] == "<synthetic>":
                continue
            kept[message["id"]] += [b["text"] for b in message["content"] if b["type"] == "text"]
            usage = message["usage"]
            names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            before = most.get(message["id"], (0, 0, 0, 0))
            most[message["id"]] = tuple(max(a, usage[name]) for a, name in zip(before, names, strict=True))
        runs = runs_of("claude", path.read_bytes())
        if kept:
            texts += 1
            assert runs[-1].text == "\n".join(list(kept.values())[-1]), path.name
        version = scenario(path)[1]
        if most and len(most) == len(ids) and tuple(map(int, version.split("."))) >= (2, 1, 112):
            tokens += 1
            sums = tuple(sum(column) for column in zip(*most.values(), strict=True))
            got = tuple(sum(column) for column in zip(*map(spent, runs), strict=True))
            assert got == sums, path.name

    assert (texts, tokens) == (67, 35)  # the others hold no answer, or no final count of output


VERDICTS = {
    "err401": "unsettled",
    "err500": "retries",
    "pause": "unfinished",
    "sig-INT-slow": "aborted",
    "sig-INT-slowtool": "aborted",
    "sig-KILL-slow": "unsettled",
    "sig-KILL-slowtool": "unsettled",
    "sig-TERM-slow": "unsettled",
    "sig-TERM-slowtool": "unsettled",
}


def test_the_command_prints_the_answers_and_its_exit_code_can_be_trusted(capsysbinary):
    answered = 0
    for path in WRITTEN:
        name, version = scenario(path)
        end = ENDS_OTHERWISE.get((name, version)) or ENDS.get(name, ("settled", "stop"))
        good = end == ("settled", "stop") or (name, version) in UNTOLD
        text = expected(path)[-1][0]
        shown = re.sub("[\ud800-\udfff]", "\ufffd", text).encode()
        code, out, err = command(capsysbinary, "answer", path)

        assert (code, out) == ((0, shown + b"\n") if good else (3, b"")), path.name
        assert (err.count(b"\n"), len(err) <= 600) == (0 if good else 1, True), path.name
        if not good:
            code, out, _ = command(capsysbinary, "answer", "--partial", path)
            assert (code, out.removesuffix(b"\n")) == (3, shown), path.name
        found = as_json(capsysbinary, "answer", path, code=None)
        assert (found["ok"], found["verdict"]) == (good, "answered" if good else VERDICTS.get(name, "error")), path.name
        answered += good

    assert (answered, len(WRITTEN) - answered) == (97, 23)


def test_a_run_of_a_capture_can_be_picked(capsysbinary):
    several = [path for path in WRITTEN if len(expected(path)) > 1]
    for path in several:
        for n, (text, _) in enumerate(expected(path), 1):
            assert command(capsysbinary, "answer", "--run", str(n), path)[:2] == (0, text.encode() + b"\n")
        assert command(capsysbinary, "answer", "--run", "3", path)[:2] == (1, b"")

    assert len(several) == 6


@pytest.mark.parametrize("path", EMPTY, ids=lambda path: path.name)
def test_an_empty_capture_is_no_answer(capsysbinary, path):
    assert command(capsysbinary, "answer", path)[:2] == (4, b"")


# -- Codex


def exec_captures():
    """What `codex exec --json` printed; the text that older versions printed without it is no stream."""
    files = [*CODEX.glob("*/*/o[0-9]*"), *CODEX.glob("*/*/stdout.jsonl")]
    return sorted(path for path in files if path.read_bytes()[:1] == b"{" and "-ts" not in path.parts[-3])


def key(path):
    version, name, file = path.parts[-3:]
    return f"{version}/{name}/{file.partition('.')[0]}"


def sums(path, *steps):
    """The tokens of these answers of the script, as parts that add up: input without the cache, output, cache reads."""
    script = json.loads((path.parent / "answers.json").read_text())["steps"]
    used = [script[n]["usage"] for n in steps]
    return (sum(u[0] - u[1] for u in used), sum(u[2] for u in used), sum(u[1] for u in used))


OK = ("settled", "stop")
FAILED = ("failed", "error")
ENDED = {
    "compaction_auto_local/o1": (*OK, "Done after compaction.", (0, 1, 2, 3)),
    "compaction_auto_local/o2": (*OK, "Next turn.", (0, 1, 2, 3, 4)),
    "compaction_auto_remote/o1": (
        *OK,
        "Done after compaction.",
        (0, 1, 2),
    ),  # the call that made the summary is in no total
    "compaction_auto_remote/o2": (*OK, "Next turn.", (0, 1, 2, 3)),
    "err_401/o1": (*FAILED, "", None),
    "err_429/o1": (*FAILED, "", None),
    "err_500/o1": (*FAILED, "", None),
    "err_context_length_then_resume/o1": (*FAILED, "", None),
    "err_incomplete/o1": ("settled", "length", "partial", None),
    "err_response_failed/o1": (*FAILED, "partial", None),
    "err_stream_cut/o1": (*FAILED, "partial text then cut", None),
    "guardian_auto_review/o1": (*OK, "Done.", None),
    "interrupt_sigint_model/o1": ("unsettled", None, "one", None),
    "kill_sigkill_tool/o1": ("unsettled", None, "", None),
    "no_usage/o1": (*OK, "no usage", None),
    "service_tier/o1": (*OK, "Hello from the fake model.", (0,)),
    "stream_retry/o1": (*OK, "third try ok", (2,)),
    "tool_search/o1": (*OK, "ok", None),
    "tools/stdout": (*OK, "All done: created hello.py.", None),
    "exec_resume/o1": (*OK, "All done.", (0, 1, 2, 3, 4)),
    "exec_resume/o2": (*OK, "Second turn answer.", (0, 1, 2, 3, 4, 5)),
    "exec_resume/o3": (*OK, "Third turn answer.", (0, 1, 2, 3, 4, 5, 6)),
    # Later processes of the same homes.
    "err_context_length_then_resume/o2": (*OK, "after overflow 2", None),
    "err_context_length_then_resume/o3": (*OK, "ok", None),
    "interrupt_sigint_model/o2": (*OK, "ok", None),
    "kill_sigkill_tool/o2": (*OK, "late", None),
    "torn_tail_minus1/o1": (*OK, "Hello from the fake model.", None),
    "torn_tail_minus25/o1": (*OK, "Hello from the fake model.", None),
    "torn_app_legacy_minus1/o1": (*OK, "Hello from the fake model.", None),
    "torn_app_paginated_minus1/o1": (*OK, "Hello from the fake model.", None),
    "torn_app_paginated_minus25/o1": (*OK, "Hello from the fake model.", None),
}
"""(state, outcome, text, answers of the script that the thread had used by then) of each capture. The total of a turn is
that of its thread: of a resumed one the earlier turns too (from 0.80)."""

BEFORE_080 = {"0.44.0", "0.58.0", "0.63.0", "0.73.0"}
"""The total began anew with each process."""


@pytest.mark.parametrize("path", exec_captures(), ids=key)
def test_an_exec_capture_is_read_whole_and_its_run_has_the_end_and_the_text_of_the_script(path):
    version = path.parts[-3]
    result = read("codex", path.read_bytes())
    (run,) = runs_of("codex", path.read_bytes())
    state, outcome, text, steps = ENDED[key(path).partition("/")[2]]
    if version == "0.34.0":
        state, outcome = "unsettled", None  # before 0.44 no line ended a run

    assert (result.summary.status, result.summary.faults, result.summary.unknown) == (ReadStatus.COMPLETE, {}, {})
    assert (run.state, run.outcome, run.text) == (state, outcome, text)
    if steps is not None:
        own = steps[-1:] if version in BEFORE_080 and path.name[:2] != "o1" else steps
        assert spent(run)[:3] == sums(path, *own)


def test_the_command_judges_the_exec_captures(capsysbinary):
    words = {
        "err_incomplete/o1": "length",
        "interrupt_sigint_model/o1": "unsettled",
        "kill_sigkill_tool/o1": "unsettled",
    }
    answered = 0
    for path in exec_captures():
        name = key(path).partition("/")[2]
        good = ENDED[name][:2] == OK and path.parts[-3] != "0.34.0"
        word = "answered" if good else "unsettled" if path.parts[-3] == "0.34.0" else words.get(name, "error")
        found = as_json(capsysbinary, "answer", path, code=None)

        assert (found["ok"], found["verdict"], found["agent"]) == (good, word, "codex"), key(path)
        assert command(capsysbinary, "answer", path)[:2] == ((0, ENDED[name][2].encode() + b"\n") if good else (3, b""))
        answered += good

    assert (answered, len(exec_captures()) - answered) == (74, 10)


def test_there_are_exec_captures_of_many_versions():
    found = exec_captures()

    assert (len(found), len({path.parts[-3] for path in found})) == (84, 19)


UNPRINTED = {
    "0.169.0/compaction_auto_remote": 25_500,  # the call that made the summary
    "0.169.0/err_429": 1_010,  # a failed turn prints no usage
    "0.169.0/err_500": 1_010,
    "0.169.0/err_response_failed": 1_010,
    "0.169.0/err_incomplete": 600,
    "0.169.0/err_context_length_then_resume": 1_010,  # the overflow emptied the running total too
    "0.169.0/guardian_auto_review": 14_241,  # a subagent's calls
    "0.169.0/kill_sigkill_tool": 1_010,  # lost with the process
}
"""Tokens that were spent and that no line of any capture of the folder tells."""


def test_what_a_thread_spent_by_its_captures_is_the_true_total_but_for_what_no_line_tells():
    truth = json.loads((CODEX / "EXPECTED.json").read_text())
    by_folder = defaultdict(list)
    for path in exec_captures():
        by_folder["/".join(path.parts[-3:-1])].append(path)
    compared, missing = 0, {}
    for name, paths in by_folder.items():
        if name.startswith(("0.34.0", "0.58.0/torn")):
            continue  # a run without an end; a thread whose first process printed nothing
        data = b"".join(path.read_bytes() for path in paths)
        total = sum(run.usage.total or 0 for run in runs_of("codex", data))
        compared += 1
        if total != truth[name]["true_total_tokens"]:
            missing[name] = truth[name]["true_total_tokens"] - total

    assert (compared, missing) == (42, UNPRINTED)


def test_turns_of_one_thread_put_together_have_their_own_tokens_whatever_the_total_means():
    compared = 0
    for folder in sorted(CODEX.glob("*/exec_resume")):
        files = [path for path in sorted(folder.glob("o?.txt")) if path.read_bytes()[:2] == b'{"']
        if len(files) < 2 or folder.parts[-2] == "0.34.0":
            continue
        runs = runs_of("codex", b"".join(path.read_bytes() for path in files))
        own = [(0, 1, 2, 3, 4), (5,), (6,)][: len(files)]
        assert [spent(run)[:3] for run in runs] == [sums(files[0], *steps) for steps in own], folder
        compared += len(runs)

    assert compared == 49


def test_the_last_total_and_what_it_grew_by_are_those_of_the_line():
    for path in exec_captures():
        totals = [value["usage"] for value in native(path) if value.get("type") == "turn.completed"]
        samples = [event for event in read("codex", path.read_bytes()).events if event.kind == "usage"]
        if totals:
            (sample,) = samples
            assert sample.cumulative.input == totals[-1]["input_tokens"] == sample.counts.input
            assert sample.cumulative.output == totals[-1]["output_tokens"] == sample.counts.output
