"""The verdict over many files: was all of it read, and does it hold together?"""

from __future__ import annotations

import os
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import partial

import msgspec

from ..contract import ByteCounts, ReadOptions
from ..discover import SessionFile
from ..formats import FORMATS
from ..roots import Problem, problem_at
from .overview import ProblemRow
from .proof import CHECK_OPTIONS, Checked, FileProof, Proved, holds, prove_file
from .share import shared_out

SCHEMA = "turnlog.check/1"


class Check(msgspec.Struct, kw_only=True):
    """The proof of everything that was looked at.

    complete: all of it was read whole and holds together. verdict: "complete", "not complete", or "nothing read" where
    not a record could be. bytes: of all files, by what became of them; their sum is bytes_read. on_disk: what the files
    hold (decoded, where compressed). faults, relations: how many there are, notes aside. unknown: records and parts of
    unknown type, by label. problems: what is no session, cannot be read, or was not followed.
    """

    schema: str = SCHEMA
    verdict: str = "complete"
    complete: bool = True
    files: int = 0
    complete_files: int = 0
    lines: int = 0
    records: int = 0
    bytes: ByteCounts = msgspec.field(default_factory=ByteCounts)
    bytes_read: int = 0
    on_disk: int = 0
    faults: int = 0
    relations: int = 0
    notes: int = 0
    duplicates: int = 0
    unknown: dict[str, int] = msgspec.field(default_factory=dict)
    checked: list[FileProof] = msgspec.field(default_factory=list)
    problems: list[ProblemRow] = msgspec.field(default_factory=list)


def check(
    files: list[Checked],
    problems: list[ProblemRow] | None = None,
    options: ReadOptions = CHECK_OPTIONS,
    *,
    jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Check:
    """Read all files and prove them, each alone and then together. problems: what finding them met with."""
    work = partial(prove_file, options=options)
    proved = shared_out(work, files, [file.size for file in files], jobs=jobs, progress=progress)
    _settle(proved)
    found = Check(problems=list(problems or ()))
    for one in proved:
        proof = one.proof
        if one.unrecognised:
            assert proof.error is not None
            found.problems.append(ProblemRow(proof.path, proof.error.kind, proof.error.said, note=True))
            continue
        proof.complete = holds(proof)
        found.checked.append(proof)
        _add(found, proof)
    found.complete = found.complete_files == found.files and all(problem.note for problem in found.problems)
    failed = found.files and all(proof.error is not None and not proof.records for proof in found.checked)
    found.verdict = "nothing read" if failed else "complete" if found.complete else "not complete"
    return found


def _settle(proved: list[Proved]) -> None:
    """Let the files of one agent settle each other's open relations."""
    for agent in FORMATS:
        group = [one for one in proved if one.proof.agent == agent]
        asked = {hash(open_.id) for one in group for open_ in one.open}
        held = {key for one in group if one.ids is not None for key in one.ids if key in asked} if asked else set()
        for one in group:
            one.proof.relations += [open_.relation for open_ in one.open if hash(open_.id) not in held]
    for one in proved:
        one.proof.relations.sort(key=lambda relation: (relation.line, relation.start))


def _add(found: Check, proof: FileProof) -> None:
    found.files += 1
    found.complete_files += proof.complete
    found.lines += proof.lines
    found.records += proof.records
    found.bytes_read += proof.bytes_read
    found.on_disk += proof.on_disk or 0
    found.faults += len(proof.faults)
    notes = sum(relation.note for relation in proof.relations)
    found.notes += notes
    found.relations += len(proof.relations) - notes
    found.duplicates += proof.duplicates
    for name in ByteCounts.__struct_fields__:
        setattr(found.bytes, name, getattr(found.bytes, name) + getattr(proof.bytes, name))
    for label, count in proof.unknown.items():
        found.unknown[label] = found.unknown.get(label, 0) + count


def files_below(paths: list[str], agent: str | None = None) -> tuple[list[Checked], list[ProblemRow]]:
    """The files that are named, and those below named folders whose names are like a session's, sorted; and what was
    met on the way. A link inside a folder is not followed. agent: whose they all are, None to tell from the records."""
    files: dict[str, Checked] = {}
    problems: list[ProblemRow] = []
    links: list[Problem] = []
    for path in paths:
        if not os.path.isdir(path):
            files[path] = Checked(path=path, agent=agent, size=_size(path), named=True)
            continue

        def unlisted(error: OSError) -> None:
            said = f"cannot be listed: {error.strerror or type(error).__name__}"
            problems.append(ProblemRow(str(error.filename), "unreadable", said))

        for folder, folders, names in os.walk(path, onerror=unlisted):
            for name in sorted(folders + names):
                inside = os.path.join(folder, name)
                if os.path.islink(inside):
                    links.append(problem_at("symlink" if os.path.exists(inside) else "dangling-link", inside, agent))
                elif name in names and like_a_session(name):
                    files.setdefault(inside, Checked(path=inside, agent=agent, size=_size(inside)))
    problems += [ProblemRow(link.path, link.kind, link.said, link.note) for link in links]
    return [files[path] for path in sorted(files)], sorted(problems, key=lambda problem: problem.path)


def like_a_session(name: str) -> bool:
    """Whether a file of that name may be a session of any agent."""
    roots = [format.root for format in FORMATS.values()]
    fits = any(fnmatchcase(name, scan.rsplit("/", 1)[-1]) for root in roots for _, scan in root.scans)
    return fits and not any(fnmatchcase(name, other) for root in roots for other in root.others)


def files_found(files: list[SessionFile]) -> list[Checked]:
    """What discovery found, to be checked."""
    return [Checked(path=f.path, agent=f.agent, subagent=f.kind == "subagent", size=f.size, found=f) for f in files]


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
