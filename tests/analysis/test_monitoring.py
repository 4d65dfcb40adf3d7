"""T², Q and their errors: closed forms, exact bounds, and the first edition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2, f, kstest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer.analysis._models import distances, fitted_model
from mercer.analysis.monitoring import (
    HUGE,
    hotelling_t2,
    measure_rows,
    monitoring_index,
    relevant_components,
    split_variance,
    t2_contributions,
)
from mercer.errors import ParameterError
from mercer.estimators import PCA, FactorAnalysis, KernelPCA, NoveltyDetector, ProbabilisticPCA
from mercer_old.readings import novelty as first_edition

rng = np.random.default_rng(0)


def test_t2_with_all_components_is_the_mahalanobis_distance():
    X, new = rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)), rng.normal(size=(9, 4))
    centered = new - X.mean(axis=0)
    expected = np.einsum("ij,jk,ik->i", centered, np.linalg.inv(np.cov(X.T)), centered)
    assert_allclose(distances(PCA(4).fit(X), new)[0], expected, rtol=1e-8)


def test_t2_of_normal_rows_is_chi_squared_and_of_new_rows_an_f_distribution():
    n, k = 60, 3
    scales, values = np.array([4.0, 2.0, 1.0]), []
    t2 = hotelling_t2(rng.normal(size=(4000, k)) * np.sqrt(scales), scales)
    assert kstest(t2, chi2(k).cdf).pvalue > 1e-3
    for _ in range(1000):  # one new row for each fit: independent values of the statistic with estimated variances
        X = rng.normal(size=(n + 1, k)) * np.sqrt(scales)
        values.append(distances(PCA(k).fit(X[:n]), X[n:])[0][0])
    factor = k * (n - 1) * (n + 1) / (n * (n - k))
    assert kstest(np.array(values) / factor, f(k, n - k).cdf).pvalue > 1e-3


def test_q_is_the_squared_distance_from_the_plane():
    X, new = rng.normal(size=(60, 5)) * [5, 3, 1, 0.5, 0.2], rng.normal(size=(7, 5))
    model = PCA(2).fit(X)
    left = new - model.inverse_transform(model.transform(new))
    assert_allclose(distances(model, new)[1], (left**2).sum(axis=1), rtol=1e-10)


def test_contributions_add_up_to_t2():
    moved, axes = rng.normal(size=(6, 5)), np.linalg.qr(rng.normal(size=(5, 3)))[0].T
    variances, scores = np.array([3.0, 1.0, 0.0]), moved @ axes.T
    found = t2_contributions(moved, scores, axes, variances)
    assert_allclose(found.sum(axis=1), hotelling_t2(scores, variances), rtol=1e-12)
    assert_allclose(found, first_edition.t2_contributions(moved, scores, axes, variances), rtol=1e-14)


def test_squares_that_overflow_are_the_largest_number():
    assert hotelling_t2(np.array([[1e200], [np.inf], [np.nan]]), np.array([1.0])).tolist() == [HUGE] * 3
    assert monitoring_index(np.array([HUGE]), np.array([HUGE]), 1, 0.5)[0] == HUGE
    assert monitoring_index(np.array([6.0]), np.array([1.0]), 3, 0.5)[0] == 4.0


@pytest.mark.parametrize("n_features", [1, 10, 1000])
def test_variances_that_are_rounding_are_not_relevant(n_features):
    variances = np.array([4.0, 1e-3, 4e-13, 4e-15, 0.0])
    expected = first_edition.with_variance(variances, n_features)
    assert np.array_equal(relevant_components(variances, n_features), expected)
    assert not relevant_components(np.zeros(2)).any()


def test_components_without_variance_belong_to_q():
    """A column that is the difference of two others: leaving that plane is a matter of Q, however small it is."""
    X = rng.normal(size=(100, 3))
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    model = PCA(4).fit(X)
    t2, q = distances(model, X[:5] + np.array([0, 0, 0, 1e-3]))
    assert_allclose(q, 1e-6 / 3, rtol=1e-6)  # the distance from the plane x₃ = x₀ − x₁
    assert not split_variance(model).has_rest
    assert (t2 < 30).all()


def test_the_variance_that_is_left_is_that_of_the_other_components():
    X = rng.normal(size=(200, 5)) * [5, 3, 1, 0.5, 0.2]
    split = split_variance(PCA(2).fit(X))
    assert_allclose(split.rest, np.linalg.eigvalsh(np.cov(X.T))[:3].sum(), rtol=1e-10)
    assert split.has_rest and split.n_relevant == 2
    q = distances(PCA(2).fit(X), X)[1]
    assert_allclose(q.mean() * 200 / 199, split.rest, rtol=1e-10)  # "rest" is the mean of Q


@pytest.mark.parametrize("model", [PCA(2), KernelPCA(3, kernel="rbf"), KernelPCA(2)], ids=repr)
def test_errors_are_the_largest_changes_within_the_bounds_of_the_projection(model):
    X = rng.normal(size=(60, 4))
    model.fit(X)
    split, projection = split_variance(model), model.project(X[:5], rounding=True)
    found = measure_rows(model, split, X[:5], rounding=True)
    variances, scores, error = split.variances[projection.kept], projection.scores, projection.scores_error
    signs = np.array(np.meshgrid(*scores.shape[1] * [[-1, 1]])).reshape(scores.shape[1], -1).T
    big = [hotelling_t2(scores + 1e6 * s * error, variances) - found.t2 for s in signs]  # visible above rounding
    expected = first_edition.rounding_of_t2(scores, variances, 1e6 * error)
    assert_allclose(np.max(big, axis=0), expected, rtol=1e-4)
    assert_allclose(found.t2_error, first_edition.rounding_of_t2(scores, variances, error), rtol=1e-12)
    assert_allclose(found.q_error, projection.q_error, rtol=1e-12)


def test_a_precomputed_kernel_has_no_q():
    K = np.exp(-((rng.normal(size=(30, 1)) - rng.normal(size=(1, 30))) ** 2))
    K = K @ K.T
    t2, q = distances(KernelPCA(2, kernel="precomputed").fit(K), K)
    assert q is None and t2.shape == (30,)


def test_missing_values_are_those_of_the_conditional_mean():
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(80, 5))
    model = ProbabilisticPCA(2).fit(X)
    holes = X[:6].copy()
    holes[:, 1] = np.nan
    assert_allclose(distances(model, holes), distances(model, model.impute(holes)), rtol=1e-8)


def test_models_are_unwrapped_and_others_are_rejected():
    X = rng.normal(size=(60, 3))
    model = PCA(1).fit(X)
    assert fitted_model(make_pipeline(StandardScaler(), PCA(1)).fit(X)).model_key == "pca"
    assert fitted_model(NoveltyDetector(model, prefit=True).fit(X)) is model
    with pytest.raises(ParameterError, match="StandardScaler is not supported"):
        fitted_model(StandardScaler().fit(X))
    with pytest.raises(ParameterError, match="PCA has no component functions"):
        fitted_model(model, "expansion")
    with pytest.raises(ParameterError, match="FactorAnalysis has no distances from the subspace"):
        distances(FactorAnalysis(1).fit(X), X)
