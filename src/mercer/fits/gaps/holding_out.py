"""Numbers that are there are held out, to see how well they are told: the error that gaps are filled with.

So the number of components is found as well: more and more of them, until numbers held out are told no better.
"""

from copy import deepcopy
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from mercer.arrays import Array
from mercer.fits.gaps.climbing import Climb, climb
from mercer.fits.gaps.em import State, first_state
from mercer.fits.gaps.task import GapsTask, HeldOut
from mercer.plans.gaps import MOST_TRIED
from mercer.sources.parts import Parts, as_it_is
from mercer.sweeps.chunked_gaps import gapped_in
from mercer.sweeps.factors import Factors
from mercer.sweeps.gaps import Gapped, GappedRows, Look

__all__ = ["Trial", "try_some"]

_ENOUGH, _MOST = 1000, 0.1  # numbers to hold out at least, if they are no more than this share of all
_FOLDS = 5  # of which so many groups may be held out, one after the other, to see enough of them
_LOOSE = 10.0  # times the tolerance, where numbers of components are compared
_TRIES = 3  # numbers of components in a row that are no better, before it is believed that more of them are not


@dataclass(frozen=True, eq=False)
class _Known:
    """Rows without the numbers that were held out, and these: the place of each row, its column, and the number."""

    rows: GappedRows
    places: Array
    columns: Array
    truth: Array


class Trial:
    """Rows of which some numbers are held out."""

    def __init__(self, task: GapsTask, known: Parts, centre: Array) -> None:
        self.task, self.centre, self.known = task, centre, known
        self.rows = gapped_in(known.seen_as(_rows_of))
        self.count, self.squares = known.summed(_truth, _both_added)

    def error(self, state: State) -> float:
        """Of a guess, for what was held out, in units of what the means of columns leave."""
        off = self.known.summed(_off, add, None, _plain(state.factors))
        return float(np.sqrt((off / self.count) / (self.squares / self.count)))

    def climb(self, k: int, tol: float) -> Climb:
        """As far as `tol`, or as far as numbers held out are told better."""
        start, threads = first_state(self.rows, k, self.task.prior), self.task.limits.threads
        return climb(self.rows, start, tol=tol, most=self.task.most_passes, threads=threads, watch=self.error)


def _as_known(kept: tuple[tuple[Array, ...], Array, Array, Array], start: int) -> _Known:
    return _Known(GappedRows(*kept[0]), *kept[1:])


def _rows_of(kept: tuple[tuple[Array, ...], Array, Array, Array], start: int) -> GappedRows:
    return GappedRows(*kept[0])


def _truth(known: _Known, own: None) -> tuple[int, float]:
    """How many numbers were held out, and the sum of their squares."""
    return len(known.truth), float(np.sum(known.truth**2))


def _off(known: _Known, own: None, factors: Factors) -> float:
    """The sum of the squares by which factors miss them."""
    scores = np.concatenate([Look(known.rows, factors, some).means for some in known.rows.pieces(factors.k)])
    told = np.einsum("ik,ik->i", scores[known.places], factors.W[known.columns])
    return float(np.sum((told + factors.mean[known.columns] - known.truth) ** 2))


def try_some(task: GapsTask, rows: Gapped) -> tuple[HeldOut, Climb, Array] | None:
    """How well numbers are told, by as many components as were asked for or tell them best.

    Also where they led, and the centre of the rows there; None if there is nothing to hold out.
    """
    trials = [trial for trial in _trials(task, rows) if trial.squares > 0]
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


# ---------------------------------------------------------------------- what is held out


def _trials(task: GapsTask, rows: Gapped) -> list[Trial]:
    """One after the other holds out numbers of its own, of which no row and no column loses the last that it has."""
    numbers: list[int] = rows.parts.summed(_numbers, add)
    known = sum(numbers)
    size = int(max(task.held_out * known, min(_ENOUGH, _MOST * known)))
    folds = min(_FOLDS, -(-_ENOUGH // size)) if size else 0
    drawn = rows.parts.remade(_draw, as_it_is, _lots(numbers, size, task.rng()), folds)
    pairs = rows.parts.beside(drawn)
    return [_trial(task, pairs, fold) for fold in range(folds)]


def _lots(numbers: list[int], size: int, rng: np.random.Generator) -> list[tuple[np.random.Generator, int]]:
    """Who draws in each part, and how many: together `size`, as many in proportion to what there is."""
    if len(numbers) == 1:
        return [(rng, size)]
    ends = [size * end // sum(numbers) for end in accumulate(numbers)]
    seeds = rng.integers(2**63, size=len(numbers)).tolist()
    return [
        (np.random.default_rng(seed), end - start) for seed, start, end in zip(seeds, [0, *ends], ends, strict=False)
    ]


def _trial(task: GapsTask, pairs: Parts, fold: int) -> Trial:
    left = pairs.summed(_left, add, None, fold)
    sums, counts = pairs.summed(_sums_without, _both_added, None, fold, left > 1)
    centre = sums / counts
    return Trial(task, pairs.remade(_without, _as_known, None, fold, left > 1, centre), centre)


def _both_added(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    return one[0] + other[0], one[1] + other[1]


_Pair = tuple[GappedRows, tuple[Array, ...]]  # rows, and cells of theirs that were drawn, one array for each fold


def _numbers(rows: GappedRows, own: None) -> list[int]:
    """How many there are, in a list of one."""
    return [int(np.diff(rows.starts) @ rows.masks.sum(axis=1))]


def _draw(rows: GappedRows, lot: tuple[np.random.Generator, int], folds: int) -> tuple[Array, ...]:
    """Numbers to hold out, as they are counted through all cells."""
    rng, size = lot
    known = deepcopy(rng).permutation(np.flatnonzero(~np.isnan(rows.given()[0])))  # whoever draws again draws the same
    return tuple(known[fold * size : (fold + 1) * size].copy() for fold in range(folds))


def _left(pair: _Pair, own: None, fold: int) -> Any:
    """Numbers of every column that are not held out."""
    there, taken = _taken(pair[0].given()[0], pair[1][fold])
    return (there & ~taken).sum(axis=0)


def _taken(rows: Array, cells: Array) -> tuple[Array, Array]:
    taken = np.zeros(rows.shape, dtype=bool)
    taken.flat[cells] = True
    return ~np.isnan(rows), taken


def _allowed(rows: Array, cells: Array, columns: Array) -> Array:
    """Cells that are held out: none of these rows loses its last number, and only these columns lose any."""
    there, taken = _taken(rows, cells)
    return np.asarray(taken & ((there & ~taken).sum(axis=1) > 0)[:, None] & columns)


def _sums_without(pair: _Pair, own: None, fold: int, columns: Array) -> tuple[Any, Any]:
    """Of every column and of the weights of its numbers, without what is held out."""
    rows, weights = pair[0].given()
    there = ~np.isnan(rows) & ~_allowed(rows, pair[1][fold], columns)
    return weights @ np.where(there, rows, 0.0), weights @ there


def _without(pair: _Pair, own: None, fold: int, columns: Array, centre: Array) -> Any:
    """The arrays of `_Known`."""
    rows, weights = pair[0].given()
    i, j = np.nonzero(_allowed(rows, pair[1][fold], columns))
    truth = rows[i, j] - centre[j]
    rows[i, j] = np.nan
    found = GappedRows.of(rows - centre, weights)
    places = np.empty(len(rows), dtype=int)
    places[found.order] = np.arange(len(rows))
    return found.arrays, places[i], j, truth
