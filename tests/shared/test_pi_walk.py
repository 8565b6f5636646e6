"""The walk against the documented reader program: its output over the real files, and the program itself where node is.

The program is taken from the document that the project keeps beside itself; TURNLOG_NODE names the node that runs it, else
`node` is looked for on PATH. It is run as it stands over every session file, and its own loop, made to go on behind an
exception, over generated lines that try each corner of JavaScript.
"""

import json
import os
import random
import shutil
import struct
import subprocess
from collections import Counter

import pytest

import turnlog
from reading import FIXTURES, SHARED
from turnlog.errors import LineFault
from turnlog.render.walk import text_bytes

pytestmark = pytest.mark.shared

FOLDER = SHARED / "real" / "pi"
EXPECTED = sorted(FOLDER.rglob("*.expected.txt")) if FOLDER.is_dir() else []
NODE = os.environ.get("TURNLOG_NODE") or shutil.which("node")
NO_NODE = "no node on PATH (TURNLOG_NODE says where it is): the program itself was not run"
with_node = pytest.mark.skipif(not NODE, reason=NO_NODE)
SECONDS = 120
SAYS = {
    "SyntaxError": {"invalid_json", "truncated"},
    "TypeError": {"not_an_object", "missing_field", "invalid_field"},
    "RangeError": {"too_deep"},
}

# The program's own loop over many files in one process, with each line's exception caught.
LOOP = """
import { readFileSync } from "fs";
const source = readFileSync(process.argv[2], "utf8")
  .replace(/^import .*$/m, "").replace('process.argv[2] ?? "session.jsonl"', "path");
const at = source.indexOf("for (const line of lines) {") + "for (const line of lines) {".length;
const run = new Function("readFileSync", "path", "console", `${source.slice(0, at)} place.line++; try {
${source.slice(at, source.lastIndexOf("}"))} } catch (e) { errors.push([place.line, e.name]); } }`
  .replace("const lines", "const errors = [], place = { line: 0 }; const lines") + "; return errors;");
for (const path of readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const said = [];
  const errors = run(readFileSync, path, { log: (text) => said.push(Buffer.from(text + "\\n").toString("hex")) });
  console.log(JSON.stringify([said, errors]));
}
"""


def walked(path):
    """(output, faults, items before the first fault) of a file."""
    with turnlog.walk(path, max_file_bytes=None) as reader:
        items = list(reader)
    summary = reader.finish()
    assert summary.bytes.total() == summary.bytes_read == path.stat().st_size
    return (
        [text_bytes(item.text) for item in items if item.kind == "line"],
        [i for i in items if i.kind == "fault"],
        items,
    )


def until_fault(items):
    at = next((n for n, item in enumerate(items) if isinstance(item, LineFault)), len(items))
    return b"".join(text_bytes(item.text) for item in items[:at])


