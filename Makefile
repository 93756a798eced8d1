# make study   set everything up, run the study on the embedded data sets, write and print its report
# make test    the same, then the whole test suite with coverage, ruff and mypy
# make study DATA=DIR   the study on all 36 sets of the paper, from a folder of ARFF files

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
DATA ?=
CASES ?= 25000
FIRST ?= 0
STORES := study.db study-36.db
STORE ?= $(if $(DATA),study-36.db,study.db)
REPORT ?= study-report
# What is installed: this folder, or the source archive that `make sdist` writes.
FROM ?= .
SOURCES := pyproject.toml CMakeLists.txt $(shell find src -type f -not -name '*.so' -not -path '*/__pycache__/*')

.PHONY: study test lint sanitize sanitize-extension fuzz instructions bench sdist clean

study: $(VENV)/installed
	$(BIN)/localbayes study run $(if $(DATA),--data $(DATA),--sets embedded) --jobs $(JOBS) --store $(STORE)
	$(BIN)/localbayes study report --store $(STORE) --out $(REPORT)
	$(BIN)/localbayes study show --store $(STORE)
	@echo "The report is a page: open $(REPORT)/index.html"

test: study lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 0 --cov=localbayes --cov-report=term:skip-covered --cov-fail-under=95 $(PYTEST)

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The C++ kernels against plain loops, under AddressSanitizer and UBSan.
sanitize: $(VENV)/installed
	$(BIN)/python tests/native/run.py sanitize

# Model files and tables with the extension itself under AddressSanitizer and UBSan; the same cases every time.
sanitize-extension: $(VENV)/installed
	$(BIN)/python -m pip install --quiet cmake nanobind
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/fuzz/run.py models tables --sanitized --cases 1000 --jobs $(JOBS)

# Damaged model files, data files and stores, and random tables: CASES of each. FIRST gives other cases.
fuzz: $(VENV)/installed
	$(BIN)/python tests/fuzz/run.py all --cases $(CASES) --first $(FIRST) --jobs $(JOBS)

# Instructions of a fixed piece of work under callgrind, against a recorded bound.
instructions: $(VENV)/installed
	$(BIN)/python tests/native/run.py instructions

# Timings against scikit-learn, faiss and Weka in one run; writes benchmarks/RESULTS.md.
bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet ".[bench]"
	$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA),)

sdist: | $(BIN)/python
	$(BIN)/python -m pip install --quiet build
	rm -rf dist
	$(BIN)/python -m build --quiet --sdist

$(VENV)/installed: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet "$(FROM)[test]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=23.1" || { rm -rf $(VENV); exit 1; }

clean:
	rm -rf $(VENV) build dist study-report
	rm -f $(STORES) $(STORES:=-wal) $(STORES:=-shm)
