"""Items that are already in memory, or mapped into it, or seen through a scale."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from mercer_old.arrays import Array, Held, Matrix, single_or_double
from mercer_old.blocks import steps
from mercer_old.sources.items import Items, Rows


class HeldRows(Rows):
    """A dense array or a CSR matrix in memory, already checked."""

    held = True

    def __init__(self, rows: Matrix) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.sparse = sparse.issparse(rows)
        self.density = rows.nnz / (rows.shape[0] * rows.shape[1]) if self.sparse else 1.0

    @property
    def nbytes(self) -> int:
        return bytes_of(self.rows)

    def blocks(self, size: int) -> Iterator[Held]:
        for some in steps(self.shape[0], size):
            yield some_rows(self.rows, some.start, some.stop)

    def __getitem__(self, indices: Array) -> Held:
        return self.rows[indices]

    def load(self, kept: Array | None = None) -> Held:
        return self.rows if kept is None else self.rows[kept]

    def in_memory(self, kept: Array | None = None) -> "HeldRows":
        return self if kept is None else type(self)(self.load(kept))


def as_read(
    matrix: Matrix,
    path: Path | None,
    label: str,
    *,
    names: tuple[str, ...] | None = None,
    row_names: Sequence[Any] | None = None,
    heading: str = "",
    notes: tuple[str, ...] = (),
) -> HeldRows:
    """Rows that were read from a file at once, checked, with the names that they have there."""
    rows = HeldRows(matrix)
    rows.path, rows.label, rows.names, rows.notes = path, label, names, notes
    rows.row_names, rows.heading = row_names, heading
    if not rows.sparse:
        rows._refuse_gaps(matrix, 0)
    return rows


class HeldItems(Items):
    """Things of any kind in memory: an array of objects, one for each."""

    held = True
    dtype = np.dtype(object)

    def __init__(self, items: Any, width: int = 1) -> None:
        self.items = np.empty(len(items), dtype=object)
        for number, item in enumerate(items):  # one by one: arrays of one shape would become a table
            self.items[number] = item
        self._width = width

    def __len__(self) -> int:
        return len(self.items)

    @property
    def width(self) -> int:
        return self._width

    @property
    def nbytes(self) -> int:
        return 8 * len(self) * (1 + self.width)

    def blocks(self, size: int) -> Iterator[Array]:
        for some in steps(len(self), size):
            yield self.items[some]

    def __getitem__(self, indices: Array) -> Array:
        return np.asarray(self.items[indices])

    def load(self, kept: Array | None = None) -> Array:
        return self.items if kept is None else np.asarray(self.items[kept])

    def in_memory(self, kept: Array | None = None) -> "HeldItems":
        if kept is None:
            return self
        some = copy(self)  # as wide as they were, and of the same kind
        some.items = self.load(kept)
        return some


class Given(HeldRows):
    """Items that are known by a matrix between them alone: an array, or a scipy LinearOperator."""

    by_matrix = True

    def __init__(self, matrix: Any) -> None:
        self.is_operator = isinstance(matrix, LinearOperator)
        if self.is_operator:
            self.rows, self.shape, self.dtype = matrix, matrix.shape, np.dtype(matrix.dtype)
        else:
            super().__init__(matrix)

    @property
    def nbytes(self) -> int:
        return 0 if self.is_operator else super().nbytes

    def blocks(self, size: int) -> Iterator[Held]:
        return iter([self.rows]) if self.is_operator else super().blocks(size)

    def load(self, kept: Array | None = None) -> Held:
        return self.rows if kept is None else self.rows[kept][:, kept]

    def against(self, kept: Array) -> "Given":
        if self.is_operator:
            return Given(self.rows @ aslinearoperator(sparse.eye_array(len(kept), format="csc")[:, kept]))
        return Given(self.rows[:, kept])


class MappedRows(Rows):
    """A memory-mapped array: read and checked block by block, as a file is."""

    def __init__(self, rows: Matrix) -> None:
        self.rows, self.shape = rows, rows.shape
        self.dtype = np.dtype(single_or_double(rows.dtype))

    def blocks(self, size: int) -> Iterator[Array]:
        parts = steps(self.shape[0], size)
        yield from self.checked(np.array(self.rows[some], dtype=self.dtype) for some in parts)


class _SeenRows(Rows):
    """The rows of another source, seen through something, block by block: no copy of them all."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.names, self.label, self.overhead = rows.names, rows.label, rows.overhead
        self.sparse, self.density = rows.sparse, rows.density
        self.named_as(rows)

    def _see_chunks(self, through: Callable[[Rows], Rows]) -> None:
        """Where rows lie in chunks, each is seen through the same."""
        self.chunks = None if self.rows.chunks is None else self.rows.chunks.seen(through)


