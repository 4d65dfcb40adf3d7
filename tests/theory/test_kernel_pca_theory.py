"""Kernels, kernel PCA and the way back: 000 p. 59–81, 001, 002, 004 §3."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import pairwise

from mercer.datasets import OOV, VOC, family, moons, rings, three_clusters
from mercer.textbook import (
    centre,
    centre_gram,
    centre_gram_by_means,
    component_functions,
    gram_matrix,
    is_mercer,
    kernel_pca,
    linear_kernel,
    ngram_kernel,
    normalised_kernel,
    pca_by_svd,
    polynomial_kernel,
    preimage_by_fixed_point,
    preimage_by_ridge,
    project,
    projection_coefficients,
    quadratic_features,
    rbf_kernel,
    rbf_kernel_of_length,
    scores,
    sum_of_projections,
    training_scores,
)
from support.strategies import seeds, tall_tables, wide_tables

plane_points = st.builds(lambda n, seed: np.random.default_rng(seed).normal(size=(n, 2)), st.integers(4, 12), seeds)
kernels_of_the_notes = pytest.mark.parametrize(
    "kernel", [linear_kernel, rbf_kernel(0.7), rbf_kernel_of_length(0.5), polynomial_kernel(0.5, 1.0, 3)]
)


# ---------------------------------------------------------------------------- kernels


@given(plane_points)
def test_kernels_are_those_of_scikit_learn(X):
    assert_allclose(gram_matrix(linear_kernel, X), pairwise.linear_kernel(X), atol=1e-12)
    assert_allclose(gram_matrix(rbf_kernel(0.7), X), pairwise.rbf_kernel(X, gamma=0.7), atol=1e-12)
    ours = gram_matrix(polynomial_kernel(0.5, 2.0, 3), X)
    assert_allclose(ours, pairwise.polynomial_kernel(X, degree=3, gamma=0.5, coef0=2.0), rtol=1e-10, atol=1e-10)


@given(plane_points, st.floats(0.1, 10))
def test_a_length_scale_is_another_name_for_gamma(X, length):  # 004 §3.1.1
    expected = gram_matrix(rbf_kernel(1 / (2 * length**2)), X)
    assert_allclose(gram_matrix(rbf_kernel_of_length(length), X), expected)


@given(plane_points)
def test_quadratic_kernel_is_the_inner_product_of_explicit_features(X):  # 004 §3.1.2
    features = np.array([quadratic_features(x) for x in X])
    assert_allclose(gram_matrix(polynomial_kernel(1, 1, 2), X), features @ features.T, rtol=1e-12, atol=1e-12)


@kernels_of_the_notes
def test_kernels_of_the_notes_satisfy_mercers_condition(kernel):
    assert is_mercer(gram_matrix(kernel, np.random.default_rng(0).normal(size=(25, 3))))


def test_a_mercer_kernel_may_be_negative():  # 004 asks k ≥ 0, which positive semi-definiteness does not need
    K = gram_matrix(linear_kernel, np.array([[1.0], [-1.0]]))
    assert K.min() < 0 and is_mercer(K)


@pytest.mark.parametrize(
    "not_a_kernel",
    [
        lambda x, y: -float(np.sum((x - y) ** 2)),
        lambda x, y: float(np.linalg.norm(x - y)),
        lambda x, y: float(np.tanh(x @ y - 2)),
        lambda x, y: float(x[0] * y[1]),
    ],
    ids=["minus squared distance", "distance", "sigmoid", "not symmetric"],
)
def test_what_is_no_mercer_kernel_is_told(not_a_kernel):
    assert not is_mercer(gram_matrix(not_a_kernel, np.random.default_rng(0).normal(size=(20, 2))))


def test_overlap_of_sets_over_the_smaller_is_no_mercer_kernel():
    sets = [{1}, {2}, {1, 2}]
    K = gram_matrix(lambda a, b: len(a & b) / min(len(a), len(b)), sets)
    assert_allclose(np.linalg.eigvalsh(K)[0], 1 - np.sqrt(2))
    assert not is_mercer(K)


@given(plane_points)
def test_sums_and_products_of_mercer_kernels_are_mercer_kernels(X):
    K, L = gram_matrix(rbf_kernel(1.0), X), gram_matrix(polynomial_kernel(), X)
    assert is_mercer(K + L) and is_mercer(K * L)


# ---------------------------------------------------------------------------- centring


@given(plane_points)
def test_both_ways_of_centring_agree(X):  # 000 p. 72, 001, 003
    K = gram_matrix(rbf_kernel(0.5), X)
    assert_allclose(centre_gram(K), centre_gram_by_means(K), atol=1e-13)
    assert_allclose(centre_gram(K).sum(axis=0), 0, atol=1e-12)


@given(tall_tables)
def test_centring_the_gram_matrix_is_centring_the_features(X):  # 000 p. 71, 003
    expected = centre(X) @ centre(X).T
    assert_allclose(centre_gram(gram_matrix(linear_kernel, X)), expected, atol=1e-10 * np.abs(X).max() ** 2)


@given(plane_points, seeds)
def test_centring_forgets_constants_added_to_rows_and_columns(X, seed):
    K, w = gram_matrix(rbf_kernel(0.5), X), np.random.default_rng(seed).normal(size=len(X))
    assert_allclose(centre_gram(K + 3.0 + w[:, None] + w[None, :]), centre_gram(K), atol=1e-12)


# ---------------------------------------------------------------------------- kernel PCA


@given(plane_points)
def test_components_solve_the_eigenvalue_problem(X):  # 000 p. 66, 74
    K = gram_matrix(rbf_kernel(0.5), X)
    eta, V = kernel_pca(K)
    assert_allclose(centre_gram(K) @ V, V * eta, atol=1e-6)


@given(plane_points)
def test_feature_space_axes_are_orthonormal(X):  # 000 p. 67–70, 001: 1 = aᵀKa = λN aᵀa
    K = gram_matrix(rbf_kernel(0.5), X)
    eta, V = kernel_pca(K, threshold=1e-6)
    assert_allclose(V.T @ centre_gram(K) @ V, np.eye(len(eta)), atol=1e-8)
    assert_allclose(eta * np.sum(V**2, axis=0), 1)


@given(plane_points)
def test_eigenvalues_of_gram_and_covariance_differ_by_n(X):  # 000 p. 64: η = nλ
    features = np.array([quadratic_features(x) for x in X])
    eta = kernel_pca(gram_matrix(polynomial_kernel(1, 1, 2), X), 2)[0]
    assert_allclose(eta, len(X) * pca_by_svd(features, 2)[0], rtol=1e-9)


@given(plane_points)
def test_kernel_pca_is_pca_of_the_explicit_features(X):  # 000 p. 62, 002 b
    features = np.array([quadratic_features(x) for x in X])
    eta, V = kernel_pca(gram_matrix(polynomial_kernel(1, 1, 2), X), 2)
    expected = project(features, pca_by_svd(features, 2)[1], features.mean(axis=0))
    assert_allclose(np.abs(training_scores(eta, V)), np.abs(expected), atol=1e-6 * np.abs(expected).max())


@given(st.one_of(tall_tables, wide_tables))
def test_linear_kernel_pca_is_pca(X):  # 004 §2.3, 3.1.3
    eta, V = kernel_pca(gram_matrix(linear_kernel, X), 2)
    expected = project(X, pca_by_svd(X, 2)[1], X.mean(axis=0))
    assert_allclose(np.abs(training_scores(eta, V)), np.abs(expected), atol=1e-6 * np.abs(expected).max())


@given(plane_points)
def test_scores_of_training_points_come_out_the_same_both_ways(X):  # 002 c
    K = gram_matrix(rbf_kernel(0.5), X)
    eta, V = kernel_pca(K)
    assert_allclose(scores(K, K, V), training_scores(eta, V), atol=1e-6)


@given(plane_points, seeds)
def test_scores_of_new_points_are_those_of_scikit_learn(X, seed):
    Y = np.random.default_rng(seed).normal(size=(5, 2))
    eta, V = kernel_pca(gram_matrix(rbf_kernel(0.5), X), 2)
    ours = scores(gram_matrix(rbf_kernel(0.5), Y, X), gram_matrix(rbf_kernel(0.5), X), V)
    theirs = KernelPCA(2, kernel="rbf", gamma=0.5).fit(X)
    assert_allclose(eta, theirs.eigenvalues_, rtol=1e-8)
    assert_allclose(np.abs(ours), np.abs(theirs.transform(Y)), atol=1e-6)


@given(plane_points, seeds)
def test_component_functions_with_and_without_means_differ_by_a_constant(X, seed):  # 000 p. 73 and 002 c
    K, Y = gram_matrix(rbf_kernel(0.5), X), np.random.default_rng(seed).normal(size=(5, 2))
    _, V = kernel_pca(K, 3)
    K_new = gram_matrix(rbf_kernel(0.5), Y, X)
    constant = V.T @ K.mean(axis=0)
    assert_allclose(component_functions(K_new, V) - scores(K_new, K, V), np.tile(constant, (5, 1)), atol=1e-9)


def test_the_constant_moves_the_zero_contours():
    X, _ = three_clusters()
    K = gram_matrix(rbf_kernel(10), X)
    _, V = kernel_pca(K, 2)
    K_new = gram_matrix(rbf_kernel(10), np.random.default_rng(0).uniform(-2, 2, size=(50, 2)), X)
    assert np.any(np.sign(component_functions(K_new, V)) != np.sign(scores(K_new, K, V)))


def test_more_components_than_features_but_fewer_than_points():  # 001, "Dimensionality of Projection"
    X = np.random.default_rng(0).normal(size=(20, 2))
    eta, _ = kernel_pca(gram_matrix(rbf_kernel(1.0), X))
    assert X.shape[1] < len(eta) <= len(X) - 1


def test_zero_eigenvalues_are_dropped_and_rounding_noise_with_them():  # 000 p. 70 keeps `etas > 0`
    X = np.random.default_rng(0).normal(size=(30, 3))
    K = gram_matrix(linear_kernel, X)
    assert len(kernel_pca(K)[0]) == 3
    assert np.sum(np.linalg.eigvalsh(centre_gram(K)) > 0) > 3


def test_components_are_uncorrelated_on_the_training_data():
    X, _ = moons(20)
    eta, V = kernel_pca(gram_matrix(rbf_kernel(2.0), X), 5)
    Z = training_scores(eta, V)
    assert_allclose(Z.T @ Z, np.diag(eta), atol=1e-9)


def test_clusters_can_be_read_off_the_first_components():  # 000 p. 76
    X, cluster = three_clusters()
    eta, V = kernel_pca(gram_matrix(rbf_kernel(10), X), 2)
    Z = training_scores(eta, V)
    centres = np.array([Z[cluster == i].mean(axis=0) for i in range(3)])
    nearest = np.argmin(np.linalg.norm(Z[:, None] - centres, axis=2), axis=1)
    assert np.array_equal(nearest, cluster)


def test_eigenvalues_on_three_clusters_have_the_distribution_of_the_slide():  # 001, "artificial data"
    spectra = []
    for seed in range(60):
        X, _ = three_clusters(seed=seed)
        squares = np.sum((X[:, None] - X) ** 2, axis=2)
        spectra.append(kernel_pca(np.exp(-squares / 0.1), 8)[0])
    means, sds = np.mean(spectra, axis=0), np.std(spectra, axis=0)
    slide = [21.72, 21.65, 4.11, 3.93, 3.66, 3.09, 2.60, 2.53]
    assert np.all(np.abs(slide - means) < 3 * sds)


def test_rings_are_separated_by_one_threshold_where_pca_only_rotates():  # 003, 004 fig. 8
    X, ring = rings(60, noise=0.05)
    eta, V = kernel_pca(gram_matrix(rbf_kernel_of_length(1.0), X), 1)
    first = training_scores(eta, V)[:, 0]
    inner, outer = first[ring == 0], first[ring == 1]
    assert inner.min() > outer.max() or inner.max() < outer.min()
    Z = project(X, pca_by_svd(X)[1], X.mean(axis=0))
    assert_allclose(np.linalg.norm(Z, axis=1), np.linalg.norm(centre(X), axis=1))


# ---------------------------------------------------------------------------- novelty


def test_f_is_low_for_the_outlier_and_zero_far_away():  # 000 p. 77–78
    X, _ = moons(30)
    kernel = rbf_kernel_of_length(0.3)
    _, V = kernel_pca(gram_matrix(kernel, X), 10)
    F = sum_of_projections(gram_matrix(kernel, np.vstack([X, [[1.6, 1.4], [50.0, 50.0]]]), X), V)
    assert F[-2] < F[:-2].min()
    assert F[-1] < 1e-12


# ---------------------------------------------------------------------------- strings

names_kernel = normalised_kernel(ngram_kernel(3))


def test_ngram_kernel_counts_common_substrings():
    assert ngram_kernel(3)("simpson bart", "simpson lisa") == 6  # sim imp mps pso son "on "
    assert ngram_kernel(1)("aab", "ab") == 3  # 2·1 + 1·1
    assert ngram_kernel(3)("ab", "abc") == 0
    assert normalised_kernel(ngram_kernel(3))("ab", "abc") == 0


def test_string_kernel_is_a_mercer_kernel_on_the_names():
    K = gram_matrix(names_kernel, VOC)
    assert is_mercer(K)
    assert_allclose(np.diag(K), 1)


def test_names_out_of_vocabulary_come_next_to_their_families():  # 000 p. 80–81
    K = gram_matrix(names_kernel, VOC)
    eta, V = kernel_pca(K, 2)
    known, new = training_scores(eta, V), scores(gram_matrix(names_kernel, OOV, VOC), K, V)
    for name, place in zip(OOV, new, strict=True):
        nearest = VOC[np.argmin(np.linalg.norm(known - place, axis=1))]
        assert family(nearest) == family(name)


def test_families_stay_together_in_the_plane():  # 000 p. 81
    eta, V = kernel_pca(gram_matrix(names_kernel, VOC), 2)
    Z, families = training_scores(eta, V), np.array([family(name) for name in VOC])
    distances = np.linalg.norm(Z[:, None] - Z, axis=2)
    same = (families[:, None] == families) & ~np.eye(len(VOC), dtype=bool)
    assert distances[same].mean() < 0.1 * distances[families[:, None] != families].mean()


# ---------------------------------------------------------------------------- pre-images


def feature_distance(X, c, gamma, z):
    """‖φ(z) − Σ cᵢφ(xᵢ)‖², written out with kernels."""
    k = rbf_kernel(gamma)
    return 1 - 2 * c @ gram_matrix(k, X, [z])[:, 0] + c @ gram_matrix(k, X) @ c


def test_coefficients_give_the_point_of_feature_space_with_these_scores():
    X = np.random.default_rng(0).normal(size=(15, 2))
    K = gram_matrix(rbf_kernel(0.5), X)
    _, V = kernel_pca(K, 4)
    y = np.array([0.3, -0.1, 0.2, 0.05])
    c = projection_coefficients(V, y)
    assert_allclose((c @ K - K.mean(axis=0)) @ V, y, atol=1e-9)  # its centred inner products with the axes
    assert_allclose(c.sum(), 1)


def test_fixed_point_comes_nearer_and_ends_where_the_gradient_vanishes():  # 001: "may not have a pre-image"
    X, gamma = moons(30, seed=3)[0], 2.0
    _, V = kernel_pca(gram_matrix(rbf_kernel(gamma), X), 4)
    K = gram_matrix(rbf_kernel(gamma), X)
    start = X[7] + [0.2, -0.15]
    c = projection_coefficients(V, scores(gram_matrix(rbf_kernel(gamma), [start], X), K, V)[0])
    z = preimage_by_fixed_point(X, c, gamma, start, steps=500)
    assert feature_distance(X, c, gamma, z) < feature_distance(X, c, gamma, start)
    for step in 1e-4 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert feature_distance(X, c, gamma, z + step) > feature_distance(X, c, gamma, z)


def test_a_training_point_is_its_own_pre_image_when_all_components_are_kept():
    X, gamma = np.random.default_rng(1).normal(size=(12, 2)), 1.0
    eta, V = kernel_pca(gram_matrix(rbf_kernel(gamma), X), threshold=1e-13)
    for i, y in enumerate(training_scores(eta, V)):
        z = preimage_by_fixed_point(X, projection_coefficients(V, y), gamma, X[i] + 0.05, steps=300)
        assert_allclose(z, X[i], atol=1e-4)


def test_fixed_point_stays_where_it_is_when_nothing_is_near():
    far = np.array([1e3, 1e3])
    assert_allclose(preimage_by_fixed_point(np.eye(2), np.array([0.5, 0.5]), 1.0, far), far)


def test_ridge_learns_the_way_back_from_scores():  # 004 §3.1.3, Bakır, Weston and Schölkopf
    X, _ = moons(40)
    k = rbf_kernel(2.0)
    eta, V = kernel_pca(gram_matrix(k, X), 8)
    Y = training_scores(eta, V)
    assert_allclose(preimage_by_ridge(k, Y, X, Y, ridge=1e-8), X, atol=1e-2)
    odd, even = slice(1, None, 2), slice(0, None, 2)
    guess = preimage_by_ridge(rbf_kernel(5.0), Y[even], X[even], Y[odd], ridge=1e-3)
    assert np.mean((guess - X[odd]) ** 2) < 0.02 * X.var()


def test_ridge_is_kernel_ridge_regression():
    X, _ = moons(20)
    Y = X[:, ::-1] ** 2
    theirs = KernelRidge(alpha=0.3, kernel="rbf", gamma=2.0).fit(Y, X).predict(Y[:5] + 0.1)
    assert_allclose(preimage_by_ridge(rbf_kernel(2.0), Y, X, Y[:5] + 0.1, ridge=0.3), theirs, rtol=1e-8)


def test_f_adds_up_absolute_values():
    V = np.array([[1.0, -2.0], [0.0, 1.0]])
    assert_allclose(sum_of_projections([[1.0, 1.0], [2.0, 0.0]], V), [2.0, 6.0])


def test_the_threshold_is_relative_to_the_largest_eigenvalue():
    K = gram_matrix(rbf_kernel(0.5), np.random.default_rng(0).normal(size=(20, 2)))
    assert len(kernel_pca(1e-12 * K)[0]) == len(kernel_pca(K)[0]) == len(kernel_pca(1e12 * K)[0])


@pytest.mark.parametrize("offset", [1e3, 1e5])
def test_rounding_in_a_gram_matrix_makes_no_components(offset):
    X = np.random.default_rng(0).normal(size=(30, 3)) + offset
    assert len(kernel_pca(gram_matrix(linear_kernel, X))[0]) <= 3


def test_mercers_condition_asks_symmetry_and_is_strict_beyond_rounding():
    assert not is_mercer(1e-9 * np.array([[1.0, 0.3], [0.0, 1.0]]))  # positive, but not symmetric
    assert not is_mercer(np.diag([1.0, -1e-3]))
    assert is_mercer(np.diag([1.0, -1e-13]))


def test_normalising_divides_by_both_lengths():
    assert_allclose(names_kernel("simpson bart", "simpson"), 5 / np.sqrt(10 * 5))
    assert_allclose(normalised_kernel(linear_kernel)(np.array([3.0, 0]), np.array([1.0, 1.0])), np.sqrt(0.5))


def test_whole_numbers_do_not_overflow_and_lists_are_accepted():
    bytes_ = np.array([[100, 100], [0, 0]], dtype=np.uint8)
    assert linear_kernel(bytes_[0], bytes_[0]) == 20_000
    assert_allclose(rbf_kernel(1e-4)(bytes_[1], bytes_[0]), np.exp(-2))
    assert polynomial_kernel(1, 0, 5)(np.array([10**4]), np.array([10**4])) == 1e40
    assert linear_kernel([1, 2], [3, 4]) == 11
