"""A cluster that fails: a killed worker costs time alone, all else is one sentence, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from mercer import PCA, KernelPCA, ProbabilisticPCA
from mercer_old.engines.cluster import Cluster
from mercer_old.errors import ClusterFailed
from mercer_old.sources.collections import open_collection
from support.together import check_each

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


@pytest.mark.parametrize(
    ("name", "when"),
    [("PCA", 2), ("krylov", 20), pytest.param("landmarks", 5, marks=pytest.mark.slow)],
)
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


def gapped():
    return rows().map_blocks(lambda block: np.where(np.abs(block) > 9, np.nan, block), dtype=float)


STOPPED = {
    "krylov": (PCA(3, svd_solver="krylov"), rows),
    "krylov, opened before": (PCA(3, svd_solver="krylov"), lambda: open_collection(rows())),
    "gaps": (ProbabilisticPCA(3), gapped),
    "gaps, opened before": (ProbabilisticPCA(3), lambda: open_collection(gapped())),
}


def test_whoever_stops_between_two_passes_leaves_nothing_with_the_workers(own_client, monkeypatch):
    """Where nothing is under way that could be stopped, and rows are kept for what would come next."""
    keep, held = Cluster.keep, []

    def stopped(self, handles, evenly=False):
        held.extend(keep(self, handles, evenly))
        wait(held)
        raise KeyboardInterrupt

    def check(case):
        held.clear()
        model, X = STOPPED[case]
        with pytest.raises(KeyboardInterrupt):
            model.fit(X())
        assert held
        check_forgotten(own_client)

    monkeypatch.setattr("mercer_old.plans.gaps._FEW", 0)
    monkeypatch.setattr(Cluster, "keep", stopped)
    check_each(STOPPED, check)


def check_forgotten(client):
    """The scheduler knows of no task any longer; that takes it a moment."""
    for _ in range(100):
        if not client.cluster.scheduler.tasks:
            break
        time.sleep(0.1)
    assert not client.cluster.scheduler.tasks


@contextmanager
def done_by_one(another_cluster, made):
    """An engine, and a result that is done and lies on the only worker; no client is the default."""
    with another_cluster(n_workers=1) as cluster, Client(cluster, set_as_default=False) as client:
        engine = Cluster(client)
        kept = engine.keep(engine.map(np.multiply, [made], [2.0]))
        assert kept[0].exception() is None
        yield engine, kept


def lost(kept):
    for _ in range(1000):
        if kept[0].status == "lost":
            return kept
        time.sleep(0.01)
    raise AssertionError("its worker is not missed")


FETCHING = {  # who asks when it is known that the worker is gone, and who asks before that
    "waits": lambda engine, kept: next(engine.bring(lost(kept))),
    "fetches": lambda engine, kept: engine.waiting.fetched(kept)[0],
}


@pytest.mark.parametrize("fetch", FETCHING.values(), ids=FETCHING)
def test_what_was_done_and_went_with_its_worker_is_made_again(another_cluster, fetch):
    with done_by_one(another_cluster, partial(np.arange, 3.0)) as (engine, kept):
        kill_one(engine.client)
        assert fetch(engine, kept).tolist() == [0, 2, 4]


@pytest.mark.parametrize("fetch", FETCHING.values(), ids=FETCHING)
def test_what_cannot_be_made_again_is_told_as_at_the_first_time(another_cluster, tmp_path, fetch):
    np.save(tmp_path / "rows.npy", np.arange(3.0))
    with done_by_one(another_cluster, partial(np.load, tmp_path / "rows.npy")) as (engine, kept):
        (tmp_path / "rows.npy").unlink()
        kill_one(engine.client)
        with pytest.raises(FileNotFoundError, match=r"rows\.npy"):
            fetch(engine, kept)


@pytest.mark.parametrize("fetch", FETCHING.values(), ids=FETCHING)
def test_what_was_done_by_workers_of_whom_none_is_left_is_one_sentence(another_cluster, monkeypatch, fetch):
    monkeypatch.setattr("mercer_old.engines.waiting._GLANCE", 0.05)
    with done_by_one(another_cluster, partial(np.arange, 3.0)) as (engine, kept):
        engine.client.sync(engine.client.cluster.workers[0].close)  # and not by a kill, after which another would begin
        with pytest.raises(ClusterFailed, match=r"All workers .* are gone"):
            fetch(engine, kept)


def test_a_scheduler_that_is_gone_is_told_of_at_the_next_fit_too(own_client, monkeypatch):
    monkeypatch.setattr(own_client, "status", "connecting")
    with pytest.raises(ClusterFailed, match=r"does not answer any more.*close the client then"):
        PCA(2).fit(rows())


def test_an_asynchronous_client_is_told_apart_from_one_without_workers(client, monkeypatch):
    monkeypatch.setattr(type(client), "asynchronous", True)
    with pytest.raises(ClusterFailed, match=r"is asynchronous.*asyncio\.to_thread"):
        PCA(2).fit(rows())


def test_a_client_that_was_closed_is_one_sentence(another_cluster):
    with done_by_one(another_cluster, partial(np.arange, 3.0)) as (engine, kept):
        engine.client.close()
        with pytest.raises(ClusterFailed, match=r"The scheduler of the cluster at tcp.* does not answer any more"):
            next(engine.bring(kept))


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
