"""S itself, a d×d matrix summed up tile by tile: what most fits keep of a scatter."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from mercer_old.arrays import Array, Matrix
from mercer_old.blocks import NARROW, cut
from mercer_old.sums import RunningSum, inner
from mercer_old.sweeps.scatter import MOST_OFF, Scatter
from mercer_old.threads import run

COLUMNS = 256  # of a tile of a square or a triangle
_DENSE_PRODUCT = 4  # products of sparse rows with a fourth of all entries are added up as a whole


class Square(Scatter):
    """S itself (d×d), on and above the diagonal."""

    def __init__(self, origin: Array) -> None:
        super().__init__(origin)
        self._sum = RunningSum((self.width, self.width))
        self._more: list[Array] = []  # rows that are yet to be squared and added …
        self._less: list[Array] = []  # … or subtracted

    def facts(self) -> dict[str, Any]:
        """With the sums, in two parts, and the rows that are yet to be taken in."""
        waiting = {"more": self._more, "less": self._less}
        rows = {name: np.array(rows).reshape(-1, self.width) for name, rows in waiting.items()}
        return super().facts() | {"sums": self._sum.high, "sums_left": self._sum.low} | rows

    def learn(self, facts: Mapping[str, Any]) -> None:
        super().learn(facts)
        self._sum.high, self._sum.low = facts["sums"], facts["sums_left"]
        self._more, self._less = list(facts["more"]), list(facts["less"])

    @property
    def matrix(self) -> Array:
        """S, in the array that goes on accumulating."""
        self._settle()
        for tile in _upper_tiles(self.width):
            self._sum.settle(tile)
        mirror(self._sum.high)
        return self._sum.high

    @property
    def squares(self) -> Array:
        self._settle()
        return np.maximum(np.diag(self._sum.high) + np.diag(self._sum.low), 0.0)

    def trim(self) -> None:
        super().trim()
        self._settle()  # rows that wait would travel along with it

    def _settle(self) -> None:
        """Many small corrections at once."""
        if not self._more and not self._less:
            return
        more, less = np.array(self._more or [np.zeros(self.width)]), np.array(self._less or [np.zeros(self.width)])
        self._more, self._less = [], []
        for tile in _upper_tiles(self.width):
            rows, columns = tile
            self._sum.add(more[:, rows].T @ more[:, columns], tile)
            self._sum.add(-(less[:, rows].T @ less[:, columns]), tile)

    def _add(self, Y: Array, root: Array | None, weight: float, left: Array, threads: int) -> Array:
        squares = np.empty(self.width)

        def work(tile: tuple[slice, slice]) -> None:
            part = inner(*_columns_behind(Y, tile))
            if tile[0] == tile[1]:
                squares[tile[0]] = np.diag(part)
            self._sum.add(part, tile)

        if self.width > NARROW:
            run(work, _upper_tiles(self.width), threads)
        else:
            whole = inner(Y, Y)
            squares[:] = np.diag(whole)
            for tile in _upper_tiles(self.width):
                self._sum.add(whole[tile], tile)
        self._less.append(np.sqrt(weight) * left)
        return squares

    def _add_row(self, row: Array) -> None:
        self._more.append(row)
        if max(len(self._more), len(self._less)) >= MOST_OFF:
            self._settle()

    def _add_sparse(self, X: Matrix, mean: Array, squares: Array) -> None:
        part, dense = X.T @ X, None
        if _DENSE_PRODUCT * part.nnz > self.width**2:
            dense = part.toarray()
        else:
            part = part.tocoo()
            above = part.row < part.col
            self._sum.add(part.data[above], (part.row[above], part.col[above]))
        for tile in _upper_tiles(self.width):
            rows, columns = tile
            outer = -np.multiply.outer(mean[rows], mean[columns])
            if dense is not None:
                outer += dense[tile]
            if rows == columns:
                np.fill_diagonal(outer, squares[rows])
            self._sum.add(outer, tile)

    def _merge(self, other: Self) -> None:
        if max(len(self._more) + len(other._more), len(self._less) + len(other._less)) >= MOST_OFF:
            self._settle()
        self._more = self._more + other._more
        self._less = self._less + other._less
        for tile in _upper_tiles(self.width):
            self._sum.add_sum(other._sum, tile)

    def _scale(self, factor: float) -> None:
        self._settle()
        self._sum.scale(factor)


def _upper_tiles(width: int) -> list[tuple[slice, slice]]:
    pieces = cut(width, COLUMNS)
    return [(rows, columns) for i, rows in enumerate(pieces) for columns in pieces[i:]]


def _columns_behind(Y: Array, tile: tuple[slice, slice]) -> tuple[Array, Array]:
    """The columns of Y behind a tile of YᵀY: the same array twice on the diagonal, which is half the work."""
    rows = np.ascontiguousarray(Y[:, tile[0]])
    return rows, rows if tile[0] == tile[1] else np.ascontiguousarray(Y[:, tile[1]])


def add_square(square: Array, Y: Array, threads: int) -> None:
    """square += YᵀY on and above the diagonal, in short chains, shared out by tiles."""

    def work(tile: tuple[slice, slice]) -> None:
        square[tile] += inner(*_columns_behind(Y, tile))

    run(work, _upper_tiles(len(square)), threads)


def mirror(square: Array) -> None:
    """What is above the diagonal, below it too."""
    for rows, columns in _upper_tiles(len(square)):
        tile = square[rows, columns]
        if rows == columns:
            tile[...] = np.triu(tile) + np.triu(tile, 1).T
        else:
            square[columns, rows] = tile.T
