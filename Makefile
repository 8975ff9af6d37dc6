# Everything sets itself up: `make crawl` and `make test` work on a bare Debian or Ubuntu with Python 3.11 or newer.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

# Where `make deploy` sends the egg, instead of the address in scrapy.cfg: make deploy SCRAPYD_URL=http://host:6800/
SCRAPYD_URL ?=
export SCRAPYD_URL

# For how long `make fuzz` tries each reader: make fuzz SECONDS=3600
SECONDS ?= 60

# Processes of `make test`. Many tests wait for a crawl, so there are more than processors.
CORES   := $(shell nproc 2>/dev/null || echo 2)
WORKERS ?= $(shell echo $$(( $(CORES) * 2 )))

# Where `make docs` writes the site, and the least share of lines, in percent, that `make coverage` wants of the package.
SITE  ?= build/site
FLOOR := 78

# What a checkout has of the extras in pyproject.toml; the others are for the tests only. UPGRADE=--upgrade takes the newest.
EXTRAS  := search export content documents warc map learn nlp redis metrics remote
UV      := uv==0.13.9
UPGRADE ?=
LOCK     = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-package pip \
	--custom-compile-command "make lock" $(UPGRADE)

.PHONY: help crawl test coverage lock lowest extras fuzz lint format reference docs hooks bench egg wheels deploy extension image release clean

help:
	@echo "make crawl   crawl the bundled sample web and write crawls/demo/report.html"
	@echo "make test    run every test"
	@echo "make coverage  lines that the unit and contract tests run, by package"
	@echo "make lock    write the lock files, requirements*.txt, from pyproject.toml"
	@echo "make lowest  run the unit tests on the lowest versions that are allowed"
	@echo "make extras  install each extra alone, and run the commands that need it"
	@echo "make fuzz    try every reader of what strangers write, SECONDS=60 for each"
	@echo "make lint    ruff and mypy"
	@echo "make format  let ruff format the code"
	@echo "make reference  write what docs/ says of settings, options and decisions from the code"
	@echo "make docs    build the documentation as a site in build/site"
	@echo "make hooks   check each commit with pre-commit"
	@echo "make bench   throughput against plain Scrapy"
	@echo "make egg     an egg for Scrapyd in dist/"
	@echo "make wheels  wheels for every Python, and an sdist, in dist/: needs a container engine on Linux"
	@echo "make deploy  build the egg and send it to a Scrapyd"
	@echo "make extension  pack the companion's extension for browsers into dist/"
	@echo "make release build sdist and wheel of the version, and tag it; pushes nothing"
	@echo "make image   build the image of the Dockerfile and crawl a little in it"

# A bare Debian has Python without venv, or no Python at all.
$(BIN)/python:
	@$(PYTHON) -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || ./scripts/install-python
	$(PYTHON) -m venv $(VENV)

# uv installs in seconds what takes pip minutes. Where uv cannot be had, or does not reach what pip is configured to use, pip installs.
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check
install  = { $(PIP) $(UV) && $(BIN)/uv pip install --quiet --compile-bytecode --python $(VENV) -r $(1); } 2>/dev/null || $(PIP) -r $(1)

$(VENV)/.installed: $(BIN)/python requirements.txt
	@echo "installing what requirements.txt names into $(VENV)"
	@$(call install,requirements.txt)
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	@echo "installing what requirements-dev.txt names into $(VENV)"
	@$(call install,requirements-dev.txt)
	@touch $@

# Reads and compares pages in compiled code. Nothing needs it: without a C compiler, Python's headers or the network all works,
# slower.
SOURCES  := $(shell find crawlproject -name "*.p[xy][dx]")
COMPILED  = find crawlproject -name "*.so"

$(VENV)/.compiled: $(VENV)/.installed requirements-build.txt setup.py $(SOURCES)
	@$(COMPILED) -delete
	@{ command -v cc && \
		{ $(call install,requirements-build.txt); } && \
		$(BIN)/python setup.py --quiet build_ext --inplace --parallel $(CORES); \
	} >/dev/null 2>&1; \
	test -n "$$($(COMPILED))" || echo "pages are read in Python: nothing was compiled"
	@touch $@

