"""Slips of the notes, each with the line that shows it; listed kindly in docs/lectures.md."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.datasets import VOC, spiral
from mercer.textbook import (
    centre_gram,
    covariance_by_sum,
    function_of_matrix,
    gram_matrix,
    is_mercer,
    kernel_pca,
    linear_kernel,
    lle_embedding,
    lle_weight_matrix,
    lle_weights,
    polynomial_kernel,
    quadratic_features,
)

X = np.random.default_rng(0).normal(size=(10, 2))


def test_004_7_the_polynomial_kernel_has_no_minus_sign():
    features = np.array([quadratic_features(x) for x in X])
    printed = gram_matrix(lambda x, y: float((-(x @ y) + 1) ** 2), X)
    meant = gram_matrix(polynomial_kernel(1, 1, 2), X)
    assert_allclose(meant, features @ features.T)  # the notes' own worked example
    assert not np.allclose(printed, meant) and not is_mercer(printed)


def test_004_kernels_need_not_be_non_negative():
    K = gram_matrix(linear_kernel, X)
    assert K.min() < 0 and is_mercer(K)


def test_000_p33_np_cov_divides_by_n_minus_one():
    n = len(X)
    assert not np.allclose(np.cov(X.T), covariance_by_sum(X))
    assert_allclose(np.cov(X.T) * (n - 1) / n, covariance_by_sum(X))


def test_000_p22_eig_promises_no_order():
    values = np.linalg.eig(np.diag([1.0, 3.0, 2.0]))[0]
    assert_allclose(values, [1, 3, 2])  # neither descending nor ascending


def test_000_p23_not_every_regular_matrix_is_diagonalizable():
    shear = np.array([[1.0, 1.0], [0.0, 1.0]])
    assert np.linalg.det(shear) == 1
    values, U = np.linalg.eig(shear)
    assert_allclose(values, 1)
    assert np.linalg.matrix_rank(U, tol=1e-8) == 1  # one eigenvector only
    with pytest.raises(ValueError, match="not diagonalizable"):
        function_of_matrix(shear, np.exp)


def test_000_p23_eigenvectors_need_not_be_orthogonal():
    U = np.linalg.eig(np.array([[1.0, 1.0], [0.0, 2.0]]))[1]
    assert abs(U[:, 0] @ U[:, 1]) > 0.5  # diagonalizable, but U is not unitary
    printed = np.array([[1j, -1j], [1, 1]])  # nor is the U of the slide's example, by a factor √2
    assert_allclose(printed.conj().T @ printed, 2 * np.eye(2))


def test_000_p70_positive_is_not_a_test_for_zero():
    K = gram_matrix(linear_kernel, X)
    etas = np.linalg.eigvalsh(centre_gram(K))
    assert np.sum(etas > 0) > 2  # rounding noise passes the slide's mask …
    assert len(kernel_pca(K)[0]) == 2  # … and not a relative threshold


def test_000_p81_qumby_joe_is_drawn_but_not_in_the_vocabulary():
    assert len(VOC) == 35
    assert not any(name.startswith("qu") for name in VOC)


def test_001_the_score_of_x_holds_phi_of_x():
    """Σ a_n φ(x_n)ᵀφ(x_n), as printed, is one number for every x; Σ a_n φ(x)ᵀφ(x_n) is the score."""
    features = np.array([quadratic_features(x) for x in X])
    K = gram_matrix(polynomial_kernel(), X)
    a = kernel_pca(K, 1)[1][:, 0]
    printed, meant = a @ np.diag(K), K @ a
    assert_allclose(meant, features @ (features.T @ a))  # φ(x)ᵀv with v = Σ a_n φ(x_n)
    assert not np.any(np.isclose(meant, printed))


def test_002_left_singular_vectors_live_in_feature_space():
    features = np.array([quadratic_features(x) for x in X])
    _, V = kernel_pca(gram_matrix(polynomial_kernel(), X), 3)
    U = features.T @ V  # φ(X) H V Λ^−½
    p, q = X.shape[1], features.shape[1]
    assert U.shape == (q, 3) and q != p


def test_003_d_dimensions_need_d_columns_and_m_has_rank_n_minus_1():
    points, _ = spiral(60)
    W = lle_weight_matrix(points, 8)
    M = (np.eye(60) - W).T @ (np.eye(60) - W)
    assert np.linalg.matrix_rank(M, tol=1e-12) == 59  # N − 1, where N counts points, not features
    kept = lle_embedding(W, 2)
    values = np.linalg.eigvalsh(M)
    printed = values[::-1][60 - 2 : 60 - 1]  # u_{D−D'+1} … u_{D−1}: one value where D' = 2 are needed
    assert kept.shape[1] == 2 == len(printed) + 1
    assert_allclose(np.diag(kept.T @ M @ kept), values[1:3], atol=1e-12)


def test_003_without_the_constraint_zero_would_be_optimal():
    points, _ = spiral(60)
    W = lle_weight_matrix(points, 8)
    Z, nothing = lle_embedding(W, 2), np.zeros((60, 2))
    assert np.sum((nothing - W @ nothing) ** 2) == 0 < np.sum((Z - W @ Z) ** 2)


def test_003_weights_of_new_points_must_sum_to_one_too():
    """Otherwise the place of a new point would depend on where the origin of the data is."""
    neighbours, x = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0.4, 0.4])

    def unconstrained(x, neighbours):
        return np.linalg.lstsq(neighbours.T, x, rcond=None)[0]

    assert_allclose(lle_weights(x + 5, neighbours + 5), lle_weights(x, neighbours))
    assert not np.allclose(unconstrained(x + 5, neighbours + 5), unconstrained(x, neighbours))


def test_003_the_objective_is_the_trace():
    """‖Z − W̃Z‖² is tr(ZᵀMZ), not ‖ZᵀMZ‖²."""
    points, _ = spiral(60)
    W = lle_weight_matrix(points, 8)
    M = (np.eye(60) - W).T @ (np.eye(60) - W)
    Z = np.random.default_rng(0).normal(size=(60, 2))
    assert_allclose(np.sum((Z - W @ Z) ** 2), np.trace(Z.T @ M @ Z))
    assert not np.isclose(np.sum((Z - W @ Z) ** 2), np.sum((Z.T @ M @ Z) ** 2), rtol=0.1)


def test_004_mercer_kernels_need_only_be_semi_definite():
    """Its own quadratic kernel has six features, so a Gram matrix of ten points is singular."""
    K = gram_matrix(polynomial_kernel(1, 1, 2), X)
    assert is_mercer(K) and np.linalg.matrix_rank(K) == 6 < len(X)
