"""Global alignment kernel on time series of any lengths.

An alignment of series with m and n steps is a path from (0, 0) to (m − 1, n − 1) that advances in one of them or in
both. The sum over all paths follows from cell to cell,

    M(i, j) = κ(i, j)·(M(i − 1, j) + M(i, j − 1) + M(i − 1, j − 1)),

and cells of one anti-diagonal do not depend on each other: an anti-diagonal of many pairs of series is one step.

M grows by at most 1 + √2 for each step and may shrink without limit, so it is divided by a power of two now and then,
which rounds nothing. What underflows is harmless: with D(x) = k(x, x) before normalization, Cauchy–Schwarz gives
M(i, j) ≤ √(D(x₀…xᵢ)·D(y₀…yⱼ)), the same for the rest of a path, and D grows by at most (1 + √2)² for each step of a
series. An underflow at one end of an anti-diagonal whose largest M is at the other end therefore changes k(x, y) by at
most 2⁻¹⁰⁷⁰(1 + √2)^(min(m, n) + 3)·√(D(x)·D(y)), which is below 2⁻¹⁷⁰√(D(x)·D(y)) for up to 700 steps. Longer series
are summed in logarithms.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from mercer.data.conversion import as_series
from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import Generator, Kernel, PreparedKernel, check_positive
from mercer.storable import storable

_MEDIAN_SERIES, _MEDIAN_STEPS = 100, 1000  # from which the bandwidth is estimated
_BANDWIDTHS = 1e-150, 1e150
_LOG_PATHS = 0.8814  # log(1 + √2): how many times more alignments there are with one more step, at most
_MOST_STEPS = 700  # of the shorter series, up to which an underflow is harmless
_RESCALE = 64  # anti-diagonals between two divisions; (1 + √2)^64 does not overflow
_ENTRIES = 1 << 15  # of one anti-diagonal of all pairs that are summed at once: arrays stay in the cache
_PADDED = 1 << 21  # numbers of all series that are summed at once
_MOST_CELLS = 2e9  # for one pair of series: a minute
_BUCKETS = 8  # lengths up to a factor of 2^(1/8) are similar


@storable
@dataclass(frozen=True)
class GlobalAlignment(Kernel):
    """k(x, y) = Σ Πκ(xᵢ, yⱼ), summed over all alignments of two series, divided by √(k(x, x)k(y, y)).

    An alignment visits pairs of steps (i, j), from the first ones to the last ones, and advances in one series or in
    both. κ = g/(2 − g) with g = exp(−‖xᵢ − yⱼ‖²/(2·bandwidth²)), for which k is positive semi-definite; the
    exponential of the dynamic time warping distance is not.

    Parameters
    ----------
    bandwidth : float or "median", default="median"
        Distance up to which two steps are similar. "median" is the median distance of the steps of different value,
        times the root of the median length.
    triangular : int, default=None
        Steps with |i − j| ≥ triangular are never aligned, and g is multiplied by 1 − |i − j|/triangular. This is
        faster and still positive semi-definite.
    normalize : bool, default=True
        False leaves out the division: values then grow by a factor of up to 5.8 for each step.

    Notes
    -----
    Series are arrays of steps, or of steps × values. Their lengths may differ, but series that are more than twice
    as long as others have little in common with them. An entry costs a few nanoseconds for each pair of steps.

    References
    ----------
    Cuturi (2011), Fast global alignment kernels. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels.series import GlobalAlignment
    >>> series = [np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0, 3.0]), np.array([5.0, 1.0])]
    >>> GlobalAlignment(bandwidth=2.0)(series, series).round(3)
    array([[1.   , 0.839, 0.02 ],
           [0.839, 1.   , 0.008],
           [0.02 , 0.008, 1.   ]])
    """

    bandwidth: float | str = "median"
    triangular: int | None = None
    normalize: bool = True

    input_kind = "series"
    psd = True

    def __post_init__(self) -> None:
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "median"):
            check_positive("bandwidth", self.bandwidth)
            if not _BANDWIDTHS[0] < float(self.bandwidth) < _BANDWIDTHS[1]:
                raise ParameterError("bandwidth", self.bandwidth, "between 1e-150 and 1e150")
        band = self.triangular
        if band is not None and (isinstance(band, bool) or not isinstance(band, Integral) or band < 1):
            raise ParameterError("triangular", band, "None or a positive integer")

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> "PreparedAlignment":
        series = as_series(Y)
        return PreparedAlignment(self, series, series, shift or 0.0)

    def diag(self, X: Any) -> NDArray:
        return np.ones(len(X)) if self.normalize else self.exponentials(self.log_sums(as_series(X)))

    def log_sums(self, series: NDArray) -> NDArray:
        """log k(x, x) before normalization."""
        own = np.arange(len(series))
        return alignment_log_sums(series, series, own, own, self._step_kernel)

    @property
    def _step_kernel(self) -> "StepKernel":
        return StepKernel(0.5 / float(self.bandwidth) ** 2, None if self.triangular is None else int(self.triangular))

    def exponentials(self, logarithms: NDArray) -> NDArray:
        """Kernel values, or an error if they overflow."""
        with np.errstate(over="ignore"):
            values = np.exp(logarithms)
        if not np.isfinite(values).all():
            raise DataError(
                f"With normalize=False, k(x, y) of these series is up to 10^{logarithms.max() / np.log(10):.0f}, which "
                "overflows. Use normalize=True."
            )
        return values

    def resolve(self, data: Dataset, rng: Generator, weights: NDArray | None = None) -> Self:
        if self.bandwidth != "median":
            return self
        n = len(data)
        some = np.sort(rng().choice(n, _MEDIAN_SERIES, replace=False)) if n > _MEDIAN_SERIES else np.arange(n)
        series = as_series(data.take(some))
        steps = np.concatenate(series)
        if len(steps) > _MEDIAN_STEPS:
            steps = steps[np.sort(rng().choice(len(steps), _MEDIAN_STEPS, replace=False))]
        from scipy.spatial.distance import pdist

        distances = pdist(steps)
        distances = distances[distances > 0]
        if not len(distances):
            raise DataError('bandwidth="median" needs two different steps, but all steps of all series are equal.')
        return replace(self, bandwidth=float(np.median(distances) * np.sqrt(np.median([len(one) for one in series]))))

    def entry_cost(self, data: Dataset) -> float:
        n_values = data.take(np.arange(1))[0].shape[1]
        length = self.sample_width(data) / n_values
        width = length if self.triangular is None else min(length, 2 * int(self.triangular))
        return 1000.0 + (8.0 + 2.0 * n_values) * length * width

    def sample_width(self, data: Dataset) -> int:
        return max(1, data.nbytes // (8 * len(data)))


class PreparedAlignment(PreparedKernel):
    """Series, and half the logarithms of k(x, x) before normalization."""

    kernel: GlobalAlignment

    def __init__(
        self, kernel: GlobalAlignment, X: NDArray, Y: NDArray, shift: float, right: NDArray | None = None
    ) -> None:
        self.kernel, self.X, self.Y, self.shift, self.shape = kernel, X, Y, shift, (len(X), len(Y))
        if len(X) and len(Y) and X[0].shape[1] != Y[0].shape[1]:
            raise DataError(
                f"New series have {X[0].shape[1]} values at each step, but those of the fit have {Y[0].shape[1]}."
            )
        self.right = self._half_logarithms(Y) if right is None else right
        self.left = self.right if X is Y else self._half_logarithms(X)

    def _half_logarithms(self, series: NDArray) -> NDArray:
        return 0.5 * self.kernel.log_sums(series) if self.kernel.normalize else np.zeros(len(series))

    @property
    def nbytes(self) -> int:
        return self.left.nbytes + self.right.nbytes

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        X, Y = self.X[rows], self.Y[columns]
        if same := self.X is self.Y and rows == columns:
            i, j = np.triu_indices(len(X))
        else:
            i, j = (index.ravel() for index in np.indices((len(X), len(Y))))
        logarithms = alignment_log_sums(X, Y, i, j, self.kernel._step_kernel)
        logarithms -= self.left[rows][i] + self.right[columns][j]
        out[i, j] = self.kernel.exponentials(logarithms)
        if same:
            out[j, i] = out[i, j]
        if self.shift:
            out -= self.shift

    def against(self, X: Any) -> "PreparedAlignment":
        return PreparedAlignment(self.kernel, as_series(X), self.Y, self.shift, self.right)

    @cached_property
    def diag(self) -> NDArray:
        values = np.ones(len(self.Y)) if self.kernel.normalize else self.kernel.diag(self.Y)
        return values - self.shift

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        """Relative to √(k(x, x)k(y, y)).

        The exponent of a cell is off by γ_{d+7} of itself, κ by twice that and 40 roundings. Exponents along an
        alignment add up to 0.8814 for each step, on average over alignments by their weights. Logarithms are as
        large as an alignment is long.
        """
        longest = max((len(one) for part in (self.X, self.Y) for one in part), default=1)
        n_values = self.Y[0].shape[1] if len(self.Y) else 1
        logarithms = 12.0 * longest if self.kernel._step_kernel.needs_logarithms(longest, longest) else 0.0
        return 2 * (2 * longest + 2) * (2 * (n_values + 7) * _LOG_PATHS + 40 + logarithms) + 16


# ---------------------------------------------------------------------- sums over alignments


class StepKernel(NamedTuple):
    """κ of two steps: g/(2 − g) with g = ω·exp(−rate·‖x − y‖²) and ω = 1 − |i − j|/band."""

    rate: float
    band: int | None = None

    def needs_logarithms(self, m: Any, n: Any) -> Any:
        """Whether an underflow could be seen in the sum of two series with m and n steps."""
        return np.minimum(np.minimum(m, n), self.band or np.inf) > _MOST_STEPS

    def check_lengths(self, m: NDArray, n: NDArray) -> None:
        """Raise if one pair of series takes minutes."""
        cells = np.minimum(m, n) * np.minimum(np.maximum(m, n), 2.0 * self.band if self.band else np.inf)
        if cells.max(initial=0.0) > _MOST_CELLS:
            longest = int(np.maximum(m, n)[np.argmax(cells)])
            raise DataError(
                f"A series of {longest:,} steps is too long for GlobalAlignment: one pair of series has "
                f"{cells.max():.1e} pairs of steps (limit {_MOST_CELLS:.0e}). Take every tenth step, or align near "
                "steps only with triangular=1000."
            )

    def anti_diagonals(self, m: int, n: int) -> Iterator[tuple[int, slice, NDArray]]:
        """i + j, the range of i within the band, and ω of these cells."""
        band = self.band or m + n
        for a in range(m + n - 1):
            first = min(max(0, a - n + 1, (a - band) // 2 + 1), m)
            cells = slice(first, max(first, min(m - 1, a, (a + band - 1) // 2) + 1))
            yield a, cells, 1.0 - np.abs(2 * np.arange(cells.start, cells.stop) - a) / band


def alignment_log_sums(X: Any, Y: Any, i: NDArray, j: NDArray, step_kernel: StepKernel) -> NDArray:
    """log Σ Πκ over all alignments of the series X[i] and Y[j], for arrays of indices; −∞ if there are none."""
    m, n = (np.array([len(one) for one in series], dtype=np.intp)[index] for series, index in ((X, i), (Y, j)))
    step_kernel.check_lengths(m, n)
    out = np.empty(len(i))
    in_logarithms = step_kernel.needs_logarithms(m, n)
    for add, some in ((_add_scaled, ~in_logarithms), (_add_logarithms, in_logarithms)):
        pairs = np.flatnonzero(some)
        for batch in _similar_pairs(m[pairs], n[pairs], X[0].shape[1]):
            chosen = pairs[batch]
            left = _pad(X, i[chosen], int(m[chosen].max()), np.inf)
            right = _pad(Y, j[chosen], int(n[chosen].max()), -np.inf)[:, ::-1]
            out[chosen] = _accumulate(left, right, m[chosen], n[chosen], step_kernel, add)
    return out


def _similar_pairs(m: NDArray, n: NDArray, n_values: int) -> Iterator[NDArray]:
    """Numbers of pairs with similar lengths, as many as are summed at once."""

    def most(m: int, n: int) -> int:
        return max(1, min(_ENTRIES // min(m, n), _PADDED // (n_values * (m + n))))

    order = np.lexsort((n, m, *((_BUCKETS * np.log2(length)).astype(int) for length in (n, m))))
    start = 0
    while start < len(order):
        batch = order[start : start + most(m[order[start]], n[order[start]])]
        batch = batch[: most(m[batch].max(), n[batch].max())]
        yield batch
        start += len(batch)


def _pad(series: Any, index: NDArray, length: int, value: float) -> NDArray:
    """Steps of the series with these indices, values × length × indices. Padding is infinitely far from any step."""
    used, places = np.unique(index, return_inverse=True)
    out = np.full((series[0].shape[1], length, len(used)), value)
    for place, number in enumerate(used):
        one = series[number]
        out[:, : len(one), place] = one.T
    return out[:, :, places]


def _accumulate(
    X: NDArray, Y: NDArray, m: NDArray, n: NDArray, step_kernel: StepKernel, add: Callable[..., None]
) -> NDArray:
    """log M(m − 1, n − 1) of each pair, from one anti-diagonal to the next. Y is reversed: j falls where i rises.

    Three anti-diagonals are stored, with a cell to spare at both ends. `add` writes one of them.
    """
    nothing, one = (0.0, 1.0) if add is _add_scaled else (-np.inf, 0.0)
    shape = X.shape[1] + 2, X.shape[2]
    before, last, now = np.full((3, *shape), nothing)
    before[0] = one
    distances, spare = np.empty((2, *shape))
    exponents, out = np.zeros(shape[1], dtype=np.int64), np.full(shape[1], -np.inf)
    ends = m + n - 2
    finished = {int(end): np.flatnonzero(ends == end) for end in np.unique(ends)}
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        for a, cells, omega in step_kernel.anti_diagonals(X.shape[1], Y.shape[1]):
            along = slice(Y.shape[1] - 1 - a + cells.start, Y.shape[1] - 1 - a + cells.stop)
            t, free = distances[: len(omega)], spare[: len(omega)]
            np.subtract(X[0, cells], Y[0, along], out=t)
            np.multiply(t, t, out=t)
            for x, y in zip(X[1:], Y[1:], strict=True):
                np.subtract(x[cells], y[along], out=free)
                np.multiply(free, free, out=free)
                t += free
            t *= step_kernel.rate
            here = slice(cells.start + 1, cells.stop + 1)
            add(
                t,
                free,
                omega[:, None] if step_kernel.band else None,
                (last[cells], last[here], before[cells]),
                now[here],
            )
            now[cells.start] = now[cells.stop + 1] = nothing
            if a in finished:
                pairs = finished[a]
                pairs = pairs[(m[pairs] > cells.start) & (m[pairs] <= cells.stop)]  # others end outside of the band
                out[pairs] = now[m[pairs], pairs]
                if add is _add_scaled:
                    out[pairs] = np.log(out[pairs]) + np.log(2.0) * exponents[pairs]
            before, last, now = last, now, before
            if add is _add_scaled and a % _RESCALE == _RESCALE - 1:
                largest = np.frexp(np.maximum(last.max(axis=0), before.max(axis=0)))[1]
                np.ldexp(last, -largest, out=last)
                np.ldexp(before, -largest, out=before)
                exponents += largest
    return out


_Cells = tuple[NDArray, NDArray, NDArray]


def _add_scaled(t: NDArray, free: NDArray, omega: NDArray | None, cells: _Cells, out: NDArray) -> None:
    """κ·Σ cells, with κ = g/(2 − g) = 1/(2/g − 1) and 1/g = eᵗ/ω."""
    np.exp(t, out=t)
    if omega is not None:
        t /= omega
    t *= 2.0
    t -= 1.0
    np.add(cells[0], cells[1], out=out)
    out += cells[2]
    out /= t


def _add_logarithms(t: NDArray, free: NDArray, omega: NDArray | None, cells: _Cells, out: NDArray) -> None:
    """The same of logarithms: log g = log ω − t."""
    if omega is not None:
        t -= np.log(omega)
    np.maximum(np.maximum(cells[0], cells[1]), cells[2], out=free)
    np.maximum(free, -np.finfo(float).max, out=free)  # −∞ − (−∞) is not a number
    out[...] = sum(np.exp(cell - free) for cell in cells)
    np.log(out, out=out)
    out += free
    out -= t
    out -= np.log(2.0 - np.exp(-t))
