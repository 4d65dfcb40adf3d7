"""Kernels on vectors: values, gradients, features and parameters."""

import pickle
from dataclasses import dataclass
from functools import partial

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics import pairwise

import mercer_old.kernels
import mercer_old.kernels.algebra
from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError, ParameterError
from mercer.kernels import base
from mercer.kernels.algebra import Composite, Constant, Sum
from mercer.kernels.base import Blockwise, Kernel, Pairwise, Precomputed, get_kernel
from mercer.kernels.check import check_kernel
from mercer.kernels.distance import RBF, Laplacian, Matern, RationalQuadratic
from mercer.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from mercer.kernels.histograms import AdditiveChiSquared, ChiSquared, HistogramIntersection, MinMax, Tanimoto
from mercer.kernels.names import ALIASES, KERNELS
from mercer.numerics.random_state import lazy_generator
from support.exact_kernels import exact

rng = np.random.default_rng(0)
CLOUD, OTHERS = rng.normal(size=(23, 4)), rng.normal(size=(11, 4))
SIGNED = [
    Linear(),
    Cosine(),
    Polynomial(3, 0.25, 1.0),
    Polynomial(2, 0.5, 0.0),
    Polynomial(5, 0.1, -0.5),
    Sigmoid(0.1, -0.3),
    RBF(0.25),
    Matern(0.5, 0.7),
    Matern(1.5, 1.3),
    Matern(2.5, 2.0),
    Matern(np.inf, 1.5),
    RationalQuadratic(1.5, 0.8),
    Laplacian(0.3),
    Tanimoto(),
    Constant(0.7),
    3 * RBF(0.1) + Linear() * Laplacian(0.2),
]
NONNEGATIVE = [HistogramIntersection(), MinMax(), ChiSquared(0.5), AdditiveChiSquared(), ChiSquared(2.0) * MinMax()]
FIRST_EDITION = [kernel for kernel in [*SIGNED, *NONNEGATIVE] if not isinstance(kernel, Matern) or kernel.nu < 10]
HOSTILE = {
    "cloud": (CLOUD, OTHERS),
    "duplicates": (np.repeat(CLOUD[:4], 3, axis=0), CLOUD[:6]),
    "one-hot": (np.eye(5)[rng.integers(0, 5, 12)], np.eye(5)),
    "integers": (rng.poisson(2.0, size=(15, 7)), rng.poisson(3.0, size=(6, 7))),
    "bits": ((rng.random((9, 70)) < 0.1).astype(np.uint8), (rng.random((5, 70)) < 0.5).astype(np.uint8)),
    "tiny": (1e-160 * CLOUD, 1e-160 * OTHERS),
    "huge": (1e100 * CLOUD, 1e100 * OTHERS),
    "zeros": (np.vstack([CLOUD[:3], np.zeros((2, 4))]), np.vstack([np.zeros((1, 4)), OTHERS[:2]])),
    "far rows": (np.vstack([CLOUD, 1e3 * CLOUD]), OTHERS),
    "float32": (CLOUD.astype(np.float32), OTHERS.astype(np.float32)),
    "one row": (CLOUD[:1], OTHERS[:1]),
    "one column": (CLOUD[:, :1], OTHERS[:, :1]),
}


def as_first_edition(kernel):
    """The same kernel of the first edition."""
    params = {name: as_first_edition(v) if isinstance(v, Kernel) else v for name, v in kernel.get_params(False).items()}
    module = mercer_old.kernels.algebra if isinstance(kernel, Composite) else mercer_old.kernels
    return getattr(module, type(kernel).__name__)(**params)


def values(kernel, X, Y):
    with np.errstate(all="ignore"):
        return kernel(X, Y)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kernel", FIRST_EDITION, ids=str)
def test_values_are_those_of_the_first_edition(kernel, name):
    X, Y = HOSTILE[name]
    if kernel.non_negative:
        X, Y = np.abs(X), np.abs(Y)
    old = as_first_edition(kernel)
    try:
        with np.errstate(all="ignore"):
            expected = old.block(X, Y)
    except ValueError:  # refuses squared distances that overflow
        assert name == "huge"
        if not isinstance(kernel, RationalQuadratic | Composite):
            assert_array_equal(values(kernel, X, Y), 0.0)
        return
    if not np.isfinite(expected).all():
        with pytest.raises(DataError, match="returned"):
            values(kernel, X, Y)
        return
    K, size = values(kernel, X, Y), np.abs(expected).max()
    assert_allclose(K, expected, rtol=1e-12, atol=1e-14 * size)
    assert_allclose(values(kernel, X, X), values(kernel, X, X).T, rtol=1e-13, atol=1e-14 * size)
    assert_allclose(kernel.diag(X), np.diag(values(kernel, X, X)), rtol=1e-12, atol=1e-12 * size)


