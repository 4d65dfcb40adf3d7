"""K = ΦΦᵀ with few features: the eigenproblem of the D×D side."""

from dataclasses import dataclass, replace

import numpy as np

from mercer.arrays import Array
from mercer.errors import BadData
from mercer.solvers.base import NOT_FINITE, Eigenpairs, Solver, measured
from mercer.symmetric import SymmetricOperator
from mercer.threads import blas_threads_for


@dataclass(frozen=True)
class Factored(Solver):
    """PCA by covariance: asks `feature_scatter` and `from_features`, never for anything n×n.

    ΦcᵀΦc V = V Λ gives U = Φc V Λ^−½ with the same eigenvalues.
    """

    @property
    def words(self) -> str:
        return "LAPACK"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        square = op.feature_scatter()
        if not np.isfinite(square).all():
            raise BadData(NOT_FINITE)
        with blas_threads_for(len(square) ** 3):
            values, V = np.linalg.eigh(square)
        values, V = values[::-1], V[:, ::-1]
        rank = int(np.sum(values > np.finfo(float).eps * max(values[0], 0.0) * len(values)))
        kept = min(k, rank)
        U = op.from_features(V[:, :kept]) / np.sqrt(values[:kept])
        U = np.linalg.qr(U)[0]  # a small eigenvalue's vector is orthogonal to the large ones' only to rounding
        theta = np.zeros(k)
        theta[:kept] = values[:kept]
        if kept < k:  # more components than the data have directions: the rest has eigenvalue zero
            U = _complete(U, op, k, rng)
        return replace(
            measured(op, theta, U),
            beyond=np.maximum(values[kept : kept + 1], 0.0) if kept < len(values) else np.zeros(1),
            beyond_residuals=np.zeros(1),
            lowest=float(min(values[-1], 0.0)),
            size=float(max(values[0], 0.0)),
            columns=k,
            passes=2,
            complete=True,
        )


def _complete(U: Array, op: SymmetricOperator, k: int, rng: np.random.Generator) -> Array:
    """Append orthonormal columns up to k, orthogonal to U and (as far as there is room) to the null vector."""
    extra = op.project(rng.standard_normal((op.n, k - U.shape[1])))
    for _ in range(2):
        extra -= U @ (U.T @ extra)
        extra = np.linalg.qr(extra)[0]
    return np.concatenate([U, extra], axis=1)
