"""Principal component analysis: every identity of 000 p. 36–58, 001 and 004 §2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer.datasets import us_arrests
from mercer.textbook import (
    centre,
    components_for_share,
    covariance_by_centring,
    decorrelate,
    pca_by_covariance,
    pca_by_gram,
    pca_by_svd,
    project,
    projection_distance,
    projection_spread,
    proportion_of_variance,
    reconstruct,
    reconstruction_error,
    standardise,
    whiten,
    with_signs,
)
from support.alike import same_axes
from support.strategies import seeds, tables, tall_tables, unit_vectors, wide_tables


@given(tall_tables)
def test_covariance_svd_and_gram_give_the_same_components(X):
    values, U = pca_by_covariance(X)
    for method in (pca_by_svd, pca_by_gram):
        other_values, V = method(X, len(values))
        assert_allclose(other_values, values, rtol=1e-8, atol=1e-11 * values[0])
        same_axes(U[:, :2].T, V[:, :2].T, atol=1e-6)


@given(wide_tables)
def test_gram_matrix_serves_when_there_are_more_features_than_samples(X):
    values, V = pca_by_gram(X)
    assert len(values) == len(X) - 1  # the centred rows sum to zero: one direction is lost
    expected, U = pca_by_svd(X, len(values))
    assert_allclose(values, expected, rtol=1e-8)
    same_axes(U.T, V.T, atol=1e-6)


@given(tall_tables)
def test_components_are_those_of_scikit_learn_but_for_the_divisor(X):
    values, U = pca_by_svd(X)
    other = PCA(svd_solver="full").fit(X)
    assert_allclose(values * len(X) / (len(X) - 1), other.explained_variance_, rtol=1e-7, atol=1e-12 * values[0])
    same_axes(U[:, :2].T, other.components_[:2], atol=1e-6)


@given(tables(rows=(3, 12)))
def test_decorrelated_data_have_mean_zero_and_a_diagonal_covariance(X):  # 000 p. 38
    Y = decorrelate(X)
    C = covariance_by_centring(X)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-12 * np.abs(X).max())
    assert_allclose(Y.T @ Y / len(Y), np.diag(np.linalg.eigvalsh(C)[::-1]), atol=1e-10 * np.abs(C).max())


@given(tables(rows=(3, 12)))
def test_decorrelation_is_a_rotation_so_distances_stay(X):  # 000 p. 37
    Y = decorrelate(X)
    assert_allclose(Y @ Y.T, centre(X) @ centre(X).T, atol=1e-10 * np.abs(X).max() ** 2)


@given(tall_tables)
def test_whitened_data_have_the_identity_as_covariance(X):
    assert_allclose(covariance_by_centring(whiten(X)), np.eye(X.shape[1]), atol=1e-6)


@given(tall_tables, seeds)
def test_variance_along_a_unit_vector_is_its_quadratic_form(X, seed):  # 000 p. 50, 001
    C = covariance_by_centring(X)
    for u in unit_vectors(X.shape[1], seed, 5):
        assert_allclose(projection_spread(X, u), u @ C @ u, rtol=1e-7, atol=1e-11 * np.abs(C).max())
        assert_allclose(projection_spread(X, u), np.var(X @ u), rtol=1e-7, atol=1e-11 * np.abs(C).max())


@given(tall_tables, seeds)
def test_no_direction_has_more_variance_than_the_first_axis(X, seed):  # 000 p. 51, 001
    values, U = pca_by_covariance(X)
    assert_allclose(projection_spread(X, U[:, 0]), values[0], rtol=1e-9)
    assert all(projection_spread(X, u) <= values[0] * (1 + 1e-9) for u in unit_vectors(X.shape[1], seed, 50))


@given(tall_tables, seeds)
def test_among_directions_orthogonal_to_the_first_the_second_has_most_variance(X, seed):  # 001, 004 exercise 2
    values, U = pca_by_covariance(X)
    for u in unit_vectors(X.shape[1], seed, 50):
        u = u - U[:, 0] * (u @ U[:, 0])
        if np.linalg.norm(u) > 1e-3:
            assert projection_spread(X, u / np.linalg.norm(u)) <= values[1] * (1 + 1e-8) + 1e-12 * values[0]


@given(tall_tables, seeds)
def test_spread_and_distance_add_up_to_the_total_variance(X, seed):  # 000 p. 55–57: same optimum
    total = np.trace(covariance_by_centring(X))
    for u in unit_vectors(X.shape[1], seed, 5):
        assert_allclose(projection_spread(X, u) + projection_distance(X, u), total, rtol=1e-9)


@given(tall_tables, seeds)
def test_no_axis_is_nearer_to_the_data_than_the_first(X, seed):  # 000 p. 54
    best = projection_distance(X, pca_by_covariance(X)[1][:, 0])
    total = np.trace(covariance_by_centring(X))
    assert all(projection_distance(X, u) >= best - 1e-9 * total for u in unit_vectors(X.shape[1], seed, 50))


@given(tall_tables)
def test_truncation_error_is_the_sum_of_the_dropped_eigenvalues(X):  # Eckart–Young, 000 p. 42, 004 (6)
    values = pca_by_covariance(X)[0]
    for k in range(1, X.shape[1] + 1):
        assert_allclose(reconstruction_error(X, k), values[k:].sum(), rtol=1e-7, atol=1e-11 * values[0])


@given(tall_tables)
def test_truncation_error_in_scikit_learns_eigenvalues(X):
    n, dropped = len(X), PCA(svd_solver="full").fit(X).explained_variance_[1:]
    assert_allclose(reconstruction_error(X, 1), (n - 1) / n * dropped.sum(), rtol=1e-7)


@given(tall_tables, seeds)
def test_no_other_subspace_of_the_same_dimension_reconstructs_better(X, seed):  # Eckart–Young, 001, 004 §2.1
    mean, k = X.mean(axis=0), X.shape[1] - 1
    best = reconstruction_error(X, k)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        W = np.linalg.qr(rng.normal(size=(X.shape[1], k)))[0]
        other = np.mean(np.sum((X - reconstruct(project(X, W, mean), W, mean)) ** 2, axis=1))
        assert other >= best - 1e-10 * np.sum(centre(X) ** 2)


@given(tall_tables, seeds)
def test_the_best_code_of_a_point_is_its_projection(X, seed):  # 004 §2.1 step 1, 001: z_nj = x_nᵀu_j
    mean, W = X.mean(axis=0), pca_by_svd(X, 1)[1]
    Z = project(X, W, mean)
    noise = np.random.default_rng(seed).normal(size=Z.shape) * Z.std()
    assert np.sum((X - reconstruct(Z + noise, W, mean)) ** 2) >= np.sum((X - reconstruct(Z, W, mean)) ** 2)


@given(tall_tables, seeds)
def test_the_best_constant_for_dropped_axes_is_the_mean_along_them(X, seed):  # 001: b_j = x̄ᵀu_j
    mean, U = X.mean(axis=0), pca_by_svd(X)[1]
    kept, dropped = U[:, :1], U[:, 1:]

    def error(b):  # Σᵢ zᵢuᵢ + Σⱼ bⱼuⱼ with uncentred zᵢ = xᵀuᵢ
        return np.sum((X - X @ kept @ kept.T - b @ dropped.T) ** 2)

    b = mean @ dropped
    assert_allclose(X @ kept @ kept.T + b @ dropped.T, reconstruct(project(X, kept, mean), kept, mean))
    for shift in unit_vectors(len(b), seed, 10) * X.std():
        assert error(b + shift) > error(b)


@given(tall_tables)
def test_the_error_is_orthogonal_to_the_principal_subspace(X):  # 001
    mean, U = X.mean(axis=0), pca_by_svd(X, 1)[1]
    rest = X - reconstruct(project(X, U, mean), U, mean)
    assert_allclose(rest @ U, 0, atol=1e-11 * np.abs(X).max())


@given(tall_tables)
def test_all_axes_reconstruct_the_data(X):  # 000 p. 40
    mean, U = X.mean(axis=0), pca_by_svd(X)[1]
    assert_allclose(reconstruct(project(X, U, mean), U, mean), X, atol=1e-12 * np.abs(X).max())


@given(tall_tables)
def test_reconstruction_is_the_truncated_svd(X):  # 004 §2.3
    mean, W = X.mean(axis=0), pca_by_svd(X, 1)[1]
    U, D, Vt = np.linalg.svd(X - mean, full_matrices=False)
    assert_allclose(reconstruct(project(X, W, mean), W, mean) - mean, D[0] * np.outer(U[:, 0], Vt[0]), atol=1e-9 * D[0])


@given(tall_tables)
def test_proportion_of_variance_is_that_of_the_scores(X):  # 004 §2.4
    values, U = pca_by_svd(X)
    Z = project(X, U, X.mean(axis=0))
    assert_allclose(proportion_of_variance(values), (Z**2).sum(axis=0) / (centre(X) ** 2).sum(), atol=1e-12)
    assert_allclose(proportion_of_variance(values).sum(), 1)


@given(tall_tables)
def test_a_score_is_positive_exactly_where_the_angle_to_the_axis_is_acute(X):  # 000 p. 44
    u = pca_by_svd(X, 1)[1][:, 0]
    X = centre(X)
    cosine = X @ u / np.linalg.norm(X, axis=1)
    assert np.all(np.sign(project(X, u[:, None], 0 * u)[:, 0]) == np.sign(cosine))


@given(tall_tables)
def test_standardised_data_have_the_correlation_matrix_as_covariance(X):  # 004 §2.3
    assert_allclose(covariance_by_centring(standardise(X)), np.corrcoef(X.T), atol=1e-9)


def test_published_proportions_of_the_us_arrests():  # 004 fig. 5, from An Introduction to Statistical Learning
    proportions = proportion_of_variance(pca_by_svd(standardise(us_arrests()[0]))[0])
    assert_allclose(proportions, [0.620, 0.247, 0.089, 0.043], atol=5e-4)


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=8), st.floats(0.05, 1))
def test_the_share_is_reached_by_k_and_not_by_fewer(values, share):  # 000 p. 43
    values = np.sort(values)[::-1]
    k = components_for_share(values, share)
    cumulated = np.cumsum(values) / np.sum(values)
    assert cumulated[k - 1] >= share - 1e-9
    assert k == 1 or cumulated[k - 2] < share


def test_an_exact_tie_counts_as_reached_here_but_not_in_scikit_learn():
    X = np.array([[3.0, 0], [-3, 0], [0, 1], [0, -1]])  # eigenvalues 4.5 and 0.5: the first is exactly 90 %
    assert components_for_share(pca_by_svd(X)[0], 0.9) == 1
    assert PCA(n_components=0.9, svd_solver="full").fit(X).n_components_ == 2


@pytest.mark.parametrize("method", [pca_by_covariance, pca_by_svd, pca_by_gram])
def test_adding_a_constant_changes_no_component(method):
    X = np.random.default_rng(0).normal(size=(10, 3))
    values, U = method(X, 3)
    moved_values, moved_U = method(X + 1000.0, 3)
    assert_allclose(moved_values, values, rtol=1e-8)
    assert_allclose(moved_U, U, atol=1e-7)


@pytest.mark.parametrize("offset", [1e3, 1e5, 1e7])
def test_a_large_mean_does_no_harm_where_the_data_are_centred_first(offset):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [3, 2, 1]
    here = (X + offset) - offset  # what float64 keeps of them at that place
    for method in (pca_by_covariance, pca_by_svd, pca_by_gram):
        assert_allclose(method(X + offset, 3)[0], pca_by_svd(here)[0], rtol=1e-6)
    assert_allclose(np.var(decorrelate(X + offset), axis=0), pca_by_svd(here)[0], rtol=1e-6)


def test_signs_make_the_largest_entry_of_each_axis_positive():
    assert_allclose(with_signs([[1.0, -3.0], [-2.0, 1.0]]), [[-1.0, 3.0], [2.0, -1.0]])


def test_a_share_that_rounding_just_misses_counts_as_reached():
    values = np.full(10, 0.1)  # the sum of eight of them is 0.7999999999999999
    assert components_for_share(values, 0.8) == 8


def test_wide_data_have_no_more_axes_than_samples():
    with pytest.raises(ValueError, match="only 4 axes"):
        pca_by_covariance(np.random.default_rng(0).normal(size=(4, 9)), 5)
