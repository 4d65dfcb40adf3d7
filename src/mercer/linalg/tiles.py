"""Loops over the tiles of a kernel matrix: filling it, and products with it that never store it.

Sums are taken in fixed order and fixed pieces, so that their bits do not depend on the number of threads.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.kernels.base import PreparedKernel
from mercer.numerics.blocking import LANES, slices
from mercer.numerics.threads import WORTH_A_THREAD, in_rounds, parallel, threads_for

SLAB = 512  # rows that are multiplied at once
TILE = 256
_STRIP = 64  # rows that are filled at once
_UNPACKED = 1_000_000  # multiplications up to which BLAS takes a small product without copying its factors


def fill_matrix(prepared: PreparedKernel, out: NDArray, n_threads: int, progress: Any = None) -> None:
    """All entries between the prepared samples, strip by strip."""

    def fill(rows: slice) -> None:
        prepared.fill(rows, slice(None), out[rows])

    list(in_rounds(fill, slices(len(out), _STRIP), n_threads, 32 * n_threads, progress))


def fill_symmetric(prepared: PreparedKernel, out: NDArray, n_threads: int, progress: Any = None) -> None:
    """The same for dear entries: each pair of samples is compared once."""
    strips = slices(len(out), TILE)

    def fill(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        entries = np.empty((rows.stop - rows.start, columns.stop - columns.start))
        prepared.fill(rows, columns, entries)
        out[columns, rows] = entries.T  # on the diagonal, the next line overwrites half of it
        out[rows, columns] = entries

    tiles = [(rows, columns) for i, rows in enumerate(strips) for columns in strips[i:]]
    list(in_rounds(fill, tiles, n_threads, 8 * n_threads, progress))


def tile_side(width: int) -> int:
    """Side of the tiles of a matrix-free product with so many columns."""
    return min(TILE, max(32, int(np.sqrt(_UNPACKED / max(1, width))) // 8 * 8))


def multiply_symmetric(
    prepared: PreparedKernel, B: NDArray, n_threads: int, progress: Any = None, weights: NDArray | None = None
) -> tuple[NDArray, float]:
    """K B and, given weights, Σwᵢwⱼkᵢⱼ²: each tile is evaluated once, used twice and dropped.

    Entries have the precision of `prepared`, sums are float64. Four lanes of strips have sums of their own,
    so the bits do not depend on the number of threads.
    """
    n, width = B.shape
    side, dtype = tile_side(width), prepared.dtype
    strips = slices(n, side)
    B = np.ascontiguousarray(B, dtype=dtype)
    sums, norms = np.zeros((LANES, n, width)), np.zeros(LANES)

    def lane(number: int) -> None:
        room = np.empty((side, side), dtype=dtype)
        for i in range(number, len(strips), LANES):
            rows = strips[i]
            norms[number] += multiply_strip(prepared, B, rows, strips[i:], room, sums[number], weights)
            if progress and number == 0:
                progress(min(1.0, 1 - (1 - rows.stop / n) ** 2))

    parallel(lane, range(LANES), n_threads)
    return sums.sum(axis=0), float(norms.sum())


def multiply_strip(
    prepared: PreparedKernel,
    B: NDArray,
    rows: slice,
    strips: Sequence[slice],
    room: NDArray,
    total: NDArray,
    weights: NDArray | None = None,
) -> float:
    """Add to `total` what tiles of some rows, and their transposes, give in K B; `strips` are columns.

    Tiles are filled in `room`. Returns the squares of their entries, given weights.
    """
    own, norm = np.zeros((rows.stop - rows.start, B.shape[1])), 0.0
    for columns in strips:
        tile = room[: rows.stop - rows.start, : columns.stop - columns.start]
        prepared.fill(rows, columns, tile)
        own += tile @ B[columns]
        if columns != rows:
            total[columns] += tile.T @ B[rows]
        if weights is not None:  # row by row while the tile is in the cache: no sum is longer than a side
            squares = float(weights[rows] @ np.vecdot(tile, tile * weights[columns]))
            norm += squares if columns == rows else 2 * squares
    total[rows] += own
    return norm


def squares_chain(n: int, width: int) -> int:
    """Roundings behind the squares that `multiply_symmetric` sums up."""
    n_strips = -(-n // tile_side(width))
    return 2 * TILE + n_strips * n_strips // LANES + n_strips + LANES


def multiply_stored(K: NDArray, B: NDArray, n_threads: int) -> NDArray:
    """K B of a symmetric matrix, as (BᵀK)ᵀ, which is faster for few columns; `SLAB` rows at a time."""
    n = len(K)
    Bt = np.ascontiguousarray(B.T)
    out = np.empty((B.shape[1], n))

    def some(columns: slice) -> None:
        part = out[:, columns]
        np.matmul(Bt[:, :SLAB], K[:SLAB, columns], out=part)
        for first in range(SLAB, n, SLAB):
            rows = slice(first, first + SLAB)
            part += Bt[:, rows] @ K[rows, columns]

    if K.size * B.shape[1] <= WORTH_A_THREAD:
        some(slice(0, n))
    else:
        parallel(some, slices(n, max(SLAB, -(-n // 4))), n_threads)
    return out.T


def multiply_rows(prepared: PreparedKernel, B: NDArray, n_threads: int) -> NDArray:
    """k(X, Y) B for samples X and Y that differ: scores of new samples."""
    m, n = prepared.shape
    out = np.empty((m, B.shape[1]))

    def some(rows: slice) -> None:
        tile = np.empty((rows.stop - rows.start, min(n, 4 * TILE)))
        out[rows] = 0.0
        for columns in slices(n, 4 * TILE):
            part = tile[:, : columns.stop - columns.start]
            prepared.fill(rows, columns, part)
            out[rows] += part @ B[columns]

    parallel(some, slices(m, TILE), threads_for(m * n * 20, n_threads))
    return out
