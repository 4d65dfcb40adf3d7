"""Kernels that are a function of the scalar product xᵀy."""

from abc import abstractmethod
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from mercer_old.arrays import Array, dense
from mercer_old.blocks import MOST_FEATURES
from mercer_old.errors import in_short
from mercer_old.kernels.bandwidth import ByGamma
from mercer_old.kernels.base import (
    ROUNDINGS,
    Held,
    Kernel,
    Products,
    Tiles,
    is_sparse,
    largest_entry,
    n_rows,
    require_finite,
    require_positive,
    summed,
)
from mercer_old.kernels.slopes import ByProducts, Slopes
from mercer_old.rounding import gamma
from mercer_old.sums import LESS_SHORT, chain, product, row_squares

__all__ = ["Cosine", "DotTiles", "Linear", "Polynomial", "Sigmoid", "as_float", "dot", "product_chain", "squared_norms"]

_HIGHEST = 1000  # degree of a polynomial


class _DotKernel(Kernel):
    """k(x, y) = shape(xᵀy). A subclass writes `shape`, which works in place, and `rows` if they are changed first."""

    @abstractmethod
    def shape(self, products: Array) -> None: ...

    def rows(self, X: Held) -> Held:
        return X

    def entry_cost(self, d: int) -> float:
        return 3.0 + 0.06 * d

    def block(self, X: Held, Y: Held) -> Array:
        tile = dot(self.rows(X), self.rows(Y))
        self.shape(tile)
        return tile

    def diag(self, X: Held) -> Array:
        squares = squared_norms(self.rows(X))
        self.shape(squares)
        return squares

    @abstractmethod
    def steepness(self, products: Array) -> None:
        """dk/ds in place of s = xᵀy."""

    differentiable = True

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """dk/ds·x."""
        Z, X = as_float(Z), as_float(X)
        steepness = dot(Z, X)
        self.steepness(steepness)
        return ByProducts(Z, X, steepness)

    def diag_pull(self, Z: Held) -> Array:
        """dk/ds·2z at s = ‖z‖²."""
        squares = squared_norms(Z)
        self.steepness(squares)
        return 2 * squares[:, None] * dense(Z, np.float64)

    def roundings(self, X: Held) -> float:
        """Of the scalar product, and of the shape, which multiplies relative errors by `power`."""
        return self.power * (product_chain(X) + 3) + self.row_roundings(X) + ROUNDINGS

    #: By how much the shape multiplies relative errors of its argument.
    power: float = 1.0

    def row_roundings(self, X: Held) -> int:
        """Roundings behind a row as it enters the product, twice."""
        return 0

    def sizes(self, X: Held) -> Array:
        """sᵢ with |k(xᵢ, xⱼ)| ≤ √(sᵢsⱼ), where moduli are taken before anything cancels."""
        return self.diag(X)

    def prepare(self, X: Held, Y: Held | None = None, shift: float = 0.0, dtype: DTypeLike = np.float64) -> Tiles:
        # Always evaluated in float64: what a power or a large mean does to the digits of float32 is hard to foresee.
        prepared = as_float(self.rows(X))
        return DotTiles(self, prepared, prepared if Y is None else as_float(self.rows(Y)), shift)


class DotTiles(Tiles):
    """One matrix product a tile, then the shape in place."""

    def __init__(self, kernel: _DotKernel, X: Held, Y: Held, shift: float) -> None:
        self.kernel, self.X, self.Y, self.shift = kernel, X, Y, shift

    def fill(self, rows: slice, columns: slice, out: Array) -> None:
        tile = out if out.dtype == np.float64 else np.empty(out.shape)
        dot(self.X[rows], self.Y[columns], tile)
        self.kernel.shape(tile)
        if self.shift:
            tile -= self.shift
        if tile is not out:
            out[...] = tile


@dataclass(frozen=True)
class Linear(_DotKernel):
    """k(x, y) = xᵀy: kernel PCA is PCA."""

    features_are_rows: ClassVar[bool] = True
    psd = True

    def shape(self, products: Array) -> None:
        pass

    def steepness(self, products: Array) -> None:
        products[...] = 1.0

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """x."""
        return ByProducts(Z, as_float(X), None)

    def features(self, X: Held) -> Held:
        return X

    def n_features(self, X: Held) -> int:
        return X.shape[1]


