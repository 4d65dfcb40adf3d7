"""PCA as a normal distribution, and what is left out: against scipy, scikit-learn and what is measured."""

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.stats import multivariate_normal
from sklearn import decomposition

from mercer import PCA, IncrementalPCA, estimators
from support.alike import same_axes
from support.linear import SOLVERS, SPARSE_SOLVERS, TABLE, VARIANTS, U
from support.silence import quiet

# ---------------------------------------------------------------------- the normal distribution


FRESH = TABLE[:20] + np.random.default_rng(4).normal(size=(20, 6))


@pytest.mark.parametrize("k", [0, 1, 3, 5, 6])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "qr", "gram"])
@quiet
def test_likelihood_is_that_of_scipys_normal_distribution(solver, variant, k):
    model = PCA(k, svd_solver=solver, **VARIANTS[variant]).fit(TABLE)
    covariance = model.get_covariance()
    normal = multivariate_normal(model.mean_, covariance)
    assert_allclose(model.score_samples(FRESH), normal.logpdf(FRESH), rtol=1e-8)
    assert_allclose(model.score(FRESH), normal.logpdf(FRESH).mean(), rtol=1e-8)
    assert_allclose(model.get_precision() @ covariance, np.eye(6), atol=1e-8)
    assert_allclose(model.score_samples(sparse.csr_array(FRESH)), normal.logpdf(FRESH), rtol=1e-8)


@pytest.mark.parametrize("estimator", [estimators.PCA, estimators.ProbabilisticPCA])
def test_likelihood_keeps_its_digits_if_units_differ(estimator):
    """Against 60 digits: the squares outside of the axes are 1e-12 of those along them."""
    X = np.random.default_rng(0).normal(size=(12, 5)) * [1e6, 1e3, 1, 1, 1]
    model = estimator(2).fit(X)
    with mp.workdps(60):
        V, noise = mp.matrix(model.components_), mp.mpf(model.noise_variance_)
        covariance = V.T * mp.diag([mp.mpf(v) - noise for v in model.explained_variance_]) * V + noise * mp.eye(5)
        moved = [mp.matrix(row) - mp.matrix(model.mean_) for row in X]
        distances = [(row.T * mp.lu_solve(covariance, row))[0] for row in moved]
        log_determinant = mp.log(mp.det(2 * mp.pi * covariance))
        expected = [float(-(log_determinant + distance) / 2) for distance in distances]
    assert_allclose(model.score_samples(X), expected, rtol=1e-8)


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("whiten", [False, True])
def test_the_distribution_is_that_of_scikit_learn(k, whiten):
    ours, theirs = PCA(k, whiten=whiten).fit(TABLE), decomposition.PCA(k, whiten=whiten).fit(TABLE)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8, atol=1e-8)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-7, atol=1e-8)
    assert_allclose(ours.score_samples(FRESH), theirs.score_samples(FRESH), rtol=1e-8)


def test_with_all_components_the_covariance_is_that_of_the_rows():
    assert_allclose(PCA().fit(TABLE).get_covariance(), np.cov(TABLE.T), rtol=1e-10)
    assert_allclose(PCA(standardize=True).fit(TABLE).get_covariance(), np.cov(TABLE.T), rtol=1e-10)


@quiet
def test_of_directions_without_variance_nothing_is_said():
    flat = np.append(TABLE, TABLE[:, :2] @ [[1.0], [2.0]], axis=1)
    model = PCA().fit(flat)
    assert_allclose(model.get_precision(), np.linalg.pinv(np.cov(flat.T), rtol=1e-12), atol=1e-9)
    normal = multivariate_normal(flat.mean(axis=0), np.cov(flat.T), allow_singular=True)
    assert_allclose(model.score_samples(flat), normal.logpdf(flat), rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [2, 6])
