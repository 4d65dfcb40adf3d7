"""Kernels that are a function of the scalar product xᵀy, and products of dense and sparse rows."""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mercer.data.dataset import Dataset
from mercer.errors import DataError, ParameterError
from mercer.kernels.base import (
    ROUNDINGS,
    FeatureMap,
    FormulaMap,
    GammaMixin,
    Gradient,
    Kernel,
    PreparedKernel,
    check_finite,
    check_positive,
    numbers_per_entry,
    raise_nonfinite_values,
)
from mercer.numerics.blocking import slices
from mercer.numerics.products import matmul, row_squares
from mercer.numerics.rounding import chain
from mercer.numerics.rounding import gamma as rounding_bound
from mercer.storable import storable

SHORT_ROWS = 512  # numbers of a row that are multiplied at once
_MOST_DEGREE = 1000
_MOST_MOVED_DEGREE = 10  # for which a kernel of differences is evaluated
_MOST_FEATURES = 100_000
_SPARSE = 0.05  # density up to which sparse products are faster than those of dense rows
_FAR = 1e3  # squared distance of the mean from zero, against that of rows from the mean
_SAMPLE = 1000
_TILE, _TILE_ENTRIES = 512, 1 << 22  # rows, and entries, that are made dense at once


class DotKernel(Kernel):
    """k(x, y) = profile(xᵀy). A subclass writes `profile` and `slope`, which work in place, and `magnitude`."""

    power = 1.0  # by which `profile` multiplies relative errors of its argument

    def rows(self, X: Any) -> Any:
        """Rows whose scalar products the profile takes, float64."""
        return as_float(X)

    def row_roundings(self, X: Any) -> float:
        """Roundings behind `rows`."""
        return 0.0

    def profile(self, s: NDArray) -> None:
        """k in place of s = xᵀy."""

    def slope(self, s: NDArray) -> None:
        """dk/ds in place of s = xᵀy."""
        s[...] = 1.0

    def magnitude(self, squares: NDArray) -> NDArray:
        """m(‖x‖²) with |k(x, y)| ≤ √(m(‖x‖²)·m(‖y‖²)), before anything cancels."""
        return squares

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> "PreparedDot":
        rows = self.rows(Y)
        return PreparedDot(self, rows, rows, shift or 0.0)

    def diag(self, X: Any) -> NDArray:
        squares = squared_norms(self.rows(X))
        self.profile(squares)
        return squares

    def entry_cost(self, data: Dataset) -> float:
        return 0.5 + (0.04 if data.nnz is None else 1.0) * numbers_per_entry(data)

    def vjp(self, Z: Any, X: Any) -> Gradient | None:
        """dk/ds·x."""
        Z, X = as_float(Z), as_float(X)
        slope = row_products(Z, X)
        self.slope(slope)
        return lambda C: times_rows(C * slope, X)

    def diag_gradient(self, Z: Any) -> NDArray:
        """dk/ds·2z at s = ‖z‖²."""
        slope = squared_norms(Z)
        self.slope(slope)
        return 2 * slope[:, None] * as_dense(Z)


class PreparedDot(PreparedKernel):
    """One matrix product for each tile, then the profile in place."""

    kernel: DotKernel

    def __init__(self, kernel: DotKernel, X: Any, Y: Any, shift: float) -> None:
        super().__init__(kernel, X, Y, shift)
        raise_nonfinite_values(self.left_magnitudes, kernel, np.arange(self.shape[0]), X)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        row_products(self.X[rows], self.Y[columns], out)
        self.kernel.profile(out)
        if self.shift:
            out -= self.shift

    def against(self, X: Any) -> "PreparedDot":
        return PreparedDot(self.kernel, self.kernel.rows(X), self.Y, self.shift)

    @cached_property
    def diag(self) -> NDArray:
        squares = squared_norms(self.Y)
        self.kernel.profile(squares)
        return squares - self.shift

    @cached_property
    def magnitudes(self) -> NDArray:
        return self.kernel.magnitude(squared_norms(self.Y))

    @cached_property
    def left_magnitudes(self) -> NDArray:
        return self.magnitudes if self.X is self.Y else self.kernel.magnitude(squared_norms(self.X))

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        """Roundings of the product and of both rows, times the power of the profile."""
        return self.kernel.power * self._argument_roundings + ROUNDINGS

    @property
    def _argument_roundings(self) -> float:
        return max(product_chain(rows) + 2 * self.kernel.row_roundings(rows) for rows in (self.X, self.Y)) + 3

    @property
    def relative_error(self) -> float:
        """A power p below one is infinitely steep at zero, but |s^p − t^p| ≤ |s − t|^p."""
        power = self.kernel.power
        if power >= 1:
            return rounding_bound(self.n_roundings)
        return rounding_bound(self._argument_roundings) ** power + rounding_bound(ROUNDINGS)


