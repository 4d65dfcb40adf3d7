"""One line per class: the contract tests loop over these."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from mercer.kernels import (
    RBF,
    AdditiveChiSquared,
    Blockwise,
    Category,
    ChiSquared,
    Constant,
    Cosine,
    Date,
    Edit,
    GappedKmer,
    GlobalAlignment,
    HistogramIntersection,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Mismatch,
    Numeric,
    Ordinal,
    Pairwise,
    Polynomial,
    RationalQuadratic,
    Sets,
    Sigmoid,
    Spectrum,
    Subsequence,
    TableKernel,
    Tanimoto,
    WeightedDegree,
)
from mercer_old.engines import Loop
from mercer_old.kernels.features import MadeFeatures
from mercer_old.operators.centering import Centered
from mercer_old.operators.elsewhere import GramElsewhere
from mercer_old.operators.features import FeatureGram
from mercer_old.operators.gram import HeldGram, RecomputedGram
from mercer_old.operators.held import BlackBox, HeldMatrix
from mercer_old.operators.spread_gram import GatheredGram, SpreadGram
from mercer_old.solvers.dense import Dense
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.solvers.landmarks import Landmarks
from mercer_old.solvers.shift_invert import DenseBottom, ShiftInvert
from mercer_old.solvers.warm import WarmKrylov
from mercer_old.sources.chunked import AsRows, Chunks
from mercer_old.sources.frames import as_columns
from mercer_old.spaces.by_kernel import KernelRows
from mercer_old.spaces.given import Distances
from mercer_old.spaces.points import Points, SparsePoints
from mercer_old.sweeps.spread import Spread
from mercer_old.sweeps.square import Square
from mercer_old.sweeps.triangle import Triangle
from support.elsewhere import ELSEWHERE

# ---------------------------------------------------------------------- kernels, each with items it can compare


def rows(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def non_negative_rows(n, seed=0):
    """With zeros among them, as counts have."""
    return np.maximum(rows(n, seed) + 0.5, 0.0)


def texts(n, seed=0):
    """Short ones, some without a single gram of three letters."""
    rng = np.random.default_rng(seed)
    return np.array(["".join(rng.choice(list("abcd "), size=rng.integers(0, 14))) for _ in range(n)], dtype=object)


def tables(n, seed=0):
    """Columns of every kind, with gaps among them."""
    rng = np.random.default_rng(seed)
    some = [None, "red", "green", "blue", "violet"]
    tags = [None, {"a"}, {"a", "b"}, {"b", "c", "d"}, set()]
    columns = {
        "mass": np.where(rng.random(n) < 0.1, np.nan, 3000 + 500 * rng.normal(size=n)),
        "length": rng.integers(10, 60, size=n),
        "color": [some[i] for i in rng.integers(0, 5, size=n)],
        "size": [["S", "M", "L"][i] for i in rng.integers(0, 3, size=n)],
        "day": np.datetime64("2024-01-01T06:00") + rng.integers(0, 10**6, size=n) * np.timedelta64(1, "m"),
        "tags": [tags[i] for i in rng.integers(0, 5, size=n)],
        "name": [text or None for text in texts(n, seed)],
    }
    return as_columns(columns)


def learned(columns, **others):
    """A kernel of these columns, with numbers from a table that is none of those in a test."""
    return TableKernel(columns, **others).resolved(tables(100, 99), np.random.default_rng(0))


NUMBERS = {"mass": Numeric(), "length": Numeric(Laplacian(0.5))}
FAMD = {"mass": Numeric(), "length": Numeric(), "color": Category()}
ALL_COLUMNS = {
    "mass": Numeric(),
    "color": Category(),
    "size": Ordinal(["S", "M", "L"]),
    "day": Date(["year", "week"]),
    "tags": Sets(),
    "name": Spectrum(2),
}


def series(n, seed=0):
    """Walks of a few steps, of unequal lengths, with two values at each."""
    rng, out = np.random.default_rng(seed), np.empty(n, dtype=object)
    for i in range(n):
        out[i] = rng.normal(size=(rng.integers(1, 9), 2)).cumsum(axis=0)
    return out


def bits(n, seed=0):
    """Fingerprints, few of whose bits are set."""
    return (np.random.default_rng(seed).random((n, 64)) < 0.06).astype(np.uint8)


def minimum(x, y):
    return np.minimum(np.abs(x), np.abs(y)).sum()


def minimum_of_blocks(X, Y):
    return np.minimum(np.abs(X[:, None]), np.abs(Y[None])).sum(axis=2)


# Entries (kernel, items): `items(n, seed)` makes n of whatever the kernel compares.
MERCER_KERNELS = [
    (Linear(), rows),
    (Polynomial(degree=2, gamma=0.5, coef0=1.0), rows),
    (Polynomial(degree=3, gamma=0.3, coef0=0.5), rows),
    (Polynomial(degree=5, gamma=0.1, coef0=1.0), rows),
    (Cosine(), rows),
    (RBF(gamma=0.4), rows),
    (RBF(gamma=1e-6), rows),
    (RBF.from_length_scale(0.7), rows),
    (Laplacian(gamma=0.3), rows),
    (Matern(nu=0.5), rows),
    (Matern(nu=1.5, length_scale=2.0), rows),
    (Matern(nu=2.5, length_scale=0.5), rows),
    (RationalQuadratic(alpha=0.7, length_scale=2.0), rows),
    (ChiSquared(gamma=0.5), non_negative_rows),
    (ChiSquared(gamma=1e-6), non_negative_rows),
    (AdditiveChiSquared(), non_negative_rows),
    (HistogramIntersection(), non_negative_rows),
    (MinMax(), non_negative_rows),
    (Tanimoto(), rows),
    (Tanimoto(), bits),
    (2.0 * MinMax(), bits),
    (Constant(2.0), rows),
    (RBF(gamma=1.0) + 0.5 * Linear(), rows),
    (RBF(gamma=0.2) * Polynomial(degree=2, gamma=0.1, coef0=1.0), rows),
    (2.0 * (Linear() + 1.0), rows),
    (2.0 * MinMax() + ChiSquared(gamma=0.5) * Tanimoto(), non_negative_rows),
    (Pairwise(minimum), rows),
    (Blockwise(minimum_of_blocks), rows),
    (Spectrum(3), texts),
    (Spectrum(n=2, shortest=1, counts="min"), texts),
    (Spectrum(n=2, by="words", counts="once", normalize=False), texts),
    (Spectrum(n=2, counts="once", normalize="dice"), texts),
    (Spectrum(n=3, shortest=1, counts="min", normalize="jaccard", weights=(0.5, 0.0, 3.0)), texts),
    (Subsequence(3), texts),
    (Subsequence(length=2, decay=0.9, up_to=True, normalize=False), texts),
    (Subsequence(length=7, decay=0.5, normalize="jaccard"), texts),  # in texts of 14 letters: pair by pair
    (GappedKmer(length=4, wildcards=2), texts),
    (GappedKmer(length=3, wildcards=1, normalize="dice"), texts),
    (Mismatch(n=2, m=1, alphabet="abcd "), texts),
    (Mismatch(n=3, m=2, alphabet="abx", normalize=False), texts),
    (WeightedDegree(3), texts),
    (0.5 * Spectrum(2) + Spectrum(4, shortest=3), texts),
    (learned(FAMD, balanced=False), tables),
    (learned(ALL_COLUMNS), tables),
    (learned(NUMBERS), tables),
    (learned({**ALL_COLUMNS, "length": RBF(0.1), "tags": Sets(Tanimoto())}, compose="product"), tables),
    (GlobalAlignment(bandwidth=2.0), series),
    (GlobalAlignment(bandwidth=1.0, triangular=4, normalize=False), series),
]
ALL_KERNELS = [
    *MERCER_KERNELS,
    (Sigmoid(gamma=0.1, coef0=0.2), rows),
    (Polynomial(degree=2.5, gamma=0.5, coef0=1.0), non_negative_rows),
    (Edit(gamma=0.3), texts),
]
SPARSE_KERNELS = [
    (Linear(), rows),
    (Polynomial(degree=3, gamma=0.3, coef0=0.5), rows),
    (Cosine(), rows),
    (RBF(gamma=0.4), rows),
    (Sigmoid(gamma=0.1, coef0=0.2), rows),
    (RationalQuadratic(alpha=0.7, length_scale=2.0), rows),
    (ChiSquared(gamma=0.5), non_negative_rows),
    (AdditiveChiSquared(), non_negative_rows),
    (HistogramIntersection(), non_negative_rows),
    (MinMax(), non_negative_rows),
    (MinMax(), bits),
    (Tanimoto(), rows),
    (Tanimoto(), bits),
]


def for_each(kernels, others=rows):
    """A test of `kernel` and `items`, for every entry; with other rows, if they are given, where any rows will do."""
    kernels = [(kernel, others if items is rows else items) for kernel, items in kernels]
    return pytest.mark.parametrize(("kernel", "items"), kernels, ids=[repr(kernel) for kernel, _ in kernels])


# ---------------------------------------------------------------------- spaces, scatters, operators, files, solvers


def alone(new, X):
    return new


def as_sparse(new, X):
    return sparse.csr_array(new)


def distances(new, X):
    return np.sqrt(np.sum((new[:, None] - X) ** 2, axis=2))


def directions(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def places_of(kernel, X):
    """Rows whose scalar products are the kernel's: those of the root of its matrix."""
    values, vectors = np.linalg.eigh(kernel.block(X, X))
    return vectors * np.sqrt(np.maximum(values, 0.0))


