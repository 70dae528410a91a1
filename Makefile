# Each target creates .venv by itself; Python 3.11+, a C++ compiler and make are all it needs.
PYTHON ?= python3
BIN := .venv/bin
NATIVE := CMakeLists.txt $(wildcard native/*)

# Real graphs for tests and experiments; tests that need them are skipped elsewhere.
ifneq ($(wildcard ../shared/data),)
export ISOTHERM_DATA ?= $(abspath ../shared/data)
endif

.PHONY: demo docs links test test-isa lint bench wheels plain sanitize sanitize-solvers sanitize-readers sanitize-leaks sanitize-threads arm fuzz coverage mutate clean

# With WHEEL=dist/NAME.whl, which PYTHON must fit, the demo is that of the wheel, in an environment with nothing else of
# this project. It needs no compiler. Only modules that are imported are compiled, which saves a third of the time.
ifdef WHEEL
demo:
	rm -rf build/demo
	$(PYTHON) -m venv --without-pip build/demo
	$(PYTHON) -m pip --python build/demo install --quiet --no-compile --disable-pip-version-check '$(WHEEL)[cli,plot]'
	build/demo/bin/isotherm demo
else
demo: .venv/demo
	$(BIN)/isotherm demo
endif

# One process for each core; one that has no more tests takes some from another. Linear algebra has one thread in each
# process: several would wait for each other on cores that are busy, and use half as much time again.
PYTEST := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest
SPREAD := --numprocesses=auto --maxprocesses=8 --dist=worksteal
test: .venv/installed
	$(MAKE) --no-print-directory --jobs=2 lint test-isa
	$(PYTEST) $(SPREAD)

# Kernels and solvers once more, with every instruction set of this processor but its best, which the whole suite uses.
# Tests of the reference kernels are left out: they use no instruction set.
test-isa: .venv/installed
	sets=$$($(BIN)/python -c 'from isotherm import kernels; print(*kernels.instruction_sets()[1:])'); \
	test -z "$$sets" || $(MAKE) --no-print-directory $$(printf 'test-%s ' $$sets)
test-%: .venv/installed
	ISOTHERM_ISA=$* $(PYTEST) -q -m 'not slow' -k 'not reference' tests/kernels tests/equilibrium

# Which lines and branches of src the suite runs, also in the processes that it starts.
coverage: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --group coverage
	rm -rf build/coverage
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m coverage run -m pytest $(SPREAD)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

# Small changes of rules, calibration, combination and readers of tables, which tests must notice; about an hour of CPU
# time. `.venv/bin/mutmut show NAME` prints one. tools/mutation/README.md explains those that no test notices.
mutate: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --group mutation
	PYTHONPATH=tools/mutation ISOTHERM_EXAMPLES=10 ISOTHERM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/mutmut run
	PYTHONPATH=tools/mutation $(BIN)/mutmut results

# The site, in build/docs. Warnings are errors, and a link to a page that is not there is one.
docs: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/docs

# Addresses of other sites that the pages name: which of them do not answer. It needs a network.
links: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/python -m sphinx -b linkcheck --keep-going --quiet docs build/links

# The sdist and manylinux wheels, in dist, each tried in an empty environment without compiler, with every Python from
# 3.11 to 3.14 of this machine. PYTHONS names further interpreters.
wheels: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --group wheels
	$(BIN)/python -m tools.wheels $(PYTHONS)

# The install without a compiler, in an empty environment: it has the kernels in SciPy, and labels a graph.
plain: .venv/installed
	rm -rf build/plain
	$(PYTHON) -m venv --without-pip build/plain/env
	CC=/nonexistent CXX=/nonexistent $(BIN)/pip --python build/plain/env install --quiet --no-compile \
	  --disable-pip-version-check '.[cli]' -C build-dir=build/plain/objects
	build/plain/env/bin/python -I -W ignore::RuntimeWarning tools/wheels/smoke.py plain

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Kernels, solvers, models and readers with AddressSanitizer and UBSan, then all threaded kernels with ThreadSanitizer.
# They need nothing but the libraries of GCC.
SANITIZED := build/sanitize
sanitize:
	$(MAKE) --no-print-directory --jobs=2 $(SANITIZED)/built $(SANITIZED)/threads
	$(MAKE) --no-print-directory --jobs=2 sanitize-solvers sanitize-readers sanitize-leaks sanitize-threads

ASAN := detect_leaks=0
SANITIZER = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so.6)" \
  ASAN_OPTIONS=$(ASAN) UBSAN_OPTIONS=print_stacktrace=1 ISOTHERM_EXAMPLES=10 ISOTHERM_FUZZ=10 \
  PYTHONPATH=tools/sanitize ISOTHERM_SANITIZED="$$(ls $(abspath $(SANITIZED))/address/isotherm/kernels/_native*.so)" \
  $(BIN)/python -m pytest -q -p no:cacheprovider -m 'not slow' -k 'not reference'
sanitize-solvers:
	$(SANITIZER) tests/equilibrium
sanitize-readers:
	$(SANITIZER) tests/io tests/graphs/test_untrusted.py tests/graphs/test_packed.py tests/graphs/test_old_packed.py \
	  tests/labelling/test_saving.py tests/labelling/test_damaged_models.py tests/labelling/test_old_models.py

sanitize-threads:
	$(SANITIZED)/threads

# Python itself leaks at its end, so only reports that name the kernels count. To look up all symbols would take minutes.
sanitize-leaks: ASAN := detect_leaks=1:symbolize=0:log_path=$(SANITIZED)/leaks
sanitize-leaks:
	rm -f $(SANITIZED)/leaks.*
	LSAN_OPTIONS=exitcode=0 $(SANITIZER) tests/kernels
	$(BIN)/python tools/sanitize/leaks.py $(SANITIZED)/address/isotherm/kernels/_native*.so $(SANITIZED)/leaks.*

$(SANITIZED)/built: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade --no-deps --target $(SANITIZED)/address . \
	  -C cmake.define.ISOTHERM_SANITIZE=address,undefined -C cmake.define.ISOTHERM_THIS_PROCESSOR=ON \
	  -C cmake.build-type=None -C build-dir=$(SANITIZED)/objects
	touch $@

$(SANITIZED)/threads: tools/sanitize/threads.cpp $(NATIVE)
	mkdir -p $(SANITIZED)
	$(CXX) -std=c++17 -O1 -g1 -Wno-psabi -pthread -fsanitize=thread \
	  -march=native -DISOTHERM_THIS_PROCESSOR -Inative $< -o $@

# The kernels on blocks compiled for ARM and run in an emulator, as on this processor. It needs a cross compiler and
# qemu-user; on Debian g++-aarch64-linux-gnu and qemu-user.
arm: tools/processors/check.cpp tools/sanitize/threads.cpp $(NATIVE)
	mkdir -p build/arm
	for source in tools/processors/check tools/sanitize/threads; do \
	  aarch64-linux-gnu-g++ -std=c++17 -O2 -Wall -Wextra -Wno-psabi -Inative -static -pthread $$source.cpp \
	    -o build/arm/$${source##*/} && qemu-aarch64 build/arm/$${source##*/} || exit 1; \
	done

# Damaged files, crafted arrays, models and packed folders, extreme weights, and allocations, writes and renames that
# fail: FUZZ cases of each kind. .ci/run has a tenth. Readers of text are also fuzzed with guidance by coverage, where
# there is a wheel of atheris.
FUZZ := 10000
FUZZ_SEED := 0
fuzz: .venv/installed build/faults/faults.so
	-$(BIN)/pip install --quiet --disable-pip-version-check --group fuzz
	$(BIN)/python -m tools.fuzz --cases $(FUZZ) --seed $(FUZZ_SEED)

build/faults/faults.so: tools/faults/faults.cpp
	mkdir -p build/faults
	$(CXX) -std=c++17 -O1 -Wall -Wextra -shared -fPIC $< -o $@ -ldl

bench: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks --page docs/benchmarks.md

# The demo needs neither the tools of the tests nor kernels for other processors, which the other targets add.
.venv/demo: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --disable-pip-version-check --editable '.[cli,plot]' \
	  -C cmake.define.ISOTHERM_THIS_PROCESSOR=ON
	touch $@

.venv/installed: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch .venv/demo $@

clean:
	rm -rf .venv build dist mutants .mypy_cache .pytest_cache .ruff_cache
