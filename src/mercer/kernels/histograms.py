"""Kernels on counts, proportions and histograms: sums over columns of what two non-negative numbers share.

Terms are never negative, so a sum of them is known to γ of itself. Minima of small integers, and scalar
products of bits and counts, are float32 products, which are exact below 2²⁴:
min(a, b) = Σₜ [a ≥ t][b ≥ t] for t = 1, 2, …
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import (
    ROUNDINGS,
    GammaMixin,
    Gradient,
    Kernel,
    PreparedKernel,
    choose_shift,
    numbers_per_entry,
    raise_nonfinite_values,
)
from mercer.kernels.distance import PreparedDistance, columnwise_gradient, exp_minus, schur_bound
from mercer.kernels.dot import (
    as_dense,
    as_float,
    inverse,
    product_chain,
    row_peaks,
    row_products,
    squared_norms,
    times_rows,
)
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import SHORT, TINY, power_of_two
from mercer.storable import storable
from mercer.text import short_repr

_EXACT = 2.0**24  # up to which integers are exact in float32
_FEW = 0.1  # density up to which rows of integers are stored as CSR arrays
_MOST_BITS = 1 << 14  # columns of counts as bits
_MOST_COUNTED = 8  # mean of non-zero counts up to which they become bits
_BLOCK_ENTRIES = 1 << 22  # that are converted at once
_CACHED = 1 << 15  # entries of a strip whose buffers stay in the cache while columns are added up
_SAMPLE = 1000  # rows that planning looks at
_SMALLEST = 2.0**-480  # largest number of a row, relative to that of all rows, whose square does not underflow

ColumnSlope = Callable[[NDArray, NDArray], NDArray]


class HistogramKernel(Kernel):
    """k(x, y) = profile(Σ term(xᵢ, yᵢ)) of non-negative rows, by default with the term min(xᵢ, yᵢ)."""

    psd = True
    non_negative = True
    is_minimum = True  # whether a term is min(xᵢ, yᵢ)
    is_shared = True  # whether a term is 0 where one of the numbers is 0
    term_cost = 1.0  # nominal nanoseconds

    def term(self, x: NDArray, y: NDArray, out: NDArray, spare: NDArray) -> None:
        """The term of one column, into `out` (m×n): x is m×1 and y has length n."""
        np.minimum(x, y, out=out)

    @abstractmethod
    def slopes(self, Z: Any, X: Any) -> tuple[NDArray, ColumnSlope, NDArray | None]:
        """(w, slope, v) with ∂k/∂zⱼ = w(z, x)·slope(zⱼ, xⱼ) + v(z, x); at 0 the slope to the right."""

    def profile(self, sums: NDArray, x: NDArray, y: NDArray, shift: float) -> None:
        """k − shift in place of sums of terms; x and y are Σxᵢ and Σyᵢ."""
        if shift:
            sums -= shift

    def profile_chain(self, chain: float) -> float:
        """Roundings of k, relative to k, if those of a sum are `chain`."""
        return chain + ROUNDINGS

    def validate(self, samples: Any, name: str = "X") -> None:
        check_nonnegative(samples, self, name)

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        check_nonnegative(Y, self)
        return PreparedHistogram(self, Y, shift)

    def sums(self, X: Any, Y: Any) -> NDArray:
        """Σ term(xᵢ, yᵢ), column by column, `SHORT` of them at a time, for dense and sparse rows alike."""
        m, n = X.shape[0], Y.shape[0]
        height = max(1, min(m, _CACHED // max(n, 1)))
        out, buffers, strips = np.zeros((m, n)), np.empty((3, height, n)), slices(m, height)
        for x, y in zip(_columns(X), _columns(Y), strict=True):
            in_x, in_y = x.any(axis=1), y.any(axis=1)
            used = np.flatnonzero(in_x & in_y if self.is_shared else in_x | in_y)
            for rows in strips:
                total, term, spare = buffers[:, : rows.stop - rows.start]
                total[...] = 0.0
                for j in used:
                    self.term(x[j, rows, None], y[j], term, spare)
                    total += term
                out[rows] += total
        return out

    def diag(self, X: Any) -> NDArray:
        """1 for similarities, else Σxᵢ."""
        check_nonnegative(X, self)
        return np.ones(X.shape[0]) if self.max_value else row_sums(X)

    def diag_gradient(self, Z: Any) -> NDArray:
        return np.zeros(Z.shape) if self.max_value else np.ones(Z.shape)

    def entry_cost(self, data: Dataset) -> float:
        ones = self._mean_bits(data)
        return 5.0 + self.term_cost * numbers_per_entry(data) if ones is None else 6.0 + 0.2 * ones

    def sample_width(self, data: Dataset) -> int:
        return super().sample_width(data) + int(self._mean_bits(data) or 0)

    def _mean_bits(self, data: Dataset) -> float | None:
        """Mean number of bits of a row, if counts become bits; for samples in memory only."""
        if not (self.is_minimum and data.in_memory):
            return None
        some = _some_rows(data.load())
        return None if CountsAsBits.of(some) is None else float(some.sum()) / max(1, some.shape[0])

    def vjp(self, Z: Any, X: Any) -> Gradient:
        check_nonnegative(Z, self)
        check_nonnegative(X, self)
        weights, slope, others = self.slopes(Z, X)
        Z, X = _by_column(Z), _by_column(X)

        def gradient(C: NDArray) -> NDArray:
            out = columnwise_gradient(C * weights, Z, X, slope)
            return out if others is None else out + (C * others).sum(axis=1)[:, None]

        return gradient


class PreparedHistogram(PreparedKernel):
    """Sums over the columns, known to γ of themselves; or exact products of bits, if all numbers are small integers."""

    kernel: HistogramKernel
    _left: Any
    _right: Any

    def __init__(self, kernel: HistogramKernel, Y: Any, shift: float | None) -> None:
        self.kernel, self.Y, self._y = kernel, Y, row_sums(Y)
        self.counts = CountsAsBits.of(Y) if kernel.is_minimum else None
        self._right = None if self.counts is None else self.counts.bits(Y)
        self._set_left(Y, self._y, self._right)
        self.shift = choose_shift(self) if shift is None else shift

    def _set_left(self, X: Any, sums: NDArray, bits: Any) -> None:
        raise_nonfinite_values(sums, self.kernel, np.arange(len(sums)), X)
        self.X, self._x, self._left, self.shape = X, sums, bits, (X.shape[0], self.Y.shape[0])

    def against(self, X: Any) -> "PreparedHistogram":
        check_nonnegative(X, self.kernel)
        other = copy(self)
        other.__dict__.pop("_left_diag", None)  # cached
        is_counted = self.counts is not None and integer_squares(X) is not None
        other._set_left(X, row_sums(X), self.counts.bits(X) if self.counts is not None and is_counted else None)
        return other

    @property
    def nbytes(self) -> int:
        return self._y.nbytes + (12 * self._right.nnz if self._right is not None else 0)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        if self._left is not None:
            row_products(self._left[rows], self._right[columns], out, np.float32)
        else:
            out[...] = self.kernel.sums(self.X[rows], self.Y[columns])
        self.kernel.profile(out, self._x[rows], self._y[columns], self.shift)

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        return self.kernel.profile_chain(_column_chain(self.Y)) if self._left is None else ROUNDINGS

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        """Schur's test, as no entry of k is negative."""
        size, total = float(weights @ self.magnitudes), float(weights.sum())
        if row_sums is not None:
            size = min(size, schur_bound(row_sums + self.shift * total))
        return self.relative_error * size + self._shift_error * total