# Spaces of the same rows: how each is made, how it is given new rows, and places in a Euclidean space that are as far
# apart as it says.
ALL_SPACES = {
    "points": (Points.of, alone, np.asarray),
    "points, by a tree": (lambda X: Points.of(X, way="tree"), alone, np.asarray),
    "points, by tiles": (lambda X: Points.of(X, way="tiles"), alone, np.asarray),
    "sparse points": (lambda X: SparsePoints.of(sparse.csr_array(X)), as_sparse, np.asarray),
    "linear": (lambda X: KernelRows.seen_by(Linear(), X), alone, np.asarray),
    "linear, sparse": (lambda X: KernelRows.seen_by(Linear(), sparse.csr_array(X)), as_sparse, np.asarray),
    "distances": (lambda X: Distances(distances(X, X)), distances, np.asarray),
    "directions": (lambda X: Points.of(X, unit=True), alone, directions),
    "directions, sparse": (lambda X: SparsePoints.of(sparse.csr_array(X), unit=True), as_sparse, directions),
    "cosine": (lambda X: KernelRows.seen_by(Cosine(), X), alone, directions),
    "rbf": (lambda X: KernelRows.seen_by(RBF(gamma=0.1), X), alone, lambda X: places_of(RBF(gamma=0.1), X)),
}