@dataclass(frozen=True)
class Cosine(_DotKernel):
    """k(x, y) = xᵀy / (‖x‖‖y‖), and 0 if a row is zero."""

    psd = True

    def shape(self, products: Array) -> None:
        pass

    def steepness(self, products: Array) -> None:
        products[...] = 1.0

    def slopes(self, Z: Held, X: Held) -> Slopes:
        """(x̂ − k·ẑ)/‖z‖ with directions x̂ and ẑ; 0 of a row z of zeros, where k jumps."""
        directions, others = self.rows(Z), self.rows(X)
        each = _inverse(_row_products(directions, as_float(Z)))[:, None]  # ẑᵀz = ‖z‖, without a square
        return ByProducts(
            directions, others, np.broadcast_to(each, (n_rows(Z), n_rows(X))), -each * dot(directions, others)
        )

    def diag_pull(self, Z: Held) -> Array:
        return np.zeros(Z.shape)

    def rows(self, X: Held) -> Held:
        """By a power of two first, which is exact: squares of huge and tiny numbers are none."""
        X = as_float(X)
        if sparse.issparse(X):
            X = sparse.csr_array(X)
            each = np.diff(X.indptr)
            peaks = np.zeros(len(each))
            np.maximum.at(peaks, np.repeat(np.arange(len(each)), each), np.abs(X.data))
            X = sparse.csr_array((np.ldexp(X.data, np.repeat(-np.frexp(peaks)[1], each)), X.indices, X.indptr), X.shape)
            return sparse.diags_array(_inverse(np.sqrt(squared_norms(X)))).tocsr() @ X
        X = np.ldexp(X, -np.frexp(np.abs(X).max(axis=1, initial=0.0))[1][:, None])
        X *= _inverse(np.sqrt(squared_norms(X)))[:, None]
        return X

    def row_roundings(self, X: Held) -> int:
        return 2 * self.feature_roundings(X)

    def feature_roundings(self, X: Held) -> int:
        """Of a length: half of those of its square, a root, and two divisions."""
        return product_chain(X) // 2 + 6

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        """The lengths of both are in an entry, and one set may have the longer sums."""
        return max(super().entry_rounding(X, Y, dtype), super().entry_rounding(Y, X, dtype))

    def features(self, X: Held) -> Held:
        return self.rows(X)

    def n_features(self, X: Held) -> int:
        return X.shape[1]


def _inverse(values: Array) -> Array:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


@dataclass(frozen=True)
class Polynomial(ByGamma, _DotKernel):
    """k(x, y) = (γ xᵀy + coef0)^degree; γ = None is 1/d, "median" as that of RBF."""

    degree: float = 3
    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self.degree, "degree", zero=True)
        if self.degree > _HIGHEST:
            raise ValueError(
                f"degree must be at most {_HIGHEST:,}; got {in_short(self.degree)}. So high a power is zero or an "
                "overflow for nearly all rows; RBF is what it tends to."
            )
        require_finite(self.coef0, "coef0")
        super().__post_init__()

    def shape(self, products: Array) -> None:
        products *= self.known_gamma
        products += self.coef0
        _raise_to(products, self.degree)

    @property
    def differentiable(self) -> bool:  # type: ignore[override]
        """A power between 0 and 1 is infinitely steep at zero."""
        return not 0 < self.degree < 1

    def steepness(self, products: Array) -> None:
        """degree·γ·(γs + coef0)^(degree − 1)."""
        if not self.differentiable:
            raise self._no_gradient()
        if self.degree == 0:
            products[...] = 0.0
            return
        products *= self.known_gamma
        products += self.coef0
        _raise_to(products, self.degree - 1)
        products *= self.degree * self.known_gamma

    @property
    def power(self) -> float:  # type: ignore[override]
        return max(1.0, float(self.degree))

    def sizes(self, X: Held) -> Array:
        return np.power(self.known_gamma * squared_norms(X) + abs(self.coef0), self.degree)

    def rounding(self, X: Held, weights: Array | None = None, shift: float = 0.0, times: Products = None) -> float:
        if not 0 < self.degree < 1:
            return super().rounding(X, weights, shift, times)
        return self.entry_rounding(X, X) * summed(np.ones(X.shape[0]), weights)

    def entry_rounding(self, X: Held, Y: Held, dtype: DTypeLike = np.float64) -> float:
        """A power p below one is infinitely steep at zero, but |s^p − t^p| ≤ |s − t|^p."""
        if not 0 < self.degree < 1:
            return super().entry_rounding(X, Y, dtype)
        largest = largest_entry(self.sizes(X), self.sizes(Y))
        return float(gamma(product_chain(X) + 4) ** self.degree + gamma(ROUNDINGS)) * largest

    def feature_roundings(self, X: Held) -> int:
        """Each of the factors has three, the product one for each, and the root of how often it occurs two."""
        return 4 * int(self.degree) + 4

    @property
    def psd(self) -> bool:
        return self.degree == int(self.degree) and self.coef0 >= 0

    def n_features(self, X: Held) -> int | None:
        exact = self.degree in (1, 2, 3) and self.coef0 >= 0 and not is_sparse(X)
        count = comb(X.shape[1] + int(self.degree), int(self.degree)) if exact else MOST_FEATURES + 1
        return count if count <= MOST_FEATURES else None

    def features(self, X: Held) -> Array | None:
        """All monomials up to the degree: append √(coef0/γ) as a coordinate, then expand (γ zᵀw)^degree."""
        if self.n_features(X) is None:
            return None
        Z = np.column_stack([np.sqrt(self.known_gamma) * X, np.full(len(X), np.sqrt(self.coef0))])
        return _homogeneous_features(Z, int(self.degree))


