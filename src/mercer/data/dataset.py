"""Dataset: the handle that a fit passes around. One loop serves memory, files, streams and clusters."""

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from contextvars import copy_context
from copy import copy
from functools import partial
from pathlib import Path
from sys import getsizeof
from typing import Any, Literal, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.errors import MercerWarning
from mercer.numerics.blocking import BLOCK_ROWS, block_rows

Kind = Literal["vectors", "strings", "series", "table", "objects", "precomputed"]
Samples = Any  # NDArray, csr_array or Table: the first axis counts samples
SMALL_INTEGERS = tuple(map(np.dtype, (np.int8, np.uint8, np.int16, np.uint16)))  # kept as they are


class Source(NamedTuple):
    """Where samples come from: a name for messages, the path, and notes on what was detected."""

    name: str = "X"
    path: Path | None = None
    notes: tuple[MercerWarning, ...] = ()


class Metadata(NamedTuple):
    """Columns that describe samples and are not features. They are written in front of the scores.

    A column is an Arrow array, or a sequence.
    """

    columns: Mapping[str, Any] = {}
    id_name: str | None = None
    label_name: str | None = None

    @property
    def ids(self) -> list[str] | None:
        """Names of the samples: strings of a text file byte for byte, other values as text."""
        if self.id_name is None:
            return None
        return ["" if value is None else str(value) for value in _as_list(self.columns[self.id_name])]

    def values(self, name: str) -> NDArray:
        """A column as integers, floats or objects with None, for colors, labels and weights."""
        values = _as_list(self.columns[name])
        if all(type(value) is bool for value in values):
            return np.array(values, dtype=object)
        for number in (int, float):
            try:
                return np.array([_exactly(number, value) for value in values])
            except (TypeError, ValueError, OverflowError):
                continue
        return object_array(values)

    def take(self, indices: NDArray) -> "Metadata":
        """The metadata of some samples."""
        taken = {
            name: column.take(indices) if hasattr(column, "to_pylist") else object_array(_as_list(column))[indices]
            for name, column in self.columns.items()
        }
        return self._replace(columns=taken)


