# make study   set everything up, run the study on the embedded data sets, write and print its report
# make test    the same, then the whole test suite with coverage, ruff and mypy
# make study DATA=DIR   the study on all 36 sets of the paper, from a folder of ARFF files
# make docs    the site, in build/site; make wheel   what is published, in dist

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
# What is installed: this folder, or an archive that `make sdist` or `make wheel` writes.
FROM ?= .
SOURCES := pyproject.toml CMakeLists.txt $(shell find src -type f -not -name '*.so' -not -path '*/__pycache__/*')
# Every file of an archive has the time of the last commit, so that two archives of one commit are the same bytes.
export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 315532800)

.PHONY: study test lint check-release sanitize sanitize-extension fuzz instructions arm mingw bench docs sdist wheel workflows lowest newest clean

study: $(VENV)/installed
	$(BIN)/localbayes study run $(if $(DATA),--data $(DATA),--sets embedded) --jobs $(JOBS) --store $(STORE)
	$(BIN)/localbayes study report --store $(STORE) --out $(REPORT)
	$(BIN)/localbayes study show --store $(STORE)
	@echo "The report is a page: open $(REPORT)/index.html"

test: study lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 0 --cov=localbayes --cov-report=term:skip-covered --cov-fail-under=95 $(PYTEST)

lint: $(VENV)/installed check-release
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# One version everywhere, and a line in CHANGELOG.md for what changed.
check-release: | $(BIN)/python
	$(BIN)/python tools/check_release.py

# The C++ kernels against plain loops, under AddressSanitizer and UBSan.
sanitize: $(VENV)/installed
	$(BIN)/python tests/native/run.py sanitize

# Model files and tables with the extension itself under AddressSanitizer and UBSan; the same cases every time.
sanitize-extension: $(VENV)/installed
	$(BIN)/python -m pip install --quiet cmake nanobind
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/fuzz/run.py models tables --sanitized --cases 4000 --jobs $(JOBS)

# Damaged model files, data files and stores, and random tables: CASES of each. FIRST gives other cases.
fuzz: $(VENV)/installed
	$(BIN)/python tests/fuzz/run.py all --cases $(CASES) --first $(FIRST) --jobs $(JOBS)

# Instructions of a fixed piece of work under callgrind, against a recorded bound.
instructions: $(VENV)/installed
	$(BIN)/python tests/native/run.py instructions

# The C++ kernels against plain loops on an emulated 64-bit ARM, and its results against those of this machine.
# Needs g++-aarch64-linux-gnu and qemu-user.
arm: | $(BIN)/python
	$(BIN)/python tests/native/run.py arm --tables 60

# The C++ kernels and their checks, compiled and linked for Windows; nothing is run. Needs g++-mingw-w64-x86-64.
mingw: | $(BIN)/python
	CXX=x86_64-w64-mingw32-g++-posix $(BIN)/python tests/native/run.py compile

# Timings against scikit-learn, faiss and Weka in one run; writes benchmarks/RESULTS.md.
bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet ".[bench]"
	$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA),)

# The site: pages, reference, and the gallery, whose examples are run. A warning is an error, and so is a link into
# the site that leads nowhere, or anything that a page would load from a network.
docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	rm -rf build/site build/doctrees docs/gallery docs/api
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d build/doctrees docs build/site
	$(BIN)/python tools/check_site.py build/site

# The workflow files, pyproject.toml and CITATION.cff against their schemas, and what cibuildwheel would
# build; nothing is built.
workflows: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --group workflows
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format --default-filetype yaml CITATION.cff
	$(BIN)/python tools/check_workflows.py

sdist: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --group release
	rm -rf dist build/again
	$(BIN)/python -m build --quiet --sdist
	$(BIN)/python -m build --quiet --sdist --outdir build/again
	cmp dist/*.tar.gz build/again/*.tar.gz

# The wheel that is published, built from the source archive, checked, and tried where there is no compiler.
wheel: sdist
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel dist/*.tar.gz
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl
	$(BIN)/abi3audit --strict --verbose dist/*.whl
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/try_wheel.py dist/*.whl

# The same tests of the same wheel with the oldest versions of all dependencies, and with the newest ones on the
# newest interpreter of this machine (or that of NEWEST_PYTHON).
lowest: | dist
	$(BIN)/python tools/try_wheel.py dist/*.whl --lowest
newest: | dist
	$(BIN)/python tools/try_wheel.py dist/*.whl --python $(or $(NEWEST_PYTHON),newest)
dist:
	$(MAKE) wheel

$(VENV)/installed: $(SOURCES) | $(BIN)/python
	$(BIN)/python -m pip uninstall --quiet --yes localbayes
	$(BIN)/python -m pip install --quiet "$(FROM)[test]"
	touch $@

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" || { rm -rf $(VENV); exit 1; }

clean:
	rm -rf $(VENV) build dist study-report docs/gallery docs/api
	rm -f $(STORES) $(STORES:=-wal) $(STORES:=-shm)
