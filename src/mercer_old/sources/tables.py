"""Tables in files: Parquet, Arrow and Feather, read block by block."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mercer_old.arrays import Array, arrow
from mercer_old.errors import BadData, NoRoom, counted, listed, warn
from mercer_old.limits import bytes_in_words
from mercer_old.sources.beside import Column, refuse_doubles
from mercer_old.sources.claims import claimed_batches, largest_pages
from mercer_old.sources.dialect import NUMBER, is_empty_field
from mercer_old.sources.faults import look_like_numbers
from mercer_old.sources.roles import Asked, about_names, index_of_pandas, index_without_name, is_text, named_columns
from mercer_old.sources.stored import FileRows, float_type, readable
from mercer_old.terminal import plain

_READ = 8192  # rows that Arrow hands over at a time
_PAGE = 3_000_000  # bytes that Parquet holds for each column while its pages are decoded
_MOST_DIGITS = 76  # of a decimal
_LOOKED_AT = 1000  # cells of a column of texts that may be numbers gone wrong
_WINDOW = 1 << 16  # bytes of a Parquet column that are read at a time


class TableRows(FileRows):
    """Columns of numbers, handed over by Arrow as record batches; others stand beside them, or are left out."""

    def __init__(self, path: Path, asked: Asked) -> None:
        super().__init__(path)
        _refuse_odd_name(path)
        with readable(path):
            schema = self._schema()
            self.columns = named_columns(schema.names, asked, self.label)
            self.kinds = {name: schema.field(name).type for name in schema.names}
            index = None if asked.id is not None else self._index(schema, asked)
            self.columns = tuple(name for name in self.columns if name != index)
            self._settle_texts(asked, index)
            self.names: tuple[str, ...] | None = self.columns
            self.dtype = float_type([self.kinds[name].to_pandas_dtype() for name in self.columns])
            self.shape = self._count(), len(self.columns)
            self._read_beside(asked)

    def _index(self, schema: Any, asked: Asked) -> str | None:
        """The column that R or pandas wrote as names of rows, which is no feature even if some are the same."""
        name = index_of_pandas(schema)
        name = index_without_name(schema.names) if name is None else name
        if name is None or name in asked.no_features or name in (asked.columns or ()):
            return None
        if not self._take_as_names(name, asked.most):
            warn(f"Column {name!r} of {self.label} has names of rows, and some of them are the same: it is left out.")
        return name

    def _take_as_names(self, name: str, most: float, *why: str) -> bool:
        """The cells of a column as names of rows, if they are all different."""
        column = self.column(name, most)
        if column.distinct:
            self.row_names, self.heading = column, name
            self.notes += (about_names(name, *why),)
        return column.distinct

    def _settle_texts(self, asked: Asked, index: str | None) -> None:
        """Of the columns that are no numbers the first may name rows, and the others are left out."""
        mine = set(self.columns)
        bad = {name: kind for name, kind in no_numbers(self.kinds).items() if name in mine}
        if not bad:
            return
        wrong = bad if asked.columns is not None else self._numbers_gone_wrong(bad, asked.most)
        if wrong or len(bad) == len(self.columns):
            self._refuse_text(wrong or bad)
        first = next(iter(bad))
        may_name = asked.id is None and index is None and is_text(self.kinds[first])
        if may_name and self._take_as_names(first, asked.most, "whose texts are all different"):
            mine, bad = mine - {first}, {name: kind for name, kind in bad.items() if name != first}
        self.columns = tuple(name for name in self.columns if name in mine and name not in bad)
        if bad:
            warn(
                f"{self.label} has columns that are no numbers: {with_kinds(bad)}. They are left out; to "
                "say so, or to write them along: mercer.open_rows(path, drop=[…], keep=[…]), on the command line "
                "--drop NAME, --keep NAME. A kernel of tables (--table) compares them."
            )

    def _numbers_gone_wrong(self, texts: dict[str, str], most: float) -> dict[str, str]:
        """The columns of texts that were meant to be numbers, by their first cells: someone should correct those."""
        names = [name for name in texts if is_text(self.kinds[name])]
        self._refuse_claims(names, most)
        batch: Any = next(iter(self._batches_of(names)), None) if names else None
        wrong = {name: kind for name, kind in texts.items() if arrow("types").is_decimal(self.kinds[name])}
        for name in names if batch is not None else ():
            cells = [cell for cell in batch.column(name)[:_LOOKED_AT].to_pylist() if cell and not is_empty_field(cell)]
            numbers = sum(bool(NUMBER.fullmatch(self._as_number(cell))) for cell in cells)
            if cells and (2 * numbers >= len(cells) or look_like_numbers(cells)):
                wrong[name] = texts[name]
        return wrong

    def _as_number(self, cell: str) -> str:
        return cell

    def _read_beside(self, asked: Asked) -> None:
        """The columns that are written along, and names of rows that were asked for."""
        if asked.id is not None:
            self.row_names, self.heading = self.column(asked.id, asked.most), asked.id
            refuse_doubles(self.row_names, asked.id, self.label)
        self.beside = {name: self.column(name, asked.most, typed=True) for name in asked.beside}
        held = [*self.beside.values(), self.row_names]
        self.overhead += sum(column.nbytes for column in held if isinstance(column, Column))

    def column(self, name: str, most: float = float("inf"), typed: bool = False) -> Column:
        """All cells of any column, held in memory."""
        self._refuse_claims([name], most)
        pieces = (batch.column(name) for batch in self._batches_of((name,)))
        return Column.of(pieces, f"Column {name!r} of {self.label}", most)

    def _refuse_claims(self, names: Sequence[str], most: float) -> None:
        """Before anything of these columns is unpacked."""
        claimed = self._claimed(names)
        if claimed > most:
            which = f"Column {names[0]!r}" if len(names) == 1 else f"{counted(len(names), 'column')} of texts"
            limit = bytes_in_words(most)
            raise NoRoom(
                f"{which} of {self.label}: to read takes {bytes_in_words(claimed)}, over the limit of {limit}."
            )

    def _pieces(self, size: int) -> Iterator[Array]:
        for batch in self._batches():
            for start in range(0, batch.num_rows, _READ):
                yield matrix_of(batch.slice(start, _READ), self.columns, self.dtype)

    def _refuse_text(self, bad: dict[str, str], first: str = "") -> None:
        """Columns that are no numbers, named, with the way out."""
        none = "has no columns of numbers, but columns" if len(bad) == len(self.columns) else "has columns"
        raise BadData(
            f"{self.label} {none} that are no numbers: {with_kinds(bad)}{first}. Leave them out "
            "(mercer.open_rows(path, drop=[…]), on the command line --drop NAME) or encode them as numbers."
        )

    @abstractmethod
    def _schema(self) -> Any: ...

    @abstractmethod
    def _count(self) -> int: ...

    def _claimed(self, names: Sequence[str]) -> int:
        """Bytes that columns take while they are read, by what the file says of itself."""
        return 0

    def _batches(self) -> Iterator[Any]:
        """Of the features."""
        return self._batches_of(self.columns)

    @abstractmethod
    def _batches_of(self, columns: Sequence[str]) -> Iterator[Any]:
        """Of these columns, as they stand in the file."""


@dataclass(frozen=True)
class ParquetFile:
    """A file of Parquet, and how its rows are cut."""

    path: Path
    groups: tuple[int, ...]  # rows of each row group
    keys: Mapping[str, Any] = field(default_factory=dict)  # columns that its folders stand for, of one value each

    @property
    def rows(self) -> int:
        return sum(self.groups)

    @property
    def label(self) -> str:
        return plain(self.path)


class ParquetRows(TableRows):
    """Row groups on demand, through a small window: pages of all columns are open at once, but no more than those."""

    files: tuple[ParquetFile, ...]  # one, unless it is a folder

    def _schema(self) -> Any:
        return arrow("parquet").read_schema(self.path)

    def _count(self) -> int:
        groups, self.overhead = row_groups(self.path, self.columns)
        self.files = (ParquetFile(self.path, groups),)
        return sum(groups)

    def _claimed(self, names: Sequence[str]) -> int:
        return 3 * largest_pages(self.path, arrow("parquet").read_metadata(self.path), names)

    def _batches_of(self, columns: Sequence[str]) -> Iterator[Any]:
        return parquet_batches(self.path, columns)


def row_groups(path: Path, columns: Sequence[str]) -> tuple[tuple[int, ...], int]:
    """Rows of each row group of a file, from its metadata, and bytes that reading these columns takes beside them."""
    state = arrow("parquet").read_metadata(path)
    groups = [state.row_group(i) for i in range(state.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    if rows != state.num_rows:
        raise BadData(f"{plain(path)} is damaged: it holds {counted(rows, 'row')} and claims {state.num_rows:,}.")
    usual = min(_PAGE * len(columns), 3 * max((group.total_byte_size for group in groups), default=0))
    return tuple(group.num_rows for group in groups), max(usual, 3 * largest_pages(path, state, columns))


def parquet_batches(path: Path, columns: Sequence[str], groups: Sequence[int] | None = None) -> Iterator[Any]:
    """Of all row groups, or of these."""
    which = {} if groups is None else {"row_groups": list(groups)}
    with arrow("parquet").ParquetFile(path, buffer_size=_WINDOW, pre_buffer=False) as file:
        yield from file.iter_batches(batch_size=_READ, columns=list(columns), use_threads=False, **which)


class ArrowRows(TableRows):
    """Arrow's own format, also called Feather: a batch at a time, which is as large as its writer made it."""

    def _schema(self) -> Any:
        with arrow("ipc").open_file(self.path) as file:
            return file.schema

    def _count(self) -> int:
        found = claimed_batches(self.path, self._schema(), self.columns)
        self.overhead = 4 * found.largest + found.dictionaries  # as it is read, unpacked and chosen from
        return found.rows

    def _claimed(self, names: Sequence[str]) -> int:
        found = claimed_batches(self.path, self._schema(), names)
        return 4 * found.largest + found.dictionaries

    def _batches_of(self, columns: Sequence[str]) -> Iterator[Any]:
        ipc = arrow("ipc")
        with ipc.open_file(self.path) as file:
            wanted = [file.schema.get_field_index(name) for name in columns]
            options = ipc.IpcReadOptions(included_fields=sorted(wanted), use_threads=False)
        with ipc.open_file(self.path, options=options) as file:
            for i in range(file.num_record_batches):
                batch = file.get_batch(i)
                batch.validate()  # a damaged file may claim more rows than it has bytes for
                yield batch.select(list(columns))


