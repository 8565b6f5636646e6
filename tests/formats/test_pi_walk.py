"""The walk of Pi's documented reader program, held to what that program printed (tests/fixtures/pi/walk).

Beside each `NAME.jsonl` lies `NAME.txt`, the program's own output under node 20, 22 and 24, which agree; where it ended
with an exception, `NAME.error` names it and the text is what came before.
"""

import io
import tracemalloc
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import turnlog
from reading import FIXTURES, each_byte, identity, pieces
from turnlog.contract import ReadStatus
from turnlog.errors import FaultKind, LineFault, SourceCorrupt
from turnlog.formats.base import WalkedLine
from turnlog.formats.pi.program import LINES
from turnlog.formats.pi.walk import MOST_RUNS, PiWalk
from turnlog.raw import RawRecord
from turnlog.render.walk import text_bytes

FOLDER = FIXTURES / "pi" / "walk"
FILES = sorted(FOLDER.glob("*.jsonl"))
STOPS = [path for path in FILES if path.with_suffix(".error").exists()]
SAYS = {
    "SyntaxError": {"invalid_json", "truncated"},
    "TypeError": {"not_an_object", "missing_field", "invalid_field"},
    "RangeError": {"too_deep"},
}
HEADER = b'{"type":"session","version":3,"id":"s"}'
LABEL = b'{"type":"label","id":"%d","label":"x","targetId":"y"}'


class Given:
    """A source that gives its bytes in these pieces, and then perhaps fails."""

    name = "given.jsonl"

    def __init__(self, cuts, error=None):
        self.cuts = list(cuts)
        self.error = error

    def read(self, size=-1):
        if self.cuts:
            return self.cuts.pop(0)
        if self.error is not None:
            raise self.error
        return b""


def walked(source, **options):
    """(lines and faults, summary) of a path, of bytes, or of pieces of them. The accounting is held on every call."""
    source = io.BytesIO(source) if isinstance(source, bytes) else Given(source) if isinstance(source, list) else source
    with turnlog.walk(source, **options) as reader:
        items = list(reader)
    summary = reader.finish()
    identity(summary)
    assert summary.bytes.pending == 0
    assert summary.faults == {
        kind: [item.fault for item in items if isinstance(item, LineFault)].count(kind) for kind in summary.faults
    }
    return items, summary


def texts(items):
    return [item.text for item in items if isinstance(item, WalkedLine)]


def faults(items):
    return [(item.line, item.fault.value) for item in items if isinstance(item, LineFault)]


def printed(items):
    return b"".join(text_bytes(text) for text in texts(items))


def golden(path):
    return path.with_suffix(".txt").read_bytes()


@pytest.mark.parametrize("path", [p for p in FILES if p not in STOPS], ids=lambda path: path.stem)
def test_the_output_is_the_programs_byte_for_byte(path):
    items, summary = walked(path)

    assert printed(items) == golden(path)
    assert faults(items) == []
    assert summary.status is ReadStatus.COMPLETE
    assert summary.complete_through == summary.bytes_read == path.stat().st_size


@pytest.mark.parametrize("path", STOPS, ids=lambda path: path.stem)
def test_where_the_program_stops_its_output_is_a_prefix_and_a_fault_stands_there(path):
    items, summary = walked(path)
    error = path.with_suffix(".error").read_text().strip()
    at = next(n for n, item in enumerate(items) if isinstance(item, LineFault))

    assert printed(items[:at]) == golden(path)
    assert items[at].fault.value in SAYS[error]
    assert summary.status is ReadStatus.COMPLETE_WITH_FAULTS


# Every line at which the program would stop if it came that far, and what is said of it.
FAULTS = {
    "stops-empty": [(1, "invalid_json")],
    "stops-white": [(1, "invalid_json")],
    "stops-blank": [(2, "invalid_json"), (4, "invalid_json"), (5, "invalid_json")],
    "stops-not-ascii-blank": [(3, "invalid_json"), (5, "invalid_json"), (6, "invalid_json")],
    "stops-broken": [(3, "invalid_json"), *((n, "invalid_json") for n in range(5, 20))],
    "stops-cut": [(3, "truncated")],
    "stops-null": [(2, "not_an_object")],
    "stops-message": [(2, "missing_field"), (4, "invalid_field")],
    "stops-usage": [(2, "missing_field"), (4, "invalid_field")],
    "stops-text": [(2, "invalid_field"), (4, "invalid_field"), (5, "invalid_field"), (6, "invalid_field")],
    "stops-nul": [(3, "invalid_json"), (4, "invalid_json")],
}


