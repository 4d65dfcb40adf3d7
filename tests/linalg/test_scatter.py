"""Scatter of rows: sums and their error bounds against exact arithmetic."""

import functools
import operator
import pickle
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.data.dataset import ArrayDataset
from mercer.errors import DataError
from mercer.estimators.lle import LocallyLinearEmbedding
from mercer.linalg.scatter import (
    ScatterDiagonal,
    ScatterMatrix,
    accumulate,
    accumulate_bytes,
    column_moments,
    common_unit,
    deviation_errors,
    energy_along,
    merge_overflows,
    merged,
    scatter_flops,
)
from mercer.linalg.scatter_operator import ScatterOperator
from mercer.linalg.scatter_qr import ScatterQR
from mercer.linalg.scatter_sketch import ScatterSketch
from mercer.numerics.rounding import UNIT

N, D = 60, 3


class Unread(ArrayDataset):
    """Rows that count as a file."""

    in_memory = False


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def exact(X, weights=None):
    """Mean and scatter matrix in rational numbers."""
    rows = [[Fraction(float(x)) for x in row] for row in dense(X)]
    w = [Fraction(1)] * len(rows) if weights is None else [Fraction(float(x)) for x in weights]
    d = range(len(rows[0]))
    mean = [sum(v * row[j] for v, row in zip(w, rows, strict=True)) / sum(w) for j in d]
    moved = [[row[j] - mean[j] for j in d] for row in rows]
    return mean, [[sum(v * y[i] * y[j] for v, y in zip(w, moved, strict=True)) for j in d] for i in d]


def ratios(scatter, X, weights=None):
    """Errors of entries, of the diagonal and of the mean, divided by their bounds: the largest of each."""
    mean, S = exact(X, weights)
    matrix, squares = scatter.matrix(), scatter.squares
    entry, own = scatter.entry_error + 4 * UNIT * squares, scatter.diagonal_error + 4 * UNIT * squares
    d = range(len(mean))

    def ratio(error, bound):
        return float(abs(error)) / bound if error else 0.0

    errors = [[Fraction(float(matrix[i, j])) - S[i][j] for j in d] for i in d]
    means = [Fraction(float(scatter.mean_high[j])) + Fraction(float(scatter.mean_low[j])) - mean[j] for j in d]
    return (
        max(ratio(errors[i][j], np.sqrt(entry[i] * entry[j])) for i in d for j in d),
        max(ratio(errors[i][i], own[i]) for i in d),
        max(ratio(means[j], scatter.mean_error[j]) for j in d),
    )


def summed(X, weights=None, make=ScatterMatrix, n_threads=1):
    return accumulate(ArrayDataset(X), weights, make, n_threads)


def cases(seed):
    """Rows and weights of all kinds."""
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(N, D)) * [1.0, 10.0, 1e-3], rng.uniform(0.1, 3.0, N)
    entries = sparse.csr_array(np.where(rng.random((N, D)) < 0.4, rows + 1, 0.0))
    return {
        "plain": (rows, None),
        "offset": (rows + 1e8, None),
        "drift": (rows + np.linspace(0, 1e6, N)[:, None], None),
        "jump": (rows + 1e6 * (np.arange(N) > 10)[:, None], None),
        "duplicates": (np.repeat(rows[:4], 15, axis=0), None),
        "constant column": (np.column_stack([rows[:, 0], np.full(N, 0.1), rows[:, 1]]), None),
        "weights": (rows + 1e4, weights),
        "integer weights": (rows, np.ceil(weights)),
        "near zero": (rows - rows.mean(axis=0) + 0.5, None),
        "tiny": (rows * 1e-70, None),
        "huge": (rows * 1e70, None),
        "float32": ((rows + 5).astype(np.float32), None),
        "uint8": (rng.integers(0, 256, (N, D)).astype(np.uint8), None),
        "int8 with weights": (rng.integers(-128, 128, (N, D)).astype(np.int8), weights),
        "int16": (rng.integers(9000, 27000, (N, D)).astype(np.int16), None),
        "int64": (rng.integers(-(10**9), 10**9, (N, D)), None),
        "sparse": (entries, None),
        "sparse with weights": (entries, weights),
    }


