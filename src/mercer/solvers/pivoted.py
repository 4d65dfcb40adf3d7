"""Randomly pivoted Cholesky: K ≈ FFᵀ from a few columns, chosen where the approximation is worst.

A row is drawn with probability proportional to what is left of its diagonal entry, dᵢ = K_ii − ‖fᵢ‖², its column joins
the factor, d shrinks, and so on (Chen, Epperly, Tropp and Webber 2024). E = K − FFᵀ stays positive semi-definite, so
its trace Σd bounds all its eigenvalues.

One row at a time that is matrix times vector. Here a block of rows is proposed at once, and each is accepted with
probability dᵢ now / dᵢ when proposed: exactly the law of the sequential method, in matrix products (Epperly, Tropp and
Webber, "Embrace rejection", 2024).
"""

from dataclasses import dataclass

import numpy as np

from mercer.arrays import Array
from mercer.progress import OnPass
from mercer.solvers.tall import tall_times
from mercer.symmetric import SymmetricOperator

_MOST_PROPOSED, _FEWEST_PROPOSED = 64, 16


@dataclass(frozen=True)
class Factor:
    """F (n×r) with its pivots; `left` is the diagonal of E = K − FFᵀ."""

    F: Array
    pivots: Array
    left: Array
    trace: float  # of K

    @property
    def error(self) -> float:
        """tr(E): no eigenvalue of K − FFᵀ exceeds it."""
        return float(self.left.sum())


def pivoted_cholesky(
    op: SymmetricOperator,
    rank: int,
    rng: np.random.Generator,
    *,
    tol: float = 0.0,
    proposed: int | None = None,
    threads: int = 1,
    on_pass: OnPass = None,
) -> Factor:
    """A factor of at most so many columns; fewer once no more than the share `tol` of the trace is left.

    Asks `diag`, `columns` and `block`. K has to be positive semi-definite. `on_pass` hears how much is done: a column
    costs an evaluation and, the later it comes, the more products.
    """
    diagonal = np.maximum(op.diag(), 0.0)
    rank, trace = min(rank, op.n), float(diagonal.sum())
    F, left, pivots = np.empty((op.n, rank)), diagonal.copy(), np.empty(0, dtype=int)
    # d is updated by subtraction: below this its digits are noise, and so would be the pivots.
    floor = max(tol, 50 * rank * np.finfo(float).eps) * trace
    count = proposed or proposals(rank)
    while len(pivots) < rank and left.sum() > floor:
        m = len(pivots)
        chosen, L = _accept(op, F[:, :m], left, count, rank - m, rng)
        if not len(chosen):
            continue
        new = op.columns(chosen)
        new -= tall_times(F[:, :m], np.ascontiguousarray(F[chosen, :m].T), threads)
        new = tall_times(new, np.ascontiguousarray(np.linalg.inv(L).T), threads)
        F[:, m : m + len(chosen)] = new
        left -= np.einsum("ij,ij->i", new, new)
        np.maximum(left, 0.0, out=left)
        left[chosen] = 0.0
        pivots = np.append(pivots, chosen)
        if on_pass and len(pivots) < rank:
            on_pass(len(pivots) / rank * (1 + len(pivots) / rank) / 2)
    if on_pass:
        on_pass(1.0)  # it may end early
    F = F[:, : len(pivots)]
    return Factor(F, pivots, np.maximum(diagonal - np.einsum("ij,ij->i", F, F), 0.0), trace)


def proposals(rank: int) -> int:
    """How many rows are proposed at once."""
    return int(np.clip(rank // 8, _FEWEST_PROPOSED, _MOST_PROPOSED))


def _accept(
    op: SymmetricOperator, F: Array, left: Array, count: int, most: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Propose rows by `left` and accept one after the other, as the sequential method would have; and the Cholesky
    factor of K − FFᵀ on the accepted ones."""
    rows = rng.choice(len(left), size=count, p=left / left.sum())
    draws = rng.uniform(size=count) * left[rows]
    H = op.block(rows, rows) - F[rows] @ F[rows].T
    now = np.diag(H).copy()
    left[rows] = np.maximum(now, 0.0)  # rounding in the updates must not propose the same rows for ever
    L, accepted = np.zeros((count, min(count, most))), list[int]()
    for i in range(count):
        if len(accepted) == most:
            break
        if not draws[i] < now[i]:
            continue
        j = len(accepted)
        column = H[:, i] - L[:, :j] @ L[i, :j]
        if column[i] <= 1e-14 * left[rows[i]]:  # nothing but rounding
            continue
        L[:, j] = column / np.sqrt(column[i])
        now -= L[:, j] ** 2
        now[rows == rows[i]] = 0.0
        accepted.append(i)
    return rows[accepted], L[accepted, : len(accepted)]
