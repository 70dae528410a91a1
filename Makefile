# Each target creates .venv by itself; Python 3.11+, a C++ compiler and make are all it needs.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := CMakeLists.txt $(wildcard native/*)

# Real graphs for tests and experiments; tests that need them are skipped elsewhere.
ifneq ($(wildcard ../shared/data),)
export ISOTHERM_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo test lint bench clean

demo: .venv/installed
	$(BIN)/isotherm demo

test: .venv/installed lint
	$(BIN)/python -m pytest

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks --page docs/benchmarks.md

.venv/installed: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache
