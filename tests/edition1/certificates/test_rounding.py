"""What rounding can do: every bound against numbers of 106 bits, on rows with structure, where errors add up."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse

from attack.kernels import SHIFTED, kernel_matrix
from attack.precise import DD, concatenate
from mercer import PCA, KernelPCA
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
    elsewhere,
)
from mercer_old.arrays import HERE
from mercer_old.kernels.elsewhere import has_formula
from mercer_old.operators.centering import Centered
from mercer_old.operators.elsewhere import GramElsewhere
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.held import Dilation, HeldMatrix
from mercer_old.rounding import UNIT, frobenius, gamma, lengths
from mercer_old.solvers import dense
from mercer_old.solvers.dense import leading_eigenpairs
from mercer_old.sums import LESS_SHORT, SHORT, chain, product
from mercer_old.sweeps.landmarks import LandmarkMap
from support.elsewhere import ELSEWHERE

rng = np.random.default_rng(0)
ROWS = {
    "normal": rng.normal(size=(40, 5)),
    "far from zero": rng.normal(size=(40, 5)) + 1e4,
    "two levels": np.where(rng.random((60, 30)) < 0.5, 0.1, 0.7),
    "a far pair, copied": np.repeat([[1.7] * 30, [-1.3] * 30], 40, axis=0),
    "wide": rng.normal(size=(20, 700)),
    "very wide and equal": np.repeat(rng.normal(size=(3, 2000)), 8, axis=0),
}
KERNELS = [
    Linear(),
    Polynomial(2, 0.2, 1.0),
    Polynomial(7, 0.01, 0.5),
    Cosine(),
    Sigmoid(0.01, 0.1),
    RBF(0.1),
    RBF(1e-9),
    RBF(3.0),
    Laplacian(0.05),
    Matern(0.5, 2.0),
    Matern(1.5, 3.0),
    Matern(2.5, 1e4),
    RationalQuadratic(0.5, 2.0),
    RationalQuadratic(20.0, 1e4),
    Tanimoto(),
    ChiSquared(0.05),
    ChiSquared(1e-9),
    AdditiveChiSquared(),
    HistogramIntersection(),
    MinMax(),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
every_rows = pytest.mark.parametrize("rows", ROWS)


def rows_for(kernel, rows):
    return np.abs(ROWS[rows]) if kernel.non_negative else ROWS[rows]


def errors_by(kernel, X):
    """|δK| of computed entries K of k − shift, by K and shift; and what the truth itself may be off by."""
    truth, doubt = kernel_matrix(kernel, X)
    top = 1.0 if type(kernel).__name__ in SHIFTED else 0.0  # what the reference has subtracted
    return lambda K, shift=0.0: np.abs((DD(K) - truth + (shift - top)).hi), doubt


@every_kernel
@every_rows
def test_entries_are_off_by_no_more_than_the_kernel_says(kernel, rows):
    X = rows_for(kernel, rows)
    errors, doubt = errors_by(kernel, X)
    for op in (HeldGram(kernel, X), RecomputedGram(kernel, X)):
        off = errors(op.shifted_columns(np.arange(len(X))), op.shift)
        assert np.linalg.norm(off, 2) <= op.entry_rounding(None) + len(X) * doubt
        weights = rng.integers(1, 50, size=len(X)).astype(float)
        weighted = np.sqrt(weights)[:, None] * off * np.sqrt(weights)
        assert np.linalg.norm(weighted, 2) <= op.entry_rounding(weights) + weights.sum() * doubt
    assert errors(kernel.block(X, X)).max() <= kernel.entry_rounding(X, X) + doubt


def one_after_the_other(xp, left, right):
    """Products whose sums are a single chain, as no library would take them, and any might."""
    return np.stack([np.add.accumulate(row * right, axis=1)[:, -1] for row in left])


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if has_formula(kernel)], ids=repr)
@every_rows
@pytest.mark.parametrize("home", [ELSEWHERE, None], ids=["array API", "the longest chain"])
def test_entries_from_elsewhere_are_off_by_no_more_than_their_operator_says(kernel, rows, home, monkeypatch):
    X = ROWS[rows]
    errors, doubt = errors_by(kernel, X)
    if home is None:
        monkeypatch.setattr(elsewhere, "_products", one_after_the_other)
        monkeypatch.setattr(
            elsewhere, "_minus_half_squares", lambda *sides: np.minimum(one_after_the_other(*sides), 0.0)
        )
    op = GramElsewhere(kernel, X, home or HERE)
    off = errors(op.shifted_matmat(np.eye(len(X))), op.shift)  # products with zero and one round nothing
    assert np.linalg.norm(off, 2) <= op.entry_rounding(None) + len(X) * doubt
    weights = rng.integers(1, 50, size=len(X)).astype(float)
    weighted = np.sqrt(weights)[:, None] * off * np.sqrt(weights)
    assert np.linalg.norm(weighted, 2) <= op.entry_rounding(weights) + weights.sum() * doubt


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(3, 0.01, 1.0), Sigmoid(0.01, 0.1), Cosine(), RBF(0.01), Matern(1.5, 9.0), Tanimoto()],
    ids=repr,
)
def test_bounds_of_sparse_rows_count_their_numbers_and_not_their_columns(kernel):
    """Of both sets, where an entry has the lengths of its two rows in it: one may have far more numbers."""
    rows = 0.1 + rng.random((12, 400))
    rows[:6, 3:] = 0.0
    errors, doubt = errors_by(kernel, rows)
    narrow = sparse.csr_array(rows)
    wide = sparse.csr_array((narrow.data, 700 * narrow.indices, narrow.indptr), shape=(12, 10**6))
    off = errors(kernel.block(wide, wide))
    few, many = slice(6), slice(6, 12)
    for some in (few, many):
        for others in (few, many):
            assert off[some, others].max() <= kernel.entry_rounding(wide[some], wide[others]) + doubt
    assert kernel.rounding(wide) == kernel.rounding(narrow)
    assert kernel.feature_roundings(wide) == kernel.feature_roundings(narrow) <= 400
    if not isinstance(kernel, (Linear, Polynomial, Sigmoid)):
        assert kernel.entry_rounding(wide[few], wide[many]) == kernel.entry_rounding(wide[many], wide[few])
        assert kernel.entry_rounding(wide[few], wide[many]) >= gamma(200)


@every_kernel
@every_rows
def test_sharp_where_nothing_is_lost(kernel, rows):
    """Sums over rows make the bound no wider, and it is not absurd: a share of 1e-9 of what the moduli make up."""
    X = rows_for(kernel, rows)
    held, anew = HeldGram(kernel, X).entry_rounding(None), RecomputedGram(kernel, X).entry_rounding(None)
    assert held <= anew
    size = len(X) * np.abs(kernel.block(X, X)).max() + (len(X) if isinstance(kernel, Sigmoid) else 0)
    assert anew <= 1e-9 * size or rows == "far from zero"


@pytest.mark.parametrize("kernel", [Polynomial(2, 0.2, 1.0), Polynomial(3, 0.2, 1.0), Cosine()], ids=repr)
@pytest.mark.parametrize("rows", ["normal", "far from zero", "two levels"])
def test_features_are_off_by_their_roundings(kernel, rows):
    """Their Gram matrix, which is all that matters of them, against the kernel's."""
    X = ROWS[rows][:, :6]
    Phi = kernel.features(X)
    errors, doubt = errors_by(kernel, X)
    sizes = np.sqrt(np.sum(Phi**2, axis=1))
    allowed = (2 * gamma(kernel.feature_map(X).roundings()) + 2 * UNIT) * np.multiply.outer(sizes, sizes)
    assert np.all(errors((DD(Phi) @ DD(Phi.T)).hi) <= allowed + doubt)


