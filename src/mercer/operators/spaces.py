"""Where neighbourhoods live: points, rows seen by a kernel, or distances alone.

Locally linear methods ask a space two things: who is near, and the Gram matrix of neighbours as a point sees them,
G_jl = ⟨η_j − x, η_l − x⟩. Both can be had from coordinates, from a kernel, and from distances:
G_jl = (‖η_j − x‖² + ‖η_l − x‖² − ‖η_j − η_l‖²)/2.
"""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from mercer.kernels.base import Kernel
from mercer.kernels.dot import Linear
from mercer.operators.neighbors import Neighbors, Tell, by_blocks, nearest
from mercer.sources.rows import RowSource
from mercer.symmetric import Array

SOME = 1000  # rows that medians are taken of
FAR = 1e100  # times as far as the training rows reach, new rows are as good as infinitely far; squares would overflow


class Space(ABC):
    """n items that have distances."""

    n: int
    scale: float = 1.0  # length of a unit of Gram matrices in the units of the input

    @abstractmethod
    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        """The k nearest other items of every item."""

    @abstractmethod
    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        """The k nearest items of every new row."""

    @abstractmethod
    def gram(self, items: Array, neighbors: Array) -> Array:
        """G (b×k×k) of the neighbours (b×k) of some items (b,)."""

    @abstractmethod
    def gram_at(self, new: Any, neighbors: Array) -> Array:
        """G (b×k×k) of the neighbours (b×k) of new rows."""

    @abstractmethod
    def take(self, items: Array) -> "Space":
        """The space of some of its items alone."""

    @abstractmethod
    def groups(self) -> Array:
        """For every item a number that it shares with all that are equal to it (n,), from 0 on."""

    def patch(self, item: int, size: int) -> "Space":
        """An item and those around it, so many in all: a small piece that looks like the whole."""
        distances = self.distances_from(item)
        return self.take(np.sort(np.argpartition(distances, size - 1)[:size]))

    @abstractmethod
    def distances_from(self, item: int) -> Array:
        """To all items (n,), or something that grows with it."""

    @abstractmethod
    def as_given(self) -> Any:
        """The rows, or distances, as they were given; of length one, if only their directions count."""

    @property
    def width(self) -> int:
        """How many numbers a neighbour takes while its Gram matrix is computed."""
        return 1

    def like_its_own(self, new: Any) -> Any:
        """New rows, dense or sparse as its own are."""
        return new.toarray() if sparse.issparse(new) else new

    def _in_units(self, found: Neighbors) -> Neighbors:
        """Distances as the user knows them."""
        return Neighbors(found.indices, found.distances * self.scale)


