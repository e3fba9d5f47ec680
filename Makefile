# Every command makes its own environment: uv is found, or installed into .uv/.
# Python 3.11 or newer and make are all that is needed.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := $(UV) run --frozen
# As installers do with every package but an editable one; where PYTHONDONTWRITEBYTECODE is set, imports would not.
COMPILED = python -m compileall -q -j 0 src

# Certificates of the system, where there are some, as a proxy may have an authority of its own.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS ?= true
endif

.DEFAULT_GOAL := help
.PHONY: help env demo test soak lint format bench docs clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet uv

ifeq ($(UV),.uv/bin/uv)
env demo test soak lint format bench docs: .uv/bin/uv
endif

env:  ## the environment in .venv; EXTRAS="eval pandas viewer" adds those of extras
	$(UV) sync --frozen --inexact --no-dev $(addprefix --extra ,$(EXTRAS))
	@$(UV) run --no-sync $(COMPILED)

demo:  ## the main job on embedded data, offline
	@$(RUN) --no-dev $(COMPILED)
	@$(RUN) --no-dev crucible demo

test:  ## all tests but the slow ones
	@$(RUN) $(COMPILED)
	$(RUN) pytest -n auto -m "not slow"

soak:  ## the slow tests: large data, long runs
	@$(RUN) $(COMPILED)
	$(RUN) pytest -n auto -m slow

lint:  ## ruff, import-linter and mypy
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) lint-imports
	$(RUN) mypy

format:  ## rewrite the code as ruff wants it
	$(RUN) ruff check --fix .
	$(RUN) ruff format .

bench:  ## this library and Hugging Face datasets side by side
	@$(RUN) $(COMPILED)
	$(RUN) python -m benchmarks

docs:  ## run every example in README and docs/, and check that every public name is documented
	$(RUN) pytest -q tests/test_docs.py

clean:  ## remove what the other commands made
	rm -rf .venv .uv .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache benchmarks/data crucible-demo
