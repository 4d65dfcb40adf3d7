"""Whatever a path names: rows of numbers, which are read block by block, and texts, which are read at once."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from mercer_old.errors import BadData, counted, in_short
from mercer_old.limits import parse_memory
from mercer_old.sources.delimited import CsvRows
from mercer_old.sources.dialect import Saying, said_of_texts
from mercer_old.sources.folders import open_folder
from mercer_old.sources.groups import spread
from mercer_old.sources.h5ad import open_h5ad
from mercer_old.sources.items import Rows
from mercer_old.sources.lines import FASTA, ending, read_fasta, read_lines
from mercer_old.sources.npy import NpyRows
from mercer_old.sources.npz import open_npz
from mercer_old.sources.roles import Asked
from mercer_old.sources.stored import FileRows, readable
from mercer_old.sources.tables import ArrowRows, ParquetRows
from mercer_old.sources.text_columns import TABLES, read_column
from mercer_old.sources.texts import Texts
from mercer_old.sources.transposed import transposed
from mercer_old.terminal import plain

_TABLES: dict[str, Callable[..., FileRows]] = {
    ".parquet": ParquetRows,
    ".pq": ParquetRows,
    ".arrow": ArrowRows,
    ".feather": ArrowRows,
}
_FOLDER = "folder"
_TEXTS = (".csv", ".tsv", ".txt")
_CASES: dict[str | None, Callable[[Any], Any]] = {"upper": str.upper, "lower": str.lower}


def open_rows(
    path: str | os.PathLike[str],
    columns: Sequence[str] | str | None = None,
    drop: Sequence[str] | str = (),
    header: bool | None = None,
    *,
    id: str | None = None,
    label: str | None = None,
    keep: Sequence[str] | str = (),
    transpose: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    array: str | None = None,
    layer: str | None = None,
    obsm: str | None = None,
    resize: str | None = None,
    memory_limit: int | str | None = None,
) -> Rows:
    """The rows of a file, for `fit` and `transform`: opened and looked over, not read.

    Parameters
    ----------
    path : path
        A .npy, .npz, .parquet, .arrow, .feather, .h5ad, .csv or .tsv file; text may be packed (.csv.gz). Or a folder:
        of Parquet files at any depth, which are one table, or of images. Where a client of Dask is active, its workers
        read what is large and Parquet.
    columns : sequence of str, or str, default=None
        The columns to use, or the only one. None: all that hold numbers; others are left out with a warning, and the
        first of them names the rows if its texts are all different.
    drop : sequence of str, or str, default=()
        Columns to leave out, such as text.
    header : bool, default=None
        Whether the first line of a text file names its columns. None: if not all of its fields are numbers or gaps.
    id : str, default=None
        The column that names rows, where scores are written. None: names that R or pandas wrote, or the first column
        of texts, if they are all different.
    label : str, default=None
        A column of classes or numbers to tell rows by, written along with scores, and no feature unless `columns` has
        it too.
    keep : sequence of str, or str, default=()
        Columns to write along as they are; they are no features unless `columns` has them too.
    transpose : bool, default=False
        Columns of the file are the rows, as where every gene has a line. All is read into memory at once.
    delimiter, decimal, encoding : str, default=None
        Of a text file: what separates fields (or "tab", "blank"), the decimal mark, and such as "latin-1". None: look.
    format : str, default=None
        What the file is, such as "csv", if its name does not say so.
    array : str, default=None
        The array of a .npz file to read, if it has several.
    layer, obsm : str, default=None
        The layer, or the matrix in obsm, of a .h5ad file to read. None: X. Sparse rows stay sparse.
    resize : str, default=None
        Width and height that images are brought to, such as "64x64". None: they are of one size.
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB", that what is held may take. None: half of the machine's or container's memory.

    Returns
    -------
    rows : Rows
        With `names` of the columns, `row_names` with their `heading`, `beside` for what is written along, and `notes`
        on what was found out by looking.

    Examples
    --------
    >>> import mercer, numpy as np, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.npy"
    >>> np.save(path, np.random.default_rng(0).normal(size=(100, 3)))
    >>> mercer.open_rows(path).shape
    (100, 3)
    """
    path, most = Path(path), parse_memory(memory_limit)
    own = {".npz": {"array": array}, ".h5ad": {"layer": layer, "obsm": obsm}, _FOLDER: {"resize": resize}}
    texts = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding}
    _refuse_others({"id": id, "label": label, "format": format} | texts | own[".npz"] | own[".h5ad"] | own[_FOLDER])
    beside = id, label, _as_names(keep, "keep") or ()
    asked = Asked(_as_names(columns, "columns"), _as_names(drop, "drop") or (), *beside, most)
    said = said_of_texts(header, delimiter, decimal, encoding)
    kind = _kind_of(path, format)
    _refuse_options(path, kind, asked, said, own)
    rows: Rows
    if kind == ".npy":
        rows = NpyRows(path)
    elif kind == ".npz":
        rows = open_npz(path, array, most)
    elif kind == ".h5ad":
        rows = open_h5ad(path, asked, layer, obsm)
    elif kind == _FOLDER:
        rows = open_folder(path, asked, resize)
    elif kind in _TEXTS:
        rows = CsvRows(path, asked, said)
    else:
        rows = _TABLES[kind](path, asked)
    n, d = rows.shape
    if n < 1 or d < 1:
        raise BadData(f"{plain(path)} has {counted(n, 'row')} and {counted(d, 'column')}: there is nothing to fit.")
    return transposed(rows, most) if transpose else spread(rows)


def open_texts(
    path: str | os.PathLike[str],
    column: str | None = None,
    *,
    header: bool | None = None,
    case: str | None = None,
    id: str | None = None,
    label: str | None = None,
    keep: Sequence[str] | str = (),
    delimiter: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
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
    id, label : str, default=None
        Columns of a table that name texts and tell them apart, as of `open_rows`.
    keep : sequence of str, or str, default=()
        Columns of a table to write along as they are.
    delimiter, encoding, format : str, default=None
        As of `open_rows`.
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
    _refuse_others({"id": id, "label": label, "delimiter": delimiter, "encoding": encoding, "format": format})
    if case not in (None, *_CASES):
        raise ValueError(f"case must be upper, lower or None; got {in_short(case)}.")
    kind = ending(path) if format is None else f".{format.lower().removeprefix('.')}"
    if kind in (".npy", ".npz"):
        raise BadData(
            f"{plain(path)} is an array, and texts are read from lines, FASTA or tables: give what numpy.load makes "
            "of it."
        )
    if kind in TABLES:
        beside = id, label, _as_names(keep, "keep") or ()
        asked = Asked(None if column is None else (column,), (), *beside, most)
        texts, table = read_column(path, kind, asked, said_of_texts(header, delimiter, None, encoding))
        names, heading = (texts, table.columns[0]) if table.row_names is None else (table.row_names, table.heading)
        along, notes = table.beside, table.notes
    elif any(option not in (None, ()) for option in (column, header, id, label, keep, delimiter, encoding)):
        raise BadData(f"{plain(path)} has one text a line, or a record, and no columns to choose from.")
    else:
        fasta = kind in FASTA
        texts, names = (read_fasta if fasta else read_lines)(path, most)
        heading, along, notes = "name" if fasta else "text", {}, ()
    turned = list(map(_CASES[case], texts)) if case else texts
    found = Texts(turned, plain(path), names=names, heading=heading, path=path)
    found.beside, found.notes = along, notes
    return found


def _refuse_others(options: dict[str, Any]) -> None:
    """Names and marks are texts."""
    for name, value in options.items():
        if value is not None and not isinstance(value, str):
            raise BadData(f"{name} has to be a text, or None; got {in_short(value)}.")


def _kind_of(path: Path, format: str | None) -> str:
    """How to read a file: by what its user says, or by its name."""
    kind = ending(path) if format is None else f".{format.lower().removeprefix('.')}"
    known = (".npy", ".npz", ".h5ad", *_TABLES, *_TEXTS)
    with readable(path):
        is_folder = path.is_dir()
        if not (format or kind or path.exists()):  # a folder, most likely
            raise FileNotFoundError(path)
    if is_folder and (format is None or kind in (".parquet", ".pq")):
        return _FOLDER
    if kind not in known or (path.suffix.lower() == ".gz" and kind not in _TEXTS):
        raise BadData(f"{plain(path)}: files of this kind cannot be read; known are {', '.join(known)}.")
    return kind


def _refuse_options(path: Path, kind: str, asked: Asked, said: Saying, own: dict[str, dict[str, str | None]]) -> None:
    """What is about columns, or about text, where there are none."""
    if kind in (".npy", ".npz") and (asked.columns is not None or asked.no_features):
        raise BadData(f"{plain(path)} has no column names to choose by; slice the array, or store it as Parquet.")
    if kind not in _TEXTS and any(value is not None for value in (said.delimiter, said.decimal, said.encoding)):
        raise BadData(f"{plain(path)} is no text: delimiter, decimal mark and encoding say nothing about it.")
    for home, options in own.items():
        for name, value in options.items():
            if value is not None and home != kind:
                raise BadData(f"{plain(path)}: {name} is for {home if home != _FOLDER else 'folders of images'} alone.")


def _as_names(columns: Any, name: str) -> tuple[Any, ...] | None:
    """Names of columns: a text is one of them, not one for each of its letters."""
    if columns is None or isinstance(columns, str):
        return None if columns is None else (columns,)
    if not isinstance(columns, Iterable):
        raise BadData(f"{name} has to be a list of names of columns; got {columns!r:.60}.")
    return tuple(columns)
