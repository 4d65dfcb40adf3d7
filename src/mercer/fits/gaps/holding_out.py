"""Numbers that are there are held out, to see how well they are told: the error that gaps are filled with.

So the number of components is found as well: more and more of them, until numbers held out are told no better.
"""

import numpy as np

from mercer.arrays import Array
from mercer.fits.gaps.climbing import Climb, climb
from mercer.fits.gaps.em import State, first_state
from mercer.fits.gaps.task import GapsTask, HeldOut
from mercer.sweeps.factors import Factors
from mercer.sweeps.gaps import GappedRows, Look

__all__ = ["Trial", "filled_with"]

_ENOUGH, _MOST = 1000, 0.1  # numbers to hold out at least, if they are no more than this share of all
_LOOSE = 10.0  # times the tolerance, where numbers of components are compared
_TRIES = 2  # numbers of components that are no better, before it is believed that more of them are not
_SAME = 0.998  # of an error: what is not below is no better


class Trial:
    """Rows of which some numbers are held out."""

    def __init__(self, task: GapsTask, rows: Array, weights: Array | None) -> None:
        self.task, self.weights = task, weights
        self.cells = _drawn(rows, task.held_out, task.rng())
        self.truth = rows[self.cells]
        rows = rows.copy()
        rows[self.cells] = np.nan
        self.centre = np.nanmean(rows, axis=0) if weights is None else _weighted_means(rows, weights)
        self.rows = GappedRows.of(rows - self.centre, weights)
        self.truth = self.truth - self.centre[self.cells[1]]
        self.usual = float(np.sqrt(np.mean(self.truth**2))) if len(self.truth) else np.nan
        self.places = np.empty(len(rows), dtype=int)
        self.places[self.rows.order] = np.arange(len(rows))

    @property
    def useful(self) -> bool:
        return len(self.truth) > 0 and self.usual > 0

    def error(self, state: State) -> float:
        """Of a guess, for what was held out, in units of what the means of columns leave."""
        scores = np.concatenate(
            [Look(self.rows, _plain(state.factors), some).means for some in self.rows.pieces(state.factors.k)]
        )
        told = np.einsum("ik,ik->i", scores[self.places[self.cells[0]]], state.factors.W[self.cells[1]])
        off = told + state.factors.mean[self.cells[1]] - self.truth
        return float(np.sqrt(np.mean(off**2))) / self.usual

    def climb(self, k: int, tol: float) -> Climb:
        start = first_state(self.rows, k, self.task.prior)
        threads = self.task.limits.threads
        return climb(self.rows, start, tol=tol, most=self.task.most_passes, threads=threads, watch=self.error)

    def number(self, most: int) -> tuple[HeldOut, Climb]:
        """As many components as tell best what was held out, and where they led."""
        found, best, worse = dict[int, float](), None, 0
        for k in _ladder(most):
            way = self.climb(k, _LOOSE * self.task.tol)
            better = best is None or way.error < _SAME * best.error
            found[k], worse = way.error, 0 if better else worse + 1
            best = way if best is None or way.error < best.error else best
            if worse >= _TRIES:
                break
        assert best is not None
        return HeldOut(len(self.truth), tuple(found), tuple(found.values())), best


def filled_with(factors: Factors, rows: GappedRows) -> Array:
    """What is told of every number of rows, given those that are there."""
    scores = np.concatenate([Look(rows, factors, some).means for some in rows.pieces(factors.k)])
    return rows.back(scores @ factors.W.T + factors.mean)


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


def _drawn(rows: Array, share: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Cells to hold out; no row, and no column, loses the last number it has."""
    there = ~np.isnan(rows)
    known = np.flatnonzero(there)
    wanted = int(max(share * len(known), min(_ENOUGH, _MOST * len(known)))) if share > 0 else 0
    cells = np.unravel_index(np.sort(rng.choice(known, size=wanted, replace=False)), rows.shape)
    taken = np.zeros(rows.shape, dtype=bool)
    taken[cells] = True
    left = there & ~taken
    taken &= (left.sum(axis=1) > 0)[:, None] & (left.sum(axis=0) > 1)
    i, j = np.nonzero(taken)
    return i, j


def _weighted_means(rows: Array, weights: Array) -> Array:
    there = ~np.isnan(rows)
    return np.asarray((weights @ np.where(there, rows, 0.0)) / (weights @ there))
