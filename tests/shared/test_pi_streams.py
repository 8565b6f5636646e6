"""Every captured stream of Pi: rebuilt messages, usage, verdicts, and the session file beside it."""

import itertools
import json

import pytest

from reading import SHARED, identity, parse
from turnlog.formats import stream_of
from turnlog.live.answer import answer
from turnlog.live.capture import Capture
from turnlog.model import told, valued
from turnlog.parser import Parser
from turnlog.views.live import Live, Spent

pytestmark = pytest.mark.shared

REAL = SHARED / "real" / "pi"
STREAM = stream_of("pi")
CAPTURES = sorted(
    path
    for pattern in ("1*/json/*.jsonl", "1*/rpc/*.stdout.jsonl", "160/cli/*.jsonl", "old/*/*.json.jsonl", "old/*/*.stdout.jsonl")
    for path in REAL.glob(pattern)
    if path.stat().st_size
)  # fmt: skip
IDS = [path.relative_to(REAL).as_posix() for path in CAPTURES]

# What each scenario is made to do (recipes/PI.md); a capture that is not named here must be answered.
VERDICTS = {
    "abort_args": "unsettled",
    "abort_sigint": "unsettled",
    "abort_sigkill": "unsettled",
    "abort_tool_sigterm": "unsettled",
    "error400": "error",
    "ext_only": "no_run",
    "noprompt": "no_run",
    "null.stdout": "no_run",
    "refusal": "refusal",
    "retry_fail": "retries",
    # Versions that had no agent_settled: nothing says that no more would have come.
    "full.stdout": "unsettled",
    "tools.json": "unsettled",
}
KILLED = {"abort_args", "abort_sigint", "abort_sigkill", "abort_tool_sigterm"}


@pytest.fixture(params=CAPTURES, ids=IDS)
def capture(request):
    return request.param


def session_of(path):
    """The session file of the same run, where one was kept."""
    version = path.parent.parent
    names = {
        "json": [f"{path.stem}.jsonl"],
        "rpc": [f"rpc_{path.name.removesuffix('.stdout.jsonl')}.1.jsonl"],
        "cli": [f"cli_{path.stem}.jsonl"],
    }
    found = [version / "sessions" / name for name in names.get(path.parent.name, ())]
    return next((file for file in found if file.exists()), None)


def messages_in(path):
    """Each finished answer: what was built of its pieces, its events, and the record itself."""
    parser = Parser(STREAM)
    growing = None
    for raw in path.read_bytes().split(b"\n")[:-1]:
        items = parser.feed(raw + b"\n")
        for item in items:
            if item.kind == "begun" and item.role == "assistant":
                growing = item.growing
        if b'"message_end"' in raw and items and items[0].kind == "ended":
            yield growing, items, json.loads(raw)["message"]
            growing = None


def rebuilt(growing):
    """The content that was built: blocks as Pi writes them, arguments read."""
    said = []
    for _, block in sorted(growing.blocks.items()):
        if block.part == "tool_call":
            said.append(
                {"type": "toolCall", "id": block.id, "name": block.name, "arguments": json.loads(block.text or "{}")}
            )
        else:
            said.append({"type": block.part, block.part: block.text})
    return said


KEPT = ("type", "text", "thinking", "id", "name", "arguments")


def test_a_capture_is_read_whole_without_fault_and_nothing_is_unknown(capture):
    read = parse(STREAM, capture.read_bytes())

    assert read.faults == []
    assert read.summary.unknown == {}
    assert read.summary.status.value == "complete"
    identity(read.summary)


def test_what_is_built_of_the_pieces_is_the_message_of_the_end(capture):
    for growing, _, message in messages_in(capture):
        assert rebuilt(growing) == [{k: block[k] for k in KEPT if k in block} for block in message["content"]]


def test_every_finished_answer_of_the_captures_was_looked_at():
    built = sum(1 for path in CAPTURES for _ in messages_in(path))

    assert built == sum(m["role"] == "assistant" for path in CAPTURES for m in _messages(path))
    assert built > 100


