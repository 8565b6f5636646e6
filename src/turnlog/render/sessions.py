"""The list of sessions as a table: newest first, ids at their shortest, the title in what room is left."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo

from ..ledger.sessions import SessionLine, SessionList, unique_prefixes
from .text import Line, Span, cells, counted, cut, home_short, middle_cut, one_line, plain, short, table, when

PROJECT = 26
"""Cells at most for a folder."""

NARROW = 100
"""Columns below which numbers leave no room for the folder."""


def session_lines(
    found: SessionList, agents: dict[str, str], zone: tzinfo, zone_name: str, now: datetime, *, width: int | None = 80
) -> Iterator[Line]:
    """The lines of the list. agents: printed names. width None: nothing is cut."""
    prefixes = unique_prefixes([line.session_id for line in found.sessions])
    narrow = found.counted and width is not None and width < NARROW
    rows: list[list[Span]] = []
    for line in found.sessions:
        row: list[Span] = [
            (one_line(prefixes[line.session_id]), "strong"),
            (when(line.at, zone, now), "plain"),
            (agents.get(line.agent, line.agent), "agent"),
        ]
        if found.counted:
            row += [
                (counted(line.prompts or 0, "prompt"), "people"),
                (short(line.tokens.total if line.tokens else 0), "plain"),
            ]
        if not narrow:
            row.append((_project(line, width), "quiet"))
        rows.append(row)
    align = ("lllrr" if found.counted else "lll") + ("" if narrow else "l")
    for line, row in zip(found.sessions, table([[*row, ("", "plain")] for row in rows], align + "l"), strict=True):
        used = sum(cells(text) for text, _ in row)
        extra = _extra(line)
        room = None if width is None else max(12, width - used - (len(extra) + 2 if extra else 0))
        yield [*row, *_title(line, room), *([(f"  {extra}", "quiet")] if extra else [])]
    yield from _end(found, zone_name)


def _project(line: SessionLine, width: int | None) -> str:
    if line.cwd is None:
        return "-"
    path = one_line(home_short(line.cwd))
    return path if width is None else middle_cut(path, PROJECT if width >= 100 else PROJECT - 8)


def _title(line: SessionLine, room: int | None) -> Line:
    """The session's name in quotes; without one how it began, which is no name and has none."""
    if line.title is not None:
        text = one_line(line.title, None if room is None else room - 2)
        return plain(f'"{text}"')
    text = one_line(line.first_prompt or "", room or 120)
    return plain(text or "(nothing typed)", "people" if text else "quiet")


def _extra(line: SessionLine) -> str:
    told = []
    if line.subagents:
        told.append(counted(line.subagents, "subagent"))
    if line.cost is not None:
        told.append(f"${line.cost:,.2f}")
    return ", ".join(told)


def _end(found: SessionList, zone_name: str) -> Iterator[Line]:
    shown = len(found.sessions)
    told = counted(shown, "session")
    if found.matched > shown:
        told = f"{shown} of {counted(found.matched, 'session')} (--all lists them)"
    elif found.found > found.matched:
        told += f" of {found.found}"
    yield plain(f"{told} ({zone_name})", "quiet")
    wrong = [problem for problem in found.problems if not problem.note]
    if wrong:
        yield plain(cut(f"{counted(len(wrong), 'problem')}: turnlog check", 80), "trouble")
