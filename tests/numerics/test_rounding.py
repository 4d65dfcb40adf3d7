"""Rounding: bounds on chains of roundings against exact arithmetic, and products that keep them short."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer.numerics.blocking import LANES, NARROW, lane_rows, pass_rows, short_rows, slices, sparse_rows
from mercer.numerics.products import (
    add_upper_product,
    column_squares,
    column_sums,
    is_small_integer,
    matmul,
    mirror_upper,
    row_slice,
    row_squares,
    tall_inner,
    tall_matmul,
)
from mercer.numerics.random_state import as_generator, lazy_generator
from mercer.numerics.rounding import (
    UNIT,
    CompensatedSum,
    chain,
    column_norms,
    gamma,
    norm,
    outer_error_bound,
    power_of_two,
    two_sum,
)

rng = np.random.default_rng(0)


def exact_dot(a, b):
    return sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True))


def test_gamma():
    assert gamma(100) >= 100 * UNIT
    assert gamma(2.0**53) == np.inf


@pytest.mark.parametrize("a", [0.1, 1e16, -3e-300, 2.0**1000])
@pytest.mark.parametrize("b", [0.3, 1.0, -1e16, 7e-310])
def test_two_sum_is_exact(a, b):
    total, rest = two_sum(a, b)
    assert Fraction(total) + Fraction(rest) == Fraction(a) + Fraction(b)
    assert total == a + b


def test_compensated_sums_are_known_to_a_few_units():
    parts = rng.normal(size=(3000, 7)) * 10.0 ** rng.integers(-8, 8, (3000, 1))
    total, other = CompensatedSum((7,)), CompensatedSum((7,))
    for part in parts[:1000]:
        total.add(part)
    for part in parts[1000:]:
        other.add(part)
    total.add_sum(other)
    for j in range(7):
        true = sum(Fraction(float(x)) for x in parts[:, j])
        assert abs(Fraction(float(total.value()[j])) - true) <= 2 * UNIT * abs(true) + Fraction(1e-20)
    total.scale(0.5)
    assert_allclose(total.value(), parts.sum(axis=0) / 2, rtol=1e-6)


def test_large_compensated_sums_are_added_in_pieces():
    part = rng.normal(size=(300, 100))
    total = CompensatedSum((300, 100))
    total.add(part)
    total.add(1e16 + 0 * part)
    total.add(-1e16 + 0 * part)
    assert_array_equal(total.value(), part)


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_norms_neither_over_nor_underflow(size):
    V = rng.normal(size=(9, 4))
    assert_allclose(column_norms(size * V) / size, np.linalg.norm(V, axis=0), rtol=1e-14)
    assert_allclose(norm(size * V) / size, np.linalg.norm(V), rtol=1e-14)
    assert_array_equal(column_norms(np.zeros((3, 2))), [0, 0])


def test_powers_of_two():
    sizes = np.array([0.0, 1.0, 0.75, 3.0, 1e-320, 1e308])
    found = power_of_two(sizes)
    assert found[0] == 1
    assert np.all(np.frexp(found)[0] == 0.5)
    assert np.all((sizes[1:4] <= found[1:4]) & (found[1:4] <= 2 * sizes[1:4]))


def test_outer_error_bounds():
    a, b = np.abs(rng.normal(size=(2, 30))) * [[1.0], [1e-9]]
    e = outer_error_bound(a, b)
    left = np.multiply.outer(a, b) + np.multiply.outer(b, a)
    assert np.all(left <= np.sqrt(np.multiply.outer(e, e)) * (1 + 1e-12))
    assert_allclose(e.sum(), 2 * np.linalg.norm(a) * np.linalg.norm(b), rtol=1e-12)
    assert not outer_error_bound(np.zeros(3), np.ones(3)).any()


# ---------------------------------------------------------------------- products


@pytest.mark.parametrize("n_terms", [1, 100, 129, 700])
@pytest.mark.parametrize("shape", [(3, 2), (400, 200)], ids=["few", "many"])
def test_products_in_short_chains_are_within_their_bound(n_terms, shape):
    A, B = rng.normal(size=(shape[0], n_terms)) + 1, rng.normal(size=(n_terms, shape[1])) + 1
    out = np.full(shape, np.nan)
    found = matmul(A, B, out=out)
    assert found is out or np.shares_memory(found, out)
    for i, j in ((0, 0), (shape[0] - 1, shape[1] - 1)):
        error = abs(Fraction(float(found[i, j])) - exact_dot(A[i], B[:, j]))
        assert error <= gamma(chain(n_terms)) * float(np.abs(A[i]) @ np.abs(B[:, j]))
    assert_allclose(found, A @ B, rtol=1e-12)


def test_short_chains_are_short():
    """Equal terms round alike, so a long chain exceeds the bound of a short one."""
    a = np.full(200_000, 1 / 3)
    true = exact_dot(a[:1], a[:1]) * len(a)
    error = abs(Fraction(float(matmul(a[None], a[:, None], short=128)[0, 0])) - true)
    assert error <= gamma(chain(len(a), 128)) * true
    running = 0.0
    for x in a[:5000]:
        running += x * x
    long_chain = abs(Fraction(running) - exact_dot(a[:1], a[:1]) * 5000) / (exact_dot(a[:1], a[:1]) * 5000)
    assert long_chain > 10 * error / true


@pytest.mark.parametrize("m", [1, 128, 300, 2049])
@pytest.mark.parametrize("d", [2, 60, 300])
def test_short_products(m, d):
    Y = rng.normal(size=(m, d))
    out = np.empty((d, d))
    found = matmul(Y.T, Y, out)
    assert_array_equal(found, out)
    assert_allclose(found, Y.T @ Y, rtol=1e-12, atol=1e-11)
    error = abs(Fraction(float(found[0, 1])) - exact_dot(Y[:, 0], Y[:, 1]))
    assert error <= gamma(chain(m, 128)) * float(np.abs(Y[:, 0]) @ np.abs(Y[:, 1]))


def test_upper_products_are_mirrored_and_do_not_depend_on_threads():
    Y = rng.normal(size=(200, 530))
    one, three = np.ones((2, 530, 530))
    add_upper_product(one, Y, 1)
    add_upper_product(three, Y, 3)
    assert_array_equal(one, three)
    assert_allclose(mirror_upper(one), Y.T @ Y + 1, rtol=1e-12, atol=1e-12)
    assert_array_equal(one, one.T)


@pytest.mark.parametrize("m", [1, 128, 500])
def test_sums_of_columns_and_rows(m):
    Y, w = rng.normal(size=(m, 5)), rng.uniform(size=m)
    assert_allclose(column_sums(Y), Y.sum(axis=0), rtol=1e-12, atol=1e-13)
    assert_allclose(column_sums(Y, w), w @ Y, rtol=1e-12, atol=1e-13)
    assert_allclose(column_squares(Y), (Y**2).sum(axis=0), rtol=1e-13)
    assert_allclose(row_squares(Y.T), (Y**2).sum(axis=0), rtol=1e-13)


@pytest.mark.usefixtures("blas_of_fits")
@pytest.mark.parametrize("n", [0, 10, 5000])
def test_tall_products_do_not_depend_on_threads(n):
    A, B, C = rng.normal(size=(n, 30)), rng.normal(size=(30, 40)), rng.normal(size=(n, 40))
    assert_array_equal(tall_matmul(A, B, 3), tall_matmul(A, B, 1))
    assert_allclose(tall_matmul(A, B, 1), A @ B, rtol=1e-11, atol=1e-11)
    assert tall_matmul(A, B, 1, np.float32).dtype == np.float32
    assert_array_equal(tall_inner(A, C, 3), tall_inner(A, C, 1))
    assert_allclose(tall_inner(A, C, 1), A.T @ C, rtol=1e-10, atol=1e-10)


def test_row_slices_of_sparse_arrays_share_their_entries():
    X = sparse.random_array((20, 6), density=0.3, format="csr", rng=rng)
    part = row_slice(X, slice(5, 12))
    assert_array_equal(part.toarray(), X.toarray()[5:12])
    assert np.shares_memory(part.data, X.data)
    assert_array_equal((part.T @ part).toarray(), (X[5:12].T @ X[5:12]).toarray())


def test_small_integers():
    assert all(is_small_integer(kind) for kind in (np.int8, np.uint8, np.int16, np.uint16, bool))
    assert not any(is_small_integer(kind) for kind in (np.int32, np.float16, np.float64))


# ---------------------------------------------------------------------- sizes and generators


@pytest.mark.parametrize("d", [1, 16, 64, 100, 256, 512, 1000, 5000, 10**6])
def test_sizes_of_blocks(d):
    assert 16 <= lane_rows(d) <= 8192 and short_rows(d) <= lane_rows(d)
    assert pass_rows(d) % lane_rows(d) == 0
    assert lane_rows(d) * d <= max(4_194_304, 16 * d)
    assert 64 <= sparse_rows(d, 0.01) <= 8192
    assert LANES >= 1 and NARROW >= LANES


def test_slices():
    assert slices(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert slices(0, 4) == []


def test_generators():
    assert as_generator(None).random() == as_generator(0).random() == np.random.default_rng(0).random()
    state = np.random.RandomState(3)
    expected = np.random.RandomState(3).randint(2**31 - 1)
    assert as_generator(state).random() == np.random.default_rng(expected).random()
    given = np.random.default_rng(5)
    assert as_generator(given) is given
    rng_of_fit = lazy_generator(7)
    assert rng_of_fit() is rng_of_fit()
