"""Tables of scores to files, block by block."""

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mercer.data.atomic import atomic_path
from mercer.data.dataset import Dataset, Metadata
from mercer.errors import OutputError, ParameterError
from mercer.text import listed, printable

Write = Callable[[NDArray], None]
_DELIMITERS = {".csv": ",", ".tsv": "\t"}
FORMATS = (".csv", ".npy", ".tsv")


def check_output(path: Path | None, data: Dataset, columns: Sequence[str]) -> None:
    """Raise before the work if the output cannot be written, is the input, or has two columns of one name."""
    if path is not None:
        if path.suffix not in FORMATS:
            raise ParameterError("path", str(path), f"a file that ends in {listed(FORMATS)}")
        if not path.parent.is_dir():
            raise OutputError(f"Cannot write {printable(path)}: no such folder.", path=path)
        if data.source.path is not None and path.exists() and path.samefile(data.source.path):
            raise OutputError(f"{printable(path)} is the input.", path=path)
    taken = sorted(set(data.metadata.columns) & set(columns))
    if taken:
        raise OutputError(f"Metadata columns have the names of scores: {listed(taken)}.")


@contextmanager
def table_writer(
    path: Path | None, columns: Sequence[str], n_rows: int, dtype: Any, metadata: Metadata
) -> Iterator[Write]:
    """A function that takes the next rows.

    The file appears when all rows were written; None is standard output.
    """
    if path is None:
        with _csv_rows(sys.stdout, ",", columns, metadata) as write:
            yield write
    elif path.suffix == ".npy":
        with atomic_path(path) as temporary, _npy_rows(temporary, (n_rows, len(columns)), dtype) as write:
            yield write
    else:
        with (
            atomic_path(path) as temporary,
            temporary.open("w", encoding="utf-8", newline="") as file,
            _csv_rows(file, _DELIMITERS[path.suffix], columns, metadata) as write,
        ):
            yield write


@contextmanager
def _csv_rows(file: IO[str], delimiter: str, columns: Sequence[str], metadata: Metadata) -> Iterator[Write]:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*metadata.columns, *columns])
    start = 0

    def write(rows: NDArray) -> None:
        nonlocal start
        described = [np.asarray(values)[start : start + len(rows)].tolist() for values in metadata.columns.values()]
        writer.writerows([*cells, *row] for *cells, row in zip(*described, rows.tolist(), strict=True))
        start += len(rows)

    yield write


@contextmanager
def _npy_rows(path: Path, shape: tuple[int, int], dtype: Any) -> Iterator[Write]:
    with path.open("wb") as file:
        header = {
            "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
            "fortran_order": False,
            "shape": shape,
        }
        np.lib.format.write_array_header_1_0(file, header)

        def write(rows: NDArray) -> None:
            np.ascontiguousarray(rows, dtype=dtype).tofile(file)

        yield write


def write_blocks(
    blocks: Iterator[tuple[int, NDArray]],
    path: Path | None,
    columns: Sequence[str],
    n_rows: int,
    dtype: Any,
    metadata: Metadata,
    progress: Any = None,
) -> None:
    """Write (first row, rows) one after the other."""
    with table_writer(path, columns, n_rows, dtype, metadata) as write:
        for start, rows in blocks:
            write(rows)
            if progress:
                progress((start + len(rows)) / n_rows)


def write_table(columns: dict[str, Sequence], path: Path) -> Path:
    """Write the columns of a result."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=_DELIMITERS.get(path.suffix, ","), lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path
