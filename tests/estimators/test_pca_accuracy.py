"""Accuracy of PCA: exact arithmetic, large offsets, extreme magnitudes, published values."""

import warnings
from functools import cache

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import datasets

from mercer.datasets import us_arrests
from mercer.errors import DataError, MercerWarning
from mercer.estimators import PCA, _linear_solve
from mercer.numerics.rounding import SHORT, chain, gamma
from support.long_double import centred, holds, scatter_values, singular_values

SOLVERS = ["auto", "full", "qr", "covariance_eigh", "gram", "krylov"]
WITHOUT_SQUARES = ["auto", "full", "qr"]
U, U32 = 2.0**-53, 2.0**-24
quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")


def rows_with_spectrum(n, d, sigma, seed=0):
    """Rows around zero whose singular values are these, to rounding."""
    rng, k = np.random.default_rng(seed), min(n - 1, d)
    A = rng.normal(size=(n, k))
    left, right = np.linalg.qr(A - A.mean(axis=0))[0], np.linalg.qr(rng.normal(size=(d, k)))[0]
    return left * np.asarray(sigma)[:k] @ right.T


# ---------------------------------------------------------------------- fifty digits


SPECTRA = {
    "geometric": np.logspace(0, -9, 4),
    "one small": np.array([2, 1.5, 1, 1e-9]),
    "one large": np.array([1.0, 2e-6, 1.5e-6, 1e-6]),
}
# Pairs of factors: every spectrum with every offset, every solver with every spectrum and offset.
CASES = [(name, offset) for name in SPECTRA for offset in (0.0, 1e4, 1e8)]


@cache
def golden(name, offset):
    """Rows, and eigenvalues and axes of their scatter matrix as they are stored."""
    n, d = 30, 4
    X = rows_with_spectrum(n, d, SPECTRA[name]) + offset
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


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("name", "offset"), CASES)
@quiet
def test_certificates_hold_in_fifty_digits(name, offset, solver):
    X, values, vectors = golden(name, offset)
    model = PCA(svd_solver=solver).fit(X)
    certificate = model.certificate_
    assert all(low <= value for low, value in zip(certificate.lower.tolist(), values, strict=True))
    assert all(value <= high for value, high in zip(values, certificate.upper.tolist(), strict=True))
    for axis, vector, most in zip(model.components_.tolist(), vectors, certificate.angles.tolist(), strict=True):
        with mpmath.workdps(50):
            axis = mpmath.matrix(axis) / mpmath.norm(mpmath.matrix(axis))
            sine = mpmath.norm(axis - vector * mpmath.fdot(axis, vector))
        assert sine <= most * (1 + 1e-6)


@pytest.mark.parametrize("solver", WITHOUT_SQUARES)
@pytest.mark.parametrize(("name", "offset"), CASES)
@quiet
def test_singular_values_keep_their_digits(name, offset, solver):
    X, values, _ = golden(name, offset)
    sigma = [mpmath.sqrt(value) for value in values]
    for found, true in zip(PCA(svd_solver=solver).fit(X).singular_values_.tolist(), sigma, strict=True):
        assert abs(found - true) <= 30 * U * sigma[0]


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_what_was_left_out_is_below_the_bound(solver):
    for name in SPECTRA:
        X, values, _ = golden(name, 0.0)
        for k in (1, 2, 3):
            assert values[k] <= PCA(k, svd_solver=solver).fit(X).certificate_.bound_beyond


@pytest.mark.parametrize("solver", WITHOUT_SQUARES)
def test_the_noise_is_known_as_well_as_the_variances_that_make_it_up(solver):
    X, values, _ = golden("one small", 0.0)
    model = PCA(3, svd_solver=solver).fit(X)
    assert_allclose(model.noise_variance_, float(values[-1]) / 29, rtol=1e-5)
    assert_allclose(model.reconstruction_error_, float(values[-1]) / 30, rtol=1e-5)


