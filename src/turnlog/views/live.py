"""A run as it stands: is it going on, how did it end, what is its answer, and may the answer be trusted.

Events of a stream are folded one by one; `close` says that no more will come. What the fold holds does not grow with the
stream: of a run it keeps counts, sums, the last answer and the message under way, and of all runs only the one that is
asked for. With `keep` it also keeps the tools of that run with every partial result they gave.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from ..errors import LineFault
from ..model import Body, Compaction, CustomMessage, Item, Message, ToolCall, ToolResult, Usage, told
from ..stream import Begun, Ended, Growing, Outcome, Queue, Retry, Run, ToolRun
from ..tokens import Counts, Semantics

State = Literal[
    "running",
    "settled",  # the agent said that nothing more would come
    "unsettled",  # the stream ended, or another began, before it said so
    "aborted",  # settled because somebody stopped it
    "failed",  # settled after a call that failed, or was refused, or by the agent's own word
]


class Spent(msgspec.Struct):
    """Tokens in parts that add up; None where nothing was said."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None

    def add(self, counts: Counts, semantics: Semantics) -> None:
        """One sample more; a part it does not tell adds nothing."""
        parts = counts.additive(semantics)
        if parts.input is not None:
            self.input = (self.input or 0) + parts.input
        if parts.output is not None:
            self.output = (self.output or 0) + parts.output
        if parts.cache_read is not None:
            self.cache_read = (self.cache_read or 0) + parts.cache_read
        if parts.cache_write is not None:
            self.cache_write = (self.cache_write or 0) + parts.cache_write

    @property
    def total(self) -> int | None:
        """The sum of what is known, None where nothing is."""
        known = [part for name in self.__struct_fields__ if (part := getattr(self, name)) is not None]
        return sum(known) if known else None


class Tool(msgspec.Struct):
    """A tool at work, or done: every partial result it gave, in order. The last is the one to show: whether it replaces
    or extends those before is the tool's own contract."""

    id: str | None
    name: str | None
    input: Any = None
    parent_id: str | None = None
    partials: list[Any] = msgspec.field(default_factory=list)
    output: Any = None
    is_error: bool | None = None
    duration_ms: int | None = None
    done: bool = False

    @property
    def shown(self) -> Any:
        """What it gave in the end, or has given last."""
        return self.output if self.done or not self.partials else self.partials[-1]


class RunView(msgspec.Struct):
    """One run: from its start until the agent settles. number: from 1, in the order of the stream.

    messages: finished ones of every role. calls: tools asked for; results: those that came back, errors: that say they failed.
    answer: the last finished message of the model (more: its texts in later records of the same message), and how it
    ended. growing: the message under way. own: the agent's own word on the end. retry: the last that came of trying
    again. waiting: what is queued. lost: the first line since the last answer that could not be read; lost_after: since
    the run settled.
    """

    number: int
    line: int
    start: int
    over: bool = False
    closed: bool = False
    messages: int = 0
    calls: int = 0
    results: int = 0
    errors: int = 0
    compactions: int = 0
    usage: Spent = msgspec.field(default_factory=Spent)
    answer: Message | None = None
    more: list[Body] = msgspec.field(default_factory=list)
    ended: Ended | None = None
    growing: Growing | None = None
    own: Run | None = None
    retry: Retry | None = None
    waiting: Queue | None = None
    lost: LineFault | None = None
    lost_after: LineFault | None = None
    tools: dict[str | None, Tool] = msgspec.field(default_factory=dict)

    @property
    def outcome(self) -> Outcome | None:
        """How it ended: the agent's own word where it has one, else how the last answer did."""
        if self.own is not None and self.own.outcome is not None:
            return self.own.outcome
        return self.ended.outcome if self.ended is not None else None

    @property
    def state(self) -> State:
        """Where it stands."""
        if not self.over:
            return "unsettled" if self.closed else "running"
        outcome = self.outcome
        if outcome == "aborted":
            return "aborted"
        return "failed" if outcome in ("error", "refusal", "limit") else "settled"

    @property
    def text(self) -> str:
        """The last answer, finished or not: the agent's own summing up, else the message under way if it has any text,
        else the last finished one."""
        if self.own is not None and self.own.summed is not None:
            return told(self.own.summed)
        if self.growing is not None and (text := self.growing.text):
            return text
        if self.answer is None:
            return ""
        return "\n".join([told(body) for body in (self.answer.body, *self.more) if body])


