"""LAPACK on the whole matrix."""

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from mercer.errors import BadData
from mercer.solvers.base import NOT_FINITE, Eigenpairs, Solver
from mercer.symmetric import Array, SymmetricOperator


@dataclass(frozen=True)
class Dense(Solver):
    """All of the matrix at once: asks `dense`. Cost (4/3)n³; LAPACK counts eigenvalues, so none is missed."""

    psd: bool = field(default=False, repr=False)  # known to have no negative eigenvalue, so nobody looks for one

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        A = op.dense()
        n = len(A)
        wanted = min(n, k + 1)  # one more, to know the gap below the last
        if not np.isfinite(A).all():
            raise BadData(NOT_FINITE)
        if wanted > n // 4 or n <= 64:
            values, vectors = np.linalg.eigh(A)
        else:
            values, vectors = linalg.eigh(A, subset_by_index=(n - wanted, n - 1), driver="evr", check_finite=False)
        values, vectors = values[::-1], np.ascontiguousarray(vectors[:, ::-1])
        lowest = float(values[-1]) if len(values) == n else 0.0 if self.psd else lowest_seen(A, rng)
        kept, U = values[:k], vectors[:, :k]
        products = A @ U
        return Eigenpairs(
            values=kept,
            vectors=U,
            residuals=np.linalg.norm(products - U * kept, axis=0),
            products=products,
            beyond=values[k : k + 1],
            beyond_residuals=np.zeros(len(values[k : k + 1])),
            lowest=lowest,
            size=float(max(np.abs(values).max(initial=0.0), -lowest)),
            columns=n,
            passes=1,
            complete=True,
        )


def lowest_seen(A: Array, rng: np.random.Generator) -> float:
    """The smallest Ritz value in a small Krylov space of A: no smaller than the smallest eigenvalue, and near it."""
    V = [rng.standard_normal((len(A), 8))]
    for _ in range(4):
        W = A @ V[-1]
        V.append(W / max(float(np.linalg.norm(W, axis=0).max()), np.finfo(float).tiny))
    Q = np.linalg.qr(np.concatenate(V, axis=1))[0]
    H = Q.T @ A @ Q
    return float(np.linalg.eigvalsh((H + H.T) / 2)[0])
