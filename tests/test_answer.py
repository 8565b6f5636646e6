"""The answer of a run, and the verdict on it: whoever prints the stream."""

import io
import itertools
import json
import os
import sys
import threading
import tracemalloc

import pytest

import turnlog
from commands import line
from reading import FIXTURES, each_byte, identity, mutated
from turnlog.errors import NoSuchRun, SourceCorrupt, SourceUnreadable, UnknownFormatError
from turnlog.live.answer import answer, judged
from turnlog.live.capture import Capture
from turnlog.views.live import Live

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ANSWERED = FIXTURES / "streams" / "pi-answered.jsonl"
HEADER = line(type="session", version=3, id="s1", timestamp="2026-11-30T22:41:22.921Z", cwd="/home/dev/kestrel")
START = line(type="agent_start")
SETTLED = line(type="agent_settled", aborted=False)
OVER = line(type="agent_end", messages=[], willRetry=False)


def said(text="Fine.", stop="stop", **more):
    content = [{"type": "text", "text": text}]
    return line(type="message_end", message={"role": "assistant", "content": content, "stopReason": stop, **more})


def begun(text="Half an ans"):
    event = {"type": "text_delta", "contentIndex": 0, "delta": text}
    return line(type="message_start", message={"role": "assistant", "content": []}) + line(
        type="message_update", assistantMessageEvent=event
    )


def failed_for_good(error="529 overloaded"):
    return line(type="auto_retry_end", success=False, attempt=2, finalError=error)


def of(*parts, **more):
    return answer(io.BytesIO(b"".join(parts)), **more)


def test_a_run_that_settled_after_an_answer_that_ended_by_itself_is_answered():
    found = answer(ANSWERED)

    assert (found.ok, found.verdict, found.reason, found.text) == (True, "answered", None, "Three herons.")
    assert (found.messages, found.tools, found.agent, found.run, found.runs) == (3, 0, "pi", 1, 1)
    assert (found.usage.input, found.usage.output, found.usage.cache_read, found.usage.cache_write) == (100, 10, 3, 2)
    assert found.usage.total == 115


NOT_TRUSTED = {
    "never settled": ("unsettled", "the run never settled: the stream ends at byte {size}", [START, said(), OVER]),
    "ends in a message": (
        "unsettled",
        "the run never settled: the stream ends inside a message at byte {size}",
        [START, begun()],
    ),
    "cut in a record": (
        "cut",
        "the run never settled: the stream is cut at byte {size} inside a message",
        [START, begun(), said()[:-9]],
    ),
    "cut after settling": (
        "cut",
        "the run settled, but the stream goes on and is cut at byte {size}",
        [START, said(), SETTLED, START[:-5]],
    ),
    "cut before any run": ("cut", "no run began: the stream is cut at byte {size}", [START[:-5]]),
    "nothing asked": ("no_run", "no run began in this stream", []),
    "aborted": (
        "aborted",
        "the run was aborted: stopped",
        [START, said(stop="aborted", errorMessage="stopped"), SETTLED],
    ),
    "aborted by its frame": (
        "aborted",
        "the run was aborted",
        [START, said(), line(type="agent_settled", aborted=True)],
    ),
    "failed": ("error", "the call failed: 400 bad", [START, said("", "error", errorMessage="400 bad"), SETTLED]),
    "retries ran out": (
        "retries",
        "the retries ran out at attempt 2: 529 overloaded",
        [START, said("", "error", errorMessage="529"), failed_for_good(), SETTLED],
    ),
    "refused": (
        "refusal",
        "the model refused: no",
        [START, said("I", "error", errorMessage="no", rawStopReason="refusal"), SETTLED],
    ),
    "too long": ("length", "the answer was cut by the limit of its length", [START, said(stop="length"), SETTLED]),
    "waits for tools": (
        "unfinished",
        "the last answer asked for tools, and none came after their results",
        [START, said(stop="toolUse"), SETTLED],
    ),
    "put off": (
        "unfinished",
        "the provider put the answer off, and it never came",
        [START, said(stop="deferred"), SETTLED],
    ),
    "ended strangely": (
        "unknown",
        "the answer ended for a reason that is not known",
        [START, said(stop="moonlight"), SETTLED],
    ),
    "settled in a message": (
        "unfinished",
        "the run settled, but its last answer began and never ended",
        [START, said(), begun(), SETTLED],
    ),
    "settled without an answer": ("no_answer", "the run settled without an answer", [START, SETTLED]),
}


