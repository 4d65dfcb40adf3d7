"""Where neighbourhoods live: points (points.py), rows seen by a kernel (by_kernel.py), or distances alone (given.py).

Locally linear methods ask a space two things: who is near, and the Gram matrix of neighbours as a point sees them,
G_jl = ⟨η_j − x, η_l − x⟩. Both can be had from coordinates, from a kernel, and from distances:
G_jl = (‖η_j − x‖² + ‖η_l − x‖² − ‖η_j − η_l‖²)/2.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from mercer_old.arrays import Array, Held, Matrix
from mercer_old.progress import OnPass
from mercer_old.sources.items import Items


@dataclass(frozen=True)
class Neighbors:
    """The nearest items of every row, nearest first."""

    indices: Array  # m×k
    distances: Array  # m×k


class Space(ABC):
    """n items that have distances."""

    rows: Held  # that items are known by; None if that is distances alone
    by_kernel: bool = False  # whether distances are those of a kernel, by which nobody else can search
    is_sparse: bool = False  # whether rows are
    scale: float = 1.0  # length of a unit of Gram matrices in the units of the input

    @property
    @abstractmethod
    def n(self) -> int:
        """How many."""

    @abstractmethod
    def nearest(self, k: int, threads: int, on_pass: OnPass = None) -> Neighbors:
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
    def as_given(self) -> Held:
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

    def admit(self, new: Items) -> None:
        """Refuse new items that it has no distances to."""
        return None

    # New rows, in the form that `prepare` gave them.

    @abstractmethod
    def prepare(self, new: Held) -> Held:
        """New rows as the space computes with them."""

    @abstractmethod
    def nearest_to(self, new: Held, k: int, threads: int) -> Neighbors:
        """The k nearest items of every new row."""

    @abstractmethod
    def gram_at(self, new: Held, neighbors: Array) -> Array:
        """G (b×k×k) of the neighbours (b×k) of new rows."""

    def as_new(self) -> Held:
        """Its own items, in that form."""
        return self.rows

    def for_part(self, new: Held) -> Held:
        """Rows that a larger space has prepared, for this part of it."""
        return new

    def equal(self, new: Held, near: Neighbors) -> Array:
        """Which of its neighbours a new row equals (m×k)."""
        return near.distances == 0

    def _in_units(self, found: Neighbors) -> Neighbors:
        """Distances as the user knows them."""
        return Neighbors(found.indices, found.distances * self.scale)


def graph_of(indices: Array) -> Matrix:
    """A one for every neighbour (n×k) of every item, as a sparse matrix (n×n)."""
    n, k = indices.shape
    return sparse.csr_array((np.ones(n * k, dtype=np.int8), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
