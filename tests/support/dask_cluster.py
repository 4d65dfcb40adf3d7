"""A real cluster: a scheduler and two workers, each a process of its own, on loopback."""

import logging
import multiprocessing
import warnings
from contextlib import contextmanager, nullcontext

import pytest

FOLDERS = "cluster", "engines"  # of tests that use it
# Dask leaves sockets to the garbage collector; what it says of that is not about us.
LEFT = "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"


def ignore_what_dask_leaves(items):
    """Mark the tests of the folders above."""
    for item in items:
        if item.path.parent.name in FOLDERS:
            for left in LEFT:
                item.add_marker(pytest.mark.filterwarnings(left))


def local_cluster(**options):
    """A cluster on loopback whose page, if there is one, is nowhere in particular."""
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    defaults = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "memory_limit": "768MiB",
        "dashboard_address": "127.0.0.1:0",
        "host": "127.0.0.1",
        "silence_logs": logging.CRITICAL,
    }
    with quick_beginnings():
        return distributed.LocalCluster(**defaults | options)


def quick_beginnings():
    """Workers begin as forks of a process that does nothing but import what they need, which takes them seconds.

    Those that replace them begin as they do elsewhere.
    """
    import dask

    if "forkserver" not in multiprocessing.get_all_start_methods():
        return nullcontext()
    multiprocessing.set_forkserver_preload(["distributed.nanny", "dask.array", "dask.dataframe", "mercer"])
    return dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})


@pytest.fixture(scope="session")
def cluster():
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def another_cluster():
    """What makes one more, for tests that do to it what others must not see."""
    return local_cluster


@pytest.fixture
def client(cluster):
    """A client that is active in this test alone: without one, the same collections go through a loop."""
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(1)
        yield client


@pytest.fixture
def own_client(another_cluster):
    """A client of a cluster whose workers this test may kill: one that is killed as it begins is not replaced."""
    from distributed import Client

    with another_cluster() as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def in_a_loop(monkeypatch):
    """What hides the client for a while."""

    @contextmanager
    def hidden():
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Running on a single-machine scheduler", UserWarning)  # Dask sees it
            patch.setattr("mercer_old.sources.collections.active_client", lambda: None)
            yield

    return hidden
