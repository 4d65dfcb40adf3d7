"""Gram matrices of centered rows, and the axes that follow from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.data.dataset import ArrayDataset
from mercer.linalg.row_gram import axes_from_gram, gram_flops, gram_matrix
from mercer.linalg.scatter import ScatterDiagonal, accumulate

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(20, 1500)) + 3
WEIGHTS = rng.uniform(0.1, 2.0, 20)
ENTRIES = rng.random((20, 1500)) < 0.2
SPARSE = sparse.csr_array(np.where(ENTRIES | (np.arange(1500) % 20 == np.arange(20)[:, None]), ROWS, 0.0))
CASES = {
    "dense": (ROWS, None),
    "far": (ROWS + 1e6, None),
    "float32 with weights": (ROWS.astype(np.float32), WEIGHTS),
    "uint8": (rng.integers(0, 256, (20, 1500)).astype(np.uint8), None),
    "int8 with weights": (rng.integers(0, 3, (20, 1500)).astype(np.int8), WEIGHTS),
    "int16": (rng.integers(-30000, 30000, (20, 1500)).astype(np.int16), None),
    "sparse": (SPARSE, None),
    "sparse with weights": (SPARSE, WEIGHTS),
    "sparse without zeros": (sparse.csr_array(ROWS), WEIGHTS),
    "sparse with large weights": (SPARSE, 1e7 * WEIGHTS),
}


class Unread(ArrayDataset):
    in_memory = False


def prepared(X, weights, standardize=False):
    scatter = accumulate(ArrayDataset(X), weights, ScatterDiagonal, 1)
    scale = scatter.standard_deviations if standardize else None
    Y = (X.toarray() if sparse.issparse(X) else X).astype(np.longdouble)
    w = np.ones(len(Y), np.longdouble) if weights is None else weights.astype(np.longdouble)
    for _ in range(2):
        Y = Y - w @ Y / w.sum()
    Y = np.sqrt(w)[:, None] * Y
    return scatter, scale, Y if scale is None else Y / np.sqrt((Y**2).sum(axis=0) / (w.sum() - 1))


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_gram_matrix_and_axes_are_within_their_bounds(case, standardize):
    X, weights = CASES[case]
    scatter, scale, Y = prepared(X, weights, standardize)
    gram, error = gram_matrix(ArrayDataset(X), weights, scatter, scale, 1)
    assert_array_equal(gram, gram.T)
    assert np.linalg.norm((gram - Y @ Y.T).astype(float), 2) <= error
    assert error <= 1e-10 * float((Y**2).sum())
    U = np.linalg.qr(rng.normal(size=(20, 3)))[0]
    axes, bounds = axes_from_gram(ArrayDataset(X), weights, scatter, scale, U, 1)
    errors = np.sqrt(((axes - Y.T @ U) ** 2).sum(axis=0))
    assert np.all(errors <= bounds)
    assert np.all(bounds <= 1e-10 * np.sqrt(float((Y**2).sum())))


@pytest.mark.parametrize("case", ["dense", "float32 with weights", "uint8", "int16"])
def test_files_are_read_in_pairs_of_blocks(case):
    X, weights = CASES[case]
    scatter, _, Y = prepared(X, weights)
    done = []
    gram, error = gram_matrix(Unread(X), weights, scatter, None, 2, done.append, max_bytes=200_000)
    assert np.linalg.norm((gram - Y @ Y.T).astype(float), 2) <= error
    assert_allclose(done, [0.5 * (i + 1) for i in range(2)])
    U = rng.normal(size=(20, 2))
    in_memory = axes_from_gram(ArrayDataset(X), weights, scatter, None, U, 1)[0]
    assert_allclose(axes_from_gram(Unread(X), weights, scatter, None, U, 2)[0], in_memory, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize(("dtype", "low", "high"), [(np.uint8, 0, 256), (np.int8, 0, 3), (np.int16, -500, 500)])
def test_products_of_small_integers_are_exact(dtype, low, high):
    """Centering is all that rounds, so the error does not grow with the number of columns."""
    X = rng.integers(low, high, (16, 4000)).astype(dtype)
    scatter, _, _ = prepared(X, None)
    gram, error = gram_matrix(ArrayDataset(X), None, scatter, None, 1)
    Z = X.astype(np.float64)  # n²G is an integer below 2⁵³
    scaled = Z * 16 - Z.sum(axis=0)
    assert_allclose(gram, scaled @ scaled.T / 256, rtol=1e-14, atol=1e-14 * np.trace(gram))
    assert error <= 128 * 2.0**-53 * np.linalg.norm((Z - (low + high) // 2) @ (Z - (low + high) // 2).T)


@pytest.mark.usefixtures("blas_of_fits")
@pytest.mark.parametrize("case", CASES)
def test_threads_do_not_change_a_bit(case):
    X, weights = CASES[case]
    X = sparse.vstack([X] * 15, format="csr") if sparse.issparse(X) else np.tile(X, (15, 1))
    weights = None if weights is None else np.tile(weights, 15)
    scatter, U = accumulate(ArrayDataset(X), weights, ScatterDiagonal, 1), rng.normal(size=(300, 9))
    one, three = (gram_matrix(ArrayDataset(X), weights, scatter, None, n)[0] for n in (1, 3))
    assert_array_equal(one, three)
    one, three = (axes_from_gram(ArrayDataset(X), weights, scatter, None, U, n)[0] for n in (1, 3))
    assert_array_equal(one, three)


def test_eigenpairs_of_the_gram_matrix_are_principal_axes():
    X, weights = CASES["float32 with weights"]
    scatter, _, Y = prepared(X, weights)
    values, U = np.linalg.eigh(gram_matrix(ArrayDataset(X), weights, scatter, None, 1)[0])
    axes, _ = axes_from_gram(ArrayDataset(X), weights, scatter, None, U[:, 5:] / np.sqrt(values[5:]), 1)
    assert_allclose(axes.T @ axes, np.eye(15), atol=1e-12)
    assert_allclose(values[5:], np.linalg.svd(Y.astype(float), compute_uv=False)[:15][::-1] ** 2, rtol=1e-12)


@pytest.mark.parametrize("case", ["dense", "sparse"])
def test_a_wrong_mean_counts_to_second_order(case):
    X, weights = CASES[case]
    scatter, _, Y = prepared(X, weights)
    shift = np.linspace(-1, 1, 1500) * 1e-3
    scatter.mean_high, scatter.mean_error = scatter.mean_high + shift, scatter.mean_error + np.abs(shift)
    gram, error = gram_matrix(ArrayDataset(X), weights, scatter, None, 1)
    off = np.abs(np.linalg.eigvalsh(gram) - np.linalg.eigvalsh((Y @ Y.T).astype(float))).max()
    more = scatter.total_weight * float(shift @ shift)
    assert 0.3 * more <= off <= error <= 1.01 * more + 1e-8


def test_costs():
    assert gram_flops(100, 1000, small_integers=True) < gram_flops(100, 1000) < gram_flops(200, 1000)
    assert gram_flops(1000, 10_000, nnz=10_000) < gram_flops(1000, 10_000)


def test_the_bounds_are_not_much_wider_than_the_errors_along_one_direction():
    worst = np.zeros(2)
    for seed in range(6):
        signs = np.where(np.arange(40) % 2, 1, -1)
        X = np.multiply.outer(signs, np.random.default_rng(seed).uniform(0.5, 1, 3)) / 3
        scatter, _, Y = prepared(X, None)
        gram, error = gram_matrix(ArrayDataset(X), None, scatter, None, 1)
        U = (signs / np.sqrt(40))[:, None]
        axes, bounds = axes_from_gram(ArrayDataset(X), None, scatter, None, U, 1)
        ratios = (
            np.linalg.norm((gram - Y @ Y.T).astype(float), 2) / error,
            np.linalg.norm((axes - Y.T @ U).astype(float)) / bounds[0],
        )
        worst = np.maximum(worst, ratios)
    assert np.all((worst >= 0.01) & (worst <= 1))  # narrowed 100 times they fail