# What one pass over rows sums up.
ALL_SCATTERS = [Square, Triangle, Spread]


class AsTheyAre(NamedTuple):
    """Things of any kind, as `Chunks.opened` would make items of them."""

    data: Any
    start: int

    def load(self):
        return self.data


def in_chunks(X, count):
    """The items in so many chunks of unequal lengths, each with at least one, which a loop works on."""
    some = np.arange(1, count) ** 2 * (X.shape[0] - count) // count**2 + np.arange(1, count)
    parts = [X[a:b] for a, b in pairwise([0, *some.tolist(), X.shape[0]])]
    engine = Loop()
    handles = tuple(engine.share(part) for part in parts)
    opened = AsRows(X.shape[1], X.dtype, sparse=sparse.issparse(X)) if X.ndim == 2 else AsTheyAre
    return Chunks(engine, handles, tuple(part.shape[0] for part in parts), opened)


def in_pieces(X):
    """The same, cut anew into three."""
    return in_chunks(X, 3).recut([slice(0, 11), slice(11, 25), slice(25, X.shape[0])])


# Makers of one and the same matrix, X Xᵀ, in every way it can be held.
ALL_OPERATORS = {
    "gram": lambda X: HeldGram(Linear(), X),
    "gram, two threads": lambda X: HeldGram(Linear(), X, threads=2),
    "recomputed": lambda X: RecomputedGram(Linear(), X),
    "recomputed, two threads": lambda X: RecomputedGram(Linear(), X, threads=2),
    "elsewhere": lambda X: GramElsewhere(Linear(), X, ELSEWHERE),
    "elsewhere, recomputed": lambda X: GramElsewhere(Linear(), X, ELSEWHERE, held=False),
    "spread": lambda X: SpreadGram(Linear(), X, in_pieces(X)),
    "gathered": lambda X: GatheredGram(Linear(), X, in_pieces(X)),
    "features": lambda X: FeatureGram(X),
    "features, two threads": lambda X: FeatureGram(X, threads=2),
    "features, made anew": lambda X: FeatureGram(MadeFeatures((1.0 * Linear()).feature_map(X), X)),
    "sparse features": lambda X: FeatureGram(sparse.csr_array(X)),
    "given": lambda X: HeldMatrix(X @ X.T),
    "given, sparse": lambda X: HeldMatrix(sparse.csr_array(X @ X.T)),
    "black box": lambda X: BlackBox(aslinearoperator(X @ X.T)),
}
ALL_OPERATORS |= {f"centred {name}": lambda X, make=make: Centered(make(X)) for name, make in ALL_OPERATORS.items()}