class CheckedRows(_SeenRows):
    """The rows themselves, each block of which `check` may refuse: it is told the numbers of the rows as well."""

    def __init__(self, rows: Rows, check: Callable[[Matrix, Array], None]) -> None:
        super().__init__(rows)
        self.check = check
        self.chunks = None if rows.chunks is None else rows.chunks.checked(check)

    def blocks(self, size: int) -> Iterator[Held]:
        start = 0
        for block in self.rows.blocks(size):
            self.check(block, np.arange(start, start + block.shape[0]))
            yield block
            start += block.shape[0]

    def __getitem__(self, indices: Array) -> Held:
        some = self.rows[indices]
        self.check(some, np.asarray(indices))
        return some


class ScaledRows(_SeenRows):
    """Every column divided by a number of its own."""

    def __init__(self, rows: Rows, scale: Array) -> None:
        super().__init__(rows)
        self.scale, self.dtype = scale, np.dtype(single_or_double(rows.dtype))
        self._see_chunks(partial(ScaledRows, scale=scale))

    def blocks(self, size: int) -> Iterator[Held]:
        yield from (by_columns(np.divide, block, self.scale) for block in self.rows.blocks(size))

    def __getitem__(self, indices: Array) -> Held:
        return by_columns(np.divide, self.rows[indices], self.scale)

    def load(self, kept: Array | None = None) -> Held:
        if self.rows.held:
            return by_columns(np.divide, self.rows.load(kept), self.scale)
        return super().load(kept)


def by_columns(operation: np.ufunc, rows: Matrix, numbers: Array) -> Matrix:
    """Rows times, or divided by, a number for every column: new ones, as narrow as they were, and as sparse."""
    dtype = single_or_double(rows.dtype)
    numbers = numbers.astype(dtype)
    if not sparse.issparse(rows):
        return operation(rows, numbers, dtype=dtype)
    data = operation(rows.data, numbers[rows.indices], dtype=dtype)
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)


# ---------------------------------------------------------------------- of what is taken out of items


def width_of(data: Held) -> int:
    """Numbers that one item takes while it is worked on."""
    return int(data.shape[1]) if data.ndim > 1 else 1


def bytes_of(data: Held) -> int:
    """That all of them take in memory."""
    arrays = (data.data, data.indices, data.indptr) if sparse.issparse(data) else (data,)
    return sum(int(array.nbytes) for array in arrays)


def groups_of(data: Held) -> Array:
    """A number for every item, the same for those that are equal."""
    if sparse.issparse(data):
        data = data.copy()
        data.eliminate_zeros()
        data.sort_indices()
        pieces = pairwise(data.indptr)
        return _numbered(data.indices[a:b].tobytes() + b"|" + data.data[a:b].tobytes() for a, b in pieces)
    if data.ndim == 1:
        return _numbered(map(_known_by, data))
    return np.unique(np.asarray(data) + 0, axis=0, return_inverse=True)[1].reshape(-1)  # −0 + 0 = 0


def _numbered(keys: Iterable[Any]) -> Array:
    known = dict[Any, int]()
    return np.array([known.setdefault(key, len(known)) for key in keys])


def _known_by(item: Any) -> Any:
    """What equal items have in common: arrays their numbers, texts and the like themselves, others nothing."""
    if isinstance(item, np.ndarray) and item.dtype != object:
        return item.shape, (item + 0).tobytes()  # −0 + 0 = 0
    try:
        hash(item)
    except TypeError:
        return id(item)
    return item


def same_items(some: Held, others: Held) -> Array:
    """Which of them equal those with the same number among the others."""
    if some.ndim == 1:
        pairs = zip(map(_known_by, some), map(_known_by, others), strict=True)
        return np.array([bool(one == other) for one, other in pairs], dtype=bool)
    return ~np.asarray((some != others).sum(axis=1), dtype=bool).reshape(-1)


def some_rows(rows: Matrix, start: int, stop: int) -> Matrix:
    """rows[start:stop] without a copy, of a CSR matrix too."""
    if not sparse.issparse(rows):
        return rows[start:stop]
    first, last = rows.indptr[start], rows.indptr[stop]
    parts = rows.data[first:last], rows.indices[first:last], rows.indptr[start : stop + 1] - first
    return sparse.csr_array(parts, shape=(stop - start, rows.shape[1]))
