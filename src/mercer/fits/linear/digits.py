"""Digits: sums of squares that are numbers, what rounding did to them, and whether another way is needed."""

import numpy as np

from mercer.arrays import Array
from mercer.errors import BadData
from mercer.fits.linear.task import Axes, LinearTask
from mercer.progress import OnPass
from mercer.rounding import UNIT
from mercer.sweeps.lanes import Kind, sweep_scatter
from mercer.sweeps.scatter import Scatter
from mercer.threads import one_blas_thread

_RANGE = 1e-150, 1e150  # of sums of squares that nothing was lost of, and whose squares are numbers
DIGITS, SINGLE_DIGITS = 1e-6, 1e-2  # error of a variance, relative to itself, from which another way is taken
OVERFLOW = "The squares of the data are no numbers any more: the values are far too large. Scale them down first."


def find_scatter(task: LinearTask, kind: type[Kind], on_pass: OnPass, exact: bool = False) -> Kind:
    """How all rows scatter; with words for data that cannot be summed up."""
    with one_blas_thread():
        scatter = sweep_scatter(kind, task.rows, task.weights, task.limits.threads, on_pass, exact)
        if not _finite(scatter) and scatter.precision > np.finfo(float).eps:
            scatter = sweep_scatter(kind, task.rows, task.weights, task.limits.threads, on_pass, exact=True)
    if not _finite(scatter):
        task.look()
    if task.units is None and task.dtype == np.float64 and _out_of_range(scatter, task.standardize):
        raise OutOfRange
    refuse_overflow(scatter)
    return scatter


class OutOfRange(Exception):
    """The squares of these rows are no numbers, or so near to it that digits are lost: they need another unit."""


def _out_of_range(scatter: Scatter, every: bool = False) -> bool:
    """Whether squares may have been lost: of the sum of all, or of every column."""
    squares = scatter.squares if every else np.sum(scatter.squares)
    return not _finite(scatter) or bool(np.any((squares < _RANGE[0]) | (squares > _RANGE[1])))


def refuse_overflow(scatter: Scatter) -> None:
    if not _finite(scatter):
        raise BadData(OVERFLOW)


def refuse_far_apart(scatter: Scatter, unit: float, other: Scatter, its_unit: float) -> None:
    """Before anything changes in place: squares around the mean of both, of which one batch may be too far away."""
    with np.errstate(over="ignore", invalid="ignore"):
        gap = other.mean * its_unit - scatter.mean * unit
        gap = scatter.weight * (other.weight / (scatter.weight + other.weight)) * gap**2
        if not np.isfinite(scatter.squares * unit * unit + other.squares * its_unit * its_unit + gap).all():
            raise BadData(OVERFLOW)


def _finite(scatter: Scatter) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(scatter.offset).all() and np.isfinite(scatter.squares).all())


def eigenvalue_rounding(scatter: Scatter, scale: Array | None, total: float) -> float:
    """How far rounding can move the eigenvalues of a scatter matrix: as its sums say, and what is done with them."""
    noise = scatter.noise if scale is None else scatter.noise / scale**2
    return float(noise.sum()) + scatter.noise_of_scaling(scale) + 4 * UNIT * total


def lost_digits(found: Axes, digits: float) -> bool:
    """Whether a kept variance, or the sum of the others, is known to fewer digits than it should be."""
    values = found.values if len(found.values) == found.all else np.append(found.values, found.rest)
    return bool(np.any(values * digits < found.certificate.rounding))


def about_digits(found: Axes) -> list[str]:
    """What is left where squares have to do: of sparse rows, of batches, and where there is no memory for better.

    Of what cannot be told from zero the certificate speaks, unless that is nearly all there is.
    """
    noise, values = found.certificate.rounding, np.append(found.values, found.rest)
    there = values[values > noise]
    if DIGITS * found.total > noise and not np.any(DIGITS * there < noise):
        return []
    digits = max(0, int(-np.log10(noise / there.min()))) if len(there) else 0
    return [
        f"Squares of the data leave the smallest variance only {digits} digits; PCA of dense rows, in memory or from a "
        'file, with svd_solver="qr" has them all.'
    ]