def _raise_to(values: Array, power: float) -> None:
    """values^power in place: whole powers by squaring, many times faster than power(), with power − 1 roundings."""
    if power != int(power) or power == 0:
        np.power(values, power, out=values)
        return
    base = values.copy()
    for bit in f"{int(power):b}"[1:]:  # from the highest: x → x², and times x where the bit is set
        values *= values
        if bit == "1":
            values *= base


def _homogeneous_features(Z: Array, degree: int) -> Array:
    """φ with φ(z)ᵀφ(w) = (zᵀw)^degree: each monomial once, times the root of how often it occurs."""
    if degree == 1:
        return Z
    d = Z.shape[1]
    i, j = np.triu_indices(d)
    pairs = Z[:, i] * Z[:, j]
    if degree == 2:
        return pairs * np.sqrt(np.where(i == j, 1.0, 2.0))
    columns = []
    for a in range(d):
        later = i >= a  # monomials zₐ zᵢ zⱼ with a ≤ i ≤ j
        kinds = 1 + (i[later] != a).astype(int) + (j[later] != i[later]).astype(int)
        columns.append(Z[:, [a]] * pairs[:, later] * np.sqrt(np.array([0, 1, 3, 6])[kinds]))
    return np.concatenate(columns, axis=1)


@dataclass(frozen=True)
class Sigmoid(ByGamma, _DotKernel):
    """k(x, y) = tanh(γ xᵀy + coef0); γ = None is 1/d, "median" as that of RBF.

    Not a Mercer kernel: Gram matrices may be indefinite.
    """

    gamma: float | str | None = None
    coef0: float = 1.0

    def __post_init__(self) -> None:
        require_finite(self.coef0, "coef0")
        super().__post_init__()

    def shape(self, products: Array) -> None:
        products *= self.known_gamma
        products += self.coef0
        np.tanh(products, out=products)

    def steepness(self, products: Array) -> None:
        """γ(1 − k²) = 4γt/(1 + t)² with t = e^−2|γs + coef0|, where nothing cancels."""
        products *= self.known_gamma
        products += self.coef0
        t = np.exp(-2 * np.abs(products))
        np.divide(4 * self.known_gamma * t, (1 + t) ** 2, out=products)

    def sizes(self, X: Held) -> Array:
        """tanh is nowhere steeper than 1: what its argument is off by, k is at most."""
        return self.known_gamma * squared_norms(X) + abs(self.coef0) + 1.0


def as_float(X: Held) -> Held:
    """In float64, without a copy if it is already."""
    return X.astype(np.float64, copy=False) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def dot(X: Held, Y: Held, out: Array | None = None) -> Any:
    """X Yᵀ as a dense float64 array."""
    if sparse.issparse(X) or sparse.issparse(Y):
        entries = dense(as_float(X) @ as_float(Y).T)
        if out is None:
            return entries
        out[...] = entries
        return out
    return product(as_float(X), as_float(Y).T, out, LESS_SHORT)


def product_chain(X: Held) -> int:
    """Roundings behind a scalar product of a row of X with any, and behind the square of its length.

    Two sparse rows have no more products than one of them has numbers, as long as no cell has two entries.
    """
    if sparse.issparse(X):
        return int(np.diff(sparse.csr_array(X).indptr).max(initial=0))
    return chain(X.shape[1], LESS_SHORT) + 1


def _row_products(X: Held, Y: Held) -> Array:
    """xᵀy of every row of X with that of Y, as dense numbers."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return np.asarray(sparse.csr_array(X).multiply(Y).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, Y))


def squared_norms(X: Held) -> Array:
    """‖x‖² of every row, in float64: with as many roundings as a scalar product of two rows."""
    X = as_float(X)
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return row_squares(X)