CASES = cases(0)
ROWS, SPARSE, WEIGHTS = CASES["plain"][0], *CASES["sparse with weights"]


@pytest.mark.parametrize("case", CASES)
def test_bounds_hold_and_are_not_much_wider_than_the_errors(case):
    found = np.array([ratios(summed(*drawn[case]), *drawn[case]) for drawn in map(cases, range(4))])
    assert found.max() <= 1
    assert found[:, :2].max() >= 0.01  # narrowed 100 times they fail


@pytest.mark.parametrize("case", ["offset", "drift", "weights", "float32", "uint8", "sparse", "sparse with weights"])
def test_bounds_hold_for_any_tree_of_merges(case):
    X, weights = CASES[case]
    draw, parts = np.random.default_rng(1), []
    for piece in np.array_split(np.arange(N), [1, 2, 9, 30]):
        part = ScatterMatrix(D)
        for some in np.array_split(piece, 2):  # several blocks go to one scatter
            part.add(X[some], None if weights is None else weights[some])
        parts.append(part)
    while len(parts) > 1:
        i, j = draw.choice(len(parts), 2, replace=False)
        parts[i] = merged(parts[i], parts[j])
        del parts[j]
    assert parts[0].n_samples == N
    assert max(ratios(parts[0], X, weights)) <= 1


@pytest.mark.parametrize(("signs", "kind"), [((-1, 1), 0), ((1, 1), 2)])
def test_errors_of_the_means_of_two_groups_reach_their_sum(signs, kind):
    """Means that are off along their difference: apart they change S most, together the mean."""
    apart, off = np.array([3.0, 1.0, 2.0]), 1e-7
    parts = [summed(ROWS[:20]), summed(ROWS[20:] + apart)]
    for part, sign in zip(parts, signs, strict=True):
        part.mean_high = part.mean_high + sign * off * apart
        part.mean_error = part.mean_error + off * apart
    found = ratios(merged(*parts), np.concatenate([ROWS[:20], ROWS[20:] + apart]))
    assert max(found) <= 1 and found[kind] >= 0.3


def test_dense_and_sparse_rows_may_be_mixed():
    scatter = ScatterMatrix(D)
    scatter.add(ROWS[:20] + 3)
    scatter.add(SPARSE)
    scatter.add(ROWS[20:].astype(np.float32))
    X = np.concatenate([ROWS[:20] + 3, SPARSE.toarray(), ROWS[20:].astype(np.float32)])
    assert max(ratios(scatter, X)) <= 1


@pytest.mark.parametrize("n", [1, 2, 8193, 20_000])
def test_all_strips_of_a_block_count(n):
    X = np.random.default_rng(n).normal(loc=[1e6, 0], size=(n, 2))
    C = X.astype(np.longdouble)
    C = C - C.mean(axis=0)
    C = C - C.mean(axis=0)
    scatter = summed(X)
    error = np.abs(scatter.matrix() - C.T @ C)
    bound = np.sqrt(np.multiply.outer(scatter.entry_error, scatter.entry_error)) + 8 * UNIT * np.trace(C.T @ C)
    assert np.all(error <= bound)
    assert_allclose(scatter.mean, X.mean(axis=0), rtol=1e-14, atol=1e-15)


@pytest.mark.usefixtures("blas_of_fits")
@pytest.mark.parametrize("make", [ScatterMatrix, ScatterDiagonal, ScatterQR])
@pytest.mark.parametrize(("n", "d"), [(70_000, 5), (9000, 70), (2500, 520)])
def test_threads_and_files_do_not_change_a_bit(make, n, d):
    if make is ScatterQR and d > 100:
        pytest.skip("slow, and on one thread")
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32) + 7
    weights = np.random.default_rng(1).uniform(0, 2, n)
    one = accumulate(ArrayDataset(X), weights, make, 1).get_state()
    for data, n_threads in ((ArrayDataset(X), 3), (Unread(X), 2)):
        other = accumulate(data, weights, make, n_threads).get_state()
        for name, value in one.items():
            assert_array_equal(other[name], value, err_msg=name)


