# Every target creates the virtual environment that it needs: see scripts/with-environment.

PYTHON ?= python3
TOOLS ?=
UPGRADE ?=
FRESH_TESTS ?= trixie
PRESET ?=
KEEP ?=
export PYTHON TOOLS FRESH_TESTS

RUN := scripts/with-environment run
DEV := scripts/with-environment dev
PYTEST = $(DEV) python -m pytest
LOCK := scripts/with-environment lock uv pip compile --quiet --universal --python-version 3.11 \
	--fork-strategy fewest --generate-hashes --no-header $(if $(UPGRADE),--upgrade)

# The lab needs the product, which is installed from the working tree.
PROJECTS := pyproject.toml lab/pyproject.toml --no-emit-package stockman-talos

# Each worker runs complete files, sorted by name: acceptance, which takes longest, comes first.
PARALLEL := --numprocesses=auto --dist=loadfile --no-loadscope-reorder

comma := ,

# Tests of the repository, not of the product.
REPOSITORY_TESTS := tests/docs tests/repository tests/tools

# Steps of `make check`, shortest first. Two run in parallel, each printing its output at its end.
# After a failure no further step starts.
CHECKS := $(addprefix check-,lint format imports names documentation types secrets)
OUTPUT_SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.DEFAULT_GOAL := help
.PHONY: help demo test check $(CHECKS) real fresh bench soak prune-report docs tools lock clean

help: ## Show this help.
	@echo 'make TARGET [PYTHON=python3.12] [TOOLS="age cue"]'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

demo: ## Create a cluster in the lab. PRESET=fifteen-node selects a preset, KEEP=1 keeps the lab running.
	@$(RUN) python -m demo $(if $(PRESET),--preset $(PRESET)) $(if $(KEEP),--keep)

test: ## Run the fast tests: no network, no other programs. ARGS='-k name' selects tests.
	@$(PYTEST) $(PARALLEL) -q \
		$(addprefix --ignore=,$(REPOSITORY_TESTS)) $(ARGS)

check: ## Lint, format, types, imports, names, documentation, secrets.
	@$(DEV) true
	@$(MAKE) --no-print-directory --jobs=2 $(OUTPUT_SYNC) $(CHECKS)
	@echo 'check: tests of the repository' && \
		$(PYTEST) $(PARALLEL) -q $(REPOSITORY_TESTS)

check-lint:
	@echo 'check: lint' && $(DEV) ruff check --quiet
check-format:
	@echo 'check: format' && $(DEV) ruff format --quiet --check --diff
check-imports:
	@echo 'check: imports' && $(DEV) lint-imports --no-logo
check-names:
	@echo 'check: names' && $(DEV) python -m scripts.check_names
check-documentation:
	@echo 'check: documentation' && $(DEV) $(SPHINX)
check-types:
	@echo 'check: types' && $(DEV) python -m mypy --no-error-summary
check-secrets:
	@echo 'check: secrets' && $(DEV) python scripts/check_secrets.py

real bench: DEV := scripts/with-environment judges

real: ## Run the tests against real programs. TOOLS=... restricts them.
	@$(call require,tests/real)
	@$(if $(ARGS),,$(DEV) python -m tools build --quiet $(subst $(comma), ,$(TOOLS)) || true)
	@$(call suite,tests/real) -p tools.pytest_plugin --numprocesses=auto --maxprocesses=4 \
		--dist=loadscope --no-loadscope-reorder --durations=0 $(ARGS) $(FAIL_IF_EMPTY)

fresh: ## Run the demo on fresh Debian 12, 13 and testing, and the tests on 13. Needs root.
	@$(RUN) python -m scripts.fresh

soak: ## Run the long tests, with more examples and on all fresh systems. Needs root.
	@$(call require,tests/soak)
	@$(if $(ARGS),,$(MAKE) --no-print-directory fresh FRESH_TESTS=all)
	@$(call suite,tests/soak) -p tools.pytest_plugin --hypothesis-profile=soak --durations=0 $(ARGS) \
		$(FAIL_IF_EMPTY)

bench: ## Measure against other tools, side by side in one run.
	@$(DEV) python -m bench

prune-report: ## List functions of the lab that neither tests of the product nor real programs enter.
	@$(DEV) python -m scripts.prune_report \
		'$(PYTEST) $(PARALLEL) -q tests $(addprefix --ignore=,tests/real tests/soak $(REPOSITORY_TESTS))' \
		'$(MAKE) --no-print-directory real'

docs: ## Build the documentation into build/docs.
	@$(DEV) $(SPHINX)
	@echo 'build/docs/index.html'

tools: ## Build the real programs that `make real` uses: all, or TOOLS=...
	@$(RUN) python -m tools build $(subst $(comma), ,$(TOOLS))

lock: ## Lock the requirements of both distributions. UPGRADE=1 uses newer versions.
	@$(LOCK) --group lock --output-file requirements/lock.txt >/dev/null
	@$(LOCK) $(PROJECTS) --output-file requirements/run.txt >/dev/null
	@$(LOCK) --group build --output-file requirements/build.txt >/dev/null
	@$(LOCK) $(PROJECTS) --group dev --output-file requirements/dev.txt \
		--constraints requirements/run.txt --constraints requirements/build.txt >/dev/null
	@$(LOCK) --group judges --output-file requirements/judges.txt \
		--constraints requirements/dev.txt >/dev/null

clean: ## Remove everything that the other targets created in the tree.
	@rm -rf .venv build dist docs/reference/generated .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	@find bench demo docs scripts src tests tools -type d -name __pycache__ -prune \
		-exec rm -rf {} + 2>/dev/null || true

SPHINX := sphinx-build -E -W -n --keep-going -q -b html -d build/doctrees docs build/docs

# A suite without tests fails.
require = test -d $(1) || { echo 'stockman: $(1) is missing' >&2; exit 1; }
suite = $(require); $(PYTEST) -q $(1)
FAIL_IF_EMPTY = || { status=$$?; test $$status -ne 5 || \
	echo 'stockman: no test ran' >&2; exit $$status; }
