"""How rows scatter around their mean: one accumulator, whether rows come all at once, from a file or batch by batch.

Every block is moved to its own mean before anything is squared, so a large mean costs no digits. Blocks, lanes and
batches meet by Chan's rule: two groups of weights W₁ and W₂ whose means differ by Δ scatter, taken together, like the
two of them and one more row, √(W₁W₂/(W₁ + W₂))·Δ. That row is all there is to it, whatever is kept of the scatter.

Means are kept as offsets from a common origin near the rows: the differences Δ are then as exact as the rows are.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from mercer.limits import NARROW
from mercer.operators.tiles import cut
from mercer.symmetric import Array
from mercer.threads import run

MOST_OFF = 64  # corrections that are put off
COLUMNS = 256  # of a tile of a square or a triangle
PANEL = 32  # columns that the triangle takes up at a time


class Scatter(ABC):
    """Rows of weight w: how many, Σw, their mean, and what a subclass keeps of S = Σw(x − mean)(x − mean)ᵀ."""

    narrow: ClassVar[int] = NARROW  # columns up to which there is one for every lane

    def __init__(self, origin: Array) -> None:
        self.origin = np.array(origin, dtype=np.float64)
        self.count, self.weight, self.offset = 0, 0.0, np.zeros(len(self.origin))
        self.rounding = 0.0  # the coarsest precision that was used
        self.cancelled = np.zeros(len(self.origin))  # what was subtracted from the diagonal of S: it took digits along
        self._room: Array = np.empty((0, 0))

    @property
    def width(self) -> int:
        return len(self.origin)

    @property
    def mean(self) -> Array:
        return self.origin + self.offset

    def centred(self, rows: Array, columns: slice = slice(None)) -> Array:
        """x − mean of some rows, or some of their columns; in two steps, as a large mean would be rounded."""
        moved = np.subtract(rows, self.origin[columns], dtype=np.float64)
        moved -= self.offset[columns]
        return moved

    def add(self, rows: Any, weights: Array | None = None, threads: int = 1, exact: bool = False) -> None:
        """One more block; `exact` computes in float64 whatever the rows are."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        if not rows.shape[0]:
            return
        self.count += rows.shape[0]
        if sparse.issparse(rows):
            self._add_sparse_rows(rows, weights)
            return
        root = None if weights is None else np.sqrt(weights)
        weight = float(rows.shape[0] if weights is None else weights.sum())
        Y, guess, left = self._moved(rows, root, weight, exact)
        Y[-1] = self._meet(weight, (guess - self.origin) + left)
        self.rounding = max(self.rounding, float(np.finfo(Y.dtype).eps))
        self.cancelled += weight * left**2
        self._add(Y, root, weight, left, threads)

    def _add_sparse_rows(self, rows: Any, weights: Array | None) -> None:
        """Sparse rows stay where they are, so their mean is subtracted from squares; on the diagonal, before them."""
        X = sparse.csr_array(rows, dtype=np.float64)
        counts = np.ones(X.nnz) if weights is None else np.repeat(weights, np.diff(X.indptr))
        weight = float(X.shape[0] if weights is None else weights.sum())
        zeros = weight - np.bincount(X.indices, counts, self.width)
        mean = np.bincount(X.indices, counts * X.data, self.width) / weight
        moved = X.data - mean[X.indices]
        left = (np.bincount(X.indices, counts * moved, self.width) - zeros * mean) / weight
        squares = np.bincount(X.indices, counts * moved**2, self.width) + zeros * mean**2 - weight * left**2
        self.rounding = max(self.rounding, float(np.finfo(float).eps))
        self.cancelled += weight * mean**2
        gap = self._meet(weight, (mean - self.origin) + left)
        if weights is not None:
            X = sparse.csr_array((np.sqrt(counts) * X.data, X.indices, X.indptr), shape=X.shape)
        self._add_sparse(X, np.sqrt(weight) * (mean + left), np.maximum(squares, 0.0), gap)

    def merge(self, other: "Scatter") -> None:
        """All rows of another one, of the same kind."""
        if not other.weight:
            return
        gap = self._meet(other.weight, (other.origin - self.origin) + other.offset)
        self.count += other.count
        self.cancelled = self.cancelled + other.cancelled
        self.rounding = max(self.rounding, other.rounding)
        self._merge(other, gap)

    def forget(self, share: float) -> None:
        """Let all rows so far count only this share of what they did."""
        self.weight *= share
        self.cancelled = share * self.cancelled
        self._scale(share)

    def trim(self) -> None:
        """Give back the room in which rows were worked on."""
        self._room = np.empty((0, 0))

    def _meet(self, weight: float, offset: Array) -> Array:
        """Take in a group of rows with this mean: the row that makes up for the difference of the means."""
        total = self.weight + weight
        difference = offset - self.offset
        gap = np.sqrt(self.weight) * np.sqrt(weight / total) * difference
        self.offset = self.offset + difference * (weight / total)
        self.weight = total
        return gap

    def _moved(self, rows: Array, root: Array | None, weight: float, exact: bool) -> tuple[Array, Array, Array]:
        """√w(x − guess) of every row, with room for one more; also the guess, and what it is off the mean.

        The guess is the mean to the precision of the rows: where they are far from zero, that is off by some digits.
        """
        single = rows.dtype == np.float32 and not exact
        dtype = np.float32 if single else np.float64
        if self._room.dtype != dtype or self._room.shape[0] <= len(rows):
            self._room = np.empty((len(rows) + 1, self.width), dtype=dtype)
        out = self._room[: len(rows) + 1]
        root = np.ones(len(rows), dtype=dtype) if root is None else root.astype(dtype)
        guess = (root**2 @ rows / dtype(weight)).astype(dtype)
        Y = np.subtract(rows, guess, out=out[:-1], dtype=dtype)
        if weight != len(rows) or (root != 1).any():
            Y *= root[:, None]
        return out, guess.astype(np.float64), (root @ Y).astype(np.float64) / weight

    @abstractmethod
    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> None:
        """Take in YᵀY − weight·left·leftᵀ; the last row of Y is the gap, and has no weight."""

    @abstractmethod
    def _add_sparse(self, X: Any, mean: Array, squares: Array, gap: Array) -> None:
        """Take in XᵀX − mean·meanᵀ, the diagonal of which is known better, and gap·gapᵀ."""

    @abstractmethod
    def _merge(self, other: Any, gap: Array) -> None:
        """Take in what another one keeps, and gap·gapᵀ."""

    @abstractmethod
    def _scale(self, factor: float) -> None:
        """Multiply S."""

    @property
    @abstractmethod
    def squares(self) -> Array:
        """The diagonal of S (d,): every column's sum of squares around its mean."""


