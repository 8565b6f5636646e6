"""May the answer of a run be trusted? One word, and where it may not, one sentence that says why.

Programs end with exit code 0 after calls that failed, so nothing but what the stream itself says is asked: the run settled,
its last answer ended by itself, and nothing that could have said otherwise was lost.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ..errors import LineFault
from .live import Live, RunView

Word = Literal[
    "answered",  # the one good word
    "no_run",
    "cut",
    "unsettled",
    "damaged",
    "aborted",
    "retries",
    "error",
    "refusal",
    "length",
    "limit",
    "unfinished",
    "no_answer",
    "unknown",
]
"""What may be said of the answer of a run."""


class Verdict(msgspec.Struct, frozen=True):
    """Whether the answer may be trusted, in a word, and why not, in a sentence (None: it may). The sentence may hold the
    agent's own words: they are as hostile as all of a stream."""

    word: Word
    reason: str | None = None

    @property
    def ok(self) -> bool:
        """The run settled and its last answer ended by itself."""
        return self.word == "answered"


def verdict(live: Live) -> Verdict:
    """The verdict on the run that was asked for, once the stream is over."""
    run = live.chosen
    last = run is live.current
    if run is None:
        if live.cut_at is not None:
            return Verdict("cut", f"no run began: the stream is cut at byte {live.cut_at}")
        return Verdict("no_run", "no run began in this stream")
    if not run.over:
        return _never_settled(live, run, last=last)
    found = _by_outcome(run)
    if found is not None:
        return found
    if run.growing is not None:
        return Verdict("unfinished", "the run settled, but its last answer began and never ended")
    if run.lost is not None:
        return Verdict("damaged", f"{_where(run.lost)} between the last answer and the end of the run")
    if run.answer is None and (run.own is None or run.own.summed is None):
        return Verdict("no_answer", "the run settled without an answer")
    if last and live.run is None:  # nobody asked for this very run: another may have begun
        if live.cut_at is not None:
            return Verdict("cut", f"the run settled, but the stream goes on and is cut at byte {live.cut_at}")
        if run.lost_after is not None:
            return Verdict("damaged", f"{_where(run.lost_after)} after the run settled")
    return Verdict("answered")


def _never_settled(live: Live, run: RunView, *, last: bool) -> Verdict:
    inside = " inside a message" if run.growing is not None else ""
    failed = f"; its last call failed{_told(run)}" if run.ended is not None and run.ended.outcome == "error" else ""
    retry = run.retry
    if not failed and retry is not None and retry.state != "ended":
        told = f": {retry.error}" if retry.error else ""
        failed = f"; its last call failed and was being tried again{_attempts(run)}{told}"
    if not last:
        return Verdict("unsettled", f"the run never settled: another began{inside and ', ' + inside.strip()}{failed}")
    if live.cut_at is not None:
        return Verdict("cut", f"the run never settled: the stream is cut at byte {live.cut_at}{inside}{failed}")
    at = "" if live.ends_at is None else f" at byte {live.ends_at}"
    return Verdict("unsettled", f"the run never settled: the stream ends{inside}{at}{failed}")


def _by_outcome(run: RunView) -> Verdict | None:
    """What is wrong with a settled run by how it ended; None where nothing is."""
    outcome = run.outcome
    if outcome == "stop" or (outcome is None and run.answer is None):
        return None
    if outcome == "error":
        retry = run.retry
        if retry is not None and retry.state == "ended" and retry.success is False:
            return Verdict("retries", f"the retries ran out{_attempts(run)}{_told(run)}")
        return Verdict("error", f"the call failed{_told(run)}")
    if outcome in _SENTENCES:
        word, sentence = _SENTENCES[outcome]
        return Verdict(word, sentence + _told(run))
    return Verdict("unknown", "the answer ended for a reason that is not known" + _told(run))


_SENTENCES: dict[str, tuple[Word, str]] = {
    "aborted": ("aborted", "the run was aborted"),
    "refusal": ("refusal", "the model refused"),
    "length": ("length", "the answer was cut by the limit of its length"),
    "limit": ("limit", "the run was stopped by a limit that was set for it"),
    "tool_use": ("unfinished", "the last answer asked for tools, and none came after their results"),
    "deferred": ("unfinished", "the provider put the answer off, and it never came"),
}


def _attempts(run: RunView) -> str:
    retry = run.retry
    if retry is None or retry.attempt is None:
        return ""
    return f" at attempt {retry.attempt}" + (f" of {retry.most}" if retry.most is not None else "")


def _told(run: RunView) -> str:
    """The agent's own sentence, if it has one."""
    if run.own is not None and run.own.error:
        return f": {run.own.error}"
    retry = run.retry
    if retry is not None and retry.state == "ended" and retry.success is False and retry.error:
        return f": {retry.error}"
    return f": {run.ended.error}" if run.ended is not None and run.ended.error else ""


def _where(fault: LineFault) -> str:
    return f"line {fault.line} (bytes {fault.start}-{fault.end}) could not be read,"
