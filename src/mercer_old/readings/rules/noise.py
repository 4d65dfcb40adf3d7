"""Rules that tell signal from noise by the laws of random matrices: no draws, no rows, answers at once.

Each takes the rows as independent, and compares the variances with those of noise alone: the columns' own noise in
parallel analysis, the same noise in every column elsewhere.
"""

from collections.abc import Callable

import numpy as np

from mercer_old.arrays import Array
from mercer_old.readings.rules.marchenko_pastur import marchenko_pastur_edge, marchenko_pastur_median, noise_edge
from mercer_old.readings.rules.scree import Opinion, Scree, exceeding, silent, unknown
from mercer_old.readings.rules.tracy_widom import johnstone, tracy_widom_survival

__all__ = [
    "LEVEL",
    "deflated_parallel",
    "gavish_donoho",
    "marchenko_pastur",
    "noise_level",
    "optimal_threshold",
    "parallel",
    "patterson",
    "tracy_widom",
    "unequal_noise",
]

LEVEL = 0.05  # of tests: how often noise alone is taken for a component
_Sides = Callable[[Scree, int, Array], tuple[float, float]]
_OF_KERNELS = "it knows the noise of columns, and a kernel has none"
_FEWEST_SIDES = 2
_EVEN = 1e-9  # variances that differ by less are equal, and columns beyond number
_MOST_TAKEN = 0.9  # of a column by components: what is left of it tells little
_UNEQUAL = 4.0  # times what chance alone makes columns differ


def parallel(scree: Scree) -> Opinion:
    """λᵢ > the upper edge of noise with the columns' variances: deterministic parallel analysis (Dobriban, Owen 2019).

    What Horn's permutations find as rows and columns grow, without a permutation: see `noise_edge`. Needs the
    variances of the columns; those of the scree may end early. Equal is not above. A large component raises the
    columns' variances, and can hide smaller ones behind it ("deflated-parallel" does not). Chance carries the largest
    of pure noise over the edge in one case of six.
    """
    if scree.by_kernel:
        return silent("parallel", _OF_KERNELS)
    if scree.columns is None:
        return silent("parallel", "it needs the variances of the columns: give the rows as X")
    if few := _too_few(scree):
        return silent("parallel", few)
    edge = noise_edge(scree.columns, scree.freedom)
    return exceeding("parallel", scree, np.full(scree.most, edge), "the edge of the columns' noise")


def deflated_parallel(scree: Scree) -> Opinion:
    """The same, one component after the other, each taken out of the columns before the next is judged.

    tⱼ ← tⱼ − λᵢ·vᵢⱼ² and a new edge for λᵢ₊₁ (deflated parallel analysis, Dobriban and Owen 2019), until one does not
    exceed it: small components are no longer hidden by large ones. Needs the variances of the columns and the axes.
    Each edge is that of what is left, so that it keeps somewhat more than there is where noise is judged many times.
    """
    rule = "deflated-parallel"
    if scree.by_kernel:
        return silent(rule, _OF_KERNELS)
    if scree.columns is None or scree.axes is None:
        return silent(rule, "it needs the variances of the columns and the axes: give the rows as X")
    if few := _too_few(scree):
        return silent(rule, few)
    left, limits = scree.columns.astype(np.float64), list[float]()
    for q, (value, axis) in enumerate(zip(scree.positive, scree.axes, strict=False)):
        if min(scree.freedom, scree.varying) <= q:
            break  # nothing is left to be judged by
        limits.append(noise_edge(left, scree.freedom) * _taken(scree, q))
        if not value > limits[-1]:
            break
        left = np.maximum(left - value * axis**2, 0.0)
    return exceeding(rule, scree, np.array(limits), "the edge of what is left")


def _taken(scree: Scree, q: int) -> float:
    """What q components take of the noise with them: they leave (m − q)(d − q) numbers of it, of m·d."""
    rows, columns = scree.freedom - q, scree.varying - q
    return scree.freedom * scree.varying / (rows * columns)


