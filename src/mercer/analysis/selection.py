"""The number of components: an integer, a fraction of the variance, or a rule by name.

A rule is a function of a `Scree`, the eigenvalues of a fit and what is known of the data besides. It returns a
`RuleResult`: a number of components with its reason, or the reason why it cannot decide.
"""

from collections.abc import Callable
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.analysis.eigenvalue_laws import (
    johnstone_scaling,
    marchenko_pastur_edge,
    marchenko_pastur_median,
    noise_edge,
    tracy_widom_quantile,
    tracy_widom_survival,
)
from mercer.errors import ParameterError, Remedy

LEVEL = 0.05  # probability with which a test takes noise for a component
_TIES = {8: 1e-12, 4: 2e-6}  # ratios closer than this are equal, by the itemsize of the result
_EQUAL = 1e-10  # relative: what exceeds its limit by less does not exceed it
_ROUNDING = 1e-15  # of the largest variance: smaller ones are rounding
_VARYING = 1e-26  # of the largest: columns whose squares are smaller are constant
_ELBOW_VALUES = 3, 100  # fewest variances that have an elbow, most that are considered
_FLAT = 5.0  # times 1/n: a kernel whose first ratio is smaller has no leading direction
_FLAT_SAMPLES = 20  # fewest samples for which a scree is called flat
_SMALLEST_SIDE = 2  # rows and columns from which noise can be recognized


class Scree:
    """Eigenvalues of a fit, largest first, and what rules need to know besides. The unit does not matter.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        Eigenvalues or variances.
    total : float
        Sum of all eigenvalues, known or not.
    total_weight : float
        Sum of the sample weights; n without weights.
    n_features : int
        Number of columns.
    feature_squares : ndarray of shape (n_features,), default=None
        Diagonal of the matrix in the same unit; 0 for constant columns.
    axes : ndarray of shape (n_values, n_features), default=None
        Directions of the eigenvalues.
    error : float, default=0.0
        Eigenvalues up to this are zero.
    complete : bool, default=True
        Whether all positive eigenvalues are known.
    kernel : bool, default=False
        Whether the values belong to a kernel matrix.
    """

    def __init__(
        self,
        values: NDArray,
        total: float,
        total_weight: float,
        n_features: int,
        feature_squares: NDArray | None = None,
        axes: NDArray | None = None,
        error: float = 0.0,
        complete: bool = True,
        kernel: bool = False,
    ) -> None:
        self.values, self.total, self.total_weight, self.n_features = values, total, total_weight, n_features
        self.feature_squares, self.axes, self.error = feature_squares, axes, error
        self.complete, self.kernel = complete, kernel

    @property
    def dof(self) -> float:
        """Σw − 1, the degrees of freedom of the variances."""
        return self.total_weight - 1

    @property
    def n_varying(self) -> int:
        """Number of columns that are not constant."""
        squares = self.feature_squares
        return self.n_features if squares is None else int(np.sum(squares > _VARYING * squares.max(initial=0.0)))

    @property
    def n_possible(self) -> int:
        """Number of eigenvalues that can be positive."""
        return max(0, min(int(self.dof + 1e-6), self.n_varying))

    @cached_property
    def positive(self) -> NDArray:
        """The eigenvalues that are more than rounding."""
        return self.values[self.values > max(self.error, 0.0)]

    @property
    def padded(self) -> NDArray:
        """All `n_possible` eigenvalues, zero where they are rounding."""
        return np.append(self.positive, np.zeros(max(0, self.n_possible - len(self.positive))))[: self.n_possible]

    @property
    def is_flat(self) -> bool:
        """Whether a kernel is so narrow that no direction stands out."""
        if not self.kernel or self.total_weight < _FLAT_SAMPLES or not self.total > 0:
            return False
        return float(self.values[0]) / self.total < _FLAT / self.total_weight


class RuleResult(NamedTuple):
    """What a rule found. `n_components` is None if it cannot decide; `at_least`: more eigenvalues are not known."""

    rule: str
    n_components: int | None
    reason: str
    at_least: bool = False
    limits: NDArray | None = None
    p_values: NDArray | None = None


def choose_n_components(n_components: Any, scree: Scree, dtype: Any = np.float64, *, strict: bool = True) -> int:
    """The number of components for an integer, None (all), a fraction of the variance, or a rule.

    A fraction is exceeded strictly, as in scikit-learn, unless ``strict=False``. Ratios are cumulated in the type of
    the result, so that a fraction taken from another fit's ``explained_variance_ratio_.cumsum()`` is an exact tie.
    """
    values = np.maximum(scree.values, 0.0)
    if n_components is None:
        return len(values)
    if isinstance(n_components, Integral):
        return min(int(n_components), len(values))
    if not scree.total > 0 or not len(values) or values[0] <= 0:
        return min(1, len(values))
    if isinstance(n_components, str):
        return min(_apply_named_rule(n_components, scree), len(values))
    dtype = np.dtype(dtype)
    explained = np.cumsum((values / scree.total).astype(dtype), dtype=dtype).astype(np.float64)
    tie = _TIES[dtype.itemsize]
    reached = np.flatnonzero(explained > n_components + tie if strict else explained >= n_components - tie)
    return int(reached[0]) + 1 if len(reached) else len(values)


