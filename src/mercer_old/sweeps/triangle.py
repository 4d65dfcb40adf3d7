"""R with RᵀR = S, from rows that are never squared: where small variances have to keep their digits."""

from typing import Self

import numpy as np
from scipy.linalg import lapack

from mercer_old.arrays import Array, Matrix
from mercer_old.blocks import cut
from mercer_old.rounding import UNIT, UNIT_SINGLE, gamma
from mercer_old.sums import sum_chain
from mercer_old.sweeps.scatter import ENTRY, Scatter

_PANEL = 32  # columns that the triangle takes up at a time


_TRIANGLE_ROWS = 128  # that the triangle takes up at a time: its sums are no longer than that


class Triangle(Scatter):
    """R (d×d, upper triangular) with RᵀR = S: rows are never squared, so small variances keep all their digits.

    What rounding does is a matter of the columns here: R is that of rows whose columns are off by no more than `slack`.
    """

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self.R = np.zeros((self.width, self.width), order="F")
        self._of_rows = np.zeros(self.width)  # squared: errors in different rows are at right angles
        self._of_steps = np.zeros(self.width)

    @property
    def squares(self) -> Array:
        return np.einsum("ij,ij->j", self.R, self.R)

    @property
    def slack(self) -> Array:
        return np.sqrt(self._of_rows) + self._of_steps

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        unit = UNIT if Y.dtype == np.float64 else UNIT_SINGLE
        Y = np.array(Y, dtype=np.float64, order="F")
        squares = np.einsum("ij,ij->j", Y, Y)
        Y -= left if root is None else np.multiply.outer(root, left)
        # Entries and what is subtracted from them; the block's own mean; the reflections' sums over some of its rows.
        terms = gamma(sum_chain(len(Y)) + 2 * ENTRY, unit) + gamma(min(len(Y), _TRIANGLE_ROWS) + ENTRY)
        self._of_rows += terms**2 * (squares + weight * left**2)
        for some in cut(len(Y), _TRIANGLE_ROWS):
            self._take(np.asfortranarray(Y[some]))
        return squares

    def _add_row(self, row: Array) -> None:
        self._take(np.asfortranarray(row[None]))

    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        raise TypeError("A triangle takes dense rows; sparse ones are summed up in a Square.")

    def _merge(self, other: Self) -> None:
        self._of_rows += other._of_rows + gamma(self.width + ENTRY) ** 2 * other.squares
        self._of_steps += other._of_steps
        self._take(other.R.copy(order="F"))

    def _wrong_gap(self, gap: Array, wrong: Array) -> None:
        super()._wrong_gap(gap, wrong)
        self._of_rows += wrong**2

    def _take(self, Y: Array) -> None:
        """R of [R; Y], Householder reflections that leave the zeros of R alone."""
        self.R = lapack.dtpqrt(0, min(_PANEL, self.width), self.R, Y, overwrite_a=1, overwrite_b=1)[0]
        self._of_steps += 4 * UNIT * np.sqrt(self.squares)

    def _scale(self, factor: float) -> None:
        self._of_rows *= factor
        self._of_steps *= np.sqrt(factor)
        self.R *= np.sqrt(factor)
