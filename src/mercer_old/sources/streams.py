"""What hands its rows over batch by batch: relations of DuckDB, lazy frames of polars, datasets and readers of Arrow.

What can be asked again is read anew by every sweep, and nothing but a block of it is held. Whether it hands over the
same rows in the same order each time, nobody promises: a checksum of every block tells.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from zlib import crc32

import numpy as np

from mercer_old.arrays import Array, arrow
from mercer_old.errors import BadData, MercerError, NoRoom, counted
from mercer_old.limits import bytes_in_words
from mercer_old.sources.held import HeldRows
from mercer_old.sources.items import Rows, refuse_gaps_in, regroup
from mercer_old.sources.roles import Asked, named_columns
from mercer_old.sources.stored import error_in_short, float_type
from mercer_old.sources.tables import matrix_of, no_numbers, with_kinds

__all__ = ["StreamRows", "is_fleeting", "is_stream", "open_stream"]

_READ = 8192  # rows of a batch, and of a block that has a checksum
_AT_HAND = ("__array__", "__dataframe__", "__dlpack__")  # what is in memory anyway has one of these


def is_stream(X: Any) -> bool:
    """Whether its rows come batch by batch."""
    return not isinstance(X, type) and (_is_lazy(X) or _is_dataset(X) or _comes_by_arrow(X))


def is_fleeting(X: Any) -> bool:
    """Whether they may come only once."""
    return is_stream(X) and not (_is_relation(X) or _is_lazy(X) or _is_dataset(X))


def _is_lazy(X: Any) -> bool:
    return hasattr(X, "collect_batches") and hasattr(X, "collect_schema")


def _is_dataset(X: Any) -> bool:
    return hasattr(X, "to_batches") and hasattr(X, "count_rows") and hasattr(X, "schema")


def _is_relation(X: Any) -> bool:
    return type(X).__name__ == "DuckDBPyRelation"


def _comes_by_arrow(X: Any) -> bool:
    return hasattr(X, "__arrow_c_stream__") and not any(hasattr(X, name) for name in _AT_HAND)


def open_stream(X: Any, most: float, label: str = "X", *, gaps: bool = False) -> Rows:
    """Its rows: read anew by every sweep, or, of what can be read only once, held in memory if they fit."""
    if _is_relation(X):
        return StreamRows(_Relation(X), label)
    if _is_lazy(X):
        return StreamRows(_Lazy(X), label)
    return StreamRows(_Dataset(X), label) if _is_dataset(X) else _held(X, most, label, gaps)


class _Source(ABC):
    """What can be asked for its rows again and again."""

    to_settle: str  # what to do where they come in another order

    def __init__(self, X: Any) -> None:
        self.X = X

    @abstractmethod
    def schema(self) -> Any: ...

    @abstractmethod
    def count(self) -> int: ...

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Any]: ...


class _Relation(_Source):
    """DuckDB keeps the order of rows (preserve_insertion_order), but promises none of groups and joins."""

    to_settle = "DuckDB promises no order without ORDER BY: relation.order('…'), or write it to a Parquet file first."

    def schema(self) -> Any:
        return self._reader(self.X.limit(0)).schema

    def count(self) -> int:
        return int(self.X.aggregate("count(*)").fetchall()[0][0])

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        quoted = ", ".join('"{}"'.format(name.replace('"', '""')) for name in columns)
        reader = self._reader(self.X.project(quoted))
        try:
            yield from reader
        finally:
            reader.close()  # a connection has one result at a time

    @staticmethod
    def _reader(relation: Any) -> Any:
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
        return read(_READ)


class _Lazy(_Source):
    to_settle = "Does it draw random numbers, or has a file changed? Collect it, or write it to a Parquet file first."

    def schema(self) -> Any:
        return self.X.head(0).collect().to_arrow().schema

    def count(self) -> int:
        return int(self.X.select(sys.modules["polars"].len()).collect().item())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        for frame in self.X.select(list(columns)).collect_batches(chunk_size=_READ, maintain_order=True, lazy=True):
            yield from frame.to_arrow().to_batches(max_chunksize=_READ)


class _Dataset(_Source):
    to_settle = "Has a file changed? Fit again when nothing writes to it."

    def schema(self) -> Any:
        return self.X.schema

    def count(self) -> int:
        return int(self.X.count_rows())

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        few = {"batch_size": _READ, "batch_readahead": 1, "fragment_readahead": 1, "use_threads": False}
        yield from self.X.to_batches(columns=list(columns), **few)


class StreamRows(Rows):
    """Columns of numbers, asked for anew by every sweep."""

    def __init__(self, source: _Source, label: str) -> None:
        self.source, self.label = source, label
        with _readable(label):
            schema, count = source.schema(), source.count()
        self.columns, self.dtype = _numbers_in(schema, label)
        self.names: tuple[str, ...] | None = self.columns
        self.shape = count, len(self.columns)
        if not count:
            raise BadData(f"Found array with 0 sample(s) (shape={self.shape}) while a minimum of 1 is required.")
        self.overhead = 4 * _READ * len(self.columns) * 8  # batches under way, as they are and as numbers
        self._sums = dict[int, int]()  # of every block, as it came first

    def blocks(self, size: int) -> Iterator[Array]:
        count = 0
        for block in self.checked(regroup(self._settled(), size)):
            count += len(block)
            yield block
        if count != self.shape[0]:
            raise BadData(
                f"{self.label} has {counted(count, 'row')} now, not {self.shape[0]:,} as before. "
                f"{self.source.to_settle}"
            )

    def _settled(self) -> Iterator[Array]:
        """Blocks that are as they were when they came first."""
        for i, block in enumerate(regroup(_matrices(self.source, self.columns, self.dtype, self.label), _READ)):
            seen = crc32(np.ascontiguousarray(block).data)
            if self._sums.setdefault(i, seen) != seen:
                first = i * _READ
                raise BadData(
                    f"{self.label} hands over other rows than before, or in another order: rows {first:,} to "
                    f"{first + len(block) - 1:,} are not what they were. {self.source.to_settle}"
                )
            yield block


def _held(X: Any, most: float, label: str, gaps: bool) -> HeldRows:
    """All of what can be read once."""
    with _readable(label):
        reader = arrow("lib").RecordBatchReader.from_stream(X)
        columns, dtype = _numbers_in(reader.schema, label)
        pieces, size = list[Array](), 0
        for batch in reader:
            pieces.append(matrix_of(batch, columns, dtype))
            size += 2 * pieces[-1].nbytes  # in pieces, and as one
            if size > most:
                raise NoRoom(
                    f"{label} can be read only once, so that its rows are held in memory, and they are beyond the "
                    f"limit of {bytes_in_words(most)}. Give a larger memory_limit, or write them to a Parquet file."
                )
    matrix = np.concatenate([np.empty((0, len(columns)), dtype), *pieces])
    if not len(matrix):
        raise BadData(
            f"Found array with 0 sample(s) (shape={matrix.shape}) while a minimum of 1 is required: {label} has no "
            "rows, or no more: it can be read only once."
        )
    refuse_gaps_in(matrix, label, columns, 0, gaps)
    rows = HeldRows(matrix)
    rows.label, rows.names = label, columns
    return rows


def _numbers_in(schema: Any, label: str) -> tuple[tuple[str, ...], np.dtype[Any]]:
    """Its columns, which have to be numbers, and what they are computed in."""
    columns = named_columns(schema.names, Asked(), label)
    kinds = {name: schema.field(name).type for name in columns}
    wrong = no_numbers(kinds)
    if wrong:
        raise BadData(
            f"{label} has columns that are no numbers: {with_kinds(wrong)}. Select the others, or encode them as "
            "numbers; columns of all kinds are compared by kernel=mercer.kernels.TableKernel()."
        )
    if not columns:
        raise BadData(f"{label} has no columns: there is nothing to fit.")
    return columns, float_type([kind.to_pandas_dtype() for kind in kinds.values()])


def _matrices(source: _Source, columns: Sequence[str], dtype: Any, label: str) -> Iterator[Array]:
    with _readable(label):
        for batch in source.batches(columns):
            for start in range(0, batch.num_rows, _READ):
                yield matrix_of(batch.slice(start, _READ), columns, dtype)


@contextmanager
def _readable(label: str) -> Iterator[None]:
    """What a library says of its own rows, in one sentence."""
    try:
        yield
    except (MercerError, MemoryError):
        raise
    except Exception as error:
        raise BadData(f"{label} cannot be read: {error_in_short(error)}.") from None
