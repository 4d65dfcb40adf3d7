"""A cluster that fails: killed workers change nothing, all else ends in one message, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.errors import ClusterError
from mercer.estimators import PCA

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
Client = distributed.Client

from mercer.cluster import Executor, open_collection  # noqa: E402

FITS = {
    "scatter": lambda progress: PCA(3, progress=progress),
    "products": lambda progress: PCA(3, svd_solver="krylov", progress=progress),
}


@pytest.fixture(autouse=True)
def config():
    """Dask's settings: clients whose scheduler is lost do not restore them."""
    dask = pytest.importorskip("dask")
    before = dask.config.config.copy()
    yield
    dask.config.config.clear()
    dask.config.config.update(before)


def rows():
    return da.random.RandomState(0).normal(size=(6000, 8), chunks=(500, 8)) * np.arange(1.0, 9.0)


def slow_rows():
    return rows().map_blocks(lambda block: time.sleep(0.2) or block, dtype=float)


def kill_one(client):
    os.kill(sorted(client.run(os.getpid).values())[0], signal.SIGKILL)


def wait_until(condition):
    for _ in range(100):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("not within 10 seconds")


def check_forgotten(client):
    """The scheduler knows no task any more."""
    wait_until(lambda: not client.cluster.scheduler.tasks)


# ---------------------------------------------------------------------- workers die


def check_killed(client, name, when):
    """A worker is killed at some report of the progress; the fit is the one without that."""
    expected, n_reports = FITS[name](False).fit(rows()), 0

    def kill(state):
        nonlocal n_reports
        n_reports += 1
        if n_reports == when:
            kill_one(client)

    model = FITS[name](kill).fit(rows())
    assert n_reports >= when, "no worker was killed"
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-12)
    assert_allclose(model.components_, expected.components_, atol=1e-9)
    assert model.certificate_.n_complete == 3


@pytest.mark.parametrize(("name", "when"), [("scatter", 2), ("products", 20)])
def test_a_killed_worker_changes_nothing(own_client, name, when):
    check_killed(own_client, name, when)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(10))
def test_workers_may_be_killed_at_any_time(own_client, number):
    check_killed(own_client, list(FITS)[number % 2], 1 + (5 * number) % 12)


def test_shared_values_survive_their_worker(own_client):
    executor = Executor(own_client)
    with executor.shared(np.arange(3.0)) as handle:
        (before,) = executor.gather([executor.task(np.sum, handle)])
        for pid in own_client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        assert executor.gather([executor.task(np.sum, handle)]) == [before] == [3.0]


def test_persisted_partitions_are_computed_again(own_client):
    executor = Executor(own_client)
    handles = executor.persist([executor.task(np.arange, 3.0), executor.task(np.arange, 4.0)])
    assert [len(found) for found in executor.gather([executor.task(np.asarray, one) for one in handles])] == [3, 4]
    kill_one(own_client)
    assert [len(found) for found in executor.gather([executor.task(np.asarray, one) for one in handles])] == [3, 4]
    executor.release(handles)
    check_forgotten(own_client)


def test_tasks_that_kill_every_worker(another_cluster):
    def deadly(block):
        if len(block) == 100:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with another_cluster() as cluster, Client(cluster):
        X = da.ones((1100, 3), chunks=(500, 3)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(ClusterError, match=r"Several workers died while they ran the same task.*X\.rechunk"):
            PCA(2).fit(X)


# ---------------------------------------------------------------------- nothing is there any more


def test_a_lost_scheduler(another_cluster):
    cluster = another_cluster()
    with Client(cluster, timeout="5s"):
        is_gone = []

        def close(state):
            if not is_gone:
                is_gone.append(True)
                cluster.close(timeout=10)

        with pytest.raises(ClusterError, match=r"does not answer|was cancelled"):
            PCA(3, svd_solver="krylov", progress=close).fit(rows())
        assert is_gone


@contextmanager
def scheduler_process():
    """A scheduler that can be killed, with a worker of its own."""
    command = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as scheduler:
        try:
            address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at" in line)
            command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
            with subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.DEVNULL) as worker:
                try:
                    yield scheduler, address
                finally:
                    worker.kill()
        finally:
            scheduler.kill()


