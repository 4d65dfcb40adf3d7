"""What factors say about rows with gaps: their density, their scores, and what is missing, with its spread."""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.sweeps.factors import Factors
from mercer.sweeps.gaps import GappedRows, Look

__all__ = ["Reading"]


@dataclass(frozen=True, eq=False)
class Reading:
    """Some rows, NaN where a number is missing, moved to the mean and divided by the scale of a model."""

    factors: Factors
    rows: GappedRows

    @classmethod
    def of(cls, factors: Factors, moved: Array) -> "Reading":
        return cls(factors, GappedRows.of(moved))

    def _looks(self) -> list[Look]:
        return [Look(self.rows, self.factors, some) for some in self.rows.pieces(self.factors.k)]

    def log_density(self) -> Array:
        """log p(x_O) of every row."""
        return self.rows.back(np.concatenate([look.log_density for look in self._looks()]))

    def scores(self) -> Array:
        """E[z | x_O]."""
        return self.rows.back(np.concatenate([look.means for look in self._looks()]))

    def covariances(self) -> Array:
        """Cov[z | x_O], n×k×k."""
        return self.rows.back(np.concatenate([look.covariances[look.which] for look in self._looks()]))

    def told(self) -> Array:
        """E[x | x_O] where x is missing; what stands elsewhere is the same without noise."""
        return self.scores() @ self.factors.W.T

    def deviations(self) -> Array:
        """√(wᵀCov[z | x_O]w + σ²) of every number, as if it were missing."""
        found = []
        for look in self._looks():
            spread = np.einsum("jk,pkl,jl->pj", self.factors.W, look.covariances, self.factors.W, optimize=True)
            found.append(np.sqrt(np.maximum(spread, 0.0) + self.factors.noise)[look.which])
        return self.rows.back(np.concatenate(found))

    def drawn(self, rng: np.random.Generator) -> Array:
        """Of every number, as if it were missing: factors from what is known of them, and noise."""
        scores, covariances = self.scores(), self.covariances()
        half = np.linalg.cholesky(covariances + 1e-14 * np.eye(self.factors.k))
        z = scores + np.matmul(half, rng.standard_normal(scores.shape)[:, :, None])[:, :, 0]
        noise = np.sqrt(self.factors.noise) * rng.standard_normal((len(z), len(self.factors.W)))
        return np.asarray(z @ self.factors.W.T + noise)