@storable
@dataclass(frozen=True)
class Linear(DotKernel):
    """Linear kernel, k(x, y) = xᵀy: kernel PCA with it is PCA."""

    psd = True

    def feature_map(self, samples: Any) -> FeatureMap:
        return FormulaMap(as_float, samples.shape[1], 0.0, identity=True, sparse=sparse.issparse(samples))

    def with_origin(self, origin: NDArray) -> Kernel:
        from mercer.kernels.origin import MovedRows

        return MovedRows(self, np.asarray(origin, dtype=np.float64))

    def vjp(self, Z: Any, X: Any) -> Gradient:
        shape, X = Z.shape, as_float(X)
        return lambda C: np.broadcast_to(times_rows(np.atleast_2d(C), X), shape).copy()


@storable
@dataclass(frozen=True)
class Cosine(DotKernel):
    """Cosine similarity, k(x, y) = xᵀy/(‖x‖‖y‖), and 0 if a row is zero."""

    psd = True

    def rows(self, X: Any) -> Any:
        """x/‖x‖, by a power of two first, which is exact: no square over- or underflows."""
        X = as_float(X)
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            counts = np.diff(X.indptr)
            exponents = np.frexp(row_peaks(X))[1]
            X = sparse.csr_array((np.ldexp(X.data, np.repeat(-exponents, counts)), X.indices, X.indptr), X.shape)
            return sparse.csr_array(sparse.diags_array(inverse(np.sqrt(squared_norms(X)))) @ X)
        X = np.ldexp(X, -np.frexp(row_peaks(X))[1][:, None])
        X *= inverse(np.sqrt(squared_norms(X)))[:, None]
        return X

    def row_roundings(self, X: Any) -> float:
        """Roundings of a length: half of those of its square, a root and two divisions."""
        return product_chain(X) / 2 + 6

    def feature_map(self, samples: Any) -> FeatureMap:
        roundings = self.row_roundings(samples)
        return FormulaMap(self.rows, samples.shape[1], roundings, sparse=sparse.issparse(samples))

    def with_origin(self, origin: NDArray) -> Kernel:
        from mercer.kernels.origin import MovedRows

        origin = np.asarray(origin, dtype=np.float64)
        return MovedRows(self, origin) if origin.any() else self

    def vjp(self, Z: Any, X: Any) -> Gradient:
        """(x̂ − k·ẑ)/‖z‖ with directions x̂ and ẑ; 0 of a row z of zeros, where k jumps."""
        x, z = self.rows(X), as_dense(self.rows(Z))
        per_length = inverse(np.einsum("ij,ij->i", z, as_dense(Z)))[:, None]  # ẑᵀz = ‖z‖, without a square
        K = row_products(z, x)

        def gradient(C: NDArray) -> NDArray:
            C = np.broadcast_to(C, K.shape)
            return per_length * (times_rows(C, x) - z * np.einsum("ij,ij->i", C, K)[:, None])

        return gradient

    def diag_gradient(self, Z: Any) -> NDArray:
        return np.zeros(Z.shape)


