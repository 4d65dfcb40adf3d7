"""Kernel PCA: the data and the cases."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs, make_swiss_roll


def clustered(n):
    """Ten Gaussian clusters in 50 dimensions."""
    return make_blobs(n, 50, centers=10, random_state=0)[0]


def thirty_features(n):
    """Ten Gaussian clusters in 30 dimensions."""
    return make_blobs(n, 30, centers=10, random_state=0)[0]


def twenty_features(n):
    """Ten Gaussian clusters in 20 dimensions."""
    return make_blobs(n, 20, centers=10, random_state=0)[0]


def far_cluster(n):
    """A Gaussian cloud in 20 dimensions, and 1 % of the rows far away and ten times as wide."""
    X = np.random.default_rng(0).normal(size=(n, 20)) * 0.7 ** np.arange(20)
    X[: n // 100] = 20 + 10 * X[: n // 100]
    return X


def swiss_roll(n):
    """The swiss roll in 3 dimensions: a slow spectrum."""
    return make_swiss_roll(n, random_state=0)[0]


SMALLEST = 1_500  # rows below which --scale does not go: more than there are landmarks
DATA = {"clustered": clustered, "swiss roll": swiss_roll}
LARGE_DATA = {"clustered, d = 30": thirty_features, "swiss roll": swiss_roll}
LANDMARK_DATA = {"clustered, d = 20": twenty_features, "far cluster": far_cluster}
MAKERS = DATA | LARGE_DATA | LANDMARK_DATA


def median_gamma(X):
    """One over the median squared distance of a thousand rows, the same for every system."""
    rows = X[np.random.default_rng(0).permutation(len(X))[:1000]]
    return float(1 / np.median(pdist(rows, metric="sqeuclidean")))


# The bandwidth in those units; so wide a kernel has about half of the leading components in either part.
GAMMA = {"far cluster": 0.01}


@dataclass(frozen=True)
class Case:
    # "fit", "transform", "inverse" (fit with inverse) or "inverse scores" (fit_transform with inverse); by landmarks
    # "landmark scores" (fit_transform), "landmark file" (fit) or "landmark transform"
    job: str
    data: str
    n: int
    k: int
    peers: tuple[str, ...]  # eigen solvers of scikit-learn, or names in `systems.py` that have a space
    repeats: int = 3
    patience: float = 60  # seconds in all, after which a run is not repeated
    file: str = ""  # the kind of file that rows are read from; in memory if there is none

    @property
    def name(self):
        source = f"{self.data}, {self.file}" if self.file else self.data
        return f"{self.job}, {source}, n = {self.n:,}, k = {self.k}"

    @property
    def systems(self):
        return ("mercer", *(peer if " " in peer else f"{SKLEARN} {peer}" for peer in self.peers))

    @property
    def by_landmarks(self):
        return self.job.startswith("landmark")

    def scaled(self, factor):
        """The same with fewer rows, to try things out."""
        return replace(self, n=max(min(self.n, SMALLEST), round(self.n * factor)))


SKLEARN = "scikit-learn"
ALL = ("auto", "arpack", "randomized")
HELD = [
    *(
        Case("fit", data, n, 5, ("arpack", "randomized"), 7 if n < 5000 else 3)
        for data in DATA
        for n in (1000, 2000, 5000)
    ),
    *(Case("fit", data, n, 50, ALL, 5 if n < 5000 else 3) for data in DATA for n in (1000, 2000, 5000)),
    *(Case("fit", data, 10_000, k, ("arpack", "randomized"), 2) for data in DATA for k in (5, 50)),
    Case("transform", "clustered", 10_000, 5, ("arpack",), 3),
    Case("inverse", "clustered", 5000, 5, ("arpack",), 3),
    Case("inverse", "clustered", 5000, 50, ("auto",), 2),
    Case("inverse scores", "clustered", 5000, 5, ("arpack",), 3),
    Case("inverse scores", "clustered", 5000, 50, ("auto",), 2),
]


# Beyond 12 000 rows the matrix is evaluated anew in every pass, and one run takes long enough to be believed.
EXACT = ("arpack", "randomized")
LARGE = [
    Case("fit", "clustered, d = 30", 10_000, 20, EXACT, 2),
    *(Case("fit", data, 20_000, k, EXACT, 2) for data in LARGE_DATA for k in (20, 50)),
    Case("fit", "swiss roll", 20_000, 5, ("eigsh on tiles",), 1),
    Case("fit", "clustered, d = 30", 30_000, 20, ("arpack",), 1),
    Case("fit", "clustered, d = 30", 50_000, 20, (), 1),
    *(Case("fit", data, 80_000, k, (), 1) for data in LARGE_DATA for k in (20, 50)),
    *(Case("fit", data, 200_000, 20, (), 1) for data in LARGE_DATA),
]


# Every repeat is another seed, and captured variance is the median of five: at 200 000 rows none is left out for time.
COUNT = 1000  # landmarks, or random features
BARE = "bare kernel blocks"
APPROXIMATE = ("Nystroem + PCA", "RBFSampler + PCA")
MILLION = ("clustered, d = 20", 1_000_000, 20)
LANDMARKS = [
    *(Case("landmark scores", data, 200_000, 20, APPROXIMATE, 5, patience=inf) for data in LANDMARK_DATA),
    Case("landmark scores", *MILLION, APPROXIMATE, 2),
    *(Case("landmark file", *MILLION, (), 2, file=kind) for kind in (".npy", ".parquet")),
    Case("landmark transform", *MILLION, (BARE,), 3),
]
SUITES = {"kernel_pca": HELD, "large": LARGE, "landmarks": LANDMARKS}
