"""What is measured: data, cases and the systems that run them."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs, make_swiss_roll


def clustered(n):
    """Ten Gaussian clusters in 50 dimensions."""
    return make_blobs(n, 50, centers=10, random_state=0)[0]


def swiss_roll(n):
    """The swiss roll in 3 dimensions: a slow spectrum."""
    return make_swiss_roll(n, random_state=0)[0]


DATA = {"clustered": clustered, "swiss roll": swiss_roll}


def median_gamma(X):
    """One over the median squared distance of a thousand rows, the same for every system."""
    rows = X[np.random.default_rng(0).permutation(len(X))[:1000]]
    return float(1 / np.median(pdist(rows, metric="sqeuclidean")))


@dataclass(frozen=True)
class Case:
    job: str  # "fit", "transform", "inverse" (fit with inverse) or "inverse scores" (fit_transform with inverse)
    data: str
    n: int
    k: int
    peers: tuple[str, ...]
    repeats: int = 3

    @property
    def name(self):
        return f"{self.job}, {self.data}, n = {self.n:,}, k = {self.k}"


ALL = ("auto", "arpack", "randomized")
CASES = [
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


def model_of(system, case, gamma):
    """The estimator of a system: "mercer", or scikit-learn's with this eigen_solver ("auto" is "arpack" for k < 10)."""
    params = dict(n_components=case.k, kernel="rbf", gamma=gamma, fit_inverse_transform=case.job.startswith("inverse"))
    if system == "mercer":
        from mercer import KernelPCA

        return KernelPCA(**params)
    from sklearn.decomposition import KernelPCA

    return KernelPCA(eigen_solver=system, random_state=0, **params)
