"""Words and tables for a terminal: lines of toned spans, made by pure functions. No escape code is written here.

A line is a list of (text, tone). Tones mean something and nothing depends on them: "strong" a heading, "people" what a
person did, "agent" what an agent did, "good" and "trouble" a verdict, "quiet" the rest. Text of a transcript that comes
in here may hold anything: the one who prints makes it safe.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from datetime import date, datetime, tzinfo

from ..jsontext import clean

Span = tuple[str, str]
Line = list[Span]

THIN = "\N{NARROW NO-BREAK SPACE}"
_BARS = "▁▂▃▄▅▆▇█"

# C0 and C1 controls but tab and line feed, and the marks that turn the direction of text around.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")
# Whole sequences of a terminal: colours, cursor, titles and links. They go without a trace, because what they say is no
# text; only a control character that stands alone leaves a mark.
_SEQUENCES = re.compile("(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]{0,2048}(?:\x07|\x1b\\\\)|\x1b[@-Z\\\\^_]")
_BREAKS = re.compile("[\n\r\u2028\u2029\x85]")


def plain(text: str, tone: str = "plain") -> Line:
    """A line of one span."""
    return [(text, tone)]


def safe(text: str) -> str:
    """Text of a transcript fit for a terminal: no control characters, no lone surrogates; lines and tabs stay.
    Line ends of Unicode's own, which terminals swallow, are spaces."""
    if "\x1b" in text or "\x9b" in text:
        text = _SEQUENCES.sub("", text)
    text = _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", clean(text))
    return text.replace("\u2028", " ").replace("\u2029", " ")


def one_line(text: str, width: int | None = None) -> str:
    """Text of a transcript on one line, cut to `width` cells of a terminal."""
    # Only the beginning can be seen: a text of many megabytes is not looked at whole.
    if width is not None and len(text) > 4 * width + 64:
        text = text[: 4 * width + 64] + "…"
    line = " ".join(safe(_BREAKS.sub(" ", text)).split())
    return line if width is None else cut(line, width)


def cells(text: str) -> int:
    """How many cells of a terminal a text fills: wide East Asian letters two, marks that combine none."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def _cell(char: str) -> int:
    if unicodedata.east_asian_width(char) in "WF":
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 1


def cut(text: str, width: int) -> str:
    """The text, cut to so many cells with an ellipsis."""
    if cells(text) <= width:
        return text
    room, kept = width - 1, []
    for char in text:
        room -= _cell(char)
        if room < 0:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def middle_cut(text: str, width: int) -> str:
    """The text with its middle left out: of a path or name both ends tell."""
    if cells(text) <= width or width < 5:
        return cut(text, max(1, width))
    head = (width - 1) // 3
    return f"{text[:head]}…{text[head + 1 - width :]}"


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with spaces to so many cells."""
    space = " " * max(0, width - cells(text))
    return space + text if right else text + space


def table(rows: Sequence[Sequence[Span]], align: str, *, indent: str = "", gap: str = "  ") -> list[Line]:
    """Rows in columns. align: a letter for each column, "l" or "r"; a last column that is "l" is not filled up."""
    widths = [max(cells(row[n][0]) for row in rows) for n in range(len(align))] if rows else []
    lines: list[Line] = []
    for row in rows:
        line: Line = [(indent, "plain")] if indent else []
        for n, (text, tone) in enumerate(row):
            last = n == len(align) - 1 and align[n] == "l"
            line.append((text if last else padded(text, widths[n], right=align[n] == "r"), tone))
            if n < len(align) - 1:
                line.append((gap, "plain"))
        lines.append(line)
    return lines


def wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a text, long ones broken at spaces (inside a word where it is longer than a line). None: as it is."""
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").expandtabs(4).split("\n"):
        if width is None or cells(line) <= width:
            lines.append(line)
        else:
            lines += _broken(line, max(8, width))
    return lines


def _broken(line: str, width: int) -> list[str]:
    lead = line[: len(line) - len(line.lstrip(" "))][: width // 2]
    found, row, room = [], lead, width - len(lead)
    for word in line.split(" "):
        need = cells(word)
        if need + 1 <= room or (need <= room and row == lead):
            row += word if row == lead else " " + word
        else:
            if row.strip():
                found.append(row)
            while need > width - len(lead):  # a word longer than a line
                part, size = "", 0
                for char in word:
                    size += _cell(char)
                    if size > width - len(lead):
                        break
                    part += char
                found.append(lead + part)
                word = word[len(part) :]  # noqa: PLW2901  the rest of it
                need = cells(word)
            row = lead + word
        room = width - cells(row)
    return [*found, row] if row.strip() else found


def grouped(count: int) -> str:
    """A whole number with thin groups: 22 118."""
    return f"{count:,}".replace(",", THIN)


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun: 1 file, 22 118 files."""
    return f"{grouped(count)} {noun if count == 1 else plural or noun + 's'}"


def short(count: int) -> str:
    """A number that is read at a glance: 9 870, 48.2 k, 2.10 M, 1.42 G."""
    if count < 10_000:
        return grouped(count)
    size, unit = float(count), ""
    for unit in ("k", "M", "G", "T"):  # noqa: B007  the last one is used below
        size /= 1000
        if size < 999.5:
            break
    return f"{size:.{0 if size >= 99.95 else 1 if size >= 9.995 else 2}f} {unit}"


def byte_size(count: int) -> str:
    """A number of bytes at a glance: 912 B, 1.9 MB."""
    if count < 1000:
        return f"{count} B"
    size, unit = float(count), ""
    for unit in ("kB", "MB", "GB", "TB"):  # noqa: B007  the last one is used below
        size /= 1000
        if size < 999.5:
            break
    return f"{size:.{0 if size >= 9.95 else 1}f} {unit}"


def local(at: datetime, zone: tzinfo) -> datetime:
    """The moment in the zone; at the ends of the calendar, where there is none, as it is."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError):
        return at


def day_word(day: date, today: date) -> str:
    """A day as people say it: today, yesterday, 2 Nov, 2 Nov 2025."""
    days = (today - day).days
    if days in (0, 1):
        return ("today", "yesterday")[days]
    name = f"{day.day} {_MONTHS[day.month - 1]}"
    return name if day.year == today.year else f"{name} {day.year}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def when(at: datetime, zone: tzinfo, now: datetime) -> str:
    """A moment as people say it; the time of day only where it is near."""
    there, today = local(at, zone), local(now, zone).date()
    day = day_word(there.date(), today)
    return f"{day} {there:%H:%M}" if day in ("today", "yesterday") else day


def sparkline(values: Sequence[int]) -> str:
    """A bar for each value; nothing is the lowest one, something never is."""
    top = max(values, default=0)
    return "".join(_BARS[0] if not value else _BARS[1 + min(6, value * 6 // top)] for value in values)


def home_short(path: str, home: str | None = None) -> str:
    """A path with the home as `~`."""
    home = home or os.path.expanduser("~")
    if not home or home == os.sep:
        return path
    return "~" + path[len(home) :] if path == home or path.startswith(home + os.sep) else path


def of_iso(text: str | None) -> datetime | None:
    """The moment an ISO text of ours names."""
    return None if text is None else datetime.fromisoformat(text)


def first_line(text: str, width: int) -> str:
    """The first line of a text that says something, cut to `width` cells."""
    for line in text[: 64 * 1024].split("\n"):
        if line.strip():
            return one_line(line, width)
    return ""