def equal_numbers(m, b=3):
    """Sums of equal terms, whose roundings all have the same sign."""
    return np.full((4, m), 0.1), np.full((m, b), 0.7)


@pytest.mark.parametrize("m", [1, 63, 64, 65, 1000, 1025, 5000, 30_000])
@pytest.mark.parametrize("short", [SHORT, LESS_SHORT])
@pytest.mark.parametrize("columns", [3, 300])
def test_products_are_off_by_their_chain(m, short, columns):
    for A, B in (equal_numbers(m), (rng.normal(size=(4, m)), rng.normal(size=(m, 3)))):
        exact = DD(A) @ DD(B)
        wide = np.tile(B, columns // 3)  # so wide that BLAS is called piece by piece
        out = np.empty((4, wide.shape[1]))
        for computed in (product(A, wide, None, short), product(A, wide, out, short), out):
            off = np.abs((DD(computed[:, :3]) - exact).hi)
            assert np.all(off <= gamma(chain(m, short) + 1) * (np.abs(A) @ np.abs(B)) * (1 + 1e-9))


def test_chains_are_short():
    assert [chain(m) for m in (1, 30, 1000, 4000, 12_000)] == [2, 31, 80, 97, 99]


def operators(X):
    K = X @ X.T
    K = (K + K.T) / 2
    yield HeldMatrix(K), DD(K)
    yield HeldMatrix(sparse.csr_array(K)), DD(K)
    yield HeldMatrix(K, asymmetry=0.0), DD(K)


@every_rows
def test_products_are_off_by_no_more_than_the_operator_says(rows):
    X = ROWS[rows]
    n = len(X)
    B = np.column_stack([np.ones(n), rng.normal(size=n), np.where(np.arange(n) % 2, 1.0, -1.0)])
    B /= np.linalg.norm(B, axis=0)
    for op, exact in operators(X):
        off = np.abs((DD(op.matmat(B)) - exact @ DD(B)).hi)
        assert np.linalg.norm(off, axis=0).max() <= op.product_rounding
    C = rng.normal(size=(sum(X.shape), 2))
    C /= np.linalg.norm(C, axis=0)
    op, exact = Dilation(X), concatenate([DD(X) @ DD(C[n:]), DD(X.T) @ DD(C[:n])])  # [[0, X], [Xᵀ, 0]] C
    off = np.abs((DD(op.matmat(C)) - exact).hi)
    assert np.linalg.norm(off, axis=0).max() <= op.product_rounding


@every_rows
@pytest.mark.parametrize(
    "hold",
    [
        HeldGram,
        RecomputedGram,
        lambda kernel, X: FeatureGram(X),
        lambda kernel, X: FeatureGram(sparse.csr_array(X)),
        lambda kernel, X: HeldGram(kernel, sparse.csr_array(X)),
    ],
    ids=["held", "anew", "Φ", "sparse Φ", "held of sparse"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_centred_products_are_off_by_no_more_than_entries_and_sums_allow(rows, hold, weighted, monkeypatch):
    """Against P S K S P in 106 bits: what a certificate rests on."""
    monkeypatch.setattr(
        "mercer_old.operators.features.sparse_rows", lambda width, density: 7
    )  # pieces, and lanes of them
    X = ROWS[rows]
    n, w = len(X), rng.integers(1, 9, size=len(X)).astype(float) if weighted else np.ones(len(X))
    op = Centered(hold(Linear(), X), w if weighted else None)
    B = np.column_stack([rng.normal(size=n), np.where(np.arange(n) % 2, 1.0, -1.0), np.arange(n) == 0])
    B = B / np.linalg.norm(B, axis=0)
    root = np.sqrt(w)
    s = DD(root) / DD(np.sqrt((DD(w)).sum().hi))
    inner = DD(B) - DD(s.hi[:, None], s.lo[:, None]) * (DD(s.hi[None], s.lo[None]) @ DD(B))
    rows_of = DD(X) * root[:, None]
    product = rows_of @ (rows_of.T @ inner)
    exact = product - DD(s.hi[:, None], s.lo[:, None]) * (DD(s.hi[None], s.lo[None]) @ product)
    off = np.linalg.norm(np.abs((DD(op.matmat(B)) - exact).hi), axis=0).max()
    doubt = 1e-20 * float(w @ np.sum(X**2, axis=1))
    assert off <= op.noise + op.product_rounding + doubt + 4 * UNIT * frobenius(op.matmat(B))


def test_the_inverse_of_landmarks_is_off_by_no_more_than_it_says():
    for gamma_ in (1.0, 1e-2, 1e-4):
        X = rng.normal(size=(80, 3))
        features, _ = LandmarkMap.of(RBF(gamma_), X)
        phi = features.features(X)
        L = DD(features.own)
        k = RBF(gamma_).block(X, features.rows)  # what the map was given
        exact = forward_substitution(L, DD(k.T)).T
        off = np.linalg.norm((DD(phi) - exact).hi, axis=1)
        assert np.all(off <= 1.001 * features.inexact * np.linalg.norm(phi, axis=1))


def forward_substitution(L, B):
    out = [B[0:1] / float(L[0, 0])]
    for i in range(1, len(L)):
        known = DD(np.concatenate([x.hi for x in out]), np.concatenate([x.lo for x in out]))
        row = DD(L.hi[i : i + 1, :i]) @ known
        out.append((B[i : i + 1] - row) / float(L.hi[i, i]))
    return DD(np.concatenate([x.hi for x in out]), np.concatenate([x.lo for x in out]))


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1.0, 1e200, 1e300])
def test_lengths_of_huge_and_tiny_vectors(size):
    V = rng.normal(size=(50, 3))
    assert_allclose(lengths(size * V), size * np.linalg.norm(V, axis=0), rtol=1e-14)
    assert_allclose(frobenius(size * V), size * np.linalg.norm(V), rtol=1e-14)
    assert_array_equal(lengths(np.zeros((4, 2))), 0.0)
    assert lengths(np.empty((0, 2))).shape == (2,) and frobenius(np.empty((0, 2))) == 0.0


# ---------------------------------------------------------------------------- pairs are counted


@pytest.mark.parametrize("n", [65, 66, 100, 203, 500])
@pytest.mark.parametrize("k", [1, 2, 8, 15])
def test_as_many_pairs_as_asked_for_where_all_are_equal(n, k):
    for A in (np.eye(n), np.eye(n) - 1 / n, np.eye(n) + 1e-15 * rng.normal(size=(n, n))):
        A = (A + A.T) / 2
        values, vectors = leading_eigenpairs(A, k)
        assert len(values) >= k and vectors.shape == (n, len(values))
        assert_allclose(values[:k], 1.0, rtol=1e-12)
        assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)


