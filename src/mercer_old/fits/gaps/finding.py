"""From rows with gaps to factors along principal axes."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.fits.gaps.climbing import Climb, climb
from mercer_old.fits.gaps.columns import Centre, Given, centre_of, extent_of, given_rows
from mercer_old.fits.gaps.em import State, first_state
from mercer_old.fits.gaps.holding_out import try_some
from mercer_old.fits.gaps.task import Answer, GapsTask, HeldOut
from mercer_old.progress import working
from mercer_old.solvers.base import signs_by
from mercer_old.sources.items import Rows
from mercer_old.sources.portions import Portions
from mercer_old.sweeps.chunked_gaps import MOST_PATTERNS, as_gapped, gapped_in
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import Gapped, GappedRows
from mercer_old.threads import one_blas_thread

__all__ = ["find_factors"]

_AFTERWARDS = 5  # passes with all numbers, where those without some were stopped early
_FAR_APART = 30.0  # times: how different the deviations of columns may be before it is told


def find_factors(task: GapsTask) -> Answer:
    """Try with some numbers held out, then with all of them from there, and turn the result to principal axes.

    As many factors as columns say no more than one less of them: the smallest variance is the noise.
    """
    asked, most = task.asked, max(1, task.rows.width - 1)
    task = task if asked == "cv" else replace(task, asked=min(int(asked), most))
    with _as_on_workers(task.rows):
        given = given_rows(task.rows, task.weights)
        extent = extent_of(given, task.names)
        centre = centre_of(given, extent, task.standardize)
    with working(task.progress, 1, "passes over the rows", threads=task.limits.threads) as on_pass:
        rows = _around(centre, given)
        del given  # where chunks were kept for some passes, they are let go
        if rows.total_squares > 0:
            way, held_out = _climbed(task, rows)
        else:
            way, held_out = _nothing(rows, 1 if task.asked == "cv" else int(task.asked)), None
        factors = _principal(way.state.factors)
        if asked != "cv" and int(asked) > factors.k:
            factors = replace(factors, W=np.append(factors.W, np.zeros((rows.width, int(asked) - factors.k)), axis=1))
        likelihood = rows.swept(factors, task.limits.threads).likelihood if factors.noise > 0 else 0.0
        if on_pass:
            on_pass(1.0)
    return Answer(
        factors=factors,
        centre=centre.means,
        scale=centre.scale,
        passes=way.passes,
        gain=way.gain,
        converged=way.converged or way.stopped,
        stopped=way.stopped,
        held_out=held_out,
        likelihood=likelihood - float(rows.counts @ np.log(centre.scale)),
        extent=extent,
        patterns=rows.patterns,
        more_patterns=task.rows.chunks is not None and rows.patterns >= MOST_PATTERNS,
        warnings=tuple(_about_columns(task, centre.deviations, vary=rows.total_squares > 0)),
    )


def _as_on_workers(rows: Rows) -> AbstractContextManager[None]:
    """Products over chunks have the same bits here, on one thread of BLAS."""
    return nullcontext() if rows.chunks is None else one_blas_thread()


def _around(centre: Centre, given: Portions) -> Gapped:
    """The rows moved and divided, in the order of their patterns, kept where they are."""
    return gapped_in(given.remade(_gapped, as_gapped, None, centre.means, centre.scale))


def _gapped(given: Given, own: None, means: Array, scale: Array) -> tuple[Array, ...]:
    rows, weights = given
    return GappedRows.of((rows - means) / scale, weights).arrays


def _climbed(task: GapsTask, rows: Gapped) -> tuple[Climb, HeldOut | None]:
    """With some numbers held out, where that is asked for, and then with all of them."""
    tried = try_some(task, rows) if task.held_out or task.asked == "cv" else None
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


def _nothing(rows: Gapped, k: int) -> Climb:
    """Of rows that do not vary."""
    factors = Factors(np.zeros((rows.width, k)), 0.0, np.zeros(rows.width))
    return Climb(State(factors), 0, 0.0, True, False, np.nan, ())


def _principal(factors: Factors) -> Factors:
    """The same distribution with W = VD: V orthonormal, D diagonal and largest first, signs by convention."""
    V, D, _ = np.linalg.svd(factors.W, full_matrices=False)
    return Factors(V * signs_by(V) * D, factors.noise, factors.mean)


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
