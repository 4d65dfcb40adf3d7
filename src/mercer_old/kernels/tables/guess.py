"""What the columns of a table are, by what they hold: a rule that can be read, and said in one line a column."""

from typing import Any

import numpy as np

from mercer_old.errors import BadData, counted, listed
from mercer_old.kernels.tables.base import Column
from mercer_old.kernels.tables.categories import Category
from mercer_old.kernels.tables.dates import Date
from mercer_old.kernels.tables.numbers import Numeric
from mercer_old.kernels.tables.ranks import Ordinal
from mercer_old.kernels.tables.things import Sets, Text
from mercer_old.kernels.texts import Spectrum
from mercer_old.sources.cells import Cells, Coded, kind_of, present
from mercer_old.sources.frames import Columns

__all__ = ["guess_columns"]

_FEW, _OFTEN = 12, 5  # different texts that are categories: so few, or such that come so often on average
_GRAM = 3  # letters by which other texts are compared
_ROWS = 10  # from which on a column can be said to number the rows


def guess_columns(X: Columns, label: str = "X") -> tuple[dict[Any, Column], list[str]]:
    """The columns that tell rows apart, each with its kind, and one sentence about those that are left out."""
    if len(X) == 1:
        raise BadData(
            f"{label} has one row alone, and columns are judged by what differs between rows: give at least two."
        )
    columns, left_out = dict[Any, Column](), dict[Any, str]()
    for name, cells in X.cells.items():
        if why := _useless(cells):
            left_out[name] = why
        else:
            columns[name] = _kind(cells, name, X)
    if not columns:
        reasons = listed(f"{name!r} {why}" for name, why in left_out.items())
        raise BadData(f"No column of {label} tells rows apart: {reasons}.")
    said = [f"Column {name!r} {why}; it is left out." for name, why in left_out.items()]
    return columns, said


def _useless(cells: Cells) -> str:
    """Why a column says nothing; nothing if it does."""
    if kind_of(cells) == "odd":
        return str(cells.why)
    there = cells[present(cells)]
    if not len(there):
        return "has no values"
    different, count = _different(there), len(there)
    if different == 1:
        return "is the same in all rows" if count == len(cells) else "has one value and gaps"
    if count < _ROWS or different < count:
        return ""
    if kind_of(cells) == "numbers" and np.all(there == np.round(there)) and there.max() - there.min() == count - 1:
        return "numbers the rows"
    if kind_of(cells) == "text" and _like_codes(there):
        return f"has a code of its own in each of {counted(count, 'row')}"
    return ""


def _different(cells: Cells) -> int:
    """How many different values there are among cells without gaps."""
    return len(np.unique(cells.codes if isinstance(cells, Coded) else cells))


def _like_codes(cells: Coded) -> bool:
    """Whether nearly all texts have a digit in them, and none has a space: order numbers, addresses, checksums."""
    texts = [value.decode("latin-1") if isinstance(value, bytes) else value for value in cells.values[cells.codes]]
    digits = sum(any(letter.isdigit() for letter in text) for text in texts)
    return digits > 0.9 * len(texts) and not any(" " in text.strip() for text in texts)


def _kind(cells: Cells, name: Any, X: Columns) -> Column:
    if name in X.orders:
        order = X.orders[name]
        return Category() if order is None else Ordinal(order)
    kind = kind_of(cells)
    if kind != "text":
        return {"numbers": Numeric, "dates": Date, "sets": Sets, "truth": Category}[kind]()
    there = cells[present(cells)]
    different = _different(there)
    few = different <= _FEW and 2 * different <= len(there)
    short = max(map(len, there.values[np.unique(there.codes)])) < _GRAM  # codes of states, say: no grams to compare
    return Category() if few or short or _OFTEN * different <= len(there) else Text(Spectrum(_GRAM))
