"""Damaged lines: what is whole in them is read, and what was wrong is said (CONTRACT 6b), on by default.

Each promise stands beside its strict reading, `repair=False`, where the line is lost.
"""

import json
import time

import pytest

from reading import identity, parse, same
from turnlog.contract import ReadStatus
from turnlog.errors import SourceCorrupt

# The records here are Claude Code's; the mending is the same for every format.
FORMAT = "claude"


def record(text="hello", n=1, **more):
    value = {
        "type": "user",
        "uuid": f"aaaaaaaa-0000-4000-8000-{n:012d}",
        "parentUuid": None,
        "sessionId": "s",
        "message": {"role": "user", "content": text},
        **more,
    }
    return json.dumps(value, ensure_ascii=False).encode()


def answer(text="yes", **usage):
    message = {
        "id": "msg_1",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 1, "output_tokens": 2, **usage},
    }
    return json.dumps({"type": "assistant", "uuid": "u", "sessionId": "s", "message": message}).encode()


GOOD = record("before")
A, B, C = record("one", 1), record("two", 2), record("three", 3)


def read(*lines, end=b"\n", **options):
    return parse(FORMAT, b"\n".join((GOOD, *lines)) + end, **options)


def told(result):
    return [e.text for e in result.events if e.kind == "message"][1:]


def faults(result):
    return [(f.fault.value, f.line, f.recovered) for f in result.faults]


def lost(*lines, kind, line=2, end=b"\n"):
    """Strict: the line is one fault and gives no event."""
    result = read(*lines, end=end, repair=False)
    assert faults(result) == [(kind, line, 0)]
    assert told(result) == []
    assert result.summary.bytes.repaired == 0
    assert result.summary.complete_through == len(GOOD) + 1


# -- whole objects on one line


@pytest.mark.parametrize("between", [b"", b" ", b"\t", b"\0\0", b"\r"], ids=ascii)
def test_whole_records_back_to_back_are_all_read(between):
    result = read(A + between + B + between + C)

    assert faults(result) == [("glued", 2, 3)]
    assert told(result) == ["one", "two", "three"]
    assert result.summary.records == 4
    lost(A + between + B + between + C, kind="invalid_json")


def test_each_recovered_record_has_its_own_byte_range_inside_the_line():
    result = read(A + B)
    start = len(GOOD) + 1
    events = [e for e in result.events if e.line == 2]

    assert {(e.start, e.end) for e in events} == {
        (start, start + len(A)),
        (start + len(A), start + len(A) + len(B)),
    }
    assert all(e.record.recovered for e in events)
    assert (result.faults[0].start, result.faults[0].end) == (start, start + len(A) + len(B) + 1)


def test_a_boundary_inside_a_string_is_no_boundary():
    one = record('a }{ b "}{" \\}{\\ {"type":"user","sessionId":"x"}')

    assert told(read(one)) == ['a }{ b "}{" \\}{\\ {"type":"user","sessionId":"x"}']
    assert faults(read(one)) == []
    assert faults(read(one + one)) == [("glued", 2, 2)]


def test_glued_records_after_a_non_ascii_text_keep_byte_offsets():
    odd = record("ünï 😀 \u2028")
    result = read(odd + B)

    assert [e.start for e in result.events if e.kind == "message"][1:] == [len(GOOD) + 1, len(GOOD) + 1 + len(odd)]


def test_glued_records_in_an_unterminated_last_line_are_read_when_whole():
    assert faults(read(A + B, end=b"")) == [("glued", 2, 2)]


# -- a torn stub, then whole records


@pytest.mark.parametrize("size", range(10, len(C) - 1, 7))
def test_a_whole_record_behind_a_torn_one_is_read(size):
    result = read(C[:size] + A)

    assert faults(result) == [("stub_glued", 2, 1)]
    assert told(result) == ["one"]
    assert {e.start for e in result.events if e.line == 2} == {len(GOOD) + 1 + size}


