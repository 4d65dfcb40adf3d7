"""The likelihood of factor analysis as a function of the noises alone.

x ~ N(μ, WᵀW + Ψ), Ψ = diag(ψ), W of k rows. For fixed Ψ the best W is known: with the eigenpairs (λᵢ, uᵢ) of
Ψ^−½RΨ^−½, the i-th row is √(λᵢ − 1)₊·Ψ^½uᵢ (Lawley 1940). What is left to search are the noises, and with t = log ψ

    −(2/n)·log L − d·log 2π = F(t) = Σⱼ (tⱼ + rⱼⱼ/ψⱼ) − Σ_{i ≤ k} [(λᵢ − 1)₊ − log max(λᵢ, 1)],
    ∂F/∂tⱼ = 1 − rⱼⱼ/ψⱼ + Σ_{i ≤ k} (λᵢ − 1)₊uᵢⱼ² = (WᵀW + Ψ − R)ⱼⱼ/ψⱼ

(Jöreskog 1967): at the top the model has the variances of the data. As ∂F/∂tⱼ > 0 beyond ψⱼ = rⱼⱼ, no noise is larger
than its column's variance. Towards zero F need not have an end (Heywood's case), so a floor is set.
"""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.fits.factors.columns import Correlations
from mercer_old.solvers.base import signs_by

FLOOR = 1e-6  # of the variance of a column: no noise is smaller


class Profile:
    """F(t) and its gradient, for k factors of columns with variance one."""

    def __init__(self, known: Correlations, k: int) -> None:
        self.known, self.k = known, k
        self.last: tuple[Array, tuple[Array, Array]] | None = None

    @property
    def low(self) -> Array:
        return np.full(self.known.width, np.log(FLOOR))

    @property
    def high(self) -> Array:
        return np.zeros(self.known.width)

    def __call__(self, t: Array) -> tuple[float, Array]:
        excess, U = self._leading(t)
        inverse = np.exp(-t)
        value = t.sum() + inverse.sum() - (excess - np.log1p(excess)).sum()
        return float(value), 1 - inverse + (U * U) @ excess

    def loadings(self, t: Array) -> Array:
        """The best W (k×d)."""
        excess, U = self._leading(t)
        W = np.sqrt(excess) * U * np.exp(t / 2)[:, None]
        return np.ascontiguousarray((W * signs_by(W)).T)

    def start(self) -> Array:
        """Jöreskog's: somewhat less than what the other columns leave; a half where they leave nothing."""
        left = self.known.unexplained()
        share = 1 - min(self.k / (2 * max(self.known.width, 1)), 0.5)
        guess = np.where(left > FLOOR, share * left, 0.5)
        return np.clip(np.log(guess), self.low, self.high)

    def em_step(self, t: Array, slope: Array) -> Array:
        """The noises that the best loadings leave of each variance, ψⱼ(1 − ∂F/∂tⱼ): F does not grow."""
        left = np.maximum(1.0 - slope, np.finfo(float).tiny)
        return np.clip(t + np.log(left), self.low, self.high)

    def _leading(self, t: Array) -> tuple[Array, Array]:
        """(λ − 1)₊ and u; the last ones are kept, as they are asked for again."""
        if self.last is None or not np.array_equal(self.last[0], t):
            values, U = self.known.leading(np.exp(-t / 2), self.k)
            self.last = t.copy(), (np.maximum(values - 1.0, 0.0), U)
        return self.last[1]
