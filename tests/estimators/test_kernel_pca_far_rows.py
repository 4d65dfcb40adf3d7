"""Kernel PCA of rows far from zero keeps its digits: kernels are moved to the mean row."""

import numpy as np
import pytest
from mpmath import mpf

from mercer.estimators.kernel_pca import KernelPCA
from mercer.kernels.distance import RBF
from mercer.kernels.dot import Cosine, Linear, Polynomial
from support.exact_kernels import exact_matrix

ROWS = np.round(np.random.default_rng(0).normal(size=(24, 3)) * [8.0, 4.0, 2.0] * 64) / 64  # exact with any offset here
DIRECTION = np.array([1.0, -2.0, 0.5])
KERNELS = [Linear(), Cosine(), Polynomial(2, 1e-4, 1.0), Polynomial(5, 1e-10, 2.0), 2 * Linear() + RBF(0.01)]


def exact_centered(kernel, X):
    """The centered kernel matrix: means are removed in 60 digits."""
    K = exact_matrix(kernel, X, X)
    n = len(K)
    means = [sum(row) / n for row in K]
    mean = sum(means) / n
    return np.array([[float(K[i][j] - means[i] - means[j] + mean) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize("solver", ["dense", "krylov", "auto"])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_eigenvalues_are_exact_at_any_offset(kernel, offset, solver):
    X = ROWS + offset * DIRECTION
    expected = np.linalg.eigvalsh(exact_centered(kernel, X))[::-1][:3]
    model = KernelPCA(3, kernel=kernel, eigen_solver=solver).fit(X)
    assert np.abs(model.eigenvalues_ - expected).max() <= 1e-12 * expected[0]
    certificate = model.certificate_
    assert (certificate.lower <= expected).all() and (expected <= certificate.upper).all()
    assert (certificate.upper - certificate.lower)[0] <= 1e-7 * expected[0]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_scores_of_new_rows_and_functions(kernel):
    X = ROWS + 1e6 * DIRECTION
    train, new = X[:18], X[18:]
    model = KernelPCA(2, kernel=kernel).fit(train)
    scores = model.transform(train)
    assert np.allclose(scores, model.fit_transform(train), rtol=1e-9, atol=1e-11 * np.abs(scores).max())
    assert np.allclose(scores.T @ scores, np.diag(model.eigenvalues_), atol=1e-10 * model.eigenvalues_[0])
    alpha = model.eigenvectors_ / np.sqrt(model.eigenvalues_)
    K = exact_matrix(kernel, new, train)
    T = exact_matrix(kernel, train, train)
    for c in range(2):
        a = [mpf(v) for v in (alpha[:, c] - alpha[:, c].mean()).tolist()]
        excess = sum(a) / len(a)
        a = [v - excess for v in a]  # sums to zero in all digits, as it does in theory
        values = [sum(v * k for v, k in zip(a, row, strict=True)) for row in K]
        mean = sum(sum(v * k for v, k in zip(a, row, strict=True)) for row in T) / len(T)
        expected = np.array([float(v - mean) for v in values])
        assert np.allclose(model.transform(new)[:, c], expected, rtol=1e-7, atol=1e-9 * np.abs(scores).max())
        differences = model.component_functions(new)[:, c] - [float(v) for v in values]
        assert np.ptp(differences) <= 1e-9 * np.abs(scores).max() + 1e-15 * np.abs(model.component_functions(new)).max()
        largest = float(max(map(max, T)))
        assert np.abs(differences).max() <= 1e-15 * largest * np.abs(alpha[:, c]).sum()


def test_an_offset_changes_nothing_for_linear_kernels():
    near, far = (KernelPCA(3).fit(ROWS + offset) for offset in (0.0, 1e8))
    assert np.allclose(near.eigenvalues_, far.eigenvalues_, rtol=1e-13)
    assert np.allclose(near.transform(ROWS[:5]), far.transform(ROWS[:5] + 1e8), rtol=1e-12, atol=1e-12)
    assert np.isclose(near.score(ROWS[:5]), far.score(ROWS[:5] + 1e8), rtol=1e-12)


def test_scikit_learn_gets_the_means_of_the_plain_kernel():
    X = ROWS + 1e3
    for kernel in (Polynomial(6, 1e-6, 1.0), "poly", "linear", "cosine"):
        model = KernelPCA(2, kernel=kernel, gamma=1e-5, eigen_solver="dense").fit(X)
        assert (model._centering.origin is None) == (kernel == "linear")
        theirs = model.to_sklearn()
        scale = np.abs(model.transform(X)).max()
        assert np.allclose(theirs.transform(X), model.transform(X), atol=1e-6 * scale)