def test_several_whole_records_behind_a_torn_one_are_read():
    assert faults(read(C[:60] + A + B)) == [("stub_glued", 2, 2)]
    lost(C[:60] + A + B, kind="invalid_json")


def test_a_stub_that_ends_inside_a_string_with_brackets_in_it():
    stub = record('code: {"a": {"type": "user"}} and {"b').replace(b'"b"', b"")[:-8]

    assert told(read(stub + A)) == ["one"]


@pytest.mark.parametrize(
    "nested",
    [
        {"type": "text", "text": "x"},
        {"type": "tool_result", "tool_use_id": "t", "content": "x"},
        {"input_tokens": 1, "output_tokens": 2},
        {"type": "result", "result": "x"},
        {"type": "user", "message": {"role": "user", "content": "x"}},
        {"type": "assistant", "uuid": "u", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "assistant"}},
    ],
    ids=["text", "tool_result", "usage", "result", "message", "progress"],
)
def test_an_object_nested_in_the_stub_is_never_a_record(nested):
    stub = b'{"type":"assistant","uuid":"u","sessionId":"s","message":{"content":['
    result = read(stub + json.dumps(nested).encode())

    assert faults(result) == [("invalid_json", 2, 0)]
    assert told(result) == []
    assert told(read(stub + json.dumps(nested).encode() + A)) == ["one"]


def test_an_unterminated_last_record_is_never_searched():
    cut = record('{"type":"user","sessionId":"s","message":{"role":"user","content":"inner"}}')[:-3]
    raw = C[:60] + A[:-1]
    for tail in (cut, raw):
        assert faults(read(tail, end=b"")) in ([("truncated", 2, 0)], [("invalid_json", 2, 0)])
        assert told(read(tail, end=b"")) == []
    assert faults(read(C[:60] + A, end=b"")) == [("invalid_json", 2, 0)]


def test_a_torn_line_with_nothing_whole_behind_it_is_lost():
    for end in range(1, len(A) - 1, 9):
        assert faults(read(A[:end])) == [("invalid_json", 2, 0)]


def test_a_whole_record_before_a_torn_one_is_read():
    assert faults(read(A + B[:50])) == [("stub_glued", 2, 1)]
    assert told(read(A + B[:50])) == ["one"]


# -- NUL bytes


@pytest.mark.parametrize("before,behind", [(3, 0), (0, 3), (4096, 4096), (1, 1)])
def test_a_record_with_nul_padding_is_read(before, behind):
    line = b"\0" * before + A + b"\0" * behind
    result = read(line)

    assert faults(result) == [("nul_padding", 2, 1)]
    assert told(result) == ["one"]
    assert all(e.record.recovered for e in result.events if e.line == 2)
    lost(line, kind="invalid_json")


def test_padding_before_a_carriage_return_is_padding():
    assert faults(read(A + b"\0\0\r")) == [("nul_padding", 2, 1)]


@pytest.mark.parametrize("block", [b"\0", b"\0" * 5000, b"\0 \0", b"\0\0\r"], ids=["one", "many", "spaces", "cr"])
def test_a_line_of_nothing_but_nul_is_a_block(block):
    assert faults(read(block)) == [("nul_block", 2, 0)]
    assert faults(read(block, end=b"")) == [("nul_block", 2, 0)]
    assert read(block).summary.bytes.faulty == len(block) + 1
    lost(block, kind="invalid_json")


def test_nul_at_the_end_of_a_crashed_file_is_no_tail():
    result = read(A[:50] + b"\0" * 100, end=b"", tail="allow-incomplete")

    assert faults(result) == [("invalid_json", 2, 0)]
    assert result.summary.status is ReadStatus.COMPLETE_WITH_FAULTS


def test_nul_padding_around_glued_records():
    assert faults(read(b"\0\0" + A + B + b"\0")) == [("glued", 2, 2)]


# -- a byte order mark


