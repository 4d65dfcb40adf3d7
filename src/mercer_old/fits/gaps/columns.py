"""The columns of rows with gaps, before any factor is looked for: what is there of them, where and how wide they are.

Whatever is asked is a sum over rows: of those in memory, or of each chunk where it lies.
"""

from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, dense
from mercer_old.errors import BadData, are, counted, listed
from mercer_old.sources.items import Items, Rows
from mercer_old.sources.portions import Portions, Whole, as_it_is

__all__ = [
    "Centre",
    "Extent",
    "Given",
    "any_gaps",
    "centre_of",
    "extent_of",
    "given_rows",
    "refuse_empty_columns",
    "refuse_sparse_gaps",
]

Given = tuple[Array, Array]  # rows, NaN where a number is missing, and the weight of each


def given_rows(rows: Rows, weights: Array | None) -> Portions:
    """Rows of positive weight, with their weights: all of them here, or those of each chunk where it lies."""
    if rows.chunks is None:
        return Whole(_counting(rows, weights))
    chunks = rows.for_passes().chunks
    handles = tuple(chunks.map(_counting, chunks.dealt(weights)))
    return replace(chunks, handles=handles, opened=as_it_is)


def _counting(rows: Items, weights: Array | None) -> Given:
    numbers = dense(rows.load(), np.float64)
    if weights is None:
        return numbers, np.ones(len(numbers))
    return (numbers, weights) if weights.all() else (numbers[weights > 0], weights[weights > 0])


# ---------------------------------------------------------------------- what is there


def any_gaps(items: Items) -> bool:
    """Whether a number is missing: rows are looked at until one is, in chunks where they lie."""
    if items.chunks is not None:
        return any(items.chunks.each(_has_gaps))
    return any(_gaps_in(block) for block in ([items.load()] if items.held else items.blocks(1024)))


def _has_gaps(rows: Items, own: None) -> bool:
    return _gaps_in(rows.load())


def _gaps_in(block: Any) -> bool:
    data = block.data if sparse.issparse(block) else block
    return bool(data.dtype.kind == "f" and np.isnan(data).any())


@dataclass(frozen=True, eq=False)
class Extent:
    """What one look at rows finds."""

    rows: int
    with_gaps: int  # rows
    empty: int  # rows without any number
    there: Array  # numbers of every column
    counts: Array  # the same by the weights of rows
    first: Array  # number of every column; NaN if there is none
    low: Array
    high: Array

    def __add__(self, other: "Extent") -> "Extent":
        """Of the rows of both, these first."""
        return Extent(
            self.rows + other.rows,
            self.with_gaps + other.with_gaps,
            self.empty + other.empty,
            self.there + other.there,
            self.counts + other.counts,
            np.where(np.isnan(self.first), other.first, self.first),
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
        )

    @property
    def missing(self) -> Array:
        """Numbers of every column that are not there."""
        return self.rows - self.there


def extent_of(given: Portions, names: Array | None) -> Extent:
    """Of rows in which every column has a number."""
    found: Extent = given.summed(_extent, add)
    refuse_empty_columns(found.there, names)
    return found


def _extent(given: Given, own: None) -> Extent:
    rows, weights = given
    there = ~np.isnan(rows)
    across = there.sum(axis=1)
    first = np.full(rows.shape[1], np.nan)
    if len(rows):
        first = rows[np.argmax(there, axis=0), np.arange(rows.shape[1])]
    return Extent(
        rows=len(rows),
        with_gaps=int(np.sum(across < rows.shape[1])),
        empty=int(np.sum(across == 0)),
        there=there.sum(axis=0),
        counts=weights @ there,
        first=first,
        low=np.fmin.reduce(rows, axis=0, initial=np.nan),
        high=np.fmax.reduce(rows, axis=0, initial=np.nan),
    )


def refuse_sparse_gaps(rows: Any) -> None:
    """An entry that is not stored is zero; one that is missing has no place in a sparse matrix."""
    missing = int(np.isnan(rows.data).sum()) if rows.data.dtype.kind == "f" else 0
    if missing:
        raise BadData(
            f"X is sparse and has {counted(missing, 'number')} missing (NaN): gaps are for dense rows, as what is not "
            "stored in sparse ones is zero. Give X.toarray()."
        )


def refuse_empty_columns(counts: Array, names: Array | None) -> None:
    """A column without a single number has no mean that it could be filled with."""
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        some = listed(str(j) if names is None else repr(names[j]) for j in empty)
        raise BadData(
            f"{counted(len(empty), 'column')} of {len(counts):,} {are(len(empty))} missing in every row ({some}): "
            f"leave {'it' if len(empty) == 1 else 'them'} out."
        )


# ---------------------------------------------------------------------- where they are


@dataclass(frozen=True, eq=False)
class Centre:
    """Means of the numbers that are there, what to divide by (one number, unless `standardize`), and deviations."""

    means: Array
    scale: Array
    deviations: Array


def centre_of(given: Portions, extent: Extent, standardize: bool) -> Centre:
    """In units of how far every column reaches from its first number, so that squares are numbers."""
    first, counts = extent.first, extent.counts
    peaks = np.maximum(extent.high - first, first - extent.low)
    unit = np.where(peaks > 0, np.ldexp(1.0, np.clip(np.frexp(peaks)[1], -1000, 1000)), 1.0)
    mean = given.summed(_moved_sums, add, None, first, unit) / counts
    freedom = np.where(counts > 1, counts - 1, counts)
    deviations = np.sqrt(given.summed(_moved_squares, add, None, first, unit, mean) / freedom)
    scale = np.where(deviations > 0, deviations, 1.0) * np.where(peaks > 0, unit, 1.0)
    spreads = np.where(peaks > 0, deviations * unit, 0.0)
    if not standardize:
        largest = float(spreads.max(initial=0.0)) or 1.0
        scale = np.full(len(scale), largest * (np.sqrt(np.mean((spreads / largest) ** 2)) or 1.0))
    return Centre(first + mean * unit, scale, spreads)


def _moved(rows: Array, first: Array, unit: Array) -> tuple[Array, Array]:
    there = ~np.isnan(rows)
    return there, np.where(there, (rows - first) / unit, 0.0)


def _moved_sums(given: Given, own: None, first: Array, unit: Array) -> Any:
    rows, weights = given
    return weights @ _moved(rows, first, unit)[1]


def _moved_squares(given: Given, own: None, first: Array, unit: Array, mean: Array) -> Any:
    rows, weights = given
    there, moved = _moved(rows, first, unit)
    return weights @ np.where(there, moved - mean, 0.0) ** 2
