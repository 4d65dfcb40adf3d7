"""Bounds on the rounding of kernel matrices, against matrices that are known to 106 bits."""

import mpmath
import numpy as np
import pytest

from attack.kernels import whole_matrix
from attack.precise import DD
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Cosine, Linear, Polynomial
from mercer.linalg.feature_gram import FeatureGram
from mercer.linalg.gram import Centered, PrecomputedGram, RecomputedGram, StoredGram
from mercer.numerics.rounding import gamma
from support.exact_kernels import exact_matrix

ROWS = np.random.default_rng(0).normal(size=(40, 5)) + 3
WEIGHTS = {"without": None, "weighted": np.random.default_rng(1).integers(1, 5, 40).astype(float)}
KERNELS = [RBF(0.3), Laplacian(0.2), Linear(), Cosine(), Polynomial(3, 0.5, 1.0)]


def weighted(matrix, weights):
    root = np.ones(len(matrix)) if weights is None else np.sqrt(weights)
    return root[:, None] * matrix * root


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("Gram", [StoredGram, RecomputedGram])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_rounding_in_entries_is_bounded(kernel, Gram, weights):
    A = Centered(Gram(kernel, ROWS), weights)
    off = weighted((DD(A.gram.matrix()) + A.gram.shift - whole_matrix(kernel, ROWS)[0]).hi, weights)
    assert 0 < np.linalg.norm(off, 2) <= A.entry_error


@pytest.mark.parametrize("rows", [ROWS, 3 + 1e-6 * (ROWS - 3)], ids=["spread", "close"])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("kernel", [Cosine(), Polynomial(2, 0.5, 1.0), 0.3 * Linear() + Cosine()])
def test_rounding_in_features_is_bounded(kernel, weights, rows):
    """Centering removes the mean that the features lose."""
    A = Centered(FeatureGram(kernel.feature_map(rows), rows, weights), weights)
    features = DD(kernel.feature_map(rows).transform(rows))
    off = weighted((features @ features.T - whole_matrix(kernel, rows)[0]).hi, weights)
    s = np.ones(40) if weights is None else np.sqrt(weights)
    P = np.eye(40) - np.outer(s, s) / (s @ s)
    assert 0 < np.linalg.norm(P @ off @ P, 2) <= A.entry_error


@pytest.mark.parametrize("scale", [1e-3, 1e-8, 1e-14])
@pytest.mark.parametrize("seed", [0, 1])
def test_rounding_in_features_that_cancel_far_from_the_origin_is_bounded(seed, scale):
    """φ(−o) = φ(o) for an even degree: such features are the difference of terms that their length does not show."""
    rng = np.random.default_rng(seed)
    origin = 3 * rng.normal(size=2)
    X = np.vstack([origin + scale * rng.normal(size=(6, 2)), -origin])
    for kernel in (Polynomial(2, 0.5, 0.0), 2 * Polynomial(2, 0.5, 0.0) + Linear()):
        moved = kernel.with_origin(origin)
        feature_map = moved.feature_map(X)
        features = mpmath.matrix(feature_map.transform(X).tolist())
        products, exact = features * features.T, exact_matrix(moved, X, X)
        off = np.array([[float(products[i, j] - exact[i][j]) for j in range(7)] for i in range(7)])
        assert 0 < np.linalg.norm(off, 2) <= Centered(FeatureGram(feature_map, X)).entry_error


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_asymmetry_is_an_error_of_the_entries(weights):
    """Halves of the matrix may each be used alone, and differ by this."""
    K = np.array([[1.0, 1e-3], [0.0, 1.0]])[np.ix_(np.arange(40) % 2, np.arange(40) % 2)]
    asymmetry = float(np.abs(K - K.T).max())
    A = Centered(PrecomputedGram(K, asymmetry=asymmetry), weights)
    off = weighted((K - K.T) / 2, weights)
    assert 0 < np.linalg.norm(off, 2) <= A.entry_error


def test_the_product_with_a_centered_matrix_has_the_rounding_of_that_matrix():
    """γ(n + 1)‖A‖_F for its entries, and the product comes on top."""
    A = Centered(PrecomputedGram(ROWS @ ROWS.T))
    before = A.product_error
    size = np.linalg.norm(A.to_dense())
    assert A.product_error >= before + gamma(41) * size


@pytest.mark.parametrize("n", [40, 700])
def test_moduli_bound_the_norm(n):
    """A matrix whose largest row is far above the mean, with entries of both signs."""
    rng = np.random.default_rng(2)
    K = rng.normal(size=(n, n)) * 1e-3
    K[0, :] = K[:, 0] = rng.choice([-1.0, 1.0], n)
    K = (K + K.T) / 2
    gram, w = PrecomputedGram(K), np.ones(n)
    assert gram.abs_norm(w, K @ w) >= np.linalg.norm(np.abs(K), 2)
