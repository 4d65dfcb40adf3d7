"""Tables to files, block by block. A file appears when it is complete; None is CSV on standard output."""

import gzip
import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.compat.optional import import_optional
from mercer.data.atomic import atomic_path, is_special, writing
from mercer.data.dataset import Dataset, Metadata
from mercer.errors import MercerError, OutputError, ParameterError, warn
from mercer.text import counted, listed, printable, short_repr

Write = Callable[[Any], None]
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
            raise OutputError(
                f"Cannot write {printable(path)}: scores are added to a copy of the .h5ad file that samples are read "
                f"from, and these are read from {data.source.name}.",
                path=path,
            )
    taken = sorted({*data.metadata.columns} & {*columns})
    if taken:
        raise OutputError(
            f"Metadata columns have the names of result columns: {listed(map(repr, taken))}. Rename them."
        )


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


class _Layout(NamedTuple):
    """What is written: numeric columns of one type, after the columns of the metadata."""

    columns: Sequence[str]
    n_rows: int
    dtype: np.dtype
    metadata: Metadata
    h5ad: Any = None


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
    layout = _Layout(columns, n_rows, np.dtype(dtype), metadata, h5ad)
    if path is None:
        with _standard_output(layout) as write:
            yield write
        return
    with atomic_path(path) as temporary, ExitStack() as stack:
        with writing(path):
            write = stack.enter_context(_rows_writer(temporary, _format(path), layout))

        def guarded(rows: NDArray) -> None:
            with writing(path):
                write(rows)

        yield guarded
        with writing(path):
            stack.close()


@contextmanager
def _rows_writer(path: Path, form: str, layout: _Layout) -> Iterator[Write]:
    if form == ".h5ad":
        from mercer.data.h5ad import write_scores

        with write_scores(layout.h5ad, path, (layout.n_rows, len(layout.columns)), layout.dtype) as write:
            yield write
        return
    with path.open("wb") as file:
        if form in _ARRAY_WRITERS:
            with _ARRAY_WRITERS[form](file, layout) as write:
                yield write
        else:
            with _batches(file, form, layout) as write:
                yield write


@contextmanager
def _standard_output(layout: _Layout) -> Iterator[Write]:
    """CSV on standard output. An error after some rows reports how many were written."""
    n_written = 0
    with _batches(getattr(sys.stdout, "buffer", _TextOutput()), ".csv", layout) as write:

        def counting(rows: NDArray) -> None:
            nonlocal n_written
            write(rows)
            n_written += len(rows)

        try:
            yield counting
        except MercerError as error:
            if n_written:
                error.message += f" Standard output has {n_written:,} of {counted(layout.n_rows, 'row')} already."
            raise
    sys.stdout.flush()


class _TextOutput:
    """Standard output of a notebook, which takes no bytes."""

    def write(self, content: bytes) -> None:
        sys.stdout.write(content.decode())


@contextmanager
def _npy(file: IO[bytes], layout: _Layout) -> Iterator[Write]:
    header = {"descr": np.lib.format.dtype_to_descr(layout.dtype), "fortran_order": False}
    np.lib.format.write_array_header_1_0(file, header | {"shape": (layout.n_rows, len(layout.columns))})

    def write(rows: NDArray) -> None:
        file.write(np.ascontiguousarray(rows, dtype=layout.dtype).data)

    yield write