def test_axes_of_wide_rows_have_the_residuals_that_are_certified():
    """Axes Xᵀu/√λ are orthogonal and precise for small variances too, and leave those of large ones alone."""
    X = rows_with_spectrum(12, 260, np.sqrt(np.append([1.0, 0.3, 3e-6, 2.3e-7], np.zeros(7))))
    model = PCA(4).fit(X)
    assert model.plan_.route == "gram" and model.certificate_.certified
    assert model.certificate_.relative_residuals.max() <= model.certificate_.tol
    Y, V = centred(X), model.components_.astype(np.longdouble).T
    values = (Y @ V).T @ (Y @ V)
    residuals = np.linalg.norm((Y.T @ (Y @ V) - V * np.diag(values)).astype(float), axis=0)
    assert np.all(residuals <= 1e-8 * np.diag(values))
    assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-14)
    assert_allclose(np.abs(PCA(4, svd_solver="full").fit(X).components_ @ V.astype(float)), np.eye(4), atol=1e-11)


@pytest.mark.parametrize("standardize", [False, True])
def test_intervals_hold_for_the_worst_rounding_of_products(standardize, monkeypatch):
    """Products whose errors have the size and the signs that hurt most, as far as theory allows."""

    def worst(A, B, short=SHORT):
        product, error = A @ B, gamma(chain(len(B), short))
        return product * (1 - error * (1 - 2 * np.eye(len(product))))

    X = np.random.default_rng(0).normal(size=(2000, 1)) * np.ones(20)
    true = 1999.0 * 20 if standardize else scatter_values(X)[0]
    monkeypatch.setattr(_linear_solve, "matmul", worst)
    model = PCA(1, standardize=standardize).fit(X)
    assert model.plan_.route == "scatter"
    assert model.certificate_.lower[0] <= true <= model.certificate_.upper[0]
    assert abs(model._eigenvalues[0] - true) >= 50 * U * true


def test_standardized_rows_have_the_errors_of_their_deviations():
    X = np.random.default_rng(0).normal(size=(500, 100))
    certificate = PCA(2, svd_solver="full", standardize=True).fit(X).certificate_
    assert certificate.error >= gamma(500) / 2 * np.sqrt(499.0 * 100)


# ---------------------------------------------------------------------- any matrix, in long double


@cache
def any_matrix(seed, standardize=False):
    """Tall or wide rows of any scale and spectrum, far from zero; weights for every third; their eigenvalues."""
    rng = np.random.default_rng(seed)
    n, d = (int(rng.integers(10, 60)), int(rng.integers(2, 9))) if seed % 2 else (int(rng.integers(3, 9)), 20)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-5, 1, size=d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = 10.0 ** rng.integers(-3, 4) * (X + 10.0 ** rng.integers(-2, 6) * rng.normal(size=d))
    weights = None if seed % 3 else rng.integers(1, 4, n)
    k = min(n, d) if seed % 4 == 0 else int(rng.integers(1, min(n, d) + 1))
    C = centred(X, weights)
    degrees = (n if weights is None else weights.sum()) - 1
    deviations = np.sqrt(np.sum(C**2, axis=0) / degrees) if standardize else 1.0
    return X, weights, k, singular_values(C / deviations) ** 2


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_any_matrix_hold(solver, standardize):
    wrong = []
    for seed in range(24):
        X, weights, k, values = any_matrix(seed, standardize)
        model = PCA(k, svd_solver=solver, standardize=standardize).fit(X, sample_weight=weights)
        if not holds(model.certificate_, values):
            wrong.append(seed)
    assert wrong == []


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_published_values_lie_in_their_intervals(solver, dtype):
    for seed, mean in enumerate([0.0, 10.0, 1e3]):
        X = (np.random.default_rng(seed).normal(size=(60, 5)) * [6, 5, 3, 2, 1] + mean).astype(dtype)
        model = PCA(4, svd_solver=solver).fit(X)
        certificate = model.certificate_
        assert holds(certificate, scatter_values(X)) and certificate.certified
        for found in (model.explained_variance_.astype(float) * 59, model.singular_values_.astype(float) ** 2):
            assert np.all(certificate.lower <= found) and np.all(found <= certificate.upper)
        spectrum = model.spectrum()
        ratio = model.explained_variance_ratio_.astype(float)
        assert np.all(spectrum.ratio_lower <= ratio) and np.all(ratio <= spectrum.ratio_upper)


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_equivalent_routes_give_consistent_proofs(solver):
    X = rows_with_spectrum(80, 5, [5, 4, 3, 2, 1]) + 7.0
    one, other = PCA(3).fit(X).certificate_, PCA(3, svd_solver=solver).fit(X).certificate_
    assert one.certified and other.certified
    assert np.all(np.maximum(one.lower, other.lower) <= np.minimum(one.upper, other.upper))
    assert one.n_complete == other.n_complete == 3


