"""Tables whose columns stay columns: frames of pandas, polars and pyarrow, dicts of columns, and files of them."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, arrow
from mercer_old.blocks import steps
from mercer_old.errors import BadData, MissingPart, NoRoom, counted, in_short, listed
from mercer_old.limits import parse_memory
from mercer_old.sources.beside import Column, as_typed, refuse_doubles
from mercer_old.sources.cells import Cells, Coded, as_cells, joined_cells, things_of
from mercer_old.sources.dialect import Dialect, Saying, said_of_texts, sniff
from mercer_old.sources.encodings import unpacked
from mercer_old.sources.items import Items
from mercer_old.sources.lines import ending
from mercer_old.sources.roles import Asked, about_names, index_of_pandas, index_without_name, is_text, named_columns
from mercer_old.sources.stored import for_arrow, readable
from mercer_old.terminal import plain

__all__ = ["Columns", "Table", "as_columns", "open_table"]

_DECIMAL, _LOOKS = b"decimal mark", b"in words"  # what a table of a text file is said to have
_LETTERS = 8  # of a text that take as much work as a number


class Columns:
    """Some rows of a table: cells for every column, cut together along the first axis."""

    ndim = 1
    dtype = np.dtype(object)

    def __init__(self, cells: Mapping[Any, Cells], count: int, orders: Mapping[Any, tuple[Any, ...] | None]) -> None:
        self.cells, self.count = dict(cells), count
        self.orders = dict(orders)  # of columns that the frame calls categories: their order, or None

    @property
    def shape(self) -> tuple[int]:
        return (self.count,)

    @property
    def names(self) -> list[Any]:
        return list(self.cells)

    @property
    def nbytes(self) -> int:
        return sum(int(cells.nbytes) for cells in self.cells.values())

    def __sizeof__(self) -> int:
        """With the cells: by this, workers of a cluster keep to their memory."""
        return object.__sizeof__(self) + self.nbytes

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, some: Any) -> "Columns":
        """Those of a slice, with these numbers, or that are marked."""
        count = len(np.empty(self.count, dtype=bool)[some])
        return Columns({name: cells[some] for name, cells in self.cells.items()}, count, self.orders)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Row by row, as tuples that can be compared."""
        return iter(zip(*(things_of(cells) for cells in self.cells.values()), strict=True))

    def reshape(self, *shape: int) -> Array:
        """Row by row as dicts, in an array of objects of this shape."""
        rows = np.empty(self.count, dtype=object)
        rows[:] = [dict(zip(self.cells, row, strict=True)) for row in self]
        return rows.reshape(*shape)

    def copy(self) -> "Columns":
        return Columns({name: cells.copy() for name, cells in self.cells.items()}, self.count, self.orders)

    def __repr__(self) -> str:
        return f"<{counted(self.count, 'row')} of the columns {listed(map(repr, self.names))}>"


def joined_columns(parts: Sequence[Columns]) -> Columns:
    """Rows under rows, of the same columns."""
    cells = {name: joined_cells([part.cells[name] for part in parts]) for name in parts[0].names}
    return Columns(cells, sum(map(len, parts)), parts[0].orders)


class Table(Items):
    """The rows of a frame in memory."""

    held = True
    kind = "tables"
    dtype = np.dtype(object)

    def __init__(self, X: Any, label: str = "X") -> None:
        self.label = plain(X) if isinstance(X, Path) else label
        self.columns = as_columns(X, self.label)
        if not len(self.columns):
            raise BadData(f"Found array with 0 sample(s): {self.label} has no rows.")

    @property
    def names(self) -> list[Any]:
        """Of the columns."""
        return self.columns.names

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def width(self) -> int:
        """A number for every cell, and more for those that hold texts."""
        return max(1, sum(map(_width_of, self.columns.cells.values())))

    @property
    def nbytes(self) -> int:
        return self.columns.nbytes

    def blocks(self, size: int) -> Iterator[Columns]:
        for some in steps(len(self), size):
            yield self.columns[some]

    def __getitem__(self, indices: Array) -> Columns:
        return self.columns[np.asarray(indices)]

    def load(self, kept: Array | None = None) -> Columns:
        return self.columns if kept is None else self.columns[kept]

    def only(self, columns: Sequence[str] | None, drop: Sequence[str]) -> "Table":
        """The same with these columns alone, or without some."""
        unknown = [name for name in [*(columns or ()), *drop] if name not in self.names]
        if unknown:
            has = listed(map(repr, self.names), 20)
            raise BadData(f"{self.label} has no column {listed(map(repr, unknown))}; it has {has}.")
        kept = [name for name in (self.names if columns is None else columns) if name not in drop]
        if not kept:
            raise BadData(f"{self.label} has no columns left.")
        some = copy(self)
        some.columns = Columns({name: self.columns.cells[name] for name in kept}, len(self), self.columns.orders)
        return some

    def in_memory(self, kept: Array | None = None) -> "Table":
        return self if kept is None else Table(self.columns[kept], self.label)


