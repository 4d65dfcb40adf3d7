"""Numbers that are there are held out, to see how well they are told: the error that gaps are filled with.

So the number of components is found as well: more and more of them, until numbers held out are told no better.
"""

import numpy as np

from mercer.arrays import Array
from mercer.fits.gaps.climbing import Climb, climb
from mercer.fits.gaps.em import State, first_state
from mercer.fits.gaps.task import GapsTask, HeldOut
from mercer.plans.gaps import MOST_TRIED
from mercer.sweeps.factors import Factors
from mercer.sweeps.gaps import GappedRows, Look

__all__ = ["Trial", "try_some"]

_ENOUGH, _MOST = 1000, 0.1  # numbers to hold out at least, if they are no more than this share of all
_FOLDS = 5  # of which so many groups may be held out, one after the other, to see enough of them
_LOOSE = 10.0  # times the tolerance, where numbers of components are compared
_TRIES = 3  # numbers of components in a row that are no better, before it is believed that more of them are not


class Trial:
    """Rows of which some numbers are held out."""

    def __init__(self, task: GapsTask, rows: Array, cells: tuple[Array, Array]) -> None:
        self.task, self.cells, truth = task, cells, rows[cells]
        rows = rows.copy()
        rows[cells] = np.nan
        there = ~np.isnan(rows)
        weights = np.ones(len(rows)) if task.weights is None else task.weights
        self.centre = (weights @ np.where(there, rows, 0.0)) / (weights @ there)
        self.rows = GappedRows.of(rows - self.centre, task.weights)
        self.truth = truth - self.centre[cells[1]]
        self.places = np.empty(len(rows), dtype=int)
        self.places[self.rows.order] = np.arange(len(rows))

    def error(self, state: State) -> float:
        """Of a guess, for what was held out, in units of what the means of columns leave."""
        scores = np.concatenate(
            [Look(self.rows, _plain(state.factors), some).means for some in self.rows.pieces(state.factors.k)]
        )
        told = np.einsum("ik,ik->i", scores[self.places[self.cells[0]]], state.factors.W[self.cells[1]])
        off = told + state.factors.mean[self.cells[1]] - self.truth
        return float(np.sqrt(np.mean(off**2) / np.mean(self.truth**2)))

    def climb(self, k: int, tol: float) -> Climb:
        """As far as `tol`, or as far as numbers held out are told better."""
        start, threads = first_state(self.rows, k, self.task.prior), self.task.limits.threads
        return climb(self.rows, start, tol=tol, most=self.task.most_passes, threads=threads, watch=self.error)


def try_some(task: GapsTask, rows: Array) -> tuple[HeldOut, Climb, Array] | None:
    """How well numbers are told, by as many components as were asked for or tell them best.

    Also where they led, and the centre of the rows there; None if there is nothing to hold out.
    """
    trials = [Trial(task, rows, cells) for cells in _groups(rows, task.held_out, task.rng())]
    trials = [trial for trial in trials if np.any(trial.truth)]
    if not trials:
        return None
    if task.asked != "cv":
        way = trials[0].climb(int(task.asked), task.tol)
        return HeldOut(len(trials[0].truth), (int(task.asked),), (way.error,)), way, trials[0].centre
    found, best, worse = dict[int, float](), None, 0
    for k in _ladder(max(1, min(*rows.shape, MOST_TRIED + 1) - 1)):
        ways = [trial.climb(k, _LOOSE * task.tol) for trial in trials]
        error = float(np.sqrt(np.mean([way.error**2 for way in ways])))
        better = best is None or error < min(found.values())  # of equals, the fewest
        best, worse = (ways[0], 0) if better else (best, worse + 1)
        found[k] = error
        if worse >= _TRIES:
            break
    assert best is not None
    return HeldOut(sum(len(t.truth) for t in trials), tuple(found), tuple(found.values())), best, trials[0].centre


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


def _groups(rows: Array, share: float, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Cells to hold out, one group after the other, of which no row and no column loses the last numbers it has."""
    there = ~np.isnan(rows)
    known = rng.permutation(np.flatnonzero(there))
    size = int(max(share * len(known), min(_ENOUGH, _MOST * len(known))))
    folds = min(_FOLDS, -(-_ENOUGH // size)) if size else 0
    groups = []
    for fold in range(folds):
        taken = np.zeros(rows.shape, dtype=bool)
        taken.flat[known[fold * size : (fold + 1) * size]] = True
        left = there & ~taken
        taken &= (left.sum(axis=1) > 0)[:, None] & (left.sum(axis=0) > 1)
        i, j = np.nonzero(taken)
        groups += [(i, j)] if len(i) else []
    return groups
