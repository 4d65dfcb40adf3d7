"""What features leave of a kernel matrix: K − FFᵀ, for those who choose landmarks that join others."""

from mercer_old.arrays import Array
from mercer_old.symmetric import SymmetricOperator

__all__ = ["Residual"]


class Residual(SymmetricOperator):
    """K − FFᵀ with F (n×r): positive semi-definite if F are features by landmarks."""

    at_hand = False

    def __init__(self, base: SymmetricOperator, F: Array) -> None:
        self.base, self.n, self.F = base, base.n, F

    def matmat(self, B: Array) -> Array:
        return self.base.matmat(B) - self.F @ (self.F.T @ B)

    def diag(self) -> Array:
        return self.base.diag() - (self.F**2).sum(axis=1)

    def columns(self, indices: Array) -> Array:
        return self.base.columns(indices) - self.F @ self.F[indices].T

    def block(self, rows: Array, columns: Array) -> Array:
        return self.base.block(rows, columns) - self.F[rows] @ self.F[columns].T
