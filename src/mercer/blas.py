"""Products of BLAS that are added to what is there, while other threads go on.

numpy's products start at zero, and scipy's functions hold Python's lock while they compute. So the routines are called
where scipy offers them to compiled code (`scipy.linalg.cython_blas`); where they look otherwise than they do today,
scipy's functions do the same with the lock held.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import LowLevelCallable
from scipy.linalg import blas, cython_blas

from mercer.arrays import Array

# What the routines take: letters, whole numbers, and numbers of their own type. All are pointers, as in Fortran.
ARGUMENTS = {"syrk": "cciinninni", "gemm": "cciiinnininni"}
NUMBERS = {"s": ctypes.c_float, "d": ctypes.c_double}


def add_squares(C: Array, rows: Array, short: int) -> None:
    """C += rowsᵀ rows, on and above the diagonal, of so many rows after the other."""
    letter, rows = rows.dtype.char.replace("f", "s"), lying_in_rows(rows)
    routine = routine_of(f"{letter}syrk")
    if routine is None:
        syrk = blas.get_blas_funcs("syrk", (C,))
        for first in range(0, len(rows), short):
            syrk(1.0, rows[first : first + short].T, beta=1.0, c=C.T, lower=1, overwrite_c=1)
        return
    one, out = ctypes.byref(NUMBERS[letter](1.0)), (C.ctypes.data, apart(C))
    place, between, columns = rows.ctypes.data, apart(rows), whole(len(C))
    for first in range(0, len(rows), short):
        some = whole(min(short, len(rows) - first))
        routine(b"L", b"N", columns, some, one, place + first * rows.strides[0], between, one, *out)


def add_products(C: Array, A: Array, B: Array, short: int) -> None:
    """C += AᵀB of so many rows after the other."""
    letter, A, B = A.dtype.char.replace("f", "s"), lying_in_rows(A), lying_in_rows(B)
    routine = routine_of(f"{letter}gemm")
    if routine is None:
        gemm = blas.get_blas_funcs("gemm", (C,))
        for first in range(0, len(A), short):
            some = slice(first, first + short)
            gemm(1.0, B[some].T, A[some].T, trans_b=1, beta=1.0, c=C.T, overwrite_c=1)
        return
    one, out, shape = (
        ctypes.byref(NUMBERS[letter](1.0)),
        (C.ctypes.data, apart(C)),
        (whole(C.shape[1]), whole(C.shape[0])),
    )
    left, right, gaps = A.ctypes.data, B.ctypes.data, (apart(A), apart(B))
    for first in range(0, len(A), short):
        some, its, other = whole(min(short, len(A) - first)), first * A.strides[0], first * B.strides[0]
        routine(b"N", b"T", *shape, some, one, right + other, gaps[1], left + its, gaps[0], one, *out)


def lying_in_rows(rows: Array) -> Array:
    """With the numbers of a row side by side."""
    beside = rows.strides[1] == rows.itemsize and rows.strides[0] >= rows.shape[1] * rows.itemsize
    return rows if beside else np.ascontiguousarray(rows)


def apart(rows: Array) -> Any:
    """How far it is from row to row, in numbers."""
    return whole(max(rows.strides[0] // rows.itemsize, rows.shape[1], 1))


def whole(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


@cache
def routine_of(name: str) -> Callable[..., Any] | None:
    """The routine, or None where it is not to be had as it is known here."""
    kinds = ARGUMENTS[name[1:]]
    try:
        found = LowLevelCallable.from_cython(cython_blas, name)
        if arguments_of(found.signature, name[0]) != kinds:
            return None
        pointed_to = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        place = pointed_to(("PyCapsule_GetPointer", ctypes.pythonapi))(found.function, found.signature.encode())
    except (AttributeError, ValueError, TypeError):
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_char_p if kind == "c" else ctypes.c_void_p for kind in kinds])(place)


def arguments_of(signature: str, letter: str) -> str:
    """The kinds of pointers in "void (char *, int *, …_d *)": c, i, n, or ? for one that is not known."""
    words = {"char": "c", "int": "i", letter: "n"}
    inside = signature.partition("(")[2].rstrip(")")
    types = [part.replace("const", "").strip().removesuffix("*").strip() for part in inside.split(",")]
    return "".join(words.get(kind.rpartition("_")[2] if kind.startswith("__pyx_t_") else kind, "?") for kind in types)
