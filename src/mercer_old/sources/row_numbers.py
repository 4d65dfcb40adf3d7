"""Columns that count rows: an index that became a feature silently, if nobody says so."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.blocks import rows_at_a_time
from mercer_old.sources.items import Rows

_INDEX = ("unnamed: 0", "index", "id", "row", "rownames", "row_id", "row_number")  # names of what is no feature
_FEWEST_STEPS = 20  # rows that go up by one and are no accident


def counting(rows: Array) -> list[int]:
    """The columns that are 7, 8, 9 … : whole numbers, each one more than the last."""
    if sparse.issparse(rows) or rows.shape[0] < _FEWEST_STEPS:
        return []
    first, second = rows[:2].astype(np.float64)
    likely = np.flatnonzero((second - first == 1) & (first == np.floor(first)))
    return [int(j) for j in likely if (np.diff(rows[:, j].astype(np.float64)) == 1).all()]


def about_row_numbers(rows: Rows, names: Any) -> list[str]:
    """Whether a column that has the name of an index is one."""
    named = [] if names is None else [j for j, name in enumerate(names) if str(name).strip().lower() in _INDEX]
    if not named:
        return []
    return [about_index(names[named[j]]) for j in counting(first_rows(rows)[:, named])]


def is_index(first: float, name: Any) -> bool:
    """Whether a column that goes up by one counts rows, and not, say, years."""
    return first in (0, 1) or str(name).strip().lower() in _INDEX


def about_steps_of_one(name: Any) -> str:
    return f"Column {name!r} goes up by one from row to row. If it does nothing but count them, leave it out."


def about_index(name: Any) -> str:
    return f"Column {name!r} counts rows: as a feature it says nothing but their order. Leave it out."


def first_rows(rows: Rows) -> Any:
    """A block of them."""
    return next(iter(rows.blocks(rows_at_a_time(rows.width))))
