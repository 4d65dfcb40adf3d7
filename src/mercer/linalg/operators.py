"""Symmetric matrices as eigensolvers and certificates see them."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mercer.numerics.rounding import gamma


class SymmetricOperator(ABC):
    """A symmetric matrix, known by its products, on R^n or the subspace of `project` and `dimension`."""

    n: int
    psd = False  # whether the matrix is known to be positive semi-definite
    products_are_cheap = True  # whether entries are stored, so that one more product costs little

    @abstractmethod
    def matmat(self, B: NDArray) -> NDArray:
        """A @ B."""

    def to_dense(self) -> NDArray:
        """The whole matrix, in an array of its own."""
        return self.matmat(np.eye(self.n))

    @property
    def dimension(self) -> int:
        """Dimension of the space in which eigenvectors are sought."""
        return self.n

    def project(self, B: NDArray) -> NDArray:
        """The part of B in that space, as a copy."""
        return B.copy()

    @property
    def trace(self) -> float:
        """Sum of all eigenvalues."""
        raise NotImplementedError

    @property
    def floor(self) -> float:
        """Residuals and eigenvalues up to this are likely to be rounding. Valid after the first product."""
        return 0.0

    @property
    def product_error(self) -> float:
        """Bound on the error of a product with a unit vector. Valid after the first product."""
        return 0.0

    @property
    def entry_error(self) -> float:
        """Bound on ‖δA‖₂ from rounding in the entries."""
        return 0.0

    def squared_norm(self, unit: float) -> tuple[float, float] | None:
        """‖A/unit‖_F² and a bound on its error, if it is known without a pass."""
        return None


class MatrixOperator(SymmetricOperator):
    """A matrix in memory."""

    def __init__(self, matrix: NDArray, *, psd: bool = False) -> None:
        self.matrix, self.n, self.psd = matrix, len(matrix), psd

    def matmat(self, B: NDArray) -> NDArray:
        return (B.T @ self.matrix).T if B.shape[1] < self.n // 4 else self.matrix @ B  # faster for few columns

    def to_dense(self) -> NDArray:
        return self.matrix

    @property
    def trace(self) -> float:
        return float(self.matrix.trace())

    @property
    def product_error(self) -> float:
        """γ of the chain of one product times ‖A‖_F."""
        return gamma(self.n + 1) * float(np.sqrt(np.vdot(self.matrix, self.matrix)))

    def squared_norm(self, unit: float) -> tuple[float, float]:
        scaled = self.matrix / unit
        squares = float(np.einsum("ij,ij->i", scaled, scaled).sum())
        return squares, gamma(2 * self.n + 4) * squares
