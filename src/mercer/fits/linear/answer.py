"""From eigenvectors to principal axes: signs and zeros by convention, scales, and what users are told."""

from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.certificates.residuals import Certificate, about_directions
from mercer.errors import listed
from mercer.fits.linear.task import Axes, LinearTask
from mercer.plans.plan import Plan
from mercer.solvers.base import signs_by
from mercer.sweeps.scatter import Scatter


def column_scales(task: LinearTask, scatter: Scatter) -> Array | None:
    """What columns are divided by, if that was asked for."""
    return deviations(scatter) if task.standardize else None


def deviations(scatter: Scatter) -> Array:
    """The standard deviations of the columns, and 1 for those that have none."""
    degrees = scatter.weight - 1 if scatter.weight > 1 else scatter.weight
    return np.where(scatter.constant, 1.0, np.sqrt(scatter.squares / degrees))


def as_axes(
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
        warnings=[*_about_columns(task, scatter), *about_directions(certificate, values)],
    )


def _about_columns(task: LinearTask, scatter: Scatter) -> list[str]:
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
