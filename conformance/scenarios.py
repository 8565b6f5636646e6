"""The scenarios: what the model says, what the client does, and what must have been written down, fixed beforehand.

`said` is a session file in short, in file order, one tuple an event, without what Pi writes of itself (system messages):

    ("user", text)  ("assistant", text)  ("thinking", text)  ("call", name, arguments)  ("result", name, text, is_error)
    ("compaction", summary)  ("branch_summary", summary)  ("label", which message, text)  ("name", text)
    ("note", text)  ("custom", name)  ("edit", which message)

An answer's tuples are in the order of its blocks; one without text says ("assistant", ""). A message is named ROLE:N, the
N-th of its role in the file.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import by_client
from driver import Pi, Ran
from model_server import Call, Spent, Step, Text, Thought

EXTENSION = Path(__file__).with_name("marks.js")

ODD = "one\u2028two\u2029three\x85 caf\u00e9 \U0001f600 \x1b[31mred\x1b[0m \\n \ud83d end"
"""What breaks readers that split on more than LF, or print what they read."""

NOTHING = Spent()

HEADING = "\n\n---\n\n**Turn Context (split turn):**\n\n"
"""Pi's own, between the summary of what was before a turn and that of the turn's own beginning."""

LONG = "lorem ipsum dolor " * 400


@dataclass(frozen=True)
class Expected:
    """said: of each session file, oldest first. spent: of all calls that were written down. shown: what the model is shown
    at the end of the last file, as (role, text). verdict: how the run ended. code: the exit code, of Pi 0 also
    for a failed call. lost: what the client was told it spent and never wrote down. unstreamed: what it wrote down and never printed.
    elsewhere: what a tool says it spent, which our server did not serve."""

    said: tuple[tuple[tuple[Any, ...], ...], ...]
    spent: Spent
    shown: tuple[tuple[str, str], ...]
    verdict: str = "answered"
    code: int = 0
    lost: Spent = NOTHING
    unstreamed: Spent = NOTHING
    elsewhere: Spent = NOTHING

    @property
    def answer(self) -> str | None:
        """The text of the last answer, None where there is none to be trusted."""
        return self.shown[-1][1] if self.verdict == "answered" else None


@dataclass(frozen=True)
class Scenario:
    """run: what the client does, with Pi in a fresh home."""

    name: str
    steps: tuple[Step, ...]
    run: Callable[[Pi], Ran]
    expected: Expected
    summaries: tuple[Step, ...] = ()


def _once(*arguments: str) -> Callable[[Pi], Ran]:
    return lambda pi: pi.run(*arguments)


PLAIN = Scenario(
    "plain",
    (Step((Text(ODD),), Spent(120, 9, 30, 70)),),
    _once("What is odd?"),
    Expected(
        said=((("user", "What is odd?"), ("assistant", ODD)),),
        spent=Spent(120, 9, 30, 70),
        shown=(("user", "What is odd?"), ("assistant", ODD)),
    ),
)

TOOLS = Scenario(
    "tools",
    (
        Step((Text("First the file."), Call("t1", "read", {"path": "notes.txt"})), Spent(900, 40, 0, 800)),
        Step(
            (
                Call("t2", "bash", {"command": "sleep 0.3; echo slow"}),
                Call("t3", "bash", {"command": "echo oops >&2; exit 3"}),
                Call("t4", "nothing", {"x": 1}),
            ),
            Spent(60, 55, 800, 150),
        ),
        Step((Text("All done."),), Spent(90, 12, 950, 60)),
    ),
    _once("Use your tools."),
    Expected(
        said=(
            (
                ("user", "Use your tools."),
                ("assistant", "First the file."),
                ("call", "read", {"path": "notes.txt"}),
                ("result", "read", "alpha\nbeta\n", False),
                ("assistant", ""),
                ("call", "bash", {"command": "sleep 0.3; echo slow"}),
                ("call", "bash", {"command": "echo oops >&2; exit 3"}),
                ("call", "nothing", {"x": 1}),
                ("result", "bash", "slow\n", False),
                ("result", "bash", "oops\n\n\nCommand exited with code 3", True),
                ("result", "nothing", "Tool nothing not found", True),
                ("assistant", "All done."),
            ),
        ),
        spent=Spent(1050, 107, 1750, 1010),
        shown=(
            ("user", "Use your tools."),
            ("assistant", "First the file."),
            ("toolResult", "alpha\nbeta\n"),
            ("assistant", ""),
            ("toolResult", "slow\n"),
            ("toolResult", "oops\n\n\nCommand exited with code 3"),
            ("toolResult", "Tool nothing not found"),
            ("assistant", "All done."),
        ),
    ),
)

THINKING = Scenario(
    "thinking",
    (
        Step(
            (
                Thought("Let me think."),
                Thought("c2VhbGVk", redacted=True),
                Text("Before the tool."),
                Call("t1", "bash", {"command": "echo thought"}),
            ),
            Spent(200, 90, 0, 500, reasoning=60),
        ),
        Step((Thought("Second thought."), Text("Answer: 42")), Spent(30, 10, 700, 0, reasoning=4)),
    ),
    _once("--thinking", "high", "Think."),
    Expected(
        said=(
            (
                ("user", "Think."),
                ("assistant", "Before the tool."),
                ("thinking", "Let me think."),
                ("thinking", "[Reasoning redacted]"),
                ("call", "bash", {"command": "echo thought"}),
                ("result", "bash", "thought\n", False),
                ("assistant", "Answer: 42"),
                ("thinking", "Second thought."),
            ),
        ),
        spent=Spent(230, 100, 700, 500),
        shown=(
            ("user", "Think."),
            ("assistant", "Before the tool."),
            ("toolResult", "thought\n"),
            ("assistant", "Answer: 42"),
        ),
    ),
)

OTHER_WIRE = Scenario(
    "other wire",
    (
        Step(
            (Thought("In another field."), Text("Seen, "), Call("t1", "bash", {"command": "echo other"})),
            Spent(300, 70, 128, reasoning=30),
        ),
        Step((Text("Done on the other wire."),), Spent(350, 8, 256)),
    ),
    _once("--provider", "scripted-openai", "--model", "large", "--thinking", "high", "Think there."),
    Expected(
        said=(
            (
                ("user", "Think there."),
                ("assistant", "Seen, "),
                ("thinking", "In another field."),
                ("call", "bash", {"command": "echo other"}),
                ("result", "bash", "other\n", False),
                ("assistant", "Done on the other wire."),
            ),
        ),
        spent=Spent(650, 78, 384, 0),
        shown=(
            ("user", "Think there."),
            ("assistant", "Seen, "),
            ("toolResult", "other\n"),
            ("assistant", "Done on the other wire."),
        ),
    ),
)

# A refusal costs nothing; of the broken stream the client was told 100 in and, so far, 1 out.
RETRY = Scenario(
    "retry",
    (
        Step(status=529),
        Step((Text("a part of it, and then nothing"),), Spent(100, 20), cut=2),
        Step((Text("Recovered."),), Spent(110, 5)),
    ),
    _once("Try again."),
    Expected(
        said=(
            (
                ("user", "Try again."),
                ("assistant", ""),
                ("edit", "assistant:0"),
                ("assistant", "a part of it, and "),
                ("edit", "assistant:1"),
                ("assistant", "Recovered."),
            ),
        ),
        spent=Spent(210, 6),
        shown=(("user", "Try again."), ("assistant", "Recovered.")),
    ),
)

REFUSED = Scenario(
    "refused",
    (Step(status=400),),
    _once("Say no."),
    Expected(
        said=((("user", "Say no."), ("assistant", "")),),
        spent=NOTHING,
        shown=(("user", "Say no."), ("assistant", "")),
        verdict="error",
    ),
)


def _abort(pi: Pi) -> Ran:
    with pi.talk() as talk:
        talk.ask("prompt", message="Begin, and be stopped.")
        talk.until(lambda record: record.get("assistantMessageEvent", {}).get("type") == "text_delta")
        talk.ask("abort")
    return talk.ran()


ABORT = Scenario(
    "abort",
    (Step((Text("Begun but not ended."),), Spent(100, 30), held=True),),
    _abort,
    Expected(
        said=((("user", "Begin, and be stopped."), ("assistant", "Begun but")),),
        spent=Spent(100, 1),
        shown=(("user", "Begin, and be stopped."), ("assistant", "Begun but")),
        verdict="aborted",
    ),
)


def _killed(pi: Pi) -> Ran:
    def begun(record: dict[str, Any]) -> bool:
        return bool(record.get("assistantMessageEvent", {}).get("type") == "text_delta")

    return pi.run_until(begun, signal.SIGKILL, "Begin, and be killed.")


KILLED = Scenario(
    "killed",
    (Step((Text("Begun but not ended."),), Spent(100, 30), held=True),),
    _killed,
    Expected(
        said=((("user", "Begin, and be killed."),),),
        spent=NOTHING,
        shown=(("user", "Begin, and be killed."),),
        verdict="unsettled",
        code=-signal.SIGKILL,
        lost=Spent(100, 1),
    ),
)

# The second prompt alone is more than the client keeps, so the cut falls before it and parts no turn.
COMPACTION = Scenario(
    "compaction",
    (
        Step((Text(f"one {LONG}"),), Spent(3000, 1900), size=4000),
        Step((Text("two"),), Spent(16000, 1900)),
        Step((Text("three"),), Spent(900, 15)),
    ),
    _once("--model", "scripted-anthropic/small", "First.", f"Second. {LONG}", "Third."),
    Expected(
        said=(
            (
                ("user", "First."),
                ("assistant", f"one {LONG}"),
                ("user", f"Second. {LONG}"),
                ("assistant", "two"),
                ("compaction", "## Goal\nIn short."),
                ("user", "Third."),
                ("assistant", "three"),
            ),
        ),
        spent=Spent(3000 + 16000 + 900 + 4000, 1900 + 1900 + 15 + 50, 7),
        shown=(
            ("compactionSummary", "## Goal\nIn short."),
            ("user", f"Second. {LONG}"),
            ("assistant", "two"),
            ("user", "Third."),
            ("assistant", "three"),
        ),
    ),
    summaries=(Step((Text("## Goal\nIn short."),), Spent(4000, 50, 7)),),
)

# Pi knows the refusal by its sentence; the failed call stays in the file, hidden by an edit. The first answer alone is more
# than Pi keeps, so its turn is parted: the answer is kept, what stood before it is summed up under Pi's own heading.
OVERFLOWN = f"No prior history.{HEADING}## Goal\nIn short."

OVERFLOW = Scenario(
    "overflow",
    (
        Step((Text(f"one {LONG}"),), Spent(3000, 1900), size=4000),
        Step(status=400, sentence="prompt is too long: 213462 tokens > 200000 maximum"),
        Step((Text("two"),), Spent(900, 15)),
    ),
    _once("--model", "scripted-anthropic/small", "First.", "Second."),
    Expected(
        said=(
            (
                ("user", "First."),
                ("assistant", f"one {LONG}"),
                ("user", "Second."),
                ("assistant", ""),
                ("edit", "assistant:1"),
                ("compaction", OVERFLOWN),
                ("assistant", "two"),
            ),
        ),
        spent=Spent(3000 + 900 + 4000, 1900 + 15 + 50),
        shown=(
            ("compactionSummary", OVERFLOWN),
            ("assistant", f"one {LONG}"),
            ("user", "Second."),
            ("assistant", "two"),
        ),
    ),
    summaries=(Step((Text("## Goal\nIn short."),), Spent(4000, 50)),),
)


def _fork(pi: Pi) -> Ran:
    with pi.talk() as talk:
        talk.prompt("First.")
        talk.prompt("Second.")
        second = talk.ask("get_fork_messages")["messages"][1]
        assert second["text"] == "Second."
        talk.ask("fork", entryId=second["entryId"])
        talk.prompt("Second, otherwise.")
    return talk.ran()


FORK = Scenario(
    "fork",
    (
        Step((Text("One."),), Spent(101, 11)),
        Step((Text("Two."),), Spent(102, 12)),
        Step((Text("Other."),), Spent(103, 13)),
    ),
    _fork,
    Expected(
        said=(
            (("user", "First."), ("assistant", "One."), ("user", "Second."), ("assistant", "Two.")),
            (("user", "First."), ("assistant", "One."), ("user", "Second, otherwise."), ("assistant", "Other.")),
        ),
        spent=Spent(306, 36),
        shown=(
            ("user", "First."),
            ("assistant", "One."),
            ("user", "Second, otherwise."),
            ("assistant", "Other."),
        ),
    ),
)


def _labels(pi: Pi) -> Ran:
    with pi.talk("-e", str(EXTENSION)) as talk:
        talk.prompt("First.")
        talk.prompt("Second.")
        for command in ("mark user:0 start", "mark user:1 wrong", "mark user:0 the start", "mark user:1"):
            talk.ask("prompt", message=f"/{command}")
        talk.ask("set_session_name", name="Marked")
        talk.ask("prompt", message="/go assistant:0 summary")
        talk.ask("prompt", message="/note Mind.")
        talk.prompt("Third.")
    return talk.ran()


LABELS = Scenario(
    "labels",
    (
        Step((Text("One."),), Spent(101, 11)),
        Step((Text("Two."),), Spent(102, 12)),
        Step((Text("Three."),), Spent(103, 13)),
    ),
    _labels,
    Expected(
        said=(
            (
                ("user", "First."),
                ("assistant", "One."),
                ("user", "Second."),
                ("assistant", "Two."),
                ("label", "user:0", "start"),
                ("label", "user:1", "wrong"),
                ("label", "user:0", "the start"),
                ("label", "user:1", None),
                ("name", "Marked"),
                ("branch_summary", "## Goal\nA branch was left."),
                ("note", "Mind."),
                ("custom", "kept"),
                ("user", "Third."),
                ("assistant", "Three."),
            ),
        ),
        spent=Spent(306 + 400, 36 + 16, 0, 9),
        shown=(
            ("user", "First."),
            ("assistant", "One."),
            ("branchSummary", "## Goal\nA branch was left."),
            ("custom", "Mind."),
            ("user", "Third."),
            ("assistant", "Three."),
        ),
        unstreamed=Spent(400, 16, 0, 9),
    ),
    summaries=(Step((Text("## Goal\nA branch was left."),), Spent(400, 16, 0, 9)),),
)


def _steering(pi: Pi) -> Ran:
    with pi.talk() as talk:
        talk.ask("prompt", message="Start slowly.")
        talk.wait("tool_execution_start")
        talk.ask("steer", message="Turn left.")
        talk.ask("follow_up", message="And then?")
        talk.wait("agent_settled")
    return talk.ran()


STEERING = Scenario(
    "steering",
    (
        Step((Call("t1", "bash", {"command": "sleep 0.7; echo slept"}),), Spent(100, 21)),
        Step((Text("Turned."),), Spent(130, 22)),
        Step((Text("Then nothing."),), Spent(160, 23)),
    ),
    _steering,
    Expected(
        said=(
            (
                ("user", "Start slowly."),
                ("assistant", ""),
                ("call", "bash", {"command": "sleep 0.7; echo slept"}),
                ("result", "bash", "slept\n", False),
                ("user", "Turn left."),
                ("assistant", "Turned."),
                ("user", "And then?"),
                ("assistant", "Then nothing."),
            ),
        ),
        spent=Spent(390, 66),
        shown=(
            ("user", "Start slowly."),
            ("assistant", ""),
            ("toolResult", "slept\n"),
            ("user", "Turn left."),
            ("assistant", "Turned."),
            ("user", "And then?"),
            ("assistant", "Then nothing."),
        ),
    ),
)

# The first prompt and its answer are history, the second answer is kept, and its prompt is the part of a turn: two summaries,
# written down as one.
PARTED = Scenario(
    "parted",
    (
        Step((Text("one"),), Spent(100, 10)),
        Step((Text(f"two {LONG}"),), Spent(16000, 1900), size=4000),
    ),
    _once("--model", "scripted-anthropic/small", "First.", "Second."),
    Expected(
        said=(
            (
                ("user", "First."),
                ("assistant", "one"),
                ("user", "Second."),
                ("assistant", f"two {LONG}"),
                ("compaction", f"In short.{HEADING}In short."),
            ),
        ),
        spent=Spent(100 + 16000 + 4000 + 300, 10 + 1900 + 50 + 7, 9),
        shown=(("compactionSummary", f"In short.{HEADING}In short."), ("assistant", f"two {LONG}")),
    ),
    summaries=(Step((Text("In short."),), Spent(4000, 50)), Step((Text("In short."),), Spent(300, 7, 9))),
)


def _edited(pi: Pi) -> Ran:
    with pi.talk("-e", str(EXTENSION)) as talk:
        talk.prompt("First.")
        talk.ask("prompt", message="/edit user:0 First, edited.")
        talk.prompt("Second.")
        talk.ask("prompt", message="/edit assistant:0")
        talk.prompt("Third.")
    return talk.ran()


EDITED = Scenario(
    "edited",
    (
        Step((Text("One."),), Spent(101, 11)),
        Step((Text("Two."),), Spent(102, 12)),
        Step((Text("Three."),), Spent(103, 13)),
    ),
    _edited,
    Expected(
        said=(
            (
                ("user", "First."),
                ("assistant", "One."),
                ("user", "Second."),
                ("assistant", "Two."),
                ("edit", "user:0"),
                ("user", "Third."),
                ("assistant", "Three."),
                ("edit", "assistant:0"),
            ),
        ),
        spent=Spent(306, 36),
        shown=(
            ("user", "First, edited."),
            ("user", "Second."),
            ("assistant", "Two."),
            ("user", "Third."),
            ("assistant", "Three."),
        ),
    ),
)

NESTED = Scenario(
    "nested",
    (
        Step((Call("t1", "asks_a_model", {}),), Spent(100, 21)),
        Step((Text("Agreed."),), Spent(130, 22)),
    ),
    _once("-e", str(EXTENSION), "Ask."),
    Expected(
        said=(
            (
                ("user", "Ask."),
                ("assistant", ""),
                ("call", "asks_a_model", {}),
                ("result", "asks_a_model", "It agrees.", False),
                ("assistant", "Agreed."),
            ),
        ),
        spent=Spent(230 + 1000, 43 + 100),
        shown=(
            ("user", "Ask."),
            ("assistant", ""),
            ("toolResult", "It agrees."),
            ("assistant", "Agreed."),
        ),
        elsewhere=Spent(1000, 100),
    ),
)

RUN = replace(TOOLS, name="run", run=lambda pi: pi.run_by_command("Use your tools."))

RUN_REFUSED = replace(
    REFUSED,
    name="run refused",
    run=lambda pi: pi.run_by_command("Say no."),
    expected=replace(REFUSED.expected, code=3),
)

STEERED = replace(STEERING, name="steered", run=by_client.led(by_client.steer))

STOPPED = replace(ABORT, name="stopped", run=by_client.led(by_client.stop))

# A shell line of the person's is written down and shown to the model, and told in no stream.
LED = Scenario(
    "led",
    (
        Step((Text("One."),), Spent(101, 11)),
        Step((Text("Two."),), Spent(102, 12, 30)),
        Step((Text("Other."),), Spent(103, 13)),
    ),
    by_client.led(by_client.lead),
    Expected(
        said=(
            (
                ("user", "First."),
                ("assistant", "One."),
                ("bashExecution", "echo seen\nseen\n"),
                ("name", "Led"),
                ("user", "Second."),
                ("assistant", "Two."),
            ),
            (
                ("user", "First."),
                ("assistant", "One."),
                ("bashExecution", "echo seen\nseen\n"),
                ("name", "Led"),
                ("user", "Second, otherwise."),
                ("assistant", "Other."),
            ),
        ),
        spent=Spent(306, 36, 30),
        shown=(
            ("user", "First."),
            ("assistant", "One."),
            ("bashExecution", "echo seen\nseen\n"),
            ("user", "Second, otherwise."),
            ("assistant", "Other."),
        ),
    ),
)

SCENARIOS = (
    PLAIN,
    TOOLS,
    THINKING,
    OTHER_WIRE,
    RETRY,
    REFUSED,
    ABORT,
    KILLED,
    COMPACTION,
    PARTED,
    OVERFLOW,
    FORK,
    LABELS,
    EDITED,
    NESTED,
    STEERING,
    RUN,
    RUN_REFUSED,
    STEERED,
    STOPPED,
    LED,
)
