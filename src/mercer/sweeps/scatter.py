"""How rows scatter around their mean: one accumulator, whether rows come all at once, from a file or batch by batch.

Every block is moved to its own mean before anything is squared, so a large mean costs no digits. Blocks, lanes and
batches meet by Chan's rule: two groups of weights W₁ and W₂ whose means differ by Δ scatter, taken together, like the
two of them and one more row, √(W₁W₂/(W₁ + W₂))·Δ. That row is all there is to it, whatever is kept of the scatter.

The mean is kept as the number nearest to it and what is left (origin + offset), wherever rows drift to, so differences
Δ are as exact as the rows are. Everything carries how far off it can be: `noise` is a vector e with
|δSᵢⱼ| ≤ √(eᵢeⱼ), so that ‖δS‖ ≤ Σe, and errors add up (Cauchy and Schwarz); docs/design/rounding.md derives each term.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from mercer.arrays import Array, Matrix
from mercer.blocks import NARROW, cut
from mercer.rounding import UNIT, UNIT_SINGLE, gamma
from mercer.sources.held import copies_of
from mercer.sums import RunningSum, chain, column_squares, cross, inner, sum_chain, two_sum, weighted_sum
from mercer.threads import run

MOST_OFF = 64  # corrections that are put off
COLUMNS = 256  # of a tile of a square or a triangle
PANEL = 32  # columns that the triangle takes up at a time
TRIANGLE_ROWS = 128  # that the triangle takes up at a time: its sums are no longer than that
DENSE_PRODUCT = 4  # products of sparse rows with a fourth of all entries are added up as a whole
ENTRY = 8  # roundings of an entry: x − c, √w, their product, twice, and what is done with the sum


class Scatter(ABC):
    """Rows of weight w: how many, Σw, their mean, and what a subclass keeps of S = Σw(x − mean)(x − mean)ᵀ."""

    narrow: ClassVar[int] = NARROW  # columns up to which there is one for every lane

    def __init__(self, origin: Array) -> None:
        self.origin = np.array(origin, dtype=np.float64)
        self.count, self.weight, self.offset = 0, 0.0, np.zeros(len(self.origin))
        self.copies = 0  # rows, each as often as its weight says, if weights are whole numbers
        self.precision = 0.0  # the coarsest precision that was used
        self.noise = np.zeros(len(self.origin))  # of S: |δSᵢⱼ| ≤ √(eᵢeⱼ)
        self.own_noise = np.zeros(len(self.origin))  # of its diagonal, which sparse rows leave better known
        self.doubt = np.zeros(len(self.origin))  # how far off the mean can be
        self.unsure = 0.0  # how far off the weight can be, relative to it
        self._more_weight = 0.0  # that rounding took from it
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

    def add(self, rows: Matrix, weights: Array | None = None, threads: int = 1, exact: bool = False) -> None:
        """One more block; `exact` computes in float64 whatever the rows are."""
        if weights is not None and not weights.all():
            rows, weights = rows[weights > 0], weights[weights > 0]
        if not rows.shape[0]:
            return
        self.count += rows.shape[0]
        self.copies += rows.shape[0] if weights is None else copies_of(weights, rows.shape[0])
        if sparse.issparse(rows):
            self._add_sparse_rows(sparse.csr_array(rows, dtype=np.float64), weights)
        else:
            self._add_dense_rows(rows, weights, threads, exact)

    def _add_dense_rows(self, rows: Array, weights: Array | None, threads: int, exact: bool) -> None:
        root = None if weights is None else np.sqrt(weights)
        weight, unsure = weight_of(rows, weights)
        Y, guess, left = self._moved(rows, root, weight, exact)
        unit = UNIT if Y.dtype == np.float64 else UNIT_SINGLE
        self.precision = max(self.precision, 2 * unit)
        squares = self._add(Y, root, weight, left, threads)
        off = np.sqrt(weight) * np.abs(left)
        off_by = gamma(sum_chain(len(Y)) + ENTRY, unit) * np.sqrt(squares) + (unsure + gamma(ENTRY)) * off
        noise = gamma(chain(len(Y)) + ENTRY, unit) * squares
        noise += gamma(MOST_OFF + ENTRY) * off**2 + cross(off, off_by) + off_by**2
        self.noise += noise
        self.own_noise += noise
        self._add_row(self._meet(weight, guess, left, off_by / np.sqrt(weight), unsure))

    def _add_sparse_rows(self, X: Matrix, weights: Array | None) -> None:
        """Sparse rows stay where they are, so their mean is subtracted from squares; on the diagonal, before them."""
        counts = np.ones(X.nnz) if weights is None else np.repeat(weights, np.diff(X.indptr))
        weight, unsure = weight_of(X, weights)

        def sums(of: Array) -> Array:
            return np.bincount(X.indices, of, self.width)

        terms = gamma(int(np.bincount(X.indices, minlength=1).max()) + ENTRY)  # every column adds up what it has
        zeros = weight - sums(counts)
        mean = sums(counts * X.data) / weight
        moved = X.data - mean[X.indices]
        left = (sums(counts * moved) - zeros * mean) / weight
        around = sums(counts * moved**2) + np.maximum(zeros, 0.0) * mean**2
        size, off = np.sqrt(weight) * np.abs(mean), np.sqrt(weight) * np.abs(left)
        miscounted = 0.0 if weights is None else terms + unsure  # of the weights of zeros
        off_by = terms * np.sqrt(around) + (gamma(ENTRY) + miscounted) * size
        own = terms * around + miscounted * size**2 + cross_alone(off, off_by)
        whole = terms * sums(counts * X.data**2) + cross(size, off_by) + off_by**2 + gamma(ENTRY) * size**2
        self.precision = max(self.precision, 2 * UNIT)
        self.noise += np.maximum(own, whole)
        self.own_noise += own
        self._add_row(self._meet(weight, mean, left, off_by / np.sqrt(weight), unsure))
        if weights is not None:
            X = sparse.csr_array((np.sqrt(counts) * X.data, X.indices, X.indptr), shape=X.shape)
        self._add_sparse(X, np.sqrt(weight) * (mean + left), np.maximum(around - off**2, 0.0))

    def merge(self, other: Self) -> None:
        """All rows of another one, of the same kind."""
        if not other.weight:
            return
        self._add_row(self._meet(other.weight, other.origin, other.offset, other.doubt, other.unsure))
        self.count += other.count
        self.copies += other.copies
        self.noise = self.noise + other.noise
        self.own_noise = self.own_noise + other.own_noise
        self.precision = max(self.precision, other.precision)
        self._merge(other)

    def noise_of_scaling(self, scale: Array | None) -> float:
        """What dividing the columns by their deviations adds: those are as far off as their squares are.

        |cᵢⱼ|(ηᵢ + ηⱼ) with |cᵢⱼ| ≤ √(cᵢᵢcⱼⱼ), η the relative error of a deviation.
        """
        if scale is None:
            return 0.0
        return float(cross(self.scale_off(scale) * self._scaled(scale), self._scaled(scale)).sum())

    def scale_off(self, scale: Array) -> Array:
        """η of every column; of those that are left as they are, none."""
        squares = np.maximum(self.squares, np.finfo(float).tiny)
        return np.where(self.constant, 0.0, self.own_noise / squares / 2 + 4 * UNIT)

    @property
    def constant(self) -> Array:
        """Which columns vary by no more than rounding does."""
        return self.squares <= self.own_noise + self.weight * self.doubt**2

    def _scaled(self, scale: Array) -> Array:
        return np.sqrt(self.squares) / scale

    def forget(self, share: float) -> None:
        """Let all rows so far count only this share of what they did."""
        if share == 1:
            return
        self.weight *= share
        self._more_weight *= share
        self.unsure += UNIT
        self.noise = share * self.noise + 2 * UNIT * self.squares
        self.own_noise = share * self.own_noise + 2 * UNIT * self.squares
        self._scale(share)

    def in_other_units(self, factor: float) -> None:
        """Of the same rows times a power of two."""
        self.origin, self.offset, self.doubt = factor * self.origin, factor * self.offset, factor * self.doubt
        self.noise, self.own_noise = factor * (factor * self.noise), factor * (factor * self.own_noise)
        self._scale(factor)
        self._scale(factor)

    def trim(self) -> None:
        """Give back the room in which rows were worked on."""
        self._room = np.empty((0, 0))

    def _meet(self, weight: float, place: Array, left: Array, doubt: Array, unsure: float) -> Array:
        """Take in a group of rows whose mean is place + left: the row that makes up for the difference of the means."""
        if not self.weight:
            self.origin, self.offset = two_sum(place, left)
            self.weight, self.doubt, self.unsure = weight, doubt, unsure
            return np.zeros(self.width)
        total, more = two_sum(self.weight, weight)
        share = weight / total
        difference = ((place - self.origin) + left) - self.offset
        factor = np.sqrt(self.weight) * np.sqrt(share)
        gap, longer = factor * difference, np.abs(difference) + np.abs(left) + np.abs(self.offset)
        wrong = factor * (self.doubt + doubt + 4 * UNIT * longer) + (self.unsure + unsure + 6 * UNIT) * np.abs(gap)
        self._wrong_gap(gap, wrong)
        step = share * difference
        self.doubt = (1 - share) * self.doubt + share * doubt
        self.doubt += (self.unsure + unsure + 8 * UNIT) * np.abs(step) + 4 * UNIT * (np.abs(left) + np.abs(self.offset))
        self.unsure = (1 - share) * self.unsure + share * unsure + UNIT**2
        self.origin, self.offset = two_sum(self.origin, self.offset + step)
        self.weight, self._more_weight = two_sum(total, self._more_weight + more)
        return gap

    def _wrong_gap(self, gap: Array, wrong: Array) -> None:
        """The noise of gap·gapᵀ if gap is so wrong."""
        noise = cross(np.abs(gap), wrong) + wrong**2 + gamma(MOST_OFF + ENTRY) * gap**2
        self.noise = self.noise + noise
        self.own_noise = self.own_noise + noise

    def _moved(self, rows: Array, root: Array | None, weight: float, exact: bool) -> tuple[Array, Array, Array]:
        """√w(x − guess) of every row; also the guess, and what it is off the mean.

        The guess is the mean to the precision of the rows: where they are far from zero, that is off by some digits.
        """
        single = rows.dtype == np.float32 and not exact
        dtype = np.float32 if single else np.float64
        if self._room.dtype != dtype or self._room.shape[0] < len(rows):
            self._room = np.empty((len(rows), self.width), dtype=dtype)
        root = np.ones(len(rows), dtype=dtype) if root is None else root.astype(dtype)
        guess = (root**2 @ rows / dtype(weight)).astype(dtype)
        Y = np.subtract(rows, guess, out=self._room[: len(rows)], dtype=dtype)
        if weight != len(rows) or (root != 1).any():
            Y *= root[:, None]
        return Y, guess.astype(np.float64), weighted_sum(root, Y) / weight

    @abstractmethod
    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        """Take in YᵀY − weight·left·leftᵀ; returns the diagonal of YᵀY."""

    @abstractmethod
    def _add_row(self, row: Array) -> None:
        """Take in row·rowᵀ."""

    @abstractmethod
    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        """Take in XᵀX − mean·meanᵀ, the diagonal of which is known better."""

    @abstractmethod
    def _merge(self, other: Self) -> None:
        """Take in what another one keeps."""

    @abstractmethod
    def _scale(self, factor: float) -> None:
        """Multiply S."""

    @property
    @abstractmethod
    def squares(self) -> Array:
        """The diagonal of S (d,): every column's sum of squares around its mean."""