def test_sparse_rows_have_equal_bits_on_any_number_of_threads():
    X = sparse.random_array((20_000, 200), density=0.05, format="csr", rng=np.random.default_rng(0))
    assert_array_equal(summed(X).matrix(), summed(X, n_threads=3).matrix())
    assert_array_equal(summed(X).matrix(), accumulate(Unread(X), None, ScatterMatrix, 2).matrix())


@pytest.mark.parametrize("density", [0.02, 0.6])
def test_sparse_products_agree_with_dense_ones(density):
    X = sparse.random_array((3000, 30), density=density, format="csr", rng=np.random.default_rng(0))
    found, true = summed(X), summed(X.toarray())
    bound = found.eigenvalue_error(None) + true.eigenvalue_error(None)
    assert np.linalg.norm(found.matrix() - true.matrix(), 2) <= bound
    assert bound < 1e-11 * found.total(None)


def test_sparse_zeros_and_duplicates():
    duplicated = sparse.coo_array(
        (np.array([1.0, 2.0, 0.0, 5.0, 0.5]), (np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1, 2, 2]))), shape=(4, 3)
    ).tocsr(copy=True)
    raw = sparse.csr_array((np.array([1.0, 2.0, 0.0, 5.0]), np.array([0, 0, 1, 2]), np.array([0, 2, 3, 4, 4])), (4, 3))
    before = raw.data.copy()
    for X in (duplicated, raw):
        assert max(ratios(summed(X), X)) <= 1
    assert_array_equal(raw.data, before)  # summed up in a copy


def test_the_diagonal_of_sparse_rows_is_known_better_than_the_rest():
    scatter = summed(sparse.csr_array(ROWS + 1e6))
    assert np.all(scatter.diagonal_error < 1e-6 * scatter.entry_error)


def test_the_mean_of_sparse_rows_counts_to_first_order_in_their_products():
    scatter = ScatterMatrix(D)
    scatter.add(SPARSE)
    moments = scatter._sparse.moments
    off = 1e-7 * np.abs(moments.mean)
    moments.mean_high, moments.mean_error = moments.mean_high + off * np.sign(moments.mean), moments.mean_error + off
    found = ratios(scatter, SPARSE)
    assert max(found) <= 1 and found[0] >= 0.3


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [(np.uint8, 0, 256), (np.int8, -128, 128), (np.int8, 0, 3), (np.int16, -150, 150), (bool, 0, 2)],
)
@pytest.mark.parametrize("d", [3, 600])
def test_small_integers_are_exact(dtype, low, high, d):
    X = np.random.default_rng(0).integers(low, high, (3000, d)).astype(dtype)
    integers = X.astype(np.float64)  # sums of their squares are integers below 2⁵³
    sums = integers.sum(axis=0)
    scaled = len(X) * (integers.T @ integers) - np.multiply.outer(sums, sums)
    scatter = summed(X)
    assert_array_equal(scatter.matrix(), scaled / len(X))
    assert scatter.eigenvalue_error(None) <= 8 * UNIT * scatter.total(None)
    assert_array_equal(summed(X, make=ScatterDiagonal).squares, np.diag(scaled) / len(X))


def test_blocks_of_integers_end_before_their_sums_are_rounded():
    """Few rows of large integers, and many of small ones that would keep the block open."""
    draw = np.random.default_rng(0)
    parts = [draw.integers(-350, 350, (100_000, 2)).astype(np.int16) for _ in range(2)]
    parts += [draw.integers(-1, 2, (130_000, 2)).astype(np.int8) for _ in range(3)]
    scatter = ScatterMatrix(2)
    for part in parts:
        scatter.add(part)
    X = np.concatenate(parts).astype(object)
    scaled = len(X) * (X.T @ X) - np.multiply.outer(X.sum(axis=0), X.sum(axis=0))
    error = np.abs(
        [[float(Fraction(scatter.matrix()[i, j]) - Fraction(scaled[i, j], len(X))) for j in (0, 1)] for i in (0, 1)]
    )
    assert np.all(
        error <= np.sqrt(np.multiply.outer(scatter.entry_error, scatter.entry_error)) + 4 * UNIT * scatter.squares.max()
    )
    assert scatter.eigenvalue_error(None) <= 64 * UNIT * scatter.total(None)


