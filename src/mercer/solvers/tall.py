"""Products of tall matrices, shared out by rows."""

from typing import Any

import numpy as np

from mercer.symmetric import Array
from mercer.threads import run, threads_for

CAST_ROWS = 1024


def tall_times(A: Array, B: Array, threads: int, dtype: Any = np.float64) -> Array:
    """A B with A tall (n×m) and B small (m×b): each thread has rows of its own.

    If the product is kept in another precision than it is computed in, by so few rows at a time that it never exists
    in both.
    """
    out = np.empty((len(A), B.shape[1]), dtype=dtype)
    few = len(A) if np.result_type(A, B) == out.dtype else CAST_ROWS

    def work(rows: slice) -> None:
        for first in range(rows.start, rows.stop, few):
            some = slice(first, min(first + few, rows.stop))
            np.matmul(A[some], B, out=out[some], casting="same_kind")

    run(work, _pieces(A, B.shape[1], threads), threads)
    return out


def transposed_times(A: Array, B: Array, threads: int) -> Array:
    """AᵀB of two tall matrices, summed over pieces in a fixed order."""
    pieces = _pieces(A, B.shape[1], threads)
    parts = np.empty((len(pieces), A.shape[1], B.shape[1]), dtype=np.result_type(A, B))

    def work(i: int) -> None:
        np.matmul(A[pieces[i]].T, B[pieces[i]], out=parts[i])

    run(work, range(len(pieces)), threads)
    return parts.sum(axis=0)


def _pieces(A: Array, columns: int, threads: int) -> list[slice]:
    count = threads_for(A.size * columns, threads)
    edges = [len(A) * i // count for i in range(count + 1)]
    return [slice(edges[i], edges[i + 1]) for i in range(count)]
