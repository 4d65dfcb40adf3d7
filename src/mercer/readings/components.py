"""How many components: rules on a spectrum λ₁ ≥ λ₂ ≥ …, each the variance along one component."""

import numpy as np
from scipy.special import gammaln

from mercer.symmetric import Array

ROUNDING = 1e-15  # of the largest: variances below are none


def components_for_share(values: Array, total: float, share: float) -> int | None:
    """The smallest k that explains more than a share of the total, as scikit-learn has it; None: more than are given.

    The notes ask for "at least" the share, which differs in exact ties alone.
    """
    if total <= 0:
        return 1
    reached = np.flatnonzero(np.cumsum(np.maximum(values, 0.0)) / total > share)
    return int(reached[0]) + 1 if len(reached) else None


def minka_evidence(values: Array, n: float) -> Array:
    """log p(data | k) for k = 0 … d − 1 by Laplace's method (Minka 2000); −∞ for k = 0, of which it says nothing.

    For orthonormal U (d×k), v the mean of the last d − k variances, m = dk − k(k + 1)/2 and λ̂ = λ₁ … λₖ, v … v:

      log p(U) − n/2·Σ_{i≤k} log λᵢ − n(d − k)/2·log v + (m + k)/2·log 2π − ½·log|A| − k/2·log n,
      log|A| = Σ_{i≤k} Σ_{j>i} [log(1/λ̂ⱼ − 1/λ̂ᵢ) + log(λᵢ − λⱼ) + log n]
    """
    d, floor = len(values), ROUNDING * float(values[0])
    values = np.maximum(values, floor)
    k = np.arange(1, d)
    dimensions = (d - k + 1) / 2
    prior = np.cumsum(gammaln(dimensions) - dimensions * np.log(np.pi) - np.log(2))
    rest = np.maximum(np.cumsum(values[::-1])[::-1][1:] / (d - k), floor)
    fit = -n / 2 * (np.cumsum(np.log(values))[:-1] + (d - k) * np.log(rest))
    m = d * k - k * (k + 1) / 2
    gaps = np.log(np.maximum(values[:, None] - values, floor))
    curvatures = np.log(np.maximum(1 / values - 1 / values[:, None], ROUNDING / values[0]))
    among = np.cumsum(np.triu(gaps, 1).sum(axis=1))[:-1] + np.cumsum(np.triu(curvatures, 1).sum(axis=0))[:-1]
    beyond = [
        (d - i) * np.log(np.maximum(1 / v - 1 / values[:i], ROUNDING / v)).sum() for i, v in zip(k, rest, strict=True)
    ]
    volume = among + np.array(beyond) + m * np.log(n)
    evidence = prior + fit + (m + k) / 2 * np.log(2 * np.pi) - volume / 2 - k / 2 * np.log(n)
    return np.append(-np.inf, np.where(values[:-1] > floor, evidence, -np.inf))


def bic(values: Array, n: float, d: int | None = None) -> Array:
    """Schwarz's criterion of probabilistic PCA for k = 0, 1, …, the smaller the better; of d columns, if not all
    variances are given because the rest is zero.

    −2·log L + p·log n with log L = −n/2·[d·log 2π + Σ_{i≤k} log λᵢ + (d − k)·log v + d], the variances λ with 1/n, and
    p = dk − k(k − 1)/2 + 1 + d parameters: the axes with their variances, the noise and the mean.
    """
    d, k, floor = d or len(values), np.arange(len(values)), ROUNDING * float(values[0])
    rest = np.cumsum(values[::-1])[::-1] / (d - k)
    values = np.maximum(values, floor)
    spread = np.append(0.0, np.cumsum(np.log(values))[:-1]) + (d - k) * np.log(np.maximum(rest, floor))
    parameters = d * k - k * (k - 1) / 2 + 1 + d
    criterion = n * (d * np.log(2 * np.pi) + spread + d) + parameters * np.log(n)
    proper = np.append(True, values[:-1] > floor) & ((rest > floor) | (d == len(values)))
    return np.where(proper, criterion, np.inf)
