"""Sessions named by id, by the beginning of one, by path or as @latest; what cannot be meant, in one helpful sentence."""

from __future__ import annotations

from datetime import UTC, datetime

from ..errors import TurnlogError
from ..ledger.sessions import Name, Names, alike, names, unique_prefixes
from ..ledger.zones import zone
from ..reader import is_path
from ..render.text import one_line, when
from ..roots import Roots

LATEST = "@latest"
NEAREST = 3


class NoSuchSession(TurnlogError, LookupError):
    """A word names no session, or several."""


def path_named(word: str, roots: Roots, *, now: datetime | None = None) -> str:
    """The file a word of the command line means. Raises NoSuchSession; a path is taken at its word."""
    if word not in ("", LATEST) and is_path(word):
        return word
    known = names(roots)
    if word == LATEST:
        if known.latest is None:
            raise NoSuchSession("there is no session here yet: turnlog demo shows some")
        return known.latest.path
    return _meant(word, known, now or datetime.now(UTC)).path


def _meant(word: str, known: Names, now: datetime) -> Name:
    sought = word.lower()
    exact = [name for name in known.names if name.word.lower() == sought]
    if len(exact) == 1:
        return exact[0]
    fits = exact or [name for name in known.names if sought and name.word.lower().startswith(sought)]
    # A session comes before the subagents whose ids begin like its own.
    fits = [name for name in fits if name.main] or fits
    if len({name.path for name in fits}) == 1:
        return fits[0]
    said = one_line(word, 40)
    if fits:
        told = _told(_newest(fits), known, now)
        more = f" and {len(fits) - NEAREST} more" if len(fits) > NEAREST else ""
        raise NoSuchSession(f'"{said}" begins {len(fits)} sessions: {told}{more}: give more of the id')
    if not known.names:
        raise NoSuchSession(f'no session starts with "{said}": there is no session here yet (turnlog demo shows some)')
    near = sorted(_newest([name for name in known.names if name.main]), key=lambda name: -_shared(name.word, sought))
    raise NoSuchSession(f'no session starts with "{said}": the nearest are {_told(near, known, now)}')


def _newest(found: list[Name]) -> list[Name]:
    return sorted(found, key=lambda name: name.at, reverse=True)


def _shared(word: str, sought: str) -> int:
    return alike(word.lower(), sought)


def _told(found: list[Name], known: Names, now: datetime) -> str:
    """The first few, each at its shortest and with its day."""
    shortest = unique_prefixes([name.word for name in known.names])
    place, _ = zone()
    return ", ".join(f"{one_line(shortest[n.word])} ({when(n.at, place, now)})" for n in found[:NEAREST])
