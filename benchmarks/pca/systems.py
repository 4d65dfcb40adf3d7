"""Linear PCA: the systems that are measured."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from benchmarks.pca.cases import BLOCK, blocks

SQUARE = "read and one GEMM"
BATCH = 8192  # rows for partial_fit: both who have it are faster and more exact so than with their 5 · 256


def whole(model, X):
    """In memory, or mapped from a file."""
    model.fit(X)


def from_path(model, X):
    model.fit(Path(X.filename))


def from_dask(model, X):
    import dask.array

    model.fit(dask.array.from_array(X, chunks=(BLOCK, X.shape[1])))


def by_batches(model, X):
    """What people write whose rows do not fit into memory."""
    for rows in blocks(len(X), BATCH):
        model.partial_fit(np.array(X[rows]))


@dataclass(frozen=True)
class System:
    """An estimator, imported when it is needed so that no system has another's memory, and how it is fitted."""

    module: str
    kind: str
    options: dict = field(default_factory=dict)
    fit: Callable = whole

    def model(self, k):
        return getattr(import_module(self.module), self.kind)(n_components=k, **self.options)


class ReadAndSquare:
    """The least that one sweep over a file can cost: every block read, and multiplied by itself in single precision."""

    components_ = explained_variance_ = None

    def __init__(self, n_components):
        pass

    def fit(self, path):
        mapped = np.load(path, mmap_mode="r")
        n, d = mapped.shape
        square = np.zeros((d, d), dtype=mapped.dtype)
        with path.open("rb") as file:
            file.seek(mapped.offset)
            for rows in blocks(n):
                block = np.fromfile(file, dtype=mapped.dtype, count=(rows.stop - rows.start) * d).reshape(-1, d)
                square += block.T @ block


SKLEARN, INTELEX, DASK = "sklearn.decomposition", "sklearnex.decomposition", "dask_ml.decomposition"
INTELEX_PREVIEW = "sklearnex.preview.decomposition"
SYSTEMS = {
    "mercer": System("mercer", "PCA"),
    "mercer, 200 MB": System("mercer", "PCA", {"memory_limit": "200MB"}, from_path),
    "mercer IncrementalPCA": System("mercer", "IncrementalPCA"),
    **{
        f"scikit-learn {solver}": System(SKLEARN, "PCA", {"svd_solver": solver, "random_state": 0})
        for solver in ("auto", "covariance_eigh", "full", "randomized", "arpack")
    },
    "scikit-learn IncrementalPCA": System(SKLEARN, "IncrementalPCA"),
    "scikit-learn IncrementalPCA, partial_fit": System(SKLEARN, "IncrementalPCA", fit=by_batches),
    "scikit-learn-intelex": System(INTELEX, "PCA", {"svd_solver": "covariance_eigh"}),
    "scikit-learn-intelex IncrementalPCA": System(INTELEX_PREVIEW, "IncrementalPCA"),
    "scikit-learn-intelex IncrementalPCA, partial_fit": System(INTELEX_PREVIEW, "IncrementalPCA", fit=by_batches),
    "dask-ml PCA": System(DASK, "PCA", {"random_state": 0}, from_dask),
    "dask-ml PCA tsqr": System(DASK, "PCA", {"svd_solver": "tsqr"}, from_dask),
    "dask-ml IncrementalPCA": System(DASK, "IncrementalPCA", {"random_state": 0, "batch_size": BLOCK}, from_dask),
    SQUARE: System(__name__, "ReadAndSquare", fit=from_path),
}
