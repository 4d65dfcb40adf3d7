"""All ways to the axes agree: with the textbook, with each other, dense and sparse, turned and moved."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from mercer import PCA, textbook
from mercer_old.sources.held import HeldRows
from mercer_old.sweeps.lanes import sweep_scatter
from support.alike import same_axes
from support.linear import SOLVERS, SPARSE, SPARSE_SVD_SOLVERS, SVD_SOLVERS, TALL, WIDE, assert_same, few
from support.registry import ALL_SCATTERS
from support.silence import quiet
from support.strategies import seeds, tall_tables

# ---------------------------------------------------------------------- any batches, any order, any tree


@pytest.mark.parametrize("solver", SOLVERS)
@given(tall_tables, seeds)
@few
@quiet
def test_turned_and_moved_rows_have_the_same_variances_along_turned_axes(solver, X, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    moved = X @ Q + 10 * np.abs(X).max() * rng.normal(size=X.shape[1])
    model = PCA(svd_solver=solver).fit(moved)
    _, sigma, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    total = np.sum(sigma**2)
    assert_allclose(model.explained_variance_ * (len(X) - 1), sigma**2, atol=1e-10 * total)
    if sigma[0] > 1.01 * sigma[1]:
        same_axes(model.components_[:1], Vt[:1] @ Q, atol=1e-6)
    every = np.random.default_rng(seed).permutation(len(X))
    assert_allclose(
        PCA(svd_solver=solver).fit(X[every]).explained_variance_ * (len(X) - 1), sigma**2, atol=1e-10 * total
    )


# ---------------------------------------------------------------------- all ways agree


@pytest.mark.parametrize("svd_solver", SVD_SOLVERS)
@pytest.mark.parametrize("X", [TALL, WIDE], ids=["tall", "wide"])
def test_every_way_finds_what_the_textbook_finds(svd_solver, X):
    values, axes = textbook.pca_by_svd(X)
    model = PCA(4, svd_solver=svd_solver).fit(X)
    n = len(X)
    assert_allclose(model.explained_variance_, values[:4] * n / (n - 1), rtol=1e-9)
    assert_allclose(np.abs(model.components_ @ axes[:, :4]), np.eye(4), atol=1e-7)
    assert_allclose(model.reconstruction_error_, values[4:].sum(), rtol=1e-9)
    assert model.certificate_.certified


@pytest.mark.parametrize("svd_solver", SVD_SOLVERS)
@pytest.mark.parametrize("params", [dict(standardize=True), dict(whiten=True)], ids=str)
def test_options_mean_the_same_to_every_way(svd_solver, params):
    w = np.random.default_rng(2).integers(0, 4, size=len(TALL))
    model = PCA(3, svd_solver=svd_solver, **params).fit(TALL, sample_weight=w)
    full = PCA(3, svd_solver="full", **params).fit(np.repeat(TALL, w, axis=0))
    assert_same(model, full, rtol=1e-8)
    assert_allclose(model.transform(TALL), full.transform(TALL), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("svd_solver", SPARSE_SVD_SOLVERS)
@pytest.mark.parametrize("params", [{}, dict(standardize=True), dict(whiten=True)], ids=str)
def test_sparse_rows_mean_the_same_as_dense_ones(svd_solver, params):
    w = np.random.default_rng(2).uniform(0.5, 2, size=900)
    model = PCA(3, svd_solver=svd_solver, **params).fit(SPARSE, sample_weight=w)
    dense = PCA(3, svd_solver="full", **params).fit(SPARSE.toarray(), sample_weight=w)
    assert_same(model, dense, rtol=1e-6)
    assert_allclose(model.transform(SPARSE), dense.transform(SPARSE.toarray()), atol=1e-5)
    assert_allclose(model.score_samples(SPARSE), dense.score_samples(SPARSE.toarray()), rtol=1e-5)


@pytest.mark.parametrize("svd_solver", SVD_SOLVERS)
@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_a_share_of_the_variance_takes_as_many_components_by_every_way(svd_solver, share):
    explained = np.cumsum(PCA(svd_solver="full").fit(TALL).explained_variance_ratio_)
    model = PCA(share, svd_solver=svd_solver).fit(TALL)
    assert model.n_components_ == np.sum(explained <= share) + 1
    assert model.explained_variance_ratio_.sum() > share


def test_a_share_by_products_grows_until_it_is_reached():
    X = np.random.default_rng(0).normal(size=(300, 2000)) * np.exp(-np.arange(2000) / 15)
    model, full = PCA(0.8, svd_solver="krylov").fit(X), PCA(0.8, svd_solver="full").fit(X)
    assert model.plan_.held == "products" and model.n_components_ == full.n_components_ > 10
    assert_allclose(model.explained_variance_, full.explained_variance_, rtol=1e-8)


@pytest.mark.parametrize("kind", ALL_SCATTERS)
def test_threads_do_not_change_a_single_bit(kind):
    X = np.random.default_rng(0).normal(size=(30_000, 20))
    one, three = (sweep_scatter(kind, HeldRows(X), None, threads) for threads in (1, 3))
    assert np.array_equal(one.mean, three.mean) and np.array_equal(one.squares, three.squares)
    fits = [PCA(3, n_jobs=jobs).fit(X) for jobs in (1, 2)]
    assert np.array_equal(fits[0].components_, fits[1].components_)


def test_wide_rows_are_squared_by_tiles_and_by_products_to_the_same_end():
    X = np.random.default_rng(0).normal(size=(1700, 1600)) * 0.97 ** np.arange(1600) + 50
    squared, products = PCA(5, svd_solver="covariance_eigh").fit(X), PCA(5).fit(X)
    assert (squared.plan_.held, products.plan_.held) == ("scatter", "products")
    assert_same(squared, products, rtol=1e-7)
    assert_same(squared, PCA(5, svd_solver="full").fit(X), rtol=1e-10)
