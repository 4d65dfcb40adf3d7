"""Local weights and matrices of the four methods, against plain loops, the first edition and exact properties."""

import numpy as np
import pytest
from scipy import sparse

from mercer.kernels.dot import Linear
from mercer.linalg.alignment import (
    alignment_matrix,
    hessian_matrices,
    local_weights,
    ltsa_matrices,
    map_neighborhoods,
    modified_matrices,
    outside_ratios,
    reconstruction_residuals,
)
from mercer.linalg.neighbors import KernelSpace, Points, neighbor_space
from mercer_old.operators import local_methods as old
from mercer_old.operators.alignment import align
from mercer_old.spaces.points import Points as OldPoints
from support.local import METHODS, sheet

every_method = pytest.mark.parametrize("method", METHODS)


def grams(b=40, k=8, d=3, seed=0):
    Z = np.random.default_rng(seed).normal(size=(b, k, d))
    return Z @ Z.transpose(0, 2, 1)


def matrix(space, indices, method, d=2, dense=False, n_threads=1, reg=1e-3):
    return alignment_matrix(
        space, indices, method, n_components=d, reg=reg, modified_tol=1e-12, dense=dense, n_threads=n_threads
    )


def test_weights_minimize_the_regularized_residual():
    G, reg = grams(), 1e-2
    w = local_weights(G, reg)
    np.testing.assert_allclose(w.sum(axis=1), 1)
    ridge = reg * np.trace(G, axis1=1, axis2=2)

    def loss(v):
        return np.einsum("ij,ijk,ik->i", v, G, v) + ridge * np.einsum("ij,ij->i", v, v)

    rng = np.random.default_rng(1)
    for _ in range(20):
        step = rng.normal(size=w.shape)
        step -= step.mean(axis=1, keepdims=True)
        assert (loss(w) <= loss(w + 1e-3 * step)).all()
    np.testing.assert_allclose(w, old.weights(G, reg), rtol=1e-10)


def test_without_a_ridge_null_directions_get_all_the_weight():
    """Neighbors at −1 and 2 on a line, and one at 0: weights with residual zero exist, and the limit finds one."""
    Z = np.array([[[-1.0], [2.0], [0.0]]])
    G = Z @ Z.transpose(0, 2, 1)
    w = local_weights(G, 0.0)
    np.testing.assert_allclose(w.sum(), 1)
    np.testing.assert_allclose(reconstruction_residuals(G, w), 0, atol=1e-12)
    np.testing.assert_allclose(w, local_weights(G, 1e-13), atol=1e-3)


def test_equal_neighbors_get_equal_weights_and_unusable_ones_become_the_mean():
    np.testing.assert_array_equal(local_weights(np.zeros((1, 4, 4)), 0.0), np.full((1, 4), 0.25))
    Z = np.array([[1.0, -1.0]])  # range of G is spanned by (1, −1), so w ∝ G⁻¹1 has the sum of the null vector
    np.testing.assert_allclose(local_weights(Z.T[None] @ Z[None], 0.0), [[0.5, 0.5]])


def test_residuals_are_distances_from_the_combination():
    rng = np.random.default_rng(0)
    Z, w = rng.normal(size=(5, 6, 3)), rng.dirichlet(np.ones(6), size=5)
    expected = np.linalg.norm(np.einsum("bk,bkd->bd", w, Z), axis=1)
    np.testing.assert_allclose(reconstruction_residuals(Z @ Z.transpose(0, 2, 1), w), expected)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_local_matrices_are_those_of_the_first_edition(d):
    G = grams(k=12, d=5)
    np.testing.assert_allclose(ltsa_matrices(G, d), old.ltsa(G, d), atol=1e-12)
    np.testing.assert_allclose(hessian_matrices(G, d), old.hessian(G, d), atol=1e-12)
    np.testing.assert_allclose(outside_ratios(G, d), old.spill(G, d))
    eta = float(np.median(outside_ratios(G, d)))
    np.testing.assert_allclose(modified_matrices(G, 1e-3, eta, 1e-12), old.Modified(eta, 1e-3, 1e-12)(G), atol=1e-10)


