"""A cluster that fails: a killed worker costs time alone, all else is one sentence, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial

import numpy as np
import pytest

from mercer import PCA, KernelPCA
from mercer.engines.cluster import Cluster
from mercer.errors import ClusterFailed

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
Client, wait = distributed.Client, distributed.wait

FITS = {
    "PCA": lambda progress: PCA(3, progress=progress),
    "krylov": lambda progress: PCA(3, svd_solver="krylov", progress=progress),
    "landmarks": lambda progress: KernelPCA(3, kernel="rbf", gamma=1e-4, n_landmarks=60, progress=progress),
}


def rows():
    return da.random.RandomState(0).normal(size=(6000, 8), chunks=(500, 8)) * np.arange(1.0, 9.0)


def kill_one(client):
    """As the kernel does when memory is short: no word to anybody."""
    pids = client.run(os.getpid)
    os.kill(sorted(pids.values())[0], signal.SIGKILL)


def check_killed(client, name, when):
    """The fit whose `when`-th word on its progress kills a worker gives the bits of one that was left in peace."""
    expected, heard = FITS[name](False).fit(rows()), []

    def hear(progress):
        heard.append(progress)
        if len(heard) == when:
            kill_one(client)

    model = FITS[name](hear).fit(rows())
    assert len(heard) >= when, "nobody was killed"
    for fitted in ("components_", "eigenvalues_", "mean_"):
        if hasattr(expected, fitted):
            assert np.array_equal(getattr(model, fitted), getattr(expected, fitted))


@pytest.mark.parametrize(("name", "when"), [("PCA", 2), ("krylov", 20), ("landmarks", 5)])
def test_a_killed_worker_changes_nothing_in_the_answer(own_client, name, when):
    check_killed(own_client, name, when)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_twenty_kills_change_nothing(own_client, number):
    """At another moment each, by every way in turn."""
    check_killed(own_client, list(FITS)[number % len(FITS)], 1 + (5 * number) % 12)


def test_a_lost_scheduler_is_one_sentence(another_cluster):
    cluster = another_cluster()
    with Client(cluster, timeout="5s"):
        gone = []

        def hear(progress):
            if not gone:
                gone.append(True)
                cluster.close(timeout=10)

        with pytest.raises(ClusterFailed, match=r"does not answer any more|was cancelled"):
            PCA(3, svd_solver="krylov", progress=hear).fit(rows())
        assert gone


def test_whoever_stops_a_fit_stops_the_work_of_the_cluster(client):
    class Enough(Exception):
        pass

    def hear(progress):
        raise Enough

    model = PCA(3, progress=hear)
    with pytest.raises(Enough):
        model.fit(rows())
    assert not hasattr(model, "components_")
    for _ in range(100):
        if not any(client.processing().values()):
            break
        time.sleep(0.1)
    assert not any(client.processing().values())
    assert PCA(3).fit(rows()).n_components_ == 3


def test_rows_that_are_kept_are_let_go_although_somebody_remembers_what_stopped_the_fit(own_client):
    """As a notebook does, whose last traceback holds the frames of the fit, and what is in them."""

    def hear(progress):
        raise KeyboardInterrupt

    slow = rows().map_blocks(lambda block: time.sleep(0.2) or block, dtype=float)
    with pytest.raises(KeyboardInterrupt) as remembered:
        PCA(3, svd_solver="krylov", progress=hear).fit(slow)
    check_forgotten(own_client)
    assert remembered.value.__traceback__ is not None


def test_whoever_stops_between_two_passes_leaves_nothing_with_the_workers(own_client, monkeypatch):
    """Where nothing is under way that could be stopped, and rows are kept for what would come next."""
    keep, held = Cluster.keep, []

    def stopped(self, handles, evenly=False):
        held.extend(keep(self, handles, evenly))
        wait(held)
        raise KeyboardInterrupt

    monkeypatch.setattr(Cluster, "keep", stopped)
    with pytest.raises(KeyboardInterrupt):
        PCA(3, svd_solver="krylov").fit(rows())
    assert len(held) == 12
    check_forgotten(own_client)


def check_forgotten(client):
    """The scheduler knows of no task any longer; that takes it a moment."""
    for _ in range(100):
        if not client.cluster.scheduler.tasks:
            break
        time.sleep(0.1)
    assert not client.cluster.scheduler.tasks


def kept_by(client):
    """An engine, and a result that is done and lies on a worker."""
    engine = Cluster(client)
    kept = engine.keep(engine.map(np.multiply, [partial(np.arange, 3.0)], [2.0]))
    wait(kept)
    return engine, kept


FETCHING = {  # who asks before it is known what is gone, and who asks after it
    "waits": lambda engine, kept: next(engine.bring(kept)),
    "fetches": lambda engine, kept: engine.waiting.fetched(kept)[0],
}


@pytest.mark.parametrize("fetch", FETCHING.values(), ids=FETCHING)
def test_what_was_done_and_went_with_its_worker_is_made_again(another_cluster, fetch):
    with another_cluster(n_workers=1) as cluster, Client(cluster) as client:
        engine, kept = kept_by(client)
        kill_one(client)
        while kept[0].status != "lost":
            time.sleep(0.01)
        assert fetch(engine, kept).tolist() == [0, 2, 4]


@pytest.mark.parametrize("fetch", FETCHING.values(), ids=FETCHING)
def test_what_was_done_by_workers_of_whom_none_is_left_is_one_sentence(another_cluster, monkeypatch, fetch):
    monkeypatch.setattr("mercer.engines.waiting._GLANCE", 0.05)
    with another_cluster(n_workers=1) as cluster, Client(cluster) as client:
        engine, kept = kept_by(client)
        client.sync(cluster.workers[0].close)  # and not by a kill, after which another would begin
        with pytest.raises(ClusterFailed, match=r"All workers .* are gone"):
            fetch(engine, kept)


def test_two_fits_at_once_share_a_cluster(client):
    expected = PCA(3).fit(rows()).components_
    found = [None, None]

    def fit(i):
        found[i] = PCA(3).fit(rows()).components_

    both = [threading.Thread(target=fit, args=(i,)) for i in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert all(np.array_equal(one, expected) for one in found)


def test_work_that_kills_every_worker_is_one_sentence(another_cluster):
    def deadly(block):
        if len(block) == 100:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with another_cluster() as cluster, Client(cluster):
        X = da.ones((1100, 3), chunks=(500, 3)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
        with pytest.raises(ClusterFailed, match=r"Workers died again and again of the same work"):
            PCA(2).fit(X)


def test_control_c_leaves_no_process_behind(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(
        textwrap.dedent(
            """
            import logging, time
            import dask.array as da
            from distributed import Client, LocalCluster
            from mercer import PCA

            def slow(block):
                time.sleep(0.5)
                return block

            def main():
                with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0",
                                  silence_logs=logging.CRITICAL) as cluster, Client(cluster) as client:
                    import os
                    print(*client.run(os.getpid).values(), flush=True)
                    X = da.ones((4000, 3), chunks=(100, 3)).map_blocks(slow, dtype=float)
                    try:
                        PCA(2, progress=lambda state: print("going", flush=True)).fit(X)
                    except KeyboardInterrupt:
                        print("stopped", flush=True)

            if __name__ == "__main__":
                main()
            """
        )
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True) as run:
        pids = [int(pid) for pid in run.stdout.readline().split()]
        assert run.stdout.readline().strip() == "going"
        run.send_signal(signal.SIGINT)
        assert "stopped" in run.stdout.read()
        assert run.wait() == 0
    assert not [pid for pid in pids if _alive(pid)]


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
