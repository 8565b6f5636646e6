"""A session as text: prompts set off, calls as one line each with the result below, faults in their place, the verdict
last. Pure functions; what is a transcript's own text is made safe by the one who prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, tzinfo

import msgspec

from ..ledger.shown import Show, Subagent
from ..views.turns import AnyStep, Asked, Call, Fault, Note, Picture, Result, Side, Text, Thought, TurnView
from .gist import gist_of, pretty
from .text import (
    Line,
    byte_size,
    counted,
    cut,
    first_line,
    grouped,
    home_short,
    local,
    middle_cut,
    of_iso,
    one_line,
    plain,
    safe,
    short,
    wrapped,
)  # fmt: skip

LINES = 6
"""Lines of a result, a thought or a note before it is cut."""

_LOOK = 1 << 20  # characters of a result whose lines are counted; of more it is only said that there are more


class Style(msgspec.Struct, kw_only=True):
    """How a transcript is shown. width: columns, None where nothing is to be broken. thinking: True all of it, False none,
    None its beginning. full: nothing is cut and nothing minor left out."""

    zone: tzinfo
    zone_name: str
    width: int | None = 80
    thinking: bool | None = None
    full: bool = False
    agent: str = ""


class _State(msgspec.Struct):
    """What was printed last: the day, and who spoke."""

    day: date | None = None
    speaker: str | None = None
    model: str | None = None
    minor: int = 0


def transcript_lines(shown: Show, style: Style) -> Iterator[Line]:
    """The lines of a session."""
    state = _State()
    yield from _head(shown, style)
    if shown.earlier:
        yield []
        yield plain(f"{counted(shown.earlier, 'earlier turn')} left out", "quiet")
    by_call: dict[str, list[Subagent]] = {}
    for subagent in shown.subagents:
        by_call.setdefault(subagent.call_id or "", []).append(subagent)
    for turn in shown.turns:
        yield from _turn(turn, style, state, by_call, "")
    if by_call.get(""):
        yield []
        yield plain(f"{counted(len(by_call['']), 'subagent')} whose call is not here:", "quiet")
        for subagent in by_call[""]:
            yield from _subagent(subagent, "  ", style)
    yield []
    yield from _verdict(shown, style, state)


def _head(shown: Show, style: Style) -> Iterator[Line]:
    facts = shown.session
    name = facts.title or facts.first_prompt
    head: Line = [(style.agent or facts.agent, "agent"), (f"  {one_line(facts.session_id or '-')}", "quiet")]
    yield head
    if name:
        text = one_line(name, 200 if style.width is None else style.width - 2)
        yield plain(f'"{text}"' if facts.title else text, "strong")
    about = [home_short(facts.cwd)] if facts.cwd else []
    about += [", ".join(facts.models[:3]) + (f" and {len(facts.models) - 3} more" if len(facts.models) > 3 else "")]
    yield plain("  ".join(one_line(word) for word in about if word), "quiet")
    said = f"{counted(facts.prompts, 'prompt')}, {counted(facts.answers, 'answer')}"
    said += f", {'at least ' if facts.output_at_least else ''}{short(facts.tokens.total)} tokens"
    if facts.cost is not None:
        said += f", ${facts.cost:,.2f}"
    yield plain(f"{said}  {_span(facts.first, facts.last, style)}", "quiet")
    for word, key in (("forked from", facts.forked_from), ("started by", facts.parent)):
        if key:
            yield plain(f"{word} {one_line(key)}", "quiet")


def _span(first: str | None, last: str | None, style: Style) -> str:
    begun, ended = of_iso(first), of_iso(last)
    if begun is None or ended is None:
        return "at no known time"
    a, b = local(begun, style.zone), local(ended, style.zone)
    until = f"{b:%H:%M}" if a.date() == b.date() else f"{b:%Y-%m-%d %H:%M}"
    return f"{a:%Y-%m-%d %H:%M} to {until} ({style.zone_name})"


def _turn(
    turn: TurnView, style: Style, state: _State, by_call: dict[str, list[Subagent]], indent: str
) -> Iterator[Line]:
    if turn.prompt is not None:
        yield from _asked(turn.prompt, style, state, indent)
    for n, step in enumerate(turn.steps):
        if isinstance(step, _SPOKEN) and not (isinstance(step, Thought) and style.thinking is False):
            yield from _agent(turn.steps[n:], style, state, indent)
        yield from _step(step, style, state, by_call, indent)


_SPOKEN = (Text, Thought, Call)


def _agent(steps: list[AnyStep], style: Style, state: _State, indent: str) -> Iterator[Line]:
    """A heading for the agent where it begins to speak, or goes on with another model."""
    model = next((step.model for step in steps if isinstance(step, Text) and step.model and not step.error), None)
    if state.speaker == f"{indent}agent" and model in (None, state.model):
        return
    state.speaker = f"{indent}agent"
    state.model = model or state.model
    yield from _heading(style.agent or "agent", "agent", steps[0].at, style, state, indent, model)


def _asked(prompt: Asked, style: Style, state: _State, indent: str) -> Iterator[Line]:
    who = {"human": "you", "task": "task", "command": "you, to the client"}.get(prompt.author, prompt.author)
    state.speaker = f"{indent}{who}"
    yield from _heading(who, "people", prompt.at, style, state, indent)
    text = prompt.text if prompt.text.strip() else "(nothing, or only pictures)"
    yield from _body(text, style, indent + "  ", "people" if prompt.author == "human" else "plain")


def _heading(
    who: str, tone: str, at: datetime | None, style: Style, state: _State, indent: str, model: str | None = None
) -> Iterator[Line]:
    """Who speaks, and when; before it the day, where that is another one."""
    there = None if at is None else local(at, style.zone)
    if there is not None and there.date() != state.day:
        state.day = there.date()
        yield plain(indent.rstrip())
        yield plain(f"{indent}{there:%A} {there.day} {there:%B %Y}", "quiet")
    yield plain(indent.rstrip())
    line: Line = [(f"{indent}{there:%H:%M}  " if there is not None else f"{indent}--:--  ", "quiet"), (who, tone)]
    yield [*line, (f"  {one_line(model, 40)}", "quiet")] if model else line


def _step(
    step: AnyStep, style: Style, state: _State, by_call: dict[str, list[Subagent]], indent: str
) -> Iterator[Line]:
    inner = indent + "  "
    if isinstance(step, Fault):
        lost = "lost" if not step.recovered else f"{counted(step.recovered, 'record')} of it read"
        where = f"line {grouped(step.line)} (bytes {grouped(step.start)}-{grouped(step.end)})"
        yield plain(f"{inner}! {where}: {step.fault}, {lost}", "trouble")
        return
    if isinstance(step, Note):
        yield from _note(step, style, state, inner)
        return
    if isinstance(step, Side):
        yield []
        yield plain(f"{inner}subagent {one_line(step.agent_id or '')}".rstrip(), "agent")
        inside = _State(day=state.day)
        for turn in step.turns:
            yield from _turn(turn, style, inside, by_call, inner + "| ")
        state.minor += inside.minor
        state.speaker = None
        return
    if isinstance(step, Thought) and style.thinking is False:
        state.minor += 1
        return
    if isinstance(step, Text):
        yield from _body(step.text, style, inner, "trouble" if step.error else "plain")
    elif isinstance(step, Thought):
        yield from _thought(step, style, inner)
    elif isinstance(step, Call):
        yield from _call(step, style, inner)
        for subagent in by_call.get(step.id or "-", ()):
            yield from _subagent(subagent, inner + "  ", style)
    elif isinstance(step, Result):
        yield plain(f"{inner}> result of a call that is not here", "quiet")
        yield from _result(step, style, inner + "  ")
    else:
        yield _picture(step, inner)


def _body(text: str, style: Style, indent: str, tone: str) -> Iterator[Line]:
    width = None if style.width is None else style.width - len(indent)
    for line in wrapped(safe(text.strip("\n").rstrip()), width):
        yield plain((indent + line).rstrip(), tone)


def _thought(step: Thought, style: Style, indent: str) -> Iterator[Line]:
    if step.redacted and not step.text.strip():
        yield plain(f"{indent}thinking (not readable)", "quiet")
        return
    yield plain(f"{indent}thinking", "quiet")
    yield from _some(step.text, style, indent + "  ", "quiet", all_of_it=style.full or bool(style.thinking), most=2)


def _call(step: Call, style: Style, indent: str) -> Iterator[Line]:
    room = 200 if style.width is None else max(20, style.width - len(indent) - 2)
    name = one_line(step.name or "(unnamed tool)", 60)
    gist = gist_of(step.arguments, max(8, room - len(name) - 2))
    yield [(f"{indent}* ", "quiet"), (name, "strong"), (f"  {gist}" if gist else "", "plain")]
    if style.full:
        yield from _body(pretty(step.arguments), style, indent + "    ", "plain")
    if step.result is None:
        yield plain(f"{indent}    no result was written", "trouble")
        return
    for result in (step.result, *step.more):
        yield from _result(result, style, indent + "    ")


def _result(result: Result, style: Style, indent: str) -> Iterator[Line]:
    tone = "trouble" if result.is_error else "quiet"
    if result.text.strip():
        yield from _some(result.text, style, indent, tone, all_of_it=style.full, most=LINES)
    elif not result.images:
        yield plain(f"{indent}(nothing)", "quiet")
    for picture in result.images:
        yield _picture(picture, indent)


def _some(text: str, style: Style, indent: str, tone: str, *, all_of_it: bool, most: int) -> Iterator[Line]:
    """A text, or its first lines and how many more there are. Cut lines are not broken over several."""
    if all_of_it:
        yield from _body(text, style, indent, tone)
        return
    text = text.strip("\n").rstrip()
    looked = text[:_LOOK]
    lines = [line for line in looked.split("\n") if line.strip()]
    room = 240 if style.width is None else max(20, style.width - len(indent))
    for line in lines[:most]:
        shown = cut(safe(line[: 4 * room]).expandtabs(4).rstrip(), room)
        yield plain((indent + shown).rstrip(), tone)
    if len(lines) > most or len(text) > len(looked):
        more = grouped(len(lines) - most) if len(text) == len(looked) else f"{byte_size(len(text))} with"
        yield plain(f"{indent}… {more} more line{'' if more == '1' else 's'} (--full)", "quiet")


def _note(step: Note, style: Style, state: _State, indent: str) -> Iterator[Line]:
    if step.minor and not style.full:
        state.minor += 1
        return
    head = step.what.replace("_", " ")
    first = first_line(step.text, 200 if style.width is None else max(20, style.width - len(indent) - len(head) - 4))
    tone = "trouble" if step.what in ("aborted", "failed", "interruption") else "quiet"
    yield [(f"{indent}- {head}", tone), (f"  {first}" if first else "", "quiet")]
    if style.full and step.text.strip() != first:
        yield from _body(step.text, style, indent + "    ", "quiet")


def _subagent(subagent: Subagent, indent: str, style: Style) -> Iterator[Line]:
    room = 200 if style.width is None else max(20, style.width - len(indent) - 12)
    yield [(f"{indent}subagent  ", "agent"), (f"turnlog show {one_line(subagent.id)}", "plain")]
    if subagent.task and subagent.call_id is None:
        yield plain(f"{indent}  {first_line(subagent.task, room)}", "quiet")


def _picture(step: Picture, indent: str) -> Line:
    told = [step.media_type or "image"]
    if step.size is not None:
        told.append(byte_size(step.size * 3 // 4))
    if step.location is not None:
        told.append(one_line(step.location, 60))
    return plain(f"{indent}[{', '.join(told)}]", "quiet")


def _verdict(shown: Show, style: Style, state: _State) -> Iterator[Line]:
    summary = shown.summary
    if state.minor:
        yield plain(f"{counted(state.minor, 'note')} of the client left out (--full shows all)", "quiet")
    path = home_short(shown.session.path)
    if shown.error is not None:
        yield plain(one_line(shown.error), "trouble")
    told = f"{counted(summary.records, 'record')}, {byte_size(summary.bytes_read)}"
    unknown = sum(summary.unknown.values())
    if unknown:
        told += f", {counted(unknown, 'thing')} of unknown type"
    room = None if style.width is None else max(12, style.width - 16 - len(told))
    shown_path = one_line(path) if room is None else middle_cut(one_line(path), room)
    if shown.complete:
        yield [("complete: ", "good"), (f"{told}  {shown_path}", "plain")]
        return
    faults = counted(summary.fault_count, "fault")
    yield [("not complete: ", "trouble"), (f"{faults}, {told}", "plain")]
    yield plain(f"turnlog check {one_line(shown.session.path)}", "quiet")
