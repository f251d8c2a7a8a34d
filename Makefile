# `make chat` and `make test` work on a machine with Python 3.11+, pip and make; everything is installed into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
CODE   := src packages/thinkback-lab/src tests benchmarks scripts
TYPED  := src/thinkback packages/thinkback-lab/src/thinkback_lab tests benchmarks scripts
WORKERS ?= 2
# Upper limits, so that a hanging test can never block a run: about half as much again as on two quiet cores.
TEST_LIMIT_SECONDS      := 900
COVERED_LIMIT_SECONDS   := 1800
REPEATING_LIMIT_SECONDS := 1050

.PHONY: help chat demo test test-all models lint types faults soak bench docs postgres setup lock clean web browser

help:            ## list the targets
	@grep -E '^[a-z-]+: .*##|^[a-z-]+:  *##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort

chat: $(STAMP)   ## chat with a model that remembers (reads standard input if it is not a terminal)
	@$(BIN)/thinkback chat --offer-model

demo: $(STAMP)   ## a guided demonstration in under a minute, no API key needed
	@$(BIN)/thinkback demo

# Tests start several hundred processes: without cached bytecode each compiles every module again, and each
# starts one BLAS thread per core beside as many test workers.
test test-all faults: export PYTHONDONTWRITEBYTECODE =
test test-all faults: export OPENBLAS_NUM_THREADS = 1

test: lint types ## lint, types and the tests but the long ones: about ten minutes on two cores
	@timeout --kill-after=10 $(TEST_LIMIT_SECONDS) $(BIN)/python -m pytest -n $(WORKERS) -m "not slow"

test-all: lint types models ## lint, types and every test, with branch coverage of most: about 25 minutes on two cores
	@timeout --kill-after=10 $(COVERED_LIMIT_SECONDS) $(BIN)/python -m pytest -n $(WORKERS) -m "not repeating" --cov --cov-report=term:skip-covered --cov-fail-under=85
	@timeout --kill-after=10 $(REPEATING_LIMIT_SECONDS) $(BIN)/python -m pytest -n $(WORKERS) -m repeating

lint: $(STAMP)   ## ruff: lint and formatting
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check --quiet $(CODE)

types: $(STAMP)  ## mypy --strict, tests included
	@$(BIN)/mypy $(TYPED)

models: $(STAMP) ## the small local model that tests of local models use (98 MB); without it they are skipped
	@$(BIN)/thinkback pull smollm2

faults: $(STAMP) ## the long fault runs, several hours: 5,000 kills, 10,000 torn WALs, damaged files, two servers
	@THINKBACK_KILLS=5000 THINKBACK_TORN_WALS=10000 THINKBACK_JOB_KILLS=200 THINKBACK_LIVE_COPIES=200 THINKBACK_ERASE_ROUNDS=1000 \
	THINKBACK_DAMAGED_FILES=2000 THINKBACK_SERVER_KILLS=200 THINKBACK_TWO_SERVER_KILLS=50 THINKBACK_FAULT_SECONDS=300 \
	$(BIN)/python -m pytest tests/faults -s --timeout=14400

soak: $(STAMP)   ## one user with 100,000 turns, then 30 minutes of steady load on a server
	@$(BIN)/python benchmarks/large_user.py
	@$(BIN)/python benchmarks/soak.py

bench: $(STAMP)  ## the figures of the README: speed as ratios within one run, LSH recall, embedders
	@$(BIN)/python benchmarks/speed.py
	@$(BIN)/python benchmarks/lsh_recall.py
	@$(BIN)/python benchmarks/embedders.py

docs: $(STAMP)   ## regenerate docs/cli.md and docs/lab-cli.md
	@$(BIN)/python -m thinkback.cli.docs
	@$(BIN)/python -m thinkback_lab.cli_docs

postgres: $(STAMP) ## a PostgreSQL server for trying, until Ctrl-C; prints its URL
	@$(BIN)/python scripts/postgres.py

web:             ## build the web page into src/thinkback/web/dist (needs Node 20 or newer; the build is committed)
	cd web && npm ci --no-audit --no-fund && npm run build

browser: $(STAMP) ## install what the tests of the web page need: Playwright, Chromium (apt) and axe-core (npm)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.50,<2'
	command -v chromium || command -v google-chrome || apt-get install -y --no-install-recommends chromium || $(BIN)/python -m playwright install --with-deps chromium
	cd web && npm ci --no-audit --no-fund

setup: $(STAMP)  ## create .venv with every extra and the laboratory

$(STAMP): pyproject.toml packages/thinkback-lab/pyproject.toml packages/thinkback-reranker/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "thinkback needs Python 3.11 or newer (set PYTHON=...)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]' --editable packages/thinkback-lab --editable packages/thinkback-reranker
	@touch $@

lock: $(STAMP)   ## write constraints.txt from the versions installed in .venv
	@$(BIN)/python scripts/lock.py > $(VENV)/constraints.txt && mv $(VENV)/constraints.txt constraints.txt && touch $(STAMP)

clean:           ## remove build output and .venv; memories stay
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .hypothesis .coverage