def _apply_named_rule(name: str, scree: Scree) -> int:
    """The number that a rule finds; a rule that cannot decide raises."""
    result = RULES[name](scree)
    if result.n_components is None:
        raise ParameterError(
            "n_components",
            name,
            "a rule that can decide",
            message=f"n_components={name!r} cannot decide: {result.reason}.",
            remedies=[Remedy("n_components", 0.9)],
        )
    return result.n_components


# ---------------------------------------------------------------------- rules on the shape of the scree


def elbow(scree: Scree) -> RuleResult:
    """The split into two groups with the largest profile likelihood (Zhu and Ghodsi 2006)."""
    fewest, most = _ELBOW_VALUES
    values = scree.positive[:most]
    if len(values) < fewest:
        return RuleResult("elbow", None, f"an elbow needs {fewest} positive variances, there are {len(values)}")
    if scree.is_flat:
        return RuleResult("elbow", None, _FLAT_REASON)
    k = int(np.argmax(profile_likelihood(values))) + 1
    at_least = not scree.complete and k == len(values) - 1
    return RuleResult("elbow", k, f"two groups among {len(values)} variances", at_least)


def profile_likelihood(values: NDArray) -> NDArray:
    """Log-likelihood of two normal groups with a common variance, for a first group of 1, …, p − 1 values."""
    p, scaled = len(values), values / values[0]
    within = np.array([np.var(scaled[:q]) * q + np.var(scaled[q:]) * (p - q) for q in range(1, p)])
    floor = p * np.finfo(float).eps ** 2
    return -p / 2 * (np.log(2 * np.pi * np.maximum(within, floor) / p) + 1)


def broken_stick(scree: Scree) -> RuleResult:
    """Ratios above those of a stick broken at random, Σ_{j≥i} 1/(jp)."""
    if scree.is_flat:
        return RuleResult("broken-stick", None, _FLAT_REASON)
    if scree.n_possible < 1:
        return RuleResult("broken-stick", None, "all columns are constant")
    p = scree.n_possible
    pieces = np.cumsum(1 / np.arange(p, 0, -1))[::-1] / p
    return _above("broken-stick", scree, pieces * scree.total, "the broken stick")


def kaiser(scree: Scree) -> RuleResult:
    """Variances above the mean variance of a column (Guttman, Kaiser)."""
    if scree.kernel:
        return RuleResult("kaiser", None, "a kernel has no columns to average over")
    if scree.n_varying < 1:
        return RuleResult("kaiser", None, "all columns are constant")
    if scree.dof < scree.n_varying:
        reason = f"with {scree.n_varying:,} columns and {scree.total_weight:,.6g} rows nearly all exceed the mean"
        return RuleResult("kaiser", None, reason)
    limits = np.full(scree.n_possible, scree.total / scree.n_varying)
    return _above("kaiser", scree, limits, "the mean variance")


# ---------------------------------------------------------------------- rules on likelihoods


def minka_mle(scree: Scree) -> RuleResult:
    """The largest evidence of probabilistic PCA (Minka 2000). Constant columns count, as in scikit-learn."""
    reason = _no_likelihood(scree)
    if not reason and scree.total_weight < scree.n_features:
        reason = f"{scree.total_weight:,.6g} rows are fewer than {scree.n_features:,} columns"
    if reason:
        return RuleResult("mle", None, reason)
    evidence = minka_evidence(_per_column(scree, scree.n_features), scree.total_weight)
    return RuleResult("mle", int(np.argmax(evidence)), "largest evidence by Laplace's method")


def bic(scree: Scree) -> RuleResult:
    """The smallest Bayesian information criterion of probabilistic PCA (Schwarz 1978), without constant columns."""
    reason = _no_likelihood(scree)
    if not reason and not scree.total_weight > 1:
        reason = f"the sample weights sum to {scree.total_weight:.3g}"
    if reason:
        return RuleResult("bic", None, reason)
    d = scree.n_varying
    criterion = information_criterion(_per_column(scree, d)[: int(scree.total_weight)], scree.total_weight, d)
    return RuleResult("bic", int(np.argmin(criterion)), "likelihood against the number of parameters")


