"""LAPACK on the whole matrix."""

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg

from mercer_old.arrays import Array
from mercer_old.errors import BadData
from mercer_old.solvers.base import NOT_FINITE, Eigenpairs, Solver, measured
from mercer_old.symmetric import SymmetricOperator
from mercer_old.threads import blas_threads_for

_ALL_ARE_CHEAP = 64  # rows up to which all eigenvalues cost no more than some


@dataclass(frozen=True)
class Dense(Solver):
    """All of the matrix at once: asks `dense`. Cost (4/3)n³; All or a counted number of eigenvalues are
    computed, so none is missed."""

    psd: bool = field(default=False, repr=False)  # known to have no negative eigenvalue, so nobody looks for one

    @property
    def words(self) -> str:
        return "LAPACK"

    def solve(self, op: SymmetricOperator, k: int, rng: np.random.Generator, start: Array | None = None) -> Eigenpairs:
        A = op.dense()
        n = len(A)
        wanted = min(n, k + 1)  # one more, to know the gap below the last
        with blas_threads_for(n**3):
            values, vectors = leading_eigenpairs(A, wanted)
        lowest = float(values[-1]) if len(values) == n else 0.0 if self.psd else _lowest_seen(A, rng)
        kept, U = values[:k], vectors[:, :k]
        return replace(
            measured(op, kept, U),
            beyond=values[k : k + 1],
            beyond_residuals=np.zeros(len(values[k : k + 1])),
            lowest=lowest,
            size=float(max(np.abs(values).max(initial=0.0), -lowest)),
            columns=n,
            passes=1,
            complete=len(values) >= wanted,
        )


def leading_eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix in memory, largest first, with their vectors: counted.

    LAPACK's dsyevr by index is the fastest for a few, but where eigenvalues are equal it may return fewer than it was
    asked for and say nothing (Reference-LAPACK #1204), or refuse. Then all are computed, which loses none. Where k is
    a good part of all, all come back: whoever wants k takes the first.
    """
    n = len(A)
    if not np.isfinite(A).all():
        raise BadData(NOT_FINITE)
    if 4 * k < n and n > _ALL_ARE_CHEAP:
        values, vectors = _some_of_the_largest(A, k)
        if len(values) == k:
            return values[::-1], np.ascontiguousarray(vectors[:, ::-1])
    values, vectors = np.linalg.eigh(A)
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def _some_of_the_largest(A: Array, k: int) -> tuple[Array, Array]:
    """As many of the k largest as LAPACK finds, none if it gives up."""
    try:
        return linalg.eigh(A, subset_by_index=(len(A) - k, len(A) - 1), driver="evr", check_finite=False)
    except linalg.LinAlgError:
        return np.empty(0), np.empty((len(A), 0))


def _lowest_seen(A: Array, rng: np.random.Generator) -> float:
    """The smallest Ritz value in a small Krylov space of A: no smaller than the smallest eigenvalue, and near it."""
    V = [rng.standard_normal((len(A), 8))]
    for _ in range(4):
        W = A @ V[-1]
        V.append(W / max(float(np.linalg.norm(W, axis=0).max()), np.finfo(float).tiny))
    Q = np.linalg.qr(np.concatenate(V, axis=1))[0]
    H = Q.T @ A @ Q
    return float(np.linalg.eigvalsh((H + H.T) / 2)[0])
