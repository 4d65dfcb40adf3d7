"""What a linear fit is asked for, what it finds, and what all ways to principal axes share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.certificates.residuals import Certificate
from mercer.errors import BadData, NoRoom, listed
from mercer.fits.spectrum import about_directions
from mercer.limits import Limits
from mercer.plans.linear import LinearProblem
from mercer.plans.plan import Plan
from mercer.readings.components import bic, components_for_share, minka_evidence
from mercer.rounding import UNIT
from mercer.solvers.base import signs_by
from mercer.sources.rows import RowSource
from mercer.sweeps.lanes import sweep
from mercer.sweeps.scatter import Scatter
from mercer.threads import one_blas_thread

RANGE = 1e-150, 1e150  # of sums of squares that nothing was lost of, and whose squares are numbers
DIGITS, SINGLE_DIGITS = 1e-6, 1e-2  # error of a variance, relative to itself, from which another way is taken
OVERFLOW = "The squares of the data are no numbers any more: the values are far too large. Scale them down first."


@dataclass(frozen=True)
class LinearTask:
    """Rows and sizes of one fit, with those parameters of the model that steer it."""

    rows: RowSource
    weights: Array | None
    problem: LinearProblem
    limits: Limits
    rng: Callable[[], np.random.Generator]
    asked: Any  # components: a number, a share of the variance, "mle", "bic", or None for all
    standardize: bool = False
    names: Any = None  # of the columns
    progress: Any = False
    look: Callable[[], Any] = lambda: None  # for numbers that are not finite, with words for them
    units: Array | None = None  # powers of two that the columns were divided by, as their squares were no numbers

    @property
    def dtype(self) -> Any:
        """Of what the model keeps."""
        return np.float32 if self.rows.dtype == np.float32 else np.float64


@dataclass(frozen=True)
class Axes:
    """All that a model keeps."""

    plan: Plan
    certificate: Certificate
    count: int  # rows
    weight: float
    mean: Array
    squares: Array  # sums of squares of the columns around it
    scale: Array | None  # that columns were divided by
    values: Array  # eigenvalues of the scatter matrix
    axes: Array  # k×d, orthonormal rows
    total: float  # of all eigenvalues
    rest: float  # of those that were not kept
    all: int  # how many there can be
    unit: float = 1.0  # that rows were divided by: eigenvalues are to be multiplied by its square
    warnings: list[str] = field(default_factory=list)


# ---------------------------------------------------------------------- from rows


def summed(task: LinearTask, kind: type[Scatter], on_pass: Any, exact: bool = False) -> Any:
    """How all rows scatter; with words for data that cannot be summed up."""
    with one_blas_thread():
        scatter = sweep(kind, task.rows, task.weights, task.limits.threads, on_pass, exact)
        if not finite(scatter) and scatter.rounding > np.finfo(float).eps:
            scatter = sweep(kind, task.rows, task.weights, task.limits.threads, on_pass, exact=True)
    if not finite(scatter):
        task.look()
    if task.units is None and task.dtype == np.float64 and out_of_range(scatter, task.standardize):
        raise OutOfRange
    refuse_overflow(scatter)
    return scatter


class OutOfRange(Exception):
    """The squares of these rows are no numbers, or so near to it that digits are lost: they need another unit."""


def out_of_range(scatter: Scatter, every: bool = False) -> bool:
    """Whether squares may have been lost: of the sum of all, or of every column."""
    squares = scatter.squares if every else np.sum(scatter.squares)
    return not finite(scatter) or bool(np.any((squares < RANGE[0]) | (squares > RANGE[1])))


def refuse_overflow(scatter: Scatter) -> None:
    if not finite(scatter):
        raise BadData(OVERFLOW)


def refuse_far_apart(scatter: Scatter, unit: float, other: Scatter, its_unit: float) -> None:
    """Before anything changes in place: squares around the mean of both, of which one batch may be too far away."""
    with np.errstate(over="ignore", invalid="ignore"):
        gap = other.mean * its_unit - scatter.mean * unit
        gap = scatter.weight * (other.weight / (scatter.weight + other.weight)) * gap**2
        if not np.isfinite(scatter.squares * unit * unit + other.squares * its_unit * its_unit + gap).all():
            raise BadData(OVERFLOW)


def finite(scatter: Scatter) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(scatter.offset).all() and np.isfinite(scatter.squares).all())


def column_scales(task: LinearTask, scatter: Scatter) -> Array | None:
    """What columns are divided by, if that was asked for."""
    return deviations(scatter) if task.standardize else None


def deviations(scatter: Scatter) -> Array:
    """The standard deviations of the columns, and 1 for those that have none."""
    degrees = scatter.weight - 1 if scatter.weight > 1 else scatter.weight
    return np.where(scatter.constant, 1.0, np.sqrt(scatter.squares / degrees))


def number_of_axes(task: LinearTask, spectrum: Array | None = None, total: float = 0.0, n: float = 0.0) -> int:
    """How many to find: as said, or by a rule on the whole spectrum."""
    asked, most = task.asked, task.problem.all
    if asked is None:
        return most if task.problem.k is None else task.problem.k
    if not isinstance(asked, (str, float)):
        return int(asked)
    if spectrum is None:
        raise NoRoom(f"n_components={asked!r} needs all {most:,} variances, and that does not fit.")
    values = np.maximum(spectrum[:most], 0.0)
    if isinstance(asked, float):
        return components_for_share(values, total, asked, dtype=task.dtype) or most
    if values[0] <= 0:
        return 1
    return int(np.argmax(minka_evidence(values, n)) if asked == "mle" else np.argmin(bic(values, n, task.problem.d)))


# ---------------------------------------------------------------------- digits


def rounding_in(scatter: Scatter, scale: Array | None, total: float) -> float:
    """How far rounding can move the eigenvalues of a scatter matrix: as its sums say, and what is done with them."""
    noise = scatter.noise if scale is None else scatter.noise / scale**2
    return float(noise.sum()) + scatter.noise_of_scaling(scale) + 4 * UNIT * total


def lost(found: Axes, digits: float) -> bool:
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


# ---------------------------------------------------------------------- to what is kept


def kept(
    task: LinearTask,
    plan: Plan,
    scatter: Scatter,
    scale: Array | None,
    values: Array,
    vectors: Array,
    total: float,
    certificate: Certificate,
    rest: float | None = None,
) -> Axes:
    """Signs and zeros by convention, and what a user should be told; the rest is what is left if nobody knows it."""
    values = np.where(certificate.lower <= 0, 0.0, values)
    every = min(scatter.copies, scatter.width)
    rest = max(total - float(values.sum()), 0.0) if rest is None else rest
    return Axes(
        plan=plan,
        certificate=certificate,
        count=scatter.count,
        weight=scatter.weight,
        mean=scatter.mean,
        squares=scatter.squares,
        scale=scale,
        values=values,
        axes=np.ascontiguousarray((vectors * signs_by(vectors)).T),
        total=total,
        rest=rest if len(values) < every else 0.0,
        all=every,
        warnings=[*about_columns(task, scatter), *about_directions(certificate, values)],
    )


def about_columns(task: LinearTask, scatter: Scatter) -> list[str]:
    """What is there to be said about columns that do not vary."""
    if scatter.constant.all():
        return [
            "All rows are the same, so there is no direction in which they vary: all variances and scores are zero. "
            "(Or they differ by so little that its square is not a number any more: scale them up.)"
        ]
    return about_constant(scatter, task.names) if task.standardize else []


def about_constant(scatter: Scatter, column_names: Any) -> list[str]:
    """Which columns could not be standardized."""
    constant = np.flatnonzero(scatter.constant)
    if not len(constant):
        return []
    some = listed(str(j) if column_names is None else repr(column_names[j]) for j in constant)
    return [
        f"{len(constant)} of {scatter.width} columns are constant ({some}) and cannot be scaled to variance one: "
        "they are left as they are and say nothing. Leave them out."
    ]