def test_long_columns_of_large_integers_keep_their_digits():
    """All but one of 800,000 integers are equal: sums that are not exact would hide the variance."""
    X = np.full((800_000, 2), 255, dtype=np.uint8)
    X[0], X[1, 1] = 0, 7
    scatter = summed(X)
    for j, changes in enumerate([[255], [255, 248]]):
        true = sum(c * c for c in changes) - Fraction(sum(changes) ** 2, len(X))
        assert abs(Fraction(float(scatter.squares[j])) - true) <= scatter.diagonal_error[j] + 4 * UNIT * float(true)


def test_weights_of_zeros_that_are_not_there_are_known_by_subtraction_only():
    """Equal entries, and a zero of next to no weight: what rounding takes for its weight is all the variance."""
    worst = 0.0
    for seed in range(8):
        weights = np.append(np.random.default_rng(seed).uniform(0.5, 2.0, N - 1), 1e-25)
        X = sparse.csr_array(np.append(np.full(N - 1, 0.7), 0.0)[:, None] * np.ones(D))
        found = ratios(summed(X, weights), X, weights)
        assert max(found) <= 1
        worst = max(worst, *found[:2])
    assert worst >= 0.001


def test_weights_of_zero_do_not_count_and_integer_weights_repeat_rows():
    weights = np.arange(N) % 3.0
    scatter, repeated = summed(ROWS, weights), summed(np.repeat(ROWS, weights.astype(int), axis=0))
    assert (scatter.n_samples, scatter.n_repeated) == (40, repeated.n_samples)
    assert scatter.total_weight == repeated.total_weight == weights.sum()
    assert_allclose(scatter.matrix(), repeated.matrix(), rtol=1e-13, atol=1e-13)
    assert summed(ROWS, WEIGHTS).n_repeated == N


@pytest.mark.parametrize("make", [ScatterMatrix, ScatterDiagonal, ScatterQR])
def test_forgetting_multiplies_weights(make):
    scatter, batch = summed(ROWS[:20] + 5, make=make), summed(ROWS[20:], make=make)
    scatter.forget(0.3)
    scatter.merge(batch)
    X, weights = np.concatenate([ROWS[:20] + 5, ROWS[20:]]), np.repeat([0.3, 1.0], [20, 40])
    C = (X - np.average(X, axis=0, weights=weights)) * np.sqrt(weights)[:, None]
    assert_allclose(scatter.total_weight, 46.0, rtol=1e-15)
    assert_allclose(scatter.squares, np.einsum("ij,ij->j", C, C), rtol=1e-13)
    if make is ScatterMatrix:
        assert max(ratios(scatter, X, weights)[:2]) <= 1


def test_forgetting_often_is_rounded_as_often():
    """Each step rounds in the same direction."""
    factor, X = 1 - UNIT, np.array([[0.75], [-0.75]])
    scatter = summed(X)
    for _ in range(400):
        scatter.forget(factor)
    true = Fraction(9, 8) * Fraction(factor) ** 400
    error = float(abs(Fraction(float(scatter.squares[0])) - true))
    assert 100 * UNIT <= error <= scatter.diagonal_error[0]


@pytest.mark.parametrize("make", [ScatterMatrix, ScatterDiagonal, ScatterQR])
def test_rescaling_is_exact(make):
    scatter, other = summed(ROWS + 1, make=make), summed((ROWS + 1) * 2.0**-9, make=make)
    scatter.rescale(2.0**-9)
    for name, value in scatter.get_state().items():
        assert_array_equal(value, other.get_state()[name], err_msg=name)


@pytest.mark.parametrize("make", [ScatterMatrix, ScatterDiagonal, ScatterQR])
def test_a_saved_scatter_continues_with_the_same_bits(make):
    scatter = make(D)
    scatter.add(ROWS[:30] + 100)  # a block that is still open is part of the state
    copy = make.from_state(scatter.get_state())
    for each in (scatter, copy):
        each.add(ROWS[30:] + 100, WEIGHTS[30:])
    for name, value in scatter.get_state().items():
        assert_array_equal(copy.get_state()[name], value, err_msg=name)
    assert copy.n_samples == N