class PreparedChiSquared(PreparedDistance):
    """exp(−γ·sums), whose exponent is known to γ of itself."""

    kernel: "ChiSquared"

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        np.multiply(self.kernel.sums(self.X[rows], self.Y[columns]), -0.5 * self.kernel.gamma_value, out=out)
        exp_minus(out, self.shift)

    def against(self, X: Any) -> PreparedKernel:
        check_nonnegative(X, self.kernel)
        return super().against(X)

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        return _column_chain(self.Y) + ROUNDINGS


# -------------------------------------------------------------------------------------- kernels


@storable
@dataclass(frozen=True)
class AdditiveChiSquared(HistogramKernel):
    """Additive χ² kernel, k(x, y) = Σ 2xᵢyᵢ/(xᵢ + yᵢ), of non-negative rows; 0/0 is 0.

    scikit-learn's ``additive_chi2_kernel`` is 2k(x, y) − Σx − Σy. Centering removes the sums, so kernel PCA
    finds the same components, with eigenvalues twice as large.
    """

    # 2xy/(x + y) = 2∫(xe^−tx)(ye^−ty)dt over t > 0: an integral of products, so positive semi-definite.
    is_minimum = False
    term_cost = 2.0

    def term(self, x: NDArray, y: NDArray, out: NDArray, spare: NDArray) -> None:
        """By x/(x/2 + y/2) ≤ 2: no square of a huge or tiny number."""
        np.add(0.5 * x, np.maximum(0.5 * y, TINY), out=out)
        np.divide(x, out, out=out)
        np.multiply(out, y, out=out)

    def slopes(self, Z: Any, X: Any) -> tuple[NDArray, ColumnSlope, NDArray | None]:
        """2(x/(z + x))²."""
        return np.full((Z.shape[0], X.shape[0]), 2.0), _squared_share, None


