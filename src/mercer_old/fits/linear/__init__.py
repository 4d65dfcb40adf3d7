"""Fits of rows of numbers: principal axes.

`task` says what is asked for and what is found, `ways` are the ways to the axes, one for each form in which the rows
are summed up, which `summing` does. `axes` solves for them, with the conventions and the words that go with them.
`digits` looks after what rounding left, and `units` after rows whose squares are no numbers. `batches` is what
rows that come bit by bit are added to, and `sketching` finds the axes of a few rows that stand for all.
"""

from mercer_old.fits.linear.axes import about_constant, from_square
from mercer_old.fits.linear.batches import from_sums, number_by_batch, refuse_to_go_on, share_unit
from mercer_old.fits.linear.digits import about_digits
from mercer_old.fits.linear.summing import OVERFLOW, refuse_far_apart, refuse_overflow
from mercer_old.fits.linear.task import Axes, LinearTask, linear_problem
from mercer_old.fits.linear.units import (
    about_range,
    certificate_in,
    find_scatter_in_range,
    refuse_too_large,
    squared_units,
    without_units,
)
from mercer_old.fits.linear.ways import find_axes, with_enough_digits

__all__ = [
    "OVERFLOW",
    "Axes",
    "LinearTask",
    "about_constant",
    "about_digits",
    "about_range",
    "certificate_in",
    "find_axes",
    "find_scatter_in_range",
    "from_square",
    "from_sums",
    "linear_problem",
    "number_by_batch",
    "refuse_far_apart",
    "refuse_overflow",
    "refuse_to_go_on",
    "refuse_too_large",
    "share_unit",
    "squared_units",
    "with_enough_digits",
    "without_units",
]