@quiet
def test_standardizing_is_pca_of_standardized_columns(k, solver):
    mean, deviations = TABLE.mean(axis=0), TABLE.std(axis=0, ddof=1)
    theirs = decomposition.PCA(k, svd_solver="full").fit((TABLE - mean) / deviations)
    ours = PCA(k, svd_solver=solver, standardize=True, tol=1e-12).fit(TABLE)
    assert_allclose(ours.scale_, deviations, rtol=1e-12)
    assert_allclose(ours.mean_, mean, rtol=1e-12, atol=1e-13)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    assert_allclose(ours.total_variance_, 6, rtol=1e-12)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-9)
    same_axes(ours.components_, theirs.components_)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    scores = theirs.transform((FRESH - mean) / deviations)
    assert_allclose(ours.transform(FRESH) * signs, scores, atol=1e-7)
    assert_allclose(ours.inverse_transform(scores * signs), theirs.inverse_transform(scores) * deviations + mean)
    density = theirs.score_samples((FRESH - mean) / deviations) - np.log(deviations).sum()  # in the units of X
    assert_allclose(ours.score_samples(FRESH), density, rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("constant", [0.1, 3.7, 1e8])
@quiet
def test_a_constant_column_is_not_standardized(constant, solver):
    for kind in (np.asarray, sparse.csr_array) if solver in SPARSE_SOLVERS else (np.asarray,):
        for n in (50, 300, 301):
            X = np.random.default_rng(n).normal(size=(n, 4)) * [1, 2, 3, 4]
            X[:, 0] = constant
            model = PCA(3, svd_solver=solver, standardize=True).fit(kind(X))
            assert model.scale_[0] == 1
            expected = np.linalg.eigvalsh(np.corrcoef(X[:, 1:].T))[::-1]
            rounding = 64 * U * (3 + constant**2 * (kind is not np.asarray))  # sparse rows stay where they are
            assert_allclose(model.explained_variance_, expected, rtol=1e-8, atol=rounding)
            assert_allclose(model.total_variance_, 3, rtol=1e-10, atol=rounding)


@pytest.mark.parametrize("constant", [0.1, 3.7, 1e8])
def test_no_column_varies_less_than_not_at_all(constant):
    for n in (50, 300, 301):
        X = np.random.default_rng(n).normal(size=(n, 4))
        X[:, 0] = constant
        for rows in (X, sparse.csr_array(X), X.astype(np.float32)):
            model = IncrementalPCA(2).partial_fit(rows[:30]).partial_fit(rows[30:])
            assert np.all(model.var_ >= 0)
            assert_allclose(model.var_[1:], X[:, 1:].var(axis=0), rtol=1e-6)


@pytest.mark.parametrize("solver", SPARSE_SOLVERS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("k", [1, 3, 5])
@quiet
def test_sparse_rows_are_the_same_rows(k, variant, solver):
    rng = np.random.default_rng(1)
    X = np.where(rng.uniform(size=(150, 6)) < 0.4, rng.normal(size=(150, 6)) * [6, 5, 4, 3, 2, 1] + 2, 0.0)
    rows = sparse.csr_array(X)
    ours = PCA(k, svd_solver=solver, tol=1e-12, **VARIANTS[variant]).fit(rows)
    scale = X.std(axis=0, ddof=1) if "standardize" in VARIANTS[variant] else np.ones(6)
    theirs = decomposition.PCA(k, svd_solver="full", whiten=ours.whiten).fit(X / scale)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-10)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    assert_allclose(ours.transform(rows) * signs, theirs.transform(X / scale), atol=1e-7)
    assert_allclose(
        ours.inverse_transform(theirs.transform(X / scale) * signs) / scale,
        theirs.inverse_transform(theirs.transform(X / scale)),
        atol=1e-7,
    )
    assert_allclose(ours.score_samples(rows), theirs.score_samples(X / scale) - np.log(scale).sum(), rtol=1e-8)


# ---------------------------------------------------------------------- what is left out, and what is turned


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@quiet
def test_reconstruction_error_is_what_is_measured(offset, variant, solver):
    X, n = TABLE + offset, len(TABLE)
    for k in (1, 3, 5):
        model = PCA(k, svd_solver=solver, **VARIANTS[variant]).fit(X)
        scale = model.scale_ if model.standardize else 1.0
        distances = np.sum(((X - model.inverse_transform(model.transform(X))) / scale) ** 2, axis=1)
        dropped = np.linalg.eigvalsh(np.cov((TABLE / scale).T))[::-1][k:]
        assert_allclose(model.reconstruction_error_, distances.mean(), rtol=1e-7)
        assert_allclose(model.reconstruction_error_, (n - 1) / n * dropped.sum(), rtol=1e-7)
        assert_allclose(model.noise_variance_, dropped.mean(), rtol=1e-7)


def test_reconstruction_error_of_weighted_rows_is_their_weighted_mean():
    w = np.random.default_rng(0).uniform(0.1, 4, len(TABLE))
    for model in (PCA(2), IncrementalPCA(2)):
        model.fit(TABLE, sample_weight=w)
        distances = np.sum((TABLE - model.inverse_transform(model.transform(TABLE))) ** 2, axis=1)
        assert_allclose(model.reconstruction_error_, np.average(distances, weights=w), rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 4, 6])
@quiet
def test_loadings_are_covariances_or_correlations_with_scores_of_variance_one(k, solver):
    for standardize, measure in ((False, np.cov), (True, np.corrcoef)):
        model = PCA(k, svd_solver=solver, standardize=standardize, tol=1e-12).fit(TABLE)
        scores = model.transform(TABLE)
        scores /= scores.std(axis=0, ddof=1)
        together = measure(np.append(TABLE, scores, axis=1).T)
        assert_allclose(model.loadings_, together[:6, 6:], atol=1e-7)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_decorrelating_is_a_rotation_with_a_diagonal_covariance(offset, variant):
    X = np.round(TABLE * 64) / 64 + offset
    model = PCA(**VARIANTS[variant]).fit(X)
    scores = model.decorrelate(X)
    scale = (X - offset).std(axis=0, ddof=1) if model.standardize else np.ones(6)
    assert_allclose(pdist(scores), pdist((X - offset) / scale), rtol=1e-10)
    values = np.linalg.eigvalsh(np.cov(((X - offset) / scale).T))[::-1]
    assert_allclose(np.cov(scores.T), np.diag(values), atol=1e-10 * values[0])
