"""PCA against spectra in fifty digits: no way loses more than it says."""

from functools import cache

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import decomposition

from mercer import PCA
from mercer_old.certificates.residuals import certify
from mercer_old.operators.products import FAR_MEAN
from mercer_old.solvers.base import Eigenpairs
from support.linear import BY_SQUARES, SOLVERS, WITHOUT_SQUARES, U, rows_with_spectrum
from support.silence import quiet

SHAPES = [(12, 5), (30, 4)]
WIDE_RANGES = {
    "geometric": lambda d: np.logspace(0, -9, d),
    "one small": lambda d: np.append(np.linspace(2, 1, d - 1), 1e-9),
    "one large": lambda d: np.append(1.0, np.linspace(2e-6, 1e-6, d - 1)),
    "three digits": lambda d: np.logspace(0, -3, d),
}
WHERE = [0.0, 1e2, 1e4, 1e6, 1e8]


@cache
def golden(shape, name, offset):
    """Data, and the eigenvalues and axes of their scatter matrix: of the data as they are stored, nothing rounded."""
    n, d = shape
    X = rows_with_spectrum(n, d, WIDE_RANGES[name](d)) + offset
    with mpmath.workdps(50):
        exact = mpmath.matrix(X.tolist())
        means = [mpmath.fsum(exact[:, j]) / n for j in range(d)]
        moved = mpmath.matrix(n, d)
        for i in range(n):
            for j in range(d):
                moved[i, j] = exact[i, j] - means[j]
        values, vectors = mpmath.eigsy(moved.T * moved)
        order = sorted(range(d), key=lambda i: -values[i])
        return X, [values[i] for i in order], [vectors[:, i] for i in order]


def on_golden_rows(solvers):
    """A test of all of them, wherever the rows lie, by every one of these solvers; what they tell is told elsewhere."""

    def of(test):
        for name, values in (("offset", WHERE), ("name", WIDE_RANGES), ("solver", solvers)):
            test = pytest.mark.parametrize(name, values)(test)
        return quiet(test)

    return of


def far(found, true):
    """|found − true| of numbers in 50 digits."""
    with mpmath.workdps(50):
        return np.array([float(abs(mpmath.mpf(f) - t)) for f, t in zip(found.tolist(), true, strict=True)])


@on_golden_rows([*WITHOUT_SQUARES, "auto"])
def test_singular_values_keep_their_digits_where_nothing_is_squared(offset, name, solver):
    for shape in SHAPES:
        X, values, _ = golden(shape, name, offset)
        model = PCA(svd_solver=solver).fit(X)
        with mpmath.workdps(50):
            sigma = [mpmath.sqrt(value) for value in values]
        assert far(model.singular_values_, sigma).max() <= 30 * U * float(sigma[0])
        assert far(np.sqrt((len(X) - 1) * model.explained_variance_), sigma).max() <= 30 * U * float(sigma[0])


@on_golden_rows(BY_SQUARES)
def test_squares_cost_no_more_than_rounding_of_the_largest_variance(offset, name, solver):
    for shape in SHAPES:
        X, values, _ = golden(shape, name, offset)
        model = PCA(svd_solver=solver).fit(X)
        scale = float(values[0])
        if solver == "krylov":  # moves rows to their mean only if that is FAR_MEAN off
            scale += min(X.size * offset**2, FAR_MEAN * float(sum(values)))
        found = (len(X) - 1) * model.explained_variance_
        assert far(found, values).max() <= 100 * np.sqrt(len(X)) * U * scale
        if solver != "krylov":  # goes over to a way without squares where they leave too little
            there = found > 0
            assert np.all(far(found, values)[there] <= 1e-6 * np.array(values, dtype=float)[there])


@on_golden_rows(SOLVERS)
def test_certificates_hold_in_fifty_digits(offset, name, solver):
    for shape in SHAPES:
        X, values, vectors = golden(shape, name, offset)
        model = PCA(svd_solver=solver).fit(X)
        certificate = model.certificate_
        assert all(low <= value for low, value in zip(certificate.lower.tolist(), values, strict=True))
        assert all(value <= high for value, high in zip(values, certificate.upper.tolist(), strict=True))
        for axis, vector, most in zip(model.components_.tolist(), vectors, certificate.angles.tolist(), strict=True):
            with mpmath.workdps(50):
                axis = mpmath.matrix(axis) / mpmath.norm(mpmath.matrix(axis))
                sine = mpmath.norm(axis - vector * mpmath.fdot(axis, vector))
            assert sine <= most * (1 + 1e-6) + 8 * U  # the last is the rounding of the axis as it is stored


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 2, 3])
@quiet
def test_what_was_dropped_is_below_the_bound_in_fifty_digits(shape, k, solver):
    for name in WIDE_RANGES:
        X, values, _ = golden(shape, name, 0.0)
        certificate = PCA(k, svd_solver=solver).fit(X).certificate_
        assert values[k] <= certificate.bound_beyond
        assert all(low <= value for low, value in zip(certificate.lower.tolist(), values, strict=False))
        assert all(value <= high for value, high in zip(values, certificate.upper.tolist(), strict=False))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", WIDE_RANGES)
@quiet
def test_what_is_certified_meets_the_rule_that_is_printed(name, solver):
    for shape in SHAPES:
        certificate = PCA(svd_solver=solver).fit(golden(shape, name, 0.0)[0]).certificate_
        assert not certificate.certified or np.all(certificate.relative_residuals <= certificate.tol)


@pytest.mark.parametrize("solver", WITHOUT_SQUARES)
@pytest.mark.parametrize("shape", SHAPES)
def test_noise_is_known_as_well_as_the_variances_that_make_it_up(shape, solver):
    X, values, _ = golden(shape, "one small", 0.0)
    n, d = shape
    model = PCA(d - 1, svd_solver=solver).fit(X)
    expected = float(values[-1]) / (n - 1)
    theirs = decomposition.PCA(d - 1, svd_solver="full").fit(X)
    assert_allclose(theirs.noise_variance_, expected, rtol=1e-5)
    assert_allclose(model.noise_variance_, expected, rtol=1e-5)
    assert_allclose(model.reconstruction_error_, (n - 1) / n * expected, rtol=1e-5)


def test_squared_intervals_are_those_of_the_squares():
    sigma = np.array([3.0, 1.0, 1e-9])
    pairs = Eigenpairs(sigma, np.eye(6)[:, :3], np.zeros(3), np.eye(6)[:, :3] * sigma, size=3.0, complete=True)
    plain = certify(pairs, tol=1e-8, bound=0.0, level="")
    squared = plain.squared()
    assert_allclose(squared.lower, np.maximum(plain.lower, 0) ** 2)
    assert_allclose(squared.upper, plain.upper**2)
    assert np.all(squared.lower <= sigma**2)
    assert np.all(sigma**2 <= squared.upper)
    assert squared.angles is plain.angles
