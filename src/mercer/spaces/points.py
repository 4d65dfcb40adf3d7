"""Rows of numbers as points with Euclidean distances, dense or sparse."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from mercer.arrays import Array
from mercer.kernels.dot import Cosine, Linear
from mercer.progress import Tell
from mercer.spaces.base import KernelRows, Space, power_of_two
from mercer.spaces.nearest import Neighbors, nearest

SOME = 1000  # rows that medians are taken of
FAR = 1e100  # times as far as the training rows reach, new rows are as good as infinitely far; squares would overflow
DIGITS = 13  # of a row of length one, to which parallel rows are equal


class Points(Space):
    """Rows of numbers, with Euclidean distances; `unit`: of rows scaled to length one, where ‖x − y‖² = 2 − 2cos.

    Locally linear methods do not see a shift or a scale, so rows are moved to their medians (which one far row does
    not move away) and divided by a power of two that makes the largest entry about one: squares neither overflow nor
    vanish, and large means cost no digits.
    """

    def __init__(self, rows: Array, *, unit: bool = False, way: str = "auto") -> None:
        self.unit, self.way, self.n = unit, way, len(rows)
        self.centre, self.scale = np.zeros(rows.shape[1]), 1.0
        self._tree: cKDTree | None = None
        if unit:
            self.rows = of_length_one(rows)
            return
        self.scale = power_of_two(rows)
        scaled = np.divide(rows, self.scale, dtype=np.float64)
        self.centre = np.median(some_of(scaled), axis=0)
        scaled -= self.centre
        finer = power_of_two(scaled)
        scaled /= finer
        self.rows, self.centre, self.scale = scaled, self.centre / finer, self.scale * finer

    def __getstate__(self) -> dict[str, Any]:
        """All but the tree: it is planted again when it is needed, and a saved model holds numbers alone."""
        return self.__dict__ | {"_tree": None}

    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        found, self._tree = nearest(self.rows, k, way=self.way, threads=threads, tell=tell)
        return self._in_units(found)

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self.gram_at(self.rows[items], neighbors)

    def take(self, items: Array) -> "Points":
        other = object.__new__(Points)
        other.__dict__ |= self.__dict__ | {"rows": self.rows[items], "n": len(items), "_tree": None}
        return other

    def groups(self) -> Array:
        return np.unique(self.rows + 0.0, axis=0, return_inverse=True)[1].reshape(-1)  # −0 + 0 = 0

    def distances_from(self, item: int) -> Array:
        return np.einsum("ij,ij->i", self.rows, self.rows) - 2 * (self.rows @ self.rows[item])

    def as_given(self) -> Array:
        return (self.rows + self.centre) * self.scale

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes

    def prepare(self, new: Any) -> Array:
        new = new.toarray() if sparse.issparse(new) else new
        if self.unit:
            return of_length_one(new)
        moved = np.divide(new, self.scale, dtype=np.float64)
        moved -= self.centre
        top = np.maximum(moved.max(axis=1), -moved.min(axis=1))
        if top.max(initial=0.0) > FAR:
            moved *= np.where(top > FAR, FAR / np.maximum(top, FAR), 1.0)[:, None]
        return moved

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        found, self._tree = nearest(self.rows, k, new, way=self.way, threads=threads, tree=self._tree)
        return self._in_units(found)

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        Z = self.rows[neighbors]
        Z -= new[:, None]
        return Z @ Z.transpose(0, 2, 1)


class SparsePoints(KernelRows):
    """Sparse rows with Euclidean distances, which are those of the linear kernel; `unit`: of rows of length one.

    A column that is mostly filled has a median that is not zero, and is moved by it: products of rows that share a
    large number would leave no digits for their distance.
    """

    def __init__(self, rows: Any, *, unit: bool = False) -> None:
        self.unit, self.d, some = unit, rows.shape[1], some_of(rows)
        filled = np.diff(sparse.csc_array(some).indptr)
        self.columns = np.flatnonzero((2 * filled > some.shape[0]) & (not unit))
        self.medians = np.median(some[:, self.columns].toarray(), axis=0)
        super().__init__(self.prepare(rows), Linear())

    def as_given(self) -> Any:
        return sparse.csr_array(self.rows + self._offsets(self.n))

    def prepare(self, new: Any) -> Any:
        new = sparse.csr_array(new, dtype=np.float64, copy=True)
        if self.unit:
            new = sparse.csr_array(Cosine().rows(new))
            new.data = np.round(new.data, DIGITS)
            return new
        return sparse.csr_array(new - self._offsets(new.shape[0])) if len(self.columns) else new

    def _offsets(self, n: int) -> Any:
        """The medians in their columns, n times."""
        starts = len(self.columns) * np.arange(n + 1)
        return sparse.csr_array((np.tile(self.medians, n), np.tile(self.columns, n), starts), shape=(n, self.d))


def some_of(rows: Any) -> Any:
    """Rows that stand for all: every so many-th."""
    return rows[:: max(1, rows.shape[0] // SOME)]


def of_length_one(rows: Array) -> Array:
    """Every row divided by its length, in an array of its own, to so many digits; a row of zeros stays."""
    top = np.maximum(rows.max(axis=1), -rows.min(axis=1).astype(np.float64))  # squares would overflow or vanish
    rows = np.divide(rows, np.where(top > 0, top, 1.0)[:, None], dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return np.round(rows, DIGITS, out=rows)