@storable
@dataclass(frozen=True)
class HistogramIntersection(HistogramKernel):
    """Histogram intersection kernel, k(x, y) = Σ min(xᵢ, yᵢ), of non-negative rows."""

    # min(x, y) is the length that [0, x] and [0, y] have in common: a scalar product of two indicators.

    def slopes(self, Z: Any, X: Any) -> tuple[NDArray, ColumnSlope, NDArray | None]:
        return np.ones((Z.shape[0], X.shape[0])), _slope_of_minimum, None


@storable
@dataclass(frozen=True)
class MinMax(HistogramKernel):
    """Ruzicka similarity, k(x, y) = Σ min(xᵢ, yᵢ)/Σ max(xᵢ, yᵢ), of non-negative rows; 1 for two rows of zeros.

    For rows of 0 and 1 it is the Jaccard similarity, as is `Tanimoto`.
    """

    # m/(s − m) = Σ(m/s)ⁿ over n ≥ 1 with s = Σx + Σy ≥ 2m: powers of m = Σmin and of 1/s = ∫e^−tΣx e^−tΣy dt.
    max_value = 1.0

    def profile(self, sums: NDArray, x: NDArray, y: NDArray, shift: float) -> None:
        """By Σmax = Σx + Σy − Σmin, of which at least a third is left."""
        share_of_union(sums, x, y, shift)

    def profile_chain(self, chain: float) -> float:
        """Errors of Σmin count once, those of Σmax three times, as Σx + Σy + Σmin ≤ 3Σmax."""
        return 4 * chain + ROUNDINGS

    def slopes(self, Z: Any, X: Any) -> tuple[NDArray, ColumnSlope, NDArray | None]:
        """(s·m' − m)/(s − m)² with m = Σmin, m' its slope and s = Σz + Σx; 0 where both are 0, and k jumps."""
        common, total = self.sums(Z, X), row_sums(Z)[:, None] + row_sums(X)
        per_union = inverse(total - common)
        return total * per_union * per_union, _slope_of_minimum, -common * per_union * per_union


@storable
@dataclass(frozen=True)
class ChiSquared(GammaMixin, HistogramKernel):
    """Exponential χ² kernel, k(x, y) = exp(−γΣ(xᵢ − yᵢ)²/(xᵢ + yᵢ)), of non-negative rows; 0/0 is 0.

    Parameters
    ----------
    gamma : float, "median" or None, default=None
        Factor γ. None is 1, as in scikit-learn; "median" is one over the median of these sums.
    """

    # The sum is Σx + Σy − 2k of the additive kernel, conditionally negative definite: Schoenberg's theorem.
    gamma: float | str | None = None
    max_value = 1.0
    decreasing = True
    is_minimum = False
    is_shared = False
    term_cost = 2.0

    def term(self, x: NDArray, y: NDArray, out: NDArray, spare: NDArray) -> None:
        """Twice that of the formula, by (x − y)/(x/2 + y/2) ≤ 2."""
        np.subtract(x, y, out=spare)
        np.add(0.5 * x, np.maximum(0.5 * y, TINY), out=out)
        np.divide(spare, out, out=out)
        np.multiply(out, spare, out=out)

    def default_gamma(self, n_features: int) -> float:
        return 1.0

    def distances(self, rows: NDArray) -> NDArray:
        check_nonnegative(rows, self)
        return np.asarray(0.5 * self.sums(rows, rows)[np.triu_indices(len(rows), 1)])

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        check_nonnegative(Y, self)
        return PreparedChiSquared(self, Y, Y, shift)

    def slopes(self, Z: Any, X: Any) -> tuple[NDArray, ColumnSlope, NDArray | None]:
        """−γk·(1 − 4(x/(z + x))²), as (z − x)(z + 3x)/(z + x)² is."""
        weights = -self.gamma_value * self(Z, X)
        return -4 * weights, _squared_share, weights


