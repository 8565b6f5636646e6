"""What a model was shown, as text: a line for each message from top to bottom, and what was left out below. Pure functions;
text of a transcript is made safe by the one who prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..ledger.context import SessionContext
from ..views.context import ContextRow
from .gist import gist_of
from .text import Line, counted, cut, first_line, grouped, home_short, middle_cut, one_line, plain, wrapped

_WHO = {
    "tool_result": "result",
    "branch_summary": "branch summary",
    "compaction_summary": "summary",
}
"""What a message is called, where that is another word than its kind."""

_REASONS = {
    "compacted": ("older than the compaction keeps", "older than the compaction keeps"),
    "older_compaction": ("compaction after which another one came", "compactions after which another one came"),
    "boundary": ("mark of a compaction", "marks of compactions"),
    "replaced_system": ("set of older instructions", "sets of older instructions"),
    "taken_out": ("taken out by a context edit", "taken out by context edits"),
    "rolled_back": ("undone by a rollback", "undone by rollbacks"),
    "empty": ("with nothing to say", "with nothing to say"),
    "excluded": ("kept from the model by the person", "kept from the model by the person"),
    "api_error": ("failed call", "failed calls"),
    "client_only": ("for the client's own screen", "for the client's own screen"),
    "uncommitted": ("never committed", "never committed"),
    "unknown_type": ("of a type nobody here knows", "of types nobody here knows"),
}
"""Why entries were left out, for one and for several."""


def context_lines(
    shown: SessionContext, agent: str, *, width: int | None = 80, limit: int | None = None
) -> Iterator[Line]:
    """The lines of a context. width: columns, None where nothing is to be broken. limit: only the last so many messages."""
    room = 160 if width is None else width
    yield [(agent, "agent"), (f"  {one_line(shown.session_id or '-', 64)}", "quiet")]
    yield plain(_where(shown), "strong")
    told = counted(shown.messages, "message") + ", " + counted(shown.characters, "character")
    if shown.images:
        told += ", " + counted(shown.images, "picture")
    yield plain(told, "quiet")
    yield plain(one_line(_model(shown), room), "quiet")
    yield []
    rows = shown.context
    if limit is not None and len(rows) > limit:
        yield plain(f"{counted(len(rows) - limit, 'message')} above left out (--limit)", "quiet")
        rows = rows[len(rows) - limit :]
    lines = max(len("line"), *(len(grouped(row.line)) for row in rows), 0)
    sizes = max(len("chars"), *(len(grouped(row.characters)) for row in rows), 0)
    names = max((len(_who(row)) for row in rows), default=0)
    if rows:
        yield plain(f"{'line':>{lines}}  {'chars':>{sizes}}  who", "quiet")
    file = None
    for row in rows:
        if row.file != file:
            file = row.file
            yield plain(f"in {middle_cut(one_line(home_short(file or shown.path)), room - 3)}", "quiet")
        yield from _message(row, lines, sizes, names, room)
    if not shown.context:
        yield plain("nothing: the model was shown no message", "quiet")
    yield []
    for text, tone in _rest(shown):
        for line in wrapped(text, width):
            yield plain(line, tone)
    if not shown.complete:
        yield plain("the file could not be read whole: turnlog check tells more", "trouble")


def _where(shown: SessionContext) -> str:
    if shown.line is None:
        return "no entry: there is nothing to show"
    place = f"line {grouped(shown.line)}"
    return (
        f"what the model was shown at {one_line(shown.leaf, 40)} ({place})"
        if shown.leaf
        else f"what the model was shown at {place}"
    )


def _model(shown: SessionContext) -> str:
    model = shown.model
    told = "no model named" if model is None else "model " + "/".join(filter(None, (model.provider, model.model_id)))
    return told if shown.thinking_level is None else f"{told}, thinking {shown.thinking_level}"


def _who(row: ContextRow) -> str:
    return row.role[:16] if row.kind == "message" else _WHO.get(row.kind, row.kind)


_TONES = {"compaction_summary": "strong", "branch_summary": "strong"}


def _message(row: ContextRow, lines: int, sizes: int, names: int, room: int) -> Iterator[Line]:
    who = _who(row)
    tone = _TONES.get(row.kind) or (
        "people" if row.kind == "message" and row.role == "user" else "agent" if row.role == "assistant" else "quiet"
    )
    head = f"{grouped(row.line):>{lines}}  {grouped(row.characters):>{sizes}}  "
    left = max(12, room - len(head) - names - 2)
    words = _words(row, left)
    if row.edited_by is not None:
        words = f"(edited by {one_line(row.edited_by, 12)}) {words}"
    yield [
        (head, "quiet"),
        (f"{one_line(who):<{names}}  ", tone),
        (cut(words, left), "trouble" if row.is_error else "plain"),
    ]


def _words(row: ContextRow, room: int) -> str:
    """What a message says first, then what it asks for."""
    parts = []
    if row.name and row.kind != "message":
        parts.append(f"{one_line(row.name, 32)}:")
    text = first_line(row.text, room)
    if text:
        parts.append(text)
    elif row.thinking:
        parts.append(f"(thinking) {first_line(row.thinking, room)}")
    elif row.hidden:
        parts.append("(not readable)")
    if row.images:
        parts.append(f"[{counted(row.images, 'picture')}]")
    for call in row.calls:
        gist = gist_of(call.arguments, max(8, room // 2))
        parts.append(f"* {one_line(call.name, 40)}" + (f" {gist}" if gist else ""))
    return " ".join(parts) or "(nothing)"


def _rest(shown: SessionContext) -> Iterator[tuple[str, str]]:
    """What is not in the context, and why."""
    reasons = Counter(left.reason for left in shown.left_out)
    if reasons:
        said = [f"{grouped(count)} {_REASONS[reason][count != 1]}" for reason, count in reasons.most_common()]
        yield f"left out: {'; '.join(said)}", "plain"
    if shown.silent:
        kinds = ", ".join(f"{one_line(kind, 24)} {grouped(count)}" for kind, count in shown.silent.items())
        yield f"says nothing to a model: {kinds}", "quiet"
    if shown.elsewhere:
        yield f"not on this branch, or later: {counted(shown.elsewhere, 'entry', 'entries')}", "quiet"
    for doubt in shown.doubts:
        yield doubt, "trouble"
