"""S = Σw(x − mean)(x − mean)ᵀ known by products alone: where d×d numbers are too many, or not worth it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mercer.limits import LANES, lane_rows, sparse_rows
from mercer.operators.scatter import Spread
from mercer.operators.tiles import cut
from mercer.sources.rows import some_rows
from mercer.symmetric import Array, SymmetricOperator
from mercer.threads import run

ENTRIES = 500_000  # of rows that are multiplied at once
FAR = 1e4  # mean²/variance from which rows are moved to their mean before the product, not after it


class ScatterProducts(SymmetricOperator):
    """D⁻¹ S D⁻¹ (d×d) with D = diag(scale); every product is one sweep over the rows, which may be in a file.

    Sparse rows stay as they are: XcᵀXcB = XᵀXB − W·mean(meanᵀB). So do dense ones, unless that would cancel digits.
    """

    def __init__(
        self,
        rows: Any,
        spread: Spread,
        scale: Array | None = None,
        weights: Array | None = None,
        threads: int = 1,
        on_pass: Callable[[float], None] | None = None,
    ) -> None:
        self.rows, self.weights, self.threads, self.on_pass = rows, weights, threads, on_pass
        self.n = rows.shape[1]
        self.mean, self.total_weight = spread.mean, spread.weight
        self.off = (spread.origin - self.mean) + spread.offset  # what rounding took from the mean
        self.scale = np.ones(self.n) if scale is None else scale
        self.squares = spread.squares / self.scale**2
        far = np.any(self.total_weight * self.mean**2 > FAR * spread.squares)
        self.moved = bool(far) and not rows.sparse

    def matmat(self, B: Array) -> Array:
        inner = np.ascontiguousarray(B / self.scale[:, None])
        out, left = self._sums(inner), self.off if self.moved else self.mean
        out -= np.multiply.outer(self.total_weight * left, left @ inner)
        out /= self.scale[:, None]
        return out

    def diag(self) -> Array:
        return self.squares

    @property
    def trace(self) -> float:
        return float(self.squares.sum())

    @property
    def noise(self) -> float:
        """Rounding in products: that of the sums, with the mean if it is subtracted from them."""
        around = 0.0 if self.moved else self.total_weight * float(np.sum((self.mean / self.scale) ** 2))
        return float(4 * np.finfo(float).eps * (self.trace + around))

    @property
    def floor(self) -> float:
        return self.noise

    def squared_norm(self, unit: float) -> None:
        """Not to be had without S."""

    def _sums(self, B: Array) -> Array:
        """Σ w x(xᵀB), x moved to the mean or not; in lanes, so that it does not matter who computes what."""
        turned = np.ascontiguousarray(B.T)
        sums = np.zeros((LANES, *turned.shape))
        few = min(lane_rows(self.n, self.rows.held), max(1, ENTRIES // self.n))
        size = sparse_rows(self.n * self.rows.density) if self.rows.sparse else few
        start, n = 0, self.rows.shape[0]
        for block in self.rows.blocks_ahead(n if self.rows.held else LANES * size):
            pieces, first = cut(block.shape[0], min(size, -(-block.shape[0] // LANES))), start

            def work(i: int, block: Any = block, pieces: list[slice] = pieces, first: int = first) -> None:
                for piece in pieces[i::LANES]:
                    w = None if self.weights is None else self.weights[first + piece.start : first + piece.stop]
                    sums[i] += self._product(some_rows(block, piece.start, piece.stop), w, turned)

            run(work, range(LANES), self.threads)
            start += block.shape[0]
            if self.on_pass:
                self.on_pass(start / n)
        return sums.sum(axis=0).T

    def _product(self, X: Any, weights: Array | None, turned: Array) -> Any:
        """(Σ w x(xᵀB))ᵀ: the way round that BLAS is fastest with."""
        X = X - self.mean if self.moved else X.astype(np.float64, copy=False)
        C = (X @ turned.T).T if self.rows.sparse else turned @ X.T
        if weights is not None:
            C = C * weights
        return (X.T @ C.T).T if self.rows.sparse else C @ X