class Square(Scatter):
    """S itself (d×d)."""

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self._matrix = np.zeros((self.width, self.width))  # of wide rows, only on and above the diagonal
        self._product: Array = np.empty((0, 0))
        self._off: list[Array] = []  # what guesses were off by: Σ off·offᵀ is yet to be subtracted

    @property
    def matrix(self) -> Array:
        """S, in the array that goes on accumulating."""
        self._settle()
        if self.width > NARROW:
            for rows in cut(self.width, COLUMNS):
                self._matrix[rows.stop :, rows] = self._matrix[rows, rows.stop :].T
                self._matrix[rows, rows] = np.triu(self._matrix[rows, rows]) + np.triu(self._matrix[rows, rows], 1).T
        return self._matrix

    @property
    def squares(self) -> Array:
        self._settle()
        return np.maximum(np.diag(self._matrix), 0.0)

    def _settle(self) -> None:
        """Many small corrections at once."""
        if self._off:
            off = np.array(self._off)
            self._off = []
            for some in cut(self.width, COLUMNS):
                self._matrix[some] -= off[:, some].T @ off

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> None:
        if self.width > NARROW:
            add_square(self._matrix, Y, threads)
        else:
            if self._product.dtype != Y.dtype or not self._product.size:
                self._product = np.empty((self.width, self.width), dtype=Y.dtype)
            self._matrix += np.matmul(Y.T, Y, out=self._product)  # numpy sees that it is symmetric: half the work
        self._off.append(np.sqrt(weight) * left)
        if len(self._off) == MOST_OFF:
            self._settle()

    def _add_sparse(self, X: Any, mean: Array, squares: Array, gap: Array) -> None:
        self._settle()
        diagonal = np.diag(self._matrix) + squares + gap**2
        product = sparse.coo_array(X.T @ X)
        self._matrix[product.row, product.col] += product.data
        self._add_outer(mean, -1.0)
        self._add_outer(gap, 1.0)
        np.fill_diagonal(self._matrix, diagonal)

    def trim(self) -> None:
        super().trim()
        self._product = np.empty((0, 0))

    def _merge(self, other: "Square", gap: Array) -> None:
        other._settle()
        self._matrix += other._matrix
        self._add_outer(gap, 1.0)

    def _add_outer(self, row: Array, sign: float) -> None:
        for some in cut(self.width, COLUMNS):
            self._matrix[some] += np.multiply.outer(sign * row[some], row)

    def _scale(self, factor: float) -> None:
        self._settle()
        self._matrix *= factor


class Triangle(Scatter):
    """R (d×d, upper triangular) with RᵀR = S: rows are never squared, so small variances keep all their digits."""

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self.R = np.zeros((self.width, self.width), order="F")

    @property
    def squares(self) -> Array:
        return np.einsum("ij,ij->j", self.R, self.R)

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> None:
        Y = np.array(Y, dtype=np.float64, order="F")
        Y[:-1] -= left if root is None else np.multiply.outer(root, left)
        self._take(Y)

    def _add_sparse(self, X: Any, mean: Array, squares: Array, gap: Array) -> None:
        raise TypeError("A triangle takes dense rows; sparse ones are summed up in a Square.")

    def _merge(self, other: "Triangle", gap: Array) -> None:
        self._take(np.concatenate([other.R, gap[None]]))

    def _take(self, Y: Array) -> None:
        """R of [R; Y], Householder reflections that leave the zeros of R alone."""
        self.R = lapack.dtpqrt(0, min(PANEL, self.width), self.R, Y, overwrite_a=1, overwrite_b=1)[0]

    def _scale(self, factor: float) -> None:
        self.R *= np.sqrt(factor)


class Spread(Scatter):
    """The diagonal of S alone: where means and variances will do."""

    narrow = 10**9

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self._squares = np.zeros(self.width)

    @property
    def squares(self) -> Array:
        return np.maximum(self._squares, 0.0)

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> None:
        self._squares += np.einsum("ij,ij->j", Y, Y) - weight * left**2

    def _add_sparse(self, X: Any, mean: Array, squares: Array, gap: Array) -> None:
        self._squares += squares + gap**2

    def _merge(self, other: "Spread", gap: Array) -> None:
        self._squares += other._squares + gap**2

    def _scale(self, factor: float) -> None:
        self._squares *= factor


def add_square(square: Array, Y: Array, threads: int) -> None:
    """square += YᵀY on and above the diagonal, shared out by tiles."""
    pieces = cut(len(square), COLUMNS)

    def work(tile: tuple[slice, slice]) -> None:
        rows, columns = tile
        square[rows, columns] += Y[:, rows].T @ Y[:, columns]

    run(work, [(rows, columns) for i, rows in enumerate(pieces) for columns in pieces[i:]], threads)
