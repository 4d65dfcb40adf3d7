"""Kernels of counts, shares and histograms: sums over columns of what two numbers that are not negative share."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array, dense
from mercer_old.blocks import cut, steps
from mercer_old.kernels.bandwidth import ByGamma
from mercer_old.kernels.base import ROUNDINGS, Held, Kernel, Products, Tiles, after_shift, n_rows, summed
from mercer_old.kernels.counts import WholeProducts, counted_out, mean_sum, share_of_either, whole_sums
from mercer_old.kernels.domain import refuse_negative
from mercer_old.kernels.slopes import ByColumns, Slopes
from mercer_old.rounding import TINY, gamma
from mercer_old.sources.items import Items
from mercer_old.sums import SHORT

_LOOKED_AT = 1000  # rows from which a plan guesses what all are like
_CACHED = 1 << 15  # entries of a strip: its three buffers stay in a core's cache while columns are added up


# (w, slope, v) with ∂k/∂z_j = w(z, x)·slope(z_j, x_j) + v(z, x)
_ColumnSlopes = tuple[Array, Callable[[Array, Array], Array], Array | None]


class HistogramKernel(Kernel):
    """k(x, y) = shape(Σ term(xᵢ, yᵢ)) of rows without negative numbers. A subclass writes `term` and `shape`.

    Terms are never negative, so that a sum is known to γ of itself: columns are added up one after the other, SHORT of
    them at a time, however the rows lie in memory. Sparse rows are made dense for as many columns as that.
    """

    psd = True
    non_negative = True
    shared: ClassVar[bool] = True  # whether a term is zero where one of the two numbers is
    common: ClassVar[bool] = False  # whether a term is min(xᵢ, yᵢ): small whole numbers can then be counted out
    term_cost: ClassVar[float] = 2.0  # nominal nanoseconds

    @abstractmethod
    def term(self, x: Array, y: Array, half: Array, out: Array, spare: Array) -> None:
        """What a column says, into `out` (m×n): x is m×1 and y of length n; `half` is y/2, but never zero."""

    def shape(self, sums: Array, x: Array, y: Array, shift: float) -> None:
        """k − shift in place; x and y are what `own` says of the rows."""
        if shift:
            sums -= shift

    def own(self, X: Held) -> Array:
        """What the shape has to know of every row, if anything."""
        return np.zeros(n_rows(X))

    def entry_cost(self, d: int) -> float:
        return 5.0 + self.term_cost * d

    def cost(self, items: Items) -> float:
        ones = self._counted(items)
        return super().cost(items) if ones is None else 6.0 + 0.2 * ones

    def working(self, items: Items) -> int:
        ones = self._counted(items)
        return super().working(items) + int(ones or 0)

    def _counted(self, items: Items) -> float | None:
        """Ones in a row on average, if its numbers can be counted out; None if not, or if they are not in memory."""
        some = items.load() if self.common and items.held else None
        some = None if some is None else some[:: max(1, len(items) // _LOOKED_AT)]
        return None if some is None or some.min() < 0 or counted_out(some, None) is None else mean_sum(some)

    def block(self, X: Held, Y: Held) -> Array:
        out = np.empty((n_rows(X), n_rows(Y)))
        self.prepare(X, Y).fill(slice(None), slice(None), out)
        return out

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        refuse_negative(X, self)
        if Y is not None:
            refuse_negative(Y, self)
        bits = counted_out(X, Y) if self.common else None
        sums = self.own if bits is None else whole_sums
        x = sums(X)
        y = x if Y is None else sums(Y)
        if bits is not None:
            return _CountedTiles(self, WholeProducts(*bits), x, y, shift)
        return _HistogramTiles(self, X, X if Y is None else Y, x, y, shift)

    def sums(self, X: Held, Y: Held) -> Array:
        m, n = n_rows(X), n_rows(Y)
        size = min(m, max(1, _CACHED // max(n, 1)))
        out, buffers, strips = np.zeros((m, n)), np.empty((3, size, n)), steps(m, max(size, 1))
        for x, y in zip(columns_of(X), columns_of(Y), strict=True):
            some, other = x.any(axis=1), y.any(axis=1)
            busy = np.flatnonzero(some & other if self.shared else some | other)
            half = np.maximum(0.5 * y, TINY)  # which is nothing beside any x, and no zero to divide by if x is zero
            for rows in strips:
                total, term, spare = buffers[:, : rows.stop - rows.start]
                total[...] = 0.0
                for j in busy:
                    self.term(x[j, rows, None], y[j], half[j], term, spare)
                    total += term
                out[rows] += total
        return out

    differentiable = True

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """Column by column; at 0 the slope to the right."""
        refuse_negative(Z, self)
        refuse_negative(X, self)
        return ByColumns(_by_column(Z), _by_column(X), *self.steepness(Z, X))

    @abstractmethod
    def steepness(self, Z: Held, X: Held) -> _ColumnSlopes:
        """(w, slope, v) with ∂k/∂z_j = w(z, x)·slope(z_j, x_j) + v(z, x)."""

    def roundings(self, X: Held) -> float:
        return _column_chain(X) + ROUNDINGS

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """γ of every entry itself, so of ‖SKS‖: no more than its trace, nor than a sum over a row (Schur's test)."""
        size = summed(self.sizes(X), weights)
        if times is not None:
            w = np.ones(n_rows(X)) if weights is None else weights
            size = min(size, float(times(w[:, None]).max(initial=0.0)))
        return gamma(self.roundings(X)) * size + after_shift(X, weights, shift)


class _HistogramTiles(Tiles):
    """By the kernel's own sums, of rows that were looked over once."""

    def __init__(self, kernel: HistogramKernel, X: Held, Y: Held, x: Array, y: Array, shift: float) -> None:
        self.kernel, self.X, self.Y, self.x, self.y, self.shift = kernel, X, Y, x, y, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = self.kernel.sums(self.X[rows], self.Y[columns])
        self.kernel.shape(tile, self.x[rows], self.y[columns], self.shift)
        out[...] = tile


class _CountedTiles(Tiles):
    """Σmin of small whole numbers, as a product of bits."""

    def __init__(self, kernel: HistogramKernel, products: WholeProducts, x: Array, y: Array, shift: float) -> None:
        self.kernel, self.products, self.x, self.y, self.shift = kernel, products, x, y, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        self.products.fill(rows, columns, out)
        self.kernel.shape(out, self.x[rows], self.y[columns], self.shift)


def _by_column(X: Held) -> Held:
    """In the form that its columns are taken from fastest."""
    return sparse.csc_array(X) if sparse.issparse(X) else X


def columns_of(X: Held) -> Any:
    """SHORT columns at a time, each as a row of a dense array in float64."""
    X = _by_column(X)
    for some in cut(X.shape[1], SHORT):
        yield np.ascontiguousarray(dense(X[:, some]).T, dtype=np.float64)


def _below(z: Array, x: Array) -> Array:
    """The slope of min(z, x) in z: 1 below x, 0 above, and one half at it; at 0 that to the right."""
    return np.where(z < x, 1.0, np.where((z == x) & (x > 0), 0.5, 0.0))


def _share_of_both(z: Array, x: Array) -> Array:
    """x/(z + x), 0 where both are: by halves, whose sum is no overflow."""
    half = 0.5 * x
    return np.asarray(half / np.maximum(0.5 * z + half, TINY))


def _column_chain(X: Held) -> int:
    """The most additions behind a sum over the columns."""
    return min(X.shape[1], SHORT) + -(-X.shape[1] // SHORT)


def _row_sums(X: Held) -> Array:
    """Σx of every row, in the same order as `sums` adds up: of a row with itself, min(x, x) gives the same bits."""
    out = np.zeros(n_rows(X))
    for columns in columns_of(X):
        part = np.zeros(len(out))
        for column in columns:
            part += column
        out += part
    return out


@dataclass(frozen=True)
class AdditiveChiSquared(HistogramKernel):
    """k(x, y) = Σᵢ 2xᵢyᵢ/(xᵢ + yᵢ) of rows without negative numbers, 0 where both are 0.

    scikit-learn's ``additive_chi2_kernel`` is −Σ(x − y)²/(x + y) = 2k(x, y) − Σx − Σy, which is no Mercer kernel. Once
    the means are removed it is 2k: the same components, and eigenvalues that are twice as large.
    """

    # 2xy/(x + y) = 2∫ (x e^−tx)(y e^−ty) dt over t > 0: an integral of products, so positive semi-definite.

    def term(self, x: Array, y: Array, half: Array, out: Array, spare: Array) -> None:
        """By way of x/(x/2 + y/2) ≤ 2: no square of a huge or tiny number."""
        np.add(0.5 * x, half, out=out)
        np.divide(x, out, out=out)
        np.multiply(out, y, out=out)

    def steepness(self, Z: Held, X: Held) -> _ColumnSlopes:
        """2(x/(z + x))²."""
        return np.full((n_rows(Z), n_rows(X)), 2.0), lambda z, x: _share_of_both(z, x) ** 2, None

    def diag(self, X: Held) -> Array:
        refuse_negative(X, self)
        return _row_sums(X)

    def diag_pull(self, Z: Held) -> Array:
        return np.ones(Z.shape)


@dataclass(frozen=True)
class HistogramIntersection(HistogramKernel):
    """k(x, y) = Σᵢ min(xᵢ, yᵢ) of rows without negative numbers: what two histograms have in common."""

    common: ClassVar[bool] = True
    term_cost: ClassVar[float] = 1.0

    # min(x, y) is the length that [0, x] and [0, y] share: a scalar product of two indicators.

    def term(self, x: Array, y: Array, half: Array, out: Array, spare: Array) -> None:
        np.minimum(x, y, out=out)

    def steepness(self, Z: Held, X: Held) -> _ColumnSlopes:
        return np.ones((n_rows(Z), n_rows(X))), _below, None

    def diag(self, X: Held) -> Array:
        refuse_negative(X, self)
        return _row_sums(X)

    def diag_pull(self, Z: Held) -> Array:
        return np.ones(Z.shape)


@dataclass(frozen=True)
class MinMax(HistogramKernel):
    """k(x, y) = Σᵢ min(xᵢ, yᵢ)/Σᵢ max(xᵢ, yᵢ) of rows without negative numbers, 1 if both rows are zero.

    Ruzicka's similarity; of rows of 0 and 1 it is Jaccard's, and that of Tanimoto.
    """

    top: ClassVar[float] = 1.0
    common: ClassVar[bool] = True
    term_cost: ClassVar[float] = 1.0

    # m/(s − m) = Σ (m/s)ⁿ over n ≥ 1 with s = Σx + Σy ≥ 2m: powers of m = Σmin and of 1/s = ∫ e^−tΣx e^−tΣy dt.

    def term(self, x: Array, y: Array, half: Array, out: Array, spare: Array) -> None:
        np.minimum(x, y, out=out)

    def shape(self, sums: Array, x: Array, y: Array, shift: float) -> None:
        """By Σmax = Σx + Σy − Σmin, of which at least a third is left."""
        share_of_either(sums, x, y, shift)

    def own(self, X: Held) -> Array:
        return _row_sums(X)

    def steepness(self, Z: Held, X: Held) -> _ColumnSlopes:
        """(s·m' − m)/(s − m)² with m = Σmin, m' its slope and s = Σz + Σx; 0 where both are zero, and k jumps."""
        common, sums = self.sums(Z, X), _row_sums(Z)[:, None] + _row_sums(X)
        either = sums - common
        inverse = np.divide(1.0, either, out=np.zeros_like(either), where=either > 0)
        return sums * inverse * inverse, _below, -common * inverse * inverse

    def roundings(self, X: Held) -> float:
        """Of Σmin once, and of Σmax three times: Σx + Σy + Σmin ≤ 3Σmax."""
        return 4 * _column_chain(X) + ROUNDINGS

    def diag(self, X: Held) -> Array:
        return np.ones(n_rows(X))

    def diag_pull(self, Z: Held) -> Array:
        return np.zeros(Z.shape)


@dataclass(frozen=True)
class ChiSquared(ByGamma, HistogramKernel):
    """k(x, y) = exp(−γ Σᵢ(xᵢ − yᵢ)²/(xᵢ + yᵢ)) of rows without negative numbers, as scikit-learn's ``chi2_kernel``.

    A column where both are 0 adds nothing. γ = None is 1; "median" is one over the median of these sums in the data.
    """

    gamma: float | str | None = None
    usual_gamma = 1.0
    by_distance = True
    top: ClassVar[float] = 1.0
    exact_shift: ClassVar[bool] = True  # by expm1
    shared: ClassVar[bool] = False

    # The sum is Σx + Σy − 2k of the additive kernel, conditionally negative definite: Schoenberg's theorem.

    def term(self, x: Array, y: Array, half: Array, out: Array, spare: Array) -> None:
        """Twice that of the formula, by way of (x − y)/(x/2 + y/2) ≤ 2."""
        np.subtract(x, y, out=spare)
        np.add(0.5 * x, half, out=out)
        np.divide(spare, out, out=out)
        np.multiply(out, spare, out=out)

    def shape(self, sums: Array, x: Array, y: Array, shift: float) -> None:
        sums *= -0.5 * self.known_gamma
        if shift == 1.0:
            np.expm1(sums, out=sums)
        else:
            super().shape(np.exp(sums, out=sums), x, y, shift)

    def steepness(self, Z: Held, X: Held) -> _ColumnSlopes:
        """−γk·(1 − 4(x/(z + x))²), as (z − x)(z + 3x)/(z + x)² is."""
        weights = -self.known_gamma * self.block(Z, X)
        return -4 * weights, lambda z, x: _share_of_both(z, x) ** 2, weights

    def diag_pull(self, Z: Held) -> Array:
        return np.zeros(Z.shape)

    def distances(self, rows: Array) -> Array:
        refuse_negative(rows, self)
        return np.asarray(0.5 * self.sums(rows, rows)[np.triu_indices(len(rows), 1)])

    def diag(self, X: Held) -> Array:
        return np.ones(n_rows(X))

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """The exponent x is off by γ of itself, and xe^−x ≤ 0.37; so is k − 1, as xe^−x ≤ 1 − e^−x.

        1 − k is at most x ≤ γ(Σx + Σy), and ‖·‖ over all pairs at most 2W·rms(γΣx); a sum over a row, where K is held.
        """
        total = summed(np.ones(n_rows(X)), weights)
        if shift != self.top:
            return self.entry_rounding(X, X) * total + after_shift(X, weights, shift)
        w = np.ones(n_rows(X)) if weights is None else weights
        apart = min(total, 2 * float(np.sqrt(total * (w @ (self.known_gamma * _row_sums(X)) ** 2))))
        if times is not None:
            apart = min(apart, float(np.abs(total - times(w[:, None])).max(initial=0.0)))
        return gamma(self.roundings(X) + ROUNDINGS) * apart

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        return 0.4 * gamma(self.roundings(X)) + gamma(ROUNDINGS)
