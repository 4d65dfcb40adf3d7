"""Rows of small whole numbers (bits, counts): scalar products of them in single precision, without a single rounding.

A sum of whole numbers is exact in float32 as long as it stays below 2²⁴, and no |xᵀy| exceeds ‖x‖‖y‖. Fingerprints have
few bits set among thousands: what is not zero of some rows times a dense sheet of others takes a tenth of the time of
BLAS, which wins where a tenth of the numbers or more are not zero. (Counting the bits of x & y, packed, takes longer
than either.)
"""

from threading import local
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.blocks import cut, rows_at_a_time, some_of, steps
from mercer_old.kernels.base import Held, n_rows
from mercer_old.kernels.dot import squared_norms
from mercer_old.sources.held import some_rows

__all__ = [
    "WholeProducts",
    "compact",
    "counted_out",
    "few",
    "filled_cells",
    "in_one_matrix",
    "mean_sum",
    "of_dense",
    "share_of_either",
    "whole_squares",
    "whole_sums",
]

_EXACT = 2.0**24
_FEW = 0.1  # share of numbers that are not zero, up to which these alone are kept
_SHEET, _WIDEST = 1 << 20, 1 << 14  # entries of a sheet; columns beyond which it would be too narrow
_NARROWEST = 64
_TILE, _DENSE = 512, 1 << 22  # rows, and entries, that are made dense at a time for BLAS
_SAMPLE = 1000  # rows from which it is guessed how many numbers are not zero
_MOST_COUNTED = 8  # how large numbers may be on average to be counted out


def whole_squares(X: Held) -> Array | None:
    """‖x‖² of every row, if all numbers are whole and small enough for exact products; else None."""
    if sparse.issparse(X):
        squares = squared_norms(X) if _are_whole(X.data) else None
        return squares if squares is not None and squares.max(initial=0.0) <= _EXACT else None
    parts = [np.zeros(0)]
    for some in steps(len(X), rows_at_a_time(X.shape[1])):
        squares = squared_norms(X[some]) if _are_whole(X[some]) else None
        if squares is None or not squares.max(initial=0.0) <= _EXACT:
            return None
        parts.append(squares)
    return np.concatenate(parts)


def _are_whole(values: Array) -> bool:
    return values.dtype.kind in "biu" or bool(np.array_equal(values, np.rint(values)))


def filled_cells(X: Held) -> float:
    """About how many numbers of a row are not zero."""
    some = X if sparse.issparse(X) else some_of(X, _SAMPLE)
    return (some.nnz if sparse.issparse(some) else np.count_nonzero(some)) / max(n_rows(some), 1)


def few(X: Held) -> bool:
    """Whether so few numbers are not zero that these alone should be kept."""
    return filled_cells(X) <= _FEW * X.shape[1]


def compact(X: Held) -> Held:
    """The same rows for fast products: CSR in float32 if few numbers are not zero, else as they are."""
    if sparse.issparse(X):
        X = X if isinstance(X, sparse.csr_array) else sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X.astype(np.float32, copy=False)
    return in_one_matrix([of_dense(X[some]) for some in _pieces(X)], X.shape[1]) if few(X) else X


def _pieces(X: Held) -> list[slice]:
    return steps(len(X), rows_at_a_time(X.shape[1]))


def of_dense(rows: Array) -> tuple[Array, Array, Array]:
    """How many numbers of every row are not zero, their columns, and they themselves."""
    places, columns = np.nonzero(rows)
    values = rows[places, columns].astype(np.float32)
    return np.bincount(places, minlength=len(rows)), columns.astype(np.int32), values


def in_one_matrix(parts: list[tuple[Array, Array, Array]], width: int) -> Any:
    """One CSR matrix of such parts."""
    each, columns, values = (np.concatenate(of_all) for of_all in zip(*parts, strict=True))
    return sparse.csr_array((values, columns, np.concatenate([[0], np.cumsum(each)])), shape=(len(each), width))