def test_there_are_expected_outputs_of_every_kind_of_file():
    assert len(EXPECTED) >= 75
    assert sum(path.with_suffix(".rc").exists() for path in EXPECTED) >= 5


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_the_output_equals_the_expected_one(expected):
    lines, faults, items = walked(expected.with_name(expected.name.replace(".expected.txt", ".jsonl")))
    crash = expected.with_suffix(".rc")

    if crash.exists():
        error = crash.read_text(encoding="utf-8").splitlines()[1].partition(":")[0]
        assert until_fault(items) == expected.read_bytes()
        assert faults[0].fault.value in SAYS[error]
    else:
        assert b"".join(lines) == expected.read_bytes()
        assert faults == []


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The documented program as a file."""
    (document,) = (SHARED / "seeds").glob("000*.txt")
    text = document.read_text(encoding="utf-8")
    begin = text.index("import { readFileSync }")
    path = tmp_path_factory.mktemp("program") / "read-session.mjs"
    path.write_text(text[begin : text.index("\n}\n", begin) + 3], encoding="utf-8")
    return path


def ran(program, path):
    done = subprocess.run([NODE, program, path], capture_output=True, check=False, timeout=SECONDS)
    return done.returncode, done.stdout


@with_node
@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((FIXTURES / "pi" / "walk").glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_fixtures_hold_what_the_program_prints_today(program, path):
    code, out = ran(program, path)

    assert out == path.with_suffix(".txt").read_bytes()
    assert code == path.with_suffix(".error").exists()


@with_node
@pytest.mark.slow
def test_the_program_prints_the_same_over_every_file_that_is_there(program, tmp_path):
    loop = tmp_path / "loop.mjs"
    loop.write_text(LOOP, encoding="utf-8")
    paths = [path for path in sorted(SHARED.rglob("*.jsonl")) if path.is_file() and "\n" not in str(path)]
    odd, lines, _ = differing(loop, program, paths)

    assert odd == []
    assert lines > 500


@with_node
@pytest.mark.slow
def test_the_program_says_the_same_of_lines_made_to_tell_us_apart(program, tmp_path):
    loop = tmp_path / "loop.mjs"
    loop.write_text(LOOP, encoding="utf-8")
    make = Lines(random.Random(20261201))
    paths = []
    for n in range(1500):
        paths.append(tmp_path / f"{n}.jsonl")
        paths[-1].write_bytes(make.file())
    odd, lines, errors = differing(loop, program, paths)

    assert odd == []
    assert lines > 1000
    assert set(errors) == {"SyntaxError", "TypeError"}


def differing(loop, program, paths):
    """The names of the files of which the program, going on behind exceptions, says anything else than the walk; the
    number of lines that it printed, and of exceptions by name."""
    assert paths
    done = subprocess.run(
        [NODE, loop, program], input="\n".join(map(str, paths)).encode(), stdout=subprocess.PIPE, check=True,
        timeout=SECONDS,
    )  # fmt: skip
    found, printed, thrown = [], 0, Counter()
    for path, told in zip(paths, done.stdout.splitlines(), strict=True):
        said, errors = json.loads(told)
        lines, faults, _ = walked(path)
        kinds = zip(faults, errors, strict=False)
        same = [line.hex() for line in lines] == said and len(faults) == len(errors)
        if not same or not all(fault.fault.value in SAYS[error] for fault, (_, error) in kinds):
            found.append(path.name)
        printed += len(said)
        thrown.update(error for _, error in errors)
    return found, printed, thrown


TYPES = """session message compaction branch_summary usage custom custom_message label model_change
    thinking_level_change session_info Message""".split()
FIELDS = (
    "id version fromId tokensBefore kind customType data content label targetId provider modelId thinkingLevel".split()
)
KEYS = """id role content toString valueOf toJSON __proto__ length join type 0 1 10 01 4294967294 4294967295
    9007199254740993 -1 1.5 a b \u00e9 \x7f \u00b2 \u0663""".split()
NUMBERS = """0 -0 5 5.0 1e-7 1e21 1e20 1e400 -1e400 1e-400 9007199254740993 0.000001 123e-20 1E+5 5e-324
    1.7976931348623159e308 18446744073709551615""".split()
NO_NUMBERS = "01 1. .5 +1 NaN".split()
PARTS = [
    *"ab /%\u00e9\u2028\u0085\x7f\ufeff\U0001f600",
    *r"\n \" \\ \/ \u0000 \u0041 \ud83d\ude00 \ud83d \ude00".split(),
]
SPACE = [*"\t\r\x0b\x0c \u00a0\ufeff\u1680\u2028\u3000", "", "", ""]
NO_UTF8 = [b"\xff", b"\xc0\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\x80", b"\xf5"]


class Lines:
    """Files of hostile entries, from one seed."""

    def __init__(self, chance):
        self.chance = chance
        self.pick = chance.choice

    def rarely(self, share):
        return self.chance.random() < share

    def file(self):
        lines = [self.blank() for _ in range(self.pick([0, 0, 1, 2]))]
        lines += [self.blank() if self.rarely(0.1) else self.entry() for _ in range(self.pick([0, 1, 2, 4, 8]))]
        lines += [self.blank() for _ in range(self.pick([0, 0, 1, 2]))]
        data = "\n".join(lines).encode()
        if self.rarely(0.15):
            at = self.chance.randrange(len(data) + 1)
            data = data[:at] + self.pick(NO_UTF8) + data[at:]
        return data

    def blank(self):
        return self.pick(SPACE) + self.pick(SPACE) + ("\x85" if self.rarely(0.03) else "")

    def entry(self):
        if self.rarely(0.08):
            return self.pick(["null", "5", '"x"', "[]", "{}", self.value(0)])
        kind = self.pick(TYPES)
        members = [f'"type":"{kind}"']
        if self.rarely(0.9) and kind == "message":
            members.append(f'"message":{{"role":{self.value(3)},"content":{self.value(0)}}}')
        if self.rarely(0.9) and kind == "usage":
            members.append(f'"usage":{{"totalTokens":{self.value(3)}}}')
        members += [f'"{key}":{self.value(1)}' for key in FIELDS if self.rarely(0.5)]
        members += [f"{self.string(self.pick(KEYS))}:{self.value(2)}" for _ in range(self.pick([0, 0, 1]))]
        self.chance.shuffle(members)
        text = "{" + ",".join(members) + "}"
        if self.rarely(0.05):
            at = self.chance.randrange(len(text))
            text = text[:at] + self.pick(["", "{", "]", '"', ",", "\0", "\ufeff", "\u00a0"]) + text[at + 1 :]
        return text + self.pick(["\r", "\u00a0", "\x0c\r"]) if self.rarely(0.05) else text

    def value(self, depth):
        kind = self.chance.random()
        if kind < 0.3:
            return self.string("".join(self.pick(PARTS) for _ in range(self.pick([0, 1, 3]))))
        if kind < 0.55:
            return self.number()
        if kind < 0.7 or depth > 4:
            return self.pick(["true", "false", "null", "[]", "{}"])
        values = [self.value(depth + 1) for _ in range(self.pick([0, 1, 2, 3]))]
        if kind < 0.85:
            return "[" + ", ".join(values) + "]"
        return "{" + ",".join(f"{self.string(self.pick(KEYS))}: {value}" for value in values) + "}"

    def string(self, text):
        return f'"{text}"'

    def number(self):
        kind = self.chance.random()
        if kind < 0.3:
            return self.pick(NO_NUMBERS if self.rarely(0.03) else NUMBERS)
        if kind < 0.6:
            return f"{self.chance.randrange(10 ** self.chance.randrange(1, 25))}e{self.chance.randrange(-340, 320)}"
        (double,) = struct.unpack("<d", self.chance.randbytes(8))
        return repr(double) if double - double == 0 else "1"
