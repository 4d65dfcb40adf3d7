"""M + σI as a product of triangles, so that (M + σI)⁻¹ can be multiplied with: sparse by SuperLU, dense by Cholesky."""

from typing import Literal

import numpy as np
from scipy import sparse
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import SuperLU, splu

from mercer_old.arrays import Array, Matrix
from mercer_old.blocks import steps
from mercer_old.errors import NotVerified
from mercer_old.progress import OnPass
from mercer_old.threads import one_blas_thread, run

_PANEL = 384  # columns of a dense factor that are found at a time
_ORDER = "MMD_AT_PLUS_A"  # minimum degree on the pattern of M: 2.6 times faster here than scipy's default
_PROBES, _ERRORS = 10, 8  # random columns that show the error of a factorisation, and how many times that it may be
_COLUMNS = 4  # that a thread solves for at a time, whatever their number: threads do not change a bit
_NOTHING = 1e-100  # entries of a factor below this are zero: far from the diagonal they fade to numbers that are slow


def symmetric_lu(A: Matrix) -> SuperLU:
    """SuperLU of a symmetric matrix, with pivots on the diagonal."""
    return splu(A, permc_spec=_ORDER, diag_pivot_thresh=0.0, options={"SymmetricMode": True})


class SparseFactor:
    """LU without pivoting, which a positive definite matrix does not need."""

    def __init__(self, M: Matrix, shift: float, threads: int = 1) -> None:
        shifted = sparse.csc_array(M + shift * sparse.eye_array(M.shape[0], format="csc"))
        self.threads = threads
        self.lu = symmetric_lu(shifted)

    def solve(self, B: Array) -> Array:
        out = np.empty(B.shape, order="F")

        def work(columns: slice) -> None:
            out[:, columns] = self.lu.solve(np.asfortranarray(B[:, columns]))

        run(work, steps(B.shape[1], _COLUMNS), self.threads)
        return out


class DenseFactor:
    """Cholesky in the lower triangle of one n×n array, panel by panel: threads share the rows, and Ctrl-C is heard."""

    def __init__(self, M: Matrix, shift: float, threads: int = 1, on_pass: OnPass = None) -> None:
        A = _own_array(M, "C")
        n = len(A)
        A.flat[:: n + 1] += shift
        self.L = A
        with one_blas_thread():
            for columns in steps(n, _PANEL):
                self._panel(A, columns, threads)
                if on_pass:
                    on_pass((columns.stop / n) ** 3)

    def _panel(self, A: Array, columns: slice, threads: int) -> None:
        """Take what earlier columns explain from these ones, factor the square on the diagonal, divide by it."""
        j, n = columns.start, len(A)
        pieces = steps(n, _PANEL, start=j)

        def update(rows: slice) -> None:
            A[rows, columns] -= A[rows, :j] @ A[columns, :j].T

        def divide(rows: slice) -> None:
            found = blas.dtrsm(1.0, corner, A[rows, columns].T, lower=1).T
            A[rows, columns] = np.where(np.abs(found) < _NOTHING, 0.0, found)

        run(update, pieces if j else [], threads)
        corner, failed = lapack.dpotrf(A[columns, columns], lower=1, clean=1)
        if failed:
            raise NotVerified(
                "The matrix of the neighbourhoods is not positive semi-definite to working precision, which is a "
                "defect if it was computed here."
            )
        A[columns, columns] = corner
        run(divide, pieces[1:], threads)

    def solve(self, B: Array) -> Array:
        """LLᵀX = B, panel by panel: LAPACK's own way is several times slower for a few columns."""
        L, X, n = self.L, np.array(B, dtype=np.float64, order="C"), len(self.L)
        panels = steps(n, _PANEL)
        for p in panels:
            X[p] = blas.dtrsm(1.0, L[p, p], X[p] - L[p, : p.start] @ X[: p.start], lower=1)
        for p in reversed(panels):
            X[p] = blas.dtrsm(1.0, L[p, p], X[p] - L[p.stop :, p].T @ X[p.stop :], lower=1, trans_a=1)
        return X


def count_negative(M: Matrix, shift: float, factor: str, rng: np.random.Generator) -> tuple[int, float]:
    """How many pivots of M − shift·I are negative, and the error of that factorisation.

    Without pivots off the diagonal (sparse) it may be large, and random columns show it.

    The count is exact for a matrix that differs from M by no more than the error; −1 if there was none that tells.
    """
    n = M.shape[0]
    if factor == "sparse":
        try:
            lu = symmetric_lu(sparse.csc_array(M - shift * sparse.eye_array(n, format="csc")))
        except RuntimeError:  # a pivot that is zero
            return -1, np.inf
        if not np.array_equal(lu.perm_r, lu.perm_c):  # a pivot was not on the diagonal
            return -1, np.inf
        probes = rng.standard_normal((n, _PROBES))
        solved = lu.solve(probes)
        residual = np.linalg.norm(probes - (M @ solved - shift * solved), axis=0)
        return int(np.sum(lu.U.diagonal() < 0)), float(_ERRORS * (residual / np.linalg.norm(solved, axis=0)).max())
    A = _own_array(M, "F")
    A.flat[:: n + 1] -= shift
    error = n * np.finfo(float).eps * (float(abs(M).sum(axis=0).max()) + abs(shift))  # with its pivots it is stable
    A, pivots, failed = lapack.dsytrf(A, lower=1, overwrite_a=1)
    return (-1, np.inf) if failed else (_negative_pivots(A, pivots), error)


def _own_array(M: Matrix, order: Literal["C", "F"]) -> Array:
    """An array to write into."""
    return np.asarray(M.toarray(order=order)) if sparse.issparse(M) else np.array(M, dtype=np.float64, order=order)


def _negative_pivots(A: Array, pivots: Array) -> int:
    """In the block diagonal of dsytrf: single pivots, and blocks of two, which have one of each sign."""
    pairs = pivots < 0
    return int(np.sum(np.diagonal(A)[~pairs] < 0)) + int(pairs.sum()) // 2


def measure_fill(pattern: "sparse.csc_array") -> tuple[float, float]:
    """Entries and work of the factor of a symmetric matrix with this pattern."""
    n = pattern.shape[0]
    heavy = sparse.csc_array(pattern + n * n * sparse.eye_array(n, format="csc"))  # values play no part but this one
    heights = np.diff(symmetric_lu(heavy).L.indptr).astype(float)
    return 2 * float(heights.sum()) - n, float(np.sum(heights**2))