def test_a_killed_scheduler(monkeypatch):
    """Without a word to anyone, while results are awaited."""
    monkeypatch.setattr("mercer.cluster.executor.POLL", 0.1)
    with scheduler_process() as (scheduler, address), Client(address, timeout="30s") as client:
        client.wait_for_workers(1)
        n_reports = 0

        def kill(state):
            nonlocal n_reports
            n_reports += 1
            if n_reports == 3:
                scheduler.kill()

        with pytest.raises(ClusterError, match=r"The scheduler of the cluster at tcp.*does not answer|was cancelled"):
            PCA(3, svd_solver="krylov", progress=kill).fit(rows())
        assert n_reports >= 3
        with pytest.raises(
            ClusterError, match=r"does not answer.*client\.close\(\)"
        ):  # the next fit reports it at once
            PCA(2).fit(rows())


def test_a_closed_client(own_client):
    executor = Executor(own_client)
    task = executor.task(np.arange, 3.0)
    own_client.close()
    with pytest.raises(ClusterError, match="does not answer"):
        executor.gather([task])


def test_all_workers_are_gone(another_cluster, monkeypatch):
    monkeypatch.setattr("mercer.cluster.executor.POLL", 0.05)
    with another_cluster(n_workers=1) as cluster, Client(cluster) as client:
        is_gone = []

        def close(state):
            if not is_gone:
                is_gone.append(True)
                client.sync(cluster.workers[0].close)  # not by a signal, after which another one would be started

        with pytest.raises(ClusterError, match=r"All workers .* are gone, and none has come back.*smaller chunks"):
            PCA(3, progress=close).fit(rows())
        assert is_gone
        with pytest.raises(ClusterError, match=r"has no workers.*dask worker tcp"):
            PCA(3).fit(rows())


def test_all_workers_are_paused(another_cluster, monkeypatch):
    """As Dask does from 80 % of their memory: they would wait for ever if it is not the memory of results."""

    def use_memory(dask_worker):
        import psutil  # Dask needs it

        dask_worker.used = np.ones(int(0.87 * 500e6 - psutil.Process().memory_info().rss), np.uint8)

    monkeypatch.setattr("mercer.cluster.executor.POLL", 0.05)
    with another_cluster(n_workers=1, memory_limit=500_000_000) as cluster, Client(cluster) as client:
        PCA(2).fit(rows())
        client.run(use_memory)
        status = lambda: {w["status"] for w in client.scheduler_info(n_workers=-1)["workers"].values()}  # noqa: E731
        wait_until(lambda: status() == {"paused"})
        with pytest.raises(ClusterError, match=r"All workers .* are paused for lack of memory.*smaller chunks"):
            PCA(2).fit(rows())
        check_forgotten(client)


def test_loaded_samples_are_aligned(client):
    """What arrives over a network may start at any byte, and products of such arrays have other bits."""
    X = np.random.default_rng(0).normal(size=(333, 7))
    data = open_collection(da.from_array(X, chunks=-1))
    for samples in (data.load(), next(data.blocks(1000)), data.take(np.arange(333))):
        assert samples.flags.aligned
        assert samples.flags.writeable
    seen = data.reduce(lambda local, weights: [weights.flags.aligned, local.load().flags.aligned], weights=np.ones(333))
    assert seen == [True, True]


def test_results_whose_only_worker_is_gone(another_cluster, monkeypatch):
    """Persisted results were there, and nothing is left that could compute them again."""
    monkeypatch.setattr("mercer.cluster.executor.POLL", 0.05)
    with another_cluster(n_workers=1) as cluster, Client(cluster) as client:
        executor = Executor(client)
        handles = executor.persist([executor.task(np.arange, 3.0)])
        distributed.wait(handles)
        client.sync(cluster.workers[0].close)
        with pytest.raises(ClusterError, match=r"All workers .* are gone"):
            executor.gather([executor.task(np.sum, handles[0])])


