"""Plans that mean it: how many components a share of the variance takes is foretold, and time is told in any case."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from sklearn.datasets import load_digits, make_blobs, make_swiss_roll

import mercer
from mercer import PCA, KernelPCA, LocallyLinearEmbedding
from mercer.kernels import RBF
from mercer_old.errors import NoRoom
from mercer_old.fits import foretold
from mercer_old.fits.kernel import certified
from mercer_old.fits.kernel.opening import kernel_for
from mercer_old.fits.linear import ways
from mercer_old.limits import Limits
from mercer_old.plans import pace
from mercer_old.plans.kernel import choose_plan
from mercer_old.plans.seconds import START, Work, kernel_work
from mercer_old.plans.share import components_explaining, foretell_share
from mercer_old.plans.sizes import Problem
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.feature_side import Factored, FactoredKrylov
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.shift_invert import DenseBottom, ShiftInvert
from mercer_old.solvers.svd import Svd
from mercer_old.solvers.warm import WarmKrylov
from mercer_old.sources.held import HeldRows

DIGITS = load_digits().data
BLOBS = make_blobs(3000, 10, centers=6, random_state=0)[0]
ROLL = make_swiss_roll(3000, noise=0.3, random_state=0)[0]
NOISE = np.random.default_rng(0).normal(size=(1500, 30))


# ---------------------------------------------------------------------------- the rule


def test_the_components_of_a_small_matrix_are_those_of_its_centred_spectrum():
    X = np.random.default_rng(1).normal(size=(40, 6))
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    shares = np.cumsum(values) / values.sum()
    for k in range(1, 6):
        assert components_explaining(X @ X.T, shares[k - 1]) == pytest.approx(k, abs=1e-6)
    assert components_explaining(np.ones((5, 5)), 0.9) == 1


def test_what_grows_no_more_is_foretold_to_stay():
    found = foretell_share(0.9, (7.0, 7.0, 7.0), 256, 10**6, 10**6)
    assert found.low <= 7 <= found.high <= 9


def test_what_grows_with_the_rows_is_foretold_to_go_on():
    """Of orthogonal rows, a share s takes s·(n − 1) components for every n."""
    found = foretell_share(0.5, (32.0, 64.0, 128.0), 256, 4096, 4095)
    assert found.low <= 2048 <= found.high and found.likely == pytest.approx(2048, rel=0.01)


@pytest.mark.parametrize("power", [0.3, 0.6, 0.9])
def test_a_power_of_the_rows_lies_within_the_range(power):
    """Of k = 10·m^power, or m^power itself where that would be more than there are rows."""
    factor = 10 if power < 0.7 else 1
    found = foretell_share(0.9, tuple(factor * m**power for m in (64, 128, 256)), 256, 8000, 7999)
    assert found.low <= factor * 8000**power <= found.high < 7999


def test_no_more_components_are_foretold_than_there_are():
    assert foretell_share(0.99, (30.0, 60.0, 120.0), 128, 10_000, 50).high == 50


# ---------------------------------------------------------------------------- on data


@pytest.mark.parametrize(
    ("X", "params"),
    [
        (DIGITS, dict(kernel="rbf", gamma="median")),
        (DIGITS, dict(kernel="rbf", gamma=1e-4)),
        (BLOBS[:1500], dict(kernel="rbf", gamma="median")),
        (ROLL[:1500], dict(kernel="rbf", gamma=0.3)),
        (NOISE, dict(kernel="rbf", gamma="median")),
        (NOISE, dict(kernel="linear")),
    ],
    ids=["digits", "narrow", "blobs", "roll", "noise", "linear"],
)
@pytest.mark.parametrize("most", [800, pytest.param(1800, marks=pytest.mark.slow)])
def test_the_number_of_components_lies_in_the_range_that_the_plan_tells(X, params, most):
    X = X[:most]
    K = kernel_for(KernelPCA(1, **params), HeldRows(X)).block(X, X)
    K = K - K.mean(axis=0)
    values = np.maximum(np.linalg.eigvalsh(K - K.mean(axis=1, keepdims=True))[::-1], 0.0)
    for share in (0.5, 0.9, 0.99):
        true = int(np.searchsorted(np.cumsum(values) / values.sum(), share)) + 1
        told = KernelPCA(share, **params).plan(X).components
        assert told.low <= true <= told.high


def test_a_share_of_many_goes_to_lapack_before_work_is_lost(monkeypatch):
    monkeypatch.setattr(certified, "_find_nearly_all", lambda task: pytest.fail("planned anew, after work was done"))
    model = KernelPCA(0.9, kernel="rbf", gamma="median")
    plan = model.plan(NOISE)
    assert isinstance(plan.solver, Dense) and plan.memory > 4 * 8 * len(NOISE) ** 2
    model.fit(NOISE)
    assert plan.components.low <= len(model.eigenvalues_) <= plan.components.high
    assert model.plan_ == replace(plan, seconds=None)
    assert model.explained_variance_ratio_.sum() >= 0.9 > model.explained_variance_ratio_[:-1].sum()


def test_a_share_of_few_stays_with_products_and_its_plan_has_room_for_the_most():
    model = KernelPCA(0.9, kernel="rbf", gamma="median").fit(BLOBS)
    plan = model.plan_
    assert isinstance(plan.solver, BlockKrylov) and len(model.eigenvalues_) <= plan.components.high < 50
    most = choose_plan(Problem(n=3000, k=plan.components.high, width=10, copied=8 * 30_000), Limits(10**10, 2))
    assert plan.memory == most.memory
    assert f"{plan.components.low} to {plan.components.high} components" in str(plan)


def test_where_the_sample_foretold_too_few_more_are_found(monkeypatch):
    wrong = foretell_share(0.9, (2.0, 2.0, 2.0), 256, 3000, 2999)
    monkeypatch.setattr(foretold, "foretell_share", lambda *given: wrong)
    for X, params in ((ROLL[:700], dict(gamma=0.05)), (NOISE[:600], dict(gamma="median"))):
        for solver in ("auto", "dense"):
            model = KernelPCA(0.9, kernel="rbf", eigen_solver=solver, **params).fit(X)
            assert len(model.eigenvalues_) > wrong.high
            assert model.explained_variance_ratio_.sum() >= 0.9 > model.explained_variance_ratio_[:-1].sum()


def test_weights_count_in_the_sample():
    """All weight on a few groups of equal rows: as many components as groups, less one."""
    X, weights = NOISE.copy(), np.full(1500, 1e-9)
    X[:300], weights[:300] = np.repeat(X[:5], 60, axis=0), 1.0
    even, weighted = (KernelPCA(0.95, kernel="rbf", gamma="median").plan(X, w).components for w in (None, weights))
    assert weighted.high < 10 < even.low


def test_samples_are_seeded():
    model = KernelPCA(0.9, kernel="rbf", gamma="median", random_state=3)
    assert model.plan(DIGITS).components == model.plan(DIGITS).components


def test_the_sample_keeps_to_the_memory_limit():
    some = foretold.drawn(3000, 10, None, Limits(20_000_000, 1), np.random.default_rng(0))
    assert 4 * 8 * len(some) ** 2 <= 20_000_000 / 8
    assert len(foretold.drawn(2000, 500_000, None, Limits(10**10, 1), np.random.default_rng(0))) <= 64


def test_of_products_alone_nothing_is_known_beforehand():
    K = RBF(0.05).block(BLOBS[:800], BLOBS[:800])
    model = KernelPCA(0.9, kernel="precomputed")
    plan = model.plan(aslinearoperator(K))
    assert not plan.components.rows and "not known beforehand" in str(plan)
    by_products, by_rows = model.fit(aslinearoperator(K)), KernelPCA(0.9, kernel=RBF(0.05)).fit(BLOBS[:800])
    assert len(by_products.eigenvalues_) == len(by_rows.eigenvalues_)


def test_a_share_that_cannot_fit_is_refused_before_the_fit():
    with pytest.raises(NoRoom, match=r"0\.9 of the variance takes [0-9,]+ to [0-9,]+ components, by samples"):
        KernelPCA(0.9, kernel="rbf", gamma="median", memory_limit="20MB").fit(NOISE)


def test_landmarks_for_a_share_are_as_many_as_it_may_take():
    few, many = (
        KernelPCA(0.9, kernel="rbf", gamma=gamma, eigen_solver="landmark").plan(ROLL).solver.count
        for gamma in ("median", 0.3)
    )
    assert few == 1000 < many == 3000
    model = KernelPCA(0.99, kernel="rbf", gamma=100.0, eigen_solver="landmark", memory_limit="20MB")
    plan = model.plan(ROLL)  # of rows that are all alone: nearly every one would have to be a landmark
    assert plan.components.likely > 1000 > plan.solver.count and plan.memory <= 20e6


# ---------------------------------------------------------------------------- linear PCA


def spread(n, d, power):
    """Rows of which the i-th column has the variance i^−power."""
    return np.random.default_rng(0).normal(size=(n, d)) * np.arange(1, d + 1) ** (-power / 2)


@pytest.mark.parametrize(
    ("n", "d", "power", "standardize"),
    [
        (1000, 700, 1.0, True),
        (700, 1000, 0.5, False),
        (2000, 600, 2.0, False),
        pytest.param(1000, 700, 1.0, False, marks=pytest.mark.slow),
        pytest.param(700, 1000, 0.5, True, marks=pytest.mark.slow),
        pytest.param(2000, 600, 2.0, True, marks=pytest.mark.slow),
    ],
)
def test_the_number_of_axes_lies_in_the_range_that_the_plan_tells(n, d, power, standardize):
    X = spread(n, d, power)
    for share in (0.5, 0.9):
        model = PCA(share, standardize=standardize)
        told = model.plan(X).components
        assert told.rows and told.low <= model.fit(X).n_components_ <= told.high


def test_a_share_of_many_axes_is_summed_up_at_once_and_one_of_few_found_by_products(monkeypatch):
    monkeypatch.setattr(ways, "nearly_all", lambda *given: pytest.fail("planned anew, after work was done"))
    few, many = spread(2000, 1600, 3.0), spread(2000, 1600, 0.0)
    by_products = PCA(0.9).fit(few)
    assert by_products.plan_.held == "products" and by_products.n_components_ <= by_products.plan_.components.high
    model = PCA(0.5)
    plan = model.plan(many)
    assert plan.held == "scatter" and plan.memory > 6 * 8 * 1600**2
    assert model.fit(many).plan_ == replace(plan, seconds=None)


def test_a_file_is_not_read_for_a_range(tmp_path):
    np.save(tmp_path / "rows.npy", spread(1000, 700, 1.0))
    plan = PCA(0.9).plan(tmp_path / "rows.npy")
    assert plan.components.rows == 0 and plan.memory > 6 * 8 * 700**2 and "not known beforehand" in str(plan)


def test_a_share_of_rows_that_are_no_numbers_is_refused_in_the_usual_words():
    X = spread(1000, 700, 1.0)
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PCA(0.9).fit(X)


# ---------------------------------------------------------------------------- without rows


@pytest.mark.parametrize("method", ["kpca", "pca"])
def test_without_rows_a_share_has_two_plans_and_no_number(method):
    plan = mercer.plan(3000, 2500, 0.9, method=method)
    assert plan.few.memory < plan.memory and plan.few.seconds < plan.seconds
    assert "not known beforehand" in str(plan) and "If few: " in str(plan) and "If nearly all: " in str(plan)


def test_two_plans_that_are_the_same_are_told_once():
    text = str(mercer.plan(100_000, 20, 0.9, method="pca"))
    assert "not known beforehand" in text and "In any case: " in text and "If few" not in text


def test_without_rows_a_share_of_too_many_says_what_would_not_do():
    text = str(mercer.plan(80_000, 30, 0.9, memory_limit="2GB"))
    assert "this is for few of them, and nearly all would not do: The fit needs" in text


# ---------------------------------------------------------------------------- time


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(3),
        KernelPCA(3, kernel="rbf"),
        KernelPCA(None, kernel="rbf"),
        KernelPCA(3, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(3, kernel="rbf", memory_limit="30MB"),
        KernelPCA(3, kernel="rbf", eigen_solver="landmark", refine=1),
        *(PCA(3, svd_solver=solver) for solver in ("auto", "full", "qr", "gram", "krylov", "covariance_eigh")),
        PCA(0.5),
        PCA("mle"),
        LocallyLinearEmbedding(n_neighbors=8),
    ],
    ids=str,
)
def test_every_plan_tells_a_time(model):
    plan = model.plan(NOISE)
    assert 0 < plan.seconds < 600 and "on an idle machine" in str(plan)


def test_the_clock_decides_nothing_but_the_seconds(monkeypatch):
    model = KernelPCA(0.9, kernel="rbf", gamma="median")
    before = model.plan(DIGITS)
    monkeypatch.setattr(pace, "_best", lambda work: 1000.0)
    slow = model.plan(DIGITS)
    assert slow.seconds > 100 * before.seconds and replace(slow, seconds=before.seconds) == before


def test_more_work_takes_longer_and_more_threads_less():
    limits = Limits(10**11, 1)
    for smaller, larger in ((dict(n=5000), dict(n=10_000)), (dict(n=20_000), dict(n=60_000))):
        few, many = (Problem(width=20, k=10, **sizes) for sizes in (smaller, larger))
        few, many = (kernel_work(choose_plan(p, limits), p) for p in (few, many))
        assert many.seconds(1) > 3 * few.seconds(1) and many.seconds(2) < 0.7 * many.seconds(1)
    assert Work(1e9, 1e9).seconds(1) == pytest.approx(2.01)


def test_a_slow_kernel_is_timed_in_a_corner():
    calls = []

    def slow(x, y):
        calls.append(1)
        return float(np.exp(-np.sum((x - y) ** 2) / 100))

    X = BLOBS[:600]
    plan = KernelPCA(3, kernel=slow).plan(X)
    assert plan.seconds > 0.1 and len(calls) < 600**2 / 2


def test_even_the_smallest_fit_takes_what_any_fit_does():
    for method in ("kpca", "pca", "lle"):
        assert mercer.plan(50, 3, 2, method=method).seconds >= START


# ---------------------------------------------------------------------------- told to people


@pytest.mark.parametrize(
    ("solver", "words"),
    [
        (Dense(), "LAPACK"),
        (Factored(), "LAPACK"),
        (FactoredKrylov(BlockKrylov()), "Krylov steps of 16 columns (residuals of 1e-08)"),
        (Svd(), "LAPACK's SVD"),
        (BlockKrylov(tol=1e-6, block=1), "Krylov steps of 1 column (residuals of 1e-06)"),
        (
            WarmKrylov(block=20, rank=1700),
            "Krylov steps of 20 columns (residuals of 0.0001) from a guess of rank 1,700",
        ),
        (Landmarks(count=1000), "PCA by 1,000 landmarks"),
        (Landmarks(count=1000, refine=1), "PCA by 1,000 landmarks and 1 exact pass"),
        (DenseBottom(), "LAPACK"),
        (ShiftInvert("dense"), "inverse iteration by a dense factor (residuals of 1e-06 of gaps)"),
    ],
    ids=repr,
)
def test_a_plan_names_its_solver_in_python_and_describes_it_to_people(solver, words):
    plan = replace(mercer.plan(1000, 3, 2), solver=solver)
    assert str(plan).startswith(f"{solver!r} on ") and plan.in_words.startswith(f"{words} on ")
    assert str(plan).removeprefix(repr(solver)) == plan.in_words.removeprefix(words)


def test_both_ways_of_a_share_are_described_to_people():
    plan = replace(mercer.plan(3000, 30, 0.9), few=mercer.plan(3000, 30, 10))
    assert repr(plan.solver) in str(plan) and repr(plan.few.solver) in str(plan)
    assert plan.solver.words in plan.in_words and plan.few.solver.words in plan.in_words
    assert "Krylov(" not in plan.in_words and "Dense()" not in plan.in_words
