"""Matrices that are already there: dense, sparse, or a scipy LinearOperator."""

from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from mercer_old.arrays import Array, Matrix, dense
from mercer_old.blocks import cut
from mercer_old.operators.tiles import TILE, symmetric_chain, symmetric_product
from mercer_old.rounding import SUM_ROUNDINGS, frobenius, gamma
from mercer_old.sums import chain, product
from mercer_old.symmetric import Measured, SymmetricOperator


class HeldMatrix(Measured):
    """A symmetric matrix given as a dense or sparse array; entries may differ from their mirror images by so much."""

    def __init__(self, matrix: Matrix, threads: int = 1, asymmetry: float = 0.0) -> None:
        self.matrix, self.n, self.threads, self.asymmetry = matrix, matrix.shape[0], threads, asymmetry

    @property
    def is_sparse(self) -> bool:
        return sparse.issparse(self.matrix)

    def matmat(self, B: Array) -> Array:
        if self.is_sparse:
            return np.asarray(self.matrix @ B)
        return symmetric_product(self.matrix, B, self.threads)

    def diag(self) -> Array:
        return np.asarray(self.matrix.diagonal(), dtype=np.float64)

    def columns(self, indices: Array) -> Array:
        return dense(self.matrix[:, indices], np.float64)

    def sparse(self) -> Matrix:
        return self.matrix

    @cached_property
    def shifted_chain(self) -> int:  # type: ignore[override]
        if self.is_sparse:
            return 1 + int(np.diff(sparse.csr_array(self.matrix).indptr).max(initial=0))
        return symmetric_chain(self.n)

    def shifted_norm(self, weights: Array | None = None) -> float:
        return weighted_norm(self.matrix, weights)

    @cached_property
    def norm(self) -> float:
        return self.shifted_norm()

    @property
    def product_rounding(self) -> float:
        return gamma(self.shifted_chain) * self.norm

    @cached_property
    def trace(self) -> float:
        return float(self.diag().sum())

    @property
    def noise(self) -> float:
        return self.entry_rounding(None)

    def squared_norm(self, unit: float) -> tuple[float, float]:
        squares = (self.norm / unit) ** 2
        return squares, gamma(self.n + SUM_ROUNDINGS) * squares

    def entry_rounding(self, weights: Array | None) -> float:
        """Entries that are given are exact, but which of two mirror images is meant?"""
        return self.asymmetry * float(self.n if weights is None else weights.sum())


def weighted_norm(matrix: Matrix, weights: Array | None) -> float:
    """‖SAS‖_F with S = diag(√w), row by row, so that no sum is longer than n; also of numbers without a square."""
    squares = _summed_squares(matrix, weights)
    if 1e-280 < squares < np.inf:
        return float(np.sqrt(squares))
    peak = float(max(matrix.max(), -matrix.min())) if min(matrix.shape) else 0.0
    return peak * float(np.sqrt(_summed_squares(matrix / peak, weights))) if 0 < peak < np.inf else peak


def _summed_squares(matrix: Matrix, weights: Array | None) -> float:
    if sparse.issparse(matrix):
        squares = matrix.multiply(matrix)
        rows = np.asarray(squares.sum(axis=1) if weights is None else squares @ weights).ravel()
    else:
        rows = np.concatenate([_row_squares(matrix[some], weights) for some in cut(len(matrix), TILE)])
    return float((rows if weights is None else rows * weights).sum())


def _row_squares(block: Array, weights: Array | None) -> Array:
    return np.einsum("ij,ij->i", block, block) if weights is None else (block * block) @ weights


class BlackBox(SymmetricOperator):
    """A scipy LinearOperator, which knows products only: diagonal and columns come from products with unit vectors."""

    at_hand = False

    def __init__(self, operator: LinearOperator) -> None:
        self.operator, self.n = operator, operator.shape[0]

    def matmat(self, B: Array) -> Array:
        return np.asarray(self.operator.matmat(np.ascontiguousarray(B)), dtype=np.float64)

    def diag(self) -> Array:
        return np.concatenate([np.diag(self.columns(some)[some]) for some in self._blocks()])

    def _blocks(self) -> list[Array]:
        return np.array_split(np.arange(self.n), max(1, -(-self.n // 64)))


class Dilation(SymmetricOperator):
    """[[0, X], [Xᵀ, 0]] of a matrix X (m×d): its largest eigenvalues are the singular values of X, never squared."""

    def __init__(self, factor: Array) -> None:
        self.factor, self.n = factor, sum(factor.shape)

    def matmat(self, B: Array) -> Array:
        upper, lower = np.split(B, [len(self.factor)])
        return np.concatenate([product(self.factor, lower), product(self.factor.T, upper)])

    @property
    def product_rounding(self) -> float:
        return gamma(max(chain(side) for side in self.factor.shape) + 1) * frobenius(self.factor)

    def diag(self) -> Array:
        return np.zeros(self.n)

    def dilated(self) -> Array:
        return self.factor
