"""Tiles of a matrix: a plan that is pure arithmetic, and the two things done with them, filling and applying."""

from itertools import pairwise
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.threads import run, threads_for

Array = NDArray[Any]
Fill = Any  # has fill(rows, columns, out): the tiles a kernel prepared

TILE = 256  # a float64 tile of this side takes 0.5 MB: it stays in one core's cache while it is worked on


def cut(n: int, size: int) -> list[slice]:
    """0 … n in slices of nearly equal length, at most `size` long."""
    pieces = max(1, -(-n // size))
    edges = [n * i // pieces for i in range(pieces + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def plan_symmetric(n: int) -> list[tuple[slice, slice]]:
    """The tiles on and above the diagonal of an n×n matrix: each entry, or its mirror image, once."""
    pieces = cut(n, TILE)
    return [(rows, columns) for i, rows in enumerate(pieces) for columns in pieces[i:]]


def fill_symmetric(tiles: Fill, out: Array, threads: int) -> None:
    """Evaluate each tile once, in a buffer of the thread's own, and write it and its mirror image into `out` (n×n)."""
    own = local()

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

    run(work, plan_symmetric(len(out)), threads)


def symmetric_product(A: Array, B: Array, threads: int) -> Array:
    """A B of a symmetric A, each thread with columns of its own.

    As (BᵀA)ᵀ: with few columns in B, BLAS reads A about 1.5 times faster from this side.
    """
    out, Bt = np.empty((B.shape[1], len(A))), np.ascontiguousarray(B.T)
    pieces = threads_for(A.size * B.shape[1], threads)

    def work(columns: slice) -> None:
        np.matmul(Bt, A[:, columns], out=out[:, columns])

    run(work, cut(len(A), -(-len(A) // pieces)), pieces)
    return out.T


def apply(tiles: Fill, m: int, n: int, B: Array, out: Array, threads: int) -> None:
    """out (m×b) = the m×n matrix of `tiles` times B (n×b), of which no more than a tile a thread is ever held."""
    columns_plan = cut(n, 4 * TILE)
    widest = max(piece.stop - piece.start for piece in columns_plan)

    def work(rows: slice) -> None:
        buffer = np.empty((rows.stop - rows.start, widest))
        total = np.zeros((rows.stop - rows.start, B.shape[1]))
        for columns in columns_plan:
            tile = buffer[:, : columns.stop - columns.start]
            tiles.fill(rows, columns, tile)
            total += tile @ B[columns]
        out[rows] = total

    run(work, cut(m, TILE), threads)
