"""Rows in files: .npy, Parquet, Arrow and Feather, CSV. Read block by block, checked as they are read."""

import os
import re
from abc import abstractmethod
from collections import Counter
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
WINDOW, CSV_BLOCK = 1 << 16, 1 << 20  # bytes of a Parquet column and of a text that are read at a time
CSV_AHEAD = 48  # times the block: what Arrow's reader parses ahead, as numbers


class FileRows(RowSource):
    """A file that is opened anew for every sweep, and must not change in between."""

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, str(path)
        self.fingerprint = fingerprint(path)

    def blocks(self, size: int) -> Iterator[Array]:
        self._refuse_change()
        count = 0
        with readable(self.path):
            for block in self.checked(regroup(self._pieces(size), size)):
                count += len(block)
                yield block
        if count != self.shape[0]:
            raise BadData(f"{self.path} has {count:,} rows now, not {self.shape[0]:,}: it changed while it was read.")
        self._refuse_change()

    def _refuse_change(self) -> None:
        if fingerprint(self.path) != self.fingerprint:
            raise BadData(f"{self.path} has changed since it was opened; fit again when nothing writes to it.")

    @abstractmethod
    def _pieces(self, size: int) -> Iterator[Array]:
        """All rows in pieces of any length."""


class NpyRows(FileRows):
    """A matrix saved by numpy. Read by position, not mapped: a mapped file would count as our memory."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with readable(path):
            try:
                matrix = np.load(path, mmap_mode="r", allow_pickle=False)
            except ValueError:
                raise BadData(
                    f"{path} cannot be read as a matrix of numbers: not saved by numpy, or truncated."
                ) from None
        if not isinstance(matrix, np.memmap) or matrix.ndim != 2:
            shape = f"an array of shape {matrix.shape}" if isinstance(matrix, np.ndarray) else "several arrays"
            raise BadData(f"{path} holds {shape}; rows and columns are needed.")
        if matrix.dtype.kind not in "fiub":
            raise BadData(f"{path} holds {matrix.dtype} values; numbers are needed.")
        self.stored, self.offset, self.by_rows = matrix.dtype, matrix.offset, bool(matrix.flags.c_contiguous)
        self.shape, self.dtype = matrix.shape, _float_type([matrix.dtype])

    def _pieces(self, size: int) -> Iterator[Array]:
        with self.path.open("rb") as file:
            for start in range(0, self.shape[0], size):
                rows = min(size, self.shape[0] - start)
                read = self._rows if self.by_rows else self._columns
                yield read(file, start, rows).astype(self.dtype, copy=False)

    def _rows(self, file: Any, start: int, rows: int) -> Array:
        return self._read(file, start * self.shape[1], rows * self.shape[1]).reshape(rows, -1)

    def _columns(self, file: Any, start: int, rows: int) -> Array:
        """Fortran order: a row is spread over the whole file, a piece of a column is not."""
        out = np.empty((rows, self.shape[1]), dtype=self.stored)
        for j in range(self.shape[1]):
            out[:, j] = self._read(file, j * self.shape[0] + start, rows)
        return out

    def _read(self, file: Any, first: int, count: int) -> Array:
        file.seek(self.offset + first * self.stored.itemsize)
        values = np.fromfile(file, dtype=self.stored, count=count)
        if len(values) < count:
            raise BadData(f"{self.path} ends after {first + len(values):,} values: it is truncated.")
        return values


class TableRows(FileRows):
    """Columns of numbers, handed over by Arrow as record batches."""

    def __init__(self, path: Path, columns: Sequence[str] | None, drop: Sequence[str]) -> None:
        super().__init__(path)
        with readable(path):
            schema = self._schema()
            self.columns = self.names = chosen(schema.names, columns, drop, self.label)
            self.kinds = {name: schema.field(name).type for name in self.columns}
            refuse_text(self.kinds, self.label)
            self.dtype = _float_type([kind.to_pandas_dtype() for kind in self.kinds.values()])
            self.shape = self._count(), len(self.columns)

    def _pieces(self, size: int) -> Iterator[Array]:
        for batch in self._batches():
            for start in range(0, batch.num_rows, READ):
                yield self._matrix(batch.slice(start, READ))

    def _matrix(self, batch: Any) -> Array:
        out = np.empty((batch.num_rows, len(self.columns)), dtype=self.dtype)
        for j, name in enumerate(self.columns):
            column = batch.column(name)
            plain = column.null_count == 0 and not arrow("types").is_decimal(column.type)
            out[:, j] = (column if plain else column.cast("float64", safe=False)).to_numpy(zero_copy_only=False)
        return out

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
        groups = [state.row_group(i).total_byte_size for i in range(state.num_row_groups)]
        self.overhead = min(PAGE * len(self.columns), 3 * max(groups, default=0))
        return int(state.num_rows)

    def _batches(self) -> Iterator[Any]:
        with arrow("parquet").ParquetFile(self.path, buffer_size=WINDOW, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=READ, columns=list(self.columns), use_threads=False)


class ArrowRows(TableRows):
    """Arrow's own format, also called Feather: a batch at a time, which is as large as its writer made it."""

    def _schema(self) -> Any:
        with arrow("ipc").open_file(self.path) as file:
            return file.schema

    def _count(self) -> int:
        sizes = [(batch.num_rows, batch.nbytes) for batch in self._batches()]
        self.overhead = 4 * max((size for _, size in sizes), default=0)  # as it is read, decoded and chosen from
        return sum(rows for rows, _ in sizes)

    def _batches(self) -> Iterator[Any]:
        with arrow("ipc").open_file(self.path) as file:
            for i in range(file.num_record_batches):
                yield file.get_batch(i).select(list(self.columns))


