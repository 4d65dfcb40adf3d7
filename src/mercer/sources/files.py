"""Whatever a path names: rows of numbers, which are read block by block, and texts, which are read at once."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from mercer.errors import BadData, counted, in_short
from mercer.limits import parse_memory
from mercer.sources.delimited import CsvRows
from mercer.sources.items import Rows
from mercer.sources.lines import FASTA, ending, read_fasta, read_lines
from mercer.sources.npy import NpyRows
from mercer.sources.stored import FileRows
from mercer.sources.tables import ArrowRows, ParquetRows
from mercer.sources.text_columns import TABLES, read_column
from mercer.sources.texts import Texts
from mercer.terminal import plain

_TABLES: dict[str, Callable[..., FileRows]] = {
    ".parquet": ParquetRows,
    ".pq": ParquetRows,
    ".arrow": ArrowRows,
    ".feather": ArrowRows,
}
_TEXTS = (".csv", ".tsv", ".txt")
_CASES: dict[str | None, Callable[[Any], Any]] = {"upper": str.upper, "lower": str.lower}


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


def open_texts(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    header: bool | None = None,
    case: str | None = None,
    memory_limit: int | str | None = None,
) -> Texts:
    """The texts of a file, for `fit` and `transform` of a model whose kernel compares texts: read at once, and held.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet, .arrow or .feather file has texts in a column. A .fa, .fasta, .fna or .faa file is
        FASTA: a text for every record, over as many lines as it takes; lines that begin with ";" are comments. Any
        other file has one text a line, in UTF-8; empty lines are empty texts. Lines and FASTA may be packed (.gz).
    column : str, default=None
        Name of the column of a table; None: the only one.
    header : bool, default=None
        Whether the first line of a .csv or .tsv file names its columns. None: it does.
    case : {"upper", "lower", None}, default=None
        Turn all letters into these. None: letters stay as they are, also those of soft-masked sequences.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB", that the texts may take. None: half of the machine's or container's memory.

    Returns
    -------
    texts : Texts
        Each row of scores that is written to a file begins with the name of its record, or with its text.

    Examples
    --------
    >>> import mercer, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "names.txt"
    >>> _ = path.write_text("homer simpson\\nned flanders\\n")
    >>> len(mercer.open_texts(path))
    2
    """
    path, most = Path(path), parse_memory(memory_limit)
    if case not in (None, *_CASES):
        raise ValueError(f"case must be upper, lower or None; got {in_short(case)}.")
    if path.suffix.lower() == ".npy":
        raise BadData(
            f"{plain(path)} is an array, and texts are read from lines, FASTA or tables: give what numpy.load makes "
            "of it."
        )
    if path.suffix.lower() in TABLES:
        texts, heading = read_column(path, column, header, most)
        names: Any = texts
    elif column is not None or header is not None:
        raise BadData(f"{plain(path)} has one text a line, or a record, and no columns to choose from.")
    else:
        fasta = ending(path) in FASTA
        texts, names = (read_fasta if fasta else read_lines)(path, most)
        heading = "name" if fasta else "text"
    turned = list(map(_CASES[case], texts)) if case else texts
    return Texts(turned, plain(path), names=names, heading=heading, path=path)


def _as_names(columns: Any, name: str) -> tuple[Any, ...] | None:
    """Names of columns: a text is one of them, not one for each of its letters."""
    if columns is None or isinstance(columns, str):
        return None if columns is None else (columns,)
    if not isinstance(columns, Iterable):
        raise BadData(f"{name} has to be a list of names of columns; got {columns!r:.60}.")
    return tuple(columns)
