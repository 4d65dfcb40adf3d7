"""Parts of a locally linear embedding: the neighbor graph, the eigenvectors, landmarks, new samples, n_neighbors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from mercer.certificates.gap import GapCertificate, PlacementCertificate, certify_gaps, certify_placement
from mercer.data.dataset import Dataset
from mercer.errors import DataError, MercerWarning, Remedy, warn
from mercer.linalg.alignment import (
    alignment_matrix,
    local_weights,
    map_neighborhoods,
    neighborhood_rows,
    reconstruction_residuals,
)
from mercer.linalg.eigen import Eigenpairs
from mercer.linalg.neighbors import NeighborSpace, check_finite_distances
from mercer.linalg.shift_invert import DenseBottom, ShiftInvert
from mercer.numerics.blocking import block_rows, slices
from mercer.numerics.distances import smallest
from mercer.numerics.threads import parallel
from mercer.planning.plan_lle import SMALL_SAMPLES, fewest_neighbors
from mercer.results import Result
from mercer.storable import storable
from mercer.text import counted, joined, short_repr

_TIE = 16 * np.finfo(float).eps  # distances that differ by less are equal but for rounding
_FAR = 1.25  # times the reach of its neighbors: a sample that is farther away is far from the training samples
_CELLS, _MEASURED, _FEW_PLACES = 10_000, 1000, 5  # see `collapse_warning`
_SOME, _SYMMETRIC_VALUES = 1000, 1e-8  # samples of a kernel matrix that is checked, and its relative asymmetry
_LADDER = 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40
_JUDGED, _PLATEAU = 10, 0.002  # neighbors by which embeddings are judged; scores that differ by less are as good
_POOL_GROWTH = 0.5  # landmarks that are drawn at once, relative to those at hand


@storable
@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The k nearest neighbors of every sample, or of every distinct one.

    Samples that are equal are merged only where all neighbors of some sample equal it: there its neighborhood is a
    point. `duplicates` are the indices of the distinct samples that the given ones equal then.
    """

    space: NeighborSpace
    indices: NDArray
    distances: NDArray
    duplicates: NDArray | None = None
    n_ties: int = 0  # samples whose last neighbor is one of several that are equally near
    n_collapsed: int = 0  # samples with k neighbors that equal them
    n_distinct: int | None = None  # None: unknown

    @classmethod
    def build(cls, space: NeighborSpace, k: int, n_threads: int = 1, progress: Any = None) -> "NeighborGraph":
        """The graph, after duplicates are merged if that is necessary and leaves enough samples."""
        indices, distances, n_ties = _nearest(space, k, n_threads, progress)
        farthest = distances[:, -1]
        if farthest.all() and np.isfinite(farthest.max()):
            return cls(space, indices, distances, None, n_ties)
        check_finite_distances(farthest)
        groups = space.groups()
        n_collapsed = int(np.sum((groups[indices] == groups[:, None]).all(axis=1)))
        if not n_collapsed:
            raise DataError(
                f"{np.sum(farthest == 0):,} of {len(farthest):,} rows differ from their neighbors, but at distance "
                "zero: next to a number that is far too large, others vanish. Leave outliers out or scale the columns, "
                "for example with StandardScaler. A kernel may not distinguish rows, or not be positive semi-definite."
            )
        first = np.unique(groups, return_index=True)[1]
        distinct = np.sort(first)
        if len(distinct) <= k:
            return cls(space, indices, distances, None, 0, n_collapsed, len(distinct))
        number = np.empty(len(first), dtype=np.int64)
        number[groups[distinct]] = np.arange(len(distinct))
        merged = space.take(distinct)
        indices, distances, n_ties = _nearest(merged, k, n_threads, progress)
        return cls(merged, indices, distances, number[groups], n_ties, n_collapsed, len(distinct))

    @property
    def k(self) -> int:
        return int(self.indices.shape[1])

    @property
    def has_few_distinct(self) -> bool:
        """Whether there are too few distinct samples for k neighbors."""
        return self.n_distinct is not None and self.duplicates is None

    @cached_property
    def _adjacency(self) -> Any:
        n, k = self.indices.shape
        parts = np.ones(n * k), self.indices.ravel(), np.arange(0, n * k + 1, k, dtype=np.int32)  # as csgraph wants it
        return sparse.csr_array(parts, shape=(n, n))

    @cached_property
    def connected_components(self) -> NDArray:
        """Label of each sample's connected component; 0 is the largest, of equal ones that of the first sample."""
        count, labels = connected_components(self._adjacency, directed=True, connection="weak")
        if count == 1:
            return np.zeros(len(labels), dtype=np.int64)
        _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
        rank = np.empty(count, dtype=np.int64)
        rank[np.lexsort((first, -sizes))] = np.arange(count)
        return rank[labels]

    @property
    def closed_groups(self) -> NDArray:
        """Sizes of the strongly connected groups without a neighbor outside, largest first."""
        count, labels = connected_components(self._adjacency, directed=True, connection="strong")
        is_open = np.zeros(count, dtype=bool)
        is_open[labels[(labels[self.indices] != labels[:, None]).any(axis=1)]] = True
        return np.sort(np.bincount(labels)[~is_open])[::-1]

    def n_null_vectors(self, method: str) -> int:
        """Number of connected components, or for "standard" of closed groups: each has a null vector of its own."""
        return len(self.closed_groups) if method == "standard" else int(self.connected_components.max()) + 1

    @property
    def covering_indices(self) -> NDArray:
        """Neighbors, where a sample that is not a neighbor of any other is the last one of its own.

        Methods that look at neighbors only would leave its place open.
        """
        alone = np.setdiff1d(np.arange(len(self.indices)), self.indices)
        indices = self.indices.copy()
        indices[alone, -1] = alone
        return indices

    def expand(self, values: NDArray) -> NDArray:
        """Values of distinct samples for all samples as they were given."""
        return values if self.duplicates is None else values[self.duplicates]

    def reduce(self, values: NDArray) -> NDArray:
        """Values of all samples for the distinct ones: that of the first of equal ones."""
        return values if self.duplicates is None else values[np.unique(self.duplicates, return_index=True)[1]]

    def notes(self) -> list[MercerWarning]:
        """Warnings about duplicates and ties."""
        n, found = len(self.indices) if self.duplicates is None else len(self.duplicates), []
        if self.n_distinct == 1:
            text = f"All {n:,} rows are equal, so there is no structure to find: the embedding is zero."
            return [MercerWarning(text, "meaningless")]
        if self.n_distinct and self.has_few_distinct:
            text = f"Only {self.n_distinct:,} of {n:,} rows are distinct, too few for n_neighbors={self.k}."
            return [MercerWarning(text, "meaningless", (Remedy("n_neighbors", max(1, self.n_distinct - 1)),))]
        if self.n_collapsed:
            found.append(
                MercerWarning(
                    f"{self.n_collapsed:,} of {n:,} rows equal all of their {self.k} neighbors. The "
                    f"{self.n_distinct:,} distinct rows were embedded, and equal rows share their coordinates.",
                    "note",
                )
            )
        if 2 * self.n_ties > len(self.indices):
            found.append(
                MercerWarning(
                    f"{self.n_ties:,} of {len(self.indices):,} rows have more than {self.k} equally near neighbors, of "
                    f"which {self.k} were taken: another order of the rows would give another embedding. Rows on a "
                    "grid, or of few distinct values, have such ties."
                )
            )
        return found

    def defects(self, method: str) -> list[MercerWarning]:
        """A warning if the graph does not determine an embedding: not connected, or with closed groups."""
        labels = self.connected_components
        sizes, closed = np.bincount(labels), self.closed_groups if method == "standard" else np.empty(0)
        if self.has_few_distinct or (len(sizes) == 1 and len(closed) <= 1):  # `notes` reports few distinct samples
            return []
        if len(sizes) > 1:
            text = (
                f"The graph of the {self.k} nearest neighbors is disconnected: {len(sizes):,} connected components of "
                f"{_sizes(sizes)} rows. The coordinates only separate these; connected_component_labels_ has them."
            )
        else:
            text = (
                f"{len(closed):,} groups of rows ({_sizes(closed)}) have all of their {self.k} nearest neighbors among "
                "themselves, although others have neighbors in several of them: the first coordinates only separate "
                "the groups."
            )
        return [MercerWarning(text, "meaningless", (Remedy("n_neighbors", min(2 * self.k, len(labels) - 1)),))]