@pytest.mark.parametrize("answer", ["one too few", "none", "an error"])
def test_where_lapack_loses_pairs_all_are_computed(answer, monkeypatch):
    true_eigh = linalg.eigh

    def poor_eigh(A, **how):
        if answer == "an error":
            raise linalg.LinAlgError("internal error")
        values, vectors = true_eigh(A, **how)
        kept = slice(1, None) if answer == "one too few" else slice(0, 0)
        return values[kept], vectors[:, kept]

    monkeypatch.setattr(dense.linalg, "eigh", poor_eigh)
    X = rng.normal(size=(100, 100))
    values, vectors = leading_eigenpairs(X + X.T, 5)
    assert_allclose(values[:5], np.linalg.eigvalsh(X + X.T)[::-1][:5], atol=1e-12)
    assert_allclose((X + X.T) @ vectors, vectors * values, atol=1e-11)


# ---------------------------------------------------------------------------- what once went wrong


def certified_interval(model, X, **fit):
    c = model.fit(X, **fit).certificate_
    return c.lower[0], c.upper[0]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "kernel", [Polynomial(4, 1 / (60_000 * 1.7**2), 1.0), RBF(1 / (4 * 60_000 * 1.7**2))], ids=repr
)
def test_long_sums_of_equal_numbers_lie_in_their_intervals_however_rows_lie_in_memory(kernel, order):
    """Two points, twice each: the eigenvalue is 2(k(x, x) − k(x, y)), of sums of 60 000 equal numbers."""
    z = 1.7
    X = np.array(np.repeat([[z] * 60_000, [-z] * 60_000], 2, axis=0), order=order)
    truth, doubt = kernel_matrix(kernel, X[[0, 2]])
    exact = 2 * float((truth[0:1, 0:1] - truth[0:1, 1:2]).hi[0, 0])
    lower, upper = certified_interval(KernelPCA(1, kernel=kernel), X)
    assert lower - 4 * doubt <= exact <= upper + 4 * doubt