@storable
@dataclass(frozen=True)
class Tanimoto(Kernel):
    """Tanimoto similarity, k(x, y) = xᵀy/(‖x‖² + ‖y‖² − xᵀy); 1 for two rows of zeros.

    For rows of 0 and 1 it is the Jaccard similarity. Bits and counts are compared without rounding, and fast
    if most of them are 0.

    Parameters
    ----------
    packed : bool, default=False
        Whether rows are bytes of eight bits each, as returned by ``np.packbits(bits, axis=1)``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels.histograms import Tanimoto
    >>> bits = np.array([[1, 1, 0, 0], [0, 1, 1, 0]])
    >>> Tanimoto()(bits, bits)  # one bit in common, of three
    array([[1.        , 0.33333333],
           [0.33333333, 1.        ]])
    """

    # s/(a − s) = Σ(s/a)ⁿ over n ≥ 1, a = ‖x‖² + ‖y‖² ≥ 2|s|: powers of s = xᵀy and of 1/a = ∫e^−t‖x‖² e^−t‖y‖² dt.
    packed: bool = False
    psd = True

    def __post_init__(self) -> None:
        if not isinstance(self.packed, bool | np.bool_):
            raise ParameterError("packed", self.packed, "True or False")

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        Y = self.unpacked(Y)
        right = Fingerprints.of_integers(Y) or Fingerprints.of_numbers(Y)
        return PreparedTanimoto(self, right, right, shift or 0.0)

    def diag(self, X: Any) -> NDArray:
        return np.ones(X.shape[0])

    def vjp(self, Z: Any, X: Any) -> Gradient | None:
        """(a·x − 2s·z)/(a − s)² with s = zᵀx and a = ‖z‖² + ‖x‖²; 0 where both are 0, and k jumps."""
        if self.packed:
            return None
        right = Fingerprints.of_numbers(X)
        unit, left = right.unit, Fingerprints.of_numbers(Z, right.unit)
        common, total = row_products(left.rows, right.rows), left.squares[:, None] + right.squares
        square = inverse(total - common) ** 2
        of_x, of_z, z = total * square, 2.0 * common * square, as_dense(left.rows)
        return lambda C: unit * (times_rows(C * of_x, right.rows) - z * (C * of_z).sum(axis=1)[:, None])

    def diag_gradient(self, Z: Any) -> NDArray:
        return super().diag_gradient(Z) if self.packed else np.zeros(Z.shape)

    def entry_cost(self, data: Dataset) -> float:
        some = self._some_integers(data)
        if some is None:
            return 6.0 + 0.06 * numbers_per_entry(data)
        return 6.0 + min(0.2 * _stored(some) / max(1, some.shape[0]), 0.03 * some.shape[1])

    def sample_width(self, data: Dataset) -> int:
        """Bits and counts are never stored as numbers of 8 bytes all at once."""
        if data.is_sparse or self._some_integers(data) is None:
            return super().sample_width(data)
        width, size = data.shape[1], data.dtype.itemsize
        return width // 3 + 4 if self.packed else -(-width * size // 8) + 4

    def _some_integers(self, data: Dataset) -> Any:
        """Some rows of small integers, if the samples are in memory and are such rows."""
        some = self.unpacked(_some_rows(data.load())) if data.in_memory else None
        return None if some is None or integer_squares(some) is None else some

    def unpacked(self, X: Any) -> Any:
        """Rows of bits, if these are packed."""
        if not self.packed or sparse.issparse(X):
            return X
        if X.dtype != np.uint8:
            if X.size and not (X.min() >= 0 and X.max() <= 255 and np.array_equal(X, np.rint(X))):
                raise DataError(
                    "Tanimoto(packed=True) compares bytes, integers from 0 to 255 as returned by np.packbits; X has "
                    f"numbers from {X.min():.6g} to {X.max():.6g}."
                )
            X = X.astype(np.uint8)
        return np.unpackbits(X, axis=1)


