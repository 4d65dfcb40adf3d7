"""The attack's own arithmetic and truths, against mpmath and against each other."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attack.kernels import kernel_matrix
from attack.precise import DD, expm1, log1p, sqrt, tanh
from attack.truth import copied, eigenpairs, kernel_truth, linear_truth, turned
from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    ChiSquared,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    Tanimoto,
)

SMALL = 1e-29


def exact(x):
    """A double-double array as mpmath's numbers."""
    return mpmath.matrix(x.hi.tolist()) + mpmath.matrix(x.lo.tolist())


def off(x, expected):
    """The largest difference to what mpmath says, relative to its largest entry."""
    return float(mpmath.mnorm(exact(x) - expected, mpmath.inf) / mpmath.mnorm(expected, mpmath.inf))


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


# ---------------------------------------------------------------------- arithmetic


@given(st.integers(0, 10**6))
def test_sums_products_quotients_and_roots_have_106_bits(seed):
    rng = np.random.default_rng(seed)
    a = DD(rng.normal(size=(3, 4)) * 10.0 ** rng.integers(-8, 8), rng.normal(size=(3, 4)) * 1e-26)
    b = DD(rng.uniform(0.5, 2, size=(3, 4)) * 10.0 ** rng.integers(-8, 8), rng.normal(size=(3, 4)) * 1e-26)
    with mpmath.workdps(60):
        A, B = exact(a), exact(b)

        def each(f):
            return mpmath.matrix([[f(A[i, j], B[i, j]) for j in range(4)] for i in range(3)])

        assert off(a + b, A + B) < SMALL
        assert off(a - b, A - B) < SMALL
        assert off(a * b, each(lambda x, y: x * y)) < SMALL
        assert off(a / b, each(lambda x, y: x / y)) < SMALL
        assert off(sqrt(b), each(lambda x, y: mpmath.sqrt(y))) < SMALL


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 30.0])
@pytest.mark.parametrize(("ours", "theirs"), [(expm1, mpmath.expm1), (tanh, mpmath.tanh)])
def test_functions_agree_with_mpmath_also_where_they_nearly_vanish(
    ours,
    theirs,
    size,
):
    x = DD(np.random.default_rng(0).normal(size=(1, 40)) * size)
    found = ours(x)
    for i in range(40):
        expected = theirs(mpmath.mpf(float(x.hi[0, i])))
        assert abs(exact(found)[0, i] / expected - 1) < SMALL


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e4, 1e12])
def test_the_logarithm_agrees_with_mpmath_also_where_it_nearly_vanishes(size):
    x = DD(np.abs(np.random.default_rng(0).normal(size=(1, 40))) * size)
    found = exact(log1p(x))
    for i in range(40):
        assert abs(found[0, i] / mpmath.log1p(mpmath.mpf(float(x.hi[0, i]))) - 1) < SMALL


def test_a_product_of_matrices_has_106_bits_whatever_the_sizes_of_its_rows():
    rng = np.random.default_rng(0)
    A = DD(rng.normal(size=(5, 40)) * 10.0 ** np.arange(-6, 4, 2)[:, None], rng.normal(size=(5, 40)) * 1e-24)
    B = DD(rng.normal(size=(40, 3)))
    product, expected = exact(A @ B), exact(A) * exact(B)
    scale = np.abs(A.hi) @ np.abs(B.hi)
    assert all(abs(product[i, j] - expected[i, j]) < SMALL * scale[i, j] for i in range(5) for j in range(3))


# ---------------------------------------------------------------------- truths


@pytest.mark.parametrize("gap", [1.0, 1e-9, 1e-15, 1e-20])
def test_eigenpairs_are_those_of_mpmath_also_where_they_nearly_coincide(gap):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    A = DD(Q * np.array([3.0, 1, 1, 1, 1e-9, 0, -2])) @ DD(Q.T) + (DD(Q[:, :1]) @ DD(Q[:, :1].T)) * gap
    A = (A + A.T) * 0.5
    values, vectors, error = eigenpairs(A)
    expected = sorted(mpmath.eigsy(exact(A), eigvals_only=True), reverse=True)
    column = DD(values.hi[:, None], values.lo[:, None])
    assert max(abs(exact(column)[i] - expected[i]) for i in range(7)) < error < 1e-26
    assert off(vectors @ DD(np.diag(values.hi), np.diag(values.lo)) @ vectors.T, exact(A)) < 1e-27


