# Two commands do everything on a fresh machine: `make run` and `make test`.
# STACK=older|newer, PYTHON=PATH and CTR_ACCELERATOR=cpu|gpu steer the set-up.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup run test test-all bench check format lock audit clean
bin := .venv/bin
packages := data models components pipeline
export STACK PYTHON CTR_ACCELERATOR

help:  ## Lists these targets.
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 18

setup:  ## Makes .venv, or brings it up to date; at once when nothing changed.
	@scripts/setup

run: setup  ## Runs the demo pipeline and prints its table; ARGS adds options.
	$(bin)/ctr run --preset demo $(ARGS)

test: setup  ## Runs the fast tests and one small end-to-end run; ARGS adds options.
	$(bin)/python -m pytest -m "not slow and not e2e and not engine and not gpu" $(ARGS)

test-all: setup  ## Runs every test; those for a GPU are skipped without one.
	$(bin)/python -m pytest -m "" $(ARGS)

bench: setup  ## Runs the benchmarks, small; ARGS='--size full' measures (hours).
	$(bin)/python -m benchmarks.all $(ARGS)

check: setup  ## Judges lint, format, types and layers.
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy $(packages)
	$(bin)/lint-imports

format: setup  ## Rewrites the sources the way `make check` wants them.
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

lock: setup  ## Recompiles the lock files to the newest versions that fit.
	scripts/lock

audit: setup  ## Asks PyPI's advisories about every pin of the locks; needs a network.
	scripts/audit

clean:  ## Removes .venv, caches and build outputs; runs/ stays.
	rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis \
	  .import_linter_cache
	find $(packages) tests -name __pycache__ -type d -prune -exec rm -rf {} +
