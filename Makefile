# Everything from a fresh clone, with Python 3.11 or later and make only. `make help` lists it.
#
# The environment lives in .venv. What goes into it stands in lock/, with hashes; `make lock` renews
# these files from pyproject.toml. A stamp in .venv remembers that it was done.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
UV := $(BIN)/uv
ARGS ?=

# Certificates as the system has them: company networks often add their own.
export UV_SYSTEM_CERTS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK ?= 1
export UV_LINK_MODE ?= copy

# Compiled modules are kept, whatever the shell says: else every process, and the tests start many, compiles all that it
# imports.
unexport PYTHONDONTWRITEBYTECODE

# uv does not read pip's configuration. Where only pip knows the way to the packages, pip installs
# the same files with the same hashes, only slower.
install = $(UV) pip install --quiet --python $(BIN)/python --require-hashes -r $(1) \
	|| { echo "uv could not install $(1); pip tries the same."; \
	     $(BIN)/python -m pip install --quiet --require-hashes -r $(1); }
bocage = $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .

.PHONY: help demo check test oldest lint format docs house picture screenshots bench system lock clean reproduce

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/core.stamp ## ask a made-up table of 100,000 people, in under a minute
	@$(BIN)/bocage demo $(ARGS)

# No servers, no browser, no experiments, and nothing that takes more than half a second: see CONTRIBUTING.md.
FAST := not spark and not postgres and not service and not browser and not paper and not slow

check: lint ## lint, then run the fast tests, in under two minutes
	@scripts/system.sh node
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -m "$(FAST)" $(ARGS)

test: lint system ## lint, then run every test (PostgreSQL and Spark included)
	@$(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal $(ARGS)

oldest: .venv/dev.stamp ## run the tests of the door with the oldest uvicorn that pyproject.toml allows
	@$(BIN)/python -m pip install --quiet --no-deps --upgrade --target out/oldest \
		uvicorn==$$(sed -n 's/.*"uvicorn>=\([0-9.]*\)".*/\1/p' pyproject.toml)
	@PYTHONPATH=out/oldest $(BIN)/python -m pytest -q tests/service/test_raw_sockets.py \
		tests/service/test_other_servers.py tests/service/test_protocol.py tests/service/test_processes.py $(ARGS)

lint: .venv/dev.stamp ## ruff, formatting, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: .venv/dev.stamp ## let ruff mend and format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: .venv/dev.stamp ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict && echo "site/index.html is built."

house: .venv/dev.stamp ## write the tree, the walk and the recipes' files in CONTRIBUTING.md again
	@$(BIN)/python scripts/house.py

picture: .venv/dev.stamp ## draw the tree at the top of the README again
	@$(BIN)/python scripts/picture.py

screenshots: .venv/dev.stamp system ## look at every page of the console: pictures go to out/screenshots
	@$(BIN)/python tests/end_to_end/browser/screenshots.py $(ARGS)

bench: .venv/dev.stamp system ## measure against the peers; the table goes to out/bench.md
	@$(BIN)/python benchmarks/run.py $(ARGS)

system: ## check for Java 17, Node and Chromium, which the tests need; install them where that is allowed
	@scripts/system.sh java
	@scripts/system.sh node
	@scripts/system.sh chromium

lock: .venv/uv.stamp ## renew lock/ from pyproject.toml (ARGS=--upgrade for the newest versions)
	@scripts/lock.sh $(UV) $(ARGS)

clean: ## remove the environment and everything that was built
	rm -rf .venv site out build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/uv.stamp: lock/uv.txt
	@scripts/system.sh python $(PYTHON)
	@test -x $(BIN)/python || { echo "Making .venv."; $(PYTHON) -m venv .venv; }
	@$(BIN)/python -m pip install --quiet --require-hashes -r lock/uv.txt
	@touch $@

.venv/core.stamp: .venv/uv.stamp lock/core.txt pyproject.toml
	@echo "Installing what Bocage needs."
	@$(call install,lock/core.txt)
	@$(bocage)
	@touch $@

.venv/dev.stamp: .venv/uv.stamp lock/dev.txt pyproject.toml
	@echo "Installing what tests, documentation and benchmarks need."
	@$(call install,lock/dev.txt)
	@$(bocage)
	@touch $@

.PHONY: reproduce-001 reproduce-002 reproduce-003 reproduce-004 reproduce-frontier

reproduce: reproduce-001 reproduce-002 reproduce-003 reproduce-004 ## run the experiments of the papers again (hours; ARGS=--short in minutes)

reproduce-001: .venv/dev.stamp
	@$(BIN)/python -m experiments.friedman_schuster_2010.run $(ARGS)

reproduce-002: .venv/dev.stamp
	@$(BIN)/python -m experiments.jagannathan_2012.run $(ARGS)

reproduce-003: .venv/dev.stamp
	@$(BIN)/python -m experiments.fletcher_islam_2015.run $(ARGS)

reproduce-004: .venv/dev.stamp
	@$(BIN)/python -m experiments.agrawal_srikant_2000.run $(ARGS)

# Not a paper: our learners beside the rivals, whose environments go to out/rivals.
reproduce-frontier: .venv/dev.stamp
	@$(BIN)/python -m experiments.frontier.run $(ARGS)
