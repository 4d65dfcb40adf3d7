"""Table: columns of different types in memory, from frames, dicts and files through Arrow."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.compat.optional import import_optional
from mercer.data.conversion import column_names, is_missing
from mercer.data.dataset import object_array
from mercer.data.read_options import check_unique
from mercer.errors import DataError
from mercer.text import counted, listed, short_repr, shorten

_MICROSECONDS_PER_DAY = 86_400_000_000
_MOST_DAYS = 2**63 // _MICROSECONDS_PER_DAY
_TOO_FAR = "times are more than 292,000 years from 1970"


@dataclass(frozen=True, eq=False)
class Categories:
    """A column of strings, Booleans, sets or declared categories: codes into distinct values, -1 for missing ones."""

    codes: NDArray
    values: NDArray  # of objects, each once
    type: str  # "string", "boolean", "set" or "numeric"
    ordered: bool = False
    declared: bool = False  # whether the frame calls its values categories

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, some: Any) -> "Categories":
        return replace(self, codes=self.codes[some])

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes) + sum(50 + len(v) for v in self.values if hasattr(v, "__len__"))


@dataclass(frozen=True, eq=False)
class UnusableColumn:
    """A column that no kernel can compare. Its reason is reported when a kernel asks for it."""

    length: int
    reason: str
    nbytes: int = 0

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, some: Any) -> "UnusableColumn":
        return UnusableColumn(len(np.empty(self.length, bool)[some]), self.reason)


Column = NDArray | Categories | UnusableColumn


class Table:
    """Rows of named columns: float64 (NaN), datetime64[us] (NaT), `Categories` or `UnusableColumn`."""

    ndim = 1
    dtype = np.dtype(object)

    def __init__(self, columns: Mapping[Any, Column], n_rows: int) -> None:
        self.columns, self.n_rows = dict(columns), n_rows

    @property
    def shape(self) -> tuple[int]:
        return (self.n_rows,)

    @property
    def names(self) -> list[Any]:
        return list(self.columns)

    @property
    def nbytes(self) -> int:
        return sum(int(column.nbytes) for column in self.columns.values())

    def __sizeof__(self) -> int:
        """With the columns: workers of a cluster account for memory by this."""
        return object.__sizeof__(self) + self.nbytes

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, some: Any) -> "Table":
        """Rows of a slice, an index array or a mask."""
        n_rows = len(np.empty(self.n_rows, bool)[some])
        return Table({name: column[some] for name, column in self.columns.items()}, n_rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Rows as tuples that can be compared; missing values are None."""
        return iter(zip(*map(values_of, self.columns.values()), strict=True))

    def __repr__(self) -> str:
        return f"<Table of {counted(self.n_rows, 'row')}: {listed(map(repr, self.names))}>"


def values_of(column: Column) -> list[Any]:
    """The values of a column as Python objects; missing ones are None."""
    if isinstance(column, UnusableColumn):
        return [None] * len(column)
    if isinstance(column, Categories):
        return [*np.append(column.values, [None])[column.codes]]
    missing = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
    return [None if gone else value for value, gone in zip(column.tolist(), missing, strict=True)]


def concatenate_tables(parts: Sequence[Table]) -> Table:
    """Rows under rows, of tables with equal columns."""
    joined = {name: _concatenate([part.columns[name] for part in parts]) for name in parts[0].names}
    return Table(joined, sum(map(len, parts)))


def _concatenate(parts: list[Any]) -> Column:
    if all(isinstance(part, Categories) and part.type == parts[0].type for part in parts):
        index = {value: i for i, value in enumerate(dict.fromkeys(v for part in parts for v in part.values))}
        codes = [np.array([*map(index.__getitem__, p.values), -1], dtype=np.int32)[p.codes] for p in parts]
        return replace(parts[0], codes=np.concatenate(codes), values=object_array(list(index)))
    if any(isinstance(part, (Categories, UnusableColumn)) for part in parts):
        return UnusableColumn(sum(map(len, parts)), "has parts of different types")
    return np.concatenate(parts)