def matrix_of(batch: Any, columns: Sequence[str], dtype: Any) -> Array:
    """Columns of a record batch as an array; what is missing is NaN."""
    out = np.empty((batch.num_rows, len(columns)), dtype=dtype)
    for j, name in enumerate(columns):
        column = batch.column(name)
        simple = column.null_count == 0 and not arrow("types").is_decimal(column.type)
        out[:, j] = (column if simple else column.cast("float64", safe=False)).to_numpy(zero_copy_only=False)
    return out


def _refuse_odd_name(path: Path) -> None:
    """Arrow takes names as UTF-8, which bytes of a name need not be."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise BadData(f"{plain(path)}: the name of this file is no UTF-8; rename it.") from None


def with_kinds(columns: dict[str, str]) -> str:
    return listed(f"{name!r} ({kind})" for name, kind in columns.items())


def no_numbers(kinds: dict[str, Any]) -> dict[str, str]:
    """The columns that are no numbers, and what they are instead."""
    types = arrow("types")
    number = (types.is_integer, types.is_floating, types.is_boolean, types.is_null, _sane_decimal)
    return {name: str(kind) for name, kind in kinds.items() if not any(test(kind) for test in number)}


def _sane_decimal(kind: Any) -> bool:
    """Whether its numbers can be told from 0 and infinity: no writer means 10⁻¹⁰⁰⁰, but a damaged file may."""
    return bool(arrow("types").is_decimal(kind)) and abs(kind.scale) <= _MOST_DIGITS
