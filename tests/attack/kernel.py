"""KernelPCA under attack: certified ways."""

from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np
from scipy import sparse

from attack import rows as shapes
from attack.editions import estimator
from attack.kernels import kernel_matrix
from attack.precise import DD
from attack.problems import Problem, family
from attack.truth import copied, kernel_truth, known, scaled_rows, truth_of
from mercer.kernels import RBF, Cosine, Laplacian, Linear, Matern, Polynomial, Sigmoid
from mercer.planning import plan_kernel as new_plans
from mercer_old.plans import kernel as plans
from mercer_old.sources.chunked import ChunkedRows
from support.elsewhere import ELSEWHERE, brought_here
from support.registry import in_chunks

TINY = 66  # rows from which eigen_solver="krylov" is not served by LAPACK


def some_kernel(rng, d):
    gamma = 10.0 ** rng.uniform(-2, 1) / d
    return [
        RBF(gamma),
        Laplacian(gamma),
        Matern(float(rng.choice([0.5, 1.5, 2.5])), 10.0 ** rng.uniform(-1, 2)),
        Linear(),
        Polynomial(int(rng.integers(2, 5)), gamma, float(rng.choice([0.0, 1.0, 0.3]))),
        Cosine(),
        Sigmoid(gamma, float(rng.choice([0.0, 0.5]))),
    ][rng.integers(7)]


def recomputed(problem, limits):
    """The plan that a matrix too large to be held would get."""
    return plans._recomputed(problem, limits)


@contextmanager
def shared_out():
    """A loop goes the way of a cluster, with a task for every few rows."""
    with (
        patch("mercer_old.models.kernel_model.choose_plan", recomputed),
        patch("mercer_old.engines.loop.Loop.elsewhere", True),
        patch("mercer_old.operators.spread_gram._ROWS_A_TASK", 16),
    ):
        yield


def fitted_in_chunks(model, X, weights=None):
    with shared_out():
        return model.fit(ChunkedRows(in_chunks(X, 3), X.shape[1], X.dtype), sample_weight=weights)


def fitted(model, X, weights=None, anew=False):
    if not anew:
        return model.fit(X, sample_weight=weights)
    if type(model).__module__ == "mercer.estimators.kernel_pca":
        with (
            patch.multiple(new_plans, _MATRIX=(new_plans._matrix_free,), _FEATURES=(new_plans._matrix_free,)),
            patch.object(new_plans, "SMALL_SAMPLES", 0),
        ):
            model.fit(X, sample_weight=weights)
        assert model.plan_.route == "matrix-free"
        return model
    with patch("mercer_old.models.kernel_model.choose_plan", recomputed):
        return model.fit(X, sample_weight=weights)


