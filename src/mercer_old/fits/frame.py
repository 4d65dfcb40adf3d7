"""Rows in memory moved to their mean and brought to size one: what searches that start from random numbers expect."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.errors import BadData
from mercer_old.rounding import TINY

__all__ = ["Frame", "frame_of"]

_TOO_FAR = "The rows are so large that their differences are no numbers any more. Scale them down first."


@dataclass(frozen=True, eq=False)
class Frame:
    """x = mean + scale·y, with one scale for each column: of all of them the same, unless they are standardized."""

    mean: Array
    scale: Array

    @property
    def variance(self) -> float:
        """The mean square of all entries, which is to be a number."""
        with np.errstate(over="ignore", under="ignore"):
            square = np.square(self.scale[0])
        if not TINY <= square < np.inf:
            raise BadData(f"Rows of size {self.scale[0]:.1g} have no variance that is a number; give another unit.")
        return float(square)

    def inside(self, rows: Any) -> Array:
        """y of some rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            moved = (dense(rows, np.float64) - self.mean) / self.scale
        if not np.isfinite(moved).all():
            raise BadData(_TOO_FAR)
        return moved

    def outside(self, moved: Array) -> Array:
        """The way back."""
        return moved * self.scale + self.mean


def frame_of(rows: Array, standardize: bool) -> Frame:
    """The mean of the rows, and the size of what is left: √(mean square) of all entries, or of each column.

    Columns that do not vary are left as they are, and so are rows that are all the same.
    """
    peak = _power_of_two(np.abs(rows).max(initial=0.0))
    mean = (rows / peak).mean(axis=0, dtype=np.float64) * peak
    with np.errstate(over="ignore", invalid="ignore"):
        moved = rows - mean
    if not np.isfinite(moved).all():
        raise BadData(_TOO_FAR)
    top = _power_of_two(np.abs(moved).max(initial=0.0))
    squares = ((moved / top) ** 2).mean(axis=0)
    noise = (4 * np.finfo(float).eps * np.abs(mean) / top) ** 2  # a column of equal numbers, and their rounded mean
    sizes = np.sqrt(np.where(squares > noise, squares, 0.0)) * top
    if not standardize:
        sizes = np.full(rows.shape[1], np.sqrt(np.where(squares > noise, squares, 0.0).mean()) * top)
    return Frame(np.asarray(mean), np.where(sizes > 0, sizes, 1.0))


def _power_of_two(size: float) -> float:
    return float(np.ldexp(1.0, np.frexp(size)[1] - 1)) if size > 0 else 1.0