class Square(Scatter):
    """S itself (d×d), on and above the diagonal."""

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self._sum = RunningSum((self.width, self.width))
        self._more: list[Array] = []  # rows that are yet to be squared and added …
        self._less: list[Array] = []  # … or subtracted

    @property
    def matrix(self) -> Array:
        """S, in the array that goes on accumulating."""
        self._settle()
        for tile in upper_tiles(self.width):
            self._sum.settle(tile)
        mirror(self._sum.high)
        return self._sum.high

    @property
    def squares(self) -> Array:
        self._settle()
        return np.maximum(np.diag(self._sum.high) + np.diag(self._sum.low), 0.0)

    def _settle(self) -> None:
        """Many small corrections at once."""
        if not self._more and not self._less:
            return
        more, less = np.array(self._more or [np.zeros(self.width)]), np.array(self._less or [np.zeros(self.width)])
        self._more, self._less = [], []
        for tile in upper_tiles(self.width):
            rows, columns = tile
            self._sum.add(more[:, rows].T @ more[:, columns], tile)
            self._sum.add(-(less[:, rows].T @ less[:, columns]), tile)

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        squares = np.empty(self.width)

        def work(tile: tuple[slice, slice]) -> None:
            part = inner(*columns_behind(Y, tile))
            if tile[0] == tile[1]:
                squares[tile[0]] = np.diag(part)
            self._sum.add(part, tile)

        if self.width > NARROW:
            run(work, upper_tiles(self.width), threads)
        else:
            whole = inner(Y, Y)
            squares[:] = np.diag(whole)
            for tile in upper_tiles(self.width):
                self._sum.add(whole[tile], tile)
        self._less.append(np.sqrt(weight) * left)
        return squares

    def _add_row(self, row: Array) -> None:
        self._more.append(row)
        if max(len(self._more), len(self._less)) == MOST_OFF:
            self._settle()

    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        part, dense = X.T @ X, None
        if DENSE_PRODUCT * part.nnz > self.width**2:
            dense = part.toarray()
        else:
            part = part.tocoo()
            above = part.row < part.col
            self._sum.add(part.data[above], (part.row[above], part.col[above]))
        for tile in upper_tiles(self.width):
            rows, columns = tile
            outer = -np.multiply.outer(mean[rows], mean[columns])
            if dense is not None:
                outer += dense[tile]
            if rows == columns:
                np.fill_diagonal(outer, squares[rows])
            self._sum.add(outer, tile)

    def _merge(self, other: Self) -> None:
        other._settle()
        for tile in upper_tiles(self.width):
            self._sum.add_sum(other._sum, tile)

    def _scale(self, factor: float) -> None:
        self._settle()
        self._sum.scale(factor)


