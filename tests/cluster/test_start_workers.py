"""Workers that are started for a block, and connections to a running cluster."""

import os
import signal
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.errors import ClusterError, MemoryLimitError, ParameterError
from mercer.estimators import PCA

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from mercer.cluster import active_client, connect, open_collection, start_workers  # noqa: E402


def folders():
    return {path.name for path in Path(gettempdir()).glob("mercer-workers-*")}


def test_workers_live_as_long_as_the_block():
    X, before = np.random.default_rng(0).normal(size=(200, 3)), folders()
    with start_workers(1, 500_000_000):
        client = active_client()
        (pid,) = client.run(os.getpid).values()
        (blocked,) = client.run(lambda: signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])).values()
        assert blocked, "a terminal sends Ctrl-C to the workers as well"
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        data = open_collection(da.from_array(X, chunks=100))
        assert (data.n_workers, data.executor.worker_memory) == (1, 500_000_000)
        assert_allclose(PCA(2).fit(da.from_array(X, chunks=100)).explained_variance_, PCA(2).fit(X).explained_variance_)
    assert active_client() is None
    assert folders() == before
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_workers_need_memory():
    with pytest.raises(MemoryLimitError, match=r"3 workers need at least 1.2 GB, 400 MB each.*at most 2"):
        start_workers(3, 1_000_000_000).__enter__()
    with pytest.raises(ParameterError, match="n_workers"):
        start_workers(0, 10**9).__enter__()


def test_connections(cluster):
    with connect(cluster.scheduler_address):
        assert active_client() is not None
    assert active_client() is None
    assert cluster.workers


def test_what_is_not_an_address():
    with pytest.raises(ParameterError, match="'no address' is not an address of a scheduler"):
        connect("no address").__enter__()


def test_a_cluster_that_does_not_answer():
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(ClusterError, match=r"The cluster at tcp://127.0.0.1:9 does not answer .*dask scheduler"),
    ):
        connect("tcp://127.0.0.1:9").__enter__()
    assert active_client() is None
