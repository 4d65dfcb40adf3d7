"""Scatter of rows around their mean, summed up in one pass with error bounds.

Every block is centered on its own mean before anything is squared, so a large mean costs no digits. Blocks,
lanes and partitions meet by Chan's rule: two groups of weights W₁ and W₂ whose means differ by Δ scatter like
the two of them and one more row, √(W₁W₂/(W₁ + W₂))·Δ. The mean is kept in two parts, so differences Δ are as
exact as the rows are.

Error bounds are vectors e with |δSᵢⱼ| ≤ √(eᵢeⱼ), so that ‖δS‖ ≤ Σe, and bounds add up (Cauchy–Schwarz).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset, prefetch
from mercer.data.validation import count_repeated
from mercer.numerics.blocking import LANES, NARROW, lane_rows, slices, sparse_rows
from mercer.numerics.rounding import (
    SHORT,
    UNIT,
    UNIT_SINGLE,
    CompensatedSum,
    chain,
    gamma,
    outer_error_bound,
    two_sum,
)
from mercer.numerics.threads import parallel, threads_for
from mercer.storable import storable

_PENDING = 64  # corrections of rank one that are collected before they are multiplied
_ENTRY = 8  # roundings of an entry: x − mean, √w, their product, twice, and what is done with the sum
_RANGE = 1e-150, 1e150  # sums of squares whose digits are complete
_AHEAD = 16  # blocks of each lane that are dealt at once, for rows in memory
_BATCHED = 128  # features up to which the short products of a block are one batched call
_WORTH_SINGLE = 1e9  # multiplications from which float32 rows are multiplied in float32
_SINGLE_RANGE = 1e-15, 1e15  # ranges of columns that float32 can square
_NUMBERS = ("mean_high", "mean_low", "entry_error", "diagonal_error", "mean_error")
_COUNTS = ("n_samples", "n_repeated", "total_weight", "weight_low", "weight_error", "coarsest_unit")


class Scatter(ABC):
    """Rows of weight w.

    Their number, Σw, their mean, and what a subclass keeps of S = Σw(x − mean)(x − mean)ᵀ.
    """

    def __init__(self, n_features: int) -> None:
        self.mean_high, self.mean_low, self.entry_error, self.diagonal_error, self.mean_error = np.zeros(
            (5, n_features)
        )
        self.n_samples = self.n_repeated = 0
        self.total_weight = self.weight_low = self.weight_error = self.coarsest_unit = 0.0

    @property
    def n_features(self) -> int:
        return len(self.mean_high)

    @property
    def mean(self) -> NDArray:
        """The mean, rounded once."""
        return self.mean_high + self.mean_low

    def centered(self, rows: NDArray, columns: slice = slice(None)) -> NDArray:
        """x − mean in two steps, as a large mean would be rounded."""
        moved = np.subtract(rows, self.mean_high[columns], dtype=np.float64)
        moved -= self.mean_low[columns]
        return moved

    # ------------------------------------------------------------------ adding rows

    def add(
        self, rows: Any, weights: NDArray | None = None, n_threads: int = 1, compute_dtype: Any = np.float64
    ) -> None:
        """Add a block of rows; those of weight zero do not count."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        n_rows = rows.shape[0]
        if not n_rows:
            return
        self.n_samples += n_rows
        self.n_repeated += count_repeated(weights, n_rows)
        if sparse.issparse(rows):
            self._add_sparse(sparse.csr_array(rows, dtype=np.float64), weights)
        else:
            self._add_dense(rows, weights, n_threads, np.dtype(compute_dtype))

    def _add_dense(self, rows: NDArray, weights: NDArray | None, n_threads: int, dtype: np.dtype) -> None:
        """Add rows around the mean of the block; what is left of that mean is a correction of rank one."""
        m = len(rows)
        unit = UNIT if dtype == np.float64 else UNIT_SINGLE
        roots = None if weights is None else np.sqrt(weights)
        total, total_error = (float(m), 0.0) if weights is None else (float(weights.sum()), gamma(64))
        guess = (np.ones(m, dtype) if weights is None else weights.astype(dtype)) @ rows / dtype.type(total)
        Y = np.subtract(rows, guess, dtype=dtype)
        if roots is not None:
            Y *= roots.astype(dtype)[:, None]
        left = _column_sums(Y, roots) / total
        squares = self._add_products(Y, n_threads)
        offset = np.sqrt(total) * np.abs(left)
        offset_error = gamma(chain(m) + _ENTRY, unit) * np.sqrt(squares) + (total_error + gamma(_ENTRY)) * offset
        error = gamma(chain(m) + _ENTRY, unit) * squares
        error += gamma(_PENDING + _ENTRY) * offset**2 + outer_error_bound(offset, offset_error) + offset_error**2
        self.entry_error += error
        self.diagonal_error += error
        self.coarsest_unit = max(self.coarsest_unit, unit)
        self._add_rank_one(np.sqrt(total) * left, -1)
        mean_error = offset_error / np.sqrt(total)
        self._add_rank_one(self._merge_means(total, guess.astype(np.float64), left, mean_error, total_error), 1)

    def _add_sparse(self, X: Any, weights: NDArray | None) -> None:
        """Sparse rows are not centered.

        The mean is subtracted from their products, and on the diagonal before them.
        """
        counts = np.ones(X.nnz) if weights is None else np.repeat(weights, np.diff(X.indptr))
        total = float(X.shape[0] if weights is None else weights.sum())
        total_error = 0.0 if weights is None else gamma(64)
        sums = partial(np.bincount, X.indices, minlength=self.n_features)
        terms = gamma(int(np.bincount(X.indices, minlength=1).max()) + _ENTRY)
        zeros = total - sums(weights=counts)
        mean = sums(weights=counts * X.data) / total
        moved = X.data - mean[X.indices]
        left = (sums(weights=counts * moved) - zeros * mean) / total
        around = sums(weights=counts * moved**2) + np.maximum(zeros, 0.0) * mean**2
        size, offset = np.sqrt(total) * np.abs(mean), np.sqrt(total) * np.abs(left)
        miscounted = 0.0 if weights is None else terms + total_error
        offset_error = terms * np.sqrt(around) + (gamma(_ENTRY) + miscounted) * size
        own = terms * around + miscounted * size**2 + 2 * offset * offset_error + offset_error**2
        whole = terms * sums(weights=counts * X.data**2) + outer_error_bound(size, offset_error)
        whole += offset_error**2 + gamma(_ENTRY) * size**2
        self.entry_error += np.maximum(own, whole)
        self.diagonal_error += own
        self.coarsest_unit = max(self.coarsest_unit, UNIT)
        mean_error = offset_error / np.sqrt(total)
        self._add_rank_one(self._merge_means(total, mean, left, mean_error, total_error), 1)
        if weights is not None:
            X = sparse.csr_array((np.sqrt(counts) * X.data, X.indices, X.indptr), shape=X.shape)
        self._add_sparse_products(X, np.sqrt(total) * (mean + left), np.maximum(around - offset**2, 0.0))

    def merge(self, other: Self) -> None:
        """Add all rows of another scatter of the same class."""
        if not other.total_weight:
            return
        row = self._merge_means(
            other.total_weight, other.mean_high, other.mean_low, other.mean_error, other.weight_error
        )
        self._add_rank_one(row, 1)
        self.n_samples += other.n_samples
        self.n_repeated += other.n_repeated
        self.entry_error += other.entry_error
        self.diagonal_error += other.diagonal_error
        self.coarsest_unit = max(self.coarsest_unit, other.coarsest_unit)
        self._merge_sums(other)

    def _merge_means(self, weight: float, high: NDArray, low: NDArray, error: NDArray, weight_error: float) -> NDArray:
        """Add a group with mean high + low.

        Returns Chan's row, which makes up for the difference of the means.
        """
        if not self.total_weight:
            self.mean_high, self.mean_low = two_sum(high, low)
            self.total_weight, self.mean_error, self.weight_error = weight, error, weight_error
            return np.zeros(self.n_features)
        total, low_weight = two_sum(self.total_weight, weight)
        share = weight / total
        difference = ((high - self.mean_high) + low) - self.mean_low
        factor = np.sqrt(self.total_weight) * np.sqrt(share)
        row = factor * difference
        length = np.abs(difference) + np.abs(low) + np.abs(self.mean_low)
        unsure = self.weight_error + weight_error
        row_error = factor * (self.mean_error + error + 4 * UNIT * length) + (unsure + 6 * UNIT) * np.abs(row)
        bound = outer_error_bound(np.abs(row), row_error) + row_error**2 + gamma(_PENDING + _ENTRY) * row**2
        self.entry_error += bound
        self.diagonal_error += bound
        step = share * difference
        self.mean_error = (1 - share) * self.mean_error + share * error + (unsure + 8 * UNIT) * np.abs(step)
        self.mean_error += 4 * UNIT * (np.abs(low) + np.abs(self.mean_low))
        self.weight_error = (1 - share) * self.weight_error + share * weight_error + UNIT**2
        self.mean_high, self.mean_low = two_sum(self.mean_high, self.mean_low + step)
        self.total_weight, self.weight_low = two_sum(total, self.weight_low + low_weight)
        return row

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
        return self.squares <= self.diagonal_error + self.total_weight * self.mean_error**2

    @property
    def standard_deviations(self) -> NDArray:
        """Of the columns; 1 for constant ones."""
        degrees = self.total_weight - 1 if self.total_weight > 1 else self.total_weight
        return np.where(self.is_constant, 1.0, np.sqrt(self.squares / degrees))

    def squares_of(self, scale: NDArray | None) -> NDArray:
        """Sums of squares of the scaled columns, 0 for constant ones."""
        squares = np.where(self.is_constant, 0.0, self.squares)
        return squares if scale is None else squares / scale**2

    def total(self, scale: NDArray | None) -> float:
        """Trace of the scaled S."""
        return float(np.sum(self.squares if scale is None else self.squares / scale**2))

    def scale_error(self, scale: NDArray | None) -> NDArray:
        """Relative errors of the standard deviations that the columns are divided by."""
        if scale is None:
            return np.zeros(self.n_features)
        squares = np.maximum(self.squares, np.finfo(float).tiny)
        return np.where(self.is_constant, 0.0, self.diagonal_error / squares / 2 + 4 * UNIT)

    def scaling_error(self, scale: NDArray | None) -> float:
        """Bound on what dividing the columns adds to the error of an eigenvalue."""
        if scale is None:
            return 0.0
        deviations = np.sqrt(self.squares) / scale
        return float(outer_error_bound(self.scale_error(scale) * deviations, deviations).sum())

    def eigenvalue_error(self, scale: NDArray | None) -> float:
        """Bound on the error of every eigenvalue of the scaled S (Weyl)."""
        errors = self.entry_error if scale is None else self.entry_error / scale**2
        return float(errors.sum()) + self.scaling_error(scale) + 4 * UNIT * self.total(scale)

    # ------------------------------------------------------------------ model files

    def get_state(self) -> dict[str, Any]:
        """Everything a copy needs to go on with the same bits."""
        return {name: getattr(self, name) for name in (*_NUMBERS, *_COUNTS)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        scatter = cls(len(state["mean_high"]))
        for name, value in state.items():
            setattr(scatter, name, value)
        return scatter

    # ------------------------------------------------------------------ a subclass writes

    @property
    @abstractmethod
    def squares(self) -> NDArray:
        """The diagonal of S."""

    @abstractmethod
    def _add_products(self, Y: NDArray, n_threads: int) -> NDArray:
        """Add YᵀY; returns its diagonal."""

    @abstractmethod
    def _add_rank_one(self, row: NDArray, sign: int) -> None:
        """Add sign·row·rowᵀ."""

    @abstractmethod
    def _add_sparse_products(self, X: Any, mean: NDArray, squares: NDArray) -> None:
        """Add XᵀX − mean·meanᵀ with this diagonal."""

    @abstractmethod
    def _merge_sums(self, other: Self) -> None:
        """Add the sums of another scatter."""


@storable
class ScatterDiagonal(Scatter):
    """The diagonal of S: means and variances of the columns."""

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._sum = CompensatedSum((n_features,))

    @property
    def squares(self) -> NDArray:
        return np.maximum(self._sum.value(), 0.0)

    def _add_products(self, Y: NDArray, n_threads: int) -> NDArray:
        parts = [np.einsum("ij,ij->j", Y[piece], Y[piece]) for piece in slices(len(Y), SHORT)]
        squares = np.asarray(np.sum(parts, axis=0, dtype=np.float64))
        self._sum.add(squares)
        return squares

    def _add_rank_one(self, row: NDArray, sign: int) -> None:
        self._sum.add(sign * row**2)

    def _add_sparse_products(self, X: Any, mean: NDArray, squares: NDArray) -> None:
        self._sum.add(squares)

    def _merge_sums(self, other: Self) -> None:
        self._sum.add_sum(other._sum)


@storable
class ScatterMatrix(Scatter):
    """S itself, a d x d matrix."""

    def __init__(self, n_features: int) -> None:
        super().__init__(n_features)
        self._sum = CompensatedSum((n_features, n_features))
        self._pending: dict[int, list[NDArray]] = {1: [], -1: []}  # rows of rank-one corrections, by sign

    def matrix(self, scale: NDArray | None) -> NDArray:
        """S, or S with rows and columns divided by `scale`.

        Exactly symmetric, as LAPACK reads one triangle.
        """
        self._flush()
        matrix = self._sum.value()
        if scale is not None:
            matrix /= scale
            matrix /= scale[:, None]
        return np.triu(matrix) + np.triu(matrix, 1).T

    @property
    def squares(self) -> NDArray:
        self._flush()
        return np.maximum(np.diag(self._sum.high) + np.diag(self._sum.low), 0.0)

    def get_state(self) -> dict[str, Any]:
        self._flush()
        return super().get_state() | {"sum_high": self._sum.high, "sum_low": self._sum.low}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        state = dict(state)
        high, low = state.pop("sum_high"), state.pop("sum_low")
        scatter = super().from_state(state)
        scatter._sum.high, scatter._sum.low = high, low
        return scatter

    def _flush(self) -> None:
        for sign, rows in self._pending.items():
            if rows:
                stacked = np.array(rows)
                self._sum.add(sign * (stacked.T @ stacked))
                rows.clear()

    def _add_products(self, Y: NDArray, n_threads: int) -> NDArray:
        product = short_product(Y)
        self._sum.add(product)
        return np.diag(product).astype(np.float64)

    def _add_rank_one(self, row: NDArray, sign: int) -> None:
        if row.any():
            self._pending[sign].append(row)
        if len(self._pending[sign]) >= _PENDING:
            self._flush()

    def _add_sparse_products(self, X: Any, mean: NDArray, squares: NDArray) -> None:
        product = (X.T @ X).toarray() - np.multiply.outer(mean, mean)
        np.fill_diagonal(product, squares)
        self._sum.add(product)

    def _merge_sums(self, other: Self) -> None:
        self._flush()
        other._flush()
        self._sum.add_sum(other._sum)


def short_product(Y: NDArray) -> NDArray:
    """YᵀY as the sum of products over 128 rows.

    Known to γ of `chain(m)`, and nearly as fast as one product.
    """
    m, d = Y.shape
    whole = m // SHORT * SHORT
    if whole > SHORT and d <= _BATCHED:
        parts = Y[:whole].reshape(-1, SHORT, d)
        product = np.matmul(parts.transpose(0, 2, 1), parts).sum(axis=0)
        return product + Y[whole:].T @ Y[whole:] if whole < m else product
    product = Y[:SHORT].T @ Y[:SHORT]
    part = np.empty_like(product)
    for piece in slices(m, SHORT)[1:]:
        product += np.matmul(Y[piece].T, Y[piece], out=part)
    return product


def _column_sums(Y: NDArray, roots: NDArray | None) -> NDArray:
    """Σ√w·y in float64, over 128 rows at a time."""
    ones = np.ones(len(Y), Y.dtype) if roots is None else roots.astype(Y.dtype)
    parts = [ones[piece] @ Y[piece] for piece in slices(len(Y), SHORT)]
    return np.asarray(np.sum(parts, axis=0, dtype=np.float64))


# ---------------------------------------------------------------------- passes over the data


def accumulate(
    data: Dataset,
    weights: NDArray | None,
    make: Callable[[int], Scatter],
    n_threads: int,
    progress: Any = None,
    compute_dtype: Any = None,
) -> Any:
    """The scatter of all rows.

    `compute_dtype=None` decides by size whether float32 rows are multiplied in float32.
    """
    n, d = data.shape
    if compute_dtype is None:
        single = data.dtype == np.float32 and not data.is_sparse and n * d * d >= _WORTH_SINGLE
        compute_dtype = np.float32 if single else np.float64
    return data.reduce(
        _accumulate_local, make, n_threads, compute_dtype, weights=weights, combine=merged, progress=progress
    )


def merged(one: Scatter, other: Scatter) -> Scatter:
    """A new scatter of the rows of both."""
    both = deepcopy(one)
    both.merge(other)
    return both


def _accumulate_local(
    data: Dataset,
    weights: NDArray | None,
    make: Callable[[int], Scatter],
    n_threads: int,
    dtype: Any,
    progress: Any = None,
) -> Scatter:
    """Blocks dealt to lanes in turn, so that sums do not depend on the number of threads."""
    n, d = data.shape
    size = sparse_rows(d, data.nnz / max(1, n * d)) if data.nnz is not None else lane_rows(d)
    n_lanes = min(LANES if d <= NARROW else 1, -(-n // size))
    lanes = [make(d) for _ in range(n_lanes)]
    n_threads, start = threads_for(n * d * d, n_threads), 0
    for block in prefetch(data, n_lanes * size * (_AHEAD if data.in_memory else 1)):
        stop = start + block.shape[0]
        own = None if weights is None else weights[start:stop]
        precise = dtype == np.float64 or block.dtype != np.float32 or not _fits_single(block)
        deal = partial(_add_to_lane, lanes, block, own, size, np.float64 if precise else np.float32)
        parallel(deal, range(n_lanes), n_threads)
        start = stop
        if progress:
            progress(start / n)
    for lane in lanes[1:]:
        lanes[0].merge(lane)
    return lanes[0]


def _add_to_lane(lanes: list[Scatter], block: Any, weights: NDArray | None, size: int, dtype: Any, i: int) -> None:
    for piece in slices(block.shape[0], size)[i :: len(lanes)]:
        lanes[i].add(block[piece], None if weights is None else weights[piece], compute_dtype=dtype)


def _fits_single(block: NDArray) -> bool:
    """Whether squares of these rows around their mean are float32 numbers, by a sample of 128 rows."""
    ranges = np.ptp(block[:: max(1, len(block) // 128)].astype(np.float64), axis=0)
    return bool(np.all((ranges == 0) | ((ranges > _SINGLE_RANGE[0]) & (ranges < _SINGLE_RANGE[1]))))


def energy_along(
    scatter: Scatter,
    data: Dataset,
    weights: NDArray | None,
    axes: NDArray,
    scale: NDArray | None,
    progress: Any = None,
) -> tuple[NDArray, float]:
    """Σw(vᵀx)² along every axis v and Σw‖x − VVᵀx‖² outside them, of centered rows: nothing cancels."""
    high, low, divisors = scatter.mean_high, scatter.mean_low, 1.0 if scale is None else scale
    sums = data.reduce(_energy_local, high, low, axes, divisors, weights=weights, progress=progress)
    return sums[:-1], float(sums[-1])


def _energy_local(
    data: Dataset,
    weights: NDArray | None,
    high: NDArray,
    low: NDArray,
    axes: NDArray,
    scale: Any,
    progress: Any = None,
) -> NDArray:
    sums, start = np.zeros(len(axes) + 1), 0
    for block in prefetch(data, lane_rows(data.shape[1])):
        Y = ((block - high) - low) / scale
        if weights is not None:
            Y *= np.sqrt(weights[start : start + len(Y)])[:, None]
        scores = Y @ axes.T
        sums[:-1] += np.einsum("ij,ij->j", scores, scores)
        Y -= scores @ axes
        sums[-1] += np.vdot(Y, Y)
        start += len(Y)
        if progress:
            progress(start / len(data))
    return sums


def column_scale(data: Dataset, weights: NDArray | None, n_threads: int) -> NDArray:
    """Standard deviations of the columns, in one pass."""
    return accumulate(data, weights, ScatterDiagonal, n_threads).standard_deviations
