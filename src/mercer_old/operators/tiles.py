"""Tiles of a matrix: a plan that is pure arithmetic, and the two things done with them, filling and applying."""

from itertools import groupby
from threading import local

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array
from mercer_old.blocks import cut
from mercer_old.kernels.base import Tiles
from mercer_old.progress import OnPass
from mercer_old.sums import LESS_SHORT, LONG, SHORT, chain, product
from mercer_old.threads import run, threads_for

TILE = 256  # a float64 tile of this side takes 0.5 MB: it stays in one core's cache while it is worked on


STRIP = 512  # rows and columns of a tile that is evaluated and used at once
_GROUPS = 16  # so many parts of a strip are shared out
_PRODUCT, _PRODUCTS = 512, 4  # columns of a product that is shared out, at least; how many of them, at most


def plan_symmetric(n: int) -> list[tuple[slice, slice]]:
    """The tiles on and above the diagonal of an n×n matrix: each entry, or its mirror image, once."""
    pieces = cut(n, TILE)
    return [(rows, columns) for i, rows in enumerate(pieces) for columns in pieces[i:]]


def fill_symmetric(tiles: Tiles, out: Array, threads: int, on_pass: OnPass = None) -> None:
    """Evaluate each tile once, in a buffer of the thread's own, and write it and its mirror image into `out` (n×n)."""
    own, n = local(), len(out)

    def work(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        shape = rows.stop - rows.start, columns.stop - columns.start
        if not hasattr(own, "buffer"):
            own.buffer = np.empty(TILE * TILE)
        block = own.buffer[: shape[0] * shape[1]].reshape(shape)
        tiles.fill(rows, columns, block)
        if rows == columns:  # rounding must not make the matrix asymmetric
            lower = np.tril_indices(shape[0], -1)
            block[lower] = block.T[lower]
        else:
            out[columns, rows] = block.T
        out[rows, columns] = block

    if on_pass is None:
        run(work, plan_symmetric(n), threads)
        return
    for stop, strip in groupby(plan_symmetric(n), key=lambda tile: tile[0].stop):
        run(work, list(strip), threads)
        on_pass(done_of_triangle(stop, n))


def done_of_triangle(rows: int, n: int) -> float:
    """The share of a symmetric matrix that its first rows have, from the diagonal on."""
    return 1 - ((n - rows) / n) ** 2


def symmetric_product(A: Array, B: Array, threads: int) -> Array:
    """A B of a symmetric A, threads sharing its columns, with `symmetric_chain(n)` roundings for each entry.

    As (BᵀA)ᵀ: with few columns in B, BLAS reads A about 1.5 times faster from this side.
    """
    n = len(A)
    out, Bt = np.empty((B.shape[1], n)), np.ascontiguousarray(B.T)

    def work(columns: slice) -> None:
        product(Bt, A[:, columns], out[:, columns], _short(n))

    run(work, cut(n, max(_PRODUCT, -(-n // _PRODUCTS))), threads_for(A.size * B.shape[1], threads))
    return out.T


def symmetric_chain(n: int) -> int:
    """Roundings behind an entry of such a product."""
    return chain(n, _short(n)) + 1


def _short(n: int) -> int:
    return SHORT if n <= LONG else LESS_SHORT


def multiply_symmetric(
    tiles: Tiles, B: Array, threads: int, dtype: DTypeLike, on_pass: OnPass = None
) -> tuple[Array, float]:
    """A B (n×b) of the symmetric matrix A of `tiles`, and ‖A‖_F²: each tile is evaluated once and used twice.

    Entries are of the given dtype, sums in float64. Strip after strip of rows, threads share the columns right of the
    diagonal; what they add to the strip's own rows is summed up in a fixed order, so any number of threads gives the
    same bits.
    """
    n, width = B.shape
    B, out, squares, own = np.ascontiguousarray(B), np.zeros((n, width)), 0.0, local()
    strips = cut(n, STRIP)

    def work(rows: slice, group: list[slice], part: Array, norm: Array) -> None:
        for columns in group:
            norm += _use_twice(_buffered(own, tiles, rows, columns, dtype), rows, columns, B, part, out)

    for i, rows in enumerate(strips):
        groups = _groups(strips[i:])
        parts, norms = np.zeros((len(groups), rows.stop - rows.start, width)), np.zeros((len(groups), 1))
        tasks = [(rows, group, parts[g], norms[g]) for g, group in enumerate(groups)]
        run(lambda task: work(*task), tasks, threads)
        out[rows] += parts.sum(axis=0)
        squares += float(norms.sum())
        if on_pass:
            on_pass(done_of_triangle(rows.stop, n))
    return out, squares


def _use_twice(tile: Array, rows: slice, columns: slice, B: Array, part: Array, out: Array) -> float:
    """Add a tile times B to the part of its rows, and its mirror image times B to `out`; the squares of both."""
    if columns == rows:  # rounding must not make the matrix asymmetric
        tile = (tile + tile.T) / 2
    part += product(tile, B[columns])
    if columns != rows:
        out[columns] += product(tile.T, B[rows])
    return float(np.einsum("ij,ij->i", tile, tile).sum()) * (1 if columns == rows else 2)


def multiply_pair(tiles: Tiles, m: int, B: Array, dtype: DTypeLike) -> tuple[Array, float]:
    """What two pieces of rows add to A B, and to ‖A‖_F²; `tiles` are those between the pieces, of which the first has
    m rows, and B has the rows of the first and then of the second. Of a piece with itself, m = len(B).
    """
    B, out, squares, own = np.ascontiguousarray(B), np.zeros(B.shape), 0.0, local()
    first, other = cut(m, STRIP), cut(len(B) - m, STRIP) if len(B) > m else []
    for i, rows in enumerate(first):
        for columns in other or first[i:]:
            tile = _buffered(own, tiles, rows, columns, dtype)
            where = slice(m + columns.start, m + columns.stop) if other else columns
            squares += _use_twice(tile, rows, where, B, out[rows], out)
    return out, squares


def pair_chain(m: int) -> int:
    """Roundings behind an entry of such a product, of pieces of up to m rows: a tile's, and one for each strip.

    A row meets every strip of the other piece once, and of its own piece every strip once, from either side.
    """
    return chain(STRIP) + -(-m // STRIP)


def strip_chain(n: int) -> int:
    """Roundings behind an entry of such a product: a tile's, one for each strip, and those of the groups."""
    return chain(STRIP) + -(-n // STRIP) + _GROUPS + 1


def _groups(strips: list[slice]) -> list[list[slice]]:
    size = -(-len(strips) // _GROUPS)
    return [strips[j : j + size] for j in range(0, len(strips), size)]


def _buffered(own: local, tiles: Tiles, rows: slice, columns: slice, dtype: DTypeLike) -> Array:
    """The tile in float64, evaluated in the given dtype, in buffers of this thread."""
    shape = rows.stop - rows.start, columns.stop - columns.start
    if not hasattr(own, "tile"):
        own.tile = np.empty(STRIP * STRIP)
        own.raw = own.tile if dtype == np.float64 else np.empty(STRIP * STRIP, dtype=dtype)
    raw = own.raw[: shape[0] * shape[1]].reshape(shape)
    tiles.fill(rows, columns, raw)
    if own.raw is own.tile:
        return raw
    tile = own.tile[: raw.size].reshape(shape)
    tile[...] = raw
    return tile


def fill_rows(tiles: Tiles, out: Array, threads: int) -> None:
    """Evaluate all of the m×n matrix of `tiles` into `out`, strips of rows shared out."""
    run(lambda rows: tiles.fill(rows, slice(0, out.shape[1]), out[rows]), cut(len(out), 4 * TILE), threads)


def apply(tiles: Tiles, m: int, n: int, B: Array, out: Array, threads: int) -> None:
    """out (m×b) = the m×n matrix of `tiles` times B (n×b), of which no more than a tile a thread is ever held."""
    columns_plan, own = cut(n, 4 * TILE), local()

    def work(rows: slice) -> None:
        if not hasattr(own, "buffer"):
            own.buffer = np.empty(4 * TILE * TILE)
        total = out[rows]
        total[...] = 0.0
        for columns in columns_plan:
            shape = rows.stop - rows.start, columns.stop - columns.start
            tile = own.buffer[: shape[0] * shape[1]].reshape(shape)
            tiles.fill(rows, columns, tile)
            total += tile @ B[columns]

    run(work, cut(m, TILE), threads)