def marchenko_pastur(scree: Scree) -> Opinion:
    """λᵢ > σ²(1 + √γ)², γ = d/m: above all variances that equal noise in every column has (Marchenko and Pastur 1967).

    σ² is such that the median variance is that of the law, so that components, if fewer than half, do not disturb it.
    Needs all variances. Equal is not above. It means nothing where columns have noise of different sizes (standardize,
    or ask "parallel"), and nothing is left to chance: noise exceeds the edge in one case of six.
    """
    noise = noise_level(scree, "marchenko-pastur")
    if isinstance(noise, Opinion):
        return noise
    edge = noise * marchenko_pastur_edge(scree.varying / scree.freedom)
    return exceeding("marchenko-pastur", scree, np.full(scree.most, edge), "the edge of white noise")


def gavish_donoho(scree: Scree, noise: float | None = None) -> Opinion:
    """√λᵢ > ω(β)·median √λ: the threshold of the smallest error of what is left (Gavish and Donoho 2014).

    ω(β) = λ*(β)/√μ(β), β the smaller side of the rows by the larger, μ(β) the median of Marchenko's and Pastur's law
    and λ*(β) = √(2(β + 1) + 8β/(β + 1 + √(β² + 14β + 1))), which is 4/√3 for a square; with a known variance of the
    noise, √λᵢ > λ*(β)·√(noise·larger side/m). Needs all variances, if the noise is not known. Equal is not above. It
    keeps what lowers the error, fewer than are there; it means nothing where columns have noise of different sizes.
    """
    level = noise_level(scree, "gavish-donoho") if noise is None else noise
    if isinstance(level, Opinion):
        return level
    small, large = sorted((float(scree.varying), scree.freedom))
    limit = optimal_threshold(small / large) ** 2 * level * large / scree.freedom
    return exceeding("gavish-donoho", scree, np.full(scree.most, limit), "the limit of least error")


def optimal_threshold(ratio: float) -> float:
    """λ*(β), in units of √(larger side)·σ: what a singular value has to exceed to lower the error."""
    return float(np.sqrt(2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1))))


def noise_level(scree: Scree, rule: str) -> float | Opinion:
    """σ² of equal noise in every column, from the median of all variances; or why there is none.

    Of a matrix whose sides are s ≤ l and whose noise has variance σ², the eigenvalues of the smaller side are
    σ²·l·x/m with x of the law for β = s/l.
    """
    if scree.by_kernel:
        return silent(rule, _OF_KERNELS)
    if not scree.whole:
        return silent(rule, f"the noise is read off all variances, and {unknown(scree)}")
    if few := _too_few(scree):
        return silent(rule, few)
    middle = float(np.median(np.sqrt(scree.filled))) ** 2
    if not middle > 0:
        return silent(rule, "half of the variances or more are zero, so noise has no level")
    small, large = sorted((float(scree.varying), scree.freedom))
    return middle / marchenko_pastur_median(small / large) * scree.freedom / large


def tracy_widom(scree: Scree) -> Opinion:
    """One component after the other, as long as chance alone makes one as large in fewer than 5 % of cases.

    Of q components found, what is left are (m − q)×(d − q) numbers of noise whose variance is read off what is left
    of the total: (m − q)(d − q)·λ_{q+1}/Σ_{i>q} λᵢ, centred and scaled by `johnstone`, follows Tracy's and Widom's law
    (Johnstone 2001; the sequence as in Patterson, Price and Reich 2006). Needs the total; the scree may end early. A
    p-value of 5 % exactly keeps. It means nothing where columns have noise of different sizes, or depend on each other.
    """
    if scree.by_kernel:
        return silent("tracy-widom", _OF_KERNELS)
    return _tested("tracy-widom", scree, _as_they_are)