def _no_likelihood(scree: Scree) -> str:
    if scree.kernel:
        return "the rule is for rows of numbers, not for kernels"
    if not scree.complete:
        return _incomplete(scree)
    return "" if len(scree.positive) else "all columns are constant"


def _per_column(scree: Scree, d: int) -> NDArray:
    """One variance for each of d columns, in units of the largest."""
    values = np.where(scree.values > scree.error, scree.values, 0.0)
    return np.append(values, np.zeros(max(0, d - len(values))))[:d] / values.max()


def minka_evidence(values: NDArray, n: float) -> NDArray:
    """log p(data | k) for k = 0, …, d − 1 by Laplace's method (Minka 2000); −∞ for k = 0.

    For v the mean of the last d − k variances, m = dk − k(k + 1)/2 and λ̂ = λ₁ … λₖ, v … v:

      log p(U) − n/2·Σ_{i≤k} log λᵢ − n(d − k)/2·log v + (m + k)/2·log 2π − ½·log|A| − k/2·log n,
      log|A| = Σ_{i≤k} Σ_{j>i} [log(1/λ̂ⱼ − 1/λ̂ᵢ) + log(λᵢ − λⱼ) + log n]
    """
    from scipy.special import gammaln

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
    kept = np.cumsum(np.triu(gaps, 1).sum(axis=1))[:-1] + np.cumsum(np.triu(curvatures, 1).sum(axis=0))[:-1]
    dropped = [
        (d - i) * np.log(np.maximum(1 / v - 1 / values[:i], _ROUNDING / v)).sum() for i, v in zip(k, rest, strict=True)
    ]
    volume = kept + np.array(dropped) + m * np.log(n)
    evidence = prior + fit + (m + k) / 2 * np.log(2 * np.pi) - volume / 2 - k / 2 * np.log(n)
    return np.append(-np.inf, np.where(values[:-1] > floor, evidence, -np.inf))


def information_criterion(values: NDArray, n: float, d: int) -> NDArray:
    """BIC of probabilistic PCA for k = 0, 1, …: −2 log L + p·log n with p = dk − k(k − 1)/2 + 1 + d parameters."""
    k, floor = np.arange(len(values)), _ROUNDING * float(values[0])
    rest = np.cumsum(values[::-1])[::-1] / (d - k)
    values = np.maximum(values, floor)
    spread = np.append(0.0, np.cumsum(np.log(values))[:-1]) + (d - k) * np.log(np.maximum(rest, floor))
    criterion = n * (d * np.log(2 * np.pi) + spread + d) + (d * k - k * (k - 1) / 2 + 1 + d) * np.log(n)
    defined = np.append(True, values[:-1] > floor) & ((rest > floor) | (d == len(values)))
    return np.where(defined, criterion, np.inf)


# ---------------------------------------------------------------------- rules on noise


def parallel(scree: Scree) -> RuleResult:
    """Deflated parallel analysis without permutations (Dobriban and Owen 2019).

    Component after component: λᵢ must exceed the 95% quantile of the largest sample variance of noise with the
    column variances that are left; then λᵢvᵢ² is subtracted from them. The q components so far take noise along, so
    the limit grows by md/((m − q)(d − q)). Small components are not hidden by large ones.
    """
    reason = _no_noise(scree)
    if not reason and (scree.feature_squares is None or scree.axes is None):
        reason = "it needs the variances of the columns and the axes"
    if reason:
        return RuleResult("parallel", None, reason)
    assert scree.feature_squares is not None and scree.axes is not None
    left, limits, m, d = scree.feature_squares.astype(np.float64), list[float](), scree.dof, scree.n_varying
    quantile = tracy_widom_quantile(1 - LEVEL)
    for q, (value, axis) in enumerate(zip(scree.positive, scree.axes, strict=False)):
        if min(m, d) <= q:
            break
        edge, spread = noise_edge(left, m)
        limits.append((edge + quantile * spread) * m * d / ((m - q) * (d - q)))
        if not value > limits[-1]:
            break
        left = np.maximum(left - value * axis**2, 0.0)
    return _above("parallel", scree, np.array(limits), "the noise of the columns")


def marchenko_pastur(scree: Scree) -> RuleResult:
    """Variances above σ²(1 + √γ)², the edge of equal noise in all columns; σ² from the median variance."""
    noise, reason = noise_variance(scree)
    if reason:
        return RuleResult("marchenko-pastur", None, reason)
    edge = noise * marchenko_pastur_edge(scree.n_varying / scree.dof)
    return _above("marchenko-pastur", scree, np.full(scree.n_possible, edge), "the edge of equal noise")


