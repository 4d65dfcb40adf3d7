"""Tables that Arrow reads batch by batch: Parquet, Arrow files, and everything that becomes a `TableReader`."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import ipc, types

from mercer.budget import format_bytes
from mercer.data.dataset import ArrayDataset, Dataset, Source, regroup
from mercer.data.read_options import ReadOptions, Roles
from mercer.data.reading import reading, stamp
from mercer.data.table import Table, from_arrow
from mercer.data.validation import check_finite
from mercer.errors import DataError, MemoryLimitError, MercerWarning, Remedy, warn
from mercer.text import counted, printable, short_repr

_BATCH_ROWS = 8192
_WINDOW = 1 << 16  # bytes of a Parquet column that are read at a time: this and pre_buffer=False keep the limit
_PAGE_BYTES = 3_000_000  # that Parquet holds for each column while its pages are decoded
_PAGE_RATIO = 64  # columns that are compressed more strongly may be one large page
_MOST_DIGITS = 76  # of a decimal; damaged files have more
_SAMPLE = 1000  # cells that decide whether a column of strings was meant to be numeric
_LAKES = {"_delta_log": "Delta Lake", ".hoodie": "Hudi", "metadata/version-hint.text": "Iceberg"}
NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_OTHER_NUMBER = re.compile(r"\s*[+-]?(\d{1,3}([ ,.']\d{3})+|\d*,\d+|\d*\.\d+)\s*")  # thousands, another decimal mark
_UNIT = re.compile(r"[-+$€£]?\s*[\d.,]+(\s*[a-zA-Z%€$£]+)?\s*")
_HINTS = (
    (r"\d{1,3}([ ,.']\d{3})+", " Remove the thousands separators."),
    (r"\d*,\d+", " A decimal comma? Try decimal=','."),
    (r"\d*\.\d+", " A decimal point among decimal commas?"),
    (r"[\d.eE+-]+( +[\d.eE+-]+)+", " Separated by blanks? Try delimiter='blank'."),
    (r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}.*", " A date? Store a number instead, such as days."),
    (_UNIT.pattern, " Remove the unit."),
)  # what a cell that should be a number looks like


class TableReader(ABC):
    """A table that Arrow reads batch by batch, any number of times."""

    name: str
    memory: int  # limit of everything that is read
    schema: pa.Schema
    num_rows: int
    notes: tuple[MercerWarning, ...] = ()

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some columns, numbers as numbers."""

    @abstractmethod
    def reading_bytes(self, columns: Sequence[str]) -> int:
        """An estimate, from metadata, of the memory that reading takes besides the blocks."""

    def fingerprint(self) -> object:
        """What changes when the table is written to; None if unknown."""
        return None

    def locate(self, row: int) -> str:
        """A row as it is called in messages."""
        return f"row index {row}"

    def text_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some columns as they are stored: a text file gives strings, byte for byte."""
        return self.batches(columns)

    def complete_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The same for a pass that is read to its end, in which a text file is counted and checked."""
        return self.text_batches(columns)

    def read_columns(
        self, names: Sequence[str], budget: int, optional: Sequence[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        """Whole columns in one pass. Optional ones are given up when all would exceed the budget."""
        if names and self.reading_bytes(names) > budget:
            raise self._too_large(names, self.reading_bytes(names), budget)
        chunks: dict[str, list[pa.Array]] = {name: [] for name in names}
        size = 0
        for batch in self.complete_batches(names) if names else ():
            for name, parts in chunks.items():
                parts.append(batch.column(name))
                size += parts[-1].nbytes
            if size > budget:
                chunks = {name: parts for name, parts in chunks.items() if name not in optional}
                size = sum(part.nbytes for parts in chunks.values() for part in parts)
                if size > budget or not chunks:
                    break
        if size > budget:
            raise self._too_large(names, size, budget)
        stored = {name: self.schema.field(name).type for name in chunks}
        return {
            name: pa.chunked_array(parts, parts[0].type if parts else stored[name]) for name, parts in chunks.items()
        }

    def _too_large(self, names: Sequence[str], needed: int, limit: int) -> MemoryLimitError:
        which = f"column {short_repr(names[0])}" if len(names) == 1 else counted(len(names), "column")
        return MemoryLimitError(
            f"Reading {which} of {self.name} takes at least {format_bytes(needed)}, and the limit is "
            f"{format_bytes(limit)}.",
            needed=needed,
            limit=limit,
            remedies=[Remedy("drop", list(names[:5]))],
        )

    def check_memory(self, columns: Sequence[str], limit: int, held: int = 0) -> None:
        """Raise an error, before anything is decompressed, if reading these columns exceeds the limit."""
        needed = self.reading_bytes(columns) + held
        if needed > limit:
            raise self._too_large(columns, needed, limit)

    def find_misspelled_numbers(self, columns: Sequence[str]) -> list[str]:
        """Columns of strings of which half of the first cells are numbers, or that are numbers with a unit."""
        found = [n for n in columns if types.is_decimal(self.schema.field(n).type)]
        for name, cells in self._first_cells(columns).items():
            n_numbers = sum(
                bool(NUMBER.fullmatch(self.as_number(cell)) or _OTHER_NUMBER.fullmatch(cell)) for cell in cells
            )
            if cells and (2 * n_numbers >= len(cells) or _have_units(cells)) and not self.are_codes(name):
                found.append(name)
        return found

    def first_text(self, column: str) -> tuple[int | None, str | None, str]:
        """Row, value and a hint for the first cell of a column that is not a number."""
        for row, cell in enumerate(self._first_cells([column], keep_missing=True).get(column, ())):
            if cell and not self.is_missing(cell) and not NUMBER.fullmatch(self.as_number(cell)):
                return row, cell, hint_for(cell)
        return None, None, ""

    def _first_cells(self, columns: Sequence[str], keep_missing: bool = False) -> dict[str, list[str]]:
        columns = [n for n in columns if self.is_string(self.schema.field(n).type)]
        self.check_memory(columns, self.memory)
        batch = next(iter(self.text_batches(columns)), None) if columns else None
        if batch is None:
            return {}
        cells = {n: batch.column(n)[:_SAMPLE].to_pylist() for n in columns}
        return cells if keep_missing else {n: [c for c in v if c and not self.is_missing(c)] for n, v in cells.items()}

    def as_number(self, cell: str) -> str:
        """A cell with a decimal point."""
        return cell

    def is_missing(self, cell: str) -> bool:
        """Whether a string stands for a missing number."""
        return cell.strip().lower() in ("", "na", "n/a", "nan", "null", "none", "?")

    def are_codes(self, column: str) -> bool:
        """Whether a column was recognized as text although its cells are digits."""
        return False

    @staticmethod
    def is_numeric(kind: pa.DataType) -> bool:
        """Whether values of a type become numbers."""
        if types.is_decimal(kind):
            return abs(kind.scale) <= _MOST_DIGITS
        return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)

    @staticmethod
    def is_integer(kind: pa.DataType) -> bool:
        """Whether values of a type are integers."""
        return bool(types.is_integer(kind))

    @staticmethod
    def is_string(kind: pa.DataType) -> bool:
        """Whether values of a type are strings, also as categories."""
        kind = kind.value_type if types.is_dictionary(kind) else kind
        return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def hint_for(cell: str) -> str:
    """What a cell that is not a number looks like."""
    text = cell.strip().lstrip("+-")
    return next((hint for form, hint in _HINTS if re.fullmatch(form, text, re.DOTALL)), "")


def _have_units(cells: Sequence[str]) -> bool:
    """Equal units, of two letters or after a blank: "12 kg" and "12mm" are numbers, "1A" and "2B" are names."""
    units = {match[1] if (match := _UNIT.fullmatch(cell)) else None for cell in cells}
    unit = units.pop() if len(units) == 1 else None
    return unit is not None and (len(unit) > 1 or not unit.isalpha())


class ParquetReader(TableReader):
    """A Parquet file, or all files below a folder in the order of their names."""

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        self.name, self.path, self.memory = printable(path), path, memory
        self.files = _files_below(path) if path.is_dir() else [path]
        self._keys = {file: _folder_keys(file, path) for file in self.files}
        self._metadata = {}
        for file in self.files:
            with reading(file):
                found = pq.read_metadata(file)
                groups = [found.row_group(i).num_rows for i in range(found.num_row_groups)]
                if sum(groups) != found.num_rows:
                    raise DataError(
                        f"{printable(file)} is damaged: its row groups have {sum(groups):,} rows, not "
                        f"{found.num_rows:,}.",
                        source=file,
                    )
                self._metadata[file] = found
        self.files = [file for file in self.files if self._metadata[file].num_rows] or self.files[:1]
        self._starts = np.cumsum([0, *(self._metadata[file].num_rows for file in self.files)])
        self.num_rows = int(self._starts[-1])
        self._schemas = {file: self._metadata[file].schema.to_arrow_schema() for file in self.files}
        self.schema = self._unify({*(options.columns or ()), *options.metadata, options.id}, options.drop)

    def _unify(self, asked: set[str | None], drop: Sequence[str]) -> pa.Schema:
        """One schema for all files. Keys of folders are columns only if they are asked for."""
        first, schema = self.files[0], self._schemas[self.files[0]]
        for file in self.files[1:]:
            lacking = {*schema.names} ^ {*self._schemas[file].names} - {*drop}
            lacking = {n for n in lacking if n not in drop and (not asked - {None} or n in asked)}
            if lacking:
                has = "lacks" if lacking - {*self._schemas[file].names} else "has in addition"
                raise DataError(
                    f"{printable(file)} {has} column {short_repr(min(lacking))}, compared with {printable(first)}.",
                    source=file,
                )
            try:
                schema = pa.unify_schemas([schema, self._schemas[file]], promote_options="permissive")
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise DataError(
                    f"{printable(file)} and {printable(first)} have columns of different types: {error}.", source=file
                ) from None
        for key in dict.fromkeys(key for keys in self._keys.values() for key in keys):
            if key in asked and key not in schema.names:
                values = pa.array([self._keys[file].get(key) for file in self.files])
                schema = schema.append(pa.field(key, values.type))
        return schema

    def reading_bytes(self, columns: Sequence[str]) -> int:
        wanted, largest = set(columns), dict[str, int]()
        for found in self._metadata.values():
            for i in range(found.num_row_groups):
                group = found.row_group(i)
                for j in range(group.num_columns):
                    chunk = group.column(j)
                    top = chunk.path_in_schema.partition(".")[0]
                    if top in wanted or chunk.path_in_schema in wanted:
                        dense = chunk.total_uncompressed_size
                        honest = dense <= _PAGE_RATIO * max(1, chunk.total_compressed_size)
                        need = min(dense, _PAGE_BYTES) if honest else dense
                        largest[top] = max(largest.get(top, 0), need)
        return sum(largest.values())

    def fingerprint(self) -> object:
        return [stamp(file) for file in self.files]

    def locate(self, row: int) -> str:
        if self.path == self.files[0]:
            return super().locate(row)
        i = int(np.searchsorted(self._starts, row, side="right")) - 1
        return f"{printable(self.files[i])}, row index {row - int(self._starts[i])}"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        target = pa.schema([self.schema.field(name) for name in columns])
        for file in self.files:
            stored = [name for name in columns if name in self._schemas[file].names]
            with reading(file), pq.ParquetFile(file, buffer_size=_WINDOW, pre_buffer=False) as opened:
                for batch in opened.iter_batches(_BATCH_ROWS, columns=stored, use_threads=False):
                    yield self._complete(batch, file, target) if batch.schema != target else batch

    def _complete(self, batch: pa.RecordBatch, file: Path, target: pa.Schema) -> pa.RecordBatch:
        """The batch with the keys of its folders, in the types that all files share."""
        arrays = []
        for field in target:
            if field.name in batch.schema.names:
                arrays.append(batch.column(field.name).cast(field.type, safe=False))
            else:
                value = pa.scalar(self._keys[file].get(field.name), field.type)
                arrays.append(pa.repeat(value, batch.num_rows))
        return pa.RecordBatch.from_arrays(arrays, schema=target)


def _files_below(path: Path) -> list[Path]:
    for mark, lake in _LAKES.items():
        if (path / mark).exists():
            raise DataError(
                f"{printable(path)} is a {lake} table, and not all of its files are current. Open it with its own "
                "library and pass the dataset.",
                source=path,
            )
    inside = [file for file in path.rglob("*") if not any(p[0] in "._" for p in file.relative_to(path).parts)]
    files = [file for file in inside if file.is_file()]
    tables = sorted(file for file in files if file.suffix.lower() in (".parquet", ".pq"))
    if not tables:
        raise DataError(f"{printable(path)} is a folder without Parquet files.", source=path)
    if len(files) > len(tables):
        warn(f"{counted(len(files) - len(tables), 'file')} in {printable(path)} are not Parquet files and are skipped.")
    return tables


def _folder_keys(file: Path, folder: Path) -> dict[str, Any]:
    """Values of the folders named key=value above a file."""
    keys = {} if file == folder else dict(p.split("=", 1) for p in file.relative_to(folder).parts[:-1] if "=" in p)
    scheme = ds.HivePartitioning(pa.schema([(key, _key_type(value)) for key, value in keys.items()]))
    return (
        dict(ds.get_partition_keys(scheme.parse("/".join(f"{k}={v}" for k, v in keys.items()) + "/"))) if keys else {}
    )


def _key_type(value: str) -> pa.DataType:
    return pa.int64() if re.fullmatch(r"-?(0|[1-9]\d{0,17})", value) else pa.string()


class IpcReader(TableReader):
    """An Arrow file, also called Feather. A batch is as large as its writer made it."""

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        self.name, self.path, self.memory = printable(path), path, memory
        with ipc.open_file(path) as file:
            self.schema, self._n_batches = file.schema, file.num_record_batches
        self.num_rows = ds.dataset(path, format="ipc").count_rows()

    def reading_bytes(self, columns: Sequence[str]) -> int:
        rows = -(-self.num_rows // max(1, self._n_batches))
        return 4 * rows * sum(_width(self.schema.field(name).type) for name in columns)

    def fingerprint(self) -> object:
        return stamp(self.path)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = sorted(self.schema.get_field_index(name) for name in columns)
        options = ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        with ipc.open_file(self.path, options=options) as file:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                batch.validate(full=True)  # offsets of strings outside their buffer would end the process
                for start in range(0, batch.num_rows, _BATCH_ROWS):
                    yield batch.slice(start, _BATCH_ROWS).select(list(columns))


def _width(kind: pa.DataType) -> int:
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:
        return 16  # strings and lists: an offset and a few characters


class ArrowDataset(Dataset):
    """Numeric columns of a table, read in blocks."""

    def __init__(self, reader: TableReader, roles: Roles, memory: int) -> None:
        held = sum(column.nbytes for column in roles.metadata.columns.values())
        reader.check_memory(roles.features, memory, held)
        self.reader, self.feature_names, self.metadata = reader, roles.features, roles.metadata
        self.source = Source(reader.name, getattr(reader, "path", None), roles.notes)
        self.shape = reader.num_rows, len(roles.features)
        kinds = [reader.schema.field(name).type for name in roles.features]
        single = all(types.is_floating(kind) and kind.bit_width <= 32 for kind in kinds)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        self.reading_bytes = reader.reading_bytes(roles.features) + held
        self._columns, self._stamp = roles.features, reader.fingerprint()

    def blocks(self, size: int) -> Iterator[NDArray]:
        with reading(self.source.path or self.source.name):
            self._check_unchanged(self.shape[0])
            start = 0
            matrices = (to_matrix(batch, self._columns, self.dtype) for batch in self.reader.batches(self._columns))
            for block in regroup(matrices, size):
                check_finite(block, self, start, self.reader.locate)
                yield block
                start += len(block)
            self._check_unchanged(start)

    def _check_unchanged(self, n_rows: int) -> None:
        if n_rows != self.shape[0] or self.reader.fingerprint() != self._stamp:
            raise DataError(f"{self.source.name} has changed since it was opened.", source=self.source.name)


def to_matrix(batch: pa.RecordBatch, columns: Sequence[str], dtype: np.dtype) -> NDArray:
    """Columns of a batch as a matrix; nulls become NaN."""
    matrix = np.empty((batch.num_rows, len(columns)), dtype=dtype)
    for j, name in enumerate(columns):
        column = batch.column(name)
        if column.null_count or types.is_decimal(column.type):
            column = column.cast(pa.float64(), safe=False)
        matrix[:, j] = column.to_numpy(zero_copy_only=False)
    return matrix


def read_strings(reader: TableReader, roles: Roles, memory: int) -> Dataset:
    """One column of a table as strings in memory."""
    if len(roles.features) != 1:
        raise DataError(
            f"{reader.name} has {len(roles.features)} columns, and strings are one column.",
            source=reader.name,
            remedies=[Remedy("text", roles.features[0])],
        )
    (name,) = roles.features
    column = reader.read_columns([name], memory // 3)[name]  # Python's strings take more than Arrow's
    if not (reader.is_string(column.type) or types.is_binary(column.type)):
        raise DataError(f"Column {name!r} of {reader.name} holds {column.type}, not strings.", source=reader.name)
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise DataError(f"{reader.locate(row)} of {reader.name} has no string.", source=reader.name, row=row)
    strings = np.empty(len(column), dtype=object)
    strings[:] = column.to_pylist()
    return _in_memory(ArrayDataset(strings, "strings", owns_samples=True), reader, roles)


def read_table(reader: TableReader, roles: Roles, memory: int) -> Dataset:
    """All columns of a table in memory, each with its own type."""
    reader.check_memory(roles.features, memory)
    chunks, size = [], 0
    for batch in reader.batches(roles.features):
        chunks.append(batch)
        size += batch.nbytes
        if 2 * size > memory:  # the table and its columns
            raise reader._too_large(roles.features, 2 * size, memory)
    table: Table = from_arrow(pa.Table.from_batches(chunks), reader.name)
    data = ArrayDataset(table, "table", owns_samples=True)
    data.shape = len(table), len(table.names)
    return _in_memory(data, reader, roles)


def _in_memory(data: Dataset, reader: TableReader, roles: Roles) -> Dataset:
    data.feature_names, data.metadata = roles.features, roles.metadata
    data.source = Source(reader.name, getattr(reader, "path", None), roles.notes)
    return data


TABLE_KINDS: dict[str, Callable[[TableReader, Roles, int], Dataset]] = {
    "vectors": ArrowDataset,
    "strings": read_strings,
    "table": read_table,
}
