"""What locally linear embedding is asked: where rows live, whether their number will do, and the sizes of a plan."""

from typing import Any

import numpy as np
from scipy import sparse

from mercer.errors import tell
from mercer.kernels.base import Kernel
from mercer.kernels.dot import Cosine
from mercer.models.neighborhoods import probe_fill
from mercer.operators.spaces import Distances, KernelRows, Points, Space, SparsePoints
from mercer.solvers.local_plan import SMALL, LocalProblem
from mercer.symmetric import Array


def given_distances(model: Any) -> bool:
    return isinstance(model.metric, str) and model.metric == "precomputed"


def space_of(model: Any, rows: Any) -> Space:
    """Where the rows have their distances."""
    if given_distances(model):
        return Distances(checked_distances(rows))
    if isinstance(model.metric, Kernel):
        return KernelRows(rows, model.metric.resolved(rows, model._rng()))
    if sparse.issparse(rows):
        return KernelRows(rows.astype(np.float64), Cosine()) if model.metric == "cosine" else SparsePoints(rows)
    way = {"auto": "auto", "brute": "tiles"}.get(model.neighbors_algorithm, "tree")
    return Points(rows, unit=model.metric == "cosine", way=way)


def local_problem(model: Any, n: int, d: int, space: Space | None = None, loaded: int = 0) -> LocalProblem:
    """The sizes on which a plan is based, and what a small piece of the data tells; of rows that need not exist yet."""
    refuse_sizes(model, n, d)
    return LocalProblem(
        n=n,
        d=d,
        k=model.n_components,
        neighbors=model.n_neighbors,
        fill=probe_fill(space, model.n_neighbors, model._rng()) if space is not None and n > SMALL else None,
        eigen_solver=model.eigen_solver,
        tol=model.tol,
        max_passes=model.max_iter,
        loaded=loaded,
        copied=space is None or isinstance(space, Points),
    )


def refuse_sizes(model: Any, n: int, d: int) -> None:
    """What cannot be, with scikit-learn's words where it has them."""
    k, wanted = model.n_neighbors, model.n_components
    if model.metric in ("euclidean", "cosine") and wanted > d:
        raise ValueError(
            f"output dimension must be less than or equal to input dimension: n_components={wanted}, n_features={d}"
        )
    if k >= n:
        raise ValueError(f"Expected n_neighbors < n_samples, but n_samples = {n}, n_neighbors = {k}")
    if wanted >= n:
        raise ValueError(f"n_components={wanted} must be less than n_samples={n}.")
    if model.method == "hessian" and k <= wanted * (wanted + 3) // 2:
        raise ValueError(
            "for method='hessian', n_neighbors must be greater than [n_components * (n_components + 3) / 2]: "
            f"n_neighbors={k}, and {wanted * (wanted + 3) // 2}"
        )
    if model.method == "modified" and k < wanted:
        raise ValueError(f"modified LLE requires n_neighbors >= n_components: {k} and {wanted}")
    if model.method == "ltsa" and k <= wanted + 1:
        raise ValueError(
            f"for method='ltsa', n_neighbors={k} must be greater than n_components + 1 = {wanted + 1}: so few points "
            "lie in so few dimensions anyhow, and leave nothing to align."
        )


def checked_distances(matrix: Any) -> Array:
    if sparse.issparse(matrix) or not isinstance(matrix, np.ndarray):
        raise ValueError(
            "Sparse distances are not supported: also those between the neighbours of an item are needed, so "
            'metric="precomputed" takes a dense matrix.'
        )
    if (matrix < 0).any():
        raise ValueError(f"Negative values in data: distances cannot be negative; the smallest is {matrix.min():.3g}.")
    uneven = max(float(np.abs(matrix[i] - matrix[:, i]).max()) for i in range(len(matrix)))
    if uneven > 1e-6 * float(matrix.max()):
        tell(
            f"The distances are not symmetric, by up to {uneven:.3g}: neighbours are taken from the rows, and between "
            "neighbours the mean of both is used."
        )
    return matrix
