"""Kernels that are a function of the scalar product xᵀy."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.data.dataset import Dataset
from mercer.errors import ParameterError
from mercer.kernels.base import ROUNDINGS, GammaMixin, Kernel, PreparedKernel, check_positive
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable

_MOST_DEGREE = 1000


class DotKernel(Kernel):
    """k(x, y) = profile(xᵀy). A subclass writes `profile`, which works in place, and `magnitude`."""

    power = 1.0  # by which `profile` multiplies relative errors of its argument

    def profile(self, s: NDArray) -> None:
        """k in place of s = xᵀy."""

    def magnitude(self, squares: NDArray) -> NDArray:
        """m(‖x‖²) with |k(x, y)| ≤ √(m(‖x‖²)·m(‖y‖²)), before anything cancels."""
        return squares

    def prepare(self, Y: Any, *, shift: float | None = 0.0, dtype: Any = np.float64) -> PreparedKernel:
        Y = np.asarray(Y, dtype=np.float64)  # float64 always: a power or a large mean may use up the digits of float32
        return PreparedDot(self, Y, Y, shift or 0.0)

    def diag(self, X: Any) -> NDArray:
        squares = _row_squares(np.asarray(X, dtype=np.float64))
        self.profile(squares)
        return squares

    def entry_cost(self, data: Dataset) -> float:
        return 0.5 + 0.04 * data.shape[1]


class PreparedDot(PreparedKernel):
    """One matrix product for each tile, then the profile in place."""

    kernel: DotKernel

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        np.matmul(self.X[rows], self.Y[columns].T, out=out)
        self.kernel.profile(out)
        if self.shift:
            out -= self.shift

    def against(self, X: Any) -> "PreparedDot":
        return PreparedDot(self.kernel, np.asarray(X, dtype=np.float64), self.Y, self.shift)

    @cached_property
    def magnitudes(self) -> NDArray:
        return self.kernel.magnitude(_row_squares(self.Y))

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        return self.kernel.power * (self.Y.shape[1] + 3) + ROUNDINGS


@storable
@dataclass(frozen=True)
class Linear(DotKernel):
    """xᵀy: kernel PCA is PCA."""

    psd = True


@storable
@dataclass(frozen=True)
class Polynomial(GammaMixin, DotKernel):
    """(γxᵀy + coef0)^degree. ``gamma=None`` is 1/n_features."""

    degree: float = 3
    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("degree", self.degree, zero=True)
        if self.degree > _MOST_DEGREE:
            raise ParameterError("degree", self.degree, f"at most {_MOST_DEGREE:,}")
        if not isinstance(self.coef0, Real) or not abs(self.coef0) < float("inf"):
            raise ParameterError("coef0", self.coef0, "a finite number")

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self.degree == int(self.degree) and self.coef0 >= 0

    @property
    def power(self) -> float:  # type: ignore[override]
        return max(1.0, float(self.degree))

    def profile(self, s: NDArray) -> None:
        s *= self.gamma_value
        s += self.coef0
        _raise_to(s, self.degree)

    def magnitude(self, squares: NDArray) -> NDArray:
        return np.power(self.gamma_value * squares + abs(self.coef0), self.degree)

    def prepare(self, Y: Any, *, shift: float | None = 0.0, dtype: Any = np.float64) -> PreparedKernel:
        prepared = super().prepare(Y, shift=shift, dtype=dtype)
        return _PreparedRoot(self, prepared.X, prepared.Y, prepared.shift) if 0 < self.degree < 1 else prepared


class _PreparedRoot(PreparedDot):
    """A power p below one is infinitely steep at zero, but |s^p − t^p| ≤ |s − t|^p."""

    kernel: Polynomial

    def entry_error(self) -> float:
        relative = rounding_bound(self.Y.shape[1] + 4) ** self.kernel.degree + rounding_bound(ROUNDINGS)
        return relative * float(self.magnitudes.max(initial=0.0)) + self._shift_error

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        return self.entry_error() * float(weights.sum())


def _raise_to(values: NDArray, power: float) -> None:
    """values^power in place: integer powers by squaring, which is many times faster."""
    if power != int(power) or power == 0:
        np.power(values, power, out=values)
        return
    base = values.copy()
    for bit in f"{int(power):b}"[1:]:
        values *= values
        if bit == "1":
            values *= base


def _row_squares(X: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", X, X)
