"""Randomly pivoted Cholesky: K ≈ FFᵀ from a few columns, chosen where the approximation is worst.

A row is drawn with probability proportional to what is left of its diagonal entry, dᵢ = K_ii − ‖fᵢ‖², its column joins
the factor, d shrinks, and so on (Chen, Epperly, Tropp and Webber 2024). E = K − FFᵀ stays positive semi-definite, so
its trace Σd bounds all its eigenvalues.

One row at a time that is matrix times vector. Here a block of rows is proposed at once, and each is accepted with
probability dᵢ now / dᵢ when proposed: exactly the law of the sequential method, in matrix products (Epperly, Tropp and
Webber, "Embrace rejection", 2024). `draw_pivots` does it on any `Rest`: of a matrix whose rows are here, or elsewhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mercer_old.arrays import Array
from mercer_old.progress import OnPass
from mercer_old.solvers.tall import subtract_times, turn
from mercer_old.symmetric import SymmetricOperator

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


@dataclass(frozen=True)
class Proposed:
    """Rows that may become pivots, with what is left of the matrix between them."""

    rows: Array  # their numbers, among which the same may come twice
    left: Array  # d of each, by which it was drawn
    H: Array  # (K − FFᵀ) between them


class Rest(ABC):
    """What pivots have left of a matrix of n rows, E = K − FFᵀ: its diagonal d and its factor, wherever they are."""

    n: int
    total: float  # Σd

    @abstractmethod
    def propose(self, shares: Array) -> Proposed:
        """For every share s in [0, 1) the row at which the running sum of d passes sΣd: drawn by the law d/Σd."""

    @abstractmethod
    def take(self, proposed: Proposed, accepted: Array, L: Array) -> None:
        """The accepted rows (numbers among the proposed) join F, and d shrinks; of the others, d is what H says."""


def draw_pivots(
    rest: Rest,
    rank: int,
    rng: np.random.Generator,
    *,
    tol: float = 0.0,
    proposed: int | None = None,
    on_pass: OnPass = None,
) -> Array:
    """At most so many pivots, in the order in which they were drawn; fewer once only the share `tol` of Σd is left.

    `on_pass` hears how much is done: a column costs an evaluation and, the later it comes, the more products.
    """
    # d is updated by subtraction: below this its digits are noise, and so would be the pivots.
    floor = max(tol, 50 * rank * np.finfo(float).eps) * rest.total
    count, pivots = proposed or proposals(rank), np.empty(0, dtype=int)
    while len(pivots) < rank and rest.total > floor:
        some = rest.propose(rng.uniform(size=count))
        accepted, L = _accept(some, rng.uniform(size=count), rank - len(pivots))
        rest.take(some, accepted, L)
        pivots = np.append(pivots, some.rows[accepted])
        if on_pass and len(accepted) and len(pivots) < rank:
            on_pass(len(pivots) / rank * (1 + len(pivots) / rank) / 2)
    if on_pass:
        on_pass(1.0)  # it may end early
    return pivots


def _accept(proposed: Proposed, draws: Array, most: int) -> tuple[Array, Array]:
    """Which are accepted, one after the other, as the sequential method would have; and the Cholesky factor of
    K − FFᵀ on them."""
    rows, H, draws = proposed.rows, proposed.H, draws * proposed.left
    now, count = np.diag(H).copy(), len(rows)
    L, accepted = np.zeros((count, min(count, most))), list[int]()
    for i in range(count):
        if len(accepted) == most:
            break
        if not draws[i] < now[i]:
            continue
        j = len(accepted)
        column = H[:, i] - L[:, :j] @ L[i, :j]
        if column[i] <= 1e-14 * max(H[i, i], 0.0):  # nothing but rounding
            continue
        L[:, j] = column / np.sqrt(column[i])
        now -= L[:, j] ** 2
        now[rows == rows[i]] = 0.0
        accepted.append(i)
    return np.array(accepted, dtype=int), L[accepted, : len(accepted)]


def drawn_at(left: Array, sums: Array) -> Array:
    """The rows at which the running sum of `left` passes these sums; never one of which nothing is left."""
    running = np.cumsum(left)
    last = int(np.searchsorted(running, running[-1]))  # the first at which all is there: those after it have nothing
    return np.minimum(np.searchsorted(running, sums, side="right"), last)


def new_columns(K: Array, F: Sequence[Array], own: Array, L: Array, threads: int = 1) -> Array:
    """(K_T − F F_Tᵀ) L⁻ᵀ: what the factor, in parts side by side, gains by rows T with the columns K_T and `own` factor
    F_T. K_T is used up."""
    start = 0
    for part in F:
        subtract_times(K, part, np.ascontiguousarray(own[:, start : start + part.shape[1]].T), threads)
        start += part.shape[1]
    return turn(K, np.ascontiguousarray(np.linalg.inv(L).T), threads)


def what_is_left(left: Array, new: Array) -> Array:
    """d after new columns of the factor."""
    return np.maximum(left - np.einsum("ij,ij->i", new, new), 0.0)


def proposals(rank: int) -> int:
    """How many rows are proposed at once."""
    return int(np.clip(rank // 8, _FEWEST_PROPOSED, _MOST_PROPOSED))


# ---------------------------------------------------------------------- of a matrix whose rows are here


class _RestHere(Rest):
    """Of an operator, with room for so many columns of F."""

    def __init__(self, op: SymmetricOperator, rank: int, threads: int) -> None:
        self.op, self.n, self.threads, self.found = op, op.n, threads, 0
        self.diagonal = np.maximum(op.diag(), 0.0)
        self.F, self.left, self.total = np.empty((op.n, rank)), self.diagonal, float(self.diagonal.sum())

    def propose(self, shares: Array) -> Proposed:
        rows = drawn_at(self.left, shares * self.total)
        F = self.F[rows, : self.found]
        return Proposed(rows, self.left[rows], self.op.block(rows, rows) - F @ F.T)

    def take(self, proposed: Proposed, accepted: Array, L: Array) -> None:
        m, chosen = self.found, proposed.rows[accepted]
        self.left = self.left.copy()
        self.left[proposed.rows] = np.maximum(np.diag(proposed.H), 0.0)  # else rounding proposes them for ever
        if len(chosen):
            F, self.found = self.F[:, :m], m + len(chosen)
            new = new_columns(self.op.columns(chosen), [F], F[chosen], L, self.threads)
            self.F[:, m : self.found] = new
            self.left = what_is_left(self.left, new)
            self.left[chosen] = 0.0
        self.total = float(self.left.sum())


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

    Asks `diag`, `columns` and `block`. K has to be positive semi-definite. `on_pass` is told as by `draw_pivots`.
    """
    rank = min(rank, op.n)
    rest = _RestHere(op, rank, threads)
    trace = rest.total
    pivots = draw_pivots(rest, rank, rng, tol=tol, proposed=proposed, on_pass=on_pass)
    F = rest.F[:, : len(pivots)]
    return Factor(F, pivots, what_is_left(rest.diagonal, F), trace)
