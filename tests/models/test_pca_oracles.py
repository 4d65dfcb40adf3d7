"""PCA against what others know: 50 digits, LAPACK's own yardsticks, printed tables, scikit-learn, scipy and algebra."""

import warnings
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import pdist
from scipy.stats import multivariate_normal
from sklearn import datasets, decomposition
from sklearn.decomposition._pca import _assess_dimension

from mercer import PCA, IncrementalPCA
from mercer.certificates.residuals import certify
from mercer.datasets import us_arrests
from mercer.errors import BadData
from mercer.operators.products import FAR_MEAN
from mercer.readings.components import bic, components_for_share, minka_evidence
from mercer.solvers.base import Eigenpairs
from mercer.sources.held import HeldRows
from mercer.sweeps.lanes import origin_of, sweep_scatter
from mercer.sweeps.spread import Spread
from mercer.sweeps.square import Square
from mercer.sweeps.triangle import Triangle
from mercer.threads import one_blas_thread
from support.strategies import seeds, tall_tables

U = 2.0**-53  # what rounding a float64 costs
U32 = 2.0**-24
WITHOUT_SQUARES = ["full", "qr"]  # known to u·σ₁ in σ
BY_SQUARES = ["covariance_eigh", "gram", "krylov"]  # known to u·λ₁ in λ = σ²
SOLVERS = [*WITHOUT_SQUARES, *BY_SQUARES, "auto"]
SPARSE_SOLVERS = ["covariance_eigh", "krylov", "auto"]
OFFSETS = [0.0, 1e4, 1e6, 1e8]
DTYPES = [np.float64, np.float32]

quiet = pytest.mark.filterwarnings("ignore::mercer.errors.MercerWarning")  # what is tied has no direction of its own
few = settings(max_examples=20)
very_few = settings(max_examples=10)


@pytest.fixture(scope="module", autouse=True)
def small_matrices_on_one_thread():
    with one_blas_thread():
        yield


# ---------------------------------------------------------------------------- the oracles


def centred(X, weights=None):
    """√w(x − mean) in long double, moved twice: once is not enough for rows far from zero."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.longdouble)
    w = np.ones(len(X), dtype=np.longdouble) if weights is None else np.asarray(weights, dtype=np.longdouble)
    for _ in range(2):
        X = X - w @ X / w.sum()
    return np.sqrt(w)[:, None] * X


def singular_values(A):
    """By Hestenes' one-sided Jacobi rotations in long double: down to its rounding, to their own last digits."""
    A = np.array(A.T if A.shape[0] < A.shape[1] else A, dtype=np.longdouble)
    eps, (d, turned) = np.finfo(A.dtype).eps, (A.shape[1], True)
    nothing = (eps * np.sqrt(np.sum(A**2))) ** 2
    while turned:
        turned = False
        for p, q in zip(*np.triu_indices(d, 1), strict=True):
            a, b, c = A[:, p] @ A[:, p], A[:, q] @ A[:, q], A[:, p] @ A[:, q]
            if min(a, b) > nothing and abs(c) > 8 * eps * np.sqrt(a * b):
                turned, slope = True, (b - a) / (2 * c)
                t = np.copysign(1, slope) / (abs(slope) + np.hypot(1, slope))
                A[:, [p, q]] = A[:, [p, q]] @ (np.array([[1, t], [-t, 1]], dtype=A.dtype) / np.hypot(1, t))
    return np.sort(np.sqrt(np.sum(A**2, axis=0)))[::-1]


def scatter_values(X, weights=None):
    """All eigenvalues of Σw(x − mean)(x − mean)ᵀ, as far as there are rows and columns for them."""
    return singular_values(centred(X, weights)) ** 2


def holds(certificate, true):
    """Whether the true eigenvalues, all of them, lie where the certificate says."""
    k, slack = certificate.n_components, 64 * float(np.finfo(np.longdouble).eps) * true[0]
    inside = np.all(certificate.lower <= true[:k] + slack) and np.all(true[:k] <= certificate.upper + slack)
    return bool(inside and np.all(true[k:] <= certificate.bound_beyond + slack))


def same_axes(U, V, atol=1e-7):
    """Rows equal up to sign."""
    assert_allclose(np.abs(np.sum(U * V, axis=1)), 1, atol=atol)


def with_spectrum(n, d, sigma, seed=0):
    """Rows around zero whose singular values are these, to rounding."""
    rng, k = np.random.default_rng(seed), min(n - 1, d)
    A = rng.normal(size=(n, k))
    left, right = np.linalg.qr(A - A.mean(axis=0))[0], np.linalg.qr(rng.normal(size=(d, k)))[0]
    return left * np.asarray(sigma)[:k] @ right.T


# ---------------------------------------------------------------------------- golden spectra, in 50 digits


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
    X = with_spectrum(n, d, WIDE_RANGES[name](d)) + offset
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


def far(found, true):
    """|found − true| of numbers in 50 digits."""
    with mpmath.workdps(50):
        return np.array([float(abs(mpmath.mpf(f) - t)) for f, t in zip(found.tolist(), true, strict=True)])


@pytest.mark.parametrize("solver", [*WITHOUT_SQUARES, "auto"])
@pytest.mark.parametrize("name", WIDE_RANGES)
@pytest.mark.parametrize("offset", WHERE)
@quiet
def test_singular_values_keep_their_digits_where_nothing_is_squared(offset, name, solver):
    for shape in SHAPES:
        X, values, _ = golden(shape, name, offset)
        model = PCA(svd_solver=solver).fit(X)
        with mpmath.workdps(50):
            sigma = [mpmath.sqrt(value) for value in values]
        assert far(model.singular_values_, sigma).max() <= 30 * U * float(sigma[0])
        assert far(np.sqrt((len(X) - 1) * model.explained_variance_), sigma).max() <= 30 * U * float(sigma[0])


