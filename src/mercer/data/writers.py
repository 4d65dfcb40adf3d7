"""Tables to files, block by block. A file appears when it is complete; None is CSV on standard output."""

import csv
import gzip
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from io import StringIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mercer.compat.optional import import_optional
from mercer.data.atomic import atomic_path, is_special, writing
from mercer.data.dataset import Dataset, Metadata
from mercer.errors import MercerError, OutputError, ParameterError, warn
from mercer.text import counted, listed, printable, short_repr

Write = Callable[[Any], object]
_TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
_TABLES = (*_TEXTS, ".parquet", ".arrow", ".feather")
FORMATS = (*_TABLES, ".npy", ".npz", ".h5ad")
_FORMULA = re.compile(r"[=+@\t\r]|-[^0-9.,]")  # how cells begin that a spreadsheet takes for formulas


def _arrow(module: str = "pyarrow") -> Any:
    return import_optional(module, "io", "Writing a table")


# ---------------------------------------------------------------------- before the work


def check_output(path: Path | None, data: Dataset, columns: Sequence[str]) -> None:
    """Raise before the work if the output cannot be written, is the input, or has two columns of one name."""
    if path is not None:
        form = _format(path)
        with writing(path):
            _check_place(path)
        source = data.source.path
        if source is not None and path.exists() and source.exists() and path.samefile(source):
            raise OutputError(f"{printable(path)} is the input. Write the result to another file.", path=path)
        if form == ".h5ad" and not hasattr(data, "h5ad"):
            reason = "scores are added to a copy of the .h5ad file that samples are read from, and these are read from"
            raise OutputError(f"Cannot write {printable(path)}: {reason} {data.source.name}.", path=path)
    taken = sorted({*data.metadata.columns} & {*columns})
    if taken:
        names = listed(map(repr, taken))
        raise OutputError(f"Metadata columns have the names of result columns: {names}. Rename them.")


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise OutputError(f"Cannot write {printable(path)}: it is a folder.", path=path)
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"Cannot write {printable(path)}: it is read-only.", path=path)
    if not is_special(path):
        with tempfile.TemporaryFile(dir=path.resolve().parent):
            pass


def _format(path: Path) -> str:
    """The extension of a file, such as ".csv" or ".csv.gz"; pipes and devices without one take CSV."""
    if path.suffix == "" and is_special(path):
        return ".csv"
    packed = path.suffix.lower() == ".gz"
    form = (path.with_suffix("").suffix.lower() + ".gz") if packed else path.suffix.lower()
    if form not in FORMATS:
        raise ParameterError("path", str(path), f"a file that ends in {listed(FORMATS, len(FORMATS))}")
    return form


# ---------------------------------------------------------------------- blocks of rows


def write_blocks(
    blocks: Iterator[tuple[int, NDArray]],
    path: Path | None,
    columns: Sequence[str],
    n_rows: int,
    dtype: Any,
    metadata: Metadata,
    progress: Any = None,
    h5ad: Any = None,
) -> None:
    """Write (first row, rows) one after the other."""
    with table_writer(path, columns, n_rows, dtype, metadata, h5ad) as write:
        for start, rows in blocks:
            write(rows)
            if progress:
                progress((start + len(rows)) / n_rows)


@contextmanager
def table_writer(
    path: Path | None, columns: Sequence[str], n_rows: int, dtype: Any, metadata: Metadata, h5ad: Any = None
) -> Iterator[Write]:
    """A function that takes the next rows. An error of the caller is not blamed on the file."""
    guard = nullcontext if path is None else partial(writing, path)
    n_written = 0
    with ExitStack() as stack:
        with guard():
            write = stack.enter_context(_open_writer(path, columns, n_rows, np.dtype(dtype), metadata, h5ad))

        def write_rows(rows: NDArray) -> None:
            nonlocal n_written
            with guard():
                write(rows)
            n_written += len(rows)

        try:
            yield write_rows
        except MercerError as error:
            if path is None and n_written:
                error.message += f" Standard output has {n_written:,} of {counted(n_rows, 'row')} already."
            raise
        with guard():
            stack.close()


@contextmanager
def _open_writer(
    path: Path | None, columns: Sequence[str], n_rows: int, dtype: np.dtype, metadata: Metadata, h5ad: Any
) -> Iterator[Write]:
    if path is None:
        with _rows(getattr(sys.stdout, "buffer", _TextOutput()), ".csv", columns, dtype, metadata) as write:
            yield write
        sys.stdout.flush()
        return
    form, shape = _format(path), (n_rows, len(columns))
    with atomic_path(path) as temporary:
        if form == ".h5ad":
            from mercer.data.h5ad import write_scores

            with write_scores(h5ad, temporary, shape, dtype) as write:
                yield write
            return
        with temporary.open("wb") as file:
            if form == ".npy":
                yield _npy(file, shape, dtype)
            elif form == ".npz":
                with _npz(file, columns, shape, dtype, metadata) as write:
                    yield write
            else:
                with _rows(file, form, columns, dtype, metadata) as write:
                    yield write