class WholeProducts:
    """XYᵀ of compact rows, tile by tile, exact. Threads share one."""

    def __init__(self, X: Held, Y: Held) -> None:
        self.X, self.Y, self.own = X, Y, local()
        both, wide = sparse.issparse(X) and sparse.issparse(Y), X.shape[1] > _WIDEST
        self.fill = self._by_entries if both and wide else self._by_sheets if both and few(X) else self._by_blas

    def _by_sheets(self, rows: slice, columns: slice, out: Array) -> None:
        """What is not zero of X times Yᵀ, dense, some columns at a time."""
        width = self.X.shape[1]
        left, (start, stop, _) = _rows_of(self.X, rows), columns.indices(self.Y.shape[0])
        for some in steps(stop, max(_NARROWEST, min(_TILE, _SHEET // max(width, 1))), start):
            right = _rows_of(self.Y, some)
            places = right.indices, np.repeat(np.arange(right.shape[0]), np.diff(right.indptr))
            sheet = self._sheet(width, right.shape[0])
            sheet[places] = right.data
            out[:, some.start - start : some.stop - start] = left @ sheet
            sheet[places] = 0.0

    def _sheet(self, width: int, count: int) -> Array:
        """Zeros, in room of this thread that is zero whenever nobody works on it."""
        if not hasattr(self.own, "room") or self.own.room.size < width * count:
            self.own.room = np.zeros(width * count, dtype=np.float32)
        return np.asarray(self.own.room[: width * count].reshape(width, count))

    def _by_entries(self, rows: slice, columns: slice, out: Array) -> None:
        """Of very many columns: sparse times sparse."""
        out[...] = (_rows_of(self.X, rows) @ _rows_of(self.Y, columns).T).toarray()

    def _by_blas(self, rows: slice, columns: slice, out: Array) -> None:
        X, Y = _rows_of(self.X, rows), _rows_of(self.Y, columns)
        size = max(16, min(_TILE, _DENSE // max(X.shape[1], 1)))
        for some in cut(n_rows(Y), size):
            right = _dense(Y[some]).T
            for part in cut(n_rows(X), size):
                out[part, some] = _dense(X[part]) @ right


def _rows_of(X: Held, rows: slice) -> Any:
    start, stop, _ = rows.indices(n_rows(X))
    return some_rows(X, start, stop)


def _dense(rows: Held) -> Array:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float32)


def share_of_either(common: Array, x: Array, y: Array, shift: float) -> None:
    """common/(x + y − common) − shift in place, 1 where x and y are zero: what two rows share of what either has."""
    either = x[:, None] + y
    either -= common
    if not (x.all() or y.all()):
        empty = either == 0.0
        either[empty] = common[empty] = 1.0
    np.divide(common, either, out=common)
    if shift:
        common -= shift


# ---------------------------------------------------------------------- counts, counted out


def counted_out(X: Held, Y: Held | None) -> tuple[Any, Any] | None:
    """Rows of bits with as many in common as Σmin(x, y) says: min(a, b) = Σₜ[a ≥ t][b ≥ t] for t = 1, 2, …

    A column has as many as the largest number that X and Y both reach. None if numbers are not whole, or so large that
    there would be too many bits.
    """
    sides = [X] if Y is None else [X, Y]
    if any(
        mean_sum(side) > _MOST_COUNTED * max(filled_cells(side), 1.0) or whole_squares(side) is None for side in sides
    ):
        return None
    sparse_sides = [
        side if sparse.issparse(side) else in_one_matrix([of_dense(side[p]) for p in _pieces(side)], side.shape[1])
        for side in sides
    ]
    rows = [compact(side) for side in sparse_sides]
    most = np.min([_largest(side) for side in rows], axis=0)
    if most.sum() > _WIDEST:
        return None
    bits = [_bits(side, most) for side in rows]
    return bits[0], bits[-1]


def whole_sums(X: Held) -> Array:
    """Σx of every row, exact in any order."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1)


def mean_sum(X: Held) -> float:
    """The sum of a row, on average."""
    return float(X.sum(dtype=np.float64)) / max(n_rows(X), 1)


def _largest(X: Any) -> Array:
    """Of every column."""
    most = np.zeros(X.shape[1], dtype=np.int64)
    np.maximum.at(most, X.indices, X.data.astype(np.int64))
    return most


def _bits(X: Any, most: Array) -> Any:
    """Ones in the first x columns of those that a column of X has become."""
    times = np.minimum(X.data.astype(np.int64), most[X.indices])
    first = (np.cumsum(most) - most)[X.indices]
    ends = np.concatenate([[0], np.cumsum(times)])
    columns = np.repeat(first - ends[:-1], times) + np.arange(ends[-1])
    shape = (X.shape[0], max(int(most.sum()), 1))
    return sparse.csr_array((np.ones(len(columns), dtype=np.float32), columns.astype(np.int32), ends[X.indptr]), shape)
