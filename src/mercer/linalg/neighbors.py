"""Exact nearest neighbors of samples that have Euclidean distances, those of a kernel, or distances alone.

Locally linear methods need two things of such a space: which samples are near, and the Gram matrix of the neighbors η
relative to a sample x, G_jl = ⟨η_j − x, η_l − x⟩ = (‖η_j − x‖² + ‖η_l − x‖² − ‖η_j − η_l‖²)/2.

A sample is never its own neighbor. That is decided by its index, never by a distance of zero: duplicates are neighbors
of each other. Block sizes depend on shapes only, so the answer does not depend on the number of threads.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from mercer.errors import DataError
from mercer.kernels.base import Kernel, PreparedKernel
from mercer.numerics.blocking import slices
from mercer.numerics.distances import (
    Screen,
    candidates,
    center_and_scale,
    column_medians,
    kernel_squares,
    largest_modulus,
    smallest,
    squared_differences_to,
    unit_rows,
)
from mercer.numerics.rounding import power_of_two
from mercer.numerics.threads import in_rounds
from mercer.storable import storable

_TREE_FEATURES, _TREE_FEATURES_OF_MANY, _MANY = 8, 15, 50_000  # a tree pays up to so many features, or with many rows
_SINGLE = 1e15  # numbers whose squares fit into float32
_EXTRA = 4  # candidates beyond k
_TILE, _TILE_ROWS = 400_000, (16, 512)  # entries of a tile of distances that stays in the cache, and its rows
_TILES_PER_REPORT, _ROWS_OF_POINTS = 16, 64
_UNIT_DIGITS = 13  # to which rows of length one are rounded
_FARTHEST = 1e100  # squares of coordinates beyond this could overflow; such a row is as good as infinitely far
_KERNEL_BLOCK = 8  # samples whose neighbors are compared in one call of a kernel


class Neighbors(NamedTuple):
    """Indices (int32) and distances of the nearest samples, both of shape (m, k), nearest first."""

    indices: NDArray
    distances: NDArray


class NeighborSpace(ABC):
    """n samples with pairwise distances.

    Attributes
    ----------
    samples
        The samples in the form that the space computes with.
    scale : float
        Square root of one unit of `gram_at`, in the units of the input.
    width : int
        Numbers that a neighbor takes in `gram_at`, for sizes of blocks.
    """

    samples: Any
    scale: float = 1.0
    width: int = 1

    @property
    def n(self) -> int:
        return int(self.samples.shape[0])

    def nearest(self, k: int, n_threads: int = 1, progress: Any = None) -> Neighbors:
        """The k nearest other samples of every sample."""
        found = self._search(self.samples, k, np.arange(self.n), n_threads, progress)
        return Neighbors(found.indices, found.distances * self.scale)

    def nearest_to(self, queries: Any, k: int, n_threads: int = 1) -> Neighbors:
        """The k nearest samples of every query, which `prepare` returned."""
        found = self._search(queries, k, None, n_threads, None)
        return Neighbors(found.indices, found.distances * self.scale)

    @abstractmethod
    def _search(self, queries: Any, k: int, own: NDArray | None, n_threads: int, progress: Any) -> Neighbors:
        """Distances in units of `scale`. `own` are the indices of queries that are the samples themselves."""

    @abstractmethod
    def gram_at(self, queries: Any, neighbors: NDArray) -> NDArray:
        """G (b, k, k) of the neighbors (b, k) of queries."""

    @abstractmethod
    def to_input(self) -> Any:
        """The samples, or distances, in the units of the input; of length one if only directions count."""

    def prepare(self, X: Any) -> Any:
        """New samples in the form that `nearest_to` and `gram_at` take."""
        return X

    def take(self, indices: NDArray) -> "NeighborSpace":
        """The space of some of the samples."""
        return replace(self, samples=self.samples[indices])  # type: ignore[type-var]

    def groups(self) -> NDArray:
        """An integer for each sample, from 0, equal for samples that are equal."""
        return group_duplicates(self.samples)

    def equal(self, queries: Any, found: Neighbors, distance: float = 0.0) -> NDArray:
        """Which neighbors up to a distance a query equals exactly, (m, k): zero may be rounding, or no metric."""
        same = found.distances <= distance
        rows, columns = np.nonzero(same)
        some, others = queries[rows], self.samples[found.indices[rows, columns]]
        if getattr(some, "ndim", 1) == 1:
            same[rows, columns] = [_key(one) == _key(other) for one, other in zip(some, others, strict=True)]
        elif len(rows):
            same[rows, columns] = np.asarray((some != others).sum(axis=1)).reshape(-1) == 0
        return same

    def distance_to(self, subset: NDArray, n_threads: int = 1) -> NDArray:
        """Distance of every sample to the nearest one of a subset."""
        return self.take(subset).nearest_to(self.samples, 1, n_threads).distances[:, 0]

    def __getstate__(self) -> dict[str, Any]:
        """Without what can be computed again."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}


