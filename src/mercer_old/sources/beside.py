"""Columns that stand beside the features: names of rows, labels, and what is written along as it is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from mercer_old.arrays import arrow
from mercer_old.errors import BadData, NoRoom, counted, listed
from mercer_old.limits import bytes_in_words
from mercer_old.sources.dialect import GAPS

__all__ = ["Column", "as_typed", "is_of_numbers", "refuse_doubles"]

_AT_ONCE = 1 << 16  # cells that are compared
_CODE = r"^[+-]?0[0-9]+$|^\+"  # 007 and +49: no numbers


class Column(Sequence[Any]):
    """A column of a file, as it stands there: as narrow as Arrow holds it, one cell at a time as Python has it."""

    def __init__(self, cells: Any) -> None:
        self.cells = cells  # an array of Arrow

    @classmethod
    def of(cls, pieces: Iterable[Any], what: str, most: float) -> "Column":
        """From pieces of a column, as long as all of them fit."""
        lib, kept, size = arrow("lib"), list[Any](), 0
        for piece in pieces:
            piece = piece.dictionary_decode() if arrow("types").is_dictionary(piece.type) else piece
            piece = piece.cast(lib.large_string()) if arrow("types").is_string_view(piece.type) else piece
            kept.append(piece)
            size += piece.nbytes
            if size > most:
                raise NoRoom(
                    f"{what} is held in memory, and is beyond the limit of {bytes_in_words(most)}. Give a larger "
                    "memory_limit, or leave it out."
                )
        whole = lib.chunked_array(kept).combine_chunks() if kept else lib.array([], lib.string())
        return cls(whole if isinstance(whole, lib.Array) else lib.concat_arrays(whole.chunks))

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, some: int) -> Any: ...
    @overload
    def __getitem__(self, some: slice) -> "Column": ...
    def __getitem__(self, some: int | slice) -> Any:
        return Column(self.cells[some]) if isinstance(some, slice) else self.cells[int(some)].as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.cells.to_pylist())

    def __arrow_array__(self, type: Any = None) -> Any:
        return self.cells if type is None else self.cells.cast(type)

    @property
    def nbytes(self) -> int:
        return int(self.cells.nbytes)

    def take(self, numbers: Any) -> "Column":
        """The cells with these numbers."""
        return Column(self.cells.take(arrow("lib").array(numbers)))

    @property
    def _has_texts(self) -> bool:
        types, kind = arrow("types"), self.cells.type
        return bool(types.is_string(kind) or types.is_large_string(kind))

    @property
    def distinct(self) -> bool:
        """Whether each cell is there, and no two are the same."""
        empty = self._has_texts and arrow("compute").any(arrow("compute").equal(self.cells, "")).as_py()
        return not empty and self.cells.null_count == 0 and not self._repeats()

    def _repeats(self) -> bool:
        """Whether two cells are the same. Sorted, they are neighbours: a table of all takes seven times the room."""
        if not (self._has_texts or arrow("types").is_integer(self.cells.type)):
            return len(self.cells.unique()) < len(self)
        compute = arrow("compute")
        order = compute.sort_indices(self.cells)
        for start in range(0, len(self) - 1, _AT_ONCE):
            some = self.cells.take(order[start : start + _AT_ONCE + 1])
            if compute.any(compute.equal(some[1:], some[:-1])).as_py():
                return True
        return False

    def formulas(self) -> list[str]:
        """The texts that a spreadsheet takes for formulas."""
        if not self._has_texts:
            return []
        marked = arrow("compute").match_substring_regex(self.cells, r"^[=+@\t\r]|^-[^0-9.,]")
        return list(self.cells.filter(marked).to_pylist())

    def doubles(self) -> list[Any]:
        """The cells that are there more than once."""
        counts = self.cells.value_counts()
        more = arrow("compute").greater(counts.field("counts"), 1)
        return list(counts.field("values").filter(more).to_pylist())


def is_of_numbers(column: Any) -> bool:
    """Whether it would be a feature, if it were not beside them."""
    types = arrow("types")
    kind = column.cells.type if isinstance(column, Column) else None
    return kind is not None and bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def refuse_doubles(column: Column, name: str, label: str) -> None:
    """Names of rows that were asked for have to be names."""
    if column.distinct:
        return
    twice = column.doubles()
    if not twice:
        raise BadData(f"Column {name!r} of {label} cannot name rows: it has gaps. Fill them in.")
    raise BadData(
        f"Column {name!r} of {label} cannot name rows: {counted(len(twice), 'name')} "
        f"{'stand' if len(twice) > 1 else 'stands'} for more than one, {listed(map(repr, twice), 3)}. Take another "
        "column, or write this one along: mercer.open_rows(path, keep=[…]), on the command line --keep NAME."
    )


def as_typed(column: Column, decimal: str = ".") -> Column:
    """Texts of a file as what all of them are: numbers, truths or dates; codes such as 007 stay texts."""
    lib, compute = arrow("lib"), arrow("compute")
    texts = compute.utf8_trim_whitespace(column.cells)
    gap = compute.is_in(compute.utf8_lower(texts), lib.array(sorted(GAPS)))
    there = texts.filter(compute.invert(gap))

    def all_match(pattern: str) -> bool:
        return bool(compute.all(compute.match_substring_regex(there, pattern)).as_py())

    if not len(there) or compute.any(compute.match_substring_regex(there, _CODE)).as_py():
        return column
    whole = all_match("^[+-]?[0-9]+$")
    filled = compute.if_else(gap, lib.scalar(None, lib.string()), texts)
    if decimal == "," and all_match("^[^.]*$"):
        filled = compute.replace_substring(filled, ",", ".")
    for kind in (lib.int64(),) if whole else (lib.float64(), lib.bool_(), lib.date32(), lib.timestamp("s")):
        if kind == lib.bool_() and not all_match("(?i)^(true|false)$"):
            continue
        try:
            return Column(filled.cast(kind))
        except lib.ArrowInvalid:
            continue
    return column
