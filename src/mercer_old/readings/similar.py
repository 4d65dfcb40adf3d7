"""Which items of a fit are most like others: by distances between components, or by the kernel itself."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.blocks import steps
from mercer_old.errors import in_short
from mercer_old.kernels.base import Kernel
from mercer_old.spaces.base import Space
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.terminal import plain

__all__ = ["Similar", "find_similar", "refuse_wrong_question", "seen_by"]

_TOGETHER = 16  # items that a kernel compares with their neighbours in one call: more than asked for, and soon done


@dataclass(frozen=True, eq=False)
class Similar:
    """The items of a fit that are nearest to an item, nearest first; of several items, a row for each.

    Attributes
    ----------
    numbers : ndarray of shape (n,)
        Of the items, as they were given to `fit`.
    items : {ndarray, sparse matrix} of shape (n,) or (n, n_features)
        The items themselves: texts, rows in the units of X, rows of a table as dicts. Of several items, sparse rows
        stand one after the other.
    distances : ndarray of shape (n,)
        Between the scores, or √(k(x, x) + k(t, t) − 2k(x, t)).
    similarities : ndarray of shape (n,)
        k(x, t), whichever the distances are.
    """

    numbers: Array
    items: Any
    distances: Array
    similarities: Array

    def __str__(self) -> str:
        """A line for each: its number, the item if it is a text, its distance and k(x, t)."""
        if self.numbers.ndim > 1:
            return "\n\n".join(str(self[i]) for i in range(len(self.numbers)))
        items = self.items if isinstance(self.items, np.ndarray) else [None] * len(self.numbers)
        texts = [f"  {plain(item)}" if isinstance(item, str) else "" for item in items]
        width = max(map(len, texts), default=0)
        numbers = zip(self.numbers, texts, self.distances, self.similarities, strict=True)
        return "\n".join(f"{i:>6}{text:{width}}  distance {d:.3g}  k {k:.3g}" for i, text, d, k in numbers)

    def __getitem__(self, i: int) -> "Similar":
        """Those of one of several items."""
        n = self.numbers.shape[1]
        items = self.items[i] if isinstance(self.items, np.ndarray) else self.items[np.arange(i * n, (i + 1) * n)]
        return Similar(self.numbers[i], items, self.distances[i], self.similarities[i])


def refuse_wrong_question(n: Any, by: Any) -> None:
    """One sentence for a number, or a way, that there is not."""
    if by not in ("components", "kernel"):
        raise ValueError(f"by must be components or kernel; got {in_short(by)}.")
    if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1; got {in_short(n)}.")


def seen_by(kernel: Kernel, items: Held) -> KernelRows:
    """Items with the distance of a kernel.

    A text without grams is a zero vector, closer to all others than they are to each other: it is taken to be as long
    as the longest, so that what has nothing in common with an item is far from it.
    """
    space = KernelRows.seen_by(kernel, items)
    if kernel.takes != "texts":
        return space
    return space.with_diag(np.where(space.diag > 0, space.diag, space.diag.max(initial=0.0)))


def find_similar(
    space: Space, seen: Held, kernel: Kernel, items: Held, new: Held, n: int, threads: int
) -> tuple[Array, Array, Array]:
    """Places, distances and similarities (m×n) of the items that are nearest to new ones, as `space` sees them.

    `seen` are the new items in that space, the k of which is asked for those of `items` that are near.
    """
    near = space.nearest_to(space.prepare(seen), min(n, space.n), threads)
    places, found = near.indices.astype(np.int64), np.empty(near.indices.shape)
    for some in steps(len(places), _TOGETHER):
        around = items[places[some].ravel()]
        each = np.arange(some.stop - some.start)
        found[some] = kernel.block(new[some], around).reshape(len(each), len(each), -1)[each, each]
    return places, near.distances, found
