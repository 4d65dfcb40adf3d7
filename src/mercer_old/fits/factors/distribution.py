"""N(mean, WᵀW + Ψ): what its parameters say of rows, without a d×d matrix where none is asked for.

With V = WΨ^−½ and B = I + VVᵀ (k×k): |WᵀW + Ψ| = |Ψ||B|, (WᵀW + Ψ)⁻¹ = Ψ^−½(I − VᵀB⁻¹V)Ψ^−½ (Woodbury), and the
expected factors of a row are B⁻¹VΨ^−½(x − mean). Columns without noise do not vary, and nothing is said of them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import BadData

__all__ = ["FactorNormal"]


@dataclass(frozen=True, eq=False)
class FactorNormal:
    """The normal distribution of a factor model."""

    W: Array  # k×d
    noise: Array
    mean: Array

    @cached_property
    def root(self) -> Array:
        """Ψ^−½, and zero for columns that do not vary."""
        there = self.noise > 0
        return np.divide(1.0, np.sqrt(self.noise), out=np.zeros(len(there)), where=there)

    @cached_property
    def V(self) -> Array:
        return self.W * self.root

    @cached_property
    def B(self) -> Array:
        return np.eye(len(self.W)) + self.V @ self.V.T

    @property
    def axes(self) -> Array:
        """From centred rows to their expected factors (k×d)."""
        return np.asarray(np.linalg.solve(self.B, self.V) * self.root)

    @property
    def covariance(self) -> Array:
        out = self.W.T @ self.W
        out.flat[:: len(out) + 1] += self.noise
        return out

    @property
    def precision(self) -> Array:
        out = -(self.V.T @ np.linalg.solve(self.B, self.V))
        out.flat[:: len(out) + 1] += 1.0
        return np.asarray(out * self.root * self.root[:, None])

    def log_density(self, rows: Array) -> Array:
        """Of every row."""
        moved = (rows - self.mean) * self.root
        along = moved @ self.V.T
        with np.errstate(over="ignore", invalid="ignore"):
            inside = np.einsum("ij,ji->i", along, np.linalg.solve(self.B, along.T))
            distances = np.einsum("ij,ij->i", moved, moved) - inside
        if not np.isfinite(distances).all():
            raise BadData("These rows are so far from the mean that the squares are no numbers any more.")
        there = self.root > 0
        size = np.linalg.slogdet(self.B)[1] - 2 * np.log(self.root[there]).sum() + there.sum() * np.log(2 * np.pi)
        return np.asarray(-(size + distances) / 2)
