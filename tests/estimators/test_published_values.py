"""PCA against others: LAPACK's own yardsticks, and tables that were printed."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets

from mercer import PCA
from mercer.datasets import us_arrests
from support.linear import SOLVERS, U, rows_with_spectrum
from support.long_double import centred, holds, scatter_values
from support.silence import quiet

# ---------------------------------------------------------------------- LAPACK's yardsticks


LAPACK_SPECTRA = {
    "arithmetic": lambda m: 1 - np.arange(m) / m * (1 - 1e-3),
    "geometric": lambda m: np.geomspace(1, 1e-6, m),
    "clustered at the low end": lambda m: np.append(1.0, np.full(m - 1, 1e-3)),
    "clustered at the high end": lambda m: np.append(np.ones(m - 1), 1e-3),
    "pairs": lambda m: np.repeat(2.0 ** -np.arange(m), 2)[:m],
    "random logarithms": lambda m: np.sort(10 ** np.random.default_rng(3).uniform(-6, 0, m))[::-1],
    "graded": lambda m: 4.0 ** -np.arange(m),
    "flat": np.ones,
    "rank-deficient": lambda m: np.where(np.arange(m) < m // 2, np.linspace(1, 0.5, m), 0.0),
    "rank one": lambda m: np.append(1.0, np.zeros(m - 1)),
    "near underflow": lambda m: 1e-150 * np.linspace(1, 0.1, m),
    "near overflow": lambda m: 1e150 * np.linspace(1, 0.1, m),
}
LAPACK_MATRICES = {
    name: lambda n, d, make=make: rows_with_spectrum(n, d, make(min(n - 1, d)), seed=5)
    for name, make in LAPACK_SPECTRA.items()
} | {
    "zero": lambda n, d: np.zeros((n, d)),
    "constant": lambda n, d: np.full((n, d), 3.7),
    "identity": lambda n, d: np.eye(n, d),
    "ones but for one": lambda n, d: np.ones((n, d)) + np.eye(1, n).T * np.eye(1, d),
    "rows three times": lambda n, d: np.random.default_rng(6).normal(size=(n, d))[np.arange(n) // 3],
    "columns twice": lambda n, d: np.random.default_rng(7).normal(size=(n, d))[:, np.arange(d) // 2],
    "graded columns": lambda n, d: np.random.default_rng(8).normal(size=(n, d)) * 10.0 ** -np.arange(d),
    "graded rows": lambda n, d: np.random.default_rng(8).normal(size=(n, d)) * 10.0 ** -np.arange(n)[:, None],
}


@cache
def lapack_case(kind, n, d):
    X = LAPACK_MATRICES[kind](n, d)
    return X, centred(X), scatter_values(X)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", LAPACK_MATRICES)
@quiet
def test_residuals_pass_as_in_lapacks_own_tests(kind, solver):
    for n, d in [(40, 10), (9, 25), (12, 12)]:
        X, C, spectrum = lapack_case(kind, n, d)
        model = PCA(svd_solver=solver).fit(X)
        size = np.abs(C).max() or np.longdouble(1)
        S = (C / size).T @ (C / size)
        V = model.components_.T.astype(np.longdouble)
        values = (n - 1) * model.explained_variance_.astype(np.longdouble) / size**2
        norm = np.sqrt(np.sum(S**2)) or 1.0
        most = 60 if solver == "krylov" else 30  # which stops once a residual is good enough
        assert np.sqrt(np.sum((S @ V - V * values) ** 2)) <= most * d * U * norm
        assert np.sqrt(np.sum((V.T @ V - np.eye(V.shape[1])) ** 2)) <= 30 * d * U
        assert np.all(np.diff(model.explained_variance_) <= 0)
        assert np.all(model.explained_variance_ >= 0)
        assert holds(model.certificate_, spectrum)


# ---------------------------------------------------------------------- printed tables


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_components_of_the_us_arrests(solver):  # An Introduction to Statistical Learning, §10.4 (R's prcomp)
    X, names = us_arrests()
    model = PCA(svd_solver=solver, standardize=True).fit(X)
    assert_allclose(np.sqrt(model.explained_variance_), [1.5749, 0.9949, 0.5971, 0.4164], atol=5e-5)
    assert names == ["Murder", "Assault", "UrbanPop", "Rape"]
    assert_allclose(np.abs(model.components_[0]), [0.5359, 0.5832, 0.2782, 0.5434], atol=5e-5)
    assert_allclose(np.abs(model.components_[1]), [0.4182, 0.1880, 0.8728, 0.1673], atol=5e-5)
    assert_allclose(model.explained_variance_ratio_, [0.620, 0.247, 0.089, 0.043], atol=5e-4)
    assert_allclose(model.mean_, [7.788, 170.76, 65.54, 21.232], atol=5e-4)
    assert_allclose(model.scale_, [4.3555, 83.3377, 14.4748, 9.3664], atol=5e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_components_of_the_irises(solver):  # R's prcomp(iris[, 1:4])
    model = PCA(svd_solver=solver).fit(datasets.load_iris().data)
    assert_allclose(model.explained_variance_, [4.22824171, 0.24267075, 0.0782095, 0.02383509], atol=5e-9)
    assert_allclose(np.abs(model.components_[0]), [0.36138659, 0.08452251, 0.85667061, 0.3582892], atol=5e-9)
    assert_allclose(np.sqrt(model.explained_variance_), [2.0562689, 0.4926162, 0.2796596, 0.1543862], atol=5e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_deviations_of_the_wines(solver):  # Coghlan, A Little Book of R for Multivariate Analysis
    model = PCA(svd_solver=solver, standardize=True).fit(datasets.load_wine().data)
    deviations = [2.169, 1.5802, 1.2025, 0.9586, 0.9237, 0.8010, 0.7423, 0.5903, 0.5375, 0.5009, 0.4752, 0.4108, 0.3215]
    assert_allclose(np.sqrt(model.explained_variance_), deviations, atol=5e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_proportions_of_the_cancer_cells(solver):  # An Introduction to Statistical Learning, §10.6
    data = np.asarray(pytest.importorskip("ISLP").load_data("NCI60")["data"], dtype=float)
    model = PCA(5, svd_solver=solver, standardize=True).fit(data)
    assert_allclose(np.sqrt(model.explained_variance_), [27.853, 21.4814, 19.8205, 17.0326, 15.9718], atol=5e-4)
    assert_allclose(model.explained_variance_ratio_, [0.1136, 0.06756, 0.05752, 0.04248, 0.03735], atol=5e-5)
