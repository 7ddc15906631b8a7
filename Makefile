# Verbs of gpudash. `make` alone lists them.
SHELL := /bin/bash
PORT ?= 8000
MINUTES ?= 30
PY := .venv/bin/python
UV = $(shell command -v uv 2>/dev/null || echo .tools/bin/uv)

# A checkout uses its own settings, even on a machine with a production installation.
export GPUDASH_ENV_FILE =

.DEFAULT_GOAL := help
.PHONY: help setup lock openapi manifests demo test test-fast coverage test-sweep test-cluster test-postgres test-pooler test-team e2e wheel lint types sbom audit bench soak screenshots headlamp clean

help: ## list the verbs
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup: .venv/.ready ## install dependencies into .venv/

.venv/.ready: requirements-dev.lock tools/browser/package-lock.json tools/uv.txt Makefile
	@tools/setup.sh
	@touch $@

lock: ## regenerate the lock files from pyproject.toml
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header pyproject.toml -o requirements.lock
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header pyproject.toml --group dev -o requirements-dev.lock
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header --group build -o tools/wheel.lock
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header tools/supply/requirements.in -o tools/supply/requirements.lock
	$(UV) pip compile -q --universal --generate-hashes --python-version 3.11 --no-header tools/restclient/requirements.in -o tools/restclient/requirements.lock
	grep -o '^uv==[0-9.]*' tools/uv.txt >tools/uv.in && $(UV) pip compile -q --generate-hashes --no-header --no-annotate tools/uv.in -o tools/uv.txt; rm tools/uv.in

openapi: setup ## regenerate docs/openapi.yaml, REST's document
	$(PY) manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

manifests: setup ## regenerate deploy/kustomize/base from the Helm chart, and the chart's copies (needs Go, once, for Helm)
	$(PY) -m tools.manifests

demo: setup ## a simulated fleet in one process, on http://127.0.0.1:$(PORT)
	$(PY) manage.py demo --port $(PORT)

test: setup ## unit and page tests; no other software needed
	$(PY) -m pytest $(ARGS)

test-fast: setup ## what needs no database, and each page and endpoint once: under a minute
	$(PY) -m pytest -n 2 -m fast $(ARGS)

coverage: setup ## the same with line coverage; takes 50% longer
	$(PY) -m pytest --cov --cov-report=term $(ARGS)

test-sweep: setup ## exhaustive, repeated and slow tests: minutes; no other software needed
	$(PY) -m pytest -m sweep -n 4 --dist worksteal $(ARGS)

# What has SQL of its own, locks, or counts; of the pages each one once, and their lists. The rest says the same on every database, as
# do tests without tables (`fast`) and with an SQLite file of their own. A sweep that needs PostgreSQL starts its own.
ON_POSTGRES := $(addprefix tests/inventory/,mirror reconcile collect charges idle history discrepancies queries) \
	$(addprefix tests/,audit api runtime notifications quarantine validations test_each_address.py) \
	$(addprefix tests/pages/,test_lists.py test_groups.py test_query_counts.py test_history.py test_namespaces.py validations/test_lists.py)
test-postgres: setup ## tests of tables, REST and lists on a temporary PostgreSQL, and each page once
	$(PY) -m tools.with_postgres pytest $(ON_POSTGRES) --ignore=tests/validations/suites -m "(django_db or not fast) and not sweep and not cluster and not browser and not team" $(ARGS)

CLUSTER_TESTS := run-cluster run-cluster_runs run-cluster_quarantine run-cluster_chart
.PHONY: $(CLUSTER_TESTS)
test-pooler: setup ## tests of tables through PgBouncer in transaction mode, on a temporary PostgreSQL
	$(PY) -m tools.with_postgres --pooler pytest tests/inventory/mirror tests/inventory/reconcile tests/inventory/collect tests/audit tests/runtime tests/validations/test_*.py -m "not fast and not sweep and not cluster and not browser and not team" --reuse-db $(ARGS)

test-cluster: $(CLUSTER_TESTS) ## tests against a real control plane (etcd, kube-apiserver, scheduler)

$(CLUSTER_TESTS): run-%: setup
	$(PY) -m pytest -m cluster -n 0 -o cache_dir=.pytest_cache/$* tests/$* $(ARGS)

test-team: setup ## installation from the wheel: for one person, by docs/team.md on its own host (root; systemd-container), and the image; a generated client
	$(PY) -m pytest -m team -n 0 -x tests/wheel tests/restclient tests/team $(ARGS)

e2e: setup ## tests of the pages in a real browser (Chromium)
	$(PY) -m pytest -m browser -n 2 $(ARGS)

tools/node_modules/.ready: tools/package-lock.json
	@command -v npm >/dev/null || { echo "make lint needs npm, for Biome. On Debian: apt-get install npm" >&2; exit 1; }
	@npm --prefix tools ci --silent --no-audit --no-fund
	@touch $@

wheel: setup ## build the wheel, with third-party files of the pages, into dist/
	$(PY) -m hatchling build --target wheel --directory dist

lint: setup tools/node_modules/.ready ## style, import contracts, migrations, settings
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/lint-imports
	.venv/bin/djlint --lint --quiet templates
	tools/node_modules/.bin/biome ci --config-path tools static integrations/headlamp/src integrations/headlamp/tests
	$(PY) manage.py makemigrations --check --dry-run
	GPUDASH_ENV=production GPUDASH_SECRET_KEY=only-for-this-check-0123456789-abcdefghijklmnopqrstuvwxyz GPUDASH_ALLOWED_HOSTS=localhost GPUDASH_DATABASE_URL=sqlite:////tmp/none GPUDASH_BROKER_URL=memory:// $(PY) manage.py check --deploy --fail-level WARNING

types: setup ## mypy, strict
	.venv/bin/mypy

.tools/supply/.ready: tools/supply/requirements.lock
	@$(UV) venv -q --clear --python .venv/bin/python .tools/supply
	@$(UV) pip sync -q --python .tools/supply/bin/python --require-hashes tools/supply/requirements.lock
	@touch $@

sbom: setup .tools/supply/.ready ## software bill of materials, as CycloneDX, in var/sbom.cdx.json
	@$(PY) -m tools.sbom var/sbom.cdx.json $(ARGS)

audit: setup .tools/supply/.ready ## check packages of requirements.lock for known vulnerabilities
	@$(PY) -m tools.audit $(ARGS)

bench: setup ## benchmarks, one JSON object per line
	@$(PY) -m bench $(ARGS)

soak: setup ## a whole installation under load and faults for MINUTES=30, then all data must be in sync; chart in var/soak
	$(PY) -m tests.soak --minutes $(MINUTES) $(ARGS)

screenshots: setup ## create the pictures of the docs from the running product
	$(PY) -m tools.screenshots

HEADLAMP := integrations/headlamp
$(HEADLAMP)/node_modules/.ready: $(HEADLAMP)/package-lock.json
	@command -v npm >/dev/null || { echo "make headlamp needs npm. On Debian: apt-get install npm" >&2; exit 1; }
	@npm --prefix $(HEADLAMP) ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

headlamp: $(HEADLAMP)/node_modules/.ready ## build the Headlamp plugin into integrations/headlamp/dist/, and test it
	@npm --prefix $(HEADLAMP) run build
	@npm --prefix $(HEADLAMP) run tsc
	@npm --prefix $(HEADLAMP) test

clean: ## remove build outputs
	rm -rf .venv .tools tools/node_modules integrations/headlamp/node_modules integrations/headlamp/dist static/vendor var staticfiles dist .pytest_cache .mypy_cache .ruff_cache
