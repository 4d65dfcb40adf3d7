"""Kernel matrices whose tiles workers evaluate: products, fits, plans and faults."""

import os
import signal
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.errors import ClusterError, MemoryLimitError
from mercer.estimators import KernelPCA
from mercer.kernels.distance import RBF, Laplacian
from mercer.linalg.gram import RecomputedGram
from mercer.numerics.rounding import gamma
from mercer.planning.plan_kernel import plan_kernel_pca

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from mercer.cluster import DistributedGram, Executor, open_collection  # noqa: E402

N = 2600  # three ranges of rows, six tasks


def rows(n=N, offset=0.0):
    return np.random.default_rng(0).normal(size=(n, 4)) * [3.0, 2.0, 1.0, 0.5] + offset


def wait_until(condition):
    for _ in range(100):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("not within 10 seconds")


def check_forgotten(client):
    """The scheduler knows no task any more."""
    wait_until(lambda: not client.cluster.scheduler.tasks)


@pytest.fixture(autouse=True)
def small_matrices_are_distributed(monkeypatch):
    monkeypatch.setattr("mercer.planning.plan_kernel._DISTRIBUTED_SECONDS", 0.0)


@pytest.fixture
def make_gram():
    made = []

    def make(X, kernel=None, **options):
        kernel = kernel or RBF(0.1)
        made.append(DistributedGram(kernel, X, open_collection(da.ones((4, 2), chunks=2)), **options))
        return made[-1]

    yield make
    for gram in made:
        gram.close()


# ---------------------------------------------------------------------- products


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("n", [2, 500, N])
def test_products_are_those_of_this_process(client, make_gram, n, weighted):
    rng = np.random.default_rng(1)
    X, B, weights = rows(n), rng.normal(size=(n, 5)), rng.uniform(1, 3, n) if weighted else None
    gram, local = make_gram(X, weights=weights), RecomputedGram(RBF(0.1), X, weights=weights)
    product, expected = gram.matmat(B), local.matmat(B)
    K = np.abs(RBF(0.1)(X, X) - gram.shift)
    assert (np.abs(product - expected) <= (gamma(gram.chain) + gamma(local.chain)) * (K @ np.abs(B))).all()
    squares, rounding = local.squared_norm(None), gamma(gram.norm_chain) + gamma(local.norm_chain)
    assert abs(gram.squared_norm(None) - squares) <= rounding * squares
    assert_array_equal(gram.matmat(B), product)


def test_products_do_not_depend_on_who_computes_them(client, make_gram, monkeypatch):
    X, B = rows(), np.random.default_rng(1).normal(size=(N, 7))
    on_workers = make_gram(X).matmat(B)
    monkeypatch.setattr("mercer.cluster.dask_dataset.active_client", lambda: None)
    assert_array_equal(make_gram(X).matmat(B), on_workers)


def test_rounding_of_a_product_is_within_its_chain(client, make_gram):
    """Against sums in extended precision of the same entries."""
    X = rows(1500)
    gram, B = make_gram(X, Laplacian(0.2)), np.random.default_rng(1).normal(size=(1500, 3))
    K = Laplacian(0.2)(X, X)
    np.fill_diagonal(K, 1.0)
    exact = (K - gram.shift).astype(np.longdouble) @ B.astype(np.longdouble)
    bound = gamma(gram.chain) * (np.abs(K - gram.shift) @ np.abs(B)) + 1e-15 * np.abs(B).sum(axis=0)
    assert (np.abs(gram.matmat(B) - exact) <= bound).all()


def test_samples_are_sent_once_and_stay_until_close(own_client, make_gram):
    gram, kept = make_gram(rows()), own_client.cluster.scheduler.tasks
    gram.matmat(np.ones((N, 1)))
    wait_until(lambda: len(kept) == 1)
    (samples,) = kept
    gram.matmat(np.ones((N, 1)))
    wait_until(lambda: list(kept) == [samples])
    gram.close()
    wait_until(lambda: not kept)


# ---------------------------------------------------------------------- fits


def check_equal(model, expected):
    """Intervals that meet, and directions within the sum of the certified angles."""
    assert (model.plan_.route, expected.plan_.route) == ("distributed", "matrix-free")
    one, other = model.certificate_, expected.certificate_
    assert (np.maximum(one.lower, other.lower) <= np.minimum(one.upper, other.upper)).all()
    assert one.n_complete == other.n_complete == len(model.eigenvalues_)
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)
    cosines = np.abs(np.sum(model.eigenvectors_ * expected.eigenvectors_, axis=0))
    sines = np.sqrt(np.maximum(0, 1 - np.minimum(cosines, 1) ** 2))
    assert (sines <= one.angles + other.angles + 1e-7).all()


FITS = {
    "rbf": ({}, rows),
    "far from zero": ({"gamma": 0.1}, lambda: rows(offset=1e4)),
    "standardized": ({"standardize": True, "gamma": 0.1}, rows),
    "nearly constant": ({"gamma": 1e-4}, rows),
    "float32": ({"gamma": 0.1}, lambda: rows().astype(np.float32)),
}


@pytest.mark.parametrize("name", FITS)
def test_exact_fits(client, name):
    options, make = FITS[name]
    X = make()
    model, expected = (
        KernelPCA(3, kernel="rbf", **options).fit(some) for some in (da.from_array(X, chunks=(700, 2)), X)
    )
    check_equal(model, expected)
    assert model.plan_ == KernelPCA(3, kernel="rbf", **options).plan(da.from_array(X, chunks=700))
    assert model.eigenvalues_.dtype == X.dtype