# ---------------------------------------------------------------------- offsets


STEP = 8.0  # multiples of it can be added to 1e8 without rounding, in float32 too


@cache
def steps(n, d):
    rng = np.random.default_rng(n)
    X = STEP * np.round(rng.normal(size=(n, d)) * np.geomspace(60, 6, d) @ np.linalg.qr(rng.normal(size=(d, d)))[0])
    return X, scatter_values(X)


@pytest.mark.parametrize(
    ("shape", "solver"),
    [
        *(((600, 4), solver) for solver in SOLVERS),
        *(((9, 30), solver) for solver in SOLVERS),
        *(((6000, 30), solver) for solver in SOLVERS if solver != "gram"),
    ],
)
@pytest.mark.parametrize(
    ("dtype", "offset"), [(np.float64, 0.0), (np.float64, 1e8), (np.float64, 1e12), (np.float32, 1e8)]
)
@quiet
def test_variances_do_not_depend_on_the_offset(shape, dtype, offset, solver):
    X, values = steps(*shape)
    moved = (X + offset).astype(dtype)
    k = min(shape) - 1
    model = PCA(k, svd_solver=solver).fit(moved)
    rtol = 1e-10 if dtype is np.float64 else 8 * U32
    assert_allclose(model.explained_variance_, values[:k].astype(float) / (shape[0] - 1), rtol=rtol)
    assert holds(model.certificate_, values)
    scores = centred(X).astype(float) @ model.components_.T
    rounding = np.abs(scores).max() * (1e-6 if dtype is np.float32 else 1e-10) + 8 * U * offset  # that of the mean
    assert_allclose(model.transform(moved), scores, atol=rounding)


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "krylov"])
@pytest.mark.parametrize("mean", [0.0, 100.0, 1e6])
@quiet
def test_sparse_rows_are_right_wherever_they_are(mean, solver):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) * [6, 5, 3, 2, 1] + mean)
    model = PCA(4, svd_solver=solver).fit(X)
    values = scatter_values(X)
    assert holds(model.certificate_, values)
    rounding = 64 * U * (float(values.sum()) + 5 * 300 * mean**2) / 299  # not centered: zeros stay zeros
    assert_allclose(model.explained_variance_, values[:4].astype(float) / 299, rtol=1e-12, atol=rounding)


# ---------------------------------------------------------------------- digits that squares lose


def test_variances_that_squares_hide_are_found_without_them():
    X = rows_with_spectrum(6000, 6, np.logspace(0, -6, 6))
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    model = PCA().fit(X, sample_weight=np.ones(6000))
    assert model.plan_.route == "qr" and "digits" in model.plan_.reason
    assert_allclose(model.singular_values_, sigma, rtol=1e-8)
    assert PCA(3).fit(X, sample_weight=np.ones(6000)).plan_.route == "scatter"  # those have enough digits


def test_wide_rows_that_squares_would_spoil():
    X = rows_with_spectrum(40, 9000, np.append(np.logspace(0, -7, 8), np.zeros(31)))
    model = PCA(8).fit(X)
    assert model.plan_.route == "rows"
    assert_allclose(model.singular_values_, np.logspace(0, -7, 8), rtol=1e-6)


def test_sparse_rows_say_how_many_digits_are_left():
    X = sparse.csr_array(rows_with_spectrum(600, 6, np.logspace(0, -7, 6)))
    with pytest.warns(MercerWarning, match="correct digit. PCA of all rows"):
        PCA(5).fit(X)


# ---------------------------------------------------------------------- magnitudes


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("power", [-300, -162, -150, -81, 85, 150, 153])
def test_rows_of_any_magnitude(power, solver):
    X = rows_with_spectrum(40, 4, [4, 3, 2, 1], seed=9) + np.array([1.0, 0, 0, 3])
    unit = np.longdouble(10) ** power
    sigma = singular_values(centred((X * 10.0**power).astype(np.longdouble) / unit))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = PCA(3, svd_solver=solver).fit(X * 10.0**power)
    assert_allclose((model.singular_values_ / unit).astype(float), sigma[:3].astype(float), rtol=1e-11)
    assert_allclose(model.explained_variance_ratio_, (sigma[:3] ** 2 / np.sum(sigma**2)).astype(float), rtol=1e-11)
    certificate, true = model.certificate_, (sigma * unit) ** 2
    assert certificate.certified and np.all(certificate.lower <= true[:3]) and np.all(true[:3] <= certificate.upper)
    assert true[3] <= certificate.bound_beyond
    assert any("underflow" in str(warning.message) for warning in said) == (power < -154)
    scores = (model.transform(X * 10.0**power) / unit).astype(float)
    assert_allclose(np.linalg.norm(scores, axis=0), sigma[:3].astype(float), rtol=1e-11)


