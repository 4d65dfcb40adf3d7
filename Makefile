# Two commands on a fresh machine with Python ≥ 3.11 and make: `make demo` and `make test`.

PYTHON ?= python3
BIN    := .venv/bin
TWO    := -n 2 --dist worksteal  # processes that share the tests

# Python is compiled once, and not by each of the many processes of a run.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help demo docs attack test test-all lint bench pictures reference parity test-cpus test-lowest test-next format clean

help:  ## this list
	@awk -F ':.*##' '/^[a-z-]+:.*##/ { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

demo: .venv/.demo  ## the lectures' figures, a report on real data and the playground: gallery/index.html leads to all
	$(BIN)/mercer demo

docs: .venv/.docs  ## the documents as a site that opens offline: build/docs/html/index.html
	$(BIN)/python -m docs.site $(ARGS)

test: .venv/.dev  ## run all tests, the linters among them
	$(BIN)/python -m pytest $(TWO) $(ARGS)

test-all: .venv/.dev .venv/.docs  ## the slow ones as well
	$(BIN)/python -m pytest $(TWO) -m "" $(ARGS)

parity: .venv/.dev  ## both editions on the same 270 problems; ARGS="wide sparse" chooses by name
	$(BIN)/python tools/parity.py $(ARGS)

attack: .venv/.dev  ## 4 000 hostile problems against every certificate; ARGS="--edition new --seed 1 --only FAMILY" (some minutes)
	PYTHONPATH=tests $(BIN)/python -m attack $(ARGS)

lint: .venv/.dev  ## ruff (lint and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/$(if $(filter cluster pca lle famd strings denoising gaps novelty,$(SUITE)),.bench,.dev)  ## SUITE=pca: us and others side by side; without a name: what there is, and how long it takes
	$(BIN)/python -m benchmarks $(SUITE) $(ARGS)

million.parquet: .venv/.dev
	$(BIN)/python -m benchmarks.kernel_pca.million $@

reference: .venv/.dev  ## docs/reference and docs/gallery.md, written from the code
	$(BIN)/python tools/reference.py

pictures: .venv/.dev  ## the pictures of the documents, in about a minute
	$(BIN)/python -m docs.pictures.draw $(ARGS)

test-cpus: .venv/.dev  ## the numerical tests as other processors compute them, with a table at the end (about half an hour)
	$(BIN)/python tools/cpus.py $(ARGS)

test-lowest:  ## the tests of the library on the lowest supported versions, in .venv-lowest
	$(PYTHON) tools/versions.py lowest $(ARGS)

test-next:  ## the tests on the newest scikit-learn, pre-releases too, with and without its private names, in .venv-next
	$(PYTHON) tools/versions.py next $(ARGS)

format: .venv/.dev  ## let ruff put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove .venv, caches and the drawn gallery
	rm -rf .venv .venv-lowest .venv-next gallery build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: written last by the bootstrap, renewed when the requirements change.
.venv/.demo: pyproject.toml tools/bootstrap.py
	@$(PYTHON) tools/bootstrap.py $@ app

.venv/.docs: pyproject.toml tools/bootstrap.py
	@$(PYTHON) tools/bootstrap.py $@ app docs
	@touch .venv/.demo

.venv/.dev: pyproject.toml tools/bootstrap.py
	@$(PYTHON) tools/bootstrap.py $@ app test lint
	@touch .venv/.demo

.venv/.bench: pyproject.toml tools/bootstrap.py
	@$(PYTHON) tools/bootstrap.py $@ app test lint bench
	@touch .venv/.demo .venv/.dev