def _as_list(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _exactly(number: type, value: Any) -> Any:
    """A number, or a string that is one; 2.5 is not an integer, and missing values are NaN."""
    if isinstance(value, str) and "_" in value:  # Python reads "1_1" as 11
        raise ValueError
    if number is float:
        return np.nan if value is None else float(value)
    if value != (found := int(value)) and not isinstance(value, str):
        raise ValueError
    return found


def object_array(values: list[Any]) -> NDArray:
    """An array of objects, filled one by one: arrays of equal shape would become one array."""
    made = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        made[i] = value
    return made


class Dataset(ABC):
    """Samples that can be counted, read in blocks and taken by index, any number of times.

    Attributes
    ----------
    kind : str
        What the samples are.
    shape : tuple of int
        Samples and features; one feature for strings, series and objects.
    dtype : dtype
        Type of the blocks: float64, float32, a small integer (see `as_float`) or object.
    nnz : int or None
        Stored entries of sparse samples; None for dense ones.
    nbytes : int
        Memory of all samples together.
    in_memory : bool
        Whether `load` and `blocks` cost nothing.
    owns_samples : bool
        False if `load` returns an array of the user, which must not change.
    reading_bytes : int
        Memory that reading takes in addition to the blocks.
    allow_nan : bool
        Whether missing values may occur; infinite values never may.
    feature_names : tuple of str or None
        Names of the features.
    n_partitions, n_workers : int
        Parts on workers of a cluster, and their number.
    """

    kind: Kind = "vectors"
    shape: tuple[int, int]
    dtype: np.dtype
    nnz: int | None = None
    nbytes: int
    in_memory = False
    owns_samples = True
    reading_bytes = 0
    allow_nan = False
    feature_names: tuple[str, ...] | None = None
    metadata = Metadata()
    source = Source()
    n_partitions = 1
    n_workers = 0

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def is_sparse(self) -> bool:
        return self.nnz is not None

    @abstractmethod
    def blocks(self, size: int) -> Iterator[Samples]:
        """All samples in order, in blocks of exactly `size` except for the last one."""

    def take(self, indices: Any) -> Samples:
        """The samples with these indices, in this order, in one pass that ends after the last of them."""
        indices = self._check_indices(indices)
        order = np.argsort(indices, kind="stable")
        ordered, found, start = indices[order], [], 0
        with closing(cast(Generator, self.blocks(block_rows(self.shape[1])))) as blocks:
            for block in blocks:
                stop = start + block.shape[0]
                first, last = np.searchsorted(ordered, [start, stop])
                found.append(block[ordered[first:last] - start])
                start = stop
                if last == len(ordered):
                    break
        return concatenate_samples(found)[np.argsort(order, kind="stable")]

    def _check_indices(self, indices: Any) -> NDArray:
        indices = np.asarray(indices)
        if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
            raise TypeError(f"Indices are a list of integers, not an array of {indices.dtype}, shape {indices.shape}.")
        if indices.size and not 0 <= indices.min() <= indices.max() < len(self):
            raise IndexError(f"Indices from {indices.min()} to {indices.max()} are outside of 0 to {len(self) - 1}.")
        return indices.astype(np.intp)

    def load(self, mask: NDArray | None = None) -> Samples:
        """All samples, or the masked ones, as one array."""
        if mask is not None:
            return self.take(np.flatnonzero(mask))
        return concatenate_samples(list(self.blocks(block_rows(self.shape[1]))))

    def reduce(
        self,
        func: Callable,
        *args: Any,
        weights: NDArray | None = None,
        combine: Callable[[Any, Any], Any] = operator.add,
        progress: Any = None,
    ) -> Any:
        """func(data, weights, *args, progress=) of each partition, combined in order. Here: of the only one."""
        return func(self, weights, *args, progress=progress)

    def map_blocks(self, func: Callable, *args: Any, size: int = BLOCK_ROWS, progress: Any = None) -> Iterator[Any]:
        """func(block, *args) for every block, in order."""
        n_done = 0
        with closing(prefetch(self, size)) as blocks:
            for block in blocks:
                yield func(block, *args)
                n_done += block.shape[0]
                if progress:
                    progress(n_done / len(self))

    def view(self, transform: Callable[[Samples, int], Samples], dtype: Any = None) -> "Dataset":
        """The same samples with transform(block, first_row) applied to every block that is read."""
        return TransformedDataset(self, transform, dtype or self.dtype)

    def persist(self) -> AbstractContextManager["Dataset"]:
        """Before many passes: keep partitions in the memory of the workers. Here: nothing to do."""
        return nullcontext(self)


class ArrayDataset(Dataset):
    """Samples in memory: an array, a CSR array, an array of objects or a `Table`."""

    in_memory = True

    def __init__(
        self,
        samples: Samples,
        kind: Kind = "vectors",
        *,
        owns_samples: bool = False,
        feature_names: tuple[str, ...] | None = None,
        metadata: Metadata = Dataset.metadata,
        source: Source = Dataset.source,
    ) -> None:
        self.kind, self.feature_names, self.metadata, self.source = kind, feature_names, metadata, source
        self._hold(samples, owns_samples)

    def _hold(self, samples: Samples, owns_samples: bool) -> None:
        self.samples, self.owns_samples = samples, owns_samples
        if self.kind == "table":
            self.shape = len(samples), len(samples.columns)
        else:
            self.shape = samples.shape if samples.ndim == 2 else (len(samples), 1)
        self.dtype = samples.dtype
        self.nnz = samples.nnz if sparse.issparse(samples) else None

    def with_samples(self, samples: Samples) -> Self:
        """A dataset like this one with other samples, which belong to it."""
        made = copy(self)
        made._hold(samples, owns_samples=True)
        return made

    @property
    def nbytes(self) -> int:  # type: ignore[override]
        if self.nnz is not None:
            return sum(part.nbytes for part in (self.samples.data, self.samples.indices, self.samples.indptr))
        if self.kind in ("vectors", "table", "precomputed"):
            return int(self.samples.nbytes)
        return sum(8 + (one.nbytes if isinstance(one, np.ndarray) else getsizeof(one)) for one in self.samples)

    def blocks(self, size: int) -> Iterator[Samples]:
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield self.samples[start:stop] if self.nnz is None else csr_rows(self.samples, start, stop)

    def take(self, indices: Any) -> Samples:
        return self.samples[self._check_indices(indices)]

    def load(self, mask: NDArray | None = None) -> Samples:
        return self.samples if mask is None else self.samples[np.flatnonzero(mask)]


class TransformedDataset(Dataset):
    """A dataset whose blocks go through a function: scaling, checks, another order of the columns."""

    def __init__(self, base: Dataset, transform: Callable[[Samples, int], Samples], dtype: Any) -> None:
        self.base, self.transform = base, transform
        self.kind, self.shape, self.nnz, self.dtype = base.kind, base.shape, base.nnz, np.dtype(dtype)
        self.nbytes, self.reading_bytes = base.nbytes, base.reading_bytes
        if self.nnz is None and self.dtype != object:
            self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        self.feature_names, self.metadata, self.source = base.feature_names, base.metadata, base.source
        self.allow_nan = base.allow_nan

    def blocks(self, size: int) -> Iterator[Samples]:
        base, start = copy(self.base), 0
        base.allow_nan = self.allow_nan
        with closing(cast(Generator, base.blocks(size))) as blocks:
            for block in blocks:
                yield self.transform(block, start)
                start += block.shape[0]


def prefetch(data: Dataset, size: int) -> Generator[Samples, None, None]:
    """Blocks of the data, the next one read ahead by a thread unless all are in memory. Exhaust or close it."""
    with closing(cast(Generator, data.blocks(size))) as blocks:
        if data.in_memory or len(data) <= size:
            yield from blocks
            return
        context = copy_context()  # warnings of the reader are collected by the fit
        with ThreadPoolExecutor(1) as reader:
            read = partial(context.run, next, blocks, None)
            coming = reader.submit(read)
            try:
                while (block := coming.result()) is not None:
                    coming = reader.submit(read)
                    yield block
            finally:
                with suppress(Exception):  # a generator that is running cannot be closed
                    coming.result()


def regroup(pieces: Iterable[Samples], size: int) -> Iterator[Samples]:
    """The same samples in blocks of exactly `size`, except for the last one."""
    waiting: list[Samples] = []
    count = 0
    for piece in pieces:
        while count + piece.shape[0] >= size:
            head = piece[: size - count]
            yield concatenate_samples([*waiting, head])
            piece, waiting, count = piece[head.shape[0] :], [], 0
        if piece.shape[0]:
            waiting.append(piece)
            count += piece.shape[0]
    if waiting:
        yield concatenate_samples(waiting)


def concatenate_samples(parts: list[Samples]) -> Samples:
    """Parts as one array, CSR array or table."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from mercer.data.table import concatenate_tables

    return concatenate_tables(parts)


def csr_rows(rows: Any, start: int, stop: int) -> sparse.csr_array:
    """rows[start:stop] of a CSR array without a copy of its entries."""
    first, last = rows.indptr[start], rows.indptr[stop]
    block = sparse.csr_array((stop - start, rows.shape[1]), dtype=rows.dtype)
    block.data, block.indices = rows.data[first:last], rows.indices[first:last]  # its constructor would copy them
    block.indptr = rows.indptr[start : stop + 1] - first
    return block


def without_duplicates(rows: Any) -> Any:
    """A CSR matrix whose entries for one cell are summed, on a copy; small integers become float64 for it."""
    if rows.has_canonical_format:
        return rows
    rows = rows.astype(np.float64 if rows.dtype in SMALL_INTEGERS else rows.dtype, copy=True)
    rows.sum_duplicates()
    return rows


def kept_dtype(dtype: np.dtype) -> np.dtype:
    """The type in which numbers are kept: float32 and small integers as they are, Booleans as uint8, else float64."""
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    native = dtype.newbyteorder("=")
    return native if native in SMALL_INTEGERS else np.dtype(np.uint8 if dtype.kind == "b" else np.float64)


def as_float(samples: Samples, first_row: int = 0) -> Samples:
    """Rows in floating point: small integers become float64, anything else is returned as it is."""
    return samples.astype(np.float64) if samples.dtype in SMALL_INTEGERS else samples


def with_floats(data: Dataset) -> Dataset:
    """The dataset with blocks in floating point, for algorithms that multiply samples as they are."""
    if data.dtype not in SMALL_INTEGERS:
        return data
    if isinstance(data, ArrayDataset):
        return data.with_samples(as_float(data.samples))
    return data.view(as_float, np.float64)


def scaled(data: Dataset, divisors: NDArray, dtype: Any = None) -> Dataset:
    """A view of the data with every column divided; float32 and sparsity are kept, integers become float64."""
    dtype = np.dtype(dtype or (np.float32 if data.dtype == np.float32 else np.float64))
    return data.view(partial(_divide, divisors, dtype), dtype)


def _divide(divisors: NDArray, dtype: np.dtype, block: Samples, first_row: int) -> Samples:
    if not sparse.issparse(block):
        return (block / divisors).astype(dtype, copy=False)
    values = (block.data / divisors[block.indices]).astype(dtype, copy=False)
    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)


def with_columns(data: Dataset, order: NDArray) -> Dataset:
    """The dataset with its columns in another order."""
    if isinstance(data, ArrayDataset):
        made: Dataset = data.with_samples(data.samples[:, order])
    else:
        made = data.view(partial(_select, order))
    if data.feature_names is not None:
        made.feature_names = tuple(data.feature_names[j] for j in order)
    return made


def _select(order: NDArray, block: Samples, first_row: int) -> Samples:
    return block[:, order]