def _width_of(cells: Cells) -> int:
    if not isinstance(cells, Coded) or not len(cells.values) or cells.kind == "truth":
        return 1
    return 1 + sum(map(len, cells.values)) // (_LETTERS * len(cells.values))


# ---------------------------------------------------------------------- from whatever comes


def as_columns(X: Any, label: str = "X") -> Columns:
    """The columns of a frame, of a dict of columns, or of the file at a path."""
    if isinstance(X, Table):
        return X.columns
    if isinstance(X, Columns):
        return X
    if isinstance(X, Path):
        X = _read(X)
    if isinstance(X, np.ndarray) and X.dtype.names:
        X = {name: X[name] for name in X.dtype.names}
    if isinstance(X, Mapping):
        return _of_columns({name: as_cells(_one(column, name, label)) for name, column in X.items()}, label)
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        X = X.collect()  # a lazy frame
    if isinstance(X, (str, bytes)):
        raise BadData(
            f"{label} is a text, {in_short(X)}. If it is the name of a file, give pathlib.Path({in_short(X)})."
        )
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or isinstance(X, np.ndarray):
        raise BadData(
            f"{label} is of type {type(X).__name__}, whose columns have no names: a kernel of tables takes a dataframe "
            "(pandas, polars, pyarrow), a dict of columns, or the pathlib.Path of a file."
        )
    return _of_frame(X, names, label)


def _of_frame(X: Any, names: Any, label: str) -> Columns:
    """Through narwhals, which knows them all."""
    _refuse_twice(names, label)
    try:
        import narwhals as nw
    except ModuleNotFoundError:
        raise MissingPart("A table of pandas, polars or pyarrow", "narwhals", "tables") from None
    frame: Any = nw.from_native(X, eager_only=True)
    cells, orders = dict[Any, Cells](), dict[Any, tuple[Any, ...] | None]()
    for series in frame.iter_columns():
        name = series.name
        cells[name] = as_cells(series.to_list() if series.dtype.is_nested() else series.to_numpy())
        if series.dtype == nw.Enum:
            orders[name] = tuple(series.dtype.categories)
        elif series.dtype == nw.Categorical:
            orders[name] = None
    return _of_columns(cells, label, orders)


def _of_columns(cells: dict[Any, Cells], label: str, orders: Mapping[Any, Any] | None = None) -> Columns:
    if not cells:
        raise BadData(f"Found array with 0 feature(s): {label} has no columns.")
    counts = {name: len(column) for name, column in cells.items()}
    (first, count), *others = counts.items()
    for name, other in others:
        if other != count:
            raise BadData(
                f"{label} has columns of different lengths: {first!r} has {counted(count, 'row')} and {name!r} "
                f"{other:,}."
            )
    return Columns(cells, count, orders or {})


def _one(column: Any, name: Any, label: str) -> Any:
    """A column that has one cell a row."""
    if isinstance(column, (str, bytes)) or not hasattr(column, "__len__") or np.ndim(_shell(column)) > 1:
        raise BadData(f"Column {name!r} of {label} is no list of cells: {in_short(column)}.")
    return column


def _shell(column: Any) -> Any:
    """What has axes; lists, whose cells may be lists, have one."""
    return column if hasattr(column, "ndim") else [None]


