"""Rows so large or so small that their squares are no numbers: divided by a power of two, which loses nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mercer.errors import BadData
from mercer.limits import rows_at_a_time
from mercer.models.axes import OVERFLOW, Axes, LinearTask
from mercer.rounding import TINY
from mercer.solvers.certificate import Certificate
from mercer.sources.rows import RowSource, ScaledRows
from mercer.symmetric import Array

HUGE = float(np.finfo(float).max)


def in_units(task: LinearTask) -> LinearTask:
    """The same rows divided by a power of two near the largest of them; of columns to be standardized, by one each."""
    peaks = reach(task.rows)
    if not task.standardize:
        peaks = np.full_like(peaks, peaks.max(initial=0.0))
    heaviest = 1.0 if task.weights is None else float(np.sqrt(task.weights.max()))
    units = power_of_two(peaks, heaviest)
    return replace(task, rows=ScaledRows(task.rows, units), units=units)


def power_of_two(peaks: Array, factor: float = 1.0) -> Array:
    """Near peak·factor, and a number that can be divided by."""
    exponents = np.frexp(peaks)[1] + np.frexp(factor)[1]
    return np.where(peaks > 0, np.ldexp(1.0, np.clip(exponents, -1000, 1000)), 1.0)


def reach(rows: RowSource) -> Array:
    """How far any row is from the first, in every column; from zero, if rows are sparse, all the same, or too far."""
    peaks, tops, first = np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), None
    for block in rows.blocks(rows_at_a_time(rows.shape[1])):
        if sparse.issparse(block):
            tops = np.maximum(tops, np.asarray(abs(block).max(axis=0).todense()).ravel())
            continue
        first = np.asarray(block[0], dtype=np.float64) if first is None else first
        tops = np.maximum(tops, np.abs(block).max(axis=0))
        peaks = np.maximum(peaks, np.abs(np.subtract(block, first, dtype=np.float64)).max(axis=0))
    return peaks if peaks.any() and np.isfinite(peaks).all() else tops


def in_their_own(found: Axes, task: LinearTask) -> Axes:
    """What was found of divided rows, as a statement on the rows as they were given, but for `unit`."""
    if task.units is None:
        return found
    mean = found.mean * task.units
    if task.standardize and found.scale is not None:
        return replace(found, mean=mean, scale=found.scale * task.units)
    if not np.isfinite(np.sqrt(found.values) * task.units[0]).all():
        raise BadData(OVERFLOW)
    return replace(found, mean=mean, unit=float(task.units[0]))


def squared_units(values: Any, unit: float) -> Any:
    """values·unit², one after the other: the square of a unit need not be a number."""
    with np.errstate(over="ignore", under="ignore"):
        return values * unit * unit


def certificate_in(certificate: Certificate, unit: float) -> Certificate:
    """The same about unit²·λ; where that is no number, what still holds."""
    if unit == 1:
        return certificate

    def below(values: Any) -> Any:
        scaled = squared_units(values, unit)
        return np.where(np.abs(scaled) < TINY, np.minimum(scaled, 0.0), np.clip(scaled, -HUGE, HUGE))

    def above(values: Any) -> Any:
        scaled = squared_units(values, unit)
        return np.where((scaled < TINY) & (np.asarray(values) > 0), TINY, scaled)

    return replace(
        certificate,
        residuals=above(certificate.residuals),
        lower=below(certificate.lower),
        upper=above(certificate.upper),
        bound_beyond=float(above(certificate.bound_beyond)),
        rounding=float(above(certificate.rounding)),
        noise=above(certificate.noise),
    )


def about_range(values: Array, variances: Array) -> list[str]:
    """What to say if a variance is there, but no number."""
    lost = (values > 0) & ~((variances >= TINY) & (variances <= HUGE))
    if not lost.any():
        return []
    size = "large" if np.any(variances[lost] > 1) else "small"
    return [
        f"The squares of these rows are too {size} for a number of 64 bits, so {int(lost.sum())} of {len(values)} "
        "variances (explained_variance_, and what is made of it) are not right. singular_values_, "
        "explained_variance_ratio_, components and scores are. Give the rows in another unit for the rest."
    ]
