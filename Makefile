# Two commands: `make scan REPO=path/to/repo` and `make test`. Both set up .venv first, and again only when
# pyproject.toml or constraints.txt has changed.
VENV := .venv
READY := $(VENV)/.ready
TEST_JOBS ?= 2

.PHONY: scan test lint clean

# Findings are an answer, not a failure of make; a usage error (2) or an incomplete scan (3) is one.
scan: $(READY)
	@test -n "$(REPO)" || { echo "usage: make scan REPO=path/to/repo [ARGS='--format sarif -o out.sarif']" >&2; exit 2; }
	@$(VENV)/bin/analyze scan "$(REPO)" $(ARGS) || { code=$$?; [ $$code -eq 1 ] || exit $$code; }

test: $(READY)
	$(VENV)/bin/python -m pytest -q -n $(TEST_JOBS) --dist loadgroup $(ARGS)

lint: $(READY)
	$(VENV)/bin/ruff check .

$(READY): pyproject.toml constraints.txt .ci/setup
	@.ci/setup $(VENV)
	@touch $@

clean:
	rm -rf $(VENV)
