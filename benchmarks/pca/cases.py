"""Linear PCA: the data and the cases."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

BLOCK = 65_536  # rows that are made at a time, and read by systems that leave it to us
SMALLEST = 600  # rows or columns below which --scale does not go
TOPICS, DRAWS = 30, 22  # of sparse rows: where columns come from, and how many each row draws


def blocks(n, size=BLOCK):
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def orthonormal(rng, d, rank):
    return np.linalg.qr(rng.normal(size=(d, rank)))[0]


def correlated(n, d, dtype, mean, new=np.empty):
    """Normal rows with deviations i^-1/2 along random axes and every column at this mean, in a new array."""
    X, rng = new((n, d), dtype=dtype), np.random.default_rng(0)
    mixing = (orthonormal(rng, d, d) * np.arange(1, d + 1) ** -0.5).T.astype(dtype)
    for rows in blocks(n):
        np.matmul(rng.standard_normal((rows.stop - rows.start, d), dtype=dtype), mixing, out=X[rows])
        X[rows] += mean
    return X


def tall(n, d, new=np.empty):
    return correlated(n, d, np.float32, 1, new)


def far(n, d):
    return correlated(n, d, np.float64, 1e6)


def power_law(n, d):
    """(G·diag(i^-1))Qᵀ + 0.002·noise + 1 with 500 orthonormal columns in Q, or a fifth of the rows if that is less."""
    rng, rank = np.random.default_rng(0), min(500, n // 5)
    scores = rng.normal(size=(n, rank)) / np.arange(1, rank + 1)
    X = scores @ orthonormal(rng, d, rank).T
    for rows in blocks(n, 1000):
        X[rows] += 0.002 * rng.standard_normal(X[rows].shape) + 1
    return X


def topics(n, d):
    """Counts of columns that each row draws from two of thirty topics, each with its own order of Zipf-like shares."""
    rng = np.random.default_rng(0)
    shares = np.cumsum(1 / (10 + np.arange(d)))
    orders = rng.permuted(np.tile(np.arange(d, dtype=np.int32), (TOPICS, 1)), axis=1)

    def some(count):
        two, lean = rng.integers(TOPICS, size=(count, 2)), rng.random((count, 1))
        topic = np.where(rng.random((count, DRAWS)) < lean, two[:, :1], two[:, 1:])
        rank = np.searchsorted(shares / shares[-1], rng.random((count, DRAWS)))
        starts = np.arange(0, count * DRAWS + 1, DRAWS, dtype=np.int32)
        part = sparse.csr_array((np.ones(count * DRAWS), orders[topic, rank].ravel(), starts), shape=(count, d))
        part.sum_duplicates()
        return part

    return sparse.vstack([some(rows.stop - rows.start) for rows in blocks(n)], format="csr")


@dataclass(frozen=True)
class Case:
    kind: str
    make: Callable
    n: int
    d: int
    systems: tuple[str, ...]  # names in `systems.SYSTEMS`, ours first
    repeats: int = 3
    k: int = 20
    patience: float = 60  # seconds in all, after which a run is not repeated
    file: bool = False  # whether the rows are in a file and not in memory

    @property
    def name(self):
        return f"{self.kind}, {self.n:,} × {self.d:,}, k = {self.k}"

    def scaled(self, factor):
        """The same with fewer rows and columns, to try things out."""
        n, d = (max(min(size, SMALLEST), round(size * factor)) for size in (self.n, self.d))
        return replace(self, n=n, d=d)


COVARIANCE = ("mercer", "scikit-learn covariance_eigh", "scikit-learn-intelex")
FROM_FILE = (
    "mercer, 200 MB",
    "mercer IncrementalPCA",
    "scikit-learn IncrementalPCA",
    "scikit-learn IncrementalPCA, partial_fit",
    "scikit-learn-intelex IncrementalPCA",
    "scikit-learn-intelex IncrementalPCA, partial_fit",
    "dask-ml PCA",
    "dask-ml PCA tsqr",
    "dask-ml IncrementalPCA",
    "read and one GEMM",
)
CASES = [
    Case("tall, float32", tall, 2_000_000, 256, COVARIANCE),
    Case("far from zero, float64", far, 500_000, 256, COVARIANCE),
    Case("file, float32", tall, 2_000_000, 256, FROM_FILE, file=True),
    Case(
        "wide, float64",
        power_law,
        500,
        100_000,
        ("mercer", *(f"scikit-learn {solver}" for solver in ("auto", "full", "randomized", "arpack"))),
    ),
    Case("square, float64", power_law, 20_000, 5_000, ("mercer", "scikit-learn randomized", "scikit-learn arpack")),
    Case("sparse, float64", topics, 1_000_000, 20_000, ("mercer", "scikit-learn arpack")),
]
