"""Products with the scatter matrix by passes over the rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.data.dataset import ArrayDataset
from mercer.linalg.scatter import ScatterDiagonal, accumulate
from mercer.linalg.scatter_operator import ScatterOperator, product_flops

rng = np.random.default_rng(0)
ROWS = rng.normal(size=(150, 12)) * np.linspace(1, 4, 12)
WEIGHTS = rng.uniform(0.1, 2.0, 150)
SPARSE = sparse.csr_array(np.where(rng.random((150, 12)) < 0.3, ROWS + 2, 0.0))
CASES = {
    "dense": (ROWS + 1, None),
    "far": (ROWS + 1e6, None),
    "float32 with weights": ((ROWS + 3).astype(np.float32), WEIGHTS),
    "int8": (rng.integers(-128, 128, (150, 12)).astype(np.int8), None),
    "sparse": (SPARSE, None),
    "sparse with weights": (SPARSE, WEIGHTS),
    "wide": (rng.normal(size=(20, 3000)) + 1, None),
    "one row": (ROWS[:1], None),
}


class Unread(ArrayDataset):
    in_memory = False


def centered(X, weights):
    X = (X.toarray() if sparse.issparse(X) else np.asarray(X)).astype(np.longdouble)
    w = np.ones(len(X), np.longdouble) if weights is None else weights.astype(np.longdouble)
    for _ in range(2):
        X = X - w @ X / w.sum()
    return np.sqrt(w)[:, None] * X


def operator(X, weights, standardize=False, n_threads=1, kind=ArrayDataset):
    scatter = accumulate(ArrayDataset(X), weights, ScatterDiagonal, 1)
    scale = scatter.standard_deviations if standardize else None
    return ScatterOperator(kind(X), weights, scatter, scale, n_threads)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_products_are_within_their_bound(case, standardize):
    X, weights = CASES[case]
    A, Y = operator(X, weights, standardize), centered(X, weights)
    if standardize:
        total = X.shape[0] if weights is None else weights.sum()
        deviations = np.sqrt((Y**2).sum(axis=0) / max(total - 1, 1))
        Y = Y / np.where(deviations == 0, 1, deviations)
    B = np.linalg.qr(rng.normal(size=(A.n, 5)))[0]
    error = np.sqrt(((A.matmat(B) - Y.T @ (Y @ B)) ** 2).sum(axis=0)).max()
    assert error <= A.product_error + A.entry_error
    assert A.product_error + A.entry_error <= 1e-9 * A.trace or case == "one row"
    assert_allclose(A.trace, float((Y**2).sum()), rtol=1e-12, atol=1e-20)


def test_a_far_mean_costs_no_digits():
    near, far = operator(*CASES["dense"]), operator(*CASES["far"])
    B = np.eye(12)
    assert_allclose(far.matmat(B), near.matmat(B), rtol=1e-8, atol=1e-6)
    assert far.product_error <= 2 * near.product_error
    implicit = operator(sparse.csr_array(CASES["far"][0]), None)  # not centered: the bound says what that costs
    assert implicit.product_error > 1e6 * far.product_error


@pytest.mark.usefixtures("blas_of_fits")
@pytest.mark.parametrize("case", ["float32 with weights", "sparse with weights"])
def test_threads_and_files_do_not_change_a_bit(case):
    X, weights = CASES[case]
    X = sparse.vstack([X] * 200, format="csr") if sparse.issparse(X) else np.tile(X, (200, 1))
    weights, B = np.tile(weights, 200), rng.normal(size=(12, 16))
    one = operator(X, weights).matmat(B)
    assert_array_equal(operator(X, weights, n_threads=3).matmat(B), one)
    assert_array_equal(operator(X, weights, n_threads=2, kind=Unread).matmat(B), one)
    Y = centered(X, weights)
    assert_allclose(one, (Y.T @ (Y @ B)).astype(float), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("case", ["dense", "far", "sparse with weights"])
def test_a_wrong_mean_counts_to_second_order(case):
    """Rows centered on mean + δ scatter by W·δδᵀ more, and by nothing of first order."""
    X, weights = CASES[case]
    scatter = accumulate(ArrayDataset(X), weights, ScatterDiagonal, 1)
    shift = np.linspace(-1e-3, 1e-3, 12)
    scatter.mean_high, scatter.mean_error = scatter.mean_high + shift, scatter.mean_error + np.abs(shift)
    Y, A = centered(X, weights), ScatterOperator(ArrayDataset(X), weights, scatter)
    found = A.matmat(np.eye(12))
    assert np.linalg.norm(found - (Y.T @ Y).astype(float), 2) <= A.entry_error + A.product_error
    more = scatter.total_weight * np.multiply.outer(shift, shift)
    assert_allclose(
        found - (Y.T @ Y).astype(float), more, atol=1e-7 * np.abs(more).max() + 1e-13 * float((Y**2).sum()) + 1e-9
    )


def test_costs():
    assert product_flops(1000, 100, 16) < product_flops(1000, 100, 32)
    assert product_flops(1000, 100, 16, nnz=1000) < product_flops(1000, 100, 16)


def test_the_bound_is_not_much_wider_than_the_error_along_one_direction():
    """All of the trace in one eigenvalue. In d equal ones the bound, which adds them up, is d times wider."""
    worst = 0.0
    for seed in range(6):
        v = np.random.default_rng(seed).uniform(0.5, 1, 3)
        X = np.multiply.outer(np.where(np.arange(40) % 2, 1, -1), v) / 3
        A, Y, b = operator(X, None), centered(X, None), (v / np.linalg.norm(v))[:, None]
        error = float(np.sqrt(((A.matmat(b) - Y.T @ (Y @ b)) ** 2).sum()))
        worst = max(worst, error / (A.product_error + A.entry_error))
    assert 0.01 <= worst <= 1  # narrowed 100 times it fails


@pytest.mark.parametrize("relative", [1e-9, 0.3])
def test_errors_of_standard_deviations_are_errors_of_the_matrix(relative):
    """Deviations are too large by what is known of the squares, and so all entries are too small."""
    X = rng.normal(size=(50, 1)) * np.ones(6)
    exact = accumulate(ArrayDataset(X), None, ScatterDiagonal, 1)
    scale = exact.standard_deviations
    wrong = accumulate(ArrayDataset(X), None, ScatterDiagonal, 1)
    wrong.diagonal_error = relative * exact.squares / (1 - relative)
    wrong._sum.high = exact.squares / (1 - relative)
    A = ScatterOperator(ArrayDataset(X), None, wrong, wrong.standard_deviations)
    unit = np.full((6, 1), 6**-0.5)
    true = float(exact.squares.sum() / scale[0] ** 2)
    off = true - float((unit.T @ A.matmat(unit))[0, 0])
    assert 0.3 * relative * true <= off <= A.entry_error
