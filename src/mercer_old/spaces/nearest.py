"""Who is near: the k nearest of n points, found exactly.

Few columns go through a k-d tree. With more of them a tree looks at nearly everything anyway, and all distances are
computed, in single precision: ‖p‖² − 2qᵀp, a tile at a time. A few candidates more than asked for are then measured by
differences, in double precision. If a point outside of them can be as near as the k-th, by the rounding that single
precision may have, the row is searched again in double precision, and if need be by differences alone.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.blocks import steps, tile_rows
from mercer_old.progress import OnPass
from mercer_old.spaces.base import Neighbors
from mercer_old.squares import differences, differences_to, own_at_least, screen_of, squares_but_own
from mercer_old.threads import run

_TREE_COLUMNS, _TREE_COLUMNS_OF_MANY, _MANY = 8, 15, 50_000  # a tree pays up to so many columns, or with many points
_IN_SINGLE = 1e15  # numbers up to which squares fit into single precision
_EXTRA = 4  # candidates beyond k
_SPARE = 8  # candidates beyond those that all rows of a tile may have, rather than one by one
_GROUP = 16  # columns of a tile that are first compared among each other
_TILE, _TILE_ROWS = 400_000, 64  # entries of a tile that stays in the cache, and rows that it has at least
_PIECES = 16  # tiles that are shared out before progress is told


def tree_pays(n: int, d: int) -> bool:
    """Whether a k-d tree finds the nearest of n points with d columns sooner than all distances do."""
    return d <= _TREE_COLUMNS or (d <= _TREE_COLUMNS_OF_MANY and n > _MANY)


def precision_for(Q: Array) -> Any:
    """In which distances of these rows are computed first: single, if their squares are numbers there."""
    return np.float32 if max(Q.max(initial=0.0), -Q.min(initial=0.0)) < _IN_SINGLE else np.float64


def by_tree(tree: "scipy.spatial.cKDTree", k: int, Q: Array | None, threads: int) -> Neighbors:
    """The k nearest points of a tree to every row of Q; to those of the tree itself without Q, each but itself."""
    if Q is None:
        distances, indices = tree.query(tree.data, k + 1, workers=threads)
        return _without_self(indices, distances)
    distances, indices = tree.query(Q, [*range(1, k + 1)], workers=threads)
    return Neighbors(indices.astype(np.int32), distances)


def _without_self(indices: Array, distances: Array) -> Neighbors:
    """Of k + 1 neighbours of every row, those that are not the row itself; it need not be there among many equals."""
    own = indices == np.arange(len(indices))[:, None]
    left_out = np.where(own.any(axis=1), own.argmax(axis=1), indices.shape[1] - 1)
    kept = np.arange(indices.shape[1]) != left_out[:, None]
    shape = len(indices), indices.shape[1] - 1
    return Neighbors(indices[kept].reshape(shape).astype(np.int32), distances[kept].reshape(shape))


def by_tiles(
    P: Array,
    k: int,
    Q: Array,
    own: Array | None,
    threads: int,
    on_pass: OnPass = None,
    dtype: Any = np.float32,
    some: Array | None = None,
) -> Neighbors:
    """The k nearest rows of P (n×d, moved near the origin) to every row of Q: all distances, in `dtype` first.

    `own` are the numbers that the rows of Q have in P, if they are from there. A row is never its own neighbour, and
    that is decided by its number, so rows that are given twice are neighbours of each other.
    `some` are the numbers of those rows of Q that are looked at; None: all.
    """
    some = np.arange(len(Q)) if some is None else some
    screen = screen_of(P, dtype)
    most = len(P) - (own is not None)
    wanted = min(k + _EXTRA, most)
    found = Neighbors(np.empty((len(some), k), dtype=np.int32), np.empty((len(some), k)))
    sure = np.ones(len(some), dtype=bool)

    def work(rows: slice, out: Array) -> None:
        q = Q[some[rows]]
        squares_but_own(q, screen, out)
        near, there, reach = within_reach(_without_own(out, own, some[rows]), wanted)
        exact = np.where(there, differences_to(q, P, near), np.inf)
        order = np.argsort(exact, axis=1, kind="stable")[:, :k]
        found.indices[rows] = np.take_along_axis(near, order, 1)
        found.distances[rows] = np.sqrt(np.take_along_axis(exact, order, 1))
        if wanted < most:
            sure[rows] = found.distances[rows, -1] ** 2 <= reach + own_at_least(q, found.distances[rows, -1], dtype)

    _tiles(work, len(some), len(P), dtype, threads, on_pass, max(_TILE // len(P), _TILE_ROWS))
    again = np.flatnonzero(~sure)
    if len(again):
        rest = some[again]
        better = (
            by_tiles(P, k, Q, own, threads, dtype=np.float64, some=rest)
            if dtype is np.float32
            else _by_differences(P, k, Q, own, threads, rest)
        )
        found.indices[again], found.distances[again] = better.indices, better.distances
    return found


def _by_differences(P: Array, k: int, Q: Array, own: Array | None, threads: int, some: Array) -> Neighbors:
    """The slow and certain way, for some rows of Q."""
    shape, own = (len(some), len(P)), None if own is None else own[some]
    return by_blocks(lambda rows: differences(Q[some[rows]], P), shape, k, own, threads)


def by_blocks(
    squared: Callable[[slice], Array],
    shape: tuple[int, int],
    k: int,
    own: Array | None,
    threads: int,
    on_pass: OnPass = None,
) -> Neighbors:
    """The k nearest by squared distances that come from elsewhere, for a slice of rows at a time."""
    found = Neighbors(np.empty((shape[0], k), dtype=np.int32), np.empty((shape[0], k)))

    def work(rows: slice, out: Array) -> None:
        out[:] = squared(rows)
        near = smallest(_without_own(out, own, np.arange(rows.start, rows.stop)), k)[0]
        values = np.take_along_axis(out, near, 1)
        order = np.argsort(values, axis=1, kind="stable")
        found.indices[rows] = np.take_along_axis(near, order, 1)
        found.distances[rows] = np.sqrt(np.maximum(np.take_along_axis(values, order, 1), 0.0))

    _tiles(work, *shape, np.float64, threads, on_pass)
    return found


def _without_own(out: Array, own: Array | None, rows: Array) -> Array:
    if own is not None:
        out[np.arange(len(out)), own[rows]] = np.inf
    return out


def _tiles(
    work: Callable[[slice, Array], None],
    m: int,
    n: int,
    dtype: Any,
    threads: int,
    on_pass: OnPass,
    most: int | None = None,
) -> None:
    """work(rows, out) for all of m rows, in pieces that do not depend on the threads, each with a tile of n columns."""
    size = min(tile_rows(n), most or m)

    def piece(rows: slice) -> None:
        work(rows, np.empty((rows.stop - rows.start, n), dtype=dtype))

    for some in steps(m, _PIECES * size):
        run(piece, steps(some.stop, size, some.start), threads)
        if on_pass:
            on_pass(some.stop / m)


def within_reach(D: Array, k: int) -> tuple[Array, Array, Array]:
    """Candidates for the k smallest entries of every row: columns, which of these count, and an entry that is reached.

    A tournament: columns g, g + m, g + 2m, … meet, and the k-th smallest of the winners is a reach within which k
    entries are for certain. There are few more of them, so that two sweeps that processors are fast at find them all:
    whatever is left out is larger. Rows with too many equals get the k smallest, one by one.
    """
    rows, n = D.shape
    reach = np.partition(_winners(D, k), k - 1, axis=1)[:, k - 1]
    row, column = np.divmod(np.flatnonzero(reach[:, None] >= D), n)
    counts = np.bincount(row, minlength=rows)
    crowded = np.flatnonzero(counts > k + _SPARE)
    width = int(min(counts.max(), k + _SPARE))
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    first = place < width
    near = np.zeros((rows, width), dtype=np.intp)
    near[row[first], place[first]] = column[first]
    if len(crowded):
        near[crowded, :k], reach[crowded] = smallest(D[crowded], k)
        counts[crowded] = k
    return near, np.arange(width) < counts[:, None], reach


def _winners(D: Array, k: int) -> Array:
    """The smallest of every group of columns, or all entries if there are few of them."""
    m = D.shape[1] // _GROUP
    return D if m < 2 * k else D[:, : m * _GROUP].reshape(len(D), _GROUP, m).min(axis=1)


def smallest(D: Array, k: int) -> tuple[Array, Array]:
    """The columns of the k smallest entries of every row, in no order, and the largest entry among them.

    The same tournament: each of the k smallest is in one of the k groups whose winners are smallest.
    """
    rows, n = D.shape
    m = n // _GROUP
    if m < 2 * k:
        near = np.argpartition(D, k - 1, axis=1)[:, :k] if k < n else np.broadcast_to(np.arange(n), D.shape).copy()
        return near, np.take_along_axis(D, near, 1).max(axis=1)
    groups = np.argpartition(_winners(D, k), k - 1, axis=1)[:, :k]
    late = np.broadcast_to(np.arange(m * _GROUP, n), (rows, n - m * _GROUP))  # fewer than GROUP that had no group
    candidates = np.concatenate([(groups[:, :, None] + m * np.arange(_GROUP)).reshape(rows, -1), late], axis=1)
    values = np.take_along_axis(D, candidates, 1)
    some = np.argpartition(values, k - 1, axis=1)[:, :k]
    return np.take_along_axis(candidates, some, 1), np.take_along_axis(values, some, 1).max(axis=1)
