"""From rows with gaps to factors along principal axes."""

from dataclasses import replace

import numpy as np

from mercer.arrays import Array
from mercer.errors import BadData, are, counted, listed
from mercer.fits.gaps.climbing import Climb, climb
from mercer.fits.gaps.em import State, first_state
from mercer.fits.gaps.holding_out import try_some
from mercer.fits.gaps.task import Answer, GapsTask, HeldOut
from mercer.progress import working
from mercer.solvers.base import signs_by
from mercer.sweeps.factors import Factors
from mercer.sweeps.gaps import GappedRows, sweep_factors

__all__ = ["find_factors", "refuse_empty_columns"]

_AFTERWARDS = 5  # passes with all numbers, where those without some were stopped early
_FAR_APART = 30.0  # times: how different the deviations of columns may be before it is told


def find_factors(task: GapsTask) -> Answer:
    """Try with some numbers held out, then with all of them from there, and turn the result to principal axes.

    As many factors as columns say no more than one less of them: the smallest variance is the noise.
    """
    asked, most = task.asked, max(1, task.rows.shape[1] - 1)
    task = task if asked == "cv" else replace(task, asked=min(int(asked), most))
    centre, scale, deviations = _centre_and_scale(task)
    with working(task.progress, 1, "passes over the rows", threads=task.limits.threads) as on_pass:
        moved = (task.rows - centre) / scale
        rows = GappedRows.of(moved, task.weights)
        if rows.total_squares > 0:
            way, held_out = _climbed(task, moved, rows)
        else:
            way, held_out = _nothing(rows, 1 if task.asked == "cv" else int(task.asked)), None
        factors = _principal(way.state.factors)
        if asked != "cv" and int(asked) > factors.k:
            factors = replace(factors, W=np.append(factors.W, np.zeros((rows.width, int(asked) - factors.k)), axis=1))
        likelihood = sweep_factors(rows, factors, task.limits.threads).likelihood if factors.noise > 0 else 0.0
        if on_pass:
            on_pass(1.0)
    return Answer(
        factors=factors,
        centre=centre,
        scale=scale,
        passes=way.passes,
        gain=way.gain,
        converged=way.converged or way.stopped,
        stopped=way.stopped,
        held_out=held_out,
        likelihood=likelihood - float(rows.counts @ np.log(scale)),
        patterns=len(np.unique(rows.masks, axis=0)),
        warnings=tuple(_about_columns(task, deviations, vary=rows.total_squares > 0)),
    )


def _climbed(task: GapsTask, moved: Array, rows: GappedRows) -> tuple[Climb, HeldOut | None]:
    """With some numbers held out, where that is asked for, and then with all of them."""
    tried = try_some(task, moved) if task.held_out or task.asked == "cv" else None
    if tried is None:
        start = first_state(rows, 1 if task.asked == "cv" else int(task.asked), task.prior)
        return climb(rows, start, tol=task.tol, most=task.most_passes, threads=task.limits.threads), None
    held_out, before, centre = tried
    most = _AFTERWARDS if before.stopped else task.most_passes
    way = climb(rows, _moved_back(before.state, centre), tol=task.tol, most=most, threads=task.limits.threads)
    return replace(way, stopped=before.stopped, passes=before.passes + way.passes), held_out


def _moved_back(state: State, centre: Array) -> State:
    """The mean of rows that were moved to another centre."""
    return replace(state, factors=replace(state.factors, mean=state.factors.mean + centre))


def _nothing(rows: GappedRows, k: int) -> Climb:
    """Of rows that do not vary."""
    factors = Factors(np.zeros((rows.width, k)), 0.0, np.zeros(rows.width))
    return Climb(State(factors), 0, 0.0, True, False, np.nan, ())


def _principal(factors: Factors) -> Factors:
    """The same distribution with W = VD: V orthonormal, D diagonal and largest first, signs by convention."""
    V, D, _ = np.linalg.svd(factors.W, full_matrices=False)
    return Factors(V * signs_by(V) * D, factors.noise, factors.mean)


def _centre_and_scale(task: GapsTask) -> tuple[Array, Array, Array]:
    """Means of the numbers that are there, what to divide by (one number, unless `standardize`), and deviations."""
    there = ~np.isnan(task.rows)
    weights = np.ones(len(task.rows)) if task.weights is None else task.weights
    counts = weights @ there
    refuse_empty_columns(there.sum(axis=0), task.names)
    first = np.array([task.rows[np.argmax(there[:, j]), j] for j in range(there.shape[1])])
    peaks = np.maximum(np.abs(np.where(there, task.rows - first, 0.0)).max(axis=0), 0.0)
    unit = np.where(peaks > 0, np.ldexp(1.0, np.clip(np.frexp(peaks)[1], -1000, 1000)), 1.0)
    moved = np.where(there, (task.rows - first) / unit, 0.0)
    mean = weights @ moved / counts
    moved = np.where(there, moved - mean, 0.0)
    freedom = np.where(counts > 1, counts - 1, counts)
    deviations = np.sqrt(weights @ moved**2 / freedom)
    scale = np.where(deviations > 0, deviations, 1.0) * np.where(peaks > 0, unit, 1.0)
    spreads = np.where(peaks > 0, deviations * unit, 0.0)
    if not task.standardize:
        largest = float(spreads.max(initial=0.0)) or 1.0
        scale = np.full(len(scale), largest * (np.sqrt(np.mean((spreads / largest) ** 2)) or 1.0))
    return first + mean * unit, scale, spreads


def refuse_empty_columns(counts: Array, names: Array | None) -> None:
    """A column without a single number has no mean that it could be filled with."""
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        some = listed(str(j) if names is None else repr(names[j]) for j in empty)
        raise BadData(
            f"{counted(len(empty), 'column')} of {len(counts):,} {are(len(empty))} missing in every row ({some}): "
            f"leave {'it' if len(empty) == 1 else 'them'} out."
        )


def _about_columns(task: GapsTask, deviations: Array, vary: bool) -> list[str]:
    """Rows that are all the same; and one noise for columns of very different size says little about the small ones."""
    if not vary:
        return ["All rows are the same, as far as there are numbers: gaps are filled with these, and nothing varies."]
    varying = deviations[deviations > 0]
    if task.standardize or len(varying) < 2 or varying.max() < _FAR_APART * varying.min():
        return []
    return [
        f"The largest standard deviation of a column is {varying.max() / varying.min():.3g} times the smallest, and "
        "the noise is the same for all: small columns are filled with little more than their means. "
        "standardize=True gives all columns the same say."
    ]