@pytest.mark.parametrize("power", [-170, 150])
@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_of_any_magnitude_are_standardized(power, solver):
    X, weights = rows_with_spectrum(40, 4, [4, 3, 2, 1], seed=9), np.arange(40) % 3 + 1.0
    scale = np.array([1.0, 10.0**power, 1.0, 1e10])
    expected = PCA(3, svd_solver=solver, standardize=True).fit(X, sample_weight=weights)
    model = PCA(3, svd_solver=solver, standardize=True).fit(X * scale, sample_weight=weights)
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-10)
    assert_allclose(model.scale_, expected.scale_ * scale, rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_single_precision_that_cannot_be_squared(solver, scale):
    X = (rows_with_spectrum(40, 4, [4, 3, 2, 1]) * scale).astype(np.float32)
    model = PCA(2, svd_solver=solver).fit(X)
    expected = np.sqrt(scatter_values(X.astype(float) / scale)[:2]).astype(float)
    assert_allclose(model.singular_values_ / scale, expected, rtol=1e-6)
    assert model.certificate_.certified


@pytest.mark.parametrize("size", [1e155, 1e200, 1.7e308])
def test_rows_that_no_unit_helps_are_rejected(size):
    X = size * np.random.default_rng(0).choice([-1.0, 1.0], size=(40, 3))
    for solver in SOLVERS:
        with pytest.raises(DataError, match="too large"):
            PCA(2, svd_solver=solver).fit(X)


# ---------------------------------------------------------------------- published values


@pytest.mark.parametrize("solver", SOLVERS)
def test_us_arrests(solver):
    """James et al., An Introduction to Statistical Learning, section 10.4 (R's prcomp)."""
    X, names = us_arrests()
    model = PCA(svd_solver=solver, standardize=True).fit(X)
    assert_allclose(np.sqrt(model.explained_variance_), [1.5749, 0.9949, 0.5971, 0.4164], atol=5e-5)
    assert names == ["Murder", "Assault", "UrbanPop", "Rape"]
    assert_allclose(np.abs(model.components_[0]), [0.5359, 0.5832, 0.2782, 0.5434], atol=5e-5)
    assert_allclose(model.explained_variance_ratio_, [0.620, 0.247, 0.089, 0.043], atol=5e-4)
    assert_allclose(model.scale_, [4.3555, 83.3377, 14.4748, 9.3664], atol=5e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_iris(solver):
    """R's prcomp(iris[, 1:4])."""
    model = PCA(svd_solver=solver).fit(datasets.load_iris().data)
    assert_allclose(model.explained_variance_, [4.22824171, 0.24267075, 0.0782095, 0.02383509], atol=5e-9)
    assert_allclose(np.abs(model.components_[0]), [0.36138659, 0.08452251, 0.85667061, 0.3582892], atol=5e-9)


def test_wine():
    """Coghlan, A Little Book of R for Multivariate Analysis."""
    model = PCA(standardize=True).fit(datasets.load_wine().data)
    expected = [2.169, 1.5802, 1.2025, 0.9586, 0.9237, 0.8010, 0.7423, 0.5903, 0.5375, 0.5009, 0.4752, 0.4108, 0.3215]
    assert_allclose(np.sqrt(model.explained_variance_), expected, atol=5e-4)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_covariance_of_float32_rows_that_float32_cannot_hold(scale):
    X = (np.random.default_rng(0).normal(size=(50, 4)) * scale).astype(np.float32)
    model, exact = PCA().fit(X), np.cov(X.astype(np.float64), rowvar=False)
    assert_allclose(model.get_covariance(), exact, rtol=1e-5, atol=1e-6 * np.abs(exact).max())
    assert_allclose(model.get_precision() @ exact, np.eye(4), atol=1e-5)