def test_the_verdict_is_what_the_scenario_was_made_for(capture):
    found = answer(capture)

    assert found.verdict == VERDICTS.get(capture.stem, "answered")
    rc = capture.with_suffix(".rc") if capture.parent.name == "json" else None
    if rc is not None and rc.exists():
        # A killed agent says so with its exit code; one whose call failed does not, and that is why we are asked.
        assert (int(rc.read_text()) != 0) == (capture.stem in KILLED)
        assert not found.ok or int(rc.read_text()) == 0


def test_the_text_is_that_of_the_last_finished_answer(capture):
    finished = [message for _, _, message in messages_in(capture)]
    found = answer(capture)
    if not found.ok:
        pytest.skip("no answer to be trusted")

    texts = [block["text"] for block in finished[-1]["content"] if block["type"] == "text"]
    assert found.text == "\n".join(texts)


def test_usage_counted_once_is_that_of_the_session_file(capture):
    session = session_of(capture)
    if session is None or capture.stem in KILLED:
        pytest.skip("no session file of the same work")
    live = Live()
    live.take(parse(STREAM, capture.read_bytes()).items)
    kept = Spent()
    begun = min((m["timestamp"] for m in _messages(capture)), default=0)
    for event in parse("pi", session.read_bytes()).events:
        # What an earlier process spent on the same session stands in the file too.
        if event.kind == "usage" and not (event.record.at is not None and event.record.at.timestamp() * 1000 < begun):
            kept.add(event.counts, event.semantics)
    told_elsewhere = Spent()  # a branch's summary is never told in a stream (sheet PI 10)
    for event in parse("pi", session.read_bytes()).events:
        if event.kind == "usage" and event.record.type == "branch_summary":
            told_elsewhere.add(event.counts, event.semantics)

    assert (live.usage.total or 0) + (told_elsewhere.total or 0) == (kept.total or 0)


def _messages(path):
    rows = (json.loads(raw) for raw in path.read_bytes().split(b"\n") if b'"message_end"' in raw)
    return [row["message"] for row in rows]


def said(event):
    """An event without its place: what both the stream and the file say of it. Of an extension's message the file keeps
    no clock but the entry's own."""
    left = {"record"} if event.kind != "custom_message" else {"record", "native_at"}
    fields = {name: getattr(event, name) for name in event.__struct_fields__ if name not in left}
    plain = {k: told(v) if k == "body" else valued(v) if k == "input" else v for k, v in fields.items()}
    return event.kind, plain


def test_its_messages_are_the_events_of_the_session_file_in_the_same_order(capture):
    session = session_of(capture)
    if session is None:
        pytest.skip("no session file of the same run")
    streamed = [
        said(e)
        for e in parse(STREAM, capture.read_bytes()).events
        if e.record.type == "message_end" and e.kind != "ended"
    ]
    kinds = ("message", "custom_message")
    kept = [
        said(e) for e in parse("pi", session.read_bytes()).events
        if e.record.type in kinds and not (e.kind == "message" and e.role == "bashExecution")
    ]  # fmt: skip
    if capture.stem in KILLED:  # what the agent still wrote while it was dying, no stream shows
        kept = kept[: len(streamed)]
    elif len(kept) > len(streamed):  # a session that was gone on with: its earlier messages stand before
        kept = kept[len(kept) - len(streamed) :]

    assert streamed == kept


def test_a_capture_cut_anywhere_is_answered_only_when_its_run_had_settled():
    data = (REAL / "160" / "json" / "tools.jsonl").read_bytes()
    settled = data.rindex(b'{"type":"agent_settled"') + len(b'{"type":"agent_settled","aborted":false}')
    for cut in itertools.chain(range(200, len(data), 1777), range(settled - 40, len(data) + 1)):
        capture = Capture()
        capture.feed(data[:cut])
        capture.close()
        run = capture.live.chosen
        assert (run is not None and run.state == "settled") == (cut >= settled), cut