@storable
@dataclass(frozen=True)
class Polynomial(GammaMixin, DotKernel):
    """Polynomial kernel, k(x, y) = (γxᵀy + coef0)^degree.

    Parameters
    ----------
    degree : float, default=3
        Degree; for an integer and ``coef0 >= 0``, kernel matrices are positive semi-definite.
    gamma : float, "median" or None, default=None
        Factor γ. None is 1/n_features, "median" one over the median squared distance between rows.
    coef0 : float, default=1.0
        Weight of lower-degree terms.
    """

    degree: float = 3
    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("degree", self.degree, zero=True)
        if self.degree > _MOST_DEGREE:
            raise ParameterError("degree", self.degree, f"at most {_MOST_DEGREE:,}; RBF is the limit of high degrees")
        check_finite("coef0", self.coef0)

    @property
    def _has_integer_degree(self) -> bool:
        return self.degree == int(self.degree)

    @property
    def psd(self) -> bool:  # type: ignore[override]
        return self._has_integer_degree and self.coef0 >= 0

    @property
    def power(self) -> float:  # type: ignore[override]
        return float(self.degree) or 1.0

    def profile(self, s: NDArray) -> None:
        s *= self.gamma_value
        s += self.coef0
        if not self._has_integer_degree and s.size and s.min() < 0:
            raise DataError(
                f"{self!r} takes a power of γxᵀy + coef0, which is {s.min():.4g} for some rows. Use an integer degree.",
                value=float(s.min()),
            )
        raise_to(s, self.degree)

    def slope(self, s: NDArray) -> None:
        """degree·γ·(γs + coef0)^(degree − 1)."""
        if self.degree == 0:
            s[...] = 0.0
            return
        s *= self.gamma_value
        s += self.coef0
        raise_to(s, self.degree - 1)
        s *= self.degree * self.gamma_value

    def magnitude(self, squares: NDArray) -> NDArray:
        with np.errstate(over="ignore"):
            return np.power(self.gamma_value * squares + abs(self.coef0), self.degree)

    def vjp(self, Z: Any, X: Any) -> Gradient | None:
        """None for a degree between 0 and 1, which is infinitely steep at zero."""
        return None if 0 < self.degree < 1 else super().vjp(Z, X)

    def diag_gradient(self, Z: Any) -> NDArray:
        return Kernel.diag_gradient(self, Z) if 0 < self.degree < 1 else super().diag_gradient(Z)

    def feature_map(self, samples: Any) -> FeatureMap | None:
        """All monomials up to the degree, for dense rows, degrees 1 to 3 and coef0 ≥ 0."""
        if self.degree not in (1, 2, 3) or self.coef0 < 0 or sparse.issparse(samples):
            return None
        degree, d = int(self.degree), samples.shape[1]
        n_features = comb(d + degree, degree)
        return FormulaMap(self._monomials, n_features, 4 * degree + 4) if n_features <= _MOST_FEATURES else None

    def _monomials(self, X: NDArray) -> NDArray:
        """(γz·w)^degree expanded, where z is x with √(coef0/γ) appended."""
        Z = np.column_stack([np.sqrt(self.gamma_value) * as_float(X), np.full(len(X), np.sqrt(self.coef0))])
        return homogeneous_features(Z, int(self.degree))

    def with_origin(self, origin: NDArray) -> Kernel:
        """The kernel of moved rows, for integer degrees up to 10 and coef0 ≥ 0."""
        from mercer.kernels.origin import MovedPolynomial

        origin = np.asarray(origin, dtype=np.float64)
        has_formula = self.psd and 1 <= self.degree <= _MOST_MOVED_DEGREE and (self.coef0 > 0 or origin.any())
        return MovedPolynomial(self, origin) if has_formula else self


@storable
@dataclass(frozen=True)
class Sigmoid(GammaMixin, DotKernel):
    """Sigmoid kernel, k(x, y) = tanh(γxᵀy + coef0). Its kernel matrices may have negative eigenvalues.

    Parameters
    ----------
    gamma : float, "median" or None, default=None
        Factor γ. None is 1/n_features, "median" one over the median squared distance between rows.
    coef0 : float, default=1.0
        Term that is added to γxᵀy.
    """

    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_finite("coef0", self.coef0)

    def profile(self, s: NDArray) -> None:
        s *= self.gamma_value
        s += self.coef0
        np.tanh(s, out=s)

    def slope(self, s: NDArray) -> None:
        """γ(1 − k²) = 4γt/(1 + t)² with t = e^(−2|γs + coef0|), where nothing cancels."""
        s *= self.gamma_value
        s += self.coef0
        t = np.exp(-2 * np.abs(s))
        np.divide(4 * self.gamma_value * t, (1 + t) ** 2, out=s)

    def magnitude(self, squares: NDArray) -> NDArray:
        """tanh is nowhere steeper than 1: its error is at most that of its argument."""
        return self.gamma_value * squares + abs(self.coef0) + 1.0


# -------------------------------------------------------------------------------------- rows