def neighbor_space(samples: Any, metric: "str | Kernel", algorithm: str = "auto") -> NeighborSpace:
    """The space of samples for "euclidean", "cosine", "precomputed" (samples is the matrix of distances) or a kernel.

    `algorithm` is scikit-learn's `neighbors_algorithm`.
    """
    if isinstance(metric, Kernel):
        return KernelSpace(samples, metric)
    if metric == "precomputed":
        return DistanceMatrix(samples)
    if sparse.issparse(samples):
        return SparsePoints.from_rows(samples, unit_length=metric == "cosine")
    return Points.from_rows(samples, unit_length=metric == "cosine", algorithm=algorithm)


# ---------------------------------------------------------------------- dense rows


@storable
@dataclass(frozen=True, eq=False)
class Points(NeighborSpace):
    """Rows with Euclidean distances. `unit_length`: of rows scaled to length one, where ‖x − y‖² = 2 − 2cos(x, y).

    Rows are moved to their medians and divided by a power of two, see `numerics.distances`.
    """

    samples: NDArray  # x/scale − center
    center: NDArray
    scale: float = 1.0
    unit_length: bool = False
    algorithm: str = "auto"

    @classmethod
    def from_rows(cls, X: NDArray, *, unit_length: bool = False, algorithm: str = "auto") -> Self:
        """Rows in the units of the input."""
        if unit_length:
            return cls(unit_rows(X, _UNIT_DIGITS), np.zeros(X.shape[1]), 1.0, True, algorithm)
        return cls(*center_and_scale(X), False, algorithm)

    @property
    def width(self) -> int:  # type: ignore[override]
        return int(self.samples.shape[1])

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.samples)

    @property
    def uses_tree(self) -> bool:
        """Whether neighbors are found by a k-d tree."""
        n, d = self.samples.shape
        pays = d <= _TREE_FEATURES or (d <= _TREE_FEATURES_OF_MANY and n > _MANY)
        return pays if self.algorithm == "auto" else self.algorithm != "brute"

    def _search(self, queries: NDArray, k: int, own: NDArray | None, n_threads: int, progress: Any) -> Neighbors:
        if not self.uses_tree:
            single = own is not None or largest_modulus(queries) < _SINGLE
            dtype = np.float32 if single else np.float64
            return nearest_rows(self.samples, queries, k, own, n_threads, progress, dtype)
        if own is None:
            distances, indices = self._tree.query(queries, [*range(1, k + 1)], workers=n_threads)
            return Neighbors(indices.astype(np.int32), distances)
        distances, indices = self._tree.query(queries, k + 1, workers=n_threads)
        if progress:
            progress(1.0)
        return _without_self(indices, distances)

    def gram_at(self, queries: NDArray, neighbors: NDArray) -> NDArray:
        Z = self.samples.take(neighbors, axis=0)
        Z -= queries[:, None]
        return Z @ Z.transpose(0, 2, 1)

    def prepare(self, X: Any) -> NDArray:
        X = X.toarray() if sparse.issparse(X) else X
        if self.unit_length:
            return unit_rows(X, _UNIT_DIGITS)
        moved = np.divide(X, self.scale, dtype=np.float64)
        moved -= self.center
        top = np.maximum(moved.max(axis=1), -moved.min(axis=1))
        if top.max(initial=0.0) > _FARTHEST:
            moved *= np.where(top > _FARTHEST, _FARTHEST / np.maximum(top, _FARTHEST), 1.0)[:, None]
        return moved

    def to_input(self) -> NDArray:
        return (self.samples + self.center) * self.scale