def _nearest(space: NeighborSpace, k: int, n_threads: int, progress: Any) -> tuple[NDArray, NDArray, int]:
    """The k nearest of every sample, and for how many of them the next one is as near."""
    if k + 1 >= space.n:
        return (*space.nearest(k, n_threads, progress), 0)
    indices, distances = space.nearest(k + 1, n_threads, progress)
    last, beyond = distances[:, k - 1], distances[:, k]
    tied = (beyond <= last * (1 + _TIE)) & (last > 0)
    return indices[:, :k].copy(), distances[:, :k].copy(), int(tied.sum())


def _sizes(sizes: NDArray) -> str:
    """ "600, 300 and 100"; the first five of many."""
    shown = [f"{size:,}" for size in sizes[:5]]
    return joined(shown) if len(sizes) <= 5 else f"{', '.join(shown)}, …"


def check_distances(D: NDArray) -> None:
    """Raise if the diagonal is not zero to rounding, or a triangle is missing; warn if D is not symmetric."""
    own, largest = np.diagonal(D), float(D.max())
    if own.max() > 1e-6 * largest:
        i = int(own.argmax())
        raise DataError(
            f"The distance of a sample to itself must be 0, but that of row index {i} is {own[i]:.3g} (largest "
            f"distance: {largest:.3g}). Convert similarities to distances first.",
            row=i,
        )
    pieces = slices(len(D), 256)
    uneven = max(float(np.abs(np.subtract(D[rows], D[:, rows].T, dtype=np.float64)).max()) for rows in pieces)
    if uneven == largest > 0 and not any(np.minimum(D[rows], D[:, rows].T).any() for rows in pieces):
        raise DataError("Only one of each two distances d(i, j) and d(j, i) is given, the other is 0. Pass D + D.T.")
    if uneven > 1e-6 * largest:
        warn(
            f"The distances are not symmetric, by up to {uneven:.3g}. Neighbors are taken from the rows, and between "
            "neighbors the mean of both distances is used."
        )


