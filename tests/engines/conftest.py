"""A real cluster: a scheduler and two workers, each a process of its own, on loopback."""

import logging

import pytest


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        memory_limit="768MiB",
        dashboard_address=None,
        host="127.0.0.1",
        silence_logs=logging.CRITICAL,
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client that is active in this test alone: without one, the same collections go through a loop."""
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2)
        yield client
