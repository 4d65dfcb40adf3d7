"""What factors say about rows with gaps: their density, their scores, and what is missing, with its spread."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import GappedRows, Look

__all__ = ["Reading"]


@dataclass(frozen=True, eq=False)
class Reading:
    """Some rows, NaN where a number is missing, moved to the mean and divided by the scale of a model.

    A k×k matrix belongs to every pattern, and every row may have its own: they are looked at a piece at a time.
    """

    factors: Factors
    rows: GappedRows

    @classmethod
    def of(cls, factors: Factors, moved: Array) -> "Reading":
        return cls(factors, GappedRows.of(moved))

    def _looks(self) -> Iterator[Look]:
        return (Look(self.rows, self.factors, some) for some in self.rows.pieces(self.factors.k))

    def log_density(self) -> Array:
        """log p(x_O) of every row."""
        return self.rows.back(np.concatenate([look.log_density for look in self._looks()]))

    def log_density_above(self, noise: float, floor: float) -> Array:
        """The same with next to no noise, or none: of directions with no more variance than `floor` nothing is said."""
        found, starts = np.empty(len(self.rows)), self.rows.starts
        for mask, first, last in zip(self.rows.masks, starts[:-1], starts[1:], strict=True):
            some = self.rows.values[first:last][:, mask]
            found[first:last] = _log_normal(some, self.factors.W[mask], noise, floor)
        return self.rows.back(found)

    def scores(self) -> Array:
        """E[z | x_O]."""
        return self.rows.back(np.concatenate([look.means for look in self._looks()]))

    def covariances(self) -> Array:
        """Cov[z | x_O], n×k×k."""
        return self.rows.back(np.concatenate([look.of_rows(look.covariances) for look in self._looks()]))

    def told(self) -> Array:
        """E[x | x_O] where x is missing; what stands elsewhere is the same without noise."""
        return self.scores() @ self.factors.W.T

    def deviations(self, noise: float) -> Array:
        """√(wᵀCov[z | x_O]w + σ²) of every number, as if it were missing."""
        found = []
        for look in self._looks():
            spread = np.einsum("pjk,jk->pj", self.factors.W @ look.covariances, self.factors.W)
            found.append(look.of_rows(np.sqrt(np.maximum(spread, 0.0) + noise)))
        return self.rows.back(np.concatenate(found))

    def drawn(self, count: int, noise: float, rng: np.random.Generator) -> Iterator[Array]:
        """Tables of every number, as if it were missing: factors from what is known of them, and noise."""
        z = rng.standard_normal((count, len(self.rows), self.factors.k))
        for look, some in zip(self._looks(), self.rows.pieces(self.factors.k), strict=True):
            rows = self.rows.order[self.rows.span(some)]
            z[:, rows] = look.means + look.times(self.factors.halves(look.masks), z[:, rows])
        for scores in z:
            yield scores @ self.factors.W.T + np.sqrt(noise) * rng.standard_normal((len(scores), len(self.factors.W)))


def _log_normal(rows: Array, W: Array, noise: float, floor: float) -> Array:
    """log N(0, WWᵀ + σ²I) of every row: variances are s² + σ² along the left singular vectors of W, elsewhere σ²."""
    U, s, _ = np.linalg.svd(W, full_matrices=False)
    along, variances, others = rows @ U, s**2 + noise, rows.shape[1] - len(s)
    there = variances > floor
    found = np.log(2 * np.pi * variances[there]).sum() + along[:, there] ** 2 @ (1 / variances[there])
    if others and noise > floor:
        found = found + others * np.log(2 * np.pi * noise) + ((rows - along @ U.T) ** 2).sum(axis=1) / noise
    return np.asarray(-found / 2)
