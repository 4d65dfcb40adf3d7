"""Rows in files: .npy, Parquet, Arrow and Feather, CSV. Read block by block, checked as they are read."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import BadData, MissingPart, NoRoom
from mercer.sources.rows import Array, RowSource, regroup
from mercer.sources.text import Dialect, sniff

READ = 8192  # rows that Arrow hands over at a time
PAGE = 3_000_000  # bytes that Parquet holds for each column while its pages are decoded
WINDOW, CSV_BLOCK = 1 << 16, 4 << 20  # bytes of a Parquet column and of a text that are read at a time


class FileRows(RowSource):
    """A file that is opened anew for every sweep, and must not change in between."""

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, str(path)
        self.fingerprint = fingerprint(path)

    def blocks(self, size: int) -> Iterator[Array]:
        if fingerprint(self.path) != self.fingerprint:
            raise BadData(f"{self.path} has changed since it was opened; fit again when nothing writes to it.")
        count = 0
        with readable(self.path):
            for block in self.checked(regroup(self._pieces(size), size)):
                count += len(block)
                yield block
        if count != self.shape[0]:
            raise BadData(f"{self.path} has {count:,} rows now, not {self.shape[0]:,}: it changed while it was read.")

    @abstractmethod
    def _pieces(self, size: int) -> Iterator[Array]:
        """All rows in pieces of any length."""


class NpyRows(FileRows):
    """A matrix saved by numpy. Read by position, not mapped: a mapped file would count as our memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with readable(path):
            matrix = np.load(path, mmap_mode="r", allow_pickle=False)
        if matrix.ndim != 2:
            raise BadData(f"{path} holds an array of shape {matrix.shape}; rows and columns are needed.")
        if matrix.dtype.kind not in "fiub":
            raise BadData(f"{path} holds {matrix.dtype} values; numbers are needed.")
        self.stored, self.offset, self.by_rows = matrix.dtype, matrix.offset, bool(matrix.flags.c_contiguous)
        self.shape, self.dtype = matrix.shape, _float_type([matrix.dtype])

    def _pieces(self, size: int) -> Iterator[Array]:
        if not self.by_rows:  # Fortran order: a row is spread over the whole file
            matrix = np.load(self.path, mmap_mode="r", allow_pickle=False)
            for start in range(0, self.shape[0], size):
                yield matrix[start : start + size].astype(self.dtype, order="C")
            return
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for start in range(0, self.shape[0], size):
                rows = min(size, self.shape[0] - start)
                values = np.fromfile(file, dtype=self.stored, count=rows * self.shape[1])
                if len(values) < rows * self.shape[1]:
                    raise BadData(f"{self.path} ends in row {start + len(values) // self.shape[1]:,}: it is truncated.")
                yield values.reshape(rows, -1).astype(self.dtype, copy=False)


class TableRows(FileRows):
    """Columns of numbers, handed over by Arrow as record batches."""

    def __init__(self, path: Path, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
        super().__init__(path)
        with readable(path):
            schema = self._schema()
            self.names = chosen(schema.names, columns, drop, self.label)
            refuse_text(schema, self.names, self.label)
            self.dtype = _float_type([schema.field(name).type.to_pandas_dtype() for name in self.names])
            self.shape = self._count(), len(self.names)

    def _pieces(self, size: int) -> Iterator[Array]:
        for batch in self._batches():
            yield self._matrix(batch)

    def _matrix(self, batch: Any) -> Array:
        out = np.empty((batch.num_rows, len(self.names or ())), dtype=self.dtype)
        for j, name in enumerate(self.names or ()):
            column = batch.column(name)
            out[:, j] = column.cast("float64") if column.null_count else column.to_numpy(zero_copy_only=False)
        return out

    @abstractmethod
    def _schema(self) -> Any: ...

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _batches(self) -> Iterator[Any]: ...


class ParquetRows(TableRows):
    """Row groups on demand, through a small window: pages of all columns are open at once, but no more than those."""

    def __init__(self, path: Path, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
        super().__init__(path, columns, drop)
        with readable(path):
            state = arrow("parquet").read_metadata(path)
        groups = [state.row_group(i).total_byte_size for i in range(state.num_row_groups)]
        self.overhead = min(PAGE * self.shape[1], 3 * max(groups, default=0))

    def _schema(self) -> Any:
        return arrow("parquet").read_schema(self.path)

    def _count(self) -> int:
        return int(arrow("parquet").read_metadata(self.path).num_rows)

    def _batches(self) -> Iterator[Any]:
        with arrow("parquet").ParquetFile(self.path, buffer_size=WINDOW, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=READ, columns=list(self.names or ()), use_threads=False)


class ArrowRows(TableRows):
    """Arrow's own format, also called Feather."""

    def _schema(self) -> Any:
        with arrow("ipc").open_file(self.path) as file:
            return file.schema

    def _count(self) -> int:
        with arrow("ipc").open_file(self.path) as file:
            return sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))

    def _batches(self) -> Iterator[Any]:
        with arrow("ipc").open_file(self.path) as file:
            for i in range(file.num_record_batches):
                yield file.get_batch(i).select(list(self.names or ()))


