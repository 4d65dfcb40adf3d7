"""What columns tell, whatever is fitted to them: whose unit decides, which count rows, which are constant."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from mercer.arrays import Array
from mercer.blocks import rows_at_a_time
from mercer.sources.items import Rows
from mercer.sweeps.lanes import origin_of
from mercer.sweeps.spread import Spread

_SOME_ROWS, _SOME_ENTRIES = 1000, 4_000_000  # of a sample that variances are taken of
FEW_ROWS = 20  # tell nothing about variances, nor about a scale
_FEW_COLUMNS, _FEW_OF = 3, 10  # columns at most, and one in so many at most: a few (one alone is always)
_NEARLY_ALL, _FAR_ABOVE = 0.95, 50.0  # share of the summed variance; times the mean variance of the other columns
_INDEX = ("unnamed: 0", "index", "id", "row", "rownames", "row_id", "row_number")  # names of what is no feature
MOST = 100_000_000  # numbers that are looked at to see whether a column is constant
_VARIES = 1e-12  # times its mean: what deviates less is constant to rounding


class _Dominating(NamedTuple):
    columns: Array
    share: float  # of the summed variance
    counters: int  # columns that count rows, whose variance was left out


def dominating(rows: Any) -> _Dominating | None:
    """The column, or the few, with nearly all of the summed variance, and their share; None if there are none.

    Squared distances add up over columns, and on average a column adds twice its variance: those with nearly all of it
    decide alone who is near. Seen on a sample of the rows. A column that counts rows would hide the others, so it is
    left out at first.
    """
    if rows.shape[0] < FEW_ROWS:
        return None
    variances, counters = _sample_variances(rows), counting(rows[: rows_at_a_time(rows.shape[1])])
    if counters:
        others = variances.copy()
        others[counters] = 0.0
        if found := _dominating(others):
            return _Dominating(*found, len(counters))
    found = _dominating(variances)
    return found and _Dominating(*found, 0)


def _dominating(variances: Array) -> tuple[Array, float] | None:
    total, varying = variances.sum(), int(np.sum(variances > 0))
    order = np.argsort(-variances, kind="stable")
    for few in range(1, min(_FEW_COLUMNS, max(1, varying // _FEW_OF), varying - 1) + 1):
        top = variances[order[:few]].sum()
        if top >= _NEARLY_ALL * total and top / few >= _FAR_ABOVE * (total - top) / (varying - few):
            return order[:few], float(top / total)
    return None


def _sample_variances(rows: Any) -> Array:
    """Of every column, from rows all over; zero for those that are constant there."""
    n, d = rows.shape
    sample = rows[:: max(1, n // max(FEW_ROWS, min(_SOME_ROWS, _SOME_ENTRIES // d)))]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = Spread(origin_of(sample))
        spread.add(sample, exact=True)
        variances = spread.squares / spread.weight
        return np.where(variances > (_VARIES * spread.mean) ** 2, variances, 0.0)


# ---------------------------------------------------------------------- columns that are no features


def counting(rows: Array) -> list[int]:
    """The columns that are 7, 8, 9 … : whole numbers, each one more than the last."""
    if sparse.issparse(rows) or rows.shape[0] < FEW_ROWS:
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


def constant(rows: Rows) -> tuple[list[int], int]:
    """The columns that are the same in every row, as far as rows were looked at, and how many those are.

    One block rules out nearly all of them; more are read only while some are left.
    """
    start, left, values = 0, np.arange(rows.shape[1]), None
    for block in rows.blocks(rows_at_a_time(rows.shape[1])):
        values = block[0] if values is None else values
        left = left[(block[:, left] == values[left]).all(axis=0)]
        start += len(block)
        if not len(left) or start * rows.shape[1] > MOST:
            break
    return left.tolist(), start