# ---------------------------------------------------------------------- the user stops


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("when", [1, 13])
def test_interrupts_leave_nothing_on_the_cluster(own_client, name, when):
    """Although the exception, and so the frames of the fit, are kept, as notebooks do."""
    n_reports = 0

    def interrupt(state):
        nonlocal n_reports
        n_reports += 1
        if n_reports == (when if name == "products" else 1):
            raise KeyboardInterrupt

    model = FITS[name](interrupt)
    with pytest.raises(KeyboardInterrupt) as kept:
        model.fit(slow_rows() if when == 1 else rows())
    assert not hasattr(model, "components_")
    check_forgotten(own_client)
    assert kept.value.__traceback__ is not None
    assert PCA(3).fit(rows()).n_components_ == 3


def test_an_interrupt_between_passes_releases_persisted_partitions(own_client, monkeypatch):
    started = []
    persist = Executor.persist

    def interrupted(self, tasks):
        started.extend(persist(self, tasks))
        return started

    def interrupt(*args, **kwargs):
        distributed.wait(started)
        raise KeyboardInterrupt

    monkeypatch.setattr(Executor, "persist", interrupted)
    monkeypatch.setattr(Executor, "reduce", interrupt)
    with pytest.raises(KeyboardInterrupt):
        PCA(3).fit(rows())
    assert started
    check_forgotten(own_client)


def test_scores_that_are_not_read_to_the_end_leave_nothing(own_client):
    model = PCA(3).fit(rows())
    scores = model.iter_scores(model.open(rows()))
    assert next(scores)[1].shape == (500, 3)
    scores.close()
    check_forgotten(own_client)


def test_two_fits_at_once(client):
    expected, found = PCA(3).fit(rows()).components_, [None, None]

    def fit(i):
        found[i] = PCA(3).fit(rows()).components_

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for components in found:
        assert_allclose(components, expected, atol=1e-9)


def test_control_c_leaves_no_process_no_task_and_no_message(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(
        textwrap.dedent(
            """
            import gc, logging, os, time
            import dask.array as da
            import numpy as np
            from distributed import Client, LocalCluster
            from mercer.estimators import PCA, KernelPCA
            from mercer.planning import plan_kernel

            plan_kernel._DISTRIBUTED_SECONDS = 0

            def slow(block):
                time.sleep(0.5)
                return block

            def stopped(cluster, fit):
                try:
                    fit()
                except KeyboardInterrupt as kept:
                    time.sleep(1)
                    gc.collect()
                    print("stopped with", len(cluster.scheduler.tasks), "tasks", flush=True)

            def main():
                listener = lambda state: print("going", flush=True)
                with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0",
                                  silence_logs=logging.CRITICAL) as cluster, Client(cluster) as client:
                    print(*client.run(os.getpid).values(), flush=True)
                    X = da.ones((4000, 3), chunks=(100, 3)).map_blocks(slow, dtype=float)
                    stopped(cluster, lambda: PCA(2, progress=listener).fit(X))
                    X = da.from_array(np.random.default_rng(0).normal(size=(12000, 3)), chunks=4000)
                    stopped(cluster, lambda: KernelPCA(2, kernel="rbf", progress=listener).fit(X))

            if __name__ == "__main__":
                main()
            """
        )
    )
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, script], **pipes, start_new_session=True) as run:
        pids = [int(pid) for pid in run.stdout.readline().split()]
        for _ in range(2):
            assert run.stdout.readline().strip() == "going"
            sent = -np.inf
            for line in iter(run.stdout.readline, "stopped with 0 tasks\n"):
                assert line == "going\n"
                if time.monotonic() - sent > 3:  # again if Python lost it: callbacks of Dask run inside the collector
                    run.send_signal(signal.SIGINT)
                    sent = time.monotonic()
        assert run.wait() == 0
        assert run.stderr.read() == ""
    assert not [pid for pid in pids if is_alive(pid)]


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