def choose_origin(kernel: Kernel, X: Any) -> NDArray | None:
    """The mean row, if rows are dense and far from zero, and the kernel can be moved there; else None."""
    if sparse.issparse(X) or kernel.with_origin(np.ones(X.shape[1])) is kernel:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        mean = X.mean(axis=0, dtype=np.float64)
        spread = squared_norms(X[:: max(1, len(X) // _SAMPLE)] - mean).mean()
        is_far = mean @ mean > _FAR * spread and np.isfinite(mean @ mean)
    return mean if is_far else None


def as_float(X: Any) -> Any:
    """In float64, without a copy if it is already."""
    return X.astype(np.float64, copy=False) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def as_dense(X: Any, dtype: Any = np.float64) -> NDArray:
    """Dense rows of this type."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=dtype)


def row_products(X: Any, Y: Any, out: NDArray | None = None, dtype: Any = np.float64) -> NDArray:
    """X Yᵀ as a dense array; `dtype` is that of the products of rows that are not sparse enough for sparse ones."""
    if isinstance(X, np.ndarray) and isinstance(Y, np.ndarray) and X.dtype == Y.dtype == dtype:
        return matmul(X, Y.T, out, SHORT_ROWS)
    out = np.empty((X.shape[0], Y.shape[0])) if out is None else out
    cells = float(X.shape[0] * X.shape[1]) * Y.shape[0] * Y.shape[1]
    if sparse.issparse(X) and sparse.issparse(Y) and float(X.nnz) * Y.nnz <= _SPARSE**2 * cells:
        out[...] = (X @ Y.T).toarray()
        return out
    size = max(16, min(_TILE, _TILE_ENTRIES // max(1, X.shape[1])))
    for columns in slices(Y.shape[0], size):
        right = as_dense(Y[columns], dtype).T
        for rows in slices(X.shape[0], size):
            out[rows, columns] = matmul(as_dense(X[rows], dtype), right, None, SHORT_ROWS)
    return out


def times_rows(C: NDArray, X: Any) -> NDArray:
    """C X as a dense array."""
    return matmul(C, X, None, SHORT_ROWS) if isinstance(X, np.ndarray) else as_dense(C @ X)


def squared_norms(X: Any) -> NDArray:
    """‖x‖² of every row, with as many roundings as a scalar product of two rows."""
    X = as_float(X)
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return row_squares(X, SHORT_ROWS)


def product_chain(X: Any) -> int:
    """Roundings behind a scalar product of a row of X with any other, and behind the square of its length.

    Two sparse rows have no more products than one of them has entries, as cells are stored once.
    """
    if sparse.issparse(X):
        return int(np.diff(sparse.csr_array(X).indptr).max(initial=0))
    d = X.shape[1]
    return d if d <= SHORT_ROWS else chain(d, SHORT_ROWS)


def row_peaks(X: Any) -> NDArray:
    """The largest modulus of every row."""
    if not sparse.issparse(X):
        return np.asarray(np.abs(X).max(axis=1, initial=0.0))
    return np.asarray(abs(X).max(axis=1).toarray(), dtype=np.float64).ravel() if X.shape[1] else np.zeros(X.shape[0])


def inverse(values: NDArray) -> NDArray:
    """1/v, and 0 for v = 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def raise_to(values: NDArray, power: float) -> None:
    """values^power in place: integer powers by squaring, with power − 1 roundings and many times faster."""
    if power != int(power) or power == 0:
        np.power(values, power, out=values)
        return
    base = values.copy()
    for bit in f"{int(power):b}"[1:]:  # from the highest
        values *= values
        if bit == "1":
            values *= base


def homogeneous_features(Z: NDArray, degree: int) -> NDArray:
    """φ with φ(z)·φ(w) = (z·w)^degree: each monomial once, times the root of how often it occurs."""
    if degree == 1:
        return Z.copy()
    d = Z.shape[1]
    i, j = np.triu_indices(d)
    pairs = Z[:, i] * Z[:, j]
    if degree == 2:
        return pairs * np.sqrt(np.where(i == j, 1.0, 2.0))
    columns = []
    for first in range(d):  # monomials z_first·z_i·z_j with first ≤ i ≤ j
        later = i >= first
        n_distinct = 1 + (i[later] != first).astype(int) + (j[later] != i[later]).astype(int)
        columns.append(Z[:, [first]] * pairs[:, later] * np.sqrt(np.array([0, 1, 3, 6])[n_distinct]))
    return np.concatenate(columns, axis=1)
