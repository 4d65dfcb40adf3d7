"""Open a file as a dataset."""

import os
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from mercer.budget import parse_memory
from mercer.compat.optional import import_optional
from mercer.data.dataset import ArrayDataset, Dataset, Kind, Metadata
from mercer.data.read_options import TABLES, ReadOptions, assign_roles
from mercer.data.reading import IMAGES, check_memory, reading
from mercer.errors import DataError, ParameterError, UsageError
from mercer.text import printable

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather"), "arrow"),
    **dict.fromkeys((".fa", ".fasta", ".fna", ".faa", ".ffn", ".frn"), "fasta"),
    ".npy": "npy",
    ".npz": "npz",
    ".h5ad": "h5ad",
}
_COMPRESSIONS = (".gz", ".zst", ".bz2")  # of text files


class _Reader(NamedTuple):
    """What reads files of a format: a function (path, options, memory), a package it needs, and kinds of samples."""

    module: str
    function: str
    package: str | None = None
    kinds: tuple[Kind, ...] = ("vectors",)


_TABLE_KINDS: tuple[Kind, ...] = ("vectors", "strings", "table")
_READERS = {
    "npy": _Reader("numpy_files", "NpyDataset"),
    "npz": _Reader("numpy_files", "read_npz"),
    "h5ad": _Reader("h5ad", "open_h5ad", "h5py"),
    "images": _Reader("images", "read_images", "PIL"),
    "lines": _Reader("sequences", "read_lines", kinds=("strings",)),
    "fasta": _Reader("sequences", "read_fasta", kinds=("strings",)),
    "csv": _Reader("csv_files", "CsvReader", "pyarrow", _TABLE_KINDS),
    "parquet": _Reader("arrow", "ParquetReader", "pyarrow", _TABLE_KINDS),
    "arrow": _Reader("arrow", "IpcReader", "pyarrow", _TABLE_KINDS),
}


def open_dataset(
    path: str | os.PathLike[str], *, kind: Kind = "vectors", memory_limit: int | str | None = None, **options: Any
) -> Dataset:
    """Open a file for `fit` and `transform`.

    Tables and matrices are read in blocks later; strings, mixed tables and images are read into memory.

    Parameters
    ----------
    path : str or path
        A .csv, .tsv, .txt, .parquet, .arrow, .feather, .npy, .npz, .h5ad or FASTA file, a folder of Parquet files
        at any depth, or a folder of images. Text files may be compressed (.gz, .zst, .bz2). For
        ``kind="strings"``, other files have one string per line.
    kind : {"vectors", "strings", "table"}, default="vectors"
        What the samples are.
    memory_limit : int, str or None, default=None
        Bytes, or a string such as "2GB", that reading may take. None is half of the memory of the machine.
    columns : str or list of str, default=None
        Columns to use, in this order. None uses all numeric columns that do not identify rows. Codes such as 007
        are numbers only if their column is named here.
    drop : str or list of str, default=()
        Columns to leave out.
    id : str, default=None
        Column of ids. None uses the index that R or pandas wrote, or the first column of strings that are all
        different, or an integer column that is named like an id or counts rows.
    label : str, default=None
        Column of classes or numbers, for colors.
    keep : str or list of str, default=()
        Columns that are written in front of the scores.
    text : str, default=None
        Column of strings, for ``kind="strings"``. None uses the only column.
    header : bool, default=None
        Whether the first line of a text file has column names. None detects it.
    delimiter, decimal, encoding : str, default=None
        Format of a text file. None detects it.
    format : str, default=None
        Format of the file, such as "csv" or "lines", if its name does not show it.
    array : str, default=None
        Array of an .npz file. None reads the only one.
    layer, obsm : str, default=None
        Layer, or matrix in obsm, of an .h5ad file. None reads X.
    mask_var : str or bool, default=None
        Boolean column of var that selects the columns of an .h5ad file. None uses "highly_variable" if present, as
        scanpy does; False uses all columns.
    resize : str, default=None
        Width and height of images, such as "64x64". None requires images of one size.
    case : {"upper", "lower"}, default=None
        Case to which strings are converted. None keeps them as they are.
    transpose : bool, default=False
        Whether columns of the file are samples. The file is then read into memory.
    optional_metadata : bool, default=False
        Whether a missing label or kept column is ignored.

    Returns
    -------
    data : Dataset
        With `shape`, `feature_names`, `metadata` and `source.notes` on what was detected.

    Raises
    ------
    DataError
        If the file cannot be read, or has no numeric columns.
    MemoryLimitError
        If reading takes more than `memory_limit`.

    Examples
    --------
    >>> data = open_dataset("measurements.csv", id="sample", drop=["date"])  # doctest: +SKIP
    >>> PCA(2).fit(data)  # doctest: +SKIP
    """
    read_options, memory = ReadOptions.from_user(options), parse_memory(memory_limit)
    if kind not in get_args(Kind):
        raise ParameterError("kind", kind, '"vectors", "strings" or "table"')
    path = Path(path)
    with reading(path):
        name = printable(path)
        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise DataError(f"The name of {name} is not UTF-8. Rename the file.", source=path) from None
        form = file_format(path, read_options.format, kind)
        read_options.check_for(form, name)
        data = _open(path, form, read_options, kind, memory)
        if not data.shape[0] or not data.shape[1]:
            raise DataError(f"{name} has {data.shape[0]:,} rows and {data.shape[1]:,} columns.", source=path)
        return transposed(data, memory) if read_options.transpose else data