def test_a_byte_order_mark_is_a_repair_and_no_fault():
    result = parse(FORMAT, b"\xef\xbb\xbf" + A + b"\n" + B + b"\n")

    assert result.faults == []
    assert result.summary.status is ReadStatus.COMPLETE
    assert result.summary.repairs == {"byte_order_mark": 1}
    assert result.summary.bytes.repaired == len(A) + 4
    assert result.events[0].start == 0
    assert not result.events[0].record.recovered
    assert result.summary.complete_through == result.summary.bytes_read


def test_a_byte_order_mark_in_the_middle_is_one_too():
    assert faults(read(b"\xef\xbb\xbf" + A)) == []
    lost(b"\xef\xbb\xbf" + A, kind="invalid_json")


def test_a_byte_order_mark_before_nul_is_no_padding():
    assert faults(read(b"\xef\xbb\xbf" + A + b"\0")) == [("nul_padding", 2, 1)]


def test_a_cut_tail_behind_a_byte_order_mark_is_a_cut_tail():
    result = parse(FORMAT, b"\xef\xbb\xbf" + A[:40], tail="allow-incomplete")

    assert result.summary.status is ReadStatus.INCOMPLETE_TAIL


# -- numbers


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_that_is_not_finite_leaves_its_value_unknown(number):
    line = answer(input_tokens="#").replace(b'"#"', number.encode())
    result = read(line)

    assert faults(result) == [("non_finite", 2, 1)]
    assert result.faults[0].path == "$.message.usage.input_tokens"
    usage = next(e for e in result.events if e.kind == "usage")
    assert usage.counts.input is None
    assert usage.counts.output == 2
    lost(line, kind="non_finite")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_bare_word_in_a_field_that_nobody_reads_is_said_and_the_record_read(number):
    line = A[:-1] + f',"x":[{number}]}}'.encode()

    assert faults(read(line)) == [("non_finite", 2, 1)]
    assert told(read(line)) == ["one"]
    lost(line, kind="non_finite")


def test_a_number_out_of_range_in_a_field_that_nobody_reads_is_not_looked_at():
    line = A[:-1] + b',"x":1e400}'

    assert faults(read(line)) == faults(read(line, repair=False)) == []


@pytest.mark.parametrize("number,count", [("1e3", 1000), ("5.0", 5)])
def test_a_whole_number_written_otherwise_is_that_integer(number, count):
    line = answer(input_tokens="#").replace(b'"#"', number.encode())
    result = read(line)

    assert result.faults == []
    assert result.summary.status is ReadStatus.COMPLETE
    assert result.summary.repairs == {"whole_number": 1}
    assert next(e for e in result.events if e.kind == "usage").counts.input == count
    lost(line, kind="invalid_field")


# -- fields of the wrong type


@pytest.mark.parametrize("value", ["-1", "1.5", "true", '"7"', "[1]", "{}", "18446744073709551616", "9" * 5000])
def test_a_count_of_the_wrong_kind_is_unknown_and_the_rest_is_read(value):
    line = answer(input_tokens="#").replace(b'"#"', value.encode())
    result = read(line)

    assert faults(result) == [("invalid_field", 2, 1)]
    assert result.faults[0].path == "$.message.usage.input_tokens"
    assert value not in result.faults[0].sentence()
    assert told(result) == ["yes"]
    assert next(e for e in result.events if e.kind == "usage").counts.input is None
    assert result.summary.bytes.repaired == len(line) + 1
    lost(line, kind="invalid_field")


def test_every_wrong_field_of_a_record_is_said():
    line = answer(input_tokens=-1, output_tokens="x").replace(b'"u"', b"5")

    assert sorted(f.path for f in read(line).faults) == [
        "$.message.usage.input_tokens",
        "$.message.usage.output_tokens",
        "$.uuid",
    ]
    lost(line, kind="invalid_field")


