"""Kernels of a Euclidean distance, seen as functions of it: their values, their slopes, and the distance to a value."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer_old.arrays import Array
from mercer_old.kernels import RBF
from mercer_old.kernels.algebra import Scaled
from mercer_old.kernels.base import Kernel
from mercer_old.kernels.euclidean import EuclideanKernel
from mercer_old.squares import Moved, multiply

__all__ = ["Radial"]

_HALVINGS = 100  # of an interval of exponents: from 1e20 down to their last digit
_FARTHEST = 1e20  # exponent scale·‖x − y‖² that is looked for


@dataclass(frozen=True, eq=False)
class Radial:
    """k(z, x) = factor·κ(scale·‖z − x‖²) against some rows, which are prepared once."""

    kernel: EuclideanKernel
    rows: Array
    factor: float = 1.0

    @classmethod
    def of(cls, kernel: Kernel, rows: Array) -> "Radial | None":
        """None of a kernel that is no function of a Euclidean distance."""
        factor = 1.0
        while isinstance(kernel, Scaled):
            factor, kernel = factor * kernel.factor, kernel.kernel
        return cls(kernel, rows, factor) if isinstance(kernel, EuclideanKernel) else None

    @property
    def length(self) -> float:
        """The distance at which the exponent is one: the unit in which steps are small or large."""
        return float(1 / np.sqrt(self.kernel.scale))

    @cached_property
    def centre(self) -> Array:
        return np.asarray(self.rows.mean(axis=0, dtype=np.float64))

    @cached_property
    def moved(self) -> Array:
        """Rows less their centre, so that large offsets cost no digits of weighted means."""
        return np.asarray(self.rows - self.centre, dtype=np.float64)

    @cached_property
    def _right(self) -> Array:
        return Moved(self.moved, np.zeros(self.moved.shape[1]), self._unit).right()

    @property
    def _unit(self) -> float:
        return float(np.sqrt(2 * self.kernel.scale))

    def values_and_slopes(self, Z: Array) -> tuple[Array, Array]:
        """κ − κ(0) and −κ' of moved rows Z against all (m×n): the first keeps its digits where all rows look alike."""
        exponents = np.empty((len(Z), len(self.moved)))
        multiply(Moved(Z, np.zeros(Z.shape[1]), self._unit).left(), self._right, exponents)
        np.minimum(exponents, 0.0, out=exponents)
        if isinstance(self.kernel, RBF):
            self.kernel.shape(exponents, 1.0)
            return exponents, exponents + 1.0
        slopes = exponents.copy()
        self.kernel.steepness(slopes)
        self.kernel.shape(exponents, 1.0)
        return exponents, slopes

    def squared_distances(self, drops: Array) -> Array:
        """‖z − x‖² where k(z, x) is less than k(0) by a share `drops` of it: by halving, as every κ falls."""
        if isinstance(self.kernel, RBF):
            return np.asarray(-np.log1p(-drops) / self.kernel.scale)
        low, high = np.zeros(drops.shape), np.full(drops.shape, _FARTHEST)
        for _ in range(_HALVINGS):
            # Between exponents that far apart the middle is their geometric one.
            middle = np.where(high > 4 * low, np.sqrt(np.maximum(low, 1 / _FARTHEST) * high), (low + high) / 2)
            found = -middle
            self.kernel.shape(found, 1.0)
            far = found < -drops
            high, low = np.where(far, middle, high), np.where(far, low, middle)
        return np.asarray(np.where(drops > 0, (low + high) / 2, 0.0) / self.kernel.scale)
