"""LAPACK on matrices in memory: leading eigenpairs and singular pairs, counted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from mercer.linalg.eigen import Eigenpairs
from mercer.linalg.operators import SymmetricOperator
from mercer.numerics.rounding import TINY, column_norms, gamma
from mercer.storable import storable

_ALL_ARE_CHEAP = 64  # side up to which all eigenvalues cost no more than a few


@storable
@dataclass(frozen=True)
class Dense:
    """LAPACK on the whole matrix. All eigenvalues or a counted number are computed, so none is missed."""

    description = "LAPACK"

    def solve(
        self,
        A: SymmetricOperator,
        k: int,
        rng: Callable[[], np.random.Generator],
        *,
        start: Any = None,
        progress: Any = None,
    ) -> Eigenpairs:
        """The k largest eigenvalues with their vectors, and the next one."""
        matrix = A.to_dense()
        pairs = leading_eigenpairs(matrix, k, A.product_error)
        if len(pairs.values) + len(pairs.next_values) == A.n:
            lowest = float(np.append(pairs.values, pairs.next_values)[-1])
        else:
            lowest = 0.0 if A.psd else _lowest_ritz_value(matrix, rng())
        return replace(pairs, lowest=lowest, norm=max(pairs.norm, -lowest))

    def memory(self, n: int, k: int) -> int:
        """Bytes of LAPACK's copy, vectors and work."""
        return 8 * n * n * (3 if _few(n, k + 1) else 6)

    def flops(self, n: int, k: int) -> float:
        """Cost in operations of a matrix product, measured: tridiagonal reduction is slower than products."""
        return (3.0 if _few(n, k + 1) else 8.0) * n**3


def _few(n: int, wanted: int) -> bool:
    """Whether to ask LAPACK for some eigenpairs only."""
    return 4 * wanted < n and n > _ALL_ARE_CHEAP


def _lowest_ritz_value(A: NDArray, rng: np.random.Generator) -> float:
    """Near the smallest eigenvalue, never below it: from a small Krylov space."""
    V = [rng.standard_normal((len(A), 8))]
    for _ in range(4):
        W = A @ V[-1]
        V.append(W / max(float(column_norms(W).max()), TINY))
    Q = np.linalg.qr(np.concatenate(V, axis=1))[0]
    H = Q.T @ A @ Q
    return float(np.linalg.eigvalsh((H + H.T) / 2)[0])


def leading_eigenpairs(A: NDArray, k: int, product_error: float | None = None) -> Eigenpairs:
    """The k largest eigenpairs of a symmetric matrix, measured; one more value shows the gap below the last.

    LAPACK's dsyevr by index may return fewer pairs than requested where eigenvalues are equal
    (Reference-LAPACK #1204), so they are counted; if some are missing, all are computed.
    """
    n = len(A)
    wanted = min(n, k + 1)
    values, vectors = _some(A, wanted) if _few(n, wanted) else np.linalg.eigh(A)
    if len(values) < wanted:
        values, vectors = np.linalg.eigh(A)
    values, U = values[::-1], np.ascontiguousarray(vectors[:, ::-1][:, :k])
    kept = values[:k]
    products = A @ U
    if product_error is None:
        product_error = gamma(n + 1) * float(np.sqrt(np.vdot(A, A)))
    return Eigenpairs(
        values=kept,
        vectors=U,
        residuals=column_norms(products - U * kept),
        products=products,
        next_values=values[k:],
        next_residuals=np.zeros(len(values) - len(kept)),
        norm=float(max(abs(values[0]), abs(values[-1]))),
        complete=True,
        product_error=product_error,
        n_products=n,
    )


def _some(A: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """The k largest eigenpairs, smallest of them first; none if LAPACK gives up."""
    try:
        return linalg.eigh(A, subset_by_index=(len(A) - k, len(A) - 1), driver="evr", check_finite=False)
    except linalg.LinAlgError:
        return np.empty(0), np.empty((len(A), 0))


def leading_singular_pairs(X: NDArray, k: int) -> Eigenpairs:
    """The k largest singular values σ of X as eigenpairs (σ, [u; v]/√2) of [[0, X], [Xᵀ, 0]], measured.

    Nothing is squared, so small singular values keep their digits.
    """
    m, d = X.shape
    try:
        U, sigma, Vt = linalg.svd(X, full_matrices=False, check_finite=False)
    except linalg.LinAlgError:
        U, sigma, Vt = linalg.svd(X, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    vectors = np.concatenate([U[:, :k], Vt[:k].T]) * np.sqrt(0.5)
    products = np.concatenate([X @ vectors[m:], X.T @ vectors[:m]])
    return Eigenpairs(
        values=sigma[:k],
        vectors=vectors,
        residuals=column_norms(products - vectors * sigma[:k]),
        products=products,
        next_values=sigma[k:],
        next_residuals=np.zeros(len(sigma[k:])),
        norm=float(sigma[0]) if len(sigma) else 0.0,
        complete=True,
        product_error=gamma(max(m, d) + 1) * float(np.sqrt(np.sum(sigma**2))),
        n_products=len(sigma),
    )
