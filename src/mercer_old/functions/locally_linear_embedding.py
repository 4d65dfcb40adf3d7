"""Locally linear embedding as a function, as scikit-learn has it."""

from pathlib import Path
from typing import Any

from sklearn.neighbors import NearestNeighbors

from mercer_old.arrays import Array
from mercer_old.fits.local.task import metric_of
from mercer_old.models.lle import LocallyLinearEmbedding
from mercer_old.sources.items import Rows
from mercer_old.unpromised import rows_of, validated

_ITS_OWN = ["n_neighbors", "n_components", "reg", "eigen_solver", "tol", "max_iter", "method"]
_ITS_OWN += ["hessian_tol", "modified_tol", "random_state", "n_jobs"]  # parameters; the class has more


@validated(
    X=["array-like", "sparse matrix", NearestNeighbors, Path, Rows],
    **{name: LocallyLinearEmbedding._parameter_constraints[name] for name in _ITS_OWN},
)
def locally_linear_embedding(
    X: Any,
    *,
    n_neighbors: int | str,
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

    The parameters are those of `LocallyLinearEmbedding`, which explains them.

    Parameters
    ----------
    X : {array-like, sparse matrix, NearestNeighbors}
        The rows, or a search that was fitted to them.
    n_neighbors : int or "auto"
        How many neighbours describe a row.
    n_components : int
        Number of coordinates.
    reg : float, default=1e-3
        Of the weights.
    eigen_solver : {"auto", "arpack", "dense"}, default="auto"
        How the matrix is inverted.
    tol : float, default=1e-6
        Of residuals, against gaps.
    max_iter : int, default=100
        Most passes with the inverse.
    method : {"standard", "modified", "hessian", "ltsa"}, default="standard"
        How a neighbourhood is described.
    hessian_tol : float, default=1e-4
        Accepted and not used.
    modified_tol : float, default=1e-12
        A reflection of MLLE shorter than this is none.
    random_state : int, RandomState instance or None, default=None
        Of the solver's start.
    n_jobs : int or None, default=None
        Threads; None is all of them.
    **more : dict
        Other parameters of the class.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_components)
        The coordinates.
    squared_error : float
        The sum of their eigenvalues.

    See Also
    --------
    LocallyLinearEmbedding : The same with a certificate, and places for new rows.

    Examples
    --------
    >>> from mercer import locally_linear_embedding
    >>> from mercer.datasets import spiral
    >>> Y, error = locally_linear_embedding(spiral(300, 2)[0], n_neighbors=12, n_components=1)
    >>> Y.shape
    (300, 1)
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