def _open(path: Path, form: str, options: ReadOptions, kind: Kind, memory: int) -> Dataset:
    reader = _READERS[form]
    if kind not in reader.kinds:
        raise DataError(f"{printable(path)} is read as {form}, which does not hold {kind}.", source=path)
    if reader.package:
        import_optional(reader.package, "io", f"Reading {printable(path)}")
    opened = getattr(import_module(f"mercer.data.{reader.module}"), reader.function)(path, options, memory)
    if form in TABLES:
        from mercer.data.arrow import TABLE_KINDS

        opened = TABLE_KINDS[kind](opened, assign_roles(opened, options, kind))
    if options.case is not None and kind == "strings":
        samples = opened.load()
        for i, string in enumerate(samples):
            samples[i] = string.upper() if options.case == "upper" else string.lower()
    return cast(Dataset, opened)


def file_format(path: Path, given: str | None, kind: Kind = "vectors") -> str:
    """The format of a file, by what the user gave or by its name and by what is in a folder."""
    name = Path(path.name.lower())
    packed = name.suffix in _COMPRESSIONS
    suffix = f".{given.lower().removeprefix('.')}" if given else Path(name.stem).suffix if packed else name.suffix
    form = _FORMATS.get(suffix)
    if path.is_dir() and (form == "parquet" or not given):
        return _folder_format(path)
    if kind == "strings" and (suffix in (".txt", ".lines") or (form is None and not given)):
        return "lines"
    if form is None and not path.exists() and not given:
        raise FileNotFoundError(path)
    if form is None or (packed and form not in ("csv", "fasta")):
        supported = f"{', '.join(_FORMATS)}, folders of Parquet files and folders of images"
        message = f"The format of {printable(path)} is not supported. Supported: {supported}."
        raise ParameterError("path", str(path), "a file of a supported format", message=message)
    return form


def _folder_format(path: Path) -> str:
    """A folder holds Parquet files at any depth, or images."""
    images = any(file.suffix.lower() in IMAGES for file in path.iterdir())
    tables = any(_FORMATS.get(file.suffix.lower()) == "parquet" for file in path.rglob("*"))
    if images == tables:
        found = "has Parquet files and images. Move one kind to another folder"
        found = found if images else "is a folder without Parquet files or images"
        raise DataError(f"{printable(path)} {found}.", source=path)
    return "images" if images else "parquet"


def transposed(data: Dataset, memory: int) -> Dataset:
    """A dataset whose samples are the features of `data`, in memory."""
    name, metadata = data.source.name, data.metadata
    if data.is_sparse or data.kind != "vectors" or {*metadata.columns} - {metadata.id_name}:
        raise UsageError(f"{name} cannot be transposed: it is not a dense matrix, or has a label or kept columns.")
    check_memory(f"{name} to transpose it", 2 * data.nbytes + data.reading_bytes, memory)
    data = copy(data)
    data.allow_nan = True  # they are looked for later
    ids, names = metadata.ids, data.feature_names
    return ArrayDataset(
        np.ascontiguousarray(data.load().T),
        owns_samples=True,
        feature_names=None if ids is None or len({*ids}) < len(ids) else tuple(ids),
        metadata=Metadata() if names is None else Metadata({"id": names}, "id"),
        source=data.source,
    )
