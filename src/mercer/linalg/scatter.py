"""Scatter of rows around their mean, summed up in one pass with error bounds.

Rows are moved near their mean before anything is squared, so a large mean costs no digits: strips of rows
share an origin, the mean of the first of them (or zero, if that is near), and the distance of their mean from
it is corrected when their block ends. Blocks, batches and partitions are merged by Chan's rule: two groups of
weights W₁ and W₂ whose means differ by Δ scatter like the two of them and one more row, √(W₁W₂/(W₁ + W₂))·Δ.
The mean is kept in two parts, so differences Δ are as exact as the rows are.

Error bounds are vectors e with |δSᵢⱼ| ≤ √(eᵢeⱼ), so that ‖δS‖ ≤ Σe, and bounds add up (Cauchy–Schwarz).
Products of rows are bounded to first order. The error of a mean counts to second order where the rows are
centered on it: their sum is zero.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset, prefetch
from mercer.data.validation import count_repeated
from mercer.errors import DataError
from mercer.numerics.blocking import (
    LANES,
    NARROW,
    SPARSE_ENTRIES,
    block_rows,
    lane_rows,
    pass_rows,
    short_rows,
    slices,
    sparse_rows,
)
from mercer.numerics.products import (
    add_upper_product,
    column_squares,
    column_sums,
    is_small_integer,
    matmul,
    mirror_upper,
    row_slice,
    transposed,
)
from mercer.numerics.rounding import SHORT, TINY, UNIT, CompensatedSum, chain, gamma, outer_error_bound, two_sum
from mercer.numerics.threads import parallel, threads_for
from mercer.storable import storable

ENTRY = 8  # roundings of an entry: x − origin, √w, their product, twice, and what is done with the sum
_STRIPS = 16  # strips, or products of sparse rows, that are added up before the remainders of sums are kept
_RANGE = 1e-150, 1e150  # sums of squares whose digits are complete
_EXACT_SQUARES, _EXACT_SUMS = 2**24, 2**26  # top²·rows of float32 products, top·rows of a block that are exact
_DENSE_COST, _SPARSE_COST = 0.02, 1.35  # nanoseconds for a multiplication in YᵀY of dense and of sparse rows
_VECTORS = ("mean_high", "mean_low", "entry_error", "diagonal_error", "mean_error")
_COUNTS = ("n_samples", "n_repeated", "total_weight", "weight_low", "weight_error")


class Scatter(ABC):
    """Number, total weight and mean of rows, and what a subclass keeps of S = Σw(x − mean)(x − mean)ᵀ."""

    def __init__(self, n_features: int) -> None:
        vectors = np.zeros((5, n_features))
        self.mean_high, self.mean_low, self.entry_error, self.diagonal_error, self.mean_error = vectors
        self.n_samples = self.n_repeated = 0
        self.total_weight = self.weight_low = self.weight_error = 0.0

    @property
    def n_features(self) -> int:
        return len(self.mean_high)

    @property
    def mean(self) -> NDArray:
        """The mean, rounded once."""
        self.finalize()
        return self.mean_high + self.mean_low

    def centered(self, rows: NDArray, columns: slice = slice(None)) -> NDArray:
        """x − mean in two steps, as a large mean would be rounded."""
        self.finalize()
        moved = np.subtract(rows, self.mean_high[columns], dtype=np.float64)
        moved -= self.mean_low[columns]
        return moved

    # ------------------------------------------------------------------ adding rows

    def add(self, rows: Any, weights: NDArray | None = None, n_threads: int = 1) -> None:
        """Add rows; those of weight zero do not count."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        if not rows.shape[0]:
            return
        self.n_samples += rows.shape[0]
        self.n_repeated += count_repeated(weights, rows.shape[0])
        if sparse.issparse(rows):
            self._add_sparse(_canonical(rows), weights, n_threads)
            return
        for piece in slices(len(rows), pass_rows(self.n_features)):
            self._add_dense(rows[piece], None if weights is None else weights[piece], n_threads)

    def merge(self, other: Self) -> None:
        """Add all rows of another scatter of the same class."""
        self.finalize()
        other.finalize()
        if not other.total_weight:
            return
        parts = other.total_weight, other.mean_high, other.mean_low, other.mean_error, other.weight_error
        row, row_error = self._merge_means(*parts)
        self.n_samples += other.n_samples
        self.n_repeated += other.n_repeated
        self.entry_error = self.entry_error + other.entry_error
        self.diagonal_error = self.diagonal_error + other.diagonal_error
        self._merge_sums(other, row, row_error)

    def _merge_means(
        self, weight: float, high: NDArray, low: NDArray, error: NDArray, weight_error: float
    ) -> tuple[NDArray, NDArray]:
        """Add a group with mean high + low to weight and mean. Returns Chan's row, and its error."""
        if not self.total_weight:
            self.mean_high, self.mean_low = two_sum(high, low)
            self.total_weight, self.mean_error, self.weight_error = weight, error, weight_error
            return np.zeros(self.n_features), np.zeros(self.n_features)
        total, low_weight = two_sum(self.total_weight, weight)
        share = weight / total
        difference = ((high - self.mean_high) + low) - self.mean_low
        factor = np.sqrt(self.total_weight) * np.sqrt(share)
        row = factor * difference
        length = np.abs(difference) + np.abs(low) + np.abs(self.mean_low)
        unsure = self.weight_error + weight_error
        row_error = factor * (self.mean_error + error + 4 * UNIT * length) + (unsure + 6 * UNIT) * np.abs(row)
        self._add_square_error(np.abs(row), row_error)
        step = share * difference
        self.mean_error = (1 - share) * self.mean_error + share * error + (unsure + 8 * UNIT) * np.abs(step)
        self.mean_error += 4 * UNIT * (np.abs(low) + np.abs(self.mean_low))
        self.weight_error = (1 - share) * self.weight_error + share * weight_error + UNIT**2
        self.mean_high, self.mean_low = two_sum(self.mean_high, self.mean_low + step)
        self.total_weight, self.weight_low = two_sum(total, self.weight_low + low_weight)
        return row, row_error

    def _add_square_error(self, row: NDArray, error: NDArray) -> None:
        """The error of row·rowᵀ, for a row of these moduli that is known to `error`."""
        rest = error**2 + gamma(ENTRY) * row**2
        self.entry_error = self.entry_error + outer_error_bound(row, error) + rest
        self.diagonal_error = self.diagonal_error + 2 * row * error + rest

    def forget(self, factor: float) -> None:
        """Multiply the weights of all rows so far."""
        self.finalize()
        self.total_weight *= factor
        self.weight_low *= factor
        self.weight_error += UNIT
        rounding = 2 * UNIT * self.squares
        self.entry_error = factor * self.entry_error + rounding
        self.diagonal_error = factor * self.diagonal_error + rounding
        self._scale(factor)

    def rescale(self, factor: float) -> None:
        """Multiply the rows by a power of two."""
        self.finalize()
        self.mean_high, self.mean_low, self.mean_error = (
            factor * part for part in (self.mean_high, self.mean_low, self.mean_error)
        )
        self.entry_error = factor * (factor * self.entry_error)
        self.diagonal_error = factor * (factor * self.diagonal_error)
        self._change_unit(factor)

    def finalize(self) -> None:  # noqa: B027
        """End the open block. Everything that reads sums calls this."""

    # ------------------------------------------------------------------ what is known

    @property
    def is_finite(self) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.mean).all() and np.isfinite(self.squares).all())

    def in_range(self, each_column: bool = False) -> bool:
        """Whether squares neither over- nor underflowed: in total, or in each column."""
        squares = self.squares if each_column else np.sum(self.squares)
        return self.is_finite and not np.any((squares < _RANGE[0]) | (squares > _RANGE[1]))

    @property
    def is_constant(self) -> NDArray:
        """Columns that vary by no more than rounding."""
        squares = self.squares
        return squares <= self.diagonal_error + self.total_weight * self.mean_error**2

    @property
    def standard_deviations(self) -> NDArray:
        """Standard deviations of the columns; 1 for constant columns."""
        squares = self.squares
        degrees = self.total_weight - 1 if self.total_weight > 1 else self.total_weight
        return np.where(self.is_constant, 1.0, np.sqrt(squares / degrees))

    def total(self, scale: NDArray | None) -> float:
        """Trace of the scaled S."""
        return float(np.sum(self.squares if scale is None else self.squares / scale**2))

    def scale_error(self, scale: NDArray | None) -> NDArray:
        """Relative errors of the standard deviations that the columns are divided by."""
        if scale is None:
            return np.zeros(self.n_features)
        return np.where(self.is_constant, 0.0, deviation_errors(self.squares, self.diagonal_error) + 4 * UNIT)

    def scaling_error(self, scale: NDArray | None) -> float:
        """Bound on what dividing the columns adds to the error of an eigenvalue."""
        if scale is None:
            return 0.0
        deviations = np.sqrt(self.squares) / scale
        return float(outer_error_bound(self.scale_error(scale) * deviations, deviations).sum())

    def eigenvalue_error(self, scale: NDArray | None) -> float:
        """Bound on the error of every eigenvalue of the scaled S (Weyl), and of every entry of a `matrix`."""
        total = self.total(scale)
        errors = self.entry_error if scale is None else self.entry_error / scale**2
        return float(errors.sum()) + self.scaling_error(scale) + 4 * UNIT * total

    # ------------------------------------------------------------------ model files

    def get_state(self) -> dict[str, Any]:
        """Everything that a copy needs to continue with the same bits."""
        self.finalize()
        return {name: getattr(self, name) for name in (*_VECTORS, *_COUNTS)} | self._get_sums()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        scatter = cls._empty(state)
        for name in (*_VECTORS, *_COUNTS):
            setattr(scatter, name, state[name])
        scatter._set_sums(state)
        return scatter

    @classmethod
    def _empty(cls, state: dict[str, Any]) -> Self:
        return cls(len(state["mean_high"]))

    # ------------------------------------------------------------------ a subclass writes

    @property
    @abstractmethod
    def squares(self) -> NDArray:
        """The diagonal of S."""

    @abstractmethod
    def _add_dense(self, rows: NDArray, weights: NDArray | None, n_threads: int) -> None: ...

    @abstractmethod
    def _add_sparse(self, X: Any, weights: NDArray | None, n_threads: int) -> None: ...

    @abstractmethod
    def _merge_sums(self, other: Self, row: NDArray, error: NDArray) -> None:
        """Add the sums of another scatter, and row·rowᵀ."""

    @abstractmethod
    def _scale(self, factor: float) -> None:
        """Multiply S."""

    def _change_unit(self, factor: float) -> None:
        """Multiply S by the square of a power of two, which may overflow itself."""
        self._scale(factor)
        self._scale(factor)

    @abstractmethod
    def _get_sums(self) -> dict[str, Any]: ...

    @abstractmethod
    def _set_sums(self, state: dict[str, Any]) -> None: ...


