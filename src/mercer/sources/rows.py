"""Where rows come from: the contract, and rows that are already in memory."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer.arrays import Array
from mercer.blocks import rows_at_a_time
from mercer.errors import BadData


class RowSource(ABC):
    """n rows of d numbers that can be read again and again, from the first to the last, a block at a time.

    A file is opened anew by every sweep: nothing stays open, and nothing but a block is ever held.
    """

    shape: tuple[int, int]
    dtype: Any = np.dtype(np.float64)
    names: tuple[str, ...] | None = None  # of the columns, if they have any
    label: str = "X"  # what to call it in a message
    path: Path | None = None  # of the file that is read
    overhead: int = 0  # bytes that reading takes beyond the blocks
    sparse: bool = False
    density: float = 1.0  # share of the numbers that are not zero
    held: bool = False  # whether the rows are in memory anyway: blocks cost nothing then

    @abstractmethod
    def blocks(self, size: int) -> Iterator[Array]:
        """All rows in order, in blocks of exactly `size` rows but for the last."""

    def blocks_ahead(self, size: int) -> Iterator[Array]:
        """The same, the next of which is read while the last is worked on."""
        blocks = self.blocks(size)
        if self.held:
            yield from blocks
            return
        with ThreadPoolExecutor(1, thread_name_prefix="mercer-reader") as reader:
            coming = reader.submit(next, blocks, None)
            while (block := coming.result()) is not None:
                coming = reader.submit(next, blocks, None)
                yield block

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, indices: Array) -> Array:
        """The rows with these numbers, in this order; in one sweep."""
        indices = np.asarray(indices)
        if indices.dtype.kind not in "iu" or indices.ndim != 1:
            raise TypeError(f"{self.label}: rows are taken by an array of whole numbers.")
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.shape[0]):
            raise IndexError(f"{self.label} has rows 0 to {self.shape[0] - 1:,}.")
        out, start = np.empty((len(indices), self.shape[1]), dtype=self.dtype), 0
        last = indices.max(initial=-1)
        for block in self.blocks(rows_at_a_time(self.shape[1])):
            if start > last:
                break
            here = np.flatnonzero((indices >= start) & (indices < start + len(block)))
            out[here] = block[indices[here] - start]
            start += len(block)
        return out

    def load(self, kept: Array | None = None) -> Array:
        """All rows, or those that `kept` marks, in one array."""
        count = self.shape[0] if kept is None else int(np.sum(kept))
        out, start, done = np.empty((count, self.shape[1]), dtype=self.dtype), 0, 0
        for block in self.blocks(rows_at_a_time(self.shape[1])):
            rows = block if kept is None else block[kept[start : start + len(block)]]
            out[done : done + len(rows)] = rows
            start, done = start + len(block), done + len(rows)
        return out

    def checked(self, blocks: Iterable[Array]) -> Iterator[Array]:
        """The blocks as they come, refused at the first number that is none."""
        start = 0
        for block in blocks:
            self._refuse_gaps(block, start)
            yield block
            start += len(block)

    def _refuse_gaps(self, block: Array, start: int) -> None:
        refuse_gaps(block, self.label, self.names, start)


class ArrayRows(RowSource):
    """A dense array or CSR matrix in memory, already checked."""

    held = True

    def __init__(self, rows: Any) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.sparse = sparse.issparse(rows)
        self.density = rows.nnz / (rows.shape[0] * rows.shape[1]) if self.sparse else 1.0

    def blocks(self, size: int) -> Iterator[Any]:
        for start in range(0, self.shape[0], size):
            yield some_rows(self.rows, start, min(start + size, self.shape[0]))

    def __getitem__(self, indices: Array) -> Any:
        return self.rows[indices]

    def load(self, kept: Array | None = None) -> Any:
        return self.rows if kept is None else self.rows[kept]


def as_source(rows: Any) -> RowSource:
    return rows if isinstance(rows, RowSource) else ArrayRows(rows)


class MappedRows(RowSource):
    """A memory-mapped array: read and checked block by block, as a file is."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.shape = rows, rows.shape
        self.dtype = np.dtype(np.float32 if rows.dtype == np.float32 else np.float64)

    def blocks(self, size: int) -> Iterator[Array]:
        starts = range(0, self.shape[0], size)
        yield from self.checked(np.array(self.rows[i : i + size], dtype=self.dtype) for i in starts)


