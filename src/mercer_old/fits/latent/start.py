"""Where a search for latent places starts, and rows with no more columns than it needs."""

import numpy as np

from mercer_old.arrays import Array
from mercer_old.solvers.base import signs_by
from mercer_old.solvers.dense import leading_eigenpairs

__all__ = ["principal_places", "with_fewer_columns"]


def principal_places(Y: Array, k: int) -> Array:
    """PCA's scores of centred rows, each scaled to variance one; where there is no variance, zero."""
    n, d = Y.shape
    if d <= n:
        values, axes = leading_eigenpairs(Y.T @ Y, k)
        scores = Y @ axes[:, :k]
    else:
        values, scores = leading_eigenpairs(Y @ Y.T, k)
        scores = scores[:, :k] * np.sqrt(np.maximum(values[:k], 0.0))
    lengths = np.sqrt(np.maximum(values[:k], 0.0) / n)
    there = values[:k] > 1e-14 * max(float(values[0]), np.finfo(float).tiny)
    scaled = np.where(there, scores / np.where(there, lengths, 1.0), 0.0)
    return np.asarray(scaled * signs_by(scaled))


def with_fewer_columns(Y: Array) -> Array:
    """Rows with the same YYᵀ, and no more columns than rows: all that a likelihood of rows looks at."""
    return Y if Y.shape[1] <= len(Y) else np.ascontiguousarray(np.asarray(np.linalg.qr(Y.T, mode="r")).T)
