"""Tables in files: Parquet, Arrow and Feather, read block by block."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer.arrays import Array, arrow
from mercer.errors import BadData, counted, listed
from mercer.sources.claims import claimed_batches, largest_pages
from mercer.sources.stored import FileRows, float_type, readable
from mercer.terminal import plain

_READ = 8192  # rows that Arrow hands over at a time
_PAGE = 3_000_000  # bytes that Parquet holds for each column while its pages are decoded
_MOST_DIGITS = 76  # of a decimal
_WINDOW = 1 << 16  # bytes of a Parquet column that are read at a time


class TableRows(FileRows):
    """Columns of numbers, handed over by Arrow as record batches."""

    def __init__(self, path: Path, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
        super().__init__(path)
        _refuse_odd_name(path)
        with readable(path):
            schema = self._schema()
            self.columns = self.names = _chosen(schema.names, columns, drop, self.label)
            self.kinds = {name: schema.field(name).type for name in self.columns}
            self._refuse_text(_text_columns(self.kinds))
            self.dtype = float_type([kind.to_pandas_dtype() for kind in self.kinds.values()])
            self.shape = self._count(), len(self.columns)

    def _pieces(self, size: int) -> Iterator[Array]:
        for batch in self._batches():
            for start in range(0, batch.num_rows, _READ):
                yield self._matrix(batch.slice(start, _READ))

    def _matrix(self, batch: Any) -> Array:
        out = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for j, name in enumerate(self.columns):
            column = batch.column(name)
            simple = column.null_count == 0 and not arrow("types").is_decimal(column.type)
            out[:, j] = (column if simple else column.cast("float64", safe=False)).to_numpy(zero_copy_only=False)
        return out

    def _refuse_text(self, bad: dict[str, str], first: str = "") -> None:
        """Columns that are no numbers, named, with the way out."""
        if bad:
            columns = listed(f"{name!r} ({kind})" for name, kind in bad.items())
            raise BadData(
                f"{self.label} has columns that are no numbers: {columns}{first}. Leave them out "
                "(mercer.open_rows(path, drop=[…]), on the command line --drop NAME) or encode them as numbers."
            )

    @abstractmethod
    def _schema(self) -> Any: ...

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _batches(self) -> Iterator[Any]: ...


class ParquetRows(TableRows):
    """Row groups on demand, through a small window: pages of all columns are open at once, but no more than those."""

    def _schema(self) -> Any:
        return arrow("parquet").read_schema(self.path)

    def _count(self) -> int:
        state = arrow("parquet").read_metadata(self.path)
        groups = [state.row_group(i) for i in range(state.num_row_groups)]
        rows = sum(group.num_rows for group in groups)
        if rows != state.num_rows:
            raise BadData(f"{self.label} is damaged: it holds {counted(rows, 'row')} and claims {state.num_rows:,}.")
        usual = min(_PAGE * len(self.columns), 3 * max((group.total_byte_size for group in groups), default=0))
        self.overhead = max(usual, 3 * largest_pages(self.path, state, self.columns))
        return rows

    def _batches(self) -> Iterator[Any]:
        with arrow("parquet").ParquetFile(self.path, buffer_size=_WINDOW, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=_READ, columns=list(self.columns), use_threads=False)


class ArrowRows(TableRows):
    """Arrow's own format, also called Feather: a batch at a time, which is as large as its writer made it."""

    def _schema(self) -> Any:
        with arrow("ipc").open_file(self.path) as file:
            return file.schema

    def _count(self) -> int:
        found = claimed_batches(self.path, self._schema(), self.columns)
        self.overhead = 4 * found.largest + found.dictionaries  # as it is read, unpacked and chosen from
        return found.rows

    def _batches(self) -> Iterator[Any]:
        ipc = arrow("ipc")
        with ipc.open_file(self.path) as file:
            wanted = [file.schema.get_field_index(name) for name in self.columns]
            options = ipc.IpcReadOptions(included_fields=sorted(wanted), use_threads=False)
        with ipc.open_file(self.path, options=options) as file:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                batch.validate()  # a damaged file may claim more rows than it has bytes for
                yield batch.select(list(self.columns))


def _refuse_odd_name(path: Path) -> None:
    """Arrow takes names as UTF-8, which bytes of a name need not be."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise BadData(f"{plain(path)}: the name of this file is no UTF-8; rename it.") from None


def _chosen(names: Sequence[str], columns: Sequence[str] | None, drop: Sequence[str], label: str) -> tuple[str, ...]:
    """The columns to use, in the file's order if all, in the asked order else; never the row index of pandas."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadData(f"{label} has more than one column called {listed(map(repr, twice))}; rename them.")
    unknown = [name for name in [*(columns or ()), *drop] if name not in names]
    if unknown:
        raise BadData(f"{label} has no column {listed(map(repr, unknown))}; it has {listed(map(repr, names), 20)}.")
    repeated = [name for name, count in Counter(columns or ()).items() if count > 1]
    if repeated:
        raise BadData(f"Column {repeated[0]!r} of {label} was asked for more than once.")
    if columns is None and "" in names and "" not in drop:
        raise BadData(
            f"{label} has a column without a name: a row index, as pandas writes it? Leave it out: drop=['']."
        )
    usual = [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]
    return tuple(name for name in (usual if columns is None else columns) if name not in set(drop))


def _text_columns(kinds: dict[str, Any]) -> dict[str, str]:
    """The columns that are no numbers, and what they are instead."""
    types = arrow("types")
    number = (types.is_integer, types.is_floating, types.is_boolean, types.is_null, _sane_decimal)
    return {name: str(kind) for name, kind in kinds.items() if not any(test(kind) for test in number)}


def _sane_decimal(kind: Any) -> bool:
    """Whether its numbers can be told from 0 and infinity: no writer means 10⁻¹⁰⁰⁰, but a damaged file may."""
    return bool(arrow("types").is_decimal(kind)) and abs(kind.scale) <= _MOST_DIGITS
