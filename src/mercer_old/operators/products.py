"""S = Σw(x − mean)(x − mean)ᵀ known by products alone: where d×d numbers are too many, or not worth it."""

from copy import copy, deepcopy
from functools import partial

import numpy as np

from mercer_old.arrays import Array, Matrix
from mercer_old.blas import add_products
from mercer_old.blocks import LANES, cut, lane_rows, sparse_rows, steps
from mercer_old.progress import OnPass
from mercer_old.rounding import UNIT, gamma
from mercer_old.sources.held import some_rows
from mercer_old.sources.items import Rows
from mercer_old.sums import SHORT, RunningSum, chain, product
from mercer_old.sweeps.spread import Spread
from mercer_old.symmetric import Measured
from mercer_old.threads import run

_ENTRIES = 500_000  # of rows that are multiplied at once
_AT_ONCE = 16  # pieces of rows that are added up before what rounding takes is kept
FAR_MEAN = 1e4  # mean²/variance from which rows are moved to their mean before the product, not after it

_ROUNDINGS = 12  # beside the sums: x − mean twice, weights, scales, the mean's own product, and the last sum


class ScatterProducts(Measured):
    """D⁻¹ S D⁻¹ (d×d) with D = diag(scale); every product is one sweep over the rows, which may be in a file.

    Sparse rows stay as they are: XcᵀXcB = XᵀXB − W·mean(meanᵀB). So do dense ones, unless that would cancel digits.
    """

    def __init__(
        self,
        rows: Rows,
        spread: Spread,
        scale: Array | None = None,
        weights: Array | None = None,
        threads: int = 1,
        on_pass: OnPass = None,
    ) -> None:
        self.rows, self.weights, self.threads, self.on_pass = rows, weights, threads, on_pass
        self.n = rows.shape[1]
        self.mean, self.total_weight = spread.mean, spread.weight
        self.off = (spread.origin - self.mean) + spread.offset  # what rounding took from the mean
        self.scale = np.ones(self.n) if scale is None else scale
        self.squares = spread.squares / self.scale**2
        self._mean_off = float(np.sqrt(self.total_weight) * np.linalg.norm(spread.doubt / self.scale))
        self._scaling_off = spread.noise_of_scaling(scale)
        far = np.any(self.total_weight * self.mean**2 > FAR_MEAN * spread.squares)
        self.moved = bool(far) and not rows.sparse
        self.size = sparse_rows(self.n, rows.density) if rows.sparse else self._few_rows()
        self.chain = _ROUNDINGS + (self._longest_sums() if rows.sparse else chain(self.n) + self._row_chain)

    def matmat(self, B: Array) -> Array:
        inner = np.ascontiguousarray(B / self.scale[:, None])
        out, left = self._sums(inner), self._left
        out -= np.multiply.outer(self.total_weight * left, product(left[None], inner)[0])
        out /= self.scale[:, None]
        return out

    def diag(self) -> Array:
        return self.squares

    @property
    def trace(self) -> float:
        return float(self.squares.sum())

    @property
    def noise(self) -> float:
        """How far the matrix that is multiplied can be from the true one: by the mean's doubt, and the deviations'."""
        return float((2 * self._mean_size + self._mean_off) * self._mean_off + self._scaling_off)

    @property
    def product_rounding(self) -> float:
        """Of its sums over columns and rows.

        ‖|X|ᵀ|X||b|‖ ≤ ‖X‖_F²: the trace, and the mean where it is subtracted afterwards.
        """
        return float(gamma(self.chain) * (self.trace + self._mean_size**2))

    @property
    def _mean_size(self) -> float:
        """√W‖mean‖, of what is subtracted after the sums."""
        return float(np.sqrt(self.total_weight) * np.linalg.norm(self._left / self.scale))

    @property
    def _left(self) -> Array:
        """What is left of the mean, to be subtracted after the sums."""
        return self.off if self.moved else self.mean

    def _few_rows(self) -> int:
        some = min(lane_rows(self.n, self.rows.held), max(1, _ENTRIES // self.n))
        return some if some < SHORT else some // SHORT * SHORT

    @property
    def _block_rows(self) -> int:
        """Rows that all lanes share."""
        return self.rows.shape[0] if self.rows.held else LANES * self.size

    def _pieces(self, block: Matrix) -> list[slice]:
        """Of a block: what is multiplied at once."""
        return cut(block.shape[0], min(self.size, -(-block.shape[0] // LANES)))

    def _longest_sums(self) -> int:
        if self.rows.chunks is not None:
            return int(self.rows.chunks.summed(_longest_of_chunk, max, None, self._without_rows()))
        blocks = self.rows.blocks(self._block_rows)
        return _AT_ONCE + max(longest_sums(block, self._pieces(block)) for block in blocks)

    @property
    def _row_chain(self) -> int:
        """The most additions behind a sum over dense rows, until what rounding takes from it is kept."""
        return min(SHORT, self.size) + _AT_ONCE * -(-self.size // SHORT)

    @property
    def floor(self) -> float:
        return 8 * UNIT * (self.trace + self._mean_size**2)

    def squared_norm(self, unit: float) -> None:
        """Not to be had without S."""

    def _sums(self, B: Array) -> Array:
        """Σ w x(xᵀB), x moved to the mean or not; in lanes, so that it does not matter who computes what."""
        turned, chunks = np.ascontiguousarray(B.T), self.rows.chunks
        if chunks is not None:
            own = chunks.dealt(self.weights)
            sum_of_all = chunks.summed(_sum_of_chunk, _added, own, self._without_rows(), turned, on_pass=self.on_pass)
            return sum_of_all.settle().T
        return self._running_sum(turned).settle().T

    def _without_rows(self) -> "ScatterProducts":
        """What a worker has to know of it."""
        known = copy(self)
        known.rows = known.weights = known.on_pass = None  # type: ignore[assignment]
        known.threads = self.rows.chunks.engine.threads(self.threads)
        return known

    def _of_chunk(self, rows: Rows, weights: Array | None) -> "ScatterProducts":
        own = copy(self)
        own.rows, own.weights = rows, weights
        return own

    def _running_sum(self, turned: Array) -> RunningSum:
        sums = [RunningSum(turned.shape) for _ in range(LANES)]
        start, n = 0, self.rows.shape[0]

        def add(block: Matrix, weights: Array | None, i: int) -> None:
            own = self._pieces(block)[i::LANES]
            for some in steps(len(own), _AT_ONCE):
                part = None
                for piece in own[some]:
                    w = None if weights is None else weights[piece]
                    part = self._product(some_rows(block, piece.start, piece.stop), w, turned, part)
                sums[i].add(part)

        for block in self.rows.blocks_ahead(self._block_rows):
            stop = start + block.shape[0]
            weights = None if self.weights is None else self.weights[start:stop]
            run(partial(add, block, weights), range(LANES), self.threads)
            start = stop
            if self.on_pass:
                self.on_pass(start / n)
        for lane in sums[1:]:
            sums[0].add_sum(lane)
        return sums[0]

    def _product(self, X: Matrix, weights: Array | None, turned: Array, part: Array | None) -> Array:
        """(Σ w x(xᵀB))ᵀ, added to the part: the way round that BLAS is fastest with."""
        X = X - self.mean if self.moved else X.astype(np.float64, copy=False)
        C = (X @ turned.T).T if self.rows.sparse else product(turned, X.T)
        if weights is not None:
            C = C * weights
        if self.rows.sparse:
            return (X.T @ C.T).T if part is None else np.add(part, (X.T @ C.T).T, out=part)
        part = np.zeros(turned.shape) if part is None else part
        add_products(part, C.T, X, SHORT)
        return part


def _sum_of_chunk(rows: Rows, weights: Array | None, products: ScatterProducts, turned: Array) -> RunningSum:
    return products._of_chunk(rows, weights)._running_sum(turned)


def _longest_of_chunk(rows: Rows, own: None, products: ScatterProducts) -> int:
    return products._of_chunk(rows, None)._longest_sums()


def _added(one: RunningSum, other: RunningSum) -> RunningSum:
    both = deepcopy(one)
    both.add_sum(other)
    return both


def longest_sums(rows: Matrix, pieces: list[slice]) -> int:
    """Entries of the longest row, and of the longest column of a piece: what products of sparse rows add up."""
    wide = int(np.diff(rows.indptr).max(initial=0))
    columns = (rows.indices[rows.indptr[piece.start] : rows.indptr[piece.stop]] for piece in pieces)
    return wide + max((int(np.bincount(some, minlength=1).max()) for some in columns), default=0)
