"""Reading in tests: every fixture, every way bytes can arrive, and items as plain values that can be compared."""

import dataclasses
import datetime as dt
import itertools
import os
import random
from pathlib import Path

import msgspec

from turnlog.contract import Place, ReadOptions
from turnlog.errors import LineFault
from turnlog.formats import FORMATS, place_of
from turnlog.model import told, valued
from turnlog.parser import Parser

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SHARED = Path(os.environ.get("TURNLOG_SHARED") or ROOT.parent / "shared")
FIXTURES = HERE / "fixtures"
GOLDENS = HERE / "goldens"


def fixtures(format):
    """The fixtures of one format. `*.bad.jsonl` may have faults; the others may not."""
    return sorted(path for path in (FIXTURES / format).glob("*.json*") if path.suffix in {".json", ".jsonl"})


CASES = [(format, path) for format in FORMATS for path in fixtures(format)]
IDS = [f"{format}-{path.stem}" for format, path in CASES]


@dataclasses.dataclass
class Read:
    """What a reading gave."""

    items: list
    summary: object

    @property
    def events(self):
        return [item for item in self.items if item.kind != "fault"]

    @property
    def faults(self):
        return [item for item in self.items if item.kind == "fault"]

    def kinds(self):
        return [item.fault.value if item.kind == "fault" else item.kind for item in self.items]


def parse(format, data, cuts=None, place=None, **options):
    """`data` through the push core, cut into pieces. The accounting identity is held on every call."""
    parser = Parser(FORMATS[format] if isinstance(format, str) else format, ReadOptions(**options), place or Place())
    items = []
    for piece in [data] if cuts is None else cuts:
        items += parser.feed(piece)
        identity(parser.summary())
        if parser.error:
            break
    if not parser.error:
        items += parser.close()
    result = Read(items, parser.summary())
    identity(result.summary)
    result.error = parser.error
    return result


def identity(summary):
    """Every byte read is in one class, and the marks are in order."""
    counts = msgspec.structs.asdict(summary.bytes)
    assert all(size >= 0 for size in counts.values()), counts
    assert sum(counts.values()) == summary.bytes.total() == summary.bytes_read, counts
    assert 0 <= summary.complete_through <= summary.bytes_read
    assert 0 <= summary.consumed_through <= summary.bytes_read


def place(path):
    """The place of a fixture, without the folders of this machine."""
    return place_of(path.name)


def each_byte(data):
    return [data[n : n + 1] for n in range(len(data))]


def pieces(data, sizes):
    """`data` in pieces of those sizes, over and over."""
    out, at, n = [], 0, 0
    while at < len(data):
        out.append(data[at : at + sizes[n % len(sizes)]])
        at += sizes[n % len(sizes)]
        n += 1
    return out


def cut_at(data, places):
    """`data` in pieces, cut at those places."""
    marks = [0, *sorted(p for p in places if 0 < p < len(data)), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(marks)]


def plain(item):
    """An item as a JSON value: nothing is lost, absent fields are left out."""
    if isinstance(item, LineFault):
        return {"kind": "fault", **_filled(msgspec.structs.asdict(item), {"recovered": 0})}
    record = msgspec.structs.asdict(item.record)
    where = {name: record.pop(name) for name in ("line", "start", "end")}
    fields = {f.name: f for f in msgspec.structs.fields(type(item))}
    said = {}
    for name in item.__struct_fields__:
        value = getattr(item, name)
        if name in {"record", "index"}:
            continue
        if name == "body":
            said["text"] = told(value)
            if isinstance(value, tuple):
                said["segments"] = [list(part) for part in getattr(item, "segments", [])]
        elif name == "input":
            said["arguments"] = valued(value)
        elif value != fields[name].default or fields[name].default is msgspec.NODEFAULT:
            said[name] = _plain(value)
    return {
        "kind": item.kind,
        "index": item.index,
        **where,
        "record": _filled({k: _plain(v) for k, v in record.items()}, {"sidechain": False, "recovered": False}),
        **_filled(said, {}),
    }


def plain_summary(summary):
    return _plain(summary)


def same(first, second):
    """Two readings gave equal items and equal summaries."""
    assert [plain(i) for i in first.items] == [plain(i) for i in second.items]
    assert first.items == second.items
    assert first.summary == second.summary


def _filled(values, defaults):
    return {k: v for k, v in values.items() if v is not None and (k not in defaults or v != defaults[k])}


def _plain(value, room=30):
    if not room:  # native values may be nested as deep as a reader takes them
        return value
    if isinstance(value, msgspec.Struct):
        return _filled({k: _plain(v, room - 1) for k, v in msgspec.structs.asdict(value).items()}, {})
    if isinstance(value, dt.datetime):
        return value.isoformat()
    if isinstance(value, tuple | list | frozenset):
        return [_plain(v, room - 1) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v, room - 1) for k, v in value.items()}
    return value


def mutated(data, seed):
    """Hostile bytes: `data` with a few accidents, the same for the same seed."""
    rng = random.Random(seed)
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        if not out:
            break
        at = rng.randrange(len(out))
        what = rng.randrange(11)
        if what == 0:
            out[at] = rng.randrange(256)
        elif what == 1:
            del out[at : at + rng.choice((1, 7, 300))]
        elif what == 2:
            out[at:at] = bytes(rng.choice((1, 5, 100)))
        elif what == 3:
            lf = out.find(b"\n", at)
            if lf >= 0:
                del out[lf]
        elif what == 4:
            out[at:at] = rng.choice(SCRAPS)
        elif what == 5:
            del out[at:]
        elif what == 6:
            other = rng.randrange(len(out))
            out[at:at] = out[other : other + rng.randrange(400)]
        elif what == 7:
            colon = out.find(b":", at)
            comma = min((n for n in (out.find(b",", colon), out.find(b"}", colon)) if n >= 0), default=-1)
            if 0 <= colon < comma:
                out[colon + 1 : comma] = rng.choice(VALUES)
        elif what == 8:
            out[at:at] = b"\n"
        elif what == 9:
            out[at : at + 1] = rng.choice((b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":"))
        else:
            quote = out.find(b'"', at)
            if quote >= 0:
                out[quote:quote] = rng.choice((b"\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xff"))
    return bytes(out)


SCRAPS = (
    b"\xef\xbb\xbf",
    b'{"type":"user"}',
    b"[" * 2000,
    b'{"a":' * 700,
    b"NaN",
    b"\xff\xfe",
    b"\r\n",
    b"\n\n \n",
    b'"\\ud83d"',
    b"1e400",
    b"\x00" * 9,
)
VALUES = (
    b"null",
    b"true",
    b"-1",
    b"1e3",
    b"5.0",
    b"1.5",
    b"1e400",
    b"NaN",
    b"-Infinity",
    b'"7"',
    b"[]",
    b"{}",
    b"[null]",
    b'[1,"x",{}]',
    b'{"type":null}',
    b'"\\udc00"',
    b"18446744073709551616",
    b"9" * 40,
    b"9" * 5000,
    b"[" * 600 + b"]" * 600,
)