class _TextOutput:
    """Standard output of a notebook, which takes no bytes."""

    def write(self, content: bytes) -> None:
        sys.stdout.write(content.decode())


def _npy(file: IO[bytes], shape: tuple[int, int], dtype: np.dtype) -> Write:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return lambda rows: file.write(np.ascontiguousarray(rows, dtype=dtype).data)


@contextmanager
def _npz(
    file: IO[bytes], columns: Sequence[str], shape: tuple[int, int], dtype: np.dtype, metadata: Metadata
) -> Iterator[Write]:
    """Scores, names of their columns, and ids with their heading. Nothing has to be unpickled."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        with archive.open("scores.npy", "w", force_zip64=True) as member:
            yield _npy(member, shape, dtype)
        names = {"columns": list(columns)}
        if metadata.id_name is not None:
            names |= {"heading": [metadata.id_name], "ids": metadata.ids or []}
        for name, values in names.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.array(values, dtype=np.str_), allow_pickle=False)


@contextmanager
def _rows(file: Any, form: str, columns: Sequence[str], dtype: np.dtype, metadata: Metadata) -> Iterator[Write]:
    """Rows, with the metadata in front of them, as batches of Arrow."""
    pa = _arrow()
    described = {name: _arrow_column(column) for name, column in metadata.columns.items()}
    if form in _TEXTS:
        nested = {name: column for name, column in described.items() if pa.types.is_nested(column.type)}
        described |= {name: _arrow_column(map(_as_text, column.to_pylist())) for name, column in nested.items()}
        _warn_about_formulas(described)
    numbers = [(name, pa.from_numpy_dtype(dtype)) for name in columns]
    schema = pa.schema([*((name, column.type) for name, column in described.items()), *numbers])
    start = 0
    with _open_table(file, form, schema) as write_batch:

        def write(rows: NDArray) -> None:
            nonlocal start
            parts = [column.slice(start, len(rows)) for column in described.values()]
            parts += [pa.array(np.ascontiguousarray(column, dtype=dtype)) for column in rows.T]
            write_batch(pa.RecordBatch.from_arrays(parts, schema=schema))
            start += len(rows)

        yield write


@contextmanager
def _open_table(file: Any, form: str, schema: Any) -> Iterator[Write]:
    """A function that takes the next batch of Arrow."""
    if form == ".parquet":
        with _arrow("pyarrow.parquet").ParquetWriter(file, schema) as writer:
            yield writer.write_batch
    elif form in (".arrow", ".feather"):
        with _arrow("pyarrow.ipc").new_file(file, schema) as writer:
            yield writer.write_batch
    elif form.endswith(".gz"):
        with (
            gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,  # without a time: equal rows are equal bytes
            _open_table(packed, form.removesuffix(".gz"), schema) as write,
        ):
            yield write
    else:
        pa, arrow_csv = _arrow(), _arrow("pyarrow.csv")
        mark = "\t" if form == ".tsv" else ","
        line = StringIO()
        csv.writer(line, delimiter=mark, lineterminator="\n").writerow(schema.names)
        header = line.getvalue().encode()
        options = arrow_csv.WriteOptions(include_header=False, delimiter=mark)

        def write_lines(batch: Any) -> None:
            nonlocal header
            lines = pa.BufferOutputStream()
            arrow_csv.write_csv(batch, lines, options)
            file.write(header + lines.getvalue().to_pybytes())
            header = b""

        yield write_lines
        file.write(header)  # it goes out with the first rows: if they fail, nothing is written


def _arrow_column(values: Any) -> Any:
    """A column of Arrow as it is, other values as numbers or as strings that UTF-8 can hold."""
    pa = _arrow()
    if hasattr(values, "to_pylist"):
        return values.combine_chunks() if hasattr(values, "combine_chunks") else values
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    if not any(isinstance(value, (str, bytes)) for value in values):
        try:
            return pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            pass
    return pa.array([None if value is None else _as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str:
    text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _warn_about_formulas(columns: Mapping[str, Any]) -> None:
    for name, column in columns.items():
        if str(column.type) in ("string", "large_string"):
            found = [value for value in column.to_pylist() if value and _FORMULA.match(value)]
            if found:
                cells = f"{counted(len(found), 'cell')} of column {short_repr(name)}"
                first = short_repr(found[0])
                warn(f"Spreadsheets take {cells} for formulas, first {first}. Import the column as text.")


# ---------------------------------------------------------------------- tables of results


def write_table(columns: Mapping[str, Sequence[Any]], path: Path) -> Path:
    """Write columns of any type, such as those of a result, to a table or to a .npz archive."""
    form = _format(path)
    if form == ".npz":
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        arrays = {n: a.astype(np.str_) if a.dtype == object else a for n, a in arrays.items()}
        with atomic_path(path) as temporary, writing(path), temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        return path
    if form not in _TABLES:
        raise ParameterError("path", str(path), f"a file that ends in {listed([*_TABLES, '.npz'], 20)}")
    n_rows = len(next(iter(columns.values()), ()))
    with table_writer(path, (), n_rows, np.float64, Metadata(columns)) as write:
        write(np.empty((n_rows, 0)))
    return path