@pytest.mark.parametrize(
    "local", [ltsa_matrices, hessian_matrices, lambda G, d: modified_matrices(G, 1e-3, 0.1, 1e-12)]
)
def test_local_matrices_are_positive_semi_definite_and_vanish_on_constants(local):
    B = local(grams(k=10, d=4), 2)
    np.testing.assert_allclose(B.sum(axis=2), 0, atol=1e-10)
    assert np.linalg.eigvalsh(B).min() > -1e-10


@pytest.mark.parametrize("local", [ltsa_matrices, hessian_matrices])
def test_flat_neighborhoods_cost_nothing(local):
    """Coordinates of points in a plane are affine in the tangents: every affine function of them has zᵀBz = 0."""
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(6, 9, 2))
    Z = plane @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    B = local(Z @ Z.transpose(0, 2, 1), 2)
    np.testing.assert_allclose(B @ plane, 0, atol=1e-10)


def test_constants_are_no_tangents_where_neighbors_have_too_few_directions():
    """Neighbors on a line with d = 2: 1 must not count as the second tangent, or LTSA would not vanish on it."""
    Z = np.linspace(-1, 1, 7).reshape(1, 7, 1)
    B = ltsa_matrices(Z @ Z.transpose(0, 2, 1), 2)
    np.testing.assert_allclose(B.sum(axis=2), 0, atol=1e-12)
    assert abs(np.trace(B[0]) - (7 - 1 - 2)) < 1e-10


def test_hessian_uses_the_reduced_factorization():
    """With the full Q, H would have all directions but 1 and the tangents, and the method would be LTSA."""
    G = grams(k=12, d=5)
    assert np.linalg.matrix_rank(hessian_matrices(G, 2)[0], tol=1e-8) == 3
    assert np.linalg.matrix_rank(ltsa_matrices(G, 2)[0], tol=1e-8) == 12 - 3


@every_method
@pytest.mark.parametrize("n", [100, 2500])
def test_matrix_is_that_of_the_first_edition(method, n):
    X = sheet(n)
    space = Points.from_rows(X)
    indices = space.nearest(12).indices
    M = matrix(space, indices, method)
    expected = align(OldPoints.of(X), indices, method, n_components=2, reg=1e-3, modified_tol=1e-12, threads=1)
    scale = abs(expected).max()
    assert abs(M - expected).max() < 1e-11 * scale
    assert (M != M.T).nnz == 0 and M.has_sorted_indices and sparse.issparse(M)
    np.testing.assert_allclose(matrix(space, indices, method, dense=True), M.toarray(), atol=1e-11 * scale)
    assert abs(M.sum(axis=0)).max() < 1e-11 * scale


@every_method
def test_threads_do_not_change_a_bit(method):
    X = sheet(2500)
    space = Points.from_rows(X)
    indices = space.nearest(12).indices
    one, two = matrix(space, indices, method), matrix(space, indices, method, n_threads=2)
    np.testing.assert_array_equal(one.data, two.data)
    np.testing.assert_array_equal(one.indices, two.indices)


@every_method
def test_kernel_spaces_give_the_same_matrix(method):
    X = sheet(64)
    indices = Points.from_rows(X).nearest(9).indices
    one, two = matrix(Points.from_rows(X), indices, method), matrix(KernelSpace(X, Linear()), indices, method)
    assert abs(one - two).max() < 1e-6 * abs(one).max()


def test_blocks_cover_all_neighborhoods_once():
    space = neighbor_space(sheet(2500), "euclidean")
    indices = space.nearest(7).indices
    trace = map_neighborhoods(space, indices, lambda G: np.trace(G, axis1=1, axis2=2))
    expected = ((space.samples[indices] - space.samples[:, None]) ** 2).sum(axis=(1, 2))
    np.testing.assert_allclose(trace, expected)