@dataclass(frozen=True)
class Fingerprints:
    """Rows times a power of two, which changes no similarity, and their squared lengths."""

    rows: Any
    squares: NDArray
    unit: float
    is_exact: bool  # whether the rows are small integers, whose products are exact in float32

    @classmethod
    def of_integers(cls, X: Any) -> "Fingerprints | None":
        """None if not all numbers are small integers."""
        squares = integer_squares(X)
        return None if squares is None else cls(_compact(X), squares, 1.0, True)

    @classmethod
    def of_numbers(cls, X: Any, unit: float | None = None) -> "Fingerprints":
        """By default, the largest number is at most 1 in the unit."""
        X = as_float(X)
        peaks = row_peaks(X)
        unit = float(1 / power_of_two(peaks.max(initial=0.0))) if unit is None else unit
        sizes = peaks[peaks > 0] * unit
        if len(sizes) and not (sizes.min() > _SMALLEST and sizes.max() < 1 / _SMALLEST):
            raise DataError(
                f"Tanimoto adds squared lengths, and the largest numbers of the rows range from {sizes.min():.2g} to "
                f"{sizes.max():.2g} in units of the largest. Leave out the smallest rows, or use MinMax or Cosine."
            )
        X = X * unit
        return cls(X, squared_norms(X), unit, False)


class PreparedTanimoto(PreparedKernel):
    """One matrix product for each tile: exact for small integers, float64 for other rows."""

    kernel: Tanimoto

    def __init__(self, kernel: Tanimoto, left: Fingerprints, right: Fingerprints, shift: float) -> None:
        super().__init__(kernel, left.rows, right.rows, shift)
        self.left, self.right = left, right

    @property
    def nbytes(self) -> int:
        return int(self.Y.nnz * 8 if sparse.issparse(self.Y) else self.Y.nbytes)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        row_products(self.X[rows], self.Y[columns], out, np.float32 if self.right.is_exact else np.float64)
        share_of_union(out, self.left.squares[rows], self.right.squares[columns], self.shift)

    def against(self, X: Any) -> "PreparedTanimoto":
        X, right = self.kernel.unpacked(X), self.right
        left = Fingerprints.of_integers(X) if right.is_exact else None
        if left is None:
            right = Fingerprints.of_numbers(right.rows) if right.is_exact else right
            left = Fingerprints.of_numbers(X, right.unit)
        return PreparedTanimoto(self.kernel, left, right, self.shift)

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        """Of xᵀy once, as |xᵀy| ≤ a/2 and a − xᵀy ≥ a/2; of a − xᵀy three times, as a + |xᵀy| ≤ 3(a − xᵀy)."""
        return ROUNDINGS if self.right.is_exact else 4 * max(product_chain(self.X), product_chain(self.Y)) + ROUNDINGS


# -------------------------------------------------------------------------------------- rows


def check_nonnegative(X: Any, kernel: Kernel, name: str = "X") -> None:
    """Raise for rows with a negative number, with its location."""
    values = X.data if sparse.issparse(X) else X
    if not values.size or values.min() >= 0:
        return
    rows, columns = np.nonzero(X < 0)
    row, column = int(rows[0]), int(columns[0])
    value = float(X[row, column])
    raise DataError(
        f"{name} has {len(rows):,} negative numbers, the first {value:.6g} in row {row}, column {column}. "
        f"{short_repr(kernel)} compares non-negative numbers such as counts; for other numbers, use RBF or Laplacian.",
        source=name,
        row=row,
        column=str(column),
        value=value,
    )


def share_of_union(common: NDArray, x: NDArray, y: NDArray, shift: float) -> None:
    """common/(x + y − common) − shift in place, 1 where x and y are 0."""
    union = x[:, None] + y
    union -= common
    if not (x.all() or y.all()):
        empty = union == 0.0
        union[empty] = common[empty] = 1.0
    np.divide(common, union, out=common)
    if shift:
        common -= shift


def row_sums(X: Any) -> NDArray:
    """Σxᵢ of every row, added up in the order of `HistogramKernel.sums`: min(x, x) gives the same bits."""
    out = np.zeros(X.shape[0])
    for columns in _columns(X):
        part = np.zeros(len(out))
        for column in columns:
            part += column
        out += part
    return out


