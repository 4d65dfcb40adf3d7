"""A common scale for columns of different units."""

from dataclasses import replace

import numpy as np

from mercer_old.arrays import Array, Held, here
from mercer_old.fits.linear.axes import about_constant
from mercer_old.fits.linear.summing import refuse_overflow
from mercer_old.fits.training import Training
from mercer_old.sources.held import HeldRows, ScaledRows, by_columns
from mercer_old.sources.items import Items
from mercer_old.sources.kinds import KINDS
from mercer_old.sweeps.lanes import sweep_scatter
from mercer_old.sweeps.spread import Spread


def standardized(training: Training, names: Array | None, threads: int) -> Training:
    """The rows with every column divided by its standard deviation, and what is to be said of columns without one.

    A row counts by its weight: s_j² = Σw(x_j − mean_j)²/(Σw − 1). Nothing is subtracted, so that sparse rows stay
    sparse. Dense rows are divided when they are read, after a plan was made.
    """
    _refuse_things(training.items)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = sweep_scatter(Spread, training.items.as_rows(), training.weights, threads, exact=True)
    refuse_overflow(spread)
    return divided(training, spread.deviations, tuple(about_constant(spread, names)))


def divided(training: Training, scale: Array, notes: tuple[str, ...] = ()) -> Training:
    """The rows with their columns divided by these numbers."""
    _refuse_things(training.items)
    given = None if training.given is None else in_units(training.given, scale)
    return replace(training, items=in_units(training.items, scale), given=given, scale=scale, notes=notes)


def in_units(items: Items, scale: Array | None) -> Items:
    """Rows as a model with this scale sees them: sparse ones at once, others when they are read."""
    if scale is None:
        return items
    rows, scale = items.as_rows(), here(scale)
    if rows.sparse and rows.held:
        return HeldRows(by_columns(np.divide, rows.load(), scale)).named_as(rows)
    return ScaledRows(rows, scale)


def in_units_of_input(rows: Held, scale: Array | None) -> Held:
    """The way back, of rows in memory, if there are any."""
    return rows if scale is None or rows is None else by_columns(np.multiply, rows, here(scale))


def _refuse_things(items: Items) -> None:
    """Texts, and whatever else is no row of numbers, have no columns either."""
    if items.kind in (*KINDS, "things"):
        why = "are brought to one scale by their kernel" if items.kind == "tables" else "have none"
        raise ValueError(f"standardize=True divides columns by their standard deviations, and {items.kind} {why}.")


def refuse_matrix(standardize: bool, matrix: str) -> None:
    """Items that are known by a matrix have no columns."""
    if standardize:
        raise ValueError(
            f"standardize=True divides columns by their standard deviations, and a precomputed {matrix} matrix has no "
            "columns: standardize the rows it is computed from."
        )
