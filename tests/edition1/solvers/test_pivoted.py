"""Randomly pivoted Cholesky: the law it draws by, the identities it keeps, and where it has to stop."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from mercer.kernels import RBF
from mercer_old.operators.centering import Centered, Weighted
from mercer_old.operators.gram import RecomputedGram
from mercer_old.operators.held import HeldMatrix
from mercer_old.solvers.pivoted import pivoted_cholesky
from mercer_old.solvers.warm import Guess


def kernel_matrix(n=80, seed=0, gamma=0.3):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return RBF(gamma).block(X, X)


def probability(K, pivots):
    """Of drawing these pivots in this order, one at a time, each by what is left of the diagonal."""
    E, p = K.copy(), 1.0
    for i in pivots:
        d = np.diag(E)
        p *= d[i] / d.sum()
        E = E - np.outer(E[:, i], E[i]) / E[i, i]
    return p


@pytest.mark.parametrize(
    ("proposed", "draws"),
    [(2, 4000), (40, 4000), *(pytest.param(proposed, 12_000, marks=pytest.mark.slow) for proposed in (1, 2, 7, 40))],
)
def test_pivots_have_exactly_the_law_of_the_sequential_method(proposed, draws):
    X = np.array([[0.0, 0], [0.2, 0], [1, 1], [2, 0], [2.1, 0.1], [4, 4]])
    K = RBF(0.4).block(X, X) * np.multiply.outer([1, 2, 1, 0.5, 1, 1.5], [1, 2, 1, 0.5, 1, 1.5])
    orders = list(permutations(range(6), 3))
    expected = np.array([probability(K, order) for order in orders])
    assert_allclose(expected.sum(), 1)
    rng, op = np.random.default_rng(proposed), HeldMatrix(K)
    seen = dict.fromkeys(orders, 0)
    for _ in range(draws):
        seen[tuple(pivoted_cholesky(op, 3, rng, proposed=proposed).pivots.tolist())] += 1
    often = expected * draws >= 5
    observed, wanted = np.array(list(seen.values())), expected * draws
    observed = np.append(observed[often], observed[~often].sum())
    wanted = np.append(wanted[often], wanted[~often].sum())
    assert chisquare(observed, wanted * observed.sum() / wanted.sum()).pvalue > 1e-3


@pytest.mark.parametrize("seed", range(5))
def test_the_factor_interpolates_its_pivots_and_leaves_a_positive_rest(seed):
    K = kernel_matrix(seed=seed)
    factor = pivoted_cholesky(HeldMatrix(K), 25, np.random.default_rng(seed), threads=2)
    E = K - factor.F @ factor.F.T
    assert factor.F.shape == (80, 25) and len(set(factor.pivots.tolist())) == 25
    assert_allclose(E[:, factor.pivots], 0, atol=1e-12)
    assert np.linalg.eigvalsh(E)[0] > -1e-12
    assert_allclose(factor.left, np.diag(E), atol=1e-12)
    assert_allclose(factor.error, np.trace(E), rtol=1e-9)
    assert np.linalg.eigvalsh(E)[-1] <= factor.error


def test_it_stops_when_little_is_left():
    K = kernel_matrix()
    factor = pivoted_cholesky(HeldMatrix(K), 80, np.random.default_rng(0), tol=1e-2)
    assert factor.F.shape[1] < 80
    assert factor.error <= 1e-2 * np.trace(K)


@pytest.mark.parametrize("rank", [10, 60, 200])
def test_it_stops_at_the_numerical_rank(rank):
    """A matrix of rank 5, duplicates, and a wide kernel: no pivot is drawn from rounding."""
    rng = np.random.default_rng(0)
    B = rng.normal(size=(200, 5))
    factor = pivoted_cholesky(HeldMatrix(B @ B.T), rank, rng)
    assert factor.F.shape[1] == 5
    assert_allclose(factor.F @ factor.F.T, B @ B.T, atol=1e-10)
    X = np.repeat(rng.normal(size=(6, 2)), 20, axis=0)
    assert pivoted_cholesky(HeldMatrix(RBF(1.0).block(X, X)), rank, rng).F.shape[1] == 6
    K = kernel_matrix(200, gamma=1e-4)
    factor = pivoted_cholesky(HeldMatrix(K), rank, rng)
    assert np.linalg.norm(K - factor.F @ factor.F.T) <= 1e-8 * np.trace(K)
    assert np.isfinite(factor.F).all()


def test_a_matrix_of_zeros_has_no_pivots():
    factor = pivoted_cholesky(HeldMatrix(np.zeros((9, 9))), 4, np.random.default_rng(0))
    assert factor.F.shape == (9, 0) and factor.error == 0


def test_any_kernel_is_asked_for_diagonal_and_columns_alone():
    X = np.random.default_rng(1).normal(size=(90, 4))
    a = pivoted_cholesky(RecomputedGram(RBF(0.2), X, 2), 20, np.random.default_rng(3))
    b = pivoted_cholesky(HeldMatrix(RBF(0.2).block(X, X)), 20, np.random.default_rng(3))
    assert_allclose(a.F, b.F, atol=1e-10)


def test_far_clusters_are_not_forgotten():
    """Two per cent of the rows far away, in one cluster each: pivots find them, however few they are."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(980, 2)), 50 + 0.1 * rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) - 90])
    factor = pivoted_cholesky(RecomputedGram(RBF(0.05), X), 30, rng)
    assert np.any((factor.pivots >= 980) & (factor.pivots < 990)) and np.any(factor.pivots >= 990)


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 81.0)], ids=["plain", "weighted"])
def test_the_guess_is_the_spectrum_of_the_centred_factor_and_its_bound_holds(weights):
    K = kernel_matrix()
    op = Centered(HeldMatrix(K), weights)
    root = np.ones(80) if weights is None else np.sqrt(weights)
    factor = pivoted_cholesky(op.uncentred, 30, np.random.default_rng(0))
    P = np.eye(80) - np.outer(root, root) / (root @ root)
    expected = np.linalg.eigvalsh(P @ factor.F @ factor.F.T @ P)[::-1]
    guess = Guess.of(op, factor)
    assert_allclose(guess.values, expected[: len(guess.values)], atol=1e-9 * expected[0])
    assert_allclose(guess.vectors.T @ guess.vectors, np.eye(len(guess.values)), atol=1e-3)
    true = np.linalg.eigvalsh(op.dense())[::-1]
    for k in (1, 5, 20, 29):
        assert guess.bound_beyond(k) >= true[k] - 1e-12
    assert isinstance(op.uncentred, Weighted) == (weights is not None)


def test_the_preconditioner_is_the_shifted_inverse_of_the_guess():
    op = Centered(HeldMatrix(kernel_matrix()))
    guess = Guess.of(op, pivoted_cholesky(op.uncentred, 30, np.random.default_rng(0)))
    U, a = guess.vectors.astype(float), guess.values
    R, theta = op.project(np.random.default_rng(1).normal(size=(80, 3))), np.array([3 * a[0], 2 * a[0], 1.5 * a[0]])
    guess.distance = 0.0
    expected = [np.linalg.solve(theta[i] * np.eye(80) - U * a @ U.T, R[:, i]) for i in range(3)]
    assert_allclose(guess(R, theta), np.transpose(expected), rtol=1e-3, atol=1e-5)
    near = guess(R, np.full(3, a[0]))  # on an eigenvalue of the guess: kept finite
    assert np.isfinite(near).all() and np.abs(near).max() <= 60 * np.abs(R).max() / a[0] * 10
