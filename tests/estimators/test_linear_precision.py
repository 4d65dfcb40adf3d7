"""Digits that squares would lose are found without them, or said to be lost."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from mercer import PCA, IncrementalPCA
from mercer_old.errors import MercerWarning
from support.linear import SPARSE_SVD_SOLVERS, TALL

# ---------------------------------------------------------------------- digits


def graded(n, d, smallest, seed=0):
    """Rows whose standard deviations along random axes go from 1 down to the smallest."""
    random = np.random.default_rng(seed)
    U, V = (np.linalg.qr(random.normal(size=(m, d)))[0] for m in (n, d))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    return (U * np.logspace(0, np.log10(smallest), d)) @ V.T


def test_digits_that_squares_would_lose_are_found_without_them():
    X = graded(3000, 6, 1e-6)
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    model = PCA().fit(X)
    assert model.plan_.held == "triangle" and "too few digits" in model.plan_.why
    assert_allclose(model.singular_values_, sigma, rtol=1e-8)
    assert PCA(3).fit(X).plan_.held == "scatter"  # those have digits enough


@pytest.mark.slow
def test_wide_rows_with_too_few_digits_are_not_squared_either():
    X = graded(3000, 6, 1e-6).T @ np.linalg.qr(np.random.default_rng(1).normal(size=(3000, 3000)))[0][:, :2000]
    model = PCA(4, svd_solver="gram").fit(X)
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert_allclose(model.singular_values_, sigma[:4], rtol=1e-6)


def test_batches_say_how_many_digits_are_left():
    X = graded(3000, 6, 1e-6)
    with pytest.warns(MercerWarning, match=r"only [0-9] digits; PCA of dense rows"):
        IncrementalPCA().partial_fit(X).components_  # noqa: B018


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_single_precision_that_cannot_be_squared_is_not(scale):
    X = (TALL[:, :3] * scale).astype(np.float32)
    model = PCA(2, svd_solver="covariance_eigh").fit(X)
    exact = PCA(2, svd_solver="full").fit(X.astype(np.float64))
    assert_allclose(model.singular_values_ / scale, exact.singular_values_ / scale, rtol=1e-5)


def test_small_variances_of_single_precision_rows_are_summed_up_anew():
    X = graded(20_000, 5, 1e-3).astype(np.float32)
    model = PCA().fit(X)
    assert_allclose(model.singular_values_, PCA(svd_solver="full").fit(X.astype(float)).singular_values_, rtol=1e-6)


# ---------------------------------------------------------------------- what a review found


def test_variances_that_squares_do_not_see_are_found_all_the_same():
    X = np.random.default_rng(0).normal(size=(3000, 2)) * [1e5, 1e-4]
    model = PCA().fit(X)
    assert_allclose(model.singular_values_, np.linalg.svd(X - X.mean(axis=0), compute_uv=False), rtol=1e-6)
    assert_allclose(PCA(1).fit(X).noise_variance_, model.explained_variance_[1], rtol=1e-6)


def test_rows_of_less_than_full_rank_are_squared_and_nothing_more():
    X = np.random.default_rng(0).normal(size=(3000, 3)) @ np.random.default_rng(1).normal(size=(3, 6))
    model = PCA().fit(X)
    assert model.plan_.held == "scatter" and model.certificate_.n_zero == 3
    assert not model.explained_variance_[3:].any()


def test_products_find_small_variances_too(monkeypatch):
    monkeypatch.setattr("mercer_old.plans.linear._PRODUCTS_FROM", 250)
    X = np.random.default_rng(0).normal(size=(600, 510))
    X[:, 10:] = 0
    X *= np.append(np.logspace(0, -7, 10), np.zeros(500))
    assert PCA(10).plan(X).held == "products"
    model = PCA(10).fit(X)
    sigma = np.linalg.svd((X - X.mean(axis=0))[:, :10], compute_uv=False)
    assert_allclose(model.singular_values_, sigma, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:The direction of component")
def test_sparse_rows_far_from_zero_say_how_many_digits_are_left():
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) + 1e7)
    for svd_solver in SPARSE_SVD_SOLVERS:
        with pytest.warns(MercerWarning, match="only [01] digits"):
            PCA(2, svd_solver=svd_solver).fit(X)


@pytest.mark.filterwarnings("ignore:The direction of component")
def test_certificates_of_large_single_precision_sums_hold():
    X = np.random.default_rng(0).normal(1e5, 3, (20_000, 250)).astype(np.float32)
    model = PCA(1).fit(X)
    exact = np.linalg.eigvalsh(np.cov(X.astype(np.float64).T) * 19_999)[-1]
    assert model.certificate_.lower[0] <= exact <= model.certificate_.upper[0]
    assert_allclose(model.explained_variance_[0] * 19_999, exact, rtol=2e-5)
