"""Products of tall matrices, shared out by rows."""

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.blocks import share_out, steps
from mercer_old.threads import run, threads_for

_CAST_ROWS = 1024
_PIECE_ROWS, _MOST_PIECES = 2048, 32  # that threads share: at least so many rows in each, at most so many of them
_SUMMED_ROWS = 512  # whose products are summed up at once
_FEW_ROWS = 256  # whose products with few columns stay at hand


def tall_times(A: Array, B: Array, threads: int, dtype: DTypeLike = np.float64) -> Array:
    """A B with A tall (n×m) and B small (m×b): each thread has rows of its own.

    If the product is kept in another precision than it is computed in, by so few rows at a time that it never exists
    in both.
    """
    out = np.empty((len(A), B.shape[1]), dtype=dtype)
    few = len(A) if np.result_type(A, B) == out.dtype else _CAST_ROWS

    def work(rows: slice) -> None:
        for some in steps(rows.stop, few, rows.start):
            np.matmul(A[some], B, out=out[some], casting="same_kind")

    run(work, _cut_rows(len(A)), threads_for(A.size * B.shape[1], threads))
    return out


def subtract_times(out: Array, A: Array, B: Array, threads: int) -> None:
    """out −= A B with A tall and B small, by so few rows at a time that what is subtracted stays at hand."""

    def work(rows: slice) -> None:
        for some in steps(rows.stop, _FEW_ROWS, rows.start):
            out[some] -= A[some] @ B

    run(work, _cut_rows(len(A)), threads_for(A.size * B.shape[1], threads))


def turn(A: Array, B: Array, threads: int) -> Array:
    """A B in the place of A, with B small and square, likewise."""

    def work(rows: slice) -> None:
        for some in steps(rows.stop, _FEW_ROWS, rows.start):
            A[some] = A[some] @ B

    run(work, _cut_rows(len(A)), threads_for(A.size * B.shape[1], threads))
    return A


def transposed_times(A: Array, B: Array, threads: int) -> Array:
    """AᵀB of two tall matrices: pieces of so many rows, whoever computes them, summed up in a fixed order."""
    pieces = _cut_rows(len(A))
    parts = np.zeros((len(pieces), A.shape[1], B.shape[1]), dtype=np.result_type(A, B))

    def work(i: int) -> None:
        for some in steps(pieces[i].stop, _SUMMED_ROWS, pieces[i].start):
            parts[i] += A[some].T @ B[some]

    run(work, range(len(pieces)), threads_for(A.size * B.shape[1], threads))
    return parts.sum(axis=0)


def _cut_rows(n: int) -> list[slice]:
    """Rows in pieces that do not depend on the number of threads, so that no bit of an answer does."""
    return share_out(n, min(_MOST_PIECES, -(-n // _PIECE_ROWS)) or 1)
