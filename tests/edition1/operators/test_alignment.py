"""The matrices of all four local methods: against their slow twins, the lectures and what is flat."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from mercer import textbook
from mercer_old.operators import local_methods
from mercer_old.operators.alignment import weight_matrix
from mercer_old.spaces.points import Points
from support import naive
from support.local import M_of, cloud, every_method, flat
from support.strategies import seeds


@every_method
@pytest.mark.parametrize(("columns", "k"), [(3, 8), (12, 7)], ids=["k > d", "d > k"])
@settings(max_examples=5)
@given(seeds)
def test_the_matrix_of_every_method_is_that_of_its_slow_twin(method, columns, k, seed):
    X = cloud(30, columns, seed)
    near = naive.nearest(naive.exact_distances(X), k)
    M = M_of(Points.of(X), near, method, 2)
    assert_allclose(M, naive.alignment(X, near, method, 2), atol=1e-10)
    assert_allclose(M @ np.ones(30), 0, atol=1e-12)
    assert np.linalg.eigvalsh(M)[0] > -1e-13 * np.abs(M).sum(axis=0).max()


@every_method
@pytest.mark.parametrize("d", [1, 3])
def test_other_numbers_of_components_too(method, d):
    X = cloud(40, 5, 7)
    near = naive.nearest(naive.exact_distances(X), 11)
    assert_allclose(M_of(Points.of(X), near, method, d), naive.alignment(X, near, method, d), atol=1e-10)


@every_method
def test_the_matrix_does_not_depend_on_how_many_threads_or_pieces(method, monkeypatch):
    X = cloud(90, 4)
    space = Points.of(X)
    near = space.nearest(10, 1).indices
    expected = M_of(space, near, method, 2)
    assert np.array_equal(M_of(space, near, method, 2, threads=2), expected)
    pieces = [slice(i, min(i + 7, 90)) for i in range(0, 90, 7)]
    monkeypatch.setattr("mercer_old.operators.alignment.rounds", lambda *_: iter([pieces[:3], pieces[3:9], pieces[9:]]))
    assert_allclose(M_of(space, near, method, 2, threads=2), expected, atol=1e-12)


@given(seeds)
def test_weights_sum_to_one_and_nothing_is_better(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 6))
    near = naive.nearest(naive.exact_distances(X), 4)
    W = weight_matrix(Points.of(X), near, 1e-12, 1).toarray()
    assert_allclose(W.sum(axis=1), 1)
    assert_allclose(W, textbook.lle_weight_matrix(X, 4, reg=1e-12), atol=1e-7)
    for i in range(20):
        best = np.sum((X[i] - W[i] @ X) ** 2)
        change = rng.normal(size=4)
        other = W[i].copy()
        other[near[i]] += change - change.mean()
        assert np.sum((X[i] - other @ X) ** 2) >= best - 1e-12


@given(seeds)
def test_weights_are_those_of_the_lectures(seed):
    X = cloud(25, 3, seed)
    near = naive.nearest(naive.exact_distances(X), 6)
    for reg in (1e-3, 0.1):
        W = weight_matrix(Points.of(X), near, reg, 1).toarray()
        assert_allclose(W, textbook.lle_weight_matrix(X, 6, reg=reg), atol=1e-8)


@pytest.mark.parametrize("zero", [0, 1, 2])
def test_without_a_ridge_a_neighbour_that_equals_the_point_takes_all_the_weight(zero):
    Z = np.diag([1.0, 2.0, 3.0])
    Z[zero] = 0.0  # this neighbour is the point itself: w = e_zero has residual 0, the least there is
    G = (Z @ Z.T)[None]
    w = local_methods.weights(G, 0.0)
    assert_allclose(local_methods.residuals(G, w), 0, atol=1e-12)
    assert_allclose(w[0], np.eye(3)[zero], atol=1e-9)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_flat_data_have_their_coordinates_in_the_null_space(method):
    X, plane = flat()
    near = naive.nearest(naive.exact_distances(X), 10)
    M = M_of(Points.of(X), near, method, 2)
    assert_allclose(M @ plane, 0, atol=1e-12)
    values = np.linalg.eigvalsh(M)
    assert_allclose(values[:3], 0, atol=1e-13)
    assert values[3] > 1e-6


def test_the_hessian_is_that_of_a_quadratic_function():
    """On a plane, Σᵢ‖Hᵢf‖² of f = a² − 3ab is what an affine fit leaves of f in every neighbourhood."""
    X, plane = flat(60, 1)
    near = naive.nearest(naive.exact_distances(X), 12)
    f = plane[:, 0] ** 2 - 3 * plane[:, 0] * plane[:, 1]
    M = M_of(Points.of(X), near, "hessian", 2)
    total = 0.0
    for some in near:
        linear = np.column_stack([np.ones(12), plane[some]])
        total += np.sum((f[some] - linear @ np.linalg.lstsq(linear, f[some], rcond=None)[0]) ** 2)
    assert_allclose(f @ M @ f, total, rtol=1e-9)  # a quadratic has no part that is neither affine nor quadratic


@pytest.mark.parametrize("n", [30, 31, 51])
def test_modified_weights_do_not_hang_on_the_last_digit(n):
    """A rotation changes nothing but rounding. η is the median of ρ: for odd n one ρᵢ *is* η."""
    for seed in range(4):
        X = cloud(n, 5, seed)
        Q = np.linalg.qr(cloud(5, 5, seed + 100))[0]
        near = naive.nearest(naive.exact_distances(X), 7)
        assert_allclose(M_of(Points.of(X @ Q), near, "modified", 2), M_of(Points.of(X), near, "modified", 2), atol=1e-8)
