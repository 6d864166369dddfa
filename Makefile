# Two commands: `make scan REPO=path/to/repo` and `make test`. Both set up .venv first, and again only when
# pyproject.toml or constraints.txt has changed: `make scan` with what a scan needs, all others with Spark and the tools
# of tests, too. `make test` is what a change is tried with; `make test-all` adds the tests marked slow
# (clusters, processes that are killed, every strategy on one program) and tries four times as many examples of each
# property.
VENV := .venv
READY_TO_SCAN := $(VENV)/.ready-to-scan
READY := $(VENV)/.ready
TEST_JOBS ?= 2
# Windows keeps programs of a virtual environment elsewhere; recipes are for the shell that comes with git there.
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
ifeq ($(OS),Windows_NT)
SHELL := bash
endif
PYTEST = $(BIN)/python -m pytest -q -n $(TEST_JOBS) --dist loadgroup

.PHONY: scan test test-all test-slow coverage benchmarks lint clean

# Findings are an answer, not a failure of make; a usage error (2) or an incomplete scan (3) is one.
scan: $(READY_TO_SCAN)
	@test -n "$(REPO)" || { echo "usage: make scan REPO=path/to/repo [ARGS='--format sarif -o out.sarif']" >&2; exit 2; }
	@$(BIN)/analyze scan "$(REPO)" $(ARGS) || { code=$$?; [ $$code -eq 1 ] || exit $$code; }

test: $(READY)
	$(PYTEST) -m "not slow" $(ARGS)

test-slow: $(READY)
	$(PYTEST) -m slow $(ARGS)

test-all: $(READY)
	EXAMPLES=60 $(PYTEST) $(ARGS)

# Lines that no test runs, and rules by which none derives anything.
coverage: $(READY)
	rm -rf .coverage-of-rules
	RULE_COVERAGE=$(CURDIR)/.coverage-of-rules $(PYTEST) -m "not slow" -p tests.rule_coverage \
		--cov --cov-report=term:skip-covered $(ARGS)
	$(BIN)/python tests/rule_coverage.py .coverage-of-rules

# Measure scans of REPOS and the engine on an idle machine, and write README's tables. ARGS='--souffle PATH --cspa DIR'
benchmarks: $(READY)
	@test -n "$(REPOS)" || { echo "usage: make benchmarks REPOS='DIR …' [ARGS='--souffle PATH']" >&2; exit 2; }
	$(BIN)/python tests/benchmarks/readme.py $(REPOS) $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(READY_TO_SCAN): pyproject.toml constraints.txt .ci/setup
	@bash .ci/setup $(VENV)
	@touch $@

$(READY): $(READY_TO_SCAN)
	@bash .ci/setup $(VENV) dev
	@touch $@

clean:
	rm -rf $(VENV)
