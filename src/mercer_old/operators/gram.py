"""The kernel matrix of n rows: held in memory, or evaluated anew whenever it is multiplied."""

from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array, Held
from mercer_old.kernels.base import Kernel, Tiles
from mercer_old.operators.held import weighted_norm
from mercer_old.operators.tiles import (
    fill_rows,
    fill_symmetric,
    multiply_symmetric,
    strip_chain,
    symmetric_chain,
    symmetric_product,
)
from mercer_old.progress import OnPass
from mercer_old.symmetric import SymmetricOperator

_SAMPLE = 64  # rows from which the mean of K is guessed, to decide on the shift


class Gram(SymmetricOperator):
    """k(xᵢ, xⱼ) of all rows. Centring is offered K − shift·11ᵀ, everybody else sees K."""

    kernel: Kernel

    def __init__(self, kernel: Kernel, X: Held, threads: int = 1) -> None:
        self.kernel, self.X, self.n, self.threads = kernel, X, X.shape[0], threads
        self.shift = _choose_shift(kernel, X)

    def matmat(self, B: Array) -> Array:
        return self.shifted_matmat(B) + self.shift * B.sum(axis=0)

    def diag(self) -> Array:
        return np.asarray(self.kernel.diag(self.X), dtype=np.float64)

    def columns(self, indices: Array) -> Array:
        return self._columns(indices, 0.0)

    def block(self, rows: Array, columns: Array) -> Array:
        return np.asarray(self.kernel.block(self.X[rows], self.X[columns]))

    def shifted_diag(self) -> Array:
        return self.diag() - self.shift

    def shifted_floor(self, mean: float) -> float:
        """Also of the exponent, which rounds like the largest number in it, and of a shift made after rounding."""
        eps = np.finfo(float).eps
        reach = self.kernel.reach(self.X)
        # Errors are likely to be of random sign: n of them add up to √n. Beyond its reach a kernel takes differences.
        exponent = 0.0 if np.isinf(reach) else 4 * eps * reach / np.sqrt(self.n)
        after = 0.0 if self.kernel.exact_shift else eps * abs(self.shift)
        return super().shifted_floor(mean) + float(exponent) + after

    def entry_rounding(self, weights: Array | None) -> float:
        return float(self.kernel.rounding(self.X, weights, self.shift, self.matmat if self.at_hand else None))

    def shifted_columns(self, indices: Array) -> Array:
        return self._columns(indices, self.shift)

    def _columns(self, indices: Array, shift: float) -> Array:
        out = np.empty((self.n, len(indices)))
        fill_rows(self.kernel.prepare(self.X, self.X[indices], shift=shift), out, self.threads)
        return out


class HeldGram(Gram):
    """All of it in memory, in float64. `on_pass` is told how much of it is filled."""

    def __init__(self, kernel: Kernel, X: Held, threads: int = 1, on_pass: OnPass = None) -> None:
        super().__init__(kernel, X, threads)
        self.values = np.empty((self.n, self.n))
        self._fill(on_pass)
        np.fill_diagonal(self.values, self.shifted_diag())

    def _fill(self, on_pass: OnPass) -> None:
        fill_symmetric(self.kernel.prepare(self.X, shift=self.shift), self.values, self.threads, on_pass)

    def shifted_matmat(self, B: Array) -> Array:
        return symmetric_product(self.values, B, self.threads)

    def block(self, rows: Array, columns: Array) -> Array:
        return self.values[np.ix_(rows, columns)] + self.shift

    def dense(self) -> Array:
        return self.values + self.shift

    @property
    def shifted_chain(self) -> int:  # type: ignore[override]
        return symmetric_chain(self.n)

    def shifted_norm(self, weights: Array | None = None) -> float:
        return weighted_norm(self.values, weights)

    def shifted_moduli(self, weights: Array | None = None, sums: Array | None = None) -> float:
        """The norm, or the largest sum of moduli in a row (Schur's test), known where entries have one sign."""
        norm = self.shifted_norm(weights)
        return norm if sums is None or not self.kernel.top else min(norm, float(np.abs(sums).max(initial=0.0)))

    def _columns(self, indices: Array, shift: float) -> Array:
        return self.values[:, indices] + (self.shift - shift)


class RecomputedGram(Gram):
    """No entry is kept: tiles are evaluated, used twice by symmetry and overwritten.

    `rough` is the same matrix with entries in float32 and sums in float64: a fixed small perturbation of K, on which a
    solver can work at half the price until it needs the true one. `on_pass` is told how much of a pass is done.
    """

    at_hand = False
    underflow = 1e-140  # squares of entries are summed up
    COARSE = 1e-7  # about what the rough entries do to a residual, relative to the largest eigenvalue

    def __init__(
        self,
        kernel: Kernel,
        X: Held,
        threads: int = 1,
        dtype: DTypeLike = np.float64,
        on_pass: OnPass = None,
    ) -> None:
        super().__init__(kernel, X, threads)
        self.entries, self.on_pass = np.dtype(dtype), on_pass
        self.coarse = 0.0 if self.entries == np.float64 else self.COARSE
        self._squares: float | None = None

    @cached_property
    def rough(self) -> "RecomputedGram":
        if self.coarse or sparse.issparse(self.X) or not self.kernel.has_single(self.shift):
            return self
        return self._in_single()

    def _in_single(self) -> "RecomputedGram":
        return RecomputedGram(self.kernel, self.X, self.threads, np.float32, self.on_pass)

    @cached_property
    def _tiles(self) -> Tiles:
        return self.kernel.prepare(self.X, shift=self.shift, dtype=self.entries)

    def shifted_matmat(self, B: Array) -> Array:
        product, self._squares = multiply_symmetric(self._tiles, B, self.threads, self.entries, self.on_pass)
        return product

    @property
    def shifted_chain(self) -> int:  # type: ignore[override]
        return strip_chain(self.n)

    def shifted_norm(self, weights: Array | None = None) -> float | None:
        """Summed up on the way of every product, without weights; None before the first."""
        return None if self._squares is None or weights is not None else float(np.sqrt(self._squares))

    def shifted_moduli(self, weights: Array | None = None, sums: Array | None = None) -> float | None:
        norm = self.shifted_norm()
        return norm if norm is None or weights is None else norm * float(weights.max())


def _choose_shift(kernel: Kernel, X: Held) -> float:
    """The largest value of the kernel if most of K is near it, else 0.

    Near the top, k = top − tiny: subtracting top before rounding keeps the digits that centring will leave over. Far
    from it (a narrow kernel: most of K is 0) the same subtraction would destroy them.
    """
    if not kernel.top:
        return 0.0
    n = X.shape[0]
    sample = X[np.linspace(0, n - 1, min(n, _SAMPLE)).astype(int)]
    return kernel.top if kernel.block(sample, sample).mean() > kernel.top / 2 else 0.0
