"""What columns tell by themselves, whatever is fitted to them: whose unit decides about distances."""

from typing import Any

import numpy as np

from mercer.operators.scatter import Spread
from mercer.operators.sweeps import origin_of
from mercer.symmetric import Array

SOME_ROWS, SOME_ENTRIES = 1000, 4_000_000  # of a sample that variances are taken of
FEW_ROWS = 20  # tell nothing about variances
FEW, FEW_OF = 3, 10  # columns at most, and one in so many at most: a few (one alone is always)
NEARLY_ALL, FAR_ABOVE = 0.95, 50.0  # share of the summed variance; times the mean variance of the other columns
VARIES = 1e-12  # times its mean: what deviates less is constant to rounding


def dominating(rows: Any) -> tuple[Array, float] | None:
    """The column, or the few, with nearly all of the summed variance, and their share; None if there are none.

    Squared distances add up over columns, and on average a column adds twice its variance: those with nearly all of it
    decide alone who is near. Seen on a sample of the rows.
    """
    if rows.shape[0] < FEW_ROWS:
        return None
    variances = sample_variances(rows)
    total, varying = variances.sum(), int(np.sum(variances > 0))
    order = np.argsort(-variances, kind="stable")
    for few in range(1, min(FEW, max(1, varying // FEW_OF), varying - 1) + 1):
        top = variances[order[:few]].sum()
        if top >= NEARLY_ALL * total and top / few >= FAR_ABOVE * (total - top) / (varying - few):
            return order[:few], float(top / total)
    return None


def sample_variances(rows: Any) -> Array:
    """Of every column, from rows all over; zero for those that are constant there."""
    n, d = rows.shape
    sample = rows[:: max(1, n // max(FEW_ROWS, min(SOME_ROWS, SOME_ENTRIES // d)))]
    with np.errstate(over="ignore", invalid="ignore"):
        spread = Spread(origin_of(sample))
        spread.add(sample, exact=True)
        variances = spread.squares / spread.weight
        return np.where(variances > (VARIES * spread.mean) ** 2, variances, 0.0)
