"""A few rows B that stand for all of them, however many columns there are: Frequent Directions.

Rows gather in a matrix M of 2ℓ rows. When it is full it is decomposed as M = UΣVᵀ, every σ² is lowered by
δ = σ²_{ℓ+1} (or to zero), and ℓ rows of Vᵀ times what is left replace M. With Δ the sum of all δ, for centered
rows of scatter S:

  BᵀB ⪯ S ⪯ BᵀB + Δ·I,   so   σᵢ²(B) ≤ λᵢ(S) ≤ σᵢ²(B) + Δ   and   Δ ≤ (λ_{k+1} + λ_{k+2} + …)/(ℓ + 1 − k), k ≤ ℓ

(Liberty 2013; Ghashami, Liberty, Phillips and Woodruff 2016). Nothing is lost up to 2ℓ rows. Two sketches merge
by adding the rows of one to the other.

U comes from a rounded Gram matrix, so what it does is measured: if U is orthogonal to η = ‖UᵀU − I‖ and UᵀMMᵀU is
diagonal to ε, a step is off by no more than ε + (2η + η²)‖M‖², in both directions, and the rounding of its product.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.linalg.scatter import ENTRY
from mercer.linalg.scatter_qr import CenteredScatter
from mercer.numerics.blocking import lane_rows, slices
from mercer.numerics.products import column_squares, matmul, row_slice
from mercer.numerics.rounding import UNIT, CompensatedSum, chain, gamma
from mercer.numerics.threads import parallel, threads_for
from mercer.storable import storable

_TERMS = 256  # columns over which rows are multiplied at once
_COLUMNS = 4096  # columns of a sketch that are rotated at once


@storable
class ScatterSketch(CenteredScatter):
    """B (up to 2ℓ rows) with BᵀB ⪯ S ⪯ BᵀB + Δ·I, both up to `sketch_error`, and the diagonal of S.

    Parameters
    ----------
    n_features : int
        Number of columns.
    size : int
        ℓ, the number of directions that are kept.
    """

    def __init__(self, n_features: int, size: int) -> None:
        super().__init__(n_features)
        self.size, self.shrinkage, self._rounding = size, 0.0, 0.0
        self._squares = CompensatedSum((n_features,))
        self._kept, self._used, self._n_threads = np.empty((0, n_features)), 0, 1

    @property
    def rows(self) -> NDArray:
        """B, in the array that goes on gathering rows."""
        return self._kept[: self._used]

    @property
    def squares(self) -> NDArray:
        return self._squares.value()

    @property
    def sketch_error(self) -> float:
        """Bound on how far rounding moved the eigenvalues of S − BᵀB."""
        return float(self.entry_error.sum()) + self._rounding

    def add(self, rows: Any, weights: NDArray | None = None, n_threads: int = 1) -> None:
        self._n_threads = n_threads
        super().add(rows, weights, n_threads)

    def _add_sparse(self, X: Any, weights: NDArray | None, n_threads: int) -> None:
        """Sparse rows are centered like others; a few of them at a time are made dense."""
        for piece in slices(X.shape[0], lane_rows(self.n_features)):
            self._add_strip(row_slice(X, piece).toarray(), None if weights is None else weights[piece])

    def _take(self, Y: NDArray, error: NDArray) -> None:
        squares = column_squares(Y)
        self._squares.add(squares)
        self.diagonal_error = self.diagonal_error + gamma(chain(len(Y)) + ENTRY) * squares
        self._gather(Y)

    def _gather(self, Y: NDArray) -> None:
        """Rows into the matrix, which shrinks whenever it is full and there are more."""
        start = 0
        while start < len(Y):
            if self._used == 2 * self.size:
                self._shrink()
            n_new = min(2 * self.size - self._used, len(Y) - start)
            if self._used + n_new > len(self._kept):
                kept = np.empty((min(max(2 * len(self._kept), self._used + n_new), 2 * self.size), self.n_features))
                kept[: self._used] = self.rows
                self._kept = kept
            self._kept[self._used : self._used + n_new] = Y[start : start + n_new]
            self._used, start = self._used + n_new, start + n_new

    def _shrink(self) -> None:
        M, size = self.rows, self.size
        n_threads = threads_for(M.size * len(M), self._n_threads)
        self._used = size
        gram = np.concatenate(
            parallel(lambda piece: matmul(M[piece], M.T, short=_TERMS), slices(len(M), 128), n_threads)
        )
        if not np.isfinite(gram).all():  # nor are the squares of the columns, which is reported later
            return
        values, U = np.linalg.eigh(gram)
        values, U = values[::-1], U[:, ::-1]
        lowered = max(float(values[size]), 0.0)
        left = np.maximum(values[:size] - lowered, 0.0)
        factors = np.sqrt(np.divide(left, values[:size], out=np.zeros(size), where=left > 0))
        rotation = factors[:, None] * U.T[:size]
        self._rounding += _shrink_error(gram, values, U, M.shape[1])

        def rotate(columns: slice) -> None:
            M[:size, columns] = matmul(rotation, M[:, columns])

        parallel(rotate, slices(M.shape[1], _COLUMNS), n_threads)
        self.shrinkage += lowered * (1 + 16 * UNIT)

    def _merge_sums(self, other: Self, row: NDArray, error: NDArray) -> None:
        self._squares.add_sum(other._squares)
        self.shrinkage += other.shrinkage
        self._rounding += other._rounding
        self._gather(other.rows)
        if row.any():
            self._take(row[None], error)

    def _scale(self, factor: float) -> None:
        self._rounding = factor * self._rounding + 4 * UNIT * float(self.squares.sum())
        self._squares.scale(factor)
        self.shrinkage *= factor
        self._kept *= np.sqrt(factor)

    def _change_unit(self, factor: float) -> None:
        self._squares.scale(factor)
        self._squares.scale(factor)
        self._rounding, self.shrinkage = factor * (factor * self._rounding), factor * (factor * self.shrinkage)
        self._kept *= factor

    def _get_sums(self) -> dict[str, Any]:
        sums = {"squares_high": self._squares.high, "squares_low": self._squares.low}
        return sums | {"size": self.size, "shrinkage": self.shrinkage, "rounding": self._rounding, "rows": self.rows}

    @classmethod
    def _empty(cls, state: dict[str, Any]) -> Self:
        return cls(len(state["mean_high"]), int(state["size"]))

    def _set_sums(self, state: dict[str, Any]) -> None:
        self._squares.high, self._squares.low = state["squares_high"], state["squares_low"]
        self.shrinkage, self._rounding = state["shrinkage"], state["rounding"]
        self._kept, self._used = np.array(state["rows"]), len(state["rows"])


def _shrink_error(gram: NDArray, values: NDArray, U: NDArray, width: int) -> float:
    """ε + (2η + η²)‖M‖², measured with room for the measuring, and 2‖B‖‖δB‖ + ‖δB‖² of the product."""
    m, size = len(gram), float(np.trace(gram))
    measuring = gamma(chain(m) + ENTRY) * m
    eta = float(np.linalg.norm(matmul(U.T, U) - np.eye(m))) + measuring
    outside = float(np.linalg.norm(matmul(U.T, matmul(gram, U)) - np.diag(values)))
    epsilon = outside + 2 * measuring * size + gamma(chain(width, _TERMS) + ENTRY) * size * (1 + eta) ** 2
    entry = gamma(chain(m) + 2 * ENTRY) * np.sqrt(m) * (1 + eta)
    return float(epsilon + (4 * eta + 2 * eta**2 + 2 * entry * (1 + eta) + entry**2) * size)