def test_there_is_a_fixture_for_every_way_to_stop():
    assert {path.stem for path in STOPS} == set(FAULTS)
    assert {path.with_suffix(".error").read_text().strip() for path in STOPS} == {"SyntaxError", "TypeError"}


@pytest.mark.parametrize("path", STOPS, ids=lambda path: path.stem)
def test_the_walk_goes_on_behind_a_fault(path):
    items, summary = walked(path)
    data = path.read_bytes()

    assert faults(items) == FAULTS[path.stem]
    # Every other line is printed as if the faulty ones were not there.
    bad = {line for line, _ in FAULTS[path.stem]}
    kept = b"\n".join(line for n, line in enumerate(data.split(b"\n"), 1) if n not in bad)
    if kept.strip() and path.stem != "stops-white":
        rest, whole = walked(kept)
        assert texts(items) == texts(rest)
        assert whole.status is ReadStatus.COMPLETE
    assert summary.consumed_through == data.rfind(b"\n") + 1 or path.stem == "stops-white"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_walk_is_the_same_for_any_cut_of_the_bytes(path):
    data = path.read_bytes()
    whole = walked(data)

    assert walked(list(each_byte(data))) == whole
    assert walked(list(pieces(data, (3, 50)))) == whole
    assert walked(path) == whole


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_points_at_the_record_it_is_of(path):
    data = path.read_bytes()
    lines = data.split(b"\n")
    for item in walked(path)[0]:
        record = data[item.start : item.end]
        if path.stem not in {"stops-empty", "stops-white"}:
            assert record.removesuffix(b"\n") == lines[item.line - 1]
            assert item.start == sum(len(line) + 1 for line in lines[: item.line - 1])


def test_every_type_the_program_knows_is_in_the_fixtures():
    shown = {
        line.partition('"type":"')[2].partition('"')[0] for line in (FOLDER / "types.jsonl").read_text().split("\n")
    }

    assert shown >= set(LINES)


def test_types_the_program_does_not_know_print_nothing_and_are_counted():
    items, summary = walked(FOLDER / "types.jsonl")

    assert len(texts(items)) == 11
    assert summary.unknown == {"session_info": 1, "context_edit": 1, "Message": 1, "<no type>": 10}
    assert summary.records == 24


def test_native_records_are_shown_and_nothing_is_migrated():
    items, _ = walked(FIXTURES / "pi" / "v1.jsonl")

    assert texts(items)[0].startswith("Session v1: ")
    assert all(text.startswith("[undefined] ") for text in texts(items)[1:])


def test_bytes_that_are_no_utf8_are_read_and_counted():
    _, summary = walked(FOLDER / "utf8.jsonl")

    assert summary.repairs == {"invalid_utf8": 12}


# -- the ends of the file


WHITE = "\t\n\v\f\r \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NOT_WHITE = "\x00\x1c\x1f\x85\u180e\u200b\u200c\u2060\ufffe"


@pytest.mark.parametrize("char", WHITE, ids=lambda char: f"{ord(char):04x}")
def test_white_space_at_the_ends_is_no_line_and_no_fault(char):
    space = char.encode()
    items, summary = walked(space + b"\n" + space * 2 + HEADER + space + b"\n" + space + b"\n\n" + space)

    assert texts(items) == ["Session v3: s"]
    assert faults(items) == []
    assert summary.status is ReadStatus.COMPLETE


@pytest.mark.parametrize("char", NOT_WHITE, ids=lambda char: f"{ord(char):04x}")
def test_what_trim_leaves_at_the_ends_is_a_fault(char):
    mark = char.encode()

    assert faults(walked(mark + HEADER + b"\n")[0]) == [(1, "invalid_json")]
    assert faults(walked(HEADER + mark + b"\n")[0]) == [(1, "invalid_json")]
    assert faults(walked(HEADER + b"\n" + mark)[0]) == [(2, "invalid_json")]


def test_white_space_that_json_has_not_is_forgiven_at_the_end_of_the_last_line_only():
    space = "\u00a0".encode()
    items, _ = walked(HEADER + b"\n" + LABEL % 1 + space + b"\n" + LABEL % 2 + space + b"\r\n \n")

    assert texts(items) == ["Session v3: s", '[2] Label "x" on y']
    assert faults(items) == [(2, "invalid_json")]