def check_kernel_values(space: Any) -> None:
    """Raise if some samples show that the kernel is not symmetric, or finite; warn if it is indefinite."""
    prepared = space.kernel.prepare(space.samples[:: max(1, space.n // _SOME)])
    K = np.empty(prepared.shape)
    prepared.fill(slice(None), slice(None), K)
    difference = float(np.abs(K - K.T).max())
    if difference > _SYMMETRIC_VALUES * np.abs(K).max():
        raise DataError(
            f"{short_repr(space.kernel)} is not symmetric: k(x, y) and k(y, x) differ by up to {difference:.3g}. Check "
            "the function with mercer.kernels.check_kernel."
        )
    values = np.linalg.eigvalsh(K)
    if values[0] < -1e-8 * abs(values[-1]):
        warn(
            f"The kernel {space.kernel!r} is not positive semi-definite (smallest eigenvalue {values[0]:.3g}, largest "
            f"{values[-1]:.3g} for some rows), so its distances are not distances in a feature space.",
            severity="meaningless",
        )


# ---------------------------------------------------------------------- the embedding


class Method(NamedTuple):
    """The description of neighborhoods, and the number of components."""

    name: str
    n_components: int
    reg: float = 1e-3
    modified_tol: float = 1e-12


def build_alignment(graph: NeighborGraph, method: Method, dense: bool, n_threads: int = 1, progress: Any = None) -> Any:
    """The alignment matrix of the graph."""
    covering = method.name in ("hessian", "ltsa")
    return alignment_matrix(
        graph.space,
        graph.covering_indices if covering else graph.indices,
        method.name,
        n_components=method.n_components,
        reg=method.reg,
        modified_tol=method.modified_tol,
        dense=dense,
        n_threads=n_threads,
        progress=progress,
    )


def zero_pairs(n: int, k: int) -> Eigenpairs:
    """Eigenpairs of n equal samples, all zero."""
    zeros, vectors = np.zeros(k), np.zeros((n, k))
    return Eigenpairs(zeros, vectors, zeros, vectors, bound=0.0, evidence="all rows are equal")


def check_embedding(
    graph: NeighborGraph, pairs: Eigenpairs, coordinates: NDArray, method: str, tol: float
) -> tuple[GapCertificate, NDArray, list[MercerWarning]]:
    """The certificate, the connected component of each sample, and what makes the embedding doubtful."""
    proven, warnings = certify_gaps(pairs, tol=tol), graph.notes()
    labels, defects = np.zeros(graph.space.n, dtype=np.int64), list[MercerWarning]()
    if not (proven.n_complete and proven.lower[0] > 0):  # each component or closed group has a null vector of its own
        labels, defects = graph.connected_components, graph.defects(method)
    if not defects and not (warnings and warnings[0].severity == "meaningless"):
        defects = [*proven.eigenvalue_warnings(), *collapse_warning(coordinates)]
    if warnings := [*warnings, *defects]:
        caveats = tuple(warning.summary for warning in warnings if warning.severity == "meaningless")
        proven = replace(proven, caveats=caveats)
    return proven, labels, warnings


def collapse_warning(Y: NDArray) -> list[MercerWarning]:
    """A warning if the samples of an embedding lie in few places: n²/Σc² over the counts c of n samples in grid cells.

    Of up to 1,000 samples, over two coordinates: the best pair of consecutive ones.
    """
    Y, n_places = Y[:: -(-len(Y) // _MEASURED)], 0.0
    n, d = Y.shape
    for first in range(0, d, 2):
        pair = Y[:, first : first + 2]
        size = round(_CELLS ** (1 / pair.shape[1]))
        low, extent = pair.min(axis=0), np.ptp(pair, axis=0)
        cells = np.minimum((pair - low) / np.where(extent > 0, extent, 1.0) * size, size - 1).astype(np.int64)
        counts = np.bincount(cells @ (size ** np.arange(pair.shape[1]))).astype(float)
        n_places = max(n_places, n**2 / float(counts @ counts))
    if n_places >= _FEW_PLACES or n < 2 * _FEW_PLACES**2:
        return []
    text = (
        f"The embedding is collapsed: its rows lie in about {counted(round(n_places), 'place')}, as a few rows, or "
        "groups of them, are far from all others."
    )
    return [MercerWarning(text, "meaningless", (Remedy("n_neighbors", "auto"), Remedy("reg", 0.01)))]


# ---------------------------------------------------------------------- new samples


@dataclass(frozen=True, eq=False)
class Placement(Result):
    """Coordinates of new samples, and how well their neighbors among the training samples determine them.

    Attributes
    ----------
    embedding : ndarray of shape (n_samples, n_components)
        Coordinates.
    residuals : ndarray of shape (n_samples,)
        Distance of each sample from the weighted combination of its neighbors, in the units of the input.
    nearest : ndarray of shape (n_samples,)
        Distance to the nearest training sample.
    far : ndarray of shape (n_samples,)
        Whether that is more than 1.25 times the distance that the neighbors have to their own: the embedding is a
        guess there.
    """

    embedding: NDArray
    residuals: NDArray
    nearest: NDArray
    far: NDArray

    @classmethod
    def concatenate(cls, parts: Sequence["Placement"]) -> "Placement":
        """One after the other."""
        names = ("embedding", "residuals", "nearest", "far")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    @property
    def summary(self) -> str:
        n_far = int(self.far.sum())
        about = f"{counted(n_far, 'row')} far from the training rows" if n_far else "none far from the training rows"
        return f"{counted(len(self.far), 'row')} placed, {about}."

    def columns(self) -> dict[str, Any]:
        coordinates = {f"coordinate{j}": self.embedding[:, j] for j in range(self.embedding.shape[1])}
        return {**coordinates, "residual": self.residuals, "nearest": self.nearest, "far": self.far}


def extend(
    rows: Any, graph: NeighborGraph, coordinates: NDArray, reg: float, n_threads: int = 1
) -> tuple[Placement, NDArray]:
    """z = Σⱼwⱼzⱼ over the k nearest samples, and the index of the nearest; a row that equals a sample gets its z."""
    space, k = graph.space, graph.k
    new = space.prepare(rows)
    found = space.nearest_to(new, k, n_threads)
    residuals, out = np.empty(len(found.indices)), np.empty((len(found.indices), coordinates.shape[1]))

    def work(some: slice) -> None:
        G = space.gram_at(new[some], found.indices[some])
        w = local_weights(G, reg)
        residuals[some] = reconstruction_residuals(G, w) * space.scale
        np.einsum("ij,ijl->il", w, coordinates[found.indices[some]], out=out[some])

    parallel(work, slices(len(out), neighborhood_rows(k, space.width)), n_threads)
    if not found.distances[:, 0].all():
        equal = space.equal(new, found)
        same = equal.any(axis=1)
        first = np.where(equal, found.indices, len(coordinates)).min(axis=1)  # of several that it equals
        out[same], residuals[same] = coordinates[first[same]], 0.0
    nearest, reach = found.distances[:, 0], _FAR * graph.distances[found.indices, -1].max(axis=1)
    placed = Placement(out.astype(coordinates.dtype, copy=False), residuals, nearest, nearest > reach)
    return placed, found.indices[:, 0]


# ---------------------------------------------------------------------- landmarks


def choose_landmarks(space: NeighborSpace, count: int, rng: np.random.Generator, n_threads: int = 1) -> NDArray:
    """Indices of samples that lie apart from each other, in the order in which they were drawn.

    Each is drawn with a probability proportional to its squared distance from those before (k-means++; Arthur and
    Vassilvitskii 2007), some at a time. Uniform samples leave gaps, where neighborhoods reach across to other parts of
    a manifold; the farthest sample of all would always be an outlier. Duplicates are drawn last.
    """
    drawn = [np.array([int(rng.integers(space.n))])]
    left, n_drawn = np.full(space.n, np.inf), 0
    while n_drawn + len(drawn[-1]) < count:
        n_drawn += len(drawn[-1])
        left = np.minimum(left, space.distance_to(drawn[-1], n_threads))
        check_finite_distances(left)
        left[drawn[-1]] = 0.0
        farthest = float(left.max())
        if not farthest > 0:
            break
        weights = (left / farthest) ** 2
        size = max(1, min(count - n_drawn, int(_POOL_GROWTH * n_drawn)))
        new = rng.choice(space.n, size=size, p=weights / weights.sum())
        drawn.append(new[np.sort(np.unique(space.take(new).groups(), return_index=True)[1])])
    found = np.concatenate(drawn)[:count]
    others = rng.permutation(np.setdiff1d(np.arange(space.n), found)) if len(found) < count else found
    return np.append(found, others[: count - len(found)])


def extend_to_all(
    data: Dataset,
    landmarks: NDArray,
    graph: NeighborGraph,
    coordinates: NDArray,
    labels: NDArray,
    certificate: GapCertificate,
    reg: float,
    n_threads: int,
    progress: Any = None,
) -> tuple[NDArray, NDArray, PlacementCertificate]:
    """Coordinates and connected components of all samples between their landmarks, block by block.

    The m landmarks have unit columns. They are multiplied by √(m/n), so that all n samples have about unit columns.
    """
    n = len(data)
    coordinates = coordinates * np.sqrt(len(landmarks) / n)
    size = block_rows(data.shape[1])
    blocks = data.map_blocks(extend, graph, coordinates, reg, n_threads, size=size, progress=progress)
    placements, nearest = zip(*blocks, strict=True)
    placed = Placement.concatenate(placements)
    embedding, far = placed.embedding, placed.far.copy()
    embedding[landmarks], far[landmarks] = graph.expand(coordinates), False
    w = map_neighborhoods(graph.space, graph.indices, lambda G: local_weights(G, reg), n_threads)
    off = np.einsum("ij,ijl->il", w, coordinates[graph.indices]) - coordinates
    spread = coordinates.std(axis=0)
    proven = certify_placement(
        certificate,
        graph.expand(graph.distances[:, -1]),
        np.delete(placed.residuals, landmarks),
        np.sqrt(np.mean(off**2, axis=0)) / np.where(spread > 0, spread, 1.0),
        int(far.sum()),
    )
    return embedding, labels[np.concatenate(nearest)], proven


# ---------------------------------------------------------------------- the number of neighbors


def choose_n_neighbors(
    space: NeighborSpace, method: Method, most: int, rng: Any, tol: float, n_threads: int = 1
) -> tuple[int, str]:
    """The smallest number of neighbors that preserves neighborhoods as well as any, and the reason.

    With few neighbors the graph is disconnected, or weights leave coordinates open; with many, neighborhoods reach
    across to other parts of a manifold. Both show in the embedding, as a loss of trustworthiness or continuity (Venna
    and Kaski 2001). Among the numbers whose graph has the fewest connected components, or closed groups, this is the
    smallest whose mean of both is within 0.002 of the best, and so is that of the next larger one.
    """
    distinct = np.sort(np.unique(space.groups(), return_index=True)[1])
    space = space if len(distinct) == space.n else space.take(distinct)
    n, least = space.n, fewest_neighbors(method.name, method.n_components)
    tried: list[int] = []
    if n > 3 * _JUDGED:
        order = space.nearest(n - 1, n_threads)
        ladder = sorted({max(least, _LADDER[0]), *_LADDER})
        tried = [k for k in ladder if least <= k <= (n - 1) // 4 and order.distances[:, k - 1].all()]
    if not tried:
        k = max(least, min(5, most))
        return k, f"n_neighbors={k}: {n:,} distinct rows are too few to compare numbers of neighbors."
    ranks = np.zeros((n, n), dtype=np.int32)  # 1 for the nearest, 0 for the sample itself
    np.put_along_axis(ranks, order.indices, np.arange(1, n, dtype=np.int32)[None], 1)
    graphs = [NeighborGraph(space, order.indices[:, :k].copy(), order.distances[:, :k].copy()) for k in tried]
    found = [_judge(graph, ranks, method, rng, tol, n_threads) for graph in graphs]
    fewest = min(count for count, _ in found)
    whole = [i for i, (count, _) in enumerate(found) if count == fewest]
    best = max(whole, key=lambda i: found[i][1])
    good = [i for i in whole if found[i][1] >= found[best][1] - _PLATEAU]
    chosen = next((i for i in good if i + 1 in good), best)
    parts = "a connected graph" if fewest == 1 else f"no more than {fewest:,} connected components or closed groups"
    return tried[chosen], (
        f"n_neighbors={tried[chosen]}: the smallest of {tried[0]} to {tried[-1]} with {parts} that preserves "
        f"neighborhoods as well as larger ones (mean of trustworthiness and continuity {found[chosen][1]:.3f}, best "
        f"{found[best][1]:.3f}, on {n:,} rows)."
    )


def _judge(
    graph: NeighborGraph, ranks: NDArray, method: Method, rng: Any, tol: float, n_threads: int
) -> tuple[int, float]:
    """The number of null vectors, and how well an embedding of the largest component preserves neighborhoods."""
    labels, count = graph.connected_components, graph.n_null_vectors(method.name)
    members = np.flatnonzero(labels == 0)
    if len(members) <= max(3 * _JUDGED, method.n_components + 1):
        return count, 0.0
    if len(members) < len(labels):
        inside = np.searchsorted(members, graph.indices[members]).astype(np.int32)
        graph = NeighborGraph(graph.space.take(members), inside, graph.distances[members])
        ranks = np.argsort(np.argsort(ranks[np.ix_(members, members)], axis=1), axis=1).astype(np.int32)
    small = len(members) <= SMALL_SAMPLES
    solver = DenseBottom() if small else ShiftInvert("dense", tol, n_threads=n_threads)
    M = build_alignment(graph, method, small, n_threads)
    return count, _preserved_neighbors(ranks, solver.solve(M, method.n_components, rng).vectors)


def connecting_n_neighbors(space: NeighborSpace, method: str, k: int, n_threads: int = 1) -> int:
    """The smallest number of neighbors, from k on, that leaves the fewest components of all samples."""
    found = space.nearest(min(max(k, _LADDER[-1]), space.n - 1), n_threads)
    tried = [k, *(more for more in _LADDER if k < more < space.n)]
    if not found.distances[:, k - 1].all():  # duplicates would be merged first
        return k
    graphs = (NeighborGraph(space, found.indices[:, :count], found.distances[:, :count]) for count in tried)
    return tried[int(np.argmin([graph.n_null_vectors(method) for graph in graphs]))]


def _preserved_neighbors(ranks: NDArray, Y: NDArray) -> float:
    """Mean of trustworthiness and continuity by 10 neighbors: 1 − c·Σ(rank − 10) over those that changed."""
    m, K, lost = len(Y), _JUDGED, 0.0
    squares = np.einsum("ij,ij->i", Y, Y)
    for rows in slices(m, 512):
        D = squares - 2 * (Y[rows] @ Y.T)
        each = np.arange(len(D))
        D[each, each + rows.start] = np.inf
        came = np.take_along_axis(ranks[rows], smallest(D, K), 1)
        own = np.nonzero((ranks[rows] >= 1) & (ranks[rows] <= K))[1].reshape(-1, K)
        left = 1 + np.sum(np.take_along_axis(D, own, 1)[:, :, None] > D[:, None, :], axis=2)
        lost += float(np.maximum(came - K, 0).sum() + np.maximum(left - K, 0).sum())
    return 1 - lost / (m * K * (2 * m - 3 * K - 1))
