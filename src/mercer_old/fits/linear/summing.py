"""Rows summed up in one sweep, with words for those whose squares are no numbers."""

import numpy as np

from mercer_old.errors import BadData
from mercer_old.fits.linear.task import LinearTask
from mercer_old.progress import OnPass
from mercer_old.sweeps.lanes import Kind, Maker, sweep_scatter
from mercer_old.sweeps.scatter import Scatter
from mercer_old.threads import one_blas_thread

OVERFLOW = "The squares of the data are no numbers any more: the values are far too large. Scale them down first."


def find_scatter(task: LinearTask, kind: Maker[Kind], on_pass: OnPass, exact: bool = False) -> Kind:
    """How all rows scatter; with words for data that cannot be summed up."""
    with one_blas_thread():
        scatter = sweep_scatter(kind, task.rows, task.weights, task.limits.threads, on_pass, exact)
        if not scatter.finite and scatter.precision > np.finfo(float).eps:
            scatter = sweep_scatter(kind, task.rows, task.weights, task.limits.threads, on_pass, exact=True)
    if not scatter.finite:
        task.look()
    if task.units is None and task.dtype == np.float64 and not scatter.in_range(every=task.standardize):
        raise OutOfRange
    if not scatter.finite:
        raise BadData(OVERFLOW)
    return scatter


class OutOfRange(Exception):
    """The squares of these rows are no numbers, or so near to it that digits are lost: they need another unit."""


def refuse_overflow(scatter: Scatter) -> None:
    if not scatter.finite:
        raise BadData(OVERFLOW)


def refuse_far_apart(scatter: Scatter, unit: float, other: Scatter, its_unit: float) -> None:
    """Before anything changes in place: squares around the mean of both, of which one batch may be too far away."""
    with np.errstate(over="ignore", invalid="ignore"):
        gap = other.mean * its_unit - scatter.mean * unit
        gap = scatter.weight * (other.weight / (scatter.weight + other.weight)) * gap**2
        if not np.isfinite(scatter.squares * unit * unit + other.squares * its_unit * its_unit + gap).all():
            raise BadData(OVERFLOW)