def test_a_file_of_white_space_is_one_fault_over_all_of_it():
    for data in (b"", b"\n", b" \n\r\n\t", "\ufeff\n\u00a0".encode()):
        items, summary = walked(data)

        assert [(item.line, item.start, item.end) for item in items] == [(1, 0, len(data))]
        assert summary.complete_through == 0
        assert summary.bytes.faulty == len(data)


def test_blank_lines_at_the_end_are_not_told_before_something_follows():
    walk = PiWalk(plain=False)
    at = 0

    def take(data, line):
        nonlocal at
        start, at = at, at + len(data)
        return list(walk.take(RawRecord(start, at, line, data, True)))

    assert len(take(HEADER + b"\n", 1)) == 1
    assert take(b"\n", 2) == take(b"\n", 3) == take(b" \n", 4) == []
    after = take(LABEL % 1 + b"\n", 5)
    assert [item.line for item in after] == [2, 3, 4, 5]
    assert take(b"\n", 6) == []
    assert list(walk.end(whole=True)) == []
    assert walk.summary.bytes.blank == 1


def test_what_a_live_process_wrote_is_told_at_once():
    source = Given([HEADER + b"\n", LABEL % 1 + b"\n" + LABEL % 2])
    with turnlog.walk(source) as reader:
        items = iter(reader)

        assert next(items).text == "Session v3: s"
        assert len(source.cuts) == 1
        assert next(items).line == 2
        assert len(source.cuts) == 0


def test_a_flood_of_blank_lines_is_held_in_little_space():
    walk = PiWalk(plain=False)
    list(walk.take(RawRecord(0, 3, 1, b"{}\n", True)))
    at, told = 3, []
    for line in range(2, 4 * MOST_RUNS):
        data = b" " * (line % 2) + b"\n"
        told += walk.take(RawRecord(at, at + len(data), line, data, True))
        at += len(data)
        assert len(walk._runs) <= MOST_RUNS + 1

    assert {item.fault for item in told} == {FaultKind.INVALID_JSON}
    told += walk.take(RawRecord(at, at + 3, 4 * MOST_RUNS, b"{}\n", True))
    assert [item.line for item in told] == list(range(2, 4 * MOST_RUNS))


# -- limits and failing sources


def test_a_record_over_the_limit_is_a_fault_and_the_next_one_is_read():
    long = b'{"type":"label","label":"' + b"x" * 500 + b'"}\n'
    data = HEADER + b"\n" + long + LABEL % 1 + b"\n"
    items, summary = walked(data, max_record_bytes=200)

    assert [item.kind for item in items] == ["line", "fault", "line"]
    assert (items[1].fault, items[1].start, items[1].end) == (FaultKind.TOO_LONG, 40, 40 + len(long))
    assert summary.bytes.faulty == len(long)


def test_depth_is_a_fault_where_it_would_be_printed_and_nowhere_else():
    deep = b"[" * 100_000 + b"]" * 100_000
    shown = b'{"type":"message","id":"d","message":{"role":"u","content":' + deep + b"}}\n"
    joined = b'{"type":"custom_message","id":"d","customType":"t","content":' + deep + b"}\n"
    aside = b'{"type":"label","id":"d","label":"x","targetId":"y","deep":' + deep + b"}\n"
    items, _ = walked(shown + joined + aside + b'{"type":"new","deep":' + deep + b"}\n" + aside)

    assert faults(items) == [(1, "too_deep"), (2, "too_deep")]
    assert [item.path for item in items[:2]] == ["$.message.content", "$.content"]
    assert texts(items) == ['[d] Label "x" on y'] * 2


def test_a_failing_source_gives_what_there_was_and_then_its_error():
    held = LABEL % 1 + "\u00a0".encode() + b"\n"
    source = Given([HEADER + b"\n" + held + b"\n\n"], SourceCorrupt("x", "broken"))
    items = []
    with turnlog.walk(source) as reader:
        said = iter(reader)
        items += [next(said), next(said)]
        with pytest.raises(SourceCorrupt):
            next(said)
    summary = reader.finish()

    assert [item.kind for item in items] == ["line", "fault"]
    assert summary.status is ReadStatus.FAILED
    identity(summary)
    assert summary.bytes.pending == 0


