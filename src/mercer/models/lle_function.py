"""Locally linear embedding as a function, as scikit-learn has it."""

from pathlib import Path
from typing import Any

from sklearn.neighbors import NearestNeighbors

from mercer.models.lle import LocallyLinearEmbedding
from mercer.models.local_task import metric_of
from mercer.sources.rows import RowSource
from mercer.symmetric import Array
from mercer.unpromised import rows_of, validated

ITS_OWN = ["n_neighbors", "n_components", "reg", "eigen_solver", "tol", "max_iter", "method"]
ITS_OWN += ["hessian_tol", "modified_tol", "random_state", "n_jobs"]  # parameters; the class has more


@validated(
    X=["array-like", "sparse matrix", NearestNeighbors, Path, RowSource],
    **{name: LocallyLinearEmbedding._parameter_constraints[name] for name in ITS_OWN},
)
def locally_linear_embedding(
    X: Any,
    *,
    n_neighbors: int,
    n_components: int,
    reg: float = 1e-3,
    eigen_solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 100,
    method: str = "standard",
    hessian_tol: float = 1e-4,
    modified_tol: float = 1e-12,
    random_state: Any = None,
    n_jobs: int | None = None,
    **more: Any,
) -> tuple[Array, float]:
    """Locally linear embedding as a function: ``embedding_`` and ``reconstruction_error_`` of the class.

    Parameters
    ----------
    X : {array-like, sparse matrix, NearestNeighbors}
        The rows, or a search that was fitted to them.
    n_neighbors, n_components, reg, eigen_solver, tol, max_iter, method, hessian_tol, modified_tol, random_state, n_jobs
        As in `LocallyLinearEmbedding`.
    **more
        Its other parameters.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_components)
    squared_error : float
    """
    if isinstance(X, NearestNeighbors):
        more = {"metric": metric_of(X)} | more
    model = LocallyLinearEmbedding(
        n_neighbors=n_neighbors,
        n_components=n_components,
        reg=reg,
        eigen_solver=eigen_solver,
        tol=tol,
        max_iter=max_iter,
        method=method,
        hessian_tol=hessian_tol,
        modified_tol=modified_tol,
        random_state=random_state,
        n_jobs=n_jobs,
        **more,
    )
    model.fit(rows_of(X) if isinstance(X, NearestNeighbors) else X)
    return model.embedding_, model.reconstruction_error_