class CsvRows(TableRows):
    """Text, parsed anew by every sweep. The first one counts the rows and finds what is no number, on opening."""

    def __init__(self, path: Path, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
        self.dialect: Dialect = sniff(path)
        super().__init__(path, columns, drop)
        if not self.dialect.skip and self.names == self.dialect.names:
            self.names = None  # made up: there is no header

    def _schema(self) -> Any:
        """Of the first block: text is text from there on; what comes later is told by row."""
        with self._open(None) as reader:
            return reader.schema

    def _count(self) -> int:
        return sum(batch.num_rows for batch in self._batches())

    def _batches(self) -> Iterator[Any]:
        with self._open(self._columns()) as reader:
            yield from reader

    def _columns(self) -> tuple[str, ...]:
        return self.dialect.names if self.names is None else self.names

    def _matrix(self, batch: Any) -> Array:
        return np.column_stack([batch.column(name).to_numpy(zero_copy_only=False) for name in self._columns()])

    def _open(self, numbers: tuple[str, ...] | None) -> Any:
        csv = arrow("csv")
        types = {} if numbers is None else dict.fromkeys(numbers, "float64")
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(
                column_names=list(self.dialect.names),
                skip_rows=self.dialect.skip,
                block_size=CSV_BLOCK,
                use_threads=False,  # only then a parse error names its row
            ),
            parse_options=csv.ParseOptions(delimiter=self.dialect.delimiter),
            convert_options=csv.ConvertOptions(column_types=types, include_columns=list(numbers or ())),
        )


OPENERS: dict[str, Callable[..., FileRows]] = {
    ".parquet": ParquetRows,
    ".pq": ParquetRows,
    ".arrow": ArrowRows,
    ".feather": ArrowRows,
    ".csv": CsvRows,
    ".tsv": CsvRows,
    ".txt": CsvRows,
}


def open_rows(
    path: str | os.PathLike[str], columns: Sequence[str] | None = None, drop: Sequence[str] = ()
) -> RowSource:
    """The rows of a file, for `fit` and `transform`: opened and looked over, not read.

    Parameters
    ----------
    path : path
        A .npy, .parquet, .arrow, .feather, .csv or .tsv file.
    columns : sequence of str, default=None
        The columns to use. None: all.
    drop : sequence of str, default=()
        Columns to leave out, such as text.

    Returns
    -------
    rows : RowSource

    Examples
    --------
    >>> import mercer, numpy as np, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.random.default_rng(0).normal(size=(100, 3)))
    >>> mercer.open_rows(path).shape
    (100, 3)
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind == ".npy":
        if columns is not None or drop:
            raise BadData(f"{path} has no column names to choose by; slice the array, or store it as Parquet.")
        rows: RowSource = NpyRows(path)
    elif kind in OPENERS:
        rows = OPENERS[kind](path, columns, drop)
    else:
        known = ", ".join([".npy", *OPENERS])
        raise BadData(f"{path}: files of this kind cannot be read; known are {known}.")
    if not rows.shape[0] or not rows.shape[1]:
        raise BadData(f"{path} has {rows.shape[0]} rows and {rows.shape[1]} columns: there is nothing to fit.")
    return rows


def fingerprint(path: Path) -> tuple[int, int]:
    """What changes when a file is written to: its size and the time of its last change."""
    with readable(path):
        state = path.stat()
    return state.st_size, state.st_mtime_ns


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Every way a file can disappoint, in one sentence with its name."""
    try:
        yield
    except BadData:
        raise
    except FileNotFoundError:
        raise BadData(f"{path}: there is no such file (any more).") from None
    except IsADirectoryError:
        raise BadData(f"{path} is a folder, not a file of rows.") from None
    except MemoryError as error:
        raise NoRoom(f"{path}: out of memory while reading ({error}).") from None
    except (OSError, ValueError, EOFError, UnicodeError) as error:  # pyarrow's errors are ValueErrors and OSErrors
        reason = " ".join(str(error).split()).rstrip(".")
        raise BadData(f"{path} cannot be read: {reason}. Is it damaged, truncated, or of another kind?") from None


def chosen(names: Sequence[str], columns: Sequence[str] | None, drop: Sequence[str], label: str) -> tuple[str, ...]:
    """The columns to use, in the file's order if all, in the asked order else."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise BadData(f"{label} has more than one column called {', '.join(map(repr, twice))}; rename them.")
    unknown = [name for name in [*(columns or ()), *drop] if name not in names]
    if unknown:
        raise BadData(f"{label} has no column {', '.join(map(repr, unknown))}; it has {', '.join(map(repr, names))}.")
    return tuple(name for name in (names if columns is None else columns) if name not in drop)


def refuse_text(schema: Any, names: Sequence[str], label: str) -> None:
    """Columns that are no numbers, named, with the way out."""
    types = arrow("types")
    bad = []
    for name in names:
        kind = schema.field(name).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)):
            bad.append(f"{name!r} ({kind})")
    if bad:
        raise BadData(
            f"{label} has columns that are no numbers: {', '.join(bad)}. Leave them out "
            "(mercer.open_rows(path, drop=[…]), on the command line --drop NAME) or encode them as numbers."
        )


def arrow(part: str) -> Any:
    """pyarrow's module of this name, which comes with the extra `app`."""
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{part}")
    except ModuleNotFoundError:
        raise MissingPart("Reading tables", "pyarrow", "app") from None


def _float_type(types: Sequence[Any]) -> np.dtype[Any]:
    """float32 if every column is that narrow, else float64."""
    single = all(np.dtype(kind).kind == "f" and np.dtype(kind).itemsize <= 4 for kind in types)
    return np.dtype(np.float32 if single else np.float64)
