"""Which numbers are held out: drawn by lot in every portion of the rows, and taken out there."""

from copy import deepcopy
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import Any

import numpy as np

from mercer_old.arrays import Array
from mercer_old.sources.portions import Portions, as_it_is
from mercer_old.sweeps.gaps import Gapped, GappedRows

__all__ = ["Known", "both_added", "hold_out", "rows_of_known"]

_ENOUGH, _MOST = 1000, 0.1  # numbers to hold out at least, if they are no more than this share of all
_FOLDS = 5  # of which so many groups may be held out, one after the other, to see enough of them


@dataclass(frozen=True, eq=False)
class Known:
    """Rows without the numbers that were held out, and these: the place of each row, its column, and the number."""

    rows: GappedRows
    places: Array
    columns: Array
    truth: Array


def _as_known(kept: tuple[tuple[Array, ...], Array, Array, Array], start: int) -> Known:
    return Known(GappedRows(*kept[0]), *kept[1:])


def rows_of_known(kept: tuple[tuple[Array, ...], Array, Array, Array], start: int) -> GappedRows:
    """How the same is opened by who asks for its rows alone."""
    return GappedRows(*kept[0])


def hold_out(rows: Gapped, share: float, rng: np.random.Generator) -> list[tuple[Portions, Array]]:
    """Portions of `Known`, and the centre that they were moved to: as many times as it takes to see enough numbers.

    No row and no column loses the last numbers that it has.
    """
    numbers: list[int] = rows.portions.summed(_numbers, add)
    known = sum(numbers)
    size = int(max(share * known, min(_ENOUGH, _MOST * known)))
    folds = min(_FOLDS, -(-_ENOUGH // size)) if size else 0
    drawn = rows.portions.remade(_draw, as_it_is, _lots(numbers, size, rng), folds)
    pairs = rows.portions.beside(drawn)
    return [_held_out(pairs, fold) for fold in range(folds)]


def _lots(numbers: list[int], size: int, rng: np.random.Generator) -> list[tuple[np.random.Generator, int]]:
    """Who draws in each portion, and how many: together `size`, as many in proportion to what there is."""
    if len(numbers) == 1:
        return [(rng, size)]
    ends = [size * end // sum(numbers) for end in accumulate(numbers)]
    seeds = rng.integers(2**63, size=len(numbers)).tolist()
    return [
        (np.random.default_rng(seed), end - start) for seed, start, end in zip(seeds, [0, *ends], ends, strict=False)
    ]


def _held_out(pairs: Portions, fold: int) -> tuple[Portions, Array]:
    left = pairs.summed(_left, add, None, fold)
    sums, counts = pairs.summed(_sums_without, both_added, None, fold, left > 1)
    centre = sums / counts
    return pairs.remade(_without, _as_known, None, fold, left > 1, centre), centre


def both_added(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """Of pairs of sums."""
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
    """The arrays of `Known`."""
    rows, weights = pair[0].given()
    i, j = np.nonzero(_allowed(rows, pair[1][fold], columns))
    truth = rows[i, j] - centre[j]
    rows[i, j] = np.nan
    found = GappedRows.of(rows - centre, weights)
    places = np.empty(len(rows), dtype=int)
    places[found.order] = np.arange(len(rows))
    return found.arrays, places[i], j, truth