@pytest.mark.parametrize("case", NOT_TRUSTED)
def test_what_may_not_be_trusted_says_why_and_gives_no_text(case):
    word, reason, parts = NOT_TRUSTED[case]
    size = len(HEADER) + sum(map(len, parts))
    found = of(HEADER, *parts)

    assert (found.ok, found.verdict, found.reason) == (False, word, reason.format(size=size))
    assert found.text is None


def test_the_text_of_an_unfinished_answer_is_given_to_who_asks_for_it():
    assert of(HEADER, START, begun(), partial=True).text == "Half an ans"
    assert of(HEADER, START, said("Cut", "length"), SETTLED, partial=True).text == "Cut"
    assert of(HEADER, partial=True).text is None


def test_an_answer_that_stopped_after_one_that_failed_is_answered():
    failed = said("", "error", errorMessage="529")
    again = line(type="auto_retry_end", success=True, attempt=1)

    assert of(HEADER, START, failed, OVER, START, said("Recovered."), again, OVER, SETTLED).text == "Recovered."


def test_retries_that_ran_out_before_another_answer_are_not_the_reason():
    rows = [START, said("", "error"), failed_for_good(), said("", "error", errorMessage="400 bad"), SETTLED]

    assert of(HEADER, *rows).verdict == "error"


def test_a_line_lost_after_the_last_answer_may_have_said_otherwise():
    torn = said("Better.")[:40] + b"\n"
    found = of(HEADER, START, said(), torn, SETTLED)
    at = len(HEADER + START + said())

    assert (found.verdict, found.reason) == (
        "damaged",
        f"line 4 (bytes {at}-{at + len(torn)}) could not be read, between the last answer and the end of the run",
    )
    assert of(HEADER, START, torn, said(), SETTLED).ok
    assert of(HEADER, START, said(), SETTLED, torn).verdict == "damaged"
    assert of(HEADER, START, said(), SETTLED, torn, run=1).ok


def test_a_warning_between_the_records_is_no_lost_record():
    noise = b"Warning: no such model\n"

    assert of(noise, HEADER, noise, START, noise, said(), noise, SETTLED, noise).text == "Fine."


def test_the_last_run_is_judged_and_any_other_on_request():
    data = [HEADER, START, said("one"), SETTLED, START, said("two", "aborted"), SETTLED, START, said("three"), SETTLED]

    assert (of(*data).text, of(*data).run, of(*data).runs) == ("three", 3, 3)
    assert of(*data, run=1).text == "one"
    assert of(*data, run=2).verdict == "aborted"
    with pytest.raises(NoSuchRun, match="expected a run 4, the stream has 3"):
        of(*data, run=4)


def test_a_run_that_did_not_settle_before_another_stream_began_never_will():
    found = of(HEADER, START, begun(), HEADER, START, said(), SETTLED, run=1)

    assert (found.verdict, found.reason) == ("unsettled", "the run never settled: another began, inside a message")


def test_a_second_stream_without_a_run_is_not_answered_by_the_first():
    assert of(HEADER, START, said(), SETTLED, HEADER).verdict == "no_run"


def test_usage_and_counts_are_those_of_the_run():
    usage = {"input": 5, "output": 2, "cacheRead": 1, "cacheWrite": 0}
    one = [START, said(usage={**usage, "input": 50}), SETTLED]
    found = of(HEADER, *one, START, said(usage=usage), SETTLED)

    assert (found.usage.input, found.usage.total, found.messages) == (5, 8, 1)


def test_usage_that_nobody_told_is_absent_and_not_zero():
    assert of(HEADER, START, said(), SETTLED).usage.input is None
    assert of(HEADER, START, said(), SETTLED).usage.total is None


# -- what is no stream


@pytest.mark.parametrize(
    "data, error, sentence",
    [
        (b"", UnknownFormatError, "found nothing"),
        (b"\n \n", UnknownFormatError, "found nothing"),
        (b'{"level":"info","msg":"up"}\n' * 100, UnknownFormatError, "no agent's stream"),
        (b"All is well.\n", UnknownFormatError, "no agent's stream"),
        (bytes(range(256)) * 400, UnknownFormatError, "no agent's stream"),
        (b"\x1f\x8b\x08\x00" + b"\x55" * 100, SourceCorrupt, "gzip"),
        (b"[" * 100_000, UnknownFormatError, "no agent's stream"),
        (b'{"a":' * 100_000 + b"\n", UnknownFormatError, "no agent's stream"),
    ],
    ids=["empty", "blank", "other program", "text", "binary", "gzip", "brackets", "deep"],
)
@pytest.mark.parametrize("size", [1 << 18, 997])
def test_what_is_no_stream_is_refused_with_a_sentence(data, error, sentence, size):
    def take():
        capture = Capture()
        for at in range(0, len(data), size):
            capture.feed(data[at : at + size])
        capture.close()

    with pytest.raises(error, match=sentence):
        take()


