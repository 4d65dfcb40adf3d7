"""The exercises of the notes, demonstrated in numbers; the arguments in words are in docs/lectures.md.

Exercise 000 p. 32 (the claims on J) is tests/theory/test_linear_algebra.py::TestNineClaimsOnJ.
"""

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose

from mercer.datasets import unequal_gaussian
from mercer.textbook import (
    centre,
    centring_matrix,
    covariance_by_centring,
    covariance_by_moments,
    gram_matrix,
    kernel_pca,
    pca_by_covariance,
    pca_by_svd,
    polynomial_kernel,
    projection_distance,
    projection_spread,
    proportion_of_variance,
    quadratic_features,
    reconstruction_error,
    scores,
    spectral_decomposition,
    standardise,
    training_scores,
)
from support.strategies import seeds, tall_tables, unit_vectors, wide_tables


@given(tall_tables)
def test_000_p34_moments_minus_mean_squared_is_the_covariance(X):
    n, one = len(X), np.ones((len(X), 1))
    by_sums = X.T @ X / n - (X.T @ one) @ (X.T @ one).T / n**2
    assert_allclose(by_sums, covariance_by_moments(X), atol=1e-12 * np.abs(X).max() ** 2)
    assert_allclose(by_sums, covariance_by_centring(X), atol=1e-11 * np.abs(X).max() ** 2)


def features_of(seed, n=9):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.array([quadratic_features(x) for x in X])


@given(seeds)
def test_002_a_centring_the_features_is_multiplying_by_h(seed):
    _, Phi = features_of(seed)
    assert_allclose(centring_matrix(len(Phi)) @ Phi, Phi - Phi.mean(axis=0), atol=1e-12)


@given(seeds)
def test_002_b_left_singular_vectors_come_from_those_of_the_gram_matrix(seed):
    X, Phi = features_of(seed)
    _, V = kernel_pca(gram_matrix(polynomial_kernel(), X), 3)
    U = centre(Phi).T @ V  # φ(X) H V Λ^−½, with the Λ^−½ already in V
    expected = np.linalg.svd(centre(Phi).T, full_matrices=False)[0][:, :3]
    assert U.shape == (6, 3)  # q×k, where q is the dimension of the features
    assert_allclose(np.abs(np.sum(U * expected, axis=0)), 1, atol=1e-6)
    assert_allclose(U.T @ U, np.eye(3), atol=1e-7)


@given(seeds)
def test_002_c_scores_of_test_data_need_the_kernel_only(seed):
    X, Phi = features_of(seed)
    Y, Phi_new = features_of(seed + 1, n=4)
    eta, V = kernel_pca(gram_matrix(polynomial_kernel(), X), 3)
    explicit = (Phi_new - Phi.mean(axis=0)) @ (centre(Phi).T @ V)
    K = gram_matrix(polynomial_kernel(), X)
    assert_allclose(scores(gram_matrix(polynomial_kernel(), Y, X), K, V), explicit, atol=1e-6)
    assert_allclose(scores(K, K, V), training_scores(eta, V), atol=1e-6)


@given(tall_tables, seeds)
def test_004_1_least_error_is_greatest_variance(X, seed):
    directions = unit_vectors(X.shape[1], seed, 200)
    spread = [projection_spread(X, u) for u in directions]
    error = [projection_distance(X, u) for u in directions]
    assert np.argmax(spread) == np.argmin(error)
    assert_allclose(np.add(spread, error), np.trace(covariance_by_centring(X)), rtol=1e-8)


@given(tall_tables)
def test_004_2_second_axis_is_the_second_eigenvector(X):
    """With the first axis projected out of C, the best direction left is the second eigenvector."""
    values, U = pca_by_covariance(X)
    P = np.eye(len(U)) - np.outer(U[:, 0], U[:, 0])
    rest_values, rest = spectral_decomposition(P @ covariance_by_centring(X) @ P)
    assert_allclose(rest_values[0], values[1], rtol=1e-6, atol=1e-9 * values[0])
    assert_allclose(np.abs(rest[:, 0] @ U[:, 1]), 1, atol=1e-4)


@given(wide_tables)
def test_004_3_axes_from_the_gram_matrix_have_length_root_lambda(X):
    X = centre(X)
    values, U = spectral_decomposition(X @ X.T)
    V = X.T @ U
    kept = values > 1e-9 * values[0]
    assert_allclose(np.linalg.norm(V, axis=0) ** 2, np.maximum(values, 0), atol=1e-9 * values[0])  # a) not one
    normalised = V[:, kept] / np.sqrt(values[kept])  # b)
    assert_allclose(normalised.T @ normalised, np.eye(kept.sum()), atol=1e-7)


@given(tall_tables)
def test_004_4_reconstruction_loss_in_both_forms(X):
    values = pca_by_svd(X)[0]
    total = np.mean(np.sum(centre(X) ** 2, axis=1))
    for k in range(1, len(values) + 1):
        assert_allclose(reconstruction_error(X, k), total - values[:k].sum(), atol=1e-9 * total)  # (a)
        assert_allclose(reconstruction_error(X, k), values[k:].sum(), atol=1e-9 * total)  # (b)


def test_004_5_without_standardising_the_wide_feature_is_the_first_axis():
    X = unequal_gaussian(20_000)
    values, U = pca_by_svd(X)
    population, axes = spectral_decomposition([[25, 4], [4, 1]])
    assert_allclose(values, population, rtol=0.05)
    assert_allclose(np.abs(np.sum(U * axes, axis=0)), 1, atol=1e-3)
    assert abs(U[0, 0]) > 0.98  # nearly the first feature alone

    values, U = pca_by_svd(standardise(X))
    assert_allclose(values, [1.8, 0.2], atol=0.02)  # the correlation is 4/√25 = 0.8
    assert_allclose(np.abs(U), np.sqrt(0.5), atol=1e-9)  # both features count the same, whatever the sample
    assert_allclose(proportion_of_variance(values), [0.9, 0.1], atol=0.01)
