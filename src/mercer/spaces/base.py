"""Where neighbourhoods live: rows seen by a kernel, distances alone, or points (points.py).

Locally linear methods ask a space two things: who is near, and the Gram matrix of neighbours as a point sees them,
G_jl = ⟨η_j − x, η_l − x⟩. Both can be had from coordinates, from a kernel, and from distances:
G_jl = (‖η_j − x‖² + ‖η_l − x‖² − ‖η_j − η_l‖²)/2.
"""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer.arrays import Array
from mercer.kernels.base import Kernel
from mercer.progress import Tell
from mercer.spaces.nearest import Neighbors, by_blocks

TOGETHER = 8  # points whose neighbours a kernel compares at once: more than asked for, but in one call


class Space(ABC):
    """n items that have distances."""

    n: int
    scale: float = 1.0  # length of a unit of Gram matrices in the units of the input

    @abstractmethod
    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        """The k nearest other items of every item."""

    @abstractmethod
    def gram(self, items: Array, neighbors: Array) -> Array:
        """G (b×k×k) of the neighbours (b×k) of some items (b,)."""

    @abstractmethod
    def take(self, items: Array) -> "Space":
        """The space of some of its items alone."""

    @abstractmethod
    def groups(self) -> Array:
        """For every item a number that it shares with all that are equal to it (n,), from 0 on."""

    @abstractmethod
    def distances_from(self, item: int) -> Array:
        """To all items (n,), or something that grows with it."""

    @abstractmethod
    def as_given(self) -> Any:
        """The rows, or distances, as they were given; of length one, if only their directions count."""

    def patch(self, item: int, size: int) -> "Space":
        """An item and those around it, so many in all: a small piece that looks like the whole."""
        distances = self.distances_from(item)
        return self.take(np.sort(np.argpartition(distances, size - 1)[:size]))

    @property
    def width(self) -> int:
        """How many numbers a neighbour takes while its Gram matrix is computed."""
        return 1

    @property
    def nbytes(self) -> int:
        """Of what it keeps of its own."""
        return 0

    # New rows, in the form that `prepare` gave them.

    @abstractmethod
    def prepare(self, new: Any) -> Any:
        """New rows as the space computes with them."""

    @abstractmethod
    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        """The k nearest items of every new row."""

    @abstractmethod
    def gram_at(self, new: Any, neighbors: Array) -> Array:
        """G (b×k×k) of the neighbours (b×k) of new rows."""

    def again(self, new: Any) -> Any:
        """Rows that a larger space has prepared, for this part of it."""
        return new

    def equal(self, new: Any, near: Neighbors) -> Array:
        """Which of its neighbours a new row equals (m×k)."""
        return near.distances == 0

    def _in_units(self, found: Neighbors) -> Neighbors:
        """Distances as the user knows them."""
        return Neighbors(found.indices, found.distances * self.scale)


