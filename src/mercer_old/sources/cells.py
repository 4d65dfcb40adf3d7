"""The cells of one column of a table: numbers, moments, or things that are numbered, each with gaps among them."""

import datetime
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from numbers import Number
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.errors import in_short

__all__ = ["Cells", "Coded", "Odd", "as_cells", "kind_of", "present"]

_GAPS = ("NoneType", "NAType", "NaTType")  # types of which every value is a gap
_MOMENTS = (datetime.datetime, datetime.date, np.datetime64)
_SETS = (set, frozenset, list, tuple, np.ndarray)
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class Coded:
    """Things by their numbers: texts, truth values or sets; −1 is a gap."""

    codes: Array
    values: Array  # of objects, each of them once
    kind: str  # "text", "truth" or "sets"

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, some: Any) -> "Coded":
        return Coded(self.codes[some], self.values, self.kind)

    @property
    def nbytes(self) -> int:
        return int(self.codes.nbytes + sum(50 + len(value) for value in self.values if hasattr(value, "__len__")))

    def copy(self) -> "Coded":
        return Coded(self.codes.copy(), self.values, self.kind)

    def things(self) -> list[Any]:
        """One by one; a gap is None."""
        return [*np.append(self.values, [None])[self.codes]]


@dataclass(frozen=True, eq=False)
class Odd:
    """Cells that no kernel can compare; whoever asks for them is told why."""

    count: int
    why: str
    nbytes: int = 0

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, some: Any) -> "Odd":
        return Odd(len(np.empty(self.count, dtype=bool)[some]), self.why)

    def copy(self) -> "Odd":
        return self

    def things(self) -> list[Any]:
        return [None] * self.count


Cells = Any  # an array of numbers (NaN is a gap), of datetime64 (NaT is one), Coded or Odd


def as_cells(column: Any) -> Cells:
    """From a column of any kind of frame, an array or a list."""
    numbers = np.asarray(column) if hasattr(column, "__array__") else None
    if numbers is not None and numbers.dtype.kind in "iuf":
        return numbers
    if numbers is not None and numbers.dtype.kind == "M":
        return numbers.astype("datetime64[us]")
    if numbers is not None and numbers.dtype.kind == "m":
        return numbers / _DAY
    return _of_things(column.tolist() if hasattr(column, "tolist") else list(column))


def kind_of(cells: Cells) -> str:
    """ "numbers", "dates", "text", "truth", "sets" or "odd"."""
    if isinstance(cells, Odd):
        return "odd"
    return cells.kind if isinstance(cells, Coded) else "dates" if cells.dtype.kind == "M" else "numbers"


def present(cells: Cells) -> Array:
    """Which cells are no gaps."""
    if isinstance(cells, Odd):
        return np.zeros(len(cells), dtype=bool)
    if isinstance(cells, Coded):
        return np.asarray(cells.codes >= 0)
    return ~(np.isnat(cells) if cells.dtype.kind == "M" else np.isnan(cells))


def things_of(cells: Cells) -> list[Any]:
    """One by one, for comparisons; a gap is None."""
    if isinstance(cells, (Coded, Odd)):
        return cells.things()
    return [thing if there else None for thing, there in zip(cells.tolist(), present(cells), strict=True)]


def joined_cells(parts: list[Cells]) -> Cells:
    """One under the other: what they would be in one column."""
    kinds = {kind_of(cells) for cells in parts}
    if len(kinds) == 1 and isinstance(parts[0], Coded):
        return _joined_codes(parts)
    if kinds in ({"numbers"}, {"dates"}):
        return np.concatenate(parts)
    odd = next((cells for cells in parts if isinstance(cells, Odd)), None)
    if odd is not None:
        return Odd(sum(map(len, parts)), odd.why)
    return _of_things([thing for cells in parts for thing in things_of(cells)])


def _joined_codes(parts: list[Coded]) -> Coded:
    """Each thing once, in the order in which they come."""
    known = dict.fromkeys(value for part in parts for value in part.values)
    numbers = {value: number for number, value in enumerate(known)}
    codes = [np.array([*map(numbers.__getitem__, part.values), -1], dtype=np.int32)[part.codes] for part in parts]
    values = np.empty(len(known), dtype=object)
    values[:] = list(known)
    return Coded(np.concatenate(codes), values, parts[0].kind)


