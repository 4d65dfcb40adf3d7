"""K = ΦΦᵀ of explicit features, dense or CSR, never formed."""

from functools import cached_property

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Matrix, dense
from mercer_old.blocks import FEATURE_ROWS, LANES, SPARSE_COLUMNS, cut, sparse_rows
from mercer_old.kernels.base import summed
from mercer_old.kernels.features import FeatureMap, MadeFeatures
from mercer_old.operators.products import ScatterProducts, longest_sums
from mercer_old.rounding import gamma
from mercer_old.sources.held import HeldRows, some_rows
from mercer_old.sums import chain, inner, product
from mercer_old.sweeps.lanes import sweep_scatter
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square
from mercer_old.symmetric import SymmetricOperator
from mercer_old.threads import run

_PIECES, _PIECE_ROWS = 8, 256  # for threads to share: so many, of no fewer rows than this


class FeatureGram(SymmetricOperator):
    """The Gram matrix of the rows of Φ (n×D). `factor` lets a solver work on the D×D side."""

    def __init__(self, features: Matrix | MadeFeatures, threads: int = 1, learned: FeatureMap | None = None) -> None:
        self.factor: Matrix = features
        self.threads, self.map = threads, learned  # the map, for features of new items
        self.source = features if isinstance(features, MadeFeatures) else HeldRows(features)
        self.roundings = 0 if learned is None else learned.roundings()  # behind every feature
        self.n, self.width = int(features.shape[0]), int(features.shape[1])
        # The mean row is what centring will remove; removed here first, large offsets do not cancel.
        self.is_sparse = sparse.issparse(features)
        self.moved = not self.is_sparse
        self.origin = self._mean() if self.moved else np.zeros(self.width)

    def _mean(self) -> Array:
        if isinstance(self.source, MadeFeatures):
            return self.source.mean()
        return np.asarray(self.factor.mean(axis=0, dtype=np.float64))

    def matmat(self, B: Array) -> Array:
        return self._squared_times(B)

    def shifted_matmat(self, B: Array) -> Array:
        """The product of ΨΨᵀ with B, Ψ = Φ − 1·origin: it has the same centred matrix as K."""
        return self._squared_times(B, moved=True)

    def _squared_times(self, B: Array, moved: bool = False) -> Array:
        """Φ(ΦᵀB), or Ψ(ΨᵀB); of sparse features, which may be millions, a few columns at a time."""
        if not self.is_sparse:
            return self.times(self.transposed_times(B, moved), moved)
        out = np.empty((self.n, B.shape[1]))
        for some in cut(B.shape[1], SPARSE_COLUMNS):
            out[:, some] = self.times(self._sums(np.ascontiguousarray(B[:, some])))
        return out

    def times(self, W: Array, moved: bool = False) -> Array:
        """Φ W, or Ψ W, by blocks of rows."""
        out = np.empty((self.n, W.shape[1]))

        def work(rows: slice) -> None:
            block = self._rows(rows, moved)
            out[rows] = block @ W if self.is_sparse else product(block, W)

        run(work, self._pieces(), self.threads)
        return out

    def transposed_times(self, B: Array, moved: bool = False) -> Array:
        """Φᵀ B, or Ψᵀ B; of sparse features a few columns at a time."""
        if not self.is_sparse:
            return self._sums(B, moved)
        out = np.empty((self.width, B.shape[1]))
        for some in cut(B.shape[1], SPARSE_COLUMNS):
            out[:, some] = self._sums(np.ascontiguousarray(B[:, some]))
        return out

    def _sums(self, B: Array, moved: bool = False) -> Array:
        """The same by blocks of rows, in lanes."""
        pieces = self._pieces()
        parts = np.zeros((min(LANES, len(pieces)), self.width, B.shape[1]))

        def work(i: int) -> None:
            for rows in pieces[i::LANES]:
                parts[i] += self._inner(self._rows(rows, moved), B[rows])

        run(work, range(len(parts)), self.threads)
        return parts.sum(axis=0)

    def scatter(self, weights: Array | None = None) -> Array:
        """Σ wᵢ(φᵢ − mean)(φᵢ − mean)ᵀ (D×D), in one sweep over the rows."""
        return sweep_scatter(Square, self.source, weights, self.threads, exact=True).matrix

    def products(self, weights: Array | None = None) -> ScatterProducts:
        """The same by products alone: each is one sweep over the rows, and D×D numbers are never held."""
        spread = sweep_scatter(Spread, self.source, weights, self.threads, exact=True)
        return ScatterProducts(self.source, spread, None, weights, self.threads)

    def diag(self) -> Array:
        return self._own

    def columns(self, indices: Array) -> Array:
        return self._against(indices)

    def shifted_diag(self) -> Array:
        return self._own_moved

    @cached_property
    def _own(self) -> Array:
        return self._squares()

    @cached_property
    def _own_moved(self) -> Array:
        return self._squares(moved=True)

    def shifted_columns(self, indices: Array) -> Array:
        return self._against(indices, moved=True)

    def _against(self, indices: Array, moved: bool = False) -> Array:
        """Every row against some; sparse ones stay sparse, as their features may be millions."""
        if self.is_sparse:
            some = self.factor[indices].astype(np.float64, copy=False).T.tocsr()  # once, not for every piece
            return np.vstack([(self._rows(rows) @ some).toarray() for rows in self._pieces()])
        some = dense(self.factor[indices], np.float64)
        return self.times((some - self.origin if moved else some).T, moved)

    def shifted_floor(self, mean: float) -> float:
        """No entry is ever formed: only the rounding of the data themselves is left, if they were moved."""
        eps = float(np.finfo(float).eps)
        return 16 * eps * (eps if self.moved else 1.0) * float(np.mean(self.diag()))

    def entry_rounding(self, weights: Array | None) -> float:
        """Of the features: their singular values move by ‖δΦ‖_F (Weyl), and each of them is off by γ of its own size.

        That is their size *before* centring, of which little may be left.
        """
        if not self.roundings:
            return 0.0
        off = gamma(self.roundings) * np.sqrt(summed(self.diag(), weights))
        return float(off * (2 * np.sqrt(summed(self.shifted_diag(), weights)) + off))

    @property
    def shifted_chain(self) -> int:  # type: ignore[override]
        """Roundings of Ψ(ΨᵀB): of the sums over rows, of those over features, and of the move to the origin, twice."""
        pieces = self._pieces()
        added = -(-len(pieces) // LANES) + min(LANES, len(pieces))
        if self.moved:
            return chain(max(rows.stop - rows.start for rows in pieces)) + added + chain(self.width) + 6
        return longest_sums(self.factor, pieces) + added + 6

    def shifted_moduli(self, weights: Array | None = None, sums: Array | None = None) -> float:
        """‖S|Ψ||Ψ|ᵀS‖ ≤ ‖SΨ‖_F²."""
        return summed(self.shifted_diag(), weights)

    def _inner(self, block: Matrix, B: Array) -> Array:
        """Φᵀ B of some rows, in short chains; of sparse rows, so few that they are."""
        return np.asarray(block.T @ B) if self.is_sparse else inner(block, B)

    def _pieces(self) -> list[slice]:
        """Row blocks, whoever computes them, so that no bit depends on it; their float64 copies are small."""
        if self.is_sparse:
            return cut(self.n, sparse_rows(self.width, self.source.density))
        return cut(self.n, min(FEATURE_ROWS, max(_PIECE_ROWS, -(-self.n // _PIECES))))

    def _rows(self, rows: slice, moved: bool = False) -> Matrix:
        block = some_rows(self.factor, rows.start, rows.stop).astype(np.float64, copy=False)
        if moved and self.moved:
            own = isinstance(self.factor, MadeFeatures)
            return np.subtract(block, self.origin, out=block if own else None)
        return block

    def _squares(self, moved: bool = False) -> Array:
        """Of every row: ‖φ‖², or ‖ψ‖²."""
        blocks = (self._rows(rows, moved) for rows in cut(self.n, FEATURE_ROWS))
        squares = (block.multiply(block) if self.is_sparse else block * block for block in blocks)
        return np.concatenate([np.asarray(some.sum(axis=1)).ravel() for some in squares])
