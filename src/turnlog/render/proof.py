"""The proof as text: each file with what is wrong in it, the sum of the bytes, the verdict last."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..contract import ByteCounts
from ..ledger.check import Check
from ..ledger.proof import FaultLine, FileProof
from ..views.relations import Relation
from .text import Line, counted, grouped, home_short, middle_cut, padded, plain, wrapped

FEW = 40
"""Up to so many files each one is listed; of more, those that have something to say."""

LINES = 5
"""Lines that are told of one file before the rest is only counted."""


def proof_lines(check: Check, *, width: int | None = 80, everything: bool = False) -> Iterator[Line]:
    """The lines of the proof. width: columns there are, None for as many as it takes. everything: list every file, every
    line and every note."""
    for line in _lines(check, width, everything=everything):
        if width is None or len(line) != 1:
            yield line
        else:
            first, *rest = wrapped(line[0][0], width) or [""]
            yield plain(first, line[0][1])
            yield from (plain(f"  {part}", line[0][1]) for part in rest)


def _lines(check: Check, width: int | None, *, everything: bool) -> Iterator[Line]:
    listed = [f for f in check.checked if everything or len(check.checked) <= FEW or _speaks(f)]
    yield from _files(listed, width, everything=everything)
    quiet = len(check.checked) - len(listed)
    if quiet:
        yield plain(f"  {counted(quiet, 'file')} more, complete (--all lists them)", "quiet")
    for problem in check.problems:
        if everything or not problem.note:
            yield plain(f"  {home_short(problem.path)}: {problem.said}", "quiet" if problem.note else "trouble")
    notes = sum(problem.note for problem in check.problems)
    if notes and not everything:
        yield plain(f"  {counted(notes, 'note')} on other files and folders (--all lists them)", "quiet")
    if check.checked:
        yield plain("")
        yield plain(_identity(check))
    yield _verdict(check)


def _files(listed: list[FileProof], width: int | None, *, everything: bool) -> Iterator[Line]:
    """Each file below its folder, with its numbers and its verdict."""
    records = max((len(counted(f.records, "record")) for f in listed), default=0)
    size = max((len(grouped(f.bytes_read)) for f in listed), default=0)
    longest = max((len(os.path.basename(f.path)) for f in listed), default=0)
    room = longest if width is None else max(16, min(longest, width - records - size - 29))
    folder = None
    for proof in listed:
        here, name = os.path.split(proof.path)
        if here != folder:
            if folder is not None:
                yield plain("")
            where = home_short(here) or "."
            yield plain(where if width is None else middle_cut(where, width), "strong")
            folder = here
        head = f"  {padded(middle_cut(name, room), room)}  {counted(proof.records, 'record'):>{records}}"
        size_told = f"  {grouped(proof.bytes_read):>{size}} bytes  "
        yield [(head + size_told, "plain"), (verdict_of(proof), "good" if proof.complete else "trouble")]
        yield from _details(proof, everything=everything)


def verdict_of(proof: FileProof) -> str:
    """A file in a few words."""
    if proof.error is not None:
        return "cannot be read" if not proof.records else "not read to the end"
    told = []
    if proof.faults:
        told.append(counted(len(proof.faults), "fault"))
    wrong = [relation for relation in proof.relations if not relation.note]
    if wrong:
        kinds = {relation.kind for relation in wrong}
        told.append(f"{grouped(len(wrong))} {kinds.pop()}" if len(kinds) == 1 else f"{len(wrong)} broken relations")
    if proof.problems:
        told.append(counted(len(proof.problems), "problem"))
    return ", ".join(told) or proof.status.replace("_", " ")


def _speaks(proof: FileProof) -> bool:
    return not proof.complete or bool(proof.unknown)


def _details(proof: FileProof, *, everything: bool) -> Iterator[Line]:
    if proof.error is not None:
        yield _detail(proof.error.said, "trouble")
    for problem in proof.problems:
        yield _detail(problem, "trouble")
    told = [_fault(fault) for fault in proof.faults]
    told += [_relation(relation) for relation in proof.relations if not relation.note]
    shown = told if everything else told[:LINES]
    yield from shown
    if len(told) > len(shown):
        yield _detail(f"and {grouped(len(told) - len(shown))} more (--all lists them)", "trouble")
    notes = [_relation(relation) for relation in proof.relations if relation.note]
    if everything or len(notes) <= 2:
        yield from notes
    else:
        yield _detail(f"{counted(len(notes), 'note')} (--all lists them)", "quiet")
    if proof.unknown:
        labels = [f"{label} ×{grouped(count)}" if count > 1 else label for label, count in proof.unknown.items()]
        named = labels if everything else labels[:LINES]
        more = f" and {grouped(len(labels) - len(named))} more" if len(labels) > len(named) else ""
        versions = f" (version {', '.join(proof.versions[-3:])})" if proof.versions else ""
        yield _detail(f"unknown: {', '.join(named)}{more}{versions}", "quiet")


def _detail(text: str, tone: str) -> Line:
    return plain(f"      {text}", tone)


def _fault(fault: FaultLine) -> Line:
    where = f"line {grouped(fault.line)} (bytes {grouped(fault.start)}-{grouped(fault.end)})"
    return _detail(f"{where}: {fault.said}", "trouble")


def _relation(relation: Relation) -> Line:
    word = "note, " if relation.note else ""
    told = f"{word}line {grouped(relation.line)}: {relation.kind}: {relation.said}"
    return _detail(told, "quiet" if relation.note else "trouble")


def _identity(check: Check) -> str:
    """Where every byte went: the accounting identity with its numbers."""
    parts = [(name, getattr(check.bytes, name)) for name in ByteCounts.__struct_fields__]
    told = " + ".join(f"{name} {grouped(count)}" for name, count in parts if count) or "0"
    first = "=" if check.bytes.total() == check.bytes_read else "≠"
    second = "=" if check.bytes_read == check.on_disk else "≠"
    return f"bytes: {told} {first} read {grouped(check.bytes_read)} {second} on disk {grouped(check.on_disk)}"


def _verdict(check: Check) -> Line:
    if check.verdict == "nothing read":
        return plain("nothing could be read (exit 4)", "trouble")
    if check.complete:
        notes = f", {counted(check.notes, 'note')}" if check.notes else ""
        return plain(f"complete: {counted(check.files, 'file')}, {counted(check.records, 'record')}{notes}", "good")
    errors = sum(proof.error is not None for proof in check.checked)
    problems = sum(not problem.note for problem in check.problems)
    wrong = [
        counted(count, one, many)
        for count, one, many in (
            (check.faults, "fault", "faults"),
            (check.relations, "broken relation", "broken relations"),
            (errors, "file not read to the end", "files not read to the end"),
            (problems, "problem", "problems"),
        )
        if count
    ]
    if check.files > 1:
        wrong.append(f"{grouped(check.complete_files)} of {counted(check.files, 'file')} complete")
    return plain(f"not complete (exit 3): {', '.join(wrong)}", "trouble")
