"""The proof of one file: where every byte went, what was wrong, and how its records hold together.

Each file is read once. Beside the reader a second framer sees the same chunks and looks at every record's bytes: for keys
that stand twice, and for records that are written again byte for byte.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from typing import IO

import msgspec

from ..contract import COMMAND_RECORD_BYTES, ByteCounts, ReadOptions, ReadStatus, ReadSummary
from ..discover import SessionFile, check_recognised
from ..errors import LineFault, SourceError, UnknownFormatError
from ..formats import FORMATS, place_of
from ..model import Item, Meta
from ..reader import Reader
from ..source import Source, opened
from ..views.relations import Open, Relation, links, relations
from ..zstd import Unpacked
from .watch import Watch

CHECK_OPTIONS = ReadOptions(max_file_bytes=None, max_record_bytes=COMMAND_RECORD_BYTES, codex_usage="all")


class Checked(msgspec.Struct, kw_only=True):
    """A file to be checked: `agent` None tells the format from its records, `subagent` None from its path.

    named: it was asked for by name, so that it must be a session; else another kind of file is only noted. found: what
    discovery says of it.
    """

    path: str
    agent: str | None = None
    subagent: bool | None = None
    size: int = 0
    named: bool = False
    found: SessionFile | None = None


class FaultLine(msgspec.Struct, kw_only=True):
    """A line that was not read whole. path, expected, found: the field, where it is about one. recovered: how many
    records of the line were read all the same."""

    kind: str
    line: int
    start: int
    end: int
    recovered: int
    said: str
    path: str | None = None
    expected: str | None = None
    found: str | None = None


class ReadError(msgspec.Struct):
    """Why reading ended before the end: the kind of source error, and its sentence."""

    kind: str
    said: str


class FileProof(msgspec.Struct, kw_only=True):
    """What one file came to.

    complete: every byte read, nothing wrong, every relation holds (notes aside). bytes: by what became of them;
    their sum is bytes_read. on_disk: bytes of the file when it was opened (decoded bytes of a compressed one, whose own
    size is `compressed`). versions: of the agent, as the file says them. duplicates: records written again.
    """

    path: str
    agent: str | None = None
    status: str = ReadStatus.FAILED.value
    complete: bool = False
    lines: int = 0
    records: int = 0
    bytes: ByteCounts = msgspec.field(default_factory=ByteCounts)
    bytes_read: int = 0
    on_disk: int | None = None
    compressed: int | None = None
    complete_through: int = 0
    sha256: str | None = None
    versions: list[str] = msgspec.field(default_factory=list)
    faults: list[FaultLine] = msgspec.field(default_factory=list)
    repairs: dict[str, int] = msgspec.field(default_factory=dict)
    unknown: dict[str, int] = msgspec.field(default_factory=dict)
    ignored: dict[str, int] = msgspec.field(default_factory=dict)
    relations: list[Relation] = msgspec.field(default_factory=list)
    duplicates: int = 0
    problems: list[str] = msgspec.field(default_factory=list)
    error: ReadError | None = None


class Proved(msgspec.Struct):
    """A file's proof, and what other files may still settle: relations that are open, and the hashes of its own ids.
    unrecognised: it holds no session of any agent."""

    proof: FileProof
    open: list[Open] = msgspec.field(default_factory=list)
    ids: array[int] | None = None
    unrecognised: bool = False


def prove_file(checked: Checked, options: ReadOptions = CHECK_OPTIONS) -> Proved:
    """Read one file and prove where every byte went. Never raises for what the file is or holds."""
    path = checked.path
    proof = FileProof(path=path, agent=checked.agent)
    problem = check_recognised(checked.found) if checked.found is not None else None
    if problem is not None and problem.kind == "unrecognised":
        proof.error = ReadError(problem.kind, problem.said)
        return Proved(proof, unrecognised=True)
    try:
        handle = opened(path)
    except SourceError as error:
        proof.error = ReadError(error.kind, error.said)
        return Proved(proof)
    with handle:
        return _prove(checked, proof, handle, options)


def _prove(checked: Checked, proof: FileProof, handle: IO[bytes], options: ReadOptions) -> Proved:
    path = checked.path
    size = os.fstat(handle.fileno()).st_size
    place = place_of(path, subagent=checked.subagent)
    source: Source = handle
    if path.endswith(".zst"):
        proof.compressed = size
        source = Unpacked(handle, path)
    else:
        proof.on_disk = size
        # What is there now is what is checked: a file that grows is no fault.
        options = msgspec.structs.replace(options, stop_at=size)
    if options.max_file_bytes is not None and size > options.max_file_bytes and proof.compressed is None:
        proof.error = ReadError("too_large", f"expected at most {options.max_file_bytes} bytes, found {size}")
        return Proved(proof)
    watch = Watch(source, options.max_record_bytes, _id_keys(checked.agent), document=place.document)
    reader = Reader(watch, checked.agent, options, place)
    try:
        format = reader.format
    except UnknownFormatError:
        return _unrecognised(checked, proof, watch, options)
    except SourceError as error:
        proof.error = ReadError(error.kind, error.said)
        _told(proof, reader.finish())
        return Proved(proof)
    proof.agent = format.name
    gathered = links(_watched(reader, proof), format.tree, format.transaction)
    watch.end()
    _told(proof, reader.finish())
    ids = watch.ids.get(format.tree.id, set()) if format.tree is not None else set()
    proof.relations, open_ = relations(gathered, format.tree, place.stem, known=ids, alike=watch.alike)
    if proof.error is None or proof.error.kind != "corrupt":
        proof.relations += watch.relations({fault.line for fault in proof.faults})
    proof.duplicates = sum(r.count for r in proof.relations if r.kind == "duplicate-id")
    return Proved(proof, open_, array("q", map(hash, ids)))


def _id_keys(agent: str | None) -> set[str]:
    """The keys that may hold a record's id."""
    formats = FORMATS.values() if agent is None else [FORMATS[agent]]
    return {format.tree.id for format in formats if format.tree is not None}


