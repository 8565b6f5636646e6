"""The list of broken rules stays true to the source; `make mutants` sees each of them fail a test."""

import ast
import re
import runpy

import pytest

from reading import ROOT

TOOL = ROOT / "tools" / "break_identity.py"


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(TOOL))


def test_every_rule_to_break_stands_in_the_source_once_and_stays_code_when_broken(tool):
    for mutant in tool["MUTANTS"]:
        text = (tool["SOURCE"] / mutant.file).read_text(encoding="utf-8")
        broken = mutant.broken(text)
        assert broken != text, mutant.name
        ast.parse(broken)


def test_every_broken_rule_has_its_name_and_tests_that_are_there(tool):
    names = [(mutant.file, mutant.name) for mutant in tool["MUTANTS"]]

    assert len(set(names)) == len(names) >= 100
    assert [test for mutant in tool["MUTANTS"] for test in mutant.tests if not (ROOT / test).is_file()] == []


def test_a_rule_that_is_not_found_or_not_alone_is_told(tool):
    mutant = tool["Mutant"]("name", "work.py", "a", "b")

    for text in ("", "aa"):
        with pytest.raises(ValueError, match="expected the text once"):
            mutant.broken(text)


def test_every_rule_of_the_docs_names_tests_that_are_there():
    page = (ROOT / "docs" / "identity.md").read_text(encoding="utf-8")
    there = set()
    for file in [ROOT / "tests" / "test_identity.py", ROOT / "tests" / "test_identity_properties.py"]:
        there |= set(re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
    for file in (ROOT / "tests" / "formats").glob("test_*.py"):
        there |= set(re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"`(test_\w+)`", page)) - {"test_codex_own", "test_codex_left"}

    assert len(named) > 50
    assert named - there == set()


def test_every_reason_has_its_row_in_the_docs():
    page = (ROOT / "docs" / "identity.md").read_text(encoding="utf-8")
    reasons = set()
    rooms = ["ledger/identity.py", *(f"formats/{name}/fold.py" for name in ("claude", "codex", "swink"))]
    for room in [*rooms, "formats/codex/lineage.py", "formats/codex/ancestors.py"]:
        text = (ROOT / "src" / "turnlog" / room).read_text(encoding="utf-8")
        reasons |= set(re.findall(r'^[A-Z_]+ = "([a-z\'][^"]+ [^"]+)"$', text, re.MULTILINE))
        reasons |= set(re.findall(r'Left\(sample, "([^"]+)"', text))
        reasons |= set(re.findall(r'"(the same call[^"]+)"', text))

    assert len(reasons) >= 11
    assert {reason for reason in reasons if f"`{reason}`" not in page} == set()
