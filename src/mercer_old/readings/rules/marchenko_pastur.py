"""Where the variances of pure noise lie: the laws of Marchenko and Pastur, for equal and unequal columns.

Rows of independent noise with variance one in each of d columns have sample variances (of m degrees of freedom) that
fill the interval (1 ± √γ)², γ = d/m, as d and m grow. Columns of unequal variances t have a law with another end.
"""

import numpy as np
import scipy

from mercer_old.arrays import Array

__all__ = ["marchenko_pastur_edge", "marchenko_pastur_median", "noise_edge"]

_NODES = 96  # of Gauss and Legendre: the integrand below is smooth, so that they give all digits


def marchenko_pastur_edge(ratio: float) -> float:
    """(1 + √γ)²: the largest sample variance of noise of variance one, for γ columns a degree of freedom."""
    return float((1 + np.sqrt(ratio)) ** 2)


def marchenko_pastur_median(ratio: float) -> float:
    """The median of the law for β = `ratio` ≤ 1, of density √((b − x)(x − a))/(2πβx) between a, b = (1 ∓ √β)².

    With x = 1 + β + 2√β·cos θ the upper part of the law is ∫₀^θ 2·sin²t/(π(1 + β + 2√β·cos t)) dt, which is smooth
    down to the median, and equals one half there.
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    root = np.sqrt(ratio)

    def upper(angle: float) -> float:
        t = angle / 2 * (nodes + 1)
        return float(angle / 2 * weights @ (2 * np.sin(t) ** 2 / (np.pi * (1 + ratio + 2 * root * np.cos(t)))))

    angle = scipy.optimize.brentq(lambda angle: upper(angle) - 0.5, 0.0, 0.9 * np.pi, xtol=1e-14)
    return float(1 + ratio + 2 * root * np.cos(angle))


def noise_edge(columns: Array, freedom: float) -> float:
    """The largest sample variance of independent noise whose columns have these variances t.

    The upper end of the generalised law (Dobriban and Owen 2019): with γ = d/m and u in (0, 1/max t),

        γ·mean(t²u²/(1 − tu)²) = 1   gives   edge = 1/u + γ·mean(t/(1 − tu)),

    which is max t·(1 + √γ)² for columns of the same variance. Columns that do not vary change nothing.
    """
    size = float(columns.max(initial=0.0))
    if not size > 0:
        return 0.0
    t = columns[columns > 0] / size

    def excess(u: float) -> float:
        return float(np.sum((t * u / (1 - t * u)) ** 2) / freedom - 1)

    most = np.sqrt(freedom) / (1 + np.sqrt(freedom))  # where the largest column alone is as much as one
    u = scipy.optimize.brentq(excess, 0.0, most, xtol=1e-15, rtol=4 * np.finfo(float).eps) if excess(most) > 0 else most
    return float(size * (1 / u + np.sum(t / (1 - t * u)) / freedom))