def test_sparse_rows(client):
    X = sparse.csr_array(rows() * (np.random.default_rng(2).random((N, 4)) < 0.5))
    D = da.from_array(X.toarray(), chunks=700).map_blocks(sparse.csr_array, meta=sparse.csr_array((0, 4)))
    options = {"kernel": "rbf", "gamma": 0.1, "memory_limit": "100MB", "max_iter": 40}
    check_equal(KernelPCA(3, **options).fit(D), KernelPCA(3, **options).fit(X))


def test_samples_of_weight_zero_are_left_out(client):
    X, weights = rows(), np.random.default_rng(3).integers(0, 3, N).astype(float)
    model, expected = KernelPCA(3, kernel="rbf", gamma=0.1), KernelPCA(3, kernel="rbf", gamma=0.1)
    scores = model.fit_transform(da.from_array(X, chunks=700), sample_weight=weights).compute()
    assert_allclose(scores, expected.fit_transform(X, sample_weight=weights), atol=1e-6)
    assert_array_equal(model.X_fit_, expected.X_fit_)
    assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-10)


def test_refined_landmarks(client):
    X, weights = rows(), np.random.default_rng(3).integers(0, 3, N).astype(float)
    model, expected = (
        KernelPCA(3, kernel="rbf", gamma=0.1, n_landmarks=80, refine=2).fit(some, sample_weight=weights)
        for some in (da.from_array(X, chunks=700), X)
    )
    reach = np.minimum(model.certificate_.upper, expected.certificate_.upper)
    assert (np.maximum(model.certificate_.lower, expected.certificate_.lower) <= reach).all()
    assert model.X_fit_.shape == expected.X_fit_.shape
    assert np.isfinite(model.eigenvectors_).all()


def test_an_unreachable_tolerance_warns_and_ends(client):
    with pytest.warns(UserWarning, match="stopped after . passes"):
        KernelPCA(3, kernel="rbf", gamma=0.1, max_iter=3, tol=1e-14).fit(da.from_array(rows(), chunks=700))


# ---------------------------------------------------------------------- plans


def plan(data, kernel, n, **options):
    return plan_kernel_pca(KernelPCA(3, kernel=kernel, **options), data, kernel, None, n_samples=n)


def test_plans(client, monkeypatch):
    monkeypatch.undo()
    data = open_collection(da.from_array(rows(3000), chunks=700))
    assert plan(data, RBF(0.1), 3000).route == "matrix-free"  # too little work
    found = plan(data, RBF(0.1), 30_000)
    assert found.route == "distributed"
    assert "2 workers" in found.reason
    assert plan(data, RBF(0.1), 30_000).memory > plan(open_rows(), RBF(0.1), 30_000).memory
    assert plan(open_rows(), RBF(0.1), 30_000).route == "matrix-free"
    assert KernelPCA(3, kernel="sigmoid").plan(da.from_array(rows(), chunks=700)).route == "matrix-free"


def open_rows():
    from mercer.data.dataset import ArrayDataset

    return ArrayDataset(rows(3000))


# ---------------------------------------------------------------------- faults


class At:
    """A listener that acts once, at some report of the progress."""

    def __init__(self, when, act):
        self.when, self.act, self.n_reports = when, act, 0

    def __call__(self, state):
        self.n_reports += 1
        if self.n_reports == self.when:
            self.act()


def fit(progress=False):
    return KernelPCA(3, kernel="rbf", gamma=0.1, progress=progress).fit(da.from_array(rows(), chunks=700))


def test_killed_workers_change_nothing(own_client):
    """Every task can be repeated with the same result, whichever worker runs it."""
    expected = fit()

    def kill():
        os.kill(sorted(own_client.run(os.getpid).values())[0], signal.SIGKILL)

    for when in (2, 15):
        listener = At(when, kill)
        model = fit(listener)
        assert listener.n_reports >= when, "no worker was killed"
        assert_array_equal(model.eigenvalues_, expected.eigenvalues_)
        assert_array_equal(model.eigenvectors_, expected.eigenvectors_)
    check_forgotten(own_client)


def test_interrupts_leave_nothing_on_the_cluster(own_client):
    """Although the exception, and so the frames of the fit, are kept, as notebooks do."""

    def interrupt():
        raise KeyboardInterrupt

    for when in (1, 15):
        with pytest.raises(KeyboardInterrupt) as kept:
            fit(At(when, interrupt))
        check_forgotten(own_client)
        assert kept.value.__traceback__ is not None
    assert fit().n_components_ == 3


def test_a_lost_scheduler_is_one_message(another_cluster):
    cluster = another_cluster()
    with distributed.Client(cluster, timeout="5s"):
        listener = At(12, lambda: cluster.close(timeout=10))
        with pytest.raises(ClusterError, match=r"does not answer\. Restart it and fit again|was cancelled.*Fit again"):
            fit(listener)
        assert listener.n_reports >= 12


def test_the_loss_of_all_workers_is_one_message(another_cluster, monkeypatch):
    monkeypatch.setattr("mercer.cluster.executor.POLL", 0.05)
    with another_cluster(n_workers=1) as cluster, distributed.Client(cluster) as client:
        listener = At(12, lambda: client.sync(cluster.workers[0].close))
        with pytest.raises(ClusterError, match=r"All workers .* are gone, and none has come back"):
            fit(listener)
        assert listener.n_reports >= 12


def test_workers_with_too_little_memory_are_rejected_before_the_first_pass(client, monkeypatch):
    started = []
    monkeypatch.setattr(Executor, "share", lambda self, value: started.append(value))
    large = da.ones((2_000_000, 20), chunks=(100_000, 20))
    gram_of = np.broadcast_to(np.ones(20), (2_000_000, 20))
    with pytest.raises(
        MemoryLimitError, match=r"A kernel matrix of 2,000,000 samples needs .* GB on every worker.*landmarks"
    ):
        DistributedGram(RBF(0.1), gram_of, open_collection(large))
    assert not started
