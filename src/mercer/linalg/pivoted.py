"""Randomly pivoted Cholesky: K ≈ FFᵀ from a few columns of K, chosen where the approximation is worst.

A pivot is drawn with probability proportional to what is left of the diagonal, dᵢ = kᵢᵢ − ‖fᵢ‖²; its column joins the
factor, and d shrinks (Chen, Epperly, Tropp and Webber 2024). E = K − FFᵀ stays positive semi-definite, so its trace Σd
bounds its eigenvalues.

One pivot after the other would be products of matrices with vectors. A block of rows is proposed at once instead, and
each is accepted with probability dᵢ now / dᵢ when it was proposed: the law of the sequential method, in matrix products
(Epperly, Tropp and Webber, "Embrace rejection", 2024).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mercer.linalg.eigen import Generator
from mercer.linalg.gram import KernelColumns
from mercer.numerics.products import tall_matmul

_PROPOSED = 16, 64  # rows that are proposed at once, fewest and most
_ROUNDING = 1e-14  # of a diagonal entry: a smaller pivot is rounding


class PivotedFactor(NamedTuple):
    """F (n x r) with its pivots in the order in which they were drawn; `left` is the diagonal of K − FFᵀ."""

    F: NDArray
    pivots: NDArray
    left: NDArray


def pivoted_cholesky(
    K: KernelColumns,
    rank: int,
    rng: Generator,
    *,
    tol: float = 0.0,
    n_threads: int = 1,
    progress: Any = None,
) -> PivotedFactor:
    """A factor of at most `rank` columns; of fewer once only the fraction `tol` of the trace is left.

    K has to be positive semi-definite.
    """
    rank, generator = min(rank, K.n), rng()
    F, left, m = np.empty((K.n, rank), order="F"), np.maximum(K.diag(), 0.0), 0
    floor = max(tol, 50 * rank * float(np.finfo(float).eps)) * float(left.sum())  # differences below are rounding
    count, pivots = int(np.clip(rank // 8, *_PROPOSED)), np.empty(0, dtype=np.intp)
    while m < rank and float(left.sum()) > floor:
        rows = sample_proportional(left, generator.uniform(size=count))
        own = F[rows, :m]
        H = K.block(rows, rows) - own @ own.T
        accepted, L = _accept(rows, H, left[rows], generator.uniform(size=count), rank - m)
        left[rows] = np.maximum(H.diagonal(), 0.0)  # otherwise rounding proposes them forever
        if len(accepted):
            chosen, stop = rows[accepted], m + len(accepted)
            new = K.columns(chosen)
            if m:
                new = new - tall_matmul(F[:, :m], np.ascontiguousarray(own[accepted].T), n_threads)
            F[:, m:stop] = tall_matmul(new, np.ascontiguousarray(np.linalg.inv(L).T), n_threads)
            left = np.maximum(left - np.einsum("ij,ij->i", F[:, m:stop], F[:, m:stop]), 0.0)
            left[chosen] = 0.0
            pivots, m = np.append(pivots, chosen), stop
            if progress and m < rank:
                progress(m / rank * (1 + m / rank) / 2)  # later columns cost more
    if progress:
        progress(1.0)
    return PivotedFactor(F[:, :m], pivots, left)


def sample_proportional(left: NDArray, fractions: NDArray) -> NDArray:
    """For each fraction of Σd the row at which the running sum of d passes it; never one with d = 0."""
    running = np.cumsum(left)
    last = int(np.searchsorted(running, running[-1]))  # nothing is left of the rows after it
    return np.minimum(np.searchsorted(running, fractions * running[-1], side="right"), last)


def _accept(rows: NDArray, H: NDArray, proposed: NDArray, draws: NDArray, most: int) -> tuple[NDArray, NDArray]:
    """Which of the rows are accepted, one after the other, and the Cholesky factor of H on them."""
    draws, now, count = draws * proposed, H.diagonal().copy(), len(rows)
    L, accepted = np.zeros((count, min(count, most))), list[int]()
    for i in range(count):
        if len(accepted) == most:
            break
        if not draws[i] < now[i]:
            continue
        j = len(accepted)
        column = H[:, i] - L[:, :j] @ L[i, :j]
        if column[i] <= _ROUNDING * max(H[i, i], 0.0):
            continue
        L[:, j] = column / np.sqrt(column[i])
        now -= L[:, j] ** 2
        now[rows == rows[i]] = 0.0
        accepted.append(i)
    return np.array(accepted, dtype=np.intp), L[accepted, : len(accepted)]
