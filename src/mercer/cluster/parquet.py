"""Parquet files whose row groups are read by the workers of a cluster."""

import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.budget import format_bytes
from mercer.cluster.dask_dataset import COPIES, IDLE_BYTES, DaskDataset
from mercer.cluster.executor import Executor, Sealed, active_client
from mercer.data.dataset import ArrayDataset, Dataset, Kind, Source
from mercer.data.reading import changed
from mercer.data.validation import check_finite
from mercer.errors import ClusterError, DataError, MemoryLimitError, ParameterError
from mercer.text import printable

PARTITION_BYTES = 64_000_000  # of rows in memory: worth a task, and few enough for a small worker
RowGroup = tuple[int, int]  # number of its file, and its number there


def distribute(data: Any) -> DaskDataset:
    """Read the rows of Parquet files on the workers of the active client.

    Every worker reads row groups itself, so all machines need the files under the same absolute path.

    Parameters
    ----------
    data : Dataset
        An opened Parquet file, or a folder of them.

    Returns
    -------
    data : DaskDataset
        The same rows. Every partition has whole row groups, about 64 MB in memory.

    Examples
    --------
    >>> from mercer.cluster import distribute
    >>> with Client("tcp://10.0.0.1:8786"):  # doctest: +SKIP
    ...     PCA(2).fit(distribute(open_dataset("measurements.parquet")))
    """
    if isinstance(data, DaskDataset):
        return data
    if not hasattr(getattr(data, "reader", None), "row_groups"):
        text = f"Workers read Parquet files, and {data.source.name} is not one. Convert it, or pass a Dask collection."
        raise ParameterError("data", data, "an opened Parquet file", message=text)
    client = active_client()
    if client is None:
        raise ClusterError("No Dask client is active. Create one: distributed.Client(address).")
    executor = Executor(client)
    counts = data.reader.row_groups()
    partitions = list(_partitions(data, counts, executor.worker_memory))
    sizes = tuple(file.stat().st_size for file in data.reader.files)
    reader = RowGroupReader(
        data.reader.for_workers(), data.columns, data.dtype, counts, sizes, data.source.name, data.feature_names
    )
    n_rows = [sum(counts[i][group] for i, group in partition) for partition in partitions]
    made = DaskDataset(executor, [Sealed(partition) for partition in partitions], n_rows, reader)
    made.metadata, made.source, made.allow_nan = data.metadata, data.source, data.allow_nan
    return made


def _partitions(data: Any, counts: list[list[int]], room: int | None) -> Iterator[list[RowGroup]]:
    """Row groups in order, as many at a time as are worth a task and fit into a worker."""
    row_bytes = data.shape[1] * data.dtype.itemsize
    most = np.inf if room is None else max(0, room - IDLE_BYTES - data.reading_bytes) / COPIES
    some: list[RowGroup] = []
    size = 0
    for i, groups in enumerate(counts):
        for group, count in enumerate(groups):
            if count * row_bytes > most:
                raise _too_large(data, i, group, count * row_bytes, most)
            if some and size + count * row_bytes > min(PARTITION_BYTES, most):
                yield some
                some, size = [], 0
            if count:
                some.append((i, group))
                size += count * row_bytes
    yield some


def _too_large(data: Any, i: int, group: int, nbytes: int, most: float) -> MemoryLimitError:
    n_rows = int(most // (data.shape[1] * data.dtype.itemsize))
    advice = f"Write row groups of at most {n_rows:,} rows, or give" if n_rows else "Give"
    return MemoryLimitError(
        f"Row group {group} of {printable(data.reader.files[i])} takes {format_bytes(COPIES * nbytes)} on a worker, "
        f"which has {format_bytes(COPIES * most)} per thread for it. {advice} workers more memory.",
        needed=int(COPIES * nbytes),
        limit=int(COPIES * most),
    )


@dataclass(frozen=True)
class RowGroupReader:
    """Opens a partition of row groups as rows in memory: what a worker reads."""

    reader: Any  # a ParquetReader
    columns: tuple[str, ...]
    dtype: np.dtype
    counts: list[list[int]]  # rows of every row group of every file
    sizes: tuple[int, ...]  # bytes of every file
    name: str
    feature_names: tuple[str, ...] | None
    kind: Kind = field(default="vectors", init=False)
    is_sparse: bool = field(default=False, init=False)

    @property
    def n_features(self) -> int:
        return len(self.columns)

    def __call__(self, partition: list[RowGroup], first_row: int, allow_nan: bool = False) -> Dataset:
        rows = np.empty((sum(self.counts[i][group] for i, group in partition), self.n_features), dtype=self.dtype)
        start = 0
        for i, some in groupby(partition, itemgetter(0)):
            groups = [group for _, group in some]
            stop = start + sum(self.counts[i][group] for group in groups)
            self._read(i, groups, rows[start:stop])
            start = stop
        data = ArrayDataset(rows, owns_samples=True, feature_names=self.feature_names, source=Source(self.name))
        data.allow_nan = allow_nan
        check_finite(rows, data, first_row, self.reader.locate)
        return data

    def _read(self, i: int, groups: list[int], out: NDArray) -> None:
        """Fill `out` with row groups of a file that is still the one that was opened."""
        from mercer.data.arrow import to_matrix  # needs pyarrow, unlike Dask arrays

        file, start = self.reader.files[i], 0
        if not file.exists():
            raise DataError(
                f"File not found on {platform.node() or 'a worker'}: {printable(file)}. Workers read Parquet files "
                "themselves. Put them on a disk that all machines share, under the same path.",
                source=file,
            )
        if file.stat().st_size != self.sizes[i]:
            raise changed(printable(file))
        for batch in self.reader.file_batches(i, self.columns, groups):
            stop = start + batch.num_rows
            if stop > len(out):
                raise changed(printable(file))
            out[start:stop] = to_matrix(batch, self.columns, self.dtype)
            start = stop
        if start != len(out):
            raise changed(printable(file))