@pytest.mark.parametrize("solver", BY_SQUARES)
@pytest.mark.parametrize("name", WIDE_RANGES)
@pytest.mark.parametrize("offset", WHERE)
@quiet
def test_squares_cost_no_more_than_rounding_of_the_largest_variance(offset, name, solver):
    for shape in SHAPES:
        X, values, _ = golden(shape, name, offset)
        model = PCA(svd_solver=solver).fit(X)
        scale = float(values[0])
        if solver == "krylov":  # moves rows to their mean only if that is FAR off
            scale += min(X.size * offset**2, FAR_MEAN * float(sum(values)))
        found = (len(X) - 1) * model.explained_variance_
        assert far(found, values).max() <= 100 * np.sqrt(len(X)) * U * scale
        if solver != "krylov":  # goes over to a way without squares where they leave too little
            there = found > 0
            assert np.all(far(found, values)[there] <= 1e-6 * np.array(values, dtype=float)[there])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", WIDE_RANGES)
@pytest.mark.parametrize("offset", WHERE)
@quiet
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


# ---------------------------------------------------------------------------- offsets


STEP = 8.0  # multiples of it can be added to 1e8 without rounding, in float32 too


@cache
def steps(n, d):
    """Whole multiples of STEP, and what they scatter."""
    rng = np.random.default_rng(n)
    X = STEP * np.round(rng.normal(size=(n, d)) * np.geomspace(60, 6, d) @ np.linalg.qr(rng.normal(size=(d, d)))[0])
    return X, scatter_values(X)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("dtype", "offset"), [*((dtype, offset) for dtype in DTYPES for offset in OFFSETS), (np.float64, 1e12)]
)
@pytest.mark.parametrize("shape", [(600, 4), (9, 30)], ids=["tall", "wide"])
@quiet
def test_variances_do_not_see_the_offset(shape, dtype, offset, solver):
    X, values = steps(*shape)
    moved = (X + offset).astype(dtype)
    assert np.array_equal(moved.astype(float) - offset, X)  # nothing was rounded
    model = PCA(min(shape) - 1, svd_solver=solver).fit(moved)
    expected = (values[:-1] if shape[0] < shape[1] else values)[: model.n_components_] / (shape[0] - 1)
    if dtype is np.float64:
        assert_allclose(model.explained_variance_, expected.astype(float), rtol=1e-10)
    else:  # sums in float32 are known to its rounding of their total; all else to that of the answer
        sums = 16 * U32 * model.total_variance_ if model.plan_.held == "scatter" else 0.0
        assert_allclose(model.explained_variance_, expected.astype(float), rtol=8 * U32, atol=sums)
    assert holds(model.certificate_, values)
    assert_allclose(model.total_variance_, float(values.sum()) / (shape[0] - 1), rtol=16 * np.finfo(dtype).eps)
    assert_allclose(model.mean_, X.mean(axis=0) + offset, rtol=4 * np.finfo(dtype).eps, atol=1e-5)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_scores_do_not_see_the_offset(offset, solver):
    X, _ = steps(600, 4)
    C = centred(X).astype(float)
    model = PCA(svd_solver=solver).fit(X + offset)
    expected = C @ model.components_.T
    assert_allclose(model.transform(X + offset), expected, atol=8 * U * (offset + np.abs(C).max()))
    assert_allclose(model.inverse_transform(expected), X + offset, atol=16 * U * (offset + np.abs(C).max()))


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("batch", [7, 100, 600])
@pytest.mark.filterwarnings("ignore:Numbers of column")  # of float32 at 1e8: true, and the answer is exact
def test_batches_do_not_see_the_offset(batch, dtype, offset):
    X, values = steps(600, 4)
    model = IncrementalPCA(4)
    for start in range(0, 600, batch):
        model.partial_fit((X[start : start + batch] + offset).astype(dtype))
    rtol = 1e-10 if dtype is np.float64 else 8 * U32
    assert_allclose(model.explained_variance_, values.astype(float) / 599, rtol=rtol)
    assert_allclose(model.var_, np.var(X, axis=0), rtol=rtol)
    assert holds(model.certificate_, values)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("mean", [0.0, 10.0, 100.0, 1e3, 1e5])
@pytest.mark.parametrize("n", [40, 600])
@quiet
def test_certificates_of_single_precision_rows_hold(n, mean, solver):
    X = (np.random.default_rng(0).normal(size=(n, 5)) * [6, 5, 3, 2, 1] + mean).astype(np.float32)
    values = scatter_values(X)
    model = PCA(svd_solver=solver).fit(X)
    assert holds(model.certificate_, values)
    assert_allclose(model.explained_variance_, values.astype(float) / (n - 1), rtol=1e-6)


@pytest.mark.parametrize("solver", SPARSE_SOLVERS)
@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4, 1e6])
@quiet
def test_certificates_of_sparse_rows_hold_wherever_they_are(mean, solver):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) * [6, 5, 3, 2, 1] + mean)
    model = PCA(4, svd_solver=solver).fit(X)
    values = scatter_values(X)
    assert holds(model.certificate_, values)
    rounding = 32 * U * (float(values.sum()) + 5 * 300 * mean**2) / 299  # not moved: zeros have to stay zeros
    assert_allclose(model.explained_variance_, values[:4].astype(float) / 299, rtol=1e-12, atol=rounding)


@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4, 1e6])
@quiet
def test_certificates_of_sparse_batches_hold_wherever_they_are(mean):
    X = sparse.csr_array(np.random.default_rng(0).normal(size=(300, 5)) * [6, 5, 3, 2, 1] + mean)
    model = IncrementalPCA(4).partial_fit(X[:200]).partial_fit(X[200:])
    assert holds(model.certificate_, scatter_values(X))


# ---------------------------------------------------------------------------- LAPACK's yardsticks


