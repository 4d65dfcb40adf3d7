"""Kernels that are a function of a distance: ‖x − y‖, or Σ|xᵢ − yᵢ| for `Laplacian`."""

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist, pdist

from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import (
    ROUNDINGS,
    GammaMixin,
    Gradient,
    Kernel,
    PreparedKernel,
    check_positive,
    choose_shift,
    numbers_per_entry,
    raise_nonfinite_values,
)
from mercer.kernels.dot import SHORT_ROWS, as_dense, as_float, product_chain, row_products, squared_norms, times_rows
from mercer.numerics.blocking import slices
from mercer.numerics.products import matmul, row_squares
from mercer.numerics.rounding import UNIT
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable

MAX_HALF_NORM = 1e3  # largest scale·‖x − mean‖² for which the exponent comes from one matrix product
_STEEPEST = 0.4  # bound on x·|k'(x)|, for all profiles here
_FAR_AWAY = 1e10  # s from which e^−√s times any power of s is 0
_CACHED = 1 << 14  # entries of a tile whose intermediate results stay in the cache
_LARGEST_SCALED = 1e150  # of numbers whose squares are added up
_FIRST_ORDER = 1e-7  # error of an exponent up to which terms of second order are negligible
_UNDERFLOW = 1e-150  # error of e^−√s if s underflows


class EuclideanKernel(Kernel):
    """k(x, y) = profile(−scale·‖x − y‖²) with profile(0) = 1. A subclass writes `scale`, `profile` and `slope`.

    The profile is a completely monotone function of the squared distance, and nowhere steeper than itself.
    Given the exponent, it evaluates k to `ROUNDINGS` of k, and k − 1 to as many of min(1, √(scale·‖x − y‖²)).
    """

    psd = True
    max_value = 1.0
    decreasing = True
    smooth_at_zero = True  # rounding in a tiny squared distance is harmless
    exact_shift = False  # whether `profile` evaluates k − 1 to `ROUNDINGS` of itself
    inner_roundings = 0.0  # of a root or logarithm of the exponent, relative to it

    @property
    @abstractmethod
    def scale(self) -> float:
        """Factor of the squared distance, such that |dk/ds| ≤ k."""

    @abstractmethod
    def profile(self, s: NDArray, shift: float) -> None:
        """k − shift in place of s = −scale·‖x − y‖² ≤ 0."""

    @abstractmethod
    def slope(self, s: NDArray) -> None:
        """dk/ds in place of s = −scale·‖x − y‖² ≤ 0; 0 at a kink."""

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        return PreparedEuclidean(self, Y, shift)

    def entry_cost(self, data: Dataset) -> float:
        per_number = 0.04 if self.smooth_at_zero else 1.0
        return 1.0 + (per_number if data.nnz is None else 1.0) * numbers_per_entry(data)

    def vjp(self, Z: Any, X: Any) -> Gradient:
        """−2·scale·(dk/ds)·(z − x): from products of centered rows, or from differences where tiles are."""
        prepared: Any = self.prepare(X).against(Z)
        slope = np.empty(prepared.shape)
        prepared.exponents(slice(None), slice(None), slope)
        np.minimum(slope, 0.0, out=slope)
        self.slope(slope)
        slope *= -2 * self.scale
        Z, X = as_dense(Z), as_float(X)
        if prepared.by_differences:
            return lambda C: columnwise_gradient(C * slope, Z, X, np.subtract)
        if not prepared.is_sparse:
            Z, X = Z - prepared.center, X - prepared.center

        def gradient(C: NDArray) -> NDArray:
            weights = C * slope
            return Z * weights.sum(axis=1)[:, None] - times_rows(weights, X)

        return gradient


@storable
@dataclass(frozen=True)
class RBF(GammaMixin, EuclideanKernel):
    """Radial basis function (Gaussian) kernel, k(x, y) = exp(−γ‖x − y‖²).

    Parameters
    ----------
    gamma : float, "median" or None, default=None
        Factor γ. None is 1/n_features, "median" one over the median squared distance between rows.
    """

    gamma: float | str | None = None
    exact_shift = True

    @classmethod
    def from_length_scale(cls, length_scale: float) -> Self:
        """The kernel exp(−‖x − y‖²/(2ℓ²)) of length scale ℓ, with γ = 1/(2ℓ²)."""
        _check_length_scale(length_scale)
        return cls(gamma=1 / (2 * float(length_scale) ** 2))

    @property
    def scale(self) -> float:
        return self.gamma_value

    def profile(self, s: NDArray, shift: float) -> None:
        exp_minus(s, shift)

    def slope(self, s: NDArray) -> None:
        np.exp(s, out=s)


