"""How far chance carries the largest variance of noise: Tracy's and Widom's law for real data (β = 1).

    F₁(s) = det(I − A)  on functions of (s, ∞),   A(x, y) = ½·Ai((x + y)/2)

(Ferrari and Spohn 2005), as the determinant of a matrix of values at the nodes of Gauss and Legendre (Bornemann 2010).
The eigenvalues of that matrix keep the digits of 1 − F₁ however small it is.
"""

from functools import cache

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.rounding import UNIT

__all__ = ["johnstone", "tracy_widom_quantile", "tracy_widom_survival"]

_DIGITS = 45.0  # beyond Ai(x)·exp(−this) nothing counts
_LEAST = -12.0  # F₁ is below 1e-30 there


def tracy_widom_survival(s: float) -> float:
    """P(TW₁ > s) = 1 − F₁(s), with digits of its own also where it is tiny."""
    if s < _LEAST:
        return 1.0
    return float(-np.expm1(np.sum(np.log1p(-_eigenvalues(s)))))


def tracy_widom_quantile(share: float) -> float:
    """The s below which this share of the law lies."""
    return float(scipy.optimize.brentq(lambda s: 1 - share - tracy_widom_survival(s), _LEAST, 100.0, xtol=1e-12))


def _eigenvalues(s: float) -> Array:
    """Of A between the nodes, each with the root of its weight on both sides."""
    end = (max(s, 0.0) ** 1.5 + 1.5 * _DIGITS) ** (2 / 3)  # where Ai has fallen by exp(−45)
    nodes, weights = _gauss_legendre()
    x, w = (end - s) * (nodes + 1), (end - s) * weights  # from 0 to twice that, as A has the mean of two
    kernel, root = np.zeros((len(x), len(x))), np.sqrt(w)
    i, j = np.tril_indices(len(x))
    kernel[i, j] = scipy.special.airy(s + (x[i] + x[j]) / 2)[0] / 2  # the half that eigvalsh reads
    return np.minimum(np.linalg.eigvalsh(root[:, None] * kernel * root), 1 - UNIT)  # which rounding may exceed


@cache
def _gauss_legendre() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(48)  # all digits are there from 40 on


def johnstone(rows: float, columns: float) -> tuple[float, float]:
    """Centre and scale of the largest eigenvalue of WᵀW, W of independent standard normals (Johnstone 2001).

    μ = (√(n − 1) + √p)²,   σ = (√(n − 1) + √p)·(1/√(n − 1) + 1/√p)^⅓,   n the larger side, p the smaller:
    (ℓ₁ − μ)/σ follows Tracy's and Widom's law as both grow.
    """
    n, p = max(rows, columns), min(rows, columns)
    roots = np.sqrt(n - 1), np.sqrt(p)
    spread = sum(roots)
    return float(spread**2), float(spread * (1 / roots[0] + 1 / roots[1]) ** (1 / 3))