class Triangle(Scatter):
    """R (d×d, upper triangular) with RᵀR = S: rows are never squared, so small variances keep all their digits.

    What rounding does is a matter of the columns here: R is that of rows whose columns are off by no more than `slack`.
    """

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self.R = np.zeros((self.width, self.width), order="F")
        self._of_rows = np.zeros(self.width)  # squared: errors in different rows are at right angles
        self._of_steps = np.zeros(self.width)

    @property
    def squares(self) -> Array:
        return np.einsum("ij,ij->j", self.R, self.R)

    @property
    def slack(self) -> Array:
        return np.sqrt(self._of_rows) + self._of_steps

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        unit = UNIT if Y.dtype == np.float64 else UNIT_SINGLE
        Y = np.array(Y, dtype=np.float64, order="F")
        squares = np.einsum("ij,ij->j", Y, Y)
        Y -= left if root is None else np.multiply.outer(root, left)
        # Entries and what is subtracted from them; the block's own mean; the reflections' sums over some of its rows.
        terms = gamma(sum_chain(len(Y)) + 2 * ENTRY, unit) + gamma(min(len(Y), TRIANGLE_ROWS) + ENTRY)
        self._of_rows += terms**2 * (squares + weight * left**2)
        for some in cut(len(Y), TRIANGLE_ROWS):
            self._take(np.asfortranarray(Y[some]))
        return squares

    def _add_row(self, row: Array) -> None:
        self._take(np.asfortranarray(row[None]))

    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        raise TypeError("A triangle takes dense rows; sparse ones are summed up in a Square.")

    def _merge(self, other: Self) -> None:
        self._of_rows += other._of_rows + gamma(self.width + ENTRY) ** 2 * other.squares
        self._of_steps += other._of_steps
        self._take(other.R.copy(order="F"))

    def _wrong_gap(self, gap: Array, wrong: Array) -> None:
        super()._wrong_gap(gap, wrong)
        self._of_rows += wrong**2

    def _take(self, Y: Array) -> None:
        """R of [R; Y], Householder reflections that leave the zeros of R alone."""
        self.R = lapack.dtpqrt(0, min(PANEL, self.width), self.R, Y, overwrite_a=1, overwrite_b=1)[0]
        self._of_steps += 4 * UNIT * np.sqrt(self.squares)

    def _scale(self, factor: float) -> None:
        self._of_rows *= factor
        self._of_steps *= np.sqrt(factor)
        self.R *= np.sqrt(factor)