@storable
@dataclass(frozen=True)
class Matern(EuclideanKernel):
    """Matérn kernel of smoothness ν = 1/2, 3/2, 5/2 or ∞.

    With r = √(2ν)‖x − y‖/ℓ: exp(−r), (1 + r)exp(−r), (1 + r + r²/3)exp(−r), and exp(−‖x − y‖²/(2ℓ²)).

    Parameters
    ----------
    nu : {0.5, 1.5, 2.5, inf}, default=1.5
        Smoothness ν.
    length_scale : float, default=1.0
        Length scale ℓ.
    """

    nu: float = 1.5
    length_scale: float = 1.0
    inner_roundings = 4

    def __post_init__(self) -> None:
        if self.nu not in (0.5, 1.5, 2.5, np.inf):
            raise ParameterError("nu", self.nu, "0.5, 1.5, 2.5 or inf")
        _check_length_scale(self.length_scale)

    @property
    def scale(self) -> float:
        return float((0.5 if self.nu == np.inf else 2 * self.nu) / float(self.length_scale) ** 2)

    @property
    def smooth_at_zero(self) -> bool:  # type: ignore[override]
        return self.nu > 0.5

    @property
    def exact_shift(self) -> bool:  # type: ignore[override]
        return self.nu in (0.5, np.inf)

    def profile(self, s: NDArray, shift: float) -> None:
        if self.nu == np.inf:
            exp_minus(s, shift)
            return
        for piece in slices(len(s), max(1, _CACHED // max(1, s.shape[1]))):
            self._profile(s[piece], shift)

    def _profile(self, s: NDArray, shift: float) -> None:
        """For few entries. If ν > 1/2, k − 1 has the rounding errors of expm1(−r), a few units of r."""
        r = np.sqrt(np.minimum(-s, _FAR_AWAY))
        np.negative(r, out=s)
        if self.nu == 0.5:
            exp_minus(s, shift)
            return
        polynomial, decay = r if self.nu == 1.5 else r + r * r / 3, np.exp(s)
        if shift == 1.0:
            exp_minus(s, 1.0)
            s += polynomial * decay
        else:
            np.multiply(decay, 1 + polynomial, out=s)
            s -= shift

    def slope(self, s: NDArray) -> None:
        """ν = ½: e^−r/(2r), and 0 at r = 0; ν = 3/2: e^−r/2; ν = 5/2: (1 + r)e^−r/6."""
        if self.nu == np.inf:
            np.exp(s, out=s)
            return
        r = np.sqrt(np.minimum(-s, _FAR_AWAY))
        np.exp(-r, out=s)
        if self.nu == 0.5:
            np.divide(s, 2 * r, out=s, where=r > 0)
            s[r == 0] = 0.0
        else:
            s *= 0.5 if self.nu == 1.5 else (1 + r) / 6


@storable
@dataclass(frozen=True)
class RationalQuadratic(EuclideanKernel):
    """Rational quadratic kernel, k(x, y) = (1 + ‖x − y‖²/(2αℓ²))^−α: a mixture of RBF kernels of many widths.

    Parameters
    ----------
    alpha : float, default=1.0
        Exponent α between 1e-6 and 1e6. The smaller it is, the heavier the tails.
    length_scale : float, default=1.0
        Length scale ℓ.
    """

    alpha: float = 1.0
    length_scale: float = 1.0
    exact_shift = True
    inner_roundings = ROUNDINGS  # of a logarithm

    def __post_init__(self) -> None:
        check_positive("alpha", self.alpha)
        if not 1e-6 <= self.alpha <= 1e6:
            raise ParameterError("alpha", self.alpha, "between 1e-6 and 1e6; the limit of large alpha is RBF")
        _check_length_scale(self.length_scale)

    @property
    def scale(self) -> float:
        return float(0.5 / float(self.length_scale) ** 2)

    def profile(self, s: NDArray, shift: float) -> None:
        if s.size and s.min() == -np.inf:  # where k need not be 0
            raise DataError("Squared distances of these rows overflow. Scale the data down.")
        s /= -self.alpha
        np.log1p(s, out=s)
        s *= -self.alpha
        exp_minus(s, shift)

    def slope(self, s: NDArray) -> None:
        """(1 + x/α)^−(α + 1)."""
        s /= -self.alpha
        np.log1p(s, out=s)
        s *= -(self.alpha + 1)
        np.exp(s, out=s)


@storable
@dataclass(frozen=True)
class Laplacian(GammaMixin, Kernel):
    """Laplacian kernel, k(x, y) = exp(−γΣ|xᵢ − yᵢ|).

    Parameters
    ----------
    gamma : float, "median" or None, default=None
        Factor γ. None is 1/n_features, "median" one over the median Manhattan distance between rows.
    """

    psd = True
    max_value = 1.0
    decreasing = True
    gamma: float | str | None = None

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> PreparedKernel:
        return PreparedLaplacian(self, Y, Y, shift)

    def distances(self, rows: NDArray) -> NDArray:
        return pdist(rows, "cityblock")

    def entry_cost(self, data: Dataset) -> float:
        return 2.0 + numbers_per_entry(data)

    def vjp(self, Z: Any, X: Any) -> Gradient:
        """−γ·sign(z − x)·k."""
        weights = self(Z, X)
        weights *= -self.gamma_value
        return lambda C: columnwise_gradient(C * weights, Z, X, lambda z, x: np.sign(z - x))


# -------------------------------------------------------------------------------------- tiles


class PreparedDistance(PreparedKernel):
    """A kernel that falls with a distance from 1, as a convex function of an exponent x.

    A relative error γ of x changes k(x) by γ·x|k'(x)|: at most 0.4γ, and at most γ(1 − k) as k is convex.
    """

    exact_shift = True  # whether k − 1 is evaluated to a few roundings of itself

    @property
    def _keeps_digits(self) -> bool:
        return self.exact_shift and self.shift == 1.0

    @property
    def largest_shifted(self) -> float:
        """As 0 ≤ k ≤ 1."""
        return max(abs(self.shift), abs(1 - self.shift))

    def likely_error(self) -> float:
        return 0.0 if self._keeps_digits else 2 * UNIT * abs(self.shift)

    def entry_error(self) -> float:
        exponent = _STEEPEST * rounding_bound(self.n_roundings)
        return exponent + rounding_bound(ROUNDINGS) + (0.0 if self._keeps_digits else self._shift_error)

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        """Schur's test with |δk| ≤ γ(1 − k) where k − 1 is evaluated; then `row_sums` is −Σ(1 − k)w."""
        if not self._keeps_digits or row_sums is None:
            return self.entry_error() * float(weights.sum())
        return schur_bound(rounding_bound(self.n_roundings + ROUNDINGS) * np.abs(row_sums))


class PreparedLaplacian(PreparedDistance):
    """Σ|xᵢ − yᵢ| from differences."""

    kernel: Laplacian

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        X, Y = self.X[rows], self.Y[columns]
        if sparse.issparse(X) or sparse.issparse(Y):
            from sklearn.metrics.pairwise import manhattan_distances

            distances = manhattan_distances(_as_csr(X), _as_csr(Y))
        else:
            distances = cdist(X, Y, "cityblock")
        np.multiply(distances, -self.kernel.gamma_value, out=out)
        exp_minus(out, self.shift)

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        return self.Y.shape[1] + 4


class PreparedEuclidean(PreparedDistance):
    """The exponent from one matrix product, [z, −h, 1]·[w, 1, −h'] = −½‖z − w‖² with h = ½‖z‖².

    z = √(2·scale)·(x − mean): rows near their mean cancel least. If a row is farther than `MAX_HALF_NORM`, or
    the kernel has a kink at distance 0, the distances come from differences instead, which lose no digits and
    take longer. Sparse rows are neither centered nor subtracted: both would make them dense.
    """

    kernel: EuclideanKernel
    left: Any
    half_norms: NDArray  # h of the rows Y

    def __init__(self, kernel: EuclideanKernel, Y: Any, shift: float | None) -> None:
        self.kernel, self.is_sparse = kernel, sparse.issparse(Y)
        self.X = self.Y = _as_csr(Y) if self.is_sparse else Y
        self.shape = Y.shape[0], Y.shape[0]
        if not self.is_sparse:
            with np.errstate(over="ignore", invalid="ignore"):
                self.center = Y.mean(axis=0, dtype=np.float64)
        left, self._norms = self._move(self.Y)
        self.half_norms = kernel.scale * self._norms if self.is_sparse else self._norms
        self.exact_shift = kernel.exact_shift
        self._set_left(left, self._norms, float(self.half_norms.max(initial=0.0)))
        if not (self.is_sparse or self.by_differences):
            self.right = left.T.copy()
            self.right[[-2, -1]] = self.right[[-1, -2]]
        self.shift = choose_shift(self) if shift is None else shift

    def _move(self, X: Any) -> tuple[Any, NDArray]:
        """[z, −h, 1] and h, or ∞ for distances by differences; for sparse rows, these and ‖x‖²."""
        if self.is_sparse:
            return X, squared_norms(X)
        n, d = X.shape
        if not self.kernel.smooth_at_zero:
            return None, np.full(n, np.inf)
        left = np.empty((n, d + 2))
        Z = left[:, :d]
        with np.errstate(over="ignore", invalid="ignore"):
            np.subtract(X, self.center, out=Z)
            Z *= np.sqrt(2 * self.kernel.scale)
            half = 0.5 * row_squares(Z, SHORT_ROWS)
        left[:, -2], left[:, -1] = -half, 1.0
        return left, half

    def _set_left(self, left: Any, norms: NDArray, farthest_right: float) -> None:
        farthest = float(norms.max(initial=0.0)) * (self.kernel.scale if self.is_sparse else 1.0)
        self._left_norms, self._farthest = norms, (farthest, farthest_right)
        if self.is_sparse:
            raise_nonfinite_values(norms, self.kernel, np.arange(len(norms)), left)
        is_near = farthest <= MAX_HALF_NORM and farthest_right <= MAX_HALF_NORM  # h may be NaN
        self.by_differences = not (self.is_sparse or is_near)
        self.left = None if self.by_differences else left
        if self.by_differences:
            self._unit = self._common_unit()

    def _common_unit(self) -> float:
        """A power of two near √scale, or below if squares of rows would overflow: no small difference underflows."""
        largest = max(float(np.abs(rows).max(initial=0.0)) for rows in (self.X, self.Y))
        wanted = np.round(np.log2(self.kernel.scale) / 2)
        return float(2.0 ** min(wanted, np.floor(np.log2(_LARGEST_SCALED / largest))) if largest else 2.0**wanted)

    @property
    def nbytes(self) -> int:
        products = 0 if self.is_sparse or self.by_differences else self.left.nbytes + self.right.nbytes
        return int(products + self._norms.nbytes)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        self.exponents(rows, columns, out)
        if out.size and out.max() > 0:  # looking costs a third of clipping
            np.minimum(out, 0.0, out=out)
        self.kernel.profile(out, self.shift)

    def exponents(self, rows: slice, columns: slice, out: NDArray) -> None:
        """−scale·‖x − y‖², which may exceed 0 by rounding."""
        if self.is_sparse:
            row_products(self.left[rows], self.Y[columns], out)
            out *= 2
            out -= self._left_norms[rows, None]
            out -= self._norms[columns]
            out *= self.kernel.scale
        elif not self.by_differences:
            matmul(self.left[rows], self.right[:, columns], out, SHORT_ROWS)
        else:
            X, Y = (np.multiply(part, self._unit, dtype=np.float64) for part in (self.X[rows], self.Y[columns]))
            with np.errstate(over="ignore"):
                factor = min(self.kernel.scale / self._unit / self._unit, float(np.finfo(float).max))
                np.multiply(cdist(X, Y, "sqeuclidean"), -factor, out=out)

    def against(self, X: Any) -> "PreparedEuclidean":
        other = copy(self)
        other.__dict__.pop("_left_diag", None)  # cached
        other.X = _as_csr(X) if self.is_sparse else as_dense(X, None)
        other.shape = X.shape[0], self.shape[1]
        other._set_left(*self._move(other.X), self._farthest[1])
        return other

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        """Of the exponent: by differences relative to itself, else c with |δs| ≤ γ_c(h + h').

        Products and lengths add 3(d + 3) roundings of h + h'; z and w are known to 3 roundings, which makes 12;
        the scale is known to 2, which makes 4.
        """
        if self.by_differences:
            return self.Y.shape[1] + 8 + self.kernel.inner_roundings
        chain = max(product_chain(self.left), product_chain(self.Y)) if self.is_sparse else product_chain(self.left)
        return 3 * (chain + 1) + 24 + 2 * self.kernel.inner_roundings

    def likely_error(self) -> float:
        exponent = 0.0 if self.by_differences else 4 * self._farthest[1] / np.sqrt(max(self.shape[1], 1))
        size = 0.0 if self._keeps_digits else min(abs(self.shift), self._largest_root)
        return float(2 * UNIT * (exponent + size))

    @property
    def _largest_root(self) -> float:
        """Bound on √(scale·‖x − y‖²), as ½‖z − w‖² ≤ 2(h + h')."""
        return float(np.sqrt(2 * sum(self._farthest)))

    @property
    def largest_shifted(self) -> float:
        """Also, 1 − k ≤ scale·‖x − y‖²."""
        return min(super().largest_shifted, self._largest_root**2) if self.shift == 1.0 else super().largest_shifted

    @property
    def _profile_error(self) -> float:
        """Bound on the error of k − shift for a given exponent."""
        if self.shift != 1.0:
            return rounding_bound(ROUNDINGS) + rounding_bound(1) * abs(self.shift)
        size = self._largest_root**2 if self.exact_shift else self._largest_root  # 1 − k ≤ s
        return rounding_bound(ROUNDINGS + 4) * min(1.0, size)

    def entry_error(self) -> float:
        """At a kink of sparse rows, |e^−√s − e^−√t| ≤ √|s − t|."""
        if self.by_differences:
            return super().entry_error() + _UNDERFLOW
        exponent = rounding_bound(self.n_roundings) * sum(self._farthest)
        at_kink = 0.0 if self.kernel.smooth_at_zero else float(np.sqrt(exponent)) + _UNDERFLOW
        return max(exponent, at_kink) + self._profile_error

    def error_columns(self, weights: NDArray) -> NDArray | None:
        return None if self.by_differences else (weights * self.half_norms)[:, None]

    def matrix_error(self, weights: NDArray, row_sums: NDArray | None = None, products: NDArray | None = None) -> float:
        """Schur's test: |δk| ≤ γ_c(h + h')k from the exponent, and γ|k − shift| from most profiles."""
        total, exponent = float(weights.sum()), rounding_bound(self.n_roundings)
        if self.by_differences:
            return super().matrix_error(weights, row_sums) + _UNDERFLOW * total
        if not self.kernel.smooth_at_zero or exponent * sum(self._farthest) > _FIRST_ORDER:
            return self.entry_error() * total
        weighted = weights * self.half_norms
        if row_sums is None or products is None:  # k ≤ 1
            moments = self._farthest[1] * total + float(weighted.sum())
            return exponent * moments + self._profile_error * total
        sums, moments = row_sums + self.shift * total, products[:, 0] + self.shift * weighted.sum()
        bound = exponent * (self.half_norms * sums + moments)
        if self.shift == 0.0 or self._keeps_digits:
            return schur_bound(bound + rounding_bound(ROUNDINGS) * np.abs(row_sums))
        return schur_bound(bound) + self._profile_error * total


def schur_bound(row_bounds: NDArray) -> float:
    """Largest row sum; a bit more, as sums and bounds are rounded, and second-order terms are left out."""
    return float(row_bounds.max(initial=0.0)) * (1 + 1e-6)


def exp_minus(s: NDArray, shift: float) -> None:
    """e^s − shift in place, without cancellation for shift = 1."""
    if shift != 1.0:
        np.exp(s, out=s)
        if shift:
            s -= shift
    else:
        np.expm1(s, out=s)


def columnwise_gradient(weights: NDArray, Z: Any, X: Any, slope: Any) -> NDArray:
    """Σᵢ weights[q, i]·slope(z_qj, x_ij) column by column: slower than a product, and nothing cancels."""
    out = np.empty(Z.shape)
    for j in range(Z.shape[1]):
        z, x = as_dense(Z[:, [j]]), as_dense(X[:, [j]])[:, 0]
        out[:, j] = np.einsum("ij,ij->i", weights, slope(z, x))
    return out


def _as_csr(X: Any) -> Any:
    return sparse.csr_array(X, dtype=np.float64)


def _check_length_scale(length_scale: Any) -> None:
    check_positive("length_scale", length_scale)
    if not 1e-150 < float(length_scale) < 1e150:
        raise ParameterError("length_scale", length_scale, "between 1e-150 and 1e150")
