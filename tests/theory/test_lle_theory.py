"""Locally linear embedding, formula by formula (003), and probabilistic PCA (004 §2.4, §3)."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.manifold import LocallyLinearEmbedding

from mercer.datasets import spiral
from mercer.textbook import (
    kernel_pca,
    lle_embedding,
    lle_new_point,
    lle_weight_matrix,
    lle_weights,
    nearest_neighbours,
    pca_by_svd,
    ppca_log_likelihood,
    ppca_scores,
    probabilistic_pca,
    project,
    training_scores,
)
from support.strategies import seeds, tables, tall_tables


def random_points(seed, n=30, d=4):
    return np.random.default_rng(seed).normal(size=(n, d))


def rank_correlation(a, b):
    return np.corrcoef(np.argsort(np.argsort(a)), np.argsort(np.argsort(b)))[0, 1]


# ---------------------------------------------------------------------------- weights


@given(seeds)
def test_neighbours_are_the_nearest(seed):
    X = random_points(seed)
    near = nearest_neighbours(X[0], X, 5)
    distances = np.linalg.norm(X - X[0], axis=1)
    assert near[0] == 0
    assert distances[near].max() <= np.delete(distances, near).min()


@given(seeds)
def test_weights_sum_to_one_and_rest_on_neighbours_only(seed):
    X = random_points(seed)
    W = lle_weight_matrix(X, 5)
    assert_allclose(W.sum(axis=1), 1)
    assert np.all((W != 0).sum(axis=1) <= 5) and not np.diag(W).any()


@given(seeds)
def test_weights_are_optimal_among_those_that_sum_to_one(seed):  # argmin ‖x − wX̃‖² s.t. Σw = 1
    rng = np.random.default_rng(seed)
    neighbours, x = rng.normal(size=(3, 5)), rng.normal(size=5)  # fewer neighbours than dimensions: G is regular
    w = lle_weights(x, neighbours, reg=1e-12)
    best = np.sum((x - w @ neighbours) ** 2)
    for change in rng.normal(size=(20, 3)):
        other = w + change - change.mean()
        assert np.sum((x - other @ neighbours) ** 2) >= best - 1e-9


@given(seeds)
def test_the_lagrangian_condition_holds(seed):  # 2 G wᵀ = λ 1
    rng = np.random.default_rng(seed)
    neighbours, x = rng.normal(size=(3, 5)), rng.normal(size=5)
    w = lle_weights(x, neighbours, reg=0.0)
    G = (neighbours - x) @ (neighbours - x).T
    assert_allclose(G @ w, np.full(3, (G @ w).mean()), rtol=1e-6, atol=1e-9)


@given(seeds)
def test_a_point_inside_its_neighbours_is_written_exactly(seed):
    rng = np.random.default_rng(seed)
    neighbours = rng.normal(size=(3, 5))
    true = rng.dirichlet(np.ones(3))
    x = true @ neighbours
    assert_allclose(lle_weights(x, neighbours, reg=1e-12), true, atol=1e-6)


@given(seeds)
def test_weights_do_not_change_when_the_data_are_moved_turned_or_scaled(seed):
    X = random_points(seed)
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))[0]
    assert_allclose(lle_weight_matrix(3.7 * X @ Q + 11.0, 5), lle_weight_matrix(X, 5), atol=1e-7)


def test_identical_neighbours_share_the_weight_evenly():
    assert_allclose(lle_weights(np.ones(2), np.ones((4, 2))), 0.25)


# ---------------------------------------------------------------------------- embedding


@given(seeds)
def test_constant_vector_is_a_null_vector_of_m(seed):
    X = random_points(seed)
    W = lle_weight_matrix(X, 5)
    M = (np.eye(len(X)) - W).T @ (np.eye(len(X)) - W)
    assert_allclose(M @ np.ones(len(X)), 0, atol=1e-10)
    assert np.linalg.eigvalsh(M)[0] > -1e-10


@given(seeds)
def test_coordinates_are_orthonormal_and_centred(seed):  # ZᵀZ = I, which the notes do not write; and 1ᵀZ = 0
    Z = lle_embedding(lle_weight_matrix(random_points(seed), 5), 2)
    assert_allclose(Z.T @ Z, np.eye(2), atol=1e-9)
    assert_allclose(Z.sum(axis=0), 0, atol=1e-8)


@given(seeds)
def test_embedding_minimises_the_reconstruction_by_neighbours(seed):  # argmin ‖Z − W̃Z‖²
    X = random_points(seed)
    W = lle_weight_matrix(X, 5)
    Z = lle_embedding(W, 2)
    best = np.sum((Z - W @ Z) ** 2)
    M = (np.eye(len(X)) - W).T @ (np.eye(len(X)) - W)
    assert_allclose(best, np.linalg.eigvalsh(M)[1:3].sum(), atol=1e-9)
    centred = np.random.default_rng(seed).normal(size=Z.shape)
    other = np.linalg.qr(centred - centred.mean(axis=0))[0]
    assert np.sum((other - W @ other) ** 2) > best


@given(seeds)
def test_embedding_is_that_of_scikit_learn(seed):
    X = random_points(seed)
    theirs = LocallyLinearEmbedding(n_neighbors=5, n_components=2, eigen_solver="dense").fit(X)
    ours = lle_embedding(lle_weight_matrix(X, 5), 2)
    assert_allclose(np.abs(np.sum(ours * theirs.embedding_, axis=0)), 1, atol=1e-5)


def test_two_separate_groups_do_not_bring_the_constant_vector_back():
    X = np.concatenate([random_points(0, 15), random_points(1, 15) + 100])
    Z = lle_embedding(lle_weight_matrix(X, 4), 1)[:, 0]
    assert_allclose(Z.sum(), 0, atol=1e-8)  # the indicator of the groups, not 1
    assert_allclose(np.abs(Z), 1 / np.sqrt(30), atol=1e-3)


def test_lle_unrolls_the_spiral():  # 003, "LLE unrolls the spiral"
    X, place = spiral(300)
    Z = lle_embedding(lle_weight_matrix(X, 12), 1)[:, 0]
    assert abs(rank_correlation(Z, place)) > 1 - 1e-9


def test_kernel_pca_does_not_unroll_the_spiral_with_any_bandwidth():  # 003, "k-PCA cannot do this!"
    X, place = spiral(300)
    squares = np.sum((X[:, None] - X) ** 2, axis=2)
    for length in np.geomspace(0.1, 50, 25):
        first = training_scores(*kernel_pca(np.exp(-squares / (2 * length**2)), 1))[:, 0]
        assert abs(rank_correlation(first, place)) < 0.95


# ---------------------------------------------------------------------------- new points


def test_new_points_on_the_spiral_land_between_their_neighbours():  # 003, last page
    X, place = spiral(601)
    train, new = X[::2], X[1::2]
    Z = lle_embedding(lle_weight_matrix(train, 12), 1)
    placed = np.array([lle_new_point(x, train, Z, 12)[0] for x in new])
    assert abs(rank_correlation(placed, place[1::2])) > 1 - 1e-9
    low, high = np.minimum(Z[:-1, 0], Z[1:, 0]), np.maximum(Z[:-1, 0], Z[1:, 0])
    assert np.all((low < placed) & (placed < high))


@given(seeds)
def test_new_points_are_placed_as_in_scikit_learn(seed):
    X, new = random_points(seed), random_points(seed + 1, n=3)
    theirs = LocallyLinearEmbedding(n_neighbors=5, n_components=2, eigen_solver="dense").fit(X)
    ours = np.array([lle_new_point(x, X, theirs.embedding_, 5) for x in new])
    assert_allclose(ours, theirs.transform(new), atol=1e-8)


# ---------------------------------------------------------------------------- probabilistic PCA


@given(tall_tables)
def test_likelihood_is_that_of_the_gaussian(X):
    mean, W, noise = probabilistic_pca(X, 1)
    gaussian = multivariate_normal(mean, W @ W.T + noise * np.eye(len(W)), allow_singular=True)
    assert_allclose(ppca_log_likelihood(X, mean, W, noise), np.mean(gaussian.logpdf(X)), rtol=1e-6, atol=1e-6)


@given(tall_tables)
def test_model_covariance_keeps_the_leading_eigenvalues_and_evens_out_the_rest(X):
    values, U = pca_by_svd(X)
    _, W, noise = probabilistic_pca(X, 1)
    S = W @ W.T + noise * np.eye(len(W))
    assert_allclose(np.linalg.eigvalsh(S)[::-1], [values[0]] + [values[1:].mean()] * (len(W) - 1), rtol=1e-6)
    assert_allclose(S @ U[:, 0], values[0] * U[:, 0], atol=1e-7 * values[0])


@given(tall_tables, seeds)
def test_closed_form_has_the_greatest_likelihood(X, seed):
    mean, W, noise = probabilistic_pca(X, 1)
    best, rng = ppca_log_likelihood(X, mean, W, noise), np.random.default_rng(seed)
    for _ in range(10):
        change = rng.normal(size=W.shape) * 0.05 * np.linalg.norm(W)
        assert ppca_log_likelihood(X, mean, W + change, noise) <= best + 1e-9
        assert ppca_log_likelihood(X, mean + 0.05 * change[:, 0], W, noise) <= best + 1e-9
    for factor in (0.8, 1.25):
        assert ppca_log_likelihood(X, mean, W, noise * factor) <= best + 1e-9


@given(tall_tables)
def test_pca_is_the_limit_of_no_noise(X):  # 004 §3
    mean, W, noise = probabilistic_pca(X, 1)
    U = pca_by_svd(X, 1)[1]
    expected = project(X, U, mean)[:, 0]
    limit = ppca_scores(X, mean, W, 1e-12 * noise)[:, 0] * np.linalg.norm(W)
    assert_allclose(np.abs(limit), np.abs(expected), rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    shrunken = ppca_scores(X, mean, W, noise)[:, 0] * np.linalg.norm(W)
    assert np.linalg.norm(shrunken) < np.linalg.norm(expected)


def test_samples_of_the_model_give_the_model_back():
    rng = np.random.default_rng(0)
    W_true, noise_true = np.array([[3.0], [1.0], [-2.0], [0.5]]), 0.25
    X = rng.normal(size=(2_000, 1)) @ W_true.T + np.sqrt(noise_true) * rng.normal(size=(2_000, 4)) + [1, 2, 3, 4]
    mean, W, noise = probabilistic_pca(X, 1)
    assert_allclose(mean, [1, 2, 3, 4], atol=0.2)
    assert_allclose(np.abs(W), np.abs(W_true), atol=0.2)
    assert noise == pytest.approx(noise_true, rel=0.05)


@given(tables(rows=(10, 20), columns=(4, 6)))
def test_scores_are_the_conditional_mean_of_the_joint_gaussian(X):
    """(z, x) is Gaussian with covariance [[I, Wᵀ], [W, WWᵀ + σ²I]], hence E[z | x] = Wᵀ(WWᵀ + σ²I)⁻¹(x − μ)."""
    mean, W, noise = probabilistic_pca(X, 2)
    expected = (X - mean) @ np.linalg.solve(W @ W.T + noise * np.eye(len(W)), W)
    assert_allclose(ppca_scores(X, mean, W, noise), expected, atol=1e-6)


@given(tables(rows=(10, 20), columns=(4, 6)))
def test_two_latent_directions_are_the_two_leading_axes(X):
    values, U = pca_by_svd(X, 2)
    mean, W, noise = probabilistic_pca(X, 2)
    assert_allclose(W.T @ W, np.diag(values - noise), atol=1e-8 * values[0])
    assert_allclose(W / np.linalg.norm(W, axis=0), U, atol=1e-4)
    assert ppca_log_likelihood(X, mean, W, noise) >= ppca_log_likelihood(X, *probabilistic_pca(X, 1)) - 1e-9


def test_a_duplicate_is_a_neighbour_but_never_the_point_itself():
    X = np.repeat(random_points(0, 6), 2, axis=0)
    W = lle_weight_matrix(X, 3)
    assert not np.diag(W).any()
    assert_allclose(W.sum(axis=1), 1)


def test_the_ridge_reaches_the_weights():
    X, x = random_points(0), random_points(1, n=1)[0]
    near = [j for j in nearest_neighbours(X[4], X, 6) if j != 4]
    assert_allclose(lle_weight_matrix(X, 5, reg=0.5)[4, near], lle_weights(X[4], X[near], reg=0.5))
    Z, near = X[:, :1], nearest_neighbours(x, X, 5)
    assert_allclose(lle_new_point(x, X, Z, 5, reg=0.5), lle_weights(x, X[near], reg=0.5) @ Z[near])
    assert not np.allclose(lle_weight_matrix(X, 5, reg=0.5), lle_weight_matrix(X, 5))


@pytest.mark.parametrize("seed", range(20))
def test_all_coordinates_but_the_constant_one_can_be_asked_for(seed):
    Z = lle_embedding(lle_weight_matrix(random_points(seed, 6, 2), 2), 5)
    assert_allclose(Z.sum(axis=0), 0, atol=1e-8)
    assert_allclose(Z.T @ Z, np.eye(5), atol=1e-9)


def test_data_without_noise_have_noise_zero():
    X = np.outer(np.arange(8.0), [1.0, 2.0, 3.0])
    _, W, noise = probabilistic_pca(X, 2)
    assert 0 <= noise < 1e-12 and np.isfinite(W).all()
