"""Tables that Arrow reads batch by batch: Parquet, Arrow files, and everything that becomes a `TableReader`."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow import ipc, types

from mercer.data.dataset import ArrayDataset, Dataset, Source, object_array, regroup
from mercer.data.ipc_sizes import read_sizes
from mercer.data.read_options import ReadOptions, Roles
from mercer.data.reading import changed, check_memory, check_regular, reading, stamp, unreadable
from mercer.data.table import from_arrow
from mercer.data.validation import ROWS_THAT_COUNT, check_finite, is_counting
from mercer.errors import DataError, MercerWarning, Remedy, warn
from mercer.text import counted, listed, printable, short_repr

BATCH_ROWS = 8192
_WINDOW = 1 << 16  # bytes of a Parquet column that are read at a time: this and pre_buffer=False keep the limit
_PAGE_BYTES = 3_000_000  # that Parquet holds for each column while its pages are decoded
_COLUMN_BYTES = 10_000  # that Parquet takes to read a column, however short it is
_FOOTER_TIMES = 6  # memory for the metadata of a Parquet file, in units of their size
_PAGE_RATIO = 64  # columns that are compressed more strongly may be one large page
_COPY_BYTES = 60  # for each value that is copied: an entry of the table that finds duplicates, a Python object
_CATEGORY_BYTES = 170  # for each distinct string of a table in memory
_MOST_DIGITS = 76  # of a decimal; damaged files have more
_SAMPLE = 1000  # cells that decide whether a column of strings was meant to be numeric
_LAKES = {"_delta_log": "Delta Lake", ".hoodie": "Hudi", "metadata/version-hint.text": "Iceberg"}
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_OTHER_NUMBER = re.compile(r"\s*[+-]?(\d{1,3}([ ,.']\d{3})+|\d*,\d+|\d*\.\d+)\s*")  # thousands, another decimal mark
_UNIT = re.compile(r"[-+$€£]?\s*[\d.,]+(\s*[a-zA-Z%€$£]+)?\s*")
MISSING = (
    *("", "NA", "na", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", "."),
    *("n/a", "NAN", "-nan", "-NaN", "Null", "none", "NONE", "missing", "Missing", "--", "#N/A", "#NA"),
)  # strings that stand for a missing number, the common ones first
_MISSING = {text.lower() for text in MISSING}
_HINTS: tuple[tuple[str, str, tuple[Remedy, ...]], ...] = (
    (r"\d{1,3},\d{3}", " Remove the thousands separators.", (Remedy("decimal", ","),)),
    (r"\d{1,3}([ ,.']\d{3})+", " Remove the thousands separators.", ()),
    (r"\d*,\d+", "", (Remedy("decimal", ","),)),
    (r"\d*\.\d+", " A decimal point among decimal commas?", ()),
    (r"[\d.eE+-]+( +[\d.eE+-]+)+", "", (Remedy("delimiter", "blank"),)),
    (r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}.*", " A date? Store a number instead, such as days.", ()),
    (r".*\0.*", " There are NUL bytes. Is it UTF-16, or damaged?", ()),
    (r"[$€£]\s*[\d.,]+|[\d.,]+\s*[a-zA-Z%€$£]{1,3}", " Remove the unit.", ()),
)  # what a cell that should be a number looks like


class TableReader(ABC):
    """A table that Arrow reads batch by batch, any number of times."""

    name: str
    path: Path | None = None
    memory: int  # limit of everything that is read
    schema: pa.Schema
    num_rows: int
    has_names = True  # False: columns are numbered
    is_text = False  # whether it is a text file
    decimal = "."
    codes: Mapping[str, str] = {}  # columns that are text although their cells are digits, and one of the cells
    notes: tuple[MercerWarning, ...] = ()

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some columns, numbers as numbers."""

    def text_batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """All rows of some columns as they are stored: a text file gives strings, byte for byte."""
        return self.batches(columns)

    @abstractmethod
    def reading_bytes(self, columns: Sequence[str]) -> int:
        """An estimate, from metadata, of the memory that reading takes besides the blocks."""

    def explain_size(self, columns: Sequence[str]) -> str:
        """Why some columns take much memory, if that is known."""
        return ""

    def check_memory(self, columns: Sequence[str], needed: int | None = None) -> None:
        """Raise an error if these columns need more than the limit; by default, to be read."""
        needed = self.reading_bytes(columns) if needed is None else needed
        if needed > self.memory:
            which = f"column {short_repr(columns[0])}" if len(columns) == 1 else counted(len(columns), "column")
            remedies = [Remedy("columns", ["…"])]
            check_memory(f"{which} of {self.name}", needed, self.memory, self.explain_size(columns), remedies)

    def fingerprint(self) -> object:
        """What changes when the table is written to; None if unknown."""
        return None if self.path is None else stamp(self.path)

    def locate(self, row: int) -> str:
        """A row as it is called in messages."""
        return f"row index {row}"

    def describe(self, column: str) -> str:
        """The type of a column."""
        code = self.codes.get(column)
        return str(self.schema.field(column).type) if code is None else f"codes such as {short_repr(code)}"

    def is_numeric(self, column: str) -> bool:
        """Whether the values of a column become numbers."""
        return is_numeric(self.schema.field(column).type)

    def is_integer(self, column: str) -> bool:
        """Whether the values of a column are integers."""
        return bool(types.is_integer(self.schema.field(column).type))

    def is_string(self, column: str) -> bool:
        """Whether the values of a column are strings, also as categories."""
        return _is_string(self.schema.field(column).type)

    def read_columns(
        self, names: Sequence[str], budget: int, optional: Sequence[str] = (), copied: Sequence[str] = ()
    ) -> dict[str, pa.ChunkedArray]:
        """Whole columns in one pass. The optional ones are given up if all together exceed the budget.

        Columns that are `copied` later, to find duplicates or as Python's strings, are charged for it.
        """
        found, needed = self._fill(list(dict.fromkeys(names)), budget, copied)
        if needed > budget:
            found, needed = self._fill([n for n in found if n not in optional], budget, copied)
        self.check_memory([*found], -(-needed * self.memory // budget))  # the budget is a part of the limit
        return found

    def _fill(self, names: list[str], budget: int, copied: Sequence[str]) -> tuple[dict[str, pa.ChunkedArray], int]:
        """Columns, and the memory that they need: if it exceeds the budget, an estimate from the first rows."""
        chunks: dict[str, list[pa.Array]] = {name: [] for name in names}
        base, size, n_rows = self.reading_bytes(names) if names else 0, 0, 0
        for batch in self.text_batches(names) if names and base <= budget else ():
            n_rows += batch.num_rows
            for name, some in chunks.items():
                column = batch.column(name)
                some.append(column.dictionary_decode() if types.is_dictionary(column.type) else column)
                size += 3 * some[-1].nbytes + _COPY_BYTES * len(column) if name in copied else some[-1].nbytes
            if size > budget:
                size = max(size, size * self.num_rows // n_rows)
                break
        stored = {name: self.schema.field(name).type for name in names}
        found = {name: pa.chunked_array(some, some[0].type if some else stored[name]) for name, some in chunks.items()}
        return found, max(base, size)

    # ------------------------------------------------------------------ what the first rows look like

    def _first_batch(self, columns: Sequence[str], text: bool) -> Any:
        """The first rows of some columns; None if there are none."""
        if not columns:
            return None
        self.check_memory(columns)
        return next(iter(self.text_batches(columns) if text else self.batches(columns)), None)

    def find_counting(self, columns: Sequence[str]) -> list[str]:
        """Columns whose first rows are 0, 1, 2, … or 1, 2, 3, …"""
        batch = self._first_batch(columns, text=False) if self.num_rows >= ROWS_THAT_COUNT else None
        if batch is None:
            return []
        return [name for name in columns if is_counting(batch.column(name).to_numpy(zero_copy_only=False))]

    def find_misspelled_numbers(self, columns: Sequence[str]) -> list[str]:
        """Columns of strings of which half of the first cells are numbers, or that are numbers with a unit."""
        found = [n for n in columns if types.is_decimal(self.schema.field(n).type)]
        texts = [n for n in columns if self.is_string(n) and n not in self.codes]
        batch = self._first_batch(texts, text=True)
        for name in texts if batch is not None else ():
            cells = [cell for cell in batch.column(name)[:_SAMPLE].to_pylist() if not is_missing(cell)]
            n_numbers = sum(self._is_number(cell) or bool(_OTHER_NUMBER.fullmatch(cell)) for cell in cells)
            if cells and (2 * n_numbers >= len(cells) or _have_units(cells)):
                found.append(name)
        return found

    def first_text(self, column: str) -> tuple[int | None, str]:
        """Row and value of the first cell of a column that is not a number."""
        batch = self._first_batch([column], text=True) if self.is_string(column) else None
        for row, cell in enumerate(batch.column(column).to_pylist() if batch is not None else ()):
            if not is_missing(cell) and (column in self.codes or not self._is_number(cell)):
                return row, cell
        return None, ""

    def _is_number(self, cell: str) -> bool:
        if self.decimal == ",":
            cell = cell.replace(".", " ").replace(",", ".")
        return bool(NUMBER.fullmatch(cell))

    def hint_for(self, cell: str) -> tuple[str, tuple[Remedy, ...]]:
        """What to do about a cell that is not a number."""
        text = cell.strip().lstrip("+-")
        for pattern, sentence, remedies in _HINTS:
            if re.fullmatch(pattern, text, re.DOTALL | re.ASCII):
                return sentence, remedies if self.is_text else ()
        return "", ()


def is_missing(cell: str | None) -> bool:
    """Whether a string stands for a missing number."""
    return cell is None or cell.strip().lower() in _MISSING


def _have_units(cells: Sequence[str]) -> bool:
    """Equal units, of two letters or after a blank: "12 kg" and "12mm" are numbers, "1A" and "2B" are names."""
    units = {match[1] if (match := _UNIT.fullmatch(cell)) else None for cell in cells}
    unit = units.pop() if len(units) == 1 else None
    return unit is not None and (len(unit) > 1 or not unit.isalpha())


def is_numeric(kind: pa.DataType) -> bool:
    """Whether values of a type become numbers."""
    if types.is_decimal(kind):
        return abs(kind.scale) <= _MOST_DIGITS
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)


def _is_string(kind: pa.DataType) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def float_dtype(schema: pa.Schema, columns: Sequence[str]) -> np.dtype:
    """float32 if all columns are floats of at most 32 bits, else float64."""
    kinds = [schema.field(name).type for name in columns]
    single = all(types.is_floating(kind) and kind.bit_width <= 32 for kind in kinds)
    return np.dtype(np.float32 if single else np.float64)


class ParquetReader(TableReader):
    """A Parquet file, or all files below a folder in the order of their names."""

    path: Path

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        self.name, self.path, self.memory = printable(path), path, memory
        files = _files_below(path) if path.is_dir() else [path]
        check_memory(f"the metadata of {self.name}", _FOOTER_TIMES * sum(map(_footer_bytes, files)), memory)
        found = {file: _read_metadata(file) for file in files}
        self._metadata = {file: state for file, state in found.items() if state.num_rows} or {files[0]: found[files[0]]}
        self.files = [*self._metadata]
        self._starts = np.cumsum([0, *(state.num_rows for state in self._metadata.values())])
        self.num_rows = int(self._starts[-1])
        self._schemas = {file: state.schema.to_arrow_schema() for file, state in self._metadata.items()}
        self._keys = _folder_keys(path, self.files) if path.is_dir() else {}
        self.schema = self._unify(options)
        if path.is_dir():
            self.notes = (MercerWarning(f"{counted(len(self.files), 'Parquet file')} in the order of names.", "note"),)

    def _unify(self, options: ReadOptions) -> pa.Schema:
        """One schema for all files. Keys of folders are columns only if they are named."""
        first, *others = self.files
        schema = self._schemas[first]
        keys = {name: values[0].type for name, values in self._keys.items() if name in options.named}
        kinds = dict(zip(schema.names, schema.types, strict=True))
        if len(kinds) < len(schema.names):
            return schema  # names that occur twice are an error later
        kinds |= {name: kind for name, kind in keys.items() if name not in kinds}
        for file in others:
            mine = self._schemas[file]
            wanted = ({*kinds, *mine.names} if options.columns is None else options.named) - {*options.drop}
            for name in sorted(wanted & ({*kinds} ^ {*mine.names}) - {*keys}):
                has = "has" if name in mine.names else "lacks"
                text = f"{printable(file)} {has} column {short_repr(name)}, unlike {printable(first)}."
                raise _unlike(f"{text} All files of a folder need the same columns.", file, name)
            for name in wanted & {*kinds} & {*mine.names}:
                kind = _common_type(kinds[name], mine.field(name).type)
                if kind is None:
                    text = f"Column {short_repr(name)} is {mine.field(name).type} in {printable(file)}"
                    raise _unlike(f"{text} and {kinds[name]} in {printable(first)}.", file, name)
                kinds[name] = kind
        return pa.schema(list(kinds.items()), metadata=schema.metadata)

    def reading_bytes(self, columns: Sequence[str]) -> int:
        largest = dict[str, int]()
        for name, dense, packed in self._chunks(columns):
            need = min(dense, _PAGE_BYTES) if dense <= _PAGE_RATIO * packed else dense
            largest[name] = max(largest.get(name, 0), need + _COLUMN_BYTES)
        return sum(largest.values())

    def explain_size(self, columns: Sequence[str]) -> str:
        ratios = {name: dense // packed for name, dense, packed in self._chunks(columns) if dense > _PAGE_BYTES}
        name, ratio = max(ratios.items(), key=lambda item: item[1], default=("", 0))
        if ratio <= _PAGE_RATIO:
            return ""
        return (
            f" Column {short_repr(name)} is compressed {ratio:,}-fold, and the file does not show how much of it is "
            "decompressed at once."
        )

    def _chunks(self, columns: Sequence[str]) -> Iterator[tuple[str, int, int]]:
        """Column, decompressed and compressed bytes of each column chunk."""
        wanted = set(columns)
        for found in self._metadata.values():
            for group in map(found.row_group, range(found.num_row_groups)):
                for chunk in map(group.column, range(group.num_columns)):
                    name = chunk.path_in_schema  # its first part is the column, for lists and structures
                    name = name if name in wanted else name.split(".")[0]
                    if name in wanted:
                        yield name, chunk.total_uncompressed_size, max(1, chunk.total_compressed_size)

    def fingerprint(self) -> object:
        return [stamp(file) for file in self.files]

    def locate(self, row: int) -> str:
        if self.path == self.files[0]:
            return super().locate(row)
        i = int(np.searchsorted(self._starts, row, side="right")) - 1
        return f"{printable(self.files[i])}, row index {row - int(self._starts[i])}"

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for i in range(len(self.files)):
            yield from self.file_batches(i, columns)

    def file_batches(
        self, i: int, columns: Sequence[str], row_groups: Sequence[int] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Rows of one file, or of some of its row groups."""
        target, file = pa.schema([self.schema.field(name) for name in columns]), self.files[i]
        present = set(self._schemas[file].names)
        stored = [name for name in columns if name in present]
        start = 0
        with reading(file), pq.ParquetFile(file, buffer_size=_WINDOW, pre_buffer=False) as opened:
            for batch in opened.iter_batches(BATCH_ROWS, row_groups=row_groups, columns=stored, use_threads=False):
                _check_strings(batch, file, start)
                start += batch.num_rows
                yield batch if batch.schema == target else self._complete(batch, i, target)

    def row_groups(self) -> list[list[int]]:
        """Rows of each row group of each file."""
        return [[f.row_group(i).num_rows for i in range(f.num_row_groups)] for f in self._metadata.values()]

    def for_workers(self) -> Self:
        """A copy that reads in any working folder, without the metadata of the files, which may be large."""
        made = copy(self)
        made.path, made.files = self.path.absolute(), [file.absolute() for file in self.files]
        made._schemas = {file.absolute(): schema for file, schema in self._schemas.items()}
        made._metadata = {}
        return made

    def _complete(self, batch: pa.RecordBatch, file: int, target: pa.Schema) -> pa.RecordBatch:
        """The batch with the keys of its folders, in the types that all files share."""
        present = set(batch.schema.names)
        arrays = [
            batch.column(field.name).cast(field.type, safe=False)
            if field.name in present
            else pa.repeat(self._keys[field.name][file], batch.num_rows)
            for field in target
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=target)


def _check_strings(batch: pa.RecordBatch, file: Path, first_row: int) -> None:
    """Raise for strings that are not UTF-8, which Parquet files do not check."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not _is_string(column.type):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            place = re.search(r"string index (\d+)", str(error))
            row = None if place is None or types.is_dictionary(column.type) else first_row + int(place[1])
            where = "" if row is None else f" in row index {row}"
            text = f"Column {short_repr(name)} of {printable(file)} has bytes that are not UTF-8{where}."
            remedies = [Remedy("drop", [name])]
            raise DataError(text, source=file, row=row, column=name, remedies=remedies) from None


def _footer_bytes(file: Path) -> int:
    """Size of the metadata, which grow with columns and row groups, at the end of a Parquet file."""
    with reading(file):
        check_regular(file)
        with file.open("rb") as opened:
            opened.seek(max(0, file.stat().st_size - 8))
            return min(int.from_bytes(opened.read(4), "little"), opened.tell())


def _read_metadata(file: Path) -> Any:
    with reading(file):
        found = pq.read_metadata(file)
        n_rows = sum(found.row_group(i).num_rows for i in range(found.num_row_groups))
        if n_rows != found.num_rows:
            raise unreadable(file, f"its row groups have {n_rows:,} rows, and its metadata claim {found.num_rows:,}")
        return found


def _common_type(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """A type for the values of both, if there is one."""
    if one == other or types.is_null(other):
        return one
    if types.is_null(one):
        return other
    if all(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) for kind in (one, other)):
        return pa.float64()
    return pa.large_string() if _is_string(one) and _is_string(other) else None


def _unlike(text: str, file: Path, column: str) -> DataError:
    return DataError(text, source=file, column=column, remedies=[Remedy("drop", [column])])


def _files_below(path: Path) -> list[Path]:
    for mark, lake in _LAKES.items():
        if (path / mark).exists():
            text = f"{printable(path)} is a {lake} table, and not all of its files are current."
            raise DataError(f"{text} Open it with its own library and pass the dataset.", source=path)
    inside = [file for file in path.rglob("*") if not any(p[0] in "._" for p in file.relative_to(path).parts)]
    files = [file for file in inside if file.is_file()]
    tables = sorted(file for file in files if file.suffix.lower() in (".parquet", ".pq"))
    if not tables:
        raise DataError(f"{printable(path)} is a folder without Parquet files.", source=path)
    known = set(tables)
    others = [file.name for file in files if file not in known]
    if others:
        verb = "is not a Parquet file and is skipped" if len(others) == 1 else "are not Parquet files and are skipped"
        warn(f"{listed(map(short_repr, others), 3)} in {printable(path)} {verb}.")
    return tables


def _folder_keys(folder: Path, files: Sequence[Path]) -> dict[str, list[pa.Scalar]]:
    """Values of the folders named key=value above each file: integers or numbers if all are, else strings."""
    found = [[part.split("=", 1) for part in file.relative_to(folder).parts[:-1] if "=" in part] for file in files]
    keys = {}
    for name in dict.fromkeys(unquote(name) for pairs in found for name, _ in pairs):
        texts = [next((unquote(value) for key, value in pairs if unquote(key) == name), _NO_VALUE) for pairs in found]
        values = pa.array([None if text == _NO_VALUE else text for text in texts], pa.string())
        for kind in (pa.int64(), pa.float64()):
            try:
                values = values.cast(kind)
                break
            except pa.ArrowInvalid:
                continue
        keys[name] = list(values)
    return keys


class IpcReader(TableReader):
    """An Arrow file, also called Feather. A batch is as large as its writer made it."""

    path: Path

    def __init__(self, path: Path, options: ReadOptions, memory: int) -> None:
        self.name, self.path, self.memory = printable(path), path, memory
        check_regular(path)
        with ipc.open_file(path) as file:
            self.schema = file.schema
        self._sizes = read_sizes(path)
        self.num_rows = sum(self._sizes.rows)

    def reading_bytes(self, columns: Sequence[str]) -> int:
        return self._sizes.largest(self.schema, columns)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = sorted(self.schema.get_field_index(name) for name in columns)
        options = ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        with ipc.open_file(self.path, options=options) as file:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                batch.validate(full=True)  # offsets of strings outside their buffer would end the process
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS).select(list(columns))


class ArrowDataset(Dataset):
    """Numeric columns of a table, read in blocks."""

    def __init__(self, reader: TableReader, roles: Roles) -> None:
        held = sum(column.nbytes for column in roles.metadata.columns.values())
        self.reading_bytes = reader.reading_bytes(roles.features) + held
        reader.check_memory(roles.features, self.reading_bytes)
        self.reader, self.columns, self._stamp = reader, roles.features, reader.fingerprint()
        self.shape = reader.num_rows, len(roles.features)
        self.dtype = float_dtype(reader.schema, roles.features)
        self.nbytes = self.shape[0] * self.shape[1] * self.dtype.itemsize
        _describe(self, reader, roles)

    def blocks(self, size: int) -> Iterator[NDArray]:
        with reading(self.source.path or self.source.name):
            self._check_unchanged(self.shape[0])
            start = 0
            for block in regroup(self._matrices(), size):
                check_finite(block, self, start, self.reader.locate)
                yield block
                start += len(block)
            self._check_unchanged(start)

    def _matrices(self) -> Iterator[NDArray]:
        return (to_matrix(batch, self.columns, self.dtype) for batch in self.reader.batches(self.columns))

    def _check_unchanged(self, n_rows: int) -> None:
        if n_rows != self.shape[0] or self.reader.fingerprint() != self._stamp:
            raise changed(self.source.name)


def _describe(data: Dataset, reader: TableReader, roles: Roles) -> Dataset:
    """The data with their names, metadata and source."""
    data.feature_names = roles.features if reader.has_names else None
    data.metadata, data.source = roles.metadata, Source(reader.name, reader.path, roles.notes)
    return data


def to_matrix(batch: pa.RecordBatch, columns: Sequence[str], dtype: np.dtype) -> NDArray:
    """Columns of a batch as a matrix; nulls become NaN."""
    matrix = np.empty((batch.num_rows, len(columns)), dtype=dtype)
    for j, name in enumerate(columns):
        column = batch.column(name)
        if column.null_count or types.is_decimal(column.type):
            column = column.cast(pa.float64(), safe=False)
        matrix[:, j] = column.to_numpy(zero_copy_only=False)
    return matrix


def read_strings(reader: TableReader, roles: Roles) -> Dataset:
    """One column of a table as strings in memory."""
    if len(roles.features) != 1:
        text = f"{reader.name} has {len(roles.features)} columns, and strings are one column."
        likely = next((n for n in roles.features if reader.is_string(n)), roles.features[0])
        raise DataError(text, source=reader.name, remedies=[Remedy("text", likely)])
    (name,) = roles.features
    column = reader.read_columns([name], reader.memory, copied=[name])[name]
    if not (_is_string(column.type) or types.is_binary(column.type) or types.is_large_binary(column.type)):
        raise DataError(f"Column {name!r} of {reader.name} holds {column.type}, not strings.", source=reader.name)
    if column.null_count:
        row = column.is_null().index(True).as_py()
        raise DataError(f"{reader.locate(row)} of {reader.name} has no string.", source=reader.name, row=row)
    strings = object_array(column.to_pylist())
    return _describe(ArrayDataset(strings, "strings", owns_samples=True), reader, roles)


def read_table(reader: TableReader, roles: Roles) -> Dataset:
    """All columns of a table in memory, each with its own type."""
    reader.check_memory(roles.features)
    chunks, needed, n_rows = [], 0, 0
    for batch in reader.batches(roles.features):
        chunks.append(batch)
        needed += 2 * batch.nbytes + sum(_category_bytes(column) for column in batch.columns)
        n_rows += batch.num_rows
        if needed > reader.memory:
            reader.check_memory(roles.features, max(needed, needed * reader.num_rows // n_rows))
    table = from_arrow(pa.Table.from_batches(chunks, None if chunks else reader.schema), reader.name)
    return _describe(ArrayDataset(table, "table", owns_samples=True), reader, roles)


def _category_bytes(column: pa.Array) -> int:
    """Memory for the distinct strings of a column in one batch."""
    if types.is_dictionary(column.type) or not _is_string(column.type):
        return 0
    distinct = column.unique()
    return int(3 * distinct.nbytes + _CATEGORY_BYTES * len(distinct))


TABLE_KINDS: dict[str, Callable[[TableReader, Roles], Dataset]] = {
    "vectors": ArrowDataset,
    "strings": read_strings,
    "table": read_table,
}
