"""Bounds on the rounding of kernel entries, against values in 60 digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import sparse

from mercer.kernels.base import Pairwise
from mercer.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer.kernels.dot import Cosine, Linear, Polynomial, Sigmoid, choose_origin
from mercer.kernels.histograms import AdditiveChiSquared, ChiSquared, HistogramIntersection, MinMax, Tanimoto
from mercer.kernels.origin import MovedRows
from support.exact_kernels import exact_matrix


def errors(K, exact_values, shift):
    return np.array(
        [
            [float(abs(mpf(k) - (e - mpf(shift)))) for k, e in zip(*rows, strict=True)]
            for rows in zip(K.tolist(), exact_values, strict=True)
        ]
    )


rng = np.random.default_rng(3)
CLOUD = rng.normal(size=(9, 4))
DATA = {
    "cloud": CLOUD,
    "offset 1e6": CLOUD + 1e6,
    "offset 1e8": 1e-2 * CLOUD + 1e8,
    "tiny": 1e-7 * CLOUD,
    "huge": 1e9 * CLOUD,
    "far row": np.vstack([CLOUD, 300 * CLOUD[:1]]),
    "duplicates": np.repeat(CLOUD[:3], 3, axis=0),
    "one-hot": np.eye(4)[rng.integers(0, 4, 9)],
    "zeros": np.vstack([CLOUD[:5], np.zeros((2, 4))]),
    "wide": rng.normal(size=(4, 600)),
    "float32": CLOUD.astype(np.float32),
}
SIGNED = [
    Linear(),
    Cosine(),
    Polynomial(3, 0.25, 1.0),
    Polynomial(2, 0.1, -0.5),
    Polynomial(7, 0.25, 0.0),
    Sigmoid(0.1, -0.3),
    RBF(0.25),
    RBF(1e-13),
    RBF(1e7),
    Matern(0.5, 0.7),
    Matern(1.5, 1.3),
    Matern(2.5, 1e4),
    Matern(np.inf, 2.0),
    RationalQuadratic(1.5, 0.8),
    RationalQuadratic(1e-5, 2.0),
    RationalQuadratic(1e5, 30.0),
    Laplacian(0.3),
    Laplacian(1e-9),
    3 * RBF(0.1) + Linear() * RBF(0.01),
    RBF(1e-9) * Matern(1.5, 1e5) + 2.0,
    0.1 * Laplacian(1e-8) * Polynomial(2, 1e-3, 1.0),
]
COUNTS = [HistogramIntersection(), MinMax(), ChiSquared(1.0), ChiSquared(1e-9), AdditiveChiSquared(), Tanimoto()]
NONNEGATIVE = {
    "counts": rng.poisson(1.0, size=(9, 6)).astype(float),
    "large counts": rng.poisson(1e5, size=(9, 6)).astype(float),
    "shares": rng.dirichlet(np.ones(6), size=9),
    "huge": 1e200 * rng.random((5, 3)),
    "wide": rng.exponential(size=(5, 300)) * (rng.random((5, 300)) < 0.3),
    "zeros": np.vstack([np.zeros((2, 5)), rng.random((4, 5))]),
    "bits": (rng.random((8, 30)) < 0.3).astype(np.uint8),
}
CASES = [(kernel, name) for kernel in SIGNED for name in DATA]
COUNT_CASES = [(kernel, name) for kernel in COUNTS for name in NONNEGATIVE]


def check_bounds(kernel, X, shifts=(0.0, None, 1.0), values=None):
    """Entries against the same and against other rows, and the norm of all errors with weights."""
    values = exact_matrix(kernel, X, X) if values is None else values
    for shift in shifts:
        check_shifted(kernel, X, values, shift)
    return values


def check_shifted(kernel, X, values, shift):
    n = X.shape[0]
    prepared = kernel.prepare(X, shift=shift)
    K = np.empty((n, n))
    prepared.fill(slice(None), slice(None), K)
    wrong = errors(K, values, prepared.shift)
    assert (wrong <= prepared.entry_error()).all()
    diagonal = [abs(mpf(float(d)) + mpf(prepared.shift) - values[i][i]) for i, d in enumerate(prepared.diag)]
    assert max(diagonal) <= prepared.entry_error()

    weights = np.random.default_rng(0).uniform(0.1, 5.0, n)
    root = np.sqrt(weights)
    norm = np.linalg.norm(root[:, None] * wrong * root, 2)
    columns = prepared.error_columns(weights)
    assert norm <= prepared.matrix_error(weights)
    assert norm <= prepared.matrix_error(weights, K @ weights, None if columns is None else K @ columns)

    some = X[::2]
    other = kernel.prepare(X[1::2], shift=shift).against(some)
    tile = np.empty(other.shape)
    other.fill(slice(None), slice(None), tile)
    expected = [row[1::2] for row in values[::2]]
    assert (errors(tile, expected, other.shift) <= other.entry_error()).all()


@pytest.mark.parametrize(("kernel", "name"), CASES, ids=lambda case: str(case))
def test_bounds_hold_for_signed_rows(kernel, name):
    check_bounds(kernel, DATA[name])


@pytest.mark.parametrize(("kernel", "name"), COUNT_CASES, ids=lambda case: str(case))
def test_bounds_hold_for_counts(kernel, name):
    values = check_bounds(kernel, NONNEGATIVE[name], (0.0, None))
    if name != "huge":
        check_bounds(kernel, sparse.csr_array(NONNEGATIVE[name].astype(float)), (0.0, None), values)


@pytest.mark.parametrize("name", ["cloud", "zeros", "one-hot", "tiny", "wide", "duplicates"])
@pytest.mark.parametrize("kernel", SIGNED, ids=str)
def test_bounds_hold_for_sparse_rows(kernel, name):
    X = DATA[name] * (np.abs(DATA[name]) > np.median(np.abs(DATA[name])))
    check_bounds(kernel, sparse.csr_array(X), (0.0, None))


def test_bounds_for_functions_with_a_zero_diagonal():
    """The diagonal says nothing about the size of entries unless a kernel is positive semi-definite."""
    distance = Pairwise(lambda x, y: float(np.linalg.norm(x - y)))
    for kernel in (distance, distance * RBF(0.25), 2 * distance):
        prepared = kernel.prepare(CLOUD)
        K = np.empty(prepared.shape)
        prepared.fill(slice(None), slice(None), K)
        assert prepared.entry_error() >= 16 * 2.0**-53 * np.abs(K).max()
        assert prepared.matrix_error(np.ones(9)) >= 16 * 2.0**-53 * np.linalg.norm(K, 2)
        other = prepared.against(CLOUD[:4] + 100)
        other.fill(slice(None), slice(None), K[:4])
        assert other.entry_error() >= 16 * 2.0**-53 * np.abs(K[:4]).max()


def stretched(rows):
    """Rows close to one direction, of different lengths."""
    direction = np.array([3.0, -1.0, 2.0, 0.5])
    return np.linspace(1, 50, len(rows))[:, None] * (direction + 1e-9 * rows)


FAR = {
    "offset 1e2": CLOUD + 1e2,
    "offset 1e6": CLOUD + 1e6,
    "offset 1e8, close": 1e-5 * CLOUD + 1e8,
    "both sides": np.vstack([CLOUD + 3.0, CLOUD[:3] - 3.0]),
    "stretched": stretched(CLOUD),
    "duplicates": np.repeat(CLOUD[:3] + 1e6, 3, axis=0),
    "zeros": np.vstack([CLOUD + 10, np.zeros((2, 4))]),
    "wide": rng.normal(size=(4, 530)) + 1e4,
    "one column": CLOUD[:, :1] + 1e5,
}
MOVABLE = [
    Linear(),
    Cosine(),
    Polynomial(1, 0.5, 1.0),
    Polynomial(2, 0.25, 0.0),
    Polynomial(3, 0.25, 1.0),
    Polynomial(6, 1e-3, 2.0),
]


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("kernel", MOVABLE, ids=str)
def test_bounds_hold_for_kernels_that_are_moved_to_the_mean(kernel, name):
    X = FAR[name]
    moved = kernel.with_origin(X.mean(axis=0))
    assert moved.psd
    check_bounds(moved, X, (0.0,))


@pytest.mark.parametrize("kernel", MOVABLE, ids=str)
def test_moved_kernels_keep_the_digits_of_rows_far_from_zero(kernel):
    """Errors relative to what centering leaves, which are 1e16 times smaller than k."""
    X = 1e-3 * CLOUD + 1e5 * np.array([1.0, -2.0, 0.5, 3.0])
    moved = kernel.with_origin(X.mean(axis=0))
    values = exact_matrix(moved, X, X)
    largest = max(float(abs(value)) for row in values for value in row)
    assert errors(moved(X, X), values, 0.0).max() <= 1e-14 * largest
    assert moved.prepare(X).entry_error() <= 1e-12 * largest
    assert errors(kernel(X, X) - kernel(X, X[:1]) - kernel(X[:1], X) + kernel(X[:1], X[:1]), values, 0.0).max() > (
        1e-10 * largest
    )


FLAT = [Matern(1.5, 1e6), Matern(2.5, 1e6), 2 * RBF(1e-9), RBF(1e-9) + 0.5 * Matern(1.5, 1e6), RBF(1e-9) * RBF(2e-9)]


@pytest.mark.parametrize("kernel", FLAT, ids=str)
def test_bounds_for_flat_kernels_are_relative_to_the_distance(kernel):
    """k − 1 of 1e-12 is known to some digits, as the bounds show."""
    check_bounds(kernel, CLOUD, (None,))
    prepared = kernel.prepare(CLOUD, shift=None)
    assert prepared.shift == kernel.max_value
    assert prepared.entry_error() < 1e-19
    assert prepared.matrix_error(np.ones(9), np.full(9, -1e-11), np.zeros((9, 1))) < 1e-18


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_bounds_include_underflow_at_a_kink(form):
    """Squared distances of 1e-400 are zero, but k − 1 is −√3e-200 to a good approximation."""
    kernel, X = Matern(0.5, 1.0), np.array([[1e-200, 0.0], [0.0, 1e-200]])
    with mpmath.workdps(450):
        values = exact_matrix(kernel, X, X)
        prepared = kernel.prepare(form(X), shift=1.0)
        K = np.empty((2, 2))
        prepared.fill(slice(None), slice(None), K)
        wrong = errors(K, values, 1.0)
    assert 0 < wrong.max() <= prepared.entry_error()
    assert np.linalg.norm(wrong, 2) <= prepared.matrix_error(np.ones(2), K.sum(axis=1)) < 1e-70


@pytest.mark.parametrize(
    "kernel", [RBF(0.25), RBF(0.25) * Cosine(), 2 * Matern(0.5), MinMax(), Laplacian(1.0)], ids=str
)
def test_bounds_of_other_rows_are_their_own(kernel):
    prepared = kernel.prepare(np.abs(CLOUD))
    before = prepared.entry_error(), prepared.left_magnitudes.shape
    other = prepared.against(np.abs(np.vstack([CLOUD, 30 * CLOUD])))
    assert other.left_magnitudes.shape == (18,)
    assert (prepared.entry_error(), prepared.left_magnitudes.shape) == before


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize("kernel", MOVABLE, ids=str)
def test_features_of_moved_kernels_are_exact(kernel, name):
    X = FAR[name]
    moved = kernel.with_origin(X.mean(axis=0))
    features = moved.feature_map(X)
    if features is None or features.n_features > 5000:
        assert kernel.degree > 3 or X.shape[1] > 100
        return
    Phi = features.transform(X)
    assert Phi.shape == (len(X), features.n_features)
    K = moved(X, X)
    assert np.abs(Phi @ Phi.T - K).max() <= 1e-13 * np.abs(np.diag(K)).max()


def test_kernels_without_a_formula_are_not_moved():
    origin = np.ones(4)
    for kernel in (RBF(0.1), Sigmoid(0.1), Polynomial(2.5, 1.0), Polynomial(2, 1.0, -1.0), Cosine() * Linear()):
        assert kernel.with_origin(origin) is kernel
    assert Cosine().with_origin(np.zeros(4)) == Cosine()
    assert isinstance((2 * Linear() + RBF(1.0)).with_origin(origin).left.kernel, MovedRows)


def test_the_origin_is_the_mean_of_rows_that_are_far_from_zero():
    far = CLOUD + 1e3
    assert np.array_equal(choose_origin(Linear() + RBF(1.0), far), far.mean(axis=0))
    assert np.array_equal(choose_origin(Linear(), np.full((3, 2), 7.0)), [7.0, 7.0])
    for kernel, X in (
        (Linear(), CLOUD),
        (RBF(1.0), far),
        (Linear(), sparse.csr_array(far)),
        (Linear(), 1e300 * far),
        (Linear(), np.zeros((3, 2))),
    ):
        assert choose_origin(kernel, X) is None


def test_bounds_hold_for_long_sums_of_equal_numbers():
    """Sums of the smaller and of the larger numbers err by many units, each in its own direction."""
    check_bounds(MinMax(), np.outer([0.1, 0.3, 0.7, 1.1, 1.3], np.ones(3000)), (0.0, 1.0))


def test_bounds_of_roots_of_products_that_cancel():
    """1 + 2⁻⁵⁴ − 1 is 0 or 2⁻⁵⁴, depending on the order, and its root is 0 or 2⁻²⁷."""
    kernel, small, wrong = Polynomial(0.5, 1.0, 0.0), 2.0**-27, []
    for order in ([0, 1, 2], [1, 0, 2], [0, 2, 1]):
        X = np.array([[1.0, small, 1.0], [1.0, small, -1.0]])[:, order]
        prepared = kernel.prepare(X)
        K = np.empty((2, 2))
        prepared.fill(slice(None), slice(None), K)
        wrong.append(abs(K[0, 1] - small))
        assert wrong[-1] <= prepared.entry_error()
    assert max(wrong) > 0.9 * small


TWO_CLUSTERS = np.vstack([CLOUD[:5] / 8 + 28, CLOUD[5:] / 8 - 28])  # near rows whose exponents cancel


@pytest.mark.parametrize("kernel", [RBF(0.25), Matern(1.5, 3.5), RBF(0.25) * Cosine(), 5 * RBF(0.25)], ids=str)
def test_bounds_are_those_of_exponents_that_cancel(kernel):
    values = check_bounds(kernel, TWO_CLUSTERS, (0.0,))
    prepared = kernel.prepare(TWO_CLUSTERS)
    K = np.empty(prepared.shape)
    prepared.fill(slice(None), slice(None), K)
    assert errors(K, values, 0.0).max() > 64 * np.finfo(float).eps  # far more than the profile alone loses
