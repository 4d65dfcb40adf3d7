"""Rows in files: .npy, Parquet, Arrow and Feather, CSV. Read block by block, checked as they are read."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from mercer.errors import BadData, counted
from mercer.sources.delimited import CsvRows
from mercer.sources.items import Rows
from mercer.sources.npy import NpyRows
from mercer.sources.stored import FileRows
from mercer.sources.tables import ArrowRows, ParquetRows
from mercer.terminal import plain

_TABLES: dict[str, Callable[..., FileRows]] = {
    ".parquet": ParquetRows,
    ".pq": ParquetRows,
    ".arrow": ArrowRows,
    ".feather": ArrowRows,
}
_TEXTS = (".csv", ".tsv", ".txt")


def open_rows(
    path: str | os.PathLike[str],
    columns: Sequence[str] | str | None = None,
    drop: Sequence[str] | str = (),
    header: bool | None = None,
) -> Rows:
    """The rows of a file, for `fit` and `transform`: opened and looked over, not read.

    Parameters
    ----------
    path : path
        A .npy, .parquet, .arrow, .feather, .csv or .tsv file.
    columns : sequence of str, or str, default=None
        The columns to use, or the only one. None: all.
    drop : sequence of str, or str, default=()
        Columns to leave out, such as text.
    header : bool, default=None
        Whether the first line of a text file names its columns. None: if not all of its fields are numbers or gaps.

    Returns
    -------
    rows : Rows

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
    if kind not in (".npy", *_TABLES, *_TEXTS):
        known = ", ".join([".npy", *_TABLES, *_TEXTS])
        raise BadData(f"{plain(path)}: files of this kind cannot be read; known are {known}.")
    columns, drop = _as_names(columns, "columns"), _as_names(drop, "drop") or ()
    if kind == ".npy" and (columns is not None or drop):
        raise BadData(f"{plain(path)} has no column names to choose by; slice the array, or store it as Parquet.")
    if kind == ".npy":
        rows: Rows = NpyRows(path)
    elif kind in _TEXTS:
        rows = CsvRows(path, columns, drop, header)
    else:
        rows = _TABLES[kind](path, columns, drop)
    n, d = rows.shape
    if n < 1 or d < 1:
        raise BadData(f"{plain(path)} has {counted(n, 'row')} and {counted(d, 'column')}: there is nothing to fit.")
    return rows


def _as_names(columns: Any, name: str) -> tuple[Any, ...] | None:
    """Names of columns: a text is one of them, not one for each of its letters."""
    if columns is None or isinstance(columns, str):
        return None if columns is None else (columns,)
    if not isinstance(columns, Iterable):
        raise BadData(f"{name} has to be a list of names of columns; got {columns!r:.60}.")
    return tuple(columns)
