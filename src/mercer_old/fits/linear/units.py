"""Rows so large or so small that their squares are no numbers: divided by a power of two, which loses nothing."""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from mercer_old.arrays import Array, dense
from mercer_old.blocks import rows_at_a_time
from mercer_old.certificates.residuals import Certificate
from mercer_old.certificates.sketches import SketchCertificate
from mercer_old.errors import BadData
from mercer_old.fits.linear.summing import OVERFLOW, OutOfRange, find_scatter
from mercer_old.fits.linear.task import Axes, LinearTask
from mercer_old.progress import OnPass
from mercer_old.rounding import TINY
from mercer_old.sources.held import ScaledRows
from mercer_old.sources.items import Rows
from mercer_old.sweeps.lanes import Kind, Maker

_Numbers = TypeVar("_Numbers", Array, float)  # one, or many
_HUGE = float(np.finfo(float).max)


def with_units(task: LinearTask) -> LinearTask:
    """The same rows divided by a power of two near the largest of them; of columns to be standardized, by one each."""
    peaks = _reach(task.rows)
    peaks = peaks if task.standardize else np.full_like(peaks, peaks.max(initial=0.0))
    heaviest = 1.0 if task.weights is None else float(np.sqrt(task.weights.max()))
    units = _power_of_two(peaks, heaviest)
    return replace(task, rows=ScaledRows(task.rows, units), units=units)


def _power_of_two(peaks: Array, factor: float = 1.0) -> Array:
    """Near peak·factor, and a number that can be divided by."""
    exponents = np.frexp(peaks)[1] + np.frexp(factor)[1]
    return np.where(peaks > 0, np.ldexp(1.0, np.clip(exponents, -1000, 1000)), 1.0)


def _reach(rows: Rows) -> Array:
    """How large the numbers of every column are, from the first row or from zero; 0 if it is the same in all rows."""
    low, high, first = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf), None
    for block in rows.blocks(rows_at_a_time(rows.shape[1])):
        least, most = (dense(end).ravel() for end in (block.min(axis=0), block.max(axis=0)))
        if first is None and not rows.sparse:
            first = np.asarray(block[0], dtype=np.float64)
        low, high = np.minimum(low, least), np.maximum(high, most)
    tops, start = np.maximum(np.abs(low), np.abs(high)), 0.0 if first is None else first
    peaks = np.where(low < high, np.maximum(high - start, start - low) if first is not None else tops, 0.0)
    return peaks if peaks.any() and np.isfinite(peaks).all() else tops


def without_units(found: Axes, task: LinearTask) -> Axes:
    """What was found of divided rows, as a statement on the rows as they were given, but for `unit`."""
    if task.units is None:
        return found
    mean = found.mean * task.units
    if task.standardize and found.scale is not None:
        return replace(found, mean=mean, scale=found.scale * task.units)
    refuse_too_large(found.squares, float(task.units[0]))
    return replace(found, mean=mean, unit=float(task.units[0]))


def refuse_too_large(squares: Array, unit: float) -> None:
    """Variances that no number can hold; those that are too small are told, as they may well be called zero."""
    if not np.isfinite(squared_units(squares.sum(), unit)):
        raise BadData(OVERFLOW)


def squared_units(values: _Numbers, unit: float) -> _Numbers:
    """values·unit², one after the other: the square of a unit need not be a number."""
    with np.errstate(over="ignore", under="ignore"):
        return values * unit * unit


def certificate_in(certificate: Certificate | SketchCertificate, unit: float) -> Certificate | SketchCertificate:
    """The same about unit²·λ; where that is no number, what still holds."""
    if unit == 1:
        return certificate

    def below(values: Array | float) -> Array:
        scaled = squared_units(np.asarray(values), unit)
        return np.where(np.abs(scaled) < TINY, np.minimum(scaled, 0.0), np.clip(scaled, -_HUGE, _HUGE))

    def above(values: Array | float) -> Array:
        scaled = squared_units(np.asarray(values), unit)
        return np.where((scaled < TINY) & (np.asarray(values) > 0), TINY, scaled)

    if isinstance(certificate, SketchCertificate):
        return replace(
            certificate,
            lower=below(certificate.lower),
            upper=above(certificate.upper),
            total=(float(below(certificate.total[0])), float(above(certificate.total[1]))),
            shrinkage=float(above(certificate.shrinkage)),
            bound_beyond=float(above(certificate.bound_beyond)),
            rounding=float(above(certificate.rounding)),
        )
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
    lost = (values > 0) & (variances < TINY)
    if not lost.any():
        return []
    return [
        f"The squares of these rows are too small for a number of 64 bits, so {int(lost.sum())} of {len(values)} "
        "variances (explained_variance_, and what is made of it) are not right. singular_values_, "
        "explained_variance_ratio_, components and scores are. Give the rows in another unit for the rest."
    ]


def find_scatter_in_range(
    task: LinearTask, kind: Maker[Kind], on_pass: OnPass = None, exact: bool = False
) -> tuple[LinearTask, Kind]:
    """How the rows scatter; in another unit if their squares are no numbers."""
    try:
        return task, find_scatter(task, kind, on_pass, exact)
    except OutOfRange:
        task = with_units(task)
        return task, find_scatter(task, kind, on_pass, exact)
