"""Open a file as a dataset."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mercer.budget import format_bytes, parse_memory
from mercer.compat.optional import import_optional
from mercer.data.dataset import ArrayDataset, Dataset, Kind, Metadata
from mercer.data.numpy_files import NpyDataset
from mercer.data.read_options import TABLES, ReadOptions, assign_roles
from mercer.data.reading import reading
from mercer.errors import DataError, MemoryLimitError, UsageError
from mercer.text import printable

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather"), "arrow"),
    ".npy": "npy",
    ".h5ad": "h5ad",
}
_COMPRESSIONS = (".gz", ".zst", ".bz2")  # of text files


def open_dataset(
    path: str | os.PathLike[str], *, kind: Kind = "vectors", memory_limit: int | str | None = None, **options: Any
) -> Dataset:
    """Open a file for `fit` and `transform`.

    Tables and matrices are read in blocks later; strings and mixed tables are read into memory.

    Parameters
    ----------
    path : str or path
        A .csv, .tsv, .txt, .parquet, .arrow, .feather, .npy or .h5ad file, or a folder of Parquet files. Text files
        may be compressed (.gz, .zst, .bz2).
    kind : {"vectors", "strings", "table"}, default="vectors"
        What the samples are.
    memory_limit : int, str or None, default=None
        Bytes, or a string such as "2GB", that reading may take. None is half of the memory of the machine.
    columns : str or list of str, default=None
        Columns to use, in this order. None uses all numeric columns that do not identify rows.
    drop : str or list of str, default=()
        Columns to leave out.
    id : str, default=None
        Column of ids. None uses the index that R or pandas wrote, or the first column of strings that are all
        different, or an integer column named like an id.
    label : str, default=None
        Column of classes or numbers, for colors.
    keep : str or list of str, default=()
        Columns that are written in front of the scores.
    text : str, default=None
        Column of strings, for ``kind="strings"``.
    header : bool, default=None
        Whether the first line of a text file has column names. None detects it.
    delimiter, decimal, encoding : str, default=None
        Format of a text file. None detects it.
    format : str, default=None
        Format of the file, such as "csv", if its name does not show it.
    layer, obsm : str, default=None
        Layer, or matrix in obsm, of an .h5ad file. None reads X.
    mask_var : str or bool, default=None
        Boolean column of var that selects the columns of an .h5ad file. None uses "highly_variable" if present, as
        scanpy does; False uses all columns.
    transpose : bool, default=False
        Whether columns of the file are samples. The file is then read into memory.
    optional_metadata : bool, default=False
        Whether a missing label or kept column is ignored.

    Returns
    -------
    data : Dataset
        With `shape`, `feature_names`, `metadata` and `source.notes` on what was detected.

    Examples
    --------
    >>> data = open_dataset("measurements.csv", id="sample", drop=["date"])  # doctest: +SKIP
    >>> PCA(2).fit(data)  # doctest: +SKIP
    """
    read_options, memory = ReadOptions.from_user(options), parse_memory(memory_limit)
    path = Path(path)
    with reading(path):
        _check_name(path)
        form = file_format(path, read_options.format)
        read_options.check_for(form, printable(path))
        if form in TABLES:
            data = _open_table(path, form, read_options, kind, memory)
        else:
            data = _OTHER_READERS[form](path, read_options, kind, memory)
        if not data.shape[0] or not data.shape[1]:
            raise DataError(f"{printable(path)} has {data.shape[0]:,} rows and {data.shape[1]:,} columns.", source=path)
        return transposed(data, memory) if read_options.transpose else data


def _open_table(path: Path, form: str, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    import_optional("pyarrow", "io", f"Reading {printable(path)}")
    from mercer.data.arrow import TABLE_KINDS, IpcReader, ParquetReader
    from mercer.data.csv_files import CsvReader

    if kind not in TABLE_KINDS:
        raise DataError(f"{printable(path)} is a table, and {kind} are not read from tables.", source=path)
    readers: dict[str, Callable[..., Any]] = {"csv": CsvReader, "parquet": ParquetReader, "arrow": IpcReader}
    reader = readers[form](path, options, memory)
    roles = assign_roles(reader, options, kind, memory)
    return TABLE_KINDS[kind](reader, roles, memory)


def _open_npy(path: Path, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    return NpyDataset(path)


def _open_h5ad(path: Path, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    import_optional("h5py", "io", "An .h5ad file")
    from mercer.data.h5ad import open_h5ad

    return open_h5ad(path, options, kind, memory)


_OTHER_READERS: dict[str, Callable[[Path, ReadOptions, Kind, int], Dataset]] = {"npy": _open_npy, "h5ad": _open_h5ad}


def _check_name(path: Path) -> None:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise DataError(f"The name of {printable(path)} is not UTF-8. Rename the file.", source=path) from None


def file_format(path: Path, given: str | None) -> str:
    """The format of a file, by what the user gave or by its name."""
    name = Path(path.name.lower())
    packed = name.suffix in _COMPRESSIONS
    suffix = f".{given.lower().removeprefix('.')}" if given else Path(name.stem).suffix if packed else name.suffix
    if path.is_dir() and _FORMATS.get(suffix, "parquet") == "parquet":
        return "parquet"
    form = _FORMATS.get(suffix)
    if form is None and not path.exists() and not given:
        raise FileNotFoundError(path)
    if form is None or (packed and form != "csv"):
        raise UsageError(
            f"The format of {printable(path)} is not supported. Supported: {', '.join(_FORMATS)} and folders of "
            "Parquet files."
        )
    return form


def transposed(data: Dataset, memory: int) -> Dataset:
    """A dataset whose samples are the features of `data`, in memory."""
    needed = 2 * data.nbytes + data.reading_bytes
    if needed > memory:
        raise MemoryLimitError(
            f"To transpose {data.source.name} takes {format_bytes(needed)}, and the limit is {format_bytes(memory)}.",
            needed=needed,
            limit=memory,
        )
    turned = ArrayDataset(data.load().T.copy(), owns_samples=True)
    ids = data.metadata.ids
    turned.feature_names = None if ids is None or len({*ids}) < len(ids) else tuple(ids)
    turned.source = data.source
    if data.feature_names is not None:
        turned.metadata = Metadata({"id": data.feature_names}, "id")
    return turned