@pytest.mark.parametrize(
    "old,new",
    [
        (b'"s"', b"7"),
        (b'"one"', b'[{"type":"text","text":5}]'),
        (b'"one"', b'["x",{"type":"text","text":"y"}]'),
        (b'"one"', b"[null]"),
        (b'"one"', b'[{"text":"x"}]'),
        (b'"one"', b'[{"type":null}]'),
        (b'"one"', b'[{"type":"tool_result","content":[1,null,{}]}]'),
        (b'"one"', b'[{"type":"tool_result","content":{"type":7}}]'),
        (b'"one"', b'[{"type":"image","source":{"data":null}}]'),
        (b'"one"', b"7"),
        (b'"one"', b'[{"type":"text","text":null},{"type":"text"}]'),
        (b'"type"', b'"timestamp":"yesterday","type"'),
        (b'"type"', b'"timestamp":false,"type"'),
        (b'"type"', b'"isSidechain":"no","type"'),
        (b'"role": "user"', b'"role":3'),
    ],
)
def test_a_wrong_type_anywhere_leaves_the_record_readable(old, new):
    assert old in A
    result = read(A.replace(old, new, 1))

    assert [e.kind for e in result.events if e.line == 2].count("message") == 1
    assert all(f.recovered == 1 for f in result.faults)


@pytest.mark.parametrize(
    "line,kind",
    [
        (b"{}", "missing_field"),
        (b'{"type":null}', "invalid_field"),
        (b'{"type":5}', "invalid_field"),
        (b'{"type":"user"}', "missing_field"),
        (b'{"type":"user","message":"x"}', "invalid_field"),
        (b'{"type":"user","message":[]}', "invalid_field"),
    ],
)
def test_a_record_about_which_nothing_can_be_said_is_lost(line, kind):
    assert faults(read(line)) == [(kind, 2, 0)]
    assert read(line).summary.bytes.faulty == len(line) + 1
    lost(line, kind=kind)


# -- bytes that are no UTF-8


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\xed\xa0\xbd\xed\xb8\x80", b"\xc0\x80", b"\xf5"], ids=repr)
def test_a_line_with_bytes_that_are_no_utf8_is_read_with_marks_in_their_place(bad):
    line = A.replace(b"one", b"o" + bad + b"e")
    result = read(line)

    assert faults(result) == [("invalid_utf8", 2, 1)]
    assert told(result)[0].strip("oe") == "�" * len(told(result)[0].strip("oe"))
    lost(line, kind="invalid_utf8")


def test_bytes_that_are_no_utf8_in_a_field_that_nobody_reads_are_said_too():
    line = A[:-1] + b',"x":"\xff"}'

    assert faults(read(line)) == [("invalid_utf8", 2, 1)]
    assert faults(read(line, B)) == [("invalid_utf8", 2, 1)]
    lost(line, kind="invalid_utf8")


def test_bytes_that_are_no_utf8_and_no_json_are_lost():
    assert faults(read(b"\xff\xfe\xfd")) == [("invalid_utf8", 2, 0)]


# -- the statuses


def test_a_source_with_faults_is_complete_with_faults_and_its_mark_frozen():
    result = read(A + B, C)

    assert result.summary.status is ReadStatus.COMPLETE_WITH_FAULTS
    assert result.summary.complete_through == len(GOOD) + 1
    assert result.summary.consumed_through == result.summary.bytes_read


def test_bytes_of_a_mended_line_are_repaired_ones():
    result = read(A + B)

    assert result.summary.bytes.repaired == len(A + B) + 1
    assert result.summary.bytes.decoded == len(GOOD) + 1


# -- files that are no JSON Lines


PRETTY = json.dumps([json.loads(A)] * 30, indent=2)