# ---------------------------------------------------------------------- sums of products


class _Block:
    """Strips around a common origin: Σyyᵀ and Σ√w·y of y = √w(x − origin), in lanes of their own."""

    def __init__(
        self, origin: NDArray, shape: tuple[int, ...], n_lanes: int, is_exact: bool, is_weighted: bool
    ) -> None:
        self.origin, self.is_exact, self.is_weighted = origin, is_exact, is_weighted
        self.dtype = np.float32 if is_exact else np.float64
        self.products = [_padded(shape, np.float64) for _ in range(n_lanes)]
        self.sums = [np.zeros(len(origin)) for _ in range(n_lanes)]
        self.weight, self.n_strips, self.longest = 0.0, 0, 0  # n_strips: of the lane that has most
        self.top = 0  # largest modulus of integers


def deviation_errors(squares: NDArray, errors: NDArray) -> NDArray:
    """Relative errors of √squares: at most 1 − √(1 − e) for the relative error e of the squares."""
    relative = np.minimum(errors / np.maximum(squares, TINY), 1.0)
    return relative / (1 + np.sqrt(1 - relative))


def _padded(shape: tuple[int, ...], dtype: Any) -> NDArray:
    """Zeros whose rows do not lie kilobytes apart: numpy mirrors YᵀY, which would miss the cache."""
    width = shape[-1] + 8 if len(shape) == 2 and shape[-1] > 128 and shape[-1] % 128 == 0 else shape[-1]
    return np.zeros((*shape[:-1], width), dtype)[..., : shape[-1]]