def test_stopping_early_is_never_complete():
    with turnlog.walk(FOLDER / "types.jsonl") as reader:
        next(iter(reader))
    summary = reader.finish()

    identity(summary)
    assert summary.status is ReadStatus.STOPPED_EARLY
    assert summary.bytes.pending > 0
    assert summary.complete_through == summary.bytes.decoded

    with turnlog.walk(Given([HEADER + b"\n", LABEL % 1])) as reader:
        next(iter(reader))

    assert reader.finish().status is ReadStatus.STOPPED_EARLY


def test_no_sentence_of_a_fault_holds_text_of_the_session():
    for path in STOPS:
        for item in walked(path)[0]:
            if isinstance(item, LineFault):
                assert set(item.sentence("x").split()).isdisjoint({"not", "json", "inside", "hello"})


@given(st.sampled_from(FILES), st.integers(0, 10_000), st.binary(max_size=6), st.integers(0, 6))
def test_no_bytes_crash_the_walk_and_every_one_is_accounted_for(path, at, put_in, left_out):
    data = path.read_bytes()
    at = min(at, len(data))
    items, _ = walked(data[:at] + put_in + data[at + left_out :])

    assert [item.start for item in items] == sorted(item.start for item in items)


# -- memory


MIB = 1 << 20
HEAD = b'{"type":"message","id":"m","message":{"role":"user","content":[{"type":"text","text":"'
FOOT = b'"}]}}\n'


def peak(parts):
    """(MiB at the peak of walking these pieces, how many lines and faults there were)."""
    source = Given([])
    source.read = lambda size=-1: next(parts, b"")
    tracemalloc.start()
    try:
        with turnlog.walk(source, max_record_bytes=64 * MIB, max_file_bytes=None) as reader:
            kinds = Counter(item.kind for item in reader)
        return tracemalloc.get_traced_memory()[1] / MIB, kinds
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_a_file_of_any_size_is_walked_in_32_mib():
    record = HEAD + b"x" * 200_000 + FOOT
    top, kinds = peak(record for _ in range(300))

    assert kinds == {"line": 300}
    assert top < 32


@pytest.mark.slow
@pytest.mark.parametrize(
    "filling, foot",
    [
        (b"x" * 64, FOOT),
        ("\u00e9\U0001f600".encode(), FOOT),
        (b"x" * 62 + rb"\n", FOOT),
        (b"x" * 64, rb"\ud83d" + FOOT),
        (b"x" * 64, FOOT.rstrip()),
        (b"x" * 64, FOOT.replace(b"}]", b"}")),
        (b"x" * 64, FOOT.replace(b"\n", "\u00a0\n".encode())),
    ],
    ids=["ascii", "emoji", "escapes", "lone surrogate", "unterminated", "no json", "held"],
)
def test_memory_is_at_most_six_times_a_long_record(filling, foot):
    size = 16 * MIB
    block = filling * (65536 // len(filling))
    parts = [HEAD, *[block] * (size // len(block)), foot]
    top, kinds = peak(iter(parts))

    assert sum(kinds.values()) == 1
    assert top < 6 * size / MIB


# -- for people


def test_plain_says_what_is_absent_and_writes_nested_values_as_json():
    lines = [
        b'{"type":"label","id":"a","targetId":"b"}',
        b'{"type":"custom_message","id":"a","customType":"t","content":[{"type":"text","text":"hi"},5.0]}',
        b'{"type":"custom","id":"a","customType":{"toString":1}}',
        b'{"type":"message","id":"a","message":{"content":null}}',
        b'{"type":"session"}',
        b'{"type":"model_change","id":null,"provider":"undefined","modelId":["m"]}',
    ]

    assert texts(walked(b"\n".join(lines), plain=True)[0]) == [
        '[a] Label "(none)" on b',
        '[a] Extension message (t): [{"type":"text","text":"hi"},5]',
        '[a] Custom ({"toString":1}): (none)',
        "[a] (none): null",
        "Session v1: (none)",
        '[null] Model: undefined/["m"]',
    ]


def test_plain_is_the_programs_text_where_that_says_something():
    for name in ("types", "numbers", "strings", "keys", "utf8"):
        assert printed(walked(FOLDER / f"{name}.jsonl", plain=True)[0]) == golden(FOLDER / f"{name}.jsonl")


def test_plain_goes_on_behind_the_same_missing_parts():
    for name in ("stops-message", "stops-usage", "stops-null", "stops-broken", "stops-blank"):
        assert faults(walked(FOLDER / f"{name}.jsonl", plain=True)[0]) == FAULTS[name]
