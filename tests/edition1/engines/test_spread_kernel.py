"""Kernel PCA whose passes are shared out: on a loop, as if it were elsewhere, and on a real cluster, bit for bit."""

import gc
import os
import signal
from time import sleep
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.kernels import RBF, Cosine, Laplacian, Sigmoid
from mercer_old.engines.loop import Loop
from mercer_old.errors import NoRoom
from mercer_old.plans import kernel as plans
from support.together import check_each

da = pytest.importorskip("dask.array", reason="the extra `dask` is not installed")

rng = np.random.default_rng(3)
X = rng.normal(size=(700, 6)) * np.array([5.0, 4, 3, 2, 1, 0.5])
UNEQUAL = ((1, 300, 9, 390), (6,))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few rows take the way of many: the matrix is evaluated anew, in pieces of some hundred rows."""

    def anew(problem, limits):
        return plans._within(limits, plans._recomputed(problem, limits), problem)

    monkeypatch.setattr("mercer_old.models.kernel_model.choose_plan", anew)
    monkeypatch.setattr("mercer_old.operators.spread_gram._ROWS_A_TASK", 64)


@pytest.fixture
def elsewhere(monkeypatch):
    """A loop that says it is somewhere else: it goes the way of a cluster."""
    monkeypatch.setattr(Loop, "elsewhere", True)


def fitted(rows, weights=None, **how):
    how = {"kernel": RBF(0.02), "random_state": 0, **how}
    return KernelPCA(5, **how).fit(rows, sample_weight=weights)


def same_bits(one, other):
    names = "eigenvalues_", "eigenvectors_", "X_fit_"
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


# ---------------------------------------------------------------------- on a loop


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_it_is_the_answer_of_one_machine(elsewhere):
    copies = np.repeat(X[:70], 10, axis=0)
    weights = np.where(np.arange(700) % 5, 1.0 + np.arange(700) % 3, 0.0)
    many = X - X.min(axis=0)

    def check(case):
        rows, how = case
        ours, theirs = fitted(da.from_array(rows, UNEQUAL), **how), fitted(rows, **how)
        assert ours.plan_.held == "spread" and theirs.plan_.held == "recomputed"
        for one, other in ((ours.certificate_, theirs.certificate_), (theirs.certificate_, ours.certificate_)):
            assert np.all(one.lower <= other.upper)
        assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
        assert_allclose(np.abs(ours.transform(rows[:9])), np.abs(theirs.transform(rows[:9])), rtol=1e-3, atol=1e-3)
        assert_allclose(ours.X_fit_, theirs.X_fit_, rtol=1e-13)

    cases = [
        (X, {}),
        (X, {"weights": weights}),
        (X, {"weights": weights, "standardize": True}),
        (copies, {}),
        (X.astype(np.float32), {}),
        (many, {"kernel": Laplacian(0.1)}),
        (X, {"kernel": Cosine()}),
        (X, {"kernel": Sigmoid(0.001, 0.1)}),
        (X, {"kernel": RBF(0.02) + 0.5 * RBF(0.1)}),
        (X, {"kernel": RBF(1e-6)}),
        (X + 1e5, {}),
        (X, {"tol": 1e-9}),
    ]
    check_each(cases, check, name=lambda case: str([*case[1], *case[1].values()][:2])[:80])


@pytest.mark.filterwarnings("ignore::mercer_old.errors.MercerWarning")
def test_exact_passes_after_landmarks_are_shared_out(elsewhere, monkeypatch):
    monkeypatch.setattr("mercer_old.models.kernel_model.choose_plan", plans.choose_plan)
    how = {"n_landmarks": 60, "refine": 2}
    ours, theirs = fitted(da.from_array(X, UNEQUAL), **how), fitted(X, **how)
    assert "shared out to 1 worker" in ours.plan_.why
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)


def test_chunks_do_not_change_a_bit(elsewhere):
    models = [fitted(da.from_array(X, chunks)) for chunks in ((700, 6), UNEQUAL, (7, 6), (100, 4))]
    assert all(same_bits(models[0], other) for other in models[1:])


def test_without_a_client_it_is_the_way_of_one_machine():
    assert same_bits(fitted(da.from_array(X, UNEQUAL)), fitted(X))


def test_rows_are_opened_once_for_the_fit(elsewhere):
    read = []

    def noted(block):
        read.append(len(block))
        return block

    fitted(da.from_array(X, (100, 6)).map_blocks(noted, meta=np.empty((0, 0))), gamma=None)
    assert read.count(100) == 7


# ---------------------------------------------------------------------- on a cluster


def test_a_cluster_gives_the_bits_of_a_loop(client, in_a_loop, monkeypatch):
    weights = np.where(np.arange(700) % 5, 1.0 + np.arange(700) % 3, 0.0)
    rows = da.from_array(X, UNEQUAL)
    ours = [fitted(rows), fitted(rows, weights, standardize=True), fitted(da.from_array(X, (700, 6)))]
    assert "2 workers" in ours[0].plan_.why and ours[0].plan_.moved > X.nbytes
    assert _all_released(client)
    monkeypatch.setattr(Loop, "elsewhere", True)
    with in_a_loop():
        theirs = [fitted(rows), fitted(rows, weights, standardize=True), fitted(rows)]
    assert all(same_bits(one, other) for one, other in zip(ours, theirs, strict=True))


def _all_released(client):
    """Whether nothing is left behind on the workers; the client lets go of what nobody has any more by and by."""
    gc.collect()
    return any(not client.futures or sleep(0.05) for _ in range(200))


def test_a_worker_that_dies_changes_nothing(own_client):
    whole, killed = fitted(da.from_array(X, UNEQUAL)), []

    def kill(progress):
        if not killed:
            killed.append(next(iter(own_client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    assert same_bits(whole, fitted(da.from_array(X, UNEQUAL), progress=kill)) and killed


def test_workers_without_room_are_told_of_before_anything_starts(client):
    tiny = {"a": {"nthreads": 1, "memory_limit": 10**6}}
    said = r"A worker of the cluster needs [\d.]+ MB for its share of the kernel matrix of 700"
    with patch("mercer_old.engines.waiting.Waiting.workers", lambda self: tiny), pytest.raises(NoRoom, match=said):
        fitted(da.from_array(X, UNEQUAL))
