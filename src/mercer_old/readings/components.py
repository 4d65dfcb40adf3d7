"""Shares, evidence and Schwarz's criterion of a spectrum λ₁ ≥ λ₂ ≥ …, each the variance along one component."""

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import gammaln

from mercer_old.arrays import Array

_ROUNDING = 1e-15  # of the largest: variances below are none
_TIES = {8: 1e-12, 4: 2e-6}  # shares nearer than this are the same, by the bytes of a number


def shares(values: Array, total: float) -> Array:
    """Each variance's share of the total; 0 where there is none to share."""
    return np.zeros(len(values)) if total <= 0 else values / total


def fewest_for_share(
    values: Array, total: float, share: float, *, more: bool = True, dtype: DTypeLike = np.float64
) -> int | None:
    """The smallest k that explains more than a share of the total, as scikit-learn has it; None: more than are given.

    With ``more=False`` as much is enough, as in the notes. That differs in exact ties alone, which must not be a matter
    of rounding: whoever takes the share from ``explained_variance_ratio_.cumsum()`` of another fit gets these ratios,
    cumulated in the same way and stored as `dtype`, but for their last digits. What is within those is a tie.
    """
    if total <= 0:
        return 1
    explained = np.cumsum(shares(np.maximum(values, 0.0), total).astype(dtype), dtype=dtype).astype(np.float64)
    tie = _TIES[np.dtype(dtype).itemsize]
    reached = np.flatnonzero(explained > share + tie if more else explained >= share - tie)
    return int(reached[0]) + 1 if len(reached) else None


def minka_evidence(values: Array, n: float) -> Array:
    """log p(data | k) for k = 0 … d − 1 by Laplace's method (Minka 2000); −∞ for k = 0, of which it says nothing.

    For orthonormal U (d×k), v the mean of the last d − k variances, m = dk − k(k + 1)/2 and λ̂ = λ₁ … λₖ, v … v:

      log p(U) − n/2·Σ_{i≤k} log λᵢ − n(d − k)/2·log v + (m + k)/2·log 2π − ½·log|A| − k/2·log n,
      log|A| = Σ_{i≤k} Σ_{j>i} [log(1/λ̂ⱼ − 1/λ̂ᵢ) + log(λᵢ − λⱼ) + log n]
    """
    d, floor = len(values), _ROUNDING * float(values[0])
    values = np.maximum(values, floor)
    k = np.arange(1, d)
    dimensions = (d - k + 1) / 2
    prior = np.cumsum(gammaln(dimensions) - dimensions * np.log(np.pi) - np.log(2))
    rest = np.maximum(np.cumsum(values[::-1])[::-1][1:] / (d - k), floor)
    fit = -n / 2 * (np.cumsum(np.log(values))[:-1] + (d - k) * np.log(rest))
    m = d * k - k * (k + 1) / 2
    gaps = np.log(np.maximum(values[:, None] - values, floor))
    curvatures = np.log(np.maximum(1 / values - 1 / values[:, None], _ROUNDING / values[0]))
    among = np.cumsum(np.triu(gaps, 1).sum(axis=1))[:-1] + np.cumsum(np.triu(curvatures, 1).sum(axis=0))[:-1]
    beyond = [
        (d - i) * np.log(np.maximum(1 / v - 1 / values[:i], _ROUNDING / v)).sum() for i, v in zip(k, rest, strict=True)
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
    d, k, floor = d or len(values), np.arange(len(values)), _ROUNDING * float(values[0])
    rest = np.cumsum(values[::-1])[::-1] / (d - k)
    values = np.maximum(values, floor)
    spread = np.append(0.0, np.cumsum(np.log(values))[:-1]) + (d - k) * np.log(np.maximum(rest, floor))
    parameters = d * k - k * (k - 1) / 2 + 1 + d
    criterion = n * (d * np.log(2 * np.pi) + spread + d) + parameters * np.log(n)
    proper = np.append(True, values[:-1] > floor) & ((rest > floor) | (d == len(values)))
    return np.where(proper, criterion, np.inf)
