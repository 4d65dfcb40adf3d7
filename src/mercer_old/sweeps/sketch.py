"""A few rows B that stand for all of them, however many columns there are: Frequent Directions.

Rows gather in a matrix M of 2ℓ rows. When it is full it is turned into M = UΣVᵀ, every σ² is lowered by δ = σ²_{ℓ+1}
(or to zero), and ℓ rows of Vᵀ times what is left take the place of M. With Δ the sum of all δ, for centred rows of
scatter S:

  BᵀB ⪯ S ⪯ BᵀB + Δ·I,   so   σᵢ²(B) ≤ λᵢ(S) ≤ σᵢ²(B) + Δ

as every step takes away no less than nothing and no more than δ, in any direction. It takes δ from ℓ + 1 directions at
least, hence (ℓ + 1)Δ ≤ tr S − ‖B‖². The first k axes of S hold Σ(λᵢ − Δ) in B at least, hence, for every k ≤ ℓ,

  Δ ≤ (λ_{k+1} + λ_{k+2} + …)/(ℓ + 1 − k)

(Liberty 2013; Ghashami, Liberty, Phillips and Woodruff 2016). Nothing is lost as long as there are no more than 2ℓ
rows. Two sketches merge by rows of one taken in by the other: both statements hold for any tree of merges.

Rounding. U is any matrix, found from a rounded Gram matrix: what it does is measured, not believed. If U is orthogonal
to η = ‖UᵀU − I‖ and UᵀMMᵀU is diagonal to ε, a step is off by no more than ε + (2η + η²)‖M‖² and what its product
rounds: `rounding` is the sum, in both directions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, Matrix
from mercer_old.blocks import cut, lane_rows, steps
from mercer_old.rounding import UNIT, gamma
from mercer_old.sums import LESS_SHORT, chain, column_squares, product, row_squares
from mercer_old.sweeps.scatter import ENTRY
from mercer_old.sweeps.spread import Spread
from mercer_old.threads import run

_COLUMNS = 4096  # of a sketch that are turned at a time


@dataclass(frozen=True)
class Sketches:
    """Makes sketches of one size, as sweeps ask for them."""

    size: int
    narrow: int = 0  # all rows go to one

    def __call__(self, origin: Array) -> "Sketch":
        return Sketch(origin, self.size)


class Sketch(Spread):
    """B (up to 2ℓ×d) with BᵀB ⪯ S ⪯ BᵀB + Δ·I, and the diagonal of S itself."""

    def __init__(self, origin: Array, size: int) -> None:
        super().__init__(origin)
        self.size = size  # ℓ
        self.shrinkage = 0.0  # Δ
        self.rounding = 0.0  # how far off both statements can be, beyond `noise`
        self._kept = np.empty((0, self.width))
        self._used, self._threads = 0, 1

    @property
    def rows(self) -> Array:
        """B, in the array that goes on gathering."""
        return self._kept[: self._used]

    @property
    def doubtful(self) -> float:
        """How far rounding can have moved the eigenvalues of S − BᵀB."""
        return float(self.noise.sum()) + self.rounding

    def facts(self) -> dict[str, Any]:
        return super().facts() | {
            "sketch": self.rows,
            "sketch_size": self.size,
            "shrinkage": self.shrinkage,
            "sketch_rounding": self.rounding,
            "spread": self._sum.high,
            "spread_left": self._sum.low,
        }

    def learn(self, facts: Mapping[str, Any]) -> None:
        super().learn(facts)
        self.size, self.shrinkage, self.rounding = (
            facts[name] for name in ("sketch_size", "shrinkage", "sketch_rounding")
        )
        self._kept, self._used = facts["sketch"], len(facts["sketch"])
        self._sum.high, self._sum.low = facts["spread"], facts["spread_left"]

    # ------------------------------------------------------------------ rows come in

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        squares, self._threads = column_squares(Y), threads
        self._sum.add(squares)
        self._sum.add(-weight * left**2)
        Y = Y.astype(np.float64, copy=False)
        Y -= left if root is None else root[:, None] * left
        self.rounding += 2 * gamma(ENTRY) * float(np.sum(squares + weight * left**2))
        self._take(Y)
        return squares

    def _add_row(self, row: Array) -> None:
        super()._add_row(row)
        self._take(row[None])

    def _add_sparse_rows(self, X: Matrix, weights: Array | None) -> None:
        """Sparse rows are centred like others, and few of them at a time are made dense for it."""
        for piece in cut(X.shape[0], lane_rows(self.width, True, narrow=False)):
            some = None if weights is None else weights[piece]
            self._add_dense_rows(X[piece].toarray(), some, self._threads, exact=True)

    def _merge(self, other: Self) -> None:
        super()._merge(other)
        self.shrinkage += other.shrinkage
        self.rounding += other.rounding
        self._take(other.rows)

    def _scale(self, factor: float) -> None:
        super()._scale(factor)
        self.rounding = factor * self.rounding + 4 * UNIT * float(self.squares.sum())
        self.shrinkage *= factor
        self._kept *= np.sqrt(factor)

    def _change_unit(self, factor: float) -> None:
        self._sum.scale(factor)
        self._sum.scale(factor)
        self.rounding, self.shrinkage = factor * (factor * self.rounding), factor * (factor * self.shrinkage)
        self._kept *= factor

    def _take(self, Y: Array) -> None:
        """Rows into the matrix, which shrinks whenever it is full and there are more."""
        if len(Y) == 1 and not Y.any():
            return
        start = 0
        while start < len(Y):
            if self._used == 2 * self.size:
                self._shrink()
            stop = min(start + 2 * self.size - self._used, len(Y))
            self._make_room(stop - start)
            self._kept[self._used : self._used + stop - start] = Y[start:stop]
            self._used, start = self._used + stop - start, stop

    def _make_room(self, more: int) -> None:
        needed, there = self._used + more, len(self._kept)
        if needed > there:
            room = np.empty((min(max(2 * there, needed), 2 * self.size), self.width))
            room[: self._used] = self.rows
            self._kept = room

    # ------------------------------------------------------------------ and few are kept

    def _shrink(self) -> None:
        M = self.rows
        gram = np.empty((len(M), len(M)))

        def multiply(some: slice) -> None:
            product(M[some], M.T, gram[some], LESS_SHORT)

        def turn(some: slice) -> None:
            M[: self.size, some] = product(turned, M[:, some])

        run(multiply, cut(len(M), 128), self._threads)
        if not np.isfinite(gram).all():  # nor are the squares of the columns, which others look at
            self._used = self.size
            return
        values, U = np.linalg.eigh(gram)
        values, U = values[::-1], U[:, ::-1]
        lowered = max(float(values[self.size]), 0.0)
        left = np.maximum(values[: self.size] - lowered, 0.0)
        turned = np.sqrt(np.divide(left, values[: self.size], out=np.zeros(self.size), where=left > 0))[:, None]
        turned = turned * U.T[: self.size]
        self.rounding += _rounding_of(gram, values, U, float(row_squares(M).sum()), M.shape[1])
        run(turn, steps(M.shape[1], _COLUMNS), self._threads)
        self._used = self.size
        self.shrinkage += lowered * (1 + 16 * UNIT)


def _rounding_of(gram: Array, values: Array, U: Array, size: float, width: int) -> float:
    """ε + (2η + η²)‖M‖², both as measured and with room for the measuring, and 2‖B‖‖δB‖ + ‖δB‖² of the product."""
    m = len(gram)
    measuring = gamma(chain(m) + ENTRY) * m
    eta = float(np.linalg.norm(product(U.T, U) - np.eye(m))) + measuring
    entries = gamma(chain(width, LESS_SHORT) + ENTRY) * size
    beside = float(np.linalg.norm(product(U.T, product(gram, U)) - np.diag(values)))
    epsilon = beside + 2 * measuring * size + entries * (1 + eta) ** 2
    entry = gamma(chain(m) + 2 * ENTRY) * np.sqrt(m) * (1 + eta)
    return float(epsilon + (4 * eta + 2 * eta**2 + 2 * entry * (1 + eta) + entry**2) * size)
