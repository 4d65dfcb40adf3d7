"""Streams: DuckDB relations, polars lazy frames, Arrow datasets and readers, as datasets.

What can be read again is read again by every pass. No library guarantees equal rows in equal order, so that a checksum
of each block is compared with that of the first pass.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mercer.data.arrow import BATCH_ROWS, ArrowDataset, TableReader, float_dtype, is_numeric, to_matrix
from mercer.data.dataset import ArrayDataset, Dataset, Metadata, regroup
from mercer.data.read_options import ReadOptions, Roles, check_names
from mercer.data.reading import check_memory, reading
from mercer.errors import DataError
from mercer.text import counted, listed, short_repr

_SCANNED = 6  # row groups that the scanner of a dataset of Parquet files holds, compressed and decoded


def open_stream(X: Any, memory: int) -> Dataset:
    """X as a dataset that reads it in every pass, or in memory if it can be read only once.

    Parameters
    ----------
    X : DuckDB relation, polars.LazyFrame, pyarrow.dataset.Dataset, or an object with ``__arrow_c_stream__``
        All columns must be numeric.
    memory : int
        Bytes that a stream which can be read only once may take.
    """
    reader_class = _reader_class(X)
    with reading("X"):
        if reader_class is None:
            return _hold(X, memory)
        reader = reader_class(X, memory)
        return StreamDataset(reader, Roles(_numeric_columns(reader.schema), Metadata()))


def _reader_class(X: Any) -> type["StreamReader"] | None:
    if type(X).__name__ == "DuckDBPyRelation":
        return DuckDBReader
    if hasattr(X, "collect_batches") and hasattr(X, "collect_schema"):
        return LazyFrameReader
    return DatasetReader if all(hasattr(X, name) for name in ("to_batches", "count_rows", "schema")) else None


class StreamReader(TableReader):
    """A stream that can be read any number of times."""

    advice: str  # if its rows come in another order

    def __init__(self, X: Any, memory: int) -> None:
        self.name, self.memory, self.X = "X", memory, X
        self.schema, self.num_rows = self._describe()

    def _describe(self) -> tuple[pa.Schema, int]:
        raise NotImplementedError

    def reading_bytes(self, columns: Sequence[str]) -> int:
        return 4 * BATCH_ROWS * len(columns) * 8  # batches on the way, as they are and as numbers


class DuckDBReader(StreamReader):
    """DuckDB keeps the order of the rows of a table, but not that of groups and joins."""

    advice = "DuckDB does not guarantee an order without ORDER BY. Use relation.order('…') or write a Parquet file."

    def _describe(self) -> tuple[pa.Schema, int]:
        return self._open(self.X.limit(0)).schema, int(self.X.aggregate("count(*)").fetchall()[0][0])

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        quoted = ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)
        reader = self._open(self.X.project(quoted))
        try:
            yield from reader
        finally:
            reader.close()  # a connection has one result at a time

    @staticmethod
    def _open(relation: Any) -> Any:
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return read(BATCH_ROWS)


class LazyFrameReader(StreamReader):
    """A lazy frame of polars."""

    advice = "Does it draw random numbers, or has a file changed? Use collect() or write a Parquet file."

    def _describe(self) -> tuple[pa.Schema, int]:
        n_rows = int(self.X.select(sys.modules["polars"].len()).collect().item())
        return self.X.head(0).collect().to_arrow().schema, n_rows

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        frames = self.X.select(list(columns)).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, lazy=True)
        for frame in frames:
            yield from frame.to_arrow().to_batches(max_chunksize=BATCH_ROWS)


class DatasetReader(StreamReader):
    """A dataset of pyarrow. Its scanner holds whole row groups."""

    advice = "Has a file changed? Fit again when nothing writes to it."

    def _describe(self) -> tuple[pa.Schema, int]:
        return self.X.schema, int(self.X.count_rows())

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        few: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        if getattr(getattr(self.X, "format", None), "default_extname", "") == "parquet":
            scan = sys.modules["pyarrow.dataset"].ParquetFragmentScanOptions
            few["fragment_scan_options"] = scan(use_buffered_stream=True, pre_buffer=False)
        yield from self.X.to_batches(columns=list(columns), batch_size=BATCH_ROWS, **few)

    def reading_bytes(self, columns: Sequence[str]) -> int:
        found = [getattr(fragment, "metadata", None) for fragment in self.X.get_fragments()]
        groups = [state.row_group(i).total_byte_size for state in found if state for i in range(state.num_row_groups)]
        return _SCANNED * max(groups, default=0) + super().reading_bytes(columns)


class StreamDataset(ArrowDataset):
    """Numeric columns of a stream. Each pass must give the rows of the first one."""

    reader: StreamReader

    def __init__(self, reader: StreamReader, roles: Roles) -> None:
        super().__init__(reader, roles)
        self._checksums: dict[int, int] = {}
        if not self.shape[0]:
            raise _no_rows(self.shape)

    def _matrices(self) -> Iterator[NDArray]:
        start = 0
        for i, block in enumerate(regroup(super()._matrices(), BATCH_ROWS)):
            checksum = crc32(np.ascontiguousarray(block).data)
            if self._checksums.setdefault(i, checksum) != checksum:
                rows = f"rows {start:,} to {start + len(block) - 1:,} differ"
                text = f"X gives other rows than in an earlier pass, or in another order: {rows}. {self.reader.advice}"
                raise DataError(text, row=start)
            start += len(block)
            yield block

    def _check_unchanged(self, n_rows: int) -> None:
        if n_rows != self.shape[0]:
            raise DataError(f"X has {counted(n_rows, 'row')} now, not {self.shape[0]:,}. {self.reader.advice}")


def _hold(X: Any, memory: int) -> Dataset:
    """A stream that can be read only once, in memory: a fit may need it more than once."""
    reader = pa.RecordBatchReader.from_stream(X)
    columns = _numeric_columns(reader.schema)
    dtype, pieces, needed = float_dtype(reader.schema, columns), [], 0
    for batch in reader:
        pieces.append(to_matrix(batch, columns, dtype))
        needed += 2 * pieces[-1].nbytes  # in pieces, and as one
        hint = " It can be read only once, so that its rows are held in memory. Write them to a Parquet file."
        check_memory("X", needed, memory, hint)
    matrix = np.concatenate([np.empty((0, len(columns)), dtype), *pieces])
    if not len(matrix):
        raise _no_rows(matrix.shape, " X has no rows, or was read before: it can be read only once.")
    return ArrayDataset(matrix, owns_samples=True, feature_names=columns)


def _no_rows(shape: tuple[int, ...], hint: str = "") -> DataError:
    return DataError(f"Found array with 0 sample(s) (shape={shape}) while a minimum of 1 is required.{hint}")


def _numeric_columns(schema: pa.Schema) -> tuple[str, ...]:
    """All columns, which must be numeric."""
    check_names(schema.names, ReadOptions(), "X")
    others = [f"{short_repr(field.name)} ({field.type})" for field in schema if not is_numeric(field.type)]
    if others:
        raise DataError(f"X has columns that are not numeric: {listed(others)}. Select the others.")
    if not schema.names:
        raise DataError("Found array with 0 feature(s): X has no columns.")
    return tuple(schema.names)