@pytest.mark.parametrize("kernel", [*SIGNED, *NONNEGATIVE], ids=str)
def test_sparse_rows_have_the_same_values(kernel):
    X, Y = (np.where(np.abs(Z) > 0.7, Z, 0.0) for Z in (CLOUD, OTHERS))
    if kernel.non_negative:
        X, Y = np.abs(X), np.abs(Y)
    expected = kernel(X, Y)
    for container in (sparse.csr_array, sparse.csr_matrix):
        S, T = container(X), container(Y)
        assert_allclose(kernel(S, T), expected, rtol=1e-10, atol=1e-12)
        assert_allclose(kernel(S, Y), expected, rtol=1e-10, atol=1e-12)
        assert_allclose(kernel(X, T), expected, rtol=1e-10, atol=1e-12)
        assert_allclose(kernel.diag(S), kernel.diag(X), rtol=1e-12, atol=1e-14)
        prepared = kernel.prepare(S, shift=0.5)
        tile = np.empty((3, 5))
        prepared.fill(slice(2, 5), slice(1, 6), tile)
        assert_allclose(tile, kernel(X, X)[2:5, 1:6] - 0.5, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", [*SIGNED, *NONNEGATIVE], ids=str)
def test_tiles_are_parts_of_the_matrix(kernel):
    X, Y = np.abs(CLOUD), np.abs(OTHERS)
    for shift in (0.0, 1.0, None):
        prepared = pickle.loads(pickle.dumps(kernel.prepare(Y, shift=shift)))  # noqa: S301
        tile = np.empty((4, 3))
        prepared.against(X).fill(slice(7, 11), slice(2, 5), tile)
        assert_allclose(tile, kernel(X, Y)[7:11, 2:5] - prepared.shift, rtol=1e-11, atol=1e-13)
        assert prepared.nbytes >= 0


def test_values_are_those_of_scikit_learn():
    X, Y = CLOUD, OTHERS
    assert_allclose(Polynomial(3, 0.3, 0.5)(X, Y), pairwise.polynomial_kernel(X, Y, 3, 0.3, 0.5), rtol=1e-12)
    assert_allclose(Sigmoid(0.1, 0.2)(X, Y), pairwise.sigmoid_kernel(X, Y, 0.1, 0.2), rtol=1e-12)
    assert_allclose(Cosine()(X, Y), pairwise.cosine_similarity(X, Y), rtol=1e-12)
    assert_allclose(Laplacian(0.3)(X, Y), pairwise.laplacian_kernel(X, Y, 0.3), rtol=1e-12)
    assert_allclose(RBF.from_length_scale(0.7)(X, Y), gaussian_process.RBF(0.7)(X, Y), rtol=1e-12)
    assert_allclose(ChiSquared(0.4)(abs(X), abs(Y)), pairwise.chi2_kernel(abs(X), abs(Y), 0.4), rtol=1e-12)
    for nu in (0.5, 1.5, 2.5, np.inf):
        assert_allclose(Matern(nu, 0.8)(X, Y), gaussian_process.Matern(0.8, nu=nu)(X, Y), rtol=1e-10)
    theirs = gaussian_process.RationalQuadratic(length_scale=0.8, alpha=1.7)(X, Y)
    assert_allclose(RationalQuadratic(1.7, 0.8)(X, Y), theirs, rtol=1e-11)
    bits = (rng.random((9, 40)) < 0.3).astype(np.uint8)
    jaccard = 1 - pairwise.pairwise_distances(bits.astype(bool), metric="jaccard")
    for kernel, Z in ((Tanimoto(), bits), (MinMax(), bits), (Tanimoto(packed=True), np.packbits(bits, axis=1))):
        assert_allclose(kernel(Z, Z), jaccard, rtol=1e-14)


@pytest.mark.parametrize("kernel", [k for k in [*SIGNED, *NONNEGATIVE] if k.psd], ids=str)
def test_matrices_of_mercer_kernels_have_no_negative_eigenvalue(kernel):
    found = check_kernel(kernel, np.abs(CLOUD))
    assert found
    assert found.smallest_eigenvalue > -1e-12 * found.largest_eigenvalue


@pytest.mark.parametrize("kernel", [*SIGNED, *NONNEGATIVE], ids=str)
def test_features_give_the_kernel(kernel):
    features = kernel.feature_map(CLOUD)
    if features is None:
        assert not isinstance(kernel, Linear | Cosine | Constant)
        return
    left, right = features.transform(CLOUD), features.transform(OTHERS)
    assert left.shape == (23, features.n_features) and features.get_feature_names_out().shape == (features.n_features,)
    assert_allclose(left @ right.T, kernel(CLOUD, OTHERS), rtol=1e-12, atol=1e-13)


def test_features_of_sums_and_multiples_are_joined():
    kernel = 2 * Linear() + Polynomial(2, 0.5, 1.0) + 3
    features = kernel.feature_map(CLOUD)
    assert features.n_features == 4 + 15 + 1 and not features.sparse and not features.identity
    assert_allclose(features.transform(CLOUD) @ features.transform(OTHERS).T, kernel(CLOUD, OTHERS), rtol=1e-12)
    S = sparse.csr_array(np.where(CLOUD > 1, CLOUD, 0.0))
    doubled = (2 * Linear()).feature_map(S)
    assert doubled.sparse and sparse.issparse(doubled.transform(S))
    assert (Linear() + Cosine()).feature_map(S) is None
    assert (Linear() * Linear()).feature_map(CLOUD) is None
    assert Linear().feature_map(CLOUD).identity


# ---------------------------------------------------------------------- gradients


def exact_gradient(kernel, z, X, c):
    """∂/∂z of Σcᵢk(z, xᵢ), by central differences in 60 digits."""
    step, out = mpf(10) ** -20, []
    for j in range(len(z)):
        sides = []
        for sign in (1, -1):
            moved = [mpf(v) + (sign * step if i == j else 0) for i, v in enumerate(z)]
            sides.append(mpmath.fsum(mpf(w) * exact(kernel, moved, x) for w, x in zip(c, X, strict=True)))
        out.append(float((sides[0] - sides[1]) / (2 * step)))
    return out


@pytest.mark.parametrize("kernel", [*SIGNED, *NONNEGATIVE], ids=str)
@pytest.mark.parametrize("offset", [0.0, 1e3], ids=["near", "far"])
def test_gradients_are_differences_in_many_digits(kernel, offset):
    Z, X = (np.abs(Z) + offset for Z in (OTHERS[:4], CLOUD[:7]))
    C = np.random.default_rng(1).normal(size=(4, 7))
    found = kernel.vjp(Z, X)(C)
    exact_rows = [[mpf(v) for v in row] for row in X.tolist()]
    expected = np.array([exact_gradient(kernel, z, exact_rows, c) for z, c in zip(Z.tolist(), C.tolist(), strict=True)])
    assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", FIRST_EDITION, ids=str)
@pytest.mark.parametrize("name", ["cloud", "duplicates", "one-hot", "zeros", "far rows", "integers", "one column"])
def test_gradients_are_those_of_the_first_edition(kernel, name):
    """Also where k has a kink or jumps."""
    X, Z = HOSTILE[name]
    if kernel.non_negative:
        X, Z = np.abs(X), np.abs(Z)
    X, Z = X.astype(float), Z.astype(float)
    C = np.random.default_rng(1).normal(size=(len(Z), len(X)))
    old = as_first_edition(kernel)
    expected = old.pull(Z, X, C)
    size = np.abs(expected).max() + 0.1  # gradients of directions in one dimension are 0
    assert_allclose(kernel.vjp(Z, X)(C), expected, rtol=1e-9, atol=1e-12 * size)
    assert_allclose(kernel.vjp(Z, X)(C[0]), old.pull(Z, X, C[:1]), rtol=1e-9, atol=1e-12 * size)
    assert_allclose(kernel.diag_gradient(Z), old.diag_pull(Z), rtol=1e-12, atol=1e-13)
    sparse_rows = kernel.vjp(sparse.csr_array(Z), sparse.csr_array(X))(C)
    assert_allclose(sparse_rows, expected, rtol=1e-7, atol=1e-9 * size)


def test_kernels_without_a_gradient():
    for kernel in (Pairwise(np.dot), Polynomial(0.5, 1.0), Tanimoto(packed=True), RBF(1.0) + Polynomial(0.5, 1.0)):
        assert kernel.vjp(CLOUD, CLOUD) is None
        with pytest.raises(ParameterError, match="no gradient"):
            kernel.diag_gradient(CLOUD)


# ---------------------------------------------------------------------- what an author writes


@dataclass(frozen=True)
class Cubes(Kernel):
    factor: float = 1.0
    psd = True

    def __call__(self, X, Y):
        return self.factor * X**3 @ (Y**3).T


def test_one_method_makes_a_kernel():
    kernel = Cubes(2.0)
    expected = 2 * CLOUD**3 @ (OTHERS**3).T
    tile = np.empty((23, 11))
    kernel.prepare(OTHERS, shift=1.5).against(CLOUD).fill(slice(None), slice(None), tile)
    assert_allclose(tile, expected - 1.5)
    assert_allclose(kernel.diag(CLOUD), np.diag(kernel(CLOUD, CLOUD)))
    assert_allclose((RBF(0.1) * kernel + 1)(CLOUD, OTHERS), RBF(0.1)(CLOUD, OTHERS) * expected + 1)
    assert kernel.vjp(CLOUD, OTHERS) is None and kernel.feature_map(CLOUD) is None
    with pytest.raises(TypeError, match=r"must define __call__\(X, Y\) or prepare\(Y\)"):
        type("Empty", (Kernel,), {})


def test_functions_of_users():
    pairs, blocks = Pairwise(lambda x, y, p=2: float(x @ y) ** p, {"p": 3}), Blockwise(pairwise.rbf_kernel)
    assert_allclose(pairs(CLOUD, OTHERS), (CLOUD @ OTHERS.T) ** 3)
    assert_allclose(blocks(CLOUD, OTHERS), RBF(0.25)(CLOUD, OTHERS), rtol=1e-12)
    S = sparse.csr_array(np.where(CLOUD > 0, CLOUD, 0.0))
    assert_allclose(Blockwise(pairwise.linear_kernel)(S, S), (S @ S.T).toarray())
    assert repr(blocks) == "Blockwise(rbf_kernel)" and repr(Pairwise(max, {"k": 1})) == "Pairwise(max, {'k': 1})"
    sets = np.empty(3, dtype=object)
    sets[:] = [{1, 2}, {2}, set()]
    assert_array_equal(Pairwise(lambda x, y: len(x & y))(sets, sets), [[2, 1, 0], [1, 1, 0], [0, 0, 0]])
    assert pairs.input_kind == "any" and hash(pairs) == hash(clone(pairs))


def evaluate(kernel, X):
    prepared = kernel.prepare(X)
    prepared.fill(slice(None), slice(None), np.empty(prepared.shape))


@pytest.mark.parametrize(
    ("mistake", "error", "message"),
    [
        (lambda: RBF(0), ParameterError, "gamma=0 must be a positive number"),
        (lambda: RBF("large"), ParameterError, "gamma='large' must be a positive number"),
        (lambda: RBF(np.inf), ParameterError, "gamma=inf"),
        (lambda: RBF(True), ParameterError, "gamma=True"),
        (lambda: RBF(10**400), ParameterError, "must be a positive number"),
        (lambda: RBF()(CLOUD, CLOUD), ParameterError, "no number for gamma until fit"),
        (lambda: RBF.from_length_scale(0), ParameterError, "length_scale=0"),
        (lambda: Matern(1), ParameterError, "nu=1 must be 0.5, 1.5, 2.5 or inf"),
        (lambda: Matern(1.5, 1e-200), ParameterError, "length_scale=1e-200"),
        (lambda: RationalQuadratic(1e9), ParameterError, "the limit of large alpha is RBF"),
        (lambda: Polynomial(2000), ParameterError, "at most 1,000"),
        (lambda: Polynomial(-1), ParameterError, "degree=-1"),
        (lambda: Sigmoid(coef0=np.nan), ParameterError, "coef0=nan must be a finite number"),
        (lambda: Polynomial(2.5, 1.0, 0.0)(CLOUD, CLOUD), DataError, "Use an integer degree"),
        (lambda: Polynomial(900, 1.0)(CLOUD, CLOUD), DataError, "returned inf for row 1"),
        (lambda: RationalQuadratic(1e-5)(1e200 * CLOUD, CLOUD), DataError, "Squared distances of these rows overflow"),
        (lambda: Linear()(1e200 * CLOUD, 1e200 * CLOUD), DataError, "scale the data down"),
        (
            lambda: RBF(1.0)(sparse.csr_array(1e200 * CLOUD), sparse.csr_array(CLOUD)),
            DataError,
            "returned inf for row 0",
        ),
        (lambda: RBF(1.0).prepare(sparse.csr_array(1e200 * CLOUD)), DataError, "returned inf for row 0"),
        (lambda: Polynomial(10, 1.0).with_origin(np.full(4, 1e20))(CLOUD, CLOUD), DataError, "returned inf for row 0"),
        (
            lambda: MinMax()(1.5e308 * np.ones((3, 2)), np.ones((3, 2))),
            DataError,
            "returned inf for row 0 (3 of 3 rows)",
        ),
        (lambda: HistogramIntersection().prepare(1.5e308 * np.ones((3, 2))), DataError, "returned inf for row 0"),
        (lambda: Tanimoto()(CLOUD, 1e-200 * CLOUD), DataError, "Leave out the smallest rows"),
        (lambda: Tanimoto()(1e-200 * CLOUD, CLOUD), DataError, "Leave out the smallest rows"),
        (lambda: evaluate(Pairwise(lambda x, y: np.nan), CLOUD), DataError, "returned nan for row 0 (23 of 23 rows)"),
        (lambda: evaluate(Cubes(), np.float32(1e20) * CLOUD.astype(np.float32)), DataError, "astype(np.float64)"),
        (lambda: Pairwise(lambda x, y: x)(CLOUD, CLOUD), DataError, "shape (4,) for one pair"),
        (lambda: Pairwise(lambda x, y: "a")(CLOUD, CLOUD), DataError, "returned 'a', which is not a real number"),
        (lambda: Blockwise(lambda X, Y: X)(CLOUD, OTHERS), DataError, "must return (23, 11)"),
        (lambda: Precomputed()(CLOUD, CLOUD), DataError, "X is the kernel matrix"),
        (lambda: MinMax()(CLOUD, CLOUD), DataError, "in row 0, column 1"),
        (lambda: ChiSquared(1.0).validate(-np.eye(3), "landmarks"), DataError, "landmarks has 3 negative numbers"),
        (lambda: Tanimoto(packed=True)(CLOUD, CLOUD), DataError, "np.packbits"),
        (lambda: Tanimoto(packed=1), ParameterError, "packed=1"),
        (lambda: get_kernel("gauss"), ParameterError, "kernel='gauss' must be one of linear, poly, rbf"),
        (lambda: get_kernel("spectrum", params={"k": 3}), ParameterError, "parameters of 'spectrum': n, min_n"),
        (lambda: RBF(1.0) + "rbf", TypeError, "unsupported operand"),
        (lambda: -1 * RBF(1.0), ParameterError, "factor=-1.0 must be a positive number"),
        (lambda: RBF(1.0) + (-2), ParameterError, "value=-2.0"),
        (lambda: RBF(0.4).with_params(sigma=1), ValueError, "Invalid parameter 'sigma' for kernel RBF(gamma=0.4)"),
        (lambda: Sum(RBF(1.0), get_kernel("precomputed")), ParameterError, "different kinds of samples"),
        (lambda: check_kernel("rbf", CLOUD[:1]), DataError, "at least two samples"),
        (lambda: check_kernel("rbf", CLOUD, n_sampled=1), ParameterError, "n_sampled=1"),
    ],
)
def test_messages(mistake, error, message):
    with np.errstate(all="ignore"), pytest.raises(error) as found:
        mistake()
    assert message in str(found.value)


def test_a_negative_number_is_located():
    X = np.abs(CLOUD)
    X[5, 2] = -0.25
    for rows in (X, sparse.csr_array(X)):
        with pytest.raises(DataError) as found:
            HistogramIntersection().prepare(rows)
        assert (found.value.row, found.value.column, found.value.value) == (5, "2", -0.25)


# ---------------------------------------------------------------------- parameters, algebra, names


@pytest.mark.parametrize("kernel", [*SIGNED, *NONNEGATIVE, RBF(), RBF("median")], ids=str)
def test_kernels_are_values(kernel):
    assert clone(kernel) == kernel == pickle.loads(pickle.dumps(kernel))  # noqa: S301
    assert hash(clone(kernel)) == hash(kernel)
    names = {cls.__name__: cls for cls in map(type, [*SIGNED, *NONNEGATIVE])}
    assert eval(repr(kernel), {**names, "inf": np.inf}) == kernel  # noqa: S307
    assert kernel.with_params(**kernel.get_params(deep=False)) == kernel
    with pytest.raises(AttributeError):
        kernel.gamma = 3.0


def test_the_algebra():
    a, b = RBF(0.4), Linear()
    K, L = a(CLOUD, OTHERS), b(CLOUD, OTHERS)
    for kernel, expected in (
        (a + b, K + L),
        (a * b, K * L),
        (3 * a, 3 * K),
        (a * 3, 3 * K),
        (np.float64(3) * a, 3 * K),
        (a + 2, K + 2),
        (np.int64(2) + a, K + 2),
        (sum([a, b, a]), 2 * K + L),
        (0.5 * (a + b) * (1 + a), 0.5 * (K + L) * (1 + K)),
    ):
        assert_allclose(kernel(CLOUD, OTHERS), expected, rtol=1e-13)
        assert_allclose(
            kernel.prepare(CLOUD, shift=None).diag, kernel.diag(CLOUD) - kernel.prepare(CLOUD, shift=None).shift
        )
    assert a + 0 is a
    assert repr((a + b) * a + 1.5) == "(RBF(gamma=0.4) + Linear()) * RBF(gamma=0.4) + 1.5"
    assert (a + b).psd and not (a + Sigmoid(1.0)).psd
    assert (a * a).max_value == 1.0 and (2 * a + a).max_value == 3.0 and (a + b).max_value == 0.0
    assert (2 * a).decreasing and not (a + b).decreasing and (a + MinMax()).non_negative
    assert (Constant(1.0) + get_kernel("precomputed")).input_kind == "precomputed"


def test_flat_sums_and_products_keep_their_digits():
    """Each part subtracts its own maximum: entries of 1e-11 are right to ten digits, not to five."""
    squares = pairwise.euclidean_distances(CLOUD, squared=True)
    for kernel, expected in (
        (RBF(1e-12) + RBF(2e-12) + 5, -3e-12 * squares),
        (2 * RBF(1e-12) * Matern(np.inf, 1e6), -3e-12 * squares),
    ):
        prepared = kernel.prepare(CLOUD, shift=None)
        K = np.empty((23, 23))
        prepared.fill(slice(None), slice(None), K)
        assert prepared.shift == kernel.max_value
        assert_allclose(K, expected, rtol=1e-9, atol=1e-24)
        again = kernel.prepare(CLOUD, shift=prepared.shift).against(CLOUD[:5])
        again.fill(slice(None), slice(None), K[:5])
        assert_allclose(K[:5], expected[:5], rtol=1e-9, atol=1e-24)


def test_nested_parameters():
    kernel = RBF(0.4) + 2.0 * Polynomial(2, 0.5)
    assert kernel.get_params()["right__kernel__gamma"] == 0.5
    changed = kernel.with_params(left__gamma=1.0, right__kernel__gamma=3.0, right__factor=5.0)
    assert repr(changed) == "RBF(gamma=1.0) + 5 * Polynomial(degree=2, gamma=3.0, coef0=1.0)"
    assert kernel.left.gamma == 0.4
    with pytest.raises(ValueError, match="Invalid parameter 'sigma' for kernel RBF"):
        kernel.with_params(left__sigma=1)
    with pytest.raises(ValueError, match="Invalid parameter 'factor__x' for kernel 2"):
        kernel.with_params(right__factor__x=1)


@pytest.mark.parametrize("name", [name for name, entry in KERNELS.items() if entry.input_kind == "vectors"])
def test_names_stand_for_kernels(name):
    given = {"gamma": 0.5, "degree": 2, "coef0": 0.25}
    kernel = get_kernel(name, **given)
    assert type(kernel).__name__ == KERNELS[name].class_name
    assert kernel.get_params() == {key: given[key] for key in KERNELS[name].parameters}
    assert get_kernel(name, params={"unused": 1}) == get_kernel(name)
    X = np.abs(CLOUD)
    theirs = pairwise.pairwise_kernels(X, metric=name, filter_params=True, **given)
    assert_allclose(kernel(X, X), theirs, rtol=1e-11)
    default = get_kernel(name).resolve(ArrayDataset(X), lazy_generator(0))
    assert getattr(default, "gamma", None) == {"chi2": 1.0}.get(
        name, 0.25 if "gamma" in given and hasattr(default, "gamma") else None
    )
    assert "polynomial" in ALIASES and get_kernel("polynomial") == get_kernel("poly")


def test_get_kernel_takes_objects_and_functions():
    assert get_kernel(kernel := RBF(2.0), gamma=5) is kernel
    assert get_kernel(np.dot, params={"out": None}) == Pairwise(np.dot, {"out": None})
    assert isinstance(get_kernel("precomputed"), Precomputed)


def test_gamma_left_to_the_data():
    squares = pairwise.euclidean_distances(CLOUD, squared=True)[np.triu_indices(23, 1)]
    rng, data = lazy_generator(0), ArrayDataset(CLOUD)
    assert RBF("median").resolve(data, rng).gamma == pytest.approx(1 / np.median(squares))
    assert Polynomial(gamma="median").resolve(data, rng).gamma == pytest.approx(1 / np.median(squares))
    cityblock = pairwise.manhattan_distances(CLOUD)[np.triu_indices(23, 1)]
    assert Laplacian("median").resolve(data, rng).gamma == pytest.approx(1 / np.median(cityblock))
    repeated = ArrayDataset(np.vstack([CLOUD[:2], np.repeat(CLOUD[:1], 20, axis=0)]))
    assert RBF("median").resolve(repeated, rng).gamma == pytest.approx(1 / np.sum((CLOUD[0] - CLOUD[1]) ** 2))
    positive = np.abs(CLOUD)
    chi = -np.log(pairwise.chi2_kernel(positive))[np.triu_indices(23, 1)]
    assert ChiSquared("median").resolve(ArrayDataset(positive), rng).gamma == pytest.approx(1 / np.median(chi))
    kernel = (2 * RBF() + Laplacian("median") * Linear()).resolve(data, rng)
    assert kernel.left.kernel.gamma == 0.25 and isinstance(kernel.right.left.gamma, float)
    assert RBF(3.0).resolve(data, rng) == RBF(3.0)
    wide = sparse.random_array((50, 9000), density=0.002, rng=np.random.default_rng(0), format="csr")
    for kernel in (RBF("median"), Laplacian("median"), ChiSquared("median")):
        dense = kernel.resolve(ArrayDataset(wide.toarray()), rng).gamma
        assert kernel.resolve(ArrayDataset(wide), rng).gamma == pytest.approx(dense)
    many = ArrayDataset(np.random.default_rng(1).normal(size=(3000, 2)))
    assert RBF("median").resolve(many, lazy_generator(0)) == RBF("median").resolve(many, lazy_generator(0))
    with pytest.raises(DataError, match="all distances between rows of X are zero"):
        RBF("median").resolve(ArrayDataset(np.ones((5, 2))), rng)
    with (
        np.errstate(over="ignore"),
        pytest.raises(DataError, match="too far for a floating-point number"),
    ):
        RBF("median").resolve(ArrayDataset(1e200 * CLOUD), rng)


# ---------------------------------------------------------------------- digits and dtypes


def test_small_distances_of_far_rows_are_exact_where_it_matters():
    near = np.array([[1e4, 0.0], [1e4 + 1e-5, 0.0]])
    assert Matern(0.5)(near, near)[0, 1] == pytest.approx(np.exp(-(near[1, 0] - near[0, 0])), rel=1e-15)
    assert_allclose(RBF(1.0)(1e8 + np.eye(2), 1e8 + np.eye(2)), np.exp([[0, -2], [-2, 0]]), rtol=1e-15)


def test_a_huge_gamma_is_the_identity():
    for X in (CLOUD, 1e200 * CLOUD, 1e-200 * CLOUD):
        for kernel in (RBF(1e300), RBF(1.7e308), Matern(1.5, 1e-149)):
            K = values(kernel, X, X)
            assert_array_equal(np.diag(K), 1.0)
            assert np.isfinite(K).all()
    assert_array_equal(values(RBF(1e300), CLOUD, CLOUD), np.eye(23))
    assert_array_equal(values(RBF(1.0), 1e300 * CLOUD, 1e300 * CLOUD), np.eye(23))


def test_tiles_are_float64_for_float32_rows():
    for kernel in (RBF(0.1), Matern(0.5), Laplacian(1.0), Linear(), Cosine(), RBF(0.1) + Linear()):
        prepared = kernel.prepare(CLOUD.astype(np.float32))
        assert prepared.dtype == np.float64
        assert_allclose(kernel(CLOUD.astype(np.float32), OTHERS), kernel(CLOUD, OTHERS), rtol=1e-4, atol=1e-5)


def test_integers_are_compared_exactly():
    counts = rng.poisson(2.0, size=(40, 30))
    union = np.maximum(counts[:, None], counts).sum(axis=2)
    common = np.minimum(counts[:, None], counts).sum(axis=2)
    for X in (counts, counts.astype(np.uint8), counts.astype(float), sparse.csr_array(counts)):
        assert_array_equal(HistogramIntersection()(X, X), common)
        assert_array_equal(MinMax()(X, X), common / union)
        products = counts @ counts.T
        squares = np.diag(products)
        assert_array_equal(Tanimoto()(X, X), products / (squares[:, None] + squares - products))
    more = counts[:5] + rng.poisson(20.0, size=(5, 30))  # numbers that no training row has
    prepared = MinMax().prepare(counts).against(more)
    K = np.empty(prepared.shape)
    prepared.fill(slice(None), slice(None), K)
    expected = np.minimum(more[:, None], counts).sum(axis=2) / np.maximum(more[:, None], counts).sum(axis=2)
    assert_array_equal(K, expected)
    prepared = MinMax().prepare(counts).against(more + 0.5)
    prepared.fill(slice(None), slice(None), K)
    halves = np.minimum(more[:, None] + 0.5, counts).sum(axis=2) / np.maximum(more[:, None] + 0.5, counts).sum(axis=2)
    assert_allclose(K, halves, rtol=1e-14)


def test_check_kernel():
    for kernel, words in (
        ("rbf", "is symmetric and positive semi-definite"),
        (lambda x, y: float(x[0] * y[1]), "is not symmetric"),
        (lambda x, y: -float(np.sum((x - y) ** 2)), "is not positive semi-definite"),
        (lambda x, y: float("nan"), "not finite"),
        (Sigmoid(0.5, -1.0), "is not positive semi-definite"),
    ):
        found = check_kernel(kernel, CLOUD)
        assert words in found.summary and bool(found) == words.startswith("is symmetric")
        assert found.to_dict()["n_sampled"] == [23]
    assert check_kernel("precomputed", CLOUD @ CLOUD.T)
    assert check_kernel("precomputed", sparse.csr_array(np.diag([1.0, 2.0])))
    assert not check_kernel("precomputed", -np.eye(3))
    assert check_kernel(lambda x, y: len(x & y), [{1, 2}, {2}, {3}, set()])
    assert check_kernel("rbf", CLOUD.tolist()) and check_kernel("linear", sparse.csr_array(CLOUD))

    @dataclass(frozen=True)
    class WrongDiagonal(Cubes):
        def diag(self, X):
            return np.ones(len(X))

    assert "diag(X) differs" in check_kernel(WrongDiagonal(), CLOUD).summary


def test_nothing_else_makes_kernels_of_names():
    assert not hasattr(base, "resolve_kernel")


def test_check_kernel_of_huge_and_complex_values():
    X = np.random.default_rng(0).normal(size=(20, 3))
    huge = check_kernel(lambda x, y: 1e308 * np.sign(x @ y), X)
    assert not huge and huge.asymmetry == 0 and huge.smallest_eigenvalue < 0
    assert check_kernel("precomputed", np.full((4, 4), 1e308))
    with pytest.raises(DataError, match="Complex data not supported"):
        check_kernel("precomputed", np.eye(3) * 1j)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.int64])
def test_parameters_may_be_numpy_numbers(dtype):
    """Squares of lengths are taken in double precision: 300 is too large for those of float16."""
    X, two = np.random.default_rng(0).normal(size=(5, 3)), dtype(2)
    for cls in (RBF, Laplacian, partial(Polynomial, 3), Sigmoid):
        assert_allclose(cls(gamma=two)(X, X), cls(gamma=2)(X, X), rtol=1e-14)
    for cls in (partial(Matern, 1.5), partial(RationalQuadratic, 1.0), RBF.from_length_scale):
        far = dtype(100 if dtype is np.int8 else 300)
        assert_allclose(cls(length_scale=far)(X, X), cls(length_scale=float(far))(X, X), rtol=1e-14)
