"""Distances from some rows to all rows, a tile at a time: only their order is ever read."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from mercer.arrays import Array
from mercer.blocks import steps
from mercer.errors import BadData
from mercer.inputs import refuse_diagonal
from mercer.kernels.dot import Cosine, dot, squared_norms
from mercer.sources.held import some_rows

TILE, WIDTH = 1_000_000, 4096  # numbers, and rows at most, that one thread measures the distance to at a time
FEW_COLUMNS = 8  # up to so many, differences are as fast as products
DIGITS = 1e-6  # to which the nearest distance has to be known, for products to be good enough


class RowDistances(ABC):
    """From some rows to all n, or anything that grows with them: only their order is read."""

    n: int
    width: int = WIDTH  # of a tile

    @abstractmethod
    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        """Write those from the rows with these numbers to a slice of all into `out`."""

    def settle(self, i: int, distances: Array) -> None:
        """Put right what `fill` cannot know, in all distances of row i, and that to itself to infinity."""
        distances[i] = np.inf


class GivenDistances(RowDistances):
    """As they are."""

    def __init__(self, matrix: Array) -> None:
        self.matrix, self.n = matrix, len(matrix)

    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        out[...] = self.matrix[rows, columns]


class DenseDistances(RowDistances):
    """‖x − y‖² from one matrix product: [−2z, h, 1]·[w, 1, h']ᵀ with z = x − centre and h = ‖z‖².

    What that costs in digits is made good where it shows: rows so near that the squares cancel are measured again by
    differences, and equal rows get equal distances, in whatever order BLAS may have added them up.

    Of unit rows the centre is zero and h is one, of a row of zeros too: 2 − 2·cos, with cos = 0 for a row of zeros.
    """

    def __init__(self, X: Array, unit: bool = False) -> None:
        self.X, (self.n, d) = X, X.shape
        self.width = min(max(TILE // (d + 2), 1), WIDTH)
        self.by_products = unit or d > FEW_COLUMNS
        # Medians of some rows: no outlier moves them far, and whole numbers less a median add up without rounding.
        some = np.asarray(X[:: max(1, self.n // 1000)], dtype=np.float64)
        self.centre = np.zeros(d) if unit else np.median(some, axis=0)
        self.norms = np.ones(self.n) if unit else self._of_each(lambda moved: np.einsum("ij,ij->i", moved, moved))
        self.near = 4 * (d + 2) * np.finfo(np.float64).eps / DIGITS * self.norms
        self.first = self._first_of_equals() if self.by_products else None

    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        if not self.by_products:
            out[...] = self._by_differences(rows, columns)
            return
        left = np.column_stack([-2 * self._moved(rows), self.norms[rows], np.ones(len(rows))])
        right = self._moved(columns, extra=2)
        right[:, -2], right[:, -1] = 1.0, self.norms[columns]
        np.matmul(left, right.T, out=out)

    def settle(self, i: int, distances: Array) -> None:
        if self.first is not None:
            distances[:] = distances[self.first]
        distances[i] = np.inf
        if self.by_products:
            near = np.flatnonzero(distances <= self.near[i])
            for part in steps(len(near), self.width):
                distances[near[part]] = self._by_differences([i], near[part])[0]

    def _moved(self, rows: Any, extra: int = 0) -> Array:
        """These rows less the centre, with room for more columns."""
        some = self.X[rows]
        out = np.empty((len(some), some.shape[1] + extra))
        np.subtract(some, self.centre, out=out[:, : some.shape[1]])
        return out

    def _by_differences(self, rows: Any, columns: Any) -> Array:
        # Not moved: that would round, and differences need no centre.
        return cdist(self.X[rows], self.X[columns], metric="sqeuclidean")

    def _of_each(self, reduce: Callable[[Array], Array]) -> Array:
        return np.concatenate([reduce(self._moved(part)) for part in steps(self.n, self.width)])

    def _first_of_equals(self) -> Array | None:
        """For every row the first that equals it; None if no two do. Equal rows have equal sums Σ √j·zⱼ."""
        roots = np.sqrt(np.arange(1, self.X.shape[1] + 1))
        sums = self._of_each(lambda moved: np.einsum("ij,j->i", moved, roots))
        _, index, group = np.unique(sums, return_index=True, return_inverse=True)
        first = index[group]
        suspects = np.flatnonzero(first != np.arange(self.n))
        for part in steps(len(suspects), self.width):
            i = suspects[part]
            first[i] = np.where((self.X[i] == self.X[first[i]]).all(axis=1), first[i], i)
        return first if (first[suspects] != suspects).any() else None


class SparseDistances(RowDistances):
    """‖x − y‖² = ‖x‖² − 2xᵀy + ‖y‖² of CSR rows, which cannot be moved to a centre without filling up."""

    def __init__(self, X: Any, unit: bool = False) -> None:
        self.X, self.n = X, X.shape[0]
        self.norms = np.ones(self.n) if unit else squared_norms(X)

    def fill(self, rows: Array, columns: slice, out: Array) -> None:
        dot(self.X[rows], some_rows(self.X, columns.start, columns.stop), out)
        out *= -2.0
        out += self.norms[rows][:, None]
        out += self.norms[columns]


def distances_of(X: Any, metric: str) -> RowDistances:
    if metric == "precomputed":
        return _precomputed(X)
    spread = float(X.max()) - float(X.min())
    if not (spread == 0 or 1e-120 < spread < 1e150):
        raise BadData(f"Numbers that spread over {spread:.1g} cannot be squared: scale the data (StandardScaler).")
    kind = SparseDistances if sparse.issparse(X) else DenseDistances
    return kind(Cosine().rows(X), unit=True) if metric == "cosine" else kind(X)


def _precomputed(D: Any) -> GivenDistances:
    if sparse.issparse(D):
        raise ValueError('With metric="precomputed" X has to be dense: a sparse matrix leaves out most distances.')
    if D.shape[0] != D.shape[1]:
        raise ValueError(f'With metric="precomputed" X has to be a square matrix of distances; its shape is {D.shape}.')
    if D.min() < 0:
        raise BadData(f'With metric="precomputed" X has to hold distances; its smallest number is {D.min():.3g}.')
    refuse_diagonal(D)
    return GivenDistances(D)