def test_merging_does_not_change_the_other_one():
    one, other = summed(ROWS[:20]), summed(ROWS[20:])
    before = [one.matrix(), other.matrix()]
    merged(one, other)
    assert_array_equal(before, [one.matrix(), other.matrix()])
    empty = ScatterMatrix(D)
    empty.merge(other)
    assert_array_equal(empty.matrix(), other.matrix())
    one.merge(ScatterMatrix(D))
    assert_array_equal(one.matrix(), before[0])


def test_the_matrix_is_exactly_symmetric():
    X = np.random.default_rng(0).normal(size=(500, 600))
    for matrix in (summed(X).matrix(), summed(X).matrix(X.std(axis=0))):
        assert_array_equal(matrix, matrix.T)


@pytest.mark.parametrize("offset", [0.0, 0.1, 1e8])
def test_constant_columns(offset):
    X = np.column_stack([ROWS[:, 0], np.full(N, offset), ROWS[:, 1] + offset])
    for make in (ScatterMatrix, ScatterDiagonal):
        for weights in (None, WEIGHTS):
            scatter = summed(X, weights, make)
            assert_array_equal(scatter.is_constant, [False, True, False])
            assert scatter.standard_deviations[1] == 1
    assert_array_equal(summed(sparse.csr_array(X), WEIGHTS).is_constant, [False, True, False])


def test_standard_deviations():
    assert_allclose(
        column_moments(ArrayDataset(ROWS), None, 1).standard_deviations, ROWS.std(axis=0, ddof=1), rtol=1e-14
    )
    half = summed(ROWS, np.full(N, 0.5 / N))  # a total weight of up to 1 is the divisor
    assert_allclose(half.standard_deviations, ROWS.std(axis=0), rtol=1e-13)
    assert_array_equal(summed(ROWS[:1]).standard_deviations, np.ones(D))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.filterwarnings("error")
def test_squares_of_columns_that_overflow_are_an_error(container):
    rows = container(ROWS * np.geomspace(1, 1e200, ROWS.shape[1]))
    for n_threads in (1, 2):
        with pytest.raises(DataError, match="The squares of the columns overflow"):
            column_moments(ArrayDataset(rows), None, n_threads)
    with pytest.raises(DataError, match="The squares of the columns overflow"):
        LocallyLinearEmbedding(standardize=True).fit(rows)


def test_standardized_eigenvalues_stay_within_their_bound():
    X = np.add(ROWS, [1e5, 1e6, 1e3])
    scatter = summed(X)
    scale = scatter.standard_deviations
    C = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    C = C / np.sqrt((C**2).sum(axis=0) / (N - 1))
    error = np.abs(np.linalg.eigvalsh(scatter.matrix(scale)) - np.linalg.eigvalsh((C.T @ C).astype(float))).max()
    assert error <= scatter.eigenvalue_error(scale) + 1e-14 * N


@pytest.mark.parametrize("relative", [1e-9, 0.3, 0.9])
def test_errors_of_standard_deviations_count_besides_those_of_the_products(relative):
    """The worst that the bounds of entries allow: deviations too large, and all other products too small."""
    d = 8
    X = np.random.default_rng(0).normal(size=(50, 1)) * np.ones(d)
    scatter = summed(X)
    true = np.linalg.eigvalsh(scatter.matrix(scatter.standard_deviations))[-1]
    matrix = scatter.matrix()
    scatter.entry_error = scatter.diagonal_error = relative * np.diag(matrix)
    scatter._sum.high = matrix * (1 - relative * (1 - 2 * np.eye(d)))
    scale = scatter.standard_deviations
    off = true - np.linalg.eigvalsh(scatter.matrix(scale))[-1]
    assert 0.3 * relative * true <= off <= scatter.eigenvalue_error(scale)


