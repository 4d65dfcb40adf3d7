"""Rows of numbers as points with Euclidean distances, dense or sparse."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from mercer_old.arrays import Array, Held, Matrix, dense
from mercer_old.blocks import some_of
from mercer_old.kernels.dot import Cosine, Linear
from mercer_old.progress import OnPass
from mercer_old.sources.held import groups_of
from mercer_old.spaces.base import Neighbors, Space
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.spaces.nearest import by_tiles, by_tree, precision_for, tree_pays
from mercer_old.squares import SOME, medians, nearby_power_of_two

# Times as far as the training rows reach, new rows are as good as infinitely far; squares would overflow.
INFINITELY_FAR = 1e100
DIGITS = 13  # of a row of length one, to which parallel rows are equal


@dataclass(frozen=True, eq=False)
class Points(Space):
    """Rows of numbers, with Euclidean distances; `unit`: of rows scaled to length one, where ‖x − y‖² = 2 − 2cos.

    Locally linear methods do not see a shift or a scale, so rows are moved to their medians (which one far row does
    not move away) and divided by a power of two that makes the largest entry about one: squares neither overflow nor
    vanish, and large means cost no digits.
    """

    rows: Array  # x/scale − centre
    centre: Array
    scale: float = 1.0
    unit: bool = False
    way: str = "auto"  # to the nearest: "tree", "tiles", or what pays

    @classmethod
    def of(cls, rows: Array, *, unit: bool = False, way: str = "auto") -> "Points":
        """Rows as they were given."""
        if unit:
            return cls(_of_length_one(rows), np.zeros(rows.shape[1]), unit=True, way=way)
        scale = nearby_power_of_two(rows)
        scaled = np.divide(rows, scale, dtype=np.float64)
        centre = medians(scaled)
        scaled -= centre
        finer = nearby_power_of_two(scaled)
        scaled /= finer
        return cls(scaled, centre / finer, scale * finer, way=way)

    @property
    def n(self) -> int:
        return len(self.rows)

    @cached_property
    def _tree(self) -> "scipy.spatial.cKDTree":
        return scipy.spatial.cKDTree(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """All but the tree: it is planted again when it is needed, and a saved model holds numbers alone."""
        return {name: value for name, value in self.__dict__.items() if name != "_tree"}

    def nearest(self, k: int, threads: int, on_pass: OnPass = None) -> Neighbors:
        if not self._by_tree:
            return self._in_units(by_tiles(self.rows, k, self.rows, np.arange(self.n), threads, on_pass))
        found = by_tree(self._tree, k, None, threads)
        if on_pass:
            on_pass(1.0)
        return self._in_units(found)

    @property
    def _by_tree(self) -> bool:
        return self.way == "tree" or (self.way == "auto" and tree_pays(*self.rows.shape))

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self.gram_at(self.rows[items], neighbors)

    def take(self, items: Array) -> "Points":
        return replace(self, rows=self.rows[items])

    def groups(self) -> Array:
        return groups_of(self.rows)

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

    def prepare(self, new: Held) -> Array:
        new = dense(new)
        if self.unit:
            return _of_length_one(new)
        moved = np.divide(new, self.scale, dtype=np.float64)
        moved -= self.centre
        top = np.maximum(moved.max(axis=1), -moved.min(axis=1))
        if top.max(initial=0.0) > INFINITELY_FAR:
            moved *= np.where(top > INFINITELY_FAR, INFINITELY_FAR / np.maximum(top, INFINITELY_FAR), 1.0)[:, None]
        return moved

    def nearest_to(self, new: Held, k: int, threads: int) -> Neighbors:
        if self._by_tree:
            return self._in_units(by_tree(self._tree, k, new, threads))
        return self._in_units(by_tiles(self.rows, k, new, None, threads, dtype=precision_for(new)))

    def gram_at(self, new: Held, neighbors: Array) -> Array:
        Z = self.rows[neighbors]
        Z -= new[:, None]
        return Z @ Z.transpose(0, 2, 1)


@dataclass(frozen=True, eq=False)
class SparsePoints(KernelRows):
    """Sparse rows with Euclidean distances, which are those of the linear kernel; `unit`: of rows of length one.

    A column that is mostly filled has a median that is not zero, and is moved by it: products of rows that share a
    large number would leave no digits for their distance.
    """

    by_kernel = False

    columns: Array  # that are mostly filled
    medians: Array  # of theirs
    unit: bool = False

    @classmethod
    def of(cls, rows: Matrix, *, unit: bool = False) -> "SparsePoints":
        """Rows as they were given."""
        some = some_of(rows, SOME)
        filled = np.diff(sparse.csc_array(some).indptr)
        columns = np.flatnonzero((2 * filled > some.shape[0]) & (not unit))
        medians = np.median(some[:, columns].toarray(), axis=0)
        moved = _sparse_units(rows) if unit else _without_medians(rows, columns, medians)
        return cls(moved, Linear(), Linear().diag(moved), columns, medians, unit)

    def as_given(self) -> Matrix:
        return sparse.csr_array(self.rows + _offsets(self.rows.shape, self.columns, self.medians))

    def prepare(self, new: Held) -> Matrix:
        return _sparse_units(new) if self.unit else _without_medians(new, self.columns, self.medians)


def _without_medians(rows: Matrix, columns: Array, medians: Array) -> Matrix:
    rows = sparse.csr_array(rows, dtype=np.float64, copy=True)
    return sparse.csr_array(rows - _offsets(rows.shape, columns, medians)) if len(columns) else rows


def _offsets(shape: tuple[int, int], columns: Array, medians: Array) -> Matrix:
    """The medians in their columns, in every row."""
    n = shape[0]
    starts = len(columns) * np.arange(n + 1)
    return sparse.csr_array((np.tile(medians, n), np.tile(columns, n), starts), shape=shape)


def _sparse_units(rows: Matrix) -> Matrix:
    """Sparse rows of length one, to so many digits."""
    rows = sparse.csr_array(Cosine().rows(sparse.csr_array(rows, dtype=np.float64, copy=True)))
    rows.data = np.round(rows.data, DIGITS)
    return rows


def _of_length_one(rows: Array) -> Array:
    """Every row divided by its length, in an array of its own, to so many digits; a row of zeros stays."""
    top = np.maximum(rows.max(axis=1), -rows.min(axis=1).astype(np.float64))  # squares would overflow or vanish
    rows = np.divide(rows, np.where(top > 0, top, 1.0)[:, None], dtype=np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(lengths > 0, lengths, 1.0)[:, None]
    return np.round(rows, DIGITS, out=rows)