def test_values_that_coincide_next_to_a_number_that_rounds_either_way_are_not_turned_apart():
    """1 + u ± 1e-30: float64 shows 1 and 1 + 2u, which are far more than 1e-23 from each other."""
    u = 2.0**-53
    diagonal, rest = DD(np.array([1 + 2 * u, 1.0]), np.array([1e-30 - u, u - 1e-30])), 1e-23
    off = np.array([[0.0, rest], [rest, 0.0]])
    Q = turned(diagonal, DD(np.diag(diagonal.hi), np.diag(diagonal.lo)) + off, off, rest)
    assert np.abs((Q.T @ Q).hi - np.eye(2)).max() < 1e-2


@pytest.mark.parametrize(
    ("kernel", "formula"),
    [
        (RBF(0.3), lambda x, y: mpmath.exp(-mpmath.mpf(0.3) * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))),
        (
            Laplacian(0.3),
            lambda x, y: mpmath.exp(-mpmath.mpf(0.3) * sum(abs(a - b) for a, b in zip(x, y, strict=True))),
        ),
        (Linear(), lambda x, y: mpmath.fdot(x, y)),
        (Polynomial(3, 0.7, 0.5), lambda x, y: (mpmath.mpf(0.7) * mpmath.fdot(x, y) + mpmath.mpf(0.5)) ** 3),
        (Cosine(), lambda x, y: mpmath.fdot(x, y) / mpmath.sqrt(mpmath.fdot(x, x) * mpmath.fdot(y, y))),
        (Sigmoid(0.2, 0.1), lambda x, y: mpmath.tanh(mpmath.mpf(0.2) * mpmath.fdot(x, y) + mpmath.mpf(0.1))),
        (Matern(1.5, 2.0), lambda x, y: matern(x, y, 3, lambda r: 1 + r)),
        (Matern(2.5, 2.0), lambda x, y: matern(x, y, 5, lambda r: 1 + r + r * r / 3)),
        (
            RationalQuadratic(0.7, 2.0),
            lambda x, y: (1 + over(x, y, lambda a, b: (a - b) ** 2) / (8 * mpmath.mpf(0.7))) ** -mpmath.mpf(0.7),
        ),
        (ChiSquared(0.3), lambda x, y: mpmath.exp(-mpmath.mpf(0.3) * over(x, y, lambda a, b: (a - b) ** 2 / (a + b)))),
        (AdditiveChiSquared(), lambda x, y: over(x, y, lambda a, b: 2 * a * b / (a + b))),
        (HistogramIntersection(), lambda x, y: over(x, y, min)),
        (MinMax(), lambda x, y: over(x, y, min) / over(x, y, max)),
        (Tanimoto(), lambda x, y: mpmath.fdot(x, y) / (over(x, y, lambda a, b: a * a + b * b - a * b))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kernels_and_their_centred_spectra_are_those_of_mpmath(kernel, formula):
    X = np.abs(np.random.default_rng(1).normal(size=(6, 3)) + 2)
    rows = [[mpmath.mpf(float(a)) for a in x] for x in X]
    K = mpmath.matrix([[formula(x, y) for y in rows] for x in rows])
    J = mpmath.eye(6) - mpmath.ones(6) / 6
    expected = sorted(mpmath.eigsy(J * K * J, eigvals_only=True), reverse=True)
    truth = kernel_truth(*kernel_matrix(kernel, X))
    found = exact(DD(truth.values.hi[:, None], truth.values.lo[:, None]))
    assert max(abs(found[i] - expected[i]) for i in range(6)) <= truth.error <= 1e-22 * truth.norm


def over(x, y, term):
    return sum(term(a, b) for a, b in zip(x, y, strict=True))


def matern(x, y, twice_nu, polynomial):
    r = mpmath.sqrt(twice_nu * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))) / 2
    return polynomial(r) * mpmath.exp(-r)


def test_the_truth_about_copies_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    few, groups = rng.normal(size=(4, 2)), np.array([0, 1, 2, 3, 1, 1, 0])
    short = copied(kernel_truth(*kernel_matrix(RBF(0.5), few), np.bincount(groups).astype(float)), groups)
    long = kernel_truth(*kernel_matrix(RBF(0.5), few[groups]))
    assert np.allclose(short.padded.hi * 2.0**-short.exponent, long.padded.hi, atol=1e-15)
    V, W = short.vectors.hi[:, :3], long.vectors.hi[:, :3]
    assert np.allclose(V @ V.T, W @ W.T, atol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_the_truth_about_rows_does_not_mind_their_mean(offset):
    X = np.random.default_rng(0).integers(-100, 100, size=(20, 3)).astype(float)
    a, b = linear_truth(X), linear_truth(X + offset)
    difference = a.values.scaled(-a.exponent) - b.values.scaled(-b.exponent)
    assert np.abs(difference.hi).max() < 1e-25 * a.norm * 2.0**-a.exponent
