# Every target works alone on a machine with nothing but Python 3.11 or newer.
# make setup PYTHON=python3.12 picks another interpreter; make test PYTEST_ARGS="-k space" passes options on.

PYTHON ?= python3
PYTEST_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs

.PHONY: setup demo test test-all coverage mutants fuzz lint docs package ratchets snapshots notebooks picture bench clean

setup: $(STAMP)

# The stamp is written last: an interrupted installation, or half an environment, is done again.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Likewise needs Python 3.11 or newer; this is " + sys.version.split()[0])'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,dev]' -c constraints.txt
	@touch $@

demo: setup
	$(BIN)/likewise demo

# A small sample of the tests, another one each day; make test SEED=20261118 draws that day's.
SEED ?= $(shell date -u +%Y%m%d)
PYTEST := LIKEWISE_TEST_SEED=$(SEED) $(BIN)/python -m pytest -n auto --dist worksteal --hypothesis-seed=$(SEED)
test: setup
	$(PYTEST) $(PYTEST_ARGS)

test-all: setup
	LIKEWISE_TESTS=all $(PYTEST) $(PYTEST_ARGS)

# Lines and branches that the fast tier runs; make coverage LIKEWISE_TESTS=all for all tests.
coverage: setup
	$(PYTEST) --cov --cov-report= $(PYTEST_ARGS)
	for package in likewise likewise_check; do echo $$package; $(BIN)/coverage report --skip-covered --include="src/$$package/*" | tail -1; done

# One mistake at a time in a copy of the sources: do the fast tests find it? make mutants WORDS=frontier takes those of some files.
mutants: setup
	LIKEWISE_TEST_SEED=$(SEED) $(BIN)/python -m tests.mutants $(WORDS)

# Random problems: every command against brute force.
MINUTES ?= 10
fuzz: setup
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --seed $(SEED) --jobs 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The pages, from docs/ to build/docs. Without a network; a warning is an error.
docs: $(DOCS_STAMP)
	$(BIN)/python -m sphinx -q -n -W --keep-going -d build/doctrees docs build/docs

# Wheel and source distribution in dist/, as an index takes them; the wheel is tried in an environment that has nothing else, away from this folder.
TRIAL := build/trial
package: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[package]' -c constraints.txt
	rm -rf dist $(TRIAL)
	$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv $(TRIAL)
	$(TRIAL)/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[pandas]" -c constraints.txt
	cd $(TRIAL) && bin/likewise demo >demo.txt && bin/likewise-check --help >check.txt && bin/python -c 'import likewise; print(likewise.__file__)'

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]' -c constraints.txt
	@touch $@

bench: setup
	$(BIN)/python -m benchmarks

# Writes counts that fell; lists those that rose.
ratchets: setup
	$(BIN)/python -m tests.test_ratchets

snapshots: setup
	$(BIN)/python -m tests.cli.snapshots

# Pages of the gallery as notebooks, and pictures of the terminal, the report and the page to work in.
notebooks: setup
	$(BIN)/python -m tests.notebooks

picture: setup
	$(BIN)/python -m tests.cli.picture
	$(BIN)/python -m tests.report.picture
	$(BIN)/python -m tests.cli.ui.picture

clean:
	rm -rf $(VENV) dist build .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache .coverage htmlcov
	rm -rf docs/reference/generated
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
