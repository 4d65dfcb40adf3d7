"""Distances from some rows to all rows, a tile at a time: only their order is ever read."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array
from mercer_old.blocks import steps
from mercer_old.errors import BadData
from mercer_old.inputs import refuse_diagonal
from mercer_old.kernels.dot import Cosine, dot, squared_norms
from mercer_old.sources.held import some_rows
from mercer_old.squares import Moved, differences, first_of_equals, from_products, medians, multiply
from mercer_old.sums import LONG

_TILE, _WIDTH = 1_000_000, 4096  # numbers, and rows at most, that one thread measures the distance to at a time
_FEW_COLUMNS = 8  # up to so many, differences are as fast as products
_DIGITS = 1e-6  # to which the nearest distance has to be known, for products to be good enough


class RowDistances(ABC):
    """From some rows to all n, or anything that grows with them: only their order is read."""

    n: int
    width: int = _WIDTH  # of a tile

    @abstractmethod
    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        """Write those from the rows with these numbers to a slice of all into `out`."""

    def settle(self, i: int, distances: Array) -> None:
        """Put right what `fill` cannot know, in all distances of row i, and that to itself to infinity."""
        distances[i] = np.inf


class _GivenDistances(RowDistances):
    """As they are."""

    def __init__(self, matrix: Array) -> None:
        self.matrix, self.n = matrix, len(matrix)

    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        out[...] = self.matrix[rows, columns]


class _DenseDistances(RowDistances):
    """‖x − y‖² from one matrix product, of rows moved to their medians.

    What that costs in digits is made good where it shows: rows so near that the squares cancel are measured again by
    differences, and equal rows get equal distances, in whatever order BLAS may have added them up.

    Of unit rows the centre is zero and ‖z‖² is one, of a row of zeros too: 2 − 2·cos, with cos = 0 for a row of zeros.
    """

    def __init__(self, X: Array, unit: bool = False) -> None:
        self.X, (self.n, d) = X, X.shape
        self.width = min(max(_TILE // (d + 2), 1), _WIDTH)
        self.by_products = unit or d > _FEW_COLUMNS
        self.centre = np.zeros(d) if unit else medians(X)
        parts = [] if unit else [Moved(X[part], self.centre).squares for part in steps(self.n, self.width)]
        self.squares = np.ones(self.n) if unit else np.concatenate(parts)
        self.near = 4 * (d + 2) * np.finfo(np.float64).eps / _DIGITS * self.squares
        self.first = first_of_equals(X, self.centre) if self.by_products else None

    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        if self.by_products:
            # `near` allows for a chain of all columns, so none is cut short.
            multiply(self._moved(rows).left(times=-2.0), self._moved(columns).right(), out, short=LONG)
        else:
            out[...] = differences(self.X[rows], self.X[columns])

    def settle(self, i: int, distances: Array) -> None:
        if self.first is not None:
            distances[:] = distances[self.first]
        distances[i] = np.inf
        if self.by_products:
            near = np.flatnonzero(distances <= self.near[i])
            for part in steps(len(near), self.width):
                distances[near[part]] = differences(self.X[[i]], self.X[near[part]])[0]

    def _moved(self, rows: Any) -> Moved:
        return Moved(self.X[rows], self.centre, squares=self.squares[rows])


class _SparseDistances(RowDistances):
    """‖x − y‖² = ‖x‖² − 2xᵀy + ‖y‖² of CSR rows, which cannot be moved to a centre without filling up."""

    def __init__(self, X: Any, unit: bool = False) -> None:
        self.X, self.n = X, X.shape[0]
        self.squares = np.ones(self.n) if unit else squared_norms(X)

    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        dot(self.X[rows], some_rows(self.X, columns.start, columns.stop), out)
        from_products(out, self.squares[rows], self.squares[columns])


def distances_of(X: Any, metric: str) -> RowDistances:
    if metric == "precomputed":
        return _precomputed(X)
    refuse_spread(X)
    kind = _SparseDistances if sparse.issparse(X) else _DenseDistances
    return kind(Cosine().rows(X), unit=True) if metric == "cosine" else kind(X)


def refuse_spread(X: Any) -> None:
    """Numbers whose differences have no squares."""
    spread = float(X.max()) - float(X.min())
    if not (spread == 0 or 1e-120 < spread < 1e150):
        raise BadData(f"Numbers that spread over {spread:.1g} cannot be squared: scale the data (StandardScaler).")


def _precomputed(D: Any) -> _GivenDistances:
    if sparse.issparse(D):
        raise ValueError('With metric="precomputed" X has to be dense: a sparse matrix leaves out most distances.')
    if D.shape[0] != D.shape[1]:
        raise ValueError(f'With metric="precomputed" X has to be a square matrix of distances; its shape is {D.shape}.')
    if D.min() < 0:
        raise BadData(f'With metric="precomputed" X has to hold distances; its smallest number is {D.min():.3g}.')
    refuse_diagonal(D)
    return _GivenDistances(D)
