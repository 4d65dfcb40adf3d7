"""Where a student would stumble, one sentence says what happened."""

import numpy as np
import pytest

from mercer import textbook as tb

X = np.random.default_rng(0).normal(size=(6, 3))
K = X @ X.T
V = tb.kernel_pca(K, 2)[1]
U = tb.pca_by_svd(X, 2)[1]
Q = np.random.default_rng(1).normal(size=(3, 3))
JORDAN = Q @ [[2, 1, 0], [0, 2, 1], [0, 0, 2]] @ np.linalg.inv(Q)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: tb.project(X.T, U, X.mean(axis=0)), "X is 3×6, but axes have 3 entries; X.T?"),
        (lambda: tb.pca_by_svd(X, 4), "k = 4, but there are only 3 axes"),
        (lambda: tb.pca_by_covariance(X, 0), "take 1 ≤ k ≤ 3"),
        (lambda: tb.pca_by_gram(X, 6), "only 3 axes of positive variance"),
        (lambda: tb.pca_by_svd(X[0]), "one sample a row; its shape is (3,)"),
        (lambda: tb.centre(np.where(X > 1, np.nan, X)), "not finite"),
        (lambda: tb.centre(np.zeros((0, 3))), "its shape is (0, 3)"),
        (lambda: tb.standardise(np.ones((4, 2))), "Column 0 is constant"),
        (lambda: tb.whiten(np.ones((4, 2)) * [[1], [2], [3], [4]]), "no variance along some axis"),
        (lambda: tb.centring_matrix(0), "n = 0"),
        (lambda: tb.spectral_decomposition(X), "A must be square; its shape is (6, 3)"),
        (lambda: tb.spectral_decomposition([[0, 1], [2, 0]]), "not symmetric"),
        (lambda: tb.function_of_matrix([[1, 1], [0, 1]], np.exp), "not diagonalizable"),
        (lambda: tb.components_for_share([2, 1], 1.5), "in (0, 1]; got 1.5"),
        (lambda: tb.projection_spread(X, [1, 1, 1]), "its length is 1.73"),
        (lambda: tb.projection_distance(X, [2, 0, 0]), "its length is 2"),
        (lambda: tb.rbf_kernel(0), "gamma must be positive; got 0"),
        (lambda: tb.rbf_kernel(float("nan")), "gamma must be positive"),
        (lambda: tb.rbf_kernel_of_length(-1), "length_scale must be positive; got -1"),
        (lambda: tb.polynomial_kernel(gamma=-1), "gamma must be positive; got -1"),
        (lambda: tb.polynomial_kernel(degree=1.5), "whole number from 1; got 1.5"),
        (lambda: tb.ngram_kernel(0), "n = 0"),
        (lambda: tb.gram_matrix(tb.ngram_kernel(2), "simpson bart"), "put it in a list"),
        (lambda: tb.centre_gram(K[:4]), "K must be square; its shape is (4, 6)"),
        (lambda: tb.kernel_pca(np.ones((5, 5))), "all items look the same"),
        (lambda: tb.kernel_pca(K, 6), "only 3 non-zero eigenvalues"),
        (lambda: tb.scores(K[:, :2].T @ np.eye(6)[:, :4], K, V), "K_new is 2×4 for 6 training points"),
        (lambda: tb.component_functions(K[:, :2], V), "K_new.T?"),
        (lambda: tb.preimage_by_ridge(tb.linear_kernel, V, X, V, ridge=0), "ridge must be positive; got 0"),
        (lambda: tb.preimage_by_ridge(tb.linear_kernel, V, X[:3], V), "6 scores for 3 points"),
        (lambda: tb.nearest_neighbours(X[0], X, 7), "only 6 points"),
        (lambda: tb.lle_weight_matrix(X, 6), "only 5 other points"),
        (lambda: tb.lle_embedding(np.eye(4), 4), "only 3 axes"),
        (lambda: tb.probabilistic_pca(X, 3), "leave one for the noise"),
        (lambda: tb.probabilistic_pca(X[:, :1], 1), "There are no directions"),
        (lambda: tb.pca_by_gram(np.full((7, 3), 0.1)), "There are no axes of positive variance"),
        (lambda: tb.proportion_of_variance([0.0, 0.0]), "sum to nothing"),
        (lambda: tb.components_for_share([]), "sum to nothing"),
        (lambda: tb.components_for_share([0.5, 1, 8.5]), "largest first"),
        (lambda: tb.reconstruct(X, U, X.mean(axis=0)), "Y has 3 scores a row for 2 axes"),
        (lambda: tb.project(X, U, np.zeros(4)), "mean must have 3 entries; its shape is (4,)"),
        (lambda: tb.scores(K[:2], K[:5, :5], V), "K is of 5 items, V of 6"),
        (lambda: tb.projection_spread(X, [1, 0]), "u must have 3 entries"),
        (lambda: tb.quadratic_features([1, 2, 3]), "x must have 2 entries"),
        (lambda: tb.preimage_by_fixed_point(X, np.ones(5), 1.0, X[0]), "c must have 6 entries"),
        (lambda: tb.preimage_by_fixed_point(X, np.ones(6), 1.0, X[0, :2]), "z must have 3 entries"),
        (lambda: tb.kernel_pca([[1.0, 2.0], [0.0, 1.0]]), "K is not symmetric"),
        (lambda: tb.is_mercer([[np.nan, 0], [0, 1]]), "K has 1 entries that are not finite"),
        (lambda: tb.lle_embedding(0.5 * np.eye(4), 1), "must sum to one"),
        (lambda: tb.function_of_matrix(JORDAN, np.exp), "not diagonalizable"),
        (lambda: tb.ppca_log_likelihood(X, *tb.probabilistic_pca(X, 1)[:2], 0.0), "sigma² must be positive"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence(mistake, sentence):
    with pytest.raises(ValueError) as answer:
        mistake()
    assert sentence in str(answer.value)
    assert "\n" not in str(answer.value)
