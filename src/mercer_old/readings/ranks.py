"""Ranks of rows by their distance, from a block of rows at a time: exactly those of the definition.

Equal distances count in the order of their indices, and a row never counts among its own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np

from mercer_old.arrays import Array
from mercer_old.blocks import steps
from mercer_old.readings.distances import RowDistances
from mercer_old.threads import one_blas_thread, run, threads_for

_BLOCK = 64_000_000  # bytes of the distances that are held at a time, in all spaces together
# Up to so many ranks, and one for so many distances, are counted one by one; more are looked up in sorted distances.
_FEW_RANKS, _SORTED_MEANWHILE = 32, 3000
_LONG = 30_000  # distances of a row: with fewer, threads wait for Python more than they work


def smallest_in_order(distances: Array, k: int) -> Array:
    """The indices of the k smallest in order, equal ones by index."""
    # The k-th smallest of some is no less than that of all, and found at once: few are left to be sorted.
    some = distances[:: max(1, isqrt(len(distances) // (4 * k)))]
    near = np.flatnonzero(distances <= np.partition(some, k - 1)[k - 1])
    found = distances[near]
    order = np.argsort(found)
    found = found[order]
    if (found[1:] == found[:-1]).any():  # a stable sort takes four times as long, and is rarely needed
        order = np.argsort(distances[near], kind="stable")
    return near[order[:k]]


def ranks(distances: Array, indices: Array) -> Array:
    """1 + how many are smaller, or equal with a smaller index, for each of these indices."""
    if len(indices) <= min(_FEW_RANKS, len(distances) // _SORTED_MEANWHILE):
        return np.array([_rank(distances, j) for j in indices])
    ordered, values = np.sort(distances), distances[indices]
    found = np.searchsorted(ordered, values) + 1
    tied = np.searchsorted(ordered, values, side="right") > found
    found[tied] = [_rank(distances, j) for j in indices[tied]]
    return found


def _rank(distances: Array, j: int) -> int:
    value = distances[j]
    return 1 + int(np.count_nonzero(distances[:j] <= value) + np.count_nonzero(distances[j + 1 :] < value))


@dataclass(frozen=True)
class Sweep:
    """The distances of some rows to all rows, in several spaces: in X, and in what was made of it."""

    spaces: tuple[RowDistances, ...]
    rows: Array
    threads: int

    @property
    def n(self) -> int:
        return self.spaces[0].n

    def over(self, look: Callable[..., None]) -> None:
        """look(position, distances in the first space, in the second, …) for every row, on several threads.

        Blocks and tiles are cut without regard to the threads, so that these do not change a bit.
        """
        threads, many = threads_for(8 * len(self.rows) * self.n, self.threads), len(self.spaces)
        with one_blas_thread():
            step = min(max(1, _BLOCK // (8 * many * self.n)), len(self.rows))
            blocks = np.empty((many, step, self.n))
            for part in steps(len(self.rows), step):
                self._look_at(part, blocks, look, threads)

    def _look_at(self, part: slice, blocks: Array, look: Callable[..., None], threads: int) -> None:
        rows = self.rows[part]
        each = list(zip(self.spaces, blocks[:, : len(rows)], strict=True))

        def fill(task: tuple[RowDistances, Array, slice]) -> None:
            space, out, columns = task
            space.fill(rows, columns, out[:, columns])

        def settle_and_look(position: int) -> None:
            for space, distances in each:
                space.settle(rows[position], distances[position])
            look(part.start + position, *(distances[position] for _, distances in each))

        run(fill, [(space, out, columns) for space, out in each for columns in steps(self.n, space.width)], threads)
        run(settle_and_look, range(len(rows)), threads if self.n >= _LONG else 1)