@contextmanager
def _npz(file: IO[bytes], layout: _Layout) -> Iterator[Write]:
    """Scores, names of their columns, and ids with their heading. Nothing has to be unpickled."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        with archive.open("scores.npy", "w", force_zip64=True) as member, _npy(member, layout) as write:
            yield write
        names = {"columns": list(layout.columns)}
        if layout.metadata.id_name is not None:
            names |= {"heading": [layout.metadata.id_name], "ids": layout.metadata.ids or []}
        for name, values in names.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.array(values, dtype=np.str_), allow_pickle=False)


_ARRAY_WRITERS = {".npy": _npy, ".npz": _npz}


@contextmanager
def _batches(file: Any, form: str, layout: _Layout) -> Iterator[Write]:
    """Rows, with the metadata in front of them, as batches of Arrow."""
    pa = _arrow()
    described = {name: _arrow_column(column) for name, column in layout.metadata.columns.items()}
    if form in _TEXTS:
        _warn_about_formulas(described)
    numbers = [(name, pa.from_numpy_dtype(layout.dtype)) for name in layout.columns]
    schema = pa.schema([*((name, column.type) for name, column in described.items()), *numbers])
    start = 0
    with _TABLE_WRITERS[form](file, schema) as write_batch:

        def write(rows: NDArray) -> None:
            nonlocal start
            parts = [column.slice(start, len(rows)) for column in described.values()]
            parts += [pa.array(np.ascontiguousarray(column, dtype=layout.dtype)) for column in rows.T]
            write_batch(pa.RecordBatch.from_arrays(parts, schema=schema))
            start += len(rows)

        yield write


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
                warn(
                    f"Spreadsheets take {counted(len(found), 'cell')} of column {short_repr(name)} for formulas, first "
                    f"{short_repr(found[0])}. Import the column as text."
                )


# ---------------------------------------------------------------------- batches of Arrow


@contextmanager
def _csv(file: Any, schema: Any, delimiter: str = ",") -> Iterator[Write]:
    """The header goes out with the first rows: if those fail, nothing is written."""
    pa, csv = _arrow(), _arrow("pyarrow.csv")
    names = [f'"{n.replace(chr(34), chr(34) * 2)}"' if re.search(f'[{delimiter}"\n\r]', n) else n for n in schema.names]
    header = f"{delimiter.join(names)}\n".encode()
    options = csv.WriteOptions(include_header=False, delimiter=delimiter)

    def write(batch: Any) -> None:
        nonlocal header
        lines = pa.BufferOutputStream()
        csv.write_csv(batch, lines, options)
        file.write(header + lines.getvalue().to_pybytes())
        header = b""

    yield write
    if header:
        file.write(header)


@contextmanager
def _packed(kind: Callable[..., AbstractContextManager[Write]], file: Any, schema: Any) -> Iterator[Write]:
    """Through gzip, without a time: equal rows are equal bytes."""
    with gzip.GzipFile("", "wb", 6, file, mtime=0) as packed, kind(packed, schema) as write:
        yield write


@contextmanager
def _parquet(file: Any, schema: Any) -> Iterator[Write]:
    with _arrow("pyarrow.parquet").ParquetWriter(file, schema) as writer:
        yield writer.write_batch


@contextmanager
def _ipc(file: Any, schema: Any) -> Iterator[Write]:
    with _arrow("pyarrow.ipc").new_file(file, schema) as writer:
        yield writer.write_batch


_tsv = partial(_csv, delimiter="\t")
_TEXTS: dict[str, Callable[..., AbstractContextManager[Write]]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".csv.gz": partial(_packed, _csv),
    ".tsv.gz": partial(_packed, _tsv),
}
_TABLE_WRITERS = {**_TEXTS, ".parquet": _parquet, ".arrow": _ipc, ".feather": _ipc}
FORMATS = (*_TABLE_WRITERS, *_ARRAY_WRITERS, ".h5ad")


def write_table(columns: Mapping[str, Sequence[Any]], path: Path) -> Path:
    """Write columns of any type, such as those of a result, to a table or to a .npz archive."""
    form = _format(path)
    if form == ".npz":
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        arrays = {n: a.astype(np.str_) if a.dtype == object else a for n, a in arrays.items()}
        with atomic_path(path) as temporary, writing(path), temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        return path
    if form not in _TABLE_WRITERS:
        raise ParameterError("path", str(path), f"a file that ends in {listed([*_TABLE_WRITERS, '.npz'], 20)}")
    pa = _arrow()
    made = {name: _arrow_column(column) for name, column in columns.items()}
    if form in _TEXTS:
        made = {n: _arrow_column([_as_text(v) for v in c.to_pylist()]) if pa.types.is_nested(c.type) else c
                for n, c in made.items()}  # fmt: skip
        _warn_about_formulas(made)
    batch = pa.RecordBatch.from_arrays(list(made.values()), names=list(made))
    with (
        atomic_path(path) as temporary,
        writing(path),
        temporary.open("wb") as file,
        _TABLE_WRITERS[form](file, batch.schema) as write,
    ):
        write(batch)
    return path
