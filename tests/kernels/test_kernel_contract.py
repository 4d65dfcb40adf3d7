"""The contract of a kernel, looped over all of them; the algebra; the check."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.metrics import pairwise

import mercer_old.kernels
from mercer import KernelPCA, kernels, textbook
from mercer.kernels import (
    RBF,
    Blockwise,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Pairwise,
    Polynomial,
    Precomputed,
    Sigmoid,
    check_kernel,
    resolve_kernel,
)
from mercer_old import kernel_names
from mercer_old.kernels.dot import _raise_to
from support import registry
from support.registry import ALL_KERNELS, MERCER_KERNELS, SPARSE_KERNELS, for_each

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(23, 4)), rng.normal(size=(11, 4))
every_kernel = for_each(ALL_KERNELS)


@every_kernel
@pytest.mark.parametrize("steps", [(3, 2), pytest.param((1, 1), marks=pytest.mark.slow)], ids=["some", "all"])
def test_block_is_made_of_pairs(kernel, items, steps):
    X, Y = items(13), items(7, 1)
    down, along = range(0, 13, steps[0]), range(0, 7, steps[1])
    pairs = [[kernel.block(X[i : i + 1], Y[j : j + 1])[0, 0] for j in along] for i in down]
    assert_allclose(kernel.block(X, Y)[np.ix_(down, along)], pairs, rtol=1e-10, atol=1e-12)


@every_kernel
def test_block_is_symmetric_and_its_diagonal_is_diag(kernel, items):
    X = items(23)
    K = kernel.block(X, X)
    assert_allclose(K, K.T, rtol=1e-12, atol=1e-13)
    assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-10, atol=1e-12)


@every_kernel
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_tiles_are_the_block_less_the_shift(kernel, items, shift):
    X, Y = items(23), items(11, 1)
    tiles = kernel.prepare(X, Y, shift=shift)
    out = np.empty((5, 4))
    tiles.fill(slice(3, 8), slice(2, 6), out)
    assert_allclose(out, kernel.block(X, Y)[3:8, 2:6] - shift, rtol=1e-9, atol=1e-12)
    own = np.empty((23, 23))
    kernel.prepare(X, shift=shift).fill(slice(0, 23), slice(0, 23), own)
    assert_allclose(own, kernel.block(X, X) - shift, rtol=1e-9, atol=1e-12)


@for_each(MERCER_KERNELS)
def test_gram_matrices_are_positive_semidefinite(kernel, items):
    X = items(23)
    eta = np.linalg.eigvalsh(kernel.block(X, X))
    assert eta[0] > -1e-10 * eta[-1]
    assert check_kernel(kernel, X)


@every_kernel
def test_explicit_features_give_the_kernel_exactly(kernel, items):
    X, Y = items(23), items(11, 1)
    features, count, learned = kernel.features(X), kernel.n_features(X), kernel.feature_map(X)
    assert (features is None) == (count is None) == (learned is None)
    if features is not None:
        assert features.shape == learned.features(X).shape == (23, count)
        assert learned.n_features() == count
        product = learned.features(X) @ learned.features(Y).T  # of new items, what the map has learned to see
        product = product.toarray() if sparse.issparse(product) else product
        assert_allclose(product, kernel.block(X, Y), rtol=1e-11, atol=1e-12)


@for_each(SPARSE_KERNELS)
def test_sparse_rows_give_the_same(kernel, items):
    mostly_zero = items(23) * (np.abs(items(23)) > 1)
    for container in (sparse.csr_array, sparse.csr_matrix):
        S = container(mostly_zero)
        assert_allclose(kernel.block(S, S), kernel.block(mostly_zero, mostly_zero), rtol=1e-10, atol=1e-12)
        assert_allclose(kernel.diag(S), kernel.diag(mostly_zero), rtol=1e-10, atol=1e-12)
        out = np.empty((23, 5))
        kernel.prepare(S, shift=0.5).fill(slice(0, 23), slice(1, 6), out)
        assert_allclose(out, kernel.block(mostly_zero, mostly_zero)[:, 1:6] - 0.5, rtol=1e-10, atol=1e-12)


@every_kernel
def test_kernels_are_values(kernel, items):
    assert clone(kernel) == kernel
    assert type(kernel).__name__ in repr(kernel) or any(sign in repr(kernel) for sign in "+*")
    with pytest.raises(AttributeError, match="gamma"):
        kernel.gamma = 3.0


@every_kernel
def test_repr_is_what_one_would_write(kernel, items):
    X, Y = items(23), items(11, 1)
    again = eval(repr(kernel), vars(mercer_old.kernels) | vars(registry))  # noqa: S307
    assert_allclose(again.block(X, Y), kernel.block(X, Y), rtol=1e-5)


def test_formulas_are_those_of_the_textbook_and_of_scikit_learn():
    assert_allclose(RBF(0.4).block(X, Y), textbook.gram_matrix(textbook.rbf_kernel(0.4), X, Y), rtol=1e-12)
    by_length = textbook.gram_matrix(textbook.rbf_kernel_of_length(0.7), X, Y)
    assert_allclose(RBF.from_length_scale(0.7).block(X, Y), by_length, rtol=1e-12)
    polynomial = textbook.gram_matrix(textbook.polynomial_kernel(0.3, 0.5, 3), X, Y)
    assert_allclose(Polynomial(3, 0.3, 0.5).block(X, Y), polynomial, rtol=1e-11)
    assert_allclose(Sigmoid(0.1, 0.2).block(X, Y), pairwise.sigmoid_kernel(X, Y, gamma=0.1, coef0=0.2), rtol=1e-11)
    assert_allclose(Cosine().block(X, Y), pairwise.cosine_similarity(X, Y), rtol=1e-11)
    assert_allclose(Laplacian(0.3).block(X, Y), pairwise.laplacian_kernel(X, Y, gamma=0.3), rtol=1e-11)
    for nu in (0.5, 1.5, 2.5):
        theirs = gaussian_process.Matern(length_scale=0.8, nu=nu)(X, Y)
        assert_allclose(Matern(nu, 0.8).block(X, Y), theirs, rtol=1e-9)


def test_polynomials_of_real_degree_are_powers():
    positive = np.abs(X)
    expected = (0.5 * positive @ positive.T + 1) ** 2.5
    assert_allclose(Polynomial(2.5, 0.5, 1.0).block(positive, positive), expected)


def test_sums_and_products_obey_the_algebra():
    a, b = RBF(0.4), Linear()
    K, L = a.block(X, Y), b.block(X, Y)
    assert_allclose((a + b).block(X, Y), K + L)
    assert_allclose((a * b).block(X, Y), K * L)
    assert_allclose((3 * a).block(X, Y), 3 * K)
    assert_allclose((a * 3).block(X, Y), 3 * K)
    assert_allclose((a + 2).block(X, Y), K + 2)
    assert_allclose((2 + a).block(X, Y), K + 2)
    assert repr((a + b) * a) == "(RBF(gamma=0.4) + Linear()) * RBF(gamma=0.4)"
    with pytest.raises(TypeError, match="kernel or a number"):
        a + "rbf"


def test_parameters_are_changed_in_copies():
    kernel = RBF(0.4) + 2.0 * Polynomial(2, 0.5)
    assert kernel.get_params()["right__kernel__gamma"] == 0.5
    changed = kernel.with_params(left__gamma=1.0, right__kernel__gamma=3.0, right__factor=5.0)
    assert repr(changed) == "RBF(gamma=1.0) + 5 * Polynomial(degree=2, gamma=3.0, coef0=1.0)"
    assert kernel.left.gamma == 0.4
    with pytest.raises(ValueError, match="Invalid parameter 'sigma' for kernel RBF"):
        RBF(0.4).with_params(sigma=1)


def test_parameters_left_to_the_data_are_resolved_once():
    generator = np.random.default_rng(0)
    assert resolve_kernel("rbf", X, generator) == RBF(0.25)
    assert resolve_kernel("poly", X, generator, degree=2) == Polynomial(2, 0.25, 1)
    assert (RBF() + Linear()).resolved(X, generator) == RBF(0.25) + Linear()
    squares = textbook.gram_matrix(lambda x, y: np.sum((x - y) ** 2), X)[np.triu_indices(23, 1)]
    assert RBF("median").resolved(X, generator).gamma == pytest.approx(1 / np.median(squares))
    many = rng.normal(size=(5000, 3))
    assert RBF("median").resolved(many, generator).gamma == pytest.approx(1 / (2 * 3 * 0.79), rel=0.1)  # χ²₃: 2.37·2
    with pytest.raises(ValueError, match="all rows of X are the same"):
        RBF("median").resolved(np.ones((5, 2)), generator)
    with pytest.raises(ValueError, match="too large for a number; scale them down"):
        RBF("median").resolved(1e200 * X, generator)


OF_ROWS = [entry for entry in kernel_names.NAMED if entry.compares == "rows"]


@pytest.mark.parametrize("entry", OF_ROWS, ids=lambda entry: entry.name)
def test_a_name_stands_for_a_kernel_with_those_parameters_that_it_takes(entry):
    said = {"gamma": 0.5, "degree": 2, "coef0": 0.25}
    made = [resolve_kernel(name, X, rng, **said) for name in (entry.name, *entry.aliases)]
    taken = {name: said[name] for name in entry.takes if name in said}
    assert entry.compares != "rows" or set(taken) == set(entry.takes)
    assert set(made) == {getattr(kernels, entry.kernel)(**taken)}
    if "gamma" in entry.takes:
        usual = {"1/columns": 1 / X.shape[1]}
        left_out = resolve_kernel(entry.name, X, rng).gamma
        assert left_out == usual.get(entry.usual_gamma) or left_out == float(entry.usual_gamma)


@pytest.mark.filterwarnings("ignore:.*eigenvalue")  # of tanh
@pytest.mark.parametrize("name", kernel_names.OF_ROWS)
def test_models_and_checks_take_every_name(name):
    positive = np.abs(X)
    model = KernelPCA(2, kernel=name, gamma=0.5, coef0=0.0).fit(positive)
    assert model.kernel_ == resolve_kernel(name, positive, rng, gamma=0.5, coef0=0.0)
    assert check_kernel(name, positive).finite
    assert name in kernel_names.in_words() and name in kernels.NAMES


def test_the_median_is_that_of_the_distance_that_gamma_multiplies():
    distances = textbook.gram_matrix(lambda x, y: np.abs(x - y).sum(), X)[np.triu_indices(23, 1)]
    assert Laplacian("median").resolved(X, rng).gamma == pytest.approx(1 / np.median(distances))
    assert Polynomial(gamma="median").resolved(X, rng).gamma == RBF("median").resolved(X, rng).gamma


def test_small_distances_are_exact_where_it_matters():
    near = np.array([[1e4, 0.0], [1e4 + 1e-5, 0.0]])
    expected = np.exp(-1e-5)
    assert_allclose(Matern(0.5).block(near, near)[0, 1], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: RBF(gamma=0), "gamma must be a positive number; got 0"),
        (lambda: RBF(gamma=-1.0), "gamma must be a positive number; got -1.0"),
        (lambda: RBF(gamma="large"), "gamma must be a positive number; got 'large'"),
        (lambda: RBF(gamma=np.inf), "got inf"),
        (lambda: RBF.from_length_scale(0), "length_scale must be a positive number"),
        (lambda: Matern(nu=1), "nu must be 0.5, 1.5 or 2.5"),
        (lambda: Laplacian(gamma=np.nan), "got nan"),
        (lambda: Polynomial(degree=-1), "degree must be a non-negative number"),
        (lambda: -1 * RBF(1.0), "factor must be a positive number; got -1.0"),
        (lambda: resolve_kernel("gauss", X, rng), "Unknown kernel 'gauss'; choose one of linear"),
        (lambda: Pairwise(lambda x, y: x - y).block(X, Y), "array of shape (4,) for one pair of rows"),
        (lambda: Blockwise(lambda A, B: A).block(X, Y), "returned shape (23, 4) for blocks of 23 and 11 rows"),
        (lambda: check_kernel("rbf", X[:1]), "at least two rows"),
    ],
)
def test_a_mistake_is_answered_with_one_sentence(mistake, sentence):
    with pytest.raises(ValueError) as answer:
        mistake()
    assert sentence in str(answer.value)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ("rbf", "'rbf' passes: symmetric and positive semi-definite"),
        (lambda x, y: float(x[0] * y[1]), "k(x, y) and k(y, x) differ"),
        (lambda x, y: -float(np.sum((x - y) ** 2)), "not a Mercer kernel"),
        (lambda x, y: float("nan"), "values that are not finite"),
        (Sigmoid(0.5, -1.0), "not a Mercer kernel"),
    ],
)
def test_check_kernel_gives_its_verdict_in_words(kernel, words):
    verdict = check_kernel(kernel, X)
    assert words in str(verdict)
    assert bool(verdict) == ("passes" in words)


def test_precomputed_says_that_it_has_no_formula():
    with pytest.raises(TypeError, match="no formula"):
        Precomputed().block(X, Y)


@pytest.mark.parametrize("power", [1, 2, 3, 4, 5, 7, 8, 15, 31, 63, 100, 255, 999, 1000])
def test_whole_powers_by_squaring_have_a_rounding_for_every_factor_but_one(power):
    values = np.random.default_rng(power).uniform(0.5, 1.5, size=1000) ** (3 / power)
    exact = values.astype(np.longdouble) ** power
    _raise_to(values, power)
    assert np.abs(values / exact - 1).max() <= max(power - 1, 0) * np.finfo(float).eps / 2 + 1e-18 * power


def test_powers_that_are_not_whole_are_those_of_numpy():
    values = np.random.default_rng(0).uniform(0.1, 3, size=100)
    for power in (0, 0.5, 2.5):
        raised = values.copy()
        _raise_to(raised, power)
        assert_allclose(raised, values**power, rtol=1e-15)