class _Integers(NamedTuple):
    """Small integers around their middle: rows whose products are exact in float32, and their largest modulus."""

    middle: int
    top: int

    @property
    def n_rows(self) -> int:
        return int(_EXACT_SQUARES // max(1, self.top) ** 2)

    @classmethod
    def of(cls, rows: NDArray, middle: int | None = None) -> "_Integers | None":
        low, high = int(rows.min()), int(rows.max())
        middle = (low + high + 1) // 2 if middle is None else middle
        found = cls(middle, max(high - middle, middle - low))
        return found if found.n_rows >= SHORT and found.top * len(rows) <= _EXACT_SUMS else None


class _SummedScatter(Scatter):
    """What `ScatterDiagonal` and `ScatterMatrix` share: a compensated sum, and the open block in front of it."""

    n_lanes = LANES

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._sum = CompensatedSum(self._shape)
        self._block: _Block | None = None

    @property
    @abstractmethod
    def _shape(self) -> tuple[int, ...]: ...

    @abstractmethod
    def _product(self, Y: NDArray, out: NDArray) -> NDArray:
        """The part of YᵀY that is kept."""

    @abstractmethod
    def _outer(self, row: NDArray) -> NDArray:
        """The same of row·rowᵀ."""

    @abstractmethod
    def _diagonal(self, products: NDArray) -> NDArray: ...

    def _add_dense(self, rows: NDArray, weights: NDArray | None, n_threads: int) -> None:
        """Add strips to the open block, in lanes that do not depend on the number of threads."""
        block, integers = self._open_block(rows, weights)
        n_rows = lane_rows(self.n_features) if integers is None else min(integers.n_rows, lane_rows(self.n_features))
        strips = slices(len(rows), n_rows)
        n_threads = threads_for(len(rows) * max(block.products[0].size, 8 * self.n_features), n_threads)
        self._add_strips(block, rows, None if weights is None else np.sqrt(weights), strips, n_threads)
        block.weight += float(len(rows) if weights is None else weights.sum())
        block.n_strips += -(-len(strips) // self.n_lanes)
        block.longest = max(block.longest, strips[0].stop)
        block.top = max(block.top, 0 if integers is None else integers.top)

    def _open_block(self, rows: NDArray, weights: NDArray | None) -> tuple[_Block, _Integers | None]:
        """The open block if these rows belong to it, else a new one around the mean of their first strip."""
        block, integers = self._block, None
        if weights is None and is_small_integer(rows.dtype):
            old = None if block is None or not block.is_exact else int(block.origin[0])
            integers = _Integers.of(rows, old) or _Integers.of(rows)
        kind = integers is not None, weights is not None
        if block is not None:
            full = block.n_strips >= _STRIPS
            if integers is not None:
                top = max(block.top, integers.top)
                full = top * (block.weight + len(rows)) > _EXACT_SUMS or integers.middle != block.origin[0]
            if full or (block.is_exact, block.is_weighted) != kind:
                self.finalize()
        if self._block is None:
            if integers is not None:
                origin = np.full(self.n_features, float(integers.middle))
            else:
                first = rows[: lane_rows(self.n_features)]
                origin = _origin(first[:: max(1, len(first) // SHORT)])
            self._block = _Block(origin, self._shape, self.n_lanes, *kind)
        return self._block, integers

    def _add_strips(
        self, block: _Block, rows: NDArray, roots: NDArray | None, strips: list[slice], n_threads: int
    ) -> None:
        def add_to_lane(i: int) -> None:
            scratch = np.empty((strips[0].stop, self.n_features), block.dtype)
            part = _padded(self._shape, block.dtype)
            for strip in strips[i :: self.n_lanes]:
                Y = _moved(rows[strip], None if roots is None else roots[strip], block.origin, scratch)
                block.products[i] += self._product(Y, part)
                block.sums[i] += column_sums(Y, None if roots is None else roots[strip], short_rows(self.n_features))

        parallel(add_to_lane, range(min(self.n_lanes, len(strips))), n_threads)

    def finalize(self) -> None:
        """Correct the sums of the open block by what its origin is off the mean, and add them to those before."""
        block, self._block = self._block, None
        if block is None:
            return
        products, sums = block.products[0], np.sum(block.sums, axis=0)
        for lane in block.products[1:]:
            products += lane
        offset = sums / block.weight
        if block.is_exact:  # W·Σyyᵀ − ΣyΣyᵀ is an integer below 2⁵³
            products *= block.weight
            products -= self._outer(sums)
            products /= block.weight
            error, weight_error, mean_error = 2 * UNIT * self._diagonal(products), 0.0, UNIT * np.abs(offset)
            self.entry_error = self.entry_error + error
            self.diagonal_error = self.diagonal_error + error
        else:
            row = np.sqrt(block.weight) * offset
            squares = self._diagonal(products)
            n_roundings = chain(block.longest, short_rows(self.n_features)) + block.n_strips + self.n_lanes
            unsure = gamma(n_roundings + ENTRY)
            weight_error = gamma(64 + block.n_strips) if block.is_weighted else 0.0
            row_error = unsure * np.sqrt(squares) + (weight_error + gamma(ENTRY)) * np.abs(row)
            self.entry_error = self.entry_error + unsure * squares
            self.diagonal_error = self.diagonal_error + unsure * squares
            self._add_square_error(np.abs(row), row_error)
            mean_error = row_error / np.sqrt(block.weight)
            products -= self._outer(row)
        row, _ = self._merge_means(block.weight, block.origin, offset, mean_error, weight_error)
        if row.any():
            products += self._outer(row)
        self._sum.add(products)

    def _merge_sums(self, other: Self, row: NDArray, error: NDArray) -> None:
        self._sum.add_sum(other._sum)
        if row.any():
            self._sum.add(self._outer(row))

    def _scale(self, factor: float) -> None:
        self._sum.scale(factor)

    def _get_sums(self) -> dict[str, Any]:
        return {"sum_high": self._sum.high, "sum_low": self._sum.low}

    def _set_sums(self, state: dict[str, Any]) -> None:
        self._sum.high, self._sum.low = state["sum_high"], state["sum_low"]


def _origin(rows: NDArray) -> NDArray:
    """The mean of some rows; zero, which costs nothing to subtract, if no column is further from it than it varies."""
    mean = rows.mean(axis=0, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        is_near_zero = np.all(mean**2 <= rows.var(axis=0, dtype=np.float64))
    return np.zeros_like(mean) if is_near_zero else mean


def _moved(rows: NDArray, roots: NDArray | None, origin: NDArray, scratch: NDArray) -> NDArray:
    """√w(x − origin), in the dtype of the scratch memory."""
    Y = scratch[: len(rows)]
    if rows.dtype == Y.dtype:
        np.subtract(rows, origin, out=Y)
    else:
        np.copyto(Y, rows)
        if origin.any():
            Y -= origin.astype(Y.dtype, copy=False)
    if roots is not None:
        Y *= roots[:, None]
    return Y


@storable
class ScatterDiagonal(_SummedScatter):
    """The diagonal of S: means and variances of the columns."""

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.n_features,)

    @property
    def squares(self) -> NDArray:
        self.finalize()
        return np.maximum(self._sum.value(), 0.0)

    def _product(self, Y: NDArray, out: NDArray) -> NDArray:
        return column_squares(Y, short_rows(self.n_features))

    def _outer(self, row: NDArray) -> NDArray:
        return row * row

    def _diagonal(self, products: NDArray) -> NDArray:
        return products

    def _add_sparse(self, X: Any, weights: NDArray | None, n_threads: int) -> None:
        self.finalize()
        for piece in slices(X.shape[0], sparse_rows(self.n_features, X.nnz / max(1, X.shape[0] * X.shape[1]))):
            self._add_sparse_piece(row_slice(X, piece), None if weights is None else weights[piece])

    def _add_sparse_piece(self, X: Any, weights: NDArray | None) -> None:
        """Entries are moved to the mean of their column; zeros are counted."""
        counts = np.ones(X.shape[0]) if weights is None else weights
        total = float(X.shape[0] if weights is None else weights.sum())
        total_error = 0.0 if weights is None else gamma(64)
        entries, columns = np.bincount(X.indices, minlength=self.n_features), transposed(X)

        def sums(values: NDArray) -> NDArray:
            columns.data = values
            return np.asarray(columns @ counts)

        terms = gamma(int(entries.max(initial=0)) + ENTRY)
        has_zeros = entries < X.shape[0]
        zeros = has_zeros * (total - (entries if weights is None else sums(np.ones(X.nnz))))
        mean = sums(X.data) / total
        moved = X.data - mean[X.indices]
        left = (sums(moved) - zeros * mean) / total
        around = sums(moved * moved) + np.maximum(zeros, 0.0) * mean**2
        size, offset = np.sqrt(total) * np.abs(mean), np.sqrt(total) * np.abs(left)
        miscounted = has_zeros * (0.0 if weights is None else terms + total_error)
        offset_error = terms * np.sqrt(around) + (has_zeros * gamma(ENTRY) + miscounted) * size
        error = terms * around + miscounted * size**2 + 2 * offset * offset_error + offset_error**2
        self.entry_error = self.entry_error + error
        self.diagonal_error = self.diagonal_error + error
        row, _ = self._merge_means(total, mean, left, offset_error / np.sqrt(total), total_error)
        self._sum.add(around - offset**2)
        self._sum.add(row * row)


class _SparseBlock:
    """Sparse rows as they are: Σwxxᵀ, and the moments of the columns around their mean."""

    def __init__(self, n_features: int) -> None:
        self.products = np.zeros((n_features, n_features))
        self.moments, self.squares = ScatterDiagonal(n_features), np.zeros(n_features)
        self.n_products = self.longest = 0


@storable
class ScatterMatrix(_SummedScatter):
    """S itself, a d x d matrix; on and above the diagonal while it is summed up."""

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._sparse: _SparseBlock | None = None
        self.n_lanes = LANES if n_features <= NARROW else 1

    @property
    def _shape(self) -> tuple[int, ...]:
        return (self.n_features, self.n_features)

    def matrix(self, scale: NDArray | None = None) -> NDArray:
        """S, or S with rows and columns divided by `scale`: exactly symmetric, in an array of its own."""
        self.finalize()
        matrix = self._sum.value()
        if scale is not None:
            matrix /= scale
            matrix /= scale[:, None]
        return mirror_upper(matrix)

    @property
    def squares(self) -> NDArray:
        self.finalize()
        return np.maximum(np.diag(self._sum.high) + np.diag(self._sum.low), 0.0)

    def _product(self, Y: NDArray, out: NDArray) -> NDArray:
        return matmul(Y.T, Y, out, short_rows(self.n_features))

    def _outer(self, row: NDArray) -> NDArray:
        return np.multiply.outer(row, row)

    def _diagonal(self, products: NDArray) -> NDArray:
        return np.diag(products).copy()

    def _add_strips(
        self, block: _Block, rows: NDArray, roots: NDArray | None, strips: list[slice], n_threads: int
    ) -> None:
        """For many columns there is one lane, and threads share its tiles."""
        if self.n_lanes > 1:
            super()._add_strips(block, rows, roots, strips, n_threads)
            return
        scratch = np.empty((strips[0].stop, self.n_features), block.dtype)
        for strip in strips:
            own = None if roots is None else roots[strip]
            Y = _moved(rows[strip], own, block.origin, scratch)
            add_upper_product(block.products[0], Y, n_threads)
            block.sums[0] += column_sums(Y, own, short_rows(self.n_features))

    # ------------------------------------------------------------------ sparse rows

    def _add_sparse(self, X: Any, weights: NDArray | None, n_threads: int) -> None:
        """Products of some rows at a time: each by one thread, added up in order."""
        super().finalize()
        if self._sparse is None:
            self._sparse = _SparseBlock(self.n_features)
        block = self._sparse
        pieces = slices(X.shape[0], sparse_rows(self.n_features, X.nnz / max(1, X.shape[0] * X.shape[1])))
        n_threads = threads_for(X.nnz**2 / X.shape[0], n_threads)

        def multiply(piece: slice) -> Any:
            part = row_slice(X, piece)
            if weights is not None:
                part.data = part.data * np.repeat(np.sqrt(weights[piece]), np.diff(part.indptr))
            return sparse_product(part), np.bincount(part.indices, part.data**2, self.n_features)

        for group in slices(len(pieces), n_threads):
            for piece, (product, squares) in zip(
                pieces[group], parallel(multiply, pieces[group], n_threads), strict=True
            ):
                block.moments._add_sparse_piece(row_slice(X, piece), None if weights is None else weights[piece])
                _add_product(block.products, product)
                block.squares += squares
                block.n_products += 1
        counts = np.bincount(X.indices, minlength=1)
        block.longest = max(block.longest, int(min(counts.max(), pieces[0].stop)))
        if block.n_products >= _STRIPS:
            self.finalize()

    def finalize(self) -> None:
        super().finalize()
        block, self._sparse = self._sparse, None
        if block is None:
            return
        moments = block.moments
        root = np.sqrt(moments.total_weight)
        mean = root * moments.mean
        mean_error = root * moments.mean_error + (moments.weight_error + gamma(ENTRY)) * np.abs(mean)
        block.products -= self._outer(mean)
        np.fill_diagonal(block.products, moments.squares)
        error = gamma(block.longest + block.n_products + ENTRY) * block.squares
        error += outer_error_bound(np.abs(mean), mean_error) + mean_error**2 + gamma(ENTRY) * mean**2
        self.entry_error = self.entry_error + np.maximum(error, moments.diagonal_error)
        self.diagonal_error = self.diagonal_error + moments.diagonal_error
        parts = moments.total_weight, moments.mean_high, moments.mean_low, moments.mean_error, moments.weight_error
        row, _ = self._merge_means(*parts)
        if row.any():
            block.products += self._outer(row)
        self._sum.add(block.products)


def sparse_product(X: Any) -> Any:
    """XᵀX of some sparse rows: by sparse products, or by dense ones where these cost less."""
    m, d = X.shape
    lengths = np.diff(X.indptr).astype(np.float64)
    if _SPARSE_COST * float(lengths @ lengths) <= _DENSE_COST * m * d * d:
        return X.T @ X
    total: NDArray = np.zeros((d, d))
    for piece in slices(m, lane_rows(d)):
        Y = row_slice(X, piece).toarray()
        total += Y.T @ Y
    return total


def _add_product(total: NDArray, product: Any) -> None:
    """total += product, at the entries that are there if they are few."""
    if not sparse.issparse(product):
        total += product
    elif 8 * product.nnz > total.size:
        total += product.toarray()
    else:
        product = product.tocoo()
        total[product.row, product.col] += product.data


def _canonical(X: Any) -> Any:
    """The same rows in float64, with duplicates summed up, as an array of its own if anything had to change."""
    if not (isinstance(X, sparse.csr_array) and X.dtype == np.float64):
        X = sparse.csr_array(X, dtype=np.float64)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


# ---------------------------------------------------------------------- passes over the data


def accumulate(
    data: Dataset,
    weights: NDArray | None,
    make: Callable[[int], Any],
    n_threads: int,
    progress: Any = None,
) -> Any:
    """The scatter of all rows, as `make(n_features)` keeps it: equal bits on any number of threads."""
    return data.reduce(_accumulate_local, make, n_threads, weights=weights, combine=merged, progress=progress)


def read_blocks(data: Dataset, size: int) -> Iterator[Any]:
    """Blocks of the data, read ahead from files. Entries of sparse rows in memory are not copied."""
    if data.in_memory and data.is_sparse:
        X = data.load()
        return (row_slice(X, piece) for piece in slices(len(data), size))
    return prefetch(data, size)


def merged(one: Scatter, other: Scatter) -> Scatter:
    """A new scatter of the rows of both."""
    both = deepcopy(one)
    both.merge(other)
    return both


def _accumulate_local(
    data: Dataset, weights: NDArray | None, make: Callable[[int], Scatter], n_threads: int, progress: Any = None
) -> Scatter:
    n, d = data.shape
    scatter, start = make(d), 0
    for block in read_blocks(data, _rows_read(data)):
        stop = start + block.shape[0]
        scatter.add(block, None if weights is None else weights[start:stop], n_threads)
        start = stop
        if progress:
            progress(start / n)
    scatter.finalize()
    return scatter


def _rows_read(data: Dataset) -> int:
    n, d = data.shape
    if data.nnz is None:
        return pass_rows(d)
    size = sparse_rows(d, data.nnz / max(1, n * d))
    return size * max(1, int(SPARSE_ENTRIES * n // max(1, size * data.nnz)))


def merge_overflows(scatter: Scatter, unit: float, other: Scatter, other_unit: float) -> bool:
    """Whether squares of both together, rows times their units, overflow; for checks before a merge."""
    with np.errstate(over="ignore", invalid="ignore"):
        difference = other.mean * other_unit - scatter.mean * unit
        weight = scatter.total_weight * (other.total_weight / (scatter.total_weight + other.total_weight))
        squares = scatter.squares * unit * unit + other.squares * other_unit * other_unit + weight * difference**2
        return not bool(np.isfinite(squares.sum()))


def common_unit(scatter: Scatter, unit: float, other: Scatter, other_unit: float) -> float:
    """Bring both to the larger of their units, of those that are not all zero. Returns it."""
    if unit == other_unit:
        return unit
    pairs = (scatter, unit), (other, other_unit)
    larger = max((of for rows, of in pairs if rows.squares.any() or rows.mean.any()), default=1.0)
    for rows, of in pairs:
        rows.rescale(of / larger)
    return larger


def energy_along(
    scatter: Scatter,
    data: Dataset,
    weights: NDArray | None,
    axes: NDArray,
    scale: NDArray | None,
    n_threads: int = 1,
    progress: Any = None,
) -> tuple[NDArray, float]:
    """Σw(vᵀx)² along every axis v and Σw‖x − VVᵀx‖² outside them, of centered rows: nothing cancels."""
    scatter.finalize()
    high, low, divisors = scatter.mean_high, scatter.mean_low, 1.0 if scale is None else scale
    sums = data.reduce(_energy_local, high, low, axes, divisors, n_threads, weights=weights, progress=progress)
    return sums[:-1], float(sums[-1])


def _energy_local(
    data: Dataset,
    weights: NDArray | None,
    high: NDArray,
    low: NDArray,
    axes: NDArray,
    scale: Any,
    n_threads: int,
    progress: Any = None,
) -> NDArray:
    n, d = data.shape
    sums, start = np.zeros(len(axes) + 1), 0

    def measure(piece: slice) -> NDArray:
        rows = row_slice(block, piece)
        Y = ((rows.toarray() if sparse.issparse(rows) else rows) - high) - low
        Y /= scale
        if own is not None:
            Y *= np.sqrt(own[piece])[:, None]
        scores = Y @ axes.T
        Y -= scores @ axes
        return np.append(np.einsum("ij,ij->j", scores, scores), np.vdot(Y, Y))

    for block in read_blocks(data, pass_rows(d)):
        own = None if weights is None else weights[start : start + block.shape[0]]
        pieces = slices(block.shape[0], lane_rows(d))
        sums += np.sum(parallel(measure, pieces, threads_for(block.shape[0] * d * len(axes), n_threads)), axis=0)
        start += block.shape[0]
        if progress:
            progress(start / n)
    return sums


def column_ranges(data: Dataset) -> tuple[NDArray, NDArray, NDArray]:
    """Smallest and largest value of each column, and the first row (zero for sparse rows)."""
    low, high, first = data.reduce(_ranges_of_blocks, combine=_wider)
    return low, high, first


def _ranges_of_blocks(data: Dataset, weights: Any, progress: Any = None) -> tuple:
    low, high, first = np.full(data.shape[1], np.inf), np.full(data.shape[1], -np.inf), None
    for block in data.blocks(block_rows(data.shape[1])):
        dense = (block.toarray() if sparse.issparse(block) else block).astype(np.float64, copy=False)
        first = (0 * dense[0] if data.is_sparse else dense[0]) if first is None else first
        low, high = np.minimum(low, dense.min(axis=0)), np.maximum(high, dense.max(axis=0))
    return low, high, first


def _wider(left: tuple, right: tuple) -> tuple:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1]), left[2]


def column_moments(data: Dataset, weights: NDArray | None, n_threads: int) -> ScatterDiagonal:
    """Means and variances of the columns, in one pass; an error if squares over- or underflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        scatter = accumulate(data, weights, ScatterDiagonal, n_threads)
    if not scatter.is_finite:
        raise DataError("The squares of the columns overflow. Scale the data down.")
    vanishing = scatter.squares < len(data) * TINY  # terms that underflow may have lost digits of the sum
    if vanishing.any():
        low, high, _ = column_ranges(data)
        if (low < high)[vanishing].any():
            raise DataError("The squares of the columns underflow. Scale the data up.")
    return cast(ScatterDiagonal, scatter)


def scatter_flops(n_samples: int, n_features: int, nnz: int | None = None, small_integers: bool = False) -> float:
    """Cost of a `ScatterMatrix`, in flops of a large matrix product that take as long."""
    dense = n_samples * (1.3 * n_features**2 + 25.0 * n_features)
    if nnz is not None:
        return min(dense, 73.0 * nnz**2 / max(1, n_samples)) + 1500.0 * nnz
    return dense / 2 if small_integers else dense


def accumulate_bytes(
    n_samples: int, n_features: int, itemsize: int, is_sparse: bool, in_memory: bool, n_threads: int
) -> int:
    """Memory of a pass that fills a `ScatterMatrix`, without rows that are in memory anyway."""
    d, square = n_features, 8 * n_features**2
    if is_sparse:
        return 5 * square + n_threads * 4 * square + 32 * SPARSE_ENTRIES
    n_lanes = LANES if d <= NARROW else 1
    rows = min(n_samples, pass_rows(d))
    n_products = 1 + lane_rows(d) // short_rows(d)
    strips = min(n_threads, n_lanes) * (8 * min(rows, lane_rows(d)) * d + n_products * square)
    return (5 + n_lanes) * square + strips + (0 if in_memory else 2 * rows * d * itemsize)
