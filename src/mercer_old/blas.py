"""Products of BLAS that are added to what is there, while other threads go on.

numpy's products start at zero, and scipy's functions hold Python's lock while they compute. So the routines are called
where scipy offers them to compiled code (`scipy.linalg.cython_blas`). Where they look otherwise than they do today, or
add term after term to what is there and not their sum, numpy's products are added up: one more array, the same chains.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import LowLevelCallable
from scipy.linalg import cython_blas

from mercer_old.arrays import Array

__all__ = ["add_products", "add_squares"]

# What the routines take: letters, whole numbers, and numbers of their own type. All are pointers, as in Fortran.
ARGUMENTS = {"syrk": "cciinninni", "gemm": "cciiinnininni"}
_NUMBERS = {"s": ctypes.c_float, "d": ctypes.c_double}
_LETTERS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}
_FARTHEST = 2**31 - 1  # that their whole numbers can tell
_PROBE_TERMS, _PROBE_SIDES = (
    64,
    (5, 150),
)  # of products that show how they are added: small ones may have ways of their own


def add_squares(C: Array, rows: Array, short: int) -> None:
    """C += rowsᵀ rows of so many rows after the other; below the diagonal, whatever comes."""
    rows = _lying_in_rows(rows, C)
    _refuse_mismatch(C, rows, rows)
    routine = _routine_of(_LETTERS[C.dtype] + "syrk")
    if routine is None:
        _add_up(C, rows, rows, short)
    else:
        _call_syrk(routine, C, rows, short)


def add_products(C: Array, A: Array, B: Array, short: int) -> None:
    """C += AᵀB of so many rows after the other."""
    A, B = _lying_in_rows(A, C), _lying_in_rows(B, C)
    _refuse_mismatch(C, A, B)
    routine = _routine_of(_LETTERS[C.dtype] + "gemm")
    if routine is None:
        _add_up(C, A, B, short)
    else:
        _call_gemm(routine, C, A, B, short)


def _add_up(C: Array, A: Array, B: Array, short: int) -> None:
    """The same by numpy."""
    for first in range(0, len(A), short):
        C += A[first : first + short].T @ B[first : first + short]


def _call_syrk(routine: Callable[..., Any], C: Array, rows: Array, short: int) -> None:
    one, out = _unit(C), (C.ctypes.data, _apart(C))
    place, between, columns = rows.ctypes.data, _apart(rows), _whole(len(C))
    for first in range(0, len(rows), short):
        some = _whole(min(short, len(rows) - first))
        routine(b"L", b"N", columns, some, one, place + first * rows.strides[0], between, one, *out)


def _call_gemm(routine: Callable[..., Any], C: Array, A: Array, B: Array, short: int) -> None:
    one, out, shape = _unit(C), (C.ctypes.data, _apart(C)), (_whole(C.shape[1]), _whole(C.shape[0]))
    left, right, gaps = A.ctypes.data, B.ctypes.data, (_apart(A), _apart(B))
    for first in range(0, len(A), short):
        some, its, other = _whole(min(short, len(A) - first)), first * A.strides[0], first * B.strides[0]
        routine(b"N", b"T", *shape, some, one, right + other, gaps[1], left + its, gaps[0], one, *out)


# ---------------------------------------------------------------------- what the routines are given


def _lying_in_rows(rows: Array, like: Array) -> Array:
    """In the precision of another array, each number where it belongs, and those of a row side by side.

    A field of a packed record may lie at any byte, and rows any number of bytes apart.
    """
    size = rows.itemsize
    beside = rows.strides[1] == size and rows.shape[1] * size <= rows.strides[0] <= _FARTHEST * size
    if beside and rows.dtype == like.dtype and rows.flags.aligned and rows.strides[0] % size == 0:
        return rows
    return np.array(rows, dtype=like.dtype, order="C")


def _refuse_mismatch(C: Array, A: Array, B: Array) -> None:
    """The routines believe what they are told, and write there."""
    if C.shape != (A.shape[1], B.shape[1]) or len(A) != len(B) or not (C.flags.carray and C.dtype in _LETTERS):
        raise ValueError(f"{A.shape}ᵀ{B.shape} cannot be added to an array of {C.shape}, {C.dtype}.")


def _apart(rows: Array) -> Any:
    """How far it is from row to row, in numbers."""
    return _whole(max(rows.strides[0] // rows.itemsize, rows.shape[1], 1))


def _whole(number: int) -> Any:
    return ctypes.byref(ctypes.c_int(number))


def _unit(C: Array) -> Any:
    return ctypes.byref(_NUMBERS[_LETTERS[C.dtype]](1.0))


# ---------------------------------------------------------------------- where they are


@cache
def _routine_of(name: str) -> Callable[..., Any] | None:
    """The routine, or None where it is not to be had as it is known here."""
    kinds = ARGUMENTS[name[1:]]
    try:
        found = LowLevelCallable.from_cython(cython_blas, name)
        if _arguments_of(found.signature, name[0]) != kinds:
            return None
        pointed_to = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
        place = pointed_to(("PyCapsule_GetPointer", ctypes.pythonapi))(found.function, found.signature.encode())
    except (AttributeError, ValueError, TypeError):
        return None
    routine = ctypes.CFUNCTYPE(None, *[ctypes.c_char_p if kind == "c" else ctypes.c_void_p for kind in kinds])(place)
    return routine if _sums_up_first(routine, name) else None


def _arguments_of(signature: str, letter: str) -> str:
    """The kinds of pointers in "void (char *, int *, …_d *)": c, i, n, or ? for one that is not known."""
    words = {"char": "c", "int": "i"}
    inside = signature.partition("(")[2].rstrip(")")
    types = [part.replace("const", "").strip().removesuffix("*").strip() for part in inside.split(",")]
    own = [kind.startswith("__pyx_t_") and kind.endswith(f"_{letter}") for kind in types]
    return "".join("n" if its else words.get(kind, "?") for kind, its in zip(types, own, strict=True))


def _sums_up_first(routine: Callable[..., Any], name: str) -> bool:
    """Whether the terms of a call are added up before their sum is added to what is there: the reference BLAS does not.

    Each term is too small to change what is there, and their sum is not.
    """
    dtype: Any = np.float32 if name[0] == "s" else np.float64
    small = np.ldexp(1.0, -(np.finfo(dtype).nmant // 2 + 2))  # its square is below half a unit in the last place of 1
    for side in _PROBE_SIDES:
        C, rows = np.ones((side, side), dtype), np.full((_PROBE_TERMS, side), small, dtype)
        if name[1:] == "syrk":
            _call_syrk(routine, C, rows, _PROBE_TERMS)
        else:
            _call_gemm(routine, C, rows, rows, _PROBE_TERMS)
        if not (np.triu(C) == np.triu(np.full_like(C, 1 + _PROBE_TERMS * small**2))).all():
            return False
    return True