def _refuse_twice(names: Any, label: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadData(f"{label} has more than one column called {listed(map(repr, twice))}; rename them.")


def open_table(
    path: str | os.PathLike[str],
    memory_limit: int | str | None = None,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    id: str | None = None,
    label: str | None = None,
    keep: Sequence[str] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
) -> Table:
    """The table of a file, with columns of all kinds, for `TableKernel`: read at once.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet, .arrow or .feather file; text may be packed (.csv.gz).
    memory_limit : int, str or None, default=None
        Bytes, or a text such as "2GB", that it may take. None: half of the machine's or container's memory.
    columns, drop : sequence of str
        The columns to use, all if left out, and columns to leave out.
    id, label, keep, header, delimiter, decimal, encoding, format
        As `open_rows` has them: the first column of texts that are all different names rows, unless ``columns`` has it.

    Returns
    -------
    table : Table
        With `names` of the columns, `row_names` with their `heading`, and `beside` for what is written along.

    See Also
    --------
    open_rows : Rows of numbers.
    """
    path, most = Path(path), parse_memory(memory_limit)
    _refuse_large(path, most)
    asked = Asked(columns, drop, id, label, keep, most)
    frame = _read(path, said_of_texts(header, delimiter, decimal, encoding), format, asked)
    return _as_table(path, frame, asked, guess=True)


def open_whole_table(path: Path, memory_limit: int | str | None = None) -> Table:
    """All columns of a file but names of rows that R or pandas wrote: a kernel may compare any of them."""
    most = parse_memory(memory_limit)
    _refuse_large(path, most)
    return _as_table(path, _read(path), Asked(most=most), guess=False)


def _as_table(path: Path, frame: Any, asked: Asked, guess: bool) -> Table:
    """Its features, names of rows and what is beside them; `guess`: texts that are all different may be names."""
    names = named_columns(frame.column_names, asked, plain(path))
    beside = {name: _typed(frame, name, asked.most) for name in asked.beside}
    heading, why = _heading(frame, names, asked, guess)
    rows = None if heading is None else _column(frame, heading, asked.most)
    if rows is not None and asked.id is not None:
        refuse_doubles(rows, asked.id, plain(path))
    features = [name for name in names if name != heading]
    if not features:
        raise BadData(f"{plain(path)} has no columns left.")
    table = Table(frame.select(features), plain(path))
    table.path, table.beside = path, beside
    table.row_names, table.heading = rows, heading or ""
    looks = (frame.schema.metadata or {}).get(_LOOKS)
    found = () if rows is None or asked.id is not None else (about_names(str(heading), *why),)
    table.notes = (*(() if looks is None else (looks.decode(),)), *found)
    return table


def _heading(frame: Any, names: Sequence[str], asked: Asked, guess: bool) -> tuple[str | None, tuple[str, ...]]:
    """The column that names rows, and why it is taken for that: as of rows of numbers, the first one of texts."""
    index = index_of_pandas(frame.schema) or index_without_name(frame.column_names)
    if asked.id is not None or (index is not None and index not in {*asked.no_features, *(asked.columns or ())}):
        return asked.id if asked.id is not None else index, ()
    first = next((name for name in names if is_text(frame.schema.field(name).type)), None)
    may_name = guess and asked.columns is None and first is not None and len(names) > 1
    if may_name and _column(frame, str(first), asked.most).distinct:
        return first, ("whose texts are all different",)
    return None, ()


def _column(frame: Any, name: str, most: float) -> Column:
    return Column.of(frame.column(name).chunks, f"Column {name!r}", most)


def _refuse_large(path: Path, most: float) -> None:
    """What takes more room than there is, of a packed file when it is unpacked."""
    if not path.is_file():
        return
    size = path.stat().st_size
    if path.suffix.lower() == ".gz":
        with readable(path):
            size = next((so_far for so_far in accumulate(map(len, unpacked(path))) if so_far > most), 0)
    if size > most:
        takes = "takes" if size == path.stat().st_size else "unpacks to more than"
        raise NoRoom(f"{plain(path)} {takes} {size:,} bytes, more than the memory limit of {most:,}.")


def _typed(frame: Any, name: str, most: float) -> Column:
    """A column that is written along; of a text file as what all of its cells are, and codes such as 007 as texts."""
    column = _column(frame, name, most)
    decimal = (frame.schema.metadata or {}).get(_DECIMAL)
    return column if decimal is None else as_typed(column, decimal.decode())


def _read(path: Path, said: Saying | None = None, format: str | None = None, asked: Asked | None = None) -> Any:
    """The table in a file, by Arrow."""
    kind = ending(path) if format is None else f".{format.lower().removeprefix('.')}"
    with readable(path):
        if kind in (".parquet", ".pq"):
            return arrow("parquet").read_table(path)
        if kind in (".arrow", ".feather"):
            return arrow("feather").read_table(path)
        if kind in (".csv", ".tsv", ".txt"):
            return _read_text(path, sniff(path, said), asked or Asked())
    raise BadData(f"{plain(path)}: a table is read from a .csv, .tsv, .parquet, .arrow or .feather file.")


def _read_text(path: Path, dialect: Dialect, asked: Asked) -> Any:
    """The table of a text file, and what it looks like; names and what is written along are texts as they stand."""
    csv, index = arrow("csv"), index_without_name(dialect.names)
    texts = {
        name for name in (*asked.beside, asked.id, index) if name is not None and name not in (asked.columns or ())
    }
    frame = csv.read_csv(
        for_arrow(path),
        read_options=csv.ReadOptions(
            column_names=list(dialect.names),
            skip_rows=dialect.skip,
            encoding="utf8" if dialect.encoding == "utf-8" else dialect.encoding,
        ),
        parse_options=csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=dialect.quotes > 0),
        convert_options=csv.ConvertOptions(
            strings_can_be_null=True, decimal_point=dialect.decimal, column_types=dict.fromkeys(texts, "string")
        ),
    )
    return frame.replace_schema_metadata({_DECIMAL: dialect.decimal, _LOOKS: dialect.in_words})