@pytest.mark.parametrize("relative", [1e-9, 0.3])
def test_errors_of_both_parts_count_after_a_merge(relative):
    """The second half is known to a fraction of itself, and off by it."""
    X = np.random.default_rng(0).normal(size=(50, 1)) * np.ones(4)
    true = np.linalg.eigvalsh(summed(X).matrix())[-1]
    one, other = summed(X[:25]), summed(X[25:])
    matrix = other.matrix()
    other.entry_error = other.diagonal_error = relative * np.diag(matrix)
    other._sum.high = matrix * (1 - relative)
    one.merge(other)
    off = true - np.linalg.eigvalsh(one.matrix())[-1]
    assert 0.3 * relative * true <= off <= one.eigenvalue_error(None)


@pytest.mark.parametrize("relative", [1e-9, 0.3])
def test_errors_of_both_factors_count_after_a_merge(relative):
    X = np.random.default_rng(0).normal(size=(50, 3))
    true = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=0))
    one, other = summed(X[:25], make=ScatterQR), summed(X[25:], make=ScatterQR)
    other._of_rows = relative**2 * other.squares
    other.factor *= 1 - relative
    one.merge(other)
    off = true - np.sqrt(one.squares)
    assert np.all(0.1 * relative * true <= off) and np.all(off <= one.column_error)


@pytest.mark.parametrize("relative", [1e-9, 0.3, 0.9])
def test_relative_errors_of_roots(relative):
    errors = deviation_errors(np.ones(1), np.array([relative]))
    true = max(1 - np.sqrt(1 - relative), np.sqrt(1 + relative) - 1)
    assert true * (1 - 1e-6) <= errors[0] <= true * (1 + 1e-6) + UNIT


def test_range_of_squares():
    with np.errstate(all="ignore"):
        assert summed(ROWS).in_range()
        assert not summed(ROWS * 1e-80).in_range()
        assert not summed(ROWS * 1e155).is_finite
        assert not summed(np.where(np.arange(D) == 1, np.nan, ROWS)).is_finite
        mixed = ROWS * [1.0, 1e-90, 1.0]
        assert summed(mixed).in_range() and not summed(mixed).in_range(each_column=True)
        assert summed((ROWS * 1e37).astype(np.float32)).in_range()  # sums of float32 rows do not overflow


def test_overflow_of_a_merge_is_known_before_it():
    one, other = summed(ROWS), summed(ROWS)
    assert not merge_overflows(one, 1.0, other, 1.0)
    assert merge_overflows(one, 1.0, other, 2.0**520)
    far = summed(ROWS * 1e-10 + 1e160)
    assert merge_overflows(one, 1.0, far, 1.0)


def test_the_larger_unit_wins_unless_its_rows_are_zero():
    one, other = summed(ROWS), summed(ROWS)
    assert common_unit(one, 1.0, other, 4.0) == 4.0
    assert_array_equal(one.matrix() * 16, other.matrix())
    assert common_unit(summed(np.zeros((4, D))), 2.0**700, summed(ROWS), 1.0) == 1.0


@pytest.mark.parametrize("X", [ROWS + 1e5, SPARSE], ids=["dense", "sparse"])
def test_energy_along_axes(X):
    axes = np.linalg.qr(np.random.default_rng(0).normal(size=(D, 2)))[0].T
    scale = np.array([1.0, 3.0, 0.5])
    C = dense(X).astype(np.longdouble)
    for _ in range(2):
        C = C - WEIGHTS @ C / WEIGHTS.sum()
    C = C / scale * np.sqrt(WEIGHTS)[:, None]
    along, outside = energy_along(summed(X, WEIGHTS), ArrayDataset(X), WEIGHTS, axes, scale, 2)
    assert_allclose(along, ((C @ axes.T) ** 2).sum(axis=0).astype(float), rtol=1e-9)
    rest = C - C @ axes.T @ axes
    assert_allclose(outside, float((rest**2).sum()), rtol=1e-9)


def test_energy_of_a_direction_that_squares_hide():
    X = np.random.default_rng(0).normal(size=(300, 3)) * [1e8, 1.0, 1e-6]
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    along, _ = energy_along(summed(X @ turn), ArrayDataset(X @ turn), None, turn, None)
    assert_allclose(along[1], ((X - X.mean(axis=0)) ** 2).sum(axis=0)[1], rtol=1e-6)