class Live:
    """The fold. `take(items)` what a parser gives, in order; `close()` at the end of the stream.

    run: which run is asked for, counted from 1; None is the last. keep: its tools too, with every partial result.
    `current` is the run under way or the last one; `chosen` the one that is asked for, None where there is none (yet).
    `ends_at`: how many bytes there were; `cut_at`: the same, where they stop inside a record.
    """

    def __init__(self, *, run: int | None = None, keep: bool = False) -> None:
        self.run = run
        self.keep = keep
        self.runs = 0
        self.current: RunView | None = None
        self.usage = Spent()
        self.cut_at: int | None = None
        self.ends_at: int | None = None
        self._asked: RunView | None = None
        self._opened = False  # a stream said what it is, and no run of it has begun
        self._ending: RunView | None = None  # the run that settled last
        self._earlier: list[RunView] = []  # runs that have not settled, and still may though another has begun

    @property
    def chosen(self) -> RunView | None:
        """The run that is asked for."""
        if self.run is not None:
            return self._asked
        return None if self._opened else self.current

    def take(self, items: Iterable[Item]) -> None:
        """Fold these in."""
        for item in items:
            fold = _FOLDS.get(item.__class__)
            # What a subagent says and spends is no part of the answer.
            if fold is not None and (item.__class__ is LineFault or not item.record.sidechain):  # type: ignore[union-attr]
                fold(self, item)

    def close(self, *, ends_at: int | None = None, cut: bool = False) -> None:
        """The stream is over, after so many bytes. cut: it stops inside a record."""
        self.ends_at = ends_at
        self.cut_at = ends_at if cut else None
        self._shut()

    def _shut(self) -> None:
        """No run that has not settled will any more."""
        for run in self._earlier:
            run.closed = True
        self._earlier.clear()
        if self.current is not None:
            self.current.closed = True

    def _begin(self, item: Any) -> RunView:
        """The run that a thing belongs to that only happens in one: the one under way, or a new one."""
        run = self.current
        if run is None or run.over or run.closed:
            self.runs += 1
            run = self.current = RunView(self.runs, item.line, item.start)
            self._opened = False
            if self.runs == self.run:
                self._asked = run
        return run

    def _under_way(self) -> RunView | None:
        run = self.current
        return None if run is None or run.over or run.closed else run

    def _on_run(self, item: Run) -> None:
        if item.state == "opened":
            self._opened = True
            self._shut()
        elif item.state == "settled":
            run = self._earlier.pop(0) if item.beside and self._earlier else self._under_way()
            if run is not None:
                run.over = True
                run.own = item
                self._ending = run
        elif item.state == "started":
            run = self._under_way()
            if item.beside and run is not None and len(self._earlier) < _MOST_EARLIER:
                self._earlier.append(run)
                self.current = None
            self._begin(item)

    def _on_begun(self, item: Begun) -> None:
        if item.role == "assistant":
            run = self._begin(item)
            run.growing = item.growing if item.growing is not None else Growing()

    def _on_message(self, item: Message) -> None:
        answers = item.role == "assistant"
        run = self._begin(item) if answers else self._under_way()
        if run is None:
            return
        before = run.answer
        if answers and before is not None and _continues(item, before):
            run.growing = None
            if item.body:
                run.more.append(item.body)
            return
        run.messages += 1
        if answers:
            run.answer, run.growing, run.lost, run.retry = item, None, None, None
            run.more.clear()
            if run.ended is not None and run.ended.record is not item.record:
                run.ended = None

    def _on_ended(self, item: Ended) -> None:
        self._begin(item).ended = item

    def _on_call(self, _: ToolCall) -> None:
        if (run := self._under_way()) is not None:
            run.calls += 1

    def _on_result(self, item: ToolResult) -> None:
        if (run := self._under_way()) is not None:
            run.messages += 1
            run.results += 1
            run.errors += item.is_error is True

    def _on_custom(self, _: CustomMessage) -> None:
        if (run := self._under_way()) is not None:
            run.messages += 1

    def _on_usage(self, item: Usage) -> None:
        self.usage.add(item.counts, item.semantics)
        run = self._under_way()
        ending = self._ending
        if ending is not None and ending.own is not None and ending.own.record is item.record:
            run = ending  # the bill of the run that this record settled
        if run is not None:
            run.usage.add(item.counts, item.semantics)

    def _on_compaction(self, _: Compaction) -> None:
        if (run := self._under_way()) is not None:
            run.compactions += 1

    def _on_retry(self, item: Retry) -> None:
        if item.what == "call" and (run := self._under_way()) is not None:
            run.retry = item

    def _on_queue(self, item: Queue) -> None:
        if (run := self._under_way()) is not None:
            run.waiting = item

    def _on_tool(self, item: ToolRun) -> None:
        run = self._under_way()
        if run is None or not self.keep:
            return
        tool = run.tools.get(item.call_id)
        if tool is None:
            tool = run.tools[item.call_id] = Tool(item.call_id, item.name, item.input, item.parent_id)
        if item.state == "partial":
            tool.partials.append(item.output)
        elif item.state == "ended":
            tool.output, tool.is_error, tool.duration_ms, tool.done = item.output, item.is_error, item.duration_ms, True

    def _on_fault(self, item: LineFault) -> None:
        run = self.current
        if item.recovered or run is None:
            return
        if run.over or run.closed:
            run.lost_after = run.lost_after or item
        else:
            run.lost = run.lost or item


def _continues(item: Message, before: Message) -> bool:
    """Whether this is one more record of the same message: the same id, and the same time where it tells one."""
    return item.message_id is not None and item.message_id == before.message_id and item.native_at == before.native_at


_MOST_EARLIER = 16
"""How many runs may wait for their end at once: a stream that begins more is not held in memory."""


_FOLDS: dict[type, Any] = {
    Run: Live._on_run,
    Begun: Live._on_begun,
    Message: Live._on_message,
    Ended: Live._on_ended,
    ToolCall: Live._on_call,
    ToolResult: Live._on_result,
    CustomMessage: Live._on_custom,
    Usage: Live._on_usage,
    Compaction: Live._on_compaction,
    Retry: Live._on_retry,
    Queue: Live._on_queue,
    ToolRun: Live._on_tool,
    LineFault: Live._on_fault,
}
