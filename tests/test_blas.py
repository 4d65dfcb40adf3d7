"""Products that are added to what is there: the routines themselves, and scipy's functions where those are hidden."""

import threading

import numpy as np
import pytest

from mercer import blas
from mercer.rounding import gamma

LAYOUTS = {
    "rows": lambda A: A,
    "columns": np.asfortranarray,
    "some columns": lambda A: np.repeat(A, 3, axis=1)[:, : A.shape[1]],
    "every second column": lambda A: np.repeat(A, 2, axis=1)[:, ::2],
    "backwards": lambda A: A[::-1],
    "the same row": lambda A: np.broadcast_to(A[:1], A.shape),
}
SHAPES = [(2048, 90), (100, 3), (65, 1), (1, 4), (0, 4)]


@pytest.fixture(params=["the routines", "scipy's functions"])
def way(request, monkeypatch):
    if request.param == "scipy's functions":
        monkeypatch.setattr(blas, "routine_of", lambda name: None)
    return request.param


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_added_to_what_is_there(layout, dtype, shape, way):
    rng = np.random.default_rng(0)
    if not shape[0] and layout == "the same row":
        pytest.skip("there is no row")
    A, B = LAYOUTS[layout](rng.normal(size=shape).astype(dtype)), rng.normal(size=(shape[0], 7)).astype(dtype)
    square, product = np.ones((shape[1], shape[1]), dtype), np.ones((shape[1], 7), dtype)
    blas.add_squares(square, A, 64)
    blas.add_products(product, A, B, 64)
    wide = A.astype(np.longdouble)
    rounding = gamma(len(A) + 40, np.finfo(dtype).eps / 2)
    off = np.abs(square - 1 - wide.T @ wide)
    assert (np.triu(off) <= np.triu(rounding * (1 + np.abs(wide).T @ np.abs(wide)))).all()
    assert (np.tril(square, -1) == np.tril(np.ones_like(square), -1)).all()  # below the diagonal nothing is touched
    assert (np.abs(product - 1 - wide.T @ B) <= rounding * (1 + np.abs(wide).T @ np.abs(B))).all()


def test_both_ways_have_the_same_bits(monkeypatch):
    A, B = np.random.default_rng(1).normal(size=(2, 1000, 37))
    answers = []
    for way in (blas.routine_of, lambda name: None):
        monkeypatch.setattr(blas, "routine_of", way)
        square, product = np.zeros((2, 37, 37))
        blas.add_squares(square, A, 64)
        blas.add_products(product, A, B, 64)
        answers.append((square, product))
    assert np.array_equal(answers[0], answers[1])


@pytest.mark.parametrize("name", ["ssyrk", "dsyrk", "sgemm", "dgemm"])
def test_the_routines_are_to_be_had_and_leave_the_lock(name):
    """On the versions tested here; elsewhere scipy's functions are as right, and one thread at a time."""
    assert blas.routine_of(name) is not None
    assert not type(blas.routine_of(name))._flags_ & 0x4  # PyDLL's flag: those hold it


@pytest.mark.parametrize(
    ("signature", "kinds"),
    [
        ("void (char *, int *, __pyx_t_5scipy_6linalg_11cython_blas_d *)", "cin"),
        ("void (char *, int const *, double *)", "ci?"),
        ("void (char *, npy_int64 *, __pyx_t_5scipy_6linalg_11cython_blas_d *)", "c?n"),
        ("void (char *, int *, __pyx_t_5scipy_6linalg_11cython_blas_s *)", "ci?"),
        ("", "?"),
    ],
)
def test_a_routine_that_looks_otherwise_is_not_called(signature, kinds):
    assert blas.arguments_of(signature, "d") == kinds


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