# ---------------------------------------------------------------------- factors


def graded(n=400, d=6):
    draw = np.random.default_rng(2)
    left = np.linalg.qr(draw.normal(size=(n, d)) - draw.normal(size=(1, d)))[0]
    return left * 10.0 ** -np.arange(0, 2 * d, 2) @ np.linalg.qr(draw.normal(size=(d, d)))[0] + 3


def singular_values(X, weights=None):
    from mpmath import matrix, mp, svd_r

    with mp.workdps(50):
        w = np.ones(len(X)) if weights is None else weights
        rows = [[mp.mpf(float(x)) for x in row] for row in X]
        total = mp.fsum(w)
        mean = [mp.fsum(v * row[j] for v, row in zip(w, rows, strict=True)) / total for j in range(X.shape[1])]
        C = [[mp.sqrt(v) * (x - m) for x, m in zip(row, mean, strict=True)] for v, row in zip(w, rows, strict=True)]
        gram = matrix(X.shape[1], X.shape[1])
        for i in range(X.shape[1]):
            for j in range(X.shape[1]):
                gram[i, j] = mp.fsum(row[i] * row[j] for row in C)
        return np.array([float(mp.sqrt(s)) for s in svd_r(gram, compute_uv=False)])


@pytest.mark.parametrize("weights", [None, np.random.default_rng(4).uniform(0.5, 2, 400)], ids=["plain", "weights"])
def test_a_factor_keeps_the_digits_that_squares_lose(weights):
    X = graded()
    true = singular_values(X, weights)
    scatter, batches = summed(X, weights, ScatterQR), ScatterQR(X.shape[1])
    for piece in np.array_split(np.arange(400), 5):
        batches.merge(summed(X[piece], None if weights is None else weights[piece], ScatterQR))
    for each in (scatter, batches):
        found = np.linalg.svd(each.factor, compute_uv=False)
        bound = np.linalg.norm(each.column_error)
        assert np.abs(found - true).max() <= bound + 1e-15 * true[0]
        assert_allclose(found[5], true[5], rtol=1e-4)  # 1e-10 of the largest


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_errors_of_the_columns_of_a_factor(offset):
    """RᵀR = (Y + E)ᵀ(Y + E) with columns of E that are no longer than `column_error`."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(2000, 3)) @ draw.normal(size=(3, 20)) + 1e-3 * draw.normal(size=(2000, 20)) + offset
    scatter, Y = summed(X, make=ScatterQR), X.astype(np.longdouble)
    for _ in range(2):
        Y = Y - Y.mean(axis=0)
    S, R = Y.T @ Y, scatter.factor.astype(np.longdouble)
    cross = np.multiply.outer(np.sqrt(np.diag(S)), scatter.column_error)
    worst = np.max(np.abs(R.T @ R - S) / (cross + cross.T))
    assert 0.01 <= worst <= 1  # narrowed 100 times it fails


def test_the_deviations_of_a_factor_are_known_as_well_as_its_columns():
    scatter = summed(ROWS + 5, make=ScatterQR)
    scatter._of_steps = np.full(D, 1e-3)
    scale = scatter.standard_deviations
    assert np.all(scatter.scale_error(scale) >= 1e-3 / np.sqrt(scatter.squares))
    assert_array_equal(scatter.scale_error(None), np.zeros(D))
    before = scatter.column_error
    scatter.forget(0.25)
    assert np.all(scatter.column_error > before / 2)


def test_every_reflection_of_a_factor_counts():
    """One row at a time: R is rounded with each, rows next to never."""
    X = np.random.default_rng(0).choice([-1.0132, 1.0132], (6000, 1))
    scatter = ScatterQR(1)
    for row in X:
        scatter._take(row[None], np.zeros(1))
    error = abs(float(Fraction(float(scatter.factor[0, 0])) ** 2 - len(X) * Fraction(1.0132) ** 2))
    assert 30 * UNIT * scatter.squares[0] <= error <= 2 * np.sqrt(scatter.squares[0]) * scatter.column_error[0]


def test_a_factor_does_not_take_sparse_rows():
    with pytest.raises(TypeError):
        summed(SPARSE, make=ScatterQR)


# ---------------------------------------------------------------------- against the first edition


@pytest.mark.parametrize("case", ["offset", "drift", "weights", "sparse with weights"])
def test_agrees_with_the_first_edition(case):
    from mercer_old.sources.held import HeldRows
    from mercer_old.sweeps.lanes import sweep_scatter
    from mercer_old.sweeps.square import Square

    X, weights = CASES[case]
    old, new = sweep_scatter(Square, HeldRows(X), weights, 1, exact=True), summed(X, weights)
    bound = new.eigenvalue_error(None) + old.eigenvalue_noise(None, float(old.squares.sum()))
    assert np.linalg.norm(new.matrix() - np.triu(old.matrix) - np.triu(old.matrix, 1).T, 2) <= bound
    assert new.eigenvalue_error(None) <= 2 * old.eigenvalue_noise(None, float(old.squares.sum()))


def test_costs_grow_with_the_work():
    assert scatter_flops(1000, 100) < scatter_flops(1000, 200) < scatter_flops(2000, 200)
    assert scatter_flops(1000, 100, small_integers=True) < scatter_flops(1000, 100)
    assert scatter_flops(1000, 1000, nnz=10_000) < scatter_flops(1000, 1000, nnz=100_000) < scatter_flops(1000, 1000)


# ---------------------------------------------------------------------- partitions and memory


class Partitioned(ArrayDataset):
    """Rows in three partitions, each of which gets pickled arguments. They cannot be read here."""

    in_memory = False

    def blocks(self, size):
        raise AssertionError("rows were read outside of their partitions")

    load = take = blocks

    def reduce(self, func, *args, weights=None, combine=None, progress=None):
        results = []
        for rows in np.array_split(np.arange(self.shape[0]), 3):
            own = None if weights is None else weights[rows]
            call = pickle.loads(pickle.dumps((func, args)))  # noqa: S301
            results.append(call[0](ArrayDataset(self.samples[rows]), own, *call[1], progress=None))
        return functools.reduce(combine or operator.add, results)


@pytest.mark.parametrize("case", ["offset", "weights", "sparse with weights"])
def test_partitions_are_summed_up_where_they_are(case):
    X, weights = CASES[case]
    for make in (ScatterMatrix, ScatterDiagonal, functools.partial(ScatterSketch, size=2)):
        scatter = accumulate(Partitioned(X), weights, make, 1)
        assert_allclose(scatter.squares, summed(X, weights, make).squares, rtol=1e-9)
        assert scatter.n_samples == N
    assert max(ratios(accumulate(Partitioned(X), weights, ScatterMatrix, 1), X, weights)) <= 1
    axes = np.eye(D)[:2]
    along, outside = energy_along(scatter, Partitioned(X), weights, axes, None)
    assert_allclose(np.append(along, outside), scatter.squares, rtol=1e-9)
    A = ScatterOperator(Partitioned(X), weights, scatter)
    assert_allclose(A.matmat(np.eye(D)), summed(X, weights).matrix(), rtol=1e-6, atol=1e-6 * A.trace)


@pytest.mark.parametrize(("n", "d"), [(200_000, 4), (20_000, 128), (5000, 600)])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_memory_of_a_pass_is_known_beforehand(n, d, n_threads):
    X = np.zeros((n, d), dtype=np.float32)
    for data in (ArrayDataset(X), Unread(X)):
        tracemalloc.start()
        accumulate(data, None, ScatterMatrix, n_threads)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak <= accumulate_bytes(n, d, 4, False, data.in_memory, n_threads) + 500_000


def test_memory_of_sparse_rows_is_known_beforehand():
    X = sparse.random_array((30_000, 400), density=0.05, format="csr", rng=np.random.default_rng(0))
    tracemalloc.start()
    accumulate(ArrayDataset(X), None, ScatterMatrix, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= accumulate_bytes(30_000, 400, 8, True, True, 1)
