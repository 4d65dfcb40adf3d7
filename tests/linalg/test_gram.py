"""Kernel matrices and their centered form against dense arithmetic; pivoted Cholesky against its law."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.sparse.linalg import aslinearoperator

from mercer.errors import DataError
from mercer.kernels.base import Blockwise
from mercer.kernels.distance import RBF, Laplacian
from mercer.kernels.dot import Cosine, Linear, Polynomial
from mercer.linalg.completeness import exclude_missed
from mercer.linalg.dense import Dense
from mercer.linalg.feature_gram import FeatureGram, FeatureSolver
from mercer.linalg.gram import Centered, KernelColumns, OperatorGram, PrecomputedGram, RecomputedGram, StoredGram
from mercer.linalg.krylov import BlockKrylov
from mercer.linalg.pivoted import pivoted_cholesky, sample_proportional

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))  # more than one tile, more than are filled in one call
KERNEL = RBF(0.2)
K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
WEIGHTS = {"equal": None, "weighted": rng.uniform(0.1, 5, size=600)}
SPARSE = sparse.random_array((600, 40), density=0.1, format="csr", rng=rng)


def features(kernel, rows, weights=None, **options):
    return FeatureGram(kernel.feature_map(rows), rows, weights, **options)


GRAMS = {
    "stored": (lambda w: StoredGram(KERNEL, X), K),
    "stored, dear": (lambda w: StoredGram(Blockwise(KERNEL), X), K),
    "recomputed": (lambda w: RecomputedGram(KERNEL, X, weights=w), K),
    "recomputed, unknown sign": (
        lambda w: RecomputedGram(Polynomial(2, 0.25), X, weights=w),
        Polynomial(2, 0.25)(X, X),
    ),
    "precomputed": (lambda w: PrecomputedGram(K), K),
    "precomputed, sparse": (lambda w: PrecomputedGram(sparse.csr_array(K)), K),
    "operator": (lambda w: OperatorGram(aslinearoperator(K)), K),
    "features": (lambda w: features(Linear(), X, w), X @ X.T),
    "features, recomputed": (lambda w: features(Polynomial(2, 1.0), X, w, recompute=True), (X @ X.T + 1) ** 2),
    "features, sparse": (lambda w: features(Linear(), SPARSE, w), (SPARSE @ SPARSE.T).toarray()),
    "features, sparse directions": (lambda w: features(Cosine(), SPARSE, w, recompute=True), Cosine()(SPARSE, SPARSE)),
}


def centered_by_definition(K, weights):
    """P S K S P."""
    root = np.ones(len(K)) if weights is None else np.sqrt(weights)
    null = root / np.linalg.norm(root)
    A = root[:, None] * K * root
    P = np.eye(len(K)) - np.outer(null, null)
    return P @ A @ P


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("name", GRAMS)
def test_products_traces_and_norms_are_those_of_the_definition(name, weights):
    make, dense = GRAMS[name]
    A, expected = Centered(make(weights), weights), centered_by_definition(dense, weights)
    size, B = np.linalg.norm(expected, 2), rng.normal(size=(600, 3))
    B /= np.linalg.norm(B, axis=0)
    assert_allclose(A.matmat(B), expected @ B, atol=1e-12 * size)
    assert_allclose(A.trace, expected.trace(), rtol=1e-11)
    assert_allclose(A.to_dense(), expected, atol=1e-12 * size)
    assert 0 < A.product_error < 1e-9 * size and A.floor < 1e-9 * size
    if (norm := A.squared_norm(2.0)) is not None:
        assert abs(norm[0] - np.sum(expected**2) / 4) <= norm[1] + 1e-12 * norm[0]
        assert norm[1] < 1e-8 * norm[0]


@pytest.mark.usefixtures("blas_of_fits")
@pytest.mark.parametrize("name", ["recomputed", "features", "stored", "features, sparse"])
def test_bits_do_not_depend_on_the_number_of_threads(name):
    many = np.tile(X, (9, 1))
    tall = {
        "recomputed": lambda t: RecomputedGram(KERNEL, many, t),
        "stored": lambda t: StoredGram(KERNEL, many[:2000], t),
        "features": lambda t: features(Linear(), many, n_threads=t),
        "features, sparse": lambda t: features(Linear(), sparse.vstack([SPARSE] * 9, format="csr"), n_threads=t),
    }[name]
    one, two = tall(1), tall(3)
    B = np.random.default_rng(0).normal(size=(one.n, 12))
    assert_array_equal(one.matmat(B), two.matmat(B))


def test_features_far_from_zero_keep_their_digits():
    far = X[:40] + 1e8
    A = Centered(features(Linear(), far))
    pairs = FeatureSolver(Dense()).solve(A, 4, lambda: np.random.default_rng(0))
    moved = far - far[0]  # exact: the rows are close to each other
    with mpmath.workdps(60):
        rows = mpmath.matrix(moved.tolist())
        for j in range(4):
            mean = mpmath.fsum(rows[:, j]) / 40
            for i in range(40):
                rows[i, j] -= mean
        exact = sorted((float(value) for value in mpmath.eigsy(rows.T * rows, eigvals_only=True)), reverse=True)
    assert_allclose(pairs.values, exact, rtol=1e-14)
    assert pairs.product_error < 1e-12 * exact[0]


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("inner", [Dense(), BlockKrylov(1e-9, 8)])
def test_the_side_of_the_features_has_the_same_eigenpairs(inner, weights):
    make, dense = GRAMS["features, sparse"]
    A, generator = Centered(make(weights), weights), np.random.default_rng(0)
    pairs = FeatureSolver(inner).solve(A, 5, lambda: generator)
    exact = np.linalg.eigvalsh(centered_by_definition(dense, weights))[::-1]
    assert_allclose(pairs.values, exact[:5], rtol=1e-9)
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(5), atol=1e-12)
    assert np.all(pairs.residuals < 1e-6 * exact[0])
    assert pairs.complete or exact[5] <= pairs.bound < exact[4]
    assert pairs.complete or exclude_missed(FeatureSolver(inner), A, pairs, None)[2] == pairs.evidence


def test_components_beyond_the_rank_are_orthonormal():
    A = Centered(features(Linear(), X[:50]))
    pairs = FeatureSolver(Dense()).solve(A, 10, lambda: np.random.default_rng(0))
    assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(10), atol=1e-12)
    assert_allclose(pairs.vectors.sum(axis=0), 0, atol=1e-12)
    assert_allclose(pairs.values[4:], 0, atol=1e-12 * pairs.values[0])


def test_an_overflow_is_an_error():
    with pytest.raises(DataError, match="not finite"), np.errstate(all="ignore"):
        Centered(features(Linear(), X * 1e200)).matmat(np.ones((600, 1)))


# ---------------------------------------------------------------------- columns and pivoted Cholesky


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("kernel", [KERNEL, Laplacian(0.3)])
def test_columns_and_blocks_are_those_of_the_weighted_matrix(kernel, weights):
    root = np.ones(600) if weights is None else np.sqrt(weights)
    F = rng.normal(size=(600, 3))
    expected = root[:, None] * kernel(X, X) * root - F @ F.T
    columns, some, others = KernelColumns(kernel, X, weights, F), np.array([5, 0, 599]), np.array([7, 7])
    assert_allclose(columns.columns(some), expected[:, some], atol=1e-12)
    assert_allclose(columns.block(some, others), expected[np.ix_(some, others)], atol=1e-12)
    assert_allclose(columns.diag(), expected.diagonal(), atol=1e-12)


def test_what_is_left_of_the_matrix_is_positive_and_known():
    factor = pivoted_cholesky(KernelColumns(KERNEL, X), 60, lambda: np.random.default_rng(0))
    E = K - factor.F @ factor.F.T
    assert len(set(factor.pivots.tolist())) == 60
    assert np.linalg.eigvalsh(E)[0] > -1e-10
    assert_allclose(factor.left, np.maximum(E.diagonal(), 0), atol=1e-12)
    assert_allclose(E[factor.pivots], 0, atol=1e-10)
    assert np.linalg.norm(E, 2) <= factor.left.sum()


def test_a_factor_ends_where_nothing_is_left():
    rows = np.repeat(X[:7], 30, axis=0)
    factor = pivoted_cholesky(KernelColumns(KERNEL, rows), 100, lambda: np.random.default_rng(0))
    assert factor.F.shape[1] == 7
    assert factor.left.sum() < 1e-10 * len(rows)


@pytest.mark.parametrize("largest", [1.2, 5.0])
def test_pivots_follow_the_law_of_the_sequential_method(largest):
    """Rows of about the same length are often proposed together, after which the second one may be refused."""
    rows = np.array([[0.0], [0.1], [1.0], [largest]])
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    matrix = kernel(rows, rows)
    expected = np.zeros((4, 4))  # of the first two pivots
    for i in range(4):
        left = np.maximum(matrix.diagonal() - matrix[:, i] ** 2 / matrix[i, i], 0)
        left[i] = 0
        expected[i] = matrix[i, i] / matrix.trace() * left / left.sum()
    generator, counts, draws = np.random.default_rng(1), np.zeros((4, 4)), 3000
    for _ in range(draws):
        first, second = pivoted_cholesky(KernelColumns(kernel, rows), 2, lambda: generator).pivots
        counts[first, second] += 1
    seen = expected * draws >= 5
    rest = draws - counts[seen].sum(), draws * (1 - expected[seen].sum())
    observed, model = np.append(counts[seen], rest[0]), np.append(expected[seen] * draws, rest[1])
    kept = model > 1
    statistic = ((observed[kept] - model[kept]) ** 2 / model[kept]).sum()
    assert stats.chi2.sf(statistic, kept.sum() - 1) > 1e-3


def test_rows_without_anything_left_are_never_drawn():
    left = np.array([0.0, 2.0, 0.0, 1.0, 0.0])
    assert sample_proportional(left, np.array([0.0, 0.66, 0.67, 0.999999, 1.0])).tolist() == [1, 1, 3, 3, 3]
