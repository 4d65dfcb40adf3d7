"""Items known by the distances between them, and by nothing else."""

import numpy as np

from mercer_old.arrays import Array, Held
from mercer_old.progress import OnPass
from mercer_old.spaces.base import Neighbors, Space
from mercer_old.spaces.nearest import by_blocks
from mercer_old.squares import nearby_power_of_two


class Distances(Space):
    """A matrix of distances between items, and nothing else; `columns` are those of new rows that count."""

    rows = None

    def __init__(self, matrix: Array, columns: Array | None = None, part: Array | None = None) -> None:
        self.matrix, self.columns, self.part = matrix, columns, part
        self.scale = nearby_power_of_two(matrix)

    @property
    def n(self) -> int:
        return len(self.matrix)

    def nearest(self, k: int, threads: int, on_pass: OnPass = None) -> Neighbors:
        shape, own = (self.n, self.n), np.arange(self.n)
        return self._in_units(by_blocks(lambda s: self._squared(self.matrix[s]), shape, k, own, threads, on_pass))

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

    @property
    def nbytes(self) -> int:
        return 0 if self.columns is None else self.matrix.nbytes  # a part is a copy

    def prepare(self, new: Held) -> Array:
        return new if self.columns is None else new[:, self.columns]

    def as_new(self) -> Array:
        return self.matrix

    def for_part(self, new: Held) -> Array:
        return new if self.part is None else new[:, self.part]

    def nearest_to(self, new: Held, k: int, threads: int) -> Neighbors:
        return self._in_units(by_blocks(lambda rows: self._squared(new[rows]), new.shape, k, None, threads))

    def gram_at(self, new: Held, neighbors: Array) -> Array:
        return self._gram(np.take_along_axis(new, neighbors, 1), neighbors)

    def _gram(self, seen: Array, neighbors: Array) -> Array:
        seen = self._squared(seen)
        between = self._squared(self.matrix[neighbors[:, :, None], neighbors[:, None, :]])
        G = (seen[:, :, None] + seen[:, None, :] - between) / 2
        return (G + G.transpose(0, 2, 1)) / 2

    def _squared(self, distances: Array) -> Array:
        """In units of `scale`, so that they neither overflow nor vanish."""
        return np.square(np.divide(distances, self.scale, dtype=np.float64))