def gaps_of_kind(count: int, kind: str) -> Cells:
    """So many gaps, in a column that holds this kind of things elsewhere."""
    if kind in ("numbers", "dates"):
        return np.full(count, np.nan if kind == "numbers" else np.datetime64("NaT", "us"))
    return Coded(np.full(count, -1, dtype=np.int32), np.empty(0, dtype=object), kind)


def _of_things(things: list[Any]) -> Cells:
    """Python objects, which are of one kind, or odd."""
    words = {_word(kind) for kind in set(map(type, things))} - {"gap"}
    if "numbers" in words and len(words) > 1 and all(_is_gap(thing) for thing in things if isinstance(thing, float)):
        words = {_word(type(thing)) for thing in things if not _is_gap(thing)}  # NaN stands for any gap
    if len(words) > 1 or "odd" in words:
        return Odd(len(things), _why_odd(things))
    word = words.pop() if words else "numbers"
    if word == "numbers":
        return np.array([np.nan if _is_gap(thing) else _number(thing) for thing in things], dtype=np.float64)
    if word == "dates":
        moments = [np.datetime64("NaT") if _is_gap(thing) else _moment(thing) for thing in things]
        return np.array(moments, dtype="datetime64[us]")
    if word == "durations":
        return np.array([np.nan if _is_gap(thing) else np.timedelta64(thing) / _DAY for thing in things])
    if word == "sets":
        try:
            things = [None if _is_gap(thing) else _as_set(thing) for thing in things]
        except TypeError:
            return Odd(len(things), "holds lists of numbers, or of other lists, which are no sets")
    return _numbered(things, word)


def _is_gap(thing: Any) -> bool:
    return type(thing).__name__ in _GAPS or (isinstance(thing, float) and thing != thing)


def _number(thing: Any) -> float:
    try:
        return float(thing)
    except OverflowError:
        return np.inf  # refused by whoever asks for numbers


def _as_set(thing: Any) -> frozenset[Any]:
    """Of things that have names or numbers: a list of measurements is no set."""
    members = frozenset(thing)
    if any(isinstance(member, (float, np.floating)) for member in members):
        raise TypeError
    return members


def _numbered(things: list[Any], kind: str) -> Coded:
    """Each thing once, in the order in which they come."""
    known = [thing for thing in dict.fromkeys(things) if not _is_gap(thing)]
    numbers = {thing: number for number, thing in enumerate(known)}
    codes = np.fromiter(map(numbers.get, things, repeat(-1)), dtype=np.int32, count=len(things))
    values = np.empty(len(known), dtype=object)
    values[:] = known
    return Coded(codes, values, kind)


def _word(kind: type) -> str:
    """What things of a type are."""
    if kind.__name__ in _GAPS:
        return "gap"
    if issubclass(kind, (str, bytes)):
        return "text"
    if issubclass(kind, (bool, np.bool_)):
        return "truth"
    if issubclass(kind, _MOMENTS):
        return "dates"
    if issubclass(kind, (datetime.timedelta, np.timedelta64)):
        return "durations"
    if issubclass(kind, (Number, Decimal)) and not issubclass(kind, (complex, np.complexfloating)):
        return "numbers"
    return "sets" if issubclass(kind, _SETS) else "odd"


def _moment(thing: Any) -> Any:
    """In UTC, if it has a time zone."""
    if getattr(thing, "tzinfo", None) is not None:
        thing = thing.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(thing).astype("datetime64[us]")


def _why_odd(things: list[Any]) -> str:
    """The first things that do not go together, or that nobody can compare."""
    first = dict[str, int]()
    for i, thing in enumerate(things):
        if not _is_gap(thing):
            first.setdefault(_word(type(thing)), i)
    if "odd" in first:
        i = first["odd"]
        return f"holds entries of type {type(things[i]).__name__}, first at row index {i}"
    (one, i), (other, j) = list(first.items())[:2]
    names = {"text": "text", "truth": "truth values", "sets": "lists or sets"}
    return (
        f"mixes {names.get(one, one)} ({in_short(things[i], 30)} at row index {i}) and {names.get(other, other)} "
        f"({in_short(things[j], 30)} at row index {j})"
    )
