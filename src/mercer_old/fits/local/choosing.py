"""How many neighbours, where nobody said: as few as keep neighbourhoods as well as any number does.

Too few, and the graph falls apart or the weights leave coordinates open; too many, and neighbourhoods reach across to
the next turn of the sheet. Either shows in the embedding: rows come together that were apart (trustworthiness falls) or
are torn apart that were together (continuity falls; Venna and Kaski 2001). So

1. up to 1,000 rows (no more than landmarks, if there are to be some), drawn by lot, stand for all (as unevenly spread
   as those are), each distinct one once;
2. each of some numbers k from 4 to 40 that the method allows is tried: who is near whom, whether that hangs together,
   and the embedding of the largest part;
3. of those whose graph has the fewest parts, the smallest k counts whose mean of trustworthiness and continuity, by
   10 neighbours, is within 0.002 of the best, and so is that of the next larger k, so that it is no accident; if there
   is none such, the best k.

There are more rows than were looked at: then neighbourhoods of k rows are smaller still, and reach across to nothing.
"""

from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.blocks import steps, tile_rows
from mercer_old.fits.local.embedding import Recipe, embed
from mercer_old.fits.local.landmarks import space_of_some
from mercer_old.fits.local.neighborhoods import Neighborhoods
from mercer_old.fits.local.task import LocalParameters, least_neighbors, most_neighbors
from mercer_old.limits import Limits
from mercer_old.plans.local import LAPACK_ITEMS
from mercer_old.solvers.shift_invert import ShiftInvert
from mercer_old.sources.items import Items
from mercer_old.spaces.base import Neighbors, Space
from mercer_old.spaces.nearest import smallest

_LADDER = 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40
_ROWS = 1000  # that stand for all
_JUDGED = 10  # neighbours by which embeddings are judged
_PLATEAU = 0.002  # scores that differ by less are as good


@dataclass(frozen=True)
class NeighborsFound:
    """How many neighbours, and why."""

    k: int
    tried: tuple[int, ...]
    parts: tuple[int, ...]  # of the graph of each
    scores: tuple[float, ...]  # mean of trustworthiness and continuity of each
    n_rows: int  # that were looked at

    @property
    def reason(self) -> str:
        if not self.tried:
            return f"n_neighbors={self.k}, as {self.n_rows:,} distinct rows are too few to compare numbers of them."
        at, fewest = self.tried.index(self.k), min(self.parts)
        score, best = self.scores[at], max(s for s, p in zip(self.scores, self.parts, strict=True) if p == fewest)
        whole = "hangs together" if fewest == 1 else f"falls apart into no more than {fewest:,} parts"
        return (
            f"n_neighbors={self.k}: of {self.tried[0]} to {self.tried[-1]}, as few as there can be whose graph {whole} "
            f"and that keep neighbourhoods as well as more do (trustworthiness and continuity of {score:.3f} on "
            f"average, at best {best:.3f}, by {self.n_rows:,} rows)."
        )


def choose_neighbors(model: LocalParameters, items: Items, recipe: Recipe, limits: Limits) -> NeighborsFound:
    """By the rule above."""
    rng, least = model._rng(), least_neighbors(model)
    most = min(len(items), _ROWS, model.n_landmarks or _ROWS)  # landmarks are as far apart as so many rows
    some = np.sort(rng.choice(len(items), size=most, replace=False))
    space = _distinct(space_of_some(model, items, some, tell=False))  # the fit tells, of all that it looks at
    ladder = {max(least, _LADDER[0]), *_LADDER}
    order = space.nearest(space.n - 1, limits.threads) if space.n > 3 * _JUDGED else None
    tried = tuple(sorted(k for k in ladder if least <= k <= (space.n - 1) // 4 and _tells_apart(order, k)))
    if order is None or not tried:
        return NeighborsFound(max(least, min(5, most_neighbors(model, len(items)))), (), (), (), space.n)
    ranks = _ranks(order.indices)
    found = [_tried(space, order, ranks, k, recipe, rng, limits) for k in tried]
    parts, scores = (tuple(column) for column in zip(*found, strict=True))
    whole = [i for i, count in enumerate(parts) if count == min(parts)]
    best = max(whole, key=lambda i: scores[i])
    good = [i for i in whole if scores[i] >= scores[best] - _PLATEAU]
    chosen = next((i for i in good if i + 1 in good), best)
    return NeighborsFound(tried[chosen], tried, parts, scores, space.n)


def _distinct(space: Space) -> Space:
    """Every item once: neighbourhoods of copies say nothing."""
    first = np.unique(space.groups(), return_index=True)[1]
    return space if len(first) == space.n else space.take(np.sort(first))


def _tells_apart(order: Neighbors | None, k: int) -> bool:
    """Whether every item has a neighbour among k at some distance: a kernel may not tell all distinct ones apart."""
    return order is not None and bool(order.distances[:, k - 1].all())


def _tried(
    space: Space, order: Neighbors, ranks: Array, k: int, recipe: Recipe, rng: np.random.Generator, limits: Limits
) -> tuple[int, float]:
    """The number of parts of the graph, and how well the embedding of the largest one keeps neighbourhoods."""
    hoods = Neighborhoods(space, order.indices[:, :k].copy(), order.distances[:, :k].copy())
    labels = hoods.parts
    members = np.flatnonzero(labels == 0)
    n_parts, solver = int(labels.max()) + 1, ShiftInvert("dense", recipe.tol, threads=limits.threads, few=LAPACK_ITEMS)
    if len(members) <= max(3 * _JUDGED, recipe.n_components + 1):
        return n_parts, 0.0
    if n_parts > 1:
        hoods, ranks = hoods.part(members), _among(ranks, members)
    Y = embed(hoods, recipe, solver, rng, limits.threads).coordinates
    return n_parts, kept_neighbours(ranks, Y)


def _ranks(order: Array) -> Array:
    """The how many-th neighbour of an item another one is (m×m): 1 for the nearest, and 0 for itself."""
    ranks = np.zeros((len(order), len(order)), dtype=np.int32)
    np.put_along_axis(ranks, order, np.arange(1, len(order), dtype=np.int32)[None], 1)
    return ranks


def _among(ranks: Array, members: Array) -> Array:
    """The same among some of them."""
    return np.argsort(np.argsort(ranks[np.ix_(members, members)], axis=1), axis=1).astype(np.int32)


def kept_neighbours(ranks: Array, Y: Array, K: int = _JUDGED) -> float:
    """The mean of trustworthiness and continuity by K neighbours, each 1 − c·Σ(rank − K) over those that changed.

    `ranks` are those of the rows (m×m), c = 2/(mK(2m − 3K − 1)).
    """
    m, lost = len(Y), 0.0
    squares = np.einsum("ij,ij->i", Y, Y)
    for rows in steps(m, tile_rows(m)):
        D = squares - 2 * (Y[rows] @ Y.T)
        each = np.arange(rows.stop - rows.start)
        D[each, each + rows.start] = np.inf
        near = smallest(D, K)[0]
        came = np.take_along_axis(ranks[rows], near, 1)
        own = np.nonzero((ranks[rows] >= 1) & (ranks[rows] <= K))[1].reshape(-1, K)
        left = 1 + np.sum(np.take_along_axis(D, own, 1)[:, :, None] > D[:, None, :], axis=2)
        lost += float(np.maximum(came - K, 0).sum() + np.maximum(left - K, 0).sum())
    return 1 - lost / (m * K * (2 * m - 3 * K - 1))