def gavish_donoho(scree: Scree) -> RuleResult:
    """Singular values above the optimal hard threshold (Gavish and Donoho 2014); σ² from the median variance."""
    noise, reason = noise_variance(scree)
    if reason:
        return RuleResult("gavish-donoho", None, reason)
    small, large = sorted((float(scree.n_varying), scree.dof))
    ratio = small / large
    threshold = 2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1))
    limits = np.full(scree.n_possible, threshold * noise * large / scree.dof)
    return _above("gavish-donoho", scree, limits, "the threshold of least error")


def noise_variance(scree: Scree) -> tuple[float, str]:
    """σ² of equal noise in all columns from the median variance, or the reason why it is not known."""
    reason = _no_noise(scree) or ("" if scree.complete else _incomplete(scree))
    if reason:
        return 0.0, reason
    median = float(np.median(np.sqrt(scree.padded))) ** 2
    if not median > 0:
        return 0.0, "at least half of the variances are zero, so the noise level is not known"
    small, large = sorted((float(scree.n_varying), scree.dof))
    return median / marchenko_pastur_median(small / large) * scree.dof / large, ""


def tracy_widom(scree: Scree) -> RuleResult:
    """Tracy–Widom tests at the 5% level, component after component (Johnstone 2001)."""

    def sides(q: int) -> tuple[float, float]:
        return scree.dof - q, float(scree.n_varying - q)

    return _test_each("tracy-widom", scree, sides)


def patterson(scree: Scree) -> RuleResult:
    """Tracy–Widom tests with an effective number of columns (Patterson, Price and Reich 2006), for linked columns."""
    if not scree.complete:
        return RuleResult("patterson", None, _incomplete(scree))

    def sides(q: int) -> tuple[float, float]:
        left = scree.positive[q : scree.n_possible]
        ratios = left / left.sum()
        excess = max(len(left) * float(ratios @ ratios) - 1, 1e-9)
        return (len(left) + 2) / excess, float(len(left))

    return _test_each("patterson", scree, sides)


def _test_each(rule: str, scree: Scree, sides: Callable[[int], tuple[float, float]]) -> RuleResult:
    """Test λ₁, λ₂, … against the largest eigenvalue of noise, until one is not significant."""
    reason = _no_noise(scree)
    if reason:
        return RuleResult(rule, None, reason)
    values, p_values = scree.positive, list[float]()
    left = scree.total - np.append(0.0, np.cumsum(values))
    for q, value in enumerate(values):
        n_rows, n_columns = sides(q)
        if min(n_rows, n_columns) < _SMALLEST_SIDE or not left[q] > 0:
            break
        center, scale = johnstone_scaling(n_rows, n_columns)
        p_values.append(tracy_widom_survival((n_rows * n_columns * (value / left[q]) - center) / scale))
        if p_values[-1] > LEVEL:
            break
    k = int(np.sum(np.array(p_values) <= LEVEL))
    at_least = k == len(values) and not scree.complete
    found = [f"component {i + 1}: p = {p_values[i]:.2g}" for i in (k - 1, k) if 0 <= i < len(p_values)]
    return RuleResult(rule, k, ", ".join(found) or "too little is left to test", at_least, p_values=np.array(p_values))


def _no_noise(scree: Scree) -> str:
    """Why noise cannot be recognized; empty if it can."""
    if scree.kernel:
        return "the rule compares with the noise of columns, which a kernel does not have"
    if not scree.dof >= _SMALLEST_SIDE:
        return f"{scree.total_weight:.3g} rows are too few"
    return "fewer than two columns vary" if scree.n_varying < _SMALLEST_SIDE else ""


def _incomplete(scree: Scree) -> str:
    return f"it needs all variances, and {len(scree.values):,} of {scree.n_possible:,} are known"


_FLAT_REASON = "the scree is flat, so the kernel is too narrow for this rule"


def _above(rule: str, scree: Scree, limits: NDArray, what: str) -> RuleResult:
    """As many components as exceed their limits, one after the other."""
    known = scree.positive[: len(limits)]
    below = np.flatnonzero(~(known > (1 + _EQUAL) * limits[: len(known)]))
    k = int(below[0]) if len(below) else len(known)
    near = [i for i in (k - 1, k) if 0 <= i < len(known) and limits[i] > 0]
    found = [f"component {i + 1} is {known[i] / limits[i]:.3g} times {what}" for i in near]
    at_least = not len(below) and not scree.complete
    return RuleResult(rule, k, ", ".join(found) or f"all that vary exceed {what}", at_least, limits)


RULES: dict[str, Callable[[Scree], RuleResult]] = {
    "parallel": parallel,
    "marchenko-pastur": marchenko_pastur,
    "gavish-donoho": gavish_donoho,
    "tracy-widom": tracy_widom,
    "patterson": patterson,
    "mle": minka_mle,
    "bic": bic,
    "elbow": elbow,
    "broken-stick": broken_stick,
    "kaiser": kaiser,
}
