"""Kernels with a γ, which may be left to the data."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy

from mercer_old.arrays import Array, dense
from mercer_old.kernels.base import Held, Kernel, n_rows, require_positive

__all__ = ["ByGamma"]

_SAMPLE = 1000  # rows from which a bandwidth is guessed


class ByGamma(Kernel):
    """A kernel with a γ. None is 1/columns unless a class says `usual_gamma`; "median" is one over a median distance.

    That of what γ multiplies: `distances`. The dataclass of a kernel has a field `gamma`.
    """

    gamma: Any  # a number once it is resolved
    usual_gamma: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        if self.gamma is not None and not (isinstance(self.gamma, str) and self.gamma == "median"):
            require_positive(self.gamma, "gamma")

    @property
    def known_gamma(self) -> float:
        """γ once it is a number."""
        return float(self.gamma)

    def distances(self, rows: Array) -> Array:
        """Those of all pairs of some dense rows in float64, in any order: squared, unless a class says otherwise."""
        return scipy.spatial.distance.pdist(rows, metric="sqeuclidean")

    def resolved(self, X: Held, rng: np.random.Generator) -> Self:
        return replace(self, gamma=self._number(X, rng))  # type: ignore[type-var]

    def _number(self, X: Held, rng: np.random.Generator) -> float:
        if self.gamma is None:
            return 1.0 / X.shape[1] if self.usual_gamma is None else self.usual_gamma
        return self._by_median(X, rng) if self.gamma == "median" else float(self.gamma)

    def _by_median(self, X: Held, rng: np.random.Generator) -> float:
        """Over a sample of pairs of different points."""
        n = n_rows(X)
        rows = X[np.sort(rng.choice(n, size=_SAMPLE, replace=False)) if n > _SAMPLE else np.arange(n)]
        distances = self.distances(dense(rows, np.float64))
        distances = distances[distances > 0]
        if not len(distances):
            raise ValueError('gamma="median" needs two different rows, and all rows of X are the same.')
        gamma = float(1.0 / np.median(distances))
        if not 0 < gamma < np.inf:
            raise ValueError(
                f'gamma="median" is {gamma:g}: the distances of these rows are too '
                f"{'small' if gamma else 'large'} for a number; scale them {'up' if gamma else 'down'} first."
            )
        return gamma
