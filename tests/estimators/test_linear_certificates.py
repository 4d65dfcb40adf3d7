"""Certificates of PCA, on a hundred matrices of every kind."""

from functools import cache

import numpy as np
import pytest

from mercer import PCA
from support.linear import SOLVERS
from support.long_double import centred, holds, singular_values
from support.silence import quiet


@cache
def any_matrix(seed, standardize=False, farthest=6):
    """Tall or wide, of any scale, with any spectrum at some place; weights every third time; and what it scatters."""
    rng = np.random.default_rng(seed)
    n, d = (int(rng.integers(10, 60)), int(rng.integers(2, 9))) if seed % 2 else (int(rng.integers(3, 9)), 20)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-5, 1, size=d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = 10.0 ** rng.integers(-3, 4) * (X + 10.0 ** rng.integers(-2, farthest) * rng.normal(size=d))
    w = None if seed % 3 else rng.integers(1, 4, n)
    k = min(n, d) if seed % 4 == 0 else int(rng.integers(1, min(n, d) + 1))
    C = centred(X, w)
    deviations = np.sqrt(np.sum(C**2, axis=0) / ((n if w is None else w.sum()) - 1)) if standardize else 1.0
    return X, w, k, singular_values(C / deviations) ** 2


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_a_hundred_matrices_hold(solver):
    wrong = []
    for seed in range(100):
        X, w, k, values = any_matrix(seed)
        if not holds(PCA(k, svd_solver=solver).fit(X, sample_weight=w).certificate_, values):
            wrong.append(seed)
    assert wrong == []


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_standardized_rows_hold(solver):
    wrong = []
    for seed in range(40):
        X, w, k, values = any_matrix(seed, standardize=True, farthest=10)
        if not holds(PCA(k, svd_solver=solver, standardize=True).fit(X, sample_weight=w).certificate_, values):
            wrong.append(seed)
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_a_thousand_matrices_hold(solver):
    wrong = []
    for seed in range(100, 1100):
        X, w, k, values = any_matrix(seed)
        if not holds(PCA(k, svd_solver=solver).fit(X, sample_weight=w).certificate_, values):
            wrong.append(seed)
    assert wrong == []
