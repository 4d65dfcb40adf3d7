"""What is measured: data, cases and the systems that run them."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs, make_swiss_roll


def clustered(n):
    """Ten Gaussian clusters in 50 dimensions."""
    return make_blobs(n, 50, centers=10, random_state=0)[0]


def thirty_features(n):
    """Ten Gaussian clusters in 30 dimensions."""
    return make_blobs(n, 30, centers=10, random_state=0)[0]


def swiss_roll(n):
    """The swiss roll in 3 dimensions: a slow spectrum."""
    return make_swiss_roll(n, random_state=0)[0]


DATA = {"clustered": clustered, "swiss roll": swiss_roll}
LARGE_DATA = {"clustered, d = 30": thirty_features, "swiss roll": swiss_roll}
MAKERS = DATA | LARGE_DATA


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
SUITES = {"small": CASES, "large": LARGE}


class EigshOnTiles:
    """What people write by hand: ARPACK on a LinearOperator that evaluates blocks of the kernel with numpy."""

    def __init__(self, n_components, gamma):
        self.n_components, self.gamma = n_components, gamma

    def set_params(self, n_components):
        self.n_components = n_components
        return self

    def fit(self, X):
        squares = np.sum(X * X, axis=1)

        def product(v):
            v = v.reshape(-1) - v.mean()
            out = np.empty(len(X))
            for i in range(0, len(X), 1000):
                rows = slice(i, i + 1000)
                distances = np.maximum(squares[rows, None] + squares - 2 * X[rows] @ X.T, 0)
                out[rows] = np.exp(-self.gamma * distances) @ v
            return out - out.mean()

        operator = LinearOperator((len(X), len(X)), matvec=product, dtype=float)
        start = np.random.default_rng(0).standard_normal(len(X))
        values, vectors = eigsh(operator, self.n_components, which="LA", tol=1e-4, v0=start)
        self.eigenvalues_, self.eigenvectors_ = values[::-1], vectors[:, ::-1]
        return self


def model_of(system, case, gamma):
    """The estimator of a system: "mercer", or scikit-learn's with this eigen_solver ("auto" is "arpack" for k < 10)."""
    params = dict(n_components=case.k, kernel="rbf", gamma=gamma, fit_inverse_transform=case.job.startswith("inverse"))
    if system == "eigsh on tiles":
        return EigshOnTiles(case.k, gamma)
    if system == "mercer":
        from mercer import KernelPCA

        return KernelPCA(**params)
    from sklearn.decomposition import KernelPCA

    return KernelPCA(eigen_solver=system, random_state=0, **params)
