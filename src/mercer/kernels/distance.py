"""Kernels that are a function of ‖x − y‖²."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import ROUNDINGS, GammaMixin, Kernel, PreparedKernel, check_positive, choose_shift
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable

MAX_HALF_NORM = 1e3  # largest scale·‖x − mean‖² for which the exponent comes from one matrix product
_MAX_HALF_NORM_SINGLE = 10.0  # the same for products in float32
_STEEPEST = 0.4  # of x·|k'(x)|, for all profiles here


class EuclideanKernel(Kernel):
    """k(x, y) = profile(−scale·‖x − y‖²) with profile(0) = 1. A subclass writes `scale` and `profile`."""

    psd = True
    max_value = 1.0
    decreasing = True
    smooth_at_zero = True  # rounding in a tiny squared distance is harmless
    exact_shift = False  # whether `profile` evaluates k − 1 without cancellation
    n_roundings = ROUNDINGS  # of `profile`

    @property
    @abstractmethod
    def scale(self) -> float:
        """Factor of the squared distance, such that no profile is steeper than 1."""

    @abstractmethod
    def profile(self, s: NDArray, shift: float) -> None:
        """k − shift in place of s = −scale·‖x − y‖², which may exceed 0 by rounding."""

    def prepare(self, Y: Any, *, shift: float | None = 0.0, dtype: Any = np.float64) -> PreparedKernel:
        return PreparedEuclidean(self, Y, shift, dtype)

    def diag(self, X: Any) -> NDArray:
        return np.ones(X.shape[0])

    def entry_cost(self, data: Dataset) -> float:
        return 1.0 + (0.04 if self.smooth_at_zero else 1.0) * data.shape[1]


@storable
@dataclass(frozen=True)
class RBF(GammaMixin, EuclideanKernel):
    """exp(−γ‖x − y‖²). ``gamma=None`` is 1/n_features; "median" is one over the median squared distance."""

    gamma: float | str | None = None
    exact_shift = True

    @classmethod
    def from_length_scale(cls, length_scale: float) -> Self:
        """exp(−‖x − y‖²/(2ℓ²)): γ = 1/(2ℓ²)."""
        check_positive("length_scale", length_scale)
        return cls(gamma=1 / (2 * length_scale**2))

    @property
    def scale(self) -> float:
        return self.gamma_value

    def profile(self, s: NDArray, shift: float) -> None:
        exp_minus(s, shift)


@storable
@dataclass(frozen=True)
class Matern(EuclideanKernel):
    """Matérn kernel of smoothness ν = 1/2, 3/2 or 5/2, with r = √(2ν)‖x − y‖/ℓ.

    e^−r, (1 + r)e^−r and (1 + r + r²/3)e^−r.
    """

    nu: float = 1.5
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("length_scale", self.length_scale)
        if self.nu not in (0.5, 1.5, 2.5):
            raise ParameterError("nu", self.nu, "0.5, 1.5 or 2.5; the limit of large nu is RBF")

    @property
    def scale(self) -> float:
        return 2 * self.nu / self.length_scale**2

    @property
    def smooth_at_zero(self) -> bool:  # type: ignore[override]
        return self.nu > 0.5

    def profile(self, s: NDArray, shift: float) -> None:
        r = np.sqrt(-np.minimum(s, 0.0))
        np.exp(-r, out=s)
        if self.nu == 1.5:
            s *= 1 + r
        elif self.nu == 2.5:
            s *= 1 + r + r * r / 3
        if shift:
            s -= shift


def exp_minus(s: NDArray, shift: float) -> None:
    """e^s − shift in place, without cancellation for shift = 1."""
    if shift != 1.0:
        np.exp(s, out=s)
        if shift:
            s -= shift
    elif s.dtype == np.float32:  # numpy's expm1 is four times slower: 2t/(1 − t) with t = tanh(s/2)
        np.tanh(s / 2, out=s)
        np.divide(2 * s, 1 - s, out=s)
    else:
        np.expm1(s, out=s)


class PreparedEuclidean(PreparedKernel):
    """The exponent from one matrix product, [z, −h, 1]·[w, 1, −h'] = −½‖z − w‖² with h = ½‖z‖².

    z = √(2·scale)·(x − mean): rows near their mean cancel least. If a row is farther than `MAX_HALF_NORM`, or
    the kernel has a kink at distance 0, the distances come from differences instead, which lose nothing and
    take longer.
    """

    kernel: EuclideanKernel

    def __init__(self, kernel: EuclideanKernel, Y: NDArray, shift: float | None, dtype: Any = np.float64) -> None:
        self.kernel, self.X, self.Y = kernel, Y, Y
        self.shape = len(Y), len(Y)
        self.center = Y.mean(axis=0, dtype=np.float64)
        self.left, self.half_norms = self._move(Y)
        self._farthest = float(self.half_norms.max(initial=0.0))
        self.by_differences = not kernel.smooth_at_zero or self._farthest > MAX_HALF_NORM
        if self._farthest <= _MAX_HALF_NORM_SINGLE and not self.by_differences:
            self.dtype = np.dtype(dtype)
        self.right = np.empty((self.left.shape[1], len(Y)), dtype=self.dtype)
        self.right[:-2], self.right[-2], self.right[-1] = self.left[:, :-2].T, 1.0, -self.half_norms
        self.left = self.left.astype(self.dtype, copy=False)
        self.shift = choose_shift(self) if shift is None else shift

    def _move(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """[z, −h, 1] and h."""
        n, d = X.shape
        left = np.empty((n, d + 2))
        Z = left[:, :d]
        np.subtract(X, self.center, out=Z)
        Z *= np.sqrt(2 * self.kernel.scale)
        half = 0.5 * np.einsum("ij,ij->i", Z, Z)
        if not np.isfinite(half.sum()):
            raise DataError("gamma times the squared distances of these rows overflows. Scale the data down.")
        left[:, -2], left[:, -1] = -half, 1.0
        return left, half

    @property
    def nbytes(self) -> int:
        return self.left.nbytes + self.right.nbytes + self.half_norms.nbytes

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        if self.by_differences:
            self._fill_by_differences(self.X[rows], self.Y[columns], out)
        else:
            np.matmul(self.left[rows], self.right[:, columns], out=out)
        self.kernel.profile(out, self.shift)

    def _fill_by_differences(self, X: NDArray, Y: NDArray, out: NDArray) -> None:
        """−scale·‖x − y‖²; rows are scaled by a power of two, so that no square over- or underflows."""
        from scipy.spatial.distance import cdist

        unit = 2.0 ** np.round(np.log2(np.sqrt(self.kernel.scale)))
        squares = cdist(unit * X, unit * Y, "sqeuclidean")
        np.multiply(squares, -self.kernel.scale / unit / unit, out=out)

    def against(self, X: NDArray) -> "PreparedEuclidean":
        other = object.__new__(PreparedEuclidean)
        other.__dict__.update(self.__dict__)
        other.X, other.shape = X, (len(X), self.shape[1])
        other.left, half = self._move(X)
        other.left = other.left.astype(self.dtype, copy=False)
        other.by_differences = self.by_differences or float(half.max(initial=0.0)) > MAX_HALF_NORM
        return other

    @cached_property
    def diag(self) -> NDArray:
        return np.full(self.shape[1], 1.0 - self.shift)

    @property
    def n_roundings(self) -> int:  # type: ignore[override]
        """c with |δs| ≤ γ_c(h + h'): the moduli of the product are up to 2(h + h')."""
        return 3 * (self.left.shape[1] + 1) + 24

    def likely_error(self) -> float:
        exponent = 0.0 if self.by_differences else 4 * self._farthest / np.sqrt(max(self.shape[1], 1))
        after = 0.0 if self.kernel.exact_shift else abs(self.shift)
        return float(np.finfo(float).eps * (exponent + after))

    def entry_error(self) -> float:
        profile = rounding_bound(self.kernel.n_roundings) + self._shift_error
        if self.by_differences:
            return _STEEPEST * rounding_bound(self.Y.shape[1] + 8) + profile
        return rounding_bound(self.n_roundings) * 2 * self._farthest + profile

    def error_columns(self, weights: NDArray) -> NDArray | None:
        return None if self.by_differences else (weights * self.half_norms)[:, None]

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        """Schur's test, as no entry of k is negative: |δk| ≤ γ_c(h + h')k + γ_p·k, or γ_p·(1 − k) where that
        is evaluated.

        By differences the exponent s is off by γ of itself, and |s·k'(s)| ≤ 0.4.
        """
        total, shift_error = float(weights.sum()), self._shift_error * float(weights.sum())
        profile = rounding_bound(self.kernel.n_roundings)
        if self.by_differences or row_sums is None or products is None:
            return self.entry_error() * total
        weighted = weights * self.half_norms
        sums, moments = row_sums + self.shift * total, products[:, 0] + self.shift * weighted.sum()
        exponent = rounding_bound(self.n_roundings) * (self.half_norms * sums + moments)
        relative = np.abs(row_sums) if self._evaluates_difference else sums
        return float((exponent + profile * relative).max(initial=0.0)) * (1 + 1e-10) + shift_error

    @property
    def _evaluates_difference(self) -> bool:
        return self.kernel.exact_shift and self.shift == 1.0

    @property
    def _shift_error(self) -> float:
        return 0.0 if self.kernel.exact_shift else rounding_bound(1) * abs(self.shift)