def patterson(scree: Scree) -> Opinion:
    """The same with the number of columns that count read off the variances, as smartpca does for linked markers.

    n' = (p + 2)(Σλ)²/(p·Σλ² − (Σλ)²) over the p variances of what is left takes the place of the larger side
    (Patterson, Price and Reich 2006). Needs all variances. It holds where columns depend on each other, and stops early
    where several components are of the same size, as those lower n'.
    """
    if scree.by_kernel:
        return silent("patterson", _OF_KERNELS)
    if not scree.whole:
        return silent("patterson", f"it needs all variances, and {unknown(scree)}")
    return _tested("patterson", scree, _effective)


def _as_they_are(scree: Scree, q: int, values: Array) -> tuple[float, float]:
    """The sides of what is left after q components."""
    return scree.freedom - q, float(scree.varying - q)


def _effective(scree: Scree, q: int, values: Array) -> tuple[float, float]:
    """The smaller side of what is left, and how many numbers of the larger seem independent."""
    left = values[q : scree.most]
    p, shares = len(left), left / left.sum()  # squares of variances may be no numbers, those of shares are
    excess = max(p * float(shares @ shares) - 1, _EVEN)
    return (p + 2) / excess, float(p)


def _tested(rule: str, scree: Scree, sides: _Sides) -> Opinion:
    """p-values of the variances, the first one above the level ends it."""
    if few := _too_few(scree):
        return silent(rule, few)
    values, p_values = scree.positive, list[float]()
    left = scree.total - np.append(0.0, np.cumsum(values))
    for q, value in enumerate(values):
        rows, columns = sides(scree, q, values)
        if min(rows, columns) < _FEWEST_SIDES or not left[q] > 0:
            break
        centre, spread = johnstone(rows, columns)
        p_values.append(tracy_widom_survival((rows * columns * (value / left[q]) - centre) / spread))
        if p_values[-1] > LEVEL:
            break
    k = int(np.sum(np.array(p_values) <= LEVEL))
    ends = k == len(values) and not scree.whole
    said = [f"λ{i + 1}: p = {p_values[i]:.2g}" for i in (k - 1, k) if 0 <= i < len(p_values)]
    why = ", ".join(said) or "too little is left to test"
    return Opinion(rule, k, f"{why}; {unknown(scree)}" if ends else why, ends, p_values=np.array(p_values))


def unequal_noise(scree: Scree) -> str:
    """What to say if columns have noise of different sizes, so that rules of equal noise mean nothing; else nothing.

    After the components of `deflated_parallel`, column j has tⱼ − Σλᵢvᵢⱼ² of variance left in 1 − Σvᵢⱼ² of a direction.
    Of equal normal noise the ratios uⱼ differ by chance alone: Σ(uⱼ/mean − 1)²·m/2 is about the number of columns. Four
    times that, which no ordinary tails explain, is different noise.
    """
    if scree.by_kernel or scree.columns is None or scree.axes is None or _too_few(scree):
        return ""
    k = deflated_parallel(scree).k or 0
    axes = scree.axes[:k]
    taken = np.einsum("ij,ij->j", axes, axes)
    used = (scree.columns > 0) & (taken < _MOST_TAKEN)
    left = scree.columns - np.einsum("i,ij,ij->j", scree.values[:k], axes, axes)
    left = np.maximum(left[used], 0.0) / (1 - taken[used])
    if len(left) <= _FEWEST_SIDES or not left.mean() > 0:
        return ""
    if np.sum((left / left.mean() - 1) ** 2) * scree.freedom / 2 <= _UNEQUAL * (len(left) - 1):
        return ""
    low, high = np.quantile(left, [0.05, 0.95]) / left.mean()
    return f"noise differs from column to column, mostly from {low:.2g} to {high:.2g} of its mean variance"


def _too_few(scree: Scree) -> str:
    """Why nothing can be said of noise; nothing where something can."""
    if not scree.freedom >= _FEWEST_SIDES:
        return f"too few rows, or a sum of weights of {scree.weight:.3g}, to tell what is noise"
    if scree.varying < _FEWEST_SIDES:
        return "fewer than two columns vary"
    return ""
