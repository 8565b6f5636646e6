# Everything is done inside .venv; only git, Python (with venv) and make are needed.
#   make demo    install turnlog and show it on a small home of synthetic sessions
#   make test    install the test tools and run the whole suite
#   make check   the one command for developers: format, lint, types, imports, tests, docs
#   make lint    the part of check that runs no tests
#   make fmt     format, and mend what can be mended
#   make mutants break each rule of identity in a copy and see a test fail (MUTANTS="--only codex" passes arguments on)
#   make conformance  the real Pi against a scripted model, and what it wrote against what is read
#   make bench   the benchmarks (BENCH="..." passes arguments on)
#   make build   the wheel, in dist/
#   make clean   away with .venv, dist and the caches

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?=
BENCH ?=
MUTANTS ?=

ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PY := $(BIN)/python
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(PY) -m pip install -q -c constraints.txt
METADATA := pyproject.toml constraints.txt src/turnlog/_version.py
CODE := $(wildcard src tests conformance benchmarks tools)

.PHONY: demo test check lint fmt mutants conformance bench build clean
.DELETE_ON_ERROR:

# Each stamp is the newest state of .venv for one purpose: a second make has nothing to install.
$(VENV)/stamp-venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "turnlog needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	touch $@

# The build backend comes from constraints.txt too, so no build environment is made on the side.
$(VENV)/stamp-install: $(VENV)/stamp-venv $(METADATA)
	$(PIP) hatchling editables
	$(PIP) --no-build-isolation --editable .
	touch $@

$(VENV)/stamp-test: $(VENV)/stamp-install
	$(PIP) --no-build-isolation --editable '.[test]'
	touch $@

$(VENV)/stamp-bench: $(VENV)/stamp-install
	$(PIP) --no-build-isolation --editable '.[bench]'
	touch $@

$(VENV)/stamp-dev: $(VENV)/stamp-test
	$(PIP) --no-build-isolation --editable '.[dev]'
	touch $@

demo: $(VENV)/stamp-install
	$(BIN)/turnlog demo

test: $(VENV)/stamp-test
	$(PY) -m pytest -n auto $(PYTEST_ARGS)

lint: $(VENV)/stamp-dev
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/towncrier build --draft --version check >/dev/null

# The tests of the docs are part of the suite.
check: lint test

fmt: $(VENV)/stamp-dev
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

mutants: $(VENV)/stamp-test
	$(PY) tools/break_identity.py $(MUTANTS)

# Pi and its Node go to a cache folder outside the checkout, once; TURNLOG_CACHE says where.
conformance: $(VENV)/stamp-test
	$(PY) -m pytest conformance $(PYTEST_ARGS)

bench: $(VENV)/stamp-bench
	$(PY) benchmarks/run.py $(BENCH)

build: $(VENV)/stamp-install
	rm -rf dist
	$(PY) -m hatchling build -t wheel -d dist

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
