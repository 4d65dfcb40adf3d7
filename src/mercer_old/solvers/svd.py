"""Singular values and vectors by LAPACK: nothing is squared, so small ones keep their digits."""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.solvers.base import NOT_FINITE, Eigenpairs, Solver, measured
from mercer_old.symmetric import SymmetricOperator
from mercer_old.threads import blas_threads_for


@dataclass(frozen=True)
class Svd(Solver):
    """Asks a dilation for `dilated`, X = UΣVᵀ (m×d); its eigenpairs are (σ, [u; v]/√2)."""

    @property
    def words(self) -> str:
        return "LAPACK's SVD"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        X = op.dilated()
        if not np.isfinite(X).all():
            raise BadData(NOT_FINITE)
        with blas_threads_for(X.size * min(X.shape)):
            U, sigma, Vt = _svd(X)
        vectors = np.concatenate([U[:, :k], Vt[:k].T]) / np.sqrt(2)
        return replace(
            measured(op, sigma[:k], vectors),
            beyond=sigma[k:],
            beyond_residuals=np.zeros(len(sigma[k:])),
            lowest=-float(sigma[0]) if len(sigma) else 0.0,
            size=float(sigma[0]) if len(sigma) else 0.0,
            columns=len(sigma),
            passes=1,
            complete=True,
        )


def _svd(X: Array) -> tuple[Array, Array, Array]:
    """X = U diag(σ) Vᵀ; by LAPACK's slower way where its faster one gives up, which it does once in a blue moon."""
    try:
        return linalg.svd(X, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:
        return linalg.svd(X, full_matrices=False, check_finite=False, lapack_driver="gesvd")
