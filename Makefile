# Everything a person or CI does here. Each target makes what it needs first; see `make help`.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

export DBAAS_SANDBOX_DIR ?= $(CURDIR)/.sandbox
VENV := $(DBAAS_SANDBOX_DIR)/venv
PYTHON := $(VENV)/bin/python
# The environment's programs first: ansible, molecule, the linters.
IN_VENV := PATH="$(VENV)/bin:$$PATH"
# Of what takes long all, where `make test` takes a sample; DBAAS_ALL=0 for a sample here, too.
IN_ALL := DBAAS_ALL=$${DBAAS_ALL:-1} $(IN_VENV)
PYTEST_ARGS ?=

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { gsub(/\$$\$$/, "$$"); printf "  make %-18s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: bootstrap
bootstrap: ## Make what the sandbox needs: Python environment, control plane, MariaDB (once)
	@dev/bootstrap.sh

.PHONY: demo
demo: bootstrap ## Bring all up and show each kind of request, with proof; leaves the sandbox up
	@$(IN_VENV) $(PYTHON) -m dev.demo

.PHONY: test
test: bootstrap ## Run all tests, of those that take hours a sample; ends with the counts
	@$(IN_VENV) $(PYTHON) -m dev.check

.PHONY: test-unit
test-unit: bootstrap ## Run the tests of pure functions
	@$(IN_VENV) $(PYTHON) -m pytest tests/unit $(PYTEST_ARGS)

.PHONY: test-contract
test-contract: bootstrap ## Run the tests that compare tables, docs, schemas and defaults
	@$(IN_VENV) $(PYTHON) -m pytest tests/contract $(PYTEST_ARGS)

.PHONY: test-integration
test-integration: bootstrap ## Run the tests against the real API server and MariaDB, without the operator
	@$(IN_ALL) $(PYTHON) -m pytest tests/integration -m "not e2e" $(PYTEST_ARGS)

.PHONY: test-e2e
test-e2e: bootstrap ## Run the tests that go through the operator
	@$(IN_ALL) $(PYTHON) -m pytest tests/integration -m e2e $(PYTEST_ARGS)

.PHONY: test-cases
test-cases: bootstrap ## Run all cases from the field, each by runs of a playbook
	@$(IN_ALL) $(PYTHON) -m pytest tests/cases $(PYTEST_ARGS)

.PHONY: test-crash
test-crash: bootstrap ## Kill a run at every border there is, and compare (most of an hour)
	@$(IN_ALL) $(PYTHON) -m pytest tests/crash --capture=no $(PYTEST_ARGS)

.PHONY: test-migration
test-migration: bootstrap ## Migrate from MariaDBConsumer, a hundred through the operator too; count and time are printed
	@$(IN_ALL) $(PYTHON) -m pytest tests/migration -s $(PYTEST_ARGS)

.PHONY: test-platform
test-platform: bootstrap ## Run the tests of a person's playbooks: invariants, orphans, release, hand over, restore
	@$(IN_ALL) $(PYTHON) -m pytest tests/platform $(PYTEST_ARGS)

.PHONY: test-outage
test-outage: bootstrap ## Run outages and races on every path (about an hour)
	@$(IN_ALL) $(PYTHON) -m pytest tests/outage -m "not load and not chaos" -rP $(PYTEST_ARGS)

.PHONY: test-load
test-load: bootstrap ## Make and delete 200 requests at once
	@$(IN_ALL) $(PYTHON) -m pytest tests/outage -m load -rP $(PYTEST_ARGS)

.PHONY: test-chaos
test-chaos: bootstrap ## Kill operator and server at random for ten minutes; DBAAS_SEED=n repeats the order
	@$(IN_ALL) $(PYTHON) -m pytest tests/outage -m chaos -rP $(PYTEST_ARGS)

.PHONY: molecule
molecule: bootstrap ## Run the molecule scenarios (one of them: make molecule SCENARIO=seed)
	@$(IN_VENV) $(PYTHON) -m dev.check molecule $(SCENARIO)

.PHONY: lint
lint: bootstrap ## Run ansible-lint, yamllint, ruff and mypy
	@echo "yamllint" >&2; $(IN_VENV) yamllint --strict .
	@echo "ruff" >&2; $(IN_VENV) ruff check
	@echo "mypy" >&2; $(IN_VENV) mypy
	@echo "ansible-lint" >&2; $(IN_VENV) ansible-lint --offline

.PHONY: check-invariants
check-invariants: bootstrap ## Check a live platform by the current KUBECONFIG, an admin's; status 2 if something is found
	@$(IN_VENV) ansible-playbook playbooks/check-invariants.yml $(ARGS)

.PHONY: run
run: bootstrap ## Run the operator in the foreground against the current KUBECONFIG
	@$(IN_VENV) $(PYTHON) -m dev.run

.PHONY: sandbox-up
sandbox-up: bootstrap ## Start control plane and servers, install CRDs, rights and policy, make the provider
	@$(IN_VENV) $(PYTHON) -m dev.sandbox up

.PHONY: sandbox-down
sandbox-down: ## Stop all of the sandbox; its data stays
	@if [ -x "$(PYTHON)" ]; then $(PYTHON) -m dev.sandbox down; fi

.PHONY: sandbox-env
sandbox-env: bootstrap ## Print shell code for work by hand: eval "$$(make -s sandbox-env)"
	@$(IN_VENV) $(PYTHON) -m dev.sandbox env

.PHONY: clean
clean: sandbox-down ## Stop the sandbox and remove all it made, the built control plane included
	@rm -rf "$(DBAAS_SANDBOX_DIR)" .pytest_cache .mypy_cache .ruff_cache .hypothesis .ansible
