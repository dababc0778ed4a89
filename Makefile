# Everything one can do here. Each target works on a fresh checkout by itself.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# The newest Python on this machine that will do; PYTHON=... names another.
PYTHON ?= $(shell for v in 3.13 3.12 3.11 3; do p=python$$v; \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# Bytecode is kept, whatever the machine's own setting says: each process of the tests would compile the product again.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(READY) ## Make .venv from the pinned versions
	@echo "StreamApp is installed in $(VENV). Next: source $(BIN)/activate && streamapp init my-app"

$(READY): pyproject.toml requirements.txt
	@test -n "$(PYTHON)" || { echo "StreamApp needs Python 3.11 or newer, and found none on this machine." >&2; exit 1; }
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python .ci/requirements delta iceberg operator postgres redis runtime telemetry dev >$(VENV)/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(VENV)/requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m streamapp_runtime.driver.spark.expression_jar
	@touch $(READY)

.PHONY: java
java:
	@java -version 2>&1 | awk -F'"' '/version/ { split($$2, v, "."); fit = v[1] >= 17 } END { exit !fit }' || { \
		echo "Running apps needs Java 17 or newer, and found none (Debian: apt-get install openjdk-17-jre-headless)." >&2; exit 1; }

.PHONY: demo
demo: java $(READY) ## Run the main job: plan an app, run it, kill it, and see that nothing is lost
	@$(BIN)/python -m examples.demo

.PHONY: check
check: lint test test-integration test-long ## Lint, then all tests of a landing

.PHONY: lint
lint: $(READY) ## Style, types and import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --config pyproject.toml

.PHONY: format
format: $(READY) ## Put the code into its one form
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

# The tier of a test follows from what its fixtures start (tests/harness/machine/tiers.py). Each stage writes its times,
# which `make test-times` reads. Modules go in the order in which they are collected, those that take long first.
STARTS := spark or broker or api_server or browser or helm or postgres or redis or process
TIMES := .test-times
PYTEST = $(BIN)/pytest -q --dist loadscope --no-loadscope-reorder --junitxml=$(TIMES)/$@.xml

.PHONY: test
test: java $(READY) ## Run the unit tests, and some that start the real thing: a few minutes
	@TEST_PROFILE=unit $(PYTEST) -n 2 -m "(smoke or not ($(STARTS))) and not (long or nightly)"

.PHONY: test-integration
test-integration: java $(READY) ## Run the tests that start Spark, brokers, API servers, browsers and processes
	@TEST_PROFILE=landing $(PYTEST) -n 3 -m "($(STARTS)) and not (smoke or long or nightly)"

.PHONY: test-long
test-long: java $(READY) ## Run the tests that take minutes each: processes killed, streams grown, brokers away, under load
	@TEST_PROFILE=landing $(PYTEST) -n 2 -m "long and not nightly"

.PHONY: test-nightly
test-nightly: java $(READY) ## Run what no landing waits for: random tests with 1,000 cases each, and what takes longest
	@TEST_PROFILE=nightly $(PYTEST) -n 2 -m "nightly or spark or not ($(STARTS))"

.PHONY: test-again
test-again: java $(READY) ## Run the tests that failed last, one at a time
	@TEST_PROFILE=landing $(BIN)/pytest -q -n 0 --last-failed --last-failed-no-failures none

.PHONY: test-times
test-times: $(READY) ## Print the slowest tests of the last runs, and the time by folder and stage
	@$(BIN)/python -m tests.harness.repository.stage_times $(TIMES)

.PHONY: oracle
oracle: java $(READY) ## Try random apps beside right answers until one is wrong, and make that one small (SECONDS=60 SEED=1 CASE=1 PROCESSES=1 KAFKA=host:port)
	@$(BIN)/python -m tests.oracle --seconds $(or $(SECONDS),60) $(if $(SEED),--seed $(SEED)) $(if $(CASE),--case) $(if $(PROCESSES),--processes) $(if $(KAFKA),--kafka $(KAFKA))

.PHONY: mutants
mutants: java $(READY) ## Plant small faults one at a time, and say which test notices each (COUNT=300 SEED=1 TIERS="unit integration")
	@$(BIN)/python -m tests.harness.mutants --seed $(or $(SEED),1) --count $(or $(COUNT),300) $(foreach tier,$(or $(TIERS),unit),--tier $(tier))

.PHONY: kube-assets
kube-assets: ## Get etcd, kube-apiserver, kubectl, helm and promtool, which tests of operator and chart run with, and say where
	@tests/harness/api_server/assets/build

.PHONY: soak
soak: $(READY) ## Launch a thousand apps before a real API server, and watch the operator rest (a quarter of an hour)
	@$(BIN)/pytest -q -rP tests/operator/soak

.PHONY: e2e
e2e: java $(READY) ## Run apps on a real cluster that kind makes (TESTS=..., E2E_KEEP=1; see tests/e2e/README.md)
	@$(BIN)/pytest -q tests/e2e --durations=0 -o timeout_func_only=true $(if $(TESTS),-k "$(TESTS)")

.PHONY: crash-test
crash-test: java $(READY) ## Kill a running app over and over, and compare what it wrote with a model (KILLS=50 SEED=1 SYSTEM=kafka TRANSACTIONS=1 LANES=resident)
	@$(BIN)/python -m tests.harness.crash --kills $(or $(KILLS),50) --seed $(or $(SEED),1) --system $(or $(SYSTEM),embedded) --transaction-version $(or $(TRANSACTIONS),2) $(if $(LANES),--lanes $(LANES))

.PHONY: outage-test
outage-test: java $(READY) ## Freeze, kill and cut off each of three brokers under an app's load, and measure (FAULT=frozen ROUNDS=1)
	@$(BIN)/python -m tests.harness.outages $(if $(FAULT),--fault "$(FAULT)") --rounds $(or $(ROUNDS),1)

.PHONY: soak-app
soak-app: java $(READY) ## Run an app over Kafka for an hour: does memory grow, are rows exact (SECONDS=3600 LOSSES=10 JSON=FILE)
	@$(BIN)/python -m tests.harness.soak --seconds $(or $(SECONDS),3600) --losses $(or $(LOSSES),0) $(if $(JSON),--json $(JSON))

.PHONY: bench
bench: java $(READY) ## Measure, each figure beside what it is compared with
	@$(BIN)/python -m bench

.PHONY: generate
generate: $(READY) ## Write the generated files again: CRD, reference pages, output of commands on pages
	@$(BIN)/python -m tests.harness.repository.generated_files
	@$(BIN)/python -m tests.harness.repository.page_console
	@$(BIN)/python -m tests.harness.repository.notebooks

.PHONY: docs
docs: $(READY) ## Build the documentation site into site/; a broken link fails
	@$(BIN)/zensical build --clean --strict

.PHONY: dist
dist: $(READY) ## Build a release into dist/: wheel, sdist, chart, definition, schema, bill of materials, checksums (IMAGES=1: images too)
	@.ci/dist

.PHONY: constraints
constraints: $(READY) ## Pin the newest versions that pyproject.toml allows, and their hashes; then run the tests
	@env=$$(mktemp -d) && trap 'rm -rf "$$env"' EXIT && $(BIN)/python -m venv $$env && \
		$$env/bin/python -m pip install --quiet --disable-pip-version-check '.[delta,iceberg,operator,postgres,redis,runtime,telemetry,dev,release]' && \
		$$env/bin/python -m pip freeze --exclude streamapp | LC_ALL=C sort -f -t= -k1,1 >constraints.txt && \
		$$env/bin/python -m pip install --quiet --disable-pip-version-check pip-tools && \
		$$env/bin/pip-compile --quiet --generate-hashes --no-header --strip-extras --allow-unsafe --all-extras --constraint constraints.txt \
			--output-file $$env/requirements.txt pyproject.toml && \
		sed -e '/^--/d' -e '/^    #   -c constraints.txt$$/d' -e 's/ (pyproject.toml)//' $$env/requirements.txt >requirements.txt
	@git --no-pager diff --stat constraints.txt requirements.txt

.PHONY: images
images: ## Build the images of the operator and of the runtime with Docker (PYTHON_IMAGE, DOCKER_BUILD_FLAGS, VERSION)
	@command -v docker >/dev/null || { echo "Building images needs Docker." >&2; exit 1; }
	@for part in operator runtime; do \
		docker build $(DOCKER_BUILD_FLAGS) -f $$part/Dockerfile -t streamapp-$$part:$(or $(VERSION),dev) \
			$(if $(PYTHON_IMAGE),--build-arg PYTHON_IMAGE=$(PYTHON_IMAGE)) --build-arg VERSION=$(or $(VERSION),dev) \
			--build-arg REVISION=$$(git rev-parse --short HEAD) . || exit 1; \
	done

.PHONY: kafka-image
kafka-image: $(READY) ## Build the image of a Kafka broker to try things with, on top of the runtime's (VERSION)
	@$(BIN)/python -m tests.e2e.kafka.image streamapp-kafka:e2e streamapp-runtime:$(or $(VERSION),dev) $(DOCKER_BUILD_FLAGS)

.PHONY: clean
clean: ## Remove what the other targets made
	rm -rf $(VENV) $(TIMES) .mutants dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