STRANGERS = {
    "utf-16 with a mark": ((A + b"\n" + B + b"\n").decode().encode("utf-16"), "UTF-16"),
    "utf-16 without one": ((A + b"\n" + B + b"\n").decode().encode("utf-16-le"), "UTF-16"),
    "utf-16 of many lines": (("\n".join([A.decode()] * 200)).encode("utf-16-be"), "UTF-16"),
    "a pretty-printed document": (json.dumps(json.loads(A), indent=2).encode(), "document"),
    "a long pretty-printed document": (json.dumps({str(n): n for n in range(500)}, indent=1).encode(), "document"),
    "an array over many lines": (PRETTY.encode(), "array"),
    "an array, a record a line": (b"[" + b",\n".join([A] * 5) + b"]", "array"),
    "an array, brackets on their own lines": (b"[\n" + b",\n".join([A] * 90) + b"\n]\n", "array"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(range(256)) * 4, "gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(range(256)) * 4, "zstd"),
    "text of many lines": (b"just some notes\n" * 100, "no whole JSON object"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_a_file_that_is_no_json_lines_is_one_source_error(name):
    data, said = STRANGERS[name]
    result = parse(FORMAT, data)

    assert isinstance(result.error, SourceCorrupt)
    assert said in str(result.error)
    assert result.items == []
    assert result.summary.faults == {}
    assert result.summary.status is ReadStatus.FAILED
    assert result.summary.complete_through == 0
    again = parse(FORMAT, None, [data[n : n + 1] for n in range(len(data))])
    same(result, again)


def test_strict_reading_takes_every_line_as_it_comes():
    data, _ = STRANGERS["text of many lines"]
    result = parse(FORMAT, data, repair=False)

    assert result.error is None
    assert result.summary.faults == {"invalid_json": 100}


@pytest.mark.parametrize("lines", [1, 5, 63])
def test_rubbish_before_the_first_record_is_faults_and_the_rest_is_read(lines):
    result = parse(FORMAT, b"nope\n" * lines + A + b"\n")

    assert result.error is None
    assert result.kinds() == ["invalid_json"] * lines + ["meta", "message"]
    assert [f.line for f in result.faults] == list(range(1, lines + 1))


def test_blank_lines_and_nul_blocks_are_no_sign_of_another_file():
    assert parse(FORMAT, b"\n" * 1000 + A).kinds() == ["meta", "message"]
    assert parse(FORMAT, (b"\0" * 10 + b"\n") * 100 + A).error is None


def test_a_short_file_of_rubbish_is_faults():
    assert parse(FORMAT, b"nope\nnope\n").kinds() == ["invalid_json"] * 2


def test_a_first_line_over_the_limit_is_no_sign_of_another_file():
    result = parse(FORMAT, (b"x" * 500 + b"\n") * 70 + A + b"\n", max_record_bytes=400)

    assert result.error is None
    assert result.summary.faults == {"too_long": 70}


# -- work is bounded


HOSTILE = {
    "brackets": b'{"a":' * 40_000,
    "brackets and a record": b'{"a":' * 40_000 + A,
    "records without an end": b'{"type":"user","sessionId":"s",' * 6_000,
    "objects that are no records": b"x" + b'{"a":1}' * 30_000,
    "nested ones that are whole": b'{"b":' + b'{"a":' * 300 + b"1" + b"}" * 300 + b'{"c":1}' * 20_000,
    "a long open string behind open brackets": b'{"a":' * 800 + b'"' + b"x" * 3_000_000,
    "open brackets in strings": b'{"' * 100_000,
    "empty objects": b"{}" * 30_000,
    "list brackets": b"[" * 200_000,
    "NUL and brackets": b'\0{"a":' * 40_000,
    "quotes": b'"' * 200_000,
    "bad bytes": b'{"a":"\xff' * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("end", [b"\n", b""], ids=["terminated", "tail"])
def test_a_hostile_line_costs_bounded_work(name, end):
    began = time.process_time()
    result = read(HOSTILE[name], end=end)

    assert time.process_time() - began < 5, "seconds for a line of 200 kB"
    assert len(result.faults) >= 1
    identity(result.summary)
