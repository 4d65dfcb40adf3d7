"""Kernels that are a function of a distance between x and y."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.errors import BadData, in_short
from mercer_old.kernels.bandwidth import ByGamma
from mercer_old.kernels.base import ROUNDINGS, Held, Products, n_rows, require_positive, summed
from mercer_old.kernels.dot import as_float
from mercer_old.kernels.euclidean import EuclideanKernel
from mercer_old.kernels.slopes import ByColumns, Slopes
from mercer_old.rounding import gamma


@dataclass(frozen=True)
class RBF(ByGamma, EuclideanKernel):
    """k(x, y) = exp(−γ‖x − y‖²). γ = None is 1/d; "median" is one over the median squared distance of the data."""

    gamma: float | str | None = None
    exact_shift: ClassVar[bool] = True  # by expm1

    @classmethod
    def from_length_scale(cls, length_scale: float) -> "RBF":
        """exp(−‖x − y‖²/(2ℓ²)): γ = 1/(2ℓ²)."""
        require_positive(length_scale, "length_scale")
        require_positive(length_scale**2, "the square of length_scale")
        return cls(gamma=1 / (2 * length_scale**2))

    @property
    def scale(self) -> float:
        return self.known_gamma

    def shape(self, minus_squares: Array, shift: float = 0.0) -> None:
        if shift == 1.0 and minus_squares.dtype == np.float32:  # numpy's own expm1 is four times slower
            np.tanh(minus_squares / 2, out=minus_squares)
            np.divide(2 * minus_squares, 1 - minus_squares, out=minus_squares)
            return
        _exponential(minus_squares, shift)

    def steepness(self, minus_squares: Array, shift: float = 0.0) -> None:
        np.exp(minus_squares, out=minus_squares)


@dataclass(frozen=True)
class Matern(EuclideanKernel):
    """Matérn kernel of smoothness ν ∈ {½, 3/2, 5/2}; r = √(2ν)‖x − y‖/ℓ.

    ν = ½: e^−r · ν = 3/2: (1 + r)e^−r · ν = 5/2: (1 + r + r²/3)e^−r
    """

    nu: float = 1.5
    length_scale: float = 1.0

    def __post_init__(self) -> None:
        _require_length(self.length_scale)
        if not isinstance(self.nu, Real) or self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(f"nu must be 0.5, 1.5 or 2.5; got {in_short(self.nu)}. (For nu → ∞ take RBF.)")

    @property
    def scale(self) -> float:
        return 2 * self.nu / self.length_scale**2

    @property
    def smooth(self) -> bool:
        return self.nu > 0.5

    def shape(self, minus_squares: Array, shift: float = 0.0) -> None:
        r = np.sqrt(-minus_squares)
        np.exp(-r, out=minus_squares)
        if self.nu == 1.5:
            minus_squares *= 1 + r
        elif self.nu == 2.5:
            minus_squares *= 1 + r + r * r / 3
        if shift:
            minus_squares -= shift

    def steepness(self, minus_squares: Array, shift: float = 0.0) -> None:
        """ν = ½: e^−r/(2r), and 0 at r = 0 · ν = 3/2: e^−r/2 · ν = 5/2: (1 + r)e^−r/6."""
        r = np.sqrt(-minus_squares)
        np.exp(-r, out=minus_squares)
        if self.nu == 0.5:
            minus_squares[r == 0] = 0.0
            np.divide(minus_squares, 2 * r, out=minus_squares, where=r > 0)
        else:
            minus_squares *= 0.5 if self.nu == 1.5 else (1 + r) / 6


@dataclass(frozen=True)
class RationalQuadratic(EuclideanKernel):
    """k(x, y) = (1 + ‖x − y‖²/(2αℓ²))^−α, as scikit-learn's of Gaussian processes: RBF kernels of many widths, mixed.

    α → ∞ is RBF with γ = 1/(2ℓ²); the smaller α, the farther rows still see each other.
    """

    alpha: float = 1.0
    length_scale: float = 1.0
    exact_shift: ClassVar[bool] = True  # by expm1
    shape_roundings: ClassVar[int] = 2 * ROUNDINGS  # a logarithm, and expm1 of it

    # psd: (1 + x/α)^−α is the mean of e^−xg over g with a gamma distribution.

    def __post_init__(self) -> None:
        require_positive(self.alpha, "alpha")
        _require_length(self.length_scale)
        if not 1e-6 <= self.alpha <= 1e6:
            raise ValueError(
                f"alpha must lie between 1e-6 and 1e6; got {in_short(self.alpha)}. (Beyond the one all rows look the "
                "same; for alpha → ∞ take RBF.)"
            )

    @property
    def scale(self) -> float:
        """So that k = (1 + x/α)^−α is nowhere steeper than 1 in the exponent x."""
        return 0.5 / self.length_scale**2

    def shape(self, minus_squares: Array, shift: float = 0.0) -> None:
        minus_squares /= -self.alpha
        np.log1p(minus_squares, out=minus_squares)
        minus_squares *= -self.alpha
        _exponential(minus_squares, shift)

    def steepness(self, minus_squares: Array, shift: float = 0.0) -> None:
        """(1 + x/α)^−(α + 1)."""
        minus_squares /= -self.alpha
        np.log1p(minus_squares, out=minus_squares)
        minus_squares *= -(self.alpha + 1)
        np.exp(minus_squares, out=minus_squares)

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """k = e^−L, and the logarithm L is off by a few roundings of itself: in k by Le^−L ≤ 0.37 of as many.

        Where k − 1 is evaluated that is less than as many of k − 1, as Le^−L ≤ 1 − e^−L.
        """
        logarithm = 0.0 if shift == self.top else 0.4 * gamma(ROUNDINGS) * summed(np.ones(n_rows(X)), weights)
        return super().rounding(X, weights, shift, times) + logarithm


@dataclass(frozen=True)
class Laplacian(ByGamma):
    """k(x, y) = exp(−γ Σᵢ|xᵢ − yᵢ|), with the L1 distance as in scikit-learn. Dense rows only.

    γ = None is 1/d; "median" is one over the median L1 distance of the data.
    """

    gamma: float | str | None = None
    top: ClassVar[float] = 1.0
    psd = True
    by_distance = True

    def block(self, X: Held, Y: Held) -> Array:
        if sparse.issparse(X) or sparse.issparse(Y):
            raise BadData("The Laplacian kernel takes dense rows only: give X.toarray().")
        tile = scipy.spatial.distance.cdist(as_float(X), as_float(Y), metric="cityblock")
        tile *= -self.known_gamma
        return np.exp(tile, out=tile)

    def diag(self, X: Held) -> Array:
        return np.ones(n_rows(X))

    differentiable = True

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """−γ·sign(z − x)·k."""
        weights = self.block(Z, X)
        weights *= -self.known_gamma
        return ByColumns(as_float(Z), as_float(X), weights, lambda z, x: np.sign(z - x))

    def diag_pull(self, Z: Held) -> Array:
        return np.zeros(Z.shape)

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        """Differences, so the exponent x is off by γ of itself, and xe^−x ≤ 0.37."""
        return self.entry_rounding(X, X) * summed(np.ones(n_rows(X)), weights)

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        return 0.4 * gamma(X.shape[1] + 4) + gamma(ROUNDINGS)

    def distances(self, rows: Array) -> Array:
        return scipy.spatial.distance.pdist(rows, metric="cityblock")


def _exponential(exponents: Array, shift: float) -> None:
    """e^x − shift in their place; without cancellation where that is e^x − 1."""
    if shift == 1.0:
        np.expm1(exponents, out=exponents)
        return
    np.exp(exponents, out=exponents)
    if shift:
        exponents -= shift


def _require_length(length_scale: float) -> None:
    require_positive(length_scale, "length_scale")
    if not 1e-150 < length_scale < 1e150:
        raise ValueError(f"length_scale must lie between 1e-150 and 1e150; got {in_short(length_scale)}.")
