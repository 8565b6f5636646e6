"""The wheel that users get, tried out where neither the source tree nor an undeclared package can be imported."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.slow


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def declared(distribution, seen):
    """The names of all packages that a distribution declares for this Python, and theirs."""
    for line in importlib.metadata.requires(distribution) or []:
        requirement = Requirement(line)
        if (requirement.marker is None or requirement.marker.evaluate({"extra": ""})) and requirement.name not in seen:
            seen.add(requirement.name)
            declared(requirement.name, seen)
    return seen


def copy_installed(distribution, site):
    """Copy one installed package, file by file as its record lists them, without its scripts."""
    for file in importlib.metadata.files(distribution) or []:
        if ".." in file.parts or file.suffix == ".pyc":
            continue
        target = site / Path(*file.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.locate(), target)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of an environment that holds the wheel and what it declares, copied from here: no registry is asked."""
    folder = tmp_path_factory.mktemp("empty") / "venv"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    bin_folder = folder / ("Scripts" if os.name == "nt" else "bin")
    python = bin_folder / ("python.exe" if os.name == "nt" else "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    run([*pip, "install", "-q", "--no-index", "--no-deps", wheel])
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    for distribution in declared("turnlog", set()):
        copy_installed(distribution, site)
    return bin_folder


def clean_environment():
    return {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}}


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()

    strange = [name for name in names if not name.startswith(("turnlog/", "turnlog-"))]

    assert strange == []
    assert "turnlog/py.typed" in names


def test_the_wheel_holds_every_file_of_the_package_and_its_dot_folders_too(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src" / "turnlog"
    files = {f"turnlog/{path.relative_to(package).as_posix()}" for path in package.rglob("*") if path.is_file()}

    expected = {file for file in files if "__pycache__" not in file}

    assert expected - names == set()
    assert any(file.startswith("turnlog/schemas/") and file.endswith(".json") for file in expected)
    for agent_folder in (".claude", ".codex", ".pi"):
        assert any(file.startswith(f"turnlog/demo_home/{agent_folder}/") for file in expected), agent_folder


def test_the_installed_wheel_is_imported_from_its_own_environment(installed, tmp_path):
    where = run(
        [installed / "python", "-c", "import turnlog; print(turnlog.__file__); print(turnlog.__version__)"],
        cwd=tmp_path,
        env=clean_environment(),
    )

    file, version = where.split("\n")[:2]

    assert Path(file).resolve().is_relative_to(installed.parent.resolve())
    assert version == importlib.metadata.version("turnlog")


def test_the_installed_command_tells_its_version(installed, tmp_path):
    said = run([installed / "turnlog", "--version"], cwd=tmp_path, env=clean_environment())

    assert importlib.metadata.version("turnlog") in said


def test_the_installed_command_shows_the_demo(installed, tmp_path):
    said = run([installed / "turnlog", "demo"], cwd=tmp_path, env=clean_environment())

    assert said.strip()


def test_the_installed_package_needs_nothing_that_it_does_not_declare(installed, tmp_path):
    code = (
        "import importlib, pkgutil, turnlog\n"
        "for module in pkgutil.walk_packages(turnlog.__path__, 'turnlog.'):\n"
        "    if not module.name.endswith('.__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )

    run([installed / "python", "-W", "error", "-c", code], cwd=tmp_path, env=clean_environment())
