"""What columns tell, whatever is fitted to them: whose unit decides, which are constant."""

from typing import Any, NamedTuple

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.blocks import rows_at_a_time
from mercer_old.errors import joined
from mercer_old.sources.items import Rows
from mercer_old.sources.row_numbers import counting
from mercer_old.sweeps.lanes import origin_of
from mercer_old.sweeps.spread import Spread

_SOME_ROWS, _SOME_ENTRIES = 1000, 4_000_000  # of a sample that variances are taken of
FEW_ROWS = 20  # tell nothing about variances, nor about a scale
_FEW_COLUMNS, _FEW_OF = 3, 10  # columns at most, and one in so many at most: a few (one alone is always)
_NEARLY_ALL, _FAR_ABOVE = 0.95, 50.0  # share of the summed variance; times the mean variance of the other columns
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
    for left_out in [counters, []] if counters else [[]]:
        seen = variances.copy()
        seen[left_out] = 0.0
        total, varying, order = seen.sum(), int(np.sum(seen > 0)), np.argsort(-seen, kind="stable")
        for few in range(1, min(_FEW_COLUMNS, max(1, varying // _FEW_OF), varying - 1) + 1):
            top = seen[order[:few]].sum()
            if top >= _NEARLY_ALL * total and top / few >= _FAR_ABOVE * (total - top) / (varying - few):
                return _Dominating(order[:few], float(top / total), len(left_out))
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


def constant(rows: Rows) -> tuple[list[int], int]:
    """The columns that are the same in every row, as far as rows were looked at, and how many those are.

    One block rules out nearly all of them; more are read only while some are left.
    """
    start, left, values = 0, np.arange(rows.shape[1]), None
    for block in rows.blocks(rows_at_a_time(rows.shape[1])):
        values = dense(block[:1])[0] if values is None else values
        lowest, highest = dense(block.min(axis=0)).reshape(-1), dense(block.max(axis=0)).reshape(-1)
        left = left[(lowest[left] == values[left]) & (highest[left] == values[left])]
        start += block.shape[0]
        if not len(left) or start * rows.shape[1] > MOST:
            break
    return left.tolist(), start


def about_units(rows: Any, names: Any) -> list[str]:
    """Whether distances are those of one column, or of a few."""
    unit = about_unit(rows, names)
    one, few = "decides alone who is near. Unless its size is", "decide alone who is near. Unless their sizes are"
    what = few if unit.startswith("Columns ") else one
    return [f"{unit}, which {what} meant, try standardize=True."] if unit else []


def about_unit(rows: Any, names: Any) -> str:
    """Which column has nearly all of the variance."""
    found = dominating(rows)
    if found is None:
        return ""
    columns, share, counters = found
    named = [str(j) if names is None else repr(names[j]) for j in columns]
    which = f"Column {named[0]} has" if len(named) == 1 else f"Columns {joined(named)} have"
    d = rows.shape[1]
    of = f"the {d - counters} columns that do not count rows" if counters else f"all {d} columns"
    return f"{which} {share:.1%} of the summed variance of {of}"
