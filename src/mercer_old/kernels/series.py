"""Kernels of series, which may be of unequal lengths."""

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short
from mercer_old.kernels.alignment import Local, log_sums_of_all, log_sums_of_each
from mercer_old.kernels.base import Held, Kernel, Tiles, n_rows, require_positive
from mercer_old.sources.items import Items

__all__ = ["GlobalAlignment"]

_SAMPLE, _STEPS = 100, 1000  # series, and steps of them, from which a bandwidth is guessed
_BANDWIDTHS = 1e-150, 1e150
_PATHS = 0.8814  # log of how many times more alignments there are for a step more: at most, ln(1 + √2)
_SHORT = 600  # steps of two series together, up to which what is found by logarithms is nothing beside 1


@dataclass(frozen=True)
class GlobalAlignment(Kernel):
    """k(x, y) = Σ Πκ(xᵢ, yⱼ), summed over all alignments of two series, divided by √(k(x, x)k(y, y)).

    An alignment goes through both series from the first steps to the last, one step on in either or in both; Π is taken
    over the pairs of steps (i, j) that it meets. κ = g/(2 − g) with g = exp(−‖xᵢ − yⱼ‖²/(2·bandwidth²)), for which
    Cuturi has proven k to be positive semi-definite (as κ/(1 + κ) = g/2 is). exp(−DTW²), the best alignment instead of
    all, is not.

    Series may have any lengths: a list of arrays, each of steps or of steps × values, or an array with a series in
    every row. Those of very different lengths have little in common; up to a factor of two is well.

    Parameters
    ----------
    bandwidth : float or "median", default="median"
        Distance over which two steps are alike. "median" is the median distance of steps of the data times the root of
        the median length.
    triangular : int or None, default=None
        Steps that are so far apart, |i − j| ≥ triangular, are never aligned, and g is multiplied by
        1 − |i − j|/triangular: faster, and still positive semi-definite.
    normalize : bool, default=True
        k(x, x) = 1. Without it, values grow by a factor of up to 5.8 a step.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import GlobalAlignment
    >>> series = [np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0, 3.0]), np.array([5.0, 1.0])]
    >>> GlobalAlignment(bandwidth=2.0).block(series, series).round(3)
    array([[1.   , 0.839, 0.085],
           [0.839, 1.   , 0.047],
           [0.085, 0.047, 1.   ]])
    """

    bandwidth: float | str = "median"
    triangular: int | None = None
    normalize: bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "median"):
            require_positive(self.bandwidth, "bandwidth")
            if not _BANDWIDTHS[0] < float(self.bandwidth) < _BANDWIDTHS[1]:
                raise ValueError(f"bandwidth must lie between 1e-150 and 1e150; got {in_short(self.bandwidth)}.")
        band = self.triangular
        if band is not None and (isinstance(band, bool) or not isinstance(band, Integral) or band < 1):
            raise ValueError(f"triangular must be None or a whole number from 1 on; got {in_short(band)}.")

    psd = True

    @property
    def takes(self) -> str:
        return "series"

    @property
    def local(self) -> Local:
        return Local(0.5 / float(self.bandwidth) ** 2, None if self.triangular is None else int(self.triangular))

    # ------------------------------------------------------------------ values

    def block(self, X: Held, Y: Held) -> Array:
        out = np.empty((n_rows(X), n_rows(Y)))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def diag(self, X: Held) -> Array:
        return np.ones(n_rows(X)) if self.normalize else self._numbers(log_sums_of_each(series_of(X), self.local))

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        return _AlignmentTiles(self, series_of(X), None if Y is None else series_of(Y), shift)

    def own(self, series: list[Array]) -> Array:
        """½·log k(x, x) of every series, which is taken off."""
        return 0.5 * log_sums_of_each(series, self.local) if self.normalize else np.zeros(len(series))

    def _numbers(self, logarithms: Array) -> Array:
        with np.errstate(over="ignore"):
            out = np.exp(logarithms)
        if not np.isfinite(out).all():
            raise BadData(
                f"Without normalize=True, k(x, y) of series as long as these is up to "
                f"10^{logarithms.max() / np.log(10):.0f}, which is no number of double precision. Leave normalize=True."
            )
        return np.asarray(out)

    # ------------------------------------------------------------------ what is left to the data, and what it costs

    def resolved(self, X: Held, rng: np.random.Generator) -> "GlobalAlignment":
        return replace(self, bandwidth=self._by_median(X, rng)) if self.bandwidth == "median" else self

    def _by_median(self, X: Held, rng: np.random.Generator) -> float:
        """Of the distances of different steps, times the root of the length: an alignment has about as many pairs."""
        n = n_rows(X)
        numbers = np.sort(rng.choice(n, size=_SAMPLE, replace=False)) if n > _SAMPLE else np.arange(n)
        some = series_of([X[i] for i in numbers.tolist()] if isinstance(X, (list, tuple)) else X[numbers])
        steps = np.concatenate(some)
        if len(steps) > _STEPS:
            steps = steps[np.sort(rng.choice(len(steps), size=_STEPS, replace=False))]
        distances = scipy.spatial.distance.pdist(steps)
        distances = distances[distances > 0]
        if not len(distances):
            raise ValueError('bandwidth="median" needs two different steps, and all steps of all series are the same.')
        return float(np.median(distances) * np.sqrt(np.median([len(one) for one in some])))

    def entry_cost(self, d: int) -> float:
        return 1000.0 + 8.0 * d * (d if self.triangular is None else min(d, 2 * int(self.triangular)))

    # ------------------------------------------------------------------ rounding

    def roundings(self, X: Held) -> float:
        """Relative to √(k(x, x)k(y, y)): docs/design/rounding.md has the derivation."""
        series = series_of(X)
        longest, values = max(len(one) for one in series), series[0].shape[1]
        each = (
            2 * (values + 7) * _PATHS + 40
        )  # behind κ, whose exponents along a path are about 0.88 a step, and a cell
        logarithms = 0.0 if 2 * longest <= _SHORT else 12 * longest  # they are numbers as large as the path is long
        return 2 * (2 * longest + 2) * (each + logarithms) + 16

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        return max(super().entry_rounding(X, X), super().entry_rounding(Y, Y))


class _AlignmentTiles(Tiles):
    """Of series whose alignments with themselves were summed up once."""

    def __init__(self, kernel: GlobalAlignment, X: list[Array], Y: list[Array] | None, shift: float) -> None:
        self.kernel, self.X, self.Y, self.shift = kernel, X, X if Y is None else Y, shift
        _refuse_other_widths(self.X, self.Y)
        self.x = kernel.own(X)
        self.y = self.x if Y is None else kernel.own(Y)

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        same = self.X is self.Y and rows == columns
        logarithms = log_sums_of_all(self.X[rows], self.Y[columns], self.kernel.local, same)
        logarithms -= self.x[rows][:, None]
        logarithms -= self.y[columns]
        np.subtract(self.kernel._numbers(logarithms), self.shift, out=out)


def series_of(X: Any) -> list[Array]:
    """The series of items in memory, of items elsewhere or of a list, each a table with a row for every step."""
    held = X.load() if isinstance(X, Items) else X
    return [one[:, None] if one.ndim == 1 else one for one in (np.asarray(one, dtype=np.float64) for one in held)]


def _refuse_other_widths(X: list[Array], Y: list[Array]) -> None:
    if X and Y and X[0].shape[1] != Y[0].shape[1]:
        raise BadData(
            f"New series have {X[0].shape[1]} values at a step, and those of the fit {Y[0].shape[1]}: they cannot be "
            "aligned."
        )
