"""Everything that the roots hold, read whole: what `turnlog overview` says, for a program."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from ..discover import Discovery, find_sessions
from ..formats import FORMATS
from ..roots import Roots
from ..titles import read_titles
from .kept import Kept
from .overview import Overview, ProblemRow, overview
from .scan import FileScan, scan_files
from .share import fewer_collections
from .zones import zone


def survey(
    roots: Roots,
    timezone: str | None = None,
    *,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    kept: Kept | None = None,
) -> Overview:
    """Find and read every session below the roots. timezone: an IANA name; None is this machine's. jobs: processes.

    progress: told the bytes of files done and of all files, after each file. kept: a cache of earlier scans, read and
    filled; None reads every file. Raises InvalidOptionsError for a zone that
    is none. What cannot be read is in the result.
    """
    place, name = zone(timezone)
    discovery = find_sessions(roots)
    size = sum(file.size for file in discovery.files)
    done = 0

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, size)

    with fewer_collections():
        scans = scan_files(discovery.files, jobs=jobs, progress=told, kept=kept)
        return _seen(discovery, scans, roots, place, name)


def _seen(discovery: Discovery, scans: list[FileScan], roots: Roots, place: tzinfo, name: str) -> Overview:
    ids = {key for scan in scans if scan.work is not None for key in scan.work.sessions}
    titles = read_titles(roots, ids, collect=True)
    agents = {agent: format.title for agent, format in FORMATS.items()}
    view = overview(discovery, scans, place, name, titles.texts, agents)
    view.problems += [ProblemRow(error.source, error.kind, error.said) for error in titles.errors]
    view.complete = view.complete and not titles.errors
    return view
