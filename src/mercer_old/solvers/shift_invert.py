"""The smallest eigenpairs of a positive semi-definite matrix that sends constants to zero, by shift and invert.

The eigenvalues that matter in locally linear methods are 10⁻⁸ … 10⁻¹³ of the largest, so products with M alone never
separate them. Those of (M + σI)⁻¹ are far apart. σ > 0 is tiny and keeps the matrix positive definite: M itself is
singular, as M1 = 0. Constants are projected out of every vector, and never picked from an answer: where a graph falls
apart the null space is larger, and no vector of it that a solver happens to find is constant.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from mercer_old.arrays import Array
from mercer_old.progress import OnPass
from mercer_old.solvers.base import Eigenpairs, Solver
from mercer_old.solvers.completeness import PROBES, explore, probes_in_words
from mercer_old.solvers.factorisations import DenseFactor, SparseFactor, count_negative
from mercer_old.solvers.krylov import BlockKrylov
from mercer_old.symmetric import SymmetricOperator
from mercer_old.threads import blas_threads_for

_SHIFT = 1e-12  # σ, relative to ‖M‖₁
_GUARDS, _GUARDED = 4, 3  # pairs after the last one wanted, and one for every so many: what follows is easy to bound
_FIRST_TOL, _LAST_TOL = 1e-2, 1e-9  # for the pairs of the inverse, before they are polished on M itself
_FIRST_PASSES = 10  # are enough for that, unless rounding in the inverse is in the way, and then more do not help
POLISHING = 12  # steps of that at most


class BottomSolver(Solver):
    """Finds the smallest eigenpairs but that of the constants."""

    @abstractmethod
    def solve(
        self,
        op: SymmetricOperator,
        k: int,
        rng: np.random.Generator,
        start: Array | None = None,
        on_pass: OnPass = None,
    ) -> Eigenpairs:
        """The k smallest eigenvalues of op with their vectors; `on_pass` hears of a long factorisation."""

    def for_items(self, n: int) -> "BottomSolver":
        """The one for so many, which may be a part of those that it was chosen for."""
        return self


@dataclass(frozen=True)
class DenseBottom(BottomSolver):
    """LAPACK on the whole matrix, with 1 sent to the other end of its spectrum: asks `dense`."""

    @property
    def words(self) -> str:
        return "LAPACK"

    def solve(
        self,
        op: SymmetricOperator,
        k: int,
        rng: np.random.Generator,
        start: Array | None = None,
        on_pass: OnPass = None,
    ) -> Eigenpairs:
        M, size = op.dense(), norm_of(op)
        wanted = min(k + _GUARDS, len(M) - 1)
        with blas_threads_for(len(M) ** 3):
            U = np.linalg.eigh(M + (2 * size or 1.0) / len(M))[1][:, :wanted]
        # LAPACK's rounding is relative to the largest eigenvalue, so a step of inverse iteration follows.
        ritz = BottomRitz.of(op, Inverse(op, _SHIFT * size or 1.0, "dense", 1).matmat(U))
        return replace(
            ritz.first(k),
            size=size,
            bound=float(ritz.values[k] - ritz.residuals[k] - bottom_floor(size)) if k < len(M) - 1 else np.inf,
            level="LAPACK counts eigenvalues",
            columns=len(M),
            passes=1,
        )


@dataclass(frozen=True)
class ShiftInvert(BottomSolver):
    """(M + σI)⁻¹ by a factorisation, sparse or dense: asks `sparse` or `dense`, and `matmat`.

    Block Krylov on the inverse finds the pairs; a few steps of inverse iteration with Rayleigh–Ritz on M itself polish
    them until every residual is below `tol` of the gap around its eigenvalue, or rounding.
    """

    factor: str = "sparse"
    tol: float = 1e-6
    max_passes: int = field(default=100, repr=False)
    threads: int = field(default=1, repr=False)
    few: int = field(default=0, repr=False)  # items up to which LAPACK takes the whole matrix

    @property
    def words(self) -> str:
        return f"inverse iteration by a {self.factor} factor (residuals of {self.tol:g} of gaps)"

    def for_items(self, n: int) -> BottomSolver:
        return DenseBottom() if n <= self.few else self

    def solve(
        self,
        op: SymmetricOperator,
        k: int,
        rng: np.random.Generator,
        start: Array | None = None,
        on_pass: OnPass = None,
    ) -> Eigenpairs:
        size = norm_of(op)
        inverse = Inverse(op, _SHIFT * size or 1.0, self.factor, self.threads, on_pass)
        wanted = min(k + _GUARDS + k // _GUARDED, op.n - 1)
        ritz, passes, columns = self._find(op, inverse, wanted, k, rng, size)
        bound, probing = bound_beyond(inverse, ritz, k, rng)
        level = probes_in_words(probing) if probing else "all were found"
        if bound <= ritz.values[k - 1] + ritz.residuals[k - 1]:
            del inverse  # its factor gives room to another one
            bound, level = max((bound, level), bound_by_inertia(op, ritz, k, size, self.factor, rng))
        return replace(
            ritz.first(k),
            size=size,
            bound=bound,
            level=level,
            columns=columns + probing * PROBES,
            passes=passes + probing,
        )

    def _find(
        self, op: SymmetricOperator, inverse: "Inverse", wanted: int, k: int, rng: np.random.Generator, size: float
    ) -> tuple["BottomRitz", int, int]:
        """The pairs, and how many passes and columns they took.

        Where eigenvalues are far apart, a rough answer of Krylov's is polished in a step or two. Where they are not,
        polishing takes for ever, and Krylov goes on from there.
        """
        block = min(max(8, wanted), 16, inverse.dimension)
        enough = min(self.max_passes, _FIRST_PASSES + 2 * (wanted // block))
        krylov = BlockKrylov(tol=_FIRST_TOL, block=block, max_passes=enough, threads=self.threads)
        first = krylov.solve(inverse, wanted, rng)
        ritz, steps = self._polish(op, inverse, first, k, size)
        passes, columns = first.passes + steps, first.columns + steps * wanted
        if np.any(ritz.residuals[:k] > self._allowed(ritz, k, bottom_floor(size))) and passes < self.max_passes:
            finer = replace(krylov, tol=_LAST_TOL, max_passes=self.max_passes - passes)
            last = finer.solve(inverse, wanted, rng, ritz.U)
            ritz, steps = self._polish(op, inverse, last, k, size)
            passes, columns = passes + last.passes + steps, columns + last.columns + steps * wanted
        return ritz, passes, columns

    def _polish(
        self, op: SymmetricOperator, inverse: "Inverse", found: Eigenpairs, k: int, size: float
    ) -> tuple["BottomRitz", int]:
        """Inverse iteration until the rule is met, or residuals hardly fall any more; and the steps it took."""
        ritz = BottomRitz.of(op, found.products)
        for step in range(POLISHING):
            before = ritz.residuals[:k]
            if np.all(before <= self._allowed(ritz, k, bottom_floor(size) / 20)):
                return ritz, step
            ritz = BottomRitz.of(op, inverse.matmat(ritz.U))
            if np.all(ritz.residuals[:k] >= 0.5 * before):
                return ritz, step + 1
        return ritz, POLISHING

    def _allowed(self, ritz: "BottomRitz", k: int, noise: float) -> Array:
        """Residuals up to this are small enough."""
        return np.maximum(self.tol * gaps(ritz.values, np.inf)[:k], noise)


@dataclass(frozen=True)
class BottomRitz:
    """Ritz pairs of M in a given space, smallest first."""

    values: Array
    U: Array
    MU: Array
    residuals: Array

    @classmethod
    def of(cls, op: SymmetricOperator, V: Array) -> "BottomRitz":
        Q = np.linalg.qr(_without_mean(V / np.linalg.norm(V, axis=0)))[0]
        MQ = op.matmat(Q)
        H = Q.T @ MQ
        values, Y = np.linalg.eigh((H + H.T) / 2)
        U, MU = _without_mean(Q @ Y), MQ @ Y
        return cls(values, U, MU, np.linalg.norm(MU - U * values, axis=0))

    def first(self, k: int) -> Eigenpairs:
        """The first k, and what was seen beyond them."""
        return Eigenpairs(
            self.values[:k],
            self.U[:, :k],
            self.residuals[:k],
            self.MU[:, :k],
            beyond=self.values[k:],
            beyond_residuals=self.residuals[k:],
        )


class Inverse(SymmetricOperator):
    """P(M + σI)⁻¹P, P the projection that takes means away."""

    def __init__(self, op: SymmetricOperator, shift: float, factor: str, threads: int, on_pass: OnPass = None) -> None:
        self.n, self.shift = op.n, shift
        self._factor: SparseFactor | DenseFactor = (
            SparseFactor(op.sparse(), shift, threads)
            if factor == "sparse"
            else DenseFactor(op.sparse(), shift, threads, on_pass)
        )

    @property
    def dimension(self) -> int:
        return self.n - 1

    def project(self, B: Array) -> Array:
        return _without_mean(B)

    def matmat(self, B: Array) -> Array:
        return _without_mean(self._factor.solve(_without_mean(B)))

    def diag(self) -> Array:
        return np.einsum("ii->i", self.dense())


def bound_beyond(inverse: Inverse, ritz: BottomRitz, k: int, rng: np.random.Generator) -> tuple[float, int]:
    """No eigenvalue of M but the first of those in `ritz` is below this bound; and how many passes of probes it took.

    A = (M + σI)⁻¹ is [[H, E], [Eᵀ, B]] in the basis of the first j vectors and the rest, and ‖B‖ ≤ β. H is at least
    diag(1/(θ + σ)) (the inverse is operator convex). So for every μ with β < μ < 1/(θⱼ + σ), H − μ is positive, and the
    Schur complement B − μ − Eᵀ(H − μ)⁻¹E is negative: exactly j eigenvalues of A exceed μ, whatever E is.
    """
    count = len(ritz.values)
    if count >= inverse.dimension:
        return np.inf, 0
    alpha = 1 / (np.maximum(ritz.values, 0.0) + inverse.shift)
    rest = explore(inverse, ritz.U, rng, float(alpha[k - 1]), known=0.0)
    beta = rest.upper
    if beta >= alpha[-1]:  # some of the pairs have to be counted to the rest
        beta = next((norm for j, norm in _rest_norms(inverse, ritz, alpha, rest.upper) if norm < alpha[j - 1]), np.inf)
    return (1 / beta - inverse.shift if beta > 0 else np.inf), rest.passes


def bound_by_inertia(
    op: SymmetricOperator, ritz: BottomRitz, k: int, size: float, factor: str, rng: np.random.Generator
) -> tuple[float, str]:
    """The same by Sylvester's law of inertia: M − μI = LDLᵀ has as many negative pivots as M has eigenvalues below μ.

    It takes another factorisation, but tells eigenvalues apart that are too near each other for probes. μ lies halfway
    to the next pair that was seen, and what the factorisation got wrong comes off.
    """
    level = "negative pivots were counted, less the error of that factorisation"
    seen = ritz.values[k] - ritz.residuals[k] if len(ritz.values) > k else np.inf
    mu = (ritz.values[k - 1] + ritz.residuals[k - 1] + seen) / 2
    if not np.isfinite(mu) or seen - mu <= bottom_floor(size):
        return -np.inf, level
    negative, error = count_negative(op.sparse(), float(mu), factor, rng)
    return (float(mu) - error, level) if negative == k + 1 else (-np.inf, level)  # 1 is one of them


def _rest_norms(inverse: Inverse, ritz: BottomRitz, alpha: Array, beta: float) -> Iterator[tuple[int, float]]:
    """For j = count, count − 1, …, 1 a bound on the norm of A outside of the first j vectors.

    From the residuals r: Au = αu − αAr, so the vectors after the j-th have the products diag(α) + αRᵀARα among
    themselves, and couple to what is outside of all of them by −αAr.
    """
    R = ritz.MU - ritz.U * ritz.values
    AR = inverse.matmat(R)
    inside = np.diag(alpha) + alpha[:, None] * (R.T @ AR) * alpha
    coupling = np.linalg.norm(AR - ritz.U @ (ritz.U.T @ AR), axis=0) * alpha
    for j in range(len(alpha), 0, -1):
        among = float(np.linalg.norm(inside[j:, j:], 2)) if j < len(alpha) else 0.0
        yield j, max(beta, among) + float(np.linalg.norm(coupling[j:]))


def gaps(values: Array, beyond: float) -> Array:
    """The distance of each value (ascending) to the nearest other one; `beyond` is the next after the last."""
    steps = np.diff(values, append=beyond)
    return np.minimum(steps, np.append(np.inf, steps[:-1]))


def norm_of(op: SymmetricOperator) -> float:
    """‖M‖₁."""
    return float(abs(op.sparse()).sum(axis=0).max())


def bottom_floor(size: float) -> float:
    """Eigenvalues and gaps up to this are rounding: 20u‖M‖₁."""
    return float(10 * np.finfo(float).eps * size)


def _without_mean(B: Array) -> Array:
    return B - B.mean(axis=0)
