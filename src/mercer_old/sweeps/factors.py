"""What a few numbers of a row say about its factors, and so about the numbers that are missing."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer_old.arrays import Array

__all__ = ["Factors", "packed", "unpacked"]

_ROUNDING = 1e-14  # of a diagonal entry: with so much more of it, a matrix is positive definite to rounding as well


@dataclass(frozen=True, eq=False)
class Factors:
    """x = mean + Wz + ε with z ~ N(0, I) and ε ~ N(0, σ²I): the normal distribution N(mean, WWᵀ + σ²I).

    Of the observed part O of a row, y = x_O − mean_O, the factors are normal with

      covariance C = (I + W_OᵀW_O/σ²)⁻¹ and mean C·W_Oᵀy/σ²,

    and the density of what is there is that of N(mean_O, W_OW_Oᵀ + σ²I): log|W_OW_Oᵀ + σ²I| = |O|·log σ² − log|C|. No
    matrix is larger than k×k. Where W itself is known but for a covariance of each of its rows (`doubt`), W_OᵀW_O
    stands for its expectation.
    """

    W: Array  # d×k
    noise: float  # σ²
    mean: Array  # d
    doubt: Array | None = None  # d×k×k

    @property
    def k(self) -> int:
        return int(self.W.shape[1])

    @cached_property
    def _squares(self) -> Array:
        """Of every column w·wᵀ, in expectation, packed: d×k(k + 1)/2."""
        rows, columns = np.triu_indices(self.k)
        squares = self.W[:, rows] * self.W[:, columns]
        return squares if self.doubt is None else squares + self.doubt[:, rows, columns]

    def covariances(self, masks: Array) -> tuple[Array, Array]:
        """C of every pattern (g×k×k), and log|C⁻¹|; a mask is 1 where there is a number, and 0 where there is none."""
        precisions = self._precisions(masks)
        diagonals = np.diagonal(np.linalg.cholesky(precisions), axis1=1, axis2=2)
        return np.linalg.inv(precisions), 2 * np.log(diagonals).sum(axis=1)

    def halves(self, masks: Array) -> Array:
        """H of every pattern with C = HHᵀ: of C⁻¹ = LLᵀ it is L⁻ᵀ, which is there however small C is."""
        return np.linalg.inv(np.linalg.cholesky(self._precisions(masks))).transpose(0, 2, 1)

    def _precisions(self, masks: Array) -> Array:
        precisions, own = unpacked(masks @ self._squares, self.k) / self.noise, np.arange(self.k)
        precisions[:, own, own] = 1.0 + (1 + _ROUNDING * self.k) * precisions[:, own, own]
        return precisions

    def pulls(self, values: Array, masks: Array, which: Array) -> Array:
        """W_Oᵀy/σ² of every row: values that are missing are 0, and `which` is the pattern of each row."""
        return (values @ self.W - (masks @ (self.mean[:, None] * self.W))[which]) / self.noise

    def squares(self, values: Array, masks: Array, which: Array) -> Array:
        """‖y‖² of every row."""
        moved = np.einsum("ij,ij->i", values, values) - 2 * values @ self.mean
        return np.asarray(moved + (masks @ self.mean**2)[which])


def packed(matrices: Array) -> Array:
    """The upper triangles of symmetric matrices, each in one row."""
    rows, columns = np.triu_indices(matrices.shape[-1])
    return np.asarray(matrices[..., rows, columns])


def unpacked(triangles: Array, k: int) -> Array:
    """The way back."""
    rows, columns = np.triu_indices(k)
    out = np.empty((len(triangles), k, k))
    out[:, rows, columns] = triangles
    out[:, columns, rows] = triangles
    return out
