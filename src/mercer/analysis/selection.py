"""The number of components: a fraction of the variance, or a rule by name (here: Minka's)."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from mercer.errors import ParameterError

RULES = ("mle",)
_ROUNDING = 1e-15  # of the largest variance: smaller ones are rounding
_TIES = {8: 1e-12, 4: 2e-6}  # ratios closer than this are equal, by the itemsize of the result


@dataclass(frozen=True, eq=False)
class Scree:
    """All variances of a fit, in any unit, and what rules need to know besides."""

    values: NDArray
    total: float
    total_weight: float
    n_features: int
    feature_squares: NDArray | None = None
    axes: NDArray | None = None
    error: float = 0.0


def choose_n_components(n_components: Any, scree: Scree, dtype: Any = np.float64, *, strict: bool = True) -> int:
    """The number of components for an integer, None (all), a fraction of the variance or a rule."""
    values = np.maximum(scree.values, 0.0)
    if n_components is None:
        return len(values)
    if isinstance(n_components, str):
        return _by_rule(n_components, values, scree)
    if isinstance(n_components, Integral):
        return min(int(n_components), len(values))
    if scree.total <= 0:
        return min(1, len(values))
    dtype = np.dtype(dtype)
    explained = np.cumsum((values / scree.total).astype(dtype), dtype=dtype).astype(np.float64)
    tie = _TIES[dtype.itemsize]
    reached = np.flatnonzero(explained > n_components + tie if strict else explained >= n_components - tie)
    return int(reached[0]) + 1 if len(reached) else len(values)


def _by_rule(name: str, values: NDArray, scree: Scree) -> int:
    if name != "mle":
        raise ParameterError("n_components", name, "an integer, a fraction or 'mle'")
    if not len(values) or values[0] <= 0:
        return min(1, len(values))
    return int(np.argmax(minka_evidence(values, scree.total_weight)))


def minka_evidence(values: NDArray, n: float) -> NDArray:
    """log p(data | k) for k = 0 … d − 1 by Laplace's method (Minka 2000); −∞ for k = 0."""
    d, floor = len(values), _ROUNDING * float(values[0])
    if d < 2:
        return np.array([-np.inf, 0.0])[: d + 1]
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
    outside = [
        (d - i) * np.log(np.maximum(1 / v - 1 / values[:i], _ROUNDING / v)).sum() for i, v in zip(k, rest, strict=True)
    ]
    volume = among + np.array(outside) + m * np.log(n)
    evidence = prior + fit + (m + k) / 2 * np.log(2 * np.pi) - volume / 2 - k / 2 * np.log(n)
    return np.append(-np.inf, np.where(values[:-1] > floor, evidence, -np.inf))
