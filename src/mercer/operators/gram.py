"""The kernel matrix of n rows, held in memory in float64."""

from typing import Any

import numpy as np

from mercer.operators.tiles import fill_symmetric, symmetric_product
from mercer.symmetric import Array, SymmetricOperator

SAMPLE = 64  # rows from which the mean of K is guessed, to decide on the shift


class HeldGram(SymmetricOperator):
    """K − shift·11ᵀ, filled by tiles; the shift is there for `Centered`, everybody else sees K."""

    def __init__(self, kernel: Any, X: Any, threads: int = 1) -> None:
        self.n, self.threads = X.shape[0], threads
        self.shift = choose_shift(kernel, X)
        self.values = np.empty((self.n, self.n))
        fill_symmetric(kernel.prepare(X, shift=self.shift), self.values, threads)
        np.fill_diagonal(self.values, kernel.diag(X) - self.shift)

    def matmat(self, B: Array) -> Array:
        return self.shifted_matmat(B) + self.shift * B.sum(axis=0)

    def shifted_matmat(self, B: Array) -> Array:
        return symmetric_product(self.values, B, self.threads)

    def diag(self) -> Array:
        return np.diag(self.values) + self.shift

    def columns(self, indices: Array) -> Array:
        return self.values[:, indices] + self.shift

    def dense(self) -> Array:
        return self.values + self.shift

    def shifted_diag(self) -> Array:
        return np.diag(self.values)

    def shifted_columns(self, indices: Array) -> Array:
        return self.values[:, indices]

    def shifted_squared_norm(self) -> float:
        flat = self.values.reshape(-1)
        return float(flat @ flat)


def choose_shift(kernel: Any, X: Any) -> float:
    """The largest value of the kernel if most of K is near it, else 0.

    Near the top, k = top − tiny: subtracting top before rounding keeps the digits that centring will leave over. Far
    from it (a narrow kernel: most of K is 0) the same subtraction would destroy them.
    """
    if not kernel.top:
        return 0.0
    n = X.shape[0]
    sample = X[np.linspace(0, n - 1, min(n, SAMPLE)).astype(int)]
    return kernel.top if kernel.block(sample, sample).mean() > kernel.top / 2 else 0.0
