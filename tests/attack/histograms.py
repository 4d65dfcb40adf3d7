"""KernelPCA under attack by rows without negative numbers (counts, shares, fingerprints), and by kernels for them."""

import numpy as np
from scipy import sparse

from attack import rows as shapes
from attack.kernel import TINY, kpca
from attack.landmark import landmark
from attack.problems import family
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    HistogramIntersection,
    MinMax,
    RationalQuadratic,
    Tanimoto,
)


def some_kernel(rng, size):
    """`size`: of a sum over a row, about."""
    wide = float(size) * 10.0 ** rng.uniform(-1, 2)
    kernels = [
        ChiSquared(1 / wide),
        AdditiveChiSquared(),
        HistogramIntersection(),
        MinMax(),
        Tanimoto(),
        RationalQuadratic(10.0 ** rng.uniform(-1, 2), wide),
    ]
    return kernels[rng.integers(len(kernels))]


def counts(rng, n, d):
    """As words in texts are: many zeros, a few large numbers, rows of nothing now and then."""
    X = rng.poisson(rng.choice([0.3, 2.0, 50.0]) * rng.gamma(0.5, 2.0, size=d), size=(n, d)).astype(float)
    return X * (rng.random((n, 1)) > 0.1)


def shares(rng, n, d):
    """Rows of sum one."""
    return rng.dirichlet(np.full(d, rng.choice([0.2, 1.0, 20.0])), size=n)


def fingerprints(rng, n, d):
    return (rng.random((n, d)) < rng.choice([0.05, 0.3, 0.9])).astype(float)


def some_rows(rng, n, d):
    return [counts, shares, fingerprints][rng.integers(3)](rng, n, d)


def size_of(X):
    return float(X.sum(axis=1).max()) or 1.0


@family(60, "KernelPCA")
def histogram_small(rng):
    n, d = int(rng.integers(2, 14)), int(rng.integers(1, 8))
    X = some_rows(rng, n, d)
    return kpca(rng, X, some_kernel(rng, size_of(X)), "few histograms")


@family(40, "KernelPCA")
def histogram_middle(rng):
    n, d = int(rng.integers(TINY, 110)), int(rng.integers(2, 30))
    X, solver = some_rows(rng, n, d), str(rng.choice(["auto", "dense", "krylov", "recomputed"]))
    return kpca(rng, X, some_kernel(rng, size_of(X)), "histograms", solver=solver)


@family(40, "KernelPCA")
def histogram_copies(rng):
    """Few rows, each many times: every entry of a block errs by the same amount."""
    m, d = int(rng.integers(2, 9)), int(rng.integers(1, 200))
    few = some_rows(rng, m, d) * rng.choice([1.0, 0.1, 1 / 3])
    groups = np.concatenate([np.arange(m), rng.integers(0, m, int(10 ** rng.uniform(1.2, 3)))])
    solver = str(rng.choice(["auto", "dense", "krylov", "recomputed"] if len(groups) > 70 else ["auto"]))
    k = int(rng.integers(1, max(2, min(8, len(groups) // 10))))
    return kpca(rng, few, some_kernel(rng, size_of(few)), "copies", solver=solver, k=k, groups=groups)


@family(30, "KernelPCA")
def histogram_wide(rng):
    """Long rows: every entry of K is a long sum."""
    n, d = int(rng.integers(3, 20)), int(rng.integers(200, 2000))
    X = np.abs(shapes.two_level(rng, n, d)) if rng.random() < 0.5 else some_rows(rng, n, d)
    return kpca(rng, X, some_kernel(rng, size_of(X)), "wide histograms")


@family(30, "KernelPCA")
def histogram_sparse(rng):
    n, d = int(rng.integers(4, 40)), int(rng.integers(2, 150))
    X = counts(rng, n, d)
    return kpca(rng, sparse.csr_array(X), some_kernel(rng, size_of(X)), "sparse counts")


@family(30, "KernelPCA")
def histogram_weights(rng):
    n, d, kind = int(rng.integers(4, 30)), int(rng.integers(1, 8)), str(rng.choice(shapes.WEIGHTS))
    X = some_rows(rng, n, d)
    return kpca(rng, X, some_kernel(rng, size_of(X)), f"{kind} weights", shapes.some_weights(rng, n, kind))


@family(30, "KernelPCA")
def histogram_units(rng):
    """Rows in any unit, those of 1e-60 and 1e60 among them; in float32 too."""
    n, d, unit = int(rng.integers(4, 30)), int(rng.integers(1, 8)), 10.0 ** rng.uniform(-60, 60)
    X = some_rows(rng, n, d) * unit
    if rng.random() < 0.3:
        X = some_rows(rng, n, d).astype(np.float32)
    return kpca(rng, X, some_kernel(rng, size_of(X)), f"in units of {unit:.0e}")


@family(30, "KernelPCA")
def histogram_flat(rng):
    """Kernels so wide that K is all but constant: what is left is a matter of k − 1."""
    n, d, wide = int(rng.integers(5, 40)), int(rng.integers(1, 6)), 10.0 ** rng.uniform(1, 6)
    X = some_rows(rng, n, d)
    kernel = [ChiSquared(1 / wide / size_of(X)), RationalQuadratic(10.0 ** rng.uniform(-2, 2), wide)][rng.integers(2)]
    return kpca(rng, X, kernel, "nearly constant")


@family(20, "KernelPCA")
def rational_far(rng):
    """Heavy tails: rows far out are still seen."""
    n, d = int(rng.integers(5, 40)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 1e3])
    X[0] += 10.0 ** rng.uniform(1, 6)
    X = X if rng.random() < 0.7 else sparse.csr_array(X)
    kernel = RationalQuadratic(10.0 ** rng.uniform(-1, 1), 10.0 ** rng.uniform(-1, 1))
    return kpca(rng, X, kernel, "an outlier")


@family(20, "KernelPCA")
def histogram_combined(rng):
    n, d = int(rng.integers(4, 30)), int(rng.integers(1, 6))
    X = some_rows(rng, n, d)
    first, second = some_kernel(rng, size_of(X)), some_kernel(rng, size_of(X))
    kernel = [first + second, first * second, 0.1 * first + RBF(0.5), 3.0 * first][rng.integers(4)]
    return kpca(rng, X, kernel, "combined kernels")


@family(40, "landmarks")
def landmark_histograms(rng):
    n, d = int(rng.integers(8, 50)), int(rng.integers(1, 20))
    X = some_rows(rng, n, d)
    return landmark(rng, X, "histograms", kernel=some_kernel(rng, size_of(X)), n_landmarks=int(rng.integers(2, n)))
