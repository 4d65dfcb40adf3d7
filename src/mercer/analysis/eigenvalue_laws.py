"""Where the eigenvalues of pure noise lie: the laws of Marchenko–Pastur and of Tracy–Widom.

Independent noise of variance one in each of d columns has sample variances (m degrees of freedom) that fill the
interval (1 ± √γ)², γ = d/m, as d and m grow. The largest fluctuates around the upper edge by the Tracy–Widom law.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.rounding import UNIT

_DECAY = 45.0  # the Airy function is cut off where it has fallen by exp(−45)
_LEAST = -12.0  # the Tracy–Widom distribution function is below 1e-30 there


def marchenko_pastur_edge(ratio: float) -> float:
    """(1 + √γ)², the upper edge for noise of variance one and γ columns per degree of freedom."""
    return float((1 + np.sqrt(ratio)) ** 2)


def marchenko_pastur_median(ratio: float) -> float:
    """Median of the Marchenko–Pastur law for β = `ratio` ≤ 1.

    With x = 1 + β + 2√β·cos θ the upper tail is ∫₀^θ 2·sin²t/(π(1 + β + 2√β·cos t)) dt, which is smooth.
    """
    from scipy.optimize import brentq

    nodes, weights = _gauss_legendre(96)
    root = np.sqrt(ratio)

    def upper_tail(angle: float) -> float:
        t = angle / 2 * (nodes + 1)
        return float(angle / 2 * weights @ (2 * np.sin(t) ** 2 / (np.pi * (1 + ratio + 2 * root * np.cos(t)))))

    angle = brentq(lambda angle: upper_tail(angle) - 0.5, 0.0, 0.9 * np.pi, xtol=1e-14)
    return float(1 + ratio + 2 * root * np.cos(angle))


def noise_edge(variances: NDArray, dof: float) -> tuple[float, float]:
    """Upper edge of the sample variances of independent noise with these column variances, and their spread there.

    The edge of the generalized law (Dobriban and Owen 2019): with u in (0, 1/max t) such that Σ(tu/(1 − tu))² = m,
    it is 1/u + Σt/(1 − tu)/m. The largest sample variance is edge + spread·TW₁ with
    spread = ((1 + Σ(tu/(1 − tu))³/m)/m²)^⅓/u (El Karoui 2007). Constant columns change nothing.
    """
    from scipy.optimize import brentq

    size = float(variances.max(initial=0.0))
    if not size > 0:
        return 0.0, 0.0
    t = variances[variances > 0] / size

    def excess(u: float) -> float:
        return float(np.sum((t * u / (1 - t * u)) ** 2) / dof - 1)

    largest = np.sqrt(dof) / (1 + np.sqrt(dof))  # the root if the largest column were alone
    u = brentq(excess, 0.0, largest, xtol=1e-15, rtol=4 * np.finfo(float).eps) if excess(largest) > 0 else largest
    edge = size * (1 / u + np.sum(t / (1 - t * u)) / dof)
    cubes = 1 + np.sum((t * u / (1 - t * u)) ** 3) / dof
    return float(edge), float(size / u * np.cbrt(cubes / dof**2))


def tracy_widom_survival(s: float) -> float:
    """P(TW₁ > s) with full relative accuracy in the tail.

    F₁(s) = det(I − A) with A(x, y) = Ai((x + y)/2)/2 on (s, ∞) (Ferrari and Spohn 2005), discretized at the nodes of
    Gauss–Legendre quadrature (Bornemann 2010).
    """
    if s < _LEAST:
        return 1.0
    return float(max(0.0, -np.expm1(np.sum(np.log1p(-_airy_eigenvalues(s))))))


def tracy_widom_quantile(probability: float) -> float:
    """The s with P(TW₁ ≤ s) = `probability`."""
    from scipy.optimize import brentq

    return float(brentq(lambda s: 1 - probability - tracy_widom_survival(s), _LEAST, 100.0, xtol=1e-12))


def johnstone_scaling(n_rows: float, n_columns: float) -> tuple[float, float]:
    """Center and scale of the largest eigenvalue of WᵀW for standard normal W (Johnstone 2001)."""
    n, p = max(n_rows, n_columns), min(n_rows, n_columns)
    roots = np.sqrt(n - 1), np.sqrt(p)
    return float(sum(roots) ** 2), float(sum(roots) * (1 / roots[0] + 1 / roots[1]) ** (1 / 3))


def _airy_eigenvalues(s: float) -> NDArray:
    from scipy.special import airy

    end = (max(s, 0.0) ** 1.5 + 1.5 * _DECAY) ** (2 / 3)
    nodes, weights = _gauss_legendre(48)
    x, roots = (end - s) * (nodes + 1), np.sqrt((end - s) * weights)  # up to 2·end: A takes the mean of two points
    kernel = airy(s + (x[:, None] + x) / 2)[0] / 2
    return np.minimum(np.linalg.eigvalsh(roots[:, None] * kernel * roots), 1 - UNIT)


@cache
def _gauss_legendre(n_nodes: int) -> tuple[NDArray, NDArray]:
    return np.polynomial.legendre.leggauss(n_nodes)