@pytest.mark.parametrize("size", [1e-320, 1e-170, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("hold", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_cosines_of_huge_and_tiny_rows_are_those_of_ordinary_ones(size, hold):
    X = rng.integers(-9, 10, size=(30, 4)).astype(float)
    X[0] = 0
    assert_allclose(
        KernelPCA(2, kernel="cosine").fit(hold(X * size)).eigenvalues_,
        KernelPCA(2, kernel="cosine").fit(hold(X if size > 1e-300 else (X * size) / size)).eigenvalues_,
        rtol=1e-12,
    )


def test_roots_as_a_kernel_are_steep_at_zero_and_the_interval_knows():
    X = np.array([[3.0], [-1 / 3]] * 4)
    with mpmath.workdps(50):
        x, y = mpmath.mpf(3), mpmath.mpf(float(-1 / 3))
        k = [mpmath.sqrt(a * b + 1) for a, b in ((x, x), (x, y), (y, y))]
        exact = float(2 * (k[0] - 2 * k[1] + k[2]))
    lower, upper = certified_interval(KernelPCA(1, kernel=Polynomial(0.5, 1.0, 1.0)), X)
    assert lower <= exact <= upper


@pytest.mark.filterwarnings("ignore")
def test_numbers_without_digits_make_no_proofs():
    X, weights = np.random.default_rng(0).random((40, 3)), np.full(40, 1e100)
    exact = KernelPCA(2, kernel="linear").fit(X).eigenvalues_ * 1e-220
    tiny = KernelPCA(2, kernel="linear", n_landmarks=5, random_state=0).fit(1e-160 * X, sample_weight=weights)
    assert np.all(tiny.certificate_.lower <= exact * (1 + 1e-9))
    plain = KernelPCA(2, kernel=Polynomial(4, 1.0, 0.0)).fit(X).eigenvalues_ * 1e-220
    c = KernelPCA(2, kernel=Polynomial(4, 1.0, 0.0)).fit(1e-40 * X, sample_weight=weights).certificate_
    assert np.all(c.lower <= plain * (1 + 1e-9)) and np.all(plain <= c.upper * (1 + 1e-9))


def test_a_heavy_row_does_not_make_all_rows_the_same():
    X = np.random.default_rng(0).normal(size=(30, 3)) + 5
    model = PCA(2).fit(X, sample_weight=np.r_[1e40, np.ones(29)])  # no warning
    spread = X[1:] - X[0]  # the mean is the heavy row
    assert_allclose(model.singular_values_, np.linalg.svd(spread, compute_uv=False)[:2], rtol=1e-9)
