"""A common scale for columns of different units."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mercer.models.axes import about_constant, deviations, refuse_overflow
from mercer.models.training import Training
from mercer.operators.scatter import Spread
from mercer.operators.sweeps import sweep
from mercer.sources.rows import ScaledRows, as_source, by_columns
from mercer.symmetric import Array


def standardized(training: Training, names: Any, threads: int) -> Training:
    """The rows with every column divided by its standard deviation, and what is to be said of columns without one.

    A row counts by its weight: s_j² = Σw(x_j − mean_j)²/(Σw − 1). Nothing is subtracted, so that sparse rows stay
    sparse. Dense rows are divided when they are read, after a plan was made.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        spread = sweep(Spread, as_source(training.rows), training.weights, threads, exact=True)
    refuse_overflow(spread)
    return divided(training, deviations(spread), tuple(about_constant(spread, names)))


def divided(training: Training, scale: Array, notes: tuple[str, ...] = ()) -> Training:
    """The rows with their columns divided by these numbers."""
    given = None if training.given is None else in_units(training.given, scale)
    return replace(training, rows=in_units(training.rows, scale), given=given, scale=scale, notes=notes)


def in_units(rows: Any, scale: Array | None) -> Any:
    """Rows as a model with this scale sees them: sparse ones at once, others when they are read."""
    if scale is None:
        return rows
    return by_columns(np.divide, rows, scale) if sparse.issparse(rows) else ScaledRows(as_source(rows), scale)


def in_units_of_input(rows: Any, scale: Array | None) -> Any:
    """The way back, of rows in memory, if there are any."""
    return rows if scale is None or rows is None else by_columns(np.multiply, rows, scale)


def refuse_matrix(standardize: bool, matrix: str) -> None:
    """Items that are known by a matrix have no columns."""
    if standardize:
        raise ValueError(
            f"standardize=True divides columns by their standard deviations, and a precomputed {matrix} matrix has no "
            "columns: standardize the rows it is computed from."
        )