def as_table(X: Any, name: str = "X") -> Table:
    """Convert a frame, an Arrow table, a dict of columns or a structured array.

    Columns are converted one by one, so that one that Arrow cannot convert does not fail the others.
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, (str, bytes)):
        raise DataError(f"{name} is a string, {shorten(repr(X), 60)}. For a file, pass pathlib.Path(…).")
    if isinstance(X, np.ndarray) and X.dtype.names:
        X = {field: X[field] for field in X.dtype.names}
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        X = X.collect()
    names = list(X) if isinstance(X, Mapping) else column_names(X)
    if names is None:
        raise DataError(f"{name} is of type {type(X).__name__}. A table is a frame, a dict of columns or a file.")
    no_columns = [
        n for n in names if isinstance(X, Mapping) and (isinstance(X[n], str) or not hasattr(X[n], "__len__"))
    ]
    if no_columns:
        one = short_repr(X[no_columns[0]])
        raise DataError(f"{name} has the value {one} for {no_columns[0]!r}. Pass a list for each column.")
    check_unique(names, name)
    pa: Any = import_optional("pyarrow", "io", "A table")
    columns = {n: _from_any(pa, X.column(n) if hasattr(X, "column_names") else X[n]) for n in names}
    return _checked(columns, name)


def from_arrow(table: Any, name: str = "X") -> Table:
    """Convert an Arrow table."""
    pa: Any = import_optional("pyarrow", "io", "A table")
    return _checked(
        {n: _convert(pa, column) for n, column in zip(table.column_names, table.columns, strict=True)}, name
    )


def _checked(columns: dict[Any, Column], name: str) -> Table:
    if not columns:
        raise DataError(f"Found array with 0 feature(s): {name} has no columns.")
    lengths = {n: len(column) for n, column in columns.items()}
    if len({*lengths.values()}) > 1:
        different = listed(f"{n!r} {k:,}" for n, k in lengths.items())
        raise DataError(f"{name} has columns of different lengths: {different}.")
    n_rows = next(iter(lengths.values()))
    if not n_rows:
        raise DataError(f"Found array with 0 sample(s): {name} has no rows.")
    return Table(columns, n_rows)


def _from_any(pa: Any, column: Any) -> Column:
    """A column of a frame or dict, through the Arrow protocol where it has one."""
    try:
        with suppress(pa.ArrowException):  # pandas has the protocol for columns of objects, and it fails for sets
            if hasattr(column, "__arrow_c_stream__") or hasattr(column, "__arrow_c_array__"):
                return _convert(pa, pa.chunked_array(column))
        values = column if hasattr(column, "dtype") and column.dtype != object else _plain(column)
        if isinstance(values, np.ndarray) and not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if isinstance(values, np.ndarray) and values.dtype.kind in "Mm":
            values = _in_microseconds(values)
        return _convert(pa, pa.chunked_array([pa.array(values, from_pandas=True)]))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return UnusableColumn(len(column), f"cannot be converted ({shorten(error, 120)})")


def _in_microseconds(times: NDArray) -> NDArray:
    """Arrow has no minutes, hours and months, and numpy does not report what overflows."""
    kind = times.dtype.kind
    days = times.astype(f"{kind}8[D]").astype(np.int64)[~np.isnat(times)]
    if len(days) and max(-int(days.min()), int(days.max())) >= _MOST_DAYS:
        raise OverflowError(_TOO_FAR)
    return times.astype(f"{kind}8[us]")


def _plain(column: Any) -> list[Any]:
    """Values that Arrow accepts: sets as sorted lists, NaN among other objects as missing."""
    return [
        sorted(value, key=repr) if isinstance(value, (set, frozenset)) else None if is_missing(value) else value
        for value in (column.tolist() if hasattr(column, "tolist") else column)
    ]


def _convert(pa: Any, column: Any) -> Column:
    """An Arrow column as numbers, times or categories."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind) and not types.is_nested(kind.value_type):
        return _categories(pa, column.unify_dictionaries().combine_chunks(), kind.ordered, declared=True)
    if types.is_boolean(kind):
        return _categories(pa, column.cast(pa.string()).combine_chunks().dictionary_encode(), type="boolean")
    if types.is_null(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False).to_numpy().astype(np.float64, copy=False)
    if types.is_temporal(kind) and not types.is_time(kind) and not types.is_interval(kind):
        return _times(pa, column)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return _categories(pa, column.cast(pa.large_string()).combine_chunks().dictionary_encode())
    if types.is_binary(kind) or types.is_large_binary(kind):
        return _categories(pa, column.combine_chunks().dictionary_encode())
    if types.is_list(kind) or types.is_large_list(kind) or types.is_list_view(kind):
        if types.is_floating(kind.value_type) or types.is_nested(kind.value_type):
            return UnusableColumn(len(column), f"holds lists of {kind.value_type}, which are not sets")
        return _sets(column.to_pylist())
    return UnusableColumn(len(column), f"holds values of type {kind}")


def _times(pa: Any, column: Any) -> Column:
    """Dates and times in microseconds since 1970, in UTC; durations as numbers of days."""
    is_duration = pa.types.is_duration(column.type)
    cuts_digits = getattr(column.type, "unit", "") == "ns"
    try:
        times = column.cast(pa.duration("us") if is_duration else pa.timestamp("us"), safe=not cuts_digits)
    except pa.ArrowInvalid:
        return UnusableColumn(len(column), f"cannot be converted ({_TOO_FAR})")
    if not is_duration:
        return times.to_numpy().astype("datetime64[us]", copy=False)
    return times.cast(pa.int64()).cast(pa.float64(), safe=False).to_numpy() / _MICROSECONDS_PER_DAY


def _categories(pa: Any, column: Any, ordered: bool = False, type: str = "string", declared: bool = False) -> Column:
    """Values in the order of their codes: ordered categories keep it, others are in the order of appearance."""
    parts = column.chunks if hasattr(column, "chunks") else [column]
    codes = np.concatenate(
        [part.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False) for part in parts] or [[]]
    )
    values = parts[0].dictionary.to_pylist() if parts else []
    if type == "boolean":
        return Categories(codes.astype(np.int32), object_array([value == "true" for value in values]), type)
    if values and not isinstance(values[0], (str, bytes)):
        if any(not isinstance(value, (int, float)) for value in values):
            return UnusableColumn(len(codes), "has categories that are neither strings nor numbers")
        type = "boolean" if isinstance(values[0], bool) else "numeric"
    return Categories(codes.astype(np.int32), object_array(values), type, ordered, declared)


def _sets(lists: list[Any]) -> Categories:
    members = [None if value is None else frozenset(value) for value in lists]
    index = {value: i for i, value in enumerate(dict.fromkeys(m for m in members if m is not None))}
    codes = np.array([-1 if m is None else index[m] for m in members], dtype=np.int32)
    return Categories(codes, object_array(list(index)), "set")
