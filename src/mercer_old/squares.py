"""‖x − y‖² between rows of numbers: one engine below kernels, neighbours and ranks.

Four steps, each of which makes good what the one before it costs:

1. **Centre**: rows are moved near the origin, as squares of large numbers cancel (`medians`, or a mean; `Moved`).
2. **Product**: all pairs by one matrix product, [z, −h, 1]·[w, 1, −h']ᵀ = −½‖z − w‖² with h = ½‖z‖² (`multiply`), or
   from products that are already there (`from_products`, `squares_but_own`).
3. **Differences**: what cancelled all the same is measured anew, and known to γ of itself (`differences`).
4. **Equals**: equal rows get equal distances, however BLAS added them up (`first_of_equals`).

Who asks decides when a step is good enough: a kernel by the error of its exponent (kernels/distance.py), neighbours by
a proof that nobody nearer was left out (spaces/nearest.py), ranks by the digits of the nearest distance
(readings/distances.py). docs/design/rounding.md has the bounds.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy

from mercer_old.arrays import Array
from mercer_old.blocks import some_of, steps
from mercer_old.sums import LESS_SHORT, product, row_squares

__all__ = [
    "SOME",
    "Moved",
    "differences",
    "differences_to",
    "first_of_equals",
    "from_products",
    "medians",
    "multiply",
    "nearby_power_of_two",
    "own_at_least",
    "screen_of",
    "squares_but_own",
]

SOME = 1000  # rows that medians are taken of
_AT_ONCE = 1_000_000  # numbers that are looked at for equal rows


# ---------------------------------------------------------------------------- 1. centre


def medians(rows: Array) -> Array:
    """Of every column, from some rows: no far row moves them, and whole numbers less a median add up exactly."""
    return np.asarray(np.median(np.asarray(some_of(rows, SOME), dtype=np.float64), axis=0))


def nearby_power_of_two(rows: Array) -> float:
    """Near the largest entry, so that dividing by it costs no digit; 1 if all are zero."""
    top = max(float(rows.max(initial=0)), -float(rows.min(initial=0)))
    return float(2.0 ** np.clip(np.ceil(np.log2(top)), -1000, 1000)) if top > 0 else 1.0


class Moved:
    """z = unit·(x − centre) of every row, in the two forms that a product of all pairs is made of."""

    def __init__(self, rows: Array, centre: Array, unit: float = 1.0, squares: Array | None = None) -> None:
        n, d = rows.shape
        self._room = np.empty((n, d + 2))  # for `right`, so that rows are copied once
        self.rows = self._room[:, :d]
        np.subtract(rows, centre, out=self.rows)
        if unit != 1.0:
            self.rows *= unit
        if squares is not None:
            self.squares = squares

    @cached_property
    def squares(self) -> Array:
        """‖z‖² of every row."""
        return row_squares(self.rows)

    def left(self, times: float = 1.0) -> Array:
        """[z, −h, 1] times a power of two, which rounds nothing: −2 makes ‖z − w‖² of −½‖z − w‖²."""
        left = np.empty_like(self._room)
        np.multiply(self.rows, times, out=left[:, :-2])
        left[:, -2], left[:, -1] = -times / 2 * self.squares, times
        return left

    def right(self) -> Array:
        """[w, 1, −h']."""
        self._room[:, -2], self._room[:, -1] = 1.0, -0.5 * self.squares
        return self._room


# ---------------------------------------------------------------------------- 2. product


def multiply(left: Array, right: Array, out: Array, short: int = LESS_SHORT) -> None:
    """−½‖z − w‖² of all pairs (of −2·left, ‖z − w‖²): in short chains, or in single precision as BLAS likes."""
    if out.dtype == left.dtype == np.float64:
        product(left, right.T, out, short)
    else:
        np.matmul(left, right.T, out=out, casting="same_kind")


def from_products(products: Array, of_rows: Array, of_columns: Array, times: float = 1.0) -> None:
    """‖x‖² + ‖y‖² − 2xᵀy in place of xᵀy, times a power of two or less one: for rows that cannot be moved."""
    products *= -2.0 * times
    products += times * of_rows[:, None]
    products += times * of_columns


def screen_of(P: Array, dtype: Any) -> Array:
    """The rows p as columns with ‖p‖² below them ((d + 1)×n, in this precision), for `squares_but_own`."""
    columns = np.empty((P.shape[1] + 1, len(P)), dtype=dtype)
    columns[:-1], columns[-1] = P.T, np.einsum("ij,ij->i", P, P)
    return columns


def squares_but_own(q: Array, screen: Array, out: Array) -> None:
    """‖p‖² − 2qᵀp, which is ‖q − p‖² but for ‖q‖²: all it takes to compare the columns p, in their precision."""
    left = np.ones((len(q), len(screen)), dtype=screen.dtype)
    np.multiply(q, -2, out=left[:, :-1], casting="same_kind")
    np.matmul(left, screen, out=out)


def own_at_least(q: Array, radius: Array, dtype: Any) -> Array:
    """What to add to ‖p‖² − 2qᵀp in this precision to get at most ‖q − p‖², for every p within the radius of q.

    The sum of d + 1 products of rounded numbers is off by at most (d + 8)u(2‖q‖‖p‖ + ‖p‖²) ≤ (d + 8)u(‖q‖ + ‖p‖)²,
    and ‖p‖ ≤ ‖q‖ + radius. ‖p‖² and ‖q‖² were themselves added up in double precision, off by (d + 8)v of both, and
    so was the radius, by (d + 8)v of its square; what is too small to have digits comes on top.
    """
    squares, d = np.einsum("ij,ij->i", q, q), q.shape[1] + 8
    rounding = d * (np.finfo(dtype).eps / 2 + np.finfo(float).eps) * (2 * np.sqrt(squares) + radius) ** 2
    return np.asarray(squares - rounding - d * np.finfo(dtype).tiny)


# ---------------------------------------------------------------------------- 3. differences


def differences(X: Array, Y: Array) -> Array:
    """‖x − y‖² of all pairs without cancellation, each known to γ_{d+8} of itself: many times slower than a product.

    Rows that are not moved first have no rounding but that of their differences.
    """
    return np.asarray(scipy.spatial.distance.cdist(X, Y, metric="sqeuclidean"))


def differences_to(q: Array, P: Array, near: Array) -> Array:
    """The same for every row of q and its own rows of P (m×k)."""
    between = P[near]
    between -= q[:, None]
    return np.asarray(np.einsum("ijk,ijk->ij", between, between))


# ---------------------------------------------------------------------------- 4. equals


def first_of_equals(X: Array, centre: Array) -> Array | None:
    """For every row the first that equals it; None if no two do.

    Equal rows have equal sums Σ √j·zⱼ, and hardly any others have: those are looked at one by one.
    """
    roots, size = np.sqrt(np.arange(1, X.shape[1] + 1)), max(_AT_ONCE // X.shape[1], 1)
    sums = [np.einsum("ij,j->i", Moved(X[some], centre).rows, roots) for some in steps(len(X), size)]
    _, index, group = np.unique(np.concatenate(sums), return_index=True, return_inverse=True)
    first = index[group]
    suspects = np.flatnonzero(first != np.arange(len(X)))
    if not len(suspects):
        return None
    same = np.concatenate(
        [(X[suspects[some]] == X[first[suspects[some]]]).all(axis=1) for some in steps(len(suspects), size)]
    )
    others = suspects[~same]  # of the same sum as another row by chance; those that equal each other are all here
    if len(others):
        _, index, group = np.unique(X[others] + 0, axis=0, return_index=True, return_inverse=True)  # −0 + 0 = 0
        first[others] = others[index[group.reshape(-1)]]
    return first if (first != np.arange(len(X))).any() else None
