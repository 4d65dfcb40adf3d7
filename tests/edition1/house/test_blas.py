"""Products that are added to what is there: the routines themselves, and numpy's products where those are hidden."""

import ctypes
import threading
from functools import cache

import numpy as np
import pytest

from mercer_old import blas
from mercer_old.rounding import gamma
from support.together import check_each

LAYOUTS = {
    "rows": lambda A: A,
    "columns": np.asfortranarray,
    "some columns": lambda A: np.repeat(A, 3, axis=1)[:, : A.shape[1]],
    "every second column": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    "backwards": lambda A: A[::-1],
    "the same row": lambda A: np.broadcast_to(A[:1], A.shape),
    "packed records": lambda A: packed(A),
    "bytes from anywhere": lambda A: np.frombuffer(b"?" + A.tobytes(), A.dtype, A.size, 1).reshape(A.shape),
    "the other end first": lambda A: A.astype(A.dtype.newbyteorder()),
}
SHAPES = [(2048, 90), (100, 3), (65, 1), (1, 4), (0, 4)]


def packed(A):
    """Rows that lie an odd number of bytes apart."""
    records = np.zeros(len(A), dtype=[("x", A.dtype, A.shape[1:]), ("flag", np.int8)])
    records["x"] = A
    return records["x"]


@pytest.fixture(params=["the routines", "numpy's products"])
def way(request, monkeypatch):
    if request.param == "numpy's products":
        monkeypatch.setattr(blas, "_routine_of", lambda name: None)
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_added_to_what_is_there(dtype, shape, way):
    layouts = [layout for layout in LAYOUTS if shape[0] or layout != "the same row"]
    check_each(layouts, lambda layout: is_added_to_what_is_there(layout, dtype, shape))


def is_added_to_what_is_there(layout, dtype, shape):
    rng = np.random.default_rng(0)
    A, B = LAYOUTS[layout](rng.normal(size=shape).astype(dtype)), rng.normal(size=(shape[0], 7)).astype(dtype)
    square, product = np.ones((shape[1], shape[1]), dtype), np.ones((shape[1], 7), dtype)
    blas.add_squares(square, A, 64)
    blas.add_products(product, A, B, 64)
    rounding = gamma(len(A) + 40, np.finfo(dtype).eps / 2)
    squares, moduli = exact_products(*map(stored, (A, A)))
    assert (np.triu(np.abs(square - 1 - squares)) <= np.triu(rounding * (1 + moduli))).all()
    products, moduli = exact_products(*map(stored, (A, B)))
    assert (np.abs(product - 1 - products) <= rounding * (1 + moduli)).all()


def stored(A):
    """The same numbers however they lie, as what can be looked up."""
    A = np.ascontiguousarray(A, dtype=np.float64)
    return A.shape, A.tobytes()


@cache
def exact_products(A, B):
    """AᵀB and |A|ᵀ|B| in long double, once for all ways to lie in memory."""
    A, B = (np.frombuffer(numbers).reshape(shape).astype(np.longdouble) for shape, numbers in (A, B))
    return A.T @ B, np.abs(A).T @ np.abs(B)


def test_rows_are_taken_in_the_precision_of_the_sum(way):
    A, B = np.random.default_rng(1).normal(size=(2, 300, 9))
    for first, second in ((np.float32, np.float64), (np.float64, np.float32)):
        wanted = np.zeros((9, 9))
        blas.add_products(wanted, A.astype(first).astype(np.float64), B.astype(second).astype(np.float64), 64)
        found = np.zeros((9, 9))
        blas.add_products(found, A.astype(first), B.astype(second), 64)
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    "C",
    [np.zeros((9, 8)), np.zeros((9, 9)).T[::-1], np.zeros((9, 9), order="F"), np.zeros((9, 9), int)],
    ids=["a wrong shape", "backwards", "columns", "whole numbers"],
)
def test_nothing_is_written_where_there_is_no_room(C):
    for add in (
        lambda: blas.add_products(C, np.ones((4, 9)), np.ones((4, 9)), 64),
        lambda: blas.add_squares(C, np.ones((4, 9)), 64),
    ):
        with pytest.raises(ValueError, match="cannot be added"):
            add()
    assert not C.any()


@pytest.mark.parametrize("name", ["ssyrk", "dsyrk", "sgemm", "dgemm"])
def test_the_routines_are_to_be_had_and_leave_the_lock(name):
    """On the versions tested here; elsewhere numpy's products are as right, and take one more array."""
    assert blas._routine_of(name) is not None
    assert not type(blas._routine_of(name))._flags_ & 0x4  # PyDLL's flag: those hold it


@pytest.mark.parametrize(
    ("signature", "kinds"),
    [
        ("void (char *, int *, __pyx_t_5scipy_6linalg_11cython_blas_d *)", "cin"),
        ("void (char *, int const *, double *)", "ci?"),
        ("void (char *, npy_int64 *, __pyx_t_5scipy_6linalg_11cython_blas_d *)", "c?n"),
        ("void (char *, int *, __pyx_t_5scipy_6linalg_11cython_blas_s *)", "ci?"),
        ("void (char *, __pyx_t_5scipy_6linalg_11cython_blas_blas_int *)", "c?"),
        ("void (char *, int64_t *)", "c?"),
        ("", "?"),
    ],
)
def test_a_routine_that_looks_otherwise_is_not_called(signature, kinds):
    assert blas._arguments_of(signature, "d") == kinds


def test_a_blas_that_adds_term_after_term_to_what_is_there_is_not_called():
    """The reference BLAS: with it a chain would be as long as there are rows, and not 64 and their number over 64."""

    def numbers(place, count):
        return np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(ctypes.c_double)), (count,))

    def whole(place):
        return ctypes.cast(place, ctypes.POINTER(ctypes.c_int))[0]

    def gemm(one, other, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
        m, n, k = whole(m), whole(n), whole(k)
        C, A, B = numbers(c, m * n).reshape(n, m), numbers(a, m * k).reshape(k, m), numbers(b, n * k).reshape(k, n)
        for term in range(k):
            C += np.multiply.outer(B[term], A[term])

    kinds = [ctypes.c_char_p if kind == "c" else ctypes.c_void_p for kind in blas.ARGUMENTS["gemm"]]
    term_after_term = ctypes.CFUNCTYPE(None, *kinds)(gemm)
    A, B = np.random.default_rng(3).normal(size=(2, 100, 6))
    C = np.zeros((6, 6))
    blas._call_gemm(term_after_term, C, A, B, 64)
    np.testing.assert_allclose(C, A.T @ B, atol=1e-12)
    assert not blas._sums_up_first(term_after_term, "dgemm")


def test_threads_do_not_get_into_each_others_way():
    rows = np.random.default_rng(2).normal(size=(8, 512, 60))
    sums = np.zeros((8, 60, 60))
    threads = [threading.Thread(target=blas.add_squares, args=(sums[i], rows[i], 64)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        alone = np.zeros((60, 60))
        blas.add_squares(alone, rows[i], 64)
        assert np.array_equal(sums[i], alone)
