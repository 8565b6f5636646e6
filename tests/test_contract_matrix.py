"""Format x way: however the bytes arrive, the items, their positions and the summary are the same (CONTRACT 2)."""

import asyncio
import copy
import io
import os
import threading

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reading import CASES, IDS, Read, cut_at, each_byte, fixtures, identity, mutated, parse, pieces, place, plain, same
from turnlog.contract import ReadOptions, ReadStatus
from turnlog.formats import FORMATS
from turnlog.model import KINDS
from turnlog.reader import AsyncReader, Reader, read, read_from

MATRIX = pytest.mark.parametrize("format,path", CASES, ids=IDS)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_fixtures(format):
    assert len(fixtures(format)) >= 3, "a format is held by its fixtures: tests/fixtures/<format>/*.jsonl"


# A seed cannot be made simpler, and trying takes minutes: a failing one is printed as it is.
SEEDED = settings(max_examples=4, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def whole(format, path, **options):
    return parse(format, path.read_bytes(), place=place(path), **options)


def taken(reader):
    with reader:
        items = list(reader)
    summary = reader.finish()
    identity(summary)
    return Read(items, summary)


@MATRIX
def test_byte_by_byte(format, path):
    same(whole(format, path), parse(format, None, each_byte(path.read_bytes()), place(path)))


@MATRIX
@pytest.mark.parametrize("sizes", [(7,), (1, 2, 3, 5, 8, 13), (64,), (1000, 1), (4095,)], ids=str)
def test_odd_pieces(format, path, sizes):
    same(whole(format, path), parse(format, None, pieces(path.read_bytes(), sizes), place(path)))


@MATRIX
def test_a_file(format, path):
    same(whole(format, path), taken(read(path, format, place=place(path))))


@MATRIX
def test_a_file_object(format, path):
    same(whole(format, path), taken(Reader(io.BytesIO(path.read_bytes()), format, ReadOptions(), place(path))))
    if place(path).document:
        return
    named = parse(format, path.read_bytes())
    same(named, taken(read_from(io.BytesIO(path.read_bytes()), format)))


@MATRIX
def test_a_pipe(format, path):
    out, into = os.pipe()
    data = path.read_bytes()

    def write():
        with open(into, "wb", buffering=0) as pipe:
            pipe.writelines(pieces(data, (997,)))

    writer = threading.Thread(target=write)
    writer.start()
    with open(out, "rb", buffering=0) as pipe:
        result = taken(Reader(pipe, format, ReadOptions(), place(path)))
    writer.join()

    same(whole(format, path), result)


@MATRIX
def test_async(format, path):
    class Slow:
        def __init__(self, data):
            self.file = io.BytesIO(data)

        async def read(self, size):
            await asyncio.sleep(0)
            return self.file.read(min(size, 1500))

    async def run(reader):
        items = [item async for item in reader]
        return Read(items, reader.finish())

    expected = whole(format, path)
    same(expected, asyncio.run(run(AsyncReader(read(path, format, place=place(path))))))
    source = Slow(path.read_bytes())
    same(expected, asyncio.run(run(AsyncReader(Reader(source, format, ReadOptions(), place(path)), source))))


@MATRIX
def test_bytes_after_a_sealed_end_change_nothing(format, path):
    data = path.read_bytes()
    for behind in (b'{"type":"user"}\n', b"\xff\xfe\n", b"x"):
        got = parse(format, data + behind, place=place(path), stop_at=len(data))
        same(whole(format, path), got)
        same(whole(format, path), parse(format, None, pieces(data + behind, (13, 1)), place(path), stop_at=len(data)))


@MATRIX
def test_an_appended_record_changes_no_earlier_one(format, path):
    data = path.read_bytes()
    if place(path).document or not data.endswith(b"\n"):
        return
    before, after = whole(format, path), parse(format, data + b"\n" + data, place=place(path))

    assert [plain(i) for i in after.items][: len(before.items)] == [plain(i) for i in before.items]


@MATRIX
def test_a_clean_fixture_ends_with_no_fault_and_nothing_unknown(format, path):
    if ".bad" in path.name:
        return
    result = whole(format, path)

    assert result.faults == []
    assert result.summary.unknown == {}
    assert result.summary.status is ReadStatus.COMPLETE
    assert result.summary.complete_through == result.summary.bytes_read == path.stat().st_size
    if path.read_bytes().endswith(b"\n"):
        assert result.summary.consumed_through == result.summary.bytes_read


@MATRIX
def test_items_come_in_physical_order_with_their_slots(format, path):
    data = path.read_bytes()
    result = whole(format, path)
    last = 0
    for item in result.items:
        assert item.line >= last
        last = item.line
        assert 0 <= item.start < item.end <= len(data)
    slots = [(e.start, e.index) for e in result.events]
    assert len(slots) == len(set(slots)), "two events of one record share a slot"


@MATRIX
def test_include_leaves_out_and_never_renumbers(format, path):
    everything = whole(format, path)
    for kind in sorted({e.kind for e in everything.events} | {"label"}):
        some = whole(format, path, include=frozenset({kind}))
        assert [plain(i) for i in some.items] == [plain(i) for i in everything.items if i.kind in {kind, "fault"}]
        assert some.summary == everything.summary
    assert whole(format, path, include=frozenset(KINDS)).items == everything.items
    assert whole(format, path, include=frozenset()).items == everything.faults


@MATRIX
def test_strict_reading_says_the_same_of_a_clean_fixture(format, path):
    if ".bad" in path.name:
        return
    same(whole(format, path), whole(format, path, repair=False))


@MATRIX
@SEEDED
@given(data=st.data())
def test_any_cut_of_a_damaged_file_gives_the_same(format, path, data):
    """Accidents of every kind; the accounting identity is held inside `parse`."""
    seed = data.draw(st.integers(0, 2**32))
    broken = mutated(path.read_bytes(), seed)
    cuts = cut_at(broken, data.draw(st.lists(st.integers(0, max(1, len(broken))), max_size=12)))
    options = {
        "repair": data.draw(st.booleans()),
        "tail": data.draw(st.sampled_from(["strict", "allow-incomplete"])),
        "max_record_bytes": data.draw(st.sampled_from([None, 300])),
    }

    first = parse(format, broken, place=place(path), **options)
    same(first, parse(format, None, cuts, place(path), **options))
    assert type(first.error) is type(parse(format, None, cuts, place(path), **options).error)


def refusing(*_):
    """A fast decoder that never says yes."""
    raise msgspec.DecodeError


@MATRIX
@SEEDED
@given(seed=st.integers(0, 2**32))
def test_the_reference_decoder_alone_reads_the_same(format, path, seed):
    """The fast way only saves time: without it every record, whole or damaged, says the same."""
    slow = copy.copy(FORMATS[format].schema)
    slow.first = refusing
    only = msgspec.structs.replace(FORMATS[format], schema=slow)
    for data in (path.read_bytes(), mutated(path.read_bytes(), seed)):
        for repair in (True, False):
            same(
                parse(format, data, place=place(path), repair=repair),
                parse(only, data, place=place(path), repair=repair),
            )


@MATRIX
def test_every_prefix_of_a_fixture_is_read_without_a_crash(format, path):
    data = path.read_bytes()
    step = max(1, len(data) // 60)
    for end in range(0, len(data), step):
        result = parse(format, data[:end], place=place(path), tail="allow-incomplete")
        if not place(path).document and ".bad" not in path.name:
            assert result.faults == []
            whole_lines = data[:end].rfind(b"\n") + 1
            assert result.summary.complete_through in {whole_lines, end}


@MATRIX
def test_the_counts_of_a_summary_are_those_of_the_items(format, path):
    result = whole(format, path)
    counted = {}
    for fault in result.faults:
        counted[fault.fault.value] = counted.get(fault.fault.value, 0) + 1

    assert result.summary.faults == counted
    assert result.summary.fault_count == len(result.faults)
    data = path.read_bytes()
    assert result.summary.lines == data.count(b"\n") + (not data.endswith(b"\n"))
    if result.faults:
        assert result.summary.complete_through == min(f.start for f in result.faults)
        assert result.summary.status is not ReadStatus.COMPLETE
    assert msgspec.json.encode(result.summary)
