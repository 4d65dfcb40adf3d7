"""How k(z, x) changes with z: weighted sums of gradients, without an array of rows × rows × columns.

A kernel prepares once what the gradients of a block have in common (`Kernel.slopes`); sums with any coefficients are
then a product or two. Where a kernel has a kink in z (|z − x| at 0, min(z, x) at z = x) the slope is the mean of those
on both sides; at the edge of its domain (a count of 0) the one inside; and where it jumps (a direction of a row of
zeros) it is 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held, dense
from mercer_old.sums import LESS_SHORT, product

__all__ = ["ByColumns", "ByProducts", "Level", "Slopes", "Together"]


class Slopes(ABC):
    """∂k(z, x)/∂z of all rows z of a block and x of another."""

    @abstractmethod
    def pull(self, C: Array) -> Array:
        """Σᵢ C[q, i]·∂k(z_q, xᵢ)/∂z_q of every row z_q (m×d); C is m×n, or what broadcasts to it."""


class Level(Slopes):
    """Of a kernel that changes with no row."""

    def __init__(self, Z: Held) -> None:
        self.shape = Z.shape

    def pull(self, C: Array) -> Array:
        return np.zeros(self.shape)


class ByProducts(Slopes):
    """∂k/∂z = a(z, x)·x + b(z, x)·z, two m×n arrays of numbers: one product with the rows x, which may be sparse.

    Rows that are moved to a centre first lose fewer digits where both parts nearly cancel; `times` is the unit of the
    gradient in theirs.
    """

    def __init__(self, Z: Held, X: Held, of_x: Array | None, of_z: Array | None = None, times: float = 1.0) -> None:
        self.Z, self.X, self.of_x, self.of_z, self.times = Z, X, of_x, of_z, times

    def pull(self, C: Array) -> Array:
        if self.of_x is None:  # rows with the same coefficients have the same sum
            different = np.atleast_2d(C)
            weights = np.broadcast_to(different, (len(different), self.X.shape[0]))
            out = np.broadcast_to(_times_rows(weights, self.X), self.Z.shape).copy()
        else:
            out = _times_rows(C * self.of_x, self.X)
        if self.of_z is not None:
            out += dense(self.Z, np.float64) * (C * self.of_z).sum(axis=1)[:, None]
        if self.times != 1.0:
            out *= self.times
        return out


class ByColumns(Slopes):
    """∂k/∂z_j = w(z, x)·slope(z_j, x_j) + v(z, x), column by column: slower, and nothing cancels.

    `slope` takes a column of z (m×1) and one of x (of length n); `weights` and `others` are m×n.
    """

    def __init__(
        self, Z: Any, X: Any, weights: Array, slope: Callable[[Array, Array], Array], others: Array | None = None
    ) -> None:
        self.columns, self.weights, self.slope, self.others = (Z, X), weights, slope, others

    def pull(self, C: Array) -> Array:
        weights, (Z, X) = C * self.weights, self.columns
        out = np.empty((len(weights), Z.shape[1]))
        for j in range(Z.shape[1]):
            z, x = dense(Z[:, [j]], np.float64), dense(X[:, [j]], np.float64)[:, 0]
            out[:, j] = np.einsum("ij,ij->i", weights, self.slope(z, x))
        if self.others is not None:
            out += (C * self.others).sum(axis=1)[:, None]
        return out


class Together(Slopes):
    """Σ wₜ·∂kₜ/∂z of several kernels, whose weights are numbers or m×n arrays."""

    def __init__(self, *parts: tuple[Slopes, Any]) -> None:
        self.parts = parts

    def pull(self, C: Array) -> Array:
        return np.asarray(sum(slopes.pull(C * weight) for slopes, weight in self.parts))


def _times_rows(weights: Array, X: Held) -> Array:
    """Weights (m×n) times rows, as a dense array: in short chains if they are dense."""
    return product(weights, X, None, LESS_SHORT) if isinstance(X, np.ndarray) else dense(weights @ X)
