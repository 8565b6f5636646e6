"""Every JSON that is printed keeps the schema that is published for it."""

import copy
import json
import os
import subprocess
import sys

import jsonschema
import pytest

from commands import CLAUDE, DEMO, ROOT, as_json, rows, turnlog
from turnlog.contract import ReadOptions
from turnlog.discover import find_sessions
from turnlog.errors import SourceError
from turnlog.ledger.check import check, files_below
from turnlog.model import EVENTS
from turnlog.reader import read
from turnlog.render.events import row, row_types, summary_row
from turnlog.render.plain import json_bytes
from turnlog.roots import roots_from_home
from turnlog.schemas import names, schema

FIXTURES = ROOT / "tests" / "fixtures"
RUN = FIXTURES / "streams" / "pi-answered.jsonl"


def closed(part):
    """The schema with no field allowed that it does not name: a new field must be published before it is printed."""
    if isinstance(part, dict):
        part = {key: closed(value) for key, value in part.items()}
        if "properties" in part:
            part["additionalProperties"] = False
    elif isinstance(part, list):
        part = [closed(value) for value in part]
    return part


def holds(name, value):
    jsonschema.Draft202012Validator(closed(schema(name))).validate(value)


def rows_hold(name, found):
    """Each row against the schema of its kind: quicker than the choice of all, and its errors can be read."""
    whole = closed(schema(name))
    by_kind = {}
    for title, definition in whole["$defs"].items():
        for kind in definition.get("properties", {}).get("kind", {}).get("enum", ()):
            by_kind[kind] = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{title}", "$defs": whole["$defs"]})
    for one in found:
        by_kind[one["kind"]].validate(one)


def test_the_published_schemas_are_those_of_the_code():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_schemas.py", "--check"], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", names())
def test_a_schema_is_a_schema_and_names_itself(name):
    published = schema(name)

    jsonschema.Draft202012Validator.check_schema(published)
    assert published["$id"] == name
    if "oneOf" not in published:
        assert published["properties"]["schema"] == {"const": name}
        assert "schema" in published["required"]


def test_a_schema_is_found_by_its_short_name_too():
    assert schema("check") == schema("turnlog.check/1")
    with pytest.raises(LookupError):
        schema("nothing")


def test_a_wrong_output_does_not_pass():
    told = as_json("check", CLAUDE)
    for spoil in (
        lambda value: value.pop("verdict"),
        lambda value: value.update(records="7"),
        lambda value: value.update(surprise=1),
        lambda value: value.update(schema="turnlog.check/2"),
        lambda value: value["checked"][0].pop("bytes"),
    ):
        spoilt = copy.deepcopy(told)
        spoil(spoilt)
        with pytest.raises(jsonschema.ValidationError):
            holds("turnlog.check/1", spoilt)


@pytest.mark.parametrize(
    "command",
    [
        ["overview"],
        ["list"],
        ["check"],
        ["history"],
        ["titles"],
        ["demo"],
        ["show", str(CLAUDE)],
        ["context", str(CLAUDE)],
        ["answer", str(RUN)],
        ["prices", "list", "gpt-5.5", "x"],
        ["usage"],
        ["usage", "hourly"],
        ["usage", "weekly"],
        ["usage", "monthly"],
        ["usage", "session"],
        ["usage", "blocks"],
        ["usage", "model"],
        ["usage", "project"],
        ["usage", "agent"],
        ["usage", "daily", "--instances"],
        ["usage", "session", "--no-cost"],
        ["explain"],
        ["explain", "--day", "20261102", "--limit", "1"],
        ["explain", "--day", "20300101"],
    ],
    ids=" ".join,
)
def test_what_a_command_prints_keeps_its_schema(command, tmp_path):
    where = [] if command[0] in {"demo", "show", "context", "answer", "prices"} else ["--home", DEMO]
    told = as_json(*command, *where, code=None)
    holds(told["schema"], told)
    assert told["schema"] == f"turnlog.{command[0]}/1"

    empty = turnlog(*command[:1], "--home", tmp_path, "--json") if where else None
    if empty is not None and empty.stdout:
        told = json.loads(empty.stdout)
        holds(told["schema"], told)


@pytest.mark.parametrize("beginning", [1, 2, 9, 10_000])
def test_an_answer_not_to_be_trusted_keeps_its_schema_too(beginning):
    data = b"".join(RUN.read_bytes().splitlines(keepends=True)[:beginning])

    holds("turnlog.answer/1", json.loads(turnlog("answer", "--json", stdin=data).stdout))


@pytest.mark.skipif(os.name != "posix", reason="the fake program uses signals and descriptors")
@pytest.mark.parametrize("end", [["ok"], ["code", "3"], ["torn"], ["silent"]], ids=" ".join)
def test_what_a_run_prints_keeps_its_schema(end, tmp_path):
    program = [sys.executable, ROOT / "tests" / "fake_agent.py", *end]
    told = json.loads(turnlog("run", "--json", "--log", tmp_path / "log", "--", *program).stdout)

    holds("turnlog.run/1", told)
    assert told["schema"] == "turnlog.run/1"


def test_every_kind_of_row_has_its_schema():
    assert set(row_types()) == {*EVENTS, "fault", "summary"}


def all_rows(path):
    """What `turnlog events` prints for a file, without a process of its own."""
    reader, found, error = None, [], None
    try:
        with read(path, options=ReadOptions(codex_usage="all")) as reader:
            found = [row(item) for item in reader]
    except SourceError as failed:
        error = failed
    found = [json.loads(json_bytes(one)) for one in found]
    if reader is not None:
        summary = summary_row(reader.finish(), None, len(found), error)
        found.append(json.loads(json_bytes(summary)))
    return found


def test_the_rows_of_every_session_of_the_demo_home_keep_it():
    kinds = set()
    for file in find_sessions(roots_from_home(DEMO)).files:
        found = all_rows(file.path)
        rows_hold("turnlog.events/1", found)
        kinds |= {one["kind"] for one in found}

    assert kinds >= {
        "meta",
        "message",
        "usage",
        "tool_call",
        "tool_result",
        "thinking",
        "compaction",
        "fault",
        "summary",
    }


def test_the_command_prints_the_rows_the_library_makes():
    rows_hold("turnlog.events/1", rows(CLAUDE))
    assert [one for one in rows(CLAUDE) if one["kind"] != "summary"] == all_rows(CLAUDE)[:-1]


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="no fixtures")
def test_the_rows_and_the_proof_of_every_fixture_keep_them():
    held = 0
    files = files_below([str(FIXTURES)])[0]
    for file in files:
        try:
            found = all_rows(file.path)
        except LookupError:
            continue
        rows_hold("turnlog.events/1", found)
        held += 1
    holds("turnlog.check/1", json.loads(json_bytes(check(files))))

    assert held


@pytest.mark.shared
def test_the_rows_and_the_proof_of_the_shared_cases_keep_them(shared):
    files = files_below([str(shared / "cases")])[0]
    for file in files:
        try:
            rows_hold("turnlog.events/1", all_rows(file.path))
        except LookupError:
            continue
    holds("turnlog.check/1", json.loads(json_bytes(check(files))))
