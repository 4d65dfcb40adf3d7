"""What is new: scores that grow with novelty, and what a score means beside those of rows held out.

A row has a place inside the space of the kept components, its scores y, and something outside of it, the square Q of
what they leave. `hotelling_t2` and `squared_residuals` are the two; `Calibration` turns any such score into p-values
that hold for every distribution, and `benjamini_hochberg` chooses among many of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.sums import row_squares

__all__ = [
    "Calibration",
    "benjamini_hochberg",
    "hotelling_t2",
    "monitoring_index",
    "rounding_of_residuals",
    "rounding_of_t2",
    "share_of_rounding",
    "squared_residuals",
    "sum_of_projections",
    "t2_contributions",
    "variance_left",
    "with_variance",
]

_SAME = 1e-9  # scores nearer than this share of themselves are ties: rounding depends on what is computed along
_ROUNDINGS = 64  # of a variance, for every column
_MOST = np.finfo(float).max


# ---------------------------------------------------------------------- scores, the higher the more novel


def with_variance(variances: Array, width: int = 1, dtype: DTypeLike = np.float64) -> Array:
    """Which components vary at all: the others have nothing to measure a row by, and belong to what is left.

    Variances of rows of so many columns are known to that many roundings of the largest, in the precision of `dtype`.
    """
    return np.asarray(variances > share_of_rounding(width, dtype) * variances.max(initial=0.0))


def share_of_rounding(width: int, dtype: DTypeLike = np.float64) -> float:
    """What is lost of a sum over so many columns, as a share of its moduli."""
    return float(_ROUNDINGS * width * np.finfo(dtype).eps)


def hotelling_t2(scores: Array, variances: Array) -> Array:
    """T² = Σ yᵢ²/λᵢ: how far a row is from the mean inside the space of the components, in deviations.

    Components without variance (λ = 0) are left out, as a pseudo-inverse does.

    >>> float(hotelling_t2(np.array([[2.0, 3.0, 5.0]]), np.array([4.0, 1.0, 0.0]))[0])
    10.0
    """
    there = variances > 0
    with np.errstate(over="ignore"):
        return np.minimum((scores[:, there] ** 2 / variances[there]).sum(axis=1), _MOST)


def squared_residuals(lengths: Array, scores: Array) -> Array:
    """Q = ‖φ(x) − mean‖² − Σ yᵢ² (Hoffmann 2007): the squared distance from the space of the components.

    It is a difference of nearly equal numbers where the components see almost all of a row: known to some roundings
    of ‖φ(x) − mean‖², and zero where it is less than those. Where squares overflow, it is as large as can be.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        left = lengths - row_squares(scores)
        known = np.where(left > share_of_rounding(1) * np.abs(lengths), left, 0.0)
    return np.where(np.isfinite(left), known, _MOST)


def monitoring_index(t2: Array, q: Array, components: int, rest: float) -> Array:
    """T²/k + Q/rest: either statistic in units of what it is on average, where `rest` is the variance that is left."""
    with np.errstate(over="ignore"):
        return np.minimum(t2 / max(components, 1) + q / rest, _MOST)


def variance_left(total: float, variances: Array, width: int = 1, dtype: DTypeLike = np.float64) -> tuple[float, bool]:
    """What the components leave of the total variance, and whether it is more than rounding.

    Where it is not, any Q at all is beyond what was ever seen, and rounding is what to measure it by.
    """
    left, rounding = total - float(variances.sum()), share_of_rounding(width, dtype) * total
    return max(left, rounding) or 1.0, bool(left > rounding)


def sum_of_projections(functions: Array) -> Array:
    """F(x) = Σ |fᵢ(x)| of the uncentred component functions: large on the data, low where a local kernel sees none."""
    return np.abs(functions).sum(axis=1)


# ---------------------------------------------------------------------- how far scores may be off


def rounding_of_t2(scores: Array, variances: Array, off: Array) -> Array:
    """Of T², if every score may be off by so much (m×k)."""
    there = variances > 0
    with np.errstate(over="ignore"):
        return np.minimum((_of_squares(scores, off)[:, there] / variances[there]).sum(axis=1), _MOST)


def rounding_of_residuals(scores: Array, off: Array, lengths_off: Array) -> Array:
    """Of Q = ‖φ(x) − mean‖² − Σ yᵢ², if every score and ‖φ(x) − mean‖² may be off by so much."""
    with np.errstate(over="ignore"):
        return np.minimum(lengths_off + _of_squares(scores, off).sum(axis=1), _MOST)


def _of_squares(values: Array, off: Array) -> Array:
    """(|v| + δ)² − v²."""
    return np.asarray((2 * np.abs(values) + off) * off)


# ---------------------------------------------------------------------- what each column adds to a score


def t2_contributions(moved: Array, scores: Array, axes: Array, variances: Array) -> Array:
    """x_j·(WᵀΛ⁻¹y)_j of rows x − mean (m×d): signed, with sum T² over the columns."""
    there = variances > 0
    return moved * ((scores[:, there] / variances[there]) @ axes[there])


# ---------------------------------------------------------------------- what scores mean


@dataclass(frozen=True, eq=False)
class Calibration:
    """Scores of m rows that no component was learned from, in ascending order, each with room for rounding.

    A score may be off by the rounding that is given, or 1e-9 of itself: those that differ by less are ties, or a row
    would have one p-value alone and another one in a batch.

    If a new row comes from where they come from, its rank among them is uniform, whatever the score is: that is all
    that split-conformal p-values need (Vovk, Gammerman, Shafer 2005). Ties count against novelty.
    """

    sorted: Array

    @classmethod
    def of(cls, scores: Array, rounding: Array | float = 0.0) -> "Calibration":
        room = np.maximum(_SAME * np.maximum(np.abs(scores), np.median(np.abs(scores))), 2 * rounding)
        return cls(np.sort(np.minimum(scores + room, _MOST)))

    def p_values(self, scores: Array) -> Array:
        """(1 + #{sⱼ ≥ s})/(m + 1)."""
        m = len(self.sorted)
        return (1 + m - np.searchsorted(self.sorted, scores, side="left")) / (m + 1)

    def threshold(self, alpha: float) -> float:
        """p ≤ alpha for scores above this one alone; ∞ where there are too few rows for so small a p."""
        m = len(self.sorted)
        most = min(int(np.floor(alpha * (m + 1) * (1 + _SAME))), m)  # 0.1·20 is 2 in any arithmetic
        return float(self.sorted[-most]) if most else np.inf

    @staticmethod
    def fewest(alpha: float) -> int:
        """Rows that p ≤ alpha takes: 1/(m + 1) is the smallest p there is."""
        return int(np.ceil((1 - _SAME) / alpha)) - 1


def benjamini_hochberg(p_values: Array, fdr: float) -> Array:
    """Which p-values to call discoveries, so that the expected share of false ones among them is at most `fdr`.

    All up to the largest p₍ᵢ₎ ≤ i·fdr/N of N sorted ones (Benjamini, Hochberg 1995); conformal p-values of one
    calibration depend on each other in a way that keeps the promise (Bates and others 2023).

    >>> benjamini_hochberg(np.array([0.01, 0.5, 0.03, 0.9]), 0.1)
    array([ True, False,  True, False])
    """
    n = len(p_values)
    ordered = np.sort(p_values)
    below = np.flatnonzero(ordered <= np.arange(1, n + 1) * fdr / n * (1 + _SAME))
    return np.asarray(p_values <= (ordered[below[-1]] if len(below) else -np.inf))