class Points(Space):
    """Rows of numbers, with Euclidean distances; `unit`: of rows scaled to length one, where ‖x − y‖² = 2 − 2cos.

    Locally linear methods do not see a shift or a scale, so rows are moved to their medians (which one far row does
    not move away) and divided by a power of two that makes the largest entry about one: squares neither overflow nor
    vanish, and large means cost no digits.
    """

    def __init__(self, rows: Array, *, unit: bool = False, way: str = "auto") -> None:
        self.unit, self.way, self.n = unit, way, len(rows)
        self.centre, self.scale = np.zeros(rows.shape[1]), 1.0
        if unit:
            self.rows = of_length_one(rows)
            return
        self.scale = power_of_two(rows)
        scaled = np.divide(rows, self.scale, dtype=np.float64)
        self.centre = np.median(scaled[:: max(1, len(scaled) // SOME)], axis=0)
        scaled -= self.centre
        finer = power_of_two(scaled)
        scaled /= finer
        self.rows, self.centre, self.scale = scaled, self.centre / finer, self.scale * finer

    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        return self._in_units(nearest(self.rows, k, way=self.way, threads=threads, tell=tell))

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        return self._in_units(nearest(self.rows, k, self._moved(new), way=self.way, threads=threads))

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self._gram(self.rows[items], neighbors)

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        return self._gram(self._moved(new), neighbors)

    def take(self, items: Array) -> "Points":
        other = object.__new__(Points)
        other.__dict__ |= self.__dict__ | {"rows": self.rows[items], "n": len(items)}
        return other

    def groups(self) -> Array:
        return np.unique(self.rows + 0.0, axis=0, return_inverse=True)[1].reshape(-1)  # −0 + 0 = 0

    def distances_from(self, item: int) -> Array:
        differences = self.rows - self.rows[item]
        return np.einsum("ij,ij->i", differences, differences)

    @property
    def width(self) -> int:
        return self.rows.shape[1]

    def as_given(self) -> Array:
        return (self.rows + self.centre) * self.scale

    def _gram(self, centres: Array, neighbors: Array) -> Array:
        Z = self.rows[neighbors] - centres[:, None]
        return Z @ Z.transpose(0, 2, 1)

    def _moved(self, new: Array) -> Array:
        if self.unit:
            return of_length_one(new)
        moved = np.divide(new, self.scale, dtype=np.float64) - self.centre
        top = np.abs(moved).max(axis=1, keepdims=True)
        return moved * np.where(top > FAR, FAR / np.where(top > FAR, top, 1.0), 1.0)


class KernelRows(Space):
    """Rows (dense, sparse or any items) with the distance of a kernel: ‖x − y‖² = k(x, x) + k(y, y) − 2k(x, y)."""

    def __init__(self, rows: Any, kernel: Kernel) -> None:
        self.rows, self.kernel, self.n = rows.copy(), kernel, rows.shape[0]
        self.diag = np.asarray(kernel.diag(rows), dtype=np.float64)

    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        shape = self.n, self.n
        return by_blocks(
            lambda s: self._squared(self.rows[s], self.diag[s]), shape, k, np.arange(self.n), threads, tell
        )

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        diag = self.kernel.diag(new)
        shape = new.shape[0], self.n
        return by_blocks(lambda rows: self._squared(new[rows], diag[rows]), shape, k, None, threads, None)

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self.gram_at(self.rows[items], neighbors)

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        b, k = neighbors.shape
        G = np.empty((b, k, k))
        for i, near in enumerate(neighbors):  # a kernel compares two sets of rows, not many pairs of sets
            around = self.rows[near]
            seen = self.kernel.block(new[i : i + 1], around)[0]
            own = self.kernel.diag(new[i : i + 1])[0]
            G[i] = self.kernel.block(around, around) - seen - seen[:, None] + own
        return G

    def take(self, items: Array) -> "KernelRows":
        return KernelRows(self.rows[items], self.kernel)

    def as_given(self) -> Any:
        return self.rows

    def like_its_own(self, new: Any) -> Any:
        if not sparse.issparse(self.rows):
            return super().like_its_own(new)
        return new if isinstance(new, RowSource) else sparse.csr_array(new, dtype=np.float64)

    def groups(self) -> Array:
        if not sparse.issparse(self.rows):
            return np.unique(np.asarray(self.rows) + 0, axis=0, return_inverse=True)[1].reshape(-1)
        rows, known = self.rows.copy(), dict[bytes, int]()
        rows.eliminate_zeros()
        rows.sort_indices()
        ends = rows.indptr
        keys = (rows.indices[a:b].tobytes() + b"|" + rows.data[a:b].tobytes() for a, b in pairwise(ends))
        return np.array([known.setdefault(key, len(known)) for key in keys])

    def distances_from(self, item: int) -> Array:
        return self._squared(self.rows[item : item + 1], self.diag[item : item + 1])[0]

    def _squared(self, rows: Any, diag: Array) -> Array:
        D = self.kernel.block(rows, self.rows)
        D *= -2.0
        D += self.diag
        D += diag[:, None]
        D[16 * np.finfo(float).eps * (diag[:, None] + self.diag) > D] = 0.0  # equal items, but for rounding
        return D


class SparsePoints(KernelRows):
    """Sparse rows with Euclidean distances, which are those of the linear kernel.

    A column that is mostly filled has a median that is not zero, and is moved by it: products of rows that share a
    large number would leave no digits for their distance.
    """

    def __init__(self, rows: Any) -> None:
        some = rows[:: max(1, rows.shape[0] // SOME)]
        full = np.flatnonzero(2 * np.diff(some.tocsc().indptr) > some.shape[0])
        self.columns, self.medians = full, np.median(some[:, full].toarray(), axis=0)
        super().__init__(self._moved(rows), Linear())

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        return super().nearest_to(self._moved(new), k, threads)

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        return super().gram_at(self._moved(new), neighbors)

    def gram(self, items: Array, neighbors: Array) -> Array:
        return super().gram_at(self.rows[items], neighbors)

    def take(self, items: Array) -> "SparsePoints":
        other = object.__new__(SparsePoints)
        other.__dict__ |= self.__dict__ | {"rows": self.rows[items], "diag": self.diag[items], "n": len(items)}
        return other

    def as_given(self) -> Any:
        return self._moved(self.rows, back=True)

    def _moved(self, rows: Any, back: bool = False) -> Any:
        if not len(self.columns):
            return sparse.csr_array(rows, dtype=np.float64)
        moved = sparse.lil_array(rows, dtype=np.float64)
        moved[:, self.columns] = rows[:, self.columns].toarray() - self.medians * (-1 if back else 1)
        return sparse.csr_array(moved)


class Distances(Space):
    """A matrix of distances between items, and nothing else."""

    def __init__(self, matrix: Array) -> None:
        self.matrix, self.n, self.scale = matrix, len(matrix), power_of_two(matrix)

    def nearest(self, k: int, threads: int, tell: Tell = None) -> Neighbors:
        shape = self.n, self.n
        return self._in_units(
            by_blocks(lambda rows: self._squared(self.matrix[rows]), shape, k, np.arange(self.n), threads, tell)
        )

    def nearest_to(self, new: Any, k: int, threads: int) -> Neighbors:
        return self._in_units(by_blocks(lambda rows: self._squared(new[rows]), new.shape, k, None, threads, None))

    def gram(self, items: Array, neighbors: Array) -> Array:
        return self._gram(self.matrix[items[:, None], neighbors], neighbors)

    def gram_at(self, new: Any, neighbors: Array) -> Array:
        return self._gram(np.take_along_axis(new, neighbors, 1), neighbors)

    def take(self, items: Array) -> "Distances":
        return Distances(self.matrix[np.ix_(items, items)])

    def groups(self) -> Array:
        first = np.array([np.flatnonzero(row == 0)[0] if (row == 0).any() else i for i, row in enumerate(self.matrix)])
        return np.unique(first, return_inverse=True)[1]

    def distances_from(self, item: int) -> Array:
        distances = self.matrix[item].copy()
        distances[item] = 0.0
        return distances

    def as_given(self) -> Array:
        return self.matrix

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
    top = float(np.abs(rows).max(initial=0.0))
    return float(2.0 ** np.clip(np.ceil(np.log2(top)), -1000, 1000)) if top > 0 else 1.0


def of_length_one(rows: Array) -> Array:
    """Every row divided by its length; a row of zeros stays."""
    top = np.abs(np.asarray(rows, dtype=np.float64)).max(axis=1, keepdims=True)  # squares would overflow or vanish
    rows = rows / np.where(top > 0, top, 1.0)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)
