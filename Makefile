# Two commands do everything on a machine with Python 3.11+, pip and make: `make chat` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready

.PHONY: help chat demo test lint faults bench docs setup clean

help:            ## what can be made
	@grep -E '^[a-z]+: .*##|^[a-z]+:  *##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort

chat: $(STAMP)   ## chat with a model that remembers (reads standard input when it is no terminal)
	@$(BIN)/thinkback chat

demo: $(STAMP)   ## the story of memory in under a minute, without a key
	@$(BIN)/thinkback demo

test: $(STAMP)   ## lint, types, and the whole suite with coverage
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m pytest --cov --cov-report=term:skip-covered --cov-fail-under=95

lint: $(STAMP)   ## ruff and mypy --strict, tests included
	@$(BIN)/ruff check src tests benchmarks
	@$(BIN)/ruff format --check --quiet src tests benchmarks
	@$(BIN)/mypy src/thinkback src/thinkback_lab tests benchmarks

faults: $(STAMP) ## the long run of kill -9: 5,000 times
	@THINKBACK_KILLS=5000 $(BIN)/python -m pytest tests/faults -s --timeout=7200

bench: $(STAMP)  ## every figure of the README: speed as ratios within one run, LSH recall, embedders
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/lsh_recall.py
	@$(BIN)/python benchmarks/embedders.py

docs: $(STAMP)   ## write docs/cli.md and docs/lab-cli.md anew
	@$(BIN)/python -m thinkback.cli.docs
	@$(BIN)/python -m thinkback_lab.cli_docs

setup: $(STAMP)  ## .venv with every extra, and the embedded model; costs nothing the second time

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "thinkback needs Python 3.11 or newer (set PYTHON=...)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/thinkback pull smollm2
	@touch $@

clean:           ## remove what was built here; your memories stay
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .hypothesis .coverage