# The lock files, from the ranges in pyproject.toml. What is pinned stays, unless it is out of range.
lock: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	$(LOCK) pyproject.toml $(addprefix --extra ,$(EXTRAS)) --output-file requirements.txt
	$(LOCK) --group dev --constraint requirements.txt --output-file requirements-dev.txt
	$(LOCK) --group build --constraint requirements-dev.txt --output-file requirements-build.txt
	$(LOCK) --group docs --constraint requirements-dev.txt --output-file requirements-docs.txt

# The tests without a crawl, on the lowest versions that pyproject.toml allows; then the add-on on its lowest Scrapy, as all else wants
# 2.19. s3fs would raise aiohttp.
lowest: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	$(BIN)/uv venv --quiet --clear build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct -r pyproject.toml --all-extras
	$(BIN)/uv pip install --quiet --python build/lowest pytest pytest-cov pytest-timeout pytest-xdist hypothesis jsonschema warcio pyyaml
	build/lowest/bin/python -m pytest -n $(WORKERS) tests/scrapy/test_addon.py
	$(BIN)/uv pip install --quiet --python build/lowest scrapy==2.19.0
	build/lowest/bin/python -m pytest -n $(WORKERS) tests/unit tests/contract --ignore tests/unit/storage/test_remote.py

extras: $(BIN)/python
	@command -v redis-server >/dev/null || ./scripts/install-redis
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	$(BIN)/uv build --quiet --wheel --out-dir build/wheel --clear
	$(BIN)/python -m scripts.extras_alone build/wheel/*.whl

crawl: $(VENV)/.installed $(VENV)/.compiled
	@echo "crawling the sample web into crawls/demo; what was there before is removed"
	@rm -rf crawls/demo
	$(BIN)/scrapy crawl topical -a topic=topics/demo.toml -s VIRTUAL_WEB=sample -s CRAWL_DIR=crawls/demo
	@echo "open crawls/demo/report.html"

test: $(VENV)/.installed-dev $(VENV)/.compiled
	@command -v redis-server >/dev/null || ./scripts/install-redis
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		./scripts/install-chromium
	$(BIN)/python -m compileall -q $(PACKAGES)
	TMPDIR=$${TMPDIR:-$$(./scripts/temp-folder)} $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# Hundreds of processes import the package: its bytecode is kept also where it is switched off.
test: export PYTHONDONTWRITEBYTECODE =
PACKAGES := crawlproject spiders middlewares pipelines

# Of the tests without a crawl: the others run crawls in processes of their own.
coverage: $(VENV)/.installed-dev $(VENV)/.compiled
	$(BIN)/python -m pytest -n $(WORKERS) --cov --cov-report= --cov-fail-under=0 tests/unit tests/contract
	$(BIN)/python -m scripts.coverage_by_package --floor $(FLOOR)

fuzz: $(VENV)/.installed-dev
	$(BIN)/python tests/security/fuzz.py --seconds $(SECONDS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers $(CORES)

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reference: $(VENV)/.installed-dev
	$(BIN)/python -m scripts.reference

$(VENV)/.installed-docs: $(VENV)/.installed-dev requirements-docs.txt
	@$(call install,requirements-docs.txt)
	@touch $@

# Any warning, such as of a link that leads nowhere, is an error; with --quiet none would be counted.
docs: reference $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --site-dir $(SITE)
	@echo "$(SITE)/index.html"

hooks: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pre-commit==4.7.0
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

bench: $(VENV)/.installed-dev $(VENV)/.compiled
	$(BIN)/python benchmarks/throughput.py

egg: $(VENV)/.installed-dev
	$(BIN)/python setup.py --quiet bdist_egg

wheels: $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build cibuildwheel==4.3.5
	$(BIN)/python -m cibuildwheel --output-dir dist
	$(BIN)/python -m build --sdist --outdir dist

deploy: $(VENV)/.installed-dev
	$(BIN)/scrapyd-deploy $(if $(SCRAPYD_URL),given)

extension:
	@mkdir -p dist
	$(PYTHON) -m zipfile -c dist/companion-extension.zip crawlproject/companion/browser/*
	@echo "dist/companion-extension.zip"

image:
	docker build --tag topical .
	docker run --rm topical crawl demo -s VIRTUAL_WEB=sample -s CRAWL_MAX_PAGES=20

release: $(VENV)/.installed-dev
	$(BIN)/python -m scripts.release

clean:
	$(COMPILED) -delete
	rm -rf build dist *.egg-info $(VENV)/.compiled .pytest_cache .ruff_cache .mypy_cache .hypothesis