def nearest_rows(
    P: NDArray,
    Q: NDArray,
    k: int,
    own: NDArray | None,
    n_threads: int = 1,
    progress: Any = None,
    dtype: Any = np.float32,
) -> Neighbors:
    """The k nearest rows of P to every row of Q; `own` are the indices of these in P, which do not count.

    Tiles of products in `dtype` leave candidates, which are measured by differences. Rows for which a row outside of
    the candidates could be as near are searched again in float64, and if need be by differences alone.
    """
    n, m = len(P), len(Q)
    most = n - (own is not None)
    wanted, screen = min(k + _EXTRA, most), Screen(P, dtype)
    indices, distances, proven = np.empty((m, k), dtype=np.int32), np.empty((m, k)), np.ones(m, dtype=bool)

    def search(rows: slice) -> None:
        q = Q[rows]
        near, counts, reach = candidates(_exclude(screen.products(q), own, rows), wanted)
        squares = np.where(counts, squared_differences_to(q, P, near), np.inf)
        indices[rows], distances[rows] = _nearest_first(near, squares, k)
        if wanted < most:
            farthest = distances[rows, -1]
            proven[rows] = farthest**2 <= reach + screen.own_at_least(q, farthest)

    list(in_rounds(search, slices(m, max(_TILE // n, _ROWS_OF_POINTS)), n_threads, _TILES_PER_REPORT, progress))
    again = np.flatnonzero(~proven)
    if len(again):
        among = None if own is None else own[again]
        if dtype is np.float32:
            found = nearest_rows(P, Q[again], k, among, n_threads, dtype=np.float64)
        else:
            some = Q[again]
            found = nearest_by(lambda rows: cdist(some[rows], P, "sqeuclidean"), (len(again), n), k, among, n_threads)
        indices[again], distances[again] = found
    return Neighbors(indices, distances)


def nearest_by(
    squares: Callable[[slice], NDArray],
    shape: tuple[int, int],
    k: int,
    own: NDArray | None,
    n_threads: int = 1,
    progress: Any = None,
) -> Neighbors:
    """The k nearest by squared distances from a function of a slice of rows, which returns an array of its own."""
    m, n = shape
    indices, distances = np.empty((m, k), dtype=np.int32), np.empty((m, k))

    def search(rows: slice) -> None:
        D = _exclude(squares(rows), own, rows)
        near = smallest(D, k)
        indices[rows], distances[rows] = _nearest_first(near, np.take_along_axis(D, near, 1), k)

    list(in_rounds(search, slices(m, _tile_rows(n)), n_threads, _TILES_PER_REPORT, progress))
    return Neighbors(indices, distances)


def _nearest_first(indices: NDArray, squares: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """The k nearest, by squared distances that may be below zero by rounding, with their distances."""
    order = np.argsort(squares, axis=1, kind="stable")[:, :k]
    distances = np.sqrt(np.maximum(np.take_along_axis(squares, order, 1), 0.0))
    return np.take_along_axis(indices, order, 1), distances


def _tile_rows(n: int) -> int:
    least, most = _TILE_ROWS
    return min(max(10 * _TILE // n, least), most)


def tile_bytes(n: int, of_rows: bool) -> int:
    """Memory of a thread that searches among n samples: its tile and what is computed from it."""
    return 24 * max(_TILE, _ROWS_OF_POINTS * n) if of_rows else 28 * n * _tile_rows(n)


def _exclude(D: NDArray, own: NDArray | None, rows: slice) -> NDArray:
    if own is not None:
        D[np.arange(len(D)), own[rows]] = np.inf
    return D


def _without_self(indices: NDArray, distances: NDArray) -> Neighbors:
    """The k neighbors of every row without the row, which may be missing from k + 1 among many duplicates."""
    n, k = indices.shape[0], indices.shape[1] - 1
    own = indices == np.arange(n)[:, None]
    left_out = np.where(own.any(axis=1), own.argmax(axis=1), k)
    kept = np.arange(k + 1) != left_out[:, None]
    return Neighbors(indices[kept].reshape(n, k).astype(np.int32), distances[kept].reshape(n, k))


# ---------------------------------------------------------------------- sparse rows


@storable
@dataclass(frozen=True, eq=False)
class SparsePoints(NeighborSpace):
    """Sparse rows with Euclidean distances, or those of rows of length one.

    A column that is mostly filled is moved to its median: products of rows that share a large number would leave no
    digits for their distances.
    """

    samples: sparse.csr_array  # x/scale, without medians
    columns: NDArray  # that are mostly filled
    medians: NDArray  # of these
    scale: float = 1.0
    unit_length: bool = False

    @classmethod
    def from_rows(cls, X: Any, *, unit_length: bool = False) -> Self:
        """Rows in the units of the input."""
        if unit_length:
            return cls(_sparse_unit_rows(X), np.empty(0, dtype=np.intp), np.empty(0), 1.0, True)
        scale = float(power_of_two(largest_modulus(X.data)))
        some = sparse.csc_array(X[:: max(1, X.shape[0] // 1000)], dtype=np.float64)
        columns = np.flatnonzero(2 * np.diff(some.indptr) > some.shape[0])
        medians = column_medians(some[:, columns].toarray() / scale)
        space = cls(X, columns, medians, scale)
        return replace(space, samples=space.prepare(X))

    @cached_property
    def _squares(self) -> NDArray:
        return _sparse_squares(self.samples)

    def _search(self, queries: Any, k: int, own: NDArray | None, n_threads: int, progress: Any) -> Neighbors:
        columns, squares, own_squares = sparse.csc_array(self.samples.T), self._squares, _sparse_squares(queries)

        def tile(rows: slice) -> NDArray:
            return kernel_squares((queries[rows] @ columns).toarray(), own_squares[rows], squares)

        return nearest_by(tile, (queries.shape[0], self.n), k, own, n_threads, progress)

    def gram_at(self, queries: Any, neighbors: NDArray) -> NDArray:
        b, k = neighbors.shape
        G = np.empty((b, k, k))
        for i in range(b):
            Z = (self.samples[neighbors[i]] - sparse.vstack([queries[[i]]] * k, format="csr")).tocsr()
            G[i] = (Z @ Z.T).toarray()
        return G

    def prepare(self, X: Any) -> sparse.csr_array:
        if self.unit_length:
            return _sparse_unit_rows(X)
        rows = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows.data /= self.scale
        return sparse.csr_array(rows - self._offsets(rows.shape[0])) if len(self.columns) else rows

    def to_input(self) -> sparse.csr_array:
        rows = sparse.csr_array(self.samples + self._offsets(self.n)) if len(self.columns) else self.samples.copy()
        rows.data *= self.scale
        return rows

    def _offsets(self, n_rows: int) -> sparse.csr_array:
        """The medians in their columns, in every row."""
        count = len(self.columns)
        shape = n_rows, self.samples.shape[1]
        parts = np.tile(self.medians, n_rows), np.tile(self.columns, n_rows), count * np.arange(n_rows + 1)
        return sparse.csr_array(parts, shape=shape)


def _sparse_squares(rows: Any) -> NDArray:
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).reshape(-1)


def _sparse_unit_rows(X: Any) -> sparse.csr_array:
    """Sparse rows of length one, rounded so that parallel rows are equal."""
    rows = sparse.csr_array(X, dtype=np.float64, copy=True)
    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    top = np.zeros(rows.shape[0])
    np.maximum.at(top, of_entry, np.abs(rows.data))
    rows.data /= np.where(top > 0, top, 1.0)[of_entry]
    lengths = np.sqrt(_sparse_squares(rows))
    rows.data /= np.where(lengths > 0, lengths, 1.0)[of_entry]
    rows.data = np.round(rows.data, _UNIT_DIGITS)
    return rows


# ---------------------------------------------------------------------- kernels


@storable
@dataclass(frozen=True, eq=False)
class KernelSpace(NeighborSpace):
    """Samples of any kind in the feature space of a kernel: ‖φ(x) − φ(y)‖² = k(x, x) + k(y, y) − 2k(x, y).

    Distances of equal samples are exactly zero, whatever the rounding of the kernel is.
    """

    samples: Any
    kernel: Kernel

    @cached_property
    def _prepared(self) -> PreparedKernel:
        return self.kernel.prepare(self.samples)

    @cached_property
    def _diag(self) -> NDArray:
        return np.asarray(self.kernel.diag(self.samples), dtype=np.float64)

    def _search(self, queries: Any, k: int, own: NDArray | None, n_threads: int, progress: Any) -> Neighbors:
        prepared, diag = self._prepared, self._diag
        if own is None:
            prepared, diag = prepared.against(queries), np.asarray(self.kernel.diag(queries), dtype=np.float64)

        def tile(rows: slice) -> NDArray:
            out = np.empty((rows.stop - rows.start, self.n))
            prepared.fill(rows, slice(0, self.n), out)
            return kernel_squares(out, diag[rows], self._diag)

        found = nearest_by(tile, (queries.shape[0], self.n), k, own, n_threads, progress)
        found.distances[self.equal(queries, found, 2 * np.sqrt(prepared.entry_error()))] = 0.0
        order = np.argsort(found.distances, axis=1, kind="stable")
        return Neighbors(np.take_along_axis(found.indices, order, 1), np.take_along_axis(found.distances, order, 1))

    def gram_at(self, queries: Any, neighbors: NDArray) -> NDArray:
        parts = slices(len(neighbors), _KERNEL_BLOCK)
        return np.concatenate([self._gram_of_few(queries[some], neighbors[some]) for some in parts])

    def _gram_of_few(self, queries: Any, neighbors: NDArray) -> NDArray:
        """A kernel compares two sets of samples, not many pairs of sets: all are compared and few are read."""
        b, k = neighbors.shape
        each = np.arange(b)
        around = self.samples[neighbors.ravel()]
        seen = self.kernel(queries, around).reshape(b, b, k)[each, each]
        between = self.kernel(around, around).reshape(b, k, b, k)[each, :, each]
        own = np.asarray(self.kernel.diag(queries), dtype=np.float64)
        return between - seen[:, :, None] - seen[:, None, :] + own[:, None, None]

    def to_input(self) -> Any:
        return self.samples


# ---------------------------------------------------------------------- distances alone


@storable
@dataclass(frozen=True, eq=False)
class DistanceMatrix(NeighborSpace):
    """Samples given by a matrix of distances, which is not copied. A new sample is a row of distances to all of them.

    `columns` are the columns of such a row that belong to the samples of a subset.
    """

    samples: NDArray  # the matrix
    columns: NDArray | None = None

    @cached_property
    def scale(self) -> float:  # type: ignore[override]
        return float(power_of_two(largest_modulus(self.samples)))

    def _search(self, queries: NDArray, k: int, own: NDArray | None, n_threads: int, progress: Any) -> Neighbors:
        shape = len(queries), self.n
        return nearest_by(lambda rows: self._squared(queries[rows]), shape, k, own, n_threads, progress)

    def _squared(self, distances: NDArray) -> NDArray:
        """In units of `scale`, so that squares neither over- nor underflow; integers are squared in float64."""
        return np.square(np.divide(distances, self.scale, dtype=np.float64))

    def gram_at(self, queries: NDArray, neighbors: NDArray) -> NDArray:
        seen = self._squared(np.take_along_axis(queries, neighbors, 1))
        between = self._squared(self.samples[neighbors[:, :, None], neighbors[:, None, :]])
        G = (seen[:, :, None] + seen[:, None, :] - between) / 2
        return (G + G.transpose(0, 2, 1)) / 2

    def prepare(self, X: NDArray) -> NDArray:
        return X if self.columns is None else X[:, self.columns]

    def take(self, indices: NDArray) -> "DistanceMatrix":
        columns = indices if self.columns is None else self.columns[indices]
        return DistanceMatrix(self.samples[np.ix_(indices, indices)], columns)

    def groups(self) -> NDArray:
        zero = (row == 0 for row in self.samples)
        first = np.array([np.flatnonzero(row)[0] if row.any() else i for i, row in enumerate(zero)])
        return np.unique(first, return_inverse=True)[1]

    def distance_to(self, subset: NDArray, n_threads: int = 1) -> NDArray:
        return np.asarray(self.samples[:, subset].min(axis=1), dtype=np.float64)

    def equal(self, queries: Any, found: Neighbors, distance: float = 0.0) -> NDArray:
        return found.distances <= distance

    def to_input(self) -> NDArray:
        return self.samples


# ---------------------------------------------------------------------- duplicates


def group_duplicates(samples: Any) -> NDArray:
    """An integer for each sample, from 0, equal for samples that are equal; −0 equals 0."""
    if sparse.issparse(samples):
        rows = sparse.csr_array(samples, copy=True)
        rows.eliminate_zeros()
        rows.sort_indices()
        edges = pairwise(rows.indptr)
        return _numbered(rows.indices[a:b].tobytes() + b"|" + rows.data[a:b].tobytes() for a, b in edges)
    if samples.ndim == 2:
        rows = np.ascontiguousarray(samples + 0)  # −0 + 0 = 0
        return np.unique(rows.view(np.dtype((np.void, rows[:1].nbytes))), return_inverse=True)[1].reshape(-1)
    return _numbered(map(_key, samples))


def _numbered(keys: Iterable[Any]) -> NDArray:
    known: dict[Any, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys])


def _key(sample: Any) -> Any:
    """What equal samples share: arrays their numbers, hashable objects themselves, others nothing."""
    if isinstance(sample, np.ndarray) and sample.dtype != object:
        return sample.shape, (sample + 0).tobytes()
    try:
        hash(sample)
    except TypeError:
        return id(sample)
    return sample


def check_finite_distances(distances: NDArray) -> None:
    """Raise if distances overflow."""
    if not np.isfinite(distances).all():
        raise DataError("Distances between samples overflow. Scale the data down, for example with StandardScaler.")
