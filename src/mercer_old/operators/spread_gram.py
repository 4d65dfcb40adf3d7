"""The kernel matrix of items that lie on the workers of a cluster: its tiles are evaluated there, in every pass, or
once, to be held here."""

from functools import cached_property, partial
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from mercer_old.arrays import Array, Held
from mercer_old.blocks import share_out
from mercer_old.engines.base import Handle
from mercer_old.kernels.base import Kernel, Preparing
from mercer_old.operators.gram import Gram, HeldGram, RecomputedGram
from mercer_old.operators.tiles import fill_rows, fill_symmetric, multiply_pair, pair_chain
from mercer_old.progress import OnPass
from mercer_old.sources.chunked import Chunks

_ROWS_A_TASK = 1024  # a pass has about a task for so many rows
_SIDE, _FEWEST = 1024, 10  # rows of a part of the matrix that comes here, at the most: 8 MB; and pieces, at the least


def even_pieces(n: int) -> list[slice]:
    """n rows in g pieces whose g(g + 1)/2 pairs are about a task for every 1024 rows.

    They follow from n alone, so neither the chunks nor the number of workers changes a bit of an answer. A task has two
    pieces, and answers for two: g·n rows of products come out of all tasks, where a task for each row of tiles would
    ask for half of all rows, and g²/4·n would come out.
    """
    return share_out(n, max(1, isqrt(2 * n // _ROWS_A_TASK)))


def small_pieces(n: int) -> list[slice]:
    """n items in pieces so small that what lies between two of them is soon here, and all workers have work."""
    return share_out(n, max(-(-n // _SIDE), min(n, _FEWEST)))


def pairs_of(pieces: int) -> list[tuple[int, int]]:
    """Each unordered pair of pieces once: a piece with itself, and with all after it."""
    return [(i, j) for i in range(pieces) for j in range(i, pieces)]


class _Part(NamedTuple):
    """What some pairs add to a product: rows for the pieces that they touch, and squares of their entries."""

    rows: dict[int, Array]
    squares: float


class SpreadGram(RecomputedGram):
    """The same matrix as `RecomputedGram`, whose tiles are shared out by pairs of pieces of rows.

    `chunks` has the pieces, kept where they are worked on; X are the same rows here, for what takes no pass: columns,
    the diagonal and bounds. Preparing is that of all of X, so entries are off by no more than `kernel.rounding` says.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Held,
        chunks: Chunks,
        threads: int = 1,
        dtype: DTypeLike = np.float64,
        on_pass: OnPass = None,
    ) -> None:
        super().__init__(kernel, X, threads, dtype, on_pass)
        self.chunks = chunks

    def _in_single(self) -> RecomputedGram:
        return SpreadGram(self.kernel, self.X, self.chunks, self.threads, np.float32, self.on_pass)

    @cached_property
    def _prepares(self) -> Handle:
        """Sent once, and asked for by every task of every pass."""
        return _shared_way(self, self.chunks, self.entries)

    def shifted_matmat(self, B: Array) -> Array:
        engine, handles, slices = self.chunks.engine, self.chunks.handles, self.chunks.slices
        pairs = pairs_of(len(handles))
        own = [({i: slices[i], j: slices[j]}, self.entries) for i, j in pairs]
        B_there = engine.share(np.ascontiguousarray(B))
        tasks = engine.map(_of_pair, _pieces_of(pairs, self.chunks), own, self._prepares, B_there)
        part = engine.reduce(_together, tasks, self.on_pass)
        self._squares = part.squares
        return np.concatenate([part.rows[i] for i in range(len(handles))])

    @property
    def shifted_chain(self) -> int:  # type: ignore[override]
        """Roundings behind an entry: those of a pair, and one for every floor of the tree.

        A term k(x, y)·b is in one tile of one pair. There it goes through the chain of the tile's product and at most
        one addition for each strip of the other piece (`pair_chain`); what the pair adds to a row goes through at most
        one addition on each of the ⌈log₂ pairs⌉ floors of the tree of `engines.base.tree`. Nothing else is added.
        """
        pieces = len(self.chunks.counts)
        floors = (pieces * (pieces + 1) // 2 - 1).bit_length()
        return pair_chain(max(self.chunks.counts)) + floors + 1


class GatheredGram(HeldGram):
    """The same matrix as `HeldGram`, filled by workers: for kernels whose entries cost more than their way here.

    `chunks` has small pieces of the items, X are the same items here.
    """

    def __init__(self, kernel: Kernel, X: Held, chunks: Chunks, threads: int = 1, on_pass: OnPass = None) -> None:
        self.chunks = chunks
        super().__init__(kernel, X, threads, on_pass)

    def _fill(self, on_pass: OnPass) -> None:
        engine, slices, pairs = self.chunks.engine, self.chunks.slices, pairs_of(len(self.chunks.counts))
        way = _shared_way(self, self.chunks, np.float64)
        tasks = engine.map(_between, _pieces_of(pairs, self.chunks), None, way)
        for (i, j), entries in zip(pairs, engine.bring(tasks, on_pass), strict=True):
            self.values[slices[i], slices[j]] = entries
            if i != j:
                self.values[slices[j], slices[i]] = entries.T


def _shared_way(gram: Gram, chunks: Chunks, entries: DTypeLike) -> Handle:
    """What prepares tiles of pieces as of all items, where the work is."""
    return chunks.engine.share(partial(gram.kernel.prepares(gram.X), shift=gram.shift, dtype=entries))


def _pieces_of(pairs: list[tuple[int, int]], chunks: Chunks) -> list[list[Handle]]:
    """The pieces of every pair."""
    return [[chunks.handles[i]] if i == j else [chunks.handles[i], chunks.handles[j]] for i, j in pairs]


def _between(items: list[Held], own: None, prepares: Preparing) -> Array:
    """The matrix between two pieces, or of a piece with itself."""
    out = np.empty((items[0].shape[0], items[-1].shape[0]))
    fill = fill_symmetric if len(items) == 1 else fill_rows
    fill(prepares(*items), out, threads=1)
    return out


def _of_pair(
    rows: list[Held], own: tuple[dict[int, slice], np.dtype[np.floating]], prepares: Preparing, B: Array
) -> _Part:
    """What a pair of pieces adds, or a piece with itself."""
    where, entries = own
    product, squares = multiply_pair(
        prepares(*rows), rows[0].shape[0], np.concatenate([B[some] for some in where.values()]), entries
    )
    ends = np.cumsum([some.stop - some.start for some in where.values()])[:-1]
    return _Part(dict(zip(where, np.split(product, ends), strict=True)), squares)


def _together(one: _Part, other: _Part) -> _Part:
    rows = {**one.rows, **other.rows}
    for piece in one.rows.keys() & other.rows.keys():
        rows[piece] = one.rows[piece] + other.rows[piece]
    return _Part(rows, one.squares + other.squares)