def _columns(X: Any) -> Iterator[NDArray]:
    """`SHORT` columns at a time, each as a row of a dense array."""
    X = _by_column(X)
    for some in slices(X.shape[1], SHORT):
        yield np.ascontiguousarray(as_dense(X[:, some]).T)


def _by_column(X: Any) -> Any:
    return sparse.csc_array(X) if sparse.issparse(X) else X


def _column_chain(X: Any) -> int:
    """The most additions behind a sum over the columns."""
    return min(X.shape[1], SHORT) + -(-X.shape[1] // SHORT)


def _slope_of_minimum(z: NDArray, x: NDArray) -> NDArray:
    """1 below x, 0 above, and one half at it; at 0 that to the right."""
    return np.where(z < x, 1.0, np.where((z == x) & (x > 0), 0.5, 0.0))


def _squared_share(z: NDArray, x: NDArray) -> NDArray:
    """(x/(z + x))², 0 where both are 0, by halves, whose sum does not overflow."""
    half = 0.5 * x
    return np.asarray(half / np.maximum(0.5 * z + half, TINY)) ** 2


# -------------------------------------------------------------------------------------- small integers


def integer_squares(X: Any) -> NDArray | None:
    """‖x‖² of every row, if all numbers are integers and small enough for exact products; else None."""
    pieces = slices(X.shape[0], max(1, _BLOCK_ENTRIES // max(1, X.shape[1])))
    parts = [np.zeros(0)]
    for some in [X] if sparse.issparse(X) else [X[piece] for piece in pieces]:
        values = some.data if sparse.issparse(X) else some
        if values.dtype.kind not in "biu" and not np.array_equal(values, np.rint(values)):
            return None
        parts.append(squared_norms(some))
        if not parts[-1].max(initial=0.0) <= _EXACT:
            return None
    return np.concatenate(parts)


def _some_rows(X: Any) -> Any:
    """At most twice `_SAMPLE` rows, for planning."""
    return X[:: max(1, X.shape[0] // _SAMPLE)]


def _stored(X: Any) -> int:
    """Numbers that are not 0."""
    return int(X.nnz if sparse.issparse(X) else np.count_nonzero(X))


def _compact(X: Any) -> Any:
    """The same rows for exact products: a float32 CSR array if few numbers are not 0, else as they are."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.sum_duplicates()
        return X.astype(np.float32)
    some = _some_rows(X)
    if not len(X) or _stored(some) > _FEW * some.size:
        return X
    pieces = slices(len(X), max(1, _BLOCK_ENTRIES // max(1, X.shape[1])))
    return sparse.vstack([sparse.csr_array(np.asarray(X[p], dtype=np.float32)) for p in pieces], format="csr")


class CountsAsBits:
    """Rows of bits with as many in common as Σmin: column j becomes `most[j]` columns [x ≥ 1], [x ≥ 2], …

    `most` are the largest numbers of the training samples; what is larger in other rows has no effect.
    """

    def __init__(self, most: NDArray) -> None:
        self.most = most
        self.n_columns = max(int(most.sum()), 1)

    @classmethod
    def of(cls, X: Any) -> "CountsAsBits | None":
        """None if numbers are not integers, or would become too many bits."""
        total = float(X.sum(dtype=np.float64))
        if not X.shape[0] or total > _MOST_COUNTED * max(_stored(X), X.shape[0]) or integer_squares(X) is None:
            return None
        most = X.max(axis=0).toarray().ravel() if sparse.issparse(X) else X.max(axis=0)
        return cls(most.astype(np.int64)) if most.sum() <= _MOST_BITS else None

    def bits(self, X: Any) -> Any:
        """The rows of bits, as a float32 CSR array."""
        X = sparse.csr_array(X, copy=sparse.issparse(X))
        X.sum_duplicates()
        counts = np.minimum(X.data.astype(np.int64), self.most[X.indices])
        first = (np.cumsum(self.most) - self.most)[X.indices]
        ends = np.concatenate([[0], np.cumsum(counts)])
        columns = np.repeat(first - ends[:-1], counts) + np.arange(ends[-1])
        ones = np.ones(len(columns), dtype=np.float32)
        return sparse.csr_array((ones, columns.astype(np.int32), ends[X.indptr]), (X.shape[0], self.n_columns))