LAPACK_SPECTRA = {
    "arithmetic": lambda m: 1 - np.arange(m) / m * (1 - 1e-3),
    "geometric": lambda m: np.geomspace(1, 1e-6, m),
    "clustered at the low end": lambda m: np.append(1.0, np.full(m - 1, 1e-3)),
    "clustered at the high end": lambda m: np.append(np.ones(m - 1), 1e-3),
    "pairs": lambda m: np.repeat(2.0 ** -np.arange(m), 2)[:m],
    "random logarithms": lambda m: np.sort(10 ** np.random.default_rng(3).uniform(-6, 0, m))[::-1],
    "graded": lambda m: 4.0 ** -np.arange(m),
    "flat": np.ones,
    "rank-deficient": lambda m: np.where(np.arange(m) < m // 2, np.linspace(1, 0.5, m), 0.0),
    "rank one": lambda m: np.append(1.0, np.zeros(m - 1)),
    "near underflow": lambda m: 1e-150 * np.linspace(1, 0.1, m),
    "near overflow": lambda m: 1e150 * np.linspace(1, 0.1, m),
}
LAPACK_MATRICES = {
    name: lambda n, d, make=make: with_spectrum(n, d, make(min(n - 1, d)), seed=5)
    for name, make in LAPACK_SPECTRA.items()
} | {
    "zero": lambda n, d: np.zeros((n, d)),
    "constant": lambda n, d: np.full((n, d), 3.7),
    "identity": lambda n, d: np.eye(n, d),
    "ones but for one": lambda n, d: np.ones((n, d)) + np.eye(1, n).T * np.eye(1, d),
    "rows three times": lambda n, d: np.random.default_rng(6).normal(size=(n, d))[np.arange(n) // 3],
    "columns twice": lambda n, d: np.random.default_rng(7).normal(size=(n, d))[:, np.arange(d) // 2],
    "graded columns": lambda n, d: np.random.default_rng(8).normal(size=(n, d)) * 10.0 ** -np.arange(d),
    "graded rows": lambda n, d: np.random.default_rng(8).normal(size=(n, d)) * 10.0 ** -np.arange(n)[:, None],
}


@cache
def lapack_case(kind, n, d):
    X = LAPACK_MATRICES[kind](n, d)
    return X, centred(X), scatter_values(X)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", LAPACK_MATRICES)
@quiet
def test_residuals_pass_as_in_lapacks_own_tests(kind, solver):
    for n, d in [(40, 10), (9, 25), (12, 12)]:
        X, C, spectrum = lapack_case(kind, n, d)
        model = PCA(svd_solver=solver).fit(X)
        size = np.abs(C).max() or np.longdouble(1)
        S = (C / size).T @ (C / size)
        V = model.components_.T.astype(np.longdouble)
        values = (n - 1) * model.explained_variance_.astype(np.longdouble) / size**2
        norm = np.sqrt(np.sum(S**2)) or 1.0
        most = 60 if solver == "krylov" else 30  # which stops once a residual is good enough
        assert np.sqrt(np.sum((S @ V - V * values) ** 2)) <= most * d * U * norm
        assert np.sqrt(np.sum((V.T @ V - np.eye(V.shape[1])) ** 2)) <= 30 * d * U
        assert np.all(np.diff(model.explained_variance_) <= 0)
        assert np.all(model.explained_variance_ >= 0)
        assert holds(model.certificate_, spectrum)


# ---------------------------------------------------------------------------- printed tables


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_components_of_the_us_arrests(solver):  # An Introduction to Statistical Learning, §10.4 (R's prcomp)
    X, names = us_arrests()
    model = PCA(svd_solver=solver, standardize=True).fit(X)
    assert_allclose(np.sqrt(model.explained_variance_), [1.5749, 0.9949, 0.5971, 0.4164], atol=5e-5)
    assert names == ["Murder", "Assault", "UrbanPop", "Rape"]
    assert_allclose(np.abs(model.components_[0]), [0.5359, 0.5832, 0.2782, 0.5434], atol=5e-5)
    assert_allclose(np.abs(model.components_[1]), [0.4182, 0.1880, 0.8728, 0.1673], atol=5e-5)
    assert_allclose(model.explained_variance_ratio_, [0.620, 0.247, 0.089, 0.043], atol=5e-4)
    assert_allclose(model.mean_, [7.788, 170.76, 65.54, 21.232], atol=5e-4)
    assert_allclose(model.scale_, [4.3555, 83.3377, 14.4748, 9.3664], atol=5e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_components_of_the_irises(solver):  # R's prcomp(iris[, 1:4])
    model = PCA(svd_solver=solver).fit(datasets.load_iris().data)
    assert_allclose(model.explained_variance_, [4.22824171, 0.24267075, 0.0782095, 0.02383509], atol=5e-9)
    assert_allclose(np.abs(model.components_[0]), [0.36138659, 0.08452251, 0.85667061, 0.3582892], atol=5e-9)
    assert_allclose(np.sqrt(model.explained_variance_), [2.0562689, 0.4926162, 0.2796596, 0.1543862], atol=5e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_deviations_of_the_wines(solver):  # Coghlan, A Little Book of R for Multivariate Analysis
    model = PCA(svd_solver=solver, standardize=True).fit(datasets.load_wine().data)
    deviations = [2.169, 1.5802, 1.2025, 0.9586, 0.9237, 0.8010, 0.7423, 0.5903, 0.5375, 0.5009, 0.4752, 0.4108, 0.3215]
    assert_allclose(np.sqrt(model.explained_variance_), deviations, atol=5e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_published_proportions_of_the_cancer_cells(solver):  # An Introduction to Statistical Learning, §10.6
    data = np.asarray(pytest.importorskip("ISLP").load_data("NCI60")["data"], dtype=float)
    model = PCA(5, svd_solver=solver, standardize=True).fit(data)
    assert_allclose(np.sqrt(model.explained_variance_), [27.853, 21.4814, 19.8205, 17.0326, 15.9718], atol=5e-4)
    assert_allclose(model.explained_variance_ratio_, [0.1136, 0.06756, 0.05752, 0.04248, 0.03735], atol=5e-5)


# ---------------------------------------------------------------------------- how many


@pytest.mark.parametrize("seed", range(20))
def test_evidence_is_that_of_scikit_learn_rank_by_rank(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(2, 15)), int(rng.integers(20, 5000))
    values = np.sort(rng.gamma(0.7, size=d) * 10.0 ** rng.integers(-2, 3) + 1e-3)[::-1]
    evidence = minka_evidence(values, n)
    assert evidence[0] == -np.inf
    assert_allclose(evidence[1:], [_assess_dimension(values, k, n) for k in range(1, d)], rtol=1e-8)


@given(seeds, st.integers(-12, 12))
@few
def test_another_unit_moves_all_evidence_by_the_same(seed, power):
    rng = np.random.default_rng(seed)
    values, factor, n = np.sort(rng.gamma(1.0, size=7) + 1e-3)[::-1], 10.0**power, 50
    moved = -n * 7 / 2 * np.log(factor)
    assert_allclose(minka_evidence(factor * values, n)[1:], minka_evidence(values, n)[1:] + moved, rtol=1e-9, atol=1e-6)
    assert_allclose(bic(factor * values, n), bic(values, n) - 2 * moved, rtol=1e-9, atol=1e-6)


def latent(seed, n, d):
    """A few strong directions, and noise."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, d))
    return rng.normal(size=(n, k)) * rng.uniform(1, 5, k) @ rng.normal(size=(k, d)) + rng.normal(size=(n, d))


@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "qr", "gram", "auto"])
@pytest.mark.parametrize("seed", range(5))
@quiet
def test_minkas_choice_is_that_of_scikit_learn(seed, solver):
    X = latent(seed, 60 + 40 * seed, 4 + 2 * seed)
    assert PCA("mle", svd_solver=solver).fit(X).n_components_ == decomposition.PCA("mle").fit(X).n_components_


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
@quiet
def test_the_number_for_a_share_is_that_of_scikit_learn(share, solver):
    for seed in range(3):
        X = latent(seed, 80, 10)
        theirs = decomposition.PCA(share, svd_solver="full").fit(X)
        assert PCA(share, svd_solver=solver).fit(X).n_components_ == theirs.n_components_
        every = decomposition.PCA(svd_solver="full").fit(X).explained_variance_
        assert components_for_share(every, every.sum(), share) == theirs.n_components_


def bic_by_likelihood(X, most, weights=None):
    """From the density of every row under the most likely x ~ N(mean, WWᵀ + σ²I) (Tipping and Bishop), k < most."""
    w = np.ones(len(X)) if weights is None else weights
    n, d = w.sum(), X.shape[1]
    C = centred(X, w).astype(float)
    values, V = np.linalg.eigh(C.T @ C / n)
    values, V = values[::-1], V[:, ::-1]
    criteria = []
    for k in range(most):
        noise = values[k:].mean()
        covariance = (V[:, :k] * (values[:k] - noise)) @ V[:, :k].T + noise * np.eye(d)
        likelihood = w @ multivariate_normal(np.average(X, axis=0, weights=w), covariance).logpdf(X)
        parameters = sum(d - i for i in range(k)) + 1 + d  # axes with their lengths, noise and mean
        criteria.append(-2 * likelihood + parameters * np.log(n))
    return np.array(criteria)


@pytest.mark.parametrize("seed", range(5))
def test_schwarzs_criterion_is_that_of_the_likelihood(seed):
    X = latent(seed, 60 + 40 * seed, 4 + seed)
    n, d = X.shape
    direct = bic_by_likelihood(X, d)
    assert_allclose(bic((scatter_values(X) / n).astype(float), n), direct, rtol=1e-10)
    assert PCA("bic").fit(X).n_components_ == np.argmin(direct)


@pytest.mark.parametrize("shape", [(40, 41), (60, 90), (60, 150)], ids=str)
@pytest.mark.parametrize("seed", [2, 3])
@quiet
def test_schwarzs_choice_for_wide_rows_is_that_of_the_likelihood(seed, shape):
    X = np.random.default_rng(seed).normal(size=shape)
    X[:, :5] *= [8, 6, 4, 2.5, 2]
    direct = bic_by_likelihood(X, min(shape) - 1)  # with one more, nothing is left for the noise
    assert PCA("bic").fit(X).n_components_ == np.argmin(direct)


@pytest.mark.parametrize("rule", ["mle", "bic"])
@pytest.mark.parametrize("seed", range(3))
@quiet
def test_choices_count_a_row_of_weight_two_twice(seed, rule):
    X, w = latent(seed, 30, 6), np.random.default_rng(seed).integers(1, 6, 30)
    every = np.repeat(X, w, axis=0)
    direct = {
        "mle": lambda: decomposition.PCA("mle").fit(every).n_components_,
        "bic": lambda: np.argmin(bic_by_likelihood(X, 6, w)),
    }
    assert PCA(rule).fit(every).n_components_ == direct[rule]()
    assert PCA(rule).fit(X, sample_weight=w).n_components_ == direct[rule]()


# ---------------------------------------------------------------------------- the normal distribution


TABLE = with_spectrum(200, 6, [70, 50, 40, 15, 13, 11], seed=2) * [1, 2, 3, 1, 0.5, 1] + [0, 10, -5, 100, 3, 7]
FRESH = TABLE[:20] + np.random.default_rng(4).normal(size=(20, 6))
VARIANTS = {
    "plain": {},
    "whitened": {"whiten": True},
    "standardized": {"standardize": True},
    "both": {"whiten": True, "standardize": True},
}


@pytest.mark.parametrize("k", [0, 1, 3, 5, 6])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "qr", "gram"])
@quiet
def test_likelihood_is_that_of_scipys_normal_distribution(solver, variant, k):
    model = PCA(k, svd_solver=solver, **VARIANTS[variant]).fit(TABLE)
    covariance = model.get_covariance()
    normal = multivariate_normal(model.mean_, covariance)
    assert_allclose(model.score_samples(FRESH), normal.logpdf(FRESH), rtol=1e-8)
    assert_allclose(model.score(FRESH), normal.logpdf(FRESH).mean(), rtol=1e-8)
    assert_allclose(model.get_precision() @ covariance, np.eye(6), atol=1e-8)
    assert_allclose(model.score_samples(sparse.csr_array(FRESH)), normal.logpdf(FRESH), rtol=1e-8)


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("whiten", [False, True])
def test_the_distribution_is_that_of_scikit_learn(k, whiten):
    ours, theirs = PCA(k, whiten=whiten).fit(TABLE), decomposition.PCA(k, whiten=whiten).fit(TABLE)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8, atol=1e-8)
    assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-7, atol=1e-8)
    assert_allclose(ours.score_samples(FRESH), theirs.score_samples(FRESH), rtol=1e-8)


def test_with_all_components_the_covariance_is_that_of_the_rows():
    assert_allclose(PCA().fit(TABLE).get_covariance(), np.cov(TABLE.T), rtol=1e-10)
    assert_allclose(PCA(standardize=True).fit(TABLE).get_covariance(), np.cov(TABLE.T), rtol=1e-10)


@quiet
def test_of_directions_without_variance_nothing_is_said():
    flat = np.append(TABLE, TABLE[:, :2] @ [[1.0], [2.0]], axis=1)
    model = PCA().fit(flat)
    assert_allclose(model.get_precision(), np.linalg.pinv(np.cov(flat.T), rtol=1e-12), atol=1e-9)
    normal = multivariate_normal(flat.mean(axis=0), np.cov(flat.T), allow_singular=True)
    assert_allclose(model.score_samples(flat), normal.logpdf(flat), rtol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [2, 6])
@quiet
def test_standardizing_is_pca_of_standardized_columns(k, solver):
    mean, deviations = TABLE.mean(axis=0), TABLE.std(axis=0, ddof=1)
    theirs = decomposition.PCA(k, svd_solver="full").fit((TABLE - mean) / deviations)
    ours = PCA(k, svd_solver=solver, standardize=True, tol=1e-12).fit(TABLE)
    assert_allclose(ours.scale_, deviations, rtol=1e-12)
    assert_allclose(ours.mean_, mean, rtol=1e-12, atol=1e-13)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-9)
    assert_allclose(ours.total_variance_, 6, rtol=1e-12)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-9)
    same_axes(ours.components_, theirs.components_)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    scores = theirs.transform((FRESH - mean) / deviations)
    assert_allclose(ours.transform(FRESH) * signs, scores, atol=1e-7)
    assert_allclose(ours.inverse_transform(scores * signs), theirs.inverse_transform(scores) * deviations + mean)
    density = theirs.score_samples((FRESH - mean) / deviations) - np.log(deviations).sum()  # in the units of X
    assert_allclose(ours.score_samples(FRESH), density, rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("constant", [0.1, 3.7, 1e8])
@quiet
def test_a_constant_column_is_not_standardized(constant, solver):
    for kind in (np.asarray, sparse.csr_array) if solver in SPARSE_SOLVERS else (np.asarray,):
        for n in (50, 300, 301):
            X = np.random.default_rng(n).normal(size=(n, 4)) * [1, 2, 3, 4]
            X[:, 0] = constant
            model = PCA(3, svd_solver=solver, standardize=True).fit(kind(X))
            assert model.scale_[0] == 1
            expected = np.linalg.eigvalsh(np.corrcoef(X[:, 1:].T))[::-1]
            rounding = 64 * U * (3 + constant**2 * (kind is not np.asarray))  # sparse rows stay where they are
            assert_allclose(model.explained_variance_, expected, rtol=1e-8, atol=rounding)
            assert_allclose(model.total_variance_, 3, rtol=1e-10, atol=rounding)


@pytest.mark.parametrize("constant", [0.1, 3.7, 1e8])
def test_no_column_varies_less_than_not_at_all(constant):
    for n in (50, 300, 301):
        X = np.random.default_rng(n).normal(size=(n, 4))
        X[:, 0] = constant
        for rows in (X, sparse.csr_array(X), X.astype(np.float32)):
            model = IncrementalPCA(2).partial_fit(rows[:30]).partial_fit(rows[30:])
            assert np.all(model.var_ >= 0)
            assert_allclose(model.var_[1:], X[:, 1:].var(axis=0), rtol=1e-6)


@pytest.mark.parametrize("solver", SPARSE_SOLVERS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("k", [1, 3, 5])
@quiet
def test_sparse_rows_are_the_same_rows(k, variant, solver):
    rng = np.random.default_rng(1)
    X = np.where(rng.uniform(size=(150, 6)) < 0.4, rng.normal(size=(150, 6)) * [6, 5, 4, 3, 2, 1] + 2, 0.0)
    rows = sparse.csr_array(X)
    ours = PCA(k, svd_solver=solver, tol=1e-12, **VARIANTS[variant]).fit(rows)
    scale = X.std(axis=0, ddof=1) if "standardize" in VARIANTS[variant] else np.ones(6)
    theirs = decomposition.PCA(k, svd_solver="full", whiten=ours.whiten).fit(X / scale)
    signs = np.sign(np.sum(ours.components_ * theirs.components_, axis=1))
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-10)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    assert_allclose(ours.transform(rows) * signs, theirs.transform(X / scale), atol=1e-7)
    assert_allclose(
        ours.inverse_transform(theirs.transform(X / scale) * signs) / scale,
        theirs.inverse_transform(theirs.transform(X / scale)),
        atol=1e-7,
    )
    assert_allclose(ours.score_samples(rows), theirs.score_samples(X / scale) - np.log(scale).sum(), rtol=1e-8)


# ---------------------------------------------------------------------------- what is left out, and what is turned


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("offset", [0.0, 1e6])
@quiet
def test_reconstruction_error_is_what_is_measured(offset, variant, solver):
    X, n = TABLE + offset, len(TABLE)
    for k in (1, 3, 5):
        model = PCA(k, svd_solver=solver, **VARIANTS[variant]).fit(X)
        scale = model.scale_ if model.standardize else 1.0
        distances = np.sum(((X - model.inverse_transform(model.transform(X))) / scale) ** 2, axis=1)
        dropped = np.linalg.eigvalsh(np.cov((TABLE / scale).T))[::-1][k:]
        assert_allclose(model.reconstruction_error_, distances.mean(), rtol=1e-7)
        assert_allclose(model.reconstruction_error_, (n - 1) / n * dropped.sum(), rtol=1e-7)
        assert_allclose(model.noise_variance_, dropped.mean(), rtol=1e-7)


def test_reconstruction_error_of_weighted_rows_is_their_weighted_mean():
    w = np.random.default_rng(0).uniform(0.1, 4, len(TABLE))
    for model in (PCA(2), IncrementalPCA(2)):
        model.fit(TABLE, sample_weight=w)
        distances = np.sum((TABLE - model.inverse_transform(model.transform(TABLE))) ** 2, axis=1)
        assert_allclose(model.reconstruction_error_, np.average(distances, weights=w), rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 4, 6])
@quiet
def test_loadings_are_covariances_or_correlations_with_scores_of_variance_one(k, solver):
    for standardize, measure in ((False, np.cov), (True, np.corrcoef)):
        model = PCA(k, svd_solver=solver, standardize=standardize, tol=1e-12).fit(TABLE)
        scores = model.transform(TABLE)
        scores /= scores.std(axis=0, ddof=1)
        together = measure(np.append(TABLE, scores, axis=1).T)
        assert_allclose(model.loadings_, together[:6, 6:], atol=1e-7)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_decorrelating_is_a_rotation_with_a_diagonal_covariance(offset, variant):
    X = np.round(TABLE * 64) / 64 + offset
    model = PCA(**VARIANTS[variant]).fit(X)
    scores = model.decorrelate(X)
    scale = (X - offset).std(axis=0, ddof=1) if model.standardize else np.ones(6)
    assert_allclose(pdist(scores), pdist((X - offset) / scale), rtol=1e-10)
    values = np.linalg.eigvalsh(np.cov(((X - offset) / scale).T))[::-1]
    assert_allclose(np.cov(scores.T), np.diag(values), atol=1e-10 * values[0])


# ---------------------------------------------------------------------------- any batches, any order, any tree


KINDS = [Square, Triangle, Spread]


@st.composite
def groups(draw, kinds=("float64", "float32", "csr")):
    """Rows in blocks of every kind, at any place, with weights or without: what a stream may bring."""
    rng = np.random.default_rng(draw(seeds))
    d, count = draw(st.integers(1, 5)), draw(st.integers(1, 8))
    offset, scale = draw(st.sampled_from([0.0, 1.0, 1e4, 1e8])), 10.0 ** draw(st.integers(-2, 2))
    weighted = draw(st.booleans())
    mix, place = rng.normal(size=(d, d)), offset * rng.normal(size=d)
    blocks = []
    for _ in range(count):
        rows = scale * rng.normal(size=(int(rng.integers(1, 30)), d)) @ mix + place
        kind = draw(st.sampled_from(kinds))
        rows = rows.astype(np.float32) if kind == "float32" else sparse.csr_array(rows) if kind == "csr" else rows
        blocks.append((rows, rng.uniform(0.1, 5, rows.shape[0]) if weighted else None))
    return blocks


def all_rows(blocks):
    """Every row in float64, as it was stored, and its weight."""
    rows = [np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float) for X, _ in blocks]
    weights = [np.ones(X.shape[0]) if w is None else w for X, w in blocks]
    return np.concatenate(rows), np.concatenate(weights)


def merged(kind, blocks, rng):
    """Each block to a fresh accumulator or to one that is there; then any two meet, until one is left."""
    trees = []
    for i in rng.permutation(len(blocks)):
        if not trees or rng.uniform() < 0.5:
            trees.append(kind(origin_of(blocks[i][0])))
        trees[int(rng.integers(len(trees)))].add(*blocks[i], exact=True)
    while len(trees) > 1:
        other = trees.pop(int(rng.integers(len(trees))))
        trees[int(rng.integers(len(trees)))].merge(other)
    return trees[0]


def matrix_of(scatter):
    """What it knows of S: all of it, or the diagonal."""
    if isinstance(scatter, Spread):
        return np.diag(scatter.squares)
    return scatter.matrix if isinstance(scatter, Square) else scatter.R.T @ scatter.R


def rounding_of(blocks):
    """Σw‖x − mean‖² times a few units of rounding; sparse rows are squared where they are, and means add up there."""
    X, w = all_rows(blocks)
    around = np.sum(centred(X, w) ** 2)
    if any(sparse.issparse(rows) for rows, _ in blocks):
        around = around + np.sum(w[:, None] * X**2)
    return 64 * U * float(around) + len(X) * (64 * U * float(np.abs(X).max())) ** 2


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), seed=seeds)
@few
def test_any_batches_in_any_order_and_tree_sum_up_to_the_scatter_matrix(kind, data, seed):
    blocks = data.draw(groups(("float64", "float32", "csr") if kind is not Triangle else ("float64", "float32")))
    X, w = all_rows(blocks)
    C = centred(X, w)
    S = (C.T @ C).astype(float)
    scatter = merged(kind, blocks, np.random.default_rng(seed))
    assert scatter.count == len(X)
    assert_allclose(scatter.weight, w.sum(), rtol=1e-14)
    assert_allclose(scatter.mean, np.average(X, axis=0, weights=w), rtol=64 * U, atol=64 * U * np.abs(X).max())
    assert_allclose(scatter.squares, np.diag(S), rtol=1e-13, atol=rounding_of(blocks))
    expected = np.diag(np.diag(S)) if kind is Spread else S
    assert_allclose(matrix_of(scatter), expected, rtol=1e-13, atol=rounding_of(blocks))


@pytest.mark.parametrize("kind", KINDS)
@given(seeds, st.integers(1, 5))
@very_few
def test_sweeps_on_any_number_of_threads_sum_up_to_the_scatter_matrix(kind, seed, threads):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(1, 9000)), 3)) + 1e6
    w = rng.integers(0, 3, len(X)).astype(float)
    if not w.any():
        w[0] = 1.0
    scatter = sweep_scatter(kind, HeldRows(X), w, threads)
    C = centred(X, w)
    S = (C.T @ C).astype(float)
    expected = np.diag(np.diag(S)) if kind is Spread else S
    assert_allclose(matrix_of(scatter), expected, rtol=1e-12, atol=1e-12 * np.trace(S) + 1e-20)


@pytest.mark.parametrize("kind", KINDS)
@given(tall_tables, st.floats(0.05, 1.0))
@few
def test_forgetting_scales_weights_and_nothing_else(kind, X, share):
    scatter = kind(origin_of(X))
    scatter.add(X[:5])
    scatter.forget(share)
    scatter.add(X[5:])
    w = np.where(np.arange(len(X)) < 5, share, 1.0)
    C = centred(X, w)
    S = (C.T @ C).astype(float)
    assert_allclose(scatter.mean, np.average(X, axis=0, weights=w), atol=1e-12 * np.abs(X).max())
    assert_allclose(scatter.squares, np.diag(S), rtol=1e-9, atol=1e-12 * np.trace(S))
    if kind is not Spread:
        assert_allclose(matrix_of(scatter), S, atol=1e-12 * np.trace(S))


@given(groups(), seeds)
@few
@quiet
def test_any_batches_in_any_order_give_the_variances_of_all_rows(blocks, seed):
    order = np.random.default_rng(seed).permutation(len(blocks))
    first = blocks[order[0]][0]
    model = IncrementalPCA(min(first.shape))
    for i in order:
        model.partial_fit(blocks[i][0], sample_weight=blocks[i][1])
    X, w = all_rows(blocks)
    values = scatter_values(X, w)
    noise = rounding_of(blocks) + 64 * np.sqrt(X.shape[1]) * U * float(values[0])  # what is no more than that is zero
    if w.sum() <= 1:
        return
    found, expected = model.explained_variance_ * (w.sum() - 1), values[: model.n_components_].astype(float)
    rtol = 8 * U32 if model.explained_variance_.dtype == np.float32 else 1e-12
    assert_allclose(found, expected, rtol=rtol, atol=noise)
    assert model.n_samples_seen_ == len(X)
    assert_allclose(
        model.mean_, np.average(X, axis=0, weights=w), rtol=max(rtol, 64 * U), atol=64 * U * np.abs(X).max()
    )
    if not any(sparse.issparse(rows) for rows, _ in blocks):
        assert holds(model.certificate_, values)


@given(groups(("float64",)), st.floats(0.3, 1.0))
@few
@quiet
def test_forgotten_batches_are_rows_of_less_weight(blocks, forget):
    model = IncrementalPCA(1, forget=forget)
    for rows, weights in blocks:
        model.partial_fit(rows, sample_weight=weights)
    ages = np.arange(len(blocks))[::-1]
    X, _ = all_rows(blocks)
    w = np.concatenate(
        [
            forget**age * (np.ones(len(rows)) if weights is None else weights)
            for age, (rows, weights) in zip(ages, blocks, strict=True)
        ]
    )
    if w.sum() <= 1.01 or len(X) < 2:
        return
    rounding = rounding_of(blocks)
    assert_allclose(
        model.explained_variance_ * (w.sum() - 1), scatter_values(X, w)[:1].astype(float), rtol=1e-9, atol=rounding
    )
    batch = PCA(1).fit(X, sample_weight=w)
    assert_allclose(
        model.explained_variance_ * (w.sum() - 1), batch.explained_variance_ * (w.sum() - 1), rtol=1e-9, atol=rounding
    )
    assert_allclose(
        model.total_variance_ * (w.sum() - 1), np.sum(centred(X, w) ** 2).astype(float), rtol=1e-9, atol=rounding
    )


def test_fit_forgets_batch_by_batch():
    model = IncrementalPCA(3, forget=0.7, batch_size=50).fit(TABLE)
    w = 0.7 ** np.repeat([3, 2, 1, 0], 50)
    C = centred(TABLE, w).astype(float)
    _, sigma, Vt = np.linalg.svd(C, full_matrices=False)
    assert_allclose(model.explained_variance_, sigma[:3] ** 2 / (w.sum() - 1), rtol=1e-11)
    same_axes(model.components_, Vt[:3])


@pytest.mark.parametrize("model", [*(PCA(svd_solver=name) for name in SOLVERS), IncrementalPCA()], ids=repr)
@given(tall_tables, seeds)
@few
@quiet
def test_weights_are_repeated_rows(model, X, seed):
    w = np.random.default_rng(seed).integers(0, 4, len(X))
    w[: X.shape[1] + 2] = np.maximum(w[: X.shape[1] + 2], 1)  # no fewer rows than columns
    every = np.repeat(X, w, axis=0)
    model.fit(X, sample_weight=w)
    C = every - every.mean(axis=0)
    _, sigma, Vt = np.linalg.svd(C, full_matrices=False)
    degrees, total = len(every) - 1, np.sum(C**2)
    assert_allclose(model.explained_variance_ * degrees, sigma**2, rtol=1e-8, atol=1e-10 * total)
    assert_allclose(model.explained_variance_ratio_, sigma**2 / total, rtol=1e-8, atol=1e-10)
    assert_allclose(model.total_variance_ * degrees, total, rtol=1e-10)
    assert_allclose(model.mean_, every.mean(axis=0), rtol=1e-10, atol=1e-12 * np.abs(X).max())
    if sigma[0] > 1.01 * sigma[1]:
        same_axes(model.components_[:1], Vt[:1], atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@given(tall_tables, seeds)
@few
@quiet
def test_turned_and_moved_rows_have_the_same_variances_along_turned_axes(solver, X, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    moved = X @ Q + 10 * np.abs(X).max() * rng.normal(size=X.shape[1])
    model = PCA(svd_solver=solver).fit(moved)
    _, sigma, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    total = np.sum(sigma**2)
    assert_allclose(model.explained_variance_ * (len(X) - 1), sigma**2, atol=1e-10 * total)
    if sigma[0] > 1.01 * sigma[1]:
        same_axes(model.components_[:1], Vt[:1] @ Q, atol=1e-6)
    every = np.random.default_rng(seed).permutation(len(X))
    assert_allclose(
        PCA(svd_solver=solver).fit(X[every]).explained_variance_ * (len(X) - 1), sigma**2, atol=1e-10 * total
    )


# ---------------------------------------------------------------------------- certificates of a hundred matrices


@cache
def any_matrix(seed, standardize=False, farthest=6):
    """Tall or wide, of any scale, with any spectrum at some place; weights every third time; and what it scatters."""
    rng = np.random.default_rng(seed)
    n, d = (int(rng.integers(10, 60)), int(rng.integers(2, 9))) if seed % 2 else (int(rng.integers(3, 9)), 20)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-5, 1, size=d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    X = 10.0 ** rng.integers(-3, 4) * (X + 10.0 ** rng.integers(-2, farthest) * rng.normal(size=d))
    w = None if seed % 3 else rng.integers(1, 4, n)
    k = min(n, d) if seed % 4 == 0 else int(rng.integers(1, min(n, d) + 1))
    C = centred(X, w)
    deviations = np.sqrt(np.sum(C**2, axis=0) / ((n if w is None else w.sum()) - 1)) if standardize else 1.0
    return X, w, k, singular_values(C / deviations) ** 2


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_a_hundred_matrices_hold(solver):
    wrong = []
    for seed in range(100):
        X, w, k, values = any_matrix(seed)
        if not holds(PCA(k, svd_solver=solver).fit(X, sample_weight=w).certificate_, values):
            wrong.append(seed)
    assert wrong == []


@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_standardized_rows_hold(solver):
    wrong = []
    for seed in range(40):
        X, w, k, values = any_matrix(seed, standardize=True, farthest=10)
        if not holds(PCA(k, svd_solver=solver, standardize=True).fit(X, sample_weight=w).certificate_, values):
            wrong.append(seed)
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@quiet
def test_certificates_of_a_thousand_matrices_hold(solver):
    wrong = []
    for seed in range(100, 1100):
        X, w, k, values = any_matrix(seed)
        if not holds(PCA(k, svd_solver=solver).fit(X, sample_weight=w).certificate_, values):
            wrong.append(seed)
    assert wrong == []


# ---------------------------------------------------------------------------- rows of any size


SIZES = [-300, -170, -162, -158, -150, -120, -81, 85, 118, 150, 153]


@cache
def of_size(power):
    """Rows of size 10^power, as near to the same ones as they are stored; the true singular values, and that size."""
    X = with_spectrum(40, 4, [4, 3, 2, 1], seed=9) + np.array([1.0, 0, 0, 3])
    scaled = X * 10.0**power
    unit = np.longdouble(10) ** power
    return scaled, singular_values(centred(scaled.astype(np.longdouble) / unit)), unit


@pytest.mark.parametrize("solver", [*SOLVERS, "batches"])
@pytest.mark.parametrize("power", SIZES)
def test_rows_of_any_size_are_right_and_what_is_no_number_is_told(power, solver):
    X, sigma, unit = of_size(power)
    model = IncrementalPCA(3) if solver == "batches" else PCA(3, svd_solver=solver)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for rows in np.split(X, 4) if solver == "batches" else [X]:
            model = model.partial_fit(rows) if solver == "batches" else model.fit(rows)
        found, certificate = model.singular_values_, model.certificate_
    assert_allclose((found / unit).astype(float), sigma[:3].astype(float), rtol=1e-11)
    assert certificate.certified
    told = [message for message in said if "another unit" in str(message.message)]
    true = (sigma * unit) ** 2  # long double holds them
    if power < -154:
        assert len(told) == 1
    else:
        assert told == []
        assert holds(certificate, true)
        assert_allclose(model.explained_variance_, (true[:3] / 39).astype(float), rtol=1e-11)
    assert np.all(certificate.lower <= true[:3])
    assert np.all(true[:3] <= certificate.upper)
    assert true[3] <= certificate.bound_beyond
    assert_allclose(model.explained_variance_ratio_, (sigma[:3] ** 2 / np.sum(sigma**2)).astype(float), rtol=1e-11)
    scores = (model.transform(X) / unit).astype(float)
    assert_allclose(np.linalg.norm(scores, axis=0), sigma[:3].astype(float), rtol=1e-11)


@pytest.mark.parametrize("power", [-170, 150])
@pytest.mark.parametrize("solver", ["full", "covariance_eigh", "qr", "gram", "krylov"])
def test_columns_of_any_size_are_standardized(power, solver):
    X, weights = with_spectrum(40, 4, [4, 3, 2, 1], seed=9), np.arange(40) % 3 + 1.0
    expected = PCA(3, svd_solver=solver, standardize=True).fit(X, sample_weight=weights)
    model = PCA(3, svd_solver=solver, standardize=True)
    model.fit(X * [1.0, 10.0**power, 1.0, 1e10], sample_weight=weights)
    assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-10)
    assert_allclose(model.scale_, expected.scale_ * [1.0, 10.0**power, 1.0, 1e10], rtol=1e-10)


@quiet
def test_batches_of_any_sizes_meet():
    X = with_spectrum(40, 4, [4, 3, 2, 1], seed=9)
    for first, second in ((1e-170, 1.0), (1.0, 1e-170), (1e-170, 1e150), (1e150, 1e-170)):
        model = IncrementalPCA(2).partial_fit(np.zeros((5, 4))).partial_fit(first * X).partial_fit(second * X)
        together = np.concatenate([np.zeros((5, 4)), first / max(first, second) * X, second / max(first, second) * X])
        expected = singular_values(centred(together))[:2].astype(float)
        assert_allclose(model.singular_values_ / max(first, second), expected, rtol=1e-11)


def test_rows_that_no_unit_helps_are_refused():
    for size in (1e155, 1e200, 1.7e308):
        X = size * np.random.default_rng(0).choice([-1.0, 1.0], size=(40, 3))
        for model in (PCA(2), PCA(2, svd_solver="covariance_eigh"), IncrementalPCA(2)):
            with pytest.raises(BadData, match="far too large"):
                model.fit(X)
