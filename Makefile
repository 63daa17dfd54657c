# The commands of this project. `make` alone lists them. Each makes its own environment when there is none.
#
# Variables you may set: PYTHON (which Python to use), VENV (where the environment goes), NB (which notebooks to build),
# TESTS (which tests to run), EXTRAS (more to install for the tests, such as agentdojo), WORKERS (how many processes run the tests).

VENV    ?= .venv
PYTHON  ?=
WORKERS ?= 2
EXTRAS  ?=
TESTS   ?=
NB      ?=
REPO    ?=

comma    := ,
BIN       = $(VENV)/bin
FIND      = sh tools/find_python.sh
INSTALL   = sh tools/install.sh "$(VENV)" "$(PYTHON)"
SOURCES   = pyproject.toml constraints.txt tools/install.sh tools/install_local.sh tools/find_python.sh

.PHONY: help lab local test test-all test-live notebooks links bench clean
.DELETE_ON_ERROR:

help:
	@echo "make lab         open the course in JupyterLab"
	@echo "make local       add the small model that runs on this machine (130 MB)"
	@echo "make test        check style and types, run all tests"
	@echo "make test-all    the same for every Python from 3.11 on that this machine has"
	@echo "make test-live   a few calls to the real services, for each key that is set (they cost a little)"
	@echo "make notebooks   build the notebooks from their text sources (NB=\"03 05\" builds some)"
	@echo "make links REPO=owner/name   write the address of the repository where it belongs"
	@echo "make bench       measure speed and size"
	@echo "make clean       remove environments and caches, never your notebooks"

lab: $(VENV)/.ready-lab
	@$(BIN)/agentkit lab

local: $(VENV)/.ready-lab
	@sh tools/install_local.sh "$(VENV)"

test: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS)

test-live: $(VENV)/.ready-dev
	AGENTKIT_LIVE=1 $(BIN)/python -m pytest -q -p no:xdist tests/live $(TESTS)

test-all:
	@found=$$($(FIND) --all) || exit 1; \
	for one in $$found; do \
	  version=$$($$one -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "== Python $$version"; \
	  $(MAKE) test PYTHON="$$one" VENV=".venv-$$version" || exit 1; \
	done

notebooks: $(VENV)/.ready-dev
	$(BIN)/python -m agentkit.course.build $(NB)

links: $(VENV)/.ready-lab
	@$(BIN)/python -m agentkit.course.links $(REPO)

bench: $(VENV)/.ready-dev
	@test -f tests/bench/run.py || { echo "There is no tests/bench/run.py in this checkout."; exit 1; }
	$(BIN)/python tests/bench/run.py

clean:
	rm -rf .venv .venv-3.* build dist artifacts .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find agentkit tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The marker files say when the environment was made. They are renewed only when what they depend on has changed.
$(VENV)/.ready-lab: $(SOURCES)
	@$(INSTALL) notebooks,providers,mcp
	@touch $@

$(VENV)/.ready-dev: $(SOURCES)
	@$(INSTALL) notebooks,providers,mcp,sandbox,dev$(if $(EXTRAS),$(comma)$(EXTRAS))
	@sh tools/install_local.sh "$(VENV)"
	@touch $(VENV)/.ready-lab $@