class ScaledRows(RowSource):
    """The rows of another source, every column divided by a number of its own, block by block: no copy of them all."""

    def __init__(self, rows: RowSource, scale: Array) -> None:
        self.rows, self.scale, self.shape = rows, scale, rows.shape
        self.names, self.label, self.path, self.overhead = rows.names, rows.label, rows.path, rows.overhead
        self.sparse, self.density = rows.sparse, rows.density
        self.dtype = np.dtype(np.float32 if rows.dtype == np.float32 else np.float64)

    def blocks(self, size: int) -> Iterator[Any]:
        yield from (by_columns(np.divide, block, self.scale) for block in self.rows.blocks(size))

    def __getitem__(self, indices: Array) -> Any:
        return by_columns(np.divide, self.rows[indices], self.scale)

    def load(self, kept: Array | None = None) -> Any:
        if self.rows.held:
            return by_columns(np.divide, self.rows.load(kept), self.scale)
        return super().load(kept)


def by_columns(operation: np.ufunc, rows: Any, numbers: Array) -> Any:
    """Rows times, or divided by, a number for every column: new ones, as narrow as they were, and as sparse."""
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    numbers = numbers.astype(dtype)
    if not sparse.issparse(rows):
        return operation(rows, numbers, dtype=dtype)
    data = operation(rows.data, numbers[rows.indices], dtype=dtype)
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


def copies_of(weights: Array, count: int) -> int:
    """How many rows there would be if those of weight two came twice; of weights that are no counts, `count`."""
    return int(weights.sum()) if np.array_equal(weights, np.floor(weights)) and weights.sum() < 2**53 else count


def some_rows(rows: Any, start: int, stop: int) -> Any:
    """rows[start:stop] without a copy, of a CSR matrix too."""
    if not sparse.issparse(rows):
        return rows[start:stop]
    first, last = rows.indptr[start], rows.indptr[stop]
    parts = rows.data[first:last], rows.indices[first:last], rows.indptr[start : stop + 1] - first
    return sparse.csr_array(parts, shape=(stop - start, rows.shape[1]))


def regroup(pieces: Iterable[Array], size: int) -> Iterator[Array]:
    """The same rows in blocks of exactly `size`, so that an answer does not depend on how a file was cut."""
    waiting: list[Array] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += len(piece)
        if count >= size:
            rows = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
            whole = count - count % size
            for start in range(0, whole, size):
                yield rows[start : start + size]
            waiting, count = [rows[whole:]], count - whole
    if count:
        yield waiting[0] if len(waiting) == 1 else np.concatenate(waiting)


def all_finite(block: Array) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(block.sum()) or np.isfinite(block).all())  # the first is faster, nearly always enough


def refuse_gaps(block: Array, label: str, names: tuple[str, ...] | None, start: int = 0) -> None:
    """One sentence for a missing or infinite value: which file, row and column."""
    if all_finite(block):
        return
    bad = np.argwhere(~np.isfinite(block))
    row, column = bad[0]
    value = block[row, column]
    what = "a missing value (NaN)" if np.isnan(value) else f"an infinite value ({value})"
    name = repr(names[column]) if names else str(column)
    count = f"{len(bad):,} such values" if len(bad) > 1 else "one such value"
    raise BadData(
        f"{label} contains {what}: row {start + row}, column {name} (counted from 0; {count} in the block of "
        f"{len(block):,} rows from row {start} on). Leave out or fill in those rows first (SimpleImputer)."
    )
