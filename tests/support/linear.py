"""Rows for linear PCA, and the ways to its axes."""

import numpy as np
from hypothesis import settings
from numpy.testing import assert_allclose
from scipy import sparse

U, U32 = 2.0**-53, 2.0**-24  # what rounding a number costs
OFFSETS = [0.0, 1e4, 1e6, 1e8]
DTYPES = [np.float64, np.float32]
VARIANTS = {
    "plain": {},
    "whitened": {"whiten": True},
    "standardized": {"standardize": True},
    "both": {"whiten": True, "standardize": True},
}
few = settings(max_examples=20)
very_few = settings(max_examples=10)

# Ways that know what they lose, and all names that are understood.
WITHOUT_SQUARES = ["full", "qr"]  # known to u·σ₁ in σ
BY_SQUARES = ["covariance_eigh", "gram", "krylov"]  # known to u·λ₁ in λ = σ²
SOLVERS = [*WITHOUT_SQUARES, *BY_SQUARES, "auto"]
SPARSE_SOLVERS = ["covariance_eigh", "krylov", "auto"]
SVD_SOLVERS = [*SOLVERS, "arpack", "randomized"]
SPARSE_SVD_SOLVERS = [*SPARSE_SOLVERS, "arpack"]


def rows_with_spectrum(n, d, sigma, seed=0):
    """Rows around zero whose singular values are these, to rounding."""
    rng, k = np.random.default_rng(seed), min(n - 1, d)
    A = rng.normal(size=(n, k))
    left, right = np.linalg.qr(A - A.mean(axis=0))[0], np.linalg.qr(rng.normal(size=(d, k)))[0]
    return left * np.asarray(sigma)[:k] @ right.T


rng = np.random.default_rng(0)
TALL = rng.normal(size=(700, 12)) @ rng.normal(size=(12, 12)) + 100 * rng.normal(size=12)
WIDE = (TALL[:9].T @ rng.normal(size=(9, 40)))[:8] + rng.normal(size=(8, 40))
SPARSE = sparse.csr_array(np.maximum(np.random.default_rng(1).uniform(-9, 1, size=(900, 40)), 0.0))  # a tenth of it
TABLE = rows_with_spectrum(200, 6, [70, 50, 40, 15, 13, 11], seed=2) * [1, 2, 3, 1, 0.5, 1] + [0, 10, -5, 100, 3, 7]


def all_of(model):
    names = "components_ explained_variance_ explained_variance_ratio_ singular_values_ mean_ noise_variance_"
    return [np.asarray(getattr(model, name)) for name in [*names.split(), "total_variance_", "reconstruction_error_"]]


def assert_same(model, other, rtol=1e-9):
    for one, two in zip(all_of(model), all_of(other), strict=True):
        assert_allclose(one, two, rtol=rtol, atol=rtol * np.abs(two).max(initial=0.0))