def _watched(reader: Reader, proof: FileProof) -> Iterator[Item]:
    """The reader's items, with the faults and the agent's versions noted on the way, up to a source error."""
    versions = proof.versions
    try:
        for batch in reader.batches():
            for item in batch:
                if item.__class__ is LineFault:
                    proof.faults.append(_fault_line(item))
                elif item.__class__ is Meta:
                    version = item.agent_version
                    if version is not None and version not in versions and len(versions) < _MOST_VERSIONS:
                        versions.append(version)
                yield item
    except SourceError as error:
        proof.error = ReadError(error.kind, error.said)


_MOST_VERSIONS = 32


def _fault_line(fault: LineFault) -> FaultLine:
    sentence = fault.sentence()
    return FaultLine(
        kind=fault.fault.value, line=fault.line, start=fault.start, end=fault.end, recovered=fault.recovered,
        said=sentence.split(f": {fault.fault.value}: ", 1)[-1], path=fault.path, expected=fault.expected,
        found=fault.found,
    )  # fmt: skip


def _told(proof: FileProof, summary: ReadSummary) -> None:
    proof.status = summary.status.value
    proof.lines, proof.records = summary.lines, summary.records
    proof.bytes, proof.bytes_read = summary.bytes, summary.bytes_read
    proof.complete_through, proof.sha256 = summary.complete_through, summary.sha256
    proof.repairs, proof.unknown, proof.ignored = summary.repairs, summary.unknown, summary.ignored
    proof.problems = summary.problems
    if proof.compressed is not None:
        proof.on_disk = summary.bytes_read if proof.error is None else None


def _unrecognised(checked: Checked, proof: FileProof, watch: Watch, options: ReadOptions) -> Proved:
    """No agent's records. A file of nothing but blank lines is nobody's, and read whole all the same."""
    watch.end()
    if watch.blank:
        proved = prove_file(msgspec.structs.replace(checked, agent=next(iter(FORMATS))), options)
        proved.proof.agent = None
        return proved
    proof.error = ReadError("unrecognised", "expected an agent's session, found records of another kind")
    return Proved(proof, unrecognised=not checked.named)


def holds(proof: FileProof) -> bool:
    """Whether nothing is wrong with the file, its relations to others settled."""
    return (
        proof.status == ReadStatus.COMPLETE.value
        and proof.error is None
        and not proof.problems
        and proof.bytes.total() == proof.bytes_read == proof.on_disk
        and all(relation.note for relation in proof.relations)
    )


__all__ = ["CHECK_OPTIONS", "Checked", "FileProof", "Proved", "holds", "prove_file"]
