"""The kernel matrix of rows that lie on the workers of a cluster: its tiles are evaluated there, in every pass."""

from functools import cached_property, partial
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from mercer.arrays import Array, Held
from mercer.blocks import share_out
from mercer.engines.base import Handle
from mercer.kernels.base import Kernel, Preparing
from mercer.operators.gram import RecomputedGram
from mercer.operators.tiles import multiply_pair, pair_chain
from mercer.progress import OnPass
from mercer.sources.chunked import Chunks

_ROWS_A_TASK = 1024  # a pass has about a task for so many rows


def even_pieces(n: int) -> list[slice]:
    """n rows in g pieces whose g(g + 1)/2 pairs are about a task for every 1024 rows.

    They follow from n alone, so neither the chunks nor the number of workers changes a bit of an answer. A task has two
    pieces, and answers for two: g·n rows of products come out of all tasks, where a task for each row of tiles would
    ask for half of all rows, and g²/4·n would come out.
    """
    return share_out(n, max(1, isqrt(2 * n // _ROWS_A_TASK)))


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
        known = partial(self.kernel.prepares(self.X), shift=self.shift, dtype=self.entries)
        return self.chunks.engine.share(known)

    @property
    def _slices(self) -> list[slice]:
        return [slice(a, a + count) for a, count in zip(self.chunks.starts, self.chunks.counts, strict=True)]

    def shifted_matmat(self, B: Array) -> Array:
        engine, handles, slices = self.chunks.engine, self.chunks.handles, self._slices
        pairs = pairs_of(len(handles))
        rows = [[handles[i]] if i == j else [handles[i], handles[j]] for i, j in pairs]
        own = [({i: slices[i], j: slices[j]}, self.entries) for i, j in pairs]
        tasks = engine.map(_of_pair, rows, own, self._prepares, engine.share(np.ascontiguousarray(B)))
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
