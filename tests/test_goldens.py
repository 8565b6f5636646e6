"""Every fixture's events, positions and summary, as they were read and accepted: tests/goldens/<format>/<fixture>.json.

`pytest tests/test_goldens.py --update-goldens` writes them anew. Read each changed line before accepting it.
"""

import json

import pytest

from reading import CASES, GOLDENS, IDS, parse, place, plain, plain_summary
from turnlog.formats import FORMATS


def shown(format, path):
    """A golden's text: one line an item, so that a change is one line of a diff."""
    result = parse(format, path.read_bytes(), place=place(path), sha256=True)
    items = ",\n".join(json.dumps(plain(item)) for item in result.items)
    summary = json.dumps(plain_summary(result.summary), indent=1)
    return f'{{"items": [\n{items}\n],\n"summary": {summary}}}\n'


@pytest.mark.parametrize("format,path", CASES, ids=IDS)
def test_a_fixture_reads_as_it_was_accepted(format, path, request):
    golden = GOLDENS / format / f"{path.stem}.json"
    text = shown(format, path)
    if request.config.getoption("--update-goldens"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_bytes(text.encode())
    assert golden.is_file(), "no golden yet: run with --update-goldens, read it, and add it"
    assert json.loads(text) == json.loads(golden.read_bytes())
    assert text == golden.read_bytes().decode()


def test_there_is_no_golden_without_its_fixture():
    expected = {GOLDENS / format / f"{path.stem}.json" for format, path in CASES}

    assert set(GOLDENS.glob("*/*.json")) <= expected
    assert {path.name for path in GOLDENS.iterdir()} <= set(FORMATS)
