"""Where scores lie in feature space: a weighted sum of the images of rows that a fit has kept."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.blocks import cut
from mercer_old.kernels.base import Kernel
from mercer_old.operators.tiles import apply

__all__ = ["Expansion", "distances_reached"]

_ENTRIES = 4_000_000  # of queries against rows, worked on at a time


@dataclass(frozen=True, eq=False)
class Expansion:
    """p(y) = Σᵢ cᵢφ(xᵢ) with c = αy + m: the point in the plane of the components that has the scores y.

    `rows` are the training rows, and m their share of the mean (w/Σw), or the landmarks, and m the coefficients of the
    mean of what these see. All products are those of k − shift: where Σc = 1, distances are the same, and of a kernel
    that is near `shift` everywhere they keep their digits.
    """

    kernel: Kernel
    rows: Held
    alpha: Array  # n×k
    mean: Array  # m (n,)
    seen: Array  # Kα (n×k)
    means: Array  # Km (n,)
    shift: float = 0.0

    @classmethod
    def of(cls, kernel: Kernel, rows: Held, alpha: Array, mean: Array, threads: int = 1) -> "Expansion":
        """From the coefficients alone: one pass over the kernel matrix of the rows."""
        both, out = np.column_stack([alpha, mean]), np.empty((len(mean), alpha.shape[1] + 1))
        apply(kernel.prepare(rows), len(mean), len(mean), both, out, threads)
        return cls(kernel, rows, alpha, mean, out[:, :-1], out[:, -1])

    @property
    def n(self) -> int:
        return len(self.mean)

    @property
    def scores(self) -> Array:
        """Of the rows themselves (n×k): where they lie along the components."""
        return self.seen - self.alpha.T @ self.means

    @cached_property
    def own(self) -> Array:
        """k(x, x) − shift of the rows."""
        return np.asarray(self.kernel.diag(self.rows), dtype=np.float64) - self.shift

    @cached_property
    def gram(self) -> Array:
        """[α m]ᵀK[α m] (k+1 × k+1), by which every p(y) is as long as it is, whatever the components are."""
        both = np.column_stack([self.alpha, self.mean])
        G = both.T @ np.column_stack([self.seen, self.means])
        return np.asarray(G + G.T) / 2

    def blocks(self, m: int, width: int = 0, entries: int = _ENTRIES) -> list[slice]:
        """So many of m queries at a time that a number for each row, and `width` numbers, of every one fit."""
        return cut(m, max(min(entries, _ENTRIES) // max(self.n, width, 1), 16))

    def coefficients(self, Y: Array) -> Array:
        """c of every score (m×n)."""
        return Y @ self.alpha.T + self.mean

    def squares(self, Y: Array) -> Array:
        """‖p(y)‖², by k − shift."""
        both = np.column_stack([Y, np.ones(len(Y))])
        return np.einsum("ij,ij->i", both @ self.gram, both)

    def to_rows(self, Y: Array) -> Array:
        """‖p(y) − φ(xᵢ)‖² to every row (m×n): no kernel is evaluated, as Kα and Km are known."""
        products = Y @ self.seen.T
        products += self.means
        products *= -2.0
        products += self.own
        products += self.squares(Y)[:, None]
        return np.maximum(products, 0.0, out=products)

    def objective(self, Z: Held, C: Array) -> Array:
        """k(z, z) − 2Σᵢcᵢk(z, xᵢ) of every candidate z with its own coefficients: ‖p − φ(z)‖² less ‖p‖²."""
        K = np.empty(C.shape)
        self.kernel.prepare(Z, self.rows, shift=self.shift).fill(slice(None), slice(None), K)
        return np.asarray(self.kernel.diag(Z)) - self.shift - 2 * np.einsum("ij,ij->i", C, K)


def distances_reached(expansion: Expansion, Z: Held, Y: Array) -> Array:
    """‖p(y) − φ(z)‖ of every candidate z and its scores y: how far a pre-image stays from what it stands for."""
    out = np.empty(len(Y))
    with np.errstate(over="ignore", invalid="ignore"):
        for some in expansion.blocks(len(Y)):
            y = Y[some]
            out[some] = expansion.objective(Z[some], expansion.coefficients(y)) + expansion.squares(y)
    return np.sqrt(np.maximum(out, 0.0))
