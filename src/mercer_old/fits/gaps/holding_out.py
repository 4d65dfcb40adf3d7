"""Numbers that are there are held out, to see how well they are told: the error that gaps are filled with.

So the number of components is found as well: more and more of them, until numbers held out are told no better.
"""

from collections.abc import Callable
from functools import partial
from operator import add
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.fits.gaps.climbing import Climb, climb
from mercer_old.fits.gaps.drawing import Known, both_added, hold_out, rows_of_known
from mercer_old.fits.gaps.em import State, first_state
from mercer_old.fits.gaps.task import GapsTask, HeldOut
from mercer_old.plans.gaps import MOST_TRIED
from mercer_old.sources.chunked import Chunks
from mercer_old.sources.portions import Portions
from mercer_old.sweeps.chunked_gaps import ChunkedGaps, added, gapped_in, regular, swept_or_none
from mercer_old.sweeps.factors import Factors
from mercer_old.sweeps.gaps import FactorSums, Gapped, Look

__all__ = ["Trial", "try_some"]

_LOOSE = 10.0  # times the tolerance, where numbers of components are compared
_TRIES = 3  # numbers of components in a row that are no better, before it is believed that more of them are not


class Trial:
    """Rows of which some numbers are held out."""

    def __init__(self, task: GapsTask, known: Portions, centre: Array) -> None:
        self.task, self.centre = task, centre
        self.rows, self.off = _watched(known)
        self.count, self.squares = known.summed(_truth, both_added)

    def error(self, state: State) -> float:
        """Of a guess, for what was held out, in units of what the means of columns leave."""
        return float(np.sqrt((self.off(state.factors) / self.count) / (self.squares / self.count)))

    def climb(self, k: int, tol: float) -> Climb:
        """As far as `tol`, or as far as numbers held out are told better."""
        start, threads = first_state(self.rows, k, self.task.prior), self.task.limits.threads
        return climb(self.rows, start, tol=tol, most=self.task.most_passes, threads=threads, watch=self.error)


def _watched(known: Portions) -> tuple[Gapped, Callable[[Factors], float]]:
    """Rows without what was held out, and the sum of the squares by which factors miss that."""
    if isinstance(known, Chunks):
        rows = _WatchedChunks(known)
        return rows, rows.off
    return gapped_in(known.seen_as(rows_of_known)), partial(_all_off, known)


class _WatchedChunks(ChunkedGaps):
    """How far factors are off is summed up in the same round as all else of a pass: a round has a price of its own."""

    def __init__(self, known: Chunks) -> None:
        super().__init__(known.seen_as(rows_of_known))
        self.known = known
        self.last: tuple[Factors | None, float] = None, np.nan  # factors of the last pass, and how far they were off

    def swept(self, factors: Factors, threads: int) -> FactorSums:
        work = partial(_swept_and_off, self.known.engine.threads(threads))
        sums, off = self.known.summed(work, _both, None, factors)
        found = regular(sums)
        self.last = factors, off
        return found

    def off(self, factors: Factors) -> float:
        return self.last[1] if self.last[0] is factors else _all_off(self.known, factors)


def _swept_and_off(threads: int, known: Known, own: None, factors: Factors) -> tuple[FactorSums | None, float]:
    sums = swept_or_none(known.rows, factors, threads)
    return sums, np.nan if sums is None else _off(known, None, _plain(factors))


def _both(one: tuple[FactorSums | None, float], other: tuple[FactorSums | None, float]) -> Any:
    return added(one[0], other[0]), one[1] + other[1]


def _all_off(known: Portions, factors: Factors) -> float:
    return float(known.summed(_off, add, None, _plain(factors)))


def _truth(known: Known, own: None) -> tuple[int, float]:
    """How many numbers were held out, and the sum of their squares."""
    return len(known.truth), float(np.sum(known.truth**2))


def _off(known: Known, own: None, factors: Factors) -> float:
    """The sum of the squares by which factors miss them."""
    scores = np.concatenate([Look(known.rows, factors, some).means for some in known.rows.pieces(factors.k)])
    told = np.einsum("ik,ik->i", scores[known.places], factors.W[known.columns])
    return float(np.sum((told + factors.mean[known.columns] - known.truth) ** 2))


def try_some(task: GapsTask, rows: Gapped) -> tuple[HeldOut, Climb, Array] | None:
    """How well numbers are told, by as many components as were asked for or tell them best.

    Also where they led, and the centre of the rows there; None if there is nothing to hold out.
    """
    drawn = hold_out(rows, task.held_out, task.rng())
    trials = [trial for trial in (Trial(task, *held) for held in drawn) if trial.squares > 0]
    if not trials:
        return None
    if task.asked != "cv":
        way = trials[0].climb(int(task.asked), task.tol)
        return HeldOut(trials[0].count, (int(task.asked),), (way.error,)), way, trials[0].centre
    found, best, worse = dict[int, float](), None, 0
    for k in _ladder(max(1, min(len(rows), rows.width, MOST_TRIED + 1) - 1)):
        ways = [trial.climb(k, _LOOSE * task.tol) for trial in trials]
        error = float(np.sqrt(np.mean([way.error**2 for way in ways])))
        better = best is None or error < min(found.values())  # of equals, the fewest
        best, worse = (ways[0], 0) if better else (best, worse + 1)
        found[k] = error
        if worse >= _TRIES:
            break
    assert best is not None
    return HeldOut(sum(t.count for t in trials), tuple(found), tuple(found.values())), best, trials[0].centre


def _plain(factors: Factors) -> Factors:
    """As a model will know them: without doubt."""
    return Factors(factors.W, factors.noise, factors.mean)


def _ladder(most: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12, 16, 24 … and the most there can be."""
    rungs, step = [1], 1
    while rungs[-1] < most:
        rungs += [r for r in (2 * step, 3 * step) if r < most]
        step *= 2
        if 2 * step >= most:
            rungs.append(most)
    return sorted(set(rungs))
