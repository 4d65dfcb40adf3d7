"""Sweeps over all rows of a source: how they scatter, and how much of them lies along some axes."""

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from queue import LifoQueue
from typing import Protocol, TypeVar, cast

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Matrix
from mercer_old.blocks import LANES, cut, lane_rows, some_of, sparse_rows
from mercer_old.progress import OnPass
from mercer_old.sources.held import some_rows
from mercer_old.sources.items import Rows
from mercer_old.sums import product, weighted_sum
from mercer_old.sweeps.scatter import Scatter
from mercer_old.sweeps.spread import Spread
from mercer_old.threads import run, threads_for

_AHEAD = 16  # pieces for each lane before lanes wait for each other, where rows are in memory
_SAMPLE = 128  # rows that tell where a block is, and how large its numbers are
_SINGLE = 1e-15, 1e15  # sizes that float32 can square
_WORTH_SINGLE = 1_000_000_000  # multiplications: with fewer, single precision saves no time worth the digits

Kind = TypeVar("Kind", bound=Scatter)
_Made = TypeVar("_Made", bound=Scatter, covariant=True)


class Maker(Protocol[_Made]):
    """What makes empty accumulators: their class, or one that knows more of them than where they begin."""

    @property
    def narrow(self) -> int: ...

    def __call__(self, origin: Array) -> _Made: ...


def sweep_scatter(
    kind: Maker[Kind],
    rows: Rows,
    weights: Array | None,
    threads: int,
    on_pass: OnPass = None,
    exact: bool = False,
) -> Kind:
    """How all rows of a source scatter.

    Piece after piece goes to lane after lane, so the sums are the same to the last bit on any number of threads. Rows
    that lie in chunks are summed up where they lie, and the sums of chunks merged along a fixed tree.
    """
    if rows.chunks is not None:
        work = partial(_scatter_of_chunk, kind, rows.chunks.engine.threads(threads), exact)
        return cast("Kind", rows.chunks.summed(work, _merged, rows.chunks.dealt(weights), on_pass=on_pass))
    n, d = rows.shape
    threads, exact = threads_for(n * d * d, threads), exact or rows.sparse or n * d * d < _WORTH_SINGLE
    narrow = d <= kind.narrow
    size = sparse_rows(d, rows.density) if rows.sparse else lane_rows(d, rows.held, narrow)
    count = min(LANES if narrow else 1, -(-n // size))
    lanes: list[Kind] = []
    rooms = _empty_rooms(count)
    start = 0
    for block in rows.blocks_ahead(count * size * (_AHEAD if rows.held else 1)):
        lanes = lanes or [kind(origin_of(block)) for _ in range(count)]
        stop = start + block.shape[0]
        _add_block(lanes, rooms, block, None if weights is None else weights[start:stop], size, threads, exact)
        start = stop
        if on_pass:
            on_pass(start / n)
    for lane in lanes[1:]:
        lanes[0].merge(lane)
    lanes[0].trim()
    return lanes[0]


def _scatter_of_chunk(kind: Maker[Kind], threads: int, exact: bool, rows: Rows, weights: Array | None) -> Kind:
    return sweep_scatter(kind, rows, weights, threads, exact=exact)


def _merged(one: Kind, other: Kind) -> Kind:
    """Both in one, which is another: a worker may be asked for the same once more."""
    whole = deepcopy(one)
    whole.merge(other)
    whole.trim()
    return whole


def _add_block(
    lanes: Sequence[Scatter],
    rooms: "LifoQueue[Array]",
    block: Matrix,
    weights: Array | None,
    size: int,
    threads: int,
    exact: bool = False,
) -> None:
    """The pieces of a block, dealt out to the lanes; who is done with one leaves the room to the next."""
    pieces, each = cut(block.shape[0], size), threads if len(lanes) == 1 else 1
    exact = exact or block.dtype != np.float32 or not _fits_single(some_of(block, _SAMPLE))

    def work(i: int) -> None:
        lanes[i].room = rooms.get()  # the one that was left last
        for piece in pieces[i :: len(lanes)]:
            rows = some_rows(block, piece.start, piece.stop)
            lanes[i].add(rows, None if weights is None else weights[piece], each, exact)
        rooms.put(lanes[i].room)

    run(work, range(len(lanes)), threads)


def _empty_rooms(count: int) -> "LifoQueue[Array]":
    rooms: LifoQueue[Array] = LifoQueue()
    for _ in range(count):
        rooms.put(np.empty((0, 0)))
    return rooms


def origin_of(rows: Matrix) -> Array:
    """A point near some rows; sparse rows stay where they are."""
    if sparse.issparse(rows):
        return np.zeros(rows.shape[1])
    return np.asarray(some_of(rows, _SAMPLE).mean(axis=0, dtype=np.float64))


def _fits_single(sample: Array) -> bool:
    """Whether squares of these rows around their mean are numbers in float32, in every column."""
    reach = np.ptp(sample.astype(np.float64), axis=0)
    return bool(np.all((reach == 0) | ((reach > _SINGLE[0]) & (reach < _SINGLE[1]))))


def squares_along(
    scatter: Scatter, rows: Rows, axes: Array, scale: Array | None, weights: Array | None, threads: int
) -> tuple[Array, float]:
    """Σw(vᵀx)² along every axis v (k×d), and Σw‖x − VVᵀx‖² beside them: of centred rows, which are never squared."""
    if rows.chunks is not None:
        place = Spread(scatter.origin)  # all that is asked of it is where the mean is
        place.offset = scatter.offset
        work, own = partial(_squares_of_chunk, rows.chunks.engine.threads(threads)), rows.chunks.dealt(weights)
        together = rows.chunks.summed(work, np.add, own, place, axes, scale)
    else:
        together = _sum_squares_along(scatter, rows, axes, scale, weights, threads)
    return together[:-1], float(together[-1])


def _squares_of_chunk(
    threads: int, rows: Rows, weights: Array | None, scatter: Scatter, axes: Array, scale: Array | None
) -> Array:
    return _sum_squares_along(scatter, rows, axes, scale, weights, threads)


def _sum_squares_along(
    scatter: Scatter, rows: Rows, axes: Array, scale: Array | None, weights: Array | None, threads: int
) -> Array:
    """Along every axis, and beside them last."""
    turned, unit = np.ascontiguousarray(axes.T), 1.0 if scale is None else scale
    size, start = lane_rows(rows.shape[1], rows.held), 0
    sums = np.zeros((LANES, len(axes) + 1))

    def add(block: Array, weights: Array | None, i: int) -> None:
        for piece in cut(len(block), size)[i::LANES]:
            Y = scatter.centred(block[piece]) / unit
            w = np.ones(len(Y)) if weights is None else weights[piece]
            scores = product(Y, turned)
            Y -= scores @ turned.T
            sums[i, :-1] += weighted_sum(w, scores**2)
            sums[i, -1] += w @ np.einsum("ij,ij->i", Y, Y)

    for block in rows.blocks(rows.shape[0] if rows.held else LANES * size):
        stop = start + block.shape[0]
        run(partial(add, block, None if weights is None else weights[start:stop]), range(LANES), threads)
        start = stop
    return np.asarray(sums.sum(axis=0))
