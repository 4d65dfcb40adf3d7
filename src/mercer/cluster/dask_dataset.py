"""Dask collections as datasets: arrays, frames, series and bags in any chunks, of known lengths or not.

A pass is a function of a local dataset. It runs where the partitions are, and only its results travel.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from scipy import sparse

from mercer.budget import format_bytes
from mercer.cluster.executor import Executor, active_client
from mercer.data.conversion import CONVERTERS, column_name
from mercer.data.dataset import (
    ArrayDataset,
    Dataset,
    Kind,
    Samples,
    concatenate_samples,
    regroup,
    without_duplicates,
)
from mercer.data.validation import check_finite
from mercer.errors import DataError, MemoryLimitError, Remedy
from mercer.numerics.blocking import BLOCK_ROWS
from mercer.text import counted, listed, shorten

COPIES = 3  # of a partition in the memory of a worker: as it comes, as numbers, and what is made of them
IDLE_BYTES = 1 << 28  # that a worker takes before it has read anything
PERSIST_FRACTION = 0.25  # of the memory of all workers that persisted partitions may take
_WHOLE_ROWS = 1 << 27  # bytes of a chunk after columns that were in several chunks have been joined
_NUMBERS = "fiub"


class Reader(Protocol):
    """Opens a partition as a local dataset; its first row has this number."""

    def __call__(self, partition: Any, first_row: int, allow_nan: bool = False) -> Dataset: ...


class Collection(NamedTuple):
    """The partitions of a Dask collection, their numbers of samples if they are known, and how they are read."""

    partitions: list[Any]
    counts: list[int] | None
    reader: "VectorReader | SampleReader"


def open_collection(X: Any, kind: Kind = "vectors") -> "DaskDataset":
    """Open a Dask collection on the workers of the active client, or in this process if there is none.

    Parameters
    ----------
    X : dask.array.Array, dask.dataframe.DataFrame, dask.dataframe.Series or dask.bag.Bag
        Samples. Lengths that Dask does not know are counted, in one pass.
    kind : str, default="vectors"
        What the samples are. Vectors are an array or a frame, tables a frame; strings, series and objects are a bag, a
        column or a one-dimensional array.

    Returns
    -------
    data : DaskDataset
        The samples. Partitions without any are left out.

    Examples
    --------
    >>> import dask.array as da
    >>> from mercer.cluster import open_collection
    >>> open_collection(da.ones((100, 3), chunks=(40, 2))).shape
    (100, 3)
    """
    collection, executor = read_collection(X, kind), Executor(active_client())
    return DaskDataset.open(executor, collection)


def read_collection(X: Any, kind: Kind) -> Collection:
    """The partitions of X; nothing is computed."""
    if isinstance(X, Delayed):  # it has every attribute
        raise TypeError(
            "X is a Delayed object. Convert it with dask.array.from_delayed or dask.dataframe.from_delayed."
        )
    is_frame = hasattr(X, "columns") and hasattr(X, "partitions")
    if kind != "vectors":
        return _read_samples(X, kind, is_frame)
    if is_frame:
        return _read_frame(X)
    if hasattr(X, "chunks"):
        return _read_array(X)
    raise TypeError(f"X is a Dask {type(X).__name__}. Vectors are a Dask array or data frame.")


def _read_array(X: Any) -> Collection:
    if X.ndim != 2:
        raise DataError(
            f"Expected 2D array, got {X.ndim}D array instead, of shape {X.shape}. Reshape your data using "
            "X.reshape(-1, 1) if it has a single feature."
        )
    if X.dtype.kind not in _NUMBERS:
        advice = {"c": "Pass real and imaginary parts as columns.", "O": "Try X.astype(float)."}
        raise DataError(f"X has values of type {X.dtype}, not numbers. {advice.get(X.dtype.kind, '')}".rstrip())
    if np.isnan(X.shape[1]):
        raise DataError("The number of columns of X is unknown. Call X.compute_chunk_sizes().")
    X = _with_whole_rows(X)
    is_sparse = not isinstance(X._meta, np.ndarray) and hasattr(X._meta, "nnz")
    reader = VectorReader(int(X.shape[1]), _float_dtype({X.dtype}), is_sparse=is_sparse)
    counts = None if np.isnan(X.chunks[0]).any() else [int(count) for count in X.chunks[0]]
    return Collection([row[0] for row in X.to_delayed()], counts, reader)


def _with_whole_rows(X: Any) -> Any:
    """The array in chunks that have all columns."""
    if X.numblocks[1] == 1:
        return X
    most = max(1, _WHOLE_ROWS // max(1, X.shape[1] * X.dtype.itemsize))
    if np.isnan(X.chunks[0]).any() or max(X.chunks[0]) <= most:
        return X.rechunk({1: -1})
    return X.rechunk({0: most, 1: -1})


def _read_frame(X: Any) -> Collection:
    if X.ndim != 2:
        raise DataError("Expected 2D array, got 1D array instead: X is a Dask series. X.to_frame() has one column.")
    names = list(X.columns)
    if twice := sorted({str(name) for name in names if names.count(name) > 1}):
        raise DataError(f"X has more than one column named {listed(map(repr, twice))}.")
    dtypes = [getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes]
    wrong = [name for name, dtype in zip(names, dtypes, strict=True) if getattr(dtype, "kind", "O") not in _NUMBERS]
    if wrong:
        raise DataError(
            f"X has columns that are not numbers: {listed(map(repr, wrong))}. Leave them out, or compare columns of "
            'all types with KernelPCA(kernel="table").',
            column=str(wrong[0]),
        )
    feature_names = tuple(names) if all(isinstance(name, str) for name in names) else None
    reader = VectorReader(len(names), _float_dtype(set(map(np.dtype, dtypes))), feature_names)
    return Collection(list(X.to_delayed()), None, reader)


def _read_samples(X: Any, kind: Kind, is_frame: bool) -> Collection:
    name = column_name(X._meta) if is_frame else None
    if kind == "table":
        fits, needed = is_frame and X.ndim == 2, "a data frame"
    else:
        fits = name is not None or getattr(X, "ndim", 1) == 1
        needed = "a bag, a one-dimensional array or one column of a frame"
    if not fits:
        raise DataError(f"X is a Dask {type(X).__name__}, but {kind} are {needed}.")
    names = tuple(X.columns) if kind == "table" else None if name is None else (name,)
    if names is not None and not all(isinstance(one, str) for one in names):
        names = None
    n_features = len(X.columns) if kind == "table" else 1
    delayed = X.to_delayed()
    partitions = list(delayed.ravel() if isinstance(delayed, np.ndarray) else delayed)
    return Collection(partitions, None, SampleReader(kind, n_features, names))


def _float_dtype(dtypes: set[np.dtype]) -> np.dtype:
    return np.dtype(np.float32 if dtypes == {np.dtype(np.float32)} else np.float64)


# ---------------------------------------------------------------------- the dataset


class DaskDataset(Dataset):
    """Samples in the partitions of a Dask collection.

    Parameters
    ----------
    executor : Executor
        Runs the passes.
    partitions : sequence of Delayed or Future
        One for each partition; none is empty.
    counts : array-like of int
        Samples in each of them.
    reader : callable
        Opens a partition as a local dataset.
    """

    owns_samples = True
    reader: Any

    def __init__(self, executor: Executor, partitions: Sequence[Any], counts: Any, reader: Any) -> None:
        self.executor, self.partitions, self.reader = executor, list(partitions), reader
        self.counts = np.asarray(counts, dtype=np.intp)
        self.offsets = np.concatenate([[0], np.cumsum(self.counts)])
        self.kind, self.dtype, self.feature_names = reader.kind, reader.dtype, reader.feature_names
        self.shape = int(self.offsets[-1]), reader.n_features
        self.n_partitions, self.n_workers = len(self.partitions), executor.n_workers
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize

    @classmethod
    def open(cls, executor: Executor, collection: Collection) -> Self:
        """The samples of a collection. Partitions are counted if Dask does not know their lengths."""
        partitions, counts, reader = collection
        sizes = None
        if counts is None or reader.is_sparse:
            tasks = [executor.task(_measure, partition, reader) for partition in partitions]
            counts, sizes = map(list, zip(*executor.gather(tasks), strict=True))
        n_samples, n_features = sum(counts), reader.n_features
        for count, name in ((n_samples, "sample(s)"), (n_features, "feature(s)")):
            if not count:
                raise DataError(
                    f"Found array with 0 {name} (shape=({n_samples}, {n_features})) while a minimum of 1 is required."
                )
        present = [i for i, count in enumerate(counts) if count]
        data = cls(executor, [partitions[i] for i in present], [counts[i] for i in present], reader)
        if sizes is not None and reader.kind != "vectors":
            data.nbytes = sum(sizes)
        elif sizes is not None and reader.is_sparse:
            data.nnz = sum(sizes)
            data.nbytes = 16 * data.nnz + 8 * n_samples
        else:
            data._check_chunks()
        return data

    def _check_chunks(self) -> None:
        """Raise before a worker is killed for its largest partition."""
        row_bytes = COPIES * self.shape[1] * self.dtype.itemsize
        needed, room = row_bytes * int(self.counts.max()), self.executor.worker_memory
        if room is not None and needed > room:
            raise MemoryLimitError(
                f"A chunk of X with {counted(int(self.counts.max()), 'row')} takes about {format_bytes(needed)} on a "
                f"worker, which has {format_bytes(room)} per thread. Use chunks of at most "
                f"{max(1, room // row_bytes):,} rows: X.rechunk(…) or X.repartition(…).",
                needed=needed,
                limit=room,
            )

    def check_worker_memory(self, nbytes: float, purpose: str) -> None:
        """Raise if every thread of a worker needs more memory than it has."""
        room = self.executor.worker_memory
        if room is not None and nbytes > room:
            raise MemoryLimitError(
                f"{purpose} needs {format_bytes(nbytes)} on every worker, which has {format_bytes(room)} per thread. "
                "Start fewer workers with more memory, or fit with landmarks.",
                needed=int(nbytes),
                limit=room,
                remedies=[Remedy("eigen_solver", "landmark")],
            )

    # ------------------------------------------------------------------ passes

    def reduce(
        self,
        func: Callable,
        *args: Any,
        weights: NDArray | None = None,
        combine: Callable[[Any, Any], Any] | None = None,
        progress: Any = None,
    ) -> Any:
        with self._shared(func, *args) as work:
            return self.executor.reduce(combine or _add, self._tasks(work, weights), progress)

    def map_blocks(self, func: Callable, *args: Any, size: int = BLOCK_ROWS, progress: Any = None) -> Iterator[Any]:
        """func(block, *args) for every block of a partition, in order."""
        with self._shared(_map_local, _without_progress(func), args, size) as work:
            for results in self.executor.iterate(self._tasks(work), progress):
                yield from results

    def blocks(self, size: int) -> Iterator[Samples]:
        with self._shared(_load_local) as work:
            yield from map(_aligned_samples, regroup(self.executor.iterate(self._tasks(work)), size))

    def load(self, mask: NDArray | None = None) -> Samples:
        with self._shared(_load_local) as work:
            return _aligned_samples(concatenate_samples(list(self.executor.iterate(self._tasks(work, mask)))))

    def take(self, indices: Any) -> Samples:
        """The samples with these indices, in this order. Only partitions that have some are read."""
        indices = self._check_indices(indices)
        home = np.searchsorted(self.offsets, indices, side="right") - 1
        some = np.unique(home) if len(indices) else np.array([0])
        own = [indices[home == i] - self.offsets[i] for i in some]
        with self._shared(_load_local) as work:
            tasks = [self._task(int(i), work, rows) for i, rows in zip(some, own, strict=True)]
            samples = concatenate_samples(self.executor.gather(tasks))
        return samples[np.argsort(np.argsort(home, kind="stable"), kind="stable")]

    def view(self, transform: Callable[[Samples, int], Samples], dtype: Any = None) -> Dataset:
        seen = copy(self)
        seen.reader, seen.dtype = _ViewReader(self.reader, transform), np.dtype(dtype or self.dtype)
        if self.nnz is None and self.kind == "vectors":
            seen.nbytes = self.shape[0] * self.shape[1] * seen.dtype.itemsize
        return seen

    @contextmanager
    def persist(self) -> Iterator[Dataset]:
        """Keep the samples in the memory of the workers, if they fit into a quarter of it."""
        room = self.executor.worker_memory
        fits = room is None or self.nbytes <= PERSIST_FRACTION * room * self.n_workers
        if not self.n_workers or not fits:
            yield self
            return
        with self._shared(_load_local) as work:
            handles = self.executor.persist(self._tasks(work))
            try:
                kept = copy(self)
                kept.partitions, kept.reader = handles, _PersistedReader(self.kind)
                yield kept
            finally:
                self.executor.release(handles)

    def _shared(self, func: Callable, *args: Any) -> Any:
        """The part of a task that all partitions have in common."""
        return self.executor.shared(_Pass(func, args, self.reader, self.allow_nan))

    def _tasks(self, work: Any, values: NDArray | None = None) -> list[Any]:
        """The tasks of a pass; `values` has an entry for each sample."""
        return [
            self._task(i, work, None if values is None else values[self.offsets[i] : self.offsets[i + 1]])
            for i in range(self.n_partitions)
        ]

    def _task(self, i: int, work: Any, own: NDArray | None) -> Any:
        return self.executor.task(_run_pass, work, self.partitions[i], int(self.offsets[i]), int(self.counts[i]), own)


@dataclass
class _Pass:
    """func(data, own values, *args), and how a partition becomes `data`."""

    func: Callable
    args: tuple
    reader: Any
    allow_nan: bool


def _run_pass(work: _Pass, partition: Any, first_row: int, n_rows: int, own: NDArray | None) -> Any:
    data = work.reader(partition, first_row, work.allow_nan)
    if len(data) != n_rows:
        raise DataError(
            f"The partition of X from row index {first_row} has {counted(len(data), 'row')}, but Dask reports "
            f"{n_rows:,}. Call X.compute_chunk_sizes()."
        )
    return work.func(data, None if own is None else _aligned(own), *work.args)


def _add(one: Any, other: Any) -> Any:
    return one + other


def _load_local(data: Dataset, some: NDArray | None) -> Samples:
    """All samples, or those of a mask or of indices."""
    samples = data.load()
    return samples if some is None else samples[np.flatnonzero(some) if some.dtype == bool else some]


def _map_local(data: Dataset, own: None, func: Callable, args: tuple, size: int) -> list[Any]:
    return [func(block, *args) for block in data.blocks(size)]


def _measure(partition: Any, reader: Any) -> tuple[int, int]:
    """Samples of a partition, and bytes of those; for sparse vectors their stored entries."""
    partition = partition if hasattr(partition, "shape") else list(partition)  # of a bag: it may be an iterator
    n_samples = partition.shape[0] if hasattr(partition, "shape") else len(partition)
    if not n_samples or reader.kind == "vectors":
        return int(n_samples), int(getattr(partition, "nnz", 0)) if n_samples else 0
    return int(n_samples), int(reader(partition, 0).nbytes)


def _without_progress(func: Callable) -> Callable:
    """A method of a copy of its estimator: workers run single tasks, and a listener stays in this process."""
    model, name = getattr(func, "__self__", None), getattr(func, "__name__", "")
    return func if not hasattr(model, "progress") else getattr(for_workers(model), name)


def for_workers(model: Any) -> Any:
    """A copy of the estimator without a listener, for one thread."""
    alone = copy(model)
    alone.n_jobs, alone.progress = 1, False
    return alone


# ---------------------------------------------------------------------- readers of partitions


@dataclass(frozen=True)
class VectorReader:
    """Opens a partition of numbers: columns by name, missing values as NaN, the type of the other partitions."""

    n_features: int
    dtype: np.dtype
    feature_names: tuple[str, ...] | None = None
    is_sparse: bool = False
    kind: Kind = field(default="vectors", init=False)

    def __call__(self, partition: Any, first_row: int, allow_nan: bool = False) -> Dataset:
        try:
            rows = self._rows(partition, first_row)
        except (TypeError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"The partition of X from row index {first_row} has values that are not numbers: "
                f"{shorten(' '.join(str(error).split()), 120)}.",
                row=first_row,
            ) from None
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            found = counted(rows.shape[1], "column") if rows.ndim == 2 else f"{rows.ndim} dimensions"
            raise DataError(
                f"The partition of X from row index {first_row} has {found}, but the others have "
                f"{counted(self.n_features, 'column')}."
            )
        data = ArrayDataset(rows)
        data.feature_names, data.allow_nan = self.feature_names, allow_nan
        check_finite(rows, data, first_row)
        return data

    def _rows(self, partition: Any, first_row: int) -> Any:
        if hasattr(partition, "to_scipy_sparse"):
            partition = partition.to_scipy_sparse()
        if self.is_sparse:
            return without_duplicates(sparse.csr_array(partition, dtype=self.dtype))
        if sparse.issparse(partition):
            partition = partition.toarray()
        elif hasattr(partition, "columns"):
            partition = self._in_order(partition, first_row).to_numpy(dtype=self.dtype, na_value=np.nan)
        elif isinstance(partition, np.ma.MaskedArray):
            partition = np.ma.filled(partition.astype(self.dtype), np.nan)
        return _aligned(np.asarray(partition), self.dtype)

    def _in_order(self, frame: Any, first_row: int) -> Any:
        """The frame with the columns of the others, found by name."""
        names = self.feature_names
        if names is None or tuple(frame.columns) == names:
            return frame
        found = list(map(str, frame.columns))
        if sorted(found) != sorted(names):
            raise DataError(
                f"The partition of X from row index {first_row} has the columns {listed(map(repr, found))}, but Dask "
                f"reports {listed(map(repr, names))}."
            )
        return frame[list(names)]


def _aligned(array: NDArray, dtype: np.dtype | None = None) -> NDArray:
    """What arrives over a network may start at any byte; products of such arrays take twice as long."""
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def _aligned_samples(samples: Samples) -> Samples:
    return _aligned(samples) if isinstance(samples, np.ndarray) else samples


@dataclass(frozen=True)
class SampleReader:
    """Opens a partition of strings, series, objects or rows of a table."""

    kind: Kind
    n_features: int
    feature_names: tuple[str, ...] | None = None
    dtype: np.dtype = field(default=np.dtype(object), init=False)
    is_sparse: bool = field(default=False, init=False)

    def __call__(self, partition: Any, first_row: int, allow_nan: bool = False) -> Dataset:
        name = f"X, from row index {first_row}" if first_row else "X"
        partition = partition if hasattr(partition, "shape") else list(partition)  # of a bag: it may be an iterator
        data = ArrayDataset(CONVERTERS[self.kind](partition, name), self.kind)
        data.feature_names, data.allow_nan = self.feature_names, allow_nan
        return data


@dataclass(frozen=True)
class _ViewReader:
    """A reader whose samples go through a function."""

    reader: Reader
    transform: Callable[[Samples, int], Samples]

    def __call__(self, partition: Any, first_row: int, allow_nan: bool = False) -> Dataset:
        data = self.reader(partition, first_row, allow_nan)
        seen = ArrayDataset(self.transform(data.load(), first_row), data.kind)
        seen.feature_names, seen.allow_nan = data.feature_names, allow_nan
        return seen


@dataclass(frozen=True)
class _PersistedReader:
    """Opens samples that `persist` has kept: they are checked already."""

    kind: Kind

    def __call__(self, partition: Any, first_row: int, allow_nan: bool = False) -> Dataset:
        data = ArrayDataset(_aligned_samples(partition), self.kind)
        data.allow_nan = allow_nan
        return data