class CsvRows(TableRows):
    """Text, parsed anew by every sweep. The first one counts the rows and finds what is no number, on opening."""

    def __init__(
        self, path: Path, columns: Sequence[str] | None, drop: Sequence[str], header: bool | None = None
    ) -> None:
        refuse_irregular(path)
        self.dialect: Dialect = sniff(path, header)
        self.block = max(CSV_BLOCK, 4 * self.dialect.width)
        self.overhead = CSV_AHEAD * self.block
        super().__init__(path, columns, drop)
        if not self.dialect.header:
            self.names = None  # made up, to tell the columns apart

    def _schema(self) -> Any:
        """Of the first block: text is text from there on; what comes later is told by row."""
        with self._open({}) as reader:
            return reader.schema

    def _count(self) -> int:
        return sum(batch.num_rows for batch in self._batches())

    def _batches(self) -> Iterator[Any]:
        is_boolean = arrow("types").is_boolean
        types = {name: kind if is_boolean(kind) else "float64" for name, kind in self.kinds.items()}
        with self._open(types) as reader:
            yield from reader

    def _open(self, types: dict[str, Any]) -> Any:
        csv = arrow("csv")
        return csv.open_csv(
            self.path,
            read_options=csv.ReadOptions(
                column_names=list(self.dialect.names),
                skip_rows=self.dialect.skip,
                block_size=self.block,
                use_threads=False,  # only then a parse error names its row
            ),
            parse_options=csv.ParseOptions(delimiter=self.dialect.delimiter),
            convert_options=csv.ConvertOptions(column_types=types, include_columns=list(types)),
        )


TABLES: dict[str, Callable[..., FileRows]] = {
    ".parquet": ParquetRows,
    ".pq": ParquetRows,
    ".arrow": ArrowRows,
    ".feather": ArrowRows,
}
TEXTS = (".csv", ".tsv", ".txt")


def open_rows(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
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
    header : bool, default=None
        Whether the first line of a text file names its columns. None: if not all of its fields are numbers or gaps.

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
    if kind not in (".npy", *TABLES, *TEXTS):
        known = ", ".join([".npy", *TABLES, *TEXTS])
        raise BadData(f"{path}: files of this kind cannot be read; known are {known}.")
    if kind == ".npy" and (columns is not None or drop):
        raise BadData(f"{path} has no column names to choose by; slice the array, or store it as Parquet.")
    if kind == ".npy":
        rows: RowSource = NpyRows(path)
    elif kind in TEXTS:
        rows = CsvRows(path, columns, drop, header)
    else:
        rows = TABLES[kind](path, columns, drop)
    if not rows.shape[0] or not rows.shape[1]:
        raise BadData(f"{path} has {rows.shape[0]} rows and {rows.shape[1]} columns: there is nothing to fit.")
    return rows


def fingerprint(path: Path) -> tuple[int, int, int]:
    """What changes when a file is written to or replaced."""
    refuse_irregular(path)
    with readable(path):
        state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns


def refuse_irregular(path: Path) -> None:
    """A pipe can be read only once, and opening it again waits for ever."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file (a pipe is read as standard input: mercer fit -)"
        raise BadData(f"{path} is {what}.")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Every way a file can disappoint, in one sentence with its name."""
    try:
        yield
    except (BadData, MissingPart):
        raise
    except FileNotFoundError:
        raise BadData(f"{path}: there is no such file (any more).") from None
    except MemoryError as error:
        raise NoRoom(f"{path}: out of memory while reading ({error}).") from None
    except (OSError, ValueError, EOFError, OverflowError, KeyError) as error:  # pyarrow's are ValueErrors and OSErrors
        reason = " ".join(str(error).split()).rstrip(".")
        raise BadData(f"{path} cannot be read: {reason}. Is it damaged, truncated, or of another kind?") from None


def chosen(names: Sequence[str], columns: Sequence[str] | None, drop: Sequence[str], label: str) -> tuple[str, ...]:
    """The columns to use, in the file's order if all, in the asked order else; never the row index of pandas."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadData(f"{label} has more than one column called {', '.join(map(repr, twice))}; rename them.")
    unknown = [name for name in [*(columns or ()), *drop] if name not in names]
    if unknown:
        raise BadData(f"{label} has no column {', '.join(map(repr, unknown))}; it has {', '.join(map(repr, names))}.")
    repeated = [name for name, count in Counter(columns or ()).items() if count > 1]
    if repeated:
        raise BadData(f"Column {repeated[0]!r} of {label} was asked for more than once.")
    if columns is None and "" in names and "" not in drop:
        raise BadData(
            f"{label} has a column without a name: a row index, as pandas writes it? Leave it out: drop=['']."
        )
    usual = [name for name in names if not re.fullmatch(r"__index_level_\d+__", name)]
    return tuple(name for name in (usual if columns is None else columns) if name not in set(drop))


def refuse_text(kinds: dict[str, Any], label: str) -> None:
    """Columns that are no numbers, named, with the way out."""
    types = arrow("types")
    number = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    bad = [f"{name!r} ({kind})" for name, kind in kinds.items() if not any(test(kind) for test in number)]
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
    return np.dtype(np.float32 if types and single else np.float64)
