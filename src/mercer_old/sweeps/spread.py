"""The diagonal of S alone: means and variances of columns."""

from typing import Self

import numpy as np

from mercer_old.arrays import Array, Matrix
from mercer_old.sums import RunningSum, column_squares
from mercer_old.sweeps.scatter import Scatter


class Spread(Scatter):
    """The diagonal of S alone: where means and variances will do."""

    narrow = 10**9

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self._sum = RunningSum((self.width,))

    @property
    def squares(self) -> Array:
        return np.maximum(self._sum.high + self._sum.low, 0.0)

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        squares = column_squares(Y)
        self._sum.add(squares)
        self._sum.add(-weight * left**2)
        return squares

    def _add_row(self, row: Array) -> None:
        self._sum.add(row**2)

    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        self._sum.add(squares)

    def _merge(self, other: Self) -> None:
        self._sum.add_sum(other._sum)

    def _scale(self, factor: float) -> None:
        self._sum.scale(factor)