def kpca(rng, X, kernel, words, weights=None, solver="auto", k=None, groups=None):
    """A problem for KernelPCA; with `groups`, of X[groups], the truth of which is that of X with counts as weights."""
    every = X if groups is None else X[groups]
    n = every.shape[0]
    anew = solver in ("recomputed", "spread")
    fit = fitted_in_chunks if solver == "spread" else partial(fitted, anew=anew)
    k = k or int(rng.integers(1, max(2, min(n - 1, n // 10 if anew or solver == "krylov" else n) + 1)))
    solver_name = "auto" if anew else solver
    settings = dict(kernel=kernel, eigen_solver=solver_name, random_state=0, n_jobs=int(rng.integers(1, 3)))
    model = estimator("KernelPCA", k, **settings)

    def truth(model):
        counts = weights if groups is None else np.bincount(groups).astype(float)
        found = kernel_truth(*kernel_matrix(model.kernel_, X), counts)
        return found if groups is None else copied(found, groups)

    return Problem(
        lambda: fit(model, every, weights),
        truth,
        f"KernelPCA({k}, {kernel}, {solver}) of {n}×{X.shape[1]}: {words}",
        asked=k,
    )


@family(60, "KernelPCA")
def kernel_ordinary(rng):
    n, d = int(rng.integers(20, 60)), int(rng.integers(2, 8))
    kernel = [RBF(0.3 / d), Linear(), Polynomial(2, 1 / d, 1.0), Matern(1.5, 2.0)][rng.integers(4)]
    return kpca(rng, shapes.ordinary(rng, n, d), kernel, "ordinary rows", k=int(rng.integers(1, 8)))


@family(20, "KernelPCA")
def kernel_ordinary_krylov(rng):
    n, d = int(rng.integers(TINY, 110)), int(rng.integers(2, 8))
    solver = str(rng.choice(["krylov", "recomputed"]))
    return kpca(rng, shapes.ordinary(rng, n, d), RBF(0.3 / d), "ordinary rows", solver=solver)


@family(60, "KernelPCA", editions=("old",))
def kernel_spread(rng):
    """Tiles between pieces that lie apart, with weights or without."""
    n, d = int(rng.integers(TINY, 130)), int(rng.integers(1, 6))
    kernel = [RBF(10.0 ** rng.uniform(-3, 1) / d), Matern(2.5, 3.0), Laplacian(0.5), Cosine()][rng.integers(4)]
    X = rng.normal(size=(n, d)) + 10.0 ** rng.uniform(-1, 2) * np.sort(rng.integers(0, 4, size=n))[:, None]
    weights = rng.integers(1, 4, size=n).astype(float) if rng.random() < 0.5 else None
    return kpca(rng, X, kernel, "pieces apart", weights=weights, solver="spread")


@family(160, "KernelPCA")
def kernel_small(rng):
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    return kpca(rng, rng.normal(size=(n, d)), some_kernel(rng, d), "few rows")


@family(120, "KernelPCA")
def kernel_offset(rng):
    """Rows around a mean before a kernel that is no function of differences."""
    n, d, offset = int(rng.integers(5, 30)), int(rng.integers(1, 5)), 10.0 ** rng.uniform(1, 6)
    kernel = [Cosine(), Polynomial(2, 1.0, 1.0), Polynomial(3, 1 / d, 0.5), Linear(), RBF(0.5)][rng.integers(5)]
    X = rng.normal(size=(n, d)) + offset * rng.normal(size=d)
    return kpca(rng, X, kernel, f"mean of {offset:.0e}", solver=str(rng.choice(["auto", "dense"])))


@family(60, "KernelPCA", editions=("old",))
def kernel_elsewhere(rng):
    """Products that another library computes, on a device of its own."""
    n, d = int(rng.integers(TINY, 120)), int(rng.integers(1, 9))
    gamma = 10.0 ** rng.uniform(-3, 1) / d
    kernel = [
        RBF(gamma),
        Matern(float(rng.choice([0.5, 1.5, 2.5])), 10.0 ** rng.uniform(-1, 2)),
        Laplacian(gamma),
        Sigmoid(gamma, float(rng.choice([0.0, 0.5]))),
    ][rng.integers(4)]
    X = rng.normal(size=(n, d)) + 10.0 ** rng.uniform(-2, 4) * rng.normal(size=d)
    problem = kpca(rng, X, kernel, "elsewhere", solver=str(rng.choice(["krylov", "recomputed"])))

    def fit():
        with patch("mercer_old.fits.kernel.opening.Home.of", lambda X: ELSEWHERE):
            model = problem.fit()
        assert model.plan_.there
        return brought_here(model)

    return Problem(fit, problem.truth, problem.words, problem.asked)


@family(60, "KernelPCA")
def kernel_middle(rng):
    n, d = int(rng.integers(TINY, 130)), int(rng.integers(1, 6))
    kernel = [RBF(10.0 ** rng.uniform(-2, 1) / d), Matern(2.5, 3.0), Laplacian(0.5), Cosine()][rng.integers(4)]
    solver = str(rng.choice(["auto", "dense", "krylov", "recomputed"]))
    return kpca(rng, rng.normal(size=(n, d)), kernel, "middle", solver=solver)


@family(100, "KernelPCA")
def kernel_copies(rng):
    few, groups = shapes.copies(
        rng, int(10 ** rng.uniform(1.2, 3.3)), int(rng.integers(2, 9)), int(rng.integers(1, 40))
    )
    gamma = 10.0 ** rng.uniform(-4, 2) / few.shape[1]
    kernel = [RBF(gamma), Laplacian(gamma), Matern(1.5, 1.0), Polynomial(2, gamma, 1.0), Cosine()][rng.integers(5)]
    solver = str(rng.choice(["auto", "dense", "krylov", "recomputed"] if len(groups) > 70 else ["auto"]))
    k = int(rng.integers(1, max(2, min(8, len(groups) // 10))))
    return kpca(rng, few, kernel, f"copies of {len(few)} rows", solver=solver, k=k, groups=groups)


@family(20, "KernelPCA")
def kernel_far_pair(rng):
    """Two places far from each other, each taken many times: all entries of a block have the same error."""
    d, times = int(rng.integers(5, 60)), int(rng.integers(20, 300))
    few = np.stack([np.zeros(d), rng.uniform(0.5, 2, d)])
    gamma = 10.0 ** rng.uniform(0, 2.5) / float((few[1] ** 2).sum())
    return kpca(rng, few, RBF(gamma), "a far pair", k=1, groups=np.repeat([0, 1], times))


@family(40, "KernelPCA")
def kernel_simplex(rng):
    """Rows that all have the same distance from each other: one eigenvalue, as often as it goes."""
    n = int(rng.integers(3, 160))
    kernel = [RBF(10.0 ** rng.uniform(-3, 1)), Linear(), Cosine(), Polynomial(2, 1.0, 1.0)][rng.integers(4)]
    X = np.eye(n) * rng.choice([1.0, 3.0, 0.1])
    problem = kpca(rng, X, kernel, "a simplex", k=int(rng.integers(1, min(n, 12))))

    def truth(model):  # a constant off the diagonal goes away with the mean
        K, error = kernel_matrix(model.kernel_, X[:2])
        value = K[0, 0] - K[0, 1]
        values = DD(np.append(np.full(n - 1, value.hi), 0.0), np.append(np.full(n - 1, value.lo), 0.0))
        return known(values, error=4 * n * error)

    return Problem(problem.fit, truth, problem.words, problem.asked)


@family(60, "KernelPCA")
def kernel_alone(rng):
    """γ so large that K is the identity: every row is alone."""
    n, d = int(rng.integers(20, 330)), int(rng.integers(2, 6))
    X = rng.normal(size=(n, d)) * 100
    nearest = min(float(((X[i + 1 :] - X[i]) ** 2).sum(axis=1).min()) for i in range(n - 1))
    k = int(rng.integers(1, 11))
    solver = str(rng.choice(["auto", "dense", "krylov"]))
    problem = kpca(rng, X, RBF(1000.0 / nearest), "every row alone", k=k, solver=solver)
    values = np.append(np.ones(n - 1), 0.0)
    return Problem(problem.fit, lambda model: known(values), problem.words, k)  # e^−1000 is nothing


@family(60, "KernelPCA")
def kernel_flat(rng):
    """Length scales so wide, or γ so small, that K is all but constant."""
    n, d = int(rng.integers(5, 40)), int(rng.integers(1, 5))
    wide = 10.0 ** rng.uniform(1, 6)
    kernel = [Matern(1.5, wide), Matern(2.5, wide), Laplacian(1 / wide), RBF(1 / wide**2)][rng.integers(4)]
    return kpca(rng, rng.normal(size=(n, d)) + rng.choice([0.0, 5.0]), kernel, "nearly constant")


@family(40, "KernelPCA")
def kernel_wide(rng):
    """Long rows: every entry of K is a long sum."""
    n, d = int(rng.integers(3, 25)), int(rng.integers(200, 3000))
    X = shapes.two_level(rng, n, d) if rng.random() < 0.5 else rng.normal(size=(n, d)) + rng.choice([0.0, 30.0])
    kernel = [RBF(1 / d), Linear(), Cosine(), Polynomial(2, 1 / d, 1.0), Sigmoid(0.1 / d, 0.0)][rng.integers(5)]
    return kpca(rng, X, kernel, "wide rows")


@family(60, "KernelPCA")
def kernel_weights(rng):
    n, d, kind = int(rng.integers(4, 30)), int(rng.integers(1, 5)), str(rng.choice(shapes.WEIGHTS))
    weights = shapes.some_weights(rng, n, kind)
    return kpca(rng, rng.normal(size=(n, d)) + rng.choice([0.0, 10.0]), some_kernel(rng, d), f"{kind} weights", weights)


@family(40, "KernelPCA")
def kernel_float32(rng):
    n, d = int(rng.integers(4, 40)), int(rng.integers(1, 5))
    X = (rng.normal(size=(n, d)) * 3 + rng.choice([0.0, 100.0])).astype(np.float32)
    return kpca(rng, X, some_kernel(rng, d), "float32")


@family(40, "KernelPCA")
def kernel_sparse(rng):
    n, d = int(rng.integers(4, 50)), int(rng.integers(2, 12))
    X = sparse.csr_array((rng.random((n, d)) < 0.4) * (rng.normal(size=(n, d)) * rng.choice([1.0, 0.1, 30.0])))
    kernel = [RBF(0.5), Linear(), Cosine(), Polynomial(2, 0.5, 1.0), Sigmoid(0.2, 0.0), Matern(1.5, 2.0)]
    return kpca(rng, X, kernel[rng.integers(6)], "sparse rows")


@family(50, "KernelPCA")
def kernel_scale(rng):
    """The linear kernel of rows of any size: features are scaled, entries are squared."""
    n, d, scale = int(rng.integers(4, 40)), int(rng.integers(2, 8)), 10.0 ** rng.uniform(-150, 150)
    X = shapes.with_spectrum(rng, n, d, str(rng.choice(shapes.SPECTRA))) * scale
    problem = kpca(rng, X, Linear(), f"times {scale:.0e}", solver=str(rng.choice(["auto", "dense", "krylov"])))
    small, exponent = scaled_rows(X)

    def truth(model):
        return kernel_truth(*kernel_matrix(Linear(), small), exponent=2 * exponent)

    return Problem(problem.fit, truth, problem.words, problem.asked)


@family(40, "KernelPCA")
def kernel_units(rng):
    """Rows in any unit, with γ in the same: the spectrum of ordinary rows."""
    n, d, unit = int(rng.integers(4, 40)), int(rng.integers(1, 5)), 10.0 ** rng.uniform(-75, 75)
    gamma = 10.0 ** rng.uniform(-1.5, 0.5) / d
    kernel = [RBF(gamma / unit**2), Laplacian(gamma / unit), Matern(1.5, unit), Cosine()][rng.integers(4)]
    return kpca(rng, rng.normal(size=(n, d)) * unit, kernel, f"in units of {unit:.0e}")


@family(30, "KernelPCA")
def kernel_constant(rng):
    """Rows that are all the same: nothing is left once the mean is gone."""
    n, d = int(rng.integers(2, 120)), int(rng.integers(1, 6))
    row = rng.choice([0.1, 1 / 3, 1e4 / 7, 0.0, 0.7], size=(1, d))
    solver = str(rng.choice(["auto", "dense", "krylov"]))
    kernel, k = some_kernel(rng, d), int(rng.integers(1, min(n, 5)))
    return kpca(rng, row, kernel, "one row, many times", solver=solver, k=k, groups=np.zeros(n, dtype=int))


@family(30, "KernelPCA")
def kernel_all(rng):
    """n_components left out: all that are not zero."""
    n, d = int(rng.integers(3, 40)), int(rng.integers(1, 6))
    X, kernel = rng.normal(size=(n, d)) + rng.choice([0.0, 10.0]), some_kernel(rng, d)
    problem = kpca(rng, X, kernel, "all components")
    model = estimator("KernelPCA", kernel=kernel, random_state=0, n_jobs=1)
    words = f"KernelPCA(None, {kernel}) of {n}×{d}"
    return Problem(lambda: model.fit(X), problem.truth, words)


@family(40, "KernelPCA")
def kernel_combined(rng):
    """Sums, products and multiples of kernels."""
    n, d = int(rng.integers(4, 35)), int(rng.integers(1, 5))
    first, second = some_kernel(rng, d), some_kernel(rng, d)
    kernel = [first + second, first * second, 0.1 * first + second, 3.0 * first][rng.integers(4)]
    return kpca(rng, rng.normal(size=(n, d)) + rng.choice([0.0, 5.0]), kernel, "combined kernels")


@family(40, "KernelPCA")
def kernel_outlier(rng):
    """A row so far out that distances to it have few digits, and sparse rows far from zero, which cannot be moved."""
    n, d = int(rng.integers(5, 40)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.6:
        X[0] += 10.0 ** rng.uniform(1, 8)
    else:
        X = sparse.csr_array(X + 10.0 ** rng.uniform(1, 4))
    kernel = [RBF(0.3 / d), Matern(1.5, 2.0), Matern(2.5, 50.0)][rng.integers(3)]
    return kpca(rng, X, kernel, "an outlier, or far and sparse")


@family(20, "KernelPCA")
def kernel_hadamard(rng):
    """Rows of a Hadamard design under the linear kernel: features with multiplicities, by every way."""
    n = int(2 ** rng.integers(3, 8))
    d = int(rng.integers(2, min(n, 30)))
    X = shapes.design(n, d) * rng.choice([1.0, 1.0, 2.0, 3.0], size=d)
    solver = str(rng.choice(["auto", "dense", "krylov"]))
    k = int(rng.integers(1, d + 1))
    problem = kpca(rng, X, Linear(), "Hadamard rows", solver=solver, k=k)
    return Problem(problem.fit, lambda _: truth_of(DD(X) @ DD(X.T)), problem.words, k)


@family(8, "KernelPCA")
def kernel_hadamard_large(rng):
    """Features so many that they are multiplied out block by block: their products are never formed."""
    n, d = 1024, int(rng.integers(510, 700))
    s = rng.choice([1.0, 2.0, 3.0], size=d)
    X, k = shapes.design(n, d) * s, int(rng.integers(1, 30))
    problem = kpca(rng, X, Linear(), "many Hadamard columns", k=k)
    vectors = DD(shapes.design(n, d)) * (1 / 32)
    return Problem(problem.fit, lambda _: known(DD(s) * s * float(n), vectors, size=n), problem.words, k)