class KernelRows(Space):
    """Rows (dense, sparse or any items) with the distance of a kernel: ‖x − y‖² = k(x, x) + k(y, y) − 2k(x, y)."""

    def __init__(self, rows: Any, kernel: Kernel) -> None:
        self.rows, self.kernel, self.n = rows, kernel, rows.shape[0]
        self.diag = np.asarray(kernel.diag(rows), dtype=np.float64)

    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        shape, own = (self.n, self.n), np.arange(self.n)
        return by_blocks(lambda s: self._squared(self.rows[s], self.diag[s]), shape, k, own, threads, tell)

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self.gram_at(self.rows[items], neighbors)

    def take(self, items: Array) -> "KernelRows":
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__ | {"rows": self.rows[items], "diag": self.diag[items], "n": len(items)}
        return other

    def groups(self) -> Array:
        if not sparse.issparse(self.rows):
            return np.unique(np.asarray(self.rows) + 0, axis=0, return_inverse=True)[1].reshape(-1)  # −0 + 0 = 0
        rows, known = self.rows.copy(), dict[bytes, int]()
        rows.eliminate_zeros()
        rows.sort_indices()
        ends = rows.indptr
        keys = (rows.indices[a:b].tobytes() + b"|" + rows.data[a:b].tobytes() for a, b in pairwise(ends))
        return np.array([known.setdefault(key, len(known)) for key in keys])

    def distances_from(self, item: int) -> Array:
        return self._squared(self.rows[item : item + 1], self.diag[item : item + 1])[0]

    def as_given(self) -> Any:
        return self.rows

    @property
    def nbytes(self) -> int:
        if sparse.issparse(self.rows):
            return self.rows.data.nbytes + self.rows.indices.nbytes + self.rows.indptr.nbytes
        return self.rows.nbytes

    def prepare(self, new: Any) -> Any:
        if sparse.issparse(self.rows):
            return sparse.csr_array(new, dtype=np.float64)
        return new.toarray() if sparse.issparse(new) else new

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        diag, shape = self.kernel.diag(new), (new.shape[0], self.n)
        return by_blocks(lambda rows: self._squared(new[rows], diag[rows]), shape, k, None, threads)

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        parts = [slice(i, i + TOGETHER) for i in range(0, len(neighbors), TOGETHER)]
        return np.concatenate([self._gram_of_few(new[some], neighbors[some]) for some in parts])

    def _gram_of_few(self, new: Any, neighbors: Array) -> Array:
        """A kernel compares two sets of rows, not many pairs of sets: all are compared, and few of them are read."""
        b, k = neighbors.shape
        around = self.rows[neighbors.ravel()]
        each = np.arange(b)
        seen = self.kernel.block(new, around).reshape(b, b, k)[each, each]
        between = self.kernel.block(around, around).reshape(b, k, b, k)[each, :, each]
        return between - seen[:, :, None] - seen[:, None, :] + self.kernel.diag(new)[:, None, None]

    def equal(self, new: Any, near: Neighbors) -> Array:
        """A distance of zero may be rounding, or no distance at all: the rows themselves are compared."""
        same = near.distances == 0
        rows, columns = np.nonzero(same)
        difference = new[rows] != self.rows[near.indices[rows, columns]]
        same[rows, columns] = ~np.asarray(difference.sum(axis=1), dtype=bool).reshape(-1)
        return same

    def _squared(self, rows: Any, diag: Array) -> Array:
        D = self.kernel.block(rows, self.rows)
        D *= -2.0
        D += self.diag
        D += diag[:, None]
        rounding = 16 * np.finfo(float).eps * float(np.abs(self.diag).max(initial=0.0))
        if D.min() < rounding:  # equal items, but for rounding
            D[16 * np.finfo(float).eps * (np.abs(diag)[:, None] + np.abs(self.diag)) > D] = 0.0
        return D


class Distances(Space):
    """A matrix of distances between items, and nothing else; `columns` are those of new rows that count."""

    def __init__(self, matrix: Array, columns: Array | None = None, part: Array | None = None) -> None:
        self.matrix, self.n, self.columns, self.part = matrix, len(matrix), columns, part
        self.scale = power_of_two(matrix)

    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        shape, own = (self.n, self.n), np.arange(self.n)
        return self._in_units(by_blocks(lambda s: self._squared(self.matrix[s]), shape, k, own, threads, tell))

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self._gram(self.matrix[items[:, None], neighbors], neighbors)

    def take(self, items: Array) -> "Distances":
        columns = items if self.columns is None else self.columns[items]
        return Distances(self.matrix[np.ix_(items, items)], columns, items)

    def groups(self) -> Array:
        zero = (row == 0 for row in self.matrix)
        first = np.array([np.flatnonzero(row)[0] if row.any() else i for i, row in enumerate(zero)])
        return np.unique(first, return_inverse=True)[1]

    def distances_from(self, item: int) -> Array:
        distances = self.matrix[item].copy()
        distances[item] = 0.0
        return distances

    def as_given(self) -> Array:
        return self.matrix

    def prepare(self, new: Any) -> Array:
        return new if self.columns is None else new[:, self.columns]

    def again(self, new: Any) -> Array:
        return new if self.part is None else new[:, self.part]

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        return self._in_units(by_blocks(lambda rows: self._squared(new[rows]), new.shape, k, None, threads))

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        return self._gram(np.take_along_axis(new, neighbors, 1), neighbors)

    def _gram(self, seen: Array, neighbors: Array) -> Array:
        seen = self._squared(seen)
        between = self._squared(self.matrix[neighbors[:, :, None], neighbors[:, None, :]])
        G = (seen[:, :, None] + seen[:, None, :] - between) / 2
        return (G + G.transpose(0, 2, 1)) / 2

    def _squared(self, distances: Array) -> Array:
        """In units of `scale`, so that they neither overflow nor vanish."""
        return np.square(np.divide(distances, self.scale, dtype=np.float64))


def power_of_two(rows: Array) -> float:
    """Near the largest entry, so that dividing by it costs no digit; 1 if all are zero."""
    top = max(float(rows.max(initial=0)), -float(rows.min(initial=0)))
    return float(2.0 ** np.clip(np.ceil(np.log2(top)), -1000, 1000)) if top > 0 else 1.0