class Spread(Scatter):
    """The diagonal of S alone: where means and variances will do."""

    narrow = 10**9

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self._sum = RunningSum((self.width,))

    @property
    def squares(self) -> Array:
        return np.maximum(self._sum.high + self._sum.low, 0.0)

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        squares = column_squares(Y)
        self._sum.add(squares)
        self._sum.add(-weight * left**2)
        return squares

    def _add_row(self, row: Array) -> None:
        self._sum.add(row**2)

    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        self._sum.add(squares)

    def _merge(self, other: Self) -> None:
        self._sum.add_sum(other._sum)

    def _scale(self, factor: float) -> None:
        self._sum.scale(factor)


def weight_of(rows: Matrix, weights: Array | None) -> tuple[float, float]:
    """Σw, and how far off it can be, relative to it: whole rows are counted."""
    if weights is None:
        return float(rows.shape[0]), 0.0
    return float(weighted_sum(np.ones(len(weights)), weights[:, None])[0]), gamma(sum_chain(len(weights)))


def cross_alone(a: Array, b: Array) -> Array:
    """What a column is off by if a² was subtracted from its squares and a is off by b."""
    return 2 * a * b + b**2


def upper_tiles(width: int) -> list[tuple[slice, slice]]:
    pieces = cut(width, COLUMNS)
    return [(rows, columns) for i, rows in enumerate(pieces) for columns in pieces[i:]]


def columns_behind(Y: Array, tile: tuple[slice, slice]) -> tuple[Array, Array]:
    """The columns of Y behind a tile of YᵀY: the same array twice on the diagonal, which is half the work."""
    rows = np.ascontiguousarray(Y[:, tile[0]])
    return rows, rows if tile[0] == tile[1] else np.ascontiguousarray(Y[:, tile[1]])


def add_square(square: Array, Y: Array, threads: int) -> None:
    """square += YᵀY on and above the diagonal, in short chains, shared out by tiles."""

    def work(tile: tuple[slice, slice]) -> None:
        square[tile] += inner(*columns_behind(Y, tile))

    run(work, upper_tiles(len(square)), threads)


def mirror(square: Array) -> None:
    """What is above the diagonal, below it too."""
    for rows, columns in upper_tiles(len(square)):
        tile = square[rows, columns]
        if rows == columns:
            tile[...] = np.triu(tile) + np.triu(tile, 1).T
        else:
            square[columns, rows] = tile.T
