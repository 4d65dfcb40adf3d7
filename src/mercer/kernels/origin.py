"""Kernels of φ(x) − φ(o), for rows that are far from zero and close to each other.

The scalar products of such rows differ in their last digits only, and centering a kernel matrix leaves only
these. The kernels here are evaluated from the differences x − o, and keep all digits:

- linear: (x − o)ᵀ(y − o).
- cosine: φ(x) = x/‖x‖. With x = t·o + v and v ⊥ o, φ(x) − φ(o) is the sum of v/‖x‖ and of a multiple of o that
  is of second order in v.
- polynomial of integer degree p and coef0 ≥ 0: append √(coef0/γ) to all rows and let C = γ‖o‖²,
  x = r·o + v with v ⊥ o, and q = γv·v'/C. Then k(x, y) = Cᵖ(rr' + q)ᵖ and k(x, o) = Cᵖrᵖ, so the kernel of the
  differences is Cᵖ[(rr' + q)ᵖ − (rr')ᵖ + (rᵖ − 1)(r'ᵖ − 1)], where nothing cancels.

Moved rows are dense, so kernels on sparse rows stay as they are.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.data.dataset import Dataset
from mercer.kernels.base import (
    ROUNDINGS,
    FeatureMap,
    FormulaMap,
    Kernel,
    PreparedKernel,
    numbers_per_entry,
    raise_nonfinite_values,
)
from mercer.kernels.dot import (
    Cosine,
    DotKernel,
    Linear,
    Polynomial,
    as_dense,
    homogeneous_features,
    inverse,
    product_chain,
    row_peaks,
    row_products,
    squared_norms,
)
from mercer.numerics.blocking import slices
from mercer.numerics.rounding import UNIT, two_product
from mercer.storable import storable

_CACHED = 1 << 14  # entries of a tile whose intermediate results stay in the cache
_ROWS = 8192  # whose coordinates are computed at once


@storable
@dataclass(frozen=True, eq=False)
class MovedRows(DotKernel):
    """The kernel of φ(x) − φ(origin) where φ(x) is x (`Linear`) or x/‖x‖ (`Cosine`)."""

    kernel: Linear | Cosine
    origin: NDArray
    psd = True

    def rows(self, X: Any) -> NDArray:
        if isinstance(self.kernel, Linear):
            return as_dense(X) - self.origin
        return _directions(as_dense(X), self.origin)

    def row_roundings(self, X: Any) -> float:
        return 1.0 if isinstance(self.kernel, Linear) else 4.0 * product_chain(self.origin[None]) + 40

    def magnitude(self, squares: NDArray) -> NDArray:
        return squares + self._cancelled_squares(None)

    def _cancelled_squares(self, X: Any) -> float:
        """The error of a direction is a few units of its length plus a few units."""
        return 0.0 if isinstance(self.kernel, Linear) else UNIT**2

    def vjp(self, Z: Any, X: Any) -> None:
        return None

    def diag_gradient(self, Z: Any) -> NDArray:
        return Kernel.diag_gradient(self, Z)

    def feature_map(self, samples: Any) -> FeatureMap:
        roundings = self.row_roundings(samples)
        return FormulaMap(self.rows, samples.shape[1], roundings, cancelled=self._cancelled_squares)


def _directions(X: NDArray, origin: NDArray) -> NDArray:
    """x/‖x‖ − o/‖o‖, from x = t·o + v with v ⊥ o; −o/‖o‖ for a row of zeros."""
    o = np.ldexp(origin, -np.frexp(np.abs(origin).max())[1])
    square = o @ o
    X = np.ldexp(X, -np.frexp(row_peaks(X))[1][:, None])
    t = along(X, o) / square
    product, remainder = two_product(t[:, None], o)
    V = (X - product) - remainder  # exact in the first digits that x and t·o have in common
    left = along(V, o) / square
    V -= left[:, None] * o
    t += left
    squares, length_o = squared_norms(V), np.sqrt(square)
    t *= length_o
    lengths = np.hypot(t, np.sqrt(squares))
    per_length = inverse(lengths)
    with np.errstate(divide="ignore", invalid="ignore"):
        small = -squares * per_length / (lengths + t)
    shorter = np.where(t > 0, small, t * per_length - 1)  # t/‖x‖ − 1
    V *= per_length[:, None]
    V += (shorter / length_o)[:, None] * o
    return V


@storable
@dataclass(frozen=True, eq=False)
class MovedPolynomial(Kernel):
    """The kernel of φ(x) − φ(origin) where φ are the monomials of a polynomial kernel. See the module."""

    kernel: Polynomial
    origin: NDArray
    psd = True

    @cached_property
    def _extended(self) -> tuple[NDArray, np.float64]:
        """√γ·origin with √coef0 appended, and C, the square of its length."""
        extended = np.append(np.sqrt(self.kernel.gamma_value) * self.origin, np.sqrt(self.kernel.coef0))
        return extended, squared_norms(extended[None])[0]

    @property
    def degree(self) -> int:
        """Degree of the polynomial."""
        return int(self.kernel.degree)

    def coordinates(self, X: Any) -> NDArray:
        """r − 1 and √γ·v/√C of every row, side by side."""
        extended, C = self._extended
        out = np.zeros((X.shape[0], 1 + len(extended)))
        a, V = out[:, 0], out[:, 1:]
        np.subtract(as_dense(X), self.origin, out=V[:, :-1])
        V *= np.sqrt(self.kernel.gamma_value)
        np.divide(along(V, extended), C, out=a)
        V -= a[:, None] * extended
        V /= np.sqrt(C)
        return out

    def prepare(self, Y: Any, *, shift: float | None = 0.0) -> "PreparedMovedPolynomial":
        coordinates = self.coordinates(Y)
        return PreparedMovedPolynomial(self, coordinates, coordinates, shift or 0.0)

    def diag(self, X: Any) -> NDArray:
        return self.prepare(X).diag

    def combine(self, a: NDArray, b: NDArray, q: NDArray) -> NDArray:
        """Cᵖ[(rr' + q)ᵖ − (rr')ᵖ + (rᵖ − 1)(r'ᵖ − 1)] in place of q, with r = 1 + a and r' = 1 + b.

        (u + q)ᵖ − uᵖ is q·Σtⁱu^(p − 1 − i) with t = u + q.
        """
        p = self.degree
        u = (1 + a) * (1 + b)
        if p > 1:
            t = u + q
            total, powers = u + t, t
            for _ in range(p - 2):
                powers = powers * t
                total *= u
                total += powers
            q *= total
        q += power_minus_one(a, p) * power_minus_one(b, p)
        q *= self._extended[1] ** p
        return q

    def moduli(self, coordinates: NDArray) -> NDArray:
        """`combine` of moduli, with r and v as large as x − o allows: their errors are relative to that."""
        squares = squared_norms(coordinates)
        with np.errstate(over="ignore", invalid="ignore"):
            return self.combine(np.sqrt(squares), np.sqrt(squares), squares)

    def entry_cost(self, data: Dataset) -> float:
        return self.degree + 0.5 + 0.04 * numbers_per_entry(data)

    def feature_map(self, samples: Any) -> FeatureMap | None:
        """Monomials of r and of v in coordinates orthogonal to the origin, without the constant that is Cᵖ."""
        plain = self.kernel.feature_map(samples)
        if plain is None:
            return None
        n_features = comb(samples.shape[1] + self.degree, self.degree)
        roundings = self.degree * (7 * product_chain(samples) + 60) + ROUNDINGS
        return FormulaMap(self._monomials, n_features, roundings, cancelled=self._cancelled_squares)

    def _cancelled_squares(self, X: Any) -> NDArray:
        """φ(x) − φ(o) may be 0 far from the origin, as for x = −o if the degree is even."""
        return np.concatenate([self.moduli(self.coordinates(X[rows])) for rows in slices(X.shape[0], _ROWS)])

    def _monomials(self, X: Any) -> NDArray:
        coordinates, (extended, C) = self.coordinates(X), self._extended
        a, V = coordinates[:, 0], coordinates[:, 1:]
        axis = extended / np.sqrt(C)
        sign = 1.0 if axis[-1] >= 0 else -1.0
        axis[-1] += sign  # Householder: the reflection that maps the origin to the last axis
        V -= np.outer(along(V, axis), axis / (sign * axis[-1]))
        V[:, -1] = 1 + a
        features = homogeneous_features(V[:, ::-1], self.degree)
        features[:, 0] = power_minus_one(a, self.degree)
        features *= np.sqrt(C**self.degree)
        return features


class PreparedMovedPolynomial(PreparedKernel):
    """Coordinates of the rows: one matrix product for each tile, q, and then powers."""

    kernel: MovedPolynomial

    def __init__(self, kernel: MovedPolynomial, X: NDArray, Y: NDArray, shift: float) -> None:
        super().__init__(kernel, X, Y, shift)
        raise_nonfinite_values(self.left_magnitudes, kernel.kernel, np.arange(self.shape[0]), None)

    @property
    def nbytes(self) -> int:
        return int(self.Y.nbytes)

    def fill(self, rows: slice, columns: slice, out: NDArray) -> None:
        row_products(self.X[rows, 1:], self.Y[columns, 1:], out)
        a, b = self.X[rows, 0, None], self.Y[columns, 0]
        for piece in slices(len(out), max(1, _CACHED // max(1, len(b)))):
            self.kernel.combine(a[piece], b, out[piece])
        if self.shift:
            out -= self.shift

    def against(self, X: Any) -> "PreparedMovedPolynomial":
        return PreparedMovedPolynomial(self.kernel, self.kernel.coordinates(X), self.Y, self.shift)

    @cached_property
    def diag(self) -> NDArray:
        a = self.Y[:, 0]
        return self.kernel.combine(a, a, squared_norms(self.Y[:, 1:])) - self.shift

    @cached_property
    def magnitudes(self) -> NDArray:
        return self.kernel.moduli(self.Y)

    @cached_property
    def left_magnitudes(self) -> NDArray:
        return self.magnitudes if self.X is self.Y else self.kernel.moduli(self.X)

    @property
    def n_roundings(self) -> float:  # type: ignore[override]
        """v and r are known to 2d + 10 of ‖x − o‖, q to d + 2 more than both; then a power."""
        return self.kernel.degree * (6 * product_chain(self.Y) + 50) + ROUNDINGS


def along(X: NDArray, direction: NDArray) -> NDArray:
    """The scalar product of every row with a direction, to the roundings of `product_chain`."""
    return row_products(X, direction[None])[:, 0]


def power_minus_one(a: NDArray, power: int) -> NDArray:
    """(1 + a)^power − 1 = a·Σ(1 + a)ⁱ for i < power."""
    total, powers = np.zeros_like(a), np.ones_like(a)
    for _ in range(power):
        total += powers
        powers *= 1 + a
    return a * total
