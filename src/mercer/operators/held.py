"""Matrices that are already there: dense, sparse, or a scipy LinearOperator."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer.operators.tiles import symmetric_product
from mercer.symmetric import Array, SymmetricOperator


class HeldMatrix(SymmetricOperator):
    """A symmetric matrix given as a dense or sparse array."""

    def __init__(self, matrix: Any, threads: int = 1) -> None:
        self.matrix, self.n, self.threads = matrix, matrix.shape[0], threads

    def matmat(self, B: Array) -> Array:
        if sparse.issparse(self.matrix):
            return np.asarray(self.matrix @ B)
        return symmetric_product(self.matrix, B, self.threads)

    def diag(self) -> Array:
        return np.asarray(self.matrix.diagonal(), dtype=np.float64)

    def columns(self, indices: Array) -> Array:
        picked = self.matrix[:, indices]
        return np.asarray(picked.toarray() if sparse.issparse(picked) else picked, dtype=np.float64)

    def sparse(self) -> Any:
        return self.matrix

    def shifted_squared_norm(self) -> float:
        if sparse.issparse(self.matrix):
            return float(self.matrix.multiply(self.matrix).sum())
        return float(np.einsum("ij,ij->", self.matrix, self.matrix))

    def squared_norm(self) -> tuple[float, float]:
        """‖A‖_F², and a bound on its rounding error."""
        squares = self.shifted_squared_norm()
        return squares, 64 * float(np.finfo(float).eps) * float(np.sqrt(self.n)) * squares


class BlackBox(SymmetricOperator):
    """A scipy LinearOperator, which knows products only: diagonal and columns come from products with unit vectors."""

    def __init__(self, operator: Any) -> None:
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
        return np.concatenate([self.factor @ lower, self.factor.T @ upper])

    def diag(self) -> Array:
        return np.zeros(self.n)
