"""Hypothesis without a clock and without chance: the same examples on every machine."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

from mercer_old.threads import one_blas_thread
from support.dask_cluster import another_cluster, client, cluster, ignore_what_dask_leaves, in_a_loop, own_client

__all__ = ["another_cluster", "client", "cluster", "in_a_loop", "own_client"]

# Tests that start other processes in other folders run the same code there.
if "PYTHONPATH" in os.environ:
    paths = os.environ["PYTHONPATH"].split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(str(Path(path).resolve()) for path in paths if path)

settings.register_profile("house", derandomize=True, deadline=None, max_examples=40)
settings.register_profile("thorough", derandomize=True, deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "house"))


def pytest_collection_modifyitems(items):
    ignore_what_dask_leaves(items)


def pytest_collection_finish(session):
    """Names have to be the same in all processes that share the tests.

    What was collected stays to the end: the garbage collector need not go through it again and again.
    """
    fleeting = [item.nodeid for item in session.items if " at 0x" in item.nodeid]
    if fleeting:
        raise pytest.UsageError(f"A test is named by a place in memory; give it an id: {fleeting[0]}")
    gc.collect()
    gc.freeze()


def pytest_unconfigure():
    """DuckDB would take what is still frozen for leaks of its own, and tell."""
    gc.unfreeze()


@pytest.fixture(scope="module", autouse=True)
def one_thread_of_blas(request):
    """Threads on small products wait for each other: on a busy machine they take ten times as long. Our own stay.

    Where more are asked for by name, as `make test-cpus` does, BLAS has them.
    """
    asked = os.environ.get("OPENBLAS_NUM_THREADS", "1")
    if request.node.get_closest_marker("pools") or (asked.isdigit() and int(asked) > 1):
        yield
    else:
        with one_blas_thread():
            yield


@pytest.fixture
def blas_of_fits():
    """One thread of BLAS, as in fits, for tests of functions that fits call."""
    with one_blas_thread():
        yield