# Files with the columns a, b, c, … and the rows of one matrix, in every way they can be stored.
ALL_FILES = {
    ".npy": lambda path, X: np.save(path, X),
    ".npy, Fortran order": lambda path, X: np.save(path, np.asfortranarray(X)),
    ".parquet": lambda path, X: parquet.write_table(table(X), path, row_group_size=700),
    ".arrow": lambda path, X: feather.write_feather(table(X), str(path), compression="uncompressed", chunksize=300),
    ".feather": lambda path, X: feather.write_feather(table(X), str(path)),
    ".csv": lambda path, X: csv.write_csv(table(X), path),
    ".csv, semicolons": lambda path, X: csv.write_csv(table(X), path, csv.WriteOptions(delimiter=";")),
    ".csv, no header": lambda path, X: csv.write_csv(table(X), path, csv.WriteOptions(include_header=False)),
    ".tsv": lambda path, X: csv.write_csv(table(X), path, csv.WriteOptions(delimiter="\t")),
}


def table(X):
    return pa.table({"abcdefghij"[j]: X[:, j] for j in range(X.shape[1])})


def write_file(kind, folder, X):
    """A file of this kind, and its path."""
    path = folder / f"rows{kind.partition(',')[0]}"
    ALL_FILES[kind](path, X)
    return path


ALL_SOLVERS = [
    Dense(),
    BlockKrylov(block=4),
    BlockKrylov(block=16, tol=1e-10),
    WarmKrylov(block=4, rank=15, tol=1e-10),
    WarmKrylov(block=4, rank=15, tol=1e-8, precondition=False),
    Landmarks(15, refine=300, tol=1e-10),
]

# Those for the other end of the spectrum, of matrices that send constants to zero.
BOTTOM_SOLVERS = {"lapack": DenseBottom(), "sparse": ShiftInvert("sparse"), "dense": ShiftInvert("dense")}