def test_a_session_file_is_told_from_a_stream():
    entries = [
        line(type="message", id=f"{n}", parentId=None, timestamp="2026-11-30T22:41:22.921Z", message={"role": "user"})
        for n in range(5)
    ]

    with pytest.raises(UnknownFormatError, match="session file"):
        of(HEADER, *entries)


def test_what_cannot_be_read_is_an_error_of_the_source(tmp_path):
    with pytest.raises(SourceUnreadable):
        answer(tmp_path / "none.jsonl")
    with pytest.raises(SourceUnreadable):
        answer(io.StringIO("text"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_is_read_to_its_end(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(ANSWERED.read_bytes()))
    writer.start()

    assert answer(path).text == "Three herons."
    writer.join()


# -- the push core


@pytest.mark.parametrize("name", ["pi-answered", "pi-every"])
def test_however_a_stream_is_cut_the_answer_is_the_same_and_bytes_are_accounted_for(name):
    data = (FIXTURES / "streams" / f"{name}.jsonl").read_bytes()
    whole = answer(io.BytesIO(data))
    capture = Capture()
    for piece in each_byte(data):
        capture.feed(piece)
        identity(capture.summary())
    capture.close()
    identity(capture.summary())

    assert judged(capture) == whole
    assert capture.summary().bytes_read == len(data)


def test_every_prefix_of_a_stream_has_a_verdict_and_only_the_settled_ones_are_good():
    data = ANSWERED.read_bytes()
    settled = data.rindex(b'{"type":"agent_settled"')
    whole = data.index(b"\n") + 1
    good = {n for n in range(whole, len(data) + 1) if of(data[:n]).ok}

    assert good == {len(data) - 1, len(data)}
    assert of(data[:settled]).verdict == "unsettled"


def test_the_named_push_core_gives_the_pieces_too():
    stream = turnlog.PiStream()
    items = list(itertools.chain(*[stream.feed(piece) for piece in each_byte(ANSWERED.read_bytes())])) + stream.close()

    assert "".join(i.text for i in items if i.kind == "delta" and i.state == "grows") == "Three herons."
    assert stream.state == "settled"
    assert turnlog.verdict(stream.live).ok


def test_memory_does_not_grow_with_the_stream():
    """Forty thousand runs, and a message in progress again and again; of all of them the last is kept."""
    update = line(
        type="message_update", assistantMessageEvent={"type": "text_delta", "contentIndex": 0, "delta": "x" * 50}
    )
    piece = (START + begun() + update * 20 + said("y" * 2000) + SETTLED) * 20
    capture = Capture(live=Live())
    capture.feed(HEADER + piece)
    tracemalloc.start()
    try:
        for _ in range(100):
            capture.feed(piece)
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    capture.close()

    assert capture.live.runs == 2020
    assert grown < 1_000_000


@pytest.mark.parametrize("seed", range(150))
def test_mutated_streams_end_in_a_verdict_or_an_error_of_ours(seed):
    data = mutated((FIXTURES / "streams" / "pi-every.jsonl").read_bytes(), seed)
    capture = Capture()
    try:
        capture.feed(data[: seed * 97])
        capture.feed(data[seed * 97 :])
        capture.close()
    except turnlog.TurnlogError:
        return
    identity(capture.summary())
    assert judged(capture).verdict
    assert judged(capture) == of(data)


def test_a_compressed_log_is_read_too(tmp_path):
    path = tmp_path / "run.jsonl.zst"
    path.write_bytes(zstd.compress(ANSWERED.read_bytes()))

    assert answer(path).text == "Three herons."


def test_hostile_streams_end_in_a_verdict():
    rows = [{"type": "agent_start"}, {"type": "message_start", "message": {"role": "assistant"}}]
    event = {"type": "text_delta", "delta": "a"}
    places = (10**9, -1, 2**64, "x", None, 1.5)
    rows += [{"type": "message_update", "assistantMessageEvent": {**event, "contentIndex": place}} for place in places]
    rows += [{"type": kind} for kind in ("message_end", "message_start", "entry_appended", "tool_execution_start")]
    rows += [{"type": "queue_update", "steering": 7}, {"type": "agent_settled", "aborted": "yes"}, {"type": 5}, {}]
    data = HEADER + b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    assert not of(data).ok
    assert not of(data, partial=True).ok
